"""What binary learners share: checks, the base of the estimators, and features coded as small integers.

A decision stump only compares a value with a cut, so ranks among the distinct values of each feature are all that
boosting needs. They take one or two bytes a cell, are computed once, and serve every subset of the rows.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from skecoc.support.compiling import inlined, kernel

#: Bins of one feature that a 16-bit code can tell apart.
MAX_BINS = 65_536

#: Distinct values that an 8-bit code can tell apart; up to here a hash table finds them without a sort.
FEW_VALUES = 256

#: Codes of more cells than this have 8 bits where these do, to save memory. They are hardly faster, and kernels have to
#: be compiled for either width.
MANY_CELLS = 2**22

_HASH_BITS = 10
_HASH_SLOTS = 1 << _HASH_BITS
_HASH_SHIFT = np.uint64(64 - _HASH_BITS)
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, made odd

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Names = NDArray[np.object_]


def set_features(estimator: BaseEstimator, n_features: int, names: Names | None) -> None:
    """Set a learner's `n_features_in_` and `feature_names_in_`, or delete the names of an earlier fit."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_rows(rows: ArrayLike, n_samples: int) -> Integers:
    """Check that `rows` holds row numbers: a mask would be taken for the rows 0 and 1."""
    checked = np.asarray(rows)
    if checked.ndim != 1 or len(checked) == 0 or checked.dtype.kind not in "iu":
        raise ValueError(
            "rows must be None or a one-dimensional array of at least one integer, "
            f"got shape {checked.shape} and dtype {checked.dtype}"
        )
    if checked.min() < 0 or checked.max() >= n_samples:
        raise ValueError(f"rows must hold integers in [0, {n_samples})")
    return np.ascontiguousarray(checked, dtype=np.intp)


def check_labels(y: ArrayLike | None, n_rows: int, estimator: BaseEstimator) -> tuple[NDArray[Any], Integers]:
    """Check that labels are of two classes; return these, sorted, and the number 0 or 1 of each label."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(y, np.ndarray) and y.shape == (n_rows,) and y.dtype.kind in "iu" and n_rows:
        # What an ensemble passes, thousands of times: the full check would take as long as a small fit.
        first, last = y.min(), y.max()
        if last - first == 1:
            return np.array([first, last]), (y == last).astype(np.intp)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}. "
            f"y has {len(classes)} classes; wrap {type(estimator).__name__} in skecoc.ECOCClassifier for these."
        )
    if len(classes) < 2:
        raise ValueError(f"y must hold 2 classes, got {len(classes)} class")
    if len(numbers) != n_rows:
        raise ValueError(f"y must have one label per row: got {len(numbers)} labels for {n_rows} rows")
    return classes, numbers


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Base of binary learners that are fitted by `prepare_rows` and `fit_rows`, and predict by `_votes`."""

    _dtypes: ClassVar[list[type]] = [np.float64]  # that features may have

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite features.
        y : array-like of shape (n_samples,)
            Labels, of exactly two kinds.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples; None means 1 each.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        return self.fit_rows(self.prepare_rows(X), None, y, sample_weight)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        is_second = self._votes(X) > 0.0
        return self.classes_[is_second.astype(np.intp)]

    def _prepare_features(self, X: Any) -> tuple[NDArray[Any], Names | None]:
        """Check a matrix of features without changing the learner; return it and its features' names."""
        scratch = copy(self)  # takes the attributes that validation sets
        checked = validate_data(scratch, X, dtype=self._dtypes)
        return checked, getattr(scratch, "feature_names_in_", None)

    def _check_features(self, X: Any) -> NDArray[Any]:
        """Check the features of samples to predict, unless an ensemble has done so, as it says by `assume_finite`."""
        check_is_fitted(self)
        is_checked = (
            type(X) is np.ndarray
            and X.dtype in self._dtypes
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")  # samples without names call for a warning
            and get_config()["assume_finite"]
        )
        return X if is_checked else validate_data(self, X, dtype=self._dtypes, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class MarginClassifier(BinaryClassifier):
    """Base of binary learners whose labels and probabilities follow from `decision_function`."""

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the margin of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins, positive for ``classes_[1]``.
        """
        return self._margins(self._check_features(X))

    _votes = decision_function

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute the probability of each class, a logistic function of `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of `classes_`.
        """
        log_odds = self._slope() * self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class FeatureCodes:
    """The integer codes of a matrix of features, feature by feature; what `prepare_rows` of boosted stumps returns."""

    codes: Codes  # (n_features, n_samples): bin of each value; every bin of a feature holds at least one row
    starts: NDArray[np.int64]  # feature f has the bins starts[f]:starts[f + 1] of `lower` and `upper`
    lower: Floats  # smallest value of each bin
    upper: Floats  # largest value of each bin: `lower` itself where every bin is a single value
    feature_names: Names | None = None

    def __post_init__(self) -> None:
        # Compiled code is specialised for read-only arrays; if all are, one version serves memory maps as well.
        for array in (self.codes, self.starts, self.lower, self.upper):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type["FeatureCodes"], tuple[Any, ...]]:
        return FeatureCodes, (self.codes, self.starts, self.lower, self.upper, self.feature_names)

    def __sizeof__(self) -> int:
        # A cluster sends objects that know they are large, and can be referred to weakly, only once.
        return self.codes.nbytes + self.lower.nbytes + self.upper.nbytes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.codes.shape[0]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.codes.shape[1]

    @property
    def exact(self) -> bool:
        """Whether every bin is a single value, so that no threshold between two values is lost."""
        return self.upper is self.lower

    def thresholds_between(
        self, features: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> Floats:
        """Return the thresholds between pairs of bins, given by their places; where the feature is -1, infinity.

        Without a feature the places mean nothing, and may be any numbers.
        """
        is_cut = features >= 0
        left, right = np.where(is_cut, left, 0), np.where(is_cut, right, 0)
        return np.where(is_cut, midway(self.upper[left], self.lower[right]), np.inf)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to: one compiled version then serves memory maps as well."""
    view = array.view()
    view.flags.writeable = False
    return view


def midway(left: Any, right: Any) -> Floats:
    """Return the middles of pairs of numbers, such that values ``<=`` a middle lie on the left."""
    middle = left / 2 + right / 2  # left + right might overflow
    # Between neighbouring numbers the middle may round to the right one, which it would then fail to part.
    return np.where((left <= middle) & (middle < right), middle, left)


def code_features(X: NDArray[np.float64] | NDArray[np.float32], feature_names: Names | None = None) -> FeatureCodes:
    """Replace every value by its rank among the distinct values of its feature, or by one of 65,536 equally large bins.

    >>> code_features(np.array([[0.5, 7.0], [2.5, 7.0], [0.5, 9.0]])).codes.tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    n_samples, n_features = X.shape
    codes: Codes = np.empty((n_features, n_samples), np.uint16)
    if X.size > MANY_CELLS:
        codes = np.empty((n_features, n_samples), np.uint8)
    lowers, uppers = [], []
    for f in range(n_features):
        # Adding zero turns -0.0 into 0.0: they are equal, but not in their bits, which are hashed.
        column = np.add(X[:, f], 0.0, dtype=np.float64)
        ends = rank_few_values(column, codes[f])
        if ends is None:
            if codes.dtype == np.uint8:
                codes = codes.astype(np.uint16)
            ends = _rank_by_sorting(column, codes[f])
        lowers.append(ends[0])
        uppers.append(ends[1])
    starts = np.zeros(n_features + 1, np.int64)
    np.cumsum([len(lower) for lower in lowers], out=starts[1:])
    all_lower = np.concatenate(lowers)
    exact = all(low is high for low, high in zip(lowers, uppers, strict=True))
    all_upper = all_lower if exact else np.concatenate(uppers)
    return FeatureCodes(codes, starts, all_lower, all_upper, feature_names)


def rank_few_values(column: Floats, codes: Codes) -> tuple[Floats, Floats] | None:
    """Write the codes of a feature with few values and return its values, twice; None if it has too many."""
    values = np.empty(FEW_VALUES)
    slots = np.full(_HASH_SLOTS, -1, np.int16)
    n_values = _number_values(column, column.view(np.uint64), slots, values, codes)
    if n_values < 0:
        return None
    order = np.argsort(values[:n_values])
    ranks = np.empty(n_values, codes.dtype)
    ranks[order] = np.arange(n_values)
    _translate(codes, ranks)
    lower = values[order]
    return lower, lower


def _rank_by_sorting(column: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Write the codes of a feature with many values; return the smallest and largest value of each bin."""
    order = np.argsort(column)
    in_order = column[order]
    n_values = 1 + int(np.count_nonzero(in_order[1:] != in_order[:-1]))
    n_bins = min(n_values, MAX_BINS)
    lower = np.empty(n_bins)
    upper = np.empty(n_bins) if n_values > n_bins else lower
    _code_sorted(in_order, order, n_values, codes, lower, upper)
    return lower, upper


@kernel
def _number_values(
    column: Floats, bits: NDArray[np.uint64], slots: NDArray[np.int16], values: Floats, codes: Codes
) -> int:
    """Give the distinct values of a feature numbers as they come; return how many, or -1 if too many for `values`.

    `slots` is an open hash table of these numbers, -1 where empty, and `bits` what is hashed.
    """
    n_values = 0
    for i in range(column.size):
        slot = (bits[i] * _HASH_FACTOR) >> _HASH_SHIFT
        while slots[slot] >= 0 and values[slots[slot]] != column[i]:
            slot = (slot + np.uint64(1)) % np.uint64(_HASH_SLOTS)
        if slots[slot] < 0:
            if n_values == values.size:
                return -1
            values[n_values] = column[i]
            slots[slot] = n_values
            n_values += 1
        codes[i] = slots[slot]
    return n_values


@kernel
def _translate(codes: Codes, new_codes: Codes) -> None:
    """Replace every code by what a table has for it."""
    for i in range(codes.size):
        codes[i] = new_codes[codes[i]]


@kernel
def _code_sorted(
    in_order: Floats, order: NDArray[np.intp], n_values: int, codes: Codes, lower: Floats, upper: Floats
) -> None:
    """Write the codes of a feature and the ends of its bins, given its values in order and where they come from.

    Bins, ``rank * n_bins // n_values``, are counted up, which is faster than dividing.
    """
    n_bins = lower.size
    this_bin = 0
    remainder = 0
    lower[0] = in_order[0]
    for i in range(order.size):
        if i > 0 and in_order[i] != in_order[i - 1]:
            remainder += n_bins
            if remainder >= n_values:
                remainder -= n_values
                this_bin += 1
                lower[this_bin] = in_order[i]
        upper[this_bin] = in_order[i]
        codes[order[i]] = this_bin


@inlined
def take_rows(
    codes: Codes,
    starts: NDArray[np.int64],
    rows: NDArray[np.intp],
    words: NDArray[np.uint64],
    marks: NDArray[np.uint8],
    ranks: Codes,
    new_codes: Codes,
    kept: NDArray[np.int64],
    new_starts: NDArray[np.int64],
) -> None:
    """Gather the codes of some rows and rank them anew among the bins that occur there, found by marking.

    `words` are the same marks, read eight at a time: few rows of a feature with very many bins then cost little more
    than the rows. All marks are zero before and after. `ranks` has room for as many numbers.
    """
    n_kept = 0
    new_starts[0] = 0
    for f in range(codes.shape[0]):
        for j in range(rows.size):
            marks[codes[f, rows[j]]] = 1
        for word in range((starts[f + 1] - starts[f] + 7) // 8):
            if words[word]:
                for code in range(8 * word, 8 * word + 8):
                    if marks[code]:
                        ranks[code] = n_kept - new_starts[f]
                        kept[n_kept] = starts[f] + code
                        n_kept += 1
                words[word] = 0
        for j in range(rows.size):
            new_codes[f, j] = ranks[codes[f, rows[j]]]
        new_starts[f + 1] = n_kept
