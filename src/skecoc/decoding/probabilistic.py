"""Probabilistic decoding: one calibrated probability for each column, multiplied over the columns."""

from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, root
from scipy.special import expit, logit

from skecoc.decoding.distances import count_agreements
from skecoc.decoding.losses import LARGEST_OUTPUT, logistic, sum_losses
from skecoc.decoding.scoring import BaseDecoder, Floats, Indices

#: Sums of outputs, at most 1 in size, are divided by this before they are added to votes, which differ by 1/2 or more.
SMALLER_THAN_VOTES = 5.0
#: Support of classes that differs by no more than this is equal.
EQUAL_SUPPORT = 1e-9
#: Smallest lead of the class with the most votes over the highest other score, relative to that score.
LEAD = 1e-6
#: Below every score, and finite, so that differences from it are numbers.
LOWEST_SCORE = -1e300

# Outputs that vary by no more than this part of their size, or this much at all, are constant.
_CONSTANT_RELATIVE = 1e-10
_CONSTANT_ABSOLUTE = 1e-100
# Newton's method ends when no entry of the gradient is larger than this, or after so many steps.
_FLAT = 1e-14
_MOST_STEPS = 100
# No step is made shorter than this part of a Newton step.
_SHORTEST_STEP = 1e-10
# It has failed if the gradient is still larger than this, or if the determinant of the second derivatives, relative to
# the product of its diagonal, is smaller than this.
_NEARLY_FLAT = 1e-11
_SINGULAR = 1e-9


class ProbabilisticDecoder(BaseDecoder):
    r"""Score a class by the logarithm of the probability of its row of the matrix.

    .. math::
        s_p(x) = \log\Bigl(K + \prod_{q: M_{pq} \ne 0} \frac{1}{1 + \exp(M_{pq} (v_q x_q + w_q))}\Bigr)

    The slope :math:`v_q` and intercept :math:`w_q` are those of Platt scaling: the sigmoid :math:`1 / (1 + \exp(v_q x_q
    + w_q))` is fitted by maximum likelihood to the training samples that take part in column q, with the smoothed
    targets :math:`(n_+ + 1) / (n_+ + 2)` for the +1 side and :math:`1 / (n_- + 2)` for the -1 side, where :math:`n_+`
    and :math:`n_-` are the (weighted) numbers of samples. The smoothed targets keep slopes finite. The slope is 0 for a
    column with samples on one side only, or whose training outputs are all equal; without training samples, the
    probability is 1/2. Outputs are clipped to ±1e149.

    Parameters
    ----------
    invalid_mass : float, default=0.0
        The constant :math:`K \ge 0`, for the probability of codewords that belong to no class. It does not change the
        order of the classes, but a large value hides the differences between improbable classes.

    Attributes
    ----------
    slopes_ : ndarray of shape (n_columns,)
        The slopes :math:`v`, negative for a column whose outputs are mostly correct.
    intercepts_ : ndarray of shape (n_columns,)
        The intercepts :math:`w`.

    References
    ----------
    A. Passerini, M. Pontil, P. Frasconi. New results on error correcting output codes of kernel machines. IEEE
    Transactions on Neural Networks 15(1), 45-54, 2004.

    J. Platt. Probabilistic outputs for support vector machines and comparisons to regularized likelihood
    methods. Advances in Large Margin Classifiers, 61-74, MIT Press, 1999.

    Examples
    --------
    >>> from skecoc.decoding import ProbabilisticDecoder
    >>> codewords = [[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> decoder = ProbabilisticDecoder().fit(codewords, [0, 0, 1, 2], [[1, 0], [-1, 1], [0, -1]])
    >>> decoder.slopes_.round(4), decoder.intercepts_.round(4) + 0.0
    (array([-0.8959, -0.6931]), array([-0.2027,  0.    ]))
    >>> decoder.scores([[1.0, 1.0]]).round(4)
    array([[-0.2877, -1.7918, -1.0986]])
    """

    learns_from_codewords: ClassVar[bool] = True
    slopes_: Floats
    intercepts_: Floats
    _log_invalid_mass: float

    def __init__(self, invalid_mass: float = 0.0) -> None:
        self.invalid_mass = invalid_mass

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        """Fit the slope and intercept of every column on the samples that take part in it."""
        if not isinstance(self.invalid_mass, Real) or not 0.0 <= self.invalid_mass < np.inf:
            raise ValueError(f"invalid_mass must be a finite number that is not negative, got {self.invalid_mass!r}")
        with np.errstate(divide="ignore"):
            self._log_invalid_mass = float(np.log(self.invalid_mass))
        fits = np.empty((self.matrix_.shape[1], 2))
        for q, outputs in enumerate(np.clip(codewords, -LARGEST_OUTPUT, LARGEST_OUTPUT).T):
            side = self.matrix_[y, q]
            taking_part = (side != 0) & (weight > 0)
            fits[q] = fit_sigmoid(outputs[taking_part], side[taking_part] > 0, weight[taking_part])
        self.slopes_, self.intercepts_ = fits.T

    def _scores(self, codewords: Floats) -> Floats:
        # log(1 / (1 + exp(m s))) is minus the logistic loss of the margin -m s.
        log_odds = self.slopes_ * np.clip(codewords, -LARGEST_OUTPUT, LARGEST_OUTPUT) + self.intercepts_
        log_product = -sum_losses(logistic, -log_odds, self.matrix_)
        return np.logaddexp(log_product, self._log_invalid_mass)


class VotingDecoder(ProbabilisticDecoder):
    r"""Predict by the votes of columns, and score classes by calibrated outputs.

    The scores are those of `ProbabilisticDecoder`, except that the class with the most votes always has the highest
    score. A vote is the sign of an output, as in `HammingDecoder`; ties are broken by the sum of outputs, :math:`\sum_q
    M_{pq} x_q`. With one-vs-one and margins, predictions are those of scikit-learn's `OneVsOneClassifier`. Scores of
    votes alone would not be suitable for probabilities: with three classes there are only eight outcomes.

    Parameters
    ----------
    invalid_mass : float, default=0.0
        See `ProbabilisticDecoder`.

    Attributes
    ----------
    slopes_ : ndarray of shape (n_columns,)
        The slopes of the columns' sigmoids, negative for a column whose outputs are mostly correct.
    intercepts_ : ndarray of shape (n_columns,)
        Their intercepts.

    Examples
    --------
    >>> from skecoc.coding import one_vs_one
    >>> from skecoc.decoding import ProbabilisticDecoder, VotingDecoder
    >>> codewords = [[1, 1, 1], [0.5, 0.5, 0], [-1, 0, 1], [-1, 0, 0.2], [0, -1, -1], [0, 0.2, -1]]
    >>> y = [0, 0, 1, 1, 2, 2]
    >>> outputs = [[0.1, 0.1, -0.9]]  # two votes for class 0, one for class 2
    >>> for kind in (ProbabilisticDecoder, VotingDecoder):
    ...     print(kind().fit(codewords, y, one_vs_one(3)).scores(outputs).round(2))
    [[-1.32 -2.05 -0.99]]
    [[-0.99 -2.05 -0.99]]
    """

    def _scores(self, codewords: Floats) -> Floats:
        scores = super()._scores(codewords)
        votes = count_agreements(codewords, self.matrix_) - np.abs(self.matrix_).sum(axis=1) / 2.0
        total = codewords @ self.matrix_.T
        # Sums of outputs decide between equal numbers of votes: they count less than half a vote.
        support = votes + total / (SMALLER_THAN_VOTES * (1.0 + np.abs(total)))
        is_first = support >= support.max(axis=1, keepdims=True) - EQUAL_SUPPORT
        rival = np.where(is_first, LOWEST_SCORE, scores).max(axis=1, keepdims=True)
        return np.where(is_first, np.maximum(scores, rival + LEAD * (1.0 + np.abs(rival))), scores)


def fit_sigmoid(outputs: Floats, is_positive: NDArray[np.bool_], sample_weight: Floats) -> Floats:
    """Fit the slope v and intercept w of Platt's probability ``1 / (1 + exp(v f + w))`` of the +1 side to outputs f."""
    if outputs.size == 0:
        return np.zeros(2)
    n_positive, n_negative = sample_weight[is_positive].sum(), sample_weight[~is_positive].sum()
    share = sample_weight / (n_positive + n_negative)
    # One minus Platt's targets: v f + w is the log odds of the -1 side.
    negative_target = np.where(is_positive, 1.0 / (n_positive + 2.0), (n_negative + 1.0) / (n_negative + 2.0))
    intercept = logit(share @ negative_target)
    if (
        n_positive == 0.0
        or n_negative == 0.0
        or np.ptp(outputs) <= max(_CONSTANT_RELATIVE * np.abs(outputs).max(), _CONSTANT_ABSOLUTE)
    ):
        return np.array([0.0, intercept])
    centre = share @ outputs
    spread = np.sqrt(share @ np.square(outputs - centre))
    # The log odds are linear in standardised outputs.
    design = np.vstack([(outputs - centre) / spread, np.ones_like(outputs)])
    problem = design, share, share * negative_target, np.array([0.0, intercept])
    found = _newton(*problem)
    slope, intercept = _trust_region(*problem) if found is None else found
    return np.array([slope / spread, intercept - slope * centre / spread])


def _newton(design: Floats, share: Floats, shared_target: Floats, start: Floats) -> Floats | None:
    """Minimise the cross-entropy by Newton's method; None where the second derivatives become singular."""
    found, log_odds = start, start @ design
    for _ in range(_MOST_STEPS):
        probability = expit(log_odds)
        gradient = design @ (share * probability - shared_target)
        if np.abs(gradient).max() <= _FLAT:
            return found
        hessian = (design * (share * probability * (1.0 - probability))) @ design.T
        determinant = hessian[0, 0] * hessian[1, 1] - hessian[0, 1] ** 2
        if not determinant > _SINGULAR * hessian[0, 0] * hessian[1, 1]:
            return None
        step = np.array([hessian[0, 1] * gradient[1] - hessian[1, 1] * gradient[0], 0.0])
        step[1] = hessian[0, 1] * gradient[0] - hessian[0, 0] * gradient[1]
        step /= determinant
        slope, change = gradient @ step, step @ design
        value = share @ np.logaddexp(0.0, log_odds) - shared_target @ log_odds
        size = 1.0
        while size > _SHORTEST_STEP:
            tried = log_odds + size * change
            # The last digits of the cross-entropy are rounding.
            if share @ np.logaddexp(0.0, tried) - shared_target @ tried <= value + 1e-4 * size * slope + _FLAT:
                break
            size /= 2.0
        found, log_odds = found + size * step, log_odds + size * change
    return found if np.abs(gradient).max() <= _NEARLY_FLAT else None


def _trust_region(design: Floats, share: Floats, shared_target: Floats, start: Floats) -> Floats:
    """Minimise the cross-entropy by a trust-region method, which is slower and does not fail."""

    def cross_entropy(coefficients: Floats) -> float:
        log_odds = coefficients @ design
        return float(share @ np.logaddexp(0.0, log_odds) - shared_target @ log_odds)

    def gradient(coefficients: Floats) -> Floats:
        return design @ (share * expit(coefficients @ design) - shared_target)

    def hessian(coefficients: Floats) -> Floats:
        probability = expit(coefficients @ design)
        return (design * (share * probability * (1.0 - probability))) @ design.T

    near = minimize(cross_entropy, start, method="trust-exact", jac=gradient, hess=hessian, options={"gtol": 1e-8})
    # The last digits of the cross-entropy are rounding, those of its gradient are not: solve that for zero.
    return root(gradient, near.x, jac=hessian, options={"xtol": 1e-12}).x
