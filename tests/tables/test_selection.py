"""Held-out results of methods, which are those of `compare`, and the choice among them."""

from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skecoc.compare import DataSet, compare
from skecoc.compare.metrics import ACCURACY, Metric
from skecoc.compare.named_learners import make_learner
from skecoc.learners import mixed
from skecoc.tables.preparation import prepare_table
from skecoc.tables.selection import Budget, best_method, default_methods, evaluate

METHODS = ["sklearn/majority", "one-vs-one/loss-weighted", "sklearn/one-vs-one", "sklearn/logistic"]
STUMPS = make_learner("stumps")


@pytest.fixture(scope="module")
def data_set(things):
    return prepare_table(things, folds=3).data_set


@pytest.fixture(scope="module")
def evaluation(data_set):
    return evaluate(data_set, METHODS, STUMPS, ACCURACY, folds=3, seed=1)


def test_scores_are_those_of_compare(data_set, evaluation):
    theirs = compare([data_set], METHODS, folds=3, seed=1)
    np.testing.assert_array_equal(evaluation.scores, theirs.runs("score")[0])
    np.testing.assert_array_equal(evaluation.accuracy, theirs.runs("accuracy")[0])
    np.testing.assert_array_equal(evaluation.n_columns, theirs.runs("n_columns")[0])


@pytest.mark.parametrize("metric", ["macro-f1", "log-loss", "roc_auc_ovr"])
def test_other_metrics_are_those_of_compare(data_set, metric):
    methods = ["one-vs-rest/loss-based", "one-vs-rest/hamming", "sklearn/logistic"]
    found = evaluate(data_set, methods, STUMPS, Metric(metric), folds=3, class_weight="balanced")
    theirs = compare([data_set], methods, folds=3, metric=metric, class_weight="balanced")
    np.testing.assert_allclose(found.scores, theirs.runs("score")[0], rtol=1e-12)
    assert theirs.settings["metric"] == metric


def test_predictions_belong_to_the_scores(data_set, evaluation):
    np.testing.assert_array_equal(evaluation.truth, data_set.y)
    for place in (0, 1, 3):
        right = evaluation.predicted[place] == evaluation.truth
        assert right.mean() == pytest.approx(evaluation.scores[place].mean())
        np.testing.assert_allclose(evaluation.probabilities[place].sum(axis=1), 1.0)
    np.testing.assert_array_equal(evaluation.probabilities[1].argmax(axis=1), evaluation.predicted[1])
    assert evaluation.probabilities[2] is None


def test_classifiers_of_two_folds_are_kept_where_columns_can_be_shuffled(evaluation):
    assert [len(kept) for kept in evaluation.kept] == [0, 2, 0, 2]
    kept = evaluation.kept[3][0]
    assert kept.classifier.score(kept.fold.X_test, kept.fold.y_test) == evaluation.scores[3, 0]


def test_jobs_change_nothing(data_set, evaluation):
    with joblib.parallel_config("threading"):
        again = evaluate(data_set, METHODS, STUMPS, ACCURACY, folds=3, seed=1, n_jobs=2)
    np.testing.assert_array_equal(again.scores, evaluation.scores)
    np.testing.assert_array_equal(again.probabilities[1], evaluation.probabilities[1])


def test_a_class_that_is_absent_from_a_training_part_has_no_probability():
    frame = pd.DataFrame({"a": np.arange(13.0) ** 2})
    table = prepare_table(DataSet("rare", frame, np.array(["a"] * 6 + ["b"] * 6 + ["c"])), folds=3)
    found = evaluate(table.data_set, ["one-vs-rest/loss-based"], STUMPS, ACCURACY, folds=3)
    assert found.probabilities[0][-1, 2] == 0.0
    assert found.predicted[0][-1] != 2


def test_class_weights_find_the_rare_class():
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 180 + ["b"] * 20)
    frame = pd.DataFrame({"x": rng.normal(size=200) + 1.2 * (y == "b")})
    data_set = prepare_table(DataSet("rare", frame, y)).data_set
    recall = {}
    for weight in (None, "balanced"):
        found = evaluate(data_set, ["sklearn/logistic"], STUMPS, ACCURACY, class_weight=weight)
        recall[weight] = (found.predicted[0] == 1)[found.truth == 1].mean()
    assert recall["balanced"] > recall[None] + 0.3


class Clock:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1
        return self.seconds


def test_a_budget_of_time():
    budget = Budget(4.5, Clock())  # looked at once at the start
    assert budget.is_limited
    assert [budget.allows(1.0) for _ in range(5)] == [True, True, True, False, False]
    assert Budget().allows(1e9)
    assert not Budget().is_limited


def test_without_time_the_first_method_is_tried_all_the_same(data_set):
    found = evaluate(data_set, METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e-9))
    assert found.methods == METHODS[:2]
    assert found.skipped == METHODS[2:]


def test_with_time_for_all_a_budget_changes_nothing(data_set, evaluation):
    found = evaluate(data_set, METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e6))
    np.testing.assert_array_equal(found.scores, evaluation.scores)
    assert found.skipped == []


def test_a_method_whose_folds_would_take_too_long_is_skipped(data_set, monkeypatch):
    from skecoc.tables import selection

    real = selection.try_alone

    def slow(key, learner, seed, fold):
        trial = real(key, learner, seed, fold)
        return trial._replace(fit_seconds=1e6) if key.method == "sklearn/logistic" else trial

    monkeypatch.setattr(selection, "try_alone", slow)
    found = evaluate(data_set, METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e5))
    assert found.skipped == ["sklearn/logistic"]


def with_scores(evaluation, scores):
    return replace(evaluation, scores=np.repeat(np.array(scores)[:, None], 3, axis=1))


def test_the_best_candidate_is_chosen(evaluation):
    found = with_scores(evaluation, [0.9, 0.7, 0.8, 0.6])
    assert best_method(found, ACCURACY, METHODS[1:]) == 2
    assert best_method(found, ACCURACY, [METHODS[1], METHODS[3]]) == 1
    assert best_method(found, Metric("log-loss"), METHODS[1:]) == 3


def test_of_equal_candidates_the_one_with_the_better_probabilities_is_chosen(evaluation):
    equal = with_scores(evaluation, [0.5, 0.5, 0.5, 0.5])
    truth = np.eye(3)[evaluation.truth]
    good, better = 0.7 * truth + 0.1, 0.85 * truth + 0.05
    assert best_method(replace(equal, probabilities=[None, good, None, better]), ACCURACY, METHODS[1:]) == 3
    assert best_method(replace(equal, probabilities=[None, better, None, good]), ACCURACY, METHODS[1:]) == 1


def test_the_methods_that_are_tried_by_default():
    assert default_methods(3, 10, has_learner=False) == [
        "sklearn/logistic",
        "sklearn/random-forest",
        "one-vs-one/loss-weighted",
        "wolc/optimized-weight",
        "sklearn/boosting",
        "mixed/logistic-weight",
    ]
    many = default_methods(51, 10, has_learner=False)
    assert not {"sklearn/boosting", "one-vs-one/loss-weighted"} & set(many)
    assert "sklearn/boosting" not in default_methods(3, 1_001, has_learner=False)


def test_mixed_stands_beside_classifiers(data_set, monkeypatch):
    monkeypatch.setattr(mixed, "mixed_learners", lambda *_, **__: [("a", GaussianNB()), ("b", LogisticRegression())])
    methods = ["mixed/logistic-weight", "sklearn/random-forest"]
    found = evaluate(data_set, methods, STUMPS, ACCURACY, folds=3, seed=1)
    np.testing.assert_array_equal(found.scores, compare([data_set], methods, folds=3, seed=1).runs("score")[0])
    assert [found.is_code(place) for place in (0, 1)] == [True, False]


def test_guessing_is_always_the_largest_class_whatever_the_weights():
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 4)
    data_set = prepare_table(DataSet("even", pd.DataFrame({"x": np.arange(24.0) ** 2}), y), folds=2).data_set
    for weight in (None, "balanced"):
        found = evaluate(data_set, ["sklearn/majority"], STUMPS, ACCURACY, folds=2, class_weight=weight)
        assert (found.predicted[0] == 0).all()
        assert found.scores.mean() == pytest.approx(10 / 24)
        np.testing.assert_allclose(found.probabilities[0][0], np.array([10, 10, 4]) / 24)


def test_a_method_is_judged_by_a_sample_before_it_begins(monkeypatch):
    from skecoc.tables import selection

    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame({"x": rng.normal(size=90)}), np.array(["a", "b", "c"] * 30)
    data_set = prepare_table(DataSet("many", frame, y), folds=3).data_set
    monkeypatch.setattr(selection, "_SAMPLE_ROWS", 30)
    seen, real = [], selection.try_alone

    def slow(key, learner, seed, fold):
        seen.append((key.method, len(fold.y_train) + len(fold.y_test)))
        trial = real(key, learner, seed, fold)
        return trial._replace(fit_seconds=1e6) if key.method == "sklearn/logistic" else trial

    monkeypatch.setattr(selection, "try_alone", slow)
    methods = ["one-vs-rest/hamming", "sklearn/logistic"]
    found = evaluate(data_set, methods, STUMPS, ACCURACY, folds=3, budget=Budget(1e5))
    assert found.skipped == ["sklearn/logistic"]
    assert seen == [("one-vs-rest/hamming", 90)] * 3 + [("sklearn/logistic", 30)]
