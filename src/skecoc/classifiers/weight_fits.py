"""Fit optimised weights to the out-of-fold codewords of samples, wherever these are."""

import operator
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skecoc.classifiers.growing_code import SUM_UNIT, GrowingCode, rows_without
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import Keys, mix
from skecoc.data.samples import ArraySamples, BlockSamples, CodedSamples
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.decoding.optimized.problem import (
    NO_SHIFT,
    Block,
    MemoryRows,
    Rows,
    class_factor,
    map_in_threads,
    spans_of,
)
from skecoc.learners.columns import Floats, Integers

Result = TypeVar("Result")

_LOOKED_AT = 2_000
# Weights are summed up in these units, one after the other, so that no order changes a sum.
_UNITS = SUM_UNIT ** np.arange(1, 5)
# Outputs, samples times columns, up to which weights are fitted to all samples on one machine.
_MOST_OUTPUTS = 2**24
# Beyond that, samples that weights are first fitted to there, at most about.
_MOST_SAMPLED = 2**17
# Different scramblings of keys: what is drawn for one purpose must not depend on another.
_SAMPLING, _DRAWING = np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F)


def fit_weights(
    code: GrowingCode,
    decoder: OptimizedWeightDecoder,
    n_columns: int,
    *,
    without_fold: int | None = None,
    warm_start: Floats | None = None,
    prior: Floats | None = None,
) -> OptimizedWeightDecoder:
    """Fit optimised weights of the first columns of a code."""
    matrix = code.matrix[:, :n_columns]
    rows = rows_for_weights(code.samples, code.coded, matrix, decoder, without_fold)
    return decoder.fit_rows(rows, matrix, warm_start, prior)


def rows_for_weights(
    samples: ArraySamples | BlockSamples,
    coded: Any,
    matrix: CodeMatrix,
    decoder: OptimizedWeightDecoder,
    without_fold: int | None,
) -> Rows:
    """Return the out-of-fold codewords that the weights of a matrix, of the first columns, are fitted to.

    Samples come to one machine in the order of their keys if that takes little memory: so weights do not depend on
    where they were. Otherwise, and if there is a penalty, they are summed over where they are.
    """
    n_classes, n_columns = matrix.shape
    counts, units = samples.sum(_class_sums, coded, message=(without_fold, n_classes))
    # No weight is zero: only a class without samples is missing.
    totals = np.maximum(_UNITS @ units, counts * _UNITS[-1])
    factor = class_factor(totals, decoder.class_weight)
    n_rows = int(counts.sum())
    rows = _RowsOfBlocks(samples, coded, (n_columns, without_fold, factor), n_classes, n_rows, decoder.n_jobs)
    is_small = n_rows * n_columns <= _MOST_OUTPUTS if decoder.l2 > 0 else isinstance(samples, ArraySamples)
    return rows.drawn(n_rows) if is_small else rows


def _class_sums(
    samples: CodedSamples, without_fold: int | None, n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the samples of each class but for those of a fold, and sum up their weights, in several units.

    What one unit leaves of a weight is summed up in the next one, (n_units, n_classes): a class may weigh next to
    nothing beside another.
    """
    rows = rows_without(samples, without_fold)
    y, rest = samples.y[rows], samples.weight[rows]
    units = np.empty((len(_UNITS), n_classes), dtype=np.int64)
    for k, unit in enumerate(_UNITS):
        whole = np.rint(rest / unit)
        units[k] = np.bincount(y, whole, minlength=n_classes)
        rest = rest - whole * unit
    return np.bincount(y, minlength=n_classes), units


#: Number of columns, a fold to leave out or None, and what weights are multiplied by, class by class.
Selection = tuple[int, int | None, Floats]


class _RowsOfBlocks(Rows):
    """Out-of-fold codewords of blocks, as optimised-weight decoding takes them."""

    def __init__(
        self,
        samples: ArraySamples | BlockSamples,
        coded: Any,
        selection: Selection,
        n_classes: int,
        n_rows: int,
        n_jobs: int | None,
    ) -> None:
        super().__init__(n_classes, n_rows, n_jobs)
        self._samples, self._coded, self._selection = samples, coded, selection

    def map(self, function: Callable[[Block], Result]) -> list[Result]:
        if isinstance(self._samples, ArraySamples):
            return list(self._map_spans(function))
        message = (*self._selection, function)
        found: list[Result] = self._samples.sum(_apply_to_list, self._coded, message=message, merge=operator.add)
        return found

    def sum(
        self,
        function: Callable[[Block], Result],
        merge: Callable[[Result, Result], Result],
        *,
        with_shift: bool = False,  # noqa: ARG002
    ) -> Result:
        if isinstance(self._samples, ArraySamples):
            return reduce(merge, self._map_spans(function))
        message = (*self._selection, function)
        total: Result = self._samples.sum(_apply, self._coded, message=message, merge=merge)
        return total

    def _map_spans(self, function: Callable[[Block], Result]) -> Iterable[Result]:
        """Apply a function to spans of the rows of a block in memory, in threads."""
        samples = self._coded

        def of_span(span: slice) -> Result | None:
            part: list[Any] = [array[span] for array in samples]
            return _apply(CodedSamples(*part), *self._selection, function)

        found = map_in_threads(self.n_jobs, of_span, spans_of(len(samples.y)))
        return (of_rows for of_rows in found if of_rows is not None)

    def first_block(self) -> Block:
        rows = self.sample(_LOOKED_AT)
        return Block(rows.codewords, rows.y, rows.weight, NO_SHIFT)

    def sample(self, size: int) -> MemoryRows:
        """Draw about so many rows by their keys, the same ones every time and however rows are divided into blocks."""
        return self.drawn(min(size, _MOST_SAMPLED))

    def drawn(self, size: int) -> MemoryRows:
        """Draw about so many rows, or take all if there are no more, in the order of their keys."""
        message = (*self._selection, min(1.0, size / self.n_rows))
        codewords, y, weight, keys = self._samples.sum(_draw_rows, self._coded, message=message, merge=stack_rows)
        order = np.lexsort((y, keys))
        weight = weight[order]
        return MemoryRows(codewords[order], y[order], weight / weight.sum(), self.n_classes, self.n_jobs)


def stack_rows(first: tuple[NDArray[Any], ...], second: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Join arrays of rows."""
    return tuple(np.concatenate(parts) for parts in zip(first, second, strict=True))


def _select(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats
) -> tuple[NDArray[np.floating], Integers, Floats, Keys]:
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
        Block(codewords, y, weight, NO_SHIFT, np.multiply(mix(keys ^ _DRAWING), 2.0**-64, dtype=np.float64))
    )


def _apply_to_list(samples: CodedSamples, *arguments: Any) -> list[Any]:
    """Apply a function to the rows of a block, as a list; an empty one if there are none."""
    found = _apply(samples, *arguments)
    return [] if found is None else [found]


def _draw_rows(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats, share: float
) -> tuple[NDArray[Any], ...]:
    rows = _select(samples, n_columns, without_fold, factor)
    drawn = drawn_keys(rows[-1] ^ _SAMPLING, share)
    return tuple(part[drawn] for part in rows)


def drawn_keys(keys: Keys, share: float) -> Integers:
    """List the rows whose scrambled keys are among the smallest share of all keys."""
    if share >= 1.0:
        return np.arange(len(keys))
    return np.flatnonzero(mix(keys) <= np.uint64(share * (2**64 - 2**12)))
