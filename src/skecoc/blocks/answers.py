"""Ask trained learners about coded rows: the codewords of a block, without its features."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.blocks._kernels import add_coded_votes, nearest_coded_centre
from skecoc.blocks.bins import Bins, CodedBlock, Ints
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.base import Codes
from skecoc.learners.columns import ConstantClassifier, Response

Floats = NDArray[np.float64]


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
    """The learners of some columns, as coded rows are answered by them.

    Attributes
    ----------
    kinds : list of (str, int) of length n_columns
        For each column "stumps", "regions" or "constant", and its number among those, or the constant side.
    stumps : CodedStumps
        The models of all columns of stumps.
    regions : list of CodedRegions
        The region learners.
    bin_starts : ndarray of int64 of shape (n_features + 1,)
        First bin of each feature.
    bin_centres : ndarray of shape (n_bins,)
        Middle of each bin; empty if there are no region learners.
    response : {"predict_proba", "decision_function", "predict"}
        How the learners answer.
    """

    kinds: list[tuple[str, int]]
    stumps: CodedStumps
    regions: list[CodedRegions]
    bin_starts: Ints
    bin_centres: Floats
    response: Response


def code_learners(learners: Sequence[BaseEstimator], bins: Bins, response: Response) -> CodedLearners:
    """Prepare trained learners for coded rows.

    Parameters
    ----------
    learners : sequence of StumpAdaBoostClassifier, RegionClassifier and ConstantClassifier
        Trained on rows that were coded by the same bins.
    bins : Bins
        The bins.
    response : {"predict_proba", "decision_function", "predict"}
        How the learners answer.

    Returns
    -------
    CodedLearners
        A message for blocks.
    """
    kinds: list[tuple[str, int]] = []
    stumps: list[StumpAdaBoostClassifier] = []
    regions: list[CodedRegions] = []
    for learner in learners:
        if isinstance(learner, ConstantClassifier):
            kinds.append(("constant", 2 * learner.side - 1))
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


def _code_stumps(learners: Sequence[StumpAdaBoostClassifier | None], bins: Bins) -> CodedStumps:
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


def answer_coded(codes: Codes, learners: CodedLearners) -> Floats:
    """Answer coded rows.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Bin of every value.
    learners : CodedLearners
        Trained learners.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        What `skecoc.learners.columns.evaluate_columns` gives for the rows themselves.
    """
    answers = np.empty((codes.shape[1], len(learners.kinds)))
    F = add_coded_votes(codes, *learners.stumps)
    for q, (kind, number) in enumerate(learners.kinds):
        if kind == "constant":
            answers[:, q] = number
        elif kind == "regions":
            answers[:, q] = _answer_regions(codes, learners.regions[number], learners)
        else:
            answers[:, q] = _respond(F[:, number], learners.response)
    return answers


def _respond(F: Floats, response: Response) -> Floats:
    """Turn weighted votes into answers."""
    if response == "predict_proba":
        return np.tanh(F)
    return np.where(F > 0.0, 1.0, -1.0) if response == "predict" else F


def _answer_regions(codes: Codes, regions: CodedRegions, learners: CodedLearners) -> Floats:
    """Let every row be answered by its region."""
    squares = squared_distances(regions.centres, learners.bin_starts, learners.bin_centres)
    region = nearest_coded_centre(codes, learners.bin_starts, squares)
    F = add_coded_votes(codes, *regions.stumps)
    is_pure = np.diff(regions.stumps.starts) == 0
    own = np.where(is_pure[region], regions.margins[region], F[np.arange(len(region)), region])
    return _respond(own, learners.response)


def squared_distances(centres: Floats, bin_starts: Ints, bin_centres: Floats) -> Floats:
    """Return the squared distance of each bin's middle from each centre along its feature, (n_centres, n_bins)."""
    return (bin_centres - np.repeat(centres, np.diff(bin_starts), axis=1)) ** 2


class AnsweredBlock(NamedTuple):
    """Rows of a block with their codewords.

    Attributes
    ----------
    codewords : ndarray of float32 of shape (n_rows, n_columns)
        Answers of the learners.
    y : ndarray of int of shape (n_rows,)
        Class indices.
    weight : ndarray of shape (n_rows,)
        Weights in (0, 1].
    keys : ndarray of uint64 of shape (n_rows,)
        Hashes of the rows.
    """

    codewords: NDArray[np.float32]
    y: NDArray[np.intp]
    weight: Floats
    keys: NDArray[np.uint64]


def begin_answers(block: CodedBlock) -> AnsweredBlock:
    """Return the rows of a block with codewords of no columns yet."""
    return AnsweredBlock(np.empty((len(block.keys), 0), np.float32), block.y, block.weights, block.keys)


def append_answers(answered: AnsweredBlock, block: CodedBlock, learners: CodedLearners) -> AnsweredBlock:
    """Return the rows of a block with the answers of further learners."""
    answers = answer_coded(block.codes, learners).astype(np.float32)
    return answered._replace(codewords=np.hstack([answered.codewords, answers]))


def scale_answers(answered: AnsweredBlock, scale: float) -> AnsweredBlock:
    """Return the rows of a block with codewords divided by a number."""
    return answered._replace(codewords=(answered.codewords / np.float32(scale)).astype(np.float32))


def largest_answer(block: CodedBlock, learners: CodedLearners) -> float | None:
    """Return the largest absolute answer to the rows of a block; None if there are no rows."""
    return float(np.abs(answer_coded(block.codes, learners)).max()) if len(block.keys) else None


def sizes_of_answers(answered: AnsweredBlock) -> tuple[float, int]:
    """Return the sum of the absolute answers to the rows of a block, and their number."""
    return float(np.abs(answered.codewords).sum(dtype=np.float64)), answered.codewords.size
