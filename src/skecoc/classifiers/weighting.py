"""How WOLC-ECOC weighs the columns of a growing code, and finds the pairs of classes that are hard under the weights.

By default columns are pooled. A pool is a way to decode some of the columns with equal weights: the initial codes are
pools, and so are the columns of all pairs of classes together. How much each pool counts is a choice between a few
dozen mixtures, so that the out-of-fold accuracy of the best mixture is all but free of optimism. The weights of single
columns, of which there may be thousands, are optimised once, for the round that is kept, and only taken if that pays on
samples that they were not fitted to. Otherwise weights are optimised in every round, or are logistic, for several
learners.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from skecoc.classifiers.growing_code import (
    GrowingCode,
    errors_of,
    in_units,
    mean_output,
    nested_errors_of,
    pairs_in_units,
    rows_without,
    sum_by_pairs,
)
from skecoc.classifiers.growth import Evaluation, Growth, Proposal, Strategy
from skecoc.classifiers.proposals import layered_proposal
from skecoc.classifiers.weight_fits import fit_weights
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.samples import CodedSamples
from skecoc.decoding import LogisticWeightDecoder, OptimizedWeightDecoder
from skecoc.decoding.optimized.problem import row_scores
from skecoc.decoding.scoring import worst_rivals
from skecoc.learners.columns import Floats, Integers
from skecoc.support.compiling import inlined, kernel

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
# With more held-out samples than this a single fold tells whether optimised weights pay.
_MANY_HELD_OUT = 1_666
# With more weights than this they are not optimised: they would take longer than all columns.
_MOST_WEIGHTS = 20_000

# Samples that are scored side by side: so many that the entries of a long code are read seldom.
_BLOCK_SAMPLES = 64

#: Non-zero entries of a matrix that scores codewords: their classes, columns and values.
Entries = tuple[Integers, Integers, Floats]


class WeightStrategy(Strategy):
    """A way to weigh columns; pairs of highest loss are separated next, by columns in layers."""

    def __init__(self, n_pairs: int, n_regions: Sequence[int], *, is_capped: bool) -> None:
        self.n_pairs, self.n_regions, self.is_capped = n_pairs, n_regions, is_capped

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest loss; of several learners, by the one that lowers it most."""
        return layered_proposal(code, evaluation, self.n_pairs, self.n_regions, is_capped=self.is_capped)


class OptimizedWeightStrategy(WeightStrategy):
    """Separate the pairs of highest risk under the best weights, which are found every round (Algorithm 3).

    Growth is judged, weights are fitted and hard pairs are found by out-of-fold codewords if there are any. Where the
    outputs are margins, which are divided by their largest and mostly small, `margin` and `l2` are in units of the mean
    size of the initial columns' outputs.
    """

    def __init__(
        self, margin: float, l2: float, n_pairs: int, n_regions: Sequence[int], n_jobs: int | None, *, is_capped: bool
    ) -> None:
        super().__init__(n_pairs, n_regions, is_capped=is_capped)
        self.margin, self.l2, self.n_jobs = margin, l2, n_jobs
        self._weights: Floats | None = None
        self._unit: float | None = None

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Optimise the weights, from the last round's with zeros for new columns: so the objective never rises."""
        if self._unit is None:
            self._unit = mean_output(code) if code.response == "decision_function" else 1.0
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


def _margin_losses(
    samples: CodedSamples, decoder: OptimizedWeightDecoder, matrix: CodeMatrix, prior: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the hinge of each sample out of fold, and its sums by class and worst rival, in units."""
    del prior
    code = np.ascontiguousarray((decoder.weights_ * decoder.matrix_).T)
    scores = row_scores(np.ascontiguousarray(samples.out_of_fold), code)
    rivals, leads = worst_rivals(scores, samples.y, decoder.margin)
    losses = np.maximum(leads, 0.0)
    pairs = pairs_in_units(samples.y, rivals, samples.weight * losses, len(matrix))
    return losses, pairs


class LogisticWeightStrategy(WeightStrategy):
    """Fit logistic weights to out-of-fold codewords, and separate the pairs of classes that are then hardest.

    The loss of a round is the log-loss of samples by weights that were fitted without their fold.
    """

    only_held_out = True

    def __init__(self, n_pairs: int, n_regions: Sequence[int], *, is_capped: bool) -> None:
        super().__init__(n_pairs, n_regions, is_capped=is_capped)
        self._last: dict[int | None, LogisticWeightDecoder] = {}  # of the last round, by the fold that was left out

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
        n_classes = len(code.matrix)
        pair_losses = code.sum(_log_losses_by_pair, message=(rivals, losses, n_classes))
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


def _log_losses_by_pair(samples: CodedSamples, rivals: Integers, losses: Floats, n_classes: int) -> NDArray[np.int64]:
    """Sum losses up by class and best rival, in units."""
    return pairs_in_units(samples.y, rivals, samples.weight * losses, n_classes)


class PooledWeightStrategy(WeightStrategy):
    """Weigh pools of columns by out-of-fold accuracy, separate the pairs that are then hardest, optimise at the end.

    `margin` and `l2` of the optimised weights are chosen from the scores if they are None. With `proves_weights` the
    optimised weights are taken only if they err less than the pooled ones out of fold.
    """

    only_held_out = True

    def __init__(
        self,
        n_pairs: int,
        n_regions: Sequence[int],
        margin: float | None,
        l2: float | None,
        n_jobs: int | None,
        *,
        is_capped: bool,
        proves_weights: bool,
    ) -> None:
        super().__init__(n_pairs, n_regions, is_capped=is_capped)
        self.margin, self.l2, self.n_jobs, self.proves_weights = margin, l2, n_jobs, proves_weights
        self.shares: list[Floats] = []  # of the pools, round by round
        self._distances: list[float] = []  # mean distance between own class and best rival, round by round

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Choose the mixture of pools that errs least out of fold."""
        n_classes = len(code.matrix)
        pools = pooled_weights(code.matrix, code.parts)
        mixtures = simplex_grid(len(pools))
        scores = code.map(_pool_scores, message=([_entries(pool * code.matrix) for pool in pools], n_classes))
        counts, total = code.sum(_count_correct, scores, message=(mixtures,))
        share = mixtures[counts == counts.max()].mean(axis=0)
        leads, distance = code.step(_leads, scores, message=(share,))
        self.shares.append(share)
        self._distances.append(distance / total if total else 0.0)
        pair_losses = code.sum(_losses_by_pair, leads, message=(self._distances[-1], n_classes))
        weights = np.tensordot(share, np.stack(pools), 1)
        loss = 1.0 - float(counts.max() / total) if total else np.nan
        return Evaluation(
            OptimizedWeightDecoder.from_weights(weights, code.matrix),
            loss,
            sum_by_pairs(code, pair_losses),
            1.0 - loss if code.samples.n_folds == 0 else np.nan,
            1.0 - loss,
            sample_losses=code.map(_errors_of_leads, leads),
        )

    def refine(self, code: GrowingCode, growth: Growth) -> Growth:
        """Optimise the weights of the kept round around the pooled ones; take them if they err less out of fold."""
        n_columns, pooled = growth.n_columns, growth.decoder
        matrix, prior = code.matrix[:, :n_columns], pooled.weights_
        n_folds = code.samples.n_folds
        distance = self._distances[growth.kept]
        if np.count_nonzero(matrix) > _MOST_WEIGHTS or distance == 0.0 or not _has_all_classes(code):
            return growth
        margin = _MARGIN * distance if self.margin is None else self.margin
        l2 = _PENALTY * margin * len(matrix) / float((prior**2).sum()) if self.l2 is None else self.l2

        def fitted(without_fold: int | None, start: Floats = prior) -> OptimizedWeightDecoder:
            decoder = OptimizedWeightDecoder(margin, l2=l2, tol=_FINAL_TOL, n_jobs=self.n_jobs)
            return fit_weights(code, decoder, n_columns, without_fold=without_fold, warm_start=start, prior=prior)

        changes, start = {}, prior
        if n_folds:
            # With many samples a single fold tells enough.
            tried = n_folds if code.sum(_count_samples) <= _MANY_HELD_OUT else 1
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
        certificate = decoder.certificate_
        for name in ("objective", "hinge", "risk", "gap"):
            changes[name] = getattr(certificate, name)
        return growth.with_decoder(decoder, **changes)


def pooled_weights(matrix: CodeMatrix, parts: Integers) -> list[Floats]:
    """Return the weights of each pool: of the initial codes and, once columns have been added, of the pairs.

    `parts` says which initial code a column belongs to, -1 for added ones. In the pool of an initial code the columns
    of a class share its weight equally. In the pool of pairs all rivals of a class do: the part of a rival goes to the
    columns that were added for the pair, or if there are none, to its initial columns, or if there are none either, to
    the first code.

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
    if (parts < 0).any():
        pools.append(_pool_of_pairs(matrix, parts < 0, pools[0]))
    return pools


def _pool_of_pairs(matrix: CodeMatrix, is_added: NDArray[np.bool_], otherwise: Floats) -> Floats:
    """Return the weights of the pool of pairs."""
    n_classes = len(matrix)
    used = matrix != 0
    columns = np.flatnonzero((used.sum(axis=0) == 2) & (matrix.sum(axis=0) == 0))
    first = used[:, columns].argmax(axis=0)
    second = n_classes - 1 - used[::-1, columns].argmax(axis=0)
    added = is_added[columns]
    counts = np.zeros((2, n_classes, n_classes))  # of initial and of added columns, by pair
    np.add.at(counts, (added.astype(np.intp), first, second), 1.0)
    counts[0][counts[1] > 0] = 0.0  # initial columns give way to added ones
    share = np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0) / (n_classes - 1)
    weights = np.zeros(matrix.shape)
    weights[first, columns] = weights[second, columns] = share[added.astype(np.intp), first, second]
    return weights + (1.0 - weights.sum(axis=1, keepdims=True)).round(12) * otherwise


def simplex_grid(n_pools: int) -> Floats:
    """List the mixtures of pools: all shares that are multiples of a tenth and sum to 1.

    >>> len(simplex_grid(1)), len(simplex_grid(2)), len(simplex_grid(3))
    (1, 11, 66)
    """
    return np.array([s for s in product(range(_SHARES + 1), repeat=n_pools) if sum(s) == _SHARES]) / _SHARES


def _entries(code: Floats) -> Entries:
    """Return the non-zero entries of a matrix that scores codewords."""
    classes, columns = np.nonzero(code)
    return classes, columns, code[classes, columns]


def _pool_scores(samples: CodedSamples, pools: list[Entries], n_classes: int) -> Floats:
    """Score the out-of-fold codewords by each pool: (n_pools, n_samples, n_classes)."""
    return np.stack([scores_by_entries(samples.out_of_fold, *pool, n_classes) for pool in pools])


def _count_correct(samples: CodedSamples, scores: Floats, mixtures: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the weight of the samples that each mixture gets right out of fold, and all weight, in units."""
    units = in_units(samples.weight).astype(np.int64)
    return count_correct(scores, samples.y, units, mixtures), int(units.sum())


def _leads(samples: CodedSamples, scores: Floats, share: Floats) -> tuple[tuple[Integers, Floats], int]:
    """Return each sample's best rival and how far that is ahead in a mixture; sum up the distances, in units."""
    rivals, leads = worst_rivals(_mixed(scores, share), samples.y, 0.0)
    return (rivals, leads), int(in_units(samples.weight * np.abs(leads)).sum())


def _mixed(scores: Floats, share: Floats) -> Floats:
    """Mix the scores of pools, in an order that does not change with the number of samples."""
    total = share[0] * scores[0]
    for k in range(1, len(share)):
        total += share[k] * scores[k]
    return total


def _losses_by_pair(
    samples: CodedSamples, leads: tuple[Integers, Floats], margin: float, n_classes: int
) -> NDArray[np.int64]:
    """Sum the hinge out of fold up by class and best rival, in units."""
    losses = np.maximum(margin + leads[1], 0.0)
    return pairs_in_units(samples.y, leads[0], samples.weight * losses, n_classes)


def _errors_of_leads(_: CodedSamples, leads: tuple[Integers, Floats]) -> Floats:
    """Return 1 for each sample whose best rival is not behind out of fold, else 0."""
    return (leads[1] >= -_TIED).astype(np.float64)


def _count_samples(samples: CodedSamples) -> int:
    """Count samples."""
    return len(samples.y)


def _has_all_classes(code: GrowingCode) -> bool:
    """Tell whether samples of all classes have out-of-fold codewords, also without the samples of any one fold."""
    counts = code.sum(_count_by_fold, message=(len(code.matrix), code.samples.n_folds))
    if not code.samples.n_folds:
        return bool(counts[:, 0].all())
    return bool((counts[:, 1:].sum(axis=1, keepdims=True) > counts[:, 1:]).all())


def _count_by_fold(samples: CodedSamples, n_classes: int, n_folds: int) -> NDArray[np.intp]:
    """Count the samples of each class by fold; the first column has those that no fold holds out."""
    cells = samples.y * (n_folds + 1) + samples.fold + 1
    return np.bincount(cells, minlength=n_classes * (n_folds + 1)).reshape(n_classes, n_folds + 1)


def scores_by_entries(
    codewords: NDArray[np.floating], classes: Integers, columns: Integers, values: Floats, n_classes: int
) -> Floats:
    """Multiply codewords by a matrix of few entries, in an order that never changes with the number of samples."""
    scores = np.empty((len(codewords), n_classes))
    for first in range(0, len(codewords), _BLOCK_SAMPLES):
        rows = slice(first, first + _BLOCK_SAMPLES)
        block = np.zeros((n_classes, len(codewords[rows])))
        _add_entries(np.ascontiguousarray(codewords[rows].T), classes, columns, values, block)
        scores[rows] = block.T
    return scores


@kernel
def _add_entries(codewords, classes, columns, values, scores):  # type: ignore[no-untyped-def]
    """Add the products of codewords and a matrix of few entries to scores; samples are the last axis of both."""
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
