"""Notices of work that takes long, such as compilation, which the command line shows."""

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
    """Show a notice, where notices are shown."""
    for show in _watchers:
        show(message)
