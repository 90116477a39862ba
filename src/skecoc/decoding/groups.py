"""Groups of columns: weights that are equal within a group, and how steeply each group tells the classes apart.

A group is, for example, the columns of an initial code or of a learner. Few numbers, one for each group, are fitted;
weights of single columns are drawn towards the outcome.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from skecoc.decoding.scoring import Floats, Indices, worst_rivals

# Groups with a smaller steepness, relative to the largest, get steepness 0.
_LEAST_STEEPNESS = 1e-3
# Smaller differences of scores between classes are rounding.
_LEAST_SIZE = 1e-9
# Prior standard deviation of the steepness of groups, in units of their common one.
_SPREAD_OF_GROUPS = 1.0
# Where the common steepness is sought.
_STEEPNESS_BOUNDS = (1e-3, 1e4)
# Settings of the solver, whose objective is a mean over samples; rough ones are for a first look.
_SHARP, _ROUGH = {"gtol": 1e-9, "ftol": 1e-13}, {"gtol": 1e-5, "ftol": 1e-8}
# Factors by which the steepness of groups may be reduced.
_DAMPING = (0.5, 0.25, 0.12, 0.06, 0.0)
# Labels are smoothed as if this weight of samples were spread over all classes: no probability is known to be 0 or 1.
_SPREAD_WEIGHT = 0.5


def group_weights(matrix: ArrayLike, groups: ArrayLike) -> Floats:
    """Return the weights of each group: each class shares a weight of 1 equally between the group's columns.

    `groups` has the number of the group of each column. A class that takes part in no column of a group gives the
    weight to its columns of the first group, or else to all its columns. The weights have the shape (n_groups, n_rows,
    n_columns).

    >>> group_weights([[1, -1, 1], [-1, 1, -1], [-1, -1, 0]], [0, 0, 1])[1]
    array([[0. , 0. , 1. ],
           [0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])
    """
    used, members = np.asarray(matrix) != 0, np.asarray(groups)
    own = used & (members == np.arange(members.max() + 1)[:, np.newaxis, np.newaxis])
    own[0] = np.where(own[0].any(axis=1, keepdims=True), own[0], used)
    own = np.where(own.any(axis=2, keepdims=True), own, own[0])
    return own / own.sum(axis=2, keepdims=True)


def pair_weights(matrix: ArrayLike) -> Floats:
    """Return weights by which a class gives each rival the same weight, shared by the columns of the two classes alone.

    The weights of a class sum to less than 1 if it has rivals without such a column.

    >>> pair_weights([[1, 1, 1, 0], [-1, -1, -1, 1], [-1, 0, 0, -1]])
    array([[0.  , 0.25, 0.25, 0.  ],
           [0.  , 0.25, 0.25, 0.5 ],
           [0.  , 0.  , 0.  , 0.5 ]])
    """
    M = np.asarray(matrix)
    n_rows = len(M)
    columns = np.flatnonzero((M != 0).sum(axis=0) == 2)
    first = (M[:, columns] != 0).argmax(axis=0)
    second = n_rows - 1 - (M[::-1, columns] != 0).argmax(axis=0)
    counts = np.zeros((n_rows, n_rows))
    np.add.at(counts, (first, second), 1.0)
    weights = np.zeros(M.shape)
    weights[first, columns] = weights[second, columns] = 1.0 / (counts[first, second] * (n_rows - 1))
    return weights


def with_fewer_errors(scores: Floats, y: Indices, weight: Floats, steepness: Floats, damped: Indices) -> Floats:
    """Reduce the steepness of some groups as far as that makes fewer errors, by more than their standard error.

    A tie is an error.

    Least log-loss is not fewest errors: with many classes, one-vs-rest tells well how certain a prediction is, but it
    is less accurate than one-vs-one. `scores` are as in `fit_steepness`, and `damped` has the numbers of the groups.
    """

    def is_correct(values: Floats) -> Floats:
        return np.asarray(worst_rivals(np.tensordot(values, scores, 1), y)[1] < 0.0, dtype=np.float64)

    before, best, most = is_correct(steepness), steepness, 0.0
    for factor in _DAMPING:
        values = steepness.copy()
        values[damped] *= factor
        if values.any():
            changes = is_correct(values) - before
            gain = float(weight @ changes - np.sqrt(weight @ changes**2))  # a sample of weight 2 is two samples
            if gain > most:
                best, most = values, gain
    return best


def fit_steepness(scores: Floats, y: Indices, weight: Floats, start: Floats | None = None) -> Floats:
    """Find the steepness of each group, given the scores by its weights, of shape (n_groups, n_samples, n_rows).

    The sum of scores times steepness has the least log-loss. The values are drawn to a common one, and a group that
    adds nothing to the others gets 0. From a `start`, values for the first groups, the solution is a rough one.
    """
    n_groups, _, n_rows = scores.shape
    # Scores of groups differ much in size: in one-vs-rest with many classes, each column has a small weight.
    sizes = np.sqrt(((scores - scores.mean(axis=2, keepdims=True)) ** 2).mean(axis=2) @ weight / weight.sum())
    sizes = np.where(sizes > _LEAST_SIZE, sizes, 1.0)
    scores = scores / sizes[:, None, None]
    share, precision = weight / weight.sum(), 1.0 / (_SPREAD_OF_GROUPS**2 * weight.sum())
    targets = smoothed_targets(y, weight, n_rows)

    def losses(total: Floats) -> tuple[float, Floats]:
        total -= total.max(axis=1, keepdims=True)
        powers = np.exp(total)
        sums = powers.sum(axis=1, keepdims=True)
        loss = share @ (np.log(sums[:, 0]) - np.einsum("np,np->n", targets, total))
        return float(loss), share[:, None] * (powers / sums - targets)

    def common(logarithm: Floats) -> tuple[float, Floats]:
        total = np.exp(logarithm[0]) * scores.mean(axis=0)
        loss, residuals = losses(total.copy())
        return loss, np.array([(residuals * total).sum()])

    factors = np.ones(n_groups)
    if start is None:
        bounds = [tuple(np.log(_STEEPNESS_BOUNDS))]
        found = minimize(common, [0.0], jac=True, method="L-BFGS-B", bounds=bounds, options=_SHARP)
        unit = float(np.exp(found.x[0])) / n_groups
    else:
        unit = float((start * sizes[: len(start)]).mean())
        factors[: len(start)] = start * sizes[: len(start)] / unit
    if n_groups == 1:
        return unit / sizes

    def separate(factors: Floats) -> tuple[float, Floats]:
        loss, residuals = losses(np.tensordot(unit * factors, scores, 1))
        gradient = unit * np.einsum("knp,np->k", scores, residuals) + precision * (factors - 1.0)
        return loss + 0.5 * precision * float(((factors - 1.0) ** 2).sum()), gradient

    limits, options = [(0.0, None)] * n_groups, _SHARP if start is None else _ROUGH
    factors = minimize(separate, factors, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    return unit * np.where(factors > _LEAST_STEEPNESS * factors.max(), factors, 0.0) / sizes


def smoothed_targets(y: Indices, weight: Floats, n_rows: int) -> Floats:
    """Return the probabilities that scores are fitted to: nearly 1 for a sample's own row, the rest spread evenly."""
    spread = _SPREAD_WEIGHT / (_SPREAD_WEIGHT + weight.sum())
    targets = np.full((len(y), n_rows), spread / n_rows)
    targets[np.arange(len(y)), y] += 1.0 - spread
    return targets
