"""The paper's Tables II to IV from results, each number beside the published one, and training times.

What is not complete is shown as such: see `skecoc.benchmarking.results` for what counts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.results import Results, SettingSummary
from skecoc.benchmarking.statistics import win_tie_loss
from skecoc.paper.comparison_table import can_compare, comparison_table
from skecoc.paper.length_table import code_length_table
from skecoc.paper.protocol import paper_summary
from skecoc.paper.published import (
    LEARNERS,
    METHODS,
    PAPER_RESPONSES,
    WOLC,
    printed_ranks,
    published_accuracy,
    recomputed_ranks,
)
from skecoc.paper.table_notes import method_columns, notes_on_gaps, row_name, setting_title, shown_methods
from skecoc.reports.table_structure import Cell, Row, Table

_NUMBERS = {"stumps": "table2", "svm": "table3"}
_ACCURACY_NOTE = (
    "Mean (standard deviation over repeats), then the paper's number. Bold (* in plain text): the best of the row and "
    "those not significantly worse; + and -: significantly better and worse than WOLC-ECOC (two-tailed paired t test "
    "at 95 %, over repeats, or over folds where there is one repeat)."
)
_RANK_NOTE = (
    "Ties share their mean rank. The paper's average rank is recomputed from its table for the same data sets and "
    "methods, as the row that it prints does not hold average ranks. Won/tied/lost counts data sets by the t test."
)


def paper_tables(results: Results) -> dict[str, Table]:
    """Make all tables that results have runs for.

    Parameters
    ----------
    results : Results
        The runs, complete or not.

    Returns
    -------
    dict of str to Table
        By name: ``table2`` and ``table3`` (accuracies with the answers of `PAPER_RESPONSES`), ``table2-probabilities``
        and so on (with others), ``table4`` (code lengths; ``table4-probabilities`` with other answers of the stumps),
        and for each setting ``time-learner-response`` and ``tests-learner-response``.

    Examples
    --------
    >>> from skecoc.benchmarking.runs import RunRecord
    >>> run = RunRecord("iris", 0, 0, "stumps", "labels", "one-vs-one", "hamming", 135, 15, 12, 3, 3, 0.1, 0.01)
    >>> list(paper_tables(Results([run], [], {})))
    ['table2', 'table4', 'time-stumps-labels']
    """
    summaries = summarize_paper(results)
    tables = [accuracy_table(summary) for summary in summaries]
    tables += [code_length_table(pair) for pair in _length_pairs(summaries)]
    tables += [time_table(summary) for summary in summaries]
    tables += [comparison_table(summary) for summary in summaries if can_compare(summary)]
    return {table.name: table for table in tables}


def summarize_paper(results: Results) -> list[SettingSummary]:
    """Summarise every setting of the paper's learners that has runs of the paper's methods.

    Parameters
    ----------
    results : Results
        The runs.

    Returns
    -------
    list of SettingSummary
        The paper's kind of answers first for each learner.
    """
    settings = [
        (learner, response)
        for learner, response in results.settings()
        if learner in LEARNERS and set(results.methods(learner, response)) & set(METHODS)
    ]
    settings.sort(key=lambda setting: (setting[0], setting[1] != PAPER_RESPONSES[setting[0]], setting[1]))
    return [paper_summary(results, *setting) for setting in settings]


def accuracy_table(summary: SettingSummary) -> Table:
    """Make Table II (stumps) or III (SVM): the sixteen methods' accuracies in percent.

    Parameters
    ----------
    summary : SettingSummary
        A setting with one of the paper's learners.

    Returns
    -------
    Table
        Mean and standard deviation over repeats. Bold are the best of a row and those not significantly worse, as in
        the paper; ``+`` and ``-`` mark what is significantly better or worse than WOLC-ECOC.

    Raises
    ------
    ValueError
        If the paper has no such learner.

    Examples
    --------
    >>> from skecoc.benchmarking.runs import RunRecord
    >>> run = RunRecord("iris", 0, 0, "stumps", "labels", "one-vs-one", "hamming", 135, 15, 12, 3, 3, 0.1, 0.01)
    >>> table = accuracy_table(paper_summary(Results([run], [], {}), "stumps", "labels"))
    >>> table.rows[0].cells[0].text, table.rows[0].cells[0].published
    ('80.00', '94.64')
    """
    published = published_accuracy(summary.learner)
    methods = shown_methods(summary)
    rows, records = [], []
    for row, data_set in enumerate(summary.data_sets):
        found = [_accuracy_record(summary, row, method, published.cell(data_set, method)) for method in methods]
        rows.append(Row(row_name(summary, row), [_accuracy_cell(record) for record in found]))
        records += found
    is_paper = summary.response == PAPER_RESPONSES[summary.learner]
    return Table(
        name=_NUMBERS[summary.learner] + ("" if is_paper else f"-{summary.response}"),
        title=f"Accuracy in %: {setting_title(summary)}",
        corner="data set",
        columns=method_columns(methods),
        keys=methods,
        rows=rows,
        footer=_accuracy_footer(summary),
        notes=[_ACCURACY_NOTE, *_notes_on_ranks(summary), *notes_on_gaps(summary)],
        records=records,
    )


def time_table(summary: SettingSummary) -> Table:
    """Make a table of training times.

    Parameters
    ----------
    summary : SettingSummary
        The setting.

    Returns
    -------
    Table
        Mean seconds of training on one fold, by data set and method.

    Examples
    --------
    >>> from skecoc.benchmarking.runs import RunRecord
    >>> run = RunRecord("iris", 0, 0, "stumps", "labels", "one-vs-one", "hamming", 135, 15, 12, 3, 3, 0.1, 0.01)
    >>> time_table(paper_summary(Results([run], [], {}), "stumps", "labels")).rows[0].cells[0].text
    '0.100'
    """
    methods = shown_methods(summary)
    seconds = [_by_method(summary, row) for row in summary.fit_seconds]
    names = [row_name(summary, row) for row in range(len(summary.data_sets))]
    rows = [Row(name, [_time_cell(value) for value in row]) for name, row in zip(names, seconds, strict=True)]
    footer = []
    if summary.comparable.any():
        # A clock may not have moved during a very short run.
        means = np.exp(np.log(np.maximum(summary.fit_seconds[summary.comparable], 1e-6)).mean(axis=0))
        footer = [Row("geometric mean", [_time_cell(value) for value in _by_method(summary, means)])]
    return Table(
        name=f"time-{summary.learner}-{summary.response}",
        title=f"Seconds of training on one fold: {setting_title(summary)}",
        corner="data set",
        columns=method_columns(methods),
        keys=methods,
        rows=rows,
        footer=footer,
        notes=[
            "Means over runs. Decodings of one code each count the whole time of its columns.",
            *notes_on_gaps(summary),
        ],
        records=[
            {"data_set": data_set, "method": method, "fit_seconds": value}
            for data_set, row in zip(summary.data_sets, seconds, strict=True)
            for method, value in zip(methods, row, strict=True)
        ],
    )


def _length_pairs(summaries: Sequence[SettingSummary]) -> list[list[SettingSummary]]:
    """Pair every setting of the stumps with the SVM's first, or show the SVM's alone."""
    stumps = [summary for summary in summaries if summary.learner == "stumps"]
    others = [summary for summary in summaries if summary.learner != "stumps"]
    return [[summary, *others[:1]] for summary in stumps] if stumps else [[summary] for summary in others]


def _accuracy_record(
    summary: SettingSummary, row: int, method: str, printed: tuple[float, float, bool] | None
) -> dict[str, Any]:
    """Everything about one method on one data set, accuracies in percent."""
    column = summary.position(method)
    runs = 0 if column is None else int(summary.n_runs[row, column])
    has_runs = column is not None and runs > 0
    mean, std, bold = printed or (None, None, False)
    ahead = [_finite(100 * end) for end in summary.control_ahead[row, column].tolist()] if has_runs else [None] * 3
    return {
        "data_set": summary.data_sets[row],
        "method": method,
        "accuracy": 100 * float(summary.accuracy[row, column]) if has_runs else None,
        "std": _finite(100 * float(summary.accuracy_std[row, column])) if has_runs else None,
        "bold": has_runs and bool(summary.best[row, column]),
        "against_wolc": int(summary.against_control[row, column]) if has_runs else None,
        "against_wolc_corrected": int(summary.against_control_corrected[row, column]) if has_runs else None,
        "wolc_ahead": ahead[0],
        "wolc_ahead_low": ahead[1],
        "wolc_ahead_high": ahead[2],
        "n_runs": runs,
        "n_planned": int(summary.planned_repeats[row]) * summary.n_folds,
        "n_repeats": int(summary.n_repeats[row]),
        "published_accuracy": mean,
        "published_std": std,
        "published_bold": bold,
    }


def _accuracy_cell(record: dict[str, Any]) -> Cell:
    """Round a record for reading."""
    has_runs, is_compared = record["accuracy"] is not None, record["n_repeats"] > 0
    return Cell(
        text=f"{record['accuracy']:.2f}" if has_runs else "",
        deviation="" if record["std"] is None else f"{record['std']:.2f}",
        remark=f"{record['n_runs']}/{record['n_planned']}" if has_runs and not is_compared else "",
        published="" if record["published_accuracy"] is None else f"{record['published_accuracy']:.2f}",
        bold=record["bold"],
        published_bold=record["published_bold"],
        mark={1: "+", -1: "-"}.get(record["against_wolc"], ""),
        value=record["accuracy"],
    )


def _accuracy_footer(summary: SettingSummary) -> list[Row]:
    """Averages and ranks over the data sets that can be compared, ours and the paper's."""
    ranks = summary.ranks()
    if not ranks:
        return []
    methods = shown_methods(summary)
    ranked = [method for method in summary.methods if method in METHODS]
    theirs = recomputed_ranks(summary.learner, summary.ranked_data_sets, ranked)
    printed = printed_ranks(summary.learner)
    published = published_accuracy(summary.learner)
    shared = [published.data_sets.index(name) for name in summary.ranked_data_sets if name in published.data_sets]
    means = dict(zip(published.columns, published.mean[shared].mean(axis=0), strict=True)) if shared else {}
    accuracy = [_finite(value) for value in _by_method(summary, 100 * summary.scores().mean(axis=0))]
    rows = [
        Row(
            "average accuracy",
            [_number_cell(value, means.get(method)) for method, value in zip(methods, accuracy, strict=True)],
        ),
        Row("average rank", [_number_cell(ranks.get(method), theirs.get(method)) for method in methods]),
        Row("rank as printed", [_number_cell(None, printed.get(method)) for method in methods]),
    ]
    if WOLC in summary.methods:
        rows.append(Row("WOLC-ECOC won/tied/lost", [_count_cell(summary, method) for method in methods]))
    return rows


def _notes_on_ranks(summary: SettingSummary) -> list[str]:
    """Say what the averages and ranks are of."""
    if not summary.comparable.any():
        return []
    counted = f"{summary.n_ranked} and {len(summary.methods)} methods"
    return [f"Averages and ranks are over {counted}. {_RANK_NOTE}"]


def _count_cell(summary: SettingSummary, method: str) -> Cell:
    """Count the data sets where WOLC-ECOC is significantly better, neither, and worse."""
    column = summary.position(method)
    if column is None or method == WOLC:
        return Cell()
    wins, ties, losses = win_tie_loss(-summary.against_control[summary.comparable, column])
    return Cell(text=f"{wins}/{ties}/{losses}", value=float(wins - losses))


def _number_cell(value: float | None, published: float | None) -> Cell:
    """Make a cell with two decimals."""
    return Cell(
        text="" if value is None else f"{value:.2f}",
        published="" if published is None else f"{published:.2f}",
        value=value,
    )


def _time_cell(seconds: float | None) -> Cell:
    """Make a cell with three significant digits."""
    return Cell() if seconds is None else Cell(text=_significant(seconds), value=seconds)


def _significant(seconds: float) -> str:
    """Write seconds with three significant digits, no finer than a tenth of a millisecond, without exponents."""
    decimals = 4 if seconds <= 0 else int(np.clip(2 - np.floor(np.log10(seconds)), 0, 4))
    return f"{seconds:.{decimals}f}"


def _by_method(summary: SettingSummary, values: NDArray[np.float64]) -> list[float | None]:
    """Arrange values of the methods that have runs by shown methods; None for the others."""
    found = dict(zip(summary.methods, values, strict=True))
    return [_finite(found[method]) if method in found else None for method in shown_methods(summary)]


def _finite(value: float | np.floating[Any] | None) -> float | None:
    """Turn NaN into None."""
    return None if value is None or np.isnan(value) else float(value)
