"""The report of a comparison: what it says, and that it is one accessible page that loads nothing."""

import importlib.util
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from skecoc.compare.statistics import corrected_t_test
from skecoc.reports import check_template_engine, render, summarize
from skecoc.reports.comparison import conclude
from skecoc.support.errors import InputError
from tests.reports.made import LOG_LOSS, MACRO_F1, make_comparison

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
        "sklearn/random-forest",
        "one-vs-one/hamming",
    ]
    values = re.findall(r'data-key="([^"]+)" data-value="([^"]+)"', summary["scores"])[3:]
    assert values == [
        ("dense-random/loss-weighted", "70"),
        ("sklearn/random-forest", "70.02"),
        ("one-vs-one/hamming", "30"),
    ]
    assert summary["conclusion"] == conclude(comparison).sentence
    assert dict(summary["settings"])["Seed"] == "0"
    assert "scikit-learn" in dict(summary["versions"])


SCORES = [[[0.78, 0.8, 0.82], [0.881, 0.904, 0.926]]]
METHODS = ["one-vs-one/hamming", "sklearn/random-forest"]
COMMAND = "skecoc fit fruit.csv --target kind --method {method} -o fruit.skops"


@pytest.fixture
def one():
    """Two methods on one table."""
    return make_comparison(SCORES, METHODS, columns=[3, 0], seconds=[0.1, 2.0], fit_command=COMMAND)


def visible_text(html):
    """What a page shows, without what figures say to those who cannot see them."""
    return re.sub(r"<[^>]+>", " ", re.sub(r"<(style|script|svg|title).*?</\1>", " ", html, flags=re.DOTALL))


def test_on_one_table_no_number_comes_three_times(one):
    text = visible_text(render("comparison.html.jinja", summarize(one)))
    assert text.count("90.4") == 2  # in the first sentence and in the table
    assert text.count("80.0") == 1
    assert "Average" not in text


def test_one_table_has_a_recommendation_and_a_command(one):
    html = render("comparison.html.jinja", summarize(one))
    page = Page(html)
    assert page.texts["h1"] == "Methods compared on fruit.csv"
    assert "Recommended: sklearn/random-forest, with the highest accuracy on fruit.csv, 90.4 %" in page.texts["p"]
    assert page.texts["pre"] == "skecoc fit fruit.csv --target kind --method sklearn/random-forest -o fruit.skops"
    assert "sklearn/random-forest recommended" in page.texts["tr"]
    assert [len(page.all(tag)) for tag in ("table", "svg")] == [1, 1]
    assert "<pre" not in render("comparison.html.jinja", summarize(make_comparison(SCORES, METHODS)))


def test_bars_reach_as_far_as_the_corrected_interval(one):
    (figure,) = summarize(one)["figures"]
    test = corrected_t_test(SCORES[0][0], [0.0] * 3, 0.25)
    label = re.search('aria-label="([^"]*)"', figure["svg"])[1]
    assert f"one-vs-one/hamming: 80.0 %, {100 * test.low:.1f} to {100 * test.high:.1f} %" in label
    assert label.startswith("sklearn/random-forest: 90.4 %")
    wide = summarize(make_comparison([[[0.5, 0.9, 1.0]]], METHODS[:1]))["figures"][0]["svg"]
    assert " to 100.0 %" in wide  # and no further


def test_p_values_and_dashes_stand_in_the_table(one):
    lines = summarize(one)["methods"]
    assert [line["p_text"] for line in lines] == ["–", "<0.001"]
    assert [line["columns_text"] for line in lines] == ["–", "3.0"]
    assert lines[1]["p_value"] == pytest.approx(corrected_t_test(*SCORES[0], 0.25).p_value)


def test_another_metric_has_its_own_name(one):
    for metric, heading in ((MACRO_F1, "Macro-F1"), (LOG_LOSS, "Log-loss")):
        comparison = make_comparison(SCORES, METHODS, metric=metric)
        text = visible_text(render("comparison.html.jinja", summarize(comparison)))
        assert heading in text
        assert "ccuracy" not in text
        assert "0.904" in text
        assert ("less is better" in text) == (metric is LOG_LOSS)


def test_several_data_sets_have_a_picture_of_ranks(page, comparison):
    ranks, scores = page.all("svg")
    assert "Critical-difference diagram over 2 data sets" in ranks["aria-label"]
    assert "dense-random/loss-weighted 1.75" in ranks["aria-label"]
    assert "mean 77.5 %" in scores["aria-label"]
    alone = replace(comparison, methods=comparison.methods[:1], records=comparison.records[::3])
    assert len(Page(render("comparison.html.jinja", summarize(alone))).all("svg")) == 1


def test_no_control_character_reaches_a_page():
    name = "bad\x1b[31m\x07.csv"
    for scores in (SCORES, SCORES * 2):
        names = [name, "b\x9b"][: len(scores)]
        comparison = make_comparison(scores, METHODS, names=names, notes=[f"{name}: a note"])
        html = render("comparison.html.jinja", summarize(comparison))
        assert not set(html) & {"\x1b", "\x07", "\x9b"}
        assert "bad\\x1b[31m\\x07.csv" in html
    assert "\x1b" not in render("base.html.jinja", {"title": "\x1b"})


def test_the_page_nests_and_names_every_method_and_data_set(page, comparison):
    for name in [*comparison.methods, "iris", "<b>&.csv"]:
        assert name in page.texts["table"]
        assert name in page.texts["main"]
    assert page.texts["b"] == "85.085.070.070.0"  # the best of each row
    assert page.texts["h1"] == "Methods compared on 2 data sets"


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
    assert all(region["tabindex"] == "0" for region in regions)
    assert all("aria-label" in region or region["aria-labelledby"] in headings for region in regions)
    assert page.all("html")[0]["lang"] == "en"


def test_the_figures_have_a_dot_per_cell_and_a_text(page, comparison):
    for method in comparison.methods:
        groups = [group for group in page.all("g") if group.get("data-method") == method]
        assert len(groups) == 2 + 1 + 2  # two data sets and their mean; a line and a name among the ranks
    assert "iris: 85 %" in page.texts["title"]
    assert all(svg["role"] == "img" for svg in page.all("svg"))
    assert "one-vs-one/hamming: mean 57.5 %, from 30 to 85 %" in page.all("svg")[1]["aria-label"]


def test_the_page_suits_phones_darkness_and_paper(page, html):
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_notes_are_shown_only_if_there_are_any(comparison):
    with_notes = Page(render("comparison.html.jinja", summarize(comparison)))
    without = Page(render("comparison.html.jinja", summarize(replace(comparison, notes=[]))))
    assert with_notes.texts["li"].endswith("<b>&.csv: a note")
    assert "a note" not in without.texts["li"]
    many = replace(comparison, notes=[f"note {k}" for k in range(20)])
    assert "20 notes" in Page(render("comparison.html.jinja", summarize(many))).texts["summary"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_what_a_report_needs_is_named(monkeypatch, missing):
    check_template_engine()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "skecoc.reports.templating.find_spec", lambda name: None if name == missing else find_spec(name)
    )
    with pytest.raises(InputError, match=rf"a report needs {missing}: pip install 'scikit-ecoc\[report\]'"):
        check_template_engine()
