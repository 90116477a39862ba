"""The curvature of many weights as the few rows that cause it: products with it, and Newton steps by these.

A smoothed hinge curves only where a row's rival shares change with the weights: at its kinks. With many classes the
matrix of second derivatives is large, but its product with a direction is two small matrix products over these rows.
Newton steps are then found by conjugate gradients, which the blocks of the classes precondition.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

#: How a row marks the classes that its curvature concerns.
RIVAL, OWN = 1, 2

# Conjugate gradients stop when the step's slope is known to this part of its first value.
_ACCURACY = 0.1
_MOST_STEPS = 200
_MOST_GUESSES = 2
# So many rows per weight of a class estimate its block well enough to precondition.
_BLOCK_ROWS = 10


class Kinks(NamedTuple):
    """Rows at a kink.

    Attributes
    ----------
    codewords : ndarray of shape (n_kinks, n_columns)
        Their codewords.
    marks : ndarray of uint8 of shape (n_kinks, n_classes)
        `RIVAL` for rivals with a share, `OWN` for the row's own class if the shares change against it; if there is
        none, shares sum to 1 and change against each other.
    factors : ndarray of shape (n_kinks,)
        Weights of the rows divided by the width of the smoothing.
    """

    codewords: Floats
    marks: NDArray[np.uint8]
    factors: Floats


class Curvature:
    """The second derivative of the smoothed objective, as an operator on vectors of weights.

    Parameters
    ----------
    space : WeightSpace
        The feasible weights.
    kinks : Kinks
        The rows that curve it.
    l2 : float
        The penalty.
    """

    def __init__(self, space: WeightSpace, kinks: Kinks, l2: float) -> None:
        self.space, self.l2 = space, l2
        self._codewords, self._factors = kinks.codewords, kinks.factors[:, np.newaxis]
        self._rivals = (kinks.marks == RIVAL).astype(np.float64)
        self._own = (kinks.marks == OWN).astype(np.float64)
        self._level = self._own.copy()  # what a rival's score is compared with
        full = ~self._own.any(axis=1)
        n_rivals = self._rivals.sum(axis=1, keepdims=True)
        self._level[full] = self._rivals[full] / n_rivals[full]
        # The second derivative by the score of one class.
        self._of_class = self._factors * (self._rivals * (1.0 - self._rivals * self._level) + self._own * n_rivals)

    def times(self, vector: Floats) -> Floats:
        """Return the product with a vector of weights."""
        space = self.space
        code = np.zeros_like(space.matrix)
        code[space.classes, space.columns] = vector * space.signs
        scores = self._codewords @ code.T
        scores -= np.einsum("ij,ij->i", scores, self._level)[:, np.newaxis]
        scores *= self._rivals
        scores *= self._factors
        scores -= self._own * scores.sum(axis=1, keepdims=True)
        return space.signs * (scores.T @ self._codewords)[space.classes, space.columns] + self.l2 * vector

    def block(self, group: int, chosen: Indices) -> Floats:
        """Estimate its block of some weights of one class from a few rows per weight."""
        rows = np.flatnonzero(self._of_class[:, group])
        stride = max(1, len(rows) // (_BLOCK_ROWS * len(chosen)))
        rows = rows[::stride]
        part = self._codewords[np.ix_(rows, self.space.columns[chosen])] * self.space.signs[chosen]
        block: Floats = part.T @ (part * (stride * self._of_class[rows, group, np.newaxis]))
        block[np.diag_indices_from(block)] += self.l2
        return block

    def diagonal(self) -> Floats:
        """Return its diagonal."""
        return (self._of_class.T @ self._codewords**2)[self.space.classes, self.space.columns] + self.l2


class _Preconditioner:
    """Solves for steps of the free weights, class by class, that keep the classes' sums.

    It is made for some free weights and can then be restricted to others, of which it treats those it was not made for
    one by one: from guess to guess few change.
    """

    def __init__(self, curvature: Curvature, free: Flags) -> None:
        space = curvature.space
        members = [first + np.flatnonzero(free[first:last]) for first, last in pairwise(space.bounds)]
        self._classes = space.classes
        self._known = np.concatenate(members)
        sizes = np.array([len(chosen) for chosen in members])
        self._place = (np.repeat(np.arange(len(sizes)), sizes), np.concatenate([np.arange(size) for size in sizes]))
        self._inverses = np.zeros((len(sizes), sizes.max(), sizes.max()))
        for group, chosen in enumerate(members):
            self._inverses[group, : len(chosen), : len(chosen)] = np.linalg.inv(curvature.block(group, chosen))
        self._one_by_one = 1.0 / curvature.diagonal()
        self._one_by_one[self._known] = 0.0

    def restrict(self, free: Flags) -> None:
        """Solve for these weights from now on."""
        self.free = free
        self._ones = self._solve_blocks(np.ones(len(free)))
        self._totals = np.bincount(self._classes, self._ones)

    def solve(self, residual: Floats) -> Floats:
        """Return the step of a right side."""
        solved = self._solve_blocks(residual)
        prices = np.bincount(self._classes, solved) / self._totals
        return solved - prices[self._classes] * self._ones

    def _solve_blocks(self, right: Floats) -> Floats:
        """Solve without regard to sums."""
        right = right * self.free
        padded = np.zeros((*self._inverses.shape[:2], 1))
        padded[*self._place, 0] = right[self._known]
        solved = self._one_by_one * right
        solved[self._known] = np.matmul(self._inverses, padded)[*self._place, 0]
        return solved * self.free


def newton_weights(curvature: Curvature, slope: Floats, origin: Floats) -> Floats:
    """Minimise ``slope @ d + d @ curvature @ d / 2`` over steps d from the origin to feasible weights.

    Which weights are zero is guessed, and the guess corrected by the signs of the weights and of the slopes found.

    Parameters
    ----------
    curvature : Curvature
        The second derivative.
    slope : ndarray of shape (n_weights,)
        Slope at the origin.
    origin : ndarray of shape (n_weights,)
        Feasible weights.

    Returns
    -------
    ndarray of shape (n_weights,)
        All but feasible weights; not quite the best ones if guesses do not settle.
    """
    space = curvature.space
    free = (origin > 0.0) | (_against_mean(space, slope, origin > 0.0) < 0.0)
    preconditioner = _Preconditioner(curvature, free)
    step = np.zeros_like(origin)
    for _ in range(_MOST_GUESSES):
        step = _with_sums_kept(space, np.where(free, step, -origin), free)
        preconditioner.restrict(free)
        step, rest = _conjugate_gradients(curvature, preconditioner, step, slope + curvature.times(step))
        weights = origin + step
        tolerance = np.abs(rest[free]).max()  # what conjugate gradients have left
        guess = np.where(free, weights > 0.0, rest < -tolerance)
        if (guess == free).all():
            break
        free = guess
    return weights


def _against_mean(space: WeightSpace, slope: Floats, free: Flags) -> Floats:
    """Return slopes less the mean slope of the free weights of the same class: what a change pays that keeps sums."""
    counts = np.bincount(space.classes, free, minlength=space.n_classes)
    sums = np.bincount(space.classes, slope * free, minlength=space.n_classes)
    return slope - (sums / np.maximum(counts, 1.0))[space.classes]


def _with_sums_kept(space: WeightSpace, step: Floats, free: Flags) -> Floats:
    """Shift the free weights so that the step changes no class's sum."""
    counts = np.bincount(space.classes, free, minlength=space.n_classes)
    excess = np.bincount(space.classes, step, minlength=space.n_classes) / np.maximum(counts, 1.0)
    return step - np.where(free, excess[space.classes], 0.0)


def _conjugate_gradients(
    curvature: Curvature, preconditioner: _Preconditioner, step: Floats, rest: Floats
) -> tuple[Floats, Floats]:
    """Improve the free part of a step by preconditioned conjugate gradients.

    Parameters
    ----------
    curvature : Curvature
        The second derivative.
    preconditioner : _Preconditioner
        Restricted to the free weights.
    step : ndarray of shape (n_weights,)
        A step that keeps the classes' sums.
    rest : ndarray of shape (n_weights,)
        The slope there.

    Returns
    -------
    step : ndarray of shape (n_weights,)
        A better step.
    rest : ndarray of shape (n_weights,)
        The slope there, against the mean of each class's free weights.
    """
    space, free = curvature.space, preconditioner.free
    rest = _against_mean(space, rest, free)
    solved = preconditioner.solve(rest)
    size = first = float(rest @ solved)
    direction = -solved
    for _ in range(_MOST_STEPS):
        if size <= _ACCURACY**2 * first or size <= 0.0:
            break
        product = curvature.times(direction)
        length = size / float(direction @ product)
        step = step + length * direction
        # Only in exact arithmetic are steps blind to the mean.
        rest = _against_mean(space, rest + length * product, free)
        solved = preconditioner.solve(rest)
        previous, size = size, float(rest @ solved)
        direction = size / previous * direction - solved
    return step, rest
