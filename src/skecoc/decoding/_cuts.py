"""One pass over the rows: the objective, a bound that is linear in the weights (a cut), and the curvature."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._kernels import add_rows, row_scores
from skecoc.decoding._kinks import Kinks
from skecoc.decoding._rows import Block, Rows, sum_blocks
from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]

# No row adds to the curvature: every so many-th would.
_NEVER = 2**62


@dataclass(frozen=True)
class Cut:
    """What one pass over the rows says about the weights it was asked at.

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
        """By how much the cut lies below the mean hinge at the weights it was asked at."""
        return self.hinge - self.linear


@dataclass(frozen=True)
class Smoothing:
    """How a pass smooths the hinge, and how it gives the curvature: as a matrix or by the rows at a kink."""

    width: float
    previous_width: float = 0.0
    is_dense: bool = True
    stride: int = 1


def cut_at(rows: Rows, space: WeightSpace, weights: Floats, margin: float, smoothing: Smoothing) -> Cut:
    """Pass over the rows once and sum up their smoothed losses, slopes and curvatures.

    Parameters
    ----------
    rows : Rows
        Rows whose weights sum to 1.
    space : WeightSpace
        The feasible weights.
    weights : ndarray of shape (n_classes, n_columns)
        Feasible weights.
    margin : float
        The margin.
    smoothing : Smoothing
        If its `previous_width` is positive the rows' shifts are moved first.

    Returns
    -------
    Cut
        Means over the rows.
    """
    code = np.ascontiguousarray((weights * space.matrix).T)
    of_block = partial(_sum_block, space=space, code=code, margin=margin, smoothing=smoothing)
    sums, gradient, curvature, kinks = sum_blocks(rows, of_block, _merge)
    hinge, risk, smoothed, linear, offset, n_kinks, n_pairs = sums.tolist()
    return Cut(
        weights,
        hinge,
        risk,
        smoothed,
        linear,
        offset,
        int(n_kinks),
        int(n_pairs),
        gradient * space.matrix,
        curvature,
        None if smoothing.is_dense else Kinks(*(np.concatenate(arrays) for arrays in zip(*kinks, strict=True))),
    )


_Sums = tuple[Floats, Floats, Floats, list[Kinks]]


def _sum_block(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up losses, slopes and curvatures of one block."""
    if block.draws is not None:
        return _sum_block_exactly(block, space, code, margin, smoothing)
    size = space.n_weights if smoothing.is_dense else 0
    sums, gradient = np.zeros(7), np.zeros_like(space.matrix)
    curvature = np.zeros((size, size))
    kinks = []
    for chunk in block.chunks(space.n_classes):
        n_marked = 0 if smoothing.is_dense else len(chunk.y)
        marks, factors = np.zeros((n_marked, space.n_classes), dtype=np.uint8), np.zeros(n_marked)
        add_rows(
            chunk.codewords,
            chunk.codewords @ code,
            chunk.y,
            chunk.weight,
            chunk.shift,
            margin,
            smoothing.width,
            smoothing.previous_width,
            space.bounds,
            space.columns,
            space.signs,
            smoothing.stride,
            sums,
            gradient,
            curvature,
            marks,
            factors,
        )
        found = np.flatnonzero(factors)
        kinks.append(Kinks(chunk.codewords[found], marks[found], factors[found]))
    return sums, gradient, curvature, kinks


def _sum_block_exactly(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up what one block contributes, rounded row by row so that no order of sums changes them.

    A number that is added to a large one is rounded to a multiple of that one's last digit; after that, sums are exact.
    Rows that add to the curvature are chosen by their draws.
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
        places = (space.bounds, space.columns, space.signs)
        widths = (margin, smoothing.width, smoothing.previous_width)
        none = (np.empty((0, 0)), np.empty((0, 0), dtype=np.uint8), np.empty(0))
        rows = (chunk.codewords, scores, chunk.y, chunk.weight, chunk.shift)
        add_rows(*rows, *widths, *places, _NEVER, sums, gradient, *none)
        draws = np.empty(0) if chunk.draws is None else chunk.draws
        drawn = np.flatnonzero(draws < 1.0 / smoothing.stride)
        n_marked = 0 if smoothing.is_dense else len(drawn)
        marks, factors = np.zeros((n_marked, space.n_classes), dtype=np.uint8), np.zeros(n_marked)
        weight = chunk.weight[drawn] * smoothing.stride
        rows = (chunk.codewords[drawn], scores[drawn], chunk.y[drawn], weight, chunk.shift)
        add_rows(*rows, *widths, *places, 1, np.zeros(7), np.zeros_like(gradient), curvature, marks, factors)
        found = np.flatnonzero(factors)
        kinks.append(Kinks(chunk.codewords[drawn[found]], marks[found], factors[found]))
    sums[:5] -= anchor
    return sums, gradient - anchor, curvature - steep, kinks


def _anchor(bound: float) -> float:
    """Return a number next to which all numbers up to a bound, and their sums, are rounded to the same digit."""
    return float(1.5 * 2.0 ** np.ceil(np.log2(4.0 * bound)))


def _merge(first: _Sums, second: _Sums) -> _Sums:
    """Add the sums of a further block, in place."""
    for total, more in zip(first[:3], second[:3], strict=True):
        np.add(total, more, out=total)
    return first[0], first[1], first[2], first[3] + second[3]


def lower_bound(space: WeightSpace, offset: float, gradient: Floats, l2: float) -> float:
    """Minimise a cut plus the penalty over all feasible weights, exactly: a lower bound of the objective."""
    if l2 > 0:
        nearest = space.project(-gradient / l2)
        return offset + float((gradient * nearest).sum() + 0.5 * l2 * (nearest**2).sum())
    return offset + float(np.where(space.matrix != 0, gradient, np.inf).min(axis=1).sum())
