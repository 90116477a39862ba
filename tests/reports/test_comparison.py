"""The outcome of a comparison as a table, as CSV and as JSON."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from skecoc.reports.comparison import averages_of, cells_of, comparison_json, comparison_table
from skecoc.reports.tables import to_csv, to_text

BODY = """\
                 one-vs-    dense-
                    one/   random/  sklearn/
                             loss-   output-
                 hamming  weighted      code
---------------------------------------------
iris                85.0*     85.0*     50.0
<b>&.csv            30.0      70.0*     70.0*
---------------------------------------------
average accuracy    57.5      77.5      60.0
average rank        2.25      1.75      2.00
average columns      4.0       5.0       6.0"""


def text_of(comparison, width=None):
    return to_text(comparison_table(comparison), width, with_deviations=False)


def measure(comparison, name):
    """One measure by data set and method."""
    values = [cell[name] for cell in cells_of(comparison)]
    return np.reshape(values, (len(comparison.data_sets), len(comparison.methods)))


def test_averages_ranks_and_marks(comparison):
    np.testing.assert_allclose(measure(comparison, "accuracy"), [[0.85, 0.85, 0.5], [0.3, 0.7, 0.7002]])
    np.testing.assert_allclose(measure(comparison, "std")[0], [np.sqrt(0.005), np.sqrt(0.005), 0])
    assert measure(comparison, "rank").tolist() == [[1.5, 1.5, 3], [3, 2, 1]]
    assert measure(comparison, "best").tolist() == [[True, True, False], [False, True, True]]
    assert measure(comparison, "columns").tolist() == [[3.5, 4.5, 5.5], [4.5, 5.5, 6.5]]
    assert measure(comparison, "fit_seconds").tolist() == [[1.0] * 3] * 2
    assert measure(comparison, "predict_seconds").tolist() == [[0.25] * 3] * 2
    assert [cell["method"] for cell in cells_of(comparison)] == comparison.methods * 2


def test_seconds_ignore_one_slow_run(comparison):
    slow = [replace(r, fit_seconds=100.0 if r.fold == 0 else 1.0, fold=r.fold) for r in comparison.records]
    third = [replace(r, fold=2, fit_seconds=1.0) for r in comparison.records if r.fold == 1]
    by_place = sorted(slow + third, key=lambda r: ([d["name"] for d in comparison.data_sets].index(r.data_set), r.fold))
    assert measure(replace(comparison, records=by_place), "fit_seconds").tolist() == [[1.0] * 3] * 2


def test_text(comparison):
    title, body, notes = text_of(comparison).split("\n\n")
    assert body == BODY
    assert title
    assert notes


def test_the_table_has_deviations_and_sorts_by_full_numbers(comparison):
    cell = comparison_table(comparison).rows[1].cells[2]
    assert (cell.text, cell.deviation, cell.bold) == ("70.0", "0.0", True)
    assert cell.value == pytest.approx(70.02)


def test_methods_come_in_the_order_given(comparison):
    order = comparison.methods[::-1]
    table, plain = comparison_table(comparison, order), comparison_table(comparison)
    assert table.keys == order
    for found, row in zip([*table.rows, *table.footer], [*plain.rows, *plain.footer], strict=True):
        assert found.cells == row.cells[::-1]


def test_a_narrow_terminal_gets_blocks_that_fit(comparison):
    text = text_of(comparison, width=40)
    assert max(len(line) for line in text.splitlines()) <= 40
    assert [line for line in text.splitlines() if line.startswith("iris")] == [
        "iris                85.0*     85.0*",
        "iris                 50.0",
    ]
    assert text_of(comparison, width=46).split("\n\n")[1] == BODY


def test_a_terminal_too_narrow_for_anything_still_gets_all_methods(comparison):
    text = text_of(comparison, width=1)
    assert sum(line.startswith("iris") for line in text.splitlines()) == 3


def test_csv_reads_back(comparison):
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison_table(comparison), digits=17))))
    assert [(row["data_set"], row["method"]) for row in rows] == [
        (data_set["name"], method) for data_set in comparison.data_sets for method in comparison.methods
    ]
    for name in ("accuracy", "std", "rank", "columns", "fit_seconds", "predict_seconds"):
        np.testing.assert_array_equal([float(row[name]) for row in rows], measure(comparison, name).ravel())
    assert [row["best"] == "True" for row in rows] == measure(comparison, "best").ravel().tolist()


def test_json_reads_back(comparison):
    content = json.loads(comparison_json(comparison))
    assert list(content) == ["settings", "data_sets", "methods", "cells", "records", "notes"]
    assert content["settings"] == comparison.settings
    assert content["data_sets"] == comparison.data_sets
    assert content["records"] == comparison.to_records()
    assert content["cells"] == cells_of(comparison)
    assert content["notes"] == comparison.notes


def test_averages_of_methods(comparison):
    averages = averages_of(comparison)
    assert [row["method"] for row in averages] == comparison.methods
    assert [row["accuracy"] for row in averages] == pytest.approx([0.575, 0.775, 0.6001])
    assert [row["rank"] for row in averages] == [2.25, 1.75, 2.0]
    assert [row["wins"] for row in averages] == [1, 2, 1]
    assert [row["columns"] for row in averages] == [4.0, 5.0, 6.0]
