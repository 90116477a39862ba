"""The critical-difference diagram of Demsar (2006): average ranks, and bars over methods that do not differ."""

from itertools import combinations
from math import ceil, floor
from typing import TYPE_CHECKING

from skecoc.benchmarking.results import SettingSummary
from skecoc.benchmarking.statistics import cliques, nemenyi_critical_difference, wilcoxon_holm
from skecoc.paper.published import METHODS
from skecoc.paper.table_notes import setting_title
from skecoc.reports.pictures import Picture, color_of, drawing_style, group_id, new_figure, text_color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVEL = 0.05
_SCALE = 0.62  # inches from the top to the axis
_LINE = 0.30  # inches between two lines of labels
_BAR = 0.11  # inches between two bars
_TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon-holm": "pairwise signed-rank tests with Holm's correction"}


def rank_picture(summary: SettingSummary, test: str = "nemenyi") -> Picture:
    """Draw the average ranks of all methods, and which of them do not differ significantly.

    Parameters
    ----------
    summary : SettingSummary
        A setting with two methods and one comparable data set at least.
    test : {"nemenyi", "wilcoxon-holm"}, default="nemenyi"
        What decides that two methods differ: the distance of their average ranks, or a signed-rank test of their own
        with Holm's correction for all pairs.

    Returns
    -------
    Picture
        A critical-difference diagram, the best methods on the left.

    Raises
    ------
    ValueError
        If `test` is not known, or there is nothing to rank.
    """
    ranks, groups = _ranks_and_groups(summary, test)
    order = sorted(ranks, key=lambda method: ranks[method])
    n_left = (len(order) + 1) // 2
    height = 0.75 + _BAR * (len(groups) + 1) + _LINE * n_left
    with drawing_style():
        figure = new_figure(8.0, height)
        axes = figure.subplots()
        low = floor(min(ranks.values()))
        high = max(low + 1, ceil(max(ranks.values())))
        axes.set_xlim(low - 0.32 * (high - low), high + 0.32 * (high - low))
        axes.set_ylim(height, 0.0)  # inches from the top
        axes.axis("off")
        _draw_scale(axes, low, high)
        if test == "nemenyi":
            _draw_ruler(axes, low, high, nemenyi_critical_difference(len(ranks), int(summary.comparable.sum())))
        for line, group in enumerate(groups):
            y = _SCALE + _BAR * (line + 1)
            axes.plot([ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04], [y, y], color="0.15", linewidth=3.5)
        labels_top = _SCALE + _BAR * (len(groups) + 1) + 0.12
        for place, method in enumerate(order):
            is_left = place < n_left
            line = place if is_left else len(order) - 1 - place
            _draw_label(axes, method, ranks[method], labels_top + _LINE * line, low if is_left else high, is_left)
    name = f"ranks-{summary.learner}-{summary.response}"
    return Picture(
        name=name if test == "nemenyi" else f"{name}-{test}",
        title=f"Average ranks over {summary.n_ranked}: {setting_title(summary)}",
        alt=rank_alt(summary, test),
        figure=figure,
    )


def rank_alt(summary: SettingSummary, test: str = "nemenyi") -> str:
    """Say in words what `rank_picture` shows.

    Parameters
    ----------
    summary : SettingSummary
        The setting.
    test : {"nemenyi", "wilcoxon-holm"}, default="nemenyi"
        The test.

    Returns
    -------
    str
        All ranks, and the groups of methods that do not differ.
    """
    ranks, groups = _ranks_and_groups(summary, test)
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    texts = [f"{METHODS.get(method, method)} {rank:.2f}" for method, rank in ordered]
    bars = [f"{METHODS.get(group[0], group[0])} to {METHODS.get(group[-1], group[-1])}" for group in groups]
    together = f"do not differ significantly: {'; '.join(bars)}" if bars else "of methods that do not differ: none"
    return (
        f"Critical-difference diagram over {summary.n_ranked}. Average ranks, best first: "
        f"{', '.join(texts)}. Groups that by {_TESTS[test]} at 5 % {together}."
    )


def _ranks_and_groups(summary: SettingSummary, test: str) -> tuple[dict[str, float], list[tuple[str, ...]]]:
    """Average ranks, and runs of neighbours of which no two differ."""
    if test not in _TESTS:
        raise ValueError(f"test must be one of {', '.join(_TESTS)}, got {test!r}")
    ranks = summary.ranks()
    if len(ranks) < 2:
        raise ValueError("summary must have two methods and a comparable data set")
    values = list(ranks.values())
    pairs = combinations(range(len(values)), 2)
    if test == "nemenyi":
        distance = nemenyi_critical_difference(len(values), int(summary.comparable.sum()), _LEVEL)
        differing = [(first, second) for first, second in pairs if abs(values[first] - values[second]) >= distance]
    else:
        tests = wilcoxon_holm(summary.scores())
        differing = [(found.first, found.second) for found in tests if found.adjusted < _LEVEL]
    order = sorted(range(len(values)), key=lambda position: values[position])
    names = list(ranks)
    return ranks, [tuple(names[position] for position in group) for group in cliques(order, differing)]


def _draw_scale(axes: "Axes", low: int, high: int) -> None:
    """Draw the axis of ranks."""
    y = _SCALE
    axes.plot([low, high], [y, y], color="black", linewidth=1.0)
    for rank in range(low, high + 1):
        axes.plot([rank, rank], [y - 0.06, y], color="black", linewidth=1.0)
        axes.text(rank, y - 0.1, str(rank), ha="center", va="bottom", fontsize=9)


def _draw_ruler(axes: "Axes", low: int, high: int, distance: float) -> None:
    """Draw how far apart ranks must be to differ."""
    y = 0.16
    label = f"critical difference {distance:.2f}"
    if distance > high - low:
        axes.text(low, y, f"{label}, more than the length of the axis", va="center", fontsize=9, color="0.25")
        return
    axes.plot([low, low + distance], [y, y], color="0.35", linewidth=1.2)
    for end in (low, low + distance):
        axes.plot([end, end], [y - 0.05, y + 0.05], color="0.35", linewidth=1.2)
    axes.annotate(label, (low + distance, y), (6, 0), textcoords="offset points", va="center", fontsize=9, color="0.25")


def _draw_label(axes: "Axes", method: str, rank: float, y: float, edge: float, is_left: bool) -> None:
    """Lead from a method's rank down and out to its name."""
    sign = -1 if is_left else 1
    end = edge + sign * 0.3
    axes.plot([rank, rank, end], [_SCALE, y, y], color=color_of(method), linewidth=1.2, gid=group_id(method))
    text = METHODS.get(method, method)
    axes.text(
        end + sign * 0.1,
        y,
        f"{text}  {rank:.2f}" if is_left else f"{rank:.2f}  {text}",
        ha="right" if is_left else "left",
        va="center",
        color=text_color_of(method),
        gid=group_id(method),
    )
