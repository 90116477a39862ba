import pickle
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc.classifiers import ECOCClassifier
from skecoc.learners import svm
from skecoc.learners.svm import TunedSVMClassifier, distinct_rows, draw_rows, share_rows, sigmoid_slope
from tests.reference import svm as reference

SMALL_GRID = {"C": [64.0, 4096.0], "width": [0.5, 1.0]}


def distinct(X, y):
    """Distinct labelled rows in the order in which a fit looks at them."""
    table = np.unique(np.column_stack([X, y]), axis=0)
    return table[:, :-1], table[:, -1].astype(int)


def moons(n=120, noise=0.25, seed=0):
    return distinct(*make_moons(n, noise=noise, random_state=seed))


def two_of(loader, positive, step=1):
    X, y = loader(return_X_y=True)
    return distinct(MinMaxScaler().fit_transform(X)[::step], (y == positive)[::step].astype(int))


def same_model(first, second):
    """Whether two fitted machines are equal to the last bit."""
    assert (first.C_, first.width_, first.slope_) == (second.C_, second.width_, second.slope_)
    np.testing.assert_array_equal(first.support_vectors_, second.support_vectors_)
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)


@parametrize_with_checks([TunedSVMClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The machine and the search are those of SVC


@pytest.mark.parametrize("C", [1.0, 256.0])
@pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
def test_one_point_is_the_machine_of_libsvm(C, width):
    X, y = moons()
    new = np.random.default_rng(0).uniform(-1, 2, size=(50, 2))
    model = TunedSVMClassifier(C=C, width=width, tol=1e-8).fit(X, y)
    assert model.C_ == C
    assert model.width_ == width * model.mean_distance_
    machine = SVC(C=100 * C / len(X), gamma=model.gamma_, tol=1e-8).fit(X, y)
    # libsvm keeps the kernel in single precision, which a large C makes felt.
    np.testing.assert_allclose(model.decision_function(new), machine.decision_function(new), atol=C * 1e-5)
    np.testing.assert_array_equal(model.predict(new), machine.predict(new))


@pytest.mark.parametrize(
    ("X", "y"),
    [moons(), two_of(load_iris, 1), two_of(load_wine, 1), two_of(load_breast_cancer, 0, step=3)],
    ids=["moons", "iris", "wine", "cancer"],
)
def test_the_search_chooses_what_grid_search_chooses(X, y):
    model = TunedSVMClassifier(random_state=3).fit(X, y)
    search = GridSearchCV(SVC(), reference.paper_grid(X), cv=reference.folds(y, 3, seed=3)).fit(X, y)
    np.testing.assert_allclose(
        model.cv_scores_.ravel(), search.cv_results_["mean_test_score"], atol=1.5 / len(X), rtol=0
    )
    assert 100 * model.C_ / len(X) == pytest.approx(search.best_params_["C"])
    assert model.gamma_ == pytest.approx(search.best_params_["gamma"])
    np.testing.assert_array_equal(model.predict(X), search.predict(X))


def test_the_grid_is_the_paper_s():
    X, y = moons(60)
    model = TunedSVMClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.C_grid_, 2.0 ** np.arange(12, 19))
    np.testing.assert_allclose(model.width_grid_ / reference.mean_distance(X), [4, 2, 1, 0.5, 0.25])
    assert model.cv_scores_.shape == (7, 5)
    assert model.gamma_ == pytest.approx(1 / (2 * model.width_**2))


def test_ties_go_to_the_smallest_c_then_the_largest_width():
    X, y = distinct(*make_blobs(60, centers=[[0, 0], [20, 0]], random_state=0))
    model = TunedSVMClassifier(C=[4.0, 2.0, 8.0], width=[1.0, 3.0, 2.0]).fit(X, y)
    assert (model.cv_scores_ == 1).all()
    assert model.C_ == 2
    assert model.width_ == 3 * model.mean_distance_


def test_beyond_the_memory_libsvm_gives_the_same():
    X, y = moons(90)
    ours = TunedSVMClassifier(**SMALL_GRID, random_state=0).fit(X, y)
    theirs = TunedSVMClassifier(**SMALL_GRID, random_state=0, cache_size=1e-3).fit(X, y)
    assert (ours.C_, ours.width_) == (theirs.C_, theirs.width_)
    np.testing.assert_allclose(ours.cv_scores_, theirs.cv_scores_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-2)
    assert ours.slope_ == pytest.approx(theirs.slope_, rel=1e-2)


def test_libsvm_stops_at_a_penalty_that_holds_nothing_back(monkeypatch):
    X, y = distinct(*make_blobs(60, centers=[[0, 0], [20, 0]], random_state=0))
    fits = []
    plain_fit = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, *args: fits.append(args) or plain_fit(self, *args))
    TunedSVMClassifier(width=1.0, cache_size=1e-3).fit(X, y)
    assert len(fits) == 3 + 1  # one for each fold, not seven, and the final one


# Rows and weights


def test_fitting_prepared_rows_is_fitting_these_rows():
    X, y = moons(150)
    rows = np.random.default_rng(0).permutation(len(X))[:90]
    weight = np.random.default_rng(1).uniform(0, 2, 90)
    model = TunedSVMClassifier(**SMALL_GRID, random_state=0)
    for cache_size in (2500, 0.15):  # with shared distances, and without: 90 rows fit, 150 do not
        model.set_params(cache_size=cache_size)
        prepared = model._prepare_rows(X)
        assert (prepared.shared.squared_distances is None) == (cache_size < 1)
        shared = clone(model)._fit_rows(pickle.loads(pickle.dumps(prepared)), rows, y[rows], weight)  # noqa: S301
        same_model(shared, clone(model).fit(X[rows], y[rows], weight))


def test_preparing_rows_does_not_change_the_learner():
    model = TunedSVMClassifier()
    before = dict(vars(model))
    model._prepare_rows(*moons(20))
    assert vars(model) == before


def test_threads_share_prepared_rows():
    X, y = moons(150)
    model = TunedSVMClassifier(**SMALL_GRID, random_state=0)
    prepared = model._prepare_rows(X)
    parts = [np.flatnonzero(np.random.default_rng(seed).random(len(X)) < 0.6) for seed in range(6)]
    task = delayed(lambda rows: clone(model)._fit_rows(prepared, rows, y[rows]))
    threaded = Parallel(n_jobs=3, prefer="threads")(task(rows) for rows in parts)
    for rows, fitted in zip(parts, threaded, strict=True):
        same_model(fitted, clone(model)._fit_rows(prepared, rows, y[rows]))


def test_weights_repeat_rows_whatever_their_order_and_scale():
    X, y = moons(80)
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    model = TunedSVMClassifier(**SMALL_GRID, random_state=0)
    weighted = clone(model).fit(X, y, weight)
    repeated = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weight))
    same_model(weighted, clone(model).fit(X[repeated], y[repeated]))
    same_model(weighted, clone(model).fit(X, y, 8.0 * weight))
    same_model(weighted, clone(model).fit(X[weight > 0], y[weight > 0], weight[weight > 0]))


def test_weights_move_the_boundary():
    X, y = moons(80, noise=0.5)
    plain = TunedSVMClassifier(C=1.0, width=1.0).fit(X, y)
    tilted = TunedSVMClassifier(C=1.0, width=1.0).fit(X, y, np.where(y == 1, 20.0, 1.0))
    assert (tilted.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_weighted_machine_is_the_weighted_machine_of_libsvm():
    X, y = moons(80, noise=0.4)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(X))
    model = TunedSVMClassifier(C=4.0, width=1.0, tol=1e-8).fit(X, y, weight)
    assert model.mean_distance_ == pytest.approx(reference.mean_distance(X, weight))
    machine = SVC(C=100 * 4.0 / weight.sum(), gamma=model.gamma_, tol=1e-8).fit(X, y, weight)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(X), atol=1e-5)


def test_swapping_the_classes_negates_the_margins():
    X, y = moons(80)
    first = TunedSVMClassifier(**SMALL_GRID, random_state=0, tol=1e-8).fit(X, y)
    second = TunedSVMClassifier(**SMALL_GRID, random_state=0, tol=1e-8).fit(X, 1 - y)
    assert (first.C_, first.width_) == (second.C_, second.width_)
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), atol=1e-4)


def test_any_two_labels():
    X, y = moons(60)
    model = TunedSVMClassifier(C=64.0, width=1.0, random_state=0)
    named = clone(model).fit(X, np.array(["no", "yes"])[y])
    np.testing.assert_array_equal(named.classes_, ["no", "yes"])
    np.testing.assert_array_equal(named.predict(X) == "yes", clone(model).fit(X, y).predict(X) == 1)


# Few rows


def test_a_class_with_one_row_takes_the_middle_of_the_grid():
    X, y = moons(30)
    y[:] = 0
    y[7] = 1
    model = TunedSVMClassifier().fit(X, y)
    assert model.C_ == 2.0**15
    assert model.width_ == model.mean_distance_
    assert model.cv_scores_ is None
    np.testing.assert_array_equal(model.predict(X), y)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), y)


def test_a_class_with_two_rows_makes_two_folds():
    X, y = moons(30)
    y[:] = 0
    y[[7, 20]] = 1
    model = TunedSVMClassifier(C=64.0, width=1.0, random_state=0, n_folds=5).fit(X, y)
    search = GridSearchCV(SVC(), reference.paper_grid(X, [64.0], [1.0]), cv=reference.folds(y, 2, seed=0)).fit(X, y)
    np.testing.assert_allclose(model.cv_scores_, [[search.best_score_]])


@pytest.mark.parametrize("y", [[0, 1], [0, 1, 1], [0, 0, 1, 1]])
def test_equal_rows_are_answered_by_their_majority(y):
    X = np.full((len(y), 2), 3.0)
    model = TunedSVMClassifier().fit(X, y)
    assert model.mean_distance_ == 1
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    if np.mean(y) > 0.5:
        assert (model.predict(X) == 1).all()


# Probabilities


def test_probabilities_rise_with_the_margin_and_agree_with_the_prediction():
    X, y = moons(150, noise=0.4)
    new = np.random.default_rng(0).uniform(-2, 3, size=(300, 2))
    model = TunedSVMClassifier(**SMALL_GRID, random_state=0).fit(X, y)
    order = np.argsort(model.decision_function(new))
    probabilities = model.predict_proba(new)
    assert (np.diff(probabilities[order, 1]) >= 0).all()
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(new))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_probabilities_are_honest():
    X, y = moons(300, noise=0.4)
    new, truth = make_moons(4000, noise=0.4, random_state=1)
    model = TunedSVMClassifier(**SMALL_GRID, random_state=0).fit(X, y)
    said = model.predict_proba(new)
    confidence, right = said.max(axis=1), said.argmax(axis=1) == truth
    assert confidence.mean() == pytest.approx(right.mean(), abs=0.05)
    # Fitted to training margins the slope would be far too steep: these leave no row on the wrong side of doubt.
    assert confidence.mean() < 0.99


@pytest.mark.parametrize("slope", [0.2, 1.0, 7.0])
def test_slope_is_the_one_that_made_the_labels(slope):
    random = np.random.default_rng(0)
    margins = random.normal(size=20_000)
    positive = random.random(20_000) < expit(slope * margins)
    assert sigmoid_slope(margins, positive, np.ones(20_000)) == pytest.approx(slope, rel=0.1)


def test_slope_scales_against_the_margins_and_not_with_the_weights():
    random = np.random.default_rng(0)
    margins = random.normal(size=200)
    positive = random.random(200) < expit(2 * margins)
    weight = random.uniform(0.5, 2, 200)
    slope = sigmoid_slope(margins, positive, weight)
    assert sigmoid_slope(1e6 * margins, positive, weight) == pytest.approx(slope / 1e6)
    assert sigmoid_slope(margins, positive, 50 * weight) == pytest.approx(slope)


def test_slope_stays_positive_and_finite():
    margins = np.array([-2.0, -1.0, 1.0, 2.0])
    assert 0 < sigmoid_slope(margins, margins > 0, np.ones(4)) < 10
    assert 0 < sigmoid_slope(margins, margins < 0, np.ones(4)) < 1e-2
    assert sigmoid_slope(np.zeros(4), margins > 0, np.ones(4)) == 1


# One choice for a whole ensemble


def test_an_ensemble_chooses_by_one_vs_one_votes(monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, y = distinct(MinMaxScaler().fit_transform(X)[:, :2], y)  # two features: a problem worth a choice
    _, kept = np.unique(X, axis=0, return_index=True)
    X, y = X[kept], y[kept]
    Cs, factors = np.array([1.0, 64.0]), np.array([2.0, 1.0, 0.5])
    model = TunedSVMClassifier(C=Cs, width=factors, tune="ensemble", random_state=5)
    widths = factors * reference.mean_distance(X)
    scores = reference.one_vs_one_scores(X, y, Cs, widths, reference.folds(y, 3, seed=5))
    assert len(np.unique(scores)) > 2
    c, w = divmod(np.argmax(scores > scores.max() - 1e-9), 3)
    seen = []
    monkeypatch.setattr(svm, "best_index", lambda found, choose=svm.best_index: seen.append(found) or choose(found))
    prepared = model._prepare_rows(X, y)
    np.testing.assert_allclose(seen[0], scores, atol=0.01)
    assert prepared.choice == pytest.approx((Cs[c], widths[w]))
    for pair in ([0, 1], [1, 2]):
        rows = np.flatnonzero(np.isin(y, pair))
        fitted = clone(model)._fit_rows(prepared, rows, y[rows])
        assert (fitted.C_, fitted.width_) == prepared.choice
        assert fitted.cv_scores_.shape == (1, 1)
        machine = SVC(C=100 * fitted.C_ / len(rows), gamma=fitted.gamma_).fit(X[rows], y[rows])
        np.testing.assert_allclose(fitted.decision_function(X), machine.decision_function(X), atol=5e-3)


def test_an_ensemble_that_gives_no_classes_leaves_the_choice_to_the_columns():
    X, y = moons(60)
    model = TunedSVMClassifier(**SMALL_GRID, tune="ensemble", random_state=0)
    same_model(
        clone(model)._fit_rows(model._prepare_rows(X), None, y), clone(model).set_params(tune="column").fit(X, y)
    )
    assert model._prepare_rows(X).choice is None
    assert clone(model).set_params(tune="column")._prepare_rows(X, y).choice is None


@pytest.mark.parametrize(
    "y", [[0] * 10 + [1], [0] * 5 + [1] * 4 + [2] + [3], [0] * 5 + [1] * 4 + [2] * 2, list(range(11)), [0] * 11]
)
def test_an_ensemble_choice_survives_rare_classes(y):
    X = np.random.default_rng(0).random((11, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        C, width = TunedSVMClassifier(**SMALL_GRID, tune="ensemble")._prepare_rows(X, y).choice
    assert C in SMALL_GRID["C"]
    assert np.isclose(width / reference.mean_distance(X), SMALL_GRID["width"]).any()


# Errors


def test_more_than_two_classes_point_to_the_ensemble():
    with pytest.raises(ValueError, match="ECOCClassifier"):
        TunedSVMClassifier().fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("params", "fit_params", "message"),
    [
        ({"C": [1.0, -1.0]}, {}, "C must be a positive number"),
        ({"C": []}, {}, "C must be a positive number"),
        ({"width": [1.0, np.inf]}, {}, "width must be a positive number"),
        ({"width": 0.0}, {}, "'width' parameter"),
        ({"tune": "row"}, {}, "'tune' parameter"),
        ({"n_folds": 1}, {}, "'n_folds' parameter"),
        ({}, {"sample_weight": -np.ones(30)}, "sample_weight"),
        ({}, {"sample_weight": np.ones(29)}, "sample_weight"),
        ({}, {"sample_weight": (moons(30)[1] == 1).astype(float)}, "2 classes with non-zero sample_weight"),
    ],
)
def test_wrong_arguments_are_named(params, fit_params, message):
    with pytest.raises(ValueError, match=message):
        TunedSVMClassifier(**params).fit(*moons(30), **fit_params)


def test_labels_that_do_not_match_the_rows():
    X, y = moons(30)
    model = TunedSVMClassifier(tune="ensemble")
    with pytest.raises(ValueError, match=r"y must have one label per row.* 5 rows"):
        model._fit_rows(model._prepare_rows(X), np.arange(5), y)
    with pytest.raises(ValueError, match=r"rows must be None or .* integer"):
        model._fit_rows(model._prepare_rows(X), y == 1, y)
    with pytest.raises(ValueError, match=r"rows must hold integers in \[0, 30\)"):
        model._fit_rows(model._prepare_rows(X), np.arange(1, 31), y)
    with pytest.raises(ValueError, match="y must have one class index per row"):
        model._prepare_rows(X, y[:-1])


def test_a_tolerance_that_is_not_reached_is_reported():
    X, y = moons(40, noise=0.8)
    with pytest.warns(ConvergenceWarning, match="raise tol"):
        TunedSVMClassifier(C=64.0, width=3.0, tol=1e-300).fit(X, y)


def test_without_search_keeps_what_was_found_and_trains_the_same_machine():
    X, y = make_moons(60, noise=0.2, random_state=0)
    searched = TunedSVMClassifier(random_state=3).fit(X, y)
    again = searched._without_search().fit(X, y)
    assert again.C_ == searched.C_
    assert again.cv_scores_.shape == (1, 1)
    np.testing.assert_allclose(again.decision_function(X), searched.decision_function(X), rtol=1e-9, atol=1e-9)


def test_an_ensemble_that_searches_once_repeats_itself():
    X, y = make_blobs(90, centers=3, cluster_std=3.0, random_state=1)
    codewords = [
        ECOCClassifier(TunedSVMClassifier(tune="ensemble"), random_state=5).fit(X, y).codewords(X) for _ in range(4)
    ]
    for other in codewords[1:]:
        np.testing.assert_array_equal(codewords[0], other)


def test_search_rows_limits_the_search_and_not_the_training():
    X, y = make_moons(300, noise=0.2, random_state=0)
    limited = TunedSVMClassifier(search_rows=60, random_state=0).fit(X, y)
    # Exactly the machine of this C and width on all rows.
    whole = TunedSVMClassifier(C=limited.C_, width=limited.width_ / limited.mean_distance_, random_state=0).fit(X, y)
    np.testing.assert_allclose(limited.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
    full = TunedSVMClassifier(random_state=0).fit(X, y)
    assert not np.array_equal(limited.cv_scores_, full.cv_scores_)
    assert limited.score(X, y) > full.score(X, y) - 0.05
    unlimited = TunedSVMClassifier(search_rows=300, random_state=0).fit(X, y)
    np.testing.assert_array_equal(unlimited.cv_scores_, full.cv_scores_)


def test_a_drawn_row_costs_what_it_costs_in_the_whole_fit():
    X, y = make_moons(90, noise=0.2, random_state=1)
    rows = distinct_rows(share_rows(X, 100.0), None, y, None)
    drawn = draw_rows(rows, 30, 3, np.random.RandomState(0))
    assert len(drawn.labels) == 30
    np.testing.assert_array_equal(np.bincount(drawn.labels), [15, 15])
    np.testing.assert_array_equal(drawn.weight, np.full(30, 1 / 90))
    assert set(drawn.rows) < set(rows.rows)


def test_a_rare_class_is_drawn_with_a_row_for_every_fold():
    X = np.arange(200.0)[:, None]
    y = (np.arange(200) >= 195).astype(int)
    drawn = draw_rows(distinct_rows(share_rows(X, 100.0), None, y, None), 20, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(np.bincount(drawn.labels), [20, 3])


def test_search_rows_must_be_a_sensible_number():
    with pytest.raises(ValueError, match="search_rows"):
        TunedSVMClassifier(search_rows=2).fit([[0.0], [1.0]], [0, 1])
