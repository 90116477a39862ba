"""The dual of the binary support vector machine, solved for a whole path of penalties on a dense kernel matrix.

With ``s_i`` = +1 or -1 the label of row i and ``c_i`` its cap, the dual in the signed coefficients ``b`` is

    maximise  sum_i s_i b_i - 1/2 b' K b   subject to  sum_i b_i = 0,  0 <= s_i b_i <= c_i

and ``e = s - K b``, the residual, is its gradient. Two kinds of step take turns: *pair steps*, sequential minimal
optimisation as in libsvm, find out quickly which coefficients are zero or capped, but need very many steps to settle
the others when caps are large; *free steps* are Newton's on these others, and take a coefficient that reaches its bound
out of the inverse of their kernel matrix. Both increase the objective, and the violation of the optimality conditions
over all rows decides when to stop. While few rows matter, the steps are taken on these alone.

BLAS would do most of the array work, but it shares even small products out to threads, which then get in each other's
way when an ensemble trains its columns in threads too. And inverses are needed that can give up one row at a time.
"""

import numpy as np
from numpy.typing import NDArray

from skecoc.data.codes import Floats, Integers
from skecoc.support.compiling import kernel

#: Added to the diagonal of a kernel matrix before it is inverted; near-duplicate rows make it singular.
RIDGE = 1e-10
#: Least squared distance in feature space that a pair step divides by; zero for duplicates with opposite labels.
SMALLEST_CURVATURE = 1e-12
#: Pair steps on n rows that take as long as one free step on m coefficients, divided by m^3 / n (measured).
FREE_STEP_COST = 0.03
#: Free steps are not taken on more coefficients than this, which need 72 MB.
MOST_FREE = 3000
#: Pair steps on a set of rows are given up after this many times the number of its rows.
PAIR_STEPS_PER_ROW = 20_000
#: At least this many rows of both kinds, to be raised and to be lowered, are worked on at a time.
FEWEST_WORKING = 128
#: Rows are worked on until their violation is this much of that of all rows.
WORKING_TOLERANCE = 0.1
#: Rows to work on are chosen anew at most this often.
MAX_ROUNDS = 1000


@kernel
def submatrix(matrix: Floats, rows: Integers, columns: Integers) -> Floats:
    """Copy some rows and columns of a matrix, several times as fast as indexing and without the GIL."""
    block = np.empty((len(rows), len(columns)))
    for i in range(len(rows)):
        row = matrix[rows[i]]
        for j in range(len(columns)):
            block[i, j] = row[columns[j]]
    return block


@kernel
def subtract(vector: Floats, factor: float, other: Floats) -> None:
    """Subtract a multiple of another vector, in place."""
    for i in range(len(vector)):
        vector[i] -= factor * other[i]


@kernel
def margins_on(kernel: Floats, coefficients: Floats, intercepts: Floats) -> Floats:
    """Compute ``coefficients @ kernel + intercepts[:, None]``, but equal solutions of a path only once."""
    margins = np.empty((len(coefficients), kernel.shape[1]))
    for k in range(len(coefficients)):
        if k > 0 and np.array_equal(coefficients[k], coefficients[k - 1]):
            margins[k] = margins[k - 1]
            continue
        margins[k] = intercepts[k]
        for i in range(len(kernel)):
            if coefficients[k, i] != 0.0:
                subtract(margins[k], -coefficients[k, i], kernel[i])
    return margins


@kernel
def negative_inverse(kernel: Floats, free: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Invert the free rows' kernel matrix by sweeping; rows that depend on earlier ones are left out."""
    n_free = len(free)
    tableau = submatrix(kernel, free, free)
    for i in range(n_free):
        tableau[i, i] += RIDGE
    independent = np.zeros(n_free, dtype=np.bool_)
    column = np.empty(n_free)
    for i in range(n_free):
        if tableau[i, i] > 4.0 * RIDGE:  # a duplicate of an earlier row would leave twice the ridge
            sweep(tableau, i, 1.0, column)
            independent[i] = True
    return tableau, independent


@kernel
def apply_inverse(tableau: Floats, swept: NDArray[np.bool_], vector: Floats) -> tuple[Floats, Floats]:
    """Multiply the inverse on the swept entries by a vector and by ones."""
    n = len(vector)
    product, sums = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if swept[i] and swept[j]:
                entry = tableau[i, j] if j <= i else tableau[j, i]
                product[i] -= entry * vector[j]
                sums[i] -= entry
    return product, sums


@kernel
def sweep(tableau: Floats, pivot: int, sign: float, column: Floats) -> None:
    """Sweep a symmetric matrix, of which the lower triangle is kept, on one pivot (sign=1), or undo it (sign=-1).

    Sweeping all pivots of A leaves minus its inverse. `column` receives the pivot's column as it was before.
    """
    n = len(tableau)
    for j in range(pivot + 1):
        column[j] = tableau[pivot, j]
    for i in range(pivot + 1, n):
        column[i] = tableau[i, pivot]
    divisor = column[pivot]
    for i in range(n):
        if i != pivot:
            subtract(tableau[i, : i + 1], column[i] / divisor, column)
    for j in range(pivot):
        tableau[pivot, j] = sign * column[j] / divisor
    for i in range(pivot + 1, n):
        tableau[i, pivot] = sign * column[i] / divisor
    tableau[pivot, pivot] = -1.0 / divisor


@kernel
def solve_path(
    kernel: Floats, signs: Floats, weight: Floats, penalties: Floats, tol: float
) -> tuple[Floats, Floats, bool]:
    """Solve the dual for ascending penalties, each from the solution of the one before, to libsvm's tolerance `tol`.

    Row i's cap is ``penalty * weight[i]``. Returns signed coefficients (n_penalties, n_rows), intercepts, and whether
    the tolerance was reached for every penalty.
    """
    n_rows = len(signs)
    coefficients = np.empty((len(penalties), n_rows))
    intercepts = np.empty(len(penalties))
    coefficient = np.zeros(n_rows)
    residual = signs.copy()
    lower = np.zeros(n_rows)
    upper = np.zeros(n_rows)
    converged = True
    capped = True
    for k in range(len(penalties)):
        # A solution that no cap holds back is the solution for every larger penalty too.
        if capped:
            if k > 0:
                # All coefficients are stretched: the capped ones, usually the most, then stay at their caps.
                factor = penalties[k] / penalties[k - 1]
                coefficient *= factor
                for i in range(n_rows):
                    residual[i] = signs[i] - factor * (signs[i] - residual[i])
            for i in range(n_rows):
                cap = penalties[k] * weight[i]
                lower[i] = min(signs[i], 0.0) * cap
                upper[i] = max(signs[i], 0.0) * cap
                coefficient[i] = min(max(coefficient[i], lower[i]), upper[i])
            converged &= _solve(kernel, coefficient, residual, lower, upper, tol)
            capped = bool((coefficient == np.where(signs > 0.0, upper, lower)).any())
        coefficients[k] = coefficient
        intercepts[k] = _intercept(coefficient, residual, lower, upper)
    return coefficients, intercepts, converged


@kernel
def _intercept(coefficient: Floats, residual: Floats, lower: Floats, upper: Floats) -> float:
    """Average the residuals of the free rows; without any, take the middle of what the conditions allow."""
    free = _free_rows(coefficient, lower, upper)
    if len(free) > 0:
        return residual[free].mean()
    top, bottom = _extremes(coefficient, residual, lower, upper)
    return (top + bottom) / 2.0


@kernel
def _extremes(coefficient: Floats, residual: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """Give the largest residual of those that can rise and the smallest of those that can fall."""
    top, bottom = -np.inf, np.inf
    for i in range(len(residual)):
        if coefficient[i] < upper[i]:
            top = max(top, residual[i])
        if coefficient[i] > lower[i]:
            bottom = min(bottom, residual[i])
    return top, bottom


@kernel
def _free_rows(coefficient: Floats, lower: Floats, upper: Floats) -> Integers:
    return np.flatnonzero((lower < coefficient) & (coefficient < upper))


@kernel
def _solve(kernel: Floats, coefficient: Floats, residual: Floats, lower: Floats, upper: Floats, tol: float) -> bool:
    """Solve the dual for one penalty, in place; return whether the tolerance was reached."""
    for _ in range(MAX_ROUNDS):
        working, violation = _working_rows(coefficient, residual, lower, upper)
        if violation < tol:
            return True
        wanted = max(tol, WORKING_TOLERANCE * violation)
        if 2 * len(working) > len(residual):
            reached = _solve_dense(kernel, coefficient, residual, lower, upper, wanted)
        else:
            value, slope = coefficient[working], residual[working]
            part = submatrix(kernel, working, working)
            reached = _solve_dense(part, value, slope, lower[working], upper[working], wanted)
            _move(kernel, coefficient, residual, working, value)
        if not reached:
            return False
    return False


@kernel
def _working_rows(coefficient: Floats, residual: Floats, lower: Floats, upper: Floats) -> tuple[Integers, float]:
    """Choose the free rows and those that violate the conditions most; return them and the largest violation."""
    n_rows = len(residual)
    free = _free_rows(coefficient, lower, upper)
    top, bottom = _extremes(coefficient, residual, lower, upper)
    most = max(FEWEST_WORKING, len(free))
    chosen = np.zeros(n_rows, dtype=np.bool_)
    for i in free:
        chosen[i] = True
    order = np.argsort(residual)
    n_falling, n_rising = 0, 0
    for k in range(n_rows):
        i = order[k]
        if n_falling == most or residual[i] >= top:
            break
        if coefficient[i] > lower[i]:
            chosen[i] = True
            n_falling += 1
    for k in range(n_rows - 1, -1, -1):
        i = order[k]
        if n_rising == most or residual[i] <= bottom:
            break
        if coefficient[i] < upper[i]:
            chosen[i] = True
            n_rising += 1
    return np.flatnonzero(chosen), top - bottom


@kernel
def _move(kernel: Floats, coefficient: Floats, residual: Floats, rows: Integers, value: Floats) -> None:
    """Give some rows new coefficients, and all rows the residuals that follow."""
    for k in range(len(rows)):
        change = value[k] - coefficient[rows[k]]
        if change != 0.0:
            coefficient[rows[k]] = value[k]
            subtract(residual, change, kernel[rows[k]])


@kernel
def _solve_dense(
    kernel: Floats, coefficient: Floats, residual: Floats, lower: Floats, upper: Floats, tol: float
) -> bool:
    """Take pair steps and free steps in turn, in place; return whether the tolerance was reached."""
    n_rows = len(residual)
    left = PAIR_STEPS_PER_ROW * n_rows
    since_free_step = 0
    wanted = n_rows
    while left > 0:
        done, violation = _pair_steps(kernel, coefficient, residual, lower, upper, tol, min(wanted, left))
        if violation < tol:
            return True
        left -= done
        since_free_step += done
        n_free = len(_free_rows(coefficient, lower, upper))
        # Spend as much time on pair steps as on free steps: then neither costs more than twice what it would alone.
        wanted = max(n_rows, int(FREE_STEP_COST * n_free**3 / n_rows)) - since_free_step
        if wanted <= 0:
            if n_free <= MOST_FREE:
                _free_step(kernel, coefficient, residual, lower, upper)
            since_free_step = 0
            wanted = n_rows
    return False


@kernel
def _pair_steps(
    kernel: Floats, coefficient: Floats, residual: Floats, lower: Floats, upper: Floats, tol: float, max_steps: int
) -> tuple[int, float]:
    """Raise one coefficient and lower another by as much, up to `max_steps` times; return steps and violation."""
    n_rows = len(residual)
    raised, top = -1, -np.inf
    for t in range(n_rows):
        if residual[t] > top and coefficient[t] < upper[t]:
            raised, top = t, residual[t]
    for step in range(max_steps + 1):
        raised_row = kernel[raised]
        lowered, best_gain, bottom = -1, -1.0, np.inf
        for t in range(n_rows):
            if coefficient[t] > lower[t]:
                bottom = min(bottom, residual[t])
                slope = top - residual[t]
                curvature = max(2.0 - 2.0 * raised_row[t], SMALLEST_CURVATURE)
                if slope > 0.0 and slope * slope > best_gain * curvature:
                    lowered, best_gain = t, slope * slope / curvature
        if lowered < 0 or top - bottom < tol or step == max_steps:
            return step, top - bottom
        curvature = max(2.0 - 2.0 * raised_row[lowered], SMALLEST_CURVATURE)
        room_above = upper[raised] - coefficient[raised]
        room_below = coefficient[lowered] - lower[lowered]
        change = min((top - residual[lowered]) / curvature, room_above, room_below)
        # Bounds are hit exactly, so that "free" and "capped" can be told by comparison.
        coefficient[raised] = upper[raised] if change == room_above else coefficient[raised] + change
        coefficient[lowered] = lower[lowered] if change == room_below else coefficient[lowered] - change
        lowered_row = kernel[lowered]
        raised, top = -1, -np.inf
        for t in range(n_rows):
            value = residual[t] - change * (raised_row[t] - lowered_row[t])
            residual[t] = value
            if value > top and coefficient[t] < upper[t]:
                raised, top = t, value
    return max_steps, np.inf


@kernel
def _free_step(kernel: Floats, coefficient: Floats, residual: Floats, lower: Floats, upper: Floats) -> None:
    """Move the free coefficients towards the optimum over them, dropping each that reaches a bound on the way."""
    free = _free_rows(coefficient, lower, upper)
    value, low, high = coefficient[free], lower[free], upper[free]
    tableau, moving = negative_inverse(kernel, free)
    toward, shared = apply_inverse(tableau, moving, residual[free])
    direction, column = np.empty(len(free)), np.empty(len(free))
    for _ in range(len(free)):
        # Direction: inverse @ (residual - level), with the level at which it sums to zero.
        sum_toward, sum_shared = _sum_moving(toward, moving), _sum_moving(shared, moving)
        if not sum_shared > 0.0:  # no entry moves, or rounding has spoilt the inverse
            break
        level = sum_toward / sum_shared
        for i in range(len(free)):
            direction[i] = toward[i] - level * shared[i] if moving[i] else 0.0
        fraction, hit = _room(value, direction, low, high)
        for i in range(len(free)):
            value[i] = min(max(value[i] + fraction * direction[i], low[i]), high[i])
            toward[i] = (1.0 - fraction) * toward[i] + fraction * level * shared[i]
        if hit < 0:
            break
        value[hit] = high[hit] if direction[hit] > 0.0 else low[hit]
        moving[hit] = False
        sweep(tableau, hit, -1.0, column)
        subtract(toward, toward[hit] / column[hit], column)
        subtract(shared, shared[hit] / column[hit], column)
    _move(kernel, coefficient, residual, free, value)


@kernel
def _sum_moving(vector: Floats, moving: NDArray[np.bool_]) -> float:
    total = 0.0
    for i in range(len(vector)):
        if moving[i]:
            total += vector[i]
    return total


@kernel
def _room(value: Floats, direction: Floats, lower: Floats, upper: Floats) -> tuple[float, int]:
    """Find how much of a direction, at most all, fits between bounds, and the entry that hits its bound first."""
    fraction, hit = 1.0, -1
    for i in range(len(value)):
        if direction[i] != 0.0:
            bound = upper[i] if direction[i] > 0.0 else lower[i]
            room = (bound - value[i]) / direction[i]
            if room < fraction:
                fraction, hit = room, i
    return fraction, hit
