"""Lay out columns of text side by side, in blocks no wider than a terminal."""

from collections.abc import Iterator, Sequence


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
