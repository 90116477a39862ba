"""Which columns matter: counts by hand, and what is tried of a table that is too wide to try all."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skecoc.classifiers import pairs
from skecoc.compare.trials import Fold, KeptTrial
from skecoc.tables import importance
from skecoc.tables.importance import PairCounts, columns_that_matter, count_pairs, important_columns
from skecoc.tables.preprocessing import make_preprocessor


def score_by_first_feature(X):
    return np.column_stack([-X[:, 0], X[:, 0], np.zeros(len(X))])


def test_counts_of_pairs_by_hand():
    X = np.array([[-1.0, 5.0], [0.5, 5.0], [2.0, 5.0], [1.0, 5.0]])
    y = np.array([0, 0, 1, 2])
    counts = count_pairs(score_by_first_feature, X, y, np.array([0, 1]), np.arange(2), np.random.RandomState(0))
    assert counts.n_rows.tolist() == [2, 1, 1]
    # The second row of class 0 scores -0.5 for itself, 0.5 for class 1 and 0 for class 2.
    assert counts.correct.tolist() == [[0, 1, 1], [1, 0, 1], [1, 0, 0]]
    np.testing.assert_array_equal(counts.shuffled[1], counts.correct)
    assert (counts.shuffled[0] != counts.correct).any()


def test_features_of_one_column_are_shuffled_together():
    """Two indicators of one column: rows that have both or none would betray that they were shuffled apart."""
    values = np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1))

    def score(X):
        assert (X.sum(axis=1) == 1).all()
        return X

    counts = count_pairs(score, values, np.tile([0, 1], 20), np.array([0, 0]), np.arange(1), np.random.RandomState(0))
    assert counts.correct.tolist() == [[0, 20], [20, 0]]
    assert 0 < counts.shuffled[0, 0, 1] < 20


def test_important_columns_by_hand():
    right = np.array([[0, 9, 4], [10, 0, 10], [5, 10, 0]], dtype=float)
    shuffled = np.stack([right - [[0, 1, 2], [0, 0, 0], [1, 0, 0]], right, right - [[0, 4, 0], [4, 0, 0], [0, 0, 0]]])
    found = important_columns(PairCounts(np.full(3, 10.0), right, shuffled), np.arange(3))
    assert found["pairs"].tolist() == [[0, 2], [0, 1], [1, 2]]
    assert found["separated"].tolist() == [9 / 20, 19 / 20, 1.0]
    assert found["columns"].tolist() == [[0, 1, 2], [2, 0, 1], [0, 1, 2]]
    np.testing.assert_allclose(found["drops"], [[0.15, 0, 0], [0.4, 0.05, 0], [0, 0, 0]], atol=1e-12)


def test_only_the_hardest_pairs_and_best_columns_are_kept(monkeypatch):
    monkeypatch.setattr(importance, "MAX_PAIRS", 2)
    monkeypatch.setattr(importance, "MAX_COLUMNS", 1)
    right = 10.0 * (1 - np.eye(4))
    right[1, 2] = 3
    found = important_columns(PairCounts(np.full(4, 10.0), right, np.stack([right, 0.5 * right])), np.array([4, 7]))
    assert found["pairs"].tolist() == [[1, 2], [0, 1]]
    assert found["columns"].tolist() == [[7], [7]]


def test_shuffles_predicted_together_are_those_predicted_alone(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    together = count_pairs(score_by_first_feature, X, y, np.arange(3), np.arange(3), np.random.RandomState(0))
    monkeypatch.setattr(pairs, "_ROWS_AT_ONCE", 1)
    alone = count_pairs(score_by_first_feature, X, y, np.arange(3), np.arange(3), np.random.RandomState(0))
    np.testing.assert_array_equal(together.shuffled, alone.shuffled)


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression()], ids=["probabilities", "margins"])
def test_of_a_wide_table_the_columns_that_differ_between_classes_are_tried(learner, monkeypatch):
    monkeypatch.setattr(importance, "MAX_SHUFFLED", 3)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 20))
    X[:, 11] += 5 * y
    preprocessor = make_preprocessor(dict.fromkeys((f"c{k}" for k in range(20)), "number"))
    encoded = preprocessor.fit_transform(pd.DataFrame(X, columns=[f"c{k}" for k in range(20)]))
    trial = KeptTrial(learner.fit(encoded, y), preprocessor, Fold(encoded, y, encoded, y), 0)
    found = columns_that_matter([trial, trial], 20, 3)
    assert found["columns"].shape == (3, 3)
    assert (found["columns"][:, 0] == 11).all()
    assert (found["drops"][:, 0] > 0.1).all()


def test_too_many_pairs_of_classes_are_not_counted():
    assert columns_that_matter([], 10, 3) == {}
    assert columns_that_matter(["unused"], 60, 1_000) == {}
