"""Models for tables: fit a model, predict new rows in chunks, inspect what was learnt."""

from skecoc.tables.card import calibration_bins
from skecoc.tables.describe import describe_model
from skecoc.tables.fitting import fit_table
from skecoc.tables.model import TableClassifier
from skecoc.tables.preparation import as_data_set
from skecoc.tables.reading import load_table

__all__ = ["TableClassifier", "as_data_set", "calibration_bins", "describe_model", "fit_table", "load_table"]
