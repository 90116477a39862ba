"""From a table as people have it to the numbers that learners take."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

if TYPE_CHECKING:
    import pandas as pd

#: A text column's rarer values share one indicator beyond this many, which
#: bounds the memory that a column of free text can take.
MAX_CATEGORIES = 100

#: Text of which at least this share is numbers, but not all, is numbers with stray cells.
MOST_NUMBERS = 0.8

MICROSECONDS_PER_DAY = 86_400_000_000


def make_preprocessor(X: Any) -> Pipeline | ColumnTransformer:
    """Choose how the columns of a table become numbers in [0, 1].

    Numbers, booleans and dates: the training part's median where a value is
    missing, then scaled to [0, 1] on the training part. Text and categories:
    one indicator per value seen in training, at most `MAX_CATEGORIES`; a missing
    value is a value of its own if training had one. Identifiers (see
    `identifier_columns`) are left out.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or pandas.DataFrame
        The table; only its columns' types and the identifiers are read.

    Returns
    -------
    Pipeline or ColumnTransformer
        An unfitted transformer whose output is a dense float array.

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [3.0, 4.0], [2.0, 8.0]])
    >>> make_preprocessor(X).fit_transform(X)
    array([[0. , 0.5],
           [1. , 0. ],
           [0.5, 1. ]])
    """
    if not hasattr(X, "columns"):
        return _scaled_numbers()
    left_out = set(identifier_columns(X))
    kept = [position for position, name in enumerate(X.columns) if name not in left_out]
    numbers = [position for position in kept if _is_number(X.iloc[:, position])]
    dates = [position for position in kept if X.iloc[:, position].dtype.kind in "mM"]
    text = [position for position in kept if position not in numbers and position not in dates]
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(FunctionTransformer(_floats), _scaled_numbers()), numbers),
            ("dates", make_pipeline(FunctionTransformer(_days), _scaled_numbers()), dates),
            ("text", make_pipeline(FunctionTransformer(_strings), _indicators()), text),
        ],
        sparse_threshold=0.0,
    )


def identifier_columns(X: Any) -> list[Any]:
    """Name the columns that number or name the rows and say nothing about them.

    Such a column is text with a different value in every row, or whole numbers
    that count the rows up or down one by one. In a file sorted by class a row
    counter would give the class away. Numbers with a few stray cells, which make
    text of them, are no such column.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame of shape (n_samples, n_features)
        The table; an array has no such columns.

    Returns
    -------
    list
        Names of the columns, in the table's order.

    Examples
    --------
    >>> import pandas as pd
    >>> identifier_columns(pd.DataFrame({"id": [7, 8, 9], "size": [1.5, 2.5, 3.5], "key": ["x", "y", "z"]}))
    ['id', 'key']
    """
    if not hasattr(X, "columns") or len(X) < 3:
        return []
    return [name for position, name in enumerate(X.columns) if _is_identifier(X.iloc[:, position])]


def is_mostly_numbers(text: "pd.Series[Any]") -> bool:
    """Tell whether text is numbers except for a few stray cells.

    Parameters
    ----------
    text : Series of str of shape (n_samples,)
        Text, without missing values.

    Returns
    -------
    bool
        Whether a share of at least `MOST_NUMBERS`, but not all, can be read as numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> is_mostly_numbers(pd.Series(["1.5", "2", "?", "7", "8"])), is_mostly_numbers(pd.Series(["007", "008"]))
    (True, False)
    """
    import pandas as pd

    if text.empty:
        return False
    share = pd.to_numeric(text, errors="coerce").notna().mean()
    return bool(MOST_NUMBERS <= share < 1)


def infinite_columns(X: Any) -> list[str]:
    """Name the number columns that hold an infinite value.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame of shape (n_samples, n_features)
        The table.

    Returns
    -------
    list of str
        Names of the columns (positions for an array), in the table's order.

    Examples
    --------
    >>> infinite_columns(np.array([[1.0, np.inf], [np.nan, 2.0]]))
    ['1']
    """
    if not hasattr(X, "columns"):
        return [str(position) for position in np.flatnonzero(np.isinf(X).any(axis=0))]
    numbers = X.iloc[:, [i for i in range(X.shape[1]) if _is_number(X.iloc[:, i])]]
    found = np.isinf(_floats(numbers)).any(axis=0)
    return [str(name) for name, infinite in zip(numbers.columns, found, strict=True) if infinite]


class MedianImputer(TransformerMixin, BaseEstimator):
    """Fill gaps with the median of each column.

    It does what scikit-learn's `SimpleImputer` does for floats, but is made of nothing except numbers: that one holds
    a `numpy.dtype`, and restoring such an object from a forged file could corrupt memory.

    Attributes
    ----------
    medians_ : ndarray of shape (n_features,)
        The medians of what is there; 0 for a column without any value.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> MedianImputer().fit_transform(np.array([[1.0, np.nan], [np.nan, np.nan], [4.0, np.nan]]))
    array([[1. , 0. ],
           [2.5, 0. ],
           [4. , 0. ]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the medians of the columns of X, of shape (n_samples, n_features)."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.medians_ = np.zeros(X.shape[1])
        filled = ~np.isnan(X).all(axis=0)
        self.medians_[filled] = np.nanmedian(X[:, filled], axis=0)
        return self

    def transform(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Fill the gaps of rows of shape (n_samples, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return np.where(np.isnan(X), self.medians_, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _scaled_numbers() -> Pipeline:
    """Impute the median and scale to [0, 1]; a column without any value becomes 0."""
    return make_pipeline(MedianImputer(), MinMaxScaler())


def _indicators() -> OneHotEncoder:
    """One indicator per value; a value not seen in training has none of its own."""
    return OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False)


def _floats(frame: "pd.DataFrame") -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers and booleans, nullable or not, as floats with NaN for missing values."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _days(frame: "pd.DataFrame") -> np.ndarray[Any, np.dtype[np.float64]]:
    """Dates and durations as days with NaN for missing values."""
    days = np.empty(frame.shape)
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        values = column.to_numpy(dtype=f"{column.dtype.kind}8[us]")
        days[:, position] = np.where(np.isnat(values), np.nan, values.astype(np.int64) / MICROSECONDS_PER_DAY)
    return days


def _strings(frame: "pd.DataFrame") -> np.ndarray[Any, np.dtype[np.object_]]:
    """Values of any type as text; missing ones as the empty text."""
    text = frame.astype(object).where(frame.notna(), "")
    return text.map(str).to_numpy(dtype=object)


def _is_number(column: "pd.Series[Any]") -> bool:
    """Tell numbers and booleans from dates, text and categories."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    dtype = column.dtype
    return (is_numeric_dtype(dtype) or is_bool_dtype(dtype)) and not is_complex_dtype(dtype)


def _is_identifier(column: "pd.Series[Any]") -> bool:
    """Tell whether a column only numbers or names its rows."""
    if column.dtype.kind in "iu":
        steps = np.diff(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return bool((steps == 1).all() or (steps == -1).all())
    if _is_number(column) or column.dtype.kind in "mM":
        return False
    if column.isna().any():
        return False
    text = column.astype(object).map(str)  # any object may be in a cell, also bytes that are no text
    return text.is_unique and not is_mostly_numbers(text)
