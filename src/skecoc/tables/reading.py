"""Read tables from CSV, Excel, JSON, Parquet and Feather files."""

import gzip
import io
import os
import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from sklearn.utils import Bunch

from skecoc.compare.data_sets import DataSet
from skecoc.support.errors import InputError, did_you_mean, import_extra, spell_out
from skecoc.tables.numbers import Marks, typed_column
from skecoc.tables.readers import (
    SEPARATORS,
    ReadingOptions,
    TableReader,
    dates_as_text,
    holds,
    naming_the_table,
    open_parquet,
    read_feather,
    read_json,
    read_workbook,
    uniform,
)
from skecoc.tables.text import PeekedStream, TextTable, Utf8Stream

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Where a table comes from: a file, or an open stream of bytes such as ``sys.stdin.buffer``.
Source = str | os.PathLike[str] | BinaryIO

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "text"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "workbook"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    ".parquet": "parquet",
    **dict.fromkeys((".feather", ".arrow"), "arrow"),
}
_BINARY = {"workbook": "an Excel workbook", "parquet": "a Parquet file", "arrow": "a Feather file"}
#: Suffixes of tables that can be read.
READ_SUFFIXES = (*_FORMATS, *(f"{suffix}.gz" for suffix, kind in _FORMATS.items() if kind in ("text", "json")))

_STARTS = {
    b"\x1f\x8b": "gzip",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"PK\x03\x04": "workbook",
    b"\xd0\xcf\x11\xe0": "workbook",
}
_FOREIGN_STARTS = {
    b"BZh": "compressed by bzip2; unpack it, or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it, or compress it by gzip",
    b"(\xb5/\xfd": "compressed by zstd; unpack it, or compress it by gzip",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it",
    b"%PDF": "a PDF document; save its table as CSV or Excel",
    b"SQLite format 3": "an SQLite database; save a table of it as CSV",
    b"\x89HDF": "an HDF5 file; save its table as CSV or Parquet",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
_MARKUP = re.compile(rb"\s*<(!doctype|html|table|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*"|\[\s*\{)')

_START = 64  # bytes that tell the format
_BLOCK = 2**20
_MAX_COLUMNS_SHOWN = 20


def load_table(
    path: Source,
    *,
    target: str,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    na: Sequence[str] = (),
    return_X_y: bool = False,
) -> Any:
    r"""Load features and classes from a CSV, Excel, JSON, Parquet or Feather file.

    The format of a text file (encoding, separator, marks within numbers) is detected from its beginning. What was
    detected is listed in `notes` unless it is the usual format; it can also be given by parameters. Requires ``pip
    install "scikit-ecoc[table]"``.

    Parameters
    ----------
    path : str, path-like or binary file
        A file with the suffix ``.csv``, ``.tsv``, ``.txt``, ``.json``, ``.jsonl`` or ``.ndjson`` (optionally followed
        by ``.gz``), ``.xlsx``, ``.xlsm``, ``.xls``, ``.ods``, ``.parquet``, ``.feather`` or ``.arrow``; or an open
        stream of one of these, such as ``sys.stdin.buffer``. The first line of a text file contains the column names.
    target : str
        Name of the column with the classes; all other columns are features.
    sep : str, default=None
        Separator of the cells in a text file: a character, or one of ``comma``, ``semicolon``, ``tab``, ``bar``.
    decimal, thousands : str, default=None
        Decimal and thousands marks: characters, or ``comma``, ``point``; for thousands also ``space``, ``apostrophe``.
    encoding : str, default=None
        Encoding of a text file, such as ``utf-8`` or ``latin-1``.
    sheet : str, default=None
        Sheet of a workbook, by name or by number (from 1); by default the first.
    na : sequence of str, default=()
        Further values that mean a missing value, in addition to empty cells, ``?``, ``NA`` and similar.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a bunch.

    Returns
    -------
    :class:`~sklearn.utils.Bunch` or tuple
        With ``return_X_y=True`` the tuple ``(data, target)``, otherwise a bunch with

        data : DataFrame of shape (n_samples, n_features)
            The features, with the types of their values; missing values are kept.
        target : Series of shape (n_samples,)
            The class of each row. Classes are numbers if every class is written as Python would print the number,
            otherwise strings. An ordered categorical column is kept. Rows without a class are dropped.
        feature_names, target_names : list of str and ndarray of shape (n_classes,)
            Names of the features, and the distinct classes, sorted or in the order given by the file.
        frame : DataFrame of shape (n_samples, n_features + 1)
            The whole table, in the column order of the file.
        notes : list of str
            What was detected, renamed or dropped.
        decimal : str
            The decimal mark of numbers in text columns.
        DESCR, filename : str
            One line that describes the table, and the path.

    Raises
    ------
    ValueError
        If the file cannot be parsed as a table, or the target is not one of its columns or has fewer than two classes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skecoc.tables import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("length;colour;species\n5,1;blue;a\n4,9;red;b\n")
    ...     flowers = load_table(path, target="species")
    >>> flowers.data["length"].tolist(), flowers.target.tolist()
    ([5.1, 4.9], ['a', 'b'])
    >>> flowers.notes
    ['cells are separated by semicolons', "numbers have decimal commas, such as '5,1' in column 'length'"]
    """
    options = ReadingOptions(sep, decimal, thousands, encoding, sheet, cast("tuple[str, ...]", na))
    bunch = _load(path, target, options)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _load(source: Source, target: str, options: ReadingOptions) -> Bunch:
    """Load features and classes; see `load_table`."""
    with open_table(source, options) as table:
        name = table.name.removeprefix("path=")
        _check_target(name, table.columns, target, table.notes)
        frame = table.whole(labels=[target])
        notes, mark = table.notes, table.decimal
    frame, labels = _with_classes(name, frame, target, notes)
    data = frame.drop(columns=target)
    if isinstance(labels.dtype, pd.CategoricalDtype) and labels.cat.ordered:
        names = labels.cat.categories.to_numpy()
    else:
        names = np.unique(labels.drop_duplicates().to_numpy())
    filename = str(source) if isinstance(source, str | os.PathLike) else ""
    file = Path(filename).name or "table"
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(data.columns),
        target_names=names,
        frame=frame,
        notes=notes,
        decimal=mark,
        DESCR=f"{file}: {len(data)} rows, {data.shape[1]} features, classes in column {target!r}",
        filename=filename,
    )


def read_data_set(source: Source, target: str | None, options: ReadingOptions | None = None) -> DataSet:
    """Read a table as a `DataSet` named after its file; labels get a type that a model's file can store."""
    if target is None:
        raise InputError("target: expected the name of the column that holds the classes")
    try:
        bunch = _load(source, target, options or ReadingOptions())
    except (ValueError, OSError, ImportError) as error:
        # What the reader calls its path is the argument `data` here.
        raise InputError(re.sub("^path=", "data=", str(error))) from error
    labels = _storable(bunch.target)
    name = Path(source).name if isinstance(source, str | os.PathLike) else "standard input"
    is_ordered = isinstance(bunch.target.dtype, pd.CategoricalDtype) and bunch.target.cat.ordered
    order = tuple(_storable(pd.Series(bunch.target_names)).tolist()) if is_ordered else ()
    return DataSet(name, bunch.data, labels, notes=bunch.notes, order=order, decimal=bunch.decimal)


def _storable(labels: "pd.Series[Any]") -> Any:
    """Return labels as an array; files of models hold no dates, and scikit-learn takes objects only if all are text."""
    labels = dates_as_text(labels)
    array = np.asarray(labels)
    return array if array.dtype.kind in "biufU" else np.array([str(label) for label in labels])


def open_table(source: Source, options: ReadingOptions | None = None) -> TableReader:
    """Open a table, by its first bytes and, if it is a file, by its suffix."""
    import_extra("pandas", "table", "load_table")
    options = options or ReadingOptions()
    if not isinstance(source, str | os.PathLike):
        name = f"path={getattr(source, 'name', None) or '<stream>'!s}"
        return _open(source, None, name, "", options)
    path = Path(source)
    name = f"path={str(path)!r}"
    if path.is_dir():
        raise ValueError(f"{name} is a folder; expected a file")
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no such file")
    suffix = suffix_of(path, READ_SUFFIXES)
    if suffix is None:
        raise ValueError(f"{name} has an unknown suffix; expected one of {', '.join(READ_SUFFIXES)}")
    with ExitStack() as opened:
        with naming_the_table(name):
            stream = opened.enter_context(path.open("rb"))
        table = _open(stream, path, name, suffix, options)
        table.opened.push(opened.pop_all())
    return table


def _open(stream: BinaryIO, path: Path | None, name: str, suffix: str, options: ReadingOptions) -> TableReader:
    """Open a stream of bytes; the suffix decides where the first bytes do not tell the format."""
    peeked, expected = PeekedStream(stream), _FORMATS.get(suffix.removesuffix(".gz"))
    with naming_the_table(name):
        start = peeked.peek(_START)
    if not start:
        raise ValueError(f"{name} is empty; expected a table with a header")
    with naming_the_table(name):
        if is_packed := _format_of(start) == "gzip":
            peeked = PeekedStream(cast("BinaryIO", gzip.GzipFile(fileobj=cast("BinaryIO", peeked))))
            path, start = None, peeked.peek(_START)
        found = _format_of(start)
        if found in ("text", "json") and expected is not None:
            found = expected
            if found in _BINARY:
                raise ValueError(f"it is not {_BINARY[found]}, as its suffix says")
        if found in _BINARY:
            open_binary = {"workbook": read_workbook, "parquet": open_parquet, "arrow": read_feather}[found]
            table = open_binary(path or io.BytesIO(peeked.read()), name, options)
        else:
            text = Utf8Stream(peeked, options.encoding)
            if found == "json":
                table = read_json(b"".join(iter(lambda: text.read(_BLOCK), b"")).decode(), name, options)
            else:
                table = TextTable(text, name, options, "\t" if suffix.startswith(".tsv") else ",")
    if expected is not None and (found != expected or is_packed != suffix.endswith(".gz")):
        what = _BINARY.get(found, "compressed" if is_packed else "not compressed")
        table.notes.insert(0, f"the file is {what}, though its suffix is {suffix}")
    return table


def _format_of(start: bytes) -> str:
    """Detect gzip, parquet, arrow, workbook, json or text by the first bytes; other formats are refused."""
    for mark, name in _STARTS.items():
        if start.startswith(mark):
            return name
    for mark, description in _FOREIGN_STARTS.items():
        if start.startswith(mark):
            raise ValueError(f"it is {description}")
    if _MARKUP.match(start):
        raise ValueError("it is a web page or XML; save its table as CSV or Excel")
    return "json" if _JSON.match(start) else "text"


def separator_hint(columns: Sequence[str]) -> str:
    """End a message on a table that seems to have a single column: another separator may be meant."""
    found = [word for mark, word in SEPARATORS.items() if len(columns) == 1 and mark in columns[0]]
    return f"; its header has {found[0]} between names, so sep may be wrong" if found else ""


def suffix_of(path: Path, suffixes: Collection[str]) -> str | None:
    """Return which of some suffixes a path has, the longest one."""
    found = [suffix for suffix in suffixes if path.name.lower().endswith(suffix)]
    return max(found, key=len, default=None)


def _check_target(name: str, columns: list[str], target: str, notes: Sequence[str] = ()) -> None:
    """Refuse a missing target, and a target without features."""
    if target not in columns:
        hint = separator_hint(columns)
        noted = f" (note: {'; '.join(notes)})" if notes else ""
        raise ValueError(
            f"target={target!r} is not a column of {name}{'' if hint else did_you_mean(str(target), columns)}; "
            f"its columns are {spell_out([repr(column) for column in columns], _MAX_COLUMNS_SHOWN)}{hint}{noted}"
        )
    if len(columns) == 1:
        raise ValueError(f"path={name} has no feature columns besides target={target!r}")


def _with_classes(
    name: str, frame: "pd.DataFrame", target: str, notes: list[str]
) -> "tuple[pd.DataFrame, pd.Series[Any]]":
    """Drop rows without a class, and give the classes a common type; fewer than two classes are refused."""
    if frame.empty:
        raise ValueError(f"path={name} has a header but no rows")
    n_rows, n_missing = len(frame), int(frame[target].isna().sum())
    if n_missing == n_rows:
        raise ValueError(f"target={target!r} is missing in all {n_rows} rows of {name}")
    left_out = f"{n_missing} of {n_rows} rows, which have no class in column {target!r}"
    if n_missing:
        frame = frame[frame[target].notna()].reset_index(drop=True)
        notes.append(f"left out: {left_out}")
    labels = _typed_labels(frame[target])
    try:
        classes = labels.unique().tolist()
    except TypeError as error:
        raise ValueError(
            f"target={target!r} of {name} holds lists or other compound values; expected one class per row"
        ) from error
    if len(classes) == 1:
        besides = f" besides {left_out}" if n_missing else ""
        raise ValueError(
            f"target={target!r} has a single class, {classes[0]!r}, in {name}{besides}; expected at least two"
        )
    look_alikes: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            look_alikes.setdefault("".join(label.split()).casefold(), []).append(label)
    notes += [
        f"classes that differ by case or spaces only: {spell_out(list(map(repr, sorted(names))))}"
        for names in look_alikes.values()
        if len(names) > 1
    ]
    return frame.assign(**{target: labels}), labels


def _typed_labels(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Give classes their type if they are then printed as in the table: "007" and "true" remain text."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        return labels.cat.remove_unused_categories()
    labels = uniform(labels)
    if not holds(labels, str):
        return labels
    typed = typed_column(labels, Marks())
    return typed if (typed.astype(str) == labels.astype(str)).all() else labels
