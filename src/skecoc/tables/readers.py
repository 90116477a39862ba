"""Open tables: their columns, and their rows, read whole or piece by piece; Parquet, Feather, workbooks and JSON.

Text is read by `skecoc.tables.text`. Workbooks and JSON are held in memory as a whole.
"""

import codecs
import itertools
import json
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from skecoc.support.errors import InputError, did_you_mean, import_extra, spell_out
from skecoc.tables.numbers import Marks, guess_marks, number_column, typed_column

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Cells that stand for a missing value.
MISSING_WORDS = frozenset(
    {"", "?", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "<NA>", "NULL", "null", "None"}
    | {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)

#: What may separate cells, and what messages call it.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

_MARK_NAMES = {"comma": ",", "point": ".", "dot": ".", "period": ".", "space": " ", "apostrophe": "'"}
_SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "bar": "|", "pipe": "|"}
_SAMPLE_ROWS = 1000
_TEXT_TYPES = ("string", "large_string", "string_view")
_STREAM_START = b"\xff\xff\xff\xff"
# Rows among which the header of a sheet is looked for, below titles.
_HEADER_ROWS = 50
_MOST_EXAMPLES = 3
_FEW_COLUMNS = 50


@dataclass(frozen=True)
class ReadingOptions:
    r"""Format of a table, as `skecoc.tables.load_table` takes it; options that are None are detected.

    `usual_decimal` is the decimal mark where none can be detected, such as that of the table a model was fitted to.

    Examples
    --------
    >>> ReadingOptions(sep="tab", decimal="comma")
    ReadingOptions(sep='\t', decimal=',', thousands=None, encoding=None, sheet=None, na=(), usual_decimal=None)
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    na: tuple[str, ...] = ()
    usual_decimal: str | None = None

    def __post_init__(self) -> None:
        found: dict[str, Any] = {"na": (self.na,) if isinstance(self.na, str) else tuple(map(str, self.na))}
        if self.sep is not None:
            found["sep"] = _separator_of(self.sep)
        for name, marks in (("decimal", ".,"), ("thousands", ".,' ")):
            if (given := getattr(self, name)) is not None:
                found[name] = _MARK_NAMES.get(given.lower(), given)
                if len(found[name]) != 1 or found[name] not in marks:
                    expected = "comma or point" if name == "decimal" else "comma, point, space or apostrophe"
                    raise InputError(f"{name}={given!r} cannot be a mark within numbers; expected {expected}")
        if self.decimal is not None and found["decimal"] == found.get("thousands"):
            raise InputError(f"decimal={self.decimal!r} and thousands={self.thousands!r} are the same mark")
        if self.encoding is not None:
            found["encoding"] = _encoding_of(self.encoding)
        # It may come from a model's file, which may hold anything.
        found["usual_decimal"] = usual if isinstance(usual := self.usual_decimal, str) and usual in (".", ",") else None
        if self.sheet is not None:
            found["sheet"] = str(self.sheet)
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def missing(self) -> list[str]:
        """Return all cells that stand for a missing value."""
        return sorted(MISSING_WORDS | set(self.na))


def _separator_of(text: str) -> str:
    r"""Return the separator that a user names: a character, or a word such as tab; an InputError refuses others."""
    mark = _SEPARATOR_NAMES.get(text.lower().removesuffix("s"), text)
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in ' "\r\n':
        names = ", ".join(name for name in _SEPARATOR_NAMES if name.isalpha())
        raise InputError(f"sep={text!r} cannot separate cells; expected {names} or another single character")
    return mark


def _encoding_of(name: str) -> str:
    """Refuse unknown encodings; return the name that Python has for one."""
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"encoding={name!r} is not known; expected one such as utf-8, utf-16 or latin-1") from error
    return "utf-8" if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec.name


class TableReader(ABC):
    """An open table, to be used in a ``with`` block: the names of its columns, and its rows, which are read once.

    `name` is what messages say, such as path='flowers.csv'. `takes` names the options that apply to tables of this
    kind. `notes` says what was guessed or changed; reading the rows may add to it. `types` holds the Arrow types of
    columns where they are known. `opened` is closed at the end.
    """

    def __init__(self, name: str, columns: Sequence[Any], options: ReadingOptions, takes: Collection[str] = ()) -> None:
        self.name, self.options = name, options
        self.columns, self.notes = distinct_names(columns)
        self.types: dict[str, Any] = {}
        self.opened = ExitStack()
        for option in ("sep", "encoding", "sheet"):
            if getattr(options, option) is not None and option not in takes:
                self.notes.append(f"{option} does not apply to a file of this kind")

    @abstractmethod
    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; the index counts them from 0.

        Text stays text, except numbers in the columns `numbers`: those become floats if all of a chunk are numbers,
        and objects, among them text, if not.
        """

    @abstractmethod
    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows with the types of their values; text in the columns `labels` stays text."""

    @cached_property
    def marks(self) -> Marks:
        """How the table writes numbers where they are text."""
        options, sample = self.options, self.sample
        marks = guess_marks(sample, options.decimal, options.thousands, options.usual_decimal)
        if marks.decimal == "," and not marks.is_fixed:
            columns = [name for name, mark in marks.columns.items() if mark == ","] or list(sample)
            found = ((cell, name) for name in columns for cell in sample[name] if "," in cell)
            cell, name = next(((cell, name) for cell, name in found if marks.is_number(cell, ",")), ("", ""))
            if cell:
                self.notes.append(f"numbers have decimal commas, such as {cell.strip()!r} in column {name!r}")
        return marks

    @property
    def decimal(self) -> str:
        """The decimal mark of most columns of text."""
        return self.marks.decimal

    @cached_property
    @abstractmethod
    def sample(self) -> dict[str, list[str]]:
        """The first cells of columns of text, without missing ones."""

    def as_numbers(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        """Make numbers of a column's text, as `chunks` does for the columns `numbers`."""
        return number_column(column, self.marks)

    def _typed(self, text: "Mapping[str, pd.Series[Any]]") -> "dict[str, pd.Series[Any]]":
        """Give columns of text the type of their values, and note examples where this is not obvious."""
        found, typed = {}, {}
        for name, column in text.items():
            typed[name] = typed_column(column, self.marks)
            if typed[name].dtype.kind in "iuf" and (cell := self.marks.unusual(column.dropna())) is not None:
                found[name] = cell, float(typed[name].iloc[int((column == cell).to_numpy().argmax())])
        self._note_numbers(found)
        return typed

    def _unusual_numbers(self, names: Collection[str]) -> set[str]:
        """Find the columns of numbers that are written in another way than most of the table, and note examples."""
        found: dict[str, tuple[str, float]] = {}
        for name in names:
            cell, decimal = self.marks.unusual(self.sample.get(name, ())), self.marks.decimal_of(name)
            if cell is not None and self.marks.is_number(cell, decimal):
                found[name] = cell, float(self.marks.parse([cell], decimal)[0])
        self._note_numbers(found)
        return {*found, *(name for name in names if self.marks.decimal_of(name) != self.decimal)}

    def _note_numbers(self, found: dict[str, tuple[str, float]]) -> None:
        """Note how numbers are read that are more than digits and a decimal mark."""
        examples = [f"{cell.strip()!r} as {value:.15g} (column {name!r})" for name, (cell, value) in found.items()]
        if examples:
            self.notes.append(f"read as numbers: {spell_out(examples, _MOST_EXAMPLES)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.close()


def distinct_names(columns: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Name all columns, and no two alike; also return notes on what was changed.

    >>> distinct_names(["a", "a", ""])
    (['a', 'a.2', 'column 3'], ["2 columns are named 'a': now 'a', 'a.2'", "column 3 has no name: now 'column 3'"])
    """
    given = [str(name).strip() for name in columns]
    names: dict[str, None] = {}
    repeated: dict[str, list[str]] = {}
    nameless: list[int] = []
    for place, name in enumerate(given, start=1):
        wanted = name or f"column {place}"
        others = {*names, *given} if wanted in names or not name else set()
        candidates = (wanted if count == 1 else f"{wanted}.{count}" for count in itertools.count(1))
        new_name = next(new for new in candidates if new not in others)
        names[new_name] = None
        if name:
            repeated.setdefault(name, []).append(repr(new_name))
        else:
            nameless.append(place)
    notes = [
        f"{len(new)} columns are named {name!r}: now {spell_out(new)}" for name, new in repeated.items() if len(new) > 1
    ]
    if nameless:
        verb = "s {} have" if len(nameless) > 1 else " {} has"
        everyone = list(names)
        new = spell_out([repr(everyone[place - 1]) for place in nameless])
        notes.append(f"column{verb.format(spell_out(nameless))} no name: now {new}")
    return list(names), notes


def with_columns(frame: "pd.DataFrame", columns: "Mapping[str, pd.Series[Any]]") -> "pd.DataFrame":
    """Replace columns of a frame; many of them all at once, as this takes long one by one."""
    if len(columns) <= _FEW_COLUMNS:
        return frame.assign(**columns)
    return pd.DataFrame({name: columns.get(name, frame[name]) for name in frame.columns})


@contextmanager
def naming_the_table(name: str) -> Iterator[None]:
    """Turn whatever a parser raises on a bad table into a ValueError that names the table."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        if str(error).startswith(f"{name} "):
            raise
        raise ValueError(f"{name} cannot be read as a table: {str(error).strip()}") from error


def dates_as_text(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Write days as a text file has them, without the time of midnight; other labels are returned as they are."""
    if labels.dtype.kind != "M" or not (labels.dt.normalize() == labels).all():
        return labels
    return labels.dt.strftime("%Y-%m-%d")


def without_missing_words(column: "pd.Series[Any]", missing: Collection[str]) -> "pd.Series[Any]":
    """Drop the cells of a column that are words for a missing value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_categories([name for name in column.cat.categories if name in missing])
    if not is_text(column):
        return column
    words = set(missing)
    if isinstance(column.dtype, pd.StringDtype):
        return column.mask(column.isin(words))
    is_word = np.fromiter((isinstance(cell, str) and cell.strip() in words for cell in column), bool, len(column))
    return column.mask(is_word) if is_word.any() else column


def is_text(column: "pd.Series[Any]") -> bool:
    """Tell whether a column may hold text."""
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def holds(column: "pd.Series[Any]", kind: type) -> bool:
    """Tell whether all values of a column are of a type, and there are some."""
    types = set(map(type, column.dropna()))
    return types == {kind}


class FrameTable(TableReader):
    """A table in memory whose cells each have a type of their own."""

    def __init__(self, frame: "pd.DataFrame", name: str, options: ReadingOptions, takes: Collection[str]) -> None:
        super().__init__(name, list(frame.columns), options, takes)
        cells = frame.set_axis(self.columns, axis="columns").reset_index(drop=True)
        self._frame = cells.apply(without_missing_words, missing=options.missing) if len(cells) else cells

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """The first cells; see `TableReader.sample`."""
        head = self._frame.head(_SAMPLE_ROWS)
        text = {name: [cell for cell in head[name] if isinstance(cell, str)] for name in head if is_text(head[name])}
        return {str(name): cells for name, cells in text.items() if cells}

    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Return so many rows at a time; see `TableReader.chunks`."""
        frame = self._frame[list(self.columns if columns is None else columns)]
        self._unusual_numbers(numbers)
        for first in range(0, len(frame), n_rows):
            chunk = frame.iloc[first : first + n_rows]
            wanted = set(numbers).intersection(chunk.columns)
            yield with_columns(chunk, {name: self.as_numbers(chunk[name]).infer_objects() for name in wanted})

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Return all rows; see `TableReader.whole`."""
        frame = self._frame
        found = {name: self._with_numbers(frame[name]) for name in self.columns if name not in labels}
        typed = self._typed({name: column for name, column in found.items() if is_text(column)})
        return with_columns(frame, {**found, **typed})

    def _with_numbers(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        """Give a column one type; numbers that are text count as numbers if there are real ones beside them."""
        words = [cell for cell in column if isinstance(cell, str)] if is_text(column) else []
        if 0 < len(words) < column.notna().sum():
            numbers = self.as_numbers(column).infer_objects()
            if numbers.dtype.kind in "iuf":
                if (cell := self.marks.unusual(words)) is not None:
                    place = next(place for place, other in enumerate(column) if other == cell)
                    self._note_numbers({str(column.name): (cell, float(numbers.iloc[place]))})
                return numbers
        return uniform(column)


def uniform(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Give a column of cells with types of their own one type; if they differ, and some are text, all become text."""
    if not is_text(column):
        return column
    if holds(column, bool):
        return column.astype("boolean" if column.isna().any() else bool)
    if not any(isinstance(cell, str) for cell in column):
        return column.mask(column.isna(), np.nan).infer_objects()
    return column.map(lambda cell: cell if isinstance(cell, str) else str(cell), na_action="ignore")


def read_workbook(source: Path | BinaryIO, name: str, options: ReadingOptions) -> TableReader:
    """Read a sheet of an Excel or OpenDocument workbook."""
    import_extra("python_calamine", "table", "reading Excel")
    with naming_the_table(name):
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                if not any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist()):
                    raise ValueError("it is an archive; unpack it")
        if not isinstance(source, Path):
            source.seek(0)
        try:
            with pd.ExcelFile(source, engine="calamine") as workbook:
                names = [str(sheet) for sheet in workbook.sheet_names]
                sheet = names[0] if options.sheet is None else _choose_sheet(names, options.sheet)
                cells = pd.read_excel(workbook, sheet_name=sheet, header=None, na_filter=False, dtype=object)
        except ValueError:
            raise
        except Exception as error:  # the errors of calamine have no common type but this
            raise ValueError(f"it is no workbook that can be read: {error}") from error
        frame, header_row = _below_header(cells)
    table = FrameTable(frame, name, options, takes=("sheet",))
    if options.sheet is None and len(names) > 1:
        table.notes.append(f"of {len(names)} sheets, the first one is read, {sheet!r}")
    if header_row:
        table.notes.append(f"the columns are named by row {header_row} of the sheet")
    return table


def _choose_sheet(names: Sequence[str], wanted: str) -> str:
    """Return the name of the sheet that is wanted, by name or by number."""
    if wanted in names:
        return wanted
    if wanted.isdecimal() and 0 < int(wanted) <= len(names):
        return names[int(wanted) - 1]
    shown = spell_out(list(map(repr, names)))
    raise ValueError(f"it has no sheet={wanted!r}{did_you_mean(wanted, names)}; its sheets are {shown}")


def _below_header(cells: "pd.DataFrame") -> "tuple[pd.DataFrame, int]":
    """Take the rows below the header, and its number if there are titles above it; blank rows and columns go."""
    is_blank = cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).to_numpy(dtype=bool)
    n_filled = (~is_blank).sum(axis=1)
    if not n_filled.any():
        raise ValueError("the sheet is empty")
    # A title fills a cell or two of its row.
    header = int(np.argmax(n_filled[:_HEADER_ROWS] > n_filled[:_HEADER_ROWS].max() / 2))
    below = np.flatnonzero(n_filled[header + 1 :]) + header + 1
    columns = np.flatnonzero(~is_blank[header] | ~is_blank[below].all(axis=0))
    frame = cells.iloc[below, columns].set_axis(cells.iloc[header, columns].tolist(), axis="columns")
    has_title = bool(n_filled[:header].any())
    return frame, header + 1 if has_title else 0


def read_json(text: str, name: str, options: ReadingOptions) -> TableReader:
    """Read objects, each on a line or all in an array; or one object that holds columns, as pandas writes it."""
    with naming_the_table(name):
        values = _json_values(text)
        if not values:
            raise ValueError("it holds no rows")
        if not all(isinstance(value, dict) for value in values):
            raise ValueError('expected objects such as {"size": 1.5, "kind": "a"}, one for each row')
        are_columns = len(values) == 1 and all(isinstance(cells, dict | list) for cells in values[0].values())
        # Objects, so that whole numbers stay whole beside gaps.
        frame = pd.DataFrame(values[0] if are_columns else values, dtype=object)
    return FrameTable(frame, name, options, takes=("encoding",))


def _json_values(text: str) -> list[Any]:
    """Parse an array, or one value per line."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("["):
            raise ValueError(f"line {error.lineno} is no JSON: {error.msg}") from error
    else:
        return found if isinstance(found, list) else [found]
    values = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            values += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is no JSON: {error.msg}") from error
    return values


class ArrowTable(TableReader):
    """A table whose columns have types of Arrow: of a Parquet or a Feather file.

    `batches` reads so many rows at a time of some stored columns, or of all if these are None, and `read` all rows.
    """

    def __init__(
        self,
        schema: Any,
        batches: Callable[[int, Sequence[str] | None], Iterator[Any]],
        read: Callable[[], Any],
        name: str,
        options: ReadingOptions,
    ) -> None:
        self._batches, self._read = batches, read
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        names, types = schema.names, schema.types  # each makes a list
        self._places = [place for place, column in enumerate(names) if column not in index]
        self._stored = [names[place] for place in self._places]
        super().__init__(name, self._stored, options)
        self.types = {column: types[place] for column, place in zip(self.columns, self._places, strict=True)}

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """The first cells; see `TableReader.sample`."""
        text = [name for name, kind in self.types.items() if str(kind) in _TEXT_TYPES]
        if not text:
            return {}
        missing = set(self.options.missing)
        frame = next(self._frames(_SAMPLE_ROWS, text), pd.DataFrame(columns=text))
        return {name: [cell for cell in frame[name].dropna().tolist() if cell not in missing] for name in text}

    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; see `TableReader.chunks`."""
        wanted = list(self.columns if columns is None else columns)
        self._unusual_numbers(numbers)
        first = 0
        with naming_the_table(self.name):
            for frame in self._frames(n_rows, wanted):
                found = self._without_missing_words(frame)
                text = set(numbers).intersection(self.sample, wanted)
                found.update({name: self.as_numbers(found.get(name, frame[name])) for name in text})
                yield with_columns(frame, found).set_axis(pd.RangeIndex(first, first + len(frame)), axis="index")
                first += len(frame)

    def _frames(self, n_rows: int, wanted: Sequence[str]) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time, with the names that columns have now."""
        place_of = {name: place for place, name in enumerate(self.columns)}
        places = [place_of[name] for name in wanted]
        is_distinct = len(set(self._stored)) == len(self._stored)
        for batch in self._batches(n_rows, [self._stored[place] for place in places] if is_distinct else None):
            if not is_distinct:
                batch = batch.select([self._places[place] for place in places])  # noqa: PLW2901
            elif batch.schema.names != [self._stored[place] for place in places]:
                batch = batch.select([self._stored[place] for place in places])  # noqa: PLW2901
            # Whole numbers stay whole beside gaps: a cell must not depend on what else its chunk holds.
            yield batch.rename_columns(list(wanted)).to_pandas(ignore_metadata=True, integer_object_nulls=True)

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows; see `TableReader.whole`."""
        with naming_the_table(self.name):
            table = self._read().select(self._places)
            if self._stored != self.columns:
                table = table.rename_columns(self.columns).replace_schema_metadata()
            # The metadata of pandas may turn names into numbers again.
            frame = table.to_pandas().reset_index(drop=True).set_axis(self.columns, axis="columns")
        for name in labels:
            frame[name] = table.column(self.columns.index(name)).to_pandas(integer_object_nulls=True)
        found = self._without_missing_words(frame)
        features = {name: column for name, column in found.items() if name not in labels and is_text(column)}
        booleans = {name: column.astype("boolean") for name, column in features.items() if holds(column, bool)}
        text = {name: column for name, column in features.items() if holds(column, str)}
        return with_columns(frame, {**found, **booleans, **self._typed(text)})

    def _without_missing_words(self, frame: "pd.DataFrame") -> "dict[str, pd.Series[Any]]":
        """Return the columns of text and categories, without words for missing values."""
        others = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O"]
        return {str(name): without_missing_words(frame[name], self.options.missing) for name in others}


def open_parquet(source: Path | BinaryIO, name: str, options: ReadingOptions) -> TableReader:
    """Open a Parquet file, or a stream of bytes that can go back."""
    import_extra("pyarrow", "table", "reading Parquet")
    from pyarrow import parquet

    with naming_the_table(name):
        file = parquet.ParquetFile(source)
    table = ArrowTable(
        file.schema_arrow,
        lambda n_rows, columns: file.iter_batches(n_rows, columns=columns),
        file.read,
        name,
        options,
    )
    table.opened.callback(file.close)
    return table


def read_feather(source: Path | BinaryIO, name: str, options: ReadingOptions) -> TableReader:
    """Read a Feather file, or another one of Arrow, as a whole."""
    import_extra("pyarrow", "table", "reading Feather")
    from pyarrow import feather, ipc

    with naming_the_table(name), ExitStack() as opened:
        file = opened.enter_context(source.open("rb")) if isinstance(source, Path) else source
        start = file.read(4)
        file.seek(0)
        whole = ipc.open_stream(file).read_all() if start == _STREAM_START else feather.read_table(file)

    def batches(n_rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        return iter((whole if columns is None else whole.select(columns)).to_batches(max_chunksize=n_rows))

    return ArrowTable(whole.schema, batches, lambda: whole, name, options)
