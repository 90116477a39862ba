"""Read a user's own table of features and classes from a CSV or Parquet file."""

import os
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from skecoc.datasets._optional import import_table_extra

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t"}
_SUFFIXES = (*_SEPARATORS, ".parquet")
_MAX_COLUMNS_SHOWN = 20


@overload
def load_table(path: str | os.PathLike[str], *, target: str, return_X_y: Literal[False] = False) -> Bunch: ...
@overload
def load_table(path: str | os.PathLike[str], *, target: str, return_X_y: Literal[True]) -> tuple[Any, Any]: ...
def load_table(path: str | os.PathLike[str], *, target: str, return_X_y: bool = False) -> Bunch | tuple[Any, Any]:
    r"""Load features and classes from a CSV or Parquet file.

    Needs pandas, and pyarrow for Parquet: ``pip install "scikit-ecoc[table]"``.

    Parameters
    ----------
    path : str or path-like
        A file ending in ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``. A text file is UTF-8 and its
        first line names the columns.
    target : str
        Name of the column that holds the class; every other column is a feature.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the whole bunch.

    Returns
    -------
    :class:`~sklearn.utils.Bunch` or tuple
        With ``return_X_y=True`` the pair ``(data, target)``, otherwise a bunch with

        data : DataFrame of shape (n_samples, n_features)
            The features as pandas reads them: numbers as numbers, text as text. Encoding text and
            imputing missing values is up to the caller.
        target : Series of shape (n_samples,)
            The class of each row.
        feature_names : list of str
            Names of the features, length n_features.
        target_names : ndarray of shape (n_classes,)
            The distinct classes, sorted.
        frame : DataFrame of shape (n_samples, n_features + 1)
            The whole table, in the column order of the file.
        DESCR : str
            One line that says what was read.
        filename : str
            The path that was read.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the path is a folder or has another suffix; if the file is empty or cannot be parsed, has
        unnamed or repeated columns, no rows, no target column or no other one; or if the target has
        missing values or fewer than two classes.
    ImportError
        If pandas (or pyarrow, for Parquet) is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skecoc.datasets import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("length,colour,species\n5.1,blue,a\n4.9,red,b\n")
    ...     flowers = load_table(path, target="species")
    >>> flowers.feature_names
    ['length', 'colour']
    >>> flowers.target.tolist()
    ['a', 'b']
    """
    path = Path(path)
    suffix = _check_path(path)
    frame = _read_parquet(path) if suffix == ".parquet" else _read_text(path, suffix)
    _check_columns(path, list(frame.columns), target)
    data, labels = frame.drop(columns=target), frame[target]
    _check_labels(path, target, labels)
    if return_X_y:
        return data, labels
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(data.columns),
        target_names=np.unique(labels.to_numpy()),
        frame=frame,
        DESCR=f"{path.name}: {len(data)} rows, {data.shape[1]} features, classes in column {target!r}",
        filename=str(path),
    )


def _check_path(path: Path) -> str:
    """Refuse a path that is not a readable kind of file; return its suffix."""
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; expected a file")
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r}: there is no such file")
    suffix = next((suffix for suffix in _SUFFIXES if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise ValueError(f"path={str(path)!r} has an unknown suffix; expected one of {', '.join(_SUFFIXES)}")
    if path.stat().st_size == 0:
        raise ValueError(f"path={str(path)!r} is empty; expected a table with a header")
    return suffix


@contextmanager
def _naming_the_file(path: Path) -> Iterator[None]:
    """Turn whatever a parser raises on a bad file into a ValueError that names the file."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"path={str(path)!r} cannot be read as a table: {str(error).strip()}") from error


def _read_text(path: Path, suffix: str) -> Any:
    """Read a CSV or TSV file into a frame with the column names exactly as the header has them."""
    pd = import_table_extra("pandas", "load_table")
    options: dict[str, Any] = {
        "sep": _SEPARATORS[suffix],
        "compression": "gzip" if suffix.endswith(".gz") else None,
        "encoding": "utf-8-sig",  # spreadsheets like to put a byte order mark first
        "skipinitialspace": True,
        "low_memory": False,
    }
    with _naming_the_file(path):
        # pandas renames repeated and empty column names, so the header is read apart, as plain text.
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **options)
        frame = _read_body(pd, path, options)
    return frame.set_axis(header.iloc[0].tolist(), axis="columns")


def _read_body(pd: ModuleType, path: Path, options: dict[str, Any]) -> Any:
    """Read the rows of a text file, refusing those that are wider than the header."""
    with warnings.catch_warnings():
        # Of wider rows pandas makes an index, or drops their last cells with no more than a warning.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return pd.read_csv(path, index_col=False, **options)
        except pd.errors.ParserWarning as warning:
            raise ValueError("its rows have more cells than its header") from warning


def _read_parquet(path: Path) -> Any:
    """Read a Parquet file into a frame whose column names are text."""
    pd = import_table_extra("pandas", "load_table")
    import_table_extra("pyarrow", "reading Parquet")
    with _naming_the_file(path):
        frame = pd.read_parquet(path, engine="pyarrow")
    return frame.set_axis([str(column) for column in frame.columns], axis="columns")


def _check_columns(path: Path, columns: list[str], target: str) -> None:
    """Refuse columns without a name of their own, a missing target, and a target without features."""
    if unnamed := [number for number, column in enumerate(columns, start=1) if not column.strip()]:
        raise ValueError(f"path={str(path)!r}: column {unnamed[0]} has no name; name it or remove it")
    if repeated := [column for column, count in Counter(columns).items() if count > 1]:
        raise ValueError(f"path={str(path)!r} has more than one column named {', '.join(map(repr, repeated))}")
    if target not in columns:
        raise ValueError(
            f"target={target!r} is not a column of {str(path)!r}{_suggestion(target, columns)}; "
            f"its columns are {_listing(columns)}"
        )
    if len(columns) == 1:
        raise ValueError(f"path={str(path)!r} has no feature columns besides target={target!r}")


def _check_labels(path: Path, target: str, labels: Any) -> None:
    """Refuse a table without rows, and classes that are missing or all the same."""
    if labels.empty:
        raise ValueError(f"path={str(path)!r} has a header but no rows")
    if n_missing := int(labels.isna().sum()):
        raise ValueError(
            f"target={target!r} is missing in {n_missing} of {len(labels)} rows of {str(path)!r} "
            "(empty cells and words such as NA and None count as missing); expected a class in every row"
        )
    try:
        classes = labels.unique().tolist()
    except TypeError as error:
        raise ValueError(
            f"target={target!r} of {str(path)!r} holds lists or other compound values; expected one class per row"
        ) from error
    if len(classes) == 1:
        raise ValueError(
            f"target={target!r} has a single class, {classes[0]!r}, in {str(path)!r}; expected at least two"
        )


def _suggestion(target: str, columns: list[str]) -> str:
    """Name the columns that resemble a misspelt target, whatever their case."""
    by_folded_name = {column.casefold(): column for column in columns}
    close = [by_folded_name[name] for name in get_close_matches(str(target).casefold(), by_folded_name)]
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def _listing(columns: list[str]) -> str:
    """List column names, the first ones only if there are many."""
    shown = ", ".join(map(repr, columns[:_MAX_COLUMNS_SHOWN]))
    n_hidden = len(columns) - _MAX_COLUMNS_SHOWN
    return f"{shown} and {n_hidden} more" if n_hidden > 0 else shown
