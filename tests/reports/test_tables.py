import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from skecoc.reports.tables import accuracy_table, averages_of, cells_of, to_csv, to_json, to_text

TEXT = """\
                 one-vs-    dense-
                    one/   random/  sklearn/
                             loss-   output-
                 hamming  weighted      code
iris                85.0*     85.0*     50.0
<b>&.csv            30.0      70.0*     70.0*
---------------------------------------------
average accuracy    57.5      77.5      60.0
average rank        2.25      1.75      2.00
average columns      4.0       5.0       6.0

Mean accuracy in % over the test folds. * is the best of its row as printed; ranks use full
precision, 1 is best, ties share their mean.
"""


def test_averages_ranks_and_marks(comparison):
    table = accuracy_table(comparison)
    np.testing.assert_allclose(table.accuracy, [[0.85, 0.85, 0.5], [0.3, 0.7, 0.7002]])
    np.testing.assert_allclose(table.std[0], [np.sqrt(0.005), np.sqrt(0.005), 0])
    assert table.rank.tolist() == [[1.5, 1.5, 3], [3, 2, 1]]
    assert table.best.tolist() == [[True, True, False], [False, True, True]]
    assert table.columns.tolist() == [[3.5, 4.5, 5.5], [4.5, 5.5, 6.5]]
    assert table.fit_seconds.tolist() == [[1.0] * 3] * 2
    assert table.predict_seconds.tolist() == [[0.25] * 3] * 2


def test_seconds_ignore_one_slow_run(comparison):
    slow = [replace(r, fit_seconds=100.0 if r.fold == 0 else 1.0, fold=r.fold) for r in comparison.records]
    third = [replace(r, fold=2, fit_seconds=1.0) for r in comparison.records if r.fold == 1]
    by_place = sorted(slow + third, key=lambda r: ([d["name"] for d in comparison.data_sets].index(r.data_set), r.fold))
    assert accuracy_table(replace(comparison, records=by_place)).fit_seconds.tolist() == [[1.0] * 3] * 2


def test_text(comparison):
    assert to_text(accuracy_table(comparison)) == TEXT


def test_a_narrow_terminal_gets_blocks_that_fit(comparison):
    text = to_text(accuracy_table(comparison), width=40)
    assert max(len(line) for line in text.splitlines()) <= 40
    assert [line for line in text.splitlines() if line.startswith("iris")] == [
        "iris                85.0*     85.0*",
        "iris                 50.0",
    ]
    wide = to_text(accuracy_table(comparison), width=46)
    assert wide.split("\n\n")[0] == TEXT.split("\n\n", maxsplit=1)[0]


def test_a_terminal_too_narrow_for_anything_still_gets_all_methods(comparison):
    text = to_text(accuracy_table(comparison), width=1)
    assert sum(line.startswith("iris") for line in text.splitlines()) == 3


def test_a_long_name_is_cut_in_text_only(comparison):
    sets = [comparison.data_sets[0], {**comparison.data_sets[1], "name": "x" * 50}]
    table = accuracy_table(replace(comparison, data_sets=sets))
    assert f"\n{'x' * 37}...   " in to_text(table)
    assert "x" * 50 in to_csv(table)


def test_csv_reads_back(comparison):
    table = accuracy_table(comparison)
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [(row["data_set"], row["method"]) for row in rows] == [
        (name, method) for name in table.data_sets for method in table.methods
    ]
    np.testing.assert_array_equal([float(row["accuracy"]) for row in rows], table.accuracy.ravel())
    np.testing.assert_array_equal([float(row["rank"]) for row in rows], table.rank.ravel())
    assert [row["best"] == "True" for row in rows] == table.best.ravel().tolist()


def test_json_reads_back(comparison):
    content = json.loads(to_json(comparison))
    assert list(content) == ["settings", "data_sets", "methods", "cells", "records", "notes"]
    assert content["settings"] == comparison.settings
    assert content["data_sets"] == comparison.data_sets
    assert content["records"] == comparison.to_records()
    assert content["cells"] == cells_of(accuracy_table(comparison))
    assert content["notes"] == comparison.notes


def test_averages_of_methods(comparison):
    averages = averages_of(accuracy_table(comparison))
    assert [row["method"] for row in averages] == comparison.methods
    assert [row["accuracy"] for row in averages] == pytest.approx([0.575, 0.775, 0.6001])
    assert [row["rank"] for row in averages] == [2.25, 1.75, 2.0]
    assert [row["wins"] for row in averages] == [1, 2, 1]
    assert [row["columns"] for row in averages] == [4.0, 5.0, 6.0]
