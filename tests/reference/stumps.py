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
    """All thresholds of one feature, ascending: the last is infinite if there are missing values beside others."""
    distinct = sorted(set(values[~np.isnan(values)]))
    parts_missing = [np.inf] if np.isnan(values).any() and distinct else []
    return [midpoint(left, right) for left, right in pairwise(distinct)] + parts_missing


def is_left(values, threshold, missing_left):
    """Whether values are on the left of a stump."""
    return np.where(np.isnan(values), missing_left, values <= threshold)


def better_polarity(goes_left, sign, weight):
    """The vote of the left side with the lower weighted error, and that error."""
    answers = np.where(goes_left, 1, -1)
    errors = {polarity: weight[polarity * answers != sign].sum() for polarity in (1, -1)}
    polarity = min(errors, key=errors.get)
    return polarity, errors[polarity]


def best_of_feature(values, sign, weight, first_weight):
    """(error, threshold, polarity, missing_left) of a feature's best stump.

    Of equally good ones, those with missing values on the right go first, then the lowest threshold. A feature without
    missing values has them on the side with more of the first weight.
    """
    stumps = []
    for missing_left in (False, True):
        for threshold in candidate_thresholds(values):
            polarity, error = better_polarity(is_left(values, threshold, missing_left), sign, weight)
            stumps.append((error, threshold, polarity, missing_left))
    if not stumps:
        return None
    lowest = min(error for error, *_ in stumps)
    best = next(stump for stump in stumps if stump[0] <= lowest + TIE_TOLERANCE)
    if not np.isnan(values).any():
        best = (*best[:3], first_weight[values <= best[1]].sum() > 0.5 + TIE_TOLERANCE)
    return best


def best_stump(X, sign, weight, first_weight):
    """(error, feature, threshold, polarity, missing_left): the constant stump first, then the features in order."""
    polarity, error = better_polarity(np.ones(len(sign), bool), sign, weight)
    best = (error, -1, np.inf, polarity, True)
    for feature in range(X.shape[1]):
        found = best_of_feature(X[:, feature], sign, weight, first_weight)
        if found is not None and found[0] < best[0] - TIE_TOLERANCE:
            best = (found[0], feature, *found[1:])
    return best


def boost(X, is_second, sample_weight, n_estimators):
    """The stumps as a list of (feature, threshold, polarity, missing_left, alpha)."""
    counted = sample_weight > 0
    X = np.asarray(X, dtype=np.float64)[counted]
    sign = np.where(is_second, 1, -1)[counted]
    weight = first_weight = sample_weight[counted] / sample_weight[counted].sum()
    stumps = []
    for _ in range(n_estimators):
        error, feature, threshold, polarity, missing_left = best_stump(X, sign, weight, first_weight)
        if error >= 0.5 - TIE_TOLERANCE:
            break
        clipped = max(error, SMALLEST_ERROR)
        alpha = 0.5 * np.log((1 - clipped) / clipped)
        stumps.append((feature, threshold, polarity, missing_left, alpha))
        if error == 0:
            break
        answers = np.where(is_left(X[:, feature], threshold, missing_left), polarity, -polarity)
        weight = weight * np.exp(-alpha * sign * answers)
        weight = weight / weight.sum()
    return stumps


def decision_function(stumps, X):
    """F of each row: the weighted sum of the stumps' votes."""
    X = np.asarray(X, dtype=np.float64)
    total = np.zeros(len(X))
    for feature, threshold, polarity, missing_left, alpha in stumps:
        total += alpha * np.where(is_left(X[:, feature], threshold, missing_left), polarity, -polarity)
    return total
