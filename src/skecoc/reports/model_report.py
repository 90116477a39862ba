"""The description of a model, made by `skecoc.tables.describe_model`, as text for a terminal and as an HTML page."""

from collections import Counter
from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from skecoc.reports.pictures import GROWTH_MEASURES, calibration_picture, growth_picture, interval_picture
from skecoc.reports.templating import render
from skecoc.support.scores import MEASURES, ScoreFormat, p_value_text
from skecoc.support.text_layout import align, align_left, blocks, join, printable_data

# Entries of long lists that are printed (the page has all of them), and the width that text is wrapped to.
_MAX_CLASSES, _MAX_PAIRS, _MAX_ROUNDS, _MAX_COLUMNS, _WIDTH = 30, 5, 12, 60, 100
# Classes up to which the learners' shares of all are printed; of more, those that differ most from the mean.
_MAX_SHARES, _MAX_UNUSUAL = 10, 5
# Longest code whose matrix is printed.
_MAX_SIGNS = 60
#: Cells that a heat map of the page has at most; more can neither be read nor be drawn quickly.
MAX_CELLS = 10_000


def scores_text(description: dict[str, Any]) -> str:
    """Lay out the scores of the methods that were compared, the chosen one marked by ``*``, and the reason for it.

    This is what `skecoc fit` prints last.
    """
    held_out = printable_data(description["held_out"])
    parts = [_methods_text(held_out), _said(held_out), _warnings_text(held_out)]
    return "\n\n".join(filter(None, parts)) + "\n"


def model_text(description: dict[str, Any]) -> str:
    """Lay out a description as text; control characters are escaped."""
    description = printable_data(description)
    table, held_out, growth = description["table"], description["held_out"], description["growth"]
    classes = f"{len(description['classes'])} classes"
    parts = []
    if table is None:
        parts.append(f"{description['classifier']} for {classes}")
    else:
        learner = f" of {table['learner']}" if table["learner"] else ""
        column = f"column {table['target']!r} of {table['data']} ({table['n_rows']} rows)"
        title = _wrapped(f"{table['method']}{learner}, for the {classes} in {column}")
        parts += [title, _warnings_text(held_out), _said(held_out)]
    if growth:
        parts.append(_wrapped(growth["summary"], hanging=0))
    if held_out:
        parts += [
            _methods_text(held_out),
            _measures_text(held_out, description["test"]),
            _classes_text(held_out),
            _confused_text(held_out),
        ]
    for write, value in (
        (_code_text, description["code"]),
        (_learners_text, description["learners"]),
        (_growth_text, growth if growth and len(growth["rounds"]) > 1 else None),
        (_important_text, description["important"]),
        (_columns_text, table),
    ):
        if value:
            parts.append(write(value))
    if description["notes"]:
        parts.append("\n".join(["Notes:", *(_wrapped(f"- {note}", indent=2) for note in description["notes"])]))
    if table and table["command"]:
        parts.append(f"To repeat this:\n  {table['command']}")
    parts.append("\n".join(_wrapped(f"{name}: {text}") for name, text in description["facts"]))
    return "\n\n".join(filter(None, parts)) + "\n"


def _said(held_out: dict[str, Any]) -> str:
    said = [held_out["headline"], held_out["test_headline"], held_out["reason"]]
    return _wrapped(" ".join(filter(None, said)), hanging=0)


def _warnings_text(held_out: dict[str, Any]) -> str:
    return "\n".join(_wrapped(f"Warning: {warning}") for warning in held_out["warnings"])


def _methods_text(held_out: dict[str, Any]) -> str:
    """Lay out the scores of all methods, the majority class last, and what the table shows."""
    scale, rows = ScoreFormat(**held_out["metric"]), held_out["comparison"]
    table = [
        align_left(["", *(row["label"] for row in rows)]),
        align([scale.heading], [f"{scale.number(row['score'])}{'*' if row['is_chosen'] else ' '}" for row in rows]),
        _numbers("+/-", rows, "std", scale.number),
        _numbers("p", rows, "p_value", p_value_text),
        _numbers("columns", rows, "columns", "{:.1f}".format),
        _numbers("fit s", rows, "fit_seconds", "{:.2f}".format),
    ]
    of = "" if held_out["compared_rows"] == held_out["n_rows"] else f" of {held_out['compared_rows']} rows"
    legend = (
        f"Mean and standard deviation over {held_out['folds']} folds{of}, the same for all methods; * is the one kept, "
        "p that of a corrected paired t test against it, adjusted by Holm's method."
    )
    legend += "" if scale.higher_is_better else f" Of {scale.label}, less is better."
    return f"{join(table, [1])}\n\n{_wrapped(legend, hanging=0)}"


def _measures_text(held_out: dict[str, Any], test: dict[str, Any] | None) -> str:
    """Lay out measures of all classes together, on held-out rows and on those of a test file."""
    shown = {name: scale for name, scale in MEASURES.items() if name in held_out["measures"]}
    table = [align_left(["", *(scale.heading for scale in shown.values())])]
    for heading, outcome in (("held-out rows", held_out), ("test rows", test)):
        if outcome:
            values = [(outcome["measures"].get(name), scale) for name, scale in shown.items()]
            cells = ["- " if value is None else f"{scale.number(value)} " for value, scale in values]
            table.append(align([heading], cells))
    return join(table, [1])


def _classes_text(held_out: dict[str, Any]) -> str:
    """Lay out precision and recall of each class."""
    rows = held_out["classes"][:_MAX_CLASSES]
    table = [
        align_left(["class", *(row["name"] for row in rows)]),
        _numbers("rows", rows, "rows", str),
        _numbers("precision %", rows, "precision", MEASURES["macro_precision"].number),
        _numbers("recall %", rows, "recall", MEASURES["macro_recall"].number),
        _numbers("F1", rows, "f1", MEASURES["macro_f1"].number),
    ]
    error = f"\n\nProbabilities are off by {100 * held_out['calibration']['error']:.1f} points on average."
    return join(table, [1]) + _more(len(rows), held_out["classes"]) + error


def _confused_text(held_out: dict[str, Any]) -> str:
    pairs = held_out["confused"][:_MAX_PAIRS]
    lines = ["Confused most, on held-out rows:"] if pairs else ["No held-out row was taken for another class."]
    lines += [f"  {pair['first']} / {pair['second']}: {pair['rows']} of {pair['of']} rows" for pair in pairs]
    return "\n".join(lines)


def _code_text(code: dict[str, Any]) -> str:
    """Describe the code in one line; a short one is shown below."""
    n_rows, n_columns, n_used = len(code["rows"]), len(code["kinds"]), sum(code["used"])
    used = "all of them used" if n_used == n_columns else f"{n_used} of them used"
    kinds = [f"{count} {kind}" for kind, count in Counter(code["kinds"]).items()]
    grown = f" ({', '.join(kinds)})" if len(kinds) > 1 else ""
    lines = [f"Code: {n_rows} rows x {n_columns} columns{grown}, {used}"]
    if n_rows <= _MAX_CLASSES and n_columns <= _MAX_SIGNS:
        for name, signs in zip(align_left(code["rows"]), code["matrix"], strict=True):
            lines.append(f"  {name} {''.join({1: '+', -1: '-', 0: '0'}[entry] for entry in signs)}")
    return "\n".join(lines)


def _learners_text(learners: dict[str, Any]) -> str:
    """Lay out the columns and the shares of several learners; of many classes, those that are most unusual."""
    members, classes = learners["members"], learners["classes"]
    is_short = len(classes) > _MAX_SHARES
    order = sorted(range(len(classes)), key=lambda place: -classes[place]["unusual"])[:_MAX_UNUSUAL]
    rows = [classes[place] for place in order] if is_short else classes
    counted = ["columns", *(["added"] if any(member["added"] for member in members) else [])]
    titles = [*({"columns": "columns", "added": "of them added"}[name] for name in counted), "all classes"]
    names = align_left(["", *titles, *(row["name"] for row in rows)])
    columns = []
    for place, member in enumerate(members):
        shares = [member["share"], *(row["shares"][place] for row in rows)]
        cells = [*(f"{member[name]}   " for name in counted), *(f"{100 * share:.1f} " for share in shares)]
        columns.append(align([member["name"]], cells))
    share_of = "the weights" if learners["are_weights"] else "the columns that a class takes part in"
    lines = [f"Learners: how many columns each has, and how much it counts, in % of {share_of}"]
    lines += [join([names, *block], [1, 1 + len(titles)]) for block in blocks(columns, _WIDTH - len(names[0]))]
    if is_short:
        lines.append(f"Shown are the {len(rows)} of {len(classes)} classes that differ most from the mean.")
    return "\n".join(lines)


def _growth_text(growth: dict[str, Any]) -> str:
    """Lay out the rounds of growth, with the first pairs that columns were added for."""
    rounds = growth["rounds"][: max(_MAX_ROUNDS, growth["kept"] + 1)]
    added = []
    for row in rounds:
        names = []
        for pair in row["pairs"][:_MAX_PAIRS]:
            marks = ", ".join(filter(None, [pair["learner"], pair["added"] if pair["added"] == "clustered" else ""]))
            names.append(f"{pair['first']}/{pair['second']}{f' ({marks})' if marks else ''}")
        names += [f"{len(row['pairs']) - len(names)} more"] * (len(row["pairs"]) > len(names))
        added.append(", ".join(names))
    table = [
        align(["round"], [f"{row['round']}{'*' if row['round'] == growth['kept'] else ' '}" for row in rounds]),
        _numbers("columns", rounds, "columns", str),
        *(
            _numbers(heading, rounds, name, "{:.4f}".format if name == "loss" else lambda share: f"{100 * share:.1f}")
            for name, heading in _measured(growth["rounds"]).items()
        ),
        align_left([" then added for", *(f" {text}" for text in added)]),
    ]
    return (
        f"{join(table, [1])}{_more(len(rounds), growth['rounds'])}\n* is the round that is kept.\n"
        "Out-of-fold predictions of a training row are those of learners that have not seen it."
    )


def _important_text(important: list[dict[str, Any]]) -> str:
    lines = ["Columns that matter most for the pairs hardest to separate (points lost if a column is shuffled):"]
    for pair in important[:_MAX_PAIRS]:
        columns = [f"{column['name']} {100 * column['drop']:.1f}" for column in pair["columns"][:3]]
        lines.append(f"  {pair['first']} / {pair['second']}: {', '.join(columns) or 'none alone'}")
    return "\n".join(lines)


def _columns_text(table: dict[str, Any]) -> str:
    """Name the columns of the table, with what they hold, the first ones only if there are many."""
    lines = []
    for heading, entries in (("Columns", table["columns"]), ("Left out", table["left_out"])):
        names = [f"{name} ({kind})" for name, kind in entries[:_MAX_COLUMNS]]
        names += [f"and {len(entries) - _MAX_COLUMNS} more"] if len(entries) > _MAX_COLUMNS else []
        lines += [_wrapped(f"{heading}: {', '.join(names)}")] if names else []
    return "\n".join(lines)


def _measured(rounds: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Name what was measured in all rounds."""
    return {
        name: label if name == "loss" else f"{label} %"
        for name, label in GROWTH_MEASURES.items()
        if all(row[name] is not None for row in rounds)
    }


def _numbers(heading: str, rows: Sequence[dict[str, Any]], name: str, form: Callable[[Any], str]) -> list[str]:
    """Write a column of numbers, with a dash where there is none."""
    return align([heading], ["- " if row[name] is None else f"{form(row[name])} " for row in rows])


def _wrapped(text: str, indent: int = 0, hanging: int = 2) -> str:
    """Break a long line, and indent what follows the first."""
    first, later = " " * indent, " " * (indent + hanging)
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _more(shown: int, entries: Sequence[Any]) -> str:
    return f"\n... and {len(entries) - shown} more" if len(entries) > shown else ""


def model_page(description: dict[str, Any]) -> str:
    """Write a description as one HTML file with its figures."""
    description = printable_data(description)
    code, table, held_out, growth = (description[name] for name in ("code", "table", "held_out", "growth"))
    rounds = growth["rounds"] if growth else []
    page: dict[str, Any] = {
        "max_cells": MAX_CELLS,
        "p_text": p_value_text,
        "measures": MEASURES,
        "round_measures": _measured(rounds),
        "convergence": growth_picture(rounds, growth["kept"]).for_page() if len(rounds) > 1 else None,
        "code_columns": _code_columns(code) if code else [],
        "pairs": _pairs(description["important"], description["classes"]) if description["important"] else None,
    }
    if held_out:
        scale = ScoreFormat(**held_out["metric"])
        methods = [row for row in held_out["comparison"] if not row["is_baseline"]]
        scores = interval_picture(
            "scores",
            [row["method"] for row in methods],
            np.array([row["score"] for row in methods]),
            np.array([row["interval"] for row in methods]),
            scale,
            marked=next(row["method"] for row in methods if row["is_chosen"]),
            baseline=held_out["baseline"]["score"],
        )
        calibration = calibration_picture(held_out["calibration"]["bins"])
        page |= {"scale": scale, "scores": scores.for_page(), "calibration": calibration.for_page()}
    if table:
        for name in ("columns", "left_out"):
            counts = Counter(kind for _, kind in table[name])
            page[f"{name}_kinds"] = [f"{kind} {count}" for kind, count in counts.most_common()]
    return render("model.html.jinja", {**description, **page})


def _code_columns(code: dict[str, Any]) -> list[dict[str, Any]]:
    """Describe the columns that heat maps show: if there are too many, those with most weight, in their own order."""
    matrix = np.array(code["matrix"])
    mass = np.array(code["used"], dtype=float) if code["weights"] is None else np.sum(code["weights"], axis=0)
    most = max(MAX_CELLS // len(matrix), 1)

    def named(side: int, column: Any) -> str:
        names = [name for name, entry in zip(code["rows"], column, strict=True) if entry == side]
        return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"

    columns = []
    for q in sorted(np.argsort(-mass, kind="stable")[:most].tolist()):
        column = matrix[:, q]
        is_rest = (column == -1).sum() > 3 and (column != 0).all()
        columns.append(
            {
                "place": q,
                "kind": ", ".join(filter(None, [code["learners"][q], code["kinds"][q]])),
                "mark": {"simple": "s", "clustered": "c"}.get(code["kinds"][q], ""),
                "task": f"{named(1, column)} against {'the rest' if is_rest else named(-1, column)}",
            }
        )
    return columns


def _pairs(important: list[dict[str, Any]], classes: list[str]) -> dict[str, Any]:
    """Prepare the columns that matter for two classes for the page's script; it shows the hardest pair first."""
    entries = [
        {
            "first": classes.index(pair["first"]),
            "second": classes.index(pair["second"]),
            "apart": round(100 * pair["separated"], 1),
            "columns": [[column["name"], round(100 * column["drop"], 2)] for column in pair["columns"]],
        }
        for pair in important
    ]
    return {"classes": classes, "pairs": entries, "hidden": len(classes) * (len(classes) - 1) // 2 - len(entries)}
