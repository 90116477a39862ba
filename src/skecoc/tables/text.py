"""The description of a model as text for a terminal."""

import unicodedata
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from skecoc.support.text_layout import align, join

# Rows of long lists that are printed; the page has all of them.
_MAX_CLASSES, _MAX_PAIRS, _MAX_ROUNDS = 30, 5, 12
# Longest code whose matrix is printed, and the width that long lists are wrapped to.
_MAX_SIGNS, _WIDTH = 60, 100
_SIGNS = {1: "+", -1: "-", 0: "0"}


def comparison_text(comparison: Sequence[dict[str, Any]], folds: int) -> str:
    """Lay out held-out accuracies.

    Parameters
    ----------
    comparison : sequence of dict
        ``method``, ``accuracy``, ``std``, ``columns`` and ``fit_seconds`` of each method.
    folds : int
        Number of folds.

    Returns
    -------
    str
        Lines of text, ending in a newline; the most accurate methods are marked by ``*``.

    Examples
    --------
    >>> rows = [{"method": "wolc/optimized-weight", "accuracy": 0.9, "std": 0.01, "columns": 4.5, "fit_seconds": 0.1}]
    >>> print(comparison_text(rows, 5))
                          accuracy %  +/-  columns  fit s
    -----------------------------------------------------
    wolc/optimized-weight       90.0* 1.0      4.5   0.10
    <BLANKLINE>
    Mean over 5 folds, the same for all methods, and standard deviation; * is the best as printed.
    <BLANKLINE>
    """
    shown = [f"{100 * row['accuracy']:.1f}" for row in comparison]
    best = max(float(text) for text in shown)
    columns = [
        _names(["", *(row["method"] for row in comparison)]),
        align(["accuracy %"], [f"{text}{'*' if float(text) == best else ' '}" for text in shown]),
        align(["+/-"], [f"{100 * row['std']:.1f} " for row in comparison]),
        align(["columns"], [f"{row['columns']:.1f} " for row in comparison]),
        align(["fit s"], [f"{row['fit_seconds']:.2f} " for row in comparison]),
    ]
    legend = f"Mean over {folds} folds, the same for all methods, and standard deviation; * is the best as printed."
    return f"{join(columns, [1])}\n\n{legend}\n"


def model_text(description: dict[str, Any]) -> str:
    """Lay out what there is to know about a model.

    Parameters
    ----------
    description : dict
        What `skecoc.tables.describe.describe_model` gives.

    Returns
    -------
    str
        Paragraphs and tables, ending in a newline. Characters that a terminal would obey are spelt out.

    Examples
    --------
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.tables.describe import describe_model
    >>> print(model_text(describe_model(ECOCClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]))))
    ECOCClassifier for 3 classes
    <BLANKLINE>
    Code: 3 rows x 3 columns, all of them used
      a ++0
      b -0+
      c 0--
    <BLANKLINE>
    """
    description = _printable(description)
    table, held_out = description["table"], description["held_out"]
    parts = [_headline(description)]
    if held_out is not None:
        parts += [comparison_text(held_out["comparison"], table["folds"]), _classes(held_out), _confusions(held_out)]
    parts.append(_code(description))
    if description["growth"] is not None:
        parts.append(_growth(description["growth"]))
    if description["important"]:
        parts.append(_important(description["important"]))
    if table is not None:
        parts.append(_columns(table))
    if description["notes"]:
        parts.append("\n".join(["Notes:", *(_wrapped(f"- {note}", 2) for note in description["notes"])]))
    parts += [", ".join(f"{name} {version}" for name, version in description["versions"])]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _headline(description: dict[str, Any]) -> str:
    """Say what the model is."""
    table, n_classes = description["table"], len(description["classes"])
    if table is None:
        return f"{description['classifier']} for {n_classes} classes"
    return (
        f"{table['method']} of {table['learner']}, for the {n_classes} classes in column {table['target']!r} of "
        f"{table['data']} ({table['n_rows']} rows)"
    )


def _printable(value: Any) -> Any:
    """Spell out control characters in all texts of plain data: names come from files of any origin."""
    if isinstance(value, str):
        return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in value)
    if isinstance(value, dict):
        return {key: _printable(part) for key, part in value.items()}
    return [_printable(part) for part in value] if isinstance(value, list | tuple) else value


def _names(lines: Sequence[str]) -> list[str]:
    """Left-align names."""
    widths = [_columns_of(line) for line in lines]
    return [line + " " * (max(widths) - width) for line, width in zip(lines, widths, strict=True)]


def _columns_of(line: str) -> int:
    """Count the places that a text takes on a terminal: two for wide characters, none for accents of their own."""
    return sum(0 if unicodedata.combining(mark) else 1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line)


def _wrapped(text: str, indent: int) -> str:
    """Break a long line, and set what follows the first further to the right."""
    first, later = " " * indent, " " * (indent + 2)
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _more(shown: int, total: int) -> str:
    """Say how much is not shown."""
    return f"\n... and {total - shown} more" if total > shown else ""


def _classes(held_out: dict[str, Any]) -> str:
    """Lay out precision and recall of each class."""
    rows = held_out["classes"][:_MAX_CLASSES]
    measures = ("precision", "recall", "f1")
    columns = [
        _names(["class", *(row["name"] for row in rows)]),
        align(["rows"], [f"{row['rows']} " for row in rows]),
        *(align([f"{name} %"], [f"{100 * row[name]:.1f} " for row in rows]) for name in measures),
    ]
    error = f"\n\nProbabilities are off by {100 * held_out['calibration']['error']:.1f} points on average."
    return join(columns, [1]) + _more(len(rows), len(held_out["classes"])) + error


def _confusions(held_out: dict[str, Any]) -> str:
    """List the pairs of classes that are confused most."""
    pairs = held_out["confused"][:_MAX_PAIRS]
    if not pairs:
        return "No held-out row was taken for another class."
    lines = [f"  {pair['first']} / {pair['second']}: {pair['rows']} of {pair['of']} rows" for pair in pairs]
    return "\n".join(["Confused most, on held-out rows:", *lines])


def _code(description: dict[str, Any]) -> str:
    """Describe the code in one line; a short one is shown below."""
    code = description["code"]
    n_rows, n_columns, n_used = len(code["rows"]), len(code["kinds"]), sum(code["used"])
    used = "all of them used" if n_used == n_columns else f"{n_used} of them used"
    kinds = [f"{code['kinds'].count(kind)} {kind}" for kind in dict.fromkeys(code["kinds"])]
    grown = f" ({', '.join(kinds)})" if len(kinds) > 1 else ""
    line = f"Code: {n_rows} rows x {n_columns} columns{grown}, {used}"
    if n_rows > _MAX_CLASSES or n_columns > _MAX_SIGNS:
        return line
    rows = zip(_names(code["rows"]), code["matrix"], strict=True)
    return "\n".join([line, *(f"  {name} {''.join(_SIGNS[entry] for entry in signs)}" for name, signs in rows)])


def _growth(growth: dict[str, Any]) -> str:
    """Lay out the rounds of growth."""
    if len(growth["rounds"]) == 1:
        return f"No column was added: {growth['stop_reason']}."
    rounds = growth["rounds"][:_MAX_ROUNDS]
    columns = [
        align(["round"], [f"{row['round']}{'*' if row['round'] == growth['kept'] else ' '}" for row in rounds]),
        align(["columns"], [f"{row['columns']} " for row in rounds]),
        align(["loss"], [f"{row['loss']:.4f} " for row in rounds]),
        align(["honest accuracy %"], [f"{100 * row['honest_accuracy']:.1f} " for row in rounds]),
        _names([" then asked about", *(f" {_pairs(row)}" for row in rounds)]),
    ]
    legend = (
        f"* is the round that is kept; growth ended, since {growth['stop_reason']}.\n"
        "Honest answers to a training row are those of learners that have not seen it."
    )
    return f"{join(columns, [1])}{_more(len(rounds), len(growth['rounds']))}\n{legend}"


def _pairs(row: dict[str, Any]) -> str:
    """Name the pairs of a round, and what was added for them."""
    return ", ".join(
        f"{pair['first']}/{pair['second']}{' (clustered)' if pair['added'] == 'clustered' else ''}"
        for pair in row["pairs"]
    )


def _important(important: Sequence[dict[str, Any]]) -> str:
    """Name the columns that matter most for the hardest pairs."""
    lines = ["Columns that matter most for the pairs hardest to tell apart (shuffled, they cost so many points):"]
    for pair in important[:_MAX_PAIRS]:
        columns = [f"{column['name']} {100 * column['drop']:.1f}" for column in pair["columns"][:3]]
        lines.append(f"  {pair['first']} / {pair['second']}: {', '.join(columns) or 'none alone'}")
    return "\n".join(lines)


def _columns(table: dict[str, Any]) -> str:
    """Name the columns of the table, with what they hold."""
    lines = [f"Columns: {', '.join(f'{name} ({kind})' for name, kind in table['columns'])}"]
    if table["left_out"]:
        lines.append(f"Left out: {', '.join(f'{name} ({reason})' for name, reason in table['left_out'])}")
    return "\n".join(_wrapped(line, 0) for line in lines)
