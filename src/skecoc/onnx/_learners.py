"""Outputs of trained binary learners as ONNX nodes.

Every learner that is known here has a margin, and a slope h such that its probability p of the second class is output
as ``2 p - 1 = tanh(h * margin)``. Margins of learners of one kind are computed together, in double precision: far
faster than skl2onnx's own converters (see `benchmarks/onnx_converters.py`), which other learners are left to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from skl2onnx import get_model_alias
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

from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import ConstantClassifier, Response
from skecoc.onnx._graph import Floats, Graph
from skecoc.onnx._trees import boosted_tree_margins, stump_margins

# scikit-learn itself reads rows in single precision here.
_SINGLE_PRECISION = (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
)


@dataclass(frozen=True)
class Rows:
    """Samples to predict: the name of a tensor of doubles, and its number of columns."""

    name: str
    n_features: int


@dataclass(frozen=True)
class FixedOutput:
    """Stands for a learner that gives every sample the same number."""

    value: float


def write_outputs(graph: Graph, rows: Rows, learners: Sequence[Any], response: Response) -> str:
    """Write the outputs of learners, as `skecoc.learners.columns.evaluate_columns` gives them."""
    groups: dict[_Writer, list[int]] = {}
    for number, learner in enumerate(learners):
        groups.setdefault(_choose_writer(learner, response), []).append(number)
    parts = {write: write(graph, rows, [learners[q] for q in members], response) for write, members in groups.items()}
    return graph.joined_groups(parts, groups)


_Writer = Callable[[Graph, Rows, list[Any], Response], str]


def _one_by_one(write_one: Callable[[Graph, Rows, Any, Response], str]) -> _Writer:
    """Write the outputs of several learners by a function that writes those of one."""

    def write(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
        return graph.joined([write_one(graph, rows, learner, response) for learner in learners])

    return write


def _choose_writer(learner: Any, response: Response) -> _Writer:
    """Choose the function that writes the outputs of a learner, and of others like it."""
    writer = _WRITERS.get(type(learner))
    if writer is not None:
        return writer
    if isinstance(learner, SVC | NuSVC) and response != "predict_proba":
        if learner.kernel == "rbf":
            return _write_rbf
        if learner.kernel == "linear":
            return _write_linear
    return _write_linear if _is_linear(learner, response) else _write_by_own_converter


def _is_linear(learner: Any, response: Response) -> bool:
    """Tell whether a learner's outputs follow from a linear margin, probabilities by the logistic function."""
    if type(learner) in (LogisticRegression, LogisticRegressionCV, LinearDiscriminantAnalysis):
        return True
    if response == "predict_proba":
        return type(learner) is SGDClassifier and learner.loss == "log_loss"
    return getattr(type(learner), "decision_function", None) is LinearClassifierMixin.decision_function


def _write_response(graph: Graph, margins: str, slopes: Floats, response: Response) -> str:
    """Turn margins into outputs."""
    if response == "decision_function":
        return margins
    if response == "predict_proba":
        return graph.node("Tanh", graph.node("Mul", margins, slopes))
    return graph.node("Where", graph.node("Greater", margins, 0.0), 1.0, -1.0)


def _dense(values: Any) -> Floats:
    """Return coefficients, which may be sparse, as an array."""
    return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)


def _write_stumps(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of boosted stumps."""
    return _write_response(graph, stump_margins(graph, rows.name, learners), np.ones(1), response)


def _write_boosted_trees(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of gradient-boosted trees."""
    return _write_response(graph, boosted_tree_margins(graph, rows.name, learners), np.array([0.5]), response)


def _write_linear(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of linear learners."""
    coefficients = np.vstack([_dense(learner.coef_).reshape(1, -1) for learner in learners])
    intercepts = np.array([float(np.ravel(learner.intercept_)[0]) for learner in learners])
    margins = graph.node("Gemm", rows.name, np.ascontiguousarray(coefficients.T), intercepts)
    return _write_response(graph, margins, np.array([0.5]), response)


def _write_rbf(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of support vector machines with a Gaussian kernel."""
    machines = [
        RBFMachine(
            _dense(learner.support_vectors_),
            _dense(learner.dual_coef_).ravel(),
            float(learner.intercept_[0]),
            float(learner.gamma_ if isinstance(learner, TunedSVMClassifier) else learner._gamma),
        )
        for learner in learners
    ]
    # scikit-learn's machines have no slope, and their probabilities are left to skl2onnx.
    slopes = np.array([getattr(learner, "slope_", np.nan) / 2.0 for learner in learners])
    return _write_response(graph, rbf_margins(graph, rows.name, machines), slopes, response)


def _write_fixed(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:  # noqa: ARG001
    """Write outputs that are the same for every row."""
    values = [learner.value if isinstance(learner, FixedOutput) else 2.0 * learner.side - 1.0 for learner in learners]
    n_rows = graph.node("Shape", rows.name, end=1)
    shape = graph.node("Concat", n_rows, np.array([len(values)]), axis=0)
    return graph.node("Expand", np.array([values]), shape)


def _write_regions(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of region learners: all their learners', of which the nearest centre's is taken."""
    n_regions = max(learner.n_regions_ for learner in learners)
    slots: list[Any] = []
    for learner in learners:
        slots += _region_outputs(learner, response)
        slots += [FixedOutput(0.0)] * (n_regions - learner.n_regions_)
    shape = np.array([0, len(learners), n_regions])
    outputs = graph.node("Reshape", write_outputs(graph, rows, slots, response), shape)
    nearest = nearest_centres(graph, rows.name, [learner.centres_ for learner in learners], n_regions)
    chosen = graph.node("GatherElements", outputs, nearest, axis=2)
    return graph.node("Squeeze", chosen, np.array([2]))


def _region_outputs(learner: RegionClassifier, response: Response) -> list[Any]:
    """List what predicts in each region: its learner, or the class that it remembers."""
    margins = learner.region_margins_
    remembered = {
        "decision_function": margins,
        "predict_proba": np.tanh(margins),
        "predict": np.sign(margins),
    }[response]
    return [
        FixedOutput(float(output)) if inner is None else inner
        for inner, output in zip(learner.estimators_, remembered, strict=True)
    ]


@_one_by_one
def _write_pipelines(graph: Graph, rows: Rows, pipeline: Pipeline, response: Response) -> str:
    """Write the outputs of a pipeline: the steps by their own converters, the learner as all others."""
    variable = graph.variable(rows.name, rows.n_features)
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            variable = graph.transformed(_alias(step), step, variable)
    learner = pipeline.steps[-1][1]
    return write_outputs(graph, Rows(graph.double(variable.onnx_name), learner.n_features_in_), [learner], response)


@_one_by_one
def _write_by_own_converter(graph: Graph, rows: Rows, learner: Any, response: Response) -> str:
    """Write the outputs of a learner that skl2onnx, or whoever has registered a converter, knows how to convert."""
    alias = _alias(learner)
    if response == "decision_function":
        raise NotImplementedError(
            f"margins of {type(learner).__name__} cannot be exported to ONNX; response_method='predict' can, "
            "and 'predict_proba' if the learner has it"
        )
    single = isinstance(learner, _SINGLE_PRECISION)
    variable = graph.variable(rows.name, rows.n_features, single=single)
    labels, probabilities = graph.classified(alias, learner, variable)
    if response == "predict":
        second = graph.node("Reshape", graph.double(labels), np.array([-1, 1]))
    else:
        second = graph.part(graph.double(probabilities), 1, 2)
    return graph.node("Sub", graph.node("Mul", second, 2.0), 1.0)


def _alias(part: Any) -> str:
    """Find the converter of a learner or a step of a pipeline."""
    try:
        return str(get_model_alias(type(part)))
    except RuntimeError as error:
        raise NotImplementedError(
            f"{type(part).__name__} cannot be exported to ONNX: neither skecoc nor skl2onnx has a converter for it"
        ) from error


_WRITERS: dict[type, _Writer] = {
    FixedOutput: _write_fixed,
    ConstantClassifier: _write_fixed,
    StumpAdaBoostClassifier: _write_stumps,
    TunedSVMClassifier: _write_rbf,
    RegionClassifier: _write_regions,
    HistGradientBoostingClassifier: _write_boosted_trees,
    Pipeline: _write_pipelines,
}


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
    shifted = _shifted(graph, rows, origin)
    squares = graph.node("ReduceSumSquare", shifted, np.array([1]), keepdims=1)
    extended = graph.joined([shifted, squares])
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
    centred = vectors - origin
    product = np.vstack([2.0 * gamma * centred.T, np.full(len(centred), -gamma)])
    exponents = graph.node("Gemm", extended, product, -gamma * np.square(centred).sum(axis=1))
    intercepts = np.array([machine.intercept for machine in machines])
    return graph.node("Gemm", graph.node("Exp", exponents), coefficients, intercepts)


def nearest_centres(graph: Graph, rows: str, centres: Sequence[Floats], n_regions: int) -> str:
    """Write which of its centres is nearest, the first if several are, (n_samples, n_learners, 1)."""
    # Copies of the first centre are never taken: of several nearest centres the first one is.
    padded = [np.vstack([own, np.repeat(own[:1], n_regions - len(own), axis=0)]) for own in centres]
    origin = coarse_origin(np.vstack(padded))
    centred = np.vstack(padded) - origin
    # ||x||^2, which all centres have in common, is left out.
    distances = graph.node("Gemm", _shifted(graph, rows, origin), -2.0 * centred.T, np.square(centred).sum(axis=1))
    by_learner = graph.node("Reshape", distances, np.array([0, len(centres), n_regions]))
    return graph.node("ArgMin", by_learner, axis=2, keepdims=1)


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
    """Subtract the origin, unless it is zero."""
    return graph.node("Sub", rows, origin) if origin.any() else rows
