"""What is guessed from the beginning of a file: its format, the encoding of its text, and what separates its cells."""

import codecs
import csv
import io
import re
from typing import BinaryIO

from skecoc.support.errors import InputError

#: What may separate cells, and what messages call it.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

_SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "bar": "|", "pipe": "|"}
_HEAD = 2**18  # bytes that guesses are made from
_SAMPLE_ROWS = 1000
_SEPARATOR_ROWS = 100
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)

_STARTS = {
    b"\x1f\x8b": "gzip",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"PK\x03\x04": "workbook",
    b"\xd0\xcf\x11\xe0": "workbook",
}
_FOREIGN_STARTS = {
    b"BZh": "compressed by bzip2; unpack it, or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it, or compress it by gzip",
    b"(\xb5/\xfd": "compressed by zstd; unpack it, or compress it by gzip",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it",
    b"%PDF": "a PDF document; save its table as CSV or Excel",
    b"SQLite format 3": "an SQLite database; save a table of it as CSV",
    b"\x89HDF": "an HDF5 file; save its table as CSV or Parquet",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
_MARKUP = re.compile(rb"\s*<(!doctype|html|table|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*"|\[\s*\{)')


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


def format_of(start: bytes) -> str:
    """Tell by the first bytes what a file is: gzip, parquet, arrow, workbook, json or text; others are refused."""
    for mark, name in _STARTS.items():
        if start.startswith(mark):
            return name
    for mark, description in _FOREIGN_STARTS.items():
        if start.startswith(mark):
            raise ValueError(f"it is {description}")
    if _MARKUP.match(start):
        raise ValueError("it is a web page or XML; save its table as CSV or Excel")
    return "json" if _JSON.match(start) else "text"


class Utf8Stream:
    """Text of any encoding as bytes of UTF-8, without a byte order mark; `head` is its beginning.

    An encoding that is not given is guessed: that of a byte order mark, UTF-16 if every second byte is zero, UTF-8,
    or else Windows-1252, which contains Latin-1. As long as there is nothing but ASCII, the last two are both possible.
    (Statistics of languages, as in charset-normalizer, find Windows-1250 or stranger ones in a few letters.)
    """

    def __init__(self, stream: PeekedStream, encoding: str | None = None) -> None:
        self._stream = stream
        start = stream.peek(_HEAD)
        self.encoding = encoding or guess_encoding(start)
        self._is_open = encoding is None and start.isascii()
        self._decoder = None if self.encoding == "utf-8" else codecs.getincrementaldecoder(self.encoding)()
        head = self._convert(stream.read(_HEAD))
        self.head = head.removeprefix(codecs.BOM_UTF8)
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

    def _convert(self, block: bytes) -> bytes:
        """Turn a block into UTF-8; the first block that is not ASCII tells what else it is."""
        if self._is_open and not block.isascii():
            self._is_open = False
            self.encoding = guess_encoding(block)
            self._decoder = None if self.encoding == "utf-8" else codecs.getincrementaldecoder(self.encoding)()
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


def read_sample(head: bytes, separator: str, *, is_whole: bool, n_rows: int = _SAMPLE_ROWS) -> list[list[str]]:
    """Return the first rows of a text that are not blank, as cells; one that is cut off at its end is left out."""
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO(head.decode("utf-8", "replace"), newline=""), delimiter=separator, skipinitialspace=True
    )
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not is_separator_line(separator.join(row)):
                rows.append(row)
            if len(rows) > n_rows:
                return rows[:n_rows]
    except csv.Error:
        return rows  # a long cell, or one that does not end: whoever reads the rows says what is wrong
    return rows if is_whole else rows[: max(len(rows) - 1, 1)]


def is_separator_line(line: str) -> bool:
    """Tell whether a line such as sep=; is one by which Excel says what separates cells."""
    return _SEPARATOR_LINE.fullmatch(line.strip()) is not None


def guess_separator(head: bytes, usual: str, *, is_whole: bool) -> str:
    r"""Guess what separates cells: what gives most of the first rows as many cells as the header, and most of them.

    >>> guess_separator(b"size;kind\n1,5;a\n2,5;b\n", ",", is_whole=True)
    ';'
    """
    first_line = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    if told := _SEPARATOR_LINE.fullmatch(first_line):
        return told[1]
    best, best_fit = usual, (0.0, 1, True)
    for separator in SEPARATORS:
        rows = read_sample(head, separator, is_whole=is_whole, n_rows=_SEPARATOR_ROWS)
        n_cells = len(rows[0]) if rows else 1
        if n_cells > 1:
            n_alike = sum(len(row) == n_cells or (len(row) > n_cells and not any(row[n_cells:])) for row in rows)
            best_fit, best = max((best_fit, best), ((n_alike / len(rows), n_cells, separator == usual), separator))
    return best


def separator_of(text: str) -> str:
    r"""Return the separator that a user names: a character, or a word such as tab; an InputError refuses others."""
    mark = _SEPARATOR_NAMES.get(text.lower().removesuffix("s"), text)
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in ' "\r\n':
        names = ", ".join(name for name in _SEPARATOR_NAMES if name.isalpha())
        raise InputError(f"sep={text!r} cannot separate cells; expected {names} or another single character")
    return mark
