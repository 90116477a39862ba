"""Code matrices: which binary problems to solve, from the number of classes or from the data.

A code matrix has one row per class and one column per binary problem, with entries +1 and -1
for the two sides and 0 for classes that a problem leaves out.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike

from skecoc.coding.automatic import choose_coding
from skecoc.coding.discriminant import decoc, forest
from skecoc.coding.fixed import exhaustive, hadamard, one_vs_one, one_vs_rest, ordinal, ternary_complete
from skecoc.coding.matrix import (
    CodeMatrix,
    Indices,
    canonical_columns,
    check_code_matrix,
    code_statistics,
    duplicate_columns,
    is_valid,
    mean_row_distance,
    min_row_distance,
    row_distances,
)
from skecoc.coding.random import dense_random, sparse_random
from skecoc.support.errors import resolve_name

__all__ = [
    "CODINGS",
    "CodeMatrix",
    "canonical_columns",
    "check_code_matrix",
    "choose_coding",
    "code_statistics",
    "decoc",
    "dense_random",
    "duplicate_columns",
    "exhaustive",
    "forest",
    "hadamard",
    "is_valid",
    "mean_row_distance",
    "min_row_distance",
    "one_vs_one",
    "one_vs_rest",
    "ordinal",
    "resolve_coding",
    "row_distances",
    "sparse_random",
    "ternary_complete",
]

#: A coding as `CODINGS` holds it: ``f(X, y, n_classes, random_state, sample_weight) -> matrix``.
NamedCoding = Callable[[Any, Indices, int, int | RandomState | None, ArrayLike | None], CodeMatrix]


def _from_classes(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that needs the number of classes alone."""
    return lambda X, y, n_classes, random_state, sample_weight: coding(n_classes)  # noqa: ARG005


def _from_seed(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that needs the number of classes and a seed."""
    return lambda X, y, n_classes, seed, sample_weight: coding(n_classes, random_state=seed)  # noqa: ARG005


def _from_data(coding: Callable[..., CodeMatrix]) -> NamedCoding:
    """Wrap a coding that reads the data."""
    return lambda X, y, n_classes, seed, sample_weight: coding(X, y, sample_weight=sample_weight)  # noqa: ARG005


#: What each name that a `coding` argument takes stands for; see `resolve_coding`.
CODINGS: Mapping[str, NamedCoding] = MappingProxyType(
    {
        "one-vs-rest": _from_classes(one_vs_rest),
        "one-vs-one": _from_classes(one_vs_one),
        "exhaustive": _from_classes(exhaustive),
        "ternary-complete": _from_classes(ternary_complete),
        "ordinal": _from_classes(ordinal),
        "hadamard": _from_classes(hadamard),
        "dense-random": _from_seed(dense_random),
        "sparse-random": _from_seed(sparse_random),
        "decoc": _from_data(decoc),
        "forest": _from_data(forest),
    }
)


def resolve_coding(
    coding: str | ArrayLike | Callable[[Any, Indices], ArrayLike],
    X: Any,
    y: Indices,
    n_classes: int,
    random_state: int | RandomState | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> CodeMatrix:
    """Turn a name of `CODINGS`, a code matrix or a function ``f(X, y)`` that returns one into a valid code matrix.

    Seed and sample weights are for the named codings that take them.

    >>> resolve_coding(lambda X, y: [[1], [-1]], None, None, 2).tolist()
    [[1], [-1]]
    """
    if isinstance(coding, str):
        named = CODINGS.get(coding) or resolve_name("coding", coding, CODINGS)  # which says what is known
        return check_code_matrix(named(X, y, n_classes, random_state, sample_weight), n_classes)
    if callable(coding):
        return check_code_matrix(coding(X, y), n_classes)
    if isinstance(coding, list | tuple) or hasattr(coding, "__array__"):
        return check_code_matrix(coding, n_classes)
    raise ValueError(
        "coding must be a name, a code matrix of shape (n_classes, n_columns) or a callable f(X, y), "
        f"got {type(coding).__name__}"
    )
