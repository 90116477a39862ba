"""Tables of variants, with boosted stumps and labels as outputs: the paper's algorithm, and the baselines' codes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.reports import Cell, Row, Table
from skecoc_study.paper.published import (
    DATA_SETS,
    FURTHER_METHODS,
    METHODS,
    TITLES,
    WOLC,
    WOLC_PAPER,
    length_column,
    published_accuracy,
    published_code_length,
)
from skecoc_study.paper.summaries import notes_on_gaps, paper_summary
from skecoc_study.runs.results import Results, SettingSummary

_LEARNER, _RESPONSE = SETTING = "stumps", "labels"

#: The codes of the reference library, and the published definitions of the same names.
LIBRARY = {"library-decoc": "decoc", "library-random": "random-10", "library-ecoc-one": "ecoc-one"}
_DECODINGS = ("hamming", "loss-based", "loss-weighted")
_VARIANTS = (
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-weighted",
    WOLC,
    WOLC_PAPER,
    *(method for method in FURTHER_METHODS if method.startswith("wolc")),
    *(f"{coding}/{decoding}" for coding in ("ecoc-one", "ecoc-one-extended") for decoding in _DECODINGS),
)
_VARIANTS_NOTE = (
    "Means over data sets. Three rounds: sets on which the mean run adds columns three times or more. Optimised: share "
    "of the runs whose weights have a certificate and are not equal in each group of columns. wolc-printed predicts by "
    "weights at a vertex, as Algorithm 2 finds them; wolc-paper by those of maximum entropy."
)
_LIBRARY_NOTE = (
    "Means over data sets. Distance: mean absolute difference from the paper's Table II, in points. The codes follow "
    "the reference library; learners, decodings and the order of ties are those of scikit-ecoc. Our own random code is "
    "dense, and the best of many draws by the distance of its rows."
)


def variants_tables(results: Results) -> list[Table]:
    """Make the tables ``table2-variants`` and ``table2-library``, if there are runs of such methods."""
    found = set(results.methods(*SETTING))
    tables = []
    if found & set(_VARIANTS) & set(FURTHER_METHODS):
        tables.append(variants_table(results))
    if found & set(_library_methods()):
        tables.append(library_table(results))
    return tables


def _library_methods() -> list[str]:
    return [f"{coding}/{decoding}" for coding in LIBRARY for decoding in _DECODINGS]


def variants_table(results: Results) -> Table:
    """Compare variants of the paper's algorithm and of ECOC-ONE, averaged over data sets."""
    summary = paper_summary(results, *SETTING, [method for method in _VARIANTS if method in results.methods(*SETTING)])
    records = [_variant_record(results, summary, column) for column in range(len(summary.methods))]
    headings = {
        "accuracy": ("accuracy", "%"),
        "columns": ("columns", "evaluated"),
        "trained": ("columns", "trained"),
        "seconds": ("seconds", "of one-vs-one's"),
        "three_rounds": ("sets with", "three rounds"),
        "optimized": ("optimised", "% of runs"),
    }
    return _averages_table(
        "table2-variants", "Variants of the paper's algorithm", headings, records, [_VARIANTS_NOTE], summary
    )


def _variant_record(results: Results, summary: SettingSummary, column: int) -> dict[str, Any]:
    """Average one method over data sets; what only growth of WOLC-ECOC has is None for other methods."""
    method, rows = summary.methods[column], summary.comparable
    seconds = summary.fit_seconds[rows] / summary.fit_seconds[rows][:, [0]]
    kept = [results.kept_rounds(*SETTING, name, method) for name in summary.ranked_data_sets]
    made = [_mean_rounds(results, name, method) for name in summary.ranked_data_sets]
    return {
        "method": method,
        "accuracy": 100 * float(summary.accuracy[rows, column].mean()),
        "columns": float(summary.columns[rows, column].mean()),
        "trained": float(summary.trained[rows, column].mean()),
        "seconds": float(np.exp(np.log(seconds[:, column]).mean())),
        "three_rounds": sum(number >= 3 for number in made) if all(kept) else None,
        "optimized": 100 * float(np.mean([record.optimized for own in kept for record in own])) if all(kept) else None,
    }


def _mean_rounds(results: Results, data_set: str, method: str) -> float:
    """Mean number of rounds that add columns, in the runs of a WOLC code on a data set; 0 without records."""
    last: dict[tuple[int, int], int] = {}
    for record in results.rounds_of(*SETTING, data_set, method):
        run = record.repeat, record.fold
        last[run] = max(last.get(run, 0), record.round)
    return float(np.mean([*last.values()])) if last else 0.0


def library_table(results: Results) -> Table:
    """Set the codes of the reference library beside those as published, and both beside the paper's Table II."""
    methods = [*(method for method in METHODS if method.partition("/")[0] in LIBRARY.values()), *_library_methods()]
    summary = paper_summary(results, *SETTING, [method for method in methods if method in results.methods(*SETTING)])
    records = []
    for method in _library_methods():
        coding, decoding = method.split("/")
        own = f"{LIBRARY[coding]}/{decoding}"
        if method in summary.methods and own in summary.methods:
            records.append(_library_record(summary, method, own))
    headings = {
        "published_accuracy": ("accuracy %", "paper"),
        "own_accuracy": ("accuracy %", "as published"),
        "library_accuracy": ("accuracy %", "library"),
        "own_distance": ("distance", "as published"),
        "library_distance": ("distance", "library"),
        "published_columns": ("columns", "paper"),
        "own_columns": ("columns", "as published"),
        "library_columns": ("columns", "library"),
    }
    return _averages_table(
        "table2-library", "Codes of the reference library", headings, records, [_LIBRARY_NOTE], summary
    )


def _library_record(summary: SettingSummary, method: str, own: str) -> dict[str, Any]:
    rows = [row for row, name in enumerate(summary.data_sets) if summary.comparable[row] and name in DATA_SETS]
    names = [summary.data_sets[row] for row in rows]
    accuracies, lengths = published_accuracy(_LEARNER), published_code_length()
    theirs = accuracies.mean[[accuracies.data_sets.index(name) for name in names], accuracies.columns.index(own)]
    length = length_column(own, _LEARNER)
    at = [lengths.data_sets.index(name) for name in names]
    found: dict[str, Any] = {
        "method": method,
        "published_accuracy": float(theirs.mean()),
        "published_columns": float(lengths.mean[at, lengths.columns.index(length)].mean()),
    }
    for kind, name in (("own", own), ("library", method)):
        column = summary.methods.index(name)
        accuracy: NDArray[np.float64] = 100 * summary.accuracy[rows, column]
        found[f"{kind}_accuracy"] = float(accuracy.mean())
        found[f"{kind}_distance"] = float(np.abs(accuracy - theirs).mean())
        found[f"{kind}_columns"] = float(summary.columns[rows, column].mean())
    return found


def _averages_table(
    name: str,
    title: str,
    headings: dict[str, tuple[str, str]],
    records: Sequence[dict[str, Any]],
    notes: list[str],
    summary: SettingSummary,
) -> Table:
    """Make a table with one row for each method, and one column for each of some averages."""

    def cell(value: float | None) -> Cell:
        return (
            Cell() if value is None else Cell(f"{value:.1f}" if isinstance(value, float) else str(value), value=value)
        )

    return Table(
        name=name,
        title=f"{title}: AdaBoost of 40 stumps, outputs as labels",
        corner="method",
        columns=list(headings.values()),
        keys=list(headings),
        rows=[Row(TITLES[record["method"]], [cell(record[key]) for key in headings]) for record in records],
        notes=[*notes, *notes_on_gaps(replace(summary, other_methods=[]))],
        records=list(records),
    )
