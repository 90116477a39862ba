"""Layered codes: hard pairs of classes get one clustering-based column after another; and LC-ECOC."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.classifiers.base import Start, TrainingData
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
    pairs_in_units,
    sum_by_pairs,
    training_errors_of,
)
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.samples import ArraySamples, CodedSamples
from skecoc.decoding import BaseDecoder
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Column, Floats, Pattern
from skecoc.support.weights import ClassWeight

# Numbers of regions, and the least weight of the samples of a region on average.
_REGIONS, _SAMPLES_OF_REGION = (3, 6, 12, 24, 48, 96, 192), 10.0
# A learner must lower the summed logistic loss of a pair by more than this: about what one more factor gains by chance.
_LEAST_GAIN = 2.0
# Upper bound of the factors, which would be infinite for separable samples.
_LARGEST_FACTOR = 50.0


def layered_proposal(
    code: GrowingCode, evaluation: Evaluation, n_pairs: int, n_regions: Sequence[int] | None
) -> Proposal:
    """Separate the hardest pairs: by a simple column if a pair has none yet, else by a clustering-based one.

    The clustering-based columns of a pair have the numbers of regions in turn, by default those of `regions_of`. Of
    several learners, the one that lowers the out-of-fold loss of the pair most is taken; pairs whose loss no learner
    lowers are left out.
    """
    pairs = hard_pairs(evaluation.pair_losses, n_pairs)
    choices = []  # for each pair, the next column of each learner that can be trained
    for pair in pairs:
        pattern = pair_column(len(code.matrix), pair)
        numbers = n_regions
        if numbers is None:
            numbers = regions_of(float(code.samples.prior[list(pair)].sum() * code.samples.total_weight))
        columns = []
        for learner in code.learner_names or ("",):
            own = code.matrix[:, np.array(code.column_learners) == learner] if learner else code.matrix
            n_equal = number_of_equal_columns(own, pattern)
            if n_equal == 0 or learner in code.clusterable:
                wanted = numbers[(n_equal - 1) % len(numbers)] if n_equal else 0
                columns.append(Column(pattern, wanted, learner))
        choices.append(columns)
    if code.learner_names:
        reason = "no learner lowers the loss of a hard pair"
        chosen = best_columns(code, evaluation.decoder, pairs, choices)
    else:
        reason = "there are no numeric features to cluster by"
        chosen = [columns[0] if columns else None for columns in choices]
    proposal = Proposal([], [], reason if pairs and not any(chosen) else "")
    for column, pair in zip(chosen, pairs, strict=True):
        if column is not None:
            proposal.columns.append(column)
            proposal.pairs.append(pair)
    return proposal


def regions_of(weight: float) -> list[int]:
    """List the numbers of regions that the clustering-based columns of a pair of this weight have in turn.

    The number doubles as long as a region has ten samples on average.

    >>> regions_of(15.0), regions_of(60.0), regions_of(500.0)
    ([2], [3, 6], [3, 6, 12, 24, 48])
    """
    numbers = [number for number in _REGIONS if number * _SAMPLES_OF_REGION <= weight]
    return numbers or [2]


def best_columns(
    code: GrowingCode, decoder: Any, pairs: Sequence[tuple[int, int]], choices: Sequence[Sequence[Column]]
) -> list[Column | None]:
    """Return for each pair the column that lowers the out-of-fold loss of its samples most; None if no column does."""
    samples, every = code.samples, [column for columns in choices for column in columns]
    if not every or not isinstance(samples, ArraySamples):
        return [None] * len(pairs)
    coded, outputs = code.coded, code.try_out(every).out_of_fold
    scores = decode(decoder, coded.out_of_fold, code.matrix, samples.prior)
    chosen: list[Column | None] = []
    first = 0
    for pair, columns in zip(pairs, choices, strict=True):
        last = first + len(columns)
        rows = np.flatnonzero(np.isin(coded.y, pair))
        side = np.where(coded.y[rows] == pair[0], 1.0, -1.0)
        margins = side * (scores[rows, pair[0]] - scores[rows, pair[1]])
        signs = np.array([column.pattern[pair[0]] for column in columns])
        of_pair = outputs[rows, first:last] * side[:, None] * signs
        gains = pair_gains(margins, of_pair, coded.weight[rows] * samples.unit_weight)
        best = int(gains.argmax()) if len(gains) else 0
        chosen.append(columns[best] if len(gains) and gains[best] > _LEAST_GAIN else None)
        first = last
    return chosen


def pair_gains(margins: Floats, outputs: Floats, weight: Floats) -> Floats:
    """Return by how much each column could lower the logistic loss of the samples of a pair of classes.

    `margins` are the scores of the present code and `outputs`, of shape (n_samples, n_columns), those of the columns;
    both are positive where they favour a sample's own class. Two models are compared for each column: the margins times
    a factor, and the margins and the column, each times a factor. Factors are not negative.

    >>> correct, wrong = np.array([[1.0], [1.0]]), np.array([[-1.0], [-1.0]])
    >>> pair_gains(np.array([0.5, -0.5]), np.hstack([correct, wrong]), np.ones(2)).round(2)
    array([1.39, 0.  ])
    """
    scaled = margins / (np.abs(margins).mean() or 1.0)

    def least(*terms: Floats) -> float:
        design = np.column_stack(terms)

        def loss(factors: Floats) -> tuple[float, Floats]:
            total = design @ factors
            slopes = -weight / (1.0 + np.exp(np.minimum(total, 500.0)))
            return float(weight @ np.logaddexp(0.0, -total)), slopes @ design

        bounds = [(0.0, _LARGEST_FACTOR)] * len(terms)
        return float(minimize(loss, np.full(len(terms), 0.5), jac=True, method="L-BFGS-B", bounds=bounds).fun)

    before = least(scaled)
    return np.array([max(before - least(scaled, column), 0.0) for column in outputs.T])


def pair_column(n_classes: int, pair: tuple[int, int]) -> Pattern:
    """Return the column with the first class of a pair against the second."""
    column = np.zeros(n_classes, dtype=np.int8)
    column[list(pair)] = 1, -1
    return column


def number_of_equal_columns(matrix: CodeMatrix, column: Pattern) -> int:
    """Count the columns of a matrix that are equal to a column, or to its negation."""
    members = np.flatnonzero(column)
    signs = matrix[members] * column[members, None]
    agree = np.flatnonzero((signs[0] != 0) & (signs == signs[0]).all(axis=0))
    return int((np.count_nonzero(matrix[:, agree], axis=0) == len(members)).sum())


@dataclass
class LayeredStrategy(Strategy):
    """Separate the most confused pairs; a pair that is a column already gets a clustering-based one (Algorithm 1)."""

    tells_next = True

    decoder: BaseDecoder  # cloned for every round
    n_pairs: int
    n_regions: int

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the decoder and count errors, on out-of-fold codewords where there are any."""
        prior = code.samples.prior
        decoder = fit_decoder(clone(self.decoder), code)
        errors = code.map(errors_of, message=(decoder, code.matrix, prior))
        training_errors = code.map(training_errors_of, message=(decoder, code.matrix, prior))
        loss = code.mean(errors)
        confusion = code.sum(confusion_of, message=(decoder, code.matrix, prior))
        return Evaluation(
            decoder,
            loss,
            sum_by_pairs(code, confusion),
            1.0 - code.mean(training_errors),
            1.0 - loss,
        )

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs with the most errors."""
        return layered_proposal(code, evaluation, self.n_pairs, [self.n_regions])


def confusion_of(samples: CodedSamples, decoder: BaseDecoder, matrix: Any, prior: Floats) -> NDArray[np.int64]:
    """Count samples by class (first axis) and the class that out-of-fold codewords are decoded to, in units."""
    decoded = decode(decoder, samples.out_of_fold, matrix, prior).argmax(axis=1)
    return pairs_in_units(samples.y, decoded, samples.weight, len(matrix))


class LayeredClassifier(GrownClassifier):
    """Base of LC-ECOC and WOLC-ECOC: codes with clustering-based columns."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GrownClassifier._parameter_constraints,
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "n_regions": [Interval(Integral, 2, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    _clusters: ClassVar[bool] = True


class LCECOCClassifier(LayeredClassifier):
    """LC-ECOC: a code grown by layered clustering-based columns, without weight optimisation.

    Like `WOLCClassifier`, but with any decoding; new columns separate the pairs of classes that are confused most,
    instead of those of highest risk.

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
    n_pairs : int, default=3
        Maximum number of columns added per round, one per hard pair of classes.
    max_iter : int, "3P" or None, default="3P"
        Maximum number of rounds that add columns. "3P" means three times the number of classes, None no limit.
    max_columns : int, default=None
        Maximum number of columns. A longer `init` is shortened as in `ECOCClassifier`; if that is not possible, a
        ValueError is raised.
    tol : float, default=0.01
        Relative tolerance: a round makes progress if its loss (the out-of-fold error rate) is lower than that of the
        previous round by more than this fraction of the new loss. The last round with progress is kept.
    patience : int, default=2
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, default=3
        Number of regions of a clustering-based column.
    n_folds : int, default=3
        Number of folds of the out-of-fold codewords. None uses no folds; the loss is then measured on the training
        samples of the learners.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Output of the learners that is used. "auto" is the first of these methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and learners.
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
        Kind of each column: "initial", "simple" or "clustered" (clustering-based).
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
    WOLCClassifier : Growth with optimised weights.

    References
    ----------
    X.-L. Zhang. Heuristic ternary error-correcting output codes via weight optimization and layered clustering-based
    approach. IEEE Transactions on Cybernetics 45(2), 289-301, 2015.

    Examples
    --------
    >>> from skecoc import LCECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("vehicle", return_X_y=True)
    >>> model = LCECOCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LayeredClassifier._parameter_constraints,
        "decoding": [str, HasMethods(["fit", "scores"])],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        init: Any = "one-vs-rest",
        decoding: Any = "auto",
        n_pairs: int = 3,
        max_iter: int | str | None = "3P",
        max_columns: int | None = None,
        tol: float = 0.01,
        patience: int = 2,
        n_regions: int = 3,
        n_folds: int | None = 3,
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
        self.n_pairs = n_pairs
        self.max_iter = max_iter
        self.max_columns = max_columns
        self.tol = tol
        self.patience = patience
        self.n_regions = n_regions
        self.n_folds = n_folds
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight
        self.class_order = class_order
        self.warm_start = warm_start

    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        del data, start
        rules = StopRules(self._most_rounds(), self.max_columns, tol=self.tol, patience=self.patience)
        return LayeredStrategy(self._decoder(), self.n_pairs, self.n_regions), rules
