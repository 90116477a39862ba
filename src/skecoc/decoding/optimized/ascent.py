"""Minimise the regularised hinge over many weights by ascent of its dual, row by row.

The dual variables are the rows' *shares* of their rivals (see `newton`): given shares, the best weights are a
projection, and the value there is a lower bound of the objective. The shares of one row after the other are improved,
and the weights are updated each time. Only few rivals of a row ever have a share, so a *sweep* over all rows scores a
few candidates instead of all classes, and costs far less than a pass, which finds the objective and further candidates.
Beside the codewords, memory is a few numbers per weight and per candidate.
"""

import numpy as np
from scipy import sparse

from skecoc.decoding.optimized.problem import (
    MemoryRows,
    Problem,
    Solution,
    map_in_threads,
    relative_gap,
    spans_of,
)
from skecoc.decoding.scoring import Floats, chunk_slices
from skecoc.support.compiling import kernel

_FIRST_SWEEPS = 2
_SWEEPS = 5  # between passes
# Candidates of a row: so many, and so many per weight, all rows together.
_CANDIDATES = 8
_CANDIDATES_PER_WEIGHT = 2.0
# Rivals become candidates whose score is within this part of the margin, or of the gap, below the best one's.
_NEAR_IN_MARGINS = 0.1
_NEAR_IN_GAPS = 10.0
# The room for candidates is doubled if a larger part of the rows has none for its best rival.
_MOST_CROWDED = 1e-3
_MOST_NEW = 4  # candidates of a row in a pass
# The curvature along a step is that of the weights that are positive now, but at least this part of the curvature with
# all weights: the dual may fall if many weights become positive at once. With 1 it never does.
_LEAST_CURVATURE = 0.3
_SAFE = 1.0
# A matrix with a smaller share of non-zero codes is multiplied entry by entry.
_SPARSE = 0.25
_SEED = 20_150_201


class DualAscent:
    """Shares of the rows, and the weights that they give."""

    def __init__(self, problem: Problem, rows: MemoryRows) -> None:
        space = problem.space
        self.problem, self.rows = problem, rows
        is_single = rows.codewords.dtype.kind != "f" or rows.codewords.dtype.itemsize < 8
        self._codewords = np.ascontiguousarray(rows.codewords, dtype=np.float32 if is_single else np.float64)
        self._prior = space.flatten(np.broadcast_to(problem.prior, space.matrix.shape))
        size = _CANDIDATES + int(np.ceil(_CANDIDATES_PER_WEIGHT * space.n_weights / rows.n_rows))
        size = max(1, min(size, space.n_classes - 1))
        self._candidates = np.full((rows.n_rows, size), -1, dtype=np.int32)
        self._shares = np.zeros((rows.n_rows, size))
        self._places = (space.bounds, space.columns, space.signs)
        self._thresholds = np.zeros(space.n_classes)
        self._rng = np.random.default_rng(_SEED)
        self._least_curvature = _LEAST_CURVATURE
        self.bound, self.n_pairs = -np.inf, 0
        self.update()

    def update(self) -> None:
        """Compute the weights and the bound that the shares give, afresh."""
        space, l2 = self.problem.space, self.problem.l2

        def of_span(span: slice) -> tuple[float, int, Floats]:
            slope, counts = np.zeros(space.n_weights), np.zeros(2)
            rows = self._codewords[span], self.rows.y[span], self.rows.weight[span]
            _add_slopes(*rows, self._candidates[span], self._shares[span], *self._places, slope, counts)
            return float(counts[0]), int(counts[1]), slope

        total, self.n_pairs, slope = 0.0, 0, np.zeros(space.n_weights)
        for weight, n_pairs, part in map_in_threads(self.rows.n_jobs, of_span, spans_of(self.rows.n_rows)):
            total, self.n_pairs = total + weight, self.n_pairs + n_pairs
            slope += part
        self._unprojected = self._prior - slope / l2
        _set_thresholds(self._unprojected, space.bounds, self._thresholds)
        weights = self.weights()
        penalty = 0.5 * l2 * float(((weights - self._prior) ** 2).sum())
        bound = self.problem.margin * total + float(slope @ weights) + penalty
        if bound < self.bound:
            self._least_curvature = _SAFE
        self.bound = bound

    def weights(self) -> Floats:
        """Return the best weights given the shares, as a vector."""
        space = self.problem.space
        weights = np.maximum(self._unprojected - self._thresholds[space.classes], 0.0)
        sums: Floats = np.add.reduceat(weights, space.bounds[:-1])
        return weights / sums[space.classes]

    def sweep(self) -> None:
        """Improve the shares of every row once, in random order."""
        order = self._rng.permutation(self.rows.n_rows)
        size = self._shares.shape[1]
        room, indices = np.empty((4, size)), np.empty(size, dtype=np.intp)
        rows = (order, self._codewords, self.rows.y, self.rows.weight, self._candidates, self._shares)
        settings = (self.problem.margin, self.problem.l2, self._least_curvature)
        _sweep(*rows, *self._places, self._unprojected, self._thresholds, *settings, room, indices)

    def look(self, weights: Floats, near: float) -> tuple[float, float]:
        """Pass over the rows at some weights: return hinge and risk, and note rivals of nearly the highest score."""
        space, margin = self.problem.space, self.problem.margin
        entries = (weights * space.signs, (space.classes, space.columns))
        code = sparse.csr_array(entries, shape=space.matrix.shape)
        is_sparse = space.n_weights < _SPARSE * space.matrix.size
        dense = np.zeros((0, 0)) if is_sparse else np.ascontiguousarray(code.toarray().T)

        def of_span(span: slice) -> Floats:
            sums = np.zeros(3)
            codewords, y, weight = self.rows.codewords[span], self.rows.y[span], self.rows.weight[span]
            candidates, shares = self._candidates[span], self._shares[span]
            for part in chunk_slices(len(y), codewords.shape[1] + space.n_classes):
                x = np.ascontiguousarray(codewords[part], dtype=np.float64)
                scores = np.ascontiguousarray((code @ np.ascontiguousarray(x.T)).T) if is_sparse else x @ dense
                _note_rivals(scores, y[part], weight[part], margin, near, candidates[part], shares[part], sums)
            return sums

        hinge, risk, n_crowded = sum(
            map_in_threads(self.rows.n_jobs, of_span, spans_of(self.rows.n_rows)), np.zeros(3)
        ).tolist()
        if n_crowded > _MOST_CROWDED * self.rows.n_rows:
            size = self._shares.shape[1]
            more = ((0, 0), (0, min(size, space.n_classes - 1 - size)))
            self._candidates = np.pad(self._candidates, more, constant_values=-1)
            self._shares = np.pad(self._shares, more)
        return hinge, risk


def ascend(problem: Problem, rows: MemoryRows, start: Floats, tol: float, max_rounds: int) -> Solution:
    """Minimise the mean hinge plus a positive penalty, up to a relative gap or a number of passes over all classes."""
    space = problem.space
    ascent = DualAscent(problem, rows)
    best, objective, hinge, risk = start, np.inf, np.inf, np.inf
    bound, weights = ascent.bound, space.flatten(start)
    n_rounds = 0
    while n_rounds == 0 or (relative_gap(objective, bound) > tol and n_rounds < max_rounds):
        if n_rounds:
            for _ in range(_FIRST_SWEEPS if n_rounds == 1 else _SWEEPS):
                ascent.sweep()
            ascent.update()
            weights, bound = ascent.weights(), max(bound, ascent.bound)
        near = min(_NEAR_IN_MARGINS * problem.margin, _NEAR_IN_GAPS * (objective - bound))
        at = space.repair(weights)
        found = ascent.look(weights, near)
        n_rounds += 1
        value = found[0] + problem.penalty(at)
        if value < objective:
            best, objective, (hinge, risk) = at, value, found
    return Solution(best, objective, hinge, risk, min(bound, objective), n_rounds, ascent.n_pairs)


@kernel
def _threshold(values, first, last, threshold):  # type: ignore[no-untyped-def]
    """Find what to take off a class's values so that their positive parts sum to 1, by Newton's method."""
    for _ in range(100):
        count, total, largest = 0, 0.0, -np.inf
        for k in range(first, last):
            excess = values[k] - threshold
            largest = max(largest, excess)
            if excess > 0.0:
                total += excess
                count += 1
        step = (total - 1.0) / count if count else largest - 1.0
        threshold += step
        if abs(step) <= 1e-15 * (1.0 + abs(threshold)):
            break
    return threshold


@kernel
def _set_thresholds(values, bounds, thresholds):  # type: ignore[no-untyped-def]
    for p in range(len(thresholds)):
        thresholds[p] = _threshold(values, bounds[p], bounds[p + 1], thresholds[p])


@kernel
def _score(row, group, bounds, columns, signs, values, threshold):  # type: ignore[no-untyped-def]
    """Return the score of a class, and the squares of the row's entries: with non-zero weights, less mean, and all."""
    score, square, total, count, whole = 0.0, 0.0, 0.0, 0, 0.0
    for k in range(bounds[group], bounds[group + 1]):
        x = signs[k] * row[columns[k]]
        whole += x * x
        weight = values[k] - threshold
        if weight > 0.0:
            score += weight * x
            square += x * x
            total += x
            count += 1
    return score, square - total * total / max(count, 1), whole


@kernel
def _move(row, group, factor, bounds, columns, signs, values, thresholds):  # type: ignore[no-untyped-def]
    """Add a multiple of a row to a class's values, and find its threshold."""
    for k in range(bounds[group], bounds[group + 1]):
        values[k] += factor * signs[k] * row[columns[k]]
    thresholds[group] = _threshold(values, bounds[group], bounds[group + 1], thresholds[group])


@kernel
def _price(keys, steepness, order, count, limit, own):  # type: ignore[no-untyped-def]
    """Find the price at which shares ``max(0, keys - price) / steepness`` sum to ``limit + price * own``.

    `order` lists the keys from the largest.
    """
    price, weighted, slope = -limit / own if own > 0.0 else -np.inf, 0.0, 0.0
    for j in order[:count]:
        if keys[j] <= price:
            break
        weighted += keys[j] / steepness[j]
        slope += 1.0 / steepness[j]
        price = (weighted - limit) / (slope + own)
    return price


@kernel
def _sweep(  # type: ignore[no-untyped-def]
    order,
    codewords,
    y,
    weight,
    candidates,
    shares,
    bounds,
    columns,
    signs,
    values,
    thresholds,
    margin,
    l2,
    least_curvature,
    room,
    indices,
):
    """Improve the shares of rows one after the other, in place, with the values whose projection is the weights.

    The dual is quadratic in the shares of a row as long as no weight becomes zero or positive, and is maximised as if
    it were so.
    """
    excess, keys, steepness = room[0], room[1], room[2]
    for i in order:
        if candidates[i, 0] < 0 or weight[i] == 0.0:
            continue
        row, own, scale = codewords[i], y[i], weight[i] / l2
        own_score, square, whole = _score(row, own, bounds, columns, signs, values, thresholds[own])
        own_steepness = scale * max(square, least_curvature * whole, 1e-12)
        count, total, largest = 0, 0.0, -np.inf
        while count < candidates.shape[1] and candidates[i, count] >= 0:
            p = candidates[i, count]
            score, square, whole = _score(row, p, bounds, columns, signs, values, thresholds[p])
            excess[count] = margin + score - own_score
            steepness[count] = scale * max(square, least_curvature * whole, 1e-12)
            keys[count] = excess[count] + steepness[count] * shares[i, count]
            largest = max(largest, excess[count])
            total += shares[i, count]
            place = count
            while place > 0 and keys[indices[place - 1]] < keys[count]:
                indices[place] = indices[place - 1]
                place -= 1
            indices[place] = count
            count += 1
        if largest <= 0.0 and total == 0.0:
            continue
        price = _price(keys, steepness, indices, count, total, 1.0 / own_steepness)
        if total + price / own_steepness > 1.0:
            price = _price(keys, steepness, indices, count, 1.0, 0.0)
        change = 0.0
        for j in range(count):
            share = max(0.0, keys[j] - price) / steepness[j]
            moved = share - shares[i, j]
            if moved != 0.0:
                shares[i, j] = share
                change += moved
                _move(row, candidates[i, j], -scale * moved, bounds, columns, signs, values, thresholds)
        if change != 0.0:
            _move(row, own, scale * change, bounds, columns, signs, values, thresholds)


@kernel
def _add_slopes(codewords, y, weight, candidates, shares, bounds, columns, signs, slope, counts):  # type: ignore[no-untyped-def]
    """Add the derivative of ``weight * shares @ z`` by the weights to a slope, and all shares and their number.

    Shares that by rounding sum to more than 1 are made smaller.
    """
    for i in range(len(y)):
        total = 0.0
        for j in range(candidates.shape[1]):
            total += shares[i, j]
        if total == 0.0:
            continue
        if total > 1.0:
            for j in range(candidates.shape[1]):
                shares[i, j] /= total * (1.0 + 1e-15)
        total = 0.0
        for j in range(candidates.shape[1]):
            if shares[i, j] > 0.0:
                p, factor = candidates[i, j], weight[i] * shares[i, j]
                total += factor
                counts[1] += 1
                for k in range(bounds[p], bounds[p + 1]):
                    slope[k] += factor * signs[k] * codewords[i, columns[k]]
        counts[0] += total
        own = y[i]
        for k in range(bounds[own], bounds[own + 1]):
            slope[k] -= total * signs[k] * codewords[i, columns[k]]


@kernel
def _note_rivals(scores, y, weight, margin, near, candidates, shares, sums):  # type: ignore[no-untyped-def]
    """Keep candidates with a share or a high score, and note new ones.

    Hinges with and without margin are added to sums, and how many rows have no room for their best rival.
    """
    for i in range(len(y)):
        own, best = y[i], -np.inf
        for p in range(scores.shape[1]):
            if p != own:
                best = max(best, scores[i, p])
        lead = best - scores[i, own]
        if lead + margin <= 0.0:
            continue
        sums[0] += weight[i] * (lead + margin)
        sums[1] += weight[i] * max(0.0, lead)
        count = _keep_candidates(scores[i], best - 3.0 * near, candidates[i], shares[i])
        lowest, n_new = max(best - near, scores[i, own] - margin), 0
        for p in range(scores.shape[1]):
            score = scores[i, p]
            if p == own or score < lowest or (n_new >= _MOST_NEW and score < best):
                continue
            place = _place_for(p, scores[i], candidates[i], shares[i], count)
            if place >= 0:
                candidates[i, place] = p
                count = max(count, place + 1)
                n_new += 1
            elif score == best and place == -2:
                sums[2] += 1.0


@kernel
def _keep_candidates(scores, lowest, candidates, shares):  # type: ignore[no-untyped-def]
    """Keep a row's candidates that have a share or a score of at least the lowest; return how many."""
    count = 0
    for j in range(len(candidates)):
        p, share = candidates[j], shares[j]
        if p >= 0 and (share > 0.0 or scores[p] >= lowest):
            candidates[count], shares[count] = p, share
            count += 1
    for j in range(count, len(candidates)):
        candidates[j], shares[j] = -1, 0.0
    return count


@kernel
def _place_for(rival, scores, candidates, shares, count):  # type: ignore[no-untyped-def]
    """Return where a rival may become a candidate of a row, or -1 if it is one, or -2 if there is no room.

    A full row gives up the candidate without a share that scores least.
    """
    is_full = count == len(candidates)
    place, low = -2 if is_full else count, scores[rival]
    for j in range(count):
        if candidates[j] == rival:
            return -1
        if is_full and shares[j] == 0.0 and scores[candidates[j]] < low:
            place, low = j, scores[candidates[j]]
    return place
