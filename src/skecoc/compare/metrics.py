"""Metrics: a few common ones by name, and all scorers of scikit-learn."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    get_scorer_names,
    log_loss,
    precision_score,
    recall_score,
)

from skecoc.support.errors import InputError, did_you_mean
from skecoc.support.names import METRICS
from skecoc.support.scores import ScoreFormat

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


def _balanced_accuracy(y: Integers, predicted: Integers, n_classes: int) -> float:
    """Average the recall over the classes that have rows."""
    confusion = confusion_matrix(y, predicted, labels=np.arange(n_classes))
    rows = confusion.sum(axis=1)
    return float((np.diagonal(confusion)[rows > 0] / rows[rows > 0]).mean())


def _log_loss(y: Integers, probabilities: Any, n_classes: int) -> float:
    """Average the negative logarithm of the probability of the true class."""
    return float(log_loss(y, probabilities, labels=np.arange(n_classes)))


# Averages over classes count only those that a part has rows or predictions of, as scikit-learn's defaults do.
_BY_LABELS: Mapping[str, Callable[[Integers, Integers, int], float]] = {
    "accuracy": lambda y, predicted, _: float(accuracy_score(y, predicted)),
    "balanced-accuracy": _balanced_accuracy,
    "macro-f1": lambda y, predicted, _: float(f1_score(y, predicted, average="macro", zero_division=0.0)),
}
_OTHER_SPELLINGS = {
    "balanced_accuracy": "balanced-accuracy",
    "f1-macro": "macro-f1",
    "f1_macro": "macro-f1",
    "macro_f1": "macro-f1",
    "log_loss": "log-loss",
}


@dataclass(frozen=True)
class Metric:
    """A score of predictions, by its name.

    Parameters
    ----------
    name : str
        One of `METRICS`, or the name of a scikit-learn scorer.

    Examples
    --------
    >>> metric = find_metric("macro-f1")
    >>> metric.higher_is_better, metric.in_percent, metric.needs_probabilities
    (True, False, False)
    >>> round(metric.score(np.array([0, 0, 1]), np.array([0, 1, 1]), None, 2), 3)
    0.667
    """

    name: str

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one; scorers of scikit-learn are made so."""
        return self.name != "log-loss"

    @property
    def in_percent(self) -> bool:
        """Whether the score is shown in percent."""
        return self.name in ("accuracy", "balanced-accuracy")

    @property
    def needs_probabilities(self) -> bool:
        """Whether the score needs more than the predicted classes."""
        if self.name in METRICS:
            return self.name == "log-loss"
        return getattr(get_scorer(self.name), "_response_method", "predict") != "predict"

    def score(self, y: Integers, predicted: Integers, probabilities: Floats | None, n_classes: int) -> float:
        """Score predictions; `y` and `predicted` are class indices, probabilities of shape (n_rows, n_classes).

        An InputError says why the metric does not suit them.
        """
        if self.needs_probabilities and probabilities is None:
            raise InputError(f"metric: {self.name} needs probabilities, which this method does not have")
        if self.name in _BY_LABELS:
            return _BY_LABELS[self.name](y, predicted, n_classes)
        if self.name == "log-loss":
            return _log_loss(y, probabilities, n_classes)
        stored = _Stored if probabilities is None else _StoredProbabilities
        classifier = stored(predicted, probabilities, np.arange(n_classes))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # undefined scores are refused below
                found = float(get_scorer(self.name)(classifier, np.zeros((len(y), 1)), y))
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"metric: {self.name!r} cannot score these predictions: {error}") from error
        if not np.isfinite(found):
            raise InputError(
                f"metric: {self.name!r} is not defined for these predictions (is a class missing in a fold?)"
            )
        return found

    def gain(self, score: Floats | float) -> Any:
        """Return scores so that larger is better."""
        return score if self.higher_is_better else -np.asarray(score)

    @property
    def format(self) -> ScoreFormat:
        """How scores are written."""
        return ScoreFormat(**self.describe())

    def describe(self) -> dict[str, Any]:
        """Return what reports need to know, as plain values."""
        return {"name": self.name, "higher_is_better": self.higher_is_better, "in_percent": self.in_percent}


#: The share of samples that are predicted correctly.
ACCURACY = Metric("accuracy")


class _Stored(ClassifierMixin, BaseEstimator):
    """Given predictions as a classifier, for scorers."""

    def __init__(self, predicted: NDArray[Any], probabilities: Floats | None, classes: NDArray[Any]) -> None:
        self.predicted, self.probabilities, self.classes = predicted, probabilities, classes
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        """Return the predictions."""
        return self.predicted


class _StoredProbabilities(_Stored):
    """Predictions and probabilities that are there already."""

    def predict_proba(self, X: Any) -> Floats | None:  # noqa: ARG002
        """Return the probabilities."""
        return self.probabilities


def find_metric(name: str, n_classes: int = 3) -> Metric:
    """Find a metric by its name, one of `METRICS` or of scikit-learn's scorers; it must suit so many classes.

    >>> find_metric("balanced_accuracy").name
    'balanced-accuracy'
    """
    name = _OTHER_SPELLINGS.get(name, name)
    if name not in METRICS and name not in get_scorer_names():
        raise InputError(
            f"metric: {name!r} is not known{did_you_mean(name, [*METRICS, *get_scorer_names()])}; expected "
            f"{', '.join(METRICS)} or the name of a scorer of scikit-learn"
        )
    metric = Metric(name)
    function = None if name in METRICS else getattr(get_scorer(name), "_score_func", None)
    if getattr(function, "__module__", "").endswith("_regression"):
        raise InputError(f"metric: {name!r} is for regression; expected one for classes")
    each = np.arange(n_classes)
    metric.score(each, each, np.eye(n_classes), n_classes)  # an error now, not after hours
    return metric


def common_measures(
    y: Integers, predicted: Integers, probabilities: Floats | None, n_classes: int
) -> dict[str, float | None]:
    """Score predictions by the measures that reports show; the log-loss is None without probabilities."""
    by_labels = {name: score(y, predicted, n_classes) for name, score in _BY_LABELS.items()}
    return {
        "accuracy": by_labels["accuracy"],
        "balanced_accuracy": by_labels["balanced-accuracy"],
        "macro_precision": float(precision_score(y, predicted, average="macro", zero_division=0.0)),
        "macro_recall": float(recall_score(y, predicted, average="macro", zero_division=0.0)),
        "macro_f1": by_labels["macro-f1"],
        "log_loss": None if probabilities is None else _log_loss(y, probabilities, n_classes),
    }
