"""What is minimised: the feasible weights, the objective, and what one pass over the rows proves about it.

A row's margin losses are ``z_p = margin + t_p - t_y`` for the rivals p of its class y, with ``t`` the class scores
(higher is better). Its hinge ``max(0, max_p z_p)`` is the largest ``a @ z`` over the *rival shares*
``a >= 0, sum(a) <= 1``; smoothed around earlier shares c it is the largest
``a @ z - smoothing / 2 * ((a - c)**2).sum()``, reached at the projection of ``z / smoothing + c``.

A pass at some weights sums up ``a @ z`` of all rows: a *cut*, which bounds the mean hinge from below everywhere and is
linear in the weights.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding.base import Floats, Indices
from skecoc.decoding.optimized.training_rows import Block, Rows
from skecoc.support.compiling import inlined, kernel

#: Gaps are relative to the objective, or to this if the objective is smaller.
SMALLEST_OBJECTIVE = 1e-3
# No row adds to the curvature: every so many-th would.
_NEVER = 2**62


class WeightSpace:
    """The feasible weights of a code matrix: one simplex per class, without the entries that must be zero.

    Weights are matrices, or vectors that go class after class, each from its entry of `bounds` on; `classes`, `columns`
    and `signs` are the class, the column and the code of every entry.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.n_classes = len(matrix)
        self.classes, self.columns = np.nonzero(matrix)
        self.signs = matrix[self.classes, self.columns]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(self.classes))])
        self.n_weights = len(self.classes)

    @cached_property
    def memberships(self) -> Floats:
        """Which weights belong to each class, as rows of ones, (n_classes, n_weights), in Fortran order."""
        return np.asfortranarray(self.classes == np.arange(self.n_classes)[:, np.newaxis], dtype=np.float64)

    def flatten(self, matrix: Floats) -> Floats:
        """Return a matrix's entries where weights may differ from zero."""
        return matrix[self.classes, self.columns]

    def equal(self) -> Floats:
        """Return equal weights over every class's non-zero codes."""
        used = np.abs(self.matrix)
        return used / used.sum(axis=1, keepdims=True)

    def repair(self, vector: Floats) -> Floats:
        """Return the matrix of an all but feasible vector, clipped at zero and with rows that sum to 1."""
        weights = np.zeros_like(self.matrix)
        weights[self.classes, self.columns] = np.maximum(vector, 0.0)
        return weights / weights.sum(axis=1, keepdims=True)

    def project(self, matrix: Floats) -> Floats:
        """Return the feasible weights nearest to any matrix: its rows projected onto their simplices."""
        values = np.where(self.matrix != 0, matrix, -np.inf)
        ordered = -np.sort(-values, axis=1)
        excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, matrix.shape[1] + 1)
        last = (ordered > excess).sum(axis=1) - 1
        return np.maximum(values - excess[np.arange(self.n_classes), last, np.newaxis], 0.0)


@dataclass(frozen=True)
class Problem:
    """Minimise the mean hinge with a margin plus ``l2 / 2`` times the squared distance from given weights."""

    space: WeightSpace
    margin: float
    l2: float
    prior: Floats | float = 0.0  # the given weights; 0 prefers equal ones

    def penalty(self, weights: Floats) -> float:
        """Return the part of the objective that does not depend on rows."""
        return 0.5 * self.l2 * float(((weights - self.prior) ** 2).sum())

    def slope(self, cut: "Cut") -> Floats:
        """Return the slope of the smoothed objective at the weights of a cut."""
        return cut.gradient + self.l2 * (cut.weights - self.prior)


@dataclass(frozen=True)
class Solution:
    """Weights, and what is known about them."""

    weights: Floats
    objective: float
    hinge: float
    risk: float
    lower_bound: float
    n_rounds: int
    n_cuts: int

    @property
    def gap(self) -> float:
        """By how much the objective may exceed the optimum, relative to the objective."""
        return relative_gap(self.objective, self.lower_bound)


def relative_gap(objective: float, bound: float) -> float:
    """Return the gap between an objective and a bound, relative to the objective."""
    return max(objective - bound, 0.0) / max(objective, SMALLEST_OBJECTIVE)


@dataclass(frozen=True)
class Cut:
    """What one pass over the rows says about the weights at which it was made.

    The mean hinge at *any* weights W is at least ``offset + (gradient * W).sum()``.
    """

    weights: Floats
    hinge: float
    risk: float
    smoothed: float
    linear: float
    offset: float
    n_kinks: int
    n_pairs: int
    gradient: Floats
    curvature: Floats  # (n_weights, n_weights), lower triangle: the second derivative of the smoothed hinge

    @property
    def smoothing_loss(self) -> float:
        """By how much the cut lies below the mean hinge at its own weights."""
        return self.hinge - self.linear


class Smoothing(NamedTuple):
    """How a pass smooths the hinge.

    With a positive `previous_width` the rows' shifts are moved first; only every `stride`-th kink adds curvature.
    """

    width: float
    previous_width: float = 0.0
    stride: int = 1


_Sums = tuple[Floats, Floats, Floats]
_Places = tuple[Indices, Indices, Floats]  # bounds, columns and signs of a `WeightSpace`


def cut_at(rows: Rows, space: WeightSpace, weights: Floats, margin: float, smoothing: Smoothing) -> Cut:
    """Pass over the rows, whose weights sum to 1, and sum up their smoothed losses, slopes and curvatures."""
    code = np.ascontiguousarray((weights * space.matrix).T)
    of_block = partial(_sum_block, space=space, code=code, margin=margin, smoothing=smoothing)
    sums, gradient, curvature = rows.sum(of_block, _merge, with_shift=True)
    hinge, risk, smoothed, linear, offset, n_kinks, n_pairs = sums.tolist()
    slope = gradient * space.matrix
    return Cut(weights, hinge, risk, smoothed, linear, offset, int(n_kinks), int(n_pairs), slope, curvature)


def _merge(first: _Sums, second: _Sums) -> _Sums:
    for total, more in zip(first, second, strict=True):
        np.add(total, more, out=total)
    return first


def _sum_block(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    if block.draws is not None:
        return _sum_block_exactly(block, space, code, margin, smoothing)
    totals = np.zeros(7), np.zeros_like(space.matrix), np.zeros((space.n_weights, space.n_weights))
    for chunk in block.chunks(space.n_classes):
        _add_chunk(chunk, chunk.codewords @ code, space, margin, smoothing, smoothing.stride, totals)
    return totals


def _sum_block_exactly(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up what one block contributes, rounded row by row so that no order of sums changes them.

    A number added to a large one is rounded to a multiple of that one's last digit; after that, sums are exact.
    """
    largest = 4.0 * (2.0 + margin), 2.0 * space.n_classes / smoothing.width
    anchor, steep = (float(1.5 * 2.0 ** np.ceil(np.log2(4.0 * bound))) for bound in largest)
    sums, gradient = np.full(7, anchor), np.full_like(space.matrix, anchor)
    sums[5:] = 0.0  # counts are exact as they are
    curvature = np.full((space.n_weights, space.n_weights), steep)
    for chunk in block.chunks(space.n_classes):
        scores = row_scores(chunk.codewords, code)
        _add_chunk(chunk, scores, space, margin, smoothing, _NEVER, (sums, gradient, curvature))
        draws = np.empty(0) if chunk.draws is None else chunk.draws
        drawn = np.flatnonzero(draws < 1.0 / smoothing.stride)
        some = Block(chunk.codewords[drawn], chunk.y[drawn], chunk.weight[drawn] * smoothing.stride, chunk.shift)
        unused = np.zeros(7), np.zeros_like(gradient)
        _add_chunk(some, scores[drawn], space, margin, smoothing, 1, (*unused, curvature))
    sums[:5] -= anchor
    return sums, gradient - anchor, curvature - steep


def lower_bound(space: WeightSpace, offset: float, gradient: Floats, l2: float, prior: Floats | float = 0.0) -> float:
    """Minimise a linear bound of the hinge plus the penalty over all feasible weights, exactly."""
    if l2 > 0:
        nearest = space.project(prior - gradient / l2)
        return offset + float((gradient * nearest).sum() + 0.5 * l2 * ((nearest - prior) ** 2).sum())
    return offset + float(np.where(space.matrix != 0, gradient, np.inf).min(axis=1).sum())


def _add_chunk(
    chunk: Block,
    scores: Floats,
    space: WeightSpace,
    margin: float,
    smoothing: Smoothing,
    stride: int,
    totals: _Sums,
) -> None:
    rows = chunk.codewords, scores, chunk.y, chunk.weight, chunk.shift
    widths = margin, smoothing.width, smoothing.previous_width
    values, shares, centre = np.zeros((3, space.n_classes))
    rivals, room = np.empty(space.n_classes, dtype=np.intp), np.empty((2, chunk.codewords.shape[1]))
    work = values, shares, centre, rivals, room
    _add_rows(rows, widths, (space.bounds, space.columns, space.signs), stride, totals, work)


@kernel
def _add_rows(
    rows: tuple[Floats, Floats, Indices, Floats, NDArray[np.float32]],
    widths: tuple[float, float, float],
    places: _Places,
    stride: int,
    totals: _Sums,
    work: tuple[Floats, Floats, Floats, Indices, Floats],
) -> None:
    """Add rows to the sums that make up a cut, in place.

    `sums` are those of the hinge, the hinge without margin, the smoothed hinge, ``shares @ z`` and ``margin * shares``,
    then the numbers of rows with curvature and of the pairs of classes that they curve. `gradient` (n_classes,
    n_columns) sums the derivatives of ``shares @ z`` by the classes' weights times codes. An empty `shift` stands for
    zeros; with a positive `previous_smoothing` it is first moved to the shares that it gives with that width. Every
    `stride`-th row with curvature is added, so many times, to `curvature` (n_weights, n_weights; lower triangle). The
    centre is zero before.
    """
    codewords, scores, y, weight, shift = rows
    margin, smoothing, previous_smoothing = widths
    sums, gradient, curvature = totals
    values, shares, centre, rivals, room = work
    for i in range(len(codewords)):
        own = y[i]
        lead = _lead(scores[i], own)
        sums[0] += weight[i] * max(0.0, lead + margin)
        sums[1] += weight[i] * max(0.0, lead)
        distance = 0.0  # between shares and centre, squared
        if shift.size > 0:
            for p in range(len(centre)):
                centre[p] = shift[i, p]
                distance += centre[p] ** 2
        if lead + margin <= 0.0 and distance == 0.0:
            continue  # no share now, and none before
        if shift.size > 0 and previous_smoothing > 0.0:
            distance = _move_centre(
                scores[i], own, margin, previous_smoothing, shift[i], centre, values, rivals, shares
            )
        _write_shifted_margins(scores[i], own, margin, smoothing, centre, values)
        n_active, full = project_shares(values, rivals, shares)
        linear, total = 0.0, 0.0
        for k in range(n_active):
            p = rivals[k]
            linear += shares[k] * (margin + scores[i, p] - scores[i, own])
            total += shares[k]
            distance += (shares[k] - centre[p]) ** 2 - centre[p] ** 2
        sums[2] += weight[i] * (linear - 0.5 * smoothing * distance)
        sums[3] += weight[i] * linear
        sums[4] += weight[i] * total * margin
        _add_slope(codewords[i], own, rivals[:n_active], shares[:n_active], weight[i], gradient)
        if n_active == 0 or (full and n_active == 1):
            continue
        sums[5] += 1
        sums[6] += n_active * (n_active - 1) // 2 if full else n_active
        if int(sums[5]) % stride == 0:
            factor = stride * weight[i] / smoothing
            _add_kink(codewords[i], own, rivals[:n_active], full, factor, curvature, places, room)


@inlined
def _lead(scores: Floats, own: int) -> float:
    highest = -np.inf
    for p in range(len(scores)):
        if p != own and scores[p] > highest:
            highest = scores[p]
    return highest - scores[own]


@inlined
def _move_centre(
    scores: Floats,
    own: int,
    margin: float,
    smoothing: float,
    shift: NDArray[np.float32],
    centre: Floats,
    values: Floats,
    rivals: Indices,
    shares: Floats,
) -> float:
    """Move the centre of smoothing to the shares that it gives, in place; return its squared size."""
    _write_shifted_margins(scores, own, margin, smoothing, centre, values)
    n_active, _ = project_shares(values, rivals, shares)
    size = 0.0
    for p in range(len(centre)):
        centre[p] = 0.0
    for k in range(n_active):
        centre[rivals[k]] = shares[k]
        size += shares[k] ** 2
    for p in range(len(centre)):
        shift[p] = centre[p]
    return size


@inlined
def _add_slope(row: Floats, own: int, rivals: Indices, shares: Floats, weight: float, gradient: Floats) -> None:
    """Add the derivative of ``weight * shares @ z`` by the classes' weights times codes."""
    total = 0.0
    for k in range(len(rivals)):
        scaled = weight * shares[k]
        total += scaled
        of_rival = gradient[rivals[k]]
        for q in range(len(row)):
            of_rival[q] += scaled * row[q]
    of_own = gradient[own]
    for q in range(len(row)):
        of_own[q] -= total * row[q]


@inlined
def _add_kink(
    row: Floats,
    own: int,
    rivals: Indices,
    full: bool,
    factor: float,
    curvature: Floats,
    places: _Places,
    room: Floats,
) -> None:
    """Add the curvature of a row whose shares change with the weights.

    Shares below the bound change each by itself, against the row's own class; at the bound they change against each
    other, as ``I - 1 / n``, the Laplacian of a complete graph, does. Each pair of classes a and b adds the second
    derivative of ``factor / 2 * (t_a - t_b)**2`` by the weights.
    """
    for k in range(len(rivals)):
        for m in range(k if full else 1):
            other, scaled = (rivals[m], factor / len(rivals)) if full else (own, factor)
            a, b, bounds = max(rivals[k], other), min(rivals[k], other), places[0]
            of_a = _signed_part(row, a, places, room[0])
            of_b = _signed_part(row, b, places, room[1])
            _add_product(curvature, bounds[a], bounds[a], of_a, of_a, scaled, True)
            _add_product(curvature, bounds[b], bounds[b], of_b, of_b, scaled, True)
            _add_product(curvature, bounds[a], bounds[b], of_a, of_b, -scaled, False)


@inlined
def _write_shifted_margins(
    scores: Floats, own: int, margin: float, smoothing: float, centre: Floats, values: Floats
) -> None:
    """Write ``z / smoothing + centre`` of a row's rivals, and minus infinity for its own class."""
    scale = 1.0 / smoothing
    bar = margin - scores[own]
    for p in range(len(scores)):
        values[p] = (scores[p] + bar) * scale + centre[p]
    values[own] = -np.inf


@kernel
def project_shares(values: Floats, rivals: Indices, shares: Floats) -> tuple[int, bool]:
    """Project values onto ``shares >= 0, sum(shares) <= 1``; return how many are positive, and if the sum is 1.

    The rivals with a positive share, and their shares, are written in place.
    """
    largest = -np.inf
    for p in range(len(values)):
        largest = max(largest, values[p])
    lowest = max(0.0, largest - 1.0)  # a value further below the largest gets no share
    n_active = 0
    total = 0.0
    for p in range(len(values)):
        if values[p] > lowest:
            place = n_active
            while place > 0 and shares[place - 1] < values[p]:
                shares[place] = shares[place - 1]
                rivals[place] = rivals[place - 1]
                place -= 1
            shares[place] = values[p]
            rivals[place] = p
            total += values[p]
            n_active += 1
    if total <= 1.0:
        return n_active, False
    head = 0.0
    n_kept = 0
    while n_kept < n_active and shares[n_kept] * n_kept > head - 1.0:
        head += shares[n_kept]
        n_kept += 1
    excess = (head - 1.0) / n_kept
    for k in range(n_kept):
        shares[k] -= excess
    return n_kept, True


@kernel
def _signed_part(row: Floats, group: int, places: _Places, room: Floats) -> Floats:
    """Return the row's entries where a class has weights, times the class's codes, in a part of the room."""
    bounds, columns, signs = places
    first = bounds[group]
    part = room[: bounds[group + 1] - first]
    for k in range(len(part)):
        part[k] = row[columns[first + k]] * signs[first + k]
    return part


@kernel
def _add_product(
    curvature: Floats, top: int, left: int, of_rows: Floats, of_columns: Floats, factor: float, is_square: bool
) -> None:
    """Add ``factor * outer(of_rows, of_columns)`` at a place of the curvature; of a square, the lower triangle."""
    for i in range(len(of_rows)):
        scaled = factor * of_rows[i]
        target = curvature[top + i, left : left + (i + 1 if is_square else len(of_columns))]
        for j in range(len(target)):
            target[j] += scaled * of_columns[j]


def row_scores(codewords: Floats, code: Floats) -> Floats:
    """Multiply each row by a matrix in an order that, unlike a library's, never changes with the number of rows."""
    scores = np.zeros((len(codewords), code.shape[1]))
    _add_scores(codewords, code, scores)
    return scores


@kernel
def _add_scores(codewords: Floats, code: Floats, scores: Floats) -> None:
    for i in range(len(codewords)):
        for q in range(len(code)):
            x = codewords[i, q]
            for p in range(code.shape[1]):
                scores[i, p] += x * code[q, p]
