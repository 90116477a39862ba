"""Every number that README, guide and results page quote comes from the stored runs."""

import importlib
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


@pytest.fixture
def readme(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    module = importlib.import_module("_readme")
    monkeypatch.setattr(module, "PRINTED", tmp_path)
    return module


def test_comparison_with_scikit_learn_is_what_the_benchmarks_printed(readme, tmp_path):
    printed = {
        "output_code_accuracy": "logistic\n  average    78.64   72.65\n\ntree\n  average   85.22   81.65\n",
        "stumps": "smallest fit ratio: 48x (at least 15x): ok\nsmallest predict ratio: 27x (at least 10x): ok\n",
        "ensembles": "median: fit 43x, predict 72x; mean accuracy 87.70 against 87.69\n",
        "meta_estimators": (
            "vowel logistic   OneVsOneClassifier  1.04 10.7\nvowel linear SVM OneVsOneClassifier  0.92 4.4\n"
            "vowel logistic   OneVsRestClassifier 1.06  1.4\nvowel naive Bayes OneVsOneClassifier 1.20 20.7\n"
        ),
    }
    for name, text in printed.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    results = [line.split(" | ")[-1].removesuffix(" |") for line in readme.beside_scikit_learn().splitlines()[2:]]
    assert results == [
        "78.6 % against 72.7 %, mean of 14 UCI sets",
        "fits at least 48 times as fast, predicts at least 27 times",
        "median: fits 43 times as fast, predicts 72 times; 87.70 % against 87.69 %",
        "predicts 4.4 to 10.7 times as fast",
    ]
    (tmp_path / "stumps.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match=r"stumps\.txt has nothing like 'smallest fit ratio"):
        readme.beside_scikit_learn()
