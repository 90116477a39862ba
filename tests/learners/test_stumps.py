"""StumpAdaBoostClassifier: hand-worked cases, equality with a slow reference, and the scikit-learn interface."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier, stump_kernels
from skecoc.learners.codes import code_features
from skecoc.learners.stump_kernels import SMALLEST_ERROR, TIE_TOLERANCE
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
    np.testing.assert_allclose(first.alphas_, second.alphas_, rtol=rtol, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


def assert_is_reference(model, X, is_second, weight):
    expected = reference.boost(X, is_second, weight, model.n_estimators)
    assert stumps_of(model) == [stump[:3] for stump in expected]
    np.testing.assert_allclose(model.alphas_, [stump[3] for stump in expected], rtol=1e-7, atol=1e-12)
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
    """Rows with many ties and duplicates, constant features, and weights with zeros."""
    n_rows = draw(st.integers(2, 24))
    n_features = draw(st.integers(1, 6))
    levels = draw(st.sampled_from([[0.0], [0.0, 1.0], [-1.0, -0.0, 0.0, 0.5], [0.1, 0.2, 0.3, 0.7, 1e9, -1e9]]))
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
    assert model.prepare_rows(X).codes.dtype == np.uint16
    assert model.n_estimators_ == 60
    assert_is_reference(model, X, is_second, np.ones(300))


@pytest.mark.parametrize("limits", [{"_LARGEST_FALL": 1.0}, {"_LARGEST_GROWTH": 1.0}])
def test_rebuilding_the_histograms_changes_no_stump(monkeypatch, limits):
    X, y, _ = random_problem(1, n_rows=80)
    coded = code_features(X)
    signed = np.where(y == 1, 1.0, -1.0) / len(y)
    limits_of_search = (25, TIE_TOLERANCE, SMALLEST_ERROR)
    bounds = np.array([0, len(y)])
    compiled = stump_kernels.boost_groups(coded.codes, coded.starts, None, bounds, signed.copy(), *limits_of_search)
    rebuilt = []
    start_over = stump_kernels._start_over
    monkeypatch.setattr(stump_kernels, "_start_over", lambda *arrays: rebuilt.append(1) or start_over(*arrays))
    for name in ("_boost_groups", "_boost"):
        monkeypatch.setattr(stump_kernels, name, getattr(stump_kernels, name).py_func)
    for name, value in limits.items():
        monkeypatch.setattr(stump_kernels, name, value)
    plain = stump_kernels.boost_groups(coded.codes, coded.starts, None, bounds, signed.copy(), *limits_of_search)
    assert len(rebuilt) > 5
    for ours, theirs in zip(compiled[:4], plain[:4], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(compiled[4], plain[4], rtol=1e-9)


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
def test_parting_wrong_from_right_rows(feature, polarity):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, (1, 50)).astype(np.uint8)
    signed = rng.normal(size=50)
    rows = np.empty(50, np.uint32)
    n_wrong = stump_kernels._part_wrong_from_right(codes, signed, feature, 2, polarity, rows)
    goes_left = (codes[0] <= 2) | (feature < 0)
    is_wrong = np.where(goes_left, polarity, -polarity) != np.sign(signed)
    assert set(rows[:n_wrong]) == set(np.flatnonzero(is_wrong))
    assert set(rows[n_wrong:]) == set(np.flatnonzero(~is_wrong))


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
    shared = clone(learner).fit_rows(learner.prepare_rows(X), rows, is_second[rows], use_weight)
    alone = clone(learner).fit(X[rows], is_second[rows], use_weight)
    assert_same_model(shared, alone, rtol=0, atol=0)


def test_few_rows_of_very_many_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 3))
    rows = rng.choice(len(X), 100, replace=False)
    y = (X[rows].sum(axis=1) > 0).astype(int)
    learner = StumpAdaBoostClassifier()
    shared = clone(learner).fit_rows(learner.prepare_rows(X), rows, y)
    assert_same_model(shared, clone(learner).fit(X[rows], y), rtol=0, atol=0)


def test_preparing_rows_changes_nothing_in_the_learner():
    X, y, _ = random_problem(0)
    fresh = StumpAdaBoostClassifier()
    fresh.prepare_rows(X)
    assert vars(fresh) == {"n_estimators": 40}
    fitted = StumpAdaBoostClassifier().fit(X, y)
    before = dict(vars(fitted))
    fitted.prepare_rows(X[:, :2])
    assert vars(fitted) == before


def test_threads_share_prepared_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    learner = StumpAdaBoostClassifier()
    prepared = learner.prepare_rows(X)
    columns = []
    for _ in range(24):
        rows = rng.choice(2000, rng.integers(50, 2000), replace=False)
        columns.append((rows, (X[rows] @ rng.normal(size=6) > 0).astype(int)))

    def train(column):
        return clone(learner).fit_rows(prepared, *column)

    in_turn = [train(column) for column in columns]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(train, columns))
    for first, second in zip(in_turn, at_once, strict=True):
        assert_same_model(first, second, rtol=0, atol=0)


def test_names_of_features_travel_with_prepared_rows():
    X, y, _ = random_problem(0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = StumpAdaBoostClassifier(4)
    model = clone(learner).fit_rows(learner.prepare_rows(frame), None, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    model.fit_rows(learner.prepare_rows(X), None, y)
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
        first_t = [(*stump, alpha) for stump, alpha in zip(stumps_of(model), model.alphas_, strict=True)][:t]
        np.testing.assert_allclose(stage, reference.decision_function(first_t, X), atol=1e-12)
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))


def test_several_models_answer_together():
    X, y, rng = random_problem(7, n_rows=600)
    useless = StumpAdaBoostClassifier().fit([[0.0] * 4, [0.0] * 4], [0, 1])
    models = [StumpAdaBoostClassifier(k).fit(X, rng.permutation(y)) for k in (1, 9, 30)]
    models.insert(1, useless)
    margins = StumpAdaBoostClassifier.outputs_together(models, X, "decision_function")
    probabilities = StumpAdaBoostClassifier.outputs_together(models, X, "predict_proba")
    labels = StumpAdaBoostClassifier.outputs_together(models, X, "predict")
    assert margins.shape == probabilities.shape == labels.shape == (600, 4)
    for q, model in enumerate(models):
        np.testing.assert_array_equal(margins[:, q], model.decision_function(X))
        np.testing.assert_allclose(probabilities[:, q], 2 * model.predict_proba(X)[:, 1] - 1, atol=1e-15)
        np.testing.assert_array_equal(labels[:, q], 2 * model.predict(X) - 1)


def test_answering_together_checks_the_rows():
    X, y, _ = random_problem(7)
    model = StumpAdaBoostClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        StumpAdaBoostClassifier.outputs_together([model], X[:, :2], "predict")
    with pytest.raises(ValueError, match="NaN"):
        StumpAdaBoostClassifier.outputs_together([model, model], np.full_like(X, np.nan), "predict")


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
    versions = [len(kernel.signatures) for kernel in (stump_kernels._boost_groups, stump_kernels._add_votes)]
    joblib.dump((learner.prepare_rows(X), X), tmp_path / "rows.joblib")
    prepared, mapped = joblib.load(tmp_path / "rows.joblib", mmap_mode="r")
    assert isinstance(prepared.codes, np.memmap)
    model = clone(learner).fit_rows(prepared, None, y)
    assert_same_model(model, expected, rtol=0, atol=0)
    np.testing.assert_array_equal(model.decision_function(mapped), expected.decision_function(X))
    assert [len(kernel.signatures) for kernel in (stump_kernels._boost_groups, stump_kernels._add_votes)] == versions


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
        ({"X": [[0.0], [np.nan], [1.0]]}, "contains NaN"),
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
    prepared = learner.prepare_rows([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="rows must"):
        learner.fit_rows(prepared, rows, [0, 1])


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
def test_not_less_accurate_than_scikit_learns_boosted_stumps():
    """Both learners answer "is it the second class?" on the same folds of at most 2,500 rows of each set.

    Where they differ, ours loses no more often than it wins, within three standard deviations of a fair coin.
    """
    wins, losses = np.zeros(len(ALL_SETS)), np.zeros(len(ALL_SETS))
    for k, name in enumerate(ALL_SETS):
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
    assert (losses - wins <= 3.0 * np.sqrt(wins + losses)).all(), list(zip(ALL_SETS, wins, losses, strict=True))
    assert losses.sum() - wins.sum() <= 3.0 * np.sqrt(wins.sum() + losses.sum())


def test_rows_that_an_ensemble_has_checked_are_not_checked_again():
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8) % 2
    model = StumpAdaBoostClassifier(2).fit(X, y)
    unchecked = np.array([[np.nan]])
    with config_context(assume_finite=True):
        assert np.isfinite(model.decision_function(unchecked)).all()
        with pytest.raises(ValueError, match="features"):
            model.decision_function(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="NaN"):
        model.decision_function(unchecked)
