"""Prepare a table for the comparison of methods: choose columns, order classes, find groups, collect notes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from skecoc.compare.data_sets import DataSet, check_data_set, check_labels
from skecoc.compare.methods import coding_of
from skecoc.support.errors import InputError, did_you_mean, spell_out
from skecoc.tables.kinds import stray_cells, suspicious_columns, typed
from skecoc.tables.model import choose_columns
from skecoc.tables.preprocessing import make_preprocessor

if TYPE_CHECKING:
    import pandas as pd

Integers = NDArray[np.intp]

#: Rows that methods are compared on, at most; the chosen one is trained on all.
MOST_COMPARED_ROWS = 10_000

#: Seeds depend on this, not on the name of a file: renaming one changes nothing.
IDENTITY = "table"

# Up to this many distinct numbers with fractions may be classes, such as half stars.
_MOST_FRACTIONS = 20
# With fewer rows, a column may determine the classes by chance; with more columns, looking at all takes long.
_FEW_ROWS, _MANY_COLUMNS = 30, 500
_MOST_LEAKS = 3
_REASONS = {"constant": "the same value in every row", "identifier": "identifies the rows"}


class PreparedTable(NamedTuple):
    """A table that methods can be compared on."""

    data_set: DataSet  # chosen columns with their preprocessor, class indices, groups, notes on the table itself
    labels: NDArray[Any]  # class of each row, as it was read
    classes: NDArray[Any]  # class labels in their order
    drop: list[str]  # columns that were to be left out, with that of the groups
    notes: list[str]  # on the table and its folds


def prepare_table(
    data_set: DataSet,
    *,
    drop: Sequence[str] = (),
    group: str | None = None,
    order: Sequence[str] = (),
    folds: int = 5,
    methods: Sequence[str] = (),
) -> PreparedTable:
    """Choose the columns of a table, put its classes in order, and collect notes on both."""
    labels = _as_classes(data_set.name, data_set.y)
    check_labels(data_set.name, labels)
    order = list(order) or [str(label) for label in data_set.order]
    classes, y = _ordered_classes(labels, order)
    groups = None if group is None else _groups(data_set.X, group)
    dropped = list(dict.fromkeys([*drop, *([] if group is None else [group])]))
    kinds, left_out = choose_columns(data_set.X, dropped)
    frame = typed(data_set.X, kinds)
    notes = [
        *data_set.notes,
        *column_notes(data_set.X, kinds, left_out),
        *_notes_on_leaks(frame, y),
    ]
    if not order and labels.dtype.kind == "U" and "ordinal" in map(coding_of, methods):
        names = " < ".join(map(repr, classes[:4].tolist()))
        notes.append(f"the ordinal code uses the alphabetical order of the classes ({names}); --order sets another")
    values = DataSet(data_set.name, frame, y, make_preprocessor(kinds), notes, classes, groups, identity=IDENTITY)
    return PreparedTable(values, labels, classes, dropped, check_data_set(values, folds))


def as_data_set(name: str, X: "pd.DataFrame", y: ArrayLike) -> DataSet:
    """Make a data set of a table, for `skecoc.compare.compare`.

    Numbers, booleans and dates are scaled to [0, 1]; missing ones are imputed by the median of the training part,
    unless a method supports missing values. Text is encoded as indicators, shares of the classes or weights of words.
    Constant columns and identifiers of rows are ignored.

    Parameters
    ----------
    name : str
        Name of the data set in reports.
    X : DataFrame of shape (n_samples, n_columns)
        The table, without the classes.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    DataSet
        The columns with their preprocessor, and notes on ignored columns and invalid values.

    Examples
    --------
    >>> import pandas as pd
    >>> from skecoc.tables import as_data_set
    >>> frame = pd.DataFrame({"id": [7, 8, 9], "size": [1.5, 2.5, None]})
    >>> as_data_set("things", frame, ["a", "b", "a"]).notes
    ["things: left out: column 'id' (identifies the rows)"]
    """
    kinds, left_out = choose_columns(X)
    values = typed(X, kinds)
    notes = [f"{name}: {note}" for note in column_notes(X, kinds, left_out)]
    return DataSet(name, values, np.asarray(y), make_preprocessor(kinds), notes, identity=IDENTITY)


def _ordered_classes(labels: NDArray[Any], order: Sequence[str]) -> tuple[NDArray[Any], Integers]:
    """Return the class labels in their order, and the index of each row's class."""
    classes, y = np.unique(labels, return_inverse=True)
    if not order:
        return classes, y
    names = [str(label) for label in classes]
    for name in order:
        if name not in names:
            raise InputError(f"order: {name!r} is not a class of the table{did_you_mean(name, names)}")
    missing = [repr(name) for name in names if name not in order]
    if missing or len(set(order)) < len(order):
        raise InputError(f"order: expected every class once; {spell_out(missing) or 'one'} is missing or repeated")
    places = np.array([names.index(name) for name in order])
    return classes[places], np.argsort(places)[y]


def _groups(frame: "pd.DataFrame", group: str) -> NDArray[Any]:
    """Return the group of each row."""
    if group not in frame.columns:
        raise InputError(f"group: {group!r} is not a column of the table{did_you_mean(group, map(str, frame.columns))}")
    column = frame[group]
    if column.isna().any():
        raise InputError(f"group: column {group!r} is missing in {int(column.isna().sum())} rows; expected one in each")
    return column.astype(str).to_numpy(dtype=str)


def _as_classes(name: str, labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels that scikit-learn takes for classes: a few fractions become text, a measurement is refused."""
    if labels.dtype.kind != "f" or (labels == np.round(labels)).all() or np.isnan(labels).any():
        return labels
    n_values = len(np.unique(labels))
    if n_values > max(2, min(_MOST_FRACTIONS, len(labels) // 5)):
        raise InputError(
            f"target: {name!r} has labels that are not classes, but {n_values} different numbers such as {labels[0]}; "
            "is it a measurement?"
        )
    return labels.astype(str)


def _notes_on_leaks(frame: "pd.DataFrame", y: Integers) -> list[str]:
    """Name columns that alone determine the class: they may not be known when a class is to be predicted."""
    n_classes = int(y.max()) + 1
    if len(y) < _FEW_ROWS or frame.shape[1] > _MANY_COLUMNS:
        return []
    found = []
    for place, name in enumerate(frame.columns):
        codes, values = frame.iloc[:, place].factorize(use_na_sentinel=False)
        if n_classes <= len(values) <= 2 * n_classes:
            pairs = np.unique(np.column_stack([codes, y]), axis=0)
            if len(pairs) == len(values):  # each value has a single class
                found.append(repr(name))
    question = "is that known before the class is? --drop leaves it out"
    return [f"all rows with the same {name} have the same class: {question}" for name in found[:_MOST_LEAKS]]


def column_notes(frame: "pd.DataFrame", kinds: dict[str, str], left_out: dict[str, str]) -> list[str]:
    """List columns that were left out, that have cells of another kind, and that may be identifiers."""
    notes = []
    for reason, explanation in _REASONS.items():
        names = [repr(name) for name, found in left_out.items() if found == reason]
        if names:
            notes.append(f"left out: column{'s' if len(names) > 1 else ''} {spell_out(names)} ({explanation})")
    for name, reason in stray_cells(frame, kinds).items():
        notes.append(f"column {name!r}: {reason}")
    for name, reason in suspicious_columns(frame, kinds).items():
        notes.append(f"column {name!r} may be an identifier ({reason}); --drop leaves it out")
    return notes


def limit_rows(data_set: DataSet, most: int, seed: int) -> tuple[DataSet, list[str]]:
    """Return at most so many rows of a prepared table, and a note if these are not all.

    They are drawn class by class, as many of each as its share, but three at least.
    """
    y = data_set.y
    if len(y) <= most:
        return data_set, []
    order = np.random.default_rng(seed).permutation(len(y))
    by_class = order[np.argsort(y[order], kind="stable")]
    sizes = np.bincount(y)
    wanted = np.minimum(sizes, np.maximum(3, np.round(sizes * (most / len(y))).astype(np.intp)))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    chosen = [by_class[start : start + count] for start, count in zip(starts, wanted, strict=True)]
    rows = np.sort(np.concatenate(chosen))
    groups = None if data_set.groups is None else data_set.groups[rows]
    limited = replace(data_set, X=_safe_indexing(data_set.X, rows), y=y[rows], groups=groups)
    return limited, [f"methods are compared on {len(rows)} of the {len(y)} rows (--max-rows)"]
