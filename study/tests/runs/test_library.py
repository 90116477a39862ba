"""The reference library's codes: cases worked out by hand, and codes that are valid on all data."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skecoc.coding import check_code_matrix, one_vs_rest
from skecoc.compare.experiments import Fold, RunKey, run_classifier
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier
from skecoc_study.runs.library import (
    LibraryECOCOne,
    histogram_distance,
    library_decoc,
    library_random,
    library_split,
    most_confused,
    select_draw,
)

SETS = ("iris", "glass", "ecoli", "vehicle")


class Constant(ClassifierMixin, BaseEstimator):
    """Always gives the label -1, so that no code is decoded any better for a further column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def samples(name):
    X, y = load_uci(name, return_X_y=True)
    return X, np.unique(y, return_inverse=True)[1]


def test_distance_of_histograms():
    first, second = np.array([[0.0], [10.0]]), np.array([[0.0], [5.2]])
    assert histogram_distance(first, second) == pytest.approx(np.sqrt(0.5))  # half of each group is elsewhere
    # Features are scaled one by one, and the distances of all of them added up.
    wider = histogram_distance(np.column_stack([first, first]), np.column_stack([second, 0.001 * second + 5.0]))
    assert wider == pytest.approx(np.sqrt(0.5) + np.sqrt(0.25 + 0.25 + 1.0))
    assert histogram_distance(np.array([[0.0], [0.05]]), np.array([[0.0], [1.0]])) == pytest.approx(np.sqrt(0.5))


def test_distance_ignores_missing_values_and_has_none_for_constant_features():
    first, second = np.array([[0.0], [10.0]]), np.array([[0.0], [5.2]])
    assert histogram_distance(np.vstack([first, [[np.nan]]]), second) == histogram_distance(first, second)
    assert np.isnan(histogram_distance(np.ones((2, 1)), np.ones((3, 1))))


def test_decoc_starts_from_halves_and_moves_what_makes_sides_alike():
    y = np.repeat(np.arange(4), 2)
    # The halves {0, 1} and {2, 3} are alike: no move can make them more so.
    alike = np.array([0, 0, 1, 1, 0, 0, 1, 1.0])[:, np.newaxis]
    assert library_decoc(alike, y, 0).T.tolist() == [[1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]]
    # The halves {0, 1} and {2} have nothing in common; of {0} and {1, 2}, or {1} and {0, 2}, a half has.
    y = np.repeat(np.arange(3), 2)
    apart = np.array([0, 0, 0, 0, 1, 1.0])[:, np.newaxis]
    roots = {tuple(library_decoc(apart, y, seed)[:, 0]) for seed in range(20)}
    assert (1, 1, -1) not in roots
    assert {tuple(np.array(root) == 1) for root in roots} & {(True, False, False), (False, True, False)}


def test_no_class_moves_if_a_feature_is_constant():
    y = np.repeat(np.arange(3), 2)
    X = np.column_stack([[0, 0, 0, 0, 1, 1.0], np.ones(6)])
    assert {tuple(library_decoc(X, y, seed)[:, 0]) for seed in range(20)} == {(1, 1, -1)}


def test_selected_draw_is_judged_by_its_last_two_rows():
    equal = np.array([[1, 1, -1, -1], [1, 0, -1, -1], [-1, -1, 1, 1]])  # the first two differ nowhere but in a zero
    near = np.array([[1, 1, 1, -1], [1, 1, -1, -1], [-1, -1, -1, 1]])  # closest 1, last two 3
    better = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [-1, 1, 1, 1]])  # closest 2: best, but not above 3
    assert select_draw([equal, near, better], 3) is near
    last = np.array([[1, 1, 1, -1], [-1, -1, -1, 1], [-1, -1, 1, 1]])  # closest 1, last two 1
    assert select_draw([equal, last, better, near], 3) is better
    with pytest.raises(ValueError, match="3 rows that differ"):
        select_draw([equal], 3)


@pytest.mark.parametrize("make", [library_decoc, library_random])
@pytest.mark.parametrize("name", SETS)
def test_codes_are_valid_and_repeatable(make, name):
    X, y = samples(name)
    for seed in range(3):
        matrix = make(X, y, seed)
        assert matrix.dtype == np.int8
        check_code_matrix(matrix, y.max() + 1)
        assert matrix.shape[1] == (y.max() if make is library_decoc else 10)
        np.testing.assert_array_equal(matrix, make(X, y, seed))


def test_random_code_of_few_classes_has_no_zeros():
    X, y = samples("iris")
    # A draw of three classes is valid once in 18 times; until then, every entry has been drawn.
    assert np.mean([(library_random(X, y, seed) == 0).mean() for seed in range(20)]) < 0.02


def test_samples_held_out_are_the_last_of_each_class():
    train, held_out = library_split(np.repeat([0, 1, 2], [10, 4, 7]))
    assert train.tolist() == [*range(8), 10, 11, 12, 14, 15, 16, 17, 18]
    assert held_out.tolist() == [8, 9, 13, 19, 20]
    # Two samples of the first class are followed by a class with one training sample: the second is overwritten.
    train, held_out = library_split(np.repeat([0, 1], [10, 2]))
    assert train.tolist() == [*range(8), 10]
    assert held_out.tolist() == [8, 11]


def test_most_confused_pair_counts_both_directions():
    assert most_confused(np.array([[90, 0, 10], [0, 90, 10], [0, 5, 95]])) == (1, 2)
    assert most_confused(np.array([[5, 2, 0], [0, 5, 0], [2, 0, 5]])) == (0, 1)
    assert most_confused(np.diag([3, 3, 3])) == (0, 0)


@pytest.mark.parametrize("decoding", ["hamming", "loss-based", "loss-weighted"])
def test_five_columns_are_added_for_one_pair_if_accuracy_does_not_rise(decoding):
    # No sample tells classes apart; with a constant feature, no other class joins the pair.
    y = np.repeat(np.arange(3), [20, 20, 10])
    model = LibraryECOCOne(Constant(), decoding=decoding, random_state=0).fit(np.ones((50, 2)), y)
    pair = model.history_[0].pairs
    assert [record.pairs for record in model.history_] == [pair] * 5 + [[]]
    np.testing.assert_array_equal(model.code_matrix_[:, :3], one_vs_rest(3))
    assert [np.flatnonzero(column).tolist() for column in model.code_matrix_[:, 3:].T] == [[*pair[0]]] * 5


def test_growth_stops_when_accuracy_rises():
    X, y = samples("vehicle")
    model = LibraryECOCOne(StumpAdaBoostClassifier(n_estimators=40), random_state=0).fit(X, y)
    scores = [record.out_of_fold_accuracy / 2 + record.accuracy for record in model.history_]
    rises = [later > earlier for earlier, later in pairwise(scores)]
    assert not any(rises[:-1])
    assert rises[-1] or len(scores) == 6


def test_ecoc_one_is_run_like_other_classifiers():
    X, y = samples("ecoli")
    y = np.array([f"class {label}" for label in y])
    classifier = LibraryECOCOne(decoding="loss-weighted", random_state=1)
    fold = Fold(X[::2], y[::2], X[1::2], y[1::2])
    key = RunKey("ecoli", 0, 0, "stumps", "labels", "library-ecoc-one", "loss-weighted")
    (record,) = run_classifier(key, classifier, fold).runs
    assert record.n_columns == record.n_trained == classifier.code_matrix_.shape[1]
    assert 8 <= record.n_columns <= 13
    assert record.accuracy > 0.6
    again = clone(classifier).fit(X[::2], y[::2])
    np.testing.assert_array_equal(again.code_matrix_, classifier.code_matrix_)


def test_other_decodings_are_refused():
    X, y = samples("iris")
    with pytest.raises(ValueError, match="got 'euclidean'"):
        LibraryECOCOne(decoding="euclidean").fit(X, y)
