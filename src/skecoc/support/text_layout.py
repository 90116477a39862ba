"""Text for terminals and pages: control characters escaped, columns side by side, blocks no wider than a terminal."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any


def printable(text: str) -> str:
    r"""Escape characters that do not print: names come from files, and may have control characters of terminals.

    >>> printable("caf\u00e9 \x1b[2J\n")
    'caf\xe9 \\x1b[2J\\n'
    """
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def printable_data(value: Any) -> Any:
    r"""Escape characters that do not print in all texts of plain data; tuples become lists, as in JSON.

    >>> printable_data({"names": ("a\x07", 1)})
    {'names': ['a\\x07', 1]}
    """
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_data(part) for key, part in value.items()}
    return [printable_data(part) for part in value] if isinstance(value, list | tuple) else value


def align_left(lines: Sequence[str]) -> list[str]:
    r"""Pad names to the same width on a terminal, where wide characters take two places and combining marks none.

    >>> align_left(["ab", "c"])
    ['ab', 'c ']
    """
    widths = [
        sum(0 if unicodedata.combining(mark) else 1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line)
        for line in lines
    ]
    return [line + " " * (max(widths) - width) for line, width in zip(lines, widths, strict=True)]


def align(header: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Right-align a header and cells; each cell ends in a mark or a space, so that its number is aligned.

    >>> align(["ab/"], ["90.0*", "5.0 "])
    ['  ab/ ', ' 90.0*', '  5.0 ']
    """
    lines = [f"{line} " for line in header] + list(cells)
    width = max(len(line) for line in lines)
    return [f" {line:>{width}}" for line in lines]


def blocks(columns: Sequence[list[str]], limit: int | None) -> Iterator[list[list[str]]]:
    """Group columns of text into blocks no wider than the limit; each has at least one column.

    >>> [len(block) for block in blocks([["aa"], ["bb"], ["cc"]], 4)]
    [2, 1]
    """
    block: list[list[str]] = []
    used = 0
    for column in columns:
        if block and limit is not None and used + len(column[0]) > limit:
            yield block
            block, used = [], 0
        block.append(column)
        used += len(column[0])
    yield block


def join(columns: Sequence[Sequence[str]], rules_before: Sequence[int]) -> str:
    """Set columns of text side by side, with rules before some of the lines; negative numbers count from the end.

    >>> print(join([["a", "b"], ["1", "2"]], [1]))
    a1
    --
    b2
    """
    lines = ["".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    width = max(len(line) for line in lines)
    for position in sorted({rule % len(lines) for rule in rules_before}, reverse=True):
        lines.insert(position, "-" * width)
    return "\n".join(lines)
