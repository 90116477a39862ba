"""Check scikit-learn's trees that come from files: their compiled code follows indices wherever these point to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn._loss.link import BaseLink
from sklearn._loss.loss import ExponentialLoss, HalfBinomialLoss, HalfMultinomialLoss
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree import BaseDecisionTree, DecisionTreeRegressor
from sklearn.tree._tree import Tree

Indices = NDArray[np.int64]

# In place of the children of a leaf.
_LEAF = -1
# Sets of categories, and bins, are numbered by a byte; a set is eight words of 32 bits.
_N_CATEGORIES = 256
_N_WORDS = 8


def require(condition: Any, problem: str) -> None:
    """Raise an error unless a condition holds."""
    if not condition:
        raise ValueError(problem)


def is_array(value: Any, kind: str, shape: tuple[int | None, ...]) -> bool:
    """Tell whether something is an array of a type and a shape; None stands for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(kind) or value.ndim != len(shape):
        return False
    return all(given in (None, found) for given, found in zip(shape, value.shape, strict=True))


def count_of_features(estimator: Any, owner: str) -> int:
    """Return the number of features of an estimator, which its `predict` compares with that of the samples."""
    count = vars(estimator).get("n_features_in_")
    require(isinstance(count, int | np.integer) and count > 0, f"{owner} has no number of features")
    return int(count)


def check_decision_tree(estimator: BaseDecisionTree) -> None:
    """Check a decision tree, alone or of a forest; one that was not fitted has none.

    `predict` and `apply` follow children and features without a look at bounds, and `decision_path` writes as many
    numbers as `max_depth` says. `Tree` itself checks the types of its arrays and the shape of its values.
    """
    if "tree_" not in vars(estimator):
        return
    tree = estimator.tree_
    require(isinstance(tree, Tree), "tree_ of a decision tree is no tree")
    _check_tree(tree)
    n_features = count_of_features(estimator, "a decision tree")
    require(tree.n_features == n_features, "a tree has other features than its estimator")
    n_outputs: Any = vars(estimator).get("n_outputs_")
    n_classes = np.max(estimator.n_classes_) if isinstance(estimator, ClassifierMixin) else 1
    fits = tree.value.shape == (tree.node_count, n_outputs, n_classes)
    require(fits, "the values of a tree do not fit outputs and classes")


def _check_tree(tree: Tree) -> None:
    """Check the nodes of a tree."""
    require(tree.node_count > 0, "a tree has no nodes")
    left, right = (np.asarray(child, dtype=np.int64) for child in (tree.children_left, tree.children_right))
    is_leaf = left == _LEAF
    require(bool((right[is_leaf] == _LEAF).all()), "a leaf of a tree has a child")
    depth = _check_children(left, right, is_leaf)
    require(depth <= tree.max_depth < tree.node_count, "a tree is deeper than it says")
    _check_features(tree.feature[~is_leaf], tree.n_features)


def check_boosting(model: BaseHistGradientBoosting) -> None:
    """Check boosting by histograms, without features that are categories; one that was not fitted has no trees."""
    if "_predictors" not in vars(model):
        return
    n_features = count_of_features(model, "boosting")
    require(vars(model).get("_n_features") == n_features, "boosting has other features than its trees")
    require("_in_fit" not in vars(model), "boosting would take samples for bins")
    mapper: Any = vars(model).get("_bin_mapper")
    counted = isinstance(mapper, _BinMapper) and len(vars(mapper).get("n_bins_non_missing_", ())) == n_features
    require(counted, "bins of boosting do not fit the features")
    check_bins(mapper)
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


def check_gradient_boosting(model: GradientBoostingClassifier) -> None:
    """Check gradient boosting, whose trees are checked one by one; a model that was not fitted has none.

    Compiled code takes what it is given for trees of one output, and writes as many columns as there are trees a round.
    """
    parts = vars(model)
    if "estimators_" not in parts:
        return
    n_features = count_of_features(model, "boosting")
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
    _check_start(parts.get("init_"), len(classes))


def _check_start(start: Any, n_classes: int) -> None:
    """Check what gradient boosting begins with: one probability for each class, or none."""
    if isinstance(start, str) and start == "zero":
        return
    require(isinstance(start, DummyClassifier), "boosting begins with another estimator than a DummyClassifier")
    parts = vars(start)
    is_prior = parts.get("_strategy") == "prior" and parts.get("n_outputs_") == 1
    fits = is_array(parts.get("class_prior_"), "float64", (n_classes,)) and parts.get("n_classes_") == n_classes
    require(is_prior and fits, "what boosting begins with does not fit the classes")


def check_bins(mapper: _BinMapper) -> None:
    """Check how boosting puts samples into bins; what was not fitted has none."""
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
        known = not category or bool(((edges >= 0) & (edges < _N_CATEGORIES)).all())
        require(known, "a category of boosting is out of range")
    missing = parts.get("missing_values_bin_idx_")
    in_range = isinstance(missing, int | np.integer) and 0 <= missing < _N_CATEGORIES
    require(in_range, "the bin of missing values is out of range")


def _check_predictor(tree: TreePredictor, n_features: int, is_category: NDArray[np.bool_]) -> None:
    """Check the nodes of one tree of boosting, and its sets of categories."""
    nodes: Any = vars(tree).get("nodes")
    fits = isinstance(nodes, np.ndarray) and nodes.dtype == PREDICTOR_RECORD_DTYPE and nodes.ndim == 1
    require(fits and len(nodes), "nodes of boosting are no array of nodes")
    is_leaf = nodes["is_leaf"] != 0
    _check_children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), is_leaf)
    inner = nodes[~is_leaf]
    _check_features(inner["feature_idx"], n_features)
    splits = inner[inner["is_categorical"] != 0]
    require(bool(is_category[splits["feature_idx"]].all()), "a node of boosting takes a number for a category")
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        sets: Any = vars(tree).get(name)
        require(is_array(sets, "uint32", (None, _N_WORDS)), f"{name} of boosting are no sets")
        require(bool((splits["bitset_idx"] < len(sets)).all()), f"{name} of boosting are fewer than its nodes name")


def _check_children(left: Indices, right: Indices, is_leaf: NDArray[np.bool_]) -> int:
    """Check that children exist, come after their parents and have one parent each; return the depth of the tree."""
    n_nodes = len(left)
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    forward = (children > np.tile(inner, 2)) & (children < n_nodes)
    require(bool(forward.all()), "a node of a tree has a child that does not come after it")
    require(bool((np.bincount(children, minlength=1) <= 1).all()), "a node of a tree has two parents")
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while True:
        level = level[~is_leaf[level]]
        if not len(level):
            return depth
        level = np.concatenate([left[level], right[level]])
        depth += 1


def _check_features(features: NDArray[np.integer[Any]], n_features: int) -> None:
    """Check the features that nodes look at."""
    inside = (features >= 0) & (features < n_features)
    require(bool(inside.all()), "a node of a tree looks at a feature that is not there")
