"""Turn a name such as ``"one-vs-one"`` into what it stands for."""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def resolve_name(argument: str, name: object, table: Mapping[str, T]) -> T:
    """Look a name up in a table, or say which names the argument takes.

    Parameters
    ----------
    argument : str
        The argument that holds the name, for the error message.
    name : object
        The name to look up; anything but a string is not known either.
    table : mapping of str to object
        What each valid name stands for.

    Returns
    -------
    object
        ``table[name]``.

    Raises
    ------
    ValueError
        If the table has no such name; the message lists the valid ones.

    Examples
    --------
    >>> resolve_name("coding", "a", {"a": 1, "b": 2})
    1
    >>> resolve_name("coding", "c", {"a": 1, "b": 2})
    Traceback (most recent call last):
    ...
    ValueError: coding='c' is not known; expected one of 'a', 'b'
    """
    if not isinstance(name, str) or name not in table:
        valid = ", ".join(repr(key) for key in sorted(table))
        raise ValueError(f"{argument}={name!r} is not known; expected one of {valid}")
    return table[name]
