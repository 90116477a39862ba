"""Subclass-ECOC as a scikit-learn estimator."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.classifiers import BaseCodeClassifier, calibration_samples, fit_temperature
from skecoc.decoding import resolve_decoder
from skecoc.decoding.ties import break_ties
from skecoc.grown.base import LARGEST_SEED, Floats, Integers, check_numeric_rows, numeric_tags, rows_that_count
from skecoc.growth import GrowingCode
from skecoc.growth.folds import assign_folds
from skecoc.growth.subclass import SplitThresholds, SubclassTree
from skecoc.growth.training import ColumnTrainer
from skecoc.learners.columns import resolve_response


class SubclassECOCClassifier(BaseCodeClassifier):
    """Tree of bipartitions that splits classes into subclasses where they are hard to separate: Subclass-ECOC.

    Each node of the tree is the bipartition of its classes with the highest mutual information. If the learner of a
    node errs too often, one of its classes is split in two by k-means, the one whose split lowers the error most, and
    the node is bipartitioned anew. So the code matrix may have several rows for a class; a class's score is the
    highest of its rows'.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    decoding : str or decoder, default="loss-weighted"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or an object of `skecoc.decoding`.
    max_error : float, default=0.02
        The performance threshold: a bipartition with an error of at most this is left as it is.
    min_size : float, default=0.05
        The size threshold: smallest share of all rows that a subclass may have.
    min_improvement : float, default=0.05
        The improvement threshold: share of the error that splitting a class must take away.
    n_folds : int, default=3
        Number of folds of the rows; a row is answered by learners that have not seen it when errors are counted.
        None counts the errors of the learners on their own training rows.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        How learners answer: by probabilities, margins or hard labels; "auto" takes the first of these that the
        learner has.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings, folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    code_matrix_ : ndarray of int8 of shape (n_rows, n_columns)
        The code matrix, with one row per subclass.
    row_classes_ : ndarray of int of shape (n_rows,)
        Index of the class of each row of the matrix, in ascending order.
    estimators_ : list of length n_columns
        The trained learners.
    decoder_ : decoder
        The fitted decoding; it scores rows of the matrix.
    weights_ : ndarray of shape (n_rows, n_columns)
        The decoding's weights; only with decodings that have them.
    temperature_ : float
        The divisor of scores in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.

    See Also
    --------
    skecoc.coding.decoc : The tree without subclasses.

    References
    ----------
    S. Escalera, D. M. J. Tax, O. Pujol, P. Radeva, R. P. W. Duin. Subclass problem-dependent design for
    error-correcting output codes. IEEE Transactions on Pattern Analysis and Machine Intelligence 30(6), 1041-1054,
    2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skecoc import SubclassECOCClassifier
    >>> X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    >>> y = np.repeat(["outer", "inner", "outer"], 20)
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> model = SubclassECOCClassifier(stump, random_state=0).fit(X, y)
    >>> model.classes_[model.row_classes_]
    array(['inner', 'outer', 'outer'], dtype='<U5')
    >>> model.score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "decoding": [str, HasMethods(["fit", "scores"])],
        "max_error": [Interval(Real, 0, 1, closed="left")],
        "min_size": [Interval(Real, 0, 1, closed="left")],
        "min_improvement": [Interval(Real, 0, 1, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        decoding: Any = "loss-weighted",
        max_error: float = 0.02,
        min_size: float = 0.05,
        min_improvement: float = 0.05,
        n_folds: int | None = 3,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.decoding = decoding
        self.max_error = max_error
        self.min_size = min_size
        self.min_improvement = min_improvement
        self.n_folds = n_folds
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_code(self, X: Any, y: Integers, weight: Floats | None, fit_params: dict[str, Any]) -> None:
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        self._response = resolve_response(self._learner(), self.response_method)
        X, y, weight, fit_params = rows_that_count(X, y, weight, fit_params, len(self.classes_))
        folds = None if self.n_folds is None else assign_folds(X, y, self.n_folds, np.random.RandomState(root))
        trainer = ColumnTrainer(
            self._learner(), X, y, self._response, root, fit_params=fit_params, folds=folds, n_jobs=self.n_jobs
        )
        thresholds = SplitThresholds(self.max_error, self.min_size * weight.sum(), self.min_improvement)
        numbers = np.asarray(X, dtype=np.float64)
        grown = SubclassTree(trainer, numbers, weight, thresholds, np.random.RandomState(root)).grow()
        self.row_classes_, self.code_matrix_ = grown.row_classes, grown.matrix
        trainer = trainer.relabelled(grown.subclass)
        trainer.folds = None
        code = GrowingCode(trainer, len(grown.matrix), weight)
        code.start(grown.matrix)
        self.estimators_, self._margin_scale = code.learners, code.margin_scale
        self.decoder_ = resolve_decoder(self.decoding).fit(code.codewords, code.y, code.matrix, weight)
        self._prior = np.bincount(y, weights=weight) / weight.sum()
        rows, row_weight = calibration_samples(y, weight)
        scores = self._best_rows(self.decoder_.scores(code.codewords[rows]))
        self.temperature_ = fit_temperature(scores, y[rows], row_weight)

    def _best_rows(self, scores: Floats) -> Floats:
        """Return the highest score of each class's rows, which stand together."""
        return np.maximum.reduceat(scores, np.searchsorted(self.row_classes_, np.arange(len(self.classes_))), axis=1)

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every row, ties resolved."""
        codewords = self.codewords(X)
        linear = codewords @ self.code_matrix_.T.astype(np.float64)
        return break_ties(self._best_rows(self.decoder_.scores(codewords)), self._best_rows(linear), self._prior)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check that rows are finite numbers, which clustering needs; frames reach the learner as they are."""
        return check_numeric_rows(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        return numeric_tags(super().__sklearn_tags__())

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_rows, n_columns)."""
        return self.decoder_.weights_
