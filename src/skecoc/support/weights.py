"""Weights of samples and classes: exact totals, balanced weights, and extreme weights in other units."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skecoc.support.errors import spell_out

Floats = NDArray[np.float64]
ClassWeight = Mapping[Hashable, float] | str | None

#: Sums, squares and quotients of weights between these neither overflow nor vanish.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 2.0**-200, 2.0**200
#: A side of a column counts as empty if its samples weigh, on average, no more than this share of what all samples do.
_NEGLIGIBLE = 1e-6
# Halves of a mantissa, so that sums of very many of them are exact.
_HALF = 27
# The exponent of the smallest positive number.
_LAST_BIT = 1074


def class_totals(labels: NDArray[Any], weight: Floats | None) -> dict[Hashable, int]:
    """Sum weights (None: 1 each) by label, exactly: the same in any order and division into blocks.

    Totals are whole multiples of the smallest positive float64.

    >>> class_totals(np.array(["a", "b", "a"]), np.array([0.1, 1.0, 0.2])).keys()
    dict_keys(['a', 'b'])
    """
    names, number = np.unique(labels, return_inverse=True)
    if weight is None:
        return {name: int(count) << _LAST_BIT for name, count in zip(names.tolist(), np.bincount(number), strict=True)}
    mantissa, exponent = np.frexp(weight)
    whole = np.ldexp(mantissa, 2 * _HALF).astype(np.int64)
    shifts, place = np.unique(exponent, return_inverse=True)
    sums = np.zeros((2, len(names), len(shifts)), np.int64)
    for part, values in zip(sums, (whole >> _HALF, whole & (2**_HALF - 1)), strict=True):
        np.add.at(part, (number, place), values)
    high, low = sums.astype(object)
    exact = (high << _HALF) + low
    up = _LAST_BIT - 2 * _HALF
    return {
        name: sum(
            value << (shift + up) if shift + up >= 0 else value >> -(shift + up)
            for value, shift in zip(row, shifts.tolist(), strict=True)
        )
        for name, row in zip(names.tolist(), exact, strict=True)
    }


def add_totals(first: dict[Hashable, int], second: dict[Hashable, int]) -> dict[Hashable, int]:
    """Add the totals of different samples.

    >>> add_totals({"a": 1, "b": 2}, {"b": 3})
    {'a': 1, 'b': 5}
    """
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


def class_factors(class_weight: ClassWeight, totals: Mapping[Hashable, int]) -> dict[Hashable, float]:
    """Return the factor of the weights of each class; "balanced" gives all classes the same total.

    >>> class_factors("balanced", {"a": 3, "b": 1})
    {'a': 0.6666666666666666, 'b': 2.0}
    >>> class_factors({"b": 5}, {"a": 3, "b": 1})
    {'a': 1.0, 'b': 5.0}
    """
    if isinstance(class_weight, str):
        counted = {name: total for name, total in totals.items() if total > 0}
        whole = sum(counted.values())
        return {name: whole / (len(counted) * total) if total > 0 else 1.0 for name, total in totals.items()}
    given: Mapping[Hashable, float] = class_weight or {}
    unknown = [name for name in given if name not in totals]
    # As in scikit-learn: keys that the samples of a fold lack are allowed if all classes of the samples have one.
    if unknown and not all(name in given for name in totals):
        are_replaced = [*totals] == [*range(len(totals))] and all(isinstance(name, str) for name in unknown)
        hint = ""
        if are_replaced:
            hint = ". Some meta-estimators, such as BaggingClassifier, replace labels by their numbers in sorted order"
        raise ValueError(
            f"class_weight must have labels of y as keys, which are {spell_out([repr(name) for name in totals])}; "
            f"got {spell_out([repr(name) for name in unknown])}{hint}"
        )
    factors = {name: float(given.get(name, 1.0)) for name in totals}
    bad = [given[name] for name, factor in factors.items() if not (np.isfinite(factor) and factor >= 0.0)]
    if bad:
        raise ValueError(f"class_weight must hold finite weights that are not negative, got {bad[0]!r}")
    return factors


def multiplied(weight: Floats | None, labels: NDArray[Any], factors: Mapping[Hashable, float]) -> Floats:
    """Multiply weights (None: 1 each) by the factors of labels, 1 for a label without one.

    >>> multiplied(None, np.array(["b", "a", "b"]), {"a": 1.0, "b": 5.0})
    array([5., 1., 5.])
    """
    names, number = np.unique(labels, return_inverse=True)
    factor = np.array([factors.get(name, 1.0) for name in names.tolist()])[number]
    return factor if weight is None else weight * factor


def only_side(counts: ArrayLike, totals: ArrayLike) -> int | None:
    """Return the only side, 0 or 1, of a column that counts, from the number and total weight of samples of each side.

    A side does not count if it is empty, or if the mean weight of its samples is at most a millionth of the mean of
    all. None is returned if both count, as they do with weights of 1 each or balanced classes, however few samples one
    side has.

    >>> only_side([0, 3], [0.0, 3.0])
    1
    >>> only_side([5, 5], [5e7, 5.0])
    0
    >>> only_side([1, 10_000_000], [1.0, 1e7]) is None
    True
    """
    n_samples, weight = np.asarray(counts, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    # Means are compared without division, since a side may be empty; if both are, 0 is returned.
    is_light = weight * n_samples.sum() <= _NEGLIGIBLE * n_samples * weight.sum()
    return int(not is_light[1]) if is_light.any() else None


def usable_weights(weight: Floats) -> Floats:
    """Return weights, not all zero, in other units if the largest is below 2^-200 or above 2^200.

    In that case, all are divided by the same power of two, so that the largest is at least 1 and less than 2. Positive
    weights below 2^-200 of the largest, which no sum could show, are raised to that.

    >>> usable_weights(np.array([1e308, 5e307, 0.0])).round(3).tolist()
    [1.113, 0.556, 0.0]
    >>> usable_weights(np.array([3.0, 1.0])).tolist()
    [3.0, 1.0]
    """
    largest = weight.max()
    is_extreme = not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT
    scaled = np.ldexp(weight, 1 - int(np.frexp(largest)[1])) if is_extreme else weight
    return np.where(weight > 0, np.maximum(scaled, scaled.max() * SMALLEST_WEIGHT), 0.0)


def weighted_by_class(weight: Floats | None, labels: NDArray[Any], class_weight: ClassWeight) -> Floats:
    """Multiply weights (None: 1 each) by those of classes, both in other units if they are extreme.

    >>> weighted_by_class(np.array([1e307, 1e307]), np.array(["a", "b"]), {"b": 100}).round(3).tolist()
    [1.78, 178.006]
    """
    given = None if weight is None else usable_weights(weight)
    factor = multiplied(None, labels, class_factors(class_weight, class_totals(labels, given)))
    return factor if given is None else given * usable_weights(factor)
