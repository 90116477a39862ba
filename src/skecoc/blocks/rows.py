"""What a user's blocks of rows look like, and everything that one pass over them tells.

A summary is the same however rows are divided into blocks and in whatever order they come: counts, sets of distinct
values, and a sample of rows that is drawn by a hash of what is in them.
"""

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils.validation import _get_feature_names

from skecoc.learners.base import FEW_VALUES, rank_few_values
from skecoc.learners.folds import FEW_OF_CLASS, MOST_DEALT, Keys, hash_rows

Floats = NDArray[np.float64]

#: Distinct rows of the sample, beside some of every class: all rows if folds are dealt out in turn.
SAMPLE_ROWS = MOST_DEALT
#: Distinct rows of every class that are in the sample if there are so many.
SAMPLE_ROWS_OF_CLASS = FEW_OF_CLASS

# Bytes of raw features in a block, if the user does not say how many rows.
_BLOCK_BYTES = 2**24
_SMALLEST_BLOCK = 4_096
# Labels of these types can be compared with NumPy's numbers.
_NUMBERS: dict[type, type] = {int: np.generic, float: np.generic, bool: np.generic}


class RawBlock(NamedTuple):
    """Rows as a user gives them: features, labels, and weights or None."""

    X: Any
    y: Any
    weight: Any = None


class ArrayBlocks:
    """Consecutive rows of arrays, which may be mapped from files, or of a frame, as blocks."""

    def __init__(self, X: Any, y: Any, weight: Any = None, block_size: int | None = None) -> None:
        if issparse(X):
            raise ValueError("X must be dense: sparse input is not supported")
        if len(X.shape) != 2:
            raise ValueError(f"X must be two-dimensional, got shape {X.shape}")
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None and values.shape != X.shape[:1]:
                raise ValueError(f"{name} must have shape {X.shape[:1]}, got {values.shape}")
        self._arrays = X, y, weight
        automatic = max(_SMALLEST_BLOCK, _BLOCK_BYTES // (8 * max(X.shape[1], 1)))
        self._block_size = automatic if block_size is None else block_size

    def __iter__(self) -> Iterator[RawBlock]:
        for start in range(0, self._arrays[0].shape[0], self._block_size):
            part = slice(start, start + self._block_size)
            yield RawBlock(*(None if array is None else _part_of(array, part) for array in self._arrays))


def _part_of(array: Any, part: slice) -> Any:
    """Copy a part of an array, and let the pages of a memory-mapped one go: they would count as memory in use."""
    if hasattr(array, "iloc"):
        return array.iloc[part]
    copied: NDArray[Any] = np.array(array[part])
    advice = getattr(mmap, "MADV_DONTNEED", None)
    if advice is not None and _can_be_read_again(array):
        array._mmap.madvise(advice)
    return copied


def _can_be_read_again(array: Any) -> bool:
    """Tell whether an array is mapped from a file that holds all changes; those of mode "c" are in memory alone."""
    return isinstance(array, np.memmap) and array._mmap is not None and array.mode != "c"  # type: ignore[attr-defined]


class IterableBlocks:
    """Blocks (X, y) or (X, y, sample_weight) of an iterable that starts afresh whenever it is read."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        if iter(blocks) is blocks:
            raise ValueError("blocks must be readable more than once, such as a list; got an iterator")
        self._blocks = blocks

    def __iter__(self) -> Iterator[RawBlock]:
        for block in self._blocks:
            if not isinstance(block, tuple | list) or len(block) not in {2, 3}:
                raise ValueError(f"blocks must hold (X, y) or (X, y, sample_weight), got a {type(block).__name__}")
            yield RawBlock(*block)


class CleanBlock(NamedTuple):
    """Checked rows of positive weight: features, labels, weights (empty: all 1), a key of each row, names or None."""

    X: NDArray[Any]
    y: NDArray[Any]
    weight: Floats
    keys: Keys
    names: NDArray[Any] | None


def check_block(block: RawBlock, seed: int) -> CleanBlock:
    """Check a block, leave out rows of weight zero, and hash the features of rows."""
    names = _get_feature_names(block.X)
    X = check_array(block.X, dtype=[np.float64, np.float32], ensure_min_samples=0, input_name="X")
    y = _check_labels(block.y, len(X))
    weight = np.empty(0)
    if block.weight is not None:
        weight = np.asarray(block.weight, dtype=np.float64)
        if weight.shape != (len(X),) or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError(f"sample_weight must hold {len(X)} finite weights that are not negative in this block")
        counted = weight > 0
        X, y, weight = X[counted], y[counted], weight[counted]
    X = np.ascontiguousarray(X)
    X.flags.writeable = False  # one compiled version serves read-only arrays, too
    return CleanBlock(X, y, weight, hash_rows(X, np.uint64(seed)), names)


def _check_labels(labels: Any, n_rows: int) -> NDArray[Any]:
    """Check that there is a class label for every row, and that labels are comparable with each other."""
    y = np.asarray(labels)
    if y.shape != (n_rows,):
        raise ValueError(f"y must have one label per row of X: got shape {y.shape} for {n_rows} rows")
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and (y == np.trunc(y)).all()):
        raise ValueError(
            "Unknown label type: y must hold class labels: numbers with a fraction, NaN and infinity (inf) are none"
        )
    types = set(map(type, y)) if y.dtype == object else set()
    if types - {str, int} and any(map(_is_missing, y)):
        raise ValueError("y must hold a label for every row; some are missing (None or NaN)")
    if len(types) > 1:
        raise ValueError("y must hold labels of one type, such as all strings or all integers")
    return y


def _is_missing(label: Any) -> bool:
    """Tell whether a label stands for none."""
    return label is None or bool(is_pandas_na(label) or is_scalar_nan(label))


class RowSample(NamedTuple):
    """Distinct rows, sorted by key."""

    keys: Keys
    y: NDArray[Any]
    X: Floats
    mass: Floats  # total weight of the rows that equal them


@dataclass(frozen=True)
class RowSummary:
    """What one pass over blocks of rows tells."""

    n_rows: int  # of positive weight
    largest_weight: float
    is_weighted: bool
    labels: NDArray[Any]  # sorted
    most_values: int  # features with more distinct values than this have too many
    values: tuple[Floats | None, ...]  # distinct values of each feature, sorted; None for features with too many
    sample: RowSample  # the rows with the smallest keys, and those of each class with the smallest keys among them
    is_complete: bool  # whether all distinct rows are in the sample
    names: NDArray[Any] | None  # of the features


def summarise_block(block: RawBlock, seed: int, most_values: int) -> RowSummary | None:
    """Summarise a block of rows; None if it holds no row of positive weight."""
    clean = check_block(block, seed)
    if len(clean.y) == 0:
        return None
    labels, label = np.unique(clean.y, return_inverse=True)
    values = tuple(_distinct_values(clean.X[:, f], most_values) for f in range(clean.X.shape[1]))
    weight = clean.weight if len(clean.weight) else np.ones(len(clean.y))
    first, mass = _put_together(clean.keys, label, weight)
    taken = _smallest_keys(clean.keys[first], label[first])
    rows = first[taken]
    sample = RowSample(clean.keys[rows], clean.y[rows], clean.X[rows].astype(np.float64), mass[taken])
    return RowSummary(
        len(clean.y),
        float(weight.max()),
        len(clean.weight) > 0,
        labels,
        most_values,
        values,
        sample,
        len(taken) == len(first),
        clean.names,
    )


def _distinct_values(column: NDArray[Any], most_values: int) -> Floats | None:
    """Return the distinct values of a feature, sorted; None if there are too many."""
    numbers = np.add(column, 0.0, dtype=np.float64)  # turns -0.0 into 0.0
    found = rank_few_values(numbers, np.empty(len(numbers), np.uint8))
    values = None if found is None else found[0]
    if values is None and most_values > FEW_VALUES:
        values = np.unique(numbers)
    return _limited(values, most_values)


def _limited(values: Floats | None, most_values: int) -> Floats | None:
    """Return values unless there are too many."""
    return None if values is None or len(values) > most_values else values


def merge_summaries(first: RowSummary, second: RowSummary) -> RowSummary:
    """Merge the summaries of different blocks, which must agree in their features and in the kind of their labels."""
    if len(first.values) != len(second.values):
        raise ValueError(
            f"X must have as many features in every block; got {len(first.values)} and {len(second.values)}"
        )
    if not _same_names(first.names, second.names):
        raise ValueError("X must have the same feature names, in the same order, in every block")
    if label_type(first.labels) is not label_type(second.labels):
        raise ValueError("y must hold labels of one type in every block, such as all strings or all integers")
    labels = np.union1d(first.labels, second.labels)
    keys, y, X, mass = (np.concatenate(parts) for parts in zip(first.sample, second.sample, strict=True))
    label = np.searchsorted(labels, y)
    kept, mass = _put_together(keys, label, mass)
    taken = _smallest_keys(keys[kept], label[kept])
    rows = kept[taken]
    return RowSummary(
        first.n_rows + second.n_rows,
        max(first.largest_weight, second.largest_weight),
        first.is_weighted or second.is_weighted,
        labels,
        first.most_values,
        tuple(
            None if a is None or b is None else _limited(np.union1d(a, b), first.most_values)
            for a, b in zip(first.values, second.values, strict=True)
        ),
        RowSample(keys[rows], y[rows], X[rows], mass[taken]),
        first.is_complete and second.is_complete and len(taken) == len(kept),
        first.names,
    )


def label_type(labels: NDArray[Any]) -> type:
    """Return the type of labels, of which there is at least one: labels of one type can be compared."""
    kind: type = type(labels[0])
    return next((base for base in (str, bytes, np.generic) if issubclass(kind, base)), _NUMBERS.get(kind, kind))


def _same_names(first: NDArray[Any] | None, second: NDArray[Any] | None) -> bool:
    """Tell whether features have the same names, or none."""
    if first is None or second is None:
        return first is second
    return bool(np.array_equal(first, second))


def _smallest_keys(keys: Keys, label: NDArray[np.intp]) -> NDArray[np.intp]:
    """Find the rows of the smallest keys, over all and per label, sorted by key."""
    in_order = np.lexsort((keys, label))
    by_label = label[in_order]
    is_first = np.concatenate([[True], by_label[1:] != by_label[:-1]])
    position = np.arange(len(keys))
    rank = position - np.maximum.accumulate(np.where(is_first, position, 0))
    of_class = in_order[rank < SAMPLE_ROWS_OF_CLASS]
    n_smallest = min(SAMPLE_ROWS, len(keys))
    smallest = np.argpartition(keys, n_smallest - 1)[:n_smallest]
    taken = np.union1d(of_class, smallest)
    return taken[np.lexsort((label[taken], keys[taken]))]


def _put_together(keys: Keys, label: NDArray[np.intp], weight: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Find the first row of each key and label, sorted by key, and the total weight of the rows that equal it."""
    order = np.lexsort((label, keys))
    in_order, labels = keys[order], label[order]
    is_first = np.concatenate([[True], (in_order[1:] != in_order[:-1]) | (labels[1:] != labels[:-1])])
    first = np.flatnonzero(is_first)
    return order[first], np.add.reduceat(weight[order], first)
