"""Put tied scores in an order that does not depend on rounding or on how classes are numbered."""

from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from skecoc.decoding.base import Floats

#: Scores tie if they differ by at most this, times the larger of their size and the row's scale.
TIE_TOLERANCE = 1e-10
# Scores are bounded by this, so that their differences are finite and tied infinite ones can be told apart.
_LARGEST_SCORE = 1e300


def break_ties(scores: ArrayLike, second_key: ArrayLike, prior: ArrayLike, scale: ArrayLike = 1.0) -> Floats:
    """Separate tied scores by a second key, then by the prior, then by the index.

    Two scores a and b tie if ``abs(a - b) <= 1e-10 * max(scale, abs(a), abs(b))``, so that rounding residues
    decide nothing; in a row of scores ties chain: if a ties with b and b with c, all three tie. The second key
    of tied scores, and the prior where that ties too, are compared in the same way. The lower index wins what
    is left.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_rows)
        Scores of the rows of a code matrix; higher is better. Scores beyond 1e300 in size, also infinite
        ones, count as 1e300 or -1e300; NaN is an error.
    second_key : array-like of shape (n_samples, n_rows)
        Scores that order tied ones, such as those of linear loss-based decoding, with the same limits.
    prior : array-like of shape (n_rows,)
        The share of each row of the code matrix in the training data.
    scale : array-like of shape (n_samples,) or float, default=1.0
        Size of what the scores of each sample were computed from, such as the largest entry of its codeword:
        rounding is relative to it where scores cancel out to nearly zero.

    Returns
    -------
    ndarray of shape (n_samples, n_rows)
        Finite scores of which no two are equal in a row (for up to 100,000 rows of the matrix). A score that
        ties with no other is returned as it is. Of tied ones the best has the highest of their scores, each
        next one is lower by ``0.5e-10 / n_rows`` times the larger of the scale and its size, and all stay above
        every score that was below them.

    Raises
    ------
    ValueError
        If shapes do not match or a value is NaN.

    Examples
    --------
    >>> scores = [[0.5, 0.25, 0.5], [1.0, 1.0, 0.0]]
    >>> separated = break_ties(scores, [[0.1, 0.0, 0.2], [0.0, 0.0, 0.0]], [0.3, 0.4, 0.3])
    >>> separated.argmax(axis=1)
    array([2, 1])
    >>> ((scores - separated) * 1e11).round(2)
    array([[1.67, 0.  , 0.  ],
           [1.67, 0.  , 0.  ]])
    """
    values, second, shares = _check_keys(scores, second_key, prior)
    # Any order of equal scores will do: the kernel orders them afresh.
    descending = np.argsort(-values, axis=1)
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), len(values))
    _separate_tied(values, descending, second, _priority(shares), scales, TIE_TOLERANCE)
    return values


def _check_keys(scores: ArrayLike, second_key: ArrayLike, prior: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Check the three keys and return them as bounded floats, the scores as a copy."""
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
    return values, np.clip(second, -_LARGEST_SCORE, _LARGEST_SCORE), shares


def _priority(prior: Floats) -> NDArray[np.intp]:
    """Return distinct numbers that are higher for a higher prior and, where priors tie, for a lower index."""
    descending = np.argsort(-prior, kind="stable")
    level = np.zeros(len(prior), dtype=np.intp)
    for better, worse in pairwise(descending):
        level[worse] = level[better] + (not _is_tied(prior[better], prior[worse], 1.0, TIE_TOLERANCE))
    priority = np.empty_like(level)
    priority[np.argsort(level, kind="stable")] = np.arange(len(prior))[::-1]
    return priority


@njit(cache=True, nogil=True)
def _is_tied(a: float, b: float, scale: float, tolerance: float) -> bool:
    """Tell whether two values differ by at most the tolerance."""
    return bool(abs(a - b) <= tolerance * max(scale, abs(a), abs(b)))


@njit(cache=True, nogil=True)
def _end_of_tie(indices: NDArray[np.intp], start: int, keys: Floats, scale: float, tolerance: float) -> int:
    """Return where the chain of ties that begins at a place of a descending order ends."""
    end = start + 1
    while end < len(indices) and _is_tied(keys[indices[end - 1]], keys[indices[end]], scale, tolerance):
        end += 1
    return end


@njit(cache=True, nogil=True)
def _sort_descending(indices: NDArray[np.intp], keys: NDArray[Any]) -> None:
    """Sort a few indices by their keys, in place: by insertion, since most ties are short."""
    for k in range(1, len(indices)):
        index = indices[k]
        place = k
        while place > 0 and keys[indices[place - 1]] < keys[index]:
            indices[place] = indices[place - 1]
            place -= 1
        indices[place] = index


@njit(cache=True, nogil=True)
def _order_tied(
    tied: NDArray[np.intp], second: Floats, priority: NDArray[np.intp], scale: float, tolerance: float
) -> None:
    """Order the indices of tied scores by the second key and then by the prior, in place."""
    _sort_descending(tied, second)
    start = 0
    while start < len(tied):
        end = _end_of_tie(tied, start, second, scale, tolerance)
        _sort_descending(tied[start:end], priority)
        start = end


@njit(cache=True, nogil=True)
def _separate_tied(
    values: Floats,
    descending: NDArray[np.intp],
    second: Floats,
    priority: NDArray[np.intp],
    scales: Floats,
    tolerance: float,
) -> None:
    """Give the tied scores of every row distinct values in the order of the keys, in place."""
    n_samples, n_rows = values.shape
    # Together the steps of one tie stay within half the tolerance, so they never reach the next lower score.
    step = 0.5 * tolerance / n_rows
    for i in range(n_samples):
        start = 0
        while start < n_rows:
            end = _end_of_tie(descending[i], start, values[i], scales[i], tolerance)
            if end - start > 1:
                highest = values[i, descending[i, start]]
                tied = descending[i, start:end]
                _order_tied(tied, second[i], priority, scales[i], tolerance)
                size = max(scales[i], abs(highest))
                if size == 0.0:  # codewords of zeros have no size to measure steps by
                    size = 1.0
                for k in range(end - start):
                    values[i, tied[k]] = highest - k * step * size
            start = end


def decode(decoder: Any, codewords: Any, matrix: Any, prior: Floats, row_classes: Any = None) -> Floats:
    """Score every class for every codeword, ties resolved (temporary)."""
    x = np.asarray(codewords, dtype=np.float64)
    scores, linear = decoder.scores(x), x @ np.asarray(matrix, dtype=np.float64).T
    if row_classes is not None:
        first = np.searchsorted(row_classes, np.arange(len(prior)))
        scores, linear = (np.maximum.reduceat(each, first, axis=1) for each in (scores, linear))
    return break_ties(scores, linear, prior, np.abs(x).max(axis=1))
