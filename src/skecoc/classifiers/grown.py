"""Base classes of the classifiers that grow a code."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from skecoc.classifiers.base import BaseCodeClassifier
from skecoc.classifiers.growth import Growth, GrowthRound, StopRules, Strategy
from skecoc.classifiers.growth_summary import summarize_growth
from skecoc.classifiers.warm import WarmStart
from skecoc.coding.choice import coding_name
from skecoc.decoding.scoring import decode
from skecoc.learners import RegionClassifier
from skecoc.learners.columns import Floats, Integers
from skecoc.support.processes import DRAWN_LATER

# Weights up to this are what the solver's rounding leaves of a zero.
_NO_WEIGHT = 1e-9


class GrownClassifier(BaseCodeClassifier):
    """Base class of classifiers that grow a code: growth from an initial code, and staged predictions."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "init": [str, "array-like", callable],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
        "class_order": ["array-like", None],
        "warm_start": ["boolean"],
    }

    _warm: WarmStart

    _grows: ClassVar[bool] = True

    def _starts(
        self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState
    ) -> list[tuple[str, Any]]:
        """List the codings to start from, which are joined; every learner has all of them."""
        del random_state
        return [(name, coding) for name in names for coding in self._init_codings(n_classes, n_samples)]

    def _init_codings(self, n_classes: int, n_samples: int) -> list[Any]:
        """List the codings to start from, which are joined."""
        del n_classes, n_samples
        return [named_init(self.init)]

    @contextmanager
    def _progress(self) -> Iterator[Any]:
        # A bar takes a semaphore, which a process that is killed would leave behind.
        with tqdm(unit=" learners", delay=DRAWN_LATER) if self.verbose == 1 else nullcontext() as bar:
            yield bar

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        """Set fitted attributes of growth."""
        del strategy, codings
        n_columns = growth.n_columns
        self.history_, self.stop_reason_ = growth.history, growth.stop_reason
        self.best_round_, self.n_iter_ = growth.kept, len(growth.history)
        self.column_kinds_ = np.array(growth.code.kinds[:n_columns])
        self.used_columns_ = _used_columns(growth.decoder, n_columns)
        self._all_learners, self._stages = growth.code.learners, growth.decoders

    def _report_round(self, bar: Any, number: int, record: GrowthRound) -> None:
        """Say how a round went: on the progress bar, or in a line."""
        if self.verbose == 1 and bar is not None:
            bar.set_description_str(
                f"round {number}, {record.n_columns} columns, {100 * record.out_of_fold_accuracy:.1f} % out of fold"
            )
        elif self.verbose:
            pairs = ", ".join(f"{self.classes_[i]}/{self.classes_[j]}" for i, j in record.pairs)
            print(
                f"round {number:2d}: {record.n_columns:3d} columns, loss {record.loss:.4f}, "
                f"out-of-fold accuracy {record.out_of_fold_accuracy:.4f}"
                + (f"; next {pairs} ({record.n_clustered} clustered)" if pairs else "; done")
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without what a further `fit` on the same data could use."""
        return {name: value for name, value in super().__getstate__().items() if name != "_warm"}

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, an array of shape (n_classes, n_columns)."""
        return self.decoder_.weights_

    def _class_scores(self, X: Any) -> Floats:
        """Score every class for every sample, ties resolved; columns without weight are not evaluated."""
        check_is_fitted(self)
        outputs = self._outputs([self.estimators_[q] for q in self.used_columns_], self._check_rows(X, reset=False))
        codewords = np.zeros((len(outputs), len(self.estimators_)))
        codewords[:, self.used_columns_] = outputs
        return self._decode(codewords)

    def growth_summary(self) -> str:
        """Summarise growth in words: initial code, added columns, why growth stopped, and weights.

        Returns
        -------
        str
            Two or three sentences.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import LCECOCClassifier
        >>> model = LCECOCClassifier(decoding="hamming", max_iter=0).fit(*load_iris(return_X_y=True))
        >>> print(model.growth_summary())
        Started from one-vs-rest (3 columns); no column was added because max_iter rounds were made.
        Decoding is by HammingDecoder.
        """
        check_is_fitted(self)
        return summarize_growth(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return scikit-learn's text and, once fitted, the summary of growth as a comment below it."""
        # scikit-learn breaks lines only in estimators with its own method, so it is given such a one to print.
        plain = type(type(self).__name__, (type(self),), {"__repr__": BaseEstimator.__repr__})
        text = BaseEstimator.__repr__(plain(**self.get_params(deep=False)), N_CHAR_MAX)
        return f"{text}\n# {self.growth_summary()}" if hasattr(self, "temperature_") else text

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predict the class of each sample after every round of growth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Yields
        ------
        ndarray of shape (n_samples,)
            Class labels predicted with the code of each round in `history_`. Round `best_round_` gives the labels that
            `predict` returns.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import WOLCClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = WOLCClassifier(max_iter=1, random_state=0).fit(X[::2], y[::2])
        >>> [predicted.shape for predicted in model.staged_predict(X[1::2])]
        [(75,), (75,)]
        """
        check_is_fitted(self)
        codewords = self._outputs(self._all_learners, self._check_rows(X, reset=False))
        for record, decoder in zip(self.history_, self._stages, strict=True):
            shown = codewords[:, : record.n_columns].copy()
            unused = np.setdiff1d(np.arange(record.n_columns), _used_columns(decoder, record.n_columns))
            shown[:, unused] = 0.0
            yield self.classes_[decode(decoder, shown, decoder.matrix_, self._prior).argmax(axis=1)]

    def staged_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """Compute the accuracy on test samples after every round of growth.

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
    """Base class of LC-ECOC and WOLC-ECOC: clustering-based columns and folds."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GrownClassifier._parameter_constraints,
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "standard_errors": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "n_regions": [Interval(Integral, 2, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    def _rules(self, n_classes: int, n_samples: int) -> StopRules:
        del n_samples
        max_iter = 3 * n_classes if self.max_iter is None else self.max_iter
        return StopRules(max_iter, self.max_columns, self.tol, self.standard_errors, self.patience)

    def _clustered_learner(self) -> BaseEstimator:
        return RegionClassifier(self._learner())

    def _check_params(self, params: dict[str, dict[str, Any]]) -> None:
        further = sorted(params.get("", {}).keys() - {"sample_weight"})
        if further:
            raise ValueError(f"clustering-based columns only support the fit parameter sample_weight, got {further}")


def named_init(init: Any, also: Sequence[str] = ()) -> Any:
    """Return the code to start from, a name as the full one; `also` are names that error messages list."""
    return coding_name(init, argument="init", also=also) if isinstance(init, str) else init


def _used_columns(decoder: Any, n_columns: int) -> Integers:
    """List the columns that have a weight for some class; all of them for decoders without weights."""
    used = np.zeros(n_columns, dtype=bool)
    for name in ("weights_", "tie_weights_"):
        if hasattr(decoder, name):
            used |= (getattr(decoder, name) > _NO_WEIGHT).any(axis=0)
    return np.flatnonzero(used) if used.any() else np.arange(n_columns)
