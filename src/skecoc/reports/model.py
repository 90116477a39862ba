"""The report of a fitted model: what it says, as plain data, and its page."""

from typing import Any

import numpy as np

from skecoc.reports.charts import calibration_picture, curve_picture
from skecoc.reports.templating import render

#: Cells that a heat map has at most; more can neither be read nor be drawn quickly.
MAX_CELLS = 10_000

# What the table of rounds and the figure of accuracies show, where it was measured.
_MEASURES = {"loss": "Loss", "accuracy": "Training accuracy %", "out_of_fold_accuracy": "Out-of-fold accuracy %"}
_ACCURACIES = {"accuracy": "training rows", "out_of_fold_accuracy": "training rows, out of fold"}
_SIDES = {1: "plus", -1: "minus", 0: "zero"}
_SIGNS = {1: "+", -1: "−", 0: "0"}


def summarize_model(description: dict[str, Any]) -> dict[str, Any]:
    """Collect everything that the report of a model shows, from what `skecoc.tables.describe_model` gives.

    The description, and beside it what is made of it: plain lists, dictionaries, strings and numbers. What a model has
    not is None or empty.
    """
    held_out, growth, table = description["held_out"], description["growth"], description["table"]
    return {
        **description,
        "title": description["classifier"] if table is None else f"Model of {table['data']}",
        "headline": _headline(description),
        "facts": _facts(description),
        "confusion": None if held_out is None else _confusion(held_out["confusion"], description["classes"]),
        "heat_maps": _heat_maps(description["code"]),
        "hard_pairs": [] if growth is None else _hard_pairs(growth["rounds"]),
        "measures": {} if growth is None else _measured(growth["rounds"], _MEASURES),
        "pairs": _pairs(description["important"], description["classes"]),
    }


def model_page(summary: dict[str, Any]) -> str:
    """Draw the figures of what `summarize_model` gives, and write the report as one HTML file."""
    held_out, growth = summary["held_out"], summary["growth"]
    drawings = {
        "calibration": None if held_out is None else calibration_picture(held_out["calibration"]["bins"]).for_page(),
        "convergence": [] if growth is None or len(growth["rounds"]) < 2 else _convergence(growth["rounds"]),
    }
    return render("model.html.jinja", {**summary, **drawings})


def _headline(description: dict[str, Any]) -> str:
    """Say in one sentence how good the model is."""
    held_out, table = description["held_out"], description["table"]
    if held_out is None:
        return f"An output code for {len(description['classes'])} classes; nothing is known about its training."
    own, *others = held_out["comparison"]
    beside = ", ".join(f"{row['method']}: {100 * row['accuracy']:.1f} %" for row in others)
    return (
        f"{own['method']} classifies {100 * own['accuracy']:.1f} % of {table['n_rows']} held-out rows correctly into "
        f"the {len(description['classes'])} classes of column {table['target']!r} ({beside})."
    )


def _facts(description: dict[str, Any]) -> list[tuple[str, str]]:
    """List what the model was made of and how."""
    table = description["table"]
    facts = []
    if table is not None:
        facts += [
            ("Table", f"{table['data']}, {table['n_rows']} rows"),
            ("Classes in", table["target"]),
            ("Method", table["method"]),
            ("Binary learner", table["learner"]),
            ("Held-out folds", f"{table['folds']}, stratified, the same for all methods"),
            ("Seed", str(table["seed"])),
        ]
    certificate = description["certificate"]
    if certificate is not None:
        text = f"objective {certificate['objective']:.4g}, relative gap {certificate['gap']:.1e}"
        log_loss = certificate.get("log_loss")
        facts.append(("Weights", text if log_loss is None else f"{text}, mean log-loss {log_loss:.4g}"))
    return facts + description["versions"]


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
