"""Compare methods: means over repeats and t tests on one data set; ranks and tests over several, after Demsar (2006).

Scores are tables of shape (n_data_sets, n_methods), higher is better; scipy does the work. scikit-posthocs offers the
same tests, but would bring statsmodels, seaborn and pandas for what are a dozen lines over scipy, so it is not used.

References
----------
- Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
- Benavoli, A., Corani, G., Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17, 1-10.
- Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
- Bouckaert, R. R., Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
  algorithms. PAKDD, 3-12.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range, wilcoxon
from scipy.stats import f as fisher
from scipy.stats import t as student

__all__ = [
    "TIE_DECIMALS",
    "FriedmanTest",
    "PairTest",
    "TTest",
    "average_ranks",
    "best_per_row",
    "cliques",
    "corrected_t_test",
    "friedman_test",
    "holm",
    "interval_half_width",
    "interval_of_folds",
    "nemenyi_critical_difference",
    "paired_t_test",
    "paired_values",
    "ranks",
    "repeat_summary",
    "wilcoxon_holm",
    "wilcoxon_p_value",
    "wilson_interval",
    "win_tie_loss",
]

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

#: Two means of the same numbers may differ in their last bits by the order of
#: summation. Rounding to this many decimals makes them the tie that they are.
TIE_DECIMALS = 10


def ranks(scores: ArrayLike) -> Floats:
    """Rank the methods within every data set; 1 is best, ties share their mean rank."""
    table = np.round(_check_scores(scores), TIE_DECIMALS)
    return np.asarray(rankdata(-table, axis=1), dtype=np.float64)


def average_ranks(scores: ArrayLike) -> Floats:
    """Average the ranks of every method over the data sets, of shape (n_methods,)."""
    return ranks(scores).mean(axis=0)


def best_per_row(scores: ArrayLike, decimals: int = TIE_DECIMALS) -> NDArray[np.bool_]:
    """Mark the best method of every data set, and all that tie with it after rounding.

    A printed table gives the decimals that it prints, so that of two equal numbers in a row never only one is marked.
    """
    table = np.round(_check_scores(scores), decimals)
    return np.asarray(table == table.max(axis=1, keepdims=True))


def repeat_summary(values: ArrayLike) -> tuple[Floats, Floats]:
    """Return mean and standard deviation, over the repeats, of values of shape (..., n_repeats, n_folds).

    The deviation is NaN where there is one repeat; a missing run (NaN) makes both NaN.
    """
    means = _check_runs(values).mean(axis=-1)
    if means.shape[-1] < 2:
        return means.mean(axis=-1), np.full(means.shape[:-1], np.nan)
    return means.mean(axis=-1), np.std(means, axis=-1, ddof=1)


def paired_values(values: ArrayLike) -> Floats:
    """Choose what a t test pairs: the repeats' means, or the folds where there is one repeat."""
    runs = _check_runs(values)
    return runs[..., 0, :] if runs.shape[-2] == 1 else runs.mean(axis=-1)


@dataclass(frozen=True)
class TTest:
    """Outcome of a two-tailed t test on paired differences."""

    difference: float  # mean of first minus second
    low: float  # confidence interval of the difference
    high: float
    statistic: float
    p_value: float
    verdict: int  # 1 where the first is significantly higher, -1 where it is lower, 0 where the interval holds zero


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_share: float, confidence: float = 0.95) -> TTest:
    """Compare two methods by all their runs, allowing for the samples that training parts share.

    `test_share` is the number of test samples per training sample: 1/9 for ten folds.
    """
    if not test_share > 0:
        raise ValueError(f"test_share must be positive, got {test_share}")
    return paired_t_test(first, second, confidence, overlap=test_share)


def paired_t_test(first: ArrayLike, second: ArrayLike, confidence: float = 0.95, *, overlap: float = 0.0) -> TTest:
    """Compare two methods on one data set by values of the same splits, as the paper does.

    Repeats of cross-validation share training samples, so without `overlap` this test finds differences too readily:
    the mean of n differences has the variance (1/n + overlap) times theirs.
    """
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


def p_values_against(scores: Floats, reference: int, overlap: float) -> list[float | None]:
    """Test methods against one of them by `corrected_t_test`, adjusted by Holm's method; None for this one itself.

    `scores` has shape (n_methods, n_runs).
    """
    others = [place for place in range(len(scores)) if place != reference]
    tests = [corrected_t_test(scores[reference], scores[place], overlap).p_value for place in others]
    adjusted = dict(zip(others, holm(tests).tolist(), strict=True))
    return [adjusted.get(place) for place in range(len(scores))]


def wilson_interval(n_correct: int, n_rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share, which stays within [0, 1] and has a width even for all or none.

    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    found = binomtest(n_correct, n_rows).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def interval_of_folds(
    scores: ArrayLike, n_rows: int, limits: tuple[float | None, float | None] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return a 95 % interval of the mean of folds' scores, within the limits of the metric.

    It is that of `corrected_t_test`; for a share it is at least as wide as Wilson's interval for this many rows, since
    all folds may agree if there are few rows.

    >>> [round(end, 3) for end in interval_of_folds([1.0, 1.0, 1.0], 30)]
    [0.886, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    low = high = float(values.mean())
    if len(values) > 2:  # two values do not estimate a spread
        found = corrected_t_test(values, np.zeros(len(values)), 1 / (len(values) - 1))
        low, high = found.low, found.high
    if limits == (0.0, 1.0):
        by_rows = wilson_interval(round(float(values.mean()) * n_rows), n_rows)
        low, high = min(low, by_rows[0]), max(high, by_rows[1])
    least = -np.inf if limits[0] is None else limits[0]
    most = np.inf if limits[1] is None else limits[1]
    return float(np.clip(low, least, most)), float(np.clip(high, least, most))


def interval_half_width(std: ArrayLike, n_runs: int, test_share: float, confidence: float = 0.95) -> Floats:
    """Return half the length of the confidence interval of a mean over runs with this standard deviation.

    As `corrected_t_test` does, this allows for the samples that training parts share.
    """
    scale = np.sqrt(1 / n_runs + test_share) * float(student.isf((1 - confidence) / 2, n_runs - 1))
    return np.asarray(std, dtype=np.float64) * scale


@dataclass(frozen=True)
class FriedmanTest:
    """Friedman's chi-squared, corrected for ties, and the less conservative F of Iman and Davenport."""

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Test whether all methods are equally good over the data sets."""
    table = np.round(_check_scores(scores), TIE_DECIMALS)
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
    """Return how far two average ranks must be apart to differ significantly, all pairs being compared."""
    if n_methods < 2:
        raise ValueError(f"n_methods must be at least 2, got {n_methods}")
    if n_data_sets < 1:
        raise ValueError(f"n_data_sets must be at least 1, got {n_data_sets}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    q = float(studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets)))


def wilcoxon_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Compare two methods over data sets by the two-sided signed-rank test; ties count half for each."""
    differences = np.round(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64), TIE_DECIMALS)
    return float(wilcoxon(differences, zero_method="zsplit").pvalue) if differences.any() else 1.0


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for having tested several hypotheses, by Holm's step-down method."""
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p_values must be a one-dimensional array of values between 0 and 1")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return adjusted


@dataclass(frozen=True)
class PairTest:
    """A control compared with another method, given by its position, over data sets; wins are the control's."""

    other: int
    p_value: float
    adjusted: float  # by Holm's method over all comparisons made with this one
    wins: int
    ties: int
    losses: int


def wilcoxon_holm(scores: ArrayLike, control: int) -> list[PairTest]:
    """Compare one method, given by its position, with each other one over data sets."""
    table = np.round(_check_scores(scores), TIE_DECIMALS)
    n_methods = table.shape[1]
    if n_methods < 2:
        raise ValueError(f"scores must have at least 2 methods, got {n_methods}")
    if not 0 <= control < n_methods:
        raise ValueError(f"control must be the position of a method, 0 to {n_methods - 1}, got {control}")
    others = [position for position in range(n_methods) if position != control]
    p_values = [wilcoxon_p_value(table[:, control], table[:, other]) for other in others]
    return [
        PairTest(other, p_value, adjusted, *win_tie_loss(np.sign(table[:, control] - table[:, other])))
        for other, p_value, adjusted in zip(others, p_values, holm(p_values).tolist(), strict=True)
    ]


def win_tie_loss(verdicts: ArrayLike) -> tuple[int, int, int]:
    """Count positive, zero and negative values: signs of differences, or `TTest.verdict`."""
    signs = np.asarray(verdicts)
    return int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum())


def cliques(order: Sequence[Key], differing: Iterable[tuple[Key, Key]]) -> list[tuple[Key, ...]]:
    """Group methods that do not differ, the bars of a critical-difference diagram.

    These are the longest runs of methods, two at least, that are neighbours in `order` and of which no two differ.

    >>> cliques([2, 0, 1, 3], differing=[(2, 1), (2, 3), (0, 3)])
    [(2, 0), (0, 1), (1, 3)]
    """
    apart = {frozenset(pair) for pair in differing}
    groups: list[tuple[Key, ...]] = []
    reached = 0  # where the last group ends; a run that ends there too is a part of it
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not any(frozenset((order[k], order[end])) in apart for k in range(start, end)):
            end += 1
        if end - start > 1 and end > reached:
            groups.append(tuple(order[start:end]))
            reached = end
    return groups


def _check_values(argument: str, values: ArrayLike, other: ArrayLike | None = None) -> Floats:
    """Check the values of one method, and that there are as many as of the other."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
        raise ValueError(f"{argument} must hold at least 2 finite values in one dimension, got shape {array.shape}")
    if other is not None and len(array) != len(np.asarray(other)):
        raise ValueError(f"first and second must have the same length, got {len(np.asarray(other))} and {len(array)}")
    return array


def _check_runs(values: ArrayLike) -> Floats:
    """Check the shape of values by repeat and fold."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim < 2 or 0 in runs.shape[-2:]:
        raise ValueError(f"values must have shape (..., n_repeats, n_folds), got {runs.shape}")
    return runs


def _check_scores(scores: ArrayLike) -> Floats:
    """Check the shape and the values of a table of scores."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"scores must have shape (n_data_sets, n_methods), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite, got NaN or infinity")
    return table
