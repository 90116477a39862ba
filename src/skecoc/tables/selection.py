"""Try methods on the folds of a table, within a time if need be, and choose the best by a metric."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.compare.data_sets import DataSet, forget_prepared
from skecoc.compare.methods import CLASSIFIERS, MAJORITY, STRATEGIES, coding_of
from skecoc.compare.metrics import Metric, find_metric
from skecoc.compare.runs import RunKey, RunRecord, seed_of, split_rows
from skecoc.compare.statistics import TIE_DECIMALS
from skecoc.compare.trials import (
    Fold,
    Trial,
    class_probabilities,
    distinct_messages,
    make_fold,
    named_errors,
    recorded_warnings,
    run_record,
    try_alone,
)
from skecoc.support.compiling import seconds_of_compilation
from skecoc.support.processes import run_all
from skecoc.support.threads import thread_pools
from skecoc.tables.preparation import limit_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Trained classifiers of the first folds are kept, to see which columns they need.
KEPT_FOLDS = 2

# With more classes, one-vs-one has too many columns and boosting too many trees to be tried by default; with more
# features, boosting takes most of the time.
_MOST_CLASSES, _MOST_FEATURES = 50, 1_000
# Rows by which the time of a method is judged before it begins.
_SAMPLE_ROWS = 500


def default_methods(n_classes: int, n_features: int, *, has_learner: bool) -> list[str]:
    """List the methods that are tried unless one is named, the cheap ones first.

    >>> default_methods(3, 10, has_learner=True)
    ['one-vs-one/loss-weighted', 'one-vs-rest/loss-weighted', 'wolc/optimized-weight']
    """
    pairs = ["one-vs-one/loss-weighted"] if n_classes <= _MOST_CLASSES else []
    if has_learner:
        return [*pairs, "one-vs-rest/loss-weighted", "wolc/optimized-weight"]
    boosting = ["sklearn/boosting"] if n_classes <= _MOST_CLASSES and n_features <= _MOST_FEATURES else []
    own = [*pairs, "wolc/optimized-weight"]
    return ["sklearn/logistic", "sklearn/random-forest", *own, *boosting, "mixed/logistic-weight"]


class KeptTrial(NamedTuple):
    """A trained classifier of a fold, with what is needed to see which columns it needs."""

    classifier: Any
    preprocessor: Any
    fold: Fold
    seed: int


class _HeldOut(NamedTuple):
    """What one method did on one fold; probabilities are None if it has none."""

    run: RunRecord
    score: float
    messages: list[str]
    predicted: Integers
    probabilities: Floats | None
    kept: KeptTrial | None


@dataclass(frozen=True)
class Evaluation:
    """Held-out results of methods on the same folds."""

    methods: list[str]
    scores: Floats  # of shape (n_methods, n_folds), as are the next three
    accuracy: Floats
    n_columns: Floats
    fit_seconds: Floats
    truth: Integers  # class indices of all rows
    predicted: list[Integers]  # by method: those predicted when a row was held out
    probabilities: list[Floats | None]  # by method: 0 for a class without a row in the training part
    kept: list[list[KeptTrial]]  # by method: classifiers of the first folds
    warnings: list[str]
    skipped: list[str]  # methods for which there was no time

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.scores.shape[1]

    def is_code(self, place: int) -> bool:
        """Tell whether a method, given by its position, is made of binary learners."""
        return self.methods[place] not in CLASSIFIERS


class Budget:
    """Seconds that may be spent; None for as many as it takes."""

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    def allows(self, seconds: float) -> bool:
        """Tell whether so many seconds are left."""
        return self._end is None or self._clock() + seconds <= self._end

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._end is not None


def evaluate(
    data_set: DataSet,
    methods: Sequence[str],
    learner: BaseEstimator,
    metric: Metric,
    *,
    folds: int = 5,
    seed: int = 0,
    class_weight: str | None = None,
    budget: Budget | None = None,
    n_rows: int | None = None,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Evaluation:
    """Cross-validate methods on a prepared table; the first method that is no mere baseline is tried in any case.

    The folds and seeds are those of `skecoc.compare.compare`, and so are the scores. With a limited `budget`,
    methods are tried one after the other, and those whose folds, and a training on all `n_rows`, would take too long
    are skipped: judged first by a sample, then by the first fold.
    """
    budget, n_rows = budget or Budget(), n_rows or len(data_set.y)

    def tasks(names: Sequence[str], numbers: Sequence[int]) -> list[Any]:
        return [
            delayed(_run_fold)(data_set, name, learner, metric, fold, folds, seed, class_weight)
            for fold, name in product(numbers, names)
        ]

    outcomes: list[_HeldOut] = []
    if not budget.is_limited:
        outcomes = run_all(tasks(methods, range(folds)), n_jobs, show_progress=show_progress)
        return _collect(data_set, list(methods), outcomes, folds, seed)
    done: list[str] = []
    sample, _ = limit_rows(data_set, _SAMPLE_ROWS, seed)
    for name in methods:
        must = not any(method != MAJORITY for method in done)

        def is_too_long(data: DataSet, outcome: _HeldOut, seconds: float, n_left: int) -> bool:
            """Tell whether the folds that are left, and training on all rows, take longer than there is time."""
            waves = np.ceil(n_left / effective_n_jobs(n_jobs))
            share = len(data_set.y) / len(data.y)
            final = outcome.run.fit_seconds * n_rows / outcome.run.n_train
            return not budget.allows(float(waves * seconds * share + final))

        if not must and sample is not data_set:
            outcome, seconds = _timed(_run_fold, sample, name, learner, metric, 0, folds, seed, class_weight)
            if is_too_long(sample, outcome, seconds, folds):
                continue
        outcome, seconds = _timed(_run_fold, data_set, name, learner, metric, 0, folds, seed, class_weight)
        if not must and is_too_long(data_set, outcome, seconds, folds - 1):
            continue
        outcomes += [outcome, *run_all(tasks([name], range(1, folds)), n_jobs, show_progress=show_progress)]
        done.append(name)
    skipped = [name for name in methods if name not in done]
    return _collect(data_set, done, outcomes, folds, seed, skipped)


def _timed(task: Callable[..., _HeldOut], *arguments: Any) -> tuple[_HeldOut, float]:
    """Run a task, and return the seconds it took besides compilation, which happens once."""
    begin, compiled = time.perf_counter(), seconds_of_compilation()
    outcome = task(*arguments)
    return outcome, max(0.0, time.perf_counter() - begin - (seconds_of_compilation() - compiled))


def _run_fold(
    data_set: DataSet,
    method: str,
    learner: BaseEstimator,
    metric: Metric,
    number: int,
    n_folds: int,
    seed: int,
    class_weight: str | None,
) -> _HeldOut:
    """Train a method on all folds but one, and test it on that."""
    coding, _, decoding = method.partition("/")
    key = RunKey(data_set.name, 0, number, "learner", "auto", coding, decoding)
    classes = np.unique(data_set.y)
    with thread_pools().limit(limits=1), recorded_warnings() as caught, named_errors(key):
        fold, preprocessor = make_fold(data_set, key, learner, n_folds, seed, class_weight)
        run_seed = seed_of(seed, "run", data_set.seed_name, 0, number, coding_of(method))
        trial: Trial = try_alone(key, learner, run_seed, fold)
        probabilities = class_probabilities(trial.classifier, fold.X_test, classes)
        truth, predicted = np.searchsorted(classes, fold.y_test), np.searchsorted(classes, trial.predicted)
        score = metric.score(truth, predicted, probabilities, len(classes))
    is_kept = number < KEPT_FOLDS and method not in STRATEGIES and method != MAJORITY
    kept = KeptTrial(trial.classifier, preprocessor, fold, run_seed) if is_kept else None
    return _HeldOut(run_record(key, trial, fold), score, distinct_messages(caught), predicted, probabilities, kept)


def _collect(
    data_set: DataSet, methods: list[str], outcomes: list[_HeldOut], folds: int, seed: int, skipped: Sequence[str] = ()
) -> Evaluation:
    """Put the folds together."""
    forget_prepared()
    outcomes = sorted(outcomes, key=lambda outcome: (methods.index(outcome.run.method), outcome.run.fold))
    rows = [outcomes[k * folds : (k + 1) * folds] for k in range(len(methods))]
    parts = [test for _, test in split_rows(data_set.y, data_set.seed_name, 0, folds, seed, data_set.groups)]
    classes, truth = np.unique(data_set.y, return_inverse=True)

    def joined(found: Sequence[Any], width: tuple[int, ...], dtype: Any) -> Any:
        whole = np.zeros((len(truth), *width), dtype=dtype)
        for test, values in zip(parts, found, strict=True):
            whole[test] = values
        return whole

    def table(values: Sequence[float]) -> Floats:
        return np.reshape(np.array(values, dtype=np.float64), (len(methods), folds))

    return Evaluation(
        methods=methods,
        scores=table([outcome.score for outcome in outcomes]),
        accuracy=table([outcome.run.accuracy for outcome in outcomes]),
        n_columns=table([outcome.run.n_columns for outcome in outcomes]),
        fit_seconds=table([outcome.run.fit_seconds for outcome in outcomes]),
        truth=truth,
        predicted=[joined([outcome.predicted for outcome in row], (), np.intp) for row in rows],
        probabilities=[
            None
            if row[0].probabilities is None
            else joined([outcome.probabilities for outcome in row], (len(classes),), np.float64)
            for row in rows
        ],
        kept=[[outcome.kept for outcome in row if outcome.kept is not None] for row in rows],
        warnings=_merged(outcomes),
        skipped=list(skipped),
    )


def _merged(outcomes: Sequence[_HeldOut]) -> list[str]:
    """Say every distinct warning of a method once, with the number of its folds."""
    counts = Counter((outcome.run.method, message) for outcome in outcomes for message in outcome.messages)
    return [
        f"{method} warned in {count} fold{'s' if count > 1 else ''}: {message}"
        for (method, message), count in counts.items()
    ]


def best_method(evaluation: Evaluation, metric: Metric, candidates: Sequence[str]) -> int:
    """Return the position of the candidate with the best mean score; of equal ones, that of the lowest log-loss."""
    gains = np.round(metric.gain(evaluation.scores.mean(axis=1)), TIE_DECIMALS)
    places = [place for place, method in enumerate(evaluation.methods) if method in candidates]
    equal = [place for place in places if gains[place] == max(gains[places])]
    return min(equal, key=lambda place: _log_loss(evaluation, place))


def _log_loss(evaluation: Evaluation, place: int) -> float:
    """Return the held-out log-loss of a method, infinity if it has no probabilities."""
    probabilities = evaluation.probabilities[place]
    if probabilities is None:
        return np.inf
    return find_metric("log-loss").score(evaluation.truth, evaluation.truth, probabilities, probabilities.shape[1])
