"""Compiled kernels of the random codes: the closest rows of a matrix, and setting them apart.

Both work with inner products of rows, whole numbers from which distances follow:
distance = (n_columns - product) / 2.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from skecoc.coding.matrix import CodeMatrix

_MAX_SWEEPS = 100
# Rows whose product is this much below the largest have no say: their terms are 2 ** -32 of
# the largest one. What is left are sums of powers of two that are exact in any order.
_HORIZON = 32


@njit(cache=True, nogil=True)
def closest_rows(block: CodeMatrix, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Find the closest rows of every matrix of a stack.

    Parameters
    ----------
    block : ndarray of int8 of shape (n_matrices, n_classes, n_columns)
        The matrices.
    limit : int
        Largest inner product of interest. A matrix is left at the first pair of rows beyond it,
        and what is reported of it is only right up to there.

    Returns
    -------
    largest : ndarray of int64 of shape (n_matrices,)
        Largest inner product of two different rows: that of the closest ones.
    n_pairs : ndarray of int64 of shape (n_matrices,)
        How many pairs of rows have that inner product.
    rows_differ : ndarray of bool of shape (n_matrices,)
        Whether no two rows are equal and none is all zero.

    Examples
    --------
    >>> closest_rows(np.array([[[1, 1], [-1, 0], [0, -1]]], dtype=np.int8), 2)
    (array([0]), array([1]), array([ True]))
    """
    n_matrices = len(block)
    largest = np.empty(n_matrices, dtype=np.int64)
    n_pairs = np.empty(n_matrices, dtype=np.int64)
    rows_differ = np.empty(n_matrices, dtype=np.bool_)
    for m in range(n_matrices):
        largest[m], n_pairs[m], rows_differ[m] = _closest_rows_of_one(block[m], limit)
    return largest, n_pairs, rows_differ


@njit(cache=True, nogil=True)
def _closest_rows_of_one(M: CodeMatrix, limit: int) -> tuple[int, int, bool]:
    """Find the closest rows of one matrix."""
    n_classes, n_columns = M.shape
    largest = -n_columns - 1
    n_pairs = 0
    rows_differ = True
    sizes = np.empty(n_classes, dtype=np.int64)
    for p in range(n_classes):
        sizes[p] = _inner_product(M[p], M[p])
        rows_differ &= sizes[p] > 0
        for r in range(p):
            product = _inner_product(M[p], M[r])
            rows_differ &= product != sizes[p] or product != sizes[r]
            if product > largest:
                largest = product
                n_pairs = 0
            n_pairs += product == largest
            if largest > limit:
                return largest, n_pairs, rows_differ
    return largest, n_pairs, rows_differ


@njit(cache=True, nogil=True)
def spread_rows(matrix: CodeMatrix, rows_must_differ: bool) -> CodeMatrix:
    """Change signs of single entries while that lowers the sum over pairs of 4 ** -distance.

    Row after row, the entry whose change lowers the sum most is changed, until no change of
    one entry lowers it.

    Parameters
    ----------
    matrix : ndarray of int8 of shape (n_classes, n_columns)
        Where to start; its columns are two-sided and distinct up to sign, and stay so.
    rows_must_differ : bool
        Whether to refuse changes that make two rows equal.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        The changed matrix, with zeros where the given one has them.

    Examples
    --------
    >>> spread_rows(np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]], dtype=np.int8), True)
    array([[ 1,  1, -1],
           [-1, -1, -1],
           [ 1, -1,  1],
           [-1,  1,  1]], dtype=int8)
    """
    M = matrix.copy()
    n_classes = len(M)
    products = np.empty((n_classes, n_classes), dtype=np.int64)
    for p in range(n_classes):
        for r in range(n_classes):
            products[p, r] = _inner_product(M[p], M[r])
    for _ in range(_MAX_SWEEPS):
        changed = False
        for row in range(n_classes):
            while _change_best_sign(M, products, row, rows_must_differ):
                changed = True
        if not changed:
            break
    return M


@njit(cache=True, nogil=True)
def _inner_product(first: CodeMatrix, second: CodeMatrix) -> int:
    """Inner product of two rows."""
    total = 0
    for q in range(len(first)):
        total += first[q] * second[q]
    return total


@njit(cache=True, nogil=True)
def _change_best_sign(M: CodeMatrix, products: NDArray[np.int64], row: int, rows_must_differ: bool) -> bool:
    """Change the sign of the entry of a row that helps most, if any may, and say whether."""
    gain = _sign_change_gains(M, products, row)
    while True:
        column = int(np.argmax(gain))
        if gain[column] <= 0:
            return False
        gain[column] = 0
        if rows_must_differ and _would_equal_another_row(M, products, row, column):
            continue
        M[row, column] = -M[row, column]
        if _is_new_column(M, column):
            for r in range(len(M)):
                if r != row:
                    products[row, r] += 2 * M[row, column] * M[r, column]
                    products[r, row] = products[row, r]
            return True
        M[row, column] = -M[row, column]


@njit(cache=True, nogil=True)
def _sign_change_gains(M: CodeMatrix, products: NDArray[np.int64], row: int) -> NDArray[np.float64]:
    """Say by how much the sum of 4 ** -distance falls, on some scale, for each entry of a row."""
    n_classes, n_columns = M.shape
    largest = -n_columns
    for r in range(n_classes):
        if r != row:
            largest = max(largest, products[row, r])
    gain = np.zeros(n_columns)
    for r in range(n_classes):
        behind = largest - products[row, r]
        if r == row or behind > _HORIZON:
            continue
        # 4 ** -distance is 2 ** product but for a constant factor.
        nearness = 0.5**behind
        for q in range(n_columns):
            # Where the rows agree (product 1), a change adds 1 to their distance and takes 3/4
            # of the term away; where they disagree, it adds three times the term.
            agreement = M[row, q] * M[r, q]
            gain[q] += nearness * (15 * agreement - 9 * agreement * agreement)
    return gain


@njit(cache=True, nogil=True)
def _would_equal_another_row(M: CodeMatrix, products: NDArray[np.int64], row: int, column: int) -> bool:
    """Say whether changing the sign of an entry would make its row equal to another."""
    for r in range(len(M)):
        if r != row and products[r, r] == products[row, row]:
            product = products[row, r] - 2 * M[row, column] * M[r, column]
            if product == products[row, row]:
                return True
    return False


@njit(cache=True, nogil=True)
def _is_new_column(M: CodeMatrix, column: int) -> bool:
    """Say whether a column is two-sided and differs from every other one up to sign."""
    n_classes, n_columns = M.shape
    has_plus = has_minus = False
    for p in range(n_classes):
        has_plus |= M[p, column] == 1
        has_minus |= M[p, column] == -1
    if not (has_plus and has_minus):
        return False
    for other in range(n_columns):
        if other == column:
            continue
        equal = opposite = True
        for p in range(n_classes):
            equal &= M[p, other] == M[p, column]
            opposite &= M[p, other] == -M[p, column]
            if not (equal or opposite):
                break
        if equal or opposite:
            return False
    return True
