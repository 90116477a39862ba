"""Held-out results: those of `compare`, and what they are made of."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skecoc.benchmarking import DataSet, compare
from skecoc.benchmarking.methods import make_learner
from skecoc.learners import mixed
from skecoc.tables import fitting, importance
from skecoc.tables.columns import kinds_of, typed
from skecoc.tables.fitting import OWN_REFERENCES, REFERENCES, calibration_bins, evaluate, make_card
from skecoc.tables.importance import PairCounts, count_pairs, important_columns
from skecoc.tables.preprocessing import make_preprocessor


@pytest.fixture(scope="module")
def data_set(things):
    used = things.X.drop(columns=["id", "unit"])
    return with_preprocessor(things.name, typed(used, kinds_of(used)), things.y)


def with_preprocessor(name, X, y):
    return DataSet(name, X, y, make_preprocessor(X))


@pytest.fixture(scope="module")
def evaluation(data_set):
    return evaluate(data_set, "one-vs-one/loss-weighted", make_learner("stumps"), folds=3, seed=1)


def test_accuracies_are_those_of_compare(data_set, evaluation):
    assert evaluation.methods == ["one-vs-one/loss-weighted", *REFERENCES]
    theirs = compare([data_set], evaluation.methods, folds=3, seed=1)
    np.testing.assert_array_equal(evaluation.accuracy, theirs.runs("accuracy")[0])
    np.testing.assert_array_equal(evaluation.n_columns, theirs.runs("n_columns")[0])


def test_predictions_belong_to_the_accuracies(data_set, evaluation):
    assert (evaluation.classes[evaluation.truth] == data_set.y).all()
    assert np.mean(evaluation.predicted == evaluation.truth) == pytest.approx(evaluation.accuracy[0].mean())
    np.testing.assert_array_equal(evaluation.probabilities.argmax(axis=1), evaluation.predicted)
    np.testing.assert_allclose(evaluation.probabilities.sum(axis=1), 1.0)


def test_jobs_change_nothing(data_set, evaluation):
    with joblib.parallel_config("threading"):
        again = evaluate(data_set, "one-vs-one/loss-weighted", make_learner("stumps"), folds=3, seed=1, n_jobs=2)
    np.testing.assert_array_equal(again.probabilities, evaluation.probabilities)
    np.testing.assert_array_equal(again.pair_counts.shuffled, evaluation.pair_counts.shuffled)


def test_a_class_that_is_absent_from_a_training_part_has_no_probability():
    X = pd.DataFrame({"a": np.arange(13.0)})
    y = np.array(["a"] * 6 + ["b"] * 6 + ["c"])
    found = evaluate(with_preprocessor("rare", X, y), "one-vs-rest/loss-based", make_learner("stumps"), folds=3)
    assert found.probabilities[-1, 2] == 0.0
    assert found.predicted[-1] != 2
    assert found.pair_counts.n_rows.tolist() == [6, 6, 1]
    assert found.pair_counts.right[2].tolist() == [0, 0, 0]


def test_two_classes(things):
    two = things.y != things.y[0]
    used = typed(things.X[two][["weight"]], {"weight": "number"})
    data_set = with_preprocessor("two", used, things.y[two])
    found = evaluate(data_set, "one-vs-one/hamming", make_learner("stumps"), folds=2)
    assert found.pair_counts.right.sum() == pytest.approx(found.accuracy[0].mean() * two.sum())


@pytest.fixture
def two_learners(monkeypatch):
    """Put two fast learners in the place of those of mixed."""
    monkeypatch.setattr(mixed, "mixed_learners", lambda *sizes: [("a", GaussianNB()), ("b", LogisticRegression())])


def test_mixed_stands_beside_classifiers(data_set, two_learners):
    found = evaluate(data_set, "mixed/logistic-weight", make_learner("stumps"), folds=3, seed=1)
    assert found.methods == ["mixed/logistic-weight", *OWN_REFERENCES]
    theirs = compare([data_set], found.methods, folds=3, seed=1)
    np.testing.assert_array_equal(found.accuracy, theirs.runs("accuracy")[0])
    np.testing.assert_array_equal(found.n_columns, theirs.runs("n_columns")[0])
    assert found.pair_counts.n_rows.tolist() == [20, 20, 20]


@pytest.mark.parametrize(("n_rows", "n_folds"), [(1, 1), (20, 1), (21, 2), (40, 2), (60, 3)])
def test_columns_are_shuffled_in_few_folds_of_mixed(data_set, two_learners, monkeypatch, n_rows, n_folds):
    monkeypatch.setattr(fitting, "_SHUFFLED_ROWS", n_rows)
    found = evaluate(data_set, "mixed/logistic-weight", make_learner("stumps"), folds=3)
    assert found.pair_counts.n_rows.sum() == 20 * n_folds
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)


def test_columns_are_shuffled_in_all_folds_of_others(data_set, monkeypatch):
    monkeypatch.setattr(fitting, "_SHUFFLED_ROWS", 1)
    found = evaluate(data_set, "one-vs-rest/hamming", GaussianNB(), folds=3)
    assert found.pair_counts.n_rows.sum() == 60


def score_by_first_feature(X):
    return np.column_stack([-X[:, 0], X[:, 0], np.zeros(len(X))])


def test_counts_of_pairs_by_hand():
    X = np.array([[-1.0, 5.0], [0.5, 5.0], [2.0, 5.0], [1.0, 5.0]])
    y = np.array([0, 0, 1, 2])
    counts = count_pairs(score_by_first_feature, X, y, np.array([0, 1]), 2, np.random.RandomState(0))
    assert counts.n_rows.tolist() == [2, 1, 1]
    # The second row of class 0 scores -0.5 for itself, 0.5 for class 1 and 0 for class 2.
    assert counts.right.tolist() == [[0, 1, 1], [1, 0, 1], [1, 0, 0]]
    np.testing.assert_array_equal(counts.shuffled[1], counts.right)
    assert (counts.shuffled[0] != counts.right).any()


def test_features_of_one_column_are_shuffled_together():
    """Two indicators of one column: rows that have both or none would betray that they were shuffled apart."""
    values = np.tile([[1.0, 0.0], [0.0, 1.0]], (20, 1))

    def score(X):
        assert (X.sum(axis=1) == 1).all()
        return X

    counts = count_pairs(score, values, np.tile([0, 1], 20), np.array([0, 0]), 1, np.random.RandomState(0))
    assert counts.right.tolist() == [[0, 20], [20, 0]]
    assert 0 < counts.shuffled[0, 0, 1] < 20


def test_important_columns_by_hand():
    right = np.array([[0, 9, 4], [10, 0, 10], [5, 10, 0]], dtype=float)
    shuffled = np.stack([right - [[0, 1, 2], [0, 0, 0], [1, 0, 0]], right, right - [[0, 4, 0], [4, 0, 0], [0, 0, 0]]])
    found = important_columns(PairCounts(np.full(3, 10.0), right, shuffled))
    assert found["pairs"].tolist() == [[0, 2], [0, 1], [1, 2]]
    assert found["told_apart"].tolist() == [9 / 20, 19 / 20, 1.0]
    assert found["columns"].tolist() == [[0, 1, 2], [2, 0, 1], [0, 1, 2]]
    np.testing.assert_allclose(found["drops"], [[0.15, 0, 0], [0.4, 0.05, 0], [0, 0, 0]], atol=1e-12)


def test_only_the_hardest_pairs_and_best_columns_are_kept(monkeypatch):
    monkeypatch.setattr(importance, "MAX_PAIRS", 2)
    monkeypatch.setattr(importance, "MAX_COLUMNS", 1)
    right = 10.0 * (1 - np.eye(4))
    right[1, 2] = 3
    found = important_columns(PairCounts(np.full(4, 10.0), right, np.stack([right, 0.5 * right])))
    assert found["pairs"].tolist() == [[1, 2], [0, 1]]
    assert found["columns"].tolist() == [[1], [1]]


def test_calibration_by_hand():
    probabilities = np.array([[0.95, 0.05], [1.0, 0.0], [0.4, 0.6], [0.5, 0.5]])
    bins = calibration_bins(probabilities, np.array([0, 1, 1, 0]))
    assert bins["n_rows"].tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 2]
    assert bins["confidence"].tolist()[-1] == pytest.approx(0.975)
    assert bins["accuracy"].tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0.5]


def test_the_card_sums_up(evaluation):
    card = make_card(evaluation)
    assert card["confusion"].sum(axis=1).tolist() == [20, 20, 20]
    assert np.trace(card["confusion"]) == (evaluation.predicted == evaluation.truth).sum()
    assert card["comparison"][1]["std"] == pytest.approx(evaluation.accuracy[1].std(ddof=1))
    assert card["calibration"]["n_rows"].sum() == 60
