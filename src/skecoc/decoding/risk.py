"""Risk matrix and confusion matrix of weighted decoding."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skecoc.decoding.base import (
    Floats,
    Indices,
    check_decoder_matrix,
    check_rows_and_weights,
    chunk_slices,
    worst_rivals,
)


class RiskAndConfusion(NamedTuple):
    """Sums over the samples of each class (first axis) by their worst rival (second axis)."""

    risk: Floats
    confusion: Floats


def risk_and_confusion(
    codewords: ArrayLike,
    y: ArrayLike,
    matrix: ArrayLike,
    weights: ArrayLike,
    *,
    margin: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> RiskAndConfusion:
    r"""Sum losses and errors by class and worst rival (the other class with the highest score).

    With :math:`t_p(x) = \sum_q W_{pq} M_{pq} x_q`, a sample of class i whose worst rival is :math:`j = \arg\max_{p \ne
    i} t_p(x)` adds its weight times :math:`\max(0, \Delta + t_j(x) - t_i(x))` to ``risk[i, j]`` (for :math:`\Delta = 0`
    the risk matrix of WOLC-ECOC), and its weight to ``confusion[i, j]`` if :math:`t_j(x) > t_i(x)`, otherwise to
    ``confusion[i, i]``.

    Parameters
    ----------
    codewords : array-like of shape (n_samples, n_columns)
        Predicted codewords; arrays of floats or integers are not copied.
    y : array-like of int of shape (n_samples,)
        Index of the matrix row that each sample belongs to.
    matrix : array-like of shape (n_rows, n_columns)
        The code matrix, with entries in {-1, 0, 1}.
    weights : array-like of shape (n_rows, n_columns)
        The weights :math:`W`.
    margin : float, default=0.0
        The margin :math:`\Delta`. If it is positive, correct samples with a smaller margin contribute to the risk too.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the samples; None means 1 each.

    Returns
    -------
    risk : ndarray of shape (n_rows, n_rows)
        Losses; the diagonal is zero.
    confusion : ndarray of shape (n_rows, n_rows)
        Weights of the samples; the diagonal holds those that are classified correctly, ties included.

    Examples
    --------
    >>> from skecoc.decoding import risk_and_confusion
    >>> equal = [[0.5, 0.5], [0.5, 0.5]]
    >>> risk_and_confusion([[0.5, -0.5], [-0.25, 0.0], [-1.0, 1.0]], [0, 0, 1], [[1, -1], [-1, 1]], equal).risk
    array([[0.  , 0.25],
           [0.  , 0.  ]])
    """
    M = check_decoder_matrix(matrix)
    x = np.asarray(codewords)
    if x.ndim != 2 or x.shape[1] != M.shape[1]:
        raise ValueError(f"codewords must have shape (n_samples, {M.shape[1]}), got {x.shape}")
    W = np.asarray(weights, dtype=np.float64)
    if W.shape != M.shape:
        raise ValueError(f"weights must have the shape {M.shape} of the matrix, got {W.shape}")
    rows, weight = check_rows_and_weights(y, sample_weight, len(x), len(M))
    risk, confusion = np.zeros((len(M), len(M))), np.zeros((len(M), len(M)))
    code = (W * M).T
    for part in chunk_slices(len(x), x.shape[1] + len(M)):
        own, chunk_weight = rows[part], weight[part]
        rivals, leads = worst_rivals(np.ascontiguousarray(x[part], dtype=np.float64) @ code, own)
        risk += _table(own, rivals, chunk_weight * np.maximum(margin + leads, 0.0), len(M))
        confusion += _table(own, np.where(leads > 0, rivals, own), chunk_weight, len(M))
    return RiskAndConfusion(risk, confusion)


def _table(first: Indices, second: Indices, values: Floats, n_classes: int) -> Floats:
    """Sum up values by two class indices."""
    sums: Floats = np.bincount(first * n_classes + second, values, minlength=n_classes**2).astype(np.float64)
    return sums.reshape(n_classes, n_classes)
