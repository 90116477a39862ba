"""Algorithm 2 of the paper: weights without a penalty from cuts, one for all rows in each round.

A cut is the most violated constraint: the sum of the rows' losses for the rivals that are worst at some weights. It is
linear in the weights, so the largest of the cuts found so far bounds the mean loss from below everywhere. Its smallest
value over all feasible weights is a linear program with one slack; its solution by the dual simplex method is a vertex.
A pass over the rows at that vertex gives the next cut. Memory does not grow with the number of rows.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from skecoc.decoding.optimized.face import slopes_of
from skecoc.decoding.optimized.problem import Block, Problem, Rows, Solution, WeightSpace, relative_gap
from skecoc.decoding.scoring import Floats, worst_rivals

_SHARP = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


class _Cut(NamedTuple):
    """The mean losses with and without margin at some weights, and the linear function that the former is there."""

    hinge: float
    risk: float
    offset: float
    gradient: Floats

    def plus(self, other: "_Cut") -> "_Cut":
        return _Cut(
            self.hinge + other.hinge,
            self.risk + other.risk,
            self.offset + other.offset,
            self.gradient + other.gradient,
        )


def minimize_by_cuts(problem: Problem, rows: Rows, start: Floats, tol: float, max_rounds: int) -> Solution:
    """Add the most violated constraint until it is one of the working set, or by no more than a relative gap above it.

    `max_rounds` is the largest number of constraints.
    """
    space = problem.space
    cuts: list[_Cut] = []
    weights, bound, best, objective = start, 0.0, start, np.inf
    while True:
        code = np.ascontiguousarray((weights * space.matrix).T)
        of_block = partial(_cut_block, matrix=space.matrix, code=code, margin=problem.margin)
        cut = rows.sum(of_block, _Cut.plus)
        if cut.hinge < objective:
            best, objective, risk = weights, cut.hinge, cut.risk
        # A constraint that is in the set already is violated by no more than the slack.
        if relative_gap(objective, bound) <= tol or len(cuts) == max_rounds:
            return Solution(best, objective, objective, risk, min(bound, objective), len(cuts) + 1, len(cuts))
        cuts.append(cut)
        weights, bound = _solve_reduced(space, cuts)


def _cut_block(block: Block, matrix: Floats, code: Floats, margin: float) -> _Cut:
    total = _Cut(0.0, 0.0, 0.0, np.zeros_like(matrix))
    for chunk in block.chunks(len(matrix)):
        rivals, leads = worst_rivals(chunk.codewords @ code, chunk.y, margin)
        lossy = np.flatnonzero(leads > 0.0)
        weight, rivals, leads = chunk.weight[lossy], rivals[lossy], leads[lossy]
        gradient = slopes_of(matrix, chunk.codewords[lossy], chunk.y[lossy], rivals, weight)
        risk = float(weight @ np.maximum(leads - margin, 0.0))
        total = total.plus(_Cut(float(weight @ leads), risk, margin * float(weight.sum()), gradient))
    return total


def _solve_reduced(space: WeightSpace, cuts: list[_Cut]) -> tuple[Floats, float]:
    """Minimise the largest of the cuts, or zero, over the feasible weights; return weights and the smallest value."""
    n_cuts = len(cuts)
    slopes = np.array([space.flatten(cut.gradient) for cut in cuts])
    found = linprog(
        np.append(np.zeros(space.n_weights), 1.0),
        A_ub=np.column_stack([slopes, -np.ones(n_cuts)]),
        b_ub=[-cut.offset for cut in cuts],
        A_eq=sparse.hstack([sparse.csr_array(space.memberships), sparse.csr_array((space.n_classes, 1))]),
        b_eq=np.ones(space.n_classes),
        bounds=(0.0, None),
        method="highs-ds",
        options=_SHARP,
    )
    return space.repair(found.x[:-1]), max(float(found.fun), 0.0)
