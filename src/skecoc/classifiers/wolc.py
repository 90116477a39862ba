"""WOLC-ECOC: a code grown by layers of clustering-based columns, with optimised weights."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skecoc.classifiers.base import Start, TrainingData
from skecoc.classifiers.ecoc import FixedStrategy, compact_decoder
from skecoc.classifiers.grown import named_init
from skecoc.classifiers.growth import GrowingCode, Growth, StopRules, Strategy
from skecoc.classifiers.layered import LayeredClassifier
from skecoc.classifiers.weighting import (
    LogisticWeightStrategy,
    OptimizedWeightStrategy,
    PooledWeightStrategy,
    pooled_weights,
)
from skecoc.coding.choice import choose_coding, compact_code, learner_kind
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import MANY_SAMPLES
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners.mixed import is_several
from skecoc.support.errors import is_named
from skecoc.support.weights import ClassWeight

# Numbers of regions of the clustering-based columns of a pair, one after the other.
_REGIONS = (3, 6, 12, 24)
_LEAST_REGIONS = 2
# Number of rounds: the most with few samples; with more it decreases in proportion, down to the least.
_MOST_ROUNDS, _LEAST_ROUNDS, _FEW_SAMPLES = 36, 3, 2_000
# Fallback: one-vs-one without growth if growth would keep more outputs (held-out samples times columns) than this.
_MOST_CODEWORDS = 1.2e8
# With many samples and a number of classes between these two, the initial code is one-vs-one alone. One-vs-rest would
# take as long to train as all pairs and hardly improve the accuracy, which it does with more classes.
_FEW_CLASSES, _MANY_CLASSES = 10, 50
# With more classes than this, only one-vs-one grows: there are too many pairs of classes.
_MOST_CLASSES_TO_GROW = 100
# With several learners and more classes than this, no learner starts from one-vs-one.
_MOST_CLASSES_OF_PAIRS = 30
# Columns per class and learner of ``max_columns="auto"``.
_COLUMNS_PER_CLASS = 3
# The margin of weights that are optimised every round, in units of codewords.
_MARGIN = 0.3


def check_regions(n_regions: Any) -> tuple[int, ...]:
    """Check the numbers of regions, and return all of them.

    >>> check_regions("auto"), check_regions(5), check_regions([2, 4])
    ((3, 6, 12, 24), (5,), (2, 4))
    """
    numbers = _REGIONS if isinstance(n_regions, str) else tuple(np.atleast_1d(n_regions).tolist())
    if not numbers or not all(isinstance(number, int) and number >= _LEAST_REGIONS for number in numbers):
        raise ValueError(f"n_regions must be 'auto', an integer of at least 2 or several of them, got {n_regions!r}")
    return numbers


class WOLCClassifier(LayeredClassifier):
    """WOLC-ECOC: a code that grows where it still makes errors, with optimised weights.

    Starting from an initial code, each round finds the pairs of classes with the highest loss and adds a column for
    each: a simple column if the pair has none yet, otherwise a clustering-based one (`RegionClassifier`). Losses and
    weights are computed from out-of-fold codewords. The user guide explains growth and all rules of thumb.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, by default ``StumpAdaBoostClassifier(n_estimators=40)``. Of several named learners, each is
        trained on all columns of the initial code, and each added column with the best one; "mixed" means
        `skecoc.learners.mixed_learners`.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The initial code, in any form that `coding` of `ECOCClassifier` accepts. "auto" joins one-vs-rest and
        one-vs-one; it chooses a shorter code if there are many classes or samples, or if `max_columns` is small.
    n_pairs : int, default=None
        Maximum number of columns added per round. None means the number of classes, but at least 3.
    max_iter : int, default=None
        Maximum number of rounds that add columns. None means 36 for up to 2,000 samples, and fewer for more samples.
    max_columns : int or "auto", default=None
        Maximum number of columns. "auto" means three per class and learner.
    tol : float, default=0.0
        Fraction of its loss by which a round must improve on the last round with progress.
    standard_errors : float, default=2.0
        Number of standard errors by which a round must also improve on the first round.
    patience : int, default=6
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, array-like of int or "auto", default="auto"
        Number of regions of clustering-based columns, or several numbers that the columns of a pair have in turn.
        "auto" means 3, 6, 12 and 24, or fewer for pairs with few samples.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords. "auto" means three, or five with several learners; with more than
        5,000 samples, one third is held out instead. None uses training codewords.
    margin : float or "auto", default="auto"
        Margin of the optimised weights. "auto" depends on the scores of the kept round.
    l2 : float or "auto", default="auto"
        Penalty of the difference between optimised and pooled weights. "auto" is proportional to the margin.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Output of the learners that is used. "auto" is the first of these methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and learners.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line per round.
    allow_equal_weights : bool, default=True
        Whether to keep the pooled weights if optimised weights do not make fewer errors out of fold.
    weights_every_round : bool, default=False
        Whether to optimise the weights in every round and to measure progress from round to round, as in the paper.
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
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        Code matrix of the kept round.
    estimators_ : list of length n_columns
        Trained learners.
    column_learners_ : ndarray of str of shape (n_columns,)
        Name of each column's learner.
    column_names_ : ndarray of str of shape (n_columns,)
        What each column separates, such as "A, B vs C".
    column_kinds_ : ndarray of str of shape (n_columns,)
        "initial", "simple" or "clustered".
    decoder_ : decoder
        The fitted decoder.
    decoding_ : str
        "optimized-weight", or "logistic-weight" with several learners.
    weights_ : ndarray of shape (n_classes, n_columns)
        Decoding weights; every row sums to 1.
    weights_optimized_ : bool
        Whether the weights are optimised; otherwise they are pooled.
    pool_shares_ : dict of str to float
        Share of each pool (initial codes, and "pairs" for added columns) or of each learner in the weights.
    used_columns_ : ndarray of int
        Indices of the columns with a non-zero weight.
    history_ : list of GrowthRound
        Record of each round.
    best_round_ : int
        Index of the kept round in `history_`.
    n_iter_ : int
        Length of `history_`.
    stop_reason_ : str
        Why growth stopped.
    temperature_ : float
        Temperature by which `predict_proba` divides scores.
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
    LCECOCClassifier : Growth with any decoding.
    ECOCClassifier : Codes without growth.

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
    >>> [record.n_columns for record in model.history_[:3]]
    [10, 14, 18]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LayeredClassifier._parameter_constraints,
        "n_pairs": [*LayeredClassifier._parameter_constraints["n_pairs"], None],
        "max_columns": [*LayeredClassifier._parameter_constraints["max_columns"], StrOptions({"auto"})],
        "n_regions": [*LayeredClassifier._parameter_constraints["n_regions"], "array-like", StrOptions({"auto"})],
        "n_folds": [*LayeredClassifier._parameter_constraints["n_folds"], StrOptions({"auto"})],
        "margin": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "l2": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "allow_equal_weights": ["boolean"],
        "weights_every_round": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        init: Any = "auto",
        n_pairs: int | None = None,
        max_iter: int | None = None,
        max_columns: int | str | None = None,
        tol: float = 0.0,
        standard_errors: float = 2.0,
        patience: int = 6,
        n_regions: Any = "auto",
        n_folds: int | str | None = "auto",
        margin: float | str = "auto",
        l2: float | str = "auto",
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        allow_equal_weights: bool = True,
        weights_every_round: bool = False,
        class_weight: ClassWeight = None,
        class_order: Any = None,
        warm_start: bool = False,
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
        self.allow_equal_weights = allow_equal_weights
        self.weights_every_round = weights_every_round
        self.class_weight = class_weight
        self.class_order = class_order
        self.warm_start = warm_start

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Make a classifier with the settings of the paper's experiments.

        The user guide lists them. Two regions are an assumption: the paper does not state their number.

        Parameters
        ----------
        **parameters : dict
            Parameters that override these settings.

        Returns
        -------
        WOLCClassifier
            Not fitted.

        Examples
        --------
        >>> from skecoc import WOLCClassifier
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
            "weights_every_round": True,
            "response_method": "predict",
        }
        return cls(**{**settings, **parameters})

    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        del random_state
        if is_several(self.estimator) and is_named(self.init, "auto") and not self.weights_every_round:
            return self._start_of_several(names, n_classes, n_samples)
        codings, why_fixed = self._init_codings(n_classes, n_samples)
        return Start(codings * len(names), [name for name in names for _ in codings], why_fixed)

    def _init_codings(self, n_classes: int, n_samples: int) -> tuple[list[Any], str]:
        """Return the codings to start from, and why they do not grow, if they do not."""
        if not is_named(self.init, "auto"):
            return [named_init(self.init, also=["auto"])], ""
        most = self._most_columns(n_classes) or np.inf
        few = "one-vs-rest" if n_classes <= most or n_classes == 2 else "dense-random"
        if n_classes == 2 or self.weights_every_round:
            return [few], ""
        chosen = choose_coding(n_classes, n_samples, [self._learner()])
        if chosen != "one-vs-one":
            coding = chosen if n_classes <= most else "dense-random"
            is_fixed = n_classes > _MOST_CLASSES_TO_GROW or learner_kind(self._learner()) != "slow"
            return [coding], f"there are too many classes to grow {coding}" if is_fixed else ""
        n_pairs = n_classes * (n_classes - 1) // 2
        if n_pairs > most:
            return [few], ""
        n_kept = n_samples / 3 if n_samples > MANY_SAMPLES else n_samples
        if n_classes > _FEW_CLASSES and n_kept * n_classes * (n_classes + 1) / 2 > _MOST_CODEWORDS:
            return ["one-vs-one"], "there are too many samples and columns to grow one-vs-one"
        is_large = n_samples > MANY_SAMPLES and _FEW_CLASSES < n_classes <= _MANY_CLASSES
        return ["one-vs-one"] if is_large or n_classes + n_pairs > most else ["one-vs-rest", "one-vs-one"], ""

    def _start_of_several(self, names: list[str], n_classes: int, n_samples: int) -> Start:
        """Return one-vs-one for learners of binary problems, unless it is too long, and one-vs-rest for others."""
        learners = self._learners()
        by_pairs = [getattr(learners[name], "_is_pairwise", True) for name in names]
        n_pairs = n_classes * (n_classes - 1) // 2
        n_columns = sum(n_pairs if own else n_classes for own in by_pairs)
        most = self._most_columns(n_classes) or np.inf
        is_short = n_columns <= most and n_samples * n_columns <= _MOST_CODEWORDS
        has_pairs = 2 < n_classes <= _MOST_CLASSES_OF_PAIRS and is_short
        otherwise = "one-vs-rest" if most >= len(names) * (n_classes - 1) else "dense-random"
        return Start(["one-vs-one" if has_pairs and own else otherwise for own in by_pairs], names)

    def _matrices(self, codings: list[Any], data: TrainingData) -> tuple[list[CodeMatrix], int]:
        n_classes = len(self.classes_)
        if is_named(self.init, "auto") and codings == ["dense-random"]:
            most = self._most_columns(n_classes)
            codings = [compact_code(n_classes, self._learner(), data.random_state, max_columns=most)]
        return super()._matrices(codings, data)

    def _most_columns(self, n_classes: int) -> int | None:
        if isinstance(self.max_columns, str):
            return _COLUMNS_PER_CLASS * n_classes * len(self._learners(n_classes))
        return self.max_columns

    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        n_classes, n_samples = len(self.classes_), data.n_samples
        regions = check_regions(self.n_regions)
        if start.why_fixed:
            is_compact = start.codings == ["dense-random"]

            def choose_decoder(code: GrowingCode) -> Any:
                if is_compact:
                    return compact_decoder(code.matrix, n_samples, self.n_jobs)
                (weights,) = pooled_weights(code.matrix, np.zeros(code.n_columns, dtype=np.intp))
                return OptimizedWeightDecoder.from_weights(weights, code.matrix)

            return FixedStrategy(choose_decoder, self._is_binned()), StopRules(0, why_none=start.why_fixed)
        rounds = max(_LEAST_ROUNDS, _MOST_ROUNDS * _FEW_SAMPLES // max(n_samples, _FEW_SAMPLES))
        rules = StopRules(
            rounds if self.max_iter is None else self.max_iter,
            self._most_columns(n_classes),
            self.tol,
            self.standard_errors,
            self.patience,
            against_best=not self.weights_every_round,
        )
        proposes: dict[str, Any] = {
            "n_pairs": max(3, n_classes) if self.n_pairs is None else self.n_pairs,
            "n_regions": regions,
            "is_capped": isinstance(self.n_regions, str),
        }
        if is_several(self.estimator) and not self.weights_every_round:
            return LogisticWeightStrategy(**proposes), rules
        margin = None if isinstance(self.margin, str) else self.margin
        l2 = None if isinstance(self.l2, str) else self.l2
        if not self.weights_every_round:
            proves_weights = self.allow_equal_weights
            return PooledWeightStrategy(
                margin=margin, l2=l2, proves_weights=proves_weights, n_jobs=self.n_jobs, **proposes
            ), rules
        margin = _MARGIN if margin is None else margin
        l2 = min(0.1, 100.0 / data.total_weight) if l2 is None else l2
        return OptimizedWeightStrategy(margin=margin, l2=l2, n_jobs=self.n_jobs, **proposes), rules

    def _is_summable(self) -> bool:
        is_penalised = self.margin != 0 and self.l2 != 0  # without a penalty the weights need all codewords at once
        return not self.weights_every_round and is_penalised

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        super()._keep_growth(growth, strategy, codings)
        self.weights_optimized_ = hasattr(growth.decoder, "certificate_")
        self.pool_shares_ = {}
        if isinstance(strategy, FixedStrategy):
            self.pool_shares_ = {codings[0]: 1.0}
        elif isinstance(strategy, PooledWeightStrategy):
            names = [*(coding if isinstance(coding, str) else "init" for coding in codings), "pairs"]
            self.pool_shares_ = dict(zip(names, map(float, strategy.shares[growth.kept]), strict=False))
        elif is_several(self.estimator):
            self.pool_shares_ = {name: float(share.mean()) for name, share in self.learner_shares().items()}
