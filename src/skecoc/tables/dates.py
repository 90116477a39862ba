"""Dates and times of day as people write them, and the numbers that learners take in their place."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skecoc.compare.data_sets import are_frequent

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

Floats = NDArray[np.floating[Any]]
Dates = NDArray[np.datetime64]

#: Kinds of columns that hold dates, by what comes first where all three parts are numbers and the year is the last.
DATE_KINDS = ("date", "date, day first", "date, month first")

_MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr may jun jul aug sep oct nov dec"
)
_MONTH_NUMBERS = {name: number % 12 + 1 for number, name in enumerate(_MONTHS.split())} | {"sept": 9}

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d{1,9})?))?(?:\s?(?P<half>[ap])\.?m\.?)?"
_NAME = r"(?P<month{}>[a-z]{{3,9}})\.?"
_DATE = (
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
    r"(?:(?P<first>\d{1,4})(?P<mark>[-/.])(?P<second_part>\d{1,2})(?P=mark)(?P<third>\d{4}|\d{1,2})"
    rf"|(?P<day1>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s]?\s?{_NAME.format(1)},?[-\s]\s?(?P<year1>\d{{4}}|\d{{2}})"
    rf"|{_NAME.format(2)}\s?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year2>\d{{4}}))"
)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[-+]\d{2}(:?\d{2})?)?)?")
_ANY_DATE = re.compile(rf"{_DATE}(?:[\sT,]\s?{_TIME})?", re.IGNORECASE)
_TIME_OF_DAY = re.compile(_TIME, re.IGNORECASE)
# Years of two digits from here on belong to the 20th century, as in POSIX.
_FIRST_SHORT_YEAR = 69


# The year, two numbers that are month and day, the mark between them, and the seconds since midnight. The mark is
# empty if the month comes first, otherwise the order is still open. Plain tuples, as there are thousands of them.
_Parts = tuple[int, int, int, str, float]


def _split(text: str) -> _Parts | None:
    """Split a date into its parts; None if the text is not a date."""
    found = _ANY_DATE.fullmatch(text)
    seconds = _seconds(found) if found else None
    if found is None or seconds is None:
        return None
    first, mark, second, third = found.group("first", "mark", "second_part", "third")
    if mark is None:
        name = (found["month1"] or found["month2"]).lower()
        day, year = found["day1"] or found["day2"], found["year1"] or found["year2"]
        return (_year(year), _MONTH_NUMBERS[name], int(day), "", seconds) if name in _MONTH_NUMBERS else None
    if len(first) == 4 and len(third) <= 2:
        return int(first), int(second), int(third), "", seconds
    if len(first) <= 2 and len(third) in (2, 4):
        return _year(third), int(first), int(second), mark, seconds
    return None


def _year(digits: str) -> int:
    """Read a year of two or four digits."""
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= _FIRST_SHORT_YEAR else 2000)


def _seconds(found: re.Match[str]) -> float | None:
    """Return the seconds since midnight, 0 without a time of day; None if there is no such time."""
    hours, minutes, rest, half = found.group("hour", "minute", "second", "half")
    if hours is None:
        return 0.0
    hour, minute, second = int(hours), int(minutes), float(rest or 0)
    if hour > (12 if half else 23) or (half and hour == 0) or minute > 59 or second >= 60:
        return None
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return hour * 3600 + minute * 60 + second


class DateTexts:
    """Texts that may be dates, in any of the usual formats; each is split into its parts once, as that takes long.

    ISO 8601, years first or last, names of months in English, with a time of day or without.
    """

    def __init__(self, texts: NDArray[np.object_]) -> None:
        self._n_texts = len(texts)
        is_iso = np.array([_ISO_DATE.fullmatch(text) is not None for text in texts], dtype=bool)
        self._iso_places = np.flatnonzero(is_iso)
        self._iso = texts[is_iso]
        found = [(place, _split(texts[place].strip())) for place in np.flatnonzero(~is_iso)]
        self._places = np.array([place for place, parts in found if parts], dtype=np.intp)
        self._parts = [parts for _, parts in found if parts]

    def kind(self, counts: NDArray[np.intp]) -> str:
        """Determine which of `DATE_KINDS` reads the texts best, by days above 12; `counts` weights the texts.

        Without such cells, slashes stand for month first, dots and dashes for day first.
        """
        undecided: dict[str, int] = {}
        n_day_first = n_month_first = 0
        for (_, first, second, mark, _), count in zip(self._parts, counts[self._places].tolist(), strict=True):
            if mark:
                undecided[mark] = undecided.get(mark, 0) + count
                n_day_first += count * (first > 12)
                n_month_first += count * (second > 12)
        if not undecided:
            return "date"
        if n_day_first != n_month_first:
            return DATE_KINDS[1] if n_day_first > n_month_first else DATE_KINDS[2]
        return DATE_KINDS[2] if max(undecided, key=lambda mark: undecided[mark]) == "/" else DATE_KINDS[1]

    def parse(self, kind: str) -> Dates:
        """Return the dates in UTC; other text, and days that do not exist, become NaT.

        The kind says whether day or month comes first where all parts are numbers; for "date", the mark between them
        decides.
        """
        dates = np.full(self._n_texts, "NaT", dtype="M8[us]")
        if len(self._iso):
            iso = pd.to_datetime(pd.Series(self._iso), utc=True, errors="coerce", format="ISO8601")
            dates[self._iso_places] = iso.dt.tz_localize(None).to_numpy(dtype="M8[us]")
        if self._parts:
            year, first, second, mark, seconds = (np.array(values) for values in zip(*self._parts, strict=True))
            day_first = (mark != "") & (mark != "/" if kind == "date" else kind == DATE_KINDS[1])
            month, day = np.where(day_first, second, first), np.where(day_first, first, second)
            exists = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
            months = ((year - 1970) * 12 + np.where(exists, month, 1) - 1).astype("M8[M]")
            days = months.astype("M8[D]") + (day - 1)
            exists &= days.astype("M8[M]") == months
            found = days.astype("M8[us]") + np.rint(seconds * 1e6).astype("m8[us]")
            dates[self._places] = np.where(exists, found, np.datetime64("NaT", "us"))
        return dates


def parse_times(texts: NDArray[np.object_]) -> Dates:
    """Read times of day, such as 14:30 or 2:30 pm, as times of the first day of 1970; other text becomes NaT."""
    matches = (_TIME_OF_DAY.fullmatch(text.strip()) for text in texts)
    times = np.full(len(texts), "NaT", dtype="M8[us]")
    for place, found in enumerate(matches):
        seconds = None if found is None else _seconds(found)
        if seconds is not None:
            times[place] = np.datetime64(round(seconds * 1e6), "us")
    return times


def _days(dates: Dates) -> Floats:
    """Return the days since 1970, with NaN for missing dates."""
    return np.where(np.isnat(dates), np.nan, dates.astype(np.int64) / 86_400e6)


def _years(dates: Dates) -> Floats:
    """Return the year of each date."""
    return dates.astype("M8[Y]").astype(np.int64) + 1970.0


def _month(dates: Dates) -> Floats:
    """Return the month of each date, from 1 to 12."""
    return dates.astype("M8[M]").astype(np.int64) % 12 + 1.0


def _day_of_year(dates: Dates) -> Floats:
    """Return the place of each date within its year, as an angle."""
    days = (dates - dates.astype("M8[Y]")) / np.timedelta64(1, "D")
    return 2 * np.pi * np.where(np.isnat(dates), np.nan, days) / 366


def _weekday(dates: Dates) -> Floats:
    """Return the day of the week, from 0 for Monday to 6."""
    return (dates.astype("M8[D]").astype(np.int64) + 3.0) % 7


def _hour(dates: Dates) -> Floats:
    """Return the hours since midnight."""
    return (dates - dates.astype("M8[D]")) / np.timedelta64(1, "h")


# Features of a date, in this order. Linear learners need the sine and cosine of periodic ones.
_FEATURES: dict[str, Callable[[Dates], Floats]] = {
    "days": _days,
    "year": _years,
    "month": _month,
    "season_sin": lambda dates: np.sin(_day_of_year(dates)),
    "season_cos": lambda dates: np.cos(_day_of_year(dates)),
    "weekday": _weekday,
    "weekday_sin": lambda dates: np.sin(2 * np.pi * _weekday(dates) / 7),
    "weekday_cos": lambda dates: np.cos(2 * np.pi * _weekday(dates) / 7),
    "hour": _hour,
    "hour_sin": lambda dates: np.sin(2 * np.pi * _hour(dates) / 24),
    "hour_cos": lambda dates: np.cos(2 * np.pi * _hour(dates) / 24),
    "is_missing": lambda dates: np.isnat(dates).astype(np.float64),
}


class DateEncoder(TransformerMixin, BaseEstimator):
    """Turn columns of dates into numbers: elapsed days, year, month and season, weekday, hour.

    Only what differs between the training rows is kept, and the season only if these are of several years. Missing
    dates are NaN in all of these; unless `keep_missing` is true, a further number says which they are if they are
    frequent.
    """

    def __init__(self, keep_missing: bool = False) -> None:
        self.keep_missing = keep_missing

    def fit(self, X: "pd.DataFrame", y: Any = None) -> Self:  # noqa: ARG002
        """Learn which parts of the dates differ; X is of shape (n_rows, n_columns)."""
        self.features_: list[str] = []
        sources = []
        for place, dates in enumerate(_columns(X)):
            present = dates[~np.isnat(dates)]
            names = [name for name, encode in _FEATURES.items() if len(present) and np.ptp(encode(present)) > 0]
            if "year" not in names:
                names = [name for name in names if not name.startswith("season")]
            if len(present) == 0 or np.ptp(present.astype("M8[D]").astype(np.int64)) == 0:
                names = [name for name in names if name != "hour"]  # of one day, days say the same
            if not self.keep_missing and are_frequent(np.isnat(dates)):
                names.append("is_missing")
            self.features_ += names or ["days"]  # the rows of a fold may be of one day
            sources += [place] * max(len(names), 1)
        self.sources_ = np.array(sources, dtype=np.int64)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: "pd.DataFrame") -> Floats:
        """Turn dates of shape (n_rows, n_columns) into numbers of shape (n_rows, n_features)."""
        check_is_fitted(self)
        columns = list(_columns(X))
        encoded = np.empty((len(X), len(self.features_)))
        for place, (source, name) in enumerate(zip(self.sources_, self.features_, strict=True)):
            dates = columns[source]
            values = _FEATURES[name](dates)
            encoded[:, place] = values if name == "is_missing" else np.where(np.isnat(dates), np.nan, values)
        return encoded


def _columns(frame: "pd.DataFrame") -> Iterator[Dates]:
    """Yield the columns as dates."""
    return (frame.iloc[:, place].to_numpy(dtype="M8[us]") for place in range(frame.shape[1]))
