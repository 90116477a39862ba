"""Where training samples are (in memory, read block by block, or elsewhere), and sums over their blocks.

How rows are divided into blocks depends on their number only, and sums go from the first block to the last, so the
number of jobs changes no bit of a result.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from skecoc.decoding.base import Floats, Indices, check_rows_and_weights, chunk_slices

Result = TypeVar("Result")
Item = TypeVar("Item")

# Blocks have about so many rows (fewer would cost threads more than they save), or more if there would be too many.
_BLOCK_ROWS = 4_096
_MOST_BLOCKS = 64
_SAMPLING_SEED = 20_120_509
#: Of rows that have no smoothing shifts.
NO_SHIFT = np.zeros((0, 0), dtype=np.float32)
_ROWS_TO_LOOK_AT = 2_000
_OUTPUTS_TO_LOOK_AT = 2**22
# With more distinct patterns than this among the rows looked at, sorting costs more than it saves.
_LARGEST_SHARE = 0.7
_LABEL_BYTES = 4


class Block(NamedTuple):
    """Some rows: codewords of any real dtype, class indices, weights, and smoothing shifts (or an empty array).

    Rows may have draws, fixed numbers that are uniform in [0, 1): sums then do not depend on how blocks are cut.
    """

    codewords: NDArray[Any]
    y: Indices
    weight: Floats
    shift: NDArray[np.float32]
    draws: Floats | None = None

    def chunks(self, n_classes: int) -> "Iterator[Block]":
        """Cut the block into chunks that fit into a core's cache, with codewords as contiguous float64."""
        for part in chunk_slices(len(self.y), self.codewords.shape[1] + n_classes):
            codewords = np.ascontiguousarray(self.codewords[part], dtype=np.float64)
            draws = None if self.draws is None else self.draws[part]
            yield Block(codewords, self.y[part], self.weight[part], self.shift[part], draws)


class Rows:
    """Training rows whose weights sum to 1, wherever they are; functions go to their blocks.

    A subclass defines `blocks` or, for rows that do not come here, all other methods.
    """

    def __init__(self, n_classes: int, n_rows: int, n_jobs: int | None) -> None:
        self.n_classes, self.n_rows, self.n_jobs = n_classes, n_rows, n_jobs

    def blocks(self, *, with_shift: bool = False) -> Iterator[Block]:  # noqa: ARG002
        """Yield all rows in their order, with their smoothing shifts only where these are wanted."""
        raise ValueError("l2 must be positive for rows that are not in local memory")

    def map(self, function: Callable[[Block], Result]) -> Iterable[Result]:
        """Apply a function, which can be pickled, to every block that is not empty."""
        return map_in_threads(self.n_jobs, function, self.blocks())

    def sum(
        self,
        function: Callable[[Block], Result],
        merge: Callable[[Result, Result], Result],
        *,
        with_shift: bool = False,
    ) -> Result:
        """Merge what a function, which can be pickled, returns for every block; rows in memory can have shifts."""
        return reduce(merge, map_in_threads(self.n_jobs, function, self.blocks(with_shift=with_shift)))

    def first_block(self) -> Block:
        """Return some rows, to look at."""
        return next(self.blocks())

    def sample(self, size: int) -> "MemoryRows":
        """Draw about so many rows, the same ones every time and however they are cut into blocks."""
        rng = np.random.default_rng(_SAMPLING_SEED)
        parts = []
        for block in self.blocks():
            kept = np.flatnonzero(rng.random(len(block.y)) < size / self.n_rows)
            parts.append((np.asarray(block.codewords)[kept], block.y[kept], block.weight[kept]))
        codewords, y, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        return MemoryRows(codewords, y, weight / weight.sum(), self.n_classes, self.n_jobs)


class MemoryRows(Rows):
    """Rows in memory, with a smoothing shift per row and class; codewords are not copied."""

    def __init__(
        self, codewords: NDArray[Any], y: Indices, weight: Floats, n_classes: int, n_jobs: int | None = None
    ) -> None:
        super().__init__(n_classes, len(y), n_jobs if len(y) >= _BLOCK_ROWS else 1)
        self.codewords, self.y, self.weight = codewords, y, weight

    @cached_property
    def shift(self) -> NDArray[np.float32]:
        """Smoothing shifts, one per row and class: made when they are first needed."""
        return np.zeros((self.n_rows, self.n_classes), dtype=np.float32)

    def blocks(self, *, with_shift: bool = False) -> Iterator[Block]:
        """Yield spans of rows of about equal length."""
        for part in spans_of(self.n_rows):
            shift = self.shift[part] if with_shift else NO_SHIFT
            yield Block(self.codewords[part], self.y[part], self.weight[part], shift)

    def first_block(self) -> Block:
        """Return all rows, to look at."""
        return Block(self.codewords, self.y, self.weight, NO_SHIFT)


class StreamedRows(Rows):
    """Rows that are read block by block on every pass and are never held together.

    `source` gives (codewords, y, weight or None); weights are multiplied by the class's factor, so that they sum to 1.
    """

    def __init__(self, source: Iterable[Any], factor: Floats, n_rows: int, n_jobs: int | None) -> None:
        super().__init__(len(factor), n_rows, n_jobs)
        self._source, self._factor = source, factor

    def blocks(self, *, with_shift: bool = False) -> Iterator[Block]:  # noqa: ARG002
        """Yield the source's blocks in their order."""
        for codewords, y, weight in labelled_blocks(self._source, self.n_classes):
            yield Block(codewords, y, weight * self._factor[y], NO_SHIFT)


def spans_of(n_rows: int) -> Iterator[slice]:
    """Yield spans of about equal length, of so many rows in all."""
    n_blocks = min(1 + n_rows // _BLOCK_ROWS, _MOST_BLOCKS)
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(int)
    return (slice(first, last) for first, last in pairwise(edges))


def map_in_threads(n_jobs: int | None, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterable[Result]:
    """Apply a function to every item, in threads if there may be more than one job."""
    if effective_n_jobs(n_jobs) == 1:
        return map(function, items)
    threads = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    return threads(delayed(function)(item) for item in items)


def labelled_blocks(source: Iterable[Any], n_classes: int) -> Iterator[tuple[NDArray[Any], Indices, Floats]]:
    """Yield (codewords, y, weight) triples with checked labels and weights."""
    for codewords, y, weight in source:
        yield codewords, *check_rows_and_weights(y, weight, len(codewords), n_classes, is_part=True)


def rows_from_arrays(
    codewords: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    matrix: Floats,
    class_weight: str | None,
    n_jobs: int | None,
) -> MemoryRows:
    """Check arrays of training samples and make rows of them without copying the codewords."""
    x = np.asarray(codewords)
    if x.dtype.kind not in "fiub":
        x = np.asarray(codewords, dtype=np.float64)
    _check_block(x, matrix.shape[1])
    labels, weight = check_rows_and_weights(y, sample_weight, len(x), len(matrix))
    totals = np.bincount(labels, weight, minlength=len(matrix)).astype(np.float64)
    factor = class_factor(totals, class_weight)
    return MemoryRows(x, labels, weight * factor[labels], len(matrix), n_jobs)


def rows_from_blocks(
    source: Iterable[Any], matrix: Floats, class_weight: str | None, n_jobs: int | None
) -> StreamedRows:
    """Check blocks of training samples, in one pass over them, and make rows of them."""
    if iter(source) is source:
        raise ValueError("blocks must be readable more than once, such as a list; got an iterator")
    totals, n_rows = np.zeros(len(matrix)), 0
    for codewords, _, _ in source:
        _check_block(np.asarray(codewords), matrix.shape[1])
    for _, y, weight in labelled_blocks(source, len(matrix)):
        totals += np.bincount(y, weight, minlength=len(matrix))
        n_rows += len(y)
    return StreamedRows(source, class_factor(totals, class_weight), n_rows, n_jobs)


def _check_block(codewords: NDArray[Any], n_columns: int) -> None:
    if codewords.ndim != 2 or codewords.shape[1] != n_columns:
        raise ValueError(f"codewords must have shape (n_samples, {n_columns}), got {codewords.shape}")
    for start in range(0, len(codewords), _BLOCK_ROWS):
        if not np.isfinite(codewords[start : start + _BLOCK_ROWS]).all():
            raise ValueError("codewords must be finite, got NaN or infinity")


def class_factor(totals: Floats, class_weight: str | None) -> Floats:
    """Return what each class's weights are multiplied by so that all sum to 1."""
    missing = np.flatnonzero(totals <= 0)
    if len(missing):
        raise ValueError(
            f"y must hold every row of the matrix with a positive sample weight; got none of {missing.tolist()}"
        )
    if class_weight == "balanced":
        return 1.0 / (len(totals) * totals)
    return np.full(len(totals), 1.0 / totals.sum())


def collapse_rows(rows: Rows, n_columns: int) -> Rows:
    """Return one weighted row per distinct hard codeword (of -1, 0, 1) and class, or the rows if that saves little."""
    looked_at, y = _look_at(rows)
    if not _is_hard(looked_at) or len(np.unique(_patterns(looked_at, y))) > _LARGEST_SHARE * len(y):
        return rows
    found = list(rows.map(_distinct_rows))
    if any(patterns is None for patterns, _ in found):
        return rows
    patterns, weight = _merge([p for p, _ in found if p is not None], [w for _, w in found])
    codewords, y = _unpack(patterns, n_columns)
    return MemoryRows(codewords, y, weight, rows.n_classes, rows.n_jobs)


def has_hard_codewords(rows: Rows) -> bool:
    """Tell whether codewords are of -1, 0 and 1, judged by some rows."""
    return _is_hard(_look_at(rows)[0])


def _look_at(rows: Rows) -> tuple[NDArray[Any], Indices]:
    first = rows.first_block()
    n_rows = min(len(first.y), _ROWS_TO_LOOK_AT, max(64, _OUTPUTS_TO_LOOK_AT // first.codewords.shape[1]))
    spread = np.linspace(0, len(first.y) - 1, n_rows).astype(int)
    return np.asarray(first.codewords)[spread], first.y[spread]


def _is_hard(codewords: NDArray[Any]) -> bool:
    return bool(((codewords == 0) | (np.abs(codewords) == 1)).all())


def _distinct_rows(block: Block) -> tuple[NDArray[np.void] | None, Floats]:
    """Return a block's distinct patterns and their weights, or None if its codewords are not hard."""
    patterns, weights = [], []
    for chunk in block.chunks(0):
        if not _is_hard(chunk.codewords):
            return None, np.zeros(0)
        patterns.append(_patterns(chunk.codewords, chunk.y))
        weights.append(chunk.weight)
    return _merge(patterns, weights)


def _merge(patterns: list[NDArray[np.void]], weights: list[Floats]) -> tuple[NDArray[np.void], Floats]:
    """Return the distinct patterns of several lists and the sums of their weights."""
    distinct, where = np.unique(np.concatenate(patterns), return_inverse=True)
    return distinct, np.bincount(where, np.concatenate(weights)).astype(np.float64)


def _patterns(codewords: NDArray[Any], y: Indices) -> NDArray[np.void]:
    """Pack hard codewords and class indices into one opaque item per row."""
    label = y.astype(np.uint32).view(np.uint8).reshape(-1, _LABEL_BYTES)
    packed = np.hstack([np.packbits(codewords > 0, axis=1), np.packbits(codewords < 0, axis=1), label])
    return np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()


def _unpack(patterns: NDArray[np.void], n_columns: int) -> tuple[Floats, Indices]:
    """Return the codewords and class indices that patterns stand for."""
    packed: NDArray[np.uint8] = patterns.view(np.uint8).reshape(len(patterns), -1)
    width = (n_columns + 7) // 8
    positive = np.unpackbits(packed[:, :width], axis=1, count=n_columns).astype(np.float64)
    negative = np.unpackbits(packed[:, width : 2 * width], axis=1, count=n_columns)
    label = np.ascontiguousarray(packed[:, 2 * width :]).view(np.uint32).ravel()
    return positive - negative, label.astype(np.intp)
