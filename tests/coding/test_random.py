import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.coding import (
    canonical_columns,
    check_code_matrix,
    dense_random,
    duplicate_columns,
    exhaustive,
    min_row_distance,
    sparse_random,
    ternary_complete,
)
from skecoc.coding import random as random_module
from skecoc.coding.fixed import n_bipartitions, n_ternary_bipartitions
from skecoc.coding.random import _write_gains, closest_rows, spread_rows
from tests.reference import coding as reference

CODINGS = {dense_random: n_bipartitions, sparse_random: n_ternary_bipartitions}


def fewest_columns(coding, n_classes):
    if coding is dense_random:
        return int(np.ceil(np.log2(n_classes)))
    return next(Q for Q in range(1, 20) if n_classes <= 3**Q - 1)


def assert_as_promised(M, coding, n_classes, n_columns):
    assert M.shape == (n_classes, n_columns)
    assert M.dtype == np.int8
    check_code_matrix(M, n_classes)
    assert duplicate_columns(M).sum() == max(0, n_columns - CODINGS[coding](n_classes))
    if coding is dense_random:
        assert M.all()


@pytest.mark.parametrize("n_classes", range(2, 21))
@pytest.mark.parametrize(("coding", "per_bit"), [(dense_random, 10), (sparse_random, 15)])
def test_default_size_and_validity(coding, per_bit, n_classes):
    n_columns = int(np.ceil(per_bit * np.log2(n_classes)))
    assert_as_promised(coding(n_classes, n_draws=50, random_state=0), coding, n_classes, n_columns)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("n_classes", [*range(2, 19), 26, 27, 32, 33, 50, 64, 80])
@pytest.mark.parametrize("n_draws", [1, 20])
def test_fewest_possible_columns(coding, n_classes, n_draws):
    fewest = fewest_columns(coding, n_classes)
    for n_columns in range(fewest, fewest + 3):
        M = coding(n_classes, n_columns=n_columns, n_draws=n_draws, random_state=n_classes)
        assert_as_promised(M, coding, n_classes, n_columns)


@pytest.mark.parametrize(
    ("coding", "n_classes"), [(dense_random, P) for P in range(2, 9)] + [(sparse_random, P) for P in range(2, 7)]
)
def test_numbers_of_columns_around_all_there_are(coding, n_classes):
    n_distinct = CODINGS[coding](n_classes)
    around = {n_distinct + extra for extra in (-2, -1, 0, 1)} | {
        2 * n_distinct,
        2 * n_distinct + 3,
        n_distinct // 8 + 1,
    }
    for n_columns in sorted(n for n in around if n >= fewest_columns(coding, n_classes)):
        M = coding(n_classes, n_columns=n_columns, n_draws=5, random_state=0)
        assert_as_promised(M, coding, n_classes, n_columns)
        copies = np.unique(canonical_columns(M), axis=1, return_counts=True)[1]
        assert copies.max() <= -(-n_columns // n_distinct)


def test_as_many_columns_as_bipartitions_are_all_of_them():
    dense, sparse = dense_random(4, n_columns=7, random_state=0), sparse_random(4, n_columns=25, random_state=0)
    assert reference.columns_as_a_set(dense) == reference.columns_as_a_set(exhaustive(4))
    assert reference.columns_as_a_set(sparse) == reference.columns_as_a_set(ternary_complete(4))


@settings(max_examples=60, deadline=None)
@given(
    coding=st.sampled_from(list(CODINGS)),
    n_classes=st.integers(2, 60),
    extra=st.integers(0, 30),
    n_draws=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_feasible_size_gives_a_valid_code(coding, n_classes, extra, n_draws, seed):
    n_columns = fewest_columns(coding, n_classes) + extra
    M = coding(n_classes, n_columns=n_columns, n_draws=n_draws, random_state=seed)
    assert_as_promised(M, coding, n_classes, n_columns)


def test_a_thousand_columns_for_thirteen_classes():
    # Far more columns than independent draws would leave distinct (4,095 bipartitions).
    assert_as_promised(dense_random(13, n_columns=1000, n_draws=2, random_state=0), dense_random, 13, 1000)
    assert_as_promised(dense_random(13, n_columns=500, n_draws=2, random_state=0), dense_random, 13, 500)


@pytest.mark.parametrize("coding", CODINGS)
def test_random_state_decides(coding):
    first, second = (coding(9, n_draws=100, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, coding(9, n_draws=100, random_state=4))
    generator = np.random.RandomState(3)
    np.testing.assert_array_equal(coding(9, n_draws=100, random_state=generator), first)
    assert not np.array_equal(coding(9, n_draws=100, random_state=generator), first)
    assert coding(9, n_draws=100).shape == first.shape


def test_draws_come_in_blocks_of_bounded_size(monkeypatch):
    drawn = list(random_module._draw_blocks(30, 40, random_module._DENSE, 100, np.random.RandomState(0)))
    assert [len(block) for block in drawn] == [100]
    monkeypatch.setattr(random_module, "_BLOCK_ENTRIES", 5000)
    in_blocks = list(random_module._draw_blocks(30, 40, random_module._DENSE, 100, np.random.RandomState(0)))
    assert max(block.size for block in in_blocks) <= 5000
    assert sum(map(len, in_blocks)) == 100


def test_best_draws_are_in_order_and_the_first_of_equals_wins():
    near = np.array([[1, 1, 1], [1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    far = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1]], dtype=np.int8)
    equal_rows = np.array([[1, -1, 1], [1, -1, 1], [-1, 1, -1]], dtype=np.int8)
    blocks = [np.stack([near, equal_rows, far]), np.stack([-far, near])]
    best = random_module._best_draws(iter(blocks), 3, rows_must_differ=True)
    for found, expected in zip(best, [far, -far, near], strict=True):
        np.testing.assert_array_equal(found, expected)
    everything = random_module._best_draws(iter(blocks), 9, rows_must_differ=False)
    assert len(everything) == 5


@pytest.mark.parametrize(("n_classes", "n_columns"), [(6, 15), (10, 10), (10, 34), (26, 48), (50, 12)])
def test_search_beats_the_best_of_plain_draws(n_classes, n_columns):
    _, plain = reference.best_of_draws(n_classes, n_columns, 30, seed=0)
    M = dense_random(n_classes, n_columns=n_columns, n_draws=30, random_state=0)
    assert min_row_distance(M) >= plain + 1


def test_minimum_distance_at_a_hundred_classes():
    # Plotkin's bound is 33; a single draw has about 18.
    assert min_row_distance(dense_random(100, n_draws=100, random_state=0)) >= 28


def test_half_of_a_sparse_code_is_zero():
    assert (sparse_random(30, n_draws=10, random_state=0) == 0).mean() == pytest.approx(0.5, abs=0.05)


def test_listed_columns_are_drawn_as_independent_entries_would_be():
    # P=3: a pair column has one zero, likelihood 2; a column without zeros 1. The first of them is a pair
    # column with probability 3 * 2 / (3 * 2 + 3 * 1) = 2/3.
    drawn = random_module._drawn_columns(ternary_complete(3), 9000, 1, np.random.RandomState(0))
    share = (drawn == 0).any(axis=1).mean()
    assert share == pytest.approx(2 / 3, abs=4 * np.sqrt(2 / 9 / 9000))


def random_stack(seed, n_matrices=4, n_classes=6, n_columns=7, symbols=(-1, 0, 1)):
    return np.random.RandomState(seed).choice(symbols, size=(n_matrices, n_classes, n_columns)).astype(np.int8)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(1, 4), st.sampled_from([(-1, 1), (-1, 0, 1)]))
def test_closest_rows_equal_the_slow_version(seed, n_classes, n_columns, symbols):
    block = random_stack(seed, n_classes=n_classes, n_columns=n_columns, symbols=symbols)
    found = zip(*(part.tolist() for part in closest_rows(block, n_columns)), strict=True)
    assert list(found) == [reference.closest_rows(matrix) for matrix in block]


def test_matrices_beyond_the_limit_are_left_early():
    far = [[1, 1, -1], [-1, 1, 1], [1, -1, 1]]
    near = [[1, 1, 1], [1, 1, -1], [1, -1, 1]]
    largest, n_pairs, _ = closest_rows(np.array([far, near], dtype=np.int8), 0)
    assert largest.tolist() == [-1, 1]
    assert n_pairs.tolist() == [3, 1]  # the second pair of the second matrix was not looked at


def test_entries_are_drawn_with_their_probabilities():
    rng = np.random.RandomState(0)
    for family, expected in ((random_module._DENSE, [0.5, 0, 0.5]), (random_module._SPARSE, [0.25, 0.5, 0.25])):
        drawn = family.draw(40_001, rng)
        assert drawn.shape == (40_001,)
        assert drawn.dtype == np.int8
        np.testing.assert_allclose([(drawn == symbol).mean() for symbol in (-1, 0, 1)], expected, atol=0.01)


def starts(seed, sparse):
    family = random_module._SPARSE if sparse else random_module._DENSE
    return next(random_module._draw_blocks(9, 14, family, 3, np.random.RandomState(seed)))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_spreading_ends_where_no_allowed_change_helps(seed, sparse):
    for start in starts(seed, sparse):
        given_start = start.copy()
        spread = spread_rows(start, True)
        np.testing.assert_array_equal(start, given_start)
        np.testing.assert_array_equal(spread == 0, start == 0)
        assert not duplicate_columns(spread).any()
        least = reference.closeness_sum(spread)
        assert least <= reference.closeness_sum(start)
        for p, q in zip(*np.nonzero(spread), strict=True):
            changed = spread.copy()
            changed[p, q] *= -1
            if reference.is_valid_code(changed) and not duplicate_columns(changed).any():
                assert reference.closeness_sum(changed) >= least * (1 - 1e-9)


def test_gains_of_sign_changes_by_hand():
    # Row 0 disagrees with row 1 in column 0 and with row 2 in columns 0 and 1: inner products 2 and 0, so
    # that row 2 counts 1/4 of row 1. An agreement gains 6, a disagreement costs 24.
    M = np.array([[1, 1, 1, 1], [-1, 1, 1, 1], [-1, -1, 1, 1]], dtype=np.int8)
    products = (M @ M.T).astype(np.int64)
    gains = np.empty(M.shape[1])
    _write_gains(M, products, 0, gains)
    np.testing.assert_array_equal(gains, [-24 - 6, 6 - 6, 6 + 1.5, 6 + 1.5])


@pytest.mark.parametrize(
    ("n_classes", "n_columns", "message"),
    [
        (5, 2, "n_columns must be at least 3: 2 columns give at most 4 different rows"),
        (1025, 10, "n_columns must be at least 11"),
        (4, 0, "n_columns must be an integer of at least 1, got 0"),
        (4, 2.5, "n_columns must be an integer of at least 1, got 2.5"),
        (1, None, "n_classes must be an integer of at least 2, got 1"),
        ("3", None, "n_classes must be an integer of at least 2"),
    ],
)
def test_dense_sizes_are_checked(n_classes, n_columns, message):
    with pytest.raises(ValueError, match=message):
        dense_random(n_classes, n_columns=n_columns)


@pytest.mark.parametrize(("n_classes", "n_columns", "most"), [(3, 1, 2), (9, 2, 8), (27, 3, 26), (81, 4, 80)])
def test_sparse_sizes_are_checked(n_classes, n_columns, most):
    with pytest.raises(
        ValueError, match=rf"n_columns must be larger: {n_columns} columns give at most {most} different"
    ):
        sparse_random(n_classes, n_columns=n_columns)
    assert_as_promised(sparse_random(most, n_columns=n_columns, n_draws=3), sparse_random, most, n_columns)


@pytest.mark.parametrize("coding", CODINGS)
def test_number_of_draws_and_seed_are_checked(coding):
    with pytest.raises(ValueError, match="n_draws must be an integer of at least 1, got 0"):
        coding(4, n_draws=0)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        coding(4, random_state="seed")
