"""Check features once for many fits, and let every fit know their number and names."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
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


def is_checked(X: Any, dtypes: Any, estimator: BaseEstimator) -> bool:
    """Tell whether rows to answer need no check: numbers of a fit that has found them finite.

    The checks of scikit-learn take longer than the answers of a small learner to a few hundred rows. An ensemble that
    has checked its rows says so by the configuration `assume_finite`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    dtypes : sequence of dtypes
        What an array may be of.
    estimator : estimator
        The fitted learner.

    Returns
    -------
    bool
        Whether `X` is such an array, of as many features as the learner knows.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in dtypes
        and X.ndim == 2
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")  # rows without names call for a warning
        and get_config()["assume_finite"]
    )
