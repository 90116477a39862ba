"""Samples in arrays or in blocks: what is known about all of them, and functions of them and sums over them.

While a code grows, a function of samples gets a `CodedSamples` and returns values of these samples, a summand, or both.
It is called with the arrays themselves, or where the blocks are; so the same code grows on arrays, on files and on a
cluster.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import SAMPLE_ROWS, Ints, RowSample, choose_rows, code_values, smallest_keys
from skecoc.data.blocks import (
    OTHER_ROWS,
    UNIT,
    CodedBlock,
    Factors,
    Layout,
    RowSummary,
    cell_totals,
    code_block,
    label_totals,
    make_layout,
    merge_summaries,
    summarise_block,
)
from skecoc.data.codes import FEW_VALUES, Codes
from skecoc.data.executor import Executor, States
from skecoc.data.folds import Keys
from skecoc.support.weights import ClassWeight, add_totals, class_factors, usable_weights

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class CodedSamples(NamedTuple):
    """Training samples with their codewords.

    Both kinds of codewords are the same array if there are no folds, and if only samples that are held out matter: then
    both are out of fold.
    """

    codewords: NDArray[np.floating]  # (n_samples, n_columns), of learners that have seen the sample
    out_of_fold: NDArray[np.floating]  # of learners that have not
    y: Integers
    weight: Floats  # in (0, 1], parts of the largest weight
    fold: Integers  # the fold that holds the sample out; negative for none
    keys: Keys  # hashes of the samples, or their numbers

    def first(self, n_columns: int) -> "CodedSamples":
        """Return the same samples with their first columns only."""
        if n_columns == self.codewords.shape[1]:
            return self
        codewords = self.codewords[:, :n_columns]
        is_one = self.out_of_fold is self.codewords
        return self._replace(codewords=codewords, out_of_fold=codewords if is_one else self.out_of_fold[:, :n_columns])

    def beside(
        self, outputs: NDArray[np.floating], out_of_fold: NDArray[np.floating] | None = None, scale: float = 1.0
    ) -> "CodedSamples":
        """Return the same samples with the outputs of further columns, which are divided by a scale."""
        joined = self._joined(self.codewords, outputs, scale)
        if out_of_fold is None:
            return self._replace(codewords=joined, out_of_fold=joined)
        return self._replace(codewords=joined, out_of_fold=self._joined(self.out_of_fold, out_of_fold, scale))

    @staticmethod
    def _joined(codewords: NDArray[np.floating], outputs: NDArray[np.floating], scale: float) -> NDArray[np.floating]:
        return np.hstack([codewords, np.divide(outputs, scale).astype(codewords.dtype, copy=False)])

    def scaled(self, scale: float) -> "CodedSamples":
        """Return the same samples with codewords divided by a number."""
        codewords = self.codewords / scale
        is_one = self.out_of_fold is self.codewords
        return self._replace(codewords=codewords, out_of_fold=codewords if is_one else self.out_of_fold / scale)


class Sample(NamedTuple):
    """Some samples, whose codewords probabilities are calibrated on."""

    rows: Integers  # their numbers; of blocks, their places in `codes`
    y: Integers
    weight: Floats
    codes: Codes | None = None  # of samples in blocks, (n_features, n_samples): the bins of values


class ArraySamples:
    """Samples in memory: functions are called with their arrays.

    `folds` may divide the samples that a trainer holds out together. If `only_held_out`, samples of no fold are left
    out. `keys` are hashes of the samples, by which blocks would order and draw them; None keeps them as they come.
    """

    def __init__(
        self,
        y: Integers,
        weight: Floats,
        n_classes: int,
        folds: Integers | None = None,
        *,
        only_held_out: bool = False,
        keys: Keys | None = None,
        dtype: type = np.float64,
    ) -> None:
        self.y, self.sample_weight, self.folds = y, weight, folds
        self.n_samples, self.n_classes = len(y), n_classes
        self.total_weight, self.unit_weight = float(weight.sum()), float(weight.max())
        self.prior = np.bincount(y, weights=weight, minlength=n_classes) / self.total_weight
        self.class_counts = np.bincount(y, minlength=n_classes)
        self.n_folds = 0 if folds is None else int(folds.max(initial=-1)) + 1
        self.only_held_out = only_held_out and folds is not None
        self.keys = np.arange(len(y), dtype=np.uint64) if keys is None else keys
        self._dtype = dtype

    def without_columns(self) -> CodedSamples:
        """Return the samples before there are any columns."""
        fold = np.full(self.n_samples, -1) if self.folds is None else self.folds
        rows = np.flatnonzero(fold >= 0) if self.only_held_out else np.arange(self.n_samples)
        empty: NDArray[np.floating] = np.empty((len(rows), 0), self._dtype)
        weight = self.sample_weight / self.unit_weight
        return CodedSamples(empty, empty, self.y[rows], weight[rows], fold[rows], self.keys[rows])

    def map(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = (), merge: Any = None) -> Any:
        """Return what a function makes of samples and values of theirs: such values, a sum over samples, or both."""
        del merge
        return function(*values, *message)

    sum = step = map  # noqa: A003

    def sampled(self, keys: Keys | None) -> Sample:
        """Return all samples or, if there are `keys`, those that would be drawn from blocks."""
        if keys is None:
            return Sample(np.arange(self.n_samples), self.y, self.sample_weight)
        rows, mass, *_ = choose_rows(keys, self.y, self.sample_weight)
        return Sample(rows, self.y[rows], mass)


class BlockSamples:
    """Samples in blocks, coded: functions are called where the blocks are, and their summands are merged."""

    def __init__(
        self,
        executor: Executor,
        summary: RowSummary,
        layout: Layout,
        coded: States,
        cell_counts: Ints,
        cell_weights: Ints,
    ) -> None:
        self.executor, self.summary, self.layout = executor, summary, layout
        self.map, self.sum, self.step = executor.map, executor.sum, executor.step
        self.coded = coded  # states of CodedBlock
        self.cell_counts, self.cell_weights = cell_counts, cell_weights  # the latter in parts of `UNIT`
        self.bins = layout.bins
        self.sample: RowSample = summary.first_rows()  # decides on bins, codings that learn from data, and temperatures
        self.n_samples, self.n_classes, self.n_folds = summary.n_rows, len(layout.classes), layout.n_folds
        self.class_counts = cell_counts.reshape(self.n_classes, -1).sum(axis=1)
        self.unit_weight = summary.largest_weight
        self.total_weight = float(cell_weights.sum() / UNIT) * summary.largest_weight
        self.prior = cell_weights.reshape(self.n_classes, -1).sum(axis=1) / cell_weights.sum()

    def sample_classes(self) -> Integers:
        """Return the class indices of the sampled rows."""
        return np.searchsorted(self.layout.classes, self.sample.y)

    def sampled(self, keys: Any = None) -> Sample:
        """Return the sample of the rows."""
        del keys
        codes = code_values(self.sample.X, self.bins)
        return Sample(np.arange(len(self.sample.y)), self.sample_classes(), self.sample.mass, codes)

    def without_columns(self) -> States:
        """Return the blocks before there are any columns; if there are folds, only rows that one holds out."""
        return self.map(_without_columns, self.coded, message=(self.n_folds,))


def _without_columns(block: CodedBlock, n_folds: int) -> CodedSamples:
    rows = block.held_out(n_folds)
    y, fold = np.divmod(block.cell[rows], n_folds + 1)
    empty = np.empty((len(rows), 0), np.float32)
    return CodedSamples(empty, empty, y, block.weights[rows], fold - 1, block.keys[rows])


def prepare_rows(
    executor: Executor,
    source: States,
    seed: int,
    max_bins: int | str,
    n_folds: int | str | None,
    *,
    has_several: bool = False,
    sample_rows: int = SAMPLE_ROWS,
    class_weight: ClassWeight = None,
) -> BlockSamples:
    """Summarise all blocks, decide on bins and folds, and code the rows.

    Blocks are read twice, and once more before that if classes are balanced.
    """
    factors: Factors = None
    if isinstance(class_weight, str):
        factors = class_factors(class_weight, executor.sum(label_totals, source, merge=add_totals) or {})
    elif class_weight is not None:
        factors = class_factors(class_weight, dict.fromkeys(class_weight, 1))
    most_values = FEW_VALUES if isinstance(max_bins, str) else max_bins
    message = (seed, most_values, max(sample_rows, SAMPLE_ROWS), factors)  # folds and bins need at least SAMPLE_ROWS
    summary: RowSummary | None = executor.sum(summarise_block, source, message=message, merge=merge_summaries)
    if summary is None:
        raise ValueError("X must have at least one row of positive weight; there are no rows, or all weights are zero")
    if len(summary.labels) < 2:
        raise ValueError("y must hold at least 2 classes, got 1 class")
    if isinstance(class_weight, dict):
        left_out = [label for label, weight in class_weight.items() if weight == 0]
        class_factors(class_weight, dict.fromkeys([*summary.labels.tolist(), *left_out], 1))  # are the labels known?
    layout = make_layout(summary, seed, n_folds, has_several=has_several, factors=factors)
    coded = executor.map(code_block, source, message=(layout,))
    nothing = np.zeros(layout.n_cells, np.int64)
    counts, weights = executor.sum(cell_totals, coded) or (nothing, nothing)
    if int(counts.sum()) != summary.n_rows:
        raise ValueError(f"{OTHER_ROWS}: got {int(counts.sum())} rows after {summary.n_rows}")
    return BlockSamples(executor, summary, layout, coded, counts, weights)


class SampledRows(NamedTuple):
    """Rows to train on in memory."""

    X: Any  # a frame if features have names
    y: Integers
    weight: Floats
    keys: Keys
    is_all: bool  # whether these are all rows


def sample_rows(rows: BlockSamples, size: int) -> SampledRows:
    """Take all rows if there are no more than `size`; else this many distinct ones, and some of every class.

    If all are taken, equal rows are repeated, with the same weight each. Distinct rows have weights by which every
    class has its share in all rows.
    """
    summary = rows.summary
    keys, labels, X, mass, counts = summary.sample
    y = np.searchsorted(rows.layout.classes, labels)
    is_all = summary.n_rows <= size
    if is_all:
        taken, weight = np.repeat(np.arange(len(y)), counts), np.repeat(mass / counts, counts)
    else:
        taken = smallest_keys(keys, y, size)
        weight = mass[taken] * (rows.prior / np.bincount(y[taken], mass[taken]))[y[taken]] * mass[taken].sum()
    samples: Any = X[taken]
    if summary.names is not None and find_spec("pandas") is not None:  # learners check names when they predict
        import pandas as pd

        samples = pd.DataFrame(samples, columns=summary.names)
    return SampledRows(samples, y[taken], usable_weights(weight), keys[taken], is_all)
