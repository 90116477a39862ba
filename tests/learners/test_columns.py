"""Fitting and evaluating one learner per column."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.learners.columns import (
    Column,
    ColumnSeeds,
    ColumnTrainer,
    ConstantClassifier,
    SeededClones,
    evaluate_columns,
    resolve_response,
    seeded_clone,
)
from tests.reference.training import Seeded

X, Y = load_iris(return_X_y=True)


def fit_columns(learner, matrix, **parameters):
    """Fit one learner per column of a matrix."""
    trainer = ColumnTrainer(learner, X, Y, 0, **parameters)
    return Seeded(trainer).fit([Column(pattern) for pattern in matrix.T])


class SharedMean(ClassifierMixin, BaseEstimator):
    """A learner of the sharing kind: the threshold is the mean of the first feature of its rows."""

    prepared = 0

    def _prepare_rows(self, X, y=None):
        type(self).prepared += 1
        return np.asarray(X)[:, 0]

    def _fit_rows(self, prepared, rows, y, sample_weight=None):
        chosen = prepared if rows is None else prepared[rows]
        assert len(chosen) == len(y)
        self.mean_ = np.average(chosen, weights=sample_weight)
        self.labels_ = y
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.mean_).astype(int)


def test_a_sharing_learner_prepares_once_and_gets_only_its_rows():
    SharedMean.prepared = 0
    weight = np.linspace(1, 2, len(Y))
    learners = fit_columns(SharedMean(), one_vs_one(3), fit_params={"sample_weight": weight})
    assert SharedMean.prepared == 1
    for learner, (a, b) in zip(learners, [(0, 1), (0, 2), (1, 2)], strict=True):
        rows = np.isin(Y, (a, b))
        assert learner.mean_ == pytest.approx(np.average(X[rows, 0], weights=weight[rows]))
        np.testing.assert_array_equal(learner.labels_, Y[rows] == a)


def test_labels_of_a_whole_column():
    (learner, *_) = fit_columns(SharedMean(), one_vs_rest(3))
    np.testing.assert_array_equal(learner.labels_, Y == 0)


def test_a_column_with_samples_on_one_side_predicts_that_side():
    for learner in (SharedMean(), GaussianNB()):
        trainer = ColumnTrainer(learner, X[Y != 0], Y[Y != 0], 0)
        first, _, third = trainer.fit([Column(pattern) for pattern in one_vs_one(3).T])
        assert isinstance(first, ConstantClassifier)
        assert not isinstance(third, ConstantClassifier)
        np.testing.assert_array_equal(first.predict(X), np.zeros(150))


@pytest.mark.parametrize("side", [0, 1])
def test_constant_outputs(side):
    learner = ConstantClassifier(side).fit(X)
    for response in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(evaluate_columns([learner], X[:2], response), np.full((2, 1), 2 * side - 1))


def seeds_of(seeds, matrix, **options):
    return [column.seed for column in seeds.seeded([Column(pattern) for pattern in matrix.T], **options)]


def test_seeds_depend_on_pattern_and_occurrence_only():
    M = one_vs_rest(4)
    seeds = seeds_of(ColumnSeeds(5), M)
    assert len(set(seeds)) == 4
    assert seeds_of(ColumnSeeds(5), M[:, ::-1]) == seeds[::-1]
    assert seeds_of(ColumnSeeds(5), -M) == seeds
    assert seeds_of(ColumnSeeds(6), M) != seeds
    assert max(seeds) < 2**31
    one = ColumnSeeds(5)
    assert seeds_of(one, M, tried=True) == seeds
    assert seeds_of(one, M) == seeds
    assert not set(seeds_of(one, M)) & set(seeds)


def test_seeded_clone_reaches_nested_learners_and_respects_a_users_seed():
    nested = make_pipeline(DecisionTreeClassifier())
    assert seeded_clone(nested, 3).get_params()["decisiontreeclassifier__random_state"] == 3
    assert nested.get_params()["decisiontreeclassifier__random_state"] is None
    assert seeded_clone(DecisionTreeClassifier(random_state=9), 3).random_state == 9
    assert seeded_clone(GaussianNB(), 3).get_params() == GaussianNB().get_params()


def test_clones_of_one_maker_share_nothing():
    clones = SeededClones(make_pipeline(DecisionTreeClassifier()))
    first, second = clones.make(1), clones.make(2)
    assert [model.get_params()["decisiontreeclassifier__random_state"] for model in (first, second)] == [1, 2]
    first.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(second[-1])
    with pytest.raises(NotFittedError):
        check_is_fitted(clones.make(1)[-1])


@pytest.mark.parametrize(
    ("learner", "response"),
    [
        (LogisticRegression(), "predict_proba"),
        (LogisticRegression(), "decision_function"),
        (LogisticRegression(fit_intercept=False), "predict_proba"),
        (LinearSVC(fit_intercept=False), "decision_function"),
    ],
)
def test_one_matrix_product_equals_evaluating_each_linear_learner(learner, response):
    learners = fit_columns(learner, one_vs_one(3))
    one_by_one = np.column_stack([evaluate_columns([learner], X, response) for learner in learners])
    direct = np.column_stack([getattr(learner, response)(X) for learner in learners])
    expected = 2 * direct[:, 1::2] - 1 if response == "predict_proba" else direct
    np.testing.assert_allclose(evaluate_columns(learners, X, response), expected, atol=1e-12)
    np.testing.assert_allclose(one_by_one, expected, atol=1e-12)


def test_response_is_resolved_from_what_the_learner_has():
    assert resolve_response(GaussianNB(), "auto") == "predict_proba"
    assert resolve_response(LinearSVC(), "auto") == "decision_function"
    assert resolve_response(SharedMean(), "auto") == "predict"
    assert resolve_response(GaussianNB(), "predict") == "predict"
    with pytest.raises(
        ValueError, match=r"response_method='decision_function' needs .* which GaussianNB does not have"
    ):
        resolve_response(GaussianNB(), "decision_function")


def test_nan_is_found_even_when_the_first_column_is_constant():
    learner = LogisticRegression().fit(X[:100], Y[:100])
    bad = np.full((1, 4), np.nan)
    for learners in ([ConstantClassifier(1), learner], [learner, learner]):
        with pytest.raises(ValueError, match="NaN"):
            evaluate_columns(learners, bad, "predict_proba")
