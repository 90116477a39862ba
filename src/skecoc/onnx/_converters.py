"""Parts of learners that skl2onnx, or whoever has registered a converter there, converts: steps and classifiers."""

from dataclasses import dataclass
from typing import Any, NoReturn

from skl2onnx import get_model_alias
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skecoc.learners.mixed import ZeroForMissing
from skecoc.onnx._graph import Graph

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


def write_steps(graph: Graph, rows: Rows, pipeline: Pipeline) -> Rows:
    """Write the steps of a pipeline but the last; return what they make of the rows."""
    variable = graph.variable(rows.name, rows.n_features)
    for _, step in pipeline.steps[:-1]:
        if isinstance(step, ZeroForMissing):
            name = graph.double(variable.onnx_name)
            variable = graph.variable(graph.node("Where", graph.node("IsNaN", name), 0.0, name), rows.n_features)
        elif step not in (None, "passthrough"):
            variable = graph.transformed(_alias(step), step, variable)
    return Rows(graph.double(variable.onnx_name), pipeline.steps[-1][1].n_features_in_)


def write_by_own_converter(graph: Graph, rows: Rows, classifier: Any) -> tuple[str, str]:
    """Write the labels, which are integers, and the probabilities of a classifier, as doubles."""
    alias = _alias(classifier)
    variable = graph.variable(rows.name, rows.n_features, single=isinstance(classifier, _SINGLE_PRECISION))
    labels, probabilities = graph.classified(alias, classifier, variable)
    return graph.double(labels), graph.double(probabilities)


def refuse_margins(classifier: Any) -> NoReturn:
    """Say that the margins of a classifier cannot be exported."""
    raise NotImplementedError(
        f"margins of {type(classifier).__name__} cannot be exported to ONNX; response_method='predict' can, "
        "and 'predict_proba' if the learner has it"
    )


def _alias(part: Any) -> str:
    """Find the converter of a learner or a step of a pipeline."""
    try:
        return str(get_model_alias(type(part)))
    except RuntimeError as error:
        raise NotImplementedError(
            f"{type(part).__name__} cannot be exported to ONNX: neither skecoc nor skl2onnx has a converter for it"
        ) from error
