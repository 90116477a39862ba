"""Held-out results of methods on a table, and the choice among them, which is that of `compare` and `fit_table`."""

from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skecoc.cli import compare as command
from skecoc.compare import DEFAULT_METHODS, DataSet, compare, trials
from skecoc.compare.cross_validation import Budget, HeldOut, cross_validate
from skecoc.compare.methods import MAJORITY, default_methods, make_learner
from skecoc.compare.metrics import ACCURACY, Metric
from skecoc.learners import mixed
from skecoc.reports.comparison import conclude
from skecoc.tables import fit_table, fitting
from skecoc.tables.preparation import prepare_table

METHODS = ["sklearn/majority", "one-vs-one/loss-weighted", "sklearn/one-vs-one", "sklearn/logistic"]
STUMPS = make_learner("stumps")


@pytest.fixture(scope="module")
def data_set(things):
    return prepare_table(things, folds=3).data_set


@pytest.fixture(scope="module")
def evaluation(data_set):
    return cross_validate([data_set], METHODS, STUMPS, ACCURACY, folds=3, seed=1, kept_folds=2)


def test_scores_are_those_of_compare(data_set, evaluation):
    theirs = compare([data_set], METHODS, folds=3, seed=1)
    for measure in ("score", "accuracy", "n_columns"):
        np.testing.assert_array_equal(evaluation.runs(measure), theirs.runs(measure))
    for mine, other in zip(evaluation.held_out, theirs.held_out, strict=True):
        np.testing.assert_array_equal(mine.predicted, other.predicted)
        assert mine.log_loss() == other.log_loss()


@pytest.mark.parametrize("metric", ["accuracy", "log-loss"])
def test_compare_recommends_what_fit_saves(things, metric, monkeypatch):
    methods = ["sklearn/logistic", "one-vs-one/loss-weighted", "one-vs-rest/loss-weighted"]
    monkeypatch.setattr(fitting, "default_methods", lambda *_, **__: methods)
    card = fit_table(things, folds=4, seed=3, metric=metric).card_
    table = prepare_table(things, folds=4).data_set
    found = compare([table], [*methods, MAJORITY], folds=4, seed=3, metric=metric)
    assert conclude(found).recommended == card["method"]
    scores = dict(zip(found.methods, found.runs("score")[0].mean(axis=1).tolist(), strict=True))
    assert {row["method"]: row["score"] for row in card["comparison"]} == scores


def test_the_command_compares_what_fit_tries(things):
    options = SimpleNamespace(data="things.csv", metric="accuracy", class_weight=None, learner=None)
    table = prepare_table(things, folds=3).data_set
    tried = default_methods(3, table.X.shape[1], has_learner=False)
    assert command._default_methods(options, [table]) == [*tried, MAJORITY]
    options.learner = "svm"
    assert command._default_methods(options, [table]) == [*default_methods(3, 5, has_learner=True), MAJORITY]
    assert command._default_methods(options, []) == list(DEFAULT_METHODS)


def test_compare_recommends_what_fit_saves_of_equal_scores(data_set, evaluation):
    """Also if another method was fitted faster: the probabilities decide."""
    truth = np.eye(3)[evaluation.held_out[0].truth]
    for better in (1, 3):
        found = with_scores(evaluation, [0.4, 0.9, 0.9, 0.9])
        held_out = [part._replace(probabilities=0.7 * truth + 0.1) for part in found.held_out]
        held_out[better] = held_out[better]._replace(probabilities=0.85 * truth + 0.05)
        found = replace(found, held_out=held_out)
        slow = [replace(each, fit_seconds=99.0 if each.method == METHODS[better] else 2.0) for each in found.records]
        assert found.best(METHODS[1:]) == better
        assert conclude(replace(found, records=slow)).recommended == METHODS[better]


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("metric", ["macro-f1", "log-loss", "roc_auc_ovr"])
def test_other_metrics_are_those_of_compare(data_set, metric, class_weight):
    methods = ["one-vs-rest/loss-based", "one-vs-rest/hamming", "sklearn/logistic"]
    found = cross_validate([data_set], methods, STUMPS, Metric(metric), folds=3, class_weight=class_weight)
    theirs = compare([data_set], methods, folds=3, metric=metric, class_weight=class_weight)
    np.testing.assert_allclose(found.runs("score"), theirs.runs("score"), rtol=1e-12)
    assert theirs.settings["metric"] == metric


def test_predictions_belong_to_the_scores(data_set, evaluation):
    for place, held_out in enumerate(evaluation.held_out):
        np.testing.assert_array_equal(held_out.truth, data_set.y)
        right = held_out.predicted == held_out.truth
        assert right.mean() == pytest.approx(evaluation.runs("score")[0, place].mean())
        if place != 2:
            np.testing.assert_allclose(held_out.probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(evaluation.held_out[1].probabilities.argmax(axis=1), evaluation.held_out[1].predicted)
    assert evaluation.held_out[2].probabilities is None


def test_classifiers_of_two_folds_are_kept_where_columns_can_be_shuffled(evaluation):
    assert [len(held_out.kept) for held_out in evaluation.held_out] == [0, 2, 0, 2]
    kept = evaluation.held_out[3].kept[0]
    assert kept.classifier.score(kept.fold.X_test, kept.fold.y_test) == evaluation.runs("score")[0, 3, 0]


def test_jobs_change_nothing(data_set, evaluation):
    with joblib.parallel_config("threading"):
        again = cross_validate([data_set], METHODS, STUMPS, ACCURACY, folds=3, seed=1, n_jobs=2)
    np.testing.assert_array_equal(again.runs("score"), evaluation.runs("score"))
    np.testing.assert_array_equal(again.held_out[1].probabilities, evaluation.held_out[1].probabilities)


def test_a_class_that_is_absent_from_a_training_part_has_no_probability():
    frame = pd.DataFrame({"a": np.arange(13.0) ** 2})
    table = prepare_table(DataSet("rare", frame, np.array(["a"] * 6 + ["b"] * 6 + ["c"])), folds=3)
    found = cross_validate([table.data_set], ["one-vs-rest/loss-based"], STUMPS, ACCURACY, folds=3).held_out[0]
    assert found.probabilities[-1, 2] == 0.0
    assert found.predicted[-1] != 2


def test_class_weights_find_the_rare_class():
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 180 + ["b"] * 20)
    frame = pd.DataFrame({"x": rng.normal(size=200) + 1.2 * (y == "b")})
    data_set = prepare_table(DataSet("rare", frame, y)).data_set
    recall = {}
    for weight in (None, "balanced"):
        (found,) = cross_validate([data_set], ["sklearn/logistic"], STUMPS, ACCURACY, class_weight=weight).held_out
        recall[weight] = (found.predicted == 1)[found.truth == 1].mean()
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
    found = cross_validate([data_set], METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e-9))
    assert found.methods == METHODS[:2]


def test_with_time_for_all_a_budget_changes_nothing(data_set, evaluation):
    found = cross_validate([data_set], METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e6))
    np.testing.assert_array_equal(found.runs("score"), evaluation.runs("score"))
    assert found.methods == METHODS


def test_a_method_whose_folds_would_take_too_long_is_skipped(data_set, monkeypatch):
    real = trials.try_alone

    def slow(key, learner, seed, fold):
        trial = real(key, learner, seed, fold)
        return trial._replace(fit_seconds=1e6) if key.method == "sklearn/logistic" else trial

    monkeypatch.setattr(trials, "try_alone", slow)
    found = cross_validate([data_set], METHODS, STUMPS, ACCURACY, folds=3, seed=1, budget=Budget(1e5))
    assert found.methods == METHODS[:3]


def with_scores(evaluation, scores):
    """The same comparison with other scores of the methods, and by another metric."""
    by_method = dict(zip(METHODS, scores, strict=True))
    records = [replace(each, score=by_method[each.method]) for each in evaluation.records]
    return replace(evaluation, records=records)


def test_the_best_candidate_is_chosen(evaluation):
    found = with_scores(evaluation, [0.9, 0.7, 0.8, 0.6])
    assert found.best(METHODS[1:]) == 2
    assert found.best([METHODS[1], METHODS[3]]) == 1
    losses = {**found.settings, "metric": "log-loss", "higher_is_better": False}
    assert replace(found, settings=losses).best(METHODS[1:]) == 3


def test_of_equal_candidates_the_one_with_the_better_probabilities_is_chosen(evaluation):
    equal = with_scores(evaluation, [0.5, 0.5, 0.5, 0.5])
    indices = evaluation.held_out[0].truth
    truth = np.eye(3)[indices]
    good, better = 0.7 * truth + 0.1, 0.85 * truth + 0.05

    def with_probabilities(*probabilities):
        return replace(equal, held_out=[HeldOut(indices, indices, each, []) for each in probabilities])

    assert with_probabilities(None, good, None, better).best(METHODS[1:]) == 3
    assert with_probabilities(None, better, None, good).best(METHODS[1:]) == 1


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
    found = cross_validate([data_set], methods, STUMPS, ACCURACY, folds=3, seed=1)
    np.testing.assert_array_equal(found.runs("score"), compare([data_set], methods, folds=3, seed=1).runs("score"))
    assert (found.runs("n_columns")[0] > 0).all(axis=1).tolist() == [True, False]


def test_guessing_is_always_the_largest_class_whatever_the_weights():
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 4)
    data_set = prepare_table(DataSet("even", pd.DataFrame({"x": np.arange(24.0) ** 2}), y), folds=2).data_set
    for weight in (None, "balanced"):
        found = cross_validate([data_set], [MAJORITY], STUMPS, ACCURACY, folds=2, class_weight=weight)
        assert (found.held_out[0].predicted == 0).all()
        assert found.runs("score").mean() == pytest.approx(10 / 24)
        np.testing.assert_allclose(found.held_out[0].probabilities[0], np.array([10, 10, 4]) / 24)


def test_a_method_is_judged_by_a_sample_before_it_begins(monkeypatch):
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame({"x": rng.normal(size=90)}), np.array(["a", "b", "c"] * 30)
    monkeypatch.setattr(fitting, "_SAMPLE_ROWS", 30)
    seen, real = [], trials.try_alone

    def slow(key, learner, seed, fold):
        seen.append((key.method, len(fold.y_train) + len(fold.y_test)))
        trial = real(key, learner, seed, fold)
        return trial._replace(fit_seconds=1e6) if key.method == "sklearn/one-vs-rest" else trial

    monkeypatch.setattr(trials, "try_alone", slow)
    model = fit_table(DataSet("many", frame, y), method="one-vs-rest/hamming", folds=3, time_budget=1e5)
    assert "no time was left for sklearn/one-vs-rest" in model.card_["notes"]
    tried = ["one-vs-rest/hamming", "sklearn/one-vs-one", "sklearn/one-vs-rest"]
    assert seen == [
        *[(MAJORITY, 90)] * 3,
        *[(tried[0], 90)] * 3,
        (tried[1], 30),
        *[(tried[1], 90)] * 3,
        (tried[2], 30),
    ]
