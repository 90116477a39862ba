"""WOLC-ECOC as a scikit-learn estimator."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from skecoc.grown.base import Floats, LayeredClassifier
from skecoc.growth import OptimizedWeightStrategy, Strategy

# Relative gap of the optimised weights: a wider one lets growth take the solver's slack for progress.
_WEIGHTS_TOL = 1e-3
# One-vs-one, if tried, has its penalty multiplied by this: each of its columns serves one decision, so weights have
# little to gain and, with few rows, much to overfit.
_OTHER_PENALTY = 10.0


class WOLCClassifier(LayeredClassifier):
    r"""Code that grows where its optimised weights still lose: WOLC-ECOC.

    Starting from any code, each round finds the weights of minimal risk, then the pairs of classes that contribute
    most to the risk that is left, and adds a column for each: a simple one if the pair is no column yet, a
    clustering-based one (`RegionClassifier`) if it is. Each clustering-based column splits the space anew, so a pair
    that resists gets layer upon layer.

    Learners often answer all their training rows rightly, and then nothing seems hard. So each row is also answered
    by learners that have not seen it, and growth is judged by these honest answers.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The code to start from: what `ECOCClassifier` takes as `coding`. "auto" grows from one-vs-rest, or for 4 to 20
        classes and learners that answer by hard labels from DECOC; for 3 to 20 classes it also tries one-vs-one as it
        is. With up to 5 classes, where that is a short code, it is taken unless it errs more on honest codewords; with
        more classes, only if it errs less by more than two standard errors of the difference.
    n_pairs : int, default=3
        Largest number of columns that a round adds, one per hard pair of classes.
    max_iter : int, default=None
        Largest number of rounds that add columns; None stands for three times the number of classes.
    max_columns : int, default=None
        Largest number of columns.
    tol : float, default=0.02
        The price of a round: it makes progress if it lowers the loss by more than this share. What is kept is the
        last round that made progress.
    standard_errors : float, default=2.0
        The proof of a round: to make progress it must also lower the loss by more than this many standard errors of
        the difference, taken row by row. 0 asks for no proof.
    patience : int, default=2
        Growth stops after this many rounds in a row without progress.
    n_regions : int, default=3
        Number of regions of a clustering-based column.
    n_folds : int, default=3
        Number of folds of the honest codewords: every training row is also answered by learners that have not seen
        it. None does without; the loss is then that of the learners on their own training rows.
    margin : float, default=0.3
        The margin of the optimised weights, in units of codewords (which lie in [-1, 1]); where learners answer by
        margins, in units of the mean size of the initial columns' answers.
    l2 : float or "auto", default="auto"
        The penalty of the optimised weights; the larger, the closer are the weights to equal ones. "auto" is 0.1 for
        up to 1000 rows and 100 divided by the number of rows (the sum of their weights) for more. One-vs-one, where
        ``init="auto"`` tries it, has ten times this. With up to 2000 rows the weights that growth ends with are then
        held against equal ones, by cross-validation, and give way to them unless they err less by more than half a
        standard error of the difference.
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
        "initial", "simple" or "clustered": where each column comes from.
    decoder_ : decoder
        The decoding, fitted to these columns.
    weights_ : ndarray of shape (n_classes, n_columns)
        The optimised weights; every row sums to 1.
    used_columns_ : ndarray of int
        The columns that prediction asks: those with a weight for some class.
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
    LCECOCClassifier : The same growth without optimised weights.
    ECOCClassifier : Codes that do not grow.
    skecoc.decoding.optimized.OptimizedWeightDecoder : The weights alone, for any code.

    Notes
    -----
    Algorithm 3 of the paper, with two corrections: the matrix, the columns and the weights that are kept belong to
    the same round, and a pair counts as a column also if its negation is one. `objective` in `history_` never rises
    from round to round: a new column of weight zero leaves it as it was.

    References
    ----------
    X.-L. Zhang. Heuristic ternary error-correcting output codes via weight optimization and layered clustering-based
    approach. IEEE Transactions on Cybernetics 45(2), 289-301, 2015.

    Examples
    --------
    >>> from skecoc import WOLCClassifier
    >>> from skecoc.datasets import load_uci
    >>> X, y = load_uci("vehicle", return_X_y=True)
    >>> model = WOLCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.7
    True
    >>> losses = [record.objective for record in model.history_]
    >>> losses == sorted(losses, reverse=True)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LayeredClassifier._parameter_constraints,
        "margin": [Interval(Real, 0, None, closed="left")],
        "l2": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        init: Any = "auto",
        n_pairs: int = 3,
        max_iter: int | None = None,
        max_columns: int | None = None,
        tol: float = 0.02,
        standard_errors: float = 2.0,
        patience: int = 2,
        n_regions: int = 3,
        n_folds: int | None = 3,
        margin: float = 0.3,
        l2: float | str = "auto",
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.init = init
        self.n_pairs = n_pairs
        self.max_iter = max_iter
        self.max_columns = max_columns
        self.tol = tol
        self.standard_errors = standard_errors
        self.patience = patience
        self.n_regions = n_regions
        self.n_folds = n_folds
        self.margin = margin
        self.l2 = l2
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Make a classifier with the settings of the paper's experiments.

        Hard labels, weights of minimal training risk without margin or penalty, growth judged by the training rows,
        three pairs per round, a tolerance of 0.01, three rounds of patience, two regions (the paper does not give
        their number; its figure has two).

        Parameters
        ----------
        **parameters : dict
            Further parameters, or others in place of these.

        Returns
        -------
        WOLCClassifier
            Not fitted.

        Examples
        --------
        >>> WOLCClassifier.paper(max_columns=20).margin
        0.0
        """
        settings = {
            "init": "one-vs-rest",
            "n_pairs": 3,
            "tol": 0.01,
            "standard_errors": 0.0,
            "patience": 3,
            "n_regions": 2,
            "n_folds": None,
            "margin": 0.0,
            "l2": 0.0,
            "response_method": "predict",
        }
        return cls(**{**settings, **parameters})

    def _strategy(self, start: int, weight: Floats) -> Strategy:
        l2 = min(0.1, 100.0 / weight.sum()) if isinstance(self.l2, str) else self.l2
        return OptimizedWeightStrategy(
            self.margin,
            l2 if start == 0 else _OTHER_PENALTY * l2,
            _WEIGHTS_TOL,
            self.n_pairs,
            self.n_jobs,
            may_equalize=isinstance(self.l2, str),
        )
