"""RegionClassifier: every branch of the paper's Algorithm 1, and the weak k-means under it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.regions import nearest_centre, weak_kmeans


@parametrize_with_checks(
    [
        RegionClassifier(random_state=0),
        RegionClassifier(RidgeClassifier(), n_regions=3, random_state=0),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks([RegionClassifier(LogisticRegression(), n_regions=3, random_state=0)])
def test_estimator_checks_of_probabilities(estimator, check):
    check(estimator)


class FixedClusters(KMeans):
    """Three clusters by the first feature, so that the regions are known."""

    def fit_predict(self, X, y=None, sample_weight=None):
        return np.digitize(X[:, 0], [5, 15])


def test_hand_worked_three_regions():
    # Region 0 (centre 1.0) is mixed, region 1 (centre 10.5) pure "a", region 2 (centre 20) pure "b", of one row.
    X = np.array([[0.0], [2.0], [10.0], [11.0], [20.0]])
    y = np.array(["a", "b", "a", "a", "b"])
    model = RegionClassifier(DecisionTreeClassifier(max_depth=1), clusterer=FixedClusters(3)).fit(X, y)
    np.testing.assert_array_equal(model.centres_, [[1.0], [10.5], [20.0]])
    assert [learner is None for learner in model.estimators_] == [False, True, True]
    # 5.7 is nearer to 1.0 than to 10.5: the mixed region's stump (threshold 1) answers b; 5.8 falls to the pure one.
    new = np.array([[0.5], [1.5], [5.7], [5.8], [15.2], [15.3], [100.0]])
    np.testing.assert_array_equal(model.predict(new), ["a", "b", "b", "a", "a", "b", "b"])
    # A pure region of weight w answers with (w + 1) / (w + 2): 3/4 for two rows, 2/3 for one.
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], [0, 1, 1, 1 / 4, 1 / 4, 2 / 3, 2 / 3])


def test_margins_of_pure_regions_are_half_log_odds():
    X = np.array([[0.0], [2.0], [10.0], [11.0], [20.0]])
    y = np.array([0, 1, 0, 0, 1])
    model = RegionClassifier(LogisticRegression(), clusterer=FixedClusters(3)).fit(X, y)
    np.testing.assert_allclose(model.decision_function([[10.0], [20.0]]), [-0.5 * np.log(3), 0.5 * np.log(2)])
    assert model.decision_function([[2.0]])[0] == model.estimators_[0].decision_function([[2.0]])[0]


def test_region_learners_are_those_of_their_rows_alone():
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = RegionClassifier(DecisionTreeClassifier(max_depth=2, random_state=0), n_regions=3, random_state=4).fit(X, y)
    region = nearest_centre(X, model.centres_)
    for number, learner in enumerate(model.estimators_):
        rows = region == number
        expected = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[rows], y[rows]).predict_proba(X[rows])
        np.testing.assert_allclose(model.predict_proba(X[rows]), expected, atol=1e-15)
        assert learner is not None


def half_moons_in_clusters(n_samples=600):
    """Pairs of interleaved half moons at three far places, each turned its own way."""
    rng = np.random.default_rng(0)
    X, y = make_moons(n_samples, noise=0.12, random_state=0)
    place = rng.integers(0, 3, n_samples)
    angle = place * 2 * np.pi / 3
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.einsum("ijn,nj->ni", turn, X) + 8 * np.column_stack([place, place % 2]), y


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), StumpAdaBoostClassifier(), DecisionTreeClassifier(max_depth=3)]
)
def test_beats_its_bare_learner_on_half_moons_in_clusters(learner):
    X, y = half_moons_in_clusters()
    train, test = np.arange(600) < 400, np.arange(600) >= 400
    bare = clone(learner).fit(X[train], y[train]).score(X[test], y[test])
    scores = [
        RegionClassifier(learner, n_regions=3, random_state=seed).fit(X[train], y[train]).score(X[test], y[test])
        for seed in range(5)
    ]
    assert np.mean(scores) > bare + 0.02


def test_different_seeds_give_different_learners_and_one_seed_the_same():
    X, y = make_moons(200, noise=0.3, random_state=0)
    models = [RegionClassifier(n_regions=3, random_state=seed).fit(X, y) for seed in (0, 0, 1, 2)]
    grid = np.random.default_rng(0).normal(size=(300, 2))
    first, same, *others = (model.decision_function(grid) for model in models)
    np.testing.assert_array_equal(first, same)
    for other in others:
        assert (np.sign(first) != np.sign(other)).mean() > 0.01


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(4, n_init=3),
        AgglomerativeClustering(3),
        DBSCAN(eps=0.3),
        DBSCAN(eps=1e-9),
        GaussianMixture(3),
        make_pipeline(StandardScaler(), KMeans(2)),
    ],
)
def test_any_clusterer(clusterer):
    X, y = make_moons(100, noise=0.1, random_state=0)
    model = RegionClassifier(clusterer=clusterer, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.n_regions_ == len(model.centres_) == len(model.estimators_)


def test_more_regions_than_distinct_rows():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = RegionClassifier(n_regions=5, random_state=0).fit(X, [0, 1, 1, 1])
    assert model.n_regions_ <= 2
    np.testing.assert_array_equal(model.predict([[1.0]]), [1])


def test_rows_of_weight_zero_are_not_there():
    X, y = make_moons(120, noise=0.3, random_state=0)
    weight = np.arange(120) % 3
    model = RegionClassifier(DecisionTreeClassifier(max_depth=2, random_state=0), n_regions=3, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.centres_, repeated.centres_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("learner", [None, LogisticRegression()])
def test_fit_rows_equals_fit_on_these_rows(learner):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = RegionClassifier(learner, n_regions=3, random_state=0)
    some, repeated = np.arange(0, 100, 3), np.random.default_rng(0).integers(0, 100, 100)
    for rows in (some, np.arange(100)[::-1], repeated):
        shared = clone(model)._fit_rows(model._prepare_rows(X), rows, y[rows])
        alone = clone(model).fit(X[rows], y[rows])
        np.testing.assert_allclose(shared.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("learner", [None, LogisticRegression()])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function", "predict"])
def test_outputs_are_those_of_the_region(learner, response):
    X, y = half_moons_in_clusters(90)
    y[:30] = 0  # so that regions may be pure
    model = RegionClassifier(learner, n_regions=6, random_state=1).fit(X, y)
    assert {learner is None for learner in model.estimators_} == {True, False}
    values = []
    for row, region in zip(X, nearest_centre(X, model.centres_), strict=True):
        inner, margin = model.estimators_[region], model.region_margins_[region]
        pure = {"predict_proba": 1 / (1 + np.exp(-2 * margin)), "decision_function": margin, "predict": margin > 0}
        values.append(pure[response] if inner is None else np.ravel(getattr(inner, response)([row]))[-1])
    np.testing.assert_allclose(getattr(model, response)(X).reshape(90, -1)[:, -1], values, atol=1e-12)
    outputs = values if response == "decision_function" else 2.0 * np.array(values) - 1.0
    np.testing.assert_allclose(model._outputs(X, response), outputs, atol=1e-12)


def test_rows_prepared_for_the_inner_learner_are_taken():
    X, y = load_iris(return_X_y=True)
    inner = StumpAdaBoostClassifier(5)
    model = RegionClassifier(inner, n_regions=3, random_state=0)
    codes = inner._prepare_rows(X)
    prepared = model._prepare_rows(X, inner=codes)
    assert prepared.inner is codes
    rows = np.flatnonzero(y > 0)
    shared = clone(model)._fit_rows(prepared, rows, y[rows])
    np.testing.assert_array_equal(shared.predict_proba(X), clone(model).fit(X[rows], y[rows]).predict_proba(X))


def test_refitting_without_names_forgets_them():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RegionClassifier(random_state=0).fit(X[:100], y[:100])
    assert list(model.feature_names_in_) == list(X.columns)
    model.fit(X.to_numpy()[:100, :3], y[:100])
    assert not hasattr(model, "feature_names_in_")


def test_bad_input_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_regions"):
        RegionClassifier(n_regions=1).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="ECOCClassifier"):
        RegionClassifier().fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        RegionClassifier(GaussianNB()).fit(np.where(X > 6, np.nan, X)[:100], y[:100])
    with pytest.raises(ValueError, match="infinity"):
        RegionClassifier().fit(np.where(X > 6, np.inf, X)[:100], y[:100])
    with pytest.raises(ValueError, match="sample_weight was given, but KNeighborsClassifier"):
        RegionClassifier(KNeighborsClassifier()).fit(X[:100], y[:100], sample_weight=np.ones(100))


def test_nearest_centre_equals_the_plain_formula():
    rng = np.random.default_rng(1)
    X, centres = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    expected = ((X[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_centre(X, centres), expected)
    np.testing.assert_array_equal(nearest_centre(np.zeros((1, 1)), np.array([[1.0], [-1.0]])), [0])
    X[::2, 1] = np.nan  # which counts for nothing
    expected[::2] = ((X[::2, None, [0, 2]] - centres[None, :, [0, 2]]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_centre(X, centres), expected)


def test_weak_kmeans_reaches_a_fixed_point_and_ignores_row_order():
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(m, 0.1, size=(20, 2)) for m in (0, 5)])
    centres = weak_kmeans(X, 2, np.random.RandomState(0), weight=np.ones(40), max_iter=50)
    region = nearest_centre(X, centres)
    np.testing.assert_allclose(centres, [X[region == k].mean(axis=0) for k in (0, 1)])
    order = rng.permutation(40)
    np.testing.assert_allclose(
        weak_kmeans(X[order], 2, np.random.RandomState(0), weight=np.ones(40), max_iter=50), centres
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_stumps_of_all_regions_at_once_are_those_of_each_region(weighted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    weight = rng.uniform(0.1, 3.0, 120) if weighted else None
    learner = StumpAdaBoostClassifier(7)
    prepared = learner._prepare_rows(X)
    rows, bounds = rng.permutation(120), np.array([0, 30, 75, 120])
    given = None if weight is None else weight[rows]
    together = learner._fit_groups(prepared, rows, bounds, y[rows], given)
    group = np.empty(120, dtype=np.intp)
    expected = np.empty(120)
    for number, found in enumerate(together):
        own = rows[bounds[number] : bounds[number + 1]]
        alone = clone(learner).fit(X[own], y[own], None if weight is None else weight[own])
        for name in ("features_", "thresholds_", "polarities_", "alphas_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name), err_msg=name)
        group[own], expected[own] = number, alone.decision_function(X[own])
    np.testing.assert_array_equal(StumpAdaBoostClassifier._margins_of_groups(together, X, group), expected)
    at_threshold = X[:1].copy()
    feature = together[0].features_[together[0].features_ >= 0][0]
    at_threshold[0, feature] = together[0].thresholds_[together[0].features_ == feature][0]
    found = StumpAdaBoostClassifier._margins_of_groups(together, at_threshold, np.zeros(1, dtype=np.intp))
    np.testing.assert_array_equal(found, together[0].decision_function(at_threshold))
    without = StumpAdaBoostClassifier._margins_of_groups([together[0], None, None], X, group)
    np.testing.assert_array_equal(without, np.where(group == 0, expected, 0.0))


def test_a_feature_without_a_value_in_a_region_is_no_obstacle():
    """scikit-learn's boosting fails on one, and regions of few samples have such features."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 3))
    X[:40] += 50.0
    X[:40, 2] = np.nan
    y = rng.randint(2, size=80)
    learner = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2)
    model = RegionClassifier(learner, n_regions=2, random_state=0).fit(X, y)
    assert model.n_regions_ == 2
    assert set(model.predict(X)) == {0, 1}


def test_a_region_too_small_for_the_learner_takes_one_of_all_samples():
    X = np.concatenate([np.linspace(0, 4, 20), [10.0, 11.0], np.linspace(20, 24, 20)])[:, None]
    y = np.concatenate([np.arange(20) < 10, [True, False], np.arange(20) < 10]).astype(int)
    model = RegionClassifier(KNeighborsClassifier(), clusterer=FixedClusters(3)).fit(X, y)
    assert [learner.n_samples_fit_ for learner in model.estimators_] == [20, 42, 20]
    middle = [[10.4]]
    np.testing.assert_array_equal(model.predict_proba(middle), KNeighborsClassifier().fit(X, y).predict_proba(middle))


def test_samples_of_no_weight_are_not_among_all_samples():
    X = np.concatenate([np.linspace(0, 4, 20), [10.0, 11.0]])[:, None]
    y = np.concatenate([np.arange(20) < 10, [True, False]]).astype(int)
    weight = (np.arange(22) % 3 > 0).astype(float)
    weight[20:] = 1.0
    model = RegionClassifier(_Wanting(), clusterer=FixedClusters(3)).fit(X, y, sample_weight=weight)
    assert [learner.n_samples_ for learner in model.estimators_] == [13, 15]


class _Wanting(GaussianNB):
    """Cannot be trained on fewer than five samples."""

    def fit(self, X, y, sample_weight=None):
        if len(y) < 5:
            raise ValueError("too few samples")
        self.n_samples_ = len(y)
        return super().fit(X, y, sample_weight)


def test_a_learner_that_fails_on_all_samples_raises_its_own_error():
    with pytest.raises(ValueError, match="too few samples"):
        RegionClassifier(_Wanting(), random_state=0).fit([[0.0], [1.0], [5.0], [6.0]], [0, 1, 0, 1])
