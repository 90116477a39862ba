"""WOLC-ECOC on blocks of rows: the loop of `skecoc.growth`, judged by rows that are held out.

Rows in memory are all trained on, and answered once more by learners that have not seen them. With very many rows a
part of them is enough to judge by: it is held out of all training, so that its answers are honest as they are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skecoc.blocks.answers import (
    AnsweredBlock,
    append_answers,
    begin_answers,
    code_learners,
    scale_answers,
    sizes_of_answers,
)
from skecoc.blocks.boosting import boost_columns
from skecoc.blocks.executor import add
from skecoc.blocks.preparation import PreparedRows
from skecoc.blocks.regions import RegionTrainer
from skecoc.blocks.weights import DistributedRows, sum_losses
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.growth.engine import Proposal, StopRules, Strategy, Verdict
from skecoc.growth.layered import layered_questions
from skecoc.growth.pairs import hard_pairs
from skecoc.growth.training import Question
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import Response, column_seeds

Floats = NDArray[np.float64]

# Loss that the solver's rounding leaves of a zero.
_ZERO_LOSS = 1e-7


class BlockCode:
    """A code matrix, its learners and the codewords of the rows held out, growing together.

    Parameters
    ----------
    rows : PreparedRows
        The rows, coded; some are held out.
    learner : StumpAdaBoostClassifier
        The binary learner.
    n_regions : int
        Number of regions of clustering-based columns.
    response : {"predict_proba", "decision_function", "predict"}
        How learners answer.

    Attributes
    ----------
    matrix : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix.
    learners : list of length n_columns
        The trained learners.
    kinds : list of str of length n_columns
        "initial", "simple" or "clustered".
    answered : Blocks of AnsweredBlock
        The rows held out, with their codewords.
    margin_scale : float
        What margins are divided by: the largest absolute answer of the initial columns to rows held out.
    training_seconds : float
        Time that the columns appended last took.
    """

    #: The loop asks for the weights of rows; here they stay in the blocks.
    weight: Floats = np.ones(1)

    def __init__(
        self, rows: PreparedRows, learner: StumpAdaBoostClassifier, n_regions: int, response: Response
    ) -> None:
        self.rows, self.learner, self.response = rows, learner, response
        self._regions = RegionTrainer(
            rows.executor,
            rows.training,
            rows.bins,
            rows.start_rows(),
            learner,
            n_regions,
            rows.summary.largest_weight,
            rows.summary.names,
        )
        self._seen: Counter[bytes] = Counter()
        self.matrix: CodeMatrix = np.empty((rows.n_classes, 0), dtype=np.int8)
        self.learners: list[BaseEstimator] = []
        self.kinds: list[str] = []
        self.answered = rows.executor.map(begin_answers, rows.held_out)
        self.margin_scale = 1.0
        self.training_seconds = 0.0

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return self.matrix.shape[1]

    def start(self, matrix: CodeMatrix) -> None:
        """Train the initial columns."""
        self._append([Question(column) for column in matrix.T], ["initial"] * matrix.shape[1])
        if self.response == "decision_function":
            largest = self.rows.executor.sum(_largest, self.answered, merge=max)
            self.margin_scale = largest or 1.0  # the paper's max |u|
            self.answered = self.rows.executor.map(scale_answers, self.answered, message=(self.margin_scale,))

    def ask(self, questions: Sequence[Question]) -> None:
        """Train and append further columns."""
        self._append(questions, ["clustered" if question.clustered else "simple" for question in questions])

    def _append(self, questions: Sequence[Question], kinds: list[str]) -> None:
        """Train columns and append them, their kinds and their answers."""
        started = perf_counter()
        executor = self.rows.executor
        patterns = np.column_stack([question.pattern for question in questions])
        learners = self._train(questions, patterns)
        self.matrix = np.column_stack([self.matrix, patterns])
        self.learners += learners
        self.kinds += kinds
        coded = code_learners(learners, self.rows.bins, self.response)
        further = executor.map(begin_answers, self.rows.held_out)
        further = executor.map(append_answers, further, self.rows.held_out, message=(coded,))
        if self.margin_scale != 1.0:
            further = executor.map(scale_answers, further, message=(self.margin_scale,))
        self.answered = executor.map(_beside, self.answered, further)
        self.training_seconds = perf_counter() - started

    def _train(self, questions: Sequence[Question], patterns: CodeMatrix) -> list[BaseEstimator]:
        """Train one learner per question: simple columns together, clustering-based ones together."""
        rows = self.rows
        seeds = column_seeds(patterns, rows.seed, self._seen)
        clustered = [number for number, question in enumerate(questions) if question.clustered]
        simple = [number for number, question in enumerate(questions) if not question.clustered]
        learners: dict[int, BaseEstimator] = {}
        if simple:
            trained = boost_columns(
                rows.executor,
                rows.training,
                rows.bins,
                np.ascontiguousarray(patterns[:, simple]),
                rows.training_weights,
                self.learner,
                rows.summary.names,
            )
            learners.update(zip(simple, trained, strict=True))
        if clustered:
            columns = [np.ascontiguousarray(patterns[:, number]) for number in clustered]
            trained = self._regions.train(columns, [seeds[number] for number in clustered])
            learners.update(zip(clustered, trained, strict=True))
        return [learners[number] for number in range(len(questions))]


def _largest(answered: AnsweredBlock) -> float | None:
    """Return the largest absolute answer; None if there are no rows."""
    return float(np.abs(answered.codewords).max()) if len(answered.y) else None


def _beside(answered: AnsweredBlock, further: AnsweredBlock) -> AnsweredBlock:
    """Append further columns to codewords."""
    return answered._replace(codewords=np.hstack([answered.codewords, further.codewords]))


@dataclass(frozen=True)
class HeldOutVerdict(Verdict):
    """How well a code decodes the rows held out.

    Attributes
    ----------
    doubt : float
        Standard error of the drop of the loss since the round before.
    """

    doubt: float = 0.0


class HeldOutRules(StopRules):
    """When growth ends, with the proof of progress from sums over blocks."""

    def counts_as_progress(self, before: Verdict, now: Verdict, weight: Floats) -> bool:
        """Tell whether the loss fell enough: by a share of what it is now, and beyond chance."""
        del weight
        if self.patience is None or now.loss <= self.target:
            return True
        doubt = now.doubt if isinstance(now, HeldOutVerdict) else 0.0
        return before.loss - now.loss > max(self.tol * now.loss, self.standard_errors * doubt)


class HeldOutStrategy(Strategy):
    """Separate the pairs of highest risk under the weights that are best for the rows held out (Algorithm 3).

    Parameters
    ----------
    margin, l2, tol : float
        Of the optimised weights. Where learners answer by margins, the first two are in units of the mean size of the
        initial columns' answers.
    n_pairs : int
        Largest number of new columns per round.
    """

    def __init__(self, margin: float, l2: float, tol: float, n_pairs: int) -> None:
        self.margin, self.l2, self.tol, self.n_pairs = margin, l2, tol, n_pairs
        self._previous: OptimizedWeightDecoder | None = None
        self._unit: float | None = None

    def judge(self, code: BlockCode) -> Verdict:  # type: ignore[override]
        """Optimise the weights, from the last round's with zeros for new columns, and sum up what they cost."""
        rows = code.rows
        if self._unit is None:
            self._unit = _typical_answer(code)
        decoder = OptimizedWeightDecoder(self.margin * self._unit, self.l2 * self._unit, tol=self.tol)
        remote = DistributedRows(rows.executor, code.answered, rows.held_out_factor(), rows.n_held_out)
        decoder.fit_remote(remote, code.matrix, self._padded(code.n_columns))
        losses = sum_losses(rows.executor, code.answered, decoder, self._previous)
        self._previous = decoder
        total = rows.held_out_weight
        loss, proof = float(losses.pairs.sum() / total), decoder.certificate_
        drop = losses.drop / total
        variance = max(losses.squared_drop / total - drop**2, 0.0)
        accuracy = losses.right / total
        return HeldOutVerdict(
            decoder,
            loss if loss > _ZERO_LOSS else 0.0,
            losses.pairs,
            accuracy,
            accuracy,
            objective=proof.objective,
            hinge=proof.hinge,
            risk=proof.risk,
            gap=proof.gap,
            doubt=float(np.sqrt(variance / (total * rows.summary.largest_weight))),
        )

    def propose(self, code: BlockCode, verdict: Verdict) -> Proposal:  # type: ignore[override]
        """Ask about the pairs of highest risk."""
        pairs = hard_pairs(verdict.pair_losses, self.n_pairs)
        return Proposal(layered_questions(code, pairs), pairs)  # type: ignore[arg-type]

    def _padded(self, n_columns: int) -> Floats | None:
        """Return the last weights with zeros for the columns that have been added since."""
        if self._previous is None:
            return None
        weights = self._previous.weights_
        return np.pad(weights, ((0, 0), (0, n_columns - weights.shape[1])))


def _typical_answer(code: BlockCode) -> float:
    """Return the mean size of answers by margins; 1 for labels and probabilities, which have a scale of their own."""
    if code.response != "decision_function":
        return 1.0
    size, number = code.rows.executor.sum(sizes_of_answers, code.answered, merge=add)
    return size / number or 1.0
