"""Check models from files, which may hold any arrays: compiled code does not check those that it reads."""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.neighbors._base import NeighborsBase
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from skecoc.classifiers.base import BaseCodeClassifier
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import Response
from skecoc.learners.mixed import MarginColumn
from skecoc.learners.multiclass import MulticlassColumn
from skecoc.learners.stumps import widths_of
from skecoc.persistence.allowed import is_plain, registered_types
from skecoc.persistence.sklearn_parts import SKLEARN_CHECKS, fitted_arrays, refit_neighbours, require

# Arrays that compiled code of boosted stumps reads, and their types.
_STUMP_ARRAYS = {
    "features_": "int64",
    "polarities_": "int64",
    "thresholds_": "float64",
    "missing_left_": "bool",
    "alphas_": "float64",
}
# Types without attributes that are checked nevertheless.
_COMPILED = (Tree, np.random.RandomState, np.random.Generator)


def unchecked_types(model: Any) -> set[str]:
    """Name the estimators of scikit-learn in a model that run compiled code on arrays that are not checked."""
    found = set()
    for part in _parts(model):
        if isinstance(part, BaseEstimator) and _name(part).startswith("sklearn."):
            # Boosting encodes categories by a transformer of the file's choice, and does not check its output.
            is_encoded = isinstance(part, BaseHistGradientBoosting) and vars(part).get("_preprocessor") is not None
            if is_encoded or not is_plain(_name(part)):
                found.add(_name(part))
    return found


def _name(part: Any) -> str:
    """Name the type of an object as skops does."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


def check_restored(model: Any) -> None:
    """Raise a ValueError if arrays of a model do not fit together: compiled code would read or write beyond them."""
    for part in _parts(model):
        if _is_ours(part):  # a method that checks samples must not be replaced
            replaced = [name for name in getattr(part, "__dict__", ()) if callable(getattr(type(part), name, None))]
            require(not replaced, f"{type(part).__name__} has other methods than its type: {', '.join(replaced)}")
        for kind, check in _CHECKS.items():
            if isinstance(part, kind):
                check(part)
        if issparse(part):
            require(part.format in ("csr", "csc"), "a sparse matrix is not compressed")
            part.check_format(full_check=True)
        for value in vars(part).values() if hasattr(part, "__dict__") else ():
            if isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.size:
                # Reading a number that is no character would raise a SystemError.
                numbers = np.ascontiguousarray(value).view(f"{value.dtype.byteorder}u4")
                require((numbers <= sys.maxunicode).all(), "an array of text holds something else")


def rebuild(model: Any) -> None:
    """Fit the nearest neighbours in a checked model again."""
    for part in list(_parts(model)):
        if isinstance(part, NeighborsBase) and "_fit_X" in vars(part):
            refit_neighbours(part)


def _parts(model: Any) -> Iterator[Any]:
    """Walk over all objects with attributes in a model, each once, and over random numbers and misplaced trees.

    A tree in a decision tree is not misplaced, and is checked with it.
    """
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type | FunctionType | ModuleType):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting += part.ravel().tolist()
        if hasattr(part, "__dict__"):
            yield part
            # A decision tree checks samples before its tree reads them.
            may_hold_a_tree = isinstance(part, BaseDecisionTree) or not _is_ours(part)
            waiting += [value for name, value in vars(part).items() if not (name == "tree_" and may_hold_a_tree)]
        elif isinstance(part, _COMPILED):
            yield part


def _is_ours(part: Any) -> bool:
    """Tell whether an object is of scikit-learn, of this package or registered; a user has to trust others."""
    return type(part).__module__.split(".")[0] in ("sklearn", "skecoc") or _name(part) in registered_types()


def _check_classifier(classifier: BaseCodeClassifier) -> None:
    """Check that all columns have the features of the classifier: samples are only checked once."""
    response = vars(classifier).get("_response")
    require(response is None or response in get_args(Response), "columns are evaluated in an unknown way")
    for name in ("estimators_", "_all_learners"):
        _check_features_agree(classifier, vars(classifier).get(name))
    if "temperature_" not in vars(classifier):  # not fitted
        return
    temperature: Any = classifier.temperature_
    is_divisor = isinstance(temperature, float) and np.isfinite(temperature) and temperature > 0
    require(is_divisor, "temperature_ is not a positive number")
    calibration: Any = classifier.calibration_
    if calibration is not None:
        n_classes = len(getattr(classifier, "classes_", ()))
        is_floats = isinstance(calibration, np.ndarray) and calibration.dtype == np.float64
        fits = is_floats and calibration.shape in ((2, n_classes), (n_classes + 1, n_classes))
        require(fits and np.isfinite(calibration).all(), "calibration_ does not fit the classes")


def _check_features_agree(owner: BaseEstimator, learners: Any) -> None:
    """Refuse learners that were trained on other features than their owner.

    Those inside of pipelines and of multiclass learners may be: these check the samples themselves.
    """
    n_features = getattr(owner, "n_features_in_", None)
    waiting = [learners]
    while waiting:
        learner = waiting.pop()
        if isinstance(learner, list | tuple):
            waiting += learner
        elif isinstance(learner, np.ndarray) and learner.dtype == object:
            waiting += learner.ravel().tolist()
        elif isinstance(learner, MarginColumn):
            waiting.append(learner.learner)
        elif isinstance(learner, StumpAdaBoostClassifier | RegionClassifier):
            require(getattr(learner, "n_features_in_", None) == n_features, "columns have different features")


def _check_multiclass_column(column: MulticlassColumn) -> None:
    """Check that the classes of a trained learner are rows of the column."""
    pattern: Any = vars(column).get("pattern")
    is_pattern = isinstance(pattern, np.ndarray) and pattern.ndim == 1 and pattern.dtype.kind == "i"
    require(is_pattern and (np.abs(pattern) <= 1).all(), "the pattern of a column is no column of a code")
    learner = vars(column).get("learner")
    require(isinstance(learner, MulticlassLearner), "the learner of a column is not multiclass")
    classes: Any = vars(learner).get("classes_")
    is_trained = "estimator_" in vars(learner) and isinstance(classes, np.ndarray) and classes.dtype.kind in "iu"
    require(is_trained and classes.ndim == 1, "the learner of a column is not trained on class indices")
    known = (classes >= 0) & (classes < len(pattern))
    require(known.all(), "the learner of a column knows classes that the column does not have")


def _check_margin_column(column: MarginColumn) -> None:
    # The method of this name is called.
    known = vars(column).get("response") in ("decision_function", "predict")
    require(known, "a column is evaluated in an unknown way")
    require(isinstance(vars(column).get("learner"), BaseEstimator), "a column has no learner")


def _check_stumps(learner: StumpAdaBoostClassifier) -> None:
    arrays = fitted_arrays(learner, _STUMP_ARRAYS, "stumps")
    if not arrays:
        return
    count = getattr(learner, "n_estimators_", None)
    for name, array in arrays.items():
        require(array.shape == (count,), f"{name} of stumps has another length than there are stumps")
    n_features: Any = getattr(learner, "n_features_in_", None)
    require(isinstance(n_features, int) and n_features > 0, "stumps have no number of features")
    inside = (arrays["features_"] >= -1) & (arrays["features_"] < _n_stump_features(learner))
    require(inside.all(), "a stump looks at a feature that is not there")


def _n_stump_features(learner: StumpAdaBoostClassifier) -> int:
    """Return the number of features of stumps, of which a column of categories has several."""
    n_columns = learner.n_features_in_
    if "categories_" not in vars(learner):
        return int(n_columns)
    categories: Any = vars(learner)["categories_"]
    is_list = isinstance(categories, list) and len(categories) == n_columns
    require(is_list, "categories of stumps do not fit the features")
    for known in categories:
        require(known is None or (isinstance(known, np.ndarray) and known.ndim == 1), "categories are no arrays")
    return sum(widths_of(categories))


def _check_regions(learner: RegionClassifier) -> None:
    """Check the centres of regions and their learners."""
    centres: Any = vars(learner).get("centres_")
    if centres is None:
        return
    fits = isinstance(centres, np.ndarray) and centres.dtype == np.float64 and centres.ndim == 2
    require(fits and centres.shape[1] == getattr(learner, "n_features_in_", None), "centres do not fit the features")
    members: Any = vars(learner).get("estimators_")
    require(isinstance(members, list) and len(members) == len(centres), "regions have other learners than centres")
    if isinstance(learner._learner(), StumpAdaBoostClassifier):
        alike = all(member is None or isinstance(member, StumpAdaBoostClassifier) for member in members)
        require(alike, "learners of regions are no stumps")
    _check_features_agree(learner, members)
    widths = {_n_stump_features(member) for member in members if isinstance(member, StumpAdaBoostClassifier)}
    require(len(widths) <= 1, "learners of regions have different categories")


def _check_tie_shares(decoder: OptimizedWeightDecoder) -> None:
    shares: Any = vars(decoder).get("tie_shares_")
    matrix: Any = vars(decoder).get("matrix_")
    if shares is not None:
        fits = isinstance(shares, np.ndarray) and isinstance(matrix, np.ndarray) and shares.dtype == np.float64
        require(fits and matrix.ndim == 2 and shares.shape == matrix.shape[:1], "tie_shares_ do not fit the matrix")


_CHECKS: dict[type, Callable[[Any], None]] = {
    BaseCodeClassifier: _check_classifier,
    StumpAdaBoostClassifier: _check_stumps,
    RegionClassifier: _check_regions,
    MulticlassColumn: _check_multiclass_column,
    MarginColumn: _check_margin_column,
    OptimizedWeightDecoder: _check_tie_shares,
    **SKLEARN_CHECKS,
}
