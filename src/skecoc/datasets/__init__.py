"""The fourteen UCI data sets of the experiments, shipped with the package, and a reader of users' tables."""

from skecoc.datasets.table import load_table
from skecoc.datasets.uci import list_uci, load_uci

__all__ = ["list_uci", "load_table", "load_uci"]
