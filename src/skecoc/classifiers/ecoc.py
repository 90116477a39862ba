"""Codes that do not grow: any coding, any learner, any decoding."""

import warnings
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc.classifiers.base import AUTO, LARGEST_SEED, BaseCodeClassifier
from skecoc.classifiers.calibration import calibration_samples
from skecoc.coding import choose_coding, resolve_coding
from skecoc.coding.automatic import compact_code
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import OptimizedWeightDecoder, resolve_decoder
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
from skecoc.learners.folds import sample_keys
from skecoc.learners.mixed import is_several

# Optimised weights of compact codes: the penalty in units of columns per class, the gap, and the largest number of
# codewords, samples times columns.
_COMPACT_PENALTY, _COMPACT_GAP = 0.015, 1e-2
_MOST_OUTPUTS = 2**24


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
