"""The paper's Tables II to IV from results, each number beside the published one; training times; tests over data sets.

What is not complete is shown as such: see `skecoc_study.runs.results` for what counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.statistics import wilcoxon_holm, win_tie_loss
from skecoc.reports import Cell, Row, Table
from skecoc_study.paper.published import (
    CODINGS,
    DATA_SETS,
    LEARNERS,
    METHODS,
    PAPER_RESPONSES,
    WOLC,
    WOLC_PAPER,
    length_column,
    printed_ranks,
    published_accuracy,
    published_code_length,
    recomputed_ranks,
)
from skecoc_study.paper.summaries import (
    as_printed_summary,
    geometric_means,
    method_columns,
    notes_on_gaps,
    notes_on_tests,
    notes_on_weights,
    printed,
    row_name,
    setting_title,
    shown_methods,
    summarize_paper,
    weights_in_short,
)
from skecoc_study.paper.variants import variants_tables
from skecoc_study.runs.results import Results, SettingSummary

#: Names of the tables of accuracies.
ACCURACY_TABLES = {"stumps": "table2", "svm": "table3"}

_ACCURACY_NOTE = (
    "Mean (standard deviation over repeats), then the paper's number. Bold (* in plain text): the best of the row and "
    "those not significantly worse; + and -: significantly better and worse than WOLC-ECOC (two-tailed paired t test "
    "at 95 %, over repeats, or over folds where there is one repeat)."
)
_RANK_NOTE = (
    "Ties share their mean rank. The paper's average rank is recomputed from its table for the same data sets and "
    "methods, as the row that it prints does not hold average ranks. Won/tied/lost counts data sets by the t test."
)
_TIME_NOTE = "Means over runs. Decodings of one code each count the whole time of its columns."
_LENGTH_NOTE = (
    "Mean (standard deviation over repeats), then the paper's number. A column of WOLC-ECOC without weight for any "
    "class is trained but not evaluated. Averages are over the data sets whose runs are comparable."
)
_TESTS_NOTE = (
    "Ahead by: mean difference of accuracies in points. Won/tied/lost: data sets where WOLC-ECOC is better, equal and "
    "worse by its mean, significantly so by the paired t test, and by the t test that is corrected for training rows "
    "in common (Nadeau and Bengio). Signed-rank: Wilcoxon's test over data sets, two-sided, then adjusted for all "
    "comparisons of the table by Holm's method; bold (* in plain text): below 5 %."
)
_TESTS_COLUMNS = {
    "rank": ("average", "rank"),
    "difference": ("WOLC-ECOC", "ahead by"),
    "signs": ("won/tied/lost", "by mean"),
    "t_test": ("won/tied/lost", "t test"),
    "corrected": ("won/tied/lost", "corrected t"),
    "p_value": ("signed-rank", "p"),
    "holm": ("signed-rank", "Holm's p"),
}
_LEVEL = 0.05


def paper_tables(results: Results) -> dict[str, Table]:
    """Make all tables that results have runs for, by name.

    ``table2`` and ``table3`` hold accuracies with the responses of `PAPER_RESPONSES` (``table2-probabilities`` and the
    like with others), ``table2-variants`` and ``table2-library`` those of `FURTHER_METHODS`, ``table4`` code lengths;
    each setting has ``time-learner-response`` and ``tests-learner-response``.
    """
    summaries = summarize_paper(results)
    printed_too = {
        (one.learner, one.response): as_printed_summary(results, one.learner, one.response) for one in summaries
    }
    tables = [accuracy_table(summary, printed_too[summary.learner, summary.response]) for summary in summaries]
    tables += variants_tables(results)
    # Every setting of the stumps is beside the SVM's first, or the SVM's alone.
    stumps = [summary for summary in summaries if summary.learner == "stumps"]
    others = [summary for summary in summaries if summary.learner != "stumps"]
    pairs = [[summary, *others[:1]] for summary in stumps] if stumps else [[summary] for summary in others]
    tables += [code_length_table(pair, [printed_too[one.learner, one.response] for one in pair]) for pair in pairs]
    tables += [time_table(summary) for summary in summaries]
    tables += [significance_table(summary) for summary in summaries if can_compare(summary)]
    return {table.name: table for table in tables}


def accuracy_table(summary: SettingSummary, beside: SettingSummary | None = None) -> Table:
    """Make Table II (stumps) or III (SVM): accuracies in percent by data set and method.

    The paper's algorithm with all of its settings, if given, stands beside the methods that are compared and ranked.
    """
    published = published_accuracy(summary.learner)
    methods = shown_methods(summary)
    rows, records = [], []
    for row, data_set in enumerate(summary.data_sets):
        found = [_accuracy_record(summary, row, method, published.cell(data_set, method)) for method in methods]
        if beside is not None:
            found.append(_beside_record(beside, data_set))
        rows.append(Row(row_name(summary, row), [_accuracy_cell(record) for record in found]))
        records += found
    headings = method_columns([*methods, *([] if beside is None else [WOLC_PAPER])])
    if WOLC in methods:
        coding, decoding = headings[methods.index(WOLC)]
        headings[methods.index(WOLC)] = coding, decoding + weights_in_short(summary)
    is_paper = summary.response == PAPER_RESPONSES[summary.learner]
    ranked = f"Averages and ranks are over {summary.n_ranked} and {len(summary.methods)} methods. {_RANK_NOTE}"
    return Table(
        name=ACCURACY_TABLES[summary.learner] + ("" if is_paper else f"-{summary.response}"),
        title=f"Accuracy in %: {setting_title(summary)}",
        corner="data set",
        columns=headings,
        keys=[*methods, *([] if beside is None else [WOLC_PAPER])],
        rows=rows,
        footer=_accuracy_footer(summary, beside),
        notes=[
            _ACCURACY_NOTE,
            *notes_on_weights(summary),
            *([ranked] if summary.comparable.any() else []),
            *notes_on_gaps(summary),
        ],
        records=records,
    )


def _accuracy_record(
    summary: SettingSummary, row: int, method: str, published: tuple[float, float, bool] | None
) -> dict[str, Any]:
    """Everything about one method on one data set, accuracies in percent."""
    column = summary.position(method)
    runs = 0 if column is None else int(summary.n_runs[row, column])
    has_runs = column is not None and runs > 0
    mean, std, bold = published or (None, None, False)
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
        "optimized": _finite(summary.optimized[row]) if method == WOLC else None,
    }


def _beside_record(beside: SettingSummary, data_set: str) -> dict[str, Any]:
    """Everything about the paper's algorithm on one data set; it is neither marked nor ranked."""
    if data_set not in beside.data_sets:
        empty = dict.fromkeys(("accuracy", "std", "against_wolc", "published_accuracy"))
        return {"data_set": data_set, "method": WOLC_PAPER, **empty, "bold": False, "published_bold": False} | {
            "n_runs": 0,
            "n_planned": 0,
            "n_repeats": 0,
        }
    row = beside.data_sets.index(data_set)
    return _accuracy_record(beside, row, WOLC_PAPER, None) | {"bold": False, "against_wolc": None}


def _accuracy_cell(record: dict[str, Any]) -> Cell:
    has_runs, is_compared = record["accuracy"] is not None, record["n_repeats"] > 0
    return Cell(
        text=_rounded(record["accuracy"]),
        deviation=_rounded(record["std"]),
        remark=f"{record['n_runs']}/{record['n_planned']}" if has_runs and not is_compared else "",
        published=_rounded(record["published_accuracy"]),
        bold=record["bold"],
        published_bold=record["published_bold"],
        mark={1: "+", -1: "-"}.get(record["against_wolc"], ""),
        value=record["accuracy"],
    )


def _accuracy_footer(summary: SettingSummary, beside: SettingSummary | None = None) -> list[Row]:
    """Averages and ranks over the data sets that can be compared, ours and the paper's."""
    ranks = summary.ranks()
    if not ranks:
        return []
    methods = shown_methods(summary)
    ranked = [method for method in summary.methods if method in METHODS]
    theirs = recomputed_ranks(summary.learner, summary.ranked_data_sets, ranked)
    as_printed = printed_ranks(summary.learner)
    published = published_accuracy(summary.learner)
    shared = [published.data_sets.index(name) for name in summary.ranked_data_sets if name in published.data_sets]
    means = dict(zip(published.columns, published.mean[shared].mean(axis=0), strict=True)) if shared else {}
    accuracy = dict(zip(methods, _by_method(summary, 100 * summary.scores().mean(axis=0)), strict=True))
    rows = [
        Row("average accuracy", [_number_cell(accuracy[method], means.get(method)) for method in methods]),
        Row("average rank", [_number_cell(ranks.get(method), theirs.get(method)) for method in methods]),
        Row("rank as printed", [_number_cell(None, as_printed.get(method)) for method in methods]),
    ]
    if WOLC in summary.methods:
        rows.append(Row("WOLC-ECOC won/tied/lost", [_count_cell(summary, method) for method in methods]))
    if beside is not None:
        whole = beside.ranked_data_sets == summary.ranked_data_sets
        mean = 100 * float(beside.scores().mean()) if whole else None
        rows = [Row(row.name, [*row.cells, Cell()]) for row in rows]
        rows[0].cells[-1] = _number_cell(mean, None)
    return rows


def _count_cell(summary: SettingSummary, method: str) -> Cell:
    """Count the data sets where WOLC-ECOC is significantly better, neither, and worse."""
    column = summary.position(method)
    if column is None or method == WOLC:
        return Cell()
    counts = win_tie_loss(-summary.against_control[summary.comparable, column])
    return Cell(text=_counts(counts), value=float(counts[0] - counts[2]))


def time_table(summary: SettingSummary) -> Table:
    """Make a table of mean seconds of training on one fold, by data set and method."""
    methods = shown_methods(summary)
    seconds = [_by_method(summary, row) for row in summary.fit_seconds]
    names = [row_name(summary, row) for row in range(len(summary.data_sets))]
    rows = [Row(name, [_time_cell(value) for value in row]) for name, row in zip(names, seconds, strict=True)]
    footer = []
    if summary.comparable.any():
        means = _by_method(summary, geometric_means(summary.fit_seconds[summary.comparable]))
        footer = [Row("geometric mean", [_time_cell(value) for value in means])]
    return Table(
        name=f"time-{summary.learner}-{summary.response}",
        title=f"Seconds of training on one fold: {setting_title(summary)}",
        corner="data set",
        columns=method_columns(methods),
        keys=methods,
        rows=rows,
        footer=footer,
        notes=[_TIME_NOTE, *notes_on_gaps(summary)],
        records=[
            {"data_set": data_set, "method": method, "fit_seconds": value}
            for data_set, row in zip(summary.data_sets, seconds, strict=True)
            for method, value in zip(methods, row, strict=True)
        ],
    )


def _time_cell(seconds: float | None) -> Cell:
    """Make a cell with three significant digits, no finer than a tenth of a millisecond, without exponents."""
    if seconds is None:
        return Cell()
    decimals = 4 if seconds <= 0 else int(np.clip(2 - np.floor(np.log10(seconds)), 0, 4))
    return Cell(text=f"{seconds:.{decimals}f}", value=seconds)


@dataclass(frozen=True)
class _LengthColumn:
    """Where a column of Table IV comes from: a setting (if it has runs), a method, and which of its lengths."""

    heading: tuple[str, str, str]
    printed: str
    summary: SettingSummary | None
    method: str
    measure: str

    @property
    def key(self) -> str:
        """Name of the column in long form."""
        return "/".join(part for part in self.heading if part != "-")


def code_length_table(summaries: Sequence[SettingSummary], as_printed: Sequence[SettingSummary | None] = ()) -> Table:
    """Make Table IV, how many columns prediction evaluates, from one setting or one of each learner.

    Codes that do not depend on the learner are taken from the first that has runs of them. What WOLC-ECOC has trained
    is added to the paper's columns, and so are the lengths of the paper's algorithm with all of its settings, if given.
    """
    by_learner = {summary.learner: summary for summary in summaries}
    if not summaries or len(by_learner) < len(summaries):
        raise ValueError(f"summaries must hold one setting of each learner, got {len(summaries)} of {len(by_learner)}")
    columns = _length_columns(by_learner, {one.learner: one for one in as_printed if one is not None})
    data_sets = [name for name in DATA_SETS if any(name in summary.data_sets for summary in summaries)]
    records = [[_length_record(column, data_set) for column in columns] for data_set in data_sets]
    other = [summary.response for summary in summaries if summary.response != PAPER_RESPONSES.get(summary.learner)]
    outputs = ", ".join(f"{LEARNERS[learner]} {summary.response}" for learner, summary in by_learner.items())
    gaps = [
        f"{LEARNERS[learner]}: {note}" for learner, summary in by_learner.items() for note in notes_on_gaps(summary)
    ]
    return Table(
        name="-".join(["table4", *other]),
        title=f"Code length: columns that prediction evaluates (outputs: {outputs})",
        corner="data set",
        columns=[column.heading for column in columns],
        keys=[column.key for column in columns],
        rows=[
            Row(name, [_number_cell(cell["length"], cell["published_length"], cell["std"]) for cell in row])
            for name, row in zip(data_sets, records, strict=True)
        ],
        footer=[Row("average", [_average_length(column) for column in zip(*records, strict=True)])],
        notes=[_LENGTH_NOTE, *gaps],
        records=[record for row in records for record in row],
    )


def _length_columns(summaries: dict[str, SettingSummary], as_printed: dict[str, SettingSummary]) -> list[_LengthColumn]:
    """Return the paper's twelve columns, what WOLC-ECOC has trained, and the lengths of the paper's algorithm."""
    columns = [_fixed_column(coding, summaries) for coding in ("one-vs-one", "one-vs-rest", "random-10")]
    for method in (method for method in METHODS if method.startswith("ecoc-one/")):
        columns += [_grown_column(method, learner, summaries, "columns") for learner in LEARNERS]
    columns.append(_fixed_column("decoc", summaries))
    for method, found in ((WOLC, summaries), *([(WOLC_PAPER, as_printed)] if as_printed else [])):
        for measure in ("columns", "trained"):
            columns += [_grown_column(method, learner, found, measure) for learner in LEARNERS]
    return columns


def _fixed_column(coding: str, summaries: dict[str, SettingSummary]) -> _LengthColumn:
    """Column of a code that depends on neither learner nor decoding: the first pair of them that has runs."""
    methods = [method for method in METHODS if method.startswith(f"{coding}/")]
    found = [(summary, method) for summary in summaries.values() for method in methods if method in summary.methods]
    summary, method = found[0] if found else (None, methods[0])
    return _LengthColumn((CODINGS[coding], "-", "-"), CODINGS[coding], summary, method, "columns")


def _grown_column(method: str, learner: str, summaries: dict[str, SettingSummary], measure: str) -> _LengthColumn:
    coding, decoding = printed(method).split("/")
    heading = (coding, decoding if measure == "columns" else "trained", LEARNERS[learner])
    is_published = method in METHODS and measure == "columns"
    printed_heading = length_column(method, learner) if is_published else ""
    return _LengthColumn(heading, printed_heading, summaries.get(learner), method, measure)


def _length_record(column: _LengthColumn, data_set: str) -> dict[str, Any]:
    """Everything about one column on one data set."""
    mean, std, repeats = None, None, 0
    summary = column.summary
    position = None if summary is None else summary.position(column.method)
    if summary is not None and position is not None and data_set in summary.data_sets:
        row = summary.data_sets.index(data_set)
        repeats = int(summary.n_repeats[row])
        mean = _finite(getattr(summary, column.measure)[row, position])
        std = _finite(summary.columns_std[row, position]) if column.measure == "columns" else None
    published = published_code_length().cell(data_set, column.printed) or (None, None, False)
    return {
        "data_set": data_set,
        "column": column.key,
        "length": mean,
        "std": std,
        "n_repeats": repeats,
        "published_length": published[0],
        "published_std": published[1],
    }


def _average_length(column: Sequence[dict[str, Any]]) -> Cell:
    """Average a column over the data sets that have a comparable number of ours."""
    counted = [record for record in column if record["length"] is not None and record["n_repeats"]]
    published = [record["published_length"] for record in counted if record["published_length"] is not None]
    return _number_cell(
        float(np.mean([record["length"] for record in counted])) if counted else None,
        float(np.mean(published)) if published else None,
    )


def can_compare(summary: SettingSummary) -> bool:
    """Tell whether there is something to test: WOLC-ECOC and another method on two data sets."""
    return WOLC in summary.methods and len(summary.methods) > 1 and int(summary.comparable.sum()) > 1


def significance_table(summary: SettingSummary) -> Table:
    """Compare WOLC-ECOC with each other method over data sets, by the tests that are standard today."""
    if not can_compare(summary):
        raise ValueError("summary must have WOLC-ECOC and another method on at least two comparable data sets")
    records = _tests_records(summary)
    return Table(
        name=f"tests-{summary.learner}-{summary.response}",
        title=f"WOLC-ECOC against each method over {summary.n_ranked}: {setting_title(summary)}",
        corner="method",
        columns=list(_TESTS_COLUMNS.values()),
        keys=list(_TESTS_COLUMNS),
        rows=[
            Row(printed(record["method"]), [_tests_cell(key, record[key]) for key in _TESTS_COLUMNS])
            for record in records
        ],
        notes=[*notes_on_tests(summary.scores()), _TESTS_NOTE, *notes_on_gaps(summary)],
        records=records,
    )


def _tests_records(summary: SettingSummary) -> list[dict[str, Any]]:
    """Collect ranks, differences and tests of each method, best average rank first."""
    scores, control = summary.scores(), summary.methods.index(WOLC)
    tests = {test.other: test for test in wilcoxon_holm(scores, control)}
    ranks = summary.ranks()
    records = []
    for column in sorted(range(len(summary.methods)), key=lambda column: ranks[summary.methods[column]]):
        method = summary.methods[column]
        record: dict[str, Any] = {"method": method, **dict.fromkeys(_TESTS_COLUMNS), "rank": ranks[method]}
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
        records.append(record)
    return records


def _counts(counts: tuple[int, int, int]) -> str:
    return "/".join(map(str, counts))


def _tests_cell(key: str, value: float | str | None) -> Cell:
    if value is None or isinstance(value, str):
        return Cell(value or "")
    if key in ("p_value", "holm"):
        return Cell(f"{value:.3f}" if value >= 0.001 else "<0.001", bold=value < _LEVEL, value=value)
    return Cell(f"{value:+.2f}" if key == "difference" else f"{value:.2f}", value=value)


def _by_method(summary: SettingSummary, values: NDArray[np.float64]) -> list[float | None]:
    """Arrange values of the methods that have runs by shown methods; None for the others."""
    found = dict(zip(summary.methods, values, strict=True))
    return [_finite(found[method]) if method in found else None for method in shown_methods(summary)]


def _number_cell(value: float | None, published: float | None, deviation: float | None = None) -> Cell:
    """Make a cell with two decimals."""
    return Cell(_rounded(value), _rounded(deviation), _rounded(published), value=value)


def _rounded(value: float | None) -> str:
    """Write a number with two decimals, nothing for none."""
    return "" if value is None else f"{value:.2f}"


def _finite(value: float | np.floating[Any]) -> float | None:
    return None if np.isnan(value) else float(value)
