"""What is computed where blocks of coded rows are: the outputs of trained learners, and the rows of regions.

Blocks know the bins of their rows and not the features. This module does without scikit-learn, as workers do.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import Bins, Ints
from skecoc.data.blocks import UNIT, CodedBlock, copy_rows
from skecoc.data.codes import Codes, Floats, Integers
from skecoc.data.folds import NEVER_HELD_OUT
from skecoc.data.samples import CodedSamples
from skecoc.learners.stump_kernels import respond
from skecoc.support.compiling import kernel

if TYPE_CHECKING:
    from skecoc.learners import StumpAdaBoostClassifier
    from skecoc.learners.columns import Response

Pattern = NDArray[np.int8]

#: Rows that are worked on together: what is noted about them stays in a core's cache.
_CHUNK = 2_048


class CodedStumps(NamedTuple):
    """Boosted models whose thresholds are bins: arrays as `add_coded_votes` takes them."""

    features: Ints
    cuts: Ints
    votes: Floats
    starts: Ints


class CodedRegions(NamedTuple):
    """A region learner: its centres, the margins of its pure regions, and the model of each region (pure: empty)."""

    centres: Floats
    margins: Floats
    stumps: CodedStumps


class CodedLearners(NamedTuple):
    """The learners of some columns, in the form that evaluates coded rows."""

    kinds: list[tuple[str, int]]  # "stumps", "regions" or "constant", and the number among those, or the side
    stumps: CodedStumps  # of all columns of stumps
    regions: list[CodedRegions]
    bin_starts: Ints
    bin_centres: Floats  # empty if there are no region learners
    response: "Response"


def code_learners(learners: Sequence[Any], bins: Bins, response: "Response") -> CodedLearners:
    """Prepare learners that were trained on rows coded by the same bins, as a message for blocks."""
    from skecoc.learners.columns import ConstantClassifier  # not on workers, which do without scikit-learn
    from skecoc.learners.regions import RegionClassifier

    kinds: list[tuple[str, int]] = []
    stumps: list[StumpAdaBoostClassifier] = []
    regions: list[CodedRegions] = []
    for learner in learners:
        if isinstance(learner, ConstantClassifier):
            kinds.append(("constant", int(2 * learner.side - 1)))
        elif isinstance(learner, RegionClassifier):
            kinds.append(("regions", len(regions)))
            regions.append(
                CodedRegions(learner.centres_, learner.region_margins_, _code_stumps(learner.estimators_, bins))
            )
        else:
            kinds.append(("stumps", len(stumps)))
            stumps.append(learner)
    centres = bins.centres if regions else np.empty(0)
    return CodedLearners(kinds, _code_stumps(stumps, bins), regions, bins.starts, centres, response)


def _code_stumps(learners: "Sequence[StumpAdaBoostClassifier | None]", bins: Bins) -> CodedStumps:
    """Turn thresholds into bins; None has no stumps."""
    features, cuts, votes, sizes = [], [], [], [0]
    for learner in learners:
        for f, threshold in () if learner is None else zip(learner.features_, learner.thresholds_, strict=True):
            features.append(f)
            cuts.append(bins.cut(f, threshold) if f >= 0 else 0)
        if learner is not None:
            votes.append(learner.alphas_ * learner.polarities_)
        sizes.append(0 if learner is None else learner.n_estimators_)
    return CodedStumps(
        np.array(features, dtype=np.int64),
        np.array(cuts, dtype=np.int64),
        np.concatenate([np.empty(0), *votes]),
        np.cumsum(sizes),
    )


def evaluate_coded(codes: Codes, learners: CodedLearners) -> Floats:
    """Evaluate learners on coded rows, as `skecoc.learners.columns.evaluate_columns` does on the rows themselves."""
    outputs = np.empty((codes.shape[1], len(learners.kinds)))
    F = add_coded_votes(codes, *learners.stumps)
    for q, (kind, number) in enumerate(learners.kinds):
        if kind == "constant":
            outputs[:, q] = number
        elif kind == "regions":
            regions = learners.regions[number]
            squares = squared_distances(regions.centres, learners.bin_starts, learners.bin_centres)
            region = nearest_coded_centre(codes, learners.bin_starts, squares)
            of_regions = add_coded_votes(codes, *regions.stumps)
            is_pure = np.diff(regions.stumps.starts) == 0
            own = np.where(is_pure[region], regions.margins[region], of_regions[np.arange(len(region)), region])
            outputs[:, q] = respond(own, learners.response)
        else:
            outputs[:, q] = respond(F[:, number], learners.response)
    return outputs


def count_correct(block: CodedBlock, learners: CodedLearners, matrix: Floats) -> Ints:
    """Sum up the weights of the rows of each cell on the correct side of each column, in parts of `UNIT`.

    See `skecoc.decoding.losses.sum_correct`, which does not need rows to be sorted.
    """
    units = np.rint(block.weights * UNIT)
    outputs = evaluate_coded(block.codes, learners)
    correct = np.zeros(matrix.shape, np.int64)
    for p, (first, last) in enumerate(pairwise(block.starts)):
        is_correct = matrix[p] * outputs[first:last] > 0
        # Doubles hold these sums of integers exactly: a block has less than 2^23 rows.
        correct[p] = units[first:last] @ is_correct.astype(np.float64)
    return correct


def largest_output(block: CodedBlock, learners: CodedLearners) -> float | None:
    """Return the largest absolute output on the rows of a block; None if there are no rows."""
    return float(np.abs(evaluate_coded(block.codes, learners)).max()) if len(block.keys) else None


def block_outputs(
    block: CodedBlock, n_folds: int, learners: CodedLearners, held_out: Sequence[tuple[list[int], CodedLearners]]
) -> Floats:
    """Evaluate columns on the rows of a block that a fold holds out: by learners trained without some folds on theirs.

    Without folds, on all rows.
    """
    if not n_folds:
        return evaluate_coded(block.codes, learners)
    rows = block.held_out(n_folds)
    fold = block.cell[rows] % (n_folds + 1) - 1
    outputs = np.empty((len(rows), len(learners.kinds)))
    for folds, without in held_out:
        members = np.flatnonzero(np.isin(fold, folds))
        if len(members):
            outputs[members] = evaluate_coded(copy_rows(block.codes, rows[members]), without)
    return outputs


def all_rows(block: CodedBlock, n_folds: int, learners: CodedLearners, scale: float) -> CodedSamples:
    """Return all rows of a block, held out or not, with the outputs of learners."""
    outputs = (evaluate_coded(block.codes, learners) / scale).astype(np.float32)
    y = block.cell // (n_folds + 1)
    return CodedSamples(outputs, outputs, y, block.weights, np.full(len(y), NEVER_HELD_OUT), block.keys)


class ColumnRegions(NamedTuple):
    """The regions of clustering-based columns, by which blocks divide their rows."""

    patterns: Sequence[Pattern]  # side of each cell
    centres: Sequence[Floats]
    n_regions: int  # the most of a column
    bin_starts: Ints
    bin_centres: Floats


def sum_regions(block: CodedBlock, regions: ColumnRegions) -> Ints:
    """Sum up the weights of the rows of each region, by bin, in parts of `UNIT`: (n_columns, n_regions, n_bins)."""
    n_regions, bin_starts = regions.n_regions, regions.bin_starts
    sums = np.zeros((len(regions.patterns), n_regions, bin_starts[-1]), np.int64)
    units = np.rint(block.weights * UNIT)
    for c, (rows, codes, region) in enumerate(_find_regions(block, regions)):
        for f in range(len(codes)):
            size = int(bin_starts[f + 1] - bin_starts[f])
            # Doubles hold these sums of integers exactly: a block has less than 2^23 rows.
            found = np.bincount(region * np.intp(size) + codes[f], units[rows], minlength=n_regions * size)
            sums[c, :, bin_starts[f] : bin_starts[f + 1]] = found.reshape(n_regions, size)
    return sums


def part_block(block: CodedBlock, regions: ColumnRegions) -> CodedBlock:
    """Copy the rows of columns, sorted by column, region and side, as if these were cells.

    Cell ``2 * (n_regions * c + r) + s`` holds the rows of column c in region r on side s (1: positive).
    """
    taken, labels = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    cell, n_labels = block.cell, 2 * regions.n_regions * len(regions.patterns)
    for c, (rows, _, region) in enumerate(_find_regions(block, regions)):
        taken.append(rows)
        labels.append(2 * (regions.n_regions * c + region.astype(np.intp)) + (regions.patterns[c][cell[rows]] > 0))
    every, label = np.concatenate(taken), np.concatenate(labels)
    order = np.argsort(label, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=n_labels))])
    rows = every[order]
    weight = block.weight[rows] if len(block.weight) else block.weight
    return CodedBlock(copy_rows(block.codes, rows), starts, weight, block.keys[rows])


def _find_regions(block: CodedBlock, regions: ColumnRegions) -> Iterator[tuple[Integers, Codes, NDArray[np.uint8]]]:
    """Yield the rows of the cells that take part in each column, with their codes and regions."""
    for pattern, centres in zip(regions.patterns, regions.centres, strict=True):
        rows = np.concatenate([np.arange(block.starts[p], block.starts[p + 1]) for p in np.flatnonzero(pattern)])
        codes = copy_rows(block.codes, rows)
        squares = squared_distances(centres, regions.bin_starts, regions.bin_centres)
        yield rows, codes, nearest_coded_centre(codes, regions.bin_starts, squares)


def squared_distances(centres: Floats, bin_starts: Ints, bin_centres: Floats) -> Floats:
    """Return the squared distance of each bin's middle from each centre along its feature, (n_centres, n_bins)."""
    return (bin_centres - np.repeat(centres, np.diff(bin_starts), axis=1)) ** 2


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
