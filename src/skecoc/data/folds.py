"""Folds that do not depend on where samples are: a sample's fold follows from a hash of its features.

So arrays, memory-mapped blocks and partitions of a cluster all have the same folds, and a sample that is given twice is
held out as one: a learner that was trained on one of them has seen the other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.data.codes import rounded

Keys = NDArray[np.uint64]
Integers = NDArray[np.intp]

#: Fold of a sample that is never held out.
NEVER_HELD_OUT = -1
#: Up to this many distinct samples, folds are dealt out in turn, so that they are equally large.
MOST_DEALT = 32_768
#: The folds of classes with fewer distinct samples than this are dealt out in turn however many samples there are.
FEW_OF_CLASS = 64
#: With more samples than this, ``n_folds="auto"`` holds one third out and does without the other two.
MANY_SAMPLES = 5_000
_FOLDS = 3
# The same with several learners, which have more weights to fit.
_FOLDS_OF_SEVERAL = 5

# Scrambles keys for folds, which must not depend on the keys that samples are drawn by.
_FOLDING = np.uint64(0x2545F4914F6CDD1D)
# Values that are hashed at a time, few enough for a core's cache.
_CHUNK_VALUES = 16_384


def mix(keys: Keys) -> Keys:
    """Scramble the bits of keys, one to one (the finisher of the splitmix64 generator)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)
    return keys


def _hash_values(values: NDArray[np.float64], features: Integers, seed: np.uint64) -> Keys:
    """Hash values of features; zeros count for nothing."""
    known = np.where(np.isnan(values), np.nan, values)
    hashes = mix(known.view(np.uint64) ^ mix(features.astype(np.uint64) ^ seed))
    hashes[values == 0] = 0
    return hashes


def hash_rows(X: NDArray[Any], seed: np.uint64) -> Keys:
    """Hash the features of each sample; equal samples, also of another precision, have equal keys."""
    keys = np.empty(len(X), np.uint64)
    features = np.arange(X.shape[1])
    n_rows = max(_CHUNK_VALUES // max(X.shape[1], 1), 1)
    for first in range(0, len(X), n_rows):
        chunk = np.asarray(X[first : first + n_rows], dtype=np.float64, order="C")
        keys[first : first + n_rows] = mix(seed + _hash_values(chunk, features, seed).sum(axis=1, dtype=np.uint64))
    return keys


def without_last_digits(X: Any) -> Any:
    """Return samples with their numbers rounded, so that keys do not depend on how they were read.

    Sparse matrices and frames of numbers have the keys of the same samples in an array. Texts stay as they are.
    """
    from scipy.sparse import issparse

    if issparse(X):
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()
        rows.data = rounded(rows.data)
        return rows
    try:
        return rounded(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return X


def _text_ranks(X: Any) -> NDArray[np.float64]:
    """Replace each value by its place among the sorted distinct ones of its column, as text."""
    from sklearn.utils import _safe_indexing  # the workers of a cluster do without scikit-learn

    columns = []
    for j in range(X.shape[1]):
        # A list: an array of texts would have as much room for each of them as for the longest.
        texts = [str(value) for value in np.asarray(_safe_indexing(X, j, axis=1), dtype=object)]
        ranks = {text: float(rank) for rank, text in enumerate(sorted(set(texts)))}
        columns.append(np.array([ranks[text] for text in texts]))
    return np.column_stack(columns)


def sample_keys(X: Any, seed: int) -> Keys:
    """Hash samples in memory, also those of a frame with text."""
    from scipy.sparse import issparse

    if issparse(X):
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()
        # Zeros count for nothing, so that the dense rows have the same keys.
        sums = np.zeros(rows.nnz + 1, np.uint64)
        np.cumsum(_hash_values(rows.data.astype(np.float64), rows.indices, np.uint64(seed)), out=sums[1:])
        return mix(np.uint64(seed) + sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        values = _text_ranks(X)
    is_missing = np.isnan(values)
    if is_missing.any():
        values = np.where(is_missing, np.nan, values)  # one NaN, as there are many that differ in their bits
    return hash_rows(values, np.uint64(seed))


@dataclass(frozen=True)
class FoldRule:
    """Says which fold holds out a sample of given key and class."""

    n_folds: int
    dealt: tuple[Keys | None, ...]  # of each class, its distinct keys, sorted, if they are dealt out in turn
    is_single: bool = False  # one fold alone is held out, and divided into as many parts as there would be folds

    def assign(self, keys: Keys, y: Integers) -> Integers:
        """Return the fold of each sample, or -1 for the samples of a class that has only one distinct sample.

        If that one were held out, no learner would know the class. If `is_single`, the numbers are those of the parts
        of the one fold, and -1 for all other samples.
        """
        n_folds = np.uint64(self.n_folds)
        scrambled = mix(keys ^ _FOLDING)
        folds, parts = (scrambled % n_folds).astype(np.intp), (scrambled // n_folds % n_folds).astype(np.intp)
        for number, known in enumerate(self.dealt):
            if known is not None:
                members = np.flatnonzero(y == number)
                # Classes start at different folds, so that folds of many small classes have about the same size.
                place = np.searchsorted(known, keys[members]) + number
                folds[members] = place % self.n_folds if len(known) > 1 else NEVER_HELD_OUT
                parts[members] = place // self.n_folds % self.n_folds
        return np.where(folds == 0, parts, NEVER_HELD_OUT) if self.is_single else folds


def resolve_folds(n_folds: int | str | None, n_samples: int, *, has_several: bool = False) -> tuple[int | None, bool]:
    """Return the number of folds, and whether one of them alone is held out, as "auto" does with many samples.

    >>> resolve_folds("auto", 300), resolve_folds("auto", 30_000), resolve_folds(5, 30_000)
    ((3, False), (3, True), (5, False))
    """
    if not isinstance(n_folds, str):
        return n_folds, False
    is_single = n_samples > MANY_SAMPLES
    return _FOLDS_OF_SEVERAL if has_several and not is_single else _FOLDS, is_single


def make_fold_rule(
    keys: Keys, y: Integers, n_classes: int, n_folds: int, *, is_complete: bool, is_single: bool = False
) -> FoldRule:
    """Make the rule from keys and classes of all distinct samples, or of those with the smallest keys of each class."""
    distinct = [np.unique(keys[y == number]) for number in range(n_classes)]
    deals_all = is_complete and sum(map(len, distinct)) <= MOST_DEALT
    dealt = (known if deals_all or len(known) < FEW_OF_CLASS else None for known in distinct)
    return FoldRule(n_folds, tuple(dealt), is_single)


def assign_folds(X: Any, y: Integers, n_folds: int, seed: int, *, is_single: bool = False) -> Integers:
    """Assign samples in memory to folds, class by class, so that equal samples of a class share a fold.

    >>> X = np.array([[0.0], [1.0], [1.0], [3.0], [9.0]])
    >>> folds = assign_folds(X, np.array([0, 0, 0, 0, 1]), n_folds=3, seed=0)
    >>> bool(folds[1] == folds[2]), len(set(folds[[0, 1, 3]])), int(folds[4])
    (True, 3, -1)
    """
    keys = sample_keys(X, seed)
    return make_fold_rule(keys, y, int(y.max()) + 1, n_folds, is_complete=True, is_single=is_single).assign(keys, y)
