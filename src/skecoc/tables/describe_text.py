"""What there is to know about a fitted model, as text for a terminal."""

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Any

from skecoc.support.scores import MEASURES, ScoreFormat, p_text
from skecoc.support.text_layout import align, align_left, blocks, join, printable_data
from skecoc.tables.describe import describe_scores

# Entries of long lists that are printed; the page has all of them.
_MAX_CLASSES, _MAX_PAIRS, _MAX_ROUNDS, _MAX_COLUMNS = 30, 5, 12, 60
# Classes up to which the learners' shares of all are printed; of more, those that differ most from the mean.
_MAX_SHARES, _MAX_UNUSUAL = 10, 5
# Longest code whose matrix is printed, and the width that long lists are wrapped to.
_MAX_SIGNS, _WIDTH = 60, 100
_SIGNS = {1: "+", -1: "-", 0: "0"}
_NONE = "-"


def comparison_text(card: dict[str, Any]) -> str:
    """Lay out the scores in a model's record, the chosen method marked by ``*``, and say why it was chosen.

    What `skecoc fit` prints last: a table, the score with its interval, the reason and the warnings.
    """
    scores = printable_data(describe_scores(card))
    said = " ".join(filter(None, [scores["headline"], scores["test_headline"], scores["reason"]]))
    parts = [_comparison_text(scores), _wrapped(said, 0, hanging=0), _warnings_text(scores)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _comparison_text(scores: dict[str, Any]) -> str:
    """Lay out the scores of all methods, the majority class last, and what the table shows."""
    scale, rows = ScoreFormat(**scores["metric"]), scores["comparison"]
    shown = [f"{scale.number(row['score'])}{'*' if row['is_chosen'] else ' '}" for row in rows]
    has_p_values = any(row["p_value"] is not None for row in rows)
    columns = [
        align_left(["", *(row["label"] for row in rows)]),
        align([scale.heading], shown),
        align(["+/-"], [_optional(row["std"], scale.number) for row in rows]),
        *([align(["p"], [_optional(row["p_value"], p_text) for row in rows])] if has_p_values else []),
        align(["columns"], [_optional(row["columns"], "{:.1f}".format) for row in rows]),
        align(["fit s"], [_optional(row["fit_seconds"], "{:.2f}".format) for row in rows]),
    ]
    of = "" if scores["compared_rows"] == scores["n_rows"] else f" of {scores['compared_rows']} rows"
    legend = (
        f"Mean and standard deviation over {scores['folds']} folds{of}, the same for all methods; * is the one kept"
    )
    legend += ", p that of a corrected paired t test against it, adjusted by Holm's method." if has_p_values else "."
    legend += "" if scale.higher_is_better else f" Of {scale.label}, less is better."
    return f"{join(columns, [1])}\n\n{_wrapped(legend, 0, hanging=0)}"


def _optional(value: float | None, form: Callable[[float], str]) -> str:
    """Write a number, or a dash where there is none."""
    return f"{_NONE if value is None else form(value)} "


def _warnings_text(scores: dict[str, Any]) -> str:
    """Write every warning on lines of its own."""
    return "\n".join(_wrapped(f"Warning: {warning}", 0) for warning in scores["warnings"])


def model_text(description: dict[str, Any]) -> str:
    """Lay out what `describe_model` gives as text; characters that a terminal would obey are spelt out."""
    description = printable_data(description)
    growth = description["growth"]
    parts = [
        *_headlines(description),
        fill(growth["summary"], _WIDTH, break_on_hyphens=False) if growth else "",
        *_held_out_parts(description),
        _code_text(description["code"]) if description["code"] else "",
        _learners_text(description["learners"]) if description["learners"] else "",
        _certificate_text(description["certificate"]) if description["certificate"] else "",
        _growth_text(growth) if growth and len(growth["rounds"]) > 1 else "",
        _important_text(description["important"]) if description["important"] else "",
        *_table_parts(description),
        ", ".join(f"{name} {version}" for name, version in description["versions"]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _headlines(description: dict[str, Any]) -> list[str]:
    """Say what the model is, how good it is and why it was chosen."""
    table, held_out = description["table"], description["held_out"]
    classes = f"{len(description['classes'])} classes"
    if table is None:
        return [f"{description['classifier']} for {classes}"]
    learner = f" of {table['learner']}" if table["learner"] else ""
    column = f"column {table['target']!r} of {table['data']} ({table['n_rows']} rows)"
    said = [held_out["headline"], held_out["test_headline"], held_out["reason"]]
    return [
        _wrapped(f"{table['method']}{learner}, for the {classes} in {column}", 0),
        _warnings_text(held_out),
        _wrapped(" ".join(filter(None, said)), 0, hanging=0),
    ]


def _held_out_parts(description: dict[str, Any]) -> list[str]:
    """Lay out the results on rows that were held out."""
    held_out = description["held_out"]
    if held_out is None:
        return []
    return [
        _comparison_text(held_out),
        _measures_text(held_out, description["test"]),
        _classes_text(held_out),
        _confusions_text(held_out),
    ]


def _measures_text(held_out: dict[str, Any], test: dict[str, Any] | None) -> str:
    """Lay out measures of all classes together, on held-out rows and on those of a test file."""
    found = {"held-out rows": held_out["measures"], **({"test rows": test["measures"]} if test else {})}
    shown = {name: scale for name, scale in MEASURES.items() if name in held_out["measures"]}
    if not shown:
        return ""
    columns = [align_left(["", *(scale.heading for scale in shown.values())])]
    for heading, values in found.items():
        cells = [_optional(values.get(name), scale.number) for name, scale in shown.items()]
        columns.append(align([heading], cells))
    return join(columns, [1])


def _table_parts(description: dict[str, Any]) -> list[str]:
    """Say what the model was made from, and how to do it again."""
    table = description["table"]
    notes = [_wrapped(f"- {note}", 2) for note in description["notes"]]
    return [
        _columns_text(table) if table else "",
        _options_text(table) if table else "",
        "\n".join(["Notes:", *notes]) if notes else "",
        f"To repeat this:\n  {table['command']}" if table and table["command"] else "",
    ]


def _options_text(table: dict[str, Any]) -> str:
    """Name the options that change what a fit means."""
    shown = [
        ("Class weight", table["class_weight"]),
        ("Rows that stay together", f"those with the same {table['group']}" if table["group"] else ""),
        ("Order of the classes", ", ".join(table["order"])),
    ]
    return "\n".join(_wrapped(f"{name}: {text}", 0) for name, text in shown if text)


def _wrapped(text: str, indent: int, hanging: int = 2) -> str:
    """Break a long line, and set what follows the first further to the right."""
    first, later = " " * indent, " " * (indent + hanging)
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _more(shown: int, total: int) -> str:
    """Say how much is not shown."""
    return f"\n... and {total - shown} more" if total > shown else ""


def _classes_text(held_out: dict[str, Any]) -> str:
    """Lay out precision and recall of each class."""
    rows = held_out["classes"][:_MAX_CLASSES]
    measures = {"precision %": ("precision", "macro_precision"), "recall %": ("recall", "macro_recall")}
    measures["F1"] = ("f1", "macro_f1")
    columns = [
        align_left(["class", *(row["name"] for row in rows)]),
        align(["rows"], [f"{row['rows']} " for row in rows]),
        *(
            align([heading], [f"{MEASURES[measure].number(row[name])} " for row in rows])
            for heading, (name, measure) in measures.items()
        ),
    ]
    error = f"\n\nProbabilities are off by {100 * held_out['calibration']['error']:.1f} points on average."
    return join(columns, [1]) + _more(len(rows), len(held_out["classes"])) + error


def _confusions_text(held_out: dict[str, Any]) -> str:
    """List the pairs of classes that are confused most."""
    pairs = held_out["confused"][:_MAX_PAIRS]
    if not pairs:
        return "No held-out row was taken for another class."
    lines = [f"  {pair['first']} / {pair['second']}: {pair['rows']} of {pair['of']} rows" for pair in pairs]
    return "\n".join(["Confused most, on held-out rows:", *lines])


def _code_text(code: dict[str, Any]) -> str:
    """Describe the code in one line; a short one is shown below."""
    n_rows, n_columns, n_used = len(code["rows"]), len(code["kinds"]), sum(code["used"])
    used = "all of them used" if n_used == n_columns else f"{n_used} of them used"
    kinds = [f"{code['kinds'].count(kind)} {kind}" for kind in dict.fromkeys(code["kinds"])]
    grown = f" ({', '.join(kinds)})" if len(kinds) > 1 else ""
    line = f"Code: {n_rows} rows x {n_columns} columns{grown}, {used}"
    if n_rows > _MAX_CLASSES or n_columns > _MAX_SIGNS:
        return line
    rows = zip(align_left(code["rows"]), code["matrix"], strict=True)
    return "\n".join([line, *(f"  {name} {''.join(_SIGNS[entry] for entry in signs)}" for name, signs in rows)])


def _learners_text(learners: dict[str, Any]) -> str:
    """Lay out the columns and the shares of several learners; of many classes, those that are most unusual."""
    members, classes = learners["members"], learners["classes"]
    order = list(range(len(classes)))
    is_short = len(classes) > _MAX_SHARES
    if is_short:
        order = sorted(order, key=lambda place: -classes[place]["unusual"])[:_MAX_UNUSUAL]
    rows = [classes[place] for place in order]
    has_added = any(member["added"] for member in members)
    titles = ["columns", *(["of them added"] if has_added else []), "all classes"]
    names = align_left(["", *titles, *(row["name"] for row in rows)])
    columns = []
    for place, member in enumerate(members):
        counts = [member["columns"], *([member["added"]] if has_added else [])]
        shares = [member["share"], *(row["shares"][place] for row in rows)]
        columns.append(
            align(
                [member["name"]], [*(f"{count}   " for count in counts), *(f"{100 * share:.1f} " for share in shares)]
            )
        )
    share_of = "the weights" if learners["are_weights"] else "the columns that a class takes part in"
    lines = [f"Learners: how many columns each has, and how much it counts, in % of {share_of}"]
    rules = [1, 1 + len(titles)]
    lines += [join([names, *block], rules) for block in blocks(columns, _WIDTH - len(names[0]))]
    if is_short:
        lines.append(f"Shown are the {len(rows)} of {len(classes)} classes that differ most from the mean.")
    return "\n".join(lines)


def _certificate_text(certificate: dict[str, float]) -> str:
    """Say how close the weights are to the best ones."""
    loss = f"; mean log-loss {certificate['log_loss']:.4g}" if "log_loss" in certificate else ""
    gap = f"relative gap to the optimum at most {certificate['gap']:.1e}"
    return f"Weights: objective {certificate['objective']:.4g}, {gap}{loss}"


def _growth_text(growth: dict[str, Any]) -> str:
    """Lay out the rounds of growth."""
    rounds = growth["rounds"][: max(_MAX_ROUNDS, growth["kept"] + 1)]
    measures = [("loss", "loss", 1, ".4f"), ("out-of-fold accuracy %", "out_of_fold_accuracy", 100, ".1f")]
    columns = [
        align(["round"], [f"{row['round']}{'*' if row['round'] == growth['kept'] else ' '}" for row in rounds]),
        align(["columns"], [f"{row['columns']} " for row in rounds]),
        *(
            align([heading], [f"{factor * row[name]:{form}} " for row in rounds])
            for heading, name, factor, form in measures
            if all(row[name] is not None for row in rounds)
        ),
        align_left([" then added for", *(f" {_pairs(row['pairs'])}" for row in rounds)]),
    ]
    legend = (
        "* is the round that is kept.\n"
        "Out-of-fold predictions of a training row are those of learners that have not seen it."
    )
    return f"{join(columns, [1])}{_more(len(rounds), len(growth['rounds']))}\n{legend}"


def _pairs(pairs: Sequence[dict[str, Any]]) -> str:
    """Name pairs of classes, the first few only, and what was added for them."""
    names = []
    for pair in pairs[:_MAX_PAIRS]:
        marks = [pair["learner"], pair["added"] if pair["added"] == "clustered" else ""]
        mark = ", ".join(filter(None, marks))
        names.append(f"{pair['first']}/{pair['second']}{f' ({mark})' if mark else ''}")
    return ", ".join(names + [f"{len(pairs) - len(names)} more"] * (len(pairs) > len(names)))


def _important_text(important: Sequence[dict[str, Any]]) -> str:
    """Name the columns that matter most for the hardest pairs."""
    lines = ["Columns that matter most for the pairs hardest to separate (points lost if a column is shuffled):"]
    for pair in important[:_MAX_PAIRS]:
        columns = [f"{column['name']} {100 * column['drop']:.1f}" for column in pair["columns"][:3]]
        lines.append(f"  {pair['first']} / {pair['second']}: {', '.join(columns) or 'none alone'}")
    return "\n".join(lines)


def _columns_text(table: dict[str, Any]) -> str:
    """Name the columns of the table, with what they hold, the first ones only if there are many."""
    lines = []
    for title, entries in (("Columns", table["columns"]), ("Left out", table["left_out"])):
        names = [f"{name} ({kind})" for name, kind in entries[:_MAX_COLUMNS]]
        names += [f"and {len(entries) - _MAX_COLUMNS} more"] if len(entries) > _MAX_COLUMNS else []
        lines += [_wrapped(f"{title}: {', '.join(names)}", 0)] if names else []
    return "\n".join(lines)
