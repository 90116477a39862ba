"""Tables of text: their encoding and separator are guessed, their rows checked, and pandas reads the cells.

`pandas.read_csv` fills rows that are too short and takes whatever follows a closing quote, so the bytes are checked
before it parses them, which takes a fraction of its time: the first malformed row is an error that names its line.
`pyarrow.csv` would need the same check, takes the separator in ``1, "x, y"`` for the end of a cell, and if it reads in
batches, the first one decides which columns hold integers.
"""

import codecs
import csv
import io
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.tables.readers import SEPARATORS, ReadingOptions, TableReader, naming_the_table, with_columns

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

_HEAD = 2**18  # bytes that guesses are made from
_SAMPLE_ROWS = 1000
_SEPARATOR_ROWS = 100
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_ENCODING_NAMES = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}

_BLOCK = 2**18
# Without a bound, a quote that is missing would fill memory.
_LONGEST_ROW = 64 * 2**20
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
_EMPTY = (b"", b'""')


class PeekedStream:
    """A stream of bytes whose beginning can be looked at before it is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._seen = stream, b""

    def peek(self, size: int) -> bytes:
        """Return the first bytes that were not read yet, without reading them; fewer at the end only."""
        while len(self._seen) < size and (block := self._stream.read(size - len(self._seen))):
            self._seen += block
        return self._seen[:size]

    def read(self, size: int = -1) -> bytes:
        """Read at most so many bytes, or all."""
        if size < 0:
            seen, self._seen = self._seen, b""
            return seen + self._stream.read()
        if self._seen:
            block, self._seen = self._seen[:size], self._seen[size:]
            return block
        return self._stream.read(size)


class Utf8Stream:
    """Text of any encoding as bytes of UTF-8, without a byte order mark; `head` is its beginning.

    An encoding that is not given is guessed: that of a byte order mark, UTF-16 if every second byte is zero, UTF-8,
    or else Windows-1252, which contains Latin-1. As long as there is nothing but ASCII, the last two are both possible.
    (Statistics of languages, as in charset-normalizer, find Windows-1250 or stranger ones in a few letters.)
    """

    def __init__(self, stream: PeekedStream, encoding: str | None = None) -> None:
        self._stream = stream
        start = stream.peek(_HEAD)
        self._is_open = encoding is None and start.isascii()
        self._decode_as(encoding or guess_encoding(start))
        self.head = self._convert(stream.read(_HEAD)).removeprefix(codecs.BOM_UTF8)
        self.is_whole = len(start) < _HEAD  # whether nothing follows the head
        self._rest = io.BytesIO(self.head)

    def read(self, size: int) -> bytes:
        """Return some bytes, about so many; none at the end."""
        found = self._rest.read(size)
        while not found and (block := self._stream.read(size)):
            found = self._convert(block)
        if not found and self._decoder is not None:
            found = self._convert(b"")
        return found

    def _decode_as(self, encoding: str) -> None:
        self.encoding = encoding
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()

    def _convert(self, block: bytes) -> bytes:
        """Turn a block into UTF-8; the first block that is not ASCII tells what else it is."""
        if self._is_open and not block.isascii():
            self._is_open = False
            self._decode_as(guess_encoding(block))
        if self._decoder is None:
            return block
        try:
            return self._decoder.decode(block, final=not block).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            neither = "neither UTF-8 nor Windows-1252" if self.encoding == "cp1252" else f"not {self.encoding}"
            code = error.object[error.start]
            raise ValueError(f"its text is {neither} (byte 0x{code:02x}); give its encoding") from error


def guess_encoding(start: bytes) -> str:
    """Guess the encoding of text by its beginning; see `Utf8Stream`.

    >>> guess_encoding("grün".encode("cp1252")), guess_encoding("a,b".encode("utf-16-le"))
    ('cp1252', 'utf-16-le')
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if start.startswith(mark):
            return encoding
    sample = start[:1000]
    if b"\0" in sample:
        shares = [sample[first::2].count(0) / max(len(sample) // 2, 1) for first in (0, 1)]
        if min(shares) > 0.05 or max(shares) < 0.5:
            raise ValueError("it is no text (byte 0x00)")
        return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start)
    n_bad = text.count("\ufffd")
    n_good = sum(not letter.isascii() for letter in text) - n_bad if n_bad else 1
    return "utf-8" if n_good >= n_bad else "cp1252"


def _read_sample(head: bytes, separator: str, *, is_whole: bool, n_rows: int = _SAMPLE_ROWS) -> list[list[str]]:
    """Return the first rows of a text that are not blank, as cells; one that is cut off at its end is left out."""
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO(head.decode("utf-8", "replace"), newline=""), delimiter=separator, skipinitialspace=True
    )
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not _is_separator_line(separator.join(row)):
                rows.append(row)
            if len(rows) > n_rows:
                return rows[:n_rows]
    except csv.Error:
        return rows  # a long cell, or an open quote: `CheckedRows` describes it
    return rows if is_whole else rows[: max(len(rows) - 1, 1)]


def _is_separator_line(line: str) -> bool:
    """Tell whether a line such as sep=; is one by which Excel says what separates cells."""
    return _SEPARATOR_LINE.fullmatch(line.strip()) is not None


def guess_separator(head: bytes, usual: str, *, is_whole: bool) -> str:
    r"""Guess the separator: the one with which most of the first rows have as many cells as the header has.

    >>> guess_separator(b"size;kind\n1,5;a\n2,5;b\n", ",", is_whole=True)
    ';'
    """
    first_line = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    if told := _SEPARATOR_LINE.fullmatch(first_line):
        return told[1]
    best, best_fit = usual, (0.0, 1, True)
    for separator in SEPARATORS:
        rows = _read_sample(head, separator, is_whole=is_whole, n_rows=_SEPARATOR_ROWS)
        n_cells = len(rows[0]) if rows else 1
        if n_cells > 1:
            n_alike = sum(len(row) == n_cells or (len(row) > n_cells and not any(row[n_cells:])) for row in rows)
            best_fit, best = max((best_fit, best), ((n_alike / len(rows), n_cells, separator == usual), separator))
    return best


class _Layout(NamedTuple):
    """Places in some text that begins with a row."""

    breaks: NDArray[np.intp]  # all line breaks, also those within quotes
    ends: NDArray[np.intp]  # line breaks that end a row
    separators: NDArray[np.intp]  # separators between cells
    open_quote: int | None  # a quote without an end
    is_broken: bool  # whether the open quote has an end, but further text follows in the same cell

    @property
    def end(self) -> int:
        """Return where the last whole row ends."""
        return int(self.ends[-1]) + 1 if len(self.ends) else 0


class CheckedRows:
    """A file-like object for pandas: whole rows with as many cells as the header, up to the first malformed one.

    `header` is the row that names the columns; its number of cells must be set as `n_cells` before reading.
    """

    def __init__(self, stream: Utf8Stream, separator: str) -> None:
        self.n_cells = 0
        self._stream, self._separator = stream, separator.encode()
        mark = re.escape(self._separator)
        self._quoted = re.compile(
            rb'(?:\A|(?<=[%b\r\n])) *"(?P<text>(?:[^"]|"")*+)(?P<end>"(?=[%b\r\n]|\Z))?' % (mark, mark)
        )
        self._may_touch_quotes = np.zeros(256, dtype=bool)
        self._may_touch_quotes[[*self._separator, _LINE_FEED, _RETURN, _QUOTE]] = True
        self._text, self._is_last = b"", False  # what was not checked yet, and whether nothing follows
        self._line = 0  # number of lines before that
        self._checked = io.BytesIO()
        self._defect = ""
        self.header = self._read_header()

    def read(self, size: int) -> bytes:
        """Return at most so many bytes of checked rows; none at the end, or where something is wrong."""
        while not (found := self._checked.read(size)) and not self._defect and (self._text or not self._is_last):
            self._checked = io.BytesIO(self._next_rows())
        return found

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks; pandas takes for a file only what can be iterated."""
        return iter(lambda: self.read(_BLOCK), b"")

    def check_end(self) -> None:
        """Raise a ValueError if the rows ended because something is wrong."""
        if self._defect:
            raise ValueError(self._defect)

    def _read_on(self) -> None:
        """Read a block, or as much again as there is of a long row; the last row gets a line break."""
        try:
            block = self._stream.read(max(_BLOCK, len(self._text)))
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(str(error).strip()) from error
        self._is_last = not block
        self._text += block
        if self._is_last and self._text and self._text[-1] not in (_LINE_FEED, _RETURN):
            self._text += b"\n"

    def _read_header(self) -> bytes:
        """Take the first row that is neither blank nor a line in which Excel names the separator."""
        while not self._is_last:
            self._read_on()
            layout, start = self._layout(), 0
            for end in (layout.ends + 1).tolist():
                row = self._text[start:end]
                if row.strip(b" \r\n" + self._separator) and not _is_separator_line(row.decode("utf-8", "replace")):
                    defect = self._bad_encoding(end, layout)
                    if defect is not None:
                        raise ValueError(defect[1])
                    self._text, self._line = self._text[end:], int(np.searchsorted(layout.breaks, end))
                    return row
                start = end
            defect = self._bad_quote(layout)
            if defect is not None:
                raise ValueError(defect[1])
        raise ValueError("it has no line that names the columns")

    def _next_rows(self) -> bytes:
        """Take the next whole rows up to the first malformed one, whose description is kept for the end."""
        try:
            self._read_on()
        except ValueError as error:
            self._defect = str(error)
            return b""
        text, layout = self._text, self._layout()
        surplus, bad_width = self._bad_width(layout)
        defects = [bad_width, self._bad_encoding(layout.end, layout), self._bad_quote(layout)]
        end, self._defect = min((found for found in defects if found is not None), default=(layout.end, ""))
        self._text, self._line = text[end:], self._line + int(np.searchsorted(layout.breaks, end))
        text = text[:end]
        ends = layout.ends[layout.ends < end]
        marks = np.frombuffer(text, np.uint8)
        alone = ends[marks[ends] == _RETURN]
        if len(alone):  # pandas drops some of the rows that end by a carriage return alone
            marks = marks.copy()
            marks[alone] = _LINE_FEED
            text = marks.tobytes()
        kept, first = [], 0
        for start, stop in surplus:
            kept.append(text[first:start])
            first = stop
        return b"".join([*kept, text[first:]])

    def _layout(self) -> _Layout:
        """Find the rows and cells of the text."""
        marks = np.frombuffer(self._text, np.uint8)
        is_break = marks == _LINE_FEED
        if _RETURN in self._text:  # which counts unless a line feed follows
            is_break[:-1] |= (marks[:-1] == _RETURN) & (marks[1:] != _LINE_FEED)
            is_break[-1] |= self._is_last
        breaks, separators = np.flatnonzero(is_break), np.flatnonzero(marks == self._separator[0])
        if _QUOTE not in self._text:
            return _Layout(breaks, breaks, separators, None, False)
        quotes, is_broken = self._quotes(marks)
        # An odd number of quotes before a place: it is within them.
        ends = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
        return _Layout(breaks, ends, separators, int(quotes[-1]) if len(quotes) % 2 else None, is_broken)

    def _quotes(self, marks: NDArray[np.uint8]) -> tuple[NDArray[np.intp], bool]:
        """Find the quotes around cells, opening and closing ones in turn, and whether the last cell is broken."""
        quotes = np.flatnonzero(marks == _QUOTE)
        before = marks[np.maximum(quotes[::2] - 1, 0)]
        after = marks[np.minimum(quotes[1::2] + 1, len(marks) - 1)]
        if self._may_touch_quotes[before].all() and self._may_touch_quotes[after].all():
            return quotes, False
        # Some are within cells that do not begin with one, or follow blanks: look at cells one by one.
        places = []
        for found in self._quoted.finditer(self._text):
            places.append(found.start())
            if found["end"] is None:
                return np.array(places), found.end("text") < len(self._text)
            places.append(found.end() - 1)
        return np.array(places, dtype=np.intp), False

    def _bad_width(self, layout: _Layout) -> tuple[list[tuple[int, int]], tuple[int, str] | None]:
        """Find the first row of another length than the header, and blank lines and surplus empty cells before it."""
        stops = np.searchsorted(layout.separators, layout.ends)
        n_cells = np.diff(stops, prepend=0) + 1
        surplus: list[tuple[int, int]] = []
        for row in np.flatnonzero(n_cells != self.n_cells).tolist():
            start, end = int(layout.ends[row - 1]) + 1 if row else 0, int(layout.ends[row])
            if n_cells[row] > self.n_cells:
                last = int(layout.separators[stops[row] - n_cells[row] + self.n_cells])
                if all(cell.strip() in _EMPTY for cell in self._text[last:end].split(self._separator)):
                    surplus.append((last, end))
                    continue
            elif self._text[start:end].strip() in _EMPTY:
                surplus.append((start, end + 1))
                continue
            cells = f"{n_cells[row]} cell{'s' if n_cells[row] > 1 else ''}"
            return surplus, (start, f"line {self._line_of(end, layout)} has {cells}, but its header has {self.n_cells}")
        return surplus, None

    def _bad_encoding(self, end: int, layout: _Layout) -> tuple[int, str] | None:
        """Find the first row that is not UTF-8."""
        try:
            self._text[:end].decode()
        except UnicodeDecodeError as error:
            row = int(np.searchsorted(layout.ends, error.start))
            line, code = self._line_of(error.start, layout), self._text[error.start]
            return int(layout.ends[row - 1]) + 1 if row else 0, f"line {line} is not UTF-8 (byte 0x{code:02x})"
        return None

    def _bad_quote(self, layout: _Layout) -> tuple[int, str] | None:
        """Find a quote that has no end, or an end within its cell."""
        quote = layout.end if layout.open_quote is None else layout.open_quote
        line = self._line_of(quote, layout)
        if layout.is_broken:
            return layout.end, f"line {line}: text follows a closing quote (is a quote missing?)"
        if len(self._text) - layout.end > _LONGEST_ROW:
            return layout.end, f"line {line}: a row of more than {_LONGEST_ROW:,} bytes (is a quote missing?)"
        if self._is_last and layout.open_quote is not None:
            return layout.end, f"line {line}: unexpected end of data within quotes (is a quote missing?)"
        return None

    def _line_of(self, place: int, layout: _Layout) -> int:
        """Return the number of the line that a place is in."""
        return self._line + 1 + int(np.searchsorted(layout.breaks, place))


class TextTable(TableReader):
    """A table of lines of text; the first line that is not blank names the columns."""

    def __init__(self, stream: Utf8Stream, name: str, options: ReadingOptions, usual: str) -> None:
        self._stream = stream
        self._separator = options.sep or guess_separator(stream.head, usual, is_whole=stream.is_whole)
        with naming_the_table(name):
            self._rows = CheckedRows(stream, self._separator)
            columns = self._read(io.BytesIO(self._rows.header), dtype=str, na_filter=False).iloc[0].tolist()
        super().__init__(name, columns, options, takes=("sep", "encoding"))
        self._rows.n_cells = len(self.columns)
        self._noted_encoding = options.encoding or "utf-8"
        self._note_encoding()
        if options.sep is None and self._separator != usual:
            parts = SEPARATORS.get(self._separator, repr(self._separator))
            self.notes.append(f"cells are separated by {parts}")
        _ = self.marks  # computed now so that its note comes first

    def _note_encoding(self) -> None:
        """Note the encoding that was guessed, which may not be known before the first byte that is not ASCII."""
        if self._stream.encoding != self._noted_encoding:
            self._noted_encoding = self._stream.encoding
            name = _ENCODING_NAMES.get(self._noted_encoding, self._noted_encoding.upper())
            self.notes.append(f"the text is taken for {name}, as it is not UTF-8")

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """The first cells; see `TableReader.sample`."""
        missing, stream = set(self.options.missing), self._stream
        rows = _read_sample(stream.head, self._separator, is_whole=stream.is_whole)[1:]
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
        # Numbers in another format than most of the table are read as text first.
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
