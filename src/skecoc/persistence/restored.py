"""Check models that come from files: compiled code trusts the arrays it is given, a file may hold any."""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.neighbors import NearestCentroid
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm._base import BaseLibSVM, BaseSVC
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from skecoc.classifiers.base import BaseCodeClassifier
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier
from skecoc.learners.columns import Response
from skecoc.learners.features import widths_of
from skecoc.learners.mixed import MarginColumn
from skecoc.learners.multiclass import MulticlassColumn
from skecoc.persistence.allowed import is_plain, registered_types
from skecoc.persistence.encoders import (
    check_generator,
    check_hasher,
    check_one_hot,
    check_random_state,
    check_vocabulary,
)
from skecoc.persistence.neighbours import check_neighbours, rebuild_neighbours
from skecoc.persistence.trees import check_bins, check_boosting, check_decision_tree, check_gradient_boosting
from skecoc.persistence.trees import require as _require

# What boosted stumps are made of, with the types as their compiled code reads them.
_STUMP_ARRAYS = {
    "features_": "int64",
    "polarities_": "int64",
    "thresholds_": "float64",
    "missing_left_": "bool",
    "alphas_": "float64",
}
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
# Kernels that libsvm computes from the support vectors; others read whatever the indices of vectors point to.
_KERNELS = ("linear", "poly", "rbf", "sigmoid")
_MOST_JOBS = 1024
# What has no attributes, and is checked all the same.
_COMPILED = (Tree, np.random.RandomState, np.random.Generator)


def unchecked_types(model: Any) -> set[str]:
    """Name the estimators of scikit-learn in a model that run compiled code on arrays which nobody checks."""
    estimators = [part for part in _parts(model) if isinstance(part, BaseEstimator)]
    return {_name(part) for part in estimators if _name(part).startswith("sklearn.") and not _is_checked(part)}


def _name(part: Any) -> str:
    """Name the type of an object as skops does."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


def _is_checked(estimator: BaseEstimator) -> bool:
    """Tell whether an estimator of scikit-learn runs no compiled code on what a file holds, or is checked below."""
    if isinstance(estimator, BaseHistGradientBoosting):
        # Categories are encoded by a transformer of the file's choice, after which nobody counts the features.
        return vars(estimator).get("_preprocessor") is None
    return is_plain(_name(estimator))


def check_restored(model: Any) -> None:
    """Raise a ValueError if arrays of a model do not fit together: compiled code would read or write beyond them."""
    for part in _parts(model):
        _check_methods(part)
        for kind, check in _CHECKS.items():
            if isinstance(part, kind):
                check(part)
        if issparse(part):
            _check_sparse(part)
        for value in vars(part).values() if hasattr(part, "__dict__") else ():
            _check_text(value)


def rebuild(model: Any) -> None:
    """Make anew what is not taken from a file, of a model that `check_restored` has checked."""
    rebuild_neighbours(list(_parts(model)))


def _check_text(value: Any) -> None:
    """Refuse an array of text with numbers that stand for no character: to read one would end in a SystemError."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.size:
        numbers = np.ascontiguousarray(value).view(f"{value.dtype.byteorder}u4")
        _require(bool((numbers <= sys.maxunicode).all()), "an array of text holds something else")


def _parts(model: Any) -> Iterator[Any]:
    """Walk over all objects with attributes that a model is made of, each once, however deep.

    Trees are among them where they do not belong: those of decision trees are checked with these. Random numbers are
    among them, too.
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
            waiting += [value for name, value in vars(part).items() if not (name == "tree_" and _may_hold_a_tree(part))]
        elif isinstance(part, _COMPILED):
            yield part


def _is_ours(part: Any) -> bool:
    """Tell whether an object is of scikit-learn, of this package or registered; a user has to trust others."""
    return type(part).__module__.split(".")[0] in ("sklearn", "skecoc") or _name(part) in registered_types()


def _may_hold_a_tree(part: Any) -> bool:
    """Tell whether an object looks at samples before its tree does."""
    return isinstance(part, BaseDecisionTree) or not _is_ours(part)


def _refuse_tree(_: Tree) -> None:
    """Refuse a tree in the place of an estimator: it has a `predict` that does not count the features of samples."""
    raise ValueError("a tree belongs to no decision tree")


def _check_methods(part: Any) -> None:
    """Refuse objects with attributes in place of methods: those that check samples would not be called."""
    if _is_ours(part):
        replaced = [name for name in getattr(part, "__dict__", ()) if callable(getattr(type(part), name, None))]
        _require(not replaced, f"{type(part).__name__} has other methods than its type: {', '.join(replaced)}")


def _check_jobs(estimator: BaseEstimator) -> None:
    """Check how many threads an estimator of scikit-learn starts to predict."""
    jobs: Any = vars(estimator).get("n_jobs")
    known = jobs is None or (isinstance(jobs, int | np.integer) and -_MOST_JOBS <= jobs <= _MOST_JOBS)
    _require(known, "n_jobs is no number, or out of range")


def _check_centroids(estimator: NearestCentroid) -> None:
    """Check by which distance the nearest centroid is searched; the centroids are checked when it is."""
    metric = vars(estimator).get("metric")
    _require(isinstance(metric, str) and metric in ("euclidean", "manhattan"), "centroids have an unknown distance")


def _check_sparse(matrix: Any) -> None:
    """Check the indices of a sparse matrix."""
    _require(matrix.format in ("csr", "csc"), "a sparse matrix is not compressed")
    matrix.check_format(full_check=True)


def _check_classifier(classifier: BaseCodeClassifier) -> None:
    """Check how columns are evaluated, and that all have the features of the classifier: rows are checked once."""
    response = vars(classifier).get("_response")
    _require(response is None or response in get_args(Response), "columns are evaluated in an unknown way")
    for name in ("estimators_", "_all_learners"):
        _check_features_agree(classifier, vars(classifier).get(name))
    _check_calibration(classifier)


def _check_calibration(classifier: BaseCodeClassifier) -> None:
    """Check what makes probabilities of scores; a classifier that was not fitted has nothing."""
    if "temperature_" not in vars(classifier):
        return
    temperature: Any = classifier.temperature_
    is_divisor = isinstance(temperature, float) and np.isfinite(temperature) and temperature > 0
    _require(is_divisor, "temperature_ is not a positive number")
    calibration: Any = classifier.calibration_
    if calibration is not None:
        n_classes = len(getattr(classifier, "classes_", ()))
        is_floats = isinstance(calibration, np.ndarray) and calibration.dtype == np.float64
        fits = is_floats and calibration.shape in ((2, n_classes), (n_classes + 1, n_classes))
        _require(fits and bool(np.isfinite(calibration).all()), "calibration_ does not fit the classes")


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
            _require(getattr(learner, "n_features_in_", None) == n_features, "columns have different features")


def _check_multiclass_column(column: MulticlassColumn) -> None:
    """Check the view of a trained learner: its classes are rows of the column."""
    pattern: Any = vars(column).get("pattern")
    is_pattern = isinstance(pattern, np.ndarray) and pattern.ndim == 1 and pattern.dtype.kind == "i"
    _require(is_pattern and bool((np.abs(pattern) <= 1).all()), "the pattern of a column is no column of a code")
    learner = vars(column).get("learner")
    _require(isinstance(learner, MulticlassLearner), "the learner of a column is not multiclass")
    classes: Any = vars(learner).get("classes_")
    is_trained = "estimator_" in vars(learner) and isinstance(classes, np.ndarray) and classes.dtype.kind in "iu"
    _require(is_trained and classes.ndim == 1, "the learner of a column is not trained on class indices")
    known = (classes >= 0) & (classes < len(pattern))
    _require(bool(known.all()), "the learner of a column knows classes that the column does not have")


def _check_margin_column(column: MarginColumn) -> None:
    """Check how a column is evaluated: the name of any other method would be called as well."""
    known = vars(column).get("response") in ("decision_function", "predict")
    _require(known, "a column is evaluated in an unknown way")
    _require(isinstance(vars(column).get("learner"), BaseEstimator), "a column has no learner")


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
    inside = (arrays["features_"] >= -1) & (arrays["features_"] < _n_stump_features(learner))
    _require(bool(np.all(inside)), "a stump looks at a feature that is not there")


def _n_stump_features(learner: StumpAdaBoostClassifier) -> int:
    """Return how many features stumps may look at: more than there are columns, if these hold categories."""
    n_columns = learner.n_features_in_
    if "categories_" not in vars(learner):
        return int(n_columns)
    categories: Any = vars(learner)["categories_"]
    is_list = isinstance(categories, list) and len(categories) == n_columns
    _require(is_list, "categories of stumps do not fit the features")
    for known in categories:
        _require(known is None or (isinstance(known, np.ndarray) and known.ndim == 1), "categories are no arrays")
    return sum(widths_of(categories))


def _check_regions(learner: RegionClassifier) -> None:
    """Check the centres of regions, and that there is a place for a learner in each of them."""
    centres: Any = vars(learner).get("centres_")
    if centres is None:
        return
    fits = isinstance(centres, np.ndarray) and centres.dtype == np.float64 and centres.ndim == 2
    _require(fits and centres.shape[1] == getattr(learner, "n_features_in_", None), "centres do not fit the features")
    members: Any = vars(learner).get("estimators_")
    _require(isinstance(members, list) and len(members) == len(centres), "regions have other learners than centres")
    if isinstance(learner._learner(), StumpAdaBoostClassifier):
        alike = all(member is None or isinstance(member, StumpAdaBoostClassifier) for member in members)
        _require(alike, "learners of regions are no stumps")
    _check_features_agree(learner, members)
    widths = {_n_stump_features(member) for member in members if isinstance(member, StumpAdaBoostClassifier)}
    _require(len(widths) <= 1, "learners of regions have different categories")


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
    _require(len(arrays["_probA"]) == len(arrays["_probB"]), "an SVM has one half of its probabilities")
    parts = vars(machine)
    is_plain = isinstance(machine.kernel, str) and machine.kernel in _KERNELS and parts.get("_sparse") is False
    _require(is_plain and "_impl" not in parts, "an SVM reads other things than its support vectors")


_CHECKS: dict[type, Callable[[Any], None]] = {
    BaseCodeClassifier: _check_classifier,
    StumpAdaBoostClassifier: _check_stumps,
    RegionClassifier: _check_regions,
    MulticlassColumn: _check_multiclass_column,
    MarginColumn: _check_margin_column,
    OptimizedWeightDecoder: _check_tie_shares,
    BaseLibSVM: _check_libsvm,
    BaseDecisionTree: check_decision_tree,
    BaseHistGradientBoosting: check_boosting,
    GradientBoostingClassifier: check_gradient_boosting,
    _BinMapper: check_bins,
    Tree: _refuse_tree,
    BaseEstimator: _check_jobs,
    NeighborsBase: check_neighbours,
    NearestCentroid: _check_centroids,
    OneHotEncoder: check_one_hot,
    CountVectorizer: check_vocabulary,
    DictVectorizer: check_vocabulary,
    FeatureHasher: check_hasher,
    HashingVectorizer: check_hasher,
    np.random.RandomState: check_random_state,
    np.random.Generator: check_generator,
}
