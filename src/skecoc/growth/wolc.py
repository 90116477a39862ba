"""WOLC-ECOC: optimised weights decide what is hard, layers of clustering-based columns solve it."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.decoding.base import worst_rivals
from skecoc.decoding.optimized.kernels import row_scores
from skecoc.growth.base import LayeredClassifier
from skecoc.growth.engine import Evaluation, Growth, Proposal, Strategy, layered_proposal
from skecoc.growth.samples import (
    CodedSamples,
    GrowingCode,
    errors_of,
    mean_output,
    nested_errors_of,
    pairs_in_units,
    sum_by_pairs,
    training_errors_of,
)
from skecoc.learners.columns import Floats, Response

# Relative gap of the optimised weights: a wider one lets growth take the solver's slack for progress.
_WEIGHTS_TOL = 1e-3
# Loss that the solver's rounding leaves of a zero.
_ZERO_LOSS = 1e-7
# Up to so many samples optimised weights are compared with equal ones.
_FEW_SAMPLES = 2_000
# Equal weights may err more by this many standard errors of the difference.
_EQUAL_WEIGHTS_TOLERANCE = 0.5
# A penalty so large that the loss does not count: weights are equal.
_EQUALIZING_L2 = 1e4
# One-vs-one, if tried, has its penalty multiplied by this: each of its columns serves one decision, so weights have
# little to gain and, with few samples, much to overfit.
_OTHER_PENALTY = 10.0
# With two classes one-vs-one and one-vs-rest are the same; with many, one-vs-one is no longer a short code.
_FEWEST_CLASSES, _MOST_CLASSES = 3, 20


class OptimizedWeightStrategy(Strategy):
    """Separate the pairs of highest risk under the best weights (Algorithm 3).

    Weights are fitted to both kinds of codewords; growth is judged, and hard pairs are found, by the out-of-fold kind
    alone. Where the outputs are margins, which are divided by their largest and mostly small, `margin` and `l2` are in
    units of the mean size of the initial columns' outputs.
    """

    def __init__(
        self, margin: float, l2: float, n_pairs: int, n_jobs: int | None = None, *, allow_equal_weights: bool = False
    ) -> None:
        self.margin, self.l2, self.n_pairs, self.n_jobs = margin, l2, n_pairs, n_jobs
        self.allow_equal_weights = allow_equal_weights
        self._weights: Floats | None = None
        self._unit: float | None = None

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Optimise the weights, from the last round's with zeros for new columns: so the objective never rises."""
        if self._unit is None:
            self._unit = mean_output(code) if code.samples.response == "decision_function" else 1.0
        decoder = code.fit_weights(self._decoder(self.l2), code.n_columns, warm_start=self._padded(code.n_columns))
        self._weights = decoder.weights_
        message = (decoder, code.matrix, code.samples.prior)
        losses, pairs = code.step(_margin_losses, message=message)
        pair_losses = sum_by_pairs(code, pairs)
        errors = code.map(errors_of, message=message)
        loss = float(pair_losses.sum() / code.samples.total_weight)
        certificate = decoder.certificate_
        return Evaluation(
            decoder,
            loss if loss > _ZERO_LOSS else 0.0,
            pair_losses,
            1.0 - code.mean(code.map(training_errors_of, message=message)),
            1.0 - code.mean(errors),
            sample_losses=losses,
            sample_errors=errors,
            objective=certificate.objective,
            hinge=certificate.hinge,
            risk=certificate.risk,
            gap=certificate.gap,
        )

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest risk."""
        return layered_proposal(code, evaluation.pair_losses, self.n_pairs)

    def refine(self, code: GrowingCode, growth: Growth) -> Growth:
        """Take equal weights unless the optimised ones err less on samples that they were not fitted to.

        With few samples the weights overfit, out-of-fold codewords or not: they are fitted to the very samples. So they
        are fitted once more without each fold and evaluated on it. With many samples there is no need.
        """
        samples = code.samples
        if not self.allow_equal_weights or samples.n_folds == 0 or samples.total_weight > _FEW_SAMPLES:
            return growth
        n_columns, matrix = growth.n_columns, code.matrix[:, : growth.n_columns]
        equal = code.fit_weights(self._decoder(_EQUALIZING_L2), n_columns)
        by_fold = [
            code.fit_weights(self._decoder(self.l2), n_columns, without_fold=fold) for fold in range(samples.n_folds)
        ]
        errors = code.map(errors_of, message=(equal, matrix, samples.prior))
        nested = code.map(nested_errors_of, message=(by_fold, equal, matrix, samples.prior))
        gain, error = code.drop(errors, nested)
        if gain > _EQUAL_WEIGHTS_TOLERANCE * error:
            evaluation = replace(growth.evaluation, out_of_fold_accuracy=1.0 - code.mean(nested), sample_errors=nested)
            return replace(growth, evaluation=evaluation)
        training_errors = code.map(training_errors_of, message=(equal, matrix, samples.prior))
        return growth.with_decoder(equal, 1.0 - code.mean(training_errors), 1.0 - code.mean(errors), errors)

    def _decoder(self, l2: float) -> OptimizedWeightDecoder:
        """Return a decoder to be fitted."""
        unit = 1.0 if self._unit is None else self._unit
        return OptimizedWeightDecoder(self.margin * unit, l2 * unit, tol=_WEIGHTS_TOL, n_jobs=self.n_jobs)

    def _padded(self, n_columns: int) -> Floats | None:
        """Return the last weights with zeros for the columns that have been added since."""
        if self._weights is None:
            return None
        return np.pad(self._weights, ((0, 0), (0, n_columns - self._weights.shape[1])))


def _margin_losses(
    samples: CodedSamples, decoder: OptimizedWeightDecoder, matrix: CodeMatrix, prior: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the hinge of each sample out of fold, and its sums by class and worst rival, in units."""
    del prior
    code = np.ascontiguousarray((decoder.weights_ * decoder.matrix_).T)
    scores = row_scores(np.ascontiguousarray(samples.out_of_fold), code)
    rivals, leads = worst_rivals(scores, samples.y, decoder.margin)
    losses = np.maximum(leads, 0.0)
    pairs = pairs_in_units(samples.y, rivals, samples.weight * losses, len(matrix))
    return losses, pairs


def automatic_codings(n_classes: int, response: str) -> list[str]:
    """Name the coding to grow from if none is given, and for 3 to 20 classes one-vs-one, to be tried as it is.

    One-vs-rest, the best code to grow from, needs outputs that can be compared: with hard labels, where most of its
    codewords tie, a tree of bipartitions takes its place for more than 3 classes.

    >>> automatic_codings(7, "predict_proba"), automatic_codings(7, "predict"), automatic_codings(50, "predict")
    (['one-vs-rest', 'one-vs-one'], ['decoc', 'one-vs-one'], ['one-vs-rest'])
    """
    if not _FEWEST_CLASSES <= n_classes <= _MOST_CLASSES:
        return ["one-vs-rest"]
    has_ties = response == "predict" and n_classes > _FEWEST_CLASSES
    return ["decoc" if has_ties else "one-vs-rest", "one-vs-one"]


class WOLCClassifier(LayeredClassifier):
    r"""Code that grows where its optimised weights still lose: WOLC-ECOC.

    Starting from any code, each round finds the weights of minimal risk, then the pairs of classes that contribute
    most to the risk that is left, and adds a column for each: a simple one if the pair is no column yet, a
    clustering-based one (`RegionClassifier`) if it is. Each clustering-based column splits the space anew, so a pair
    that resists gets layer upon layer.

    Learners often predict all their training samples correctly, and then nothing seems hard. So every sample also has
    an out-of-fold codeword, from learners that have not seen it, and growth is judged by these.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    init : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        The code to start from: what `ECOCClassifier` takes as `coding`. "auto" grows from one-vs-rest, or for 4 to 20
        classes and hard labels from DECOC; for 3 to 20 classes it also tries one-vs-one as it is. With up to 5 classes,
        where that is a short code, it is taken unless it errs more on out-of-fold codewords; with more classes, only if
        it errs less by more than two standard errors of the difference.
    n_pairs : int, default=3
        Largest number of columns that a round adds, one per hard pair of classes.
    max_iter : int, default=None
        Largest number of rounds that add columns; None stands for three times the number of classes.
    max_columns : int, default=None
        Largest number of columns.
    tol : float, default=0.02
        Relative tolerance: a round makes progress if it lowers the loss by more than this share. The last round that
        made progress is kept.
    standard_errors : float, default=2.0
        Significance threshold: to make progress a round must also lower the loss by more than this many standard errors
        of the difference, taken sample by sample. 0 switches this off.
    patience : int, default=2
        Growth stops after this many rounds in a row without progress.
    n_regions : int, default=3
        Number of regions of a clustering-based column.
    n_folds : int, default=3
        Number of folds of the out-of-fold codewords. None does without; the loss is then that of the learners on their
        own training samples.
    margin : float, default=0.3
        The margin of the optimised weights, in units of codewords (which lie in [-1, 1]); where outputs are margins, in
        units of the mean size of the initial columns' outputs.
    l2 : float or "auto", default="auto"
        The penalty of the optimised weights; the larger, the closer are the weights to equal ones. "auto" is 0.1 for
        up to 1000 samples and 100 divided by their number (the sum of their weights) for more. One-vs-one, where
        ``init="auto"`` tries it, has ten times this.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels; "auto" takes the first of these
        that the learner has.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Above zero, one line is printed per round.
    allow_equal_weights : bool, default=True
        Whether, with up to 2000 samples, the weights that growth ends with are compared with equal ones by
        cross-validation and replaced by them, unless they err less by more than half a standard error of the
        difference.

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
        The columns that prediction evaluates: those with a weight for some class.
    history_ : list of GrowthRound
        One record per round: losses, accuracies, code length, pairs that come next, seconds.
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
        "allow_equal_weights": ["boolean"],
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
        allow_equal_weights: bool = True,
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

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Make a classifier with the settings of the paper's experiments.

        Hard labels, weights of minimal training risk without margin or penalty, growth judged by the training samples,
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
            "allow_equal_weights": False,
            "response_method": "predict",
        }
        return cls(**{**settings, **parameters})

    def _init_codings(self, n_classes: int, response: Response) -> list[Any]:
        if not isinstance(self.init, str) or self.init != "auto":
            return [self.init]
        return list(automatic_codings(n_classes, response))

    def _strategy(self, start: int, total_weight: float) -> Strategy:
        l2 = min(0.1, 100.0 / total_weight) if isinstance(self.l2, str) else self.l2
        return OptimizedWeightStrategy(
            self.margin,
            l2 if start == 0 else _OTHER_PENALTY * l2,
            self.n_pairs,
            self.n_jobs,
            allow_equal_weights=self.allow_equal_weights,
        )
