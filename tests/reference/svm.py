"""Slow, obvious versions of what the tuned SVM computes, on scikit-learn's SVC."""

from itertools import combinations

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC


def mean_distance(X, weight=None):
    """Mean distance over all weighted pairs of rows, a row and itself included."""
    weight = np.ones(len(X)) if weight is None else weight
    return np.average(pairwise_distances(X), weights=np.outer(weight, weight))


def paper_grid(X, Cs=tuple(2.0**k for k in range(12, 19)), factors=(4, 2, 1, 0.5, 0.25)):
    """The grid in SVC's terms: C ascending, gamma ascending."""
    widths = np.array(factors) * mean_distance(X)
    return {"C": 100 * np.asarray(Cs) / len(X), "gamma": 1 / (2 * widths**2)}


def folds(y, n_folds, seed):
    """The folds of a fit whose rows are distinct and in lexicographic order."""
    return list(
        StratifiedKFold(n_folds, shuffle=True, random_state=np.random.RandomState(seed)).split(np.zeros(len(y)), y)
    )


def one_vs_one_scores(X, y, Cs, widths, splits):
    """Mean accuracy over folds of one-vs-one votes, each pair with its own penalty, (n_Cs, n_widths)."""
    scores = np.empty((len(Cs), len(widths)))
    for c, C in enumerate(Cs):
        for w, width in enumerate(widths):
            accuracies = []
            for train, test in splits:
                votes = np.zeros((len(test), y.max() + 1))
                for a, b in combinations(range(y.max() + 1), 2):
                    pair = train[(y[train] == a) | (y[train] == b)]
                    penalty = 100 * C / np.isin(y, (a, b)).sum()
                    machine = SVC(C=penalty, gamma=1 / (2 * width**2)).fit(X[pair], y[pair])
                    votes[np.arange(len(test)), machine.predict(X[test])] += 1
                accuracies.append(np.mean(votes.argmax(axis=1) == y[test]))
            scores[c, w] = np.mean(accuracies)
    return scores


def violation(kernel, signs, caps, coefficients):
    """How far coefficients are from optimal, after checking that they are feasible."""
    size = coefficients * signs
    assert (size >= 0).all()
    assert (size <= caps).all()
    assert abs(coefficients.sum()) <= 1e-9 * np.abs(coefficients).sum()
    residual = signs - kernel @ coefficients
    can_rise = np.where(signs > 0, size < caps, size > 0)
    can_fall = np.where(signs > 0, size > 0, size < caps)
    return residual[can_rise].max() - residual[can_fall].min()
