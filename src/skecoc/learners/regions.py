"""The clustering-based learner: split the space into regions, one learner per mixed region."""

from dataclasses import dataclass
from numbers import Integral
from sys import getsizeof
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter, validate_data

from skecoc.learners._binary import check_binary_target
from skecoc.learners._features import check_features, is_checked, set_features
from skecoc.learners._weak_kmeans import nearest_centre, weak_kmeans
from skecoc.learners.columns import Response, SeededClones, evaluate_columns, seeded_clone, shares_rows
from skecoc.learners.stumps import StumpAdaBoostClassifier

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class _Regions:
    """Rows that several region learners share: the checked array, and what the inner learner shares, if anything."""

    X: Floats
    feature_names: NDArray[Any] | None
    inner: Any
    clones: SeededClones

    def __sizeof__(self) -> int:
        return self.X.nbytes + getsizeof(self.inner)  # for clusters, which send what is large only once


class RegionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Cluster the rows, then train one binary learner in each region that holds both classes.

    The heterogeneous clustering-based learner of the WOLC-ECOC paper (Algorithm 1 and Figure 4). Rows are clustered
    without regard to their labels. A region with rows of both classes trains a clone of `estimator`; a region with
    rows of one class remembers that class. A new row is answered by the region whose centre is nearest.

    Two boundaries that are each simple in their region make one that is not, so the learner separates what a single
    clone cannot. The clustering is weak on purpose (k-means from one random start, few steps): different seeds give
    different regions, hence learners that err differently.

    Parameters
    ----------
    estimator : classifier, default=None
        The learner of a mixed region. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``.
    n_regions : int, default=2
        Number of centres of the k-means; not used when `clusterer` is given.
    clusterer : clusterer, default=None
        Any scikit-learn clusterer, in place of the weak k-means. Its clusters' means are the centres.
    random_state : int, RandomState instance or None, default=None
        Seeds the clustering and every ``random_state`` of the learner and the clusterer that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels.
    centres_ : ndarray of shape (n_regions_, n_features)
        Centres of the regions that hold at least one training row.
    n_regions_ : int
        Number of these regions.
    estimators_ : list of length n_regions_
        The learner of each mixed region, None for a pure one.
    region_margins_ : ndarray of shape (n_regions_,)
        Half the log-odds of the remembered class in pure regions, positive for ``classes_[1]``; 0 in mixed ones.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.

    Notes
    -----
    Distances are Euclidean, so features should have comparable scales. A pure region that holds weight w of its class
    answers with probability (w + 1) / (w + 2) and margin 0.5 log(w + 1), so that a region of one row is not taken for
    certain.

    References
    ----------
    .. [1] A. Rahman and B. Verma, "Novel layered clustering-based approach for generating ensemble of classifiers",
       IEEE Transactions on Neural Networks 22(5), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skecoc.learners import RegionClassifier
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])  # alternating classes, three clusters
    >>> y = np.array(["a", "b", "a", "b", "a", "b"])
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> stump.fit(X, y).score(X, y) < 1
    True
    >>> RegionClassifier(stump, n_regions=3, random_state=0).fit(X, y).score(X, y)
    1.0
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
        n_regions: int = 2,
        clusterer: BaseEstimator | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_regions = n_regions
        self.clusterer = clusterer
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows and train the regions' learners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows; finite numbers.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for the clustering and the learners.

        Returns
        -------
        self
            The fitted learner.
        """
        return self.fit_rows(self.prepare_rows(X), None, y, sample_weight)

    def prepare_rows(self, X: Any, y: ArrayLike | None = None, *, inner: Any = None) -> Any:
        """Check rows once, for any number of `fit_rows` on them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; finite numbers.
        y : array-like of shape (n_samples,), default=None
            Class indices of the whole problem, for learners that use them.
        inner : object, default=None
            The same rows as the regions' learner has prepared them; None lets it do so if it can.

        Returns
        -------
        object
            What `fit_rows` takes.
        """
        checked, names = check_features(self, X, np.float64)
        if inner is None and shares_rows(self._learner()):
            inner = self._learner().prepare_rows(checked, y)
        return _Regions(checked, names, inner, SeededClones(self._learner()))

    @_fit_context(prefer_skip_nested_validation=False)
    def fit_rows(
        self, prepared: Any, rows: Integers | None, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Cluster some of the prepared rows and train the regions' learners.

        Parameters
        ----------
        prepared : object
            Result of `prepare_rows`.
        rows : ndarray of int of shape (n_rows,) or None
            Indices of the training rows; None means all.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        self
            The fitted learner.
        """
        rows = np.arange(len(prepared.X)) if rows is None else rows
        X = prepared.X if len(rows) == len(prepared.X) else prepared.X[rows]
        self.classes_, labels = check_binary_target(y, self)
        if len(labels) != len(X):
            raise ValueError(f"y must have one label per row: got {len(labels)} labels for {len(X)} rows")
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        set_features(self, X.shape[1], prepared.feature_names)
        if sample_weight is not None and not has_fit_parameter(self._learner(), "sample_weight"):
            raise ValueError(f"sample_weight was given, but {type(self._learner()).__name__} does not take it")
        random_state = check_random_state(self.random_state)
        used = weight > 0  # a row of weight zero is a row that is not there
        centres = self._cluster(X[used], weight[used], random_state)
        region = nearest_centre(X, centres)
        occupied = np.unique(region[used])
        self.centres_ = centres[occupied]
        self.n_regions_ = len(occupied)
        self.estimators_, margins = [], []
        for number in occupied:
            members = np.flatnonzero((region == number) & used)
            learner, margin = self._fit_region(
                prepared,
                rows[members],
                labels[members],
                weight[members],
                sample_weight is not None,
                random_state,
            )
            self.estimators_.append(learner)
            margins.append(margin)
        self.region_margins_ = np.array(margins)
        return self

    def _learner(self) -> BaseEstimator:
        """Return the regions' learner, the default one if none is given."""
        return StumpAdaBoostClassifier() if self.estimator is None else self.estimator

    def _cluster(self, X: Floats, weight: Floats, random_state: np.random.RandomState) -> Floats:
        """Find the centres of the regions."""
        if self.clusterer is None:
            return weak_kmeans(X, self.n_regions, random_state, weight=weight)
        clusterer = seeded_clone(self.clusterer, random_state.randint(np.iinfo(np.int32).max))
        params = {"sample_weight": weight} if has_fit_parameter(clusterer, "sample_weight") else {}
        found = clusterer.fit_predict(X, **params)
        clusters = [found == number for number in np.unique(found) if number >= 0]  # negative: noise
        members = clusters or [np.ones(len(X), dtype=bool)]
        return np.array([np.average(X[mask], axis=0, weights=weight[mask]) for mask in members])

    def _fit_region(
        self,
        prepared: _Regions,
        rows: Integers,
        labels: Integers,
        weight: Floats,
        weighted: bool,
        random_state: np.random.RandomState,
    ) -> tuple[BaseEstimator | None, float]:
        """Train the learner of a mixed region, or give the margin of the class that a pure one remembers."""
        seed = random_state.randint(np.iinfo(np.int32).max)
        if labels.min() == labels.max():
            return None, (2 * labels[0] - 1) * 0.5 * np.log1p(weight.sum())
        learner = prepared.clones.make(seed)
        if prepared.inner is not None:
            return learner.fit_rows(prepared.inner, rows, labels, weight if weighted else None), 0.0
        params = {"sample_weight": weight} if weighted else {}
        return learner.fit(prepared.X[rows], labels, **params), 0.0

    def _answer(self, X: Any, method: str, pure: Floats) -> Floats:
        """Let every row be answered by its region: a pure one's value, or the learner's method."""
        X = self._check_features(X)
        region = nearest_centre(X, self.centres_)
        answers = pure[region]
        for number, learner in enumerate(self.estimators_):
            members = np.flatnonzero(region == number)
            if learner is not None and len(members):
                answer = getattr(learner, method)(X[members])
                answers[members] = answer[:, 1] if answer.ndim == 2 else answer
        return answers

    def _check_features(self, X: Any) -> Floats:
        """Check the features of rows to answer."""
        check_is_fitted(self)
        if is_checked(X, [np.float64], self):
            return X
        return validate_data(self, X, reset=False, dtype=np.float64)

    def outputs(self, X: ArrayLike, response: Response) -> Floats:
        """Answer rows by one number each, as the column of a code does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to answer.
        response : {"predict_proba", "decision_function", "predict"}
            Answer with ``2 p - 1`` for the probability `p` of the second class, with the margin, or with 1 for the
            second class and -1 for the first.

        Returns
        -------
        ndarray of shape (n_samples,)
            Answers.
        """
        rows = self._check_features(X)
        region = nearest_centre(rows, self.centres_)
        answers: Floats = self.region_margins_[region]
        if response != "decision_function":
            answers = np.tanh(answers) if response == "predict_proba" else np.sign(answers)
        for number, learner in enumerate(self.estimators_):
            members = np.flatnonzero(region == number)
            if learner is not None and len(members):
                answers[members] = evaluate_columns([learner], rows[members], response)[:, 0]
        return answers

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to answer.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        remembered = (self.region_margins_ > 0).astype(np.float64)
        return self.classes_[self._answer(X, "predict", remembered).astype(np.intp)]

    @available_if(lambda self: hasattr(self._learner(), "predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Estimate the probability of both classes for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to answer.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the region's learner, or of the class that a pure region remembers.
        """
        check_is_fitted(self)
        remembered = 1.0 / (1.0 + np.exp(-2.0 * self.region_margins_))
        second = self._answer(X, "predict_proba", remembered)
        return np.column_stack([1.0 - second, second])

    @available_if(lambda self: hasattr(self._learner(), "decision_function"))
    def decision_function(self, X: ArrayLike) -> Floats:
        """Give the margin of each row, positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to answer.

        Returns
        -------
        ndarray of shape (n_samples,)
            Margins of the region's learner, or of the class that a pure region remembers.
        """
        check_is_fitted(self)
        return self._answer(X, "decision_function", self.region_margins_.copy())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
