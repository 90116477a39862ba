"""Out-of-fold outputs come from learners that have not seen the sample; nothing is trained twice."""

from weakref import WeakSet

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import ExtraTreeClassifier

from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import Column, ColumnSeeds, ColumnTrainer
from tests.reference.training import Seeded

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 2))
Y = np.arange(60) % 3
FOLDS = np.arange(60) // 3 % 4


class Memory(ClassifierMixin, BaseEstimator):
    """Predicts rows that it has seen with probability 1 or 0, others with 1/2."""

    def fit(self, X, y):
        self.seen_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        second = np.array([self.seen_.get(tuple(row), 0.5) for row in X], dtype=float)
        return np.column_stack([1 - second, second])


def trainer(learner, response="predict_proba", **parameters):
    regions = RegionClassifier(learner, n_regions=3)
    return Seeded(ColumnTrainer(learner, X, Y, 0, response, clustered_learner=regions, **parameters))


def test_out_of_fold_outputs_come_from_learners_that_have_not_seen_the_row():
    trained = trainer(Memory(), folds=FOLDS).train([Column(column) for column in one_vs_one(3).T])
    np.testing.assert_array_equal(trained.outputs, one_vs_one(3)[Y])
    np.testing.assert_array_equal(trained.out_of_fold, 0)


def test_a_sample_that_is_never_held_out_keeps_its_output():
    folds = np.where(np.arange(60) < 3, -1, FOLDS)
    trained = trainer(Memory(), folds=folds).train([Column(column) for column in one_vs_rest(3).T])
    np.testing.assert_array_equal(trained.out_of_fold[:3], one_vs_rest(3)[Y[:3]])
    assert not trained.out_of_fold[3:].any()


def test_without_folds_held_out_samples_are_all_samples():
    outputs = trainer(Memory()).train_held_out([Column(column) for column in one_vs_rest(3).T])[1]
    np.testing.assert_array_equal(outputs, one_vs_rest(3)[Y])


@pytest.mark.parametrize("learner", [LogisticRegression(), StumpAdaBoostClassifier(5)])
def test_out_of_fold_outputs_equal_those_of_learners_trained_by_hand(learner):
    column = np.array([1, -1, 0], dtype=np.int8)
    trained = trainer(learner, folds=FOLDS).train([Column(column)])
    for number in range(4):
        used = (number != FOLDS) & (Y < 2)
        model = type(learner)(**learner.get_params()).fit(X[used], (Y[used] == 0).astype(int))
        held_out = number == FOLDS  # also of the class that takes no part: all its columns see as many samples
        expected = 2 * model.predict_proba(X[held_out])[:, 1] - 1
        np.testing.assert_allclose(trained.out_of_fold[held_out, 0], expected, atol=1e-12)
    learners, outputs = trainer(learner, folds=FOLDS).train_held_out([Column(column)])
    np.testing.assert_array_equal(outputs, trained.out_of_fold[FOLDS >= 0])
    np.testing.assert_array_equal(learners[0].predict(X), trained.learners[0].predict(X))


def test_a_clustered_column_trains_regions_seeded_by_pattern_and_occurrence():
    column = np.array([1, -1, 0], dtype=np.int8)
    one = trainer(StumpAdaBoostClassifier(5))
    first, second, third = (one.train([Column(column, n_regions)]).learners[0] for n_regions in (0, 3, 3))
    assert isinstance(first, StumpAdaBoostClassifier)
    seeds = [seeded.seed for seeded in ColumnSeeds(0).seeded([Column(column)] * 3)]
    for learner, seed in ((second, seeds[1]), (third, seeds[2])):
        assert learner.random_state == seed
        rows = Y < 2
        again = RegionClassifier(StumpAdaBoostClassifier(5), n_regions=3, random_state=seed)
        again.fit(X[rows], (Y[rows] == 0).astype(int))
        np.testing.assert_allclose(again.centres_, learner.centres_)
    assert not np.allclose(second.centres_, third.centres_)


def test_trying_out_does_not_count_as_an_occurrence():
    column = np.array([1, -1, 0], dtype=np.int8)
    one = trainer(StumpAdaBoostClassifier(5))
    one.train([Column(column)])
    tried = one.train([Column(column, 3)], tried=True).learners[0]
    trained = one.train([Column(column, 3)]).learners[0]
    assert tried.random_state == trained.random_state


def test_rows_are_prepared_once_for_all_rounds(monkeypatch):
    calls = []
    original = StumpAdaBoostClassifier._prepare_rows
    monkeypatch.setattr(
        StumpAdaBoostClassifier, "_prepare_rows", lambda self, *rows: calls.append(1) or original(self, *rows)
    )
    one = trainer(StumpAdaBoostClassifier(5), folds=FOLDS)
    for column in one_vs_one(3).T:
        one.train([Column(column)])
    assert len(calls) == 1


def test_weights_reach_the_learners_of_each_column_and_fold():
    weight = RNG.integers(1, 4, size=60).astype(float)
    column = np.array([1, -1, 0], dtype=np.int8)
    weighted = trainer(LogisticRegression(), folds=FOLDS, fit_params={"sample_weight": weight})
    repeated = np.repeat(np.arange(60), weight.astype(int))
    plain = Seeded(
        ColumnTrainer(LogisticRegression(), X[repeated], Y[repeated], 0, "predict_proba", folds=FOLDS[repeated])
    )
    mine, theirs = weighted.train([Column(column)]), plain.train([Column(column)])
    np.testing.assert_allclose(mine.out_of_fold[repeated], theirs.out_of_fold, atol=1e-3)


def test_the_number_of_jobs_does_not_change_the_outputs():
    columns = [Column(column) for column in one_vs_one(3).T]
    for learner in (KNeighborsClassifier(3), StumpAdaBoostClassifier(5)):
        alone = trainer(learner, folds=FOLDS).train(columns)
        together = trainer(learner, folds=FOLDS, n_jobs=2).train(columns)
        np.testing.assert_array_equal(alone.out_of_fold, together.out_of_fold)


def test_learners_of_the_folds_do_not_search_again():
    trained = trainer(TunedSVMClassifier(C=[0.1, 10.0], width=[0.5, 2.0]), folds=FOLDS)
    column = np.array([1, -1, 0], dtype=np.int8)
    out_of_fold = trained.train([Column(column)], tried=True).out_of_fold
    kept = trained.trainer._trained
    whole, *parts = (learner for fold in sorted(kept) for learner in kept[fold].values())
    assert whole.cv_scores_.shape == (2, 2)
    assert [part.cv_scores_.shape for part in parts] == [(1, 1)] * 4
    assert [part.C_ for part in parts] == [whole.C_] * 4
    held_out = (FOLDS == 0) & (Y < 2)
    np.testing.assert_allclose(out_of_fold[held_out, 0], 2 * parts[0].predict_proba(X[held_out])[:, 1] - 1)


def test_columns_do_not_share_a_random_state():
    forest = RandomForestClassifier(3, random_state=np.random.RandomState(0))
    columns = [Column(column) for column in one_vs_one(3).T]
    learners = Seeded(ColumnTrainer(forest, X, Y, 0, "predict_proba")).fit(columns)
    assert len({id(learner.random_state) for learner in learners}) == len(columns)


def test_region_learners_have_seeds_of_their_own():
    trees = RegionClassifier(ExtraTreeClassifier())
    one = Seeded(ColumnTrainer(ExtraTreeClassifier(), X, Y, 0, "predict_proba", clustered_learner=trees))
    first, second = one.fit([Column(np.array([1, -1, 0], dtype=np.int8), 3)] * 2)
    seeds = [tree.random_state for learner in (first, second) for tree in learner.estimators_ if tree is not None]
    assert len(seeds) > 2
    assert len(set(seeds)) == len(seeds)


def test_learners_of_a_fold_are_forgotten_before_those_of_the_next_are_trained():
    alive, most = WeakSet(), []

    class Watched(Memory):
        def fit(self, X, y):
            alive.add(self)
            most.append(len(alive))
            return super().fit(X, y)

    learners, _ = trainer(Watched(), folds=FOLDS).train_held_out([Column(column) for column in one_vs_one(3).T])
    assert len(learners) == 3
    assert max(most) == 6  # those of all samples, and those of one of the four folds
