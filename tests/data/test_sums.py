import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.classifiers.growth import GrowingCode
from skecoc.coding import one_vs_one, one_vs_rest, sparse_random
from skecoc.data.bins import code_values
from skecoc.data.blocks import IterableBlocks
from skecoc.data.executor import LocalExecutor, States
from skecoc.data.folds import assign_folds, sample_keys
from skecoc.data.samples import prepare_rows
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier, boosting
from skecoc.learners.boosting import boost_columns, column_groups, reweight
from skecoc.learners.coded_outputs import code_learners, evaluate_coded, nearest_coded_centre, squared_distances
from skecoc.learners.columns import ALL_SAMPLES, Column, ColumnTrainer, ConstantClassifier, evaluate_columns
from skecoc.learners.summed import SummedTrainer
from tests.reference.blocks import blobs, divided, signed_histogram
from tests.reference.training import Seeded


def boosted(blocks, matrix, n_estimators=15, max_bins=256):
    with LocalExecutor() as executor:
        rows = prepare_rows(executor, States(IterableBlocks(blocks)), 0, max_bins, None)
        learner = StumpAdaBoostClassifier(n_estimators)
        return boost_columns(executor, rows.coded, rows.bins, matrix, rows.cell_weights, learner)


def assert_same_stumps(learners, expected):
    for learner, other in zip(learners, expected, strict=True):
        assert type(learner) is type(other)
        if isinstance(learner, ConstantClassifier):
            assert learner.side == other.side
            continue
        assert np.array_equal(learner.features_, other.features_)
        assert np.array_equal(learner.thresholds_, other.thresholds_)
        assert np.array_equal(learner.missing_left_, other.missing_left_)
        assert np.array_equal(learner.polarities_, other.polarities_)
        np.testing.assert_allclose(learner.alphas_, other.alphas_, rtol=1e-9)


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 1000),
    st.sampled_from(["one-vs-rest", "one-vs-one", "sparse"]),
    st.lists(st.integers(0, 150), max_size=3),
    st.sampled_from([None, "small", "wide"]),
)
def test_stumps_are_those_of_rows_in_memory(seed, coding, edges, weights):
    X, y = blobs(150, seed, decimals=0)
    y[:4] = np.arange(4)
    rng = np.random.default_rng(seed)
    weight = {None: None, "small": rng.integers(0, 3, 150) / 2, "wide": 10.0 ** rng.integers(-4, 5, 150)}[weights]
    if weight is not None:
        weight[:4] = 1.0
    matrix = {"one-vs-rest": one_vs_rest, "one-vs-one": one_vs_one}.get(
        coding, lambda p: sparse_random(p, random_state=seed)
    )(4)
    kept = np.ones(150, bool) if weight is None else weight > 0
    params = {} if weight is None else {"sample_weight": weight[kept]}
    trainer = ColumnTrainer(StumpAdaBoostClassifier(15), X[kept], y[kept], 0, fit_params=params)
    expected = Seeded(trainer).fit([Column(pattern) for pattern in matrix.T])
    assert_same_stumps(boosted(divided(X, y, sorted(edges), weight), matrix), expected)


def test_16_bit_codes_serve_features_of_many_values():
    X, y = blobs(700)
    matrix = one_vs_one(4)
    trainer = ColumnTrainer(StumpAdaBoostClassifier(15), X, y, 0)
    expected = Seeded(trainer).fit([Column(pattern) for pattern in matrix.T])
    assert_same_stumps(boosted(divided(X, y, [100]), matrix, max_bins=1000), expected)


def test_groups_of_columns_and_scaled_weights_change_nothing(monkeypatch):
    X, y = blobs(300, decimals=0)
    matrix = one_vs_one(4)
    before = boosted(divided(X, y, [150]), matrix, 40)
    monkeypatch.setattr(LocalExecutor, "largest_summand", 32)
    monkeypatch.setattr(boosting, "_LARGEST_SUM", 2.0**57)
    assert [group.shape[1] for group in column_groups(matrix, 50, 32 * 50 * 4)] == [4, 2]
    assert_same_stumps(boosted(divided(X, y, [150]), matrix, 40), before)


def test_groups_of_columns_do_not_change_the_rounding_of_weights(monkeypatch):
    X, y = blobs(3000)
    weight = np.random.default_rng(0).uniform(0.001, 1.0, len(y)) * np.where(y == 0, 1e-6, 1.0)
    before = boosted(divided(X, y, [1500], weight), one_vs_one(4), 20)
    monkeypatch.setattr(LocalExecutor, "largest_summand", 32)
    after = boosted(divided(X, y, [1500], weight), one_vs_one(4), 20)
    assert all(np.array_equal(a.alphas_, b.alphas_) for a, b in zip(after, before, strict=True))


@pytest.mark.parametrize("edges", [[1], [0, 250, 499], [100, 100, 200]])
def test_approximate_stumps_do_not_depend_on_blocks_or_order(edges):
    X, y = blobs(500)
    order = np.random.default_rng(0).permutation(500)
    whole = boosted([(X, y)], one_vs_rest(4), max_bins=16)
    parts = boosted(divided(X[order], y[order], edges), one_vs_rest(4), max_bins=16)
    for a, b in zip(whole, parts, strict=True):
        assert np.array_equal(a.alphas_, b.alphas_)
        assert np.array_equal(a.thresholds_, b.thresholds_)


def test_a_perfect_stump_ends_boosting_and_a_useless_one_is_not_taken():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    perfect, useless = boosted([(X, [0, 0, 1, 1])], np.array([[-1], [1]], np.int8)) + boosted(
        [(np.zeros((4, 1)), [0, 0, 1, 1])], np.array([[-1], [1]], np.int8)
    )
    assert perfect.thresholds_.tolist() == [1.5]
    assert perfect.alphas_[0] == pytest.approx(0.5 * np.log(1e10 - 1))
    assert useless.n_estimators_ == 0


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans(), st.booleans())
def test_the_kernel_adds_up_what_a_plain_loop_does(seed, n_stumps, is_scaled, is_weighted):
    rng = np.random.default_rng(seed)
    starts = np.array([0, 5, 5, 11, 14])
    column = np.array([1, -1, 0, -1], np.int8)
    codes = rng.integers(0, 4, (6, 14)).astype(np.uint8)
    bin_starts = np.arange(0, 28, 4)
    rows = np.r_[0:5, 11:14]
    sides = np.repeat([1, -1], [5, 3])
    weight = rng.random(14) if is_weighted else np.empty(0)
    features, cuts = rng.integers(-1, 6, n_stumps), rng.integers(0, 3, n_stumps)
    factors = rng.choice([1.0, 2.5, 0.3], (2, n_stumps, 2))
    if is_scaled:
        factors[:, -1] = np.where(factors[:, -1] == 2.5, 1.0, 0.25)
    after = 1000 * (weight[rows] if is_weighted else np.ones(8))
    for feature, cut, by_side in zip(features, cuts, factors.transpose(1, 0, 2), strict=True):
        before = after
        left = np.ones(8, bool) if feature < 0 else codes[feature, rows] <= cut
        after = before * by_side[(sides > 0).astype(int), np.where(left, 0, 1)]
    expected = signed_histogram(codes[:, rows], sides, after, bin_starts)
    total = np.rint(after).sum()
    if not is_scaled:
        expected -= signed_histogram(codes[:, rows], sides, before, bin_starts)
        total -= np.rint(before).sum()
    histogram = np.zeros(24, np.int64)
    stumps = (features, cuts, factors, is_scaled, histogram)
    assert reweight(codes, starts, bin_starts, column, weight, 1000.0, *stumps) == total
    assert np.array_equal(histogram, expected)


def region_learners(blocks, patterns, seeds, n_regions=3):
    with LocalExecutor() as executor:
        rows = prepare_rows(executor, States(IterableBlocks(blocks)), 0, 256, None)
        trainer = SummedTrainer(StumpAdaBoostClassifier(10), None, None, 0, "predict", rows=rows)
        columns = [Column(pattern, n_regions, seed=seed) for pattern, seed in zip(patterns, seeds, strict=True)]
        return trainer.fit(columns), rows.bins


def test_columns_without_a_fold_are_those_of_the_other_rows():
    X, y = blobs(300, decimals=1)
    pattern = np.array([1, -1, 0, -1], np.int8)
    with LocalExecutor() as executor:
        rows = prepare_rows(executor, States(IterableBlocks(divided(X, y, [90, 200]))), 5, 256, 3)
        learner = StumpAdaBoostClassifier(10)
        trainer = SummedTrainer(learner, None, None, 5, "predict_proba", clustered_learner=learner, rows=rows)
        code = GrowingCode(rows, trainer)
        fitted = [trainer.fit([Column(pattern)], fold) for fold in (ALL_SAMPLES, 0, 1, 2)]
        code.start([pattern[:, np.newaxis]])
        learners, parts = code.learners, code.sum(_as_list)
    folds = assign_folds(X, y, 3, seed=5)
    keys = sample_keys(X, 5)
    found = {key: (output, fold) for part in parts for key, output, fold in part}
    assert [found[key][1] for key in keys] == folds.tolist()
    whole = Seeded(ColumnTrainer(StumpAdaBoostClassifier(10), X, y, 0)).fit([Column(pattern)])
    assert_same_stumps(fitted[0], whole)
    assert_same_stumps(learners, whole)
    for fold in range(3):
        kept = folds != fold
        expected = Seeded(ColumnTrainer(StumpAdaBoostClassifier(10), X[kept], y[kept], 0)).fit([Column(pattern)])
        assert_same_stumps(fitted[fold + 1], expected)
        held_out = np.flatnonzero(~kept)
        outputs = evaluate_columns(expected, X[held_out], "predict_proba")[:, 0]
        np.testing.assert_allclose([found[key][0] for key in keys[held_out]], outputs, rtol=1e-5, atol=1e-7)


def _as_list(samples):
    """List keys, out-of-fold outputs and folds of a block."""
    return [list(zip(samples.keys, samples.out_of_fold[:, 0], samples.fold, strict=True))]


@pytest.mark.parametrize("weighted", [False, True])
def test_regions_are_those_of_rows_in_memory(weighted):
    X, y = blobs(400, decimals=1)
    weight = np.random.default_rng(1).integers(1, 4, 400) * 0.7 if weighted else None
    patterns = [np.array([1, -1, 0, 0], np.int8), np.array([0, 1, 0, -1], np.int8)]
    found, bins = region_learners(divided(X, y, [11, 200, 200], weight), patterns, [3, 4])
    for learner, pattern, seed in zip(found, patterns, [3, 4], strict=True):
        used = pattern[y] != 0
        expected = RegionClassifier(StumpAdaBoostClassifier(10), n_regions=3, random_state=seed)
        expected.fit(X[used], (pattern[y[used]] > 0).astype(int), None if weight is None else weight[used])
        np.testing.assert_allclose(learner.centres_, expected.centres_, rtol=1e-8 if weighted else 1e-12)
        np.testing.assert_allclose(learner.region_margins_, expected.region_margins_, rtol=1e-8)
        for a, b in zip(learner.estimators_, expected.estimators_, strict=True):
            if a is not None or b is not None:
                assert_same_stumps([a], [b])
        for response in ("predict_proba", "predict", "decision_function"):
            coded = evaluate_coded(code_values(X, bins), code_learners([learner], bins, response))
            assert np.array_equal(coded, evaluate_columns([learner], X, response))


def test_pure_and_single_row_regions_do_not_fail():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [20.0]])
    y = np.array([0, 0, 0, 1, 1])
    found, _ = region_learners(divided(X, y, [2]), [np.array([1, -1], np.int8)], [0])
    assert found[0].n_regions_ >= 2
    assert (found[0].predict(X) == (y == 0)).all()


def test_coded_rows_find_the_centre_that_plain_distances_find():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (3, 50)).astype(np.uint8)
    starts, middles = np.array([0, 4, 8, 12]), rng.normal(size=12)
    centres = rng.normal(size=(4, 3))
    rows = np.stack([middles[starts[f] + codes[f]] for f in range(3)], axis=1)
    expected = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(nearest_coded_centre(codes, starts, squared_distances(centres, starts, middles)), expected)
