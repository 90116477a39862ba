"""Outputs of trained binary learners as ONNX nodes.

Every learner that is known here has a margin, and a slope h such that its probability p of the second class is output
as ``2 p - 1 = tanh(h * margin)``. Margins of learners of one kind are computed together, in double precision: far
faster than skl2onnx's own converters (see `benchmarks/onnx_converters.py`), which other learners are left to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC

from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import ConstantClassifier, Response
from skecoc.learners.mixed import MarginColumn
from skecoc.learners.multiclass import MulticlassColumn
from skecoc.onnx._converters import Rows, refuse_margins, write_by_own_converter, write_steps
from skecoc.onnx._graph import Floats, Graph
from skecoc.onnx._kernels import RBFMachine, coarse_origin, dense, rbf_margins, shifted
from skecoc.onnx._multiclass import write_class_columns
from skecoc.onnx._trees import boosted_tree_margins, stump_margins


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


def _write_stumps(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of boosted stumps."""
    if any(hasattr(learner, "categories_") for learner in learners):
        raise NotImplementedError(
            "StumpAdaBoostClassifier fitted to columns of categories cannot be exported to ONNX; "
            "encode them in a pipeline"
        )
    return _write_response(graph, stump_margins(graph, rows.name, learners), np.ones(1), response)


def _write_boosted_trees(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of gradient-boosted trees."""
    return _write_response(graph, boosted_tree_margins(graph, rows.name, learners), np.array([0.5]), response)


def _write_linear(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of linear learners."""
    coefficients = np.vstack([dense(learner.coef_).reshape(1, -1) for learner in learners])
    intercepts = np.array([float(np.ravel(learner.intercept_)[0]) for learner in learners])
    margins = graph.node("Gemm", rows.name, np.ascontiguousarray(coefficients.T), intercepts)
    return _write_response(graph, margins, np.array([0.5]), response)


def _write_rbf(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of support vector machines with a Gaussian kernel."""
    machines = [
        RBFMachine(
            dense(learner.support_vectors_),
            dense(learner.dual_coef_).ravel(),
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
    takes_missing = any(learner.takes_missing() for learner in learners)
    centres = [learner.centres_ for learner in learners]
    nearest = nearest_centres(graph, rows.name, centres, n_regions, takes_missing=takes_missing)
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
    learner = pipeline.steps[-1][1]
    return write_outputs(graph, write_steps(graph, rows, pipeline), [learner], response)


@_one_by_one
def _write_by_own_converter(graph: Graph, rows: Rows, learner: Any, response: Response) -> str:
    """Write the outputs of a learner that skl2onnx, or whoever has registered a converter, knows how to convert."""
    if response == "decision_function":
        refuse_margins(learner)
    labels, probabilities = write_by_own_converter(graph, rows, learner)
    if response == "predict":
        second = graph.node("Reshape", labels, np.array([-1, 1]))
    else:
        second = graph.part(probabilities, 1, 2)
    return graph.node("Sub", graph.node("Mul", second, 2.0), 1.0)


def _write_margin_columns(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of learners with margins or labels beside others with probabilities."""
    groups: dict[Response, list[int]] = {}
    for number, column in enumerate(learners):
        groups.setdefault("predict" if response == "predict" else column.response, []).append(number)
    parts = {kind: write_outputs(graph, rows, [learners[q].learner for q in own], kind) for kind, own in groups.items()}
    if "decision_function" in parts:
        parts["decision_function"] = graph.node("Tanh", parts["decision_function"])
    return graph.joined_groups(parts, groups)


def _write_multiclass_columns(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the outputs of columns that share multiclass learners, each learner once."""
    groups: dict[int, list[int]] = {}
    for number, column in enumerate(learners):
        groups.setdefault(id(column.learner), []).append(number)
    parts = {
        key: write_class_columns(
            graph, rows, learners[members[0]].learner, [learners[q].pattern for q in members], response
        )
        for key, members in groups.items()
    }
    return graph.joined_groups(parts, groups)


@_one_by_one
def _write_multiclass_alone(graph: Graph, rows: Rows, learner: MulticlassLearner, response: Response) -> str:
    """Write the outputs of a multiclass learner that was trained on the two sides of a column."""
    return write_class_columns(graph, rows, learner, [np.array([-1, 1])], response)


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


def nearest_centres(
    graph: Graph, rows: str, centres: Sequence[Floats], n_regions: int, *, takes_missing: bool = False
) -> str:
    """Write which of its centres is nearest, the first if several are, (n_samples, n_learners, 1).

    Missing values count for nothing in distances.
    """
    # Copies of the first centre are never taken: of several nearest centres the first one is.
    padded = [np.vstack([own, np.repeat(own[:1], n_regions - len(own), axis=0)]) for own in centres]
    origin = coarse_origin(np.vstack(padded))
    centred = np.vstack(padded) - origin
    # ||x||^2, which all centres have in common, is left out.
    moved, squares = shifted(graph, rows, origin), np.square(centred)
    is_missing = graph.node("IsNaN", moved) if takes_missing else ""
    known = graph.node("Where", is_missing, 0.0, moved) if takes_missing else moved
    distances = graph.node("Gemm", known, -2.0 * centred.T, squares.sum(axis=1))
    if takes_missing:
        missing = graph.double(is_missing)
        distances = graph.node("Sub", distances, graph.node("MatMul", missing, np.ascontiguousarray(squares.T)))
    by_learner = graph.node("Reshape", distances, np.array([0, len(centres), n_regions]))
    return graph.node("ArgMin", by_learner, axis=2, keepdims=1)
