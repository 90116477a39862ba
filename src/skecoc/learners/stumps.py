"""Discrete AdaBoost over decision stumps: exact, and fast enough to train thousands of times in one fit."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from skecoc.learners.base import MarginClassifier, check_labels, check_rows, set_features
from skecoc.learners.bins import BinnedSamples, bin_samples
from skecoc.learners.codes import MANY_CELLS, FeatureCodes, Floats, code_features, read_only
from skecoc.learners.columns import Response
from skecoc.learners.folds import Keys
from skecoc.learners.stump_kernels import (
    SMALLEST_ERROR,
    TIE_TOLERANCE,
    add_votes,
    add_votes_of_groups,
    boost_groups,
    respond,
)


class StumpAdaBoostClassifier(MarginClassifier):
    """Binary classifier: discrete AdaBoost over decision stumps.

    A stump compares one feature with one threshold. Each round takes the stump of lowest weighted error `e` among all
    thresholds midway between adjacent distinct values of all features, both polarities, and the constant stump; gives
    it the weight ``alpha = 0.5 * log((1 - e) / e)``; and multiplies the weights of the samples it gets wrong by
    ``exp(alpha)``, those of the others by ``exp(-alpha)``. The result is ``F(x) = sum of alpha_t * h_t(x)``, where
    ``h_t(x)`` is +1 for the second class and -1 for the first [1]_, and the probability of the second class is ``1 / (1
    + exp(-2 F(x)))``.

    Parameters
    ----------
    n_estimators : int, default=40
        Largest number of stumps. Boosting ends earlier after a stump that gets no sample of non-zero weight wrong, and
        when no stump is better than tossing a coin (``e >= 1/2``).

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted. Positive values of `decision_function` stand for ``classes_[1]``.
    n_estimators_ : int
        Number of stumps.
    features_ : ndarray of int64 of shape (n_estimators_,)
        Feature that each stump looks at; -1 for the constant stump.
    thresholds_ : ndarray of shape (n_estimators_,)
        Threshold of each stump: values ``<= threshold`` lie on its left. Infinite for the constant stump.
    polarities_ : ndarray of int64 of shape (n_estimators_,)
        Vote of each stump's left side: +1 for ``classes_[1]``, -1 for ``classes_[0]``; its right side votes for the
        other.
    alphas_ : ndarray of shape (n_estimators_,)
        Weight of each stump.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the alphas of all stumps that look at a feature.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the features, if the ones seen in `fit` had names that are all strings.

    Notes
    -----
    **Ties.** Stumps whose weighted errors differ by no more than 1e-10 are equally good. The constant stump goes first,
    then the features in their order, and within a feature the lowest threshold. So the stumps depend
    neither on the order of the samples nor on the machine.

    **Perfect and useless stumps.** In alpha, `e` counts as at least 1e-10. If already the first round finds no stump
    better than tossing a coin, `n_estimators_` is 0 and `F` is zero everywhere; where ``F(x) == 0``, `predict` gives
    ``classes_[0]``.

    **Sample weights.** Only their ratios matter. Samples of weight zero are dropped: no threshold takes notice of them.

    **Rounding.** Alphas are rounded to single precision, so that they do not depend on the order of the samples.

    **Exactness and memory.** Every feature is coded once by the ranks of its values, in two bytes a cell, or in one if
    there are more than four million cells and no feature has more than 256 distinct values. A feature with more than
    65,536 distinct values is cut into 65,536 bins of equally many, and only thresholds between bins are tried: then,
    and only then, is the search not exact. (A code with more than 10,000 samples has 256 bins.) Features in ``float32``
    are compared with thresholds as ``float64``, without a copy. NaN is refused.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an application
           to boosting", Journal of Computer and System Sciences 55(1), 1997, pp. 119-139.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc.learners import StumpAdaBoostClassifier
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> y = np.array(["low", "low", "low", "high", "high", "low"])
    >>> model = StumpAdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.thresholds_
    array([3.5, inf, 5.5])
    >>> model.decision_function(X).round(2)
    array([ 0.76,  0.76,  0.76, -0.84, -0.84,  0.62])
    """

    _dtypes: ClassVar[list[type]] = [np.float64, np.float32]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, n_estimators: int = 40) -> None:
        self.n_estimators = n_estimators

    def prepare_rows(self, X: ArrayLike, y: ArrayLike | None = None) -> FeatureCodes:  # noqa: ARG002
        """Check and code a matrix of features once, for any number of calls to `fit_rows`."""
        return code_features(*self._prepare_features(X))

    def bin_rows(
        self, X: ArrayLike, y: NDArray[np.intp], weight: Floats | None, keys: Keys
    ) -> tuple[FeatureCodes, BinnedSamples]:
        """Check and bin a matrix of features with many rows, as `prepare_rows` would code it with all thresholds."""
        checked, names = self._prepare_features(X)
        binned = bin_samples(checked, y, weight, keys)
        bins = binned.bins
        codes = binned.codes if checked.size > MANY_CELLS else binned.codes.astype(np.uint16)
        edges = np.where(np.repeat(bins.exact, np.diff(bins.starts)), np.nan, bins.edges)
        return FeatureCodes(codes, bins.starts, bins.lower, bins.upper, names, edges), binned

    def fit_rows(
        self,
        prepared: FeatureCodes,
        rows: ArrayLike | None,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Boost stumps on some prepared rows, as ``fit(X[rows], y, sample_weight)`` would if all bins are exact."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        taken = None if rows is None else check_rows(rows, prepared.n_samples)
        n_rows = prepared.n_samples if taken is None else len(taken)
        self.classes_, labels = check_labels(y, n_rows, self)
        signed = np.where(labels == 1, 1.0, -1.0)
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, n_rows)
            signed *= weight
            if not weight.all():
                counted = np.flatnonzero(weight)
                signed = signed[counted]
                taken = counted if taken is None else taken[counted]
        signed /= np.abs(signed).sum()
        features, thresholds, polarities, alphas, _ = self._boost(prepared, taken, np.array([0, len(signed)]), signed)
        set_features(self, prepared.n_features, prepared.feature_names)
        self.features_, self.thresholds_, self.polarities_, self.alphas_ = features, thresholds, polarities, alphas
        self.n_estimators_ = len(alphas)
        return self

    def _boost(
        self, coded: FeatureCodes, rows: NDArray[np.intp] | None, bounds: NDArray[np.int64], signed: Floats
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Return features, thresholds, polarities and alphas of stumps of groups of rows, and where groups begin."""
        features, left, right, polarities, alphas, firsts = boost_groups(
            coded.codes, coded.starts, rows, bounds, signed, self.n_estimators, TIE_TOLERANCE, SMALLEST_ERROR
        )
        return features, coded.thresholds_between(features, left, right), polarities, alphas, firsts

    def fit_groups(
        self,
        prepared: FeatureCodes,
        rows: NDArray[np.intp],
        bounds: NDArray[np.int64],
        labels: NDArray[np.intp],
        sample_weight: Floats | None = None,
    ) -> list["StumpAdaBoostClassifier"]:
        """Train one clone on each group of rows, ``rows[bounds[g]:bounds[g + 1]]`` with labels 0 and 1, as `fit_rows`.

        No row has weight zero.
        """
        signed = np.where(labels == 1, 1.0, -1.0)
        if sample_weight is not None:
            signed *= sample_weight
        for first, last in pairwise(bounds):
            if sample_weight is not None:  # as `fit_rows` does, so that no sum overflows
                signed[first:last] /= np.abs(signed[first:last]).max()
            signed[first:last] /= np.abs(signed[first:last]).sum()
        features, thresholds, polarities, alphas, firsts = self._boost(prepared, rows, bounds, signed)
        learners = []
        for first, last in pairwise(firsts):
            learner = object.__new__(type(self))  # what `copy` would make, at length
            learner.__dict__.update(self.__dict__)
            set_features(learner, prepared.n_features, prepared.feature_names)
            learner.classes_ = np.array([0, 1])
            learner.features_, learner.thresholds_ = features[first:last], thresholds[first:last]
            learner.polarities_, learner.alphas_ = polarities[first:last], alphas[first:last]
            learner.n_estimators_ = int(last - first)
            learners.append(learner)
        return learners

    @staticmethod
    def margins_of_groups(
        learners: Sequence["StumpAdaBoostClassifier | None"], X: NDArray[Any], group: NDArray[np.intp]
    ) -> Floats:
        """Compute F of each row by the learner of its group; 0 where that is None."""
        F = np.zeros(len(X))
        known = [learner for learner in learners if learner is not None]
        if known:
            starts = np.zeros(len(learners) + 1, np.int64)
            np.cumsum([0 if learner is None else learner.n_estimators_ for learner in learners], out=starts[1:])
            add_votes_of_groups(read_only(X), group, *_joined_stumps(known), starts, F)
        return F

    def _margins(self, X: NDArray[Any]) -> Floats:
        """Compute F, the weighted vote of all stumps, of checked samples."""
        return _decision_functions([self], X)[:, 0]

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """Compute F after each stump.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite features.

        Yields
        ------
        ndarray of shape (n_samples,)
            F of the first stump, of the first two, and so on: `n_estimators_` arrays.
        """
        X = self._check_features(X)
        total = np.zeros(len(X))
        votes = self.alphas_ * self.polarities_
        for feature, threshold, vote in zip(self.features_, self.thresholds_, votes, strict=True):
            # The constant stump's threshold is infinite, so that any column will do, even column -1.
            total = total + np.where(X[:, feature].astype(np.float64) <= threshold, vote, -vote)
            yield total

    @staticmethod
    def outputs_together(learners: Sequence["StumpAdaBoostClassifier"], X: ArrayLike, response: Response) -> Floats:
        """Evaluate several fitted classifiers on the same samples in one pass, one column each."""
        return respond(_decision_functions(learners, learners[0]._check_features(X)), response)

    def _slope(self) -> float:
        """Give the factor from F to log-odds: probabilities are 1 / (1 + exp(-2 F))."""
        return 2.0

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the alphas: they sum to 1, or are all zero if no stump looks at a feature."""
        check_is_fitted(self)
        splits = self.features_ >= 0
        shares: Floats = np.zeros(self.n_features_in_)
        np.add.at(shares, self.features_[splits], self.alphas_[splits])
        return shares / shares.sum() if splits.any() else shares


def _decision_functions(
    learners: Sequence[StumpAdaBoostClassifier], X: NDArray[np.float64] | NDArray[np.float32]
) -> Floats:
    """Compute F of several fitted classifiers for the same checked samples, one column each."""
    starts = np.zeros(len(learners) + 1, np.int64)
    np.cumsum([learner.n_estimators_ for learner in learners], out=starts[1:])
    return add_votes(read_only(X), *_joined_stumps(learners), starts)


def _joined_stumps(
    learners: Sequence[StumpAdaBoostClassifier],
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return features, thresholds and votes of the stumps of several classifiers, one after the other."""
    return (
        np.concatenate([learner.features_ for learner in learners]),
        np.concatenate([learner.thresholds_ for learner in learners]),
        np.concatenate([learner.alphas_ * learner.polarities_ for learner in learners]),
    )


def _check_sample_weight(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Check weights; return them divided by the largest, so that no sum of them overflows."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weight.shape}")
    if not np.isfinite(weight).all() or weight.min() < 0.0:
        raise ValueError("sample_weight must hold finite numbers that are not negative")
    largest = weight.max()
    if largest == 0.0:
        raise ValueError("sample_weight must not be zero for every row")
    return weight / largest
