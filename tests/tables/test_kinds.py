"""Kinds of columns, and cells of any origin that become values of that kind."""

import datetime as dt
import decimal
import io

import numpy as np
import pandas as pd
import pytest

from skecoc.support.errors import InputError
from skecoc.tables.kinds import (
    KINDS,
    Strays,
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
    "missing words": (["a", "NA", ""], "text", ["a", np.nan, np.nan]),
    "numbered category": (pd.Categorical([1, 2, None]), "number", [1.0, 2.0, np.nan]),
    "number text": (["1", None, " 2.5"], "number", [1.0, np.nan, 2.5]),
    "boolean text": (["true", None, "False"], "boolean", [1.0, np.nan, 0.0]),
    "day first": (["25.11.2007", None, "1.2.07"], "date, day first", ["2007-11-25", "NaT", "2007-02-01"]),
    "month first": (["11/25/07", None, "1/2/2007"], "date, month first", ["2007-11-25", "NaT", "2007-01-02"]),
    "clock": (["14:30", None, "2:05 am"], "time", ["1970-01-01 14:30", "NaT", "1970-01-01 02:05"]),
    "clock objects": ([dt.time(14, 30), None, dt.time(1)], "time", ["1970-01-01 14:30", "NaT", "1970-01-01 01:00"]),
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
    if kind.startswith("date") or kind == "time":
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
        ("number", "1_000"),
        ("number", "few"),
        ("number", "inf"),
        ("number", "1e999"),
        ("boolean", "maybe"),
        ("boolean", "2"),
        ("date", "yesterday"),
        ("date", "2024-13-01"),
        ("date", "31.4.2024"),
        ("date, day first", "11/25/2007"),
        ("date, month first", "25/11/2007"),
        ("time", "25:00"),
        ("time", "0:30 pm"),
        ("duration", "long"),
    ],
)
def test_cells_of_another_kind_are_missing_and_counted(kind, cell):
    frame = pd.DataFrame({"it": [np.nan, " ", cell, cell]}, index=[40, 41, 42, 43], dtype=object)
    strays = {}
    assert typed(frame, {"it": kind}, strays)["it"].isna().all()
    assert strays == {"it": Strays(2, 43, cell)}
    typed(frame.set_axis([44, 45, 46, 47]), {"it": kind}, strays)
    assert strays == {"it": Strays(4, 43, cell)}


def test_infinite_numbers_are_counted_whatever_the_index():
    frame = pd.DataFrame({"a": [1.0, -np.inf], "b": [1.0, 2.0]}, index=["x", "y"])
    strays = {}
    assert typed(frame, {"a": "number", "b": "number"}, strays)["a"].isna().tolist() == [False, True]
    assert strays == {"a": Strays(1, 2, "-inf")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_any_values_meet_any_kind_without_a_defect(name, kind):
    values = pd.Series(COLUMNS[name][0])
    strays = {}
    found = typed(pd.DataFrame({"it": values}), {"it": kind}, strays)["it"]
    n_lost = int((found.isna() & values.notna() & ~values.isin(["NA", ""])).sum())
    assert n_lost == (strays["it"].count if strays else 0)


DAY = "2007-11-25"


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        (["2007-11-25", "2007-01-02"], "date", [DAY, "2007-01-02"]),
        (["2007-11-25T14:30", "2007-01-02 00:00:00.5"], "date", ["2007-11-25 14:30", "2007-01-02 00:00:00.5"]),
        (["2007-11-25 16:30+02:00", "2007-01-02T00:30Z"], "date", ["2007-11-25 14:30", "2007-01-02 00:30"]),
        (["2007-11-25 02:30 PM", "2007-1-2"], "date", ["2007-11-25 14:30", "2007-01-02"]),
        (["2007/11/25", "2007/1/2"], "date", [DAY, "2007-01-02"]),
        (["Nov 25, 2007", "January 2 2007"], "date", [DAY, "2007-01-02"]),
        (["25 Nov 2007", "2-Jan-07"], "date", [DAY, "2007-01-02"]),
        (["25. November 2007", "2nd Sept. 2007"], "date", [DAY, "2007-09-02"]),
        (["Sun, 25 Nov 2007 14:30:15", "Tuesday, 2 January 2007"], "date", ["2007-11-25 14:30:15", "2007-01-02"]),
        (["11/25/07", "1/2/69"], "date, month first", [DAY, "1969-01-02"]),
        (["25/11/07", "1/2/68"], "date, day first", [DAY, "2068-02-01"]),
        (["01/02/2007", "03/04/2007"], "date, month first", ["2007-01-02", "2007-03-04"]),
        (["01.02.2007", "03.04.2007"], "date, day first", ["2007-02-01", "2007-04-03"]),
        (["01-02-2007", "03-04-2007"], "date, day first", ["2007-02-01", "2007-04-03"]),
        (["11.25.2007", "01.02.2007"], "date, month first", [DAY, "2007-01-02"]),
        (["11/25/2007 2:30 PM", "1/2/2007 12:00 am"], "date, month first", ["2007-11-25 14:30", "2007-01-02"]),
        (["25.11.2007, 14:30", "1.2.2007"], "date, day first", ["2007-11-25 14:30", "2007-02-01"]),
        (["25.11.2007", "2007-11-25"], "date, day first", [DAY, DAY]),
    ],
)
def test_dates_as_people_write_them(cells, kind, expected):
    frame = pd.DataFrame({"it": cells})
    assert kinds_of(frame) == {"it": kind}
    assert typed(frame, {"it": kind})["it"].tolist() == pd.to_datetime(expected, format="ISO8601").tolist()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["2007", "2008", "1999"], "number"),
        (["20071125", "20080102"], "number"),
        (["1.2.3", "1.10.2"], "text"),
        (["31/31/2007", "30/30/2007"], "text"),
        (["Mai 3, 2007", "Foo 4, 2007"], "text"),
        (["25/11/2007", "11/25/2007"], "text"),
        (["12", "7", "3", "9", "?"], "number"),
        (["12", "7", "3", "n"], "text"),
        (["2007-11-25", "2007-11-26", "2007-11-27", "2007-11-28", "soon"], "date"),
        (["2007-11-25", "2007-11-26", "2007-11-27", "soon"], "text"),
        (["14:30", "14:31", "14:99"], "text"),
        (["", " ", ""], "number"),
        (["true", "false", ""], "boolean"),
        (["true", "false", "1"], "text"),
        (["yes", "no", "yes"], "text"),
    ],
)
def test_kinds_follow_from_most_cells(cells, kind):
    assert kinds_of(pd.DataFrame({"it": cells})) == {"it": kind}


def test_text_is_told_from_categories_and_sentences():
    random = np.random.default_rng(0)
    words = [f"word{i}" for i in range(40)]
    kinds = {
        "few": random.choice([f"v{i}" for i in range(40)], 400),
        "many": random.choice([f"v{i}" for i in range(60)], 400),
        "sentence": [" ".join(random.choice(words, 6)) for _ in range(400)],
        "phrase": random.choice([" ".join(random.choice(words, 6)) for _ in range(9)], 400),
        "two words": [" ".join(random.choice(words, 2)) for _ in range(400)],
        "codes": [f"{i:03}-ab{i}-cd{i}-xy{i}" for i in range(400)],
    }
    found = kinds_of(pd.DataFrame(kinds))
    assert list(found.values()) == ["text", "category", "sentence", "text", "category", "category"]
    some = kinds_of(
        pd.DataFrame({"it": kinds["sentence"][:9], "chinese": ["我的快递还没有到", "我的密码不对", "快递在哪里"] * 3})
    )
    assert some == {"it": "sentence", "chinese": "text"}


def test_columns_are_taken_by_name():
    frame = pd.DataFrame({"b": ["2"], "extra": ["x"], "a": ["1"]})
    assert typed(frame, {"a": "number", "b": "text"}).to_dict("list") == {"a": [1.0], "b": ["2"]}
    with pytest.raises(InputError, match="column 'c' is missing"):
        typed(frame, {"a": "number", "c": "number"})
    numbered = pd.DataFrame([[1, "x"], [2, "y"]], index=["same", "same"])
    assert typed(numbered, kinds_of(numbered)).to_dict("list") == {"0": [1.0, 2.0], "1": ["x", "y"]}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1, 2, 3, 4], "identifier"),
        ([4, 3, 2, 1], "identifier"),
        ([1, 2, 4, 5], None),
        ([1.0, 2.0, 3.0, 4.0], "identifier"),
        (["a", "b", "c", "d"], "identifier"),
        (["a", "b", "c", "a"], None),
        (["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"], None),
        (["a", "a", "a", "a"], "constant"),
        (["a", "a", "a", None], None),
        ([7.0, 7.0, 7.0, None], "constant"),
        ([7.0, None] * 5, None),
        (["2024-01-01", None] * 5, None),
        (["2024-01-01", "2024-01-01", "2024-01-01", None], "constant"),
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
            "number": random.permutation(300) * 3.0,
            "half": random.permutation(300) / 2,
            "remark": [f"remark {i % 200}" for i in range(300)],
            "sentence": [f"the cat number {i % 200} sat on the mat" for i in range(300)],
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


def test_stray_cells_are_pointed_out_and_make_no_text():
    sizes = [str(i / 4) for i in range(300)]
    frame = pd.DataFrame({"size": ["0", None, "1", "few", *sizes[4:]], "code": sizes, "town": ["a", "1"] * 150})
    frame["rows"] = [*sizes[:-1], "unknown"]
    frame["day"] = ["yesterday", "n", *pd.date_range("2024-01-01", periods=298).strftime("%m/%d/%Y")]
    frame["high"] = [1.0, *[np.inf] * 2, *[2.0] * 297]
    kinds = kinds_of(frame)
    assert kinds == {
        "size": "number",
        "code": "number",
        "town": "text",
        "rows": "number",
        "day": "date, month first",
        "high": "number",
    }
    assert stray_cells(frame.set_index(frame.index + 7), kinds) == {
        "size": "1 cell holds no finite number (the first 'few' in row 4) and counts as missing",
        "rows": "1 cell holds no finite number (the first 'unknown' in row 300) and counts as missing",
        "day": "2 cells hold no date (the first 'yesterday' in row 1) and count as missing",
        "high": "2 cells hold no finite number (the first 'inf' in row 2) and count as missing",
    }
    assert useless_columns(frame, kinds) == {}
    assert suspicious_columns(frame, kinds) == {}
    assert stray_cells(pd.DataFrame({"a": [None, None]}), {"a": "number"}) == {}


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
