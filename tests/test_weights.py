"""Weights of classes, extreme weights of samples, and classes without weight, in all classifiers."""

import re

import numpy as np
import pytest
import scipy.sparse
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.estimator_checks import check_class_weight_classifiers

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.decoding import DECODERS, resolve_decoder
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import ConstantClassifier
from skecoc.support.weights import add_totals, class_factors, class_totals, only_side, usable_weights
from tests.grids import few, grid
from tests.reference.blocks import ecoc_in_blocks, wolc_in_blocks

STUMPS = StumpAdaBoostClassifier(4)
LOGISTIC = LogisticRegression(max_iter=500)
SEVERAL = [("tree", DecisionTreeClassifier(max_depth=2)), ("logistic", LOGISTIC)]
LOCAL = [
    ECOCClassifier(STUMPS, random_state=0),
    ECOCClassifier(LOGISTIC, coding="one-vs-rest", decoding="optimized-weight", random_state=0),
    ECOCClassifier(LinearSVC(), coding="dense-random", decoding="probabilistic", random_state=0),
    ECOCClassifier(STUMPS, coding="decoc", decoding="logistic-weight", random_state=0),
    ECOCClassifier(SEVERAL, random_state=0),
    WOLCClassifier(STUMPS, max_iter=2, random_state=0),
    WOLCClassifier(LOGISTIC, max_iter=0, random_state=0),
    LCECOCClassifier(STUMPS, max_iter=2, random_state=0),
    ECOCOneClassifier(STUMPS, max_iter=2, random_state=0),
    SubclassECOCClassifier(STUMPS, random_state=0),
]
BLOCKED = [
    ecoc_in_blocks(STUMPS, block_size=40, random_state=0),
    ecoc_in_blocks(STUMPS, block_size=40, max_bins=20, random_state=0),
    ecoc_in_blocks(LOGISTIC, block_size=40, random_state=0),
    wolc_in_blocks(STUMPS, block_size=40, max_iter=1, max_bins=20, random_state=0),
]


def unequal(seed=0):
    """Return samples of three classes of unequal sizes, by name, and weights."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.concatenate([np.arange(50), np.arange(50, 80), np.arange(100, 115)]))
    X = X + rng.normal(scale=0.3, size=X.shape)
    return X[rows], np.array(["setosa", "other", "virginica"])[y[rows]], rng.integers(1, 4, len(rows)).astype(float)


def same(first, second, X):
    np.testing.assert_array_equal(first.classes_, second.classes_)
    np.testing.assert_array_equal(first.code_matrix_, second.code_matrix_)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


# ---------------------------------------------------------------- sums and factors


def test_totals_by_hand():
    totals = class_totals(np.array([3, 1, 3]), np.array([0.5, 2.0, 0.25]))
    assert totals == {1: 2 << 1074, 3: (3 << 1074) // 4}
    assert class_totals(np.array(["a", "b", "a"]), None) == {"a": 2 << 1074, "b": 1 << 1074}
    assert class_totals(np.array([0, 0]), np.array([5e-324, 5e-324])) == {0: 2}
    assert class_totals(np.array([0]), np.array([1.7e308])) == {0: int(1.7e308) << 1074}


@pytest.mark.parametrize("seed", range(3))
def test_totals_do_not_depend_on_the_division_or_the_order(seed):
    rng = np.random.default_rng(seed)
    y, weight = rng.integers(0, 4, 200), np.exp(rng.normal(scale=40.0, size=200))
    whole = class_totals(y, weight)
    order = rng.permutation(200)
    parts = [class_totals(y[part], weight[part]) for part in np.split(order, [3, 3, 120])]
    total = {}
    for part in parts:
        total = add_totals(total, part)
    assert total == whole
    for name, exact in whole.items():
        assert exact / (1 << 1074) == pytest.approx(weight[y == name].sum(), rel=1e-12)


def test_balanced_factors_are_those_of_scikit_learn():
    _, y, weight = unequal()
    classes = np.unique(y)
    factors = class_factors("balanced", class_totals(y, None))
    np.testing.assert_allclose([factors[c] for c in classes], compute_class_weight("balanced", classes=classes, y=y))
    weighted = class_factors("balanced", class_totals(y, weight))
    repeated = np.repeat(y, weight.astype(int))
    np.testing.assert_allclose(
        [weighted[c] for c in classes], compute_class_weight("balanced", classes=classes, y=repeated)
    )


def test_usual_weights_stay_as_they_are_and_extreme_ones_keep_their_ratios():
    usual = np.array([1e-9, 3.0, 1e20])
    assert np.array_equal(usable_weights(usual), usual)
    for factor in (2.0**-900, 2.0**900):
        scaled = usable_weights(usual * factor)
        np.testing.assert_array_equal(scaled / scaled[1], usual / usual[1])
        assert 1.0 <= scaled.max() < 2.0
    assert (usable_weights(np.array([1e308, 5e-324])) > 0).all()


@pytest.mark.parametrize(("scale", "class_scale"), [(1e307, 1.0), (1e306, 1e300), (1e-306, 1e-300)])
def test_weights_of_classes_times_extreme_weights_neither_overflow_nor_vanish(scale, class_scale):
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    class_weight = {0: 100.0, 1: 1.0, 2: 3.0}
    given = np.linspace(1.0, 2.0, 150)
    expected = ECOCClassifier(STUMPS, class_weight=class_weight).fit(X, y, given)
    scaled = {label: factor * class_scale for label, factor in class_weight.items()}
    found = ECOCClassifier(STUMPS, class_weight=scaled).fit(X, y, given * scale)
    for learner, other in zip(found.estimators_, expected.estimators_, strict=True):
        np.testing.assert_array_equal(learner.thresholds_, other.thresholds_)
        np.testing.assert_allclose(learner.alphas_, other.alphas_, rtol=1e-6)


def test_balanced_classes_whose_totals_are_far_apart():
    X, y = load_iris(return_X_y=True)
    weight = np.array([1e300, 1.0, 1e-300])[y]
    model = ECOCClassifier(STUMPS, class_weight="balanced").fit(X, y, weight)
    assert model.score(X, y) > 0.9


# ---------------------------------------------------------------- class_weight


@pytest.mark.parametrize(("model", "class_weight"), grid([*LOCAL, *BLOCKED], ["balanced", {"virginica": 5}]), ids=str)
def test_class_weights_are_sample_weights(model, class_weight):
    X, y, _ = unequal()
    weighted = clone(model).set_params(class_weight=class_weight).fit(X, y)
    every = class_weight if class_weight == "balanced" else {**dict.fromkeys(y, 1), **class_weight}
    sample_weight = compute_sample_weight(every, y)
    same(weighted, clone(model).fit(X, y, sample_weight=sample_weight), X)


@pytest.mark.parametrize("model", [*LOCAL, *BLOCKED], ids=str)
def test_class_weights_multiply_sample_weights_and_balance_their_totals(model):
    X, y, weight = unequal()
    classes = np.unique(y)
    totals = np.array([weight[y == name].sum() for name in classes])
    factor = dict(zip(classes, totals.sum() / (len(classes) * totals), strict=True))
    product = weight * np.array([factor[name] for name in y])
    both = clone(model).set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    same(both, clone(model).fit(X, y, sample_weight=product), X)


def test_class_weights_reach_everything_that_is_fitted():
    X, y, _ = unequal()
    plain = ECOCClassifier(LOGISTIC, coding="one-vs-rest", decoding="optimized-weight").fit(X, y)
    weighted = clone(plain).set_params(class_weight="balanced").fit(X, y)
    assert not np.allclose(plain.estimators_[0].coef_, weighted.estimators_[0].coef_)
    assert not np.allclose(plain.weights_, weighted.weights_)
    np.testing.assert_allclose(weighted._prior, 1 / 3)
    assert plain._prior.max() > 0.5
    assert plain.temperature_ != weighted.temperature_


def test_balanced_weights_make_rare_classes_predicted_more_often():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [400, 40, 20])
    X = rng.normal(size=(460, 2)) + np.array([[0, 0], [1.2, 0], [0, 1.2]])[y]
    for model in (ECOCClassifier(LOGISTIC), WOLCClassifier(LOGISTIC, max_iter=0, random_state=0)):
        balanced = clone(model).set_params(class_weight="balanced")
        counts = [np.bincount(fitted.fit(X, y).predict(X), minlength=3) for fitted in (model, balanced)]
        assert (counts[1][1:] > 2 * counts[0][1:]).all()


def test_labels_that_y_lacks_are_refused_unless_all_others_are_given():
    X, y, _ = unequal()
    for model in (
        ECOCClassifier(class_weight={"versicolor": 2}),
        ecoc_in_blocks(class_weight={"versicolor": 2}),
    ):
        with pytest.raises(ValueError, match=r"class_weight must have labels of y as keys.*got 'versicolor'"):
            model.fit(X, y)
    everything = {"setosa": 1, "other": 2, "virginica": 3, "versicolor": 4}  # a fold may lack one
    same(
        ECOCClassifier(STUMPS, class_weight=everything, random_state=0).fit(X, y),
        ecoc_in_blocks(STUMPS, class_weight=everything, random_state=0).fit(X, y),
        X,
    )


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
@pytest.mark.parametrize("model", [ECOCClassifier(), ecoc_in_blocks()], ids=str)
def test_weights_that_are_none_are_refused(model, bad):
    X, y, _ = unequal()
    with pytest.raises(ValueError, match="class_weight must hold finite weights that are not negative"):
        clone(model).set_params(class_weight={"setosa": bad}).fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' parameter"):
        clone(model).set_params(class_weight="equal").fit(X, y)


@pytest.mark.parametrize("model", [ECOCClassifier, WOLCClassifier, ecoc_in_blocks])
def test_a_learner_without_weights_is_named_with_the_ways(model):
    X, y, _ = unequal()
    with pytest.raises(ValueError, match=r"(?s)class_weight.*the estimator KNeighborsClassifier.*cost_matrix"):
        model(KNeighborsClassifier(), class_weight="balanced").fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(class_weight={"virginica": 5}),
        make_pipeline(StandardScaler(), LogisticRegression(class_weight={"virginica": 5})),
        LogisticRegression(class_weight={0: 1, 1: 2, 2: 5}),
        [("trees", MulticlassLearner(DecisionTreeClassifier(class_weight={"virginica": 5})))],
    ],
    ids=str,
)
@pytest.mark.parametrize("model", [ECOCClassifier, LCECOCClassifier, ecoc_in_blocks])
def test_class_weights_of_a_binary_learner_are_refused_with_the_way(model, learner):
    X, y, _ = unequal()
    with pytest.raises(ValueError, match=r"class_weight=.*Give it as class_weight of (ECOC|LCECOC)Classifier"):
        model(learner).fit(X, y)


def test_weights_of_the_sides_of_columns_and_balanced_ones_stay_possible():
    X, y, _ = unequal()
    for class_weight in ({0: 1, 1: 5}, "balanced", {1: 2}):
        assert ECOCClassifier(LogisticRegression(class_weight=class_weight)).fit(X, y).score(X, y) > 0.8


def test_class_weights_need_no_request_with_metadata_routing():
    X, y, weight = unequal()
    learners = (LOGISTIC, make_pipeline(StandardScaler(), LOGISTIC), SEVERAL)
    for learner in learners:
        model = ECOCClassifier(learner, class_weight="balanced", random_state=0)
        expected = clone(model).fit(X, y)
        with sklearn.config_context(enable_metadata_routing=True):
            same(clone(model).fit(X, y), expected, X)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
                clone(model).fit(X, y, sample_weight=weight)
    model = ECOCClassifier(LOGISTIC, class_weight="balanced")
    expected = model.fit(X, y, sample_weight=weight).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = ECOCClassifier(clone(LOGISTIC).set_fit_request(sample_weight=True), class_weight="balanced")
        np.testing.assert_array_equal(asked.fit(X, y, sample_weight=weight).predict_proba(X), expected)


def test_class_weights_beside_other_metadata():
    X, y, _ = unequal()
    groups = np.arange(len(y)) % 10

    def searched(learner, **parameters):
        search = GridSearchCV(learner, {"C": [1.0]}, cv=GroupKFold(2))
        return ECOCClassifier(search, random_state=0, n_folds=None, **parameters)

    weights = dict.fromkeys(np.unique(y).tolist(), 1.0) | {y[0]: 5.0}
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match=r"with groups given .*GridSearchCV has to request it: call set_fit_requ"):
            searched(LOGISTIC, class_weight=weights).fit(X, y, groups=groups)
        neighbours = Grouped().set_fit_request(groups=True)
        with pytest.raises(ValueError, match="learners that support sample_weight, which the estimator Grouped"):
            ECOCClassifier(neighbours, class_weight=weights).fit(X, y, groups=groups)
        asking = clone(LOGISTIC).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        one, two = (
            searched(asking, class_weight=weights, n_jobs=n_jobs).fit(X, y, groups=groups).predict_proba(X)
            for n_jobs in (None, 2)
        )
        given = searched(asking).set_fit_request(sample_weight=True)
        factors = np.where(y == y[0], 5.0, 1.0)
        expected = given.fit(X, y, groups=groups, sample_weight=factors).predict_proba(X)
        plain = searched(LOGISTIC).fit(X, y, groups=groups).predict_proba(X)
    np.testing.assert_array_equal(one, expected)
    np.testing.assert_array_equal(two, expected)
    assert np.abs(plain - expected).max() > 0.01


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_need_no_request_for_class_weights_either(backend):
    X, y, _ = unequal()
    model = ECOCClassifier(make_pipeline(StandardScaler(), LOGISTIC), class_weight="balanced", random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True), parallel_config(backend=backend):
        np.testing.assert_array_equal(clone(model).set_params(n_jobs=2).fit(X, y).predict_proba(X), expected)
        assert sklearn.get_config()["enable_metadata_routing"]


class Grouped(KNeighborsClassifier):
    def fit(self, X, y, groups=None):
        return super().fit(X, y)


def test_renamed_classes_have_renamed_weights_and_searches_work():
    X, y, _ = unequal()
    numbers = np.unique(y, return_inverse=True)[1]
    by_name = ECOCClassifier(STUMPS, class_weight={"virginica": 3, "setosa": 2}, random_state=0).fit(X, y)
    by_number = ECOCClassifier(STUMPS, class_weight={2: 3, 1: 2}, random_state=0).fit(X, numbers)
    np.testing.assert_array_equal(by_name.predict_proba(X), by_number.predict_proba(X))
    assert cross_val_score(by_name, X, y, cv=3).mean() > 0.7


# ---------------------------------------------------------------- classes without weight


@pytest.mark.parametrize("model", [*LOCAL, *BLOCKED], ids=str)
def test_a_class_whose_samples_all_weigh_zero_is_as_if_it_were_not_there(model):
    X, y, weight = unequal()
    X, y = np.vstack([X, X[:20] + 3.0]), np.append(y, ["fourth"] * 20)
    weight = np.append(weight, np.zeros(20))
    counted = weight > 0
    expected = clone(model).fit(X[counted], y[counted], sample_weight=weight[counted])
    same(clone(model).fit(X, y, sample_weight=weight), expected, X)
    assert expected.classes_.tolist() == ["other", "setosa", "virginica"]
    none = clone(model).set_params(class_weight={"fourth": 0})
    same(none.fit(X, y), clone(model).set_params(class_weight={"other": 1}).fit(X[counted], y[counted]), X)


@pytest.mark.parametrize("model", [ECOCClassifier(), WOLCClassifier(), ecoc_in_blocks()], ids=str)
def test_weights_that_leave_fewer_than_two_classes_are_refused(model):
    X, y, _ = unequal()
    with pytest.raises(ValueError, match="at least 2 classes"):
        clone(model).fit(X, y, sample_weight=(y == "setosa").astype(float))


# ---------------------------------------------------------------- extreme weights


EXTREMES = {
    "tiny": lambda y: np.full(len(y), 1e-320),
    "huge": lambda y: np.full(len(y), 1e308),
    "tiny and huge": lambda y: np.where(np.arange(len(y)) % 2, 1e-320, 1e308),
    "by class": lambda y: np.array([1e-320, 1.0, 1e308])[np.unique(y, return_inverse=True)[1]],
    "one huge": lambda y: np.where(np.arange(len(y)) == 3, 1e308, 1.0),
    "one not tiny": lambda y: np.where(np.arange(len(y)) == 3, 1.0, 1e-320),
}


@pytest.mark.parametrize(("model", "name"), grid(LOCAL, list(EXTREMES)), ids=str)
def test_extreme_weights_give_a_result(model, name):
    X, y, _ = unequal()
    probabilities = clone(model).fit(X, y, sample_weight=EXTREMES[name](y)).predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["tiny", "huge", "tiny and huge"])
@pytest.mark.parametrize("model", BLOCKED, ids=str)
def test_blocks_refuse_extreme_weights_by_name(model, name):
    X, y, _ = unequal()
    with pytest.raises(ValueError, match="samples 0 to 39: sample_weight times class_weight must be zero or from"):
        clone(model).fit(X, y, sample_weight=EXTREMES[name](y))


@pytest.mark.parametrize("model", BLOCKED, ids=str)
def test_blocks_take_classes_that_weigh_next_to_nothing(model):
    X, y, _ = unequal()
    weight = np.where(y == "other", 1e-30, 1.0)
    assert np.isfinite(clone(model).fit(X, y, sample_weight=weight).predict_proba(X)).all()


@pytest.mark.parametrize("factor", [2.0**-1000, 2.0**900])
def test_extreme_units_change_nothing_where_only_ratios_count(factor):
    X, y, weight = unequal()
    model = ECOCClassifier(STUMPS, coding="one-vs-rest", random_state=0)
    usual = clone(model).fit(X, y, sample_weight=weight / weight.max())
    same(usual, clone(model).fit(X, y, sample_weight=weight / weight.max() * factor), X)


def test_a_learner_by_itself_takes_extreme_weights_and_leaves_them_as_they_are():
    X, y, _ = unequal()
    for make in EXTREMES.values():
        weight = make(y)
        before = weight.copy()
        TunedSVMClassifier().fit(X, y == "setosa", sample_weight=weight)
        assert np.array_equal(weight, before)


@pytest.mark.parametrize("decoding", sorted(DECODERS))
@pytest.mark.parametrize("name", ["tiny", "huge", "tiny and huge"])
def test_a_decoder_by_itself_takes_extreme_weights(decoding, name):
    X, y, _ = unequal()
    model = ECOCClassifier(STUMPS, random_state=0).fit(X, y)
    codewords = model.codewords(X) + np.random.default_rng(0).normal(scale=0.5, size=(len(X), 3))
    classes = np.unique(y, return_inverse=True)[1]
    decoder = resolve_decoder(decoding).fit(codewords, classes, model.code_matrix_, EXTREMES[name](y))
    assert np.isfinite(decoder.scores(codewords)).all()


# ---------------------------------------------------------------- types of features


@pytest.mark.parametrize(("model", "dtype"), grid([*LOCAL, *BLOCKED], [np.longdouble, np.float16]), ids=str)
def test_unusual_floats_give_the_result_of_doubles(model, dtype):
    X, y, _ = unequal()
    X = X.astype(np.float16)
    doubles = clone(model).fit(X.astype(np.float64), y)
    others = clone(model).fit(X.astype(dtype), y)
    if dtype == np.longdouble or isinstance(model.estimator, StumpAdaBoostClassifier):
        same(doubles, others, X.astype(dtype))
    assert others.score(X.astype(dtype), y) > 0.7


def test_wider_floats_reach_learners_as_doubles():
    class Strict(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            assert X.dtype == np.float64
            return super().fit(X, y, sample_weight)

    X, y, _ = unequal()
    for samples in (X.astype(np.longdouble), scipy.sparse.csr_matrix(X.astype(np.longdouble))):
        assert ECOCClassifier(Strict(max_iter=500)).fit(samples, y).score(samples, y) > 0.7
    with pytest.raises(ValueError, match=re.escape("infinity")):
        ECOCClassifier(LOGISTIC).fit(X.astype(np.longdouble) * np.longdouble(10) ** 400, y)


# ---------------------------------------------------------------- sides that weigh next to nothing


@pytest.mark.parametrize(
    ("counts", "totals", "side"),
    [
        # All samples weigh 5 on average: 5e-6 is the most that does not count.
        ([5, 5], [50.0 - 2.5e-5, 2.5e-5], 0),
        ([5, 5], [2.5e-5, 50.0 - 2.5e-5], 1),
        ([5, 5], [50.0 - 2.6e-5, 2.6e-5], None),
        # Nine light samples beside a heavy one of weight 1e7, on average 1e6: their mean of 1 is a millionth or less.
        ([9, 1], [9.0, 1e7], 1),
        ([9, 1], [9.0, 9e6], None),
        # Weights of 1, however unequal the numbers, and balanced ones.
        ([1, 10**9], [1.0, 1e9], None),
        ([1, 10**9], [0.5, 0.5], None),
        ([0, 3], [0.0, 3.0], 1),
        ([3, 0], [3.0, 0.0], 0),
        ([0, 0], [0.0, 0.0], 0),
    ],
)
def test_sides_that_count_by_hand(counts, totals, side):
    assert only_side(counts, totals) == side


@pytest.mark.parametrize("model", [ECOCClassifier(STUMPS), ecoc_in_blocks(STUMPS, block_size=4)], ids=str)
def test_columns_beside_a_very_heavy_class_are_constant_and_others_are_not(model):
    X, y = np.repeat(np.arange(6.0), 2)[:, None], np.repeat([0, 1, 2], 4)
    fitted = clone(model).set_params(coding="one-vs-one", class_weight={0: 1e7}).fit(X, y)
    learners = {
        tuple(np.flatnonzero(column)): learner
        for column, learner in zip(fitted.code_matrix_.T, fitted.estimators_, strict=True)
    }
    for pair in ((0, 1), (0, 2)):
        assert isinstance(learners[pair], ConstantClassifier)
    # Classes 1 and 2 weigh the same: one stump between 3 and 4 separates them.
    np.testing.assert_array_equal(learners[1, 2].thresholds_, [3.5])
    np.testing.assert_array_equal(fitted.predict(X), np.zeros(12))
    milder = clone(model).set_params(coding="one-vs-one", class_weight={0: 1e5}).fit(X, y)
    np.testing.assert_array_equal(milder.predict(X), y)


@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=3), DecisionTreeClassifier(), LOGISTIC], ids=str
)
@pytest.mark.parametrize(
    "method", [ECOCClassifier, WOLCClassifier, LCECOCClassifier, ECOCOneClassifier, SubclassECOCClassifier]
)
def test_a_very_heavy_class_is_predicted_by_codes_of_any_learner(method, learner):
    check_class_weight_classifiers(method.__name__, method(learner))


@pytest.mark.parametrize("model", [ecoc_in_blocks(), wolc_in_blocks()], ids=str)
def test_a_very_heavy_class_is_predicted_from_blocks(model):
    check_class_weight_classifiers(type(model).__name__, model)


@pytest.mark.parametrize(
    ("model", "decoding"),
    few(
        [
            (ECOCClassifier(LOGISTIC, coding="dense-random", n_folds=None, random_state=0), "probabilistic"),
            (ECOCClassifier(LOGISTIC, coding="hadamard", n_folds=None), "probabilistic"),
            (ECOCClassifier(LOGISTIC, coding="hadamard", n_folds=None, response_method="predict"), "probabilistic"),
            (ECOCClassifier(LOGISTIC, n_folds=None), "probabilistic"),
            (ECOCClassifier(LOGISTIC, coding="one-vs-rest", n_folds=None), "loss-based"),
            (LCECOCClassifier(LOGISTIC, max_iter=2, random_state=0), "probabilistic"),
            (ECOCOneClassifier(LOGISTIC, random_state=0), "probabilistic"),
            (SubclassECOCClassifier(LOGISTIC), "logistic-weight"),
            (WOLCClassifier(LOGISTIC, max_iter=2, random_state=0), "optimized-weight"),
        ],
        5,
    ),
)
def test_the_more_a_class_weighs_the_more_samples_are_predicted_as_that_class(model, decoding):
    centers = 5 if isinstance(model, ECOCClassifier) else 3  # dense codes of 3 classes are one-vs-rest
    X, y = make_blobs(600, centers=centers, random_state=0, cluster_std=3)
    shares = []
    for w in (1.0, 10.0, 100.0):
        fitted = clone(model).set_params(class_weight={0: w}).fit(X[::2], y[::2])
        shares.append((fitted.predict(X[1::2]) == 0).mean())
    assert fitted.decoding_ == decoding
    assert shares[0] + 0.3 < shares[1] <= shares[2]
    assert shares[2] > 0.6


def test_loss_weights_stay_where_they_are_asked_for_and_where_classes_are_not_weighted():
    X, y = make_blobs(100, centers=5, random_state=0, cluster_std=3)
    model = ECOCClassifier(LOGISTIC, coding="dense-random", n_folds=None, random_state=0)
    assert clone(model).fit(X, y).decoding_ == "loss-weighted"
    assert clone(model).set_params(class_weight={0: 1.3}).fit(X, y).decoding_ == "loss-weighted"
    assert clone(model).fit(X[y.argsort()][:85], np.sort(y)[:85]).decoding_ == "loss-weighted"  # unequal counts
    assert clone(model).fit(X, y, sample_weight=1.0 + 9.0 * (y == 0)).decoding_ == "probabilistic"
    given = clone(model).set_params(decoding="loss-weighted", class_weight={0: 10.0})
    assert given.fit(X, y).decoding_ == "loss-weighted"
    blocks = ecoc_in_blocks(STUMPS, coding="dense-random", random_state=0)
    local = ECOCClassifier(STUMPS, coding="dense-random", random_state=0)
    for weight, expected in ((None, "loss-weighted"), ({0: 3.0}, "probabilistic")):
        for fitted in (blocks, local):
            assert fitted.set_params(class_weight=weight).fit(X, y).decoding_ == expected
