"""The scikit-learn estimators: thin shells over coding, learners and decoding."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.utils import _safe_indexing, check_random_state, gen_batches, get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from skecoc.coding import resolve_coding
from skecoc.decoding import resolve_decoder
from skecoc.decoding.ties import decode
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import ConstantClassifier, column_seeds, evaluate_columns, fit_columns, resolve_response

Floats = NDArray[np.float64]

# Rows that the temperature of `predict_proba` is fitted on: one number needs no more.
_CALIBRATION_ROWS = 300
# Part of a label that is spread over all classes there: training codewords are often perfect.
_SMOOTHING = 0.01
# Scores that are computed at once: with many classes, so many rows at a time.
_BLOCK_SCORES = 2**21


def _check_labels(y: Any, estimator: BaseEstimator) -> NDArray[Any]:
    """Check that labels are there, one-dimensional and comparable with each other."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    labels = _check_y(y, estimator=estimator)
    if labels.dtype == object and len({type(label) for label in labels}) > 1:
        raise ValueError("y must hold labels of one type, such as all strings or all integers")
    check_classification_targets(labels)
    return labels


def calibration_samples(y: NDArray[np.intp], weight: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Choose rows to fit the temperature on, and their weights.

    Beyond a total weight of `_CALIBRATION_ROWS` these are evenly spaced quantiles of the weight, class by class. They
    do not change when a row of weight two is given as two rows.
    """
    total = weight.sum()
    if total <= _CALIBRATION_ROWS:
        rows = np.flatnonzero(weight)
        return rows, weight[rows]
    by_class = np.argsort(y, kind="stable")
    positions = (np.arange(_CALIBRATION_ROWS) + 0.5) / _CALIBRATION_ROWS * total
    chosen = np.minimum(np.searchsorted(np.cumsum(weight[by_class]), positions), len(y) - 1)
    return by_class[chosen], np.full(_CALIBRATION_ROWS, total / _CALIBRATION_ROWS)


class BaseCodeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """What all output-code classifiers share: checks, codewords and decoding.

    A subclass has the parameters `estimator`, `response_method`, `n_jobs`, `random_state` and `verbose`, and defines
    `_fit_code`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit"), None],
        "response_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train the binary learners and whatever the decoding learns.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training rows. Frames and sparse matrices reach the learner as they are.
        y : array-like of shape (n_samples,)
            Class labels: numbers or strings, at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for the learner and the decoding.
        **fit_params : dict
            Further arguments of the learner's `fit`; with metadata routing enabled, those it requests.

        Returns
        -------
        self
            The fitted classifier.
        """
        X = self._check_rows(X, reset=True)
        y = _check_labels(y, self)
        if len(y) != _num_samples(X):
            raise ValueError(f"X and y must have as many rows; got {_num_samples(X)} and {len(y)}")
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y must hold at least 2 classes, got 1 class")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        routed = self._route(weight, fit_params)
        self._fit_code(X, class_index, weight, routed)
        return self

    @abstractmethod
    def _fit_code(self, X: Any, y: NDArray[np.intp], weight: Floats | None, fit_params: dict[str, Any]) -> None:
        """Set `code_matrix_`, `estimators_` and `decoder_` from checked rows and class indices."""

    def _learner(self) -> BaseEstimator:
        """Return the binary learner, the default one if none is given."""
        return StumpAdaBoostClassifier() if self.estimator is None else self.estimator

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check the shape and the feature names of X; what its values may be is the learner's business."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0 or len(X.columns) == 0:
                raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
            return X
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)

    def _route(self, weight: Floats | None, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Collect the arguments of the learner's `fit`."""
        params = dict(fit_params)
        if weight is not None:
            params["sample_weight"] = weight
        if _routing_enabled():
            return dict(process_routing(self, "fit", **params).estimator.fit)
        if weight is not None and not has_fit_parameter(self._learner(), "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but the estimator {type(self._learner()).__name__} does not take it"
            )
        return params

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata this classifier uses and which it passes on.

        Returns
        -------
        MetadataRouter
            `sample_weight` is used by the decoding and passed on to the learner's `fit`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._learner(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = get_tags(self._learner())
        tags.input_tags.sparse = learner.input_tags.sparse
        tags.input_tags.allow_nan = learner.input_tags.allow_nan
        return tags

    def _train_columns(
        self, X: Any, y: NDArray[np.intp], matrix: NDArray[np.int8], fit_params: dict[str, Any], root: int
    ) -> list[BaseEstimator]:
        """Train one learner per column of a matrix."""
        seeds = column_seeds(matrix, root)
        return fit_columns(
            self._learner(),
            X,
            y,
            matrix,
            seeds,
            fit_params=fit_params,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def codewords(self, X: Any) -> Floats:
        """Predict the codeword of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Rows to answer.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The learners' answers: labels -1 and 1, probabilities p as 2p - 1, or margins divided by the largest
            absolute margin of the training rows (a new row's may exceed 1).
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self._scaled_answers(X)

    def _scaled_answers(self, X: Any) -> Floats:
        """Ask the learners about checked rows; margins are divided by the constant of the fit."""
        answers = evaluate_columns(self.estimators_, X, self._response, n_jobs=self.n_jobs)
        if self._margin_scale != 1.0:
            answers /= self._margin_scale
        return answers

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every row, ties resolved."""
        return decode(self.decoder_, self.codewords(X), self.code_matrix_, self._prior)

    def _from_scores(self, X: Any, summarise: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Compute something from the class scores of each row, for so many rows at a time that memory is bounded."""
        check_is_fitted(self)
        block_size = max(1, _BLOCK_SCORES // len(self.classes_))
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) != 2 or shape[0] <= block_size:
            return summarise(self._class_scores(X))
        X = self._check_rows(X, reset=False)
        blocks = (_safe_indexing(X, rows) for rows in gen_batches(_num_samples(X), block_size))
        return np.concatenate([summarise(self._class_scores(block)) for block in blocks])

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every row; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The decoding's scores; with two classes, the second class's minus the first's. Equal scores are set
            apart by the smallest amount that orders them by the linear-loss score, then the class prior, then
            the order of `classes_`.
        """
        return self._from_scores(X, lambda scores: scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels: those of the highest scores.
        """
        winners = self._from_scores(X, lambda scores: scores.argmax(axis=1))
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Softmax of the decoding's scores over `temperature_`. Its largest entry is always that of `predict`'s
            class. The temperature is fitted on training codewords, which strong learners answer too well: for
            probabilities that decisions hang on, wrap the classifier in scikit-learn's `CalibratedClassifierCV`.
        """
        return self._from_scores(X, self._probabilities)

    def _probabilities(self, scores: Floats) -> Floats:
        """Turn class scores, ties resolved, into probabilities."""
        probabilities: Floats = softmax(scores / self.temperature_, axis=1)
        # Softmax rounds away the small differences that resolve ties: give the winner its lead back.
        winner = scores.argmax(axis=1)
        tied = (probabilities >= probabilities[np.arange(len(winner)), winner][:, None]).sum(axis=1) > 1
        probabilities[tied] *= 1.0 - 1e-9
        probabilities[tied, winner[tied]] += 1e-9
        return probabilities


class ECOCClassifier(BaseCodeClassifier):
    """Multiclass classifier from binary ones: any coding, any learner, any decoding.

    A code matrix says which binary questions are asked, one per column: the classes with entry +1 against those with
    entry -1, those with 0 left out. One clone of the learner is trained per question. A row's answers form a
    codeword, and the decoding finds the class whose row of the matrix fits it best.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="one-vs-one"
        A name (``"one-vs-rest"``, ``"one-vs-one"``, ``"exhaustive"``, ``"ternary-complete"``, ``"ordinal"``,
        ``"hadamard"``, ``"dense-random"``, ``"sparse-random"``, ``"decoc"`` or ``"forest"``), a code matrix with
        entries in {-1, 0, 1} whose rows follow the sorted classes, or a function ``f(X, y)`` that returns one, `y`
        being class indices.
    decoding : str or decoder, default="loss-weighted"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or an object of `skecoc.decoding`.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        How learners answer: by probabilities, margins or hard labels; "auto" takes the first of these that the
        learner has. Margins of columns that leave different classes out are hard to compare: with a learner that has
        margins only, such as `LinearSVC`, prefer ``decoding="probabilistic"`` or ``response_method="predict"``.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix.
    estimators_ : list of length n_columns
        The trained learners.
    decoder_ : decoder
        The fitted decoding.
    weights_ : ndarray of shape (n_classes, n_columns)
        The decoding's weights; only with decodings that have them.
    temperature_ : float
        The divisor of scores in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.

    See Also
    --------
    sklearn.multiclass.OutputCodeClassifier : One random code with nearest-codeword decoding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skecoc import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(LogisticRegression(), coding="one-vs-rest", decoding="loss-based").fit(X, y)
    >>> model.code_matrix_
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    >>> model.predict(X[[0, 75, 149]])
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "coding": [str, "array-like", callable],
        "decoding": [str, HasMethods(["fit", "scores"])],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        coding: Any = "one-vs-one",
        decoding: Any = "loss-weighted",
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.coding = coding
        self.decoding = decoding
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_code(self, X: Any, y: NDArray[np.intp], weight: Floats | None, fit_params: dict[str, Any]) -> None:
        decoder = resolve_decoder(self.decoding)
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(np.iinfo(np.int32).max))
        self.code_matrix_ = resolve_coding(self.coding, X, y, len(self.classes_), random_state, sample_weight=weight)
        self.estimators_ = self._train_columns(X, y, self.code_matrix_, fit_params, root)
        # A trained learner is asked: some have their methods only then.
        self._response = resolve_response(first_learner(self.estimators_), self.response_method)
        self._warn_of_margins()
        self._prior = np.bincount(y, weights=weight) / (len(y) if weight is None else weight.sum())
        self._fit_decoder(decoder, X, y, weight)

    def _warn_of_margins(self) -> None:
        """Warn where the defaults meet a learner that has margins only: they suit it badly."""
        defaults = self.response_method == "auto" and self.decoding == "loss-weighted"
        if defaults and self._response == "decision_function" and not self.code_matrix_.all():
            learner = type(first_learner(self.estimators_)).__name__
            warnings.warn(
                f"{learner} answers by margins, whose sizes are hard to compare between columns that leave classes "
                "out: decoding='loss-weighted' may cost accuracy. Consider decoding='probabilistic', or "
                "response_method='predict'; response_method='decision_function' silences this warning.",
                UserWarning,
                stacklevel=5,  # the line that called `fit`
            )

    def _fit_decoder(self, decoder: BaseEstimator, X: Any, y: NDArray[np.intp], weight: Floats | None) -> None:
        """Fit the margins' scale, the decoder and the temperature, on as few training codewords as they need."""
        full_weight = np.ones(len(y)) if weight is None else weight
        rows, row_weight = calibration_samples(y, full_weight)
        self._margin_scale = 1.0
        if self._response == "decision_function" or getattr(decoder, "learns_from_codewords", True):
            counted = np.flatnonzero(full_weight)  # a row of weight zero is a row that is not there
            every = self._scaled_answers(X if len(counted) == len(y) else _safe_indexing(X, counted))
            if self._response == "decision_function":
                self._margin_scale = float(np.abs(every).max()) or 1.0  # the paper's max |u|
                every /= self._margin_scale
            self.decoder_ = decoder.fit(every, y[counted], self.code_matrix_, full_weight[counted])
            codewords = every[np.searchsorted(counted, rows)]
        else:
            codewords = self._scaled_answers(_safe_indexing(X, rows))
            self.decoder_ = decoder.fit(codewords, y[rows], self.code_matrix_)
        self.temperature_ = fit_temperature(self.decoder_.scores(codewords), y[rows], row_weight)

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_classes, n_columns)."""
        return self.decoder_.weights_


def first_learner(learners: list[BaseEstimator]) -> BaseEstimator:
    """Return the first trained learner that is not a mere constant answer, if there is one."""
    return next((learner for learner in learners if not isinstance(learner, ConstantClassifier)), learners[0])


def fit_temperature(scores: Floats, y: NDArray[np.intp], weight: Floats) -> float:
    """Find the temperature T for which softmax(scores / T) predicts smoothed labels best.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Decoding scores of training rows.
    y : ndarray of int of shape (n_samples,)
        Class indices.
    weight : ndarray of shape (n_samples,)
        Weights of the rows; only their ratios matter.

    Returns
    -------
    float
        The temperature. One part in a hundred of each label is spread evenly over the classes, so that it stays
        positive when every training row is decoded rightly.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> round(fit_temperature(scores, np.array([1, 0, 1, 1]), np.ones(4)), 3)  # three of four right
    0.921
    >>> round(fit_temperature(scores, np.array([1, 0, 1, 0]), np.ones(4)), 3)  # all right
    0.189
    """
    share = weight / weight.sum()
    spread = float(share @ (scores.max(axis=1) - scores.min(axis=1)))
    if spread == 0:
        return 1.0
    scaled = scores / spread
    # Expected score under the smoothed label: the part of the log-likelihood that is linear in 1/T.
    truth = scaled[np.arange(len(y)), y]
    target = share @ ((1.0 - _SMOOTHING) * truth + _SMOOTHING * scaled.mean(axis=1))

    def loss(log_beta: float) -> float:
        beta = np.exp(log_beta)
        return float(share @ logsumexp(beta * scaled, axis=1) - beta * target)

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(1e3)), method="bounded", options={"xatol": 1e-6})
    return spread / float(np.exp(best.x))
