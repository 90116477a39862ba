"""Array work of the SVM's solver: parts, products and inverses, compiled and without the GIL.

BLAS would do most of this, but it shares even small products out to threads, which then get in each other's way when
an ensemble trains its columns in threads too. And inverses are needed that can give up one row at a time.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Added to the diagonal of a kernel matrix before it is inverted; near-duplicate rows make it singular.
RIDGE = 1e-10


@njit(cache=True, nogil=True)
def submatrix(matrix: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
    """Copy some rows and columns of a matrix, several times as fast as indexing and without the GIL."""
    block = np.empty((len(rows), len(columns)))
    for i in range(len(rows)):
        row = matrix[rows[i]]
        for j in range(len(columns)):
            block[i, j] = row[columns[j]]
    return block


@njit(cache=True, nogil=True)
def take(vector: Floats, rows: NDArray[np.intp]) -> Floats:
    """Copy some entries of a vector."""
    part = np.empty(len(rows))
    for i in range(len(rows)):
        part[i] = vector[rows[i]]
    return part


@njit(cache=True, nogil=True)
def subtract(vector: Floats, factor: float, other: Floats) -> None:
    """Subtract a multiple of another vector, in place."""
    for i in range(len(vector)):
        vector[i] -= factor * other[i]


@njit(cache=True, nogil=True)
def margins_on(kernel: Floats, coefficients: Floats, intercepts: Floats) -> Floats:
    """Compute ``coefficients @ kernel + intercepts[:, None]``, but equal solutions of a path only once."""
    margins = np.empty((len(coefficients), kernel.shape[1]))
    for k in range(len(coefficients)):
        if k > 0 and np.array_equal(coefficients[k], coefficients[k - 1]):
            margins[k] = margins[k - 1]
            continue
        margins[k] = intercepts[k]
        for i in range(len(kernel)):
            if coefficients[k, i] != 0.0:
                subtract(margins[k], -coefficients[k, i], kernel[i])
    return margins


@njit(cache=True, nogil=True)
def negative_inverse(kernel: Floats, free: NDArray[np.intp]) -> tuple[Floats, NDArray[np.bool_]]:
    """Invert the free rows' kernel matrix by sweeping; rows that depend on earlier ones are left out."""
    n_free = len(free)
    tableau = submatrix(kernel, free, free)
    for i in range(n_free):
        tableau[i, i] += RIDGE
    independent = np.zeros(n_free, dtype=np.bool_)
    column = np.empty(n_free)
    for i in range(n_free):
        if tableau[i, i] > 4.0 * RIDGE:  # a duplicate of an earlier row would leave twice the ridge
            sweep(tableau, i, 1.0, column)
            independent[i] = True
    return tableau, independent


@njit(cache=True, nogil=True)
def apply_inverse(tableau: Floats, swept: NDArray[np.bool_], vector: Floats) -> tuple[Floats, Floats]:
    """Multiply the inverse on the swept entries by a vector and by ones."""
    n = len(vector)
    product, sums = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if swept[i] and swept[j]:
                entry = tableau[i, j] if j <= i else tableau[j, i]
                product[i] -= entry * vector[j]
                sums[i] -= entry
    return product, sums


@njit(cache=True, nogil=True)
def sweep(tableau: Floats, pivot: int, sign: float, column: Floats) -> None:
    """Sweep a symmetric matrix, of which the lower triangle is kept, on one pivot (sign=1), or undo it (sign=-1).

    Sweeping all pivots of A leaves minus its inverse. `column` receives the pivot's column as it was before.
    """
    n = len(tableau)
    for j in range(pivot + 1):
        column[j] = tableau[pivot, j]
    for i in range(pivot + 1, n):
        column[i] = tableau[i, pivot]
    divisor = column[pivot]
    for i in range(n):
        if i != pivot:
            subtract(tableau[i, : i + 1], column[i] / divisor, column)
    for j in range(pivot):
        tableau[pivot, j] = sign * column[j] / divisor
    for i in range(pivot + 1, n):
        tableau[i, pivot] = sign * column[i] / divisor
    tableau[pivot, pivot] = -1.0 / divisor
