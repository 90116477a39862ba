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
from skecoc.coding import one_vs_one, one_vs_rest
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
    return WOLCClassifier(STUMPS, standard_errors=0.0, max_iter=3, random_state=0).fit(*vehicle())


def unmeasured(n_columns):
    return GrowthRound(n_columns, *(np.nan,) * 7, pairs=[], pair_losses=[], n_clustered=0, seconds={})


@pytest.fixture
def pooled(model):
    """A code with a known course of growth, and pooled weights."""
    model = copy.copy(model)
    model.history_, model.best_round_ = [unmeasured(n_columns) for n_columns in (10, 13, 16, 18)], 2
    model.stop_reason_ = "no progress for as many rounds as patience allows"
    model.code_matrix_ = np.column_stack([one_vs_rest(4), one_vs_one(4), one_vs_one(4)])
    model.decoder_ = OptimizedWeightDecoder.from_weights(np.eye(4, 16), model.code_matrix_)
    model.pool_shares_, model.weights_optimized_ = {"one-vs-rest": 0.7, "one-vs-one": 0.075, "pairs": 0.225}, False
    return model


def test_every_part_is_said(pooled):
    assert pooled.growth_summary() == (
        "Started from one-vs-rest and one-vs-one (10 columns); growth added 6 columns in 2 rounds, dropped 2 more that "
        "did not help, and stopped because no progress was made for as many rounds as patience allows. Weights are "
        "pooled: one-vs-rest 70 %, one-vs-one 7.5 %, pairs 22.5 %."
    )
    pooled.history_ = pooled.history_[:3]
    assert "; growth added 6 columns in 2 rounds and stopped because no progress was made" in pooled.growth_summary()
    pooled.weights_optimized_ = True
    assert pooled.growth_summary().endswith("Weights are optimised.")


def test_the_numbers_are_those_of_the_model(model):
    kept, summary = model.code_matrix_.shape[1], model.growth_summary()
    assert summary.startswith("Started from one-vs-rest and one-vs-one (10 columns); growth ")
    assert f"growth added {kept - 10} columns" in summary or model.best_round_ == 0
    assert "because max_iter rounds were made" in summary
    shares = [f"{name} {100 * share:.3g} %" for name, share in model.pool_shares_.items()]
    ends = {True: ["are optimised."], False: ["are equal.", f"are pooled: {', '.join(shares)}."]}
    assert summary.endswith(tuple(ends[model.weights_optimized_]))


def test_nothing_that_was_added_helped():
    rules = {"tol": 9.0, "standard_errors": 0.0, "patience": 2, "n_pairs": 3, "random_state": 0}
    model = WOLCClassifier(STUMPS, **rules).fit(*vehicle())
    summary = model.growth_summary()
    assert "(10 columns); growth tried 6 columns in 2 rounds, but kept none of them: " in summary
    assert "the initial code is the best. Growth stopped because no progress was made" in summary


def test_a_lead_that_is_too_small_is_named():
    model = WOLCClassifier(STUMPS, standard_errors=99.0, max_iter=3, random_state=0).fit(*vehicle())
    shown = [record.out_of_fold_accuracy for record in model.history_]
    assert max(shown) > shown[0]
    lead = f"the best round, {max(shown):.1%} correct out of fold, is not better than the first, {shown[0]:.1%}, "
    assert f"{lead}by more than 99 standard errors. Growth stopped because" in model.growth_summary()


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        (
            {"max_iter": 0},
            ["no column was added because max_iter rounds were made", "Weights are "],
        ),
        ({"max_columns": 6, "init": "one-vs-one"}, ["one-vs-one (6 columns)", "has max_columns columns"]),
        ({"allow_equal_weights": False, "max_iter": 0}, ["Weights are optimised."]),
        ({"weights_every_round": True, "max_iter": 0}, ["one-vs-rest (4 columns)", "Weights are optimised."]),
        ({"init": np.eye(4, dtype=int) * 2 - 1, "max_iter": 0}, ["the given code (4 columns)"]),
        ({"init": [[1, 1], [1, -1], [-1, 1], [-1, -1]], "max_iter": 1}, ["given code (2 columns)", " in 1 round"]),
    ],
)
def test_starts_reasons_and_weights(parameters, parts):
    summary = WOLCClassifier(STUMPS, random_state=0, **parameters).fit(*vehicle()).growth_summary()
    for part in parts:
        assert part in summary


def test_the_pool_of_a_given_code_is_named_alike(pooled):
    pooled.pool_shares_ = {"init": 0.7, "pairs": 0.3}
    assert pooled.growth_summary().startswith("Started from the given code (10 columns); growth added ")
    assert pooled.growth_summary().endswith("Weights are pooled: the given code 70 %, pairs 30 %.")


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
        "grow one-vs-one. Weights are equal."
    )


@pytest.mark.parametrize(("l2", "weights"), [(0.01, "Weights are optimised."), (1e6, "Weights are equal.")])
def test_weights_of_codes_without_pools(l2, weights):
    decoder = OptimizedWeightDecoder(0.3, l2=l2)
    summary = LCECOCClassifier(STUMPS, decoding=decoder, max_iter=0, random_state=0).fit(*vehicle()).growth_summary()
    assert summary.startswith("Started from one-vs-rest (4 columns); no column was added")
    assert summary.endswith(weights)


# ---------------------------------------------------------------- repr


def of_scikit_learn(model, length=700):
    """What scikit-learn prints of an estimator that has its own method."""
    plain = type(type(model).__name__, (type(model),), {"__repr__": BaseEstimator.__repr__})
    return BaseEstimator.__repr__(plain(**model.get_params(deep=False)), length)


def test_repr_of_a_fitted_code_ends_with_what_happened(pooled):
    before, summary = repr(pooled).rsplit("\n", 1)
    assert before == repr(clone(pooled)) == of_scikit_learn(pooled)
    assert summary == f"# {pooled.growth_summary()}"
    assert str(pooled) == repr(pooled)


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


def test_repr_within_others(pooled):
    pipeline = make_pipeline(MinMaxScaler(), pooled)
    assert "#" not in repr(pipeline)
    assert "WOLCClassifier(" in repr(pipeline)
    assert repr(pipeline) == repr(clone(pipeline))
    assert "#" not in repr(WOLCClassifier(pooled))


def test_a_code_that_is_not_fitted_has_no_summary():
    with pytest.raises(NotFittedError):
        WOLCClassifier().growth_summary()


def test_repr_of_a_fit_that_failed():
    model = WOLCClassifier(STUMPS, init="no such code")
    with pytest.raises(ValueError, match="no such code"):
        model.fit(*vehicle())
    assert not hasattr(model, "classes_")
    assert "#" not in repr(model)
