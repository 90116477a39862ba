"""Errors that say what was expected: bad input, unknown names, missing extras."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


class InputError(ValueError):
    """Error for invalid arguments or data; the message names the argument and says what was expected.

    The command line shows its message as one line. Every other exception is a defect and keeps its traceback.
    """


def plain_name(name: str) -> str:
    """Write a name in small letters, its words joined by hyphens.

    >>> plain_name(" One_vs One")
    'one-vs-one'
    """
    return "-".join(name.casefold().replace("_", " ").replace("-", " ").split())


def is_named(value: object, name: str) -> bool:
    """Tell whether a value is a name, however it is written.

    >>> is_named("Auto ", "auto"), is_named(None, "auto")
    (True, False)
    """
    return isinstance(value, str) and plain_name(value) == name


def full_name(
    argument: str,
    name: object,
    names: Iterable[str],
    *,
    short: Mapping[str, str] = MappingProxyType({}),
    also: Sequence[str] = (),
) -> str:
    """Find a name in a list, whatever its case, spaces and underscores; `short` maps other names to those of the list.

    An unknown name raises a ValueError that suggests similar ones and lists all. `also` has further names for that
    message, which are looked up elsewhere.

    >>> full_name("coding", "One_vs_One", ["one-vs-one", "one-vs-rest"])
    'one-vs-one'
    """
    known = list(names)
    if isinstance(name, str):
        plain = plain_name(name)
        for candidate in (name, plain, short.get(plain)):
            if candidate in known:
                return str(candidate)
    valid = [*also, *sorted(known)]
    hint = did_you_mean(name, valid) if isinstance(name, str) else ""
    raise ValueError(f"{argument}={name!r} is not known{hint}; expected one of {', '.join(map(repr, valid))}")


def resolve_name(argument: str, name: object, table: Mapping[str, T], *, also: Sequence[str] = ()) -> T:
    """Look a name up in a table; see `full_name`."""
    return table[full_name(argument, name, table, also=also)]


def spell_out(names: Sequence[Any], most: int = 5) -> str:
    """Join names, the first few only.

    >>> spell_out(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def did_you_mean(name: str, names: Iterable[str], most: int = 3) -> str:
    """Suggest names that resemble a misspelt one, as a part of a message.

    >>> did_you_mean("Speceis", ["length", "species"])
    " (did you mean 'species'?)"
    """
    by_folded_name = {known.casefold(): known for known in names}
    close = [by_folded_name[found] for found in get_close_matches(name.casefold(), by_folded_name, n=most)]
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def name_place(error: Exception, place: str) -> None:
    """Begin an error's message with a place; where the message is not the error's first argument, add a note.

    >>> error = ValueError("Input X contains NaN.")
    >>> name_place(error, "block 7")
    >>> error
    ValueError('block 7: Input X contains NaN.')
    """
    start, before = f"{place}: ", error.args
    if str(error).startswith(start):
        return
    if before and str(error) == before[0]:
        error.args = (start + before[0], *before[1:])
    if not str(error).startswith(start):
        error.args = before
        if f"in {place}" not in getattr(error, "__notes__", ()):
            error.add_note(f"in {place}")


@contextmanager
def advising(advice: str, about: str = "") -> Iterator[None]:
    """End the messages of errors in the block that contain `about` with advice, once.

    Where the message is not the error's first argument, the advice becomes a note.

    >>> with advising("Ignore them."):
    ...     raise ValueError("Found unknown categories")
    Traceback (most recent call last):
    ...
    ValueError: Found unknown categories. Ignore them.
    """
    try:
        yield
    except Exception as error:
        message = str(error)
        if about in message and advice[1:] not in message and advice not in getattr(error, "__notes__", ()):
            if error.args and message == error.args[0]:
                error.args = (f"{message.rstrip('.')}. {advice[0].upper()}{advice[1:]}", *error.args[1:])
            else:
                error.add_note(advice)
        raise


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Name a place in errors that are raised in the block."""
    try:
        yield
    except Exception as error:
        name_place(error, place)
        raise


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if the block fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def refuse_multilabel(y: Any) -> None:
    """Refuse targets with several labels per sample: indicators, other matrices, and sequences of lists or sets."""
    shape: Sequence[Any] = getattr(y, "shape", ())
    width = shape[1] if len(shape) == 2 else 1
    has_objects = getattr(getattr(y, "dtype", None), "kind", "") == "O" and not hasattr(y, "__dask_graph__")
    if isinstance(y, list | tuple) or has_objects:
        width = max((len(label) for label in y if isinstance(label, list | tuple | set | frozenset)), default=width)
    if width != 1:
        raise ValueError(
            "y must have one class per sample, got a multilabel or multioutput target; "
            "sklearn.multioutput.MultiOutputClassifier fits one classifier per label"
        )


def refuse_other_arrays(**arrays: Any) -> None:
    """Refuse arrays of other libraries where scikit-learn is set to dispatch to them; it converts them otherwise."""
    import numpy as np
    from sklearn import get_config

    for name, array in arrays.items():
        if isinstance(array, np.ndarray | np.generic) or not get_config()["array_api_dispatch"]:
            continue
        if hasattr(array, "__array_namespace__") or hasattr(array, "__dlpack__"):
            kind = f"{type(array).__module__.partition('.')[0]}.{type(array).__name__}"
            raise TypeError(
                f"{name} must be a NumPy array, a sparse matrix or a frame where array_api_dispatch is enabled, got "
                f"{kind}: output codes are computed by NumPy, as scikit-learn's multiclass meta-estimators are. "
                f"Pass numpy.asarray({name}) of an array in main memory"
            )


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module for a purpose, or raise an ImportError that names the extra which installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "scikit-ecoc[{extra}]"') from error
