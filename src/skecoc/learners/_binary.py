"""The check that every binary learner makes of its labels."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d


def check_binary_target(y: ArrayLike | None, estimator: BaseEstimator) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Check that labels are of two classes, and number them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    estimator : estimator
        The learner, for the error message.

    Returns
    -------
    classes : ndarray of shape (2,)
        The two labels, sorted.
    numbers : ndarray of int of shape (n_samples,)
        0 for ``classes[0]`` and 1 for ``classes[1]``.
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iu" and len(y) and y.max() - y.min() == 1:
        # What an ensemble passes, thousands of times: the full check would take as long as a small fit.
        return np.array([y.min(), y.max()]), (y == y.max()).astype(np.intp)
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
    return classes, numbers
