"""One multiclass learner for all columns: what a column's output is, and how often the learner is fitted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc.coding import one_vs_one, one_vs_rest, sparse_random
from skecoc.learners import MulticlassLearner
from skecoc.learners.columns import Column, evaluate_columns, takes_weights, weight_params
from skecoc.learners.mixed import MixedTrainer
from skecoc.learners.multiclass import MulticlassColumn, MulticlassTrainer
from tests.reference.training import Seeded

X, Y = make_classification(150, 6, n_informative=5, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0)
# The width of the kernel follows the spread of the samples, which repeated ones change and weighted ones do not.
SCALED_KERNEL = {
    "check_sample_weight_equivalence_on_dense_data": "gamma='scale' does not read sample weights",
    "check_sample_weight_equivalence_on_sparse_data": "gamma='scale' does not read sample weights",
}


@parametrize_with_checks(
    [MulticlassLearner(DecisionTreeClassifier(random_state=0)), MulticlassLearner(SVC())],
    expected_failed_checks=lambda learner: SCALED_KERNEL if isinstance(learner.estimator, SVC) else {},
)
def test_estimator_checks(estimator, check):
    check(estimator)


def outputs(learner, patterns, rows=X, response="predict_proba"):
    """Evaluate columns of a trained learner."""
    return evaluate_columns([MulticlassColumn(learner, pattern) for pattern in patterns], rows, response)


def test_outputs_follow_from_probabilities():
    learner = MulticlassLearner(GaussianNB()).fit(X, Y)
    p = learner.predict_proba(X)
    np.testing.assert_array_equal(p, GaussianNB().fit(X, Y).predict_proba(X))
    np.testing.assert_allclose(outputs(learner, one_vs_rest(4).T), 2 * p - 1, atol=1e-9)
    patterns = sparse_random(4, n_columns=8, random_state=0).T
    for pattern, found in zip(patterns, outputs(learner, patterns).T, strict=True):
        positive, negative = p[:, pattern > 0].sum(axis=1), p[:, pattern < 0].sum(axis=1)
        is_known = positive + negative > 1e-6
        wanted = (positive - negative) / (positive + negative)
        np.testing.assert_allclose(found[is_known], wanted[is_known], atol=1e-5)


def test_the_pairs_of_one_svc_are_those_of_svcs_of_two_classes():
    learner = MulticlassLearner(SVC(gamma=0.1, tol=1e-8)).fit(X, Y)
    patterns = [*one_vs_one(4).T, -one_vs_one(4)[:, 0]]
    for pattern, found in zip(patterns, outputs(learner, patterns).T, strict=True):
        rows = np.flatnonzero(pattern[Y])
        alone = SVC(gamma=0.1, tol=1e-8).fit(X[rows], pattern[Y[rows]] > 0)
        np.testing.assert_allclose(found, np.tanh(alone.decision_function(X)), atol=1e-5)


def test_margins_of_pairs_that_agree_give_the_probabilities_they_stand_for():
    p = np.array([[0.5, 0.3, 0.2], [0.01, 0.04, 0.95]])

    class Pairwise(SVC):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            first, second = np.triu_indices(3, 1)
            return 0.5 * np.log(p[:, first] / p[:, second])

    learner = MulticlassLearner(Pairwise()).fit(np.zeros((3, 1)), [0, 1, 2])
    assert learner._is_pairwise
    np.testing.assert_allclose(learner.predict_proba(np.zeros((2, 1))), p)
    found = outputs(learner, [*one_vs_rest(3).T, np.array([1, 0, -1])], np.zeros((2, 1)))
    np.testing.assert_allclose(found, np.column_stack([2 * p - 1, (p[:, 0] - p[:, 2]) / (p[:, 0] + p[:, 2])]))


@pytest.mark.parametrize("estimator", [SVC(), RidgeClassifier(), GaussianNB(), Perceptron()])
def test_two_classes_have_the_right_sign(estimator):
    y = (X[:, 0] > 0).astype(int)
    learner = MulticlassLearner(estimator).fit(X, y)
    found = outputs(learner, [np.array([1, -1]), np.array([-1, 1])])
    assert np.mean((found[:, 1] > 0) == y) > 0.85
    np.testing.assert_allclose(found[:, 0], -found[:, 1], atol=1e-12)


@pytest.mark.parametrize("estimator", [RidgeClassifier(), KNeighborsClassifier(1), SVC(), ExtraTreesClassifier(5)])
def test_every_kind_of_classifier_finds_the_classes(estimator):
    learner = MulticlassLearner(estimator).fit(X, Y)
    found = outputs(learner, one_vs_rest(4).T)
    assert np.abs(found).max() <= 1.0
    assert np.mean(found.argmax(axis=1) == learner.estimator_.predict(X)) > 0.95
    labels = outputs(learner, one_vs_rest(4).T, response="predict")
    assert set(np.unique(labels)) <= {-1.0, 1.0}
    np.testing.assert_array_equal(labels.argmax(axis=1), learner.estimator_.predict(X))


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("strategy", [OneVsRestClassifier, OneVsOneClassifier])
def test_machines_within_other_strategies_have_no_margins_of_pairs(strategy, n_classes):
    rows = n_classes > Y
    learner = MulticlassLearner(strategy(SVC())).fit(X[rows], Y[rows])
    assert not learner._is_pairwise
    assert np.mean(learner.predict(X[rows]) == learner.estimator_.predict(X[rows])) > 0.95


def test_ties_of_an_svc_need_not_be_broken_by_it():
    learner = MulticlassLearner(make_pipeline(StandardScaler(), SVC(break_ties=True))).fit(X, Y)
    assert learner._is_pairwise
    assert np.mean(learner.predict(X) == Y) > 0.8


def test_a_class_without_training_samples_is_unknown():
    learner = MulticlassLearner(GaussianNB()).fit(X[Y != 3], Y[Y != 3])
    found = outputs(learner, [np.array([-1, -1, -1, 1]), np.array([1, 0, 0, -1]), np.array([1, -1, 0, 0])])
    np.testing.assert_array_equal(found[:, :2], np.tile([-1.0, 1.0], (len(X), 1)))
    assert np.abs(found[:, 2]).min() < 1.0


def test_a_view_predicts_like_a_binary_learner():
    column = MulticlassColumn(MulticlassLearner(GaussianNB()).fit(X, Y), np.array([1, -1, -1, 1]))
    p = column.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(column.predict(X), np.isin(GaussianNB().fit(X, Y).predict(X), [0, 3]).astype(int))


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    learner = MulticlassLearner(GaussianNB()).fit(frame, Y)
    np.testing.assert_array_equal(learner.feature_names_in_, frame.columns)
    assert learner.fit(X, Y).n_features_in_ == 6
    assert not hasattr(learner, "feature_names_in_")


def test_weights_reach_every_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=10_000))
    assert list(weight_params(pipeline, [1])) == ["standardscaler__sample_weight", "logisticregression__sample_weight"]
    assert weight_params(pipeline, None) == {}
    counts = np.random.RandomState(0).randint(0, 3, size=len(Y))
    weighted = MulticlassLearner(pipeline).fit(X, Y, sample_weight=counts)
    repeated = MulticlassLearner(pipeline).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression()))
    assert list(weight_params(nested, [1]))[1:] == [
        "pipeline__standardscaler__sample_weight",
        "pipeline__logisticregression__sample_weight",
    ]
    assert takes_weights(nested)
    assert takes_weights(pipeline)
    assert takes_weights(MulticlassLearner(pipeline))
    assert not takes_weights(make_pipeline(StandardScaler(), KNeighborsClassifier()))
    assert not takes_weights(MulticlassLearner(KNeighborsClassifier()))


class Counting(GaussianNB):
    """Counts how often it is fitted, and to how many samples."""

    sizes: list[int] = []  # noqa: RUF012

    def fit(self, X, y):
        self.sizes.append(len(y))
        return super().fit(X, y)


def test_one_fit_per_fold_serves_all_columns():
    folds = np.arange(len(Y)) % 3
    folds[:5] = -1
    Counting.sizes.clear()
    trainer = Seeded(MulticlassTrainer(MulticlassLearner(Counting()), X, Y, 0, "predict_proba", folds=folds))
    patterns = [*one_vs_rest(4).T, *one_vs_one(4).T]
    columns = [Column(pattern) for pattern in patterns]
    learners, found = trainer.train_held_out(columns)
    assert Counting.sizes == [len(Y), *(np.sum(folds != fold) for fold in range(3))]
    assert len({id(learner.learner) for learner in learners}) == 1
    trained = trainer.train(columns[:3])
    assert len(Counting.sizes) == 4
    np.testing.assert_array_equal(trained.outputs, outputs(learners[0].learner, patterns[:3]))
    np.testing.assert_array_equal(trained.out_of_fold[:5], trained.outputs[:5])
    held_out = folds >= 0
    np.testing.assert_array_equal(trained.out_of_fold[held_out], found[:, :3])
    alone = MulticlassLearner(GaussianNB()).fit(X[folds != 1], Y[folds != 1])
    np.testing.assert_allclose(trained.out_of_fold[folds == 1], outputs(alone, patterns[:3], X[folds == 1]))
    assert trainer.trainer.fit(columns[:3], 1)[0].learner.classes_.tolist() == [0, 1, 2, 3]  # which outputs has dropped
    assert trainer.trainer.relabelled(Y % 2).fit([Column(np.array([1, -1]))])[0].learner.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("is_mixed", [False, True], ids=["one", "several"])
def test_one_fit_per_fold_serves_a_group_of_columns(is_mixed):
    folds = np.arange(len(Y)) % 3
    groups = np.array([0, 1, 1, -1], dtype=np.int8)  # two classes are one group, and the last takes no part
    patterns = [np.array(sides, dtype=np.int8) for sides in ([1, -1, -1, 0], [-1, 1, 1, 0], [1, -1, 0, 0])]
    divisions = [groups, groups, None]
    Counting.sizes.clear()
    learner = MulticlassLearner(Counting())
    if is_mixed:
        trainer = Seeded(MixedTrainer({"bayes": learner}, X, Y, 0, folds=folds))
    else:
        trainer = Seeded(MulticlassTrainer(learner, X, Y, 0, "predict_proba", folds=folds))
    columns = [
        Column(pattern, learner="bayes", groups=division) for pattern, division in zip(patterns, divisions, strict=True)
    ]
    learners, found = trainer.train_held_out(columns)
    in_part = Y < 3
    expected = [np.sum(kept & (folds != fold)) for fold in (-1, 0, 1, 2) for kept in (in_part, np.full(len(Y), True))]
    assert sorted(Counting.sizes) == sorted(expected)
    assert [one.learner.classes_.tolist() for one in learners] == [[0, 1], [0, 1], [0, 1, 2, 3]]
    assert learners[0].learner is learners[1].learner
    for fold in range(3):
        alone = GaussianNB().fit(X[in_part & (folds != fold)], groups[Y[in_part & (folds != fold)]])
        first, second = alone.predict_proba(X[folds == fold]).T
        np.testing.assert_allclose(found[folds == fold, 0], first - second, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], -found[:, 0], atol=1e-12)


def test_jobs_change_nothing():
    folds = np.arange(len(Y)) % 3
    columns = [Column(pattern) for pattern in one_vs_rest(4).T]
    found = [
        Seeded(
            MulticlassTrainer(
                MulticlassLearner(ExtraTreesClassifier(3)), X, Y, 0, "predict_proba", folds=folds, n_jobs=n_jobs
            )
        ).train_held_out(columns)[1]
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(*found)
