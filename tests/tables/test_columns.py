"""Kinds of columns, and cells of any origin that become values of that kind."""

import datetime as dt
import decimal
import io
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from skecoc.support.errors import InputError
from skecoc.tables.columns import (
    KINDS,
    kinds_of,
    names_of_classes,
    stray_cells,
    suspicious_columns,
    typed,
    useless_columns,
)

DAYS = [dt.date(2024, 1, 1), None, dt.date(2024, 3, 1)]
COLUMNS = {
    "whole": ([1, 5, 3], "number", [1.0, 5.0, 3.0]),
    "nullable whole": (pd.array([1, None, 3], dtype="Int64"), "number", [1.0, np.nan, 3.0]),
    "float": ([1.5, np.nan, 2.0], "number", [1.5, np.nan, 2.0]),
    "decimal": ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], "number", [1.5, np.nan, 2.0]),
    "nothing": ([None, None, None], "number", [np.nan, np.nan, np.nan]),
    "boolean": ([True, False, True], "boolean", [1.0, 0.0, 1.0]),
    "nullable boolean": (pd.array([True, None, False], dtype="boolean"), "boolean", [1.0, np.nan, 0.0]),
    "boolean objects": ([True, None, False], "boolean", [1.0, np.nan, 0.0]),
    "time": (pd.to_datetime(["2024-01-01", None, "2024-03-01"]), "date", ["2024-01-01", "NaT", "2024-03-01"]),
    "day": (DAYS, "date", ["2024-01-01", "NaT", "2024-03-01"]),
    "iso": (["2024-01-01", None, "2024-03-01 02:00+02:00"], "date", ["2024-01-01", "NaT", "2024-03-01"]),
    "duration": (pd.to_timedelta(["1D", None, "2D"]), "duration", pd.to_timedelta(["1D", None, "2D"]).tolist()),
    "text": (["x", None, "1"], "text", ["x", np.nan, "1"]),
    "string": (pd.array(["x", None, "z"], dtype="string"), "text", ["x", np.nan, "z"]),
    "category": (pd.Categorical(["a", "b", None]), "text", ["a", "b", np.nan]),
    "numbered category": (pd.Categorical([1, 2, None]), "text", ["1", "2", np.nan]),
    "mixed": (["a", 1, 2.5], "text", ["a", "1", "2.5"]),
    "lists": ([[1], [2, 3], None], "text", ["[1]", "[2, 3]", np.nan]),
    "complex": ([1j, 2j, 3j], "text", ["1j", "2j", "3j"]),
    "no such day": (["2024-02-31", "2024-01-01", None], "text", ["2024-02-31", "2024-01-01", np.nan]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_kinds_and_values(name):
    values, kind, expected = COLUMNS[name]
    frame = pd.DataFrame({"it": values})
    assert kinds_of(frame) == {"it": kind}
    found = typed(frame, {"it": kind})["it"]
    if kind == "date":
        expected = pd.to_datetime(pd.Series(expected)).astype("datetime64[us]")
    pd.testing.assert_series_equal(
        found, pd.Series(expected, name="it", dtype=found.dtype), check_exact=True, check_index_type=False
    )


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("lists", "complex", "nothing")])
def test_text_from_a_file_becomes_the_same_values(name):
    values, kind, _ = COLUMNS[name]
    frame = pd.DataFrame({"it": values})
    text = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, skip_blank_lines=False)
    pd.testing.assert_frame_equal(typed(text, {"it": kind}), typed(frame, {"it": kind}), check_index_type=False)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("number", "abc"),
        ("number", "1,5"),
        ("number", "1_000"),
        ("number", "inf"),
        ("number", "1e999"),
        ("boolean", "maybe"),
        ("boolean", "2"),
        ("date", "yesterday"),
        ("date", "2024-13-01"),
        ("duration", "long"),
    ],
)
def test_cells_of_another_kind_are_named(kind, cell):
    frame = pd.DataFrame({"it": [np.nan, np.nan, cell]}, index=[40, 41, 42], dtype=object)
    with pytest.raises(InputError) as caught:
        typed(frame, {"it": kind})
    assert str(caught.value) == f"row 43: column 'it' holds {cell!r}, expected {KINDS[kind]}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_any_values_meet_any_kind_without_a_defect(name, kind):
    with suppress(InputError):
        typed(pd.DataFrame({"it": COLUMNS[name][0]}), {"it": kind})


def test_columns_are_taken_by_name():
    frame = pd.DataFrame({"b": ["2"], "extra": ["x"], "a": ["1"]})
    assert typed(frame, {"a": "number", "b": "text"}).to_dict("list") == {"a": [1.0], "b": ["2"]}
    with pytest.raises(InputError, match="column 'c' is missing"):
        typed(frame, {"a": "number", "c": "number"})


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1, 2, 3, 4], "identifier"),
        ([4, 3, 2, 1], "identifier"),
        ([1, 2, 4, 5], None),
        ([1.0, 2.0, 3.0, 4.0], None),
        (["a", "b", "c", "d"], "identifier"),
        (["a", "b", "c", "a"], None),
        (["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"], None),
        (["a", "a", "a", "a"], "constant"),
        (["a", "a", "a", None], None),
        ([7.0, 7.0, 7.0, None], "constant"),
        ([None, None, None, None], "constant"),
        ([True, True, True, True], "constant"),
    ],
)
def test_useless_columns(values, reason):
    frame = pd.DataFrame({"it": values})
    assert useless_columns(frame, kinds_of(frame)) == ({"it": reason} if reason else {})


def test_suspicious_columns():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "patient_id": random.integers(0, 9, 300),
            "UUID": ["x"] * 300,
            "grid": random.integers(0, 9, 300),
            "number": random.permutation(300) * 3,
            "remark": [f"remark {i % 200}" for i in range(300)],
            "town": [f"town {i % 20}" for i in range(300)],
        }
    )
    assert suspicious_columns(frame, kinds_of(frame)) == {
        "patient_id": "its name says so",
        "UUID": "its name says so",
        "number": "whole numbers that are all different",
        "remark": "text with 200 different values in 300 rows",
    }
    assert suspicious_columns(frame[["number"]].iloc[:19], {"number": "number"}) == {}


def test_numbers_with_stray_cells_are_pointed_out_and_no_identifiers():
    sizes = [str(i / 4) for i in range(300)]
    frame = pd.DataFrame({"size": ["0", None, "1", "?", *sizes[4:]], "code": sizes, "town": ["a", "1"] * 150})
    frame["rows"] = [*sizes[:-1], "unknown"]
    kinds = dict.fromkeys(frame, "text")
    assert stray_cells(frame.set_index(frame.index + 7), kinds) == {
        "size": "row 4 holds '?', 298 of 299 cells are numbers",
        "rows": "row 300 holds 'unknown', 299 of 300 cells are numbers",
    }
    assert list(useless_columns(frame, kinds)) == ["code"]
    assert list(suspicious_columns(frame, kinds)) == ["code"]
    assert stray_cells(pd.DataFrame({"a": [None, None]}), {"a": "text"}) == {}


@pytest.mark.parametrize(
    ("truth", "classes", "expected"),
    [
        ([1.0, 2.0, 3.5], [1, 2], ["1", "2", "3.5"]),
        (["1.0", "02", "x"], [1, 2], ["1", "2", "x"]),
        ([1, 2], [1.0, 2.0], ["1.0", "2.0"]),
        (["true", "FALSE", "maybe"], [False, True], ["True", "False", "maybe"]),
        ([True, False], ["false", "true"], ["true", "false"]),
        ([1.0, 2.0], ["1", "2"], ["1", "2"]),
        (["1.0", "TRUE"], ["1", "true"], ["1.0", "TRUE"]),
        ([1.0, 2.0], ["1", "01", "2"], ["1.0", "2"]),
        ([2**60, 2**60 + 1, 5], [2**60, 2**60 + 1], [str(2**60), str(2**60 + 1), "5"]),
        ([], [1, 2], []),
    ],
)
def test_classes_are_the_same_whatever_their_type(truth, classes, expected):
    assert names_of_classes(pd.Series(truth), np.array(classes)).tolist() == expected
