"""What decoders share: from codewords to one score per class, checks, worst rivals, and the order of tied scores.

Tied scores are put in an order that depends on no rounding and on no numbering of samples or columns.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skecoc.support.compiling import kernel
from skecoc.support.weights import usable_weights

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Scores that differ by at most this, times the larger of their size and the row's scale, differ by rounding only.
ROUNDING_TOLERANCE = 1e-10
#: Scores of optimised weights that differ by no more than this are tied: the weights are solved no more sharply.
SOLVED_TIE_TOLERANCE = 1e-4
#: The same with `margin=0`, where training does not ask for a lead.
SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN = 0.05
# Scores are bounded by this, so that their differences are finite and tied infinite ones can be told apart.
_LARGEST_SCORE = 1e300
# A chunk of rows of this many numbers stays in a core's cache.
_CHUNK_SIZE = 2**16


class BaseDecoder(BaseEstimator):
    """Base class of decoders, which turn codewords into one score per row of a code matrix; higher is better.

    A subclass defines `_learn` (only if it learns from training codewords) and `_scores`.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_rows, n_columns)
        The code matrix, as floats.
    """

    #: Whether `fit` reads the training codewords. A caller may give a decoder
    #: that does not read them codewords of any subset of the samples.
    learns_from_codewords: ClassVar[bool] = False
    matrix_: Floats

    def fit(
        self, codewords: ArrayLike, y: ArrayLike, matrix: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the decoder to training codewords.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Predicted codewords of the training samples.
        y : array-like of int of shape (n_samples,)
            Index of the matrix row that each training sample belongs to.
        matrix : array-like of shape (n_rows, n_columns)
            The code matrix, with entries in {-1, 0, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the training samples; None means 1 each.

        Returns
        -------
        self
            The fitted decoder.
        """
        M = check_decoder_matrix(matrix)
        x = check_codewords(codewords, M.shape[1])
        rows, weight = check_rows_and_weights(y, sample_weight, len(x), len(M))
        self.matrix_ = M
        self._learn(x, rows, weight)
        return self

    def scores(self, codewords: ArrayLike) -> Floats:
        """Score every row of the code matrix for every codeword.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Predicted codewords.

        Returns
        -------
        ndarray of shape (n_samples, n_rows)
            Scores; the row of the matrix with the highest score fits best.
        """
        check_is_fitted(self, "matrix_")
        return self._scores(check_codewords(codewords, self.matrix_.shape[1]))

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:
        """Learn from checked training codewords; nothing by default."""

    @abstractmethod
    def _scores(self, codewords: Floats) -> Floats:
        """Score checked codewords."""


def check_decoder_matrix(matrix: ArrayLike) -> Floats:
    """Check a code matrix's shape and entries and return it as floats."""
    M = np.asarray(matrix, dtype=np.float64)
    if M.ndim != 2 or 0 in M.shape:
        raise ValueError(f"matrix must be two-dimensional and not empty, got shape {M.shape}")
    if not np.isin(M, (-1.0, 0.0, 1.0)).all():
        raise ValueError("matrix must have entries in {-1, 0, 1} only")
    if not M.any(axis=1).all():
        raise ValueError("matrix must have at least one non-zero entry in every row")
    return M


def check_codewords(codewords: ArrayLike, n_columns: int) -> Floats:
    """Check that codewords are finite and as wide as the matrix, and return them as floats."""
    x = np.asarray(codewords, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != n_columns:
        raise ValueError(f"codewords must have shape (n_samples, {n_columns}), got {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError("codewords must be finite, got NaN or infinity")
    return x


def check_rows_and_weights(
    y: ArrayLike, sample_weight: ArrayLike | None, n_samples: int, n_rows: int, *, is_part: bool = False
) -> tuple[Indices, Floats]:
    """Check the samples' rows of the matrix and weights; rescale extreme weights.

    Weights of a part of the samples are not rescaled, since they are compared with those of other parts.
    """
    rows = np.asarray(y)
    if rows.shape != (n_samples,) or n_samples == 0:
        raise ValueError(f"y must have shape ({n_samples},) with at least one entry, got {rows.shape}")
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(f"y must hold indices of the matrix's {n_rows} rows")
    if sample_weight is None:
        return rows.astype(np.intp), np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,) or not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(f"sample_weight must hold {n_samples} finite, non-negative weights that are not all zero")
    return rows.astype(np.intp), weight if is_part else usable_weights(weight)


def chunk_slices(n_rows: int, row_size: int) -> Iterator[slice]:
    """Yield slices of rows that are so short that a chunk, with `row_size` numbers per row, stays in a core's cache."""
    step = max(64, _CHUNK_SIZE // row_size)
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


def worst_rivals(scores: Floats, y: Indices, margin: float = 0.0) -> tuple[Indices, Floats]:
    """Return each sample's rival class of highest score, and that score plus a margin less the own class's."""
    every = np.arange(len(y))
    of_rivals = scores.copy()
    of_rivals[every, y] = -np.inf
    rivals = of_rivals.argmax(axis=1)
    return rivals, margin + scores[every, rivals] - scores[every, y]


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
        risk += _sum_by_pair(own, rivals, chunk_weight * np.maximum(margin + leads, 0.0), len(M))
        confusion += _sum_by_pair(own, np.where(leads > 0, rivals, own), chunk_weight, len(M))
    return RiskAndConfusion(risk, confusion)


def _sum_by_pair(first: Indices, second: Indices, values: Floats, n_classes: int) -> Floats:
    sums: Floats = np.bincount(first * n_classes + second, values, minlength=n_classes**2).astype(np.float64)
    return sums.reshape(n_classes, n_classes)


class _Scorer(Protocol):
    def scores(self, codewords: Floats, /) -> Floats: ...


def decode(
    decoder: _Scorer,
    codewords: NDArray[np.floating],
    matrix: ArrayLike,
    prior: ArrayLike,
    row_classes: Indices | None = None,
) -> Floats:
    """Score the classes, higher is better, with ties separated by linear scores, the prior and the index.

    `row_classes` is the sorted class of every row of the matrix, of which each class's best is taken; None means one
    row per class. Rounding is taken as relative to the largest entry of a codeword.
    """
    outputs = np.asarray(codewords, dtype=np.float64)
    scores = decoder.scores(outputs)
    linear = outputs @ np.asarray(matrix, dtype=np.float64).T
    if row_classes is not None:
        scores, linear = best_of_classes(scores, row_classes), best_of_classes(linear, row_classes)
    return break_ties(scores, linear, prior, np.abs(outputs).max(axis=1))


def best_of_classes(scores: Floats, row_classes: Indices) -> Floats:
    """Return the highest score of each class's rows of the matrix, given the sorted class of every row."""
    return np.maximum.reduceat(scores, np.flatnonzero(np.diff(row_classes, prepend=-1)), axis=1)


def break_ties(scores: ArrayLike, second_key: ArrayLike, prior: ArrayLike, scale: ArrayLike = 1.0) -> Floats:
    """Separate tied scores by a second key, then by the prior, then by the index.

    Two scores a and b are tied if ``abs(a - b) <= 1e-10 * max(scale, abs(a), abs(b))``; scores that are tied with the
    same score are tied with each other. Keys and priors are compared in the same way.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_rows)
        The scores.
    second_key : array-like of shape (n_samples, n_rows)
        Key that orders tied scores; higher is better.
    prior : array-like of shape (n_rows,)
        Key that orders scores whose second keys are tied, too; higher is better. Then the lower index is better.
    scale : float or array-like of shape (n_samples,), default=1.0
        Magnitude of the numbers that the scores were computed from.

    Returns
    -------
    ndarray of shape (n_samples, n_rows)
        The scores, clipped to ±1e300. The best of tied scores gets the highest of them; each next one is lower by
        ``0.5e-10 / n_rows`` times the larger of its magnitude and the scale.

    Examples
    --------
    >>> from skecoc.decoding import break_ties
    >>> break_ties([[1.0, 1.0, 0.5]], [[0.2, 0.4, 0.1]], prior=[0.3, 0.3, 0.4]).argmax(axis=1)
    array([1])
    """
    values = np.array(scores, dtype=np.float64, order="C")
    if values.ndim != 2:
        raise ValueError(f"scores must be two-dimensional, got shape {values.shape}")
    second = np.asarray(second_key, dtype=np.float64, order="C")
    if second.shape != values.shape:
        raise ValueError(f"second_key must have the shape {values.shape} of scores, got {second.shape}")
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != values.shape[1:]:
        raise ValueError(f"prior must have shape {values.shape[1:]}, got {shares.shape}")
    for name, key in (("scores", values), ("second_key", second), ("prior", shares)):
        if np.isnan(key).any():
            raise ValueError(f"{name} must not hold NaN")
    np.clip(values, -_LARGEST_SCORE, _LARGEST_SCORE, out=values)
    second = np.clip(second, -_LARGEST_SCORE, _LARGEST_SCORE)
    # Equal scores may be in any order: the kernel sorts them again.
    descending = np.argsort(-values, axis=1)
    scales = np.full(len(values), scale, dtype=np.float64)
    _separate_tied(values, descending, second, priority(shares).astype(np.float64), scales, ROUNDING_TOLERANCE)
    return values


def priority(prior: Floats) -> Indices:
    """Return distinct numbers that are higher for a higher prior and, where priors tie, for a lower index."""
    descending = np.argsort(-prior, kind="stable")
    sorted_prior = prior[descending]
    sizes = np.maximum(1.0, np.abs(sorted_prior))
    is_tied = np.abs(np.diff(sorted_prior)) <= ROUNDING_TOLERANCE * np.maximum(sizes[:-1], sizes[1:])
    level = np.zeros(len(prior), dtype=np.intp)
    level[descending[1:]] = np.cumsum(~is_tied)
    order = np.empty_like(level)
    order[np.argsort(level, kind="stable")] = np.arange(len(prior))[::-1]
    return order


@kernel
def _end_of_tie(indices: Indices, start: int, end: int, keys: Floats, scale: float, tolerance: float) -> int:
    """Return the end of the chain of ties that begins at `start` in a descending order; at most `end`."""
    last = start + 1
    while last < end:
        a, b = keys[indices[last - 1]], keys[indices[last]]
        if abs(a - b) > tolerance * max(scale, abs(a), abs(b)):
            break
        last += 1
    return last


@kernel
def _sort_descending(indices: Indices, start: int, end: int, keys: Floats) -> None:
    """Sort a few indices, those between two places, by their keys: by insertion, since most ties are short."""
    for k in range(start + 1, end):
        index = indices[k]
        place = k
        while place > start and keys[indices[place - 1]] < keys[index]:
            indices[place] = indices[place - 1]
            place -= 1
        indices[place] = index


@kernel
def _separate_tied(
    values: Floats,
    descending: Indices,
    second: Floats,
    priority: Floats,
    scales: Floats,
    tolerance: float,
) -> None:
    """Give the tied scores of every row distinct values in the order of the keys, in place."""
    n_samples, n_rows = values.shape
    # Together the steps of one tie stay within half the tolerance, so they never reach the next lower score.
    step = 0.5 * tolerance / n_rows
    for i in range(n_samples):
        indices, scores, keys, scale = descending[i], values[i], second[i], scales[i]
        start = np.intp(0)  # for a plain 0, a constant, helpers would be compiled once more
        while start < n_rows:
            end = _end_of_tie(indices, start, n_rows, scores, scale, tolerance)
            if end - start > 1:
                highest = scores[indices[start]]
                _sort_descending(indices, start, end, keys)
                first = start
                while first < end:
                    last = _end_of_tie(indices, first, end, keys, scale, tolerance)
                    _sort_descending(indices, first, last, priority)
                    first = last
                size = max(scale, abs(highest))
                if size == 0.0:  # codewords of zeros have no size to measure steps by
                    size = 1.0
                for k in range(end - start):
                    scores[indices[start + k]] = highest - k * step * size
            start = end


def order_ties(scores: Floats, second: Floats, tolerance: float) -> Floats:
    """Order tied scores of optimised weights by a second key, which has one row for each row of scores or one for all.

    Scores are tied if the next lower one is within the tolerance, and so on. Tied scores become the highest of them,
    lowered by at most half the tolerance, so they stay above all lower scores.
    """
    result = np.array(scores, dtype=np.float64, order="C")
    keys = np.ascontiguousarray(np.atleast_2d(second), dtype=np.float64)
    _spread_ties(result.copy(), keys, tolerance, np.empty(result.shape[1], np.intp), result)
    return result


@kernel
def _spread_ties(scores: Floats, second: Floats, tolerance: float, order: Indices, result: Floats) -> None:
    """Write what `order_ties` returns; `result` starts as a copy of the scores."""
    n_classes = scores.shape[1]
    for i in range(scores.shape[0]):
        row, key = scores[i], second[i if second.shape[0] > 1 else 0]
        smallest, largest = key[0], key[0]
        for p in range(n_classes):
            order[p] = p
            smallest, largest = min(smallest, key[p]), max(largest, key[p])
        _sort_descending(order, np.intp(0), n_classes, row)
        spread = largest - smallest
        first = 0
        for last in range(1, n_classes + 1):
            if last < n_classes and row[order[last - 1]] - row[order[last]] <= tolerance:
                continue
            if last - first > 1:
                highest = row[order[first]]
                for k in range(first, last):
                    p = order[k]
                    lowered = (largest - key[p]) / spread if spread > 0.0 else 0.0
                    result[i, p] = highest - 0.5 * tolerance * lowered
            first = last
