"""Write tables chunk by chunk: CSV, plain or packed, tab-separated text and Parquet."""

import gzip
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from skecoc.support.errors import InputError, import_extra
from skecoc.tables.reading import suffix_of

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Appends the rows of a data frame to a file.
Write = Callable[["pd.DataFrame"], None]

#: Decimals of probabilities; more would only be noise.
DECIMALS = 6

_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
# What a spreadsheet takes for the beginning of a formula, according to OWASP ("CSV injection"); the last four are the
# full-width forms of the first four.
_FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
_NUMBER = re.compile(r"[+-]?([0-9]+([.,' ][0-9]+)*[.,]?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?")
_QUOTED = re.compile('[\n\r"]')


def make_writer(
    file: BinaryIO,
    path: Path | None,
    columns: list[str],
    types: Mapping[str, Any] | None = None,
    *,
    escape_formulas: bool = False,
    probabilities: Collection[str] = (),
) -> AbstractContextManager[Write]:
    """Choose what writes chunks of a table to a file, by the name that it is going to have; None stands for CSV.

    `types` are those that columns of a Parquet file are known to have; others follow from the first chunk. In text,
    cells that a spreadsheet would run can be escaped by an apostrophe, and `probabilities` are columns of numbers
    between 0 and 1 that are rounded to `DECIMALS`, which are written without exponents.
    """
    suffix = ".csv" if path is None else output_suffix(path)
    if suffix == ".parquet":
        return _parquet_writer(file, columns, types or {})
    return _text_writer(file, columns, suffix, escape_formulas, set(probabilities))


def output_suffix(path: Path) -> str:
    """Tell by its suffix how a table is going to be written; an InputError refuses unknown ones."""
    suffix = suffix_of(path, _SUFFIXES)
    if suffix is None and (path.exists() and not path.is_file()):
        return ".csv"  # a device or a pipe
    if suffix is None:
        raise InputError(f"--output: '{path}' has an unknown suffix; expected one of {', '.join(_SUFFIXES)}")
    return suffix


def runs_in_spreadsheets(cell: str) -> bool:
    """Tell whether a spreadsheet would take a cell for a formula; numbers are none.

    >>> [runs_in_spreadsheets(cell) for cell in ("=1+1", "@a", "-cmd", "-5", "+1,5e3", "a=b")]
    [True, True, True, False, False, False]
    """
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None


@contextmanager
def _text_writer(
    file: BinaryIO, columns: list[str], suffix: str, escape_formulas: bool, probabilities: set[str]
) -> Iterator[Write]:
    """Write lines of text, in UTF-8, the first of which names the columns."""
    separator = "\t" if suffix.startswith(".tsv") else ","
    is_packed = suffix.endswith(".gz")
    packed = gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) if is_packed else nullcontext(file)

    def put(parts: Sequence[Sequence[str]]) -> None:
        """Write lines that are given in parts; one without anything would not be read again as a row."""
        lines = parts[0] if len(parts) == 1 else map(separator.join, zip(*parts, strict=True))
        text = "".join([f"{line}\n" if line else '""\n' for line in lines])
        stream.write(text.encode("utf-8", "surrogatepass"))

    def write(chunk: "pd.DataFrame") -> None:
        columns = [chunk.iloc[:, place] for place in range(chunk.shape[1])]
        parts = []
        for is_probability, group in groupby(columns, lambda column: column.name in probabilities):
            if is_probability:
                parts.append(_decimals(np.column_stack(list(group)), separator))
            else:
                parts += [_quoted(_cells(column, escape_formulas), separator) for column in group]
        put(parts)

    with packed as stream:
        put([_quoted([_escaped(name) if escape_formulas else name], separator) for name in columns])
        yield write
        stream.flush()


def _cells(column: "pd.Series[Any]", escape_formulas: bool) -> list[str]:
    """Write the values of a column as text; missing ones are empty."""
    is_missing = column.isna().to_numpy()
    cells = np.where(is_missing, "", column.to_numpy(dtype=object)).tolist() if is_missing.any() else column.tolist()
    if not escape_formulas:
        return [cell if isinstance(cell, str) else str(cell) for cell in cells]
    return [_escaped(cell) if isinstance(cell, str) else str(cell) for cell in cells]


def _escaped(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run."""
    return f"'{cell}" if runs_in_spreadsheets(cell) else cell


def _decimals(values: NDArray[np.float64], separator: str) -> list[str]:
    """Write rows of probabilities without exponents, many times as fast as one by one.

    >>> _decimals(np.array([[0.0, 1.0, 0.5], [0.25001, 0.00003, 0.100001]]), ",")
    ['0.0,1.0,0.5', '0.25001,0.00003,0.100001']
    """
    millionths = np.rint(values * 10**DECIMALS).astype(np.int32)
    digits = millionths[:, :, None] // 10 ** np.arange(DECIMALS, -1, -1, dtype=np.int32) % 10
    text = np.empty((*values.shape, DECIMALS + 3), dtype=np.uint8)
    text[:, :, 0], text[:, :, 1], text[:, :, 2:-1] = digits[:, :, 0] + ord("0"), ord("."), digits[:, :, 1:] + ord("0")
    text[:, :-1, -1], text[:, -1, -1] = ord(separator), ord("\n")
    is_shown = np.ones(text.shape, dtype=bool)  # no zeros at the end, but for one right behind the point
    is_shown[:, :, 3:-1] = np.logical_or.accumulate(digits[:, :, :1:-1] > 0, axis=2)[:, :, ::-1]
    return text[is_shown].tobytes().decode("ascii").split("\n")[:-1]


def _quoted(cells: list[str], separator: str) -> list[str]:
    """Quote the cells that would not be read again as one."""
    together = "\0".join(cells)
    if separator not in together and _QUOTED.search(together) is None:
        return cells
    return [
        '"' + cell.replace('"', '""') + '"' if separator in cell or _QUOTED.search(cell) else cell for cell in cells
    ]


@contextmanager
def _parquet_writer(file: BinaryIO, columns: list[str], types: Mapping[str, Any]) -> Iterator[Write]:
    """Write a Parquet file, one row group per chunk; a column of which nothing is known is taken for text."""
    arrow = import_extra("pyarrow", "table", "writing Parquet")
    parquet = import_extra("pyarrow.parquet", "table", "writing Parquet")
    opened: list[Any] = []

    def start(found: Mapping[str, Any]) -> None:
        known = {name: kind for name, kind in {**found, **types}.items() if not arrow.types.is_null(kind)}
        schema = arrow.schema([(name, known.get(name, arrow.string())) for name in columns])
        opened.append(files.enter_context(parquet.ParquetWriter(file, schema)))

    def write(chunk: "pd.DataFrame") -> None:
        if not opened:
            start({field.name: field.type for field in arrow.Schema.from_pandas(chunk, False)})
        try:
            table = arrow.Table.from_pandas(chunk, schema=opened[0].schema, preserve_index=False)
        except arrow.ArrowException as error:
            raise InputError(f"a column does not hold the same kind of values throughout: {error}") from error
        opened[0].write_table(table)

    with ExitStack() as files:
        yield write
        if not opened:
            start({})
