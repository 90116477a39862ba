"""`ECOCClassifier`: a code of fixed length, with any coding, learner and decoding."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc.classifiers.base import AUTO, BaseCodeClassifier, Start, TrainingData
from skecoc.classifiers.batches import BatchesMixin
from skecoc.classifiers.calibration import calibration_samples
from skecoc.classifiers.growth import Calibration, Evaluation, GrowingCode, Growth, StopRules, Strategy
from skecoc.classifiers.weighting import rows_for_weights
from skecoc.coding.choice import choose_coding, coding_name, compact_code
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.bins import MANY_TO_BIN
from skecoc.data.folds import sample_keys, without_last_digits
from skecoc.data.samples import ArraySamples, BlockSamples, Sample
from skecoc.decoding import LossWeightedDecoder, OptimizedWeightDecoder, resolve_decoder
from skecoc.learners.columns import (
    HELD_OUT,
    Floats,
    Integers,
    Response,
    evaluate_columns,
    first_learner,
    margin_scale,
    resolve_response,
)
from skecoc.learners.mixed import is_several
from skecoc.support.errors import is_named
from skecoc.support.weights import ClassWeight

# Optimised weights of compact codes: the penalty in units of columns per class, the gap, and the largest number of
# codewords, samples times columns. The gap is smaller for small problems (samples times columns times classes): it
# takes no time there, and with few columns a rough solution depends on the order of samples.
_COMPACT_PENALTY, _COMPACT_GAP = 0.015, 1e-2
_SMALL_GAP, _SMALL_PROBLEM = 1e-6, 2**20
_MOST_OUTPUTS = 2**24
# With at most this many classes, columns with zeros are calibrated one by one. With more there may be thousands.
_MOST_CLASSES_TO_CALIBRATE = 30
_UNCALIBRATED = (
    "probabilities are calibrated on training samples, since the learner could not be trained on part of them: {}"
)
# Classes count as weighted if samples of one weigh on average more than this times those of another.
_MOST_WEIGHT_RATIO = float(np.sqrt(2.0))
_LEVEL_OF_FIT = 8  # of warnings: the line that called `fit`


class _Codewords(NamedTuple):
    """Outputs of all columns for some samples, with the samples' classes and weights."""

    outputs: Floats
    y: Integers
    weight: Floats


@dataclass
class FixedStrategy(Strategy):
    """Fit a decoder to the first code, which does not grow.

    `choose_decoder` returns the decoder, fitted or not, for a trained code. It is fitted to out-of-fold codewords if
    there are any and `learns_held_out` is true of it, otherwise to training codewords. Many samples that learners bin
    are represented by the sample that blocks would draw, except for decoders that can be fitted to sums.
    """

    is_fixed = True

    choose_decoder: Callable[[GrowingCode], Any]
    is_binned: bool
    learns_held_out: Callable[[Any], bool] = lambda _: False
    order_seed: int = 0
    may_do_without_folds: bool = False
    # Set by `evaluate`: what probabilities are calibrated on, and the samples that are held out.
    _calibration: Calibration = field(init=False)
    _rows: Integers = field(init=False)

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the decoder; nothing else is measured."""
        decoder = self.choose_decoder(code)
        is_fitted = hasattr(decoder, "matrix_")
        learns = not is_fitted and getattr(decoder, "learns_from_codewords", True)
        needs_outputs = learns or code.response == "decision_function"  # margins are divided by the largest output
        held_out = self._evaluate_held_out(code)
        if held_out is not None and (not needs_outputs or self.learns_held_out(decoder)):
            code.margin_scale, fitted = margin_scale(code.response, held_out.outputs), held_out
        else:
            fitted, calibrated = self._training_codewords(code, decoder, needs_outputs=needs_outputs)
        if held_out is not None:  # class by class, in an order that does not depend on that of the samples
            keys = sample_keys(without_last_digits(code.trainer.X), self.order_seed)[self._rows]
            order = np.lexsort((keys, held_out.y))
            calibrated = _Codewords(held_out.outputs[order], held_out.y[order], held_out.weight[order])
        if not is_fitted:
            _fit(decoder, code, fitted)
        codewords = calibrated.outputs / code.margin_scale
        self._calibration = Calibration(codewords, calibrated.y, calibrated.weight, held_out is not None)
        nothing = np.zeros((code.samples.n_classes,) * 2)
        return Evaluation(decoder, np.nan, nothing, np.nan, np.nan)

    def calibration(self, code: GrowingCode, growth: Growth) -> Calibration:
        """Return the codewords that were evaluated with the code."""
        del code, growth
        return self._calibration

    def _training_codewords(
        self, code: GrowingCode, decoder: Any, *, needs_outputs: bool
    ) -> tuple[_Codewords, _Codewords]:
        """Evaluate columns on training samples, to fit the decoder and to calibrate probabilities.

        Without `needs_outputs`, the few samples that calibration takes are enough.
        """
        samples = code.samples
        keys: Any = None
        if self.is_binned and isinstance(samples, ArraySamples):
            keys = sample_keys(code.trainer.X, code.trainer.root)
        sample = samples.sampled(keys)
        if not needs_outputs:
            chosen, weight = calibration_samples(sample.y, sample.weight)
            codes = None if sample.codes is None else sample.codes[:, chosen]
            few = Sample(sample.rows[chosen], sample.y[chosen], weight, codes)
            codewords = _Codewords(code.sampled_outputs(few), few.y, few.weight)
            return codewords, codewords
        if isinstance(samples, BlockSamples):
            if code.response == "decision_function":
                code.margin_scale = code.trainer.largest_output(code.columns)
            codewords = _Codewords(code.sampled_outputs(sample), sample.y, sample.weight)
            return codewords, codewords
        every = Sample(np.arange(samples.n_samples), samples.y, samples.sample_weight)
        outputs = code.sampled_outputs(every)
        code.margin_scale = margin_scale(code.response, outputs)
        codewords = _Codewords(outputs[sample.rows], sample.y, sample.weight)
        from_all = isinstance(decoder, LossWeightedDecoder | OptimizedWeightDecoder) or not self.is_binned
        return _Codewords(outputs, every.y, every.weight) if from_all else codewords, codewords

    def _evaluate_held_out(self, code: GrowingCode) -> _Codewords | None:
        """Train columns without the samples of each fold, and evaluate them on these samples.

        Samples of classes that are never held out come last, with the outputs of learners that have seen them.
        """
        samples, trainer = code.samples, code.trainer
        if isinstance(samples, BlockSamples) or samples.folds is None:
            return None
        try:
            outputs = trainer.outputs(code.columns, HELD_OUT)
        except Exception as error:  # whatever a learner raises that wants more samples than are left
            if not self.may_do_without_folds:
                raise
            warnings.warn(_UNCALIBRATED.format(error), UserWarning, stacklevel=_LEVEL_OF_FIT)
            return None
        self._rows = np.flatnonzero(samples.folds >= 0)
        rest = np.flatnonzero(~np.isin(samples.y, samples.y[self._rows]))
        if len(rest):
            X = _safe_indexing(trainer.X, rest)
            seen = evaluate_columns(code.learners, X, code.response, n_jobs=trainer.n_jobs)
            outputs, self._rows = np.vstack([outputs, seen]), np.append(self._rows, rest)
        return _Codewords(outputs, samples.y[self._rows], samples.sample_weight[self._rows])


def _fit(decoder: Any, code: GrowingCode, fitted: _Codewords) -> None:
    """Fit a decoder to codewords or, of rows in blocks, to sums over all of them if it can."""
    matrix = code.matrix
    if isinstance(code.samples, BlockSamples):
        if isinstance(decoder, LossWeightedDecoder):
            numbers = matrix.astype(np.float64)
            decoder._fit_sums(code.trainer.count_correct(code.columns, numbers), numbers)
            return
        if isinstance(decoder, OptimizedWeightDecoder):
            every = code.trainer.all_rows(code.columns, code.margin_scale)
            rows, _ = rows_for_weights(code.samples, every, matrix, decoder, None)  # of all classes: none is left out
            decoder._fit_rows(rows, matrix)
            return
    groups = {"groups": code.parts} if getattr(decoder, "takes_groups", False) else {}
    decoder.fit(fitted.outputs / code.margin_scale, fitted.y, matrix, fitted.weight, **groups)


class ECOCClassifier(BatchesMixin):
    """Multiclass classifier by error-correcting output codes, with any coding, binary learner and decoding.

    The code matrix defines one binary problem per column: classes with entry +1 against classes with entry -1; classes
    with entry 0 are left out. One clone of the learner is trained per column. The outputs for a sample form its
    codeword, and the decoding finds the class whose row of the matrix fits the codeword best.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner, by default ``StumpAdaBoostClassifier(n_estimators=40)``. Of several named learners, each is
        trained on all columns; "drop" instead of a classifier omits one. "mixed" means
        `skecoc.learners.mixed_learners`.
    coding : str, array-like of shape (n_classes, n_columns) or callable, default="auto"
        A name from `skecoc.coding.CODINGS` such as ``"one-vs-one"``, a code matrix with entries in {-1, 0, 1} whose
        rows follow the sorted classes, or a function ``f(X, y)`` that returns one, where `y` holds class indices.
        "auto" is one-vs-one unless there are too many classes; see `skecoc.coding.choose_coding`.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or a decoder from `skecoc.decoding`.
        "auto" depends on the code matrix, on the outputs of its columns, and on whether classes are weighted. The user
        guide lists the choices; `decoding_` shows which was made.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Output of the learners that is used. "auto" is the first of these methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds random codings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.
    n_folds : int, "auto" or None, default="auto"
        Number of folds of the out-of-fold codewords that probabilities are calibrated on; a number also fits the
        decoding weights to them. "auto" means three, or five with several learners or ``"logistic-weight"``; many
        samples are held out once or not at all. None uses no folds: fitting is several times as fast, but
        probabilities are less reliable.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``, multiplied with `sample_weight`; classes that are not listed have
        weight 1, and classes of weight 0 are dropped. "balanced" gives all classes the same total weight.
    class_order : array-like of shape (n_classes,), default=None
        Class labels in their natural order, for ``coding="ordinal"`` only. None uses the order of an ordered
        categorical `y`, otherwise that of the sorted labels; `classes_` is always sorted. Meta-estimators that encode
        labels lose the order: encode them in the natural order beforehand.
    max_columns : int, default=None
        Maximum number of columns, over all learners together. Random codes and forests are generated with at most this
        length, and from other codes columns are selected that separate every two classes. If that is not possible, a
        ValueError is raised.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    coding_ : str
        The name of the coding that is used; "custom" for a matrix or a function.
    decoding_ : str
        The name of the decoding that is used; "custom" for a decoder without a name.
    code_matrix_ : ndarray of int8 of shape (n_classes, n_columns)
        The code matrix; with several learners, its columns are repeated for each of them.
    estimators_ : list of length n_columns
        The trained learners.
    column_learners_ : ndarray of str of shape (n_columns,)
        Name of each column's learner.
    column_names_ : ndarray of str of shape (n_columns,)
        What each column separates, such as "A, B vs C".
    decoder_ : decoder
        The fitted decoder.
    weights_ : ndarray of shape (n_classes, n_columns)
        The decoding weights; only for decodings with weights.
    temperature_ : float
        The temperature by which `predict_proba` divides scores.
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
    >>> grades = [["poor", "fair", "good"][label] for label in y]
    >>> ordered = ECOCClassifier(LogisticRegression(), coding="ordinal", class_order=["poor", "fair", "good"])
    >>> ordered.fit(X, grades).classes_
    array(['fair', 'good', 'poor'], dtype='<U4')
    >>> ordered.code_matrix_
    array([[ 1, -1],
           [ 1,  1],
           [-1, -1]], dtype=int8)
    >>> ordered.column_names_
    array(['fair, good vs poor', 'good vs fair, poor'], dtype='<U18')

    Weight classes by their labels, and limit the number of columns:

    >>> weighted = ECOCClassifier(LogisticRegression(), class_weight={"fair": 5.0}).fit(X, grades)
    >>> int((weighted.predict(X) == "fair").sum() - (ordered.predict(X) == "fair").sum()) > 0
    True
    >>> ECOCClassifier(LogisticRegression(), coding="exhaustive", max_columns=2).fit(X, y).code_matrix_.shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "coding": [str, "array-like", callable],
        "decoding": [str, HasMethods(["fit", "scores"])],
        "n_folds": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "class_order": ["array-like", None],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        coding: Any = "auto",
        decoding: Any = "auto",
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_folds: int | str | None = "auto",
        class_weight: ClassWeight = None,
        class_order: Any = None,
        max_columns: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coding = coding
        self.decoding = decoding
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.class_order = class_order
        self.max_columns = max_columns

    _coding_argument: ClassVar[str] = "coding"

    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        self.__dict__.pop("_batches", None)  # of earlier calls of `partial_fit`
        learners = [*self._learners(n_classes).values()]
        self.coding_, coding = self._chosen_coding(n_classes, n_samples, learners, random_state)
        return Start([coding] * len(names), names)

    def _folds(self, data: TrainingData, n_columns: int, X: Any, seed: int) -> tuple[Integers | None, bool]:
        X = X if is_several(self.estimator) or X is None else without_last_digits(X)
        seed = 0 if self.random_state is None else seed  # folds alone do not make a fit random
        folds, is_single = super()._folds(data, n_columns, X, seed)
        is_long = data.n_samples * n_columns > _MOST_OUTPUTS or (self._is_binned() and data.n_samples > MANY_TO_BIN)
        return None if is_long and self._are_folds_optional() else folds, is_single

    def _are_folds_optional(self) -> bool:
        """Tell whether folds serve calibration alone, which can use training samples instead."""
        return self.n_folds == AUTO and not self._learns_held_out(self._decoder())

    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        del start
        strategy = FixedStrategy(
            lambda code: self._decoder_for(
                self.coding_, code.matrix, code.samples.class_counts, code.samples.prior, code.response
            ),
            self._is_binned(),
            self._learns_held_out,
            order_seed=0 if self.random_state is None else data.root,
            may_do_without_folds=self._are_folds_optional(),
        )
        return strategy, StopRules(0)

    def _is_summable(self) -> bool:
        # A number of folds asks for out-of-fold codewords, which stumps on all rows have for some rows in memory.
        return self.n_folds in {AUTO, None} and not self._learns_held_out(self._decoder())

    def _is_light(self) -> bool:
        is_auto = is_named(self.decoding, AUTO)
        return is_auto or not isinstance(resolve_decoder(self.decoding), OptimizedWeightDecoder)

    def _decoder_for(self, coding: str, matrix: CodeMatrix, counts: Integers, prior: Floats, response: Response) -> Any:
        """Return the decoder that is to be fitted; "auto" is one that suits the code and the outputs of its columns.

        `counts` are the numbers of samples of the classes, and `prior` the shares of their weights.
        """
        is_auto = is_named(self.decoding, AUTO)
        if not is_auto or is_several(self.estimator):
            return self._decoder()
        is_weighted = are_classes_weighted(counts, prior)
        if coding == "dense-random" and is_named(self.coding, AUTO):
            decoder = compact_decoder(matrix, int(counts.sum()), self.n_jobs)
            if not (is_weighted and isinstance(decoder, LossWeightedDecoder)):
                return decoder
        return resolve_decoder(choose_decoding(matrix, response, is_weighted=is_weighted))

    def _chosen_coding(
        self, n_classes: int, n_samples: int, learners: list[BaseEstimator], random_state: np.random.RandomState
    ) -> tuple[str, Any]:
        """Return the name of the coding and the coding, for "auto" one that suits the problem."""
        is_auto = is_named(self.coding, AUTO)
        most = None if self.max_columns is None else self.max_columns // len(learners)
        coding = choose_coding(n_classes, n_samples, learners, max_columns=most) if is_auto else self.coding
        coding = coding_name(coding, also=(AUTO,)) if isinstance(coding, str) else coding
        name = coding if isinstance(coding, str) else "custom"
        is_compact = is_auto and coding == "dense-random"
        return name, compact_code(n_classes, learners[0], random_state, max_columns=most) if is_compact else coding

    def _learns_held_out(self, decoder: Any) -> bool:
        """Tell whether the decoder is fitted to out-of-fold codewords, if there are any."""
        # Learners overfit, so probabilities that are fitted to training codewords would be too extreme.
        has_several = is_several(self.estimator) or getattr(decoder, "scores_are_log_probabilities", False)
        return getattr(decoder, "learns_from_codewords", True) and (has_several or self.n_folds != AUTO)

    def _wanted_folds(self) -> tuple[int | str | None, bool]:
        has_several = is_several(self.estimator) or getattr(self._decoder(), "scores_are_log_probabilities", False)
        return self.n_folds, has_several

    def _with_decoding(
        self, decoding: Any, response_method: str, codewords: Floats, y: Integers, *, margin_scale: float
    ) -> Self:
        """Return a copy with the same columns and another decoding, fitted to the given codewords and class indices."""
        check_is_fitted(self)
        model = copy(self).set_params(decoding=decoding, response_method=response_method)
        response = resolve_response(first_learner(self.estimators_), response_method)
        counts = np.bincount(y, minlength=len(self.classes_))
        decoder = model._decoder_for(self.coding_, self.code_matrix_, counts, self._prior, response)
        decoder.fit(codewords, y, self.code_matrix_)
        calibration = Calibration(codewords, y, np.ones(len(y)))
        kept = (self.code_matrix_, self.estimators_, decoder, self._prior, calibration)
        names = self.column_learners_.tolist()
        model._keep(*kept, response=response, margin_scale=margin_scale, column_learners=names)
        return model


def are_classes_weighted(counts: Integers, prior: Floats) -> bool:
    """Tell whether samples of some class weigh on average much more than those of another.

    >>> are_classes_weighted(np.array([10, 90]), np.array([0.1, 0.9]))
    False
    >>> are_classes_weighted(np.array([10, 90]), np.array([0.5, 0.5]))
    True
    """
    weight = prior[counts > 0] / counts[counts > 0]
    return bool(weight.max() > _MOST_WEIGHT_RATIO * weight.min())


def choose_decoding(matrix: CodeMatrix, response: Response, *, is_weighted: bool = False) -> str:
    """Choose the decoding that suits a code and the outputs of its columns: probabilities, margins or labels.

    One-vs-rest is decoded by the largest output, and margins of one-vs-one by votes with ties broken by their sum, both
    as in scikit-learn. In other codes with zeros, outputs of different columns are not comparable, so they are
    calibrated. In codes without zeros, and with hard labels, the weight of a column for a class is how often it is
    correct. Such weights are misleading if classes are weighted; then outputs are calibrated too. With many classes,
    probabilities and margins of one-vs-one are not calibrated.

    >>> from skecoc.coding import dense_random, one_vs_one, one_vs_rest
    >>> choose_decoding(one_vs_rest(5), "decision_function"), choose_decoding(dense_random(5), "decision_function")
    ('loss-based', 'loss-weighted')
    >>> choose_decoding(one_vs_one(5), "decision_function"), choose_decoding(one_vs_one(50), "decision_function")
    ('voting', 'hamming')
    >>> choose_decoding(dense_random(5), "decision_function", is_weighted=True)
    'probabilistic'
    """
    by_correct = "probabilistic" if is_weighted else "loss-weighted"
    if response == "predict":
        return by_correct
    n_positive, n_negative = (matrix > 0).sum(axis=0), (matrix < 0).sum(axis=0)
    if matrix.all():
        is_one_vs_rest = (np.minimum(n_positive, n_negative) == 1).all()
        return "loss-based" if is_one_vs_rest else by_correct
    are_few = len(matrix) <= _MOST_CLASSES_TO_CALIBRATE
    if response == "predict_proba":
        return "probabilistic" if are_few else by_correct
    is_one_vs_one = (np.maximum(n_positive, n_negative) == 1).all()
    if is_one_vs_one:
        return "voting" if are_few else "hamming"
    return "probabilistic"


def compact_decoder(matrix: CodeMatrix, n_samples: int, n_jobs: int | None) -> Any:
    """Return the decoder of a compact code: optimised weights, or loss weights if there are too many codewords."""
    n_classes, n_columns = matrix.shape
    if n_samples * n_columns > _MOST_OUTPUTS:
        return resolve_decoder("loss-weighted")
    gap = _SMALL_GAP if n_samples * n_columns * n_classes <= _SMALL_PROBLEM else _COMPACT_GAP
    return OptimizedWeightDecoder(l2=_COMPACT_PENALTY * n_columns / n_classes, tol=gap, n_jobs=n_jobs)
