"""Squared distances as matrix products: Gaussian kernels, and the nearest of several centres."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skecoc.onnx._graph import Graph

Floats = NDArray[np.float64]


class RBFMachine(NamedTuple):
    """A trained support vector machine with the kernel exp(-gamma ||x - z||^2)."""

    support_vectors: Floats
    coefficients: Floats
    intercept: float
    gamma: float


def rbf_margins(graph: Graph, rows: str, machines: Sequence[RBFMachine]) -> str:
    """Write the margins of several machines, of shape (n_samples, n_machines).

    The exponent -gamma ||x - z||^2 is linear in x and ||x||^2 for a given z, so that each machine is a matrix product,
    exponentials, and another product. Machines of the same gamma share these.
    """
    origin = coarse_origin(np.vstack([machine.support_vectors for machine in machines]))
    shifted = _shifted(graph, rows, origin)
    squares = graph.node("ReduceSumSquare", shifted, np.array([1]), keepdims=1)
    extended = graph.joined([shifted, squares])
    groups: dict[float, list[int]] = {}
    for number, machine in enumerate(machines):
        groups.setdefault(machine.gamma, []).append(number)
    parts = [_group_margins(graph, extended, [machines[q] for q in members], origin) for members in groups.values()]
    order = np.concatenate([np.array(members) for members in groups.values()])
    margins = graph.joined(parts)
    return margins if (np.diff(order) == 1).all() else graph.columns(margins, np.argsort(order))


def _group_margins(graph: Graph, extended: str, machines: Sequence[RBFMachine], origin: Floats) -> str:
    """Write the margins of machines that have the same gamma, from shifted rows with their squares appended."""
    gamma = machines[0].gamma
    stacked = np.vstack([machine.support_vectors for machine in machines])
    vectors, place = np.unique(stacked, axis=0, return_inverse=True)
    owners = np.repeat(np.arange(len(machines)), [len(machine.coefficients) for machine in machines])
    coefficients = np.zeros((len(vectors), len(machines)))
    # A row that both classes have is two support vectors of one machine.
    np.add.at(coefficients, (place.ravel(), owners), np.concatenate([machine.coefficients for machine in machines]))
    centred = vectors - origin
    product = np.vstack([2.0 * gamma * centred.T, np.full(len(centred), -gamma)])
    exponents = graph.node("Gemm", extended, product, -gamma * np.square(centred).sum(axis=1))
    intercepts = np.array([machine.intercept for machine in machines])
    return str(graph.node("Gemm", graph.node("Exp", exponents), coefficients, intercepts))


def nearest_centres(graph: Graph, rows: str, centres: Sequence[Floats], n_regions: int) -> str:
    """Write which of its centres is nearest, the first if several are, for each of several learners.

    Returns
    -------
    str
        Name of the indices, of shape (n_samples, n_learners, 1).
    """
    # Copies of the first centre are never taken: of several nearest centres the first one is.
    padded = [np.vstack([own, np.repeat(own[:1], n_regions - len(own), axis=0)]) for own in centres]
    origin = coarse_origin(np.vstack(padded))
    centred = np.vstack(padded) - origin
    # ||x||^2, which all centres have in common, is left out.
    distances = graph.node("Gemm", _shifted(graph, rows, origin), -2.0 * centred.T, np.square(centred).sum(axis=1))
    by_learner = graph.node("Reshape", distances, np.array([0, len(centres), n_regions]))
    return str(graph.node("ArgMin", by_learner, axis=2, keepdims=1))


def coarse_origin(points: Floats) -> Floats:
    """Return a point near the middle of others, so that expanded squares lose few digits to cancellation.

    Its coordinates are multiples of a power of two of about the points' spread. So where rows and points have few
    binary digits, as counts and grades have, differences and products are exact, and ties stay ties.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.

    Returns
    -------
    ndarray of shape (n_features,)
        The origin; zero for features whose spread exceeds their size.

    Examples
    --------
    >>> coarse_origin(np.array([[1000.25, 0.5], [1003.25, 1.5]]))
    array([1000.,    1.])
    """
    spread = np.ptp(points, axis=0)
    middle = points.mean(axis=0)
    step = np.exp2(np.ceil(np.log2(np.where(spread > 0.0, spread, 1.0))))
    return np.rint(middle / step) * step


def _shifted(graph: Graph, rows: str, origin: Floats) -> str:
    """Subtract the origin, unless it is zero."""
    return str(graph.node("Sub", rows, origin)) if origin.any() else rows
