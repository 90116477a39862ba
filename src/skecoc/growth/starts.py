"""Grow a code, and keep another one as it is if that proves better."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

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
# A long code must be better by this many standard errors of the difference.
_PROOF = 2.0
# Accuracies that differ by less than this are equal.
_LEAST_GAIN = 1e-9


def automatic_start_names(n_classes: int, response: str) -> list[str]:
    """Name the codes to try if none is given: one to grow from, and for 3 to 20 classes one-vs-one as it is.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    response : {"predict_proba", "decision_function", "predict"}
        How learners answer. One-vs-rest, the best code to grow from, needs answers that can be compared: with hard
        labels, where most of its codewords tie, a tree of bipartitions takes its place for more than 3 classes.

    Returns
    -------
    list of str
        Names of codings, the one to grow from first.

    Examples
    --------
    >>> automatic_start_names(7, "predict_proba"), automatic_start_names(7, "predict")
    (['one-vs-rest', 'one-vs-one'], ['decoc', 'one-vs-one'])
    >>> automatic_start_names(50, "predict")
    ['one-vs-rest']
    """
    if not _FEWEST_CLASSES <= n_classes <= _MOST_CLASSES:
        return ["one-vs-rest"]
    has_ties = response == "predict" and n_classes > _FEWEST_CLASSES
    return ["decoc" if has_ties else "one-vs-rest", "one-vs-one"]


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
        errs more; a longer one only if it errs less by more than two standard errors of the difference.
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
    """Tell whether another code than the grown one is to be taken; a long one must prove that it is better.

    Errors are compared, not losses: how far a row misses the margin depends on how many columns share the weight.
    """
    first, second = best[1].verdict, other[1].verdict
    gain = second.honest_accuracy - first.honest_accuracy
    doubt = max(standard_error(first.row_errors, second.row_errors, weight), _LEAST_GAIN)
    is_short = other[0].n_columns <= _SHORT * len(other[0].matrix)
    return gain >= 0.0 if is_short else gain > _PROOF * doubt


def _grown(
    code: GrowingCode, start: Start, rules: StopRules, report: Callable[[int, GrowthRound], None] | None
) -> tuple[GrowingCode, Growth]:
    """Grow a copy of a code without columns."""
    grown = code.without_columns()
    grown.start(start.matrix)
    return grown, grow(grown, start.strategy, rules, report)
