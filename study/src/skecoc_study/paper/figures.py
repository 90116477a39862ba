"""Figures of the paper's experiment: convergence, ranks, accuracy against code length, training time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skecoc.reports import (
    Picture,
    color_of,
    drawing_style,
    marker_of,
    new_figure,
    rank_picture,
    values_by_method_picture,
)
from skecoc_study.paper.published import CODINGS, DECODINGS, WOLC
from skecoc_study.paper.summaries import geometric_means, printed, setting_title, summarize_paper
from skecoc_study.runs.convergence import convergence_picture
from skecoc_study.runs.results import Results, SettingSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Data sets of the paper's Figures 6 and 7.
CONVERGENCE_DATA = {"fig6": "dermatology", "fig7": "vehicle"}

#: Codings of WOLC-ECOC whose growth is drawn, in this order: weights that are optimised in every round on training
#: outputs, as the paper's are, then growth that is judged out of fold.
_WOLC_CODINGS = ("wolc-margin", "wolc-one-vs-rest", "wolc")


def paper_figures(results: Results) -> Iterator[Picture]:
    """Draw all figures that results have runs for.

    ``fig6`` and ``fig7`` show convergence (``fig6-learner-response-coding`` that of further settings and codings of
    WOLC-ECOC); each setting with data sets to compare has ``ranks-``, ``length-`` and ``time-learner-response``.
    """
    for name, data_set in CONVERGENCE_DATA.items():
        for place, grown in enumerate(grown_codes(results, data_set)):
            yield convergence_picture(results, data_set, *grown, name="-".join([name, *(grown if place else ())]))
    for summary in summarize_paper(results):
        if summary.comparable.any():
            if len(summary.methods) > 1:
                yield paper_ranks(summary)
            yield length_picture(summary)
            yield time_picture(summary)


def grown_codes(results: Results, data_set: str) -> list[tuple[str, str, str]]:
    """List learner, response and coding of what was grown on a data set, those nearest to the paper's figures first."""
    found = {
        (record.learner, record.response, record.coding)
        for record in results.rounds
        if record.data_set == data_set and record.coding in _WOLC_CODINGS
    }
    return sorted(found, key=lambda code: (code[0], code[1], _WOLC_CODINGS.index(code[2])))


def paper_ranks(summary: SettingSummary) -> Picture:
    """Draw the average ranks of all methods, and which of them do not differ significantly."""
    return rank_picture(
        f"ranks-{summary.learner}-{summary.response}",
        f"Average ranks over {summary.n_ranked}: {setting_title(summary)}",
        {method: printed(method) for method in summary.methods},
        summary.scores(),
    )


def time_picture(summary: SettingSummary) -> Picture:
    """Draw how long training takes: a stroke per data set, and the geometric mean of each method."""
    seconds = np.maximum(summary.fit_seconds[summary.comparable], 1e-6)
    means = geometric_means(seconds)
    texts = [f"{printed(method)} {mean:.3g} s" for method, mean in zip(summary.methods, means, strict=True)]
    return values_by_method_picture(
        f"time-{summary.learner}-{summary.response}",
        f"Training time: {setting_title(summary)}",
        f"Dot plot of the seconds of training on one fold over {summary.n_ranked}. Geometric means: "
        f"{', '.join(texts)}.",
        methods={method: printed(method) for method in summary.methods},
        data_sets=summary.ranked_data_sets,
        values=seconds,
        means=means,
        unit="s",
        x_label="seconds of training on one fold\n(strokes: data sets; shapes: geometric means)",
        log=True,
    )


def length_picture(summary: SettingSummary) -> Picture:
    """Draw accuracy against code length, averaged over data sets, with the methods that none beats in both."""
    rows = summary.comparable
    accuracy, length = 100 * summary.accuracy[rows].mean(axis=0), summary.columns[rows].mean(axis=0)
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
        axes.set_xlabel(f"columns that prediction evaluates (mean over {summary.n_ranked})")
        axes.set_ylabel("accuracy in % (mean)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(x=0.12, y=0.1)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
    return Picture(
        name=f"length-{summary.learner}-{summary.response}",
        title=f"Accuracy against code length: {setting_title(summary)}",
        alt=_length_alt(summary, accuracy, length, front),
        figure=figure,
    )


def pareto_front(costs: Floats, gains: Floats) -> NDArray[np.intp]:
    """Find the methods that no other beats in both cost and gain, by growing cost; of equals the first stays."""
    order = np.lexsort((-gains, costs))
    best_before = np.concatenate(([-np.inf], np.maximum.accumulate(gains[order])[:-1]))
    return order[gains[order] > best_before]


def _length_alt(summary: SettingSummary, accuracy: Floats, length: Floats, front: NDArray[np.intp]) -> str:
    """Name the methods of the front, shortest first, and say where WOLC-ECOC is if it is not among them."""
    texts = [f"{printed(summary.methods[k])} {accuracy[k]:.1f} % with {length[k]:.1f} columns" for k in front]
    alt = (
        f"Scatter plot of mean accuracy against mean code length of {len(summary.methods)} methods over "
        f"{summary.n_ranked}. No method is both shorter and more accurate than: "
        f"{'; '.join(texts)}."
    )
    wolc = summary.position(WOLC)
    if wolc is not None and wolc not in front:
        alt += f" WOLC-ECOC has {accuracy[wolc]:.1f} % with {length[wolc]:.1f} columns."
    return alt


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
            color=color_of(methods[top], text=True),
            fontweight="bold",
        )


def _add_decoding_legend(axes: "Axes", methods: list[str]) -> None:
    """Explain the shapes."""
    from matplotlib.lines import Line2D

    found = {method.rpartition("/")[2] for method in methods}
    handles = [
        Line2D([], [], linestyle="", marker=marker_of(f"/{decoding}")["marker"], color="0.35", label=label)
        for decoding, label in DECODINGS.items()
        if decoding in found
    ]
    handles.append(Line2D([], [], color="0.6", linewidth=1.2, label="not beaten in both"))
    axes.legend(handles=handles, title="decoding", loc="lower right")
