"""Slow, obvious versions of what skecoc.coding computes."""

from itertools import combinations

import numpy as np
from sklearn.metrics import mutual_info_score


def row_distance(first, second):
    """Add 1 for a disagreement and 1/2 for a position where either row is zero."""
    total = 0.0
    for a, b in zip(first, second, strict=True):
        if a == 0 or b == 0:
            total += 0.5
        elif a != b:
            total += 1.0
    return total


def pair_distances(matrix):
    """Distances of all pairs of rows, each pair once."""
    return [row_distance(first, second) for first, second in combinations(np.asarray(matrix).tolist(), 2)]


def same_up_to_sign(first, second):
    return np.array_equal(first, second) or np.array_equal(first, -np.asarray(second))


def columns_as_a_set(matrix):
    """Set of columns, each as the unordered pair of its sides."""
    sides = ((np.flatnonzero(column == 1), np.flatnonzero(column == -1)) for column in np.asarray(matrix).T)
    return {frozenset((frozenset(plus.tolist()), frozenset(minus.tolist()))) for plus, minus in sides}


def is_valid_code(matrix):
    rows = [tuple(row) for row in np.asarray(matrix).tolist()]
    columns = list(zip(*rows, strict=True))
    return (
        len(set(rows)) == len(rows)
        and all(any(row) for row in rows)
        and all(1 in column and -1 in column for column in columns)
    )


def closest_rows(matrix):
    """Largest inner product of two rows, how many pairs have it, whether rows differ and none is zero."""
    rows = [np.asarray(row, dtype=int) for row in matrix]
    products = [int(first @ second) for first, second in combinations(rows, 2)]
    differ = all(not np.array_equal(first, second) for first, second in combinations(rows, 2))
    return max(products), products.count(max(products)), differ and all(row.any() for row in rows)


def closeness_sum(matrix):
    """Sum over pairs of rows of 4 ** -distance: what setting rows apart lowers."""
    return sum(4.0**-distance for distance in pair_distances(matrix))


def best_of_draws(n_classes, n_columns, n_draws, seed):
    """Draw dense matrices one by one and keep the first with the largest minimum distance."""
    rng = np.random.RandomState(seed)
    best, best_distance = None, -1.0
    for _ in range(n_draws):
        matrix = rng.choice([-1, 1], size=(n_classes, n_columns))
        distance = min(pair_distances(matrix))
        if distance > best_distance:
            best, best_distance = matrix, distance
    return best, best_distance


def partition_information(bins, class_of_row, column):
    """Information between binned features (-1: no value) and sides, weighted by the share of known rows."""
    side = np.asarray(column)[class_of_row]
    takes_part = side != 0
    known = [(feature >= 0) & takes_part for feature in bins.T]
    n = max(rows.sum() for rows in known)
    return sum(
        rows.sum() / n * mutual_info_score(side[rows], feature[rows])
        for feature, rows in zip(bins.T, known, strict=True)
        if rows.any()
    )


def all_bipartitions(node, n_classes):
    """Every way to split the classes of a node in two, as columns."""
    first, *others = node
    for size in range(len(others)):
        for companions in combinations(others, size):
            column = np.zeros(n_classes, dtype=int)
            column[list(node)] = -1
            column[[first, *companions]] = 1
            yield column
