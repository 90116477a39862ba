"""Optimised weights decode real codewords at least as well as simpler weights."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from skecoc.coding import one_vs_rest
from skecoc.datasets import load_uci
from skecoc.decoding import LossBasedDecoder, LossWeightedDecoder, break_ties
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.learners import StumpAdaBoostClassifier

OUTPUTS = {"label": lambda F: np.where(F > 0, 1.0, -1.0), "probability": np.tanh}
DECODERS = {
    "equal": LossBasedDecoder(),
    "loss-weighted": LossWeightedDecoder(),
    "optimised": OptimizedWeightDecoder(),
    "paper": OptimizedWeightDecoder(margin=0, l2=0),
}


def accuracies(name, output, n_folds=5):
    """Mean accuracy of every decoder on one data set."""
    X, y = load_uci(name, return_X_y=True)
    y = np.unique(y, return_inverse=True)[1]
    matrix = one_vs_rest(y.max() + 1)
    rows = []
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        learners = [StumpAdaBoostClassifier().fit(X[train], y[train] == p) for p in range(len(matrix))]
        codewords = OUTPUTS[output](np.column_stack([learner.decision_function(X) for learner in learners]))
        prior = np.bincount(y[train]) / len(train)
        scores = [d.fit(codewords[train], y[train], matrix).scores(codewords[test]) for d in DECODERS.values()]
        predicted = [break_ties(each, codewords[test] @ matrix.T, prior).argmax(axis=1) for each in scores]
        rows.append([np.mean(each == y[test]) for each in predicted])
    return dict(zip(DECODERS, np.mean(rows, axis=0), strict=True))


@pytest.mark.slow
def test_hard_outputs_gain_from_optimised_weights():
    found = [accuracies(name, "label") for name in ("vehicle", "vowel", "yeast")]
    means = {title: np.mean([row[title] for row in found]) for title in DECODERS}
    assert means["optimised"] > means["equal"] + 0.03
    assert means["optimised"] > means["loss-weighted"] + 0.02
    for row in found:
        assert row["paper"] > min(row["equal"], row["loss-weighted"]) - 0.01


@pytest.mark.slow
def test_probabilities_do_not_lose_by_optimised_weights():
    found = [accuracies(name, "probability") for name in ("balance", "vehicle")]
    means = {title: np.mean([row[title] for row in found]) for title in DECODERS}
    assert means["optimised"] > max(means["equal"], means["loss-weighted"]) - 0.005
    for row in found:
        assert row["paper"] > min(row["equal"], row["loss-weighted"]) - 0.01
