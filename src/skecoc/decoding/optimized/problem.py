"""What is minimised: the feasible weights, the objective, and what one pass over the rows proves about it.

A pass at some weights sums up, row by row, a mixture of the linear functions whose largest is the row's hinge: a *cut*,
which bounds the mean hinge from below everywhere and is linear in the weights.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding.base import Floats
from skecoc.decoding.optimized.kernels import add_rows, row_scores
from skecoc.decoding.optimized.rows import Block, Rows, sum_blocks

#: Gaps are relative to the objective, or to this if the objective is smaller.
SMALLEST_OBJECTIVE = 1e-3
# No row adds to the curvature: every so many-th would.
_NEVER = 2**62


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
        """Return the matrix of an all but feasible vector, clipped at zero and with rows that sum to 1."""
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

    def slope(self, cut: "Cut") -> Floats:
        """Return the slope of the smoothed objective at the weights of a cut."""
        return cut.gradient + self.l2 * (cut.weights - self.prior)

    def lower_bound(self, cut: "Cut") -> float:
        """Minimise a cut plus the penalty over all feasible weights, exactly: a lower bound of the objective."""
        return lower_bound(self.space, cut.offset, cut.gradient, self.l2, self.prior)


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

    @property
    def gap(self) -> float:
        """By how much the objective may exceed the optimum, relative to the objective."""
        return relative_gap(self.objective, self.lower_bound)


def relative_gap(objective: float, bound: float) -> float:
    """Return the gap between an objective and a bound, relative to the objective."""
    return max(objective - bound, 0.0) / max(objective, SMALLEST_OBJECTIVE)


class Kinks(NamedTuple):
    """The rows that curve the smoothed hinge: those whose rival shares change with the weights."""

    codewords: Floats  # (n_kinks, n_columns)
    # (n_kinks, n_classes): `kernels.RIVAL` for rivals with a share, `kernels.OWN` for the row's own class if the
    # shares change against it; if there is none, shares sum to 1 and change against each other.
    marks: NDArray[np.uint8]
    factors: Floats  # (n_kinks,): weights of the rows divided by the width of the smoothing


@dataclass(frozen=True)
class Cut:
    """What one pass over the rows says about the weights at which it was made.

    The mean hinge at *any* weights W is at least ``offset + (gradient * W).sum()``.
    """

    weights: Floats
    hinge: float
    risk: float
    smoothed: float
    linear: float
    offset: float
    n_kinks: int
    n_pairs: int
    gradient: Floats
    curvature: Floats
    kinks: Kinks | None

    @property
    def smoothing_loss(self) -> float:
        """By how much the cut lies below the mean hinge at its own weights."""
        return self.hinge - self.linear


@dataclass(frozen=True)
class Smoothing:
    """How a pass smooths the hinge, and how it gives the curvature: as a matrix or by the rows at a kink.

    With a positive `previous_width` the rows' shifts are moved first; only every `stride`-th kink adds curvature.
    """

    width: float
    previous_width: float = 0.0
    is_dense: bool = True
    stride: int = 1


def cut_at(rows: Rows, space: WeightSpace, weights: Floats, margin: float, smoothing: Smoothing) -> Cut:
    """Pass over the rows, whose weights sum to 1, and sum up their smoothed losses, slopes and curvatures."""
    code = np.ascontiguousarray((weights * space.matrix).T)
    of_block = partial(_sum_block, space=space, code=code, margin=margin, smoothing=smoothing)
    sums, gradient, curvature, kinks = sum_blocks(rows, of_block, _merge, with_shift=True)
    hinge, risk, smoothed, linear, offset, n_kinks, n_pairs = sums.tolist()
    all_kinks = None if smoothing.is_dense else Kinks(*(np.concatenate(part) for part in zip(*kinks, strict=True)))
    slope, counts = gradient * space.matrix, (int(n_kinks), int(n_pairs))
    return Cut(weights, hinge, risk, smoothed, linear, offset, *counts, slope, curvature, all_kinks)


_Sums = tuple[Floats, Floats, Floats, list[Kinks]]


def _sum_block(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up losses, slopes and curvatures of one block."""
    if block.draws is not None:
        return _sum_block_exactly(block, space, code, margin, smoothing)
    size = space.n_weights if smoothing.is_dense else 0
    totals = np.zeros(7), np.zeros_like(space.matrix), np.zeros((size, size))
    kinks = [
        _add_chunk(chunk, chunk.codewords @ code, space, margin, smoothing, smoothing.stride, totals)
        for chunk in block.chunks(space.n_classes)
    ]
    return *totals, kinks


def _sum_block_exactly(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up what one block contributes, rounded row by row so that no order of sums changes them.

    A number added to a large one is rounded to a multiple of that one's last digit; after that, sums are exact.
    """
    anchor = _anchor(4.0 * (2.0 + margin))
    steep = _anchor(2.0 * space.n_classes / smoothing.width)
    size = space.n_weights if smoothing.is_dense else 0
    sums, gradient = np.full(7, anchor), np.full_like(space.matrix, anchor)
    sums[5:] = 0.0  # counts are exact as they are
    curvature = np.full((size, size), steep)
    kinks = []
    for chunk in block.chunks(space.n_classes):
        scores = row_scores(chunk.codewords, code)
        _add_chunk(chunk, scores, space, margin, smoothing, _NEVER, (sums, gradient, curvature))
        draws = np.empty(0) if chunk.draws is None else chunk.draws
        drawn = np.flatnonzero(draws < 1.0 / smoothing.stride)
        some = Block(chunk.codewords[drawn], chunk.y[drawn], chunk.weight[drawn] * smoothing.stride, chunk.shift)
        unused = np.zeros(7), np.zeros_like(gradient)
        kinks.append(_add_chunk(some, scores[drawn], space, margin, smoothing, 1, (*unused, curvature)))
    sums[:5] -= anchor
    return sums, gradient - anchor, curvature - steep, kinks


def _add_chunk(
    chunk: Block,
    scores: Floats,
    space: WeightSpace,
    margin: float,
    smoothing: Smoothing,
    stride: int,
    totals: tuple[Floats, Floats, Floats],
) -> Kinks:
    """Add a chunk of rows to sums, gradient and curvature; return its rows at a kink, if the curvature is not dense."""
    n_marked = 0 if smoothing.is_dense else len(chunk.y)
    marks, factors = np.zeros((n_marked, space.n_classes), dtype=np.uint8), np.zeros(n_marked)
    rows = (chunk.codewords, scores, chunk.y, chunk.weight, chunk.shift)
    widths = (margin, smoothing.width, smoothing.previous_width)
    places = (space.bounds, space.columns, space.signs)
    add_rows(*rows, *widths, *places, stride, *totals, marks, factors)
    found = np.flatnonzero(factors)
    return Kinks(chunk.codewords[found], marks[found], factors[found])


def _anchor(bound: float) -> float:
    """Return a number next to which all numbers up to a bound, and their sums, are rounded to the same digit."""
    return float(1.5 * 2.0 ** np.ceil(np.log2(4.0 * bound)))


def _merge(first: _Sums, second: _Sums) -> _Sums:
    """Add the sums of a further block, in place."""
    for total, more in zip(first[:3], second[:3], strict=True):
        np.add(total, more, out=total)
    return first[0], first[1], first[2], first[3] + second[3]


def lower_bound(space: WeightSpace, offset: float, gradient: Floats, l2: float, prior: Floats | float = 0.0) -> float:
    """Minimise a linear bound of the hinge plus the penalty over all feasible weights, exactly."""
    if l2 > 0:
        nearest = space.project(prior - gradient / l2)
        return offset + float((gradient * nearest).sum() + 0.5 * l2 * ((nearest - prior) ** 2).sum())
    return offset + float(np.where(space.matrix != 0, gradient, np.inf).min(axis=1).sum())
