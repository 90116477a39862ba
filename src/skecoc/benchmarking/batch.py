"""Train and test the runs of one batch: columns are trained once and asked once, for all its decodings."""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.benchmarking.data import DataSet
from skecoc.benchmarking.methods import RESPONSES, coding_of, make_classifier
from skecoc.benchmarking.protocol import Batch, RoundRecord, RunKey, RunRecord, shares_columns, split_rows
from skecoc.benchmarking.seeds import seed_of
from skecoc.benchmarking.trials import (
    Fold,
    Trial,
    distinct_messages,
    named_errors,
    recorded_warnings,
    round_records,
    run_record,
    thread_pools,
    try_alone,
)
from skecoc.classifiers import ECOCClassifier, first_learner
from skecoc.decoding import resolve_decoder
from skecoc.decoding.ties import break_ties
from skecoc.learners.columns import Response, evaluate_columns, resolve_response

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
    >>> from skecoc.benchmarking import load_data_sets
    >>> from skecoc.benchmarking.methods import make_learner
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
    with thread_pools().limit(limits=1):
        with recorded_warnings() as early, named_errors(batch.keys[0]):
            fold = _prepare(batch, data_set, n_folds, seed)
            test = _tester(batch, learner, run_seed, fold)
        for key in batch.keys:
            with recorded_warnings() as late, named_errors(key):
                trial = test(key)
                rounds.extend(round_records(key, trial.classifier, fold))
            runs.append(run_record(key, trial, fold))
            messages.extend((key, message) for message in distinct_messages([*early, *late]))
    return BatchOutcome(batch, runs, rounds, messages, time.perf_counter() - begin)


def _prepare(batch: Batch, data_set: DataSet, n_folds: int, seed: int) -> Fold:
    """Turn the rows of a fold into numbers; what is learnt, is learnt from the training part."""
    train, test = split_rows(data_set.y, data_set.name, batch.repeat, n_folds, seed)[batch.fold]
    X_train, X_test, _ = data_set.prepared(train, test)
    return Fold(X_train, data_set.y[train], X_test, data_set.y[test])


def _tester(batch: Batch, learner: BaseEstimator, seed: int, fold: Fold) -> Callable[[RunKey], Trial]:
    """Return what trains and tests the runs of a batch, with all done that they have in common."""
    if shares_columns(batch.coding):
        return _SharedColumns(batch, learner, seed, fold).decode
    return lambda key: try_alone(key, learner, seed, fold)


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

    def __init__(self, batch: Batch, learner: BaseEstimator, seed: int, fold: Fold) -> None:
        responses = list(dict.fromkeys(response for response, _ in batch.variants))
        begin = time.perf_counter()
        # Hamming decoding learns nothing, so that this is little more than training the columns.
        self.trained: ECOCClassifier = make_classifier(f"{batch.coding}/hamming", learner, seed, responses[0])
        self.trained.fit(fold.X_train, fold.y_train)
        self.train_seconds = time.perf_counter() - begin
        self.y = np.searchsorted(self.trained.classes_, fold.y_train)
        self.answers = {response: self._ask(response, fold) for response in responses}

    def _ask(self, response: str, fold: Fold) -> _Answers:
        """Let the columns answer all rows; margins are divided by the largest one of the training rows."""
        learners = self.trained.estimators_
        method = resolve_response(first_learner(learners), RESPONSES[response])
        begin = time.perf_counter()
        train = evaluate_columns(learners, fold.X_train, method)
        scale = (float(np.abs(train).max()) or 1.0) if method == "decision_function" else 1.0
        train /= scale
        answered = time.perf_counter()
        test = evaluate_columns(learners, fold.X_test, method) / scale
        return _Answers(method, train, test, answered - begin, time.perf_counter() - answered)

    def decode(self, key: RunKey) -> Trial:
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
        return Trial(
            classifier,
            predicted,
            self.train_seconds + answers.train_seconds + fitted - begin,
            answers.test_seconds + decoded - fitted,
        )
