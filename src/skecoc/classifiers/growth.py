"""The loop that grows all codes: decode, find hard pairs of classes, train new columns, stop.

A method is a `Strategy`: it says how to decode the current code and which columns to add next. Training samples are
evaluated once per column; codewords are extended, never recomputed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.classifiers.growing_code import GrowingCode
from skecoc.classifiers.weight_fits import drawn_keys, stack_rows
from skecoc.data.samples import CodedSamples
from skecoc.learners.columns import Column, Floats, Integers

# Samples that probabilities are calibrated on, at most about.
_CALIBRATION_SAMPLES = 4_096
# Another scrambling of keys than those that draw other samples.
_CALIBRATING = np.uint64(0x1C69B3F74AC4AE35)


@dataclass(frozen=True)
class Evaluation:
    """How well a code decodes the training samples."""

    decoder: Any  # fitted to the code as it was
    loss: float  # what growth wants to lower
    pair_losses: Floats  # loss of the samples of each class (first axis) by their worst rival
    accuracy: float  # of decoding codewords of learners that have seen the sample
    out_of_fold_accuracy: float  # of decoding codewords of learners that have not
    sample_losses: Any = None  # loss of each sample, of which `loss` is the mean; None if it is no mean
    # Certificate of optimised weights; NaN for other decoders.
    objective: float = np.nan
    hinge: float = np.nan
    risk: float = np.nan
    gap: float = np.nan


#: Codewords, class indices and weights of samples.
Calibration = tuple[NDArray[np.floating], Integers, Floats]


def _draw_for_calibration(samples: CodedSamples, n_columns: int, share: float) -> tuple[NDArray[Any], ...]:
    """Draw out-of-fold codewords, classes, weights, keys and folds of a share of the samples."""
    drawn = drawn_keys(samples.keys ^ _CALIBRATING, share)
    columns = samples.first(n_columns).out_of_fold[drawn]
    return columns, samples.y[drawn], samples.weight[drawn], samples.keys[drawn], samples.fold[drawn]


class Proposal(NamedTuple):
    """What a strategy wants trained next: columns, and the pairs of classes that they separate."""

    columns: list[Column]
    pairs: list[tuple[int, int]]
    reason: str = ""  # why there are no columns, if that is not the usual one


class Strategy(ABC):
    """What differs between the methods."""

    #: Reason to give when there are no further columns.
    exhausted = "no hard pair is left"
    #: Whether only samples that are held out matter.
    only_held_out = False
    #: Whether the code never grows, so that no codewords are kept.
    is_fixed = False

    @abstractmethod
    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit a decoder to the code and measure its loss."""

    @abstractmethod
    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Choose the next columns; none ends the growth."""

    def calibration(self, code: GrowingCode, n_columns: int) -> "tuple[Calibration, bool]":
        """Return codewords to calibrate probabilities on, and whether they are out of fold.

        They are drawn by the keys of samples, the same ones wherever samples are: held-out ones, beside the samples of
        classes that have none.
        """
        samples = code.samples
        share = min(1.0, _CALIBRATION_SAMPLES / samples.n_samples)
        drawn = code.sum(_draw_for_calibration, message=(n_columns, share), merge=stack_rows)
        codewords, y, weight, keys, fold = drawn
        held_out = fold >= 0
        order = np.lexsort((y, keys))
        order = order[(held_out | ~np.isin(y, y[held_out]))[order]]
        weight = weight[order] * samples.unit_weight / share
        return (codewords[order], y[order], weight), bool(held_out.any())

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
    why_none: str = ""  # why there are no rounds, if `max_iter` is 0 for a reason
    # Progress is counted from the last round that made some, not from the last one; and beyond chance the loss must
    # fall from what it was in the first round.
    against_best: bool = False

    def is_progress(self, first: Evaluation, before: Evaluation, now: Evaluation, code: GrowingCode) -> bool:
        """Tell whether the loss fell by more than a share of what it is now (the paper's eq. 11), and beyond chance."""
        if self.patience is None or now.loss <= self.target:
            return True
        if before.loss - now.loss <= self.tol * now.loss:
            return False
        base = first if self.against_best else before
        return base.loss - now.loss > self._chance(base, now, code)

    def _chance(self, before: Evaluation, now: Evaluation, code: GrowingCode) -> float:
        """Return by how much the loss must fall to mean something."""
        if self.standard_errors == 0.0 or before.sample_losses is None or now.sample_losses is None:
            return 0.0
        return self.standard_errors * code.drop(before.sample_losses, now.sample_losses)[1]

    def reason_to_stop(self, loss: float, idle: int, n_rounds: int, n_columns: int) -> str:
        """Say which rule ends growth; empty if none does."""
        if loss <= self.target:
            return "the loss reached its target"
        if self.patience is not None and idle >= self.patience:
            return "no progress for as many rounds as patience allows"
        if n_rounds >= self.max_iter:
            return self.why_none or "max_iter rounds were made"
        if self.max_columns is not None and n_columns >= self.max_columns:
            return "the code has max_columns columns"
        return ""

    def cut(self, proposal: Proposal, n_columns: int) -> Proposal:
        """Cut a proposal to the columns that may still be added."""
        free = None if self.max_columns is None else self.max_columns - n_columns
        return Proposal(proposal.columns[:free], proposal.pairs[:free], proposal.reason)


@dataclass(frozen=True)
class GrowthRound:
    """Record of one round of growth: length of the code, losses, and the pairs that are separated next.

    Attributes
    ----------
    n_columns : int
        Length of the code in this round.
    loss : float
        The loss that growth minimises: the hinge loss of optimised weights, the log-loss of logistic weights or the
        error rate.
    objective, gap : float
        Objective and relative gap of optimised or logistic weights, from their certificate; NaN for other weights.
    hinge, risk : float
        Hinge loss with and without the margin, from the certificate of optimised weights; NaN for other weights.
    accuracy : float
        Accuracy on the training samples, from learners trained on them; NaN if these are not evaluated.
    out_of_fold_accuracy : float
        Accuracy from out-of-fold codewords; with pooled weights, a tie counts as an error.
    pairs : list of (int, int)
        Pairs of class indices that the next columns separate.
    pair_losses : list of float
        Their losses.
    n_clustered : int
        Number of clustering-based columns among the next columns.
    seconds : dict of str to float
        Time to train the new "columns" of this round, to fit its "weights" and to choose the next "pairs".
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


Report = Callable[[int, GrowthRound], None]


@dataclass(frozen=True)
class Growth:
    """The outcome: the code with all its columns, all rounds and their decoders, and which round is kept."""

    code: GrowingCode
    history: list[GrowthRound]
    decoders: list[Any]  # the decoder of round t reads the first ``history[t].n_columns`` columns
    kept: int  # the last round that made progress
    stop_reason: str

    @property
    def n_columns(self) -> int:
        """Length of the code in the kept round."""
        return self.history[self.kept].n_columns

    @property
    def decoder(self) -> Any:
        """The decoder of the kept round."""
        return self.decoders[self.kept]

    def with_decoder(self, decoder: Any, **changes: Any) -> "Growth":
        """Return the growth with another decoder of the kept round, and changes of the round's record."""
        decoders, history = [*self.decoders], [*self.history]
        decoders[self.kept], history[self.kept] = decoder, replace(history[self.kept], **changes)
        return replace(self, decoders=decoders, history=history)


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
        if previous is None:
            first = previous = evaluation
        if not history or rules.is_progress(first, previous, evaluation, code):
            kept, best, idle = len(history), evaluation, 0
        else:
            idle += 1
        stop_reason = rules.reason_to_stop(evaluation.loss, idle, len(history), code.n_columns)
        proposal = Proposal([], []) if stop_reason else rules.cut(strategy.propose(code, evaluation), code.n_columns)
        if not proposal.columns:
            stop_reason = stop_reason or proposal.reason or strategy.exhausted
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
        previous = best if rules.against_best else evaluation
    return strategy.refine(code, Growth(code, history, decoders, kept, stop_reason))


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


def symmetric_losses(losses: ArrayLike) -> NDArray[np.float64]:
    """Add up the losses of both directions of each pair; the diagonal becomes zero."""
    matrix = np.asarray(losses, dtype=np.float64)
    both = matrix + matrix.T
    np.fill_diagonal(both, 0.0)
    return both


def advance(bar: Any, trainer: Any) -> None:
    """Move the bar by one learner; with several learners, say how long it will take until all folds are trained."""
    seconds = getattr(trainer, "seconds_left", None)
    if seconds is not None:
        bar.set_postfix_str(f"about {format_seconds(seconds)} left" if seconds else "", refresh=False)
    bar.update()


def format_seconds(seconds: float) -> str:
    """Write a time as people say it.

    >>> format_seconds(8.2), format_seconds(200)
    ('9 s', '4 min')
    """
    return f"{int(np.ceil(seconds))} s" if seconds < 100.0 else f"{int(np.ceil(seconds / 60.0))} min"
