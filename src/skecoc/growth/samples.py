"""The samples that a code grows on: they train its columns, hold its codewords, and are summed over.

Everything a method wants to know of samples is a function of one block of them, or a sum of such functions. So the same
methods grow codes on arrays, on memory-mapped blocks and on the partitions of a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import BaseDecoder
from skecoc.decoding.ties import decode
from skecoc.learners.columns import Column, ColumnTrainer, Floats, Integers, Response
from skecoc.learners.folds import Keys
from skecoc.learners.mixed import MixedTrainer
from skecoc.support.executor import Blocks, Executor, MemoryExecutor

#: Sums over samples are sums of multiples of this, which do not depend on the order or on the division into blocks.
SUM_UNIT = 2.0**-24


class CodedSamples(NamedTuple):
    """A block of training samples with their codewords.

    Both kinds of codewords are the same array if there are no folds, and if only samples that are held out matter: then
    both are out of fold.
    """

    codewords: NDArray[np.floating]  # (n_samples, n_columns), of learners that have seen the sample
    out_of_fold: NDArray[np.floating]  # of learners that have not
    y: Integers
    weight: Floats  # in (0, 1], parts of the largest weight
    fold: Integers  # the fold that holds the sample out; negative for none
    keys: Keys  # hashes of the samples, or their numbers

    @property
    def is_cross_fitted(self) -> bool:
        """Whether there are two kinds of codewords."""
        return self.out_of_fold is not self.codewords

    def first(self, n_columns: int) -> "CodedSamples":
        """Return the same samples with their first columns only."""
        if n_columns == self.codewords.shape[1]:
            return self
        codewords = self.codewords[:, :n_columns]
        return self._replace(
            codewords=codewords,
            out_of_fold=self.out_of_fold[:, :n_columns] if self.is_cross_fitted else codewords,
        )

    def beside(self, codewords: NDArray[np.floating], out_of_fold: NDArray[np.floating] | None) -> "CodedSamples":
        """Return the same samples with further columns; None for `out_of_fold` if samples have no folds."""
        joined = np.hstack([self.codewords, codewords])
        return self._replace(
            codewords=joined,
            out_of_fold=joined if out_of_fold is None else np.hstack([self.out_of_fold, out_of_fold]),
        )

    def scaled(self, scale: float) -> "CodedSamples":
        """Return the same samples with codewords divided by a number."""
        codewords = self.codewords / scale
        return self._replace(
            codewords=codewords, out_of_fold=self.out_of_fold / scale if self.is_cross_fitted else codewords
        )


class TrainingSamples(ABC):
    """What a code grows on, wherever the samples are."""

    executor: Executor
    prior: Floats  # share of each class in the weight of all samples
    response: Response
    n_samples: int
    total_weight: float  # of all samples
    unit_weight: float  # what a weight of 1 in `CodedSamples` stands for
    n_folds: int  # 0 without out-of-fold codewords

    #: Names of the learners if there are several, and of those that can be trained by regions; a single one is "".
    learner_names: tuple[str, ...] = ()
    clusterable: frozenset[str] = frozenset({""})

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @abstractmethod
    def without_columns(self) -> Blocks:
        """Return the states of samples before there are any columns; columns that come are the first of their kind."""

    @abstractmethod
    def train(self, columns: Sequence[Column], coded: Blocks, scale: float) -> tuple[list[BaseEstimator], Blocks]:
        """Train columns; return their learners, and samples with their outputs divided by a scale."""


class SamplesInMemory(TrainingSamples):
    """Samples in arrays, or in anything else that a learner takes: one block."""

    executor: MemoryExecutor

    def __init__(
        self,
        trainer: ColumnTrainer | MixedTrainer,
        n_classes: int,
        weight: Floats,
        folds: Integers | None = None,
        *,
        only_held_out: bool = False,
        keys: Keys | None = None,
    ) -> None:
        """`folds` may divide the samples that the trainer holds out further; samples of no fold can be left out.

        `keys` are hashes of the samples, by which blocks would order and draw them; None keeps them as they come.
        """
        if trainer.response is None:
            raise ValueError("the trainer of a growing code must know how to evaluate its columns")
        self.executor, self.trainer, self.response = MemoryExecutor(), trainer, trainer.response
        self.n_samples = len(weight)
        self.total_weight, self.unit_weight = float(weight.sum()), float(weight.max())
        self.weight = weight / self.unit_weight
        self.prior = np.bincount(trainer.y, weights=weight, minlength=n_classes) / self.total_weight
        self.folds = trainer.folds if folds is None else folds
        self.n_folds = 0 if self.folds is None else int(self.folds.max(initial=-1)) + 1
        self.only_held_out = only_held_out and self.folds is not None
        self.keys = np.arange(len(weight), dtype=np.uint64) if keys is None else keys
        # Single precision is what blocks keep; several learners may be surer than it can tell.
        self._dtype = np.float32 if only_held_out and isinstance(trainer, ColumnTrainer) else np.float64
        if isinstance(trainer, MixedTrainer):
            self.learner_names, self.clusterable = tuple(trainer.learners), trainer.clusterable
        elif trainer.clustered_learner is None:
            self.clusterable = frozenset()

    def without_columns(self) -> Blocks:
        """Return one block without codewords."""
        self.trainer = self.trainer.reset()
        y = self.trainer.y
        fold = np.full(len(y), -1) if self.folds is None else self.folds
        rows = np.flatnonzero(fold >= 0) if self.only_held_out else np.arange(len(y))
        empty = np.empty((len(rows), 0), self._dtype)
        return Blocks([CodedSamples(empty, empty, y[rows], self.weight[rows], fold[rows], self.keys[rows])])

    def train(self, columns: Sequence[Column], coded: Blocks, scale: float) -> tuple[list[BaseEstimator], Blocks]:
        """Train columns by their learners' own means."""
        if self.only_held_out:
            learners, outputs = self.trainer.train_held_out(columns)
            return learners, self.executor.map(CodedSamples.beside, coded, message=(self._kept(outputs, scale), None))
        trained = self.trainer.train(columns)
        out_of_fold = None if trained.out_of_fold is trained.outputs else self._kept(trained.out_of_fold, scale)
        return trained.learners, self.executor.map(
            CodedSamples.beside, coded, message=(self._kept(trained.outputs, scale), out_of_fold)
        )

    def _kept(self, outputs: Floats, scale: float) -> NDArray[np.floating]:
        """Return outputs divided by a scale, in the precision that they are kept in."""
        return np.divide(outputs, scale).astype(self._dtype, copy=False)

    def try_out(self, columns: Sequence[Column], scale: float) -> Floats:
        """Return the out-of-fold outputs that columns would have, as if each came next."""
        if self.only_held_out:
            return self.trainer.try_held_out(columns) / scale
        return self.trainer.try_out(columns).out_of_fold / scale


def rows_without(samples: CodedSamples, fold: int | None) -> Integers:
    """List the samples but for those of a fold; None leaves none out."""
    return np.arange(len(samples.y)) if fold is None else np.flatnonzero(samples.fold != fold)


class GrowingCode:
    """A code matrix, its learners and the training samples' codewords, growing together."""

    def __init__(self, samples: TrainingSamples) -> None:
        self.samples = samples
        self.coded = samples.without_columns()
        self.matrix: CodeMatrix = np.empty((samples.n_classes, 0), dtype=np.int8)
        self.learners: list[BaseEstimator] = []
        self.kinds: list[str] = []  # "initial", "simple" or "clustered"
        self.column_learners: list[str] = []  # names of the columns' learners; all empty if there is only one
        self.parts: Integers = np.empty(0, dtype=np.intp)  # which of the codes it started from; -1 for added columns
        self.margin_scale = 1.0  # what margins are divided by
        self.training_seconds = 0.0  # of the columns added last

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return self.matrix.shape[1]

    @property
    def arrays(self) -> CodedSamples:
        """The samples of a code that grows in memory."""
        executor = self.samples.executor
        if not isinstance(executor, MemoryExecutor):
            raise TypeError("this method grows codes on samples in memory only")
        return executor.state(self.coded)

    @property
    def groups(self) -> Integers:
        """The group of each column: initial columns by the code they belong to, added ones by their learner."""
        names = np.unique(self.column_learners, return_inverse=True)[1]
        return np.where(self.parts >= 0, self.parts, self.parts.max(initial=-1) + 1 + names)

    def start(self, matrices: Sequence[CodeMatrix], learners: Sequence[str] | None = None) -> None:
        """Train the columns of one code or several; margins are divided by their largest output from now on.

        `learners` has the name of the learner of each code, if there are several.
        """
        names = [""] * len(matrices) if learners is None else learners
        columns = [
            Column(pattern, learner=name) for matrix, name in zip(matrices, names, strict=True) for pattern in matrix.T
        ]
        self._append(columns, ["initial"] * len(columns))
        self.parts = np.repeat(np.arange(len(matrices)), [matrix.shape[1] for matrix in matrices])
        if self.samples.response == "decision_function":
            self.margin_scale = self.sum(_largest_output, merge=max) or 1.0  # the paper's max |u|
            self.coded = self.map(CodedSamples.scaled, message=(self.margin_scale,))

    def add(self, columns: Sequence[Column]) -> None:
        """Train and append further columns."""
        self._append(columns, ["clustered" if column.clustered else "simple" for column in columns])
        self.parts = np.append(self.parts, np.full(len(columns), -1))

    def _append(self, columns: Sequence[Column], kinds: list[str]) -> None:
        """Train columns and append them, their kinds and their outputs."""
        started = perf_counter()
        learners, self.coded = self.samples.train(columns, self.coded, self.margin_scale)
        self.matrix = np.column_stack([self.matrix, *(column.pattern for column in columns)])
        self.learners += learners
        self.kinds += kinds
        self.column_learners += [column.learner for column in columns]
        self.training_seconds = perf_counter() - started

    def map(self, function: Callable[..., Any], *values: Blocks, message: tuple[Any, ...] = ()) -> Blocks:
        """Compute something for each sample from its codewords, and from values computed so before."""
        return self.samples.executor.map(function, self.coded, *values, message=message)

    def sum(self, function: Callable[..., Any], *values: Blocks, message: tuple[Any, ...] = (), **merge: Any) -> Any:
        """Sum something up over samples."""
        return self.samples.executor.sum(function, self.coded, *values, message=message, **merge)

    def step(self, function: Callable[..., Any], *values: Blocks, message: tuple[Any, ...] = ()) -> tuple[Blocks, Any]:
        """Compute something for each sample, and sum something up, in one pass."""
        return self.samples.executor.step(function, self.coded, *values, message=message)

    def mean(self, values: Blocks) -> float:
        """Return the mean of a value of each sample."""
        total, weight = self.sum(_weighted_sums, values)
        return float(total / weight) if weight else np.nan

    def drop(self, before: Blocks, now: Blocks) -> tuple[float, float]:
        """Return by how much the mean of a value falls, and the standard error of that."""
        differences, squares, weight = self.sum(_sums_of_differences, before, now)
        mean, square = differences / weight, squares / weight
        total = _from_units(weight) * self.samples.unit_weight
        return mean, float(np.sqrt(max(square - mean**2, 0.0) / total))


def fit_decoder(decoder: Any, code: GrowingCode, samples: CodedSamples | None = None, matrix: Any = None) -> Any:
    """Fit a decoder to a code that grows in memory, or to the same samples with another matrix.

    With several learners, and if its scores are probabilities, it sees out-of-fold codewords, where there are any:
    learners that have seen the samples would all look alike, and too sure. Classes that are never held out are the
    exception.
    """
    coded, M = samples or code.arrays, code.matrix if matrix is None else matrix
    has_probabilities = getattr(decoder, "scores_are_log_probabilities", False)
    if not code.samples.learner_names and not has_probabilities:
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


def _largest_output(samples: CodedSamples) -> float | None:
    """Return the largest absolute output; None if there are no samples."""
    return float(np.abs(samples.codewords).max()) if len(samples.y) else None


def mean_output(code: GrowingCode) -> float:
    """Return the mean absolute output of all columns, or 1 if all are zero."""
    size, number = code.sum(_sizes_of_outputs)
    return size / number or 1.0


def _sizes_of_outputs(samples: CodedSamples) -> tuple[float, int]:
    """Return the sum of the absolute outputs, and their number."""
    return float(np.abs(samples.codewords).sum(dtype=np.float64)), samples.codewords.size


def in_units(values: Floats) -> Floats:
    """Round values to whole multiples of the unit of sums, and return how many these are."""
    return np.rint(values / SUM_UNIT)


def _from_units(units: Any) -> Any:
    """Return the value of a sum of multiples of the unit."""
    return units * SUM_UNIT


def sum_by_pairs(code: GrowingCode, units: NDArray[np.int64]) -> Floats:
    """Return sums by pairs of classes, in real weights, from sums of `pairs_in_units`."""
    sums: Floats = _from_units(units) * code.samples.unit_weight
    return sums


def pairs_in_units(y: Integers, other: Integers, values: Floats, n_classes: int) -> NDArray[np.int64]:
    """Sum values up by the class of each sample (first axis) and another class, in units."""
    sums = np.bincount(y * n_classes + other, in_units(values), minlength=n_classes**2)
    return sums.astype(np.int64).reshape(n_classes, n_classes)


def _weighted_sums(samples: CodedSamples, values: Floats) -> tuple[int, int]:
    """Sum a value of each sample up, and the weights, in units."""
    return int(in_units(samples.weight * values).sum()), int(in_units(samples.weight).sum())


def _sums_of_differences(samples: CodedSamples, before: Floats, now: Floats) -> tuple[int, int, int]:
    """Sum differences, their squares and the weights up, in units."""
    difference = before - now
    squares, weight = _weighted_sums(samples, difference**2)
    return _weighted_sums(samples, difference)[0], squares, weight


def errors_of(samples: CodedSamples, decoder: BaseDecoder, matrix: CodeMatrix, prior: Floats) -> Floats:
    """Return 1 for each sample that is decoded wrongly from its out-of-fold codeword, else 0."""
    return _errors(samples.first(matrix.shape[1]).out_of_fold, samples.y, decoder, matrix, prior)


def training_errors_of(samples: CodedSamples, decoder: BaseDecoder, matrix: CodeMatrix, prior: Floats) -> Floats:
    """Return 1 for each sample that is decoded wrongly from its plain codeword, else 0."""
    return _errors(samples.first(matrix.shape[1]).codewords, samples.y, decoder, matrix, prior)


def nested_errors_of(
    samples: CodedSamples, decoders: Sequence[BaseDecoder], otherwise: BaseDecoder, matrix: CodeMatrix, prior: Floats
) -> Floats:
    """Return errors on out-of-fold codewords by decoders that were fitted without each of the first folds.

    Samples of other folds, or of none, are decoded by another decoder.
    """
    samples = samples.first(matrix.shape[1])
    errors = np.empty(len(samples.y))
    has_decoder = (samples.fold >= 0) & (samples.fold < len(decoders))
    which = np.where(has_decoder, samples.fold, -1)
    for fold, decoder in [(-1, otherwise), *enumerate(decoders)]:
        members = np.flatnonzero(which == fold)
        errors[members] = _errors(samples.out_of_fold[members], samples.y[members], decoder, matrix, prior)
    return errors


def _errors(
    codewords: NDArray[np.floating], y: Integers, decoder: BaseDecoder, matrix: CodeMatrix, prior: Floats
) -> Floats:
    """Return 1 for each codeword that is not decoded to its class, else 0."""
    if len(y) == 0:
        return np.empty(0)
    return (decode(decoder, codewords, matrix, prior).argmax(axis=1) != y).astype(np.float64)
