"""Open tables: the names of their columns, and their rows, which are read whole or piece by piece."""

import codecs
import io
import itertools
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from skecoc.support.errors import InputError, spell_out
from skecoc.tables.dialect import SEPARATORS, Utf8Stream, guess_separator, read_sample, separator_of
from skecoc.tables.numbers import Marks, guess_marks, number_column, typed_column
from skecoc.tables.rows import CheckedRows

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Cells that stand for a missing value.
MISSING_WORDS = frozenset(
    {"", "?", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "<NA>", "NULL", "null", "None"}
    | {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)

_MARK_NAMES = {"comma": ",", "point": ".", "dot": ".", "period": ".", "space": " ", "apostrophe": "'"}
_ENCODING_NAMES = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
_MOST_EXAMPLES = 3
_FEW_COLUMNS = 50


@dataclass(frozen=True)
class ReadingOptions:
    r"""Format of a table; options that are None are detected.

    Parameters
    ----------
    sep : str, default=None
        Separator of the cells in a text file: a character, or one of ``comma``, ``semicolon``, ``tab``, ``bar``.
    decimal, thousands : str, default=None
        Decimal and thousands marks: characters, or ``comma``, ``point``; for thousands also ``space``, ``apostrophe``.
    encoding : str, default=None
        Encoding of a text file, such as ``utf-8`` or ``latin-1``.
    sheet : str, default=None
        Sheet of a workbook, by name or by number (from 1); by default the first.
    na : tuple of str, default=()
        Further values that mean a missing value, in addition to empty cells, ``?``, ``NA`` and similar.
    usual_decimal : str, default=None
        Decimal mark if it cannot be detected, such as that of the table that a model was fitted to.

    Examples
    --------
    >>> ReadingOptions(sep="tab", decimal="comma")
    ReadingOptions(sep='\t', decimal=',', thousands=None, encoding=None, sheet=None, na=(), usual_decimal=None)
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    na: tuple[str, ...] = ()
    usual_decimal: str | None = None

    def __post_init__(self) -> None:
        found: dict[str, Any] = {"na": (self.na,) if isinstance(self.na, str) else tuple(map(str, self.na))}
        if self.sep is not None:
            found["sep"] = separator_of(self.sep)
        for name, marks in (("decimal", ".,"), ("thousands", ".,' ")):
            if (given := getattr(self, name)) is not None:
                found[name] = _MARK_NAMES.get(given.lower(), given)
                if len(found[name]) != 1 or found[name] not in marks:
                    expected = "comma or point" if name == "decimal" else "comma, point, space or apostrophe"
                    raise InputError(f"{name}={given!r} cannot be a mark within numbers; expected {expected}")
        if self.decimal is not None and found["decimal"] == found.get("thousands"):
            raise InputError(f"decimal={self.decimal!r} and thousands={self.thousands!r} are the same mark")
        if self.encoding is not None:
            found["encoding"] = _encoding_of(self.encoding)
        # It may come from a model's file, which may hold anything.
        found["usual_decimal"] = usual if isinstance(usual := self.usual_decimal, str) and usual in (".", ",") else None
        if self.sheet is not None:
            found["sheet"] = str(self.sheet)
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def missing(self) -> list[str]:
        """Return all cells that stand for a missing value."""
        return sorted(MISSING_WORDS | set(self.na))


def _encoding_of(name: str) -> str:
    """Refuse unknown encodings; return the name that Python has for one."""
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"encoding={name!r} is not known; expected one such as utf-8, utf-16 or latin-1") from error
    return "utf-8" if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec.name


class TableReader(ABC):
    """An open table, to be used in a ``with`` block: the names of its columns, and its rows, which are read once.

    `name` is what messages say, such as path='flowers.csv'. `notes` says what was guessed or changed; reading the rows
    may add to it.
    """

    #: Which of the options say something about tables of this kind.
    takes: Collection[str] = ()

    def __init__(self, name: str, columns: Sequence[Any], options: ReadingOptions) -> None:
        self.name, self.options = name, options
        self.columns, self.notes = distinct_names(columns)
        self._open = ExitStack()  # what is closed in the end
        for option in ("sep", "encoding", "sheet"):
            if getattr(options, option) is not None and option not in self.takes:
                self.notes.append(f"{option} does not apply to a file of this kind")

    @abstractmethod
    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; the index counts them from 0.

        Text stays text, except numbers in the columns `numbers`: those become floats if all of a chunk are numbers,
        and objects, among them text, if not.
        """

    @abstractmethod
    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows with the types of their values; text in the columns `labels` stays text."""

    @cached_property
    def marks(self) -> Marks:
        """How the table writes numbers where they are text."""
        options, sample = self.options, self.sample
        marks = guess_marks(sample, options.decimal, options.thousands, options.usual_decimal)
        if marks.decimal == "," and not marks.is_fixed:
            columns = [name for name, mark in marks.columns.items() if mark == ","] or list(sample)
            found = ((cell, name) for name in columns for cell in sample[name] if "," in cell)
            cell, name = next(((cell, name) for cell, name in found if marks.is_number(cell, ",")), ("", ""))
            if cell:
                self.notes.append(f"numbers have decimal commas, such as {cell.strip()!r} in column {name!r}")
        return marks

    @property
    def decimal(self) -> str:
        """The decimal mark of most columns of text."""
        return self.marks.decimal

    @cached_property
    @abstractmethod
    def sample(self) -> dict[str, list[str]]:
        """The first cells of columns of text, without missing ones."""

    def as_numbers(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        """Make numbers of a column's text, as `chunks` does for the columns `numbers`."""
        return number_column(column, self.marks)

    def _typed(self, text: "Mapping[str, pd.Series[Any]]") -> "dict[str, pd.Series[Any]]":
        """Give columns of text the type that their values have, and say so where this is not plain."""
        found, typed = {}, {}
        for name, column in text.items():
            typed[name] = typed_column(column, self.marks)
            if typed[name].dtype.kind in "iuf" and (cell := self.marks.unusual(column.dropna())) is not None:
                found[name] = cell, float(typed[name].iloc[int((column == cell).to_numpy().argmax())])
        self._note_numbers(found)
        return typed

    def _unusual_numbers(self, names: Collection[str]) -> set[str]:
        """Find the columns of numbers that are written in another way than most of the table, and say so."""
        found: dict[str, tuple[str, float]] = {}
        for name in names:
            cell, decimal = self.marks.unusual(self.sample.get(name, ())), self.marks.decimal_of(name)
            if cell is not None and self.marks.is_number(cell, decimal):
                found[name] = cell, float(self.marks.parse([cell], decimal)[0])
        self._note_numbers(found)
        return {*found, *(name for name in names if self.marks.decimal_of(name) != self.decimal)}

    def _note_numbers(self, found: dict[str, tuple[str, float]]) -> None:
        """Say how cells are read that are no plain numbers."""
        examples = [f"{cell.strip()!r} as {value:.15g} (column {name!r})" for name, (cell, value) in found.items()]
        if examples:
            self.notes.append(f"read as numbers: {spell_out(examples, _MOST_EXAMPLES)}")

    def arrow_types(self) -> dict[str, Any]:
        """Return the types that columns are known to have; none of those of a text file are."""
        return {}

    def closes(self, opened: ExitStack) -> None:
        """Close something in the end."""
        self._open.push(opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def distinct_names(columns: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Name all columns, and no two alike; also return notes on what was changed.

    >>> distinct_names(["a", "a", ""])
    (['a', 'a.2', 'column 3'], ["2 columns are named 'a': now 'a', 'a.2'", "column 3 has no name: now 'column 3'"])
    """
    given = [str(name).strip() for name in columns]
    names: dict[str, None] = {}
    repeated: dict[str, list[str]] = {}
    nameless: list[int] = []
    for place, name in enumerate(given, start=1):
        wanted = name or f"column {place}"
        others = {*names, *given} if wanted in names or not name else set()
        candidates = (wanted if count == 1 else f"{wanted}.{count}" for count in itertools.count(1))
        new_name = next(new for new in candidates if new not in others)
        names[new_name] = None
        if name:
            repeated.setdefault(name, []).append(repr(new_name))
        else:
            nameless.append(place)
    notes = [
        f"{len(new)} columns are named {name!r}: now {spell_out(new)}" for name, new in repeated.items() if len(new) > 1
    ]
    if nameless:
        verb = "s {} have" if len(nameless) > 1 else " {} has"
        everyone = list(names)
        new = spell_out([repr(everyone[place - 1]) for place in nameless])
        notes.append(f"column{verb.format(spell_out(nameless))} no name: now {new}")
    return list(names), notes


class TextTable(TableReader):
    """A table of lines of text; the first line that is not blank names the columns."""

    takes = ("sep", "encoding")

    def __init__(self, stream: Utf8Stream, name: str, options: ReadingOptions, usual: str) -> None:
        self._stream = stream
        self._separator = options.sep or guess_separator(stream.head, usual, is_whole=stream.is_whole)
        with naming_the_table(name):
            self._rows = CheckedRows(stream, self._separator)
            columns = self._read(io.BytesIO(self._rows.header), dtype=str, na_filter=False).iloc[0].tolist()
        super().__init__(name, columns, options)
        self._rows.n_cells = len(self.columns)
        self._note_guesses(usual)
        _ = self.marks  # what it says about numbers belongs to the beginning

    def _note_guesses(self, usual: str) -> None:
        """Say what was guessed and is not plain."""
        self._noted_encoding = self.options.encoding or "utf-8"
        self._note_encoding()
        if self.options.sep is None and self._separator != usual:
            parts = SEPARATORS.get(self._separator, repr(self._separator))
            self.notes.append(f"cells are separated by {parts}")

    def _note_encoding(self) -> None:
        """Say which encoding was guessed, which may not be known before something else than ASCII is met."""
        if self._stream.encoding != self._noted_encoding:
            self._noted_encoding = self._stream.encoding
            name = _ENCODING_NAMES.get(self._noted_encoding, self._noted_encoding.upper())
            self.notes.append(f"the text is taken for {name}, as it is not UTF-8")

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """The first cells; see `TableReader.sample`."""
        missing, stream = set(self.options.missing), self._stream
        rows = read_sample(stream.head, self._separator, is_whole=stream.is_whole)[1:]
        rows = [row for row in rows if len(row) >= len(self.columns)]
        columns = zip(*rows, strict=False) if rows else []
        return {
            name: [cell for cell in cells if cell not in missing]
            for name, cells in zip(self.columns, columns, strict=False)
        }

    def chunks(
        self, n_rows: int, columns: Sequence[str] | None = None, numbers: Collection[str] = ()
    ) -> "Iterator[pd.DataFrame]":
        """Read so many rows at a time; see `TableReader.chunks`."""
        wanted = list(self.columns if columns is None else columns)
        numbers = set(numbers).intersection(wanted)
        # What pandas cannot read as it is, it reads as text.
        unusual = self._unusual_numbers([name for name in wanted if name in numbers])
        text = {name: str for name in wanted if name not in numbers or name in unusual}
        with naming_the_table(self.name):
            for chunk in self._read_rows(dtype=text, usecols=wanted, chunksize=n_rows):
                others = [name for name, dtype in chunk.dtypes.items() if name in numbers and dtype.kind not in "iuf"]
                found = {
                    name: self.as_numbers(chunk[name].astype(str) if chunk[name].dtype == bool else chunk[name])
                    for name in others
                }
                if len(chunk):
                    yield with_columns(chunk, found)[wanted]
            self._rows.check_end()
        self._note_encoding()

    def whole(self, labels: Collection[str] = ()) -> "pd.DataFrame":
        """Read all rows; see `TableReader.whole`."""
        text = [*labels, *(name for name in self.columns if self.marks.decimal_of(name) != self.decimal)]
        with naming_the_table(self.name):
            frame = self._read_rows(dtype=dict.fromkeys(text, str))
            self._rows.check_end()
        self._note_encoding()
        text = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O" and name not in labels]
        return with_columns(frame, self._typed({name: frame[name] for name in text}))

    def _read_rows(self, **options: Any) -> Any:
        """Let pandas read the rows below the header."""
        missing = {"keep_default_na": False, "na_values": self.options.missing}
        version = tuple(int(part) for part in pd.__version__.split(".")[:2])
        # So that pandas reads the number that is written; later versions always do.
        exact = {} if version >= (3, 1) else {"float_precision": "round_trip"}
        options = {"names": self.columns, "decimal": self.decimal, "low_memory": False, **missing, **exact, **options}
        return self._read(self._rows, **options)

    def _read(self, source: Any, **options: Any) -> Any:
        """Let pandas read lines; of blanks, only those at the beginning of a cell are left out."""
        return pd.read_csv(source, sep=self._separator, header=None, skipinitialspace=True, **options)


def with_columns(frame: "pd.DataFrame", columns: "Mapping[str, pd.Series[Any]]") -> "pd.DataFrame":
    """Replace columns of a frame; many of them all at once, as this takes long one by one."""
    if len(columns) <= _FEW_COLUMNS:
        return frame.assign(**columns)
    return pd.DataFrame({name: columns.get(name, frame[name]) for name in frame.columns})


@contextmanager
def naming_the_table(name: str) -> Iterator[None]:
    """Turn whatever a parser raises on a bad table into a ValueError that names the table."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        if str(error).startswith(f"{name} "):
            raise
        raise ValueError(f"{name} cannot be read as a table: {str(error).strip()}") from error


def dates_as_text(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Write days as a text file has them, without the time of midnight; other labels are returned as they are."""
    if labels.dtype.kind != "M" or not (labels.dt.normalize() == labels).all():
        return labels
    return labels.dt.strftime("%Y-%m-%d")
