"""Columns: honest answers come from learners that have not seen the row; nothing is trained twice."""

import numpy as np
import pytest
from skecoc.growth.training import ColumnTrainer, Question
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import column_seeds

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 2))
Y = np.arange(60) % 3
FOLDS = np.arange(60) // 3 % 4


class Memory(ClassifierMixin, BaseEstimator):
    """Answers rows that it has seen with 1 or 0, others with 1/2."""

    def fit(self, X, y):
        self.seen_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        second = np.array([self.seen_.get(tuple(row), 0.5) for row in X], dtype=float)
        return np.column_stack([1 - second, second])


def trainer(learner, response="predict_proba", **parameters):
    return ColumnTrainer(learner, X, Y, response, 0, **parameters)


def test_honest_answers_come_from_learners_that_have_not_seen_the_row():
    trained = trainer(Memory(), folds=FOLDS).train([Question(column) for column in one_vs_one(3).T])
    np.testing.assert_array_equal(trained.answers, one_vs_one(3)[Y])
    np.testing.assert_array_equal(trained.honest, 0)


def test_a_row_that_is_never_held_out_keeps_its_answer():
    folds = np.where(np.arange(60) < 3, -1, FOLDS)
    trained = trainer(Memory(), folds=folds).train([Question(column) for column in one_vs_rest(3).T])
    np.testing.assert_array_equal(trained.honest[:3], one_vs_rest(3)[Y[:3]])
    assert not trained.honest[3:].any()


def test_without_folds_honest_answers_are_the_plain_ones():
    trained = trainer(Memory()).train([Question(column) for column in one_vs_rest(3).T])
    assert trained.honest is trained.answers


@pytest.mark.parametrize("learner", [LogisticRegression(), StumpAdaBoostClassifier(5)])
def test_honest_answers_equal_those_of_learners_trained_by_hand(learner):
    column = np.array([1, -1, 0], dtype=np.int8)
    trained = trainer(learner, folds=FOLDS).train([Question(column)])
    for number in range(4):
        used = (number != FOLDS) & (Y < 2)
        model = type(learner)(**learner.get_params()).fit(X[used], (Y[used] == 0).astype(int))
        held_out = (number == FOLDS) & (Y < 2)
        np.testing.assert_allclose(
            trained.honest[held_out, 0], 2 * model.predict_proba(X[held_out])[:, 1] - 1, atol=1e-12
        )
    np.testing.assert_array_equal(trained.honest[Y == 2], trained.answers[Y == 2])


def test_a_clustered_question_trains_regions_seeded_by_pattern_and_occurrence():
    column = np.array([1, -1, 0], dtype=np.int8)
    asked = trainer(StumpAdaBoostClassifier(5), n_regions=3)
    first, second, third = (asked.train([Question(column, clustered)]).learners[0] for clustered in (False, True, True))
    assert isinstance(first, StumpAdaBoostClassifier)
    seeds = column_seeds(np.column_stack([column] * 3), 0)
    for learner, seed in ((second, seeds[1]), (third, seeds[2])):
        assert learner.random_state == seed
        rows = Y < 2
        again = RegionClassifier(StumpAdaBoostClassifier(5), n_regions=3, random_state=seed)
        again.fit(X[rows], (Y[rows] == 0).astype(int))
        np.testing.assert_allclose(again.centres_, learner.centres_)
    assert not np.allclose(second.centres_, third.centres_)


def test_trying_out_does_not_count_as_an_occurrence():
    column = np.array([1, -1, 0], dtype=np.int8)
    asked = trainer(StumpAdaBoostClassifier(5))
    asked.train([Question(column)])
    tried = asked.try_out([Question(column, clustered=True)]).learners[0]
    trained = asked.train([Question(column, clustered=True)]).learners[0]
    assert tried.random_state == trained.random_state


def test_rows_are_prepared_once_for_all_rounds(monkeypatch):
    calls = []
    original = StumpAdaBoostClassifier.prepare_rows
    monkeypatch.setattr(
        StumpAdaBoostClassifier, "prepare_rows", lambda self, *rows: calls.append(1) or original(self, *rows)
    )
    asked = trainer(StumpAdaBoostClassifier(5), folds=FOLDS)
    for column in one_vs_one(3).T:
        asked.train([Question(column)])
    assert len(calls) == 1


def test_weights_reach_the_learners_of_each_column_and_fold():
    weight = RNG.integers(1, 4, size=60).astype(float)
    column = np.array([1, -1, 0], dtype=np.int8)
    weighted = trainer(LogisticRegression(), folds=FOLDS, fit_params={"sample_weight": weight})
    repeated = np.repeat(np.arange(60), weight.astype(int))
    plain = ColumnTrainer(LogisticRegression(), X[repeated], Y[repeated], "predict_proba", 0, folds=FOLDS[repeated])
    mine, theirs = weighted.train([Question(column)]), plain.train([Question(column)])
    np.testing.assert_allclose(mine.honest[repeated], theirs.honest, atol=1e-3)


def test_the_number_of_jobs_does_not_change_the_answers():
    questions = [Question(column) for column in one_vs_one(3).T]
    for learner in (KNeighborsClassifier(3), StumpAdaBoostClassifier(5)):
        alone = trainer(learner, folds=FOLDS).train(questions)
        together = trainer(learner, folds=FOLDS, n_jobs=2).train(questions)
        np.testing.assert_array_equal(alone.honest, together.honest)


def test_learners_of_the_folds_do_not_search_again():
    trained = trainer(TunedSVMClassifier(C=[0.1, 10.0], width=[0.5, 2.0]), folds=FOLDS)
    column = np.array([1, -1, 0], dtype=np.int8)
    honest = trained.train([Question(column)]).honest
    whole, *parts = (trained._trained[key] for key in sorted(trained._trained, key=lambda key: key[3]))
    assert whole.cv_scores_.shape == (2, 2)
    assert [part.cv_scores_.shape for part in parts] == [(1, 1)] * 4
    assert [part.C_ for part in parts] == [whole.C_] * 4
    held_out = (FOLDS == 0) & (Y < 2)
    np.testing.assert_allclose(honest[held_out, 0], 2 * parts[0].predict_proba(X[held_out])[:, 1] - 1)
