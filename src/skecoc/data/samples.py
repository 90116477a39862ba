"""Training samples with their codewords, in arrays or in blocks, and sums over them.

A function of samples gets a `CodedSamples` and returns values of these samples, a summand, or both. It is called with
the arrays themselves, or where the blocks are; so the same code grows on arrays, on files and on a cluster.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import choose_rows, code_values
from skecoc.data.coded_rows import CodedBlock, PreparedRows
from skecoc.data.codes import Codes
from skecoc.data.executor import States
from skecoc.data.folds import Keys

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
    """Some samples, by whose codewords probabilities are calibrated."""

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

    def map(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = ()) -> Any:
        """Return what a function makes of samples and values of theirs."""
        return function(*values, *message)

    def sum(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = (), merge: Any = None) -> Any:
        """Return what a function makes of samples, a sum over them."""
        del merge
        return function(*values, *message)

    def step(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = ()) -> Any:
        """Return what a function makes of samples: values of theirs and a sum over them."""
        return function(*values, *message)

    def sampled(self, keys: Keys | None) -> Sample:
        """Return all samples or, if there are `keys`, those that blocks would draw by them."""
        if keys is None:
            return Sample(np.arange(self.n_samples), self.y, self.sample_weight)
        rows, mass, *_ = choose_rows(keys, self.y, self.sample_weight)
        return Sample(rows, self.y[rows], mass)


class BlockSamples:
    """Rows in blocks: functions are called where these are, and their summands are merged."""

    def __init__(self, rows: PreparedRows) -> None:
        self.rows, self.executor = rows, rows.executor
        self.map, self.sum, self.step = self.executor.map, self.executor.sum, self.executor.step
        self.n_samples, self.n_classes, self.n_folds = rows.summary.n_rows, rows.n_classes, rows.n_folds
        self.total_weight, self.unit_weight, self.prior = rows.total_weight, rows.summary.largest_weight, rows.prior
        self.class_counts = rows.cell_counts.reshape(rows.n_classes, -1).sum(axis=1)

    def without_columns(self) -> States:
        """Return the blocks before there are any columns; if there are folds, only rows that one holds out."""
        return self.executor.map(_without_columns, self.rows.coded, message=(self.n_folds,))

    def sampled(self, keys: Any = None) -> Sample:
        """Return the sample of the rows."""
        del keys
        return self._sample

    @cached_property
    def _sample(self) -> Sample:
        sample = self.rows.sample
        codes = code_values(sample.X, self.rows.bins)
        return Sample(np.arange(len(sample.y)), self.rows.sample_classes(), sample.mass, codes)


def _without_columns(block: CodedBlock, n_folds: int) -> CodedSamples:
    rows = block.held_out(n_folds)
    y, fold = np.divmod(block.cell[rows], n_folds + 1)
    empty = np.empty((len(rows), 0), np.float32)
    return CodedSamples(empty, empty, y, block.weights[rows], fold - 1, block.keys[rows])
