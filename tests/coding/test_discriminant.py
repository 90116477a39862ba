from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from skecoc.coding import check_code_matrix, decoc, duplicate_columns, forest
from skecoc.coding import discriminant as module
from skecoc.coding.discriminant import best_bipartition, class_histograms, trees_from_histograms
from tests.reference import coding as reference


def blobs(seed, n_classes, n=300, n_features=5, spread=1.5):
    rng = np.random.RandomState(seed)
    y = np.r_[np.arange(n_classes), rng.randint(n_classes, size=n - n_classes)]
    X = spread * rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(n, n_features))
    return X, y


def partition_information(histograms, column):
    """What a tree maximises: the information between features and the sides of one column, in nats."""
    sides = np.asarray(column)
    node = np.flatnonzero(sides)
    first_side = sides[node] == 1
    first_side[0] ^= True  # and moved back
    return module._NodeCriterion(histograms[node]).of_moves(first_side, np.array([0])).item()


def tree_nodes(columns):
    return [frozenset(np.flatnonzero(column).tolist()) for column in columns.T]


def assert_is_tree(columns):
    """Every node of more than one class is split exactly once, starting with all classes."""
    n_classes = len(columns)
    expected = [frozenset(range(n_classes))]
    for column in columns.T:
        expected += [frozenset(np.flatnonzero(column == side).tolist()) for side in (1, -1)]
    assert sorted(map(sorted, tree_nodes(columns))) == sorted(sorted(node) for node in expected if len(node) > 1)


def test_two_groups_of_two_classes_by_hand():
    # Feature 0 sets {a, d} against {b, c} with certainty; within the groups one value in two is shared.
    X = np.array([[0, 0], [0, 1], [9, 0], [9, 1], [9, 1], [9, 2], [0, 1], [0, 2]], dtype=float)
    y = ["a", "a", "b", "b", "c", "c", "d", "d"]
    expected = [[1, 1, 0], [-1, 0, 1], [-1, 0, -1], [1, -1, 0]]
    np.testing.assert_array_equal(decoc(X, y), expected)


@pytest.mark.parametrize("n_classes", range(2, 21))
def test_decoc_is_a_tree_of_the_classes(n_classes):
    M = decoc(*blobs(n_classes, n_classes))
    assert M.shape == (n_classes, n_classes - 1)
    check_code_matrix(M, n_classes)
    assert_is_tree(M)
    # A node comes before those below it, with its first class at +1.
    first = (M != 0).argmax(axis=0)
    assert (M[first, np.arange(n_classes - 1)] == 1).all()
    nodes = tree_nodes(M)
    assert all(not nodes[late] > nodes[early] for late in range(len(nodes)) for early in range(late))


def test_information_by_hand():
    histograms = np.array([[[3.0, 1.0]], [[1.0, 3.0]]])
    expected = np.log(2) - (0.75 * np.log(4 / 3) + 0.25 * np.log(4))
    assert partition_information(histograms, [1, -1]) == pytest.approx(expected, abs=1e-9)
    # A feature that only one row in two has counts half; a constant one does not count.
    more = np.concatenate([2 * histograms, [[[4.0, 0.0]], [[0.0, 4.0]]], np.full((2, 1, 2), [8.0, 0.0])], axis=1)
    assert partition_information(more, [1, -1]) == pytest.approx(expected + 0.5 * np.log(2), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.booleans())
def test_information_equals_that_of_the_rows(seed, n_classes, with_missing):
    rng = np.random.RandomState(seed)
    X, y = blobs(seed, n_classes, n=80, n_features=3)
    X = np.floor(2 * X)
    if with_missing:
        X[rng.uniform(size=X.shape) < 0.3] = np.nan
    n_bins = 60
    bins = np.where(np.isnan(X), -1, X - np.nanmin(X))
    assert bins.max() < n_bins
    column = rng.randint(-1, 2, size=n_classes)
    column[:2] = [1, -1]
    found = partition_information(class_histograms(X, y, n_bins=n_bins), column)
    assert found == pytest.approx(reference.partition_information(bins, y, column), abs=1e-8)


def test_floating_search_comes_close_to_the_best_root():
    shares = []
    for seed, n_classes in product(range(5), range(3, 10)):
        histograms = class_histograms(*blobs(seed, n_classes, n=40 * n_classes))
        root = trees_from_histograms(histograms, 1)[:, 0]
        rivals = reference.all_bipartitions(range(n_classes), n_classes)
        best = max(partition_information(histograms, column) for column in rivals)
        shares.append(partition_information(histograms, root) / best)
    # The search is no proof of the optimum; these problems are fixed, and it misses few of them, by little.
    assert min(shares) > 0.95
    assert np.mean(shares) > 0.995


def test_floating_search_mostly_finds_the_very_best_split():
    n_best = 0
    for seed in range(20):
        histograms = class_histograms(*blobs(seed, 8))
        columns = trees_from_histograms(histograms, 1)
        rivals = (partition_information(histograms, c) for c in reference.all_bipartitions(range(8), 8))
        n_best += partition_information(histograms, columns[:, 0]) >= max(rivals) - 1e-9
    assert n_best >= 19


def test_floating_search_moves_classes_back():
    # Without any move back there are 9 looks forward, and 7 refused ones back from 3 to 9 classes.
    n_looks = [
        len(list(module._floating_search(module._NodeCriterion(class_histograms(*blobs(seed, 10))), 10)))
        for seed in range(10)
    ]
    assert min(n_looks) >= 16
    assert max(n_looks) > 16


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([decoc, forest]))
def test_renaming_classes_permutes_rows(seed, n_classes, coding):
    X, y = blobs(seed, n_classes)
    new_name = np.random.RandomState(seed).permutation(n_classes)
    M, renamed = coding(X, y), coding(X, new_name[y])
    assert reference.columns_as_a_set(renamed[new_name]) == reference.columns_as_a_set(M)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(2, 4))
def test_repeating_rows_or_weighing_them_changes_nothing(seed, n_classes, times):
    X, y = blobs(seed, n_classes)
    M = forest(X, y)
    np.testing.assert_array_equal(forest(np.tile(X, (times, 1)), np.tile(y, times)), M)
    np.testing.assert_array_equal(forest(X, y, sample_weight=np.full(len(y), times)), M)


def test_weights_equal_repeated_rows():
    X, y = blobs(0, 6)
    times = np.random.RandomState(0).randint(1, 5, size=len(y))
    expected = decoc(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(decoc(X, y, sample_weight=times), expected)
    np.testing.assert_array_equal(decoc(X, y, sample_weight=times / 7), expected)
    assert not np.array_equal(decoc(X, y, sample_weight=np.where(y < 3, 1e-3, 1.0)), decoc(X, y))


def test_order_of_rows_and_features_does_not_matter():
    X, y = blobs(3, 7)
    order = np.random.RandomState(0).permutation(len(y))
    np.testing.assert_array_equal(decoc(X[order][:, ::-1], y[order]), decoc(X, y))


def test_labels_of_any_kind():
    X, y = blobs(1, 5)
    M = decoc(X, y)
    np.testing.assert_array_equal(decoc(X, np.array(list("abcde"))[y]), M)
    np.testing.assert_array_equal(decoc(X, 10.0 * y - 7), M)


def test_features_that_tell_nothing_change_nothing():
    X, y = blobs(2, 6)
    idle = np.column_stack([np.full(len(y), 3.0), X, np.full(len(y), np.nan)])
    np.testing.assert_array_equal(decoc(idle, y), decoc(X, y))


def test_data_without_any_information_still_give_a_code():
    y = np.arange(30) % 5
    for X in (np.ones((30, 2)), np.full((30, 2), np.nan)):
        check_code_matrix(decoc(X, y), 5)
        assert forest(X, y).shape == (5, 12)


def test_class_without_weight_still_has_its_row():
    X, y = blobs(0, 5)
    check_code_matrix(decoc(X, y, sample_weight=(y != 2).astype(float)), 5)


def test_sparse_rows():
    X, y = blobs(0, 6)
    X[X < 0.5] = 0
    np.testing.assert_array_equal(decoc(sparse.csr_array(X), y), decoc(X, y))


def test_data_are_read_once_and_the_search_does_not_grow_with_rows(monkeypatch):
    X, y = blobs(4, 8, n=400)
    counts = {"cells": 0, "passes": 0}
    plain_log, plain_histograms = module._w_log_w, module.class_histograms

    def counted_log(weight):
        counts["cells"] += weight.size
        return plain_log(weight)

    def counted_histograms(*args, **kwargs):
        counts["passes"] += 1
        return plain_histograms(*args, **kwargs)

    monkeypatch.setattr(module, "_w_log_w", counted_log)
    monkeypatch.setattr(module, "class_histograms", counted_histograms)
    cells = []
    for times in (1, 20):
        counts["cells"] = counts["passes"] = 0
        forest(np.tile(X, (times, 1)), np.tile(y, times))
        assert counts["passes"] == 1
        cells.append(counts["cells"])
    assert cells[0] == cells[1] > 0


def test_candidates_in_blocks_give_the_same_tree(monkeypatch):
    X, y = blobs(5, 9)
    M = decoc(X, y)
    monkeypatch.setattr(module, "_BLOCK_FLOATS", 200)
    np.testing.assert_array_equal(decoc(X, y), M)


@pytest.mark.parametrize("n_classes", range(2, 21))
def test_forest_is_made_of_different_trees(n_classes):
    X, y = blobs(n_classes, n_classes)
    M = forest(X, y)
    check_code_matrix(M, n_classes)
    n_trees = 1 if n_classes == 2 else 3
    assert M.shape == (n_classes, n_trees * (n_classes - 1))
    assert not duplicate_columns(M).any()
    for tree in np.split(M, n_trees, axis=1):
        assert_is_tree(tree)
    np.testing.assert_array_equal(M[:, : n_classes - 1], decoc(X, y))


def test_longer_forests_begin_with_shorter_ones():
    X, y = blobs(0, 7)
    longest = forest(X, y, n_trees=6)
    for n_trees in range(1, 6):
        np.testing.assert_array_equal(forest(X, y, n_trees=n_trees), longest[:, : 6 * n_trees])


@pytest.mark.parametrize(("n_classes", "most"), [(2, 1), (3, 3)])
def test_forest_ends_when_every_split_is_taken(n_classes, most):
    M = forest(*blobs(0, n_classes), n_trees=50)
    assert M.shape == (n_classes, most * (n_classes - 1))
    check_code_matrix(M, n_classes)


@pytest.mark.parametrize(("n_classes", "n_asked"), [(4, 50), (5, 50), (6, 50), (8, 8), (12, 12)])
def test_forest_of_as_many_trees_as_classes_is_possible(n_classes, n_asked):
    M = forest(*blobs(n_classes, n_classes), n_trees=n_asked)
    n_trees, rest = divmod(M.shape[1], n_classes - 1)
    assert rest == 0
    # Every tree ends in at least one pair of classes that no other tree ends in.
    assert n_classes <= n_trees <= min(n_asked, n_classes * (n_classes - 1) / 2)
    assert not duplicate_columns(M).any()
    for tree in np.split(M, n_trees, axis=1):
        assert_is_tree(tree)


def test_dead_ends_are_left_by_another_way():
    # With a single attempt per tree the forests of some of these problems are cut short.
    lengths = {attempts: [] for attempts in (1, 100)}
    for attempts, found in lengths.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_MAX_ATTEMPTS", attempts)
            found += [forest(*blobs(seed, 10), n_trees=10).shape[1] for seed in range(4)]
    assert lengths[100] == [90] * 4
    assert sum(lengths[1]) < sum(lengths[100])


@pytest.mark.parametrize("coding", [decoc, forest])
@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.ones((4, 2)), [0, 0, 0, 0], {}, "y must have at least 2 classes, got 1"),
        (np.ones((4, 2)), [0, 1, 0], {}, "inconsistent numbers of samples"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"n_bins": "many"}, "n_bins must be an integer of at least 2"),
        (np.ones((4, 2)), [0, 1, 0, 1], {"sample_weight": [1, 1, -1, 1]}, "sample_weight"),
    ],
)
def test_bad_input_is_named(coding, X, y, options, message):
    with pytest.raises(ValueError, match=message):
        coding(X, y, **options)


def test_number_of_trees_is_checked():
    with pytest.raises(ValueError, match="n_trees must be an integer of at least 1, got 0"):
        forest(*blobs(0, 3), n_trees=0)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_bipartition_is_the_first_column_of_the_tree(seed):
    histograms = class_histograms(*blobs(seed, 6))
    np.testing.assert_array_equal(best_bipartition(histograms), trees_from_histograms(histograms, 1)[:, 0])


def test_most_separating_features_in_their_order():
    # Shares of the spread that lie between classes: 0, 1, 0 (a constant), 0.8.
    X = np.array([[0.0, 0.0, 3.0, 0.0], [1.0, 0.0, 3.0, 1.0], [0.0, 9.0, 3.0, 2.0], [1.0, 9.0, 3.0, 3.0]])
    y, weight = np.array([0, 0, 1, 1]), np.ones(4)
    np.testing.assert_array_equal(module.most_separating(X, y, weight, 2), [1, 3])
    np.testing.assert_array_equal(module.most_separating(X, y, weight, 3), [0, 1, 3])
    np.testing.assert_array_equal(module.most_separating(X, y, weight, 4), range(4))
    np.testing.assert_array_equal(module.most_separating(X, y, np.array([2.0, 0.0, 1.0, 1.0]), 2), [1, 3])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_features_one_by_one_and_together_have_the_same_histograms(seed):
    rng = np.random.RandomState(seed)
    n = rng.randint(3, 80)
    X = np.column_stack([rng.standard_normal(n), rng.randint(40, size=n), np.where(rng.rand(n) < 0.5, np.nan, 1.5)])
    y, weight = np.r_[0, 1, rng.randint(3, size=n - 2)], rng.rand(n) + 0.1
    together = class_histograms(X, y, n_bins=8, sample_weight=weight)
    alone = [class_histograms(X[:, [j]], y, n_bins=8, sample_weight=weight) for j in range(3)]
    np.testing.assert_array_equal(together, np.concatenate(alone, axis=1))
