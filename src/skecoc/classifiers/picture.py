"""A small picture of a fitted code, for notebooks."""

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.classifiers.pairs import row_names

# Largest number of rows and columns that are drawn.
_MOST_ROWS, _MOST_COLUMNS = 30, 60
_CELL, _LONGEST_NAME, _LETTER = 12, 24, 6.6
# Of equal lightness in the middle between black and white, so that they show on both.
_POSITIVE, _NEGATIVE = "#3d82c4", "#d8822b"


def draw_code(model: Any) -> str:
    """Draw the code matrix of a fitted classifier as SVG inside HTML: a row per class, a column per binary problem."""
    matrix = model.code_matrix_
    n_rows, n_columns = matrix.shape
    shown = matrix[:_MOST_ROWS, :_MOST_COLUMNS]
    names = row_names(model)[:_MOST_ROWS]
    left = 8 + int(_LETTER * max(len(_shortened(name)) for name in names))
    height, width = _CELL * len(shown), left + _CELL * shown.shape[1]
    is_cut = n_rows > _MOST_ROWS, n_columns > _MOST_COLUMNS
    parts = [
        f'<text x="{left - 5}" y="{_CELL * row + 9.5}" text-anchor="end">{escape(_shortened(name))}'
        f"<title>{escape(name)}</title></text>"
        for row, name in enumerate(names)
    ]
    parts += [
        _draw_column(pattern, left + _CELL * q, escape(str(title)))
        for q, (pattern, title) in enumerate(zip(shown.T, model.column_names_, strict=False))
    ]
    if is_cut[0]:
        parts.append(f'<text x="{left - 5}" y="{height + 9}" text-anchor="end">…</text>')
    if is_cut[1]:
        parts.append(f'<text x="{width + 3}" y="9.5">…</text>')
    code = escape(getattr(model, "coding_", ""))
    size = f"{n_rows} rows and {n_columns} columns" + (f", {code}" if code else "")
    return (
        '<div class="skecoc-code" style="margin: 0.6em 0; overflow-x: auto; font-size: 12px">'
        f'<div>Code matrix: {size}; <span style="color: {_POSITIVE}">■</span> +1 '
        f'<span style="color: {_NEGATIVE}">■</span> −1</div>'
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Code matrix: {size}" '
        f'width="{width + 16}" height="{height + 16}" font-family="monospace" font-size="11" fill="currentColor">'
        f"{''.join(parts)}</svg></div>"
    )


def _draw_column(pattern: NDArray[np.int8], x: int, title: str) -> str:
    """Draw a column, with its name as a tooltip."""
    sides, length = "", _CELL - 1
    for side, colour in ((1, _POSITIVE), (-1, _NEGATIVE)):
        squares = [f"M{x} {_CELL * row}h{length}v{length}h-{length}z" for row in np.flatnonzero(pattern == side)]
        if squares:
            sides += f'<path fill="{colour}" d="{"".join(squares)}"/>'
    ground = f'<rect x="{x}" width="{_CELL - 1}" height="{_CELL * len(pattern) - 1}" fill-opacity="0.08"/>'
    return f"<g><title>{title}</title>{ground}{sides}</g>"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
