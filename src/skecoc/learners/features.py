"""What the columns of samples hold: numbers, categories, missing values."""

from collections.abc import Sequence
from itertools import accumulate
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_array, get_tags
from sklearn.utils._missing import is_pandas_na

from skecoc.data.codes import Floats, Integers, rounded

#: Of each column, its categories in order, or None for numbers.
Categories = list[NDArray[Any] | None]

#: Categories that a column may have, as in scikit-learn's gradient boosting.
MOST_CATEGORIES = 255


def learn_categories(X: Any) -> Categories | None:
    """Return the categories that occur in the columns of a frame; None if no column holds categories.

    These are columns of pandas's type category, and of the polars types Categorical and Enum.
    """
    if not hasattr(X, "columns"):
        return None
    columns = [_safe_indexing(X, j, axis=1) for j in range(X.shape[1])]
    if not any(_has_categories(column) for column in columns):
        return None
    return [
        _categories_of(column, str(name)) if _has_categories(column) else None
        for name, column in zip(X.columns, columns, strict=True)
    ]


def _has_categories(column: Any) -> bool:
    return str(column.dtype).startswith(("category", "Categorical", "Enum"))


def _categories_of(column: Any, name: str) -> NDArray[Any]:
    found = {value: None for value in column.to_list() if not _is_missing(value)}
    if len(found) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} of X has {len(found)} categories, more than {MOST_CATEGORIES}; "
            "encode it in a pipeline, for example by scikit-learn's TargetEncoder"
        )
    try:
        values = sorted(found, key=lambda value: (str(type(value)), value))
    except TypeError:  # such as tuples of numbers and strings
        values = sorted(found, key=lambda value: (str(type(value)), repr(value)))
    if {type(value) for value in values} in ({str}, {int}, {float}, {bool}):
        plain = np.array(values)
        if plain.tolist() == values:  # strings lose zeros at their end, and long integers may become floats
            return plain
    objects = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # all at once, tuples would be taken for rows
        objects[place] = value
    return objects


def _is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT or pandas' NA; NaN and NaT are not equal to themselves."""
    return value is None or is_pandas_na(value) or bool(ne(value, value))


def widths_of(categories: Sequence[NDArray[Any] | None]) -> list[int]:
    """Return how many features each column stands for: one, or one for each of its categories."""
    return [1 if known is None else len(known) for known in categories]


def expand_categories(X: Any, categories: Categories, **checks: Any) -> Floats:
    """Return the features of a frame: its numbers, and for each category 1 or 0.

    All features of a column are missing where its category is missing or unknown. `checks` are those of `check_array`
    for the columns of numbers.
    """
    *firsts, width = accumulate(widths_of(categories), initial=0)
    if width == 0:
        raise ValueError("X must have at least one column with a value")
    expanded = np.full((X.shape[0], width), np.nan)
    numbers = [j for j, known in enumerate(categories) if known is None]
    if numbers:
        values = check_array(_safe_indexing(X, numbers, axis=1), **{**checks, "dtype": np.float64})
        expanded[:, np.array(firsts)[numbers]] = values
    for j, (first, known) in enumerate(zip(firsts, categories, strict=True)):
        if known is not None:
            index = {value: number for number, value in enumerate(known.tolist())}
            column = _safe_indexing(X, j, axis=1).to_list()
            codes = np.array([index.get(value, -1) for value in column])
            rows = np.flatnonzero(codes >= 0)
            block = expanded[:, first : first + len(known)]
            block[rows] = 0.0
            block[rows, codes[rows]] = 1.0
    return expanded


def number_columns(X: Any) -> Integers:
    """List the columns of samples that hold numbers: all or none, unless samples are a frame.

    >>> number_columns(np.ones((3, 2)))
    array([0, 1])
    >>> number_columns(np.array([["a"], ["b"]]))
    array([], dtype=int64)
    """
    if issparse(X) or len(getattr(X, "shape", ())) != 2:
        return np.empty(0, dtype=np.intp)
    if hasattr(X, "columns"):
        return np.array([j for j in range(X.shape[1]) if _holds_numbers(_safe_indexing(X, j, axis=1))], dtype=np.intp)
    return np.arange(X.shape[1] if _holds_numbers(X) else 0)


def _holds_numbers(values: Any) -> bool:
    """Tell whether an array, or a column of a frame of any library, holds numbers."""
    kind = getattr(values.dtype, "kind", "")
    if str(values.dtype) == "object":
        try:
            np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return True
    return kind in "biuf" if kind else bool(values.dtype.is_numeric()) or str(values.dtype) == "Boolean"


def numbers_of(X: Any, **checks: Any) -> Floats:
    """Return the numbers of samples, zero in columns that hold none: so they count for nothing in distances."""
    columns = number_columns(X)
    numbers = np.zeros(X.shape)
    if len(columns):
        numbers[:, columns] = check_array(_safe_indexing(X, columns, axis=1), dtype=np.float64, **checks)
    return numbers


def has_missing(X: Any) -> bool:
    """Tell whether numbers of samples are missing."""
    if issparse(X):
        return bool(np.isnan(X.data).any())
    if len(number_columns(X)) == 0:
        return False
    is_plain = not hasattr(X, "columns") and X.dtype.kind in "biuf"
    return bool(np.isnan(X if is_plain else numbers_of(X, ensure_all_finite=False)).any())


def may_take_missing(learner: BaseEstimator) -> bool:
    """Tell whether a learner may take missing values: meta-estimators count as taking them until they are fitted."""
    holds_others = any(hasattr(value, "fit") for value in learner.get_params().values())
    return holds_others or bool(get_tags(learner).input_tags.allow_nan)


def imputed(X: Floats, weight: Floats) -> Floats:
    """Replace values that are missing or infinite by the mean of their feature, 0 if no sample has another value."""
    is_missing = ~np.isfinite(X)
    if not is_missing.any():
        return X
    known = np.where(is_missing, 0.0, X)
    largest = np.maximum(np.abs(known).max(axis=0), 1.0)  # so that no sum overflows
    mass = weight @ ~is_missing
    means = rounded(weight @ (known / largest) / np.where(mass > 0.0, mass, 1.0)) * largest
    return np.where(is_missing, means, known)


def without_empty(X: Any) -> Any:
    """Return an array of numbers with zeros in features that have no value at all, which some learners do not take.

    >>> without_empty(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([[ 1.,  0.],
           [nan,  0.]])
    """
    if type(X) is not np.ndarray or X.dtype.kind != "f":
        return X
    is_empty = np.isnan(X).all(axis=0)
    return np.where(is_empty, 0.0, X) if is_empty.any() else X
