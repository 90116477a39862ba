"""Pictures of reports, with a name and a text for those who cannot see them.

Values by method and ranks are drawn here, calibration and growth by `skecoc.plotting`.

The same data give the same SVG, byte for byte. They need matplotlib, which is imported when something is drawn: ``pip
install "scikit-ecoc[report]"``.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import combinations
from math import ceil, floor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.statistics import average_ranks, cliques, nemenyi_critical_difference
from skecoc.plotting import plot_convergence
from skecoc.plotting.axes import COLOURS
from skecoc.plotting.probabilities import draw_reliability
from skecoc.support.errors import import_extra
from skecoc.support.scores import ScoreFormat

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Colours of codings; then the same for text, dark enough to be read on white (a contrast of 4.5 at least).
CODING_COLORS = {
    "one-vs-one": (COLOURS[0], "#00629A"),
    "one-vs-rest": (COLOURS[1], "#8A5D00"),
    "random-10": ("#777777", "#5F5F5F"),
    "ecoc-one": (COLOURS[2], "#00704F"),
    "decoc": (COLOURS[3], "#9A4A78"),
    "wolc": (COLOURS[5], "#B34B00"),
}

#: A second sign beside colour; sizes differ, so that one marker on top of another hides no more than its middle.
_MARKERS = {
    "hamming": ("o", 12.5),
    "loss-based": ("s", 9.5),
    "loss-weighted": ("^", 8.0),
    "optimized-weight": ("D", 9.0),
}

_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be found, and read aloud
    "svg.hashsalt": "skecoc",
}
_BLUE = CODING_COLORS["one-vs-one"][0]
#: Measures of the rounds of growth.
GROWTH_MEASURES = {
    "loss": "loss",
    "accuracy": "training accuracy",
    "out_of_fold_accuracy": "out-of-fold accuracy",
}

# Critical-difference diagrams, in inches.
_AXIS_TOP = 0.62
_LINE_HEIGHT = 0.30
_BAR_HEIGHT = 0.11

_GROUP = re.compile(r'<g id="group:([^"|]*)\|([^"]*)">')


@dataclass(frozen=True)
class Picture:
    """A figure with a name for its file, a title and a description."""

    name: str
    title: str
    alt: str
    figure: "Figure"

    def __post_init__(self) -> None:
        # Laid out once and for all: every drawing would move the parts by a little.
        with drawing_style():
            self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def svg(self, *, transparent: bool = False) -> str:
        """Write the figure as an ``<svg>`` element that can stand in a page beside others: its ids begin with `name`.

        What belongs to a method is a group with the class ``method`` and the method's name in ``data-method``.
        """

        def group_element(match: re.Match[str]) -> str:  # what `group_id` says, as attributes and a title
            method, title = match.groups()
            attributes = f' class="method" data-method="{method}"' if method else ""
            return f"<g{attributes}>" + (f"<title>{title}</title>" if title else "")

        file = io.StringIO()
        metadata = {"Date": None, "Creator": None}
        with drawing_style():
            self.figure.savefig(file, format="svg", metadata=metadata, transparent=transparent)
        text = file.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
        text = _GROUP.sub(group_element, text)
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.name}-", text)

    def for_page(self) -> dict[str, str]:
        """Return what a template needs to show the figure; its background is transparent, for dark pages."""
        return {"title": self.title, "svg": self.svg(transparent=True)}

    def png(self, dpi: int = 100) -> bytes:
        """Write the figure as PNG."""
        file = io.BytesIO()
        with drawing_style():
            self.figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
        return file.getvalue()


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in the style of these figures, whatever the user's settings are."""
    import_extra("matplotlib", "report", "a figure")
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure of a size in inches, which pyplot does not manage."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def color_of(method: str, *, text: bool = False) -> str:
    """Return the colour of a method's coding, for shapes or for text."""
    return CODING_COLORS.get(method.split("/", maxsplit=1)[0], ("#000000", "#000000"))[text]


def marker_of(method: str) -> dict[str, Any]:
    """Return arguments of matplotlib's ``plot`` for a method's points: colour by coding, shape and size by decoding."""
    marker, size = _MARKERS.get(method.rpartition("/")[2], ("P", 9.0))
    return {
        "linestyle": "",
        "marker": marker,
        "markersize": size,
        "color": color_of(method),
        "markeredgecolor": "white",
        "gid": group_id(method),
    }


def group_id(method: str = "", text: str = "") -> str:
    """Return the ``gid`` that makes an artist part of a method's group, with a text that is shown above it."""
    return f"group:{method}|{text}"


def values_by_method_picture(
    name: str,
    title: str,
    alt: str,
    *,
    methods: Mapping[str, str],
    data_sets: Sequence[str],
    values: Floats,
    means: Floats,
    x_label: str,
    unit: str,
    log: bool = False,
) -> Picture:
    """Draw a line per method (its key and its label) with a stroke for each data set and a shape for their mean."""
    line_height = 0.45 if any("\n" in label for label in methods.values()) else 0.3
    with drawing_style():
        figure = new_figure(6.4, 0.9 + line_height * len(methods))
        axes = figure.subplots()
        for row, method in enumerate(methods):
            marker = marker_of(method)
            stroke = {**marker, "marker": "|", "markersize": 10.0, "markeredgecolor": color_of(method)}
            for data_set, value in zip(data_sets, values[:, row], strict=True):
                axes.plot(value, row, **{**stroke, "gid": group_id(method, f"{data_set}: {value:.3g} {unit}")})
            axes.plot(means[row], row, **{**marker, "markersize": 8.0})
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        _label_lines(axes, list(methods.values()), x_label)
    return Picture(name, title, alt, figure)


def interval_picture(
    name: str,
    methods: Sequence[str],
    scores: Floats,
    ends: Floats,
    scale: ScoreFormat,
    *,
    marked: str = "",
    baseline: float | None = None,
) -> Picture:
    """Draw a line per method with its score and an interval, of shape (n_methods, 2); one may be marked.

    A dotted line shows the baseline, unless it lies so far off that the methods could not be told apart.
    """
    values = scale.factor * scores
    lows, highs = scale.factor * np.clip(ends, *scale.limits).T
    texts = [
        f"{method}: {scale.text(score)}, {scale.range(low / scale.factor, high / scale.factor)}"
        for method, score, low, high in zip(methods, scores, lows, highs, strict=True)
    ]
    spread = max(float(highs.max() - lows.min()), 1e-9)
    with drawing_style():
        figure = new_figure(5.2, 0.8 + 0.4 * len(methods))
        axes = figure.subplots()
        for row, (method, text) in enumerate(zip(methods, texts, strict=True)):
            color, group = color_of(method), group_id(method, text)
            axes.plot([lows[row], highs[row]], [row, row], color=color, linewidth=2.0, gid=group)
            axes.plot([lows[row], highs[row]], [row, row], "|", color=color, markersize=8.0, gid=group_id(method))
            axes.plot(values[row], row, "o", color=color, markersize=7.0, gid=group)
        if baseline is not None and lows.min() - spread < scale.factor * baseline < highs.max() + spread:
            axes.axvline(
                scale.factor * baseline, color="0.4", linestyle=":", linewidth=1.4, gid=group_id("", "majority class")
            )
        less = "" if scale.higher_is_better else ", less is better"
        x_label = f"{scale.label}{' in %' if scale.in_percent else ''}{less}"
        _label_lines(axes, [method.replace("/", "/\n") for method in methods], x_label)
        for label, method in zip(axes.get_yticklabels(), methods, strict=True):
            label.set_fontweight("bold" if method == marked else "normal")
        axes.locator_params(axis="x", nbins=6)
    return Picture(name, f"{scale.label} by method", "; ".join(texts) + ".", figure)


def _label_lines(axes: "Axes", labels: Sequence[str], x_label: str) -> None:
    """Label lines, of which the first is on top, and the axis of their values."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlabel(x_label)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)


def calibration_picture(bins: Sequence[Mapping[str, float]]) -> Picture:
    """Draw how probable the predicted class of samples is, and how often it is correct, in bins."""
    texts = [
        f"{row['rows']} rows: {100 * row['confidence']:.0f} % probable, {100 * row['accuracy']:.0f} % correct"
        for row in bins
    ]
    values = (np.array([row[name] for row in bins]) for name in ("rows", "confidence", "accuracy"))
    with drawing_style():
        figure = new_figure(5.2, 3.4)
        axes = figure.subplots()
        draw_reliability(axes, *values, colour=_BLUE, label="", ids=[group_id("", text) for text in texts])
        axes.set(xlabel="probability of the predicted class", ylabel="share of rows that are of it")
    return Picture("calibration", "Confidence and accuracy", "; ".join(texts) + ".", figure)


def growth_picture(rounds: Sequence[Mapping[str, Any]], kept: int) -> Picture:
    """Draw loss and accuracy of a grown code by its number of columns, as far as they were measured."""
    history = [
        SimpleNamespace(
            n_columns=row["columns"],
            risk=np.nan,
            **{name: np.nan if row[name] is None else row[name] for name in GROWTH_MEASURES},
        )
        for row in rounds
    ]
    courses = [
        f"{label} from {rounds[0][name]:.3g} to {rounds[-1][name]:.3g}"
        for name, label in GROWTH_MEASURES.items()
        if all(row[name] is not None for row in rounds)
    ]
    with drawing_style():
        figure = new_figure(8.0, 3.2)
        plot_convergence(SimpleNamespace(history_=history, best_round_=kept), figure=figure)
    alt = (
        f"Growth from {rounds[0]['columns']} to {rounds[-1]['columns']} columns: {'; '.join(courses)}. The code "
        f"that is kept has {rounds[kept]['columns']} columns."
    )
    return Picture("growth", "Growth", alt, figure)


def rank_picture(name: str, title: str, methods: Mapping[str, str], scores: Floats) -> Picture:
    """Draw the critical-difference diagram of Demsar (2006): average ranks, and bars over methods that do not differ.

    `methods` are the keys and labels of the columns of `scores`, whose rows are data sets.
    """
    if len(methods) < 2 or not len(scores):
        raise ValueError("ranks need two methods and a data set on which they are comparable")
    ranks = dict(zip(methods, average_ranks(scores).tolist(), strict=True))
    distance = nemenyi_critical_difference(len(ranks), len(scores))
    order = sorted(ranks, key=lambda method: ranks[method])
    differing = [pair for pair in combinations(order, 2) if abs(ranks[pair[0]] - ranks[pair[1]]) >= distance]
    groups = cliques(order, differing)
    n_left = (len(order) + 1) // 2
    labels_top = _AXIS_TOP + _BAR_HEIGHT * (len(groups) + 1) + 0.12
    height = 0.75 + _BAR_HEIGHT * (len(groups) + 1) + _LINE_HEIGHT * n_left
    with drawing_style():
        figure = new_figure(8.0, height)
        axes = figure.subplots()
        low = floor(min(ranks.values()))
        high = max(low + 1, ceil(max(ranks.values())))
        axes.set_xlim(low - 0.32 * (high - low), high + 0.32 * (high - low))
        axes.set_ylim(height, 0.0)  # inches from the top
        axes.axis("off")
        _draw_ranks_axis(axes, low, high, distance)
        for line, group in enumerate(groups):
            y = _AXIS_TOP + _BAR_HEIGHT * (line + 1)
            axes.plot([ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04], [y, y], color="0.15", linewidth=3.5)
        for place, method in enumerate(order):  # a line leads from its rank down and out to its name
            is_left, rank = place < n_left, ranks[method]
            y = labels_top + _LINE_HEIGHT * (place if is_left else len(order) - 1 - place)
            end, sign = (low - 0.3, -1) if is_left else (high + 0.3, 1)
            axes.plot([rank, rank, end], [_AXIS_TOP, y, y], color=color_of(method), linewidth=1.2, gid=group_id(method))
            axes.text(
                end + sign * 0.1,
                y,
                f"{methods[method]}  {rank:.2f}" if is_left else f"{rank:.2f}  {methods[method]}",
                ha="right" if is_left else "left",
                va="center",
                color=color_of(method, text=True),
                gid=group_id(method),
            )
    bars = [f"{methods[group[0]]} to {methods[group[-1]]}" for group in groups]
    together = f"do not differ significantly: {'; '.join(bars)}" if bars else "of methods that do not differ: none"
    alt = (
        f"Critical-difference diagram over {len(scores)} data set{'' if len(scores) == 1 else 's'}. Average ranks, "
        f"best first: {', '.join(f'{methods[method]} {ranks[method]:.2f}' for method in order)}. Groups that by "
        f"Nemenyi's test at 5 % {together}."
    )
    return Picture(name, title, alt, figure)


def _draw_ranks_axis(axes: "Axes", low: int, high: int, distance: float) -> None:
    """Draw the axis of ranks, and above it how far apart ranks must be to differ."""
    axes.plot([low, high], [_AXIS_TOP, _AXIS_TOP], color="black", linewidth=1.0)
    for rank in range(low, high + 1):
        axes.plot([rank, rank], [_AXIS_TOP - 0.06, _AXIS_TOP], color="black", linewidth=1.0)
        axes.text(rank, _AXIS_TOP - 0.1, str(rank), ha="center", va="bottom", fontsize=9)
    y = 0.16
    label = f"critical difference {distance:.2f}"
    if distance > high - low:
        axes.text(low, y, f"{label}, more than the length of the axis", va="center", fontsize=9, color="0.25")
        return
    axes.plot([low, low + distance], [y, y], color="0.35", linewidth=1.2)
    for end in (low, low + distance):
        axes.plot([end, end], [y - 0.05, y + 0.05], color="0.35", linewidth=1.2)
    axes.annotate(label, (low + distance, y), (6, 0), textcoords="offset points", va="center", fontsize=9, color="0.25")
