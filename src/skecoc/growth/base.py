"""What the estimators of grown codes share."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from skecoc.classifiers import LARGEST_SEED, BaseCodeClassifier
from skecoc.coding import resolve_coding
from skecoc.decoding.ties import decode
from skecoc.growth.engine import GrowthRound, Start, StopRules, Strategy, grow_from
from skecoc.growth.folds import assign_folds
from skecoc.growth.samples import SamplesInMemory, TrainingSamples
from skecoc.learners import RegionClassifier
from skecoc.learners.columns import ColumnTrainer, Floats, Integers, Response, find_response

# Weights up to this are what the solver's rounding leaves of a zero.
_NO_WEIGHT = 1e-9


class GrownClassifier(BaseCodeClassifier):
    """What the grown codes share: growing from some start, and staged results."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "init": [str, "array-like", callable],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
    }

    @abstractmethod
    def _strategy(self, start: int, total_weight: float) -> Strategy:
        """Return the method, for the code to grow from (0) or for another one to try."""

    @abstractmethod
    def _rules(self, n_classes: int) -> StopRules:
        """Return when growth ends."""

    @abstractmethod
    def _folds(self, X: Any, y: Integers, seed: int) -> Integers | None:
        """Return the fold that holds out each sample, or None for no out-of-fold codewords."""

    def _init_codings(self, n_classes: int, response: Response) -> list[Any]:
        """List the coding to grow from, and others to try as they are."""
        del n_classes, response
        return [self.init]

    def _clustered_learner(self) -> BaseEstimator | None:
        """Return the learner of clustering-based columns, if the method has any."""
        return None

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        if len(np.unique(y)) < len(self.classes_):
            raise ValueError("sample_weight must leave every class a sample of positive weight")
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        response = find_response(self._learner(), self.response_method, X, y, root)
        starts = self._starts(X, y, weight, float(weight.sum()), response, random_state)
        trainer = ColumnTrainer(
            self._learner(),
            X,
            y,
            root,
            response,
            fit_params=fit_params,
            folds=self._folds(X, y, root),
            clustered_learner=self._clustered_learner(),
            n_jobs=self.n_jobs,
        )
        self._grow(starts, SamplesInMemory(trainer, len(self.classes_), weight))

    def _starts(
        self,
        X: Any,
        y: Integers,
        weight: Floats,
        total_weight: float,
        response: Response,
        random_state: np.random.RandomState,
    ) -> list[Start]:
        """List the code to grow from, and others to try, for samples of which some are at hand."""
        n_classes = len(self.classes_)
        codings = self._init_codings(n_classes, response)
        matrices = [resolve_coding(coding, X, y, n_classes, random_state, sample_weight=weight) for coding in codings]
        most = np.inf if self.max_columns is None else self.max_columns
        allowed = [matrix for matrix in matrices if matrix.shape[1] <= most]
        if not allowed:
            raise ValueError(f"init has {matrices[0].shape[1]} columns, more than max_columns={self.max_columns}")
        return [Start(matrix, self._strategy(number, total_weight)) for number, matrix in enumerate(allowed)]

    def _grow(self, starts: list[Start], samples: TrainingSamples) -> None:
        """Grow a code and set the fitted attributes: the kept round's matrix, columns and decoder belong together."""
        rules = self._rules(len(self.classes_))
        growth = grow_from(starts, samples, rules, self._print_round if self.verbose else None)
        code, n_columns = growth.code, growth.n_columns
        self.history_, self.stop_reason_ = growth.history, growth.stop_reason
        self.best_round_, self.n_iter_ = growth.kept, len(growth.history)
        self.column_kinds_ = np.array(code.kinds[:n_columns])
        self.used_columns_ = _used_columns(growth.decoder, n_columns)
        self._all_learners, self._stages = code.learners, growth.decoders
        self._keep(
            code.matrix[:, :n_columns],
            code.learners[:n_columns],
            growth.decoder,
            samples.prior,
            samples.for_calibration(code.coded, n_columns),
            response=samples.response,
            margin_scale=code.margin_scale,
        )

    def _print_round(self, number: int, record: GrowthRound) -> None:
        """Print one readable line about a round."""
        pairs = ", ".join(f"{self.classes_[i]}/{self.classes_[j]}" for i, j in record.pairs)
        print(
            f"round {number:2d}: {record.n_columns:3d} columns, loss {record.loss:.4f}, "
            f"accuracy {record.accuracy:.4f} (out of fold {record.out_of_fold_accuracy:.4f})"
            + (f"; next {pairs} ({record.n_clustered} clustered)" if pairs else "; done")
        )

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_classes, n_columns)."""
        return self.decoder_.weights_

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every sample, ties resolved; columns without weight are not evaluated."""
        check_is_fitted(self)
        outputs = self._outputs([self.estimators_[q] for q in self.used_columns_], self._check_rows(X, reset=False))
        codewords = np.zeros((len(outputs), len(self.estimators_)))
        codewords[:, self.used_columns_] = outputs
        return self._decode(codewords)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predict the class of each sample after every round of growth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Yields
        ------
        ndarray of shape (n_samples,)
            Class labels as the code of each round in `history_` gives them; that of round `best_round_` is what
            `predict` gives.
        """
        check_is_fitted(self)
        codewords = self._outputs(self._all_learners, self._check_rows(X, reset=False))
        for record, decoder in zip(self.history_, self._stages, strict=True):
            shown = codewords[:, : record.n_columns].copy()
            unused = np.setdiff1d(np.arange(record.n_columns), _used_columns(decoder, record.n_columns))
            shown[:, unused] = 0.0
            yield self.classes_[decode(decoder, shown, decoder.matrix_, self._prior).argmax(axis=1)]

    def staged_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """Give the accuracy on test samples after every round of growth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Yields
        ------
        float
            Accuracy.
        """
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))


class LayeredClassifier(GrownClassifier):
    """What LC-ECOC and WOLC-ECOC share: clustering-based columns, hence numeric samples, and folds."""

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

    def _clustered_learner(self) -> BaseEstimator:
        return RegionClassifier(self._learner(), n_regions=self.n_regions)

    def _folds(self, X: Any, y: Integers, seed: int) -> Integers | None:
        return None if self.n_folds is None else assign_folds(X, y, self.n_folds, seed)

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        further = sorted(fit_params.keys() - {"sample_weight"})
        if further:
            raise ValueError(f"clustering-based columns take no fit parameter but sample_weight, got {further}")
        super()._fit_code(X, y, weight, fit_params)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_numeric(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        return numeric_tags(super().__sklearn_tags__())


def _used_columns(decoder: Any, n_columns: int) -> Integers:
    """List the columns that have a weight for some class; all of them for decoders without weights."""
    used = np.zeros(n_columns, dtype=bool)
    for name in ("weights_", "tie_weights_"):
        if hasattr(decoder, name):
            used |= (getattr(decoder, name) > _NO_WEIGHT).any(axis=0)
    return np.flatnonzero(used) if used.any() else np.arange(n_columns)


def check_numeric(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Check that samples are finite numbers, which clustering needs; a frame reaches the learner as it is."""
    checked = validate_data(estimator, X, reset=reset, dtype="numeric")
    return X if hasattr(X, "columns") else checked


def numeric_tags(tags: Any) -> Any:
    """Declare that neither sparse samples nor missing values are taken: distances to centres are computed."""
    tags.input_tags.sparse = False
    tags.input_tags.allow_nan = False
    return tags
