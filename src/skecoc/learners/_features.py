"""Check features once for many fits, and let every fit know their number and names."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

Names = NDArray[np.object_]


def check_features(estimator: BaseEstimator, X: Any, dtype: Any) -> tuple[NDArray[Any], Names | None]:
    """Check a matrix of features without changing the learner that it is for.

    Parameters
    ----------
    estimator : estimator
        The learner, for error messages.
    X : array-like of shape (n_samples, n_features)
        Finite features.
    dtype : dtype or list of dtypes
        What the array may be of.

    Returns
    -------
    checked : ndarray of shape (n_samples, n_features)
        The features.
    names : ndarray of str of shape (n_features,) or None
        Their names, if they have any.
    """
    scratch = copy(estimator)  # takes the attributes that validation sets
    checked = validate_data(scratch, X, dtype=dtype)
    return checked, getattr(scratch, "feature_names_in_", None)


def set_features(estimator: BaseEstimator, n_features: int, names: Names | None) -> None:
    """Set a learner's `n_features_in_` and `feature_names_in_`, or delete the names of an earlier fit.

    Parameters
    ----------
    estimator : estimator
        The learner that is being fitted.
    n_features : int
        Number of features.
    names : ndarray of str of shape (n_features,) or None
        Their names, if they have any.
    """
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
