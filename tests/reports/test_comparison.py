"""The outcome of a comparison as a table, as CSV and as JSON."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from skecoc.reports.comparison import averages_of, cells_of, comparison_json, comparison_table, conclude
from skecoc.reports.tables import to_csv, to_text
from tests.reports.made import LOG_LOSS, MACRO_F1, make_comparison

BODY = """\
                 one-vs-    dense-
                    one/   random/  sklearn/
                             loss-   random-
                 hamming  weighted    forest
---------------------------------------------
iris                85.0*     85.0*     50.0
<b>&.csv            30.0      70.0*     70.0*
---------------------------------------------
average accuracy    57.5      77.5      60.0
average rank        2.25      1.75      2.00
average columns      3.0       5.0         -"""
ONE = """\
                      accuracy %  +/-       p  columns  fit s
-------------------------------------------------------------
sklearn/random-forest       90.0* 2.0       -        -  0.500
one-vs-one/hamming          80.0  2.0  <0.001      3.0  2.500"""


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
    assert measure(comparison, "columns").tolist() == [[3.0, 5.0, None], [3.0, 5.0, None]]
    assert measure(comparison, "p_value")[:, 2].tolist() == [cells_of(comparison)[2]["p_value"], None]
    assert measure(comparison, "fit_seconds").tolist() == [[0.5] * 3] * 2
    assert measure(comparison, "predict_seconds").tolist() == [[0.25] * 3] * 2
    assert [cell["method"] for cell in cells_of(comparison)] == comparison.methods * 2


def test_seconds_ignore_one_slow_run(comparison):
    slow = [replace(r, fit_seconds=100.0 if r.fold == 0 else 1.0, fold=r.fold) for r in comparison.records]
    third = [replace(r, fold=2, fit_seconds=1.0) for r in comparison.records if r.fold == 1]
    by_place = sorted(slow + third, key=lambda r: ([d["name"] for d in comparison.data_sets].index(r.data_set), r.fold))
    assert measure(replace(comparison, records=by_place), "fit_seconds").tolist() == [[1.0] * 3] * 2


def test_text(comparison):
    title, body, notes, closing = text_of(comparison).split("\n\n")
    assert body == BODY
    assert title == "Mean accuracy in % over the test folds"
    assert notes
    assert closing.startswith("dense-random/loss-weighted has the best average rank over 2 data sets, 1.75; by Nemenyi")


def one_table(**changes):
    """Two methods on one table, one ten points behind in every fold."""
    scores = np.array([[[0.78, 0.8, 0.82], [0.88, 0.9, 0.92]]])
    methods = ["one-vs-one/hamming", "sklearn/random-forest"]
    return make_comparison(scores, methods, columns=[3, 0], seconds=[2.5, 0.5], **changes)


def test_text_of_one_table_has_a_line_for_each_method_and_ends_in_a_command():
    comparison = one_table(fit_command="skecoc fit fruit.csv --target kind --method {method} -o fruit.skops")
    title, body, notes, closing = text_of(comparison).split("\n\n")
    assert title == "accuracy of 2 methods on fruit.csv"
    assert body == ONE
    assert "3 folds" in notes
    *sentence, command = closing.splitlines()
    assert " ".join(sentence) == conclude(comparison).in_full
    assert command == "  skecoc fit fruit.csv --target kind --method sklearn/random-forest -o fruit.skops"


@pytest.mark.parametrize(
    ("metric", "heading", "first"),
    [(MACRO_F1, "macro-F1", ["sklearn/random-forest", "0.900*", "0.020"]),
     (LOG_LOSS, "log-loss", ["one-vs-one/hamming", "0.800*", "0.020"])],
)  # fmt: skip
def test_another_metric_has_its_own_name_and_unit(metric, heading, first):
    lines = text_of(one_table(metric=metric)).splitlines()
    assert lines[0] == f"{heading} of 2 methods on fruit.csv"
    assert lines[2].split()[0] == heading
    assert lines[4].split()[:3] == first
    assert ("less is better" in " ".join(lines)) == (metric is LOG_LOSS)
    several = make_comparison([[[0.25, 0.25], [0.5, 0.5]]] * 2, ["a/b", "c/d"], metric=metric)
    best = "0.250*" if metric is LOG_LOSS else "0.500*"
    assert best in text_of(several)
    assert f"average {heading}" in text_of(several)
    assert "accuracy" not in text_of(several)


def test_control_characters_of_a_name_are_spelt_out():
    text = text_of(one_table(names=["bad\x1b[2J.csv"]))
    assert "on bad\\x1b[2J.csv" in text
    assert "\x1b" not in text


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
    for name in ("accuracy", "score", "std", "rank", "fit_seconds", "predict_seconds"):
        np.testing.assert_array_equal([float(row[name]) for row in rows], measure(comparison, name).ravel())
    assert [row["columns"] for row in rows[:3]] == ["3.0", "5.0", ""]
    assert [row["best"] == "True" for row in rows] == measure(comparison, "best").ravel().tolist()


def test_json_reads_back(comparison):
    content = json.loads(comparison_json(comparison))
    assert list(content) == ["settings", "data_sets", "methods", "cells", "records", "notes", "conclusion"]
    assert content["settings"] == comparison.settings
    assert content["data_sets"] == comparison.data_sets
    assert content["records"] == comparison.to_records()
    assert content["cells"] == cells_of(comparison)
    assert content["notes"] == comparison.notes
    assert content["conclusion"]["recommended"] == "dense-random/loss-weighted"
    assert content["conclusion"]["command"] is None


def test_averages_of_methods(comparison):
    averages = averages_of(comparison)
    assert [row["method"] for row in averages] == comparison.methods
    assert [row["accuracy"] for row in averages] == pytest.approx([0.575, 0.775, 0.6001])
    assert [row["rank"] for row in averages] == [2.25, 1.75, 2.0]
    assert [row["wins"] for row in averages] == [1, 2, 1]
    assert [row["columns"] for row in averages] == [3.0, 5.0, None]
