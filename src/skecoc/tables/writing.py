"""Write tables chunk by chunk, as CSV or Parquet."""

import csv
import gzip
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

from skecoc.support.errors import InputError, import_extra
from skecoc.tables.chunks import SUFFIXES

if TYPE_CHECKING:
    import pandas as pd


class TableWriter(ABC):
    """Takes the rows of a table, one chunk after the other; to be used in a ``with`` block.

    Parameters
    ----------
    file : binary file
        Where to write; it is not closed.
    columns : list of str
        Names of the columns.
    """

    def __init__(self, file: BinaryIO, columns: list[str]) -> None:
        self.file, self.columns = file, columns

    @abstractmethod
    def write(self, chunk: "pd.DataFrame") -> None:
        """Append rows.

        Parameters
        ----------
        chunk : DataFrame of shape (n_rows, n_columns)
            The rows.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            with suppress(Exception):  # left open, writers would complain when Python forgets them
                self.close()


class TextWriter(TableWriter):
    """Writes lines of text, in UTF-8, the first of which names the columns.

    Parameters
    ----------
    file : binary file
        Where to write; it is not closed.
    columns : list of str
        Names of the columns.
    separator : str, default=","
        What to put between cells.

    Examples
    --------
    >>> import pandas as pd
    >>> file = io.BytesIO()
    >>> with TextWriter(file, ["label", "p"]) as writer:
    ...     writer.write(pd.DataFrame({"label": ["a, b", None], "p": [0.5, 1.0]}))
    >>> print(file.getvalue().decode())
    label,p
    "a, b",0.5
    ,1.0
    <BLANKLINE>
    """

    def __init__(self, file: BinaryIO, columns: list[str], separator: str = ",") -> None:
        super().__init__(file, columns)
        self._separator = separator
        self._write_rows([columns])

    def write(self, chunk: "pd.DataFrame") -> None:
        """Append rows; see `TableWriter.write`."""
        cells = chunk.astype(object).where(chunk.notna(), "")
        self._write_rows(zip(*(cells.iloc[:, place].tolist() for place in range(cells.shape[1])), strict=True))

    def _write_rows(self, rows: Any) -> None:
        """Write rows of cells."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._separator, lineterminator="\n").writerows(rows)
        self.file.write(text.getvalue().encode("utf-8", "surrogatepass"))

    def close(self) -> None:
        """Pass on what is left."""
        self.file.flush()


class PackedTextWriter(TextWriter):
    """Writes lines of text compressed by gzip.

    Parameters
    ----------
    file : binary file
        Where to write; it is not closed.
    columns : list of str
        Names of the columns.
    """

    def __init__(self, file: BinaryIO, columns: list[str]) -> None:
        super().__init__(cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0)), columns)

    def close(self) -> None:
        """Write what is left, and the checksum."""
        self.file.close()


class ParquetWriter(TableWriter):
    """Writes a Parquet file, one row group per chunk.

    Parameters
    ----------
    file : binary file
        Where to write; it is not closed.
    columns : list of str
        Names of the columns.
    types : mapping of str to pyarrow.DataType, default=None
        Types of columns that are known beforehand; the others follow from the first chunk.
    """

    def __init__(self, file: BinaryIO, columns: list[str], types: Mapping[str, Any] | None = None) -> None:
        super().__init__(file, columns)
        self._types = types or {}
        self._arrow = import_extra("pyarrow", "table", "writing Parquet")
        self._parquet = import_extra("pyarrow.parquet", "table", "writing Parquet")
        self._writer: Any = None

    def write(self, chunk: "pd.DataFrame") -> None:
        """Append rows; see `TableWriter.write`."""
        if self._writer is None:
            self._start({field.name: field.type for field in self._arrow.Schema.from_pandas(chunk, False)})
        try:
            table = self._arrow.Table.from_pandas(chunk, schema=self._writer.schema, preserve_index=False)
        except self._arrow.ArrowException as error:
            raise InputError(f"a column does not hold the same kind of values throughout: {error}") from error
        self._writer.write_table(table)

    def _start(self, found: Mapping[str, Any]) -> None:
        """Begin the file; a column of which nothing is known yet is taken for text."""
        text, is_null = self._arrow.string(), self._arrow.types.is_null
        types = {name: text if name not in found or is_null(found[name]) else found[name] for name in self.columns}
        known = {name: kind for name, kind in self._types.items() if name in types and not is_null(kind)}
        self._writer = self._parquet.ParquetWriter(self.file, self._arrow.schema(list({**types, **known}.items())))

    def close(self) -> None:
        """Write what is left, and the description of the file."""
        if self._writer is None:
            self._start({})
        self._writer.close()


def make_writer(
    file: BinaryIO, path: Path | None, columns: list[str], types: Mapping[str, Any] | None = None
) -> TableWriter:
    """Choose how to write a table by the name of its file.

    Parameters
    ----------
    file : binary file
        Where to write.
    path : pathlib.Path or None
        The name that the file is going to have; None for standard output, which gets CSV.
    columns : list of str
        Names of the columns.
    types : mapping of str to pyarrow.DataType, default=None
        Types of columns that are known beforehand, for Parquet.

    Returns
    -------
    TableWriter
        To be used in a ``with`` block.

    Examples
    --------
    >>> type(make_writer(io.BytesIO(), Path("out.tsv"), ["label"])).__name__
    'TextWriter'
    """
    suffix = ".csv" if path is None else output_suffix(path)
    if suffix == ".parquet":
        return ParquetWriter(file, columns, types)
    if suffix == ".csv.gz":
        return PackedTextWriter(file, columns)
    return TextWriter(file, columns, "\t" if suffix == ".tsv" else ",")


def output_suffix(path: Path) -> str:
    """Tell how a table is going to be written.

    Parameters
    ----------
    path : pathlib.Path
        Name of the file.

    Returns
    -------
    str
        Its suffix.

    Raises
    ------
    InputError
        If it is not one of those that tables may have.

    Examples
    --------
    >>> output_suffix(Path("out.CSV.gz"))
    '.csv.gz'
    """
    suffix = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    if suffix is None and (path.exists() and not path.is_file()):
        return ".csv"  # a device or a pipe
    if suffix is None:
        raise InputError(f"--output: '{path}' has an unknown suffix; expected one of {', '.join(SUFFIXES)}")
    return suffix
