"""How WOLC-ECOC weighs the columns of a growing code, and finds the pairs of classes that are hard under the weights.

There is one strategy with two losses: optimised weights (hinge loss) for one learner, logistic weights (log-loss) for
several. Between rounds only the shares of groups of columns are fitted, a few numbers, to out-of-fold codewords; their
log-loss judges the round. Groups are the initial codes, the added columns by their number of regions and, of one
learner, the columns of all pairs of classes, each pair with the same weight. The weights of single columns, of which
there may be thousands, are fitted once, for the round that is kept. A penalty draws them to the weights of the groups;
its strength is chosen by the log-loss of samples under weights that were fitted without their fold. Without folds,
weights are fitted in every round to training codewords, and their hinge or log-loss judges it, as in the paper.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from sklearn.base import clone

from skecoc.classifiers.calibration import fit_temperature
from skecoc.classifiers.growth import (
    DRAWN_SAMPLES,
    SUM_UNIT,
    Calibration,
    Evaluation,
    GrowingCode,
    Growth,
    Proposal,
    Strategy,
    draw_by_keys,
    drawn_keys,
    drawn_samples,
    errors_of,
    in_units,
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
from skecoc.decoding.groups import fit_steepness, group_weights, pair_weights, with_fewer_errors
from skecoc.decoding.optimized.decoder import AUTO, weight_scale
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
from skecoc.support.compiling import kernel

Result = TypeVar("Result")

#: Strengths of the penalty, in the unit of `weight_scale`. The strongest one leaves the weights of the groups nearly as
#: they are.
STRENGTHS = (50.0, 5.0, 0.5, 0.05, 0.005)
# Which one is tried first; then its neighbours, as long as the loss falls. With many weights it is the strongest one,
# under which the solver needs a few passes only.
_FIRST_STRENGTH, _MANY_WEIGHTS = 2, 5_000
# Relative gap of weights that are fitted without a fold.
_NESTED_TOL = 1e-2
# With more held-out samples than this, those of a single fold choose the strength.
_MANY_HELD_OUT = 1_666
# Loss that the solver's rounding leaves of a zero.
_ZERO_LOSS = 1e-7
# Decimals of shares of the total weight; what is left beyond them is rounding.
_ROUNDED = 12
# Scores of rivals are equal if they differ by no more than this.
_TIED = 1e-6

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
    """Weigh columns by optimised or logistic weights; separate the pairs of highest loss, by columns in layers."""

    only_held_out = tells_next = True

    decoder: OptimizedWeightDecoder | LogisticWeightDecoder  # with the settings of the weights
    n_pairs: int
    n_regions: Sequence[int] | None  # of the columns of a pair, in turn; None: by the number of its samples
    strength: float = field(default=np.nan, init=False)  # of the penalty of the final weights
    grouped: Any = field(default=None, init=False)  # the decoder with the weights that the penalty draws to
    _sums: Any = field(default=None, init=False)  # of the outputs of each group's first columns times codes, by sample
    _n_summed: int = field(default=0, init=False)  # how many columns these are
    _steepness: Floats | None = field(default=None, init=False)  # of the groups in the last round
    _had_pairs: bool = field(default=False, init=False)  # whether the first of them was that of pairs
    _last: Any = field(default=None, init=False)  # decoder of the last round, if weights are fitted in every round
    _calibration: Calibration | None = field(default=None, init=False)

    @property
    def _is_logistic(self) -> bool:
        return isinstance(self.decoder, LogisticWeightDecoder)

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest loss; of several learners, by the one that lowers it most."""
        return layered_proposal(code, evaluation, self.n_pairs, self.n_regions)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Weigh groups of columns; the loss is the log-loss of out-of-fold codewords."""
        if code.samples.n_folds == 0:
            return self._evaluate_training(code)
        matrix, groups = code.matrix, code.groups
        n_held_out = code.sum(_count)
        if not n_held_out:
            nothing = np.zeros((len(matrix), len(matrix)))
            equal = OptimizedWeightDecoder.from_weights(group_weights(matrix, groups).mean(axis=0), matrix)
            return Evaluation(equal, np.nan, nothing, np.nan, np.nan)
        n_known = 0 if self._sums is None else self._n_summed
        known = [] if self._sums is None else [self._sums]
        self._sums = code.map(_sum_groups, *known, message=(matrix[:, n_known:], groups[n_known:]))
        self._n_summed = code.n_columns
        # Scores by weights that are equal within a group are its sums, divided by numbers of columns.
        counts = np.array([(matrix[:, groups == number] != 0).sum(axis=1) for number in range(groups.max() + 1)])
        sums, weights = self._sums, group_weights(matrix, groups)
        has_pairs = not self._is_logistic and bool((code.parts < 0).any())
        if has_pairs:  # the first group is then the columns of pairs, whichever group they are in
            own = pair_weights(matrix)
            rest = 1.0 - own.sum(axis=1)
            pairs = own + rest[:, np.newaxis].round(_ROUNDED) * weights[0]
            sums = code.map(_beside_pairs, sums, message=(own * matrix, rest.round(_ROUNDED) / counts[0]))
            weights = np.concatenate([[pairs], np.where(counts[:, :, np.newaxis] > 0, weights, pairs)])
            counts = np.concatenate([np.ones_like(counts[:1]), counts])
        share = min(1.0, DRAWN_SAMPLES / n_held_out)
        drawn, y, weight, keys = code.sum(_draw_scores, sums, message=(counts, share), merge=stack_rows)
        order = np.lexsort((y, keys))
        by_group = np.ascontiguousarray(drawn[order].transpose(1, 0, 2))
        y, weight = y[order], weight[order] * code.samples.unit_weight / share
        start = self._steepness if has_pairs == self._had_pairs else None
        self._steepness, self._had_pairs = fit_steepness(by_group, y, weight, start=start), has_pairs
        # A class without columns in a group has its score of the first group.
        factors = self._steepness[:, np.newaxis] / np.maximum(counts, 1)
        factors[0] += (self._steepness[:, np.newaxis] * (counts == 0)).sum(axis=0) / counts[0]
        losses, correct, total, pair_losses = code.sum(_log_losses, sums, message=(factors * (counts > 0),))
        steepness = self._steepness
        if has_pairs:
            is_whole = [(matrix[:, groups == number] != 0).sum(axis=0).max() > 2 for number in range(groups.max() + 1)]
            steepness = with_fewer_errors(by_group, y, share * weight, steepness, 1 + np.flatnonzero(is_whole))
        size = float(steepness.sum())
        # If no group tells the classes apart, all have the same share.
        shares = steepness / size if size else np.full(len(counts), 1.0 / len(counts))
        mixed = np.tensordot(shares, weights, 1)
        return Evaluation(
            LogisticWeightDecoder._from_weights(mixed, matrix, size)
            if self._is_logistic
            else OptimizedWeightDecoder.from_weights(mixed, matrix),
            losses / total if total else np.nan,  # next to a sample of very large weight, others have none
            sum_by_pairs(code, pair_losses),
            np.nan,
            correct / total if total else np.nan,
        )

    def _evaluate_training(self, code: GrowingCode) -> Evaluation:
        """Fit the weights to training codewords; the loss is their mean hinge or log-loss, without the penalty."""
        matrix, last = code.matrix, self._last
        decoder: Any = clone(self.decoder)
        if self._is_logistic:
            decoder = _fit_logistic(code, decoder, code.n_columns)
        elif last is None:
            decoder = fit_weights(code, decoder, code.n_columns)
        else:  # the problem must stay the same, so that losses can be compared
            decoder.set_params(margin=last.margin_, l2=last.l2_)
            start = np.pad(last.weights_, ((0, 0), (0, code.n_columns - last.weights_.shape[1])))
            decoder = fit_weights(code, decoder, code.n_columns, warm_start=start)
        self._last = decoder
        losses, pairs = code.step(_losses_of, message=(decoder, len(matrix)))
        loss = code.mean(losses)
        accuracy = 1.0 - code.mean(code.map(errors_of, message=(decoder, matrix, code.samples.prior)))
        loss = loss if loss > _ZERO_LOSS else 0.0
        return Evaluation(decoder, loss, sum_by_pairs(code, pairs), accuracy, accuracy, **_certified(decoder))

    def refine(self, code: GrowingCode, growth: Growth) -> Growth:
        """Fit the weights of the kept round, under the penalty by which samples of other folds have least log-loss."""
        n_columns = growth.n_columns
        matrix, n_folds = code.matrix[:, :n_columns], code.samples.n_folds
        self.grouped = growth.decoder
        n_held_out = code.sum(_count)
        if n_folds == 0 or not n_held_out:
            used = matrix != 0
            self.grouped = OptimizedWeightDecoder.from_weights(used / used.sum(axis=1, keepdims=True), matrix)
            return growth
        prior = self.grouped.weights_
        codewords, y, weight, fold = drawn_samples(code, n_columns, min(1.0, DRAWN_SAMPLES / n_held_out))
        decoder, unit = clone(self.decoder), 0.0
        fit: Callable[..., Any] = partial(_fit_logistic, code)
        if not self._is_logistic:
            fit = partial(fit_weights, code, prior=prior)
            held_out, present = rows_for_weights(code.samples, code.coded, matrix, decoder, None)
            margin, unit = weight_scale(held_out, matrix[present].astype(np.float64), prior[present])
            decoder.set_params(margin=margin if decoder.margin == AUTO else decoder.margin)

        def with_strength(strength: float) -> Any:
            return clone(decoder).set_params(**({"l2": strength * unit} if np.isfinite(strength) else {}))

        scores, folds = self.grouped.scores(codewords), range(n_folds)
        members = [np.flatnonzero(fold == number) for number in folds]

        @cache
        def score_fold(strength: float, number: int) -> Floats:
            """Score the samples of a fold by weights that are fitted without it."""
            rough = with_strength(strength)
            rough = clone(rough).set_params(tol=max(rough.tol, _NESTED_TOL))
            fitted = fit(rough, n_columns, without_fold=number) if len(members[number]) else self.grouped
            return fitted.scores(codewords[members[number]])

        def loss_of(strength: float, folds: Sequence[int]) -> float:
            for number in folds:
                scores[members[number]] = score_fold(strength, number)
            rows = np.concatenate([members[number] for number in folds])
            return self._log_loss(scores[rows], y[rows], weight[rows])

        if not self._is_logistic and decoder.l2 == AUTO:
            tried = folds if n_held_out <= _MANY_HELD_OUT else folds[:1]
            first = _FIRST_STRENGTH if np.count_nonzero(matrix) <= _MANY_WEIGHTS else 0
            self.strength = least_on_path(lambda strength: loss_of(strength, tried), STRENGTHS, first)
        loss_of(self.strength, folds)
        final = fit(with_strength(self.strength), n_columns)
        self._calibration = Calibration(codewords, y, weight, is_held_out=True, scores=scores)
        accuracy = float(weight @ (worst_rivals(scores, y)[1] < 0.0) / weight.sum())
        return growth.with_decoder(final, out_of_fold_accuracy=accuracy, **_certified(final))

    def _log_loss(self, scores: Floats, y: Integers, weight: Floats) -> float:
        """Return the mean log-loss of scores at the temperature that suits them."""
        logits = scores if self._is_logistic else scores / fit_temperature(scores, y, weight)
        return float(-(weight @ log_softmax(logits, axis=1)[np.arange(len(y)), y]) / weight.sum())

    def calibration(self, code: GrowingCode, growth: Growth) -> Calibration:
        """Return samples with their scores by weights that were fitted without their fold, if there are any."""
        return self._calibration or super().calibration(code, growth)


def least_on_path(function: Callable[[float], float], values: Sequence[float], first: int) -> float:
    """Return the value at which a function is least, going from one of the values to both sides while it falls.

    >>> least_on_path(lambda value: abs(value - 1.0), [8.0, 4.0, 2.0, 1.0, 0.5], first=1)
    1.0
    """
    best, least = first, function(values[first])
    for step in (1, -1):
        for place in range(first + step, len(values) if step > 0 else -1, step):
            result = function(values[place])
            if result >= least:
                break
            best, least = place, result
        if best != first:
            break
    return values[best]


def _certified(decoder: Any) -> dict[str, float]:
    """Return what a record of a round shows of the certificate of weights."""
    names = ("objective", "hinge", "risk", "gap")
    certificate = getattr(decoder, "certificate_", None)
    return {name: float(getattr(certificate, name)) for name in names if hasattr(certificate, name)}


# Sums over samples, and values of each sample.


def _count(samples: CodedSamples) -> int:
    return len(samples.y)


def _sum_groups(samples: CodedSamples, *given: Any) -> NDArray[np.floating]:
    """Add the outputs of the last columns, times codes, to sums by sample, group and class.

    `given` has the sums over earlier columns, if there are any, and the codes and groups of the last ones.
    """
    *before, matrix, groups = given
    n_samples, n_groups, n_classes = len(samples.y), int(groups.max()) + 1, len(matrix)
    outputs = samples.out_of_fold
    sums = np.zeros((n_samples, max(n_groups, before[0].shape[1] if before else 0), n_classes), outputs.dtype)
    if before:
        sums[:, : before[0].shape[1]] = before[0]
    for number, column in enumerate(matrix.T, start=outputs.shape[1] - len(groups)):
        classes = np.flatnonzero(column)
        sums[:, groups[number - outputs.shape[1]], classes] += outputs[:, [number]] * column[classes]
    return sums


def _beside_pairs(
    samples: CodedSamples, sums: NDArray[np.floating], scoring: Floats, rest: Floats
) -> NDArray[np.floating]:
    """Put before the sums of each group the scores by columns of pairs, and by a part of the sums of the first group.

    Columns are added one after the other, in an order that does not change with the number of samples.
    """
    scores = sums[:, 0] * rest
    columns, classes = np.nonzero(scoring.T)
    _add_outputs(samples.out_of_fold, columns, classes, scoring[classes, columns], scores)
    return np.concatenate([scores.astype(sums.dtype)[:, np.newaxis], sums], axis=1)


@kernel
def _add_outputs(outputs, columns, classes, factors, scores):  # type: ignore[no-untyped-def]
    """Add the outputs of columns, times factors, to scores of classes."""
    for i in range(len(outputs)):
        for k in range(len(columns)):
            scores[i, classes[k]] += outputs[i, columns[k]] * factors[k]


def _draw_scores(samples: CodedSamples, sums: NDArray[np.floating], counts: Floats, share: float) -> tuple[Any, ...]:
    """Draw samples with their scores by each group, and their classes, weights and keys."""
    drawn = draw_by_keys(samples, share)
    scores = sums[drawn] / np.maximum(counts, 1.0)
    groups, classes = np.nonzero(counts == 0)
    scores[:, groups, classes] = scores[:, 0, classes]
    return scores, samples.y[drawn], samples.weight[drawn], samples.keys[drawn]


def _log_losses(
    samples: CodedSamples, sums: NDArray[np.floating], factors: Floats
) -> tuple[int, int, int, NDArray[np.int64]]:
    """Sum up log-losses, the weights of correct samples, all weights, and log-losses by pair, in units; a tie is wrong.

    Scores are sums times `factors`, of shape (n_groups, n_classes). A pair is a sample's own class and its best rival.
    """
    total = np.zeros((len(sums), sums.shape[2]))
    for number, factor in enumerate(factors):  # in an order that does not change with the number of samples
        total += sums[:, number] * factor
    rivals, leads = worst_rivals(total, samples.y)
    losses = logsumexp(total, axis=1) - total[np.arange(len(total)), samples.y]
    pairs = pairs_in_units(samples.y, rivals, samples.weight * losses, total.shape[1])
    loss, correct, every = (
        int(in_units(samples.weight * values).sum()) for values in (losses, leads < 0.0, np.ones(len(total)))
    )
    return loss, correct, every, pairs


def _losses_of(samples: CodedSamples, decoder: Any, n_classes: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the loss of each sample that its decoder minimises, and its sums by class and best rival, in units.

    Without a margin, a sample whose best rivals are tied counts for no pair (the strict inequality in eq. 14).
    """
    codewords, own = np.ascontiguousarray(samples.out_of_fold, dtype=np.float64), np.arange(len(samples.y))
    if isinstance(decoder, LogisticWeightDecoder):
        scores = decoder.scores(codewords)
        rivals, losses = worst_rivals(scores, samples.y)[0], -scores[own, samples.y]
        return losses, pairs_in_units(samples.y, rivals, samples.weight * losses, n_classes)
    scores = row_scores(codewords, np.ascontiguousarray((decoder.weights_ * decoder.matrix_).T))
    rivals, leads = worst_rivals(scores, samples.y, decoder.margin_)
    losses = np.maximum(leads, 0.0)
    counted = np.ones(len(own), dtype=bool)
    if decoder.margin_ == 0.0:
        others = scores.copy()
        others[own, samples.y] = others[own, rivals] = -np.inf
        counted = scores[own, rivals] - others.max(axis=1) > _TIED
    return losses, pairs_in_units(samples.y, rivals, samples.weight * losses * counted, n_classes)


# Weights of single columns, fitted to out-of-fold codewords wherever samples are.


def _fit_logistic(
    code: GrowingCode,
    decoder: LogisticWeightDecoder,
    n_columns: int,
    *,
    without_fold: int | None = None,
) -> Any:
    """Fit logistic weights of the first columns of a code in memory."""
    samples = code.coded.first(n_columns)
    rows = rows_without(samples, without_fold)
    weight = samples.weight[rows] * code.samples.unit_weight
    given = samples.out_of_fold[rows], samples.y[rows], code.matrix[:, :n_columns], weight
    return decoder.fit(*given, groups=code.groups[:n_columns])


def fit_weights(
    code: GrowingCode,
    decoder: OptimizedWeightDecoder,
    n_columns: int,
    *,
    without_fold: int | None = None,
    warm_start: Floats | None = None,
    prior: Floats | None = None,
) -> OptimizedWeightDecoder:
    """Fit optimised weights of the first columns of a code; classes without samples keep the weights of `prior`."""
    matrix = code.matrix[:, :n_columns]
    rows, present = rows_for_weights(code.samples, code.coded, matrix, decoder, without_fold)
    if len(present) == len(matrix):
        return decoder._fit_rows(rows, matrix, prior if warm_start is None else warm_start, prior)
    if prior is None:
        raise ValueError("every class must have samples, unless there are weights for those that have none")
    if len(present) < 2:
        return OptimizedWeightDecoder.from_weights(prior, matrix)
    decoder._fit_rows(rows, matrix[present], prior[present], prior[present])
    return decoder._with_classes(present, prior, matrix)


def rows_for_weights(
    samples: ArraySamples | BlockSamples,
    coded: Any,
    matrix: CodeMatrix,
    decoder: OptimizedWeightDecoder,
    without_fold: int | None,
) -> tuple[Rows, Integers]:
    """Return the out-of-fold codewords, of the first columns, that the weights of a matrix are fitted to.

    Also return the classes that they are of; their class indices are places among these. If codewords take little
    memory they are gathered on one machine in the order of the samples' keys, so that weights do not depend on where
    samples were. If they take more, and there is a penalty, sums are computed where samples are.
    """
    n_classes, n_columns = matrix.shape
    counts, units = samples.sum(_class_sums, coded, message=(without_fold, n_classes))
    present = np.flatnonzero(counts)
    # A class with samples has a positive weight, however small.
    totals = np.maximum(_UNITS @ units, counts * _UNITS[-1])[present]
    factor, places = np.zeros(n_classes), np.zeros(n_classes, dtype=np.intp)
    factor[present], places[present] = class_factor(totals, decoder.class_weight), np.arange(len(present))
    n_rows = int(counts.sum())
    selection = n_columns, without_fold, factor, places
    rows = _CodedRows(samples, coded, selection, len(present), n_rows, decoder.n_jobs)
    is_small = n_rows * n_columns <= _MOST_OUTPUTS if decoder.l2 != 0 else isinstance(samples, ArraySamples)
    return rows.drawn(n_rows) if is_small and n_rows else rows, present


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


#: Number of columns, a fold to leave out or None, and of each class the factor of its weights and its place.
Selection = tuple[int, int | None, Floats, Integers]


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
        # A sample that is given twice is one of twice the weight, so that solver and solution are the same.
        is_new = np.append(True, (np.diff(keys[order]) != 0) | (np.diff(y[order]) != 0))
        first = np.flatnonzero(is_new)
        weight, order = np.add.reduceat(weight[order], first), order[first]
        return MemoryRows(codewords[order], y[order], weight / weight.sum(), self.n_classes, self.n_jobs)


def _select(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats, places: Integers
) -> tuple[NDArray[np.floating], Integers, Floats, Keys]:
    """Return out-of-fold codewords, classes, weights that sum to 1 over all blocks, and keys."""
    samples = samples.first(n_columns)
    rows = rows_without(samples, without_fold)
    y = samples.y[rows]
    return samples.out_of_fold[rows], places[y], samples.weight[rows] * factor[y], samples.keys[rows]


def _apply(
    samples: CodedSamples,
    n_columns: int,
    without_fold: int | None,
    factor: Floats,
    places: Integers,
    function: Callable[[Block], Result],
) -> Result | None:
    """Apply a function to the rows of a block, with a random number for each; None if there are no rows."""
    codewords, y, weight, keys = _select(samples, n_columns, without_fold, factor, places)
    if len(y) == 0:
        return None
    return function(
        Block(codewords, y, weight, NO_SHIFT, np.multiply(mix(keys ^ _DRAWING), 2.0**-64, dtype=np.float64))
    )


def _apply_to_list(samples: CodedSamples, *arguments: Any) -> list[Any]:
    found = _apply(samples, *arguments)
    return [] if found is None else [found]


def _draw_rows(
    samples: CodedSamples, n_columns: int, without_fold: int | None, factor: Floats, places: Integers, share: float
) -> tuple[NDArray[Any], ...]:
    rows = _select(samples, n_columns, without_fold, factor, places)
    drawn = drawn_keys(rows[-1] ^ _SAMPLING, share)
    return tuple(part[drawn] for part in rows)
