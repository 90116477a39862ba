"""Columns of learners that are multiclass by themselves: a learner is written once, and its columns follow from it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skecoc.learners import MulticlassLearner
from skecoc.learners.columns import Response
from skecoc.learners.multiclass import LEAST_OUTPUT, LEAST_PROBABILITY
from skecoc.onnx._converters import Rows, refuse_margins, write_by_own_converter, write_steps
from skecoc.onnx._graph import Graph
from skecoc.onnx._kernels import dense, pair_margins
from skecoc.onnx._trees import boosted_tree_margins, forest_probabilities

_FORESTS = (DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
# Stands for the logarithm of zero: finite, so that differences are numbers.
_LOG_OF_ZERO = -1e300


class _ClassOutputs(NamedTuple):
    """Tensors of what `MulticlassLearner.evaluate` returns."""

    logs: str
    margins: str | None = None


def write_class_columns(
    graph: Graph, rows: Rows, learner: MulticlassLearner, patterns: Sequence[NDArray[Any]], response: Response
) -> str:
    """Write the outputs of columns of one trained learner, (n_samples, n_columns)."""
    estimator = learner.estimator_
    while isinstance(estimator, Pipeline):
        rows, estimator = write_steps(graph, rows, estimator), estimator.steps[-1][1]
    classes = np.asarray(learner.classes_)
    if response == "predict" or not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        found = _write_labels(graph, rows, estimator, classes)
    elif hasattr(estimator, "predict_proba"):
        found = _ClassOutputs(_log(graph, _write_probabilities(graph, rows, estimator)))
    else:
        found = _write_margins(graph, rows, estimator)
    outputs = _write_columns(graph, found, np.array([pattern[classes] for pattern in patterns]))
    return graph.node("Sign", outputs) if response == "predict" else outputs


def _write_columns(graph: Graph, found: _ClassOutputs, sides: NDArray[Any]) -> str:
    """Write the outputs of columns, (n_columns, n_classes), from those of the classes."""
    is_pair = ((sides > 0).sum(axis=1) == 1) & ((sides < 0).sum(axis=1) == 1)
    groups = {kind: np.flatnonzero(is_pair == kind).tolist() for kind in (True, False) if (is_pair == kind).any()}
    writers = {True: _write_pairs, False: _write_sides}
    parts = {kind: writers[kind](graph, found, sides[members]) for kind, members in groups.items()}
    outputs = graph.node("Tanh", graph.joined_groups(parts, groups))
    return graph.node("Where", graph.node("Less", graph.node("Abs", outputs), LEAST_OUTPUT), 0.0, outputs)


def _write_pairs(graph: Graph, found: _ClassOutputs, sides: NDArray[Any]) -> str:
    """Write the margins of columns for pairs of classes: the learner's own, or half the log-odds."""
    first, second = (sides > 0).argmax(axis=1), (sides < 0).argmax(axis=1)
    if found.margins is None:
        logs = [graph.node("Gather", found.logs, side, axis=1) for side in (first, second)]
        return graph.node("Mul", graph.node("Sub", *logs), 0.5)
    n_classes = sides.shape[1]
    numbers = np.zeros((n_classes, n_classes), dtype=np.int64)
    numbers[np.triu_indices(n_classes, 1)] = np.arange(n_classes * (n_classes - 1) // 2)
    places = numbers[np.minimum(first, second), np.maximum(first, second)]
    return graph.node("Mul", graph.node("Gather", found.margins, places, axis=1), np.where(first < second, 1.0, -1.0))


def _write_sides(graph: Graph, found: _ClassOutputs, sides: NDArray[Any]) -> str:
    """Write half the log-odds of the two sides of columns; a side without a class has a probability of zero."""
    padded = graph.node("Pad", found.logs, np.array([0, 0, 0, 1]), _LOG_OF_ZERO)
    sums = []
    for members in (sides > 0, sides < 0):
        size = max(int(members.sum(axis=1).max()), 1)
        # The classes of a side come first; what is left is filled up with the class without probability.
        order = np.argsort(~members, axis=1, kind="stable")[:, :size]
        places = np.where(np.take_along_axis(members, order, axis=1), order, sides.shape[1])
        chosen = graph.node("Gather", padded, places, axis=1)
        sums.append(graph.node("ReduceLogSumExp", chosen, np.array([2]), keepdims=0))
    return graph.node("Mul", graph.node("Sub", *sums), 0.5)


def _log(graph: Graph, probabilities: str) -> str:
    """Write the logarithm of probabilities, the least of which are raised."""
    return graph.node("Log", graph.node("Max", probabilities, LEAST_PROBABILITY))


def _write_labels(graph: Graph, rows: Rows, estimator: Any, classes: NDArray[Any]) -> _ClassOutputs:
    """Write the predicted class as probabilities of one and of nearly zero."""
    scores = None
    if _has_known_probabilities(estimator):
        scores = _write_probabilities(graph, rows, estimator)
    elif _has_known_pairs(estimator):
        scores = _write_votes(graph, pair_margins(graph, rows.name, estimator), len(classes))
    elif _has_linear_margins(estimator):
        scores = _write_linear(graph, rows, estimator)
        scores = _both(graph, scores) if len(classes) == 2 else scores
    if scores is None:
        labels, _ = write_by_own_converter(graph, rows, estimator)
        is_predicted = graph.node("Equal", graph.node("Reshape", labels, np.array([-1, 1])), classes.astype(np.float64))
    else:
        is_predicted = graph.node("Equal", graph.node("ArgMax", scores, axis=1, keepdims=1), np.arange(len(classes)))
    return _ClassOutputs(graph.node("Where", is_predicted, 0.0, float(np.log(LEAST_PROBABILITY))))


def _write_probabilities(graph: Graph, rows: Rows, estimator: Any) -> str:
    """Write the probabilities of the classes, (n_samples, n_classes)."""
    if type(estimator) in _FORESTS:
        return forest_probabilities(graph, rows.name, estimator)
    if not _has_known_probabilities(estimator):
        return write_by_own_converter(graph, rows, estimator)[1]
    is_boosting = isinstance(estimator, HistGradientBoostingClassifier)
    raw = boosted_tree_margins(graph, rows.name, [estimator]) if is_boosting else _write_linear(graph, rows, estimator)
    if len(estimator.classes_) == 2:
        raw = _both(graph, graph.node("Mul", raw, 0.5))
    return graph.node("Softmax", raw, axis=1)


def _write_margins(graph: Graph, rows: Rows, estimator: Any) -> _ClassOutputs:
    """Write the margins of a classifier without probabilities, and the probabilities that they stand for."""
    n_classes = len(estimator.classes_)
    is_pairwise = isinstance(estimator, SVC | NuSVC)
    if is_pairwise and _has_known_pairs(estimator):
        margins = pair_margins(graph, rows.name, estimator)
    elif not is_pairwise and _has_linear_margins(estimator):
        margins = _write_linear(graph, rows, estimator)
    else:
        refuse_margins(estimator)
    if n_classes == 2:  # one margin, positive for the second class
        return _ClassOutputs(_log_softmax(graph, _both(graph, margins)), graph.node("Neg", margins))
    if not is_pairwise:
        return _ClassOutputs(_log_softmax(graph, graph.node("Mul", margins, 2.0)))
    scores = graph.node("MatMul", margins, 2.0 / n_classes * _pairs_of_classes(n_classes))
    return _ClassOutputs(_log_softmax(graph, scores), margins)


def _write_votes(graph: Graph, margins: str, n_classes: int) -> str:
    """Write for how many of its pairs each class is chosen, as libsvm counts; classes with equal votes in order."""
    if n_classes == 2:
        return _both(graph, margins)
    signs = graph.node("Where", graph.node("Greater", margins, 0.0), 1.0, -1.0)
    return graph.node("MatMul", signs, _pairs_of_classes(n_classes))


def _pairs_of_classes(n_classes: int) -> NDArray[np.float64]:
    """Return the matrix, (n_pairs, n_classes), that is 1 for the first class of a pair and -1 for the second."""
    first, second = np.triu_indices(n_classes, 1)
    return np.eye(n_classes)[first] - np.eye(n_classes)[second]


def _log_softmax(graph: Graph, scores: str) -> str:
    """Write the logarithms of the softmax of each row."""
    return graph.node("LogSoftmax", scores, axis=1)


def _both(graph: Graph, margin: str) -> str:
    """Write a margin of the second class as one of both."""
    return graph.joined([graph.node("Neg", margin), margin])


def _write_linear(graph: Graph, rows: Rows, estimator: Any) -> str:
    """Write linear margins: of all classes, or of the second of two."""
    coefficients = np.ascontiguousarray(np.atleast_2d(dense(estimator.coef_)).T)
    intercepts = np.broadcast_to(np.ravel(estimator.intercept_), coefficients.shape[1]).astype(np.float64)
    return graph.node("Gemm", rows.name, coefficients, intercepts)


def _has_known_probabilities(estimator: Any) -> bool:
    """Tell whether a classifier's probabilities are written here: of trees, or the softmax of margins."""
    if type(estimator) in (*_FORESTS, HistGradientBoostingClassifier, LinearDiscriminantAnalysis):
        return True
    if type(estimator) not in (LogisticRegression, LogisticRegressionCV):
        return False
    # Older versions have one-vs-rest, whose probabilities are no softmax; of two classes "multinomial" is another one.
    scheme, is_binary = getattr(estimator, "multi_class", "auto"), len(estimator.classes_) == 2
    is_one_vs_rest = scheme == "ovr" or estimator.solver == "liblinear"
    return scheme != "multinomial" if is_binary else not is_one_vs_rest


def _has_known_pairs(estimator: Any) -> bool:
    """Tell whether a classifier is a support vector machine whose pairwise margins are written here."""
    return isinstance(estimator, SVC | NuSVC) and estimator.kernel in ("rbf", "linear")


def _has_linear_margins(estimator: Any) -> bool:
    """Tell whether a classifier's margins are linear."""
    return getattr(type(estimator), "decision_function", None) is LinearClassifierMixin.decision_function
