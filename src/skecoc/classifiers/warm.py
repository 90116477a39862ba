"""What a classifier with ``warm_start=True`` keeps from one fit to the next."""

from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any

import numpy as np
from joblib import hash as hash_of
from sklearn.utils import check_random_state

from skecoc.learners.columns import TrainedBefore

# Parameters that trained columns depend on; others change which columns are trained, not how.
_OF_COLUMNS = ("estimator", "response_method", "n_folds", "validation_fraction")


@dataclass
class WarmStart:
    """Trained columns, what they were trained on, and the random numbers that the fit started from."""

    fingerprint: str | None
    random_numbers: Any
    trained: TrainedBefore = field(default_factory=TrainedBefore)


def warm_random_state(classifier: Any, *data: Any) -> np.random.RandomState:
    """Return random numbers for a fit, and set or delete what the classifier keeps: `_warm`.

    The earlier fit's columns, and its random numbers, are kept if data, learners, folds and seed are the same.
    """
    if not getattr(classifier, "warm_start", False):
        classifier.__dict__.pop("_warm", None)
        return check_random_state(classifier.random_state)
    before: WarmStart | None = classifier.__dict__.get("_warm")
    fingerprint = _fingerprint(classifier, data)
    if before is not None and fingerprint is not None and before.fingerprint == fingerprint:
        random_state = np.random.RandomState()
        random_state.set_state(before.random_numbers)
        return random_state
    random_state = check_random_state(classifier.random_state)
    classifier._warm = WarmStart(fingerprint, random_state.get_state())
    return random_state


def _fingerprint(classifier: Any, data: tuple[Any, ...]) -> str | None:
    """Hash all that trained columns depend on; None if something cannot be hashed."""
    seed = classifier.random_state
    data = tuple(np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part for part in data)
    parameters = {name: getattr(classifier, name) for name in _OF_COLUMNS if hasattr(classifier, name)}
    try:
        return str(hash_of((parameters, id(seed) if isinstance(seed, np.random.RandomState) else seed, data)))
    except (AttributeError, PicklingError, TypeError):  # of a learner that cannot be pickled
        return None
