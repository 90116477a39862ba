"""Fit the classifiers of rows in memory from blocks of rows, wherever these are."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc.blocks.answers import (
    CodedLearners,
    answer_coded,
    append_answers,
    begin_answers,
    code_learners,
    largest_answer,
    scale_answers,
)
from skecoc.blocks.boosting import boost_columns
from skecoc.blocks.executor import Blocks, Executor
from skecoc.blocks.growth import BlockCode, HeldOutRules, HeldOutStrategy
from skecoc.blocks.preparation import PreparedRows, feature_attributes, prepare_rows
from skecoc.blocks.weights import DistributedRows, count_right_answers
from skecoc.classifiers import BaseCodeClassifier, ECOCClassifier, calibration_samples, fit_temperature
from skecoc.coding import resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding import LossWeightedDecoder, OptimizedWeightDecoder, resolve_decoder
from skecoc.grown import WOLCClassifier
from skecoc.grown.base import used_columns
from skecoc.growth import GrowingCode, Growth, grow
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import resolve_response

Floats = NDArray[np.float64]

LARGEST_SEED = np.iinfo(np.int32).max
# Relative gap of the optimised weights, as for rows in memory.
_WEIGHTS_TOL = 1e-3


class BlockwiseClassifier(ClassifierMixin, BaseEstimator):
    """What classifiers of blocks share: they fit a classifier of rows in memory, which then predicts.

    A subclass has the parameters `estimator`, `response_method`, `max_bins` and `random_state`, and defines
    `_fit_local`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [StumpAdaBoostClassifier, None],
        "response_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
        "max_bins": [Interval(Integral, 2, 65_536, closed="both")],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _fit_local(self, executor: Executor, source: Blocks) -> BaseCodeClassifier:
        """Fit a classifier of rows in memory from blocks of rows."""

    def _fit_source(self, executor: Executor, source: Blocks) -> Self:
        """Fit from blocks of rows, wherever they are."""
        self.model_ = self._fit_local(executor, source)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        for name, value in vars(self.model_).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        return self

    def _learner(self) -> StumpAdaBoostClassifier:
        """Return the binary learner, the default one if none is given."""
        return StumpAdaBoostClassifier() if self.estimator is None else self.estimator

    def to_local(self) -> Any:
        """Return the fitted classifier for rows in memory.

        Returns
        -------
        ECOCClassifier or WOLCClassifier
            Fitted. It knows nothing of blocks or clusters, and can be saved like any other.
        """
        check_is_fitted(self)
        return self.model_

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_classes, n_columns)."""
        return self.to_local().weights_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self.to_local().predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self.to_local().predict_proba(X)

    def decision_function(self, X: Any) -> Floats:
        """Score every class for every row; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores; with two classes, the second class's minus the first's.
        """
        return self.to_local().decision_function(X)


class ECOCFit(BlockwiseClassifier):
    """Fits `ECOCClassifier` from blocks."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseClassifier._parameter_constraints,
        "coding": ECOCClassifier._parameter_constraints["coding"],
        "decoding": ECOCClassifier._parameter_constraints["decoding"],
    }

    def _fit_local(self, executor: Executor, source: Blocks) -> ECOCClassifier:
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        rows = prepare_rows(executor, source, root, self.max_bins, held_out=0.0)
        model = ECOCClassifier(
            self._learner(), self.coding, self.decoding, self.response_method, random_state=self.random_state
        )
        model.__dict__.update(feature_attributes(rows.summary), classes_=rows.layout.classes)
        sample = rows.summary.sample
        model.code_matrix_ = resolve_coding(
            self.coding,
            sample.X,
            rows.sample_classes(),
            rows.n_classes,
            random_state,
            sample_weight=sample.mass,
        )
        model.estimators_ = boost_columns(
            executor,
            rows.training,
            rows.bins,
            model.code_matrix_,
            rows.training_weights,
            self._learner(),
            rows.summary.names,
        )
        model._response = resolve_response(self._learner(), self.response_method)
        model._prior = rows.prior
        self._fit_decoder(model, rows)
        return model

    def _fit_decoder(self, model: ECOCClassifier, rows: PreparedRows) -> None:
        """Fit the margins' scale, the decoder and the temperature."""
        coded = code_learners(model.estimators_, rows.bins, model._response)
        model._margin_scale = 1.0
        if model._response == "decision_function":
            model._margin_scale = rows.executor.sum(largest_answer, rows.training, message=(coded,), merge=max) or 1.0
        decoder = resolve_decoder(self.decoding)
        matrix = model.code_matrix_.astype(np.float64)
        codewords, y, weight = _calibration_codewords(coded, model._margin_scale, rows)
        if isinstance(decoder, LossWeightedDecoder):
            right = rows.executor.sum(count_right_answers, rows.training, message=(coded, matrix))
            model.decoder_ = decoder.fit_sums(right.astype(np.float64), matrix)
        elif isinstance(decoder, OptimizedWeightDecoder):
            answered = rows.executor.map(begin_answers, rows.training)
            answered = rows.executor.map(append_answers, answered, rows.training, message=(coded,))
            answered = rows.executor.map(scale_answers, answered, message=(model._margin_scale,))
            factor = rows.training_factor(decoder.class_weight)
            remote = DistributedRows(rows.executor, answered, factor, rows.summary.n_rows)
            model.decoder_ = decoder.fit_remote(remote, matrix)
        else:
            model.decoder_ = decoder.fit(codewords, y, matrix, weight)
        _fit_temperature(model, codewords, y, weight)


def _calibration_codewords(
    coded: CodedLearners, margin_scale: float, rows: PreparedRows
) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Return codewords, class indices and weights of sampled rows, of those held out if there are any."""
    codes, y, weight = rows.calibration_sample()
    return answer_coded(codes, coded) / margin_scale, y, weight


def _fit_temperature(model: Any, codewords: Floats, y: NDArray[np.intp], weight: Floats) -> None:
    """Fit the temperature of probabilities on a few of the sampled rows."""
    rows, row_weight = calibration_samples(y, weight)
    model.temperature_ = fit_temperature(model.decoder_.scores(codewords[rows]), y[rows], row_weight)


class WOLCFit(BlockwiseClassifier):
    """Fits `WOLCClassifier` from blocks."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BlockwiseClassifier._parameter_constraints,
        **{
            name: WOLCClassifier._parameter_constraints[name]
            for name in ("init", "n_pairs", "max_iter", "max_columns", "tol", "standard_errors", "patience")
        },
        "n_regions": [Interval(Integral, 2, 255, closed="both")],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "l2": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "verbose": ["verbose"],
    }

    def _fit_local(self, executor: Executor, source: Blocks) -> WOLCClassifier:
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        rows = prepare_rows(executor, source, root, self.max_bins, self.validation_fraction)
        model = self._unfitted()
        model.__dict__.update(feature_attributes(rows.summary), classes_=rows.layout.classes)
        model._response = resolve_response(self._learner(), self.response_method)
        code = BlockCode(rows, self._learner(), self.n_regions, model._response)
        code.start(self._first_matrix(rows, random_state))
        l2 = self.l2
        if isinstance(l2, str):
            l2 = min(0.1, 100.0 / (rows.held_out_weight * rows.summary.largest_weight))
        max_iter = 3 * rows.n_classes if self.max_iter is None else self.max_iter
        rules = HeldOutRules(max_iter, self.max_columns, self.tol, self.standard_errors, self.patience)
        strategy = HeldOutStrategy(self.margin, l2, _WEIGHTS_TOL, self.n_pairs)
        growth = grow(cast("GrowingCode", code), strategy, rules, model._print_round if self.verbose else None)
        _keep_growth(model, code, growth)
        return model

    def _unfitted(self) -> WOLCClassifier:
        """Return a classifier of rows in memory with the same parameters."""
        names = WOLCClassifier._get_param_names()
        return WOLCClassifier(**{name: getattr(self, name) for name in names if hasattr(self, name)})

    def _first_matrix(self, rows: PreparedRows, random_state: np.random.RandomState) -> CodeMatrix:
        """Return the code to grow from."""
        sample = rows.summary.sample
        matrix = resolve_coding(
            self.init, sample.X, rows.sample_classes(), rows.n_classes, random_state, sample_weight=sample.mass
        )
        if self.max_columns is not None and matrix.shape[1] > self.max_columns:
            raise ValueError(f"init has {matrix.shape[1]} columns, more than max_columns={self.max_columns}")
        return matrix


def _keep_growth(model: WOLCClassifier, code: BlockCode, growth: Growth) -> None:
    """Set the fitted attributes: the kept round's matrix, columns and decoder, which belong together."""
    n_columns = growth.history[growth.kept].n_columns
    model.history_, model.stop_reason_ = growth.history, growth.stop_reason
    model.best_round_, model.n_iter_ = growth.kept, len(growth.history)
    model.code_matrix_ = code.matrix[:, :n_columns]
    model.estimators_ = code.learners[:n_columns]
    model.column_kinds_ = np.array(code.kinds[:n_columns])
    model.decoder_ = growth.decoders[growth.kept]
    model.used_columns_ = used_columns(model.decoder_, n_columns)
    model._margin_scale, model._prior = code.margin_scale, code.rows.prior
    model._all_learners, model._stages = code.learners, growth.decoders
    coded = code_learners(model.estimators_, code.rows.bins, code.response)
    _fit_temperature(model, *_calibration_codewords(coded, code.margin_scale, code.rows))
