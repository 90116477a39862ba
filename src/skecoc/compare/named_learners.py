"""Binary learners by name: short names, import paths, and parameters behind either."""

import ast
import importlib
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.support import names
from skecoc.support.errors import InputError, did_you_mean


def scaled(classifier: BaseEstimator) -> Pipeline:
    """Put a classifier behind a scaler of the features."""
    return make_pipeline(StandardScaler(), classifier)


def _lightgbm() -> BaseEstimator:
    """Make a classifier of LightGBM that prints nothing."""
    try:
        module = importlib.import_module("lightgbm")
    except ImportError as error:
        raise InputError("learner: 'lightgbm' needs LightGBM: pip install lightgbm") from error
    return module.LGBMClassifier(verbose=-1, n_jobs=1)


#: Learners that have a short name; any other is named by its import path.
LEARNERS: Mapping[str, Callable[[], BaseEstimator]] = MappingProxyType(
    dict(
        zip(
            names.LEARNERS,
            (
                StumpAdaBoostClassifier,
                # The search makes a hundred machines for every one that is kept: on 500 rows it takes a tenth of the
                # time and, as measured, costs no accuracy.
                partial(TunedSVMClassifier, search_rows=500),
                lambda: scaled(LogisticRegression(max_iter=1000)),
                RandomForestClassifier,
                ExtraTreesClassifier,
                HistGradientBoostingClassifier,
                _lightgbm,
                lambda: scaled(MLPClassifier(max_iter=500)),
                lambda: scaled(KNeighborsClassifier()),
            ),
            strict=True,
        )
    )
)


def make_learner(learner: str | BaseEstimator) -> BaseEstimator:
    """Make the learner of a short name (`LEARNERS`) or of an import path, with parameters behind it if there are any.

    An estimator is returned as it is.

    >>> make_learner("random-forest n_estimators=500 max_depth=4")
    RandomForestClassifier(max_depth=4, n_estimators=500)
    >>> make_learner("logistic C=0.5")[-1]
    LogisticRegression(C=0.5, max_iter=1000)
    """
    estimator = _from_text(learner) if isinstance(learner, str) else learner
    try:
        is_usable = is_classifier(estimator)
    except AttributeError:  # one that wraps nothing yet cannot say so itself
        is_usable = False
    if not is_usable:
        raise InputError(f"learner: {learner!r} is not a scikit-learn classifier")
    return estimator


def _from_text(text: str) -> BaseEstimator:
    """Make a learner of its name and of words ``parameter=value``."""
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise InputError(f"learner: {text!r} cannot be read: {error}") from error
    estimator = _construct(name)
    parameters = dict(_parameter(text, word) for word in words)
    return _with_parameters(estimator, name, parameters) if parameters else estimator


def _parameter(text: str, word: str) -> tuple[str, Any]:
    """Read a word ``parameter=value``; the value is a Python literal, else text."""
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise InputError(f"learner: {word!r} of {text!r} is no parameter; expected NAME PARAMETER=VALUE ...")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _with_parameters(estimator: BaseEstimator, name: str, parameters: dict[str, Any]) -> BaseEstimator:
    """Set parameters, those of the last step for a pipeline; an InputError says which are not known."""
    target = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    known = sorted(target.get_params())
    for parameter in parameters:
        if parameter not in known:
            listed = f"; expected one of {', '.join(known)}"
            raise InputError(
                f"learner: {name!r} has no parameter {parameter!r}{did_you_mean(parameter, known) or listed}"
            )
    target.set_params(**parameters)
    try:
        if hasattr(target, "_parameter_constraints"):
            target._validate_params()
    except (ValueError, TypeError) as error:
        raise InputError(f"learner: {error}") from error
    return estimator


def _construct(name: str) -> BaseEstimator:
    """Find a learner's class by its name and call it without arguments."""
    if name in LEARNERS:
        return LEARNERS[name]()
    module, _, attribute = name.rpartition(".")
    expected = f"expected {', '.join(LEARNERS)} or an import path such as sklearn.svm.SVC"
    if not module or module.startswith("."):
        raise InputError(f"learner: {name!r} is not known{did_you_mean(name, LEARNERS)}; {expected}")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module of the user's may fail in any way when it is run
        raise InputError(f"learner: {name!r} cannot be imported ({error}); {expected}") from error
    if not isinstance(found, type) or not issubclass(found, BaseEstimator):
        raise InputError(f"learner: {name!r} is not a scikit-learn classifier; {expected}")
    try:
        return found()
    except TypeError as error:
        raise InputError(f"learner: {name!r} cannot be made without arguments ({error})") from error
