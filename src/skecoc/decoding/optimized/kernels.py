"""Compiled loops over rows for optimised-weight decoding.

A row's margin losses are ``z_p = margin + t_p - t_y`` for the rivals p of its class y, with ``t`` the class scores
(higher is better). Its hinge ``max(0, max_p z_p)`` is the largest ``a @ z`` over the *rival shares*
``a >= 0, sum(a) <= 1``; smoothed around earlier shares c it is the largest
``a @ z - smoothing / 2 * ((a - c)**2).sum()``, reached at the projection of ``z / smoothing + c``.
"""

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding.base import Floats, Indices
from skecoc.support.compiling import inlined, kernel

#: How a row marks the classes that its curvature concerns.
RIVAL, OWN = 1, 2


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


@inlined
def _lead(scores: Floats, own: int) -> float:
    """Return by how much the best rival's score exceeds that of the row's own class."""
    highest = -np.inf
    for p in range(len(scores)):
        if p != own and scores[p] > highest:
            highest = scores[p]
    return highest - scores[own]


@inlined
def _read_centre(shift: NDArray[np.float32], centre: Floats) -> float:
    """Copy a row's shift to the centre of smoothing; return its squared size."""
    size = 0.0
    for p in range(len(centre)):
        centre[p] = shift[p]
        size += centre[p] ** 2
    return size


@inlined
def _move_centre(
    scores: Floats,
    own: int,
    margin: float,
    smoothing: float,
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
    return size


@kernel
def _signed_part(row: Floats, group: int, bounds: Indices, columns: Indices, signs: Floats, room: Floats) -> Floats:
    """Return the row's entries where a class has weights, times the class's codes, in a part of the room."""
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


@inlined
def _add_pair(
    row: Floats,
    a: int,
    b: int,
    factor: float,
    curvature: Floats,
    bounds: Indices,
    columns: Indices,
    signs: Floats,
    room: Floats,
) -> None:
    """Add the second derivative of ``factor / 2 * (t_a - t_b)**2`` by the weights, lower triangle."""
    upper, lower = max(a, b), min(a, b)
    of_upper = _signed_part(row, upper, bounds, columns, signs, room[0])
    of_lower = _signed_part(row, lower, bounds, columns, signs, room[1])
    _add_product(curvature, bounds[upper], bounds[upper], of_upper, of_upper, factor, True)
    _add_product(curvature, bounds[lower], bounds[lower], of_lower, of_lower, factor, True)
    _add_product(curvature, bounds[upper], bounds[lower], of_upper, of_lower, -factor, False)


@inlined
def _add_kink(
    row: Floats,
    own: int,
    rivals: Indices,
    full: bool,
    factor: float,
    curvature: Floats,
    bounds: Indices,
    columns: Indices,
    signs: Floats,
    room: Floats,
) -> None:
    """Add the curvature of a row whose shares change with the weights.

    Shares below the bound change each by itself, against the row's own class; at the bound they change against each
    other, as ``I - 1 / n``, the Laplacian of a complete graph, does.
    """
    for k in range(len(rivals)):
        for m in range(k if full else 1):
            other, scaled = (rivals[m], factor / len(rivals)) if full else (own, factor)
            _add_pair(row, rivals[k], other, scaled, curvature, bounds, columns, signs, room)


@inlined
def _mark_classes(own: int, rivals: Indices, full: bool, marks: NDArray[np.uint8]) -> None:
    """Mark rivals and, unless their shares change against each other only, the row's own class."""
    for p in rivals:
        marks[p] = RIVAL
    if not full:
        marks[own] = OWN


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


def row_scores(codewords: Floats, code: Floats) -> Floats:
    """Multiply each row by a matrix in an order that, unlike a library's, never changes with the number of rows."""
    scores = np.zeros((len(codewords), code.shape[1]))
    _add_scores(codewords, code, scores)
    return scores


@kernel
def _add_scores(codewords: Floats, code: Floats, scores: Floats) -> None:
    """Add the product of each row and a matrix to its scores."""
    for i in range(len(codewords)):
        for q in range(len(code)):
            x = codewords[i, q]
            for p in range(code.shape[1]):
                scores[i, p] += x * code[q, p]


def add_rows(
    codewords: Floats,
    scores: Floats,
    y: Indices,
    weight: Floats,
    shift: NDArray[np.float32],
    margin: float,
    smoothing: float,
    previous_smoothing: float,
    bounds: Indices,
    columns: Indices,
    signs: Floats,
    stride: int,
    sums: Floats,
    gradient: Floats,
    curvature: Floats,
    marks: NDArray[np.uint8],
    factors: Floats,
) -> None:
    """Add a chunk of rows to the sums that make up a cut, in place.

    `sums` are those of the hinge, the hinge without margin, the smoothed hinge, ``shares @ z`` and ``margin * shares``,
    then the numbers of rows with curvature and of the pairs of classes that they curve. `gradient` (n_classes,
    n_columns) sums the derivatives of ``shares @ z`` by the classes' weights times codes. An empty `shift` stands for
    zeros; with a positive `previous_smoothing` it is first moved to the shares that it gives with that width. Every
    `stride`-th row with curvature is added, so many times, to `curvature` (n_weights, n_weights; lower triangle), or
    noted in `marks` (n, n_classes) and `factors` (n,) unless these are empty.
    """
    n_classes = scores.shape[1]
    values, shares, centre = np.zeros((3, n_classes))
    rivals, room = np.empty(n_classes, dtype=np.intp), np.empty((2, codewords.shape[1]))
    _add_rows(
        codewords,
        scores,
        y,
        weight,
        shift,
        margin,
        smoothing,
        previous_smoothing,
        bounds,
        columns,
        signs,
        stride,
        sums,
        gradient,
        curvature,
        marks,
        factors,
        values,
        shares,
        centre,
        rivals,
        room,
    )


@kernel
def _add_rows(
    codewords: Floats,
    scores: Floats,
    y: Indices,
    weight: Floats,
    shift: NDArray[np.float32],
    margin: float,
    smoothing: float,
    previous_smoothing: float,
    bounds: Indices,
    columns: Indices,
    signs: Floats,
    stride: int,
    sums: Floats,
    gradient: Floats,
    curvature: Floats,
    marks: NDArray[np.uint8],
    factors: Floats,
    values: Floats,
    shares: Floats,
    centre: Floats,
    rivals: Indices,
    room: Floats,
) -> None:
    """Add a chunk of rows to sums; from `values` on arrays are worked with, and the centre is zero before."""
    n_classes = scores.shape[1]
    for i in range(len(codewords)):
        own = y[i]
        lead = _lead(scores[i], own)
        sums[0] += weight[i] * max(0.0, lead + margin)
        sums[1] += weight[i] * max(0.0, lead)
        size_of_centre = _read_centre(shift[i], centre) if shift.size > 0 else 0.0
        if lead + margin <= 0.0 and size_of_centre == 0.0:
            continue  # no share now, and none before
        if shift.size > 0 and previous_smoothing > 0.0:
            size_of_centre = _move_centre(scores[i], own, margin, previous_smoothing, centre, values, rivals, shares)
            for p in range(n_classes):
                shift[i, p] = centre[p]
        _write_shifted_margins(scores[i], own, margin, smoothing, centre, values)
        n_active, full = project_shares(values, rivals, shares)
        linear, total, distance = 0.0, 0.0, size_of_centre
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
            if len(marks):
                factors[i] = factor
                _mark_classes(own, rivals[:n_active], full, marks[i])
            else:
                _add_kink(codewords[i], own, rivals[:n_active], full, factor, curvature, bounds, columns, signs, room)
