"""The one structure of the paper's tables: headings, rows of cells, averages, notes, and the same in long form."""

from dataclasses import dataclass, field
from typing import Any

#: What a cell's mark says about its method beside WOLC-ECOC.
MARKS = {"+": "significantly better than WOLC-ECOC", "-": "significantly worse than WOLC-ECOC", "": ""}


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        The number found here, rounded; empty if there is none.
    deviation : str
        Its standard deviation.
    published : str
        The number of the paper.
    bold, published_bold : bool
        Whether they are printed in bold.
    mark : str
        One of `MARKS`.
    remark : str
        What is shown in parentheses where there is no deviation.
    value : float or None
        The number found here in full, to sort by.
    """

    text: str = ""
    deviation: str = ""
    published: str = ""
    bold: bool = False
    published_bold: bool = False
    mark: str = ""
    remark: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Row:
    """One row: its name and its cells."""

    name: str
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """A table with a heading of several lines.

    Attributes
    ----------
    name : str
        A short name, fit for a file.
    title : str
        What it shows.
    corner : str
        Heading of the rows' names.
    columns : list of tuple of str
        Headings of each column, all with the same number of lines.
    keys : list of str
        What each column stands for, such as the full name of its method.
    rows : list of Row
        The rows, each with as many cells as there are columns.
    footer : list of Row
        Averages beneath them.
    notes : list of str
        How to read it, and what is not complete.
    records : list of dict
        The same in long form with full precision, all with the same keys: what CSV holds.
    """

    name: str
    title: str
    corner: str
    columns: list[tuple[str, ...]]
    keys: list[str]
    rows: list[Row]
    footer: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
