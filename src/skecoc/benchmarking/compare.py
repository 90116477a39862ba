"""Compare methods on data sets by cross-validation, all on the same folds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.benchmarking.data import DataSet, check_data_set
from skecoc.benchmarking.methods import DEFAULT_METHODS, check_methods, make_learner
from skecoc.benchmarking.runs import Batch, RunKey, batches_of
from skecoc.benchmarking.trials import BatchOutcome, run_batch, warning_notes
from skecoc.support.errors import InputError
from skecoc.support.processes import run_all

#: A comparison has one learner, which need not have a name, and leaves its response to the classifier.
_LEARNER, _RESPONSE = "learner", "auto"


@dataclass(frozen=True)
class Record:
    """Results of one method on one fold of one data set.

    Methods with the same coding share their trained columns; the seconds of each count the whole time of training them.
    """

    data_set: str
    method: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    accuracy: float
    n_columns: int
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Comparison:
    """The outcome of `compare`.

    Attributes
    ----------
    records : list of Record
        One per data set, repeat, fold and method, in this order.
    data_sets : list of dict
        Name, rows, columns and classes of every data set.
    methods : list of str
        Names of the methods.
    settings : dict
        Learner, folds, repeats and seed.
    notes : list of str
        What a reader should know: rare classes, columns left out, warnings of
        the learners.
    """

    records: list[Record]
    data_sets: list[dict[str, Any]]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def runs(self, measure: str) -> NDArray[np.float64]:
        """Arrange one measure of all records by data set, method and run.

        Parameters
        ----------
        measure : str
            A numeric field of `Record`, such as ``"accuracy"``.

        Returns
        -------
        ndarray of shape (n_data_sets, n_methods, n_repeats * n_folds)
            The values.
        """
        values = np.array([getattr(record, measure) for record in self.records], dtype=np.float64)
        return values.reshape(len(self.data_sets), -1, len(self.methods)).transpose(0, 2, 1)

    def to_records(self) -> list[dict[str, Any]]:
        """Return the records as plain dictionaries.

        Returns
        -------
        list of dict
            One per record, with its fields as keys.
        """
        return [asdict(record) for record in self.records]


def compare(
    data_sets: Sequence[DataSet],
    methods: Sequence[str] = DEFAULT_METHODS,
    *,
    learner: str | BaseEstimator = "stumps",
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Comparison:
    """Cross-validate every method on every data set.

    All methods see the same stratified folds. Missing values, scales and text
    columns are dealt with on the training part of each fold (see `DataSet`),
    the same way for all methods.

    Parameters
    ----------
    data_sets : sequence of DataSet
        The data sets, with distinct names.
    methods : sequence of str, default=DEFAULT_METHODS
        Names ``coding/decoding``, such as ``"one-vs-one/loss-weighted"``;
        ``"wolc"``, which has its own decoding; or ``"sklearn/one-vs-one"``,
        ``"sklearn/one-vs-rest"``, ``"sklearn/output-code"``.
    learner : str or classifier, default="stumps"
        The binary learner of all methods: ``"stumps"``, the import path of a
        scikit-learn classifier, or a classifier.
    folds : int, default=5
        Number of folds, at least 2.
    repeats : int, default=1
        How often the data are split anew.
    seed : int, default=0
        Every split and every run derives its own seed from this one and from
        its identity, so results depend neither on `n_jobs` nor on which other
        methods and data sets are compared.
    n_jobs : int, default=None
        How many runs are done at the same time, as joblib understands it.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    Comparison
        Accuracy, code length and seconds of every run.

    Raises
    ------
    InputError
        A `ValueError`: an argument, a data set or a combination of method and
        data set is not usable; the message says which.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-rest/loss-based"], folds=3)
    >>> result.runs("accuracy").shape
    (1, 1, 3)
    """
    methods = check_methods(methods)
    _check_counts(folds, repeats)
    estimator = make_learner(learner)
    notes = _check_data_sets(data_sets, folds)
    outcomes = _run_all(_plan(data_sets, methods, repeats, folds), estimator, folds, seed, n_jobs, show_progress)
    records, warned = _in_order(outcomes, data_sets, methods)
    return Comparison(
        records=records,
        data_sets=[_describe(data_set) for data_set in data_sets],
        methods=methods,
        settings={"learner": str(learner), "folds": folds, "repeats": repeats, "seed": seed},
        notes=notes + warning_notes(warned),
    )


def _check_counts(folds: int, repeats: int) -> None:
    """Check the numbers of folds and repeats."""
    if folds < 2:
        raise InputError(f"folds: expected at least 2, got {folds}")
    if repeats < 1:
        raise InputError(f"repeats: expected at least 1, got {repeats}")


def _check_data_sets(data_sets: Sequence[DataSet], folds: int) -> list[str]:
    """Check all data sets; return what a reader should know about them."""
    if not data_sets:
        raise InputError("datasets: expected at least one data set")
    names = Counter(data_set.name for data_set in data_sets)
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        raise InputError(f"datasets: {repeated[0]!r} is the name of more than one data set")
    return [note for data_set in data_sets for note in check_data_set(data_set, folds)]


def _plan(
    data_sets: Sequence[DataSet], methods: Sequence[str], repeats: int, folds: int
) -> list[tuple[Batch, DataSet]]:
    """Arrange all runs so that methods with the same coding share their columns."""
    return [
        (batch, data_set)
        for data_set in data_sets
        for repeat, fold in product(range(repeats), range(folds))
        for batch in batches_of(data_set.name, repeat, fold, _LEARNER, [_RESPONSE], methods)
    ]


def _run_all(
    plan: Sequence[tuple[Batch, DataSet]],
    learner: BaseEstimator,
    folds: int,
    seed: int,
    n_jobs: int | None,
    show_progress: bool,
) -> list[BatchOutcome]:
    """Run all batches, several at a time."""
    tasks = [delayed(run_batch)(batch, data_set, learner, folds, seed) for batch, data_set in plan]
    n_runs = sum(len(batch.variants) for batch, _ in plan)
    return run_all(
        tasks, n_jobs, show_progress=show_progress, n_runs=n_runs, count_runs=lambda outcome: len(outcome.runs)
    )


def _in_order(
    outcomes: Sequence[BatchOutcome], data_sets: Sequence[DataSet], methods: Sequence[str]
) -> tuple[list[Record], list[tuple[RunKey, str]]]:
    """Sort records and warnings of all runs by data set, repeat, fold and method."""
    names = [data_set.name for data_set in data_sets]

    def place(key: RunKey) -> tuple[int, int, int, int]:
        return names.index(key.data_set), key.repeat, key.fold, methods.index(key.method)

    runs = sorted((run for outcome in outcomes for run in outcome.runs), key=lambda run: place(run.key))
    warned = sorted((pair for outcome in outcomes for pair in outcome.warnings), key=lambda pair: place(pair[0]))
    return [Record(**{column.name: getattr(run, column.name) for column in fields(Record)}) for run in runs], warned


def _describe(data_set: DataSet) -> dict[str, Any]:
    """Name a data set and measure it."""
    n_rows, n_features = data_set.X.shape
    return {
        "name": data_set.name,
        "n_rows": int(n_rows),
        "n_features": int(n_features),
        "n_classes": len(np.unique(data_set.y)),
    }
