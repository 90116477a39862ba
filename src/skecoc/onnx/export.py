"""Export a fitted model, and compare the export with it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from skl2onnx import to_onnx as convert
from sklearn.pipeline import Pipeline

from skecoc.onnx._converter import CLASSIFIERS, exported_classes


class ExportCheck(NamedTuple):
    """How far an exported model is from the model itself, on some rows.

    Attributes
    ----------
    n_rows : int
        Number of rows compared.
    n_different_labels : int
        Rows that the two label differently.
    largest_difference : float
        Largest absolute difference between probabilities.
    """

    n_rows: int
    n_different_labels: int
    largest_difference: float


def to_onnx(model: Any, X: Any, *, scores: bool = False, target_opset: Any = None) -> ModelProto:
    """Export a fitted classifier, or a pipeline that ends with one, to ONNX.

    The exported model takes rows and has two outputs: ``label`` of shape (n_samples,), and ``probabilities`` of shape
    (n_samples, n_classes) in the order of `classes_`.

    Parameters
    ----------
    model : classifier or Pipeline
        An output-code classifier, or a pipeline of steps that skl2onnx can convert and such a classifier.
    X : array-like of shape (n_samples, n_features) or frame
        Rows whose number of columns and type the exported model shall take, one row is enough. Rows of ``float32``
        give a model that takes these, all other numbers one that takes doubles. A frame gives a model that takes every
        column by its name.
    scores : bool, default=False
        Whether the second output shall be the decoding's scores in place of probabilities, also with two classes,
        where `decision_function` is the second class's minus the first's.
    target_opset : int or dict, default=None
        Version of ONNX, at least 18; None lets skl2onnx choose.

    Returns
    -------
    onnx.ModelProto
        The exported model.

    Raises
    ------
    NotImplementedError
        If a learner or a decoder cannot be exported; the message names it.
    ValueError
        If `model` is no output-code classifier and no pipeline that ends with one, or `target_opset` is too low.

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
    >>> probabilities.shape
    (3, 3)
    """
    options = {id(_classifier(model)): {"zipmap": False, "raw_scores": scores}}
    exported: ModelProto = convert(model, _sample(X), options=options, target_opset=target_opset)
    return exported


def check_export(model: Any, exported: ModelProto, X: Any) -> ExportCheck:
    """Compare an exported model with the model itself.

    Learners that this library does not know are exported by skl2onnx's own converters: with those, look before you
    leap.

    Parameters
    ----------
    model : classifier or Pipeline
        The model.
    exported : onnx.ModelProto
        What `to_onnx` made of it, with probabilities.
    X : array-like of shape (n_samples, n_features) or frame
        Rows to predict, of the type that the exported model takes.

    Returns
    -------
    ExportCheck
        Number of rows, number of different labels, largest difference of probabilities.

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
    label, probabilities = _run(exported, X)
    classifier = _classifier(model)
    expected = exported_classes(classifier)[np.searchsorted(classifier.classes_, model.predict(X))]
    difference = np.abs(probabilities - model.predict_proba(X)).max()
    return ExportCheck(len(label), int((label != expected).sum()), float(difference))


def _classifier(model: Any) -> Any:
    """Return the output-code classifier of a model."""
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if type(classifier) not in CLASSIFIERS:
        raise ValueError(
            f"model must be an output-code classifier or a pipeline that ends with one, got {type(classifier).__name__}"
        )
    return classifier


def _sample(X: Any) -> Any:
    """Return one row, as single or double precision unless it is a frame's."""
    if hasattr(X, "columns"):
        return X[:1]
    row = np.asarray(X)[:1]
    return row if row.dtype == np.float32 else row.astype(np.float64)


def _run(exported: ModelProto, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predict labels and probabilities by onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if hasattr(X, "columns"):
        feed = {each.name: np.asarray(X[each.name]).reshape(-1, 1) for each in inputs}
    else:
        kind = np.float32 if inputs[0].type == "tensor(float)" else np.float64
        feed = {inputs[0].name: np.asarray(X, dtype=kind)}
    label, probabilities = session.run(None, feed)
    return label, probabilities
