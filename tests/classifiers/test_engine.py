"""The loop: what is appended, what is kept, and each rule that ends it."""

import numpy as np
import pytest

from skecoc.classifiers.growth import Evaluation, GrowingCode, Proposal, StopRules, Strategy, grow
from skecoc.classifiers.layered import pair_column
from skecoc.coding import one_vs_rest
from skecoc.data.samples import ArraySamples
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import Column, ColumnTrainer

X = np.arange(30.0)[:, None]
Y = np.arange(30) % 3


class Script(Strategy):
    """Gives scripted losses and always separates the same pair."""

    tells_next = True

    def __init__(self, losses, n_columns=1):
        self.losses, self.n_columns = list(losses), n_columns

    def evaluate(self, code):
        loss = self.losses[code.n_columns - 3]
        return Evaluation(
            f"decoder of {code.n_columns}", loss, np.array([[0, loss, 0], [0, 0, 0], [0, 0, 0]]), 1.0, 1.0
        )

    def propose(self, code, evaluation):
        return Proposal([Column(pair_column(3, (0, 1)), 2)] * self.n_columns, [(0, 1)] * self.n_columns)


def growing(response, n_estimators=2, folds=None):
    learner = StumpAdaBoostClassifier(n_estimators)
    trainer = ColumnTrainer(learner, X, Y, 0, response, folds=folds, clustered_learner=RegionClassifier(learner))
    return GrowingCode(ArraySamples(Y, np.ones(30), 3, folds), trainer)


def started(response="predict"):
    code = growing(response)
    code.start([one_vs_rest(3)])
    return code


def test_stops_at_once_at_zero_loss_and_keeps_that_code():
    growth = grow(started(), Script([0.0]), StopRules(9))
    assert len(growth.history) == 1
    assert growth.kept == 0
    assert "target" in growth.stop_reason
    assert growth.history[0].pairs == []


def test_zero_loss_later_is_kept():
    growth = grow(started(), Script([1.0, 0.0]), StopRules(9))
    assert growth.kept == 1
    assert growth.decoders[1] == "decoder of 4"


def test_stops_after_patience_and_keeps_the_last_round_that_made_progress():
    # Drops by 50 %, 0.5 %, 0, then 2 % (resets the count), then three rounds without progress.
    losses = [1.0, 0.5, 0.4975, 0.4975, 0.4875, 0.4875, 0.486, 0.485, 0.1]
    growth = grow(started(), Script(losses), StopRules(99, tol=0.01, patience=3))
    assert len(growth.history) == 8
    assert growth.kept == 4
    assert growth.history[growth.kept].n_columns == 7
    assert growth.decoders[growth.kept] == "decoder of 7"
    assert "patience" in growth.stop_reason


def test_progress_is_judged_against_the_round_before_not_the_best():
    # The paper's eq. 11: the loss after a rise counts as the new base.
    growth = grow(started(), Script([0.5, 0.6, 0.55, 0.55]), StopRules(3, tol=0.01, patience=3))
    assert growth.kept == 2


def test_progress_means_more_than_tol_of_the_new_loss():
    growth = grow(started(), Script([1.25, 1.0]), StopRules(1, tol=0.25))
    assert growth.kept == 0
    growth = grow(started(), Script([1.25, 1.0]), StopRules(1, tol=0.24))
    assert growth.kept == 1


def test_stops_after_max_iter():
    growth = grow(started(), Script([1.0, 0.5, 0.25, 0.1]), StopRules(2))
    assert [record.n_columns for record in growth.history] == [3, 4, 5]
    assert "max_iter" in growth.stop_reason


def test_max_columns_cuts_the_last_round_and_ends_growth():
    code = started()
    growth = grow(code, Script([1.0, 0.9, 0.5, 0.25, 0.2, 0.1, 0.05], n_columns=2), StopRules(9, max_columns=6))
    assert [record.n_columns for record in growth.history] == [3, 5, 6]
    assert [len(record.pairs) for record in growth.history] == [2, 1, 0]
    assert "max_columns" in growth.stop_reason
    assert code.n_columns == 6


def test_stops_when_nothing_is_proposed():
    growth = grow(started(), Script([1.0], n_columns=0), StopRules(9))
    assert growth.stop_reason == Strategy.exhausted


def test_without_patience_every_round_is_kept():
    growth = grow(started(), Script([0.5, 0.6, 0.7]), StopRules(2, patience=None))
    assert growth.kept == 2


def test_progress_may_be_judged_against_the_best_round():
    growth = grow(started(), Script([1.0, 1.2, 1.1, 0.8]), StopRules(3, tol=0.0, patience=3, against_best=True))
    assert growth.kept == 3
    growth = grow(started(), Script([1.0, 1.2, 1.1, 0.5]), StopRules(9, tol=0.0, patience=2, against_best=True))
    assert len(growth.history) == 3  # 1.1 is less than 1.2, but no progress against 1.0
    # Two drops of 0.8 % are no progress one by one, but together.
    losses = [1.0, 0.992, 0.984]
    assert grow(started(), Script(losses), StopRules(2, tol=0.01, patience=3, against_best=True)).kept == 2
    assert grow(started(), Script(losses), StopRules(2, tol=0.01, patience=3)).kept == 0


def test_work_is_columns_times_their_samples():
    # Each initial column has all 30 samples, and each column of a pair 20.
    code = started()
    growth = grow(code, Script([1.0, 0.9, 0.8, 0.7, 0.6, 0.5]), StopRules(max_work=0.6))
    assert code.initial_work == 90
    assert code.added_work == 60  # 20 and 40 are less than 54
    assert len(growth.history) == 4
    assert growth.stop_reason == "added columns took max_work times the work of the initial code"


def test_what_would_have_come_next_is_known_unless_nothing_is_left():
    assert grow(started(), Script([1.0, 0.5]), StopRules(1)).next_pairs == [(0, 1)]
    assert grow(started(), Script([1.0, 0.0]), StopRules(9)).next_pairs == []
    assert grow(started(), Script([1.0], n_columns=0), StopRules(9)).next_pairs == []


def test_reports_every_round():
    seen = []
    code = started()
    growth = grow(code, Script([1.0, 0.5]), StopRules(1), lambda *given: seen.append(given))
    assert seen == [(number, record, code) for number, record in enumerate(growth.history)]
    assert growth.history[0].pair_losses == [1.0]
    assert growth.history[0].n_clustered == 1
    assert set(growth.history[0].seconds) == {"columns", "weights", "pairs"}


def test_codewords_are_appended_not_computed_again(monkeypatch):
    code = started()
    evaluated = []
    original = StumpAdaBoostClassifier._outputs_together
    monkeypatch.setattr(
        StumpAdaBoostClassifier,
        "_outputs_together",
        staticmethod(lambda learners, X, response: evaluated.append(len(learners)) or original(learners, X, response)),
    )
    before = code.coded.codewords.copy()
    code.add([Column(pair_column(3, (0, 1)))])
    assert evaluated == [1]
    np.testing.assert_array_equal(code.coded.codewords[:, :3], before)
    assert code.coded.codewords.shape == (30, 4)
    assert code.kinds == ["initial"] * 3 + ["simple"]


@pytest.mark.parametrize("cross_fitted", [False, True])
def test_margins_are_scaled_by_the_initial_columns_for_good(cross_fitted):
    folds = np.arange(30) // 3 % 3 if cross_fitted else None
    code = growing("decision_function", 4, folds)
    code.start([one_vs_rest(3)])
    largest = max(np.abs(learner.decision_function(X)).max() for learner in code.learners)
    assert code.margin_scale == largest
    assert np.abs(code.coded.codewords).max() == 1.0
    assert (code.coded.out_of_fold is not code.coded.codewords) == cross_fitted
    code.add([Column(pair_column(3, (0, 1)))])
    assert code.margin_scale == largest
    np.testing.assert_allclose(code.coded.codewords[:, 3], code.learners[3].decision_function(X) / largest)
