"""Discrete AdaBoost over decision stumps, fast enough to be trained for thousands of columns."""

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import accumulate, pairwise
from numbers import Integral
from operator import ne
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.utils import Tags, _safe_indexing, check_array, gen_batches
from sklearn.utils._missing import is_pandas_na
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from skecoc.data.bins import BinnedSamples, bin_samples
from skecoc.data.codes import MANY_CELLS, FeatureCodes, Floats, Names, code_features, read_only
from skecoc.data.folds import Keys
from skecoc.learners.binary import (
    MarginClassifier,
    check_labels,
    check_rows,
    set_features,
)
from skecoc.learners.columns import Response
from skecoc.learners.sparse_codes import SparseCodes, boost_sparse, code_sparse
from skecoc.learners.stump_kernels import add_votes, add_votes_of_groups, boost_groups, respond

#: Of each column, its categories in order, or None for numbers.
Categories = list[NDArray[Any] | None]

#: Categories that a column may have, as in scikit-learn's gradient boosting.
MOST_CATEGORIES = 255


class StumpAdaBoostClassifier(MarginClassifier):
    """Binary classifier by discrete AdaBoost over decision stumps.

    A stump compares one feature with one threshold. Each round selects the stump of lowest weighted error `e` among all
    thresholds midway between adjacent distinct values of all features, both polarities, and the constant stump. The
    stump gets the weight ``alpha = 0.5 * log((1 - e) / e)``. The weights of misclassified samples are multiplied by
    ``exp(alpha)``, those of the other samples by ``exp(-alpha)``. The decision function is ``F(x) = sum of alpha_t *
    h_t(x)``, where ``h_t(x)`` is +1 for the second class and -1 for the first [1]_, and the probability of the second
    class is ``1 / (1 + exp(-2 F(x)))``.

    Parameters
    ----------
    n_estimators : int, default=40
        Maximum number of stumps. Boosting stops earlier after a stump without errors (on samples of non-zero weight),
        and if no stump is better than chance (``e >= 1/2``).
    categorical_features : {"from_dtype"} or None, default="from_dtype"
        Which columns of a frame are categorical. "from_dtype" uses columns of dtype category (pandas), Categorical or
        Enum (polars), with at most 255 categories each; None means no columns, and all columns must be numeric.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted. Positive values of `decision_function` mean ``classes_[1]``.
    n_classes_ : int
        Number of classes: 2.
    n_estimators_ : int
        Number of stumps.
    features_ : ndarray of int64 of shape (n_estimators_,)
        Feature that each stump uses; -1 for the constant stump. With `categories_`, a categorical column counts as one
        feature per category.
    categories_ : list of length n_features_in_
        The sorted categories of each column, None for a numeric column; only if fitted to a frame with categorical
        columns.
    thresholds_ : ndarray of shape (n_estimators_,)
        Threshold of each stump: values ``<= threshold`` lie on its left. Infinite for the constant stump, and for a
        stump that separates missing values from all others.
    missing_left_ : ndarray of bool of shape (n_estimators_,)
        Whether missing values lie on the left of each stump.
    polarities_ : ndarray of int64 of shape (n_estimators_,)
        Vote of each stump's left side: +1 for ``classes_[1]``, -1 for ``classes_[0]``; its right side votes for the
        other.
    alphas_ : ndarray of shape (n_estimators_,)
        Weight of each stump.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the sum of the alphas of all stumps that use a feature.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the features; only if all feature names of `X` are strings.

    Notes
    -----
    **Ties.** Stumps whose weighted errors differ by at most 1e-10 are tied. The constant stump is preferred, then the
    first feature, then missing values on the right, then the lowest threshold. Stumps therefore depend neither on the
    order of the samples nor on the machine.

    **Missing values.** Each threshold is tried with missing values (NaN) on its left and on its right, and so is the
    stump that separates missing values from all others. If a feature has no missing values in training, missing values
    of new samples go to the side with the larger weight of training samples, or to the right if both weights are equal.

    **Perfect and useless stumps.** For alpha, `e` is at least 1e-10. If no stump of the first round is better than
    chance, `n_estimators_` is 0 and `F` is zero everywhere. If ``F(x) == 0``, `predict` returns ``classes_[0]``.

    **Sample weights.** Only their ratios matter. Samples of weight zero are dropped, so they do not affect thresholds.
    The effect of other weights decreases from round to round, so boosting separates even classes of very low weight.
    Output-code classifiers do not train stumps if one side of a column has almost no weight; they always predict the
    other side.

    **Rounding.** Alphas are rounded to single precision, so that they do not depend on the order of the samples.

    **Categories.** Categorical columns are one-hot encoded, so a stump separates the samples of one category from all
    others. Missing categories, and categories that were not seen in `fit`, are missing values.

    **Sparse matrices** are not converted to dense arrays: the rank of each non-zero value is stored together with its
    feature in eight bytes, and zero is treated like any other value. The stumps are the same as for a dense array,
    unless the samples are binned.

    **Exactness and memory.** Every feature is encoded once by the ranks of its values, in two bytes per value, or in
    one byte if there are more than four million values and no feature has more than 256 distinct ones. A feature with
    more than 65,536 distinct values is divided into 65,536 bins of equal size, and only thresholds between bins are
    tried; otherwise the search is exact. (Output-code classifiers use 256 bins for more than 10,000 samples.) Features
    in ``float32`` are compared with thresholds as ``float64``, without a copy.

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

    Missing values are supported:

    >>> X[:2] = np.nan
    >>> model = StumpAdaBoostClassifier(n_estimators=1).fit(X, ["low", "low", "high", "high", "high", "high"])
    >>> model.thresholds_, model.missing_left_, model.predict([[np.nan], [7.0]])
    (array([inf]), array([False]), array(['low', 'high'], dtype='<U4'))
    """

    _dtypes: ClassVar[list[type]] = [np.float64, np.float32]
    _sparse_formats: ClassVar[list[str]] = ["csr", "csc"]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": [StrOptions({"from_dtype"}), None],
    }

    def __init__(self, n_estimators: int = 40, *, categorical_features: str | None = "from_dtype") -> None:
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features

    def _prepare_rows(self, X: ArrayLike, y: ArrayLike | None = None) -> FeatureCodes | SparseCodes:  # noqa: ARG002
        """Check and code a matrix of features once, for any number of calls to `_fit_rows`."""
        checked, names, categories = self._prepare_columns(X)
        return code_sparse(checked, names) if issparse(checked) else code_features(checked, names, categories)

    def _prepare_columns(self, X: Any) -> tuple[NDArray[Any], Names | None, Categories | None]:
        """Check a matrix of features without changing the learner; return it, and names and categories of columns."""
        categories = None if self.categorical_features is None else learn_categories(X)
        if categories is None:
            return *self._prepare_features(X), None
        scratch = copy(self)  # takes the attributes that validation sets
        validate_data(scratch, X, skip_check_array=True)
        return (
            expand_categories(X, categories, **self._checks()),
            getattr(scratch, "feature_names_in_", None),
            categories,
        )

    def _check_features(self, X: Any) -> NDArray[Any]:
        """Check samples to predict; return their features, of which a category has one."""
        categories: Categories | None = getattr(self, "categories_", None)
        if categories is None:
            return super()._check_features(X)
        if not hasattr(X, "columns"):
            raise ValueError("X must be a frame: this classifier was fitted to a frame with categorical columns")
        validate_data(self, X, reset=False, skip_check_array=True)
        return expand_categories(X, categories, **self._checks())

    def _bin_rows(
        self, X: ArrayLike, y: NDArray[np.intp], weight: Floats | None, keys: Keys
    ) -> tuple[FeatureCodes, BinnedSamples]:
        """Check and bin a matrix of features with many rows, as `_prepare_rows` would code it with all thresholds."""
        checked, names, categories = self._prepare_columns(X)
        binned = bin_samples(checked, y, weight, keys)
        bins = binned.bins
        codes = binned.codes if checked.size > MANY_CELLS else binned.codes.astype(np.uint16)
        edges = np.where(np.repeat(bins.exact, np.diff(bins.starts)), np.nan, bins.edges)
        return FeatureCodes(codes, bins.starts, bins.lower, bins.upper, names, categories, edges), binned

    def _fit_rows(
        self,
        prepared: FeatureCodes | SparseCodes,
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
        stumps, _ = self._boost(prepared, taken, np.array([0, len(signed)]), signed)
        self._set_columns(prepared)
        self.features_, self.thresholds_, self.missing_left_, self.polarities_, self.alphas_ = stumps
        self.n_estimators_ = len(self.alphas_)
        return self

    def _set_columns(self, prepared: FeatureCodes | SparseCodes) -> None:
        """Set the attributes that describe the columns of X, or delete those of an earlier fit."""
        set_features(self, prepared.n_features, prepared.feature_names)
        self.__dict__.pop("categories_", None)
        if isinstance(prepared, FeatureCodes) and prepared.categories is not None:
            self.categories_ = prepared.categories

    def _boost(
        self,
        coded: FeatureCodes | SparseCodes,
        rows: NDArray[np.intp] | None,
        bounds: NDArray[np.int64],
        signed: Floats,
    ) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
        """Boost stumps on groups of rows; return their parameters, and where those of each group begin.

        Parameters are features, thresholds, sides of missing values, polarities and alphas.
        """
        if isinstance(coded, SparseCodes):
            features, left, right, *further = boost_sparse(coded, rows, signed, self.n_estimators)
            thresholds = coded.bins.thresholds_between(features, left, right)
            return (features, thresholds, *further), bounds
        features, left, right, missing_left, polarities, alphas, firsts = boost_groups(
            coded.codes, coded.starts, coded.missing, rows, bounds, signed, self.n_estimators
        )
        thresholds = coded.thresholds_between(features, left, right)
        return (features, thresholds, missing_left, polarities, alphas), firsts

    def _fit_groups(
        self,
        prepared: FeatureCodes,
        rows: NDArray[np.intp],
        bounds: NDArray[np.int64],
        labels: NDArray[np.intp],
        sample_weight: Floats | None = None,
    ) -> list["StumpAdaBoostClassifier"]:
        """Train one clone on each group of rows, ``rows[bounds[g]:bounds[g + 1]]`` with labels 0 and 1, as `_fit_rows`.

        No row has weight zero.
        """
        signed = np.where(labels == 1, 1.0, -1.0)
        if sample_weight is not None:
            signed *= sample_weight
        for first, last in pairwise(bounds):
            if sample_weight is not None:  # as `_fit_rows` does, so that no sum overflows
                signed[first:last] /= np.abs(signed[first:last]).max()
            signed[first:last] /= np.abs(signed[first:last]).sum()
        (features, thresholds, missing_left, polarities, alphas), firsts = self._boost(prepared, rows, bounds, signed)
        learners = []
        untrained = copy(self)
        untrained._set_columns(prepared)
        for first, last in pairwise(firsts):
            learner = object.__new__(type(self))  # as `copy` does, in less time
            learner.__dict__.update(untrained.__dict__)
            learner.classes_ = np.array([0, 1])
            learner.features_, learner.thresholds_ = features[first:last], thresholds[first:last]
            learner.missing_left_ = missing_left[first:last]
            learner.polarities_, learner.alphas_ = polarities[first:last], alphas[first:last]
            learner.n_estimators_ = int(last - first)
            learners.append(learner)
        return learners

    @staticmethod
    def _margins_of_groups(
        learners: Sequence["StumpAdaBoostClassifier | None"], X: NDArray[Any], group: NDArray[np.intp]
    ) -> Floats:
        """Compute F of each row by the learner of its group; 0 where that is None."""
        F = np.zeros(len(X))
        if learners.count(None) < len(learners):
            add_votes_of_groups(read_only(X), group, *_joined_stumps(learners), F)
        return F

    def _margins(self, X: ArrayLike) -> Floats:
        return self._outputs_together([self], X, "decision_function")[:, 0]

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """Compute F after each stump.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; NaN is a missing value.

        Yields
        ------
        ndarray of shape (n_samples,)
            F of the first stump, of the first two, and so on: `n_estimators_` arrays.
        """
        rows: Any = self._check_features(X)
        total = np.zeros(rows.shape[0])
        votes = self.alphas_ * self.polarities_
        stumps = zip(self.features_, self.thresholds_, self.missing_left_, votes, strict=True)
        for feature, threshold, missing_left, vote in stumps:
            # The constant stump's threshold is infinite, so that any column will do, even column -1.
            column = rows[:, [max(feature, 0)]].toarray()[:, 0] if issparse(rows) else rows[:, feature]
            values = column.astype(np.float64)
            total = total + np.where((values <= threshold) | (missing_left & np.isnan(values)), vote, -vote)
            yield total

    @staticmethod
    def _outputs_together(learners: Sequence["StumpAdaBoostClassifier"], X: ArrayLike, response: Response) -> Floats:
        """Evaluate several fitted classifiers on the same samples in one pass, one column each."""
        checked: Any = learners[0]._check_features(X)
        features, thresholds, missing_left, votes, starts = _joined_stumps(learners)
        stumps = thresholds, missing_left, votes, starts
        if not issparse(checked):
            return respond(add_votes(read_only(checked), features, *stumps), response)
        used, places = np.unique(np.append(np.maximum(features, 0), 0), return_inverse=True)
        some = checked.tocsc()[:, used].tocsr()
        blocks = (some[rows].toarray() for rows in gen_batches(some.shape[0], max(1, MANY_CELLS // len(used))))
        F = np.concatenate([add_votes(read_only(block), places[:-1], *stumps) for block in blocks])
        return respond(F, response)

    def _takes_missing(self) -> bool:
        """Tell whether NaN stands for a missing value: always."""
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _slope(self) -> float:
        return 2.0

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the alphas; they sum to 1, or are all zero if no stump uses a feature."""
        check_is_fitted(self)
        splits = self.features_ >= 0
        shares: Floats = np.zeros(self.n_features_in_)
        widths = widths_of(self.categories_) if hasattr(self, "categories_") else [1] * self.n_features_in_
        columns = np.repeat(np.arange(self.n_features_in_), widths)
        np.add.at(shares, columns[self.features_[splits]], self.alphas_[splits])
        return shares / shares.sum() if splits.any() else shares


def _joined_stumps(
    learners: Sequence[StumpAdaBoostClassifier | None],
) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_], Floats, NDArray[np.int64]]:
    """Return features, thresholds, sides of missing values and votes of all stumps, and where each learner's begin.

    None has no stumps.
    """
    features, thresholds, missing_left, votes, sizes = [], [], [], [], [0]
    for learner in learners:
        if learner is None:
            sizes.append(0)
        else:
            features.append(learner.features_)
            thresholds.append(learner.thresholds_)
            missing_left.append(learner.missing_left_)
            votes.append(learner.alphas_ * learner.polarities_)
            sizes.append(learner.n_estimators_)
    return (
        np.concatenate(features),
        np.concatenate(thresholds),
        np.concatenate(missing_left),
        np.concatenate(votes),
        np.cumsum(sizes, dtype=np.int64),
    )


def _check_sample_weight(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Check weights; return them divided by the largest one, so that no sum overflows."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weight.shape}")
    if not np.isfinite(weight).all() or weight.min() < 0.0:
        raise ValueError("sample_weight must hold finite numbers that are not negative")
    largest = weight.max()
    if largest == 0.0:
        raise ValueError("sample_weight must not be zero for every row")
    return weight / largest


def learn_categories(X: Any) -> Categories | None:
    """Return the categories that occur in the columns of a frame; None if no column holds categories.

    These are columns of pandas's type category, and of the polars types Categorical and Enum.
    """
    if not hasattr(X, "columns"):
        return None
    categories: Categories = []
    for j, name in enumerate(X.columns):
        column = _safe_indexing(X, j, axis=1)
        is_categorical = str(column.dtype).startswith(("category", "Categorical", "Enum"))
        categories.append(_categories_of(column, str(name)) if is_categorical else None)
    return None if all(known is None for known in categories) else categories


def _categories_of(column: Any, name: str) -> NDArray[Any]:
    # NaN and NaT, unlike None and pandas' NA, are known by not being equal to themselves.
    found = {
        value: None
        for value in column.to_list()
        if not (value is None or is_pandas_na(value) or bool(ne(value, value)))
    }
    if len(found) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} of X has {len(found)} categories, more than {MOST_CATEGORIES}; "
            "encode it in a pipeline, for example by scikit-learn's TargetEncoder"
        )
    try:
        values = sorted(found, key=lambda value: (str(type(value)), value))
    except TypeError:  # such as tuples of numbers and strings
        values = sorted(found, key=lambda value: (str(type(value)), repr(value)))
    if {type(value) for value in values} in ({str}, {int}, {float}, {bool}):
        plain = np.array(values)
        if plain.tolist() == values:  # strings lose zeros at their end, and long integers may become floats
            return plain
    objects = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # all at once, tuples would be taken for rows
        objects[place] = value
    return objects


def widths_of(categories: Sequence[NDArray[Any] | None]) -> list[int]:
    """Return how many features each column stands for: one, or one for each of its categories."""
    return [1 if known is None else len(known) for known in categories]


def expand_categories(X: Any, categories: Categories, **checks: Any) -> Floats:
    """Return the features of a frame: its numbers, and for each category 1 or 0.

    All features of a column are missing where its category is missing or unknown. `checks` are those of `check_array`
    for the columns of numbers.
    """
    *firsts, width = accumulate(widths_of(categories), initial=0)
    if width == 0:
        raise ValueError("X must have at least one column with a value")
    expanded = np.full((X.shape[0], width), np.nan)
    numbers = [j for j, known in enumerate(categories) if known is None]
    if numbers:
        values = check_array(_safe_indexing(X, numbers, axis=1), **{**checks, "dtype": np.float64})
        expanded[:, np.array(firsts)[numbers]] = values
    for j, (first, known) in enumerate(zip(firsts, categories, strict=True)):
        if known is not None:
            index = {value: number for number, value in enumerate(known.tolist())}
            column = _safe_indexing(X, j, axis=1).to_list()
            codes = np.array([index.get(value, -1) for value in column])
            rows = np.flatnonzero(codes >= 0)
            block = expanded[:, first : first + len(known)]
            block[rows] = 0.0
            block[rows, codes[rows]] = 1.0
    return expanded
