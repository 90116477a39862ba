"""Logistic weights: fitted by penalised maximum likelihood, shrunk towards equal weights; scores are probabilities."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from skecoc.decoding.groups import fit_steepness, group_weights, smoothed_targets
from skecoc.decoding.scoring import (
    BaseDecoder,
    Floats,
    Indices,
    check_codewords,
    check_decoder_matrix,
    check_rows_and_weights,
)


@dataclass(frozen=True)
class LogisticCertificate:
    """Certificate of logistic weights: objective, lower bound and gap.

    Attributes
    ----------
    objective : float
        Value of the objective: the log-loss summed over samples, plus the penalty.
    log_loss : float
        The mean log-loss of the training codewords.
    lower_bound : float
        Lower bound of the objective for all weights, from the dual problem.
    gap : float
        Difference between objective and lower bound, relative to the objective.
    n_iter : int
        Number of iterations.
    seconds : float
        Time in seconds.
    """

    objective: float
    log_loss: float
    lower_bound: float
    gap: float
    n_iter: int
    seconds: float


class LogisticWeightDecoder(BaseDecoder):
    r"""Score a class by its log-probability, from weights fitted by penalised maximum likelihood.

    .. math::
        s_p(x) = b_p + \sum_q v_{pq} M_{pq} x_q, \qquad v_{pq} = r_{pq} v^0_{pq} \ge 0

    `scores` returns the log-probabilities :math:`s_p(x) - \log \sum_r e^{s_r(x)}`.

    The prior weights :math:`v^0` are equal within a group of columns: for each class, the columns of group k share its
    steepness :math:`\beta_k` equally (a class without columns in the group gives its share to those in the first one).
    A group is, for example, the columns of one learner. First the few numbers :math:`\beta_k` are fitted; a group that
    adds nothing to the others gets :math:`\beta_k = 0` and has no weight. Then the factors :math:`r` and the biases b
    minimise the convex objective

    .. math::
        \sum_i w_i \Bigl(\log \sum_p e^{s_p(x_i)} - \sum_p t_{ip} s_p(x_i)\Bigr)
        + \frac{1}{2 \sigma^2} \sum_{pq} (r_{pq} - 1)^2 + \frac{1}{2} \sum_p \bigl(s_p(\bar x) - s^0_p(\bar x)\bigr)^2,

    where the targets :math:`t_{ip}` are 1 for the row of the sample's class and 0 for others, smoothed by the weight of
    half a sample, and the last term keeps the scores of the mean codeword close to those of the prior weights. With few
    samples, the weights of a group remain nearly equal; with many samples, they differ. Codewords should be out of
    fold: on training samples, learners that predict all of them correctly look equally good.

    Parameters
    ----------
    spread : float, default=1.0
        The standard deviation :math:`\sigma` of the factors in the penalty. A smaller value keeps the weights closer to
        equal weights.
    tol : float, default=1e-4
        Relative duality gap at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.

    Attributes
    ----------
    weights_ : ndarray of shape (n_rows, n_columns)
        The weights v, divided by the sum of each row: every row sums to 1, or is zero if all groups have steepness 0.
    steepness_ : ndarray of shape (n_rows,)
        The sum of each row of v.
    bias_ : ndarray of shape (n_rows,)
        The biases b.
    group_shares_ : ndarray of shape (n_rows, n_groups)
        Share of each group in the weights of each row: the sum of its weights.
    certificate_ : LogisticCertificate
        Objective, lower bound and gap.

    See Also
    --------
    OptimizedWeightDecoder : Weights of minimal hinge loss.

    Notes
    -----
    The lower bound is the Fenchel dual at the probabilities of the weights found: for :math:`p_i` in the simplex and
    :math:`u_{pq} = v^0_{pq} M_{pq} \sum_i w_i (p_{ip} - t_{ip}) x_{iq}`, it is the entropy :math:`-\sum_i w_i \sum_p
    p_{ip} \log p_{ip}` plus the minima, known in closed form, of :math:`u r + (r - 1)^2 / (2 \sigma^2)` over :math:`r
    \ge 0` and of the corresponding term for the scores of the mean codeword.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc.decoding import LogisticWeightDecoder
    >>> matrix = [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> codewords = np.array(matrix) * 0.8
    >>> decoder = LogisticWeightDecoder().fit(np.tile(codewords, (20, 1)), np.tile([0, 1, 2], 20), matrix)
    >>> np.exp(decoder.scores(codewords[:1])).round(2)
    array([[0.99, 0.  , 0.  ]])
    >>> decoder.certificate_.gap < 1e-4
    True
    """

    learns_from_codewords: ClassVar[bool] = True
    #: Whether `fit` treats groups of columns, such as those of one learner, alike.
    takes_groups: ClassVar[bool] = True
    #: `scores` are logarithms of probabilities.
    scores_are_log_probabilities: ClassVar[bool] = True
    weights_: Floats
    steepness_: Floats
    bias_: Floats
    group_shares_: Floats
    certificate_: LogisticCertificate

    def __init__(self, spread: float = 1.0, *, tol: float = 1e-4, max_iter: int = 1000) -> None:
        self.spread = spread
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        codewords: ArrayLike,
        y: ArrayLike,
        matrix: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Predicted codewords of the training samples, preferably out of fold.
        y : array-like of int of shape (n_samples,)
            Index of the matrix row that each sample belongs to.
        matrix : array-like of shape (n_rows, n_columns)
            The code matrix, with entries in {-1, 0, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the training samples; None means 1 each.
        groups : array-like of int of shape (n_columns,), default=None
            The group of each column, numbered from 0; None means one group.

        Returns
        -------
        self
            The fitted decoder.
        """
        started = perf_counter()
        for name in ("spread", "tol"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
                raise ValueError(f"{name} must be a positive, finite number, got {value!r}")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer of at least 1, got {self.max_iter!r}")
        M = check_decoder_matrix(matrix)
        x = check_codewords(codewords, M.shape[1])
        rows, weight = check_rows_and_weights(y, sample_weight, len(x), len(M))
        members = np.zeros(M.shape[1], dtype=np.intp) if groups is None else np.asarray(groups)
        if members.shape != M.shape[1:] or members.dtype.kind not in "iu" or members.min() < 0:
            raise ValueError(f"groups must hold {M.shape[1]} integers that are not negative, one per column")
        members = np.unique(members, return_inverse=True)[1]
        equal = group_weights(M, members)
        scores = np.stack([x @ (weights * M).T for weights in equal])
        prior = np.tensordot(fit_steepness(scores, rows, weight), equal, 1)
        problem = _Problem(x, rows, weight, M, prior, float(self.spread))
        found, n_iter = problem.minimize(float(self.tol), int(self.max_iter))
        weights, bias = problem.weights_and_bias(found)
        self.matrix_, self.bias_ = M, bias
        self.steepness_ = weights.sum(axis=1)
        self.weights_ = weights / np.where(self.steepness_ > 0, self.steepness_, 1.0)[:, None]
        self.group_shares_ = np.column_stack([self.weights_[:, members == g].sum(axis=1) for g in range(len(equal))])
        objective, lower_bound = problem.bounds(found)
        gap = (objective - lower_bound) / objective if objective > 0 else 0.0
        log_loss = -float(weight @ problem.log_probabilities(found)[np.arange(len(rows)), rows] / weight.sum())
        self.certificate_ = LogisticCertificate(objective, log_loss, lower_bound, gap, n_iter, perf_counter() - started)
        if gap > self.tol:
            warnings.warn(
                f"logistic weights have a relative gap of {gap:.1e} after {n_iter} iterations, above tol={self.tol}; "
                "raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    @classmethod
    def _from_weights(cls, weights: Floats, matrix: ArrayLike, steepness: float) -> Self:
        """Make a decoder with given weights and one steepness for all classes, without biases."""
        decoder = cls()
        decoder.matrix_, decoder.weights_ = check_decoder_matrix(matrix), weights
        decoder.steepness_, decoder.bias_ = np.full(len(weights), steepness), np.zeros(len(weights))
        return decoder

    def _scores(self, codewords: Floats) -> Floats:
        code = (self.steepness_[:, None] * self.weights_ * self.matrix_).T
        scores = codewords @ code + self.bias_
        return scores - logsumexp(scores, axis=1, keepdims=True)


class _Problem:
    """The convex problem of factors and biases, its value, its gradient and its dual bound.

    A point holds the factors of the non-zero entries of the matrix, row by row, and then the biases of centred
    codewords, as differences from those of the prior. So factors do not change the scores of the mean codeword.
    """

    def __init__(self, x: Floats, y: Indices, weight: Floats, matrix: Floats, prior: Floats, spread: float) -> None:
        self.weight, self.shape = weight, matrix.shape
        self.targets = smoothed_targets(y, weight, len(matrix))
        self.centre = weight @ x / weight.sum()
        self.x = x - self.centre
        self.offset = (prior * matrix) @ self.centre  # what the prior gives a codeword in the centre
        self.entries = np.nonzero(prior * matrix)
        self.prior = prior[self.entries]
        self.signed = (prior * matrix)[self.entries]
        self.precision = 1.0 / spread**2
        self._point: Floats | None = None  # where the bounds were computed last
        self._bounds: tuple[float, float] = (np.inf, -np.inf)

    def weights_and_bias(self, point: Floats) -> tuple[Floats, Floats]:
        weights, code = np.zeros(self.shape), np.zeros(self.shape)
        weights[self.entries] = self.prior * point[: len(self.prior)]
        code[self.entries] = self.signed * point[: len(self.prior)]
        return weights, point[len(self.prior) :] + self.offset - code @ self.centre

    def log_probabilities(self, point: Floats) -> Floats:
        code = np.zeros(self.shape)
        code[self.entries] = self.signed * point[: len(self.prior)]
        scores = self.x @ code.T + (point[len(self.prior) :] + self.offset)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def value(self, point: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient; remember the objective and the dual bound."""
        n_factors = len(self.prior)
        logs = self.log_probabilities(point)
        probabilities = np.exp(logs)
        entropy = -float(self.weight @ (probabilities * logs).sum(axis=1))
        residuals = self.weight[:, None] * (probabilities - self.targets)
        slopes = (residuals.T @ self.x)[self.entries] * self.signed
        sums = residuals.sum(axis=0)
        shifts, bias = point[:n_factors] - 1.0, point[n_factors:]
        penalty = 0.5 * (self.precision * float(shifts @ shifts) + float(bias @ bias))
        objective = penalty - float(self.weight @ (self.targets * logs).sum(axis=1))
        best = np.maximum(1.0 - slopes / self.precision, 0.0)
        least = float(slopes @ best + 0.5 * self.precision * ((best - 1.0) ** 2).sum())
        bound = entropy + least + float(sums @ (self.offset - 0.5 * sums))
        self._point, self._bounds = point.copy(), (objective, bound)
        return objective, np.append(slopes + self.precision * shifts, sums + bias)

    def bounds(self, point: Floats) -> tuple[float, float]:
        """Return the objective and a lower bound of all its values."""
        if self._point is None or not np.array_equal(point, self._point):
            self.value(point)
        return self._bounds

    def minimize(self, tol: float, max_iter: int) -> tuple[Floats, int]:
        """Minimise from the prior until the relative gap is small enough; return the point and the iterations made."""

        def stop_if_close(intermediate_result: Any) -> None:
            objective, bound = self.bounds(intermediate_result.x)
            if objective - bound <= tol * objective:
                raise StopIteration

        limits = [(0.0, None)] * len(self.prior) + [(None, None)] * self.shape[0]
        options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
        start = np.append(np.ones(len(self.prior)), np.zeros(self.shape[0]))
        found = minimize(
            self.value, start, jac=True, method="L-BFGS-B", bounds=limits, callback=stop_if_close, options=options
        )
        return np.maximum(found.x, np.append(np.zeros(len(self.prior)), np.full(self.shape[0], -np.inf))), found.nit
