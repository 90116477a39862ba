"""Codes that depend on the data: trees of bipartitions with high mutual information.

The data enter only by the histograms of each feature in each class, so after one pass over the samples the cost of the
search does not depend on their number.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from skecoc.coding.matrix import CodeMatrix, Floats, Indices, Mask, check_count

_BLOCK_FLOATS = 2**21
_BLOCK_VALUES = 2**18
_DECIMALS = 10
_MAX_ATTEMPTS = 100


def decoc(X: Any, y: ArrayLike, *, n_bins: int = 16, sample_weight: ArrayLike | None = None) -> CodeMatrix:
    r"""Discriminant ECOC: a tree of bipartitions with the highest mutual information.

    The tree splits the classes recursively. The criterion of a split of a node's classes into two sides is

    .. math:: \sum_f \frac{n_f}{n} I(\text{bin of feature } f;\ \text{side}),

    the mutual information between each binned feature and the side, summed over features. :math:`n_f` is the weight of
    the node's samples that have a value of the feature and n is the largest of these, so missing values carry no
    information.

    A feature with at most `n_bins` distinct values has one bin per value. Other numeric features are cut between
    distinct values into bins of about equal frequency, so outliers, increasing transformations and repeating all
    samples do not change the bins. Features that are not numeric (strings, categories) have a bin for each of their
    most frequent values; all other values share the last bin, and a missing value is treated as a value of its own.

    The best split is found by sequential forward floating search. It starts with no class on the first side and moves
    there, one after another, the class that gives the best split, until one class remains. After each move, classes are
    moved back as long as that gives the best split so far for that number of classes. The best split found is used.
    Ties are broken by the lowest class index.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        The samples, which may contain NaN, strings and categories. A sparse matrix is never converted to a dense one as
        a whole.
    y : array-like of shape (n_samples,)
        Labels, of at least two classes; rows of the code are in the order of ``np.unique(y)``.
    n_bins : int, default=16
        Maximum number of bins of a feature, at least 2.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the samples; None means 1 each.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_classes - 1)
        One column per node; a node comes before its children. The side of the node's first class is +1; classes that
        are not in the node are 0.

    References
    ----------
    O. Pujol, P. Radeva, J. Vitria, "Discriminant ECOC: a heuristic method for application dependent design of error
    correcting output codes", IEEE TPAMI 28(6), 2006.

    P. Pudil, J. Novovicova, J. Kittler, "Floating search methods in feature selection", Pattern Recognition Letters
    15(11), 1994.

    Examples
    --------
    >>> from skecoc.coding import decoc
    >>> X = [[5.0], [6.0], [0.0], [0.0], [5.0], [7.0]]
    >>> decoc(X, ["a", "a", "b", "b", "c", "c"])  # a and c have a value in common, so b goes first
    array([[ 1,  1],
           [-1,  0],
           [ 1, -1]], dtype=int8)
    """
    histograms = class_histograms(X, y, n_bins=n_bins, sample_weight=sample_weight)
    return trees_from_histograms(histograms, 1)


def forest(
    X: Any,
    y: ArrayLike,
    *,
    n_trees: int = 3,
    n_bins: int = 16,
    sample_weight: ArrayLike | None = None,
) -> CodeMatrix:
    """Forest-ECOC: join the codes of several `decoc` trees with different splits.

    Every tree is grown like that of `decoc`, except that splits of earlier trees (the same classes into the same sides)
    are not used again; the best other split of the search is used instead. The same holds for splits that leave two or
    three classes which cannot be split further in a new way. If a node has no new split, the split of its parent is
    excluded too and the tree is grown again. If no tree can be found, fewer trees are returned.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        The samples, in any form that `decoc` accepts.
    y : array-like of shape (n_samples,)
        Labels, of at least two classes; rows of the code are in the order of ``np.unique(y)``.
    n_trees : int, default=3
        Maximum number of trees, at least 1.
    n_bins : int, default=16
        Maximum number of bins of a feature, at least 2.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the samples; None means 1 each.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_made * (n_classes - 1))
        The columns of the trees, one tree after another; no two columns are equal up to sign. The first tree is that of
        `decoc`.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva, "Boosted landmarks of contextual descriptors and Forest-ECOC: a novel framework to
    detect and classify objects in cluttered scenes", Pattern Recognition Letters 28(13), 2007.

    Examples
    --------
    >>> from skecoc.coding import forest
    >>> X = [[5.0], [6.0], [0.0], [0.0], [5.0], [7.0]]
    >>> forest(X, ["a", "a", "b", "b", "c", "c"], n_trees=2)
    array([[ 1,  1,  1,  0],
           [-1,  0, -1,  1],
           [ 1, -1, -1, -1]], dtype=int8)
    """
    n_trees = check_count(n_trees, "n_trees", 1)
    histograms = class_histograms(X, y, n_bins=n_bins, sample_weight=sample_weight)
    return trees_from_histograms(histograms, n_trees)


def trees_from_histograms(histograms: Floats, n_trees: int) -> CodeMatrix:
    """Grow the trees of `decoc` and `forest`, at most so many, from what `class_histograms` gives."""
    columns: list[CodeMatrix] = []
    for _ in range(n_trees):
        tree = _grow_tree(histograms, {column.tobytes() for column in columns})
        if tree is None:
            break
        columns += tree
    return np.stack(columns, axis=1)


def best_bipartition(histograms: Floats) -> CodeMatrix:
    """Return the first column of `decoc`'s tree, from what `class_histograms` gives."""
    n_classes = len(histograms)
    first_side = _best_split(histograms, lambda _: True)
    assert first_side is not None  # noqa: S101 - with every split allowed, one is found
    return _split_column(n_classes, np.arange(n_classes), first_side)


def most_separating(X: Floats, y: Indices, weight: Floats, n_features: int) -> Indices:
    """Choose the features whose class means differ most relative to the variation within classes, in their order."""
    if X.shape[1] <= n_features:
        return np.arange(X.shape[1])
    members = np.zeros((int(y.max()) + 1, len(y)))
    members[y, np.arange(len(y))] = weight
    mass = members.sum(axis=1)
    centred = X - np.average(X, axis=0, weights=weight)
    between = mass @ (members @ centred / mass[:, np.newaxis]) ** 2
    total = weight @ centred**2
    share = between / np.where(total > 0, total, 1.0)
    return np.sort(np.argsort(-np.round(share, _DECIMALS), kind="stable")[:n_features])


class _NodeCriterion:
    """The information of any split of one node's classes."""

    def __init__(self, histograms: Floats) -> None:
        # With phi(w) = w log w, n_f I(bin; side) is the sum of phi over bins and sides, less the sum over sides of phi
        # of the side's total, less a term that is equal for all splits. So the totals of a feature are treated as one
        # more bin, with a negative sign.
        cells = histograms.reshape(len(histograms), -1)
        totals = histograms.sum(axis=2)
        weights = np.hstack([cells, totals])
        sign = np.repeat([1.0, -1.0], [cells.shape[1], totals.shape[1]])
        occupied = weights.any(axis=0)
        self._weights = np.ascontiguousarray(weights[:, occupied])
        self._sign = sign[occupied]
        self._total = self._weights.sum(axis=0)
        self._scale = float(totals.sum(axis=0).max()) or 1.0
        self._shared = float(_w_log_w(self._total) @ self._sign)

    def of_moves(self, first_side: Mask, moved: Indices) -> Floats:
        """Information of the splits that moving each one of some classes to its other side makes."""
        weight = self._weights[first_side].sum(axis=0)
        direction = np.where(first_side[moved], -1.0, 1.0)[:, np.newaxis]
        information = np.empty(len(moved))
        n_at_once = max(1, _BLOCK_FLOATS // max(1, len(weight)))
        for start in range(0, len(moved), n_at_once):
            block = slice(start, start + n_at_once)
            # On an empty side, rounding can leave weights below zero.
            first = np.maximum(weight + direction[block] * self._weights[moved[block]], 0.0)
            second = np.maximum(self._total - first, 0.0)
            between = (_w_log_w(first) + _w_log_w(second)) @ self._sign
            # Rounded, so that splits of equal worth compare equal.
            information[block] = np.round((between - self._shared) / self._scale, _DECIMALS)
        return information


def _w_log_w(weight: Floats) -> Floats:
    return weight * np.log(np.where(weight > 0, weight, 1.0))


def _floating_search(criterion: _NodeCriterion, n_classes: int) -> Iterator[tuple[Floats, Mask]]:
    """Yield every batch of splits that the search compares: information, and first sides as rows."""
    first_side = np.zeros(n_classes, dtype=np.bool_)
    best_of_size = np.full(n_classes, -np.inf)

    def look(moved: Indices) -> tuple[Floats, Mask]:
        splits = np.tile(first_side, (len(moved), 1))
        splits[np.arange(len(moved)), moved] ^= True
        return criterion.of_moves(first_side, moved), splits

    while (size := int(first_side.sum())) < n_classes - 1:
        information, splits = look(np.flatnonzero(~first_side))
        yield information, splits
        first_side = splits[information.argmax()]
        size += 1
        best_of_size[size] = max(best_of_size[size], information.max())
        while size > 2:
            information, splits = look(np.flatnonzero(first_side))
            yield information, splits
            size -= 1
            if information.max() <= best_of_size[size]:
                break
            first_side = splits[information.argmax()]
            best_of_size[size] = information.max()


def _best_split(histograms: Floats, is_allowed: Callable[[Mask], bool]) -> Mask | None:
    """Return the first side of the best allowed split that the search compares, None if there is none."""
    best, most = None, -np.inf
    for information, splits in _floating_search(_NodeCriterion(histograms), len(histograms)):
        for i in np.argsort(-information, kind="stable"):
            if information[i] <= most:
                break
            if is_allowed(splits[i]):
                best, most = splits[i], information[i]
                break
    return best


def _grow_tree(histograms: Floats, taken: set[bytes]) -> list[CodeMatrix] | None:
    """Grow one tree of splits that are not taken; None if the attempts end without one."""
    passed_over = set(taken)
    for _ in range(_MAX_ATTEMPTS):
        columns, dead_end = _attempt_tree(histograms, passed_over)
        if dead_end is None:
            return columns
        if len(dead_end) == 0:
            return None
        passed_over.add(dead_end)
    return None


def _attempt_tree(histograms: Floats, taken: set[bytes]) -> tuple[list[CodeMatrix], bytes | None]:
    """Grow a tree until it is whole, or until a node has no allowed split.

    Return the columns, and the split that made that node: None if the tree is whole, empty if the node is the root.
    """
    n_classes = len(histograms)
    columns: list[CodeMatrix] = []
    open_nodes: list[tuple[Indices, bytes]] = [(np.arange(n_classes), b"")]
    while open_nodes:
        node, parent = open_nodes.pop()
        if len(node) == 1:
            continue
        first_side = _best_split(histograms[node], partial(_is_allowed, n_classes, node, taken))
        if first_side is None:
            return columns, parent
        column = _split_column(n_classes, node, first_side)
        columns.append(column)
        open_nodes += [(node[side], column.tobytes()) for side in (column[node] == -1, column[node] == 1)]
    return columns, None


def _split_column(n_classes: int, node: Indices, first_side: Mask) -> CodeMatrix:
    """Return the column of a split, with +1 on the side of the node's first class."""
    column = np.zeros(n_classes, dtype=np.int8)
    column[node] = np.where(first_side == first_side[0], 1, -1)
    return column


def _is_allowed(n_classes: int, node: Indices, taken: set[bytes], first_side: Mask) -> bool:
    """Tell whether a split is not taken and leaves nodes that can be split further.

    Nodes of more than three classes are assumed to have such a split.
    """
    if _split_column(n_classes, node, first_side).tobytes() in taken:
        return False
    for part in (node[first_side], node[~first_side]):
        # A split of two or three classes has one class on one side.
        if len(part) in (2, 3) and not any(
            _is_allowed(n_classes, part, taken, lone_class) for lone_class in np.eye(len(part), dtype=np.bool_)
        ):
            return False
    return True


def class_histograms(X: Any, y: ArrayLike, *, n_bins: int = 16, sample_weight: ArrayLike | None = None) -> Floats:
    """Sum up the weights of every class in every bin of every feature, (n_classes, n_features, n_bins)."""
    n_bins = check_count(n_bins, "n_bins", 2)
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes") and min(X.shape) > 0
    # No array has room for all that the columns of a frame may hold.
    is_mixed = is_frame and not {getattr(dtype, "kind", None) for dtype in X.dtypes} <= {"i", "u", "f"}
    X = X if is_mixed else _check_features(X)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    classes, class_of_row = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got {len(classes)}")
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must not be all zero")
    if not weight.all():
        used = np.flatnonzero(weight)
        X, class_of_row, weight = _safe_indexing(X, used), class_of_row[used], weight[used]
    # Columns of text, and of objects of any kind, are taken one by one.
    has_numbers = not is_mixed and X.dtype.kind in "biuf"
    n_at_once = max(1, _BLOCK_VALUES // len(weight)) if has_numbers else 1
    histograms = np.empty((len(classes), X.shape[1], n_bins))
    for first in range(0, X.shape[1], n_at_once):
        block = slice(first, first + n_at_once)
        values = _check_features(_safe_indexing(X, [first], axis=1)) if is_mixed else X[:, block]
        values = values.toarray() if issparse(values) else values
        histograms[:, block] = _count_bins(values, class_of_row, weight, (len(classes), n_bins))
    return histograms


def _check_features(X: Any) -> Any:
    return check_array(X, accept_sparse="csc", dtype=None, ensure_all_finite=False, input_name="X")


def _count_bins(values: NDArray[Any], class_of_row: Indices, weight: Floats, shape: tuple[int, int]) -> Floats:
    """Sum up the weights of every class in every bin of some features; missing numbers are in no bin."""
    n_classes, n_bins = shape
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        # The heaviest categories have a bin each, the others the last bin together.
        category = np.unique(values[:, 0].astype(str), return_inverse=True)[1]
        mass = np.bincount(category, weights=weight)
        bin_of_category = np.empty(len(mass), dtype=np.intp)
        bin_of_category[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
        rows = np.arange(len(values))[:, np.newaxis]
        bins = bin_of_category.clip(max=n_bins - 1)[category][:, np.newaxis]
    else:
        rows, bins = _number_bins(numbers, weight, n_bins)
    n_features = values.shape[1]
    cell = (class_of_row[rows] * n_features + np.arange(n_features)) * n_bins + bins
    known = bins >= 0
    counts = np.bincount(cell[known], weights=weight[rows][known], minlength=n_classes * n_features * n_bins)
    return counts.astype(np.float64, copy=False).reshape(n_classes, n_features, n_bins)


def _number_bins(values: Floats, weight: Floats, n_bins: int) -> tuple[Indices, Indices]:
    """Cut every feature's numbers into bins of about equal weight, never between equal numbers.

    Returns the order of the rows in each feature, and their bins in that order, -1 for NaN.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    known = ~np.isnan(ordered)
    features = np.arange(values.shape[1])
    rank = np.zeros(order.shape, dtype=np.intp)  # of each number among the distinct ones of its feature
    np.cumsum(ordered[1:] != ordered[:-1], axis=0, out=rank[1:])
    n_distinct = np.where(known, rank + 1, 0).max(axis=0)
    mass = np.bincount(
        (rank * len(features) + features).ravel(), np.where(known, weight[order], 0.0).ravel(), minlength=rank.size
    )
    up_to = np.cumsum(mass.reshape(rank.shape), axis=0)
    share = up_to / np.where(n_distinct > 0, up_to[-1], 1.0)  # of the weight up to each distinct number
    ends_bin = np.zeros(rank.shape, dtype=np.bool_)
    ends_bin[:, n_distinct <= n_bins] = True
    many = np.flatnonzero(n_distinct > n_bins)
    share = share[:, many]
    for wanted in np.arange(1, n_bins) / n_bins:
        above = (share < wanted).sum(axis=0).clip(1, n_distinct[many] - 2)
        below = above - 1
        at = np.arange(len(many))
        is_nearer_below = wanted - share[below, at] <= share[above, at] - wanted
        ends_bin[above - is_nearer_below, many] = True
    bin_of_rank: Indices = np.cumsum(ends_bin, axis=0) - ends_bin
    return order, np.where(known, np.take_along_axis(bin_of_rank, rank, axis=0), -1)
