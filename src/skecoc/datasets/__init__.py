"""The fourteen UCI data sets of the experiments, shipped with the package, and readers of users' tables and music."""

from skecoc.datasets.audio import load_audio_folder, load_dortmund
from skecoc.datasets.table import load_table
from skecoc.datasets.uci import list_uci, load_uci

__all__ = ["list_uci", "load_audio_folder", "load_dortmund", "load_table", "load_uci"]
