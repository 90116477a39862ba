"""Blocks and the figure of study/docs/paper.md: the algorithm as printed (study/benchmarks/as_printed.py), Table I."""

import csv
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from _markdown import table
from scipy.stats import spearmanr

from skecoc.datasets import load_uci
from skecoc.reports import Picture, drawing_style, new_figure
from skecoc_study.paper.published import DATA_SETS, WOLC, length_column, published_accuracy, published_code_length

STUDY = Path(__file__).resolve().parent.parent
STORED = STUDY / "results" / "as_printed.json"
TABLE_2 = STUDY / "results" / "tables" / "table2.csv"
TABLE_1 = STUDY / "src" / "skecoc_study" / "paper" / "published_tables" / "datasets.csv"
#: The variants whose lengths are compared, and how the page calls them.
LENGTHS = {
    "printed": "as printed",
    "ties-counted": "ties counted",
    "zero-one": "outputs 0/1",
    "library-zero-one": "the library's AdaBoost, 0/1",
    "five-stumps": "5 stumps",
    "probabilities": "probabilities",
    "cutting-planes": "Algorithm 2",
    "library-cutting-planes": "Algorithm 2, the library's AdaBoost",
    "margin": "a margin of 0.1",
}
REASONS = {
    "the loss reached its target": "zero risk",
    "no progress for as many rounds as patience allows": "no progress",
    "max_iter rounds were made": "3P rounds",
    "no hard pair is left": "only ties",
}
BLUE, ORANGE, GREY = "#2b6cb0", "#d8822b", "#777777"


@cache
def stored() -> dict[str, Any]:
    """Read what the benchmark keeps."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def published(name: str) -> tuple[float, float]:
    """Return accuracy and length of the paper's WOLC-ECOC with AdaBoost."""
    accuracy = published_accuracy("stumps").cell(name, WOLC)
    length = published_code_length().cell(name, length_column(WOLC, "stumps"))
    return accuracy[0], length[0]


@cache
def table2() -> dict[tuple[str, str], float]:
    """Return the accuracies of our own Table II by data set and method."""
    rows = csv.DictReader(TABLE_2.read_text(encoding="utf-8").splitlines())
    return {(row["data_set"], row["method"]): float(row["accuracy"]) for row in rows}


def rows_of(variant: str) -> dict[str, dict[str, Any]]:
    """Return what a variant has found, set by set in the paper's order."""
    found = stored()["found"][variant]
    return {name: found[name] for name in DATA_SETS if name in found}


def classes_of(name: str) -> int:
    """Return the number of classes, which is the length of the initial code."""
    return stored()["found"]["printed"][name]["classes"]


def reason(row: dict[str, Any]) -> str:
    """Say why growth stopped, most frequent reason first."""
    found = sorted(row["reasons"].items(), key=lambda item: -item[1])
    shown = [REASONS[name] for name, _ in found]
    return shown[0] if len(found) == 1 else ", ".join(f"{REASONS[name]} ({count})" for name, count in found)


def as_printed() -> str:
    """Set the algorithm as printed beside fixed codes and beside the paper, set by set."""
    rows, values = [], []
    for name, row in rows_of("printed").items():
        fixed = [table2()[name, f"{coding}/loss-weighted"] for coding in ("one-vs-rest", "one-vs-one")]
        accuracy, length = published(name)
        values.append([row["accuracy"], *fixed, accuracy, row["columns"], length])
        numbers = [f"{value:.1f}" for value in (*values[-1], row["perfect"])]
        once = f"{row['returned_at_once']} of {row['folds']}"
        rows.append([name, str(row["classes"]), *numbers, once, reason(row)])
    means = [f"{value:.1f}" for value in np.mean(values, axis=0)]
    header = [
        "data set",
        "classes",
        "as printed, %",
        "1vsALL/LW",
        "1vs1/LW",
        "paper's WOLC-ECOC",
        "columns",
        "paper's columns",
    ]
    header += ["perfect columns", "folds that stop in round 1", "reason to stop (folds)"]
    return table(header, [*rows, ["**mean**", "", *means, "", "", ""]])


def summary() -> str:
    """Count the sets on which the algorithm as printed does not grow."""
    rows = rows_of("printed")
    never = [name for name, row in rows.items() if row["returned_at_once"] == row["folds"]]
    some = [name for name in rows if name not in never]
    here = np.mean([row["accuracy"] for row in rows.values()])
    paper = np.mean([published(name)[0] for name in rows])
    return (
        f"On {len(never)} of {len(rows)} sets it returns one-vs-rest in the first round, on every fold; it grows on "
        f"{', '.join(some)}. Its mean accuracy is {here:.1f} %, the paper's {paper:.1f} %.\n"
    )


def factor(variant: str) -> float:
    """Return by which factor the lengths of a variant differ from the paper's, on geometric average."""
    ratios = [np.log(row["columns"] / published(name)[1]) for name, row in rows_of(variant).items()]
    return float(np.exp(np.mean(np.abs(ratios))))


def correlation(variant: str) -> str:
    """Return the rank correlation of how many columns a variant and the paper add, if the variant adds any."""
    added = [
        (row["columns"] - row["classes"], published(name)[1] - row["classes"]) for name, row in rows_of(variant).items()
    ]
    here, paper = zip(*added, strict=True)
    return f"{spearmanr(here, paper).statistic:.2f}" if any(here) else "-"


def lengths() -> str:
    """Set the lengths of all variants beside the paper's."""
    done = [variant for variant, found in stored()["found"].items() if len(found) == len(DATA_SETS)]
    variants = {variant: rows_of(variant) for variant in LENGTHS if variant in done}
    names = list(variants["printed"])
    paper = [published(name) for name in names]
    rows = [
        [
            name,
            str(classes_of(name)),
            f"{length:.1f}",
            *(f"{found[name]['columns']:.1f}" for found in variants.values()),
        ]
        for name, (_, length) in zip(names, paper, strict=True)
    ]
    never = sum(length == classes_of(name) for name, (_, length) in zip(names, paper, strict=True))
    at_once = [sum(row["returned_at_once"] == row["folds"] for row in found.values()) for found in variants.values()]
    accuracy = [np.mean([row["accuracy"] for row in found.values()]) for found in variants.values()]
    rows += [
        ["*sets that never grow*", "", str(never), *map(str, at_once)],
        ["*typical factor from the paper*", "", "", *(f"{factor(variant):.2f}" for variant in variants)],
        ["*rank correlation of added columns*", "", "", *(correlation(variant) for variant in variants)],
        ["*mean accuracy %*", "", f"{np.mean([of for of, _ in paper]):.1f}", *(f"{value:.1f}" for value in accuracy)],
    ]
    header = ["data set", "classes", "paper", *(LENGTHS[variant] for variant in variants)]
    return table(header, rows)


def data_sets() -> str:
    """Set the paper's Table I beside the sets that the package includes."""
    rows = []
    for line in csv.DictReader(TABLE_1.read_text(encoding="utf-8").splitlines()):
        name = next(name for name, printed in DATA_SETS.items() if printed == line["dataset"])
        X, y = load_uci(name, return_X_y=True)
        here = [f"{len(X):,}", str(X.shape[1]), str(len(np.unique(y)))]
        paper = [f"{int(line['n']):,}", line["d"], line["P_in_table"]]
        rows.append([name, *paper, *here, "" if paper == here else "differs"])
    header = ["data set", "paper: samples", "features", "classes", "here: samples", "features", "classes", ""]
    return table(header, rows)


def as_printed_blocks() -> dict[str, Callable[[], str]]:
    """Name the blocks and say how they are made."""
    return {
        "as-printed": as_printed,
        "as-printed-summary": summary,
        "as-printed-lengths": lengths,
        "table1": data_sets,
    }


def as_printed_pictures() -> Iterator[Picture]:
    """Draw the figure of the page."""
    with drawing_style():
        yield _lengths_picture()


def _lengths_picture() -> Picture:
    shown = {
        "printed": ("as printed", GREY, "o"),
        "zero-one": ("outputs 0/1", GREY, "x"),
        "margin": ("with a margin of 0.1", ORANGE, "^"),
    }
    names = list(rows_of("printed"))
    figure = new_figure(7.2, 5.0)
    axes = figure.subplots()
    places = np.arange(len(names))
    axes.plot([published(name)[1] for name in names], places, "D", color=BLUE, markersize=7, label="the paper")
    for variant, (label, color, marker) in shown.items():
        lengths_ = [rows_of(variant)[name]["columns"] for name in names]
        axes.plot(
            lengths_, places, marker, color=color, markersize=7, fillstyle="none", markeredgewidth=1.4, label=label
        )
    axes.set_yticks(places, [f"{name} ({classes_of(name)})" for name in names])
    axes.invert_yaxis()
    axes.set_xscale("log")
    ticks = [3, 5, 10, 20, 50, 100]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="columns, on a logarithmic scale", ylabel="data set (classes)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    alt = (
        "One row per data set with the number of columns in the paper, as printed, with outputs 0/1 and with a margin."
    )
    return Picture("as-printed-lengths", "Columns of WOLC-ECOC", alt, figure)
