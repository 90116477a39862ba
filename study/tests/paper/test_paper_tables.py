"""The paper's tables hold our numbers, the paper's beside them, and what is missing."""

import csv
import io
import warnings
from dataclasses import replace

import numpy as np
import pytest
from study.tests.runs.synthetic import STUMPS, SVM, WOLC, make_many, make_results, make_rounds, make_run

from skecoc.compare.statistics import wilcoxon_holm
from skecoc.reports import WRITERS, to_csv, to_text
from skecoc_study.paper.published import DATA_SETS, METHODS, WOLC_PAPER, published_accuracy, recomputed_ranks
from skecoc_study.paper.summaries import paper_summary, summarize_paper
from skecoc_study.paper.tables import (
    accuracy_table,
    can_compare,
    code_length_table,
    paper_tables,
    significance_table,
    time_table,
)
from skecoc_study.runs.results import Results

ONE = "one-vs-one/hamming"


@pytest.fixture(scope="module")
def results():
    return make_many()


@pytest.fixture(scope="module")
def tables(results):
    return paper_tables(results)


def summarize(correct, **changes):
    return paper_summary(make_results(correct, **changes), "stumps", "labels")


def row_of(table, name):
    (row,) = [row for row in [*table.rows, *table.footer] if row.name == name]
    return row


def test_all_tables_of_complete_results(tables):
    assert list(tables) == [
        "table2",
        "table3",
        "table4",
        "time-stumps-labels",
        "-".join(("time", *SVM)),
        "tests-stumps-labels",
        "-".join(("tests", *SVM)),
    ]
    assert all(table.name == name for name, table in tables.items())


def test_other_responses_get_tables_of_their_own():
    settings = (("stumps", "probabilities"), STUMPS, ("svm", "labels"), SVM)
    found = list(paper_tables(make_many(("iris", "wine"), settings)))
    assert found[:4] == ["table2", "table2-probabilities", "table3", "table3-labels"]
    assert found[4:6] == ["table4", "table4-probabilities"]


def test_settings_that_the_paper_does_not_have_are_left_out():
    other = make_results({"iris": {WOLC: [[5]]}}, setting=("trees", "labels"))
    assert paper_tables(other) == {}
    assert paper_tables(make_results({"iris": {"lc-ecoc/hamming": [[5]]}})) == {}


def test_every_cell_has_ours_and_the_papers(results, tables):
    table = tables["table2"]
    assert [row.name for row in table.rows] == ["dermatology", "iris", "vehicle"]
    assert len(table.columns) == len(table.keys) == 16
    assert table.columns[-1] == ("WOLC-ECOC", "OW")
    cell = table.rows[1].cells[-1]
    values = results.values("accuracy", "stumps", "labels", "iris", [WOLC])[0]
    assert cell.text == f"{100 * values.mean():.2f}"
    assert cell.deviation == f"{100 * values.mean(axis=1).std(ddof=1):.2f}"
    assert (cell.published, cell.published_bold) == ("96.03", False)
    assert table.rows[1].cells[3].published_bold  # 1vsALL/HD on Iris is bold in the paper
    assert cell.bold  # the last method has most rows right
    assert not cell.mark
    assert {table.rows[0].cells[0].mark} == {"-"}


def test_ranks_are_ours_the_papers_recomputed_and_as_printed(tables):
    table = tables["table2"]
    ours = row_of(table, "average rank").cells
    assert [cell.text for cell in ours] == [f"{rank:.2f}" for rank in range(16, 0, -1)]
    theirs = recomputed_ranks("stumps", ["dermatology", "iris", "vehicle"])
    assert [cell.published for cell in ours] == [f"{rank:.2f}" for rank in theirs.values()]
    assert row_of(table, "rank as printed").cells[-1].published == "2.14"
    assert row_of(table, "rank as printed").cells[-1].text == ""
    # WOLC-ECOC is significantly better than the first method on all three data sets.
    assert row_of(table, "WOLC-ECOC won/tied/lost").cells[0].text == "3/0/0"
    assert row_of(table, "WOLC-ECOC won/tied/lost").cells[-1].text == ""


def test_methods_are_sorted_by_wins_minus_losses():
    found = {
        "iris": {ONE: [[9, 9], [9, 8]], WOLC: [[5, 5], [5, 4]]},
        "wine": {ONE: [[5, 4], [5, 5]], WOLC: [[5, 5], [5, 4]]},
    }
    cell = row_of(accuracy_table(summarize(found)), "WOLC-ECOC won/tied/lost").cells[0]
    assert (cell.text, cell.value) == ("0/1/1", -1.0)


def test_ranks_of_the_whole_paper_are_the_known_ones():
    table = paper_tables(make_many(tuple(DATA_SETS)))["table2"]
    ranks = row_of(table, "average rank").cells
    assert (ranks[-1].published, ranks[2].published) == ("2.54", "4.57")
    assert not any("data sets have no runs" in note for note in table.notes)
    assert row_of(table, "average accuracy").cells[-1].published == "84.74"


def test_what_is_missing_is_said(tables):
    notes = " ".join(tables["table2"].notes)
    assert "11 of the paper's 14 data sets have no runs: ecoli, wine," in notes
    assert "3 x 2 folds instead of the paper's 10 x 10: all data sets." in notes
    assert "over 3 data sets and 16 methods" in notes


def test_an_incomplete_data_set_shows_how_far_it_is():
    table = accuracy_table(summarize({"iris": {ONE: [[9, 9], [8, 8], [7, 7]], WOLC: [[8, 8], [9, 9], [7, None]]}}))
    assert table.rows[0].name == "iris (2/3)"
    assert table.rows[0].cells[0].text == "85.00"  # the third repeat is left out for both
    assert any("Not complete: iris (2/3)." in note for note in table.notes)
    assert any("Methods without runs: one-vs-one/loss-based" in note for note in table.notes)
    missing = table.rows[0].cells[1]
    assert (missing.text, missing.published, missing.value) == ("", "94.64", None)


def test_a_data_set_that_cannot_be_compared_is_shown_with_its_runs_and_without_marks():
    correct = {"iris": {ONE: [[9, None]], WOLC: [[8, 8]]}, "wine": {ONE: [[9, 8]], WOLC: [[8, 8]]}}
    table = accuracy_table(summarize(correct))
    assert [row.name for row in table.rows] == ["iris (0/1)", "wine"]
    cell = table.rows[0].cells[0]
    assert (cell.text, cell.deviation, cell.remark, cell.bold, cell.mark) == ("90.00", "", "1/2", False, "")
    assert "(1/2)" in to_text(table)
    assert any("Not comparable: iris (0/1)." in note for note in table.notes)
    assert any("over 1 data set and 2 methods" in note for note in table.notes)
    assert row_of(table, "average accuracy").cells[0].text == "85.00"
    theirs = recomputed_ranks("stumps", ["wine"], [ONE, WOLC])
    assert row_of(table, "average rank").cells[0].published == f"{theirs[ONE]:.2f}"


def test_without_a_comparable_data_set_there_are_no_averages():
    table = accuracy_table(summarize({"iris": {ONE: [[9, None]], WOLC: [[None, 8]]}}))
    assert table.footer == []
    assert "average" not in to_text(table)


def test_records_hold_what_the_cells_round(tables):
    records = list(csv.DictReader(io.StringIO(to_csv(tables["table3"]))))
    assert len(records) == 3 * 16
    record = next(r for r in records if (r["data_set"], r["method"]) == ("dermatology", ONE))
    assert record["published_accuracy"] == "96.93"
    assert record["published_bold"] == "True"
    assert record["n_runs"] == record["n_planned"] == "6"
    assert record["against_wolc"] == "-1"
    low, ahead, high = (float(record[name]) for name in ("wolc_ahead_low", "wolc_ahead", "wolc_ahead_high"))
    assert 0 < low < ahead < high
    wolc = next(r for r in records if (r["data_set"], r["method"]) == ("dermatology", WOLC))
    assert ahead == pytest.approx(float(wolc["accuracy"]) - float(record["accuracy"]), abs=1e-5)


def test_other_methods_get_a_column_when_asked_for():
    extra = "lc-ecoc/hamming"
    results = make_results({"iris": {ONE: [[9, 8]], WOLC: [[8, 8]], extra: [[7, 7]]}})
    table = accuracy_table(paper_summary(results, "stumps", "labels", [*METHODS, extra]))
    assert table.columns[-1] == ("lc-ecoc", "HD")
    assert table.rows[0].cells[-1].text == "70.00"
    assert table.rows[0].cells[-1].published == ""
    assert [row_of(table, "average rank").cells[k].text for k in (0, 15, 16)] == ["1.00", "2.00", "3.00"]
    default = accuracy_table(paper_summary(results, "stumps", "labels"))
    assert len(default.columns) == 16
    assert any(f"not compared here: {extra}" in note for note in default.notes)


def test_the_papers_algorithm_stands_beside_wolc_where_it_has_runs():
    correct = {"iris": {ONE: [[9, 8]], WOLC: [[8, 8]], WOLC_PAPER: [[7, 7]]}}
    results = make_results(correct, n_columns=dict.fromkeys(correct["iris"], 5))
    tables = paper_tables(results)
    assert tables["table2"].columns[-2:] == [("WOLC-ECOC", "OW"), ("wolc-paper", "OW")]
    cell = row_of(tables["table2"], "iris").cells[-1]
    assert (cell.text, cell.mark, cell.bold) == ("70.00", "", False)
    assert row_of(tables["table2"], "average accuracy").cells[-1].text == "70.00"
    assert row_of(tables["table2"], "average rank").cells[-1].text == ""
    assert tables["table4"].keys[-2:] == ["wolc-paper/trained/Ada", "wolc-paper/trained/SVM"]
    assert row_of(tables["table4"], "iris").cells[-4].text == "5.00"
    assert row_of(tables["table4"], "iris").cells[-4].published == ""


def test_where_weights_are_not_optimised_the_table_says_so():
    correct = {name: {ONE: [[9, 8]], WOLC: [[8, 8]]} for name in ("iris", "wine")}
    rounds = make_rounds("iris") + [replace(record, optimized=False) for record in make_rounds("wine")]
    results = make_results(correct)
    table = accuracy_table(paper_summary(Results(results.runs, rounds, {}), "stumps", "labels"))
    assert any(
        "Share of the runs whose weights are optimised: wine 0%; all runs of the other" in n for n in table.notes
    )
    assert table.columns[-1] == ("WOLC-ECOC", "OW in 50 % of runs")
    shares = {record["data_set"]: record["optimized"] for record in table.records if record["method"] == WOLC}
    assert shares == {"iris": 1.0, "wine": 0.0}
    silent = accuracy_table(paper_summary(Results(results.runs, make_rounds("iris"), {}), "stumps", "labels"))
    assert not any("optimised" in note for note in silent.notes)


def test_variants_are_averaged_over_data_sets():
    printed, first = "wolc-printed/optimized-weight", "one-vs-one/loss-weighted"
    correct = {"iris": {first: [[9, 8]], printed: [[4, 4]]}, "wine": {first: [[9, 9]], printed: [[6, 6]]}}
    runs = make_results(correct).runs
    rounds = make_rounds("iris", "wolc-printed", lengths=(4, 4)) + make_rounds("wine", "wolc-printed", lengths=(4, 3))
    table = paper_tables(Results(runs, rounds, {}))["table2-variants"]
    assert [row.name for row in table.rows] == ["1vs1/LW", "wolc-printed (Algorithm 2)"]
    texts = [cell.text for cell in table.rows[1].cells]
    assert texts == ["50.0", "4.0", "5.0", "1.0", "1", "100.0"]  # three rounds on iris; two and a half on wine
    assert [cell.text for cell in table.rows[0].cells][-2:] == ["", ""]


def test_codes_of_the_library_stand_beside_those_as_published_and_the_papers():
    own, theirs = "decoc/hamming", "library-decoc/hamming"
    correct = {"iris": {own: [[9, 9]], theirs: [[8, 8]]}, "wine": {own: [[7, 7]], theirs: [[9, 9]]}}
    table = paper_tables(make_results(correct))["table2-library"]
    (record,) = table.records
    published = [published_accuracy("stumps").cell(name, own)[0] for name in ("iris", "wine")]
    assert record["published_accuracy"] == pytest.approx(np.mean(published))
    assert (record["own_accuracy"], record["library_accuracy"]) == (80.0, 85.0)
    assert record["own_distance"] == pytest.approx((abs(90 - published[0]) + abs(70 - published[1])) / 2)
    assert record["library_distance"] == pytest.approx((abs(80 - published[0]) + abs(90 - published[1])) / 2)
    assert record["library_columns"] == 4.0


def test_code_lengths_stand_in_the_papers_columns(tables):
    table = tables["table4"]
    keys = ["1vs1", "1vsALL", "Random"]
    keys += [f"ECOC-ONE/{decoding}/{learner}" for decoding in ("HD", "LB", "LW") for learner in ("Ada", "SVM")]
    keys += ["DECOC", "WOLC-ECOC/OW/Ada", "WOLC-ECOC/OW/SVM", "WOLC-ECOC/trained/Ada", "WOLC-ECOC/trained/SVM"]
    assert table.keys == keys
    lengths = dict(zip(keys, table.rows[0].cells, strict=True))
    expected = {"1vs1": "3.00", "1vsALL": "6.00", "Random": "9.00", "ECOC-ONE/LB/SVM": "13.00", "DECOC": "15.00"}
    expected |= {"WOLC-ECOC/OW/Ada": "18.00", "WOLC-ECOC/trained/SVM": "19.00"}
    assert {key: lengths[key].text for key in expected} == expected
    assert lengths["WOLC-ECOC/OW/Ada"].published == "9.09"
    assert lengths["ECOC-ONE/LB/SVM"].published == "7.30"
    assert lengths["WOLC-ECOC/trained/Ada"].published == ""
    assert lengths["1vs1"].deviation == "0.00"
    average = dict(zip(keys, row_of(table, "average").cells, strict=True))
    assert average["DECOC"].published == f"{np.mean([5, 2, 2]):.2f}"  # dermatology, iris, vehicle


def test_code_lengths_of_one_learner_leave_the_others_empty():
    table = code_length_table([summarize({"iris": {WOLC: [[5, 5]]}}, n_columns={WOLC: 7})])
    cells = dict(zip(table.keys, table.rows[0].cells, strict=True))
    assert cells["WOLC-ECOC/OW/Ada"].text == "7.00"
    assert (cells["WOLC-ECOC/OW/SVM"].text, cells["WOLC-ECOC/OW/SVM"].published) == ("", "5.93")
    assert (cells["1vs1"].text, cells["1vs1"].published) == ("", "3.00")
    assert row_of(table, "average").cells[0].text == ""


def test_code_lengths_need_one_setting_of_each_learner():
    summary = summarize({"iris": {WOLC: [[5]]}})
    for wrong in ([], [summary, summary]):
        with pytest.raises(ValueError, match="one setting of each learner"):
            code_length_table(wrong)


def test_training_times(tables):
    table = tables["time-stumps-labels"]
    assert [table.rows[row].cells[0].text for row in range(3)] == ["0.0100", "0.0200", "0.0300"]
    assert table.footer[0].cells[0].text == f"{6 ** (1 / 3) / 100:.4f}"
    assert table.rows[2].cells[-1].text == "0.480"


def test_long_times_have_no_exponents_and_none_at_all_is_no_error():
    runs = [make_run("iris", WOLC, 0, fold, 5, fit_seconds=seconds) for fold, seconds in enumerate((40000.0, 41000.0))]
    assert time_table(paper_summary(Results(runs, [], {}), "stumps", "labels")).rows[0].cells[-1].text == "40500"
    still = [make_run("iris", WOLC, 0, 0, 5, fit_seconds=0.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert time_table(paper_summary(Results(still, [], {}), "stumps", "labels")).rows[0].cells[-1].text == "0.0000"


def test_comparison_holds_the_tests(results, tables):
    table = tables["tests-stumps-labels"]
    summary = paper_summary(results, "stumps", "labels")
    assert [row.name for row in table.rows] == list(METHODS.values())[::-1]
    first = table.records[-1]
    assert (first["method"], first["rank"], first["signs"], first["t_test"]) == (ONE, 16.0, "3/0/0", "3/0/0")
    test = wilcoxon_holm(summary.scores(), 15)[0]
    assert (first["p_value"], first["holm"]) == (test.p_value, test.adjusted)
    assert first["difference"] == pytest.approx(100 * (summary.accuracy[:, 15] - summary.accuracy[:, 0]).mean())
    assert table.records[0]["p_value"] is None
    assert any("Friedman's chi-squared 45.00" in note for note in table.notes)  # N (k - 1): all agree


def test_nothing_to_compare():
    alone = summarize({"iris": {WOLC: [[5, 5]]}, "wine": {WOLC: [[5, 5]]}})
    one_set = summarize({"iris": {WOLC: [[5, 5]], ONE: [[5, 4]]}})
    without = summarize({"iris": {ONE: [[5, 5]]}, "wine": {ONE: [[5, 5]]}})
    for summary in (alone, one_set, without):
        assert not can_compare(summary)
        with pytest.raises(ValueError, match="WOLC-ECOC and another method"):
            significance_table(summary)


def test_two_methods_have_no_friedman_test():
    table = significance_table(summarize({name: {WOLC: [[9, 9]], ONE: [[5, 4]]} for name in ("iris", "wine")}))
    assert not any("Friedman" in note for note in table.notes)
    assert table.records[1]["signs"] == "2/0/0"


def test_summaries_begin_with_the_papers_responses():
    settings = (("stumps", "probabilities"), STUMPS, ("svm", "labels"), SVM)
    found = [(summary.learner, summary.response) for summary in summarize_paper(make_many(("iris",), settings))]
    assert found == [STUMPS, ("stumps", "probabilities"), SVM, ("svm", "labels")]


@pytest.mark.parametrize("ending", sorted(WRITERS))
def test_every_table_can_be_written(tables, ending):
    for table in tables.values():
        text = WRITERS[ending](table)
        assert text.endswith("\n")
        assert "nan" not in text.lower().replace("finance", "")
