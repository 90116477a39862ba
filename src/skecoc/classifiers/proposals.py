"""Which pairs of classes are hard, and which column separates one: whose learner, simple or clustering-based."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from skecoc.classifiers.growing_code import GrowingCode
from skecoc.classifiers.growth import Evaluation, Proposal, symmetric_losses
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.samples import ArraySamples
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Column, Floats, Pattern

# Pair losses that differ by less than this share of the largest one are equal: rounding decides nothing.
_EQUAL_LOSSES = 1e-9
# A clustering-based column has no more regions than leave each this weight of samples on average.
_SAMPLES_OF_REGION = 10.0
# A learner must lower the summed logistic loss of a pair by more than this: about what one more factor gains by chance.
_LEAST_GAIN = 2.0
# Factors beyond this change nothing; the bound keeps those of separable samples finite.
_LARGEST_FACTOR = 50.0


def layered_proposal(
    code: GrowingCode, evaluation: Evaluation, n_pairs: int, n_regions: Sequence[int], *, is_capped: bool = False
) -> Proposal:
    """Separate the hardest pairs: by a simple learner if a pair is no column yet, else by a clustering-based one.

    Each further clustering-based column of a pair has the next of some numbers of regions, over and over; capped, no
    more than its samples allow. Of several learners, the one that lowers the pair's out-of-fold loss most is taken; a
    pair that no learner helps is left out.
    """
    pairs = hard_pairs(evaluation.pair_losses, n_pairs)
    names = code.learner_names
    if not names:
        columns = [_next_column(code, pair, "", n_regions, is_capped=is_capped) for pair in pairs]
        trained = [(column, pair) for column, pair in zip(columns, pairs, strict=True) if _can_be_trained(code, column)]
        reason = "there are no numeric features to cluster by" if pairs and not trained else ""
        return Proposal([column for column, _ in trained], [pair for _, pair in trained], reason)
    choices = []
    for pair in pairs:
        columns = [_next_column(code, pair, name, n_regions, is_capped=is_capped) for name in names]
        choices.append([column for column in columns if _can_be_trained(code, column)])
    chosen = best_columns(code, evaluation.decoder, pairs, choices)
    helped = [(column, pair) for column, pair in zip(chosen, pairs, strict=True) if column is not None]
    reason = "no learner lowers the loss of a hard pair" if pairs and not helped else ""
    return Proposal([column for column, _ in helped], [pair for _, pair in helped], reason)


def _next_column(
    code: GrowingCode, pair: tuple[int, int], learner: str, n_regions: Sequence[int], *, is_capped: bool
) -> Column:
    """Return the column by which a learner would separate a pair next."""
    pattern = pair_column(len(code.matrix), pair)
    own = code.matrix[:, np.array(code.column_learners) == learner] if learner else code.matrix
    n_equal = number_of_equal_columns(own, pattern)
    wanted = n_regions[(n_equal - 1) % len(n_regions)]
    if is_capped:
        weight = code.samples.prior[list(pair)].sum() * code.samples.total_weight
        wanted = max(2, min(wanted, int(weight / _SAMPLES_OF_REGION)))
    return Column(pattern, wanted if n_equal else 0, learner)


def _can_be_trained(code: GrowingCode, column: Column) -> bool:
    """Tell whether the learner of a column can be trained by regions, if the column is clustering-based."""
    return not column.clustered or column.learner in code.clusterable


def best_columns(
    code: GrowingCode, decoder: Any, pairs: Sequence[tuple[int, int]], choices: Sequence[Sequence[Column]]
) -> list[Column | None]:
    """Return for each pair that of some columns which lowers the out-of-fold loss of its samples most, or None."""
    samples, every = code.samples, [column for columns in choices for column in columns]
    if not every or not isinstance(samples, ArraySamples):
        return [None] * len(pairs)
    coded, outputs = code.coded, code.try_out(every).out_of_fold
    scores = decode(decoder, coded.out_of_fold, code.matrix, samples.prior)
    chosen: list[Column | None] = []
    first = 0
    for pair, columns in zip(pairs, choices, strict=True):
        last = first + len(columns)
        rows = np.flatnonzero(np.isin(coded.y, pair))
        side = np.where(coded.y[rows] == pair[0], 1.0, -1.0)
        margins = side * (scores[rows, pair[0]] - scores[rows, pair[1]])
        signs = np.array([column.pattern[pair[0]] for column in columns])
        of_pair = outputs[rows, first:last] * side[:, None] * signs
        gains = pair_gains(margins, of_pair, coded.weight[rows] * samples.unit_weight)
        best = int(gains.argmax()) if len(gains) else 0
        chosen.append(columns[best] if len(gains) and gains[best] > _LEAST_GAIN else None)
        first = last
    return chosen


def pair_gains(margins: Floats, outputs: Floats, weight: Floats) -> Floats:
    """Return by how much each of some columns lowers the logistic loss of the samples of a pair of classes.

    `margins` are what the code says so far, `outputs` of shape (n_samples, n_columns) what the columns say, both
    positive where they favour a sample's own class. The loss is that of the best sum of both with factors that are not
    negative, so no column has a loss above that of the margins alone.

    >>> says_right, says_wrong = np.array([[1.0], [1.0]]), np.array([[-1.0], [-1.0]])
    >>> pair_gains(np.array([0.5, -0.5]), np.hstack([says_right, says_wrong]), np.ones(2)).round(2)
    array([1.39, 0.  ])
    """
    scaled = margins / (np.abs(margins).mean() or 1.0)

    def least(*terms: Floats) -> float:
        design = np.column_stack(terms)

        def loss(factors: Floats) -> tuple[float, Floats]:
            total = design @ factors
            slopes = -weight / (1.0 + np.exp(np.minimum(total, 500.0)))
            return float(weight @ np.logaddexp(0.0, -total)), slopes @ design

        bounds = [(0.0, _LARGEST_FACTOR)] * len(terms)
        return float(minimize(loss, np.full(len(terms), 0.5), jac=True, method="L-BFGS-B", bounds=bounds).fun)

    before = least(scaled)
    return np.array([max(before - least(scaled, column), 0.0) for column in outputs.T])


def hard_pairs(losses: ArrayLike, n_pairs: int) -> list[tuple[int, int]]:
    """Find at most `n_pairs` pairs of classes with the highest losses above zero, both directions added up.

    The highest loss comes first; of equal losses, the pair of smaller indices. The confusion and the risk matrix of the
    paper's Figure 5 select different pairs:

    >>> hard_pairs([[90, 0, 10], [0, 90, 10], [0, 5, 95]], 1), hard_pairs([[0, 0, 0], [0, 0, 4], [20, 6, 0]], 1)
    ([(1, 2)], [(0, 2)])
    """
    both = symmetric_losses(losses)
    first, second = np.triu_indices(len(both), 1)
    values = both[first, second]
    levels = np.round(values / (values.max(initial=0.0) or 1.0) / _EQUAL_LOSSES)
    order = np.argsort(-levels, kind="stable")[:n_pairs]
    return [(int(first[k]), int(second[k])) for k in order if values[k] > 0]


def pair_column(n_classes: int, pair: tuple[int, int]) -> Pattern:
    """Return the column with the first class of a pair against the second."""
    column = np.zeros(n_classes, dtype=np.int8)
    column[list(pair)] = 1, -1
    return column


def number_of_equal_columns(matrix: CodeMatrix, column: Pattern) -> int:
    """Count the columns of a matrix that are equal to a column, or to its negation."""
    members = np.flatnonzero(column)
    signs = matrix[members] * column[members, None]
    agree = np.flatnonzero((signs[0] != 0) & (signs == signs[0]).all(axis=0))
    return int((np.count_nonzero(matrix[:, agree], axis=0) == len(members)).sum())
