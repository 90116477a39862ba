"""Tables in other files than text: Parquet, Feather, Excel and JSON; the last two are held in memory as a whole."""

import json
import zipfile
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skecoc.support.errors import did_you_mean, import_extra, spell_out
from skecoc.tables.readers import ReadingOptions, TableReader, naming_the_table, with_columns

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

_SAMPLE_ROWS = 1000
_TEXT_TYPES = ("string", "large_string", "string_view")
_STREAM_START = b"\xff\xff\xff\xff"
# Rows among which the header of a sheet is looked for, below titles.
_HEADER_ROWS = 50


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
    """Tell whether all cells of a column that are there are of a type, and some are."""
    types = set(map(type, column.dropna()))
    return types == {kind}


class FrameTable(TableReader):
    """A table of cells that have types of their own, one by one, all of them in memory."""

    def __init__(self, frame: "pd.DataFrame", name: str, options: ReadingOptions) -> None:
        super().__init__(name, list(frame.columns), options)
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
    """Read a sheet of an Excel workbook or of its kin."""
    import_extra("python_calamine", "table", "reading Excel")
    with naming_the_table(name):
        _check_archive(source)
        try:
            with pd.ExcelFile(source, engine="calamine") as workbook:
                names = [str(sheet) for sheet in workbook.sheet_names]
                sheet = _choose_sheet(names, options.sheet)
                cells = pd.read_excel(workbook, sheet_name=sheet, header=None, na_filter=False, dtype=object)
        except ValueError:
            raise
        except Exception as error:  # the errors of calamine have no common type but this
            raise ValueError(f"it is no workbook that can be read: {error}") from error
        frame, header_row = _below_header(cells)
    table = SheetTable(frame, name, options)
    if options.sheet is None and len(names) > 1:
        table.notes.append(f"of {len(names)} sheets, the first one is read, {sheet!r}")
    if header_row:
        table.notes.append(f"the columns are named by row {header_row} of the sheet")
    return table


class SheetTable(FrameTable):
    """A sheet of a workbook."""

    takes = ("sheet",)


def _check_archive(source: Path | BinaryIO) -> None:
    """Refuse archives that are no workbooks."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            if not any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist()):
                raise ValueError("it is an archive; unpack it")
    if not isinstance(source, Path):
        source.seek(0)


def _choose_sheet(names: Sequence[str], wanted: str | None) -> str:
    """Return the name of the sheet that is wanted, by name or by number, or else of the first one."""
    if wanted is None or wanted in names:
        return names[0] if wanted is None else wanted
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
    return JsonTable(frame, name, options)


def _json_values(text: str) -> list[Any]:
    """Parse an array, or values of which each has a line of its own."""
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


class JsonTable(FrameTable):
    """Objects of JSON."""

    takes = ("encoding",)


class ArrowTable(TableReader):
    """A table whose columns have types of Arrow: of a Parquet or a Feather file."""

    def __init__(self, source: Path | BinaryIO, name: str, options: ReadingOptions) -> None:
        import_extra("pyarrow", "table", self.purpose)
        with naming_the_table(name):
            schema = self._connect(source)
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        names, types = schema.names, schema.types  # each makes a list
        self._places = [place for place, column in enumerate(names) if column not in index]
        self._stored = [names[place] for place in self._places]
        super().__init__(name, self._stored, options)
        self._open.callback(self._close)
        self._types = {column: types[place] for column, place in zip(self.columns, self._places, strict=True)}

    #: What messages say if pyarrow is missing.
    purpose: str

    @abstractmethod
    def _connect(self, source: Path | BinaryIO) -> Any:
        """Open the file; return its schema."""

    @abstractmethod
    def _batches(self, n_rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        """Read so many rows at a time of some columns, or of all."""

    @abstractmethod
    def _table(self) -> Any:
        """Read all rows of all columns."""

    def _close(self) -> None:
        """Close the file."""

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """The first cells; see `TableReader.sample`."""
        text = [name for name, kind in self._types.items() if str(kind) in _TEXT_TYPES]
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

    def arrow_types(self) -> dict[str, Any]:
        """Return the types of the columns; see `TableReader.arrow_types`."""
        return self._types

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows; see `TableReader.whole`."""
        with naming_the_table(self.name):
            table = self._table().select(self._places)
            if self._stored != self.columns:
                table = table.rename_columns(self.columns).replace_schema_metadata()
            # pandas remembers names that are numbers.
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


class ParquetTable(ArrowTable):
    """A table in a Parquet file, or in a stream of bytes that can go back."""

    purpose = "reading Parquet"

    def _connect(self, source: Path | BinaryIO) -> Any:
        """Open the file; see `ArrowTable._connect`."""
        parquet = import_extra("pyarrow.parquet", "table", self.purpose)
        self._file = parquet.ParquetFile(source)
        return self._file.schema_arrow

    def _close(self) -> None:
        """Close the file."""
        self._file.close()

    def _batches(self, n_rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        """Read so many rows at a time; see `ArrowTable._batches`."""
        return self._file.iter_batches(n_rows, columns=columns)

    def _table(self) -> Any:
        """Read all rows; see `ArrowTable._table`."""
        return self._file.read()


class FeatherTable(ArrowTable):
    """A table in a Feather file or another one of Arrow, which is read as a whole."""

    purpose = "reading Feather"

    def _connect(self, source: Path | BinaryIO) -> Any:
        """Open the file; see `ArrowTable._connect`."""
        feather = import_extra("pyarrow.feather", "table", self.purpose)
        arrow = import_extra("pyarrow.ipc", "table", self.purpose)
        with ExitStack() as opened:
            file = opened.enter_context(source.open("rb")) if isinstance(source, Path) else source
            start = file.read(4)
            file.seek(0)
            self._whole = arrow.open_stream(file).read_all() if start == _STREAM_START else feather.read_table(file)
        return self._whole.schema

    def _batches(self, n_rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        """Return so many rows at a time; see `ArrowTable._batches`."""
        table = self._whole if columns is None else self._whole.select(columns)
        return iter(table.to_batches(max_chunksize=n_rows))

    def _table(self) -> Any:
        """Return all rows; see `ArrowTable._table`."""
        return self._whole
