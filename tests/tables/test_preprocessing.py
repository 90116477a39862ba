"""What the columns of a table become."""

import decimal
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skecoc.support.errors import InputError
from skecoc.tables import as_data_set
from skecoc.tables.kinds import kinds_of, suspicious_columns, typed, useless_columns
from skecoc.tables.model import choose_columns
from skecoc.tables.preprocessing import MAX_CATEGORIES, encoded_sources, make_preprocessor
from tests.tables.things import make_messages


def transform(train, test=None, y=None, **parameters):
    """Fit on the first table, transform the second (or the first)."""
    kinds = kinds_of(train)
    values = typed(train, kinds)
    preprocessor = clone(make_preprocessor(kinds)).set_params(**parameters)
    encoded = preprocessor.fit_transform(values, y)
    return encoded if test is None else preprocessor.transform(typed(test, kinds))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, None, 6.0], [0, 0.5, 1]),
        (["2", "?", "3", "6", "5", "2"], [0, 0.25, 0.25, 1, 0.75, 0]),
        (pd.array([2, None, 6], dtype="Int64"), [0, 0.5, 1]),
        ([2.0, np.inf, 6.0], [0, 0.5, 1]),
        ([True, False, False], [1, 0, 0]),
        (pd.array([True, None, False], dtype="boolean"), [1, 0.5, 0]),
        (pd.to_datetime(["2024-01-01", None, "2024-01-05"]), [0, 0.5, 1]),
        (pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05"], utc=True), [0, 0.25, 1]),
        (["12:00", "6:00 pm", "18:30", "24:00", "12:15", "17:00"], [0, 12 / 13, 1, 10 / 13, 1 / 26, 10 / 13]),
        (pd.to_timedelta(["1D", "2D", "5D"]), [0, 0.25, 1]),
        (["1 days", "2 days 00:00:00", "5 days"], [0, 0.25, 1]),
    ],
    ids=[
        "float",
        "stray",
        "nullable-int",
        "infinite",
        "bool",
        "nullable-bool",
        "date",
        "date-with-zone",
        "time",
        "duration",
        "duration-text",
    ],
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


def test_kinds_are_ordered_numbers_dates_text():
    frame = pd.DataFrame(
        {"t": ["u", "u", "v"], "d": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]), "n": [1.0, 0.5, 0.0]}
    )
    encoded = transform(frame)
    np.testing.assert_allclose(encoded[:, [0, 1, 2, -2, -1]], [[1, 0, 0, 1, 0], [0.5] * 3 + [1, 0], [0, 1, 1, 0, 1]])


def test_dates_become_what_differs_between_them():
    days = pd.DataFrame({"d": ["2024-01-01", "2024-01-06", "2024-03-04", "2024-03-09"]})
    encoded = transform(days)
    names = ["days", "month", "weekday", "weekday_sin", "weekday_cos"]
    np.testing.assert_allclose(encoded[:, 0], np.array([0, 5, 63, 68]) / 68)
    np.testing.assert_allclose(encoded[:, names.index("month")], [0, 0, 1, 1])
    np.testing.assert_allclose(encoded[:, names.index("weekday")], [0, 1, 0, 1])  # Mondays and Saturdays
    assert encoded.shape == (4, len(names))
    # A leap year in between: the season is that of the day, not of the elapsed time.
    years = transform(pd.DataFrame({"d": ["2023-07-03 06:00", "2024-01-01 18:00", "2024-07-02 06:00"]}))
    names = ["days", "year", "month", "season_sin", "season_cos", "weekday", "weekday_sin", "weekday_cos"]
    names += ["hour", "hour_sin"]  # the cosine of 6 and 18 hours is 0 but for rounding
    season, hour = names.index("season_cos"), names.index("hour")
    assert years[0, season] == pytest.approx(years[2, season], abs=0.01)
    assert years[:, names.index("year")].tolist() == [0, 1, 1]
    np.testing.assert_allclose(years[:, hour], [0, 1, 0])
    assert transform(pd.DataFrame({"d": ["2024-01-01"] * 2})).tolist() == [[0.0], [0.0]]


def test_missing_dates_have_an_indicator_if_they_are_frequent():
    days = pd.date_range("2024-01-01", periods=40).astype(str).to_numpy(dtype=object)
    few, many = days.copy(), days.copy()
    few[:4], many[:5] = None, None
    n_parts = transform(pd.DataFrame({"d": days})).shape[1]
    assert transform(pd.DataFrame({"d": few})).shape[1] == n_parts
    assert transform(pd.DataFrame({"d": many}))[:, n_parts].tolist() == [1.0] * 5 + [0.0] * 35
    kept = transform(pd.DataFrame({"d": many}), **KEEP)
    assert kept.shape[1] == n_parts
    assert np.isnan(kept).all(axis=1).tolist() == [True] * 5 + [False] * 35


KEEP = {
    "numbers__pipeline__medianimputer__keep_missing": True,
    "dates__dateencoder__keep_missing": True,
    "dates__pipeline__medianimputer__keep_missing": True,
}


def test_gaps_have_an_indicator_if_they_are_frequent_and_stay_where_learners_take_them():
    n_rows = 100
    values = np.arange(n_rows) % 7.0
    few, many, same, most = (values.copy() for _ in range(4))
    few[:4] = many[:5] = same[:5] = most[:96] = np.nan
    frame = pd.DataFrame({"few": few, "many": many, "same": same, "most": most})
    encoded = transform(frame)
    assert encoded.shape == (n_rows, 5)
    assert encoded[:, 4].tolist() == [1.0] * 5 + [0.0] * 95
    assert not np.isnan(encoded).any()
    kept = transform(frame, **KEEP)
    np.testing.assert_array_equal(np.isnan(kept), frame.isna())
    values = typed(frame, kinds_of(frame))
    assert encoded_sources(make_preprocessor(kinds_of(values)).fit(values)).tolist() == [0, 1, 2, 3, 1]


def test_prepared_keeps_missing_values_on_demand():
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 5.0], "d": ["2024-01-01", None, "2024-01-03", "2024-01-05"]})
    data_set = as_data_set("own", frame, list("abab"))
    rows = np.arange(4)
    for keep in (False, True):
        X_train, X_test, _ = data_set.prepared(rows, rows, keep_missing=keep)
        assert np.isnan(X_train[1]).all() == np.isnan(X_test[1]).all() == keep
        assert np.isnan(X_train).any() == keep


def towns(n_rows, n_towns, n_classes=3):
    """Rows whose class depends on one of many towns."""
    random = np.random.default_rng(0)
    town = random.integers(n_towns, size=n_rows)
    y = np.where(random.random(n_rows) < 0.9, town % n_classes, random.integers(n_classes, size=n_rows))
    return pd.DataFrame({"town": [f"town {i}" for i in town]}), np.array([f"class {i}" for i in range(n_classes)])[y]


def test_categories_of_many_values_become_shares_of_the_classes():
    frame, y = towns(600, 60)
    assert kinds_of(frame) == {"town": "category"}
    new = pd.DataFrame({"town": ["town 0", "town 1", "town 2", "nowhere", None]})
    encoded = transform(frame, new, y)
    assert encoded.argmax(axis=1)[:3].tolist() == [0, 1, 2]
    np.testing.assert_allclose(encoded[3], encoded[4])
    assert (encoded[3] < 0.6).all()


def test_shares_of_the_classes_are_cross_fitted():
    """Classes that are drawn by lot stay a secret: a row must not be encoded by its own class."""
    frame, _ = towns(400, 200)
    y = np.random.default_rng(1).integers(2, size=400)
    inside = transform(frame, y=y)[:, 1]
    outside = transform(frame, frame, y)[:, 1]
    assert abs(np.corrcoef(inside, y)[0, 1]) < 0.15
    assert np.corrcoef(outside, y)[0, 1] > 0.4


def test_with_too_many_classes_or_none_frequent_values_have_indicators():
    frame, y = towns(2000, 150, n_classes=31)
    for classes in (None, y):
        assert transform(frame, y=classes).shape == (2000, MAX_CATEGORIES)
        assert transform(frame, pd.DataFrame({"town": ["nowhere"]}), classes).sum() == 1


def test_sentences_become_words_and_scores():
    frame, y = make_messages(200)
    assert kinds_of(frame[["message"]]) == {"message": "sentence"}
    encoded = transform(frame[["message"]], y=y)
    assert encoded.min() >= 0
    assert encoded.max() <= 1
    assert (encoded[:, -4:].argmax(axis=1) == y).mean() > 0.8
    new = pd.DataFrame({"message": ["My PASSWORD is wrong!", "refund, please: my money", None, "xyzzy", ""]})
    found = transform(frame[["message"]], new, y)
    assert found.shape[1] == encoded.shape[1] <= 104
    assert found[:2, -4:].argmax(axis=1).tolist() == [1, 3]
    assert (found[2:, :-4] == 0).all()
    np.testing.assert_array_equal(found[2], found[3])
    # More classes than can have a score each: words alone.
    many = transform(frame[["message"]], y=np.arange(200) % 50)
    np.testing.assert_allclose((many**2).sum(axis=1), 1)


def test_scores_of_sentences_are_cross_fitted():
    frame, _ = make_messages(200)
    y = np.random.default_rng(1).integers(2, size=200)
    inside, outside = transform(frame[["message"]], y=y), transform(frame[["message"]], frame, y)
    assert abs(np.corrcoef(inside[:, -1], y)[0, 1]) < 0.25
    assert np.corrcoef(outside[:, -1], y)[0, 1] > 0.4


DTYPES = {
    "whole": [lambda v: v, lambda v: v.astype(float), str, "Int64", "category", "object", "string", "int8", "float32"],
    "gaps": [lambda v: v, "Int64", "Float64", "object", lambda v: v.astype("Int64").astype("string")],
    "flag": [lambda v: v, lambda v: v.astype(str).str.lower(), "boolean", "object", "category"],
    "day": [lambda v: v, "object", "category", pd.to_datetime, lambda v: pd.to_datetime(v).dt.date],
    "stamp": [lambda v: v, pd.to_datetime, lambda v: pd.to_datetime(v).dt.tz_localize("UTC")],
    "colour": [lambda v: v, "category", "string", "object"],
    "town": [lambda v: v, "category", "string", "object"],
    "note": [lambda v: v, "category", "string"],
    "price": [lambda v: v, str, lambda v: v.map(lambda x: decimal.Decimal(str(x))), "Float64", "category"],
    "clock": [lambda v: v, "category", lambda v: pd.to_datetime(v, format="%H:%M").dt.time],
    "number": [lambda v: v, lambda v: v.astype(float), str, "UInt16"],
}


def sample_table():
    """One column of each kind, written as in a text file."""
    random = np.random.default_rng(0)
    n_rows = 120
    messages, y = make_messages(n_rows)
    day = pd.Timestamp("2023-11-01") + pd.to_timedelta(random.integers(0, 200, n_rows), unit="D")
    return pd.DataFrame(
        {
            "number": np.arange(n_rows),
            "whole": random.integers(0, 9, n_rows),
            "gaps": np.where(random.random(n_rows) < 0.2, np.nan, random.integers(0, 9, n_rows)),
            "flag": random.random(n_rows) < 0.5,
            "day": day.strftime("%Y-%m-%d"),
            "stamp": (day + pd.to_timedelta(random.integers(0, 86400, n_rows), unit="s")).strftime("%Y-%m-%d %H:%M:%S"),
            "colour": pd.Series(random.choice(["red", "blue", None], n_rows), dtype=object),
            "town": [f"town {i}" for i in random.integers(0, 60, n_rows)],
            "note": messages["message"],
            "price": random.random(n_rows).round(2),
            "clock": [f"{i // 60}:{i % 60:02}" for i in random.integers(0, 1440, n_rows)],
        }
    ), y


TABLE, CLASSES = sample_table()
ENCODED = transform(TABLE.drop(columns="number"), y=CLASSES)


def cast(column, to):
    """Give a column another type."""
    return column.astype(to) if isinstance(to, str | type) else to(column)


@settings(max_examples=10, deadline=None)
@given(st.fixed_dictionaries({name: st.sampled_from(types) for name, types in DTYPES.items()}))
def test_types_of_columns_make_no_difference(types):
    frame = pd.DataFrame({name: cast(TABLE[name], types[name]) for name in TABLE})
    kinds, left_out = choose_columns(frame)
    assert left_out == {"number": "identifier"}
    np.testing.assert_allclose(transform(frame[list(kinds)], y=CLASSES), ENCODED, rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "is_identifier"),
    [
        ([1, 2, 3, 4], True),
        ([9, 8, 7, 6], True),
        ([1, 3, 2, 4], False),
        ([1, 2, 4, 5], False),
        ([1.0, 2.0, 3.0, 4.0], True),
        ([1.0, 2.0, None, 4.0], False),
        ([0.5, 1.5, 2.5, 3.5], False),
        (["a", "b", "c", "d"], True),
        (["a", "b", "c", "a"], False),
        (["a", "b", "c", None], False),
        ([b"a", b"\xff", b"c", b"d"], True),
        (["01", "02", "03", "04"], True),
        (["01", "02", "03", "07"], False),
        (["the cat sat here", "here sat the dog", "the dog and the cat", "a cat and a dog sat"], False),
        (["Ada Lovelace", "Alan Turing", "Grace Hopper", "Kurt Gödel"], True),
        (["11/25/07", "11/26/07", "11/27/07", "11/28/07"], False),
        (pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]), False),
    ],
)
def test_what_counts_as_an_identifier(values, is_identifier):
    frame = pd.DataFrame({"other": [1.0, 0.0, 1.0, 1.0], "it": values})
    found = useless_columns(frame, kinds_of(frame))
    assert found == ({"it": "identifier"} if is_identifier else {})


def test_numbers_with_a_stray_cell_are_no_identifier():
    sizes = pd.DataFrame({"size": ["1.5", "2.5", "few", "4", "1e3", "x"]})
    assert useless_columns(sizes[:5], kinds_of(sizes[:5])) == {}
    assert useless_columns(sizes, kinds_of(sizes)) == {"size": "identifier"}


def test_tiny_tables_have_no_identifiers():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert useless_columns(frame, kinds_of(frame)) == {}


@pytest.mark.parametrize("shape", [(60, 10_000), (300, 3_000)])
def test_wide_tables_take_no_time(shape):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=shape), columns=[f"gene {i}" for i in range(shape[1])])
    frame.iloc[::9, ::3] = np.nan
    y = np.arange(shape[0]) % 3
    start = time.perf_counter()
    kinds, _ = choose_columns(frame)
    values = typed(frame, kinds)
    encoded = make_preprocessor(kinds).fit_transform(values, y)
    suspicious_columns(frame, kinds)
    assert time.perf_counter() - start < 2  # a tenth of it on an idle machine
    assert encoded.shape[1] == shape[1] + 1


def test_a_table_as_a_data_set_has_its_preprocessor_and_notes():
    frame = pd.DataFrame({"id": range(6), "size": [1.0, 2.0] * 3, "colour": ["red", None] * 3})
    data_set = as_data_set("own", frame, list("ababab"))
    assert data_set.notes == ["own: left out: column 'id' (identifies the rows)"]
    X_train, X_test, _ = data_set.prepared(np.arange(4), np.arange(4, 6))
    np.testing.assert_array_equal(X_train, [[0, 0, 1], [1, 1, 0]] * 2)
    np.testing.assert_array_equal(X_test, X_train[:2])
    assert as_data_set("own", frame[["size"]], list("ababab")).notes == []


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"id": range(6)}), "no column is left to learn from"),
        (pd.DataFrame({"a": [1, 2], "A": [1, 2]}).set_axis(["a", "a"], axis=1), "more than one column is named 'a'"),
    ],
)
def test_tables_that_are_no_data_sets(frame, message):
    with pytest.raises(InputError, match=message):
        as_data_set("own", frame, np.arange(len(frame)) % 2)


def test_infinite_numbers_are_missing_and_noted():
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0], "b": [0.0, 1.0, 1.0]})
    data_set = as_data_set("own", frame, list("aba"))
    assert data_set.notes == [
        "own: column 'a': 1 cell holds no finite number (the first 'inf' in row 2) and counts as missing"
    ]
    assert data_set.X["a"].isna().tolist() == [False, True, False]
