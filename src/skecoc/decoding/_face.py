"""Without a penalty the best weights are a face, not a point: find it, and its point of maximum entropy.

The linear program (eq. 8 of the paper) has a slack per row and a constraint per row and rival. Few of them decide, so
every row is *frozen* first: it counts as the linear function that its hinge is at some reference weights, which bounds
it from below everywhere. Rows that this underrates at the reduced problem's solution are *thawed*: they get a slack
and the constraints of the rivals that matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skecoc.decoding._cuts import lower_bound
from skecoc.decoding._master import ReducedProgram, maximize_entropy, minimize_linear
from skecoc.decoding._newton import minimize_regularized
from skecoc.decoding._rows import Block, Rows, rival_margins
from skecoc.decoding._solution import Problem, Solution
from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: The optimal face is taken as the weights whose mean hinge is within this of the smallest.
FACE_TOLERANCE = 1e-8
# A small penalty leads close to the face.
_APPROACH_PENALTY = 1e-4
_APPROACH_TOLERANCE = 1e-3
_APPROACH_ROUNDS = 100
# A row counts as underrated if its weighted loss is higher by more than this.
_UNDERRATED = 1e-12
_PRICE_TOLERANCE = 1e-7
# By what part of the face's tolerance the hinge may exceed it: the accuracy of the conic solver.
_EXCESS = 0.3


@dataclass
class _Thawed:
    """Rows with a slack each, and the rivals that have a constraint."""

    codewords: Floats
    y: Indices
    weight: Floats
    index: Indices
    constrained: NDArray[np.bool_]

    @classmethod
    def none(cls, space: WeightSpace) -> "_Thawed":
        n_classes, n_columns = space.matrix.shape
        no_index = np.zeros(0, dtype=np.intp)
        return cls(np.zeros((0, n_columns)), no_index, np.zeros(0), no_index, np.zeros((0, n_classes), dtype=bool))

    def add(self, more: "_Thawed") -> None:
        """Append rows."""
        for name in ("codewords", "y", "weight", "index", "constrained"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(more, name)]))

    def best(self, n_rows: int, key: Floats) -> "_Thawed":
        """Return the rows with the largest keys."""
        top = np.argsort(-key, kind="stable")[:n_rows]
        return _Thawed(self.codewords[top], self.y[top], self.weight[top], self.index[top], self.constrained[top])

    def constrain(self, scores: Floats, margin: float) -> int:
        """Give underrated rows a constraint for their worst rival; return how many."""
        z = rival_margins(scores, self.y, margin)
        loss = np.maximum(z.max(axis=1, initial=0.0), 0.0)
        known = np.maximum(np.where(self.constrained, z, 0.0).max(axis=1, initial=0.0), 0.0)
        underrated = np.flatnonzero(self.weight * (loss - known) > _UNDERRATED)
        self.constrained[underrated, z[underrated].argmax(axis=1)] = True
        return len(underrated)


class _FrozenProgram:
    """The linear program with most rows frozen."""

    def __init__(self, problem: Problem, rows: Rows, reference: Floats) -> None:
        self.space, self.margin, self.rows = problem.space, problem.margin, rows
        self._reference_code = (reference * self.space.matrix).T
        self.offset, self.gradient = 0.0, np.zeros_like(self.space.matrix)
        self.thawed = _Thawed.none(self.space)
        self.hinge = self.risk = 0.0
        self.n_rounds = 0
        for _, chunk in self._chunks():
            self._freeze(chunk.codewords, chunk.y, chunk.weight)

    def _chunks(self) -> Iterator[tuple[Indices, Block]]:
        """Yield chunks of rows with their positions among all rows."""
        start = 0
        for block in self.rows.blocks():
            for chunk in block.chunks(self.space.n_classes):
                yield np.arange(start, start + len(chunk.y)), chunk
                start += len(chunk.y)

    def _frozen_rivals(self, codewords: Floats, y: Indices) -> Indices:
        """Return each row's worst rival at the reference weights, or -1 where it costs nothing there."""
        z = rival_margins(codewords @ self._reference_code, y, self.margin)
        return np.where(z.max(axis=1) > 0, z.argmax(axis=1), -1)

    def _freeze(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        """Add rows, as the linear functions that they are at the reference weights."""
        rival = self._frozen_rivals(codewords, y)
        lossy = np.flatnonzero(rival >= 0)
        self.offset += self.margin * float(weight[lossy].sum())
        self.gradient += _slopes(self.space.matrix, codewords[lossy], y[lossy], rival[lossy], weight[lossy])

    def look(self, weights: Floats) -> int:
        """Pass over all rows: sum up hinge and risk, thaw the most underrated rows; return how many changed."""
        code = (weights * self.space.matrix).T
        self.hinge = self.risk = 0.0
        self.n_rounds += 1
        found, excess = _Thawed.none(self.space), np.zeros(0)
        n_new = max(100, self.space.n_weights)
        for index, chunk in self._chunks():
            more, by_how_much = self._underrated(index, chunk, chunk.codewords @ code)
            found.add(more)
            excess = np.concatenate([excess, by_how_much])
            if len(excess) > 10 * n_new:
                found, excess = found.best(n_new, excess), -np.sort(-excess)[:n_new]
        found = found.best(n_new, excess)
        self._freeze(found.codewords, found.y, -found.weight)
        self.thawed.add(found)
        return len(found.y) + self.thawed.constrain(self.thawed.codewords @ code, self.margin)

    def _underrated(self, index: Indices, chunk: Block, scores: Floats) -> tuple[_Thawed, Floats]:
        """Add a chunk's losses; return its underrated frozen rows and by how much they are."""
        z = rival_margins(scores, chunk.y, self.margin)
        worst = z.max(axis=1)
        loss = np.maximum(worst, 0.0)
        self.hinge += float(chunk.weight @ loss)
        self.risk += float(chunk.weight @ np.maximum(worst - self.margin, 0.0))
        rival = self._frozen_rivals(chunk.codewords, chunk.y)
        known = np.where(rival >= 0, z[np.arange(len(rival)), rival], 0.0)
        excess = np.where(np.isin(index, self.thawed.index), 0.0, chunk.weight * (loss - known))
        rows = np.flatnonzero(excess > _UNDERRATED)
        constrained = np.arange(self.space.n_classes) == rival[rows, np.newaxis]
        constrained |= np.arange(self.space.n_classes) == z[rows].argmax(axis=1)[:, np.newaxis]
        underrated = _Thawed(chunk.codewords[rows], chunk.y[rows], chunk.weight[rows], index[rows], constrained)
        return underrated, excess[rows]

    def program(self) -> ReducedProgram:
        """Return the reduced linear program."""
        thawed, space = self.thawed, self.space
        rows, rivals = np.nonzero(thawed.constrained)
        slopes = sparse.csr_array((len(rows), space.n_weights))
        for classes, sign in ((rivals, 1.0), (thawed.y[rows], -1.0)):
            slopes += sign * _class_slopes(space, thawed.codewords[rows], classes)
        return ReducedProgram(space, space.flatten(self.gradient), thawed.weight, rows, slopes, self.margin)

    def cut(self, duals: Floats) -> tuple[float, Floats]:
        """Return offset and gradient of the cut that multipliers of the constraints give, made feasible."""
        thawed = self.thawed
        rows, rivals = np.nonzero(thawed.constrained)
        shares = np.maximum(duals, 0.0)
        totals = np.bincount(rows, shares, minlength=len(thawed.y))
        shares *= np.minimum(1.0, thawed.weight / np.maximum(totals, np.finfo(float).tiny))[rows]
        slopes = _slopes(self.space.matrix, thawed.codewords[rows], thawed.y[rows], rivals, shares)
        return self.offset + self.margin * float(shares.sum()), self.gradient + slopes

    def forbid(self, forbidden: NDArray[np.bool_]) -> None:
        """Hold some weights at zero from now on."""
        self.space = WeightSpace(np.where(forbidden, 0.0, self.space.matrix))


def _slopes(matrix: Floats, codewords: Floats, y: Indices, rivals: Indices, weight: Floats) -> Floats:
    """Return the sum over rows of weight times the derivative of ``t_rival - t_y`` by the weights."""
    every = np.arange(len(y))
    signed = sparse.csr_array(
        (np.concatenate([weight, -weight]), (np.concatenate([rivals, y]), np.concatenate([every, every]))),
        shape=(len(matrix), len(y)),
    )
    return (signed @ codewords) * matrix


def _class_slopes(space: WeightSpace, codewords: Floats, classes: Indices) -> sparse.csr_array:
    """Return the derivative of one class's score per row, by the vector of weights."""
    sizes = np.diff(space.bounds)[classes]
    rows = np.repeat(np.arange(len(classes)), sizes)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = space.bounds[classes][rows] + within
    values = codewords[rows, space.columns[places]] * space.signs[places]
    return sparse.csr_array((values, (rows, places)), shape=(len(classes), space.n_weights))


def maximum_entropy_minimizer(problem: Problem, rows: Rows, start: Floats, max_rounds: int) -> Solution:
    """Minimise the mean hinge without a penalty; of all minimisers, return that of maximum entropy.

    Parameters
    ----------
    problem : Problem
        The problem, with `l2` zero.
    rows : Rows
        Rows whose weights sum to 1.
    start : ndarray of shape (n_classes, n_columns)
        Feasible weights to start from.
    max_rounds : int
        Largest number of passes over all rows.

    Returns
    -------
    Solution
        Weights whose mean hinge exceeds the smallest by about `FACE_TOLERANCE`.
    """
    near = Problem(problem.space, problem.margin, _APPROACH_PENALTY)
    approach = minimize_regularized(near, rows, start, _APPROACH_TOLERANCE, min(max_rounds, _APPROACH_ROUNDS))
    frozen = _FrozenProgram(problem, rows, approach.weights)
    minimum = _minimize_hinge(frozen, approach.weights, max_rounds - approach.n_rounds)
    budget = minimum.hinge + FACE_TOLERANCE
    if budget - minimum.bound < 10 * FACE_TOLERANCE:
        # A weight whose price exceeds its class's lowest is zero on the whole face (complementary slackness).
        lowest = np.where(problem.space.matrix != 0, minimum.prices, np.inf).min(axis=1, keepdims=True)
        frozen.forbid(minimum.prices - lowest > _PRICE_TOLERANCE)
    n_changed = 1
    while n_changed > 0 and approach.n_rounds + frozen.n_rounds < max_rounds:
        weights = maximize_entropy(frozen.program(), budget - frozen.offset)
        n_changed = frozen.look(weights)
        is_within = frozen.hinge <= budget + _EXCESS * FACE_TOLERANCE
        if is_within or (n_changed == 0 and frozen.hinge <= budget + FACE_TOLERANCE):
            minimum = minimum.moved_to(weights, frozen)
            break
    return Solution(
        minimum.weights,
        minimum.hinge,
        minimum.hinge,
        minimum.risk,
        min(minimum.bound, minimum.hinge),
        approach.n_rounds + frozen.n_rounds,
        int(frozen.thawed.constrained.sum()),
    )


@dataclass(frozen=True)
class _Minimum:
    """Weights of small hinge, and a lower bound with the prices of weights that give it."""

    weights: Floats
    hinge: float
    risk: float
    bound: float
    prices: Floats

    def moved_to(self, weights: Floats, frozen: _FrozenProgram) -> "_Minimum":
        """Return the same bound with the weights that were looked at last."""
        return _Minimum(weights, frozen.hinge, frozen.risk, self.bound, self.prices)

    def raised_to(self, bound: float, prices: Floats) -> "_Minimum":
        """Return the same weights with another bound, if that is higher."""
        return _Minimum(self.weights, self.hinge, self.risk, bound, prices) if bound > self.bound else self


def _minimize_hinge(frozen: _FrozenProgram, weights: Floats, max_rounds: int) -> _Minimum:
    """Solve the linear program, thawing rows until none is underrated."""
    frozen.look(weights)
    best = _Minimum(weights, frozen.hinge, frozen.risk, 0.0, np.zeros_like(weights))
    n_changed = 1
    while n_changed > 0 and best.hinge - best.bound > 0.1 * FACE_TOLERANCE and frozen.n_rounds < max_rounds:
        weights, duals = minimize_linear(frozen.program())
        offset, prices = frozen.cut(duals)
        best = best.raised_to(lower_bound(frozen.space, offset, prices, 0.0), prices)
        n_changed = frozen.look(weights)
        if frozen.hinge < best.hinge:
            best = best.moved_to(weights, frozen)
    return best
