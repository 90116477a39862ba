import numpy as np
import pytest

from skecoc.coding import (
    code_statistics,
    duplicate_columns,
    exhaustive,
    hadamard,
    is_valid,
    one_vs_one,
    one_vs_rest,
    ordinal,
    row_distances,
    ternary_complete,
)
from tests.reference import coding as reference

CODINGS = {
    one_vs_rest: (20, lambda P: P),
    one_vs_one: (20, lambda P: P * (P - 1) // 2),
    exhaustive: (12, lambda P: 2 ** (P - 1) - 1),
    ternary_complete: (8, lambda P: (3**P - 2 ** (P + 1) + 1) // 2),
    ordinal: (20, lambda P: P - 1),
    hadamard: (20, lambda P: next(2**k for k in range(1, 6) if 2**k >= P) - 1),
}
SIZES = [(coding, P) for coding, (largest, _) in CODINGS.items() for P in range(2, largest + 1)]


@pytest.mark.parametrize(("coding", "n_classes"), SIZES)
def test_size_and_validity(coding, n_classes):
    M = coding(n_classes)
    assert M.dtype == np.int8
    assert M.shape == (n_classes, CODINGS[coding][1](n_classes))
    assert is_valid(M)
    # Only one-vs-rest has a binary problem twice, and only for two classes.
    assert duplicate_columns(M).any() == (coding is one_vs_rest and n_classes == 2)


@pytest.mark.parametrize("coding", CODINGS)
def test_results_are_the_callers_own(coding):
    first = coding(4)
    first[:] = 0
    assert coding(4).any()


@pytest.mark.parametrize(
    ("coding", "expected"),
    [
        (one_vs_rest, [[1, -1], [-1, 1]]),
        (one_vs_one, [[1], [-1]]),
        (exhaustive, [[1], [-1]]),
        (ternary_complete, [[1], [-1]]),
        (ordinal, [[-1], [1]]),
        (hadamard, [[1], [-1]]),
    ],
)
def test_two_classes(coding, expected):
    np.testing.assert_array_equal(coding(2), expected)


def test_one_vs_rest_by_hand():
    np.testing.assert_array_equal(one_vs_rest(3), [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def test_one_vs_one_by_hand():
    expected = [[1, 1, 1, 0, 0, 0], [-1, 0, 0, 1, 1, 0], [0, -1, 0, -1, 0, 1], [0, 0, -1, 0, -1, -1]]
    np.testing.assert_array_equal(one_vs_one(4), expected)


def test_ordinal_by_hand():
    np.testing.assert_array_equal(ordinal(4), [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [1, 1, 1]])


def test_exhaustive_by_hand():
    expected = [[1] * 7, [1, 1, 1, -1, -1, -1, -1], [1, -1, -1, 1, 1, -1, -1], [-1, 1, -1, 1, -1, 1, -1]]
    np.testing.assert_array_equal(exhaustive(4), expected)


@pytest.mark.parametrize("n_classes", range(2, 8))
def test_exhaustive_has_every_bipartition(n_classes):
    expected = np.array(list(reference.all_bipartitions(range(n_classes), n_classes))).T
    assert reference.columns_as_a_set(exhaustive(n_classes)) == reference.columns_as_a_set(expected)
    # Each pair of classes is on different sides of half of all bipartitions.
    distances = row_distances(exhaustive(n_classes))[np.triu_indices(n_classes, 1)]
    assert set(distances) == {2 ** (n_classes - 2)}


def test_ternary_complete_has_the_pairs_and_the_bipartitions():
    columns = reference.columns_as_a_set(ternary_complete(5))
    assert len(columns) == 90
    assert reference.columns_as_a_set(one_vs_one(5)) < columns
    assert reference.columns_as_a_set(exhaustive(5)) < columns


def test_hadamard_by_hand():
    expected = [[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]]
    np.testing.assert_array_equal(hadamard(4), expected)
    np.testing.assert_array_equal(hadamard(3), expected[:3])


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 9, 20, 100])
def test_hadamard_rows_are_equally_far_apart(n_classes):
    M = hadamard(n_classes)
    statistics = code_statistics(M)
    assert statistics["min_distance"] == statistics["mean_distance"] == (M.shape[1] + 1) / 2


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("n_classes", [1, 0, -1, 2.5, "3", None])
def test_number_of_classes_is_checked(coding, n_classes):
    with pytest.raises(ValueError, match="n_classes must be an integer of at least 2, got"):
        coding(n_classes)


def test_codes_that_would_be_too_long_are_refused():
    with pytest.raises(ValueError, match=r"n_classes must be at most 12 .* got 13, which would need 4,095 columns"):
        exhaustive(13)
    with pytest.raises(ValueError, match=r"n_classes must be at most 8 .* got 9, which would need 9,330 columns"):
        ternary_complete(9)
