"""Base classes of the binary learners, and their checks."""

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from skecoc.data.codes import Floats, Integers, Names


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


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Base class of binary learners that define `prepare_rows`, `fit_rows` and `_votes`."""

    _dtypes: ClassVar[list[type]] = [np.float64]  # that features may have
    _sparse_formats: ClassVar[list[str]] = []  # that are taken

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

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
        return self.fit_rows(self.prepare_rows(X), None, y, sample_weight)

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

    def check_features(self, X: Any) -> NDArray[Any]:
        """Check the features of samples to predict, unless an ensemble has done so, as it says by `assume_finite`."""
        check_is_fitted(self)
        is_checked = (
            type(X) is np.ndarray
            and X.dtype in self._dtypes
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")  # samples without names call for a warning
            and get_config()["assume_finite"]
        )
        if is_checked:
            return X
        return validate_data(self, X, **self._checks(), reset=False)

    def _checks(self) -> dict[str, Any]:
        formats = self._sparse_formats or False
        return {"dtype": self._dtypes, "accept_sparse": formats, "ensure_all_finite": self._finite()}

    def takes_missing(self) -> bool:
        """Tell whether NaN stands for a missing value."""
        return False

    def _finite(self) -> bool | str:
        return "allow-nan" if self.takes_missing() else True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = self.takes_missing()
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
        return self._margins(self.check_features(X))

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
