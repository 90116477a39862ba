"""Runs of methods on a fold: their identity, folds and seeds, training and testing, and what is recorded of each.

Several decodings of the same trained columns are run together.
"""

import hashlib
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from skecoc.classifiers import ECOCClassifier
from skecoc.compare.data_sets import DataSet
from skecoc.compare.methods import (
    GROWN_CODINGS,
    MAJORITY,
    RESPONSES,
    STRATEGIES,
    coding_of,
    count_columns,
    count_trained,
    is_wolc,
    make_classifier,
)
from skecoc.compare.metrics import ACCURACY, Metric
from skecoc.decoding import DECODERS
from skecoc.learners.columns import evaluate_columns, first_learner, margin_scale, resolve_response
from skecoc.support.errors import InputError
from skecoc.support.names import METRICS
from skecoc.support.processes import thread_pools

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class RunKey(NamedTuple):
    """Identity of a run; `response` is "labels", "probabilities", "margins" or "auto"."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"


@dataclass(frozen=True)
class RunRecord:
    """Results of one method on one fold: the identity of the run, and what was measured."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    decoding: str
    n_train: int
    n_test: int
    n_correct: int
    n_columns: int  # binary learners that `predict` evaluates
    n_trained: int  # binary learners of the code, with those that have no weight and those of rounds not kept
    # Training the columns, evaluating the training samples and fitting the decoder. Methods that share columns each
    # count the whole time of training them, as if each had been trained alone.
    fit_seconds: float
    predict_seconds: float

    @property
    def accuracy(self) -> float:
        """Share of the test samples that were predicted correctly."""
        return self.n_correct / self.n_test

    @property
    def method(self) -> str:
        """Name of the method, ``coding/decoding``."""
        return f"{self.coding}/{self.decoding}"

    @property
    def key(self) -> RunKey:
        """Identity of the run."""
        return RunKey(self.data_set, self.repeat, self.fold, self.learner, self.response, self.coding, self.decoding)


@dataclass(frozen=True)
class RoundRecord:
    """One round of the growth of a WOLC code, a point of the convergence figures; round 0 has the initial columns."""

    data_set: str
    repeat: int
    fold: int
    learner: str
    response: str
    coding: str
    round: int
    n_columns: int
    objective: float  # what the weights minimise
    risk: float  # the part of it that is the paper's risk
    loss: float  # what growth is judged by
    train_accuracy: float
    test_accuracy: float
    gap: float  # relative gap of the certificate of the weights; NaN without one
    kept: bool  # whether the classifier keeps this round
    optimized: bool  # whether it does, and the weights are optimised ones


@dataclass(frozen=True)
class Batch:
    """Runs on one fold that share their trained columns, and are therefore done together.

    `variants` are the response and the decoding of each run. The columns of a fixed code serve all of them; those of a
    grown code, or of a decoding that is fitted out of fold, serve one only, so its batches have one variant each.
    """

    data_set: str
    repeat: int
    fold: int
    learner: str
    coding: str
    variants: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Identity of the batch, whichever of its variants are wanted."""
        own = () if shares_columns(self.coding, self.variants[0][1]) else self.variants[0]
        return "/".join((self.data_set, str(self.repeat), str(self.fold), self.learner, self.coding, *own))

    @property
    def keys(self) -> list[RunKey]:
        """The runs of the batch."""
        return [
            RunKey(self.data_set, self.repeat, self.fold, self.learner, response, self.coding, decoding)
            for response, decoding in self.variants
        ]


def shares_columns(coding: str, decoding: str) -> bool:
    """Tell whether the columns of a coding serve several decodings: those of codes fixed before training do.

    Decodings that give probabilities are fitted out of fold, and train columns of their own.
    """
    is_fixed = coding not in GROWN_CODINGS and coding != "sklearn"
    return is_fixed and not getattr(DECODERS.get(decoding), "scores_are_log_probabilities", False)


def batches_of(
    data_set: str,
    repeat: int,
    fold: int,
    learner: str,
    responses: Sequence[str],
    methods: Sequence[str],
) -> list[Batch]:
    """Group the runs of one learner on one fold: one batch per fixed coding, one per run for all others."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for method, response in product(methods, responses):
        coding, decoding = method.split("/")
        own = () if shares_columns(coding, decoding) else (decoding, response)
        groups.setdefault((coding, *own), []).append((response, decoding))
    return [Batch(data_set, repeat, fold, learner, group[0], tuple(variants)) for group, variants in groups.items()]


def split_rows(
    y: NDArray[Any], identity: str, repeat: int, n_folds: int, seed: int, groups: NDArray[Any] | None = None
) -> list[tuple[Rows, Rows]]:
    """Split the rows of a data set into training and test rows of folds, stratified by class, groups kept whole.

    A class with fewer rows than folds is absent from some test parts. Nothing but the arguments decides on the folds,
    so all methods see the same.
    """
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise InputError(f"folds: {n_folds} is more than the {len(np.unique(groups))} groups")
    splitter = kind(n_folds, shuffle=True, random_state=seed_of(seed, "folds", identity, repeat))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        try:
            parts = list(splitter.split(np.zeros(len(y)), y, groups))
        except ValueError as error:
            raise InputError(f"folds: {error}") from error
    if groups is not None and any(len(test) == 0 or len(np.unique(y[train])) < 2 for train, test in parts):
        raise InputError(f"folds: too few groups for {n_folds} folds with two classes in every training part")
    return parts


def seed_of(*identity: str | int) -> int:
    """Hash the identity of a run into a seed in [0, 2**32), so that it does not depend on when or where it is run."""
    digest = hashlib.blake2b(repr(identity).encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return int.from_bytes(digest, "big")


class Fold(NamedTuple):
    """Samples of one fold as numbers, and their class labels."""

    X_train: Floats
    y_train: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]
    weights: Floats | None = None  # of the training samples
    largest: Any = None  # the largest class of all samples


class Trial(NamedTuple):
    """A method that has been trained and tested."""

    classifier: Any
    predicted: NDArray[Any]
    fit_seconds: float
    predict_seconds: float


class KeptTrial(NamedTuple):
    """A trained classifier of a fold and its test part, for the importance of columns."""

    classifier: Any
    preprocessor: Any
    fold: Fold
    seed: int


class TestPart(NamedTuple):
    """What a method predicted for the test samples of a fold: class indices, and probabilities if it has any."""

    predicted: NDArray[np.intp]
    probabilities: Floats | None
    kept: KeptTrial | None


@dataclass(frozen=True)
class BatchOutcome:
    """Records of a batch, one per variant and in its order, and the time that the whole batch took."""

    batch: Batch
    runs: list[RunRecord]
    rounds: list[RoundRecord]
    warnings: list[tuple[RunKey, str]]  # each message once per run
    seconds: float
    scores: list[float] = field(default_factory=list)  # of the runs, by the metric
    test_parts: list[TestPart] = field(default_factory=list)  # of the runs, if they were to be kept


def run_batch(
    batch: Batch,
    data_set: DataSet,
    learner: BaseEstimator,
    n_folds: int,
    seed: int,
    metric: Metric = ACCURACY,
    class_weight: str | None = None,
    kept_folds: int | None = None,
) -> BatchOutcome:
    """Train and test all runs of a batch; an `InputError` names the method that does not suit the data.

    Everything random is seeded by the identity of the batch, and linear algebra has one thread, so the outcome depends
    neither on where nor on when the batch is run. With `kept_folds`, predictions and probabilities are kept, and the
    classifiers of this many folds. A code that shares its columns with no other is then trained alone, which
    calibrates its probabilities out of fold.
    """
    begin = time.perf_counter()
    classes = np.unique(data_set.y)
    run_seed = seed_of(seed, "run", data_set.seed_name, batch.repeat, batch.fold, coding_of(batch.keys[0].method))
    outcome = BatchOutcome(batch, [], [], [], 0.0)
    is_shared = (
        shares_columns(batch.coding, batch.variants[0][1])
        and class_weight is None
        and not metric.needs_probabilities
        and (kept_folds is None or len(batch.variants) > 1)
    )
    with thread_pools().limit(limits=1):
        with recorded_warnings() as early, named_errors(batch.keys[0]):
            fold, preprocessor = make_fold(data_set, batch.keys[0], learner, n_folds, seed, class_weight)
            shared = SharedColumns(batch, learner, run_seed, fold) if is_shared else None
        for key in batch.keys:
            with recorded_warnings() as late, named_errors(key):
                trial = shared.decode(key) if shared else try_alone(key, learner, run_seed, fold)
                predicted, probabilities = np.searchsorted(classes, trial.predicted), None
                if kept_folds is not None or metric.needs_probabilities or metric.name not in METRICS:
                    probabilities = class_probabilities(trial.classifier, fold.X_test, classes)
                truth = np.searchsorted(classes, fold.y_test)
                outcome.scores.append(metric.score(truth, predicted, probabilities, len(classes)))
                if kept_folds is None:
                    outcome.rounds.extend(round_records(key, trial.classifier, fold))
                else:
                    is_kept = batch.fold < kept_folds and key.method not in STRATEGIES and key.method != MAJORITY
                    kept = KeptTrial(trial.classifier, preprocessor, fold, run_seed) if is_kept else None
                    outcome.test_parts.append(TestPart(predicted, probabilities, kept))
            outcome.runs.append(run_record(key, trial, fold))
            outcome.warnings.extend((key, message) for message in distinct_messages([*early, *late]))
    return replace(outcome, seconds=time.perf_counter() - begin)


def run_classifier(key: RunKey, classifier: Any, fold: Fold, classes: NDArray[Any] | None = None) -> BatchOutcome:
    """Train and test a classifier that is not among the methods; errors, warnings and records are as of `run_batch`.

    With `classes`, those of all samples, predictions and probabilities are kept.
    """
    begin = time.perf_counter()
    test_parts = []
    with thread_pools().limit(limits=1), recorded_warnings() as caught, named_errors(key):
        trial = try_classifier(classifier, fold)
        rounds = list(round_records(key, classifier, fold))
        if classes is not None:
            probabilities = class_probabilities(classifier, fold.X_test, classes)
            test_parts.append(TestPart(np.searchsorted(classes, trial.predicted), probabilities, None))
    batch = Batch(key.data_set, key.repeat, key.fold, key.learner, key.coding, ((key.response, key.decoding),))
    messages = [(key, message) for message in distinct_messages(caught)]
    seconds = time.perf_counter() - begin
    return BatchOutcome(batch, [run_record(key, trial, fold)], rounds, messages, seconds, test_parts=test_parts)


def make_fold(
    data_set: DataSet, key: RunKey, learner: BaseEstimator, n_folds: int, seed: int, class_weight: str | None = None
) -> tuple[Fold, Any]:
    """Prepare the samples of a fold for a method; return the preprocessor, too.

    Missing values stay where the method's classifier takes them.
    """
    parts = split_rows(data_set.y, data_set.seed_name, key.repeat, n_folds, seed, data_set.groups)
    train, test = parts[key.fold]
    keep_missing = takes_missing(make_classifier(key.method, learner, 0, key.response))
    X_train, X_test, preprocessor = data_set.prepared(train, test, keep_missing=keep_missing)
    y = data_set.y[train]
    is_weighted = class_weight is not None and key.method != MAJORITY  # the baseline ignores class weights
    weights = compute_sample_weight(class_weight, y) if is_weighted else None
    labels, counts = np.unique(data_set.y, return_counts=True)
    return Fold(X_train, y, X_test, data_set.y[test], weights, labels[counts.argmax()]), preprocessor


def takes_missing(classifier: Any) -> bool:
    """Tell whether a classifier takes NaN: so do all steps of a pipeline up to one that fills gaps."""
    for step in _steps(classifier):
        # Linear models among the learners of "mixed" gain from features that say where gaps are.
        if isinstance(getattr(step, "estimator", None), str) or not get_tags(step).input_tags.allow_nan:
            return False
        if type(step).__module__.startswith("sklearn.impute"):
            return True
    return True


def _steps(estimator: Any) -> Iterator[Any]:
    """Yield the steps of pipelines, however nested, one after the other."""
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            yield from _steps(step)
    elif estimator is not None and not isinstance(estimator, str):  # "passthrough" does nothing
        yield estimator


def fit_weighted(classifier: Any, X: Any, y: NDArray[Any], weights: Floats | None) -> Any:
    """Fit a classifier, with weights of the samples if there are any; those of a pipeline go to its last step."""
    if weights is None:
        return classifier.fit(X, y)
    names, last = ["sample_weight"], classifier
    while isinstance(last, Pipeline):
        step, last = last.steps[-1]
        names.insert(-1, step)
    if not has_fit_parameter(last, "sample_weight"):
        raise InputError(f"sample_weight: {type(last).__name__} takes no weights")
    return classifier.fit(X, y, **{"__".join(names): weights})


def class_probabilities(classifier: Any, X: Any, classes: NDArray[Any]) -> Floats | None:
    """Predict probabilities of all classes, 0 for those that training has not seen; None if there are none."""
    if not hasattr(classifier, "predict_proba"):
        return None
    found = np.asarray(classifier.predict_proba(X), dtype=np.float64)
    if len(classifier.classes_) == len(classes):
        return found
    probabilities = np.zeros((len(found), len(classes)))
    probabilities[:, np.searchsorted(classes, classifier.classes_)] = found
    return probabilities


def try_alone(key: RunKey, learner: BaseEstimator, seed: int, fold: Fold) -> Trial:
    """Train and test a method whose columns serve no other."""
    trial = try_classifier(make_classifier(key.method, learner, seed, key.response), fold)
    if key.method == MAJORITY and fold.largest is not None:
        # Of equally large classes, a training part has most of the one that its test part has least of.
        trial = trial._replace(predicted=np.full(len(fold.y_test), fold.largest))
    return trial


def try_classifier(classifier: Any, fold: Fold) -> Trial:
    """Train and test a classifier."""
    begin = time.perf_counter()
    fit_weighted(classifier, fold.X_train, fold.y_train, fold.weights)
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

    Each run has the predictions of an `ECOCClassifier` of its own, as the seeds of columns do not depend on the
    decoding; its probabilities are not calibrated.
    """

    def __init__(self, batch: Batch, learner: BaseEstimator, seed: int, fold: Fold) -> None:
        responses = list(dict.fromkeys(response for response, _ in batch.variants))
        begin = time.perf_counter()
        # Hamming decoding learns nothing, so that this is little more than training the columns.
        self.trained: ECOCClassifier = make_classifier(f"{batch.coding}/hamming", learner, seed, responses[0])
        self.trained.set_params(n_folds=None).fit(fold.X_train, fold.y_train)
        self.train_seconds = time.perf_counter() - begin
        self.y = np.searchsorted(self.trained.classes_, fold.y_train)
        learners = self.trained.estimators_
        self.codewords: dict[str, _Codewords] = {}
        for response in responses:
            method = resolve_response(first_learner(learners), RESPONSES[response])
            begin = time.perf_counter()
            train = evaluate_columns(learners, fold.X_train, method)
            scale = margin_scale(method, train)  # the largest margin of the training part
            train /= scale
            evaluated = time.perf_counter()
            test = evaluate_columns(learners, fold.X_test, method) / scale
            seconds = evaluated - begin, time.perf_counter() - evaluated
            self.codewords[response] = _Codewords(scale, train, test, *seconds)

    def decode(self, key: RunKey) -> Trial:
        """Fit the decoder of a run and predict the test samples."""
        codewords = self.codewords[key.response]
        begin = time.perf_counter()
        classifier = self.trained._with_decoding(
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
    if not is_wolc(key.coding):
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
            gap=grown.gap,
            kept=number == classifier.best_round_,
            optimized=number == classifier.best_round_ and classifier.weights_optimized_,
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
