"""Read a table from a CSV or Parquet file, whole or piece by piece: the one place where files become data frames."""

import gzip
import io
import os
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Self, cast

import numpy as np
from sklearn.utils import Bunch

from skecoc.support.errors import did_you_mean, import_extra, spell_out
from skecoc.tables.rows import CheckedRows

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Where a table comes from: a file, or an open stream of bytes such as ``sys.stdin.buffer``.
Source = str | os.PathLike[str] | BinaryIO

#: Cells that stand for a missing value.
MISSING_WORDS = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "<NA>", "NULL", "null", "None"}
    | {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
#: How booleans are written.
BOOLEANS = MappingProxyType({"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False})

# What else may stand between cells, and is then taken for a part of a name.
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t"}
SUFFIXES = (*_SEPARATORS, ".parquet")
_PARQUET_START = b"PAR1"
_GZIP_START = b"\x1f\x8b"
_MAX_COLUMNS_SHOWN = 20
# Cells that are tried first: if one of them is no number, the column is text.
_FIRST_CELLS = 100


def load_table(path: Source, *, target: str, return_X_y: bool = False) -> Any:
    r"""Load features and classes from a CSV or Parquet file.

    Needs pandas, and pyarrow for Parquet: ``pip install "scikit-ecoc[table]"``.

    Parameters
    ----------
    path : str, path-like or binary file
        A file ending in ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``, or an open stream of CSV or Parquet, such as
        ``sys.stdin.buffer``. Text is UTF-8 and its first line names the columns.
    target : str
        Name of the column that holds the class; every other column is a feature.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the whole bunch.

    Returns
    -------
    :class:`~sklearn.utils.Bunch` or tuple
        With ``return_X_y=True`` the pair ``(data, target)``, otherwise a bunch with

        data : DataFrame of shape (n_samples, n_features)
            The features: numbers as numbers, booleans as booleans, text as text, gaps as gaps.
        target : Series of shape (n_samples,)
            The class of each row; text unless every class is written as Python would print the number.
        feature_names, target_names : list of str and ndarray of shape (n_classes,)
            Names of the features, and the distinct classes, sorted.
        frame : DataFrame of shape (n_samples, n_features + 1)
            The whole table, in the column order of the file.
        DESCR, filename : str
            One line that says what was read, and the path.

    Raises
    ------
    ValueError
        If the file cannot be parsed as a table with distinct column names, or the target is not one of its columns,
        has missing values or fewer than two classes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skecoc.tables import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("length,colour,species\n5.1,blue,a\n4.9,red,b\n")
    ...     flowers = load_table(path, target="species")
    >>> flowers.feature_names
    ['length', 'colour']
    >>> flowers.target.tolist()
    ['a', 'b']
    """
    with open_table(path) as table:
        name = table.name.removeprefix("path=")
        _check_target(name, table.columns, target)
        frame = table.whole(labels=[target])
    data, labels = frame.drop(columns=target), frame[target]
    _check_labels(name, target, labels)
    if return_X_y:
        return data, labels
    filename = str(path) if isinstance(path, str | os.PathLike) else ""
    file = Path(filename).name or "table"
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(data.columns),
        target_names=np.unique(labels.drop_duplicates().to_numpy()),
        frame=frame,
        DESCR=f"{file}: {len(data)} rows, {data.shape[1]} features, classes in column {target!r}",
        filename=filename,
    )


class TableReader(ABC):
    """An open table, to be used in a ``with`` block: the names of its columns, and its rows, which are read once."""

    _open: ExitStack  # what is closed in the end

    def __init__(self, name: str, columns: list[str]) -> None:
        self.name, self.columns = name, columns  # the name is what messages say: path='flowers.csv'
        _check_names(name, columns)

    @abstractmethod
    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; the index counts them from 0.

        Cells of a text file stay text, except those of the columns `numbers` where all of a chunk are numbers.
        """

    @abstractmethod
    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows with the types of their values; `labels` stay text if they would be printed in another way."""

    def arrow_types(self) -> dict[str, Any]:
        """Return the types that columns are known to have; none of those of a text file are."""
        return {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def open_table(source: Source) -> TableReader:
    """Open a file by its suffix, or a stream by its first bytes."""
    import_extra("pandas", "table", "load_table")
    if not isinstance(source, str | os.PathLike):
        return _open_stream(source)
    path = Path(source)
    suffix, name = _check_path(path), f"path={str(path)!r}"
    if suffix == ".parquet":
        return ParquetTable(path, name)
    with _naming_the_table(name):
        stream = path.open("rb")
    return TextTable(stream, name, _SEPARATORS[suffix], packed=suffix.endswith(".gz"))


def _open_stream(stream: BinaryIO) -> TableReader:
    """Open a table of which only bytes are known; Parquet is read as a whole."""
    name = f"path={getattr(stream, 'name', None) or '<stream>'!s}"
    with _naming_the_table(name):
        if hasattr(stream, "peek"):
            start = stream.peek(4)[:4]
        else:
            position = stream.tell()
            start = stream.read(4)
            stream.seek(position)
        if start == _PARQUET_START:
            return ParquetTable(io.BytesIO(stream.read()), name)
    if not start:
        raise ValueError(f"{name} is empty; expected a table with a header")
    return TextTable(stream, name, ",", packed=start[:2] == _GZIP_START)


def separator_hint(columns: Sequence[str]) -> str:
    """Say what may be wrong with a table that seems to have a single column, as the end of a message."""
    found = [word for mark, word in _OTHER_SEPARATORS.items() if len(columns) == 1 and mark in columns[0]]
    return f"; its header has {found[0]} between names, expected commas in .csv and tabs in .tsv" if found else ""


class TextTable(TableReader):
    """A table of lines of text in UTF-8; the first line that is not blank names the columns."""

    def __init__(self, stream: BinaryIO, name: str, separator: str, *, packed: bool) -> None:
        self._separator = separator
        stream = cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if packed else stream
        with ExitStack() as opened:
            opened.callback(stream.close)
            with _naming_the_table(name):
                self._rows = CheckedRows(stream, separator)
                columns = self._read(io.BytesIO(self._rows.header), dtype=str, na_filter=False).iloc[0].tolist()
            super().__init__(name, columns)
            self._open = opened.pop_all()
        self._rows.n_cells = len(columns)

    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; see `TableReader.chunks`."""
        wanted = list(self.columns if columns is None else columns)
        text = {column: str for column in wanted if column not in numbers}
        with _naming_the_table(self.name):
            for chunk in self._read_rows(dtype=text, usecols=wanted, chunksize=n_rows):
                for column in set(numbers).intersection(wanted):
                    if chunk[column].dtype == bool:  # words are no numbers
                        chunk[column] = chunk[column].astype(str)
                if len(chunk):
                    yield chunk[wanted]
            self._rows.check_end()

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows; see `TableReader.whole`."""
        with _naming_the_table(self.name):
            frame = self._read_rows(dtype=dict.fromkeys(labels, str))
            self._rows.check_end()
        for column in frame.columns[[dtype.kind == "O" for dtype in frame.dtypes]]:
            typed = typed_column(frame[column])
            # A class is a name: as numbers or booleans, "007" and "true" would be printed otherwise.
            if column not in labels or (typed.astype(str) == frame[column].astype(str)).all():
                frame[column] = typed
        return frame

    def _read_rows(self, **options: Any) -> Any:
        """Let pandas read the rows below the header."""
        missing = {"keep_default_na": False, "na_values": sorted(MISSING_WORDS)}
        version = tuple(int(part) for part in pd.__version__.split(".")[:2])
        # So that pandas reads the number that is written; later versions always do.
        exact = {} if version >= (3, 1) else {"float_precision": "round_trip"}
        return self._read(self._rows, names=self.columns, low_memory=False, **missing, **exact, **options)

    def _read(self, source: Any, **options: Any) -> Any:
        """Let pandas read lines; of blanks, only those at the beginning of a cell are left out."""
        return pd.read_csv(source, sep=self._separator, header=None, skipinitialspace=True, **options)


def typed_column(text: "pd.Series[Any]") -> "pd.Series[Any]":
    """Give a column of text the type that all its values have: booleans, whole numbers or floats, else text."""
    missing = text.isna()
    words = text[~missing].astype(str)
    if len(words) and all(cells.isin(list(BOOLEANS)).all() for cells in (words[:_FIRST_CELLS], words)):
        return text.astype(str).map(BOOLEANS).astype("boolean" if missing.any() else bool)
    for cells in (words[:_FIRST_CELLS], text):
        numbers = pd.Series(pd.to_numeric(cells.to_numpy(dtype=object), errors="coerce"), cells.index, name=text.name)
        if (numbers.isna() & cells.notna()).any():
            return text
    return numbers


class ParquetTable(TableReader):
    """A table in a Parquet file, or in a stream of bytes that can go back."""

    def __init__(self, source: Path | BinaryIO, name: str) -> None:
        import_extra("pyarrow", "table", "reading Parquet")
        parquet = import_extra("pyarrow.parquet", "table", "reading Parquet")
        with _naming_the_table(name):
            self._file = parquet.ParquetFile(source)
        schema = self._file.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        stored = [column for column in index if isinstance(column, str)]
        with ExitStack() as opened:
            opened.callback(self._file.close)
            super().__init__(name, [column for column in schema.names if column not in stored])
            self._open = opened.pop_all()

    def chunks(
        self,
        n_rows: int,
        columns: Sequence[str] | None = None,
        numbers: Collection[str] = (),  # noqa: ARG002
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; see `TableReader.chunks`."""
        wanted = list(self.columns if columns is None else columns)
        first = 0
        with _naming_the_table(self.name):
            for batch in self._file.iter_batches(n_rows, columns=wanted):
                # Whole numbers stay whole beside gaps: a cell must not depend on what else its chunk holds.
                frame = batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)[wanted]
                yield frame.set_axis(pd.RangeIndex(first, first + len(frame)), axis="index")
                first += len(frame)

    def arrow_types(self) -> dict[str, Any]:
        """Return the types of the columns; see `TableReader.arrow_types`."""
        return {field.name: field.type for field in self._file.schema_arrow}

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":  # noqa: ARG002
        """Read all rows; see `TableReader.whole`."""
        with _naming_the_table(self.name):
            frame = self._file.read(columns=self.columns).to_pandas().reset_index(drop=True)
        return frame.set_axis(self.columns, axis="columns")  # pandas remembers names that are numbers


@contextmanager
def _naming_the_table(name: str) -> Iterator[None]:
    """Turn whatever a parser raises on a bad table into a ValueError that names the table."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} cannot be read as a table: {str(error).strip()}") from error


def suffix_of(path: Path) -> str | None:
    """Return which of the suffixes of tables a path has."""
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)


def _check_path(path: Path) -> str:
    """Refuse a path that is not a readable kind of file; return its suffix."""
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; expected a file")
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r}: there is no such file")
    suffix = suffix_of(path)
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


def _check_target(name: str, columns: list[str], target: str) -> None:
    """Refuse a missing target, and a target without features."""
    if target not in columns:
        hint = separator_hint(columns)
        raise ValueError(
            f"target={target!r} is not a column of {name}{'' if hint else did_you_mean(str(target), columns)}; "
            f"its columns are {spell_out([repr(column) for column in columns], _MAX_COLUMNS_SHOWN)}{hint}"
        )
    if len(columns) == 1:
        raise ValueError(f"path={name} has no feature columns besides target={target!r}")


def _check_labels(name: str, target: str, labels: Any) -> None:
    """Refuse a table without rows, and classes that are missing or all the same."""
    if labels.empty:
        raise ValueError(f"path={name} has a header but no rows")
    if n_missing := int(labels.isna().sum()):
        raise ValueError(
            f"target={target!r} is missing in {n_missing} of {len(labels)} rows of {name} "
            "(empty cells and words such as NA and None count as missing); expected a class in every row"
        )
    try:
        classes = labels.unique().tolist()
    except TypeError as error:
        raise ValueError(
            f"target={target!r} of {name} holds lists or other compound values; expected one class per row"
        ) from error
    if len(classes) == 1:
        raise ValueError(f"target={target!r} has a single class, {classes[0]!r}, in {name}; expected at least two")
