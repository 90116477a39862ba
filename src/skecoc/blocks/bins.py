"""Features of blocks as small integers: bins from a summary of all rows, and the rows of a block coded by them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.blocks.rows import Keys, RawBlock, RowSample, RowSummary, check_block, label_type, mix
from skecoc.learners.base import Codes, Floats, midway

Ints = NDArray[np.int64]

#: What a weight of 1, the largest, counts in sums of weights: they are sums of integers, in any order the same.
UNIT = 2.0**30
#: How errors begin if the second pass over blocks shows other rows than the first.
OTHER_ROWS = "blocks gave other rows when they were read again; they must start afresh, and be the same, every time"

_KEY_RANGE = 2.0**64
_LARGEST_KEY = 2**64 - 1


@dataclass(frozen=True)
class Bins:
    """How the values of features are coded.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_features + 1,)
        Feature `f` has the bins ``starts[f]:starts[f + 1]``.
    lower, upper : ndarray of shape (n_bins,)
        Smallest and largest value of each bin that is known; a bin ends midway to the next.
    edges : ndarray of shape (n_bins,)
        Where each bin ends: values ``<= edge`` belong to it or to one before. Infinite for the last bin of a feature.
    exact : ndarray of bool of shape (n_features,)
        Whether every bin of a feature is a single value, so that no threshold between two values is lost.
    """

    starts: Ints
    lower: Floats
    upper: Floats
    edges: Floats
    exact: NDArray[np.bool_]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.exact)

    @property
    def n_bins(self) -> int:
        """Number of bins of all features."""
        return int(self.starts[-1])

    @property
    def centres(self) -> Floats:
        """Middle of each bin, of shape (n_bins,): the value itself where a bin is a single one."""
        return self.lower / 2 + self.upper / 2

    def of(self, feature: int) -> slice:
        """Return where the bins of a feature are."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))

    def threshold(self, feature: int, left: int, right: int) -> float:
        """Return what parts two bins of a feature between which no training row lies.

        Parameters
        ----------
        feature : int
            The feature.
        left, right : int
            Numbers of the two bins within the feature.

        Returns
        -------
        float
            Midway between the values on both sides; if bins are not exact, the end of the bin in the middle, so that
            the threshold does not cut a bin in two.
        """
        first = int(self.starts[feature])
        if self.exact[feature]:
            return float(midway(self.upper[first + left], self.lower[first + right]))
        return float(self.edges[first + (left + right - 1) // 2])

    def cut(self, feature: int, threshold: float) -> int:
        """Return the last bin of a feature whose values lie at or below a threshold; -1 if none does."""
        return int(np.searchsorted(self.upper[self.of(feature)], threshold, side="right")) - 1


def bins_from_summary(summary: RowSummary, max_bins: int) -> Bins:
    """Make bins: one for each value of a feature if there are few, else bins of about equally many rows.

    Parameters
    ----------
    summary : RowSummary
        Summary of all rows, with ``most_values=max_bins``.
    max_bins : int
        Largest number of bins of a feature.

    Returns
    -------
    Bins
        The bins. Those of features with more values have their ends between the values of sampled rows.
    """
    ends = [
        (values, values) if values is not None else _equal_bins(summary.sample, feature, max_bins)
        for feature, values in enumerate(summary.values)
    ]
    starts = np.concatenate([[0], np.cumsum([len(lower) for lower, _ in ends])]).astype(np.int64)
    edges = [np.append(midway(upper[:-1], lower[1:]), np.inf) for lower, upper in ends]
    return Bins(
        starts,
        np.concatenate([lower for lower, _ in ends]),
        np.concatenate([upper for _, upper in ends]),
        np.concatenate(edges),
        np.array([values is not None for values in summary.values]),
    )


def _equal_bins(sample: RowSample, feature: int, max_bins: int) -> tuple[Floats, Floats]:
    """Part the sampled values of a feature into bins of about equal mass; return the ends of the bins."""
    values, where = np.unique(sample.X[:, feature] + 0.0, return_inverse=True)
    mass = np.bincount(where, sample.mass)
    middle = np.cumsum(mass) - mass / 2
    number = np.minimum((middle * (max_bins / mass.sum())).astype(np.int64), max_bins - 1)
    first = np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))
    return values[first], values[np.append(first[1:] - 1, len(values) - 1)]


@dataclass(frozen=True)
class Layout:
    """What coding a block needs to know.

    Attributes
    ----------
    bins : Bins
        The bins of all features.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    seed : int
        Seeds the hash of rows.
    largest_weight : float
        What weights are divided by.
    limits : ndarray of uint64 of shape (n_classes,)
        Rows of a class whose scrambled key is below this are held out.
    shared : ndarray of bool of shape (n_classes,)
        Whether the class has a single distinct row, which is then both trained on and held out.
    """

    bins: Bins
    classes: NDArray[np.generic]
    seed: int
    largest_weight: float
    limits: Keys
    shared: NDArray[np.bool_]


def make_layout(summary: RowSummary, seed: int, held_out: float) -> Layout:
    """Decide on bins, and on which rows are held out.

    Parameters
    ----------
    summary : RowSummary
        Summary of all rows.
    seed : int
        The seed that the summary was made with.
    held_out : float
        Share of the rows to hold out; 0 holds none out.

    Returns
    -------
    Layout
        With a share above 0, every class has a row that is held out and one that is not, unless all its rows are equal.
    """
    bins = bins_from_summary(summary, summary.most_values)
    n_classes = len(summary.labels)
    limits, shared = np.zeros(n_classes, np.uint64), np.zeros(n_classes, bool)
    number = np.searchsorted(summary.labels, summary.sample.y)
    scrambled = mix(summary.sample.keys)
    wanted = int(held_out * _KEY_RANGE)
    for p in range(n_classes if held_out > 0 else 0):
        keys = np.sort(scrambled[number == p])
        shared[p] = len(keys) == 1
        limits[p] = _LARGEST_KEY if shared[p] else min(max(wanted, int(keys[0]) + 1), int(keys[-1]))
    return Layout(bins, summary.labels, seed, summary.largest_weight, limits, shared)


def is_held_out(keys: Keys, y: NDArray[np.intp], layout: Layout) -> NDArray[np.bool_]:
    """Tell which rows are held out, by their keys and class indices."""
    held: NDArray[np.bool_] = mix(keys) < layout.limits[y]
    return held | layout.shared[y]


class CodedBlock(NamedTuple):
    """Coded rows of a block, sorted by class.

    Attributes
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_features, n_rows)
        Bin of each value within its feature.
    starts : ndarray of int64 of shape (n_classes + 1,)
        The rows of class `p` are ``starts[p]:starts[p + 1]``.
    weight : ndarray of shape (n_rows,) or (0,)
        Weights in (0, 1]; empty if all are 1.
    keys : ndarray of uint64 of shape (n_rows,)
        Hashes of the rows.
    """

    codes: Codes
    starts: Ints
    weight: Floats
    keys: Keys

    @property
    def y(self) -> NDArray[np.intp]:
        """Class index of each row, of shape (n_rows,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def weights(self) -> Floats:
        """Weight of each row, of shape (n_rows,), also if all are 1."""
        return self.weight if len(self.weight) else np.ones(len(self.keys))


def code_block(block: RawBlock, layout: Layout) -> tuple[CodedBlock, CodedBlock]:
    """Code the rows of a block.

    Parameters
    ----------
    block : RawBlock
        Rows, as they were summarised.
    layout : Layout
        The bins, the classes and the choice of rows to hold out.

    Returns
    -------
    training, held_out : CodedBlock
        The rows to train on, and those that are held out.
    """
    clean = check_block(block, layout.seed)
    if clean.X.shape[1] != layout.bins.n_features:
        raise ValueError(
            f"X must have {layout.bins.n_features} features in every block, whenever it is read; got {clean.X.shape[1]}"
        )
    y = _class_indices(clean.y, layout.classes)
    codes = code_values(clean.X, layout.bins)
    held = is_held_out(clean.keys, y, layout)
    parts = []
    for taken in (~held | layout.shared[y], held):
        rows = np.flatnonzero(taken)
        rows = rows[np.argsort(y[rows], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(y[rows], minlength=len(layout.classes)))])
        parts.append(CodedBlock(codes[:, rows], starts, _scaled(clean.weight, rows, layout), clean.keys[rows]))
    return parts[0], parts[1]


def _class_indices(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Find labels among the classes, where all of them must be."""
    if len(labels) == 0:
        return np.empty(0, np.intp)
    if label_type(labels) is label_type(classes):
        y = np.searchsorted(classes, labels)
        if (classes[np.minimum(y, len(classes) - 1)] == labels).all():
            return y
    raise ValueError(f"{OTHER_ROWS}: y holds labels that it did not hold before")


def _scaled(weight: Floats, rows: NDArray[np.intp], layout: Layout) -> Floats:
    """Return the weights of some rows in parts of the largest weight; empty if all weights everywhere are 1."""
    if len(weight):
        return weight[rows] / layout.largest_weight
    return np.empty(0) if layout.largest_weight == 1.0 else np.full(len(rows), 1.0 / layout.largest_weight)


def code_values(X: NDArray[np.floating], bins: Bins) -> Codes:
    """Find the bin of every value.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features.
    bins : Bins
        The bins.

    Returns
    -------
    ndarray of uint8 or uint16 of shape (n_features, n_rows)
        Number of each value's bin within its feature.
    """
    dtype = np.uint8 if np.diff(bins.starts).max() <= 256 else np.uint16
    codes: Any = np.empty((X.shape[1], X.shape[0]), dtype)
    for f in range(bins.n_features):
        inner = bins.edges[bins.of(f)][:-1]
        codes[f] = np.searchsorted(inner, X[:, f].astype(np.float64), side="left")
    return codes


def training_part(parts: tuple[CodedBlock, CodedBlock]) -> CodedBlock:
    """Return the rows to train on."""
    return parts[0]


def held_out_part(parts: tuple[CodedBlock, CodedBlock]) -> CodedBlock:
    """Return the rows that are held out."""
    return parts[1]


def class_totals(block: CodedBlock) -> tuple[Ints, Ints]:
    """Sum up the rows of each class, and their weights in parts of `UNIT`.

    Parameters
    ----------
    block : CodedBlock
        Rows.

    Returns
    -------
    counts, weights : ndarray of int64 of shape (n_classes,)
        Number and weight of the rows of each class.
    """
    counts = np.diff(block.starts)
    if len(block.weight) == 0:
        return counts, counts * int(UNIT)
    ends = np.concatenate([[0], np.cumsum(np.rint(block.weight * UNIT).astype(np.int64))])
    return counts, np.diff(ends[block.starts])
