import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skecoc.coding
from skecoc.coding import CODINGS, check_code_matrix, decoc, dense_random, forest, one_vs_one, resolve_coding

NAMES = {
    "one-vs-rest",
    "one-vs-one",
    "exhaustive",
    "ternary-complete",
    "ordinal",
    "hadamard",
    "dense-random",
    "sparse-random",
    "decoc",
    "forest",
}
LARGEST = {"exhaustive": 12, "ternary-complete": 8}


def rows(n_classes, n_per_class=3):
    y = np.repeat(np.arange(n_classes), n_per_class)
    return np.random.RandomState(n_classes).normal(size=(len(y), 4)), y


def test_every_coding_has_its_functions_name_with_hyphens():
    assert set(CODINGS) == NAMES
    for name in NAMES:
        assert name.replace("-", "_") in skecoc.coding.__all__
        assert callable(getattr(skecoc.coding, name.replace("-", "_")))


def test_everything_exported_exists():
    assert all(hasattr(skecoc.coding, name) for name in skecoc.coding.__all__)


@pytest.mark.parametrize("n_classes", range(2, 21))
@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_gives_a_valid_code(name, n_classes):
    X, y = rows(n_classes)
    if n_classes > LARGEST.get(name, 20):
        with pytest.raises(ValueError, match="n_classes must be at most"):
            resolve_coding(name, X, y, n_classes, 0)
        return
    M = resolve_coding(name, X, y, n_classes, 0)
    assert M.dtype == np.int8
    check_code_matrix(M, n_classes)


def test_names_stand_for_the_functions():
    X, y = rows(6)
    weight = np.arange(len(y)) % 3 + 1.0
    np.testing.assert_array_equal(resolve_coding("one-vs-one", X, y, 6), one_vs_one(6))
    np.testing.assert_array_equal(resolve_coding("dense-random", X, y, 6, 7), dense_random(6, random_state=7))
    np.testing.assert_array_equal(resolve_coding("forest", X, y, 6), forest(X, y))
    weighted = resolve_coding("decoc", X, y, 6, sample_weight=weight)
    np.testing.assert_array_equal(weighted, decoc(X, y, sample_weight=weight))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="coding='one_vs_one' is not known; expected one of 'decoc', 'dense-random'"):
        resolve_coding("one_vs_one", None, None, 3)


@pytest.mark.parametrize("kind", [np.asarray, lambda M: M.tolist(), lambda M: tuple(map(tuple, M)), np.float32])
def test_matrices_are_checked_and_converted(kind):
    M = resolve_coding(kind(one_vs_one(4)), None, None, 4)
    assert M.dtype == np.int8
    np.testing.assert_array_equal(M, one_vs_one(4))


def test_frames_are_matrices():
    pd = pytest.importorskip("pandas")
    np.testing.assert_array_equal(resolve_coding(pd.DataFrame(one_vs_one(4)), None, None, 4), one_vs_one(4))


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 8))
def test_callables_get_rows_and_class_indices(n_classes):
    X, y = rows(n_classes)

    def coding(given_X, given_y):
        assert given_X is X
        assert given_y is y
        return one_vs_one(n_classes).tolist()

    np.testing.assert_array_equal(resolve_coding(coding, X, y, n_classes), one_vs_one(n_classes))


@pytest.mark.parametrize(
    ("coding", "message"),
    [
        (one_vs_one(4), "coding must have one row per class: expected 3 rows, got 4"),
        (lambda X, y: one_vs_one(4), "coding must have one row per class: expected 3 rows, got 4"),
        (lambda X, y: None, r"coding must have shape \(n_classes, n_columns\)"),
        ([[1], [-1], [1]], "coding must have a different row for every class"),
        ([[1], [-1], [2]], "coding must have entries"),
        (np.array(3), "coding must have shape"),
        (None, r"coding must be a name, a code matrix .* or a callable f\(X, y\), got NoneType"),
        (3, "got int"),
        ({"one-vs-one"}, "got set"),
    ],
)
def test_bad_codings_are_named(coding, message):
    with pytest.raises(ValueError, match=message):
        resolve_coding(coding, None, None, 3)
