"""Multiclass learners in an output code: fitted once, they give the outputs of all columns."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, logsumexp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    check_is_fitted,
    column_or_1d,
)

from skecoc.data.described import refuse_data
from skecoc.data.folds import MANY_SAMPLES
from skecoc.learners.binary import check_in_memory
from skecoc.learners.columns import (
    ALL_SAMPLES,
    HELD_OUT,
    SEEN,
    UNSEEN,
    Column,
    ColumnSeeds,
    Floats,
    Integers,
    LearnerColumn,
    Pattern,
    Response,
    Samples,
    SeededClones,
    Trainer,
    run_tasks,
    weight_params,
)
from skecoc.support.errors import advising
from skecoc.support.processes import one_thread

#: Probabilities below this, such as the zeros of trees, count as this much.
LEAST_PROBABILITY = 1e-12
#: Outputs below this are zero: of trees whose votes are split evenly, rounding leaves a sign that means nothing.
LEAST_OUTPUT = 1e-9


def _few_threads(n_samples: int) -> AbstractContextManager[Any]:
    """Let compiled libraries use one thread for few samples, where threads would only wait for each other."""
    return one_thread() if n_samples <= MANY_SAMPLES else nullcontext()


def _last_step(estimator: BaseEstimator) -> BaseEstimator:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


class ClassOutputs(NamedTuple):
    """The outputs of a learner for all classes, from which those of any column follow."""

    classes: Integers  # those that the learner knows
    logs: Floats  # (n_samples, n_classes): logarithms of probabilities
    margins: Floats | None = None  # (n_samples, n_pairs): of pairs of classes, positive for the first, if it has such

    def of_columns(self, patterns: Sequence[Pattern], response: Response) -> Floats:
        """Derive the outputs of columns, whose rows are the classes 0, 1, and so on."""
        outputs = np.zeros((len(self.logs), len(patterns)))
        for q, pattern in enumerate(patterns):
            sides = pattern[self.classes]  # classes without training samples are not known here
            positive, negative = np.flatnonzero(sides > 0), np.flatnonzero(sides < 0)
            if self.margins is not None and len(positive) == len(negative) == 1:
                first, second = sorted((positive[0], negative[0]))
                place = first * (2 * len(self.classes) - first - 1) // 2 + second - first - 1
                outputs[:, q] = np.tanh(self.margins[:, place] if first == positive[0] else -self.margins[:, place])
            elif len(positive) or len(negative):
                parts = [
                    logsumexp(self.logs[:, side], axis=1) if len(side) else -np.inf for side in (positive, negative)
                ]
                outputs[:, q] = np.tanh(0.5 * (parts[0] - parts[1]))
        outputs[np.abs(outputs) < LEAST_OUTPUT] = 0.0
        return np.sign(outputs) if response == "predict" else outputs


class MulticlassLearner(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Multiclass classifier as a learner: fitted once to all classes, it gives the outputs of all columns of a code.

    In the list of learners of an output-code classifier (parameter `estimator`), it needs one fit instead of one per
    column. The output of a column is computed from class probabilities as :math:`(p_+ - p_-) / (p_+ + p_-)`, where
    :math:`p_+` and :math:`p_-` are their sums over the two sides of the column.

    If the classifier has no `predict_proba`, its `decision_function` is used. The margins of an `SVC` belong to pairs
    of classes, so columns for pairs have the output :math:`\tanh f_{ij}`; for other columns, the probabilities are
    those that fit the margins best, :math:`p_i \propto \exp(2 \sum_j f_{ij} / P)`. The margins of other classifiers
    belong to single classes: :math:`p_i \propto \exp(2 f_i)`.

    Parameters
    ----------
    estimator : classifier
        The classifier, or a pipeline that ends with one.

    Attributes
    ----------
    estimator_ : classifier
        The trained classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`, if the classifier has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the classifier has this attribute.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.svm import SVC
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.learners import MulticlassLearner
    >>> X, y = load_iris(return_X_y=True)
    >>> trees, svm = MulticlassLearner(ExtraTreesClassifier()), MulticlassLearner(SVC())
    >>> model = ECOCClassifier([("trees", trees), ("svm", svm)], coding="one-vs-rest", random_state=0).fit(X, y)
    >>> model.column_learners_
    array(['trees', 'trees', 'trees', 'svm', 'svm', 'svm'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"estimator": [HasMethods(["fit", "predict"])]}

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Train the classifier on samples in memory.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.
        **fit_params : dict
            Further arguments of the classifier's `fit`.

        Returns
        -------
        self
            The fitted learner.
        """
        labels = column_or_1d(check_in_memory(self, X, y, sample_weight), warn=True)
        estimator = clone(self.estimator)
        if self._is_pairwise:
            _last_step(estimator).set_params(decision_function_shape="ovo", break_ties=False)
        # Further arguments reach the steps of a pipeline by the routing that the pipeline itself has.
        with nullcontext() if fit_params else config_context(enable_metadata_routing=False):
            params = {**fit_params, **weight_params(self.estimator, sample_weight)}
            self.estimator_ = estimator.fit(X, labels, **params)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def _is_pairwise(self) -> bool:
        """Whether the margins of the classifier belong to pairs of classes, so that it suits one-vs-one best."""
        return isinstance(_last_step(self.estimator), SVC | NuSVC) and not hasattr(self.estimator, "predict_proba")

    @property
    def _weighted_learner(self) -> BaseEstimator:
        """The learner that sample weights are for."""
        return self.estimator

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels: the classes of highest probability.
        """
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities of the classifier, or probabilities computed from its margins, which are not calibrated.
        """
        check_is_fitted(self)
        refuse_data(self, X=X)
        if hasattr(self.estimator_, "predict_proba"):
            return self.estimator_.predict_proba(X)
        return np.exp(self._evaluate(X, "predict_proba").logs)

    def _evaluate(self, X: Any, response: Response) -> ClassOutputs:
        """Evaluate samples, for any number of columns, by the best method that the classifier has."""
        classes, n_classes = self.classes_, len(self.classes_)
        with _few_threads(_num_samples(X)):
            if response != "predict" and hasattr(self.estimator_, "predict_proba"):
                return ClassOutputs(classes, np.log(np.maximum(self.estimator_.predict_proba(X), LEAST_PROBABILITY)))
            if response == "predict" or not hasattr(self.estimator_, "decision_function"):
                is_predicted = self.estimator_.predict(X)[:, None] == classes
                return ClassOutputs(classes, np.log(np.where(is_predicted, 1.0, LEAST_PROBABILITY)))
            margins = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        if margins.ndim == 1:  # two classes, positive for the second
            logs = log_softmax(np.column_stack([-margins, margins]), axis=1)
            return ClassOutputs(classes, logs, -margins[:, None])
        if not self._is_pairwise:
            return ClassOutputs(classes, log_softmax(2.0 * margins, axis=1))
        scores = np.zeros((len(margins), n_classes))
        for margin, i, j in zip(margins.T, *np.triu_indices(n_classes, 1), strict=True):
            scores[:, i] += margin
            scores[:, j] -= margin
        return ClassOutputs(classes, log_softmax(2.0 / n_classes * scores, axis=1), margins)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class MulticlassColumn(LearnerColumn):
    """One column of a trained `MulticlassLearner`; many columns can share the same learner.

    Parameters
    ----------
    learner : MulticlassLearner
        The learner, trained on class indices.
    pattern : ndarray of int8 of shape (n_classes,)
        The column.
    """

    def __init__(self, learner: MulticlassLearner, pattern: Pattern) -> None:
        self.learner = learner
        self.pattern = pattern

    @staticmethod
    def _outputs_together(learners: Sequence["MulticlassColumn"], X: Any, response: Response) -> Floats:
        """Evaluate columns, each trained learner once."""
        outputs = np.empty((_num_samples(X), len(learners)))
        groups: dict[int, list[int]] = {}
        for q, column in enumerate(learners):
            groups.setdefault(id(column.learner), []).append(q)
        for members in groups.values():
            learner, patterns = learners[members[0]].learner, [learners[q].pattern for q in members]
            outputs[:, members] = learner._evaluate(X, response).of_columns(patterns, response)
        return outputs


class MulticlassTrainer(Trainer):
    """Trains columns by one fit of a `MulticlassLearner` for all that have the same groups of classes."""

    response: Response  # known from the start: it is that of all learners

    def __post_init__(self) -> None:
        super().__post_init__()
        # Outputs for all classes on the samples of a fold, or on all samples: those of any later column follow from
        # them, so none of single columns are kept for the next fit.
        self._evaluated: dict[Any, ClassOutputs] = self.before.outputs if self.before else {}
        self.before = None

    def fit(self, columns: Sequence[Column], without_fold: int = ALL_SAMPLES) -> list[BaseEstimator]:
        """Train the learner once for each division of the classes into groups; return a view of it per column."""
        grouped = _groups_of(columns)
        self._fit_models([(groups, without_fold) for groups, _ in grouped.values()])
        trained = self._trained[without_fold]
        models = {q: trained[key] for key, (_, members) in grouped.items() for q in members}
        return [MulticlassColumn(models[q], _pattern_of_groups(column)) for q, column in enumerate(columns)]

    def outputs(self, columns: Sequence[Column], samples: Samples = SEEN, *, tried: bool = False) -> Floats:
        """Evaluate columns on samples that learners have seen, or on held-out ones; see `Trainer`."""
        if samples == HELD_OUT:  # the fits of all folds at once
            grouped = _groups_of(columns)
            pairs = [(key, fold) for fold in self._rows_of_folds for key in grouped]
            self._fit_models([(grouped[key][0], fold) for key, fold in pairs if (key, fold) not in self._evaluated])
        return super().outputs(columns, samples, tried=tried)

    def _outputs(self, columns: Sequence[Column], fold: int) -> Floats:
        outputs = np.empty((len(self.y) if fold == ALL_SAMPLES else len(self._rows_of_folds[fold]), len(columns)))
        for key, (groups, members) in _groups_of(columns).items():
            if (key, fold) not in self._evaluated:
                self._fit_models([(groups, fold)])
                X = self._samples(fold)
                with nullcontext() if fold == ALL_SAMPLES else advising(UNSEEN), config_context(assume_finite=True):
                    self._evaluated[key, fold] = self._trained[fold][key]._evaluate(X, self.response)
                if fold != ALL_SAMPLES:
                    del self._trained[fold][key]  # it will not be needed again
            patterns = [_pattern_of_groups(columns[q]) for q in members]
            outputs[:, members] = self._evaluated[key, fold].of_columns(patterns, self.response)
        return outputs

    def _fit_models(self, wanted: Sequence[tuple[Pattern | None, int]]) -> None:
        """Fit the learner to groups of classes without the samples of a fold, where it has not been fitted yet."""
        missing = {}
        for groups, fold in wanted:
            key = _group_key(groups)
            if key not in self._trained.setdefault(fold, {}):
                missing[key, fold] = groups
        if not missing:
            return
        clones = SeededClones(self.learner)
        tasks = (self._task(clones, groups, fold) for (_, fold), groups in missing.items())
        models = run_tasks(_fit_model, tasks, len(missing), self.n_jobs, verbose=self.verbose)
        for (key, fold), model in zip(missing, models, strict=True):
            self._trained[fold][key] = model
            self.on_fit()

    def _task(self, clones: SeededClones, groups: Pattern | None, fold: int) -> tuple[Any, ...]:
        rows = None if fold == ALL_SAMPLES or self.folds is None else np.flatnonzero(self.folds != fold)
        y, seed = self.y, self.root
        if groups is not None:
            y = groups[self.y].astype(np.intp)
            rows = np.flatnonzero(y >= 0) if rows is None else rows[y[rows] >= 0]
            seed = ColumnSeeds(self.root).seeded([Column(groups + 1)])[0].seed
        return clones.make(seed), self.X, y, rows, dict(self.fit_params)

    def relabelled(self, y: Integers) -> Self:
        """Return a trainer of the same samples with other class indices."""
        trainer = super().relabelled(y)
        trainer._evaluated = {}
        return trainer


def _group_key(groups: Pattern | None) -> bytes:
    return b"" if groups is None else groups.tobytes()


def _groups_of(columns: Sequence[Column]) -> dict[bytes, tuple[Pattern | None, list[int]]]:
    """Return the groups of classes that columns have, each with the places of its columns."""
    grouped: dict[bytes, tuple[Pattern | None, list[int]]] = {}
    for q, column in enumerate(columns):
        grouped.setdefault(_group_key(column.groups), (column.groups, []))[1].append(q)
    return grouped


def _pattern_of_groups(column: Column) -> Pattern:
    """Return the side of each group of classes, which are the classes that the learner knows."""
    if column.groups is None:
        return column.pattern
    sides = np.zeros(int(column.groups.max()) + 1, dtype=np.int8)
    taken = column.groups >= 0
    sides[column.groups[taken]] = column.pattern[taken]
    return sides


def _fit_model(
    learner: MulticlassLearner, X: Any, y: Integers, rows: Integers | None, params: dict[str, Any]
) -> MulticlassLearner:
    """Train a learner on some samples; None: all."""
    with _few_threads(len(y)):
        if rows is None:
            return learner.fit(X, y, **params)
        return learner.fit(_safe_indexing(X, rows), y[rows], **_check_method_params(X, params, indices=rows))
