"""Base classes of the binary learners, and checks that they share: of samples, labels, numbers and missing values."""

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, _safe_indexing, check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from skecoc.data.codes import Floats, Integers, Names, rounded
from skecoc.data.described import refuse_data


def check_in_memory(learner: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return the labels; refuse what is not in memory, which learners do not load by themselves."""
    refuse_data(learner, X=X, y=y, sample_weight=sample_weight)
    if y is None:
        raise ValueError(f"{type(learner).__name__} requires y to be passed, but the target y is None")
    return y


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Base class of binary learners that define `_prepare_rows`, `_fit_rows` and `_votes`."""

    _dtypes: ClassVar[list[type]] = [np.float64]  # that features may have
    _sparse_formats: ClassVar[list[str]] = []  # that are taken

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier to samples in memory.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples. Missing values (NaN) and sparse matrices only for learners that support them.
        y : array-like of shape (n_samples,)
            Class labels, of exactly two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples; None means 1 each.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        y = check_in_memory(self, X, y, sample_weight)
        return self._fit_rows(self._prepare_rows(X), None, y, sample_weight)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples. Missing values (NaN) and sparse matrices only for learners that support them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        is_second = self._votes(X) > 0.0
        return self.classes_[is_second.astype(np.intp)]

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _prepare_features(self, X: Any) -> tuple[NDArray[Any], Names | None]:
        """Check a matrix of features without changing the learner; return it and its features' names."""
        scratch = copy(self)  # takes the attributes that validation sets
        checked = validate_data(scratch, X, **self._checks())
        return checked, getattr(scratch, "feature_names_in_", None)

    def _check_features(self, X: Any) -> NDArray[Any]:
        """Check the features of samples to predict, unless an ensemble has, which then sets `assume_finite`."""
        is_checked = (
            type(X) is np.ndarray
            and X.dtype in self._dtypes
            and X.ndim == 2
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")  # samples without names call for a warning
            and get_config()["assume_finite"]
        )
        if is_checked:
            return X
        check_is_fitted(self)
        refuse_data(self, X=X)
        return validate_data(self, X, **self._checks(), reset=False)

    def _checks(self) -> dict[str, Any]:
        finite = "allow-nan" if self._takes_missing() else True
        return {"dtype": self._dtypes, "accept_sparse": self._sparse_formats or False, "ensure_all_finite": finite}

    def _takes_missing(self) -> bool:
        """Tell whether NaN stands for a missing value."""
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = self._takes_missing()
        tags.input_tags.sparse = bool(self._sparse_formats)
        return tags


class MarginClassifier(BinaryClassifier):
    """Base class of binary learners whose labels and probabilities are computed from `decision_function`."""

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the margin of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples. Missing values (NaN) and sparse matrices only for learners that support them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins, positive for ``classes_[1]``.
        """
        return self._margins(X)

    _votes = decision_function

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute the probability of each class, a logistic function of `decision_function`.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples. Missing values (NaN) and sparse matrices only for learners that support them.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of `classes_`.
        """
        log_odds = self._slope() * self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])


def set_features(estimator: BaseEstimator, n_features: int, names: Names | None) -> None:
    """Set a learner's `n_features_in_` and `feature_names_in_`, or delete the names of an earlier fit."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_rows(rows: ArrayLike, n_samples: int) -> Integers:
    """Check that `rows` holds row numbers: a mask would be taken for the rows 0 and 1."""
    checked = np.asarray(rows)
    if checked.ndim != 1 or len(checked) == 0 or checked.dtype.kind not in "iu":
        raise ValueError(
            "rows must be None or a one-dimensional array of at least one integer, "
            f"got shape {checked.shape} and dtype {checked.dtype}"
        )
    if checked.min() < 0 or checked.max() >= n_samples:
        raise ValueError(f"rows must hold integers in [0, {n_samples})")
    return np.ascontiguousarray(checked, dtype=np.intp)


def check_labels(y: ArrayLike | None, n_rows: int, estimator: BaseEstimator) -> tuple[NDArray[Any], Integers]:
    """Check that labels are of two classes; return these, sorted, and the number 0 or 1 of each label."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(y, np.ndarray) and y.shape == (n_rows,) and y.dtype.kind in "iu" and n_rows:
        # What an ensemble passes, thousands of times: the full check would take as long as a small fit.
        first, last = y.min(), y.max()
        if last - first == 1:
            return np.array([first, last]), (y == last).astype(np.intp)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}. "
            f"y has {len(classes)} classes; wrap {type(estimator).__name__} in skecoc.ECOCClassifier for these."
        )
    if len(classes) < 2:
        raise ValueError(f"y must hold 2 classes, got {len(classes)} class")
    if len(numbers) != n_rows:
        raise ValueError(f"y must have one label per row: got {len(numbers)} labels for {n_rows} rows")
    return classes, numbers


def number_columns(X: Any) -> Integers:
    """List the columns of samples that hold numbers: all or none, unless samples are a frame.

    >>> number_columns(np.ones((3, 2)))
    array([0, 1])
    >>> number_columns(np.array([["a"], ["b"]]))
    array([], dtype=int64)
    """
    if issparse(X) or len(getattr(X, "shape", ())) != 2:
        return np.empty(0, dtype=np.intp)
    if hasattr(X, "columns"):
        return np.array([j for j in range(X.shape[1]) if _holds_numbers(_safe_indexing(X, j, axis=1))], dtype=np.intp)
    return np.arange(X.shape[1] if _holds_numbers(X) else 0)


def _holds_numbers(values: Any) -> bool:
    """Tell whether an array, or a column of a frame of any library, holds numbers."""
    kind = getattr(values.dtype, "kind", "")
    if str(values.dtype) == "object":
        try:
            np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return True
    return kind in "biuf" if kind else bool(values.dtype.is_numeric()) or str(values.dtype) == "Boolean"


def numbers_of(X: Any, **checks: Any) -> Floats:
    """Return the numbers of samples, zero in columns that hold none: so they count for nothing in distances."""
    columns = number_columns(X)
    numbers = np.zeros(X.shape)
    if len(columns):
        numbers[:, columns] = check_array(_safe_indexing(X, columns, axis=1), dtype=np.float64, **checks)
    return numbers


def has_missing(X: Any) -> bool:
    """Tell whether numbers of samples are missing."""
    if issparse(X):
        return bool(np.isnan(X.data).any())
    if len(number_columns(X)) == 0:
        return False
    is_plain = not hasattr(X, "columns") and X.dtype.kind in "biuf"
    return bool(np.isnan(X if is_plain else numbers_of(X, ensure_all_finite=False)).any())


def may_take_missing(learner: BaseEstimator) -> bool:
    """Tell whether a learner may take missing values: meta-estimators count as taking them until they are fitted."""
    holds_others = any(hasattr(value, "fit") for value in learner.get_params().values())
    return holds_others or bool(get_tags(learner).input_tags.allow_nan)


def imputed(X: Floats, weight: Floats) -> Floats:
    """Replace values that are missing or infinite by the mean of their feature, 0 if no sample has another value."""
    is_missing = ~np.isfinite(X)
    if not is_missing.any():
        return X
    known = np.where(is_missing, 0.0, X)
    largest = np.maximum(np.abs(known).max(axis=0), 1.0)  # so that no sum overflows
    mass = weight @ ~is_missing
    means = rounded(weight @ (known / largest) / np.where(mass > 0.0, mass, 1.0)) * largest
    return np.where(is_missing, means, known)


def without_empty(X: Any) -> Any:
    """Return an array of numbers with zeros in features that have no value at all, which some learners do not take.

    >>> without_empty(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([[ 1.,  0.],
           [nan,  0.]])
    """
    if type(X) is not np.ndarray or X.dtype.kind != "f":
        return X
    is_empty = np.isnan(X).all(axis=0)
    return np.where(is_empty, 0.0, X) if is_empty.any() else X
