"""ECOC-ONE: add columns for the most confused pair of classes, until a pair repeats."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.classifiers.base import AUTO, Start, TrainingData
from skecoc.classifiers.grown import GrownClassifier
from skecoc.classifiers.growth import (
    Evaluation,
    GrowingCode,
    Proposal,
    StopRules,
    Strategy,
    errors_of,
    fit_decoder,
    hard_pairs,
    training_errors_of,
)
from skecoc.classifiers.layered import best_columns, pair_column
from skecoc.data.folds import NEVER_HELD_OUT, assign_folds
from skecoc.data.samples import CodedSamples
from skecoc.decoding import (
    AttenuatedEuclideanDecoder,
    BaseDecoder,
    HammingDecoder,
    LossBasedDecoder,
    LossWeightedDecoder,
)
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Column, Floats, Integers, Pattern
from skecoc.support.errors import is_named
from skecoc.support.weights import ClassWeight

# Decoders that can weigh columns.
_WEIGHABLE = HammingDecoder | LossBasedDecoder | AttenuatedEuclideanDecoder | LossWeightedDecoder
# Weights up to this count as zero.
_LEAST_WEIGHT = 1e-12


@dataclass
class OneStrategy(Strategy):
    """Separate the most confused pair of classes, alone or within a wider bipartition.

    Samples that are held out in a fold are the validation samples; the others are the training samples.
    """

    exhausted = "the most confused pair has been separated before"

    decoder: BaseDecoder  # cloned for every round
    validation_weight: float
    extend: bool
    weighs_columns: bool
    _separated: set[tuple[int, int]] = field(default_factory=set, init=False)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the decoder; the loss is the mix of the two error rates."""
        samples, prior = code.coded, code.samples.prior
        decoder = self._fitted(code, samples, code.matrix)
        confusion = self._mixed_confusion(decoder, samples, code.matrix, prior)
        return Evaluation(
            decoder,
            float(confusion.sum() - confusion.trace()),
            confusion,
            1.0 - code.mean(code.map(training_errors_of, message=(decoder, code.matrix, prior))),
            1.0 - code.mean(code.map(errors_of, message=(decoder, code.matrix, prior))),
        )

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the most confused pair, unless it was separated before."""
        pairs = hard_pairs(evaluation.pair_losses, 1)
        if not pairs or pairs[0] in self._separated:
            return Proposal([], [])
        self._separated.add(pairs[0])
        pattern = pair_column(len(code.matrix), pairs[0])
        names = code.learner_names
        column = Column(pattern, learner=names[0] if names else "")
        if names:
            candidates = [Column(pattern, learner=name) for name in names]
            column = best_columns(code, evaluation.decoder, pairs, [candidates])[0] or column
        return Proposal([self._extended(code, column) if self.extend else column], pairs)

    def _fitted(self, code: GrowingCode, samples: CodedSamples, matrix: Pattern) -> BaseDecoder:
        """Fit the decoder and, if columns are weighed, multiply what they add to scores by weights."""
        decoder: BaseDecoder = fit_decoder(clone(self.decoder), code, samples, matrix)
        if self.weighs_columns:
            errors, parts = np.zeros((2, matrix.shape[1]))
            for taken, codewords, part in self._parts(samples):
                sides = matrix[samples.y[taken]]
                weight = samples.weight[taken, np.newaxis] * (sides != 0)
                wrong = weight * (np.sign(codewords[taken]) != sides)
                total = weight.sum(axis=0)  # zero if there are validation samples of neither side
                errors += part * wrong.sum(axis=0) / np.maximum(total, _LEAST_WEIGHT)
                parts += part * (total > 0)
            # No column is known to be perfect.
            errors = np.clip(errors / np.maximum(parts, _LEAST_WEIGHT), 0.5 / len(samples.y), 0.5)
            weigh_columns(decoder, 0.5 * np.log((1.0 - errors) / errors))
        return decoder

    def _parts(self, samples: CodedSamples) -> list[tuple[NDArray[np.bool_], NDArray[np.floating], float]]:
        """Return training and validation samples, each with their codewords and their share in what is mixed."""
        held_out = samples.fold >= 0
        share = self.validation_weight if held_out.any() and not held_out.all() else float(held_out.all())
        parts = [(~held_out, samples.codewords, 1.0 - share), (held_out, samples.out_of_fold, share)]
        return [part for part in parts if part[2] > 0]

    def _mixed_confusion(self, decoder: BaseDecoder, samples: CodedSamples, matrix: Pattern, prior: Floats) -> Floats:
        """Mix the confusion, as shares of samples, of the training samples and of the validation samples."""
        n_classes = len(matrix)
        mixed = np.zeros((n_classes, n_classes))
        for taken, codewords, part in self._parts(samples):
            decoded = decode(decoder, codewords[taken], matrix, prior).argmax(axis=1)
            cells = samples.y[taken] * n_classes + decoded
            confusion = np.bincount(cells, samples.weight[taken], minlength=n_classes**2)
            mixed += part * confusion.reshape(n_classes, n_classes) / confusion.sum()
        return mixed

    def _extended(self, code: GrowingCode, column: Column) -> Column:
        """Let classes join or leave the sides of the pair, one at a time, while the mixed error falls.

        The floating search of ECOC-ONE: after every class that joins, classes that joined before may leave again.
        """
        pair, learner = column.pattern, column.learner
        best, least = pair, self._errors(code, [pair], learner)[0]
        leaving = False
        while True:
            if leaving:
                moves = [(row, 0) for row in np.flatnonzero((best != 0) & (pair == 0))]
            else:
                moves = [(row, side) for row in np.flatnonzero(best == 0) for side in (1, -1)]
            candidates = []
            for row, side in moves:
                candidate = best.copy()
                candidate[row] = side
                candidates.append(candidate)
            errors = self._errors(code, candidates, learner)
            if candidates and min(errors) < least:
                best, least = candidates[int(np.argmin(errors))], min(errors)
                leaving = True
            elif leaving:
                leaving = False
            else:
                return Column(best, learner=learner)

    def _errors(self, code: GrowingCode, patterns: list[Pattern], learner: str) -> list[float]:
        """Mixed error of the code with each one of some patterns appended."""
        if not patterns:
            return []
        tried = code.try_out([Column(pattern, learner=learner) for pattern in patterns])
        errors = []
        for k, pattern in enumerate(patterns):
            wider = code.coded.beside(tried.codewords[:, [k]], tried.out_of_fold[:, [k]])
            matrix = np.column_stack([code.matrix, pattern])
            decoder = self._fitted(code, wider, matrix)
            confusion = self._mixed_confusion(decoder, wider, matrix, code.samples.prior)
            errors.append(float(confusion.sum() - confusion.trace()))
        return errors


def weigh_columns(decoder: BaseDecoder, weights: Floats) -> None:
    """Multiply what each column adds to the scores of a fitted decoder by its weight."""
    if isinstance(decoder, LossWeightedDecoder):
        decoder.weights_ = decoder.weights_ * weights
    else:
        if isinstance(decoder, LossBasedDecoder):
            decoder._loss_of_zeros = (decoder.matrix_ == 0) @ weights * decoder.loss_function_(np.zeros(1))
        decoder.matrix_ = decoder.matrix_ * weights


class ECOCOneClassifier(GrownClassifier):
    r"""ECOC-ONE: a code that adds a column for the most confused pair of classes until a pair repeats.

    A part of the samples is held out for validation and evaluated by learners that are trained without it. The next
    pair is the most confused one in a weighted sum of the confusion matrices of training and validation samples. The
    final learners are trained on all samples.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, by default ``StumpAdaBoostClassifier(n_estimators=40)``. Of several named learners, each is
        trained on all columns of the initial code, and each added column with the best one; "mixed" means
        `skecoc.learners.mixed_learners`.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-rest"
        The initial code, in any form that `coding` of `ECOCClassifier` accepts.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or a decoder from `skecoc.decoding`.
        "auto" is ``"probabilistic"`` for one learner and ``"logistic-weight"`` for several.
    extend : bool, default=False
        Whether other classes may join the two sides of the pair: a floating search adds and removes classes as long as
        the error decreases. This trains many columns.
    column_weights : bool, default=False
        Whether a column's part in the decoding is weighted by :math:`\frac{1}{2} \log \frac{1 - e}{e}`, where e is the
        weighted sum of its error rates on training and validation samples. For ``decoding`` "hamming",
        "attenuated-euclidean", "loss-based" and "loss-weighted", which "auto" then stands for.
    validation_fraction : float, default=0.2
        Share of each class that is held out for validation, in (0, 0.5]; rounded to 1 / k for an integer k.
    validation_weight : float, default=0.5
        Weight of the validation samples in the weighted sum of the confusion matrices; that of the training samples is
        one minus this.
    target_error : float, default=0.0
        Growth stops when the weighted sum of training and validation error is at most this.
    max_iter : int, "3P" or None, default="3P"
        Maximum number of columns to add. "3P" means three times the number of classes, None no limit.
    max_columns : int, default=None
        Maximum number of columns. A longer `init` is shortened as in `ECOCClassifier`; if that is not possible, a
        ValueError is raised.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Output of the learners that is used. "auto" is the first of these methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds and learners.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line per round.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``, multiplied with `sample_weight`. "balanced" gives all classes the
        same total weight.
    class_order : array-like of shape (n_classes,), default=None
        Class labels in their natural order, for ``init="ordinal"`` only.
    warm_start : bool, default=False
        Whether a further `fit` on the same data reuses the trained columns, such as with a larger `max_iter`. The
        result is the same as without.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix of the kept round.
    estimators_ : list of length n_columns
        The trained learners of its columns.
    column_learners_ : ndarray of str of shape (n_columns,)
        Name of each column's learner.
    column_names_ : ndarray of str of shape (n_columns,)
        What each column separates, such as "A, B vs C".
    column_kinds_ : ndarray of str of shape (n_columns,)
        Kind of each column: "initial" or "simple" (added).
    decoder_ : decoder
        The decoder, fitted to these columns.
    decoding_ : str
        Its name, such as "probabilistic"; "custom" for a decoder without a name.
    weights_ : ndarray of shape (n_classes, n_columns)
        The decoding weights; only for decodings with weights.
    used_columns_ : ndarray of int
        Indices of the columns that are evaluated for prediction.
    history_ : list of GrowthRound
        Record of each round.
    best_round_ : int
        Index of the kept round in `history_`.
    n_iter_ : int
        Length of `history_`.
    stop_reason_ : str
        Why growth stopped.
    temperature_ : float
        The temperature by which `predict_proba` divides scores.
    calibration_ : ndarray of shape (n_classes + 1, n_classes) or (2, n_classes), or None
        Coefficients and, in the last row, intercepts of the calibration.
    training_samples_ : dict of str to int
        Number of samples that each learner was trained on: all of them, or a sample of large described data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    See Also
    --------
    LCECOCClassifier : Continues when a pair repeats.

    References
    ----------
    O. Pujol, S. Escalera, P. Radeva. An incremental node embedding technique for error correcting output codes.
    Pattern Recognition 41(2), 713-725, 2008.

    Examples
    --------
    >>> from skecoc import ECOCOneClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("vehicle", return_X_y=True)
    >>> model = ECOCOneClassifier(random_state=0).fit(X, y)
    >>> model.code_matrix_[:, :4].tolist() == [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]
    True
    >>> model.stop_reason_
    'the most confused pair has been separated before'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GrownClassifier._parameter_constraints,
        "decoding": [str, HasMethods(["fit", "scores"])],
        "extend": ["boolean"],
        "column_weights": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 0.5, closed="right")],
        "validation_weight": [Interval(Real, 0, 1, closed="both")],
        "target_error": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        init: Any = "one-vs-rest",
        decoding: Any = "auto",
        extend: bool = False,
        column_weights: bool = False,
        validation_fraction: float = 0.2,
        validation_weight: float = 0.5,
        target_error: float = 0.0,
        max_iter: int | str | None = "3P",
        max_columns: int | None = None,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        class_weight: ClassWeight = None,
        class_order: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.estimator = estimator
        self.init = init
        self.decoding = decoding
        self.extend = extend
        self.column_weights = column_weights
        self.validation_fraction = validation_fraction
        self.validation_weight = validation_weight
        self.target_error = target_error
        self.max_iter = max_iter
        self.max_columns = max_columns
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight
        self.class_order = class_order
        self.warm_start = warm_start

    _boosts_sums: ClassVar[bool] = False  # its folds are not those of rows in blocks

    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        del data, start
        decoder = self._decoder()
        if self.column_weights:
            if is_named(self.decoding, AUTO):
                decoder = LossWeightedDecoder()
            elif not isinstance(decoder, _WEIGHABLE):
                raise ValueError(
                    "column_weights=True needs decoding 'hamming', 'attenuated-euclidean', 'loss-based' or "
                    f"'loss-weighted', got {self.decoding!r}"
                )
        rules = StopRules(self._most_rounds(), self.max_columns, patience=None, target=self.target_error)
        return OneStrategy(decoder, self.validation_weight, self.extend, self.column_weights), rules

    def _folds(self, data: TrainingData, n_columns: int, X: Any, seed: int) -> tuple[Integers | None, bool]:
        del n_columns
        folds = assign_folds(X, data.y, round(1 / self.validation_fraction), seed)
        return np.where(folds == 0, 0, NEVER_HELD_OUT), False

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        return None, False
