"""Errors that say what was expected: bad input, unknown names, missing extras."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


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


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module for a purpose, or raise an ImportError that names the extra which installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "scikit-ecoc[{extra}]"') from error
