"""Without a penalty the best weights are a face, not a point: find it, and its point of maximum entropy.

The linear program (eq. 8 of the paper) has a slack per row and a constraint per row and rival. Few of them decide, so
every row is *frozen* first: it counts as the linear function that its hinge is at some reference weights, which bounds
it from below everywhere. Rows that this underrates at the reduced problem's solution are *thawed*: they get a slack
and the constraints of the rivals that matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import piqp
from numpy.typing import NDArray
from scipy import sparse

from skecoc.decoding.optimized.newton import minimize_regularized
from skecoc.decoding.optimized.problem import Block, Problem, Rows, Solution, WeightSpace, lower_bound
from skecoc.decoding.scoring import Floats, Indices, worst_rivals

#: The optimal face is taken as the weights whose mean hinge is within this of the smallest.
FACE_TOLERANCE = 1e-8
# A small penalty leads close to the face.
_APPROACH_PENALTY = 1e-4
_APPROACH_TOLERANCE = 1e-3
_APPROACH_ROUNDS = 100
# A row counts as underrated if its weighted loss is higher by more than this.
_UNDERRATED = 1e-12
_PRICE_TOLERANCE = 1e-7
# By what part of the face's tolerance the hinge may exceed it: the accuracy of the solver.
_EXCESS = 0.3
_PROGRAM_ACCURACY = 1e-11
_PROGRAM_ITERATIONS = 100
# Entropy is added to the costs, of which the largest is 1, with these factors in turn.
_ENTROPY_FACTORS = 10.0 ** np.arange(-3, -13, -1)
# The entropy is known to about this when Newton steps end.
_ENTROPY_ACCURACY = 1e-9
_ENTROPY_STEPS = 20
# The entropy goes on as a parabola below this weight: its curvature must be bounded.
_SMALLEST_WEIGHT = 1e-7


def rival_margins(scores: Floats, y: Indices, margin: float) -> Floats:
    """Return ``margin + t_p - t_y`` for every row and rival p, and minus infinity for the row's own class."""
    every = np.arange(len(y))
    z = margin + scores - scores[every, y][:, np.newaxis]
    z[every, y] = -np.inf
    return z


@dataclass(frozen=True)
class ReducedProgram:
    """Minimise ``gradient @ v + weight @ slack`` over feasible weights v and slacks that are at least zero.

    Every pair of a row and a rival is a constraint: ``slack[pair_rows] >= margin + slopes @ v``.
    """

    space: WeightSpace
    gradient: Floats
    weight: Floats
    pair_rows: Indices
    slopes: sparse.csr_array
    margin: float

    @property
    def costs(self) -> Floats:
        """Costs of the variables (weights, then slacks), scaled so that the largest is 1."""
        return self.cost_scale * np.concatenate([self.gradient, self.weight])

    @property
    def cost_scale(self) -> float:
        """What costs are multiplied by; 1 if there are none."""
        largest = max(np.abs(self.gradient).max(initial=0.0), np.abs(self.weight).max(initial=0.0))
        return 1.0 / float(largest) if largest > 0 else 1.0

    def cost_at(self, vector: Floats) -> float:
        """Return the cost of feasible weights with the smallest slacks that they allow, not scaled."""
        slack = np.zeros(len(self.weight))
        np.maximum.at(slack, self.pair_rows, self.margin + self.slopes @ vector)
        return float(self.gradient @ vector + self.weight @ slack)

    def solve(self, costs: Floats, curvature: Floats, accuracy: float) -> Any:
        """Minimise ``costs @ x + (curvature * x**2).sum() / 2`` subject to the constraints; return PIQP's result."""
        n_pairs, n_rows, n_variables = len(self.pair_rows), len(self.weight), len(costs)
        slack = sparse.csr_array((-np.ones(n_pairs), (np.arange(n_pairs), self.pair_rows)), shape=(n_pairs, n_rows))
        no_slack = sparse.csr_array((self.space.n_classes, n_rows))
        solver = piqp.SparseSolver()
        solver.settings.max_iter = _PROGRAM_ITERATIONS
        solver.settings.eps_abs = solver.settings.eps_rel = accuracy
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = accuracy
        solver.setup(
            sparse.csc_matrix(sparse.diags_array(curvature)),
            costs,
            sparse.csc_matrix(sparse.hstack([sparse.csr_array(self.space.memberships), no_slack])),
            np.ones(self.space.n_classes),
            sparse.csc_matrix(sparse.hstack([self.slopes, slack])),
            np.full(n_pairs, -np.inf),
            np.full(n_pairs, -self.margin),
            np.zeros(n_variables),
            np.full(n_variables, np.inf),
        )
        solver.solve()
        return solver.result


def minimize_linear(program: ReducedProgram) -> tuple[Floats, Floats]:
    """Solve the reduced linear program; return feasible weights and approximate multipliers of the pairs."""
    costs = program.costs
    result = program.solve(costs, np.zeros(len(costs)), _PROGRAM_ACCURACY)
    weights = program.space.repair(np.array(result.x)[: program.space.n_weights])
    return weights, np.array(result.z_u) / program.cost_scale


def maximize_entropy(program: ReducedProgram, budget: float) -> Floats:
    """Return the weights of maximum entropy whose cost in the reduced linear program is within a budget.

    Minimisers of the cost less a small multiple of the entropy differ from them by exponentially small amounts only
    (Cominetti & San Martin, 1994), so no program has to be solved over the face itself, which has almost no interior.
    """
    space = program.space
    vector = space.flatten(space.equal())
    for factor in _ENTROPY_FACTORS:
        vector = space.flatten(space.repair(_minimize_less_entropy(program, float(factor), vector)))
        if program.cost_at(vector) <= budget:
            break
    return space.repair(vector)


def _minimize_less_entropy(program: ReducedProgram, factor: float, vector: Floats) -> Floats:
    """Minimise the scaled cost less a multiple of the entropy by Newton steps from some weights."""
    no_slacks = np.zeros(len(program.weight))

    def objective(at: Floats) -> float:
        # The sum of w log w, continued as a parabola below the smallest weight.
        inside, below = np.maximum(at, _SMALLEST_WEIGHT), np.minimum(at - _SMALLEST_WEIGHT, 0.0)
        continued = (np.log(_SMALLEST_WEIGHT) + 1.0) * below + 0.5 * below**2 / _SMALLEST_WEIGHT
        negative_entropy = float((inside * np.log(inside) + continued).sum())
        return program.cost_scale * program.cost_at(at) + factor * negative_entropy

    for _ in range(_ENTROPY_STEPS):
        curvature = 1.0 / np.maximum(vector, _SMALLEST_WEIGHT)
        slope = np.log(np.maximum(vector, _SMALLEST_WEIGHT)) + 1.0 + np.minimum(vector / _SMALLEST_WEIGHT - 1.0, 0.0)
        result = program.solve(
            program.costs + factor * np.concatenate([slope - curvature * vector, no_slacks]),
            factor * np.concatenate([curvature, no_slacks]),
            _PROGRAM_ACCURACY * min(10.0, 100.0 * factor),
        )
        step = np.array(result.x)[: len(vector)] - vector
        if not np.isfinite(step).all():
            break
        value, length = objective(vector), 1.0
        while length > 0.01 and objective(vector + length * step) > value + 1e-13:
            length *= 0.5
        vector = vector + length * step
        if length**2 * float(curvature @ step**2) < _ENTROPY_ACCURACY:
            break
    return vector


class _Thawed(NamedTuple):
    """Rows with a slack each, and the rivals that have a constraint."""

    codewords: Floats
    y: Indices
    weight: Floats
    position: Indices  # among all rows
    constrained: NDArray[np.bool_]

    @classmethod
    def none(cls, space: WeightSpace) -> "_Thawed":
        n_classes, n_columns = space.matrix.shape
        no_index = np.zeros(0, dtype=np.intp)
        return cls(np.zeros((0, n_columns)), no_index, np.zeros(0), no_index, np.zeros((0, n_classes), dtype=bool))

    def joined(self, more: "_Thawed") -> "_Thawed":
        return _Thawed._make(np.concatenate(pair) for pair in zip(self, more, strict=True))

    def best(self, n_rows: int, key: Floats) -> "_Thawed":
        top = np.argsort(-key, kind="stable")[:n_rows]
        return _Thawed._make(part[top] for part in self)


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
        start = 0
        for block in self.rows.blocks():
            for chunk in block.chunks(self.space.n_classes):
                yield np.arange(start, start + len(chunk.y)), chunk
                start += len(chunk.y)

    def _frozen_rivals(self, codewords: Floats, y: Indices) -> Indices:
        """Return each row's worst rival at the reference weights, or -1 where it costs nothing there."""
        rivals, leads = worst_rivals(codewords @ self._reference_code, y, self.margin)
        return np.where(leads > 0, rivals, -1)

    def _freeze(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        """Add rows, as the linear functions that they are at the reference weights."""
        rival = self._frozen_rivals(codewords, y)
        lossy = np.flatnonzero(rival >= 0)
        self.offset += self.margin * float(weight[lossy].sum())
        self.gradient += slopes_of(self.space.matrix, codewords[lossy], y[lossy], rival[lossy], weight[lossy])

    def look(self, weights: Floats) -> int:
        """Pass over all rows: sum up hinge and risk, and thaw the most underrated rows.

        Thawed rows that are underrated get a constraint for their worst rival. Return how many rows changed.
        """
        code = (weights * self.space.matrix).T
        self.hinge = self.risk = 0.0
        self.n_rounds += 1
        found, excess = _Thawed.none(self.space), np.zeros(0)
        n_new = max(100, self.space.n_weights)
        for index, chunk in self._chunks():
            more, by_how_much = self._underrated(index, chunk, chunk.codewords @ code)
            found = found.joined(more)
            excess = np.concatenate([excess, by_how_much])
            if len(excess) > 10 * n_new:
                found, excess = found.best(n_new, excess), -np.sort(-excess)[:n_new]
        found = found.best(n_new, excess)
        self._freeze(found.codewords, found.y, -found.weight)
        self.thawed = thawed = self.thawed.joined(found)
        z = rival_margins(thawed.codewords @ code, thawed.y, self.margin)
        loss = np.maximum(z.max(axis=1, initial=0.0), 0.0)
        known = np.maximum(np.where(thawed.constrained, z, 0.0).max(axis=1, initial=0.0), 0.0)
        underrated = np.flatnonzero(thawed.weight * (loss - known) > _UNDERRATED)
        thawed.constrained[underrated, z[underrated].argmax(axis=1)] = True
        return len(found.y) + len(underrated)

    def _underrated(self, index: Indices, chunk: Block, scores: Floats) -> tuple[_Thawed, Floats]:
        """Add a chunk's losses; return its underrated frozen rows and by how much they are."""
        z = rival_margins(scores, chunk.y, self.margin)
        worst = z.max(axis=1)
        loss = np.maximum(worst, 0.0)
        self.hinge += float(chunk.weight @ loss)
        self.risk += float(chunk.weight @ np.maximum(worst - self.margin, 0.0))
        rival = self._frozen_rivals(chunk.codewords, chunk.y)
        known = np.where(rival >= 0, z[np.arange(len(rival)), rival], 0.0)
        excess = np.where(np.isin(index, self.thawed.position), 0.0, chunk.weight * (loss - known))
        rows = np.flatnonzero(excess > _UNDERRATED)
        constrained = np.arange(self.space.n_classes) == rival[rows, np.newaxis]
        constrained |= np.arange(self.space.n_classes) == z[rows].argmax(axis=1)[:, np.newaxis]
        underrated = _Thawed(chunk.codewords[rows], chunk.y[rows], chunk.weight[rows], index[rows], constrained)
        return underrated, excess[rows]

    def program(self) -> ReducedProgram:
        thawed, space = self.thawed, self.space
        rows, rivals = np.nonzero(thawed.constrained)
        codewords = thawed.codewords[rows]
        slopes = sparse.csr_array((len(rows), space.n_weights))
        for classes, sign in ((rivals, 1.0), (thawed.y[rows], -1.0)):
            # The derivative of one class's score per row by the vector of weights.
            sizes = np.diff(space.bounds)[classes]
            pairs = np.repeat(np.arange(len(classes)), sizes)
            within = np.arange(len(pairs)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            places = space.bounds[classes][pairs] + within
            values = codewords[pairs, space.columns[places]] * space.signs[places]
            slopes += sign * sparse.csr_array((values, (pairs, places)), shape=slopes.shape)
        return ReducedProgram(space, space.flatten(self.gradient), thawed.weight, rows, slopes, self.margin)

    def cut(self, duals: Floats) -> tuple[float, Floats]:
        """Return offset and gradient of the cut that multipliers of the constraints give, made feasible."""
        thawed = self.thawed
        rows, rivals = np.nonzero(thawed.constrained)
        shares = np.maximum(duals, 0.0)
        totals = np.bincount(rows, shares, minlength=len(thawed.y))
        shares *= np.minimum(1.0, thawed.weight / np.maximum(totals, np.finfo(float).tiny))[rows]
        slopes = slopes_of(self.space.matrix, thawed.codewords[rows], thawed.y[rows], rivals, shares)
        return self.offset + self.margin * float(shares.sum()), self.gradient + slopes


def slopes_of(matrix: Floats, codewords: Floats, y: Indices, rivals: Indices, weight: Floats) -> Floats:
    """Return the sum over rows of weight times the derivative of ``t_rival - t_y`` by the weights."""
    every = np.arange(len(y))
    signed = sparse.csr_array(
        (np.concatenate([weight, -weight]), (np.concatenate([rivals, y]), np.concatenate([every, every]))),
        shape=(len(matrix), len(y)),
    )
    return (signed @ codewords) * matrix


def maximum_entropy_minimizer(problem: Problem, rows: Rows, start: Floats, max_rounds: int) -> Solution:
    """Minimise the mean hinge without a penalty, up to about `FACE_TOLERANCE`, by the weights of maximum entropy."""
    near = Problem(problem.space, problem.margin, _APPROACH_PENALTY)
    approach = minimize_regularized(near, rows, start, _APPROACH_TOLERANCE, min(max_rounds, _APPROACH_ROUNDS))
    frozen = _FrozenProgram(problem, rows, approach.weights)
    minimum = _minimize_hinge(frozen, approach.weights, max_rounds - approach.n_rounds)
    budget = minimum.hinge + FACE_TOLERANCE
    if budget - minimum.bound < 10 * FACE_TOLERANCE:
        # A weight whose price exceeds its class's lowest is zero on the whole face (complementary slackness).
        lowest = np.where(problem.space.matrix != 0, minimum.prices, np.inf).min(axis=1, keepdims=True)
        is_zero = minimum.prices - lowest > _PRICE_TOLERANCE
        frozen.space = WeightSpace(np.where(is_zero, 0.0, frozen.space.matrix))
    n_changed = 1
    while n_changed > 0 and approach.n_rounds + frozen.n_rounds < max_rounds:
        weights = maximize_entropy(frozen.program(), budget - frozen.offset)
        n_changed = frozen.look(weights)
        is_within = frozen.hinge <= budget + _EXCESS * FACE_TOLERANCE
        if is_within or (n_changed == 0 and frozen.hinge <= budget + FACE_TOLERANCE):
            minimum = replace(minimum, weights=weights, hinge=frozen.hinge, risk=frozen.risk)
            break
    hinge, bound, n_rounds = minimum.hinge, min(minimum.bound, minimum.hinge), approach.n_rounds + frozen.n_rounds
    n_cuts = int(frozen.thawed.constrained.sum())
    return Solution(minimum.weights, hinge, hinge, minimum.risk, bound, n_rounds, n_cuts)


@dataclass(frozen=True)
class _Minimum:
    """Weights of small hinge, and a lower bound with the prices of weights that give it."""

    weights: Floats
    hinge: float
    risk: float
    bound: float
    prices: Floats


def _minimize_hinge(frozen: _FrozenProgram, weights: Floats, max_rounds: int) -> _Minimum:
    """Solve the linear program, thawing rows until none is underrated."""
    frozen.look(weights)
    best = _Minimum(weights, frozen.hinge, frozen.risk, 0.0, np.zeros_like(weights))
    n_changed = 1
    while n_changed > 0 and best.hinge - best.bound > 0.1 * FACE_TOLERANCE and frozen.n_rounds < max_rounds:
        weights, duals = minimize_linear(frozen.program())
        offset, prices = frozen.cut(duals)
        bound = lower_bound(frozen.space, offset, prices, 0.0)
        if bound > best.bound:
            best = replace(best, bound=bound, prices=prices)
        n_changed = frozen.look(weights)
        if frozen.hinge < best.hinge:
            best = replace(best, weights=weights, hinge=frozen.hinge, risk=frozen.risk)
    return best
