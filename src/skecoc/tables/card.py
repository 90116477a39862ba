"""The card of a model: its held-out results and settings, as plain values that are stored in its file."""

import platform
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

import skecoc
from skecoc.compare.cross_validation import Comparison, overlaps
from skecoc.compare.data_sets import DataSet
from skecoc.compare.methods import CLASSIFIERS, MAJORITY
from skecoc.compare.metrics import Metric, common_measures
from skecoc.compare.statistics import TIE_DECIMALS, interval_of_folds, p_values_against, wilson_interval
from skecoc.plotting.probabilities import reliability_bins
from skecoc.support.errors import InputError, spell_out
from skecoc.support.processes import thread_pools
from skecoc.support.scores import ALPHA, p_phrase
from skecoc.tables.importance import columns_that_matter
from skecoc.tables.kinds import names_of_classes
from skecoc.tables.model import TableClassifier

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Bins of the calibration table.
N_BINS = 10

_MOST_NAMED = 3
# Samples with replacement of the test rows that an interval is made of.
_N_RESAMPLES = 500


def make_card(
    found: Comparison, best: int, metric: Metric, data_set: DataSet, *, was_named: bool = False
) -> dict[str, Any]:
    """Summarize held-out results as plain values; `best` is the position of the chosen method."""
    names = data_set.class_names()
    (truth, predicted, probabilities, kept), n_classes = found.held_out[best], len(names)
    comparison = _comparison(found, best, metric, data_set.groups)
    interval = next(row["interval"] for row in comparison if row["is_chosen"])
    largest = int(np.bincount(truth).argmax())
    card: dict[str, Any] = {
        "metric": metric.describe(),
        "comparison": comparison,
        "interval": interval,
        "scores": found.runs("score")[0, best].tolist(),
        "majority": {"class": names[largest], "share": float(np.mean(truth == largest))},
        "measures": common_measures(truth, predicted, probabilities, n_classes),
        "confusion": confusion_matrix(truth, predicted, labels=np.arange(n_classes)),
        "calibration": calibration_bins(probabilities, truth),
        "important": columns_that_matter(kept, data_set.X.shape[1], n_classes),
        "versions": {
            "scikit-ecoc": skecoc.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "Python": platform.python_version(),
        },
    }
    card["reason"] = _reason(comparison, metric, was_named=was_named)
    card["warnings"] = _warnings(card, metric, names)
    return card


def _comparison(found: Comparison, best: int, metric: Metric, groups: NDArray[Any] | None) -> list[dict[str, Any]]:
    """Summarize all methods, the best first, the majority class last."""
    measures = ("score", "accuracy", "n_columns", "fit_seconds")
    scores, accuracy, n_columns, fit_seconds = (found.runs(name)[0] for name in measures)
    means = scores.mean(axis=1)
    p_values = p_values_against(scores, best, float(overlaps(found)[0]))
    rows: list[dict[str, Any]] = [
        {
            "method": method,
            "score": float(means[place]),
            "std": float(scores[place].std(ddof=1)),
            "interval": score_interval(metric, scores[place], held_out.predicted == held_out.truth, groups),
            "accuracy": float(accuracy[place].mean()),
            "columns": None if method in CLASSIFIERS else float(n_columns[place].mean()),
            "fit_seconds": float(np.median(fit_seconds[place])),
            "difference": float(means[place] - means[best]),
            "p_value": p_values[place],
            "is_chosen": place == best,
            "is_baseline": method == MAJORITY,
        }
        for place, (method, held_out) in enumerate(zip(found.methods, found.held_out, strict=True))
    ]
    return sorted(rows, key=lambda row: (row["is_baseline"], -metric.gain(row["score"]), not row["is_chosen"]))


def score_interval(
    metric: Metric, scores: Floats, is_correct: NDArray[np.bool_], groups: NDArray[Any] | None
) -> list[float]:
    """Return a 95 % interval of a score: by the rows for accuracy, unless they come in groups, else by the folds."""
    if metric.name == "accuracy" and groups is None:
        return list(wilson_interval(int(is_correct.sum()), len(is_correct)))
    return list(interval_of_folds(scores, len(is_correct), metric.format.limits))


def _reason(comparison: Sequence[dict[str, Any]], metric: Metric, *, was_named: bool) -> str:
    """Say in a sentence why the method was taken, and how the best of the others compares with it."""
    (own,) = (row for row in comparison if row["is_chosen"])
    others = [row for row in comparison if not row["is_chosen"] and not row["is_baseline"]]
    if not others:
        return f"{own['method']} is saved."
    why = ", as --method says" if was_named else f" as the best of {len(others) + 1} methods"
    other = others[0]
    lead = metric.gain(own["score"]) - metric.gain(other["score"])
    if round(lead, TIE_DECIMALS) == 0:
        return f"{own['method']} is saved{why}; {other['method']} scores the same."
    score, chance = metric.format.text(other["score"]), p_phrase(other["p_value"])
    degree = "significantly" if other["p_value"] < ALPHA else "not significantly"
    if lead > 0:
        beside = f"next is {other['method']} with {score}, {degree} worse ({chance})"
    else:
        though = "" if other["p_value"] < ALPHA else "though "
        beside = f"{other['method']} scores better with {score}, {though}{degree} ({chance})"
    return f"{own['method']} is saved{why}; {beside}."


def _warnings(card: dict[str, Any], metric: Metric, names: Sequence[str]) -> list[str]:
    """Warn of a model that may be no better than guessing, and of classes that are never predicted correctly."""
    found = []
    baseline = next(row["score"] for row in card["comparison"] if row["is_baseline"])
    worst = card["interval"][0] if metric.higher_is_better else card["interval"][1]
    if metric.gain(worst) <= metric.gain(baseline):
        own = next(row["score"] for row in card["comparison"] if row["is_chosen"])
        scale, name = metric.format, repr(card["majority"]["class"])
        found.append(
            f"the model may be no better than guessing: its {scale.label} is {scale.text(own)} "
            f"({scale.range(*card['interval'])}), and always predicting {name} has {scale.text(baseline)}"
        )
    counts, right = card["confusion"].sum(axis=1), np.diagonal(card["confusion"])
    # A class with a single row cannot be learnt while this row is held out.
    lost = [f"{name!r} ({n} rows)" for name, n, hit in zip(names, counts, right, strict=True) if n > 1 and not hit]
    if lost and len(lost) < len(names):
        found.append(
            f"no held-out row of class {spell_out(lost, _MOST_NAMED)} is found; --class-weight balanced or --metric "
            "balanced-accuracy may help"
        )
    return found


def score_on(model: TableClassifier, test: DataSet, metric: Metric) -> dict[str, Any]:
    """Score a model on rows of another table, whose classes must be known to it.

    The 95 % interval is Wilson's for accuracy, and that of rows drawn with replacement for other metrics.
    """
    names = [str(label) for label in model.classes_]
    places = match_classes(test, model.classes_)
    known = places >= 0
    frame, truth = test.X.iloc[np.flatnonzero(known)], places[known]
    with thread_pools().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probabilities, predicted_labels = model.predict_proba(frame), model.predict(frame)
    predicted = np.array([names.index(str(label)) for label in predicted_labels])

    def score(rows: Any) -> float:
        return metric.score(truth[rows], predicted[rows], probabilities[rows], len(names))

    if metric.name == "accuracy":
        interval = list(wilson_interval(int((predicted == truth).sum()), len(truth)))
    else:
        random = np.random.default_rng(0)
        drawn = [score(random.integers(0, len(truth), len(truth))) for _ in range(_N_RESAMPLES)]
        interval = np.quantile(drawn, [0.025, 0.975]).tolist()
    return {
        "data": test.name,
        "n_rows": int(known.sum()),
        "n_unknown": int((~known).sum()),
        "score": score(slice(None)),
        "interval": interval,
        "measures": common_measures(truth, predicted, probabilities, len(names)),
        "confusion": confusion_matrix(truth, predicted, labels=np.arange(len(names))),
    }


def match_classes(test: DataSet, classes: NDArray[Any]) -> Integers:
    """Return the place of each test row's class among those of a model, -1 for one that it does not know."""
    names = [str(label) for label in classes]
    truth = names_of_classes(pd.Series(test.y), classes)
    places = np.array([names.index(name) if name in names else -1 for name in truth])
    if not (places >= 0).any():
        raise InputError(f"test: no class of {test.name!r} is one of the model's")
    return places


def calibration_bins(probabilities: Floats | None, truth: Integers) -> dict[str, Any]:
    """Compare confidence, the largest predicted probability, with accuracy, in bins of confidence.

    ``n_rows``, ``confidence`` and ``accuracy`` have one entry for each of the `N_BINS` bins; empty ones are 0.
    """
    if probabilities is None:
        certain, is_correct = np.empty(0), np.empty(0, dtype=bool)
    else:
        certain, is_correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    n_rows, confidence, accuracy = reliability_bins(certain, is_correct, N_BINS)
    return {"n_rows": n_rows, "confidence": confidence, "accuracy": accuracy}
