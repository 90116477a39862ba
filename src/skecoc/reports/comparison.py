"""The outcome of a comparison: as a table, as JSON, and as what its report says."""

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import skecoc
from skecoc.benchmarking.compare import Comparison
from skecoc.benchmarking.statistics import best_per_row, ranks
from skecoc.reports.charts import dot_picture
from skecoc.reports.tables import Cell, Row, Table, to_html

#: Decimals of a printed accuracy in percent.
DECIMALS = 1

_NOTE = (
    "Bold (* in plain text): the best of the row as printed. Ranks use full precision, 1 is best, ties share their "
    "mean."
)


def comparison_table(comparison: Comparison, methods: Sequence[str] | None = None) -> Table:
    """Make the table of mean accuracies in percent, data sets by methods (in a given order), with averages beneath."""
    keys = list(comparison.methods if methods is None else methods)
    cells = {(cell["data_set"], cell["method"]): cell for cell in cells_of(comparison)}
    names = [data_set["name"] for data_set in comparison.data_sets]
    by_method = {average["method"]: average for average in averages_of(comparison)}
    averages = [by_method[key] for key in keys]
    footer = {
        "average accuracy": [f"{100 * average['accuracy']:.{DECIMALS}f}" for average in averages],
        "average rank": [f"{average['rank']:.2f}" for average in averages],
        "average columns": [f"{average['columns']:.1f}" for average in averages],
    }
    return Table(
        name="accuracy-by-data-set",
        title="Mean accuracy in % over the test folds",
        corner="data set",
        columns=[_two_parts(key) for key in keys],
        keys=keys,
        rows=[Row(name, [_accuracy_cell(cells[name, key]) for key in keys]) for name in names],
        footer=[Row(name, [Cell(text) for text in texts]) for name, texts in footer.items()],
        notes=[_NOTE],
        records=list(cells.values()),
    )


def comparison_json(comparison: Comparison) -> str:
    """Write a comparison as one JSON object: settings, averages of the methods, cells of the table and every run."""
    content = {
        "settings": comparison.settings,
        "data_sets": comparison.data_sets,
        "methods": averages_of(comparison),
        "cells": cells_of(comparison),
        "records": comparison.to_records(),
        "notes": comparison.notes,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def cells_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Average the runs of every data set and method, row by row; accuracies are in [0, 1], seconds are medians."""
    measures = _measures(comparison)
    return [
        {
            "data_set": data_set["name"],
            "method": method,
            **{name: values[i, j].item() for name, values in measures.items()},
        }
        for i, data_set in enumerate(comparison.data_sets)
        for j, method in enumerate(comparison.methods)
    ]


def averages_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Average every method over the data sets; ``wins`` counts those where it is among the best."""
    measures = _measures(comparison)
    averaged = ("accuracy", "rank", "columns", "fit_seconds", "predict_seconds")
    return [
        {
            "method": method,
            **{name: measures[name][:, j].mean().item() for name in averaged},
            "wins": int(measures["best"][:, j].sum()),
        }
        for j, method in enumerate(comparison.methods)
    ]


def summarize(comparison: Comparison) -> dict[str, Any]:
    """Collect everything that the report of a comparison shows.

    Parameters
    ----------
    comparison : Comparison
        Outcome of `skecoc.benchmarking.compare`.

    Returns
    -------
    dict
        Plain lists, dictionaries, strings and numbers: ``title``, ``headline``, ``methods`` (averages, best rank
        first), ``data_sets``, ``accuracy`` (the table in HTML), ``figure`` (in SVG), ``settings``, ``versions``,
        ``notes`` and ``created``.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> summarize(result)["methods"][0]["rank"]
    1.0
    """
    methods = sorted(averages_of(comparison), key=lambda average: float(average["rank"]))
    order = [method["method"] for method in methods]
    names = [data_set["name"] for data_set in comparison.data_sets]
    return {
        "title": "Comparison of output codes",
        "headline": _headline(methods, names),
        "methods": [{**method, "name": _two_parts(method["method"])} for method in methods],
        "data_sets": comparison.data_sets,
        "accuracy": to_html(comparison_table(comparison, order)),
        "figure": _figure(comparison, order),
        "decimals": DECIMALS,
        "settings": _settings(comparison),
        "versions": _versions(),
        "notes": comparison.notes,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _measures(comparison: Comparison) -> dict[str, NDArray[Any]]:
    """Average the runs: arrays of shape (n_data_sets, n_methods).

    The median of seconds is not distorted by the first run in a fresh process, which loads compiled code.
    """
    runs = comparison.runs("accuracy")
    accuracy = runs.mean(axis=2)
    return {
        "accuracy": accuracy,
        "std": runs.std(axis=2, ddof=1),
        "rank": ranks(accuracy),
        "best": best_per_row(100 * accuracy, DECIMALS),
        "columns": comparison.runs("n_columns").mean(axis=2),
        "fit_seconds": np.median(comparison.runs("fit_seconds"), axis=2),
        "predict_seconds": np.median(comparison.runs("predict_seconds"), axis=2),
    }


def _accuracy_cell(cell: dict[str, Any]) -> Cell:
    """Round the accuracy of one method on one data set for reading."""
    return Cell(
        text=f"{100 * cell['accuracy']:.{DECIMALS}f}",
        deviation=f"{100 * cell['std']:.{DECIMALS}f}",
        bold=cell["best"],
        value=100 * cell["accuracy"],
    )


def _figure(comparison: Comparison, methods: Sequence[str]) -> dict[str, str]:
    """Draw the accuracies of all data sets, a line per method."""
    order = [comparison.methods.index(method) for method in methods]
    accuracy = 100 * _measures(comparison)["accuracy"][:, order]
    parts = [
        f"{method}: mean {column.mean():.1f} %, from {column.min():.1f} to {column.max():.1f} %"
        for method, column in zip(methods, accuracy.T, strict=True)
    ]
    return dot_picture(
        "accuracy",
        "Accuracy by method",
        "; ".join(parts) + ".",
        methods={method: method.replace("/", "/\n") for method in methods},
        data_sets=[data_set["name"] for data_set in comparison.data_sets],
        values=accuracy,
        means=accuracy.mean(axis=0),
        unit="%",
        x_label="accuracy in %",
    ).for_page()


def _two_parts(method: str) -> tuple[str, str]:
    """Split a name after its slash, where a narrow heading may break."""
    coding, slash, decoding = method.partition("/")
    return coding + slash, decoding


def _headline(methods: list[dict[str, Any]], data_sets: list[str]) -> str:
    """Say in one sentence which method came out first."""
    leaders = [method["method"] for method in methods if method["rank"] == methods[0]["rank"]]
    accuracy = f"{100 * methods[0]['accuracy']:.{DECIMALS}f} %"
    if len(data_sets) == 1:
        verb = "is" if len(leaders) == 1 else "are"
        return f"{_join(leaders)} {verb} the most accurate on {data_sets[0]}: {accuracy}."
    rank = f"average rank over {len(data_sets)} data sets, {methods[0]['rank']:.2f}"
    if len(leaders) > 1:
        return f"{_join(leaders)} share the best {rank}."
    return f"{leaders[0]} has the best {rank}, with a mean accuracy of {accuracy}."


def _join(names: list[str]) -> str:
    """Join names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _settings(comparison: Comparison) -> list[tuple[str, str]]:
    """List the settings with the words of the command line."""
    settings = comparison.settings
    return [
        ("Binary learner", settings["learner"]),
        ("Folds", f"{settings['folds']}, stratified, the same for all methods"),
        ("Repeats", str(settings["repeats"])),
        ("Seed", str(settings["seed"])),
        ("Features", "median imputation, scaled to [0, 1], text as indicators; all fitted on the training part"),
    ]


def _versions() -> list[tuple[str, str]]:
    """List the versions that the numbers depend on."""
    return [
        ("scikit-ecoc", skecoc.__version__),
        ("scikit-learn", sklearn.__version__),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
        ("joblib", joblib.__version__),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.machine()}"),
    ]
