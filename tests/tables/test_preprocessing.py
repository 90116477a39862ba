import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skecoc.tables.preprocessing import (
    MAX_CATEGORIES,
    identifier_columns,
    infinite_columns,
    make_preprocessor,
)


def transform(train, test=None):
    """Fit on the first table, transform the second (or the first)."""
    preprocessor = clone(make_preprocessor(train)).fit(train)
    return preprocessor.transform(train if test is None else test)


def test_an_array_is_imputed_and_scaled_by_its_training_part():
    train = np.array([[0.0, 10.0], [4.0, np.nan], [1.0, 20.0]])
    test = np.array([[np.nan, 30.0]])
    np.testing.assert_array_equal(transform(train), [[0, 0], [1, 0.5], [0.25, 1]])
    np.testing.assert_array_equal(transform(train, test), [[0.25, 2.0]])


def test_a_column_without_values_becomes_zero():
    train = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(transform(train), [[0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, None, 6.0], [0, 0.5, 1]),
        (pd.array([2, None, 6], dtype="Int64"), [0, 0.5, 1]),
        ([True, False, False], [1, 0, 0]),
        (pd.array([True, None, False], dtype="boolean"), [1, 0.5, 0]),
        (pd.to_datetime(["2024-01-01", None, "2024-01-05"]), [0, 0.5, 1]),
        (pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05"], utc=True), [0, 0.25, 1]),
        (pd.to_timedelta(["1D", "2D", "5D"]), [0, 0.25, 1]),
    ],
    ids=["float", "nullable-int", "bool", "nullable-bool", "date", "date-with-zone", "duration"],
)
def test_number_like_columns(values, expected):
    np.testing.assert_allclose(transform(pd.DataFrame({"a": values}))[:, 0], expected)


@pytest.mark.parametrize(
    "values",
    [
        ["x", "y", "x", None],
        pd.Categorical(["x", "y", "x", None]),
        pd.array(["x", "y", "x", None], dtype="string"),
        np.array(["x", 1.5, "x", None], dtype=object),
    ],
    ids=["text", "category", "nullable-text", "mixed"],
)
def test_text_becomes_indicators_and_missing_is_a_value(values):
    indicators = transform(pd.DataFrame({"a": values}))
    # Columns are sorted by value: the missing one, then "1.5" or "y" beside "x".
    assert indicators.shape == (4, 3)
    assert indicators.sum(axis=1).tolist() == [1, 1, 1, 1]
    assert (indicators[0] == indicators[2]).all()
    assert len(np.unique(indicators, axis=0)) == 3


def test_a_value_not_seen_in_training_has_no_indicator():
    train = pd.DataFrame({"a": ["x", "y", "x"]})
    np.testing.assert_array_equal(transform(train, pd.DataFrame({"a": ["z"]})), [[0, 0]])


def test_rare_values_share_an_indicator():
    values = [f"v{i % 300}" for i in range(600)]
    assert transform(pd.DataFrame({"a": values})).shape == (600, MAX_CATEGORIES)


def test_kinds_are_ordered_numbers_dates_text():
    frame = pd.DataFrame(
        {"t": ["u", "u", "v"], "d": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]), "n": [1.0, 0.5, 0.0]}
    )
    np.testing.assert_allclose(transform(frame), [[1, 0, 1, 0], [0.5, 0.5, 1, 0], [0, 1, 0, 1]])


@pytest.mark.parametrize(
    ("values", "is_identifier"),
    [
        ([1, 2, 3, 4], True),
        ([9, 8, 7, 6], True),
        ([1, 3, 2, 4], False),
        ([1, 2, 4, 5], False),
        ([1.0, 2.0, 3.0, 4.0], False),
        (["a", "b", "c", "d"], True),
        (["a", "b", "c", "a"], False),
        (["a", "b", "c", None], False),
        ([b"a", b"\xff", b"c", b"d"], True),
        (["01", "02", "03", "04"], True),
        (pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]), False),
    ],
)
def test_what_counts_as_an_identifier(values, is_identifier):
    frame = pd.DataFrame({"other": [1.0, 0.0, 1.0, 1.0], "it": values})
    assert identifier_columns(frame) == (["it"] if is_identifier else [])
    assert transform(frame)[:, 0].tolist() == [1, 0, 1, 1]
    if is_identifier:
        assert transform(frame).shape == (4, 1)


def test_numbers_with_a_stray_cell_are_no_identifier():
    sizes = ["1.5", "2.5", "?", "4", "1e3", "x"]
    assert identifier_columns(pd.DataFrame({"size": sizes[:5]})) == []
    assert identifier_columns(pd.DataFrame({"size": sizes})) == ["size"]


def test_arrays_and_tiny_tables_have_no_identifiers():
    assert identifier_columns(np.arange(6.0).reshape(3, 2)) == []
    assert identifier_columns(pd.DataFrame({"a": [1, 2]})) == []


def test_infinite_columns():
    frame = pd.DataFrame({"t": ["x", "y"], "a": [1.0, np.inf], "b": [np.nan, 0.0], "c": [-np.inf, 0.0]})
    assert infinite_columns(frame) == ["a", "c"]
    assert infinite_columns(frame[["t"]]) == []
    assert infinite_columns(np.array([[0.0, -np.inf], [np.nan, 1.0]])) == ["1"]
