"""ECOC-ONE: add the column that separates the most confused pair, until a pair repeats."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skecoc.decoding import BaseDecoder
from skecoc.growth.engine import Floats, GrowingCode, Proposal, Strategy, Verdict
from skecoc.growth.layered import confusion_of, decoded_accuracy
from skecoc.growth.pairs import hard_pairs, pair_column
from skecoc.growth.training import Question

Pattern = NDArray[np.int8]


class OneStrategy(Strategy):
    """Separate the most confused pair of classes, alone or within a wider bipartition.

    Rows that are held out in a fold are the validation rows; the others are the training rows.

    Parameters
    ----------
    decoder : decoder
        Unfitted; cloned for every round.
    validation_weight : float
        Weight of the validation rows' confusion, from 0 to 1; the training rows' has the rest.
    extend : bool
        Whether further classes may join the sides of the pair.
    """

    exhausted = "the most confused pair has been asked about before"

    def __init__(self, decoder: BaseDecoder, validation_weight: float, extend: bool) -> None:
        self.decoder, self.validation_weight, self.extend = decoder, validation_weight, extend
        self._asked: set[tuple[int, int]] = set()

    def judge(self, code: GrowingCode) -> Verdict:
        """Fit the decoder; the loss is the mix of the two error rates."""
        decoder = self._fitted(code.codewords, code, code.matrix)
        confusion = self._mixed_confusion(decoder, code, code.codewords, code.honest)
        return Verdict(
            decoder,
            float(confusion.sum() - confusion.trace()),
            confusion,
            decoded_accuracy(decoder, code.codewords, code.y, code.weight),
            decoded_accuracy(decoder, code.honest, code.y, code.weight),
        )

    def propose(self, code: GrowingCode, verdict: Verdict) -> Proposal:
        """Ask about the most confused pair, unless it was asked about before."""
        pairs = hard_pairs(verdict.pair_losses, 1)
        if not pairs or pairs[0] in self._asked:
            return Proposal([], [])
        self._asked.add(pairs[0])
        column = pair_column(len(code.matrix), pairs[0])
        return Proposal([Question(self._extended(code, column) if self.extend else column)], pairs)

    def _fitted(self, codewords: Floats, code: GrowingCode, matrix: Pattern) -> BaseDecoder:
        """Fit a clone of the decoder."""
        return clone(self.decoder).fit(codewords, code.y, matrix, code.weight)

    def _mixed_confusion(self, decoder: BaseDecoder, code: GrowingCode, plain: Floats, honest: Floats) -> Floats:
        """Mix the confusion, as shares of rows, of the training rows and of the validation rows."""
        folds = code.trainer.folds
        held_out = np.zeros(len(code.y), dtype=bool) if folds is None else folds >= 0
        mixed = np.zeros((len(code.matrix), len(code.matrix)))
        share = self.validation_weight if held_out.any() and not held_out.all() else float(held_out.all())
        for rows, codewords, part in ((~held_out, plain, 1.0 - share), (held_out, honest, share)):
            if part > 0:
                decoded = decoder.scores(codewords[rows]).argmax(axis=1)
                confusion = confusion_of(code.y[rows], decoded, code.weight[rows], len(mixed))
                mixed += part * confusion / confusion.sum()
        return mixed

    def _extended(self, code: GrowingCode, pair: Pattern) -> Pattern:
        """Let classes join or leave the sides of the pair, one at a time, while the mixed error falls.

        The floating search of ECOC-ONE: after every class that joins, classes that joined before may leave again.
        """
        best, least = pair, self._errors(code, [pair])[0]
        moves = _joined
        while True:
            candidates = list(moves(best, pair))
            errors = self._errors(code, candidates)
            if candidates and min(errors) < least:
                best, least = candidates[int(np.argmin(errors))], min(errors)
                moves = _left
            elif moves is _left:
                moves = _joined
            else:
                return best

    def _errors(self, code: GrowingCode, columns: list[Pattern]) -> list[float]:
        """Mixed error of the code with each one of some columns appended."""
        if not columns:
            return []
        trained = code.trainer.try_out([Question(column) for column in columns])
        errors = []
        for k, column in enumerate(columns):
            plain = np.column_stack([code.codewords, trained.answers[:, k] / code.margin_scale])
            honest = np.column_stack([code.honest, trained.honest[:, k] / code.margin_scale])
            decoder = self._fitted(plain, code, np.column_stack([code.matrix, column]))
            confusion = self._mixed_confusion(decoder, code, plain, honest)
            errors.append(float(confusion.sum() - confusion.trace()))
        return errors


def _joined(column: Pattern, pair: Pattern) -> Iterator[Pattern]:  # noqa: ARG001
    """Yield the columns that one more class on either side makes."""
    for row in np.flatnonzero(column == 0):
        for side in (1, -1):
            wider = column.copy()
            wider[row] = side
            yield wider


def _left(column: Pattern, pair: Pattern) -> Iterator[Pattern]:
    """Yield the columns that one class less makes; the pair stays."""
    for row in np.flatnonzero((column != 0) & (pair == 0)):
        narrower = column.copy()
        narrower[row] = 0
        yield narrower
