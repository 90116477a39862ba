import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skecoc.coding import discriminant
from skecoc.coding.discriminant import class_histograms


def rows(seed=0, n=200, n_features=4, n_classes=5):
    rng = np.random.RandomState(seed)
    y = np.r_[np.arange(n_classes), rng.randint(n_classes, size=n - n_classes)]
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(n, n_features))
    return X, y


def test_few_values_have_a_bin_each():
    X = [[0.0], [7.0], [7.0], [9.0], [0.0]]
    y = ["b", "b", "a", "a", "a"]
    expected = [[[1, 1, 1, 0]], [[1, 1, 0, 0]]]
    np.testing.assert_array_equal(class_histograms(X, y, n_bins=4), expected)


def test_bins_of_many_values_have_equal_weight():
    X = np.arange(12.0)[:, np.newaxis]
    y = np.arange(12) % 2
    np.testing.assert_array_equal(class_histograms(X, y, n_bins=3).sum(axis=0), [[4, 4, 4]])


def test_a_cut_never_falls_between_equal_values_and_always_falls_somewhere():
    # Most rows share the largest value: the only cut near any quantile is just below it.
    X = np.r_[np.arange(4.0), np.full(96, 4.0)][:, np.newaxis]
    y = np.arange(100) % 2
    np.testing.assert_array_equal(class_histograms(X, y, n_bins=3).sum(axis=0), [[4, 96, 0]])
    np.testing.assert_array_equal(class_histograms(-X, y, n_bins=3).sum(axis=0), [[96, 4, 0]])


def test_nan_is_in_no_bin_of_its_feature_alone():
    X = np.array([[1.0, 1.0], [np.nan, 2.0], [2.0, 2.0], [np.nan, 2.0]])
    expected = [[[1, 0], [1, 1]], [[0, 1], [0, 2]]]
    np.testing.assert_array_equal(class_histograms(X, [0, 0, 1, 1], n_bins=2), expected)
    nothing = class_histograms(np.full((4, 1), np.nan), [0, 0, 1, 1], n_bins=2)
    np.testing.assert_array_equal(nothing, np.zeros((2, 1, 2)))


def test_infinite_values_are_the_largest():
    X = [[-np.inf], [0.0], [1.0], [np.inf]]
    np.testing.assert_array_equal(class_histograms(X, [0, 0, 1, 1], n_bins=2), [[[2, 0]], [[0, 2]]])


def test_weights_equal_repeated_rows():
    X, y = rows()
    times = np.random.RandomState(1).randint(4, size=len(y))
    times[:5] = 1
    weighted = class_histograms(X, y, n_bins=6, sample_weight=times)
    repeated = class_histograms(np.repeat(X, times, axis=0), np.repeat(y, times), n_bins=6)
    np.testing.assert_array_equal(weighted, repeated)


def test_rows_without_weight_do_not_make_bins():
    # Three values that count have a bin each; four would be cut into bins of equal weight.
    X = [[0.0], [1.0], [2.0], [3.0]]
    found = class_histograms(X, [0, 0, 1, 1], n_bins=3, sample_weight=[1, 1, 98, 0])
    np.testing.assert_array_equal(found, [[[1, 1, 0]], [[0, 0, 98]]])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_repeating_all_rows_scales_counts(seed, times):
    X, y = rows(seed)
    repeated = class_histograms(np.tile(X, (times, 1)), np.tile(y, times))
    np.testing.assert_array_equal(repeated, times * class_histograms(X, y))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_increasing_transformations_change_nothing(seed):
    X, y = rows(seed)
    np.testing.assert_array_equal(class_histograms(np.exp(X), y), class_histograms(X, y))


def test_counts_sum_to_class_sizes():
    X, y = rows()
    sums = class_histograms(X, y, n_bins=7).sum(axis=2)
    np.testing.assert_array_equal(sums, np.tile(np.bincount(y)[:, np.newaxis], (1, X.shape[1])))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_equal_dense_ones(container):
    X, y = rows()
    X[X < 0] = 0
    np.testing.assert_array_equal(class_histograms(container(X), y), class_histograms(X, y))


def test_sparse_rows_are_never_made_dense_as_a_whole(monkeypatch):
    X, y = rows()
    X = sparse.csc_array(X)
    sizes = []
    to_dense = sparse.csc_array.toarray

    def watched(self, *args, **kwargs):
        sizes.append(self.shape)
        return to_dense(self, *args, **kwargs)

    monkeypatch.setattr(sparse.csc_array, "toarray", watched)
    monkeypatch.setattr(discriminant, "_BLOCK_VALUES", 2 * len(y) + 1)
    found = class_histograms(X, y)
    assert set(sizes) == {(len(y), 2), (len(y), X.shape[1] % 2)} - {(len(y), 0)}
    np.testing.assert_array_equal(found, class_histograms(X.toarray(), y))


def test_categories_have_bins_by_weight_and_the_rarest_share_the_last():
    X = np.array([["red"], ["red"], ["red"], ["blue"], ["blue"], ["green"], ["white"]], dtype=object)
    y = [0, 0, 1, 1, 1, 0, 1]
    np.testing.assert_array_equal(class_histograms(X, y, n_bins=4)[:, 0], [[2, 0, 1, 0], [1, 2, 0, 1]])
    np.testing.assert_array_equal(class_histograms(X, y, n_bins=3)[:, 0], [[2, 0, 1], [1, 2, 1]])


def test_frames_equal_arrays():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, y = rows(n_features=2)
    color = np.array(["red", "blue", "green"])[np.arange(len(y)) % 3]
    expected = np.concatenate([class_histograms(X, y), class_histograms(color[:, np.newaxis], y)], axis=1)
    columns = {"a": X[:, 0], "b": X[:, 1], "color": color}
    frame = pd.DataFrame(columns)
    frame["color"] = frame["color"].astype("category")
    np.testing.assert_array_equal(class_histograms(frame, pd.Series(y)), expected)
    np.testing.assert_array_equal(class_histograms(pl.DataFrame(columns), y), expected)
    nullable = pd.DataFrame({"a": pd.array([1, None, 2, 2], dtype="Int64")})
    np.testing.assert_array_equal(class_histograms(nullable, [0, 0, 1, 1], n_bins=2), [[[1, 0]], [[0, 2]]])


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.ones((4, 2)), [0, 0, 0, 0], {}, "y must have at least 2 classes, got 1"),
        (np.ones((4, 2)), [0, 1, 0], {}, "inconsistent numbers of samples"),
        (np.ones((4, 2)), [0.1, 0.2, 0.3, 0.4], {}, "Unknown label type: continuous"),
        (np.ones((4, 2)), np.ones((4, 3)), {}, "y should be a 1d array"),
        (np.ones(4), [0, 1, 0, 1], {}, "Expected 2D array"),
        (np.ones((0, 2)), [], {}, "minimum of 1 is required"),
        (np.ones((4, 0)), [0, 1, 0, 1], {}, "0 feature"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"n_bins": 1}, "n_bins must be an integer of at least 2, got 1"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"sample_weight": [1, 1, -1, 1]}, "sample_weight"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"sample_weight": [1, 1]}, "sample_weight"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"sample_weight": [0, 0, 0, 0]}, "(?i)sample.weight"),
    ],
)
def test_bad_input_is_named(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        class_histograms(X, y, **options)


def test_columns_of_a_frame_may_hold_anything():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    y = [0, 0, 1, 1]
    frame = pd.DataFrame({"number": [0.5, 1.5, 1.5, np.nan]}).assign(
        truth=[True, False, False, False],
        category=pd.Categorical(["v", "u", "u", "u"]),
        text=pd.array(["v", "u", "u", "u"], dtype="string"),
        nullable=pd.array([1, 2, 2, None], dtype="Int64"),
        nullable_truth=pd.array([True, None, False, False], dtype="boolean"),
    )
    # Numbers have bins in their order; of categories, the most frequent one has the first bin.
    expected = [
        [[1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [0, 1]],
        [[0, 1], [2, 0], [2, 0], [2, 0], [0, 1], [2, 0]],
    ]
    for each in (frame, pl.from_pandas(frame)):
        np.testing.assert_array_equal(class_histograms(each, y, n_bins=2), expected)
        dropped = class_histograms(each, y, n_bins=2, sample_weight=[1, 1, 1, 0])
        np.testing.assert_array_equal(dropped, class_histograms(each[:3], y[:3], n_bins=2))
