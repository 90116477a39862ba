import numpy as np
import pytest

from skecoc.data.bins import RowSample, bin_samples, make_bins
from skecoc.data.blocks import RawBlock, make_layout, merge_summaries, summarise_block
from skecoc.data.codes import rounded
from skecoc.data.executor import merge_in_turn
from skecoc.data.folds import sample_keys
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import Column, ColumnTrainer
from tests.reference.blocks import blobs, divided


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_in_memory_have_the_bins_of_blocks(weighted, dtype):
    X, y = blobs(40_000, n_features=3)
    X[:, 1] = np.round(X[:, 1])
    X[::3, 2] = 0.0
    X = X.astype(dtype)
    X[::5] = X[1::5]
    weight = np.random.default_rng(0).uniform(0.1, 1.0, len(y)) if weighted else None
    summaries = (summarise_block(RawBlock(*block), 5, 256) for block in divided(X, y, [3, 9000, 30_000], weight))
    expected = make_layout(merge_in_turn(merge_summaries, summaries), 5, None).bins
    found = bin_samples(X, y, weight, sample_keys(X, 5))
    for name in ("starts", "lower", "upper", "edges", "centres", "exact"):
        assert np.array_equal(getattr(found.bins, name), getattr(expected, name)), name
    assert found.bins.exact.tolist() == [False, True, False]
    middles = found.middles()
    assert np.array_equal(middles[:, 1], X[:, 1])
    width = np.quantile(X[:, 0], 0.5 + 2 / 256) - np.quantile(X[:, 0], 0.5)
    assert np.median(np.abs(middles[:, 0] - X[:, 0])) < width


def test_outliers_do_not_move_the_middle_of_their_bin_far():
    X = np.append(np.random.default_rng(0).normal(size=20_000), 1e6)[:, np.newaxis]
    found = bin_samples(X, np.zeros(len(X), np.intp), None, sample_keys(X, 0))
    last = found.bins.centres[-1]
    assert last < 0.05 * found.bins.upper[-1]


def test_stumps_of_binned_samples_do_not_part_a_bin(monkeypatch):
    X, y = blobs(3000, n_features=2)
    columns = [Column(np.array([1, -1, 0, 0])), Column(np.array([1, 1, -1, -1]))]
    exact = ColumnTrainer(StumpAdaBoostClassifier(20), X, y, 0).fit(columns)
    monkeypatch.setattr("skecoc.learners.columns.MANY_TO_BIN", 0)
    binned = ColumnTrainer(StumpAdaBoostClassifier(20), X, y, 0).fit(columns)
    bins = bin_samples(X, y, None, sample_keys(X, 0)).bins
    for learner, other in zip(binned, exact, strict=True):
        for feature, threshold in zip(learner.features_, learner.thresholds_, strict=True):
            assert feature < 0 or threshold in bins.edges[bins.of(feature)]
        assert (learner.predict(X) == other.predict(X)).mean() > 0.97


def test_missing_values_have_a_bin_of_their_own():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=12_000), rng.integers(0, 5, 12_000), rng.integers(0, 256, 12_000)])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 1] = np.round(X[:, 1])
    X = np.column_stack([X, rng.normal(size=12_000), np.full(12_000, np.nan)])
    found = bin_samples(X, np.zeros(len(X), np.intp), None, sample_keys(X, 0))
    assert found.bins.missing.tolist() == [True, True, True, False, True]
    assert found.bins.exact.tolist() == [False, True, False, False, True]
    assert found.codes.dtype == np.uint8
    for f in range(5):
        last = np.diff(found.bins.starts)[f] - 1
        is_last = found.codes[f] == last
        np.testing.assert_array_equal(is_last, np.isnan(X[:, f]) if found.bins.missing[f] else is_last)
    np.testing.assert_array_equal(np.isnan(found.middles()), np.isnan(X))
    np.testing.assert_array_equal(found.middles()[:, 1], X[:, 1])


def test_binned_stumps_take_missing_values(monkeypatch):
    X, y = blobs(3000, n_features=3)
    X[:, 0] = np.round(X[:, 0])
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    columns = [Column(np.array([1, -1, 0, 0])), Column(np.array([1, 1, -1, -1]))]
    exact = ColumnTrainer(StumpAdaBoostClassifier(20), X, y, 0).fit(columns)
    few = ColumnTrainer(StumpAdaBoostClassifier(20), X[:, :1], y, 0).fit(columns)
    monkeypatch.setattr("skecoc.learners.columns.MANY_TO_BIN", 0)
    binned = ColumnTrainer(StumpAdaBoostClassifier(20), X, y, 0).fit(columns)
    same = ColumnTrainer(StumpAdaBoostClassifier(20), X[:, :1], y, 0).fit(columns)
    for learner, other in zip(binned, exact, strict=True):
        assert (learner.predict(X) == other.predict(X)).mean() > 0.97
    for learner, other in zip(same, few, strict=True):  # all bins are single values
        for name in ("features_", "thresholds_", "missing_left_", "polarities_", "alphas_"):
            np.testing.assert_array_equal(getattr(learner, name), getattr(other, name))


def test_frames_are_binned_and_keep_their_names(monkeypatch, recwarn):
    pd = pytest.importorskip("pandas")
    from skecoc import WOLCClassifier

    monkeypatch.setattr("skecoc.learners.columns.MANY_TO_BIN", 0)
    X, y = blobs(300, n_features=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(300)[::-1])
    model = WOLCClassifier(StumpAdaBoostClassifier(5), max_iter=1, random_state=0).fit(frame, y)
    expected = WOLCClassifier(StumpAdaBoostClassifier(5), max_iter=1, random_state=0).fit(X, y)
    assert np.array_equal(model.decision_function(frame), expected.decision_function(X))
    assert not [str(warning.message) for warning in recwarn if "feature names" in str(warning.message)]


def test_rounding_keeps_36_bits_of_any_number():
    values = np.array([[1.0, -1.0 / 3.0, 1e300], [5e-324, 0.0, -123456789.123456789]])
    found = rounded(values)
    np.testing.assert_allclose(found, values, rtol=2.0**-36, atol=1e-310)
    assert np.array_equal(rounded(found), found)
    assert np.array_equal(rounded(values * (1 + 2.0**-52))[0], found[0])


def one_feature(values, weight=None, max_bins=256):
    """Bin the values of a feature, however few there are; return the bins' ends."""
    X = np.asarray(values, dtype=float)[:, np.newaxis]
    keys, ones = sample_keys(X, 0), np.ones(len(X))
    sample = RowSample(keys, np.zeros(len(X)), X, ones if weight is None else weight, ones.astype(int))
    bins = make_bins((None,), sample, max_bins)
    return bins.lower, bins.upper


def test_a_value_that_most_samples_have_leaves_the_others_their_bins():
    rng = np.random.default_rng(0)
    tail = rng.exponential(size=900)
    lower, upper = one_feature(np.concatenate([np.zeros(29_100), tail, -rng.exponential(size=100)]))
    assert 250 <= len(lower) <= 256
    (zero,) = np.flatnonzero((lower <= 0) & (upper >= 0))
    assert lower[zero] == upper[zero] == 0.0
    held = [np.sum((tail >= a) & (tail <= b)) for a, b in zip(lower[zero + 1 :], upper[zero + 1 :], strict=True)]
    assert sum(held) == 900
    assert max(held) <= 6


def test_values_of_more_than_a_share_are_alone_in_their_bin():
    light = np.arange(1000) + 0.5
    heavy = np.repeat([100, 300, 500, 700], [400, 200, 100, 20])
    lower, upper = one_feature(np.concatenate([light, heavy]), max_bins=16)
    assert len(lower) <= 16
    # 100 is less than a 16th of all 1720, but more than a 14th of the 1120 that the first two leave.
    assert lower[lower == upper].tolist() == [100.0, 300.0, 500.0]


@pytest.mark.parametrize("max_bins", [2, 3, 8, 256])
@pytest.mark.parametrize("seed", range(5))
def test_bins_are_never_too_many_and_cover_all_values(max_bins, seed):
    rng = np.random.default_rng(seed)
    values = rng.permutation(2000)[:600].astype(float)
    lower, upper = one_feature(values, rng.pareto(0.5, len(values)) + 0.01, max_bins)
    assert 2 <= len(lower) <= max_bins
    assert (lower[1:] > upper[:-1]).all()
    assert ((values[:, np.newaxis] >= lower) & (values[:, np.newaxis] <= upper)).sum(axis=1).tolist() == [1] * 600
