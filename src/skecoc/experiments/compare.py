"""Compare methods on data sets by cross-validation, all on the same folds."""

import time
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from tqdm import tqdm

from skecoc.experiments._errors import InputError
from skecoc.experiments._interrupts import interrupts_ignored, interrupts_remembered
from skecoc.experiments.data import DataSet, check_data_set
from skecoc.experiments.methods import (
    DEFAULT_METHODS,
    check_methods,
    coding_of,
    count_columns,
    make_classifier,
    make_learner,
)
from skecoc.experiments.preprocessing import make_preprocessor
from skecoc.experiments.seeds import seed_of


@dataclass(frozen=True)
class Record:
    """What one method did on one fold of one data set."""

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


@dataclass(frozen=True)
class _Split:
    """One fold of one repeat of one data set."""

    data_set: DataSet
    preprocessor: Any
    repeat: int
    fold: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


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
    columns are dealt with on the training part of each fold (see
    `skecoc.experiments.preprocessing`), the same way for all methods.

    Parameters
    ----------
    data_sets : sequence of DataSet
        The data sets, with distinct names.
    methods : sequence of str, default=DEFAULT_METHODS
        Names ``coding/decoding``, such as ``"one-vs-one/loss-weighted"``, or
        ``"sklearn/one-vs-one"``, ``"sklearn/one-vs-rest"``,
        ``"sklearn/output-code"``.
    learner : str or classifier, default="stumps"
        The binary learner of all methods: ``"stumps"``, the import path of a
        scikit-learn classifier, or a classifier.
    folds : int, default=5
        Number of folds, at least 2.
    repeats : int, default=1
        How often the data are split anew.
    seed : int, default=0
        Every split and every run derives its own seed from this one and from
        what it is, so results depend neither on `n_jobs` nor on which other
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
    >>> from skecoc.experiments import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-rest/loss-based"], folds=3)
    >>> result.runs("accuracy").shape
    (1, 1, 3)
    """
    methods = check_methods(methods)
    _check_counts(folds, repeats)
    estimator = make_learner(learner)
    notes = _check_data_sets(data_sets, folds)
    splits = [split for data_set in data_sets for split in _splits(data_set, folds, repeats, seed)]
    records, warned = _run_all(splits, methods, estimator, seed, n_jobs, show_progress)
    return Comparison(
        records=list(records),
        data_sets=[_describe(data_set) for data_set in data_sets],
        methods=methods,
        settings={"learner": str(learner), "folds": folds, "repeats": repeats, "seed": seed},
        notes=notes + _merge_warnings(records, warned),
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


def _splits(data_set: DataSet, folds: int, repeats: int, seed: int) -> Iterator[_Split]:
    """Split a data set, stratified by class; rare classes have been noted already."""
    preprocessor = make_preprocessor(data_set.X)
    rows = np.zeros(len(data_set.y))
    for repeat in range(repeats):
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed_of(seed, "folds", data_set.name, repeat))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(splitter.split(rows, data_set.y))
        for fold, (train, test) in enumerate(parts):
            yield _Split(data_set, preprocessor, repeat, fold, train, test)


def _run_all(
    splits: Sequence[_Split],
    methods: Sequence[str],
    learner: BaseEstimator,
    seed: int,
    n_jobs: int | None,
    show_progress: bool,
) -> tuple[list[Record], list[list[str]]]:
    """Run every method on every fold, several at a time; return records and warnings, in order."""
    tasks = [delayed(_run)(split, method, learner, seed) for split, method in product(splits, methods)]
    records, warned = [], []
    with interrupts_remembered() as check_interrupt:
        with interrupts_ignored():  # this is where joblib starts its workers
            outcomes = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        try:
            for record, messages in tqdm(outcomes, total=len(tasks), disable=not show_progress, unit="run"):
                check_interrupt()
                records.append(record)
                warned.append(messages)
        finally:
            _close(outcomes)
    return records, warned


def _close(outcomes: Generator[tuple[Record, list[str]]]) -> None:
    """Stop runs that nobody waits for any more, without joblib's advice to start fewer of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        outcomes.close()


def _run(split: _Split, method: str, learner: BaseEstimator, seed: int) -> tuple[Record, list[str]]:
    """Train and test one method on one fold; return what it did and what it warned of."""
    name, y = split.data_set.name, split.data_set.y
    classifier = make_classifier(
        method, learner, seed_of(seed, "run", name, split.repeat, split.fold, coding_of(method))
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X_train, X_test = _prepare(split)
        begin = time.perf_counter()
        try:
            classifier.fit(X_train, y[split.train])
            fitted = time.perf_counter()
            predicted = classifier.predict(X_test)
        except (ValueError, TypeError, IndexError) as error:
            # Raised where a method or learner does not suit the data, such as a code too long for that many classes.
            raise InputError(f"method {method!r} on data set {name!r}: {error}") from error
        done = time.perf_counter()
    record = Record(
        data_set=name,
        method=method,
        repeat=split.repeat,
        fold=split.fold,
        n_train=len(split.train),
        n_test=len(split.test),
        accuracy=float(np.mean(predicted == y[split.test])),
        n_columns=count_columns(classifier),
        fit_seconds=fitted - begin,
        predict_seconds=done - fitted,
    )
    return record, _messages(caught)


def _messages(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the distinct messages of warnings, without those meant for developers."""
    return sorted(
        {
            " ".join(str(warning.message).split())
            for warning in caught
            if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning))
        }
    )


def _prepare(split: _Split) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn the rows of a fold into numbers; what is learnt, is learnt from the training part."""
    preprocessor = clone(split.preprocessor)
    X_train = preprocessor.fit_transform(_safe_indexing(split.data_set.X, split.train))
    return X_train, preprocessor.transform(_safe_indexing(split.data_set.X, split.test))


def _merge_warnings(records: Sequence[Record], warned: Sequence[list[str]]) -> list[str]:
    """Say every distinct warning of a method on a data set once, with the number of its runs."""
    counts = Counter(
        (record.data_set, record.method, message)
        for record, messages in zip(records, warned, strict=True)
        for message in messages
    )
    return [
        f"{name}: {method} warned in {count} run{'s' if count > 1 else ''}: {message}"
        for (name, method, message), count in counts.items()
    ]


def _describe(data_set: DataSet) -> dict[str, Any]:
    """Name a data set and measure it."""
    n_rows, n_features = data_set.X.shape
    return {
        "name": data_set.name,
        "n_rows": int(n_rows),
        "n_features": int(n_features),
        "n_classes": len(np.unique(data_set.y)),
    }
