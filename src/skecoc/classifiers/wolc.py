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
from skecoc.coding import choose_coding
from skecoc.coding.automatic import compact_code, learner_kind
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import MANY_SAMPLES
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners.mixed import is_several
from skecoc.support.errors import is_named
from skecoc.support.weights import ClassWeight

# Numbers of regions of the clustering-based columns of a pair, one after the other.
_REGIONS = (3, 6, 12, 24)
_LEAST_REGIONS = 2
# Number of rounds for up to so many samples; it decreases in proportion with more, down to the least.
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
    each: a simple column if the pair has none yet, otherwise a clustering-based column (`RegionClassifier`). Every
    clustering-based column divides the feature space in a new way, so a hard pair gets one layer after another. This
    separates classes that consist of several clusters. The weights of the columns are fitted again in every round.

    Learners often predict all their training samples correctly, so training outputs do not show which pairs are hard.
    Losses and weights are therefore computed from out-of-fold codewords, from learners that were not trained on the
    sample.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner; None means ``StumpAdaBoostClassifier(n_estimators=40)``. In a list of named learners, each
        learner is trained on all columns of the initial code (a `MulticlassLearner` needs a single fit for this), and
        each added column is trained with the learner that lowers the loss of its pair most; "drop" instead of a
        classifier omits a learner. "mixed" means the learners of `skecoc.learners.mixed_learners`.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The initial code, in any form that `coding` of `ECOCClassifier` accepts. "auto" joins one-vs-rest and
        one-vs-one, except in these cases:

        - two classes, ``weights_every_round=True``, or a `max_columns` too small for one-vs-one: one-vs-rest only (a
          compact random code if `max_columns` is smaller than the number of classes);
        - 11 to 50 classes and more than 5,000 samples, or a `max_columns` too small for both: one-vs-one only;
        - more than 10 classes, where the joined code would have more than 120 million entries of codewords (samples
          times columns; only a third of the samples counts if there are more than 5,000): one-vs-one, without growth;
        - so many classes that ``ECOCClassifier(coding="auto")`` does not use one-vs-one: the coding that it uses,
          one-vs-rest or a compact random code with optimised weights. It grows only for trees, ensembles, boosting
          and neural networks, with up to 100 classes;
        - several learners: one-vs-rest for learners that estimate the probabilities of all classes at once, and for
          all learners with more than 30 classes; otherwise one-vs-one.
    n_pairs : int, default=None
        Maximum number of columns added per round, one per hard pair of classes. None means the number of classes, but
        at least 3.
    max_iter : int, default=None
        Maximum number of rounds that add columns. None means 36 for up to 2,000 samples, and proportionally fewer for
        more samples, but at least 3. More rounds can help if classes consist of several clusters.
    max_columns : int or "auto", default=None
        Maximum number of columns. "auto" is a small budget of three columns per class and learner. A longer `init` is
        shortened as in `ECOCClassifier`; if that is not possible, a ValueError is raised.
    tol : float, default=0.0
        Relative tolerance: a round makes progress if its loss is lower than that of the last round with progress (with
        `weights_every_round`, of the previous round) by more than this fraction of the new loss. The loss is the
        out-of-fold error rate; with several learners it is the log-loss, with `weights_every_round` the hinge loss.
        The last round with progress is kept.
    standard_errors : float, default=2.0
        Significance threshold: to make progress, the loss of a round must also be lower than that of the first round
        (with `weights_every_round`, of the previous round) by more than this many standard errors of the paired
        difference over samples. 0 disables this condition.
    patience : int, default=6
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, array-like of int or "auto", default="auto"
        Number of regions of clustering-based columns, or several numbers that are used in turn for the columns of a
        pair. "auto" means 3, 6, 12 and 24, but fewer regions if they would have less than 10 samples (a weight of 10)
        on average.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords. "auto" means three, or five with several learners; with more than
        5,000 samples, only the first of three folds is held out. None uses no folds; the loss is then measured on the
        training samples of the learners.
    margin : float or "auto", default="auto"
        The margin of the optimised weights. "auto" is 1.5 times the mean difference between the score of a sample's
        class and the best other score; with `weights_every_round` it is 0.3.
    l2 : float or "auto", default="auto"
        The L2 penalty of the optimised weights. A larger penalty keeps them closer to the pooled weights, in which
        similar columns have equal weights. "auto" is proportional to the margin; with `weights_every_round` it is 0.1
        for up to 1,000 samples and 100 divided by their number (the sum of their weights) for more.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels. "auto" uses the first of these
        methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        1 shows a progress bar that advances with every trained learner; 2 prints one line per round.
    allow_equal_weights : bool, default=True
        Whether the pooled weights are kept if the optimised weights do not have fewer errors on samples they were not
        fitted to. The pooled weights are always kept with more than 20,000 weights, or if a class has too few samples
        to be held out.
    weights_every_round : bool, default=False
        Whether weights are optimised in every round and progress is measured from round to round, as in the paper. By
        default, weights are pooled in every round and optimised only for the round that is kept.
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
        The name of the decoding: "optimized-weight" (also for pooled weights), or "logistic-weight" for several
        learners.
    weights_ : ndarray of shape (n_classes, n_columns)
        The weights; every row sums to 1.
    weights_optimized_ : bool
        Whether the weights are optimised; otherwise they are pooled.
    pool_shares_ : dict of str to float
        Share of each pool in the pooled weights. Pools are the initial codes and the added columns ("pairs"). With
        several learners, the share of each learner in the weights, averaged over classes.
    used_columns_ : ndarray of int
        Indices of the columns that are evaluated for prediction: those with a non-zero weight for some class.
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
    LCECOCClassifier : Growth with any decoding, without optimised weights.
    skecoc.learners.mixed_learners : The learners of "mixed".
    ECOCClassifier : Codes without growth.
    skecoc.decoding.optimized.OptimizedWeightDecoder : Optimised weights for any code.

    Notes
    -----
    This is Algorithm 3 of the paper with the following changes; `paper` disables all but the first two. The matrix, the
    columns and the weights that are kept belong to the same round. A pair also counts as a column if its negation is
    one. Weights are fitted to out-of-fold codewords. In each round the columns are pooled, and only the shares of the
    pools are chosen, among a few dozen mixtures; all weights are optimised only for the round that is kept. Progress is
    measured from the best round so far, so it may take several rounds.

    With several learners, weights are logistic (`skecoc.decoding.LogisticWeightDecoder`) in every round; `margin`, `l2`
    and `allow_equal_weights` are ignored. The loss of a sample is its log-loss with weights fitted without the sample's
    fold. For each hard pair, a column of the learner is added that lowers the logistic loss of the pair's samples most.

    Missing values, sparse matrices and frames are passed to the learners unchanged. Clustering-based columns cluster by
    the numeric features (see `RegionClassifier`). Without numeric features, and for sparse matrices, all added columns
    are simple.

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
    >>> growing = WOLCClassifier(max_iter=1, random_state=0, warm_start=True).fit(X[::2], y[::2])
    >>> len(growing.history_), len(growing.set_params(max_iter=2).fit(X[::2], y[::2]).history_)
    (2, 3)
    >>> mixed = WOLCClassifier("mixed", random_state=0).fit(X[::2], y[::2])
    >>> mixed.score(X[1::2], y[1::2]) > 0.78
    True
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

        These are hard labels, weights of minimal training risk without margin or penalty, growth measured on the
        training samples, three pairs per round, a tolerance of 0.01, a patience of three rounds, and two regions (the
        paper does not state their number; its figure has two).

        Parameters
        ----------
        **parameters : dict
            Further parameters; they override these settings.

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
        by_pairs = [getattr(learners[name], "is_pairwise", True) for name in names]
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
        n_pairs = max(3, n_classes) if self.n_pairs is None else self.n_pairs
        is_capped = isinstance(self.n_regions, str)
        if self.weights_every_round:
            margin = _MARGIN if isinstance(self.margin, str) else self.margin
            l2 = min(0.1, 100.0 / data.total_weight) if isinstance(self.l2, str) else self.l2
            return OptimizedWeightStrategy(margin, l2, n_pairs, regions, self.n_jobs, is_capped=is_capped), rules
        if is_several(self.estimator):
            return LogisticWeightStrategy(n_pairs, regions, is_capped=is_capped), rules
        strategy = PooledWeightStrategy(
            n_pairs,
            regions,
            None if isinstance(self.margin, str) else self.margin,
            None if isinstance(self.l2, str) else self.l2,
            self.n_jobs,
            is_capped=is_capped,
            proves_weights=self.allow_equal_weights,
        )
        return strategy, rules

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
