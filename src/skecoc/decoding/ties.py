"""From codewords to one score per class, with tied scores in an order that depends on no rounding and no numbering."""

from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.decoding.base import Floats, Indices
from skecoc.support.compiling import inlined, kernel

#: Scores that differ by at most this, times the larger of their size and the row's scale, differ by rounding only.
ROUNDING_TOLERANCE = 1e-10
#: Scores of optimised weights that differ by no more than this are tied: the weights are solved no more sharply.
SOLVED_TIE_TOLERANCE = 1e-4
#: The same with `margin=0`, where training does not ask for a lead.
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
    values, second, shares = _check_keys(scores, second_key, prior)
    # Any order of equal scores will do: the kernel orders them afresh.
    descending = np.argsort(-values, axis=1)
    scales = np.full(len(values), scale, dtype=np.float64)
    _separate_tied(values, descending, second, priority(shares).astype(np.float64), scales, ROUNDING_TOLERANCE)
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
        level[worse] = level[better] + (not _is_tied.py_func(prior[better], prior[worse], 1.0, ROUNDING_TOLERANCE))
    order = np.empty_like(level)
    order[np.argsort(level, kind="stable")] = np.arange(len(prior))[::-1]
    return order


@inlined
def _is_tied(a: float, b: float, scale: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(scale, abs(a), abs(b))


@kernel
def _end_of_tie(indices: Indices, start: int, end: int, keys: Floats, scale: float, tolerance: float) -> int:
    """Return where the chain of ties that begins at a place of a descending order ends, at the latest at `end`."""
    last = start + 1
    while last < end and _is_tied(keys[indices[last - 1]], keys[indices[last]], scale, tolerance):
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
    """Order scores of optimised weights that tie, in chains, within a tolerance by a second key (for all or per row).

    Tied scores become the highest of them, lowered by at most half the tolerance, so they stay above all lower scores.
    """
    result = np.array(scores, dtype=np.float64, order="C")
    keys = np.ascontiguousarray(np.atleast_2d(second), dtype=np.float64)
    _spread_ties(result.copy(), keys, tolerance, np.empty(result.shape[1], np.intp), result)
    return result


def is_tied_for_best(scores: Floats, y: Indices, tolerance: float) -> NDArray[np.bool_]:
    """Tell of each row whether its own class is one of several that tie for the best score, in chains."""
    descending = -np.sort(-scores, axis=1)
    is_first = np.cumsum(descending[:, :-1] - descending[:, 1:] > tolerance, axis=1) == 0
    n_tied = 1 + is_first.sum(axis=1)
    rows = np.arange(len(scores))
    return (n_tied > 1) & (scores[rows, y] >= descending[rows, n_tied - 1])


@kernel
def _spread_ties(scores: Floats, second: Floats, tolerance: float, order: Indices, result: Floats) -> None:
    """Put groups of tied scores in the order of a second key, which has one row for each row or one for all.

    `result` starts as a copy of the scores.
    """
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
