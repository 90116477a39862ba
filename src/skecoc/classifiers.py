"""The scikit-learn estimators: thin shells over coding, learners and decoding."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import _safe_indexing, check_random_state, gen_batches
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    _check_y,
    _num_samples,
    check_is_fitted,
    validate_data,
)

from skecoc.coding import choose_coding, resolve_coding
from skecoc.coding.automatic import compact_code
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import OptimizedWeightDecoder, resolve_decoder
from skecoc.decoding.ties import decode
from skecoc.learners.bins import choose_rows
from skecoc.learners.columns import (
    Column,
    Floats,
    Integers,
    Response,
    evaluate_columns,
    find_response,
    first_learner,
    resolve_response,
)
from skecoc.learners.composition import LearnerComposition
from skecoc.learners.folds import assign_folds, resolve_folds, sample_keys
from skecoc.learners.mixed import MIXED, is_several
from skecoc.support.errors import refuse_lazy_frame

#: The coding that follows from the numbers of classes and samples and the learner; the decoding, from the latter.
AUTO = "auto"

# Optimised weights of compact codes: the penalty in units of columns per class, the gap, and the largest number of
# codewords, samples times columns.
_COMPACT_PENALTY, _COMPACT_GAP = 0.015, 1e-2
_MOST_OUTPUTS = 2**24

#: Seeds are drawn below this.
LARGEST_SEED = np.iinfo(np.int32).max

# Samples that the temperature of `predict_proba` is fitted on: one number needs no more.
_CALIBRATION_SAMPLES = 300
# Part of a label that is spread over all classes there: training codewords are often perfect.
_SMOOTHING = 0.01
# Scores that are computed at once: with many classes, so many samples at a time.
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


def _positive_weights(
    X: Any, y: Integers, weight: Floats | None, fit_params: dict[str, Any]
) -> tuple[Any, Integers, Floats, dict[str, Any]]:
    """Drop samples of weight zero; without weights all are 1. `fit_params` are those of each learner, by name."""
    if weight is None:
        return X, y, np.ones(len(y)), fit_params
    counted = np.flatnonzero(weight)
    if len(counted) == 0:
        raise ValueError("sample_weight must have at least one positive weight")
    if len(counted) < len(y):
        fit_params = {name: _check_method_params(X, given, indices=counted) for name, given in fit_params.items()}
        X = _safe_indexing(X, counted)
    return X, y[counted], weight[counted], fit_params


def calibration_samples(y: Integers, weight: Floats) -> tuple[Integers, Floats]:
    """Choose samples to fit the temperature on, and their weights.

    Beyond a total weight of `_CALIBRATION_SAMPLES` these are evenly spaced quantiles of the weight, class by class.
    They do not change when a sample of weight two is given as two samples.
    """
    total = weight.sum()
    if total <= _CALIBRATION_SAMPLES:
        return np.arange(len(y)), weight
    by_class = np.argsort(y, kind="stable")
    positions = (np.arange(_CALIBRATION_SAMPLES) + 0.5) / _CALIBRATION_SAMPLES * total
    chosen = np.minimum(np.searchsorted(np.cumsum(weight[by_class]), positions), len(y) - 1)
    return by_class[chosen], np.full(_CALIBRATION_SAMPLES, total / _CALIBRATION_SAMPLES)


class BaseCodeClassifier(LearnerComposition, ClassifierMixin, BaseEstimator):
    """What all output-code classifiers share: checks, learners, fitted attributes, codewords and decoding.

    A subclass has the parameters `estimator`, `response_method`, `n_jobs`, `random_state` and `verbose`, and defines
    `_fit_code`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit"), list, StrOptions({MIXED}), None],
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
            Training samples. Frames and sparse matrices reach the learner as they are.
        y : array-like of shape (n_samples,)
            Class labels: numbers or strings, at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, for the learner and the decoding: a weight of two counts as two samples. Samples of
            weight zero are dropped.
        **fit_params : dict
            Further arguments of the learner's `fit`; with metadata routing enabled, those it requests. With several
            learners they need metadata routing.

        Returns
        -------
        self
            The fitted classifier.
        """
        refuse_lazy_frame(self, X)
        X = self._check_rows(X, reset=True)
        y = _check_labels(y, self)
        if len(y) != _num_samples(X):
            raise ValueError(f"X and y must have as many samples; got {_num_samples(X)} and {len(y)}")
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y must hold at least 2 classes, got 1 class")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        n_features = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None  # rows may also be texts
        learners = self._learners(len(self.classes_), len(y), n_features)
        self._fit_code(*_positive_weights(X, class_index, weight, self._route(learners, weight, fit_params)))
        return self

    @abstractmethod
    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        """Fit a code to checked samples of positive weight and class indices, and keep it by `_keep`.

        `fit_params` has the arguments of each learner's `fit`, by its name; these are the learners to train.
        """

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        """Return `n_folds`, None for no out-of-fold codewords, and whether "auto" is that of several learners."""
        return self.n_folds, is_several(self.estimator)

    def _assign_folds(self, X: Any, y: Integers, seed: int) -> tuple[Integers | None, bool]:
        """Return the fold of each sample, None for no out-of-fold codewords, and whether all are held out at once."""
        wanted, has_several = self._wanted_folds()
        n_folds, is_single = resolve_folds(wanted, len(y), has_several=has_several)
        folds = None if n_folds is None else assign_folds(X, y, n_folds, seed, is_single=is_single)
        has_folds = folds is not None and (folds >= 0).any()
        return folds if has_folds else None, is_single

    def _keep(
        self,
        matrix: CodeMatrix,
        learners: list[BaseEstimator],
        decoder: Any,
        prior: Floats,
        calibration: tuple[NDArray[np.floating], Integers, Floats],
        *,
        response: Response,
        margin_scale: float = 1.0,
        column_learners: list[str] | None = None,
    ) -> None:
        """Set the fitted attributes that every code has; `calibration` holds codewords, classes and weights."""
        self.code_matrix_, self.estimators_, self.decoder_ = matrix, learners, decoder
        self._prior, self._response, self._margin_scale = prior, response, margin_scale
        if is_several(self.estimator) and column_learners is not None:
            self.column_learners_ = np.array(column_learners)
        else:
            self.column_learners_ = np.full(len(learners), type(self._learner()).__name__)
        codewords, y, weight = calibration
        if getattr(decoder, "scores_are_log_probabilities", False):
            self.temperature_ = 1.0
            return
        samples, sample_weight = calibration_samples(y, weight)
        self.temperature_ = fit_temperature(self._decode(codewords[samples]), y[samples], sample_weight)

    def _calibration_rows(self, X: Any, y: Integers, weight: Floats, seed: int) -> tuple[Integers, Floats]:
        """Return samples to fit the temperature on, and their weights: with stumps, those that blocks would sample."""
        if is_several(self.estimator) or not hasattr(self._learner(), "bin_rows"):
            return np.arange(len(y)), weight
        rows, mass, *_ = choose_rows(sample_keys(X, seed), y, weight)
        return rows, mass

    @property
    def _row_classes(self) -> Integers | None:
        """Class index of each row of the code matrix; None if there is one row per class."""
        return None

    def _decoder(self) -> Any:
        """Return the decoder that is to be fitted."""
        is_auto = isinstance(self.decoding, str) and self.decoding == AUTO
        default = "logistic-weight" if is_several(self.estimator) else "loss-weighted"
        return resolve_decoder(default if is_auto else self.decoding)

    def _decode(self, codewords: NDArray[np.floating]) -> Floats:
        """Score every class for every codeword, ties resolved."""
        return decode(self.decoder_, codewords, self.code_matrix_, self._prior, self._row_classes)

    def learner_shares(self) -> dict[str, Floats]:
        """Tell how much each learner counts for each class.

        Returns
        -------
        dict of str to ndarray of shape (n_classes,)
            The share of a learner's columns in the weights of each class; without weights, in the columns that the
            class takes part in. Shares of a class sum to 1.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import WOLCClassifier
        >>> model = WOLCClassifier("mixed", random_state=0).fit(*load_iris(return_X_y=True))
        >>> shares = model.learner_shares()
        >>> sorted(shares), float(sum(shares.values())[0].round(6))
        (['boosting', 'logistic', 'stumps', 'svm', 'svm_sharp', 'trees'], 1.0)
        """
        check_is_fitted(self)
        weights = getattr(self.decoder_, "weights_", None)
        weights = (self.code_matrix_ != 0).astype(np.float64) if weights is None else weights
        total = weights.sum(axis=1)
        shares = weights / np.where(total > 0, total, 1.0)[:, None]
        if self._row_classes is not None:
            rows = self._row_classes
            shares = np.array([shares[rows == number].mean(axis=0) for number in range(len(self.classes_))])
        names = dict.fromkeys(self.column_learners_.tolist())
        return {name: shares[:, self.column_learners_ == name].sum(axis=1) for name in names}

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check the shape and the feature names of X; the learner checks its values."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0 or len(X.columns) == 0:
                raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
            return X
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)

    def codewords(self, X: Any) -> Floats:
        """Predict the codeword of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The learners' outputs: labels -1 and 1, probabilities p as 2p - 1, or margins divided by the largest
            absolute margin of the training samples (a new sample's may exceed 1).
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self._outputs(self.estimators_, X)

    def _outputs(self, learners: list[BaseEstimator], X: Any) -> Floats:
        """Evaluate learners on checked samples; margins are divided by the constant of the fit."""
        outputs = evaluate_columns(learners, X, self._response, n_jobs=self.n_jobs)
        if self._margin_scale != 1.0:
            outputs /= self._margin_scale
        return outputs

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every sample, ties resolved."""
        return self._decode(self.codewords(X))

    def _from_scores(self, X: Any, summarise: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Compute something from the class scores of samples, so many at a time that memory is bounded."""
        check_is_fitted(self)
        refuse_lazy_frame(self, X)
        block_size = max(1, _BLOCK_SCORES // len(self.classes_))
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) != 2 or shape[0] <= block_size:
            return summarise(self._class_scores(X))
        X = self._check_rows(X, reset=False)
        blocks = (_safe_indexing(X, rows) for rows in gen_batches(_num_samples(X), block_size))
        return np.concatenate([summarise(self._class_scores(block)) for block in blocks])

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every sample; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            The decoding's scores; with two classes, the second class's minus the first's. Equal scores are set
            apart by the smallest amount that orders them by the linear-loss score, then the class prior, then
            the order of `classes_`.
        """
        return self._from_scores(X, lambda scores: scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels: those of the highest scores.
        """
        winners = self._from_scores(X, lambda scores: scores.argmax(axis=1))
        return self.classes_[winners]

    def predict_codewords(self, codewords: ArrayLike) -> NDArray[Any]:
        """Predict classes from codewords instead of samples.

        Parameters
        ----------
        codewords : array-like of shape (n_samples, n_columns)
            Outputs of all columns, as `codewords` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        return self.classes_[self._decode(np.asarray(codewords, dtype=np.float64)).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Softmax of the decoding's scores over `temperature_`. Its largest entry is always that of `predict`'s
            class. With logistic weights, as several learners have them, the temperature is 1. Others of
            `ECOCClassifier` are fitted on training codewords, on which strong learners are too good: for probabilities
            that decisions hang on, wrap the classifier in scikit-learn's `CalibratedClassifierCV`.
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

    A code matrix says which binary problems are solved, one per column: the classes with entry +1 against those with
    entry -1, those with 0 left out. One clone of the learner is trained per problem. A sample's outputs form a
    codeword, and the decoding finds the class whose row of the matrix fits it best.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``. Of several learners, each with
        a name, every one solves all columns, a `MulticlassLearner` by a single fit; "drop" in place of a classifier
        leaves it out. "mixed" stands for the learners of `skecoc.learners.mixed_learners`.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        "auto" is one-vs-one up to 30 classes, and with more of them where its columns can be afforded, else one-vs-rest
        for linear learners and for several, and a compact random code for others: see `skecoc.coding.choose_coding`;
        `coding_` says which. Otherwise a name (``"one-vs-rest"``, ``"one-vs-one"``, ``"exhaustive"``,
        ``"ternary-complete"``, ``"ordinal"``, ``"hadamard"``, ``"dense-random"``, ``"sparse-random"``, ``"decoc"`` or
        ``"forest"``), a code matrix with entries in {-1, 0, 1} whose rows follow the sorted classes, or a function
        ``f(X, y)`` that returns one, `y` being class indices.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or an object of `skecoc.decoding`. "auto"
        is ``"loss-weighted"`` for one learner and ``"logistic-weight"`` for several. Where ``coding="auto"`` has chosen
        a compact code it is ``"optimized-weight"`` (up to 16 million codewords), where one-vs-rest, ``"loss-based"``.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels; "auto" takes the first of these
        that the learner has. Margins of columns that leave different classes out are hard to compare: with a learner
        that has margins only, such as `LinearSVC`, prefer ``decoding="probabilistic"`` or
        ``response_method="predict"``.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords that a decoding is fitted to if it learns from codewords. "auto"
        does without for a single learner, and means five for several, of which some may predict all their training
        samples correctly, and for ``"logistic-weight"``; with more than 5,000 samples one third is held out once. None
        does without.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    coding_ : str
        The name of the coding, "custom" for a matrix or a function: what "auto" has chosen.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix; with several learners it repeats its columns.
    estimators_ : list of length n_columns
        The trained learners.
    column_learners_ : ndarray of str of shape (n_columns,)
        Whose each column is: the name of its learner.
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
        "n_folds": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        coding: Any = "auto",
        decoding: Any = "auto",
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_folds: int | str | None = "auto",
    ) -> None:
        self.estimator = estimator
        self.coding = coding
        self.decoding = decoding
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.n_folds = n_folds

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        n_classes = len(self.classes_)
        coding = self._chosen_coding(n_classes, len(y), [*self._learners(n_classes).values()], random_state)
        matrix = resolve_coding(coding, X, y, n_classes, random_state, sample_weight=weight)
        decoder = self._decoder_for(matrix, len(y))
        names = np.repeat([*fit_params], matrix.shape[1]).tolist()
        matrix = np.tile(matrix, len(fit_params))
        columns = [Column(pattern, learner=name) for pattern, name in zip(matrix.T, names, strict=True)]
        prior = np.bincount(y, weights=weight, minlength=len(self.classes_)) / weight.sum()
        folds, is_single = self._assign_folds(X, y, root)
        if folds is not None and is_single:
            folds = np.minimum(folds, 0)
        if folds is None:
            trainer = self._trainer(X, y, root, fit_params, verbose=self.verbose)
            learners = trainer.fit(columns)
            # A trained learner decides: some have their methods only then.
            response = trainer.response or resolve_response(first_learner(learners), self.response_method)
            rows, row_weight = self._calibration_rows(X, y, weight, root)
            is_enough = response != "decision_function" and not getattr(decoder, "learns_from_codewords", True)
            samples = np.arange(len(y))
            if is_enough:
                chosen, row_weight = calibration_samples(y[rows], row_weight)
                samples, rows = rows[chosen], np.arange(len(chosen))
            codewords = evaluate_columns(learners, _safe_indexing(X, samples), response, n_jobs=self.n_jobs)
            decoder_weight = None if is_enough else weight
        else:
            learners, response, samples, codewords = self._train_held_out(X, y, root, fit_params, folds, columns)
            decoder_weight = weight[samples]
            rows = np.lexsort((sample_keys(X, root)[samples], y[samples]))
            row_weight = decoder_weight[rows]
        self._warn_of_margins(matrix, learners, response)
        scale = 1.0
        if response == "decision_function":
            scale = float(np.abs(codewords).max()) or 1.0  # the paper's max |u|
            codewords /= scale
        groups = {}
        if getattr(decoder, "takes_groups", False):
            groups["groups"] = np.repeat(np.arange(len(fit_params)), matrix.shape[1] // len(fit_params))
        decoder.fit(codewords, y[samples], matrix, decoder_weight, **groups)
        self._keep(
            matrix,
            learners,
            decoder,
            prior,
            (codewords[rows], y[samples][rows], row_weight),
            response=response,
            margin_scale=scale,
            column_learners=names,
        )

    def _decoder_for(self, matrix: CodeMatrix, n_samples: int) -> Any:
        """Return the decoder that is to be fitted; with a code that was chosen automatically, one that suits it."""
        is_auto = all(isinstance(choice, str) and choice == AUTO for choice in (self.coding, self.decoding))
        if is_auto and not is_several(self.estimator):
            if self.coding_ == "one-vs-rest":
                return resolve_decoder("loss-based")  # weights that are learnt from training codewords mislead
            if self.coding_ == "dense-random":
                return compact_decoder(matrix, n_samples, self.n_jobs)
        return self._decoder()

    def _chosen_coding(
        self, n_classes: int, n_samples: int, learners: list[BaseEstimator], random_state: np.random.RandomState
    ) -> Any:
        """Return the coding, for "auto" one that suits the problem, and keep its name."""
        is_auto = isinstance(self.coding, str) and self.coding == AUTO
        coding = choose_coding(n_classes, n_samples, learners) if is_auto else self.coding
        self.coding_ = coding if isinstance(coding, str) else "custom"
        return compact_code(n_classes, learners[0], random_state) if is_auto and coding == "dense-random" else coding

    def _train_held_out(
        self, X: Any, y: Integers, root: int, fit_params: dict[str, Any], folds: Integers, columns: list[Column]
    ) -> tuple[list[BaseEstimator], Response, Integers, Floats]:
        """Train columns; return their learners, how they are evaluated, and the held-out samples with their outputs.

        Samples of classes that are never held out come last, with the outputs of learners that have seen them.
        """
        settings: dict[str, Any] = {"verbose": self.verbose}
        if not is_several(self.estimator):
            settings["response"] = find_response(self._learner(), self.response_method, X, y, root)
        trainer = self._trainer(X, y, root, fit_params, folds, **settings)
        learners, codewords = trainer.train_held_out(columns)
        samples = np.flatnonzero(folds >= 0)
        rest = np.flatnonzero(~np.isin(y, y[samples]))
        if len(rest):
            seen = evaluate_columns(learners, _safe_indexing(X, rest), trainer.response, n_jobs=self.n_jobs)
            codewords, samples = np.vstack([codewords, seen]), np.append(samples, rest)
        return learners, trainer.response, samples, codewords

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        decoder = self._decoder()
        # Probabilities that are fitted to training samples would be those of learners that have seen them.
        has_several = is_several(self.estimator) or getattr(decoder, "scores_are_log_probabilities", False)
        learns = getattr(decoder, "learns_from_codewords", True)
        return self.n_folds if learns and (has_several or self.n_folds != "auto") else None, has_several

    def with_decoding(
        self, decoding: Any, response_method: str, codewords: Floats, y: Integers, *, margin_scale: float
    ) -> Self:
        """Return a copy with the same columns and another decoding, fitted to codewords and class indices."""
        check_is_fitted(self)
        model = copy(self).set_params(decoding=decoding, response_method=response_method)
        response = resolve_response(first_learner(self.estimators_), response_method)
        model._warn_of_margins(self.code_matrix_, self.estimators_, response)
        decoder = resolve_decoder(decoding).fit(codewords, y, self.code_matrix_)
        calibration = (codewords, y, np.ones(len(y)))
        kept = (self.code_matrix_, self.estimators_, decoder, self._prior, calibration)
        names = self.column_learners_.tolist()
        model._keep(*kept, response=response, margin_scale=margin_scale, column_learners=names)
        return model

    def _warn_of_margins(self, matrix: CodeMatrix, learners: list[BaseEstimator], response: Response) -> None:
        """Warn where the defaults meet a learner that has margins only: they suit it badly."""
        is_default = isinstance(self.decoding, str) and self.decoding in {AUTO, "loss-weighted"}
        defaults = self.response_method == "auto" and is_default and not is_several(self.estimator)
        if defaults and response == "decision_function" and not matrix.all():
            learner = type(first_learner(learners)).__name__
            warnings.warn(
                f"{learner} has margins only, whose sizes are hard to compare between columns that leave classes "
                "out: decoding='loss-weighted' may cost accuracy. Consider decoding='probabilistic', or "
                "response_method='predict'; response_method='decision_function' silences this warning.",
                UserWarning,
                stacklevel=5,  # the line that called `fit`
            )

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_classes, n_columns)."""
        return self.decoder_.weights_


def compact_decoder(matrix: CodeMatrix, n_samples: int, n_jobs: int | None) -> Any:
    """Return the decoder of a compact code: optimised weights, or loss weights if there are too many codewords."""
    n_classes, n_columns = matrix.shape
    if n_samples * n_columns > _MOST_OUTPUTS:
        return resolve_decoder("loss-weighted")
    return OptimizedWeightDecoder(l2=_COMPACT_PENALTY * n_columns / n_classes, tol=_COMPACT_GAP, n_jobs=n_jobs)


def fit_temperature(scores: Floats, y: NDArray[np.intp], weight: Floats) -> float:
    """Find the temperature T for which softmax(scores / T) predicts smoothed labels best.

    One part in a hundred of each label is spread evenly over the classes, so that the temperature stays positive when
    every training sample is decoded correctly.
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
