"""What reports draw is where it should be, and said in words."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from skecoc.reports.pictures import (
    calibration_picture,
    growth_picture,
    rank_picture,
    values_by_method_picture,
)


def titles_of(picture):
    """Texts that are shown above parts of a drawing."""
    root = ET.fromstring(picture.svg())  # noqa: S314
    return [element.text for element in root.iter() if element.tag.endswith("}title")]


def test_calibration_is_drawn_where_it_is():
    bins = [{"rows": 1, "confidence": 0.5, "accuracy": 0.0}, {"rows": 100, "confidence": 1.0, "accuracy": 0.75}]
    picture = calibration_picture(bins)
    (axes,) = picture.figure.axes
    ideal = axes.lines[0]
    assert list(ideal.get_xdata()) == list(ideal.get_ydata()) == [0, 1]
    assert [dot.get_offsets().tolist() for dot in axes.collections] == [[[0.5, 0.0]], [[1.0, 0.75]]]
    sizes = [dot.get_sizes()[0] for dot in axes.collections]
    assert sizes[0] < sizes[1]
    assert titles_of(picture) == picture.alt.rstrip(".").split("; ")
    assert "100 rows" in picture.alt
    assert len(calibration_picture([]).figure.axes[0].collections) == 0


def make_growth():
    """Rounds of a description, in which the training accuracy was not measured."""
    losses, accuracies = [0.3, 0.2, 0.25], [0.7, 0.8, 0.75]
    return [
        {"columns": 3 + 2 * k, "loss": loss, "accuracy": None, "out_of_fold_accuracy": accuracy}
        for k, (loss, accuracy) in enumerate(zip(losses, accuracies, strict=True))
    ]


def test_growth_is_drawn_as_far_as_it_was_measured():
    picture = growth_picture(make_growth(), kept=1)
    left, right = picture.figure.axes
    for axes, label, values in ((left, "loss", [0.3, 0.2, 0.25]), (right, "training, out of fold", [0.7, 0.8, 0.75])):
        curve, kept = axes.lines
        assert (curve.get_label(), list(curve.get_xdata()), list(curve.get_ydata())) == (label, [3, 5, 7], values)
        assert kept.get_xdata()[0] == 5
    assert picture.alt == (
        "Growth from 3 to 7 columns: loss from 0.3 to 0.25; out-of-fold accuracy from 0.7 to 0.75. The code that is "
        "kept has 5 columns."
    )


def test_dots_of_methods_are_named_after_data_sets():
    values = np.array([[80.0, 70.0], [90.0, 60.0]])
    methods = {"one-vs-one/hamming": "one-vs-one/\nhamming", "a/b": "a/\nb"}
    names = ["<iris> & co", "wine|red"]
    picture = values_by_method_picture(
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
    picture = growth_picture(make_growth(), kept=0)
    assert "fill: #ffffff" in picture.svg()
    page = picture.for_page()
    assert "fill: #ffffff" not in page["svg"]
    assert page["title"] == "Growth"


def test_ranks_need_something_to_rank():
    for scores in (np.ones((3, 1)), np.ones((0, 2))):
        with pytest.raises(ValueError, match="two methods and a data set"):
            rank_picture("r", "Ranks", dict.fromkeys("ab"[: scores.shape[1]], "x"), scores)
