"""The report of the paper's experiment: what it says, and what a reader can do with it in a browser."""

import json
from pathlib import Path

import pytest
from study.tests.runs.synthetic import WOLC, make_many
from tests.browser import launch, open_page

from skecoc_study.paper.figures import paper_figures
from skecoc_study.paper.published import METHODS, recomputed_ranks
from skecoc_study.paper.reproduction import report_page, summarize_reproduction
from skecoc_study.paper.tables import paper_tables
from skecoc_study.runs.results import Results

LAST = "decoc/loss-weighted"  # the best but one in `make_many`


@pytest.fixture(scope="module")
def results():
    return make_many()


@pytest.fixture(scope="module")
def path(results, tmp_path_factory):
    path = Path(tmp_path_factory.mktemp("report"), "report.html")
    path.write_text(report_page(*outcome_of(results)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with launch() as browser:
        yield browser


@pytest.fixture
def page(browser, path):
    with open_page(browser, path, viewport={"width": 1200, "height": 900}) as page:
        yield page


def outcome_of(results):
    return results, paper_tables(results), list(paper_figures(results))


def names(page, table):
    return page.locator(f"{table} tbody tr:visible th").all_inner_texts()


def test_the_summary_is_plain_data_with_the_best_method_first(results):
    summary = summarize_reproduction(*outcome_of(results))
    json.dumps(summary, allow_nan=False)
    assert [section["id"] for section in summary["sections"]] == ["stumps-labels", "svm-probabilities"]
    first = summary["sections"][0]["averages"]
    assert [row["key"] for row in first] == list(METHODS)[::-1]
    assert (first[0]["rank"], first[0]["won"], first[-1]["won"], first[-1]["lost"]) == (1.0, 0, 3, 0)
    paper = recomputed_ranks("stumps", ["dermatology", "iris", "vehicle"])
    assert {row["key"]: row["paper_rank"] for row in first} == paper
    assert summary["headlines"][0].startswith(
        "AdaBoost of 40 stumps, outputs as labels: WOLC-ECOC has the average rank 1.00"
    )
    assert summary["notes"] == ["a note"]


def test_a_setting_that_cannot_be_ranked_says_so(results):
    part = Results([run for run in results.runs if run.method != WOLC], [], {})
    assert summarize_reproduction(*outcome_of(part))["headlines"][0].endswith("not enough runs to rank the methods.")


def test_no_runs_are_refused():
    with pytest.raises(ValueError, match="no run of any of the paper"):
        summarize_reproduction(*outcome_of(Results([], [], {})))


def test_the_same_results_give_the_same_page(results, path):
    assert report_page(*outcome_of(results)) == path.read_text(encoding="utf-8")


def test_a_click_on_a_heading_sorts(page):
    table = "#stumps-labels ~ div table.averages >> nth=0"
    rows = page.locator(table).locator("tbody th")
    assert rows.first.inner_text() == "WOLC-ECOC/OW"
    page.locator(table).locator("thead button").nth(1).click()
    assert rows.first.inner_text() == "1vs1/HD"
    page.locator(table).locator("thead button").first.click()
    assert rows.all_inner_texts() == sorted(rows.all_inner_texts(), key=str.lower)


def test_a_table_with_two_lines_of_headings_sorts_by_its_numbers(page):
    heading = page.locator(f'#table2 thead th[data-key="{WOLC}"] button')
    heading.click()
    assert names(page, "#table2") == ["dermatology", "iris", "vehicle"]
    heading.click()
    assert names(page, "#table2") == ["vehicle", "iris", "dermatology"]
    assert page.locator('#table2 th[aria-sort="descending"]').get_attribute("data-key") == WOLC


def test_a_method_that_is_switched_off_leaves_tables_and_figures(page):
    shown = page.locator(f'[data-key="{LAST}"]:visible, [data-method="{LAST}"]:visible')
    drawn = page.locator(f'svg [data-method="{LAST}"]:visible')
    group = page.locator("#table2 thead th", has_text="DECOC")
    before = shown.count()
    assert before > 10
    assert drawn.count() > 0
    assert group.first.evaluate("cell => cell.colSpan") == 3
    box = page.locator(f'input[value="{LAST}"]')
    box.uncheck()
    assert shown.count() == 0
    assert group.first.evaluate("cell => cell.colSpan") == 2
    box.check()
    assert shown.count() == before
    assert group.first.evaluate("cell => cell.colSpan") == 3


def test_a_group_without_methods_leaves_its_heading(page):
    for decoding in ("hamming", "loss-based", "loss-weighted"):
        page.locator(f'input[value="decoc/{decoding}"]').uncheck()
    assert page.locator("#table2 thead th:visible").filter(has_text="DECOC").count() == 0


def test_a_figure_opens_and_grows(page):
    page.locator("button.zoom:visible").first.click()
    drawing = page.locator("dialog .stage svg")
    before = drawing.bounding_box()["width"]
    page.locator("dialog button", has_text="Larger").click()
    assert drawing.bounding_box()["width"] == pytest.approx(1.25 * before, rel=0.02)
    page.locator("dialog button", has_text="Close").click()
    assert not drawing.is_visible()


def test_every_figure_says_what_it_shows(page):
    labels = page.locator('svg[role="img"]').evaluate_all("found => found.map(each => each.getAttribute('aria-label'))")
    assert len(labels) >= 6
    assert all(label and len(label) > 20 for label in labels)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_in_light_and_dark(browser, path, scheme):
    with open_page(browser, path, viewport={"width": 390, "height": 800}, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        paper, ink = page.evaluate(
            "() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; }"
        )
        brightness = [sum(int(part) for part in color[4:-1].split(",")) for color in (paper, ink)]
        assert (brightness[0] > brightness[1]) == (scheme == "light")


def test_controls_are_not_printed(page):
    page.emulate_media(media="print")
    assert page.locator(".controls, nav, .zoom").locator("visible=true").count() == 0
    assert page.locator("#table2").is_visible()
