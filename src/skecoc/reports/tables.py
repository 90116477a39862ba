"""One structure for all tables, and its writers: text, CSV, LaTeX, HTML and Markdown."""

import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import compress, groupby
from typing import Any

from skecoc.support.text_layout import align, blocks, join

#: What a cell's mark says about its method.
_MARKS = {"+": "significantly better than WOLC-ECOC", "-": "significantly worse than WOLC-ECOC"}
_HEADING_WIDTH = 9
_NAME_WIDTH = 40
_LATEX_SPECIAL = str.maketrans({character: f"\\{character}" for character in "&%$#_{}"})


@dataclass(frozen=True)
class Cell:
    """One cell, its numbers already rounded for reading."""

    text: str = ""
    deviation: str = ""
    published: str = ""  # the number that others have published
    bold: bool = False
    published_bold: bool = False
    mark: str = ""  # "+" or "-"
    remark: str = ""  # shown in parentheses where there is no deviation
    value: float | None = None  # the number in full, to sort by


@dataclass(frozen=True)
class Row:
    """One row: its name and its cells."""

    name: str
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """A table whose headings have one line or several, all the same number."""

    name: str  # fit for a file
    title: str
    corner: str  # heading of the rows' names
    columns: list[tuple[str, ...]]
    keys: list[str]  # what each column stands for, such as the full name of its method
    rows: list[Row]
    footer: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)  # long form in full precision: what CSV holds
    closing: str = ""  # the conclusion, in a sentence
    command: str = ""  # what to run then, never broken into lines


def to_text(table: Table, width: int | None = None, *, with_deviations: bool = True) -> str:
    r"""Lay a table out for reading; one that is wider than `width` is broken into blocks of columns.

    Under each number stands its deviation in parentheses, and under that the published number in brackets; ``*`` stands
    for bold type. The text ends in what the table comes to. The lines are ASCII if the table's texts are.
    """
    rows = [*table.rows, *table.footer]
    stacks = [_text_stack(row, with_deviations) for row in rows]
    heights = [len(stack[0]) for stack in stacks]
    levels = [[_wrapped(part) for part in parts] for parts in zip(*table.columns, strict=True)]
    depths = [max(map(len, level)) for level in levels]
    headings = [  # the last lines of each part on the same level
        [line for lines, depth in zip(parts, depths, strict=True) for line in [""] * (depth - len(lines)) + lines]
        for parts in zip(*levels, strict=True)
    ]
    depth = len(headings[0])
    hanging = max(1, *(len(tail) for stack in stacks for lines in stack for _, tail in lines))
    columns = [
        align(heading, [f"{head}{tail:<{hanging}}" for stack in stacks for head, tail in stack[column]])
        for column, heading in enumerate(headings)
    ]
    short = [row.name if len(row.name) <= _NAME_WIDTH else f"{row.name[: _NAME_WIDTH - 3]}..." for row in rows]
    names = [line for name, height in zip(short, heights, strict=True) for line in [name, *[""] * (height - 1)]]
    labels = [name.ljust(max(map(len, names))) for name in [*[""] * depth, *names]]
    rules = [depth, depth + sum(heights[: len(table.rows)])] if table.footer else [depth]
    limit = None if width is None else width - len(labels[0])
    parts = [join([labels, *block], rules) for block in blocks(columns, limit)]
    notes = "\n".join(textwrap.fill(note, width or 120) for note in table.notes)
    closing = "\n".join([*textwrap.wrap(table.closing, width or 120), *([f"  {table.command}"] * bool(table.command))])
    return "\n\n".join(filter(None, [textwrap.fill(table.title, width or 120), *parts, notes, closing])) + "\n"


def to_csv(table: Table, digits: int = 8) -> str:
    """Write a table in long form as CSV; digits beyond the eighth depend on the machine."""
    if not table.records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table.records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: float(f"{value:.{digits}g}") if isinstance(value, float) else value for key, value in record.items()}
        for record in table.records
    )
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """Write a table in GitHub's Markdown; published numbers stand in italics on a second line of their cells."""
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
    r"""Write a table as a LaTeX ``table*`` with the label ``tab:name``; it needs the package graphicx.

    Each row has a line of numbers, one of deviations in parentheses and one of published numbers in italics, where
    there are any.
    """
    heading = []
    for level in range(len(table.columns[0])):
        cells = [rf"\multicolumn{{{n}}}{{c}}{{{_latex_text(text)}}}" for text, n in _merged(table, level)]
        heading.append(" & ".join([_latex_text(table.corner) if level == 0 else "", *cells]) + r" \\")
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
            *heading,
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
    """Write a table as an HTML fragment: a ``<table class="results" id="name">`` and a list of notes.

    The last line of the heading and all cells carry ``data-key`` (the method), cells ``data-value`` to sort by.
    """
    keys = [escape(key) for key in table.keys]
    body = [_html_row(row, keys) for row in table.rows]
    footer = ["<tfoot>", *(_html_row(row, keys) for row in table.footer), "</tfoot>"] if table.footer else []
    notes = [f"<li>{escape(note)}</li>" for note in table.notes]
    return "\n".join(
        [
            f'<table class="results" id="{escape(table.name)}">',
            f"<caption><span>{escape(table.title)}</span></caption>",
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


def _wrapped(text: str) -> list[str]:
    """Break a heading after hyphens into lines of at most `_HEADING_WIDTH` characters, where hyphens allow it."""
    lines = [""]
    for piece in re.findall(r"[^-]+-?|-", text):
        if lines[-1] and len(lines[-1] + piece) > _HEADING_WIDTH:
            lines.append("")
        lines[-1] += piece
    return lines


def _text_stack(row: Row, with_deviations: bool) -> list[list[tuple[str, str]]]:
    """Lines of every cell: number, deviation, published number, as far as a cell of the row has them.

    Each line has the text up to its last digit, and the marks after it.
    """
    stacks = []
    for cell in row.cells:
        detail = cell.deviation or cell.remark
        number = (cell.text, f"{'*' if cell.bold else ''}{cell.mark}" if cell.text else "")
        below = (f"({detail}", ")") if detail else ("", "")
        last = (f"[{cell.published}", "]*" if cell.published_bold else "]") if cell.published else ("", "")
        stacks.append([number, below, last])
    has_number, has_deviation, has_published = (any(head for head, _ in lines) for lines in zip(*stacks, strict=True))
    used = [has_number or not has_published, has_deviation and with_deviations, has_published]
    filled = [[lines[0] if lines[0][0] else (".", ""), *lines[1:]] for lines in stacks]
    return [list(compress(lines, used)) for lines in filled]


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _markdown_text(text: str) -> str:
    """Keep marks of a note from being read as formatting."""
    return text.replace("*", r"\*").replace("<", "&lt;")


def _markdown_cell(cell: Cell) -> str:
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


def _latex_row(row: Row) -> Iterator[str]:
    """Lines of a row in LaTeX: numbers, deviations, published numbers."""
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
    return text.translate(_LATEX_SPECIAL)


def _html_heading(table: Table, keys: list[str]) -> Iterator[str]:
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
    cells = ""
    for cell, key in zip(row.cells, keys, strict=True):
        value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
        text = f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text)
        if cell.deviation or cell.remark:
            detail = f"±{cell.deviation}" if cell.deviation else f"({cell.remark})"
            text += f" <small>{escape(detail)}</small>"
        if cell.mark:
            text += f'<sup title="{_MARKS[cell.mark]}">{cell.mark.replace("-", "−")}</sup>'
        published = f"<b>{escape(cell.published)}</b>" if cell.published_bold else escape(cell.published)
        ours = f'<span class="ours">{text}</span>' if text else ""
        theirs = f' <span class="published">{published}</span>' if cell.published else ""
        cells += f'<td data-key="{key}"{value}>{ours}{theirs}</td>'
    return f'<tr><th scope="row">{escape(row.name)}</th>{cells}</tr>'
