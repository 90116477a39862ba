"""How WOLC-ECOC weighs columns: groups between rounds, and certified weights of the round that is kept."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.classifiers import weighting, wolc
from skecoc.classifiers.calibration import fit_temperature
from skecoc.classifiers.growth import Evaluation, GrowingCode
from skecoc.classifiers.layered import layered_proposal
from skecoc.classifiers.weighting import STRENGTHS, least_on_path
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.data.folds import MANY_SAMPLES, assign_folds, resolve_folds
from skecoc.data.samples import ArraySamples
from skecoc.datasets import load_uci
from skecoc.decoding import LogisticWeightDecoder, OptimizedWeightDecoder
from skecoc.decoding.groups import fit_steepness, group_weights, pair_weights, with_fewer_errors
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import Column, ColumnTrainer, evaluate_columns
from tests.grids import few

STUMPS = StumpAdaBoostClassifier(5)


def vehicle():
    X, y = load_uci("vehicle", return_X_y=True)
    return MinMaxScaler().fit_transform(X)[::2], np.unique(y, return_inverse=True)[1][::2]


def root_of(seed):
    """Return the seed of the whole fit that follows from `random_state`."""
    return int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))


def out_of_fold(X, y, matrix, n_folds=3, seed=0):
    """Return the folds, and each sample's outputs of columns that were trained without its fold."""
    folds = assign_folds(X, y, n_folds, root_of(seed))
    codewords = np.empty((len(y), matrix.shape[1]))
    for fold in range(n_folds):
        rows = folds != fold
        model = ECOCClassifier(STUMPS, coding=matrix, decoding="hamming", n_folds=None).fit(X[rows], y[rows])
        codewords[~rows] = model.codewords(X[~rows])
    return folds, codewords.astype(np.float32).astype(float)


# ---------------------------------------------------------------- groups of columns


def test_groups_are_initial_codes_and_numbers_of_regions_in_the_order_of_their_first_columns():
    X, y = vehicle()
    trainer = ColumnTrainer(STUMPS, X, y, 0, "predict_proba", clustered_learner=RegionClassifier(STUMPS))
    code = GrowingCode(ArraySamples(y, np.ones(len(y)), 4), trainer)
    code.start([one_vs_rest(4), one_vs_one(4)])
    pair = one_vs_one(4)[:, 0]
    code.add([Column(pair, 6), Column(pair, 3), Column(pair, 6), Column(np.array([1, 1, -1, -1]))])
    assert code.groups.tolist() == [0] * 4 + [1] * 6 + [2, 3, 2, 4]


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_steepness_is_that_of_least_log_loss(scale):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 4_000)
    good = np.eye(3)[y] + rng.normal(size=(4_000, 3))
    noise = rng.normal(size=(4_000, 3))
    weight = np.ones(4_000)
    found = fit_steepness(np.stack([scale * good, noise]), y, weight)
    # A Gaussian of variance 1 around its class has the log-odds of its own values.
    assert found[0] == pytest.approx(1.0 / scale, rel=0.1)
    assert found[1] < 0.05
    again = fit_steepness(np.stack([scale * good, noise]), y, weight, start=np.array([5.0]))
    np.testing.assert_allclose(again, found, atol=0.02)


def test_a_round_is_judged_by_the_log_loss_of_out_of_fold_codewords():
    X, y = vehicle()
    matrix = np.hstack([one_vs_rest(4), one_vs_one(4)])
    model = WOLCClassifier(STUMPS, max_iter=0, n_folds=3, random_state=0).fit(X, y)
    _, codewords = out_of_fold(X, y, matrix)
    groups = group_weights(matrix, np.repeat([0, 1], [4, 6]))
    scores = np.stack([codewords @ (weights * matrix).T for weights in groups])
    total = np.tensordot(fit_steepness(scores, y, np.ones(len(y))), scores, 1)
    own = log_softmax(total, axis=1)[np.arange(len(y)), y]
    assert model.history_[0].loss == pytest.approx(-own.mean(), abs=1e-5)


@pytest.mark.parametrize("init", ["one-vs-rest", "auto"])
def test_once_columns_were_added_the_columns_of_pairs_are_a_group_of_their_own(init, monkeypatch):
    def keep_groups(self, code, growth):
        self.grouped = growth.decoder
        return growth

    monkeypatch.setattr(weighting.WeightStrategy, "refine", keep_groups)
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init=init, max_iter=1, n_pairs=2, patience=9, n_folds=3, random_state=0).fit(X, y)
    last = model._stages[-1]
    matrix = last.matrix_
    n_rest, n_added = 4, model.history_[1].n_columns - model.history_[0].n_columns
    assert n_added == 2
    own = pair_weights(matrix)
    groups = np.repeat([0, 1, 2], [n_rest, 6, n_added]) if init == "auto" else np.repeat([0, 1], [n_rest, n_added])
    pairs = own + (1.0 - own.sum(axis=1, keepdims=True)) * group_weights(matrix, groups)[0]
    of_groups = group_weights(matrix, groups)
    has_none = np.array([(matrix[:, groups == g] != 0).sum(axis=1) == 0 for g in range(groups.max() + 1)])
    bases = [pairs, *np.where(has_none[:, :, None], pairs, of_groups)]
    # The weights of the round are a mixture of these.
    design = np.array([base.ravel() for base in bases]).T
    shares, residual = nnls(design, last.weights_.ravel())
    assert residual < 1e-9
    assert shares.sum() == pytest.approx(1.0)


def test_pairs_beside_sums_are_scores_by_their_weights():
    rng = np.random.default_rng(0)
    matrix = np.hstack([one_vs_rest(4), one_vs_one(4)[:, :3], one_vs_one(4)[:, :2]])
    outputs = rng.normal(size=(30, matrix.shape[1]))
    samples = ArraySamples(np.zeros(30, dtype=int), np.ones(30), 4).without_columns().beside(outputs)
    groups = np.repeat([0, 1], [4, 5])
    sums = weighting._sum_groups(samples, matrix, groups)
    own = pair_weights(matrix)
    rest = 1.0 - own.sum(axis=1)
    found = weighting._beside_pairs(samples, sums, own * matrix, rest / 4)
    expected = own + rest[:, np.newaxis] * group_weights(matrix, groups)[0]
    np.testing.assert_allclose(found[:, 0], outputs @ (expected * matrix).T, atol=1e-6)
    np.testing.assert_array_equal(found[:, 1:], sums)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)


def test_a_group_that_makes_errors_is_damped_as_far_as_that_pays():
    y, weight = np.zeros(100, dtype=int), np.ones(100)
    good = np.tile([1.0, 0.0], (100, 1))
    bad = np.tile([0.0, 3.0], (100, 1))
    steepness = np.array([1.0, 1.0])
    # All samples are wrong until the second group counts less than a third: a quarter is the first factor that pays.
    found = with_fewer_errors(np.stack([good, bad]), y, weight, steepness, np.array([1]))
    np.testing.assert_allclose(found, [1.0, 0.25])
    np.testing.assert_allclose(with_fewer_errors(np.stack([good, bad]), y, weight, steepness, np.array([0])), steepness)
    # A tie is wrong, so half the steepness is an improvement.
    tied = np.tile([0.0, 1.0], (100, 1))
    found = with_fewer_errors(np.stack([good, tied]), y, weight, steepness, np.array([1]))
    np.testing.assert_allclose(found, [1.0, 0.5])
    # A single sample is no more than its standard error.
    bad[1:] = 0.0
    np.testing.assert_allclose(with_fewer_errors(np.stack([good, bad]), y, weight, steepness, np.array([1])), steepness)


def test_a_sample_of_twice_the_weight_is_two_samples_and_a_tie_an_error():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, scores = rng.integers(0, 3, 40), rng.integers(0, 3, (2, 40, 3)).astype(float)
        counts = rng.integers(1, 4, 40)
        steepness, damped = np.array([1.0, 1.0]), np.array([1])
        found = with_fewer_errors(scores, y, counts.astype(float), steepness, damped)
        repeated = with_fewer_errors(
            scores.repeat(counts, axis=1), y.repeat(counts), np.ones(counts.sum()), steepness, damped
        )
        np.testing.assert_array_equal(found, repeated)
        order = np.array([2, 0, 1])
        renamed = with_fewer_errors(scores[:, :, np.argsort(order)], order[y], counts.astype(float), steepness, damped)
        np.testing.assert_array_equal(found, renamed)


def test_a_sample_of_very_large_weight_that_is_never_held_out():
    X, y = make_blobs(61, centers=3, random_state=0)
    y[0], weight = 3, np.ones(61)  # the only sample of its class
    weight[0] = 1e9
    model = WOLCClassifier(STUMPS, max_iter=1, random_state=0).fit(X, y, sample_weight=weight)
    assert np.isnan(model.history_[0].loss)
    assert np.isfinite(model.predict_proba(X)).all()


def test_pairs_are_those_of_highest_log_loss():
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-rest", max_iter=1, n_pairs=6, n_folds=3, random_state=0).fit(X, y)
    _, codewords = out_of_fold(X, y, one_vs_rest(4))
    scores = (codewords @ one_vs_rest(4).T / 4)[np.newaxis]
    logs = log_softmax(fit_steepness(scores, y, np.ones(len(y)))[0] * scores[0], axis=1)
    rivals = np.where(np.eye(4, dtype=bool)[y], -np.inf, logs).argmax(axis=1)
    losses = np.zeros((4, 4))
    np.add.at(losses, (y, rivals), -logs[np.arange(len(y)), y])
    both = losses + losses.T
    record = model.history_[0]
    expected = sorted((both[i, j] for i in range(4) for j in range(i)), reverse=True)
    assert record.pair_losses == pytest.approx(expected, rel=1e-4)
    assert [both[pair] for pair in record.pairs] == pytest.approx(expected, rel=1e-4)


# ---------------------------------------------------------------- weights of the kept round


@pytest.mark.parametrize("decoder", [OptimizedWeightDecoder(0.1, l2=0.02, tol=1e-8), LogisticWeightDecoder(tol=1e-8)])
def test_weights_are_those_of_the_decoder_fitted_to_out_of_fold_codewords(decoder):
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-one", decoding=decoder, max_iter=0, n_folds=3, random_state=0)
    model.fit(X, y)
    _, codewords = out_of_fold(X, y, one_vs_one(4))
    given = codewords, y, one_vs_one(4)
    if isinstance(decoder, OptimizedWeightDecoder):
        expected = clone(decoder).fit(*given, prior_weights=group_weights(one_vs_one(4), np.zeros(6, dtype=int))[0])
    else:
        expected = clone(decoder).fit(*given)
    np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-4)
    assert model.decoder_.certificate_.objective == pytest.approx(expected.certificate_.objective, rel=1e-6)
    assert model.weights_optimized_
    assert np.isnan(model.penalty_strength_)


def test_the_strength_is_chosen_by_the_log_loss_of_weights_without_the_fold(monkeypatch):
    monkeypatch.setattr(weighting, "_NESTED_TOL", 1e-6)
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-one", max_iter=0, n_folds=3, random_state=0).fit(X, y)
    folds, codewords = out_of_fold(X, y, one_vs_one(4))
    prior = group_weights(one_vs_one(4), np.zeros(6, dtype=int))[0]
    margin, unit = model.decoder_.margin, model.decoder_.l2 / model.penalty_strength_
    scores = codewords @ (prior * one_vs_one(4)).T
    own = scores[np.arange(len(y)), y]
    leads = np.where(np.eye(4, dtype=bool)[y], -np.inf, scores).max(axis=1) - own
    assert margin == pytest.approx(0.5 * np.abs(leads).mean(), rel=1e-5)
    assert unit == pytest.approx(margin * 4 / (prior**2).sum(), rel=1e-5)
    losses = {}
    for strength in STRENGTHS:
        nested = np.empty((len(y), 4))
        for fold in range(3):
            decoder = OptimizedWeightDecoder(margin, l2=strength * unit, tol=1e-6)
            seen = folds != fold
            decoder.fit(codewords[seen], y[seen], one_vs_one(4), prior_weights=prior)
            nested[~seen] = decoder.scores(codewords[~seen])
        logits = nested / fit_temperature(nested, y, np.ones(len(y)))
        losses[strength] = -log_softmax(logits, axis=1)[np.arange(len(y)), y].mean()
    assert model.penalty_strength_ == min(losses, key=losses.get)


def test_the_strongest_penalty_leaves_equal_weights_and_is_not_called_optimised(monkeypatch):
    monkeypatch.setattr(weighting, "STRENGTHS", (STRENGTHS[0],) * 3)
    X, y = vehicle()
    model = WOLCClassifier(STUMPS, init="one-vs-one", max_iter=0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.weights_, (one_vs_one(4) != 0) / 3, atol=0.01)
    assert model.penalty_strength_ == STRENGTHS[0]
    assert not model.weights_optimized_
    assert 0.0 < model.distance_from_equal_ < 0.01
    assert model.decoder_.certificate_.gap <= 1e-3


def test_weights_that_do_not_move_are_not_called_optimised():
    X, y = vehicle()
    strong = OptimizedWeightDecoder(0.1, l2=1e9)
    model = WOLCClassifier(STUMPS, init="one-vs-one", decoding=strong, max_iter=0, random_state=0).fit(X, y)
    assert np.isnan(model.penalty_strength_)
    assert model.decoder_.certificate_.gap <= 1e-3
    assert not model.weights_optimized_


def test_the_distance_from_equal_weights_is_half_of_what_moved():
    X, y = vehicle()
    decoder = OptimizedWeightDecoder(0.1, l2=1e-3)
    for n_folds in (3, None):
        model = WOLCClassifier(STUMPS, init="one-vs-one", decoding=decoder, max_iter=0, n_folds=n_folds, random_state=0)
        model.fit(X, y)
        moved = np.abs(model.weights_ - (one_vs_one(4) != 0) / 3).sum(axis=1) / 2
        assert model.distance_from_equal_ == pytest.approx(moved.mean())
        assert model.distance_from_equal_ > 0.1


@pytest.mark.parametrize("name", ["glass", "ecoli", "iris", "yeast"])
def test_every_grown_code_of_one_learner_has_a_certificate(name):
    X, y = load_uci(name, return_X_y=True)
    model = WOLCClassifier(STUMPS, max_iter=2, random_state=0).fit(X, y)
    certificate, record = model.decoder_.certificate_, model.history_[model.best_round_]
    assert certificate.gap <= 1e-3
    assert certificate.lower_bound <= certificate.objective
    assert (record.objective, record.gap) == (certificate.objective, certificate.gap)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)


def test_a_class_that_is_never_held_out_keeps_the_weights_of_its_groups():
    X, y = vehicle()
    y[0] = 4  # a single sample
    decoder = OptimizedWeightDecoder(0.1, l2=1e-3)
    model = WOLCClassifier(STUMPS, init="one-vs-rest", decoding=decoder, max_iter=0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.weights_[4], 0.2)
    assert np.abs(model.weights_[:4] - 0.2).max() > 0.05
    assert model.decoder_.certificate_.gap <= 1e-3
    assert model.decoder_.scores(model.codewords(X)).shape == (len(y), 5)


@pytest.mark.parametrize("margin", [0.1, 0.0])
def test_ties_of_a_class_that_is_never_held_out_are_ordered_too(margin):
    X, y = vehicle()
    y[0] = 4
    rules = {"init": "one-vs-rest", "max_iter": 0, "response_method": "predict", "random_state": 0}
    decoder = OptimizedWeightDecoder(margin, l2=1e-3 if margin else 0.0)
    model = WOLCClassifier(STUMPS, decoding=decoder, **rules).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.6


def test_a_class_of_a_single_fold_does_not_stop_the_choice():
    X, y = make_blobs(90, centers=3, random_state=0)
    y[:2] = 3  # without the fold of one of them, the other one is left
    X[:2] = X[0]  # equal samples share a fold: without it, none is left
    X[1, 0] += 1e-3
    model = WOLCClassifier(STUMPS, max_iter=1, random_state=0).fit(X, y)
    assert model.decoder_.certificate_.gap <= 1e-3
    assert np.isfinite(model.predict_proba(X)).all()


def test_many_weights_are_first_tried_under_the_strongest_penalty(monkeypatch):
    X, y = vehicle()
    tried = []
    fit = weighting.fit_weights

    def counted(code, decoder, n_columns, **more):
        tried.append(decoder.l2)
        return fit(code, decoder, n_columns, **more)

    monkeypatch.setattr(weighting, "fit_weights", counted)
    monkeypatch.setattr(weighting, "_MANY_WEIGHTS", 10)
    model = WOLCClassifier(STUMPS, init="one-vs-one", max_iter=0, random_state=0).fit(X, y)
    unit = model.decoder_.l2 / model.penalty_strength_
    assert tried[0] == pytest.approx(STRENGTHS[0] * unit)


def test_least_on_path_goes_to_both_sides_while_the_function_falls():
    values = [5.0, 4.0, 3.0, 2.0, 1.0]
    for least in (5.0, 4.0, 3.0, 2.0, 1.0):
        seen = []
        found = least_on_path(lambda value, least=least, seen=seen: seen.append(value) or abs(value - least), values, 2)
        assert found == least
        assert len(seen) == len(set(seen))
    assert least_on_path(lambda _: 0.0, values, 2) == 3.0
    assert least_on_path(abs, [7.0], 0) == 7.0


@pytest.mark.parametrize("decoding", ["auto", "logistic-weight"])
def test_columns_that_are_wrong_more_often_than_not(decoding):
    X = np.repeat(np.arange(20.0), 2)[:, None] + np.tile([0.0, 0.01], 20)[:, None]
    y = np.tile([0, 1], 20)  # each sample's neighbour is of the other class
    stump = KNeighborsClassifier(1)
    model = WOLCClassifier(stump, init="one-vs-rest", decoding=decoding, max_iter=1, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# ---------------------------------------------------------------- probabilities


def test_temperatures_are_fitted_to_scores_of_weights_that_have_not_seen_the_sample(monkeypatch):
    monkeypatch.setattr(weighting, "_NESTED_TOL", 1e-6)
    X, y = vehicle()
    seen = []
    keep = WOLCClassifier._keep
    monkeypatch.setattr(
        WOLCClassifier, "_keep", lambda self, *given, **more: seen.append(given[4]) or keep(self, *given, **more)
    )
    model = WOLCClassifier(STUMPS, init="one-vs-one", max_iter=0, n_folds=3, random_state=0).fit(X, y)
    (calibration,) = seen
    folds, codewords = out_of_fold(X, y, one_vs_one(4))
    assert calibration.is_held_out
    fitted = model.decoder_.scores(calibration.codewords)
    assert np.abs(calibration.scores - fitted).max() > 1e-3
    rows = np.array([np.flatnonzero((codewords == row).all(axis=1))[0] for row in calibration.codewords.astype(float)])
    prior = group_weights(one_vs_one(4), np.zeros(6, dtype=int))[0]
    decoder = OptimizedWeightDecoder(model.decoder_.margin, l2=model.decoder_.l2, tol=1e-6)
    without = folds != folds[rows[0]]
    decoder.fit(codewords[without], y[without], one_vs_one(4), prior_weights=prior)
    np.testing.assert_allclose(calibration.scores[0], decoder.scores(codewords[rows[:1]])[0], atol=2e-3)


# ---------------------------------------------------------------- what is evaluated, and on which samples


@pytest.mark.parametrize("coding", [one_vs_rest, one_vs_one])
def test_out_of_fold_accuracy_is_that_of_learners_trained_by_hand(coding):
    X, y = vehicle()
    strong = OptimizedWeightDecoder(0.3, l2=1e6)  # which leaves the weights equal
    model = WOLCClassifier(STUMPS, init=coding(4), decoding=strong, max_iter=0, n_folds=3, random_state=0).fit(X, y)
    _, codewords = out_of_fold(X, y, coding(4))
    expected = ((codewords @ coding(4).T).argmax(axis=1) == y).mean()
    assert model.history_[0].out_of_fold_accuracy == pytest.approx(expected, abs=0.005)


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


def test_an_accuracy_is_at_most_one_however_many_folds_there_are(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.weighting._MANY_HELD_OUT", 10)  # a single fold chooses the strength
    X, y = make_blobs(600, centers=3, n_features=2, cluster_std=1.0, random_state=40)
    model = WOLCClassifier(random_state=40, max_iter=0, n_folds=20).fit(X, y)
    assert 0.0 <= model.history_[0].out_of_fold_accuracy <= 1.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_class_without_weight_is_left_out_also_where_one_vs_one_does_not_grow(monkeypatch):
    monkeypatch.setattr("skecoc.classifiers.wolc._MOST_CODEWORDS", 10)
    monkeypatch.setattr(wolc, "_FEW_CLASSES", 2)
    X, y = make_blobs(80, centers=4, random_state=0)
    model = WOLCClassifier(STUMPS, random_state=0).fit(X, y, sample_weight=(y < 3).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.stop_reason_ == "there are too many samples and columns to grow one-vs-one"
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, model.fit(X[y < 3], y[y < 3]).decision_function(X), rtol=1e-12)


# ---------------------------------------------------------------- without folds, as in the paper


def test_without_folds_weights_are_fitted_to_training_codewords_in_every_round():
    X, y = vehicle()
    decoder = OptimizedWeightDecoder(0.2, l2=0.05, tol=1e-6)
    rules = {"init": "one-vs-rest", "n_folds": None, "max_iter": 2, "patience": 9, "random_state": 0}
    model = WOLCClassifier(STUMPS, decoding=decoder, **rules).fit(X, y)
    assert len(model._stages) == 3
    codewords = evaluate_columns(model._all_learners, X, "predict_proba")
    for record, stage in zip(model.history_, model._stages, strict=True):
        n_columns = record.n_columns
        expected = clone(decoder).fit(codewords[:, :n_columns], y, stage.matrix_)
        np.testing.assert_allclose(stage.weights_, expected.weights_, atol=1e-4)
        assert record.objective == pytest.approx(expected.certificate_.objective, rel=1e-5)
        assert record.loss == pytest.approx(expected.certificate_.hinge, abs=1e-5)


def test_tied_rivals_are_no_risk_of_a_pair():
    # Eq. 14 asks for a best class that is strictly better than all others. With equal weights of labels by one-vs-rest,
    # a sample for which all columns say no has all classes tied; one for which two others say yes has these two tied.
    codewords = np.array([[-1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]])
    y, matrix = np.zeros(3, dtype=int), one_vs_rest(3)
    decoder = OptimizedWeightDecoder.from_weights(np.full((3, 3), 1 / 3), matrix)
    decoder.margin_ = 0.0
    samples = ArraySamples(y, np.ones(3), 3).without_columns().beside(codewords)
    losses, units = weighting._losses_of(samples, decoder, 3)
    np.testing.assert_allclose(losses, [4 / 3, 4 / 3, 0.0])  # eq. 6 counts ties of others
    expected = np.zeros((3, 3))
    expected[0, 1] = 4 / 3  # of the second sample alone
    np.testing.assert_allclose(units * weighting.SUM_UNIT, expected, atol=1e-6)
    decoder.margin_ = 0.3
    _, units = weighting._losses_of(samples, decoder, 3)
    assert units.sum() * weighting.SUM_UNIT == pytest.approx(2 * (4 / 3 + 0.3) + 0.3, abs=1e-5)


def test_several_learners_without_folds():
    X, y = vehicle()
    learners = [("stumps", STUMPS), ("logistic", LogisticRegression(max_iter=200))]
    model = WOLCClassifier(learners, n_folds=None, max_iter=1, random_state=0).fit(X, y)
    assert model.decoding_ == "logistic-weight"
    assert len(model._stages) == len(model.history_)
    assert model.history_[0].loss == pytest.approx(model._stages[0].certificate_.log_loss, abs=1e-4)


# ---------------------------------------------------------------- columns that are added


def test_regions_of_a_pair_take_turns_and_double_as_long_as_they_have_ten_samples():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1)
    trainer = ColumnTrainer(STUMPS, X, y, 0, "predict_proba", clustered_learner=RegionClassifier(STUMPS))
    code = GrowingCode(ArraySamples(y, np.ones(300), 3), trainer)
    again = np.array([[1, -1, 1], [-1, 1, -1], [0, 0, 0]])
    code.matrix = np.hstack([one_vs_rest(3), again])
    losses = np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    evaluation = Evaluation(None, 1.0, losses, 0.0, 0.0)
    proposal = layered_proposal(code, evaluation, 3, [3, 6, 40])
    assert proposal.pairs == [(0, 1), (0, 2), (1, 2)]
    assert [column.n_regions for column in proposal.columns] == [40, 0, 0]  # three columns of the pair, none of others
    for n_before, n_regions in ((3, 12), (4, 3), (5, 6)):  # 200 samples are enough for 3, 6 and 12 regions
        code.matrix = np.hstack([one_vs_rest(3), again[:, :1].repeat(n_before, axis=1)])
        assert layered_proposal(code, evaluation, 1, None).columns[0].n_regions == n_regions


@pytest.mark.parametrize("bad", [[], [3, 1], [2.5], 1])
def test_bad_numbers_of_regions_are_named(bad):
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="n_regions"):
        WOLCClassifier(STUMPS, n_regions=bad).fit(X, y)


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


@pytest.mark.slow
def test_growth_goes_on_with_many_samples():
    make = partial(make_classification, n_features=20, n_informative=12, n_classes=10, n_clusters_per_class=2)
    X, y = make(8_000, random_state=0)
    model = WOLCClassifier(max_iter=14, random_state=0).fit(X[:6_000], y[:6_000])
    assert model.best_round_ > 10
    pairs = ECOCClassifier(random_state=0).fit(X[:6_000], y[:6_000]).score(X[6_000:], y[6_000:])
    assert model.score(X[6_000:], y[6_000:]) > pairs + 0.1
