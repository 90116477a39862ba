import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from skecoc import ECOCClassifier
from skecoc.data import Blocks
from skecoc.data import bins as module
from skecoc.data.bins import code_values, make_bins
from skecoc.data.blocks import (
    ArrayBlocks,
    IterableBlocks,
    RawBlock,
    check_block,
    code_block,
    make_layout,
    merge_summaries,
    summarise_block,
)
from skecoc.data.codes import code_features
from skecoc.data.executor import merge_in_turn
from skecoc.data.folds import assign_folds, sample_keys
from skecoc.learners import StumpAdaBoostClassifier
from tests.reference.blocks import blobs, divided, ecoc_in_blocks


def summary_of(blocks, most_values=256, seed=1, **sample_rows):
    settings = (seed, most_values)
    summaries = (summarise_block(RawBlock(*block), *settings, **sample_rows) for block in blocks)
    return merge_in_turn(merge_summaries, summaries)


def assert_same_summary(a, b):
    assert (a.n_rows, a.largest_weight, a.labels.tolist()) == (b.n_rows, b.largest_weight, b.labels.tolist())
    for one, other in zip(a.values, b.values, strict=True):
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other)
    for one, other in zip(a.sample, b.sample, strict=True):
        assert np.array_equal(one, other)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 400), max_size=5), st.booleans(), st.integers(0, 9))
def test_a_summary_depends_on_the_rows_alone(edges, weighted, seed):
    X, y = blobs(400, seed, decimals=1)
    X[:, 1] = np.round(X[:, 1] / 4)
    weight = np.random.default_rng(seed).integers(0, 4, 400) / 2 if weighted else None
    order = np.random.default_rng(seed + 1).permutation(400)
    whole = summary_of([(X, y, weight)], 30)
    shuffled = [(a[order] if a is not None else None) for a in (X, y, weight)]
    assert_same_summary(whole, summary_of(divided(*shuffled[:2], sorted(edges), shuffled[2]), 30))


def test_the_sample_is_limited_and_has_rows_of_every_class(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS_OF_CLASS", 3)
    X, y = blobs(2000)
    y[y == 2] = 1
    y[[5, 6, 7, 8]] = 2  # a rare class
    whole = summary_of([(X, y)], n_sampled=50)
    assert_same_summary(whole, summary_of(divided(X, y, [3, 900, 901]), n_sampled=50))
    assert 50 <= len(whole.sample.y) <= 50 + 3 * 4
    assert (whole.sample.y == 2).sum() == 3
    keys = check_block(RawBlock(X, y), 1).keys
    assert set(np.sort(keys)[:50]) <= set(whole.sample.keys)


def test_equal_rows_are_sampled_as_one_with_their_weight():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [1.0, 0.0]])
    summary = summary_of([(X[:2], [0, 1], [1.0, 2.0]), (X[2:], [0, 1], [4.0, 0.0])])
    assert sorted(zip(summary.sample.X[:, 0], summary.sample.y, summary.sample.mass, strict=True)) == [
        (1.0, 0, 5.0),
        (2.0, 1, 2.0),
    ]


def test_single_precision_has_the_same_keys():
    X, y = blobs(30)
    X = X.astype(np.float32)
    assert np.array_equal(check_block(RawBlock(X, y), 3).keys, check_block(RawBlock(X.astype(float), y), 3).keys)


def bins_of(summary, max_bins):
    return make_bins(summary.values, summary.sample, max_bins)


def test_bins_of_few_values_are_these_values_and_code_as_the_learner_does():
    X, y = blobs(500, decimals=1)
    bins = bins_of(summary_of(divided(X, y, [100, 130])), 256)
    assert bins.exact.all()
    expected = code_features(X)
    assert np.array_equal(code_values(X, bins), expected.codes)
    assert np.array_equal(bins.centres, expected.lower)


def test_bins_of_many_values_hold_about_equally_many_rows():
    X, y = blobs(20_000)
    bins = bins_of(summary_of([(X, y)], 16), 16)
    assert not bins.exact.any()
    for codes in code_values(X, bins):
        counts = np.bincount(codes, minlength=16)
        assert abs(counts - 1250).max() <= 2


def test_a_heavy_value_among_many_gets_a_bin_of_its_own():
    X = np.concatenate([np.zeros(5000), np.random.default_rng(0).normal(size=5000)])[:, None]
    bins = bins_of(summary_of([(X, np.arange(10_000) % 2)], 8), 8)
    zero = code_values(np.array([[0.0]]), bins)[0, 0]
    assert 0.4 < (code_values(X, bins)[0] == zero).mean() < 0.65


def test_cells_are_classes_and_folds_whatever_the_blocks():
    X, y = blobs(4000)
    layout = make_layout(summary_of([(X, y)]), 1, 3)
    whole = code_block(RawBlock(X, y), layout)
    parts = [code_block(RawBlock(*block), layout) for block in divided(X, y, [7, 7, 2000])]
    assert np.array_equal(np.sum([np.diff(part.starts) for part in parts], axis=0), np.diff(whole.starts))
    cells = dict(zip(whole.keys, whole.cell, strict=True))
    assert all(cells[key] == cell for part in parts for key, cell in zip(part.keys, part.cell, strict=True))
    folds = assign_folds(X, y, 3, seed=1)
    assert cells == dict(zip(sample_keys(X, 1), y * 4 + folds + 1, strict=True))


def test_rows_of_a_class_that_are_all_equal_are_in_no_fold():
    X = np.arange(200.0)[:, None]
    y = np.zeros(200, dtype=int)
    y[:2], y[2:5] = 1, 2
    X[2:5] = 7.0
    counts = np.diff(code_block(RawBlock(X, y), make_layout(summary_of([(X, y)]), 1, 3)).starts).reshape(3, 4)
    assert counts[0].tolist() == [0, 65, 65, 65]
    assert sorted(counts[1].tolist()) == [0, 0, 1, 1]
    assert counts[2].tolist() == [3, 0, 0, 0]


def test_without_folds_cells_are_classes():
    X, y = blobs(100)
    coded = code_block(RawBlock(X, y), make_layout(summary_of([(X, y)]), 1, None))
    assert np.diff(coded.starts).tolist() == np.bincount(y).tolist()


def test_array_blocks_cover_all_rows_and_read_memory_mapped_files(tmp_path):
    X, y = blobs(1000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    blocks = list(ArrayBlocks(mapped, y, None, 300))
    assert [len(block.y) for block in blocks] == [300, 300, 300, 100]
    assert np.array_equal(np.vstack([block.X for block in blocks]), X)
    assert not isinstance(blocks[0].X, np.memmap)


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[:], lambda a: a.copy(), lambda a: a.astype(np.float32)])
def test_changes_of_private_maps_and_copies_of_maps_are_kept(tmp_path, view):
    np.save(tmp_path / "X.npy", np.zeros((1000, 3)))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:] = 1.0
    for _ in range(2):
        assert all((block.X == 1.0).all() for block in ArrayBlocks(view(mapped), np.zeros(1000), None, 300))


def test_blocks_that_change_between_passes_are_refused():
    X, y = blobs(100)
    layout = make_layout(summary_of([(X, y)]), 1, 3)
    for block, message in [
        ((X[:, :4], y), "X must have 5 features in every block"),
        ((X, y + 1), "blocks gave other rows when they were read again"),
        ((X, y - 1), "blocks gave other rows when they were read again"),
        ((X, y.astype(str)), "blocks gave other rows when they were read again"),
    ]:
        with pytest.raises(ValueError, match=message):
            code_block(RawBlock(*block), layout)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IterableBlocks(iter([])), "blocks must be readable more than once"),
        (lambda: list(IterableBlocks([(np.zeros((3, 1)),)])), r"blocks must hold \(X, y\) or \(X, y, sample_weight\)"),
        (lambda: list(IterableBlocks([np.zeros((3, 1))])), r"blocks must hold .* got a ndarray"),
        (lambda: ArrayBlocks(np.zeros(3), np.zeros(3)), "X must be two-dimensional"),
        (lambda: ArrayBlocks(np.zeros((3, 1)), np.zeros(2)), r"y must have shape \(3,\)"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), [0]), 0), "y must have one label per row"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), [0.5, 1]), 0), "y must hold class labels"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), [0, 1], [1, -1]), 0), "sample_weight must hold 2 finite"),
        (lambda: check_block(RawBlock([[np.nan]], [0]), 0), "NaN"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), [None, "a"]), 0), "some are missing"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), [None, None]), 0), "some are missing"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), np.array([np.nan, "a"], object)), 0), "some are missing"),
        (lambda: check_block(RawBlock(np.zeros((2, 1)), np.array([1, "a"], object)), 0), "labels of one type"),
        (lambda: ArrayBlocks(csr_array(np.eye(3)), np.zeros(3)), "sparse input is not supported"),
        (lambda: summary_of([(np.zeros((2, 1)), [0, 1]), (np.zeros((2, 2)), [0, 1])]), "same number of features"),
        (lambda: summary_of([(np.zeros((1, 1)), [0]), (np.zeros((1, 1)), ["a"])]), "labels of one type"),
        (
            lambda: summary_of([(np.zeros((1, 1)), np.array([label], object)) for label in (0, "a")]),
            "labels of one type",
        ),
    ],
)
def test_bad_rows_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("dtype", "labels"), [("string", ["a", None]), ("Int64", [1, None])])
def test_missing_labels_of_a_series_are_named(dtype, labels):
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"some are missing|NaN"):
        check_block(RawBlock(np.zeros((2, 1)), pd.Series(labels, dtype=dtype)), 0)


def test_frames_keep_their_names_and_must_agree_on_them():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    summary = summary_of([(frame, [0, 1]), (frame, [1, 0])])
    assert summary.names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="same feature names"):
        summary_of([(frame, [0, 1]), (frame[["b", "a"]], [1, 0])])


class _Unreadable:
    """Blocks of which one cannot be read."""

    def __iter__(self):
        X, y = blobs(100)
        for number in range(9):
            if number == 7:
                raise OSError(5, "Input/output error")
            yield X[number * 10 :][:10], y[number * 10 :][:10]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_errors_name_their_block(tmp_path, n_jobs):
    X, y = blobs(100)
    broken = X.copy()
    broken[73, 1] = np.nan
    model = ecoc_in_blocks(StumpAdaBoostClassifier(2), block_size=30, directory=tmp_path, n_jobs=n_jobs)
    for fit, data, kind, message in [
        (model.fit, (broken, y), ValueError, "samples 60 to 89: Input X contains NaN"),
        (model.fit_blocks, (divided(broken, y, [50]),), ValueError, "block 1: Input X contains NaN"),
        (model.fit_blocks, ([(X, y), X],), ValueError, r"block 1: blocks must hold \(X, y\)"),
        (model.fit_blocks, ([(X, y), (X[:0], y[:0]), (X[:, 1:], y)],), ValueError, "5 in block 0 and 4 in block 2"),
        (model.fit_blocks, ([(X, y), (X, y.astype(str))],), ValueError, "block 0 and block 1 differ"),
        (model.fit_blocks, (_Unreadable(),), OSError, "Input/output error"),
    ]:
        with pytest.raises(kind, match=message) as caught:
            fit(*data)
        assert list(tmp_path.iterdir()) == []
    assert caught.value.__notes__ == ["in block 7"]


def test_an_error_keeps_the_earlier_fit_and_a_new_fit_keeps_nothing_of_it():
    pd = pytest.importorskip("pandas")
    X, y = blobs(100)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ECOCClassifier(StumpAdaBoostClassifier(2), random_state=0).fit(Blocks(frame, y))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="samples 0 to 99: y must hold a label"):
        model.fit(Blocks(X, np.array([None] * 100)))
    assert vars(model) == before
    assert "feature_names_in_" not in vars(model.fit(Blocks(X[:, :3], y)))
    assert model.n_features_in_ == 3


def test_large_numbers_raise_no_warnings():
    X = np.full((20, 2), 1e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(check_block(RawBlock(X, np.zeros(20)), 0).X, X)
