import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skecoc.support.errors import InputError
from skecoc.tables import as_data_set
from skecoc.tables.columns import MAX_CATEGORIES, identifier_columns
from skecoc.tables.preprocessing import make_preprocessor, read_data_set


def transform(train, test=None):
    """Fit on the first table, transform the second (or the first)."""
    preprocessor = clone(make_preprocessor(train)).fit(train)
    return preprocessor.transform(train if test is None else test)


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


def test_tiny_tables_have_no_identifiers():
    assert identifier_columns(pd.DataFrame({"a": [1, 2]})) == []


def test_a_table_as_a_data_set_has_its_preprocessor_and_notes():
    frame = pd.DataFrame({"id": range(6), "size": [1.0, 2.0] * 3, "colour": ["red", None] * 3})
    data_set = as_data_set("own", frame, list("ababab"))
    assert data_set.notes == ["own: left out, as they only number or name the rows: column id"]
    X_train, X_test, _ = data_set.prepared(np.arange(4), np.arange(4, 6))
    np.testing.assert_array_equal(X_train, [[0, 0, 1], [1, 1, 0]] * 2)
    np.testing.assert_array_equal(X_test, X_train[:2])
    assert as_data_set("own", frame[["size"]], list("ababab")).notes == []


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"id": range(6)}), "data set 'own' has no columns to learn from besides the target"),
        (pd.DataFrame({"t": ["x", "y"], "a": [1.0, np.inf], "b": [np.nan, 0], "c": [-np.inf, 0]}), "in column a, c$"),
    ],
)
def test_tables_that_are_no_data_sets(frame, message):
    with pytest.raises(InputError, match=message):
        as_data_set("own", frame, np.arange(len(frame)) % 2)


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_a_file_is_read_under_its_own_name(tmp_path, write):
    path = tmp_path / ("iris.csv" if write == "to_csv" else "iris.parquet")
    getattr(pd.DataFrame({"a": [1.5, 2.5], "label": ["x", "y"]}), write)(path, index=False)
    own = read_data_set(path, "label")
    assert own.name == path.name
    assert own.X.columns.tolist() == ["a"]
    assert own.y.tolist() == ["x", "y"]
    assert own.y.dtype.kind == "U"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]),
        (pd.to_timedelta(["1D", "2D"]), ["1 days 00:00:00", "2 days 00:00:00"]),
        ([b"x", b"\xff"], ["b'x'", "b'\\xff'"]),
        ([True, False], [True, False]),
    ],
)
def test_labels_that_no_model_could_hold_become_text(tmp_path, labels, expected):
    pd.DataFrame({"a": [1.5, 2.5], "label": labels}).to_parquet(tmp_path / "own.parquet")
    y = read_data_set(tmp_path / "own.parquet", "label").y
    assert y.tolist() == expected
    assert y.dtype.kind in "bU"


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        (None, "label", "data='.*own.csv': there is no such file"),
        ("", "label", "data='.*own.csv' is empty"),
        ("a,label\n", "label", "has a header but no rows"),
        ("a,label\n1,x\n2,y\n", "lable", "target='lable' is not a column"),
        ("a,label\n1,x\n2,x\n", "label", "target='label' has a single class"),
        ("a,label\n1,x\n2,\n", "label", "target='label' is missing in 1 of 2 rows"),
        ("a,label\n1,x\n2,y,z,w\n", "label", "data='.*own.csv' cannot be read as a table"),
        ("a,label\n1,x\n2,y\n", None, "target: expected the name of the column"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, content, target, message):
    path = tmp_path / "own.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_data_set(path, target)


def test_missing_optional_dependency_is_an_input_error(tmp_path, monkeypatch):
    def without_pandas(path, target):
        raise ImportError("load_table needs pandas")

    monkeypatch.setattr("skecoc.tables.preprocessing.load_table", without_pandas)
    with pytest.raises(InputError, match="load_table needs pandas"):
        read_data_set(tmp_path / "own.csv", "label")
