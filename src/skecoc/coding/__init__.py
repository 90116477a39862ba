"""Codings: functions that make code matrices, from the number of classes or from the data.

A code matrix has one row per class and one column per binary problem, with entries +1 and -1 for the two sides and 0
for classes that a problem leaves out.
"""

from skecoc.coding.choice import CODINGS, choose_coding, resolve_coding
from skecoc.coding.discriminant import decoc, forest
from skecoc.coding.fixed import exhaustive, hadamard, one_vs_one, one_vs_rest, ordinal, ternary_complete
from skecoc.coding.matrix import (
    CodeMatrix,
    canonical_columns,
    check_code_matrix,
    code_statistics,
    duplicate_columns,
    is_valid,
    mean_row_distance,
    min_row_distance,
    row_distances,
)
from skecoc.coding.random import dense_random, sparse_random

__all__ = [
    "CODINGS",
    "CodeMatrix",
    "canonical_columns",
    "check_code_matrix",
    "choose_coding",
    "code_statistics",
    "decoc",
    "dense_random",
    "duplicate_columns",
    "exhaustive",
    "forest",
    "hadamard",
    "is_valid",
    "mean_row_distance",
    "min_row_distance",
    "one_vs_one",
    "one_vs_rest",
    "ordinal",
    "resolve_coding",
    "row_distances",
    "sparse_random",
    "ternary_complete",
]
