"""The order of classes: given, or that of ordered categories."""

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.learners.columns import Integers

# What to do where labels are no longer those that were given.
_ENCODED = (
    ". scikit-learn has replaced the labels by numbers in the order of the alphabet, as VotingClassifier, "
    "StackingClassifier, BaggingClassifier and cross_val_predict for probabilities do: number the classes in their "
    "order beforehand, such as y = [order.index(label) for label in y], and leave class_order=None"
)


def own_order(y: Any) -> list[Any] | None:
    """Return the order that labels bring along: that of an ordered category of pandas, or of an Enum of polars.

    >>> import pandas as pd
    >>> own_order(pd.Categorical(["good", "bad"], ["bad", "fair", "good"], ordered=True))
    ['bad', 'fair', 'good']
    """
    if len(getattr(y, "columns", ())) == 1:  # a frame of one column
        y = y[y.columns[0]]
    dtype = getattr(y, "dtype", None)
    is_ordered = getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum"
    return list(dtype.categories) if is_ordered and dtype is not None else None


def check_order(class_order: Any) -> list[Any]:
    """Check that `class_order` lists labels, each once, and return them.

    >>> check_order(("low", "high"))
    ['low', 'high']
    """
    shape = np.shape(class_order)
    labels = list(class_order)
    if len(shape) != 1 or len(labels) < 2:
        raise ValueError(f"class_order must list at least 2 labels in their order, got shape {shape}")
    if len(set(labels)) < len(labels):
        repeated = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise ValueError(f"class_order must name every label once, got {', '.join(repeated)} more than once")
    return labels


def _are_numbers(labels: Iterable[Any], n_numbers: int | None = None) -> bool:
    """Tell whether all labels are whole numbers, from 0 to less than some number if there is one."""
    return all(isinstance(label, Integral) and (n_numbers is None or 0 <= int(label) < n_numbers) for label in labels)


def rank_classes(classes: NDArray[Any], order: Sequence[Any]) -> Integers:
    """Return the place of each class in an order, in which labels without samples may occur.

    >>> rank_classes(np.array(["bad", "fair", "good"]), ["good", "unknown", "fair", "bad"])
    array([2, 1, 0])
    """
    places = {label: place for place, label in enumerate(order)}
    missing = [str(label) for label in classes if label not in places]
    if missing:
        hint = _ENCODED if _are_numbers(classes, len(places)) and not _are_numbers(order) else ""
        raise ValueError(f"class_order must name every class of y, missing: {', '.join(missing)}{hint}")
    return np.argsort(np.argsort([places[label] for label in classes]))


def warn_of_alphabet(classes: NDArray[Any], *, stacklevel: int) -> None:
    """Warn of an ordinal code for text without an order: numbers have one."""
    if len(classes) > 2 and all(isinstance(label, str | bytes) for label in classes):
        warnings.warn(
            f"the ordinal code uses the alphabetical order of the classes ({' < '.join(map(str, classes))}); "
            "set class_order=[...] or pass an ordered categorical y for another order",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
