"""The compiled loops of boosted stumps: search a stump, reweight the rows, add up the votes.

Every row carries a signed weight: its weight, positive for the second class and negative for the first. A stump's
*edge* is the sum of the signed weights on its left less those on its right, that is (weight of all rows) x (1 - 2 x
weighted error): so the largest absolute edge over all cuts is the lowest error over all cuts and both polarities.

The last bin of a feature may be that of missing values, as marked in `missing`. Then every cut is tried with that bin
on its right, where it is anyway, and on its left.
"""

import numpy as np
from numpy.typing import NDArray

from skecoc.data.codes import Codes, Floats, read_only, take_rows
from skecoc.support.compiling import inlined, kernel

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
RowNumbers = NDArray[np.uint32]

#: When the weight of all rows has left this range, counted from the last rebuilding of the histograms, they are
#: rebuilt. Rounding errors never shrink with the weights, so a fall by 2^10 costs ten of the 53 bits.
_LARGEST_GROWTH = 2.0**64
_LARGEST_FALL = 2.0**10

#: Two stumps whose weighted errors differ by no more than this are equally good: rounding does far less.
TIE_TOLERANCE = 1e-10

#: A stump's weighted error counts as at least this much in its alpha: a perfect column weighs about as much as forty
#: stumps that are perfect together.
SMALLEST_ERROR = 1e-10

#: Rows whose votes are added up together.
_BLOCK = 256


def boost_groups(
    codes: Codes,
    starts: Ints,
    missing: Flags,
    rows: NDArray[np.intp] | None,
    bounds: Ints,
    signed: Floats,
    n_estimators: int,
) -> tuple[Ints, Ints, Ints, Flags, Ints, Floats, Ints]:
    """Boost stumps on groups of rows of coded features, ``rows[bounds[g]:bounds[g + 1]]``, each on its own.

    None for `rows` means all of them, in one group. Return each stump's feature, its bins on both sides of the cut,
    whether missing values are on its left, its polarity (vote on the left) and alpha, and where the stumps of each
    group begin. The absolute values of `signed`, which is overwritten, sum to 1 in each group.
    """
    n_groups, largest = len(bounds) - 1, int(np.diff(bounds).max(initial=0))
    most = n_groups * n_estimators
    features, polarities = np.empty(most, np.int64), np.empty(most, np.int64)
    left, right = np.empty(most, np.int64), np.empty(most, np.int64)
    alphas, missing_left = np.empty(most), np.empty(most, np.bool_)
    firsts = np.zeros(n_groups + 1, np.int64)
    own, own_starts, most_bins = np.empty((0, 0), codes.dtype), np.empty(0, np.int64), 0
    taken, taken_starts, taken_missing = codes, starts, missing.copy()
    if rows is not None:
        own, own_starts = np.empty((len(codes), largest), codes.dtype), np.empty_like(starts)
        # The same memory once to write to and once to read from: codes are read-only, and so one compiled version does.
        taken, taken_starts = read_only(own), read_only(own_starts)
        most_bins = int(np.diff(starts).max())
    words = np.zeros((most_bins + 7) // 8, np.uint64)
    _boost_each_group(
        codes,
        starts,
        missing,
        np.empty(0, np.intp) if rows is None else rows,
        bounds,
        signed,
        np.abs(signed),
        n_estimators,
        own,
        own_starts,
        taken,
        taken_starts,
        taken_missing,
        np.empty(min(int(starts[-1]), own.size), np.int64),
        words,
        words.view(np.uint8),
        np.empty(8 * len(words), codes.dtype),
        np.empty(starts[-1]),
        np.empty(largest, np.uint32),
        np.empty(largest),
        features,
        left,
        right,
        missing_left,
        polarities,
        alphas,
        firsts,
    )
    last = firsts[-1]
    sides = left[:last], right[:last], missing_left[:last]
    return features[:last], *sides, polarities[:last], alphas[:last], firsts


@kernel
def _boost_each_group(
    codes: Codes,
    starts: Ints,
    missing: Flags,
    rows: NDArray[np.intp],
    bounds: Ints,
    signed: Floats,
    weight: Floats,
    n_estimators: int,
    own: Codes,
    own_starts: Ints,
    taken: Codes,
    taken_starts: Ints,
    taken_missing: Flags,
    kept: Ints,
    words: NDArray[np.uint64],
    marks: NDArray[np.uint8],
    ranks: Codes,
    histograms: Floats,
    order: RowNumbers,
    changes: Floats,
    features: Ints,
    left: Ints,
    right: Ints,
    missing_left: Flags,
    polarities: Ints,
    alphas: Floats,
    firsts: Ints,
) -> None:
    """Boost stumps group by group; results are written to the last arguments, from `features` on."""
    for g in range(bounds.size - 1):
        begin, end = bounds[g], bounds[g + 1]
        if rows.size > 0:
            take_rows(codes, starts, rows[begin:end], words, marks, ranks, own, kept, own_starts)
            for f in range(missing.size):
                taken_missing[f] = missing[f] and kept[own_starts[f + 1] - 1] == starts[f + 1] - 1
        first = firsts[g]
        n_stumps = _boost_group(
            taken,
            taken_starts,
            taken_missing,
            signed[begin:end],
            n_estimators,
            histograms[: taken_starts[taken_starts.size - 1]],
            order[: end - begin],
            changes,
            features[first:],
            left[first:],
            missing_left[first:],
            polarities[first:],
            alphas[first:],
        )
        last_bin = taken_starts[taken_starts.size - 1] - 1
        for t in range(first, first + n_stumps):
            if features[t] < 0:
                missing_left[t] = True  # all rows are on the constant stump's left
            elif not taken_missing[features[t]]:
                missing_left[t] = has_most_left(taken[features[t]], left[t], weight[begin:end])
            place = taken_starts[max(features[t], 0)] + left[t]
            after = min(place + 1, last_bin)
            left[t] = kept[place] if rows.size > 0 else place
            right[t] = kept[after] if rows.size > 0 else after
        firsts[g + 1] = first + n_stumps


@inlined
def has_most_left(of_feature: Codes, cut: int, weight: Floats) -> bool:
    """Tell whether more than half of the weight, 1, is left of a cut: missing values unseen so far go with most."""
    a = b = c = d = 0.0  # four sums, which do not wait for each other
    n_fours = 4 * (weight.size // 4)
    for i in range(0, n_fours, 4):
        a += weight[i] * (of_feature[i] <= cut)
        b += weight[i + 1] * (of_feature[i + 1] <= cut)
        c += weight[i + 2] * (of_feature[i + 2] <= cut)
        d += weight[i + 3] * (of_feature[i + 3] <= cut)
    for i in range(n_fours, weight.size):
        a += weight[i] * (of_feature[i] <= cut)
    return a + b + c + d > 0.5 + TIE_TOLERANCE


@inlined
def _boost_group(
    codes: Codes,
    starts: Ints,
    missing: Flags,
    signed: Floats,
    n_estimators: int,
    histograms: Floats,
    rows: RowNumbers,
    changes: Floats,
    features: Ints,
    cuts: Ints,
    missing_left: Flags,
    polarities: Ints,
    alphas: Floats,
) -> int:
    """Boost stumps on all rows of coded features; write what each stump is, from `features` on, and return how many.

    A round changes either the rows that the stump gets wrong or those it gets right, whichever are fewer: multiplying
    all weights by a constant changes nothing.
    """
    n_samples = signed.size
    _start_over(signed, 1.0, rows, changes, histograms)
    weight, edge = _sum_weights(signed, rows)
    heaviest = weight
    changed = rows
    for t in range(n_estimators):
        add_rows(codes, starts, histograms, changed, changes)
        slack = 2.0 * TIE_TOLERANCE * weight  # a difference of errors counts twice in edges
        features[t], cuts[t], missing_left[t], polarities[t], best = best_stump(
            histograms, starts, missing, edge, slack
        )
        if best <= slack:  # a weighted error of one half
            return t
        n_right = 0  # bins on the right: all rows are on the constant stump's left
        if features[t] >= 0:
            n_right = starts[features[t] + 1] - starts[features[t]] - cuts[t] - 1 - missing_left[t]
        n_wrong = put_wrong_first(codes, signed, features[t], cuts[t] + 1, n_right, polarities[t], rows)
        wrong, wrong_edge = _sum_weights(signed, rows[:n_wrong])
        are_few_wrong = 2 * n_wrong <= n_samples
        sums = weight, edge, wrong, wrong_edge
        alphas[t], factor, weight, edge = _reweighted(sums, are_few_wrong)
        if wrong == 0.0:
            return t + 1
        changed = rows[:n_wrong] if are_few_wrong else rows[n_wrong:]
        _scale_weights(signed, changed, factor, changes)
        heaviest = max(heaviest, weight)
        if weight > _LARGEST_GROWTH or weight * _LARGEST_FALL < heaviest:
            _start_over(signed, weight, rows, changes, histograms)
            weight, edge = _sum_weights(signed, rows)
            heaviest = weight
            changed = rows
    return n_estimators


class Boosting:
    """The weights of rows while they are boosted outside of compiled code, and what the last round has changed."""

    def __init__(self, signed: Floats, n_bins: int) -> None:
        self._signed, self.histograms = signed, np.empty(n_bins)
        self.rows, self.changes = np.empty(len(signed), np.uint32), np.empty(len(signed))
        self._start_over(1.0)

    def _start_over(self, weight: float) -> None:
        """Divide all weights by their sum, empty the histograms, and list every row as changed."""
        _start_over(self._signed, weight, self.rows, self.changes, self.histograms)
        self.weight, self.edge = _sum_weights(self._signed, self.rows)
        self._heaviest, self.changed = self.weight, self.rows

    def reweight(self, n_wrong: int) -> tuple[float, bool]:
        """Reweight rows, the first of which are wrong, as `_boost_group` does; return alpha, and if it was the last."""
        wrong, wrong_edge = _sum_weights(self._signed, self.rows[:n_wrong])
        are_few_wrong = 2 * n_wrong <= len(self.rows)
        sums = self.weight, self.edge, wrong, wrong_edge
        alpha, factor, self.weight, self.edge = _reweighted.py_func(sums, are_few_wrong)
        if wrong == 0.0:
            return alpha, True
        self.changed = self.rows[:n_wrong] if are_few_wrong else self.rows[n_wrong:]
        _scale_weights(self._signed, self.changed, factor, self.changes)
        self._heaviest = max(self._heaviest, self.weight)
        if self.weight > _LARGEST_GROWTH or self.weight * _LARGEST_FALL < self._heaviest:
            self._start_over(self.weight)
        return alpha, False


@inlined
def _reweighted(sums: tuple[float, float, float, float], are_few_wrong: bool) -> tuple[float, float, float, float]:
    """Return alpha of a stump, the factor of rows that are wrong, if they are few, or right, and the new sums.

    `sums` are those of weights and signed weights, of all rows and of those that are wrong.
    """
    weight, edge, wrong, wrong_edge = sums
    error = max(wrong / weight, SMALLEST_ERROR)
    # In single precision: then sums in another order, as over blocks, give the same alpha.
    alpha = float(np.float32(0.5 * np.log((1.0 - error) / error)))
    right, right_edge = weight - wrong, edge - wrong_edge
    if are_few_wrong:
        factor = (1.0 - error) / error
        return alpha, factor, right + factor * wrong, right_edge + factor * wrong_edge
    factor = error / (1.0 - error)
    return alpha, factor, factor * right + wrong, factor * right_edge + wrong_edge


@kernel
def _start_over(signed: Floats, weight: float, rows: RowNumbers, changes: Floats, histograms: Floats) -> None:
    """Divide all weights by their sum, empty the histograms, and list every row as changed."""
    for i in range(signed.size):
        signed[i] /= weight
        changes[i] = signed[i]
        rows[i] = i
    for k in range(histograms.size):
        histograms[k] = 0.0


@kernel
def _sum_weights(signed: Floats, rows: RowNumbers) -> tuple[float, float]:
    weight = 0.0
    edge = 0.0
    for row in rows:
        weight += abs(signed[row])
        edge += signed[row]
    return weight, edge


@inlined
def _scale_weights(signed: Floats, rows: RowNumbers, factor: float, changes: Floats) -> None:
    """Multiply the weights of some rows, and note by how much each changes."""
    for j in range(rows.size):
        changes[j] = (factor - 1.0) * signed[rows[j]]
        signed[rows[j]] *= factor


@kernel
def add_rows(
    codes: Codes, starts: Ints, histograms: Floats | Ints, rows: RowNumbers | Ints, changes: Floats | Ints
) -> None:
    """Add the changes of some rows to the histograms of all features: of floats, or of integers for exact sums.

    Four features go together: additions to one histogram often wait for each other, those to four do not.
    """
    n_features = codes.shape[0]
    n_fours = n_features // 4
    for four in range(n_fours):
        f = 4 * four
        a, b, c, d = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
        into_a, into_b = histograms[starts[f] :], histograms[starts[f + 1] :]
        into_c, into_d = histograms[starts[f + 2] :], histograms[starts[f + 3] :]
        for j in range(rows.size):
            row, change = rows[j], changes[j]
            into_a[a[row]] += change
            into_b[b[row]] += change
            into_c[c[row]] += change
            into_d[d[row]] += change
    for f in range(4 * n_fours, n_features):
        a, into_a = codes[f], histograms[starts[f] :]
        for j in range(rows.size):
            into_a[a[rows[j]]] += changes[j]


@inlined
def best_stump(
    histograms: Floats, starts: Ints, missing: Flags, total: float, slack: float
) -> tuple[int, int, bool, int, float]:
    """Find the stump of lowest error.

    Return its feature (-1: constant), cut, whether the bin of missing values is on the left although it is the last,
    vote on the left, and absolute edge.
    """
    feature, cut, missing_left, left_edge = -1, 0, False, total
    best = abs(total)
    for f in range(starts.size - 1):
        peak = _largest_edge(histograms[starts[f] : starts[f + 1]], total)
        last = starts[f + 1] - 1
        if missing[f] and last > starts[f]:
            peak = max(peak, _largest_edge(histograms[starts[f] : last], total - 2.0 * histograms[last]))
        if peak > best + slack:
            feature, best = f, peak
    if feature >= 0:
        histogram = histograms[starts[feature] : starts[feature + 1]]
        cut, left_edge = _first_cut(histogram, total, best - slack)
        if missing[feature] and abs(left_edge) < best - slack:
            last = starts[feature + 1] - 1
            missing_left = True
            values = histograms[starts[feature] : last]
            cut, left_edge = _first_cut(values, total - 2.0 * histograms[last], best - slack)
    return feature, cut, missing_left, 1 if left_edge > 0.0 else -1, best


@kernel
def _largest_edge(histogram: Floats, total: float) -> float:
    """Find the largest absolute edge over all cuts of a feature: twice the sum up to the cut less half the total.

    Four bins go together, so that only one of the four additions waits for the one before.
    """
    n_cuts = histogram.size - 1
    n_fours = n_cuts // 4
    half = -0.5 * total
    highest = lowest = half
    for four in range(n_fours):
        k = 4 * four
        two = histogram[k] + histogram[k + 1]
        half_1 = half + histogram[k]
        half_2 = half + two
        half_3 = half_2 + histogram[k + 2]
        half += two + (histogram[k + 2] + histogram[k + 3])
        high = max(half_1, half_2, half_3, half)
        low = min(half_1, half_2, half_3, half)
        highest = max(highest, high)
        lowest = min(lowest, low)
    for k in range(4 * n_fours, n_cuts):
        half += histogram[k]
        highest = max(highest, half)
        lowest = min(lowest, half)
    return 2.0 * max(highest, -lowest)


@inlined
def _first_cut(histogram: Floats, total: float, level: float) -> tuple[int, float]:
    """Find the first cut whose absolute edge reaches a level: its last bin on the left, and its edge."""
    edge = -total
    last = 0
    for k in range(histogram.size - 1):
        edge += 2.0 * histogram[k]
        last = k
        if abs(edge) >= level:
            break
    return last, edge


@inlined
def put_wrong_first(
    codes: Codes, signed: Floats, feature: int, first_right: int, n_right: int, polarity: int, rows: RowNumbers
) -> int:
    """List the rows that a stump gets wrong at the front of `rows`, the others at its end; return how many.

    So many bins of the feature, from the first one of them on, are on the stump's right.
    """
    n_wrong = 0
    last = signed.size - 1
    right_is_positive = polarity < 0
    of_feature = codes[max(feature, 0)]
    first, size = np.uint32(first_right), np.uint32(n_right)
    for i in range(signed.size):
        # Bins on the left become very large numbers.
        is_right = np.uint32(of_feature[i] - first) < size
        is_wrong = (is_right == right_is_positive) != (signed[i] > 0.0)
        # Writing to both ends and moving one of them is faster than an unpredictable branch.
        rows[n_wrong] = rows[last] = i
        n_wrong += is_wrong
        last -= not is_wrong
    return n_wrong


def add_votes(
    X: NDArray[np.float64] | NDArray[np.float32],
    features: Ints,
    thresholds: Floats,
    missing_left: Flags,
    votes: Floats,
    starts: Ints,
) -> Floats:
    """Add up the votes of several models for the same rows, (n_samples, n_models), in the order of their stumps.

    Model `q` owns the stumps ``starts[q]:starts[q + 1]``; the constant stump has feature -1, an infinite threshold and
    missing values on its left.
    """
    result = np.empty((len(X), len(starts) - 1))
    features = np.maximum(features, 0)
    is_used = np.zeros(X.shape[1], dtype=np.bool_)
    is_used[features] = True
    used = np.flatnonzero(is_used)
    places = (np.cumsum(is_used) - 1)[features]
    work = np.zeros((len(used), _BLOCK)), np.empty(_BLOCK)
    _add_votes(X, used, places, thresholds, missing_left, votes, starts, *work, result)
    return result


@kernel
def _add_votes(
    X: NDArray[np.float64] | NDArray[np.float32],
    used: Ints,
    places: Ints,
    thresholds: Floats,
    missing_left: Flags,
    votes: Floats,
    starts: Ints,
    block: Floats,
    sums: Floats,
    result: Floats,
) -> None:
    """Write the votes of several models; `used` lists the features that stumps look at, `places` each stump's there.

    Rows are worked on block by block: `block` has those features of some rows, one after the other.
    """
    n_samples = X.shape[0]
    for first in range(0, n_samples, _BLOCK):
        n_rows = min(_BLOCK, n_samples - first)
        for k in range(used.size):
            for i in range(n_rows):
                block[k, i] = X[first + i, used[k]]
        for q in range(starts.size - 1):
            for i in range(_BLOCK):
                sums[i] = 0.0
            for t in range(starts[q], starts[q + 1]):
                _add_vote(block[places[t]], thresholds[t], missing_left[t], votes[t], sums)
            for i in range(n_rows):
                result[first + i, q] = sums[i]


@inlined
def _add_vote(values: Floats, threshold: float, missing_left: bool, vote: float, sums: Floats) -> None:
    """Add one stump's vote for each of a block of values; every comparison with NaN is false."""
    if missing_left:
        for i in range(_BLOCK):
            sums[i] += -vote if values[i] > threshold else vote
    else:
        for i in range(_BLOCK):
            sums[i] += vote if values[i] <= threshold else -vote


@kernel
def add_votes_of_groups(
    X: NDArray[np.float64] | NDArray[np.float32],
    group: NDArray[np.intp],
    features: Ints,
    thresholds: Floats,
    missing_left: Flags,
    votes: Floats,
    starts: Ints,
    sums: Floats,
) -> None:
    """Add to `sums` the votes of the model of each row's group, in the order of its stumps."""
    for i in range(X.shape[0]):
        total = 0.0
        for t in range(starts[group[i]], starts[group[i] + 1]):
            # The constant stump's threshold is infinite, so that any feature will do.
            value = X[i, max(features[t], 0)]
            is_left = value <= thresholds[t] or (missing_left[t] and np.isnan(value))
            total += votes[t] if is_left else -votes[t]
        sums[i] += total


def respond(F: Floats, response: str) -> Floats:
    """Turn weighted votes into the outputs of columns."""
    if response == "predict_proba":
        return np.tanh(F)
    return np.where(F > 0.0, 1.0, -1.0) if response == "predict" else F
