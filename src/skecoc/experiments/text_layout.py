"""Lay out columns of text side by side, in blocks no wider than a terminal."""

from collections.abc import Iterator, Sequence


def align(header: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Right-align a header and cells; marks hang to the right of the numbers.

    Parameters
    ----------
    header : sequence of str
        Lines above the cells. They are set one place further left, as the last place is for marks.
    cells : sequence of str
        The cells, each ending in a mark or a space.

    Returns
    -------
    list of str
        Lines of equal length, with a space before each.

    Examples
    --------
    >>> align(["ab/"], ["90.0*", "5.0 "])
    ['  ab/ ', ' 90.0*', '  5.0 ']
    """
    lines = [f"{line} " for line in header] + list(cells)
    width = max(len(line) for line in lines)
    return [f" {line:>{width}}" for line in lines]


def blocks(columns: Sequence[list[str]], limit: int | None) -> Iterator[list[list[str]]]:
    """Group columns of text so that no group is wider than the limit, one column at least.

    Parameters
    ----------
    columns : sequence of list of str
        The columns, each of lines of equal length.
    limit : int or None
        Width of a group; None makes one group.

    Yields
    ------
    list of list of str
        The columns of a group.

    Examples
    --------
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
    """Set columns of text side by side, with rules before some of the lines.

    Parameters
    ----------
    columns : sequence of sequence of str
        The columns, all of the same number of lines.
    rules_before : sequence of int
        Positions of lines; negative ones count from the end.

    Returns
    -------
    str
        The lines.

    Examples
    --------
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
