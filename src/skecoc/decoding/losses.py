"""Loss functions of a margin, and the decoders that add, average or weight them over the columns."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from skecoc.decoding.scoring import BaseDecoder, Floats, Indices
from skecoc.support.errors import resolve_name

Loss = Callable[[Floats], Floats]

# exp(690) is about 1e299, the square of 1e149 is 1e298: a sum of millions of such losses is still finite.
LARGEST_EXPONENT = 690.0
LARGEST_OUTPUT = 1e149


def linear(margins: Floats) -> Floats:
    """Return ``-t``, the negated margin; MATLAB's ``"linear"``, ``(1 - t) / 2``, gives averages the same order."""
    return np.negative(margins)


def exponential(margins: Floats) -> Floats:
    """Return ``exp(-t)``, the loss of AdaBoost, twice MATLAB's; margins below -690 count as that: sums stay finite."""
    exponents = np.minimum(np.negative(margins), LARGEST_EXPONENT)
    return np.exp(exponents, out=exponents)


def hinge(margins: Floats) -> Floats:
    """Return ``max(0, 1 - t)``, the loss of support vector machines, twice MATLAB's ``"hinge"``."""
    return np.maximum(0.0, 1.0 - margins)


def logistic(margins: Floats) -> Floats:
    """Return ``log(1 + exp(-t))``, the loss of logistic regression, ``2 log 2`` times MATLAB's ``"logit"``."""
    return np.logaddexp(0.0, np.negative(margins))


def squared(margins: Floats) -> Floats:
    """Return ``(1 - t) ** 2``, the loss of least squares, with ``1 - t`` bounded by 1e149 so that sums stay finite.

    MATLAB's ``"quadratic"``, which takes probabilities p, is half of this for x = 2 p - 1.
    """
    shortfalls = np.clip(1.0 - margins, -LARGEST_OUTPUT, LARGEST_OUTPUT)
    return np.square(shortfalls, out=shortfalls)


def binomial_deviance(margins: Floats) -> Floats:
    """Return ``log(1 + exp(-2 t))``, Allwein's loss of logistic regression and ``2 log 2`` times MATLAB's."""
    return np.logaddexp(0.0, -2.0 * margins)


#: The loss functions by the name that the decoders' `loss` takes.
LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        "linear": linear,
        "exponential": exponential,
        "hinge": hinge,
        "logistic": logistic,
        "squared": squared,
        "binomial-deviance": binomial_deviance,
    }
)


def sum_losses(loss: Loss, codewords: Floats, signed_weights: Floats) -> Floats:
    """Add the losses of every codeword against every row of signs, each weighted by the size of its entry."""
    if loss is linear:
        return -(codewords @ signed_weights.T)
    # A margin is x or -x, so two losses for each output serve all rows of the matrix.
    at_plus_one = loss(codewords) @ np.maximum(signed_weights, 0.0).T
    at_minus_one = loss(-codewords) @ np.maximum(-signed_weights, 0.0).T
    return at_plus_one + at_minus_one


def sum_correct(codewords: Floats, y: Indices, matrix: Floats, sample_weight: Floats) -> Floats:
    """Sum up the weights of each class's samples whose output has the sign of the code, column by column.

    An output of zero is never correct. Sums of blocks of samples can be added.
    """
    n_samples, n_rows = len(codewords), len(matrix)
    members = csr_array((sample_weight, (y, np.arange(n_samples))), shape=(n_rows, n_samples))
    correct = np.where(matrix > 0, members @ (codewords > 0).astype(np.float64), 0.0)
    correct += np.where(matrix < 0, members @ (codewords < 0).astype(np.float64), 0.0)
    return correct


def loss_weights(correct: Floats, matrix: Floats) -> Floats:
    """Turn what `sum_correct` gives into weights that sum to 1 for every class; equal ones where nothing is correct."""
    # A row of weights is normalised, so the fraction's common denominator, the class's total weight, cancels.
    agreements = np.where(correct.any(axis=1, keepdims=True), correct, np.abs(matrix))
    return agreements / agreements.sum(axis=1, keepdims=True)


class _LossDecoder(BaseDecoder):
    """Base of decoders with a loss."""

    loss_function_: Loss

    def __init__(self, loss: str = "linear") -> None:
        self.loss = loss

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:  # noqa: ARG002
        """Resolve the loss; the training codewords are not read."""
        self.loss_function_ = resolve_name("loss", self.loss, LOSSES)


class LossBasedDecoder(_LossDecoder):
    r"""Score a class by the negated sum of losses over all columns.

    .. math:: s_p(x) = -\sum_q L(M_{pq} x_q)

    A zero in the matrix contributes :math:`L(0)`, as in the reference. For losses with :math:`L(0) > 0`, rows with many
    zeros have lower scores; `LossAveragedDecoder` ignores zeros.

    Parameters
    ----------
    loss : {"linear", "exponential", "hinge", "logistic", "squared", "binomial-deviance"}, default="linear"
        The loss :math:`L(t)` of a margin: :math:`-t`, :math:`e^{-t}`, :math:`\max(0, 1 - t)`,
        :math:`\log(1 + e^{-t})`, :math:`(1 - t)^2` or :math:`\log(1 + e^{-2t})`.

    Attributes
    ----------
    loss_function_ : callable
        The loss function.

    References
    ----------
    E. L. Allwein, R. E. Schapire, Y. Singer. Reducing multiclass to binary: a unifying approach for margin
    classifiers. Journal of Machine Learning Research 1, 113-141, 2000.

    Examples
    --------
    >>> from skecoc.decoding import LossBasedDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = LossBasedDecoder("hinge").fit([[1.0, 1.0, 1.0]], [0], matrix)
    >>> decoder.scores([[1.0, 0.5, -0.5]])
    array([[-1.5, -4.5, -3. ]])
    """

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        """Sum up the losses of the matrix's zeros; the training codewords are not read."""
        super()._learn(codewords, y, weight)
        self._loss_of_zeros = (self.matrix_ == 0).sum(axis=1) * self.loss_function_(np.zeros(1))

    def _scores(self, codewords: Floats) -> Floats:
        return -(sum_losses(self.loss_function_, codewords, self.matrix_) + self._loss_of_zeros)


class LossAveragedDecoder(_LossDecoder):
    r"""Score a class by the negated average loss over the non-zero positions of its row.

    .. math:: s_p(x) = -\frac{\sum_q |M_{pq}| L(M_{pq} x_q)}{\sum_q |M_{pq}|}

    MATLAB calls this decoding ``"lossweighted"``. Its losses are equal to these up to a factor (the linear loss up to a
    factor and a constant), so predictions are the same.

    Parameters
    ----------
    loss : {"linear", "exponential", "hinge", "logistic", "squared", "binomial-deviance"}, default="linear"
        The loss :math:`L(t)` of a margin; see `LossBasedDecoder`.

    Attributes
    ----------
    loss_function_ : callable
        The loss function.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE TPAMI
    32(1), 120-134, 2010.

    Examples
    --------
    >>> from skecoc.decoding import LossAveragedDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = LossAveragedDecoder("hinge").fit([[1.0, 1.0, 1.0]], [0], matrix)
    >>> decoder.scores([[1.0, 0.5, -0.5]])
    array([[-0.25, -1.75, -1.  ]])
    """

    def _scores(self, codewords: Floats) -> Floats:
        # Dividing the sums, not the matrix, keeps averages that are equal exactly equal.
        return -sum_losses(self.loss_function_, codewords, self.matrix_) / np.abs(self.matrix_).sum(axis=1)


class LossWeightedDecoder(_LossDecoder):
    r"""Score a class by the negated weighted sum of losses, with weights learnt from training codewords.

    .. math::
        s_p(x) = -\sum_q W_{pq} L(M_{pq} x_q), \quad W_{pq} = \frac{H_{pq}}{\sum_r H_{pr}}

    where :math:`H_{pq}` is the fraction of class p's training samples with
    :math:`\operatorname{sign}(x_q) = M_{pq}`, and 0 where :math:`M_{pq}` is 0. An output of exactly zero
    agrees with neither sign. If :math:`H` is zero in all columns of a class, or a class has no training samples, its
    weights are equal over the non-zero positions of its row.

    Use this decoder with care if class weights are very different. If the columns that separate a class of low weight
    fail, its weights are on columns that are almost always correct for it, and it is then predicted too often.

    Parameters
    ----------
    loss : {"linear", "exponential", "hinge", "logistic", "squared", "binomial-deviance"}, default="linear"
        The loss :math:`L(t)` of a margin; see `LossBasedDecoder`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_rows, n_columns)
        The weights :math:`W`; every row sums to 1.
    loss_function_ : callable
        The loss function.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE TPAMI
    32(1), 120-134, 2010.

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
    weights_: Floats

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        self._fit_sums(sum_correct(codewords, y, self.matrix_, weight), self.matrix_)

    def _fit_sums(self, correct: Floats, matrix: Floats) -> Self:
        """Learn the weights from what `sum_correct` gives, added up over blocks of samples."""
        self.matrix_, self.loss_function_ = matrix, resolve_name("loss", self.loss, LOSSES)
        self.weights_ = loss_weights(correct, matrix)
        return self

    def _scores(self, codewords: Floats) -> Floats:
        return -sum_losses(self.loss_function_, codewords, self.weights_ * self.matrix_)
