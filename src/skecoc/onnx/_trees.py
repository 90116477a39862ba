"""Sums of decision trees as one operator: boosted stumps, and gradient-boosted trees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_tensor

from skecoc.learners import StumpAdaBoostClassifier
from skecoc.onnx._graph import Floats, Graph

# Number of columns that share one tree per feature: more make bigger leaves, fewer make more trees.
_GROUP = 32

# No number is above this threshold; missing values are not below it either.
_LARGEST = float(np.finfo(np.float64).max)


@dataclass
class TreeTable:
    """Nodes of many trees, in the form of the operator TreeEnsembleRegressor.

    Its sums are doubles that are rounded to single precision at the end. So each value of a leaf is split into a
    multiple of a power of two, whose sums are exact in single precision, and the rest, where rounding changes little.
    """

    # Of each tree: features, thresholds, children and where missing values go; its leaves' nodes, targets and values.
    trees: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def add(
        self,
        features: NDArray[Any],
        thresholds: Floats,
        left: NDArray[Any],
        right: NDArray[Any],
        targets: NDArray[np.intp],
        values: Floats,
        missing_left: NDArray[Any] | None = None,
    ) -> None:
        """Add a tree whose leaves add `values`, (n_nodes, n_targets), to some sums; zeros are not stored.

        Values up to the threshold go to the left. Node 0 is the root; a leaf has 0 on its left.
        """
        leaves = np.flatnonzero(left == 0)
        features, thresholds = np.where(left == 0, 0, features), np.where(left == 0, 0.0, thresholds)
        missing = np.zeros(len(left), np.int64) if missing_left is None else missing_left
        stored = values[leaves] != 0.0
        stored[:, 0] |= ~stored.any(axis=1)  # a leaf has a value
        place, target = np.nonzero(stored)
        of_leaves = leaves[place], targets[target], values[leaves][stored]
        self.trees.append((features, thresholds, left.astype(np.int64), right.astype(np.int64), missing, *of_leaves))

    def write(self, graph: Graph, rows: str, n_targets: int) -> str:
        """Write the sums of all trees' leaves, as doubles of shape (n_samples, n_targets)."""
        sizes = [len(tree[0]) for tree in self.trees]
        leaf_trees = np.repeat(np.arange(len(sizes)), [len(tree[-1]) for tree in self.trees])
        features, thresholds, left, right, missing, leaf_nodes, leaf_targets, values = (
            np.concatenate(arrays) for arrays in zip(*self.trees, strict=True)
        )
        # Sums of multiples of this step have no more than 24 binary digits.
        largest = np.zeros((len(sizes), n_targets))
        np.maximum.at(largest, (leaf_trees, leaf_targets), np.abs(values))
        bound = largest.sum(axis=0).max()
        step = np.exp2(np.ceil(np.log2(bound)) - 23.0) if bound > 0.0 else 1.0
        coarse = np.rint(values / step) * step
        sums = graph.node(
            "TreeEnsembleRegressor",
            rows,
            op_domain="ai.onnx.ml",
            op_version=3,  # the first with double thresholds, and the last with this operator
            n_targets=2 * n_targets,
            aggregate_function="SUM",
            post_transform="NONE",
            nodes_treeids=np.repeat(np.arange(len(sizes)), sizes).tolist(),
            nodes_nodeids=np.concatenate([np.arange(size) for size in sizes]).tolist(),
            nodes_featureids=features.tolist(),
            nodes_modes=["LEAF" if is_leaf else "BRANCH_LEQ" for is_leaf in left == 0],
            nodes_values_as_tensor=make_tensor("thresholds", TensorProto.DOUBLE, [len(left)], thresholds),
            nodes_truenodeids=left.tolist(),
            nodes_falsenodeids=right.tolist(),
            nodes_missing_value_tracks_true=missing.tolist(),
            target_treeids=np.tile(leaf_trees, 2).tolist(),
            target_nodeids=np.tile(leaf_nodes, 2).tolist(),
            target_ids=np.concatenate([leaf_targets, leaf_targets + n_targets]).tolist(),
            target_weights_as_tensor=make_tensor(
                "values", TensorProto.DOUBLE, [2 * len(values)], np.concatenate([coarse, values - coarse])
            ),
        )
        sums = graph.double(sums)
        return graph.node("Add", graph.part(sums, 0, n_targets), graph.part(sums, n_targets, 2 * n_targets))


def stump_margins(graph: Graph, rows: str, learners: Sequence[StumpAdaBoostClassifier]) -> str:
    """Write F of several boosted models, of shape (n_samples, n_learners).

    The stumps on one feature sum up to a step function of it, so a few models together need one search tree per
    feature, whose leaves hold the value of the step for every model. The root of a tree separates missing values.
    """
    table = TreeTable()
    for first in range(0, len(learners), _GROUP):
        for feature, thresholds, owners, votes, missing_left in _stumps_by_feature(learners[first : first + _GROUP]):
            steps, models, values = _step_functions(thresholds, owners, votes)
            left, right, place = _search_tree(len(steps))
            padded = np.append(steps, 0.0)  # leaves have no threshold
            leaf_values = np.where((left == 0)[:, np.newaxis], values[place], 0.0)
            of_missing = _sums_by_model(owners, np.where(missing_left, votes, -votes))
            left, right = (np.where(children > 0, children + 2, 0) for children in (left, right))
            table.add(
                np.full(len(left) + 2, feature),
                np.concatenate([[_LARGEST, 0.0], padded[place]]),
                np.concatenate([[2, 0], left]),
                np.concatenate([[1, 0], right]),
                first + models,
                np.vstack([np.zeros(len(models)), of_missing, leaf_values]),
            )
    return table.write(graph, rows, len(learners))


def _stumps_by_feature(
    learners: Sequence[StumpAdaBoostClassifier],
) -> Iterator[tuple[int, Floats, NDArray[np.intp], Floats, NDArray[np.bool_]]]:
    """Yield each feature with the thresholds, models, votes and sides of missing values of its stumps."""
    features = np.concatenate([learner.features_ for learner in learners])
    thresholds = np.concatenate([learner.thresholds_ for learner in learners])
    votes = np.concatenate([learner.alphas_ * learner.polarities_ for learner in learners])
    owners = np.repeat(np.arange(len(learners)), [learner.n_estimators_ for learner in learners])
    # The constant stump, feature -1, has an infinite threshold and may use any feature. A stump without a vote is added
    # for models that have no stump at all.
    features, thresholds = np.append(np.maximum(features, 0), 0), np.append(thresholds, np.inf)
    votes, owners = np.append(votes, 0.0), np.append(owners, 0)
    missing_left = np.concatenate([*(learner.missing_left_ for learner in learners), [True]])
    for feature in np.unique(features):
        chosen = features == feature
        yield int(feature), thresholds[chosen], owners[chosen], votes[chosen], missing_left[chosen]


def _sums_by_model(owners: NDArray[np.intp], votes: Floats) -> Floats:
    return np.bincount(np.unique(owners, return_inverse=True)[1], votes).astype(np.float64)


def _step_functions(
    thresholds: Floats, owners: NDArray[np.intp], votes: Floats
) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Sum stumps of one feature up to one step function per model.

    Returns the finite thresholds, ascending; the models; and their values before each step and beyond the last.
    """
    models, model = np.unique(owners, return_inverse=True)
    steps = np.unique(thresholds[np.isfinite(thresholds)])
    # An infinite threshold is placed behind the last step, which is cut off.
    place = np.searchsorted(steps, thresholds) + 1
    changes = np.zeros((len(steps) + 2, len(models)))
    changes[0] = _sums_by_model(owners, votes)
    np.add.at(changes, (place, model), -2.0 * votes)
    return steps, models, np.cumsum(changes, axis=0)[:-1]


def _search_tree(n_steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Lay out a balanced search tree; return the left and right child of each node, 0 for a leaf, and its place.

    An inner node's place is the step that it compares with, a leaf's the interval between steps that it stands for.
    """
    left, right, place = np.zeros((3, 2 * n_steps + 1), dtype=np.int64)
    ranges = [(0, n_steps)]  # of the intervals below each node
    for node in range(2 * n_steps + 1):
        first, last = ranges[node]
        place[node] = (first + last) // 2
        if first < last:
            left[node], right[node] = len(ranges), len(ranges) + 1
            ranges += [(first, int(place[node])), (int(place[node]) + 1, last)]
    return left, right, place


def boosted_tree_margins(graph: Graph, rows: str, learners: Sequence[Any]) -> str:
    """Write the raw predictions of several HistGradientBoostingClassifier, side by side: one per class of each.

    With two classes there is one, of the second.
    """
    table = TreeTable()
    base = [np.ravel(learner._baseline_prediction).astype(np.float64) for learner in learners]
    firsts = np.cumsum([0, *map(len, base)])
    for first, learner in zip(firsts, learners, strict=False):
        for stage in learner._predictors:
            for target, predictor in enumerate(stage, start=int(first)):
                nodes = predictor.nodes
                if nodes["is_categorical"].any():
                    raise NotImplementedError(
                        "HistGradientBoostingClassifier with categorical features cannot be exported to ONNX; "
                        "encode them in a pipeline"
                    )
                missing_left = nodes["missing_go_to_left"].astype(np.int64)
                children, values = (nodes["left"], nodes["right"]), nodes["value"][:, np.newaxis]
                features, thresholds = nodes["feature_idx"], nodes["num_threshold"]
                table.add(features, thresholds, *children, np.array([target]), values, missing_left)
    return graph.node("Add", table.write(graph, rows, int(firsts[-1])), np.concatenate(base))


def forest_probabilities(graph: Graph, rows: str, learner: Any) -> str:
    """Write the class probabilities of a decision tree or a forest of scikit-learn, which reads rows as floats."""
    table = TreeTable()
    trees = getattr(learner, "estimators_", [learner])
    for tree in (each.tree_ for each in trees):
        shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
        is_leaf = tree.children_left < 0
        left, right = (np.where(is_leaf, 0, children) for children in (tree.children_left, tree.children_right))
        missing = tree.missing_go_to_left.astype(np.int64)
        table.add(tree.feature, tree.threshold, left, right, np.arange(shares.shape[1]), shares / len(trees), missing)
    rounded = graph.double(graph.cast(rows, TensorProto.FLOAT))
    return table.write(graph, rounded, len(learner.classes_))
