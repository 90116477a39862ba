"""Check fitted estimators of scikit-learn from files, whose compiled code follows the indices in their arrays."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn._loss.link import BaseLink
from sklearn._loss.loss import ExponentialLoss, HalfBinomialLoss, HalfMultinomialLoss
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.neighbors import NearestCentroid
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm._base import BaseLibSVM, BaseSVC
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.tree._tree import Tree

Indices = NDArray[np.int64]

# The children of a leaf.
_LEAF = -1
# Categories and bins are numbered by a byte; a set of categories is eight words of 32 bits.
_N_CATEGORIES = 256
_N_WORDS = 8
# Arrays that libsvm reads, and their types.
_LIBSVM_ARRAYS = {
    "support_vectors_": "float64",
    "support_": "int32",
    "_n_support": "int32",
    "_dual_coef_": "float64",
    "_intercept_": "float64",
    "_probA": "float64",
    "_probB": "float64",
}
# Kernels that libsvm computes from the support vectors; others look up values at indices.
_KERNELS = ("linear", "poly", "rbf", "sigmoid")
# Distances without parameters but a power.
_METRICS = {"minkowski", "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev"}
_METRICS |= {"cosine", "canberra", "braycurtis", "hamming", "nan_euclidean"}
_WEIGHTS = ("uniform", "distance", None)
_MOST_COLUMNS = 2**31 - 1
_MOST_JOBS = 1024


def require(condition: Any, problem: str) -> None:
    """Raise an error unless a condition holds."""
    if not condition:
        raise ValueError(problem)


def is_array(value: Any, kind: str, shape: tuple[int | None, ...]) -> bool:
    """Tell whether a value is an array of a type and a shape; None stands for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(kind) or value.ndim != len(shape):
        return False
    return all(given in (None, found) for given, found in zip(shape, value.shape, strict=True))


def fitted_arrays(part: BaseEstimator, kinds: dict[str, str], owner: str) -> dict[str, Any]:
    """Return the arrays of an estimator after checking their types; none if it is not fitted."""
    arrays: dict[str, Any] = {name: vars(part).get(name) for name in kinds}
    if all(array is None for array in arrays.values()):
        return {}
    for name, kind in kinds.items():
        is_of_kind = isinstance(arrays[name], np.ndarray) and arrays[name].dtype == kind
        require(is_of_kind, f"{name} of {owner} is not an array of {kind}")
    return arrays


def _count_of_features(estimator: Any, owner: str) -> int:
    """Return the number of features of an estimator, which its `predict` compares with that of the samples."""
    count = vars(estimator).get("n_features_in_")
    require(isinstance(count, int | np.integer) and count > 0, f"{owner} has no number of features")
    return int(count)


def _check_decision_tree(estimator: BaseDecisionTree) -> None:
    """Check a decision tree, alone or of a forest.

    `predict` and `apply` do not check the indices of children and features, and `decision_path` writes as many numbers
    as `max_depth` says. `Tree` itself checks the types of its arrays and the shape of its values.
    """
    if "tree_" not in vars(estimator):
        return
    tree = estimator.tree_
    require(isinstance(tree, Tree), "tree_ of a decision tree is no tree")
    require(tree.node_count > 0, "a tree has no nodes")
    left, right = (np.asarray(child, dtype=np.int64) for child in (tree.children_left, tree.children_right))
    is_leaf = left == _LEAF
    require((right[is_leaf] == _LEAF).all(), "a leaf of a tree has a child")
    depth = _check_children(left, right, is_leaf)
    require(depth <= tree.max_depth < tree.node_count, "a tree is deeper than it says")
    _check_features(tree.feature[~is_leaf], tree.n_features)
    n_features = _count_of_features(estimator, "a decision tree")
    require(tree.n_features == n_features, "a tree has other features than its estimator")
    n_outputs: Any = vars(estimator).get("n_outputs_")
    n_classes = np.max(estimator.n_classes_) if isinstance(estimator, ClassifierMixin) else 1
    fits = tree.value.shape == (tree.node_count, n_outputs, n_classes)
    require(fits, "the values of a tree do not fit outputs and classes")


def _check_boosting(model: BaseHistGradientBoosting) -> None:
    if "_predictors" not in vars(model):
        return
    n_features = _count_of_features(model, "boosting")
    require(vars(model).get("_n_features") == n_features, "boosting has other features than its trees")
    require("_in_fit" not in vars(model), "boosting would take samples for bins")
    mapper: Any = vars(model).get("_bin_mapper")
    counted = isinstance(mapper, _BinMapper) and len(vars(mapper).get("n_bins_non_missing_", ())) == n_features
    require(counted, "bins of boosting do not fit the features")
    _check_bins(mapper)
    is_category = mapper.is_categorical_ != 0
    n_classes = len(model.classes_) if isinstance(model, ClassifierMixin) else 1
    n_trees = n_classes if n_classes > 2 else 1
    baseline: Any = vars(model).get("_baseline_prediction")
    require(is_array(baseline, "float64", (1, n_trees)), "the baseline of boosting does not fit the classes")
    require(vars(model).get("n_trees_per_iteration_") == n_trees, "boosting has other trees than classes")
    rounds = model._predictors
    require(isinstance(rounds, list), "boosting has no list of trees")
    for trees in rounds:
        require(isinstance(trees, list) and len(trees) == n_trees, "boosting has other trees than classes")
        for tree in trees:
            require(isinstance(tree, TreePredictor), "a tree of boosting is no tree")
            _check_predictor(tree, n_features, is_category)


def _check_gradient_boosting(model: GradientBoostingClassifier) -> None:
    """Check what the trees of gradient boosting have in common; each tree is checked as others are.

    Compiled code takes each tree to have one output, and writes one column for each tree of a round.
    """
    parts = vars(model)
    if "estimators_" not in parts:
        return
    n_features = _count_of_features(model, "boosting")
    classes: Any = parts.get("classes_")
    require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1, "boosting has no classes")
    n_trees = len(classes) if len(classes) > 2 else 1
    trees = parts["estimators_"]
    fits = is_array(trees, "object", (None, n_trees)) and len(trees) > 0
    require(fits and parts.get("n_trees_per_iteration_") == n_trees, "boosting has other trees than classes")
    for tree in trees.ravel():
        require(isinstance(tree, DecisionTreeRegressor) and "tree_" in vars(tree), "a tree of boosting is no tree")
        require(vars(tree).get("n_features_in_") == n_features, "trees of boosting have different features")
        require(tree.tree_.value.shape[1:] == (1, 1), "a tree of boosting has several values")
    loss: Any = parts.get("_loss")
    kinds = (HalfMultinomialLoss,) if n_trees > 1 else (HalfBinomialLoss, ExponentialLoss)
    is_loss = isinstance(loss, kinds) and loss.is_multiclass is (n_trees > 1)
    require(is_loss and isinstance(vars(loss).get("link"), BaseLink), "the loss of boosting does not fit the classes")
    start: Any = parts.get("init_")
    if isinstance(start, str) and start == "zero":
        return
    require(isinstance(start, DummyClassifier), "boosting begins with another estimator than a DummyClassifier")
    prior = vars(start)
    is_prior = prior.get("_strategy") == "prior" and prior.get("n_outputs_") == 1
    fits = is_array(prior.get("class_prior_"), "float64", (len(classes),)) and prior.get("n_classes_") == len(classes)
    require(is_prior and fits, "the prior of boosting does not fit the classes")


def _check_bins(mapper: _BinMapper) -> None:
    parts = vars(mapper)
    counts: Any = parts.get("n_bins_non_missing_")
    if counts is None:
        return
    require(is_array(counts, "uint32", (None,)), "bins of boosting are not counted")
    n_features = len(counts)
    is_category, thresholds = parts.get("is_categorical_"), parts.get("bin_thresholds_")
    require(is_array(is_category, "uint8", (n_features,)), "boosting does not say which features are categories")
    require(isinstance(thresholds, list) and len(thresholds) == n_features, "bins of boosting do not fit the features")
    for edges, category in zip(thresholds, is_category, strict=True):
        few = is_array(edges, "float64", (None,)) and len(edges) < _N_CATEGORIES
        require(few, "thresholds of bins are no short arrays of float64")
        known = not category or ((edges >= 0) & (edges < _N_CATEGORIES)).all()
        require(known, "a category of boosting is out of range")
    missing = parts.get("missing_values_bin_idx_")
    in_range = isinstance(missing, int | np.integer) and 0 <= missing < _N_CATEGORIES
    require(in_range, "the bin of missing values is out of range")


def _check_predictor(tree: TreePredictor, n_features: int, is_category: NDArray[np.bool_]) -> None:
    nodes: Any = vars(tree).get("nodes")
    fits = isinstance(nodes, np.ndarray) and nodes.dtype == PREDICTOR_RECORD_DTYPE and nodes.ndim == 1
    require(fits and len(nodes), "nodes of boosting are no array of nodes")
    is_leaf = nodes["is_leaf"] != 0
    _check_children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), is_leaf)
    inner = nodes[~is_leaf]
    _check_features(inner["feature_idx"], n_features)
    splits = inner[inner["is_categorical"] != 0]
    require(is_category[splits["feature_idx"]].all(), "a node of boosting takes a number for a category")
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        sets: Any = vars(tree).get(name)
        require(is_array(sets, "uint32", (None, _N_WORDS)), f"{name} of boosting are no sets")
        require((splits["bitset_idx"] < len(sets)).all(), f"{name} of boosting are fewer than its nodes name")


def _check_children(left: Indices, right: Indices, is_leaf: NDArray[np.bool_]) -> int:
    """Check that children exist, come after their parents and have one parent each; return the depth of the tree."""
    n_nodes = len(left)
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    forward = (children > np.tile(inner, 2)) & (children < n_nodes)
    require(forward.all(), "a node of a tree has a child that does not come after it")
    require((np.bincount(children, minlength=1) <= 1).all(), "a node of a tree has two parents")
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while True:
        level = level[~is_leaf[level]]
        if not len(level):
            return depth
        level = np.concatenate([left[level], right[level]])
        depth += 1


def _check_features(features: NDArray[np.integer[Any]], n_features: int) -> None:
    inside = (features >= 0) & (features < n_features)
    require(inside.all(), "a node of a tree looks at a feature that is not there")


def _check_libsvm(machine: BaseLibSVM) -> None:
    """Check a support vector machine: libsvm reads one coefficient per vector without checking the length."""
    arrays = fitted_arrays(machine, _LIBSVM_ARRAYS, "an SVM")
    if not arrays:
        return
    vectors, counts = arrays["support_vectors_"], arrays["_n_support"]
    n_features = getattr(machine, "n_features_in_", None)
    require(vectors.ndim == 2 and vectors.shape[1] == n_features, "support vectors of an SVM do not fit the features")
    require(counts.ndim == 1 and (counts >= 0).all(), "an SVM has no numbers of support vectors")
    # Only for classifiers is this the number of vectors of each class.
    counted = not isinstance(machine, BaseSVC) or int(counts.sum()) == len(vectors)
    require(counted, "an SVM has other support vectors than it counts")
    n_sides = max(len(counts), 2)
    n_pairs = n_sides * (n_sides - 1) // 2
    shapes = {"support_": (len(vectors),), "_dual_coef_": (n_sides - 1, len(vectors)), "_intercept_": (n_pairs,)}
    for name, shape in shapes.items():
        require(arrays[name].shape == shape, f"{name} of an SVM does not fit its support vectors and classes")
    for name in ("_probA", "_probB"):
        require(arrays[name].shape in ((0,), (n_pairs,)), f"{name} of an SVM does not fit its classes")
    require(len(arrays["_probA"]) == len(arrays["_probB"]), "an SVM has one half of its probabilities")
    parts = vars(machine)
    is_plain = isinstance(machine.kernel, str) and machine.kernel in _KERNELS and parts.get("_sparse") is False
    require(is_plain and "_impl" not in parts, "an SVM reads other things than its support vectors")


def _check_neighbours(estimator: NeighborsBase) -> None:
    parts = vars(estimator)
    metric, weights = parts.get("metric"), parts.get("weights", "uniform")
    known = isinstance(metric, str) and metric in _METRICS and parts.get("metric_params") is None
    require(known, f"neighbours are searched by a distance other than {', '.join(sorted(_METRICS))}")
    require(weights is None or (isinstance(weights, str) and weights in _WEIGHTS), "neighbours have unknown weights")
    if "_fit_X" not in parts:
        return
    samples = parts["_fit_X"]
    is_plain = isinstance(samples, np.ndarray) and samples.ndim == 2 and samples.dtype.kind in "biuf"
    require(is_plain or (issparse(samples) and samples.dtype.kind in "biuf"), "samples of neighbours are no numbers")
    if is_classifier(estimator) or is_regressor(estimator):
        outcome: Any = parts.get("_y")
        kinds = "iu" if is_classifier(estimator) else "iuf"
        fits = isinstance(outcome, np.ndarray) and outcome.dtype.kind in kinds and len(outcome) == samples.shape[0]
        require(fits, "neighbours have other outcomes than samples")
    if is_classifier(estimator):
        classes: Any = parts.get("classes_")
        is_label = isinstance(classes, np.ndarray) and classes.ndim == 1 and outcome.ndim == 1
        require(is_label and len(classes), "neighbours have no classes, or several for a sample")
        inside = (outcome >= 0) & (outcome < len(classes))
        require(inside.all(), "a neighbour has a class that is not there")


def refit_neighbours(estimator: NeighborsBase) -> None:
    """Fit an estimator again to the samples that it holds: nothing fitted is taken from a file."""
    parts = dict(vars(estimator))
    fresh = type(estimator)(**estimator.get_params(deep=False))
    outcome = parts["classes_"][parts["_y"]] if is_classifier(estimator) else parts.get("_y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were given when it was first fitted
        fresh.fit(parts["_fit_X"], outcome)
    if is_classifier(estimator):
        same = fresh.classes_.dtype == parts["classes_"].dtype and np.array_equal(fresh.classes_, parts["classes_"])
        require(same, "neighbours have other classes than samples of them")
    require(fresh.n_features_in_ == parts.get("n_features_in_"), "neighbours have other features than samples")
    names = {name: parts[name] for name in ("feature_names_in_",) if name in parts}
    vars(estimator).clear()
    vars(estimator).update(vars(fresh), **names)


def _check_centroids(estimator: NearestCentroid) -> None:
    # The centroids themselves are checked by `predict`.
    metric = vars(estimator).get("metric")
    require(isinstance(metric, str) and metric in ("euclidean", "manhattan"), "centroids have an unknown distance")


def _check_one_hot(encoder: OneHotEncoder) -> None:
    """Check that the categories of each feature have the number of indicators that the encoder says."""
    parts = vars(encoder)
    if "categories_" not in parts:
        return
    categories, counts = parts["categories_"], parts.get("_n_features_outs")
    require(isinstance(categories, list) and isinstance(counts, list), "an encoder does not list its categories")
    n_features = len(categories)
    is_grouped = parts.get("_infrequent_enabled")
    require(isinstance(is_grouped, bool | np.bool_), "an encoder does not say whether it groups categories")
    groups = parts.get("_default_to_infrequent_mappings") if is_grouped else [None] * n_features
    dropped: Any = parts.get("_drop_idx_after_grouping")
    dropped = [None] * n_features if dropped is None else list(dropped)
    fits = isinstance(groups, list) and len(groups) == len(dropped) == len(counts) == n_features
    require(fits and parts.get("n_features_in_") == n_features, "an encoder has other categories than features")
    for values, group, drop, count in zip(categories, groups, dropped, counts, strict=True):
        require(isinstance(values, np.ndarray) and values.ndim == 1, "categories of an encoder are no array")
        is_text = values.dtype.kind == "U" or all(isinstance(value, str) for value in values.tolist())
        if not is_text:  # text is looked up in a dictionary; a binary search for others might end beyond the last
            there = [value for value in values.tolist() if value is not None and value == value]  # noqa: PLR0124 (NaN)
            try:
                in_order = all(first < second for first, second in pairwise(there))
            except TypeError:
                in_order = False
            same_place = there == values.tolist()[: len(there)] and len(values) - len(there) <= 2
            require(in_order and same_place, "categories of an encoder are not in order")
        size = len(values)
        if group is not None:
            is_group = isinstance(group, np.ndarray) and group.dtype.kind == "i" and group.shape == (size,) and size > 0
            require(is_group and (group >= 0).all(), "an encoder groups categories that are not there")
            size = int(group.max()) + 1
        if drop is not None:
            inside = isinstance(drop, int | np.integer) and 0 <= drop < size
            require(inside, "an encoder drops a category that is not there")
            size -= 1
        is_count = isinstance(count, int | np.integer) and count == size
        require(is_count, "an encoder has other indicators than categories")


def _check_vocabulary(vectorizer: CountVectorizer | DictVectorizer) -> None:
    vocabulary: Any = vars(vectorizer).get("vocabulary_")
    if vocabulary is None:
        return
    require(isinstance(vocabulary, dict), "a vocabulary is no dictionary")
    places = list(vocabulary.values())
    are_numbers = all(isinstance(place, int | np.integer) and not isinstance(place, bool) for place in places)
    require(are_numbers and sorted(places) == list(range(len(places))), "a word has a column that is not there")


def _check_hasher(hasher: FeatureHasher | HashingVectorizer) -> None:
    count: Any = vars(hasher).get("n_features")
    inside = isinstance(count, int | np.integer) and 0 < count <= _MOST_COLUMNS
    require(inside, "words are spread over a number of columns that is out of range")


def _check_random_state(state: np.random.RandomState) -> None:
    # The next number is read from an array, at the place that a file names.
    found: Any = state.get_state(legacy=False)
    key, place = found["state"]["key"], found["state"]["pos"]
    require(is_array(key, "uint32", (624,)) and 0 <= place <= len(key), "random numbers go on at a place beyond them")


def _check_generator(generator: np.random.Generator) -> None:
    # That of boosting by histograms; others may read at any place.
    require(isinstance(generator.bit_generator, np.random.PCG64), "random numbers are made in an unknown way")


def _refuse_tree(_: Tree) -> None:
    # Its own `predict` does not check the number of features of samples.
    raise ValueError("a tree belongs to no decision tree")


def _check_stored_n_jobs(estimator: BaseEstimator) -> None:
    jobs: Any = vars(estimator).get("n_jobs")
    known = jobs is None or (isinstance(jobs, int | np.integer) and -_MOST_JOBS <= jobs <= _MOST_JOBS)
    require(known, "n_jobs is no number, or out of range")


#: The check of objects of each type.
SKLEARN_CHECKS: dict[type, Callable[[Any], None]] = {
    BaseLibSVM: _check_libsvm,
    BaseDecisionTree: _check_decision_tree,
    BaseHistGradientBoosting: _check_boosting,
    GradientBoostingClassifier: _check_gradient_boosting,
    _BinMapper: _check_bins,
    Tree: _refuse_tree,
    BaseEstimator: _check_stored_n_jobs,
    NeighborsBase: _check_neighbours,
    NearestCentroid: _check_centroids,
    OneHotEncoder: _check_one_hot,
    CountVectorizer: _check_vocabulary,
    DictVectorizer: _check_vocabulary,
    FeatureHasher: _check_hasher,
    HashingVectorizer: _check_hasher,
    np.random.RandomState: _check_random_state,
    np.random.Generator: _check_generator,
}
