"""What a method is worth on a table: held-out predictions, beside one-vs-one and one-vs-rest on the same folds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from tqdm import tqdm

from skecoc.benchmarking.data import DataSet
from skecoc.benchmarking.methods import coding_of, count_columns
from skecoc.benchmarking.runs import RunKey, seed_of, split_rows
from skecoc.benchmarking.trials import (
    Fold,
    Trial,
    distinct_messages,
    named_errors,
    recorded_warnings,
    thread_pools,
    try_alone,
)
from skecoc.support.processes import interrupts_remembered, results_of
from skecoc.tables.importance import PairCounts, can_count, count_pairs
from skecoc.tables.model import encoded_sources
from skecoc.tables.preprocessing import make_preprocessor

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: What every method is shown beside: scikit-learn's own strategies with the same learner.
REFERENCES = ("sklearn/one-vs-one", "sklearn/one-vs-rest")


@dataclass(frozen=True)
class Evaluation:
    """Held-out results of a method, and of the references on the same folds.

    Attributes
    ----------
    methods : list of str
        The method, then the references.
    accuracy, n_columns, fit_seconds : ndarray of shape (n_methods, n_folds)
        Accuracy on the held-out rows, questions asked, and time of training.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    truth, predicted : ndarray of int of shape (n_rows,)
        Class indices: the right ones, and the method's when the row was held out.
    probabilities : ndarray of shape (n_rows, n_classes)
        The method's probabilities for held-out rows; 0 for a class without a row in the training part.
    pair_counts : PairCounts or None
        What each column is worth to the method; None if there are too many columns and classes.
    warnings : list of str
        What methods warned of, each message once.
    """

    methods: list[str]
    accuracy: Floats
    n_columns: Floats
    fit_seconds: Floats
    classes: NDArray[Any]
    truth: Integers
    predicted: Integers
    probabilities: Floats
    pair_counts: PairCounts | None
    warnings: list[str]


class _Details(NamedTuple):
    """Held-out predictions of a fold, and what each column is worth there."""

    predicted: Integers
    probabilities: Floats
    pair_counts: PairCounts | None


class _HeldOut(NamedTuple):
    """What one method did on one fold, in detail only for the method that is evaluated."""

    method: str
    fold: int
    accuracy: float
    n_columns: int
    fit_seconds: float
    messages: list[str]
    details: _Details | None


def evaluate(
    data_set: DataSet,
    method: str,
    learner: BaseEstimator,
    *,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Evaluation:
    """Cross-validate a method beside the references.

    The folds and seeds are those of `skecoc.benchmarking.compare`, and so are the accuracies.

    Parameters
    ----------
    data_set : DataSet
        Typed columns (see `skecoc.tables.columns.typed`) and labels.
    method : str
        Name of a method, ``coding/decoding``.
    learner : classifier
        The binary learner of all methods.
    folds : int, default=5
        Number of folds.
    seed : int, default=0
        Seed of everything random.
    n_jobs : int, default=None
        How many runs are done at the same time, as joblib understands it.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    Evaluation
        Accuracies, and held-out predictions of the method.

    Raises
    ------
    InputError
        If a method or the learner does not suit the data.

    Examples
    --------
    >>> import pandas as pd
    >>> from skecoc.benchmarking.methods import make_learner
    >>> frame = pd.DataFrame({"size": np.arange(30.0) % 7})
    >>> data_set = DataSet("tiny", frame, np.where(frame["size"] > 3, "big", "small"))
    >>> evaluate(data_set, "one-vs-rest/loss-based", make_learner("stumps"), folds=3).accuracy
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    methods = [method, *REFERENCES]
    tasks = [
        delayed(_run_fold)(data_set, name, learner, fold, folds, seed, name == method)
        for fold, name in product(range(folds), methods)
    ]
    outcomes: list[_HeldOut] = []
    with (
        interrupts_remembered() as check_interrupt,
        results_of(tasks, n_jobs) as finished,
        tqdm(total=len(tasks), disable=not show_progress, unit="run") as bar,
    ):
        for outcome in finished:
            check_interrupt()
            outcomes.append(outcome)
            bar.update()
    outcomes.sort(key=lambda outcome: (methods.index(outcome.method), outcome.fold))
    return _collect(data_set, methods, outcomes, folds, seed)


def _run_fold(
    data_set: DataSet, method: str, learner: BaseEstimator, fold: int, n_folds: int, seed: int, in_detail: bool
) -> _HeldOut:
    """Train a method on all folds but one, and try it on that."""
    key = RunKey(data_set.name, 0, fold, "learner", "auto", *_parts(method))
    with thread_pools().limit(limits=1), recorded_warnings() as caught, named_errors(key):
        train, test = split_rows(data_set.y, data_set.name, 0, n_folds, seed)[fold]
        preprocessor = make_preprocessor(data_set.X)
        X_train = preprocessor.fit_transform(_safe_indexing(data_set.X, train))
        X_test = preprocessor.transform(_safe_indexing(data_set.X, test))
        rows = Fold(X_train, data_set.y[train], X_test, data_set.y[test])
        run_seed = seed_of(seed, "run", data_set.name, 0, fold, coding_of(method))
        trial = try_alone(key, learner, run_seed, rows)
        details = _details(data_set, trial, rows, preprocessor, run_seed) if in_detail else None
    accuracy = float(np.mean(trial.predicted == rows.y_test))
    columns = count_columns(trial.classifier)
    return _HeldOut(method, fold, accuracy, columns, trial.fit_seconds, distinct_messages(caught), details)


def _parts(method: str) -> tuple[str, str]:
    """Split a method's name into coding and decoding."""
    coding, _, decoding = method.partition("/")
    return coding, decoding


def _details(data_set: DataSet, trial: Trial, rows: Fold, preprocessor: Any, seed: int) -> _Details:
    """Predict held-out rows with probabilities, and count what each column is worth."""
    classes = np.unique(data_set.y)
    present = np.searchsorted(classes, trial.classifier.classes_)
    probabilities = np.zeros((len(rows.y_test), len(classes)))
    probabilities[:, present] = trial.classifier.predict_proba(rows.X_test)
    predicted = np.searchsorted(classes, trial.predicted)
    n_columns = data_set.X.shape[1]
    if not can_count(n_columns, len(classes)):
        return _Details(predicted, probabilities, None)

    def score(X: Floats) -> Floats:
        scores = np.full((len(X), len(classes)), -np.inf)
        found = trial.classifier.decision_function(X)
        scores[:, present] = found if found.ndim == 2 else np.column_stack([-found, found])
        return scores

    truth = np.searchsorted(classes, rows.y_test)
    sources = encoded_sources(preprocessor)
    counts = count_pairs(score, rows.X_test, truth, sources, n_columns, np.random.RandomState(seed))
    return _Details(predicted, probabilities, counts)


def _collect(data_set: DataSet, methods: list[str], outcomes: Sequence[_HeldOut], folds: int, seed: int) -> Evaluation:
    """Put the folds together."""
    classes, truth = np.unique(data_set.y, return_inverse=True)
    predicted = np.empty(len(truth), dtype=np.intp)
    probabilities = np.empty((len(truth), len(classes)))
    details = [outcome.details for outcome in outcomes if outcome.details is not None]
    for found, (_, test) in zip(details, split_rows(data_set.y, data_set.name, 0, folds, seed), strict=True):
        predicted[test], probabilities[test] = found.predicted, found.probabilities
    counts = [found.pair_counts for found in details if found.pair_counts is not None]
    shape = (len(methods), folds)
    return Evaluation(
        methods=methods,
        accuracy=np.reshape([outcome.accuracy for outcome in outcomes], shape),
        n_columns=np.reshape([float(outcome.n_columns) for outcome in outcomes], shape),
        fit_seconds=np.reshape([outcome.fit_seconds for outcome in outcomes], shape),
        classes=classes,
        truth=truth,
        predicted=predicted,
        probabilities=probabilities,
        pair_counts=sum(counts[1:], counts[0]) if counts else None,
        warnings=_merged(outcomes),
    )


def _merged(outcomes: Sequence[_HeldOut]) -> list[str]:
    """Say every distinct warning of a method once, with the number of its folds."""
    counts = Counter((outcome.method, message) for outcome in outcomes for message in outcome.messages)
    return [
        f"{method} warned in {count} fold{'s' if count > 1 else ''}: {message}"
        for (method, message), count in counts.items()
    ]
