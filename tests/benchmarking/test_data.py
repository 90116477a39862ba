import numpy as np
import pandas as pd
import pytest

from skecoc.benchmarking import DEFAULT_DATA_SETS, DataSet, load_data_sets
from skecoc.benchmarking.data import check_data_set, load_own
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


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_a_file_comes_first_under_its_own_name(tmp_path, write):
    path = tmp_path / ("iris.csv" if write == "to_csv" else "iris.parquet")
    getattr(pd.DataFrame({"a": [1.5, 2.5], "label": ["x", "y"]}), write)(path, index=False)
    own, shipped = load_data_sets(["iris"], path, "label")
    assert (own.name, shipped.name) == (path.name, "iris")
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
    y = load_own(tmp_path / "own.parquet", "label").y
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
        load_data_sets([], path, target)


def test_missing_optional_dependency_is_an_input_error(tmp_path, monkeypatch):
    def without_pandas(path, target):
        raise ImportError("load_table needs pandas")

    monkeypatch.setattr("skecoc.tables.reading.load_table", without_pandas)
    with pytest.raises(InputError, match="load_table needs pandas"):
        load_data_sets([], tmp_path / "own.csv", "label")


def test_nothing_to_note():
    assert check_data_set(data_set({"a": 5, "b": 5}), folds=5) == []


def test_rare_classes_are_noted():
    note = check_data_set(data_set({"a": 5, "b": 4, "c": 1}), folds=5)
    assert note == ["own: fewer rows than the 5 folds in class b, c: kept, but absent from some folds"]


def test_a_long_list_of_rare_classes_is_cut():
    counts = {"a": 9, "b": 9} | {f"r{i}": 1 for i in range(8)}
    (note,) = check_data_set(data_set(counts), folds=3)
    assert "in class r0, r1, r2, r3, r4 and 3 more: kept" in note


def test_identifiers_are_noted():
    frame = pd.DataFrame({"id": range(6), "size": [1.0, 2.0] * 3})
    note = check_data_set(data_set({"a": 3, "b": 3}, frame), folds=3)
    assert note == ["own: left out, as they only number or name the rows: column id"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (DataSet("own", np.zeros((0, 1)), np.array([], dtype=str)), "data set 'own' has no rows"),
        (data_set({"a": 3, "b": 3}, np.zeros((6, 0))), "data set 'own' has no columns to learn from"),
        (data_set({"a": 3, "b": 3}, pd.DataFrame({"id": range(6)})), "data set 'own' has no columns to learn from"),
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
