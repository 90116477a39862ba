"""The paper's Table IV from results: code lengths beside the published ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skecoc.benchmarking.results import SettingSummary
from skecoc.paper.published import (
    CODINGS,
    DATA_SETS,
    LEARNERS,
    METHODS,
    PAPER_RESPONSES,
    WOLC,
    length_column,
    published_code_length,
)
from skecoc.paper.table_notes import notes_on_gaps
from skecoc.reports.table_structure import Cell, Row, Table

_NOTE = (
    "Mean (standard deviation over repeats), then the paper's number. A column of WOLC-ECOC without weight for any "
    "class is trained but not asked. Averages are over the data sets whose runs are comparable."
)


@dataclass(frozen=True)
class _Column:
    """Where a column of the table comes from: a setting (if it has runs), a method, and which of its lengths."""

    heading: tuple[str, str, str]
    printed: str
    summary: SettingSummary | None
    method: str
    measure: str

    @property
    def key(self) -> str:
        """Name of the column in long form."""
        return "/".join(part for part in self.heading if part != "-")


def code_length_table(summaries: Sequence[SettingSummary]) -> Table:
    """Make Table IV: how many columns prediction asks.

    Parameters
    ----------
    summaries : sequence of SettingSummary
        One setting or one of each learner. Codes that do not depend on the learner are taken from the first that has
        runs of them.

    Returns
    -------
    Table
        Mean and standard deviation over repeats, in the paper's columns, and the columns that WOLC-ECOC has trained.

    Raises
    ------
    ValueError
        If there is no setting, or more than one of a learner.

    Examples
    --------
    >>> from skecoc.benchmarking.results import Results
    >>> from skecoc.benchmarking.runs import RunRecord
    >>> from skecoc.paper.protocol import paper_summary
    >>> run = RunRecord("iris", 0, 0, "svm", "margins", "one-vs-one", "hamming", 135, 15, 12, 3, 3, 0.1, 0.01)
    >>> table = code_length_table([paper_summary(Results([run], [], {}), "svm", "margins")])
    >>> table.rows[0].cells[0].text
    '3.00'
    """
    by_learner = {summary.learner: summary for summary in summaries}
    if not summaries or len(by_learner) < len(summaries):
        raise ValueError(f"summaries must hold one setting of each learner, got {len(summaries)} of {len(by_learner)}")
    columns = _columns(by_learner)
    data_sets = [name for name in DATA_SETS if any(name in summary.data_sets for summary in summaries)]
    records = [[_record(column, data_set) for column in columns] for data_set in data_sets]
    other = [summary.response for summary in summaries if summary.response != PAPER_RESPONSES.get(summary.learner)]
    answers = ", ".join(f"{LEARNERS[learner]} {summary.response}" for learner, summary in by_learner.items())
    return Table(
        name="-".join(["table4", *other]),
        title=f"Code length: columns that prediction asks (answers: {answers})",
        corner="data set",
        columns=[column.heading for column in columns],
        keys=[column.key for column in columns],
        rows=[Row(name, [_cell(record) for record in row]) for name, row in zip(data_sets, records, strict=True)],
        footer=_footer(records),
        notes=[
            _NOTE,
            *(
                f"{LEARNERS[learner]}: {note}"
                for learner, summary in by_learner.items()
                for note in notes_on_gaps(summary)
            ),
        ],
        records=[record for row in records for record in row],
    )


def _columns(summaries: dict[str, SettingSummary]) -> list[_Column]:
    """Return the paper's twelve columns, and two of what WOLC-ECOC has trained."""
    columns = [_fixed_column(coding, summaries) for coding in ("one-vs-one", "one-vs-rest", "random-10")]
    for method in (method for method in METHODS if method.startswith("ecoc-one/")):
        columns += [_learner_column(method, learner, summaries, "columns") for learner in LEARNERS]
    columns.append(_fixed_column("decoc", summaries))
    for measure in ("columns", "trained"):
        columns += [_learner_column(WOLC, learner, summaries, measure) for learner in LEARNERS]
    return columns


def _fixed_column(coding: str, summaries: dict[str, SettingSummary]) -> _Column:
    """Column of a code that depends on neither learner nor decoding: the first pair of them that has runs."""
    methods = [method for method in METHODS if method.startswith(f"{coding}/")]
    found = [(summary, method) for summary in summaries.values() for method in methods if method in summary.methods]
    summary, method = found[0] if found else (None, methods[0])
    return _Column((CODINGS[coding], "-", "-"), CODINGS[coding], summary, method, "columns")


def _learner_column(method: str, learner: str, summaries: dict[str, SettingSummary], measure: str) -> _Column:
    """Column of a code that a learner has grown."""
    coding, decoding = METHODS[method].split("/")
    heading = (coding, decoding if measure == "columns" else "trained", LEARNERS[learner])
    printed = length_column(method, learner) if measure == "columns" else ""
    return _Column(heading, printed, summaries.get(learner), method, measure)


def _record(column: _Column, data_set: str) -> dict[str, Any]:
    """Everything about one column on one data set."""
    mean = std = None
    summary = column.summary
    position = None if summary is None else summary.position(column.method)
    repeats = 0
    if summary is not None and position is not None and data_set in summary.data_sets:
        row = summary.data_sets.index(data_set)
        repeats = int(summary.n_repeats[row])
        mean = _finite(getattr(summary, column.measure)[row, position])
        std = _finite(summary.columns_std[row, position]) if column.measure == "columns" else None
    printed = published_code_length().cell(data_set, column.printed)
    return {
        "data_set": data_set,
        "column": column.key,
        "length": mean,
        "std": std,
        "n_repeats": repeats,
        "published_length": None if printed is None else printed[0],
        "published_std": None if printed is None else printed[1],
    }


def _cell(record: dict[str, Any]) -> Cell:
    """Round a record for reading."""
    length, std, published = record["length"], record["std"], record["published_length"]
    return Cell(
        text="" if length is None else f"{length:.2f}",
        deviation="" if std is None else f"{std:.2f}",
        published="" if published is None else f"{published:.2f}",
        value=length,
    )


def _footer(records: list[list[dict[str, Any]]]) -> list[Row]:
    """Average every column over the data sets that have a comparable number of ours."""
    cells = []
    for column in zip(*records, strict=True):
        counted = [record for record in column if record["length"] is not None and record["n_repeats"]]
        if not counted:
            cells.append(Cell())
            continue
        mean = float(np.mean([record["length"] for record in counted]))
        printed = [record["published_length"] for record in counted if record["published_length"] is not None]
        cells.append(Cell(f"{mean:.2f}", published=f"{np.mean(printed):.2f}" if printed else "", value=mean))
    return [Row("average", cells)]


def _finite(value: Any) -> float | None:
    """Turn NaN into None."""
    return None if np.isnan(value) else float(value)
