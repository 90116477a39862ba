"""What a comparison comes to: which methods are significantly worse than the best, and which one to take."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.cross_validation import Comparison
from skecoc.compare.methods import MAJORITY, STRATEGIES
from skecoc.compare.statistics import (
    TIE_DECIMALS,
    average_ranks,
    corrected_t_test,
    holm,
    nemenyi_critical_difference,
)
from skecoc.support.scores import ALPHA, ScoreFormat, p_phrase, seconds_text

Floats = NDArray[np.float64]

# How far behind the best a method may be that is recommended for being fitted faster.
_STANDARD_ERRORS = 1.0
# Methods that fit faster than this are equally cheap: then the score decides.
_CHEAP_SECONDS = 1.0
# Methods that a sentence names; more are counted.
_MAX_NAMES = 3


@dataclass(frozen=True)
class Contest:
    """How the methods compare on one data set; p-values are those of tests against the best, which has None."""

    best: int
    p_values: list[float | None]  # adjusted by Holm's method
    recommended: int


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


def score_format(comparison: Comparison) -> ScoreFormat:
    """Return how the scores of a comparison are written."""
    found = comparison.settings
    return ScoreFormat(
        found.get("metric", "accuracy"), found.get("higher_is_better", True), found.get("in_percent", True)
    )


def overlaps(comparison: Comparison) -> Floats:
    """Return the number of test rows per training row of every data set, of shape (n_data_sets,)."""
    sizes = [comparison.runs(name).sum(axis=(1, 2)) for name in ("n_test", "n_train")]
    return np.asarray(sizes[0] / sizes[1])


def judge(scores: Floats, seconds: Floats, test_share: float, can_be_fitted: Sequence[bool] | None = None) -> Contest:
    """Compare the methods of one data set, by scores of shape (n_methods, n_runs) of which more is better.

    Recommended is the method that can be fitted, fastest, of those whose difference from the best is no larger than its
    standard error: of few folds, much larger ones are not significant either. Seconds below one are all the same, and
    then the best score counts.
    """
    means = np.round(scores.mean(axis=1), TIE_DECIMALS)
    best = int(means.argmax())
    others = [k for k in range(len(means)) if k != best]
    tests = [corrected_t_test(scores[best], scores[k], test_share) for k in others]
    adjusted = dict(zip(others, holm([test.p_value for test in tests]).tolist(), strict=True))
    as_good = [best, *(k for k, test in zip(others, tests, strict=True) if test.statistic <= _STANDARD_ERRORS)]
    if can_be_fitted is not None:
        as_good = [k for k in as_good if can_be_fitted[k]] or [best]
    recommended = min(as_good, key=lambda k: (max(seconds[k], _CHEAP_SECONDS), -means[k], k != best))
    return Contest(best, [adjusted.get(k) for k in range(len(means))], recommended)


def contests_of(comparison: Comparison) -> list[Contest]:
    """Compare the methods on every data set."""
    signed = score_format(comparison).sign * comparison.runs("score")
    seconds = np.median(comparison.runs("fit_seconds"), axis=2)
    usable = [method not in STRATEGIES and method != MAJORITY for method in comparison.methods]
    return [judge(*parts, usable) for parts in zip(signed, seconds, overlaps(comparison).tolist(), strict=True)]


def conclude(comparison: Comparison) -> Conclusion:
    """Say in one sentence what a comparison comes to."""
    return _conclude_one(comparison) if len(comparison.data_sets) == 1 else _conclude_several(comparison)


def _conclude_one(comparison: Comparison) -> Conclusion:
    """Recommend a method for one data set."""
    (contest,) = contests_of(comparison)
    names, scale = comparison.methods, score_format(comparison)
    scores = comparison.runs("score")[0].mean(axis=1)
    seconds = np.median(comparison.runs("fit_seconds")[0], axis=1)
    best, chosen = contest.best, contest.recommended
    near = [name for name, p_value in zip(names, contest.p_values, strict=True) if (p_value or 0.0) >= ALPHA]
    if names[best] == MAJORITY or MAJORITY in near:
        return Conclusion("No method is significantly better than always predicting the most frequent class.")
    most, beyond = ("highest", "below") if scale.higher_is_better else ("lowest", "above")
    place = comparison.data_sets[0]["name"]
    if chosen == best:
        sentence = f"Recommended: {names[best]}, with the {most} {scale.label} on {place}, {scale.text(scores[best])}"
        if len(names) > 1:
            sentence += f"; {_not_worse(near, len(names) - 1)}"
    else:
        sentence = (
            f"Recommended: {names[chosen]}, whose {scale.label} on {place}, {scale.text(scores[chosen])}, is not "
            f"significantly {beyond} the {scale.text(scores[best])} of {names[best]} "
            f"({p_phrase(contest.p_values[chosen] or 0.0)}), while fitting takes {seconds_text(seconds[chosen])} "
            f"instead of {seconds_text(seconds[best])}"
        )
    can_be_fitted = names[chosen] not in STRATEGIES
    command = comparison.settings.get("fit_command", "") if can_be_fitted else ""
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
    means = score_format(comparison).sign * comparison.runs("score").mean(axis=2)
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
