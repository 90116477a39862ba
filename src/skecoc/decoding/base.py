"""Base class of decoders, and the checks of codewords and matrix."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self

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
