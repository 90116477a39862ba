"""Train and test the runs of one batch: columns are trained once and asked once, for all its decodings."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from threadpoolctl import ThreadpoolController

from skecoc.classifiers import ECOCClassifier, _first_learner
from skecoc.decoding import resolve_decoder
from skecoc.decoding.ties import break_ties
from skecoc.experiments._errors import InputError
from skecoc.experiments.data import DataSet
from skecoc.experiments.methods import RESPONSES, WOLC_CODINGS, coding_of, count_columns, make_classifier
from skecoc.experiments.preprocessing import make_preprocessor
from skecoc.experiments.protocol import Batch, RoundRecord, RunKey, RunRecord, shares_columns, split_rows
from skecoc.experiments.seeds import seed_of
from skecoc.learners.columns import Response, answer_columns, resolve_response

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BatchOutcome:
    """What came out of a batch.

    Attributes
    ----------
    batch : Batch
        The runs that were asked for.
    runs : list of RunRecord
        One per variant of the batch, in its order.
    rounds : list of RoundRecord
        The growth of each WOLC run.
    warnings : list of (RunKey, str)
        What learners and decodings warned of, each message once per run.
    seconds : float
        Time that the whole batch took.
    """

    batch: Batch
    runs: list[RunRecord]
    rounds: list[RoundRecord]
    warnings: list[tuple[RunKey, str]]
    seconds: float


class _Fold(NamedTuple):
    """Rows of one fold as numbers, and their class labels."""

    X_train: Floats
    y_train: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]


class _Trial(NamedTuple):
    """A method that has been trained and tested."""

    classifier: Any
    predicted: NDArray[Any]
    fit_seconds: float
    predict_seconds: float


def run_batch(batch: Batch, data_set: DataSet, learner: BaseEstimator, n_folds: int, seed: int) -> BatchOutcome:
    """Train and test all runs of a batch.

    Everything random is seeded by what the batch is, and linear algebra has one thread, so the outcome depends neither
    on where nor on when the batch is run.

    Parameters
    ----------
    batch : Batch
        The runs.
    data_set : DataSet
        The data set that `batch` names.
    learner : classifier
        The binary learner that `batch` names; it is cloned.
    n_folds : int
        Number of folds of the experiment.
    seed : int
        Seed of the experiment.

    Returns
    -------
    BatchOutcome
        Records and warnings.

    Raises
    ------
    InputError
        If a method or the learner does not suit the data; the message names the method and the data set.

    Examples
    --------
    >>> from skecoc.experiments import load_data_sets
    >>> from skecoc.experiments.methods import make_learner
    >>> batch = Batch("iris", 0, 0, "stumps", "one-vs-one", (("labels", "hamming"), ("labels", "loss-weighted")))
    >>> outcome = run_batch(batch, load_data_sets(["iris"])[0], make_learner("stumps"), n_folds=10, seed=0)
    >>> [(run.method, run.n_train, run.n_test, run.n_columns) for run in outcome.runs]
    [('one-vs-one/hamming', 135, 15, 3), ('one-vs-one/loss-weighted', 135, 15, 3)]
    """
    begin = time.perf_counter()
    run_seed = seed_of(seed, "run", batch.data_set, batch.repeat, batch.fold, coding_of(batch.methods[0]))
    runs: list[RunRecord] = []
    rounds: list[RoundRecord] = []
    messages: list[tuple[RunKey, str]] = []
    with _thread_pools().limit(limits=1):
        with _recorded_warnings() as early, _named_errors(batch.keys[0]):
            fold = _prepare(batch, data_set, n_folds, seed)
            test = _tester(batch, learner, run_seed, fold)
        for key in batch.keys:
            with _recorded_warnings() as late, _named_errors(key):
                trial = test(key)
                rounds.extend(_rounds(key, trial.classifier, fold))
            runs.append(_record(key, trial, fold))
            messages.extend((key, message) for message in _distinct([*early, *late]))
    return BatchOutcome(batch, runs, rounds, messages, time.perf_counter() - begin)


def _prepare(batch: Batch, data_set: DataSet, n_folds: int, seed: int) -> _Fold:
    """Turn the rows of a fold into numbers; what is learnt, is learnt from the training part."""
    train, test = split_rows(data_set.y, data_set.name, batch.repeat, n_folds, seed)[batch.fold]
    preprocessor = make_preprocessor(data_set.X)
    X_train = preprocessor.fit_transform(_safe_indexing(data_set.X, train))
    X_test = preprocessor.transform(_safe_indexing(data_set.X, test))
    return _Fold(X_train, data_set.y[train], X_test, data_set.y[test])


def _tester(batch: Batch, learner: BaseEstimator, seed: int, fold: _Fold) -> Callable[[RunKey], _Trial]:
    """Return what trains and tests the runs of a batch, with all done that they have in common."""
    if shares_columns(batch.coding):
        return _SharedColumns(batch, learner, seed, fold).decode
    return lambda key: _try_alone(key, learner, seed, fold)


def _try_alone(key: RunKey, learner: BaseEstimator, seed: int, fold: _Fold) -> _Trial:
    """Train and test a method whose columns serve no other."""
    classifier = make_classifier(key.method, learner, seed, key.response)
    begin = time.perf_counter()
    classifier.fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    predicted = classifier.predict(fold.X_test)
    return _Trial(classifier, predicted, fitted - begin, time.perf_counter() - fitted)


class _Answers(NamedTuple):
    """Codewords of a fold's rows by one way of answering, and the time that they took."""

    response: Response
    train: Floats
    test: Floats
    train_seconds: float
    test_seconds: float


class _SharedColumns:
    """Columns of a fixed code, trained once and asked once per response, which any decoding can use.

    A run is what an `ECOCClassifier` of its own would be: its columns are the same, since their seeds do not depend on
    the decoding, and so are their answers.
    """

    def __init__(self, batch: Batch, learner: BaseEstimator, seed: int, fold: _Fold) -> None:
        responses = list(dict.fromkeys(response for response, _ in batch.variants))
        begin = time.perf_counter()
        # Hamming decoding learns nothing, so that this is little more than training the columns.
        self.trained: ECOCClassifier = make_classifier(f"{batch.coding}/hamming", learner, seed, responses[0])
        self.trained.fit(fold.X_train, fold.y_train)
        self.train_seconds = time.perf_counter() - begin
        self.y = np.searchsorted(self.trained.classes_, fold.y_train)
        self.answers = {response: self._ask(response, fold) for response in responses}

    def _ask(self, response: str, fold: _Fold) -> _Answers:
        """Let the columns answer all rows; margins are divided by the largest one of the training rows."""
        learners = self.trained.estimators_
        method = resolve_response(_first_learner(learners), RESPONSES[response])
        begin = time.perf_counter()
        train = answer_columns(learners, fold.X_train, method)
        scale = (float(np.abs(train).max()) or 1.0) if method == "decision_function" else 1.0
        train /= scale
        answered = time.perf_counter()
        test = answer_columns(learners, fold.X_test, method) / scale
        return _Answers(method, train, test, answered - begin, time.perf_counter() - answered)

    def decode(self, key: RunKey) -> _Trial:
        """Fit the decoder of a run and predict the test rows."""
        answers = self.answers[key.response]
        classifier = copy(self.trained).set_params(decoding=key.decoding, response_method=RESPONSES[key.response])
        classifier._response = answers.response
        classifier._warn_of_margins()
        begin = time.perf_counter()
        matrix = classifier.code_matrix_
        classifier.decoder_ = resolve_decoder(key.decoding).fit(answers.train, self.y, matrix)
        fitted = time.perf_counter()
        scores = classifier.decoder_.scores(answers.test)
        linear = answers.test @ matrix.T.astype(np.float64)
        decided = break_ties(scores, linear, classifier._prior, np.abs(answers.test).max(axis=1)).argmax(axis=1)
        predicted = classifier.classes_[decided]
        decoded = time.perf_counter()
        return _Trial(
            classifier,
            predicted,
            self.train_seconds + answers.train_seconds + fitted - begin,
            answers.test_seconds + decoded - fitted,
        )


def _record(key: RunKey, trial: _Trial, fold: _Fold) -> RunRecord:
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


def _rounds(key: RunKey, classifier: Any, fold: _Fold) -> Iterator[RoundRecord]:
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
def _thread_pools() -> ThreadpoolController:
    """Find the linear algebra libraries of this process, once."""
    return ThreadpoolController()


@contextmanager
def _recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect all warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@contextmanager
def _named_errors(key: RunKey) -> Iterator[None]:
    """Name the method and the data set in errors raised where they do not suit each other."""
    try:
        yield
    except (ValueError, TypeError, IndexError) as error:
        # Such as a code too long for that many classes.
        raise InputError(f"method {key.method!r} on data set {key.data_set!r}: {error}") from error


def _distinct(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the distinct messages of warnings, without those meant for developers."""
    return sorted(
        {
            " ".join(str(warning.message).split())
            for warning in caught
            if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning))
        }
    )
