"""How often each class has each value of each feature: all that a discriminant code reads of X."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from skecoc.coding.matrix import check_count

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def class_histograms(X: Any, y: ArrayLike, *, n_bins: int = 16, sample_weight: ArrayLike | None = None) -> Floats:
    """Count the rows of every class in every bin of every feature.

    A feature with at most `n_bins` distinct values has one bin per value. Other numeric
    features are cut between distinct values where the cumulative frequency comes nearest to
    1/n_bins, 2/n_bins, ...: bins of about equal frequency, which outliers do not stretch, which
    any increasing transformation of the feature leaves as they are, and which repeating all
    rows does not change. Features that are not numbers (strings, categories) have a bin for each
    of their most frequent values, the others share the last bin, and a missing value is a
    value like any other.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        The rows. A NaN in a numeric feature is in no bin. A sparse matrix is read feature by
        feature, never made dense as a whole.
    y : array-like of shape (n_samples,)
        Labels, of at least two classes; classes are in the order of ``np.unique(y)``.
    n_bins : int, default=16
        Largest number of bins of a feature, at least 2.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; None means 1 each.

    Returns
    -------
    ndarray of shape (n_classes, n_features, n_bins)
        Sums of weights; bins that a feature does not need are 0.

    Examples
    --------
    >>> from skecoc.coding.histograms import class_histograms
    >>> class_histograms([[0.0], [0.0], [1.0], [1.0]], ["a", "a", "a", "b"], n_bins=2)
    array([[[2., 1.]],
           [[0., 1.]]])
    """
    n_bins = check_count(n_bins, "n_bins", 2)
    X = check_array(X, accept_sparse="csc", dtype=None, ensure_all_finite=False, input_name="X")
    classes, class_of_row = _check_labels(X, y)
    weight = _check_weights(X, sample_weight)
    histograms = np.empty((len(classes), X.shape[1], n_bins))
    for feature in range(X.shape[1]):
        bins = _bins_of_feature(_column(X, feature), weight, n_bins)
        known = bins >= 0
        cell = class_of_row[known] * n_bins + bins[known]
        counts = np.bincount(cell, weights=weight[known], minlength=len(classes) * n_bins)
        histograms[:, feature] = counts.reshape(len(classes), n_bins)
    return histograms


def _check_labels(X: Any, y: ArrayLike) -> tuple[NDArray[Any], Indices]:
    """Return the classes, and the index of the class of every row."""
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    classes, class_of_row = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got {len(classes)}")
    return classes, class_of_row


def _check_weights(X: Any, sample_weight: ArrayLike | None) -> Floats:
    """Return the weight of every row."""
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must not be all zero")
    return weight


def _column(X: Any, feature: int) -> NDArray[Any]:
    """Return the values of one feature as a dense array of shape (n_samples,)."""
    values: NDArray[Any] = X[:, [feature]].toarray().ravel() if issparse(X) else X[:, feature]
    return values


def _bins_of_feature(values: NDArray[Any], weight: Floats, n_bins: int) -> Indices:
    """Return the bin of every row, -1 for rows without a value or without weight."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return _category_bins(values.astype(str), weight, n_bins)
    bins = np.full(len(values), -1, dtype=np.intp)
    counted = ~np.isnan(numbers) & (weight > 0)
    bins[counted] = _number_bins(numbers[counted], weight[counted], n_bins)
    return bins


def _number_bins(values: Floats, weight: Floats, n_bins: int) -> Indices:
    """Cut numbers into bins of about equal weight, never between equal numbers."""
    distinct, rank = np.unique(values, return_inverse=True)
    if len(distinct) <= n_bins:
        return rank
    mass = np.cumsum(np.bincount(rank, weights=weight))
    share_below_cut = mass[:-1] / mass[-1]
    wanted = np.arange(1, n_bins) / n_bins
    above = np.searchsorted(share_below_cut, wanted).clip(1, len(share_below_cut) - 1)
    nearer_below = wanted - share_below_cut[above - 1] <= share_below_cut[above] - wanted
    cuts = np.unique(above - nearer_below)
    return np.searchsorted(cuts, rank)


def _category_bins(values: NDArray[np.str_], weight: Floats, n_bins: int) -> Indices:
    """Give the heaviest categories a bin each, and the others the last bin together."""
    _, category = np.unique(values, return_inverse=True)
    mass = np.bincount(category, weights=weight)
    bin_of_category = np.empty(len(mass), dtype=np.intp)
    bin_of_category[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
    return bin_of_category.clip(max=n_bins - 1)[category]
