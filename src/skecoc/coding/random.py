"""Random codes with a large minimum distance between rows.

Many matrices are drawn and the best are kept; then the signs of single entries are changed as long as that increases
the distances between close rows. The second step matters most. Kernels use inner products: distance = (n_columns -
product) / 2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skecoc.coding.fixed import all_bipartitions, all_ternary_bipartitions, n_bipartitions, n_ternary_bipartitions
from skecoc.coding.matrix import CodeMatrix, Floats, Mask, check_count, duplicate_columns, one_sided_columns
from skecoc.support.compiling import inlined, kernel

_BLOCK_ENTRIES = 2**20
# Starts of the second step: 10 reach a minimum distance of 4.5 at 10 classes and 10 columns, one start 4.1.
_MAX_STARTS = 10
_MAX_SWEEPS = 100
# Rows whose product is this much below the largest are ignored: their terms are 2 ** -32 of the largest one. The
# remaining sums of powers of two are exact in any order.
_HORIZON = 32


def dense_random(
    n_classes: int,
    *,
    n_columns: int | None = None,
    n_draws: int = 1000,
    random_state: int | RandomState | None = None,
) -> CodeMatrix:
    """Dense random code: random entries +1 and -1, optimised for large distances between rows.

    Of `n_draws` random matrices, the ten with the largest minimum row distance are kept (fewer than ten for more than
    100 classes). Ties are broken by fewer pairs of rows at that distance, then by the order of the draws. In each of
    these matrices, the signs of single entries are changed as long as that lowers the sum of :math:`4^{-d}` over pairs
    of rows, where d is the distance of the pair. The best result, by the same criteria, is returned.

    Parameters
    ----------
    n_classes : int
        Number of classes P, at least 2.
    n_columns : int, default=None
        Number of columns, at least log2(P); None means ``ceil(10 * log2(P))``.
    n_draws : int, default=1000
        Number of matrices to draw. Time is proportional to it; more draws improve the code little.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws; an int gives the same matrix every time.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        A valid code. A bipartition occurs more than once (up to sign) only if there are more columns than bipartitions;
        then the numbers of occurrences differ by at most one.

    References
    ----------
    E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for margin
    classifiers", Journal of Machine Learning Research 1, 2000.

    Examples
    --------
    >>> from skecoc.coding import dense_random, min_row_distance
    >>> M = dense_random(26, random_state=0)
    >>> M.shape, min_row_distance(M)
    ((26, 48), 23.0)
    """
    n_classes, n_columns = _check_size(n_classes, n_columns, columns_per_bit=10)
    if n_columns < (n_classes - 1).bit_length():
        raise ValueError(
            f"n_columns must be at least {(n_classes - 1).bit_length()}: {n_columns} columns give "
            f"at most {2**n_columns} different rows of +1 and -1, for {n_classes} classes"
        )
    return _search(n_classes, n_columns, _DENSE, n_draws, random_state)


def sparse_random(
    n_classes: int,
    *,
    n_columns: int | None = None,
    n_draws: int = 1000,
    random_state: int | RandomState | None = None,
) -> CodeMatrix:
    """Sparse random code: random entries 0 (half of them), +1 and -1, optimised for large distances.

    An entry is 0 with probability 1/2, and +1 or -1 with probability 1/4 each. The search is that of `dense_random`
    (which has the reference), with a distance in which a position with a zero counts 1/2; its second step does not move
    zeros.

    Parameters
    ----------
    n_classes : int
        Number of classes P, at least 2.
    n_columns : int, default=None
        Number of columns, at least log3(P + 1); None means ``ceil(15 * log2(P))``.
    n_draws : int, default=1000
        Number of matrices to draw. Time is proportional to it; more draws improve the code little.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws; an int gives the same matrix every time.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        A valid code. A column occurs more than once (up to sign) only if there are more columns than ternary
        bipartitions; then the numbers of occurrences differ by at most one.

    Examples
    --------
    >>> from skecoc.coding import min_row_distance, sparse_random
    >>> M = sparse_random(26, random_state=0)
    >>> M.shape, min_row_distance(M)
    ((26, 71), 34.5)
    """
    n_classes, n_columns = _check_size(n_classes, n_columns, columns_per_bit=15)
    if n_columns < n_classes.bit_length() and 3**n_columns - 1 < n_classes:
        raise ValueError(
            f"n_columns must be larger: {n_columns} columns give at most {3**n_columns - 1} different "
            f"rows of -1, 0 and +1 that are not all zero, for {n_classes} classes"
        )
    return _search(n_classes, n_columns, _SPARSE, n_draws, random_state)


def _random_signs(size: int, rng: RandomState) -> CodeMatrix:
    random_bytes = np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8)
    return 2 * np.unpackbits(random_bytes, count=size).view(np.int8) - np.int8(1)


def _random_signs_and_zeros(size: int, rng: RandomState) -> CodeMatrix:
    # The mean of two signs.
    return (_random_signs(size, rng) + _random_signs(size, rng)) // np.int8(2)


@dataclass(frozen=True)
class _Family:
    """What differs between dense and sparse codes."""

    draw: Callable[[int, RandomState], CodeMatrix]  # that many independent entries
    n_distinct: Callable[[int], int]
    all_columns: Callable[[int], CodeMatrix]


_DENSE = _Family(_random_signs, n_bipartitions, all_bipartitions)
_SPARSE = _Family(_random_signs_and_zeros, n_ternary_bipartitions, all_ternary_bipartitions)


def default_length(n_classes: int, columns_per_bit: int = 10) -> int:
    """Return the number of columns of a code that has none given; by default, of a dense one."""
    return ceil(columns_per_bit * log2(n_classes))


def _check_size(n_classes: object, n_columns: object, columns_per_bit: int) -> tuple[int, int]:
    P = check_count(n_classes, "n_classes", 2)
    if n_columns is None:
        return P, default_length(P, columns_per_bit)
    return P, check_count(n_columns, "n_columns", 1)


def _search(n_classes: int, n_columns: int, family: _Family, n_draws: object, random_state: object) -> CodeMatrix:
    """Take all distinct columns as often as they fit, and search for the columns that remain."""
    n_draws = check_count(n_draws, "n_draws", 1)
    rng = check_random_state(random_state)
    n_copies, n_searched = divmod(n_columns, family.n_distinct(n_classes))
    if n_copies == 0:
        return _search_distinct(n_classes, n_columns, family, n_draws, rng, rows_must_differ=True)
    # All distinct columns together separate every pair of rows equally, so only the remaining columns decide which pair
    # is closest.
    complete = np.tile(family.all_columns(n_classes), n_copies)
    if n_searched == 0:
        return complete
    rest = _search_distinct(n_classes, n_searched, family, n_draws, rng, rows_must_differ=False)
    return np.hstack([complete, rest])


def _search_distinct(
    n_classes: int, n_columns: int, family: _Family, n_draws: int, rng: RandomState, *, rows_must_differ: bool
) -> CodeMatrix:
    """Search for a matrix with distinct columns whose closest rows are far apart."""
    n_starts = max(1, min(_MAX_STARTS, 1000 // n_classes))
    starts = _best_draws(
        _draw_blocks(n_classes, n_columns, family, n_draws, rng), n_starts, rows_must_differ=rows_must_differ
    )
    if not starts:
        starts = [_constructed(n_classes, n_columns, family, rng)]
    spread = [spread_rows(start, rows_must_differ) for start in starts]
    return min([starts[0], *spread], key=_closeness)


def _best_draws(blocks: Iterator[CodeMatrix], n_best: int, *, rows_must_differ: bool) -> list[CodeMatrix]:
    """Return the best matrices, best first, of those that have different rows where they must."""
    best: list[tuple[tuple[int, int], CodeMatrix]] = []
    for block in blocks:
        # A matrix with closer rows than the last of the best ones cannot be among them.
        limit = best[-1][0][0] if len(best) == n_best else block.shape[2]
        largest, n_pairs, rows_differ = closest_rows(block, limit)
        order = np.lexsort((n_pairs, largest))
        if rows_must_differ:
            order = order[rows_differ[order]]
        best += [((largest[i], n_pairs[i]), block[i].copy()) for i in order[:n_best]]
        # A stable sort keeps earlier draws before equal later ones.
        best = sorted(best, key=lambda entry: entry[0])[:n_best]
    return [matrix for _, matrix in best]


def _closeness(matrix: CodeMatrix) -> tuple[int, int]:
    largest, n_pairs, _ = closest_rows(matrix[np.newaxis], matrix.shape[1])
    return int(largest[0]), int(n_pairs[0])


def _draw_blocks(
    n_classes: int, n_columns: int, family: _Family, n_draws: int, rng: RandomState
) -> Iterator[CodeMatrix]:
    """Yield stacks of random matrices whose columns are two-sided and distinct up to sign."""
    n_distinct = family.n_distinct(n_classes)
    # Drawing repeated columns again ends soon only while most columns are still unused.
    from_list = n_distinct <= 8 * n_columns
    columns = family.all_columns(n_classes) if from_list else None
    entries = n_classes * n_columns + (n_distinct if from_list else 0)
    block_size = max(1, _BLOCK_ENTRIES // entries)
    for start in range(0, n_draws, block_size):
        n_matrices = min(block_size, n_draws - start)
        if columns is None:
            yield _drawn_entries((n_matrices, n_classes, n_columns), family, rng)
        else:
            yield _drawn_columns(columns, n_matrices, n_columns, rng)


def _drawn_columns(columns: CodeMatrix, n_matrices: int, n_columns: int, rng: RandomState) -> CodeMatrix:
    """Draw columns without replacement from a list, as likely as independent entries make them."""
    # Exponential waiting times: the first to arrive are a weighted draw without replacement.
    likelihood = 2.0 ** (columns == 0).sum(axis=0)
    arrival = rng.standard_exponential((n_matrices, columns.shape[1])) / likelihood
    chosen = np.argsort(arrival, axis=1)[:, :n_columns]
    return np.ascontiguousarray(columns[:, chosen].swapaxes(0, 1))


def _drawn_entries(shape: tuple[int, int, int], family: _Family, rng: RandomState) -> CodeMatrix:
    """Draw independent entries, and draw columns again that are one-sided or repeat another."""
    n_matrices, n_classes, n_columns = shape
    block = family.draw(n_matrices * n_classes * n_columns, rng).reshape(shape)
    # Equal columns have equal keys: sums of whole numbers are exact in any order. If two different columns have the
    # same key by chance, one is drawn again.
    weights = rng.randint(1, 2**40, size=n_classes, dtype=np.int64).astype(np.float64)
    while True:
        keys = np.abs(np.einsum("p,mpq->mq", weights, block))
        order = np.argsort(keys, axis=1, kind="stable")
        in_order = np.take_along_axis(keys, order, axis=1)
        repeats_earlier = np.zeros(keys.shape, dtype=np.bool_)
        np.put_along_axis(repeats_earlier, order[:, 1:], in_order[:, 1:] == in_order[:, :-1], axis=1)
        rejected = one_sided_columns(block) | repeats_earlier
        n_rejected = int(rejected.sum())
        if n_rejected == 0:
            return block
        block.swapaxes(1, 2)[rejected] = family.draw(n_rejected * n_classes, rng).reshape(n_rejected, n_classes)


def _constructed(n_classes: int, n_columns: int, family: _Family, rng: RandomState) -> CodeMatrix:
    """Build a valid matrix with distinct columns where drawing finds none."""
    n_bits = (n_classes - 1).bit_length()
    if n_columns < n_bits:
        return _ternary_numbers(n_classes, n_columns, rng)
    # Binary numbers separate all classes, whatever the other columns are. No two of their columns are equal up to sign,
    # since one column fewer could not separate all classes.
    numbers = rng.permutation(n_classes)[:, np.newaxis]
    bits = (2 * ((numbers >> np.arange(n_bits)) & 1) - 1).astype(np.int8)
    drawn = next(_draw_blocks(n_classes, n_columns, family, 1, rng))[0]
    columns = np.hstack([bits, drawn])
    distinct = np.flatnonzero(~duplicate_columns(columns))
    return np.ascontiguousarray(columns[:, distinct[:n_columns]])


def _ternary_numbers(n_classes: int, n_columns: int, rng: RandomState) -> CodeMatrix:
    """Choose different rows of -1, 0 and 1 when there are too few columns for +1 and -1 alone."""
    numbers = np.arange(3**n_columns)[:, np.newaxis]
    rows = (numbers // 3 ** np.arange(n_columns) % 3 - 1).astype(np.int8)
    n_nonzero = np.count_nonzero(rows, axis=1)
    # The rows with a single non-zero entry make the columns two-sided and distinct. There are enough classes for all of
    # these 2 * n_columns rows: more than 2 ** n_columns.
    others = np.flatnonzero(n_nonzero > 1)
    n_others = n_classes - 2 * n_columns
    chosen = np.concatenate([np.flatnonzero(n_nonzero == 1), rng.permutation(others)[:n_others]])
    return rows[rng.permutation(chosen)]


@kernel
def closest_rows(block: CodeMatrix, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Mask]:
    """Return, for each matrix of a stack, the largest inner product of two rows, how many pairs have it, and validity.

    Rows are valid if they differ and none is zero. A matrix is left at its first pair beyond the limit.
    """
    n_matrices, n_classes, _ = block.shape
    largest, n_pairs = np.empty(n_matrices, np.int64), np.empty(n_matrices, np.int64)
    rows_differ = np.empty(n_matrices, np.bool_)
    sizes = np.empty(n_classes, np.int64)
    for m in range(n_matrices):
        largest[m], n_pairs[m], rows_differ[m] = _closest_rows_of_one(block[m], limit, sizes)
    return largest, n_pairs, rows_differ


@inlined
def _closest_rows_of_one(M: CodeMatrix, limit: int, sizes: NDArray[np.int64]) -> tuple[int, int, bool]:
    n_classes, n_columns = M.shape
    largest = -n_columns - 1
    n_pairs = 0
    rows_differ = True
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


def spread_rows(matrix: CodeMatrix, rows_must_differ: bool) -> CodeMatrix:
    """Change signs of single entries while that lowers the sum over pairs of rows of 4 ** -distance.

    Row after row, the entry whose change lowers the sum most is changed, until no change of one entry lowers it.
    Columns that are two-sided and distinct up to sign stay so, and on demand rows that differ do.
    """
    M = matrix.copy()
    entries = M.astype(np.int64)
    _change_signs(M, entries @ entries.T, rows_must_differ, np.empty(M.shape[1]))
    return M


@kernel
def _change_signs(M: CodeMatrix, products: NDArray[np.int64], rows_must_differ: bool, gain: Floats) -> None:
    """Change signs as `spread_rows` does, in place, given the inner products of rows; `gain` is worked with."""
    for _ in range(_MAX_SWEEPS):
        changed = False
        for row in range(M.shape[0]):
            while _change_best_sign(M, products, row, rows_must_differ, gain):
                changed = True
        if not changed:
            break


@kernel
def _inner_product(first: CodeMatrix, second: CodeMatrix) -> int:
    total = 0
    for q in range(len(first)):
        total += first[q] * second[q]
    return total


@kernel
def _change_best_sign(
    M: CodeMatrix, products: NDArray[np.int64], row: int, rows_must_differ: bool, gain: Floats
) -> bool:
    """Change the sign of the entry of a row that helps most, if any may, and say whether."""
    _write_gains(M, products, row, gain)
    while True:
        column = 0
        for q in range(1, gain.size):
            if gain[q] > gain[column]:
                column = q
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


@inlined
def _write_gains(M: CodeMatrix, products: NDArray[np.int64], row: int, gain: Floats) -> None:
    """Write by how much the sum of 4 ** -distance falls, on some scale, for each entry of a row."""
    n_classes, n_columns = M.shape
    largest = -n_columns
    for r in range(n_classes):
        if r != row:
            largest = max(largest, products[row, r])
    for q in range(n_columns):
        gain[q] = 0.0
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


@inlined
def _would_equal_another_row(M: CodeMatrix, products: NDArray[np.int64], row: int, column: int) -> bool:
    for r in range(len(M)):
        if r != row and products[r, r] == products[row, row]:
            product = products[row, r] - 2 * M[row, column] * M[r, column]
            if product == products[row, row]:
                return True
    return False


@kernel
def _is_new_column(M: CodeMatrix, column: int) -> bool:
    """Say whether a column is two-sided and differs from every other one up to sign."""
    n_classes, n_columns = M.shape
    has_first = has_second = False
    for p in range(n_classes):
        has_first |= M[p, column] < 0
        has_second |= M[p, column] > 0
    if not (has_first and has_second):
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
