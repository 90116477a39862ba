"""From codewords to one score per class, with tied scores in an order that depends on no rounding and no numbering."""

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from skecoc.decoding.base import Floats, Indices

#: Scores that differ by at most this, times the larger of their size and the row's scale, differ by rounding only.
ROUNDING_TOLERANCE = 1e-10
#: Scores of optimised weights that differ by no more than this are tied: the weights are solved no more sharply.
SOLVED_TIE_TOLERANCE = 1e-4
#: The same with `margin=0`, where no lead is called for, so that a small one means nothing.
SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN = 0.05
# Scores are bounded by this, so that their differences are finite and tied infinite ones can be told apart.
_LARGEST_SCORE = 1e300


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
    """Separate tied scores, (n_samples, n_rows), by a second key, then by the prior, then by the index.

    Two scores a and b tie if ``abs(a - b) <= 1e-10 * max(scale, abs(a), abs(b))``, in chains; keys and priors are
    compared in the same way. The scale, one number or one per sample, is the size of what scores were computed from. A
    score that ties with no other is returned as it is, but bounded by 1e300. Of tied ones the best has the highest of
    their scores, each next one is lower by ``0.5e-10 / n_rows`` times the larger of the scale and its size.
    """
    values, second, shares = _check_keys(scores, second_key, prior)
    # Any order of equal scores will do: the kernel orders them afresh.
    descending = np.argsort(-values, axis=1)
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), len(values))
    _separate_tied(values, descending, second, priority(shares), scales, ROUNDING_TOLERANCE)
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


def priority(prior: Floats) -> Indices:
    """Return distinct numbers that are higher for a higher prior and, where priors tie, for a lower index."""
    descending = np.argsort(-prior, kind="stable")
    level = np.zeros(len(prior), dtype=np.intp)
    for better, worse in pairwise(descending):
        level[worse] = level[better] + (not _is_tied(prior[better], prior[worse], 1.0, ROUNDING_TOLERANCE))
    order = np.empty_like(level)
    order[np.argsort(level, kind="stable")] = np.arange(len(prior))[::-1]
    return order


@njit(cache=True, nogil=True)
def _is_tied(a: float, b: float, scale: float, tolerance: float) -> bool:
    """Tell whether two values differ by at most the tolerance."""
    return bool(abs(a - b) <= tolerance * max(scale, abs(a), abs(b)))


@njit(cache=True, nogil=True)
def _end_of_tie(indices: Indices, start: int, keys: Floats, scale: float, tolerance: float) -> int:
    """Return where the chain of ties that begins at a place of a descending order ends."""
    end = start + 1
    while end < len(indices) and _is_tied(keys[indices[end - 1]], keys[indices[end]], scale, tolerance):
        end += 1
    return end


@njit(cache=True, nogil=True)
def _sort_descending(indices: Indices, keys: NDArray[Any]) -> None:
    """Sort a few indices by their keys, in place: by insertion, since most ties are short."""
    for k in range(1, len(indices)):
        index = indices[k]
        place = k
        while place > 0 and keys[indices[place - 1]] < keys[index]:
            indices[place] = indices[place - 1]
            place -= 1
        indices[place] = index


@njit(cache=True, nogil=True)
def _order_tied(tied: Indices, second: Floats, priority: Indices, scale: float, tolerance: float) -> None:
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
    descending: Indices,
    second: Floats,
    priority: Indices,
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


def order_ties(scores: Floats, second: Floats, tolerance: float) -> Floats:
    """Order scores of optimised weights that tie, in chains, within a tolerance by a second key (for all or per row).

    Tied scores become the highest of them, lowered by at most half the tolerance, so they stay above all lower scores.
    """
    return _spread_ties(np.ascontiguousarray(scores), np.atleast_2d(second), tolerance)


@njit(cache=True, nogil=True)
def is_tied_for_best(scores: Floats, y: Indices, tolerance: float) -> NDArray[np.bool_]:
    """Tell of each row whether its own class is one of several that tie for the best score."""
    result = np.empty(len(scores), dtype=np.bool_)
    for i in range(len(scores)):
        row = scores[i]
        lowest = row.max()
        has_fallen = True
        while has_fallen:
            has_fallen = False
            for p in range(len(row)):
                if row[p] < lowest and lowest - row[p] <= tolerance:
                    lowest = row[p]
                    has_fallen = True
        n_tied = 0
        for p in range(len(row)):
            n_tied += row[p] >= lowest
        result[i] = n_tied > 1 and row[y[i]] >= lowest
    return result


@njit(cache=True, nogil=True)
def _spread_ties(scores: Floats, second: Floats, tolerance: float) -> Floats:
    """Put groups of tied scores in the order of a second key, which has one row for each row or one for all."""
    n_classes = scores.shape[1]
    result = scores.copy()
    for i in range(len(scores)):
        row, key = scores[i], second[i if len(second) > 1 else 0]
        order = np.arange(n_classes)
        _sort_descending(order, row)
        first = 0
        for last in range(1, n_classes + 1):
            if last < n_classes and row[order[last - 1]] - row[order[last]] <= tolerance:
                continue
            if last - first > 1:
                highest, largest = row[order[first]], key.max()
                spread = largest - key.min()
                for p in order[first:last]:
                    lowered = (largest - key[p]) / spread if spread > 0.0 else 0.0
                    result[i, p] = highest - 0.5 * tolerance * lowered
            first = last
    return result
