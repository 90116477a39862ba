"""Experiments: compare methods on data sets with the same folds, with statistics, tables and reports."""

from skecoc.benchmarking.compare import Comparison, Record, compare
from skecoc.benchmarking.data import DEFAULT_DATA_SETS, DataSet, load_data_sets
from skecoc.benchmarking.methods import DEFAULT_METHODS

__all__ = [
    "DEFAULT_DATA_SETS",
    "DEFAULT_METHODS",
    "Comparison",
    "DataSet",
    "Record",
    "compare",
    "load_data_sets",
]
