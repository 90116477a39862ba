"""Methods by name: ``coding/decoding``, and scikit-learn's own for reference."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from skecoc.classifiers import ECOCClassifier
from skecoc.coding import CODINGS, CodeMatrix, dense_random
from skecoc.decoding import DECODERS
from skecoc.growth import ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.learners.columns import seeded_clone
from skecoc.support.errors import InputError

#: The classical codes, each with the decoding that shows it well, and what
#: plain votes lose beside it.
DEFAULT_METHODS = (
    "one-vs-one/hamming",
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-based",
    "dense-random/hamming",
    "dense-random/loss-based",
    "sparse-random/loss-based",
    "hadamard/loss-based",
    "decoc/loss-weighted",
    "forest/loss-weighted",
    "sklearn/output-code",
)

#: scikit-learn's multiclass strategies; the code size of 1.5 is the one of its own default.
PEERS: dict[str, type[BaseEstimator]] = {
    "sklearn/one-vs-one": OneVsOneClassifier,
    "sklearn/one-vs-rest": OneVsRestClassifier,
    "sklearn/output-code": OutputCodeClassifier,
}

#: The paper's random code: dense, ten columns whatever the number of classes.
RANDOM_10 = "random-10"

#: Codes that do not depend on answers: their columns serve any decoding.
FIXED_CODINGS: tuple[str, ...] = (*CODINGS, RANDOM_10)

#: Codes that grow by what their decoding gets wrong, so that each decoding has columns of its own.
GROWN_CODINGS: Mapping[str, Callable[..., BaseEstimator]] = MappingProxyType(
    {
        "ecoc-one": ECOCOneClassifier,
        "lc-ecoc": LCECOCClassifier,
        "subclass-ecoc": SubclassECOCClassifier,
        "wolc": WOLCClassifier,
        "wolc-one-vs-rest": partial(WOLCClassifier, init="one-vs-rest"),
        "wolc-paper": WOLCClassifier.paper,
    }
)

#: Grown codes whose weights are their decoding.
WOLC_CODINGS = ("wolc", "wolc-one-vs-rest", "wolc-paper")
_WOLC_DECODING = "optimized-weight"

#: How binary learners answer, and what classifiers call it; "auto" leaves it to the classifier.
RESPONSES: Mapping[str, str] = MappingProxyType(
    {"auto": "auto", "labels": "predict", "probabilities": "predict_proba", "margins": "decision_function"}
)

#: Binary learners that have a short name; any other is named by its import path.
LEARNERS: dict[str, Callable[[], BaseEstimator]] = {
    "stumps": StumpAdaBoostClassifier,
    # The search makes a hundred machines for every one that is kept: on 500 rows it takes a tenth of the time and, as
    # measured, costs no accuracy.
    "svm": partial(TunedSVMClassifier, search_rows=500),
}


def check_methods(methods: Sequence[str]) -> list[str]:
    """Check the names of methods.

    Parameters
    ----------
    methods : sequence of str
        Names ``coding/decoding`` or one of `PEERS`; ``wolc`` and its kin need no decoding, since they have
        their own.

    Returns
    -------
    list of str
        The full names, repeated ones once, in the order given.

    Raises
    ------
    InputError
        If there is none, or one is not known; the message lists the valid ones.

    Examples
    --------
    >>> check_methods(["one-vs-one/hamming", "sklearn/one-vs-one", "one-vs-one/hamming"])
    ['one-vs-one/hamming', 'sklearn/one-vs-one']
    >>> check_methods(["wolc"])
    ['wolc/optimized-weight']
    >>> check_methods(["one-vs-one"])
    Traceback (most recent call last):
    ...
    skecoc.support.errors.InputError: methods: 'one-vs-one' is not known; expected coding/decoding...
    """
    if not methods:
        raise InputError("methods: expected at least one")
    full = [f"{method}/{_WOLC_DECODING}" if method in WOLC_CODINGS else method for method in methods]
    for method in full:
        _check_method(method)
    return list(dict.fromkeys(full))


def coding_of(method: str) -> str:
    """Return what a method's randomness depends on: its coding, or the peer itself.

    Parameters
    ----------
    method : str
        A name that `check_methods` accepts.

    Returns
    -------
    str
        The same for all decodings of one coding, so that they share the very
        same code matrix and columns.

    Examples
    --------
    >>> coding_of("dense-random/hamming"), coding_of("sklearn/output-code")
    ('dense-random', 'sklearn/output-code')
    """
    return method if method in PEERS else method.split("/", maxsplit=1)[0]


def make_learner(learner: str | BaseEstimator) -> BaseEstimator:
    """Turn a learner's name into an estimator.

    Parameters
    ----------
    learner : str or classifier
        A short name of `LEARNERS`, an import path such as
        ``"sklearn.linear_model.LogisticRegression"`` (constructed with its
        defaults), or an estimator, which is returned as it is.

    Returns
    -------
    estimator
        An unfitted classifier.

    Raises
    ------
    InputError
        If the name is neither, or does not lead to a classifier.

    Examples
    --------
    >>> make_learner("sklearn.naive_bayes.GaussianNB")
    GaussianNB()
    """
    estimator = _construct(learner) if isinstance(learner, str) else learner
    if not _is_classifier(estimator):
        raise InputError(f"learner: {learner!r} is not a scikit-learn classifier")
    return estimator


def make_classifier(method: str, learner: BaseEstimator, seed: int, response: str = "auto") -> BaseEstimator:
    """Build the multiclass classifier that a method stands for.

    Parameters
    ----------
    method : str
        A name that `check_methods` accepts.
    learner : classifier
        The binary learner; it is cloned.
    seed : int
        Seed of everything random in the classifier.
    response : str, default="auto"
        How the learners answer: a name of `RESPONSES`. Peers answer as they do.

    Returns
    -------
    estimator
        An unfitted multiclass classifier.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> make_classifier("sklearn/one-vs-rest", GaussianNB(), seed=0)
    OneVsRestClassifier(estimator=GaussianNB())
    """
    if method in PEERS:
        return seeded_clone(PEERS[method](learner), seed)
    coding, decoding = method.split("/")
    parameters: dict[str, Any] = {"random_state": seed}
    if response != "auto":
        parameters["response_method"] = RESPONSES[response]
    if coding not in WOLC_CODINGS:
        parameters["decoding"] = decoding
    if coding in GROWN_CODINGS:
        return GROWN_CODINGS[coding](estimator=clone(learner), **parameters)
    code = partial(_ten_random_columns, seed=seed) if coding == RANDOM_10 else coding
    return ECOCClassifier(clone(learner), coding=code, **parameters)


def _ten_random_columns(X: Any, y: NDArray[np.intp], seed: int) -> CodeMatrix:  # noqa: ARG001
    """Make the paper's random code for the classes that have rows."""
    return dense_random(int(y.max()) + 1, 10, random_state=seed)


def count_columns(classifier: Any) -> int:
    """Count the binary questions of a fitted multiclass classifier.

    Parameters
    ----------
    classifier : estimator
        A fitted classifier made by `make_classifier`.

    Returns
    -------
    int
        The number of columns that prediction asks: those with a weight where a grown code says which, else all of
        its code matrix, else of its binary estimators.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = make_classifier("sklearn/one-vs-one", GaussianNB(), seed=0)
    >>> count_columns(model.fit([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], [0, 0, 1, 1, 2, 2]))
    3
    """
    if hasattr(classifier, "used_columns_"):
        return len(classifier.used_columns_)
    matrix = getattr(classifier, "code_matrix_", None)
    return len(classifier.estimators_) if matrix is None else int(matrix.shape[1])


def _is_classifier(estimator: Any) -> bool:
    """Tell whether an object is a classifier; one that wraps nothing yet cannot say so itself."""
    try:
        return bool(is_classifier(estimator))
    except AttributeError:
        return False


def _check_method(method: str) -> None:
    """Check one name."""
    if method in PEERS:
        return
    coding, slash, decoding = method.partition("/")
    if not slash or coding == "sklearn":
        raise InputError(
            f"methods: {method!r} is not known; expected coding/decoding, such as {DEFAULT_METHODS[1]}, "
            f"or one of {', '.join(PEERS)}; {describe_parts()}"
        )
    decodings = [_WOLC_DECODING] if coding in WOLC_CODINGS else list(DECODERS)
    for part, name, valid in (("coding", coding, _codings()), ("decoding", decoding, decodings)):
        if name not in valid:
            raise InputError(
                f"methods: the {part} {name!r} of {method!r} is not known; expected one of {', '.join(valid)}"
            )


def _codings() -> list[str]:
    """List the codings that a method's name may begin with."""
    return [*FIXED_CODINGS, *GROWN_CODINGS]


def describe_parts() -> str:
    """List the codings and decodings that a method's name is made of.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> describe_parts().startswith("codings: ")
    True
    """
    return f"codings: {', '.join(_codings())}; decodings: {', '.join(DECODERS)}"


def _construct(name: str) -> BaseEstimator:
    """Find a learner's class by its name and call it without arguments."""
    if name in LEARNERS:
        return LEARNERS[name]()
    module, _, attribute = name.rpartition(".")
    expected = f"expected {', '.join(LEARNERS)} or an import path such as sklearn.svm.SVC"
    if not module or module.startswith("."):
        raise InputError(f"learner: {name!r} is not known; {expected}")
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
