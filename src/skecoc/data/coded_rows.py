"""From a user's blocks to coded rows: two passes over the features, after which they are not read again.

Features become small integers: bins that a summary of all rows decides on. Rows of a block are sorted by *cell*, that
is by class and, within a class, by the fold that holds them out. So a column without a fold is a column of the same
rows whose sides are zero in the cells of that fold, and all of them can be boosted together.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.bins import SAMPLE_ROWS, Bins, Ints, RowSample, code_values, make_bins, smallest_keys
from skecoc.data.codes import FEW_VALUES, Codes, Floats
from skecoc.data.executor import Executor, States
from skecoc.data.folds import NEVER_HELD_OUT, FoldRule, Keys, make_fold_rule, resolve_folds
from skecoc.data.raw_rows import (
    CleanBlock,
    Factors,
    RawBlock,
    RowSummary,
    check_block,
    label_totals,
    label_type,
    merge_summaries,
    summarise_block,
)
from skecoc.support.errors import naming
from skecoc.support.weights import ClassWeight, add_totals, class_factors, usable_weights

Integers = NDArray[np.intp]

#: What a weight of 1, the largest, counts in sums of weights: they are sums of integers, in any order the same.
UNIT = 2.0**30
# How errors begin if the second pass over blocks shows other rows than the first.
_OTHER_ROWS = "blocks gave other rows when they were read again; they must be the same every time"


@dataclass(frozen=True)
class Layout:
    """What coding a block needs to know."""

    bins: Bins
    classes: NDArray[np.generic]  # sorted
    seed: int  # of the hash of rows
    largest_weight: float  # what weights are divided by
    folds: FoldRule | None  # None: no rows are held out
    factors: Factors = None  # what the weights of each class are multiplied by

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return 0 if self.folds is None else self.folds.n_folds

    @property
    def is_single(self) -> bool:
        """Whether all folds are held out at once."""
        return self.folds is not None and self.folds.is_single

    def cells(self, keys: Keys, y: Integers) -> Integers:
        """Return the cells of rows: those of class p begin at ``p * (n_folds + 1)`` with the rows of no fold."""
        fold = NEVER_HELD_OUT if self.folds is None else self.folds.assign(keys, y)
        return y * (self.n_folds + 1) + 1 + fold


class CodedBlock(NamedTuple):
    """Coded rows of a block, sorted by cell."""

    codes: Codes  # (n_features, n_rows): bin of each value within its feature
    starts: Ints  # the rows of cell c are starts[c]:starts[c + 1]
    weight: Floats  # in (0, 1]; empty if all are 1
    keys: Keys  # hashes of the rows

    @property
    def cell(self) -> Integers:
        """Cell of each row, of shape (n_rows,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def weights(self) -> Floats:
        """Weight of each row, of shape (n_rows,), also if all are 1."""
        return self.weight if len(self.weight) else np.ones(len(self.keys))

    def held_out(self, n_folds: int) -> Integers:
        """List the rows that a fold holds out, or all rows if there are no folds."""
        return np.flatnonzero(self.cell % (n_folds + 1)) if n_folds else np.arange(len(self.keys))


def copy_rows(codes: Codes, rows: Integers) -> Codes:
    """Copy some rows of codes such that those of a feature lie side by side, as compiled loops want them."""
    copied: Any = np.take(codes, rows, axis=1)
    return copied


def code_block(block: RawBlock, layout: Layout) -> CodedBlock:
    """Code the rows of a block, as they were summarised."""
    with naming(block.place):
        return _coded(check_block(block, layout.seed, layout.factors), layout)


def _coded(clean: CleanBlock, layout: Layout) -> CodedBlock:
    """Code checked rows."""
    if clean.X.shape[1] != layout.bins.n_features:
        raise ValueError(
            f"X must have {layout.bins.n_features} features in every block, whenever it is read; got {clean.X.shape[1]}"
        )
    cell = layout.cells(clean.keys, _class_indices(clean.y, layout.classes))
    order = np.argsort(cell, kind="stable")
    n_cells = len(layout.classes) * (layout.n_folds + 1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))])
    codes = code_values(clean.X, layout.bins)
    return CodedBlock(copy_rows(codes, order), starts, _scaled(clean.weight, order, layout), clean.keys[order])


def _class_indices(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Find labels among the classes, where all of them must be."""
    if len(labels) == 0:
        return np.empty(0, np.intp)
    if label_type(labels) is label_type(classes):
        y = np.searchsorted(classes, labels)
        if (classes[np.minimum(y, len(classes) - 1)] == labels).all():
            return y
    raise ValueError(f"{_OTHER_ROWS}: y holds labels that it did not hold before")


def _scaled(weight: Floats, rows: NDArray[np.intp], layout: Layout) -> Floats:
    """Return the weights of some rows in parts of the largest weight; empty if all weights everywhere are 1.

    None is less than one part of `UNIT`: a class of such rows would have no weight in sums.
    """
    if len(weight):
        return np.maximum(weight[rows] / layout.largest_weight, 1.0 / UNIT)
    return np.empty(0) if layout.largest_weight == 1.0 else np.full(len(rows), 1.0 / layout.largest_weight)


def cell_totals(block: CodedBlock) -> tuple[Ints, Ints]:
    """Sum up the rows of each cell, and their weights in parts of `UNIT`."""
    counts = np.diff(block.starts)
    if len(block.weight) == 0:
        return counts, counts * int(UNIT)
    ends = np.concatenate([[0], np.cumsum(np.rint(block.weight * UNIT).astype(np.int64))])
    return counts, np.diff(ends[block.starts])


@dataclass(frozen=True)
class PreparedRows:
    """Coded rows, and what is known about all of them."""

    executor: Executor
    seed: int
    summary: RowSummary
    layout: Layout
    coded: States  # of CodedBlock
    cell_counts: Ints
    cell_weights: Ints  # in parts of `UNIT`

    @property
    def bins(self) -> Bins:
        """How values are coded."""
        return self.layout.bins

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.layout.classes)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.layout.n_folds

    @property
    def class_weights(self) -> Ints:
        """Weight of the rows of each class, in parts of `UNIT`."""
        return self.cell_weights.reshape(self.n_classes, -1).sum(axis=1)

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.cell_weights.sum() / UNIT) * self.summary.largest_weight

    @property
    def prior(self) -> Floats:
        """Share of each class in the weight of all rows, of shape (n_classes,)."""
        return self.class_weights / self.cell_weights.sum()

    @cached_property
    def sample(self) -> RowSample:
        """The sampled rows that bins, codings and temperatures follow from."""
        return self.summary.first_rows()

    def sample_classes(self) -> Integers:
        """Return the class indices of the sampled rows."""
        return np.searchsorted(self.layout.classes, self.sample.y)


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
) -> PreparedRows:
    """Summarise all blocks, decide on bins and folds, and code the rows; raw rows are read twice.

    Before that, they are read to balance classes, if these are to be balanced.
    """
    factors = _factors(executor, source, class_weight)
    most_values = FEW_VALUES if isinstance(max_bins, str) else max_bins
    message = (seed, most_values, max(sample_rows, SAMPLE_ROWS), factors)  # folds and bins want at least so many
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
    nothing = np.zeros(len(layout.classes) * (layout.n_folds + 1), np.int64)
    counts, weights = executor.sum(cell_totals, coded) or (nothing, nothing)
    if int(counts.sum()) != summary.n_rows:
        raise ValueError(f"{_OTHER_ROWS}: got {int(counts.sum())} rows after {summary.n_rows}")
    return PreparedRows(executor, seed, summary, layout, coded, counts, weights)


def _factors(executor: Executor, source: States, class_weight: ClassWeight) -> Factors:
    """Return what the weights of classes are multiplied by."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return class_factors(class_weight, executor.sum(label_totals, source, merge=add_totals) or {})
    return class_factors(class_weight, dict.fromkeys(class_weight, 1))


def make_layout(
    summary: RowSummary,
    seed: int,
    n_folds: int | str | None,
    *,
    has_several: bool = False,
    factors: Factors = None,
) -> Layout:
    """Decide on bins and folds."""
    rule = None
    number, is_single = resolve_folds(n_folds, summary.n_rows, has_several=has_several)
    if number is not None:
        y = np.searchsorted(summary.labels, summary.sample.y)
        keys, is_complete = summary.sample.keys, summary.is_complete
        rule = make_fold_rule(keys, y, len(summary.labels), number, is_complete=is_complete, is_single=is_single)
    bins = make_bins(summary.values, summary.first_rows(), summary.most_values)
    return Layout(bins, summary.labels, seed, summary.largest_weight, rule, factors)


class SampledRows(NamedTuple):
    """Rows to train on in memory."""

    X: Any  # a frame if features have names
    y: Integers
    weight: Floats
    keys: Keys
    is_all: bool  # whether these are all rows


def sample_rows(rows: PreparedRows, size: int) -> SampledRows:
    """Take all rows if there are no more than `size`; else so many distinct ones, and some of every class.

    All rows stand as often as they were given, equal ones with the same weight. Distinct ones have weights, by which
    every class has the share that it has in all rows.
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
