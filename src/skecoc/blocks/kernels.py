"""Compiled loops over the coded rows of one block: histograms, reweighting, votes and distances.

Weights are floats that change row by row, without regard to other rows; every sum of them is a sum of integers, to
which the weights are rounded first. So sums do not depend on how rows are divided into blocks, nor on any order.
"""

import numpy as np
from numpy.typing import NDArray

from skecoc.learners.base import Codes, Floats
from skecoc.learners.stump_kernels import add_rows
from skecoc.support.compiling import kernel

Ints = NDArray[np.int64]
Signs = NDArray[np.int8]

#: Rows that are worked on together: what is noted about them stays in a core's cache.
_CHUNK = 2_048


@kernel
def count_cells(codes: Codes, starts: Ints, weight: Floats, scale: float, counts: Ints, weights: Ints) -> None:
    """Add the rows of one feature to its histograms of each cell, in place; empty weights are all 1."""
    for p in range(starts.size - 1):
        of_class = counts[p]
        for i in range(starts[p], starts[p + 1]):
            of_class[codes[i]] += 1
        if weight.size > 0:
            weights_of_class = weights[p]
            for i in range(starts[p], starts[p + 1]):
                weights_of_class[codes[i]] += np.int64(np.rint(weight[i] * scale))


@kernel
def reweight(
    codes: Codes,
    starts: Ints,
    bin_starts: Ints,
    column: Signs,
    weights: Floats,
    feature: int,
    cut: int,
    polarity: int,
    factor: float,
    changes_wrong: bool,
    scale: float,
    histogram: Ints,
) -> int:
    """Multiply the weights of the rows that a stump gets wrong (or right), and return the change of their rounded sum.

    `weights` holds those of the rows of the cells that take part, cell after cell. What changes in the signed sums of
    rounded weights by bin is added to `histogram`. With a scale other than 1 all weights are multiplied by it, all rows
    are added, and the sum itself is returned. Feature -1 stands for the constant stump.
    """
    rows = np.empty(_CHUNK, np.int64)
    changes = np.empty(_CHUNK, np.int64)
    of_feature = codes[max(feature, 0)]
    last = cut if feature >= 0 else np.iinfo(np.int64).max
    total = 0
    place = 0
    for p in range(column.size):
        if column[p] == 0:
            continue
        # On its left the stump says +1 if its polarity is positive: there it is wrong about classes of the other side.
        left_changes = ((polarity > 0) != (column[p] > 0)) == changes_wrong
        for first in range(starts[p], starts[p + 1], _CHUNK):
            n_rows = min(_CHUNK, starts[p + 1] - first)
            n_changed = _change_weights(
                of_feature[first : first + n_rows],
                last,
                left_changes,
                factor,
                scale,
                column[p],
                weights[place : place + n_rows],
                rows,
                changes,
            )
            for j in range(n_changed):
                total += changes[j] * column[p]
                rows[j] += first
            add_rows(codes, bin_starts, histogram, rows[:n_changed], changes)
            place += n_rows
    return total


@kernel
def _change_weights(
    codes: Codes,
    last: int,
    left_changes: bool,
    factor: float,
    scale: float,
    sign: np.int8,
    weights: Floats,
    rows: Ints,
    changes: Ints,
) -> int:
    """Multiply weights on one side of a cut; list the rows and by how much their rounded weights change."""
    n_changed = 0
    if scale != 1.0:
        for i in range(codes.size):
            is_changed = (codes[i] <= last) == left_changes
            weights[i] *= (factor if is_changed else 1.0) * scale
            rows[i] = i
            changes[i] = sign * np.int64(np.rint(weights[i]))
        return codes.size
    for i in range(codes.size):
        # Writing always and moving on only if the row changes is faster than a branch that nobody can predict.
        is_changed = (codes[i] <= last) == left_changes
        before = weights[i]
        after = before * factor if is_changed else before
        weights[i] = after
        rows[n_changed] = i
        changes[n_changed] = sign * (np.int64(np.rint(after)) - np.int64(np.rint(before)))
        n_changed += is_changed
    return n_changed


@kernel
def add_coded_votes(codes: Codes, features: Ints, cuts: Ints, votes: Floats, starts: Ints) -> Floats:
    """Add up the votes of several boosted models for coded rows, in the order of stumps: (n_rows, n_models).

    Model q owns the stumps ``starts[q]:starts[q + 1]``; `cuts` are the last bins on their left, which votes are for.
    """
    n_models = starts.size - 1
    result = np.empty((codes.shape[1], n_models))
    sums = np.empty(_CHUNK)
    for first in range(0, codes.shape[1], _CHUNK):
        n_rows = min(_CHUNK, codes.shape[1] - first)
        for q in range(n_models):
            sums[:] = 0.0
            for t in range(starts[q], starts[q + 1]):
                vote = votes[t]
                if features[t] < 0:
                    for i in range(n_rows):
                        sums[i] += vote
                    continue
                of_feature = codes[features[t], first : first + n_rows]
                cut = cuts[t]
                for i in range(n_rows):
                    sums[i] += vote if of_feature[i] <= cut else -vote
            for i in range(n_rows):
                result[first + i, q] = sums[i]
    return result


@kernel
def nearest_coded_centre(codes: Codes, bin_starts: Ints, squares: Floats) -> NDArray[np.uint8]:
    """Find the nearest of some centres for coded rows, the first one if several are.

    `squares` holds the squared distance of the middle of each bin from each centre, along the bin's feature.
    """
    n_rows = codes.shape[1]
    nearest = np.zeros(n_rows, np.uint8)
    smallest = np.empty(_CHUNK)
    distance = np.empty(_CHUNK)
    for first in range(0, n_rows, _CHUNK):
        size = min(_CHUNK, n_rows - first)
        smallest[:] = np.inf
        for k in range(squares.shape[0]):
            distance[:] = 0.0
            for f in range(codes.shape[0]):
                of_feature = codes[f, first : first + size]
                along = squares[k, bin_starts[f] : bin_starts[f + 1]]
                for i in range(size):
                    distance[i] += along[of_feature[i]]
            for i in range(size):
                if distance[i] < smallest[i]:
                    smallest[i] = distance[i]
                    nearest[first + i] = k
    return nearest
