"""The fourteen UCI data sets of the paper's experiments, shipped with the package."""

from skecoc.datasets.uci import list_uci, load_uci

__all__ = ["list_uci", "load_uci"]
