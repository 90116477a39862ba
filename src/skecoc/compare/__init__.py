"""Compare methods on data sets by cross-validation, all on the same folds, with statistics."""

from skecoc.compare.cross_validation import Comparison, Record, compare
from skecoc.compare.data_sets import DataSet, load_data_sets
from skecoc.support.names import DEFAULT_DATA_SETS, DEFAULT_METHODS

__all__ = [
    "DEFAULT_DATA_SETS",
    "DEFAULT_METHODS",
    "Comparison",
    "DataSet",
    "Record",
    "compare",
    "load_data_sets",
]
