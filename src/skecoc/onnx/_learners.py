"""Answers of trained binary learners as ONNX nodes.

Every learner that is known here has a margin, and a slope h such that its probability p of the second class is answered
as ``2 p - 1 = tanh(h * margin)``. Margins of learners of one kind are computed together. Other learners are left to
their own converters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from skecoc.onnx._graph import Graph
from skecoc.onnx._kernels import RBFMachine, nearest_centres, rbf_margins
from skecoc.onnx._trees import boosted_tree_margins, stump_margins

Floats = NDArray[np.float64]

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
    """Rows to answer: the name of a tensor of doubles, and its number of columns."""

    name: str
    n_features: int


@dataclass(frozen=True)
class FixedAnswer:
    """Stands for a learner that answers every row with the same number."""

    value: float


def write_answers(graph: Graph, rows: Rows, learners: Sequence[Any], response: Response) -> str:
    """Write the answers of learners, as `skecoc.learners.columns.evaluate_columns` gives them.

    Parameters
    ----------
    graph : Graph
        Takes the nodes.
    rows : Rows
        The rows to answer.
    learners : sequence of length n_learners
        Trained learners, or fixed answers.
    response : {"predict_proba", "decision_function", "predict"}
        How they answer.

    Returns
    -------
    str
        Name of the answers, of shape (n_samples, n_learners).

    Raises
    ------
    NotImplementedError
        If a learner cannot be exported; the message names it.
    """
    groups: dict[_Writer, list[int]] = {}
    for number, learner in enumerate(learners):
        groups.setdefault(_writer(learner, response), []).append(number)
    parts = [write(graph, rows, [learners[q] for q in members], response) for write, members in groups.items()]
    answers = graph.joined(parts)
    order = np.concatenate([np.array(members) for members in groups.values()])
    return answers if (np.diff(order) == 1).all() else graph.columns(answers, np.argsort(order))


_Writer = Callable[[Graph, Rows, list[Any], Response], str]


def _writer(learner: Any, response: Response) -> _Writer:
    """Choose the function that writes the answers of a learner, and of others like it."""
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
    """Tell whether a learner's answers follow from a linear margin, probabilities by the logistic function."""
    if type(learner) in (LogisticRegression, LogisticRegressionCV, LinearDiscriminantAnalysis):
        return True
    if response == "predict_proba":
        return type(learner) is SGDClassifier and learner.loss == "log_loss"
    return getattr(type(learner), "decision_function", None) is LinearClassifierMixin.decision_function


def _write_response(graph: Graph, margins: str, slopes: Floats, response: Response) -> str:
    """Turn margins into answers."""
    if response == "decision_function":
        return margins
    if response == "predict_proba":
        return str(graph.node("Tanh", graph.node("Mul", margins, slopes)))
    return str(graph.node("Where", graph.node("Greater", margins, 0.0), 1.0, -1.0))


def _dense(values: Any) -> Floats:
    """Return coefficients, which may be sparse, as an array."""
    return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)


def _write_stumps(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of boosted stumps."""
    return _write_response(graph, stump_margins(graph, rows.name, learners), np.ones(1), response)


def _write_boosted_trees(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of gradient-boosted trees."""
    return _write_response(graph, boosted_tree_margins(graph, rows.name, learners), np.array([0.5]), response)


def _write_linear(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of linear learners."""
    coefficients = np.vstack([_dense(learner.coef_).reshape(1, -1) for learner in learners])
    intercepts = np.array([float(np.ravel(learner.intercept_)[0]) for learner in learners])
    margins = graph.node("Gemm", rows.name, np.ascontiguousarray(coefficients.T), intercepts)
    return _write_response(graph, margins, np.array([0.5]), response)


def _write_rbf(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of support vector machines with a Gaussian kernel."""
    machines = [
        RBFMachine(
            _dense(learner.support_vectors_),
            _dense(learner.dual_coef_).ravel(),
            float(learner.intercept_[0]),
            float(learner.gamma_ if isinstance(learner, TunedSVMClassifier) else learner._gamma),
        )
        for learner in learners
    ]
    # scikit-learn's machines have no slope, and are never asked for probabilities here.
    slopes = np.array([getattr(learner, "slope_", np.nan) / 2.0 for learner in learners])
    return _write_response(graph, rbf_margins(graph, rows.name, machines), slopes, response)


def _write_fixed(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:  # noqa: ARG001
    """Write answers that are the same for every row."""
    values = [learner.value if isinstance(learner, FixedAnswer) else 2.0 * learner.side - 1.0 for learner in learners]
    n_rows = graph.node("Shape", rows.name, end=1)
    shape = graph.node("Concat", n_rows, np.array([len(values)]), axis=0)
    return str(graph.node("Expand", np.array([values]), shape))


def _write_regions(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of region learners: of the learner whose centre is nearest, which is one of all that answer."""
    n_regions = max(learner.n_regions_ for learner in learners)
    slots: list[Any] = []
    for learner in learners:
        slots += _region_answers(learner, response)
        slots += [FixedAnswer(0.0)] * (n_regions - learner.n_regions_)
    shape = np.array([0, len(learners), n_regions])
    answers = graph.node("Reshape", write_answers(graph, rows, slots, response), shape)
    nearest = nearest_centres(graph, rows.name, [learner.centres_ for learner in learners], n_regions)
    chosen = graph.node("GatherElements", answers, nearest, axis=2)
    return str(graph.node("Squeeze", chosen, np.array([2])))


def _region_answers(learner: RegionClassifier, response: Response) -> list[Any]:
    """List what answers each region: its learner, or the class that it remembers."""
    margins = learner.region_margins_
    remembered = {
        "decision_function": margins,
        "predict_proba": np.tanh(margins),
        "predict": np.sign(margins),
    }[response]
    return [
        FixedAnswer(float(answer)) if inner is None else inner
        for inner, answer in zip(learner.estimators_, remembered, strict=True)
    ]


def _write_pipelines(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of pipelines: the steps by their own converters, the learners as all others."""
    return graph.joined([_write_pipeline(graph, rows, learner, response) for learner in learners])


def _write_pipeline(graph: Graph, rows: Rows, pipeline: Pipeline, response: Response) -> str:
    """Write the answers of one pipeline."""
    variable = graph.variable(rows.name, rows.n_features)
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            variable = graph.transformed(_alias(step), step, variable)
    learner = pipeline.steps[-1][1]
    return write_answers(graph, Rows(graph.double(variable.onnx_name), learner.n_features_in_), [learner], response)


def _write_by_own_converter(graph: Graph, rows: Rows, learners: list[Any], response: Response) -> str:
    """Write the answers of learners that skl2onnx, or whoever has registered a converter, knows how to convert."""
    return graph.joined([_write_one_by_own_converter(graph, rows, learner, response) for learner in learners])


def _write_one_by_own_converter(graph: Graph, rows: Rows, learner: Any, response: Response) -> str:
    """Write the answers of one learner by its own converter."""
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
    return str(graph.node("Sub", graph.node("Mul", second, 2.0), 1.0))


def _alias(part: Any) -> str:
    """Find the converter of a learner or a step of a pipeline."""
    try:
        return str(get_model_alias(type(part)))
    except RuntimeError as error:
        raise NotImplementedError(
            f"{type(part).__name__} cannot be exported to ONNX: neither skecoc nor skl2onnx has a converter for it"
        ) from error


_WRITERS: dict[type, _Writer] = {
    FixedAnswer: _write_fixed,
    ConstantClassifier: _write_fixed,
    StumpAdaBoostClassifier: _write_stumps,
    TunedSVMClassifier: _write_rbf,
    RegionClassifier: _write_regions,
    HistGradientBoostingClassifier: _write_boosted_trees,
    Pipeline: _write_pipelines,
}
