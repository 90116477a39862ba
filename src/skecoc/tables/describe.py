"""Description of a fitted model as plain data, for reports and text output."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skecoc.decoding.base import check_decoder_matrix
from skecoc.support.errors import InputError
from skecoc.support.scores import MEASURES, ScoreFormat
from skecoc.tables.model import TableClassifier, named_reason

# Confused pairs of classes that are listed.
_MAX_CONFUSIONS = 10
# Characters of a class in a sentence; longer names are cut.
_MAX_NAME = 40


def describe_model(model: Any) -> dict[str, Any]:
    """Describe a fitted model by plain data.

    Parameters
    ----------
    model : TableClassifier, Pipeline or classifier
        A fitted model: a `TableClassifier` with any classifier, an output-code classifier, or a pipeline that ends with
        one.

    Returns
    -------
    dict
        Lists, dictionaries, strings and numbers: ``classifier``, ``classes``, ``code`` (None for classifiers other than
        output codes), ``learners`` (None for a single learner), ``certificate`` (None without optimised or logistic
        weights), ``growth`` (None for codes that do not grow; values that were not measured in a round are None),
        ``notes`` and ``versions``; also ``table``, ``held_out``, ``test`` and ``important``, which are None unless the
        model was fitted by `skecoc.tables.fit_table` (for ``test``, with test rows).

    Examples
    --------
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.tables import describe_model
    >>> description = describe_model(ECOCClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]))
    >>> description["classes"], description["code"]["matrix"]
    (['a', 'b', 'c'], [[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    """
    classifier = getattr(model, "classifier_", None) if isinstance(model, TableClassifier) else model
    classifier = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    if getattr(classifier, "code_matrix_", None) is None and not isinstance(model, TableClassifier):
        raise InputError(f"a {type(classifier).__name__} has no code to show; expected a fitted output code")
    try:
        description = _describe(model, classifier)
        json.dumps(description, allow_nan=False)  # fails unless all of it is plain and finite
    except Exception as error:  # the record of a forged file may be anything
        raise InputError(f"the model's record is damaged: {named_reason(error)}") from error
    return description


def _describe(model: Any, classifier: Any) -> dict[str, Any]:
    """Collect everything; of a damaged record this fails."""
    is_table = isinstance(model, TableClassifier)
    # The classifier of a table may know its classes by number only.
    classes = [str(label) for label in (model if is_table else classifier).classes_]
    card = _record(model)
    is_code = getattr(classifier, "code_matrix_", None) is not None
    return {
        "classifier": type(classifier).__name__,
        "classes": classes,
        "code": _code(classifier, classes) if is_code else None,
        "learners": _learners(classifier, classes) if is_code else None,
        "certificate": _certificate(classifier.decoder_) if is_code else None,
        "growth": _growth(classifier, classes) if is_code and hasattr(classifier, "history_") else None,
        "table": _table(model, card) if card else None,
        "held_out": _held_out(card, classes) if card else None,
        "test": _test(card, classes) if card.get("test") else None,
        "important": _important(card["important"], classes, list(model.kinds_)) if card.get("important") else None,
        "notes": [str(note) for note in card.get("notes", [])],
        "versions": [(str(name), str(version)) for name, version in card.get("versions", {}).items()],
    }


def _record(model: Any) -> dict[str, Any]:
    """Return the record of a model's training, which in the pipeline of a music model is kept by its first step."""
    return getattr(model[0] if isinstance(model, Pipeline) else model, "card_", {})


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
    return None if value is None or not np.isfinite(value) else float(value)


def _named_pair(i: int, j: int, classes: list[str]) -> dict[str, Any]:
    """Name two classes."""
    return {"first": classes[i], "second": classes[j]}


def _table(model: Any, card: dict[str, Any]) -> dict[str, Any]:
    """Describe the table that a model was fitted to, and how; features of music take the place of its columns."""
    options = card.get("options", {})
    kinds, left_out = getattr(model, "kinds_", card.get("columns", {})), getattr(model, "left_out_", {})
    return {
        **{name: str(card[name]) for name in ("data", "target", "method", "learner")},
        **{name: int(card[name]) for name in ("n_rows", "folds", "seed")},
        "columns": [(str(name), str(kind)) for name, kind in kinds.items()],
        "left_out": [(str(name), str(reason)) for name, reason in left_out.items()],
        "command": str(card.get("command") or ""),
        "class_weight": str(options.get("class_weight") or ""),
        "group": str(options.get("group") or ""),
        "order": [str(label) for label in options.get("order") or []],
    }


def describe_scores(card: dict[str, Any]) -> dict[str, Any]:
    """Collect what a model's record says about its score and about those of the methods beside it.

    ``comparison`` has a dictionary for each method; ``interval`` and ``baseline``, and among the methods what is not
    known, are None. Records of versions before there were other metrics than accuracy are read, too.
    """
    has_metric = "metric" in card
    metric = {name: card["metric"][name] for name in ("name", "higher_is_better", "in_percent")} if has_metric else {}
    scale = ScoreFormat(**metric)
    rows = [_compared(row, place == 0) for place, row in enumerate(card["comparison"])]
    (chosen,) = (row for row in rows if row["is_chosen"])
    interval = None if card.get("interval") is None else [float(end) for end in card["interval"]]
    majority, baseline = card.get("majority"), next((row for row in rows if row["is_baseline"]), None)
    if baseline is not None and majority is not None:
        baseline["label"] = f"always {_short(majority['class'])}"
    found = {
        "metric": {"name": scale.name, "higher_is_better": scale.higher_is_better, "in_percent": scale.in_percent},
        "comparison": rows,
        "interval": interval,
        "baseline": None if baseline is None else {"label": baseline["label"], "score": baseline["score"]},
        "folds": int(card["folds"]),
        "n_rows": int(card["n_rows"]),
        "compared_rows": int(card.get("options", {}).get("compared_rows") or card["n_rows"]),
        "reason": str(card.get("reason") or ""),
        "warnings": [str(warning) for warning in card.get("warnings", [])],
    }
    headline = f"{chosen['method']}: {_scored(scale, chosen['score'], interval)} on held-out rows"
    if baseline is not None:
        name = baseline["label"].removeprefix("always ")
        headline += f"; always predicting {name} would have {scale.text(baseline['score'])}"
    return {**found, "headline": f"{headline}.", "test_headline": _test_headline(card.get("test"), scale)}


def _compared(row: dict[str, Any], is_first: bool) -> dict[str, Any]:
    """Describe the scores of one method; an older record names the chosen method first, and has its accuracy only."""
    known = {name: _known(row.get(name)) for name in ("std", "columns", "fit_seconds", "difference", "p_value")}
    return {
        "method": str(row["method"]),
        "label": str(row["method"]),
        "score": float(row["score"] if "score" in row else row["accuracy"]),
        **known,
        "columns": known["columns"] or None,  # an older record has 0 for what is no code
        "interval": [float(end) for end in row["interval"]] if row.get("interval") else None,
        "is_chosen": bool(row.get("is_chosen", is_first)),
        "is_baseline": bool(row.get("is_baseline", False)),
    }


def _scored(scale: ScoreFormat, score: float, interval: list[float] | None) -> str:
    """Write a score with its name and, if there is one, its interval."""
    text = f"{scale.label} {scale.text(score)}"
    return text if interval is None else f"{text} (95 % interval {scale.range(*interval)})"


def _test_headline(test: dict[str, Any] | None, scale: ScoreFormat) -> str:
    """Say how good the model is on the rows of a test file."""
    if not test:
        return ""
    interval = None if test.get("interval") is None else [float(end) for end in test["interval"]]
    return f"On the {int(test['n_rows'])} rows of {test['data']}: {_scored(scale, float(test['score']), interval)}."


def _short(name: Any) -> str:
    """Quote a class, a long one not to its end."""
    text = str(name)
    return repr(text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 3]}...")


def _held_out(card: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    """Describe what held-out rows were predicted as, and how the methods compare."""
    return {
        **describe_scores(card),
        **_outcome(np.asarray(card["confusion"]), card.get("measures"), classes),
        "calibration": _calibration(card["calibration"]),
    }


def _test(card: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    """Describe what the rows of a test file were predicted as."""
    test = card["test"]
    return {
        "data": str(test["data"]),
        "n_rows": int(test["n_rows"]),
        **_outcome(np.asarray(test["confusion"]), test["measures"], classes),
    }


def _outcome(confusion: NDArray[Any], known: dict[str, Any] | None, classes: list[str]) -> dict[str, Any]:
    """Describe what rows were predicted as: counts, measures of all classes together, and of each."""
    _require_shape(confusion, (len(classes), len(classes)))
    right, support, predicted = np.diagonal(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    measures = {
        "precision": right / np.maximum(predicted, 1),
        "recall": right / np.maximum(support, 1),
        "f1": 2 * right / np.maximum(support + predicted, 1),
    }
    return {
        "confusion": confusion.astype(int).tolist(),
        "measures": {name: _known(known[name]) for name in MEASURES if name in known} if known else {},
        "classes": [
            {"name": name, "rows": int(support[k]), **{key: float(values[k]) for key, values in measures.items()}}
            for k, name in enumerate(classes)
        ],
        "confused": _confused(confusion, classes),
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
