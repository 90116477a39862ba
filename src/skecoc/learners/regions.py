"""The clustering-based learner: divide the feature space into regions, with one learner per mixed region."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from sys import getsizeof
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter, validate_data

from skecoc.data.codes import Floats, Integers, Names, round_bits, rounded
from skecoc.learners.binary import (
    BinaryClassifier,
    check_labels,
    imputed,
    may_take_missing,
    numbers_of,
    set_features,
    without_empty,
)
from skecoc.learners.columns import (
    Response,
    SeededClones,
    evaluate_columns,
    seeded_clone,
    shares_rows,
    takes_weights,
    weight_params,
)
from skecoc.learners.stump_kernels import respond
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.support.compiling import inlined, kernel

#: Steps of the k-means: few, since it is to be weak.
MAX_ITER = 4


@dataclass(frozen=True)
class _Regions:
    """Rows that several region learners share, and what the learner within regions has prepared, if it shares rows."""

    X: Any  # an array, or the frame that was given
    points: Floats  # the rows as clusterings see them: numbers, NaN where missing
    feature_names: Names | None
    inner: Any
    clones: SeededClones
    start: Floats | None = None  # weights of the rows that clusterings start from; None: all rows, by their own weights

    def __sizeof__(self) -> int:
        return self.points.nbytes + getsizeof(self.inner)  # for clusters, which send what is large only once


class RegionClassifier(MetaEstimatorMixin, BinaryClassifier):
    """Binary classifier that clusters the samples and trains one learner per region with both classes.

    This is the heterogeneous clustering-based learner of the WOLC-ECOC paper (Algorithm 1 and Figure 4). Samples are
    clustered without their labels. In a region with samples of both classes, a clone of `estimator` is trained; in a
    region with samples of one class, that class is predicted. If a region has too few samples for the estimator, such
    as four samples for five nearest neighbours, a clone that is trained on all samples is used. A new sample is
    predicted by the region with the nearest centre.

    Simple decision boundaries in each region combine to a complex one, so the classifier can separate classes that a
    single clone cannot. The clustering is weak on purpose (k-means with one random start and few steps), so that
    different seeds give diverse learners.

    Missing values and frames are passed to the learners unchanged. For clustering, missing values are replaced by the
    mean of the feature; the nearest centre of a new sample is found with the features that are not missing. Non-numeric
    columns of a frame are ignored in distances.

    Parameters
    ----------
    estimator : classifier, default=None
        The learner of regions with both classes. None means ``StumpAdaBoostClassifier(n_estimators=40)``.
    n_regions : int, default=2
        Number of clusters of k-means; not used if `clusterer` is given.
    clusterer : clusterer, default=None
        A scikit-learn clusterer to use instead of k-means. The centres are the means of its clusters.
    random_state : int, RandomState instance or None, default=None
        Seeds the clustering and every ``random_state`` of the learner and the clusterer that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels.
    n_classes_ : int
        Number of classes: 2.
    centres_ : ndarray of shape (n_regions_, n_numeric_features)
        Centres of the regions with at least one training sample, over the numeric features.
    n_regions_ : int
        Number of these regions.
    estimators_ : list of length n_regions_
        The learner of each region; None for regions with a single class.
    region_margins_ : ndarray of shape (n_regions_,)
        Margin of regions with a single class, half the log-odds, positive for ``classes_[1]``; 0 for other regions.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all feature names of `X` are strings.

    Notes
    -----
    Distances are Euclidean, so features should have comparable scales. A region with a single class of weight w
    predicts it with probability (w + 1) / (w + 2), so a region with few samples is less certain.

    References
    ----------
    .. [1] A. Rahman and B. Verma, "Novel layered clustering-based approach for generating ensemble of classifiers",
       IEEE Transactions on Neural Networks 22(5), 2011.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skecoc.learners import RegionClassifier
    >>> X = [[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]  # alternating classes, three clusters
    >>> y = ["a", "b", "a", "b", "a", "b"]
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> stump.fit(X, y).score(X, y) < RegionClassifier(stump, n_regions=3, random_state=0).fit(X, y).score(X, y)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_regions": [Interval(Integral, 2, None, closed="left")],
        "clusterer": [HasMethods("fit_predict"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_regions: int = 2,
        clusterer: BaseEstimator | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_regions = n_regions
        self.clusterer = clusterer
        self.random_state = random_state

    def _prepare_rows(
        self, X: Any, y: ArrayLike | None = None, *, inner: Any = None, start: Floats | None = None
    ) -> Any:
        """Check rows once for any number of `_fit_rows`.

        `inner`: the rows as the inner learner has prepared them; `start`: weights of rows that clusterings start from.
        """
        points, names = self._prepare_features(X)
        given = X if hasattr(X, "columns") else points
        if inner is None and shares_rows(self._learner()):
            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            inner = seeded_clone(self._learner(), seed)._prepare_rows(given, y)
        return _Regions(given, points, names, inner, SeededClones(self._learner()), start)

    def _prepare_features(self, X: Any) -> tuple[Floats, Names | None]:
        if not hasattr(X, "columns"):
            return super()._prepare_features(X)
        scratch = copy(self)  # takes the attributes that validation sets
        validate_data(scratch, X, skip_check_array=True)
        return self._numbers(X), getattr(scratch, "feature_names_in_", None)

    def _check_features(self, X: Any) -> Floats:
        """Check samples to predict; return their numbers."""
        if not hasattr(X, "columns"):
            return super()._check_features(X)
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._numbers(X)

    def _numbers(self, X: Any) -> Floats:
        finite = self._checks()["ensure_all_finite"]
        return numbers_of(X, ensure_all_finite=finite, estimator=self, input_name="X")

    def _takes_missing(self) -> bool:
        """Tell whether NaN stands for a missing value, as it does for the learner of a region."""
        learner = self._learner()
        # Its own method is faster than the tags.
        return learner._takes_missing() if isinstance(learner, BinaryClassifier) else may_take_missing(learner)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._learner()).input_tags.allow_nan
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def _fit_rows(
        self, prepared: Any, rows: Integers | None, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Cluster some prepared rows and train the regions' learners, as ``fit(X[rows], y, sample_weight)`` would."""
        X = prepared.points if rows is None else prepared.points[rows]
        rows = np.arange(len(X)) if rows is None else rows
        self.classes_, labels = check_labels(y, len(X), self)
        weight = np.ones(len(X))
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        set_features(self, X.shape[1], prepared.feature_names)
        if sample_weight is not None and not takes_weights(self._learner()):
            raise ValueError(f"sample_weight was given, but {type(self._learner()).__name__} does not take it")
        random_state = check_random_state(self.random_state)
        used = weight > 0
        start = None if prepared.start is None else prepared.start[rows][used]
        known, mass = imputed(X[used], weight[used]), weight[used]
        if self.clusterer is None:
            centres = weak_kmeans(known, self.n_regions, random_state, weight=mass, start=start)
        else:
            centres = self._centres_of_clusterer(known, mass, random_state)
        region = nearest_centre(X, centres)
        rows_used = np.flatnonzero(used)
        order = rows_used[np.argsort(region[rows_used], kind="stable")]
        starts = np.flatnonzero(np.diff(region[order], prepend=-1))
        members = np.split(order, starts[1:])
        self.centres_ = centres[region[order[starts]]]
        self.n_regions_ = len(starts)
        n_positive = np.add.reduceat(labels[order], starts)
        sizes = np.diff(starts, append=len(order))
        is_pure = (n_positive == 0) | (n_positive == sizes)
        remembered = rounded(0.5 * np.log1p(np.add.reduceat(weight[order], starts)))
        self.region_margins_ = np.where(is_pure, np.where(n_positive > 0, remembered, -remembered), 0.0)
        self.estimators_ = [None] * len(starts)
        mixed = np.flatnonzero(~is_pure).tolist()
        if mixed:
            given = None if sample_weight is None else weight
            regions = [members[number] for number in mixed]
            trained = self._fit_regions(prepared, rows, labels, given, regions, random_state)
            for number, learner in zip(mixed, trained, strict=True):
                self.estimators_[number] = learner
        return self

    def _learner(self) -> BaseEstimator:
        return StumpAdaBoostClassifier() if self.estimator is None else self.estimator

    def _centres_of_clusterer(self, X: Floats, weight: Floats, random_state: np.random.RandomState) -> Floats:
        clusterer = seeded_clone(self.clusterer, random_state.randint(np.iinfo(np.int32).max))
        params = {"sample_weight": weight} if has_fit_parameter(clusterer, "sample_weight") else {}
        found = clusterer.fit_predict(X, **params)
        clusters = [found == number for number in np.unique(found) if number >= 0]  # negative: noise
        members = clusters or [np.ones(len(X), dtype=bool)]
        return np.array([np.average(X[mask], axis=0, weights=weight[mask]) for mask in members])

    def _fit_regions(
        self,
        prepared: _Regions,
        rows: Integers,
        labels: Integers,
        weight: Floats | None,
        regions: list[Integers],
        random_state: np.random.RandomState,
    ) -> list[BaseEstimator]:
        """Train the learners of mixed regions, given by their members."""
        if prepared.inner is not None and hasattr(self._learner(), "_fit_groups"):
            every = np.concatenate(regions)
            bounds = np.cumsum([0, *map(len, regions)])
            given = None if weight is None else weight[every]
            return prepared.clones.make(0)._fit_groups(prepared.inner, rows[every], bounds, labels[every], given)
        learners = [prepared.clones.make(random_state.randint(np.iinfo(np.int32).max)) for _ in regions]
        whole: BaseEstimator | None = None
        can_predict = False  # a learner that can after few samples can after more
        for number in sorted(range(len(regions)), key=lambda number: len(regions[number])):
            try:
                _fit_region(learners[number], prepared, rows, labels, weight, regions[number], tries=not can_predict)
                can_predict = True
            except Exception:  # noqa: BLE001 (whatever a learner raises that wants more samples)
                if whole is None:
                    every = np.arange(len(rows)) if weight is None else np.flatnonzero(weight)
                    whole = _fit_region(prepared.clones.make(0), prepared, rows, labels, weight, every)
                learners[number] = whole
        return learners

    def _outputs(self, X: ArrayLike, response: Response) -> Floats:
        """Evaluate samples as the learner of a column does: one number each, ``2 p - 1`` for a probability p."""
        learner = self._learner()
        if hasattr(learner, "_margins_of_groups"):
            points = self._check_features(X)
            rows, region = points, nearest_centre(points, self.centres_)
            if hasattr(X, "columns"):
                known = next((inner for inner in self.estimators_ if inner is not None), None)
                rows = points if known is None else known._check_features(X)
            margins = learner._margins_of_groups(self.estimators_, rows, region)
            return respond(margins + self.region_margins_[region], response)
        check_is_fitted(self)
        remembered = self.region_margins_
        if response != "decision_function":
            remembered = np.tanh(remembered) if response == "predict_proba" else np.sign(remembered)
        return self._by_region(X, remembered, lambda learner, rows: evaluate_columns([learner], rows, response)[:, 0])

    def _by_region(self, X: Any, pure: Floats, evaluate: Callable[[BaseEstimator, Any], Floats]) -> Floats:
        """Give every sample a number by its region: the number of a pure one, or the learner's."""
        points = self._check_features(X)
        rows = X if hasattr(X, "columns") else points
        region = nearest_centre(points, self.centres_)
        numbers = pure[region]
        for number, learner in enumerate(self.estimators_):
            members = np.flatnonzero(region == number)
            if learner is not None and len(members):
                numbers[members] = evaluate(learner, _safe_indexing(rows, members))
        return numbers

    def _votes(self, X: ArrayLike) -> Floats:
        """Return 1 for samples of the second class, -1 for those of the first."""
        return self._outputs(X, "predict")

    @available_if(lambda self: hasattr(self._learner(), "predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Estimate the probability of both classes for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the region's learner, or those of a region with a single class.
        """
        check_is_fitted(self)
        remembered = 1.0 / (1.0 + np.exp(-2.0 * self.region_margins_))
        # Not from `_outputs`: 2 p - 1 would lose the digits of a small p.
        second = self._by_region(X, remembered, lambda learner, rows: learner.predict_proba(rows)[:, 1])
        return np.column_stack([1.0 - second, second])

    @available_if(lambda self: hasattr(self._learner(), "decision_function"))
    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the margin of each sample, positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins of the region's learner, or that of a region with a single class.
        """
        return self._outputs(X, "decision_function")


def _fit_region(
    learner: Any,
    prepared: _Regions,
    rows: Integers,
    labels: Integers,
    weight: Floats | None,
    members: Integers,
    *,
    tries: bool = False,
) -> BaseEstimator:
    """Train the learner of a region; if `tries`, let it predict too: nearest neighbours may raise only then."""
    given = None if weight is None else weight[members]
    if prepared.inner is not None:
        trained: BaseEstimator = learner._fit_rows(prepared.inner, rows[members], labels[members], given)
        return trained
    X = without_empty(_safe_indexing(prepared.X, rows[members]))
    learner.fit(X, labels[members], **weight_params(learner, given))
    if tries:
        learner.predict(_safe_indexing(X, [0]))
    return learner


def weak_kmeans(
    X: Floats,
    n_clusters: int,
    random_state: np.random.RandomState,
    *,
    weight: Floats,
    start: Floats | None = None,
    max_iter: int = MAX_ITER,
) -> Floats:
    """Run k-means from one random start for a few steps, and return its centres: weak on purpose.

    It starts from rows drawn by `start`, or by their weights. There are fewer centres if there are fewer distinct rows.
    Of scikit-learn's `KMeans`, threads and checks cost many times the work on the few hundred rows of two classes
    (`benchmarks/weak_kmeans.py` has the ratio).
    """
    drawn = np.flatnonzero(weight if start is None else start)
    mass = weight if start is None else start
    centres = distinct_start(X[drawn], n_clusters, random_state, mass[drawn])
    sums, by_feature = np.empty_like(centres), np.empty(centres.T.shape)
    distances, mass = np.empty(len(centres)), np.empty(len(centres))
    bits = centres.view(np.int64).reshape(-1)
    _move_centres(X, weight, max_iter, centres, bits, sums, mass, by_feature, distances, np.full(len(X), -1))
    return centres


def distinct_start(X: Floats, n_clusters: int, random_state: np.random.RandomState, weight: Floats) -> Floats:
    """Draw distinct rows to start from, by weight: quantiles along a random direction, in any order of rows."""
    order = np.argsort(X @ random_state.standard_normal(X.shape[1]), kind="stable")
    mass = np.cumsum(weight[order])
    draws = random_state.uniform(size=20 * n_clusters) * mass[-1]
    drawn = X[order[np.minimum(np.searchsorted(mass, draws, side="right"), len(X) - 1)]]
    found: dict[bytes, int] = {}
    for number, row in enumerate(drawn + 0.0):  # -0.0 becomes 0.0: they are equal, but not in their bits
        found.setdefault(row.tobytes(), number)
        if len(found) == n_clusters:
            break
    return rounded(drawn[list(found.values())])


def nearest_centre(X: Floats, centres: Floats) -> Integers:
    """Find the nearest centre of each row, the first one if several are; missing values count for nothing."""
    nearest = np.empty(len(X), dtype=np.intp)
    by_feature = np.array(centres.T, dtype=np.float64, order="C")
    _find_nearest(X, by_feature, np.empty(len(centres)), nearest)
    is_missing = np.isnan(X)
    if is_missing.any():
        gaps = np.flatnonzero(is_missing.any(axis=1))
        distances = [np.nansum((X[gaps] - centre) ** 2, axis=1) for centre in centres]
        nearest[gaps] = np.argmin(distances, axis=0)
    return nearest


@kernel
def _move_centres(X, weight, max_iter, centres, bits, sums, mass, by_feature, distances, region):  # type: ignore[no-untyped-def]
    """Move centres to the means of their rows, in place, a few times or until no row changes its region.

    `region` starts as -1 everywhere; `bits` are those of the centres; the other arrays are working memory.
    """
    for _ in range(max_iter):
        for k in range(centres.shape[0]):
            for j in range(centres.shape[1]):
                by_feature[j, k] = centres[k, j]
        if not _find_nearest(X, by_feature, distances, region):
            break
        _sum_regions(X, region, weight, sums, mass)
        for k in range(mass.size):
            if mass[k] > 0.0:
                for j in range(centres.shape[1]):
                    centres[k, j] = sums[k, j] / mass[k]
        round_bits(bits)


@inlined
def _sum_regions(X, region, weight, sums, mass):  # type: ignore[no-untyped-def]
    """Sum the weighted rows of each region, and the weights."""
    for k in range(mass.size):
        mass[k] = 0.0
        for j in range(sums.shape[1]):
            sums[k, j] = 0.0
    for i in range(X.shape[0]):
        mass[region[i]] += weight[i]
        for j in range(X.shape[1]):
            sums[region[i], j] += weight[i] * X[i, j]


@inlined
def _find_nearest(X, by_feature, distances, nearest):  # type: ignore[no-untyped-def]
    """Write the number of each row's nearest centre, the first one if several are; tell whether any has changed.

    Distances to all centres grow together, feature by feature, so that the processor computes several at once.
    """
    has_changed = False
    for i in range(X.shape[0]):
        for k in range(distances.size):
            distances[k] = 0.0
        for j in range(X.shape[1]):
            value = X[i, j]
            for k in range(distances.size):
                difference = value - by_feature[j, k]
                distances[k] += difference * difference
        best = 0
        for k in range(1, distances.size):
            if distances[k] < distances[best]:
                best = k
        has_changed |= nearest[i] != best
        nearest[i] = best
    return has_changed
