"""Scores of decoders as ONNX nodes, and tied scores in the order that `skecoc.decoding` gives them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from onnx import TensorProto

from skecoc.decoding import (
    AttenuatedEuclideanDecoder,
    BetaDensityDecoder,
    EuclideanDecoder,
    HammingDecoder,
    InverseHammingDecoder,
    LaplacianDecoder,
    LogisticWeightDecoder,
    LossAveragedDecoder,
    LossBasedDecoder,
    LossWeightedDecoder,
    OptimizedWeightDecoder,
    ProbabilisticDecoder,
    VotingDecoder,
)
from skecoc.decoding.losses import LARGEST_EXPONENT, LARGEST_OUTPUT
from skecoc.decoding.probabilistic import EQUAL_SUPPORT, LEAD, LOWEST_SCORE, SMALLER_THAN_VOTES
from skecoc.decoding.scoring import ROUNDING_TOLERANCE, SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN, priority
from skecoc.onnx._graph import Floats, Graph


def write_scores(graph: Graph, codewords: str, decoder: Any) -> str:
    """Write the scores that a fitted decoder of `skecoc.decoding` gives to codewords, (n_samples, n_rows)."""
    writer = _WRITERS.get(type(decoder))
    if writer is None:
        raise NotImplementedError(
            f"{type(decoder).__name__} cannot be exported to ONNX; the decoders that can are "
            + ", ".join(kind.__name__ for kind in _WRITERS)
        )
    return writer(graph, codewords, decoder)


def _product(graph: Graph, tensor: str, matrix: Floats) -> str:
    """Multiply a tensor of shape (n_samples, n_columns) with the transpose of a matrix of shape (n_rows, n_columns)."""
    return graph.node("MatMul", tensor, np.ascontiguousarray(matrix.T))


def _logistic(graph: Graph, margins: str) -> str:
    """Write log(1 + exp(-t)) as max(-t, 0) + log(1 + exp(-abs(t))), which never overflows."""
    small = graph.node("Exp", graph.node("Neg", graph.node("Abs", margins)))
    large = graph.node("Max", graph.node("Neg", margins), 0.0)
    return graph.node("Add", large, graph.node("Log", graph.node("Add", small, 1.0)))


def _loss(graph: Graph, loss: str, margins: str) -> str:
    """Write a loss of `skecoc.decoding.losses`, but for the linear one."""
    if loss == "exponential":  # exp(-t)
        return graph.node("Exp", graph.node("Min", graph.node("Neg", margins), LARGEST_EXPONENT))
    if loss == "hinge":  # max(0, 1 - t)
        return graph.node("Max", graph.node("Sub", 1.0, margins), 0.0)
    if loss == "squared":  # (1 - t)^2
        shortfalls = graph.node("Clip", graph.node("Sub", 1.0, margins), -LARGEST_OUTPUT, LARGEST_OUTPUT)
        return graph.node("Mul", shortfalls, shortfalls)
    if loss == "binomial-deviance":  # log(1 + exp(-2 t))
        return _logistic(graph, graph.node("Mul", margins, 2.0))
    return _logistic(graph, margins)


def _negated_losses(graph: Graph, loss: str, codewords: str, signed_weights: Floats) -> str:
    """Write the negated sums of weighted losses, as `skecoc.decoding.losses.sum_losses` gives them."""
    if loss == "linear":
        return _product(graph, codewords, signed_weights)
    at_plus_one = _product(graph, _loss(graph, loss, codewords), -np.maximum(signed_weights, 0.0))
    opposite = _loss(graph, loss, graph.node("Neg", codewords))
    at_minus_one = _product(graph, opposite, -np.maximum(-signed_weights, 0.0))
    return graph.node("Add", at_plus_one, at_minus_one)


def _agreements(graph: Graph, codewords: str, matrix: Floats) -> str:
    """Write the numbers of positions where the signs agree."""
    agreement = _product(graph, graph.node("Sign", codewords), 0.5 * matrix)
    return graph.node("Add", agreement, 0.5 * np.abs(matrix).sum(axis=1))


def _write_hamming(graph: Graph, codewords: str, decoder: HammingDecoder | InverseHammingDecoder) -> str:
    agreement = _product(graph, graph.node("Sign", codewords), -0.5 * decoder.matrix_)
    distances = graph.node("Add", agreement, 0.5 * decoder.matrix_.shape[1])
    if isinstance(decoder, InverseHammingDecoder):
        return _product(graph, distances, decoder.inverse_distances_)
    return graph.node("Neg", distances)


def _write_euclidean(graph: Graph, codewords: str, decoder: EuclideanDecoder | AttenuatedEuclideanDecoder) -> str:
    if isinstance(decoder, AttenuatedEuclideanDecoder):
        squares = _negated_losses(graph, "squared", codewords, decoder.matrix_)
    else:
        outputs = graph.node("Clip", codewords, -LARGEST_OUTPUT, LARGEST_OUTPUT)
        at_zeros = _product(graph, graph.node("Mul", outputs, outputs), -(decoder.matrix_ == 0).astype(np.float64))
        squares = graph.node("Add", _negated_losses(graph, "squared", outputs, decoder.matrix_), at_zeros)
    return graph.node("Neg", graph.node("Sqrt", graph.node("Neg", squares)))


def _write_laplacian(graph: Graph, codewords: str, decoder: LaplacianDecoder) -> str:
    n_positions = np.abs(decoder.matrix_).sum(axis=1)
    agreements = _agreements(graph, codewords, decoder.matrix_)
    return graph.node("Div", graph.node("Add", agreements, 1.0), n_positions + 2.0)


def _write_beta_density(graph: Graph, codewords: str, decoder: BetaDensityDecoder) -> str:
    # The score depends on the number of half agreements and on the table of the row only.
    twice = graph.node("Round", graph.node("Mul", _agreements(graph, codewords, decoder.matrix_), 2.0))
    first = decoder._table_row * decoder._table.shape[1]
    place = graph.node("Add", graph.cast(twice, TensorProto.INT64), first)
    return graph.node("Gather", decoder._table.ravel(), place, axis=0)


def _write_probabilistic(graph: Graph, codewords: str, decoder: ProbabilisticDecoder) -> str:
    bounded = graph.node("Clip", codewords, -LARGEST_OUTPUT, LARGEST_OUTPUT)
    log_odds = graph.node("Add", graph.node("Mul", bounded, -decoder.slopes_), -decoder.intercepts_)
    log_product = _negated_losses(graph, "logistic", log_odds, decoder.matrix_)
    if decoder._log_invalid_mass == -np.inf:
        return log_product
    # log(a + b) is log(a) plus the logistic loss of log(a) - log(b).
    difference = graph.node("Sub", log_product, decoder._log_invalid_mass)
    return graph.node("Add", log_product, _logistic(graph, difference))


def _write_voting(graph: Graph, codewords: str, decoder: VotingDecoder) -> str:
    scores = _write_probabilistic(graph, codewords, decoder)
    votes = graph.node("Sub", _agreements(graph, codewords, decoder.matrix_), np.abs(decoder.matrix_).sum(axis=1) / 2.0)
    total = _product(graph, codewords, decoder.matrix_)
    size = graph.node("Mul", graph.node("Add", graph.node("Abs", total), 1.0), SMALLER_THAN_VOTES)
    support = graph.node("Add", votes, graph.node("Div", total, size))
    most = graph.node("ReduceMax", support, np.array([1]), keepdims=1)
    is_first = graph.node("GreaterOrEqual", support, graph.node("Sub", most, EQUAL_SUPPORT))
    others = graph.node("Where", is_first, LOWEST_SCORE, scores)
    rival = graph.node("ReduceMax", others, np.array([1]), keepdims=1)
    lead = graph.node("Mul", graph.node("Add", graph.node("Abs", rival), 1.0), LEAD)
    lifted = graph.node("Max", scores, graph.node("Add", rival, lead))
    return graph.node("Where", is_first, lifted, scores)


def _write_losses(
    graph: Graph, codewords: str, decoder: LossBasedDecoder | LossAveragedDecoder | LossWeightedDecoder
) -> str:
    if isinstance(decoder, LossWeightedDecoder):
        return _negated_losses(graph, decoder.loss, codewords, decoder.weights_ * decoder.matrix_)
    losses = _negated_losses(graph, decoder.loss, codewords, decoder.matrix_)
    if isinstance(decoder, LossAveragedDecoder):
        return graph.node("Div", losses, np.abs(decoder.matrix_).sum(axis=1))
    return graph.node("Sub", losses, decoder._loss_of_zeros) if decoder._loss_of_zeros.any() else losses


def _write_optimized(graph: Graph, codewords: str, decoder: OptimizedWeightDecoder) -> str:
    scores = _product(graph, codewords, decoder.weights_ * decoder.matrix_)
    n_rows = len(decoder.matrix_)
    if not hasattr(decoder, "tie_weights_"):
        if not decoder.tie_tolerance_:
            return scores
        shares = decoder.tie_shares_
        lowered = (shares.max() - shares) / (np.ptp(shares) or 1.0)
        return write_ordered_ties(graph, scores, lowered, decoder.tie_tolerance_, n_rows)
    keys = _product(graph, codewords, decoder.tie_weights_ * decoder.matrix_)
    largest = graph.node("ReduceMax", keys, np.array([1]), keepdims=1)
    spread = graph.node("Sub", largest, graph.node("ReduceMin", keys, np.array([1]), keepdims=1))
    share = graph.node("Div", graph.node("Sub", largest, keys), spread)
    behind = graph.node("Where", graph.node("Greater", spread, 0.0), share, 0.0)
    return write_ordered_ties(graph, scores, behind, SOLVED_TIE_TOLERANCE_WITHOUT_MARGIN, n_rows)


def _write_logistic_weights(graph: Graph, codewords: str, decoder: LogisticWeightDecoder) -> str:
    code = decoder.steepness_[:, np.newaxis] * decoder.weights_ * decoder.matrix_
    return graph.node("LogSoftmax", graph.node("Add", _product(graph, codewords, code), decoder.bias_), axis=1)


_WRITERS: Mapping[type, Callable[[Graph, str, Any], str]] = {
    HammingDecoder: _write_hamming,
    InverseHammingDecoder: _write_hamming,
    EuclideanDecoder: _write_euclidean,
    AttenuatedEuclideanDecoder: _write_euclidean,
    LossBasedDecoder: _write_losses,
    LossAveragedDecoder: _write_losses,
    LaplacianDecoder: _write_laplacian,
    BetaDensityDecoder: _write_beta_density,
    ProbabilisticDecoder: _write_probabilistic,
    VotingDecoder: _write_voting,
    LossWeightedDecoder: _write_losses,
    OptimizedWeightDecoder: _write_optimized,
    LogisticWeightDecoder: _write_logistic_weights,
}


def write_winner(graph: Graph, scores: str, second_key: str, prior: Floats, scale: str) -> str:
    """Write the class that wins, (n_samples,): by score, then by the second key, by the prior, by index."""
    n_classes = len(prior)
    tied = _write_tied_for_best(graph, scores, scale, n_classes)
    keys = graph.node("Where", tied, second_key, LOWEST_SCORE)
    tied = _write_tied_for_best(graph, keys, scale, n_classes)
    priorities = graph.node("Where", tied, priority(prior), np.array(-1))
    return graph.node("ArgMax", priorities, axis=1, keepdims=0)


def _write_tied_for_best(graph: Graph, scores: str, scale: str, n_classes: int) -> str:
    """Write which scores tie with the best one, in a chain of ties."""
    descending, _ = graph.nodes("TopK", 2, scores, np.array([n_classes]), axis=1)
    upper, lower = graph.part(descending, 0, -1), graph.part(descending, 1, n_classes)
    size = graph.node("Max", graph.node("Abs", upper), graph.node("Abs", lower), scale)
    apart = graph.node("Greater", graph.node("Sub", upper, lower), graph.node("Mul", size, ROUNDING_TOLERANCE))
    n_gaps = graph.node("CumSum", graph.cast(apart, TensorProto.INT32), np.array(1))
    in_chain = graph.node("Equal", n_gaps, graph.cast(graph.constant(0), TensorProto.INT32))
    best = graph.part(descending, 0, 1)
    lowest = graph.node("ReduceMin", graph.node("Where", in_chain, lower, best), np.array([1]), keepdims=1)
    return graph.node("GreaterOrEqual", scores, lowest)


def write_ordered_ties(graph: Graph, scores: str, lowered: str | Floats, tolerance: float, n_classes: int) -> str:
    """Write scores with tied ones put in order, as `order_ties` of optimised weights does.

    `lowered` is by which part of half the tolerance a class falls behind the best of its tie, for all samples or each.
    """
    descending, order = graph.nodes("TopK", 2, scores, np.array([n_classes]), axis=1)
    upper, lower = graph.part(descending, 0, -1), graph.part(descending, 1, n_classes)
    apart = graph.node("Greater", graph.node("Sub", upper, lower), tolerance)
    starts = graph.node("Pad", apart, np.array([0, 1, 0, 0]))  # one column of False on the left
    group = graph.node("CumSum", graph.cast(starts, TensorProto.INT64), np.array(1))
    lowest = graph.node("Min", descending, LOWEST_SCORE)
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
    return graph.node("ScatterElements", scores, order, graph.node("Where", tied, ordered, descending), axis=1)
