"""Notices of work that takes long: the command line shows them, to everyone else they mean nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_watchers: list[Callable[[str], None]] = []


@contextmanager
def notices_shown(show: Callable[[str], None]) -> Iterator[None]:
    """Call a function with each notice that is given inside the block."""
    _watchers.append(show)
    try:
        yield
    finally:
        _watchers.remove(show)


def give_notice(message: str) -> None:
    """Give a notice to those that want any."""
    for show in _watchers:
        show(message)
