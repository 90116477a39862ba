"""How WOLC-ECOC weighs the columns of a growing code, and finds the pairs of classes that are hard under the weights.

By default columns are pooled: each initial code is a pool, and so are the columns of all pairs of classes together.
Within a pool the weights follow from the matrix, and only the share of each pool is chosen, among a few dozen mixtures.
With so few to choose from, the out-of-fold accuracy of the best mixture is hardly too optimistic. The weights of single
columns, of which there may be thousands, are optimised once, for the round that is kept, and are used only if they make
fewer errors on samples that they were not fitted to. Alternatively, weights are optimised in every round; for several
learners they are logistic.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skecoc.classifiers.growth import (
    SUM_UNIT,
    Evaluation,
    GrowingCode,
    Growth,
    Proposal,
    Strategy,
    drawn_keys,
    errors_of,
    in_units,
    nested_errors_of,
    pairs_in_units,
    rows_without,
    stack_rows,
    sum_by_pairs,
)
from skecoc.classifiers.layered import layered_proposal
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import Keys, mix
from skecoc.data.samples import ArraySamples, BlockSamples, CodedSamples
from skecoc.decoding import LogisticWeightDecoder, OptimizedWeightDecoder
from skecoc.decoding.optimized.problem import (
    NO_SHIFT,
    Block,
    MemoryRows,
    Rows,
    class_factor,
    map_in_threads,
    row_scores,
    spans_of,
)
from skecoc.decoding.scoring import worst_rivals
from skecoc.learners.columns import Floats, Integers
from skecoc.support.compiling import inlined, kernel

Result = TypeVar("Result")

# Relative gap of weights that are fitted in every round: a wider one lets growth take the solver's slack for progress.
_ROUND_TOL = 1e-3
# Relative gap of the weights that are optimised once.
_FINAL_TOL = 1e-2
# Loss that the solver's rounding leaves of a zero.
_ZERO_LOSS = 1e-7
# Shares of pools are multiples of one over this.
_SHARES = 10
# Scores whose difference is no larger than this are tied.
_TIED = 1e-10
# The margin of optimised weights, in units of the mean distance between a sample's own class and its best rival.
_MARGIN = 1.5
# The penalty of optimised weights, in units of the margin divided by the mean square of the rows of pooled weights.
_PENALTY = 0.05
# With more held-out samples than this, a single fold shows whether optimised weights make fewer errors.
_MANY_HELD_OUT = 1_666
# With more weights than this they are not optimised: that would take longer than to train all columns.
_MOST_WEIGHTS = 20_000
# Samples that are scored at once, so that the entries of a long code are read only once for all of them.
_BLOCK_SAMPLES = 64

# Samples by whose codewords the solver chooses its method.
_LOOKED_AT = 2_000
# Weights are summed up in these units, one after the other, so that no order changes a sum.
_UNITS = SUM_UNIT ** np.arange(1, 5)
# Outputs (samples times columns) up to which weights are fitted to all samples on one machine.
_MOST_OUTPUTS = 2**24
# Beyond that, number of samples, at most about, that weights are first fitted to on one machine.
_MOST_SAMPLED = 2**17
# Keys are scrambled in different ways for different draws, so that the draws are independent.
_SAMPLING, _DRAWING = np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F)


@dataclass(kw_only=True)
class WeightStrategy(Strategy):
    """A way to weigh columns; pairs of highest loss are separated next, by columns in layers."""

    n_pairs: int
    n_regions: Sequence[int]  # of the columns of a pair, in turn
    is_capped: bool  # whether pairs with few samples have fewer regions

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest loss; of several learners, by the one that lowers it most."""
        return layered_proposal(code, evaluation, self.n_pairs, self.n_regions, is_capped=self.is_capped)


@dataclass(kw_only=True)
class OptimizedWeightStrategy(WeightStrategy):
    """Separate the pairs of highest risk under the best weights, which are found every round (Algorithm 3).

    All is computed from out-of-fold codewords if there are any. If the learners' outputs are margins, `margin` and `l2`
    are in units of the mean absolute output of the initial columns: margins are divided by the largest one, and most
    are small.
    """

    margin: float
    l2: float
    n_jobs: int | None = None
    _weights: Floats | None = field(default=None, init=False)  # of the last round
    _unit: float | None = field(default=None, init=False)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Optimise the weights, from the last round's with zeros for new columns: so the objective never rises."""
        if self._unit is None:
            size, number = code.sum(_sizes_of_outputs) if code.response == "decision_function" else (1.0, 1)
            self._unit = size / number or 1.0
        unsolved = OptimizedWeightDecoder(
            self.margin * self._unit, l2=self.l2 * self._unit, tol=_ROUND_TOL, n_jobs=self.n_jobs
        )
        n_new = code.n_columns - (0 if self._weights is None else self._weights.shape[1])
        start = None if self._weights is None else np.pad(self._weights, ((0, 0), (0, n_new)))
        decoder = fit_weights(code, unsolved, code.n_columns, warm_start=start)
        self._weights = decoder.weights_
        message = (decoder, code.matrix, code.samples.prior)
        losses, pairs = code.step(_margin_losses, message=message)
        pair_losses = sum_by_pairs(code, pairs)
        loss = code.mean(losses)
        accuracy = 1.0 - code.mean(code.map(errors_of, message=message))
        certificate = decoder.certificate_
        return Evaluation(
            decoder,
            loss if loss > _ZERO_LOSS else 0.0,
            pair_losses,
            accuracy if code.samples.n_folds == 0 else np.nan,
            accuracy,
            sample_losses=losses,
            objective=certificate.objective,
            hinge=certificate.hinge,
            risk=certificate.risk,
            gap=certificate.gap,
        )


def _sizes_of_outputs(samples: CodedSamples) -> tuple[float, int]:
    """Return the sum of the absolute outputs, and their number."""
    return float(np.abs(samples.codewords).sum(dtype=np.float64)), samples.codewords.size


def _margin_losses(
    samples: CodedSamples, decoder: OptimizedWeightDecoder, matrix: CodeMatrix, prior: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the hinge loss of each sample out of fold, and its sums by class and best rival, in units."""
    del prior
    code = np.ascontiguousarray((decoder.weights_ * decoder.matrix_).T)
    scores = row_scores(np.ascontiguousarray(samples.out_of_fold), code)
    rivals, leads = worst_rivals(scores, samples.y, decoder.margin)
    losses = np.maximum(leads, 0.0)
    pairs = pairs_in_units(samples.y, rivals, samples.weight * losses, len(matrix))
    return losses, pairs


@dataclass(kw_only=True)
class LogisticWeightStrategy(WeightStrategy):
    """Fit logistic weights to out-of-fold codewords, and separate the pairs of classes with the highest log-loss.

    The log-loss of a sample is that of weights fitted without its fold.
    """

    only_held_out = True

    # Decoders of the last round, by the fold that was left out.
    _last: dict[int | None, LogisticWeightDecoder] = field(default_factory=dict, init=False)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the weights, from the last round's, and once more without each fold."""
        samples = code.coded
        decoder = self._fitted(code, None)
        logs = decoder.scores(samples.out_of_fold)
        for fold in range(code.samples.n_folds):
            held_out = samples.fold == fold
            if held_out.any() and not held_out.all():
                logs[held_out] = self._fitted(code, fold).scores(samples.out_of_fold[held_out])
        losses = -logs[np.arange(len(samples.y)), samples.y]
        rivals, leads = worst_rivals(logs, samples.y)
        pair_losses = pairs_in_units(samples.y, rivals, samples.weight * losses, len(code.matrix))
        accuracy = 1.0 - code.mean((leads >= 0.0).astype(np.float64))
        certificate = decoder.certificate_
        return Evaluation(
            decoder,
            code.mean(losses),
            sum_by_pairs(code, pair_losses),
            accuracy if code.samples.n_folds == 0 else np.nan,
            accuracy,
            sample_losses=losses,
            objective=certificate.objective,
            gap=certificate.gap,
        )

    def _fitted(self, code: GrowingCode, without_fold: int | None) -> LogisticWeightDecoder:
        """Fit weights to out-of-fold codewords, without those of a fold, from the last round's.

        The columns of one learner and origin are a group.
        """
        samples = code.coded
        rows = rows_without(samples, without_fold)
        weight = samples.weight[rows] * code.samples.unit_weight
        decoder = LogisticWeightDecoder(tol=_ROUND_TOL)
        given = (samples.out_of_fold[rows], samples.y[rows], code.matrix, weight)
        self._last[without_fold] = decoder.fit(*given, groups=code.groups, start=self._last.get(without_fold))
        return decoder


@dataclass(kw_only=True)
class PooledWeightStrategy(WeightStrategy):
    """Choose the shares of pools by out-of-fold accuracy in every round, and optimise the weights of the kept round.

    `margin` and `l2` of the optimised weights are chosen from the scores if they are None. With `proves_weights`,
    optimised weights are used only if they make fewer errors out of fold than the pooled ones.
    """

    only_held_out = True

    margin: float | None
    l2: float | None
    proves_weights: bool
    n_jobs: int | None = None
    shares: list[Floats] = field(default_factory=list, init=False)  # of the pools, round by round
    # Mean distance between own class and best rival, round by round.
    _distances: list[float] = field(default_factory=list, init=False)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Choose the mixture of pools with the fewest errors out of fold; of several, their mean."""
        n_classes = len(code.matrix)
        pools = pooled_weights(code.matrix, code.parts)
        entries = []  # non-zero entries of the matrix by which each pool scores codewords
        for pool in pools:
            scoring = pool * code.matrix
            classes, columns = np.nonzero(scoring)
            entries.append((classes, columns, scoring[classes, columns]))
        mixtures = simplex_grid(len(pools))
        scores, (counts, total) = code.step(_score_pools, message=(entries, mixtures, n_classes))
        share = mixtures[counts == counts.max()].mean(axis=0)
        leads, distances = code.step(_leads, scores, message=(share,))
        distance = distances / total if total else 0.0
        errors, pair_losses = code.step(_errors_and_losses, leads, message=(distance, n_classes))
        self.shares.append(share)
        self._distances.append(distance)
        loss = 1.0 - float(counts.max() / total) if total else np.nan
        return Evaluation(
            OptimizedWeightDecoder.from_weights(np.tensordot(share, np.stack(pools), 1), code.matrix),
            loss,
            sum_by_pairs(code, pair_losses),
            1.0 - loss if code.samples.n_folds == 0 else np.nan,
            1.0 - loss,
            sample_losses=errors,
        )

    def refine(self, code: GrowingCode, growth: Growth) -> Growth:
        """Optimise the weights of the kept round, starting from the pooled ones, unless there are too many."""
        n_columns, pooled = growth.n_columns, growth.decoder
        matrix, prior = code.matrix[:, :n_columns], pooled.weights_
        n_folds, distance = code.samples.n_folds, self._distances[growth.kept]
        if np.count_nonzero(matrix) > _MOST_WEIGHTS or distance == 0.0:
            return growth
        # All classes must have out-of-fold codewords, also without the samples of any one fold.
        counts = code.sum(_count_by_fold, message=(len(matrix), n_folds))
        in_folds = counts[:, 1:]
        has_all_classes = in_folds.sum(axis=1, keepdims=True) > in_folds if n_folds else counts > 0
        if not has_all_classes.all():
            return growth
        margin = _MARGIN * distance if self.margin is None else self.margin
        l2 = _PENALTY * margin * len(matrix) / float((prior**2).sum()) if self.l2 is None else self.l2

        def fitted(without_fold: int | None, start: Floats = prior) -> OptimizedWeightDecoder:
            decoder = OptimizedWeightDecoder(margin, l2=l2, tol=_FINAL_TOL, n_jobs=self.n_jobs)
            return fit_weights(code, decoder, n_columns, without_fold=without_fold, warm_start=start, prior=prior)

        changes, start = {}, prior
        if n_folds:
            tried = n_folds if counts.sum() <= _MANY_HELD_OUT else 1
            nested = [fitted(fold) for fold in range(tried)]
            message = (matrix, code.samples.prior)
            errors = code.map(errors_of, message=(pooled, *message))
            nested_errors = code.map(nested_errors_of, message=(nested, pooled, *message))
            gain = code.drop(errors, nested_errors)[0] * n_folds / tried
            if self.proves_weights and gain <= 0.0:
                return growth
            start = nested[0].weights_
            changes["loss"] = max(code.mean(errors) - gain, 0.0)
            changes["out_of_fold_accuracy"] = 1.0 - changes["loss"]
        decoder = fitted(None, start)
        if not n_folds:
            changes["loss"] = code.mean(code.map(errors_of, message=(decoder, matrix, code.samples.prior)))
            if self.proves_weights and changes["loss"] >= growth.history[growth.kept].loss:
                return growth
            changes["accuracy"] = changes["out_of_fold_accuracy"] = 1.0 - changes["loss"]
        for name in ("objective", "hinge", "risk", "gap"):
            changes[name] = getattr(decoder.certificate_, name)
        return growth.with_decoder(decoder, **changes)


def pooled_weights(matrix: CodeMatrix, parts: Integers) -> list[Floats]:
    """Return the weights of each pool: of the initial codes and, once columns have been added, of the pairs.

    `parts` has the initial code of each column, -1 for added ones. In the pool of an initial code, a class gives all
    its columns the same weight. In the pool of pairs, a class gives each rival class the same weight. It is divided
    among the columns that were added for the pair; if there are none, among its initial columns; and if there are none
    either, among the columns of the first code.

    >>> matrix = np.array([[1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, 0]])
    >>> pooled_weights(matrix, np.array([0, 0, 0, -1]))[1].round(3)
    array([[0.167, 0.167, 0.167, 0.5  ],
           [0.167, 0.167, 0.167, 0.5  ],
           [0.333, 0.333, 0.333, 0.   ]])
    """
    used = (matrix != 0).astype(np.float64)
    pools = []
    for part in range(int(parts.max()) + 1):
        own = used * (parts == part)
        pools.append(own / own.sum(axis=1, keepdims=True))
    if not (parts < 0).any():
        return pools
    n_classes = len(matrix)
    columns = np.flatnonzero((used.sum(axis=0) == 2) & (matrix.sum(axis=0) == 0))  # one class against another
    first = used[:, columns].argmax(axis=0)
    second = n_classes - 1 - used[::-1, columns].argmax(axis=0)
    added = (parts[columns] < 0).astype(np.intp)
    counts = np.zeros((2, n_classes, n_classes))  # of initial and of added columns, by pair
    np.add.at(counts, (added, first, second), 1.0)
    counts[0][counts[1] > 0] = 0.0  # added columns replace initial ones
    share = np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0) / (n_classes - 1)
    weights = np.zeros(matrix.shape)
    weights[first, columns] = weights[second, columns] = share[added, first, second]
    pools.append(weights + (1.0 - weights.sum(axis=1, keepdims=True)).round(12) * pools[0])
    return pools


def simplex_grid(n_pools: int) -> Floats:
    """List the mixtures of pools: all shares that are multiples of a tenth and sum to 1.

    >>> len(simplex_grid(1)), len(simplex_grid(2)), len(simplex_grid(3))
    (1, 11, 66)
    """
    return np.array([s for s in product(range(_SHARES + 1), repeat=n_pools) if sum(s) == _SHARES]) / _SHARES


def _score_pools(
    samples: CodedSamples, pools: list[tuple[Integers, Integers, Floats]], mixtures: Floats, n_classes: int
) -> tuple[Floats, tuple[NDArray[np.int64], int]]:
    """Score out-of-fold codewords by each pool: (n_pools, n_samples, n_classes).

    Also sum up the weights of the samples that each mixture decodes correctly, and all weights, in units.
    """
    scores = np.stack([scores_by_entries(samples.out_of_fold, *pool, n_classes) for pool in pools])
    units = in_units(samples.weight).astype(np.int64)
    return scores, (count_correct(scores, samples.y, units, mixtures), int(units.sum()))


def _leads(samples: CodedSamples, scores: Floats, share: Floats) -> tuple[tuple[Integers, Floats], int]:
    """Return each sample's best rival and its lead in a mixture of pools; sum up the distances, in units."""
    mixed = share[0] * scores[0]
    for k in range(1, len(share)):  # in an order that does not change with the number of samples
        mixed += share[k] * scores[k]
    rivals, leads = worst_rivals(mixed, samples.y, 0.0)
    return (rivals, leads), int(in_units(samples.weight * np.abs(leads)).sum())


def _errors_and_losses(
    samples: CodedSamples, rivals_and_leads: tuple[Integers, Floats], margin: float, n_classes: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return 1 for each sample whose best rival is ahead or tied, else 0; sum up hinge losses by pair, in units."""
    rivals, leads = rivals_and_leads
    losses = np.maximum(margin + leads, 0.0)
    pairs = pairs_in_units(samples.y, rivals, samples.weight * losses, n_classes)
    return (leads >= -_TIED).astype(np.float64), pairs


def _count_by_fold(samples: CodedSamples, n_classes: int, n_folds: int) -> NDArray[np.intp]:
    """Count the samples of each class by fold; the first column has those that are never held out."""
    cells = samples.y * (n_folds + 1) + samples.fold + 1
    return np.bincount(cells, minlength=n_classes * (n_folds + 1)).reshape(n_classes, n_folds + 1)


def scores_by_entries(
    codewords: NDArray[np.floating], classes: Integers, columns: Integers, values: Floats, n_classes: int
) -> Floats:
    """Multiply codewords by a sparse matrix, in an order that does not change with the number of samples."""
    scores = np.empty((len(codewords), n_classes))
    for first in range(0, len(codewords), _BLOCK_SAMPLES):
        rows = slice(first, first + _BLOCK_SAMPLES)
        block = np.zeros((n_classes, len(codewords[rows])))
        _add_entries(np.ascontiguousarray(codewords[rows].T), classes, columns, values, block)
        scores[rows] = block.T
    return scores


@kernel
def _add_entries(codewords, classes, columns, values, scores):  # type: ignore[no-untyped-def]
    """Add the products of codewords and a sparse matrix to scores; samples are the last axis of both."""
    for e in range(values.size):
        score, output, value = scores[classes[e]], codewords[columns[e]], values[e]
        for i in range(score.size):
            score[i] += value * output[i]


def count_correct(scores: Floats, y: Integers, units: NDArray[np.int64], mixtures: Floats) -> NDArray[np.int64]:
    """Sum up the weights of the samples that each mixture of scores decodes correctly; a tie does not count."""
    n_pools, _, n_classes = scores.shape
    counts = np.zeros(len(mixtures), np.int64)
    certain = _count_uncertain(scores, y, units, mixtures, np.empty((n_classes, n_pools)), counts)
    return counts + certain


@kernel
def _count_uncertain(scores, y, units, mixtures, ahead, counts):  # type: ignore[no-untyped-def]
    """Add to the counts of mixtures what depends on them; return what any mixture decodes correctly."""
    n_pools = scores.shape[0]
    certain = 0
    for i in range(scores.shape[1]):
        n_open = _write_open_rivals(scores, i, y[i], ahead) if units[i] else 0
        if n_open == 0:
            certain += units[i]
            continue
        for g in range(mixtures.shape[0]):
            least = np.inf
            for r in range(n_open):
                lead = 0.0
                for k in range(n_pools):
                    lead += mixtures[g, k] * ahead[r, k]
                least = min(least, lead)
            if least > _TIED:
                counts[g] += units[i]
    return certain


@inlined
def _write_open_rivals(scores, sample, own, ahead):  # type: ignore[no-untyped-def]
    """Write how far a sample's class is ahead of its rivals in each pool; return how many rivals.

    Rivals that are behind in every pool, and so in every mixture, are left out.
    """
    n_open = 0
    for p in range(scores.shape[2]):
        is_open = False
        for k in range(scores.shape[0]):
            ahead[n_open, k] = scores[k, sample, own] - scores[k, sample, p]
            is_open = is_open or ahead[n_open, k] <= _TIED
        n_open += is_open and p != own
    return n_open


# Optimised weights, fitted to out-of-fold codewords wherever samples are.


def fit_weights(
    code: GrowingCode,
    decoder: OptimizedWeightDecoder,
    n_columns: int,
    *,
    without_fold: int | None = None,
    warm_start: Floats | None = None,
    prior: Floats | None = None,
) -> OptimizedWeightDecoder:
    """Fit optimised weights of the first columns of a code."""
    matrix = code.matrix[:, :n_columns]
    rows = rows_for_weights(code.samples, code.coded, matrix, decoder, without_fold)
    return decoder._fit_rows(rows, matrix, warm_start, prior)


def rows_for_weights(
    samples: ArraySamples | BlockSamples,
    coded: Any,
    matrix: CodeMatrix,
    decoder: OptimizedWeightDecoder,
    without_fold: int | None,
) -> Rows:
    """Return the out-of-fold codewords, of the first columns, that the weights of a matrix are fitted to.

    If they take little memory they are gathered on one machine in the order of the samples' keys, so that weights do
    not depend on where samples were. If they take more, and there is a penalty, sums are computed where samples are.
    """
    n_classes, n_columns = matrix.shape
    counts, units = samples.sum(_class_sums, coded, message=(without_fold, n_classes))
    # A class with samples has a positive weight, however small.
    totals = np.maximum(_UNITS @ units, counts * _UNITS[-1])
    factor = class_factor(totals, decoder.class_weight)
    n_rows = int(counts.sum())
    rows = _CodedRows(samples, coded, (n_columns, without_fold, factor), n_classes, n_rows, decoder.n_jobs)
    is_small = n_rows * n_columns <= _MOST_OUTPUTS if decoder.l2 > 0 else isinstance(samples, ArraySamples)
    return rows.drawn(n_rows) if is_small else rows


def _class_sums(
    samples: CodedSamples, without_fold: int | None, n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the samples of each class, without those of a fold, and sum up their weights in several units.

    What remains of a weight after rounding to one unit is summed up in the next smaller one, since classes may have
    much less weight than others. The sums have the shape (n_units, n_classes).
    """
    rows = rows_without(samples, without_fold)
    y, rest = samples.y[rows], samples.weight[rows]
    units = np.empty((len(_UNITS), n_classes), dtype=np.int64)
    for k, unit in enumerate(_UNITS):
        whole = np.rint(rest / unit)
        units[k] = np.bincount(y, whole, minlength=n_classes)
        rest = rest - whole * unit
    return np.bincount(y, minlength=n_classes), units


#: Number of columns, a fold to leave out or None, and the factor of the weights of each class.
Selection = tuple[int, int | None, Floats]


class _CodedRows(Rows):
    """Out-of-fold codewords for the solver of optimised weights, wherever samples are."""

    def __init__(
        self,
        samples: ArraySamples | BlockSamples,
        coded: Any,
        selection: Selection,
        n_classes: int,
        n_rows: int,
        n_jobs: int | None,
    ) -> None:
        super().__init__(n_classes, n_rows, n_jobs)
        self._samples, self._coded, self._selection = samples, coded, selection

    def map(self, function: Callable[[Block], Result]) -> list[Result]:
        if isinstance(self._samples, ArraySamples):
            return list(self._map_spans(function))
        message = (*self._selection, function)
        found: list[Result] = self._samples.sum(_apply_to_list, self._coded, message=message, merge=operator.add)
        return found

    def sum(
        self,
        function: Callable[[Block], Result],
        merge: Callable[[Result, Result], Result],
        *,
        with_shift: bool = False,  # noqa: ARG002
    ) -> Result:
        if isinstance(self._samples, ArraySamples):
            return reduce(merge, self._map_spans(function))
        message = (*self._selection, function)
        total: Result = self._samples.sum(_apply, self._coded, message=message, merge=merge)
        return total

    def _map_spans(self, function: Callable[[Block], Result]) -> Iterable[Result]:
        """Apply a function to spans of the rows of a block in memory, in threads."""
        samples = self._coded

        def of_span(span: slice) -> Result | None:
            part: list[Any] = [array[span] for array in samples]
            return _apply(CodedSamples(*part), *self._selection, function)

        found = map_in_threads(self.n_jobs, of_span, spans_of(len(samples.y)))
        return (of_rows for of_rows in found if of_rows is not None)

    def first_block(self) -> Block:
        rows = self.sample(_LOOKED_AT)
        return Block(rows.codewords, rows.y, rows.weight, NO_SHIFT)

    def sample(self, size: int) -> MemoryRows:
        """Draw about `size` rows by their keys: always the same ones, however rows are divided into blocks."""
        return self.drawn(min(size, _MOST_SAMPLED))

    def drawn(self, size: int) -> MemoryRows:
        """Return about `size` rows, or all if there are fewer, in the order of their keys."""
        message = (*self._selection, min(1.0, size / self.n_rows))
        codewords, y, weight, keys = self._samples.sum(_draw_rows, self._coded, message=message, merge=stack_rows)
        order = np.lexsort((y, keys))
        weight = weight[order]
        return MemoryRows(codewords[order], y[order], weight / weight.sum(), self.n_classes, self.n_jobs)


def _select(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats
) -> tuple[NDArray[np.floating], Integers, Floats, Keys]:
    """Return out-of-fold codewords, classes, weights that sum to 1 over all blocks, and keys."""
    samples = samples.first(n_columns)
    rows = rows_without(samples, without_fold)
    y = samples.y[rows]
    return samples.out_of_fold[rows], y, samples.weight[rows] * factor[y], samples.keys[rows]


def _apply(
    samples: CodedSamples,
    n_columns: int,
    without_fold: int | None,
    factor: Floats,
    function: Callable[[Block], Result],
) -> Result | None:
    """Apply a function to the rows of a block, with a random number for each; None if there are no rows."""
    codewords, y, weight, keys = _select(samples, n_columns, without_fold, factor)
    if len(y) == 0:
        return None
    return function(
        Block(codewords, y, weight, NO_SHIFT, np.multiply(mix(keys ^ _DRAWING), 2.0**-64, dtype=np.float64))
    )


def _apply_to_list(samples: CodedSamples, *arguments: Any) -> list[Any]:
    found = _apply(samples, *arguments)
    return [] if found is None else [found]


def _draw_rows(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats, share: float
) -> tuple[NDArray[Any], ...]:
    rows = _select(samples, n_columns, without_fold, factor)
    drawn = drawn_keys(rows[-1] ^ _SAMPLING, share)
    return tuple(part[drawn] for part in rows)
