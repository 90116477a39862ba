"""Rows in blocks as the samples that a code grows on: they supply columns and sums, nothing else."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skecoc.blocks.bins import CodedBlock, PreparedRows, copy_rows
from skecoc.blocks.boosting import boost_columns
from skecoc.blocks.outputs import CodedLearners, code_learners, evaluate_coded
from skecoc.blocks.regions import RegionTrainer, StartRows
from skecoc.growth.samples import CodedSamples, TrainingSamples
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.bins import code_values
from skecoc.learners.columns import Column, ConstantClassifier, Integers, Pattern, Response, column_seeds
from skecoc.learners.folds import NEVER_HELD_OUT
from skecoc.support.executor import Blocks
from skecoc.support.weights import only_side


class BlockSamples(TrainingSamples):
    """Rows of blocks, from which boosted stumps are trained by sums."""

    def __init__(self, rows: PreparedRows, learner: StumpAdaBoostClassifier, response: Response) -> None:
        self.rows, self.learner, self.response = rows, learner, response
        self.executor, self.prior, self.n_folds = rows.executor, rows.prior, rows.n_folds
        self.n_samples = rows.summary.n_rows
        self.total_weight, self.unit_weight = rows.total_weight, rows.summary.largest_weight
        # The folds that are held out together.
        folds = list(range(self.n_folds))
        self.held_out = [folds] if rows.layout.is_single else [[fold] for fold in folds]
        self._seen: Counter[bytes] = Counter()

    def without_columns(self) -> Blocks:
        """Return the blocks without codewords."""
        self._seen = Counter()
        return self.executor.map(_without_columns, self.rows.coded, message=(self.n_folds,))

    def train(self, columns: Sequence[Column], coded: Blocks, scale: float) -> tuple[list[BaseEstimator], Blocks]:
        """Boost columns, with all rows and without each fold, from sums over blocks."""
        learners, *by_fold = self.fit(columns)
        evaluated, *without = (
            code_learners(variant, self.rows.bins, self.response) for variant in (learners, *by_fold)
        )
        message = (self.n_folds, evaluated, list(zip(self.held_out, without, strict=True)), scale)
        return learners, self.executor.map(_append_outputs, coded, self.rows.coded, message=message)

    def evaluated(self, learners: CodedLearners, scale: float) -> Blocks:
        """Return the blocks with the outputs of learners on all rows, whether or not a fold holds them out."""
        return self.executor.map(_evaluated, self.rows.coded, message=(self.n_folds, learners, scale))

    def fit(self, columns: Sequence[Column], *, with_folds: bool = True) -> list[list[BaseEstimator]]:
        """Boost columns; return their learners, and those without each fold."""
        patterns = np.column_stack([column.pattern for column in columns])
        seeds = column_seeds(patterns, self.rows.seed, self._seen)
        return self.fit_without(columns, seeds, [[], *(self.held_out if with_folds else [])])

    def fit_without(
        self, columns: Sequence[Column], seeds: Sequence[int], variants: Sequence[list[int]]
    ) -> list[list[BaseEstimator]]:
        """Boost columns with given seeds, without the rows of each of several lists of folds, in the same passes."""
        cells = [[self._side_of_cells(column.pattern, folds) for column in columns] for folds in variants]
        fitted: list[list[Any]] = [[self._constant(sides) for sides in of_variant] for of_variant in cells]
        for clustered, fit in ((False, self._boost), (True, self._cluster)):
            numbers = [number for number, column in enumerate(columns) if column.clustered == clustered]
            places = [(v, number) for v in range(len(variants)) for number in numbers if fitted[v][number] is None]
            if places:
                learners = fit(
                    [cells[variant][number] for variant, number in places],
                    [seeds[number] for _, number in places],
                    [columns[number].n_regions for _, number in places],
                )
                for (variant, number), learner in zip(places, learners, strict=True):
                    fitted[variant][number] = learner
        return fitted

    def _side_of_cells(self, pattern: Pattern, without_folds: list[int]) -> Pattern:
        """Return the side of each cell: that of its class, or zero for the cells of some folds."""
        sides = np.repeat(pattern[:, np.newaxis], self.n_folds + 1, axis=1)
        sides[:, [fold + 1 for fold in without_folds]] = 0
        return sides.ravel()

    def _constant(self, sides: Pattern) -> ConstantClassifier | None:
        """Return the learner of a column of cells in which one side alone counts, as local ones have it, or None."""
        is_on = np.stack([sides < 0, sides > 0])
        side = only_side(is_on @ self.rows.cell_counts, is_on @ self.rows.cell_weights)
        return None if side is None else ConstantClassifier(side)

    def _boost(self, patterns: list[Pattern], seeds: list[int], n_regions: list[int]) -> list[BaseEstimator]:
        """Train simple columns."""
        del seeds, n_regions  # stumps draw nothing
        rows = self.rows
        matrix = np.column_stack(patterns)
        return boost_columns(
            self.executor, rows.coded, rows.bins, matrix, rows.cell_weights, self.learner, rows.summary.names
        )

    def _cluster(self, patterns: list[Pattern], seeds: list[int], n_regions: list[int]) -> list[BaseEstimator]:
        """Train clustering-based columns."""
        rows = self.rows
        trainer = RegionTrainer(
            self.executor,
            rows.coded,
            rows.bins,
            _start_rows(rows),
            self.learner,
            self.unit_weight,
            rows.summary.names,
        )
        return trainer.train(patterns, seeds, n_regions)


def _start_rows(rows: PreparedRows) -> StartRows:
    """Return the sampled rows as their bins show them."""
    sample, bins = rows.sample, rows.bins
    codes = code_values(sample.X, bins).T
    cell = rows.layout.cells(sample.keys, rows.sample_classes())
    return StartRows(bins.centres[codes + bins.starts[:-1]], cell, sample.mass)


def _without_columns(block: CodedBlock, n_folds: int) -> CodedSamples:
    """Return the rows of a block as samples without columns; if there are folds, only rows that one holds out."""
    rows = _held_out_rows(block, n_folds)
    y, fold = np.divmod(block.cell[rows], n_folds + 1)
    empty = np.empty((len(rows), 0), np.float32)
    return CodedSamples(empty, empty, y, block.weights[rows], fold - 1, block.keys[rows])


def _evaluated(block: CodedBlock, n_folds: int, learners: CodedLearners, scale: float) -> CodedSamples:
    """Return all rows of a block with the outputs of learners."""
    outputs = (evaluate_coded(block.codes, learners) / scale).astype(np.float32)
    y = block.cell // (n_folds + 1)
    return CodedSamples(outputs, outputs, y, block.weights, np.full(len(y), NEVER_HELD_OUT), block.keys)


def _held_out_rows(block: CodedBlock, n_folds: int) -> Integers:
    """List the rows that a fold holds out, or all rows if there are no folds."""
    return np.flatnonzero(block.cell % (n_folds + 1)) if n_folds else np.arange(len(block.keys))


def _append_outputs(
    samples: CodedSamples,
    block: CodedBlock,
    n_folds: int,
    learners: CodedLearners,
    held_out: list[tuple[list[int], CodedLearners]],
    scale: float,
) -> CodedSamples:
    """Append the outputs of further columns: of learners without some folds for the rows of these, if there are any."""
    rows = _held_out_rows(block, n_folds)
    outputs = np.empty((len(rows), len(learners.kinds)), np.float32)
    for folds, without in held_out or [([NEVER_HELD_OUT], learners)]:
        members = np.flatnonzero(np.isin(samples.fold, folds))
        if len(members):
            outputs[members] = evaluate_coded(copy_rows(block.codes, rows[members]), without) / scale
    return samples.beside(outputs, None)
