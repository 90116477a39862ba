"""The paper's experiment as a whole: which runs its parts need, and what is written."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from sklearn.tree import DecisionTreeClassifier
from study.tests.runs.synthetic import make_many, make_rounds, make_run

from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import make_classifier
from skecoc_study.paper.published import METHODS, TITLES, WOLC_PAPER
from skecoc_study.paper.reproduction import (
    PROTOCOLS,
    STORE_FILE,
    TARGETS,
    outcome_files,
    parts_of,
    read_results,
    write_outcome,
)
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.results import Results
from skecoc_study.runs.runner import run
from skecoc_study.runs.store import Store

STORED = Path(__file__).parents[2] / "results"
LARGE = ("satimage", "optdigits", "pendigits")


@pytest.mark.parametrize("quick", [False, True])
def test_all_parts_make_the_whole_experiment(quick):
    whole = PROTOCOLS["quick" if quick else "paper"]
    # Of the large sets, labels of support vector machines are left out.
    keys = {
        key
        for batch in whole.batches()
        for key in batch.keys
        if key.method in METHODS and ((key.learner, key.response) != ("svm", "labels") or key.data_set not in LARGE)
    }
    for target in ("all", "table4"):
        assert keys <= {key for part in parts_of(target, quick=quick) for batch in part.batches() for key in batch.keys}


def test_the_papers_algorithm_is_run_on_all_sets_but_less_often_where_it_takes_long():
    runs = Counter(
        (key.learner, key.response, key.data_set)
        for part in parts_of("table4")
        for batch in part.batches()
        for key in batch.keys
        if key.method == WOLC_PAPER
    )
    assert (runs["stumps", "labels", "pendigits"], runs["stumps", "probabilities", "pendigits"]) == (100, 10)
    assert (runs["svm", "probabilities", "yeast"], runs["svm", "probabilities", "pendigits"]) == (40, 0)


def test_a_table_needs_the_runs_of_its_learner():
    assert {setting for part in parts_of("table2") for setting in part.settings} == {
        ("stumps", "labels"),
        ("stumps", "probabilities"),
    }
    small, large = parts_of("table3")
    assert (small.repeats_of("svm", "yeast"), large.repeats_of("svm", "pendigits")) == (4, 1)
    assert sorted(large.data_sets) == sorted(LARGE)
    assert (small.settings, large.settings) == (
        (("svm", "labels"), ("svm", "probabilities")),
        (("svm", "probabilities"),),
    )


def test_every_method_of_a_plan_has_a_title_and_makes_a_classifier():
    methods = {method for part in parts_of("all") for method in part.methods}
    assert methods - set(TITLES) == {"wolc-one-vs-rest/optimized-weight"}
    for method in methods:
        assert make_classifier(method, DecisionTreeClassifier(), 0, "labels") is not None


def test_runs_that_are_missing_are_named():
    plan = Protocol("plan", ("iris",), (("stumps", "labels"),), ("one-vs-one/hamming", "wolc-paper"), 1, 2)
    runs = [make_run("iris", method, 0, fold, 5) for method in plan.methods for fold in range(2)]
    rounds = make_rounds("iris", "wolc-paper")
    meta = {"protocols": [plan.to_dict()]}
    assert Results(runs, rounds, meta).missing() == []
    assert Results(runs[1:], rounds, meta).missing() == ["iris/0/0/stumps/labels/one-vs-one/hamming"]
    lost = [record for record in rounds if record.fold == 0]
    assert Results(runs, lost, meta).missing() == ["iris/0/1/stumps/labels/wolc-paper/optimized-weight"]


def test_no_run_of_the_stored_results_is_missing():
    assert read_results(STORED).missing() == []


def test_a_figure_needs_growth_on_its_data_set():
    assert [part.data_sets for part in parts_of("fig6")] == [("dermatology",)]
    (part,) = parts_of("fig7")
    assert part.data_sets == ("vehicle",)
    assert all(method.startswith("wolc-") for method in part.methods)


def test_an_unknown_target_lists_the_valid_ones():
    with pytest.raises(InputError, match=f"'table9' is not known; expected one of {', '.join(TARGETS)}"):
        parts_of("table9")


@pytest.mark.nightly
def test_store_and_compact_files_give_the_same_tables(tmp_path):
    (part,) = parts_of("fig6", quick=True)
    with Store(tmp_path / STORE_FILE) as store:
        run(part, store)
    stored = read_results(tmp_path)
    stored.write(tmp_path / "compact")
    compact = read_results(tmp_path / "compact")
    assert len(stored.runs) == 2 * 3 * 2 * 2
    assert {record.n_correct for record in compact.runs} == {record.n_correct for record in stored.runs}
    assert compact.meta == stored.meta


def test_everything_is_written(tmp_path):
    said = []
    write_outcome(make_many(), tmp_path, said.append)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert found >= {"report.html", "tables/table2.tex", "tables/table3.md", "tables/table4.txt", "figures/fig6.svg"}
    assert found == {str(path) for path, _ in outcome_files(make_many())}
    rows = list(csv.DictReader((tmp_path / "tables" / "table2.csv").open(encoding="utf-8")))
    assert len(rows) == 3 * 16
    assert said == [f"tables, figures and report.html written to {tmp_path}"]


def test_nothing_is_written_without_runs(tmp_path):
    with pytest.raises(InputError, match="there are no runs yet"):
        write_outcome(Results([], [], {}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected results\.sqlite or meta\.json in the folder"):
        read_results(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "tables").write_text("in the way")
    with pytest.raises(InputError, match="cannot make the folder"):
        write_outcome(make_many(), tmp_path)
