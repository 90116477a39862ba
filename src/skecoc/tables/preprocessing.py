"""From a table as people have it to the numbers that learners take."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skecoc.benchmarking.data import DataSet, scaled_numbers
from skecoc.support.errors import InputError, spell_out
from skecoc.tables.columns import MAX_CATEGORIES, identifier_columns, is_number
from skecoc.tables.reading import Source, load_table

if TYPE_CHECKING:
    import pandas as pd

_MICROSECONDS_PER_DAY = 86_400_000_000


def read_data_set(source: Source, target: str | None) -> DataSet:
    """Read a user's table as it is, named after its file; labels become what a model's file can hold."""
    if target is None:
        raise InputError("target: expected the name of the column that holds the classes")
    try:
        bunch = load_table(source, target=target)
    except (ValueError, OSError, ImportError) as error:
        # What the reader calls its path is the argument `data` here.
        raise InputError(re.sub("^path=", "data=", str(error))) from error
    labels = np.asarray(bunch.target)
    if labels.dtype.kind not in "biufU":
        # Files of models hold no dates, and scikit-learn takes objects only if all of them are text.
        labels = np.array([str(label) for label in bunch.target])
    name = Path(source).name if isinstance(source, str | os.PathLike) else "standard input"
    return DataSet(name, bunch.data, labels)


def as_data_set(name: str, X: "pd.DataFrame", y: ArrayLike) -> DataSet:
    """Make a data set of a table, for `skecoc.benchmarking.compare`.

    Numbers, booleans and dates are imputed by the training part's median and scaled to [0, 1]. Text and categories
    become indicators of at most 100 values, one of which is that of missing ones. Columns that only number or name
    the rows are left out.

    Parameters
    ----------
    name : str
        What reports call it.
    X : DataFrame of shape (n_samples, n_columns)
        The table, without the classes.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    DataSet
        The table with its preprocessor, and a note on columns that are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": [7, 8, 9], "size": [1.5, 2.5, None]})
    >>> as_data_set("things", frame, ["a", "b", "a"]).notes
    ['things: left out, as they only number or name the rows: column id']
    """
    left_out = identifier_columns(X)
    if len(left_out) == X.shape[1]:
        raise InputError(f"data set {name!r} has no columns to learn from besides the target and identifiers")
    numbers = X.iloc[:, [place for place in range(X.shape[1]) if is_number(X.iloc[:, place])]]
    infinite = [
        name for name, column in zip(numbers.columns, _floats(numbers).T, strict=True) if np.isinf(column).any()
    ]
    if infinite:
        raise InputError(f"data set {name!r} has infinite values in column {spell_out(infinite)}")
    notes = [f"{name}: left out, as they only number or name the rows: column {spell_out(left_out)}"]
    return DataSet(name, X, np.asarray(y), make_preprocessor(X), notes if left_out else [])


def make_preprocessor(frame: "pd.DataFrame") -> ColumnTransformer:
    """Choose how the columns of a table become floats, as `as_data_set` says; the transformer is not fitted."""
    left_out = set(identifier_columns(frame))
    kept = [place for place, name in enumerate(frame.columns) if name not in left_out]
    numbers = [place for place in kept if is_number(frame.iloc[:, place])]
    dates = [place for place in kept if frame.iloc[:, place].dtype.kind in "mM"]
    text = [place for place in kept if place not in numbers and place not in dates]
    # A value not seen in training has no indicator of its own.
    indicators = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, sparse_output=False)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(FunctionTransformer(_floats), scaled_numbers()), numbers),
            ("dates", make_pipeline(FunctionTransformer(_days), scaled_numbers()), dates),
            ("text", make_pipeline(FunctionTransformer(_strings), indicators), text),
        ],
        sparse_threshold=0.0,
    )


def _floats(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Numbers and booleans, nullable or not, as floats with NaN for missing values."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _days(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Dates and durations as days with NaN for missing values."""
    days = np.empty(frame.shape)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        values = column.to_numpy(dtype=f"{column.dtype.kind}8[us]")
        days[:, place] = np.where(np.isnat(values), np.nan, values.astype(np.int64) / _MICROSECONDS_PER_DAY)
    return days


def _strings(frame: "pd.DataFrame") -> NDArray[np.object_]:
    """Values of any type as text; missing ones as the empty text."""
    text = frame.astype(object).where(frame.notna(), "")
    return text.map(str).to_numpy(dtype=object)


def encoded_sources(preprocessor: ColumnTransformer) -> NDArray[np.intp]:
    """Tell which column each encoded feature of a fitted preprocessor comes from; rare values share a feature."""
    sources: list[int] = []
    for name, transformer, places in preprocessor.transformers_:
        if name == "text" and len(places):
            encoder = transformer[-1]
            for place, values, rare in zip(places, encoder.categories_, encoder.infrequent_categories_, strict=True):
                sources += [place] * (len(values) if rare is None else len(values) - len(rare) + 1)
        elif name in ("numbers", "dates"):
            sources += list(places)
    return np.array(sources, dtype=np.intp)
