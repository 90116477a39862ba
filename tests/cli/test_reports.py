"""What fit, inspect and compare print and write about their results: real files in, text and pages out."""

import html
import re
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier

from skecoc.cli import main
from skecoc.persistence import save_model
from tests.reports.made import make_model
from tests.tables.things import write_things

FIT = ["fit", "things.csv", "--target", "kind", "-o", "m.skops", "--method", "one-vs-one/loss-weighted"]
FAST = ["--folds", "2", "--jobs", "1"]
CONTROL = {chr(k) for k in [*range(32), 127, *range(128, 160)]} - {"\n"}


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_page(name):
    """What a page shows: without markup, one space between words."""
    text = Path(name).read_text(encoding="utf-8")
    shown = re.sub(r"<(style|script|svg|title).*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def test_fit_prints_what_its_page_begins_with(work, capsys):
    write_things(work / "things.csv")
    assert main([*FIT, *FAST, "--report", "m.html"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    page = read_page("m.html")
    headline = re.search(r"one-vs-one/loss-weighted: accuracy \d+\.\d %.*? on held-out rows", printed)[0]
    assert page.startswith("Model of things.csv ")
    assert headline in page[: page.index("Methods on held-out rows")]
    assert main(["inspect", "m.skops"]) == 0
    assert headline in " ".join(capsys.readouterr().out.split())
    assert main(["inspect", "m.skops", "--html", "again.html"]) == 0
    assert Path("again.html").read_bytes() == Path("m.html").read_bytes()


def test_a_forest_of_a_table_is_inspected(work, capsys):
    model = make_model(classifier=RandomForestClassifier(3, random_state=0), learner="", method="sklearn/random-forest")
    save_model(model, "m.skops")
    assert main(["inspect", "m.skops"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("sklearn/random-forest, for the 3 classes in column 'kind' of fruit.csv (60 rows)\n")
    assert "always predicting 'b' would have 0.21" in text.replace("\n", " ")
    assert main(["inspect", "m.skops", "--html", "m.html"]) == 0
    page = read_page("m.html")
    assert "macro-F1 0.83 (95 % interval 0.79 to 0.86)" in page
    assert "Code matrix" not in page
    assert "To repeat this skecoc fit fruit.csv" in page


def test_control_characters_of_a_table_reach_neither_terminal_nor_page(work, capsys):
    rows = [f"{k % 3 + k / 100},{k % 2},{'abc'[k % 3]}\x1b[31m" for k in range(30)]
    Path("things.csv").write_text("\n".join(["size\x1b[2J,weight,kind", *rows]))
    assert main([*FIT, *FAST, "--report", "m.html"]) == 0
    assert main(["inspect", "m.skops"]) == 0
    captured = capsys.readouterr()
    assert not CONTROL & set(captured.out + captured.err + Path("m.html").read_text(encoding="utf-8"))
    assert "a\\x1b[31m" in read_page("m.html")
    assert "size\\x1b[2J" in captured.out
    assert main(["inspect", "no\x1b[2J.skops"]) == 2
    assert "no\\x1b[2J.skops" in capsys.readouterr().err


def test_compare_ends_in_a_sentence_that_its_page_begins_with(work, capsys):
    methods = ["--methods", "one-vs-rest/loss-based", "sklearn/logistic"]
    assert main(["compare", "--datasets", "iris", *methods, *FAST, "--report", "c.html"]) == 0
    text = capsys.readouterr().out
    closing = " ".join(text.split("\n\n")[-1].split())
    assert closing.startswith("Recommended: ")
    assert read_page("c.html").startswith(f"Methods compared on iris {closing}")
    assert [line.split()[4] for line in text.splitlines() if line.startswith("sklearn/logistic")] == ["-"]


def test_compare_on_several_data_sets_ends_in_their_ranks(work, capsys):
    methods = ["--methods", "one-vs-rest/loss-based", "sklearn/logistic"]
    assert main(["compare", "--datasets", "iris", "wine", *methods, *FAST, "--report", "c.html"]) == 0
    closing = " ".join(capsys.readouterr().out.split("\n\n")[-1].split())
    assert "the best average rank over 2 data sets" in closing
    assert read_page("c.html").startswith(f"Methods compared on 2 data sets {closing}")
    assert "Critical-difference diagram" in Path("c.html").read_text(encoding="utf-8")
