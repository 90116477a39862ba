"""The result of a comparison as a table, as JSON and as the data of its report, and its conclusion."""

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import skecoc
from skecoc.compare.cross_validation import Comparison, overlaps
from skecoc.compare.methods import MAJORITY, STRATEGIES
from skecoc.compare.statistics import (
    average_ranks,
    best_per_row,
    interval_half_width,
    nemenyi_critical_difference,
    p_values_against,
    ranks,
)
from skecoc.reports.pictures import interval_picture, rank_picture, values_by_method_picture
from skecoc.reports.tables import Cell, Row, Table, to_html
from skecoc.support.scores import ALPHA, p_phrase, p_value_text, seconds_text
from skecoc.support.text_layout import printable, printable_data

# Methods that fit faster than this are equally cheap.
_CHEAP_SECONDS = 1.0
# Methods that a sentence names; more are counted.
_MAX_NAMES = 3


_NOTE = (
    "Bold (* in plain text): the best of the row as printed. Ranks use full precision, 1 is best, ties share their "
    "mean."
)


def comparison_table(comparison: Comparison, methods: Sequence[str] | None = None) -> Table:
    """Make the table of a comparison, with its conclusion below.

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
        rows=[
            Row(
                cell["method"],
                [
                    Cell(scale.number(cell["score"]), bold=cell["best"], value=scale.factor * cell["score"]),
                    Cell(scale.number(cell["std"])),
                    Cell("-" if cell["p_value"] is None else p_value_text(cell["p_value"])),
                    Cell(_columns_text(cell["columns"])),
                    Cell(f"{cell['fit_seconds']:.3f}"),
                ],
            )
            for cell in (cells[method] for method in methods)
        ],
        notes=[note + less],
        records=list(cells.values()),
        closing=conclusion.in_full,
        command=conclusion.command,
    )


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
        columns=[("".join(key.partition("/")[:2]), key.partition("/")[2]) for key in methods],  # may break there
        keys=list(methods),
        rows=[
            Row(
                data_set["name"],
                [
                    Cell(
                        text=scale.number(cell["score"]),
                        deviation=scale.number(cell["std"]),
                        bold=cell["best"],
                        value=scale.factor * cell["score"],
                    )
                    for cell in (cells[data_set["name"], key] for key in methods)
                ],
            )
            for data_set in comparison.data_sets
        ],
        footer=[Row(name, [Cell(text) for text in texts]) for name, texts in footer.items()],
        notes=[_NOTE],
        records=list(cells.values()),
        closing=conclude(comparison).in_full,
    )


def _columns_text(columns: float | None) -> str:
    """Write the length of a code; other classifiers have a dash."""
    return "-" if columns is None else f"{columns:.1f}"


def comparison_json(comparison: Comparison) -> str:
    """Write a comparison as one JSON object.

    Settings, averages of the methods, cells of the table, every run, and the conclusion.
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
    ``columns`` is None for classifiers without a code.
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
        "methods": [
            {
                **found[method],
                "score_text": scale.number(found[method]["score"]),
                "std_text": scale.number(found[method]["std"]) if is_one else "",
                "p_text": "–" if found[method].get("p_value") is None else p_value_text(found[method]["p_value"]),
                "columns_text": _columns_text(found[method]["columns"]).replace("-", "–"),
                "is_recommended": method == conclusion.recommended,
            }
            for method in order
        ],
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
    dots = values_by_method_picture(
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


@dataclass(frozen=True)
class Conclusion:
    """What a comparison comes to in one sentence, and the command that follows from it."""

    sentence: str
    recommended: str = ""
    command: str = ""

    @property
    def in_full(self) -> str:
        """The sentence, leading to the command if there is one."""
        return f"{self.sentence.removesuffix('.')}; to fit it:" if self.command else self.sentence


def p_values_of(comparison: Comparison) -> list[list[float | None]]:
    """Test the methods against the best of each data set, which has None; p-values are adjusted by Holm's method."""
    return [
        p_values_against(scores, comparison.best(comparison.methods, place), overlap)
        for place, (scores, overlap) in enumerate(
            zip(comparison.runs("score"), overlaps(comparison).tolist(), strict=True)
        )
    ]


def conclude(comparison: Comparison) -> Conclusion:
    """Say in one sentence what a comparison comes to."""
    return _conclude_one(comparison) if len(comparison.data_sets) == 1 else _conclude_several(comparison)


def _conclude_one(comparison: Comparison) -> Conclusion:
    """Recommend the method that `skecoc fit` would save, and compare the others with it."""
    names, scale, (p_values,) = comparison.methods, comparison.score_format, p_values_of(comparison)
    scores = comparison.runs("score")[0].mean(axis=1)
    seconds = np.median(comparison.runs("fit_seconds")[0], axis=1)
    usable = [name for name in names if name not in STRATEGIES and name != MAJORITY]
    best = comparison.best(names)
    chosen = comparison.best(usable) if usable else best
    near = [name for name, p_value in zip(names, p_values, strict=True) if (p_value or 0.0) >= ALPHA]
    if names[best] == MAJORITY or MAJORITY in near:
        return Conclusion("No method is significantly better than always predicting the most frequent class.")
    most, beyond = ("highest", "below") if scale.higher_is_better else ("lowest", "above")
    place = comparison.data_sets[0]["name"]
    if chosen == best:
        sentence = f"Recommended: {names[best]}, with the {most} {scale.label} on {place}, {scale.text(scores[best])}"
        if len(names) > 1:
            others = "the other is" if len(names) == 2 else "all others are"
            verb = "is" if len(near) == 1 else "are"
            worse = f"{_some(near, len(names) - 1)} {verb} not" if near else others
            sentence += f"; {worse} significantly worse"
    else:
        is_near = names[chosen] in near
        sentence = (
            f"Recommended: {names[chosen]}, the best of those that can be saved, whose {scale.label} on {place}, "
            f"{scale.text(scores[chosen])}, is {'not ' if is_near else ''}significantly {beyond} the "
            f"{scale.text(scores[best])} of {names[best]} ({p_phrase(p_values[chosen] or 0.0)})"
        )
    cheap = [k for k, name in enumerate(names) if name in near and name in usable and k != chosen]
    cheapest = min(cheap, key=lambda k: seconds[k], default=chosen)
    if max(seconds[cheapest], _CHEAP_SECONDS) < max(seconds[chosen], _CHEAP_SECONDS):
        sentence += f"; fitting takes {seconds_text(seconds[chosen])}, and {seconds_text(seconds[cheapest])} for "
        sentence += names[cheapest]
    command = comparison.settings.get("fit_command", "") if names[chosen] in usable else ""
    return Conclusion(f"{sentence}.", names[chosen], command.format(method=names[chosen]) if command else "")


def _some(names: list[str], n_others: int) -> str:
    """Name methods, or say how many they are of the others."""
    if len(names) <= _MAX_NAMES:
        return _join(names)
    return "the others" if len(names) == n_others else f"{len(names)} of the {n_others} others"


def _conclude_several(comparison: Comparison) -> Conclusion:
    """Say which method has the best average rank, and which ones it does not differ from."""
    means = comparison.score_format.sign * comparison.runs("score").mean(axis=2)
    ranks = average_ranks(means)
    order = np.argsort(ranks, kind="stable")
    leaders = [comparison.methods[k] for k in order if ranks[k] == ranks[order[0]]]
    rank = f"the best average rank over {len(means)} data sets, {ranks[order[0]]:.2f}"
    if len(leaders) > 1:
        return Conclusion(f"{_join(leaders)} share {rank}.")
    sentence = f"{leaders[0]} has {rank}"
    if len(order) == 1:
        return Conclusion(f"{sentence}.", leaders[0])
    distance = nemenyi_critical_difference(len(ranks), len(means))
    near = [comparison.methods[k] for k in order[1:] if ranks[k] - ranks[order[0]] < distance]
    verdict = (
        f"does not differ significantly from {_some(near, len(order) - 1)}"
        if near
        else "differs significantly from all others"
    )
    return Conclusion(f"{sentence}; by Nemenyi's test at 5 % it {verdict}.", leaders[0])


def _join(names: list[str]) -> str:
    """Join names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
