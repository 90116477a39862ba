"""Codes that depend on the number of classes alone."""

import numpy as np
from scipy.linalg import hadamard as sylvester

from skecoc.coding.matrix import CodeMatrix, check_count

MAX_EXHAUSTIVE_CLASSES = 12
MAX_TERNARY_CLASSES = 8


def one_vs_rest(n_classes: int) -> CodeMatrix:
    """One-vs-rest: every class against all others.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_classes)
        +1 on the diagonal, -1 elsewhere. For two classes the second column negates the first.

    Examples
    --------
    >>> from skecoc.coding import one_vs_rest
    >>> one_vs_rest(3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    return 2 * np.eye(n_classes, dtype=np.int8) - np.int8(1)


def one_vs_one(n_classes: int) -> CodeMatrix:
    """One-vs-one: every pair of classes.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_classes * (n_classes - 1) / 2)
        One column per pair, in the order (0, 1), (0, 2), ..., with +1 for its first class and -1 for its second.

    Examples
    --------
    >>> from skecoc.coding import one_vs_one
    >>> one_vs_one(3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    first, second = np.triu_indices(n_classes, 1)
    pair = np.arange(len(first))
    M = np.zeros((n_classes, len(pair)), dtype=np.int8)
    M[first, pair] = 1
    M[second, pair] = -1
    return M


def exhaustive(n_classes: int) -> CodeMatrix:
    """Exhaustive code: every bipartition of all classes, once each.

    Parameters
    ----------
    n_classes : int
        Number of classes, from 2 to 12: the number of columns doubles with every class.

    Returns
    -------
    ndarray of int8 of shape (n_classes, 2 ** (n_classes - 1) - 1)
        Every bipartition once, with the first class at +1.

    References
    ----------
    T. G. Dietterich, G. Bakiri, "Solving multiclass learning problems via error-correcting output codes", Journal of
    Artificial Intelligence Research 2, 1995.

    Examples
    --------
    >>> from skecoc.coding import exhaustive
    >>> exhaustive(3)
    array([[ 1,  1,  1],
           [ 1, -1, -1],
           [-1,  1, -1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    _refuse_many_classes("exhaustive", n_classes, MAX_EXHAUSTIVE_CLASSES, n_bipartitions(n_classes))
    return all_bipartitions(n_classes)


def ternary_complete(n_classes: int) -> CodeMatrix:
    """Ternary complete code: every bipartition of every subset of the classes, once each.

    Parameters
    ----------
    n_classes : int
        Number of classes, from 2 to 8: the number of columns triples with every class.

    Returns
    -------
    ndarray of int8 of shape (n_classes, (3 ** n_classes - 2 ** (n_classes + 1) + 1) / 2)
        Every ternary bipartition once, with the first class that takes part at +1.

    Examples
    --------
    >>> from skecoc.coding import ternary_complete
    >>> ternary_complete(3)
    array([[ 0,  1,  1,  1,  1,  1],
           [ 1, -1, -1, -1,  0,  1],
           [-1, -1,  0,  1, -1, -1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    _refuse_many_classes("ternary complete", n_classes, MAX_TERNARY_CLASSES, n_ternary_bipartitions(n_classes))
    return all_ternary_bipartitions(n_classes)


def ordinal(n_classes: int) -> CodeMatrix:
    """Ordinal code: split ordered classes between every two neighbours.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2, in their order.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_classes - 1)
        In column k the first k + 1 classes are -1 and the rest +1.

    References
    ----------
    E. Frank, M. Hall, "A simple approach to ordinal classification", ECML 2001.

    Examples
    --------
    >>> from skecoc.coding import ordinal
    >>> ordinal(4)
    array([[-1, -1, -1],
           [ 1, -1, -1],
           [ 1,  1, -1],
           [ 1,  1,  1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    return 2 * np.tri(n_classes, n_classes - 1, -1, dtype=np.int8) - np.int8(1)


def hadamard(n_classes: int) -> CodeMatrix:
    """Hadamard code: rows of a Hadamard matrix, all at the same distance, with few columns.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray of int8 of shape (n_classes, N - 1)
        The first rows of Sylvester's matrix without its constant column, where N is the smallest power of two that is
        at least `n_classes`. Every two rows differ in N / 2 positions, and no two columns are equal up to sign.

    Examples
    --------
    >>> from skecoc.coding import hadamard
    >>> hadamard(3)
    array([[ 1,  1,  1],
           [-1,  1, -1],
           [ 1, -1, -1]], dtype=int8)
    """
    n_classes = check_count(n_classes, "n_classes", 2)
    order = 1 << (n_classes - 1).bit_length()
    return np.ascontiguousarray(sylvester(order, dtype=np.int8)[:n_classes, 1:])


def n_bipartitions(n_classes: int) -> int:
    """Count the ways to split all classes in two."""
    return int(2 ** (n_classes - 1) - 1)


def n_ternary_bipartitions(n_classes: int) -> int:
    """Count the ways to set some classes against some others."""
    return int((3**n_classes - 2 ** (n_classes + 1) + 1) // 2)


def all_bipartitions(n_classes: int) -> CodeMatrix:
    """List the columns of `exhaustive`, for any number of classes; memory doubles with every class."""
    number = np.arange(1, 2 ** (n_classes - 1))
    bit = np.arange(n_classes - 1)[::-1, np.newaxis]
    others = 1 - 2 * ((number >> bit) & 1)
    return np.vstack([np.ones_like(number), others]).astype(np.int8)


def all_ternary_bipartitions(n_classes: int) -> CodeMatrix:
    """List the columns of `ternary_complete`, for any number of classes; memory triples with every class."""
    # Balanced base-3 digits of the positive half have +1 as their first non-zero digit.
    number = np.arange((3**n_classes + 1) // 2, 3**n_classes)
    power = 3 ** np.arange(n_classes)[::-1, np.newaxis]
    columns = ((number // power) % 3 - 1).astype(np.int8)
    return columns[:, columns.min(axis=0) == -1]


def _refuse_many_classes(name: str, n_classes: int, limit: int, n_columns: int) -> None:
    """Raise an error that says how long the code would be, beyond its limit of classes."""
    if n_classes > limit:
        raise ValueError(
            f"n_classes must be at most {limit} for the {name} code, got {n_classes}, "
            f"which would need {n_columns:,} columns"
        )
