"""Pages in a real browser: nothing is wider than the window, whatever the names, classes and notes."""

import numpy as np
import pytest

from skecoc import WOLCClassifier
from skecoc.learners import MulticlassLearner, StumpAdaBoostClassifier
from skecoc.reports import render, summarize
from skecoc.reports.model_report import model_page
from skecoc.tables import describe_model
from tests.browser import open_page
from tests.grids import few
from tests.reports.made import make_comparison, make_model, make_test

naive_bayes = pytest.importorskip("sklearn.naive_bayes")
WIDTHS = [400, 1200, 1600]
LONG = "a_name_without_any_place_to_break_it_" * 4
METHODS = [
    "mixed/logistic-weight", "wolc/optimized-weight", "one-vs-one/hamming", "one-vs-one/loss-weighted",
    "one-vs-rest/loss-based", "dense-random/hamming", "dense-random/loss-based", "sparse-random/loss-based",
    "hadamard/loss-based", "decoc/loss-weighted", "forest/loss-weighted", "sklearn/output-code",
    "sklearn/random-forest",
]  # fmt: skip


def long_model():
    """A mixed code of many classes with long names, many columns and many notes."""
    classes = [f"{LONG}{k}" if k % 2 else f"a class whose name has several words, {k}" for k in range(22)]
    learners = [("stumps", StumpAdaBoostClassifier(2)), (LONG, MulticlassLearner(naive_bayes.GaussianNB()))]
    code = WOLCClassifier(learners, init="one-vs-rest", max_iter=2, tol=0.0, random_state=0)
    return make_model(
        classes,
        code,
        [f"{LONG}{k}" for k in range(30)],
        notes=[f"note {k}: {LONG}" for k in range(20)],
        warnings=[f"Something about {LONG}."],
        command=f"skecoc fit {LONG}.csv --target kind -o {LONG}.skops",
        test=make_test(22, data=f"{LONG}.csv"),
    )


def long_comparison(n_data_sets):
    """All default methods on tables with long names."""
    scores = np.random.default_rng(0).uniform(0.6, 0.9, size=(n_data_sets, len(METHODS), 5))
    command = f"skecoc fit {LONG}.csv --target kind --method {{method}} -o {LONG}.skops"
    names = [f"{LONG}{k}.csv" for k in range(n_data_sets)]
    return make_comparison(scores, METHODS, names=names, notes=[f"{LONG}: a note"] * 20, fit_command=command)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files of all pages by their names."""
    pages = {
        "model": model_page(describe_model(long_model())),
        "one table": render("comparison.html.jinja", summarize(long_comparison(1))),
        "several": render("comparison.html.jinja", summarize(long_comparison(3))),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture(params=["model", "one table", "several"])
def path(request, paths):
    return paths[request.param]


@pytest.mark.parametrize("width", few(WIDTHS))
def test_nothing_is_wider_than_the_window(browser, path, width):
    with open_page(browser, path, viewport={"width": width, "height": 900}) as page:
        page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth") == width
        # What is outside of a box that scrolls lies within the window.
        outside = page.evaluate(
            """() => [...document.querySelectorAll("main *")]
              .filter(each => !each.closest(".scroll, .drawing, svg") && each.getBoundingClientRect().width > 0)
              .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
              .map(each => each.outerHTML.slice(0, 80))"""
        )
        assert outside == []


@pytest.mark.parametrize("width", few(WIDTHS[1:]))
def test_tables_of_methods_and_figures_are_not_cut_off_on_a_screen(browser, path, width):
    with open_page(browser, path, viewport={"width": width, "height": 900}) as page:
        boxes = page.locator(".scroll:has(> table.comparison, > table.averages, > table.results), .drawing")
        assert boxes.count() > 1
        assert [box.evaluate("box => box.scrollWidth - box.clientWidth") for box in boxes.all()] == [0] * boxes.count()


@pytest.mark.nightly
def test_captions_are_as_wide_as_the_box_and_not_the_table(browser, path):
    with open_page(browser, path, viewport={"width": 400, "height": 900}) as page:
        page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
        for caption in page.locator("caption span").all():
            assert caption.evaluate("each => each.getBoundingClientRect().width") < 390


def test_folded_lists_open_and_are_printed(browser, paths):
    with open_page(browser, paths["model"], viewport={"width": 1200, "height": 900}) as page:
        notes = page.locator("details:has(> summary:text-is('20 notes'))")
        assert not notes.locator("li").first.is_visible()
        notes.locator("summary").click()
        assert notes.locator("li").first.is_visible()
        page.emulate_media(media="print")
        columns = page.locator("details:has(> summary:text-is('All 30 columns')) table")
        assert columns.bounding_box()["height"] > 100
