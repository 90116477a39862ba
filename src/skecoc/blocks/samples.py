"""Rows in blocks as the samples that a code grows on: they supply columns and sums, nothing else."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.blocks.bins import UNIT, CodedBlock, Ints, PreparedRows, code_values
from skecoc.blocks.boosting import boost_columns
from skecoc.blocks.outputs import CodedLearners, code_learners, evaluate_coded
from skecoc.blocks.regions import RegionTrainer, StartRows
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.decoding.losses import sum_correct
from skecoc.decoding.optimized.rows import Block, MemoryRows, RemoteRows
from skecoc.growth.samples import CodedSamples, TrainingSamples, rows_without
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import Column, Floats, Integers, Pattern, Response, column_seeds
from skecoc.learners.folds import NEVER_HELD_OUT, mix
from skecoc.support.executor import Blocks, Executor

Result = TypeVar("Result")

_NO_SHIFT = np.zeros((0, 0), dtype=np.float32)
_LOOKED_AT = 2_000
# Rows that weights are first fitted to, at most about: they come to one machine.
_MOST_SAMPLED = 2**17
# Samples that a temperature is fitted on, at most about.
_CALIBRATION_SAMPLES = 4_096
# Different scramblings of keys: what is drawn for one purpose must not depend on another.
_SAMPLING, _DRAWING = np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F)
_CALIBRATING = np.uint64(0x1C69B3F74AC4AE35)


class BlockSamples(TrainingSamples):
    """Rows of blocks, from which boosted stumps are trained by sums."""

    def __init__(self, rows: PreparedRows, learner: StumpAdaBoostClassifier, response: Response) -> None:
        self.rows, self.learner, self.response = rows, learner, response
        self.executor, self.prior, self.n_folds = rows.executor, rows.prior, rows.n_folds
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
        """Return the blocks with the outputs of learners that were trained without folds."""
        message: tuple[Any, ...] = (self.n_folds, learners, [], scale)
        return self.executor.map(_append_outputs, self.without_columns(), self.rows.coded, message=message)

    def fit(self, columns: Sequence[Column]) -> list[list[BaseEstimator]]:
        """Boost columns; return their learners, and those without each fold."""
        patterns = np.column_stack([column.pattern for column in columns])
        seeds = column_seeds(patterns, self.rows.seed, self._seen)
        variants: list[list[int]] = [[], *self.held_out]
        cells = [[self._side_of_cells(column.pattern, folds) for column in columns] for folds in variants]
        fitted: list[list[Any]] = [[None] * len(columns) for _ in variants]
        for clustered, fit in ((False, self._boost), (True, self._cluster)):
            numbers = [number for number, column in enumerate(columns) if column.clustered == clustered]
            places = [(variant, number) for variant in range(len(variants)) for number in numbers]
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

    def fit_weights(
        self,
        decoder: OptimizedWeightDecoder,
        coded: Blocks,
        matrix: CodeMatrix,
        *,
        without_fold: int | None = None,
        warm_start: Floats | None = None,
        prior: Floats | None = None,
    ) -> OptimizedWeightDecoder:
        """Fit weights from sums over blocks."""
        unused = [0] if self.n_folds else []
        if without_fold is not None:
            unused.append(without_fold + 1)
        counts, weights = (
            np.delete(cells.reshape(self.n_classes, -1), unused, axis=1)
            for cells in (self.rows.cell_counts, self.rows.cell_weights)
        )
        by_class = weights.sum(axis=1) / UNIT
        if decoder.class_weight == "balanced":
            factor = 1.0 / (self.n_classes * by_class)
        else:
            factor = np.full(self.n_classes, 1.0 / by_class.sum())
        selection = (matrix.shape[1], without_fold, factor)
        remote = RowsOfBlocks(self.executor, coded, selection, self.n_classes, int(counts.sum()))
        return decoder.fit_remote(remote, matrix, warm_start, prior)

    def for_calibration(self, coded: Blocks, n_columns: int) -> tuple[NDArray[np.floating], Integers, Floats]:
        """Draw samples by their keys, the same ones however rows are divided into blocks."""
        share = min(1.0, _CALIBRATION_SAMPLES / self.rows.summary.n_rows)
        drawn = self.executor.sum(_draw_for_calibration, coded, message=(n_columns, share), merge=_stack)
        codewords, y, weight, keys = drawn
        order = np.lexsort((y, keys))
        return codewords[order], y[order], weight[order] * self.unit_weight / share


def _start_rows(rows: PreparedRows) -> StartRows:
    """Return the sampled rows as their bins show them."""
    sample, bins = rows.summary.sample, rows.bins
    codes = code_values(sample.X, bins).T
    cell = rows.layout.cells(sample.keys, rows.sample_classes())
    return StartRows(bins.centres[codes + bins.starts[:-1]], cell, sample.mass)


def _without_columns(block: CodedBlock, n_folds: int) -> CodedSamples:
    """Return the rows of a block as samples without columns; if there are folds, only rows that one holds out."""
    rows = _held_out_rows(block, n_folds)
    y, fold = np.divmod(block.cell[rows], n_folds + 1)
    empty = np.empty((len(rows), 0), np.float32)
    return CodedSamples(empty, empty, y, block.weights[rows], fold - 1, block.keys[rows])


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
            outputs[members] = evaluate_coded(block.codes[:, rows[members]], without) / scale
    return samples.beside(outputs, None)


def count_correct(block: CodedBlock, learners: CodedLearners, matrix: Floats) -> Ints:
    """Sum up the weights of the rows of each class on the correct side of each column, in parts of `UNIT`."""
    units = np.rint(block.weights * UNIT)
    return sum_correct(evaluate_coded(block.codes, learners), block.cell, matrix, units).astype(np.int64)


def largest_output(block: CodedBlock, learners: CodedLearners) -> float | None:
    """Return the largest absolute output on the rows of a block; None if there are no rows."""
    return float(np.abs(evaluate_coded(block.codes, learners)).max()) if len(block.keys) else None


#: Number of columns, a fold to leave out or None, and what weights are multiplied by, class by class.
Selection = tuple[int, int | None, Floats]


class RowsOfBlocks(RemoteRows):
    """Out-of-fold codewords of blocks, as optimised-weight decoding takes them."""

    def __init__(self, executor: Executor, coded: Blocks, selection: Selection, n_classes: int, n_rows: int) -> None:
        super().__init__(n_classes, n_rows)
        self._executor, self._coded, self._selection = executor, coded, selection

    def map(self, function: Callable[[Block], Result]) -> list[Result]:
        """Apply a function to every block that is not empty."""
        message = (*self._selection, function)
        found: list[Result] = self._executor.sum(_apply_to_list, self._coded, message=message, merge=_join)
        return found

    def sum(self, function: Callable[[Block], Result], merge: Callable[[Result, Result], Result]) -> Result:
        """Merge what a function returns for every block that is not empty."""
        message = (*self._selection, function)
        total: Result = self._executor.sum(_apply, self._coded, message=message, merge=merge)
        return total

    def first_block(self) -> Block:
        """Return some rows, to look at."""
        rows = self.sample(_LOOKED_AT)
        return Block(rows.codewords, rows.y, rows.weight, _NO_SHIFT)

    def sample(self, size: int) -> MemoryRows:
        """Draw about so many rows by their keys, the same ones every time and however rows are divided into blocks."""
        message = (*self._selection, min(1.0, min(size, _MOST_SAMPLED) / self.n_rows))
        codewords, y, weight, keys = self._executor.sum(_draw_rows, self._coded, message=message, merge=_stack)
        order = np.lexsort((y, keys))
        weight = weight[order]
        return MemoryRows(codewords[order], y[order], weight / weight.sum(), self.n_classes)


def _join(first: list[Any], second: list[Any]) -> list[Any]:
    """Join two lists."""
    return first + second


def _stack(first: tuple[NDArray[Any], ...], second: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Join arrays of rows."""
    return tuple(np.concatenate(parts) for parts in zip(first, second, strict=True))


def _select(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats
) -> tuple[NDArray[np.floating], Integers, Floats, NDArray[np.uint64]]:
    """Return out-of-fold codewords, classes, weights that sum to 1 over all blocks, and keys."""
    samples = samples.first(n_columns)
    rows = rows_without(samples, without_fold)
    y = samples.y[rows]
    return samples.out_of_fold[rows], y, samples.weight[rows] * factor[y], samples.keys[rows]


def _apply(
    samples: CodedSamples,
    n_columns: int,
    without_fold: int | None,
    factor: Floats,
    function: Callable[[Block], Result],
) -> Result | None:
    """Apply a function to the rows of a block, with draws by their keys; None if there are none."""
    codewords, y, weight, keys = _select(samples, n_columns, without_fold, factor)
    if len(y) == 0:
        return None
    return function(
        Block(codewords, y, weight, _NO_SHIFT, np.multiply(mix(keys ^ _DRAWING), 2.0**-64, dtype=np.float64))
    )


def _apply_to_list(samples: CodedSamples, *arguments: Any) -> list[Any]:
    """Apply a function to the rows of a block, as a list; an empty one if there are none."""
    found = _apply(samples, *arguments)
    return [] if found is None else [found]


def _draw_rows(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats, share: float
) -> tuple[NDArray[Any], ...]:
    """Draw a share of the rows of a block by their keys."""
    rows = _select(samples, n_columns, without_fold, factor)
    drawn = _drawn(rows[-1] ^ _SAMPLING, share)
    return tuple(part[drawn] for part in rows)


def _draw_for_calibration(samples: CodedSamples, n_columns: int, share: float) -> tuple[NDArray[Any], ...]:
    """Draw out-of-fold codewords, classes, weights and keys of a share of the samples."""
    drawn = _drawn(samples.keys ^ _CALIBRATING, share)
    columns = samples.first(n_columns).out_of_fold[drawn]
    return columns, samples.y[drawn], samples.weight[drawn], samples.keys[drawn]


def _drawn(keys: NDArray[np.uint64], share: float) -> Integers:
    """List the rows whose scrambled keys are among the smallest share of all keys."""
    return np.flatnonzero(mix(keys) <= np.uint64(share * (2**64 - 2**12)))
