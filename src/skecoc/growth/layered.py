"""LC-ECOC: grow by layers of clustering-based columns, with any decoding."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skecoc.decoding import BaseDecoder
from skecoc.growth.engine import Floats, GrowingCode, Proposal, Strategy, Verdict
from skecoc.growth.pairs import hard_pairs, is_column_of, pair_column
from skecoc.growth.training import Question


class LayeredStrategy(Strategy):
    """Separate the most confused pairs; a pair that is a column already gets a clustering-based one (Algorithm 1).

    Parameters
    ----------
    decoder : decoder
        Unfitted; cloned for every round.
    n_pairs : int
        Largest number of new columns per round.
    """

    def __init__(self, decoder: BaseDecoder, n_pairs: int) -> None:
        self.decoder, self.n_pairs = decoder, n_pairs

    def judge(self, code: GrowingCode) -> Verdict:
        """Fit the decoder and count errors, on honest codewords where there are any."""
        decoder = clone(self.decoder).fit(code.codewords, code.y, code.matrix, code.weight)
        decoded = decoder.scores(code.honest).argmax(axis=1)
        wrong = (decoded != code.y).astype(np.float64)
        loss = float(np.average(wrong, weights=code.weight))
        return Verdict(
            decoder,
            loss,
            confusion_of(code.y, decoded, code.weight, len(code.matrix)),
            decoded_accuracy(decoder, code.codewords, code.y, code.weight),
            1.0 - loss,
            row_losses=wrong,
            row_errors=wrong,
        )

    def propose(self, code: GrowingCode, verdict: Verdict) -> Proposal:
        """Ask about the pairs with the most errors."""
        pairs = hard_pairs(verdict.pair_losses, self.n_pairs)
        return Proposal(layered_questions(code, pairs), pairs)


def layered_questions(code: GrowingCode, pairs: Sequence[tuple[int, int]]) -> list[Question]:
    """Ask about pairs: by a simple learner if the pair is no column yet, else by a clustering-based one."""
    columns = [pair_column(len(code.matrix), pair) for pair in pairs]
    return [Question(column, is_column_of(code.matrix, column)) for column in columns]


def confusion_of(y: NDArray[np.intp], decoded: NDArray[np.intp], weight: Floats, n_classes: int) -> Floats:
    """Sum up the weights of the rows of each class (first axis) by the class they are decoded to."""
    sums: Floats = np.bincount(y * n_classes + decoded, weight, minlength=n_classes**2).astype(np.float64)
    return sums.reshape(n_classes, n_classes)


def decoded_errors(decoder: BaseDecoder, codewords: Floats, y: NDArray[np.intp]) -> Floats:
    """Return 1 for each row that is decoded wrongly, else 0."""
    return (decoder.scores(codewords).argmax(axis=1) != y).astype(np.float64)


def decoded_accuracy(decoder: BaseDecoder, codewords: Floats, y: NDArray[np.intp], weight: Floats) -> float:
    """Return the share of the weight of rows that are decoded rightly."""
    return 1.0 - float(np.average(decoded_errors(decoder, codewords, y), weights=weight))
