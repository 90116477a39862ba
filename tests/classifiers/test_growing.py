"""The grown codes: scikit-learn's contract, the paper's examples, termination, and records."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers import growth, one, subclass, weighting, wolc
from skecoc.coding import CODINGS, discriminant, one_vs_one, one_vs_rest
from skecoc.data.folds import assign_folds
from skecoc.datasets import load_uci
from skecoc.decoding import (
    DECODERS,
    AttenuatedEuclideanDecoder,
    HammingDecoder,
    LossBasedDecoder,
    LossWeightedDecoder,
    OptimizedWeightDecoder,
)
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from tests.grids import grid, nightly

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
GROWN = [WOLCClassifier, LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier]
LAYERED = [WOLCClassifier, LCECOCClassifier]
STUMPS = StumpAdaBoostClassifier(5)


def vehicle():
    X, y = load_uci("vehicle", return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


def checkerboard(n_rows=240, seed=0):
    """Return classes 0 and 1 on a checkerboard, which one stump cannot separate, and class 2 far away."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 2))
    y = (np.floor(X[:, 0] * 3) + np.floor(X[:, 1] * 3)).astype(int) % 2
    X[: n_rows // 4] += 5.0
    y[: n_rows // 4] = 2
    return X, y


@pytest.mark.slow
@parametrize_with_checks(
    [
        WOLCClassifier(STUMPS, max_iter=2),
        LCECOCClassifier(STUMPS, max_iter=2),
        ECOCOneClassifier(STUMPS, max_iter=2),
        SubclassECOCClassifier(STUMPS, min_size=0.2),
    ],
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks(
    [
        WOLCClassifier(LogisticRegression(), init="one-vs-one", n_folds=None, max_iter=1),
        ECOCOneClassifier(LogisticRegression(), init="decoc", extend=True, max_iter=1),
    ],
)
def test_estimator_checks_of_other_starts(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the paper's examples


@pytest.mark.parametrize("method", LAYERED)
def test_figure_3_a_stubborn_pair_gets_a_simple_column_and_then_clustered_ones(method):
    X, y = checkerboard()
    compact = [[1, 1], [1, -1], [-1, 1]]
    stump = DecisionTreeClassifier(max_depth=1)
    rules = {"n_pairs": 1, "n_regions": 3, "max_iter": 3, "tol": 0.0, "patience": 4, "n_folds": None}
    model = method(stump, init=compact, random_state=0, **rules).fit(X, y)
    assert [record.pairs for record in model.history_] == [[(0, 1)], [(0, 1)], [(0, 1)], []]
    assert [record.n_clustered for record in model.history_] == [0, 1, 1, 0]
    kinds = [type(learner) for learner in model._all_learners]
    assert kinds == [DecisionTreeClassifier] * 3 + [RegionClassifier] * 2
    third, fourth = model._all_learners[3:]
    assert not np.array_equal(third.centres_, fourth.centres_)  # each layer is clustered afresh


def test_a_pair_whose_negation_is_a_column_gets_a_clustered_one():
    X, y = checkerboard()
    negated = [[-1, 1], [1, 1], [0, -1]]
    model = LCECOCClassifier(STUMPS, init=negated, n_pairs=1, max_iter=1, tol=0.0, random_state=0).fit(X, y)
    assert model.history_[0].pairs == [(0, 1)]
    assert model.history_[0].n_clustered == 1


def test_the_risk_matrix_of_the_history_is_the_decoders_own():
    X, y = vehicle()
    decoder = OptimizedWeightDecoder(0.3, l2=0.1)
    model = WOLCClassifier(init="one-vs-rest", decoding=decoder, max_iter=2, n_pairs=3, n_folds=None, random_state=0)
    model.fit(X, y)
    first = model.history_[0]
    decoder = model._stages[0]
    codewords = model.codewords(X)[:, : first.n_columns]
    risk, _ = decoder.risk_and_confusion(codewords, np.unique(y, return_inverse=True)[1])
    both = risk + risk.T
    expected = sorted(both[np.triu_indices(4, 1)], reverse=True)[:3]
    np.testing.assert_allclose(first.pair_losses, expected)
    np.testing.assert_allclose(first.loss, risk.sum() / len(y))
    np.testing.assert_allclose(first.loss, first.hinge, atol=1e-9)


# ---------------------------------------------------------------- growth


@pytest.mark.parametrize("name", ["vehicle", "glass", "ecoli", "balance"])
@pytest.mark.parametrize(("margin", "l2"), [(0.3, 0.1), (0.1, 0.0)])
def test_the_objective_never_rises_on_the_same_samples_with_the_same_problem(name, margin, l2):
    X, y = load_uci(name, return_X_y=True)
    decoder = OptimizedWeightDecoder(margin, l2=l2, tol=1e-3)
    rules = {"init": "one-vs-rest", "n_folds": None, "tol": 0.0, "patience": 9, "max_iter": 6, "random_state": 0}
    model = WOLCClassifier(STUMPS, decoding=decoder, **rules).fit(MinMaxScaler().fit_transform(X), y)
    objectives = [record.objective for record in model.history_]
    assert len(objectives) > 2
    assert (np.diff(objectives) <= 1e-8).all()
    assert all(record.gap <= 1e-3 for record in model.history_)


def test_the_margin_that_suits_the_first_round_stays():
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-rest", n_folds=None, max_iter=3, random_state=0).fit(X, y)
    assert len({(decoder.margin_, decoder.l2_) for decoder in model._stages}) == 1
    assert (np.diff([record.objective for record in model.history_]) <= 1e-8).all()


@pytest.mark.parametrize("method", LAYERED)
def test_zero_loss_stops_at_once(method):
    X, y = make_blobs(60, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    decoding = "loss-weighted" if method is LCECOCClassifier else OptimizedWeightDecoder(0.0, l2=0.0)
    model = method(STUMPS, init="one-vs-rest", decoding=decoding, n_folds=None).fit(X, y)
    assert model.stop_reason_ == "the loss reached its target"
    assert len(model.history_) == 1
    assert model.history_[0].loss == 0.0
    np.testing.assert_array_equal(model.code_matrix_, one_vs_rest(3))


@pytest.mark.parametrize("method", LAYERED)
def test_each_rule_ends_growth(method):
    X, y = vehicle()
    method = partial(method, init="one-vs-rest")
    short = method(STUMPS, max_iter=1, random_state=0).fit(X, y)
    assert "max_iter" in short.stop_reason_
    assert len(short.history_) == 2
    narrow = method(STUMPS, max_columns=6, tol=0.0, random_state=0).fit(X, y)
    assert narrow.history_[-1].n_columns == 6
    assert "max_columns" in narrow.stop_reason_ or "patience" in narrow.stop_reason_
    impatient = method(STUMPS, tol=10.0, patience=2, random_state=0).fit(X, y)
    assert "patience" in impatient.stop_reason_
    assert len(impatient.history_) == 3
    assert impatient.best_round_ == 0
    assert impatient.code_matrix_.shape == (4, 4)


def test_no_iterations_is_the_initial_code_with_optimised_weights():
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-rest", max_iter=0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_matrix_, one_vs_rest(4))
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    assert model.weights_optimized_
    assert model.history_[0].gap <= 1e-3
    assert np.ptp(model.weights_) > 0.01


@pytest.mark.parametrize("method", [*LAYERED, ECOCOneClassifier])
def test_what_is_kept_belongs_together(method):
    X, y = vehicle()
    model = method(STUMPS, random_state=0).fit(X, y)
    n_columns = model.history_[model.best_round_].n_columns
    assert model.code_matrix_.shape[1] == len(model.estimators_) == len(model.column_kinds_) == n_columns
    np.testing.assert_array_equal(model.decoder_.matrix_, model.code_matrix_)
    if method is WOLCClassifier:
        assert model.weights_.shape == model.code_matrix_.shape
    assert model.codewords(X[:5]).shape == (5, n_columns)
    staged = list(model.staged_predict(X))
    assert len(staged) == len(model.history_)
    np.testing.assert_array_equal(staged[model.best_round_], model.predict(X))
    assert list(model.staged_score(X, y))[model.best_round_] == model.score(X, y)
    if method is WOLCClassifier:
        assert np.isnan(model.history_[0].accuracy)  # learners are not evaluated on samples that they have seen
    else:
        assert model.history_[model.best_round_].accuracy == pytest.approx(model.score(X, y), abs=0.01)


def test_columns_without_weight_are_not_evaluated():
    X, y = vehicle()
    decoder = OptimizedWeightDecoder(0.02, l2=1e-4)
    model = WOLCClassifier(STUMPS, init="ternary-complete", decoding=decoder, random_state=0).fit(X, y)
    unused = np.setdiff1d(np.arange(len(model.estimators_)), model.used_columns_)
    assert len(unused) > 0
    assert model.weights_[:, unused].max() < 1e-9
    expected = model.predict(X)
    for column in unused:
        model.estimators_[column] = None  # evaluating it would fail
    np.testing.assert_array_equal(model.predict(X), expected)


def test_the_papers_settings():
    X, y = vehicle()
    model = WOLCClassifier.paper(random_state=0).fit(X, y)
    assert set(np.unique(model.codewords(X))) <= {-1.0, 1.0}
    assert (model.decoding.margin, model.decoding.l2, model.n_folds, model.max_work) == (0.0, 0.0, None, None)
    assert (model.tol, model.patience, model.n_pairs, model.n_regions, model.max_iter) == (0.01, 3, 3, 2, "3P")
    assert clone(model).get_params()["decoding__margin"] == 0.0
    assert clone(model).max_iter == "3P"
    assert model._most_rounds() == 12
    risks = [record.risk for record in model.history_]
    assert (np.diff(risks) <= 1e-7).all()
    np.testing.assert_array_equal(model.code_matrix_[:, :4], one_vs_rest(4))
    assert model.score(X, y) > 0.7
    assert WOLCClassifier.paper(n_regions=5).n_regions == 5


def test_a_repeated_pair_whose_regions_are_all_pure():
    X = np.array([[0.0], [0.1], [10.0], [10.1], [20.0], [20.1], [30.0], [30.1]])
    y = np.array([0, 0, 1, 1, 0, 0, 2, 2])
    stump = DecisionTreeClassifier(max_depth=1)
    pairs = [[1, 1], [-1, 0], [0, -1]]
    model = LCECOCClassifier(stump, init=pairs, n_regions=8, n_pairs=1, n_folds=None, tol=0.0, random_state=0)
    model.fit(X, y)
    clustered = [learner for learner in model._all_learners if isinstance(learner, RegionClassifier)]
    assert clustered
    assert all(estimator is None for estimator in clustered[0].estimators_)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("method", GROWN)
def test_two_classes(method):
    X, y = make_classification(120, random_state=0)
    model = method(STUMPS, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (120,)
    np.testing.assert_array_equal((model.decision_function(X) > 0).astype(int), model.predict(X))
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("method", GROWN)
def test_a_class_of_two_rows_and_a_class_of_one(method):
    X, y = make_blobs(63, centers=3, random_state=0)
    y[:2], y[2] = 3, 4
    model = method(STUMPS, random_state=0).fit(X, y)
    assert model.predict(X).shape == (63,)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", GROWN)
def test_fifty_classes(method):
    X, y = make_classification(
        1500, 20, n_informative=12, n_classes=50, n_clusters_per_class=1, class_sep=3.0, random_state=0
    )
    numbers = 2 * ((np.arange(50)[:, None] >> np.arange(6)) & 1) - 1  # a compact code keeps the weights few
    parameters = {} if method is SubclassECOCClassifier else {"max_iter": 2, "init": numbers}
    model = method(GaussianNB(), random_state=0, **parameters).fit(X, y)
    assert model.score(X, y) > 0.08  # chance is 0.02
    assert model.predict_proba(X).shape == (1500, 50)


@pytest.mark.parametrize("coding", sorted(CODINGS))
def test_every_coding_is_an_initial_code(coding):
    model = WOLCClassifier(GaussianNB(), init=coding, max_iter=2, random_state=0).fit(X_IRIS, Y_IRIS)
    assert model.score(X_IRIS, Y_IRIS) > 0.9
    assert model.history_[0].n_columns >= 2


@pytest.mark.parametrize(
    ("method", "decoding"), grid([LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier], sorted(DECODERS))
)
def test_every_decoding_grows(method, decoding):
    X, y = vehicle()
    parameters = {"min_size": 0.15} if method is SubclassECOCClassifier else {"max_iter": 2}
    model = method(GaussianNB(), decoding=decoding, random_state=0, **parameters).fit(X[::4], y[::4])
    assert model.score(X, y) > 0.3
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


# ---------------------------------------------------------------- where to start


def test_automatic_start_joins_one_vs_rest_and_one_vs_one():
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, max_iter=0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_matrix_, np.hstack([one_vs_rest(4), one_vs_one(4)]))
    assert list(model.group_shares_) == ["one-vs-rest", "one-vs-one"]
    assert sum(model.group_shares_.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("n_classes", "n_samples", "max_columns", "expected"),
    [
        (2, 100, None, ["one-vs-rest"]),
        (3, 50_000, None, ["one-vs-rest", "one-vs-one"]),
        (26, 5_000, None, ["one-vs-rest", "one-vs-one"]),
        (26, 5_001, None, ["one-vs-one"]),
        (50, 6_000, None, ["one-vs-one"]),
        (51, 6_000, None, ["one-vs-rest", "one-vs-one"]),
        (200, 6_000, None, ["one-vs-rest", "one-vs-one"]),
        (201, 6_000, None, ["dense-random"]),
        (1_000, 50_000, None, ["dense-random"]),
        (1_000, 50_000, 200, ["dense-random"]),
        (6, 100, 21, ["one-vs-rest", "one-vs-one"]),
        (6, 100, 20, ["one-vs-one"]),
        (6, 100, "auto", ["one-vs-one"]),
        (6, 100, 14, ["one-vs-rest"]),
        (20, 100, "auto", ["one-vs-rest"]),
    ],
)
def test_automatic_start_depends_on_the_size_and_the_budget(n_classes, n_samples, max_columns, expected):
    assert WOLCClassifier(max_columns=max_columns)._init_codings(n_classes, n_samples)[0] == expected


def test_with_too_many_codewords_one_vs_one_is_taken_as_it_is(monkeypatch):
    X, y = vehicle()
    monkeypatch.setattr(wolc, "_MOST_CODEWORDS", 1e3)
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 2)
    model = WOLCClassifier(STUMPS, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_matrix_, one_vs_one(4))
    np.testing.assert_allclose(model.weights_, (one_vs_one(4) != 0) / 3)
    plain = ECOCClassifier(STUMPS, decoding=LossBasedDecoder("linear"), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.stop_reason_ == "there are too many samples and columns to grow one-vs-one"
    assert np.isnan(model.history_[0].out_of_fold_accuracy)
    assert len(list(model.staged_predict(X))) == 1


def test_growth_that_does_not_pay_is_undone():
    X, y = make_blobs(300, centers=4, cluster_std=4.0, random_state=0)
    model = WOLCClassifier(max_iter=3, tol=0.5, random_state=0).fit(X, y)
    assert len(model.history_) == 4
    assert model.best_round_ == 0
    assert set(model.column_kinds_) == {"initial"}


def test_automatic_start_respects_the_budget():
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, max_columns=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.code_matrix_[:, :4], one_vs_rest(4))
    assert model.code_matrix_.shape[1] <= 5


# ---------------------------------------------------------------- ECOC-ONE


def test_one_stops_when_a_pair_repeats_and_separates_no_pair_twice():
    X, y = vehicle()
    model = ECOCOneClassifier(random_state=0).fit(X, y)
    pairs = [pair for record in model.history_ for pair in record.pairs]
    assert len(pairs) == len(set(pairs)) == model.code_matrix_.shape[1] - 4
    assert model.stop_reason_ == "the most confused pair has been separated before"
    assert set(model.column_kinds_) == {"initial", "simple"}


def test_one_extends_a_pair_only_where_the_error_falls():
    X, y = load_uci("ecoli", return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    plain = ECOCOneClassifier(STUMPS, max_iter=1, random_state=0).fit(X, y)
    wider = ECOCOneClassifier(STUMPS, max_iter=1, extend=True, random_state=0).fit(X, y)
    assert plain.history_[0].pairs == wider.history_[0].pairs
    first, second = plain.history_[0].pairs[0]
    assert wider.code_matrix_[first, -1] == 1
    assert wider.code_matrix_[second, -1] == -1
    assert wider.history_[1].loss <= plain.history_[1].loss


def test_one_stops_at_the_target_error():
    X, y = vehicle()
    model = ECOCOneClassifier(target_error=0.9, random_state=0).fit(X, y)
    assert len(model.history_) == 1
    assert model.stop_reason_ == "the loss reached its target"


def test_one_weighs_columns_by_their_errors_of_training_and_validation():
    X, y = checkerboard()
    rules = {"decoding": "hamming", "max_iter": 0, "validation_weight": 0.25, "random_state": 0}
    model = ECOCOneClassifier(STUMPS, response_method="predict", column_weights=True, **rules).fit(X, y)
    plain = ECOCOneClassifier(STUMPS, response_method="predict", **rules).fit(X, y)
    trainer = plain.estimators_
    sides = one_vs_rest(3)[y]
    root = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    held_out = assign_folds(X, y, 5, root) == 0
    validated = ECOCClassifier(STUMPS, coding="one-vs-rest", response_method="predict", n_folds=None)
    outputs = validated.fit(X[~held_out], y[~held_out]).codewords(X[held_out])
    errors = 0.25 * (outputs != sides[held_out]).mean(axis=0)
    errors += 0.75 * (plain.codewords(X[~held_out]) != sides[~held_out]).mean(axis=0)
    errors = np.clip(errors, 0.5 / len(y), 0.5)
    expected = 0.5 * np.log((1 - errors) / errors)
    np.testing.assert_allclose(model.decoder_.matrix_, one_vs_rest(3) * expected)
    assert len(trainer) == 3
    scores = -((1 - np.sign(model.codewords(X))[:, None] * one_vs_rest(3)) / 2 * expected).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


@pytest.mark.parametrize("loss", ["linear", "hinge"])
@pytest.mark.parametrize("kind", [HammingDecoder, AttenuatedEuclideanDecoder, LossBasedDecoder, LossWeightedDecoder])
def test_a_weight_of_two_is_a_column_given_twice(kind, loss):
    matrix, rng = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1], [1, 0, -1]]), np.random.default_rng(0)
    y = np.arange(40) % 4
    codewords = matrix[y] + rng.normal(size=(40, 3))
    make = partial(kind, loss) if issubclass(kind, LossBasedDecoder | LossWeightedDecoder) else kind
    weighed = make().fit(codewords, y, matrix)
    one.weigh_columns(weighed, np.array([1.0, 2.0, 1.0]))
    twice = [0, 1, 1, 2]
    repeated = make().fit(codewords[:, twice], y, matrix[:, twice])
    scores, expected = weighed.scores(codewords), repeated.scores(codewords[:, twice])
    if kind is LossWeightedDecoder:  # whose weights sum to 1
        expected = expected * weighed.weights_.sum(axis=1)
    constant = (scores - expected)[:, :1]
    np.testing.assert_allclose(scores, expected + constant, atol=1e-12)


def test_a_column_without_validation_samples_is_weighed_by_its_training_errors():
    # The last two classes are copies of one sample each, which are never held out; a quarter of them is always wrong.
    X = np.repeat([[0.0], [0.1], [0.2], [3.0], [3.1], [3.2], [9.0]], [2, 2, 2, 2, 2, 2, 8], axis=0)
    y = np.repeat([0, 1, 2, 3], [6, 6, 6, 2])
    rules = {"init": "one-vs-one", "decoding": "hamming", "max_iter": 0, "response_method": "predict"}
    model = ECOCOneClassifier(STUMPS, column_weights=True, random_state=0, **rules).fit(X, y)
    assert np.abs(model.decoder_.matrix_[2:, -1]) == pytest.approx(0.5 * np.log(3.0))


def test_one_refuses_to_weigh_columns_of_other_decodings():
    with pytest.raises(ValueError, match="column_weights=True needs decoding 'hamming'"):
        ECOCOneClassifier(STUMPS, decoding="laplacian", column_weights=True).fit(X_IRIS, Y_IRIS)
    model = ECOCOneClassifier(STUMPS, column_weights=True, random_state=0).fit(X_IRIS, Y_IRIS)
    assert model.decoding_ == "loss-weighted"


def test_one_takes_sparse_rows():
    model = ECOCOneClassifier(LogisticRegression(), random_state=0)
    dense = model.fit(X_IRIS, Y_IRIS).decision_function(X_IRIS)
    rows = sparse.csr_array(X_IRIS)
    np.testing.assert_allclose(clone(model).fit(rows, Y_IRIS).decision_function(rows), dense, atol=1e-3)


# ---------------------------------------------------------------- Subclass-ECOC


def islands():
    """Return two classes in alternating islands along a line."""
    X = np.repeat([0.0, 5.0, 10.0, 15.0], 15)[:, None] + np.linspace(0, 1, 60)[:, None]
    return X, np.repeat([0, 1, 0, 1], 15)


def test_subclasses_separate_what_one_stump_cannot():
    X, y = islands()
    model = SubclassECOCClassifier(DecisionTreeClassifier(max_depth=1), random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.row_classes_, np.sort(model.row_classes_))
    assert len(model.row_classes_) == len(model.code_matrix_) > 2
    assert len(np.unique(model.code_matrix_, axis=0)) == len(model.code_matrix_)


@pytest.mark.parametrize(
    "threshold", [{"max_error": 0.9}, {"min_size": 0.6}, {"min_improvement": 0.999, "n_folds": None}]
)
def test_each_threshold_can_forbid_splitting(threshold):
    X, y = vehicle()
    model = SubclassECOCClassifier(STUMPS, random_state=0, **threshold).fit(X, y)
    assert model.code_matrix_.shape == (4, 3)
    np.testing.assert_array_equal(model.row_classes_, range(4))


def test_without_splits_it_is_decoc():
    X, y = vehicle()
    model = SubclassECOCClassifier(STUMPS, decoding="loss-weighted", max_error=0.9, random_state=0).fit(X, y)
    tree = ECOCClassifier(STUMPS, coding="decoc", decoding="loss-weighted", random_state=0).fit(X, y)
    mine = {frozenset((tuple(column), tuple(-column))) for column in model.code_matrix_.T}
    assert mine == {frozenset((tuple(column), tuple(-column))) for column in tree.code_matrix_.T}
    np.testing.assert_array_equal(model.predict(X), tree.predict(X))


def test_a_learner_that_knows_only_the_larger_side_splits_nothing():
    X, y = vehicle()
    model = SubclassECOCClassifier(DummyClassifier(strategy="most_frequent"), min_improvement=0.0).fit(X, y)
    np.testing.assert_array_equal(model.row_classes_, range(4))


def test_subclasses_do_not_depend_on_the_units_of_features():
    X, y = vehicle()
    model = SubclassECOCClassifier(STUMPS, n_folds=None).fit(X, y)  # folds depend on values, on purpose
    assert len(model.row_classes_) > 4
    in_other_units = clone(model).fit(X * 2.0 ** np.arange(X.shape[1]), y)
    np.testing.assert_array_equal(in_other_units.code_matrix_, model.code_matrix_)


@pytest.mark.parametrize("n_seeds", [2, *nightly([4])])
def test_subclasses_are_stable_over_seeds(n_seeds, monkeypatch):
    X, y = load_uci("glass", return_X_y=True)
    learner = LogisticRegression()
    halves = train_test_split(X, y, test_size=0.5, random_state=0)
    accuracy = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the features are not scaled, on purpose
        for seed in range(n_seeds):
            model = SubclassECOCClassifier(learner, random_state=seed).fit(halves[0], halves[2])
            accuracy.append(model.score(halves[1], halves[3]))
            monkeypatch.setattr(subclass, "_SEED", seed + 1)  # other folds and clusterings
    assert np.ptp(accuracy) < 0.08, accuracy
    assert min(accuracy) > 0.5, accuracy


def test_wide_data_take_no_more_search_than_a_thousand_features(monkeypatch):
    y = np.arange(20) % 4
    X = np.random.RandomState(0).standard_normal((20, 20_000))
    X[np.arange(20), 5_000 + y] += 20.0
    cells = []
    plain_log = discriminant._w_log_w

    def counted_log(weight):
        cells.append(weight.size)
        return plain_log(weight)

    monkeypatch.setattr(discriminant, "_w_log_w", counted_log)
    model = SubclassECOCClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert 0 < max(cells) <= 8 * 1_000 * 17  # of at most 8 subclasses at a time
    assert sum(cells) < 20_000 * 17 * 30


# ---------------------------------------------------------------- what every estimator must do


@pytest.mark.parametrize("method", GROWN)
def test_the_result_depends_neither_on_jobs_nor_on_row_order(method):
    X, y = vehicle()
    X, y = X[::6], y[::6]
    model = method(STUMPS, random_state=0).fit(X, y)
    threads = method(STUMPS, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.code_matrix_, threads.code_matrix_)
    np.testing.assert_array_equal(model.decision_function(X), threads.decision_function(X))
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = method(STUMPS, random_state=0).fit(X[order], y[order])
    if method is WOLCClassifier:  # its weights are the same up to their gap, so two close pairs may change places
        assert (model.predict(X) == shuffled.predict(X)).mean() > 0.95
    else:
        np.testing.assert_array_equal(model.code_matrix_, shuffled.code_matrix_)


def test_probabilities_do_not_depend_on_row_order_where_some_samples_are_drawn(monkeypatch):
    monkeypatch.setattr(growth, "DRAWN_SAMPLES", 100)
    X, y = vehicle()
    order = np.random.default_rng(0).permutation(len(y))
    method = ECOCOneClassifier(STUMPS, random_state=0)
    expected = clone(method).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(method.fit(X[order], y[order]).predict_proba(X), expected, atol=1e-9)


@pytest.mark.parametrize("method", GROWN)
def test_repeating_rows_equals_weighting_them(method, monkeypatch):
    monkeypatch.setattr(weighting, "_NESTED_TOL", 1e-7)
    monkeypatch.setattr(wolc, "_GAP", 1e-7)
    X, y = vehicle()
    X, y = X[::4], y[::4]
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    weighted = method(STUMPS, random_state=0).fit(X, y, sample_weight=weight)
    plain = method(STUMPS, random_state=0).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.code_matrix_, plain.code_matrix_)
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("method", GROWN)
@pytest.mark.parametrize("learner", [LinearSVC(random_state=0), KNeighborsClassifier(3)])
def test_any_learner(method, learner):
    model = method(learner, response_method="predict", random_state=0).fit(X_IRIS, Y_IRIS)
    assert model.score(X_IRIS, Y_IRIS) > 0.9
    with pytest.raises(ValueError, match="sample_weight was given"):
        method(KNeighborsClassifier()).fit(X_IRIS, Y_IRIS, sample_weight=np.ones(150))


@pytest.mark.parametrize("method", GROWN)
def test_a_fold_without_samples_does_no_harm(method):
    X, y = np.array([[0.0], [5.0], [6.0], [7.0], [8.0]]), [0, 1, 1, 1, 1]
    parameters = {} if method is ECOCOneClassifier else {"n_folds": 5}
    assert method(LogisticRegression(), random_state=0, **parameters).fit(X, y).predict(X).shape == (5,)


@pytest.mark.parametrize("method", GROWN)
def test_learners_that_have_their_methods_only_when_fitted(method):
    stack = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=3))], LogisticRegression(), cv=2)
    assert method(stack, random_state=0).fit(X_IRIS[::2], Y_IRIS[::2]).score(X_IRIS[1::2], Y_IRIS[1::2]) > 0.85


@pytest.mark.parametrize("name", ["vehicle", "yeast", "glass"])
def test_the_kept_round_is_the_last_one_with_progress(name):
    X, y = load_uci(name, return_X_y=True)
    model = WOLCClassifier(STUMPS, max_iter=8, tol=0.01, patience=99, random_state=0).fit(X[::2], y[::2])
    losses = [record.loss for record in model.history_]
    best, kept = losses[0], 0
    for number, loss in enumerate(losses):
        if best - loss > 0.01 * loss:
            best, kept = loss, number
    assert 0 < model.best_round_ == kept


@pytest.mark.parametrize("method", GROWN)
def test_frames_keep_their_names(method):
    frame = pd.DataFrame(X_IRIS, columns=list("abcd"))
    model = method(STUMPS, random_state=0).fit(frame, Y_IRIS)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(
        model.predict(frame), method(STUMPS, random_state=0).fit(X_IRIS, Y_IRIS).predict(X_IRIS)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("method", GROWN)
def test_weights_are_routed_to_the_learner(method):
    weight = np.random.default_rng(0).integers(1, 3, size=150).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = StumpAdaBoostClassifier(5).set_fit_request(sample_weight=True)
        routed = method(learner, random_state=0).fit(X_IRIS, Y_IRIS, sample_weight=weight)
    plain = method(STUMPS, random_state=0).fit(X_IRIS, Y_IRIS, sample_weight=weight)
    np.testing.assert_array_equal(routed.predict_proba(X_IRIS), plain.predict_proba(X_IRIS))


def test_parameters_can_be_searched():
    model = WOLCClassifier(STUMPS, decoding=OptimizedWeightDecoder(0.1), max_iter=1, random_state=0)
    search = GridSearchCV(model, {"decoding__l2": [0.01, 0.1]}, cv=2)
    assert search.fit(X_IRIS, Y_IRIS).best_score_ > 0.9


def test_verbose_prints_one_line_per_round(capsys):
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-rest", verbose=2, max_iter=2, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.history_)
    assert "columns" in lines[0]
    assert "opel/saab" in lines[0]


def test_the_progress_bar_moves_within_a_round(monkeypatch):
    X, y = vehicle()
    moves = []
    monkeypatch.setattr("skecoc.classifiers.base.tqdm.update", lambda self, n=1: moves.append(n))
    rules = {"init": "one-vs-rest", "n_pairs": 2, "max_iter": 1, "n_folds": 3, "random_state": 0}
    WOLCClassifier(STUMPS, verbose=1, **rules).fit(X, y)
    assert moves == [1] * (4 + 2) * (1 + 3)  # one learner per column, and one more per fold


def test_the_progress_bar_says_how_it_goes(capsys):
    X, y = vehicle()
    WOLCClassifier(STUMPS, max_iter=1, verbose=1, random_state=0).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "round 1, 14 columns" in shown.err
    assert "% out of fold, added work 0." in shown.err


@pytest.mark.parametrize(
    ("method", "bad", "message"),
    [
        (WOLCClassifier, {"init": "one-vs-none"}, "'one-vs-none' is not known"),
        (WOLCClassifier, {"init": [[1, 1], [1, -1], [1, -1]]}, "rows 1, 2 are equal|column 0"),
        (WOLCClassifier, {"init": one_vs_rest(4)}, "3"),
        (WOLCClassifier, {"n_pairs": 0}, "n_pairs"),
        (WOLCClassifier, {"n_regions": 1}, "n_regions"),
        (WOLCClassifier, {"patience": 0}, "patience"),
        (
            WOLCClassifier,
            {"max_columns": 1},
            "max_columns must leave every learner at least 2 columns to separate 3 classes, got 1",
        ),
        (WOLCClassifier, {"max_iter": -1}, "max_iter"),
        (WOLCClassifier, {"tol": -0.1}, "tol"),
        (WOLCClassifier, {"max_iter": "2P"}, "max_iter"),
        (WOLCClassifier, {"max_work": -1.0}, "max_work"),
        (WOLCClassifier, {"decoding": OptimizedWeightDecoder(-1.0)}, "margin"),
        (WOLCClassifier, {"decoding": OptimizedWeightDecoder(l2=-1.0)}, "l2"),
        (WOLCClassifier, {"decoding": "hamming"}, "LCECOCClassifier grows codes with any decoding"),
        (WOLCClassifier, {"decoding": "optimised"}, "'optimised' is not known"),
        (WOLCClassifier, {"n_folds": 1}, "n_folds"),
        (WOLCClassifier, {"response_method": "guess"}, "response_method"),
        (LCECOCClassifier, {"decoding": "guess"}, "'guess' is not known"),
        (LCECOCClassifier, {"n_regions": 1}, "n_regions"),
        (ECOCOneClassifier, {"validation_fraction": 0.0}, "validation_fraction"),
        (ECOCOneClassifier, {"validation_weight": 1.5}, "validation_weight"),
        (ECOCOneClassifier, {"extend": "yes"}, "extend"),
        (ECOCOneClassifier, {"column_weights": "yes"}, "column_weights"),
        (SubclassECOCClassifier, {"max_error": 1.0}, "max_error"),
        (SubclassECOCClassifier, {"min_size": -0.1}, "min_size"),
        (SubclassECOCClassifier, {"min_improvement": 2.0}, "min_improvement"),
    ],
)
def test_bad_parameters_are_named(method, bad, message):
    with pytest.raises(ValueError, match=message):
        method(**bad).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize("method", GROWN)
def test_bad_rows_are_refused(method):
    with pytest.raises(ValueError, match="at least 2 classes"):
        method().fit(X_IRIS, np.zeros(150))
    with pytest.raises(ValueError, match="positive sample_weight"):
        method().fit(X_IRIS, Y_IRIS, sample_weight=(Y_IRIS > 1).astype(float))
    with pytest.raises(ValueError, match="NaN"):
        method(LogisticRegression()).fit(np.full((150, 2), np.nan), Y_IRIS)
    with pytest.raises(ValueError, match="infinity"):
        method().fit(np.full((150, 2), np.inf), Y_IRIS)


# ------------------------------------------------- missing values, sparse matrices and frames reach the learners


def with_missing(X, seed=0, share=0.2):
    """Return a copy with missing values."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("learner", [STUMPS, DecisionTreeClassifier(max_depth=3, random_state=0)], ids=repr)
@pytest.mark.parametrize("method", GROWN)
def test_missing_values_reach_learners_that_take_them(method, learner):
    X = with_missing(X_IRIS)
    model = method(learner, random_state=0)
    assert get_tags(model).input_tags.allow_nan
    model.fit(X, Y_IRIS)
    assert model.score(X, Y_IRIS) > 0.85
    assert np.isfinite(model.predict_proba(np.full((1, 4), np.nan))).all()
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(method(learner, random_state=0).fit(frame, Y_IRIS).predict(frame), model.predict(X))


@pytest.mark.parametrize("method", LAYERED)
def test_regions_of_samples_with_missing_values(method):
    X, y = vehicle()
    X = with_missing(X[:300], share=0.1)
    model = method(random_state=0, n_pairs=3, max_iter=4).fit(X, y[:300])
    assert sum(record.n_clustered for record in model.history_)
    imputing = make_pipeline(SimpleImputer(), LogisticRegression())
    model = method(imputing, random_state=0, n_pairs=3, max_iter=2).fit(X, y[:300])
    assert sum(record.n_clustered for record in model.history_)
    assert model.score(X, y[:300]) > 0.6


@pytest.mark.parametrize("method", GROWN)
def test_sparse_rows_reach_the_learner(method):
    learner = MultinomialNB()
    rows = sparse.csr_array(X_IRIS)
    model = method(learner, random_state=0).fit(rows, Y_IRIS)
    assert get_tags(model).input_tags.sparse
    assert model.score(rows, Y_IRIS) > 0.85
    assert "clustered" not in getattr(model, "column_kinds_", [])


@pytest.mark.parametrize("method", [ECOCClassifier, *GROWN])
def test_columns_of_categories_reach_stumps(method):
    X, y = vehicle()
    numbers = {f"x{j}": X[:, j] for j in range(4)}
    kind = pd.Categorical(np.where(y == "bus", "large", np.where(X[:, 4] > 0.3, None, "small")))
    frame = pd.DataFrame({"kind": kind, **numbers})
    train, test = frame[::2], frame[1::2]
    plain = method(STUMPS, random_state=0).fit(train.drop(columns="kind"), y[::2])
    model = method(STUMPS, random_state=0).fit(train, y[::2])
    assert get_tags(model).input_tags.categorical
    assert model.score(test, y[1::2]) > plain.score(test.drop(columns="kind"), y[1::2])
    if method in LAYERED:
        assert sum(record.n_clustered for record in model.history_)


@pytest.mark.parametrize(
    "model", [ECOCClassifier(coding="decoc"), ECOCClassifier(coding="forest"), *[m() for m in GROWN]]
)
def test_truth_values_and_categories_together(model):
    kinds = np.array(list("uvw"))[Y_IRIS]
    frame = pd.DataFrame(X_IRIS[:, :1], columns=["x"]).assign(
        truth=Y_IRIS > 0, kind=pd.Categorical(kinds), nullable=pd.array(np.where(Y_IRIS == 1, None, 1), dtype="Int64")
    )
    for each in (frame, pl.from_pandas(frame)):
        fitted = clone(model).set_params(estimator=STUMPS, random_state=0).fit(each, Y_IRIS)
        assert fitted.score(each, Y_IRIS) == 1.0


@pytest.mark.parametrize(("method", "make_frame"), grid(GROWN, [pd.DataFrame, pl.DataFrame]))
def test_columns_of_text_reach_a_pipeline(method, make_frame):
    X, y = (part[::4] for part in vehicle())
    text = np.where(X[:, 0] > np.median(X[:, 0]), "long", "short")
    rounds = {"max_iter": 2} if method in LAYERED else {}
    frame = make_frame({"kind": text, **{f"x{j}": X[:, j] for j in range(1, 6)}})
    numbers = [f"x{j}" for j in range(1, 6)]
    prepared = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["kind"]), (StandardScaler(), numbers))
    try:
        clone(prepared).fit(frame)
    except AttributeError:
        pytest.skip("this version of scikit-learn does not take columns of such frames by name")
    model = method(make_pipeline(prepared, LogisticRegression()), random_state=0, **rounds).fit(frame, y)
    assert model.score(frame, y) > 0.5
    if method in LAYERED:
        assert sum(record.n_clustered for record in model.history_)
    only_text = frame[["kind"]]
    coded = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["kind"])), LogisticRegression()
    )
    bare = method(coded, random_state=0, **rounds).fit(only_text, y)
    assert "clustered" not in getattr(bare, "column_kinds_", [])
    assert bare.score(only_text, y) > 0.25


@pytest.mark.parametrize("method", LAYERED)
def test_clustering_takes_no_further_fit_parameters(method):
    with pytest.raises(ValueError, match="only support the fit parameter sample_weight"):
        method(GaussianNB()).fit(X_IRIS, Y_IRIS, classes=[0, 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("learner", [LinearSVC(random_state=0), RidgeClassifier()])
@pytest.mark.parametrize(("method", "least"), [(LCECOCClassifier, 0.8), (ECOCOneClassifier, 0.6)])
def test_margins_grow_codes_that_are_better_than_one_vs_rest(method, least, learner):
    X, y = load_uci("vowel", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = method(learner, random_state=0).fit(X[::2], y[::2])
    assert model.decoding_ == "probabilistic"
    score = model.score(X[1::2], y[1::2])
    assert score > least
    assert score > OneVsRestClassifier(learner).fit(X[::2], y[::2]).score(X[1::2], y[1::2])


def test_subclasses_of_infinite_values_do_without_warnings():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[::7, 1] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = SubclassECOCClassifier(HistGradientBoostingClassifier(max_iter=5), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
