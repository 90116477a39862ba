"""LC-ECOC: grow a code by layers of clustering-based columns, with any decoding."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods

from skecoc.classifiers.base import TrainingData
from skecoc.classifiers.growing_code import (
    GrowingCode,
    errors_of,
    fit_decoder,
    pairs_in_units,
    sum_by_pairs,
    training_errors_of,
)
from skecoc.classifiers.grown import LayeredClassifier
from skecoc.classifiers.growth import Evaluation, Proposal, Strategy
from skecoc.classifiers.proposals import layered_proposal
from skecoc.data.samples import CodedSamples
from skecoc.decoding import BaseDecoder
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Floats, Integers
from skecoc.support.weights import ClassWeight


class LayeredStrategy(Strategy):
    """Separate the most confused pairs; a pair that is a column already gets a clustering-based one (Algorithm 1)."""

    def __init__(self, decoder: BaseDecoder, n_pairs: int, n_regions: int) -> None:
        self.decoder = decoder  # cloned for every round
        self.n_pairs, self.n_regions = n_pairs, n_regions

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
            sample_losses=errors,
        )

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs with the most errors."""
        return layered_proposal(code, evaluation, self.n_pairs, [self.n_regions])


def confusion_of(samples: CodedSamples, decoder: BaseDecoder, matrix: Any, prior: Floats) -> Integers:
    """Count samples by class (first axis) and the class that out-of-fold codewords are decoded to, in units."""
    decoded = decode(decoder, samples.out_of_fold, matrix, prior).argmax(axis=1)
    return pairs_in_units(samples.y, decoded, samples.weight, len(matrix))


class LCECOCClassifier(LayeredClassifier):
    """LC-ECOC: a code grown by layered clustering-based columns, without weight optimisation.

    Like `WOLCClassifier`, but with any decoding; new columns separate the pairs of classes that are confused most,
    instead of those of highest risk.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner; None means ``StumpAdaBoostClassifier(n_estimators=40)``. In a list of named learners, each
        learner is trained on all columns of the initial code (a `MulticlassLearner` needs a single fit for this), and
        each added column is trained with the learner that lowers the loss of its pair most; "drop" instead of a
        classifier omits a learner. "mixed" means the learners of `skecoc.learners.mixed_learners`.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-rest"
        The initial code, in any form that `coding` of `ECOCClassifier` accepts.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or a decoder from `skecoc.decoding`.
        "auto" is ``"probabilistic"`` for one learner and ``"logistic-weight"`` for several.
    n_pairs : int, default=3
        Maximum number of columns added per round, one per hard pair of classes.
    max_iter : int, default=None
        Maximum number of rounds that add columns; None means three times the number of classes.
    max_columns : int, default=None
        Maximum number of columns. A longer `init` is shortened as in `ECOCClassifier`; if that is not possible, a
        ValueError is raised.
    tol : float, default=0.01
        Relative tolerance: a round makes progress if its loss (the out-of-fold error rate) is lower than that of the
        previous round by more than this fraction of the new loss. The last round with progress is kept.
    standard_errors : float, default=1.0
        Significance threshold: to make progress, a round must also lower the loss by more than this many standard
        errors of the paired difference over samples. 0 disables this condition.
    patience : int, default=2
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, default=3
        Number of regions of a clustering-based column.
    n_folds : int, default=3
        Number of folds of the out-of-fold codewords. None uses no folds; the loss is then measured on the training
        samples of the learners.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels. "auto" uses the first of these
        methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        1 shows a progress bar that advances with every trained learner; 2 prints one line per round.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``; classes that are not listed have weight 1. They are multiplied
        with `sample_weight`, so they apply to the learners, the decoding and the probabilities. "balanced" gives every
        class the same total weight. A class of weight zero is dropped.
    class_order : array-like of shape (n_classes,), default=None
        The class labels in their natural order, for ``init="ordinal"``; other codes refuse it. None uses the order of
        an ordered categorical `y`, otherwise that of the sorted labels. See `ECOCClassifier`.
    warm_start : bool, default=False
        Whether a further `fit` on the same data reuses the trained columns, so that with a larger `max_iter`,
        `max_columns` or `patience` only the added columns are trained. The result is the same as that of a single `fit`
        with the new parameters. If the data, learners, folds or seed have changed, all columns are trained again. The
        trained columns, including those of folds, are kept in memory, but not in pickles and model files.

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
        Name of the learner of each column.
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
        One record per round: losses, accuracies, code length, next pairs and times.
    best_round_ : int
        Index in `history_` of the round that is kept; 0 is the initial code.
    n_iter_ : int
        Number of rounds including the initial code: the length of `history_`.
    stop_reason_ : str
        Why growth stopped.
    temperature_ : float
        The temperature by which `predict_proba` divides scores.
    calibration_ : ndarray of shape (n_classes + 1, n_classes) or (2, n_classes), or None
        Coefficients (all rows but the last) and intercepts (last row) of the calibration, applied to scores divided by
        `temperature_`; None without out-of-fold codewords.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all feature names of `X` are strings.

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
        max_iter: int | None = None,
        max_columns: int | None = None,
        tol: float = 0.01,
        standard_errors: float = 1.0,
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
        self.standard_errors = standard_errors
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

    def _strategy(self, data: TrainingData, total_weight: float) -> Strategy:  # noqa: ARG002
        return LayeredStrategy(self._decoder(), self.n_pairs, self.n_regions)
