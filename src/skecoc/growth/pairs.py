"""Which pairs of classes cost most, and the columns that separate them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.coding.matrix import CodeMatrix, canonical_columns

#: Two pair losses that differ by less than this share of the largest one count as equal: rounding decides nothing.
_EQUAL = 1e-9


def hard_pairs(losses: ArrayLike, n_pairs: int) -> list[tuple[int, int]]:
    """Find the pairs of classes with the highest losses, both directions added up.

    Parameters
    ----------
    losses : array-like of shape (n_classes, n_classes)
        Loss (or number of errors) of the rows of each class (first axis) by their worst rival; the diagonal is not
        read.
    n_pairs : int
        Largest number of pairs wanted.

    Returns
    -------
    list of (int, int)
        At most `n_pairs` pairs with a loss above zero, the smaller index first, the highest loss first; of equal
        losses, the pair of smaller indices first.

    Examples
    --------
    The confusion and the risk matrix of the paper's Figure 5 select different pairs:

    >>> hard_pairs([[90, 0, 10], [0, 90, 10], [0, 5, 95]], 1)
    [(1, 2)]
    >>> hard_pairs([[0, 0, 0], [0, 0, 4], [20, 6, 0]], 2)
    [(0, 2), (1, 2)]
    """
    both = symmetric_losses(losses)
    first, second = np.triu_indices(len(both), 1)
    values = both[first, second]
    levels = np.round(values / (values.max(initial=0.0) or 1.0) / _EQUAL)
    order = np.argsort(-levels, kind="stable")[:n_pairs]
    return [(int(first[k]), int(second[k])) for k in order if values[k] > 0]


def symmetric_losses(losses: ArrayLike) -> NDArray[np.float64]:
    """Add up the losses of both directions of each pair; the diagonal becomes zero."""
    matrix = np.asarray(losses, dtype=np.float64)
    both = matrix + matrix.T
    np.fill_diagonal(both, 0.0)
    return both


def pair_column(n_classes: int, pair: tuple[int, int]) -> NDArray[np.int8]:
    """Return the column with the first class of a pair against the second.

    Examples
    --------
    >>> pair_column(3, (0, 2))
    array([ 1,  0, -1], dtype=int8)
    """
    column = np.zeros(n_classes, dtype=np.int8)
    column[list(pair)] = 1, -1
    return column


def is_column_of(matrix: CodeMatrix, column: NDArray[np.int8]) -> bool:
    """Tell whether a matrix has a column, or its negation.

    Examples
    --------
    >>> import numpy as np
    >>> is_column_of(np.array([[-1], [1], [0]]), np.array([1, -1, 0]))
    True
    """
    wanted = canonical_columns(column[:, None])
    return bool((canonical_columns(matrix) == wanted).all(axis=0).any())
