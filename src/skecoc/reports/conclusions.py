"""What a comparison comes to: which methods are significantly worse than the best, and which one to take."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.cross_validation import Comparison
from skecoc.compare.methods import MAJORITY, STRATEGIES
from skecoc.compare.statistics import (
    average_ranks,
    corrected_t_test,
    holm,
    nemenyi_critical_difference,
)
from skecoc.support.scores import ALPHA, p_phrase, seconds_text

Floats = NDArray[np.float64]

# Methods that fit faster than this are equally cheap.
_CHEAP_SECONDS = 1.0
# Methods that a sentence names; more are counted.
_MAX_NAMES = 3


@dataclass(frozen=True)
class Conclusion:
    """What a comparison comes to in one sentence, and the command that follows from it."""

    sentence: str
    recommended: str = ""
    command: str = ""

    @property
    def in_full(self) -> str:
        """The sentence, leading to the command if there is one."""
        return f"{self.sentence.removesuffix('.')}; to fit it:" if self.command else self.sentence


def overlaps(comparison: Comparison) -> Floats:
    """Return the number of test rows per training row of every data set, of shape (n_data_sets,)."""
    sizes = [comparison.runs(name).sum(axis=(1, 2)) for name in ("n_test", "n_train")]
    return np.asarray(sizes[0] / sizes[1])


def p_values_of(comparison: Comparison) -> list[list[float | None]]:
    """Test the methods against the best of each data set, which has None; p-values are adjusted by Holm's method."""
    p_values: list[list[float | None]] = []
    for place, (scores, overlap) in enumerate(
        zip(comparison.runs("score"), overlaps(comparison).tolist(), strict=True)
    ):
        best = comparison.best(comparison.methods, place)
        others = [k for k in range(len(scores)) if k != best]
        tests = [corrected_t_test(scores[best], scores[k], overlap).p_value for k in others]
        adjusted = dict(zip(others, holm(tests).tolist(), strict=True))
        p_values.append([adjusted.get(k) for k in range(len(scores))])
    return p_values


def conclude(comparison: Comparison) -> Conclusion:
    """Say in one sentence what a comparison comes to."""
    return _conclude_one(comparison) if len(comparison.data_sets) == 1 else _conclude_several(comparison)


def _conclude_one(comparison: Comparison) -> Conclusion:
    """Recommend what `skecoc fit` would save of these methods, and say what the others are worth."""
    names, scale, (p_values,) = comparison.methods, comparison.score_format, p_values_of(comparison)
    scores = comparison.runs("score")[0].mean(axis=1)
    seconds = np.median(comparison.runs("fit_seconds")[0], axis=1)
    usable = [name for name in names if name not in STRATEGIES and name != MAJORITY]
    best = comparison.best(names)
    chosen = comparison.best(usable) if usable else best
    near = [name for name, p_value in zip(names, p_values, strict=True) if (p_value or 0.0) >= ALPHA]
    if names[best] == MAJORITY or MAJORITY in near:
        return Conclusion("No method is significantly better than always predicting the most frequent class.")
    most, beyond = ("highest", "below") if scale.higher_is_better else ("lowest", "above")
    place = comparison.data_sets[0]["name"]
    if chosen == best:
        sentence = f"Recommended: {names[best]}, with the {most} {scale.label} on {place}, {scale.text(scores[best])}"
        if len(names) > 1:
            sentence += f"; {_not_worse(near, len(names) - 1)}"
    else:
        is_near = names[chosen] in near
        sentence = (
            f"Recommended: {names[chosen]}, the best of those that can be saved, whose {scale.label} on {place}, "
            f"{scale.text(scores[chosen])}, is {'not ' if is_near else ''}significantly {beyond} the "
            f"{scale.text(scores[best])} of {names[best]} ({p_phrase(p_values[chosen] or 0.0)})"
        )
    cheap = [k for k, name in enumerate(names) if name in near and name in usable and k != chosen]
    cheapest = min(cheap, key=lambda k: seconds[k], default=chosen)
    if max(seconds[cheapest], _CHEAP_SECONDS) < max(seconds[chosen], _CHEAP_SECONDS):
        sentence += f"; fitting takes {seconds_text(seconds[chosen])}, and {seconds_text(seconds[cheapest])} for "
        sentence += names[cheapest]
    command = comparison.settings.get("fit_command", "") if names[chosen] in usable else ""
    return Conclusion(f"{sentence}.", names[chosen], command.format(method=names[chosen]) if command else "")


def _not_worse(near: list[str], n_others: int) -> str:
    """Say which of the other methods are not significantly worse."""
    if not near:
        return f"{'the other is' if n_others == 1 else 'all others are'} significantly worse"
    return f"{_some(near, n_others)} {'is' if len(near) == 1 else 'are'} not significantly worse"


def _some(names: list[str], n_others: int) -> str:
    """Name methods, or say how many they are of the others."""
    if len(names) <= _MAX_NAMES:
        return _join(names)
    return "the others" if len(names) == n_others else f"{len(names)} of the {n_others} others"


def _conclude_several(comparison: Comparison) -> Conclusion:
    """Say which method has the best average rank, and which ones it does not differ from."""
    means = comparison.score_format.sign * comparison.runs("score").mean(axis=2)
    ranks = average_ranks(means)
    order = np.argsort(ranks, kind="stable")
    leaders = [comparison.methods[k] for k in order if ranks[k] == ranks[order[0]]]
    rank = f"the best average rank over {len(means)} data sets, {ranks[order[0]]:.2f}"
    if len(leaders) > 1:
        return Conclusion(f"{_join(leaders)} share {rank}.")
    sentence = f"{leaders[0]} has {rank}"
    if len(order) == 1:
        return Conclusion(f"{sentence}.", leaders[0])
    distance = nemenyi_critical_difference(len(ranks), len(means))
    near = [comparison.methods[k] for k in order[1:] if ranks[k] - ranks[order[0]] < distance]
    verdict = (
        f"does not differ significantly from {_some(near, len(order) - 1)}"
        if near
        else "differs significantly from all others"
    )
    return Conclusion(f"{sentence}; by Nemenyi's test at 5 % it {verdict}.", leaders[0])


def _join(names: list[str]) -> str:
    """Join names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
