"""Figures draw what the results say, say it in words, and are the same every time."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from study.tests.runs.synthetic import STUMPS, WOLC, make_many, make_results, make_rounds

from skecoc.reports.pictures import CODING_COLORS
from skecoc_study.paper.figures import (
    grown_codes,
    length_picture,
    paper_figures,
    paper_ranks,
    pareto_front,
    time_picture,
)
from skecoc_study.paper.published import METHODS
from skecoc_study.paper.summaries import paper_summary
from skecoc_study.runs.convergence import convergence_alt, convergence_picture, summarize_convergence
from skecoc_study.runs.results import Results

ONE, REST = "one-vs-one/hamming", "one-vs-rest/hamming"


@pytest.fixture(scope="module")
def results():
    return make_many(settings=(STUMPS,))


@pytest.fixture(scope="module")
def summary(results):
    return paper_summary(results, *STUMPS)


@pytest.fixture(scope="module")
def pictures(results):
    return {picture.name: picture for picture in paper_figures(results)}


def artists_of(axes, method):
    return [artist for artist in [*axes.lines, *axes.texts] if (artist.get_gid() or "").startswith(f"group:{method}|")]


def test_all_figures(pictures):
    assert list(pictures) == ["fig6", "fig7", "ranks-stumps-labels", "length-stumps-labels", "time-stumps-labels"]
    for picture in pictures.values():
        assert picture.title
        assert picture.alt.endswith(".")
        assert "nan" not in picture.alt


def test_figures_of_further_codings_have_longer_names(results):
    rounds = make_rounds("vehicle") + make_rounds("vehicle", "wolc-margin") + make_rounds("vehicle", "wolc-paper")
    names = [picture.name for picture in paper_figures(Results([], rounds, {}))]
    assert names == ["fig7", "fig7-stumps-labels-wolc"]


def test_the_same_data_give_the_same_svg(results, pictures, summary):
    again = {"fig6": convergence_picture(results, "dermatology", *STUMPS, name="fig6")}
    again |= {picture.name: picture for picture in (paper_ranks(summary), length_picture(summary))}
    assert len(again) == 3
    for name, picture in again.items():
        first = picture.svg()
        assert first == pictures[name].svg() == picture.svg()  # another drawing, and the same drawn twice


def test_settings_of_the_user_change_nothing(summary, pictures):
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "svg.hashsalt": None, "lines.linewidth": 9}):
        assert time_picture(summary).svg() == pictures["time-stumps-labels"].svg()


def test_svg_is_one_element_that_can_stand_beside_others(pictures):
    ids = []
    for name, picture in pictures.items():
        text = picture.svg()
        root = ET.fromstring(text)  # noqa: S314
        assert root.tag.endswith("svg")
        assert root.get("role") == "img"
        assert root.get("aria-label") == picture.alt
        assert "<metadata" not in text
        found = [element.get("id") for element in root.iter() if element.get("id")]
        assert all(identity.startswith(f"{name}-") for identity in found)
        references = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
        assert set(references) <= set(found)
        ids += found
    assert len(ids) == len(set(ids))


def test_svg_groups_what_belongs_to_a_method(pictures):
    for name in ("ranks-stumps-labels", "length-stumps-labels", "time-stumps-labels"):
        root = ET.fromstring(pictures[name].svg())  # noqa: S314
        groups = {element.get("data-method") for element in root.iter() if element.get("class") == "method"}
        assert groups == set(METHODS)


def test_text_stays_text(pictures):
    assert ">WOLC-ECOC/OW  1.00<" in pictures["ranks-stumps-labels"].svg()


def test_png(pictures):
    assert pictures["fig6"].png(50).startswith(b"\x89PNG")


def test_text_is_dark_enough_on_white():
    for _, color in CODING_COLORS.values():
        channels = np.array(mpl.colors.to_rgb(color))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 4.5


def test_ranks_are_drawn_where_they_are(summary):
    (axes,) = paper_ranks(summary).figure.axes
    for method, rank in summary.ranks().items():
        line, label = artists_of(axes, method)
        assert line.get_xdata()[0] == rank
        assert f"{rank:.2f}" in label.get_text()
        assert METHODS[method] in label.get_text()


def test_bars_and_ruler_of_ranks():
    # Three methods in the same order on five data sets: the critical difference is 1.48, so only 1 and 3 differ.
    correct = {
        name: {ONE: [[9, 9]], REST: [[8, 8]], WOLC: [[7, 7]]} for name in ("iris", "wine", "glass", "ecoli", "vowel")
    }
    picture = paper_ranks(paper_summary(make_results(correct), *STUMPS))
    bars = [line for line in picture.figure.axes[0].lines if line.get_linewidth() == 3.5]
    assert [np.round(bar.get_xdata(), 1).tolist() for bar in bars] == [[1.0, 2.0], [2.0, 3.0]]
    assert any("critical difference 1.48" in text.get_text() for text in picture.figure.axes[0].texts)
    assert "Average ranks, best first: 1vs1/HD 1.00, 1vsALL/HD 2.00, WOLC-ECOC/OW 3.00." in picture.alt
    assert "do not differ significantly: 1vs1/HD to 1vsALL/HD; 1vsALL/HD to WOLC-ECOC/OW." in picture.alt


def test_a_critical_difference_beyond_the_axis_is_only_written():
    picture = paper_ranks(paper_summary(make_results({"iris": {ONE: [[9, 9]], WOLC: [[7, 7]]}}), *STUMPS))
    assert any("more than the length of the axis" in text.get_text() for text in picture.figure.axes[0].texts)


def test_the_front_is_what_nothing_beats():
    costs, gains = np.array([5.0, 6.0, 6.0, 10.0, 20.0, 20.0]), np.array([0.8, 0.9, 0.7, 0.9, 0.95, 0.95])
    assert pareto_front(costs, gains).tolist() == [0, 1, 4]


def test_lengths_and_accuracies_are_drawn_where_they_are(summary):
    picture = length_picture(summary)
    (axes,) = picture.figure.axes
    for column, method in enumerate(summary.methods):
        (point,) = artists_of(axes, method)
        np.testing.assert_allclose(point.get_xdata(), summary.columns[:, column].mean())
        np.testing.assert_allclose(point.get_ydata(), 100 * summary.accuracy[:, column].mean())
    # Every method is longer and more accurate than the one before it.
    assert picture.alt.count(" columns") == 16
    assert [text.get_text() for text in axes.texts] == ["1vs1", "1vsALL", "Random", "ECOC-ONE", "DECOC", "WOLC-ECOC"]


def test_alt_text_says_where_wolc_is_when_it_is_beaten():
    results = make_results({"iris": {ONE: [[9, 9]], WOLC: [[7, 7]]}}, n_columns={ONE: 3, WOLC: 5})
    alt = length_picture(paper_summary(results, *STUMPS)).alt
    assert "than: 1vs1/HD 90.0 % with 3.0 columns. WOLC-ECOC has 70.0 % with 5.0 columns." in alt


def test_times_are_drawn_by_data_set_and_as_geometric_means(summary):
    (axes,) = time_picture(summary).figure.axes
    *strokes, mean = artists_of(axes, WOLC)
    np.testing.assert_allclose([stroke.get_xdata()[0] for stroke in strokes], [0.16, 0.32, 0.48])
    assert strokes[1].get_gid().endswith("|iris: 0.32 s")
    np.testing.assert_allclose(mean.get_xdata(), 0.16 * 6 ** (1 / 3))
    assert axes.get_xscale() == "log"


def test_rounds_are_averaged_and_ended_runs_keep_their_last_values():
    found = summarize_convergence(Results([], make_rounds("vehicle"), {}), "vehicle", *STUMPS)
    # Two runs of 3 and 2 rounds: 1, 1/2, 1/4 and 2, 3/2, (3/2).
    np.testing.assert_allclose(found.objective, [1.5, 1.0, 0.875])
    np.testing.assert_allclose(found.test_accuracy, [0.5, 0.625, (0.75 + 0.625) / 2])
    assert found.n_growing.tolist() == [2, 2, 1]
    assert found.kept == 0.5
    assert found.n_runs == 2


def test_convergence_is_drawn(results):
    picture = convergence_picture(results, "vehicle", *STUMPS)
    left, right = picture.figure.axes
    found = summarize_convergence(results, "vehicle", *STUMPS)
    lines = {line.get_label(): line for line in (*left.lines, *right.lines)}
    np.testing.assert_array_equal(lines["objective"].get_ydata(), found.objective)
    np.testing.assert_array_equal(lines["risk (eq. 7)"].get_ydata(), found.risk)
    np.testing.assert_array_equal(lines["training rows"].get_ydata(), 100 * found.train_accuracy)
    np.testing.assert_array_equal(lines["test rows"].get_ydata(), 100 * found.test_accuracy)
    assert lines["mean round kept"].get_xdata()[0] == found.kept
    heights = [bar.get_height() for bar in left.patches]
    np.testing.assert_allclose(np.array(heights) / heights[0], [1, 1, 0.5])
    assert picture.name == "convergence-vehicle-stumps-labels-wolc"


def test_convergence_in_words(results):
    alt = convergence_alt(summarize_convergence(results, "vehicle", *STUMPS))
    assert "means over 2 runs, rounds 0 to 2" in alt
    assert "The objective goes from 1.5 to 0.875" in alt
    assert "the test accuracy from 50.0 to 68.8. 1 of the runs reach the last round" in alt


def test_grown_codes_begin_with_the_papers():
    rounds = [
        record
        for coding, setting in (
            ("wolc", ("stumps", "probabilities")),
            ("wolc", STUMPS),
            ("wolc-paper", STUMPS),  # which hardly grows, and is not drawn
            ("wolc-one-vs-rest", STUMPS),
            ("wolc-margin", STUMPS),
        )
        for record in make_rounds("iris", coding, setting)
    ]
    found = grown_codes(Results([], rounds, {}), "iris")
    assert [code[2] for code in found] == ["wolc-margin", "wolc-one-vs-rest", "wolc", "wolc"]
    assert found[-1][1] == "probabilities"


def test_nothing_to_draw_is_said():
    with pytest.raises(ValueError, match="no rounds of 'wolc' on 'iris'"):
        summarize_convergence(Results([], [], {}), "iris", *STUMPS)
    with pytest.raises(ValueError, match="two methods and a data set"):
        paper_ranks(paper_summary(make_results({"iris": {WOLC: [[5]]}}), *STUMPS))
    assert list(paper_figures(Results([], [], {}))) == []


def test_incomparable_data_sets_are_not_drawn():
    correct = {"iris": {ONE: [[9, None]], WOLC: [[8, 8]]}, "wine": {ONE: [[9, 8]], WOLC: [[8, 7]]}}
    picture = length_picture(paper_summary(make_results(correct), *STUMPS))
    assert "over 1 data set." in picture.alt
    alone = make_results({"iris": {ONE: [[9, None]], WOLC: [[8, 8]]}})
    assert list(paper_figures(alone)) == []


def test_tables_need_no_matplotlib():
    code = """
import sys
sys.modules["matplotlib"] = None
import skecoc_study.paper.tables, skecoc_study.paper.figures
from skecoc_study.paper.figures import length_picture
from skecoc_study.paper.summaries import paper_summary
from study.tests.runs.synthetic import make_many
summary = paper_summary(make_many(("iris",)), "stumps", "labels")
try:
    length_picture(summary)
except ImportError as error:
    print("matplotlib" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
