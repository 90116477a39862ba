"""Methods by name, ``coding/decoding`` and scikit-learn's for reference; and binary learners by name."""

import ast
import importlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skecoc.classifiers import ECOCClassifier
from skecoc.classifiers.layered import LCECOCClassifier
from skecoc.classifiers.one import ECOCOneClassifier
from skecoc.classifiers.subclass import SubclassECOCClassifier
from skecoc.classifiers.wolc import WOLCClassifier
from skecoc.coding import CodeMatrix, dense_random
from skecoc.coding.choice import coding_name
from skecoc.decoding import DECODERS
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import seeded_clone, takes_weights
from skecoc.support import names
from skecoc.support.errors import InputError, did_you_mean


def scaled(classifier: BaseEstimator) -> Pipeline:
    """Put a classifier behind a scaler of the features."""
    return make_pipeline(StandardScaler(), classifier)


def _lightgbm() -> BaseEstimator:
    try:
        module = importlib.import_module("lightgbm")
    except ImportError as error:
        raise InputError("learner: 'lightgbm' needs LightGBM: pip install lightgbm") from error
    return module.LGBMClassifier(verbose=-1, n_jobs=1)  # prints nothing


#: Learners that have a short name; any other is named by its import path.
LEARNERS: Mapping[str, Callable[[], BaseEstimator]] = MappingProxyType(
    {
        "stumps": StumpAdaBoostClassifier,
        # The search makes a hundred machines for every one that is kept: on 500 rows it takes a tenth of the time and,
        # as measured, costs no accuracy.
        "svm": partial(TunedSVMClassifier, search_rows=500),
        "logistic": lambda: scaled(LogisticRegression(max_iter=1000)),
        "random-forest": RandomForestClassifier,
        "extra-trees": ExtraTreesClassifier,
        "hist-gradient-boosting": HistGradientBoostingClassifier,
        "lightgbm": _lightgbm,
        "mlp": lambda: scaled(MLPClassifier(max_iter=500)),
        "knn": lambda: scaled(KNeighborsClassifier()),
    }
)


#: scikit-learn's multiclass strategies, which take a binary learner; the code size of 1.5 is its own default.
STRATEGIES: Mapping[str, type[BaseEstimator]] = MappingProxyType(
    {
        "sklearn/one-vs-one": OneVsOneClassifier,
        "sklearn/one-vs-rest": OneVsRestClassifier,
        "sklearn/output-code": OutputCodeClassifier,
    }
)

#: The baseline: it predicts the most frequent class, and the shares of the classes as probabilities.
MAJORITY = "sklearn/majority"

#: scikit-learn's multiclass classifiers, which take no learner.
CLASSIFIERS: Mapping[str, Callable[[], BaseEstimator]] = MappingProxyType(
    {
        "sklearn/random-forest": RandomForestClassifier,
        "sklearn/extra-trees": ExtraTreesClassifier,
        "sklearn/boosting": HistGradientBoostingClassifier,
        "sklearn/svm": lambda: scaled(SVC(C=100.0)),
        "sklearn/logistic": lambda: scaled(LogisticRegression(max_iter=1000)),
        MAJORITY: lambda: DummyClassifier(strategy="prior"),
    }
)

#: All that is scikit-learn's own.
PEERS: tuple[str, ...] = (*STRATEGIES, *CLASSIFIERS)

#: The paper's random code: dense, ten columns whatever the number of classes.
RANDOM_10 = "random-10"

#: Code of several learners of its own.
MIXED = "mixed"

#: Codes that grow: added columns depend on the decoding. Experiments may add their own, see `add_codings`.
GROWN_CODINGS: dict[str, Callable[..., BaseEstimator]] = {
    "ecoc-one": ECOCOneClassifier,
    "lc-ecoc": LCECOCClassifier,
    "subclass-ecoc": SubclassECOCClassifier,
    "wolc": WOLCClassifier,
    "wolc-one-vs-rest": partial(WOLCClassifier, init="one-vs-rest"),
    "wolc-paper": WOLCClassifier.paper,
    MIXED: partial(WOLCClassifier, MIXED),
}


def _ten_random_columns(X: Any, y: NDArray[np.intp], seed: int) -> CodeMatrix:  # noqa: ARG001
    """Make the paper's random code for the classes that have samples."""
    return dense_random(int(y.max()) + 1, n_columns=10, random_state=seed)


#: Codes that a function makes of the samples, their class indices and a seed.
MADE_CODINGS: dict[str, Callable[..., CodeMatrix]] = {RANDOM_10: _ten_random_columns}

#: Outputs of binary learners, and the methods that give them; "auto" leaves the choice to the classifier.
RESPONSES: Mapping[str, str] = MappingProxyType(
    {"auto": "auto", "labels": "predict", "probabilities": "predict_proba", "margins": "decision_function"}
)

# Names without ``sklearn/``.
_SHORT_NAMES = {name.partition("/")[2]: name for name in CLASSIFIERS}

#: The decoding of a coding that is named without one.
_DEFAULT_DECODING = "loss-weighted"


# With more classes, one-vs-one has too many columns and boosting too many trees to be tried by default; with more
# features, boosting takes most of the time.
_MOST_CLASSES, _MOST_FEATURES = 50, 1_000


def default_methods(n_classes: int, n_features: int, *, has_learner: bool) -> list[str]:
    """List the methods that are tried on a table unless others are named, the cheap ones first.

    >>> default_methods(3, 10, has_learner=True)
    ['one-vs-one/loss-weighted', 'one-vs-rest/loss-weighted', 'wolc/optimized-weight']
    """
    pairs = ["one-vs-one/loss-weighted"] if n_classes <= _MOST_CLASSES else []
    if has_learner:
        return [*pairs, "one-vs-rest/loss-weighted", "wolc/optimized-weight"]
    boosting = ["sklearn/boosting"] if n_classes <= _MOST_CLASSES and n_features <= _MOST_FEATURES else []
    own = [*pairs, "wolc/optimized-weight"]
    return ["sklearn/logistic", "sklearn/random-forest", *own, *boosting, "mixed/logistic-weight"]


def check_methods(methods: Sequence[str]) -> list[str]:
    """Return the full names of methods, each once; an `InputError` lists the valid names for one that is not known.

    Names are ``coding/decoding`` or one of `PEERS`. A coding alone gets the decoding that suits it: ``mixed``, ``wolc``
    and its variants have their own, the others loss-weighted decoding. Classifiers need no ``sklearn/``.

    >>> check_methods(["one-vs-one/hamming", "wolc", "one-vs-one", "random-forest", "one-vs-one/hamming"])
    ['one-vs-one/hamming', 'wolc/optimized-weight', 'one-vs-one/loss-weighted', 'sklearn/random-forest']
    """
    if not methods:
        raise InputError("methods: expected at least one")
    full = []
    for method in methods:
        coding, slash, decoding = method.partition("/")
        with suppress(ValueError):
            coding = coding_name(coding)
        name = coding + slash + decoding
        if name in _known_codings():
            name = f"{name}/{_own_decoding(name) or _DEFAULT_DECODING}"
        full.append(_SHORT_NAMES.get(name, name))
        _check_method(full[-1])
    return list(dict.fromkeys(full))


def add_codings(
    made: Mapping[str, Callable[..., CodeMatrix]], grown: Mapping[str, Callable[..., BaseEstimator]]
) -> None:
    """Add codings of an experiment's own to those that methods are made of.

    A function makes the code matrix of the samples, their class indices and a seed, or the classifier of a grown code.
    Those whose names begin with ``wolc`` have optimised weights as their decoding.
    """
    MADE_CODINGS.update(made)
    GROWN_CODINGS.update(grown)


def is_wolc(coding: str) -> bool:
    """Tell whether a coding is WOLC-ECOC of one learner, whose weights are its decoding."""
    return coding in GROWN_CODINGS and coding.startswith("wolc")


def _own_decoding(coding: str) -> str:
    """Return the decoding of a coding that has one of its own; else nothing."""
    if coding == MIXED:
        return "logistic-weight"
    return "optimized-weight" if is_wolc(coding) else ""


def _known_codings() -> list[str]:
    return [*dict.fromkeys((*names.METHOD_CODINGS, *MADE_CODINGS, *GROWN_CODINGS))]


def coding_of(method: str) -> str:
    """Return the part of a method's name that seeds its runs: decodings of one coding share columns."""
    return method if method in PEERS else method.split("/", maxsplit=1)[0]


def takes_learner(method: str) -> bool:
    """Tell whether a method is made of a binary learner of one's choice.

    >>> [takes_learner(method) for method in ("wolc/optimized-weight", "mixed/logistic-weight", "sklearn/svm")]
    [True, False, False]
    """
    return method not in CLASSIFIERS and coding_of(method) != MIXED


def make_classifier(method: str, learner: BaseEstimator, seed: int, response: str = "auto") -> BaseEstimator:
    """Build the unfitted multiclass classifier of a method.

    Peers and ``mixed`` have no choice of `response`; those that bring their own learners (see `takes_learner`) do
    without `learner`.
    """
    if method in STRATEGIES:
        return seeded_clone(STRATEGIES[method](learner), seed)
    if method in CLASSIFIERS:
        return seeded_clone(CLASSIFIERS[method](), seed)
    coding, decoding = method.split("/")
    if coding == MIXED:
        if response != "auto":
            raise InputError(f"methods: {method!r} has a fixed response, which cannot be chosen")
        return GROWN_CODINGS[coding](random_state=seed)
    parameters: dict[str, Any] = {"random_state": seed}
    if response != "auto":
        parameters["response_method"] = RESPONSES[response]
    if not _own_decoding(coding):
        parameters["decoding"] = decoding
    if coding in GROWN_CODINGS:
        return GROWN_CODINGS[coding](estimator=clone(learner), **parameters)
    code = partial(MADE_CODINGS[coding], seed=seed) if coding in MADE_CODINGS else coding
    return ECOCClassifier(clone(learner), coding=code, **parameters)


def why_not(method: str, learner: BaseEstimator, *, probabilities: bool, weights: bool) -> str:
    """Say why a method has no probabilities, or takes no weights of samples, if these are wanted; else nothing.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> why_not("one-vs-one/hamming", KNeighborsClassifier(), probabilities=True, weights=True)
    'KNeighborsClassifier does not support sample_weight, which class_weight needs'
    """
    classifier = make_classifier(method, learner, 0)
    if probabilities and not hasattr(classifier, "predict_proba"):
        return f"{method} has no probabilities, which the metric needs"
    if weights and method != MAJORITY:
        parts = [classifier, *([learner] if takes_learner(method) else [])]
        lacking = [part for part in parts if not takes_weights(part)]
        if lacking:
            last = lacking[0]
            while isinstance(last, Pipeline):
                last = last.steps[-1][1]
            return f"{type(last).__name__} does not support sample_weight, which class_weight needs"
    return ""


def learner_names(classifier: Any, default: str) -> str:
    """Name the learners of a fitted mixed code; for others, the default one."""
    own = dict.fromkeys(map(str, getattr(classifier, "column_learners_", [])))
    return ", ".join(own) if len(own) > 1 else default


def count_columns(classifier: Any) -> int:
    """Count the binary learners that `predict` of a fitted classifier evaluates.

    Those are the columns with a weight where a grown code says which, else all columns of its code matrix. A classifier
    that is not made of binary learners has none.
    """
    if hasattr(classifier, "used_columns_"):
        return len(classifier.used_columns_)
    matrix = getattr(classifier, "code_matrix_", None)
    return _count_learners(classifier) if matrix is None else int(matrix.shape[1])


def count_trained(classifier: Any) -> int:
    """Count the binary learners of a fitted code, with those that have no weight and those of rounds not kept."""
    history = getattr(classifier, "history_", None)
    return int(history[-1].n_columns) if history else _count_learners(classifier)


def _count_learners(classifier: Any) -> int:
    """Count binary learners, which the trees of a forest are not."""
    is_made_of_them = hasattr(classifier, "code_matrix_") or isinstance(classifier, tuple(STRATEGIES.values()))
    return len(classifier.estimators_) if is_made_of_them else 0


def _check_method(method: str) -> None:
    if method in PEERS:
        return
    coding, slash, decoding = method.partition("/")
    if not slash or coding == "sklearn":
        meant = did_you_mean(method, [*names.METHOD_CODINGS, *_SHORT_NAMES, *PEERS])
        expected = "expected a coding, coding/decoding such as one-vs-one/loss-weighted, or one of scikit-learn's"
        known = "" if meant else f"; scikit-learn's: {', '.join(PEERS)}; {describe_parts()}"
        raise InputError(f"methods: {method!r} is not known{meant}; {expected}{known}")
    codings = [coding] if coding in _known_codings() else list(names.METHOD_CODINGS)
    decodings = [own] if (own := _own_decoding(coding)) else list(DECODERS)
    for part, name, valid in (("coding", coding, codings), ("decoding", decoding, decodings)):
        if name not in valid:
            raise InputError(
                f"methods: the {part} {name!r} of {method!r} is not known{did_you_mean(name, valid)}; expected one of "
                f"{', '.join(valid)}"
            )


def describe_parts() -> str:
    """List in one line the codings and decodings that names of methods are made of."""
    return f"codings: {', '.join(names.METHOD_CODINGS)}; decodings: {', '.join(DECODERS)}"


def make_learner(learner: str | BaseEstimator) -> BaseEstimator:
    """Make the learner of a short name (`LEARNERS`) or of an import path, with parameters behind it if there are any.

    An estimator is returned as it is.

    >>> make_learner("random-forest n_estimators=500 max_depth=4")
    RandomForestClassifier(max_depth=4, n_estimators=500)
    >>> make_learner("logistic C=0.5")[-1]
    LogisticRegression(C=0.5, max_iter=1000)
    """
    estimator = learner
    if isinstance(learner, str):
        try:
            name, *words = shlex.split(learner) or [""]
        except ValueError as error:
            raise InputError(f"learner: {learner!r} cannot be read: {error}") from error
        estimator = _construct_learner(name)
        if words:
            _set_parameters(estimator, learner, name, words)
    try:
        is_usable = is_classifier(estimator)
    except AttributeError:  # of a meta-estimator without an estimator
        is_usable = False
    if not is_usable:
        raise InputError(f"learner: {learner!r} is not a scikit-learn classifier")
    return estimator


def _set_parameters(estimator: BaseEstimator, text: str, name: str, words: Sequence[str]) -> None:
    """Set parameters by words ``parameter=value``, those of the last step for a pipeline; values are Python literals.

    A value that is no literal is text.
    """
    target = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    known = sorted(target.get_params())
    for word in words:
        parameter, equals, value = word.partition("=")
        if not equals or not parameter.isidentifier():
            raise InputError(f"learner: {word!r} of {text!r} is no parameter; expected NAME PARAMETER=VALUE ...")
        if parameter not in known:
            listed = f"; expected one of {', '.join(known)}"
            raise InputError(
                f"learner: {name!r} has no parameter {parameter!r}{did_you_mean(parameter, known) or listed}"
            )
        with suppress(ValueError, SyntaxError):
            value = ast.literal_eval(value)
        target.set_params(**{parameter: value})
    try:
        if hasattr(target, "_parameter_constraints"):
            target._validate_params()
    except (ValueError, TypeError) as error:
        raise InputError(f"learner: {error}") from error


def _construct_learner(name: str) -> BaseEstimator:
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
