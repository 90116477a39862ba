"""`skecoc reproduce` and `skecoc report`, as a user calls them."""

import sqlite3
import subprocess
import sys

import pytest

from skecoc.cli import main
from skecoc_study import commands
from skecoc_study.paper.reproduction import STORE_FILE, TARGETS
from skecoc_study.runs.protocol import Protocol

SMALL = Protocol("small", ("iris", "wine"), (("stumps", "labels"),), ("one-vs-one/hamming", "wolc"), 2, 3)


@pytest.fixture
def small(monkeypatch):
    """A small experiment in place of the paper's."""
    monkeypatch.setattr("skecoc_study.paper.reproduction.parts_of", lambda target, *, quick: [SMALL])


def reproduce(folder, *options):
    return main(["reproduce", "--jobs", "1", "--output", str(folder), *options])


def test_tables_are_printed_and_written(small, tmp_path, capsys):
    assert reproduce(tmp_path / "out", "table2") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Accuracy in %: ")
    assert "written to" in printed.err
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "out" / "tables" / "table2.csv").exists()


def test_a_second_start_runs_nothing_and_gives_the_same(small, tmp_path, capsys, monkeypatch):
    assert reproduce(tmp_path) == 0
    first, table = capsys.readouterr().out, (tmp_path / "tables" / "table2.csv").read_bytes()
    monkeypatch.setattr("skecoc_study.runs.runner.run_batch", lambda *a, **k: pytest.fail("work was done"))
    assert reproduce(tmp_path) == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "tables" / "table2.csv").read_bytes() == table


def test_status_counts_what_is_done(small, tmp_path, capsys):
    assert reproduce(tmp_path) == 0
    with sqlite3.connect(tmp_path / STORE_FILE) as file:
        file.execute("DELETE FROM runs WHERE data_set = 'wine' AND fold = 2")
    file.close()
    capsys.readouterr()
    assert reproduce(tmp_path, "--status") == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("20 of 24 runs done, 0 batches in work; the rest takes one worker about 0:00:0")
    assert [line.split() for line in others] == [["stumps", "labels", "wine", "8", "of", "12"]]


def test_status_without_results_is_refused(small, tmp_path, capsys):
    assert reproduce(tmp_path, "--status") == 2
    assert "there is no" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_store_is_refused_and_untouched(small, tmp_path, capsys):
    (tmp_path / STORE_FILE).write_text("mine")
    assert reproduce(tmp_path) == 2
    assert STORE_FILE in capsys.readouterr().err
    assert (tmp_path / STORE_FILE).read_text() == "mine"


def test_an_unknown_target_is_one_line_and_exit_code_two(tmp_path, capsys):
    assert main(["reproduce", "table9", "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "table2, table3, table4, table5, table6, fig6, fig7, fig8, all" in error
    assert not (tmp_path / "out").exists()


def test_report_writes_compact_results_that_a_report_can_be_made_from(small, tmp_path, capsys):
    assert reproduce(tmp_path / "a") == 0
    assert main(["report", str(tmp_path / "a"), "--output", str(tmp_path / "b"), "--compact"]) == 0
    assert main(["report", str(tmp_path / "b"), "--output", str(tmp_path / "c")]) == 0
    pages = [(tmp_path / name / "tables" / "table2.md").read_text(encoding="utf-8") for name in "abc"]
    assert pages[0] == pages[1] == pages[2]


def test_report_without_results_is_refused(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "expected results.sqlite or meta.json" in capsys.readouterr().err


def test_an_output_that_is_a_file_is_refused(small, tmp_path, capsys):
    (tmp_path / "out").write_text("in the way")
    assert reproduce(tmp_path / "out") == 2
    assert "cannot make the folder" in capsys.readouterr().err


@pytest.mark.nightly
def test_the_installed_command_draws_a_figure_quickly(tmp_path):
    command = [sys.executable, "-m", "skecoc", "reproduce", "fig6", "--quick", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "fig6.svg").exists()


def test_help_lists_what_can_be_reproduced():
    assert commands.TARGETS == TARGETS
