import importlib.util
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from skecoc.reports import check_template_engine, render, summarize
from skecoc.reports.figure import MARGIN, WIDTH, dot_plot
from skecoc.support.errors import InputError

VOID = {"meta", "br", "wbr", "line", "rect", "circle"}


class Page(HTMLParser):
    """Collect what the tests ask about; refuse tags that do not nest."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts[tag] = self.texts.get(tag, "") + data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def html(comparison):
    return render("comparison.html.jinja", summarize(comparison))


@pytest.fixture
def page(html):
    return Page(html)


def test_the_summary_is_plain_data_with_the_best_method_first(comparison):
    summary = summarize(comparison)
    json.dumps(summary, allow_nan=False)
    assert [m["method"] for m in summary["methods"]] == [
        "dense-random/loss-weighted",
        "sklearn/output-code",
        "one-vs-one/hamming",
    ]
    assert [round(cell["accuracy"], 6) for cell in summary["rows"][1]["cells"]] == [70.0, 70.02, 30.0]
    assert [cell["best"] for cell in summary["rows"][0]["cells"]] == [True, False, True]
    assert summary["headline"] == (
        "dense-random/loss-weighted has the best average rank over 2 data sets, 1.75, with a mean accuracy of 77.5 %."
    )
    assert dict(summary["settings"])["Seed"] == "0"
    assert "scikit-learn" in dict(summary["versions"])


def test_headline_of_one_data_set_and_of_ties(comparison):
    one = replace(comparison, records=comparison.records[:6], data_sets=comparison.data_sets[:1])
    assert summarize(one)["headline"] == (
        "one-vs-one/hamming and dense-random/loss-weighted are the most accurate on iris: 85.0 %."
    )
    tied = replace(comparison, records=[replace(record, accuracy=0.5) for record in comparison.records])
    assert summarize(tied)["headline"] == (
        "one-vs-one/hamming, dense-random/loss-weighted and sklearn/output-code share the best average rank over "
        "2 data sets, 2.00."
    )


def test_the_page_nests_and_names_every_method_and_data_set(page, comparison):
    for name in [*comparison.methods, "iris", "<b>&.csv"]:
        assert name in page.texts["table"]
        assert name in page.texts["main"]
    assert "85.0*" in page.texts["table"]
    assert page.texts["title"].startswith("Comparison of output codes")


def test_names_from_users_are_escaped(page, html):
    assert page.all("b") == []
    assert "&lt;b&gt;&amp;.csv" in html


def test_nothing_is_loaded_from_anywhere(page, html):
    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    assert "@import" not in html
    loading = {"src", "href", "srcset", "data", "action", "poster"}
    assert [attributes for _, attributes in page.tags if loading & set(attributes)] == []
    (policy,) = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_tables_are_accessible(page):
    tables = page.all("table")
    assert len(tables) == len(page.all("caption")) == 3
    assert all(header.get("scope") in {"col", "row"} for header in page.all("th"))
    assert [header["aria-sort"] for header in page.all("th") if "aria-sort" in header] == ["ascending"]
    regions = [attributes for attributes in page.all("div") if attributes.get("role") == "region"]
    headings = {attributes.get("id") for attributes in page.all("h2")}
    assert all(region["tabindex"] == "0" and region["aria-labelledby"] in headings for region in regions)
    assert page.all("html")[0]["lang"] == "en"


def test_the_figure_has_a_dot_per_cell_and_a_text(page, comparison):
    assert len(page.all("circle")) == 6
    assert len([r for r in page.all("rect") if r.get("class") == "mean"]) == 3
    (svg,) = page.all("svg")
    assert svg["role"] == "img"
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert set(svg["aria-labelledby"].split()) <= ids
    assert "one-vs-one/hamming: mean 57.5 %, from 30.0 to 85.0 %" in page.texts["desc"]


def test_the_page_suits_phones_darkness_and_paper(page, html):
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_notes_are_shown_only_if_there_are_any(comparison):
    with_notes = Page(render("comparison.html.jinja", summarize(comparison)))
    without = Page(render("comparison.html.jinja", summarize(replace(comparison, notes=[]))))
    assert with_notes.texts["li"] == "<b>&.csv: a note"
    assert "li" not in without.texts


def test_without_the_template_engine(monkeypatch):
    monkeypatch.setattr("skecoc.reports.templating.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"a report needs jinja2: pip install 'scikit-ecoc\[report\]'"):
        check_template_engine()


def test_the_template_engine_is_found():
    assert importlib.util.find_spec("jinja2") is not None
    check_template_engine()


@pytest.mark.parametrize(
    ("lowest", "ticks"),
    [
        (100.0, [95, 100]),
        (99.0, [95, 100]),
        (75.0, [75, 80, 85, 90, 95, 100]),
        (74.9, [70, 80, 90, 100]),
        (39.0, [20, 40, 60, 80, 100]),
        (0.0, [0, 20, 40, 60, 80, 100]),
    ],
)
def test_the_axis_holds_all_values(lowest, ticks):
    plot = dot_plot(["a/b"], ["one", "two"], np.array([[lowest], [100.0]]))
    assert [tick["value"] for tick in plot["ticks"]] == ticks
    assert plot["ticks"][0]["x"] == MARGIN
    assert plot["ticks"][-1]["x"] == WIDTH - MARGIN
    assert all(MARGIN <= dot["x"] <= WIDTH - MARGIN for dot in plot["lines"][0]["dots"])


def test_dots_are_placed_in_proportion():
    plot = dot_plot(["a/b"], ["one", "two"], np.array([[80.0], [90.0]]))
    (line,) = plot["lines"]
    assert [dot["x"] for dot in line["dots"]] == [MARGIN, WIDTH / 2]
    assert line["mean_x"] == MARGIN + (WIDTH - 2 * MARGIN) / 4
