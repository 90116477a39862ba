"""Evaluate trained learners on coded rows: the codewords of a block, without its features."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skecoc.data.bins import Bins, Ints
from skecoc.data.blocks import UNIT, CodedBlock, copy_rows
from skecoc.data.codes import Codes, Floats
from skecoc.data.folds import NEVER_HELD_OUT
from skecoc.data.samples import CodedSamples
from skecoc.learners.stump_kernels import respond
from skecoc.learners.summed_kernels import add_coded_votes, nearest_coded_centre

if TYPE_CHECKING:
    from skecoc.learners import StumpAdaBoostClassifier
    from skecoc.learners.columns import Response


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
    """The learners of some columns, as coded rows are evaluated by them."""

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
            outputs[:, q] = _evaluate_regions(codes, learners.regions[number], learners)
        else:
            outputs[:, q] = respond(F[:, number], learners.response)
    return outputs


def _evaluate_regions(codes: Codes, regions: CodedRegions, learners: CodedLearners) -> Floats:
    """Evaluate every row by the learner of its region."""
    squares = squared_distances(regions.centres, learners.bin_starts, learners.bin_centres)
    region = nearest_coded_centre(codes, learners.bin_starts, squares)
    F = add_coded_votes(codes, *regions.stumps)
    is_pure = np.diff(regions.stumps.starts) == 0
    own = np.where(is_pure[region], regions.margins[region], F[np.arange(len(region)), region])
    return respond(own, learners.response)


def squared_distances(centres: Floats, bin_starts: Ints, bin_centres: Floats) -> Floats:
    """Return the squared distance of each bin's middle from each centre along its feature, (n_centres, n_bins)."""
    return (bin_centres - np.repeat(centres, np.diff(bin_starts), axis=1)) ** 2


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
