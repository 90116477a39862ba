"""What the estimators of grown codes share."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_method_params, check_is_fitted, validate_data

from skecoc.classifiers import BaseCodeClassifier, calibration_samples, fit_temperature
from skecoc.coding import resolve_coding
from skecoc.decoding.ties import break_ties
from skecoc.growth import (
    GrowingCode,
    Growth,
    GrowthRound,
    Start,
    StopRules,
    Strategy,
    automatic_start_names,
    grow_from,
)
from skecoc.growth.folds import assign_folds
from skecoc.growth.training import ColumnTrainer
from skecoc.learners.columns import evaluate_columns, resolve_response

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

LARGEST_SEED = np.iinfo(np.int32).max
# Weights up to this are what the solver's rounding leaves of a zero.
_NO_WEIGHT = 1e-9


class GrownClassifier(BaseCodeClassifier):
    """What the grown codes share: rows that count, training of columns, staged results."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "init": [str, "array-like", callable],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
    }

    @abstractmethod
    def _strategy(self, start: int, weight: Floats) -> Strategy:
        """Return the method, for the code to grow from (0) or for another one to try, and the rows' weights."""

    @abstractmethod
    def _rules(self, n_classes: int) -> StopRules:
        """Return when growth ends."""

    @abstractmethod
    def _folds(self, X: Any, y: Integers, random_state: np.random.RandomState) -> Integers | None:
        """Return the fold in which each row is held out, or None for no cross-fitting."""

    def _fit_code(self, X: Any, y: Integers, weight: Floats | None, fit_params: dict[str, Any]) -> None:
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        n_classes = len(self.classes_)
        X, y, weight, fit_params = rows_that_count(X, y, weight, fit_params, n_classes)
        starts = self._starts(X, y, weight, random_state)
        folds = self._folds(X, y, np.random.RandomState(root))
        code = GrowingCode(self._trainer(X, y, fit_params, root, folds), n_classes, weight)
        report = self._print_round if self.verbose else None
        self._keep(*grow_from(starts, code, self._rules(n_classes), report))

    def _starts(self, X: Any, y: Integers, weight: Floats, random_state: np.random.RandomState) -> list[Start]:
        """List the code to grow from, and others to try."""
        n_classes = len(self.classes_)
        codings = [self.init]
        if isinstance(self.init, str) and self.init == "auto":
            codings = automatic_start_names(n_classes, resolve_response(self._learner(), self.response_method))
        starts = [resolve_coding(coding, X, y, n_classes, random_state, sample_weight=weight) for coding in codings]
        most = np.inf if self.max_columns is None else self.max_columns
        allowed = [matrix for matrix in starts if matrix.shape[1] <= most]
        if not allowed:
            raise ValueError(f"init has {starts[0].shape[1]} columns, more than max_columns={self.max_columns}")
        return [Start(matrix, self._strategy(number, weight)) for number, matrix in enumerate(allowed)]

    def _trainer(
        self, X: Any, y: Integers, fit_params: dict[str, Any], root: int, folds: Integers | None
    ) -> ColumnTrainer:
        """Make what trains the columns."""
        self._response = resolve_response(self._learner(), self.response_method)
        return ColumnTrainer(
            self._learner(),
            X,
            y,
            self._response,
            root,
            fit_params=fit_params,
            folds=folds,
            n_jobs=self.n_jobs,
        )

    def _keep(self, code: GrowingCode, growth: Growth) -> None:
        """Set the fitted attributes: the kept round's matrix, columns and decoder, which belong together."""
        n_columns = growth.history[growth.kept].n_columns
        self.history_, self.stop_reason_ = growth.history, growth.stop_reason
        self.best_round_, self.n_iter_ = growth.kept, len(growth.history)
        self.code_matrix_ = code.matrix[:, :n_columns]
        self.estimators_ = code.learners[:n_columns]
        self.column_kinds_ = np.array(code.kinds[:n_columns])
        self.decoder_ = growth.decoders[growth.kept]
        self.used_columns_ = used_columns(self.decoder_, n_columns)
        self._margin_scale = code.margin_scale
        self._prior = np.bincount(code.y, weights=code.weight) / code.weight.sum()
        self._all_learners, self._stages = code.learners, growth.decoders
        rows, row_weight = calibration_samples(code.y, code.weight)
        scores = self.decoder_.scores(code.honest[rows, :n_columns])
        self.temperature_ = fit_temperature(scores, code.y[rows], row_weight)

    def _print_round(self, number: int, record: GrowthRound) -> None:
        """Print one readable line about a round."""
        pairs = ", ".join(f"{self.classes_[i]}/{self.classes_[j]}" for i, j in record.pairs)
        print(
            f"round {number:2d}: {record.n_columns:3d} columns, loss {record.loss:.4f}, "
            f"accuracy {record.accuracy:.4f} (honest {record.honest_accuracy:.4f})"
            + (f"; next {pairs} ({record.n_clustered} clustered)" if pairs else "; done")
        )

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_classes, n_columns)."""
        return self.decoder_.weights_

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every row, ties resolved; columns without weight are not asked."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        used = self.used_columns_
        answers = evaluate_columns([self.estimators_[q] for q in used], X, self._response, n_jobs=self.n_jobs)
        codewords = np.zeros((len(answers), len(self.estimators_)))
        codewords[:, used] = answers / self._margin_scale
        return self._decoded(self.decoder_, codewords)

    def _decoded(self, decoder: Any, codewords: Floats) -> Floats:
        """Score the classes by a decoder, ties resolved."""
        linear = codewords @ decoder.matrix_.T
        return break_ties(decoder.scores(codewords), linear, self._prior)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predict the class of each row after every round of growth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Yields
        ------
        ndarray of shape (n_samples,)
            Class labels as the code of each round in `history_` gives them; that of round `best_round_` is what
            `predict` gives.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        codewords = evaluate_columns(self._all_learners, X, self._response, n_jobs=self.n_jobs) / self._margin_scale
        for record, decoder in zip(self.history_, self._stages, strict=True):
            shown = codewords[:, : record.n_columns].copy()
            unused = np.setdiff1d(np.arange(record.n_columns), used_columns(decoder, record.n_columns))
            shown[:, unused] = 0.0
            yield self.classes_[self._decoded(decoder, shown).argmax(axis=1)]

    def staged_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """Give the accuracy on test rows after every round of growth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Test rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Yields
        ------
        float
            Share of rows that are classified rightly.
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))


class LayeredClassifier(GrownClassifier):
    """What LC-ECOC and WOLC-ECOC share: clustering-based columns, hence rows of numbers, and honest codewords."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GrownClassifier._parameter_constraints,
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "standard_errors": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "n_regions": [Interval(Integral, 2, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    def _rules(self, n_classes: int) -> StopRules:
        max_iter = 3 * n_classes if self.max_iter is None else self.max_iter
        return StopRules(max_iter, self.max_columns, self.tol, self.standard_errors, self.patience)

    def _trainer(
        self, X: Any, y: Integers, fit_params: dict[str, Any], root: int, folds: Integers | None
    ) -> ColumnTrainer:
        trainer = super()._trainer(X, y, fit_params, root, folds)
        trainer.n_regions = self.n_regions
        return trainer

    def _folds(self, X: Any, y: Integers, random_state: np.random.RandomState) -> Integers | None:
        return None if self.n_folds is None else assign_folds(X, y, self.n_folds, random_state)

    def _fit_code(self, X: Any, y: Integers, weight: Floats | None, fit_params: dict[str, Any]) -> None:
        further = sorted(fit_params.keys() - {"sample_weight"})
        if further:
            raise ValueError(f"clustering-based columns take no fit parameter but sample_weight, got {further}")
        super()._fit_code(X, y, weight, fit_params)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check that rows are finite numbers, which clustering needs; frames reach the learner as they are."""
        return check_numeric_rows(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        return numeric_tags(super().__sklearn_tags__())


def rows_that_count(
    X: Any, y: Integers, weight: Floats | None, fit_params: dict[str, Any], n_classes: int
) -> tuple[Any, Integers, Floats, dict[str, Any]]:
    """Leave out rows of weight zero: such a row is a row that is not there."""
    if weight is None:
        return X, y, np.ones(len(y)), fit_params
    counted = np.flatnonzero(weight)
    if len(np.unique(y[counted])) < n_classes:
        raise ValueError("sample_weight must leave every class a row of positive weight")
    if len(counted) < len(y):
        fit_params = _check_method_params(X, fit_params, indices=counted)
        X = _safe_indexing(X, counted)
    return X, y[counted], weight[counted], fit_params


def used_columns(decoder: Any, n_columns: int) -> Integers:
    """List the columns that have a weight for some class; all of them for decoders without weights."""
    used = np.zeros(n_columns, dtype=bool)
    for name in ("weights_", "tie_weights_"):
        if hasattr(decoder, name):
            used |= (getattr(decoder, name) > _NO_WEIGHT).any(axis=0)
    return np.flatnonzero(used) if used.any() else np.arange(n_columns)


def check_numeric_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Check that rows are finite numbers; a frame is returned as it is."""
    checked = validate_data(estimator, X, reset=reset, dtype="numeric")
    return X if hasattr(X, "columns") else checked


def numeric_tags(tags: Any) -> Any:
    """Say that neither sparse rows nor missing values are taken: distances to centres are computed."""
    tags.input_tags.sparse = False
    tags.input_tags.allow_nan = False
    return tags
