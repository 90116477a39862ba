"""Compare several methods over several data sets by ranks, after Demsar (2006).

scipy does the work. scikit-posthocs offers the same tests and the diagram, but would bring statsmodels, seaborn and
pandas for what are a dozen lines over scipy, so it is not used.

References
----------
.. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
.. [2] Benavoli, A., Corani, G., Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks?
   JMLR 17, 1-10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import f as fisher
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from skecoc.benchmarking.statistics import TIE_DECIMALS, check_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FriedmanTest:
    """Outcome of `friedman_test`.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-squared, corrected for ties, with ``n_methods - 1`` degrees of freedom.
    f_statistic, f_p_value : float
        The less conservative form of Iman and Davenport, with ``n_methods - 1`` and
        ``(n_methods - 1) * (n_data_sets - 1)`` degrees of freedom.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Test whether all methods are equally good over the data sets.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        Scores such as accuracies; higher is better.

    Returns
    -------
    FriedmanTest
        Small p-values speak against equality.

    Raises
    ------
    ValueError
        If `scores` is not a finite table with at least 2 data sets and 3 methods.

    Examples
    --------
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.8, 0.6], [0.5, 0.6, 0.4]])
    >>> round(test.statistic, 2), round(test.p_value, 3), round(test.f_statistic, 1)
    (6.5, 0.039, 13.0)
    """
    table = np.round(check_scores(scores), TIE_DECIMALS)
    n, k = table.shape
    if n < 2 or k < 3:
        raise ValueError(f"scores must have at least 2 data sets and 3 methods, got shape {table.shape}")
    if (table == table[:, :1]).all():  # every row one great tie
        return FriedmanTest(0.0, 1.0, 0.0, 1.0)
    found = friedmanchisquare(*table.T)
    statistic = float(found.statistic)
    rest = n * (k - 1) - statistic
    # Where all data sets agree on the order, nothing is left of the denominator but rounding.
    f_statistic = np.inf if rest <= 1e-9 * statistic else (n - 1) * statistic / rest
    f_p_value = float(fisher.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return FriedmanTest(statistic, float(found.pvalue), f_statistic, f_p_value)


def nemenyi_critical_difference(n_methods: int, n_data_sets: int, alpha: float = 0.05) -> float:
    """Return how far two average ranks must be apart to differ significantly, all pairs being compared.

    Parameters
    ----------
    n_methods : int
        Number of methods, at least 2.
    n_data_sets : int
        Number of data sets, at least 1.
    alpha : float, default=0.05
        Chance of any false difference.

    Returns
    -------
    float
        The critical difference.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> round(nemenyi_critical_difference(n_methods=4, n_data_sets=14), 2)
    1.25
    """
    if n_methods < 2:
        raise ValueError(f"n_methods must be at least 2, got {n_methods}")
    if n_data_sets < 1:
        raise ValueError(f"n_data_sets must be at least 1, got {n_data_sets}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    q = float(studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets)))


def wilcoxon_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Compare two methods over data sets by the two-sided signed-rank test.

    Parameters
    ----------
    first, second : array-like of shape (n_data_sets,)
        Scores of the two methods.

    Returns
    -------
    float
        The p-value; 1 for equal scores. Data sets where the methods tie count half for each, as Demsar advises.

    Examples
    --------
    >>> wilcoxon_p_value([0.9, 0.8, 0.7, 0.6, 0.5], [0.85, 0.7, 0.68, 0.56, 0.47])
    0.0625
    """
    differences = np.round(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64), TIE_DECIMALS)
    return float(wilcoxon(differences, zero_method="zsplit").pvalue) if differences.any() else 1.0


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for having tested several hypotheses, by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, in the same order: hypotheses with at most alpha are rejected, with a chance of at most
        alpha that any of them is true.

    Raises
    ------
    ValueError
        If a value is not between 0 and 1.

    Examples
    --------
    >>> holm([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p_values must be a one-dimensional array of values between 0 and 1")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return adjusted


@dataclass(frozen=True)
class PairTest:
    """Two methods compared over data sets.

    Attributes
    ----------
    first, second : int
        Positions of the methods.
    p_value, adjusted : float
        P-value of the signed-rank test, and adjusted by Holm's method over all comparisons made with it.
    wins, ties, losses : int
        On how many data sets the first method scores higher, the same, lower.
    """

    first: int
    second: int
    p_value: float
    adjusted: float
    wins: int
    ties: int
    losses: int


def wilcoxon_holm(scores: ArrayLike, control: int | None = None) -> list[PairTest]:
    """Compare one method with each other, or all pairs, over data sets.

    Parameters
    ----------
    scores : array-like of shape (n_data_sets, n_methods)
        Scores such as accuracies; higher is better.
    control : int, default=None
        Position of the method that is compared with each other; None compares all pairs.

    Returns
    -------
    list of PairTest
        The control is always the first of its pairs.

    Raises
    ------
    ValueError
        If `scores` is not a finite table with at least 2 methods, or `control` is not the position of one.

    Examples
    --------
    >>> test = wilcoxon_holm([[0.9, 0.8], [0.8, 0.8], [0.7, 0.9]], control=0)[0]
    >>> test.wins, test.ties, test.losses
    (1, 1, 1)
    """
    table = np.round(check_scores(scores), TIE_DECIMALS)
    pairs = _pairs(table.shape[1], control)
    p_values = [wilcoxon_p_value(table[:, first], table[:, second]) for first, second in pairs]
    tests = []
    for (first, second), p_value, adjusted in zip(pairs, p_values, holm(p_values).tolist(), strict=True):
        wins, ties, losses = win_tie_loss(np.sign(table[:, first] - table[:, second]))
        tests.append(PairTest(first, second, p_value, adjusted, wins, ties, losses))
    return tests


def win_tie_loss(verdicts: ArrayLike) -> tuple[int, int, int]:
    """Count verdicts.

    Parameters
    ----------
    verdicts : array-like of shape (n_data_sets,)
        Positive for a win, zero for a tie, negative for a loss: signs of differences, or `TTest.verdict`.

    Returns
    -------
    wins, ties, losses : int
        The counts.

    Examples
    --------
    >>> win_tie_loss([1, 0, -1, 1])
    (2, 1, 1)
    """
    signs = np.asarray(verdicts)
    return int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum())


def cliques(order: Sequence[int], differing: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Group methods that do not differ: the bars of a critical-difference diagram.

    Parameters
    ----------
    order : sequence of int
        Positions of the methods from the best average rank to the worst.
    differing : sequence of (int, int)
        Pairs of methods that differ significantly, in either order.

    Returns
    -------
    list of tuple of int
        The longest runs of methods, two at least, that are neighbours in `order` and of which no two differ.

    Examples
    --------
    >>> cliques([2, 0, 1, 3], [(2, 1), (2, 3), (0, 3)])
    [(2, 0), (0, 1), (1, 3)]
    """
    apart = {frozenset(pair) for pair in differing}
    groups: list[tuple[int, ...]] = []
    reached = 0  # where the last group ends; a run that ends there too is a part of it
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not any(frozenset((order[k], order[end])) in apart for k in range(start, end)):
            end += 1
        if end - start > 1 and end > reached:
            groups.append(tuple(order[start:end]))
            reached = end
    return groups


def _pairs(n_methods: int, control: int | None) -> list[tuple[int, int]]:
    """List the pairs to compare."""
    if n_methods < 2:
        raise ValueError(f"scores must have at least 2 methods, got {n_methods}")
    if control is None:
        return list(combinations(range(n_methods), 2))
    if not 0 <= control < n_methods:
        raise ValueError(f"control must be the position of a method, 0 to {n_methods - 1}, got {control}")
    return [(control, other) for other in range(n_methods) if other != control]
