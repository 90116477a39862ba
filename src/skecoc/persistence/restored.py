"""Check models that come from files: compiled code trusts the arrays it is given, a file may hold any."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm._base import BaseLibSVM, BaseSVC

from skecoc.classifiers import BaseCodeClassifier
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier

# What boosted stumps are made of, with the types as their compiled code reads them.
_STUMP_ARRAYS = {"features_": "int64", "polarities_": "int64", "thresholds_": "float64", "alphas_": "float64"}
# What libsvm is given, likewise.
_LIBSVM_ARRAYS = {
    "support_vectors_": "float64",
    "support_": "int32",
    "_n_support": "int32",
    "_dual_coef_": "float64",
    "_intercept_": "float64",
    "_probA": "float64",
    "_probB": "float64",
}

# Parts of scikit-learn whose estimators predict by Python and numpy alone, or are checked below. The others hand what
# a file holds to compiled code that trusts it, such as the indices of neighbours.
_PLAIN_MODULES = {
    "calibration",
    "compose",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "feature_extraction",
    "feature_selection",
    "frozen",
    "impute",
    "kernel_approximation",
    "linear_model",
    "model_selection",
    "multiclass",
    "multioutput",
    "naive_bayes",
    "neural_network",
    "pipeline",
    "preprocessing",
    "svm",
    "tree",
}
_PLAIN_CLASSES = ("sklearn.decomposition._pca.PCA", "sklearn.decomposition._truncated_svd.TruncatedSVD")


def unchecked_types(model: Any) -> set[str]:
    """Name the estimators of scikit-learn in a model that run compiled code on arrays which nobody checks."""
    types = {type(part) for part in _parts(model)}
    of_sklearn = [kind for kind in types if kind.__module__.startswith("sklearn.")]
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in of_sklearn}
    return {name for name in names if name.split(".")[1] not in _PLAIN_MODULES and name not in _PLAIN_CLASSES}


def check_restored(model: Any) -> None:
    """Raise a ValueError if arrays of a model do not fit together: compiled code would read or write beyond them."""
    for part in _parts(model):
        if isinstance(part, BaseCodeClassifier):
            _check_features_agree(part)
        elif isinstance(part, StumpAdaBoostClassifier):
            _check_stumps(part)
        elif isinstance(part, RegionClassifier):
            _check_regions(part)
        elif isinstance(part, OptimizedWeightDecoder):
            _check_tie_shares(part)
        elif isinstance(part, BaseLibSVM):
            _check_libsvm(part)


def _parts(model: Any) -> Iterator[Any]:
    """Walk over an object and all that it holds, each once, however deep."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, BaseEstimator):
            yield part
            waiting += vars(part).values()
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting += part.ravel().tolist()


def _check_features_agree(classifier: BaseCodeClassifier) -> None:
    """Refuse columns that were trained on other features than the classifier: rows are checked once for all."""
    n_features = getattr(classifier, "n_features_in_", None)
    learners = _parts([value for name, value in vars(classifier).items() if name in ("estimators_", "_all_learners")])
    for learner in learners:
        fitted = [name for name in vars(learner) if name.endswith("_") and not name.startswith("_")]
        if isinstance(learner, StumpAdaBoostClassifier | RegionClassifier) and fitted:
            _require(getattr(learner, "n_features_in_", None) == n_features, "columns have different features")


def _fitted_arrays(part: BaseEstimator, kinds: dict[str, str], owner: str) -> dict[str, Any]:
    """Return arrays of an estimator, checked for their types; none if it was not fitted."""
    arrays: dict[str, Any] = {name: vars(part).get(name) for name in kinds}
    if all(array is None for array in arrays.values()):
        return {}
    for name, kind in kinds.items():
        is_of_kind = isinstance(arrays[name], np.ndarray) and arrays[name].dtype == kind
        _require(is_of_kind, f"{name} of {owner} is not an array of {kind}")
    return arrays


def _check_stumps(learner: StumpAdaBoostClassifier) -> None:
    """Check the arrays of boosted stumps; a learner that was not fitted has none."""
    arrays = _fitted_arrays(learner, _STUMP_ARRAYS, "stumps")
    if not arrays:
        return
    count = getattr(learner, "n_estimators_", None)
    for name, array in arrays.items():
        _require(array.shape == (count,), f"{name} of stumps has another length than there are stumps")
    n_features: Any = getattr(learner, "n_features_in_", None)
    _require(isinstance(n_features, int) and n_features > 0, "stumps have no number of features")
    inside = (arrays["features_"] >= -1) & (arrays["features_"] < n_features)
    _require(bool(np.all(inside)), "a stump looks at a feature that is not there")


def _check_regions(learner: RegionClassifier) -> None:
    """Check the centres of regions."""
    centres = vars(learner).get("centres_")
    if centres is not None:
        fits = isinstance(centres, np.ndarray) and centres.dtype == np.float64 and centres.ndim == 2
        _require(
            fits and centres.shape[1] == getattr(learner, "n_features_in_", None), "centres do not fit the features"
        )


def _check_tie_shares(decoder: OptimizedWeightDecoder) -> None:
    """Check what orders ties of optimised weights."""
    shares: Any = vars(decoder).get("tie_shares_")
    matrix: Any = vars(decoder).get("matrix_")
    if shares is not None:
        fits = isinstance(shares, np.ndarray) and isinstance(matrix, np.ndarray) and shares.dtype == np.float64
        _require(fits and matrix.ndim == 2 and shares.shape == matrix.shape[:1], "tie_shares_ do not fit the matrix")


def _check_libsvm(machine: BaseLibSVM) -> None:
    """Check scikit-learn's machines: libsvm reads so many coefficients as there are vectors, whatever it is given."""
    arrays = _fitted_arrays(machine, _LIBSVM_ARRAYS, "an SVM")
    if not arrays:
        return
    vectors, counts = arrays["support_vectors_"], arrays["_n_support"]
    n_features = getattr(machine, "n_features_in_", None)
    _require(vectors.ndim == 2 and vectors.shape[1] == n_features, "support vectors of an SVM do not fit the features")
    _require(counts.ndim == 1 and bool((counts >= 0).all()), "an SVM has no numbers of support vectors")
    # Only classifiers are read by the numbers of their classes' vectors; of others libsvm leaves two equal numbers.
    counted = not isinstance(machine, BaseSVC) or int(counts.sum()) == len(vectors)
    _require(counted, "an SVM has other support vectors than it counts")
    n_sides = max(len(counts), 2)
    n_pairs = n_sides * (n_sides - 1) // 2
    shapes = {"support_": (len(vectors),), "_dual_coef_": (n_sides - 1, len(vectors)), "_intercept_": (n_pairs,)}
    for name, shape in shapes.items():
        _require(arrays[name].shape == shape, f"{name} of an SVM does not fit its support vectors and classes")
    for name in ("_probA", "_probB"):
        _require(arrays[name].shape in ((0,), (n_pairs,)), f"{name} of an SVM does not fit its classes")


def _require(condition: Any, problem: str) -> None:
    """Raise an error unless a condition holds."""
    if not condition:
        raise ValueError(problem)
