"""Compare methods: means over repeats, t tests on one data set, ranks and best marks over several.

Tests over several data sets are in `skecoc.benchmarking.rank_tests`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from scipy.stats import t as student

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
    table = np.round(check_scores(scores), TIE_DECIMALS)
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
    table = np.round(check_scores(scores), decimals)
    return np.asarray(table == table.max(axis=1, keepdims=True))


def repeat_summary(values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average cross-validations that were repeated: mean and standard deviation over the repeats.

    Parameters
    ----------
    values : array-like of shape (..., n_repeats, n_folds)
        One value per run.

    Returns
    -------
    mean, std : ndarray of shape (...)
        Of the repeats' means over their folds; the deviation has ``n_repeats - 1`` in its denominator and is NaN where
        there is one repeat. A value that is NaN makes both NaN: missing runs are not averaged over.

    Raises
    ------
    ValueError
        If `values` has fewer than two axes, or no runs.

    Examples
    --------
    >>> mean, std = repeat_summary([[0.9, 0.7], [0.8, 1.0]])
    >>> round(float(mean), 3), round(float(std), 3)
    (0.85, 0.071)
    """
    means = _check_runs(values).mean(axis=-1)
    if means.shape[-1] < 2:
        return means.mean(axis=-1), np.full(means.shape[:-1], np.nan)
    return means.mean(axis=-1), np.std(means, axis=-1, ddof=1)


def paired_values(values: ArrayLike) -> NDArray[np.float64]:
    """Choose what a t test pairs: the repeats' means, or the folds where there is one repeat.

    Parameters
    ----------
    values : array-like of shape (..., n_repeats, n_folds)
        One value per run.

    Returns
    -------
    ndarray of shape (..., n_repeats) or (..., n_folds)
        The values to compare with another method's.

    Examples
    --------
    >>> paired_values([[0.5, 1.0]])
    array([0.5, 1. ])
    >>> paired_values([[0.5, 1.0], [0.25, 0.25]])
    array([0.75, 0.25])
    """
    runs = _check_runs(values)
    return runs[..., 0, :] if runs.shape[-2] == 1 else runs.mean(axis=-1)


@dataclass(frozen=True)
class TTest:
    """Outcome of a two-tailed t test on paired differences.

    Attributes
    ----------
    difference : float
        Mean of first minus second.
    low, high : float
        Confidence interval of the difference.
    statistic : float
        Student's t.
    p_value : float
        Chance of so large a difference, of either sign, between equals.
    verdict : int
        1 where the first is significantly higher, -1 where it is lower, 0 where the interval holds zero.
    """

    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    verdict: int


def paired_t_test(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> TTest:
    """Compare two methods on one data set by their paired values, as the paper does.

    Parameters
    ----------
    first, second : array-like of shape (n_values,)
        Values of the two methods on the same splits, such as `paired_values` of their accuracies.
    confidence : float, default=0.95
        Level of the interval and the verdict.

    Returns
    -------
    TTest
        Two-tailed. Differences that are all zero are no evidence (p = 1); differences that are all alike leave no
        doubt (p = 0).

    Raises
    ------
    ValueError
        If the values are not two finite one-dimensional arrays of the same length of at least 2, or `confidence` is
        not between 0 and 1.

    Notes
    -----
    Repeats of cross-validation share their training rows, so this test finds differences too readily;
    `corrected_t_test` allows for that.

    Examples
    --------
    >>> test = paired_t_test([0.9, 0.8, 0.9], [0.8, 0.8, 0.7])
    >>> round(test.difference, 2), round(test.p_value, 3), test.verdict
    (0.1, 0.225, 0)
    """
    return _t_test(first, second, 0.0, confidence)


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_share: float, confidence: float = 0.95) -> TTest:
    """Compare two methods on one data set by all their runs, allowing for the rows that training parts share.

    Parameters
    ----------
    first, second : array-like of shape (n_runs,)
        Values of the two methods on the same runs, all repeats and folds.
    test_share : float
        Test rows per training row of a run: ``1 / 9`` for ten folds.
    confidence : float, default=0.95
        Level of the interval and the verdict.

    Returns
    -------
    TTest
        Two-tailed.

    Raises
    ------
    ValueError
        As `paired_t_test`, or if `test_share` is not positive.

    References
    ----------
    .. [1] Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    .. [2] Bouckaert, R. R., Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
       algorithms. PAKDD, 3-12.

    Examples
    --------
    >>> test = corrected_t_test([0.9, 0.8, 0.9], [0.8, 0.8, 0.7], test_share=0.5)
    >>> round(test.difference, 2), round(test.p_value, 3), test.verdict
    (0.1, 0.388, 0)
    """
    if not test_share > 0:
        raise ValueError(f"test_share must be positive, got {test_share}")
    return _t_test(first, second, test_share, confidence)


def _t_test(first: ArrayLike, second: ArrayLike, overlap: float, confidence: float) -> TTest:
    """Test paired differences whose mean has the variance (1/n + overlap) times theirs."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    differences = np.round(_check_values("first", first) - _check_values("second", second, first), TIE_DECIMALS)
    n = len(differences)
    difference = float(differences.mean())
    error = float(np.sqrt((1 / n + overlap) * differences.var(ddof=1)))
    sign = int(np.sign(difference))
    if error == 0:
        statistic, p_value = (sign * np.inf, 0.0) if sign else (0.0, 1.0)
        return TTest(difference, difference, difference, statistic, p_value, sign)
    statistic = difference / error
    half = error * float(student.isf((1 - confidence) / 2, n - 1))
    p_value = 2 * float(student.sf(abs(statistic), n - 1))
    verdict = sign if abs(difference) > half else 0
    return TTest(difference, difference - half, difference + half, statistic, p_value, verdict)


def _check_values(argument: str, values: ArrayLike, other: ArrayLike | None = None) -> NDArray[np.float64]:
    """Check the values of one method, and that there are as many as of the other."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
        raise ValueError(f"{argument} must hold at least 2 finite values in one dimension, got shape {array.shape}")
    if other is not None and len(array) != len(np.asarray(other)):
        raise ValueError(f"first and second must have the same length, got {len(np.asarray(other))} and {len(array)}")
    return array


def _check_runs(values: ArrayLike) -> NDArray[np.float64]:
    """Check the shape of values by repeat and fold."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim < 2 or 0 in runs.shape[-2:]:
        raise ValueError(f"values must have shape (..., n_repeats, n_folds), got {runs.shape}")
    return runs


def check_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Check the shape and the values of a table of scores.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        The table.

    Returns
    -------
    ndarray of shape (n_data_sets, n_methods)
        The table as an array.

    Raises
    ------
    ValueError
        If `scores` is not a two-dimensional array of finite numbers with at
        least one row and one column.

    Examples
    --------
    >>> check_scores([[1, 2]])
    array([[1., 2.]])
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"scores must have shape (n_data_sets, n_methods), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite, got NaN or infinity")
    return table
