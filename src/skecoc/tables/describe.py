"""What there is to know about a fitted model, as plain data: for a page, or for a terminal."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skecoc.decoding.base import check_decoder_matrix
from skecoc.support.errors import InputError
from skecoc.tables.model import TableClassifier

# Confused pairs of classes that are listed.
_MAX_CONFUSIONS = 10


def describe_model(model: Any) -> dict[str, Any]:
    """Collect what there is to know about a model.

    Parameters
    ----------
    model : TableClassifier, Pipeline or classifier
        A fitted model whose last part is an output code.

    Returns
    -------
    dict
        Plain lists, dictionaries, strings and numbers. ``classes``, ``code`` (matrix, weights, names of its rows, what
        each column is) and ``growth`` (None for a code that has not grown) are there for every model; ``table``,
        ``held_out`` and ``important`` are None unless `skecoc.tables.fit_table` has made it. ``notes`` and
        ``versions`` may be empty.

    Raises
    ------
    InputError
        If the model is no output code, or its record does not make sense.

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
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"the model's record is damaged: {reason}") from error
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
    }


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
    rounds = []
    for number, record in enumerate(classifier.history_):
        first = int(record.n_columns)
        pairs = [
            {
                "first": classes[i],
                "second": classes[j],
                "loss": float(loss),
                "added": str(kinds[first + place]) if number < kept else "",
            }
            for place, ((i, j), loss) in enumerate(zip(record.pairs, record.pair_losses, strict=True))
        ]
        rounds.append(
            {
                "round": number,
                "columns": first,
                "loss": float(record.loss),
                "accuracy": float(record.accuracy),
                "honest_accuracy": float(record.honest_accuracy),
                "clustered": int(record.n_clustered),
                "pairs": pairs,
                "is_kept": number <= kept,
            }
        )
    stop_reason = str(classifier.stop_reason_) if len(rounds) > 1 else "the initial code was taken as it is"
    return {"rounds": rounds, "kept": kept, "stop_reason": stop_reason}


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
    recall, precision = right / np.maximum(support, 1), right / np.maximum(predicted, 1)
    f1 = 2 * right / np.maximum(support + predicted, 1)
    fields = ("accuracy", "std", "columns", "fit_seconds")
    return {
        "comparison": [
            {"method": str(row["method"]), **{name: float(row[name]) for name in fields}} for row in card["comparison"]
        ],
        "confusion": confusion.astype(int).tolist(),
        "accuracy": float(right.sum() / confusion.sum()),
        "classes": [
            {
                "name": name,
                "rows": int(support[k]),
                "precision": float(precision[k]),
                "recall": float(recall[k]),
                "f1": float(f1[k]),
            }
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
            "first": classes[i],
            "second": classes[j],
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
    return [
        {
            "first": classes[i],
            "second": classes[j],
            "told_apart": float(told_apart),
            "columns": [
                {"name": columns[place], "drop": float(drop)}
                for place, drop in zip(best, drops, strict=True)
                if drop > 0
            ],
        }
        for (i, j), told_apart, best, drops in zip(
            np.asarray(found["pairs"]),
            np.asarray(found["told_apart"]),
            np.asarray(found["columns"]),
            np.asarray(found["drops"]),
            strict=True,
        )
    ]
