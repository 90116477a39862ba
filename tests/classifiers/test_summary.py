"""What a grown code says of itself: its start, the columns added, why growth stopped, and its weights."""

import copy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.classifiers import wolc
from skecoc.classifiers.growth import GrowthRound
from skecoc.datasets import load_uci
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier

STUMPS = StumpAdaBoostClassifier(5)
GROWN = [WOLCClassifier, LCECOCClassifier, ECOCOneClassifier]


def vehicle():
    X, y = load_uci("vehicle", return_X_y=True)
    return MinMaxScaler().fit_transform(X)[::2], y[::2]


@pytest.fixture(scope="module")
def model():
    return WOLCClassifier(STUMPS, max_iter=3, random_state=0).fit(*vehicle())


def unmeasured(n_columns):
    return GrowthRound(n_columns, *(np.nan,) * 7, pairs=[], pair_losses=[], n_clustered=0, seconds={})


@pytest.fixture
def known(model):
    """A code with a known course of growth, and known weights."""
    model = copy.copy(model)
    model.history_, model.best_round_ = [unmeasured(n_columns) for n_columns in (10, 13, 16, 18)], 2
    model.stop_reason_ = "no progress for as many rounds as patience allows; next: opel vs saab"
    model.group_shares_ = {"one-vs-rest": 0.7, "one-vs-one": 0.004, "3 regions": 0.296}
    model.weights_optimized_ = True
    return model


def test_every_part_is_said(known):
    assert known.growth_summary() == (
        "Started from one-vs-rest and one-vs-one (10 columns); growth added 6 columns in 2 rounds, dropped 2 more that "
        "did not help, and stopped because no progress was made for as many rounds as patience allows; next: opel vs "
        "saab. Weights are optimised: one-vs-rest 70 %, 3 regions 30 %; one-vs-one below 1 %."
    )
    known.history_ = known.history_[:3]
    assert "; growth added 6 columns in 2 rounds and stopped because no progress was made" in known.growth_summary()
    known.weights_optimized_ = False
    assert "Weights are equal in each group of columns: one-vs-rest 70 %" in known.growth_summary()


def test_the_numbers_are_those_of_the_model(model):
    kept, summary = model.code_matrix_.shape[1], model.growth_summary()
    assert summary.startswith("Started from one-vs-rest and one-vs-one (10 columns); growth ")
    assert f"growth added {kept - 10} columns" in summary or model.best_round_ == 0
    assert "because max_iter rounds were made; next: opel vs saab" in summary
    of_groups = {"one-vs-rest": slice(0, 4), "one-vs-one": slice(4, 10)}
    for name, columns in of_groups.items():
        share = model.weights_[:, columns].sum() / model.weights_.sum()
        assert model.group_shares_[name] == pytest.approx(share)
        assert f"{name} {100 * share:.0f} %" in summary


def test_nothing_that_was_added_helped():
    rules = {"tol": 9.0, "patience": 2, "n_pairs": 3, "random_state": 0}
    model = WOLCClassifier(STUMPS, **rules).fit(*vehicle())
    summary = model.growth_summary()
    assert "(10 columns); growth tried 6 columns in 2 rounds, but kept none of them, and stopped because " in summary


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"max_iter": 0}, ["no column was added because max_iter rounds were made", "Weights are "]),
        ({"max_columns": 6, "init": "one-vs-one"}, ["one-vs-one (6 columns)", "has max_columns columns"]),
        ({"max_work": 0.1}, ["because added columns took max_work times the work of the initial code; next: "]),
        ({"decoding": OptimizedWeightDecoder(l2=0.01), "max_iter": 0}, ["Weights are optimised: "]),
        ({"decoding": "logistic-weight", "max_iter": 0}, ["Weights are logistic: "]),
        ({"init": np.eye(4, dtype=int) * 2 - 1, "max_iter": 0}, ["the given code (4 columns)", "the given code 100 %"]),
        ({"init": [[1, 1], [1, -1], [-1, 1], [-1, -1]], "max_iter": 1}, ["given code (2 columns)", " in 1 round"]),
    ],
)
def test_starts_reasons_and_weights(parameters, parts):
    summary = WOLCClassifier(STUMPS, random_state=0, **parameters).fit(*vehicle()).growth_summary()
    for part in parts:
        assert part in summary


def test_at_most_three_pairs_are_named_as_the_next_ones():
    model = WOLCClassifier(STUMPS, max_iter=0, random_state=0).fit(*vehicle())
    assert model.stop_reason_.count(" vs ") == 3


def test_pairs_that_cannot_be_told_without_training_are_not_named():
    one = ECOCOneClassifier(STUMPS, max_iter=0, extend=True, random_state=0).fit(*vehicle())
    assert one.stop_reason_ == "max_iter rounds were made"


def test_other_methods():
    one = ECOCOneClassifier(STUMPS, max_iter=1, random_state=0).fit(*vehicle())
    assert one.growth_summary() == (
        "Started from one-vs-rest (4 columns); growth added 1 column in 1 round and stopped because max_iter rounds "
        "were made. Decoding is by ProbabilisticDecoder."
    )
    layered = LCECOCClassifier(STUMPS, decoding="hamming", max_iter=0, random_state=0).fit(*vehicle())
    assert layered.growth_summary().endswith("Decoding is by HammingDecoder.")


@pytest.mark.parametrize(
    ("learners", "n_classes", "start"),
    [
        ([("a", STUMPS), ("b", STUMPS)], 2, "one-vs-rest"),
        ([("a", STUMPS), ("b", STUMPS)], 4, "one-vs-one"),
        ([("a", STUMPS), ("b", MulticlassLearner(GaussianNB()))], 4, "one-vs-one (a) or one-vs-rest"),
    ],
)
def test_starts_of_several_learners(learners, n_classes, start):
    X, y = vehicle()
    X, y = X[np.isin(y, np.unique(y)[:n_classes])], y[np.isin(y, np.unique(y)[:n_classes])]
    model = WOLCClassifier(learners, max_iter=0, random_state=0).fit(X, y)
    n_columns = model.history_[0].n_columns
    assert model.growth_summary().startswith(f"Started from 2 learners with {start} ({n_columns} columns)")


def test_one_vs_one_as_it_is(monkeypatch):
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 0)
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 2)
    model = WOLCClassifier(STUMPS, random_state=0).fit(*vehicle())
    assert np.isnan(model.history_[0].loss)
    assert model.growth_summary() == (
        "Started from one-vs-one (6 columns); no column was added because there are too many samples and columns to "
        "grow one-vs-one. Weights are equal in each group of columns: one-vs-one 100 %."
    )


# ---------------------------------------------------------------- repr


def of_scikit_learn(model, length=700):
    """What scikit-learn prints of an estimator that has its own method."""
    plain = type(type(model).__name__, (type(model),), {"__repr__": BaseEstimator.__repr__})
    return BaseEstimator.__repr__(plain(**model.get_params(deep=False)), length)


def test_repr_of_a_fitted_code_ends_with_what_happened(known):
    before, summary = repr(known).rsplit("\n", 1)
    assert before == repr(clone(known)) == of_scikit_learn(known)
    assert summary == f"# {known.growth_summary()}"
    assert str(known) == repr(known)


@pytest.mark.parametrize("method", GROWN)
def test_repr_of_a_code_that_is_not_fitted_is_that_of_scikit_learn(method):
    model = method(LogisticRegression(C=2.5, max_iter=321), init="one-vs-one", max_iter=5, max_columns=77, n_jobs=1)
    assert repr(model).count("\n") == 1  # lines are broken
    assert repr(model).splitlines()[1].startswith(" " * (len(method.__name__) + 1))
    assert "#" not in repr(model)
    assert repr(method()) == f"{method.__name__}()"
    short = model.__repr__(N_CHAR_MAX=40)
    assert short == of_scikit_learn(model, 40)
    assert "..." in short


def test_repr_within_others(known):
    pipeline = make_pipeline(MinMaxScaler(), known)
    assert "#" not in repr(pipeline)
    assert "WOLCClassifier(" in repr(pipeline)
    assert repr(pipeline) == repr(clone(pipeline))
    assert "#" not in repr(WOLCClassifier(known))


def test_a_code_that_is_not_fitted_has_no_summary():
    with pytest.raises(NotFittedError):
        WOLCClassifier().growth_summary()


def test_repr_of_a_fit_that_failed():
    model = WOLCClassifier(STUMPS, init="no such code")
    with pytest.raises(ValueError, match="no such code"):
        model.fit(*vehicle())
    assert not hasattr(model, "classes_")
    assert "#" not in repr(model)
