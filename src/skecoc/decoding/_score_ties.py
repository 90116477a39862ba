"""Which scores of optimised weights are tied, and what puts them in order."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skecoc.decoding._rows import Rows
from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]

#: Scores of a row that differ by no more than this count as tied.
TIE_TOLERANCE = 1e-4
#: The same with `margin=0`, where no lead is called for, so that a small one means nothing.
TIE_TOLERANCE_WITHOUT_MARGIN = 0.05


def tie_shares(rows: Rows, code: Floats) -> Floats:
    """Return the weight of each class's rows whose own class ties with others for the best score."""
    shares = np.zeros(len(code))
    for block in rows.blocks():
        for chunk in block.chunks(len(code)):
            scores = chunk.codewords @ code.T
            highest, is_tied = _highest_tied(scores, TIE_TOLERANCE)
            own = (np.arange(len(scores)), chunk.y)
            counts = is_tied[own] & (highest[own] == scores.max(axis=1))
            shares += np.bincount(chunk.y, chunk.weight * counts, minlength=len(code))
    return shares


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


def _highest_tied(scores: Floats, tolerance: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return, for every score, the highest that it is tied with, and whether it is tied at all.

    Ties chain: sorted scores whose neighbours are close belong together.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    opens = np.ones((len(scores), scores.shape[1] + 1), dtype=bool)
    opens[:, 1:-1] = ordered[:, :-1] - ordered[:, 1:] > tolerance
    first = np.maximum.accumulate(np.where(opens[:, :-1], np.arange(scores.shape[1]), 0), axis=1)
    highest, is_tied = np.empty_like(scores), np.empty(scores.shape, dtype=bool)
    np.put_along_axis(highest, order, np.take_along_axis(ordered, first, axis=1), axis=1)
    np.put_along_axis(is_tied, order, ~(opens[:, :-1] & opens[:, 1:]), axis=1)
    return highest, is_tied


def order_ties(scores: Floats, second: Floats, tolerance: float) -> Floats:
    """Order tied scores by a second key.

    Tied scores become the highest of them, lowered by at most half the tolerance according to the second key, so they
    stay above all lower scores.
    """
    highest, is_tied = _highest_tied(scores, tolerance)
    spread = np.ptp(second, axis=1, keepdims=True)
    lowered = (second.max(axis=1, keepdims=True) - second) / np.where(spread > 0, spread, 1.0)
    return np.where(is_tied, highest - 0.5 * tolerance * lowered, scores)
