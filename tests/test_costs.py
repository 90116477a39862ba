"""Decisions by expected cost, samples that are left undecided, and the curve of risk against coverage."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc import CostSensitiveClassifier, ECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers.costs import check_cost_matrix, class_indices, make_rule, risk_coverage
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.persistence import load_model, save_model
from skecoc.plotting import plot_risk_coverage
from tests.reference.blocks import ecoc_in_blocks

mpl.use("Agg")
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_IRIS = X_IRIS[:, :2]
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y_IRIS]
CLASSES = np.array(["a", "b", "c"])
COSTS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 5.0], [2.0, 1.0, 0.0]])
STUMPS = StumpAdaBoostClassifier(3)


@parametrize_with_checks(
    [
        CostSensitiveClassifier(LogisticRegression()),
        CostSensitiveClassifier(ECOCClassifier(LogisticRegression())),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the rule


def test_decisions_by_hand():
    probabilities = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6], [0.0, 0.5, 0.5]])
    # Expected costs: rows [0.6, 0.6, 2.5], [1.5, 0.7, 1.6], [1.5, 0.5, 2.5].
    rule = make_rule(CLASSES, COSTS)
    np.testing.assert_allclose(rule.expected_costs(probabilities), [[0.6, 0.6, 2.5], [1.5, 0.7, 1.6], [1.5, 0.5, 2.5]])
    assert rule.decide(probabilities)[1:].tolist() == ["b", "b"]
    assert make_rule(CLASSES).decide(probabilities).tolist() == ["a", "c", "b"]
    assert make_rule(CLASSES, COSTS, 0.65).decide(probabilities)[1:].tolist() == ["reject", "b"]
    assert make_rule(CLASSES, None, 0.5).decide(probabilities).tolist() == ["a", "c", "b"]
    assert make_rule(CLASSES, None, 0.55).decide(probabilities).tolist() == ["reject", "c", "reject"]


def test_costs_of_mistakes_alone_are_the_most_probable_class():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    plain, by_cost = make_rule(CLASSES, None, 0.6), make_rule(CLASSES, 1.0 - np.eye(3), 0.4)
    np.testing.assert_array_equal(plain.decide(probabilities), by_cost.decide(probabilities))


def test_costs_by_label_stand_in_the_order_of_the_classes():
    frame = pd.DataFrame(COSTS, index=CLASSES, columns=CLASSES).loc[["c", "a", "b"], ["b", "c", "a"]]
    by_label = {"b": {"c": 5}, "c": {"a": 2.0}}
    np.testing.assert_array_equal(check_cost_matrix(frame, CLASSES), COSTS)
    np.testing.assert_array_equal(check_cost_matrix(by_label, CLASSES), COSTS)
    np.testing.assert_array_equal(check_cost_matrix(COSTS.tolist(), CLASSES), COSTS)
    np.testing.assert_array_equal(check_cost_matrix({1: {2: 3}}, np.array([1, 2])), [[0, 3], [1, 0]])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones((2, 2)), r"cost_matrix must have a row and a column for each class, shape \(3, 3\); got \(2, 2\)"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], "cost_matrix must hold finite numbers"),
        ([["x"] * 3] * 3, "cost_matrix must hold numbers"),
        ({"d": {"a": 1}}, "cost_matrix must have classes as keys.*got 'd'"),
        ({"a": {"d": 1}}, "cost_matrix must have classes as keys.*got 'd'"),
        ({"a": 3}, "of the form"),
        (pd.DataFrame(np.ones((2, 3)), index=["a", "b"], columns=["a", "b", "c"]), "index of cost_matrix.*lacks c"),
    ],
)
def test_bad_costs_are_named(costs, message):
    with pytest.raises(ValueError, match=message):
        make_rule(CLASSES, costs)


@pytest.mark.parametrize(
    ("classes", "label", "expected", "kind"),
    [
        (CLASSES, "auto", "reject", "U"),
        (CLASSES, "someone else", "someone else", "U"),
        (CLASSES.astype(object), "auto", "reject", "O"),
        (CLASSES, None, None, "O"),
        (CLASSES, -1, -1, "O"),
        (np.arange(3), "auto", -1, "i"),
        (np.arange(3, dtype=np.uint8), "auto", -1, "i"),
        (np.arange(3), 99, 99, "i"),
        (np.arange(3), "unsure", "unsure", "O"),
        (np.array([False, True]), "unsure", "unsure", "O"),
    ],
)
def test_labels_of_samples_that_are_left_undecided(classes, label, expected, kind):
    probabilities = np.full((2, len(classes)), 1.0 / len(classes))
    probabilities[1] = np.eye(len(classes))[0]
    decided = make_rule(classes, None, 0.9, label).decide(probabilities)
    assert decided.tolist() == [expected, classes.tolist()[0]]
    assert decided.dtype.kind == kind


@pytest.mark.parametrize(
    ("classes", "settings", "message"),
    [
        (np.array([-1, 1]), (None, 0.5), "reject_label must not be a class, but -1 is one"),
        (np.array(["reject", "take"]), (None, 0.5), "reject_label must not be a class"),
        (CLASSES, (None, 0.5, "b"), "reject_label must not be a class"),
        (np.array([False, True]), (None, 0.5), "reject_label must be given"),
        (CLASSES, (None, 1.5), r"reject must be a probability, in \[0, 1\]"),
        (CLASSES, (None, -0.1), "reject must be a probability"),
        (CLASSES, (COSTS, np.nan), "reject must be a finite number"),
        (CLASSES, (None, "high"), "reject must be a finite number"),
    ],
)
def test_bad_thresholds_and_labels_are_named(classes, settings, message):
    with pytest.raises(ValueError, match=message):
        make_rule(classes, *settings)


def test_costs_by_label_may_name_classes_that_are_not_there_if_all_that_are_are_named():
    costs = {"a": {"b": 3, "c": 2}, "c": {"a": 4}}
    assert check_cost_matrix(costs, np.array(["a", "b"])).tolist() == [[0, 3], [1, 0]]
    assert check_cost_matrix(costs, np.array(["a", "c"])).tolist() == [[0, 2], [4, 0]]
    with pytest.raises(ValueError, match="cost_matrix must have classes as keys, which are 'a', 'd'"):
        check_cost_matrix(costs, np.array(["a", "d"]))


# ---------------------------------------------------------------- classifiers


@pytest.mark.parametrize(
    "model",
    [
        ECOCClassifier(STUMPS, random_state=0),
        WOLCClassifier(STUMPS, max_iter=1, random_state=0),
        SubclassECOCClassifier(STUMPS, random_state=0),
        ecoc_in_blocks(STUMPS, random_state=0),
    ],
    ids=str,
)
def test_classifiers_and_the_wrapper_decide_alike(model):
    fitted = clone(model).fit(X_IRIS, NAMES)
    probabilities = fitted.predict_proba(X_IRIS)
    costs = {"versicolor": {"virginica": 6}}
    matrix = check_cost_matrix(costs, fitted.classes_)
    by_hand = fitted.classes_[(probabilities @ matrix).argmin(axis=1)]
    np.testing.assert_array_equal(fitted.predict(X_IRIS, cost_matrix=costs), by_hand)
    assert (by_hand != fitted.predict(X_IRIS)).any()
    by_hand = np.where(probabilities.max(axis=1) < 0.6, "nobody", fitted.predict(X_IRIS))
    np.testing.assert_array_equal(fitted.predict(X_IRIS, reject=0.6, reject_label="nobody"), by_hand)
    np.testing.assert_array_equal(fitted.predict(X_IRIS, reject=0.0), fitted.predict(X_IRIS))
    wrapped = CostSensitiveClassifier(FrozenEstimator(fitted), cost_matrix=costs, reject=0.8).fit(X_IRIS, NAMES)
    np.testing.assert_array_equal(wrapped.predict(X_IRIS), fitted.predict(X_IRIS, cost_matrix=matrix, reject=0.8))
    with pytest.raises(ValueError, match="cost_matrix"):
        fitted.predict(X_IRIS, cost_matrix=np.eye(2))


def test_predictions_do_not_change_without_costs_and_unfitted_ones_say_so():
    model = CostSensitiveClassifier(GaussianNB()).fit(X_IRIS, NAMES)
    np.testing.assert_array_equal(model.predict(X_IRIS), GaussianNB().fit(X_IRIS, NAMES).predict(X_IRIS))
    with pytest.raises(NotFittedError):
        CostSensitiveClassifier(GaussianNB()).predict(X_IRIS)
    with pytest.raises(NotFittedError):
        ECOCClassifier().predict(X_IRIS, reject=0.5)


def test_scores_are_expected_costs_and_agree_with_predictions():
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=COSTS).fit(X_IRIS, NAMES)
    scores = model.decision_function(X_IRIS)
    np.testing.assert_allclose(scores, -(model.predict_proba(X_IRIS) @ COSTS))
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X_IRIS))
    two = CostSensitiveClassifier(GaussianNB(), cost_matrix=[[0, 1], [9, 0]]).fit(X_IRIS, Y_IRIS > 1)
    np.testing.assert_array_equal(two.decision_function(X_IRIS) > 0, two.predict(X_IRIS))
    assert two.predict(X_IRIS).sum() > (GaussianNB().fit(X_IRIS, Y_IRIS > 1).predict(X_IRIS)).sum()


def test_mean_costs_by_hand():
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=COSTS).fit(X_IRIS, Y_IRIS)
    decided, weight = model.predict(X_IRIS), np.arange(150.0)
    costs = COSTS[Y_IRIS, decided]
    assert model.mean_cost(X_IRIS, Y_IRIS) == pytest.approx(costs.mean())
    assert model.mean_cost(X_IRIS, Y_IRIS, weight) == pytest.approx(np.average(costs, weights=weight))
    model.set_params(reject=0.3)
    is_rejected = model.predict(X_IRIS) == -1
    assert 0 < is_rejected.sum() < 150
    assert model.mean_cost(X_IRIS, Y_IRIS) == pytest.approx(np.where(is_rejected, 0.3, costs).mean())
    model.set_params(cost_matrix=None, reject=0.7, reject_label="none")
    is_rejected = model.predict(X_IRIS) == "none"
    wrong = model.predict_proba(X_IRIS).argmax(axis=1) != Y_IRIS
    assert model.mean_cost(X_IRIS, Y_IRIS) == pytest.approx(np.where(is_rejected, 1.0 - 0.7, wrong).mean())
    assert model.score(X_IRIS, Y_IRIS) == pytest.approx((~is_rejected & ~wrong).mean())
    assert model.score(X_IRIS, Y_IRIS, weight) == pytest.approx(np.average(~is_rejected & ~wrong, weights=weight))


def test_costs_work_in_pipelines_searches_and_with_weights():
    pipe = make_pipeline(StandardScaler(), CostSensitiveClassifier(GaussianNB(), cost_matrix=COSTS))
    assert set(pipe.fit(X_IRIS, NAMES).predict(X_IRIS)) <= set(NAMES)
    search = GridSearchCV(
        CostSensitiveClassifier(GaussianNB(), reject=0.8),
        {"estimator__var_smoothing": [1e-9, 0.3]},
        scoring=lambda model, X, y: -model.mean_cost(X, y),
        cv=3,
    ).fit(X_IRIS, NAMES)
    assert -0.5 < search.best_score_ < 0.0
    weight = np.where(Y_IRIS == 2, 0.1, 1.0)
    weighted = CostSensitiveClassifier(GaussianNB()).fit(X_IRIS, Y_IRIS, sample_weight=weight)
    expected = GaussianNB().fit(X_IRIS, Y_IRIS, sample_weight=weight).predict_proba(X_IRIS)
    np.testing.assert_array_equal(weighted.predict_proba(X_IRIS), expected)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = CostSensitiveClassifier(GaussianNB().set_fit_request(sample_weight=True))
        asking.fit(X_IRIS, Y_IRIS, sample_weight=weight)
        np.testing.assert_array_equal(asking.predict_proba(X_IRIS), expected)


def test_scores_in_cross_validation_are_weighted_where_the_classifier_requests_it():
    weight = np.where(Y_IRIS == 2, 0.01, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=False)
        model = CostSensitiveClassifier(inner).set_score_request(sample_weight=True)
        kept = {"cv": KFold(3, shuffle=True, random_state=0), "return_estimator": True, "return_indices": True}
        found = cross_validate(model, X_IRIS, Y_IRIS, params={"sample_weight": weight}, **kept)
    parts = zip(found["estimator"], found["indices"]["test"], strict=True)
    expected = [each.score(X_IRIS[test], Y_IRIS[test], weight[test]) for each, test in parts]
    np.testing.assert_array_equal(found["test_score"], expected)
    parts = zip(found["estimator"], found["indices"]["test"], strict=True)
    assert [each.score(X_IRIS[test], Y_IRIS[test]) for each, test in parts] != expected


def test_distances_are_cross_validated_as_those_of_the_classifier():
    distances = pairwise_distances(X_IRIS)
    neighbours = KNeighborsClassifier(metric="precomputed")
    found, expected = (
        cross_val_score(model, distances, NAMES, error_score="raise")
        for model in (CostSensitiveClassifier(neighbours), neighbours)
    )
    np.testing.assert_array_equal(found, expected)
    assert get_tags(CostSensitiveClassifier(neighbours)).input_tags == get_tags(neighbours).input_tags


@pytest.mark.parametrize("costs", [None, COSTS], ids=["errors", "costs"])
def test_labels_of_test_samples_are_checked(costs):
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=costs).fit(X_IRIS, Y_IRIS)
    probabilities = model.predict_proba(X_IRIS)

    def area(X, y):
        return risk_coverage(probabilities, y, model.classes_, costs).area

    for measure in (model.score, model.mean_cost, area):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            assert measure(X_IRIS, Y_IRIS[:, None]) == measure(X_IRIS, Y_IRIS)
        for y in (Y_IRIS[:-1], np.append(Y_IRIS, 0)):
            with pytest.raises(ValueError, match="inconsistent numbers of samples"):
                measure(X_IRIS, y)
        with pytest.raises(ValueError, match="y should be a 1d array"):
            measure(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS]))
    for measure in (model.mean_cost, area):
        with pytest.raises(ValueError, match="y must hold classes that the model knows, got '0', '1', '2'"):
            measure(X_IRIS, Y_IRIS.astype(str))
    with pytest.raises(ValueError, match="y must hold classes that the model knows, got '0', '1', '2'"):
        plot_risk_coverage(model, X_IRIS, Y_IRIS.astype(str), cost_matrix=costs)


def test_indices_of_labels_are_those_of_equal_classes():
    np.testing.assert_array_equal(class_indices(np.array([2.0, 0.0]), np.arange(3)), [2, 0])
    np.testing.assert_array_equal(class_indices(np.array([True, False]), np.array([False, True])), [1, 0])
    assert class_indices(np.array([]), np.arange(3)).shape == (0,)
    many = np.arange(20)  # where np.isin compares them as strings
    with pytest.raises(ValueError, match="y must hold labels of this, got '3'"):
        class_indices(np.array(["3"]), many, "labels of this")


def test_a_fit_that_fails_changes_nothing():
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=np.eye(2))
    with pytest.raises(ValueError, match="shape"):
        model.fit(X_IRIS, Y_IRIS)
    assert vars(model).keys() == model.get_params(deep=False).keys()
    model.set_params(cost_matrix=COSTS).fit(X_IRIS, Y_IRIS)
    before = model.estimator_
    with pytest.raises(ValueError, match="shape"):
        model.fit(X_IRIS[:100, :1], Y_IRIS[:100])
    assert model.estimator_ is before
    assert (model.n_features_in_, model.classes_.tolist()) == (2, [0, 1, 2])


def test_a_classifier_without_probabilities_is_refused_with_the_way():
    with pytest.raises(ValueError, match="LinearSVC does not have; wrap it in scikit-learn's CalibratedClassifierCV"):
        CostSensitiveClassifier(LinearSVC()).fit(X_IRIS, Y_IRIS)
    CostSensitiveClassifier(CalibratedClassifierCV(LinearSVC())).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="'reject' parameter"):
        CostSensitiveClassifier(GaussianNB(), reject="often").fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="shape"):
        CostSensitiveClassifier(GaussianNB(), cost_matrix=np.eye(2)).fit(X_IRIS, Y_IRIS)


def test_names_of_features_are_kept():
    frame = pd.DataFrame(X_IRIS, columns=["length", "width"])
    model = CostSensitiveClassifier(ECOCClassifier(STUMPS)).fit(frame, NAMES)
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (2, ["length", "width"])
    assert not hasattr(model.fit(X_IRIS, NAMES), "feature_names_in_")


@pytest.mark.parametrize("costs", [COSTS, {"versicolor": {"virginica": 6}}], ids=["array", "dict"])
def test_a_model_file_keeps_costs(tmp_path, costs):
    inner = ECOCClassifier(STUMPS, class_weight={"setosa": 2}, random_state=0)
    model = CostSensitiveClassifier(inner, cost_matrix=costs, reject=0.9).fit(X_IRIS, NAMES)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(X_IRIS), model.predict(X_IRIS))
    assert loaded.estimator.class_weight == {"setosa": 2}


# ---------------------------------------------------------------- risk against coverage


def test_a_curve_by_hand():
    # Sure to unsure: right, wrong, then two that are equally sure, one of them right.
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.4, 0.6]])
    curve = risk_coverage(probabilities, [0, 0, 0, 0], np.array([0, 1]))
    np.testing.assert_allclose(curve.coverage, [0.25, 0.5, 1.0])
    np.testing.assert_allclose(curve.risk, [0.0, 0.5, 0.5])
    assert curve.area == pytest.approx(0.25 * 0.0 + 0.25 * 0.5 + 0.5 * 0.5)
    costly = risk_coverage(probabilities, [0, 0, 0, 0], np.array([0, 1]), [[0, 3.5], [1, 0]])
    # Expected costs 0.1, 0.7, 0.4, 0.6 of the decisions 0, 1, 0, 0.
    np.testing.assert_allclose(costly.coverage, [0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(costly.risk, [0.0, 0.0, 0.0, 3.5 / 4])


def test_a_curve_equals_what_rejection_does_and_weights_count_as_repeats():
    model = GaussianNB().fit(X_IRIS[::2], Y_IRIS[::2])
    X, y = X_IRIS[1::2], Y_IRIS[1::2]
    probabilities = model.predict_proba(X)
    curve = risk_coverage(probabilities, y, model.classes_)
    for threshold in (0.5, 0.7, 0.95):
        decided = make_rule(model.classes_, None, threshold).decide(probabilities)
        taken = decided >= 0
        place = np.flatnonzero(np.isclose(curve.coverage, taken.mean()))
        assert curve.risk[place] == pytest.approx((decided != y)[taken].mean())
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = risk_coverage(probabilities, y, model.classes_, sample_weight=counts)
    rows = np.repeat(np.arange(len(y)), counts)
    repeated = risk_coverage(probabilities[rows], y[rows], model.classes_)
    assert weighted.area == pytest.approx(repeated.area)
    order = np.random.default_rng(1).permutation(len(y))
    assert risk_coverage(probabilities[order], y[order], model.classes_).area == pytest.approx(curve.area)


def test_the_picture_has_a_line_per_model_with_its_area():
    import matplotlib.pyplot as plt

    models = {"bayes": GaussianNB().fit(X_IRIS, Y_IRIS), "code": ECOCClassifier(STUMPS).fit(X_IRIS, Y_IRIS)}
    axes = plot_risk_coverage(models, X_IRIS, Y_IRIS)
    curve = risk_coverage(models["bayes"].predict_proba(X_IRIS), Y_IRIS, np.arange(3))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.risk)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), curve.coverage)
    assert axes.get_legend().get_texts()[0].get_text() == f"bayes (area {curve.area:.3g})"
    assert len(axes.lines) == 2
    one = plot_risk_coverage(models["bayes"], X_IRIS, Y_IRIS, cost_matrix=COSTS, ax=plt.subplots()[1])
    assert one.get_ylabel() == "cost of decided samples"
    assert one.lines[0].get_label().startswith("GaussianNB")
    plt.close("all")
    with pytest.raises(ValueError, match="at least one"):
        plot_risk_coverage({}, X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        plot_risk_coverage(models, X_IRIS, Y_IRIS[:9])
    plt.close("all")


@pytest.mark.parametrize("label", [np.nan, None, "unsure", 7])
@pytest.mark.parametrize("costs", [None, 1.0 - np.eye(3)])
def test_mean_cost_does_not_depend_on_the_label_of_undecided_samples(label, costs):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.RandomState(0).randn(*X.shape)
    reject = 0.8 if costs is None else 0.2
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=costs, reject=reject, reject_label=label).fit(X, y)
    probabilities = model.predict_proba(X)
    is_rejected = probabilities.max(axis=1) < 0.8
    expected = np.where(is_rejected, 0.2, probabilities.argmax(axis=1) != y)
    assert is_rejected.any()
    assert model.mean_cost(X, y) == pytest.approx(expected.mean())


def test_costs_in_cross_validation_with_a_fold_that_lacks_a_class():
    X, y = load_iris(return_X_y=True)
    costs = {0: {}, 1: {2: 5}, 2: {}}
    for model in (GaussianNB(), ECOCClassifier(GaussianNB())):
        wrapped = CostSensitiveClassifier(model, cost_matrix=costs)
        scores = cross_val_score(wrapped, X, y, cv=KFold(3), error_score="raise")  # each fold is a class
        np.testing.assert_array_equal(scores, 0.0)
        kept = y != 2
        fitted = clone(model).fit(X[kept], y[kept])
        expected = CostSensitiveClassifier(model).fit(X[kept], y[kept]).predict(X)
        np.testing.assert_array_equal(wrapped.fit(X[kept], y[kept]).predict(X), expected)
        if isinstance(model, ECOCClassifier):
            np.testing.assert_array_equal(fitted.predict(X, cost_matrix=costs), expected)
