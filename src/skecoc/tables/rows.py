"""Rows of a text table as pandas should see them: what it would mend without a word ends the table, and is named.

`pandas.read_csv` fills rows that are too short and takes whatever follows a closing quote. So the bytes are looked at
on their way to it, at several times the speed at which it parses them.
"""

import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.tables.dialect import Utf8Stream, is_separator_line

_BLOCK = 2**18
# Without a bound, a quote that is missing would fill memory.
_LONGEST_ROW = 64 * 2**20
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
_EMPTY = (b"", b'""')


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
    """A file-like object for pandas: whole rows with as many cells as the header, up to the first that has not.

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
        self._checked = BytesIO()
        self._defect = ""
        self.header = self._read_header()

    def read(self, size: int) -> bytes:
        """Return at most so many bytes of checked rows; none at the end, or where something is wrong."""
        while not (found := self._checked.read(size)) and not self._defect and (self._text or not self._is_last):
            self._checked = BytesIO(self._next_rows())
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
        """Take the first row that is not blank; Excel may say first what separates cells."""
        while not self._is_last:
            self._read_on()
            layout, start = self._layout(), 0
            for end in (layout.ends + 1).tolist():
                row = self._text[start:end]
                if row.strip(b" \r\n" + self._separator) and not is_separator_line(row.decode("utf-8", "replace")):
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
        """Take the whole rows of the next text, as far as they are right; what is wrong is kept for the end."""
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
        text = _with_line_feeds(text[:end], layout.ends[layout.ends < end])
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
        """Find the first row of another length than the header, and before it blank lines and empty cells, which go."""
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


def _with_line_feeds(text: bytes, ends: NDArray[np.intp]) -> bytes:
    """End all rows by line feeds; pandas drops some of those that end by a carriage return alone."""
    marks = np.frombuffer(text, np.uint8)
    alone = ends[marks[ends] == _RETURN]
    if not len(alone):
        return text
    marks = marks.copy()
    marks[alone] = _LINE_FEED
    return marks.tobytes()
