"""Decoders from sums over blocks: loss weights, optimised weights, and what they cost where."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from skecoc.blocks.answers import AnsweredBlock, CodedLearners, answer_coded
from skecoc.blocks.bins import UNIT, CodedBlock, Ints
from skecoc.blocks.executor import Blocks, Executor
from skecoc.blocks.rows import mix
from skecoc.decoding.losses import sum_correct
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.optimized.kernels import row_scores
from skecoc.decoding.optimized.rows import Block, MemoryRows, RemoteRows
from skecoc.decoding.risk import worst_rivals

Floats = NDArray[np.float64]
Result = TypeVar("Result")

_NO_SHIFT = np.zeros((0, 0), dtype=np.float32)
_LOOKED_AT = 2_000
#: Losses are rounded to multiples of this before they are summed, so that the order of sums does not matter.
_LOSS_UNIT = 2.0**-20
# Other scramblings than the one that holds rows out: what is drawn must not depend on that.
_SAMPLING, _DRAWING = np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F)


def count_right_answers(block: CodedBlock, learners: CodedLearners, matrix: Floats) -> Ints:
    """Sum up the weights of the rows of each class that each column answers rightly, in parts of `UNIT`.

    Parameters
    ----------
    block : CodedBlock
        Rows.
    learners : CodedLearners
        The learners of the columns.
    matrix : ndarray of shape (n_classes, n_columns)
        The code matrix.

    Returns
    -------
    ndarray of int64 of shape (n_classes, n_columns)
        The sums.
    """
    units = np.rint(block.weights * UNIT)
    return sum_correct(answer_coded(block.codes, learners), block.y, matrix, units).astype(np.int64)


class DistributedRows(RemoteRows):
    """Answered rows of blocks, as optimised-weight decoding takes them.

    Parameters
    ----------
    executor : Executor
        What holds the blocks.
    answered : Blocks of AnsweredBlock
        The rows.
    class_factor : ndarray of shape (n_classes,)
        What weights are multiplied by, class by class, so that they sum to 1.
    n_rows : int
        Number of rows.
    """

    def __init__(self, executor: Executor, answered: Blocks, class_factor: Floats, n_rows: int) -> None:
        super().__init__(len(class_factor), n_rows)
        self._executor, self._answered, self._factor = executor, answered, class_factor

    def map(self, function: Callable[[Block], Result]) -> list[Result]:
        """Apply a function to every block that is not empty."""
        found: list[Result] = self._executor.sum(
            _list_of, self._answered, message=(self._factor, function), merge=_joined
        )
        return found

    def sum(self, function: Callable[[Block], Result], merge: Callable[[Result, Result], Result]) -> Result:
        """Merge what a function returns for every block that is not empty."""
        total: Result = self._executor.sum(apply, self._answered, message=(self._factor, function), merge=merge)
        return total

    def first_block(self) -> Block:
        """Return some rows, to look at."""
        rows = self.sample(_LOOKED_AT)
        return Block(rows.codewords, rows.y, rows.weight, _NO_SHIFT)

    def sample(self, size: int) -> MemoryRows:
        """Draw about so many rows by their keys, the same ones every time and however rows are divided into blocks."""
        share = min(1.0, size / self.n_rows)
        codewords, y, weight, keys = self._executor.sum(
            draw_rows, self._answered, message=(self._factor, share), merge=_stacked
        )
        order = np.lexsort((y, keys))
        weight = weight[order]
        return MemoryRows(codewords[order], y[order], weight / weight.sum(), self.n_classes)


def _joined(first: list[Any], second: list[Any]) -> list[Any]:
    """Join two lists."""
    return first + second


def _stacked(first: tuple[NDArray[Any], ...], second: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Join arrays of rows."""
    return tuple(np.concatenate(parts) for parts in zip(first, second, strict=True))


def _as_block(answered: AnsweredBlock, factor: Floats) -> Block:
    """Return rows with weights that sum to 1 over all blocks, and draws by their keys."""
    draws = mix(answered.keys ^ _DRAWING) * 2.0**-64
    return Block(answered.codewords, answered.y, answered.weight * factor[answered.y], _NO_SHIFT, draws)


def apply(answered: AnsweredBlock, factor: Floats, function: Callable[[Block], Result]) -> Result | None:
    """Apply a function to the rows of a block; None if there are none."""
    return function(_as_block(answered, factor)) if len(answered.y) else None


def _list_of(answered: AnsweredBlock, factor: Floats, function: Callable[[Block], Result]) -> list[Result]:
    """Apply a function to the rows of a block, as a list; an empty one if there are none."""
    return [function(_as_block(answered, factor))] if len(answered.y) else []


def draw_rows(answered: AnsweredBlock, factor: Floats, share: float) -> tuple[NDArray[Any], ...]:
    """Draw a share of the rows of a block by their keys.

    Parameters
    ----------
    answered : AnsweredBlock
        Rows.
    factor : ndarray of shape (n_classes,)
        What weights are multiplied by.
    share : float
        The share.

    Returns
    -------
    codewords, y, weight, keys : ndarray
        The rows drawn.
    """
    drawn = np.flatnonzero(mix(answered.keys ^ _SAMPLING) <= np.uint64(share * (2**64 - 2**12)))
    y = answered.y[drawn]
    return answered.codewords[drawn], y, answered.weight[drawn] * factor[y], answered.keys[drawn]


class Losses(NamedTuple):
    """Sums over rows, in parts of the largest weight.

    Attributes
    ----------
    pairs : ndarray of shape (n_classes, n_classes)
        Losses of the rows of each class by their worst rival.
    right : float
        Weight of the rows that are decoded rightly.
    drop, squared_drop : float
        By how much the rows' losses fall from what an earlier decoder made of them, and the squares of that.
    """

    pairs: Floats
    right: float
    drop: float
    squared_drop: float


def losses_of_block(
    answered: AnsweredBlock, decoder: OptimizedWeightDecoder, previous: OptimizedWeightDecoder | None
) -> tuple[Ints, int, int, int]:
    """Sum up what a decoder makes of the rows of a block, in rounded parts.

    Parameters
    ----------
    answered : AnsweredBlock
        Rows.
    decoder : OptimizedWeightDecoder
        Fitted to all their columns.
    previous : OptimizedWeightDecoder or None
        Fitted to their first columns.

    Returns
    -------
    pairs, right, drop, squared_drop
        As in `Losses`, as integers.
    """
    n_classes = len(decoder.matrix_)
    pairs = np.zeros(n_classes**2, np.int64)
    right = drop = squared_drop = 0
    for chunk in Block(answered.codewords, answered.y, answered.weight, _NO_SHIFT).chunks(n_classes):
        rivals, losses = _margin_losses(decoder, chunk.codewords, chunk.y)
        parts = np.rint(chunk.weight * losses / _LOSS_UNIT)
        pairs += np.bincount(chunk.y * n_classes + rivals, parts, minlength=n_classes**2).astype(np.int64)
        is_right = decoder.scores(chunk.codewords).argmax(axis=1) == chunk.y
        right += int(np.rint(chunk.weight[is_right] / _LOSS_UNIT).sum())
        if previous is not None:
            n_before = previous.matrix_.shape[1]
            fall = _margin_losses(previous, chunk.codewords[:, :n_before], chunk.y)[1] - losses
            drop += int(np.rint(chunk.weight * fall / _LOSS_UNIT).sum())
            squared_drop += int(np.rint(chunk.weight * fall**2 / _LOSS_UNIT).sum())
    return pairs.reshape(n_classes, n_classes), right, drop, squared_drop


def _margin_losses(
    decoder: OptimizedWeightDecoder, codewords: Floats, y: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats]:
    """Return each row's worst rival and its hinge, which do not depend on the other rows, not even by rounding."""
    code = np.ascontiguousarray((decoder.weights_ * decoder.matrix_).T)
    rivals, leads = worst_rivals(row_scores(np.ascontiguousarray(codewords), code), y, decoder.margin)
    return rivals, np.maximum(leads, 0.0)


def sum_losses(
    executor: Executor, answered: Blocks, decoder: OptimizedWeightDecoder, previous: OptimizedWeightDecoder | None
) -> Losses:
    """Sum up what a decoder makes of all rows, in one pass.

    Parameters
    ----------
    executor : Executor
        What holds the blocks.
    answered : Blocks of AnsweredBlock
        The rows.
    decoder : OptimizedWeightDecoder
        Fitted to all their columns.
    previous : OptimizedWeightDecoder or None
        Fitted to their first columns.

    Returns
    -------
    Losses
        The sums.
    """
    pairs, *others = executor.sum(losses_of_block, answered, message=(decoder, previous))
    return Losses(pairs * _LOSS_UNIT, *(value * _LOSS_UNIT for value in others))
