"""Minimise the regularised hinge by Newton steps on a smoothed problem, with a certificate from the dual.

At given weights two things keep the objective above the bound of their cut: the weights do not minimise the smoothed
problem, and the cut lies below the hinge. While the first is larger a Newton step is taken; otherwise the smoothing is
moved around the shares found (the method of multipliers), and narrowed where that converges slowly.

A Newton step is a small dense quadratic program, for which PIQP is ten times faster than sparse interior-point solvers.
With many weights the dual is ascended instead (see `ascent`), which needs the rows in memory.
"""

from typing import NamedTuple

import numpy as np
import piqp

from skecoc.decoding.base import Floats
from skecoc.decoding.optimized.ascent import ascend
from skecoc.decoding.optimized.hinge import (
    Cut,
    Problem,
    Smoothing,
    Solution,
    WeightSpace,
    cut_at,
    lower_bound,
    relative_gap,
)
from skecoc.decoding.optimized.training_rows import MemoryRows, Rows

# Beyond so many weights, ascent of the dual is faster than Newton steps.
_NEWTON_WEIGHTS = 300
#: Beyond so many weights, Newton steps take too much memory.
MANY_WEIGHTS = 10_000
# Rows from elsewhere with at most so many outputs are held in memory for ascent.
_MOST_GATHERED = 2**25
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
# So many row-rival pairs per weight estimate the curvature well; it guides steps and takes no part in any bound.
_CURVATURE_PAIRS = 20
_FIRST_PAIRS = 5  # per row, a guess before the first pass
# Rows are rehearsed on samples of a tenth, as long as those have so many rows per weight.
_SAMPLE_ROWS = 30
_SAMPLE_SHARE = 0.1
_SAMPLE_TOLERANCE = 3e-3
_SUFFICIENT_DECREASE = 0.01
_SMALLEST_STEP = 1e-3
_QUADRATIC_ACCURACY = 1e-12


class _Point(NamedTuple):
    """What a pass over the rows tells: its cut, the objective at its weights, and the bound that it proves."""

    cut: Cut
    objective: float
    bound: float


class _Search:
    """The weights found so far, the best bound, and the passes made."""

    def __init__(self, problem: Problem, rows: Rows, tol: float, max_rounds: int) -> None:
        self.problem, self.rows, self.tol, self.max_rounds = problem, rows, tol, max_rounds
        self.objective, self.bound, self.n_rounds = np.inf, 0.0, 0
        self.best: Cut
        self.last_gain = 0  # the last pass that made the gap smaller
        self.n_kinks, self.n_pairs = 0, _FIRST_PAIRS * rows.n_rows

    def evaluate(self, weights: Floats, width: float, previous_width: float = 0.0) -> _Point:
        problem = self.problem
        stride = max(1, self.n_pairs // (_CURVATURE_PAIRS * problem.space.n_weights))
        cut = cut_at(self.rows, problem.space, weights, problem.margin, Smoothing(width, previous_width, stride))
        self.n_rounds += 1
        self.n_kinks, self.n_pairs = cut.n_kinks, cut.n_pairs
        objective = cut.hinge + problem.penalty(weights)
        bound = lower_bound(problem.space, cut.offset, cut.gradient, problem.l2, problem.prior)
        gap = relative_gap(self.objective, self.bound)
        self.bound = max(self.bound, bound)
        if objective < self.objective:
            self.objective, self.best = objective, cut
        if relative_gap(self.objective, self.bound) < _GAIN * gap:
            self.last_gain = self.n_rounds
        return _Point(cut, objective, bound)

    def is_over(self) -> bool:
        return relative_gap(self.objective, self.bound) <= self.tol or self.n_rounds >= self.max_rounds

    def solution(self) -> Solution:
        best = self.best
        bound = min(self.bound, self.objective)
        return Solution(best.weights, self.objective, best.hinge, best.risk, bound, self.n_rounds, self.n_kinks)


def minimize_regularized(
    problem: Problem, rows: Rows, start: Floats, tol: float, max_rounds: int, *, keep_start: bool = False
) -> Solution:
    """Minimise the mean hinge plus a positive penalty, up to a relative gap or a number of passes over all rows.

    With `keep_start` the solution is no worse than the start, which costs a pass if there are many rows.
    """
    n_weights, n_columns = problem.space.n_weights, problem.space.matrix.shape[1]
    search = _Search(problem, rows, tol, max_rounds)
    is_small = rows.n_rows < _FEW_ROWS * n_weights
    width, weights = _FIRST_WIDTH_OF_FEW_ROWS if is_small else _FIRST_WIDTH, start
    if n_weights > _NEWTON_WEIGHTS:
        here = rows if isinstance(rows, MemoryRows) else rows.sample(min(rows.n_rows, _MOST_GATHERED // n_columns))
        if here.n_rows == rows.n_rows or n_weights > MANY_WEIGHTS:
            return ascend(problem, here, start, tol, max_rounds)
        if keep_start:
            search.evaluate(start, width)
        weights = ascend(problem, here, start, max(tol, _SAMPLE_TOLERANCE), max_rounds).weights
    else:
        sizes: list[int] = []  # of samples to rehearse on, smallest first
        size = int(rows.n_rows * _SAMPLE_SHARE)
        while size >= _SAMPLE_ROWS * n_weights:
            sizes.insert(0, size)
            size = int(size * _SAMPLE_SHARE)
        if keep_start and sizes:
            search.evaluate(start, width)
        for size in sizes:
            rehearsal = _Search(problem, rows.sample(size), max(tol, _SAMPLE_TOLERANCE), max_rounds)
            width = _descend(rehearsal, weights, width)
            weights = rehearsal.best.weights
    if not search.is_over():
        _descend(search, weights, width)
    return search.solution()


def _descend(search: _Search, weights: Floats, width: float) -> float:
    """Go from some weights to a small gap; return the last width of the smoothing."""
    can_move = isinstance(search.rows, MemoryRows)
    now = search.evaluate(weights, width)
    loss_before, has_moved, last_widening = np.inf, True, 0
    while not search.is_over() and width > _SMALLEST_WIDTH:
        smoothing_loss = now.cut.smoothing_loss
        further = None
        # Once the shares have moved, the weights follow first: until then the gap is no measure of progress.
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
    hessian = now.curvature.copy()
    hessian[np.diag_indices_from(hessian)] += problem.l2
    gradient = problem.slope(now)
    direction = minimize_quadratic(problem.space, hessian, problem.space.flatten(gradient), now.weights) - now.weights
    slope = float((direction * gradient).sum())
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
