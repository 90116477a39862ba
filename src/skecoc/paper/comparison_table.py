"""WOLC-ECOC against each method over data sets, by the tests that are standard today."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skecoc.benchmarking.results import SettingSummary
from skecoc.benchmarking.statistics import friedman_test, nemenyi_critical_difference, wilcoxon_holm, win_tie_loss
from skecoc.paper.published import METHODS, WOLC
from skecoc.paper.table_notes import notes_on_gaps, setting_title
from skecoc.reports.table_structure import Cell, Row, Table

_COLUMNS = {
    "rank": ("average", "rank"),
    "difference": ("WOLC-ECOC", "ahead by"),
    "signs": ("won/tied/lost", "by mean"),
    "t_test": ("won/tied/lost", "t test"),
    "corrected": ("won/tied/lost", "corrected t"),
    "p_value": ("signed-rank", "p"),
    "holm": ("signed-rank", "Holm's p"),
}
_LEVEL = 0.05
_NOTE = (
    "Ahead by: mean difference of accuracies in points. Won/tied/lost: data sets where WOLC-ECOC is better, equal and "
    "worse by its mean, significantly so by the paired t test, and by the t test that is corrected for training rows "
    "in common (Nadeau and Bengio). Signed-rank: Wilcoxon's test over data sets, two-sided, then adjusted for all "
    "comparisons of the table by Holm's method; bold (* in plain text): below 5 %."
)


def can_compare(summary: SettingSummary) -> bool:
    """Tell whether there is something to compare: WOLC-ECOC and another method on two data sets.

    Parameters
    ----------
    summary : SettingSummary
        The setting.

    Returns
    -------
    bool
        Whether `comparison_table` can be made.
    """
    return WOLC in summary.methods and len(summary.methods) > 1 and int(summary.comparable.sum()) > 1


def comparison_table(summary: SettingSummary) -> Table:
    """Compare WOLC-ECOC with each other method over data sets.

    Parameters
    ----------
    summary : SettingSummary
        The setting.

    Returns
    -------
    Table
        One row per method, best average rank first.

    Raises
    ------
    ValueError
        If there is nothing to compare, see `can_compare`.
    """
    if not can_compare(summary):
        raise ValueError("summary must have WOLC-ECOC and another method on at least two comparable data sets")
    scores, control = summary.scores(), summary.methods.index(WOLC)
    tests = {test.second: test for test in wilcoxon_holm(scores, control)}
    ranks = summary.ranks()
    records = []
    for column in sorted(range(len(summary.methods)), key=lambda column: ranks[summary.methods[column]]):
        record: dict[str, Any] = {"method": summary.methods[column], "rank": ranks[summary.methods[column]]}
        if column in tests:
            test = tests[column]
            record |= {
                "difference": 100 * float((scores[:, control] - scores[:, column]).mean()),
                "signs": _counts((test.wins, test.ties, test.losses)),
                "t_test": _counts(win_tie_loss(-summary.against_control[summary.comparable, column])),
                "corrected": _counts(win_tie_loss(-summary.against_control_corrected[summary.comparable, column])),
                "p_value": test.p_value,
                "holm": test.adjusted,
            }
        records.append({"method": record["method"], **dict.fromkeys(_COLUMNS), **record})
    return Table(
        name=f"tests-{summary.learner}-{summary.response}",
        title=f"WOLC-ECOC against each method over {summary.n_ranked}: {setting_title(summary)}",
        corner="method",
        columns=list(_COLUMNS.values()),
        keys=list(_COLUMNS),
        rows=[_row(record) for record in records],
        notes=[*_notes_on_all(scores), _NOTE, *notes_on_gaps(summary)],
        records=records,
    )


def _counts(counts: tuple[int, int, int]) -> str:
    """Write wins, ties and losses."""
    return "/".join(map(str, counts))


def _row(record: dict[str, Any]) -> Row:
    """Round a record for reading."""
    cells = []
    for key in _COLUMNS:
        value = record[key]
        is_small = key in ("p_value", "holm") and value is not None and value < _LEVEL
        number = value if isinstance(value, float) else None
        cells.append(Cell(_FORMATS.get(key, str)(value) if value is not None else "", bold=is_small, value=number))
    return Row(METHODS.get(record["method"], record["method"]), cells)


def _chance(p_value: float) -> str:
    """Write a p-value with three decimals."""
    return f"{p_value:.3f}" if p_value >= 0.001 else "<0.001"


_FORMATS: dict[str, Callable[[Any], str]] = {
    "rank": "{:.2f}".format,
    "difference": "{:+.2f}".format,
    "p_value": _chance,
    "holm": _chance,
}


def _notes_on_all(scores: np.ndarray[Any, np.dtype[np.float64]]) -> list[str]:
    """Report the tests of all methods at once."""
    n_data_sets, n_methods = scores.shape
    distance = nemenyi_critical_difference(n_methods, n_data_sets)
    notes = [f"Average ranks differ significantly (Nemenyi, 5 %) when they are {distance:.2f} apart."]
    if n_methods > 2:
        test = friedman_test(scores)
        notes.insert(
            0,
            f"All methods equal? Friedman's chi-squared {test.statistic:.2f}, p = {test.p_value:.2g}; "
            f"Iman and Davenport's F {test.f_statistic:.2f}, p = {test.f_p_value:.2g}.",
        )
    return notes
