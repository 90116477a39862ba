"""Teach skops to store the learner of many columns once, and to audit it once."""

from importlib import import_module
from typing import Any

from skecoc.learners import MulticlassLearner

# How skops is told to load a learner, in the description of a model.
_LOADER = "SharedObjectNode"


def share_learners() -> None:
    """Tell skops how multiclass learners are described and loaded; to be called before it does either.

    By itself skops describes an object as often as it is met, stores the arrays of its trees each time, and audits all
    of them as often again.
    """
    audit, general = import_module("skops.io._audit"), import_module("skops.io._general")
    key = (_LOADER, import_module("skops.io._protocol").PROTOCOL)
    if key not in audit.NODE_TYPE_MAPPING:
        plain = general.ObjectNode

        def get_unsafe_set(node: Any) -> set[str]:
            if not hasattr(node, "_found_unsafe"):
                node._found_unsafe = plain.get_unsafe_set(node)
            return set(node._found_unsafe)

        import_module("skops.io._utils")._get_state.register(MulticlassLearner)(_learner_state)
        audit.NODE_TYPE_MAPPING[key] = type(_LOADER, (plain,), {"get_unsafe_set": get_unsafe_set})


def _learner_state(learner: MulticlassLearner, context: Any) -> dict[str, Any]:
    """Describe a learner, the first time in full; an object that it has met before, skops loads by its number."""
    is_known = -id(learner) in context.memo  # positive numbers are those of skops
    context.memo[-id(learner)] = learner
    kind = type(learner)
    state = {"__class__": kind.__name__, "__module__": kind.__module__}
    if not is_known:
        state = import_module("skops.io._general").object_get_state(learner, context)
    return {**state, "__loader__": _LOADER}
