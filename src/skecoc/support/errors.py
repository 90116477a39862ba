"""Errors that say what was expected: bad input, unknown names, missing extras."""

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeVar

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


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module for a purpose, or raise an ImportError that names the extra which installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "scikit-ecoc[{extra}]"') from error
