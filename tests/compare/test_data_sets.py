from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.impute import SimpleImputer

from skecoc.compare import DEFAULT_DATA_SETS, DataSet, load_data_sets
from skecoc.compare.data_sets import MedianImputer, check_data_set, forget_prepared
from skecoc.datasets import list_uci
from skecoc.support.errors import InputError


def data_set(counts, X=None, name="own"):
    """A data set with so many rows of each class."""
    y = np.repeat(list(counts), list(counts.values()))
    return DataSet(name, np.zeros((len(y), 1)) if X is None else X, y)


def test_defaults_are_shipped():
    assert set(DEFAULT_DATA_SETS) <= set(list_uci())


def test_shipped_sets_come_in_the_order_given_and_once():
    names = [loaded.name for loaded in load_data_sets(["wine", "iris", "wine"])]
    assert names == ["wine", "iris"]


def test_an_unknown_set_is_refused_with_the_valid_ones():
    with pytest.raises(InputError) as caught:
        load_data_sets(["iris", "rose"])
    assert str(caught.value) == f"datasets: 'rose' is not known; expected one of {', '.join(list_uci())}"


def test_nothing_to_note():
    assert check_data_set(data_set({"a": 5, "b": 5}), folds=5) == []


def test_rare_classes_are_noted():
    note = check_data_set(data_set({"a": 5, "b": 4, "c": 1}), folds=5)
    assert note == ["own: fewer rows than the 5 folds in class b, c: kept, but absent from some folds"]


def test_a_long_list_of_rare_classes_is_cut():
    counts = {"a": 9, "b": 9} | {f"r{i}": 1 for i in range(8)}
    (note,) = check_data_set(data_set(counts), folds=3)
    assert "in class r0, r1, r2, r3, r4 and 3 more: kept" in note


def test_notes_of_a_data_set_come_before_that_on_rare_classes():
    noted = replace(data_set({"a": 5, "b": 4}), notes=["a column is left out"])
    assert check_data_set(noted, folds=5)[:1] == ["a column is left out"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (DataSet("own", np.zeros((0, 1)), np.array([], dtype=str)), "data set 'own' has no rows"),
        (data_set({"a": 3, "b": 3}, np.zeros((6, 0))), "data set 'own' has no columns to learn from"),
        (data_set({"a": 3, "b": 3}, pd.DataFrame({"t": list("xyzxyz")})), "has values that are no numbers"),
        (data_set({"a": 3, "b": 3}, np.full((6, 2), np.inf)), "has infinite values in column 0, 1"),
        (data_set({"a": 6}), r"data set 'own' has one class only \(a\)"),
        (data_set({"a": 1, "b": 1}), "folds: 3 is more than the 2 rows of data set 'own'"),
        (data_set({"a": 2, "b": 2}), "folds: 3 is more than the 2 rows of the largest class"),
        (data_set({"a": 5, "b": 1}), "has only one class with two rows or more"),
        (DataSet("own", np.zeros((4, 1)), np.array([0.5, 1.5, 0.5, 1.5])), "labels that are not classes, such as 0.5"),
        (DataSet("own", np.zeros((4, 1)), np.array([0, 1, 0, np.nan])), "has rows without a class label"),
    ],
)
def test_data_that_cannot_be_cross_validated(bad, message):
    with pytest.raises(InputError, match=message):
        check_data_set(bad, folds=3)


def test_an_array_is_imputed_and_scaled_by_its_training_part():
    X = np.array([[0.0, 10.0], [4.0, np.nan], [1.0, 20.0], [np.nan, 30.0]])
    X_train, X_test, _ = DataSet("own", X, np.arange(4)).prepared(np.arange(3), np.array([3]))
    np.testing.assert_array_equal(X_train, [[0, 0], [1, 0.5], [0.25, 1]])
    np.testing.assert_array_equal(X_test, [[0.25, 2.0]])


def test_a_column_without_values_becomes_zero():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 1.5]])
    X_train, _, _ = DataSet("own", X, np.arange(3)).prepared(np.arange(2), np.array([2]))
    np.testing.assert_array_equal(X_train, [[0, 0], [0, 1]])


def test_a_preprocessor_is_cloned_and_left_unfitted():
    given_one = MedianImputer()
    X = np.array([[1.0], [np.nan], [3.0]])
    _, X_test, fitted = DataSet("own", X, np.arange(3), given_one).prepared(np.array([0, 2]), np.array([1]))
    assert X_test.tolist() == [[2.0]]
    assert fitted is not given_one
    assert not hasattr(given_one, "medians_")


CELLS = st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6))


@given(arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=CELLS))
def test_gaps_are_filled_as_scikit_learn_does(X):
    theirs = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X)
    np.testing.assert_array_equal(MedianImputer().fit_transform(X), theirs)


def test_parts_are_prepared_once_for_methods_in_turn():
    fitted = []

    class Counting(MedianImputer):
        def fit(self, X, y=None):
            fitted.append(len(X))
            return super().fit(X)

    data = replace(data_set({"a": 4, "b": 4}), preprocessor=Counting())
    train, test = np.arange(6), np.arange(6, 8)
    first, again = data.prepared(train, test), data.prepared(train.copy(), test)
    assert again[0] is first[0]
    data.prepared(train, test, keep_missing=True)
    assert data.prepared(train, test)[0] is first[0]
    replace(data, y=data.y[::-1].copy()).prepared(train, test)
    data.prepared(np.arange(2, 8), np.arange(2))
    assert fitted == [6] * 4
    forget_prepared()
    data.prepared(np.arange(2, 8), np.arange(2))
    assert fitted == [6] * 5
