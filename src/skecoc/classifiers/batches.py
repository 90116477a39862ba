"""Learning from batches of samples: `partial_fit`, for codes that do not depend on data.

Every batch updates the learner of each column with the samples whose classes take part in the column. The batch is
evaluated before it is learnt, so these outputs are out of sample. The most recent outputs are kept, and the decoding is
fitted to them.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples

from skecoc.classifiers.base import AUTO, LARGEST_SEED, BaseCodeClassifier, check_samples, keep_samples, own_order
from skecoc.classifiers.costs import class_indices
from skecoc.classifiers.growth import Calibration
from skecoc.coding import CODINGS, resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import DECODERS, LogisticWeightDecoder, OptimizedWeightDecoder, resolve_decoder
from skecoc.learners.columns import (
    Column,
    ColumnSeeds,
    ConstantClassifier,
    Floats,
    Integers,
    Response,
    SeededClones,
    evaluate_columns,
    margin_scale,
    resolve_response,
)
from skecoc.learners.mixed import is_several
from skecoc.support.errors import all_or_nothing, is_named
from skecoc.support.weights import class_factors, multiplied

# Codings that depend on data.
_FROM_DATA = ("decoc", "forest")
# Decoders whose weights are fitted to all codewords.
_FROM_ALL_CODEWORDS = (OptimizedWeightDecoder, LogisticWeightDecoder)
# Number of samples whose outputs are kept, at most; and of each class, at least, if there are many.
_MOST_KEPT, _LEAST_KEPT = 1_000, 10
# The decoding is fitted again once at least this share of them is new.
_SHARE_OF_NEW = 0.05
# Prediction of a column whose learner has not seen a sample: neither side.
_NEITHER = 0.5


def has_partial_fit(classifier: Any) -> bool:
    """Tell whether the learner has `partial_fit`; raise an AttributeError that says why if not."""
    if is_several(classifier.estimator):
        raise AttributeError("partial_fit needs a single learner, got several in estimator")
    learner = classifier._learner()
    if not hasattr(learner, "partial_fit"):
        raise AttributeError(f"partial_fit needs a learner with this method, which {type(learner).__name__} lacks")
    return True


@dataclass
class Batches:
    """The state of a classifier that learns from batches."""

    learners: list[BaseEstimator]  # one per column, also those that have seen one side or none
    has_seen: NDArray[np.bool_]  # (n_columns, 2): whether each learner has seen a sample of the -1 and of the +1 side
    totals: Floats  # weight of the samples of each class
    # Samples that are kept, in the order in which they came: outputs, classes and weights.
    outputs: Floats
    y: Integers
    weight: Floats
    is_seen: NDArray[np.bool_]  # whether the sample had been learnt when it was evaluated
    n_new: int = 0  # samples that have come since the decoding was fitted
    is_decoder_kept: bool = False  # whether the decoding stays as `fit` has left it

    @classmethod
    def before(cls, learners: list[BaseEstimator], n_classes: int) -> "Batches":
        """Return the state before the first batch."""
        n_columns = len(learners)
        empty = np.empty((0, n_columns)), np.empty(0, np.intp), np.empty(0), np.empty(0, bool)
        return cls(learners, np.zeros((n_columns, 2), bool), np.zeros(n_classes), *empty)

    def copied(self) -> "Batches":
        """Return a copy that can learn a batch while this one stays as it is."""
        return replace(self, learners=[*self.learners], has_seen=self.has_seen.copy(), totals=self.totals.copy())

    def learn(self, X: Any, y: Integers, matrix: CodeMatrix, params: dict[str, Any], **parallel: Any) -> None:
        """Update a copy of the learner of each column by the samples whose classes take part in it."""
        taken = [np.flatnonzero(column[y]) for column in matrix.T]
        present = [q for q, rows in enumerate(taken) if len(rows)]
        tasks = (
            delayed(_learn_batch)(self.learners[q], X, taken[q], (matrix[y[taken[q]], q] > 0).astype(np.intp), params)
            for q in present
        )
        for q, learner in zip(present, Parallel(**parallel)(tasks), strict=True):
            self.learners[q] = learner
            sides = matrix[y[taken[q]], q]
            self.has_seen[q] |= [(sides < 0).any(), (sides > 0).any()]

    def estimators(self) -> list[BaseEstimator]:
        """Return what predicts each column: its learner, or the only side that there has been so far."""
        return [
            learner if seen.all() else ConstantClassifier(int(seen[1]) if seen.any() else _NEITHER)
            for learner, seen in zip(self.learners, self.has_seen, strict=True)
        ]

    def latest(self, y: Integers, chosen: NDArray[np.bool_]) -> Integers:
        """List the last of the chosen samples of each class, as many as are kept."""
        return self._last_of_classes(np.where(chosen, y, -1))

    def keep(self, outputs: Floats, y: Integers, weight: Floats, *, is_seen: bool) -> None:
        """Keep outputs of samples, and drop older ones; first those of samples that had been learnt before."""
        if not is_seen:
            counts = np.bincount(y, minlength=len(self.totals))
            replaced = np.zeros(len(self.y), bool)
            for number in np.flatnonzero(counts):
                replaced[np.flatnonzero(self.is_seen & (self.y == number))[: counts[number]]] = True
            self._select(~replaced)
        self.outputs, self.y = np.vstack([self.outputs, outputs]), np.append(self.y, y)
        self.weight, self.is_seen = np.append(self.weight, weight), np.append(self.is_seen, np.full(len(y), is_seen))
        self._select(self._last_of_classes(self.y))
        self.n_new += len(y)

    def _last_of_classes(self, y: Integers) -> Integers:
        """List the last samples of each class, as many as are kept, in their order; not those of negative classes."""
        most = max(_LEAST_KEPT, _MOST_KEPT // len(self.totals))
        by_class = [np.flatnonzero(y == number)[-most:] for number in np.unique(y[y >= 0])]
        return np.sort(np.concatenate(by_class)) if by_class else np.empty(0, np.intp)

    def _select(self, rows: NDArray[Any]) -> None:
        self.outputs, self.y = self.outputs[rows], self.y[rows]
        self.weight, self.is_seen = self.weight[rows], self.is_seen[rows]


def _learn_batch(
    learner: BaseEstimator, X: Any, rows: Integers, labels: Integers, params: dict[str, Any]
) -> BaseEstimator:
    """Train a copy of a learner on some samples of a batch, so that the learner is unchanged if that fails."""
    if len(rows) < _num_samples(X):
        X, params = _safe_indexing(X, rows), _check_method_params(X, params, indices=rows)
    return deepcopy(learner).partial_fit(X, labels, classes=np.array([0, 1]), **params)


def check_classes(classifier: Any, classes: Any) -> NDArray[Any]:
    """Return the sorted classes of a first call, or check that those of a later one are the same."""
    known = getattr(classifier, "classes_", None) if hasattr(classifier, "estimators_") else None
    if known is None:
        classes = classifier.class_order if classes is None else classes
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        labels = unique_labels(classes)
        if len(labels) < 2:
            raise ValueError(f"classes must list at least 2 labels, got {len(labels)} class")
        return labels
    if classes is not None and not np.array_equal(known, unique_labels(classes)):
        raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit, was: {known!r}")
    return np.asarray(known)


def batch_decoder(decoding: Any, response: Response, matrix: CodeMatrix) -> Any:
    """Return a decoder that can learn from batches; "auto" is one that suits the kind of outputs.

    If columns leave out different classes, their margins are not comparable, and only the signs are used.
    """
    if is_named(decoding, AUTO):
        decoding = "hamming" if response == "decision_function" and not matrix.all() else "loss-based"
    decoder = resolve_decoder(decoding, also=(AUTO,))
    if isinstance(decoder, _FROM_ALL_CODEWORDS):
        others = [name for name, kind in DECODERS.items() if not issubclass(kind, _FROM_ALL_CODEWORDS)]
        raise ValueError(  # noqa: TRY004
            f"{type(decoder).__name__} learns from the codewords of all samples, which partial_fit does not keep: "
            f"decoding must be 'auto' or one of {', '.join(others)}"
        )
    return decoder


class BatchesMixin(BaseCodeClassifier):
    """Mixin of classifiers with `partial_fit`, whose code does not depend on data."""

    coding: Any
    decoding: Any
    coding_: str
    decoding_: str
    max_columns: int | None
    _batches: Batches

    @available_if(has_partial_fit)
    @_fit_context(prefer_skip_nested_validation=False)
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a further batch of samples.

        Training continues from earlier calls or from `fit`. The learner must have a `partial_fit` method; each column's
        learner is updated with the samples whose classes take part in the column. A batch need not contain all classes.
        The code must not depend on the data: `coding` cannot be ``"decoc"``, ``"forest"`` or a function.

        Each batch is evaluated before the learners are updated with it. The decoder and the temperature are fitted to
        these outputs, of which about the last thousand are kept. Decodings that need the codewords of all samples,
        ``"optimized-weight"`` and ``"logistic-weight"``, raise an error, and so does ``class_weight="balanced"``. With
        ``decoding="auto"``, margins of a code with zeros are decoded by ``"hamming"``, other outputs by
        ``"loss-based"``. After `fit`, the decoding does not change.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            A batch of training samples.
        y : array-like of shape (n_samples,)
            Their class labels.
        classes : array-like of shape (n_classes,), default=None
            All class labels. Required in the first call, unless the parameter `class_order` of the classifier is set.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. Samples of weight zero are dropped; a batch with only classes whose `class_weight`
            is zero is skipped, but must not be the first batch.

        Returns
        -------
        self
            The classifier. If a batch cannot be learnt, or learning is interrupted, the classifier is unchanged.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from skecoc import ECOCClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ECOCClassifier(GaussianNB())
        >>> for start in range(10):
        ...     model = model.partial_fit(X[start::10], y[start::10], classes=[0, 1, 2])
        >>> model.score(X, y) > 0.9
        True
        """
        with all_or_nothing(self):
            self._partial_fit(X, y, classes, sample_weight)
        return self

    def _partial_fit(self, X: Any, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        """Check a batch, start with it or go on, and learn it."""
        is_first = not hasattr(self, "estimators_")
        order = own_order(y)
        X, y, given = check_samples(self, X, y, sample_weight, reset=is_first)
        known = check_classes(self, classes)
        index = class_indices(y, known, "labels of the classes that partial_fit was given first")
        weight = self._class_weighted(given, y, known)
        if weight is not None and not weight.any() and (given is None or given.any()):
            if is_first:
                raise ValueError("class_weight must not be 0 for all classes of the first batch")
            return
        if weight is not None:
            X, index, weight, _ = keep_samples(X, index, weight, {})
        is_given = sample_weight is not None
        params = self._route({"": self._learner()}, weight, {}, "partial_fit", is_given=is_given)
        if is_first:
            self.classes_ = known
            self._order_classes(order)
            self._start_batches()
        elif not hasattr(self, "_batches"):
            self._continue_fit()
        self._learn_batch(X, index, np.ones(len(index)) if weight is None else weight, params[""])

    def _class_weighted(self, weight: Floats | None, y: NDArray[Any], classes: NDArray[Any]) -> Floats | None:
        """Multiply weights by those of the classes, which must be known beforehand."""
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str):
            raise ValueError(  # noqa: TRY004
                f"class_weight={self.class_weight!r} needs all samples; partial_fit takes a dict of weights by label"
            )
        return multiplied(weight, y, class_factors(self.class_weight, dict.fromkeys(classes.tolist(), 1)))

    def _start_batches(self) -> None:
        """Make the code, from the number of classes, and untrained learners."""
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        self._response = resolve_response(self._learner(), self.response_method)
        n_classes = len(self.classes_)
        name, coding = self._chosen_coding(n_classes, 1, [self._learner()], random_state)
        if name in _FROM_DATA or callable(coding):
            named = sorted(CODINGS.keys() - set(_FROM_DATA))
            raise ValueError(
                "partial_fit needs a code that does not depend on data: coding must be 'auto', a code matrix or one of "
                f"{', '.join(named)}, got {'a function' if callable(coding) else name}"
            )
        settings: dict[str, Any] = {"ranks": self._ranks, "max_columns": self.max_columns}
        matrix = resolve_coding(coding, None, np.empty(0, np.intp), n_classes, random_state, **settings)
        self.coding_ = name
        batch_decoder(self.decoding, self._response, matrix)  # refused before anything is learnt
        self._batches = Batches.before(self._untrained(matrix, root), n_classes)
        self.code_matrix_, self.estimators_ = matrix, self._batches.estimators()

    def _continue_fit(self) -> None:
        """Take over the learners of `fit`; columns with samples of one side only get untrained learners."""
        root = int(check_random_state(self.random_state).randint(LARGEST_SEED))
        pairs = zip(self.estimators_, self._untrained(self.code_matrix_, root), strict=True)
        learners = [other if isinstance(own, ConstantClassifier) else own for own, other in pairs]
        self._batches = Batches.before(learners, len(self.classes_))
        self._batches.is_decoder_kept = True
        for q, learner in enumerate(self.estimators_):
            is_constant = isinstance(learner, ConstantClassifier)
            self._batches.has_seen[q] = [learner.side == 0, learner.side == 1] if is_constant else True

    def _untrained(self, matrix: CodeMatrix, root: int) -> list[BaseEstimator]:
        """Return a learner for each column, seeded as those of `fit`."""
        clones = SeededClones(self._learner())
        columns = ColumnSeeds(root).seeded([Column(pattern) for pattern in matrix.T])
        return [clones.make(column.seed) for column in columns]

    def _learn_batch(self, X: Any, y: Integers, weight: Floats, params: dict[str, Any]) -> None:
        """Evaluate a batch, learn it, and fit the decoding again; samples of new classes are evaluated afterwards."""
        batches = self._batches = self._batches.copied()
        is_known = batches.totals[y] > 0.0
        rows = batches.latest(y, is_known)
        unseen = self._raw_outputs(X, rows)
        batches.learn(X, y, self.code_matrix_, params, n_jobs=self.n_jobs, verbose=self.verbose)
        self.estimators_ = batches.estimators()
        batches.totals += np.bincount(y, weight, minlength=len(self.classes_))
        if batches.is_decoder_kept:
            return
        batches.keep(unseen, y[rows], weight[rows], is_seen=False)
        rows = batches.latest(y, ~is_known)
        batches.keep(self._raw_outputs(X, rows), y[rows], weight[rows], is_seen=True)
        self._prior = batches.totals / batches.totals.sum()
        if len(rows) or batches.n_new >= _SHARE_OF_NEW * len(batches.y):
            self._fit_decoding()

    def _raw_outputs(self, X: Any, rows: Integers) -> Floats:
        if len(rows) == 0:
            return np.empty((0, len(self.estimators_)))
        return evaluate_columns(self.estimators_, _safe_indexing(X, rows), self._response, n_jobs=self.n_jobs)

    def _fit_decoding(self) -> None:
        batches, matrix = self._batches, self.code_matrix_
        scale = margin_scale(self._response, batches.outputs)
        kept = Calibration(batches.outputs / scale, batches.y, batches.weight)
        decoder = batch_decoder(self.decoding, self._response, matrix).fit(*kept[:2], matrix, batches.weight)
        response, batches.n_new = self._response, 0
        self._keep(matrix, self.estimators_, decoder, self._prior, kept, response=response, margin_scale=scale)
