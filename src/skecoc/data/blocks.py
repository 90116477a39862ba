"""Blocks of samples: how a user's are read and checked, what one pass over them tells, and how they are coded.

A summary is the same however samples are divided into blocks and in whatever order they come: counts, sets of distinct
values, and a sample that is drawn by a hash of the features. It decides on the bins of each feature and on the folds.

Coded rows of a block are sorted by *cell*, that is by class and, within a class, by the fold that holds them out. So a
column without a fold is a column of the same rows whose sides are zero in the cells of that fold, and all of them can
be boosted together.
"""

import mmap
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import (
    SAMPLE_ROWS,
    Bins,
    Ints,
    RowSample,
    choose_rows,
    code_values,
    distinct_values,
    limited,
    make_bins,
    smallest_keys,
)
from skecoc.data.codes import Codes, read_only
from skecoc.data.folds import NEVER_HELD_OUT, FoldRule, Keys, hash_rows, make_fold_rule, resolve_folds
from skecoc.support.errors import naming
from skecoc.support.weights import LARGEST_WEIGHT, SMALLEST_WEIGHT, class_totals, multiplied

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
#: What the weights of each class are multiplied by; None for nothing.
Factors = Mapping[Hashable, float] | None

#: A weight of 1, the largest, in sums of weights: these are integers, so that sums in any order are the same.
UNIT = 2.0**30
# The beginning of errors if the second pass over blocks gives other rows than the first.
OTHER_ROWS = "blocks gave other rows when they were read again; they must be the same every time"

# Bytes of raw features in a block, if the user does not say how many rows.
_BLOCK_BYTES = 2**24
_SMALLEST_BLOCK = 4_096
# Labels of these types can be compared with NumPy's numbers.
_NUMBERS: dict[type, type] = {int: np.generic, float: np.generic, bool: np.generic}


class RawBlock(NamedTuple):
    """Rows as a user gives them: features, labels, weights or None, and the name of the block in errors."""

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
    mapped = getattr(array, "_mmap", None) if isinstance(array, np.memmap) else None
    if advice is not None and mapped is not None and array.mode != "c":
        mapped.madvise(advice)  # not in mode "c", which keeps changes in memory alone
    return copied


class IterableBlocks:
    """Blocks (X, y) or (X, y, sample_weight) of an iterable that can be read several times."""

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


def _check_weight(given: Any, n_rows: int) -> Floats:
    """Check that there is a weight for every row."""
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (n_rows,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"sample_weight must hold {n_rows} finite weights that are not negative in this block")
    return weight


def check_block(block: RawBlock, seed: int, factors: Factors = None) -> CleanBlock:
    """Check a block, weight its classes, leave out rows of weight zero, and hash the features of rows."""
    with naming(block.place):
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
        X = read_only(np.ascontiguousarray(X))  # so that kernels are compiled once
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
    kinds = zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()), strict=True)
    categorical = [str(name) for name, dtype in kinds if str(dtype).startswith(("category", "Categorical", "Enum"))]
    if categorical:
        raise ValueError(
            f"X has categorical columns, {', '.join(categorical)}: samples in blocks or partitions must hold numbers. "
            "Encode categories first, for example by sklearn.preprocessing.OneHotEncoder, or fit a frame in memory"
        )
    checks: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_min_samples": 0, "input_name": "X"}
    checked = check_array(X, ensure_all_finite="allow-nan", **checks)
    if np.isnan(checked).any():
        raise ValueError(
            "Input X contains NaN: samples in blocks or partitions must not lack values. Replace them first, for "
            "example by sklearn.impute.SimpleImputer, or fit arrays in memory, where boosted stumps take missing values"
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
    if types - {str, int}:
        from sklearn.utils._missing import is_pandas_na, is_scalar_nan

        if any(label is None or is_pandas_na(label) or is_scalar_nan(label) for label in y):
            raise ValueError("y must hold a label for every row; some are missing (None or NaN)")
    if len(types) > 1:
        raise ValueError("y must hold labels of one type, such as all strings or all integers")
    return y


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
    sample: RowSample  # the rows with the smallest keys of all, and those with the smallest keys of each class
    is_complete: bool  # whether all distinct rows are in the sample
    names: NDArray[Any] | None  # of the features
    place: str  # of the first block
    is_given: bool = False  # whether the user gave weights of samples, not of classes alone

    def first_rows(self) -> RowSample:
        """Return the rows that decide on bins: the same however many more are sampled for learners."""
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
    names = [None if part.names is None else part.names.tolist() for part in (first, second)]
    if names[0] != names[1]:
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


@dataclass(frozen=True)
class Layout:
    """What coding a block needs to know."""

    bins: Bins
    classes: NDArray[np.generic]  # sorted
    seed: int  # of the hash of rows
    largest_weight: float  # what weights are divided by
    folds: FoldRule | None  # None: no rows are held out
    factors: Factors = None  # what the weights of each class are multiplied by

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return 0 if self.folds is None else self.folds.n_folds

    @property
    def is_single(self) -> bool:
        """Whether all folds are held out at once."""
        return self.folds is not None and self.folds.is_single

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.classes) * (self.n_folds + 1)

    def cells(self, keys: Keys, y: Integers) -> Integers:
        """Return the cells of rows: those of class p begin at ``p * (n_folds + 1)`` with the rows of no fold."""
        fold = NEVER_HELD_OUT if self.folds is None else self.folds.assign(keys, y)
        return y * (self.n_folds + 1) + 1 + fold


def make_layout(
    summary: RowSummary,
    seed: int,
    n_folds: int | str | None,
    *,
    has_several: bool = False,
    factors: Factors = None,
) -> Layout:
    """Decide on bins and folds."""
    rule = None
    number, is_single = resolve_folds(n_folds, summary.n_rows, has_several=has_several)
    if number is not None:
        y = np.searchsorted(summary.labels, summary.sample.y)
        keys, is_complete = summary.sample.keys, summary.is_complete
        rule = make_fold_rule(keys, y, len(summary.labels), number, is_complete=is_complete, is_single=is_single)
    bins = make_bins(summary.values, summary.first_rows(), summary.most_values)
    return Layout(bins, summary.labels, seed, summary.largest_weight, rule, factors)


class CodedBlock(NamedTuple):
    """Coded rows of a block, sorted by cell."""

    codes: Codes  # (n_features, n_rows): bin of each value within its feature
    starts: Ints  # the rows of cell c are starts[c]:starts[c + 1]
    weight: Floats  # in (0, 1]; empty if all are 1
    keys: Keys  # hashes of the rows

    @property
    def cell(self) -> Integers:
        """Cell of each row, of shape (n_rows,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def weights(self) -> Floats:
        """Weight of each row, of shape (n_rows,), also if all are 1."""
        return self.weight if len(self.weight) else np.ones(len(self.keys))

    def held_out(self, n_folds: int) -> Integers:
        """List the rows that a fold holds out, or all rows if there are no folds."""
        return np.flatnonzero(self.cell % (n_folds + 1)) if n_folds else np.arange(len(self.keys))


def copy_rows(codes: Codes, rows: Integers) -> Codes:
    """Copy some rows of codes to an array in C order, which kernels are compiled for."""
    copied: Any = np.take(codes, rows, axis=1)
    return copied


def code_block(block: RawBlock, layout: Layout) -> CodedBlock:
    """Code the rows of a block, as they were summarised."""
    with naming(block.place):
        clean, bins, classes = check_block(block, layout.seed, layout.factors), layout.bins, layout.classes
        if clean.X.shape[1] != bins.n_features:
            raise ValueError(
                f"X must have {bins.n_features} features in every block, whenever it is read; got {clean.X.shape[1]}"
            )
        y = np.empty(0, np.intp)
        if len(clean.y):
            is_known = label_type(clean.y) is label_type(classes)  # others cannot be compared
            if is_known:
                y = np.searchsorted(classes, clean.y)
                is_known = bool((classes[np.minimum(y, len(classes) - 1)] == clean.y).all())
            if not is_known:
                raise ValueError(f"{OTHER_ROWS}: y holds labels that it did not hold before")
        cell = layout.cells(clean.keys, y)
        order = np.argsort(cell, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=layout.n_cells))])
        weight = np.empty(0)
        if len(clean.weight):
            # At least one part of `UNIT`: a class of lighter rows would have no weight in sums.
            weight = np.maximum(clean.weight[order] / layout.largest_weight, 1.0 / UNIT)
        elif layout.largest_weight != 1.0:
            weight = np.full(len(order), 1.0 / layout.largest_weight)
        return CodedBlock(copy_rows(code_values(clean.X, bins), order), starts, weight, clean.keys[order])


def cell_totals(block: CodedBlock) -> tuple[Ints, Ints]:
    """Sum up the rows of each cell, and their weights in parts of `UNIT`."""
    counts = np.diff(block.starts)
    if len(block.weight) == 0:
        return counts, counts * int(UNIT)
    ends = np.concatenate([[0], np.cumsum(np.rint(block.weight * UNIT).astype(np.int64))])
    return counts, np.diff(ends[block.starts])
