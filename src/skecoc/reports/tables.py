"""The outcome of a comparison as a table: text for reading, CSV and JSON for programs."""

import csv
import io
import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.compare import Comparison
from skecoc.benchmarking.statistics import best_per_row, ranks
from skecoc.support.text_layout import align, blocks, join

Floats = NDArray[np.float64]

#: Decimals of a printed accuracy in percent.
DECIMALS = 1

_HEADER_WIDTH = 8
_NAME_WIDTH = 40
_LEGEND = (
    "Mean accuracy in % over the test folds. * is the best of its row as printed; "
    "ranks use full precision, 1 is best, ties share their mean."
)


@dataclass(frozen=True)
class AccuracyTable:
    """Methods by data sets, with the averages over data sets.

    Attributes
    ----------
    data_sets, methods : list of str
        Names of the rows and columns.
    accuracy, std, rank, columns, fit_seconds, predict_seconds : ndarray of shape (n_data_sets, n_methods)
        Mean and standard deviation of the accuracy in [0, 1] over the runs,
        rank within the row, mean code length, median seconds.
    best : ndarray of bool of shape (n_data_sets, n_methods)
        The best of each row at the printed precision, with ties.
    """

    data_sets: list[str]
    methods: list[str]
    accuracy: Floats
    std: Floats
    rank: Floats
    best: NDArray[np.bool_]
    columns: Floats
    fit_seconds: Floats
    predict_seconds: Floats


def accuracy_table(comparison: Comparison) -> AccuracyTable:
    """Average the runs of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Outcome of `skecoc.benchmarking.compare`.

    Returns
    -------
    AccuracyTable
        Means, ranks and best marks. Seconds are medians, which the first run in
        a fresh process (it loads compiled code) does not distort.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming", "one-vs-rest/hamming"], folds=2)
    >>> accuracy_table(result).columns
    array([[3., 3.]])
    """
    runs = comparison.runs("accuracy")
    accuracy = runs.mean(axis=2)
    return AccuracyTable(
        data_sets=[data_set["name"] for data_set in comparison.data_sets],
        methods=comparison.methods,
        accuracy=accuracy,
        std=runs.std(axis=2, ddof=1),
        rank=ranks(accuracy),
        best=best_per_row(100 * accuracy, DECIMALS),
        columns=comparison.runs("n_columns").mean(axis=2),
        fit_seconds=np.median(comparison.runs("fit_seconds"), axis=2),
        predict_seconds=np.median(comparison.runs("predict_seconds"), axis=2),
    )


def to_text(table: AccuracyTable, width: int | None = None) -> str:
    r"""Lay a table out for reading.

    Parameters
    ----------
    table : AccuracyTable
        The table.
    width : int, default=None
        Columns of the terminal. A wider table is broken into blocks of methods,
        each with the names of the data sets; None never breaks it.

    Returns
    -------
    str
        Lines of aligned text, ending in a newline: a row per data set with the
        best methods marked by ``*``, then average accuracy, rank and code
        length.

    Examples
    --------
    >>> row = np.array([[0.9, 0.85]])
    >>> best = np.array([[True, False]])
    >>> rank, length = np.array([[1.0, 2.0]]), np.array([[3.0, 6.0]])
    >>> table = AccuracyTable(["iris"], ["ab/hamming", "cd/hamming"], row, row, rank, best, length, row, row)
    >>> print(to_text(table).split("Mean")[0].strip("\n"))
                         ab/      cd/
                     hamming  hamming
    iris                90.0*    85.0
    ---------------------------------
    average accuracy    90.0     85.0
    average rank        1.00     2.00
    average columns      3.0      6.0
    """
    names = [_shorten(name) for name in table.data_sets]
    names += ["average accuracy", "average rank", "average columns"]
    headers = _headers(table.methods)
    columns = [align(headers[j], _text_cells(table, j)) for j in range(len(table.methods))]
    name_width = max(len(name) for name in names)
    labels = [name.ljust(name_width) for name in [""] * len(headers[0]) + names]
    limit = None if width is None else width - name_width
    parts = [join([labels, *block], [-3]) for block in blocks(columns, limit)]
    return "\n\n".join([*parts, textwrap.fill(_LEGEND, width or 100)]) + "\n"


def to_csv(table: AccuracyTable) -> str:
    """Write a table as CSV, one line per data set and method.

    Parameters
    ----------
    table : AccuracyTable
        The table.

    Returns
    -------
    str
        A header and ``n_data_sets * n_methods`` lines, numbers in full precision.

    Examples
    --------
    >>> row = np.array([[0.5]])
    >>> print(to_csv(AccuracyTable(["iris"], ["a/b"], row, row, row, row > 0, row, row, row)))
    data_set,method,accuracy,std,rank,best,columns,fit_seconds,predict_seconds
    iris,a/b,0.5,0.5,0.5,True,0.5,0.5,0.5
    <BLANKLINE>
    """
    cells = cells_of(table)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(cells[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    return text.getvalue()


def to_json(comparison: Comparison) -> str:
    """Write a comparison as JSON: settings, averages, cells of the table and every run.

    Parameters
    ----------
    comparison : Comparison
        Outcome of `skecoc.benchmarking.compare`.

    Returns
    -------
    str
        One JSON object with the keys ``settings``, ``data_sets``, ``methods``
        (averages over data sets), ``cells`` (data set by method), ``records``
        (every run) and ``notes``; it ends in a newline.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> len(json.loads(to_json(result))["records"])
    2
    """
    table = accuracy_table(comparison)
    content = {
        "settings": comparison.settings,
        "data_sets": comparison.data_sets,
        "methods": averages_of(table),
        "cells": cells_of(table),
        "records": comparison.to_records(),
        "notes": comparison.notes,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def cells_of(table: AccuracyTable) -> list[dict[str, Any]]:
    """Return the cells of a table in long form.

    Parameters
    ----------
    table : AccuracyTable
        The table.

    Returns
    -------
    list of dict
        One per data set and method, row by row, with plain Python values.

    Examples
    --------
    >>> row = np.array([[0.5]])
    >>> cells_of(AccuracyTable(["iris"], ["a/b"], row, row, row, row > 0, row, row, row))[0]["data_set"]
    'iris'
    """
    fields = ("accuracy", "std", "rank", "best", "columns", "fit_seconds", "predict_seconds")
    return [
        {"data_set": data_set, "method": method, **{name: getattr(table, name)[i, j].item() for name in fields}}
        for i, data_set in enumerate(table.data_sets)
        for j, method in enumerate(table.methods)
    ]


def averages_of(table: AccuracyTable) -> list[dict[str, Any]]:
    """Average every method over the data sets.

    Parameters
    ----------
    table : AccuracyTable
        The table.

    Returns
    -------
    list of dict
        One per method: ``method``, the means ``accuracy``, ``rank``,
        ``columns`` and ``fit_seconds``, ``predict_seconds``, and ``wins``, the
        number of data sets where it is (among) the best.

    Examples
    --------
    >>> row = np.array([[0.5], [1.0]])
    >>> averages_of(AccuracyTable(["a", "b"], ["c/d"], row, row, row, row > 0, row, row, row))[0]["accuracy"]
    0.75
    """
    fields = ("accuracy", "rank", "columns", "fit_seconds", "predict_seconds")
    return [
        {
            "method": method,
            **{name: getattr(table, name)[:, j].mean().item() for name in fields},
            "wins": int(table.best[:, j].sum()),
        }
        for j, method in enumerate(table.methods)
    ]


def _text_cells(table: AccuracyTable, position: int) -> list[str]:
    """One method's cells: accuracies with their marks, then the three averages."""
    accuracy = 100 * table.accuracy[:, position]
    marks = ["*" if best else " " for best in table.best[:, position]]
    return [
        *(f"{value:.{DECIMALS}f}{mark}" for value, mark in zip(accuracy, marks, strict=True)),
        f"{accuracy.mean():.{DECIMALS}f} ",
        f"{table.rank[:, position].mean():.2f} ",
        f"{table.columns[:, position].mean():.1f} ",
    ]


def _headers(methods: Sequence[str]) -> list[list[str]]:
    """Break the methods' names into equally many short lines, with the slashes on one line."""
    parts = [method.partition("/") for method in methods]
    codings = _bottom_aligned([_wrap(coding + slash) for coding, slash, _ in parts])
    decodings = _bottom_aligned([_wrap(decoding) for _, _, decoding in parts])
    return [coding + decoding for coding, decoding in zip(codings, decodings, strict=True)]


def _bottom_aligned(texts: list[list[str]]) -> list[list[str]]:
    """Give all texts as many lines as the longest, the empty ones first."""
    height = max(len(lines) for lines in texts)
    return [[""] * (height - len(lines)) + lines for lines in texts]


def _wrap(part: str) -> list[str]:
    """Break a name after hyphens into lines of at most `_HEADER_WIDTH` characters, where hyphens allow it."""
    lines = [""]
    for piece in re.findall(r"[^-]+-?|-", part):
        if lines[-1] and len(lines[-1] + piece) > _HEADER_WIDTH:
            lines.append("")
        lines[-1] += piece
    return lines


def _shorten(name: str) -> str:
    """Cut a very long name."""
    return name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 3]}..."
