"""Minimise the regularised hinge by Newton steps on a smoothed problem, with a certificate from the dual.

A row's margin losses are ``z_p = margin + t_p - t_y`` for the rivals p of its class y, with ``t`` the class scores
(higher is better). Its hinge ``max(0, max_p z_p)`` is the largest ``a @ z`` over the *rival shares*
``a >= 0, sum(a) <= 1``; smoothed around earlier shares c it is the largest
``a @ z - smoothing / 2 * ((a - c)**2).sum()``, reached at the projection of ``z / smoothing + c``.

A pass at some weights sums up ``a @ z`` of all rows: a *cut*, which bounds the mean hinge from below everywhere and is
linear in the weights. Two things keep the objective at these weights above the bound of their cut: the weights do not
minimise the smoothed problem, and the cut lies below the hinge. While the first is larger a Newton step is taken;
otherwise the smoothing is moved around the shares found (the method of multipliers), and narrowed where that converges
slowly.

A Newton step is a small dense quadratic program, for which PIQP is ten times faster than sparse interior-point solvers.
With many weights the dual is ascended instead (see `ascent`), which needs the rows in memory.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import piqp
from numpy.typing import NDArray

from skecoc.decoding.optimized.ascent import ascend
from skecoc.decoding.optimized.problem import (
    Block,
    MemoryRows,
    Problem,
    Rows,
    Solution,
    WeightSpace,
    lower_bound,
    relative_gap,
    row_scores,
)
from skecoc.decoding.scoring import Floats, Indices
from skecoc.support.compiling import inlined, kernel

# A stride with which no row adds to the curvature.
_NEVER = 2**62
# Beyond so many weights, ascent of the dual is faster than Newton steps.
_NEWTON_WEIGHTS = 300
#: Beyond so many weights, Newton steps take too much memory.
MANY_WEIGHTS = 10_000
# Rows from elsewhere with at most so many outputs are held in memory for ascent.
_MOST_GATHERED = 2**25
_FIRST_WIDTH = 0.05
# Few rows, as hard codewords leave, curve the smoothed problem enough only if it is wide.
_FIRST_WIDTH_OF_FEW_ROWS = 0.3
_FEW_ROWS = 10  # per weight
_NARROWING = 0.5
_SMALLEST_WIDTH = 1e-9
# If steps fail and the gap has not shrunk for so many passes, the smoothing is too narrow: it is made wider again.
_PATIENCE = 40
_GAIN = 0.99
_WIDENING = 16.0
# Moving the shares converges fast enough if it leaves less than this part of the loss by smoothing.
_GOOD_MOVE = 0.25
# So many row-rival pairs per weight estimate the curvature well; it guides steps and takes no part in any bound.
_CURVATURE_PAIRS = 20
_FIRST_PAIRS = 5  # per row, a guess before the first pass
# Weights are first fitted to samples of a tenth of the rows, as long as those have so many rows per weight.
_SAMPLE_ROWS = 30
_SAMPLE_SHARE = 0.1
_SAMPLE_TOLERANCE = 3e-3
_SUFFICIENT_DECREASE = 0.01
_SMALLEST_STEP = 1e-3
_QUADRATIC_ACCURACY = 1e-12


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
    sums, gradient, curvature = rows.sum(of_block, _add_sums, with_shift=True)
    hinge, risk, smoothed, linear, offset, n_kinks, n_pairs = sums.tolist()
    slope = gradient * space.matrix
    return Cut(weights, hinge, risk, smoothed, linear, offset, int(n_kinks), int(n_pairs), slope, curvature)


def _add_sums(first: _Sums, second: _Sums) -> _Sums:
    for total, more in zip(first, second, strict=True):
        np.add(total, more, out=total)
    return first


def _sum_block(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    if block.draws is not None:
        return _sum_block_exactly(block, space, code, margin, smoothing)
    totals = np.zeros(7), np.zeros_like(space.matrix), np.zeros((space.n_weights, space.n_weights))
    widths = margin, smoothing.width, smoothing.previous_width
    places = space.bounds, space.columns, space.signs
    for chunk in block.chunks(space.n_classes):
        rows = chunk.codewords, chunk.codewords @ code, chunk.y, chunk.weight, chunk.shift
        _add_rows(rows, widths, places, smoothing.stride, *totals)
    return totals


def _sum_block_exactly(block: Block, space: WeightSpace, code: Floats, margin: float, smoothing: Smoothing) -> _Sums:
    """Sum up what one block contributes, with every term rounded so that the order of sums does not matter.

    A term that is added to a large number, the anchor, is rounded to a multiple of its last digit. Sums of such
    multiples are exact.
    """
    largest = 4.0 * (2.0 + margin), 2.0 * space.n_classes / smoothing.width
    anchor, steep = (float(1.5 * 2.0 ** np.ceil(np.log2(4.0 * bound))) for bound in largest)
    sums, gradient = np.full(7, anchor), np.full_like(space.matrix, anchor)
    sums[5:] = 0.0  # counts are exact as they are
    curvature = np.full((space.n_weights, space.n_weights), steep)
    widths = margin, smoothing.width, smoothing.previous_width
    places = space.bounds, space.columns, space.signs
    for chunk in block.chunks(space.n_classes):
        scores = row_scores(chunk.codewords, code)
        rows = chunk.codewords, scores, chunk.y, chunk.weight, chunk.shift
        _add_rows(rows, widths, places, _NEVER, sums, gradient, curvature)
        # Only drawn rows add curvature, with a weight that makes up for the others.
        draws = np.empty(0) if chunk.draws is None else chunk.draws
        drawn = np.flatnonzero(draws < 1.0 / smoothing.stride)
        weight = chunk.weight[drawn] * smoothing.stride
        rows = chunk.codewords[drawn], scores[drawn], chunk.y[drawn], weight, chunk.shift
        _add_rows(rows, widths, places, 1, np.zeros(7), np.zeros_like(gradient), curvature)
    sums[:5] -= anchor
    return sums, gradient - anchor, curvature - steep


@kernel
def _add_rows(
    rows: tuple[Floats, Floats, Indices, Floats, NDArray[np.float32]],
    widths: tuple[float, float, float],
    places: _Places,
    stride: int,
    sums: Floats,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Add rows to the sums that make up a cut, in place.

    `sums` are those of the hinge, the hinge without margin, the smoothed hinge, ``shares @ z`` and ``margin * shares``,
    then the numbers of rows with curvature and of the pairs of classes that they curve. `gradient` (n_classes,
    n_columns) sums the derivatives of ``shares @ z`` by the classes' weights times codes. An empty `shift` stands for
    zeros; with a positive `previous_smoothing` it is first moved to the shares that it gives with that width. Every
    `stride`-th row with curvature is added, `stride` times, to `curvature` (n_weights, n_weights; lower triangle).
    """
    codewords, scores, y, weight, shift = rows
    margin, smoothing, previous_smoothing = widths
    n_classes = scores.shape[1]
    values, shares, centre = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    rivals, room = np.empty(n_classes, np.intp), np.empty((2, codewords.shape[1]))
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


class _Point(NamedTuple):
    """What a pass over the rows tells: its cut, the objective at its weights, and the bound that it proves."""

    cut: Cut
    objective: float
    bound: float


class _Search:
    """The best weights and the best bound so far, and the passes made."""

    def __init__(self, problem: Problem, rows: Rows, tol: float, max_rounds: int) -> None:
        self.problem, self.rows, self.tol, self.max_rounds = problem, rows, tol, max_rounds
        self.objective, self.bound, self.n_rounds, self.is_over = np.inf, 0.0, 0, False
        self.best: Cut
        self.last_gain = 0  # the last pass that made the gap smaller
        self.n_kinks, self.n_pairs = 0, _FIRST_PAIRS * rows.n_rows

    def evaluate(self, weights: Floats, width: float, previous_width: float = 0.0) -> _Point:
        """Pass over the rows at some weights, and keep what is better than before."""
        problem = self.problem
        stride = max(1, self.n_pairs // (_CURVATURE_PAIRS * problem.space.n_weights))
        cut = cut_at(self.rows, problem.space, weights, problem.margin, Smoothing(width, previous_width, stride))
        self.n_rounds += 1
        self.n_kinks, self.n_pairs = cut.n_kinks, cut.n_pairs
        objective = cut.hinge + problem.penalty(weights)
        bound = lower_bound(problem.space, cut.offset, cut.gradient, problem.l2, problem.prior)
        gap_before = relative_gap(self.objective, self.bound)
        self.bound = max(self.bound, bound)
        if objective < self.objective:
            self.objective, self.best = objective, cut
        gap = relative_gap(self.objective, self.bound)
        if gap < _GAIN * gap_before:
            self.last_gain = self.n_rounds
        self.is_over = gap <= self.tol or self.n_rounds >= self.max_rounds
        return _Point(cut, objective, bound)


def minimize_regularized(
    problem: Problem, rows: Rows, start: Floats, tol: float, max_rounds: int, *, keep_start: bool = False
) -> Solution:
    """Minimise the mean hinge plus a positive penalty, up to a relative gap or a number of passes over all rows.

    With `keep_start` the solution is no worse than the start, which costs a pass if there are many rows.
    """
    n_weights, n_columns = problem.space.n_weights, problem.space.matrix.shape[1]
    search = _Search(problem, rows, tol, max_rounds)
    is_small = rows.n_rows < _FEW_ROWS * n_weights
    width, weights = _FIRST_WIDTH_OF_FEW_ROWS if is_small else _FIRST_WIDTH, start
    if n_weights > _NEWTON_WEIGHTS:
        here = rows if isinstance(rows, MemoryRows) else rows.sample(min(rows.n_rows, _MOST_GATHERED // n_columns))
        if here.n_rows == rows.n_rows or n_weights > MANY_WEIGHTS:
            return ascend(problem, here, start, tol, max_rounds)
        if keep_start:
            search.evaluate(start, width)
        weights = ascend(problem, here, start, max(tol, _SAMPLE_TOLERANCE), max_rounds).weights
    else:
        sizes: list[int] = []  # of samples that weights are first fitted to, smallest first
        size = int(rows.n_rows * _SAMPLE_SHARE)
        while size >= _SAMPLE_ROWS * n_weights:
            sizes.insert(0, size)
            size = int(size * _SAMPLE_SHARE)
        if keep_start and sizes:
            search.evaluate(start, width)
        for size in sizes:
            on_sample = _Search(problem, rows.sample(size), max(tol, _SAMPLE_TOLERANCE), max_rounds)
            width = _descend(on_sample, weights, width)
            weights = on_sample.best.weights
    if not search.is_over:
        _descend(search, weights, width)
    best, bound = search.best, min(search.bound, search.objective)
    return Solution(best.weights, search.objective, best.hinge, best.risk, bound, search.n_rounds, search.n_kinks)


def _descend(search: _Search, weights: Floats, width: float) -> float:
    """Go from some weights to a small gap; return the last width of the smoothing."""
    can_move = isinstance(search.rows, MemoryRows)
    now = search.evaluate(weights, width)
    loss_before, has_moved, last_widening = np.inf, True, 0
    while not search.is_over and width > _SMALLEST_WIDTH:
        smoothing_loss = now.cut.hinge - now.cut.linear  # by how much the cut lies below the hinge
        further = None
        # After the shares have moved, a step follows in any case: before it, the gap does not measure progress.
        is_time_to_step = has_moved or now.objective - now.bound > 2.0 * smoothing_loss
        if is_time_to_step:
            further = _step(search, now.cut, width)
        if further is not None:
            now, has_moved = further, False
            continue
        previous = width
        # Where shares can move, a step that fails means that the smoothing is too narrow already.
        if not can_move or (not is_time_to_step and smoothing_loss > _GOOD_MOVE * loss_before):
            width *= _NARROWING
        elif is_time_to_step and search.n_rounds >= max(last_widening, search.last_gain) + _PATIENCE:
            width, last_widening = width * _WIDENING, search.n_rounds
        loss_before, has_moved = smoothing_loss, True
        now = search.evaluate(now.cut.weights, width, previous)
    return width


def _step(search: _Search, now: Cut, width: float) -> _Point | None:
    """Take a Newton step, shortened until the smoothed objective falls; None if it does not."""
    problem = search.problem
    hessian = now.curvature.copy()
    hessian[np.diag_indices_from(hessian)] += problem.l2
    gradient = now.gradient + problem.l2 * (now.weights - problem.prior)
    direction = minimize_quadratic(problem.space, hessian, problem.space.flatten(gradient), now.weights) - now.weights
    slope = float((direction * gradient).sum())
    value = now.smoothed + problem.penalty(now.weights)
    length = 1.0
    while slope < 0.0 and length > _SMALLEST_STEP and search.n_rounds < search.max_rounds:
        then = search.evaluate(now.weights + length * direction, width)
        rise = then.cut.smoothed + problem.penalty(then.cut.weights) - value
        if rise <= _SUFFICIENT_DECREASE * length * slope or search.is_over:
            return then
        # The minimum of the parabola through both values with the slope at the start, within bounds.
        length *= float(np.clip(-slope * length / (2.0 * (rise - slope * length)), 0.1, 0.5))
    return None


def minimize_quadratic(space: WeightSpace, curvature: Floats, slope: Floats, origin: Floats) -> Floats:
    """Minimise ``slope @ (v - v0) + (v - v0) @ curvature @ (v - v0) / 2`` over the feasible weights, v0 the origin.

    `curvature` is positive definite, of which the lower triangle is read.
    """
    start = space.flatten(origin)
    hessian = curvature + np.tril(curvature, -1).T
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = _QUADRATIC_ACCURACY
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = _QUADRATIC_ACCURACY
    solver.setup(
        np.asfortranarray(hessian),
        slope - hessian @ start,
        space.memberships,
        np.ones(space.n_classes),
        x_l=np.zeros(len(slope)),
        x_u=np.full(len(slope), np.inf),
    )
    solver.solve()
    return space.repair(np.array(solver.result.x))
