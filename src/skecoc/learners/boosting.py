"""Boost the stumps of many columns together, from histograms that are summed over blocks of rows.

Every round is one pass: a block computes the weights of its rows from all stumps so far, finds the rows that each
column's last stump got wrong (or right, whichever are fewer), and computes how the column's histograms change; the
sums of these changes determine the next stumps. Blocks keep nothing but their coded rows: to multiply weights anew
takes less time than to read and write them. The stumps are those of `StumpAdaBoostClassifier`.

Weights are floats that change row by row, without regard to other rows; every sum of them is a sum of integers, to
which the weights are rounded first. So sums do not depend on how rows are divided into blocks, nor on any order.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import Bins, Ints
from skecoc.data.blocks import UNIT, CodedBlock
from skecoc.data.codes import Codes, Floats, Names
from skecoc.data.executor import Executor, States
from skecoc.learners.stump_kernels import SMALLEST_ERROR, TIE_TOLERANCE, add_rows, best_stump
from skecoc.support.compiling import kernel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from skecoc.learners import StumpAdaBoostClassifier

Matrix = NDArray[np.int8]
Signs = NDArray[np.int8]

#: Rounded weights of a column sum up to about this at first; they are scaled anew when their sum leaves the range.
_FIRST_SUM = 2.0**56
_SMALLEST_SUM, _LARGEST_SUM = 2.0**44, 2.0**61

# Rows that are worked on together: what is noted about them stays in a core's cache.
_CHUNK = 2_048

# A block's first sums of a column are four numbers per bin: rows on either side, and weights with signs and without.
_FIRST_SUMS = 4


class ColumnStumps(NamedTuple):
    """All stumps of a column so far, as `reweight` takes them."""

    column: int
    features: Ints
    cuts: Ints
    factors: Floats  # (2, n_stumps, 2): by side and, last, for rows up to the cut and above it
    is_scaled: bool  # whether the last one scales all weights


def boost_columns(
    executor: Executor,
    coded: States,
    bins: Bins,
    matrix: Matrix,
    cell_weights: Ints,
    learner: "StumpAdaBoostClassifier",
    names: Names | None = None,
) -> "list[BaseEstimator]":
    """Train the learners of all columns of a matrix, one row per cell; `cell_weights` is in parts of `UNIT`.

    A column with rows on one side only gets a `ConstantClassifier`.
    """
    learners: list[BaseEstimator] = []
    # The same for all groups: how many there are follows from memory, and must not change rounding.
    totals = np.abs(matrix).T @ cell_weights
    scale = 2.0 ** np.floor(np.log2(_FIRST_SUM / (totals.max() / UNIT)))
    for group in column_groups(matrix, bins.n_bins, executor.largest_summand):
        models = _boost_group(executor, coded, bins, group, scale, learner.n_estimators)
        learners += [model.learner(learner, bins, names) for model in models]
    return learners


def column_groups(matrix: Matrix, n_bins: int, largest_summand: int) -> Iterator[Matrix]:
    """Divide columns into groups whose sums, of which a block has four or fewer per bin, are not too many bytes."""
    size = max(1, largest_summand // (8 * _FIRST_SUMS * n_bins))
    for first in range(0, matrix.shape[1], size):
        yield matrix[:, first : first + size]


def _boost_group(
    executor: Executor, coded: States, bins: Bins, matrix: Matrix, scale: float, n_estimators: int
) -> "list[_Column]":
    counts, histograms, weights = executor.sum(start_block, coded, message=(matrix, scale, bins.starts))
    columns = [_Column(bins, counts[q], histograms[q], weights[q]) for q in range(matrix.shape[1])]
    for t in range(n_estimators):
        going_on = [q for q, column in enumerate(columns) if not column.is_done and column.choose_stump()]
        if not going_on or t == n_estimators - 1:
            break
        stumps = [columns[q].stumps(q) for q in going_on]
        changes, sums = executor.sum(reweight_block, coded, message=(matrix, scale, stumps, bins.starts))
        for of_column, change, total in zip(stumps, changes, sums, strict=True):
            columns[of_column.column].take(change, int(total), is_new=of_column.is_scaled)
    return columns


def start_block(block: CodedBlock, matrix: Matrix, scale: float, bin_starts: Ints) -> tuple[Ints, Ints, Ints]:
    """Sum up the first weights of the rows of a block.

    By column and bin: rows on the negative and the positive side, signed rounded weights, and weights without signs.
    """
    n_cells, n_columns = matrix.shape
    n_bins = int(bin_starts[-1])
    counts = np.zeros((n_columns, 2, n_bins), np.int64)
    histograms, weights = np.zeros((2, n_columns, n_bins), np.int64)
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
        weights[:, place] = np.abs(signs) @ weights_of_cells
    return counts, histograms, weights


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


def reweight_block(
    block: CodedBlock, matrix: Matrix, scale: float, stumps: list[ColumnStumps], bin_starts: Ints
) -> tuple[Ints, Ints]:
    """Sum up what the last stumps change in a block.

    By column: changes of the histograms and of the totals, or new ones where weights were scaled.
    """
    changes = np.zeros((len(stumps), bin_starts[-1]), np.int64)
    totals = np.zeros(len(stumps), np.int64)
    for k, (column, features, cuts, factors, is_scaled) in enumerate(stumps):
        signs = np.ascontiguousarray(matrix[:, column])
        rows = (block.codes, block.starts, bin_starts, signs, block.weight, scale)
        totals[k] = reweight(*rows, features, cuts, factors, is_scaled, changes[k])
    return changes, totals


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
        # Writing always and moving on only if the row changes is faster than an unpredictable branch.
        factor = left if feature < 0 or codes[feature, first + i] <= cut else right
        after = np.int64(np.rint(weights[i] * factor))
        rows[n_changed] = first + i
        changes[n_changed] = after if is_scaled else after - np.int64(np.rint(weights[i]))
        n_changed += is_scaled or factor != 1.0
    return n_changed


class _Column:
    """The sums of one column over all blocks, and the stumps that they have led to."""

    def __init__(self, bins: Bins, counts: Ints, histogram: Ints, weights: Ints) -> None:
        self._bins, self._counts, self._histogram, self._weights = bins, counts, histogram, weights
        self._total = self._first_total = int(weights[bins.of(0)].sum())
        self._sides = counts[:, bins.of(0)].sum(axis=1)
        self.is_constant = not self._sides.all()
        self.is_done = self.is_constant
        # Only bins that hold rows of the column count: thresholds lie between values that occur there.
        self._occupied = np.flatnonzero(counts.any(axis=0))
        self._starts = np.searchsorted(self._occupied, bins.starts).astype(np.int64)
        self.features: list[int] = []
        self.thresholds: list[float] = []
        self.missing_left: list[bool] = []
        self.polarities: list[int] = []
        self.alphas: list[float] = []
        self._cuts: list[int] = []
        self._factors: list[list[list[float]]] = []  # by stump, side, and left or right of the cut
        self._is_scaled = False

    def take(self, change: Ints, total: int, *, is_new: bool) -> None:
        """Take up what a pass has found: changes, or sums that replace the old ones."""
        self._histogram = change if is_new else self._histogram + change
        self._total = total if is_new else self._total + total

    def choose_stump(self) -> bool:
        """Choose the next stump and how it changes weights; tell whether boosting goes on."""
        occupied = self._histogram[self._occupied]
        edge = int(self._histogram[self._bins.of(0)].sum())
        slack = 2.0 * TIE_TOLERANCE * self._total
        sums = occupied.astype(np.float64), self._starts, self._bins.missing
        feature, place, _, polarity, best = best_stump(*sums, float(edge), slack)
        if best <= slack:  # a weighted error of one half
            self.is_done = True
            return False
        cut = self._append(feature, place, polarity)
        wrong, n_wrong = self._wrong(feature, cut, polarity, edge)
        error = max(wrong / self._total, SMALLEST_ERROR)
        self.alphas.append(float(np.float32(0.5 * np.log((1.0 - error) / error))))
        if n_wrong == 0:
            self.is_done = True
            return False
        changes_wrong = 2 * n_wrong <= int(self._sides.sum())
        factor = (1.0 - error) / error if changes_wrong else error / (1.0 - error)
        changed = wrong if changes_wrong else self._total - wrong
        then = self._total + (factor - 1.0) * changed
        scale = 1.0 if _SMALLEST_SUM < then < _LARGEST_SUM else 2.0 ** np.floor(np.log2(_FIRST_SUM / then))
        self._is_scaled = scale != 1.0
        self._cuts.append(cut)
        of_wrong, of_right = (factor * scale, scale) if changes_wrong else (scale, factor * scale)
        # Left and right of the cut: with a positive polarity, the negative side is wrong on the left.
        negative, positive = [of_wrong, of_right], [of_right, of_wrong]
        self._factors.append([negative, positive] if polarity > 0 else [positive, negative])
        return True

    def stumps(self, number: int) -> ColumnStumps:
        """Return the stumps so far of the column of a number."""
        factors = np.array(self._factors).transpose(1, 0, 2)
        of_column = np.array(self.features, np.int64), np.array(self._cuts, np.int64), np.ascontiguousarray(factors)
        return ColumnStumps(number, *of_column, self._is_scaled)

    def _append(self, feature: int, place: int, polarity: int) -> int:
        """Note a stump that cuts after an occupied bin; return the number of that bin within its feature."""
        self.features.append(int(feature))
        self.polarities.append(int(polarity))
        if feature < 0:
            self.thresholds.append(np.inf)
            self.missing_left.append(True)
            return 0
        first = self._starts[feature] + place
        left, right = self._occupied[first : first + 2] - self._bins.starts[feature]
        self.thresholds.append(self._bins.threshold(feature, int(left), int(right)))
        on_left = int(self._weights[self._bins.starts[feature] :][: left + 1].sum())
        self.missing_left.append(on_left > (0.5 + TIE_TOLERANCE) * self._first_total)
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

    def learner(self, template: "StumpAdaBoostClassifier", bins: Bins, names: Names | None) -> "BaseEstimator":
        """Return the trained learner."""
        from sklearn.base import clone  # not on workers, which do without scikit-learn

        from skecoc.learners.binary import set_features
        from skecoc.learners.columns import ConstantClassifier

        if self.is_constant:
            return ConstantClassifier(int(self._sides[1] > 0))
        learner = clone(template)
        set_features(learner, bins.n_features, names)
        learner.classes_ = np.array([0, 1])
        learner.features_ = np.array(self.features, dtype=np.int64)
        learner.thresholds_ = np.array(self.thresholds)
        learner.missing_left_ = np.array(self.missing_left, dtype=np.bool_)
        learner.polarities_ = np.array(self.polarities, dtype=np.int64)
        learner.alphas_ = np.array(self.alphas)
        learner.n_estimators_ = len(self.alphas)
        return learner
