"""Numbers as text: decimal and thousands marks, currencies, percentages, accounting negatives."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: How booleans are written.
BOOLEANS = MappingProxyType({"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False})
#: Decimal marks, and the thousands mark that usually comes with each.
PARTNERS = MappingProxyType({".": ",", ",": "."})

_BLANKS = " \t\u00a0\u2009\u202f"
_MINUS = "−–－﹣"  # what a hyphen may have become on its way through a spreadsheet or a text processor
_SYMBOLS = "$¢£¤¥฿\u20a0-\u20cf"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|KRW|TRY|ILS|SGD|HKD"
# Marks that separate thousands and are never decimal ones.
_ALWAYS_THOUSANDS = " \u00a0\u2009\u202f'’"
# The decimal mark of a column is guessed if at least this share of its cells with marks are numbers.
_MOST_NUMBERS = 0.8
# A column is text if one of its first cells is not a number.
_FIRST_CELLS = 100
# Up to this many cells are matched one by one.
_FEW_CELLS = 2000
_HAS_ARROW = find_spec("pyarrow") is not None


def parse_numbers(texts: Any, decimal: str = ".", thousands: str | None = None) -> NDArray[np.float64]:
    """Parse numbers as people write them; other text becomes NaN.

    Parameters
    ----------
    texts : array-like of shape (n_cells,)
        Text or missing values.
    decimal : str, default="."
        The decimal mark.
    thousands : str, default=None
        The thousands mark. Spaces and apostrophes are always accepted as thousands marks too.

    Returns
    -------
    ndarray of shape (n_cells,)
        The numbers.

    Examples
    --------
    >>> parse_numbers(["$1,234.50", "45%", "(7)", "−2", "1 000", "seven"], thousands=",").tolist()
    [1234.5, 0.45, -7.0, -2.0, 1000.0, nan]
    >>> parse_numbers(["1.234,5", "0,5"], decimal=",", thousands=".").tolist()
    [1234.5, 0.5]
    """
    cells = _strings(texts)
    numbers = np.full(len(cells), np.nan)
    bare = _matches(cells, _patterns(decimal, thousands)["bare"])
    numbers[bare] = _floats(cells[bare], decimal, thousands)
    rest = ~bare & cells.notna().to_numpy()
    if rest.any():
        adorned = np.flatnonzero(rest)[_matches(cells[rest], _patterns(decimal, thousands)["any"])]
        cells = cells.iloc[adorned]
        digits = cells.str.replace(rf"[(){_BLANKS}{_SYMBOLS}'’%]|{_CODES}", "", regex=True)
        values = _floats(digits.str.replace(f"[{_MINUS}]", "-", regex=True), decimal, thousands)
        values[cells.str.contains("(", regex=False).to_numpy(dtype=bool)] *= -1
        values[cells.str.contains("%", regex=False).to_numpy(dtype=bool)] /= 100
        numbers[adorned] = values
    return numbers


def _floats(cells: "pd.Series[Any]", decimal: str, thousands: str | None) -> NDArray[np.float64]:
    """Read numbers of digits and marks only."""
    for mark, meaning in ((thousands, ""), (decimal, ".")):
        if mark and mark != meaning:
            cells = cells.str.replace(mark, meaning, regex=False)
    if _HAS_ARROW:
        import pyarrow as pa

        with suppress(pa.ArrowInvalid):  # it takes no plus, and no blanks
            return np.array(pa.array(cells).cast(pa.float64()), dtype=np.float64)
    return cells.to_numpy(dtype=object).astype(np.float64)


def _strings(texts: Any) -> "pd.Series[Any]":
    """Return cells as text, others as missing; pyarrow, if installed, makes searching several times faster."""
    cells = texts if isinstance(texts, pd.Series) else pd.Series(texts, dtype=object)
    if isinstance(cells.dtype, pd.StringDtype):
        return cells.reset_index(drop=True)
    objects = cells.to_numpy(dtype=object)
    text = [cell if isinstance(cell, str) else None for cell in objects]
    return pd.Series(text, dtype=pd.StringDtype("pyarrow" if _HAS_ARROW else "python"))


def _matches(cells: "pd.Series[Any]", pattern: str) -> NDArray[np.bool_]:
    """Tell which cells match a pattern as a whole."""
    return cells.str.fullmatch(pattern).fillna(False).to_numpy(dtype=bool)


@lru_cache
def _patterns(decimal: str, thousands: str | None) -> Mapping[str, str]:
    """Make the patterns of numbers: "plain" ones, which any parser takes, "bare" ones, and "any"."""
    point, blanks = re.escape(decimal), f"[{_BLANKS}]*"
    fraction = rf"(?:{point}[0-9]*)?"

    def digits(marks: str) -> str:
        groups = rf"[1-9][0-9]{{0,2}}(?:[{marks}][0-9]{{3}})+{fraction}|" if marks else ""
        return rf"(?:(?:{groups}[0-9]+{fraction}|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?)"

    mark = re.escape(thousands) if thousands else ""
    money = f"(?:[{_SYMBOLS}]|{_CODES})"
    sign, amount = f"[-+{_MINUS}]?", f"{digits(_ALWAYS_THOUSANDS + mark)}{blanks}{money}?{blanks}%?"
    signed = f"(?:{sign}{blanks}{money}?|{money}{blanks}{sign}){blanks}{amount}"
    adorned = rf"{signed}|\({blanks}{money}?{blanks}{amount}{blanks}\)"
    endless = "[-+]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
    return {
        "plain": f"{blanks}(?:[-+]?{digits('')}|{endless}){blanks}",
        "bare": f"{blanks}(?:[-+]?{digits(mark)}|{endless}){blanks}",
        "any": f"{blanks}(?:{adorned}|{endless}){blanks}",
    }


@lru_cache
def _matcher(decimal: str, thousands: str | None, kind: str) -> Callable[[str], Any]:
    """Return a function that tells whether a single cell matches a pattern."""
    return re.compile(_patterns(decimal, thousands)[kind]).fullmatch


def shown_decimal(cells: Sequence[str]) -> str | None:
    """Determine the decimal mark of a column; None if it may be either, or if most cells are not numbers.

    >>> shown_decimal(["1,234", "5,1"]), shown_decimal(["1,234.5"]), shown_decimal(["12,345", "6"])
    (',', '.', None)
    """
    marked = [cell for cell in cells if "," in cell or "." in cell]
    counts = {}
    for mark, partner in PARTNERS.items():
        if len(marked) > _FEW_CELLS:
            counts[mark] = int(_matches(_strings(marked), _patterns(mark, partner)["any"]).sum())
        else:
            counts[mark] = sum(map(bool, map(_matcher(mark, partner, "any"), marked)))
    best = "," if counts[","] > counts["."] else "."
    is_shown = counts["."] != counts[","] and counts[best] >= _MOST_NUMBERS * len(marked)
    return best if is_shown else None


@dataclass(frozen=True)
class Marks:
    """How a table writes numbers: the decimal mark of the table, and of `columns` with a mark of their own.

    With `is_fixed`, the marks were given and hold for all columns. If `thousands` is None, it follows from the decimal
    mark.
    """

    decimal: str = "."
    thousands: str | None = None
    is_fixed: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)

    def decimal_of(self, column: Any, cells: Sequence[str] | None = None) -> str:
        """Return the decimal mark of a column, guessed from its cells if they are given."""
        if self.is_fixed:
            return self.decimal
        if cells is None:
            return self.columns.get(column, self.decimal)
        return shown_decimal(cells[:_FEW_CELLS]) or shown_decimal(cells) or self.decimal

    def parse(self, texts: Any, decimal: str) -> NDArray[np.float64]:
        """Read numbers with this decimal mark."""
        return parse_numbers(texts, decimal, self._thousands(decimal))

    def _thousands(self, decimal: str) -> str | None:
        """Return the mark between thousands that goes with a decimal mark."""
        return self.thousands or PARTNERS.get(decimal)

    def is_number(self, cell: str, decimal: str) -> bool:
        """Tell whether a cell is a number with this decimal mark."""
        return bool(_matcher(decimal, self._thousands(decimal), "any")(cell))

    def unusual(self, cells: Iterable[str]) -> str | None:
        """Return the first cell that is more than digits around the decimal mark."""
        is_plain = _matcher(self.decimal, None, "plain")
        return next((cell for cell in cells if not is_plain(cell)), None)


def guess_marks(
    columns: Mapping[str, Sequence[str]],
    decimal: str | None = None,
    thousands: str | None = None,
    usual: str | None = None,
) -> Marks:
    """Guess the decimal marks of columns of text, unless marks are given; `usual` is for tables that leave it open.

    >>> guess_marks({"length": ["5,1", "4,9"], "people": ["1,234", "2,345"]}).decimal
    ','
    """
    if decimal is None and thousands is not None:
        decimal = PARTNERS.get(thousands)
    if decimal is not None:
        return Marks(decimal, thousands, is_fixed=True)
    shown = {name: mark for name, cells in columns.items() if (mark := shown_decimal(cells))}
    votes = [*shown.values()]
    lead = votes.count(".") - votes.count(",")
    return Marks((usual or ".") if lead == 0 else "." if lead > 0 else ",", thousands, columns=shown)


def number_column(column: "pd.Series[Any]", marks: Marks) -> "pd.Series[Any]":
    """Convert the cells of a column of text that are numbers; if all are, the column becomes floats."""
    if column.dtype.kind in "iuf":
        return column
    values, missing = marks.parse(column, marks.decimal_of(column.name)), column.isna().to_numpy()
    if not (strays := np.isnan(values) & ~missing).any():
        return pd.Series(values, column.index, name=column.name)
    mixed = values.astype(object)
    mixed[strays] = column.to_numpy(dtype=object)[strays]
    return pd.Series(mixed, column.index, dtype=object, name=column.name)


def typed_column(text: "pd.Series[Any]", marks: Marks) -> "pd.Series[Any]":
    """Give a column of text the type that all its values have: booleans, whole numbers or floats, else text."""
    missing = text.isna()
    words = text[~missing].astype(str)
    if len(words) and all(cells.isin(list(BOOLEANS)).all() for cells in (words[:_FIRST_CELLS], words)):
        return text.astype(str).map(BOOLEANS).astype("boolean" if missing.any() else bool)
    # The marks have to be the same in all cells.
    decimals, first_cells = [marks.decimal] if marks.is_fixed else list(PARTNERS), words[:_FIRST_CELLS].tolist()
    if not any(all(marks.is_number(cell, decimal) for cell in first_cells) for decimal in decimals):
        return text
    decimal = marks.decimal_of(text.name, words.tolist())
    is_plain = Marks(decimal).unusual(first_cells) is None
    may_be_plain = is_plain and (decimal == "." or not words.str.contains(".", regex=False).any())
    if may_be_plain:  # whole numbers are read exactly
        numbers = pd.Series(pd.to_numeric(text.to_numpy(dtype=object), errors="coerce"), text.index, name=text.name)
        if not (numbers.isna() & text.notna()).any():
            return numbers
    values = marks.parse(text, decimal)
    if (np.isnan(values) & ~missing.to_numpy()).any():
        return text
    is_whole = not missing.any() and not words.str.contains(rf"[%{re.escape(decimal)}]").any()
    is_whole = is_whole and bool((np.abs(values) < 2**53).all() and (values == np.floor(values)).all())
    return pd.Series(values.astype(np.int64) if is_whole else values, text.index, name=text.name)
