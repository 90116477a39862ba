"""Slow, obvious versions of optimised-weight decoding: the full programs with one slack per row."""

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def scores(codewords, matrix, weights):
    """Score of every class for every row; higher is better."""
    return np.asarray(codewords, dtype=float) @ (weights * matrix).T


def hinge(codewords, y, matrix, weights, margin, sample_weight=None):
    """Weighted mean of ``max(0, max_p (margin + t_p - t_y))``, row by row."""
    total = 0.0
    sample_weight = np.ones(len(y)) if sample_weight is None else sample_weight
    for t, own, w in zip(scores(codewords, matrix, weights), y, sample_weight, strict=True):
        total += w * max([0.0] + [margin + t[p] - t[own] for p in range(len(matrix)) if p != own])
    return total / np.sum(sample_weight)


def objective(codewords, y, matrix, weights, margin, l2, sample_weight=None):
    """The mean hinge plus the penalty."""
    return hinge(codewords, y, matrix, weights, margin, sample_weight) + 0.5 * l2 * (weights**2).sum()


def _constraints(codewords, y, matrix, margin):
    """A and b of ``A @ (W.ravel(), slacks) <= b``: eq. 8 of the paper, all rows and rivals."""
    n_classes, n_columns = matrix.shape
    rows, bounds = [], []
    for i, (x, own) in enumerate(zip(codewords, y, strict=True)):
        for p in range(n_classes):
            if p != own:
                slopes = np.zeros((n_classes, n_columns))
                slopes[p] += matrix[p] * x
                slopes[own] -= matrix[own] * x
                slack = np.zeros(len(y))
                slack[i] = -1.0
                rows.append(np.concatenate([slopes.ravel(), slack]))
                bounds.append(-margin)
    return np.array(rows), np.array(bounds)


def _row_sums(matrix, n_slacks):
    n_classes, n_columns = matrix.shape
    return np.hstack([np.kron(np.eye(n_classes), np.ones(n_columns)), np.zeros((n_classes, n_slacks))])


def smallest_hinge(codewords, y, matrix, margin=0.0, sample_weight=None):
    """Solve the full linear program (eq. 8) by HiGHS; return the smallest mean hinge."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    left, right = _constraints(codewords, y, matrix, margin)
    costs = np.concatenate([np.zeros(matrix.size), weight / weight.sum()])
    upper = np.concatenate([np.abs(matrix).ravel(), np.full(len(y), np.inf)])
    found = linprog(
        costs,
        A_ub=left,
        b_ub=right,
        A_eq=_row_sums(matrix, len(y)),
        b_eq=np.ones(len(matrix)),
        bounds=np.column_stack([np.zeros(len(costs)), upper]),
        method="highs",
    )
    assert found.status == 0
    return found.fun


def vertex_weights(codewords, y, matrix, margin=0.0):
    """Solve the full linear program by the simplex method; return weights at a vertex of the optimal face."""
    left, right = _constraints(codewords, y, matrix, margin)
    costs = np.concatenate([np.zeros(matrix.size), np.full(len(y), 1.0 / len(y))])
    upper = np.concatenate([np.abs(matrix).ravel(), np.full(len(y), np.inf)])
    bounds = np.column_stack([np.zeros(len(costs)), upper])
    sums = _row_sums(matrix, len(y))
    found = linprog(costs, left, right, sums, np.ones(len(matrix)), bounds, method="highs-ds")
    return found.x[: matrix.size].reshape(matrix.shape)


def steepest_on_face(codewords, y, matrix, margin, smallest, slopes):
    """Maximise ``slopes * W`` over all weights whose mean hinge is the smallest one (up to 1e-9), by HiGHS."""
    left, right = _constraints(codewords, y, matrix, margin)
    hinge_costs = np.concatenate([np.zeros(matrix.size), np.full(len(y), 1.0 / len(y))])
    upper = np.concatenate([np.abs(matrix).ravel(), np.full(len(y), np.inf)])
    found = linprog(
        np.concatenate([-slopes.ravel(), np.zeros(len(y))]),
        A_ub=np.vstack([left, hinge_costs]),
        b_ub=np.append(right, smallest + 1e-9),
        A_eq=_row_sums(matrix, len(y)),
        b_eq=np.ones(len(matrix)),
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method="highs",
    )
    assert found.status == 0
    return found.x[: matrix.size].reshape(matrix.shape)


def smallest_objective(codewords, y, matrix, margin, l2, sample_weight=None):
    """Solve the full quadratic program by Clarabel; return the smallest objective and its weights."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    left, right = _constraints(codewords, y, matrix, margin)
    n_variables = matrix.size + len(y)
    zero = np.eye(n_variables)[: matrix.size][matrix.ravel() == 0]
    equal = np.vstack([_row_sums(matrix, len(y)), zero])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(np.concatenate([np.full(matrix.size, l2), np.zeros(len(y))]))),
        np.concatenate([np.zeros(matrix.size), weight / weight.sum()]),
        sparse.csc_matrix(np.vstack([equal, left, -np.eye(n_variables)])),
        np.concatenate([np.ones(len(matrix)), np.zeros(len(zero)), right, np.zeros(n_variables)]),
        [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(len(left) + n_variables)],
        settings,
    ).solve()
    return found.obj_val, np.array(found.x)[: matrix.size].reshape(matrix.shape)


def smoothed_hinge(z, centre, smoothing):
    """Largest ``a @ z - smoothing / 2 * |a - centre|**2`` over shares a, and the shares, by bisection."""
    values = z / smoothing + centre
    low, high = 0.0, max(values.max(), 0.0)
    if np.maximum(values, 0.0).sum() <= 1.0:
        high = 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.maximum(values - middle, 0.0).sum() > 1.0:
            low = middle
        else:
            high = middle
    shares = np.maximum(values - high, 0.0)
    return shares @ z - 0.5 * smoothing * ((shares - centre) ** 2).sum(), shares


def random_problem(seed, n_rows=40, n_classes=4, n_columns=6, *, hard=False, ternary=True, noise=1.0):
    """Codewords that agree with their class's codes more often than not, every class present."""
    rng = np.random.default_rng(seed)
    while True:
        codes = [-1, 0, 1] if ternary else [-1, 1]
        matrix = rng.choice(codes, size=(n_classes, n_columns)).astype(float)
        if matrix.any(axis=1).all() and len(np.unique(matrix, axis=0)) == n_classes:
            break
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    x = np.tanh(0.7 * matrix[y] + noise * rng.normal(size=(n_rows, n_columns)))
    return (np.where(x >= 0, 1, -1).astype(np.int8) if hard else x), y, matrix


def order_ties(scores, second, tolerance):
    """Sort every row, chain close neighbours, and lower each group's best by the second key; plain loops."""
    ordered = np.array(scores, dtype=float)
    for i, row in enumerate(scores):
        key = np.broadcast_to(second, np.shape(scores))[i]
        groups = []
        for p in np.argsort(-row, kind="stable"):
            if groups and row[groups[-1][-1]] - row[p] <= tolerance:
                groups[-1].append(p)
            else:
                groups.append([p])
        for group in groups:
            for p in group if len(group) > 1 else []:
                lowered = (key.max() - key[p]) / (np.ptp(key) or 1.0)
                ordered[i, p] = row[group[0]] - 0.5 * tolerance * lowered
    return ordered
