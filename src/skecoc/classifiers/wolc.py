"""WOLC-ECOC: a code grown by layers of clustering-based columns, with optimised weights."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skecoc.classifiers.base import AUTO, Start, TrainingData
from skecoc.classifiers.ecoc import FixedStrategy, compact_decoder
from skecoc.classifiers.grown import THRICE_CLASSES, named_init
from skecoc.classifiers.growth import GrowingCode, Growth, StopRules, Strategy
from skecoc.classifiers.layered import LayeredClassifier
from skecoc.classifiers.weighting import STRENGTHS, WeightStrategy
from skecoc.coding.choice import choose_coding, compact_code, learner_kind
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.folds import MANY_SAMPLES
from skecoc.decoding import LogisticWeightDecoder, OptimizedWeightDecoder, resolve_decoder
from skecoc.learners.mixed import is_several
from skecoc.support.errors import is_named
from skecoc.support.weights import ClassWeight

_LEAST_REGIONS = 2
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
# Weights that differ by no more than this share of the total weight from those of the groups are equal in each group.
_EQUAL = 1e-6
# Relative gap of the certificate of optimised weights.
_GAP = 1e-3
# Growth ends at this log-loss of out-of-fold codewords: nearly all samples are known for certain.
_SMALL_LOSS = 0.01


def check_regions(n_regions: Any) -> tuple[int, ...] | None:
    """Check the numbers of regions, and return all of them; None for "auto".

    >>> check_regions("auto"), check_regions(5), check_regions([2, 4])
    (None, (5,), (2, 4))
    """
    if isinstance(n_regions, str):
        return None
    numbers = tuple(np.atleast_1d(n_regions).tolist())
    if not numbers or not all(isinstance(number, int) and number >= _LEAST_REGIONS for number in numbers):
        raise ValueError(f"n_regions must be 'auto', an integer of at least 2 or several of them, got {n_regions!r}")
    return numbers


class WOLCClassifier(LayeredClassifier):
    """WOLC-ECOC: a code that grows where it still makes errors, with optimised weights.

    Starting from an initial code, each round finds the pairs of classes with the highest loss and adds a column for
    each: a simple column if the pair has none yet, otherwise a clustering-based one (`RegionClassifier`). Rounds are
    judged by the log-loss of out-of-fold codewords. The weights of the kept round minimise the hinge loss of
    out-of-fold codewords plus a penalty, whose strength is chosen by weights that are fitted without each fold. The
    user guide explains growth and all rules of thumb.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, by default ``StumpAdaBoostClassifier(n_estimators=40)``. Of several named learners, each is
        trained on all columns of the initial code, and each added column with the best one; "mixed" means
        `skecoc.learners.mixed_learners`.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The initial code, in any form that `coding` of `ECOCClassifier` accepts. "auto" joins one-vs-rest and
        one-vs-one; it chooses a shorter code if there are many classes or samples, or if `max_columns` is small.
    decoding : {"auto", "optimized-weight", "logistic-weight"} or decoder, default="auto"
        How columns are weighed: an `OptimizedWeightDecoder` or a `LogisticWeightDecoder` with its settings. "auto" is
        logistic weights for several learners, and for one ``OptimizedWeightDecoder("auto", l2="auto", tol=1e-3)``: the
        margin depends on the scores, and the penalty is chosen out of fold. A name stands for the decoder with its own
        defaults, a fixed margin and penalty.
    n_pairs : int, default=None
        Maximum number of columns added per round. None means the number of classes, but at least 3.
    max_iter : int, "3P" or None, default=None
        Maximum number of rounds that add columns; "3P" means three times the number of classes, None no limit.
    max_columns : int or "auto", default=None
        Maximum number of columns. "auto" means three per class and learner.
    max_work : float or None, default=10.0
        Maximum work of added columns, as a multiple of that of the initial code. The work of a column is the number
        of samples that take part in it.
    tol : float, default=0.003
        Fraction of its loss by which a round must improve on the last round with progress.
    patience : int, default=4
        Growth stops after this many consecutive rounds without progress.
    n_regions : int, array-like of int or "auto", default="auto"
        Number of regions of clustering-based columns, or several numbers that the columns of a pair have in turn.
        "auto" means 3, 6, 12 and so on, as long as a region has ten samples on average.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords. "auto" means three, or five with several learners; with more than
        5,000 samples, one third is held out instead. None uses training codewords as the paper does: the weights are
        then fitted in every round, and what they minimise judges it.
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
        "optimized-weight" or "logistic-weight".
    weights_ : ndarray of shape (n_classes, n_columns)
        Decoding weights; every row sums to 1.
    weights_optimized_ : bool
        Whether there are optimised or logistic weights. False if they are equal in each group of columns, since the
        chosen penalty is the strongest one. Codes that are too long to grow have equal weights, or those that
        `ECOCClassifier` fits to compact codes.
    penalty_strength_ : float
        Strength of the penalty, in a unit in which 1 makes weights as dear as the margin; NaN if it was not chosen.
    distance_from_equal_ : float
        Share of the total weight, from 0 to 1, by which the weights differ from those that are equal in each group of
        columns (without folds: from equal weights); NaN for codes that are too long to grow.
    group_shares_ : dict of str to float
        Share of each group of columns in the weights, by the initial codes and the numbers of regions of added columns;
        with several learners, share of each learner.
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
    >>> model.decoder_.certificate_.gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LayeredClassifier._parameter_constraints,
        "n_pairs": [*LayeredClassifier._parameter_constraints["n_pairs"], None],
        "max_columns": [*LayeredClassifier._parameter_constraints["max_columns"], StrOptions({"auto"})],
        "n_regions": [*LayeredClassifier._parameter_constraints["n_regions"], "array-like", StrOptions({"auto"})],
        "n_folds": [*LayeredClassifier._parameter_constraints["n_folds"], StrOptions({"auto"})],
        "decoding": [str, HasMethods(["fit", "scores"])],
        "max_work": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        init: Any = "auto",
        decoding: Any = "auto",
        n_pairs: int | None = None,
        max_iter: int | str | None = None,
        max_columns: int | str | None = None,
        max_work: float | None = 10.0,
        tol: float = 0.003,
        patience: int = 4,
        n_regions: Any = "auto",
        n_folds: int | str | None = "auto",
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
        self.max_work = max_work
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
        >>> WOLCClassifier.paper(max_columns=20).decoding
        OptimizedWeightDecoder(l2=0.0, margin=0.0, tol=0.001)
        """
        settings = {
            "init": "one-vs-rest",
            "decoding": OptimizedWeightDecoder(0.0, l2=0.0, tol=_GAP),
            "n_pairs": 3,
            "max_iter": THRICE_CLASSES,
            "max_work": None,
            "tol": 0.01,
            "patience": 3,
            "n_regions": 2,
            "n_folds": None,
            "response_method": "predict",
        }
        return cls(**{**settings, **parameters})

    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        del random_state
        if is_several(self.estimator) and is_named(self.init, "auto"):
            return self._start_of_several(names, n_classes, n_samples)
        codings, why_fixed = self._init_codings(n_classes, n_samples)
        return Start(codings * len(names), [name for name in names for _ in codings], why_fixed)

    def _init_codings(self, n_classes: int, n_samples: int) -> tuple[list[Any], str]:
        """Return the codings to start from, and why they do not grow, if they do not."""
        if not is_named(self.init, "auto"):
            return [named_init(self.init, also=["auto"])], ""
        most = self._most_columns(n_classes) or np.inf
        few = "one-vs-rest" if n_classes <= most or n_classes == 2 else "dense-random"
        if n_classes == 2:
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
                used = code.matrix != 0
                return OptimizedWeightDecoder.from_weights(used / used.sum(axis=1, keepdims=True), code.matrix)

            return FixedStrategy(choose_decoder, self._is_binned()), StopRules(0, why_none=start.why_fixed)
        rules = StopRules(
            self._most_rounds(),
            self._most_columns(n_classes),
            self.max_work,
            self.tol,
            self.patience,
            target=_SMALL_LOSS if self.n_folds is not None else 0.0,
            against_best=self.n_folds is not None,
        )
        n_pairs = max(3, n_classes) if self.n_pairs is None else self.n_pairs
        return WeightStrategy(decoder=self._decoder(), n_pairs=n_pairs, n_regions=regions), rules

    def _decoder(self) -> OptimizedWeightDecoder | LogisticWeightDecoder:
        decoding = self.decoding
        if is_named(decoding, AUTO):
            has_several = is_several(self.estimator)
            decoding = (
                LogisticWeightDecoder(tol=_GAP) if has_several else OptimizedWeightDecoder(AUTO, l2=AUTO, tol=_GAP)
            )
        decoder = resolve_decoder(decoding, also=(AUTO,))
        if not isinstance(decoder, OptimizedWeightDecoder | LogisticWeightDecoder):
            raise ValueError(  # noqa: TRY004
                f"decoding must be 'auto', 'optimized-weight', 'logistic-weight' or one of their decoders, got "
                f"{self.decoding!r}; LCECOCClassifier grows codes with any decoding"
            )
        if isinstance(decoder, OptimizedWeightDecoder) and decoder.n_jobs is None:
            decoder.n_jobs = self.n_jobs
        return decoder

    def _is_summable(self) -> bool:
        decoder = self._decoder()  # without a penalty the weights need all codewords at once
        is_optimized = isinstance(decoder, OptimizedWeightDecoder)
        return self.n_folds is not None and is_optimized and 0 not in {decoder.margin, decoder.l2}

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        super()._keep_growth(growth, strategy, codings)
        self.weights_optimized_ = hasattr(growth.decoder, "certificate_")
        self.penalty_strength_ = self.distance_from_equal_ = np.nan
        if isinstance(strategy, WeightStrategy):
            self.penalty_strength_ = strategy.strength
            difference = np.abs(growth.decoder.weights_ - strategy.grouped.weights_)
            self.distance_from_equal_ = float(0.5 * difference.sum(axis=1).mean())
            self.weights_optimized_ &= strategy.strength != STRENGTHS[0] and self.distance_from_equal_ > _EQUAL
        if is_several(self.estimator):
            shares = self.learner_shares()
        else:
            code, n_columns = growth.code, growth.n_columns
            groups = [
                self._initial_codes[part] if part >= 0 else f"{own.n_regions} regions" if own.clustered else "pairs"
                for part, own in zip(code.parts[:n_columns], code.columns, strict=False)
            ]
            of_class = self.weights_ / self.weights_.sum(axis=1, keepdims=True)
            shares = {name: of_class[:, np.array(groups) == name].sum(axis=1) for name in dict.fromkeys(groups)}
        self.group_shares_ = {name: float(share.mean()) for name, share in shares.items()}
