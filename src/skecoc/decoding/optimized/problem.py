"""What is minimised: the feasible weights, the objective, and the training rows that it is a mean over.

Rows are in memory, read block by block, or elsewhere. How they are divided into blocks depends on their number only,
and sums go from the first block to the last, so the number of jobs changes no bit of a result.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from skecoc.decoding.scoring import Floats, Indices, check_rows_and_weights, chunk_slices
from skecoc.support.compiling import kernel

Result = TypeVar("Result")
Item = TypeVar("Item")

#: Gaps are relative to the objective, or to this if the objective is smaller.
SMALLEST_OBJECTIVE = 1e-3
# Blocks have about so many rows, or more if there would be too many blocks. Threads do not pay for smaller ones.
_BLOCK_ROWS = 4_096
_MOST_BLOCKS = 64
_SAMPLING_SEED = 20_120_509
#: The smoothing shifts of rows that have none.
NO_SHIFT = np.zeros((0, 0), dtype=np.float32)
_ROWS_TO_LOOK_AT = 2_000
_OUTPUTS_TO_LOOK_AT = 2**22
# If a larger share of the rows looked at is distinct, merging rows costs more than it saves.
_LARGEST_SHARE = 0.7
_LABEL_BYTES = 4


class WeightSpace:
    """The feasible weights of a code matrix: one simplex per class, without the entries that must be zero.

    Weights are matrices, or vectors that go class after class, each from its entry of `bounds` on; `classes`, `columns`
    and `signs` are the class, the column and the code of every entry.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.n_classes = len(matrix)
        self.classes, self.columns = np.nonzero(matrix)
        self.signs = matrix[self.classes, self.columns]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(self.classes))])
        self.n_weights = len(self.classes)

    @cached_property
    def memberships(self) -> Floats:
        """Which weights belong to each class, as rows of ones, (n_classes, n_weights), in Fortran order."""
        return np.asfortranarray(self.classes == np.arange(self.n_classes)[:, np.newaxis], dtype=np.float64)

    def flatten(self, matrix: Floats) -> Floats:
        """Return a matrix's entries where weights may differ from zero."""
        return matrix[self.classes, self.columns]

    def equal(self) -> Floats:
        """Return equal weights over every class's non-zero codes."""
        used = np.abs(self.matrix)
        return used / used.sum(axis=1, keepdims=True)

    def repair(self, vector: Floats) -> Floats:
        """Return a vector that is feasible up to rounding as a matrix, clipped at zero, with rows that sum to 1."""
        weights = np.zeros_like(self.matrix)
        weights[self.classes, self.columns] = np.maximum(vector, 0.0)
        return weights / weights.sum(axis=1, keepdims=True)

    def project(self, matrix: Floats) -> Floats:
        """Return the feasible weights nearest to any matrix: its rows projected onto their simplices."""
        values = np.where(self.matrix != 0, matrix, -np.inf)
        ordered = -np.sort(-values, axis=1)
        excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, matrix.shape[1] + 1)
        last = (ordered > excess).sum(axis=1) - 1
        return np.maximum(values - excess[np.arange(self.n_classes), last, np.newaxis], 0.0)


@dataclass(frozen=True)
class Problem:
    """Minimise the mean hinge with a margin plus ``l2 / 2`` times the squared distance from given weights."""

    space: WeightSpace
    margin: float
    l2: float
    prior: Floats | float = 0.0  # the given weights; 0 prefers equal ones

    def penalty(self, weights: Floats) -> float:
        """Return the part of the objective that does not depend on rows."""
        return 0.5 * self.l2 * float(((weights - self.prior) ** 2).sum())


@dataclass(frozen=True)
class Solution:
    """Weights, and what is known about them."""

    weights: Floats
    objective: float
    hinge: float
    risk: float
    lower_bound: float
    n_rounds: int
    n_cuts: int


def relative_gap(objective: float, bound: float) -> float:
    """Return by how much an objective may exceed the optimum, given a lower bound, relative to the objective."""
    return max(objective - bound, 0.0) / max(objective, SMALLEST_OBJECTIVE)


def lower_bound(space: WeightSpace, offset: float, gradient: Floats, l2: float, prior: Floats | float = 0.0) -> float:
    """Minimise a linear bound of the hinge plus the penalty over all feasible weights, exactly."""
    if l2 > 0:
        nearest = space.project(prior - gradient / l2)
        return offset + float((gradient * nearest).sum() + 0.5 * l2 * ((nearest - prior) ** 2).sum())
    return offset + float(np.where(space.matrix != 0, gradient, np.inf).min(axis=1).sum())


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

    A subclass defines `blocks` or, for rows that are not on this machine, all other methods.
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
    """Rows in memory, whose codewords are not copied."""

    #: Smoothing shifts, one per row and class, once they are needed.
    shift = NO_SHIFT

    def __init__(
        self, codewords: NDArray[Any], y: Indices, weight: Floats, n_classes: int, n_jobs: int | None = None
    ) -> None:
        super().__init__(n_classes, len(y), n_jobs if len(y) >= _BLOCK_ROWS else 1)
        self.codewords, self.y, self.weight = codewords, y, weight

    def blocks(self, *, with_shift: bool = False) -> Iterator[Block]:
        """Yield spans of rows of about equal length."""
        if with_shift and self.shift is NO_SHIFT:
            self.shift = np.zeros((self.n_rows, self.n_classes), dtype=np.float32)
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
        for codewords, y, given in self._source:
            labels, weight = check_rows_and_weights(y, given, len(codewords), self.n_classes, is_part=True)
            yield Block(codewords, labels, weight * self._factor[labels], NO_SHIFT)


def spans_of(n_rows: int) -> Iterator[slice]:
    """Divide so many rows into spans of about equal length."""
    n_blocks = min(1 + n_rows // _BLOCK_ROWS, _MOST_BLOCKS)
    for first, last in pairwise(np.linspace(0, n_rows, n_blocks + 1).astype(int)):
        yield slice(first, last)


def map_in_threads(n_jobs: int | None, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterable[Result]:
    """Apply a function to every item, in threads if there may be more than one job."""
    if effective_n_jobs(n_jobs) == 1:
        return map(function, items)
    threads = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    return threads(delayed(function)(item) for item in items)


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
    for codewords, y, given in source:
        _check_block(np.asarray(codewords), matrix.shape[1])
        labels, weight = check_rows_and_weights(y, given, len(codewords), len(matrix), is_part=True)
        totals += np.bincount(labels, weight, minlength=len(matrix))
        n_rows += len(labels)
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


def collapse_rows(rows: Rows, n_columns: int) -> tuple[Rows, bool]:
    """Merge identical rows with hard codewords, of -1, 0 and 1; return the rows as they are if that saves little.

    Also tell whether codewords are hard, judged by some rows.
    """
    first = rows.first_block()
    n_looked_at = min(len(first.y), _ROWS_TO_LOOK_AT, max(64, _OUTPUTS_TO_LOOK_AT // n_columns))
    spread = np.linspace(0, len(first.y) - 1, n_looked_at).astype(int)
    some, y = np.asarray(first.codewords)[spread], first.y[spread]
    is_hard = _is_hard(some)
    if not is_hard or len(np.unique(_patterns(some, y))) > _LARGEST_SHARE * len(y):
        return rows, is_hard
    found = list(rows.map(_distinct_rows))
    if any(patterns is None for patterns, _ in found):
        return rows, is_hard
    patterns, weight = _merge([p for p, _ in found if p is not None], [w for _, w in found])
    packed: NDArray[np.uint8] = patterns.view(np.uint8).reshape(len(patterns), -1)
    width = (n_columns + 7) // 8
    positive = np.unpackbits(packed[:, :width], axis=1, count=n_columns).astype(np.float64)
    negative = np.unpackbits(packed[:, width : 2 * width], axis=1, count=n_columns)
    label = np.ascontiguousarray(packed[:, 2 * width :]).view(np.uint32).ravel()
    return MemoryRows(positive - negative, label.astype(np.intp), weight, rows.n_classes, rows.n_jobs), is_hard


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


@kernel
def row_scores(codewords: Floats, code: Floats) -> Floats:
    """Multiply each row by a matrix in an order that, unlike a library's, never changes with the number of rows."""
    scores = np.zeros((len(codewords), code.shape[1]))
    for i in range(len(codewords)):
        for q in range(len(code)):
            x = codewords[i, q]
            for p in range(code.shape[1]):
                scores[i, p] += x * code[q, p]
    return scores
