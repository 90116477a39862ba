"""Loss-weighted decoding: columns count by how well they answer for each class."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skecoc.decoding.base import BaseDecoder, Floats
from skecoc.decoding.losses import Loss, resolve_loss, sum_losses


def agreement_weights(codewords: Floats, y: NDArray[np.intp], matrix: Floats, sample_weight: Floats) -> Floats:
    """Weight each column for each class by how often it is right on the class's training rows.

    Parameters
    ----------
    codewords : ndarray of shape (n_samples, n_columns)
        Predicted codewords of the training rows; only their signs count, and zero is never right.
    y : ndarray of int of shape (n_samples,)
        Index of the matrix row that each training row belongs to.
    matrix : ndarray of shape (n_rows, n_columns)
        The code matrix, with a non-zero entry in every row.
    sample_weight : ndarray of shape (n_samples,)
        Non-negative weights of the training rows.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Non-negative weights, zero where the matrix is zero, with rows that sum to 1. A row without a right
        answer, or without training rows, has equal weights over its non-zero positions.

    Examples
    --------
    >>> codewords = np.array([[0.8, -0.1], [0.4, 0.3], [-1.0, -0.2]])
    >>> agreement_weights(codewords, np.array([0, 0, 1]), np.array([[1.0, 1.0], [-1.0, 0.0]]), np.ones(3)).round(4)
    array([[0.6667, 0.3333],
           [1.    , 0.    ]])
    """
    return normalized_agreements(right_answers(codewords, y, matrix, sample_weight), matrix)


def right_answers(codewords: Floats, y: NDArray[np.intp], matrix: Floats, sample_weight: Floats) -> Floats:
    """Sum up the weights of each class's rows that a column answers rightly: a sum that blocks of rows can share.

    Parameters
    ----------
    codewords : ndarray of shape (n_samples, n_columns)
        Predicted codewords; only their signs count, and zero is never right.
    y : ndarray of int of shape (n_samples,)
        Index of the matrix row that each row belongs to.
    matrix : ndarray of shape (n_rows, n_columns)
        The code matrix.
    sample_weight : ndarray of shape (n_samples,)
        Non-negative weights of the rows.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Sums of weights, zero where the matrix is zero.
    """
    n_samples, n_rows = len(codewords), len(matrix)
    members = csr_array((sample_weight, (y, np.arange(n_samples))), shape=(n_rows, n_samples))
    right = np.where(matrix > 0, members @ (codewords > 0).astype(np.float64), 0.0)
    right += np.where(matrix < 0, members @ (codewords < 0).astype(np.float64), 0.0)
    return right


def normalized_agreements(right: Floats, matrix: Floats) -> Floats:
    """Turn the weights of right answers into weights of columns.

    Parameters
    ----------
    right : ndarray of shape (n_rows, n_columns)
        Result of `right_answers` for all rows.
    matrix : ndarray of shape (n_rows, n_columns)
        The code matrix, with a non-zero entry in every row.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Weights with rows that sum to 1; equal ones for a class without a right answer.
    """
    # A row of weights is normalised, so the fraction's common denominator, the class's total weight, cancels.
    agreements = np.where(right.any(axis=1, keepdims=True), right, np.abs(matrix))
    return agreements / agreements.sum(axis=1, keepdims=True)


class LossWeightedDecoder(BaseDecoder):
    r"""Score a class by the negated weighted sum of losses, with weights learnt from training codewords.

    .. math::
        s_p(x) = -\sum_q W_{pq} L(M_{pq} x_q), \quad W_{pq} = \frac{H_{pq}}{\sum_r H_{pr}}

    where :math:`H_{pq}` is the fraction of class p's training rows with
    :math:`\operatorname{sign}(x_q) = M_{pq}`, and 0 where :math:`M_{pq}` is 0. An output of exactly zero
    agrees with neither sign. A class whose :math:`H` is all zero, or which has no training rows, has equal
    weights over the non-zero positions of its row.

    Parameters
    ----------
    loss : {"linear", "exponential", "hinge", "logistic", "squared", "binomial-deviance"}, default="linear"
        The loss :math:`L(t)` of a margin: :math:`-t`, :math:`e^{-t}`, :math:`\max(0, 1 - t)`,
        :math:`\log(1 + e^{-t})`, :math:`(1 - t)^2` or :math:`\log(1 + e^{-2t})`.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, n_columns)
        The code matrix.
    weights_ : ndarray of shape (n_rows, n_columns)
        The weights :math:`W`; every row sums to 1.
    loss_function_ : callable
        The function that `loss` names.

    See Also
    --------
    LossBasedDecoder : The same sum without weights.
    LossAveragedDecoder : Equal weights over the non-zero positions.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32(1), 120-134, 2010.

    Examples
    --------
    >>> from skecoc.decoding import LossWeightedDecoder
    >>> matrix = [[1, 1], [-1, 1], [0, -1]]
    >>> codewords = [[0.5, 0.9], [0.2, -0.4], [-0.3, 0.7], [0.6, -0.8]]
    >>> decoder = LossWeightedDecoder().fit(codewords, [0, 0, 1, 2], matrix)
    >>> decoder.weights_.round(4)
    array([[0.6667, 0.3333],
           [0.5   , 0.5   ],
           [0.    , 1.    ]])
    >>> decoder.scores([[0.45, -0.6]]).round(4)
    array([[ 0.1  , -0.525,  0.6  ]])
    """

    learns_from_codewords: ClassVar[bool] = True
    loss_function_: Loss
    weights_: Floats

    def __init__(self, loss: str = "linear") -> None:
        self.loss = loss

    def _learn(self, codewords: Floats, y: NDArray[np.intp], weight: Floats) -> None:
        """Learn the weights."""
        self.loss_function_ = resolve_loss(self.loss)
        self.weights_ = agreement_weights(codewords, y, self.matrix_, weight)

    def _fit_sums(self, right: Floats, matrix: Floats) -> Self:
        """Learn the weights from the sums of `right_answers` over blocks of rows."""
        self.matrix_, self.loss_function_ = matrix, resolve_loss(self.loss)
        self.weights_ = normalized_agreements(right, matrix)
        return self

    def _scores(self, codewords: Floats) -> Floats:
        """Return the negated weighted sums of losses."""
        return -sum_losses(self.loss_function_, codewords, self.weights_ * self.matrix_)
