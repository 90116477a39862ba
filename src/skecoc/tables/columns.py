"""What the columns of a user's table hold, and how cells of any origin become values of that kind."""

import re
from collections.abc import Mapping
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.support.errors import InputError
from skecoc.tables.reading import BOOLEANS

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: What each kind of column holds, as messages call it.
KINDS: Mapping[str, str] = {
    "number": "a finite number",
    "boolean": "true or false",
    "date": "a date such as 2024-01-31",
    "duration": "a duration such as 3 days",
    "text": "text",
}

#: A text column's rarer values share one indicator beyond this many, which bounds the memory that free text can take.
MAX_CATEGORIES = 100

# Text of which at least this share is numbers, but not all, is numbers with stray cells.
_MOST_NUMBERS = 0.8
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?")
_IDENTIFIER_NAME = re.compile(r"(.*[ _-])?(id|uuid|guid|key|index|identifier)", re.IGNORECASE)
# With fewer rows, whole numbers are often all different by chance.
_FEW_ROWS = 20


def kinds_of(frame: "pd.DataFrame") -> dict[str, str]:
    """Tell what each column of a table holds, one of `KINDS`; text is a date if every value is ISO 8601."""
    return {str(name): _kind_of(frame.iloc[:, place]) for place, name in enumerate(frame.columns)}


def _kind_of(column: "pd.Series[Any]") -> str:
    """Tell what one column holds."""
    dtype = column.dtype
    if is_number(column):
        return "boolean" if pd.api.types.is_bool_dtype(dtype) else "number"
    if dtype.kind in "mM":
        return "date" if dtype.kind == "M" else "duration"
    return "text" if isinstance(dtype, pd.CategoricalDtype) else _kind_of_objects(column.dropna())


def _kind_of_objects(values: "pd.Series[Any]") -> str:
    """Tell what a column of Python objects holds, all values of which are there."""
    if values.empty:
        return "number"
    if isinstance(values.iloc[0], str) and not _ISO_DATE.fullmatch(values.iloc[0]):
        return "text"
    if values.map(lambda value: isinstance(value, bool)).all():
        return "boolean"
    if values.map(lambda value: isinstance(value, Number) and not isinstance(value, complex | bool)).all():
        return "number"
    is_date = values.map(str).map(_ISO_DATE.fullmatch).notna().all()
    return "date" if is_date and _dates(values).notna().all() else "text"


def typed(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> "pd.DataFrame":
    """Turn cells of any origin into values of the kinds that are expected; numbers and booleans become floats.

    An InputError names the row and the column of a cell that is something else.
    """
    missing = [name for name in kinds if name not in frame.columns]
    if missing:
        raise InputError(f"column {missing[0]!r} is missing")
    columns = {name: _CONVERTERS[kind](frame[name]) for name, kind in kinds.items()}
    for name, kind in kinds.items():
        _check_cells(frame[name], columns[name], kind)
    return pd.DataFrame(columns, index=frame.index, columns=list(kinds))


def _check_cells(given: "pd.Series[Any]", converted: "pd.Series[Any]", kind: str) -> None:
    """Refuse values that got lost, and infinite ones."""
    bad = converted.isna().to_numpy()
    if bad.any():  # looking for gaps in text takes long
        bad = bad & given.notna().to_numpy()
    if converted.dtype.kind == "f":
        bad = bad | np.isinf(converted.to_numpy())
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        row, cell = int(given.index[place]) + 1, str(given.iloc[place])
        raise InputError(f"row {row}: column {given.name!r} holds {cell[:40]!r}, expected {KINDS[kind]}")


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Read numbers; what is none becomes NaN."""
    if column.dtype.kind in "biuf":
        values: Any = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif column.dtype.kind in "mMc":
        values = np.full(len(column), np.nan)
    else:
        values = pd.to_numeric(_objects(column), errors="coerce").astype(np.float64)
    return pd.Series(values, column.index)


def _booleans(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Read booleans as 0 and 1; what is none becomes NaN."""
    words = pd.Series(_texts(column), column.index, dtype=object).map(BOOLEANS).astype(np.float64)
    numbers = _numbers(column)
    return words.where(words.notna(), numbers.where(numbers.isin([0.0, 1.0])))


def _dates(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Read dates, in universal time; what is none becomes NaT."""
    if column.dtype.kind == "M":
        dates = pd.to_datetime(column, utc=True)
    else:
        dates = pd.to_datetime(pd.Series(_texts(column), column.index), utc=True, errors="coerce", format="ISO8601")
    return dates.dt.tz_localize(None).astype("datetime64[us]")


def _durations(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Read durations; what is none becomes NaT."""
    values = column if column.dtype.kind == "m" else pd.Series(_texts(column), column.index)
    return pd.to_timedelta(values, errors="coerce").astype("timedelta64[us]")


def _as_text(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Write any values as text."""
    return pd.Series(_texts(column), column.index, dtype=object)


def _objects(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """Return the values as Python objects, with something that is missing for pandas where there is none."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Taken by hand: pandas makes floats of whole numbers where one is missing.
        return np.append(np.asarray(column.cat.categories, dtype=object), np.nan)[column.cat.codes]
    if column.dtype == object:
        return column.to_numpy()
    return column.to_numpy(dtype=object, na_value=np.nan)


def _texts(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """Return the values as text, NaN for missing ones."""
    values, is_there = _objects(column), column.notna().to_numpy()
    if isinstance(column.dtype, pd.StringDtype):
        return values
    texts = np.full(len(values), np.nan, dtype=object)
    texts[is_there] = [value if isinstance(value, str) else str(value) for value in values[is_there]]
    return texts


_CONVERTERS = {"number": _numbers, "boolean": _booleans, "date": _dates, "duration": _durations, "text": _as_text}


def useless_columns(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Find the columns that nothing can be learnt from: "constant" ones, and each "identifier"."""
    values = typed(frame, kinds)
    # Whole numbers count only where they still are whole numbers; dates only as dates, never as text.
    times = {name: values[name] for name, kind in kinds.items() if kind in ("date", "duration")}
    identifiers = identifier_columns(frame[list(kinds)].assign(**times))
    constant = [name for name in kinds if _is_constant(values[name])]
    reasons = {**dict.fromkeys(identifiers, "identifier"), **dict.fromkeys(constant, "constant")}
    return {name: reasons[name] for name in kinds if name in reasons}


def identifier_columns(frame: "pd.DataFrame") -> list[Any]:
    """Name the columns of text that differs in every row, and of whole numbers that count the rows one by one.

    In a file sorted by class, these would give the class away.
    """
    if len(frame) < 3:
        return []
    return [name for place, name in enumerate(frame.columns) if _is_identifier(frame.iloc[:, place])]


def _is_identifier(column: "pd.Series[Any]") -> bool:
    """Tell whether a column only numbers or names its rows."""
    if column.dtype.kind in "iu":
        steps = np.diff(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return bool((steps == 1).all() or (steps == -1).all())
    if is_number(column) or column.dtype.kind in "mM" or column.isna().any():
        return False
    text = column.astype(object).map(str)  # any object may be in a cell, also bytes that are no text
    return text.is_unique and not is_mostly_numbers(text)


def is_number(column: "pd.Series[Any]") -> bool:
    """Tell columns of numbers and booleans from dates, text and categories."""
    types, dtype = pd.api.types, column.dtype
    return (types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)) and not types.is_complex_dtype(dtype)


def is_mostly_numbers(text: "pd.Series[Any]") -> bool:
    """Tell whether text without missing values is numbers except for a few stray cells."""
    share = pd.to_numeric(text, errors="coerce").notna().mean()
    return bool(_MOST_NUMBERS <= share < 1)  # of no text at all the share is NaN


def _is_constant(column: "pd.Series[Any]") -> bool:
    """Tell whether all rows have the same value; of numbers and dates, the missing ones become that value, too."""
    values = column.dropna()
    if len(values) < len(column) and column.dtype.kind == "O":
        return values.empty
    return values.empty or bool((values == values.iloc[0]).all())


def suspicious_columns(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Find columns that may be identifiers, and say why."""
    found = {name: _suspicion(frame[name], kind) for name, kind in kinds.items()}
    return {name: reason for name, reason in found.items() if reason}


def _suspicion(column: "pd.Series[Any]", kind: str) -> str:
    """Say why a column may be an identifier; nothing if there is no reason."""
    if _IDENTIFIER_NAME.fullmatch(str(column.name)):
        return "its name says so"
    values = (_as_text(column) if kind == "text" else column).dropna()
    n_values, n_rows = values.nunique(), len(column)
    if kind == "number" and column.dtype.kind in "iu" and n_values == n_rows >= _FEW_ROWS:
        return "whole numbers that are all different"
    if kind == "text" and n_values > max(MAX_CATEGORIES, n_rows / 2) and not is_mostly_numbers(values):
        return f"text with {n_values} different values in {n_rows} rows"
    return ""


def stray_cells(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Find text columns that would hold numbers but for a few cells, and name the first of these."""
    found = {name: _stray_cell(frame[name]) for name, kind in kinds.items() if kind == "text"}
    return {name: reason for name, reason in found.items() if reason}


def _stray_cell(column: "pd.Series[Any]") -> str:
    """Name the first cell that is no number in a column of numbers; nothing if there is none."""
    text = _as_text(column).reset_index(drop=True).dropna()
    if not is_mostly_numbers(text):
        return ""
    strays = text[_numbers(text).isna()]
    row, cell = int(strays.index[0]) + 1, str(strays.iloc[0])
    return f"row {row} holds {cell[:40]!r}, {len(text) - len(strays)} of {len(text)} cells are numbers"


def names_of_classes(truth: "pd.Series[Any]", classes: NDArray[Any]) -> "pd.Series[Any]":
    """Write the true classes of rows as those of a model are written, whatever type they have in a table."""
    text, names = _as_text(truth), [str(label) for label in classes]
    if text.isin(names).all():
        return text
    kind = _kind_of(truth)
    if classes.dtype.kind == "U" and kind not in ("number", "boolean"):
        return text
    read = _booleans if classes.dtype.kind == "b" or kind == "boolean" else _numbers
    values = read(pd.Series(classes))
    by_value = {
        value: name
        for value, name, is_double in zip(values, names, values.duplicated(keep=False), strict=True)
        if value == value and not is_double  # noqa: PLR0124 (NaN is what differs from itself)
    }
    # What is written the same is the same: whole numbers may be too large to be told apart as floats.
    return text.where(text.isin(names), read(truth).map(by_value).astype(object).fillna(text))
