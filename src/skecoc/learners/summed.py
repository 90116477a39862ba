"""Boosted stumps trained from sums over rows in blocks: simple columns, and clustering-based ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from skecoc.data.bins import Bins, Ints, code_values
from skecoc.data.blocks import UNIT, cell_totals
from skecoc.data.codes import rounded
from skecoc.data.executor import States
from skecoc.data.samples import BlockSamples, Sample
from skecoc.learners.binary import set_features
from skecoc.learners.boosting import boost_columns
from skecoc.learners.coded_outputs import (
    CodedLearners,
    ColumnRegions,
    all_rows,
    block_outputs,
    code_learners,
    count_correct,
    evaluate_coded,
    part_block,
    sum_regions,
)
from skecoc.learners.coded_outputs import largest_output as largest_in_block
from skecoc.learners.columns import (
    ALL_SAMPLES,
    HELD_OUT,
    SEEN,
    Column,
    ColumnTrainer,
    ConstantClassifier,
    Floats,
    Pattern,
    Samples,
)
from skecoc.learners.regions import MAX_ITER, RegionClassifier, distinct_start
from skecoc.support.weights import only_side

# Numbers of regions are kept in a byte.
_MOST_REGIONS = 255


@dataclass
class SummedTrainer(ColumnTrainer):
    """Boosts the stumps of columns from sums over all rows of blocks.

    If `X` is None columns are evaluated where the blocks are, else on `X`, which are some of their rows.
    """

    rows: Any = None  # BlockSamples

    _bins: ClassVar[bool] = False  # bins are those of all rows

    def __post_init__(self) -> None:
        super().__post_init__()
        rows: BlockSamples = self.rows
        # A code that does not grow needs no folds of blocks: it has no clustering-based columns either.
        needs_folds = self.clustered_learner is not None if self.X is None else self.folds is not None
        folds = list(range(rows.n_folds if needs_folds else 0))
        self._left_out = ([folds] if folds else []) if rows.layout.is_single else [[fold] for fold in folds]

    def fit(self, columns: Sequence[Column], without_fold: int = ALL_SAMPLES) -> list[BaseEstimator]:
        """Boost columns from sums over all rows, and in the same passes without those of each fold."""
        if max(column.n_regions for column in columns) > _MOST_REGIONS:
            raise ValueError(f"n_regions must be at most {_MOST_REGIONS} for samples in blocks")
        trained = self._trained.setdefault(without_fold, {})
        missing = [column for column in columns if column.key not in trained]
        if missing:
            folds = [*([ALL_SAMPLES] if without_fold == ALL_SAMPLES else []), *range(len(self._left_out))]
            variants = [[] if fold == ALL_SAMPLES else self._left_out[fold] for fold in folds]
            for fold, learners in zip(folds, self._fit_without(missing, variants), strict=True):
                for column, learner in zip(missing, learners, strict=True):
                    self._trained.setdefault(fold, {})[column.key] = learner
            self.on_fit()
        return [trained[column.key] for column in columns]

    def outputs(self, columns: Sequence[Column], samples: Samples = SEEN, *, tried: bool = False) -> Any:
        """Evaluate columns on rows of `X`, or on those in blocks: all of them, or those that a fold holds out."""
        if self.X is not None:
            return super().outputs(columns, samples, tried=tried)
        left_out = self._left_out if samples == HELD_OUT else []
        held_out = [(folds, self._coded(columns, number)) for number, folds in enumerate(left_out)]
        message = (self.rows.n_folds if held_out else 0, self._coded(columns), held_out)
        for number in range(len(left_out)):
            self._trained.pop(number, None)
        return self.rows.executor.map(block_outputs, self.rows.coded, message=message)

    def sampled_outputs(self, columns: Sequence[Column], sample: Sample) -> Floats:
        """Evaluate columns on the sample of the rows in blocks."""
        if sample.codes is None:
            raise ValueError("the sample must be one of rows in blocks")
        return evaluate_coded(sample.codes, self._coded(columns))

    def largest_output(self, columns: Sequence[Column]) -> float:
        """Return the largest absolute output on all rows."""
        largest = self.rows.executor.sum(largest_in_block, self.rows.coded, message=(self._coded(columns),), merge=max)
        return largest or 1.0

    def count_correct(self, columns: Sequence[Column], matrix: Floats) -> Floats:
        """Sum up the weights of the rows of each class on the correct side of each column."""
        n_cells = self.rows.n_folds + 1
        message = (self._coded(columns), np.repeat(matrix, n_cells, axis=0))
        correct = self.rows.executor.sum(count_correct, self.rows.coded, message=message)
        return correct.reshape(self.rows.n_classes, n_cells, -1).sum(axis=1).astype(np.float64)

    def all_rows(self, columns: Sequence[Column], scale: float) -> States:
        """Return all rows, held out or not, with their outputs by learners that have seen them."""
        message = (self.rows.n_folds, self._coded(columns), scale)
        return self.rows.executor.map(all_rows, self.rows.coded, message=message)

    def _coded(self, columns: Sequence[Column], fold: int = ALL_SAMPLES) -> CodedLearners:
        learners = self.fit(columns, fold)
        return code_learners(learners, self.rows.bins, self.respond(learners))

    def _fit_without(self, columns: Sequence[Column], variants: Sequence[list[int]]) -> list[list[BaseEstimator]]:
        """Boost columns without the rows of each of several lists of folds, in the same passes."""
        rows: BlockSamples = self.rows
        fitted: list[list[Any]] = [[None] * len(columns) for _ in variants]
        # Patterns of cells, and the variants and numbers of their columns: simple ones, and clustering-based ones.
        patterns: dict[bool, list[Pattern]] = {False: [], True: []}
        places: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        for variant, without_folds in enumerate(variants):
            for number, column in enumerate(columns):
                # A cell has the side of its class, or none in the folds that are left out.
                sides = np.repeat(column.pattern[:, np.newaxis], rows.n_folds + 1, axis=1)
                sides[:, [fold + 1 for fold in without_folds]] = 0
                sides = sides.ravel()
                is_on = np.stack([sides < 0, sides > 0])
                side = only_side(is_on @ rows.cell_counts, is_on @ rows.cell_weights)
                if side is not None:
                    fitted[variant][number] = ConstantClassifier(side)
                else:
                    patterns[column.clustered].append(sides)
                    places[column.clustered].append((variant, number))
        for clustered, found in places.items():
            if found:
                own = [columns[number] for _, number in found]
                cells = patterns[clustered]
                learners = self._boost_in_regions(cells, own) if clustered else self._boost(cells)
                for (variant, number), learner in zip(found, learners, strict=True):
                    fitted[variant][number] = learner
        return fitted

    def _boost(self, patterns: list[Pattern]) -> list[BaseEstimator]:
        rows: BlockSamples = self.rows
        given = (rows.executor, rows.coded, rows.bins, np.column_stack(patterns), rows.cell_weights)
        return boost_columns(*given, self.learner, rows.summary.names)

    def _boost_in_regions(self, patterns: list[Pattern], columns: list[Column]) -> list[BaseEstimator]:
        """Train one `RegionClassifier` per column, whose patterns give the side of each cell.

        The rows of all regions are copied once, sorted by column, region and side, and boosted like the classes of a
        code of their own.
        """
        rows: BlockSamples = self.rows
        most = max(column.n_regions for column in columns)
        centres = self._cluster(patterns, columns, most)
        regions = ColumnRegions(patterns, centres, most, rows.bins.starts, rows.bins.centres)
        parted = rows.executor.map(part_block, rows.coded, message=(regions,))
        counts, weights = rows.executor.sum(cell_totals, parted)
        mixed = np.flatnonzero(counts.reshape(-1, 2).all(axis=1))
        in_regions: dict[int, BaseEstimator] = {}
        if len(mixed):
            matrix = np.zeros((len(counts), len(mixed)), np.int8)
            matrix[2 * mixed, np.arange(len(mixed))] = -1
            matrix[2 * mixed + 1, np.arange(len(mixed))] = 1
            given = (rows.executor, parted, rows.bins, matrix, weights, self.learner, rows.summary.names)
            in_regions = dict(zip(mixed.tolist(), boost_columns(*given), strict=True))
        counts = counts.reshape(len(patterns), most, 2)
        masses = (weights / UNIT * rows.summary.largest_weight).reshape(counts.shape)
        learners: list[BaseEstimator] = []
        for c, column in enumerate(columns):
            inner = [in_regions.get(c * most + r) for r in range(most)]
            learners.append(self._assemble(column, centres[c], counts[c], masses[c], inner))
        return learners

    def _cluster(self, patterns: list[Pattern], columns: list[Column], n_regions: int) -> list[Floats]:
        """Run k-means for all columns together, one pass per step; a row stands where the middles of its bins are."""
        rows: BlockSamples = self.rows
        sample, bins = rows.sample, rows.bins
        points = bins.centres[code_values(sample.X, bins).T + bins.starts[:-1]]
        cell = rows.layout.cells(sample.keys, rows.sample_classes())
        centres = []
        for pattern, column in zip(patterns, columns, strict=True):
            used = pattern[cell] != 0
            random_state = np.random.RandomState(column.seed)
            centres.append(distinct_start(points[used], column.n_regions, random_state, sample.mass[used]))
        moving = list(range(len(patterns)))
        for _ in range(MAX_ITER):
            own = [patterns[c] for c in moving], [centres[c] for c in moving]
            regions = ColumnRegions(*own, n_regions, bins.starts, bins.centres)
            sums = rows.executor.sum(sum_regions, rows.coded, message=(regions,))
            still = []
            for c, of_column in zip(moving, sums, strict=True):
                before, centres[c] = centres[c], _moved(centres[c], of_column, bins)
                if not np.array_equal(before, centres[c]):
                    still.append(c)
            moving = still
            if not moving:
                break
        return centres

    def _assemble(
        self, column: Column, centres: Floats, counts: Ints, masses: Floats, learners: list[BaseEstimator | None]
    ) -> RegionClassifier:
        """Return the learner of a column, of its regions that hold rows; counts and masses are by region and side."""
        learner = RegionClassifier(self.learner, n_regions=column.n_regions, random_state=column.seed)
        set_features(learner, self.rows.bins.n_features, self.rows.summary.names)
        occupied = np.flatnonzero(counts.any(axis=1))
        margins = [(1 if counts[r, 1] else -1) * 0.5 * np.log1p(masses[r].sum()) for r in occupied]
        learner.classes_ = np.array([0, 1])
        learner.centres_ = centres[occupied]
        learner.n_regions_ = len(occupied)
        learner.estimators_ = [learners[r] for r in occupied]
        pure = np.array([inner is None for inner in learner.estimators_])
        learner.region_margins_ = np.where(pure, rounded(np.array(margins)), 0.0)
        return learner


def _moved(centres: Floats, sums: Ints, bins: Bins) -> Floats:
    """Move centres to the means of their rows; a centre without rows stays where it was."""
    moved = centres.copy()
    for k in range(len(centres)):
        mass = float(sums[k, bins.of(0)].sum())
        if mass > 0:
            moved[k] = np.add.reduceat(sums[k] * bins.centres, bins.starts[:-1]) / mass
    return rounded(moved)
