"""Blocks of docs/user_guide/choosing.md, from docs/results/choosing.json, which benchmarks/choosing.py keeps."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _markdown import table

#: All methods of the dense families, in the order of the page; those of this library first.
METHODS = (
    "mixed",
    "WOLC stumps",
    "one-vs-one stumps",
    "RandomForest",
    "HistGradientBoosting",
    "SVC",
    "LogisticRegression",
)
OURS = METHODS[:3]
BASE = "RandomForest"
FAMILIES = {"one": "one cluster per class", "two": "two clusters per class"}
TEXT = "text"
SKIPPED = "-"
DECIMALS = {"accuracy": 1, "log_loss": 2, "fit": 2, "predict": 2}
#: Differences of accuracy up to this, in points, count as equal.
LEVEL = 0.5

Cell = tuple[str, int, int]  # family, samples, classes
Run = dict[str, float | None]


@dataclass(frozen=True)
class Choosing:
    """What was measured, cell by cell."""

    runs: dict[Cell, dict[str, Run]]
    settings: dict[str, float]
    versions: dict[str, str]

    def cells(self, family: str) -> list[Cell]:
        """List the cells of a family that the forest was measured in, few samples first."""
        return sorted(cell for cell, row in self.runs.items() if cell[0] == family and "fit" in row.get(BASE, {}))

    def dense_cells(self) -> list[Cell]:
        """List the cells of all families but text."""
        return [cell for family in FAMILIES for cell in self.cells(family)]

    def value(self, cell: Cell, method: str, measure: str) -> float:
        """Return a measure, times as a ratio to the forest's; NaN if it was skipped or does not exist."""
        run = self.runs[cell].get(method, {})
        found = run.get(measure)
        if found is None:
            return np.nan
        return found / self.runs[cell][BASE][measure] if measure in {"fit", "predict"} else found

    def values(self, cells: Sequence[Cell], measure: str, methods: Sequence[str] = METHODS) -> np.ndarray:
        """Return a measure by cell and method."""
        return np.array([[self.value(cell, method, measure) for method in methods] for cell in cells])


def read_choosing(path: Path) -> Choosing:
    """Read what the benchmark keeps."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    runs: dict[Cell, dict[str, Run]] = {}
    for run in kept["runs"]:
        names = ("family", "samples", "classes", "method")
        cell = run["family"], run["samples"], run["classes"]
        runs.setdefault(cell, {})[run["method"]] = {name: run[name] for name in run if name not in names}
    return Choosing(runs, kept["settings"], kept["versions"])


def joined(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> joined(["a", "b", "c"]), joined([])
    ('a, b and c', 'none')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else "none"


def text_of(value: float, measure: str) -> str:
    """Write a number; large ratios without decimals."""
    if np.isnan(value):
        return SKIPPED
    is_large = measure in {"fit", "predict"} and value >= 10
    return f"{value:.0f}" if is_large else f"{value:.{DECIMALS[measure]}f}"


def by_cell(found: Choosing, family: str, measure: str) -> str:
    """Lay out a measure by cell and method; the best in bold, but of times."""
    cells = found.cells(family)
    rows = []
    for cell, values in zip(cells, found.values(cells, measure), strict=True):
        best = np.nanmax(values) if measure == "accuracy" else np.nanmin(values)
        row = [text_of(value, measure) for value in values]
        if measure in {"accuracy", "log_loss"}:
            top = text_of(best, measure)
            row = [f"**{text}**" if text == top else text for text in row]
        if measure in {"fit", "predict"}:
            row.append(f"{found.runs[cell][BASE][measure]:.2f}")
        rows.append([f"{cell[1]:,}", str(cell[2]), *row])
    header = ["samples", "classes", *METHODS]
    return table([*header, "RandomForest, seconds"] if measure in {"fit", "predict"} else header, rows)


def text_table(found: Choosing) -> str:
    """Lay out all measures on sparse text."""
    rows = []
    for cell in found.cells(TEXT):
        for method in found.runs[cell]:
            values = [
                text_of(found.value(cell, method, name), name) for name in ("accuracy", "log_loss", "fit", "predict")
            ]
            rows.append([method, f"{cell[1]:,}", *values])
    return table(["method", "samples", "accuracy %", "log-loss", "time of `fit`", "time of `predict`"], rows)


def place(cell: Cell) -> str:
    """Name a cell."""
    return f"{cell[1]:,} samples of {cell[2]} classes ({FAMILIES[cell[0]]})"


def leaders(found: Choosing) -> str:
    """Say who is most accurate, and where mixed is not."""
    cells = [cell for cell in found.dense_cells() if not np.isnan(found.value(cell, "mixed", "accuracy"))]
    values = found.values(cells, "accuracy")
    others = values[:, len(OURS) :]
    gains = values[:, 0] - np.nanmax(others, axis=1)
    behind = [
        f"{place(cell)}, by {-gain:.1f} ({METHODS[len(OURS) + int(np.nanargmax(row))]})"
        for cell, gain, row in zip(cells, gains, others, strict=True)
        if gain < -LEVEL
    ]
    ratios = found.values(cells, "fit")[:, 0]
    names = METHODS[len(OURS) :]
    over = [f"{np.nanmean(values[:, 0] - values[:, METHODS.index(name)]):+.1f} points over {name}" for name in names]
    return (
        f"- mixed was measured in {len(cells)} cells. It is ahead of the best of the four ordinary classifiers by more "
        f"than half a point of accuracy in {(gains > LEVEL).sum()}, level in {(np.abs(gains) <= LEVEL).sum()} and "
        f"behind in {(gains < -LEVEL).sum()}{': ' + '; '.join(behind) if behind else ''}.\n"
        f"- On average over these cells it gains {joined(over)}.\n"
        f"- It has the lowest log-loss in {lowest(found, cells)} of them.\n"
        f"- It takes {text_of(ratios.min(), 'fit')} to {text_of(ratios.max(), 'fit')} times as long as the forest in "
        f"`fit`, {np.exp(np.log(ratios).mean()):.0f} times in the geometric mean, and "
        f"{np.exp(np.log(found.values(cells, 'predict')[:, 0]).mean()):.1f} times as long in `predict`.\n"
    )


def lowest(found: Choosing, cells: Sequence[Cell]) -> int:
    """Count the cells in which mixed has the lowest log-loss of all methods with probabilities."""
    values = found.values(cells, "log_loss")
    return int((values[:, 0] <= np.nanmin(values, axis=1)).sum())


def within(found: Choosing) -> str:
    """Compare the methods of this library with each other and with the forest."""
    cells = found.dense_cells()
    accuracy, times = found.values(cells, "accuracy"), found.values(cells, "fit")
    forest, lines = METHODS.index(BASE), []
    for k, method in enumerate(OURS[1:], start=1):
        gains = accuracy[:, k] - accuracy[:, forest]
        known = ~np.isnan(gains)
        lines.append(
            f"- {method}: {gains[known].mean():+.1f} points of accuracy against RandomForest on average over "
            f"{known.sum()} cells ({gains[known].min():+.1f} to {gains[known].max():+.1f}), in "
            f"{np.exp(np.log(times[known, k]).mean()):.2f} of its time of `fit` (geometric mean).\n"
        )
    return "".join(lines)


def most_accurate(found: Choosing) -> str:
    """Say for each number of samples and classes which methods are within half a point of the most accurate one."""
    sizes = sorted({cell[1] for cell in found.dense_cells()})
    n_classes = sorted({cell[2] for cell in found.dense_cells()})
    rows = []
    for size in sizes:
        row = [f"{size:,}"]
        for number in n_classes:
            cells = [cell for cell in found.dense_cells() if cell[1:] == (size, number)]
            row.append(near_the_best(found, cells) if cells else "")
        rows.append(row)
    return table(["samples", *(f"{number} classes" for number in n_classes)], rows)


def near_the_best(found: Choosing, cells: Sequence[Cell]) -> str:
    """Name the methods within half a point of the best mean accuracy over cells, and say if mixed was skipped."""
    means = found.values(cells, "accuracy").mean(axis=0)
    near = [METHODS[k] for k in np.argsort(-means) if means[k] >= np.nanmax(means) - LEVEL]
    return ", ".join(near) + (" (mixed skipped)" if np.isnan(means[0]) else "")


def skipped(found: Choosing) -> str:
    """List what was not measured since it would have taken too long."""
    parts = []
    for method in METHODS:
        cells = [cell for cell, row in sorted(found.runs.items()) if "skipped" in row.get(method, {})]
        if cells:
            parts.append(f"{method}: {'; '.join(place(cell) for cell in cells)}.")
    limit = f"Skipped, since `fit` would have taken more than {found.settings['limit']:.0f} seconds, judged by the fit "
    return limit + "with fewer samples:" + ("\n\n" + "".join(f"- {part}\n" for part in parts) if parts else " nothing.")


def how(found: Choosing) -> str:
    """Say what versions were used."""
    versions = " and ".join(f"{name} {number}" for name, number in found.versions.items())
    return (
        f"Test parts have {found.settings['test_samples']:,} samples. Cells with fewer than "
        f"{found.settings['samples_per_class']} samples per class are left out. Measured with {versions}."
    )


def choosing_blocks(path: Path) -> dict[str, Callable[[], str]]:
    """Name the blocks of the page, and say how they are made; none if there are no results."""
    if not path.exists():
        return {}
    found = read_choosing(path)
    blocks: dict[str, Callable[[], str]] = {
        "choosing-best": lambda: most_accurate(found),
        "choosing-leaders": lambda: leaders(found),
        "choosing-within": lambda: within(found),
        "choosing-text": lambda: text_table(found),
        "choosing-skipped": lambda: skipped(found),
        "choosing-how": lambda: how(found),
    }
    for family in FAMILIES:
        for measure in DECIMALS:
            blocks[f"choosing-{measure}-{family}"] = lambda f=family, m=measure: by_cell(found, f, m)
    return blocks
