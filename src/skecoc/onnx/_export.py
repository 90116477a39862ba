"""Export fitted output-code classifiers by skl2onnx, and compare the exported model with the original."""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from skl2onnx import to_onnx as convert
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from skl2onnx.common.utils_classifier import get_label_classes
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.classifiers.calibration import LARGEST_LOGIT
from skecoc.learners.mixed import is_several
from skecoc.onnx._decoders import write_scores, write_winner
from skecoc.onnx._graph import Graph
from skecoc.onnx._learners import FixedOutput, Rows, write_outputs

CLASSIFIERS = (ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier)

_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
    "nocl": [True, False],
}


class ExportCheck(NamedTuple):
    """Result of `check_export`: differences between an exported model and the original."""

    n_rows: int
    n_different_labels: int
    #: Between probabilities, or between scores if the export has these; absolute.
    largest_difference: float


def to_onnx(model: Any, X: Any, *, scores: bool = False, target_opset: Any = None) -> ModelProto:
    """Export a fitted classifier, or a pipeline that ends with one, to ONNX.

    The exported model takes samples and has two outputs: ``label`` of shape (n_samples,), and ``probabilities`` of
    shape (n_samples, n_classes) in the order of `classes_`, or ``scores`` of the same shape instead.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted output-code classifier, or a pipeline that ends with one and whose other steps skl2onnx can convert.
    X : array-like of shape (n_samples, n_features) or frame
        Samples (one is enough) that define the inputs of the exported model: the number of columns, and the type
        (``float32``, or double for all other numbers). For a frame, the model has one input per column. The name of an
        input is that of the column with spaces and punctuation replaced by ``_``, and ``_`` before a leading digit;
        columns named ``label`` and ``probabilities`` get a number appended. The ``doc_string`` of the input is the
        original name of the column.
    scores : bool, default=False
        Whether the second output contains the scores of the decoding, named ``scores``, instead of probabilities. For
        two classes there are two scores; the second minus the first is `decision_function`.
    target_opset : int or dict, default=None
        Opset version of ONNX, at least 18; None uses the default of skl2onnx.

    Returns
    -------
    onnx.ModelProto
        The exported model.

    Raises
    ------
    NotImplementedError
        If a learner or a decoder cannot be exported; the message names it.
    ValueError
        If `model` is neither an output-code classifier nor a pipeline that ends with one, if `target_opset` is too low,
        or if the column names of `X` are empty, not unique as names of inputs, or ``scores`` with ``scores=True``.

    Notes
    -----
    A learner that is shared by several columns is exported once. If the votes of trees are tied, rounding decides the
    sign of a column's output; decodings that use only signs, such as ``"hamming"``, may then differ.

    Examples
    --------
    >>> import onnxruntime
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.datasets import load_uci
    >>> from skecoc.onnx import to_onnx
    >>> X, y = load_uci("iris", return_X_y=True)
    >>> exported = to_onnx(ECOCClassifier().fit(X, y), X)
    >>> session = onnxruntime.InferenceSession(exported.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": X[[0, 75, 149]]})
    >>> label
    array(['Iris-setosa', 'Iris-versicolor', 'Iris-virginica'], dtype=object)
    """
    options = {id(_classifier(model)): {"zipmap": False, "raw_scores": scores}}
    names = _column_names(X)
    if scores and "scores" in map(_identifier, names):
        raise ValueError("X must have no column called 'scores' where scores=True, which is the output's name")
    row = X[:1] if hasattr(X, "columns") else np.asarray(X)[:1]
    if isinstance(row, np.ndarray) and row.dtype != np.float32:
        row = row.astype(np.float64)
    exported: ModelProto = convert(model, row, options=options, target_opset=target_opset)
    if scores:
        output = exported.graph.output[1]
        for node in exported.graph.node:
            node.output[:] = ["scores" if name == output.name else name for name in node.output]
        output.name = "scores"
    if names:
        for each, name in zip(exported.graph.input, names, strict=True):
            each.doc_string = name
    return exported


def check_export(model: Any, exported: ModelProto, X: Any) -> ExportCheck:
    """Compare the predictions of an exported model with those of the original model.

    Parameters
    ----------
    model : classifier or Pipeline
        The model.
    exported : onnx.ModelProto
        The result of `to_onnx`, with probabilities or with scores.
    X : array-like of shape (n_samples, n_features) or frame
        Samples to predict, of the type of the inputs of the exported model.

    Returns
    -------
    ExportCheck
        Number of samples, number of labels that differ, and largest difference of probabilities or scores.

    Examples
    --------
    >>> from skecoc import WOLCClassifier
    >>> from skecoc.datasets import load_uci
    >>> from skecoc.onnx import check_export, to_onnx
    >>> X, y = load_uci("wine", return_X_y=True)
    >>> model = WOLCClassifier(random_state=0).fit(X, y)
    >>> check = check_export(model, to_onnx(model, X), X)
    >>> check.n_different_labels, check.largest_difference < 1e-6
    (0, True)
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    label, values = session.run(None, _feed(exported, X))
    classifier = _classifier(model)
    expected = exported_classes(classifier)[np.searchsorted(classifier.classes_, model.predict(X))]
    if exported.graph.output[1].name == "scores":
        values = values[:, 1] - values[:, 0] if len(classifier.classes_) == 2 else values
        wanted = model.decision_function(X)
    else:
        wanted = model.predict_proba(X)
    return ExportCheck(len(label), int((label != expected).sum()), float(np.abs(values - wanted).max()))


def _classifier(model: Any) -> Any:
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if type(classifier) not in CLASSIFIERS:
        raise ValueError(
            f"model must be an output-code classifier or a pipeline that ends with one, got {type(classifier).__name__}"
        )
    return classifier


def _column_names(X: Any) -> list[str]:
    """Check and return the names of a frame's columns; an array has none."""
    names = list(getattr(X, "columns", []))
    columns: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"X must have columns whose names are strings that are not empty, got {name!r}")
        other = columns.get(_identifier(name))
        if other is not None:
            raise ValueError(
                f"X must have columns whose names differ in letters, digits or '_', got {other!r} and {name!r}"
            )
        columns[_identifier(name)] = name
    return names


def _identifier(name: str) -> str:
    """Replace characters of a name as skl2onnx does."""
    return re.sub(r"^(?=[0-9])", "_", re.sub(r"[^\w+]", "_", name))


def _feed(exported: ModelProto, X: Any) -> dict[str, NDArray[Any]]:
    """Return the inputs of an exported model: a frame's columns, or all rows."""
    inputs = exported.graph.input
    # `to_onnx` keeps a column's own name in doc_string; skl2onnx alone leaves only the name of the input.
    columns = {each.name: each.doc_string or each.name for each in inputs}
    takes_array = list(columns.values()) == ["X"] and not inputs[0].doc_string
    if hasattr(X, "columns") and not takes_array:
        lacking = [column for column in columns.values() if column not in X.columns]
        if lacking:
            raise ValueError(f"X must have the columns of the exported model, missing: {lacking}")
        return {name: np.asarray(X[column]).reshape(-1, 1) for name, column in columns.items()}
    if hasattr(X, "columns"):
        raise ValueError("X must be an array, which the exported model takes, got a frame")
    if inputs[0].doc_string or len(inputs) > 1:
        raise ValueError(f"X must be a frame with the columns that the exported model takes: {list(columns.values())}")
    kind = np.float32 if inputs[0].type.tensor_type.elem_type == TensorProto.FLOAT else np.float64
    return {inputs[0].name: np.asarray(X, dtype=kind)}


def register_converters() -> None:
    """Register converters for the classifiers of this library with skl2onnx; called when `skecoc.onnx` is imported."""
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
    scale = graph.node("ReduceMax", graph.node("Abs", codewords), np.array([1]), keepdims=1)
    winner = write_winner(graph, scores, second_key, model._prior, scale)
    # Option "nocl" stands for indices in place of labels.
    has_labels = not scope.get_options(model, {"nocl": False}).get("nocl", False)
    classes = exported_classes(model) if has_labels else np.arange(len(model.classes_))
    graph.write("Gather", [graph.constant(classes), winner], [operator.outputs[0].full_name], axis=0)
    wants_scores = scope.get_options(model, {"raw_scores": False}).get("raw_scores", False)
    if not wants_scores:
        scores = _write_probabilities(graph, scores, winner, model)
    is_double = isinstance(operator.outputs[1].type, DoubleTensorType)
    kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    graph.write("Cast", [scores], [operator.outputs[1].full_name], to=kind)


def _write_probabilities(graph: Graph, scores: str, winner: str, model: Any) -> str:
    """Write the softmax of scores over the temperature, calibrated where the model is."""
    if model.calibration_ is None:
        return graph.node("Softmax", graph.node("Div", scores, float(model.temperature_)), axis=1)
    centred = graph.node("Sub", scores, graph.node("ReduceMean", scores, np.array([1]), keepdims=1))
    largest = LARGEST_LOGIT * model.temperature_
    clipped = graph.node("Clip", centred, -largest, largest)
    *factors, biases = model.calibration_
    # Divided here, since ONNX Runtime would fuse a division with the product, in single precision.
    per_score = np.array(factors) / model.temperature_
    operation, operand = ("MatMul", per_score) if len(factors) > 1 else ("Mul", per_score[0])
    logits = graph.node(operation, clipped, operand)
    probabilities = graph.node("Softmax", graph.node("Add", logits, biases), axis=1)
    # What `skecoc.classifiers.calibration.give_lead` does.
    n_classes = len(biases)
    is_winner = graph.node("Equal", graph.node("Unsqueeze", winner, np.array([1])), np.arange(n_classes))
    others = graph.node("Where", is_winner, 0.0, probabilities)
    own = graph.node("ReduceSum", graph.node("Sub", probabilities, others), np.array([1]), keepdims=1)
    descending, _ = graph.nodes("TopK", 2, others, np.array([n_classes]), axis=1)
    sums = graph.node("Add", own, graph.node("CumSum", descending, np.array(1)))
    means = graph.node("Div", sums, np.arange(2.0, n_classes + 2))
    lead = graph.node("Max", own, graph.node("ReduceMax", means, np.array([1]), keepdims=1))
    return graph.node("Where", is_winner, lead, graph.node("Min", probabilities, lead))


def _write_codewords(graph: Graph, rows: Rows, model: Any) -> str:
    """Write the outputs of all columns; those that prediction does not use are zero."""
    used = set(getattr(model, "used_columns_", range(len(model.estimators_))))
    learners = [learner if q in used else FixedOutput(0.0) for q, learner in enumerate(model.estimators_)]
    # The names of several learners; None stands for the only one.
    names = model.column_learners_.tolist() if is_several(model.estimator) else [None] * len(learners)

    def write(name: str | None, columns: list[int]) -> str:
        try:
            return write_outputs(graph, rows, [learners[q] for q in columns], model._response)
        except NotImplementedError as error:
            if name is None:
                raise
            raise NotImplementedError(f"{name!r} in estimator: {error}") from error

    outputs = graph.grouped(names, write)
    return outputs if model._margin_scale == 1.0 else graph.node("Div", outputs, float(model._margin_scale))


def _write_class_scores(graph: Graph, scores: str, model: Any) -> str:
    """Take the best of the code's rows for each class, where classes have several."""
    if not hasattr(model, "row_classes_"):
        return scores
    first = np.searchsorted(model.row_classes_, np.arange(len(model.classes_)))
    size = np.bincount(model.row_classes_)
    # Shorter lists of rows are filled up with their last row, which changes no maximum.
    places = first[:, np.newaxis] + np.minimum(np.arange(size.max()), size[:, np.newaxis] - 1)
    return graph.node("ReduceMax", graph.node("Gather", scores, places, axis=1), np.array([2]), keepdims=0)
