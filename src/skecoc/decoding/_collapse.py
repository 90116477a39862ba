"""Put identical rows together: hard codewords have few patterns, and a pattern counts once with its rows' weight."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._rows import Block, MemoryRows, Rows, map_blocks

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_ROWS_TO_LOOK_AT = 2_000
# With more distinct patterns than this among the rows looked at, sorting costs more than it saves.
_LARGEST_SHARE = 0.7
_LABEL_BYTES = 4


def collapse_rows(rows: Rows, n_columns: int) -> Rows:
    """Return one weighted row per distinct hard codeword and class, if that saves work.

    Parameters
    ----------
    rows : Rows
        Rows with any codewords.
    n_columns : int
        Length of a codeword.

    Returns
    -------
    Rows
        The collapsed rows, sorted by pattern, or the rows as they are if the codewords are not hard (all -1, 0 or 1)
        or mostly distinct.
    """
    first = rows.first_block()
    spread = np.linspace(0, len(first.y) - 1, min(len(first.y), _ROWS_TO_LOOK_AT)).astype(int)
    looked_at = np.asarray(first.codewords)[spread]
    if not _is_hard(looked_at) or len(np.unique(_patterns(looked_at, first.y[spread]))) > _LARGEST_SHARE * len(spread):
        return rows
    found = list(map_blocks(rows, _distinct_rows))
    if any(patterns is None for patterns, _ in found):
        return rows
    patterns, weight = _merge([p for p, _ in found if p is not None], [w for _, w in found])
    codewords, y = _unpack(patterns, n_columns)
    return MemoryRows(codewords, y, weight, rows.n_classes, rows.n_jobs)


def _is_hard(codewords: NDArray[Any]) -> bool:
    """Tell whether all entries are -1, 0 or 1."""
    return bool(((codewords == 0) | (np.abs(codewords) == 1)).all())


def _distinct_rows(block: Block) -> tuple[NDArray[np.void] | None, Floats]:
    """Return a block's distinct patterns and their weights, or None if its codewords are not hard."""
    patterns, weights = [], []
    for chunk in block.chunks(0):
        if not _is_hard(chunk.codewords):
            return None, np.zeros(0)
        patterns.append(_patterns(chunk.codewords, chunk.y))
        weights.append(chunk.weight)
    return _merge(patterns, weights)


def _merge(patterns: list[NDArray[np.void]], weights: list[Floats]) -> tuple[NDArray[np.void], Floats]:
    """Return the distinct patterns of several lists and the sums of their weights."""
    distinct, where = np.unique(np.concatenate(patterns), return_inverse=True)
    return distinct, np.bincount(where, np.concatenate(weights)).astype(np.float64)


def _patterns(codewords: NDArray[Any], y: NDArray[np.intp]) -> NDArray[np.void]:
    """Pack hard codewords and class indices into one opaque item per row."""
    label = y.astype(np.uint32).view(np.uint8).reshape(-1, _LABEL_BYTES)
    packed = np.hstack([np.packbits(codewords > 0, axis=1), np.packbits(codewords < 0, axis=1), label])
    return np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()


def _unpack(patterns: NDArray[np.void], n_columns: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return the codewords and class indices that patterns stand for."""
    packed: Bytes = patterns.view(np.uint8).reshape(len(patterns), -1)
    width = (n_columns + 7) // 8
    positive = np.unpackbits(packed[:, :width], axis=1, count=n_columns).astype(np.float64)
    negative = np.unpackbits(packed[:, width : 2 * width], axis=1, count=n_columns)
    label = np.ascontiguousarray(packed[:, 2 * width :]).view(np.uint32).ravel()
    return positive - negative, label.astype(np.intp)
