"""Every number that README, guide and results page quote comes from the stored runs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_tables_and_quoted_numbers_are_those_of_the_stored_runs():
    command = [sys.executable, str(ROOT / "scripts" / "make_results.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_closes_its_blocks():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    counts = {
        page: (page.read_text().count("<!-- results: "), page.read_text().count("<!-- end -->")) for page in pages
    }
    assert all(begun == ended for begun, ended in counts.values())
    assert sum(begun for begun, _ in counts.values()) > 10
