"""Features coded as small integers, and rounding: what compiled loops over coded samples share.

A decision stump only compares a value with a cut, so ranks among the distinct values of each feature are all that
boosting needs. They take one or two bytes a cell, are computed once, and serve every subset of the rows.

Nothing here, nor in the modules that this one imports, loads scikit-learn: the workers of a cluster do without.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.support.compiling import inlined, kernel

#: Bins of one feature that a 16-bit code can tell apart.
MAX_BINS = 65_536

#: Distinct values that an 8-bit code can tell apart; up to here a hash table finds them without a sort.
FEW_VALUES = 256

#: Codes of more cells than this have 8 bits if that is enough, to save memory. They are hardly faster, and kernels have
#: to be compiled for either width.
MANY_CELLS = 2**22

_HASH_BITS = 10
_HASH_SLOTS = 1 << _HASH_BITS
_HASH_SHIFT = np.uint64(64 - _HASH_BITS)
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, made odd

# The last 17 of 53 significant bits are rounded away.
_HALF_ROUNDED, _NOT_ROUNDED = 1 << 16, ~((1 << 17) - 1)

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Names = NDArray[np.object_]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class FeatureCodes:
    """The integer codes of a matrix of features, feature by feature; what `_prepare_rows` of boosted stumps returns."""

    codes: Codes  # (n_features, n_samples): bin of each value; every bin of a feature holds at least one row
    starts: NDArray[np.int64]  # feature f has the bins starts[f]:starts[f + 1] of `lower` and `upper`
    lower: Floats  # smallest value of each bin; infinite for the bin of missing values, the last one of its feature
    upper: Floats  # largest value of each bin: `lower` itself where every bin is a single value
    feature_names: Names | None = None
    categories: list[NDArray[Any] | None] | None = None  # of each column, if features stand for categories
    edges: Floats | None = None  # fixed thresholds after bins, NaN where it is midway; None: all thresholds are midway
    missing: NDArray[np.bool_] = field(init=False)  # whether the last bin of a feature is that of missing values

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", np.isposinf(self.lower[self.starts[1:] - 1]))
        # Compiled code is specialised for read-only arrays; if all are, one version serves memory maps as well.
        for array in (self.codes, self.starts, self.lower, self.upper, self.missing):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type["FeatureCodes"], tuple[Any, ...]]:
        columns = self.feature_names, self.categories
        return FeatureCodes, (self.codes, self.starts, self.lower, self.upper, *columns, self.edges)

    def __sizeof__(self) -> int:
        # A cluster sends objects that know they are large, and can be referred to weakly, only once.
        return self.codes.nbytes + self.lower.nbytes + self.upper.nbytes

    @property
    def n_features(self) -> int:
        """Number of features, or of the columns that they stand for."""
        return self.codes.shape[0] if self.categories is None else len(self.categories)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.codes.shape[1]

    @property
    def exact(self) -> bool:
        """Whether every bin is a single value, so that no threshold between two values is lost."""
        return self.upper is self.lower

    def thresholds_between(
        self, features: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> Floats:
        """Return the thresholds between pairs of bins, given by their places; where the feature is -1, infinity.

        Without a feature, the places may be any numbers.
        """
        is_cut = features >= 0
        left, right = np.where(is_cut, left, 0), np.where(is_cut, right, 0)
        thresholds = midway(self.upper[left], self.lower[right])
        if self.edges is not None:
            between = self.edges[(left + right - 1) // 2]
            thresholds = np.where(np.isnan(between), thresholds, between)
        # Nothing but missing values lies above infinity.
        return np.where(is_cut & np.isfinite(self.lower[right]), thresholds, np.inf)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to: one compiled version then serves memory maps as well."""
    view = array.view()
    view.flags.writeable = False
    return view


def rounded(values: Floats) -> Floats:
    """Round numbers to 36 significant bits, where sums of another order, as blocks have them, no longer differ.

    >>> values = np.array([0.1 + 0.2, -1e300, 3.0])
    >>> bool(rounded(values)[0] == rounded(np.array([0.3]))[0]), rounded(values)[2]
    (True, np.float64(3.0))
    """
    bits = np.array(values, dtype=np.float64, order="C").view(np.int64)
    round_bits(bits.reshape(-1))
    return bits.view(np.float64)


@kernel
def round_bits(bits: NDArray[np.int64]) -> None:
    """Round floating-point numbers, given by their bits, in place; see `rounded`."""
    for i in range(bits.size):
        bits[i] = (bits[i] + _HALF_ROUNDED) & _NOT_ROUNDED


def midway(left: Any, right: Any) -> Floats:
    """Return the middles of pairs of numbers, such that values ``<=`` a middle lie on the left."""
    middle = left / 2 + right / 2  # left + right might overflow
    # Between neighbouring numbers the middle may round to the right one, and would not separate them.
    return np.where((left <= middle) & (middle < right), middle, left)


def code_features(
    X: NDArray[np.float64] | NDArray[np.float32],
    feature_names: Names | None = None,
    categories: list[NDArray[Any] | None] | None = None,
) -> FeatureCodes:
    """Replace every value by its rank among the distinct values of its feature, or by one of 65,536 equally large bins.

    >>> code_features(np.array([[0.5, 7.0], [2.5, 7.0], [0.5, 9.0]])).codes.tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    n_samples, n_features = X.shape
    codes: Codes = np.empty((n_features, n_samples), np.uint16)
    if X.size > MANY_CELLS:
        codes = np.empty((n_features, n_samples), np.uint8)
    lowers, uppers, are_exact = [], [], True
    starts = np.zeros(n_features + 1, np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        has_missing = bool(np.isnan(X.sum(dtype=np.float64)))
    for f in range(n_features):
        # Adding zero turns -0.0 into 0.0: they are equal, but not in their bits, which are hashed.
        column = np.add(X[:, f], 0.0, dtype=np.float64)
        while (ends := _code_feature(column, codes[f], has_missing)) is None:
            codes = codes.astype(np.uint16)
        lower, upper = ends
        lowers.append(lower)
        uppers.append(upper)
        starts[f + 1] = starts[f] + len(lower)
        are_exact = are_exact and upper is lower
    all_lower = np.concatenate(lowers)
    all_upper = all_lower if are_exact else np.concatenate(uppers)
    return FeatureCodes(codes, starts, all_lower, all_upper, feature_names, categories)


def _code_feature(column: Floats, codes: Codes, has_missing: bool) -> tuple[Floats, Floats] | None:
    """Write the codes of a feature; return the ends of its bins, or None if there are more bins than codes."""
    is_missing = np.isnan(column) if has_missing else None
    values, ranks, most_bins = column, codes, MAX_BINS
    if is_missing is not None and is_missing.any():
        values, most_bins = column[~is_missing], MAX_BINS - 1
        ranks = np.empty(len(values), codes.dtype)
    ends = rank_few_values(values, ranks)
    if ends is None and codes.dtype == np.uint8:
        return None
    if ends is None:
        order = np.argsort(values)
        in_order = values[order]
        n_values = 1 + int(np.count_nonzero(in_order[1:] != in_order[:-1]))
        n_bins = min(n_values, most_bins)
        lower = np.empty(n_bins)
        ends = lower, np.empty(n_bins) if n_values > n_bins else lower
        _code_sorted(in_order, order, n_values, ranks, *ends)
    if is_missing is None or len(values) == len(column):
        return ends
    if len(ends[0]) > np.iinfo(codes.dtype).max:
        return None
    codes[~is_missing], codes[is_missing] = ranks, len(ends[0])
    lower = np.append(ends[0], np.inf)
    return lower, lower if ends[1] is ends[0] else np.append(ends[1], np.inf)


def rank_few_values(column: Floats, codes: Codes) -> tuple[Floats, Floats] | None:
    """Write the codes of a feature with few values and return its values, twice; None if it has too many."""
    values = np.empty(FEW_VALUES)
    slots = np.full(_HASH_SLOTS, -1, np.int16)
    n_values = _number_values(column, column.view(np.uint64), slots, values, codes)
    if n_values < 0:
        return None
    order = np.argsort(values[:n_values])
    ranks = np.empty(n_values, codes.dtype)
    ranks[order] = np.arange(n_values)
    _translate(codes, ranks)
    lower = values[order]
    return lower, lower


@kernel
def _number_values(
    column: Floats, bits: NDArray[np.uint64], slots: NDArray[np.int16], values: Floats, codes: Codes
) -> int:
    """Give the distinct values of a feature numbers as they come; return how many, or -1 if too many for `values`.

    `slots` is an open hash table of these numbers, -1 where empty, and `bits` what is hashed.
    """
    n_values = 0
    for i in range(column.size):
        slot = (bits[i] * _HASH_FACTOR) >> _HASH_SHIFT
        while slots[slot] >= 0 and values[slots[slot]] != column[i]:
            slot = (slot + np.uint64(1)) % np.uint64(_HASH_SLOTS)
        if slots[slot] < 0:
            if n_values == values.size:
                return -1
            values[n_values] = column[i]
            slots[slot] = n_values
            n_values += 1
        codes[i] = slots[slot]
    return n_values


@kernel
def _translate(codes: Codes, new_codes: Codes) -> None:
    """Replace every code by what a table has for it."""
    for i in range(codes.size):
        codes[i] = new_codes[codes[i]]


@kernel
def _code_sorted(
    in_order: Floats, order: NDArray[np.intp], n_values: int, codes: Codes, lower: Floats, upper: Floats
) -> None:
    """Write the codes of a feature and the ends of its bins, given its values in order and where they come from.

    Bins, ``rank * n_bins // n_values``, are counted up, which is faster than dividing.
    """
    n_bins = lower.size
    this_bin = 0
    remainder = 0
    lower[0] = in_order[0]
    for i in range(order.size):
        if i > 0 and in_order[i] != in_order[i - 1]:
            remainder += n_bins
            if remainder >= n_values:
                remainder -= n_values
                this_bin += 1
                lower[this_bin] = in_order[i]
        upper[this_bin] = in_order[i]
        codes[order[i]] = this_bin


@inlined
def take_rows(
    codes: Codes,
    starts: NDArray[np.int64],
    rows: NDArray[np.intp],
    words: NDArray[np.uint64],
    marks: NDArray[np.uint8],
    ranks: Codes,
    new_codes: Codes,
    kept: NDArray[np.int64],
    new_starts: NDArray[np.int64],
) -> None:
    """Gather the codes of some rows and rank them anew among the bins that occur there, found by marking.

    `words` are the same marks, read eight at a time: few rows of a feature with very many bins then cost little more
    than the rows. All marks are zero before and after. `ranks` has room for as many numbers.
    """
    n_kept = 0
    new_starts[0] = 0
    for f in range(codes.shape[0]):
        for j in range(rows.size):
            marks[codes[f, rows[j]]] = 1
        for word in range((starts[f + 1] - starts[f] + 7) // 8):
            if words[word]:
                for code in range(8 * word, 8 * word + 8):
                    if marks[code]:
                        ranks[code] = n_kept - new_starts[f]
                        kept[n_kept] = starts[f] + code
                        n_kept += 1
                words[word] = 0
        for j in range(rows.size):
            new_codes[f, j] = ranks[codes[f, rows[j]]]
        new_starts[f + 1] = n_kept
