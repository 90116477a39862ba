"""Growth of codes by round, averaged over runs: what the convergence figures draw."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.experiments import RoundRecord
from skecoc.reports import Picture, color_of, drawing_style, new_figure
from skecoc_study.runs.results import Results

Floats = NDArray[np.float64]

# The first and the second curve: the form of its line, and the coding whose colour it has.
_CURVES = (("o-", "one-vs-one"), ("s--", "wolc"))
#: Name of the loss by which growth is judged where the weights are not optimised in every round.
OUT_OF_FOLD = "out-of-fold log-loss"
_MEASURES = ("objective", "risk", "loss", "train_accuracy", "test_accuracy")


@dataclass(frozen=True)
class Convergence:
    """Growth of codes on one data set by round, averaged over runs.

    A run that has ended before a round counts with its last values; `n_growing` counts the runs that have not. NaN is
    what was not measured in some run.
    """

    data_set: str
    coding: str
    objective: Floats
    risk: Floats
    loss: Floats
    train_accuracy: Floats
    test_accuracy: Floats
    n_growing: NDArray[np.int64]
    kept: float  # mean number of the round that is kept

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.n_growing[0])

    @property
    def losses(self) -> dict[str, Floats]:
        """What the weights minimise on training outputs, if they are optimised every round; or out-of-fold loss."""
        if np.isfinite(self.objective).all():
            return _finite({"objective": self.objective, "risk (eq. 7)": self.risk})
        return _finite({OUT_OF_FOLD: self.loss})

    @property
    def accuracies(self) -> dict[str, Floats]:
        """The accuracies in %."""
        return _finite({"training rows": 100 * self.train_accuracy, "test rows": 100 * self.test_accuracy})


def _finite(curves: dict[str, Floats]) -> dict[str, Floats]:
    """Choose the curves without gaps."""
    return {label: values for label, values in curves.items() if np.isfinite(values).all()}


def summarize_convergence(
    results: Results, data_set: str, learner: str, response: str, coding: str = "wolc"
) -> Convergence:
    """Average the rounds of all runs, as many as the longest run has."""
    runs: dict[tuple[int, int], list[RoundRecord]] = {}
    for record in sorted(results.rounds, key=lambda record: record.round):
        if (record.data_set, record.learner, record.response, record.coding) == (data_set, learner, response, coding):
            runs.setdefault((record.repeat, record.fold), []).append(record)
    if not runs:
        raise ValueError(f"no rounds of {coding!r} on {data_set!r} with learner {learner!r} and response {response!r}")
    lengths = np.array([len(rounds) for rounds in runs.values()])
    last = np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
    means = {
        measure: np.mean(
            [
                np.array([getattr(record, measure) for record in rounds])[numbers]
                for rounds, numbers in zip(runs.values(), last, strict=True)
            ],
            axis=0,
        )
        for measure in _MEASURES
    }
    kept = float(np.mean([record.round for rounds in runs.values() for record in rounds if record.kept]))
    growing = (lengths[:, None] > np.arange(lengths.max())).sum(axis=0)
    return Convergence(data_set, coding, n_growing=growing, kept=kept, **means)


def convergence_picture(
    results: Results, data_set: str, learner: str, response: str, coding: str = "wolc", name: str | None = None
) -> Picture:
    """Draw losses and accuracies by round, as far as they were measured.

    Grey bars show the share of the runs that are still growing, a dotted line the mean round kept.
    """
    found = summarize_convergence(results, data_set, learner, response, coding)
    rounds = np.arange(len(found.objective))
    with drawing_style():
        figure = new_figure(8.0, 3.4)
        panels = figure.subplots(1, 2)
        labels = (OUT_OF_FOLD if OUT_OF_FOLD in found.losses else "loss on training outputs", "accuracy in %")
        for axes, curves, label in zip(panels, (found.losses, found.accuracies), labels, strict=True):
            axes.bar(
                rounds,
                0.25 * found.n_growing / found.n_runs,
                transform=axes.get_xaxis_transform(),
                color="0.9",
                width=0.8,
                zorder=0,
                label="runs still growing",
            )
            for (curve, values), (form, color_name) in zip(curves.items(), _CURVES, strict=False):
                axes.plot(rounds, values, form, color=color_of(color_name), label=curve)
            axes.axvline(found.kept, color="0.4", linestyle=":", linewidth=1.4, label="mean round kept")
            axes.legend(fontsize=8.5)
            axes.set_xticks(rounds[:: max(1, len(rounds) // 10)])
            axes.set_xlabel("round")
            axes.set_ylabel(label)
        panels[0].set_ylim(bottom=0.0)
    title = f"Growth of {coding} on {data_set}: {learner}, outputs as {response}, mean over {found.n_runs} runs"
    full_name = f"convergence-{data_set}-{learner}-{response}-{coding}"
    return Picture(name or full_name, title, convergence_alt(found), figure)


def convergence_alt(found: Convergence) -> str:
    """Say in words what `convergence_picture` shows: where the curves begin and end."""
    losses = {label.removesuffix(" (eq. 7)"): values for label, values in found.losses.items()}
    accuracies = {label.replace("rows", "accuracy"): values for label, values in found.accuracies.items()}
    courses = [*_courses(losses, " goes", ".3g"), *_courses(accuracies, " in % goes", ".1f")]
    return (
        f"Two line charts of the growth of {found.coding} on {found.data_set}, means over {found.n_runs} runs, rounds "
        f"0 to {len(found.objective) - 1}. {'; '.join(courses).capitalize()}. "
        f"{int(found.n_growing[-1])} of the runs reach the last round; on average round {found.kept:.1f} is kept."
    )


def _courses(curves: Mapping[str, Floats], goes: str, form: str) -> list[str]:
    """Say where curves begin and end, in one part of a sentence; none if there are no curves."""
    parts = [
        f"the {label}{'' if place else goes} from {values[0]:{form}} to {values[-1]:{form}}"
        for place, (label, values) in enumerate(curves.items())
    ]
    return [", ".join(parts)] if parts else []
