import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skecoc.coding import (
    canonical_columns,
    check_code_matrix,
    code_statistics,
    duplicate_columns,
    is_valid,
    mean_row_distance,
    min_row_distance,
    one_vs_one,
    one_vs_rest,
    row_distances,
)
from skecoc.coding.matrix import check_count
from tests.reference import coding as reference

MATRICES = arrays(
    np.int8,
    st.tuples(st.integers(2, 6), st.integers(1, 7)),
    elements=st.integers(-1, 1).map(np.int8),
)


def test_check_returns_an_int8_copy():
    given_matrix = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    M = check_code_matrix(given_matrix, 3)
    assert M.dtype == np.int8
    np.testing.assert_array_equal(M, given_matrix)
    small = M.copy()
    assert not np.shares_memory(check_code_matrix(small), small)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, -1], r"code must have shape \(n_classes, n_columns\) and not be empty, got \(2,\)"),
        ([[], []], r"not be empty, got \(2, 0\)"),
        (np.zeros((2, 2, 2)), r"got \(2, 2, 2\)"),
        ([[1, -1], [1]], "code must be two-dimensional, with rows of equal length"),
        ([[1, 2], [-1, -1]], r"code must have entries in \{-1, 0, 1\} only, got 2 in row 0, column 1"),
        ([[1, -1], [-1, np.nan]], "got nan in row 1, column 1"),
        ([[1, -1], [-1, np.inf]], "got inf in row 1, column 1"),
        ([[1, -1], [-1, 0.5]], "got 0.5 in row 1, column 1"),
        ([["a", "b"], ["c", "d"]], "got a in row 0, column 0"),
        ([[1, None], [-1, 1]], "got None in row 0, column 1"),
        ([[1]], "code must have at least 2 rows, one per class, got 1"),
        ([[1, 1], [-1, 1]], "code must have a +1 and a -1 in every column; column 1 does not".replace("+", r"\+")),
        ([[1, 0, 1], [-1, -1, 1]], r"columns 1, 2 do not"),
        ([[1, -1], [-1, 1], [1, -1]], "code must have a different row for every class; rows 0, 2 are equal"),
        ([[1, -1], [-1, 1], [0, 0]], "code must have a non-zero entry in every row; row 2 does not"),
        (np.ones((2, 12)), r"columns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\. do not"),
    ],
)
def test_check_says_what_is_wrong(matrix, message):
    with pytest.raises(ValueError, match=message):
        check_code_matrix(matrix, argument="code")
    assert not is_valid(matrix)


def test_check_insists_on_one_row_per_class():
    with pytest.raises(ValueError, match="coding must have one row per class: expected 4 rows, got 3"):
        check_code_matrix(one_vs_rest(3), 4)


def test_rows_that_only_differ_in_zeros_are_different():
    assert is_valid([[1, 1], [1, 0], [-1, -1]])


@settings(max_examples=40, deadline=None)
@given(MATRICES)
def test_validity_equals_its_definition(matrix):
    assert is_valid(matrix) == reference.is_valid_code(matrix)


def test_row_distances_by_hand():
    M = [[1, 1, 0], [1, -1, 0], [0, -1, 1]]
    expected = [[0, 1.5, 2], [1.5, 0, 1], [2, 1, 0]]
    np.testing.assert_array_equal(row_distances(M), expected)
    assert min_row_distance(M) == 1
    assert mean_row_distance(M) == 1.5


@settings(max_examples=40, deadline=None)
@given(MATRICES)
def test_row_distances_equal_the_slow_version(matrix):
    upper = np.triu_indices(len(matrix), 1)
    distances = row_distances(matrix)
    expected = reference.pair_distances(matrix)
    np.testing.assert_array_equal(distances[upper], expected)
    np.testing.assert_array_equal(distances, distances.T)
    assert not np.diagonal(distances).any()
    assert min_row_distance(matrix) == min(expected)
    assert mean_row_distance(matrix) == pytest.approx(np.mean(expected))


@settings(max_examples=40, deadline=None)
@given(MATRICES, st.randoms(use_true_random=False))
def test_measures_do_not_depend_on_order_or_sign_of_columns(matrix, random):
    columns = list(range(matrix.shape[1]))
    random.shuffle(columns)
    signs = np.array([random.choice([-1, 1]) for _ in columns], dtype=np.int8)
    changed = matrix[:, columns] * signs
    np.testing.assert_array_equal(row_distances(changed), row_distances(matrix))
    assert code_statistics(changed) == code_statistics(matrix)


def test_distances_need_two_rows():
    with pytest.raises(ValueError, match="matrix must have at least 2 rows"):
        min_row_distance([[1, -1]])


def test_canonical_columns_by_hand():
    M = [[-1, 0, 0, 1], [1, -1, 0, -1], [0, 1, 0, 1]]
    expected = [[1, 0, 0, 1], [-1, 1, 0, -1], [0, -1, 0, 1]]
    canonical = canonical_columns(M)
    assert canonical.dtype == np.int8
    np.testing.assert_array_equal(canonical, expected)


@settings(max_examples=40, deadline=None)
@given(MATRICES)
def test_canonical_columns_are_a_fixed_point_and_forget_the_sign(matrix):
    canonical = canonical_columns(matrix)
    np.testing.assert_array_equal(canonical_columns(canonical), canonical)
    np.testing.assert_array_equal(canonical_columns(-matrix), canonical)


def test_duplicate_columns_by_hand():
    M = np.array([[1, 1, -1, 1, 1], [-1, 0, 1, -1, 1], [0, -1, 0, 0, -1]])
    np.testing.assert_array_equal(duplicate_columns(M), [False, False, True, True, False])


@settings(max_examples=40, deadline=None)
@given(MATRICES)
def test_duplicate_columns_equal_a_pairwise_comparison(matrix):
    columns = matrix.T
    expected = [
        any(reference.same_up_to_sign(columns[q], columns[earlier]) for earlier in range(q))
        for q in range(len(columns))
    ]
    np.testing.assert_array_equal(duplicate_columns(matrix), expected)


def test_statistics_by_hand():
    assert code_statistics(one_vs_one(4)) == {
        "n_classes": 4,
        "n_columns": 6,
        "n_distinct_columns": 6,
        "min_distance": 3.5,
        "mean_distance": 3.5,
        "zero_share": 0.5,
    }
    assert code_statistics(one_vs_rest(2))["n_distinct_columns"] == 1


@pytest.mark.parametrize("measure", [row_distances, canonical_columns, duplicate_columns, code_statistics])
def test_measures_name_what_they_cannot_measure(measure):
    with pytest.raises(ValueError, match=r"matrix must have entries in \{-1, 0, 1\} only, got 7"):
        measure([[7, 1], [1, 1]])


@pytest.mark.parametrize("value", [1, -3, 2.0, "3", None, True])
def test_counts_must_be_large_enough_integers(value):
    with pytest.raises(ValueError, match="n_things must be an integer of at least 2, got"):
        check_count(value, "n_things", 2)
    assert check_count(np.int64(2), "n_things", 2) == 2
