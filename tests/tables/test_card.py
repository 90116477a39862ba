"""What a card says, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from skecoc.compare import DataSet
from skecoc.compare.cross_validation import cross_validate
from skecoc.compare.methods import make_learner
from skecoc.compare.metrics import ACCURACY, Metric
from skecoc.tables.card import calibration_bins, make_card, score_interval, score_on
from skecoc.tables.preparation import prepare_table

METHODS = ["sklearn/majority", "one-vs-one/loss-weighted", "sklearn/logistic"]


@pytest.fixture(scope="module")
def data_set(things):
    return prepare_table(things, folds=3).data_set


@pytest.fixture(scope="module")
def evaluation(data_set):
    return cross_validate([data_set], METHODS, make_learner("stumps"), ACCURACY, folds=3, seed=1, kept_folds=2)


def test_calibration_by_hand():
    probabilities = np.array([[0.95, 0.05], [1.0, 0.0], [0.4, 0.6], [0.5, 0.5]])
    bins = calibration_bins(probabilities, np.array([0, 1, 1, 0]))
    assert bins["n_rows"].tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 2]
    assert bins["confidence"].tolist()[-1] == pytest.approx(0.975)
    assert bins["accuracy"].tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0.5]


def test_methods_without_probabilities_have_no_calibration():
    assert calibration_bins(None, np.zeros(4, dtype=int))["n_rows"].sum() == 0


def test_the_card_sums_up(evaluation, data_set):
    card = make_card(evaluation, 1, ACCURACY, data_set)
    assert card["confusion"].sum(axis=1).tolist() == [20, 20, 20]
    assert np.trace(card["confusion"]) == (evaluation.held_out[1].predicted == data_set.y).sum()
    assert card["calibration"]["n_rows"].sum() == 60
    assert card["metric"] == {"name": "accuracy", "higher_is_better": True, "in_percent": True}
    assert card["scores"] == evaluation.runs("score")[0, 1].tolist()
    assert card["measures"]["accuracy"] == pytest.approx(np.trace(card["confusion"]) / 60)
    low, high = card["interval"]
    assert low < card["measures"]["accuracy"] < high


def test_the_comparison_has_the_best_first_and_the_majority_last(evaluation, data_set):
    rows = make_card(evaluation, 1, ACCURACY, data_set)["comparison"]
    assert rows[-1]["method"] == "sklearn/majority"
    assert [row["is_baseline"] for row in rows] == [False, False, True]
    assert rows[0]["score"] >= rows[1]["score"]
    chosen = next(row for row in rows if row["is_chosen"])
    assert (chosen["method"], chosen["p_value"], chosen["difference"]) == (METHODS[1], None, 0.0)
    assert chosen["columns"] == 3.0
    other = next(row for row in rows if row["method"] == METHODS[2])
    assert other["columns"] is None
    assert 0 < other["p_value"] <= 1
    assert other["std"] == pytest.approx(evaluation.runs("score")[0, 2].std(ddof=1))


def changed(evaluation, scores):
    by_run = {
        (method, fold): score for method, row in zip(METHODS, scores, strict=True) for fold, score in enumerate(row)
    }
    return replace(
        evaluation, records=[replace(each, score=by_run[each.method, each.fold]) for each in evaluation.records]
    )


NEARLY = [[0.33, 0.33, 0.33], [0.80, 0.84, 0.82], [0.79, 0.85, 0.80]]


def test_reasons(evaluation, data_set):
    found = changed(evaluation, NEARLY)
    assert make_card(found, 1, ACCURACY, data_set)["reason"] == (
        "one-vs-one/loss-weighted is saved as the best of 2 methods; next is sklearn/logistic with 81.3 %, not "
        "significantly worse (p = 0.680)."
    )
    assert make_card(found, 1, ACCURACY, data_set, was_named=True)["reason"].startswith(
        "one-vs-one/loss-weighted is saved, as --method says; next is sklearn/logistic"
    )
    assert make_card(found, 2, ACCURACY, data_set, was_named=True)["reason"] == (
        "sklearn/logistic is saved, as --method says; one-vs-one/loss-weighted scores better with 82.0 %, though not "
        "significantly (p = 0.680)."
    )
    sure = changed(evaluation, [NEARLY[0], NEARLY[1], [0.50, 0.54, 0.52]])
    assert make_card(sure, 1, ACCURACY, data_set)["reason"].endswith("with 52.0 %, significantly worse (p < 0.001).")
    assert make_card(sure, 2, ACCURACY, data_set)["reason"].endswith("better with 82.0 %, significantly (p < 0.001).")
    same = changed(evaluation, [NEARLY[0], NEARLY[1], NEARLY[1]])
    assert make_card(same, 1, ACCURACY, data_set)["reason"].endswith("; sklearn/logistic scores the same.")
    losses = make_card(found, 2, Metric("log-loss"), data_set)["reason"]
    assert losses.startswith("sklearn/logistic is saved as the best of 2 methods; next is")


def test_a_model_no_better_than_guessing_is_told_so(evaluation, data_set):
    guesses = np.zeros(60, dtype=int)
    scores = [[0.4, 0.4, 0.4], [0.41, 0.40, 0.42], [0.2, 0.2, 0.2]]
    held_out = [part._replace(predicted=guesses) for part in evaluation.held_out]
    found = replace(changed(evaluation, scores), held_out=held_out)
    warnings = make_card(found, 1, ACCURACY, data_set)["warnings"]
    assert warnings[0] == (
        "the model may be no better than guessing: its accuracy is 41.0 % (22.7 to 45.9 %), and always predicting "
        "'apple' has 40.0 %"
    )
    assert warnings[1] == (
        "no held-out row of class 'pear' (20 rows), 'Äpfel & <b>' (20 rows) is found; --class-weight balanced or "
        "--metric balanced-accuracy may help"
    )
    assert make_card(evaluation, 1, ACCURACY, data_set)["warnings"] == []


def test_intervals_by_hand():
    right = np.array([True] * 9 + [False])
    low, high = score_interval(ACCURACY, np.array([0.9, 0.9]), right, None)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    # Mean 0.8, variance 0.01, (1/3 + 1/2) of it, and the t quantile 4.303 of two degrees of freedom.
    low, high = score_interval(Metric("macro-f1"), np.array([0.7, 0.8, 0.9]), right, None)
    half = 4.3027 * np.sqrt(0.01 * 5 / 6)
    assert (low, high) == pytest.approx((0.8 - half, 1.0), abs=1e-4)
    loss = score_interval(Metric("log-loss"), np.array([0.7, 0.8, 0.9]), right, None)
    assert loss == pytest.approx([0.8 - half, 0.8 + half], abs=1e-4)
    # All folds agree, but ten rows prove little.
    low, high = score_interval(Metric("macro-f1"), np.ones(3), np.full(10, True), None)
    assert (round(low, 3), high) == (0.722, 1.0)
    low, high = score_interval(Metric("macro-f1"), np.array([0.7, 0.8, 0.9]), right, None)
    assert score_interval(ACCURACY, np.array([0.7, 0.8, 0.9]), right, np.arange(10)) == [low, high]


def test_scores_on_another_table(model, things):
    rows = [0, 1, 2, 3, 4, 5]
    labels = things.y[rows].copy()
    labels[0] = "plum"
    test = DataSet("new.csv", things.X.iloc[rows], labels)
    found = score_on(model, test, ACCURACY)
    right = model.predict(test.X)[1:] == labels[1:]
    assert (found["data"], found["n_rows"], found["n_unknown"]) == ("new.csv", 5, 1)
    assert found["score"] == pytest.approx(right.mean())
    assert found["confusion"].sum() == 5
    low, high = score_on(model, test, Metric("macro-f1"))["interval"]
    assert 0 <= low <= high <= 1
