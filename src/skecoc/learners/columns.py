"""Train and evaluate the columns of a code: the one contract that all kinds of learners implement.

A `Trainer` has the samples of a fit. ``fit(columns, without_fold)`` trains columns on all samples or without those of a
fold, and ``outputs(columns, samples)`` evaluates them on the samples that their learners have seen or on held-out ones.
`ColumnTrainer`, below, trains a binary learner for each column, also by regions. Multiclass learners
(`skecoc.learners.multiclass`), several learners (`skecoc.learners.mixed`) and boosted stumps on samples in blocks
(`skecoc.learners.summed`) have trainers of their own.

The learner of a column is any scikit-learn classifier. It is trained on the samples whose classes take part in the
column, with label 1 on the column's +1 side and 0 on its -1 side. A side that is empty, or whose samples weigh next to
nothing (`skecoc.support.weights.only_side`), needs no learner: the other one is predicted.

**Sharing work between columns.** A learner that can reuse work on ``X`` for every column of one fit defines two
methods, and is then trained through them instead of `fit`:

``_prepare_rows(X, y=None)``
    Check ``X`` (and, where a learner uses them, the class indices ``y`` of the whole problem) once and return whatever
    can be shared. It must not change the learner.
``_fit_rows(prepared, rows, y, sample_weight=None)``
    Train on ``X[rows]`` (all samples if ``rows`` is None), exactly as ``fit(X[rows], y, sample_weight)`` would. Columns
    are trained in threads, so it must only read ``prepared``.

It may also define the static method ``_outputs_together(learners, X, response)``, which evaluates several trained
learners of its class in one pass over ``X``, or the method ``_outputs(X, response)``, which evaluates this learner.

**Training again on fewer samples.** A learner that searches for parameters may define ``_without_search()``, which
returns an unfitted clone of a trained one with the parameters it has found. The learners of folds then search no more.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_adapter_from_container
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, has_fit_parameter, validate_data

from skecoc.data.bins import MANY_TO_BIN
from skecoc.data.folds import sample_keys
from skecoc.support.errors import advising
from skecoc.support.processes import results_here
from skecoc.support.weights import only_side

Response = Literal["predict_proba", "decision_function", "predict"]
Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Pattern = NDArray[np.int8]

#: What ``response_method="auto"`` tries, in this order.
RESPONSES: tuple[Response, ...] = ("predict_proba", "decision_function", "predict")

#: In place of the number of a fold: no samples are left out.
ALL_SAMPLES = -1

#: Which samples columns are evaluated on.
Samples = Literal["seen", "held-out"]
SEEN: Samples = "seen"
HELD_OUT: Samples = "held-out"

#: What to do if a learner cannot be evaluated on samples that it has not seen.
UNSEEN = (
    "Learners are evaluated on samples that are held out from their training, which may have values that they have not "
    'seen: make learners that take such values, for example with OneHotEncoder(handle_unknown="ignore"), or set '
    "n_folds=None in classifiers that have this parameter"
)

#: What to do if a learner takes no missing values.
MISSING = (
    "make a pipeline of sklearn.impute.SimpleImputer and the learner, as in make_pipeline(SimpleImputer(), learner)"
)

#: Called after every learner that is fitted.
OnFit = Callable[[], Any]


class Column(NamedTuple):
    """A column to be trained.

    `groups` divides the classes for a multiclass learner, whose one fit then serves all columns with these groups; None
    keeps all classes apart.
    """

    pattern: Pattern  # side of each class
    n_regions: int = 0  # of a clustering-based learner; 0: a simple column
    learner: str = ""  # which one, if there are several
    seed: int = 0
    groups: Pattern | None = None  # group of each class, negative for classes that do not take part

    @property
    def clustered(self) -> bool:
        """Whether the learner is clustering-based."""
        return self.n_regions > 0

    @property
    def key(self) -> tuple[bytes, int, int]:
        """What the trained column is known by."""
        return self.pattern.tobytes(), self.n_regions, self.seed


class ColumnSeeds:
    """Gives every column a seed, from the root, the column's pattern up to sign, and how often that occurred before.

    So a result does not depend on the order of training, and a repeated column is trained afresh.

    >>> first, second, third = ColumnSeeds(0).seeded([Column(np.array(sides)) for sides in ([1, -1], [1, 0], [-1, 1])])
    >>> first.seed == third.seed, first.seed == ColumnSeeds(0).seeded([third])[0].seed
    (False, True)
    """

    def __init__(self, root: int) -> None:
        self.root = root
        self._seen: Counter[tuple[str, bytes]] = Counter()  # patterns of each learner so far

    def seeded(self, columns: Sequence[Column], *, tried: bool = False) -> list[Column]:
        """Return columns with their next seeds; columns that are only `tried` do not count as occurrences."""
        seen = self._seen.copy() if tried else self._seen
        seeded = []
        for column in columns:
            sign = column.pattern[np.flatnonzero(column.pattern)[0]]
            pattern = (column.pattern * sign).astype(np.int8).tobytes()
            n_before = seen[column.learner, pattern]
            digest = blake2b(f"{self.root}/{n_before}/".encode() + pattern, digest_size=4).digest()
            seed = int.from_bytes(digest, "big") >> 1  # 31 bits: some learners take no larger seed
            seeded.append(column._replace(seed=seed))
            seen[column.learner, pattern] += 1
        return seeded


@dataclass
class TrainedBefore:
    """Learners and outputs of columns that a trainer keeps from one fit to the next, on the same samples."""

    learners: dict[int, dict[Any, Any]] = field(default_factory=dict)  # by the fold that is left out
    outputs: dict[Any, Any] = field(default_factory=dict)
    members: dict[str, "TrainedBefore"] = field(default_factory=dict)  # of several learners, by their names


@dataclass
class Trainer(ABC):
    """Trains and evaluates the columns of a code on one set of samples: the contract for all kinds of learners.

    `fit` returns a trained learner for each column, `outputs` the outputs of columns for samples. A fit may serve one
    column or many. What has been trained is not trained again.
    """

    learner: Any  # cloned, never changed
    X: Any
    y: Integers  # class indices: rows of the patterns
    root: int  # seed of the whole fit
    response: Response | None = None  # how learners are evaluated; None: as the first trained one can be
    response_method: str = "auto"  # what `response` is chosen by
    fit_params: Mapping[str, Any] = field(default_factory=dict)  # cut to a fit's samples where they are per sample
    folds: Integers | None = None  # the fold that holds out each sample, negative for none; None: no folds
    n_jobs: int | None = None
    verbose: int = 0
    on_fit: OnFit = field(default=lambda: None)
    before: TrainedBefore | None = None  # an earlier fit to the same samples, which is added to

    learner_names: ClassVar[tuple[str, ...]] = ()  # of several learners; a single one is called ""

    def __post_init__(self) -> None:
        # By the fold that is left out, then by column: columns that are tried out come again.
        self._trained: dict[int, dict[Any, Any]] = self.before.learners if self.before else {}
        self._seen_X = self.X  # the samples as learners see them
        # The samples of each fold; classes of a few samples may leave a fold empty.
        numbers = [] if self.folds is None else np.unique(self.folds[self.folds >= 0]).tolist()
        self._rows_of_folds: dict[int, Integers] = {fold: np.flatnonzero(self.folds == fold) for fold in numbers}
        self._held_out: dict[int, Any] = {}

    @property
    def clusterable(self) -> frozenset[str]:
        """The names of the learners that can be trained by regions."""
        return frozenset()

    @abstractmethod
    def fit(self, columns: Sequence[Column], without_fold: int = ALL_SAMPLES) -> list[BaseEstimator]:
        """Train columns on all samples, or without those of a fold, and return their learners."""

    @abstractmethod
    def _outputs(self, columns: Sequence[Column], fold: int) -> Floats:
        """Evaluate columns on the samples of a fold that they have not seen, or on all samples, which they have."""

    def outputs(self, columns: Sequence[Column], samples: Samples = SEEN, *, tried: bool = False) -> Any:
        """Evaluate columns.

        On `SEEN` samples, all of them, by learners trained on all; on `HELD_OUT` samples, those that have a fold, by
        learners trained without this fold. These are kept only if the columns are `tried`, and may come again.
        """
        key = () if self.before is None else (samples, *(column.key for column in columns))
        if self.before is not None and key in self.before.outputs:
            return self.before.outputs[key]
        if samples == SEEN or self.folds is None:
            outputs = self._outputs(columns, ALL_SAMPLES)
        else:
            outputs = np.empty((len(self.y), len(columns)))
            for fold, rows in self._rows_of_folds.items():
                outputs[rows] = self._outputs(columns, fold)
                if not tried and self.before is None:
                    self._trained.pop(fold, None)  # there are many
            outputs = outputs[self.folds >= 0]
        if self.before is not None:
            self.before.outputs[key] = outputs
        return outputs

    def _samples(self, fold: int) -> Any:
        """Return all samples, or those of a fold, cut out once for all learners that have not seen them."""
        if fold == ALL_SAMPLES:
            return self._seen_X
        if fold not in self._held_out:
            self._held_out[fold] = _safe_indexing(self._seen_X, self._rows_of_folds[fold])
        return self._held_out[fold]

    def respond(self, learners: Sequence[BaseEstimator], which: str = "") -> Response:
        """Return how learners are evaluated; a trained one decides: some have their methods only then.

        `which` is how error messages begin.
        """
        if self.response is None:
            trained = first_learner(learners)
            decides = self.learner if isinstance(trained, ConstantClassifier) else trained
            try:
                self.response = resolve_response(decides, self.response_method)
            except ValueError as error:
                raise ValueError(f"{which}{error}") from error
        return self.response

    def relabelled(self, y: Integers) -> Self:
        """Return a trainer of the same samples, as they are prepared, with other class indices."""
        trainer = copy(self)
        trainer.y, trainer.before, trainer._trained = y, None, {}
        return trainer


@dataclass
class ColumnTrainer(Trainer):
    """Fits a binary learner for each column, sharing work between all columns of a fit."""

    clustered_learner: BaseEstimator | None = None  # of clustering-based columns, if there may be any

    _bins: ClassVar[bool] = True  # features with many values, if there are many samples

    def __post_init__(self) -> None:
        super().__post_init__()
        self._clones = SeededClones(self.learner)
        self._region_learner: Any = None if self.clustered_learner is None else clone(self.clustered_learner)
        self._prepared: dict[bool, Any] = {}  # samples, for simple and for clustering-based columns
        self._start = None  # weights of the samples that clusterings start from
        self._by_class: dict[int, list[Integers]] = {}  # samples of each class without those of a fold
        if self._bins and hasattr(self.learner, "_bin_rows") and len(self.y) > MANY_TO_BIN and not issparse(self.X):
            weight = self.fit_params.get("sample_weight")
            weight = None if weight is None else np.asarray(weight, dtype=np.float64)
            keys = sample_keys(self.X, self.root)
            self._prepared[False], binned = self.learner._bin_rows(self.X, self.y, weight, keys)
            # Features that stand for categories are no columns of X.
            if self.clustered_learner is not None and len(binned.codes) == self.X.shape[1]:
                self._seen_X, self._start = binned.middles(), binned.mass
                adapter = _get_adapter_from_container(self.X) if hasattr(self.X, "columns") else None
                if adapter is not None:  # learners warn of features without their names
                    self._seen_X = adapter.create_container(self._seen_X, self.X, columns=lambda: self.X.columns)

    def fit(self, columns: Sequence[Column], without_fold: int = ALL_SAMPLES) -> list[BaseEstimator]:
        """Train columns on all samples, or without those of a fold, and return their learners."""
        if without_fold != ALL_SAMPLES and hasattr(self.learner, "_without_search"):
            self.fit(columns)  # folds take over what a search on all samples finds
        # After the first, parameters and samples are known to be valid.
        known = without_fold != ALL_SAMPLES or any(self._trained.values())
        trained = self._trained.setdefault(without_fold, {})
        missing = [column for column in columns if column.key not in trained]
        shared = shares_rows(self.learner) and self.fit_params.keys() <= {"sample_weight"}
        prefer = "threads" if shared or all(column.clustered for column in columns) else None
        tasks = self._tasks(missing, without_fold, shared)
        with (
            config_context(skip_parameter_validation=known, assume_finite=known),
            advising(MISSING, about="contains NaN"),
        ):
            learners = run_tasks(_fit_one, tasks, len(missing), self.n_jobs, prefer, self.verbose)
            for column, learner in zip(missing, learners, strict=True):
                trained[column.key] = learner
                self.on_fit()
        return [trained[column.key] for column in columns]

    @property
    def clusterable(self) -> frozenset[str]:
        """The name of the learner, if it can be trained by regions."""
        return frozenset(() if self.clustered_learner is None else {""})

    def _tasks(self, columns: Sequence[Column], fold: int, shared: bool) -> Iterator[tuple[Any, ...]]:
        """Yield the arguments of `_fit_one` for columns."""
        if columns and fold not in self._by_class:
            taken = np.arange(len(self.y))
            if fold != ALL_SAMPLES and self.folds is not None:
                taken = np.flatnonzero(self.folds != fold)
            order = taken[np.argsort(self.y[taken], kind="stable")]
            starts = np.searchsorted(self.y[order], np.arange(1, len(columns[0].pattern)))
            self._by_class[fold] = np.split(order, starts)
        for column in columns:
            by_class, rows, y = self._by_class[fold], None, self.y
            if fold != ALL_SAMPLES or not column.pattern.all():
                rows = np.sort(np.concatenate([by_class[number] for number in np.flatnonzero(column.pattern)]))
                y = self.y[rows]
            labels = (column.pattern[y] > 0).astype(np.intp)
            prepared = self._prepare(column.clustered) if shared or column.clustered else None
            X = self.X if prepared is None or self.fit_params else None  # a cluster need not send what is not used
            whole: Any = None if fold == ALL_SAMPLES else self._trained.get(ALL_SAMPLES, {}).get(column.key)
            if hasattr(whole, "_without_search"):
                learner = whole._without_search()
            else:
                learner = self._clone(column.clustered, column.seed)
                if column.clustered:
                    learner.n_regions = column.n_regions
            yield learner, X, prepared, rows, labels, dict(self.fit_params)

    def _clone(self, clustered: bool, seed: int) -> Any:
        if not clustered:
            return self._clones.make(seed)
        # A shallow copy will do, and is much faster: region learners change no parameter, and seed what is inside.
        learner = copy(self._region_learner)
        learner.random_state = seed
        return learner

    def _prepare(self, clustered: bool) -> Any:
        """Prepare the samples for a kind of learner, once."""
        if clustered not in self._prepared:
            shared = {}
            if clustered and self._start is not None:
                shared = {"inner": self._prepared[False], "start": self._start}
            elif clustered and type(self.X) is np.ndarray and self.X.dtype == np.float64:
                # Region learners see a plain array of float64, which simple columns have prepared already.
                shared = {"inner": self._prepared.get(False)}
            # Seeded: a learner may choose parameters for all columns here.
            learner = self._clone(clustered, self.root)
            self._prepared[clustered] = learner._prepare_rows(self._seen_X, self.y, **shared)
        return self._prepared[clustered]

    def _outputs(self, columns: Sequence[Column], fold: int) -> Floats:
        learners = self.fit(columns, fold)
        response = self.respond(learners)
        with nullcontext() if fold == ALL_SAMPLES else advising(UNSEEN), config_context(assume_finite=True):
            return evaluate_columns(learners, self._samples(fold), response, n_jobs=self.n_jobs)

    def relabelled(self, y: Integers) -> Self:
        """Return a trainer of the same samples, as they are prepared, with other class indices."""
        trainer = super().relabelled(y)
        trainer._by_class = {}
        return trainer


def run_tasks(
    function: Callable[..., Any],
    tasks: Iterator[tuple[Any, ...]],
    n_tasks: int,
    n_jobs: int | None,
    prefer: str | None = None,
    verbose: int = 0,
) -> Iterator[Any]:
    """Call a function with the arguments of tasks; without joblib while starting it would take longer than they do."""
    if not verbose:
        if effective_n_jobs(n_jobs) == 1:
            for task in tasks:
                yield function(*task)
            return
        for result in results_here(function, tasks, n_tasks, n_jobs, prefer):
            n_tasks -= 1
            yield result
    if n_tasks > 0:
        parallel = Parallel(n_jobs=n_jobs, prefer=prefer, verbose=verbose)
        yield from parallel(delayed(function)(*task) for task in tasks)


def _fit_one(
    learner: BaseEstimator, X: Any, prepared: Any, rows: Integers | None, labels: Integers, params: dict[str, Any]
) -> BaseEstimator:
    """Train a learner on some samples (None: all): on prepared ones if there are any, else by its own `fit`."""
    if labels.all() or not labels.any():
        return ConstantClassifier(int(labels.any()))
    if params and rows is not None:
        params = _check_method_params(X, params, indices=rows)
    if params.get("sample_weight") is not None:
        weight = np.asarray(params["sample_weight"], dtype=np.float64)
        side = only_side(np.bincount(labels), np.bincount(labels, weight))
        if side is not None:
            return ConstantClassifier(side)
    if prepared is not None:
        return learner._fit_rows(prepared, rows, labels, **params)
    weights = weight_params(learner, params.pop("sample_weight", None))
    return learner.fit(X if rows is None else _safe_indexing(X, rows), labels, **params, **weights)


def evaluate_columns(
    learners: Sequence[BaseEstimator], X: Any, response: Response, *, n_jobs: int | None = None
) -> Floats:
    """Evaluate every learner on every sample, as an array of shape (n_samples, n_columns).

    Probabilities p become 2p - 1, margins stay as they are, labels become -1 and 1; positive means the +1 side.
    """
    kinds: dict[type, list[int]] = {}
    for q, learner in enumerate(learners):
        kinds.setdefault(type(learner), []).append(q)
    outputs = np.empty((_num_samples(X), len(learners)))
    alone = []
    for kind, members in kinds.items():
        together = _evaluating_together(kind, response)
        if together is None:
            alone += members
        elif len(kinds) == 1:
            return np.asarray(together(list(learners), X), dtype=np.float64)
        else:
            outputs[:, members] = together([learners[q] for q in members], X)
    tasks = ((learners[q], X, response) for q in alone)
    each = run_tasks(_evaluate_column, tasks, len(alone), n_jobs, "threads")
    for q, output in zip(alone, each, strict=True):
        outputs[:, q] = output
    return outputs


def _evaluating_together(kind: type, response: Response) -> Callable[[list[BaseEstimator], Any], Floats] | None:
    """Find a way to evaluate all learners of a class in one pass over X, if there is one."""
    if hasattr(kind, "_outputs_together"):
        return partial(kind._outputs_together, response=response)
    if response == "predict_proba" and kind is LogisticRegression:
        return _logistic_outputs
    inherited = getattr(kind, "decision_function", None) is LinearClassifierMixin.decision_function
    return _linear_margins if response == "decision_function" and inherited else None


def _logistic_outputs(learners: list[BaseEstimator], X: Any) -> Floats:
    """Evaluate all logistic regressions by one matrix product; multinomial ones of older versions one by one."""
    if any(getattr(learner, "multi_class", None) == "multinomial" for learner in learners):
        return np.column_stack([_evaluate_column(learner, X, "predict_proba") for learner in learners])
    return np.tanh(_linear_margins(learners, X) / 2.0)


def _linear_margins(learners: list[BaseEstimator], X: Any) -> Floats:
    rows = validate_data(learners[0], X, accept_sparse="csr", reset=False)
    coefficients = np.vstack([np.reshape(learner.coef_, (1, -1)) for learner in learners])
    intercepts = [np.ravel(learner.intercept_)[0] for learner in learners]
    margins = safe_sparse_dot(rows, coefficients.T, dense_output=True)
    margins += intercepts
    return margins


def _evaluate_column(learner: BaseEstimator, X: Any, response: Response) -> Floats:
    if hasattr(learner, "_outputs"):
        return learner._outputs(X, response)
    output = np.asarray(getattr(learner, response)(X))
    output = output[:, 1] if response == "predict_proba" else np.ravel(output)
    if np.isnan(output).any():
        raise ValueError(f"{response} of {type(learner).__name__} returned NaN for {np.isnan(output).sum()} samples")
    return output if response == "decision_function" else 2.0 * output - 1.0


def margin_scale(response: Response, outputs: Floats) -> float:
    """Return the divisor of the outputs of a fit: for margins the paper's max |u|, else 1.

    >>> margin_scale("decision_function", np.array([[0.5, -4.0]])), margin_scale("predict", np.array([[1.0, -1.0]]))
    (4.0, 1.0)
    """
    return float(np.abs(outputs).max()) or 1.0 if response == "decision_function" else 1.0


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """The learner of a column with samples on one side only: it always predicts this side, 0 or 1; 0.5 is neither."""

    def __init__(self, side: float) -> None:
        self.side = side

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: the side is known."""
        return self

    def predict(self, X: Any) -> Integers:
        """Predict the side, for each sample of ``X``."""
        return np.full(_num_samples(X), self.side)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the side with probability one, for each sample of ``X``."""
        return np.tile([1.0 - self.side, float(self.side)], (_num_samples(X), 1))

    def decision_function(self, X: Any) -> Floats:
        """Predict the side with a margin of one, for each sample of ``X``."""
        return np.full(_num_samples(X), 2.0 * self.side - 1.0)


class LearnerColumn(ClassifierMixin, BaseEstimator):
    """A column of a trained learner that is not evaluated by the learner's own methods.

    A subclass defines `_outputs_together`, with numbers between -1 and 1.
    """

    def predict_proba(self, X: Any) -> Floats:
        """Return two numbers per sample that sum to 1, for the -1 side first: probabilities if the learner has such."""
        positive = 0.5 * (1.0 + self._outputs_together([self], X, "predict_proba")[:, 0])
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> Integers:
        """Predict the side of each sample: 1 or 0."""
        return (self._outputs_together([self], X, "predict")[:, 0] > 0).astype(np.intp)


def first_learner(learners: Sequence[BaseEstimator]) -> BaseEstimator:
    """Return the first trained learner that is not constant, if there is one."""
    for learner in learners:
        if not isinstance(learner, ConstantClassifier):
            return learner
    return learners[0]


def resolve_response(estimator: BaseEstimator, response_method: str) -> Response:
    """Choose the method that evaluates a learner; "auto" takes the first of `RESPONSES` that the learner has.

    >>> from sklearn.svm import LinearSVC
    >>> resolve_response(LinearSVC(), "auto")
    'decision_function'
    """
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    for method in RESPONSES:
        if method in wanted and hasattr(estimator, method):
            return method
    raise ValueError(
        f"response_method={response_method!r} needs a learner with the method "
        f"{' or '.join(repr(name) for name in wanted)}, which {type(estimator).__name__} does not have"
    )


class SeededClones:
    """Makes any number of clones of a learner, with seeds as in `seeded_clone`."""

    def __init__(self, estimator: BaseEstimator) -> None:
        self._unfitted = clone(estimator)
        self._unset = sorted(
            name
            for name, value in estimator.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        )
        # Copying an unfitted clone is faster than cloning again; a shallow copy will do if all parameters are numbers.
        is_flat = all(isinstance(value, int | float | str | None) for value in vars(self._unfitted).values())
        self._copy = copy if is_flat else deepcopy

    def make(self, seed: int) -> BaseEstimator:
        """Return a clone with a seed for each ``random_state`` that is None."""
        learner = self._copy(self._unfitted)
        if self._unset == ["random_state"]:
            learner.random_state = seed  # what `set_params` would do, which takes longer
        elif self._unset:
            learner.set_params(**dict.fromkeys(self._unset, seed))
        return learner


def seeded_clone(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Clone a learner and give a seed to each ``random_state``, nested ones too, that is None."""
    return SeededClones(estimator).make(seed)


def shares_rows(estimator: BaseEstimator) -> bool:
    """Tell whether a learner can share work on X between the columns of one fit."""
    return hasattr(estimator, "_prepare_rows") and hasattr(estimator, "_fit_rows")


def weight_params(estimator: BaseEstimator, sample_weight: Any) -> dict[str, Any]:
    """Return the arguments that pass sample weights to the `fit` of a learner.

    Of a pipeline, weights go to every step that takes them; with metadata routing enabled it routes them itself.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> list(weight_params(make_pipeline(StandardScaler(), SVC()), [1, 2]))
    ['standardscaler__sample_weight', 'svc__sample_weight']
    """
    if sample_weight is None:
        return {}
    if not isinstance(estimator, Pipeline) or _routing_enabled():
        return {"sample_weight": sample_weight}
    return {
        f"{name}__{param}": value
        for name, step in estimator.steps
        if takes_weights(step)
        for param, value in weight_params(step, sample_weight).items()
    }


def takes_weights(estimator: Any) -> bool:
    """Tell whether a learner, or the last step of a pipeline, takes sample weights."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    inner = getattr(estimator, "_weighted_learner", None)
    return takes_weights(inner) if inner is not None else bool(has_fit_parameter(estimator, "sample_weight"))
