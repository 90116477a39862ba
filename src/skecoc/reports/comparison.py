"""The result of a comparison as a table, as JSON and as the data of its report."""

import json
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import skecoc
from skecoc.compare.cross_validation import Comparison
from skecoc.compare.statistics import best_per_row, interval_half_width, ranks
from skecoc.reports.charts import dot_picture, interval_picture, rank_picture
from skecoc.reports.conclusions import conclude, overlaps, p_values_of
from skecoc.reports.tables import Cell, Row, Table, to_html
from skecoc.support.scores import ScoreFormat, p_value_text
from skecoc.support.text_layout import printable, printable_data

_NOTE = (
    "Bold (* in plain text): the best of the row as printed. Ranks use full precision, 1 is best, ties share their "
    "mean."
)


def comparison_table(comparison: Comparison, methods: Sequence[str] | None = None) -> Table:
    """Make the table of a comparison, which ends in what it comes to.

    On one data set, it has a line for each method with its score, the best first, or in a given order; on several, it
    has the mean scores of data sets by methods, with averages beneath.
    """
    comparison = _printable(comparison)
    if len(comparison.data_sets) == 1:
        return _table_of_one(comparison, methods or _best_first(comparison))
    return _table_of_several(comparison, methods or comparison.methods)


def _table_of_one(comparison: Comparison, methods: Sequence[str]) -> Table:
    """Make the table of one data set, a line for each method."""
    scale, conclusion = comparison.score_format, conclude(comparison)
    cells = {cell["method"]: cell for cell in cells_of(comparison)}
    settings, name = comparison.settings, comparison.data_sets[0]["name"]
    note = (
        f"Mean and standard deviation over {_runs(settings)}, the same for all methods; * is the best as printed, p "
        "that of a corrected paired t test against the best, adjusted by Holm's method; seconds are those of the "
        "median run."
    )
    less = "" if scale.higher_is_better else f" Of {scale.label}, less is better."
    headings = [scale.heading, "+/-", "p", "columns", "fit s"]
    return Table(
        name="scores",
        title=f"{scale.label} of {len(methods)} method{'' if len(methods) == 1 else 's'} on {name}",
        corner="method",
        columns=[(heading,) for heading in headings],
        keys=headings,
        rows=[Row(method, _line(cells[method], scale)) for method in methods],
        notes=[note + less],
        records=list(cells.values()),
        closing=conclusion.in_full,
        command=conclusion.command,
    )


def _line(cell: dict[str, Any], scale: ScoreFormat) -> list[Cell]:
    """Round what there is about one method for reading."""
    p_value, columns = cell["p_value"], cell["columns"]
    return [
        Cell(scale.number(cell["score"]), bold=cell["best"], value=scale.factor * cell["score"]),
        Cell(scale.number(cell["std"])),
        Cell("-" if p_value is None else p_value_text(p_value)),
        Cell(_columns_text(columns)),
        Cell(f"{cell['fit_seconds']:.3f}"),
    ]


def _table_of_several(comparison: Comparison, methods: Sequence[str]) -> Table:
    """Make the table of mean scores, data sets by methods."""
    scale = comparison.score_format
    cells = {(cell["data_set"], cell["method"]): cell for cell in cells_of(comparison)}
    by_method = {average["method"]: average for average in averages_of(comparison)}
    averages = [by_method[key] for key in methods]
    footer = {
        f"average {scale.heading.removesuffix(' %')}": [scale.number(average["score"]) for average in averages],
        "average rank": [f"{average['rank']:.2f}" for average in averages],
        "average columns": [_columns_text(average["columns"]) for average in averages],
    }
    unit = " in %" if scale.in_percent else ""
    return Table(
        name="scores-by-data-set",
        title=f"Mean {scale.label}{unit} over the test folds",
        corner="data set",
        columns=[_two_parts(key) for key in methods],
        keys=list(methods),
        rows=[
            Row(data_set["name"], [_score_cell(cells[data_set["name"], key], scale) for key in methods])
            for data_set in comparison.data_sets
        ],
        footer=[Row(name, [Cell(text) for text in texts]) for name, texts in footer.items()],
        notes=[_NOTE],
        records=list(cells.values()),
        closing=conclude(comparison).in_full,
    )


def _score_cell(cell: dict[str, Any], scale: ScoreFormat) -> Cell:
    """Round the score of one method on one data set for reading."""
    return Cell(
        text=scale.number(cell["score"]),
        deviation=scale.number(cell["std"]),
        bold=cell["best"],
        value=scale.factor * cell["score"],
    )


def _columns_text(columns: float | None) -> str:
    """Write the length of a code; what is no code has a dash."""
    return "-" if columns is None else f"{columns:.1f}"


def comparison_json(comparison: Comparison) -> str:
    """Write a comparison as one JSON object.

    Settings, averages of the methods, cells of the table, every run, and what it comes to.
    """
    conclusion = conclude(comparison)
    content = {
        "settings": comparison.settings,
        "data_sets": comparison.data_sets,
        "methods": averages_of(comparison),
        "cells": cells_of(comparison),
        "records": comparison.to_records(),
        "notes": comparison.notes,
        "conclusion": {
            "sentence": conclusion.sentence,
            "recommended": conclusion.recommended or None,
            "command": conclusion.command or None,
        },
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def cells_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Average the runs of every data set and method, row by row.

    Scores are as the metric gives them, seconds are medians, p-values those of tests against the best of the row;
    ``columns`` is None for what is no output code.
    """
    measures, p_values = _measures(comparison), p_values_of(comparison)
    return [
        {
            "data_set": data_set["name"],
            "method": method,
            **{name: values[i, j].item() for name, values in measures.items()},
            "columns": measures["columns"][i, j].item() or None,
            "p_value": p_values[i][j],
        }
        for i, data_set in enumerate(comparison.data_sets)
        for j, method in enumerate(comparison.methods)
    ]


def averages_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Average every method over the data sets; ``wins`` counts those where it is among the best."""
    measures = _measures(comparison)
    averaged = ("accuracy", "score", "rank", "columns", "fit_seconds", "predict_seconds")
    averages = [
        {
            "method": method,
            **{name: measures[name][:, j].mean().item() for name in averaged},
            "wins": int(measures["best"][:, j].sum()),
        }
        for j, method in enumerate(comparison.methods)
    ]
    return [{**average, "columns": average["columns"] or None} for average in averages]


def summarize(comparison: Comparison) -> dict[str, Any]:
    """Collect everything that the report of a comparison shows.

    Parameters
    ----------
    comparison : Comparison
        Result of `skecoc.compare.compare`.

    Returns
    -------
    dict
        Lists, dictionaries, strings and numbers: ``title``, ``conclusion`` and ``command`` (the recommended method),
        ``metric``, ``methods`` (the best first, with their formatted numbers), ``data_sets``, ``scores`` (the table of
        several data sets in HTML), ``figures`` (in SVG), ``settings``, ``versions``, ``notes`` and ``created``.

    Examples
    --------
    >>> from skecoc.compare import compare, load_data_sets
    >>> from skecoc.reports import summarize
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> summarize(result)["methods"][0]["rank"]
    1.0
    """
    comparison = _printable(comparison)
    order, scale, conclusion = _best_first(comparison), comparison.score_format, conclude(comparison)
    is_one = len(comparison.data_sets) == 1
    places = comparison.data_sets[0]["name"] if is_one else f"{len(comparison.data_sets)} data sets"
    found = {row["method"]: row for row in (cells_of if is_one else averages_of)(comparison)}
    return {
        "title": f"Methods compared on {places}",
        "conclusion": conclusion.in_full,
        "command": conclusion.command,
        "metric": {"label": scale.label, "heading": scale.heading, "higher_is_better": scale.higher_is_better},
        "methods": [_method_line(found[method], scale, conclusion.recommended) for method in order],
        "data_sets": comparison.data_sets,
        "scores": "" if is_one else to_html(replace(_table_of_several(comparison, order), footer=[])),
        "figures": [_interval_figure(comparison, order)] if is_one else _figures(comparison, order),
        "runs": _runs(comparison.settings),
        "settings": _settings(comparison),
        "versions": _versions(),
        "notes": comparison.notes,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _printable(comparison: Comparison) -> Comparison:
    """Spell out control characters in the names and notes of a comparison."""
    return replace(
        comparison,
        data_sets=printable_data(comparison.data_sets),
        settings=printable_data(comparison.settings),
        notes=[printable(note) for note in comparison.notes],
    )


def _best_first(comparison: Comparison) -> list[str]:
    """Order the methods by their average ranks."""
    ordered = sorted(averages_of(comparison), key=lambda average: float(average["rank"]))
    return [average["method"] for average in ordered]


def _method_line(found: dict[str, Any], scale: ScoreFormat, recommended: str) -> dict[str, Any]:
    """Add to the numbers of a method what the page prints."""
    p_value, std = found.get("p_value"), found.get("std")
    return {
        **found,
        "score_text": scale.number(found["score"]),
        "std_text": "" if std is None else scale.number(std),
        "p_text": "–" if p_value is None else p_value_text(p_value),
        "columns_text": _columns_text(found["columns"]).replace("-", "–"),
        "is_recommended": found["method"] == recommended,
    }


def _measures(comparison: Comparison) -> dict[str, NDArray[Any]]:
    """Average the runs: arrays of shape (n_data_sets, n_methods).

    The median of seconds is not distorted by the first run in a fresh process, which loads compiled code.
    """
    scale, runs = comparison.score_format, comparison.runs("score")
    score = runs.mean(axis=2)
    return {
        "accuracy": comparison.runs("accuracy").mean(axis=2),
        "score": score,
        "std": runs.std(axis=2, ddof=1),
        "rank": ranks(scale.sign * score),
        "best": best_per_row(scale.sign * scale.factor * score, scale.decimals),
        "columns": comparison.runs("n_columns").mean(axis=2),
        "fit_seconds": np.median(comparison.runs("fit_seconds"), axis=2),
        "predict_seconds": np.median(comparison.runs("predict_seconds"), axis=2),
    }


def _interval_figure(comparison: Comparison, methods: Sequence[str]) -> dict[str, str]:
    """Draw the scores on one data set with their 95 % intervals."""
    scale = comparison.score_format
    runs = comparison.runs("score")[0][[comparison.methods.index(method) for method in methods]]
    half = interval_half_width(runs.std(axis=1, ddof=1), runs.shape[1], float(overlaps(comparison)[0]))
    means = runs.mean(axis=1)
    picture = interval_picture("scores", methods, means, np.column_stack([means - half, means + half]), scale)
    return picture.for_page()


def _figures(comparison: Comparison, methods: Sequence[str]) -> list[dict[str, str]]:
    """Draw the average ranks of several methods, and the scores on all data sets, a line per method."""
    scale = comparison.score_format
    order = [comparison.methods.index(method) for method in methods]
    scores = comparison.runs("score").mean(axis=2)[:, order]
    unit = "%" if scale.in_percent else ""
    shown = scale.factor * scores
    parts = [
        f"{method}: mean {column.mean():.3g} {unit}, from {column.min():.3g} to {column.max():.3g} {unit}"
        for method, column in zip(methods, shown.T, strict=True)
    ]
    dots = dot_picture(
        "scores",
        f"{scale.label} by method",
        "; ".join(parts) + ".",
        methods={method: method.replace("/", "/\n") for method in methods},
        data_sets=[data_set["name"] for data_set in comparison.data_sets],
        values=shown,
        means=shown.mean(axis=0),
        unit=unit,
        x_label=f"{scale.label} in %" if unit else scale.label,
    )
    labels = {method: method for method in methods}
    drawn = [rank_picture("ranks", "Average ranks", labels, scale.sign * scores)] if len(methods) > 1 else []
    return [picture.for_page() for picture in (*drawn, dots)]


def _two_parts(method: str) -> tuple[str, str]:
    """Split a name after its slash, where a narrow heading may break."""
    coding, slash, decoding = method.partition("/")
    return coding + slash, decoding


def _runs(settings: dict[str, Any]) -> str:
    """Count the runs of a method on a data set."""
    folds, repeats = settings["folds"], settings["repeats"]
    return f"{folds} folds" if repeats == 1 else f"{repeats} times {folds} folds"


def _settings(comparison: Comparison) -> list[tuple[str, str]]:
    """List the settings with the words of the command line."""
    settings, scale = comparison.settings, comparison.score_format
    sizes = comparison.data_sets[0] if len(comparison.data_sets) == 1 else None
    table = "{name}: {n_rows} rows, {n_features} features, {n_classes} classes"
    return [
        *([("Data", table.format(**sizes))] if sizes else []),
        ("Metric", f"{scale.label}, {'more' if scale.higher_is_better else 'less'} is better"),
        ("Binary learner", settings["learner"]),
        ("Folds", f"{settings['folds']}, stratified, the same for all methods"),
        ("Repeats", str(settings["repeats"])),
        ("Seed", str(settings["seed"])),
        ("Features", "numbers scaled to [0, 1], gaps filled unless the method takes them; fitted on the training part"),
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
