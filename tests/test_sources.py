"""Every number that README and documentation state has a source, and every stored result says which code made it."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts._numbers import sections, without_source
from scripts._pages import written_pages
from scripts.measure import MEASUREMENTS, PROVENANCE, RESULTS

ROOT = Path(__file__).resolve().parents[1]


def page_id(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", written_pages(), ids=page_id)
def test_every_number_has_a_source(page):
    missing = {
        section.heading: numbers
        for section in sections(page.read_text(encoding="utf-8"))
        if (numbers := without_source(section))
    }
    assert missing == {}


def provenance(results):
    """What is recorded of every measurement."""
    return json.loads((results / PROVENANCE).read_text(encoding="utf-8"))


def check_stored_files(results):
    """Every stored file says which code made it, and is what that code made."""
    recorded = {file: made["sha256"] for entry in provenance(results).values() for file, made in entry["files"].items()}
    made_from_others = {"meta.json", "provenance.json", "report.html"}
    stored = [
        path.relative_to(results).as_posix()
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.suffix in {".json", ".csv", ".txt", ".gz"} and "tables" not in path.parts
    ]
    assert [name for name in stored if name not in recorded and name not in made_from_others] == []
    digests = {name: hashlib.sha256((results / name).read_bytes()).hexdigest() for name in recorded}
    assert [name for name, digest in digests.items() if digest != recorded[name]] == []


def check_measurements(results, measurements):
    """What is recorded is what the script measures."""
    entries = provenance(results)
    assert sorted(entries) == sorted(measurements)
    for name, entry in entries.items():
        assert sorted(entry["files"]) == sorted(measurements[name].files)
        assert re.fullmatch(r"[0-9a-f]{40}", entry["commit"])


def check_commits(results):
    """Commits that made results are in the history."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists() or (ROOT / ".git" / "shallow").exists():
        pytest.skip("needs the history of the repository")
    done = subprocess.run([git, "log", "--format=%H"], cwd=ROOT, capture_output=True, text=True, check=True)
    history = done.stdout.split()
    assert {name for name, entry in provenance(results).items() if entry["commit"] not in history} == set()


def test_every_stored_file_says_which_code_made_it():
    check_stored_files(RESULTS)


def test_what_is_recorded_is_what_the_script_measures():
    check_measurements(RESULTS, MEASUREMENTS)


def test_commits_are_in_the_history():
    check_commits(RESULTS)


PAGE = """# First

A forest has 91.5 %, boosting 3.2 times the time; versions `1.2.3` and $0.5$ and [x](a-0.3.png) are no measurements.

## Second

Now 7.25 points, in 95 % of 1,250 MB.
<!-- source: stored.txt -->
<!-- given: 95 % -->
"""


def test_numbers_of_prose_are_found_and_looked_up(tmp_path):
    (tmp_path / "stored.txt").write_text("gain 7.2491 of 1250 MB", encoding="utf-8")
    first, second = (section for section in sections(PAGE) if section.heading)
    assert without_source(first, tmp_path) == ["91.5", "3.2"]
    assert without_source(second, tmp_path) == []
    assert without_source(second._replace(given=[]), tmp_path) == ["95"]
    assert without_source(second._replace(numbers=["7.26"]), tmp_path) == ["7.26"]
