"""Teach skops to leave out the search trees of neighbours, and to store and audit the learner of many columns once."""

from importlib import import_module
from typing import Any

from sklearn.neighbors._base import NeighborsBase

from skecoc.learners import MulticlassLearner

# How skops is told to load a learner of many columns, in the description of a model.
_LOADER = "SharedObjectNode"


def register_states() -> None:
    """Tell skops how neighbours and multiclass learners are described and loaded, before it does either.

    By itself skops describes an object as often as it is met, stores the arrays of its trees each time, and audits all
    of them as often again.
    """
    audit, general, utils = (import_module(f"skops.io.{name}") for name in ("_audit", "_general", "_utils"))
    key = (_LOADER, import_module("skops.io._protocol").PROTOCOL)
    if key in audit.NODE_TYPE_MAPPING:
        return
    plain = general.ObjectNode

    def get_unsafe_set(node: Any) -> set[str]:
        if not hasattr(node, "_found_unsafe"):
            node._found_unsafe = plain.get_unsafe_set(node)
        return set(node._found_unsafe)

    def names(part: Any) -> dict[str, Any]:
        return {"__class__": type(part).__name__, "__module__": type(part).__module__}

    def state_of_learner(learner: MulticlassLearner, context: Any) -> dict[str, Any]:
        # Described in full the first time; an object that it has met before, skops loads by its number.
        is_known = -id(learner) in context.memo  # positive numbers are those of skops
        context.memo[-id(learner)] = learner
        state = names(learner) if is_known else general.object_get_state(learner, context)
        return {**state, "__loader__": _LOADER}

    def state_of_neighbours(estimator: NeighborsBase, context: Any) -> dict[str, Any]:
        kept = {name: value for name, value in estimator.__getstate__().items() if name != "_tree"}
        return {**names(estimator), "__loader__": "ObjectNode", "content": utils.get_state(kept, context)}

    utils._get_state.register(MulticlassLearner)(state_of_learner)
    utils._get_state.register(NeighborsBase)(state_of_neighbours)
    audit.NODE_TYPE_MAPPING[key] = type(_LOADER, (plain,), {"get_unsafe_set": get_unsafe_set})
