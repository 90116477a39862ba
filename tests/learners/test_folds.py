"""Folds hold rows out class by class, never a whole class, whatever the order of the rows."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

from skecoc.data import folds as module
from skecoc.data.folds import assign_folds, sample_keys, without_last_digits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.repeat([0, 1, 2], [25, 13, 2])


def folds(rows, y, n_folds=3, seed=0):
    return assign_folds(rows, y, n_folds, seed)


def test_every_class_is_dealt_out_evenly():
    found = folds(X, Y)
    for label in range(3):
        sizes = np.bincount(found[label == Y], minlength=3)
        assert sizes.max() - sizes.min() <= 1


def test_the_only_row_of_a_class_is_never_held_out_and_two_rows_never_together():
    found = folds(X[:4], np.array([0, 1, 1, 1]))
    assert found[0] == -1
    assert set(found[1:]) == {0, 1, 2}
    two = folds(X, Y)[Y == 2]
    assert two[0] != two[1]
    assert (two >= 0).all()


@given(st.permutations(range(40)))
def test_the_order_of_the_rows_does_not_matter(order):
    np.testing.assert_array_equal(folds(X[order], Y[order]), folds(X, Y)[order])


def test_equal_rows_of_a_class_share_a_fold():
    twice = np.vstack([X, X])
    found = folds(twice, np.tile(Y, 2))
    np.testing.assert_array_equal(found[:40], found[40:])
    np.testing.assert_array_equal(found[:40], folds(X, Y))


def test_a_class_of_equal_rows_is_never_held_out():
    assert (folds(np.ones((3, 2)), np.array([0, 0, 0])) == -1).all()


@pytest.mark.parametrize("kind", [csr_array, pd.DataFrame])
def test_sparse_rows_and_frames_get_the_same_folds(kind):
    np.testing.assert_array_equal(folds(kind(X), Y), folds(X, Y))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_samples_of_text_are_dealt_out_whatever_their_order(kind):
    words = pd.DataFrame({"a": list("abcdefabcdef"), "b": range(12)})
    words["b"] = words["b"] % 6
    y = np.zeros(12, dtype=int)
    found = folds(kind(words.to_dict("list")), y)
    np.testing.assert_array_equal(found[:6], found[6:])  # equal samples share a fold
    assert np.bincount(found).tolist() == [4, 4, 4]
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_array_equal(folds(kind(words.iloc[order].to_dict("list")), y), found[order])
    assert any((folds(kind(words.to_dict("list")), y, seed=seed) != found).any() for seed in range(1, 4))


def test_other_precision_negative_zeros_and_zeros_that_are_stored_change_nothing():
    rows = np.round(X, 1).astype(np.float32)
    rows[:5, 0] = 0.0
    negative = np.where(rows == 0, -0.0, rows).astype(np.float64)
    stored = csr_array(rows)
    stored.data[0] = 0.0
    zeroed = stored.toarray()
    np.testing.assert_array_equal(folds(rows, Y), folds(negative, Y))
    np.testing.assert_array_equal(folds(stored, Y), folds(zeroed, Y))


def test_a_sample_of_the_keys_gives_the_same_folds_for_large_data(monkeypatch):
    monkeypatch.setattr(module, "MOST_DEALT", 100)
    monkeypatch.setattr(module, "FEW_OF_CLASS", 8)
    keys = np.random.default_rng(0).integers(2**63, size=400).astype(np.uint64)
    y = np.where(np.arange(400) < 5, 1, 0)
    whole = module.make_fold_rule(keys, y, 2, 3, is_complete=True).assign(keys, y)
    few = np.flatnonzero((y == 1) | (keys < np.sort(keys)[50]))
    part = module.make_fold_rule(keys[few], y[few], 2, 3, is_complete=False).assign(keys, y)
    np.testing.assert_array_equal(whole, part)
    assert np.bincount(whole[y == 0], minlength=3).min() > 100
    assert set(whole[y == 1]) == {0, 1, 2}


def test_values_of_any_kind_are_numbered_by_their_sorted_texts():
    frame = pd.DataFrame({"a": ["b", None, "B", "b", "é"], "b": [10, 9.5, "9", -1, np.nan], "c": [True, 2, 2, 0, 1]})
    texts = [frame[name].to_numpy(dtype=object).astype(str) for name in frame]
    numbers = np.column_stack([np.unique(column, return_inverse=True)[1] for column in texts])
    np.testing.assert_array_equal(sample_keys(frame, 3), sample_keys(numbers, 3))


def test_one_long_text_takes_no_more_memory_than_itself():
    frame = pd.DataFrame({"t": ["aa bb"] * 299 + ["aa " * 70_000]})
    tracemalloc.start()
    sample_keys(frame, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 210_000


def test_missing_values_are_the_same_whatever_their_bits():
    other = np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)[0]
    assert np.isnan(other)
    keys = [sample_keys(np.array([[1.0, missing], [2.0, 3.0]]), 0) for missing in (np.nan, other, -np.nan)]
    np.testing.assert_array_equal(keys[1], keys[0])
    np.testing.assert_array_equal(keys[2], keys[0])


def test_folds_do_not_hang_on_the_last_digits():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 3)))
    keys = [sample_keys(without_last_digits(rows), 0) for rows in (X, np.nextafter(X, 9.0), X.copy(order="C"))]
    np.testing.assert_array_equal(keys[1], keys[0])
    np.testing.assert_array_equal(keys[2], keys[0])


@pytest.mark.parametrize("container", [csr_array, csc_array, pd.DataFrame])
def test_keys_without_last_digits_do_not_hang_on_the_container(container):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[::2, 1] = 0.0
    expected = sample_keys(without_last_digits(X), 0)
    for rows in (X, np.nextafter(X, 9.0 * (X != 0))):
        np.testing.assert_array_equal(sample_keys(without_last_digits(container(rows)), 0), expected)


def test_texts_keep_their_digits():
    texts = np.array([["a", "b"], ["b", "c"]], dtype=object)
    assert without_last_digits(texts) is texts
