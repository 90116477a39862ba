"""ECOC-ONE as a scikit-learn estimator."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.decoding import resolve_decoder
from skecoc.grown.base import Floats, GrownClassifier, Integers
from skecoc.growth import OneStrategy, StopRules, Strategy
from skecoc.growth.folds import NEVER_HELD_OUT, assign_folds


class ECOCOneClassifier(GrownClassifier):
    """Code that gets a column for the most confused pair of classes until a pair repeats: ECOC-ONE.

    A part of the rows is set aside for validation: learners trained without it answer it, and the confusion of
    training and validation rows, mixed, names the next pair. The learners that are kept are trained on all rows.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-rest"
        The code to start from: what `ECOCClassifier` takes as `coding`.
    decoding : str or decoder, default="loss-weighted"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or an object of `skecoc.decoding`.
    extend : bool, default=False
        Whether other classes may join the two sides of the pair: a floating search adds and takes away classes as
        long as the error falls, which trains many columns.
    validation_fraction : float, default=0.2
        Share of each class that is set aside for validation, in (0, 0.5]; taken as one of a whole number of parts.
    validation_weight : float, default=0.5
        Weight of the validation rows in the confusion; the training rows have the rest.
    target_error : float, default=0.0
        Growth stops when the mixed error is at most this.
    max_iter : int, default=None
        Largest number of columns to add; None stands for three times the number of classes.
    max_columns : int, default=None
        Largest number of columns.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        How learners answer: by probabilities, margins or hard labels; "auto" takes the first of these that the
        learner has.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Above zero, one line is printed per round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix of the kept round.
    estimators_ : list of length n_columns
        Its trained learners.
    column_kinds_ : ndarray of str of shape (n_columns,)
        "initial", "simple": where each column comes from.
    decoder_ : decoder
        The decoding, fitted to these columns.
    weights_ : ndarray of shape (n_classes, n_columns)
        The decoding's weights; only with decodings that have them.
    used_columns_ : ndarray of int
        The columns that prediction asks.
    history_ : list of GrowthRound
        One record per round: losses, accuracies, code length, pairs asked about next, seconds.
    best_round_ : int
        The round that is kept.
    n_iter_ : int
        Number of rounds.
    stop_reason_ : str
        Why growth ended.
    temperature_ : float
        The divisor of scores in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.

    See Also
    --------
    LCECOCClassifier : Goes on when a pair repeats.

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
    'the most confused pair has been asked about before'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GrownClassifier._parameter_constraints,
        "decoding": [str, HasMethods(["fit", "scores"])],
        "extend": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 0.5, closed="right")],
        "validation_weight": [Interval(Real, 0, 1, closed="both")],
        "target_error": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        init: Any = "one-vs-rest",
        decoding: Any = "loss-weighted",
        extend: bool = False,
        validation_fraction: float = 0.2,
        validation_weight: float = 0.5,
        target_error: float = 0.0,
        max_iter: int | None = None,
        max_columns: int | None = None,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.init = init
        self.decoding = decoding
        self.extend = extend
        self.validation_fraction = validation_fraction
        self.validation_weight = validation_weight
        self.target_error = target_error
        self.max_iter = max_iter
        self.max_columns = max_columns
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _strategy(self, start: int, weight: Floats) -> Strategy:  # noqa: ARG002
        return OneStrategy(resolve_decoder(self.decoding), self.validation_weight, self.extend)

    def _rules(self, n_classes: int) -> StopRules:
        max_iter = 3 * n_classes if self.max_iter is None else self.max_iter
        return StopRules(max_iter, self.max_columns, patience=None, target=self.target_error)

    def _folds(self, X: Any, y: Integers, random_state: np.random.RandomState) -> Integers | None:
        folds = assign_folds(X, y, round(1 / self.validation_fraction), random_state)
        return np.where(folds == 0, 0, NEVER_HELD_OUT)
