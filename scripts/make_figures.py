"""Draw the figures of the user guide with the library itself. Run by ``make figures``."""

from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

from skecoc import ECOCClassifier, WOLCClassifier
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
from skecoc.plotting import plot_code_matrix, plot_risk_coverage

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
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
            Panel("dense-random", dense_random(N_CLASSES, N_RANDOM_COLUMNS, random_state=0), letters),
            Panel("sparse-random", sparse_random(N_CLASSES, N_RANDOM_COLUMNS, random_state=0), letters),
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
    figure.suptitle("Code matrices for six classes: a row per class, a column per question", y=1 - 0.18 / size[1])
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


def draw_growth() -> Figure:
    """Draw test accuracy against rounds of growth, for classes of one cluster and of several."""
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for axes, n_clusters in zip(panels, (1, 2), strict=True):
        X, y = make_classification(
            4_000, 12, n_informative=8, n_classes=6, n_clusters_per_class=n_clusters, class_sep=1.2, random_state=0
        )
        train, test = (X[::2], y[::2]), (X[1::2], y[1::2])
        model = WOLCClassifier(patience=30, max_iter=30, random_state=0).fit(*train)
        rounds = np.arange(len(model.history_))
        shown = [record.out_of_fold_accuracy for record in model.history_]
        scores = list(model.staged_score(*test))
        axes.plot(rounds, scores, color="#2b6cb0", label="WOLC-ECOC, test")
        axes.plot(rounds, shown, color="0.5", linestyle="--", label="its own estimate, out of fold")
        axes.plot(model.best_round_, scores[model.best_round_], "o", color="#2b6cb0", label="the round that is kept")
        pairs = ECOCClassifier(decoding="loss-based").fit(*train).score(*test)
        axes.axhline(pairs, color="#d8822b", linewidth=1.2, label="one-vs-one, test")
        axes.set_title(f"six classes of {('one cluster', 'two clusters')[n_clusters - 1]} each", fontsize=10)
        axes.set_xlabel("round")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("accuracy")
    panels[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panels[1].legend(frameon=False, fontsize=9)
    return figure


def draw_risk_coverage() -> Figure:
    """Draw the error among samples that are decided against their share, of three models of vehicle."""
    X, y = load_uci("vehicle", return_X_y=True)
    models = {
        "one-vs-one": ECOCClassifier(random_state=0),
        "grown": WOLCClassifier(random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    }
    figure, axes = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    plot_risk_coverage({name: model.fit(X[::2], y[::2]) for name, model in models.items()}, X[1::2], y[1::2], ax=axes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Write every figure."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name, draw in (
        ("code_matrices", draw_code_matrices),
        ("growth", draw_growth),
        ("risk_coverage", draw_risk_coverage),
    ):
        path = FIGURES / f"{name}.png"
        figure = draw()
        # Without the software's version in it the file is the same wherever it is made with the same matplotlib.
        figure.savefig(path, dpi=150, metadata={"Software": None})
        plt.close(figure)
        print(path.relative_to(FIGURES.parents[1]))


if __name__ == "__main__":
    main()
