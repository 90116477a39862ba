"""Boosted stumps on sparse samples: only values that are not zero are coded, kept and summed up.

What a round changes in the histograms follows from the non-zero values of the changed rows; the bin of zero gets what
the other bins of its feature leave of all weights. So time and memory are those of the non-zero values, and the stumps
are those of the same samples in a dense array.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skecoc.data.codes import FeatureCodes, Floats, Integers, Names
from skecoc.learners.stump_kernels import (
    TIE_TOLERANCE,
    Boosting,
    Flags,
    Ints,
    RowNumbers,
    best_stump,
    has_most_left,
    put_wrong_first,
)
from skecoc.support.compiling import kernel

Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The bins of the non-zero values of sparse samples; what `_prepare_rows` of boosted stumps returns for them."""

    bins: FeatureCodes  # of all features, without codes
    places: Any  # csr_array of int32: the place of each non-zero value's bin among those of all features
    zeros: Ints  # place of the bin of zero of each feature, -1 where no value is zero

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.bins.n_features

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.places.shape[0])

    @property
    def feature_names(self) -> Names | None:
        """Names of the features, if there are any."""
        return self.bins.feature_names


def code_sparse(X: Any, feature_names: Names | None = None) -> SparseCodes:
    """Replace every non-zero value of a sparse matrix by its rank among the distinct values of its feature.

    >>> coded = code_sparse(sparse.csr_array([[0.5, 7.0], [0.0, 7.0], [-2.0, 9.0]]))
    >>> coded.bins.lower.tolist(), coded.zeros.tolist()
    ([-2.0, 0.0, 0.5, 7.0, 9.0], [1, -1])
    """
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    n_samples, n_features = rows.shape
    n_values = np.bincount(rows.indices, minlength=n_features)
    with_zeros = np.flatnonzero(n_values < n_samples)
    features = np.concatenate([rows.indices, with_zeros])
    values = np.concatenate([rows.data, np.zeros(len(with_zeros))])
    order = np.lexsort((values, features))  # missing values come last
    in_order, of_feature = values[order], features[order]
    is_missing = np.isnan(in_order)
    is_same = (in_order[1:] == in_order[:-1]) | (is_missing[1:] & is_missing[:-1])
    is_first = np.concatenate([[True], (of_feature[1:] != of_feature[:-1]) | ~is_same])
    places = np.empty(len(values), np.int32)
    places[order] = np.cumsum(is_first) - 1
    zeros = np.full(n_features, -1, np.int64)
    zeros[with_zeros] = places[len(rows.data) :]
    starts = np.searchsorted(of_feature[is_first], np.arange(n_features + 1)).astype(np.int64)
    lower = np.where(is_missing[is_first], np.inf, in_order[is_first])
    bins = FeatureCodes(np.empty((n_features, 0), np.uint16), starts, lower, lower, feature_names)
    return SparseCodes(bins, sparse.csr_array((places[: len(rows.data)], rows.indices, rows.indptr), rows.shape), zeros)


def boost_sparse(
    coded: SparseCodes, rows: Integers | None, signed: Floats, n_estimators: int
) -> tuple[Ints, Ints, Ints, Flags, Ints, Floats]:
    """Boost stumps on some rows of sparse samples, None for all: what `boost_groups` returns of one group."""
    own, weight = _OwnRows(coded, rows), np.abs(signed)
    boosting = Boosting(signed, len(own.kept))
    codes = np.empty((1, len(signed)), np.uint32)  # of the feature that the stump uses; of the constant stump, anything
    stumps = []
    for _ in range(n_estimators):
        _add_sparse_rows(own.indptr, own.places, boosting.histograms, boosting.changed, boosting.changes)
        _fill_zeros(boosting.histograms, own.starts, own.zeros, boosting.edge)
        slack = 2.0 * TIE_TOLERANCE * boosting.weight
        sums = boosting.histograms, own.starts, own.missing
        feature, cut, missing_left, polarity, best = best_stump(*sums, boosting.edge, slack)
        if best <= slack:
            break
        n_right = 0
        if feature >= 0:
            n_right = own.starts[feature + 1] - own.starts[feature] - cut - 1 - missing_left
            entries = own.indptr, own.features, own.places
            _expand(*entries, feature, own.starts[feature], own.zeros[feature], codes[0])
        n_wrong = put_wrong_first(codes, signed, 0, cut + 1, n_right, polarity, boosting.rows)
        alpha, is_done = boosting.reweight(n_wrong)
        if feature < 0:
            missing_left = True
        elif not own.missing[feature]:
            missing_left = has_most_left(codes[0], cut, weight)
        place = int(own.starts[max(feature, 0)]) + cut
        left, right = int(own.kept[place]), int(own.kept[min(place + 1, len(own.kept) - 1)])
        stumps.append((feature, left, right, missing_left, polarity, alpha))
        if is_done:
            break
    features, lefts, rights, sides, polarities, alphas = zip(*stumps, strict=True) if stumps else [()] * 6
    cuts = np.array(features, np.int64), np.array(lefts, np.int64), np.array(rights, np.int64)
    return *cuts, np.array(sides, np.bool_), np.array(polarities, np.int64), np.array(alphas, np.float64)


class _OwnRows:
    """Some rows of sparse samples, ranked anew among the bins that occur in them."""

    def __init__(self, coded: SparseCodes, rows: Integers | None) -> None:
        places = coded.places if rows is None else coded.places[rows]
        n_rows, n_bins = places.shape[0], int(coded.bins.starts[-1])
        occurs = np.bincount(places.data, minlength=n_bins) > 0
        has_zero = (coded.zeros >= 0) & (np.bincount(places.indices, minlength=coded.n_features) < n_rows)
        occurs[coded.zeros[has_zero]] = True
        self.kept = np.flatnonzero(occurs)
        number = np.cumsum(occurs) - 1
        self.starts: Ints = np.searchsorted(self.kept, coded.bins.starts).astype(np.int64)
        self.zeros: Ints = np.where(has_zero, number[coded.zeros], -1)
        last = self.kept[np.maximum(self.starts[1:] - 1, 0)]
        self.missing: Flags = coded.bins.missing & (last == coded.bins.starts[1:] - 1)
        self.indptr, self.features = places.indptr.astype(np.int64), places.indices.astype(np.int32)
        self.places: Places = number[places.data].astype(np.int32)


@kernel
def _add_sparse_rows(indptr: Ints, places: Places, histograms: Floats, rows: RowNumbers, changes: Floats) -> None:
    """Add the changes of some rows to the bins of their non-zero values."""
    for j in range(rows.size):
        for k in range(indptr[rows[j]], indptr[rows[j] + 1]):
            histograms[places[k]] += changes[j]


@kernel
def _fill_zeros(histograms: Floats, starts: Ints, zeros: Ints, total: float) -> None:
    """Give the bin of zero of each feature what its other bins leave of a total."""
    for f in range(zeros.size):
        if zeros[f] >= 0:
            histograms[zeros[f]] = 0.0
            others = 0.0
            for k in range(starts[f], starts[f + 1]):
                others += histograms[k]
            histograms[zeros[f]] = total - others


@kernel
def _expand(
    indptr: Ints, features: Places, places: Places, feature: int, start: int, zero: int, codes: NDArray[np.uint32]
) -> None:
    """Write the codes of a feature of all rows; the features of a row are sorted."""
    for i in range(codes.size):
        low, high = indptr[i], indptr[i + 1]
        while low < high:
            middle = (low + high) // 2
            if features[middle] < feature:
                low = middle + 1
            else:
                high = middle
        is_there = low < indptr[i + 1] and features[low] == feature
        codes[i] = (places[low] if is_there else zero) - start
