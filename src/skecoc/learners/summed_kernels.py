"""Compiled loops over the coded rows of one block: histograms, reweighting, votes and distances.

Weights are floats that change row by row, without regard to other rows; every sum of them is a sum of integers, to
which the weights are rounded first. So sums do not depend on how rows are divided into blocks, nor on any order.
"""

import numpy as np
from numpy.typing import NDArray

from skecoc.data.codes import Codes, Floats
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
    weight: Floats,
    first_scale: float,
    features: Ints,
    cuts: Ints,
    factors: Floats,
    is_scaled: bool,
    histogram: Ints,
) -> int:
    """Add to a column's histogram what its last stump changes, and return the change of the sum of rounded weights.

    Weights are computed anew from those that rows have at first (empty: all 1), times a scale, and from all stumps so
    far: `factors` holds by what each multiplies the rows of the negative and the positive side (first axis) up to its
    cut and above it (last axis). If the last one scales all weights anew, all rows are added, and the sum itself is
    returned. Feature -1 stands for the constant stump, on whose left all rows are.
    """
    rows = np.empty(_CHUNK, np.int64)
    changes = np.empty(_CHUNK, np.int64)
    weights = np.empty(_CHUNK)
    last = features.size - 1
    total = 0
    for p in range(column.size):
        if column[p] == 0:
            continue
        of_side = factors[1 if column[p] > 0 else 0]
        for first in range(starts[p], starts[p + 1], _CHUNK):
            n_rows = min(_CHUNK, starts[p + 1] - first)
            for i in range(n_rows):
                weights[i] = first_scale
            if weight.size > 0:
                for i in range(n_rows):
                    weights[i] *= weight[first + i]
            for t in range(last):
                _multiply(codes, first, features[t], cuts[t], of_side[t], weights[:n_rows])
            n_changed = _list_changes(
                codes, first, features[last], cuts[last], of_side[last], is_scaled, weights[:n_rows], rows, changes
            )
            for j in range(n_changed):
                total += changes[j]
                changes[j] *= column[p]
            add_rows(codes, bin_starts, histogram, rows[:n_changed], changes)
    return total


@kernel
def _multiply(codes: Codes, first: int, feature: int, cut: int, factors: Floats, weights: Floats) -> None:
    """Multiply the weights of consecutive rows as a stump does, in place."""
    left, right = factors[0], factors[1]
    if feature < 0:
        for i in range(weights.size):
            weights[i] *= left
        return
    of_feature = codes[feature, first : first + weights.size]
    for i in range(weights.size):
        weights[i] *= left if of_feature[i] <= cut else right


@kernel
def _list_changes(
    codes: Codes,
    first: int,
    feature: int,
    cut: int,
    factors: Floats,
    is_scaled: bool,
    weights: Floats,
    rows: Ints,
    changes: Ints,
) -> int:
    """List the rows that a stump changes and by how much their rounded weights change; return how many they are."""
    left, right = factors[0], factors[1]
    n_changed = 0
    for i in range(weights.size):
        # Writing always and moving on only if the row changes is faster than a branch that nobody can predict.
        factor = left if feature < 0 or codes[feature, first + i] <= cut else right
        after = np.int64(np.rint(weights[i] * factor))
        rows[n_changed] = first + i
        changes[n_changed] = after if is_scaled else after - np.int64(np.rint(weights[i]))
        n_changed += is_scaled or factor != 1.0
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
