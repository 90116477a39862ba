"""Tied scores as ONNX nodes: the order that `skecoc.decoding.ties` and optimised weights give them."""

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from skecoc.decoding.ties import ROUNDING_TOLERANCE, priority
from skecoc.onnx._graph import Graph, Value

Floats = NDArray[np.float64]

# Below every score, and finite, so that differences from it are numbers.
_LOWEST = -1e300


def write_winner(graph: Graph, scores: str, second_key: str, prior: Floats, scale: Value) -> str:
    """Write the index of the class that wins: by score, then by the second key, then by the prior, then by index.

    Parameters
    ----------
    graph : Graph
        Takes the nodes.
    scores, second_key : str
        Names of tensors of shape (n_samples, n_classes).
    prior : ndarray of shape (n_classes,)
        Shares of the classes.
    scale : str or float
        A number, or the name of a tensor of shape (n_samples, 1): what rounding is relative to, beside the scores.

    Returns
    -------
    str
        Name of the indices, of shape (n_samples,).
    """
    n_classes = len(prior)
    tied = _write_tied_for_best(graph, scores, scale, n_classes)
    keys = graph.node("Where", tied, second_key, _LOWEST)
    tied = _write_tied_for_best(graph, keys, scale, n_classes)
    priorities = graph.node("Where", tied, priority(prior), np.array(-1))
    return str(graph.node("ArgMax", priorities, axis=1, keepdims=0))


def _write_tied_for_best(graph: Graph, scores: str, scale: Value, n_classes: int) -> str:
    """Write which scores tie with the best one, in a chain of ties."""
    descending, _ = graph.node("TopK", scores, np.array([n_classes]), n_outputs=2, axis=1)
    upper, lower = graph.part(descending, 0, -1), graph.part(descending, 1, n_classes)
    size = graph.node("Max", graph.node("Abs", upper), graph.node("Abs", lower), scale)
    apart = graph.node("Greater", graph.node("Sub", upper, lower), graph.node("Mul", size, ROUNDING_TOLERANCE))
    n_gaps = graph.node("CumSum", graph.cast(apart, TensorProto.INT32), np.array(1))
    in_chain = graph.node("Equal", n_gaps, graph.cast(graph.constant(0), TensorProto.INT32))
    best = graph.part(descending, 0, 1)
    lowest = graph.node("ReduceMin", graph.node("Where", in_chain, lower, best), np.array([1]), keepdims=1)
    return str(graph.node("GreaterOrEqual", scores, lowest))


def write_ordered_ties(graph: Graph, scores: str, lowered: str | Floats, tolerance: float, n_classes: int) -> str:
    """Write scores with tied ones put in order, as `skecoc.decoding.ties.order_ties` does.

    Parameters
    ----------
    graph : Graph
        Takes the nodes.
    scores : str
        Name of the scores, of shape (n_samples, n_classes).
    lowered : str or ndarray of shape (n_classes,)
        By which part of half the tolerance a class falls behind the best of its tie: a number for each class, or the
        name of a tensor of shape (n_samples, n_classes).
    tolerance : float
        Scores that differ by no more than this are tied; ties chain.
    n_classes : int
        Number of classes.

    Returns
    -------
    str
        Name of the scores, of shape (n_samples, n_classes).
    """
    descending, order = graph.node("TopK", scores, np.array([n_classes]), n_outputs=2, axis=1)
    upper, lower = graph.part(descending, 0, -1), graph.part(descending, 1, n_classes)
    apart = graph.node("Greater", graph.node("Sub", upper, lower), tolerance)
    starts = graph.node("Pad", apart, np.array([0, 1, 0, 0]))  # one column of False on the left
    group = graph.node("CumSum", graph.cast(starts, TensorProto.INT64), np.array(1))
    lowest = graph.node("Min", descending, _LOWEST)
    table = graph.node("ScatterElements", lowest, group, descending, axis=1, reduction="max")
    highest = graph.node("GatherElements", table, group, axis=1)
    close = graph.node("Not", apart)
    close_to_higher, close_to_lower = (
        graph.node("Pad", close, np.array(pads)) for pads in ([0, 1, 0, 0], [0, 0, 0, 1])
    )
    tied = graph.node("Or", close_to_higher, close_to_lower)
    if isinstance(lowered, str):
        behind = graph.node("GatherElements", lowered, order, axis=1)
    else:
        behind = graph.node("Gather", lowered, order, axis=0)
    ordered = graph.node("Sub", highest, graph.node("Mul", behind, 0.5 * tolerance))
    return str(graph.node("ScatterElements", scores, order, graph.node("Where", tied, ordered, descending), axis=1))
