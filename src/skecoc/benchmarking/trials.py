"""One method on one fold: train it, test it, and write down what it did."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from threadpoolctl import ThreadpoolController

from skecoc.benchmarking.methods import WOLC_CODINGS, count_columns, make_classifier
from skecoc.benchmarking.records import RoundRecord, RunKey, RunRecord
from skecoc.support.errors import InputError

Floats = NDArray[np.float64]


class Fold(NamedTuple):
    """Rows of one fold as numbers, and their class labels."""

    X_train: Floats
    y_train: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]


class Trial(NamedTuple):
    """A method that has been trained and tested."""

    classifier: Any
    predicted: NDArray[Any]
    fit_seconds: float
    predict_seconds: float


def try_alone(key: RunKey, learner: BaseEstimator, seed: int, fold: Fold) -> Trial:
    """Train and test a method whose columns serve no other."""
    classifier = make_classifier(key.method, learner, seed, key.response)
    begin = time.perf_counter()
    classifier.fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    predicted = classifier.predict(fold.X_test)
    return Trial(classifier, predicted, fitted - begin, time.perf_counter() - fitted)


def run_record(key: RunKey, trial: Trial, fold: Fold) -> RunRecord:
    """Write down what a method did."""
    history = getattr(trial.classifier, "history_", None)
    return RunRecord(
        *key,
        n_train=len(fold.y_train),
        n_test=len(fold.y_test),
        n_correct=int(np.sum(trial.predicted == fold.y_test)),
        n_columns=count_columns(trial.classifier),
        n_trained=history[-1].n_columns if history else len(trial.classifier.estimators_),
        fit_seconds=trial.fit_seconds,
        predict_seconds=trial.predict_seconds,
    )


def round_records(key: RunKey, classifier: Any, fold: Fold) -> Iterator[RoundRecord]:
    """Write down the rounds of a WOLC classifier; other methods have none to show."""
    if key.coding not in WOLC_CODINGS:
        return
    scores = classifier.staged_score(fold.X_test, fold.y_test)
    for number, (grown, test_accuracy) in enumerate(zip(classifier.history_, scores, strict=True)):
        yield RoundRecord(
            *key[:-1],
            round=number,
            n_columns=grown.n_columns,
            objective=grown.objective,
            risk=grown.risk,
            loss=grown.loss,
            train_accuracy=grown.accuracy,
            test_accuracy=test_accuracy,
            kept=number == classifier.best_round_,
        )


@cache
def thread_pools() -> ThreadpoolController:
    """Find the linear algebra libraries of this process, once."""
    return ThreadpoolController()


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect all warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@contextmanager
def named_errors(key: RunKey) -> Iterator[None]:
    """Name the method and the data set in errors raised where they do not suit each other."""
    try:
        yield
    except (ValueError, TypeError, IndexError) as error:
        # Such as a code too long for that many classes.
        raise InputError(f"method {key.method!r} on data set {key.data_set!r}: {error}") from error


def distinct_messages(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the distinct messages of warnings, without those meant for developers."""
    return sorted(
        {
            " ".join(str(warning.message).split())
            for warning in caught
            if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning))
        }
    )
