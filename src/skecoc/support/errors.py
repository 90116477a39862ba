"""Errors that say what was expected: bad input, unknown names, missing extras."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

# Classifiers that have a twin for Dask collections.
_ON_CLUSTERS = {"ECOCClassifier", "WOLCClassifier"}


class InputError(ValueError):
    """The request or the data is at fault, not the program; the message says what was expected and names the argument.

    The command line shows its message as one line. Every other exception is a defect and keeps its traceback.
    """


def resolve_name(argument: str, name: object, table: Mapping[str, T]) -> T:
    """Look a name up in a table, or raise a ValueError that lists the names the argument takes."""
    if not isinstance(name, str) or name not in table:
        valid = ", ".join(repr(key) for key in sorted(table))
        raise ValueError(f"{argument}={name!r} is not known; expected one of {valid}")
    return table[name]


def spell_out(names: Sequence[Any], most: int = 5) -> str:
    """Join names, the first few only.

    >>> spell_out(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def did_you_mean(name: str, names: Iterable[str], most: int = 3) -> str:
    """Suggest names that resemble a misspelt one, whatever their case, as a part of a message.

    >>> did_you_mean("Speceis", ["length", "species"])
    " (did you mean 'species'?)"
    """
    by_folded_name = {known.casefold(): known for known in names}
    close = [by_folded_name[found] for found in get_close_matches(name.casefold(), by_folded_name, n=most)]
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def name_place(error: Exception, place: str) -> None:
    """Begin an error's message with a place, or note it where the message is made of other things than one string.

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
def naming(place: str) -> Iterator[None]:
    """Name a place in errors that are raised there."""
    try:
        yield
    except Exception as error:
        name_place(error, place)
        raise


def refuse_lazy_frame(estimator: object, X: Any) -> None:
    """Refuse a Dask frame, which cannot be indexed by samples, and say which classifier takes it."""
    if hasattr(X, "__dask_graph__") and hasattr(X, "columns"):
        name = type(estimator).__name__.removeprefix("Block")
        twin = f", skecoc.dask.Dask{name} fits and predicts where it is" if name in _ON_CLUSTERS else ""
        raise ValueError(f"X must be in memory, got a Dask {type(X).__name__}: X.compute() puts it there{twin}")


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module for a purpose, or raise an ImportError that names the extra which installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "scikit-ecoc[{extra}]"') from error
