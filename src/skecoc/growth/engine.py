"""The one loop of all grown codes: decode, find what is hard, train new columns, stop.

A method is a `Strategy`: how it decodes the code grown so far, and which columns it adds next. Training samples are
evaluated once per column; codewords are appended to, never computed again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.coding.matrix import CodeMatrix, canonical_columns
from skecoc.growth.samples import GrowingCode, TrainingSamples
from skecoc.learners.columns import Column, Floats, Pattern
from skecoc.support.executor import Blocks

# Pair losses that differ by less than this share of the largest one are equal: rounding decides nothing.
_EQUAL_LOSSES = 1e-9
# Codes of up to this many columns per class are short.
_SHORT = 2.0
# A long code that does not grow must be better by this many standard errors of the difference.
_STANDARD_ERRORS_OF_LONG_CODE = 2.0
# Accuracies that differ by less than this are equal.
_LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class Evaluation:
    """How well a code decodes the training samples."""

    decoder: Any  # fitted to the code as it was
    loss: float  # what growth wants to lower
    pair_losses: Floats  # loss of the samples of each class (first axis) by their worst rival
    accuracy: float  # of decoding codewords of learners that have seen the sample
    out_of_fold_accuracy: float  # of decoding codewords of learners that have not
    sample_losses: Blocks | None = None  # loss of each sample, of which `loss` is the mean; None if it is no mean
    sample_errors: Blocks | None = None  # 1 for each sample that is decoded wrongly out of fold
    # Certificate of optimised weights; NaN for other decoders.
    objective: float = np.nan
    hinge: float = np.nan
    risk: float = np.nan
    gap: float = np.nan


class Proposal(NamedTuple):
    """What a strategy wants trained next: columns, and the pairs of classes that they separate."""

    columns: list[Column]
    pairs: list[tuple[int, int]]


class Strategy(ABC):
    """What differs between the methods."""

    #: Reason to give when there are no further columns.
    exhausted = "no hard pair is left"

    @abstractmethod
    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit a decoder to the code and measure its loss."""

    @abstractmethod
    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Choose the next columns; none ends the growth."""

    def refine(self, code: GrowingCode, growth: "Growth") -> "Growth":
        """Return the growth with a better decoder of the kept round; as it is by default."""
        del code
        return growth


@dataclass(frozen=True)
class StopRules:
    """When growth ends."""

    max_iter: int  # largest number of rounds that add columns
    max_columns: int | None = None
    tol: float = 0.01  # a round makes progress if it lowers the loss by more than this share of the new loss
    standard_errors: float = 0.0  # and by more than this many standard errors of the difference
    patience: int | None = 3  # rounds in a row without progress before the end; None: every round makes progress
    target: float = 0.0  # loss at or below which nothing is left to do

    def is_progress(self, before: Evaluation, now: Evaluation, code: GrowingCode) -> bool:
        """Tell whether the loss fell by more than a share of what it is now (the paper's eq. 11), and beyond chance."""
        if self.patience is None or now.loss <= self.target:
            return True
        chance = 0.0
        if self.standard_errors > 0 and before.sample_losses is not None and now.sample_losses is not None:
            chance = self.standard_errors * code.drop(before.sample_losses, now.sample_losses)[1]
        return before.loss - now.loss > max(self.tol * now.loss, chance)

    def reason_to_stop(self, loss: float, idle: int, n_rounds: int, n_columns: int) -> str:
        """Say which rule ends growth; empty if none does."""
        if loss <= self.target:
            return "the loss reached its target"
        if self.patience is not None and idle >= self.patience:
            return "no progress for as many rounds as patience allows"
        if n_rounds >= self.max_iter:
            return "max_iter rounds were made"
        if self.max_columns is not None and n_columns >= self.max_columns:
            return "the code has max_columns columns"
        return ""

    def cut(self, proposal: Proposal, n_columns: int) -> Proposal:
        """Cut a proposal to the columns that may still be added."""
        free = None if self.max_columns is None else self.max_columns - n_columns
        return Proposal(proposal.columns[:free], proposal.pairs[:free])


@dataclass(frozen=True)
class GrowthRound:
    """One round of growth: the code as it stood, its losses, and the pairs that come next.

    Attributes
    ----------
    n_columns : int
        Length of the code in this round.
    loss : float
        What growth wants to lower: the hinge of optimised weights, or the share of errors.
    objective, hinge, risk, gap : float
        Certificate of the optimised weights; NaN for other decoders.
    accuracy : float
        Accuracy on the training samples.
    out_of_fold_accuracy : float
        The same from out-of-fold codewords.
    pairs : list of (int, int)
        Indices of the classes that the next columns separate.
    pair_losses : list of float
        Their losses.
    n_clustered : int
        How many of the next columns are clustering-based.
    seconds : dict of str to float
        Time spent on training this round's new "columns", its "weights" and the choice of the next "pairs".
    """

    n_columns: int
    loss: float
    objective: float
    hinge: float
    risk: float
    gap: float
    accuracy: float
    out_of_fold_accuracy: float
    pairs: list[tuple[int, int]]
    pair_losses: list[float]
    n_clustered: int
    seconds: dict[str, float]

    @property
    def honest_accuracy(self) -> float:
        """Former name of `out_of_fold_accuracy`."""
        return self.out_of_fold_accuracy


Report = Callable[[int, GrowthRound], None]


@dataclass(frozen=True)
class Growth:
    """The outcome: the code with all its columns, all rounds and their decoders, and which round is kept."""

    code: GrowingCode
    history: list[GrowthRound]
    decoders: list[Any]  # the decoder of round t reads the first ``history[t].n_columns`` columns
    kept: int  # the last round that made progress
    evaluation: Evaluation  # of that round
    stop_reason: str

    @property
    def n_columns(self) -> int:
        """Length of the code in the kept round."""
        return self.history[self.kept].n_columns

    @property
    def decoder(self) -> Any:
        """The decoder of the kept round."""
        return self.decoders[self.kept]

    def with_decoder(self, decoder: Any, accuracy: float, out_of_fold_accuracy: float, errors: Blocks) -> "Growth":
        """Return the growth with another decoder of the kept round, and its accuracies in the round's record."""
        accuracies: dict[str, Any] = {"accuracy": accuracy, "out_of_fold_accuracy": out_of_fold_accuracy}
        decoders, history = [*self.decoders], [*self.history]
        decoders[self.kept], history[self.kept] = decoder, replace(history[self.kept], **accuracies)
        evaluation = replace(self.evaluation, decoder=decoder, sample_errors=errors, **accuracies)
        return replace(self, decoders=decoders, history=history, evaluation=evaluation)


def grow(code: GrowingCode, strategy: Strategy, rules: StopRules, report: Report | None = None) -> Growth:
    """Grow a started code, in place, until a rule stops it; columns of rounds after the kept one stay in the code."""
    history: list[GrowthRound] = []
    decoders: list[Any] = []
    previous: Evaluation | None = None
    idle, stop_reason = 0, ""
    while not stop_reason:
        started = perf_counter()
        evaluation = strategy.evaluate(code)
        evaluated = perf_counter()
        if previous is None or rules.is_progress(previous, evaluation, code):
            kept, best, idle = len(history), evaluation, 0
        else:
            idle += 1
        stop_reason = rules.reason_to_stop(evaluation.loss, idle, len(history), code.n_columns)
        proposal = Proposal([], []) if stop_reason else rules.cut(strategy.propose(code, evaluation), code.n_columns)
        if not proposal.columns:
            stop_reason = stop_reason or strategy.exhausted
        seconds = {
            "columns": code.training_seconds,
            "weights": evaluated - started,
            "pairs": perf_counter() - evaluated,
        }
        history.append(_record(code, evaluation, proposal, seconds))
        decoders.append(evaluation.decoder)
        if report is not None:
            report(len(history) - 1, history[-1])
        if not stop_reason:
            code.add(proposal.columns)
        previous = evaluation
    return strategy.refine(code, Growth(code, history, decoders, kept, best, stop_reason))


def _record(code: GrowingCode, evaluation: Evaluation, proposal: Proposal, seconds: dict[str, float]) -> GrowthRound:
    """Record a round."""
    both = symmetric_losses(evaluation.pair_losses)
    return GrowthRound(
        n_columns=code.n_columns,
        loss=evaluation.loss,
        objective=evaluation.objective,
        hinge=evaluation.hinge,
        risk=evaluation.risk,
        gap=evaluation.gap,
        accuracy=evaluation.accuracy,
        out_of_fold_accuracy=evaluation.out_of_fold_accuracy,
        pairs=proposal.pairs,
        pair_losses=[float(both[pair]) for pair in proposal.pairs],
        n_clustered=sum(column.clustered for column in proposal.columns),
        seconds=seconds,
    )


class Start(NamedTuple):
    """A code to begin with, and the method to evaluate it and grow from it by."""

    matrix: CodeMatrix
    strategy: Strategy


def grow_from(
    starts: Sequence[Start], samples: TrainingSamples, rules: StopRules, report: Report | None = None
) -> Growth:
    """Grow from the first of some codes, evaluate the others as they are, and return the best outcome.

    Another code with at most two columns per class is taken in place of the grown one unless it errs more; a longer one
    only if it errs less by more than two standard errors of the difference.
    """
    best = _grown(samples, starts[0], rules, report)
    for start in starts[1:] if best.evaluation.loss > rules.target else ():
        other = _grown(samples, start, replace(rules, max_iter=0), report)
        other = replace(other, stop_reason="this code was taken as it is, without growth")
        if _is_preferable(other, best):
            best = other
    return best


def _grown(samples: TrainingSamples, start: Start, rules: StopRules, report: Report | None) -> Growth:
    """Grow one code."""
    code = GrowingCode(samples)
    code.start(start.matrix)
    return grow(code, start.strategy, rules, report)


def _is_preferable(other: Growth, best: Growth) -> bool:
    """Tell whether another code than the grown one is to be taken; a long one must be significantly better.

    Errors are compared, not losses: how far a sample misses the margin depends on how many columns share the weight.
    """
    before, now = best.evaluation.sample_errors, other.evaluation.sample_errors
    if before is None or now is None:
        return False
    gain, error = best.code.drop(before, now)
    if other.code.n_columns <= _SHORT * len(other.code.matrix):
        return gain >= 0.0
    return gain > _STANDARD_ERRORS_OF_LONG_CODE * max(error, _LEAST_GAIN)


def layered_proposal(code: GrowingCode, pair_losses: Floats, n_pairs: int) -> Proposal:
    """Separate the hardest pairs: by a simple learner if a pair is no column yet, else by a clustering-based one."""
    pairs = hard_pairs(pair_losses, n_pairs)
    patterns = [pair_column(len(code.matrix), pair) for pair in pairs]
    return Proposal([Column(pattern, is_column_of(code.matrix, pattern)) for pattern in patterns], pairs)


def hard_pairs(losses: ArrayLike, n_pairs: int) -> list[tuple[int, int]]:
    """Find at most `n_pairs` pairs of classes with the highest losses above zero, both directions added up.

    The highest loss comes first; of equal losses, the pair of smaller indices. The confusion and the risk matrix of the
    paper's Figure 5 select different pairs:

    >>> hard_pairs([[90, 0, 10], [0, 90, 10], [0, 5, 95]], 1), hard_pairs([[0, 0, 0], [0, 0, 4], [20, 6, 0]], 1)
    ([(1, 2)], [(0, 2)])
    """
    both = symmetric_losses(losses)
    first, second = np.triu_indices(len(both), 1)
    values = both[first, second]
    levels = np.round(values / (values.max(initial=0.0) or 1.0) / _EQUAL_LOSSES)
    order = np.argsort(-levels, kind="stable")[:n_pairs]
    return [(int(first[k]), int(second[k])) for k in order if values[k] > 0]


def symmetric_losses(losses: ArrayLike) -> NDArray[np.float64]:
    """Add up the losses of both directions of each pair; the diagonal becomes zero."""
    matrix = np.asarray(losses, dtype=np.float64)
    both = matrix + matrix.T
    np.fill_diagonal(both, 0.0)
    return both


def pair_column(n_classes: int, pair: tuple[int, int]) -> Pattern:
    """Return the column with the first class of a pair against the second."""
    column = np.zeros(n_classes, dtype=np.int8)
    column[list(pair)] = 1, -1
    return column


def is_column_of(matrix: CodeMatrix, column: Pattern) -> bool:
    """Tell whether a matrix has a column, or its negation."""
    wanted = canonical_columns(column[:, None])
    return bool((canonical_columns(matrix) == wanted).all(axis=0).any())
