"""The summary of a fitted model as plain data, from which `skecoc.reports` makes text and pages."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skecoc.compare.statistics import interval_half_width
from skecoc.decoding.scoring import check_decoder_matrix
from skecoc.support.errors import InputError
from skecoc.support.scores import MEASURES, ScoreFormat
from skecoc.tables.model import TableClassifier, named_reason

# Confused pairs of classes that are listed, and characters of a class in a sentence.
_MAX_CONFUSIONS, _MAX_NAME = 10, 40


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
        Lists, dictionaries, strings and numbers: ``title``, ``headline``, ``classifier``, ``classes``, ``code`` (None
        for classifiers other than output codes), ``learners`` (None for a single learner), ``certificate`` (None
        without optimised or logistic weights), ``growth`` (None for codes that do not grow; values that were not
        measured in a round are None), ``facts`` (settings and versions) and ``notes``; also ``table``, ``held_out``,
        ``test`` and ``important``, which are None unless the model was fitted by `skecoc.tables.fit_table` (for
        ``test``, with test rows).

    Examples
    --------
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.tables import describe_model
    >>> description = describe_model(ECOCClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]))
    >>> description["classes"], description["code"]["matrix"]
    (['a', 'b', 'c'], [[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    """
    is_table = isinstance(model, TableClassifier)
    classifier: Any = getattr(model, "classifier_", None) if is_table else model
    classifier = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    is_code = getattr(classifier, "code_matrix_", None) is not None
    if not is_code and not is_table:
        raise InputError(f"a {type(classifier).__name__} has no code to show; expected a fitted output code")
    # In a pipeline, the first step may hold the card.
    card = getattr(model[0] if isinstance(model, Pipeline) else model, "card_", {})
    try:
        # The classifier of a table may know its classes by number only.
        classes = [str(label) for label in (model if is_table else classifier).classes_]
        table, held_out = (_table(model, card), _held_out(card, classes)) if card else (None, None)
        certificate = _certificate(classifier) if is_code else None
        test = card.get("test") or None
        if test is not None:
            rows = _outcome(np.asarray(test["confusion"]), test["measures"], classes)
            test = {"data": str(test["data"]), "n_rows": int(test["n_rows"]), **rows}
        description = {
            "title": type(classifier).__name__ if table is None else f"Model of {table['data']}",
            "headline": f"An output code for {len(classes)} classes; nothing is known about its training."
            if held_out is None
            else held_out["headline"],
            "classifier": type(classifier).__name__,
            "classes": classes,
            "code": _code(classifier, classes) if is_code else None,
            "learners": _learners(classifier, classes) if is_code else None,
            "certificate": certificate,
            "growth": _growth(classifier, classes) if is_code and hasattr(classifier, "history_") else None,
            "table": table,
            "held_out": held_out,
            "test": test,
            "important": _important(card["important"], classes, list(model.kinds_)) if card.get("important") else None,
            "facts": _facts(card, table, held_out, certificate),
            "notes": [str(note) for note in card.get("notes", [])],
        }
        json.dumps(description, allow_nan=False)  # fails unless all of it is plain and finite
    except Exception as error:  # the record of a forged file may be anything
        raise InputError(f"the model's record is damaged: {named_reason(error)}") from error
    return description


def _code(classifier: Any, classes: list[str]) -> dict[str, Any]:
    matrix = np.asarray(classifier.code_matrix_)
    n_columns = matrix.shape[1]
    rows = np.asarray(getattr(classifier, "row_classes_", np.arange(len(classes))))
    weights = getattr(classifier.decoder_, "weights_", None)
    used = getattr(classifier, "used_columns_", np.arange(n_columns))
    kinds = getattr(classifier, "column_kinds_", np.full(n_columns, "initial"))
    _require_shape(matrix, (len(rows), len(kinds)))
    check_decoder_matrix(matrix)
    if weights is not None:
        _require_shape(np.asarray(weights), matrix.shape)
    names, seen = [], [0] * len(classes)  # parts of a class are numbered
    for row in rows:
        seen[row] += 1
        names.append(classes[row] if (rows == row).sum() == 1 else f"{classes[row]} ({seen[row]})")
    return {
        "matrix": matrix.astype(int).tolist(),
        "weights": None if weights is None else np.asarray(weights, dtype=float).tolist(),
        "rows": names,
        "kinds": [str(kind) for kind in kinds],
        "used": np.isin(np.arange(n_columns), used).tolist(),
        "learners": _column_learners(classifier) or [""] * n_columns,
    }


def _column_learners(classifier: Any) -> list[str]:
    """Name the learner of each column, if there are several."""
    names = [str(name) for name in getattr(classifier, "column_learners_", [])]
    if len(set(names)) < 2:
        return []
    _require_shape(np.array(names), (np.asarray(classifier.code_matrix_).shape[1],))
    return names


def _learners(classifier: Any, classes: list[str]) -> dict[str, Any] | None:
    """Describe several learners: their columns, and how much each counts for each class."""
    owners = np.array(_column_learners(classifier))
    if not len(owners):
        return None
    found = {str(name): np.asarray(share, dtype=float) for name, share in classifier.learner_shares().items()}
    shares = np.column_stack(list(found.values()))
    _require_shape(shares, (len(classes), len(set(owners.tolist()))))
    is_added = np.asarray(getattr(classifier, "column_kinds_", np.full(len(owners), "initial"))) != "initial"
    mean = shares.mean(axis=0)
    return {
        "members": [
            {
                "name": name,
                "columns": int((owners == name).sum()),
                "added": int(((owners == name) & is_added).sum()),
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


def _certificate(classifier: Any) -> dict[str, float] | None:
    """Return how close the weights that a solver has found are to the best ones."""
    certificate = getattr(classifier.decoder_, "certificate_", None)
    if certificate is None:
        return None
    names = [name for name in ("objective", "lower_bound", "gap", "log_loss") if hasattr(certificate, name)]
    return {name: float(getattr(certificate, name)) for name in names}


def _growth(classifier: Any, classes: list[str]) -> dict[str, Any]:
    """Describe the rounds of growth: which pairs were hard, and what was added for them."""
    kept, kinds = int(classifier.best_round_), list(classifier.column_kinds_)
    owners = _column_learners(classifier) or [""] * len(kinds)
    rounds: list[dict[str, Any]] = []
    for number, record in enumerate(classifier.history_):
        first = int(record.n_columns)
        pairs = [
            {
                "first": classes[i],
                "second": classes[j],
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
    hard_pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for pair in (pair for row in rounds for pair in row["pairs"]):
        names = {"first": pair["first"], "second": pair["second"]}
        new = {**names, "times": 0, "first_loss": pair["loss"], "simple": 0, "clustered": 0, "learners": []}
        entry = hard_pairs.setdefault((pair["first"], pair["second"]), new)
        entry["times"] += 1
        entry["last_loss"] = pair["loss"]
        if pair["added"] in ("simple", "clustered"):
            entry[pair["added"]] += 1
        if pair["learner"] and pair["learner"] not in entry["learners"]:
            entry["learners"].append(pair["learner"])
    return {
        "summary": str(classifier.growth_summary()),
        "rounds": rounds,
        "kept": kept,
        "stop_reason": str(classifier.stop_reason_),
        "hard_pairs": list(hard_pairs.values()),
    }


def _table(model: Any, card: dict[str, Any]) -> dict[str, Any]:
    """Describe the table that a model was fitted to, and the settings; the card may hold the columns."""
    options = card["options"]
    kinds, left_out = getattr(model, "kinds_", card.get("columns", {})), getattr(model, "left_out_", {})
    return {
        **{name: str(card[name]) for name in ("data", "target", "method", "learner", "command")},
        **{name: int(card[name]) for name in ("n_rows", "folds", "seed")},
        "columns": [(str(name), str(kind)) for name, kind in kinds.items()],
        "left_out": [(str(name), str(reason)) for name, reason in left_out.items()],
        "class_weight": str(options["class_weight"]),
        "group": str(options["group"]),
        "order": [str(label) for label in options["order"]],
    }


def _held_out(card: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    """Describe how the methods compare on held-out rows, and what these were predicted as by the chosen one."""
    metric = {name: card["metric"][name] for name in ("name", "higher_is_better", "in_percent")}
    scale, folds, test = ScoreFormat(**metric), int(card["folds"]), card.get("test")
    rows: list[dict[str, Any]] = []
    for row in card["comparison"]:
        score, std = float(row["score"]), float(row["std"])
        half = float(interval_half_width(std, folds, 1 / (folds - 1)))
        ends = row.get("interval") or (card["interval"] if row["is_chosen"] else (score - half, score + half))
        rows.append(
            {
                "method": str(row["method"]),
                "label": str(row["method"]),
                "score": score,
                "std": std,
                **{name: _known(row[name]) for name in ("columns", "fit_seconds", "difference", "p_value")},
                "interval": [float(end) for end in ends],
                "is_chosen": bool(row["is_chosen"]),
                "is_baseline": bool(row["is_baseline"]),
            }
        )
    (chosen,) = (row for row in rows if row["is_chosen"])
    (baseline,) = (row for row in rows if row["is_baseline"])
    guess = str(card["majority"]["class"])
    guess = repr(guess if len(guess) <= _MAX_NAME else f"{guess[: _MAX_NAME - 3]}...")
    baseline["label"] = f"always {guess}"

    def scored(score: float, interval: Any) -> str:
        return f"{scale.label} {scale.text(score)} (95 % interval {scale.range(*map(float, interval))})"

    n_rows, confidence, correct = (
        np.asarray(card["calibration"][name], dtype=float) for name in ("n_rows", "confidence", "accuracy")
    )
    return {
        "metric": metric,
        "comparison": rows,
        "interval": [float(end) for end in card["interval"]],
        "baseline": {"label": baseline["label"], "score": baseline["score"]},
        "folds": folds,
        "n_rows": int(card["n_rows"]),
        "compared_rows": int(card["options"]["compared_rows"]),
        "reason": str(card["reason"]),
        "warnings": [str(warning) for warning in card["warnings"]],
        "headline": f"{chosen['method']}: {scored(chosen['score'], card['interval'])} on held-out rows; always "
        f"predicting {guess} would have {scale.text(baseline['score'])}.",
        "test_headline": f"On the {int(test['n_rows'])} rows of {test['data']}: "
        f"{scored(float(test['score']), test['interval'])}."
        if test
        else "",
        **_outcome(np.asarray(card["confusion"]), card["measures"], classes),
        "calibration": {
            "bins": [
                {"rows": int(count), "confidence": float(mean), "accuracy": float(share)}
                for count, mean, share in zip(n_rows, confidence, correct, strict=True)
                if count > 0
            ],
            "error": float((n_rows * np.abs(confidence - correct)).sum() / max(n_rows.sum(), 1.0)),
        },
    }


def _outcome(confusion: NDArray[Any], known: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    """Describe what rows were predicted as: counts, measures of all classes together and of each, confused pairs."""
    _require_shape(confusion, (len(classes), len(classes)))
    right, support, predicted = np.diagonal(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    measures = {
        "precision": right / np.maximum(predicted, 1),
        "recall": right / np.maximum(support, 1),
        "f1": 2 * right / np.maximum(support + predicted, 1),
    }
    both = np.triu(confusion + confusion.T, k=1)
    most = [np.unravel_index(k, both.shape) for k in np.argsort(-both, axis=None, kind="stable")[:_MAX_CONFUSIONS]]
    return {
        "confusion": confusion.astype(int).tolist(),
        "measures": {name: _known(known[name]) for name in MEASURES if name in known},
        "classes": [
            {"name": name, "rows": int(support[k]), **{key: float(values[k]) for key, values in measures.items()}}
            for k, name in enumerate(classes)
        ],
        "confused": [
            {"first": classes[i], "second": classes[j], "rows": int(both[i, j]), "of": int(support[i] + support[j])}
            for i, j in most
            if both[i, j] > 0
        ],
    }


def _important(found: dict[str, Any], classes: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """List the columns that matter most for each pair of classes, the hardest pair first."""
    fields = (np.asarray(found[name]) for name in ("pairs", "separated", "columns", "drops"))
    return [
        {
            "first": classes[i],
            "second": classes[j],
            "separated": float(separated),
            "columns": [
                {"name": columns[place], "drop": float(drop)}
                for place, drop in zip(best, drops, strict=True)
                if drop > 0
            ],
        }
        for (i, j), separated, best, drops in zip(*fields, strict=True)
    ]


def _facts(
    card: dict[str, Any],
    table: dict[str, Any] | None,
    held_out: dict[str, Any] | None,
    certificate: dict[str, float] | None,
) -> list[tuple[str, str]]:
    """List what the model was made of and how, and the versions."""
    facts = []
    if table is not None and held_out is not None:
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
    if certificate is not None:
        loss = f"; mean log-loss {certificate['log_loss']:.4g}" if "log_loss" in certificate else ""
        gap = f"relative gap to the optimum at most {certificate['gap']:.1e}"
        facts.append(("Weights", f"objective {certificate['objective']:.4g}, {gap}{loss}"))
    facts += [(str(name), str(version)) for name, version in card.get("versions", {}).items()]
    return [(name, text) for name, text in facts if text]


def _known(value: Any) -> float | None:
    """Return a number, or None if it was not measured."""
    return None if value is None or not np.isfinite(value) else float(value)


def _require_shape(array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"expected an array of shape {shape}, got {array.shape}")
