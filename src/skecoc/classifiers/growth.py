"""Codes that grow: a code with its training samples' codewords, and the loop that adds columns to it.

A method is a `Strategy`: it says how the current code is decoded, and which columns come next. Training samples are
evaluated once per column. Whatever a method computes from them is a function of `CodedSamples`, or a sum of such
functions, so the same code serves samples in memory, in blocks and on a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import Keys, mix
from skecoc.data.samples import ArraySamples, BlockSamples, CodedSamples, Sample
from skecoc.decoding import BaseDecoder
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import (
    HELD_OUT,
    SEEN,
    Column,
    ColumnSeeds,
    Floats,
    Integers,
    Response,
    Trainer,
    evaluate_columns,
)
from skecoc.learners.mixed import MixedTrainer

#: Sums over samples are sums of multiples of this, which do not depend on the order or on the division into blocks.
SUM_UNIT = 2.0**-24

#: Number of samples, at most about, that probabilities are calibrated on, and few numbers that weigh columns fitted to.
DRAWN_SAMPLES = 4_096
# Pair losses that differ by less than this share of the largest one count as equal, so that rounding does not decide.
_EQUAL_LOSSES = 1e-9
# Keys are scrambled in another way than for other draws, so that draws are independent.
_CALIBRATING = np.uint64(0x1C69B3F74AC4AE35)


class GrowingCode:
    """A code matrix, its learners and the training samples' codewords, growing together.

    Codewords are kept unless `is_fixed`.
    """

    samples: Any  # ArraySamples or BlockSamples
    trainer: Any  # of one learner, or of several

    def __init__(
        self, samples: ArraySamples | BlockSamples, trainer: Trainer | MixedTrainer, *, is_fixed: bool = False
    ) -> None:
        self.samples, self.trainer = samples, trainer
        self.coded: Any = None if is_fixed else samples.without_columns()
        self.seeds = ColumnSeeds(trainer.root)
        self.matrix: CodeMatrix = np.empty((samples.n_classes, 0), dtype=np.int8)
        self.columns: list[Column] = []
        self.column_learners: list[str] = []  # names of the columns' learners; all empty if there is only one
        self.learners: list[BaseEstimator] = []
        self.kinds: list[str] = []  # "initial", "simple" or "clustered"
        self.parts: Integers = np.empty(0, dtype=np.intp)  # initial code that a column belongs to; -1 for added columns
        self.initial_work = self.added_work = 0  # columns times the samples that take part in them
        self.margin_scale = 1.0  # margins are divided by this
        self.training_seconds = 0.0  # of the columns added last
        self.learner_names, self.clusterable = trainer.learner_names, trainer.clusterable

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return self.matrix.shape[1]

    @property
    def response(self) -> Response:
        """How columns are evaluated."""
        return self.trainer.response or self.trainer.respond(self.learners)

    @property
    def groups(self) -> Integers:
        """The group of each column: initial ones by their code, added ones by learner and number of regions."""
        numbers: dict[tuple[int, str, int], int] = {}
        every = zip(self.parts, self.columns, strict=True)
        origins = [(int(part), "", 0) if part >= 0 else (-1, own.learner, own.n_regions) for part, own in every]
        return np.array([numbers.setdefault(origin, len(numbers)) for origin in origins], dtype=np.intp)

    def start(self, matrices: Sequence[CodeMatrix], learners: Sequence[str] | None = None) -> None:
        """Train the columns of one code or several; margins are divided by their largest output from now on.

        `learners` has the name of the learner of each code, if there are several.
        """
        columns, parts = [], []
        for part, matrix in enumerate(matrices):
            name = "" if learners is None else learners[part]
            columns += [Column(pattern, learner=name) for pattern in matrix.T]
            parts += [part] * matrix.shape[1]
        self.add(columns, parts)
        if self.coded is not None and self.response == "decision_function":
            self.margin_scale = self.sum(_largest_output, merge=max) or 1.0  # the paper's max |u|
            self.coded = self.map(CodedSamples.scaled, message=(self.margin_scale,))

    def add(self, columns: Sequence[Column], parts: Sequence[int] | None = None) -> None:
        """Train and append columns; `parts` has the initial code that each belongs to, None is for further columns."""
        parts = [-1] * len(columns) if parts is None else parts
        started = perf_counter()
        columns = self.seeds.seeded(columns)
        self.learners += self.trainer.fit(columns)
        if self.coded is not None:
            self.coded = self._extended(self.coded, columns)
        patterns = []
        for column, part in zip(columns, parts, strict=True):
            work = int(self.samples.class_counts[column.pattern != 0].sum())
            if part >= 0:
                self.initial_work += work
            else:
                self.added_work += work
            patterns.append(column.pattern)
            self.columns.append(column)
            self.column_learners.append(column.learner)
            self.kinds.append("initial" if part >= 0 else "clustered" if column.clustered else "simple")
        self.matrix = np.column_stack([self.matrix, *patterns])
        self.parts = np.append(self.parts, np.array(parts, dtype=np.intp))
        self.training_seconds = perf_counter() - started

    def _extended(self, coded: Any, columns: Sequence[Column], *, tried: bool = False) -> Any:
        """Return samples with the outputs of further columns."""
        samples, scale = self.samples, self.margin_scale
        if isinstance(samples, BlockSamples) or samples.only_held_out:
            outputs = self.trainer.outputs(columns, HELD_OUT, tried=tried)
            return samples.map(CodedSamples.beside, coded, outputs, message=(None, scale))
        outputs = self.trainer.outputs(columns, SEEN)
        out_of_fold = None
        if samples.folds is not None:
            out_of_fold = outputs.copy()
            out_of_fold[samples.folds >= 0] = self.trainer.outputs(columns, HELD_OUT, tried=tried)
        return coded.beside(outputs, out_of_fold, scale)

    def try_out(self, columns: Sequence[Column]) -> CodedSamples:
        """Return the samples, in memory, with the outputs of columns that are not appended.

        Each column is trained with the seed that it would have if it were appended alone.
        """
        columns = self.seeds.seeded(columns, tried=True)
        nothing = np.empty((len(self.coded.y), 0))
        return self._extended(self.coded._replace(codewords=nothing, out_of_fold=nothing), columns, tried=True)

    def map(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = ()) -> Any:
        """Compute something for each sample from its codewords, and from values computed so before."""
        return self.samples.map(function, self.coded, *values, message=message)

    def sum(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = (), **merge: Any) -> Any:
        """Sum something up over samples."""
        return self.samples.sum(function, self.coded, *values, message=message, **merge)

    def step(self, function: Callable[..., Any], *values: Any, message: tuple[Any, ...] = ()) -> tuple[Any, Any]:
        """Compute something for each sample, and sum something up, in one pass."""
        return self.samples.step(function, self.coded, *values, message=message)

    def mean(self, values: Any) -> float:
        """Return the mean of a value of each sample."""
        total, weight = self.sum(_weighted_sums, values)
        return float(total / weight) if weight else np.nan

    def sampled_outputs(self, sample: Sample) -> Floats:
        """Evaluate all columns on some samples that their learners were trained on."""
        if isinstance(self.samples, BlockSamples):
            return self.trainer.sampled_outputs(self.columns, sample)
        X, are_all = self.trainer.X, np.array_equal(sample.rows, np.arange(self.samples.n_samples))
        X = X if are_all else _safe_indexing(X, sample.rows)
        return evaluate_columns(self.learners, X, self.response, n_jobs=self.trainer.n_jobs)


def fit_decoder(decoder: Any, code: GrowingCode, samples: CodedSamples | None = None, matrix: Any = None) -> Any:
    """Fit a decoder to a code that grows in memory, or to the same samples with another matrix.

    With several learners, and for decoders whose scores are probabilities, out-of-fold codewords are used where there
    are any: on training samples, learners that overfit look as accurate as others, and probabilities are too extreme.
    Samples of classes that are never held out are added with their training codewords.
    """
    coded, M = samples or code.coded, code.matrix if matrix is None else matrix
    has_probabilities = getattr(decoder, "scores_are_log_probabilities", False)
    if not code.learner_names and not has_probabilities:
        # Calibrated columns count samples; other decoders only compare their weights.
        return decoder.fit(coded.codewords, coded.y, M, coded.weight * code.samples.unit_weight)
    held_out = coded.fold >= 0
    rows = np.flatnonzero(held_out | ~np.isin(coded.y, coded.y[held_out]))
    fitted = (coded.out_of_fold[rows], coded.y[rows], M, coded.weight[rows] * code.samples.unit_weight)
    if not getattr(decoder, "takes_groups", False):
        return decoder.fit(*fitted)
    groups = code.groups
    further = M.shape[1] - len(groups)  # columns that are tried out
    return decoder.fit(*fitted, groups=np.append(groups, np.full(further, groups.max(initial=-1) + 1)))


# Sums over samples, and values of each sample.


def _largest_output(samples: CodedSamples) -> float | None:
    return float(np.abs(samples.codewords).max()) if len(samples.y) else None


def rows_without(samples: CodedSamples, fold: int | None) -> Integers:
    """List the samples without those of a fold; None leaves none out."""
    return np.arange(len(samples.y)) if fold is None else np.flatnonzero(samples.fold != fold)


def drawn_keys(keys: Keys, share: float) -> Integers:
    """List the rows whose scrambled keys are among the smallest share of all keys."""
    if share >= 1.0:
        return np.arange(len(keys))
    return np.flatnonzero(mix(keys) <= np.uint64(share * (2**64 - 2**12)))


def stack_rows(first: tuple[NDArray[Any], ...], second: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Join arrays of rows."""
    return tuple(np.concatenate(parts) for parts in zip(first, second, strict=True))


def in_units(values: Floats) -> Floats:
    """Round values to whole multiples of the unit of sums, and return how many these are."""
    return np.rint(values / SUM_UNIT)


def sum_by_pairs(code: GrowingCode, units: NDArray[np.int64]) -> Floats:
    """Return sums by pairs of classes, in weights as they were given, from sums of `pairs_in_units`."""
    sums: Floats = units * SUM_UNIT * code.samples.unit_weight
    return sums


def pairs_in_units(y: Integers, other: Integers, values: Floats, n_classes: int) -> NDArray[np.int64]:
    """Sum values up by the class of each sample (first axis) and another class, in units."""
    sums = np.bincount(y * n_classes + other, in_units(values), minlength=n_classes**2)
    return sums.astype(np.int64).reshape(n_classes, n_classes)


def _weighted_sums(samples: CodedSamples, values: Floats) -> tuple[int, int]:
    return int(in_units(samples.weight * values).sum()), int(in_units(samples.weight).sum())


def errors_of(
    samples: CodedSamples, decoder: BaseDecoder, matrix: CodeMatrix, prior: Floats, *, is_training: bool = False
) -> Floats:
    """Return 1 for each sample that is decoded wrongly from its out-of-fold codeword, else 0."""
    samples = samples.first(matrix.shape[1])
    codewords = samples.codewords if is_training else samples.out_of_fold
    if len(samples.y) == 0:
        return np.empty(0)
    return (decode(decoder, codewords, matrix, prior).argmax(axis=1) != samples.y).astype(np.float64)


def training_errors_of(samples: CodedSamples, decoder: BaseDecoder, matrix: CodeMatrix, prior: Floats) -> Floats:
    """Return 1 for each sample that is decoded wrongly from its training codeword, else 0."""
    return errors_of(samples, decoder, matrix, prior, is_training=True)


@dataclass(frozen=True)
class Evaluation:
    """How well a code decodes the training samples."""

    decoder: Any  # fitted to the code as it was
    loss: float  # what growth minimises
    pair_losses: Floats  # loss of the samples of each class (first axis), by the other class that scored highest
    accuracy: float  # on training codewords
    out_of_fold_accuracy: float
    # Certificate of optimised weights; NaN for other decoders.
    objective: float = np.nan
    hinge: float = np.nan
    risk: float = np.nan
    gap: float = np.nan


class Calibration(NamedTuple):
    """Samples that probabilities are calibrated on."""

    codewords: NDArray[np.floating]
    y: Integers  # class indices
    weight: Floats
    is_held_out: bool = False  # whether codewords are out of fold
    scores: Floats | None = None  # by decoders that were fitted without the samples; None: by the fitted decoder


class Proposal(NamedTuple):
    """What a strategy wants trained next: columns, and the pairs of classes that they separate."""

    columns: list[Column]
    pairs: list[tuple[int, int]]
    reason: str = ""  # why there are no columns, if that is not the usual one


class Strategy(ABC):
    """What differs between the methods."""

    #: Reason to give when there are no further columns.
    exhausted = "no hard pair is left"
    #: Whether the pairs that would come next can be told without training anything.
    tells_next = False
    #: Whether codewords are kept only of samples that are held out.
    only_held_out = False
    #: Whether the code never grows, so that no codewords are kept.
    is_fixed = False

    @abstractmethod
    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit a decoder to the code and measure its loss."""

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Choose the next columns; none, the default, ends the growth."""
        del code, evaluation
        return Proposal([], [])

    def calibration(self, code: GrowingCode, growth: "Growth") -> Calibration:
        """Return samples to calibrate probabilities on.

        Samples of classes that are never held out are among them.
        """
        samples = code.samples
        share = min(1.0, DRAWN_SAMPLES / samples.n_samples)
        codewords, y, weight, fold = drawn_samples(code, growth.n_columns, share)
        held_out = fold >= 0
        rows = np.flatnonzero(held_out | ~np.isin(y, y[held_out]))
        return Calibration(codewords[rows], y[rows], weight[rows], bool(held_out.any()))

    def refine(self, code: GrowingCode, growth: "Growth") -> "Growth":
        """Return the growth with a better decoder of the kept round; as it is by default."""
        del code
        return growth


def drawn_samples(code: GrowingCode, n_columns: int, share: float) -> tuple[NDArray[Any], ...]:
    """Draw out-of-fold codewords of a share of the samples, with their classes, weights and folds.

    Samples are drawn by their keys, wherever they are.
    """
    codewords, y, weight, keys, fold = code.sum(_draw, message=(n_columns, share), merge=stack_rows)
    order = np.lexsort((y, keys))
    return codewords[order], y[order], weight[order] * code.samples.unit_weight / share, fold[order]


def draw_by_keys(samples: CodedSamples, share: float) -> Integers:
    """List the samples that are drawn if a share of all are."""
    return drawn_keys(samples.keys ^ _CALIBRATING, share)


def _draw(samples: CodedSamples, n_columns: int, share: float) -> tuple[NDArray[Any], ...]:
    drawn = draw_by_keys(samples, share)
    columns = samples.first(n_columns).out_of_fold[drawn]
    return columns, samples.y[drawn], samples.weight[drawn], samples.keys[drawn], samples.fold[drawn]


@dataclass(frozen=True)
class StopRules:
    """When growth ends."""

    max_iter: int | None = None  # largest number of rounds that add columns
    max_columns: int | None = None
    max_work: float | None = None  # largest work of added columns, in units of that of the initial code
    tol: float = 0.01  # a round makes progress if it lowers the loss by more than this fraction of the new loss
    patience: int | None = 3  # rounds in a row without progress before the end; None: every round makes progress
    target: float = 0.0  # growth ends at this loss or below
    why_none: str = ""  # why there are no rounds, if `max_iter` is 0 for a reason
    against_best: bool = False  # whether a round is compared with the last one that made progress, not the previous one

    def is_progress(self, before: float, now: float) -> bool:
        """Tell whether the loss fell by more than a fraction of itself (the paper's eq. 12)."""
        return self.patience is None or now <= self.target or before - now > self.tol * now

    def reason_to_stop(self, loss: float, idle: int, n_rounds: int, code: GrowingCode) -> str:
        """Say which rule ends growth; empty if none does."""
        if loss <= self.target:
            return "the loss reached its target"
        if self.patience is not None and idle >= self.patience:
            return "no progress for as many rounds as patience allows"
        if self.max_iter is not None and n_rounds >= self.max_iter:
            return self.why_none or "max_iter rounds were made"
        if self.max_columns is not None and code.n_columns >= self.max_columns:
            return "the code has max_columns columns"
        if self.max_work is not None and code.added_work >= self.max_work * code.initial_work:
            return "added columns took max_work times the work of the initial code"
        return ""


@dataclass(frozen=True)
class GrowthRound:
    """Record of one round of growth: length of the code, losses, and the pairs that are separated next.

    Attributes
    ----------
    n_columns : int
        Length of the code in this round.
    loss : float
        The loss that growth minimises. In WOLC-ECOC: the log-loss of out-of-fold codewords or, without folds, what
        weights minimise on training codewords. In other methods: the error rate.
    objective, gap : float
        Objective and relative gap of optimised or logistic weights, from their certificate; NaN for other weights.
    hinge, risk : float
        Hinge loss with and without the margin, from the certificate of optimised weights; NaN for other weights.
    accuracy : float
        Accuracy on the training samples, from learners trained on them; NaN if these are not evaluated.
    out_of_fold_accuracy : float
        Accuracy from out-of-fold codewords; of the kept round of WOLC-ECOC, by weights that have not seen the fold. In
        WOLC-ECOC a tie counts as an error.
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


@dataclass(frozen=True)
class Growth:
    """The outcome: the code with all its columns, all rounds and their decoders, and which round is kept."""

    code: GrowingCode
    history: list[GrowthRound]
    decoders: list[Any]  # the decoder of round t reads the first ``history[t].n_columns`` columns
    kept: int  # the last round that made progress
    stop_reason: str
    next_pairs: list[tuple[int, int]]  # pairs that would have been separated next, the hardest first

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


def grow(
    code: GrowingCode,
    strategy: Strategy,
    rules: StopRules,
    report: Callable[[int, GrowthRound, GrowingCode], None] | None = None,
) -> Growth:
    """Grow a started code, in place, until a rule stops it; columns of rounds after the kept one stay in the code."""
    history: list[GrowthRound] = []
    decoders: list[Any] = []
    previous = np.inf
    idle, stop_reason = 0, ""
    while not stop_reason:
        started = perf_counter()
        evaluation = strategy.evaluate(code)
        evaluated = perf_counter()
        if not history or rules.is_progress(previous, evaluation.loss):
            kept, best, idle = len(history), evaluation.loss, 0
        else:
            idle += 1
        stop_reason = rules.reason_to_stop(evaluation.loss, idle, len(history), code)
        columns: list[Column] = []
        pairs: list[tuple[int, int]] = []
        next_pairs = []
        if stop_reason and evaluation.loss > rules.target and strategy.tells_next and not code.learner_names:
            next_pairs = strategy.propose(code, evaluation).pairs
        if not stop_reason:
            free = None if rules.max_columns is None else rules.max_columns - code.n_columns
            proposal = strategy.propose(code, evaluation)
            columns, pairs = proposal.columns[:free], proposal.pairs[:free]
            if not columns:
                stop_reason = proposal.reason or strategy.exhausted
        losses = symmetric_losses(evaluation.pair_losses)
        seconds = {
            "columns": code.training_seconds,
            "weights": evaluated - started,
            "pairs": perf_counter() - evaluated,
        }
        record = GrowthRound(
            n_columns=code.n_columns,
            loss=evaluation.loss,
            objective=evaluation.objective,
            hinge=evaluation.hinge,
            risk=evaluation.risk,
            gap=evaluation.gap,
            accuracy=evaluation.accuracy,
            out_of_fold_accuracy=evaluation.out_of_fold_accuracy,
            pairs=pairs,
            pair_losses=[float(losses[pair]) for pair in pairs],
            n_clustered=sum(column.clustered for column in columns),
            seconds=seconds,
        )
        history.append(record)
        decoders.append(evaluation.decoder)
        if report is not None:
            report(len(history) - 1, record, code)
        if not stop_reason:
            code.add(columns)
        previous = best if rules.against_best else evaluation.loss
    return strategy.refine(code, Growth(code, history, decoders, kept, stop_reason, next_pairs))


def symmetric_losses(losses: ArrayLike) -> NDArray[np.float64]:
    """Add up the losses of both directions of each pair; the diagonal becomes zero."""
    matrix = np.asarray(losses, dtype=np.float64)
    both = matrix + matrix.T
    np.fill_diagonal(both, 0.0)
    return both


def hard_pairs(losses: ArrayLike, n_pairs: int | None = None) -> list[tuple[int, int]]:
    """Find the pairs of classes with the highest losses above zero, both directions added up; at most `n_pairs`.

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


def advance(bar: Any, trainer: Any) -> None:
    """Move the bar by one learner; with several learners, show the time that is left until all folds are trained."""
    seconds = getattr(trainer, "seconds_left", None)
    if seconds is not None:
        left = f"{int(np.ceil(seconds))} s" if seconds < 100.0 else f"{int(np.ceil(seconds / 60.0))} min"
        bar.set_postfix_str(f"about {left} left" if seconds else "", refresh=False)
    bar.update()
