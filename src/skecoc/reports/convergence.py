"""The paper's Figures 6 and 7: what a WOLC code costs and how accurate it is, round by round."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.results import Results
from skecoc.benchmarking.runs import RoundRecord
from skecoc.reports.pictures import COLORS, Picture, drawing_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Codings of WOLC-ECOC, the one that begins as the paper's does first.
_CODINGS = {"wolc-one-vs-rest": 0, "wolc-paper": 1, "wolc": 2}
_MEASURES = ("objective", "risk", "train_accuracy", "test_accuracy")


@dataclass(frozen=True)
class Convergence:
    """Growth of WOLC codes on one data set, averaged over runs.

    Attributes
    ----------
    data_set, learner, response, coding : str
        What was grown.
    objective, risk, train_accuracy, test_accuracy : ndarray of shape (n_rounds,)
        Means over runs. A run that has ended before a round counts with its last values.
    n_growing : ndarray of int of shape (n_rounds,)
        Runs that have this round themselves.
    kept : float
        Mean number of the round that is kept.
    """

    data_set: str
    learner: str
    response: str
    coding: str
    objective: Floats
    risk: Floats
    train_accuracy: Floats
    test_accuracy: Floats
    n_growing: NDArray[np.int64]
    kept: float

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.n_growing[0])


def grown_codes(results: Results, data_set: str) -> list[tuple[str, str, str]]:
    """List what was grown on a data set.

    Parameters
    ----------
    results : Results
        The runs.
    data_set : str
        The data set.

    Returns
    -------
    list of (str, str, str)
        Learner, response and coding, those nearest to the paper's figures first: AdaBoost's labels, from one-vs-rest.

    Examples
    --------
    >>> grown_codes(Results([], [], {}), "iris")
    []
    """
    found = {
        (record.learner, record.response, record.coding) for record in results.rounds if record.data_set == data_set
    }
    return sorted(found, key=lambda code: (code[0], code[1], _CODINGS.get(code[2], len(_CODINGS)), code[2]))


def summarize_convergence(
    results: Results, data_set: str, learner: str, response: str, coding: str = "wolc"
) -> Convergence:
    """Average the rounds of all runs.

    Parameters
    ----------
    results : Results
        The runs.
    data_set, learner, response, coding : str
        What was grown.

    Returns
    -------
    Convergence
        As many rounds as the longest run has.

    Raises
    ------
    ValueError
        If there are no rounds of that kind.

    Examples
    --------
    >>> run = ("iris", 0, 0, "stumps", "labels", "wolc")
    >>> rounds = [RoundRecord(*run, k, 3 + k, 0.5 / (k + 1), 0.1, 0.2, 0.9, 0.8, k == 1) for k in range(2)]
    >>> summarize_convergence(Results([], rounds, {}), "iris", "stumps", "labels").objective
    array([0.5 , 0.25])
    """
    runs = list(_rounds_by_run(results, data_set, learner, response, coding).values())
    if not runs:
        raise ValueError(f"no rounds of {coding!r} on {data_set!r} with learner {learner!r} and response {response!r}")
    lengths = np.array([len(rounds) for rounds in runs])
    n_rounds = int(lengths.max())
    means = {
        measure: np.mean(
            [_extended([getattr(record, measure) for record in rounds], n_rounds) for rounds in runs], axis=0
        )
        for measure in _MEASURES
    }
    kept = float(np.mean([record.round for rounds in runs for record in rounds if record.kept]))
    growing = (lengths[:, None] > np.arange(n_rounds)).sum(axis=0)
    return Convergence(data_set, learner, response, coding, n_growing=growing, kept=kept, **means)


def convergence_picture(
    results: Results, data_set: str, learner: str, response: str, coding: str = "wolc", name: str | None = None
) -> Picture:
    """Draw Figure 6 or 7: training risk, and training and test accuracy, by round.

    Parameters
    ----------
    results : Results
        The runs.
    data_set, learner, response, coding : str
        What was grown.
    name : str, default=None
        Name of the picture; None makes one of the other arguments.

    Returns
    -------
    Picture
        Two panels. Grey bars show the share of the runs that are still growing, a dotted line the mean round kept.

    Raises
    ------
    ValueError
        If there are no rounds of that kind.
    """
    found = summarize_convergence(results, data_set, learner, response, coding)
    with drawing_style():
        figure = new_figure(8.0, 3.4)
        left, right = figure.subplots(1, 2)
        rounds = np.arange(len(found.objective))
        blue, orange = COLORS["one-vs-one"], COLORS["wolc"]
        left.plot(rounds, found.objective, "o-", color=blue, label="objective")
        if np.isfinite(found.risk).all():
            left.plot(rounds, found.risk, "s--", color=orange, label="risk (eq. 7)")
        right.plot(rounds, 100 * found.train_accuracy, "o-", color=blue, label="training rows")
        right.plot(rounds, 100 * found.test_accuracy, "s--", color=orange, label="test rows")
        left.set_ylim(bottom=0.0)
        for axes, label in ((left, "training risk"), (right, "accuracy in %")):
            axes.set_ylabel(label)
            _finish(axes, found)
    title = f"Growth of {coding} on {data_set}: {learner}, answers as {response}, mean over {found.n_runs} runs"
    full_name = f"convergence-{data_set}-{learner}-{response}-{coding}"
    return Picture(name or full_name, title, convergence_alt(found), figure)


def convergence_alt(found: Convergence) -> str:
    """Say in words what `convergence_picture` shows.

    Parameters
    ----------
    found : Convergence
        The averages.

    Returns
    -------
    str
        Where the curves begin and end.
    """
    last = len(found.objective) - 1
    return (
        f"Two line charts of the growth of {found.coding} on {found.data_set}, means over {found.n_runs} runs, rounds "
        f"0 to {last}. The objective goes {_ends(found.objective, '.3g')}, the risk {_ends(found.risk, '.3g')}; the "
        f"training accuracy in % goes {_ends(100 * found.train_accuracy, '.1f')}, the test accuracy "
        f"{_ends(100 * found.test_accuracy, '.1f')}. {int(found.n_growing[-1])} of the runs reach the last round; on "
        f"average round {found.kept:.1f} is kept."
    )


def _ends(values: Floats, form: str) -> str:
    """Say where a curve begins and ends."""
    return f"from {values[0]:{form}} to {values[-1]:{form}}"


def _rounds_by_run(
    results: Results, data_set: str, learner: str, response: str, coding: str
) -> dict[tuple[int, int], list[RoundRecord]]:
    """Collect the rounds of each run, in order."""
    runs: dict[tuple[int, int], list[RoundRecord]] = {}
    for record in sorted(results.rounds, key=lambda record: record.round):
        if (record.data_set, record.learner, record.response, record.coding) == (data_set, learner, response, coding):
            runs.setdefault((record.repeat, record.fold), []).append(record)
    return runs


def _extended(values: list[float], length: int) -> list[float]:
    """Repeat the last value up to a length."""
    return values + values[-1:] * (length - len(values))


def _finish(axes: "Axes", found: Convergence) -> None:
    """Draw what both panels have in common."""
    rounds = np.arange(len(found.n_growing))
    axes.bar(
        rounds,
        0.25 * found.n_growing / found.n_runs,
        transform=axes.get_xaxis_transform(),
        color="0.9",
        width=0.8,
        zorder=0,
        label="runs still growing",
    )
    axes.axvline(found.kept, color="0.4", linestyle=":", linewidth=1.4, label="mean round kept")
    axes.set_xticks(rounds[:: max(1, len(rounds) // 10)])
    axes.set_xlabel("round")
    axes.legend(fontsize=8.5)
