"""What reports draw is where it should be, and said in words."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from skecoc.reports.charts import (
    calibration_picture,
    curve_picture,
    dot_picture,
    rank_picture,
)


def titles_of(picture):
    """Texts that are shown above parts of a drawing."""
    root = ET.fromstring(picture.svg())  # noqa: S314
    return [element.text for element in root.iter() if element.tag.endswith("}title")]


def test_calibration_is_drawn_where_it_is():
    bins = [{"rows": 1, "confidence": 0.5, "accuracy": 0.0}, {"rows": 100, "confidence": 1.0, "accuracy": 0.75}]
    picture = calibration_picture(bins)
    ideal, *dots = picture.figure.axes[0].lines
    assert list(ideal.get_xdata()) == list(ideal.get_ydata()) == [0, 100]
    assert [(dot.get_xdata()[0], dot.get_ydata()[0]) for dot in dots] == [(50, 0), (100, 75)]
    assert dots[0].get_markersize() < dots[1].get_markersize()
    assert titles_of(picture) == picture.alt.rstrip(".").split("; ")
    assert "100 rows" in picture.alt
    assert len(calibration_picture([]).figure.axes[0].lines) == 1


def test_curves_of_growth():
    curves = {"one": [1.0, 2.0, 3.0], "two": [3.0, 3.0, 1.0]}
    picture = curve_picture("growth", "accuracy", [3, 5, 7], curves, kept=5)
    lines = {line.get_label(): line for line in picture.figure.axes[0].lines}
    for label, values in curves.items():
        assert list(lines.pop(label).get_ydata()) == values
    (kept,) = lines.values()
    assert kept.get_xdata()[0] == 5
    assert all(float(tick).is_integer() for tick in picture.figure.axes[0].get_xticks())
    assert "3 to 7 columns: one from 1 to 3; two from 3 to 1" in picture.alt


def test_dots_of_methods_are_named_after_data_sets():
    values = np.array([[80.0, 70.0], [90.0, 60.0]])
    methods = {"one-vs-one/hamming": "one-vs-one/\nhamming", "a/b": "a/\nb"}
    names = ["<iris> & co", "wine|red"]
    picture = dot_picture(
        "dots", "Title", "Alt.", methods=methods, data_sets=names, values=values, means=values.mean(axis=0),
        x_label="accuracy in %", unit="%",
    )  # fmt: skip
    (axes,) = picture.figure.axes
    places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines]
    assert places == [(80, 0), (90, 0), (85, 0), (70, 1), (60, 1), (65, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(methods.values())
    assert axes.yaxis_inverted()
    assert titles_of(picture) == ["<iris> & co: 80 %", "wine|red: 90 %", "<iris> & co: 70 %", "wine|red: 60 %"]


def test_a_page_gets_a_drawing_without_a_ground():
    picture = curve_picture("growth", "loss", [3, 4], {"loss": [0.5, 0.5]}, kept=3)
    assert "fill: #ffffff" in picture.svg()
    page = picture.for_page()
    assert "fill: #ffffff" not in page["svg"]
    assert page["title"] == "loss"


def test_ranks_need_something_to_rank():
    for scores in (np.ones((3, 1)), np.ones((0, 2))):
        with pytest.raises(ValueError, match="two methods and a data set"):
            rank_picture("r", "Ranks", dict.fromkeys("ab"[: scores.shape[1]], "x"), scores)
