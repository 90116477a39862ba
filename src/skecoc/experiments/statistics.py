"""Compare methods over data sets: ranks and best marks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

#: Two means of the same numbers may differ in their last bits by the order of
#: summation. Rounding to this many decimals makes them the tie that they are.
TIE_DECIMALS = 10


def average_ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Average rank of every method over the data sets; 1 is best.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        Scores such as accuracies; higher is better.

    Returns
    -------
    ndarray of shape (n_methods,)
        Mean of the ranks within the rows. Methods that tie in a row share the
        mean of their ranks, so the result sums to ``n_methods * (n_methods + 1) / 2``.

    Raises
    ------
    ValueError
        If `scores` is not a two-dimensional array of finite numbers with at
        least one row and one column.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]])
    array([1.  , 2.25, 2.75])
    """
    return ranks(scores).mean(axis=0)


def ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Rank the methods within every data set; 1 is best, ties share their mean rank.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        Scores such as accuracies; higher is better.

    Returns
    -------
    ndarray of shape (n_data_sets, n_methods)
        Ranks within each row.

    Raises
    ------
    ValueError
        If `scores` is not a two-dimensional array of finite numbers with at
        least one row and one column.

    Examples
    --------
    >>> ranks([[0.9, 0.8, 0.8]])
    array([[1. , 2.5, 2.5]])
    """
    table = np.round(_check_scores(scores), TIE_DECIMALS)
    return np.asarray(rankdata(-table, axis=1), dtype=np.float64)


def best_per_row(scores: ArrayLike, decimals: int = TIE_DECIMALS) -> NDArray[np.bool_]:
    """Mark the best method of every data set, and all that tie with it.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        Scores such as accuracies; higher is better.
    decimals : int, default=10
        Scores that are equal after rounding to this many decimals tie. A
        printed table gives the precision that it prints, so that of two equal
        numbers in a row never only one is marked.

    Returns
    -------
    ndarray of bool of shape (n_data_sets, n_methods)
        True where a method is the best of its row.

    Raises
    ------
    ValueError
        If `scores` is not a two-dimensional array of finite numbers with at
        least one row and one column.

    Examples
    --------
    >>> best_per_row([[0.91, 0.912, 0.5]], decimals=2)
    array([[ True,  True, False]])
    """
    table = np.round(_check_scores(scores), decimals)
    return np.asarray(table == table.max(axis=1, keepdims=True))


def _check_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Check the shape and the values of a table of scores."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"scores must have shape (n_data_sets, n_methods), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite, got NaN or infinity")
    return table
