"""Base class of decoders, checks of codewords and matrix, and how samples score against their worst rival class."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skecoc.support.weights import usable_weights

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# A chunk of rows of this many numbers stays in a core's cache.
_CHUNK_SIZE = 2**16


class BaseDecoder(BaseEstimator):
    """Base class of decoders, which turn codewords into one score per row of a code matrix; higher is better.

    A subclass defines `_learn` (only if it learns from training codewords) and `_scores`.
    """

    #: Whether `fit` reads the training codewords. A caller may give a decoder
    #: that does not read them codewords of any subset of the samples.
    learns_from_codewords: ClassVar[bool] = False
    #: The code matrix as floats, of shape (n_rows, n_columns); a fitted attribute of every decoder.
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
    """Check matrix-row indices and sample weights against the codewords they belong to; extreme ones change units.

    Those of a part of the samples do not: its weights are compared with those of other parts.
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
