"""Minimise the regularised hinge by Newton steps on a smoothed problem, with a certificate from the dual.

At given weights two things keep the objective above the bound of their cut: the weights do not minimise the smoothed
problem, and the cut lies below the hinge. While the first is larger a Newton step is taken; otherwise the smoothing is
moved around the shares found (the method of multipliers), and narrowed where that converges slowly.

For few weights a Newton step is a small dense quadratic program, for which PIQP is ten times faster than sparse
interior-point solvers. For many, it is found by conjugate gradients, which the blocks of the classes precondition: a
product with the second derivatives is two small matrix products over the rows at a kink. With few rows per weight, or
very many weights, the dual is ascended instead (see `ascent`).
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import piqp
from numpy.typing import NDArray

from skecoc.decoding.base import Floats, Indices
from skecoc.decoding.optimized.ascent import ascend
from skecoc.decoding.optimized.kernels import OWN, RIVAL
from skecoc.decoding.optimized.problem import (
    Cut,
    Kinks,
    Problem,
    Smoothing,
    Solution,
    WeightSpace,
    cut_at,
    relative_gap,
)
from skecoc.decoding.optimized.rows import MemoryRows, RemoteRows, Rows

Flags = NDArray[np.bool_]

_FIRST_WIDTH = 0.05
# Few rows, as hard codewords leave, curve the smoothed problem enough only if it is wide.
_FIRST_WIDTH_OF_FEW_ROWS = 0.3
_FEW_ROWS = 10  # per weight
_NARROWING = 0.5
_SMALLEST_WIDTH = 1e-9
# If steps fail and the gap has not shrunk for so many passes, the smoothing is too narrow: it is made wider again.
_PATIENCE = 40
_GAIN = 0.99
_WIDENING = 16.0
# Moving the shares converges fast enough if it leaves less than this part of the loss by smoothing.
_GOOD_MOVE = 0.25
# Beyond so many weights steps are found by conjugate gradients, without writing down the curvature.
_LARGEST_DENSE = 300
# So many row-rival pairs per weight estimate the curvature well; it guides steps and takes no part in any bound.
_CURVATURE_PAIRS = 20
# Ascent of the dual is slower than Newton steps with more rows per weight than this, and for smaller gaps.
_MANY_ROWS = 100
_TIGHT = 1e-5
_TIGHT_OF_SOME = 1e-3
_SOME_WEIGHTS = 1_000
#: Beyond so many weights, Newton steps take too much memory.
MANY_WEIGHTS = 10_000
# So many outputs of rows from elsewhere are held in memory if weights are many.
_MOST_GATHERED = 2**25
# And so many numbers of rows at a kink, or of a preconditioner.
_MOST_NUMBERS = 2**26
_FIRST_PAIRS = 5  # per row, a guess before the first pass
# Rows are rehearsed on samples of a tenth, as long as those have so many rows per weight.
_SAMPLE_ROWS = 30
_SAMPLE_SHARE = 0.1
_SAMPLE_TOLERANCE = 3e-3
_SUFFICIENT_DECREASE = 0.01
_SMALLEST_STEP = 1e-3
_QUADRATIC_ACCURACY = 1e-12
# Conjugate gradients stop when the step's slope is known to this part of its first value.
_ACCURACY = 0.1
_MOST_STEPS = 200
_MOST_GUESSES = 2
# So many rows per weight of a class estimate its block well enough to precondition.
_BLOCK_ROWS = 10


class _Point(NamedTuple):
    """What a pass over the rows tells: its cut, the objective at its weights, and the bound that it proves."""

    cut: Cut
    objective: float
    bound: float


class _Search:
    """The weights found so far, the best bound, and the passes made."""

    def __init__(self, problem: Problem, rows: Rows, tol: float, max_rounds: int) -> None:
        self.problem, self.rows, self.tol, self.max_rounds = problem, rows, tol, max_rounds
        self.is_dense = problem.space.n_weights <= _LARGEST_DENSE
        self.objective, self.bound, self.n_rounds = np.inf, 0.0, 0
        self.best: Cut
        self.last_gain = 0  # the last pass that made the gap smaller
        self.n_kinks, self.n_pairs = 0, _FIRST_PAIRS * rows.n_rows

    def evaluate(self, weights: Floats, width: float, previous_width: float = 0.0) -> _Point:
        """Pass over the rows at some weights."""
        problem = self.problem
        n_classes, n_columns = problem.space.matrix.shape
        stride = max(1, self.n_pairs // (_CURVATURE_PAIRS * problem.space.n_weights))
        stride = max(stride, self.n_kinks * (n_columns + 5 * n_classes) // _MOST_NUMBERS)
        smoothing = Smoothing(width, previous_width, self.is_dense, stride)
        cut = cut_at(self.rows, problem.space, weights, problem.margin, smoothing)
        self.n_rounds += 1
        self.n_kinks, self.n_pairs = cut.n_kinks, cut.n_pairs
        objective = cut.hinge + problem.penalty(weights)
        bound = problem.lower_bound(cut)
        gap = relative_gap(self.objective, self.bound)
        self.bound = max(self.bound, bound)
        if objective < self.objective:
            self.objective, self.best = objective, cut
        if relative_gap(self.objective, self.bound) < _GAIN * gap:
            self.last_gain = self.n_rounds
        return _Point(cut, objective, bound)

    def is_over(self) -> bool:
        """Tell whether the gap or the number of passes is reached."""
        return relative_gap(self.objective, self.bound) <= self.tol or self.n_rounds >= self.max_rounds

    def solution(self) -> Solution:
        """Return the best weights found."""
        best = self.best
        bound = min(self.bound, self.objective)
        return Solution(best.weights, self.objective, best.hinge, best.risk, bound, self.n_rounds, self.n_kinks)


def minimize_regularized(
    problem: Problem, rows: Rows, start: Floats, tol: float, max_rounds: int, *, keep_start: bool = False
) -> Solution:
    """Minimise the mean hinge plus a positive penalty, up to a relative gap or a number of passes over all rows.

    With `keep_start` the solution is no worse than the start, which costs a pass if there are many rows.
    """
    rows, n_weights = _gathered(rows, problem.space), problem.space.n_weights
    if isinstance(rows, MemoryRows) and _is_for_ascent(rows.n_rows, n_weights, tol):
        return ascend(problem, rows, start, tol, max_rounds)
    search = _Search(problem, rows, tol, max_rounds)
    is_small = rows.n_rows < _FEW_ROWS * n_weights
    width, weights = _FIRST_WIDTH_OF_FEW_ROWS if is_small else _FIRST_WIDTH, start
    sizes = _sample_sizes(rows.n_rows, n_weights)
    if keep_start and (sizes or n_weights > MANY_WEIGHTS):
        search.evaluate(start, width)
    if n_weights > MANY_WEIGHTS:
        few = rows.sample(_MOST_GATHERED // problem.space.matrix.shape[1])
        weights = ascend(problem, few, start, max(tol, _SAMPLE_TOLERANCE), max_rounds).weights
    for size in sizes:
        rehearsal = _Search(problem, rows.sample(size), max(tol, _SAMPLE_TOLERANCE), max_rounds)
        width = _descend(rehearsal, weights, width)
        weights = rehearsal.best.weights
    if not search.is_over():
        _descend(search, weights, width)
    return search.solution()


def _is_for_ascent(n_rows: int, n_weights: int, tol: float) -> bool:
    """Tell whether ascent of the dual is faster than Newton steps: for many weights, and few rows for so many."""
    if n_weights > MANY_WEIGHTS:
        return True
    tightest = _TIGHT if n_weights > _SOME_WEIGHTS else _TIGHT_OF_SOME
    return n_weights > _LARGEST_DENSE and n_rows < _MANY_ROWS * n_weights and tol >= tightest


def _gathered(rows: Rows, space: WeightSpace) -> Rows:
    """Hold rows of other places in memory if weights are many and their codewords take little of it."""
    is_here = isinstance(rows, MemoryRows) or space.n_weights <= MANY_WEIGHTS
    most = min(_MOST_GATHERED // space.matrix.shape[1], rows.most_sampled if isinstance(rows, RemoteRows) else np.inf)
    if is_here or rows.n_rows > most:
        return rows
    found = rows.sample(rows.n_rows)
    return found if found.n_rows == rows.n_rows else rows


def _sample_sizes(n_rows: int, n_weights: int) -> list[int]:
    """Return the sizes of the samples to rehearse on, smallest first; none if rows are few."""
    sizes: list[int] = []
    size = int(n_rows * _SAMPLE_SHARE)
    while size >= _SAMPLE_ROWS * n_weights:
        sizes.insert(0, size)
        size = int(size * _SAMPLE_SHARE)
    return sizes


def _descend(search: _Search, weights: Floats, width: float) -> float:
    """Go from some weights to a small gap; return the last width of the smoothing."""
    can_move = isinstance(search.rows, MemoryRows)
    now = search.evaluate(weights, width)
    loss_before, has_moved, last_widening = np.inf, True, 0
    while not search.is_over() and width > _SMALLEST_WIDTH:
        smoothing_loss = now.cut.smoothing_loss
        further = None
        # Shares that moved say nothing before the weights have followed.
        is_time_to_step = has_moved or now.objective - now.bound > 2.0 * smoothing_loss
        if is_time_to_step:
            further = _step(search, now.cut, width)
        if further is not None:
            now, has_moved = further, False
            continue
        previous = width
        # A step that fails is a sign of too narrow a smoothing already, where shares can move.
        if not can_move or (not is_time_to_step and smoothing_loss > _GOOD_MOVE * loss_before):
            width *= _NARROWING
        elif is_time_to_step and search.n_rounds >= max(last_widening, search.last_gain) + _PATIENCE:
            width, last_widening = width * _WIDENING, search.n_rounds
        loss_before, has_moved = smoothing_loss, True
        now = search.evaluate(now.cut.weights, width, previous)
    return width


def _step(search: _Search, now: Cut, width: float) -> _Point | None:
    """Take a Newton step, shortened until the smoothed objective falls; None if it does not."""
    problem = search.problem
    direction = _newton_weights(problem, now) - now.weights
    slope = float((direction * problem.slope(now)).sum())
    value = now.smoothed + problem.penalty(now.weights)
    length = 1.0
    while slope < 0.0 and length > _SMALLEST_STEP and search.n_rounds < search.max_rounds:
        then = search.evaluate(now.weights + length * direction, width)
        rise = then.cut.smoothed + problem.penalty(then.cut.weights) - value
        if rise <= _SUFFICIENT_DECREASE * length * slope or search.is_over():
            return then
        # The minimum of the parabola through both values with the slope at the start, within bounds.
        length *= float(np.clip(-slope * length / (2.0 * (rise - slope * length)), 0.1, 0.5))
    return None


def _newton_weights(problem: Problem, now: Cut) -> Floats:
    """Minimise the second-order model of the smoothed objective over the feasible weights."""
    space = problem.space
    slope = space.flatten(problem.slope(now))
    if now.kinks is not None:
        curvature = Curvature(space, now.kinks, problem.l2)
        return space.repair(newton_weights(curvature, slope, space.flatten(now.weights)))
    hessian = now.curvature.copy()
    hessian[np.diag_indices_from(hessian)] += problem.l2
    return minimize_quadratic(space, hessian, slope, now.weights)


def minimize_quadratic(space: WeightSpace, curvature: Floats, slope: Floats, origin: Floats) -> Floats:
    """Minimise ``slope @ (v - v0) + (v - v0) @ curvature @ (v - v0) / 2`` over the feasible weights, v0 the origin.

    `curvature` is positive definite, of which the lower triangle is read.
    """
    start = space.flatten(origin)
    hessian = curvature + np.tril(curvature, -1).T
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = _QUADRATIC_ACCURACY
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = _QUADRATIC_ACCURACY
    solver.setup(
        np.asfortranarray(hessian),
        slope - hessian @ start,
        space.memberships,
        np.ones(space.n_classes),
        x_l=np.zeros(len(slope)),
        x_u=np.full(len(slope), np.inf),
    )
    solver.solve()
    return space.repair(np.array(solver.result.x))


class Curvature:
    """The second derivative of the smoothed objective, as an operator on vectors of weights."""

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

    It can be restricted to other free weights than it was made for: it treats new ones one by one.
    """

    def __init__(self, curvature: Curvature, free: Flags) -> None:
        space = curvature.space
        if space.n_classes * np.diff(space.bounds).max() ** 2 > _MOST_NUMBERS:
            free = np.zeros_like(free)  # all weights one by one
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

    Which weights are zero is guessed, and the guess corrected by the signs of the weights and of the slopes found:
    the result is all but feasible, and not quite the best if guesses do not settle.
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
    """Improve the free part of a step that keeps the classes' sums; return it and the slope, less each class's mean."""
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
