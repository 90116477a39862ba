"""Pages of the study are true: code runs, links lead somewhere, and every number has a source that code has made."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts._numbers import sections, without_source
from scripts._pages import figure_of, python_blocks, written_pages
from study.scripts.measure_study import MEASUREMENTS, RESULTS
from tests import test_docs, test_sources

ROOT = Path(__file__).resolve().parents[2]
PAGES = written_pages(ROOT / "study")


def page_id(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_code_of_the_page_runs_prints_what_is_shown_and_draws_its_figures(page, tmp_path, monkeypatch):
    test_docs.test_code_of_the_page_runs_prints_what_is_shown_and_draws_its_figures(page, tmp_path, monkeypatch)


def test_the_page_on_music_has_a_figure_that_its_own_code_draws():
    page = ROOT / "study" / "docs" / "music.md"
    assert any(map(figure_of, python_blocks(page.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_of_the_page_lead_somewhere(page):
    assert test_docs.broken_targets(page) == []


def test_every_page_can_be_reached_from_the_first_one():
    assert set(PAGES) <= test_docs.linked_pages(ROOT / "study" / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_number_has_a_source(page):
    missing = {
        section.heading: numbers
        for section in sections(page.read_text(encoding="utf-8"))
        if (numbers := without_source(section))
    }
    assert missing == {}


@pytest.mark.nightly
def test_tables_and_quoted_numbers_are_those_of_the_stored_runs():
    command = [sys.executable, str(ROOT / "study" / "scripts" / "make_study_results.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_stored_file_says_which_code_made_it():
    test_sources.check_stored_files(RESULTS)
    test_sources.check_measurements(RESULTS, MEASUREMENTS)
    test_sources.check_commits(RESULTS)
