"""How numbers are written: what is one, and which mark is which."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from skecoc.tables.numbers import Marks, guess_marks, number_column, parse_numbers, shown_decimal, typed_column

pd = pytest.importorskip("pandas")

POINT = {
    "5.1": 5.1,
    "-5": -5.0,
    "+5": 5.0,
    ".5": 0.5,
    "5.": 5.0,
    "1e-3": 0.001,
    " 7 ": 7.0,
    "\u00a07": 7.0,
    "inf": np.inf,
    "-Infinity": -np.inf,
    "12,345": 12345.0,
    "1,234,567.25": 1234567.25,
    "1 234.5": 1234.5,
    "1\u00a0234": 1234.0,
    "1\u202f234": 1234.0,
    "1'234'567": 1234567.0,
    "1’234": 1234.0,
    "$1,234.50": 1234.5,
    "€ 5": 5.0,
    "5 €": 5.0,
    "5\u00a0€": 5.0,
    "-$5": -5.0,
    "$-5": -5.0,
    "CHF 5": 5.0,
    "5 EUR": 5.0,
    "₹1,000": 1000.0,
    "45%": 0.45,
    "12.5 %": 0.125,
    "(1,234)": -1234.0,
    "($5.50)": -5.5,
    "(3%)": -0.03,
    "\u22125.5": -5.5,
    "–5": -5.0,
}
NO_NUMBERS = ["", " ", "abc", "1,23", "1,2345", "12,34,567", "0,123", "1.2.3", "01.02.2024", "5-6", "--5", "(5", "5)"]
NO_NUMBERS += [
    "-(5)",
    "5%%",
    "%",
    "$",
    "12:30",
    "SKU 5",
    "1 23",
    "1 2345",
    "e5",
    "1e",
    "0x10",
    "1_000",
    "٣",
    "nan",
    "-",
    "true",
]


@pytest.mark.parametrize("text", POINT)
def test_numbers_with_decimal_points(text):
    assert parse_numbers([text], ".", ",").tolist() == [POINT[text]]


@pytest.mark.parametrize("text", POINT)
def test_numbers_with_decimal_commas(text):
    swapped = text.translate(str.maketrans(",.", ".,"))
    assert parse_numbers([swapped], ",", ".").tolist() == [POINT[text]]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(text):
    assert np.isnan(parse_numbers([text], ".", ",")).all()


def test_without_a_thousands_mark_only_blanks_and_apostrophes_are_one():
    found = parse_numbers(["1,234", "1 234", "1'234", None, np.nan, 5])
    np.testing.assert_array_equal(found, [np.nan, 1234, 1234, np.nan, np.nan, np.nan])


@given(st.lists(st.floats(allow_nan=False)), st.sampled_from([".", ","]), st.booleans())
def test_numbers_are_read_as_they_were_written(values, decimal, has_groups):
    """Whatever Python writes is read back exactly, with either mark, with thousands or without."""
    thousands = "." if decimal == "," else ","
    texts = [f"{value:{',' if has_groups else ''}}" for value in values]
    if decimal == ",":
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    np.testing.assert_array_equal(parse_numbers(texts, decimal, thousands), values)


@given(st.lists(st.text("0123456789.,'-+%$€ ()eE−\u00a0", max_size=9)), st.sampled_from([".", ","]))
def test_any_text_is_a_number_or_not_and_digits_decide(texts, decimal):
    found = parse_numbers(texts, decimal, "," if decimal == "." else ".")
    for text, value in zip(texts, found, strict=True):
        assert np.isnan(value) or any(letter.isdigit() for letter in text)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["5,1", "4"], ","),
        (["5.1", "4"], "."),
        (["1,234"], None),
        (["1.234"], None),
        (["1,234", "0,5"], ","),
        (["0,123"], ","),
        (["1.234,5"], ","),
        (["1,234.5"], "."),
        (["1.234.567"], ","),
        (["1,234,567"], "."),
        (["12", "13"], None),
        ([], None),
        (["a,b", "c,d"], None),
        (["01.02.2024", "02.02.2024"], None),
        (["5,1", "4,9", "6,3", "5,5", "x"], ","),
        (["$ 5,10"], ","),
        (["5,1%"], ","),
    ],
)
def test_which_decimal_mark_cells_show(cells, mark):
    assert shown_decimal(cells) == mark
    assert shown_decimal(cells * 3000) == mark


def test_other_columns_settle_what_one_leaves_open():
    ambiguous = {"people": ["1,234", "2,345"]}
    assert guess_marks(ambiguous).decimal == "."
    assert guess_marks(ambiguous, usual=",").decimal == ","
    assert guess_marks({**ambiguous, "length": ["5,1"]}).decimal == ","
    assert guess_marks({**ambiguous, "length": ["5.1"]}, usual=",").decimal == "."


def test_columns_may_differ():
    marks = guess_marks({"a": ["5,1"], "b": ["0.5"], "c": ["0,7"], "d": ["1,234"]})
    assert [marks.decimal_of(name) for name in "abcd"] == [",", ".", ",", ","]


def test_given_marks_hold_whatever_cells_show():
    assert guess_marks({"a": ["5,1"]}, decimal=".") == Marks(".", None, is_fixed=True)
    assert guess_marks({"a": ["5.1"]}, thousands=".").decimal == ","
    assert guess_marks({"a": ["5.1"]}, thousands=",").decimal == "."
    marks = guess_marks({"a": ["5,1"]}, thousands=" ")
    assert (marks.decimal, marks.is_fixed) == (",", False)
    assert marks.parse(["1 234,5", "1.234,5"], ",").tolist()[0] == 1234.5


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["1", None], [1.0, np.nan]),
        (["01", "1e3"], [1.0, 1000.0]),
        (["true", "FALSE"], [True, False]),
        (["true", "1"], ["true", "1"]),
        (["1", "b"], ["1", "b"]),
        ([None, None], [np.nan, np.nan]),
        (["9007199254740993", "1"], [9007199254740993, 1]),
        (["12,345", "6"], [12345, 6]),
        (["12,345", None], [12345.0, np.nan]),
        (["5,1", "1,234"], [5.1, 1.234]),
        (["$1,234.50", "$3"], [1234.5, 3.0]),
        (["45%", "100%"], [0.45, 1.0]),
        (["5,1", "x"], ["5,1", "x"]),
        (["192.168.100.1", "10.0.0.1"], ["192.168.100.1", "10.0.0.1"]),
    ],
)
def test_types_of_text(cells, expected):
    found = typed_column(pd.Series(cells, dtype=object), Marks())
    is_text = isinstance(expected[0], str)
    pd.testing.assert_series_equal(found, pd.Series(expected, dtype=object if is_text else None))


def test_a_decimal_comma_elsewhere_makes_points_thousands():
    points = pd.Series(["1.234", "2.345"])
    assert typed_column(points, Marks(".")).tolist() == [1.234, 2.345]
    assert typed_column(points, Marks(",")).tolist() == [1234, 2345]
    assert typed_column(pd.Series(["1.5", "2.345"]), Marks(",")).tolist() == [1.5, 2.345]


def test_cells_that_are_no_numbers_stay_among_numbers():
    found = number_column(pd.Series(["5,1", "x", None, "(3)"], index=[4, 5, 6, 7]), Marks(","))
    assert found.dtype == object
    assert found[[4, 5, 7]].tolist() == [5.1, "x", -3.0]
    assert pd.isna(found[6])
    assert number_column(pd.Series(["5,1", None]), Marks(",")).dtype == np.float64
