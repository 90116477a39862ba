"""WOLC-ECOC: optimised weights decide what is hard, layers of clustering-based columns solve it."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.risk import worst_rivals
from skecoc.growth.engine import Floats, GrowingCode, Growth, Proposal, Strategy, Verdict, standard_error
from skecoc.growth.layered import confusion_of, decoded_accuracy, decoded_errors, layered_questions
from skecoc.growth.pairs import hard_pairs

# Loss that the solver's rounding leaves of a zero.
_ZERO_LOSS = 1e-7
# Up to so many rows weights are held against equal ones.
_FEW_ROWS = 2_000
# Equal weights may err more by this many standard errors of the difference.
_DOUBT = 0.5
# A penalty beside which the loss is nothing: weights are equal.
_EQUALIZING = 1e4


class OptimizedWeightStrategy(Strategy):
    """Separate the pairs of highest risk under the best weights (Algorithm 3).

    Weights are fitted to both kinds of codewords, those of learners that have seen a row and those of learners that
    have not: the first are what later rows resemble least but are the answers of the very learners kept, the second
    show where these err. What growth is judged by, and where it looks for hard pairs, is the honest kind alone.

    Parameters
    ----------
    margin, l2, tol : float
        Of the optimised weights. Where learners answer by margins, which are divided by their largest and mostly small,
        the first two are in units of the mean size of the initial columns' answers.
    n_pairs : int
        Largest number of new columns per round.
    n_jobs : int or None
        Threads of the weight optimisation.
    may_equalize : bool
        Whether the code that is kept may have equal weights in the end, where the optimised ones prove no better on
        rows that they have not seen.
    """

    def __init__(
        self,
        margin: float,
        l2: float,
        tol: float,
        n_pairs: int,
        n_jobs: int | None = None,
        *,
        may_equalize: bool = False,
    ) -> None:
        self.margin, self.l2, self.tol, self.n_pairs, self.n_jobs = margin, l2, tol, n_pairs, n_jobs
        self.may_equalize = may_equalize
        self._weights: Floats | None = None
        self._unit: float | None = None

    def judge(self, code: GrowingCode) -> Verdict:
        """Optimise the weights, from the last round's with zeros for new columns: so the objective never rises."""
        if self._unit is None:
            self._unit = _typical_answer(code)
        decoder = self._fitted(code, code.n_columns, self.l2, start=self._padded(code.n_columns))
        self._weights = decoder.weights_
        rivals, losses = margin_losses(decoder, code.honest, code.y)
        pair_losses = confusion_of(code.y, rivals, code.weight * losses, len(code.matrix))
        loss = float(pair_losses.sum() / code.weight.sum())
        proof = decoder.certificate_
        errors = decoded_errors(decoder, code.honest, code.y)
        return Verdict(
            decoder,
            loss if loss > _ZERO_LOSS else 0.0,
            pair_losses,
            decoded_accuracy(decoder, code.codewords, code.y, code.weight),
            1.0 - float(np.average(errors, weights=code.weight)),
            objective=proof.objective,
            hinge=proof.hinge,
            risk=proof.risk,
            gap=proof.gap,
            row_losses=losses,
            row_errors=errors,
        )

    def refine(self, code: GrowingCode, growth: Growth) -> Growth:
        """Take equal weights unless they err more than the optimised ones do on rows that those have not seen.

        With few rows the weights overfit, honest codewords or not: they are fitted to the very rows. So they are
        fitted once more without each fold and judged by what they make of it. From many rows on, there is no need.
        """
        folds = code.trainer.folds
        if not self.may_equalize or folds is None or code.weight.sum() > _FEW_ROWS:
            return growth
        n_columns = growth.history[growth.kept].n_columns
        honest = code.honest[:, :n_columns]
        equal = self._fitted(code, n_columns, _EQUALIZING)
        errors = decoded_errors(equal, honest, code.y)
        unseen = errors.copy()
        for fold in range(folds.max(initial=-1) + 1):
            out = folds == fold
            decoder = self._fitted(code, n_columns, self.l2, rows=np.flatnonzero(~out))
            unseen[out] = decoded_errors(decoder, honest[out], code.y[out])
        decoder = growth.decoders[growth.kept]
        doubt = _DOUBT * standard_error(errors, unseen, code.weight)
        if np.average(errors - unseen, weights=code.weight) <= doubt:
            decoder = equal
        else:
            errors = unseen
        decoders = [*growth.decoders[: growth.kept], decoder, *growth.decoders[growth.kept + 1 :]]
        accuracy = 1.0 - float(np.average(errors, weights=code.weight))
        verdict = replace(growth.verdict, decoder=decoder, honest_accuracy=accuracy, row_errors=errors)
        return replace(growth, decoders=decoders, verdict=verdict)

    def _fitted(
        self,
        code: GrowingCode,
        n_columns: int,
        l2: float,
        *,
        rows: NDArray[np.intp] | None = None,
        start: Floats | None = None,
    ) -> OptimizedWeightDecoder:
        """Fit weights of the first columns to both kinds of codewords of some rows."""
        taken = slice(None) if rows is None else rows
        codewords, y, weight = code.codewords[taken, :n_columns], code.y[taken], code.weight[taken]
        if code.is_cross_fitted:
            codewords = np.vstack([codewords, code.honest[taken, :n_columns]])
            y, weight = np.tile(y, 2), np.tile(weight, 2)
        unit = 1.0 if self._unit is None else self._unit
        decoder = OptimizedWeightDecoder(self.margin * unit, l2 * unit, tol=self.tol, n_jobs=self.n_jobs)
        return decoder.fit(codewords, y, code.matrix[:, :n_columns], weight, warm_start_weights=start)

    def propose(self, code: GrowingCode, verdict: Verdict) -> Proposal:
        """Ask about the pairs of highest risk."""
        pairs = hard_pairs(verdict.pair_losses, self.n_pairs)
        return Proposal(layered_questions(code, pairs), pairs)

    def _padded(self, n_columns: int) -> Floats | None:
        """Return the last weights with zeros for the columns that have been added since."""
        if self._weights is None:
            return None
        return np.pad(self._weights, ((0, 0), (0, n_columns - self._weights.shape[1])))


def _typical_answer(code: GrowingCode) -> float:
    """Return the mean size of answers by margins; 1 for labels and probabilities, which have a scale of their own."""
    return float(np.abs(code.codewords).mean()) or 1.0 if code.trainer.response == "decision_function" else 1.0


def margin_losses(
    decoder: OptimizedWeightDecoder, codewords: Floats, y: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats]:
    """Return each row's worst rival and its hinge: by how much the rival comes nearer than the margin."""
    rivals, leads = worst_rivals(codewords @ (decoder.weights_ * decoder.matrix_).T, y, decoder.margin)
    return rivals, np.maximum(leads, 0.0)
