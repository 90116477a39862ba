"""Minimise the regularised hinge by Newton steps on a smoothed problem, with a certificate from the dual.

The smoothed hinge is a cut per row whose rival shares depend on the weights. At given weights two things keep the
objective above the bound that the cut gives: the weights do not minimise the smoothed problem, and the cut lies below
the hinge. While the first is larger a Newton step is taken; otherwise the smoothing is moved around the shares found
(the method of multipliers), which is exact without ever narrowing it, and narrowed where that converges slowly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._cuts import Cut, Smoothing, cut_at, lower_bound
from skecoc.decoding._kinks import Curvature, newton_weights
from skecoc.decoding._master import minimize_quadratic
from skecoc.decoding._rows import MemoryRows, Rows
from skecoc.decoding._solution import Problem, Solution, relative_gap

Floats = NDArray[np.float64]

_FIRST_WIDTH = 0.05
# Few rows, as hard codewords leave, curve the smoothed problem enough only if it is wide.
_FIRST_WIDTH_OF_FEW_ROWS = 0.3
_FEW_ROWS = 10  # per weight
_NARROWING = 0.5
_SMALLEST_WIDTH = 1e-9
# Moving the shares converges fast enough if it leaves less than this part of the loss by smoothing.
_GOOD_MOVE = 0.25
# Beyond so many weights steps are found by conjugate gradients, without writing down the curvature.
_LARGEST_DENSE = 300
# So many row-rival pairs per weight estimate the curvature well; it guides steps and takes no part in any bound.
_CURVATURE_PAIRS = 20
_FIRST_PAIRS = 5  # per row, a guess before the first pass
# Rows are rehearsed on samples of a tenth, as long as those have so many rows per weight.
_SAMPLE_ROWS = 30
_SAMPLE_SHARE = 0.1
_SAMPLE_TOLERANCE = 3e-3
_SUFFICIENT_DECREASE = 0.01
_SMALLEST_STEP = 1e-3


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
        self.n_kinks, self.n_pairs = 0, _FIRST_PAIRS * rows.n_rows

    def ask(self, weights: Floats, width: float, previous_width: float = 0.0) -> _Point:
        """Pass over the rows at some weights."""
        problem = self.problem
        stride = max(1, self.n_pairs // (_CURVATURE_PAIRS * problem.space.n_weights))
        smoothing = Smoothing(width, previous_width, self.is_dense, stride)
        cut = cut_at(self.rows, problem.space, weights, problem.margin, smoothing)
        self.n_rounds += 1
        self.n_kinks, self.n_pairs = cut.n_kinks, cut.n_pairs
        objective = cut.hinge + problem.penalty(weights)
        bound = lower_bound(problem.space, cut.offset, cut.gradient, problem.l2)
        self.bound = max(self.bound, bound)
        if objective < self.objective:
            self.objective, self.best = objective, cut
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
    """Minimise the mean hinge plus a positive penalty.

    Parameters
    ----------
    problem : Problem
        The problem, with positive `l2`.
    rows : Rows
        Rows whose weights sum to 1.
    start : ndarray of shape (n_classes, n_columns)
        Feasible weights to start from.
    tol : float
        Relative gap to reach.
    max_rounds : int
        Largest number of passes over all rows.
    keep_start : bool, default=False
        Whether the solution must be no worse than the start; costs a pass if there are many rows.

    Returns
    -------
    Solution
        The best weights among those that passes were made at.
    """
    search = _Search(problem, rows, tol, max_rounds)
    is_small = rows.n_rows < _FEW_ROWS * problem.space.n_weights
    width, weights = _FIRST_WIDTH_OF_FEW_ROWS if is_small else _FIRST_WIDTH, start
    sizes = _sample_sizes(rows.n_rows, problem.space.n_weights)
    if sizes and keep_start:
        search.ask(start, width)
    for size in sizes:
        rehearsal = _Search(problem, rows.sample(size), max(tol, _SAMPLE_TOLERANCE), max_rounds)
        width = _descend(rehearsal, weights, width)
        weights = rehearsal.best.weights
    if not search.is_over():
        _descend(search, weights, width)
    return search.solution()


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
    now = search.ask(weights, width)
    loss_before, has_moved = np.inf, True
    while not search.is_over() and width > _SMALLEST_WIDTH:
        smoothing_loss = now.cut.smoothing_loss
        further = None
        # Shares that moved say nothing before the weights have answered.
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
        loss_before, has_moved = smoothing_loss, True
        now = search.ask(now.cut.weights, width, previous)
    return width


def _step(search: _Search, now: Cut, width: float) -> _Point | None:
    """Take a Newton step, shortened until the smoothed objective falls; None if it does not."""
    problem = search.problem
    direction = _newton_weights(problem, now) - now.weights
    slope = float((direction * (now.gradient + problem.l2 * now.weights)).sum())
    value = now.smoothed + problem.penalty(now.weights)
    length = 1.0
    while slope < 0.0 and length > _SMALLEST_STEP and search.n_rounds < search.max_rounds:
        then = search.ask(now.weights + length * direction, width)
        rise = then.cut.smoothed + problem.penalty(then.cut.weights) - value
        if rise <= _SUFFICIENT_DECREASE * length * slope or search.is_over():
            return then
        # The minimum of the parabola through both values with the slope at the start, within bounds.
        length *= float(np.clip(-slope * length / (2.0 * (rise - slope * length)), 0.1, 0.5))
    return None


def _newton_weights(problem: Problem, now: Cut) -> Floats:
    """Minimise the second-order model of the smoothed objective over the feasible weights."""
    space = problem.space
    slope = space.flatten(now.gradient + problem.l2 * now.weights)
    if now.kinks is not None:
        curvature = Curvature(space, now.kinks, problem.l2)
        return space.repair(newton_weights(curvature, slope, space.flatten(now.weights)))
    hessian = now.curvature.copy()
    hessian[np.diag_indices_from(hessian)] += problem.l2
    return minimize_quadratic(space, hessian, slope, now.weights)
