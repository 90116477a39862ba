"""What a user's blocks of rows look like, and everything that one pass over them tells.

A summary is the same however rows are divided into blocks and in whatever order they come: counts, sets of distinct
values, and a sample of rows that is drawn by a hash of what is in them.
"""

import mmap
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import SAMPLE_ROWS, RowSample, choose_rows, distinct_values, limited, smallest_keys
from skecoc.data.codes import read_only
from skecoc.data.folds import Keys, hash_rows
from skecoc.support.errors import naming
from skecoc.support.weights import LARGEST_WEIGHT, SMALLEST_WEIGHT, class_totals, multiplied

Floats = NDArray[np.float64]
#: What the weights of each class are multiplied by; None for nothing.
Factors = Mapping[Hashable, float] | None

# Bytes of raw features in a block, if the user does not say how many rows.
_BLOCK_BYTES = 2**24
_SMALLEST_BLOCK = 4_096
# Labels of these types can be compared with NumPy's numbers.
_NUMBERS: dict[type, type] = {int: np.generic, float: np.generic, bool: np.generic}


class RawBlock(NamedTuple):
    """Rows as a user gives them: features, labels, weights or None, and what errors call the block."""

    X: Any
    y: Any
    weight: Any = None
    place: str = "a block"


class ArrayBlocks:
    """Consecutive rows of arrays, which may be mapped from files, or of a frame, as blocks."""

    def __init__(self, X: Any, y: Any, weight: Any = None, block_size: int | None = None) -> None:
        from scipy.sparse import issparse

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
            parts = [None if array is None else _part_of(array, part) for array in self._arrays]
            last = min(part.stop, self._arrays[0].shape[0]) - 1
            yield RawBlock(parts[0], parts[1], parts[2], f"samples {start} to {last}")


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
        blocks = iter(self._blocks)
        for number in count():
            place = f"block {number}"
            with naming(place):
                try:
                    block = next(blocks)
                except StopIteration:
                    return
                if not isinstance(block, tuple | list) or not (isinstance(block, RawBlock) or len(block) in {2, 3}):
                    raise ValueError(f"blocks must hold (X, y) or (X, y, sample_weight), got a {type(block).__name__}")
            yield block if isinstance(block, RawBlock) else RawBlock(*block)._replace(place=place)


class CleanBlock(NamedTuple):
    """Checked rows of positive weight: features, labels, weights (empty: all 1), a key of each row, names or None."""

    X: NDArray[Any]
    y: NDArray[Any]
    weight: Floats
    keys: Keys
    names: NDArray[Any] | None


def label_totals(block: RawBlock) -> dict[Hashable, int]:
    """Sum the weights of a block up by label, exactly."""
    with naming(block.place):
        n_rows = len(block.y)
        weight = None if block.weight is None else _check_weight(block.weight, n_rows)
        return class_totals(_check_labels(block.y, n_rows), weight)


def check_block(block: RawBlock, seed: int, factors: Factors = None) -> CleanBlock:
    """Check a block, weight its classes, leave out rows of weight zero, and hash the features of rows."""
    with naming(block.place):
        return _checked(block, seed, factors)


def _check_weight(given: Any, n_rows: int) -> Floats:
    """Check that there is a weight for every row."""
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (n_rows,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"sample_weight must hold {n_rows} finite weights that are not negative in this block")
    return weight


def _checked(block: RawBlock, seed: int, factors: Factors) -> CleanBlock:
    """Check a block; see `check_block`."""
    X, names = check_features(block.X)
    y = _check_labels(block.y, len(X))
    given = None if block.weight is None else _check_weight(block.weight, len(X))
    if factors is not None:
        given = multiplied(given, y, factors)
    weight = np.empty(0)
    if given is not None:
        weight, counted = given, given > 0
        if not ((weight[counted] >= SMALLEST_WEIGHT) & (weight[counted] <= LARGEST_WEIGHT)).all():
            raise ValueError(
                "sample_weight times class_weight must be zero or from 1e-60 to 1e60 for every sample; got "
                f"{weight[counted].min():g} to {weight[counted].max():g}: rescale all weights by a common factor"
            )
        X, y, weight = X[counted], y[counted], weight[counted]
    X = read_only(np.ascontiguousarray(X))  # one compiled version serves all
    return CleanBlock(X, y, weight, hash_rows(X, np.uint64(seed)), names)


def check_features(X: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Check features, and return them as numbers, and their names or None."""
    is_plain = type(X) is np.ndarray and X.ndim == 2 and X.shape[1] > 0 and X.dtype in (np.float64, np.float32)
    if is_plain:
        with np.errstate(over="ignore", invalid="ignore"):  # the sum of large numbers
            total = X.sum(dtype=np.float64)
        if np.isfinite(total):
            return X, None
    # Loaded only if it is needed, and not by the workers of a cluster whose partitions are arrays.
    from sklearn.utils import check_array
    from sklearn.utils.validation import _get_feature_names

    names: NDArray[Any] | None = _get_feature_names(X)
    checks: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_min_samples": 0, "input_name": "X"}
    checked = check_array(X, ensure_all_finite="allow-nan", **checks)
    if np.isnan(checked).any():
        raise ValueError(
            "Input X contains NaN: blocks must not lack values. Replace them first, for example by "
            "sklearn.impute.SimpleImputer, or use ECOCClassifier or WOLCClassifier, whose stumps take missing values"
        )
    return checked, names


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
    from sklearn.utils._missing import is_pandas_na, is_scalar_nan

    return label is None or bool(is_pandas_na(label) or is_scalar_nan(label))


@dataclass(frozen=True)
class RowSummary:
    """What one pass over blocks of rows tells."""

    n_rows: int  # of positive weight
    largest_weight: float
    is_weighted: bool
    labels: NDArray[Any]  # sorted
    most_values: int  # features with more distinct values than this have too many
    n_sampled: int  # distinct rows of the sample, at most, beside those of every class
    values: tuple[Floats | None, ...]  # distinct values of each feature, sorted; None for features with too many
    sample: RowSample  # the rows with the smallest keys, and those of each class with the smallest keys among them
    is_complete: bool  # whether all distinct rows are in the sample
    names: NDArray[Any] | None  # of the features
    place: str  # of the first block
    is_given: bool = False  # whether weights are the user's, and not those of classes alone

    def first_rows(self) -> RowSample:
        """Return the rows that decide on bins: the same ones also if more are sampled for learners."""
        if self.n_sampled <= SAMPLE_ROWS:
            return self.sample
        taken = smallest_keys(self.sample.keys, np.searchsorted(self.labels, self.sample.y), SAMPLE_ROWS)
        return self.sample.part(taken)


def summarise_block(
    block: RawBlock, seed: int, most_values: int, n_sampled: int = SAMPLE_ROWS, factors: Factors = None
) -> RowSummary | None:
    """Summarise a block of rows; None if it holds no row of positive weight."""
    clean = check_block(block, seed, factors)
    if len(clean.y) == 0:
        return None
    labels, label = np.unique(clean.y, return_inverse=True)
    values = tuple(distinct_values(clean.X[:, f], most_values) for f in range(clean.X.shape[1]))
    weight = clean.weight if len(clean.weight) else np.ones(len(clean.y))
    rows, mass, count, is_complete = choose_rows(clean.keys, label, weight, n_sampled)
    sample = RowSample(clean.keys[rows], clean.y[rows], clean.X[rows].astype(np.float64), mass, count)
    return RowSummary(
        len(clean.y),
        float(weight.max()),
        len(clean.weight) > 0,
        labels,
        most_values,
        n_sampled,
        values,
        sample,
        is_complete,
        clean.names,
        block.place,
        block.weight is not None,
    )


def merge_summaries(first: RowSummary, second: RowSummary) -> RowSummary:
    """Merge the summaries of different blocks, which must agree in their features and in the kind of their labels."""
    if len(first.values) != len(second.values):
        raise ValueError(
            f"X must have the same number of features in every block; got {len(first.values)} in {first.place} and "
            f"{len(second.values)} in {second.place}"
        )
    if not _same_names(first.names, second.names):
        raise ValueError(
            f"X must have the same feature names, in the same order, in every block; {first.place} and {second.place} "
            "differ"
        )
    if label_type(first.labels) is not label_type(second.labels):
        raise ValueError(
            "y must hold labels of one type in every block, such as all strings or all integers; "
            f"{first.place} and {second.place} differ"
        )
    labels = np.union1d(first.labels, second.labels)
    keys, y, X, mass, count = (np.concatenate(parts) for parts in zip(first.sample, second.sample, strict=True))
    rows, mass, count, has_all = choose_rows(keys, np.searchsorted(labels, y), mass, first.n_sampled, count)
    return RowSummary(
        first.n_rows + second.n_rows,
        max(first.largest_weight, second.largest_weight),
        first.is_weighted or second.is_weighted,
        labels,
        first.most_values,
        first.n_sampled,
        tuple(
            None if a is None or b is None else limited(np.union1d(a, b), first.most_values)
            for a, b in zip(first.values, second.values, strict=True)
        ),
        RowSample(keys[rows], y[rows], X[rows], mass, count),
        first.is_complete and second.is_complete and has_all,
        first.names,
        first.place,
        first.is_given or second.is_given,
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
