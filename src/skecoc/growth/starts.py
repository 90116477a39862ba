"""Grow a code, and keep another one as it is if that proves better."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from skecoc.coding.fixed import one_vs_one, one_vs_rest
from skecoc.coding.matrix import CodeMatrix
from skecoc.growth.engine import (
    Floats,
    GrowingCode,
    Growth,
    GrowthRound,
    StopRules,
    Strategy,
    grow,
    standard_error,
)

# With two classes the codes are the same; with many, one-vs-one is no longer a short one.
_FEWEST_CLASSES, _MOST_CLASSES = 3, 20
# A code of up to this many columns per class is short.
_SHORT = 2.0
# Accuracies that differ by less than this are equal.
_LEAST_GAIN = 1e-9


def automatic_starts(n_classes: int) -> list[CodeMatrix]:
    """List the codes to try if none is given: one-vs-rest, and for 3 to 20 classes one-vs-one as well.

    Examples
    --------
    >>> [matrix.shape for matrix in automatic_starts(7)], [matrix.shape for matrix in automatic_starts(50)]
    ([(7, 7), (7, 21)], [(50, 50)])
    """
    starts = [one_vs_rest(n_classes)]
    if _FEWEST_CLASSES <= n_classes <= _MOST_CLASSES:
        starts.append(one_vs_one(n_classes))
    return starts


class Start(NamedTuple):
    """A code to begin with, and the method to judge it and grow from it by.

    Attributes
    ----------
    matrix : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix.
    strategy : Strategy
        The method.
    """

    matrix: CodeMatrix
    strategy: Strategy


def grow_from(
    starts: Sequence[Start],
    code: GrowingCode,
    rules: StopRules,
    report: Callable[[int, GrowthRound], None] | None = None,
) -> tuple[GrowingCode, Growth]:
    """Grow from the first of some codes, judge the others as they are, and return the best outcome.

    Parameters
    ----------
    starts : sequence of Start
        The code to grow from, and others that are long already: they do not grow.
    code : GrowingCode
        Without columns yet.
    rules : StopRules
        When to stop. Another code with at most two columns per class is taken in place of the grown one unless it
        errs more by more than the standard error of the difference; a longer one only if it errs less by more than
        that.
    report : callable, default=None
        Called with the number and the record of each round.

    Returns
    -------
    code : GrowingCode
        The code with all its columns.
    growth : Growth
        Its rounds.
    """
    best = _grown(code, starts[0], rules, report)
    for start in starts[1:] if best[1].verdict.loss > rules.target else ():
        other = _grown(code, start, replace(rules, max_iter=0), report)
        if _is_preferable(other, best, code.weight):
            best = other
    return best


def _is_preferable(other: tuple[GrowingCode, Growth], best: tuple[GrowingCode, Growth], weight: Floats) -> bool:
    """Tell whether another code than the grown one is to be taken; the short one of both has the benefit of the doubt.

    Errors are compared, not losses: how far a row misses the margin depends on how many columns share the weight.
    """
    first, second = best[1].verdict, other[1].verdict
    gain = second.honest_accuracy - first.honest_accuracy
    doubt = max(standard_error(first.row_errors, second.row_errors, weight), _LEAST_GAIN)
    is_short = other[0].n_columns <= _SHORT * len(other[0].matrix)
    return gain >= -doubt if is_short else gain > doubt


def _grown(
    code: GrowingCode, start: Start, rules: StopRules, report: Callable[[int, GrowthRound], None] | None
) -> tuple[GrowingCode, Growth]:
    """Grow a copy of a code without columns."""
    grown = code.without_columns()
    grown.start(start.matrix)
    return grown, grow(grown, start.strategy, rules, report)
