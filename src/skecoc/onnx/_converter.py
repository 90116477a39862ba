"""The converter of output-code classifiers, as skl2onnx wants it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from skl2onnx.common.utils_classifier import get_label_classes
from sklearn.utils.validation import check_is_fitted

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.onnx._decoders import write_scores
from skecoc.onnx._graph import Graph, Value
from skecoc.onnx._learners import FixedAnswer, Rows, write_answers
from skecoc.onnx._ties import write_winner

CLASSIFIERS = (ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier)

_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
    "nocl": [True, False],
}


def register_converters() -> None:
    """Tell skl2onnx how to convert the classifiers, alone or as a part of anything else that it converts."""
    for kind in CLASSIFIERS:
        update_registered_converter(
            kind, f"Skecoc{kind.__name__}", _infer_outputs, _convert_classifier, options=_OPTIONS
        )


def exported_classes(model: Any) -> NDArray[Any]:
    """Return class labels as ONNX has them: strings or int64."""
    classes = np.asarray(model.classes_)
    return classes.astype(np.str_ if classes.dtype.kind in "OU" else np.int64)


def _infer_outputs(operator: Any) -> None:
    """Set the types of the two outputs: labels, and probabilities or scores."""
    check_is_fitted(operator.raw_operator)
    classes = get_label_classes(operator.scope_inst, operator.raw_operator)
    n_rows = operator.inputs[0].get_first_dimension()
    label_type = StringTensorType if np.asarray(classes).dtype.kind in "OU" else Int64TensorType
    operator.outputs[0].set_type(label_type([n_rows]))
    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    operator.outputs[1].set_type((DoubleTensorType if is_double else FloatTensorType)([n_rows, len(classes)]))


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Write a fitted classifier: rows to codewords to scores to labels and probabilities."""
    model = operator.raw_operator
    graph = Graph(scope, container)
    rows = Rows(graph.joined([graph.double(each.full_name) for each in operator.inputs]), model.n_features_in_)
    codewords = _write_codewords(graph, rows, model)
    scores = _write_class_scores(graph, write_scores(graph, codewords, model.decoder_), model)
    linear = graph.node("MatMul", codewords, model.code_matrix_.T.astype(np.float64))
    second_key = _write_class_scores(graph, linear, model)
    winner = write_winner(graph, scores, second_key, model._prior, _scale(graph, codewords, model))
    # Option "nocl" asks for indices in place of labels.
    has_labels = not scope.get_options(model, {"nocl": False}).get("nocl", False)
    classes = exported_classes(model) if has_labels else np.arange(len(model.classes_))
    graph.write("Gather", [graph.constant(classes), winner], [operator.outputs[0].full_name], axis=0)
    wants_scores = scope.get_options(model, {"raw_scores": False}).get("raw_scores", False)
    result = scores if wants_scores else _write_probabilities(graph, scores, model.temperature_)
    is_double = isinstance(operator.outputs[1].type, DoubleTensorType)
    kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    graph.write("Cast", [result], [operator.outputs[1].full_name], to=kind)


def _write_codewords(graph: Graph, rows: Rows, model: Any) -> str:
    """Write the answers of all columns; those that prediction does not ask are zero."""
    asked = set(getattr(model, "used_columns_", range(len(model.estimators_))))
    learners = [learner if q in asked else FixedAnswer(0.0) for q, learner in enumerate(model.estimators_)]
    answers = write_answers(graph, rows, learners, model._response)
    return answers if model._margin_scale == 1.0 else str(graph.node("Div", answers, float(model._margin_scale)))


def _write_class_scores(graph: Graph, scores: str, model: Any) -> str:
    """Take the best of the code's rows for each class, where classes have several."""
    if not isinstance(model, SubclassECOCClassifier):
        return scores
    first = np.searchsorted(model.row_classes_, np.arange(len(model.classes_)))
    size = np.bincount(model.row_classes_)
    # Shorter lists of rows are filled up with their last one, which changes no maximum.
    places = first[:, np.newaxis] + np.minimum(np.arange(size.max()), size[:, np.newaxis] - 1)
    return str(graph.node("ReduceMax", graph.node("Gather", scores, places, axis=1), np.array([2]), keepdims=0))


def _scale(graph: Graph, codewords: str, model: Any) -> Value:
    """Return what rounding of scores is relative to, as the classifier itself has it."""
    if isinstance(model, ECOCClassifier):
        return str(graph.node("ReduceMax", graph.node("Abs", codewords), np.array([1]), keepdims=1))
    return 1.0


def _write_probabilities(graph: Graph, scores: str, temperature: float) -> str:
    """Write the softmax of the scores over the temperature."""
    return str(graph.node("Softmax", graph.node("Div", scores, float(temperature)), axis=1))
