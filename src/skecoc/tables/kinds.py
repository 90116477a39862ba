"""The kinds of a table's columns (number, date, category, ...), and cells converted to values of these kinds."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.data_sets import are_frequent
from skecoc.support.errors import InputError
from skecoc.tables.dates import DATE_KINDS, DateTexts, parse_times
from skecoc.tables.numbers import BOOLEANS, parse_numbers
from skecoc.tables.preprocessing import MAX_CATEGORIES, words_of
from skecoc.tables.readers import MISSING_WORDS, dates_as_text

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: What each kind of column holds, as messages call it.
KINDS: Mapping[str, str] = {
    "number": "a finite number",
    "boolean": "true or false",
    **dict.fromkeys(DATE_KINDS, "a date such as 2024-01-31"),
    "time": "a time of day such as 14:30",
    "duration": "a duration such as 3 days",
    "text": "text",
    "category": "text",
    "sentence": "text",
}
#: Kinds whose cells are text of any kind.
TEXT_KINDS = ("text", "category", "sentence")

# Text is read as numbers, dates or the like if at least this share of its cells can be; the others are missing then.
_MOST = 0.8
# Text with more distinct values than this is a category, which does not get an indicator for each value.
_FEW_VALUES = 40
# Sentences have at least this many words on average, estimated from about so many of them.
_FEW_WORDS, _SOME_VALUES = 3, 2_000
_DURATION = re.compile(r"[-+]?\d+ days?(?:,? [-+]?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?")
_IDENTIFIER_NAME = re.compile(r"(.*[ _-])?(id|uuid|guid|key|index|identifier)", re.IGNORECASE)
# With fewer rows, whole numbers are often all different by chance.
_FEW_ROWS = 20
# The kind of a column of Python objects, by the name that pandas has for its values.
_KINDS_OF_OBJECTS = {
    "empty": "number",
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    "boolean": "boolean",
    **dict.fromkeys(("datetime", "datetime64", "date"), "date"),
    **dict.fromkeys(("timedelta", "timedelta64"), "duration"),
    "time": "time",
}


@dataclass(frozen=True)
class Strays:
    """Cells of a column that are not values of its kind and are treated as missing."""

    count: int
    first_row: int  # from 1
    first_cell: str


def kinds_of(frame: "pd.DataFrame") -> dict[str, str]:
    """Determine the kind of each column, one of `KINDS`, by its values, whatever their type is."""
    kinds = {}
    for place, (name, kind) in enumerate(zip(frame.columns, _kinds_by_dtype(frame), strict=True)):
        if kind is None:
            column = frame.iloc[:, place]
            is_text = isinstance(column.dtype, pd.StringDtype)  # which is not looked at twice
            inferred = "string" if is_text else pd.api.types.infer_dtype(_objects(column), skipna=True)
            kind = _KINDS_OF_OBJECTS.get(inferred) or _kind_of_text(_texts(column))  # noqa: PLW2901
        kinds[str(name)] = kind
    return kinds


def _kinds_by_dtype(frame: "pd.DataFrame") -> "list[str | None]":
    """Determine kinds by dtype, None where it does not tell; there may be thousands of columns, but few types."""
    kinds: dict[Any, str | None] = {dtype: _kind_of_dtype(dtype) for dtype in frame.dtypes.unique()}
    return [kinds[dtype] for dtype in frame.dtypes]


def _kind_of_dtype(dtype: Any) -> str | None:
    """Determine the kind of a column by its dtype, None if it does not tell."""
    types = pd.api.types
    if types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return "boolean"
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return "number"
    return {"M": "date", "m": "duration"}.get(dtype.kind)


def _kind_of_text(texts: NDArray[np.object_]) -> str:
    """Determine the kind of text; NaN stands for missing values."""
    codes, values = pd.factorize(texts)
    is_there = np.array([value.strip() not in MISSING_WORDS for value in values], dtype=bool)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))[is_there]
    values = values[is_there]
    if not len(values):
        return "number"
    if all(value in BOOLEANS for value in values):
        return "boolean"
    least = _MOST * counts.sum()
    if counts[np.isfinite(_parse_numbers(values))].sum() >= least:
        return "number"
    dates = DateTexts(values)
    date_kind = dates.kind(counts)
    for kind in (date_kind, "time", "duration"):
        parsed = dates.parse(kind) if kind == date_kind else _PARSERS[kind](values)
        if counts[~np.isnat(parsed)].sum() >= least:
            return kind
    if len(values) > min(_FEW_VALUES, counts.sum() / 2) and _are_sentences(values):
        return "sentence"
    return "category" if len(values) > _FEW_VALUES else "text"


def _are_sentences(values: NDArray[np.object_]) -> bool:
    """Tell whether distinct texts have several words each, most of which occur in other texts, too."""
    some = values[:: len(values) // _SOME_VALUES + 1]
    words = [{word for word in words_of(value) if not word.isdigit()} for value in some]
    if sum(map(len, words)) < _FEW_WORDS * len(words):
        return False
    rows_with: dict[str, int] = {}
    for row in words:
        for word in row:
            rows_with[word] = rows_with.get(word, 0) + 1
    shared = sum(count for count in rows_with.values() if count > 1)
    return 2 * shared >= sum(rows_with.values())


def typed(frame: "pd.DataFrame", kinds: Mapping[str, str], strays: dict[str, Strays] | None = None) -> "pd.DataFrame":
    """Convert cells of any type to values of the expected kinds; numbers and booleans become floats.

    Cells that cannot be converted, and infinite numbers, become missing. They are counted in `strays`, which may
    already hold those of earlier rows.
    """
    frame = with_names(frame)
    missing = [name for name in kinds if name not in frame.columns]
    if missing:
        raise InputError(f"column {missing[0]!r} is missing")
    strays = {} if strays is None else strays
    by_dtype = dict(zip(frame.columns, _kinds_by_dtype(frame), strict=True))
    numbers, texts, others = [], [], {}
    for name, kind in kinds.items():
        if kind in ("number", "boolean") and kind == by_dtype[name]:
            numbers.append(name)
        elif kind == "number" and by_dtype[name] is None:
            texts.append(name)
        else:
            others[name] = _converted(frame[name], kind)
    blocks = [_number_block(frame[names], strays) for names in (numbers, texts) if names]
    for name, converted in others.items():
        is_lost = converted.isna().to_numpy()
        if is_lost.any() and kinds[name] not in TEXT_KINDS:  # looking for gaps takes long
            _count_strays(frame[name], is_lost & frame[name].notna().to_numpy(), strays)
    values = pd.concat([*blocks, pd.DataFrame(others, index=frame.index)], axis="columns")
    return values if list(values.columns) == list(kinds) else values[list(kinds)]


def with_names(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose columns have distinct names that are text."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"X: more than one column is named {twice!r}, expected distinct names")
    return frame.set_axis(names, axis="columns")


def _number_block(frame: "pd.DataFrame", strays: dict[str, Strays]) -> "pd.DataFrame":
    """Return columns of numbers, or of text, as finite floats; there may be thousands of them."""
    if all(_kinds_by_dtype(frame)):
        values: NDArray[np.float64] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        is_lost = np.zeros(values.shape, dtype=bool)
    else:
        objects = np.column_stack([_objects(column) for _, column in frame.items()])
        values = _parse_numbers(objects.ravel()).reshape(objects.shape)
        is_lost = np.isnan(values) & frame.notna().to_numpy()
    is_lost |= np.isinf(values)
    for place in np.flatnonzero(is_lost.any(axis=0)):
        _count_strays(frame.iloc[:, int(place)], is_lost[:, place], strays)
    return pd.DataFrame(np.where(is_lost, np.nan, values), frame.index, frame.columns)


def _count_strays(column: "pd.Series[Any]", is_lost: NDArray[np.bool_], strays: dict[str, Strays]) -> None:
    """Count cells that could not be converted, except words for missing values, together with those of earlier rows."""
    lost = np.flatnonzero(is_lost)
    places = [
        place
        for place, cell in zip(lost, column.iloc[lost], strict=True)
        if not (isinstance(cell, str) and cell.strip() in MISSING_WORDS)
    ]
    if not places:
        return
    name, first = str(column.name), int(places[0])
    row = int(column.index[first]) if pd.api.types.is_integer_dtype(column.index.dtype) else first
    earlier = strays.get(name, Strays(0, row + 1, str(column.iloc[first])[:40]))
    strays[name] = replace(earlier, count=earlier.count + len(places))


def _parse_numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """Read numbers of any type, also with currencies and the like; other cells become NaN."""
    numbers = np.asarray(pd.to_numeric(cells, errors="coerce"))
    values = np.where(numbers.imag == 0, numbers.real, np.nan).astype(np.float64)
    left = np.array(
        [place for place in np.flatnonzero(np.isnan(values)) if isinstance(cells[place], str)], dtype=np.intp
    )
    if len(left):
        values[left] = parse_numbers(cells[left], thousands=",")
    return values


def _parse_durations(texts: NDArray[np.object_]) -> NDArray[np.timedelta64]:
    """Read durations, such as 3 days 04:05:06; other text becomes NaT."""
    known = [text if _DURATION.fullmatch(text.strip()) else None for text in texts]
    return pd.to_timedelta(pd.Series(known, dtype=object), errors="coerce").to_numpy(dtype="m8[us]")


# Parsers of text without missing values; dates are read by `DateTexts`.
_PARSERS: dict[str, Callable[[NDArray[np.object_]], NDArray[Any]]] = {
    "time": parse_times,
    "duration": _parse_durations,
}


def _converted(column: "pd.Series[Any]", kind: str) -> "pd.Series[Any]":
    """Convert a column to values of a kind: floats, times in UTC or text; cells that cannot be converted are missing.

    Times of day are those of the first day of 1970.
    """
    if kind in TEXT_KINDS:
        texts = pd.Series(_texts(column), column.index, dtype=object)
        return texts.mask(texts.isin([*MISSING_WORDS]), np.nan)
    if kind == "boolean":
        words = pd.Series(_texts(column), column.index, dtype=object).map(BOOLEANS).astype(np.float64)
        numbers = _converted(column, "number")
        return words.where(words.notna(), numbers.where(numbers.isin([0.0, 1.0])))
    if kind == "number":
        return _numbers(column)
    if column.dtype.kind != ("m" if kind == "duration" else "M"):
        codes, values = pd.factorize(_texts(column))  # each different text is read once
        parsed = DateTexts(values).parse(kind) if kind in DATE_KINDS else _PARSERS[kind](values)
        return pd.Series(np.append(parsed, np.array(["NaT"], dtype=parsed.dtype))[codes], column.index)
    if kind == "duration":
        return column.astype("timedelta64[us]")
    dates = pd.to_datetime(column, utc=True).dt.tz_localize(None).astype("datetime64[us]")
    return pd.Timestamp(0).as_unit("us") + (dates - dates.dt.floor("D")) if kind == "time" else dates


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    if column.dtype.kind in "biuf" and not isinstance(column.dtype, pd.CategoricalDtype):
        values: Any = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif column.dtype.kind in "mMc":
        values = np.full(len(column), np.nan)
    else:
        values = _parse_numbers(_objects(column))
    return pd.Series(values, column.index)


def _objects(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """Return the values as Python objects, with a missing value of pandas where there is none."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # pandas would turn whole numbers into floats where one is missing.
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


def useless_columns(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Find the columns that nothing can be learnt from: "constant" ones, and each "identifier".

    Identifiers are text that differs in every row, and whole numbers that count the rows one by one: in a file sorted
    by class, these would give the class away. Numbers are constant in spite of gaps that are too few to matter.
    """
    values = typed(frame, kinds)
    numbers = [name for name, kind in kinds.items() if kind in ("number", "boolean")]
    matrix = values[numbers].to_numpy()
    is_missing = np.isnan(matrix)
    highest = np.where(is_missing, -np.inf, matrix).max(axis=0, initial=-np.inf)
    lowest = np.where(is_missing, np.inf, matrix).min(axis=0, initial=np.inf)
    constant = dict(zip(numbers, (highest <= lowest) & ~are_frequent(is_missing), strict=True))
    has_identifiers = len(values) >= 3
    counting: set[str] = set()
    if has_identifiers:
        steps = np.diff(matrix, axis=0)
        counted = ((steps == 1).all(axis=0) | (steps == -1).all(axis=0)) & (matrix[0] == np.floor(matrix[0]))
        counting.update(numbers[place] for place in np.flatnonzero(counted))
    reasons = {}
    for name, kind in kinds.items():
        if constant[name] if name in constant else _is_constant(values[name]):
            reasons[name] = "constant"
        elif kind in ("text", "category"):
            if has_identifiers and values[name].notna().all() and values[name].is_unique:
                reasons[name] = "identifier"
        elif name in counting:
            reasons[name] = "identifier"
    return reasons


def _is_constant(column: "pd.Series[Any]") -> bool:
    """Tell whether all rows have the same text or date; gaps in text are another value."""
    values = column.dropna()
    if len(values) < len(column) and (column.dtype.kind == "O" or are_frequent(column.isna().to_numpy())):
        return values.empty
    return values.empty or bool((values == values.iloc[0]).all())


def suspicious_columns(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Find columns that may be identifiers, and say why."""
    values = typed(frame, kinds)
    found = dict.fromkeys((name for name in kinds if _IDENTIFIER_NAME.fullmatch(name)), "its name says so")
    numbers = [name for name, kind in kinds.items() if kind == "number" and name not in found]
    if len(values) >= _FEW_ROWS:
        matrix = np.sort(values[numbers].to_numpy(), axis=0)  # NaN comes last and fails the comparison
        differ = (matrix == np.floor(matrix)).all(axis=0) & (np.diff(matrix, axis=0) > 0).all(axis=0)
        found |= {numbers[place]: "whole numbers that are all different" for place in np.flatnonzero(differ)}
    for name, kind in kinds.items():
        n_values = values[name].nunique() if kind == "category" else 0
        if name not in found and n_values > max(MAX_CATEGORIES, len(values) / 2):
            found[name] = f"text with {n_values} different values in {len(values)} rows"
    return {name: found[name] for name in kinds if name in found}


def stray_cells(frame: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[str, str]:
    """Describe the cells that are not values of their column's kind: how many there are, and the first one."""
    strays: dict[str, Strays] = {}
    typed(frame.reset_index(drop=True), kinds, strays)
    return {name: describe_strays(strays[name], kinds[name]) for name in kinds if name in strays}


def describe_strays(strays: Strays, kind: str) -> str:
    """Say how many cells of a column are not values of its kind, and which is the first."""
    expected = KINDS[kind].removeprefix("a ").split(" such as ")[0]
    cells, counted = ("1 cell holds", "counts") if strays.count == 1 else (f"{strays.count} cells hold", "count")
    where = f"the first {strays.first_cell!r} in row {strays.first_row}"
    return f"{cells} no {expected} ({where}) and {counted} as missing"


def names_of_classes(truth: "pd.Series[Any]", classes: NDArray[Any]) -> "pd.Series[Any]":
    """Write the true classes of rows as a model writes its classes, whatever type they have in the table."""
    truth = dates_as_text(truth)
    text, names = pd.Series(_texts(truth), truth.index, dtype=object), [str(label) for label in classes]
    if text.isin(names).all():
        return text
    kind = _kind_of_dtype(truth.dtype)
    if kind is None and not isinstance(truth.dtype, pd.CategoricalDtype):
        kind = _KINDS_OF_OBJECTS.get(pd.api.types.infer_dtype(truth, skipna=True))
    if classes.dtype.kind == "U" and kind not in ("number", "boolean"):
        return text
    read_as = "boolean" if classes.dtype.kind == "b" or kind == "boolean" else "number"
    values = _converted(pd.Series(classes), read_as)
    by_value = {
        value: name
        for value, name, is_double in zip(values, names, values.duplicated(keep=False), strict=True)
        if value == value and not is_double  # noqa: PLR0124 (NaN is what differs from itself)
    }
    # Text that is equal comes first: large whole numbers may be equal as floats only.
    return text.where(text.isin(names), _converted(truth, read_as).map(by_value).astype(object).fillna(text))
