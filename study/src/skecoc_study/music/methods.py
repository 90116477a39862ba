"""Methods for music: codes on one feature set, and a code whose members see different ones."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from skecoc import WOLCClassifier
from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import check_methods, make_classifier, make_learner, takes_learner
from skecoc.learners import MulticlassLearner
from skecoc_study.runs import codings  # noqa: F401 - makes them known

#: Weights that grow with the code, as the paper has them.
WOLC = "wolc/optimized-weight"

#: The codes of the paper's experiment with music.
MUSIC_METHODS = (
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-weighted",
    "decoc/loss-weighted",
    "ecoc-one/loss-weighted",
    WOLC,
)

#: The method whose members are one learner on each feature set, with the decoding of all codes of several learners.
MIXED_FEATURES = "mixed-features/logistic-weight"

#: What all features together are called.
ALL = "all"

#: The learner of codes unless another one is named.
DEFAULT_LEARNER = "svm"

_SHORT_NAME = MIXED_FEATURES.partition("/")[0]


def check_music_methods(methods: Sequence[str]) -> list[str]:
    """Return the full names of methods, each once: output codes only.

    >>> check_music_methods(["wolc", "mixed-features"])
    ['wolc/optimized-weight', 'mixed-features/logistic-weight']
    """
    if not methods:
        raise InputError("methods: expected at least one")
    full = [
        MIXED_FEATURES if method in (_SHORT_NAME, MIXED_FEATURES) else check_methods([method])[0] for method in methods
    ]
    peers = [method for method in full if method.startswith("sklearn/")]
    if peers:
        raise InputError(f"methods: {peers[0]!r} is not for music; expected coding/decoding or {_SHORT_NAME}")
    return list(dict.fromkeys(full))


def has_own_learners(method: str) -> bool:
    """Tell whether a method takes no learner of one's choice."""
    return method != MIXED_FEATURES and not takes_learner(method)


def make_music_classifier(
    method: str, learner: str | BaseEstimator | None, seed: int, sizes: Mapping[str, int] | None = None
) -> BaseEstimator:
    """Build the unfitted classifier of a method, with its usual learners unless one is named.

    `sizes` has the number of features of each set, for a mixture.
    """
    if method == MIXED_FEATURES:
        if learner is not None:  # of "svm", a machine for all classes
            learner = _machine() if isinstance(learner, str) and learner == DEFAULT_LEARNER else make_learner(learner)
        return make_mixture(learner, sizes or {ALL: 1}, seed)
    return make_classifier(method, make_learner(DEFAULT_LEARNER if learner is None else learner), seed)


def make_mixture(learner: BaseEstimator | None, sizes: Mapping[str, int], seed: int) -> WOLCClassifier:
    """Make a code of several members: one learner on each feature set, and on all of them if there are several.

    `sizes` has the number of features of each set, in the order of the columns. A learner that is multiclass by itself
    is trained once per member, any other once per column. None stands for support vector machines, beside which a
    logistic regression sees all features.

    >>> [name for name, _ in make_mixture(None, {"mosc": 112, "mnase": 108}, 0).estimator]
    ['mosc', 'mnase', 'all', 'logistic']
    """
    stops = np.cumsum(list(sizes.values())).tolist()
    spans = {name: (stop - size, stop) for (name, size), stop in zip(sizes.items(), stops, strict=True)}
    if len(spans) > 1:
        spans[ALL] = (0, stops[-1])
    chosen = _machine() if learner is None else learner
    members = [(name, _member(chosen, *span)) for name, span in spans.items()]
    if learner is None:
        members.append(("logistic", _member(LogisticRegression(max_iter=1000), 0, stops[-1])))
    return WOLCClassifier(members, random_state=seed)


def _machine() -> SVC:
    """Make a support vector machine for all classes: one, without search, takes a fraction of the time."""
    return SVC(C=10.0)


def _member(learner: BaseEstimator, start: int, stop: int) -> BaseEstimator:
    """Let a learner see some of the columns only."""
    # Columns by number: a model's file holds no types for this that would have to be trusted.
    seen = ColumnTransformer([("scale", StandardScaler(), list(range(start, stop)))])
    member = make_pipeline(seen, clone(learner))
    return MulticlassLearner(member) if get_tags(learner).classifier_tags.multi_class else member
