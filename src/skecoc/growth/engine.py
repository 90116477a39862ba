"""The one loop of all grown codes: decode, find what is hard, train new columns, stop.

A method is a `Strategy`: how it decodes the code grown so far, and which questions it asks next. Training rows are
answered once per column; codewords are appended to, never computed again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.coding.matrix import CodeMatrix
from skecoc.growth.pairs import symmetric_losses
from skecoc.growth.training import ColumnTrainer, Question

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class GrowingCode:
    """A code matrix, its learners and the training rows' codewords, growing together.

    Parameters
    ----------
    trainer : ColumnTrainer
        Trains the columns; holds the rows.
    n_classes : int
        Number of classes.
    weight : ndarray of shape (n_samples,)
        Positive weights of the training rows.

    Attributes
    ----------
    matrix : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix.
    learners : list of length n_columns
        The trained learners.
    kinds : list of str of length n_columns
        "initial", "simple" or "clustered".
    codewords : ndarray of shape (n_samples, n_columns)
        Answers of the learners to their own training rows.
    honest : ndarray of shape (n_samples, n_columns)
        Answers of learners that have not seen the row; the same array as `codewords` without cross-fitting.
    margin_scale : float
        What margins are divided by: the largest absolute answer of the initial columns, frozen afterwards.
    training_seconds : float
        Time that the columns appended last took to train and answer.
    """

    def __init__(self, trainer: ColumnTrainer, n_classes: int, weight: Floats) -> None:
        self.trainer, self.y, self.weight = trainer, trainer.y, weight
        self.matrix: CodeMatrix = np.empty((n_classes, 0), dtype=np.int8)
        self.learners: list[BaseEstimator] = []
        self.kinds: list[str] = []
        self.codewords: Floats = np.empty((len(trainer.y), 0))
        self.honest = self.codewords
        self.margin_scale = 1.0
        self.training_seconds = 0.0

    @property
    def is_cross_fitted(self) -> bool:
        """Whether honest answers differ from plain ones."""
        return self.honest is not self.codewords

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return self.matrix.shape[1]

    def without_columns(self) -> "GrowingCode":
        """Return a code of the same rows that has no columns yet."""
        return GrowingCode(self.trainer.anew(), len(self.matrix), self.weight)

    def start(self, matrix: CodeMatrix) -> None:
        """Train the initial columns; margins are scaled by their largest answer from now on."""
        self._append([Question(column) for column in matrix.T], ["initial"] * matrix.shape[1])
        if self.trainer.response == "decision_function":
            self.margin_scale = float(np.abs(self.codewords).max()) or 1.0  # the paper's max |u|
            cross_fitted = self.is_cross_fitted
            self.codewords = self.codewords / self.margin_scale
            self.honest = self.honest / self.margin_scale if cross_fitted else self.codewords

    def ask(self, questions: Sequence[Question]) -> None:
        """Train and append further columns."""
        self._append(questions, ["clustered" if question.clustered else "simple" for question in questions])

    def _append(self, questions: Sequence[Question], kinds: list[str]) -> None:
        """Train columns and append them, their kinds and their answers."""
        started = perf_counter()
        trained = self.trainer.train(questions)
        self.matrix = np.column_stack([self.matrix, *(question.pattern for question in questions)])
        self.learners += trained.learners
        self.kinds += kinds
        cross_fitted = trained.honest is not trained.answers
        honest = np.hstack([self.honest, trained.honest / self.margin_scale]) if cross_fitted else None
        self.codewords = np.hstack([self.codewords, trained.answers / self.margin_scale])
        self.honest = self.codewords if honest is None else honest
        self.training_seconds = perf_counter() - started


@dataclass(frozen=True)
class Verdict:
    """How well a code decodes the training rows.

    Attributes
    ----------
    decoder : decoder
        Fitted to the code as it was.
    loss : float
        What growth wants to lower.
    pair_losses : ndarray of shape (n_classes, n_classes)
        Loss of the rows of each class by their worst rival.
    accuracy : float
        Share of the training rows that are decoded rightly from their own codewords.
    honest_accuracy : float
        The same from honest codewords.
    objective, hinge, risk, gap : float
        Certificate of optimised weights; NaN for other decoders.
    row_losses : ndarray of shape (n_samples,) or None
        Loss of each row, of which `loss` is the mean; None if the method does not judge by rows.
    row_errors : ndarray of shape (n_samples,) or None
        1 for each row that is decoded wrongly from its honest codeword, else 0.
    """

    decoder: Any
    loss: float
    pair_losses: Floats
    accuracy: float
    honest_accuracy: float
    objective: float = np.nan
    hinge: float = np.nan
    risk: float = np.nan
    gap: float = np.nan
    row_losses: Floats | None = None
    row_errors: Floats | None = None


class Proposal(NamedTuple):
    """What a strategy wants trained next: questions, and the pairs of classes they are about."""

    questions: list[Question]
    pairs: list[tuple[int, int]]


class Strategy(ABC):
    """What differs between the methods."""

    @abstractmethod
    def judge(self, code: GrowingCode) -> Verdict:
        """Fit a decoder to the code and measure what it costs."""

    @abstractmethod
    def propose(self, code: GrowingCode, verdict: Verdict) -> Proposal:
        """Choose the next questions; none ends the growth."""

    def refine(self, code: GrowingCode, growth: "Growth") -> "Growth":
        """Give the kept round a better decoder, or a better judgement, when growth is over; as it is by default."""
        del code
        return growth

    #: Reason to give when there are no further questions.
    exhausted = "no hard pair is left"


@dataclass(frozen=True)
class StopRules:
    """When growth ends.

    Attributes
    ----------
    max_iter : int
        Largest number of rounds that add columns.
    max_columns : int or None
        Largest number of columns.
    tol : float
        A round makes progress if it lowers the loss by more than this share of the new loss.
    standard_errors : float
        It must also lower the loss by more than this many standard errors of the difference, row by row.
    patience : int or None
        Number of rounds in a row without progress after which to stop; None counts every round as progress.
    target : float
        Loss at or below which nothing is left to do.
    """

    max_iter: int
    max_columns: int | None = None
    tol: float = 0.01
    standard_errors: float = 0.0
    patience: int | None = 3
    target: float = 0.0

    def counts_as_progress(self, before: Verdict, now: Verdict, weight: Floats) -> bool:
        """Tell whether the loss fell enough: by a share of what it is now (the paper's eq. 11), and beyond chance."""
        if self.patience is None or now.loss <= self.target:
            return True
        chance = self.standard_errors * standard_error(before.row_losses, now.row_losses, weight)
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

    def cut(self, proposal: "Proposal", n_columns: int) -> "Proposal":
        """Cut a proposal to the columns that may still be added."""
        room = None if self.max_columns is None else self.max_columns - n_columns
        return Proposal(proposal.questions[:room], proposal.pairs[:room])


@dataclass(frozen=True)
class GrowthRound:
    """One round of growth: the code as it stood, what it cost, and what was asked next.

    Attributes
    ----------
    n_columns : int
        Length of the code in this round.
    loss : float
        What growth wants to lower: the hinge of optimised weights, or the share of errors.
    objective, hinge, risk, gap : float
        Certificate of the optimised weights; NaN for other decoders.
    accuracy : float
        Share of training rows decoded rightly.
    honest_accuracy : float
        The same from answers of learners that have not seen the row.
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
    honest_accuracy: float
    pairs: list[tuple[int, int]]
    pair_losses: list[float]
    n_clustered: int
    seconds: dict[str, float]


@dataclass
class Growth:
    """The outcome: all rounds, their decoders, and which round is kept.

    Attributes
    ----------
    history : list of GrowthRound
        One record per round.
    decoders : list of decoder
        The decoder of each round; round t's reads the first ``history[t].n_columns`` columns.
    kept : int
        The last round that made progress.
    verdict : Verdict
        How well that round's code decodes.
    stop_reason : str
        Why growth ended.
    """

    history: list[GrowthRound]
    decoders: list[Any]
    kept: int
    verdict: Verdict
    stop_reason: str


def grow(
    code: GrowingCode,
    strategy: Strategy,
    rules: StopRules,
    report: Callable[[int, GrowthRound], None] | None = None,
) -> Growth:
    """Grow a started code until a rule stops it.

    Parameters
    ----------
    code : GrowingCode
        With its initial columns; grows in place.
    strategy : Strategy
        The method.
    rules : StopRules
        When to stop.
    report : callable, default=None
        Called with the number and the record of each round.

    Returns
    -------
    Growth
        Records, decoders, and the round to keep. Columns trained after that round stay in `code`.
    """
    history: list[GrowthRound] = []
    decoders: list[Any] = []
    previous: Verdict | None = None
    idle, stop_reason = 0, ""
    while not stop_reason:
        started = perf_counter()
        verdict = strategy.judge(code)
        judged = perf_counter()
        if previous is None or rules.counts_as_progress(previous, verdict, code.weight):
            kept, best, idle = len(history), verdict, 0
        else:
            idle += 1
        stop_reason = rules.reason_to_stop(verdict.loss, idle, len(history), code.n_columns)
        proposal = Proposal([], []) if stop_reason else rules.cut(strategy.propose(code, verdict), code.n_columns)
        if not proposal.questions:
            stop_reason = stop_reason or strategy.exhausted
        seconds = {"columns": code.training_seconds, "weights": judged - started, "pairs": perf_counter() - judged}
        history.append(_record(code, verdict, proposal, seconds))
        decoders.append(verdict.decoder)
        if report is not None:
            report(len(history) - 1, history[-1])
        if not stop_reason:
            code.ask(proposal.questions)
        previous = verdict
    return strategy.refine(code, Growth(history, decoders, kept, best, stop_reason))


def standard_error(before: Floats | None, now: Floats | None, weight: Floats) -> float:
    """Return the standard error of the mean difference between two losses of the same rows; 0 if there are none."""
    if before is None or now is None:
        return 0.0
    difference = before - now
    total = weight.sum()
    variance = np.average((difference - np.average(difference, weights=weight)) ** 2, weights=weight)
    return float(np.sqrt(variance / total))


def _record(code: GrowingCode, verdict: Verdict, proposal: Proposal, seconds: dict[str, float]) -> GrowthRound:
    """Write down a round."""
    both = symmetric_losses(verdict.pair_losses)
    return GrowthRound(
        n_columns=code.n_columns,
        loss=verdict.loss,
        objective=verdict.objective,
        hinge=verdict.hinge,
        risk=verdict.risk,
        gap=verdict.gap,
        accuracy=verdict.accuracy,
        honest_accuracy=verdict.honest_accuracy,
        pairs=proposal.pairs,
        pair_losses=[float(both[pair]) for pair in proposal.pairs],
        n_clustered=sum(question.clustered for question in proposal.questions),
        seconds=seconds,
    )
