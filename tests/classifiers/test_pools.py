"""Pools of columns, their mixtures, and the optimised weights of the round that is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_classification

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.classifiers.growth import Evaluation, GrowingCode
from skecoc.classifiers.layered import layered_proposal
from skecoc.classifiers.weighting import count_correct, pooled_weights, scores_by_entries, simplex_grid
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.data.folds import MANY_SAMPLES, assign_folds, resolve_folds
from skecoc.data.samples import ArraySamples
from skecoc.datasets import load_uci
from skecoc.decoding import LossBasedDecoder
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import ColumnTrainer, evaluate_columns
from tests.grids import few

STUMPS = StumpAdaBoostClassifier(5)


# ---------------------------------------------------------------- pooled weights


def test_every_initial_code_is_a_pool_of_equal_weights():
    matrix = np.hstack([one_vs_rest(3), one_vs_one(3)])
    rest, pairs = pooled_weights(matrix, np.array([0, 0, 0, 1, 1, 1]))
    np.testing.assert_allclose(rest, np.hstack([np.full((3, 3), 1 / 3), np.zeros((3, 3))]))
    np.testing.assert_allclose(pairs[:, 3:], (one_vs_one(3) != 0) / 2)
    assert not pairs[:, :3].any()


def test_added_columns_of_a_pair_take_the_place_of_its_initial_one():
    added = np.array([[1, -1], [-1, 1], [0, 0]])  # the pair (0, 1), twice, once negated
    matrix = np.hstack([one_vs_rest(3), one_vs_one(3), added])
    pools = pooled_weights(matrix, np.array([0, 0, 0, 1, 1, 1, -1, -1]))
    # One-vs-one's columns are (0, 1), (0, 2), (1, 2).
    expected = [
        [0, 0, 0, 0, 0.5, 0, 0.25, 0.25],
        [0, 0, 0, 0, 0, 0.5, 0.25, 0.25],
        [0, 0, 0, 0, 0.5, 0.5, 0, 0],
    ]
    np.testing.assert_allclose(pools[2], expected)


def test_rivals_without_columns_are_left_to_the_first_code():
    matrix = np.hstack([one_vs_rest(4), [[1], [-1], [0], [0]]])
    pool = pooled_weights(matrix, np.array([0, 0, 0, 0, -1]))[1]
    np.testing.assert_allclose(pool[0], [1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 3])
    np.testing.assert_allclose(pool[2], [1 / 4, 1 / 4, 1 / 4, 1 / 4, 0])


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 7), st.integers(0, 12), st.integers(0, 10**6))
def test_pools_are_weights_whatever_is_added(n_classes, n_added, seed):
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(n_classes, 2, replace=False) for _ in range(n_added)]
    added = np.zeros((n_classes, n_added), dtype=np.int8)
    for column, (first, second) in enumerate(pairs):
        added[first, column], added[second, column] = 1, -1
    matrix = np.hstack([one_vs_rest(n_classes), added])
    pools = pooled_weights(matrix, np.repeat([0, -1], [n_classes, n_added]))
    assert len(pools) == 1 + (n_added > 0)
    for pool in pools:
        np.testing.assert_allclose(pool.sum(axis=1), 1)
        assert pool.min() >= 0
        assert not pool[matrix == 0].any()


# ---------------------------------------------------------------- mixtures


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.integers(2, 5), st.integers(0, 10**6))
def test_mixtures_are_counted_as_by_decoding_each(n_pools, n_classes, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (n_pools, 40, n_classes)).astype(float)  # with many ties
    y, units = rng.integers(0, n_classes, 40), rng.integers(0, 4, 40)
    mixtures = simplex_grid(n_pools)
    expected = []
    for mixture in mixtures:
        mixed = np.tensordot(mixture, scores, 1)
        own = mixed[np.arange(40), y]
        mixed[np.arange(40), y] = -np.inf
        expected.append(units[own > mixed.max(axis=1) + 1e-9].sum())
    np.testing.assert_array_equal(count_correct(scores, y, units, mixtures), expected)


def test_scores_are_products_of_the_entries():
    rng = np.random.default_rng(0)
    codewords, code = rng.normal(size=(9, 6)), rng.normal(size=(4, 6)) * rng.integers(0, 2, (4, 6))
    classes, columns = np.nonzero(code)
    found = scores_by_entries(codewords, classes, columns, code[classes, columns], 4)
    np.testing.assert_allclose(found, codewords @ code.T)


# ---------------------------------------------------------------- what is measured


def held_out_accuracy(X, y, folds, matrix):
    """Decode every sample from learners that have not seen its fold, by the sum of agreements."""
    correct = []
    for fold in np.unique(folds[folds >= 0]):
        rows = folds != fold
        model = ECOCClassifier(STUMPS, coding=matrix, decoding=LossBasedDecoder("linear")).fit(X[rows], y[rows])
        correct.append(model.predict(X[~rows]) == y[~rows])
    return np.concatenate(correct).mean()


@pytest.mark.parametrize("coding", [one_vs_rest, one_vs_one])
def test_out_of_fold_accuracy_is_that_of_learners_trained_by_hand(coding):
    X, y = load_uci("vehicle", return_X_y=True)
    y = np.unique(y, return_inverse=True)[1]
    model = WOLCClassifier(STUMPS, init=coding(4), max_iter=0, n_folds=3, random_state=0).fit(X, y)
    root = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    expected = held_out_accuracy(X, y, assign_folds(X, y, 3, root), coding(4))
    if model.weights_optimized_:
        assert model.history_[0].out_of_fold_accuracy > expected
    else:
        assert model.history_[0].out_of_fold_accuracy == pytest.approx(expected, abs=1e-9)


def test_with_many_samples_a_third_is_held_out_once(monkeypatch):
    assert resolve_folds("auto", MANY_SAMPLES) == (3, False)
    assert resolve_folds("auto", MANY_SAMPLES + 1) == (3, True)
    X, y = make_classification(600, n_informative=6, n_classes=3, random_state=0)
    folds, parts = assign_folds(X, y, 3, 0), assign_folds(X, y, 3, 0, is_single=True)
    np.testing.assert_array_equal(parts >= 0, folds == 0)
    assert np.bincount(parts[parts >= 0]).min() > 0.2 * (parts >= 0).sum()
    monkeypatch.setattr("skecoc.data.folds.MANY_SAMPLES", 500)
    fits = []
    original = StumpAdaBoostClassifier._fit_rows
    monkeypatch.setattr(
        StumpAdaBoostClassifier,
        "_fit_rows",
        lambda self, prepared, rows, *rest: fits.append(len(rows)) or original(self, prepared, rows, *rest),
    )
    WOLCClassifier(STUMPS, init="one-vs-one", max_iter=0, random_state=0).fit(X, y)
    assert len(fits) == 2 * 3  # three columns, with all samples and without the third
    assert sum(fits[3:]) == pytest.approx(2 / 3 * sum(fits[:3]), rel=0.02)


def test_regions_of_a_pair_take_turns_and_are_capped_by_its_samples():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1)
    trainer = ColumnTrainer(STUMPS, X, y, 0, "predict_proba", clustered_learner=RegionClassifier(STUMPS))
    code = GrowingCode(ArraySamples(y, np.ones(300), 3), trainer)
    code.matrix = np.hstack([one_vs_rest(3), np.array([[1, -1, 1], [-1, 1, -1], [0, 0, 0]])])
    losses = np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    evaluation = Evaluation(None, 1.0, losses, 0.0, 0.0)
    proposal = layered_proposal(code, evaluation, 3, [3, 6, 40])
    assert proposal.pairs == [(0, 1), (0, 2), (1, 2)]
    assert [column.n_regions for column in proposal.columns] == [40, 0, 0]  # three columns of the pair, none of others
    capped = layered_proposal(code, evaluation, 1, [3, 6, 40], is_capped=True)
    assert capped.columns[0].n_regions == int((y != 2).sum() / 10)


# ---------------------------------------------------------------- what it is good for


def checkerboard(rng):
    X = rng.uniform(0, 4, (1_500, 2))
    return X, X.astype(int).sum(axis=1) % 3


def rings(rng):
    y = rng.integers(0, 3, 900)
    radius, angle = y + 1 + rng.normal(0, 0.25, 900), rng.uniform(0, 2 * np.pi, 900)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def nested(rng):
    X = rng.uniform(-1, 1, (1_200, 3))
    return X, np.minimum((np.abs(X).max(axis=1) ** 3 * 4).astype(int), 3)


@pytest.mark.parametrize(
    ("make", "gain"), [(checkerboard, 0.2), (rings, -0.01), (nested, -0.01)], ids=["checkerboard", "rings", "nested"]
)
def test_shapes_that_stumps_cannot_follow(make, gain):
    X, y = make(np.random.default_rng(0))
    pairs = ECOCClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    grown = WOLCClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert grown > pairs + gain
    assert grown > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "n_clusters"), few([(4, 4), (6, 2)]))
def test_classes_of_several_clusters_gain_fifteen_points(n_classes, n_clusters):
    gains = []
    for seed in range(3):
        X, y = make_classification(
            3_000, 10, n_informative=10, n_redundant=0, n_classes=n_classes, n_clusters_per_class=n_clusters,
            random_state=seed,
        )  # fmt: skip
        pairs = ECOCClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        gains.append(WOLCClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) - pairs)
    assert np.mean(gains) > 0.15


def test_learners_that_have_seen_the_samples_are_not_evaluated(monkeypatch):
    X, y = load_uci("glass", return_X_y=True)
    sizes = []
    original = evaluate_columns
    monkeypatch.setattr(
        "skecoc.learners.columns.evaluate_columns",
        lambda learners, X, *rest, **more: sizes.append(len(X)) or original(learners, X, *rest, **more),
    )
    WOLCClassifier(STUMPS, max_iter=1, n_folds=3, random_state=0).fit(X, y)
    assert max(sizes) < len(y) / 2


def test_without_folds_weights_must_err_less_on_the_training_samples():
    for seed in range(6):
        X, y = make_classification(150, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=seed)
        rules = {"n_folds": None, "max_iter": 0, "response_method": "decision_function", "random_state": 0}
        model = WOLCClassifier(STUMPS, **rules).fit(X, y)
        pooled = WOLCClassifier(STUMPS, l2=1e9, **rules).fit(X, y)
        assert model.score(X, y) >= pooled.score(X, y)
        assert model.history_[0].loss == pytest.approx(1 - model.history_[0].accuracy)


def test_an_accuracy_is_at_most_one_however_many_folds_there_are(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.weighting._MANY_HELD_OUT", 10)  # a single fold is tried
    X, y = make_blobs(600, centers=3, n_features=2, cluster_std=1.0, random_state=40)
    model = WOLCClassifier(random_state=40, max_iter=0, n_folds=20).fit(X, y)
    assert 0.0 <= model.history_[0].loss <= 1.0


def test_a_class_without_weight_is_left_out_also_where_one_vs_one_is_taken_as_it_is(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.wolc._MOST_CODEWORDS", 10)
    X, y = make_blobs(80, centers=4, random_state=0)
    model = WOLCClassifier(STUMPS, random_state=0).fit(X, y, sample_weight=(y < 3).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, model.fit(X[y < 3], y[y < 3]).decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("bad", [[], [3, 1], [2.5], 1])
def test_bad_numbers_of_regions_are_named(bad):
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="n_regions"):
        WOLCClassifier(STUMPS, n_regions=bad).fit(X, y)
