"""A user's own table: fit a model, predict new rows in chunks, inspect what was learnt."""

from skecoc.tabular.describe import describe_model
from skecoc.tabular.fitting import fit_table
from skecoc.tabular.model import TableClassifier
from skecoc.tabular.predicting import TablePredictions

__all__ = ["TableClassifier", "TablePredictions", "describe_model", "fit_table"]
