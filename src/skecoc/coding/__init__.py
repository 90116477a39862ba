"""Codings: functions that make code matrices, from the number of classes or from the data.

A code matrix has one row per class and one column per binary problem, with entries +1 and -1
for the two sides and 0 for classes that a problem leaves out.
"""

from collections.abc import Callable, Mapping, Sequence
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
    check_length,
    code_statistics,
    duplicate_columns,
    is_valid,
    mean_row_distance,
    min_row_distance,
    row_distances,
    shorten,
)
from skecoc.coding.random import default_length, dense_random, sparse_random
from skecoc.support import names
from skecoc.support.errors import full_name, plain_name

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


#: The codings by the names that `coding` accepts; see `resolve_coding`.
CODINGS: Mapping[str, NamedCoding] = MappingProxyType(
    dict(
        zip(
            names.CODINGS,
            (
                _from_classes(one_vs_rest),
                _from_classes(one_vs_one),
                _from_classes(exhaustive),
                _from_classes(ternary_complete),
                _from_classes(ordinal),
                _from_classes(hadamard),
                _from_seed(dense_random),
                _from_seed(sparse_random),
                _from_data(decoc),
                _from_data(forest),
            ),
            strict=True,
        )
    )
)

# Other words for codings.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("ovo", "one-versus-one", "one-against-one", "all-pairs", "pairwise"), "one-vs-one"),
        **dict.fromkeys(("ovr", "ova", "one-vs-all"), "one-vs-rest"),
        **dict.fromkeys(("one-versus-rest", "one-versus-all", "one-against-rest", "one-against-all"), "one-vs-rest"),
    }
)


def coding_name(name: str, *, argument: str = "coding", also: Sequence[str] = ()) -> str:
    """Return the name in `CODINGS` that is meant; names in `also` are accepted too.

    >>> coding_name("ovo"), coding_name("Sparse_Random"), coding_name("Auto", also=["auto"])
    ('one-vs-one', 'sparse-random', 'auto')
    """
    plain = plain_name(name)
    return plain if plain in also else full_name(argument, name, CODINGS, short=_OTHER_NAMES, also=also)


def resolve_coding(
    coding: str | ArrayLike | Callable[[Any, Indices], ArrayLike],
    X: Any,
    y: Indices,
    n_classes: int,
    random_state: int | RandomState | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    argument: str = "coding",
    ranks: Indices | None = None,
    max_columns: int | None = None,
) -> CodeMatrix:
    """Turn a name of `CODINGS`, a code matrix or a function ``f(X, y)`` that returns one into a valid code matrix.

    Parameters
    ----------
    coding : str, array-like of shape (n_classes, n_columns) or callable
        The coding, as in `skecoc.ECOCClassifier`, except "auto".
    X : {array-like, sparse matrix, frame} of shape (n_samples, n_features) or None
        The samples; only for codings that depend on the data.
    y : ndarray of int of shape (n_samples,) or None
        Their class indices.
    n_classes : int
        Number of classes.
    random_state : int, RandomState instance or None, default=None
        Seed of random codings.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples; only for codings that depend on the data.
    argument : str, default="coding"
        Name of the coding in error messages.
    ranks : ndarray of int of shape (n_classes,), default=None
        Position of each class in the order of the classes, for ``"ordinal"``.
    max_columns : int, default=None
        Maximum number of columns. Random codes and forests are generated with at most this length; from other codes,
        columns are selected that separate all classes.

    Returns
    -------
    ndarray of int8 of shape (n_classes, n_columns)
        A valid code matrix.

    Raises
    ------
    ValueError
        If the coding is invalid, or too long and cannot be shortened.

    Examples
    --------
    >>> from skecoc.coding import resolve_coding
    >>> resolve_coding(lambda X, y: [[1], [-1]], None, None, 2).tolist()
    [[1], [-1]]
    """
    if isinstance(coding, str):
        name = coding_name(coding, argument=argument)
        made: Any = _short_code(name, X, y, n_classes, random_state, sample_weight, max_columns)
        if made is None:
            made = CODINGS[name](X, y, n_classes, random_state, sample_weight)
        if ranks is not None and name == "ordinal":
            made = made[ranks]
    elif callable(coding):
        made = coding(X, y)
    elif isinstance(coding, list | tuple) or hasattr(coding, "__array__"):
        made = coding
    else:
        raise ValueError(
            f"{argument} must be a name, a code matrix of shape (n_classes, n_columns) or a callable f(X, y), "
            f"got {type(coding).__name__}"
        )
    matrix = check_code_matrix(made, n_classes, argument=argument)
    return matrix if max_columns is None else _within(matrix, coding, max_columns, argument)


def _short_code(
    name: str,
    X: Any,
    y: Indices,
    n_classes: int,
    random_state: int | RandomState | None,
    sample_weight: ArrayLike | None,
    max_columns: int | None,
) -> CodeMatrix | None:
    """Make a named code of at most some length, if it can be made of any length and would be longer."""
    if max_columns is None:
        return None
    check_length(n_classes, max_columns)
    if name == "dense-random" and default_length(n_classes) > max_columns:
        return dense_random(n_classes, n_columns=max_columns, random_state=random_state)
    if name == "sparse-random" and default_length(n_classes, 15) > max_columns:
        return sparse_random(n_classes, n_columns=max_columns, random_state=random_state)
    if name == "forest" and n_classes - 1 <= max_columns < 3 * (n_classes - 1):
        return forest(X, y, n_trees=max_columns // (n_classes - 1), sample_weight=sample_weight)
    return None


def _within(matrix: CodeMatrix, coding: Any, max_columns: int, argument: str) -> CodeMatrix:
    """Choose columns of a code that is too long, or say which codings are short enough."""
    n_classes, n_columns = matrix.shape
    check_length(n_classes, max_columns)
    shorter = matrix if n_columns <= max_columns else shorten(matrix, max_columns)
    if shorter is not None:
        return shorter
    lengths = {"one-vs-rest": n_classes, "decoc": n_classes - 1, "dense-random": 1}
    fitting = ", ".join(repr(name) for name, length in lengths.items() if length <= max_columns)
    which = f"{argument}={coding!r}" if isinstance(coding, str) else argument
    raise ValueError(
        f"{which} has {n_columns} columns, and max_columns={max_columns} of them cannot separate all classes; "
        f"short enough are {fitting}"
    )
