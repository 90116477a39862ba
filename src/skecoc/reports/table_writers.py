"""Write a table: as text, CSV, LaTeX, HTML and Markdown."""

import csv
import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from skecoc.reports.table_structure import MARKS, Cell, Row, Table
from skecoc.support.text_layout import align, blocks, join

_LATEX_SPECIAL = str.maketrans({character: f"\\{character}" for character in "&%$#_{}"})


def to_text(table: Table, width: int | None = None) -> str:
    r"""Lay a table out for reading.

    Parameters
    ----------
    table : Table
        The table.
    width : int, default=None
        Columns of the terminal. A wider table is broken into blocks of columns; None never breaks it.

    Returns
    -------
    str
        Lines of plain ASCII if the table's texts are. Under each number stands its deviation in parentheses, and under
        that the paper's number in brackets; ``*`` stands for bold type.

    Examples
    --------
    >>> cell = Cell("91.6", "0.2", "91.1", bold=True, mark="-")
    >>> print(to_text(Table("t", "Title", "", [("a", "b")], ["a/b"], [Row("iris", [cell])], notes=["A note."])))
    Title
    <BLANKLINE>
              a
              b
    ------------
    iris  91.6*-
          (0.2)
         [91.1]
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """
    rows = [*table.rows, *table.footer]
    stacks = [_text_stack(row) for row in rows]
    heights = [len(stack[0]) for stack in stacks]
    depth = len(table.columns[0])
    columns = [
        align(heading, [line for stack in stacks for line in stack[column]])
        for column, heading in enumerate(table.columns)
    ]
    names = [line for row, height in zip(rows, heights, strict=True) for line in [row.name, *[""] * (height - 1)]]
    labels = [name.ljust(max(map(len, names))) for name in [*[""] * depth, *names]]
    rules = [depth, depth + sum(heights[: len(table.rows)])] if table.footer else [depth]
    limit = None if width is None else width - len(labels[0])
    parts = [join([labels, *block], rules) for block in blocks(columns, limit)]
    notes = "\n".join(textwrap.fill(note, width or 120) for note in table.notes)
    return "\n\n".join([textwrap.fill(table.title, width or 120), *parts, *([notes] if notes else [])]) + "\n"


def to_csv(table: Table) -> str:
    r"""Write a table in long form as CSV.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        A header and one line per record, numbers with 8 significant digits; nothing at all for a table without records.

    Examples
    --------
    >>> to_csv(Table("t", "", "", [], [], [], records=[{"data_set": "iris", "mean": 0.5}]))
    'data_set,mean\niris,0.5\n'
    """
    if not table.records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table.records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _plain(value) for key, value in record.items()} for record in table.records)
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """Write a table in GitHub's Markdown.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        The title, the table and its notes. The paper's numbers stand in italics on a second line of their cells.

    Examples
    --------
    >>> cell = Cell("91.6", "0.2", "91.1", bold=True, mark="-")
    >>> print(to_markdown(Table("t", "Title", "", [("a", "b")], ["a/b"], [Row("iris", [cell])])))
    **Title**
    <BLANKLINE>
    | | a<br>b |
    |---|--:|
    | iris | **91.6** ± 0.2 −<br>*91.1* |
    <BLANKLINE>
    """
    heading = _markdown_line([table.corner, *("<br>".join(dict.fromkeys(lines)) for lines in table.columns)])
    rule = "|---|" + "--:|" * len(table.columns)
    rows = [_markdown_line([row.name, *map(_markdown_cell, row.cells)]) for row in [*table.rows, *table.footer]]
    notes = [f"- {_markdown_text(note)}" for note in table.notes]
    parts = [
        f"**{_markdown_text(table.title)}**",
        "\n".join([heading, rule, *rows]),
        *(["\n".join(notes)] if notes else []),
    ]
    return "\n\n".join(parts) + "\n"


def to_latex(table: Table) -> str:
    r"""Write a table as a LaTeX float, in the paper's layout.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        A ``table*`` with caption and label ``tab:name``; it needs the package graphicx. Each row has a line of numbers,
        one of deviations in parentheses and one of the paper's numbers in italics, where there are any.

    Examples
    --------
    >>> cell = Cell("91.6", "0.2", "91.1", bold=True, mark="-")
    >>> latex = to_latex(Table("t", "Title", "", [("a", "b")], ["a/b"], [Row("iris", [cell])]))
    >>> print("\n".join(latex.splitlines()[9:12]))
    iris & \textbf{91.6}$^{-}$ \\
     & (0.2) \\
     & \textit{91.1} \\
    """
    body = [line for row in table.rows for line in _latex_row(row)]
    footer = [r"\hline", *(line for row in table.footer for line in _latex_row(row))] if table.footer else []
    caption = _latex_text(" ".join([table.title.rstrip(".") + ".", *table.notes]))
    return "\n".join(
        [
            r"\begin{table*}[t]",
            rf"\caption{{\label{{tab:{table.name}}}{caption}}}",
            r"\centering",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\hline",
            *_latex_heading(table),
            r"\hline",
            *body,
            *footer,
            r"\hline",
            r"\end{tabular}}",
            r"\end{table*}",
            "",
        ]
    )


def to_html(table: Table) -> str:
    """Write a table as an HTML fragment.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        A ``<table class="results" id="name">`` with caption, heading, body and footer, and a list of notes. The last
        line of the heading and all cells carry ``data-key`` (the method); cells carry ``data-value`` to sort by.

    Examples
    --------
    >>> html = to_html(Table("t", "Title", "", [("a", "b")], ["a/b"], [Row("iris", [Cell("91.6", value=91.55)])]))
    >>> html.splitlines()[7]
    '<tr><th scope="row">iris</th><td data-key="a/b" data-value="91.55"><span class="ours">91.6</span></td></tr>'
    """
    keys = [escape(key) for key in table.keys]
    body = [_html_row(row, keys) for row in table.rows]
    footer = ["<tfoot>", *(_html_row(row, keys) for row in table.footer), "</tfoot>"] if table.footer else []
    notes = [f"<li>{escape(note)}</li>" for note in table.notes]
    return "\n".join(
        [
            f'<table class="results" id="{escape(table.name)}">',
            f"<caption>{escape(table.title)}</caption>",
            "<thead>",
            *_html_heading(table, keys),
            "</thead>",
            "<tbody>",
            *body,
            "</tbody>",
            *footer,
            "</table>",
            *(['<ul class="notes">', *notes, "</ul>"] if notes else []),
            "",
        ]
    )


#: Writers by the ending of the file that they make.
WRITERS: dict[str, Callable[[Table], str]] = {
    "txt": to_text,
    "csv": to_csv,
    "tex": to_latex,
    "html": to_html,
    "md": to_markdown,
}


def _plain(value: Any) -> Any:
    """Leave out digits that depend on the order of summation, and so on the machine."""
    return float(f"{value:.8g}") if isinstance(value, float) else value


def _text_stack(row: Row) -> list[list[str]]:
    """Lines of every cell: number, deviation, the paper's number, as far as a cell of the row has them."""
    stacks = [_text_lines(cell) for cell in row.cells]
    used = [any(lines) for lines in zip(*stacks, strict=True)]
    if not used[0] and not used[2]:
        used[0] = True
    return [[line for line, wanted in zip(_dotted(lines), used, strict=True) if wanted] for lines in stacks]


def _text_lines(cell: Cell) -> tuple[str, str, str]:
    """Lines of a cell; numbers end in the same place, marks hang to the right."""
    marks = f"{'*' if cell.bold else ''}{cell.mark}".ljust(2)
    published = f"[{cell.published}]{'*' if cell.published_bold else ' '}"
    return (
        f"{cell.text}{marks}" if cell.text else "",
        f"({cell.deviation or cell.remark}) " if cell.deviation or cell.remark else "",
        published if cell.published else "",
    )


def _dotted(lines: tuple[str, str, str]) -> tuple[str, str, str]:
    """Put a dot where there is no number."""
    return lines if lines[0] else (".  ", *lines[1:])


def _markdown_line(cells: Sequence[str]) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _markdown_text(text: str) -> str:
    """Keep marks of a note from being read as formatting."""
    return text.replace("*", r"\*").replace("<", "&lt;")


def _markdown_cell(cell: Cell) -> str:
    """One cell in Markdown."""
    text = f"**{cell.text}**" if cell.bold else cell.text or ("" if cell.published else "–")
    if cell.deviation or cell.remark:
        text += f" ± {cell.deviation}" if cell.deviation else f" ({cell.remark})"
    if cell.mark:
        text += f" {cell.mark.replace('-', '−')}"
    published = f"***{cell.published}***" if cell.published_bold else f"*{cell.published}*"
    return "<br>".join(part for part in (text, published if cell.published else "") if part)


def _merged(table: Table, level: int) -> Iterator[tuple[str, int]]:
    """Headings of one line, neighbours that agree down to it merged, with the number of their columns."""
    for heading, group in groupby(table.columns, key=lambda lines: lines[: level + 1]):
        yield heading[-1], len(list(group))


def _latex_heading(table: Table) -> Iterator[str]:
    """Lines of the heading in LaTeX."""
    for level in range(len(table.columns[0])):
        cells = [rf"\multicolumn{{{n}}}{{c}}{{{_latex_text(heading)}}}" for heading, n in _merged(table, level)]
        yield " & ".join([_latex_text(table.corner) if level == 0 else "", *cells]) + r" \\"


def _latex_row(row: Row) -> Iterator[str]:
    """Lines of a row in LaTeX: numbers, deviations, the paper's numbers."""
    numbers = [
        _latex_in("textbf", cell.text, cell.bold) + (f"$^{{{cell.mark}}}$" if cell.mark else "") for cell in row.cells
    ]
    details = [cell.deviation or cell.remark for cell in row.cells]
    published = [
        rf"\textit{{{_latex_in('textbf', cell.published, cell.published_bold)}}}" if cell.published else ""
        for cell in row.cells
    ]
    name = _latex_text(row.name)
    for cells in (numbers, [f"({_latex_text(detail)})" if detail else "" for detail in details], published):
        if any(cells):
            yield " & ".join([name, *cells]) + r" \\"
            name = ""


def _latex_in(command: str, text: str, wanted: bool) -> str:
    """Escape text, and set it in a command where wanted."""
    return f"\\{command}{{{_latex_text(text)}}}" if wanted else _latex_text(text)


def _latex_text(text: str) -> str:
    """Escape text for LaTeX."""
    return text.translate(_LATEX_SPECIAL)


def _html_heading(table: Table, keys: list[str]) -> Iterator[str]:
    """Lines of the heading in HTML."""
    depth = len(table.columns[0])
    corner = f'<th scope="col" rowspan="{depth}">{escape(table.corner)}</th>'
    for level in range(depth):
        if level == depth - 1:
            cells = [
                f'<th scope="col" data-key="{key}">{escape(lines[-1])}</th>'
                for key, lines in zip(keys, table.columns, strict=True)
            ]
        else:
            cells = [f'<th scope="colgroup" colspan="{n}">{escape(text)}</th>' for text, n in _merged(table, level)]
        yield f"<tr>{corner if level == 0 else ''}{''.join(cells)}</tr>"


def _html_row(row: Row, keys: list[str]) -> str:
    """One row in HTML."""
    cells = "".join(_html_cell(cell, key) for cell, key in zip(row.cells, keys, strict=True))
    return f'<tr><th scope="row">{escape(row.name)}</th>{cells}</tr>'


def _html_cell(cell: Cell, key: str) -> str:
    """One cell in HTML."""
    value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
    text = f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text)
    if cell.deviation or cell.remark:
        detail = f"±{cell.deviation}" if cell.deviation else f"({cell.remark})"
        text += f" <small>{escape(detail)}</small>"
    if cell.mark:
        text += f'<sup title="{MARKS[cell.mark]}">{cell.mark.replace("-", "−")}</sup>'
    published = f"<b>{escape(cell.published)}</b>" if cell.published_bold else escape(cell.published)
    spans = (f'<span class="ours">{text}</span>' if text else "") + (
        f' <span class="published">{published}</span>' if cell.published else ""
    )
    return f'<td data-key="{key}"{value}>{spans}</td>'
