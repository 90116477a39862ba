"""A code that grows: its matrix, its columns, and the training samples' codewords.

Everything a method wants to know of samples is a function of a `CodedSamples`, or a sum of such functions.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from skecoc.coding.matrix import CodeMatrix
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


def rows_without(samples: CodedSamples, fold: int | None) -> Integers:
    """List the samples but for those of a fold; None leaves none out."""
    return np.arange(len(samples.y)) if fold is None else np.flatnonzero(samples.fold != fold)


class GrowingCode:
    """A code matrix, its learners and the training samples' codewords, growing together.

    Codewords are kept unless `is_fixed`.
    """

    samples: Any  # ArraySamples or BlockSamples
    trainer: Any  # of one learner, or of several

    def __init__(
        self, samples: ArraySamples | BlockSamples, trainer: Trainer | MixedTrainer, *, is_fixed: bool = False
    ) -> None:
        self.samples, self.trainer, self.is_fixed = samples, trainer, is_fixed
        self.coded: Any = None if is_fixed else samples.without_columns()
        self.seeds = ColumnSeeds(trainer.root)
        self.matrix: CodeMatrix = np.empty((samples.n_classes, 0), dtype=np.int8)
        self.columns: list[Column] = []
        self.learners: list[BaseEstimator] = []
        self.kinds: list[str] = []  # "initial", "simple" or "clustered"
        self.parts: Integers = np.empty(0, dtype=np.intp)  # which of the codes it started from; -1 for added columns
        self.margin_scale = 1.0  # what margins are divided by
        self.training_seconds = 0.0  # of the columns added last

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return self.matrix.shape[1]

    @property
    def column_learners(self) -> list[str]:
        """Names of the columns' learners; all empty if there is only one."""
        return [column.learner for column in self.columns]

    @property
    def learner_names(self) -> tuple[str, ...]:
        """Names of the learners if there are several."""
        return tuple(self.trainer.trainers) if isinstance(self.trainer, MixedTrainer) else ()

    @property
    def clusterable(self) -> frozenset[str]:
        """Names of the learners that can be trained by regions; a single one is ""."""
        if isinstance(self.trainer, MixedTrainer):
            return self.trainer.clusterable
        return frozenset() if self.trainer.clustered_learner is None else frozenset({""})

    @property
    def response(self) -> Response:
        """How columns are evaluated."""
        return self.trainer.response or self.trainer.respond(self.learners)

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
        if self.coded is not None and self.response == "decision_function":
            self.margin_scale = self.sum(_largest_output, merge=max) or 1.0  # the paper's max |u|
            self.coded = self.map(CodedSamples.scaled, message=(self.margin_scale,))

    def add(self, columns: Sequence[Column]) -> None:
        """Train and append further columns."""
        self._append(columns, ["clustered" if column.clustered else "simple" for column in columns])
        self.parts = np.append(self.parts, np.full(len(columns), -1))

    def _append(self, columns: Sequence[Column], kinds: list[str]) -> None:
        """Train columns and append them, their kinds and their outputs."""
        started = perf_counter()
        columns = self.seeds.seeded(columns)
        self.learners += self.trainer.fit(columns)
        if self.coded is not None:
            self.coded = self._extended(self.coded, columns)
        self.matrix = np.column_stack([self.matrix, *(column.pattern for column in columns)])
        self.columns += columns
        self.kinds += kinds
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
        """Return the samples, in memory, with the outputs that columns would have if each came next."""
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

    def drop(self, before: Any, now: Any) -> tuple[float, float]:
        """Return by how much the mean of a value falls, and the standard error of that."""
        differences, squares, weight = self.sum(_sums_of_differences, before, now)
        mean, square = differences / weight, squares / weight
        total = weight * SUM_UNIT * self.samples.unit_weight
        return mean, float(np.sqrt(max(square - mean**2, 0.0) / total))

    # What a code that does not grow wants to know of some samples, or of all, when it is decoded.

    def sampled_outputs(self, sample: Sample) -> Floats:
        """Evaluate all columns on some samples that they have seen."""
        if isinstance(self.samples, BlockSamples):
            return self.trainer.sampled_outputs(self.columns, sample)
        X, are_all = self.trainer.X, np.array_equal(sample.rows, np.arange(self.samples.n_samples))
        X = X if are_all else _safe_indexing(X, sample.rows)
        return evaluate_columns(self.learners, X, self.response, n_jobs=self.trainer.n_jobs)


def fit_decoder(decoder: Any, code: GrowingCode, samples: CodedSamples | None = None, matrix: Any = None) -> Any:
    """Fit a decoder to a code that grows in memory, or to the same samples with another matrix.

    With several learners, and if its scores are probabilities, it sees out-of-fold codewords, where there are any:
    learners that have seen the samples would all look alike, and too sure. Classes that are never held out are the
    exception.
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


def sum_by_pairs(code: GrowingCode, units: NDArray[np.int64]) -> Floats:
    """Return sums by pairs of classes, in real weights, from sums of `pairs_in_units`."""
    sums: Floats = units * SUM_UNIT * code.samples.unit_weight
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
