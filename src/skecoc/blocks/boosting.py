"""Boost the stumps of many columns together, from histograms that are summed over blocks of rows.

Every round is one pass: a block multiplies the weights of the rows that each column's last stump got wrong (or right,
whichever are fewer), and says how that changes the column's histograms; the sums of these changes decide on the next
stumps. What a block keeps is one weight per row and column. The stumps are those of `StumpAdaBoostClassifier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from skecoc.blocks.bins import UNIT, Bins, CodedBlock, Ints
from skecoc.blocks.kernels import count_cells, reweight
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.base import Names, set_features
from skecoc.learners.columns import ConstantClassifier
from skecoc.learners.stump_kernels import best_stump
from skecoc.learners.stumps import SMALLEST_ERROR, TIE_TOLERANCE
from skecoc.support.executor import Blocks, Executor

Floats = NDArray[np.float64]
Matrix = NDArray[np.int8]

#: Rounded weights of a column sum up to about this at first; they are scaled anew when their sum leaves the range.
_FIRST_SUM = 2.0**56
_SMALLEST_SUM, _LARGEST_SUM = 2.0**44, 2.0**61

# Columns are boosted in groups: a block keeps so many weights per row at most, and sends so many sums.
_WEIGHTS_PER_ROW = 16.0
_LARGEST_MESSAGE = 2**23


class Stump(NamedTuple):
    """A stump of a column and what follows from it: which rows' weights are multiplied, and by how much."""

    column: int
    feature: int
    cut: int
    polarity: int
    factor: float
    changes_wrong: bool
    scale: float


def boost_columns(
    executor: Executor,
    coded: Blocks,
    bins: Bins,
    matrix: Matrix,
    cell_weights: Ints,
    learner: StumpAdaBoostClassifier,
    names: Names | None = None,
) -> list[BaseEstimator]:
    """Train the learners of all columns of a matrix, one row per cell; `cell_weights` is in parts of `UNIT`.

    A column with rows on one side only gets a `ConstantClassifier`.
    """
    learners: list[BaseEstimator] = []
    for group in column_groups(matrix, cell_weights, bins.n_bins):
        models = _boost_group(executor, coded, bins, group, cell_weights, learner.n_estimators)
        learners += [model.learner(learner, bins, names) for model in models]
    return learners


def column_groups(matrix: Matrix, cell_weights: Ints, n_bins: int) -> Iterator[Matrix]:
    """Divide columns into groups whose weights and sums are not too many to keep and to send at once."""
    share = np.abs(matrix).T @ cell_weights / cell_weights.sum()
    most_columns = max(1, _LARGEST_MESSAGE // n_bins)
    first = 0
    while first < matrix.shape[1]:
        taken = int(np.searchsorted(np.cumsum(share[first:]), _WEIGHTS_PER_ROW, side="right"))
        last = first + max(1, min(taken, most_columns))
        yield matrix[:, first:last]
        first = last


def _boost_group(
    executor: Executor, coded: Blocks, bins: Bins, matrix: Matrix, cell_weights: Ints, n_estimators: int
) -> "list[_Column]":
    """Boost the columns of a group."""
    totals = np.abs(matrix).T @ cell_weights
    scale = 2.0 ** np.floor(np.log2(_FIRST_SUM / (totals.max() / UNIT)))
    weights, (counts, histograms, sums) = executor.step(start_block, coded, message=(matrix, scale, bins.starts))
    columns = [_Column(bins, counts[q], histograms[q], int(sums[q])) for q in range(matrix.shape[1])]
    for t in range(n_estimators):
        found = [(q, column.next_stump()) for q, column in enumerate(columns) if not column.is_done]
        stumps = [Stump(q, *stump) for q, stump in found if stump is not None]
        if not stumps or t == n_estimators - 1:
            break
        weights, (changes, sums) = executor.step(reweight_block, weights, coded, message=(matrix, stumps, bins.starts))
        for stump, change, total in zip(stumps, changes, sums, strict=True):
            columns[stump.column].take(change, int(total), is_new=stump.scale != 1.0)
    return columns


def start_block(
    block: CodedBlock, matrix: Matrix, scale: float, bin_starts: Ints
) -> tuple[Floats, tuple[Ints, Ints, Ints]]:
    """Give the rows of a block their first weights, column after column, and sum them up.

    The sums, by column and bin: rows on the negative and the positive side, signed rounded weights, and their totals.
    """
    n_cells, n_columns = matrix.shape
    n_bins = int(bin_starts[-1])
    counts = np.zeros((n_columns, 2, n_bins), np.int64)
    histograms = np.zeros((n_columns, n_bins), np.int64)
    sides = np.stack([(matrix < 0).T, (matrix > 0).T], axis=1).astype(np.int64)
    signs = matrix.T.astype(np.int64)
    for f in range(len(block.codes)):
        place = slice(bin_starts[f], bin_starts[f + 1])
        of_cells = np.zeros((n_cells, bin_starts[f + 1] - bin_starts[f]), np.int64)
        weights_of_cells = np.zeros_like(of_cells)
        count_cells(block.codes[f], block.starts, block.weight, scale, of_cells, weights_of_cells)
        counts[:, :, place] = sides @ of_cells
        if len(block.weight) == 0:
            weights_of_cells = of_cells * int(scale)
        histograms[:, place] = signs @ weights_of_cells
    totals = np.abs(signs) @ weights_of_cells.sum(axis=1)
    taken = [slice(block.starts[p], block.starts[p + 1]) for column in matrix.T for p in np.flatnonzero(column)]
    all_weights = block.weights * scale
    return np.concatenate([all_weights[rows] for rows in taken]), (counts, histograms, totals)


def reweight_block(
    weights: Floats, block: CodedBlock, matrix: Matrix, stumps: list[Stump], bin_starts: Ints
) -> tuple[Floats, tuple[Ints, Ints]]:
    """Multiply the weights of a block's rows as the last stumps say.

    The sums, by stump: changes of the histograms and of the totals, or new ones where weights were scaled.
    """
    changed = weights.copy()
    sizes = np.abs(matrix.T).astype(np.int64) @ np.diff(block.starts)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    changes = np.zeros((len(stumps), bin_starts[-1]), np.int64)
    totals = np.zeros(len(stumps), np.int64)
    for k, stump in enumerate(stumps):
        q = stump.column
        totals[k] = reweight(
            block.codes,
            block.starts,
            bin_starts,
            np.ascontiguousarray(matrix[:, q]),
            changed[ends[q] : ends[q + 1]],
            stump.feature,
            stump.cut,
            stump.polarity,
            stump.factor,
            stump.changes_wrong,
            stump.scale,
            changes[k],
        )
    return changed, (changes, totals)


class _Column:
    """The sums of one column over all blocks, and the stumps that they have led to."""

    def __init__(self, bins: Bins, counts: Ints, histogram: Ints, total: int) -> None:
        self._bins, self._counts, self._histogram, self._total = bins, counts, histogram, total
        self._sides = counts[:, bins.of(0)].sum(axis=1)
        self.is_constant = not self._sides.all()
        self.is_done = self.is_constant
        # Only bins that hold rows of the column count: thresholds lie between values that occur there.
        self._occupied = np.flatnonzero(counts.any(axis=0))
        self._starts = np.searchsorted(self._occupied, bins.starts).astype(np.int64)
        self.features: list[int] = []
        self.thresholds: list[float] = []
        self.polarities: list[int] = []
        self.alphas: list[float] = []

    def take(self, change: Ints, total: int, *, is_new: bool) -> None:
        """Take up what a pass has found: changes, or sums that replace the old ones."""
        self._histogram = change if is_new else self._histogram + change
        self._total = total if is_new else self._total + total

    def next_stump(self) -> tuple[int, int, int, float, bool, float] | None:
        """Choose the next stump; return it and how weights change, or None if boosting ends."""
        occupied = self._histogram[self._occupied]
        edge = int(self._histogram[self._bins.of(0)].sum())
        slack = 2.0 * TIE_TOLERANCE * self._total
        feature, place, polarity, best = best_stump(occupied.astype(np.float64), self._starts, float(edge), slack)
        if best <= slack:  # a weighted error of one half
            self.is_done = True
            return None
        cut = self._append(feature, place, polarity)
        wrong, n_wrong = self._wrong(feature, cut, polarity, edge)
        error = max(wrong / self._total, SMALLEST_ERROR)
        self.alphas.append(0.5 * np.log((1.0 - error) / error))
        if n_wrong == 0:
            self.is_done = True
            return None
        changes_wrong = 2 * n_wrong <= int(self._sides.sum())
        factor = (1.0 - error) / error if changes_wrong else error / (1.0 - error)
        changed = wrong if changes_wrong else self._total - wrong
        then = self._total + (factor - 1.0) * changed
        scale = 1.0 if _SMALLEST_SUM < then < _LARGEST_SUM else 2.0 ** np.floor(np.log2(_FIRST_SUM / then))
        return feature, cut, polarity, factor, changes_wrong, float(scale)

    def _append(self, feature: int, place: int, polarity: int) -> int:
        """Note a stump that cuts after an occupied bin; return the number of that bin within its feature."""
        self.features.append(int(feature))
        self.polarities.append(int(polarity))
        if feature < 0:
            self.thresholds.append(np.inf)
            return 0
        first = self._starts[feature] + place
        left, right = self._occupied[first : first + 2] - self._bins.starts[feature]
        self.thresholds.append(self._bins.threshold(feature, int(left), int(right)))
        return int(left)

    def _wrong(self, feature: int, cut: int, polarity: int, edge: int) -> tuple[int, int]:
        """Sum up the weights, and count the rows, that a stump gets wrong."""
        bins = self._bins.of(max(feature, 0))
        counts, histogram = self._counts[:, bins], self._histogram[bins]
        last = cut + 1 if feature >= 0 else len(histogram)
        left_edge = int(histogram[:last].sum())
        gain = polarity * (2 * left_edge - edge)
        negative, positive = (0, 1) if polarity > 0 else (1, 0)
        n_wrong = int(counts[negative, :last].sum() + counts[positive, last:].sum())
        return (self._total - gain) // 2, n_wrong

    def learner(self, template: StumpAdaBoostClassifier, bins: Bins, names: Names | None) -> BaseEstimator:
        """Return the trained learner."""
        if self.is_constant:
            return ConstantClassifier(int(self._sides[1] > 0))
        learner = clone(template)
        set_features(learner, bins.n_features, names)
        learner.classes_ = np.array([0, 1])
        learner.features_ = np.array(self.features, dtype=np.int64)
        learner.thresholds_ = np.array(self.thresholds)
        learner.polarities_ = np.array(self.polarities, dtype=np.int64)
        learner.alphas_ = np.array(self.alphas)
        learner.n_estimators_ = len(self.alphas)
        return learner
