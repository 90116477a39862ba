"""Compare methods on data sets by cross-validation, all on the same folds."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.compare.data_sets import DataSet, check_data_set, forget_prepared
from skecoc.compare.methods import MAJORITY, check_methods, make_learner, takes_learner, why_not
from skecoc.compare.metrics import Metric, find_metric
from skecoc.compare.statistics import TIE_DECIMALS
from skecoc.compare.trials import BatchOutcome, KeptTrial, RunKey, batches_of, run_batch, split_rows, warning_notes
from skecoc.support.compiling import seconds_of_compilation
from skecoc.support.errors import InputError, spell_out
from skecoc.support.names import DEFAULT_METHODS
from skecoc.support.processes import run_all
from skecoc.support.scores import ScoreFormat

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: The binary learner of codes unless another is named.
DEFAULT_LEARNER = "stumps"

#: Learner and response in the keys of runs: a comparison has one of each.
_LEARNER, _RESPONSE = "learner", "auto"


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


class HeldOut(NamedTuple):
    """What a method predicted for the samples of a data set, each when it was in a test part."""

    truth: Integers  # class indices
    predicted: Integers
    probabilities: Floats | None  # of shape (n_samples, n_classes), 0 for a class without a training sample
    kept: list[KeptTrial]  # trained classifiers of the first folds

    def log_loss(self) -> float:
        """Return the log-loss, infinity without probabilities."""
        if self.probabilities is None:
            return np.inf
        return find_metric("log-loss").score(self.truth, self.truth, self.probabilities, self.probabilities.shape[1])


@dataclass(frozen=True)
class Record:
    """Results of one method on one fold of one data set.

    Attributes
    ----------
    data_set, method : str
        Their names.
    repeat, fold : int
        Numbers of the repeat and of the fold, from 0.
    n_train, n_test : int
        Numbers of training and test samples.
    accuracy : float
        Accuracy on the test samples, in [0, 1].
    score : float
        Score by the metric of the comparison.
    n_columns : int
        Number of columns that are evaluated for prediction; 0 for classifiers other than output codes.
    fit_seconds, predict_seconds : float
        Time to fit and to predict. Methods with the same coding share their trained columns; the time of each method
        includes the training of all columns.
    """

    data_set: str
    method: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    accuracy: float
    score: float  # by the metric of the comparison
    n_columns: int
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    records : list of Record
        One per data set, repeat, fold and method, in this order.
    data_sets : list of dict
        Name and numbers of rows, columns and classes of every data set.
    methods : list of str
        Names of the methods.
    settings : dict
        Learner, folds, repeats, seed, class weight, the metric and its format, and the command line that fits one of
        the methods, with ``{method}`` as placeholder for its name (empty for included data sets).
    notes : list of str
        Remarks: rare classes, ignored columns, methods that do not use the learner, warnings.
    held_out : list of HeldOut
        Predictions of each method, if there is a single data set; those of the first repeat.
    """

    records: list[Record]
    data_sets: list[dict[str, Any]]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    held_out: list[HeldOut] = field(default_factory=list)

    @property
    def score_format(self) -> ScoreFormat:
        """How scores are written."""
        return ScoreFormat(*(self.settings[name] for name in ("metric", "higher_is_better", "in_percent")))

    def best(self, candidates: Sequence[str], data_set: int = 0) -> int:
        """Return the position of the candidate with the best mean score; of equal ones, that of the lowest log-loss.

        Parameters
        ----------
        candidates : sequence of str
            Names of methods.
        data_set : int, default=0
            Position of the data set.

        Returns
        -------
        int
            Position of a method in `methods`.
        """
        gains = np.round(self.score_format.sign * self.runs("score")[data_set].mean(axis=1), TIE_DECIMALS)
        places = [place for place, method in enumerate(self.methods) if method in candidates]
        equal = [place for place in places if gains[place] == max(gains[places])]
        return min(equal, key=lambda place: self.held_out[place].log_loss() if self.held_out else 0.0)

    def runs(self, measure: str) -> NDArray[np.float64]:
        """Return a numeric field of the records as an array.

        Parameters
        ----------
        measure : str
            Name of a field of `Record`, such as ``"accuracy"``.

        Returns
        -------
        ndarray of shape (n_data_sets, n_methods, n_repeats * n_folds)
            The values by data set, method and run.
        """
        values = np.array([getattr(record, measure) for record in self.records], dtype=np.float64)
        return values.reshape(len(self.data_sets), -1, len(self.methods)).transpose(0, 2, 1)

    def to_records(self) -> list[dict[str, Any]]:
        """Return the records as plain dictionaries, fields as keys."""
        return [asdict(record) for record in self.records]


def overlaps(comparison: Comparison) -> NDArray[np.float64]:
    """Return the number of test rows per training row of every data set, of shape (n_data_sets,)."""
    sizes = [comparison.runs(name).sum(axis=(1, 2)) for name in ("n_test", "n_train")]
    return np.asarray(sizes[0] / sizes[1])


def compare(
    data_sets: Sequence[DataSet],
    methods: Sequence[str] = DEFAULT_METHODS,
    *,
    learner: str | BaseEstimator = DEFAULT_LEARNER,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    metric: str = "accuracy",
    class_weight: str | None = None,
    n_jobs: int | None = None,
    show_progress: bool = False,
    fit_command: str = "",
) -> Comparison:
    """Cross-validate every method on every data set.

    All methods use the same stratified folds. Preprocessing (imputation, scaling, encoding of text) is fitted on the
    training part of each fold (see `DataSet`). Missing numbers are not imputed for methods that support them.

    Parameters
    ----------
    data_sets : sequence of DataSet
        The data sets, with distinct names.
    methods : sequence of str, default=DEFAULT_METHODS
        Names ``coding/decoding``, such as ``"one-vs-one/loss-weighted"``, also with the codings ``"ecoc-one"``,
        ``"lc-ecoc"``, ``"subclass-ecoc"`` and ``"random-10"`` (dense random, ten columns); ``"mixed"``, ``"wolc"``,
        ``"wolc-one-vs-rest"`` and ``"wolc-paper"`` (with this initial code, and with the settings of the paper), which
        have their own decoding; the strategies of scikit-learn, ``"sklearn/one-vs-one"``, ``"sklearn/one-vs-rest"`` and
        ``"sklearn/output-code"``; its classifiers ``"sklearn/random-forest"``, ``"sklearn/extra-trees"``,
        ``"sklearn/boosting"``, ``"sklearn/svm"`` and ``"sklearn/logistic"``; and the baseline ``"sklearn/majority"``.
    learner : str or classifier, default="stumps"
        The binary learner: a short name such as ``"stumps"``, ``"svm"`` or ``"random-forest"``, also with parameters,
        the import path of a classifier, or a classifier. It is not used by ``"mixed"``, which has its own learners, and
        the classifiers of scikit-learn.
    folds : int, default=5
        Number of folds, at least 2.
    repeats : int, default=1
        Number of repetitions of the cross-validation, with different splits.
    seed : int, default=0
        Random seed. The seeds of splits and runs are derived from it and from the identity of the run, so results
        depend neither on `n_jobs` nor on the other methods and data sets.
    metric : str, default="accuracy"
        The metric: ``"accuracy"``, ``"balanced-accuracy"``, ``"macro-f1"``, ``"log-loss"``, or the name of a
        scikit-learn scorer.
    class_weight : {"balanced"}, default=None
        "balanced" gives all classes the same total weight in training.
    n_jobs : int, default=None
        Number of runs in parallel, as in joblib.
    show_progress : bool, default=False
        Whether to show a progress bar on standard error.
    fit_command : str, default=""
        The command line that fits one of the methods, with ``{method}`` as placeholder for its name, for reports.

    Returns
    -------
    Comparison
        Score, accuracy, code length and time of every run; classifiers other than output codes have length 0.

    Raises
    ------
    InputError
        A `ValueError`: if an argument, a data set or a combination of method and data set is invalid.

    Examples
    --------
    >>> from skecoc.compare import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-rest/loss-based"], folds=3)
    >>> result.runs("accuracy").shape
    (1, 1, 3)
    """
    methods = check_methods(methods)
    for argument, count, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if count < least:
            raise InputError(f"{argument}: expected at least {least}, got {count}")
    if not data_sets:
        raise InputError("datasets: expected at least one data set")
    name, count = Counter(data_set.name for data_set in data_sets).most_common(1)[0]
    if count > 1:
        raise InputError(f"datasets: {name!r} is the name of more than one data set")
    if class_weight not in (None, "balanced"):
        raise InputError(f"class_weight: expected 'balanced' or None, got {class_weight!r}")
    estimator = make_learner(learner)
    chosen = find_metric(metric, min(len(np.unique(data_set.y)) for data_set in data_sets))
    for method in methods:
        reason = why_not(method, estimator, probabilities=chosen.needs_probabilities, weights=class_weight is not None)
        if reason:
            raise InputError(f"methods: {reason}")
    notes = [note for data_set in data_sets for note in check_data_set(data_set, folds)]
    if learner != DEFAULT_LEARNER and (without := [method for method in methods if not takes_learner(method)]):
        notes.append(f"the learner, {learner}, is not that of {spell_out(without)}")
    found = cross_validate(
        data_sets,
        methods,
        estimator,
        chosen,
        folds=folds,
        repeats=repeats,
        seed=seed,
        class_weight=class_weight,
        n_jobs=n_jobs,
        show_progress=show_progress,
    )
    settings = {"learner": str(learner), **found.settings, "fit_command": fit_command}
    return replace(found, settings=settings, notes=[*notes, *found.notes])


def cross_validate(
    data_sets: Sequence[DataSet],
    methods: Sequence[str],
    learner: BaseEstimator,
    metric: Metric,
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    class_weight: str | None = None,
    kept_folds: int = 0,
    budget: Budget | None = None,
    sample: DataSet | None = None,
    n_rows: int | None = None,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Comparison:
    """Cross-validate methods on data sets that have been checked; both `compare` and `skecoc.tables.fit_table` do so.

    For a single data set, predictions are kept, and the classifiers of the first `kept_folds` folds. A limited `budget`
    needs a single data set: methods are tried one after the other, and those whose folds, with a training on `n_rows`
    rows at the end, would take too long are left out, as estimated first from a `sample`, then from the first fold. The
    first method other than the majority class is always tried.
    """
    kept = kept_folds if len(data_sets) == 1 else None

    def tasks(names: Sequence[str], parts: Iterable[tuple[DataSet, int, int]]) -> list[Any]:
        return [
            delayed(run_batch)(batch, data_set, learner, folds, seed, metric, class_weight, kept)
            for data_set, repeat, fold in parts
            for batch in batches_of(data_set.name, repeat, fold, _LEARNER, [_RESPONSE], names)
        ]

    def run(names: Sequence[str], parts: list[tuple[DataSet, int, int]]) -> list[BatchOutcome]:
        return run_all(
            tasks(names, parts),
            n_jobs,
            show_progress=show_progress,
            total=len(parts) * len(names),
            runs_of=lambda outcome: len(outcome.runs),
        )

    parts = list(product(data_sets, range(repeats), range(folds)))
    if budget is None or not budget.is_limited:
        done, outcomes = list(methods), run(methods, parts)
    else:
        done, outcomes = [], []
        (data_set,) = data_sets

        def tried(name: str, data: DataSet, n_left: int) -> tuple[BatchOutcome, bool]:
            """Run the first fold, and tell whether there is time for the folds that are left and for all rows."""
            begin, compiled = time.perf_counter(), seconds_of_compilation()
            ((function, arguments, options),) = tasks([name], [(data, 0, 0)])
            outcome = function(*arguments, **options)
            seconds = max(0.0, time.perf_counter() - begin - (seconds_of_compilation() - compiled))
            waves = np.ceil(n_left / effective_n_jobs(n_jobs))
            final = outcome.runs[0].fit_seconds * (n_rows or len(data_set.y)) / outcome.runs[0].n_train
            return outcome, budget.allows(float(waves * seconds * len(data_set.y) / len(data.y) + final))

        for name in methods:
            is_free = set(done) <= {MAJORITY}
            if not is_free and sample is not None and not tried(name, sample, folds)[1]:
                continue
            outcome, has_time = tried(name, data_set, folds - 1)
            if is_free or has_time:
                outcomes += [outcome, *run([name], parts[1:])]
                done.append(name)
    forget_prepared()
    names = [data_set.name for data_set in data_sets]

    def place(key: RunKey) -> tuple[int, int, int, int]:
        return names.index(key.data_set), key.repeat, key.fold, done.index(key.method)

    pairs = [pair for outcome in outcomes for pair in zip(outcome.runs, outcome.scores, strict=True)]
    copied = [column.name for column in fields(Record) if column.name != "score"]
    return Comparison(
        records=[
            Record(score=score, **{name: getattr(run, name) for name in copied})
            for run, score in sorted(pairs, key=lambda pair: place(pair[0].key))
        ],
        data_sets=[
            {
                "name": data_set.name,
                "n_rows": int(data_set.X.shape[0]),
                "n_features": int(data_set.X.shape[1]),
                "n_classes": len(np.unique(data_set.y)),
            }
            for data_set in data_sets
        ],
        methods=done,
        settings={
            "folds": folds,
            "repeats": repeats,
            "seed": seed,
            "class_weight": class_weight or "",
            "metric": metric.name,
            "higher_is_better": metric.higher_is_better,
            "in_percent": metric.in_percent,
        },
        notes=warning_notes(
            sorted((pair for each in outcomes for pair in each.warnings), key=lambda pair: place(pair[0]))
        ),
        held_out=[] if kept is None else _held_out(data_sets[0], done, outcomes, folds, seed),
    )


def _held_out(
    data_set: DataSet, methods: Sequence[str], outcomes: Sequence[BatchOutcome], folds: int, seed: int
) -> list[HeldOut]:
    """Put the test parts of each method together, those of the first repeat."""
    parts = {
        (key.method, key.fold): part
        for outcome in outcomes
        for key, part in zip(outcome.batch.keys, outcome.test_parts, strict=True)
        if key.repeat == 0
    }
    rows = [test for _, test in split_rows(data_set.y, data_set.seed_name, 0, folds, seed, data_set.groups)]
    classes, truth = np.unique(data_set.y, return_inverse=True)
    held_out = []
    for method in methods:
        own = [parts[method, fold] for fold in range(folds)]
        predicted, probabilities = np.zeros(len(truth), dtype=np.intp), np.zeros((len(truth), len(classes)))
        for test, part in zip(rows, own, strict=True):
            predicted[test] = part.predicted
            probabilities[test] = 0.0 if part.probabilities is None else part.probabilities
        kept = [part.kept for part in own if part.kept is not None]
        held_out.append(HeldOut(truth, predicted, None if own[0].probabilities is None else probabilities, kept))
    return held_out
