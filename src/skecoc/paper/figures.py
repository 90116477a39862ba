"""Figures of an experiment: ranks, accuracy against code length, convergence, training time.

Needs matplotlib, which is imported when something is drawn: ``pip install "scikit-ecoc[plot]"``.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.results import Results, SettingSummary
from skecoc.paper.published import CODINGS, DECODINGS, METHODS, WOLC
from skecoc.paper.rank_picture import rank_picture
from skecoc.paper.table_notes import setting_title
from skecoc.paper.tables import summarize_paper
from skecoc.reports.convergence import convergence_picture, grown_codes
from skecoc.reports.pictures import (
    MARKERS,
    Picture,
    color_of,
    drawing_style,
    marker_of,
    new_figure,
    text_color_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Data sets of the paper's Figures 6 and 7.
_CONVERGENCE = {"fig6": "dermatology", "fig7": "vehicle"}


def paper_figures(results: Results) -> Iterator[Picture]:
    """Draw all figures that results have runs for.

    Parameters
    ----------
    results : Results
        The runs, complete or not.

    Yields
    ------
    Picture
        ``fig6`` and ``fig7`` (convergence; ``fig6-learner-response-coding`` of further settings and codings of
        WOLC-ECOC), and for each setting with data sets to compare ``ranks-learner-response``,
        ``length-learner-response`` and ``time-learner-response``.
    """
    for name, data_set in _CONVERGENCE.items():
        for place, grown in enumerate(grown_codes(results, data_set)):
            yield convergence_picture(results, data_set, *grown, name="-".join([name, *(grown if place else ())]))
    for summary in summarize_paper(results):
        if summary.comparable.any():
            if len(summary.methods) > 1:
                yield rank_picture(summary)
            yield length_picture(summary)
            yield time_picture(summary)


def length_picture(summary: SettingSummary) -> Picture:
    """Draw accuracy against code length, averaged over data sets, with the methods that none beats in both.

    Parameters
    ----------
    summary : SettingSummary
        A setting with at least one comparable data set.

    Returns
    -------
    Picture
        A point per method: colour for the coding, shape for the decoding.
    """
    accuracy, length = _averages(summary)
    front = pareto_front(length, accuracy)
    with drawing_style():
        from matplotlib.ticker import MaxNLocator

        figure = new_figure(7.2, 4.6)
        axes = figure.subplots()
        axes.step(length[front], accuracy[front], where="post", color="0.6", linewidth=1.2, zorder=1)
        for method, x, y in zip(summary.methods, length, accuracy, strict=True):
            axes.plot(x, y, **marker_of(method))
        _name_codings(axes, summary.methods, length, accuracy)
        _add_decoding_legend(axes, summary.methods)
        axes.set_xlabel(f"columns that prediction asks (mean over {summary.n_ranked})")
        axes.set_ylabel("accuracy in % (mean)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(x=0.12, y=0.1)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
    return Picture(
        name=f"length-{summary.learner}-{summary.response}",
        title=f"Accuracy against code length: {setting_title(summary)}",
        alt=length_alt(summary),
        figure=figure,
    )


def length_alt(summary: SettingSummary) -> str:
    """Say in words what `length_picture` shows.

    Parameters
    ----------
    summary : SettingSummary
        The setting.

    Returns
    -------
    str
        The methods of the front, shortest first, and where WOLC-ECOC is if it is not among them.
    """
    accuracy, length = _averages(summary)
    shown = [*pareto_front(length, accuracy)]
    texts = [f"{_printed(summary.methods[k])} {accuracy[k]:.1f} % with {length[k]:.1f} columns" for k in shown]
    alt = (
        f"Scatter plot of mean accuracy against mean code length of {len(summary.methods)} methods over "
        f"{summary.n_ranked}. No method is both shorter and more accurate than: "
        f"{'; '.join(texts)}."
    )
    wolc = summary.position(WOLC)
    if wolc is not None and wolc not in shown:
        alt += f" WOLC-ECOC has {accuracy[wolc]:.1f} % with {length[wolc]:.1f} columns."
    return alt


def pareto_front(costs: Floats, gains: Floats) -> NDArray[np.intp]:
    """Find the methods that no other beats in both cost and gain.

    Parameters
    ----------
    costs : ndarray of shape (n_methods,)
        Lower is better.
    gains : ndarray of shape (n_methods,)
        Higher is better.

    Returns
    -------
    ndarray of int of shape (n_front,)
        Positions in order of growing cost and gain. Of equals the first stays.

    Examples
    --------
    >>> pareto_front(np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.9, 0.5, 0.4, 0.8]))
    array([1, 0])
    """
    order = np.lexsort((-gains, costs))
    best_before = np.concatenate(([-np.inf], np.maximum.accumulate(gains[order])[:-1]))
    return order[gains[order] > best_before]


def time_picture(summary: SettingSummary) -> Picture:
    """Draw how long training takes: a point per data set, and the geometric mean of each method.

    Parameters
    ----------
    summary : SettingSummary
        A setting with at least one comparable data set.

    Returns
    -------
    Picture
        One line per method, seconds on a logarithmic scale.
    """
    seconds, means = _seconds(summary)
    with drawing_style():
        figure = new_figure(7.2, 0.9 + 0.3 * len(summary.methods))
        axes = figure.subplots()
        for row, method in enumerate(summary.methods):
            strokes = {**marker_of(method), "marker": "|", "markersize": 9.0, "markeredgecolor": color_of(method)}
            axes.plot(seconds[:, row], np.full(len(seconds), row), **strokes)
            axes.plot(means[row], row, **{**marker_of(method), "markersize": 8.0})
        axes.set_yticks(range(len(summary.methods)), [_printed(method) for method in summary.methods])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("seconds of training on one fold (strokes: data sets; shapes: geometric means)")
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
    return Picture(
        name=f"time-{summary.learner}-{summary.response}",
        title=f"Training time: {setting_title(summary)}",
        alt=time_alt(summary),
        figure=figure,
    )


def time_alt(summary: SettingSummary) -> str:
    """Say in words what `time_picture` shows.

    Parameters
    ----------
    summary : SettingSummary
        The setting.

    Returns
    -------
    str
        The geometric mean of every method.
    """
    _, means = _seconds(summary)
    texts = [f"{_printed(method)} {mean:.3g} s" for method, mean in zip(summary.methods, means, strict=True)]
    return (
        f"Dot plot of the seconds of training on one fold over {summary.n_ranked}. Geometric means: {', '.join(texts)}."
    )


def _averages(summary: SettingSummary) -> tuple[Floats, Floats]:
    """Mean accuracy in percent and mean code length of every method over comparable data sets."""
    rows = summary.comparable
    return 100 * summary.accuracy[rows].mean(axis=0), summary.columns[rows].mean(axis=0)


def _seconds(summary: SettingSummary) -> tuple[Floats, Floats]:
    """Seconds by comparable data set and method, and their geometric means."""
    seconds = np.maximum(summary.fit_seconds[summary.comparable], 1e-6)  # a clock may not have moved
    return seconds, np.exp(np.log(seconds).mean(axis=0))


def _printed(method: str) -> str:
    """Return the paper's name of a method, where it has one."""
    return METHODS.get(method, method)


def _name_codings(axes: "Axes", methods: list[str], length: Floats, accuracy: Floats) -> None:
    """Write the name of every coding above its highest point."""
    codings = [method.split("/", maxsplit=1)[0] for method in methods]
    for coding in dict.fromkeys(codings):
        members = [k for k, name in enumerate(codings) if name == coding]
        top = max(members, key=lambda k: accuracy[k])
        axes.annotate(
            CODINGS.get(coding, coding),
            (length[top], accuracy[top]),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            color=text_color_of(methods[top]),
            fontweight="bold",
        )


def _add_decoding_legend(axes: "Axes", methods: list[str]) -> None:
    """Explain the shapes."""
    from matplotlib.lines import Line2D

    found = {method.rpartition("/")[2] for method in methods}
    handles = [
        Line2D([], [], linestyle="", marker=marker, color="0.35", label=DECODINGS[decoding])
        for decoding, marker in MARKERS.items()
        if decoding in found
    ]
    handles.append(Line2D([], [], color="0.6", linewidth=1.2, label="not beaten in both"))
    axes.legend(handles=handles, title="decoding", loc="lower right")
