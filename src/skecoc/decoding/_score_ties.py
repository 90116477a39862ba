"""Which scores of optimised weights are tied, and what puts them in order."""

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skecoc.decoding._rows import Block, Rows, map_blocks
from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]

#: Scores of a row that differ by no more than this count as tied.
TIE_TOLERANCE = 1e-4
#: The same with `margin=0`, where no lead is called for, so that a small one means nothing.
TIE_TOLERANCE_WITHOUT_MARGIN = 0.05


def tie_shares(rows: Rows, code: Floats) -> Floats:
    """Return the weight of each class's rows whose own class ties with others for the best score."""
    shares = np.zeros(len(code))
    for of_block in map_blocks(rows, partial(_tied_weights, code=code)):
        for of_chunk in of_block:  # one by one: so threads do not change the sums
            shares += of_chunk
    return shares


def _tied_weights(block: Block, code: Floats) -> list[Floats]:
    """Return the weights of the tied rows of each class, chunk by chunk."""
    found: list[Floats] = []
    for chunk in block.chunks(len(code)):
        counts = _is_tied_for_best(chunk.codewords @ code.T, chunk.y, TIE_TOLERANCE)
        found.append(np.bincount(chunk.y, chunk.weight * counts, minlength=len(code)).astype(np.float64))
    return found


def loss_weights(rows: Rows, space: WeightSpace) -> Floats:
    """Return loss weights: the share of each class's rows whose sign agrees with the code, rows summing to 1."""
    agreements = np.zeros_like(space.matrix)
    for block in rows.blocks():
        for chunk in block.chunks(space.n_classes):
            place = (chunk.y, np.arange(len(chunk.y)))
            members = csr_array((chunk.weight, place), shape=(space.n_classes, len(chunk.y)))
            agreements += np.where(space.matrix > 0, members @ (chunk.codewords > 0).astype(np.float64), 0.0)
            agreements += np.where(space.matrix < 0, members @ (chunk.codewords < 0).astype(np.float64), 0.0)
    never = ~agreements.any(axis=1)
    agreements[never] = space.equal()[never]
    return agreements / agreements.sum(axis=1, keepdims=True)


def order_ties(scores: Floats, second: Floats, tolerance: float) -> Floats:
    """Order tied scores by a second key.

    Tied scores become the highest of them, lowered by at most half the tolerance according to the second key, so they
    stay above all lower scores. Ties chain: sorted scores whose neighbours are close belong together.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores, higher is better.
    second : ndarray of shape (n_samples, n_classes) or (n_classes,)
        The second key, of each row or of all of them; higher comes first.
    tolerance : float
        Scores that differ by no more than this are tied.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Scores in order; those that are not tied are as they were.
    """
    return _spread_ties(np.ascontiguousarray(scores), np.atleast_2d(second), tolerance)


@njit(cache=True, nogil=True)
def _is_tied_for_best(scores: Floats, y: NDArray[np.intp], tolerance: float) -> NDArray[np.bool_]:
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
    order = np.empty(n_classes, dtype=np.intp)
    for i in range(len(scores)):
        row, key = scores[i], second[i if len(second) > 1 else 0]
        _sort_descending(row, order)
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


@njit(cache=True, nogil=True)
def _sort_descending(values: Floats, order: NDArray[np.intp]) -> None:
    """Write the places of values from the largest on; insertion is fastest for as few as there are classes."""
    for p in range(len(values)):
        place = p
        while place > 0 and values[order[place - 1]] < values[p]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = p
