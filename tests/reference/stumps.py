"""Discrete AdaBoost over decision stumps, slow and obvious: every stump is tried on every row."""

from itertools import pairwise

import numpy as np

TIE_TOLERANCE = 1e-10
SMALLEST_ERROR = 1e-10


def midpoint(left, right):
    """The number that parts two: midway, or the left one if the middle is not below the right one in floats."""
    middle = left / 2 + right / 2
    return middle if left <= middle < right else left


def candidate_thresholds(values):
    """All thresholds of one feature, ascending."""
    distinct = sorted(set(values))
    return [midpoint(left, right) for left, right in pairwise(distinct)]


def better_polarity(goes_left, sign, weight):
    """The vote of the left side with the lower weighted error, and that error."""
    answers = np.where(goes_left, 1, -1)
    errors = {polarity: weight[polarity * answers != sign].sum() for polarity in (1, -1)}
    polarity = min(errors, key=errors.get)
    return polarity, errors[polarity]


def best_of_feature(values, sign, weight):
    """(error, threshold, polarity) of a feature's best stump; the lowest threshold of equally good ones."""
    stumps = []
    for threshold in candidate_thresholds(values):
        polarity, error = better_polarity(values <= threshold, sign, weight)
        stumps.append((error, threshold, polarity))
    if not stumps:
        return None
    lowest = min(error for error, _, _ in stumps)
    return next(stump for stump in stumps if stump[0] <= lowest + TIE_TOLERANCE)


def best_stump(X, sign, weight):
    """(error, feature, threshold, polarity): the constant stump first, then the features in order."""
    polarity, error = better_polarity(np.ones(len(sign), bool), sign, weight)
    best = (error, -1, np.inf, polarity)
    for feature in range(X.shape[1]):
        found = best_of_feature(X[:, feature], sign, weight)
        if found is not None and found[0] < best[0] - TIE_TOLERANCE:
            best = (found[0], feature, found[1], found[2])
    return best


def boost(X, is_second, sample_weight, n_estimators):
    """The stumps as a list of (feature, threshold, polarity, alpha)."""
    counted = sample_weight > 0
    X = np.asarray(X, dtype=np.float64)[counted]
    sign = np.where(is_second, 1, -1)[counted]
    weight = sample_weight[counted] / sample_weight[counted].sum()
    stumps = []
    for _ in range(n_estimators):
        error, feature, threshold, polarity = best_stump(X, sign, weight)
        if error >= 0.5 - TIE_TOLERANCE:
            break
        clipped = max(error, SMALLEST_ERROR)
        alpha = 0.5 * np.log((1 - clipped) / clipped)
        stumps.append((feature, threshold, polarity, alpha))
        if error == 0:
            break
        answers = np.where(X[:, feature] <= threshold, polarity, -polarity)
        weight = weight * np.exp(-alpha * sign * answers)
        weight = weight / weight.sum()
    return stumps


def decision_function(stumps, X):
    """F of each row: the weighted sum of the stumps' votes."""
    X = np.asarray(X, dtype=np.float64)
    total = np.zeros(len(X))
    for feature, threshold, polarity, alpha in stumps:
        total += alpha * np.where(X[:, feature] <= threshold, polarity, -polarity)
    return total
