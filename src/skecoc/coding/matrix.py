"""Checks of code matrices, and measures of their rows and columns."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.support.errors import spell_out

CodeMatrix = NDArray[np.int8]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

_MAX_LISTED = 10
# Rows of a column's side that its name lists, and those that are listed rather than called the rest.
_MAX_NAMED, _MAX_REST = 5, 3


def check_code_matrix(matrix: ArrayLike, n_classes: int | None = None, *, argument: str = "coding") -> CodeMatrix:
    """Check that a matrix is a valid code, and return it as int8.

    A code is valid if its rows differ, no row is all zero, and every column has at least one +1 and one -1.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}.
    n_classes : int, default=None
        Required number of rows; None accepts any number of at least 2.
    argument : str, default="coding"
        Name of the matrix in error messages.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        The code matrix, a copy.

    Raises
    ------
    ValueError
        If the matrix is not a valid code; the message names the rows or columns that are wrong.

    Examples
    --------
    >>> from skecoc.coding import check_code_matrix
    >>> check_code_matrix([[1, 1], [-1, 1]])
    Traceback (most recent call last):
    ...
    ValueError: coding must have a +1 and a -1 in every column; column 1 does not
    """
    M = _as_ternary(matrix, argument)
    if n_classes is not None and len(M) != n_classes:
        raise ValueError(f"{argument} must have one row per class: expected {n_classes} rows, got {len(M)}")
    if len(M) < 2:
        raise ValueError(f"{argument} must have at least 2 rows, one per class, got {len(M)}")
    one_sided = one_sided_columns(M)
    if one_sided.any():
        raise ValueError(f"{argument} must have a +1 and a -1 in every column; {_listed('column', one_sided)} not")
    empty = np.count_nonzero(M, axis=1) == 0
    if empty.any():
        raise ValueError(f"{argument} must have a non-zero entry in every row; {_listed('row', empty)} not")
    _, group, size = np.unique(M, axis=0, return_inverse=True, return_counts=True)
    if (size > 1).any():
        shared = np.flatnonzero(group.reshape(-1) == np.argmax(size > 1))  # numpy 2.0 returns a column
        named = ", ".join(map(str, shared[:_MAX_LISTED]))
        raise ValueError(f"{argument} must have a different row for every class; rows {named} are equal")
    return M


def is_valid(matrix: ArrayLike) -> bool:
    """Tell whether a matrix is a valid code; see `check_code_matrix`.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        The matrix to check.

    Returns
    -------
    bool
        True if the matrix is a valid code.

    Examples
    --------
    >>> from skecoc.coding import is_valid
    >>> is_valid([[1], [-1]]), is_valid([[1], [1]])
    (True, False)
    """
    try:
        check_code_matrix(matrix)
    except ValueError:
        return False
    return True


def row_distances(matrix: ArrayLike) -> Floats:
    """Distance between every two rows of a code: 1 where they disagree, 0 where they agree, 1/2 where either is zero.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Symmetric matrix of distances, with a zero diagonal (also for rows with zeros).

    Examples
    --------
    >>> from skecoc.coding import row_distances
    >>> row_distances([[1, 1], [-1, 0], [0, -1]])
    array([[0. , 1.5, 1.5],
           [1.5, 0. , 1. ],
           [1.5, 1. , 0. ]])
    """
    M = _as_ternary(matrix, "matrix").astype(np.float64)
    distances: Floats = (M.shape[1] - M @ M.T) / 2
    np.fill_diagonal(distances, 0.0)
    return distances


def min_row_distance(matrix: ArrayLike) -> float:
    """Smallest distance between two different rows of a code; see `row_distances`.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}, at least two rows.

    Returns
    -------
    float
        The smallest distance, a multiple of 1/2.

    Examples
    --------
    >>> from skecoc.coding import hadamard, min_row_distance
    >>> min_row_distance(hadamard(8))
    4.0
    """
    return float(_pair_distances(matrix).min())


def mean_row_distance(matrix: ArrayLike) -> float:
    """Mean distance over all pairs of different rows of a code; see `row_distances`.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}, at least two rows.

    Returns
    -------
    float
        The mean distance.

    Examples
    --------
    >>> from skecoc.coding import hadamard, mean_row_distance
    >>> mean_row_distance(hadamard(8))
    4.0
    """
    return float(_pair_distances(matrix).mean())


def canonical_columns(matrix: ArrayLike) -> CodeMatrix:
    """Change the signs of columns such that the first non-zero entry of each is +1.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        The matrix. A column and its negation become equal.

    Examples
    --------
    >>> from skecoc.coding import canonical_columns
    >>> canonical_columns([[-1, 0], [1, -1], [0, 1]])
    array([[ 1,  0],
           [-1,  1],
           [ 0, -1]], dtype=int8)
    """
    M = _as_ternary(matrix, "matrix")
    first = (M != 0).argmax(axis=0)
    return M * M[first, np.arange(M.shape[1])]


def duplicate_columns(matrix: ArrayLike) -> Mask:
    """Mark the columns that repeat an earlier one, up to sign.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}.

    Returns
    -------
    ndarray of bool of shape (n_columns,)
        True where an earlier column is the same or its negation.

    Examples
    --------
    >>> from skecoc.coding import duplicate_columns
    >>> duplicate_columns([[1, 1, -1], [-1, 0, 1], [0, -1, 0]])
    array([False, False,  True])
    """
    columns = canonical_columns(matrix).T
    repeated = np.ones(len(columns), dtype=np.bool_)
    repeated[np.unique(columns, axis=0, return_index=True)[1]] = False
    return repeated


def one_sided_columns(matrix: CodeMatrix) -> Mask:
    """Mark the columns of one matrix, or of a stack of them, that lack a +1 or lack a -1."""
    one_sided: Mask = np.logical_or(matrix.max(axis=-2) < 1, matrix.min(axis=-2) > -1)
    return one_sided


def code_statistics(matrix: ArrayLike) -> dict[str, float]:
    """Compute summary statistics of a code matrix.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries in {-1, 0, 1}, at least two rows.

    Returns
    -------
    dict
        `n_classes`, `n_columns`, `n_distinct_columns` (up to sign), `min_distance` and `mean_distance` between rows
        (see `row_distances`), and `zero_share`, the fraction of entries that are zero.

    Examples
    --------
    >>> from skecoc.coding import code_statistics, one_vs_one
    >>> code_statistics(one_vs_one(4))["zero_share"]
    0.5
    """
    M = _as_ternary(matrix, "matrix")
    return {
        "n_classes": M.shape[0],
        "n_columns": M.shape[1],
        "n_distinct_columns": int((~duplicate_columns(M)).sum()),
        "min_distance": min_row_distance(M),
        "mean_distance": mean_row_distance(M),
        "zero_share": float((M == 0).mean()),
    }


def check_length(n_classes: int, max_columns: int) -> None:
    """Check that `max_columns` columns can separate the classes."""
    least = (n_classes - 1).bit_length()
    if max_columns < least:
        raise ValueError(
            f"max_columns must leave every learner at least {least} columns to separate {n_classes} classes, "
            f"got {max_columns}"
        )


def shorten(matrix: CodeMatrix, max_columns: int) -> CodeMatrix | None:
    """Choose columns such that rows on opposite sides of some column of the code still are.

    Columns are selected greedily: each lowers the sum over pairs of rows of 4 ** -distance most; of equal ones, the
    first. None is returned if two rows remain on the same sides; then there may be no such columns.

    >>> shorten(np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8), 2).tolist()
    [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    """
    first, second = np.triu_indices(len(matrix), 1)
    n_separated = [int((column == 1).sum() * (column == -1).sum()) for column in matrix.T]
    if sum(sorted(n_separated)[-max_columns:]) < len(first):
        return None  # seen before a large table is made, as with one-vs-one
    distances = 0.5 - 0.5 * matrix[first].astype(np.float64) * matrix[second]
    nearness = np.ones(len(first))
    chosen: list[int] = []
    for _ in range(max_columns):
        cost = nearness @ 4.0**-distances
        cost[chosen] = np.inf
        chosen.append(int(cost.argmin()))
        nearness *= 4.0 ** -distances[:, chosen[-1]]
    kept = np.sort(chosen)
    is_separated = (distances == 1).any(axis=1)
    return None if (is_separated & ~(distances[:, kept] == 1).any(axis=1)).any() else matrix[:, kept]


def column_names(matrix: ArrayLike, row_names: Sequence[str]) -> list[str]:
    """Name every column of a code by the rows on its two sides, such as "a, b vs c".

    Long sides are cut short. Of a column that leaves no row out, the larger side is "rest" if it has more than three.

    >>> column_names([[1, 1, 0], [-1, 1, 1], [-1, -1, -1]], ["a", "b", "c"])
    ['a vs b, c', 'a, b vs c', 'b vs c']
    """
    M = _as_ternary(matrix, "matrix")
    names = []
    for column in M.T:
        sides = [np.flatnonzero(column == side) for side in (1, -1)]
        texts = [spell_out([row_names[int(row)] for row in side], most=_MAX_NAMED) for side in sides]
        larger = int(len(sides[1]) >= len(sides[0]))
        if column.all() and len(sides[larger]) > _MAX_REST:
            texts[larger] = "rest"
        names.append(" vs ".join(texts))
    return names


def check_count(value: object, argument: str, minimum: int) -> int:
    """Check that an argument is a whole number of at least the minimum, and return it."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{argument} must be an integer of at least {minimum}, got {value!r}")
    return int(value)


def _as_ternary(matrix: ArrayLike, argument: str) -> CodeMatrix:
    """Return a two-dimensional array of -1, 0 and 1 as int8, or say what is wrong with it."""
    try:
        M = np.asarray(matrix)
    except ValueError as error:
        raise ValueError(f"{argument} must be two-dimensional, with rows of equal length") from error
    if M.ndim != 2 or 0 in M.shape:
        raise ValueError(f"{argument} must have shape (n_classes, n_columns) and not be empty, got {M.shape}")
    outside = ~np.isin(M, (-1, 0, 1))
    if outside.any():
        row, column = np.argwhere(outside)[0]
        found = M[row, column]
        raise ValueError(
            f"{argument} must have entries in {{-1, 0, 1}} only, got {found} in row {row}, column {column}"
        )
    return M.astype(np.int8)


def _pair_distances(matrix: ArrayLike) -> Floats:
    distances = row_distances(matrix)
    if len(distances) < 2:
        raise ValueError("matrix must have at least 2 rows to have a distance between rows")
    return distances[np.triu_indices(len(distances), 1)]


def _listed(thing: str, offends: Mask) -> str:
    """Name the rows or columns that are wrong, as the subject of 'does not' or 'do not'."""
    positions = np.flatnonzero(offends)
    if len(positions) == 1:
        return f"{thing} {positions[0]} does"
    names = ", ".join(map(str, positions[:_MAX_LISTED]))
    more = ", ..." if len(positions) > _MAX_LISTED else ""
    return f"{thing}s {names}{more} do"
