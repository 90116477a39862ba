"""Algorithm 2 of the paper: weights without a penalty from cuts, one for all rows in each round.

A cut is the most violated constraint: the sum of the rows' losses for the rivals that are worst at some weights. It is
linear in the weights, so the largest of the cuts found so far bounds the mean loss from below everywhere. Its smallest
value over all feasible weights is a linear program with one slack; its solution by the dual simplex method is a vertex.
A pass over the rows at that vertex gives the next cut. Memory does not grow with the number of rows.
"""

from functools import partial

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from skecoc.decoding.optimized.face import slopes_of
from skecoc.decoding.optimized.problem import Block, Problem, Rows, Solution, WeightSpace, relative_gap
from skecoc.decoding.scoring import Floats, worst_rivals

_SHARP = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def minimize_by_cuts(problem: Problem, rows: Rows, start: Floats, tol: float, max_rounds: int) -> Solution:
    """Add the most violated constraint until it is one of the working set, or by no more than a relative gap above it.

    `max_rounds` is the largest number of constraints.
    """
    space = problem.space
    cuts: list[Floats] = []
    weights, bound, best, objective = start, 0.0, start, np.inf
    while True:
        code = np.ascontiguousarray((weights * space.matrix).T)
        of_block = partial(_cut_block, matrix=space.matrix, code=code, margin=problem.margin)
        hinge, lost, *cut = rows.sum(of_block, np.add)
        if hinge < objective:
            best, objective, risk = weights, hinge, lost
        # A constraint that is in the set already is violated by no more than the slack.
        if relative_gap(objective, bound) <= tol or len(cuts) == max_rounds:
            return Solution(best, objective, objective, risk, min(bound, objective), len(cuts) + 1, len(cuts))
        cuts.append(np.append(cut[0], space.flatten(np.reshape(cut[1:], space.matrix.shape))))
        weights, bound = _solve_reduced(space, cuts)


def _cut_block(block: Block, matrix: Floats, code: Floats, margin: float) -> Floats:
    """Return the mean losses with and without margin, and the constant and the slopes of the former as a function."""
    total = np.zeros(3 + matrix.size)
    for chunk in block.chunks(len(matrix)):
        rivals, leads = worst_rivals(chunk.codewords @ code, chunk.y, margin)
        lossy = np.flatnonzero(leads > 0.0)
        weight, rivals, leads = chunk.weight[lossy], rivals[lossy], leads[lossy]
        gradient = slopes_of(matrix, chunk.codewords[lossy], chunk.y[lossy], rivals, weight)
        total[:3] += weight @ leads, weight @ np.maximum(leads - margin, 0.0), margin * weight.sum()
        total[3:] += gradient.ravel()
    return total


def _solve_reduced(space: WeightSpace, cuts: list[Floats]) -> tuple[Floats, float]:
    """Minimise the largest of the cuts, or zero, over the feasible weights; return weights and the smallest value."""
    n_cuts = len(cuts)
    table = np.array(cuts)
    found = linprog(
        np.append(np.zeros(space.n_weights), 1.0),
        A_ub=np.column_stack([table[:, 1:], -np.ones(n_cuts)]),
        b_ub=-table[:, 0],
        A_eq=sparse.hstack([sparse.csr_array(space.memberships), sparse.csr_array((space.n_classes, 1))]),
        b_eq=np.ones(space.n_classes),
        bounds=(0.0, None),
        method="highs-ds",
        options=_SHARP,
    )
    return space.repair(found.x[:-1]), max(float(found.fun), 0.0)
