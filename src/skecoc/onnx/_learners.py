"""Outputs of trained learners as ONNX nodes.

A binary learner that is known here has a margin, and a slope h such that its probability p of the second class is
output as ``2 p - 1 = tanh(h * margin)``. Margins of learners of one kind are computed together, in double precision:
far faster than skl2onnx's own converters (see `benchmarks/onnx_converters.py`), which other learners are left to. A
learner that is multiclass by itself is written once, and its columns follow from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from skl2onnx import get_model_alias
from skl2onnx.common.data_types import Int64TensorType
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import ConstantClassifier, Response
from skecoc.learners.mixed import MarginColumn, ZeroForMissing
from skecoc.learners.multiclass import LEAST_OUTPUT, LEAST_PROBABILITY, MulticlassColumn
from skecoc.onnx._graph import Floats, Graph
from skecoc.onnx._trees import boosted_tree_margins, forest_probabilities, stump_margins

_FORESTS = (DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
# Stands for the logarithm of zero: finite, so that differences are numbers.
_LOG_OF_ZERO = -1e300


@dataclass(frozen=True)
class Rows:
    """Samples to predict: the name of a tensor of doubles, and its number of columns."""

    name: str
    n_features: int


@dataclass(frozen=True)
class FixedOutput:
    """Stands for a learner that gives every sample the same number."""

    value: float


_Writer = Callable[[Graph, Rows, list[Any], Response], str]


def write_outputs(graph: Graph, rows: Rows, learners: Sequence[Any], response: Response) -> str:
    """Write the outputs of learners, as `skecoc.learners.columns.evaluate_columns` gives them."""

    def write(writer: _Writer, columns: list[int]) -> str:
        return writer(graph, rows, [learners[q] for q in columns], response)

    return graph.grouped([_choose_writer(learner, response) for learner in learners], write)


def _choose_writer(learner: Any, response: Response) -> _Writer:
    writer = _WRITERS.get(type(learner))
    if writer is not None:
        return writer
    if _is_known_machine(learner) and response != "predict_proba":
        return _write_rbf if learner.kernel == "rbf" else _write_linear
    # Linear learners whose probabilities, if they are needed, are the logistic function of the margin.
    is_linear = type(learner) in (LogisticRegression, LogisticRegressionCV, LinearDiscriminantAnalysis)
    if response == "predict_proba":
        is_linear |= type(learner) is SGDClassifier and learner.loss == "log_loss"
    else:
        is_linear |= _has_linear_margins(learner)
    return _write_linear if is_linear else _write_converted


def _is_known_machine(estimator: Any) -> bool:
    return isinstance(estimator, SVC | NuSVC) and estimator.kernel in ("rbf", "linear")


def _has_linear_margins(estimator: Any) -> bool:
    return getattr(type(estimator), "decision_function", None) is LinearClassifierMixin.decision_function


def _one_by_one(write_one: Callable[[Graph, Rows, Any, Response], str]) -> _Writer:
    """Make a function that writes the outputs of several learners of one that writes those of a single one."""

    def write(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
        return graph.joined([write_one(graph, rows, learner, response) for learner in learners])

    return write


def _write_response(graph: Graph, margins: str, slopes: Floats, response: Response) -> str:
    """Turn margins into outputs."""
    if response == "decision_function":
        return margins
    if response == "predict_proba":
        return graph.node("Tanh", graph.node("Mul", margins, slopes))
    return graph.node("Where", graph.node("Greater", margins, 0.0), 1.0, -1.0)


def _write_stumps(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    if any(hasattr(learner, "categories_") for learner in learners):
        raise NotImplementedError(
            "StumpAdaBoostClassifier fitted to columns of categories cannot be exported to ONNX; "
            "encode them in a pipeline"
        )
    return _write_response(graph, stump_margins(graph, rows.name, learners), np.ones(1), response)


def _write_boosted_trees(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    return _write_response(graph, boosted_tree_margins(graph, rows.name, learners), np.array([0.5]), response)


def _write_linear(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    coefficients = np.vstack([_dense(learner.coef_).reshape(1, -1) for learner in learners])
    intercepts = np.array([float(np.ravel(learner.intercept_)[0]) for learner in learners])
    margins = graph.node("Gemm", rows.name, np.ascontiguousarray(coefficients.T), intercepts)
    return _write_response(graph, margins, np.array([0.5]), response)


def _write_rbf(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of support vector machines with the kernel exp(-gamma ||x - z||^2).

    The exponent is linear in x and ||x||^2 for a given z, so that each machine is a matrix product, exponentials, and
    another product. Machines of the same gamma share these.
    """
    origin = coarse_origin(np.vstack([_dense(learner.support_vectors_) for learner in learners]))
    extended = _with_squares(graph, rows.name, origin)

    def write(gamma: float, members: list[int]) -> str:
        machines = [learners[q] for q in members]
        stacked = np.vstack([_dense(machine.support_vectors_) for machine in machines])
        vectors, place = np.unique(stacked, axis=0, return_inverse=True)
        own = [_dense(machine.dual_coef_).ravel() for machine in machines]
        owners = np.repeat(np.arange(len(machines)), [len(values) for values in own])
        coefficients = np.zeros((len(vectors), len(machines)))
        # A row that both classes have is two support vectors of one machine.
        np.add.at(coefficients, (place.reshape(-1), owners), np.concatenate(own))
        intercepts = np.array([float(machine.intercept_[0]) for machine in machines])
        return graph.node("Gemm", _rbf_kernel(graph, extended, vectors - origin, gamma), coefficients, intercepts)

    gammas = [float(each.gamma_ if isinstance(each, TunedSVMClassifier) else each._gamma) for each in learners]
    # scikit-learn's machines have no slope, and their probabilities are left to skl2onnx.
    slopes = np.array([getattr(learner, "slope_", np.nan) / 2.0 for learner in learners])
    return _write_response(graph, graph.grouped(gammas, write), slopes, response)


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)


def coarse_origin(points: Floats) -> Floats:
    """Return a point near the middle of others, so that expanded squares lose few digits to cancellation.

    Its coordinates are multiples of a power of two of about the points' spread: where points have few binary digits, as
    counts have, differences and products are exact, and ties stay ties.
    """
    spread = np.ptp(points, axis=0)
    middle = points.mean(axis=0)
    step = np.exp2(np.ceil(np.log2(np.where(spread > 0.0, spread, 1.0))))
    return np.rint(middle / step) * step


def _shifted(graph: Graph, rows: str, origin: Floats) -> str:
    return graph.node("Sub", rows, origin) if origin.any() else rows


def _with_squares(graph: Graph, rows: str, origin: Floats) -> str:
    """Subtract an origin from rows, and append their squared lengths as one column more."""
    shifted_rows = _shifted(graph, rows, origin)
    squares = graph.node("ReduceSumSquare", shifted_rows, np.array([1]), keepdims=1)
    return graph.joined([shifted_rows, squares])


def _rbf_kernel(graph: Graph, extended: str, vectors: Floats, gamma: float) -> str:
    """Write exp(-gamma ||x - z||^2), (n_samples, n_vectors), from rows with squares; all minus the same origin."""
    product = np.vstack([2.0 * gamma * vectors.T, np.full(len(vectors), -gamma)])
    return graph.node("Exp", graph.node("Gemm", extended, product, -gamma * np.square(vectors).sum(axis=1)))


def _write_fixed(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:  # noqa: ARG001
    values = [learner.value if isinstance(learner, FixedOutput) else 2.0 * learner.side - 1.0 for learner in learners]
    n_rows = graph.node("Shape", rows.name, end=1)
    shape = graph.node("Concat", n_rows, np.array([len(values)]), axis=0)
    return graph.node("Expand", np.array([values]), shape)


def _write_regions(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of the learners of all regions, and take that of the nearest centre."""
    n_regions = max(learner.n_regions_ for learner in learners)
    slots: list[Any] = []
    for learner in learners:
        margins = learner.region_margins_
        remembered = {
            "decision_function": margins,
            "predict_proba": np.tanh(margins),
            "predict": np.sign(margins),
        }[response]
        slots += [
            FixedOutput(float(output)) if inner is None else inner  # a region of one class has no learner
            for inner, output in zip(learner.estimators_, remembered, strict=True)
        ]
        slots += [FixedOutput(0.0)] * (n_regions - learner.n_regions_)
    shape = np.array([0, len(learners), n_regions])
    outputs = graph.node("Reshape", write_outputs(graph, rows, slots, response), shape)
    # Copies of the first centre are never taken: of several nearest centres the first one is.
    all_centres = [learner.centres_ for learner in learners]
    padded = np.vstack([np.vstack([own, np.repeat(own[:1], n_regions - len(own), axis=0)]) for own in all_centres])
    takes_missing = any(learner._takes_missing() for learner in learners)
    distances = _write_distances(graph, rows.name, padded, takes_missing)
    by_learner = graph.node("Reshape", distances, shape)
    nearest = graph.node("ArgMin", by_learner, axis=2, keepdims=1)
    chosen = graph.node("GatherElements", outputs, nearest, axis=2)
    return graph.node("Squeeze", chosen, np.array([2]))


def _write_distances(graph: Graph, rows: str, centres: Floats, takes_missing: bool) -> str:
    """Write squared distances to centres, without ||x||^2, which all have in common; missing values are left out."""
    origin = coarse_origin(centres)
    centred = centres - origin
    moved, squares = _shifted(graph, rows, origin), np.square(centred)
    is_missing = graph.node("IsNaN", moved) if takes_missing else ""
    known = graph.node("Where", is_missing, 0.0, moved) if takes_missing else moved
    distances = graph.node("Gemm", known, -2.0 * centred.T, squares.sum(axis=1))
    if takes_missing:
        missing = graph.double(is_missing)
        distances = graph.node("Sub", distances, graph.node("MatMul", missing, np.ascontiguousarray(squares.T)))
    return distances


@_one_by_one
def _write_pipelines(graph: Graph, rows: Rows, pipeline: Pipeline, response: Response) -> str:
    """Write the steps of a pipeline by their own converters, and the learner as all others."""
    return write_outputs(graph, _write_steps(graph, rows, pipeline), [pipeline.steps[-1][1]], response)


def _write_steps(graph: Graph, rows: Rows, pipeline: Pipeline) -> Rows:
    """Write all steps of a pipeline but the last; return what they make of the rows."""
    variable = graph.variable(rows.name, rows.n_features)
    for _, step in pipeline.steps[:-1]:
        if isinstance(step, ZeroForMissing):
            name = graph.double(variable.onnx_name)
            variable = graph.variable(graph.node("Where", graph.node("IsNaN", name), 0.0, name), rows.n_features)
        elif step not in (None, "passthrough"):
            [variable] = graph.converted(_alias(step), step, variable, transformed=type(variable.type)())
    return Rows(graph.double(variable.onnx_name), pipeline.steps[-1][1].n_features_in_)


@_one_by_one
def _write_converted(graph: Graph, rows: Rows, learner: Any, response: Response) -> str:
    """Write the outputs of a learner that another converter of skl2onnx writes."""
    if response == "decision_function":
        _refuse_margins(learner)
    labels, probabilities = _convert(graph, rows, learner)
    if response == "predict":
        second = graph.node("Reshape", labels, np.array([-1, 1]))
    else:
        second = graph.part(probabilities, 1, 2)
    return graph.node("Sub", graph.node("Mul", second, 2.0), 1.0)


def _convert(graph: Graph, rows: Rows, classifier: Any) -> list[str]:
    """Write a classifier by its converter in skl2onnx; return its labels, which are integers, and its probabilities."""
    alias = _alias(classifier)
    # scikit-learn itself reads rows in single precision here.
    is_single = isinstance(classifier, (*_FORESTS, GradientBoostingClassifier))
    variable = graph.variable(rows.name, rows.n_features, single=is_single)
    types = {"label": Int64TensorType(), "probabilities": type(variable.type)()}
    return [graph.double(str(found.onnx_name)) for found in graph.converted(alias, classifier, variable, **types)]


def _alias(part: Any) -> str:
    """Find the converter of a learner or a step of a pipeline."""
    try:
        return str(get_model_alias(type(part)))
    except RuntimeError as error:
        raise NotImplementedError(
            f"{type(part).__name__} cannot be exported to ONNX: neither skecoc nor skl2onnx has a converter for it"
        ) from error


def _refuse_margins(classifier: Any) -> NoReturn:
    raise NotImplementedError(
        f"margins of {type(classifier).__name__} cannot be exported to ONNX; response_method='predict' can, "
        "and 'predict_proba' if the learner has it"
    )


def _write_margin_columns(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of learners with margins or labels beside others with probabilities."""

    def write(kind: Response, columns: list[int]) -> str:
        outputs = write_outputs(graph, rows, [learners[q].learner for q in columns], kind)
        return graph.node("Tanh", outputs) if kind == "decision_function" else outputs

    return graph.grouped(["predict" if response == "predict" else column.response for column in learners], write)


def _write_multiclass_columns(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of columns that share multiclass learners, each learner once."""

    def write(_: int, columns: list[int]) -> str:
        patterns = [learners[q].pattern for q in columns]
        return _write_class_columns(graph, rows, learners[columns[0]].learner, patterns, response)

    return graph.grouped([id(column.learner) for column in learners], write)


@_one_by_one
def _write_multiclass_alone(graph: Graph, rows: Rows, learner: MulticlassLearner, response: Response) -> str:
    """Write the outputs of a multiclass learner that was trained on the two sides of a column."""
    return _write_class_columns(graph, rows, learner, [np.array([-1, 1])], response)


_WRITERS: dict[type, _Writer] = {
    FixedOutput: _write_fixed,
    ConstantClassifier: _write_fixed,
    StumpAdaBoostClassifier: _write_stumps,
    TunedSVMClassifier: _write_rbf,
    RegionClassifier: _write_regions,
    HistGradientBoostingClassifier: _write_boosted_trees,
    Pipeline: _write_pipelines,
    MarginColumn: _write_margin_columns,
    MulticlassColumn: _write_multiclass_columns,
    MulticlassLearner: _write_multiclass_alone,
}


class _ClassOutputs(NamedTuple):
    """Tensors of what `MulticlassLearner._evaluate` returns."""

    logs: str
    margins: str | None = None


def _write_class_columns(
    graph: Graph, rows: Rows, learner: MulticlassLearner, patterns: Sequence[NDArray[Any]], response: Response
) -> str:
    """Write the outputs of columns of one trained learner, (n_samples, n_columns)."""
    estimator = learner.estimator_
    while isinstance(estimator, Pipeline):
        rows, estimator = _write_steps(graph, rows, estimator), estimator.steps[-1][1]
    classes = np.asarray(learner.classes_)
    if response == "predict" or not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        found = _write_labels(graph, rows, estimator, classes)
    elif hasattr(estimator, "predict_proba"):
        raised = graph.node("Max", _write_probabilities(graph, rows, estimator), LEAST_PROBABILITY)
        found = _ClassOutputs(graph.node("Log", raised))
    else:
        found = _write_margins(graph, rows, estimator)
    sides = np.array([pattern[classes] for pattern in patterns])
    is_pair = ((sides > 0).sum(axis=1) == 1) & ((sides < 0).sum(axis=1) == 1)

    def write(are_pairs: bool, columns: list[int]) -> str:
        return (_write_pairs if are_pairs else _write_sides)(graph, found, sides[columns])

    outputs = graph.node("Tanh", graph.grouped(is_pair.tolist(), write))
    outputs = graph.node("Where", graph.node("Less", graph.node("Abs", outputs), LEAST_OUTPUT), 0.0, outputs)
    return graph.node("Sign", outputs) if response == "predict" else outputs


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
        # The classes of a side come first, filled up with the class without probability.
        order = np.argsort(~members, axis=1, kind="stable")[:, :size]
        places = np.where(np.take_along_axis(members, order, axis=1), order, sides.shape[1])
        chosen = graph.node("Gather", padded, places, axis=1)
        sums.append(graph.node("ReduceLogSumExp", chosen, np.array([2]), keepdims=0))
    return graph.node("Mul", graph.node("Sub", *sums), 0.5)


def _write_labels(graph: Graph, rows: Rows, estimator: Any, classes: NDArray[Any]) -> _ClassOutputs:
    """Write the predicted class as probabilities of one and of nearly zero."""
    n_classes = len(classes)
    if _has_known_probabilities(estimator):
        scores = _write_probabilities(graph, rows, estimator)
    elif _is_known_machine(estimator):
        scores = _pair_margins(graph, rows.name, estimator)
        if n_classes > 2:  # as in libsvm: the class chosen for most of its pairs, the first if several are
            signs = graph.node("Where", graph.node("Greater", scores, 0.0), 1.0, -1.0)
            scores = graph.node("MatMul", signs, _pairs_of_classes(n_classes))
        else:
            scores = _of_both(graph, scores)
    elif _has_linear_margins(estimator):
        scores = _linear_margins(graph, rows, estimator)
        scores = _of_both(graph, scores) if n_classes == 2 else scores
    else:
        labels, _ = _convert(graph, rows, estimator)
        scores = graph.double(
            graph.node("Equal", graph.node("Reshape", labels, np.array([-1, 1])), classes.astype(np.float64))
        )
    is_predicted = graph.node("Equal", graph.node("ArgMax", scores, axis=1, keepdims=1), np.arange(n_classes))
    return _ClassOutputs(graph.node("Where", is_predicted, 0.0, float(np.log(LEAST_PROBABILITY))))


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


def _write_probabilities(graph: Graph, rows: Rows, estimator: Any) -> str:
    """Write the probabilities of the classes, (n_samples, n_classes)."""
    if type(estimator) in _FORESTS:
        return forest_probabilities(graph, rows.name, estimator)
    if not _has_known_probabilities(estimator):
        return _convert(graph, rows, estimator)[1]
    is_boosting = isinstance(estimator, HistGradientBoostingClassifier)
    raw = (
        boosted_tree_margins(graph, rows.name, [estimator]) if is_boosting else _linear_margins(graph, rows, estimator)
    )
    if len(estimator.classes_) == 2:
        raw = _of_both(graph, graph.node("Mul", raw, 0.5))
    return graph.node("Softmax", raw, axis=1)


def _write_margins(graph: Graph, rows: Rows, estimator: Any) -> _ClassOutputs:
    """Write the margins of a classifier without probabilities, and the probabilities that they stand for."""
    n_classes = len(estimator.classes_)
    _is_pairwise = isinstance(estimator, SVC | NuSVC)
    if _is_known_machine(estimator):
        margins = _pair_margins(graph, rows.name, estimator)
    elif not _is_pairwise and _has_linear_margins(estimator):
        margins = _linear_margins(graph, rows, estimator)
    else:
        _refuse_margins(estimator)
    if n_classes == 2:  # one margin, positive for the second class
        logs = graph.node("LogSoftmax", _of_both(graph, margins), axis=1)
        return _ClassOutputs(logs, graph.node("Neg", margins))
    if not _is_pairwise:
        return _ClassOutputs(graph.node("LogSoftmax", graph.node("Mul", margins, 2.0), axis=1))
    scores = graph.node("MatMul", margins, 2.0 / n_classes * _pairs_of_classes(n_classes))
    return _ClassOutputs(graph.node("LogSoftmax", scores, axis=1), margins)


def _pairs_of_classes(n_classes: int) -> Floats:
    """Return the matrix, (n_pairs, n_classes), that is 1 for the first class of a pair and -1 for the second."""
    first, second = np.triu_indices(n_classes, 1)
    return np.eye(n_classes)[first] - np.eye(n_classes)[second]


def _of_both(graph: Graph, margin: str) -> str:
    """Write a margin of the second class as one of both."""
    return graph.joined([graph.node("Neg", margin), margin])


def _linear_margins(graph: Graph, rows: Rows, estimator: Any) -> str:
    """Write the linear margins of all classes, or of the second of two."""
    coefficients = np.ascontiguousarray(np.atleast_2d(_dense(estimator.coef_)).T)
    intercepts = np.broadcast_to(np.ravel(estimator.intercept_), coefficients.shape[1]).astype(np.float64)
    return graph.node("Gemm", rows.name, coefficients, intercepts)


def _pair_margins(graph: Graph, rows: str, machine: Any) -> str:
    """Write the margins of the pairs of classes of an `SVC` or `NuSVC`, (n_samples, n_pairs), as scikit-learn does.

    They are positive for the first class of a pair; the one margin of two classes is positive for the second.
    A class's support vectors have one row of coefficients for each of the others, so that the products are made class
    by class, and a pair's margin is the sum of two.
    """
    if machine.kernel == "linear":
        return graph.node("Gemm", rows, np.ascontiguousarray(_dense(machine.coef_).T), machine.intercept_)
    vectors, coefficients = _dense(machine.support_vectors_), _dense(machine.dual_coef_)
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
    sums = graph.joined(products)  # a class has no row of coefficients for itself
    of_first = graph.node("Gather", sums, first * (n_classes - 1) + second - 1, axis=1)
    of_second = graph.node("Gather", sums, second * (n_classes - 1) + first, axis=1)
    return graph.node("Add", graph.node("Add", of_first, of_second), machine.intercept_)
