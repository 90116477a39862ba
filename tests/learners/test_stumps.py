"""StumpAdaBoostClassifier: hand-worked cases, equality with a slow reference, and the scikit-learn interface."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc.data.codes import code_features
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier, stump_kernels
from skecoc.learners.binary import has_missing
from skecoc.persistence import ModelFileError, load_model, save_model
from tests.grids import nightly
from tests.reference import stumps as reference

LARGEST_ALPHA = 0.5 * np.log((1 - 1e-10) / 1e-10)


@parametrize_with_checks([StumpAdaBoostClassifier(), StumpAdaBoostClassifier(n_estimators=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_problem(seed, n_rows=60, n_features=4, n_levels=6):
    """Rows with ties, duplicates and a constant feature, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_levels, (n_rows, n_features)) / 4.0
    X[:, n_features // 2] = 1.5
    X[n_rows // 2 :: 3] = X[: len(X[n_rows // 2 :: 3])]
    y = (X[:, 0] + X[:, -1] + rng.normal(scale=0.5, size=n_rows) > np.median(X[:, 0] + X[:, -1])).astype(int)
    y[:2] = 0, 1
    return X, y, rng


def stumps_of(model):
    return list(zip(model.features_, model.thresholds_, model.polarities_, strict=True))


def assert_same_model(first, second, rtol=1e-7, atol=1e-12):
    assert stumps_of(first) == stumps_of(second)
    np.testing.assert_array_equal(first.missing_left_, second.missing_left_)
    np.testing.assert_allclose(first.alphas_, second.alphas_, rtol=rtol, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


def assert_is_reference(model, X, is_second, weight):
    expected = reference.boost(X, is_second, weight, model.n_estimators)
    assert stumps_of(model) == [stump[:3] for stump in expected]
    assert model.missing_left_.tolist() == [stump[3] for stump in expected]
    np.testing.assert_allclose(model.alphas_, [stump[4] for stump in expected], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(expected, X), atol=1e-6)


# Hand-worked cases


def test_three_rounds_by_hand():
    X = np.arange(1.0, 7.0)[:, None]
    y = np.array([1, 1, 1, 0, 0, 1])
    model = StumpAdaBoostClassifier(3).fit(X, y)
    # Round 1: "<= 3.5 is class 1" gets only the last row wrong, e = 1/6; so does nothing else.
    # Weights are then 1/2 for the last row and 1/10 for each other one. Round 2: the constant stump "class 1" gets
    # rows 4 and 5 wrong, e = 1/5, and no split does better; then these two weigh 1/4 each, the first three 1/16 each
    # and the last 5/16. Round 3: "<= 5.5 is class 0" gets the first three wrong, e = 3/16.
    assert stumps_of(model) == [(0, 3.5, 1), (-1, np.inf, 1), (0, 5.5, -1)]
    np.testing.assert_allclose(model.alphas_, 0.5 * np.log([5.0, 4.0, 13.0 / 3.0]))
    a, b, c = model.alphas_
    expected = [a + b - c] * 3 + [-a + b - c] * 2 + [-a + b + c]
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_array_equal(model.predict(X), y)
    p = 1 / (1 + np.exp(-2 * np.array(expected)))
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([1 - p, p]))
    np.testing.assert_allclose(model.feature_importances_, [1.0])


def test_perfect_stump_ends_boosting_with_the_largest_alpha():
    X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 9.0], [3.0, 8.0]])
    model = StumpAdaBoostClassifier().fit(X, ["b", "b", "a", "a"])
    assert stumps_of(model) == [(0, 1.5, 1)]
    np.testing.assert_allclose(model.alphas_, [LARGEST_ALPHA])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], [1 - 1e-10, 1 - 1e-10, 1e-10, 1e-10], rtol=1e-6)
    assert model.n_estimators_ == 1


def test_tiny_error_counts_as_the_smallest_one_but_does_not_end_boosting():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    weight = np.array([1.0, 1.0, 1e-14, 1.0])
    model = StumpAdaBoostClassifier(2).fit(X, [0, 0, 1, 0], weight)
    assert model.n_estimators_ == 2
    np.testing.assert_allclose(model.alphas_[0], LARGEST_ALPHA)


def test_useless_first_stump_leaves_no_stump():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array(["odd", "even", "even", "odd"])
    model = StumpAdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 0
    np.testing.assert_array_equal(model.decision_function(X), np.zeros(4))
    np.testing.assert_array_equal(model.predict_proba(X), np.full((4, 2), 0.5))
    np.testing.assert_array_equal(model.predict(X), ["even"] * 4)
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])
    assert list(model.staged_decision_function(X)) == []


def test_constant_features_leave_the_constant_stump_and_the_prior():
    X = np.full((5, 3), 7.0)
    model = StumpAdaBoostClassifier().fit(X, [0, 0, 0, 0, 1])
    assert stumps_of(model) == [(-1, np.inf, -1)]
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.8, 0.2]])
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))


def test_first_of_equal_features_and_lowest_of_equal_thresholds():
    column = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    y = np.array([0, 1, 0, 1, 1])  # thresholds 0.5 and 2.5 both get one row wrong
    X = np.column_stack([np.zeros(5), column, column])
    assert stumps_of(StumpAdaBoostClassifier(1).fit(X, y)) == [(1, 0.5, -1)]


def test_constant_stump_goes_before_an_equal_split():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0, 1, 1, 1, 0])  # "all are 1" and "> 0.5 is 1" both get two rows wrong
    assert stumps_of(StumpAdaBoostClassifier(1).fit(X, y))[0][0] == -1


def test_importances_are_shares_of_alpha():
    X, y, _ = random_problem(6)
    model = StumpAdaBoostClassifier(12).fit(X, y)
    expected = np.array([model.alphas_[model.features_ == f].sum() for f in range(X.shape[1])])
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum())
    assert (model.features_ == -1).any(), "the example should hold a constant stump"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (np.nextafter(1.0, 0.0), 1.0),
        (-5e-324, 0.0),
        (0.0, 5e-324),
        (5e-324, 1e-323),
        (1.7e308, np.finfo(float).max),
        (-np.finfo(float).max, np.finfo(float).max),
        (-np.finfo(float).max, -1.7e308),
    ],
)
def test_thresholds_part_neighbouring_and_extreme_numbers(left, right):
    X = np.array([[left], [right]])
    model = StumpAdaBoostClassifier().fit(X, [0, 1])
    assert left <= model.thresholds_[0] < right
    np.testing.assert_array_equal(model.predict(X), [0, 1])


# Equality with the slow reference


@st.composite
def problems(draw):
    """Rows with many ties, duplicates and missing values, constant features, and weights with zeros."""
    n_rows = draw(st.integers(2, 24))
    n_features = draw(st.integers(1, 6))
    few = [[0.0], [0.0, 1.0], [-1.0, -0.0, 0.0, 0.5], [0.1, 0.2, 0.3, 0.7, 1e9, -1e9], [np.nan, 0.0, 1.0, 2.0]]
    levels = draw(st.sampled_from(few))
    X = draw(arrays(np.float64, (n_rows, n_features), elements=st.sampled_from(levels)))
    is_second = draw(arrays(np.bool_, n_rows))
    is_second[:2] = False, True
    weights = draw(st.sampled_from([[1.0], [0.0, 1.0, 2.0], [0.0, 0.1, 0.3, 7.0]]))
    weight = draw(arrays(np.float64, n_rows, elements=st.sampled_from(weights)))
    if not weight.any():
        weight[0] = 1.0
    return X, is_second, weight


@settings(deadline=None, max_examples=150)
@given(problems(), st.integers(1, 15))
def test_stumps_are_those_of_the_reference_on_tied_rows(problem, n_estimators):
    X, is_second, weight = problem
    model = StumpAdaBoostClassifier(n_estimators).fit(X, is_second, weight)
    assert_is_reference(model, X, is_second, weight)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans())
def test_stumps_are_those_of_the_reference_on_continuous_rows(seed, n_features, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, n_features))
    is_second = X.sum(axis=1) + rng.normal(size=50) > 0
    is_second[:2] = False, True
    weight = rng.exponential(size=50) if weighted else np.ones(50)
    assert_is_reference(StumpAdaBoostClassifier(20).fit(X, is_second, weight), X, is_second, weight)


def test_stumps_are_those_of_the_reference_on_wide_codes_and_long_runs():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 3, (300, 3))])
    is_second = X[:, 0] * X[:, 1] + rng.normal(size=300) > 0
    model = StumpAdaBoostClassifier(60).fit(X, is_second)
    assert model._prepare_rows(X).codes.dtype == np.uint16
    assert model.n_estimators_ == 60
    assert_is_reference(model, X, is_second, np.ones(300))


@pytest.mark.parametrize("limits", [{"_LARGEST_FALL": 1.0}, {"_LARGEST_GROWTH": 1.0}])
def test_rebuilding_the_histograms_changes_no_stump(monkeypatch, limits):
    X, y, _ = random_problem(1, n_rows=80)
    coded = code_features(X)
    signed = np.where(y == 1, 1.0, -1.0) / len(y)
    bounds = np.array([0, len(y)])
    arrays = coded.codes, coded.starts, coded.missing
    compiled = stump_kernels.boost_groups(*arrays, None, bounds, signed.copy(), 25)
    rebuilt = []
    start_over = stump_kernels._start_over
    monkeypatch.setattr(stump_kernels, "_start_over", lambda *arrays: rebuilt.append(1) or start_over(*arrays))
    for name in ("_boost_each_group", "_boost_group"):
        monkeypatch.setattr(stump_kernels, name, getattr(stump_kernels, name).py_func)
    for name, value in limits.items():
        monkeypatch.setattr(stump_kernels, name, value)
    plain = stump_kernels.boost_groups(*arrays, None, bounds, signed.copy(), 25)
    assert len(rebuilt) > 5
    for ours, theirs in zip(compiled[:5], plain[:5], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(compiled[5], plain[5], rtol=1e-9)


def test_thousands_of_rounds_neither_overflow_nor_vanish():
    X, y, _ = random_problem(2)
    model = StumpAdaBoostClassifier(3000).fit(X, y)
    assert np.isfinite(model.alphas_).all()
    assert (model.alphas_ > 0).all()
    assert model.n_estimators_ == 3000


# Kernels against plain numpy


@settings(deadline=None)
@given(arrays(np.float64, st.integers(1, 23), elements=st.integers(-8, 8).map(float)), st.integers(-9, 9))
def test_edges_of_all_cuts(histogram, total):
    edges = 2 * np.cumsum(histogram)[:-1] - total
    largest = max(np.abs(edges).max(initial=0.0), abs(total))
    assert stump_kernels._largest_edge(histogram, float(total)) == largest
    if len(edges):
        level = np.abs(edges).max()
        cut, edge = stump_kernels._first_cut(histogram, float(total), level)
        assert cut == np.argmax(np.abs(edges))
        assert edge == edges[cut]


@pytest.mark.parametrize("n_features", [1, 3, 4, 9])
def test_adding_rows_to_histograms(n_features):
    rng = np.random.default_rng(n_features)
    X = rng.integers(0, 5, (40, n_features)).astype(float)
    coded = code_features(X)
    rows = rng.permutation(40)[:17].astype(np.uint32)
    changes = rng.normal(size=17)
    histograms = rng.normal(size=coded.starts[-1])
    expected = histograms.copy()
    for f in range(n_features):
        np.add.at(expected, coded.starts[f] + coded.codes[f, rows], changes)
    stump_kernels.add_rows(coded.codes, coded.starts, histograms, rows, changes)
    np.testing.assert_allclose(histograms, expected, rtol=1e-14)


@pytest.mark.parametrize("feature", [-1, 0])
@pytest.mark.parametrize("polarity", [-1, 1])
@pytest.mark.parametrize("n_right", [2, 3])
def test_parting_wrong_from_right_rows(feature, polarity, n_right):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, (1, 50)).astype(np.uint8)
    signed = rng.normal(size=50)
    rows = np.empty(50, np.uint32)
    sizes = 3, n_right if feature >= 0 else 0
    n_wrong = stump_kernels.put_wrong_first(codes, signed, feature, *sizes, polarity, rows)
    goes_left = (codes[0] <= 2) | (feature < 0) | (codes[0] >= 3 + n_right)
    is_wrong = np.where(goes_left, polarity, -polarity) != np.sign(signed)
    assert set(rows[:n_wrong]) == set(np.flatnonzero(is_wrong))
    assert set(rows[n_wrong:]) == set(np.flatnonzero(~is_wrong))


# Missing values


def test_best_split_is_missing_against_not_missing():
    X = np.array([[3.0], [np.nan], [1.0], [np.nan], [2.0]])
    model = StumpAdaBoostClassifier(1).fit(X, [0, 1, 0, 1, 0])
    assert stumps_of(model) == [(0, np.inf, -1)]
    assert model.missing_left_.tolist() == [False]
    np.testing.assert_array_equal(model.predict([[-9.0], [9.0], [np.nan]]), [0, 0, 1])


@pytest.mark.parametrize(("missing_label", "left"), [(0, True), (1, False)])
def test_missing_values_go_to_the_side_that_errs_least(missing_label, left):
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    y = [0, 0, 1, 1, missing_label, missing_label]
    model = StumpAdaBoostClassifier(1).fit(X, y)
    assert stumps_of(model) == [(0, 2.5, -1)]
    assert model.missing_left_.tolist() == [left]
    np.testing.assert_array_equal(model.predict(X), y)


def test_lowest_threshold_goes_before_missing_against_not_missing():
    X = np.array([[1.0], [1.0], [np.nan], [4.0], [4.0]])
    y = [1, 1, 0, 0, 1]
    # "<= 2.5 is 1, above or missing is 0" gets the last row wrong, "missing is 0" the fourth: one each.
    model = StumpAdaBoostClassifier(1).fit(X, y)
    assert stumps_of(model) == [(0, 2.5, 1)]
    assert model.missing_left_.tolist() == [False]
    np.testing.assert_array_equal(model.predict(X), [1, 1, 0, 0, 0])


@pytest.mark.parametrize(("labels", "left"), [([0, 0, 0, 1], True), ([0, 1, 1, 1], False), ([0, 0, 1, 1], False)])
def test_missing_values_unseen_in_training_go_with_most_samples(labels, left):
    model = StumpAdaBoostClassifier(1).fit([[1.0], [2.0], [3.0], [4.0]], labels)
    assert model.missing_left_.tolist() == [left]
    assert model.predict([[np.nan]]) == labels[0 if left else -1]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("weights", "left"), [([3, 1, 1, 1], False), ([4, 1, 1, 1], True), ([0.1, 0.1, 0.1, 0.3], False)]
)
def test_missing_values_unseen_in_training_go_with_most_weight(make, weights, left):
    X = make(np.array([[1.0], [2.0], [3.0], [4.0]]))
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        labels, given = np.array([0, 1, 1, 1])[order], np.array(weights)[order]
        if weights[0] < 1:
            labels = np.array([0, 0, 0, 1])[order]  # three of 0.1 against one of 0.3: a tie in any order
        model = StumpAdaBoostClassifier(1).fit(X[order], labels, given)
        assert model.missing_left_.tolist() == [left]


@pytest.mark.parametrize("seed", range(4))
def test_missing_values_on_one_side_are_extreme_values_there(seed):
    X, y, rng = random_problem(seed)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = StumpAdaBoostClassifier(1).fit(X, y)
    extreme = np.where(np.isnan(X), -1e6 if model.missing_left_[0] else 1e6, X)
    same = StumpAdaBoostClassifier(1).fit(extreme, y)
    assert (same.features_, same.polarities_) == (model.features_, model.polarities_)
    np.testing.assert_array_equal(same.decision_function(extreme), model.decision_function(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_of_rows_have_their_own_missing_values(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(dtype)
    y = (X[:, 0] > 0).astype(int)
    X[:30, 0], X[30:60, 1] = np.nan, np.nan
    learner = StumpAdaBoostClassifier(8)
    bounds = np.array([0, 30, 60, 90])
    groups = learner._fit_groups(learner._prepare_rows(X), np.arange(90), bounds, y)
    for first, group in zip(bounds, groups, strict=False):
        rows = slice(first, first + 30)
        assert_is_reference(group, X[rows].astype(np.float64), y[rows] == 1, np.ones(30))
    margins = StumpAdaBoostClassifier._margins_of_groups(groups, X, np.repeat([0, 1, 2], 30))
    alone = [group.decision_function(X[30 * g : 30 * g + 30]) for g, group in enumerate(groups)]
    np.testing.assert_array_equal(margins, np.concatenate(alone))


def test_missing_values_among_very_many_and_among_256_values():
    rng = np.random.default_rng(0)
    for n_values, n_features in ((256, 1), (70_000, 1), (256, 70)):
        X = np.tile(np.arange(70_000.0)[:, None] % n_values, (1, n_features))
        X[rng.permutation(70_000)[:5000]] = np.nan
        y = (np.nan_to_num(X[:, 0], nan=-1.0) > n_values // 2).astype(int)
        model = StumpAdaBoostClassifier(1).fit(X, y)
        assert model.missing_left_[0]
        assert model.score(X, y) > 0.9999


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@settings(deadline=None, max_examples=25)
@given(problems(), st.data())
def test_sparse_rows_have_the_stumps_of_dense_ones(make, problem, data):
    X, is_second, weight = problem
    kept = data.draw(arrays(np.bool_, X.shape))
    X = np.where(kept, X, 0.0)
    dense = StumpAdaBoostClassifier(12).fit(X, is_second, weight)
    model = StumpAdaBoostClassifier(12).fit(make(X), is_second, weight)
    for name in ("features_", "thresholds_", "missing_left_", "polarities_", "alphas_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(dense, name))
    np.testing.assert_array_equal(model.decision_function(make(X)), dense.decision_function(X))
    for ours, theirs in zip(model.staged_decision_function(make(X)), dense.staged_decision_function(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_some_sparse_rows_have_their_own_bins():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random(300, 40, density=0.1, random_state=0))
    y = (X @ rng.normal(size=40) > 0).astype(int)
    learner = StumpAdaBoostClassifier(30)
    coded, dense = learner._prepare_rows(X), learner._prepare_rows(X.toarray())
    for rows in (np.arange(150), rng.permutation(300)[:60], None):
        labels = y if rows is None else y[rows]
        assert_same_model(learner._fit_rows(coded, rows, labels), clone(learner)._fit_rows(dense, rows, labels), 0, 0)


def test_stored_zeros_and_parts_of_sums_are_what_they_add_up_to():
    X = sparse.csr_array(([1.0, 1.0, 0.0, 3.0, -3.0], [0, 0, 0, 0, 0], [0, 2, 3, 5, 5]), shape=(4, 1))
    y = [1, 0, 0, 0]
    model = StumpAdaBoostClassifier(1).fit(X, y)
    assert stumps_of(model) == [(0, 1.0, -1)]
    assert model.score(X, y) == 1.0


@pytest.mark.nightly
def test_sparse_rows_take_the_memory_of_their_values():
    X = sparse.csr_array(sparse.random(4000, 20_000, density=2e-4, random_state=0))
    y = (X[:, :2000].sum(axis=1) > 0).astype(int)
    StumpAdaBoostClassifier(2).fit(X[:50], np.arange(50) % 2)  # compiles
    tracemalloc.start()
    StumpAdaBoostClassifier(5).fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12_000_000  # 640 MB as an array of float64, 160 MB in two bytes a cell


# Categories


def categories_frame(make_frame, seed=0, n_rows=120):
    """Return a frame with two columns of categories, some missing, its obvious features, and labels."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    colour = rng.choice(["red", "green", "blue", None], n_rows, p=[0.4, 0.3, 0.2, 0.1])
    shape = rng.choice(["round", "square"], n_rows)
    if make_frame is pd.DataFrame:
        frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "shape": pd.Categorical(shape)})
    else:
        kinds = {"colour": pl.Categorical, "size": pl.Float64, "shape": pl.Enum(["square", "round", "other"])}
        frame = pl.DataFrame({"colour": colour.tolist(), "size": size, "shape": shape.tolist()}, schema=kinds)
    is_missing = np.array([value is None for value in colour])
    colours = [np.where(is_missing, np.nan, colour == value) for value in ("blue", "green", "red")]
    features = np.column_stack([*colours, size, shape == "round", shape == "square"]).astype(float)
    is_second = (colour == "green") ^ (shape == "round") ^ (rng.random(n_rows) < 0.2) ^ (size > 1)
    return frame, features, is_second


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("seed", range(3))
def test_stumps_over_categories_are_those_of_the_reference(make_frame, seed):
    frame, features, is_second = categories_frame(make_frame, seed)
    model = StumpAdaBoostClassifier(25).fit(frame, is_second)
    expected = reference.boost(features, is_second, np.ones(len(features)), 25)
    assert stumps_of(model) == [stump[:3] for stump in expected]
    assert model.missing_left_.tolist() == [stump[3] for stump in expected]
    np.testing.assert_allclose(
        model.decision_function(frame), reference.decision_function(expected, features), atol=1e-6
    )
    assert [None if known is None else known.tolist() for known in model.categories_] == [
        ["blue", "green", "red"],
        None,
        ["round", "square"],
    ]
    assert model.n_features_in_ == 3
    shares = [model.alphas_[np.isin(model.features_, own)].sum() for own in ([0, 1, 2], [3], [4, 5])]
    np.testing.assert_allclose(model.feature_importances_, shares / np.sum(shares))
    assert len(list(model.staged_decision_function(frame))) == model.n_estimators_


def test_unknown_categories_are_missing_ones():
    frame, _, is_second = categories_frame(pd.DataFrame)
    model = StumpAdaBoostClassifier().fit(frame, is_second)
    rows = frame[:4].assign(colour=pd.Categorical([None] * 4, categories=["red"]))
    unknown = frame[:4].assign(colour=pd.Categorical(["violet"] * 4))
    np.testing.assert_array_equal(model.decision_function(unknown), model.decision_function(rows))
    # Codes mean nothing: only the names of categories count.
    other = frame.assign(colour=frame["colour"].cat.reorder_categories(["red", "green", "blue"]))
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(frame))


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, "a"],
        ["a", "a\0", "b"],
        [(1, 2), (1, 3), (2, 2)],
        [(1, 2), ("a",), (1, "b")],
        [2**63 + 1, 2**63 + 2, -1],
    ],
)
def test_categories_of_any_kind_stay_apart_and_are_saved(values, tmp_path):
    categories = pd.Index(values, dtype=object, tupleize_cols=False)
    number = np.arange(30) % 3
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(number, categories)})
    for value in range(3):
        model = StumpAdaBoostClassifier(1).fit(frame, number == value)
        assert model.score(frame, number == value) == 1.0
    assert set(model.categories_[0].tolist()) == set(values)
    save_model(model, tmp_path / "model.skecoc")
    assert load_model(tmp_path / "model.skecoc").score(frame, number == 2) == 1.0


def test_categories_that_no_model_file_can_hold_are_refused_when_saving(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(pd.to_datetime(["2024-01-01", "2025-01-01"] * 10))})
    model = StumpAdaBoostClassifier(1).fit(frame, [0, 1] * 10)
    assert model.score(frame, [0, 1] * 10) == 1.0
    with pytest.raises(ModelFileError, match=r"cannot be saved: it holds pandas\..*Timestamp"):
        save_model(model, tmp_path / "model.skecoc")


def test_categories_are_taken_from_frames_only():
    frame, features, is_second = categories_frame(pd.DataFrame)
    model = StumpAdaBoostClassifier(3).fit(frame, is_second)
    with pytest.raises(ValueError, match="X must be a frame"):
        model.predict(features[:, :3])
    with pytest.raises(ValueError, match=r"could not convert|red"):
        StumpAdaBoostClassifier(categorical_features=None).fit(frame, is_second)
    many = pd.DataFrame({"city": pd.Categorical([f"c{i}" for i in range(300)])})
    with pytest.raises(ValueError, match="'city' of X has 300 categories, more than 255"):
        StumpAdaBoostClassifier().fit(many, np.arange(300) % 2)
    model.fit(features, is_second)
    assert not hasattr(model, "categories_")
    assert not get_tags(StumpAdaBoostClassifier(categorical_features=None)).input_tags.categorical


# What must not change the result


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(problem, seed):
    X, is_second, weight = problem
    order = np.random.default_rng(seed).permutation(len(X))
    first = StumpAdaBoostClassifier(10).fit(X, is_second, weight)
    assert_same_model(first, StumpAdaBoostClassifier(10).fit(X[order], is_second[order], weight[order]))


@settings(deadline=None, max_examples=60)
@given(problems())
def test_exchanging_the_classes_negates_the_result(problem):
    X, is_second, weight = problem
    model = StumpAdaBoostClassifier(10).fit(X, is_second, weight)
    exchanged = StumpAdaBoostClassifier(10).fit(X, ~is_second, weight)
    np.testing.assert_array_equal(exchanged.features_, model.features_)
    np.testing.assert_array_equal(exchanged.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(exchanged.polarities_, -model.polarities_)
    np.testing.assert_allclose(exchanged.decision_function(X), -model.decision_function(X), atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(problems())
def test_scale_of_the_weights_does_not_matter(problem):
    X, is_second, weight = problem
    model = StumpAdaBoostClassifier(10).fit(X, is_second, weight)
    for scale in (3.0, 1e-300, 1e307):
        assert_same_model(model, StumpAdaBoostClassifier(10).fit(X, is_second, scale * weight))


@settings(deadline=None, max_examples=60)
@given(problems(), st.data())
def test_repeating_rows_is_weighting_them(problem, data):
    X, is_second, _ = problem
    counts = data.draw(arrays(np.intp, len(X), elements=st.integers(0, 3)))
    counts[:2] = 1, 2  # a row of each class stays
    weighted = StumpAdaBoostClassifier(10).fit(X, is_second, counts)
    repeated = StumpAdaBoostClassifier(10).fit(np.repeat(X, counts, axis=0), np.repeat(is_second, counts))
    assert_same_model(weighted, repeated)


def test_weight_on_one_class_only_predicts_this_class():
    X, y, _ = random_problem(0)
    model = StumpAdaBoostClassifier().fit(X, y, np.where(y == 0, 2.0, 0.0))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert stumps_of(model) == [(-1, np.inf, -1)]
    np.testing.assert_array_equal(model.predict(X), np.zeros(len(X)))


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (2.0, 3.0), (False, True)])
def test_labels_of_any_kind(labels):
    X, y, _ = random_problem(4)
    model = StumpAdaBoostClassifier(8).fit(X, y)
    named = StumpAdaBoostClassifier(8).fit(X, np.array(labels)[y])
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.predict(X), np.array(labels)[model.predict(X)])


# Shared rows


@settings(deadline=None, max_examples=80)
@given(problems(), st.data())
def test_fitting_rows_is_fitting_a_copy_of_them(problem, data):
    X, is_second, weight = problem
    rows = data.draw(arrays(np.intp, st.integers(2, 30), elements=st.integers(0, len(X) - 1)))
    rows[:2] = 0, 1  # one of each class
    learner = StumpAdaBoostClassifier(8)
    use_weight = weight[rows] if weight[rows].any() else None
    shared = clone(learner)._fit_rows(learner._prepare_rows(X), rows, is_second[rows], use_weight)
    alone = clone(learner).fit(X[rows], is_second[rows], use_weight)
    assert_same_model(shared, alone, rtol=0, atol=0)


def test_few_rows_of_very_many_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 3))
    rows = rng.choice(len(X), 100, replace=False)
    y = (X[rows].sum(axis=1) > 0).astype(int)
    learner = StumpAdaBoostClassifier()
    shared = clone(learner)._fit_rows(learner._prepare_rows(X), rows, y)
    assert_same_model(shared, clone(learner).fit(X[rows], y), rtol=0, atol=0)


def test_preparing_rows_changes_nothing_in_the_learner():
    X, y, _ = random_problem(0)
    fresh = StumpAdaBoostClassifier()
    fresh._prepare_rows(X)
    assert vars(fresh) == fresh.get_params()
    fitted = StumpAdaBoostClassifier().fit(X, y)
    before = dict(vars(fitted))
    fitted._prepare_rows(X[:, :2])
    assert vars(fitted) == before


def test_threads_share_prepared_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    learner = StumpAdaBoostClassifier()
    prepared = learner._prepare_rows(X)
    columns = []
    for _ in range(24):
        rows = rng.choice(2000, rng.integers(50, 2000), replace=False)
        columns.append((rows, (X[rows] @ rng.normal(size=6) > 0).astype(int)))

    def train(column):
        return clone(learner)._fit_rows(prepared, *column)

    in_turn = [train(column) for column in columns]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(train, columns))
    for first, second in zip(in_turn, at_once, strict=True):
        assert_same_model(first, second, rtol=0, atol=0)


def test_names_of_features_travel_with_prepared_rows():
    X, y, _ = random_problem(0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = StumpAdaBoostClassifier(4)
    model = clone(learner)._fit_rows(learner._prepare_rows(frame), None, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    model._fit_rows(learner._prepare_rows(X), None, y)
    assert not hasattr(model, "feature_names_in_")


def test_more_values_than_codes_cut_between_bins():
    rng = np.random.default_rng(0)
    X = rng.permutation(150_000)[:, None].astype(float)
    y = (X[:, 0] > 100_000).astype(int)
    model = StumpAdaBoostClassifier(1).fit(X, y)
    bins = np.arange(150_000) * 65_536 // 150_000
    ends = np.flatnonzero(np.diff(bins))  # the largest value of each bin but the last
    assert model.thresholds_[0] - 0.5 == ends[np.argmin(np.abs(ends - 100_000))]


# Prediction


def test_staged_sums_end_in_the_decision_function():
    X, y, _ = random_problem(6, n_rows=700)
    model = StumpAdaBoostClassifier(15).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_ == 15
    for t, stage in enumerate(stages, start=1):
        sides = zip(model.missing_left_, model.alphas_, strict=True)
        first_t = [(*stump, *side) for stump, side in zip(stumps_of(model), sides, strict=True)][:t]
        np.testing.assert_allclose(stage, reference.decision_function(first_t, X), atol=1e-12)
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))


def test_several_models_answer_together():
    X, y, rng = random_problem(7, n_rows=600)
    useless = StumpAdaBoostClassifier().fit([[0.0] * 4, [0.0] * 4], [0, 1])
    models = [StumpAdaBoostClassifier(k).fit(X, rng.permutation(y)) for k in (1, 9, 30)]
    models.insert(1, useless)
    margins = StumpAdaBoostClassifier._outputs_together(models, X, "decision_function")
    probabilities = StumpAdaBoostClassifier._outputs_together(models, X, "predict_proba")
    labels = StumpAdaBoostClassifier._outputs_together(models, X, "predict")
    assert margins.shape == probabilities.shape == labels.shape == (600, 4)
    for q, model in enumerate(models):
        np.testing.assert_array_equal(margins[:, q], model.decision_function(X))
        np.testing.assert_allclose(probabilities[:, q], 2 * model.predict_proba(X)[:, 1] - 1, atol=1e-15)
        np.testing.assert_array_equal(labels[:, q], 2 * model.predict(X) - 1)


def test_answering_together_checks_the_rows():
    X, y, _ = random_problem(7)
    model = StumpAdaBoostClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        StumpAdaBoostClassifier._outputs_together([model], X[:, :2], "predict")
    with pytest.raises(ValueError, match="infinity"):
        StumpAdaBoostClassifier._outputs_together([model, model], np.full_like(X, np.inf), "predict")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_and_layout_do_not_matter(order, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    expected = StumpAdaBoostClassifier().fit(X.astype(np.float64), y)
    laid_out = np.asarray(X, dtype=dtype, order=order)
    model = StumpAdaBoostClassifier().fit(laid_out, y)
    assert_same_model(model, expected, rtol=0, atol=0)
    np.testing.assert_array_equal(model.decision_function(laid_out), expected.decision_function(X))


def test_read_only_rows_are_enough():
    X, y, _ = random_problem(8)
    expected = StumpAdaBoostClassifier(5).fit(X, y).decision_function(X)
    X.flags.writeable = y.flags.writeable = False
    np.testing.assert_array_equal(StumpAdaBoostClassifier(5).fit(X, y).decision_function(X), expected)


def test_memory_maps_need_no_other_compiled_version(tmp_path):
    X, y, _ = random_problem(8)
    learner = StumpAdaBoostClassifier(5)
    expected = clone(learner).fit(X, y)
    kernels = stump_kernels._boost_each_group, stump_kernels._add_votes
    versions = [len(kernel.signatures) for kernel in kernels]
    joblib.dump((learner._prepare_rows(X), X), tmp_path / "rows.joblib")
    prepared, mapped = joblib.load(tmp_path / "rows.joblib", mmap_mode="r")
    assert isinstance(prepared.codes, np.memmap)
    model = clone(learner)._fit_rows(prepared, None, y)
    assert_same_model(model, expected, rtol=0, atol=0)
    np.testing.assert_array_equal(model.decision_function(mapped), expected.decision_function(X))
    assert [
        len(kernel.signatures) for kernel in (stump_kernels._boost_each_group, stump_kernels._add_votes)
    ] == versions


def test_pickled_model_answers_the_same():
    X, y, _ = random_problem(9)
    model = StumpAdaBoostClassifier(10).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(copied.decision_function(X), model.decision_function(X))


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1, 2]}, "Only binary classification is supported.*ECOCClassifier"),
        ({"y": np.array(["a", "b", "c"])}, "Only binary classification is supported.*ECOCClassifier"),
        ({"y": [1, 1, 1]}, "class"),
        ({"y": [0.5, 1.5, 0.25]}, "continuous"),
        ({"y": [0, 1]}, "y must have one label per row: got 2 labels for 3 rows"),
        ({"y": np.array([0, 1])}, "y must have one label per row: got 2 labels for 3 rows"),
        ({"X": [[0.0], [np.inf], [1.0]]}, "contains infinity"),
        ({"sample_weight": [1.0, 1.0]}, r"sample_weight must have shape \(3,\)"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "sample_weight must hold finite numbers that are not negative"),
        ({"sample_weight": [1.0, np.nan, 1.0]}, "sample_weight must hold finite numbers"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, "sample_weight must not be zero for every row"),
    ],
)
def test_bad_arguments_of_fit(arguments, message):
    good = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 1]}
    with pytest.raises(ValueError, match=message):
        StumpAdaBoostClassifier().fit(**{**good, **arguments})


@pytest.mark.parametrize("rows", [[0, 3], [-1, 1], [0.0, 1.0], [True, True], [[0, 1]], []])
def test_bad_row_numbers(rows):
    learner = StumpAdaBoostClassifier()
    prepared = learner._prepare_rows([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="rows must"):
        learner._fit_rows(prepared, rows, [0, 1])


@pytest.mark.parametrize("n_estimators", [0, -1, 2.5, "many"])
def test_bad_number_of_estimators(n_estimators):
    with pytest.raises(ValueError, match="n_estimators"):
        StumpAdaBoostClassifier(n_estimators).fit([[0.0], [1.0]], [0, 1])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        StumpAdaBoostClassifier().predict([[0.0]])
    with pytest.raises(NotFittedError):
        _ = StumpAdaBoostClassifier().feature_importances_


# Against scikit-learn


ALL_SETS = [
    "balance",
    "dermatology",
    "ecoli",
    "glass",
    "iris",
    "optdigits",
    "pendigits",
    "satimage",
    "segmentation",
    "thyroid",
    "vehicle",
    "vowel",
    "wine",
    "yeast",
]


@pytest.mark.slow
@pytest.mark.parametrize("names", [["dermatology", "glass", "vowel"], *nightly([ALL_SETS])], ids=["few", "all"])
def test_not_less_accurate_than_scikit_learns_boosted_stumps(names):
    """Both learners answer "is it the second class?" on the same folds of at most 2,500 rows of each set.

    Where they differ, ours loses no more often than it wins, within three standard deviations of a fair coin.
    """
    wins, losses = np.zeros(len(names)), np.zeros(len(names))
    for k, name in enumerate(names):
        data = load_uci(name)
        rows = slice(None, None, 1 + len(data.data) // 2500)
        X = np.where(np.isnan(data.data), np.nanmedian(data.data, axis=0), data.data)[rows]
        y = (data.target == np.unique(data.target)[1])[rows]
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=40)
        we_are_right = cross_val_predict(StumpAdaBoostClassifier(), X, y, cv=folds) == y
        they_are_right = cross_val_predict(theirs, X, y, cv=folds) == y
        wins[k] = (we_are_right & ~they_are_right).sum()
        losses[k] = (they_are_right & ~we_are_right).sum()
    assert (losses - wins <= 3.0 * np.sqrt(wins + losses)).all(), list(zip(names, wins, losses, strict=True))
    assert losses.sum() - wins.sum() <= 3.0 * np.sqrt(wins.sum() + losses.sum())


def test_rows_that_an_ensemble_has_checked_are_not_checked_again():
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8) % 2
    model = StumpAdaBoostClassifier(2).fit(X, y)
    unchecked = np.array([[np.inf]])
    with config_context(assume_finite=True):
        assert np.isfinite(model.decision_function(unchecked)).all()
        with pytest.raises(ValueError, match="features"):
            model.decision_function(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="infinity"):
        model.decision_function(unchecked)


@pytest.mark.parametrize("kind", ["string", "boolean"])
def test_missing_categories_of_nullable_types(kind):
    values = [True, False, None] * 10 if kind == "boolean" else ["a", "b", None] * 10
    frame = pd.DataFrame({"kind": pd.Series(values, dtype=kind).astype("category")})
    y = np.arange(30) % 3 == 0
    model = StumpAdaBoostClassifier(5).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), y)


def test_infinite_values_of_a_sparse_matrix_are_not_missing():
    rows = sparse.csr_array([[np.inf, 0.0], [0.0, -np.inf]])
    assert not has_missing(rows)
    assert has_missing(sparse.csr_array([[np.nan, 0.0]]))
