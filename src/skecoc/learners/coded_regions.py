"""Clustering-based columns on blocks: k-means from sums over blocks, then stumps in the regions of all columns at once.

A row is placed by the middles of its bins, which are its values where bins are exact. The regions' rows are copied
once, sorted by column, region and side, and boosted like the classes of a code of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.data.bins import Bins, Ints
from skecoc.data.coded_rows import UNIT, CodedBlock, cell_totals, copy_rows
from skecoc.data.codes import Names, rounded
from skecoc.data.executor import Executor, States
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.binary import set_features
from skecoc.learners.boosting import boost_columns
from skecoc.learners.coded_outputs import squared_distances
from skecoc.learners.regions import MAX_ITER, distinct_start
from skecoc.learners.summed_kernels import nearest_coded_centre

Floats = NDArray[np.float64]
Pattern = NDArray[np.int8]


@dataclass(frozen=True)
class StartRows:
    """Training rows that clusterings may start from: middles of their bins, cells and weights."""

    X: Floats
    cell: NDArray[np.intp]
    mass: Floats


@dataclass(frozen=True)
class RegionTrainer:
    """Trains clustering-based columns."""

    executor: Executor
    coded: States  # of CodedBlock
    bins: Bins
    starts: StartRows
    learner: StumpAdaBoostClassifier  # of a mixed region
    largest_weight: float  # of a row whose weight in `coded` is 1
    names: Names | None

    def train(self, patterns: Sequence[Pattern], seeds: Sequence[int], n_regions: Sequence[int]) -> list[BaseEstimator]:
        """Train one `RegionClassifier` per column, whose patterns give the side of each cell."""
        most = max(n_regions)
        starts = [self._start(*column) for column in zip(patterns, seeds, n_regions, strict=True)]
        centres = self._cluster(patterns, starts, most)
        message = (patterns, centres, most, self.bins.starts, self.bins.centres)
        parted = self.executor.map(part_block, self.coded, message=message)
        counts, weights = self.executor.sum(cell_totals, parted)
        matrix, mixed = _matrix_of_regions(counts)
        learners: list[BaseEstimator] = []
        if len(mixed):
            learners = boost_columns(self.executor, parted, self.bins, matrix, weights, self.learner, self.names)
        in_regions = dict(zip(mixed.tolist(), learners, strict=True))
        by_side = (weights / UNIT * self.largest_weight).reshape(len(patterns), most, 2)
        return [
            self._assemble(
                RegionClassifier(self.learner, n_regions=n_regions[c], random_state=seeds[c]),
                centres[c],
                by_side[c],
                counts.reshape(by_side.shape)[c],
                [in_regions.get(c * most + r) for r in range(most)],
            )
            for c in range(len(patterns))
        ]

    def _start(self, pattern: Pattern, seed: int, n_regions: int) -> Floats:
        """Draw the centres to start from."""
        used = pattern[self.starts.cell] != 0
        random_state = np.random.RandomState(seed)
        return distinct_start(self.starts.X[used], n_regions, random_state, self.starts.mass[used])

    def _cluster(self, patterns: Sequence[Pattern], starts: list[Floats], n_regions: int) -> list[Floats]:
        """Run k-means for all columns together, one pass per step."""
        centres = list(starts)
        moving = list(range(len(patterns)))
        for _ in range(MAX_ITER):
            taken = [patterns[c] for c in moving]
            message = (taken, [centres[c] for c in moving], n_regions, self.bins.starts, self.bins.centres)
            sums = self.executor.sum(sum_regions, self.coded, message=message)
            moved = [self._moved(centres[c], of_column) for c, of_column in zip(moving, sums, strict=True)]
            still = [not np.array_equal(centres[c], new) for c, new in zip(moving, moved, strict=True)]
            for c, new in zip(moving, moved, strict=True):
                centres[c] = new
            moving = [c for c, moves in zip(moving, still, strict=True) if moves]
            if not moving:
                break
        return centres

    def _moved(self, centres: Floats, sums: Ints) -> Floats:
        """Move centres to the means of their rows; a centre without rows stays where it was."""
        moved = centres.copy()
        middles = self.bins.centres
        for k in range(len(centres)):
            mass = float(sums[k, self.bins.of(0)].sum())
            if mass > 0:
                products = sums[k] * middles
                moved[k] = np.add.reduceat(products, self.bins.starts[:-1]) / mass
        return rounded(moved)

    def _assemble(
        self,
        region_learner: RegionClassifier,
        centres: Floats,
        weights: Floats,
        counts: Ints,
        in_regions: list[BaseEstimator | None],
    ) -> RegionClassifier:
        """Put the learner of a column together: its regions that hold rows."""
        set_features(region_learner, self.bins.n_features, self.names)
        occupied = np.flatnonzero(counts.any(axis=1))
        learners = [in_regions[r] for r in occupied]
        margins = [(1 if counts[r, 1] else -1) * 0.5 * np.log1p(weights[r].sum()) for r in occupied]
        region_learner.classes_ = np.array([0, 1])
        region_learner.centres_ = centres[occupied]
        region_learner.n_regions_ = len(occupied)
        region_learner.estimators_ = learners
        pure = np.array([learner is None for learner in learners])
        region_learner.region_margins_ = np.where(pure, rounded(np.array(margins)), 0.0)
        return region_learner


def _rows_of(block: CodedBlock, pattern: Pattern) -> NDArray[np.intp]:
    """List the rows of the cells that take part in a column."""
    spans = [np.arange(block.starts[p], block.starts[p + 1]) for p in np.flatnonzero(pattern)]
    return np.concatenate(spans)


def sum_regions(
    block: CodedBlock,
    patterns: Sequence[Pattern],
    centres: Sequence[Floats],
    n_regions: int,
    bin_starts: Ints,
    bin_centres: Floats,
) -> Ints:
    """Sum up the weights of the rows of each region, by bin, in parts of `UNIT`: (n_columns, n_regions, n_bins)."""
    sums = np.zeros((len(patterns), n_regions, bin_starts[-1]), np.int64)
    units = np.rint(block.weights * UNIT)
    for c, pattern in enumerate(patterns):
        rows = _rows_of(block, pattern)
        codes = copy_rows(block.codes, rows)
        region = nearest_coded_centre(codes, bin_starts, squared_distances(centres[c], bin_starts, bin_centres))
        for f in range(len(codes)):
            size = int(bin_starts[f + 1] - bin_starts[f])
            # Doubles hold these sums of integers exactly: a block has less than 2^23 rows.
            found = np.bincount(region * np.intp(size) + codes[f], units[rows], minlength=n_regions * size)
            sums[c, :, bin_starts[f] : bin_starts[f + 1]] = found.reshape(n_regions, size)
    return sums


def part_block(
    block: CodedBlock,
    patterns: Sequence[Pattern],
    centres: Sequence[Floats],
    n_regions: int,
    bin_starts: Ints,
    bin_centres: Floats,
) -> CodedBlock:
    """Copy the rows of columns, sorted by column, region and side, as if these were cells.

    Cell ``2 * (n_regions * c + r) + s`` holds the rows of column c in region r on side s (1: positive).
    """
    taken, labels = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    cell = block.cell
    for c, pattern in enumerate(patterns):
        rows = _rows_of(block, pattern)
        squares = squared_distances(centres[c], bin_starts, bin_centres)
        region = nearest_coded_centre(copy_rows(block.codes, rows), bin_starts, squares)
        taken.append(rows)
        labels.append(2 * (n_regions * c + region.astype(np.intp)) + (pattern[cell[rows]] > 0))
    every, label = np.concatenate(taken), np.concatenate(labels)
    order = np.argsort(label, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=2 * n_regions * len(patterns)))])
    rows = every[order]
    weight = block.weight[rows] if len(block.weight) else block.weight
    return CodedBlock(copy_rows(block.codes, rows), starts, weight, block.keys[rows])


def _matrix_of_regions(counts: Ints) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Return the code whose columns are the mixed regions, and their numbers."""
    mixed = np.flatnonzero(counts.reshape(-1, 2).all(axis=1))
    matrix = np.zeros((len(counts), len(mixed)), np.int8)
    matrix[2 * mixed, np.arange(len(mixed))] = -1
    matrix[2 * mixed + 1, np.arange(len(mixed))] = 1
    return matrix, mixed
