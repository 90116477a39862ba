"""Bins of features with many values: decided by a sample of the rows that does not depend on where these are.

Up to ten thousand samples every value has a bin of its own, so that stumps try all thresholds. Beyond, a feature with
more than 256 values has that many bins: one for each value that many samples have, such as zero, and bins of about
equally many samples for the others. More bins take longer and do not improve the stumps. Samples in memory and in
blocks have the same bins, and so the same stumps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.data.codes import FEW_VALUES, Codes, Floats, Integers, midway, rank_few_values, rounded
from skecoc.data.folds import FEW_OF_CLASS, MOST_DEALT, Keys

Ints = NDArray[np.int64]

#: With more samples than this, features with many values are binned.
MANY_TO_BIN = 10_000
#: Distinct rows of the sample, beside some of every class: all rows if folds are dealt out in turn.
SAMPLE_ROWS = MOST_DEALT
#: Distinct rows of every class that are in the sample, if it has this many.
SAMPLE_ROWS_OF_CLASS = FEW_OF_CLASS
# So that masses summed up in another order give the same bins.
_ROUNDING = 1e-9


class RowSample(NamedTuple):
    """Distinct rows, sorted by key."""

    keys: Keys
    y: NDArray[Any]
    X: Floats
    mass: Floats  # total weight of the rows that equal them
    counts: Ints  # number of these rows

    def part(self, taken: Integers) -> "RowSample":
        """Return some of the rows."""
        return RowSample(self.keys[taken], self.y[taken], self.X[taken], self.mass[taken], self.counts[taken])


@dataclass(frozen=True)
class Bins:
    """How the values of features are coded."""

    starts: Ints  # feature f has the bins starts[f]:starts[f + 1]
    lower: Floats  # smallest and largest value of each bin that is known; infinite for missing values
    upper: Floats
    centres: Floats  # centre of each bin: the mean of its sampled values; NaN for missing values
    edges: Floats  # where each bin ends: values up to it belong to the bin or to one before; infinite for the last
    missing: NDArray[np.bool_]  # whether the last bin of a feature is that of missing values, with infinite ends
    exact: NDArray[np.bool_]  # whether every bin of a feature is a single value, so that no threshold is lost

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.exact)

    @property
    def n_bins(self) -> int:
        """Number of bins of all features."""
        return int(self.starts[-1])

    def of(self, feature: int) -> slice:
        """Return where the bins of a feature are."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))

    def threshold(self, feature: int, left: int, right: int) -> float:
        """Return the threshold between two bins of a feature between which no training row lies.

        It is midway between the values on both sides or, if bins are not exact, the end of the bin in the middle, so
        that it does not cut a bin in two.
        """
        first = int(self.starts[feature])
        if np.isposinf(self.lower[first + right]):
            return np.inf  # only missing values lie above
        if self.exact[feature]:
            return float(midway(self.upper[first + left], self.lower[first + right]))
        return float(self.edges[first + (left + right - 1) // 2])

    def cut(self, feature: int, threshold: float) -> int:
        """Return the last bin of a feature whose values lie at or below a threshold; -1 if none does."""
        return int(np.searchsorted(self.upper[self.of(feature)], threshold, side="right")) - 1


def make_bins(
    distinct: tuple[Floats | None, ...], sample: RowSample, max_bins: int, missing: Sequence[bool] | None = None
) -> Bins:
    """Make bins: one for each distinct value of a feature, or if these are None, by sampled rows.

    A feature with missing values, as `missing` says, has one more bin for them.
    """
    missing = [False] * len(distinct) if missing is None else missing
    ends = [
        (values, values, values) if values is not None else _equal_bins(sample, feature, max_bins - missing[feature])
        for feature, values in enumerate(distinct)
    ]
    for feature in np.flatnonzero(missing):
        low, high, middle = ends[feature]
        ends[feature] = np.append(low, np.inf), np.append(high, np.inf), np.append(middle, np.nan)
    starts = np.concatenate([[0], np.cumsum([len(lower) for lower, *_ in ends])]).astype(np.int64)
    edges = [
        np.append(np.where(np.isposinf(lower[1:]), np.inf, midway(upper[:-1], lower[1:])), np.inf)
        for lower, upper, _ in ends
    ]
    lowers, uppers, middles = zip(*ends, strict=True)
    return Bins(
        starts,
        np.concatenate(lowers),
        np.concatenate(uppers),
        np.concatenate(middles),
        np.concatenate(edges),
        np.array(missing, dtype=np.bool_),
        np.array([values is not None for values in distinct]),
    )


def _equal_bins(sample: RowSample, feature: int, max_bins: int) -> tuple[Floats, Floats, Floats]:
    """Divide the sampled values of a feature into bins; return the bins' ends and middles."""
    known = np.flatnonzero(~np.isnan(sample.X[:, feature]))
    if len(known) == 0:  # values that are not in the sample share a bin
        return np.zeros(1), np.zeros(1), np.zeros(1)
    values, where = np.unique(sample.X[known, feature] + 0.0, return_inverse=True)
    mass: Floats = np.bincount(where, sample.mass[known]).astype(np.float64)
    number = _bin_numbers(rounded(mass), max_bins)
    first = np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))
    lower, upper = values[first], values[np.append(first[1:] - 1, len(values) - 1)]
    largest = np.maximum(np.abs(values).max(), 1.0)  # so that no sum overflows
    means = np.add.reduceat(values / largest * mass, first) / np.add.reduceat(mass, first) * largest
    return lower, upper, np.clip(rounded(means), lower, upper)


def _bin_numbers(mass: Floats, max_bins: int) -> Ints:
    """Give sorted values the numbers of their bins: heavy values have one each, the others share the rest equally.

    A value is heavy if it has more than a bin's share of what heavier ones leave. As bins end at heavy values, at most
    every other bin is one of these.
    """
    if len(mass) <= max_bins:
        return np.arange(len(mass))
    order = np.argsort(-mass, kind="stable")[: (max_bins - 1) // 2]
    left = mass.sum() - np.cumsum(mass[order]) + mass[order]
    n_heavy = int((mass[order] * (max_bins - np.arange(len(order))) > left * (1.0 + _ROUNDING)).sum())
    is_heavy = np.zeros(len(mass), np.bool_)
    is_heavy[order[:n_heavy]] = True
    # Heavy values divide the others into runs, whose ends are further ends of bins.
    n_runs = int((np.diff(is_heavy.astype(np.int8), prepend=1) < 0).sum())
    n_bins = max_bins - n_heavy - (n_runs - 1)
    light = np.where(is_heavy, 0.0, mass)
    middle = np.cumsum(light) - light / 2
    share = np.minimum((middle * (n_bins / light.sum()) + _ROUNDING).astype(np.int64), n_bins - 1)
    is_new = (share[1:] != share[:-1]) | is_heavy[1:] | is_heavy[:-1]
    return np.concatenate([[0], np.cumsum(is_new)])


def distinct_values(column: NDArray[Any], most_values: int) -> Floats | None:
    """Return the distinct values of a feature but NaN, sorted; None if there are too many."""
    numbers = np.add(column, 0.0, dtype=np.float64)  # turns -0.0 into 0.0
    is_missing = np.isnan(numbers)
    if is_missing.any():
        numbers = numbers[~is_missing]
    found = rank_few_values(numbers, np.empty(len(numbers), np.uint8))
    values = None if found is None else found[0]
    if values is None and most_values > FEW_VALUES:
        values = np.unique(numbers)
    return limited(values, most_values)


def limited(values: Floats | None, most_values: int) -> Floats | None:
    """Return values unless there are too many."""
    return None if values is None or len(values) > most_values else values


def smallest_keys(keys: Keys, label: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """Find the `n_rows` rows with the smallest keys, and some of every label, sorted by key."""
    in_order = np.lexsort((keys, label))
    by_label = label[in_order]
    is_first = np.concatenate([[True], by_label[1:] != by_label[:-1]])
    position = np.arange(len(keys))
    rank = position - np.maximum.accumulate(np.where(is_first, position, 0))
    of_class = in_order[rank < SAMPLE_ROWS_OF_CLASS]
    n_smallest = min(n_rows, len(keys))
    smallest = np.argpartition(keys, n_smallest - 1)[:n_smallest]
    taken = np.union1d(of_class, smallest)
    return taken[np.lexsort((label[taken], keys[taken]))]


def choose_rows(
    keys: Keys, label: NDArray[np.intp], weight: Floats, n_rows: int = SAMPLE_ROWS, counts: Ints | None = None
) -> tuple[NDArray[np.intp], Floats, Ints, bool]:
    """Choose the distinct rows with the smallest keys, sorted by key; how rows are divided into blocks is no matter.

    Returns them, the weights and numbers of the rows that equal them, and whether all distinct rows are among them.
    """
    order = np.lexsort((label, keys))
    in_order, labels = keys[order], label[order]
    is_first = np.concatenate([[True], (in_order[1:] != in_order[:-1]) | (labels[1:] != labels[:-1])])
    start = np.flatnonzero(is_first)
    first, mass = order[start], np.add.reduceat(weight[order], start)
    count = np.add.reduceat((np.ones(len(keys), np.int64) if counts is None else counts)[order], start)
    taken = smallest_keys(keys[first], label[first], n_rows)
    return first[taken], mass[taken], count[taken], len(taken) == len(first)


def code_values(X: NDArray[np.floating], bins: Bins) -> Codes:
    """Find the bin of every value of X, as an array of shape (n_features, n_rows)."""
    dtype = np.uint8 if np.diff(bins.starts).max() <= 256 else np.uint16
    codes: Any = np.empty((X.shape[1], X.shape[0]), dtype)
    for f in range(bins.n_features):
        inner = bins.edges[bins.of(f)][:-1]
        codes[f] = np.searchsorted(inner, X[:, f].astype(np.float64), side="left")
    return codes


class BinnedSamples(NamedTuple):
    """Samples in memory as their bins show them."""

    bins: Bins
    codes: Codes  # (n_features, n_samples)
    mass: Floats  # (n_samples,): of samples that are in the sample, with all that equal them; 0 for others

    def middles(self) -> Floats:
        """Return the samples with every value replaced by the middle of its bin, (n_samples, n_features)."""
        middles, X = self.bins.centres, np.empty(self.codes.shape[::-1])
        for f, codes in enumerate(self.codes):
            X[:, f] = middles[self.bins.of(f)][codes]
        return X


def bin_samples(X: NDArray[np.floating], y: Integers, weight: Floats | None, keys: Keys) -> BinnedSamples:
    """Bin samples in memory as blocks of them would be."""
    rows, total, counts, _ = choose_rows(keys, y, np.ones(len(y)) if weight is None else weight)
    sample = RowSample(keys[rows], y[rows], X[rows].astype(np.float64), total, counts)
    missing = np.isnan(X).any(axis=0)
    distinct = tuple(distinct_values(column, FEW_VALUES - gap) for column, gap in zip(X.T, missing, strict=True))
    bins = make_bins(distinct, sample, FEW_VALUES, missing.tolist())
    mass = np.zeros(len(y))
    mass[rows] = sample.mass
    return BinnedSamples(bins, code_values(X, bins), mass)
