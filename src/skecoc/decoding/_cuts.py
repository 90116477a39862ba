"""One pass over the rows: the objective, a bound that is linear in the weights (a cut), and the curvature."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._kernels import add_rows
from skecoc.decoding._kinks import Kinks
from skecoc.decoding._rows import Block, Rows, map_blocks
from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]


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
    size = space.n_weights if smoothing.is_dense else 0

    def add_block(block: Block) -> tuple[Floats, Floats, Floats, list[Kinks]]:
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

    parts = iter(map_blocks(rows, add_block))
    sums, gradient, curvature, kinks = next(parts)
    for more_sums, more_gradient, more_curvature, more_kinks in parts:
        sums += more_sums
        gradient += more_gradient
        curvature += more_curvature
        kinks += more_kinks
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


def lower_bound(space: WeightSpace, offset: float, gradient: Floats, l2: float) -> float:
    """Minimise a cut plus the penalty over all feasible weights, exactly: a lower bound of the objective."""
    if l2 > 0:
        nearest = space.project(-gradient / l2)
        return offset + float((gradient * nearest).sum() + 0.5 * l2 * (nearest**2).sum())
    return offset + float(np.where(space.matrix != 0, gradient, np.inf).min(axis=1).sum())
