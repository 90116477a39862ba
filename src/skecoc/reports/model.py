"""The report of a fitted model: what it says, as plain data, and its page."""

from collections import Counter
from typing import Any

import numpy as np

from skecoc.compare.statistics import interval_half_width
from skecoc.reports.charts import calibration_picture, curve_picture, interval_picture
from skecoc.reports.pictures import Picture
from skecoc.reports.templating import render
from skecoc.support.scores import MEASURES, ScoreFormat, p_text
from skecoc.support.text_layout import printable_data

#: Cells that a heat map has at most; more can neither be read nor be drawn quickly.
MAX_CELLS = 10_000

# What the table of rounds and the figure of accuracies show, where it was measured.
_ROUND_MEASURES = {"loss": "Loss", "accuracy": "Training accuracy %", "out_of_fold_accuracy": "Out-of-fold accuracy %"}
_ACCURACIES = {"accuracy": "training rows", "out_of_fold_accuracy": "training rows, out of fold"}
# Classes that are named as the hardest to recognise, and what stands for a number that there is not.
_HARDEST = 5
_NONE = "–"
_SIDES = {1: "plus", -1: "minus", 0: "zero"}
_SIGNS = {1: "+", -1: "−", 0: "0"}


def summarize_model(description: dict[str, Any]) -> dict[str, Any]:
    """Collect everything that the report of a model shows, from what `skecoc.tables.describe_model` gives.

    It contains the description and values derived from it: lists, dictionaries, strings and numbers. Values that do not
    apply to a model are None or empty.
    """
    description = printable_data(description)
    held_out, growth, table = description["held_out"], description["growth"], description["table"]
    classes, code, test = description["classes"], description["code"], description["test"]
    return {
        **description,
        "title": description["classifier"] if table is None else f"Model of {table['data']}",
        "headline": _headline(description) if held_out is None else held_out["headline"],
        "facts": _facts(description),
        "methods": [] if held_out is None else _methods(held_out),
        "measures": [] if held_out is None else _measures(held_out["measures"], test["measures"] if test else None),
        "confusion": None if held_out is None else _confusion(held_out["confusion"], classes),
        "test_confusion": None if test is None else _confusion(test["confusion"], classes),
        "hardest": [] if held_out is None else sorted(held_out["classes"], key=lambda row: row["f1"])[:_HARDEST],
        "heat_maps": [] if code is None else _heat_maps(code),
        "hard_pairs": [] if growth is None else _hard_pairs(growth["rounds"]),
        "round_measures": {} if growth is None else _measured(growth["rounds"], _ROUND_MEASURES),
        "pairs": _pairs(description["important"], classes),
        "column_kinds": [] if table is None else _counted([kind for _, kind in table["columns"]]),
        "left_out_kinds": [] if table is None else _counted([reason for _, reason in table["left_out"]]),
    }


def model_page(summary: dict[str, Any]) -> str:
    """Draw the figures of what `summarize_model` gives, and write the report as one HTML file."""
    held_out, growth = summary["held_out"], summary["growth"]
    drawings = {
        "scores": None if held_out is None else _scores_picture(held_out).for_page(),
        "calibration": None if held_out is None else calibration_picture(held_out["calibration"]["bins"]).for_page(),
        "convergence": [] if growth is None or len(growth["rounds"]) < 2 else _convergence(growth["rounds"]),
    }
    scale = None if held_out is None else ScoreFormat(**held_out["metric"])
    return render("model.html.jinja", {**summary, **drawings, "scale": scale})


def _headline(description: dict[str, Any]) -> str:
    """Say what a model is of which nothing else is known."""
    return f"An output code for {len(description['classes'])} classes; nothing is known about its training."


def _facts(description: dict[str, Any]) -> list[tuple[str, str]]:
    """List what the model was made of and how."""
    table, held_out = description["table"], description["held_out"]
    facts = []
    if table is not None:
        scale, n_compared = ScoreFormat(**held_out["metric"]), held_out["compared_rows"]
        rows = "" if n_compared == table["n_rows"] else f", of {n_compared} rows"
        facts += [
            ("Table", f"{table['data']}, {table['n_rows']} rows"),
            ("Classes in", table["target"]),
            ("Method", table["method"]),
            ("Binary learner", table["learner"]),
            ("Metric", f"{scale.label}, {'more' if scale.higher_is_better else 'less'} is better"),
            ("Held-out folds", f"{table['folds']}, the same for all methods{rows}"),
            ("Class weight", table["class_weight"]),
            ("Rows kept together", f"those with the same {table['group']}" if table["group"] else ""),
            ("Order of the classes", ", ".join(table["order"])),
            ("Seed", str(table["seed"])),
        ]
    certificate = description["certificate"]
    if certificate is not None:
        text = f"objective {certificate['objective']:.4g}, relative gap {certificate['gap']:.1e}"
        log_loss = certificate.get("log_loss")
        facts.append(("Weights", text if log_loss is None else f"{text}, mean log-loss {log_loss:.4g}"))
    return [(name, text) for name, text in [*facts, *description["versions"]] if text]


def _methods(held_out: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the numbers of the methods that were compared."""
    scale = ScoreFormat(**held_out["metric"])
    forms = {"std": scale.number, "p_value": p_text, "columns": "{:.1f}".format, "fit_seconds": "{:.3f}".format}
    return [
        {
            **row,
            "score_text": scale.number(row["score"]),
            **{f"{name}_text": _NONE if row[name] is None else form(row[name]) for name, form in forms.items()},
        }
        for row in held_out["comparison"]
    ]


def _measures(held_out: dict[str, Any], test: dict[str, Any] | None) -> list[list[str]]:
    """Write measures of all classes together: the name of each, and its values on held-out and on test rows."""
    found = [held_out] if test is None else [held_out, test]
    return [
        [
            f"{scale.heading[0].upper()}{scale.heading[1:]}",
            *(_NONE if values.get(name) is None else scale.number(values[name]) for values in found),
        ]
        for name, scale in MEASURES.items()
        if name in held_out
    ]


def _scores_picture(held_out: dict[str, Any]) -> Picture:
    """Draw the scores of the methods with their 95 % intervals, that of the chosen one as its record has it."""
    scale, interval, folds = ScoreFormat(**held_out["metric"]), held_out["interval"], held_out["folds"]
    rows = [row for row in held_out["comparison"] if not row["is_baseline"]]
    half = interval_half_width([row["std"] or 0.0 for row in rows], folds, 1 / (folds - 1))
    (chosen,) = (place for place, row in enumerate(rows) if row["is_chosen"])
    scores = np.array([row["score"] for row in rows])
    ends = np.column_stack([scores - half, scores + half])
    for place, row in enumerate(rows):
        known = row.get("interval") or (interval if place == chosen else None)
        if known is not None:
            ends[place] = known
    return interval_picture(
        "scores",
        [row["method"] for row in rows],
        scores,
        ends,
        scale,
        marked=rows[chosen]["method"],
        baseline=held_out["baseline"] and held_out["baseline"]["score"],
    )


def _counted(kinds: list[str]) -> list[str]:
    """Count what there is of each kind, the most frequent first."""
    return [f"{kind} {count}" for kind, count in Counter(kinds).most_common()]


def _confusion(counts: list[list[int]], classes: list[str]) -> dict[str, Any] | None:
    """Prepare the confusion matrix; None if it has too many cells."""
    if len(classes) ** 2 > MAX_CELLS:
        return None
    rows = []
    for place, (name, row) in enumerate(zip(classes, counts, strict=True)):
        total = max(sum(row), 1)
        cells = [
            {"count": count, "share": round(count / total, 4), "correct": place == column}
            for column, count in enumerate(row)
        ]
        rows.append({"name": name, "cells": cells})
    return {"classes": classes, "rows": rows}


def _heat_maps(code: dict[str, Any]) -> list[dict[str, Any]]:
    """Prepare the code matrix and its weights, the most used columns only where there are too many."""
    matrix = np.array(code["matrix"])
    shown = _shown_columns(code, max(MAX_CELLS // len(matrix), 1))
    columns = [
        {
            "number": int(q) + 1,
            "kind": ", ".join(filter(None, [code["learners"][q], code["kinds"][q]])),
            "mark": {"simple": "s", "clustered": "c"}.get(code["kinds"][q], ""),
            "task": _task(matrix[:, q], code["rows"]),
        }
        for q in shown
    ]
    signs = matrix[:, shown]
    values = {"code": ("Code matrix", np.abs(signs), np.vectorize(_SIGNS.get)(signs))}
    if code["weights"] is not None:
        weights = np.array(code["weights"])[:, shown]
        texts = np.char.mod("%.2f", weights)
        values["weights"] = ("Weights", np.round(weights / (weights.max() or 1.0), 3), texts)
    return [
        {
            "key": key,
            "title": title,
            "columns": columns,
            "rows": [
                {"name": name, "cells": [_cell(*entry) for entry in zip(*row, strict=True)]}
                for name, *row in zip(code["rows"], signs, strengths, texts, strict=True)
            ],
            "hidden": matrix.shape[1] - len(shown),
        }
        for key, (title, strengths, texts) in values.items()
    ]


def _cell(sign: int, strength: float, text: str) -> dict[str, Any]:
    """Describe a cell of a heat map: its side, how strong its colour is, and what is written."""
    return {"class": _SIDES[int(sign)], "value": float(strength), "text": str(text)}


def _shown_columns(code: dict[str, Any], most: int) -> list[int]:
    """Choose the columns that a heat map shows: those with most weight, in their own order."""
    n_columns = len(code["kinds"])
    if n_columns <= most:
        return list(range(n_columns))
    mass = np.array(code["used"], dtype=float) if code["weights"] is None else np.array(code["weights"]).sum(axis=0)
    return sorted(np.argsort(-mass, kind="stable")[:most].tolist())


def _task(column: Any, names: list[str]) -> str:
    """Say in words which classes a column separates."""
    sides = [[name for name, entry in zip(names, column, strict=True) if entry == side] for side in (1, -1)]
    first, second = (_some(side) for side in sides)
    return f"{first} against {'the rest' if len(sides[1]) > 3 and not (column == 0).any() else second}"


def _some(names: list[str]) -> str:
    """Join names, the first few only."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _convergence(rounds: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Draw accuracy and loss against the number of columns, as far as they were measured."""
    columns = [row["columns"] for row in rounds]
    kept = max(row["columns"] for row in rounds if row["is_kept"])
    figures = [("growth-accuracy", "accuracy in %", _ACCURACIES, 100), ("growth-loss", "loss", {"loss": "loss"}, 1)]
    pictures = []
    for name, title, labels, factor in figures:
        curves = {label: [factor * row[key] for row in rounds] for key, label in _measured(rounds, labels).items()}
        if curves:
            pictures.append(curve_picture(name, title, columns, curves, kept).for_page())
    return pictures


def _measured(rounds: list[dict[str, Any]], labels: dict[str, str]) -> dict[str, str]:
    """Choose what was measured in all rounds."""
    return {key: label for key, label in labels.items() if all(row[key] is not None for row in rounds)}


def _hard_pairs(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Collect the pairs that growth chose: how often each was hard, and what was added for it and kept."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for pair in (pair for row in rounds for pair in row["pairs"]):
        names = {"first": pair["first"], "second": pair["second"]}
        new = {**names, "times": 0, "first_loss": pair["loss"], "simple": 0, "clustered": 0, "learners": []}
        entry = found.setdefault((pair["first"], pair["second"]), new)
        entry["times"] += 1
        entry["last_loss"] = pair["loss"]
        if pair["added"] in ("simple", "clustered"):
            entry[pair["added"]] += 1
        if pair["learner"] and pair["learner"] not in entry["learners"]:
            entry["learners"].append(pair["learner"])
    return list(found.values())


def _pairs(important: list[dict[str, Any]] | None, classes: list[str]) -> dict[str, Any] | None:
    """Prepare the columns that matter for two classes; the hardest pair is chosen at first."""
    if not important:
        return None
    entries = [
        {
            "first": classes.index(pair["first"]),
            "second": classes.index(pair["second"]),
            "apart": round(100 * pair["told_apart"], 1),
            "columns": [[column["name"], round(100 * column["drop"], 2)] for column in pair["columns"]],
        }
        for pair in important
    ]
    n_pairs = len(classes) * (len(classes) - 1) // 2
    return {"classes": classes, "pairs": entries, "hidden": n_pairs - len(entries)}
