"""Averages and verdicts of all methods in one setting: what tables and figures are made of.

Methods are compared on what all of them have done. On each data set those repeats count that are complete for every
method, which see the same folds; the others are left out and counted. A data set without such a repeat is shown, but
neither marked nor ranked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.results import Results
from skecoc.benchmarking.statistics import (
    TIE_DECIMALS,
    average_ranks,
    corrected_t_test,
    paired_t_test,
    paired_values,
    repeat_summary,
)
from skecoc.paper.published import METHODS, WOLC

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SettingSummary:
    """All methods on all data sets with one learner and one kind of answers.

    Attributes
    ----------
    learner, response : str
        The setting.
    data_sets, methods : list of str
        Names of rows and columns. Methods without any run in this setting are among `missing_methods` instead.
    missing_methods : list of str
        Methods of the paper (or asked for) that have no run in this setting.
    other_methods : list of str
        Methods that have runs, but are not compared here.
    accuracy, accuracy_std : ndarray of shape (n_data_sets, n_methods)
        Mean and standard deviation over repeats, in [0, 1]; the deviation is NaN where one repeat counts. On data sets
        that are not comparable, the mean of whatever runs there are; NaN without any.
    columns, columns_std, trained, fit_seconds : ndarray of shape (n_data_sets, n_methods)
        The same of the columns that prediction asks, of those trained (mean only), and of the seconds of training
        (mean only).
    n_runs : ndarray of int of shape (n_data_sets, n_methods)
        Runs done.
    n_repeats, planned_repeats : ndarray of int of shape (n_data_sets,)
        Repeats that count, and repeats planned.
    n_folds : int
        Folds of each repeat.
    best : ndarray of bool of shape (n_data_sets, n_methods)
        The most accurate method of each row and those not significantly worse (paired t test, 95 %).
    against_wolc, against_wolc_corrected : ndarray of int of shape (n_data_sets, n_methods)
        1 where a method is significantly more accurate than WOLC-ECOC, -1 where it is less, by the paired t test and
        by the corrected one; 0 otherwise.
    wolc_ahead : ndarray of shape (n_data_sets, n_methods, 3)
        How much more accurate WOLC-ECOC is than each method: mean difference and the ends of its 95 % interval by the
        paired t test; NaN where there is nothing to test.
    """

    learner: str
    response: str
    data_sets: list[str]
    methods: list[str]
    missing_methods: list[str]
    other_methods: list[str]
    accuracy: Floats
    accuracy_std: Floats
    columns: Floats
    columns_std: Floats
    trained: Floats
    fit_seconds: Floats
    n_runs: Integers
    n_repeats: Integers
    planned_repeats: Integers
    n_folds: int
    best: NDArray[np.bool_]
    against_wolc: Integers
    against_wolc_corrected: Integers
    wolc_ahead: Floats

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Which data sets have a repeat that is complete for every method, of shape (n_data_sets,)."""
        return self.n_repeats > 0

    @property
    def ranked_data_sets(self) -> list[str]:
        """Names of the data sets that are comparable."""
        return [name for name, comparable in zip(self.data_sets, self.comparable, strict=True) if comparable]

    @property
    def n_ranked(self) -> str:
        """How many data sets are comparable, in words: ``"1 data set"``, ``"14 data sets"``."""
        count = int(self.comparable.sum())
        return f"{count} data set{'' if count == 1 else 's'}"

    def scores(self) -> Floats:
        """Return the accuracies on comparable data sets, of shape (n_comparable, n_methods)."""
        return self.accuracy[self.comparable]

    def ranks(self) -> dict[str, float]:
        """Return the average rank of each method over comparable data sets; empty without any."""
        if not self.comparable.any():
            return {}
        return dict(zip(self.methods, average_ranks(self.scores()).tolist(), strict=True))

    def position(self, method: str) -> int | None:
        """Return the column of a method, None if it has no runs."""
        return self.methods.index(method) if method in self.methods else None


def summarize_setting(
    results: Results, learner: str, response: str, methods: Sequence[str] | None = None
) -> SettingSummary:
    """Average and compare the methods of one setting.

    Parameters
    ----------
    results : Results
        The runs.
    learner, response : str
        The setting.
    methods : sequence of str, default=None
        The methods to compare; None takes the paper's sixteen.

    Returns
    -------
    SettingSummary
        Data sets and methods that have runs, in the order of `results` and `methods`.

    Raises
    ------
    ValueError
        If the setting has no runs of any of the methods.

    Examples
    --------
    >>> from skecoc.benchmarking.records import RunRecord
    >>> run = ("stumps", "labels", "one-vs-one", "hamming", 135, 15)
    >>> runs = [RunRecord("iris", repeat, 0, *run, 12 + repeat, 3, 3, 0.1, 0.01) for repeat in range(2)]
    >>> summary = summarize_setting(Results(runs, [], {}), "stumps", "labels")
    >>> summary.accuracy.round(3), len(summary.missing_methods)
    (array([[0.833]]), 15)
    """
    wanted = list(METHODS if methods is None else methods)
    found = results.methods(learner, response)
    present = [method for method in wanted if method in found]
    if not present:
        raise ValueError(f"no runs of these methods with learner {learner!r} and response {response!r}")
    data_sets = [
        data_set
        for data_set in results.data_sets(learner, response)
        if not np.isnan(results.values("accuracy", learner, response, data_set, present)).all()
    ]
    rows = [_summarize_row(results, learner, response, data_set, present) for data_set in data_sets]
    return SettingSummary(
        learner=learner,
        response=response,
        data_sets=data_sets,
        methods=present,
        missing_methods=[method for method in wanted if method not in found],
        other_methods=[method for method in found if method not in wanted],
        n_folds=int(results.values("accuracy", learner, response, data_sets[0], present).shape[2]),
        **{name: np.array([row[name] for row in rows]) for name in rows[0]},
    )


def _summarize_row(
    results: Results, learner: str, response: str, data_set: str, methods: list[str]
) -> dict[str, NDArray[np.generic] | int]:
    """Summarise one data set: everything that `SettingSummary` has a row of."""

    def values(measure: str) -> Floats:
        return results.values(measure, learner, response, data_set, methods)

    accuracy = values("accuracy")
    done = ~np.isnan(accuracy)
    counted = np.asarray(done.all(axis=(0, 2)))
    mean, std = _average(accuracy, counted)
    columns, columns_std = _average(values("n_columns"), counted)
    test_share = float(np.nanmean(values("n_test") / values("n_train")))
    return {
        "accuracy": mean,
        "accuracy_std": std,
        "columns": columns,
        "columns_std": columns_std,
        "trained": _average(values("n_trained"), counted)[0],
        "fit_seconds": _average(values("fit_seconds"), counted)[0],
        "n_runs": done.sum(axis=(1, 2)),
        "n_repeats": int(counted.sum()),
        "planned_repeats": len(counted),
        **_verdicts(accuracy[:, counted], methods, test_share),
    }


def _average(values: Floats, counted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Average the repeats that count; without any, whatever runs there are."""
    if counted.any():
        return repeat_summary(values[:, counted])
    done = ~np.isnan(values)
    total, count = np.where(done, values, 0.0).sum(axis=(1, 2)), done.sum(axis=(1, 2))
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return mean, np.full(len(values), np.nan)


def _verdicts(accuracy: Floats, methods: list[str], test_share: float) -> dict[str, NDArray[np.generic]]:
    """Mark the best methods of a data set, and those that differ from WOLC-ECOC."""
    n_methods, n_repeats, n_folds = accuracy.shape
    best = np.zeros(n_methods, dtype=bool)
    against, corrected = np.zeros((2, n_methods), dtype=np.int64)
    ahead = np.full((n_methods, 3), np.nan)
    if n_repeats and n_repeats * n_folds > 1:
        paired, runs = paired_values(accuracy), accuracy.reshape(n_methods, -1)
        top = paired[np.round(paired.mean(axis=1), TIE_DECIMALS).argmax()]
        best = np.array([paired_t_test(values, top).verdict >= 0 for values in paired])
        if WOLC in methods:
            control = methods.index(WOLC)
            tests = [paired_t_test(paired[control], values) for values in paired]
            against = np.array([-test.verdict for test in tests])
            ahead = np.array([(test.difference, test.low, test.high) for test in tests])
            corrected = np.array([corrected_t_test(values, runs[control], test_share).verdict for values in runs])
    return {"best": best, "against_wolc": against, "against_wolc_corrected": corrected, "wolc_ahead": ahead}
