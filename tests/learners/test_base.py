"""The coding of features: ranks, subsets of rows, and what happens with more values than codes."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skecoc.data import codes as base
from skecoc.data.codes import MAX_BINS, FeatureCodes, code_features, take_rows

small_values = st.sampled_from([-2.5, -1.0, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 1e300])


def assert_same_codes(first, second):
    np.testing.assert_array_equal(first.codes, second.codes)
    np.testing.assert_array_equal(first.starts, second.starts)
    np.testing.assert_array_equal(first.lower, second.lower)
    np.testing.assert_array_equal(first.upper, second.upper)
    assert first.exact == second.exact


def take(coded, rows):
    """Code a subset of the rows, as the kernels of boosted stumps do."""
    n_bins = np.diff(coded.starts)
    codes, starts = np.empty((coded.n_features, len(rows)), coded.codes.dtype), np.empty_like(coded.starts)
    kept = np.empty(np.minimum(n_bins, len(rows)).sum(), np.int64)
    words = np.zeros((n_bins.max() + 7) // 8, np.uint64)
    ranks = np.empty(8 * len(words), codes.dtype)
    take_rows(coded.codes, coded.starts, rows, words, words.view(np.uint8), ranks, codes, kept, starts)
    assert not words.any()
    lower = coded.lower[kept[: starts[-1]]]
    return FeatureCodes(codes, starts, lower, lower if coded.exact else coded.upper[kept[: starts[-1]]])


def many_values(n_rows, n_values, seed=0):
    """A shuffled column in which each of `n_values` values occurs, some of them repeatedly."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=n_values))
    column = values[rng.permutation(np.arange(n_rows) % n_values)]
    return column, values


@settings(deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=small_values))
def test_codes_are_ranks_among_the_distinct_values(X):
    coded = code_features(X)
    assert coded.codes.dtype == np.uint16
    assert coded.exact
    for f in range(X.shape[1]):
        values, ranks = np.unique(X[:, f], return_inverse=True)
        np.testing.assert_array_equal(coded.codes[f], ranks)
        np.testing.assert_array_equal(coded.lower[coded.starts[f] : coded.starts[f + 1]], values)


@pytest.mark.parametrize(("n_values", "dtype"), [(256, np.uint8), (257, np.uint16), (3000, np.uint16)])
def test_width_of_many_codes_follows_the_widest_feature(n_values, dtype, monkeypatch):
    monkeypatch.setattr(base, "MANY_CELLS", 11_999)
    wide, values = many_values(4000, n_values)
    narrow = np.arange(4000) % 7.0
    coded = code_features(np.column_stack([narrow, wide, -narrow]))
    assert coded.codes.dtype == dtype
    np.testing.assert_array_equal(np.diff(coded.starts), [7, n_values, 7])
    np.testing.assert_array_equal(coded.codes[0], narrow)
    np.testing.assert_array_equal(values[coded.codes[1]], wide)
    np.testing.assert_array_equal(coded.codes[2], 6 - narrow)
    assert code_features(narrow[:, None]).codes.dtype == np.uint16  # few cells


def test_values_that_collide_in_the_hash_table_are_told_apart():
    bits = np.arange(250, dtype=np.uint64)
    inverse = pow(int(base._HASH_FACTOR), -1, 2**64)
    # After multiplication by the factor all of these have the same leading bits, hence the same slot.
    keys = np.array([(inverse * (int(b) + (3 << 54))) % 2**64 for b in bits], dtype=np.uint64)
    column = keys.view(np.float64)
    column = column[np.isfinite(column)]
    assert len(column) > 200
    coded = code_features(np.tile(column, 2)[:, None])
    np.testing.assert_array_equal(coded.codes[0], np.unique(np.tile(column, 2), return_inverse=True)[1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layout_and_precision_of_the_matrix_do_not_matter(order, dtype):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=500), rng.integers(0, 9, 500)]).astype(np.float32)
    expected = code_features(X.astype(np.float64))
    assert_same_codes(code_features(np.asarray(X, dtype=dtype, order=order)), expected)
    strided = np.zeros((1000, 4), dtype)
    strided[::2, ::2] = X
    assert_same_codes(code_features(strided[::2, ::2]), expected)


@settings(deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 5)), elements=small_values),
    st.data(),
)
def test_taking_rows_is_coding_these_rows(X, data):
    rows = data.draw(arrays(np.intp, st.integers(1, 40), elements=st.integers(0, len(X) - 1)))
    assert_same_codes(take(code_features(X), rows), code_features(X[rows]))


@settings(deadline=None, max_examples=20)
@given(n_rows=st.integers(1, 60), seed=st.integers(0, 2**32 - 1))
def test_taking_few_rows_of_many_values_is_coding_these_rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([many_values(5000, 4000)[0], np.arange(5000) % 300, np.zeros(5000)])
    rows = rng.integers(0, len(X), n_rows)
    taken = take(code_features(X), rows)
    alone = code_features(X[rows])
    assert taken.codes.dtype == np.uint16  # keeps its width; only that differs
    assert_same_codes(taken, alone)


def test_names_of_features_are_kept():
    names = np.array(["a", "b"], dtype=object)
    coded = code_features(np.zeros((3, 2)), names)
    assert coded.feature_names is names


#: More values than 16-bit codes.
N_ROWS, N_VALUES = 200_000, 150_000


@pytest.fixture(scope="module")
def column_and_values():
    return many_values(N_ROWS, N_VALUES)


@pytest.fixture(scope="module")
def coded(column_and_values):
    return code_features(np.column_stack([column_and_values[0], np.arange(N_ROWS) % 5.0]))


def test_too_many_values_are_binned_equally(coded, column_and_values):
    column, values = column_and_values
    assert not coded.exact
    np.testing.assert_array_equal(np.diff(coded.starts), [MAX_BINS, 5])
    expected = np.arange(N_VALUES) * MAX_BINS // N_VALUES
    np.testing.assert_array_equal(coded.codes[0], expected[np.searchsorted(values, column)])
    assert set(np.bincount(expected)) == {2, 3}


def test_ends_of_the_bins(coded, column_and_values):
    values = column_and_values[1]
    bins = np.arange(N_VALUES) * MAX_BINS // N_VALUES
    np.testing.assert_array_equal(coded.lower[:MAX_BINS], values[np.searchsorted(bins, np.arange(MAX_BINS))])
    last = np.searchsorted(bins, np.arange(MAX_BINS), side="right") - 1
    np.testing.assert_array_equal(coded.upper[:MAX_BINS], values[last])
    np.testing.assert_array_equal(coded.lower[MAX_BINS:], np.arange(5))
    np.testing.assert_array_equal(coded.upper[MAX_BINS:], np.arange(5))


def test_repeating_rows_changes_no_bin(coded, column_and_values):
    column = column_and_values[0]
    repeated = code_features(np.repeat(column, 1 + (np.arange(N_ROWS) % 3 == 0))[:, None])
    np.testing.assert_array_equal(repeated.lower, coded.lower[:MAX_BINS])


def test_rows_keep_the_bins_of_the_whole(coded):
    rows = np.array([5, 17, 17, 199_999, 0])
    taken = take(coded, rows)
    assert not taken.exact
    for f in range(2):
        bins, ranks = np.unique(coded.codes[f, rows], return_inverse=True)
        np.testing.assert_array_equal(taken.codes[f], ranks)
        kept = slice(taken.starts[f], taken.starts[f + 1])
        np.testing.assert_array_equal(taken.lower[kept], coded.lower[coded.starts[f] + bins])
        np.testing.assert_array_equal(taken.upper[kept], coded.upper[coded.starts[f] + bins])


def test_exactly_as_many_values_as_codes_is_exact():
    column, values = many_values(70_000, MAX_BINS)
    coded = code_features(column[:, None])
    assert coded.exact
    np.testing.assert_array_equal(coded.lower, values)
    np.testing.assert_array_equal(values[coded.codes[0]], column)


def test_pickling_keeps_everything():
    coded = code_features(np.random.default_rng(0).normal(size=(400, 2)))
    copied = pickle.loads(pickle.dumps(coded))  # noqa: S301
    assert_same_codes(copied, coded)
    assert copied.exact
    assert not copied.codes.flags.writeable


def test_shared_codes_cannot_be_changed():
    coded = code_features(np.array([[1.0], [2.0]]))
    for array in (coded.codes, coded.starts, coded.lower, coded.upper):
        assert not array.flags.writeable


def test_places_of_a_cut_that_is_none_mean_nothing():
    codes = code_features(np.array([[0.0], [1.0], [3.0]]))
    found = codes.thresholds_between(np.array([0, -1]), np.array([0, 99]), np.array([1, -(10**9)]))
    np.testing.assert_array_equal(found, [0.5, np.inf])
