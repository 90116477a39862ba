"""Base classes of the classifiers that grow a code."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from skecoc.classifiers.base import LARGEST_SEED, BaseCodeClassifier
from skecoc.coding import coding_name, resolve_coding
from skecoc.coding.matrix import CodeMatrix
from skecoc.decoding.ties import decode
from skecoc.growth.engine import Growth, GrowthRound, StopRules, Strategy, grow
from skecoc.growth.samples import CodedSamples, GrowingCode, SamplesInMemory, TrainingSamples
from skecoc.growth.summary import summarize_growth
from skecoc.growth.warm import WarmStart, warm_random_state
from skecoc.growth.weights import drawn_keys, stack_rows
from skecoc.learners import RegionClassifier
from skecoc.learners.columns import Floats, Integers, find_response
from skecoc.learners.features import number_columns
from skecoc.learners.folds import sample_keys
from skecoc.learners.mixed import is_several
from skecoc.support.executor import Blocks
from skecoc.support.processes import DRAWN_LATER

# Weights up to this are what the solver's rounding leaves of a zero.
_NO_WEIGHT = 1e-9
# Samples that probabilities are calibrated on, at most about.
_CALIBRATION_SAMPLES = 4_096
# Another scrambling of keys than those that draw other samples.
_CALIBRATING = np.uint64(0x1C69B3F74AC4AE35)


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

    @abstractmethod
    def _strategy(self, n_classes: int, total_weight: float) -> Strategy:
        """Return the method."""

    @abstractmethod
    def _rules(self, n_classes: int, n_samples: int) -> StopRules:
        """Return when growth ends."""

    def _init_codings(self, n_classes: int, n_samples: int) -> list[Any]:
        """List the codings to start from, which are joined."""
        del n_classes, n_samples
        return [named_init(self.init)]

    def _starts(self, names: Sequence[str], n_classes: int, n_samples: int) -> list[tuple[str, Any]]:
        """List the codings to start from, each with the name of its learner; every learner has all of them."""
        codings = self._init_codings(n_classes, n_samples)
        return [(name, coding) for name in names for coding in codings]

    def _most_columns(self, n_classes: int) -> int | None:
        """Return the largest number of columns."""
        del n_classes
        return self.max_columns

    def _only_held_out(self) -> bool:
        """Tell whether the method needs no codewords but those of samples that learners have not seen."""
        return False

    def _clustered_learner(self) -> BaseEstimator | None:
        """Return the learner of clustering-based columns, if the method has any."""
        return None

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        random_state = warm_random_state(self, X, y, weight, fit_params)
        root = int(random_state.randint(LARGEST_SEED))
        starts = self._starts([*fit_params], len(self.classes_), len(y))
        matrices = self._matrices([coding for _, coding in starts], X, y, weight, random_state)
        folds, is_single = self._assign_folds(X, y, root)
        rules = self._rules(len(self.classes_), len(y))
        settings: dict[str, Any] = {}
        if not is_several(self.estimator):
            settings["response"] = find_response(self._learner(), self.response_method, X, y, root)
            settings["clustered_learner"] = self._clustered_learner() if len(number_columns(X)) else None
        if self.warm_start:
            settings["before"] = self._warm.trained
        # A bar takes a semaphore, which a process that is killed would leave behind.
        with tqdm(unit=" learners", delay=DRAWN_LATER) if self.verbose == 1 else nullcontext() as bar:
            trainer: Any = self._trainer(
                X,
                y,
                root,
                fit_params,
                np.minimum(folds, 0) if folds is not None and is_single else folds,
                on_fit=(lambda: None) if bar is None else lambda: _advance(bar, trainer),
                **settings,
            )
            samples = SamplesInMemory(
                trainer,
                len(self.classes_),
                weight,
                folds,
                only_held_out=self._only_held_out(),
                keys=sample_keys(X, root) if self._only_held_out() else None,
            )
            self._grow(starts, matrices, samples, rules, bar)

    def _matrices(
        self, codings: list[Any], X: Any, y: Integers, weight: Floats, random_state: np.random.RandomState
    ) -> list[CodeMatrix]:
        """Make the codes to start from, for samples of which some are at hand."""
        n_classes = len(self.classes_)
        made: dict[Any, CodeMatrix] = {}  # learners share a code, also one that is drawn at random
        most = self._most_columns(n_classes)
        # Codes that are chosen automatically fit together, if they can; of one code every learner has as many columns.
        each = None if most is None or len(set(map(_key, codings))) > 1 else most // len(codings)
        for coding in codings:
            key = _key(coding)
            if key not in made:
                settings: dict[str, Any] = {
                    "sample_weight": weight,
                    "argument": "init",
                    "ranks": self._ranks,
                    "max_columns": each,
                }
                made[key] = resolve_coding(coding, X, y, n_classes, random_state, **settings)
        matrices = [made[_key(coding)] for coding in codings]
        n_columns = sum(matrix.shape[1] for matrix in matrices)
        if most is not None and n_columns > most:
            raise ValueError(f"init has {n_columns} columns, more than max_columns={most}")
        return matrices

    def _grow(
        self,
        starts: list[tuple[str, Any]],
        matrices: list[CodeMatrix],
        samples: TrainingSamples,
        rules: StopRules,
        bar: Any = None,
    ) -> None:
        """Grow a code and set the fitted attributes: the kept round's matrix, columns and decoder belong together."""
        strategy = self._strategy(len(self.classes_), samples.total_weight)
        code = GrowingCode(samples)
        code.start(matrices, [name for name, _ in starts])
        growth = grow(code, strategy, rules, partial(self._report_round, bar))
        n_columns = growth.n_columns
        self.history_, self.stop_reason_ = growth.history, growth.stop_reason
        self.best_round_, self.n_iter_ = growth.kept, len(growth.history)
        self.column_kinds_ = np.array(code.kinds[:n_columns])
        self.used_columns_ = _used_columns(growth.decoder, n_columns)
        self._all_learners, self._stages = code.learners, growth.decoders
        calibration, held_out = _for_calibration(samples, code.coded, n_columns)
        self._keep(
            code.matrix[:, :n_columns],
            code.learners[:n_columns],
            growth.decoder,
            samples.prior,
            calibration,
            held_out=held_out,
            response=samples.response,
            margin_scale=code.margin_scale,
            column_learners=code.column_learners[:n_columns],
        )
        self._keep_growth(growth, strategy, [coding for _, coding in starts])

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        """Set fitted attributes of the method."""

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

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        further = sorted(fit_params.get("", {}).keys() - {"sample_weight"})
        if further:
            raise ValueError(f"clustering-based columns only support the fit parameter sample_weight, got {further}")
        super()._fit_code(X, y, weight, fit_params)


def _key(coding: Any) -> Any:
    """Return what a coding is known by: its name, or its identity."""
    return coding if isinstance(coding, str) else id(coding)


def named_init(init: Any, also: Sequence[str] = ()) -> Any:
    """Return the code to start from, a name as the full one; `also` are names that error messages list."""
    return coding_name(init, argument="init", also=also) if isinstance(init, str) else init


def _advance(bar: Any, trainer: Any) -> None:
    """Move the bar by one learner; with several learners, say how long it will take until all folds are trained."""
    seconds = getattr(trainer, "seconds_left", None)
    if seconds is not None:
        bar.set_postfix_str(f"about {format_seconds(seconds)} left" if seconds else "", refresh=False)
    bar.update()


def format_seconds(seconds: float) -> str:
    """Write a time as people say it.

    >>> format_seconds(8.2), format_seconds(200)
    ('9 s', '4 min')
    """
    return f"{int(np.ceil(seconds))} s" if seconds < 100.0 else f"{int(np.ceil(seconds / 60.0))} min"


def _used_columns(decoder: Any, n_columns: int) -> Integers:
    """List the columns that have a weight for some class; all of them for decoders without weights."""
    used = np.zeros(n_columns, dtype=bool)
    for name in ("weights_", "tie_weights_"):
        if hasattr(decoder, name):
            used |= (getattr(decoder, name) > _NO_WEIGHT).any(axis=0)
    return np.flatnonzero(used) if used.any() else np.arange(n_columns)


def _for_calibration(
    samples: TrainingSamples, coded: Blocks, n_columns: int
) -> tuple[tuple[NDArray[np.floating], Integers, Floats], bool]:
    """Draw samples to calibrate probabilities on by their keys, the same ones wherever samples are.

    They are held-out ones, beside the samples of classes that have none; the second value says whether there are any.
    """
    share = min(1.0, _CALIBRATION_SAMPLES / samples.n_samples)
    drawn = samples.executor.sum(_draw_for_calibration, coded, message=(n_columns, share), merge=stack_rows)
    codewords, y, weight, keys, fold = drawn
    held_out = fold >= 0
    order = np.lexsort((y, keys))
    order = order[(held_out | ~np.isin(y, y[held_out]))[order]]
    weight = weight[order] * samples.unit_weight / share
    return (codewords[order], y[order], weight), bool(held_out.any())


def _draw_for_calibration(samples: CodedSamples, n_columns: int, share: float) -> tuple[NDArray[Any], ...]:
    """Draw out-of-fold codewords, classes, weights, keys and folds of a share of the samples."""
    drawn = drawn_keys(samples.keys ^ _CALIBRATING, share)
    columns = samples.first(n_columns).out_of_fold[drawn]
    return columns, samples.y[drawn], samples.weight[drawn], samples.keys[drawn], samples.fold[drawn]
