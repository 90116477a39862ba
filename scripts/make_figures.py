"""Draw the figures of README.md and docs/ with the library itself. Run by ``make figures``.

A figure that a page shows right below a block of Python is what that block draws. The code matrices of README.md are
drawn here.

    python scripts/make_figures.py                            # all
    python scripts/make_figures.py docs/user_guide/growth.md  # those of one page
"""

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _pages import ROOT, figure_of, python_blocks, run_page, written_pages
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from skecoc.coding import (
    decoc,
    dense_random,
    exhaustive,
    forest,
    hadamard,
    one_vs_one,
    one_vs_rest,
    ordinal,
    sparse_random,
)
from skecoc.datasets import load_uci
from skecoc.plotting import plot_code_matrix

FIGURES = ROOT / "docs" / "figures"
N_CLASSES = 6
N_RANDOM_COLUMNS = 15
# What satimage's class letters 1, 2, 3, 4, 5 and 7 stand for.
SOILS = ("red soil", "cotton", "grey soil", "damp grey", "stubble", "very damp")

# The layout, in inches: all cells are squares of one size, whatever the number of columns.
CELL = 0.25
LEFT, RIGHT, TOP, BOTTOM = 0.5, 0.3, 1.05, 0.2
ROW_GAP = 0.52
PANEL_GAP = 0.5
NAMED_PANEL_GAP = 1.0


class Panel(NamedTuple):
    """One matrix of the figure."""

    title: str
    matrix: NDArray[np.int8]
    class_names: tuple[str, ...]

    @property
    def width(self) -> float:
        """Width of the matrix in inches."""
        return CELL * self.matrix.shape[1]

    @property
    def gap(self) -> float:
        """Room that the class names on the left need, in inches."""
        return PANEL_GAP if max(map(len, self.class_names)) == 1 else NAMED_PANEL_GAP


def code_matrix_panels() -> list[list[Panel]]:
    """Build the matrices, row by row of the figure."""
    X, y = load_uci("satimage", return_X_y=True)
    y = np.unique(y, return_inverse=True)[1]
    letters = tuple("ABCDEF")
    return [
        [
            Panel("one-vs-rest", one_vs_rest(N_CLASSES), letters),
            Panel("ordinal", ordinal(N_CLASSES), letters),
            Panel("hadamard", hadamard(N_CLASSES), letters),
            Panel("decoc", decoc(X, y), SOILS),
        ],
        [
            Panel("one-vs-one", one_vs_one(N_CLASSES), letters),
            Panel("forest of 2 trees", forest(X, y, n_trees=2), SOILS),
        ],
        [
            Panel("dense-random", dense_random(N_CLASSES, n_columns=N_RANDOM_COLUMNS, random_state=0), letters),
            Panel("sparse-random", sparse_random(N_CLASSES, n_columns=N_RANDOM_COLUMNS, random_state=0), letters),
        ],
        [Panel("exhaustive", exhaustive(N_CLASSES), letters)],
    ]


def draw_code_matrices() -> Figure:
    """Draw one code matrix of each kind, for six classes."""
    rows = code_matrix_panels()
    height = CELL * N_CLASSES
    width = max(sum(panel.width + panel.gap for panel in row) - row[0].gap for row in rows)
    size = (LEFT + width + RIGHT, TOP + len(rows) * height + (len(rows) - 1) * ROW_GAP + BOTTOM)
    figure = plt.figure(figsize=size, facecolor="white")
    figure.suptitle("Code matrices for six classes: a row per class, a column per binary problem", y=1 - 0.18 / size[1])
    for i, row in enumerate(rows):
        x = LEFT - row[0].gap
        y = size[1] - TOP - height - i * (height + ROW_GAP)
        for panel in row:
            x += panel.gap
            _draw_panel(figure, panel, (x / size[0], y / size[1], panel.width / size[0], height / size[1]))
            x += panel.width
    _draw_legend(figure, size)
    return figure


def _draw_panel(figure: Figure, panel: Panel, box: tuple[float, float, float, float]) -> None:
    """Draw one matrix, its column letters left out: the title says how many there are."""
    axes = plot_code_matrix(panel.matrix, class_names=panel.class_names, ax=figure.add_axes(box))
    axes.set_title(f"{panel.title}: {panel.matrix.shape[1]} columns", fontsize=10, loc="left")
    axes.set_xlabel("")
    axes.set_xticks([])
    axes.tick_params(labelsize=9)


def _draw_legend(figure: Figure, size: tuple[float, float]) -> None:
    """Draw one legend for all panels, in the colours that the panels have."""
    image = figure.axes[0].images[0]
    meanings = {1: "+1: the class is on this side", -1: "\N{MINUS SIGN}1: on the other side", 0: "0: takes no part"}
    handles = [
        Patch(facecolor=image.cmap(image.norm(value)), edgecolor="0.6", linewidth=0.6, label=meaning)
        for value, meaning in meanings.items()
    ]
    figure.legend(handles=handles, loc="upper center", ncols=3, frameon=False, bbox_to_anchor=(0.5, 1 - 0.32 / size[1]))


def save(figure: Figure, path: Path) -> None:
    """Write a figure without the software's version, so that it is the same wherever matplotlib is the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    print(path.relative_to(ROOT))


def draw_figures_of_page(page: Path) -> None:
    """Run the code of a page and save the figures that its blocks draw and the page shows below them."""
    text = page.read_text(encoding="utf-8")
    if not any(map(figure_of, python_blocks(text))):
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for ran in run_page(text, str(page.relative_to(ROOT))):
            target = figure_of(ran.block)
            if target:
                save(plt.gcf(), (page.parent / target).resolve())
            plt.close("all")


def main() -> None:
    """Write every figure, or those of the pages that are named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pages", nargs="*", type=Path, help="pages of docs/ (default: all, and the code matrices)")
    pages = parser.parse_args().pages
    if not pages:
        save(draw_code_matrices(), FIGURES / "code_matrices.png")
    for page in pages or written_pages():
        draw_figures_of_page(page.resolve())


if __name__ == "__main__":
    main()
