"""Read a user's own table of features and classes from a CSV or Parquet file."""

import os
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from skecoc.support.errors import import_extra
from skecoc.tables.chunks import Source, open_table, separator_hint

#: How booleans are written.
BOOLEANS = MappingProxyType({"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False})

_MAX_COLUMNS_SHOWN = 20


@overload
def load_table(path: Source, *, target: str, return_X_y: Literal[False] = False) -> Bunch: ...
@overload
def load_table(path: Source, *, target: str, return_X_y: Literal[True]) -> tuple[Any, Any]: ...
def load_table(path: Source, *, target: str, return_X_y: bool = False) -> Bunch | tuple[Any, Any]:
    r"""Load features and classes from a CSV or Parquet file.

    Needs pandas, and pyarrow for Parquet: ``pip install "scikit-ecoc[table]"``.

    Parameters
    ----------
    path : str, path-like or binary file
        A file ending in ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``; or an open stream of bytes, such as
        ``sys.stdin.buffer``, that holds CSV or Parquet. Text is UTF-8 and its first line names the columns.
    target : str
        Name of the column that holds the class; every other column is a feature.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the whole bunch.

    Returns
    -------
    :class:`~sklearn.utils.Bunch` or tuple
        With ``return_X_y=True`` the pair ``(data, target)``, otherwise a bunch with

        data : DataFrame of shape (n_samples, n_features)
            The features: numbers as numbers, booleans as booleans, text as text. Encoding text and
            imputing missing values is up to the caller.
        target : Series of shape (n_samples,)
            The class of each row; text unless every class is written as Python would print the number.
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
        If the path is a folder or has another suffix; if the file is empty or cannot be parsed, has rows of
        another length than its header, unnamed or repeated columns, no rows, no target column or no other
        one; or if the target has missing values or fewer than two classes.
    ImportError
        If pandas (or pyarrow, for Parquet) is not installed.

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
        frame = table.whole()
    if table.holds_text:
        frame = _with_types(frame, target)
    data, labels = frame.drop(columns=target), frame[target]
    _check_labels(name, target, labels)
    if return_X_y:
        return data, labels
    return Bunch(
        data=data,
        target=labels,
        feature_names=list(data.columns),
        target_names=np.unique(labels.to_numpy()),
        frame=frame,
        DESCR=f"{_short(path)}: {len(data)} rows, {data.shape[1]} features, classes in column {target!r}",
        filename=str(path) if isinstance(path, str | os.PathLike) else "",
    )


def _short(source: Source) -> str:
    """Name a table without its folder."""
    return Path(source).name if isinstance(source, str | os.PathLike) else "table"


def _with_types(text: Any, target: str) -> Any:
    """Turn columns of text into numbers and booleans where all their values are such."""
    frame = text.apply(typed_column)
    # A class is a name, and stays as it is written: as numbers or booleans, "007" and "true" would print otherwise.
    if (frame[target].astype(str) != text[target].astype(str)).any():
        frame[target] = text[target]
    return frame


def typed_column(text: Any) -> Any:
    """Give a column of text the type that all its values have.

    Parameters
    ----------
    text : Series of shape (n_rows,)
        Text, and NaN where a value is missing.

    Returns
    -------
    Series of shape (n_rows,)
        Booleans, whole numbers or floats if every value is written as one, else the text as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> [typed_column(pd.Series(values)).tolist() for values in (["1", "2"], ["1", float("nan")], ["1", "b"])]
    [[1, 2], [1.0, nan], ['1', 'b']]
    """
    pd = import_extra("pandas", "table", "load_table")
    missing = text.isna()
    if not missing.all() and text[~missing].isin(BOOLEANS).all():
        return text.map(BOOLEANS).astype("boolean" if missing.any() else bool)
    numbers = pd.Series(pd.to_numeric(text.to_numpy(dtype=object), errors="coerce"), text.index, name=text.name)
    return text if (numbers.isna() & ~missing).any() else numbers


def _check_target(name: str, columns: list[str], target: str) -> None:
    """Refuse a missing target, and a target without features."""
    if target not in columns:
        hint = separator_hint(columns)
        raise ValueError(
            f"target={target!r} is not a column of {name}{'' if hint else _suggestion(target, columns)}; "
            f"its columns are {_listing(columns)}{hint}"
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
