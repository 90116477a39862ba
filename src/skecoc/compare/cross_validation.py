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

from skecoc.compare.data_sets import DataSet, check_data_set, forget_prepared
from skecoc.compare.methods import DEFAULT_METHODS, check_methods, takes_learner, why_not
from skecoc.compare.metrics import find_metric
from skecoc.compare.named_learners import make_learner
from skecoc.compare.runs import RunKey, batches_of
from skecoc.compare.trials import BatchOutcome, run_batch, warning_notes
from skecoc.support.errors import InputError, spell_out
from skecoc.support.processes import run_all

#: The binary learner of codes unless another is named.
DEFAULT_LEARNER = "stumps"

#: A comparison has one learner, which need not have a name, and leaves its response to the classifier.
_LEARNER, _RESPONSE = "learner", "auto"


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
    """

    records: list[Record]
    data_sets: list[dict[str, Any]]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)

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
    tasks = [
        delayed(run_batch)(batch, data_set, estimator, folds, seed, chosen, class_weight)
        for data_set, repeat, fold in product(data_sets, range(repeats), range(folds))
        for batch in batches_of(data_set.name, repeat, fold, _LEARNER, [_RESPONSE], methods)
    ]
    n_runs = len(data_sets) * repeats * folds * len(methods)
    outcomes: list[BatchOutcome] = run_all(
        tasks, n_jobs, show_progress=show_progress, total=n_runs, runs_of=lambda outcome: len(outcome.runs)
    )
    forget_prepared()
    records, warned = _in_order(outcomes, data_sets, methods)
    return Comparison(
        records=records,
        data_sets=[
            {
                "name": data_set.name,
                "n_rows": int(data_set.X.shape[0]),
                "n_features": int(data_set.X.shape[1]),
                "n_classes": len(np.unique(data_set.y)),
            }
            for data_set in data_sets
        ],
        methods=methods,
        settings={
            "learner": str(learner),
            "folds": folds,
            "repeats": repeats,
            "seed": seed,
            "class_weight": class_weight or "",
            "metric": chosen.name,
            "higher_is_better": chosen.higher_is_better,
            "in_percent": chosen.in_percent,
            "fit_command": fit_command,
        },
        notes=[*notes, *_notes_on_learners(methods, learner), *warning_notes(warned)],
    )


def _notes_on_learners(methods: Sequence[str], learner: str | BaseEstimator) -> list[str]:
    """Say which methods do without the learner that was chosen; none if it is the default."""
    if learner == DEFAULT_LEARNER:
        return []
    without = [method for method in methods if not takes_learner(method)]
    return [f"the learner, {learner}, is not that of {spell_out(without)}"] if without else []


def _in_order(
    outcomes: Sequence[BatchOutcome], data_sets: Sequence[DataSet], methods: Sequence[str]
) -> tuple[list[Record], list[tuple[RunKey, str]]]:
    """Sort records and warnings of all runs by data set, repeat, fold and method."""
    names = [data_set.name for data_set in data_sets]

    def place(key: RunKey) -> tuple[int, int, int, int]:
        return names.index(key.data_set), key.repeat, key.fold, methods.index(key.method)

    pairs = [pair for outcome in outcomes for pair in zip(outcome.runs, outcome.scores, strict=True)]
    warned = sorted((pair for outcome in outcomes for pair in outcome.warnings), key=lambda pair: place(pair[0]))
    copied = [column.name for column in fields(Record) if column.name != "score"]
    records = [
        Record(score=score, **{name: getattr(run, name) for name in copied})
        for run, score in sorted(pairs, key=lambda pair: place(pair[0].key))
    ]
    return records, warned
