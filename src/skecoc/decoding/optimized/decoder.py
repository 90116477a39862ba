"""Optimised-weight decoding: the weights that minimise the training risk, with a certificate."""

import operator
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from skecoc.decoding.losses import loss_weights, sum_correct
from skecoc.decoding.optimized.cutting import minimize_by_cuts
from skecoc.decoding.optimized.face import maximum_entropy_minimizer
from skecoc.decoding.optimized.newton import MANY_WEIGHTS, minimize_regularized
from skecoc.decoding.optimized.problem import (
    Block,
    Problem,
    Rows,
    WeightSpace,
    collapse_rows,
    relative_gap,
    row_scores,
    rows_from_arrays,
    rows_from_blocks,
)
from skecoc.decoding.scoring import (
    SOLVED_TIE_TOLERANCE,
    SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN,
    BaseDecoder,
    Floats,
    Indices,
    RiskAndConfusion,
    check_decoder_matrix,
    order_ties,
    risk_and_confusion,
    worst_rivals,
)

# Hard codewords tie exactly at the optimum; solved to this gap, which costs little for few rows, ties are sharp.
_GAP_OF_COLLAPSED_ROWS = 1e-8
# How far warm-start weights may be from feasible ones: rounding, not a mistake.
_START_TOLERANCE = 1e-6
#: Value of `margin` and `l2` that follows from the scores.
AUTO = "auto"
#: Value of `solver`: Algorithm 2 of the paper.
CUTTING_PLANE = "cutting-plane"
# Scores at a vertex that differ by no more than this are tied.
_ZERO = 1e-6
#: Penalty in the unit of `weight_scale`.
DEFAULT_STRENGTH = 0.05
# The margin in units of the mean distance between the scores of a sample's own class and of its best rival.
_MARGIN = 0.5
# Mean distances are sums of multiples of this, so that no order changes them.
_DISTANCE_UNIT = 2.0**-40


@dataclass(frozen=True)
class Certificate:
    """Certificate of optimised weights."""

    #: The objective: mean hinge with the margin, plus the penalty. If columns are appended for the same samples, margin
    #: and `l2`, its minimum never increases; with `prior_weights`, which change with every column, it may.
    objective: float
    #: The mean hinge with the margin, without the penalty.
    hinge: float
    #: The mean hinge without margin: eq. 7 of the paper, divided by the number of samples.
    risk: float
    #: Lower bound of the objective: the value of a feasible point of the dual problem or, with ``"cutting-plane"``, of
    #: the last linear program.
    lower_bound: float
    #: ``(objective - lower_bound) / max(objective, 1e-3)``.
    gap: float
    #: Number of passes over all samples.
    n_rounds: int
    #: Number of samples at a kink of their (smoothed) hinge in the last pass. With dual ascent, used for many weights:
    #: pairs of a sample and a rival class with a non-zero dual variable. With `l2=0`: constraints of the last program.
    n_cuts: int
    #: Number of samples after identical ones were merged.
    n_rows: int
    #: Wall-clock time of the fit.
    seconds: float


class OptimizedWeightDecoder(BaseDecoder):
    r"""Score a class by a weighted sum of outputs times code entries, with weights of minimal training risk.

    The score of class p for codeword x is :math:`t_p(x) = \sum_q W_{pq} M_{pq} x_q`, with weights in the unit simplex
    of each class and zero where the code is zero. They minimise

    .. math::
        \frac{\lambda}{2} \|W\|^2 + \frac{1}{\sum_i w_i} \sum_i w_i
        \max\bigl(0, \max_{p \ne y_i} (\Delta + t_p(x_i) - t_{y_i}(x_i))\bigr),

    which has a unique solution if :math:`\lambda` (`l2`) is positive. With ``l2=0`` there can be many solutions, and
    the one of maximum entropy is used. ``margin=0, l2=0`` is the problem of the paper (eq. 7).

    Samples of different classes may have the same hard codeword. Classes whose scores then differ by at most 1e-4 are
    tied; the class with the most tied training samples is predicted. With ``margin=0`` a tie has no loss, so most
    samples may be tied; scores that differ by at most 0.05 are then ordered by their loss-weighted scores.

    Parameters
    ----------
    margin : float or "auto", default=0.3
        The margin :math:`\Delta \ge 0`, on the scale of the codewords. "auto" is half of the mean distance between the
        scores of a sample's own class and of its best rival, by equal weights.
    l2 : float or "auto", default=0.01
        The penalty :math:`\lambda \ge 0`. A larger penalty gives weights closer to equal weights. "auto" is in
        proportion to this distance; `WOLCClassifier` chooses it out of fold.
    tol : float, default=1e-4
        Relative gap between the objective and its lower bound at which the solver stops. For hard codewords, of which
        identical ones were merged, the tolerance is at most 1e-8 (unless there are more than 10,000 weights), so that
        ties are exact.
    max_rounds : int, default=500
        Maximum number of passes over the samples; a few dozen are typical.
    solver : {"auto", "cutting-plane"}, default="auto"
        How the weights are found. "auto" depends on the size and the penalty; see Notes. "cutting-plane" is Algorithm 2
        of the paper, for ``l2=0``: its weights are a vertex of the feasible set, and the first of tied classes is
        predicted. It is for study: such weights predict poorly.
    class_weight : {"balanced"}, default=None
        "balanced" gives every class the same total weight in the risk; None uses the sample weights only.
    n_jobs : int, default=None
        Number of threads, as in joblib. The result is exactly the same for any number.

    Attributes
    ----------
    weights_ : ndarray of shape (n_rows, n_columns)
        The weights :math:`W`; every row sums to 1.
    margin_ : float
        The margin that was used.
    l2_ : float
        The penalty that was used.
    certificate_ : Certificate
        Objective, lower bound, gap and effort; not set by `from_weights`.
    tie_tolerance_ : float
        Scores that differ by no more than this are tied; 0 unless codewords are hard. Not used with ``margin=0``.
    tie_shares_ : ndarray of shape (n_rows,)
        Share of the training samples that belong to the class and are tied with other classes for the best score. Among
        tied classes, the one with the highest share is predicted. Not with ``margin=0``.
    tie_weights_ : ndarray of shape (n_rows, n_columns)
        Loss weights, whose scores are used to break ties; only with ``margin=0``.

    See Also
    --------
    LossWeightedDecoder : Weights from how often columns are correct.
    skecoc.decoding.risk_and_confusion : Losses and errors by pairs of classes.

    Notes
    -----
    The hinge of a sample is the maximum of linear functions. In each pass over the samples, a convex combination of
    these functions is summed: a cut, which is a lower bound of the objective and can be minimised exactly. With a
    smooth combination, about a dozen Newton steps reach weights and a cut with a small primal-dual gap. Problems with
    more than 300 weights are solved by dual ascent, with time per pass and memory linear in the number of weights;
    samples that do not fit in memory are then represented by a sample if there are more than 10,000 weights. Identical
    hard codewords of a class are merged first.

    References
    ----------
    X.-L. Zhang. Heuristic ternary error-correcting output codes via weight optimization and layered clustering-based
    approach. IEEE Transactions on Cybernetics 45(2), 289-301, 2015.

    Examples
    --------
    >>> from skecoc.decoding import OptimizedWeightDecoder
    >>> matrix = [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> codewords = [[0.9, -0.8, 0.4], [0.5, -0.9, 0.6], [-0.7, 0.8, -0.2], [-0.6, -0.1, 0.9]]
    >>> decoder = OptimizedWeightDecoder().fit(codewords, [0, 0, 1, 2], matrix)
    >>> decoder.weights_.sum(axis=1).round(9)
    array([1., 1., 1.])
    >>> decoder.certificate_.gap <= 1e-4
    True
    """

    learns_from_codewords: ClassVar[bool] = True
    weights_: Floats
    margin_: float
    l2_: float
    certificate_: Certificate
    tie_tolerance_: float

    def __init__(
        self,
        margin: float | str = 0.3,
        *,
        l2: float | str = 0.01,
        tol: float = 1e-4,
        max_rounds: int = 500,
        solver: str = "auto",
        class_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.margin = margin
        self.l2 = l2
        self.tol = tol
        self.max_rounds = max_rounds
        self.solver = solver
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(
        self,
        codewords: ArrayLike,
        y: ArrayLike,
        matrix: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        warm_start_weights: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the weights of minimal training risk.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Predicted codewords of the training samples; arrays of floats or integers are not copied.
        y : array-like of int of shape (n_samples,)
            Index of the matrix row that each sample belongs to; every row must occur.
        matrix : array-like of shape (n_rows, n_columns)
            The code matrix, with entries in {-1, 0, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the training samples; None means 1 each.
        warm_start_weights : array-like of shape (n_rows, n_columns), default=None
            Feasible weights to start from, such as those of an earlier fit with zeros for new columns. The final
            objective does not exceed theirs (with ``l2=0``, by no more than 1e-8).
        prior_weights : array-like of shape (n_rows, n_columns), default=None
            Feasible weights that the penalty shrinks towards; None means equal weights.

        Returns
        -------
        self
            The fitted decoder.
        """
        started = perf_counter()
        M = self._check(matrix)
        rows = rows_from_arrays(codewords, y, sample_weight, M, self.class_weight, self.n_jobs)
        return self._minimize(rows, M, warm_start_weights, prior_weights, started)

    def fit_blocks(
        self,
        blocks: Iterable[Any],
        matrix: ArrayLike,
        *,
        warm_start_weights: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the weights of minimal training risk to blocks of samples, for out-of-core data.

        Parameters
        ----------
        blocks : iterable of (codewords, y, sample_weight or None)
            Blocks of samples, with the arguments of `fit`. They are read in every pass over the samples, so this must
            be a list or another object that can be iterated over several times, not an iterator.
        matrix : array-like of shape (n_rows, n_columns)
            The code matrix, with entries in {-1, 0, 1}.
        warm_start_weights : array-like of shape (n_rows, n_columns), default=None
            Feasible weights to start from.
        prior_weights : array-like of shape (n_rows, n_columns), default=None
            Feasible weights that the penalty shrinks towards; None means equal weights.

        Returns
        -------
        self
            The fitted decoder.
        """
        started = perf_counter()
        M = self._check(matrix)
        rows = rows_from_blocks(blocks, M, self.class_weight, self.n_jobs)
        return self._minimize(rows, M, warm_start_weights, prior_weights, started)

    def _fit_rows(
        self,
        rows: Rows,
        matrix: ArrayLike,
        warm_start_weights: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the weights of minimal training risk to samples that may be on other machines."""
        started = perf_counter()
        return self._minimize(rows, self._check(matrix), warm_start_weights, prior_weights, started)

    def _with_classes(self, present: Indices, weights: Floats, matrix: ArrayLike) -> Self:
        """Widen the decoder, fitted to some classes, to all classes of a matrix; the others have given weights."""
        shape = np.shape(matrix)
        for name, others in (("weights_", weights), ("tie_weights_", weights), ("tie_shares_", np.zeros(shape[0]))):
            if hasattr(self, name):
                widened = np.array(others)
                widened[present] = getattr(self, name)
                setattr(self, name, widened)
        self.matrix_ = check_decoder_matrix(matrix)
        return self

    @classmethod
    def from_weights(cls, weights: ArrayLike, matrix: ArrayLike) -> Self:
        """Make a decoder with given weights instead of optimised ones; it has no certificate.

        Parameters
        ----------
        weights : array-like of shape (n_rows, n_columns)
            Non-negative weights, zero where the matrix is zero; every row sums to 1.
        matrix : array-like of shape (n_rows, n_columns)
            The code matrix, with entries in {-1, 0, 1}.

        Returns
        -------
        OptimizedWeightDecoder
            The fitted decoder.

        Examples
        --------
        >>> from skecoc.decoding import OptimizedWeightDecoder
        >>> OptimizedWeightDecoder.from_weights([[1, 0], [0.5, 0.5]], [[1, 1], [-1, 1]]).scores([[0.2, 0.4]])
        array([[0.2, 0.1]])
        """
        decoder = cls()
        decoder.matrix_, decoder.margin_ = check_decoder_matrix(matrix), float(decoder.margin)
        decoder.weights_ = _check_weights("weights", weights, WeightSpace(decoder.matrix_))
        decoder.tie_tolerance_, decoder.tie_shares_ = 0.0, np.zeros(len(decoder.matrix_))
        return decoder

    def risk_and_confusion(
        self, codewords: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RiskAndConfusion:
        """Sum losses and errors by pairs of classes, with the margin of this decoder.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Predicted codewords.
        y : array-like of int of shape (n_samples,)
            Index of the matrix row that each sample belongs to.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples; None means 1 each.

        Returns
        -------
        RiskAndConfusion
            The matrices `risk` and `confusion`, of shape (n_rows, n_rows) each.
        """
        return risk_and_confusion(
            codewords, y, self.matrix_, self.weights_, margin=self.margin_, sample_weight=sample_weight
        )

    def _check(self, matrix: ArrayLike) -> Floats:
        """Check the parameters and the matrix, and return the matrix as floats."""
        for name in ("margin", "l2"):
            value = getattr(self, name)
            if value != AUTO and (not isinstance(value, Real) or not 0.0 <= float(value) < np.inf):
                raise ValueError(f"{name} must be 'auto' or a finite number of at least 0, got {value!r}")
        if not isinstance(self.tol, Real) or not 0.0 < self.tol < np.inf:
            raise ValueError(f"tol must be a positive number, got {self.tol!r}")
        if not isinstance(self.max_rounds, Integral) or self.max_rounds < 1:
            raise ValueError(f"max_rounds must be an integer of at least 1, got {self.max_rounds!r}")
        if self.solver not in (AUTO, CUTTING_PLANE):
            raise ValueError(f"solver must be 'auto' or 'cutting-plane', got {self.solver!r}")
        if self.solver == CUTTING_PLANE and self.l2 != 0:
            raise ValueError(f"solver='cutting-plane' needs l2=0, got {self.l2!r}")
        if self.class_weight not in (None, "balanced"):
            raise ValueError(f"class_weight must be None or 'balanced', got {self.class_weight!r}")
        return check_decoder_matrix(matrix)

    def _minimize(
        self,
        given: Rows,
        M: Floats,
        warm_start_weights: ArrayLike | None,
        prior_weights: ArrayLike | None,
        started: float,
    ) -> Self:
        """Solve the problem of checked rows and a checked matrix, and set the fitted attributes."""
        rows, is_hard = collapse_rows(given, M.shape[1])
        space = WeightSpace(M)
        is_sharp = rows is not given and space.n_weights <= MANY_WEIGHTS
        tol = min(self.tol, _GAP_OF_COLLAPSED_ROWS) if is_sharp else self.tol
        prior = None if prior_weights is None else _check_weights("prior_weights", prior_weights, space)
        start = space.equal() if prior is None else prior
        margin, unit = self.margin, 0.0
        if AUTO in (self.margin, self.l2):
            scale, unit = weight_scale(rows, M, start)
            margin = scale if margin == AUTO else margin
        self.margin_, self.l2_ = float(margin), unit * DEFAULT_STRENGTH if self.l2 == AUTO else float(self.l2)
        problem = Problem(space, self.margin_, self.l2_, 0.0 if prior is None else prior)
        if warm_start_weights is not None:
            start = _check_weights("warm_start_weights", warm_start_weights, space)
        if self.solver == CUTTING_PLANE:
            found = minimize_by_cuts(problem, rows, start, self.tol, self.max_rounds)
        elif self.l2_ > 0:
            keep = warm_start_weights is not None
            found = minimize_regularized(problem, rows, start, tol, self.max_rounds, keep_start=keep)
        else:
            found = maximum_entropy_minimizer(problem, rows, start, self.max_rounds)
        self.matrix_, self.weights_ = M, found.weights
        for name in ("tie_weights_", "tie_shares_", "tie_tolerance_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.solver == CUTTING_PLANE:
            self.tie_tolerance_, self.tie_shares_ = _ZERO, np.linspace(1.0, 0.0, len(M))
        elif self.margin_ > 0:
            self.tie_tolerance_ = SOLVED_TIE_TOLERANCE if is_hard else 0.0
            self.tie_shares_ = tie_shares(rows, found.weights * M) if is_hard else np.zeros(len(M))
        else:
            self.tie_weights_ = loss_weights(rows.sum(partial(_sum_correct, matrix=M), np.add), M)
        gap = relative_gap(found.objective, found.lower_bound)
        self.certificate_ = Certificate(
            objective=found.objective,
            hinge=found.hinge,
            risk=found.risk,
            lower_bound=found.lower_bound,
            gap=gap,
            n_rounds=found.n_rounds,
            n_cuts=found.n_cuts,
            n_rows=rows.n_rows,
            seconds=perf_counter() - started,
        )
        if gap > self.tol:
            warnings.warn(
                f"optimised weights have a relative gap of {gap:.1e} after {found.n_rounds} rounds, above "
                f"tol={self.tol}; raise max_rounds or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _scores(self, codewords: Floats) -> Floats:
        scores = codewords @ (self.weights_ * self.matrix_).T
        if not hasattr(self, "tie_weights_"):
            return order_ties(scores, self.tie_shares_, self.tie_tolerance_) if self.tie_tolerance_ else scores
        loss_weighted = codewords @ (self.tie_weights_ * self.matrix_).T
        return order_ties(scores, loss_weighted, SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN)


def weight_scale(rows: Rows, matrix: Floats, weights: Floats) -> tuple[float, float]:
    """Return the margin that suits scores by some weights, and the unit of a penalty that draws to these weights.

    In this unit, a change of all weights by their own size costs about as much as the margin.
    """
    total = rows.sum(partial(_sum_distances, code=np.ascontiguousarray((weights * matrix).T)), operator.add)
    margin = _MARGIN * total * _DISTANCE_UNIT or 1.0
    return margin, margin * len(matrix) / float((weights**2).sum())


def _sum_distances(block: Block, code: Floats) -> int:
    """Sum up the distances between the scores of own classes and of their best rivals, in units."""
    total = 0
    for chunk in block.chunks(code.shape[1]):
        _, leads = worst_rivals(row_scores(chunk.codewords, code), chunk.y)
        total += int(np.rint(chunk.weight * np.abs(leads) / _DISTANCE_UNIT).astype(np.int64).sum())
    return total


def _sum_correct(block: Block, matrix: Floats) -> Floats:
    correct = np.zeros_like(matrix)
    for chunk in block.chunks(len(matrix)):
        correct += sum_correct(chunk.codewords, chunk.y, matrix, chunk.weight)
    return correct


def tie_shares(rows: Rows, code: Floats) -> Floats:
    """Return the weight of each class's rows whose own class ties with others for the best score."""
    shares = np.zeros(len(code))
    for of_block in rows.map(partial(_tied_weights, code=code)):
        for of_chunk in of_block:
            shares += of_chunk
    return shares


def _tied_weights(block: Block, code: Floats) -> list[Floats]:
    found: list[Floats] = []
    for chunk in block.chunks(len(code)):
        scores = chunk.codewords @ code.T
        descending = -np.sort(-scores, axis=1)
        # Ties chain: each score is compared with the next lower one.
        is_first = np.cumsum(descending[:, :-1] - descending[:, 1:] > SOLVED_TIE_TOLERANCE, axis=1) == 0
        n_tied = 1 + is_first.sum(axis=1)
        every = np.arange(len(scores))
        is_tied = (n_tied > 1) & (scores[every, chunk.y] >= descending[every, n_tied - 1])
        found.append(np.bincount(chunk.y, chunk.weight * is_tied, minlength=len(code)).astype(np.float64))
    return found


def _check_weights(name: str, weights: ArrayLike, space: WeightSpace) -> Floats:
    """Check that weights are feasible up to rounding and return them as exactly feasible ones."""
    start = np.asarray(weights, dtype=np.float64)
    if start.shape != space.matrix.shape:
        raise ValueError(f"{name} must have the shape {space.matrix.shape} of the matrix, got {start.shape}")
    sums = np.where(space.matrix != 0, start, 0.0).sum(axis=1)
    # Written so that NaN fails it.
    is_feasible = (start >= -_START_TOLERANCE).all() and (np.abs(sums - 1.0) <= _START_TOLERANCE).all()
    if not is_feasible or (start[space.matrix == 0] != 0).any():
        raise ValueError(f"{name} must be non-negative, zero where the matrix is zero, and have rows that sum to 1")
    return space.repair(space.flatten(start))
