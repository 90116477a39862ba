"""Text for terminals and pages: no control characters, columns side by side, blocks no wider than a terminal."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any


def printable(text: str) -> str:
    r"""Spell out what a terminal or a browser would obey rather than show: names come from files of any origin.

    >>> printable("caf\u00e9 \x1b[2J\n")
    'caf\xe9 \\x1b[2J\\n'
    """
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def printable_data(value: Any) -> Any:
    r"""Spell out control characters in all texts of plain data; tuples become lists, as in JSON.

    >>> printable_data({"names": ("a\x07", 1)})
    {'names': ['a\\x07', 1]}
    """
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_data(part) for key, part in value.items()}
    return [printable_data(part) for part in value] if isinstance(value, list | tuple) else value


def align_left(lines: Sequence[str]) -> list[str]:
    r"""Left-align names; wide characters take two places on a terminal, accents of their own none.

    >>> align_left(["ab", "c"])
    ['ab', 'c ']
    """
    widths = [
        sum(0 if unicodedata.combining(mark) else 1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line)
        for line in lines
    ]
    return [line + " " * (max(widths) - width) for line, width in zip(lines, widths, strict=True)]


def align(header: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Right-align a header and cells that end in a mark or a space; marks hang to the right of the numbers.

    >>> align(["ab/"], ["90.0*", "5.0 "])
    ['  ab/ ', ' 90.0*', '  5.0 ']
    """
    lines = [f"{line} " for line in header] + list(cells)
    width = max(len(line) for line in lines)
    return [f" {line:>{width}}" for line in lines]


def blocks(columns: Sequence[list[str]], limit: int | None) -> Iterator[list[list[str]]]:
    """Group columns of text so that no group is wider than the limit, one column at least.

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
    """Set columns of text side by side, with rules before some of the lines (negative ones count from the end).

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
