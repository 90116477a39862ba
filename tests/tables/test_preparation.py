"""Columns, classes in their order, groups and rows of a table before methods are tried on it."""

import numpy as np
import pandas as pd
import pytest

from skecoc.compare import DataSet, compare
from skecoc.compare.trials import split_rows
from skecoc.support.errors import InputError
from skecoc.tables.preparation import limit_rows, prepare_table

GRADES = np.array(["good", "bad", "fair", "bad", "good", "fair"] * 5)
FRAME = pd.DataFrame({"x": np.random.default_rng(0).normal(size=30), "who": np.repeat(list("pqrst"), 6)})


def prepared(y=GRADES, X=FRAME, name="grades.csv", own_order=(), **options):
    return prepare_table(DataSet(name, X, y, order=own_order), **options)


def test_classes_are_sorted_unless_an_order_is_given():
    table = prepared()
    assert table.classes.tolist() == ["bad", "fair", "good"]
    assert table.data_set.y[:3].tolist() == [2, 0, 1]
    ordered = prepared(order=["bad", "good", "fair"])
    assert ordered.classes.tolist() == ["bad", "good", "fair"]
    assert ordered.data_set.y[:3].tolist() == [1, 0, 2]
    assert ordered.labels[:3].tolist() == ["good", "bad", "fair"]
    # Each class moves: the order is no exchange of two, which would be its own inverse.
    assert prepared(order=["fair", "good", "bad"]).data_set.y[:3].tolist() == [1, 2, 0]


def test_the_order_of_an_ordered_category_is_kept_unless_another_is_given():
    own = ["fair", "bad", "good"]
    assert prepared(own_order=own).classes.tolist() == own
    assert prepared(own_order=own, order=own[::-1]).classes.tolist() == own[::-1]
    assert prepared(own_order=own, methods=["ordinal/loss-weighted"]).notes == []


def test_numbers_can_be_ordered_by_their_names():
    table = prepared(np.array([1, 2, 3] * 10), order=["3", "1", "2"])
    assert table.classes.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": ["bad", "fair", "god"]}, "order: 'god' is not a class of the table (did you mean 'good'?)"),
        ({"order": ["bad", "fair"]}, "order: expected every class once; 'good' is missing or repeated"),
        ({"order": ["bad", "fair", "good", "good"]}, "order: expected every class once; one is missing or repeated"),
        ({"group": "whom"}, "group: 'whom' is not a column of the table (did you mean 'who'?)"),
        ({"drop": ["z"]}, "drop: 'z' is not a column of the table"),
        ({"drop": ["x", "who"]}, "no column is left to learn from"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError) as caught:
        prepared(**options)
    assert message in str(caught.value)


def test_a_group_that_is_missing():
    with pytest.raises(InputError, match="group: column 'who' is missing in 1 rows; expected one in each"):
        prepared(X=FRAME.assign(who=[None, *FRAME["who"][1:]]), group="who")


def test_groups_are_on_one_side_of_every_split_and_no_feature():
    table = prepared(group="who")
    assert list(table.data_set.X.columns) == ["x"]
    groups = table.data_set.groups
    for train, test in split_rows(table.data_set.y, "table", 0, 5, 0, groups):
        assert not set(groups[train]) & set(groups[test])
        assert len(test)
    with pytest.raises(InputError, match="folds: 6 is more than the 5 groups"):
        split_rows(table.data_set.y, "table", 0, 6, 0, groups)


def test_renaming_a_table_changes_nothing():
    results = [compare([prepared(name=name).data_set], ["one-vs-one"], folds=3) for name in ("a.csv", "b.csv")]
    assert results[0].runs("accuracy").tolist() == results[1].runs("accuracy").tolist()


def test_the_ordinal_code_warns_of_the_alphabet():
    methods = ["ordinal/loss-weighted"]
    (note,) = prepared(methods=methods).notes
    assert note == (
        "the ordinal code uses the alphabetical order of the classes ('bad' < 'fair' < 'good'); --order sets another"
    )
    assert prepared(methods=methods, order=["bad", "fair", "good"]).notes == []
    assert prepared(np.array([1, 2, 3] * 10), methods=methods).notes == []
    assert prepared(methods=["one-vs-one/hamming"]).notes == []


def test_rows_are_limited_class_by_class():
    y = np.array(["a"] * 900 + ["b"] * 95 + ["c"] * 5)
    data_set = prepared(y, pd.DataFrame({"x": np.random.default_rng(0).normal(size=1000)})).data_set
    limited, notes = limit_rows(data_set, 100, seed=0)
    assert np.bincount(limited.y).tolist() == [90, 10, 3]
    assert len(limited.X) == 103
    assert notes == ["methods are compared on 103 of the 1000 rows (--max-rows)"]
    assert limit_rows(data_set, 1000, seed=0) == (data_set, [])
    again, _ = limit_rows(data_set, 100, seed=0)
    pd.testing.assert_frame_equal(again.X, limited.X)


def test_the_rows_that_are_left_keep_their_groups():
    table = prepared(group="who")
    limited, _ = limit_rows(table.data_set, 12, seed=0)
    assert limited.groups.tolist() == FRAME["who"][limited.X.index].tolist()


def test_a_column_that_gives_the_class_away_is_pointed_out():
    code = pd.Series(GRADES).map({"bad": 3, "fair": 7, "good": 5})
    (note,) = prepared(X=FRAME.assign(code=code)).notes
    assert note == (
        "all rows with the same 'code' have the same class: is that known before the class is? --drop leaves it out"
    )
    assert prepared(X=FRAME.assign(code=code.where(code.index > 0, 3))).notes == []
    assert prepared(X=FRAME.assign(code=np.arange(30) * 1.5)).notes == []


def test_a_few_fractions_are_classes_and_many_are_a_measurement():
    table = prepared(np.array([0.5, 1.5, 2.5] * 10))
    assert table.classes.tolist() == ["0.5", "1.5", "2.5"]
    with pytest.raises(InputError, match=r"labels that are not classes, but 30 different numbers such as 0\.1"):
        prepared(np.arange(30) + 0.1)
