"""The base of the classifiers that grow a code, and the summary of how it grew."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skecoc.classifiers.base import BaseCodeClassifier, Start, WarmStart
from skecoc.classifiers.growth import GrowingCode, Growth, GrowthRound, Strategy
from skecoc.coding.choice import coding_name
from skecoc.data.described import refuse_data
from skecoc.decoding.scoring import decode
from skecoc.learners.columns import Floats, Integers
from skecoc.learners.mixed import is_several

#: Value of `max_iter`: three times the number of classes, the paper's T.
THRICE_CLASSES = "3P"

# Weights up to this count as zero: the solver rounds.
_NO_WEIGHT = 1e-9
# Pairs that `stop_reason_` names.
_SHOWN_PAIRS = 3
# Groups with a smaller share of the weights are summed up without a number.
_SHOWN = 0.01


class GrownClassifier(BaseCodeClassifier):
    """Base class of classifiers that grow a code: growth from an initial code, and staged predictions."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "init": [str, "array-like", callable],
        "max_iter": [Interval(Integral, 0, None, closed="left"), StrOptions({THRICE_CLASSES}), None],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
        "class_order": ["array-like", None],
        "warm_start": ["boolean"],
    }

    _warm: WarmStart

    _grows: ClassVar[bool] = True

    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        """Choose the codings to start from: every learner has all of them."""
        del n_classes, n_samples, random_state
        coding = named_init(self.init)
        return Start([coding] * len(names), names)

    def _most_rounds(self) -> int | None:
        """Return the largest number of rounds; None for no limit."""
        max_iter: Any = self.max_iter
        return 3 * len(self.classes_) if isinstance(max_iter, str) else max_iter

    def _keep_growth(self, growth: Growth, strategy: Strategy, codings: list[Any]) -> None:
        del strategy
        n_columns = growth.n_columns
        self._initial_codes = [coding if isinstance(coding, str) else "the given code" for coding in codings]
        self.history_, self.stop_reason_ = growth.history, growth.stop_reason
        if growth.next_pairs:
            shown = growth.next_pairs[:_SHOWN_PAIRS]
            names = ", ".join(f"{self.classes_[i]} vs {self.classes_[j]}" for i, j in shown)
            self.stop_reason_ += f"; next: {names}"
        self.best_round_, self.n_iter_ = growth.kept, len(growth.history)
        self.column_kinds_ = np.array(growth.code.kinds[:n_columns])
        self.used_columns_ = _used_columns(growth.decoder, n_columns)
        self._all_learners, self._stages = growth.code.learners, growth.decoders

    def _report_round(self, bar: Any, number: int, record: GrowthRound, code: GrowingCode) -> None:
        work = code.added_work / code.initial_work
        if self.verbose == 1 and bar is not None:
            bar.set_description_str(
                f"round {number}, {record.n_columns} columns, {100 * record.out_of_fold_accuracy:.1f} % out of fold, "
                f"added work {work:.1f} times the initial code's"
            )
        elif self.verbose:
            pairs = ", ".join(f"{self.classes_[i]}/{self.classes_[j]}" for i, j in record.pairs)
            print(
                f"round {number:2d}: {record.n_columns:3d} columns, loss {record.loss:.4f}, "
                f"out-of-fold accuracy {record.out_of_fold_accuracy:.4f}, added work {work:.1f}"
                + (f"; next {pairs} ({record.n_clustered} clustered)" if pairs else "; done")
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without what a further `fit` on the same data could use."""
        return {name: value for name, value in super().__getstate__().items() if name != "_warm"}

    def _class_scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        # Columns without weight need no outputs.
        outputs = self._outputs([self.estimators_[q] for q in self.used_columns_], self._check_rows(X, reset=False))
        codewords = np.zeros((len(outputs), len(self.estimators_)))
        codewords[:, self.used_columns_] = outputs
        return self._decode(codewords)

    def growth_summary(self) -> str:
        """Summarise growth in two or three sentences.

        Returns
        -------
        str
            Initial code, added columns, why growth stopped, and weights.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import LCECOCClassifier
        >>> model = LCECOCClassifier(decoding="hamming", max_iter=0).fit(*load_iris(return_X_y=True))
        >>> print(model.growth_summary())
        Started from one-vs-rest (3 columns); no column was added because max_iter rounds were made; next: 1 vs 2.
        Decoding is by HammingDecoder.
        """
        check_is_fitted(self)
        start = f"{_start_in_words(self)} ({_counted(self.history_[0].n_columns, 'column')})"
        reason = self.stop_reason_.replace("no progress for", "no progress was made for")
        return f"Started from {start}; {_growth_in_words(self)} because {reason}. {_weights_in_words(self)}."

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
            Class labels by the code of each round in `history_`; those of round `best_round_` are what `predict`
            returns.

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
        refuse_data(self, y=y, sample_weight=sample_weight)
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))


def named_init(init: Any, also: Sequence[str] = ()) -> Any:
    """Return the initial code, with a short name replaced by the full one; `also` has further names that are valid."""
    return coding_name(init, argument="init", also=also) if isinstance(init, str) else init


def _used_columns(decoder: Any, n_columns: int) -> Integers:
    """List the columns that have a weight for some class; all of them for decoders without weights."""
    used = np.zeros(n_columns, dtype=bool)
    for name in ("weights_", "tie_weights_"):
        if hasattr(decoder, name):
            used |= (getattr(decoder, name) > _NO_WEIGHT).any(axis=0)
    return np.flatnonzero(used) if used.any() else np.arange(n_columns)


# The summary of growth in words.


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _start_in_words(model: Any) -> str:
    """Name the codes that growth started from."""
    if not is_several(model.estimator):
        return " and ".join(model._initial_codes)
    names = dict.fromkeys(model.column_learners_.tolist())
    is_auto = isinstance(model.init, str) and coding_name(model.init, also=["auto"]) == "auto"
    return f"{_counted(len(names), 'learner')} with {_codes(model, [*names]) if is_auto else model._initial_codes[0]}"


def _codes(model: Any, learners: list[str]) -> str:
    """Name the initial codes of several learners."""
    is_initial = model.column_kinds_ == "initial"
    has_zeros = (model.code_matrix_ == 0).any(axis=0)
    by_pairs = [name for name in learners if has_zeros[is_initial & (model.column_learners_ == name)].any()]
    if not by_pairs:
        return "one-vs-rest"
    return f"one-vs-one ({', '.join(by_pairs)}) or one-vs-rest" if len(by_pairs) < len(learners) else "one-vs-one"


def _growth_in_words(model: Any) -> str:
    """Describe the columns that were added, and those that were dropped."""
    first, last, tried = (model.history_[number].n_columns for number in (0, model.best_round_, -1))
    if len(model.history_) == 1:
        return "no column was added"
    if model.best_round_ > 0:
        text = f"growth added {_counted(last - first, 'column')} in {_counted(model.best_round_, 'round')}"
        return text + (f", dropped {tried - last} more that did not help," if tried > last else "") + " and stopped"
    rounds = _counted(len(model.history_) - 1, "round")
    return f"growth tried {_counted(tried - first, 'column')} in {rounds}, but kept none of them, and stopped"


def _weights_in_words(model: Any) -> str:
    """Describe the weights."""
    is_logistic = getattr(model.decoder_, "scores_are_log_probabilities", False)
    shares = getattr(model, "group_shares_", None)
    if shares is None and is_logistic and is_several(model.estimator):
        shares = {name: float(share.mean()) for name, share in model.learner_shares().items()}
    if shares is None:
        return f"Decoding is by {type(model.decoder_).__name__}"
    largest_first = sorted(shares.items(), key=lambda item: -item[1])
    shown = [f"{name} {100 * share:.0f} %" for name, share in largest_first if share >= _SHOWN]
    rest = [name for name, share in largest_first if share < _SHOWN]
    listed = ", ".join(shown) + (f"; {', '.join(rest)} below 1 %" if rest else "")
    kind = "equal in each group of columns"
    if getattr(model, "weights_optimized_", True):
        kind = "logistic" if is_logistic else "optimised"
    return f"Weights are {kind}: {listed}"
