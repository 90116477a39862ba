"""The data sets of an experiment: shipped ones by name, or a user's own table."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from skecoc.datasets import list_uci, load_uci
from skecoc.support.errors import InputError

#: The shipped sets with at most 2,310 rows; the three larger ones would take most of the time.
DEFAULT_DATA_SETS = (
    "iris",
    "wine",
    "thyroid",
    "balance",
    "vehicle",
    "dermatology",
    "glass",
    "segmentation",
    "ecoli",
    "yeast",
    "vowel",
)

#: At most this many names are spelt out in a message.
_MAX_NAMES = 5


@dataclass(frozen=True)
class DataSet:
    """A classification problem with a name.

    Parameters
    ----------
    name : str
        What tables call it; it is also part of the seeds of its runs.
    X : ndarray of shape (n_samples, n_features) or pandas.DataFrame
        The rows; numbers may be NaN where a value is missing.
    y : ndarray of shape (n_samples,)
        Class labels.

    Examples
    --------
    >>> DataSet("tiny", np.zeros((2, 1)), np.array(["a", "b"])).name
    'tiny'
    """

    name: str
    X: Any
    y: NDArray[Any]


def load_data_sets(
    names: Sequence[str] = (), path: str | Path | None = None, target: str | None = None
) -> list[DataSet]:
    """Load shipped data sets and a user's table.

    Parameters
    ----------
    names : sequence of str, default=()
        Names of shipped data sets; repeated names count once.
    path : str or pathlib.Path, default=None
        A user's CSV or Parquet file, which comes first. Its name in tables is
        the file's, so that it never collides with a shipped set's.
    target : str, default=None
        The column of the file that holds the class labels.

    Returns
    -------
    list of DataSet
        The user's table, if any, then the shipped ones in the order of `names`.

    Raises
    ------
    InputError
        If a name is not known, or the file cannot be read as a table with that
        target.

    Examples
    --------
    >>> [data_set.X.shape for data_set in load_data_sets(["iris", "wine"])]
    [(150, 4), (178, 13)]
    """
    own = [] if path is None else [load_own(Path(path), target)]
    return own + [_load_shipped(name) for name in dict.fromkeys(names)]


def check_data_set(data_set: DataSet, folds: int) -> list[str]:
    """Refuse a data set that cannot be cross-validated, and note what a reader should know.

    Parameters
    ----------
    data_set : DataSet
        The data set.
    folds : int
        The number of folds it is going to be split into.

    Returns
    -------
    list of str
        One sentence for each of: classes with fewer rows than folds, columns
        left out because they look like identifiers.

    Raises
    ------
    InputError
        If there are no rows or columns, infinite values, missing labels, fewer
        than two classes with at least two rows, or too few rows for the folds.

    Examples
    --------
    >>> y = np.array(["a"] * 5 + ["b"] * 5 + ["c"])
    >>> check_data_set(DataSet("tiny", np.zeros((11, 1)), y), folds=3)
    ['tiny: fewer rows than the 3 folds in class c: kept, but absent from some folds']
    """
    from skecoc.tables.preprocessing import identifier_columns

    identifiers = [str(name) for name in identifier_columns(data_set.X)]
    _check_table(data_set, len(identifiers))
    rare = _check_classes(data_set, folds)
    notes = []
    if rare:
        notes.append(
            f"{data_set.name}: fewer rows than the {folds} folds in class {_spell_out(rare)}: "
            "kept, but absent from some folds"
        )
    if identifiers:
        notes.append(
            f"{data_set.name}: left out, as they only number or name the rows: column {_spell_out(identifiers)}"
        )
    return notes


def _load_shipped(name: str) -> DataSet:
    """Load one of the shipped data sets."""
    valid = list_uci()
    if name not in valid:
        raise InputError(f"datasets: {name!r} is not known; expected one of {', '.join(valid)}")
    bunch = load_uci(name)
    return DataSet(name, bunch.data, np.asarray(bunch.target))


def load_own(source: Any, target: str | None) -> DataSet:
    r"""Load a user's table.

    Parameters
    ----------
    source : str, path-like or binary file
        What `skecoc.tables.load_table` reads.
    target : str or None
        The column that holds the class labels.

    Returns
    -------
    DataSet
        Named after the file, or "standard input".

    Raises
    ------
    InputError
        If it cannot be read as a table with that target.

    Examples
    --------
    >>> import io
    >>> load_own(io.BytesIO(b"size,label\n1.5,a\n2.5,b\n"), "label").y
    array(['a', 'b'], dtype='<U1')
    """
    from skecoc.tables.reading import load_table

    if target is None:
        raise InputError("target: expected the name of the column that holds the classes")
    try:
        bunch = load_table(source, target=target)
    except (ValueError, OSError, ImportError) as error:
        # What the reader calls its path is the argument `data` here.
        raise InputError(re.sub("^path=", "data=", str(error))) from error
    labels = np.asarray(bunch.target)
    if labels.dtype.kind not in "biufU":
        # Files of models hold no dates, and scikit-learn takes objects only if all of them are text.
        labels = np.array([str(label) for label in bunch.target])
    name = Path(source).name if isinstance(source, str | os.PathLike) else "standard input"
    return DataSet(name, bunch.data, labels)


def _check_table(data_set: DataSet, n_left_out: int) -> None:
    """Refuse a table without rows, without usable columns or with infinite values."""
    name, X = data_set.name, data_set.X
    if len(X) == 0:
        raise InputError(f"data set {name!r} has no rows")
    if X.shape[1] - n_left_out == 0:
        raise InputError(f"data set {name!r} has no columns to learn from besides the target and identifiers")
    from skecoc.tables.preprocessing import infinite_columns

    infinite = infinite_columns(X)
    if infinite:
        raise InputError(f"data set {name!r} has infinite values in column {_spell_out(infinite)}")


def _check_classes(data_set: DataSet, folds: int) -> list[str]:
    """Refuse labels that cannot be split; return the classes with fewer rows than folds."""
    name, y = data_set.name, data_set.y
    if y.dtype.kind in "fO" and (y != y).any():  # noqa: PLR0124 (NaN is what differs from itself)
        raise InputError(f"data set {name!r} has rows without a class label")
    if type_of_target(y) not in {"binary", "multiclass"}:
        raise InputError(f"target: data set {name!r} has labels that are not classes, such as {y[0]}")
    counts = Counter(y.tolist())
    if len(counts) == 1:
        raise InputError(f"data set {name!r} has one class only ({next(iter(counts))}), expected two or more")
    if folds > len(y):
        raise InputError(f"folds: {folds} is more than the {len(y)} rows of data set {name!r}")
    if folds > max(counts.values()):
        raise InputError(
            f"folds: {folds} is more than the {max(counts.values())} rows of the largest class of "
            f"data set {name!r}; is the target a class label?"
        )
    if sorted(counts.values())[-2] < 2:
        raise InputError(f"data set {name!r} has only one class with two rows or more, expected two such classes")
    return sorted(str(label) for label, count in counts.items() if count < folds)


def _spell_out(names: Sequence[str]) -> str:
    """Join names, the first few only."""
    shown = ", ".join(names[:_MAX_NAMES])
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more"
