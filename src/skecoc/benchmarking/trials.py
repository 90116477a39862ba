"""Train and test methods on a fold: alone, or several decodings of the same trained columns together."""

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.benchmarking.data import DataSet
from skecoc.benchmarking.methods import (
    RESPONSES,
    WOLC_CODINGS,
    coding_of,
    count_columns,
    count_trained,
    make_classifier,
)
from skecoc.benchmarking.runs import Batch, RoundRecord, RunKey, RunRecord, seed_of, shares_columns, split_rows
from skecoc.classifiers import ECOCClassifier
from skecoc.learners.columns import evaluate_columns, first_learner, resolve_response
from skecoc.support.errors import InputError
from skecoc.support.threads import thread_pools

Floats = NDArray[np.float64]


class Fold(NamedTuple):
    """Samples of one fold as numbers, and their class labels."""

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


@dataclass(frozen=True)
class BatchOutcome:
    """Records of a batch, one per variant and in its order, and the time that the whole batch took."""

    batch: Batch
    runs: list[RunRecord]
    rounds: list[RoundRecord]
    warnings: list[tuple[RunKey, str]]  # each message once per run
    seconds: float


def run_batch(batch: Batch, data_set: DataSet, learner: BaseEstimator, n_folds: int, seed: int) -> BatchOutcome:
    """Train and test all runs of a batch; an `InputError` names the method that does not suit the data.

    Everything random is seeded by the identity of the batch, and linear algebra has one thread, so the outcome depends
    neither on where nor on when the batch is run.
    """
    begin = time.perf_counter()
    run_seed = seed_of(seed, "run", batch.data_set, batch.repeat, batch.fold, coding_of(batch.keys[0].method))
    runs: list[RunRecord] = []
    rounds: list[RoundRecord] = []
    messages: list[tuple[RunKey, str]] = []
    with thread_pools().limit(limits=1):
        with recorded_warnings() as early, named_errors(batch.keys[0]):
            train_rows, test_rows = split_rows(data_set.y, data_set.name, batch.repeat, n_folds, seed)[batch.fold]
            X_train, X_test, _ = data_set.prepared(train_rows, test_rows)
            fold = Fold(X_train, data_set.y[train_rows], X_test, data_set.y[test_rows])
            is_shared = shares_columns(batch.coding, batch.variants[0][1])
            shared = SharedColumns(batch, learner, run_seed, fold) if is_shared else None
        for key in batch.keys:
            with recorded_warnings() as late, named_errors(key):
                trial = shared.decode(key) if shared else try_alone(key, learner, run_seed, fold)
                rounds.extend(round_records(key, trial.classifier, fold))
            runs.append(run_record(key, trial, fold))
            messages.extend((key, message) for message in distinct_messages([*early, *late]))
    return BatchOutcome(batch, runs, rounds, messages, time.perf_counter() - begin)


def try_alone(key: RunKey, learner: BaseEstimator, seed: int, fold: Fold) -> Trial:
    """Train and test a method whose columns serve no other."""
    classifier = make_classifier(key.method, learner, seed, key.response)
    begin = time.perf_counter()
    classifier.fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    predicted = classifier.predict(fold.X_test)
    return Trial(classifier, predicted, fitted - begin, time.perf_counter() - fitted)


class _Codewords(NamedTuple):
    """Codewords of a fold's samples by one response of the columns, and the time that they took."""

    scale: float
    train: Floats
    test: Floats
    train_seconds: float
    test_seconds: float


class SharedColumns:
    """Columns of a fixed code, trained once and evaluated once per response, which any decoding can use.

    A run is what an `ECOCClassifier` of its own would be: its columns are the same, since their seeds do not depend on
    the decoding, and so are their outputs.
    """

    def __init__(self, batch: Batch, learner: BaseEstimator, seed: int, fold: Fold) -> None:
        responses = list(dict.fromkeys(response for response, _ in batch.variants))
        begin = time.perf_counter()
        # Hamming decoding learns nothing, so that this is little more than training the columns.
        self.trained: ECOCClassifier = make_classifier(f"{batch.coding}/hamming", learner, seed, responses[0])
        self.trained.fit(fold.X_train, fold.y_train)
        self.train_seconds = time.perf_counter() - begin
        self.y = np.searchsorted(self.trained.classes_, fold.y_train)
        self.codewords = {response: self._evaluate(response, fold) for response in responses}

    def _evaluate(self, response: str, fold: Fold) -> _Codewords:
        """Evaluate the columns on all samples; margins are divided by the largest one of the training part."""
        learners = self.trained.estimators_
        method = resolve_response(first_learner(learners), RESPONSES[response])
        begin = time.perf_counter()
        train = evaluate_columns(learners, fold.X_train, method)
        scale = (float(np.abs(train).max()) or 1.0) if method == "decision_function" else 1.0
        train /= scale
        evaluated = time.perf_counter()
        test = evaluate_columns(learners, fold.X_test, method) / scale
        return _Codewords(scale, train, test, evaluated - begin, time.perf_counter() - evaluated)

    def decode(self, key: RunKey) -> Trial:
        """Fit the decoder of a run and predict the test samples."""
        codewords = self.codewords[key.response]
        begin = time.perf_counter()
        classifier = self.trained.with_decoding(
            key.decoding, RESPONSES[key.response], codewords.train, self.y, margin_scale=codewords.scale
        )
        fitted = time.perf_counter()
        predicted = classifier.predict_codewords(codewords.test)
        decoded = time.perf_counter()
        return Trial(
            classifier,
            predicted,
            self.train_seconds + codewords.train_seconds + fitted - begin,
            codewords.test_seconds + decoded - fitted,
        )


def run_record(key: RunKey, trial: Trial, fold: Fold) -> RunRecord:
    """Record the results of a method."""
    return RunRecord(
        *key,
        n_train=len(fold.y_train),
        n_test=len(fold.y_test),
        n_correct=int(np.sum(trial.predicted == fold.y_test)),
        n_columns=count_columns(trial.classifier),
        n_trained=count_trained(trial.classifier),
        fit_seconds=trial.fit_seconds,
        predict_seconds=trial.predict_seconds,
    )


def round_records(key: RunKey, classifier: Any, fold: Fold) -> Iterator[RoundRecord]:
    """Record the rounds of a WOLC classifier of one learner; other methods have none with objective and risk."""
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


def warning_notes(warned: Iterable[tuple[RunKey, str]]) -> list[str]:
    """Say every distinct warning of a method on a data set once, with the number of its runs."""
    counts = Counter((key.data_set, key.method, message) for key, message in warned)
    return [
        f"{data_set}: {method} warned in {count} run{'s' if count > 1 else ''}: {message}"
        for (data_set, method, message), count in counts.items()
    ]
