"""Decisions from probabilities: predict the class of lowest expected cost, and reject samples where it is too high."""

from collections.abc import Mapping
from numbers import Number, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d

from skecoc.data.described import TAKING_DATA, is_dask, refuse_data
from skecoc.learners.columns import Floats, Integers
from skecoc.support.errors import all_or_nothing, spell_out

#: The reject label that follows from the classes: "reject" for strings, -1 for numbers.
AUTO_LABEL = "auto"


class DecisionRule(NamedTuple):
    """How probabilities become labels."""

    costs: Floats | None  # (n_classes, n_classes), rows are true classes, columns decisions; None: the most probable
    reject: float | None  # below this probability or, with costs, above this expected cost a sample is rejected
    labels: NDArray[Any]  # the classes, and the label of rejected samples if there are any

    def expected_costs(self, probabilities: Floats) -> Floats:
        """Return the expected cost of decisions. Without a cost matrix, the probability that the decision is wrong."""
        return 1.0 - probabilities if self.costs is None else probabilities @ self.costs

    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """Return the label of each sample."""
        return self.labels[self.choose(probabilities)]

    def choose(self, probabilities: Floats) -> Integers:
        """Return the index in `labels` for each sample: that of its class, or the last one if it is rejected."""
        if self.costs is None:
            chosen = probabilities.argmax(axis=1)
            if self.reject is not None:
                chosen[probabilities.max(axis=1) < self.reject] = len(self.labels) - 1
        else:
            expected = self.expected_costs(probabilities)
            chosen = expected.argmin(axis=1)
            if self.reject is not None:
                chosen[expected.min(axis=1) > self.reject] = len(self.labels) - 1
        return chosen


def make_rule(
    classes: NDArray[Any], cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
) -> DecisionRule:
    """Check costs, threshold and label against the classes."""
    costs = None if cost_matrix is None else check_cost_matrix(cost_matrix, classes)
    if reject is None:
        return DecisionRule(costs, None, classes)
    if not isinstance(reject, Real) or isinstance(reject, bool) or not np.isfinite(reject):
        raise ValueError(f"reject must be a finite number or None, got {reject!r}")
    if costs is None and not 0.0 <= reject <= 1.0:
        raise ValueError(f"reject must be a probability, in [0, 1], without a cost_matrix; got {reject!r}")
    return DecisionRule(costs, float(reject), _with_label(classes, reject_label))


def _with_label(classes: NDArray[Any], label: Any) -> NDArray[Any]:
    """Return the classes and a label that none of them has."""
    is_text = all(isinstance(name, str) for name in classes)
    is_number = classes.dtype.kind in "iuf"
    if isinstance(label, str) and label == AUTO_LABEL:
        if not is_text and not is_number:
            raise ValueError(f"reject_label must be given for classes such as {classes[0]!r}: there is no default")
        label = "reject" if is_text else -1
    if any(bool(name == label) for name in classes.tolist()):
        raise ValueError(f"reject_label must not be a class, but {label!r} is one: give another reject_label")
    is_plain = isinstance(label, Number) and not isinstance(label, bool)
    if isinstance(label, str) if is_text else is_number and is_plain:
        return np.append(classes, np.array([label]))
    labels = np.empty(len(classes) + 1, dtype=object)
    labels[:-1], labels[-1] = classes.tolist(), label
    return labels


def check_cost_matrix(cost_matrix: Any, classes: NDArray[Any]) -> Floats:
    """Return costs as an array with a row per true class and a column per decision, in the order of the classes.

    >>> check_cost_matrix({"opel": {"saab": 5}}, np.array(["bus", "opel", "saab"]))
    array([[0., 1., 1.],
           [1., 0., 5.],
           [1., 1., 0.]])
    """
    if isinstance(cost_matrix, Mapping):
        costs = _costs_by_label(cost_matrix, classes)
    elif hasattr(cost_matrix, "columns") and hasattr(cost_matrix, "index"):
        labels = classes.tolist()
        for name, given in (("index", cost_matrix.index), ("columns", cost_matrix.columns)):
            missing = [label for label in labels if label not in given]
            if missing:
                raise ValueError(f"the {name} of cost_matrix must have all classes, but lacks {spell_out(missing)}")
        costs = np.asarray(cost_matrix.loc[labels, labels], dtype=np.float64)
    else:
        try:
            costs = np.asarray(cost_matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("cost_matrix must hold numbers, a row for each true class") from error
    shape = (len(classes), len(classes))
    if costs.shape != shape:
        raise ValueError(f"cost_matrix must have a row and a column for each class, shape {shape}; got {costs.shape}")
    if not np.isfinite(costs).all():
        raise ValueError("cost_matrix must hold finite numbers")
    return costs


def _costs_by_label(costs: Mapping[Any, Any], classes: NDArray[Any]) -> Floats:
    """Return costs that are given as ``{true class: {decision: cost}}``; other mistakes cost 1.

    Labels must be classes, unless all classes are among them: a fold may lack classes that the dict lists.
    """
    number = {label: place for place, label in enumerate(classes.tolist())}
    if not all(isinstance(row, Mapping) for row in costs.values()):
        raise ValueError("cost_matrix as a dict must be of the form {true class: {decision: cost}}")
    labels = [*costs, *(decision for row in costs.values() for decision in row)]
    unknown = [repr(label) for label in dict.fromkeys(labels) if label not in number]
    if unknown and not set(number) <= set(labels):
        raise ValueError(
            f"cost_matrix must have classes as keys, which are {spell_out(list(map(repr, number)))}; "
            f"got {spell_out(unknown)}"
        )
    matrix = 1.0 - np.eye(len(classes))
    for true, row in costs.items():
        for decision, cost in row.items():
            if true in number and decision in number:
                matrix[number[true], number[decision]] = cost
    return matrix


class RiskCoverage(NamedTuple):
    """The mean cost of decisions on the samples that are decided, for every share of these."""

    coverage: Floats  # shares of the samples that are decided, ascending
    risk: Floats  # mean costs of their decisions
    area: float  # mean risk over all shares


def risk_coverage(
    probabilities: Floats, y: ArrayLike, classes: NDArray[Any], cost_matrix: Any = None, sample_weight: Any = None
) -> RiskCoverage:
    """Compute the risk for every coverage: the samples of lowest expected cost are decided first."""
    rule = make_rule(classes, cost_matrix)
    truth = class_indices(check_test_labels(y, probabilities), classes)
    expected = rule.expected_costs(probabilities)
    loss = _costs_of(truth, rule.choose(probabilities), rule.costs)
    order = np.argsort(expected.min(axis=1), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(expected.min(axis=1)[order])), len(order) - 1)
    weight = _weights(truth, sample_weight)
    decided, total = np.cumsum(weight[order])[ends], np.cumsum((weight * loss)[order])[ends]
    counted = decided > 0
    coverage, risk = decided[counted] / decided[-1], total[counted] / decided[counted]
    return RiskCoverage(coverage, risk, float(np.diff(coverage, prepend=0.0) @ risk))


def check_test_labels(y: ArrayLike, predicted: NDArray[Any]) -> NDArray[Any]:
    """Return test labels as a one-dimensional array, one per prediction; a column vector gives a warning."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    check_consistent_length(predicted, labels)
    return labels


def class_indices(y: NDArray[Any], classes: NDArray[Any], known: str = "classes that the model knows") -> Integers:
    """Return the index of each label among the classes, of which it must be one.

    >>> class_indices(np.array(["b", "a", "b"]), np.array(["a", "b"]))
    array([1, 0, 1])
    """
    index = {label: number for number, label in enumerate(classes.tolist())}
    labels = y.tolist()
    unknown = [repr(label) for label in dict.fromkeys(labels) if label not in index]
    if unknown:
        raise ValueError(f"y must hold {known}, got {spell_out(unknown)}")
    return np.array([index[label] for label in labels], dtype=np.intp)


def _weights(y: NDArray[Any], sample_weight: Any) -> Floats:
    return _check_sample_weight(sample_weight, y, dtype=np.float64)


def _costs_of(y: Integers, decided: Integers, costs: Floats | None) -> Floats:
    """Return the cost of each decision; without a cost matrix, 1 for wrong ones."""
    return (y != decided).astype(np.float64) if costs is None else costs[y, decided]


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that minimises the expected cost of decisions and can reject samples.

    It wraps any classifier with `predict_proba` and changes only its decisions. Output-code classifiers make the same
    decisions with ``predict(X, cost_matrix=..., reject=...)``; this wrapper has costs and threshold as parameters, for
    pipelines and searches.

    Parameters
    ----------
    estimator : classifier
        The classifier, with `predict_proba`. To use a fitted classifier, wrap it in scikit-learn's `FrozenEstimator`.
    cost_matrix : array-like of shape (n_classes, n_classes), dict or frame, default=None
        Cost of each decision, with a row for each true class and a column for each predicted class, in the order of
        `classes_`. A dict ``{true class: {predicted class: cost}}`` gives costs by label; mistakes that are not listed
        cost 1. If all classes of `y` are in the dict (with an empty dict if necessary), it may contain further classes,
        which can be missing in a fold. A pandas frame has the labels as index and columns. None predicts the most
        probable class.
    reject : float, default=None
        A sample is rejected if its largest probability is below this value (Chow's rule) or, with a `cost_matrix`, if
        its lowest expected cost is above it. None never rejects.
    reject_label : object, default="auto"
        Label that `predict` returns for rejected samples; it must not be a class. "auto" means "reject" if the classes
        are strings and -1 if they are numbers. If its type differs from that of the classes, predictions have dtype
        object.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted, without `reject_label`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen in `fit`, if the classifier has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the classifier has this attribute.

    See Also
    --------
    sklearn.model_selection.FixedThresholdClassifier : For two classes, with a threshold instead of costs.
    skecoc.plotting.plot_risk_coverage : Cost as a function of the share of rejected samples.

    Notes
    -----
    `score` is the accuracy; rejected samples count as wrong. `mean_cost` is the mean cost of the decisions.

    References
    ----------
    C. K. Chow. On optimum recognition error and reject tradeoff. IEEE Transactions on Information Theory 16(1), 41-46,
    1970.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skecoc import CostSensitiveClassifier
    >>> data = load_iris()
    >>> X, y = data.data[:, :2], data.target_names[data.target]
    >>> learner = LogisticRegression(max_iter=1000)
    >>> costs = {"virginica": {"versicolor": 20}}  # every other mistake costs 1
    >>> wary = CostSensitiveClassifier(learner, cost_matrix=costs).fit(X, y)
    >>> list(map(str, learner.fit(X, y).predict(X[80:83]))), list(map(str, wary.predict(X[80:83])))
    (['versicolor', 'versicolor', 'versicolor'], ['virginica', 'virginica', 'virginica'])
    >>> sure = CostSensitiveClassifier(learner, reject=0.9).fit(X, y)
    >>> list(map(str, sure.predict(X[[0, 82]])))
    ['setosa', 'reject']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit"])],
        "cost_matrix": ["array-like", dict, None],
        "reject": [Real, None],
        "reject_label": "no_validation",
    }

    def __init__(
        self, estimator: Any, *, cost_matrix: Any = None, reject: float | None = None, reject_label: Any = AUTO_LABEL
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.reject = reject
        self.reject_label = reject_label

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), Dask collection or described data
            Training samples, in any form that the classifier accepts.
        y : array-like of shape (n_samples,), or Dask collection
            Class labels. None with described data, which hold their labels.
        **fit_params : dict
            Further arguments of the classifier's `fit`, such as `sample_weight`; with metadata routing enabled, those
            that it requests.

        Returns
        -------
        self
            The fitted classifier. If fitting fails or is interrupted, the classifier is unchanged.
        """
        if not hasattr(self.estimator, "_fit_described"):  # only skecoc's classifiers take other data
            refuse_data(self.estimator, X=X, y=y, sample_weight=fit_params.get("sample_weight"))
        with all_or_nothing(self):
            given = process_routing(self, "fit", **fit_params).estimator.fit if _routing_enabled() else fit_params
            self.estimator_ = clone(self.estimator).fit(X, y, **given)
            if not hasattr(self.estimator_, "predict_proba"):
                raise ValueError(
                    f"estimator must have predict_proba, which {type(self.estimator).__name__} does not have; "
                    "wrap it in scikit-learn's CalibratedClassifierCV"
                )
            self.classes_ = self.estimator_.classes_
            self._rule()  # checks costs and threshold against the classes
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.estimator_, name):
                    setattr(self, name, getattr(self.estimator_, name))
                elif hasattr(self, name):
                    delattr(self, name)
        return self

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _rule(self) -> DecisionRule:
        """Return how probabilities become labels."""
        check_is_fitted(self)
        return make_rule(self.classes_, self.cost_matrix, self.reject, self.reject_label)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of lowest expected cost, or reject a sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, and `reject_label` for rejected samples.
        """
        rule = self._rule()
        if is_dask(X):
            from skecoc.data.partitions import mapped

            return mapped(self, "predict", X, rule.labels[:0])
        return rule.decide(self.predict_proba(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the classifier's probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        if is_dask(X):
            from skecoc.data.partitions import mapped

            return mapped(self, "predict_proba", X, np.empty((0, len(self.classes_))))
        return self.estimator_.predict_proba(X)

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every sample by its negative expected cost.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Samples to classify. For a Dask collection, the result is a Dask collection too: it is computed on demand.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores. With two classes, the score of the second class minus that of the first.
        """
        rule = self._rule()
        if is_dask(X):
            from skecoc.data.partitions import mapped

            n_classes = len(self.classes_)
            return mapped(self, "decision_function", X, np.empty((0, n_classes) if n_classes > 2 else 0))
        scores = -rule.expected_costs(self.predict_proba(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy; rejected samples count as wrong.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features), or Dask collection
            Test samples.
        y : array-like of shape (n_samples,), or Dask collection
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; only for samples in memory.

        Returns
        -------
        float
            Accuracy.
        """
        if is_dask(X):
            from skecoc.data.partitions import score

            check_is_fitted(self)
            return score(self, X, y, sample_weight)
        refuse_data(self, y=y, sample_weight=sample_weight)
        predicted = self.predict(X)
        truth = check_test_labels(y, predicted)
        return float(np.average(truth == predicted, weights=_weights(truth, sample_weight)))

    def mean_cost(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost of the decisions.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            Their class labels, which must be among `classes_`.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float
            Mean cost of the decisions by `cost_matrix`, or 1 for each wrong decision without one. A rejected sample has
            the cost for which `reject` is the optimal threshold: `reject`, or ``1 - reject`` without a `cost_matrix`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skecoc import CostSensitiveClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = CostSensitiveClassifier(LogisticRegression(max_iter=1000), reject=0.9).fit(X[:, :2], y)
        >>> round(model.mean_cost(X[:, :2], y), 3)
        0.078

        In a search: ``GridSearchCV(model, {"reject": ...}, scoring=lambda model, X, y: -model.mean_cost(X, y))``.
        """
        rule = self._rule()
        refuse_data(self, TAKING_DATA, X=X, y=y, sample_weight=sample_weight)
        chosen = rule.choose(self.predict_proba(X))
        truth = class_indices(check_test_labels(y, chosen), self.classes_)
        is_rejected = chosen == len(self.classes_)
        reject_cost = 0.0 if rule.reject is None else rule.reject if rule.costs is not None else 1.0 - rule.reject
        costs = np.full(len(chosen), reject_cost)
        costs[~is_rejected] = _costs_of(truth[~is_rejected], chosen[~is_rejected], rule.costs)
        return float(np.average(costs, weights=_weights(truth, sample_weight)))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of this object.

        Returns
        -------
        MetadataRouter
            What the `fit` of the wrapped classifier and the `score` of this one request.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags  # samples reach the classifier as they are
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
