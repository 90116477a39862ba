"""Read CSV and Parquet tables piece by piece, so that a table may be larger than memory."""

import csv
import gzip
import io
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self, cast

import numpy as np

from skecoc.support.errors import import_extra

if TYPE_CHECKING:
    import pandas as pd

#: Where a table comes from: a file, or an open stream of bytes such as ``sys.stdin.buffer``.
Source = str | os.PathLike[str] | BinaryIO

#: Cells that stand for a missing value.
MISSING_WORDS = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "<NA>", "NULL", "null", "None"}
    | {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)

# What else may stand between cells, and is then taken for a part of a name.
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t"}
SUFFIXES = (*_SEPARATORS, ".parquet")
_PARQUET_START = b"PAR1"
_GZIP_START = b"\x1f\x8b"
_ROWS_AT_ONCE = 50_000
# Python's own bound, 131,072 characters, is too low for documents; without any, a missing quote would fill memory.
_LONGEST_CELL = 64 * 2**20
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class TableReader(ABC):
    """An open table: the names of its columns, and its rows in chunks.

    Attributes
    ----------
    name : str
        What messages call the table: ``path='flowers.csv'``.
    columns : list of str
        Names of the columns, in the table's order.
    holds_text : bool
        Whether all cells are text, whatever they mean.
    """

    holds_text: ClassVar[bool]

    def __init__(self, name: str, columns: list[str]) -> None:
        self.name, self.columns = name, columns
        self._open = ExitStack()
        _check_names(name, columns)

    @abstractmethod
    def chunks(self, n_rows: int, columns: Sequence[str] | None = None) -> "Iterator[pd.DataFrame]":
        """Read the rows, once.

        Parameters
        ----------
        n_rows : int
            Largest number of rows of a chunk.
        columns : sequence of str, default=None
            The columns to read, in this order; None reads all.

        Yields
        ------
        DataFrame of shape (at most n_rows, n_columns)
            The next rows; those of a text file hold text, and NaN where a value is missing. Its index counts the
            table's rows from 0.

        Raises
        ------
        ValueError
            If the rest of the table cannot be read.
        """

    def arrow_types(self) -> dict[str, Any]:
        """Return the types that columns are known to have.

        Returns
        -------
        dict of str to pyarrow.DataType
            Types by the names of columns; empty for a text file.
        """
        return {}

    @abstractmethod
    def whole(self) -> "pd.DataFrame":
        """Read all rows at once.

        Returns
        -------
        DataFrame of shape (n_rows, n_columns)
            The table, with cells as in `chunks`.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


def open_table(source: Source) -> TableReader:
    r"""Open a CSV or Parquet table.

    Parameters
    ----------
    source : str, path-like or binary file
        A file ending in ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``; or an open stream of bytes, which holds a
        Parquet file (read as a whole), or CSV, compressed or not.

    Returns
    -------
    TableReader
        To be used in a ``with`` block.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no readable table, or has unnamed or repeated columns.
    ImportError
        If pandas (or pyarrow, for Parquet) is not installed.

    Examples
    --------
    >>> with open_table(io.BytesIO(b"length,colour\n5.1,blue\n,red\n4.7,red\n")) as table:
    ...     print(table.columns, [len(chunk) for chunk in table.chunks(n_rows=2)])
    ['length', 'colour'] [2, 1]
    """
    import_extra("pandas", "table", "load_table")
    if not isinstance(source, str | os.PathLike):
        return _open_stream(source)
    path = Path(source)
    suffix, name = _check_path(path), f"path={str(path)!r}"
    if suffix == ".parquet":
        return ParquetTable(path, name)
    with naming_the_table(name):
        stream = path.open("rb")
    return TextTable(_unpacked(stream) if suffix.endswith(".gz") else stream, name, _SEPARATORS[suffix])


def _open_stream(stream: BinaryIO) -> TableReader:
    """Open a table of which only bytes are known."""
    name = f"path={getattr(stream, 'name', None) or '<stream>'!s}"
    with naming_the_table(name):
        start = stream.peek(4)[:4] if hasattr(stream, "peek") else _start_of(stream)
        if start == _PARQUET_START:
            return ParquetTable(io.BytesIO(stream.read()), name)
    if not start:
        raise ValueError(f"{name} is empty; expected a table with a header")
    return TextTable(_unpacked(stream) if start[:2] == _GZIP_START else stream, name, ",")


def separator_hint(columns: Sequence[str]) -> str:
    """Say what may be wrong with a table that seems to have a single column.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    str
        An end of a message; empty if there is nothing to say.

    Examples
    --------
    >>> separator_hint(["length;colour;species"])
    '; its header has semicolons between names, expected commas in .csv and tabs in .tsv'
    """
    found = [word for mark, word in _OTHER_SEPARATORS.items() if len(columns) == 1 and mark in columns[0]]
    return f"; its header has {found[0]} between names, expected commas in .csv and tabs in .tsv" if found else ""


def _unpacked(stream: BinaryIO) -> BinaryIO:
    """Read a stream that gzip has compressed."""
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream))


def _start_of(stream: BinaryIO) -> bytes:
    """Look at the first bytes of a stream that can go back."""
    position = stream.tell()
    start = stream.read(4)
    stream.seek(position)
    return start


class TextTable(TableReader):
    """A table of lines of text, separated by commas or tabs; its first line names the columns.

    Parameters
    ----------
    stream : binary file
        Lines in UTF-8; closed at the end of the ``with`` block.
    name : str
        What messages call the table.
    separator : str
        What stands between cells.
    """

    holds_text = True

    def __init__(self, stream: BinaryIO, name: str, separator: str) -> None:
        # A byte order mark is left out: spreadsheets like to put one first.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        self._reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
        with ExitStack() as on_error:
            on_error.callback(text.close)
            with naming_the_table(name, self._reader), _long_cells():
                header = next((row for row in self._reader if any(row)), None)
                if header is None:
                    raise ValueError("it has no line that names the columns")
            super().__init__(name, header)
            on_error.pop_all()
        self._open.callback(text.close)

    def chunks(self, n_rows: int, columns: Sequence[str] | None = None) -> "Iterator[pd.DataFrame]":
        """Read the rows as text; see `TableReader.chunks`."""
        pd = import_extra("pandas", "table", "load_table")
        wanted = self.columns if columns is None else columns
        places = [self.columns.index(column) for column in wanted]
        first = 0
        with naming_the_table(self.name, self._reader):
            for rows in self._batches(n_rows):
                cells = list(zip(*rows, strict=True))
                frame = pd.DataFrame(
                    {place: _with_gaps(cells[place]) for place in places},
                    index=pd.RangeIndex(first, first + len(rows)),
                    dtype=object,
                )
                yield frame.set_axis(list(wanted), axis="columns")
                first += len(rows)

    def whole(self) -> "pd.DataFrame":
        """Read all rows as text; see `TableReader.whole`."""
        pd = import_extra("pandas", "table", "load_table")
        # Types are inferred chunk by chunk: pandas keeps text in less memory than Python does.
        parts = [chunk.infer_objects() for chunk in self.chunks(_ROWS_AT_ONCE)]
        return pd.concat(parts) if parts else pd.DataFrame(columns=self.columns, dtype=object)

    def _batches(self, n_rows: int) -> Iterator[list[list[str]]]:
        """Collect rows, refusing those that have another length than the header."""
        rows: list[list[str]] = []
        width, line = len(self.columns), self._reader.line_num
        while found := self._next(n_rows - len(rows)):
            if set(map(len, found)) != {width}:
                found = _of_width(found, width, line)
            line = self._reader.line_num
            rows += found
            if len(rows) == n_rows:
                yield rows
                rows = []
        if rows:
            yield rows

    def _next(self, n_rows: int) -> list[list[str]]:
        """Read at most so many rows; none at the end."""
        with _long_cells():
            return list(islice(self._reader, n_rows))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the reader of CSV take long cells; the bound is one for the whole process."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _of_width(rows: list[list[str]], width: int, line: int) -> list[list[str]]:
    """Leave out blank lines, and refuse rows that are too short or too long; `line` is the one before the first."""
    kept = []
    for row in rows:
        # A cell may hold line breaks, each of which may be made of two characters.
        line += 1 + sum(len(_LINE_BREAK.findall(cell)) for cell in row)
        if not any(row) and len(row) <= min(1, width - 1):
            continue
        # Empty cells at the end do no harm.
        if len(row) < width or any(row[width:]):
            cells = f"{len(row)} cell{'s' if len(row) > 1 else ''}"
            raise ValueError(f"line {line} has {cells}, but its header has {width}")
        kept.append(row[:width])
    return kept


def _with_gaps(cells: tuple[str, ...]) -> "np.ndarray[Any, np.dtype[np.object_]]":
    """Turn text into an array, with NaN for the words that stand for a missing value."""
    values = np.array(cells, dtype=object)
    if not MISSING_WORDS.isdisjoint(cells):
        values[[cell in MISSING_WORDS for cell in cells]] = np.nan
    return values


class ParquetTable(TableReader):
    """A table in a Parquet file.

    Parameters
    ----------
    source : pathlib.Path or binary file that can go back
        The file.
    name : str
        What messages call the table.
    """

    holds_text = False

    def __init__(self, source: Path | BinaryIO, name: str) -> None:
        import_extra("pyarrow", "table", "reading Parquet")
        parquet = import_extra("pyarrow.parquet", "table", "reading Parquet")
        with naming_the_table(name):
            self._file = parquet.ParquetFile(source)
        schema = self._file.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        stored = [column for column in index if isinstance(column, str)]
        with ExitStack() as on_error:
            on_error.callback(self._file.close)
            super().__init__(name, [column for column in schema.names if column not in stored])
            on_error.pop_all()
        self._open.callback(self._file.close)

    def chunks(self, n_rows: int, columns: Sequence[str] | None = None) -> "Iterator[pd.DataFrame]":
        """Read the rows; see `TableReader.chunks`."""
        pd = import_extra("pandas", "table", "load_table")
        wanted = list(self.columns if columns is None else columns)
        first = 0
        with naming_the_table(self.name):
            for batch in self._file.iter_batches(n_rows, columns=wanted):
                # Whole numbers stay whole beside gaps: a cell must not depend on what else its chunk holds.
                frame = batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)[wanted]
                yield frame.set_axis(pd.RangeIndex(first, first + len(frame)), axis="index")
                first += len(frame)

    def arrow_types(self) -> dict[str, Any]:
        """Return the types of the columns; see `TableReader.arrow_types`."""
        return {field.name: field.type for field in self._file.schema_arrow}

    def whole(self) -> "pd.DataFrame":
        """Read all rows; see `TableReader.whole`."""
        with naming_the_table(self.name):
            frame = self._file.read(columns=self.columns).to_pandas().reset_index(drop=True)
        return frame.set_axis(self.columns, axis="columns")  # pandas remembers names that are numbers


@contextmanager
def naming_the_table(name: str, reader: Any = None) -> Iterator[None]:
    """Turn whatever a parser raises on a bad table into a ValueError that names the table."""
    try:
        yield
    except UnicodeDecodeError as error:
        # Text is decoded piece by piece, the next one only when all lines of those before are used up.
        line = reader.line_num + 1 + error.object[: error.start].count(b"\n")
        reason = f"line {line} is not UTF-8 (byte 0x{error.object[error.start]:02x})"
        raise ValueError(f"{name} cannot be read as a table: {reason}") from error
    except csv.Error as error:
        what = f"cell longer than {_LONGEST_CELL:,} characters" if "field limit" in str(error) else str(error)
        reason = f"line {reader.line_num}: {what} (is a quote missing?)"
        raise ValueError(f"{name} cannot be read as a table: {reason}") from error
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} cannot be read as a table: {str(error).strip()}") from error


def _check_path(path: Path) -> str:
    """Refuse a path that is not a readable kind of file; return its suffix."""
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; expected a file")
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r}: there is no such file")
    suffix = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise ValueError(f"path={str(path)!r} has an unknown suffix; expected one of {', '.join(SUFFIXES)}")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"path={str(path)!r} is empty; expected a table with a header")
    return suffix


def _check_names(name: str, columns: list[str]) -> None:
    """Refuse columns without a name of their own."""
    if unnamed := [number for number, column in enumerate(columns, start=1) if not column.strip()]:
        raise ValueError(f"{name}: column {unnamed[0]} has no name; name it or remove it")
    if repeated := [column for column, count in Counter(columns).items() if count > 1]:
        raise ValueError(f"{name} has more than one column named {', '.join(map(repr, repeated))}")
