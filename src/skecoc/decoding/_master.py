"""The reduced problems. This is the only module that talks to solvers of quadratic and conic programs.

The quadratic one has a small dense Hessian and is solved dozens of times in a fit, for which PIQP is ten times faster
than sparse interior-point solvers; the linear one and the one of maximum entropy are sparse or need exponential cones,
which Clarabel has.
"""

from dataclasses import dataclass

import clarabel
import numpy as np
import piqp
from numpy.typing import NDArray
from scipy import sparse

from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]

_QUADRATIC_ACCURACY = 1e-12
_CONIC_ACCURACY = 1e-11
_CONIC_ITERATIONS = 300


def minimize_quadratic(space: WeightSpace, curvature: Floats, slope: Floats, origin: Floats) -> Floats:
    """Minimise ``slope @ (v - v0) + (v - v0) @ curvature @ (v - v0) / 2`` over the feasible weights.

    Parameters
    ----------
    space : WeightSpace
        The feasible weights.
    curvature : ndarray of shape (n_weights, n_weights)
        Positive definite, lower triangle.
    slope : ndarray of shape (n_weights,)
        Slope at the origin.
    origin : ndarray of shape (n_classes, n_columns)
        The weights v0.

    Returns
    -------
    ndarray of shape (n_classes, n_columns)
        Feasible weights.
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


@dataclass(frozen=True)
class ReducedProgram:
    """Minimise ``gradient @ v + weight @ slack`` over feasible weights v and slacks that are at least zero.

    Attributes
    ----------
    space : WeightSpace
        The feasible weights.
    gradient : ndarray of shape (n_weights,)
        Slope of the rows that have no slack.
    weight : ndarray of shape (n_rows,)
        Weights of the rows that have one.
    pair_rows : ndarray of int of shape (n_pairs,)
        The row of each constraint ``slack[row] >= margin + slopes @ v``.
    slopes : sparse array of shape (n_pairs, n_weights)
        Its slopes.
    margin : float
        Its constant.
    """

    space: WeightSpace
    gradient: Floats
    weight: Floats
    pair_rows: NDArray[np.intp]
    slopes: sparse.csr_array
    margin: float

    @property
    def costs(self) -> Floats:
        """Costs of the variables: weights, then slacks."""
        return np.concatenate([self.gradient, self.weight])

    def cost_scale(self) -> float:
        """Return what costs are multiplied by so that the largest is 1, or 1 if there are none."""
        largest = float(np.abs(self.costs).max())
        return 1.0 / largest if largest > 0 else 1.0

    def inequalities(self) -> tuple[sparse.csr_array, Floats]:
        """Return A and b of ``A @ (v, slack) <= b`` for the pairs and for slacks that are at least zero."""
        n_pairs, n_rows = len(self.pair_rows), len(self.weight)
        slack = sparse.csr_array((-np.ones(n_pairs), (np.arange(n_pairs), self.pair_rows)), shape=(n_pairs, n_rows))
        none = sparse.csr_array((n_rows, self.space.n_weights))
        pairs = sparse.hstack([self.slopes, slack])
        positive = sparse.hstack([none, -sparse.eye_array(n_rows)])
        bounds = np.concatenate([np.full(n_pairs, -self.margin), np.zeros(n_rows)])
        return sparse.csr_array(sparse.vstack([pairs, positive])), bounds


def minimize_linear(program: ReducedProgram) -> tuple[Floats, Floats]:
    """Solve the reduced linear program.

    Returns
    -------
    weights : ndarray of shape (n_classes, n_columns)
        Feasible weights.
    duals : ndarray of shape (n_pairs,)
        Approximate multipliers of the pairs' constraints.
    """
    space, scale = program.space, program.cost_scale()
    inequalities, bounds = program.inequalities()
    simplices = _padded(sparse.csr_array(space.memberships), inequalities.shape[1])
    positive = _padded(-sparse.eye_array(space.n_weights), inequalities.shape[1])
    cones = [clarabel.ZeroConeT(space.n_classes), clarabel.NonnegativeConeT(len(bounds) + space.n_weights)]
    solution = _solve_conic(
        scale * program.costs,
        [simplices, inequalities, positive],
        [np.ones(space.n_classes), bounds, np.zeros(space.n_weights)],
        cones,
    )
    first = space.n_classes
    duals = np.array(solution.z)[first : first + len(program.pair_rows)] / scale
    return space.repair(np.array(solution.x)[: space.n_weights]), duals


def maximize_entropy(program: ReducedProgram, budget: float) -> Floats:
    """Return the weights of maximum entropy whose cost in the reduced linear program is within a budget.

    Parameters
    ----------
    program : ReducedProgram
        The program that says what weights cost.
    budget : float
        The largest cost.

    Returns
    -------
    ndarray of shape (n_classes, n_columns)
        Feasible weights.
    """
    space, scale = program.space, program.cost_scale()
    n_weights = space.n_weights
    inequalities, bounds = program.inequalities()
    n_variables = inequalities.shape[1] + n_weights  # weights, slacks, and each weight's part of the entropy
    within = sparse.csr_array(scale * program.costs[np.newaxis])
    # The exponential cone holds (h, w, 1) if w * exp(h / w) <= 1, so if h <= -w * log(w).
    each = np.arange(n_weights)
    entries = (
        np.tile([-1.0, -1.0], n_weights),
        (np.ravel([3 * each, 3 * each + 1], "F"), _entropy_columns(each, n_variables)),
    )
    cone_rows = sparse.csr_array(entries, shape=(3 * n_weights, n_variables))
    cones = [clarabel.ZeroConeT(space.n_classes), clarabel.NonnegativeConeT(len(bounds) + 1)]
    solution = _solve_conic(
        np.concatenate([np.zeros(n_variables - n_weights), -np.ones(n_weights)]),
        [
            *(_padded(part, n_variables) for part in (sparse.csr_array(space.memberships), inequalities, within)),
            cone_rows,
        ],
        [np.ones(space.n_classes), bounds, np.array([scale * budget]), np.tile([0.0, 0.0, 1.0], n_weights)],
        [*cones, *([clarabel.ExponentialConeT()] * n_weights)],
    )
    return space.repair(np.array(solution.x)[:n_weights])


def _entropy_columns(each: NDArray[np.intp], n_variables: int) -> NDArray[np.intp]:
    """Return, weight by weight, the columns of its part of the entropy and of itself."""
    return np.ravel([n_variables - len(each) + each, each], "F")


def _padded(part: sparse.sparray, n_columns: int) -> sparse.csr_array:
    """Append columns of zeros."""
    return sparse.hstack([part, sparse.csr_array((part.shape[0], n_columns - part.shape[1]))], format="csr")


def _solve_conic(
    costs: Floats, left: list[sparse.sparray], right: list[Floats], cones: list[object]
) -> "clarabel.DefaultSolution":
    """Minimise costs subject to ``right - left @ variables`` in the cones."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = _CONIC_ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _CONIC_ACCURACY
    # The face has next to no interior: with the default line search the solver gives up at an accuracy of 1e-4.
    settings.linesearch_backtrack_step = 0.95
    settings.min_terminate_step_length = 1e-8
    settings.min_switch_step_length = 1e-3
    no_curvature = sparse.csc_matrix((len(costs), len(costs)))
    constraints = sparse.csc_matrix(sparse.vstack(left))
    return clarabel.DefaultSolver(no_curvature, costs, constraints, np.concatenate(right), cones, settings).solve()
