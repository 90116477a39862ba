"""Support vector machines as ONNX nodes: margins of many binary ones, and of the pairs of classes of one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from skecoc.onnx._graph import Floats, Graph


def dense(values: Any) -> Floats:
    """Return coefficients, which may be sparse, as an array."""
    return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)


class RBFMachine(NamedTuple):
    """A trained support vector machine with the kernel exp(-gamma ||x - z||^2)."""

    support_vectors: Floats
    coefficients: Floats
    intercept: float
    gamma: float


def rbf_margins(graph: Graph, rows: str, machines: Sequence[RBFMachine]) -> str:
    """Write the margins of several machines, (n_samples, n_machines).

    The exponent -gamma ||x - z||^2 is linear in x and ||x||^2 for a given z, so that each machine is a matrix product,
    exponentials, and another product. Machines of the same gamma share these.
    """
    origin = coarse_origin(np.vstack([machine.support_vectors for machine in machines]))
    extended = _with_squares(graph, rows, origin)
    groups: dict[float, list[int]] = {}
    for number, machine in enumerate(machines):
        groups.setdefault(machine.gamma, []).append(number)
    parts = {
        gamma: _group_margins(graph, extended, [machines[q] for q in members], origin)
        for gamma, members in groups.items()
    }
    return graph.joined_groups(parts, groups)


def _group_margins(graph: Graph, extended: str, machines: Sequence[RBFMachine], origin: Floats) -> str:
    """Write the margins of machines that have the same gamma, from shifted rows with their squares appended."""
    gamma = machines[0].gamma
    stacked = np.vstack([machine.support_vectors for machine in machines])
    vectors, place = np.unique(stacked, axis=0, return_inverse=True)
    owners = np.repeat(np.arange(len(machines)), [len(machine.coefficients) for machine in machines])
    coefficients = np.zeros((len(vectors), len(machines)))
    # A row that both classes have is two support vectors of one machine.
    np.add.at(coefficients, (place.reshape(-1), owners), np.concatenate([machine.coefficients for machine in machines]))
    intercepts = np.array([machine.intercept for machine in machines])
    return graph.node("Gemm", _rbf_kernel(graph, extended, vectors - origin, gamma), coefficients, intercepts)


def _with_squares(graph: Graph, rows: str, origin: Floats) -> str:
    """Write rows as seen from an origin, and their squared lengths in one column more."""
    shifted_rows = shifted(graph, rows, origin)
    squares = graph.node("ReduceSumSquare", shifted_rows, np.array([1]), keepdims=1)
    return graph.joined([shifted_rows, squares])


def _rbf_kernel(graph: Graph, extended: str, vectors: Floats, gamma: float) -> str:
    """Write exp(-gamma ||x - z||^2), (n_samples, n_vectors), rows and vectors as seen from one origin."""
    product = np.vstack([2.0 * gamma * vectors.T, np.full(len(vectors), -gamma)])
    return graph.node("Exp", graph.node("Gemm", extended, product, -gamma * np.square(vectors).sum(axis=1)))


def pair_margins(graph: Graph, rows: str, machine: Any) -> str:
    """Write the margins of the pairs of classes of an `SVC` or `NuSVC`, (n_samples, n_pairs), as scikit-learn does.

    They are positive for the first class of a pair; the one margin of two classes is positive for the second.
    A class's support vectors have one row of coefficients for each of the others, so that the products are made class
    by class, and a pair's margin is the sum of two.
    """
    if machine.kernel == "linear":
        return graph.node("Gemm", rows, np.ascontiguousarray(dense(machine.coef_).T), machine.intercept_)
    vectors, coefficients = dense(machine.support_vectors_), dense(machine.dual_coef_)
    origin = coarse_origin(vectors)
    extended = _with_squares(graph, rows, origin)
    gamma = float(machine._gamma)
    n_classes = len(machine.classes_)
    if n_classes == 2:
        kernel = _rbf_kernel(graph, extended, vectors - origin, gamma)
        return graph.node("Gemm", kernel, np.ascontiguousarray(coefficients.T), machine.intercept_)
    ends = np.cumsum(machine.n_support_)
    products = []
    for own in (slice(end - size, end) for size, end in zip(machine.n_support_, ends, strict=True)):
        kernel = _rbf_kernel(graph, extended, vectors[own] - origin, gamma)
        products.append(graph.node("MatMul", kernel, np.ascontiguousarray(coefficients[:, own].T)))
    first, second = np.triu_indices(n_classes, 1)
    sums = graph.joined(products)  # a class's rows of coefficients leave itself out
    of_first = graph.node("Gather", sums, first * (n_classes - 1) + second - 1, axis=1)
    of_second = graph.node("Gather", sums, second * (n_classes - 1) + first, axis=1)
    return graph.node("Add", graph.node("Add", of_first, of_second), machine.intercept_)


def coarse_origin(points: Floats) -> Floats:
    """Return a point near the middle of others, so that expanded squares lose few digits to cancellation.

    Its coordinates are multiples of a power of two of about the points' spread: where points have few binary digits, as
    counts have, differences and products are exact, and ties stay ties.
    """
    spread = np.ptp(points, axis=0)
    middle = points.mean(axis=0)
    step = np.exp2(np.ceil(np.log2(np.where(spread > 0.0, spread, 1.0))))
    return np.rint(middle / step) * step


def shifted(graph: Graph, rows: str, origin: Floats) -> str:
    """Subtract the origin, unless it is zero."""
    return graph.node("Sub", rows, origin) if origin.any() else rows
