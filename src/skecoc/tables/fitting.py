"""Fit a model to a user's table, after cross-validation beside references on the same folds."""

import platform
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix
from tqdm import tqdm

import skecoc
from skecoc.benchmarking.data import DataSet, check_data_set
from skecoc.benchmarking.methods import (
    MIXED,
    PEERS,
    check_methods,
    coding_of,
    make_classifier,
    make_learner,
    make_small_classifier,
    takes_learner,
)
from skecoc.benchmarking.runs import RunKey, RunRecord, seed_of, split_rows
from skecoc.benchmarking.trials import (
    Fold,
    Trial,
    distinct_messages,
    named_errors,
    recorded_warnings,
    run_record,
    try_alone,
)
from skecoc.persistence import ModelFileError, dump_model
from skecoc.support.errors import InputError, spell_out
from skecoc.support.processes import interrupts_remembered, run_all
from skecoc.support.threads import thread_pools
from skecoc.tables.columns import stray_cells, suspicious_columns, typed
from skecoc.tables.importance import MAX_ROWS, PairCounts, can_count, count_pairs, important_columns
from skecoc.tables.model import TableClassifier, choose_columns
from skecoc.tables.preprocessing import encoded_sources, make_preprocessor

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: What a method is shown beside: scikit-learn's own strategies with the same learner.
REFERENCES = ("sklearn/one-vs-one", "sklearn/one-vs-rest")
#: What a method with learners of its own is shown beside: classifiers that cost little, whatever the table.
OWN_REFERENCES = ("sklearn/random-forest", "sklearn/logistic")
#: Bins of the calibration table.
N_BINS = 10

# Several learners take long to predict: columns are shuffled in the first folds only that have so many rows.
_SHUFFLED_ROWS = 500

# Rows of each class, and classes, of the small model that is saved as a rehearsal.
_REHEARSAL_ROWS, _REHEARSAL_CLASSES = 20, 3
_REASONS = {"constant": "the same value in every row", "identifier": "only numbers or names the rows"}


def fit_table(
    data_set: DataSet,
    *,
    target: str = "label",
    method: str | None = None,
    learner: str | BaseEstimator | None = None,
    drop: Sequence[str] = (),
    folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    trusted: Sequence[str] = (),
    show_progress: bool = False,
) -> TableClassifier:
    """Cross-validate a method on a table, then train it on all rows.

    Parameters
    ----------
    data_set : DataSet
        A frame of shape (n_rows, n_columns) and the labels.
    target : str, default="label"
        Name of the column that held the labels, for reports.
    method : str, default=None
        ``mixed``, ``wolc`` and its kin, or ``coding/decoding``, as `skecoc.benchmarking.compare` knows them. None
        stands for ``mixed``, or for ``wolc`` if there is a `learner`.
    learner : str or classifier, default=None
        The binary learner: ``"stumps"``, ``"svm"``, an import path, or a classifier. None stands for ``"stumps"``.
        ``mixed`` has learners of its own, and takes no other.
    drop : sequence of str, default=()
        Columns to leave out.
    folds : int, default=5
        Number of folds, at least 2.
    seed : int, default=0
        Seed of everything random.
    n_jobs : int, default=None
        How many things are done at the same time; it changes no result.
    trusted : sequence of str, default=()
        Further types that the model may hold, as for `skecoc.persistence.save_model`.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    TableClassifier
        Its `card_` holds the held-out results (``comparison``, ``confusion``, ``calibration``, ``important``), the
        settings, and ``notes``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": np.arange(30.0) % 7, "unit": "cm"})
    >>> data_set = DataSet("things.csv", frame, np.where(frame["size"] > 3, "big", "small"))
    >>> model = fit_table(data_set, folds=3)
    >>> model.card_["comparison"][0]["accuracy"], model.left_out_
    (1.0, {'unit': 'constant'})
    """
    method = _choose_method(method, learner)
    estimator = make_learner("stumps" if learner is None else learner)
    kinds, left_out = choose_columns(data_set.X, drop)
    frame = typed(data_set.X, kinds)
    values = DataSet(data_set.name, frame, data_set.y, make_preprocessor(frame))
    notes = [*check_data_set(values, folds), *_column_notes(data_set.X, kinds, left_out)]
    _rehearse(data_set, make_small_classifier(method, estimator), drop, trusted)
    found = evaluate(values, method, estimator, folds=folds, seed=seed, n_jobs=n_jobs, show_progress=show_progress)
    if show_progress:
        tqdm.write("fitting the model to all rows", file=sys.stderr)
    model = _fit_all(data_set, make_classifier(method, estimator, seed), drop, n_jobs)
    model.card_ = {
        "data": data_set.name,
        "target": target,
        "n_rows": len(data_set.y),
        "class_counts": np.bincount(found.truth),
        "method": method,
        "learner": _name_learners(model.classifier_, learner),
        "folds": folds,
        "seed": seed,
        "notes": notes + found.warnings,
        **make_card(found),
    }
    return model


def _choose_method(method: str | None, learner: str | BaseEstimator | None) -> str:
    """Return the full name of the method, which depends on the learner if none is named."""
    if method is None:
        method = MIXED if learner is None else "wolc"
    (method,) = check_methods([method])
    if method in PEERS:
        raise InputError(f"method: {method!r} is a reference, not a method of this package; see skecoc compare")
    if learner is not None and not takes_learner(method):
        raise InputError(
            f"learner: {coding_of(method)} has its own learners; leave out either the method or the learner"
        )
    return method


def _name_learners(classifier: Any, learner: str | BaseEstimator | None) -> str:
    """Name the binary learner, or those that a fitted classifier has brought along."""
    if learner is not None:
        return str(learner)
    own = dict.fromkeys(map(str, getattr(classifier, "column_learners_", [])))
    return ", ".join(own) if len(own) > 1 else "stumps"


def _fit_all(data_set: DataSet, classifier: Any, drop: Sequence[str], n_jobs: int | None) -> TableClassifier:
    """Train a classifier on all rows."""
    model = TableClassifier(classifier.set_params(n_jobs=n_jobs), drop=list(drop))
    # One thread each: those of gradient boosting would wait for one another where cores are busy.
    with thread_pools().limit(limits=1), interrupts_remembered() as check_interrupt, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of was said of the folds
        try:
            model.fit(data_set.X, data_set.y)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"the model cannot be fitted to all rows: {error}") from error
        check_interrupt()
    for part in (classifier, model.classifier_):
        part.set_params(n_jobs=None)  # a file must not decide how many cores its readers use
        if callable(getattr(part, "coding", None)):
            part.set_params(coding=model.classifier_.code_matrix_)  # a file holds no functions
    return model


def _rehearse(data_set: DataSet, classifier: BaseEstimator, drop: Sequence[str], trusted: Sequence[str]) -> None:
    """Refuse learners that could not be saved, before all the work is done, by a small classifier of them."""
    classes = np.unique(data_set.y)[:_REHEARSAL_CLASSES]
    rows = np.concatenate([np.flatnonzero(data_set.y == label)[:_REHEARSAL_ROWS] for label in classes])
    try:
        with thread_pools().limit(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TableClassifier(classifier, drop=list(drop))
            model.fit(data_set.X.iloc[rows], data_set.y[rows])
    except Exception:  # noqa: BLE001 (too few rows for this learner: then it is tried when all is done)
        return
    check_storable(model, trusted)


def check_storable(model: Any, trusted: Sequence[str] = ()) -> bytes:
    """Return the content of a model's file, or raise an InputError that says why it cannot be saved."""
    try:
        return dump_model(model, trusted=trusted)
    except ModelFileError as error:
        if not error.untrusted:
            raise InputError(f"learner: {error}") from error
        names = " ".join(error.untrusted)
        raise InputError(
            f"learner: the model would hold types that are not trusted: {names}; if you trust their code, add "
            f"--trust {names} (here, and to predict and inspect)"
        ) from error
    except ImportError as error:
        raise InputError(str(error)) from error


def _column_notes(frame: "pd.DataFrame", kinds: dict[str, str], left_out: dict[str, str]) -> list[str]:
    """Say which columns were left out, and which ones a reader should have a look at."""
    notes = []
    for reason, explanation in _REASONS.items():
        names = [repr(name) for name, found in left_out.items() if found == reason]
        if names:
            notes.append(f"left out: column{'s' if len(names) > 1 else ''} {spell_out(names)} ({explanation})")
    for name, reason in stray_cells(frame, kinds).items():
        notes.append(f"column {name!r} is taken as text: {reason}")
    for name, reason in suspicious_columns(frame, kinds).items():
        notes.append(f"column {name!r} may be an identifier ({reason}); --drop leaves it out")
    return notes


@dataclass(frozen=True)
class Evaluation:
    """Held-out results of a method, and of the references on the same folds."""

    methods: list[str]  # the method, then the references
    accuracy: Floats  # of shape (n_methods, n_folds), as are the next two
    n_columns: Floats
    fit_seconds: Floats
    classes: NDArray[Any]
    truth: Integers  # class indices of all rows
    predicted: Integers  # those that the method gave when the row was held out
    probabilities: Floats  # of held-out rows; 0 for a class without a row in the training part
    pair_counts: PairCounts | None  # what each column is worth; None if it was not counted
    warnings: list[str]


class _Details(NamedTuple):
    """Held-out predictions of a fold, and what each column is worth there."""

    predicted: Integers
    probabilities: Floats
    pair_counts: PairCounts | None


class _HeldOut(NamedTuple):
    """What one method did on one fold, in detail only for the method that is evaluated."""

    run: RunRecord
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
    """Cross-validate a method beside the references, on typed columns with their preprocessor.

    The folds and seeds are those of `skecoc.benchmarking.compare`, and so are the accuracies.
    """
    methods = [method, *(REFERENCES if takes_learner(method) else OWN_REFERENCES)]
    tasks = [
        delayed(_run_fold)(data_set, name, learner, fold, folds, seed, name == method)
        for fold, name in product(range(folds), methods)
    ]
    outcomes: list[_HeldOut] = run_all(tasks, n_jobs, show_progress=show_progress)
    outcomes.sort(key=lambda outcome: (methods.index(outcome.run.method), outcome.run.fold))
    return _collect(data_set, methods, outcomes, folds, seed)


def _run_fold(
    data_set: DataSet, method: str, learner: BaseEstimator, fold: int, n_folds: int, seed: int, in_detail: bool
) -> _HeldOut:
    """Train a method on all folds but one, and test it on that."""
    coding, _, decoding = method.partition("/")
    key = RunKey(data_set.name, 0, fold, "learner", "auto", coding, decoding)
    with thread_pools().limit(limits=1), recorded_warnings() as caught, named_errors(key):
        train, test = split_rows(data_set.y, data_set.name, 0, n_folds, seed)[fold]
        X_train, X_test, preprocessor = data_set.prepared(train, test)
        rows = Fold(X_train, data_set.y[train], X_test, data_set.y[test])
        run_seed = seed_of(seed, "run", data_set.name, 0, fold, coding_of(method))
        trial = try_alone(key, learner, run_seed, rows)
        details = None
        if in_detail:
            n_shuffled = fold * min(len(test), MAX_ROWS)  # by the folds before
            shuffles = takes_learner(method) or n_shuffled < _SHUFFLED_ROWS
            details = _details(data_set, trial, rows, preprocessor, run_seed if shuffles else None)
    return _HeldOut(run_record(key, trial, rows), distinct_messages(caught), details)


def _details(data_set: DataSet, trial: Trial, rows: Fold, preprocessor: Any, seed: int | None) -> _Details:
    """Predict held-out rows with probabilities, and count what each column is worth, unless there is no seed."""
    classes = np.unique(data_set.y)
    present = np.searchsorted(classes, trial.classifier.classes_)
    probabilities = np.zeros((len(rows.y_test), len(classes)))
    probabilities[:, present] = trial.classifier.predict_proba(rows.X_test)
    predicted = np.searchsorted(classes, trial.predicted)
    n_columns = data_set.X.shape[1]
    if seed is None or not can_count(n_columns, len(classes)):
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
    measures = {
        name: np.reshape([float(getattr(outcome.run, name)) for outcome in outcomes], (len(methods), folds))
        for name in ("accuracy", "n_columns", "fit_seconds")
    }
    return Evaluation(
        methods=methods,
        **measures,
        classes=classes,
        truth=truth,
        predicted=predicted,
        probabilities=probabilities,
        pair_counts=sum(counts[1:], counts[0]) if counts else None,
        warnings=_merged(outcomes),
    )


def _merged(outcomes: Sequence[_HeldOut]) -> list[str]:
    """Say every distinct warning of a method once, with the number of its folds."""
    counts = Counter((outcome.run.method, message) for outcome in outcomes for message in outcome.messages)
    return [
        f"{method} warned in {count} fold{'s' if count > 1 else ''}: {message}"
        for (method, message), count in counts.items()
    ]


def make_card(evaluation: Evaluation) -> dict[str, Any]:
    """Sum up held-out results as plain values, which the file of a model carries."""
    labels = np.arange(len(evaluation.classes))
    counts = evaluation.pair_counts
    return {
        "comparison": [
            {
                "method": method,
                "accuracy": float(evaluation.accuracy[k].mean()),
                "std": float(evaluation.accuracy[k].std(ddof=1)),
                "columns": float(evaluation.n_columns[k].mean()),
                "fit_seconds": float(np.median(evaluation.fit_seconds[k])),
            }
            for k, method in enumerate(evaluation.methods)
        ],
        "confusion": confusion_matrix(evaluation.truth, evaluation.predicted, labels=labels),
        "calibration": calibration_bins(evaluation.probabilities, evaluation.truth),
        "important": {} if counts is None else important_columns(counts),
        "versions": {
            "scikit-ecoc": skecoc.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "Python": platform.python_version(),
        },
    }


def calibration_bins(probabilities: Floats, truth: Integers) -> dict[str, Any]:
    """Compare how sure a model is with its accuracy: in tenths of [0, 1] of its largest probability.

    ``n_rows``, ``confidence`` and ``accuracy`` have one entry for each of the `N_BINS` bins; empty ones are 0.
    """
    best = probabilities.argmax(axis=1)
    sure = probabilities[np.arange(len(truth)), best]
    places = np.minimum((sure * N_BINS).astype(np.intp), N_BINS - 1)
    n_rows = np.bincount(places, minlength=N_BINS)
    divisor = np.maximum(n_rows, 1)
    return {
        "n_rows": n_rows,
        "confidence": np.bincount(places, weights=sure, minlength=N_BINS) / divisor,
        "accuracy": np.bincount(places, weights=best == truth, minlength=N_BINS) / divisor,
    }
