"""What the report of a comparison says, as plain data."""

import platform
from datetime import UTC, datetime
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn

import skecoc
from skecoc.benchmarking.compare import Comparison
from skecoc.reports.figure import dot_plot
from skecoc.reports.tables import DECIMALS, AccuracyTable, accuracy_table, averages_of


def summarize(comparison: Comparison) -> dict[str, Any]:
    """Collect everything that the report of a comparison shows.

    Parameters
    ----------
    comparison : Comparison
        Outcome of `skecoc.benchmarking.compare`.

    Returns
    -------
    dict
        Plain lists, dictionaries, strings and numbers: ``title``, ``headline``,
        ``methods`` (averages, best rank first), ``data_sets``, ``rows`` (cells of
        the accuracy table, in the methods' order), ``figure`` (its geometry),
        ``settings``, ``versions``, ``notes`` and ``created``.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> summarize(result)["methods"][0]["rank"]
    1.0
    """
    table = accuracy_table(comparison)
    averages = averages_of(table)
    order = sorted(range(len(averages)), key=lambda j: (averages[j]["rank"], j))
    methods = [{**averages[j], "name": _two_parts(averages[j]["method"])} for j in order]
    return {
        "title": "Comparison of output codes",
        "headline": _headline(methods, table.data_sets),
        "methods": methods,
        "data_sets": comparison.data_sets,
        "rows": [_row(table, i, order) for i in range(len(table.data_sets))],
        "figure": dot_plot([m["method"] for m in methods], table.data_sets, 100 * table.accuracy[:, order]),
        "decimals": DECIMALS,
        "settings": _settings(comparison),
        "versions": _versions(),
        "notes": comparison.notes,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


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


def _row(table: AccuracyTable, i: int, order: list[int]) -> dict[str, Any]:
    """One data set's cells, in the order of the methods; accuracies in percent."""
    return {
        "name": table.data_sets[i],
        "cells": [
            {
                "accuracy": 100 * table.accuracy[i, j].item(),
                "std": 100 * table.std[i, j].item(),
                "rank": table.rank[i, j].item(),
                "best": bool(table.best[i, j]),
            }
            for j in order
        ],
    }


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
