"""How WOLC-ECOC grows with several learners: logistic weights, fitted to out-of-fold codewords in every round."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skecoc.classifiers.growing_code import GrowingCode, pairs_in_units, rows_without, sum_by_pairs
from skecoc.classifiers.growth import Evaluation, Proposal, Strategy
from skecoc.classifiers.proposals import layered_proposal
from skecoc.data.samples import CodedSamples
from skecoc.decoding import LogisticWeightDecoder
from skecoc.decoding.base import worst_rivals
from skecoc.learners.columns import Floats, Integers

# Relative gap of the weights of a round.
_WEIGHTS_TOL = 1e-3


class LogisticWeightStrategy(Strategy):
    """Fit logistic weights to out-of-fold codewords, and separate the pairs of classes that are then hardest.

    The loss of a round is the log-loss of samples by weights that were fitted without their fold.
    """

    only_held_out = True

    def __init__(self, n_pairs: int, n_regions: Sequence[int], *, is_capped: bool) -> None:
        self.n_pairs, self.n_regions, self.is_capped = n_pairs, n_regions, is_capped
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
        pair_losses = code.sum(_losses_by_pair, message=(rivals, losses, n_classes))
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

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest loss, each by the learner that lowers it most."""
        return layered_proposal(code, evaluation, self.n_pairs, self.n_regions, is_capped=self.is_capped)

    def _fitted(self, code: GrowingCode, without_fold: int | None) -> LogisticWeightDecoder:
        """Fit weights to out-of-fold codewords, without those of a fold, from the last round's.

        The columns of one learner and origin are a group.
        """
        samples = code.coded
        rows = rows_without(samples, without_fold)
        weight = samples.weight[rows] * code.samples.unit_weight
        decoder = LogisticWeightDecoder(tol=_WEIGHTS_TOL)
        given = (samples.out_of_fold[rows], samples.y[rows], code.matrix, weight)
        self._last[without_fold] = decoder.fit(*given, groups=code.groups, start=self._last.get(without_fold))
        return decoder


def _losses_by_pair(samples: CodedSamples, rivals: Integers, losses: Floats, n_classes: int) -> NDArray[np.int64]:
    """Sum losses up by class and best rival, in units."""
    return pairs_in_units(samples.y, rivals, samples.weight * losses, n_classes)
