"""The report of a comparison: what it says, and that it is one accessible page that loads nothing."""

import importlib.util
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from skecoc.reports import check_template_engine, render, summarize
from skecoc.support.errors import InputError

VOID = {"meta", "br", "wbr"}


class Page(HTMLParser):
    """Collect what the tests look at; refuse tags that do not nest."""

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
    values = re.findall(r'data-key="([^"]+)" data-value="([^"]+)"', summary["accuracy"])[3:]
    assert values == [
        ("dense-random/loss-weighted", "70"),
        ("sklearn/output-code", "70.02"),
        ("one-vs-one/hamming", "30"),
    ]
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
    assert page.texts["b"] == "85.085.070.070.0"  # the best of each row
    assert page.texts["title"].startswith("Comparison of output codes")


def test_names_from_users_are_escaped(page, html):
    assert html.count("<b>") == 4  # the best numbers of the rows
    assert "<b>&" not in html
    assert html.count("&lt;b&gt;&amp;.csv") > 3  # tables, notes, and the title of every stroke


def test_nothing_is_loaded_from_anywhere(page, html):
    without_names = re.sub(r' xmlns(:\w+)?="[^"]*"', "", html)
    assert "http://" not in without_names
    assert "https://" not in without_names
    assert "url(" not in without_names.replace("url(#", "")
    assert "@import" not in html
    loading = {"src", "href", "srcset", "data", "action", "poster"}
    assert [attributes for _, attributes in page.tags if loading & set(attributes)] == []
    references = [attributes["xlink:href"] for attributes in page.all("use")]
    assert all(reference.startswith("#") for reference in references)
    (policy,) = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_tables_are_accessible(page):
    tables = page.all("table")
    assert len(tables) == len(page.all("caption")) == 3
    assert all(header.get("scope") in {"col", "colgroup", "row"} for header in page.all("th"))
    assert [header["aria-sort"] for header in page.all("th") if "aria-sort" in header] == ["ascending"]
    regions = [attributes for attributes in page.all("div") if attributes.get("role") == "region"]
    headings = {attributes.get("id") for attributes in page.all("h2")}
    assert all(region["tabindex"] == "0" and region["aria-labelledby"] in headings for region in regions)
    assert page.all("html")[0]["lang"] == "en"


def test_the_figure_has_a_dot_per_cell_and_a_text(page, comparison):
    for method in comparison.methods:
        assert len([group for group in page.all("g") if group.get("data-method") == method]) == 2 + 1  # and the mean
    assert "iris: 85 %" in page.texts["title"]
    (svg,) = page.all("svg")
    assert svg["role"] == "img"
    assert "one-vs-one/hamming: mean 57.5 %, from 30.0 to 85.0 %" in svg["aria-label"]


def test_the_page_suits_phones_darkness_and_paper(page, html):
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_notes_are_shown_only_if_there_are_any(comparison):
    with_notes = Page(render("comparison.html.jinja", summarize(comparison)))
    without = Page(render("comparison.html.jinja", summarize(replace(comparison, notes=[]))))
    assert with_notes.texts["li"].endswith("<b>&.csv: a note")
    assert "a note" not in without.texts["li"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_what_a_report_needs_is_named(monkeypatch, missing):
    check_template_engine()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "skecoc.reports.templating.find_spec", lambda name: None if name == missing else find_spec(name)
    )
    with pytest.raises(InputError, match=rf"a report needs {missing}: pip install 'scikit-ecoc\[report\]'"):
        check_template_engine()
