"""Blocks and figures of docs/results/growth.md, from what the benchmarks keep beside that page.

`growth.json`, `fixed_codes.json`, `ablation.json` and `peers.json` are written by benchmarks/growth.py, fixed_codes.py,
ablation.py and wolc_peers.py.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from _markdown import ranks_differ, table
from scipy.stats import rankdata

from skecoc.reports.pictures import Picture, drawing_style, new_figure

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "results"
BUDGETS = {
    "2": "2 per class",
    "auto": '`"auto"` (3 per class)',
    "4": "4 per class",
    "8": "8 per class",
    "None": "no limit",
}
SYNTHETIC = ("3x3", "4x4", "6x2", "26x1", "checkerboard", "rings", "boxes")
KINDS = ("probabilities", "labels")
BLUE, ORANGE, GREY = "#2b6cb0", "#d8822b", "#777777"


def read(name: str) -> dict[str, Any]:
    """Read what a benchmark keeps."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def sets_of(*, synthetic: bool) -> dict[str, Any]:
    """Return the measurements of growth.json, of real sets or of synthetic ones."""
    return {name: row for name, row in read("growth")["sets"].items() if (name in SYNTHETIC) == synthetic}


def best(row: Mapping[str, Any], coding: str) -> float:
    """Return the accuracy of a coding with the decoding that is best on the test part."""
    return max(row[coding].values())


def means(sets: Mapping[str, Any], kind: str) -> list[str]:
    """Average over sets: accuracies, gains over one-vs-one and over the better of the two codings, columns, time."""
    rows, names = [row[kind] for row in sets.values()], list(sets)
    grown = np.array([row["WOLC-ECOC"] for row in rows])
    pairs, rest = (np.array([best(row, coding) for row in rows]) for coding in ("one-vs-one", "one-vs-rest"))
    cells = [f"{values.mean():.2f}" for values in (grown, pairs, rest)]
    for gains in (grown - pairs, grown - np.maximum(pairs, rest)):
        lowest = f"{gains.min():+.2f} ({names[gains.argmin()]})"
        cells += [f"{gains.mean():+.2f}", lowest, f"{(gains > 1).sum()}/{(gains < -1).sum()}"]
    columns, times = np.array([(row["columns"], row["time"]) for row in rows]).T
    return [*cells, f"{columns.mean():.0f}", f"{np.median(times):.0f}"]


def summary() -> str:
    """Set WOLC-ECOC beside one-vs-one and one-vs-rest, on average."""
    header = [
        "",
        "WOLC-ECOC",
        "one-vs-one",
        "one-vs-rest",
        "gain over one-vs-one",
        "smallest",
        "better/worse by 1 point",
        "gain over the better of both",
        "smallest",
        "better/worse by 1 point",
        "columns",
        "time",
    ]
    groups = {"real": sets_of(synthetic=False), "synthetic": sets_of(synthetic=True)}
    rows = [
        [f"{len(sets)} {group} sets, {kind}", *means(sets, kind)] for kind in KINDS for group, sets in groups.items()
    ]
    return table(header, rows)


def by_set(kind: str) -> str:
    """Set WOLC-ECOC beside one-vs-one and one-vs-rest, set by set."""
    rows = []
    for name, row in read("growth")["sets"].items():
        found, n_classes = row[kind], row["classes"]
        rows.append(
            [
                name,
                f"{row['rows']:,}",
                str(n_classes),
                f"{found['WOLC-ECOC']:.1f}",
                f"{best(found, 'one-vs-one'):.1f}",
                f"{best(found, 'one-vs-rest'):.1f}",
                f"{found['WOLC-ECOC'] - best(found, 'one-vs-one'):+.1f}",
                f"{found['estimate']:.1f}",
                f"{found['columns']:.0f}",
                str(n_classes * (n_classes - 1) // 2),
                f"{found['rounds']:.1f}",
                f"{found['time']:.0f}",
            ]
        )
    header = [
        "set",
        "training rows",
        "classes",
        "WOLC-ECOC",
        "one-vs-one",
        "one-vs-rest",
        "gain",
        "own estimate",
        "columns",
        "columns of one-vs-one",
        "rounds kept",
        "time",
    ]
    return table(header, rows)


def estimates() -> str:
    """Say how well the out-of-fold estimate agrees with the test part."""
    lines = []
    for kind in KINDS:
        for synthetic, group in ((False, "real"), (True, "synthetic")):
            rows = [row[kind] for row in sets_of(synthetic=synthetic).values()]
            values = np.array([(row["estimate"], row["WOLC-ECOC"]) for row in rows])
            difference = values[:, 0] - values[:, 1]
            lines.append(
                [
                    f"{len(values)} {group} sets, {kind}",
                    f"{np.corrcoef(values.T)[0, 1]:.3f}",
                    f"{difference.mean():+.2f}",
                    f"{np.abs(difference).mean():.2f}",
                    f"{difference.max():+.2f}",
                    f"{difference.min():+.2f}",
                ]
            )
    header = ["", "correlation", "mean difference", "mean absolute difference", "most too high", "most too low"]
    return table(header, lines)


def budgets() -> str:
    """Show what a limit on the number of columns costs: accuracy and, in brackets, columns."""
    found = read("growth")["budgets"]
    rows = []
    for name, row in found.items():
        cells = {str(cell["budget"]): f"{cell['accuracy']:.1f} ({cell['columns']:.0f})" for cell in row}
        rows.append([name, *(cells[budget] for budget in BUDGETS)])
    cells = {key: [next(c for c in row if c["budget"] == key) for row in found.values()] for key in BUDGETS}
    average = [
        f"{np.mean([c['accuracy'] for c in column]):.1f} ({np.mean([c['columns'] for c in column]):.0f})"
        for column in cells.values()
    ]
    return table(["set", *BUDGETS.values()], [*rows, ["**mean**", *average]])


def fixed_gains() -> dict[str, dict[str, float]]:
    """Return by coding and set what optimised weights gain over the better of the two fixed decodings."""
    return {
        coding: {name: row["optimized"] - max(row["loss-based"], row["loss-weighted"]) for name, row in rows.items()}
        for coding, rows in read("fixed_codes")["found"].items()
    }


def fixed_codes() -> str:
    """Set optimised weights beside the fixed decodings, coding by coding."""
    rows = []
    for (coding, found), gains in zip(read("fixed_codes")["found"].items(), fixed_gains().values(), strict=True):
        names, gain = list(gains), np.array(list(gains.values()))
        rows.append(
            [
                f"{coding} ({len(gain)} sets)",
                *(
                    f"{np.mean([row[decoding] for row in found.values()]):.2f}"
                    for decoding in ("loss-based", "loss-weighted", "equal", "optimized")
                ),
                f"{np.mean([row['optimized'] - row['equal'] for row in found.values()]):+.2f}",
                f"{gain.mean():+.2f}",
                f"{gain.max():+.2f} ({names[gain.argmax()]})",
                f"{gain.min():+.2f} ({names[gain.argmin()]})",
                f"{(gain > 1).sum()}/{(gain < -1).sum()}",
                f"{100 * np.mean([row['taken'] for row in found.values()]):.0f} %",
            ]
        )
    header = [
        "coding",
        "loss-based",
        "loss-weighted",
        "equal weights",
        "optimised weights",
        "over equal ones",
        "over the better fixed",
        "largest",
        "smallest",
        "better/worse by 1 point",
        "optimised taken",
    ]
    return table(header, rows)


def ablation() -> str:
    """Set the variants of benchmarks/ablation.py side by side; a variant is left out of a set that it cannot fit."""
    found = read("ablation")["found"]
    names = list(found["default"])
    cells = np.array([[values[name] or (np.nan, np.nan) for name in names] for values in found.values()], dtype=float)
    accuracy, columns = cells[..., 0], cells[..., 1]
    everywhere = ~np.isnan(accuracy).any(axis=0)
    ranks = rankdata(-accuracy[:, everywhere].round(6), axis=0).mean(axis=1)
    rows = [[next(iter(found)), f"{accuracy[0].mean():.2f}", *[""] * 4, f"{ranks[0]:.2f}", f"{columns[0].mean():.0f}"]]
    for k, variant in enumerate(list(found)[1:], start=1):
        fits = ~np.isnan(accuracy[k])
        change = accuracy[k, fits] - accuracy[0, fits]
        worst = np.array(names)[fits][change.argmin()]
        rows.append(
            [
                variant if fits.all() else f"{variant} ({fits.sum()} sets)",
                f"{accuracy[k, fits].mean():.2f}",
                f"{change.mean():+.2f}",
                f"{change.std(ddof=1) / np.sqrt(len(change)):.2f}",
                f"{(change > 1).sum()}/{(change < -1).sum()}",
                f"{change.min():+.1f} ({worst})",
                f"{ranks[k]:.2f}",
                f"{columns[k, fits].mean():.0f}",
            ]
        )
    header = ["", "accuracy %", "against the default", "standard error", "better/worse by 1 point", "worst"]
    differ = ranks_differ(len(rows), int(everywhere.sum()))
    return f"{table([*header, 'rank', 'columns'], rows)}\n{differ}\n"


def peers() -> str:
    """Set WOLC-ECOC beside scikit-learn's strategies, as benchmarks/wolc_peers.py has found them."""
    kept = read("peers")
    values = {name: [*row["accuracy"], row["fit"][0], row["predict"][0]] for name, row in kept["sets"].items()}
    average = [*np.mean([row[:3] for row in values.values()], axis=0)]
    average += [float(np.median([row[k] for row in values.values()])) for k in (3, 4)]
    values["**mean; median of ratios**"] = average
    rows = [[name, *(f"{value:.2f}" for value in row)] for name, row in values.items()]
    header = ["data set", *(f"`{method}`" for method in kept["methods"]), "time of `fit`", "time of `predict`"]
    return table(header, rows)


def growth_blocks() -> dict[str, Callable[[], str]]:
    """Name the blocks of the page and say how they are made."""
    return {
        "growth-summary": summary,
        "growth-sets-probabilities": lambda: by_set("probabilities"),
        "growth-sets-labels": lambda: by_set("labels"),
        "growth-estimates": estimates,
        "growth-budgets": budgets,
        "fixed-codes": fixed_codes,
        "ablation": ablation,
        "peers": peers,
    }


def growth_pictures() -> Iterator[Picture]:
    """Draw the figures of the page."""
    with drawing_style():
        yield _estimates_picture()
        yield _budgets_picture()
        yield _fixed_codes_picture()


def _estimates_picture() -> Picture:
    figure = new_figure(5.6, 5.2)
    axes = figure.subplots()
    axes.plot([30, 100], [30, 100], color=GREY, linewidth=0.8)
    for synthetic, color, marker, label in ((False, BLUE, "o", "real sets"), (True, ORANGE, "^", "synthetic sets")):
        rows = [row["probabilities"] for row in sets_of(synthetic=synthetic).values()]
        x, y = [row["estimate"] for row in rows], [row["WOLC-ECOC"] for row in rows]
        axes.plot(x, y, marker, color=color, label=label, alpha=0.8)
    axes.set(xlabel="its own estimate, out of fold (%)", ylabel="accuracy on the test part (%)", aspect="equal")
    axes.legend(loc="upper left")
    alt = "Scatter plot of test accuracy against the out-of-fold estimate, one dot per set, close to the diagonal."
    return Picture("growth-estimates", "The estimate of WOLC-ECOC and its test accuracy", alt, figure)


def _budgets_picture() -> Picture:
    found = read("growth")["budgets"]
    figure = new_figure(6.8, 4.6)
    axes = figure.subplots()
    for k, (name, row) in enumerate(found.items()):
        cells = sorted(row, key=lambda cell: cell["columns"])
        x, y = [cell["columns"] for cell in cells], [cell["accuracy"] for cell in cells]
        axes.plot(x, y, "os^Dv<>P"[k % 8] + "-", color=f"C{k}", markersize=5, linewidth=1.2, label=name)
    axes.set_xscale("log")
    ticks = [5, 10, 20, 50, 100, 200, 500]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="columns that prediction evaluates", ylabel="accuracy on the test part (%)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    alt = f"Lines of test accuracy against the number of columns under five limits, for {', '.join(found)}."
    return Picture("growth-lengths", "Accuracy of WOLC-ECOC with a limit on its columns", alt, figure)


def _fixed_codes_picture() -> Picture:
    gains = fixed_gains()
    figure = new_figure(6.8, 4.0)
    axes = figure.subplots()
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    for k, by_name in enumerate(gains.values()):
        values = np.array(list(by_name.values()))
        axes.plot(values, np.full(len(values), k), "o", color=BLUE, alpha=0.45, markersize=5)
        axes.plot(values.mean(), k, "|", color=ORANGE, markersize=18, markeredgewidth=2.5)
    axes.set_yticks(range(len(gains)), list(gains))
    axes.invert_yaxis()
    axes.set_xlabel("gain of optimised weights over the better fixed decoding (points of accuracy)")
    alt = (
        "Dots for the gain on each data set, one row per coding, with the mean: "
        + ", ".join(f"{coding} {np.mean(list(by_name.values())):+.2f}" for coding, by_name in gains.items())
        + "."
    )
    return Picture("fixed-codes", "Gain of optimised weights on fixed codes", alt, figure)
