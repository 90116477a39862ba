"""What there is to know about a fitted model: as plain data for a page, and as text for a terminal."""

import json
import unicodedata
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skecoc.decoding.base import check_decoder_matrix
from skecoc.support.errors import InputError
from skecoc.support.text_layout import align, blocks, join
from skecoc.tables.model import TableClassifier, named_reason

# Confused pairs of classes that are listed.
_MAX_CONFUSIONS = 10
# Entries of long lists that are printed; the page has all of them.
_MAX_CLASSES, _MAX_PAIRS, _MAX_ROUNDS = 30, 5, 12
# Classes up to which the learners' shares of all are printed; of more, those that differ most from the mean.
_MAX_SHARES, _MAX_UNUSUAL = 10, 5
# Longest code whose matrix is printed, and the width that long lists are wrapped to.
_MAX_SIGNS, _WIDTH = 60, 100
_SIGNS = {1: "+", -1: "-", 0: "0"}


def describe_model(model: Any) -> dict[str, Any]:
    """Collect what there is to know about a model.

    Parameters
    ----------
    model : TableClassifier, Pipeline or classifier
        A fitted model whose last part is an output code.

    Returns
    -------
    dict
        Plain lists, dictionaries, strings and numbers: ``classifier``, ``classes``, ``code``, ``learners`` (None for a
        code of a single learner), ``certificate`` (None for weights that no solver has found), ``growth`` (None for a
        code that does not grow; of its rounds, None is what was not measured), ``notes``, ``versions``, and ``table``,
        ``held_out`` and ``important``, which are None unless `skecoc.tables.fit_table` has made the model.

    Examples
    --------
    >>> from skecoc import ECOCClassifier
    >>> description = describe_model(ECOCClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]))
    >>> description["classes"], description["code"]["matrix"]
    (['a', 'b', 'c'], [[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    """
    classifier = model.classifier_ if isinstance(model, TableClassifier) else model
    classifier = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    if getattr(classifier, "code_matrix_", None) is None:
        raise InputError(f"a {type(classifier).__name__} has no code to show; expected a fitted output code")
    try:
        description = _describe(model, classifier)
        json.dumps(description, allow_nan=False)  # fails unless all of it is plain and finite
    except Exception as error:  # the record of a forged file may be anything
        raise InputError(f"the model's record is damaged: {named_reason(error)}") from error
    return description


def _describe(model: Any, classifier: Any) -> dict[str, Any]:
    """Collect everything; of a damaged record this fails."""
    classes = [str(label) for label in classifier.classes_]
    card = model.card_ if isinstance(model, TableClassifier) else {}
    confusion = np.asarray(card["confusion"]) if card else None
    return {
        "classifier": type(classifier).__name__,
        "classes": classes,
        "code": _code(classifier, classes),
        "learners": _learners(classifier, classes),
        "certificate": _certificate(classifier.decoder_),
        "growth": _growth(classifier, classes) if hasattr(classifier, "history_") else None,
        "table": _table(model, card) if card else None,
        "held_out": None if confusion is None else _held_out(card, confusion, classes),
        "important": _important(card["important"], classes, list(model.kinds_)) if card.get("important") else None,
        "notes": [str(note) for note in card.get("notes", [])],
        "versions": [(str(name), str(version)) for name, version in card.get("versions", {}).items()],
    }


def _code(classifier: Any, classes: list[str]) -> dict[str, Any]:
    """Describe the code matrix and its weights."""
    matrix = np.asarray(classifier.code_matrix_)
    rows = np.asarray(getattr(classifier, "row_classes_", np.arange(len(classes))))
    weights = getattr(classifier.decoder_, "weights_", None)
    used = getattr(classifier, "used_columns_", np.arange(matrix.shape[1]))
    kinds = getattr(classifier, "column_kinds_", np.full(matrix.shape[1], "initial"))
    _require_shape(matrix, (len(rows), len(kinds)))
    check_decoder_matrix(matrix)
    if weights is not None:
        _require_shape(np.asarray(weights), matrix.shape)
    return {
        "matrix": matrix.astype(int).tolist(),
        "weights": None if weights is None else np.asarray(weights, dtype=float).tolist(),
        "rows": _row_names(rows, classes),
        "kinds": [str(kind) for kind in kinds],
        "used": np.isin(np.arange(matrix.shape[1]), used).tolist(),
        "learners": _column_learners(classifier) or [""] * matrix.shape[1],
    }


def _column_learners(classifier: Any) -> list[str] | None:
    """Name the learner of each column; None if there is only one, or if the model is older than their names."""
    names = [str(name) for name in getattr(classifier, "column_learners_", [])]
    if len(set(names)) < 2:
        return None
    _require_shape(np.array(names), (np.asarray(classifier.code_matrix_).shape[1],))
    return names


def _learners(classifier: Any, classes: list[str]) -> dict[str, Any] | None:
    """Describe several learners: their columns, and how much each counts for each class."""
    owners = np.array(_column_learners(classifier) or [])
    if not len(owners):
        return None
    found = {str(name): np.asarray(share, dtype=float) for name, share in classifier.learner_shares().items()}
    shares = np.column_stack(list(found.values()))
    _require_shape(shares, (len(classes), len(set(owners.tolist()))))
    kinds = np.asarray(getattr(classifier, "column_kinds_", np.full(len(owners), "initial")))
    mean = shares.mean(axis=0)
    return {
        "members": [
            {
                "name": name,
                "columns": int((owners == name).sum()),
                "added": int(((owners == name) & (kinds != "initial")).sum()),
                "share": float(share),
            }
            for name, share in zip(found, mean, strict=True)
        ],
        "classes": [
            # Half the sum of differences: the part of the weights that other learners have than on average.
            {"name": name, "shares": row.tolist(), "unusual": float(0.5 * np.abs(row - mean).sum())}
            for name, row in zip(classes, shares, strict=True)
        ],
        "are_weights": hasattr(classifier.decoder_, "weights_"),
    }


def _certificate(decoder: Any) -> dict[str, float] | None:
    """Tell how close the weights that a solver has found are to the best ones."""
    certificate = getattr(decoder, "certificate_", None)
    if certificate is None:
        return None
    names = [name for name in ("objective", "lower_bound", "gap", "log_loss") if hasattr(certificate, name)]
    return {name: float(getattr(certificate, name)) for name in names}


def _require_shape(array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != shape:
        raise ValueError(f"expected an array of shape {shape}, got {array.shape}")


def _row_names(rows: NDArray[Any], classes: list[str]) -> list[str]:
    """Name the rows of the matrix by their classes; parts of a class are numbered."""
    names, counts = [], np.bincount(rows, minlength=len(classes))
    seen = [0] * len(classes)
    for row in rows:
        seen[row] += 1
        names.append(classes[row] if counts[row] == 1 else f"{classes[row]} ({seen[row]})")
    return names


def _growth(classifier: Any, classes: list[str]) -> dict[str, Any]:
    """Describe the rounds of growth: which pairs were hard, and what was added for them."""
    kept, kinds = int(classifier.best_round_), list(classifier.column_kinds_)
    owners = _column_learners(classifier) or [""] * len(kinds)
    rounds: list[dict[str, Any]] = []
    for number, record in enumerate(classifier.history_):
        first = int(record.n_columns)
        pairs = [
            {
                **_named_pair(i, j, classes),
                "loss": float(loss),
                "added": str(kinds[place]) if number < kept else "",
                "learner": owners[place] if number < kept else "",
            }
            for place, ((i, j), loss) in enumerate(zip(record.pairs, record.pair_losses, strict=True), start=first)
        ]
        rounds.append(
            {
                "round": number,
                "columns": first,
                **{name: _known(getattr(record, name)) for name in ("loss", "accuracy", "out_of_fold_accuracy")},
                "clustered": int(record.n_clustered),
                "pairs": pairs,
                "is_kept": number <= kept,
            }
        )
    summary, stop_reason = str(classifier.growth_summary()), str(classifier.stop_reason_)
    return {"summary": summary, "rounds": rounds, "kept": kept, "stop_reason": stop_reason}


def _known(value: Any) -> float | None:
    """Return a number, or None for one that was not measured."""
    return None if np.isnan(value) else float(value)


def _named_pair(i: int, j: int, classes: list[str]) -> dict[str, Any]:
    """Name two classes."""
    return {"first": classes[i], "second": classes[j]}


def _table(model: TableClassifier, card: dict[str, Any]) -> dict[str, Any]:
    """Describe the table that a model was fitted to."""
    return {
        **{name: str(card[name]) for name in ("data", "target", "method", "learner")},
        **{name: int(card[name]) for name in ("n_rows", "folds", "seed")},
        "columns": [(str(name), str(kind)) for name, kind in model.kinds_.items()],
        "left_out": [(str(name), str(reason)) for name, reason in model.left_out_.items()],
    }


def _held_out(card: dict[str, Any], confusion: NDArray[Any], classes: list[str]) -> dict[str, Any]:
    """Describe what held-out rows were predicted as."""
    _require_shape(confusion, (len(classes), len(classes)))
    right, support, predicted = np.diagonal(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    measures = {
        "precision": right / np.maximum(predicted, 1),
        "recall": right / np.maximum(support, 1),
        "f1": 2 * right / np.maximum(support + predicted, 1),
    }
    fields = ("accuracy", "std", "columns", "fit_seconds")
    return {
        "comparison": [
            {"method": str(row["method"]), **{name: float(row[name]) for name in fields}} for row in card["comparison"]
        ],
        "confusion": confusion.astype(int).tolist(),
        "accuracy": float(right.sum() / confusion.sum()),
        "classes": [
            {"name": name, "rows": int(support[k]), **{key: float(values[k]) for key, values in measures.items()}}
            for k, name in enumerate(classes)
        ],
        "confused": _confused(confusion, classes),
        "calibration": _calibration(card["calibration"]),
    }


def _confused(confusion: NDArray[Any], classes: list[str]) -> list[dict[str, Any]]:
    """List the pairs of classes that are confused most, in either direction."""
    both = np.triu(confusion + confusion.T, k=1)
    order = np.argsort(-both, axis=None, kind="stable")[:_MAX_CONFUSIONS]
    places = [np.unravel_index(place, both.shape) for place in order]
    return [
        {
            **_named_pair(i, j, classes),
            "rows": int(both[i, j]),
            "of": int(confusion[i].sum() + confusion[j].sum()),
        }
        for i, j in places
        if both[i, j] > 0
    ]


def _calibration(bins: dict[str, Any]) -> dict[str, Any]:
    """Describe how sure the model is, and how often it is right."""
    n_rows, sure, right = (np.asarray(bins[name], dtype=float) for name in ("n_rows", "confidence", "accuracy"))
    error = float((n_rows * np.abs(sure - right)).sum() / max(n_rows.sum(), 1.0))
    shown = [
        {"rows": int(count), "confidence": float(mean), "accuracy": float(share)}
        for count, mean, share in zip(n_rows, sure, right, strict=True)
        if count > 0
    ]
    return {"bins": shown, "error": error}


def _important(found: dict[str, Any], classes: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """List the columns that matter most for each pair of classes, the hardest pair first."""
    fields = (np.asarray(found[name]) for name in ("pairs", "told_apart", "columns", "drops"))
    return [
        {
            **_named_pair(i, j, classes),
            "told_apart": float(told_apart),
            "columns": [
                {"name": columns[place], "drop": float(drop)}
                for place, drop in zip(best, drops, strict=True)
                if drop > 0
            ],
        }
        for (i, j), told_apart, best, drops in zip(*fields, strict=True)
    ]


def comparison_text(comparison: Sequence[dict[str, Any]], folds: int) -> str:
    """Lay out held-out accuracies, the best marked by ``*``; `comparison` has a dictionary for each method."""
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
    """Lay out what `describe_model` gives as text; characters that a terminal would obey are spelt out."""
    description = _printable(description)
    table, held_out = description["table"], description["held_out"]
    parts = [f"{description['classifier']} for {len(description['classes'])} classes"]
    if held_out is not None:
        column = f"column {table['target']!r} of {table['data']} ({table['n_rows']} rows)"
        parts = [
            f"{table['method']} of {table['learner']}, for the {len(description['classes'])} classes in {column}",
            comparison_text(held_out["comparison"], table["folds"]),
            _classes_text(held_out),
            _confusions_text(held_out),
        ]
    notes = [_wrapped(f"- {note}", 2) for note in description["notes"]]
    growth = description["growth"]
    parts[1:1] = [fill(growth["summary"], _WIDTH, break_on_hyphens=False)] if growth else []
    parts += [
        _code_text(description["code"]),
        _learners_text(description["learners"]) if description["learners"] else "",
        _certificate_text(description["certificate"]) if description["certificate"] else "",
        _growth_text(growth) if growth and len(growth["rounds"]) > 1 else "",
        _important_text(description["important"]) if description["important"] else "",
        _columns_text(table) if table else "",
        "\n".join(["Notes:", *notes]) if notes else "",
        ", ".join(f"{name} {version}" for name, version in description["versions"]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _printable(value: Any) -> Any:
    """Spell out control characters in all texts of plain data: names come from files of any origin."""
    if isinstance(value, str):
        return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in value)
    if isinstance(value, dict):
        return {key: _printable(part) for key, part in value.items()}
    return [_printable(part) for part in value] if isinstance(value, list | tuple) else value


def _names(lines: Sequence[str]) -> list[str]:
    """Left-align names; wide characters take two places on a terminal, accents of their own none."""
    widths = [
        sum(0 if unicodedata.combining(mark) else 1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line)
        for line in lines
    ]
    return [line + " " * (max(widths) - width) for line, width in zip(lines, widths, strict=True)]


def _wrapped(text: str, indent: int) -> str:
    """Break a long line, and set what follows the first further to the right."""
    first, later = " " * indent, " " * (indent + 2)
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _more(shown: int, total: int) -> str:
    """Say how much is not shown."""
    return f"\n... and {total - shown} more" if total > shown else ""


def _classes_text(held_out: dict[str, Any]) -> str:
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
    rows = zip(_names(code["rows"]), code["matrix"], strict=True)
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
    names = _names(["", *titles, *(row["name"] for row in rows)])
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
    gap = f"within {certificate['gap']:.1e} of the best there is, relatively"
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
        _names([" then added for", *(f" {_pairs(row['pairs'])}" for row in rounds)]),
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
    lines = ["Columns that matter most for the pairs hardest to separate (shuffled, they cost so many points):"]
    for pair in important[:_MAX_PAIRS]:
        columns = [f"{column['name']} {100 * column['drop']:.1f}" for column in pair["columns"][:3]]
        lines.append(f"  {pair['first']} / {pair['second']}: {', '.join(columns) or 'none alone'}")
    return "\n".join(lines)


def _columns_text(table: dict[str, Any]) -> str:
    """Name the columns of the table, with what they hold."""
    lines = [f"Columns: {', '.join(f'{name} ({kind})' for name, kind in table['columns'])}"]
    if table["left_out"]:
        lines.append(f"Left out: {', '.join(f'{name} ({reason})' for name, reason in table['left_out'])}")
    return "\n".join(_wrapped(line, 0) for line in lines)
