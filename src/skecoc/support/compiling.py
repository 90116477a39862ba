"""Decorators for compiled loops, and notices of work that takes long, such as compilation.

Compiled code is cached on disk for each combination of array types. Array expressions, methods such as ``max`` and
slices take many times longer to compile than loops, and an inlined function is optimised again in each function that
contains it. So kernels are plain loops, and an argument always has the same array type.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_watchers: list[Callable[[str], None]] = []


@contextmanager
def notices_shown(show: Callable[[str], None]) -> Iterator[None]:
    """Call a function with each notice that is given inside the block; the command line prints them."""
    _watchers.append(show)
    try:
        yield
    finally:
        _watchers.remove(show)


def give_notice(message: str) -> None:
    """Pass a notice to whoever shows notices."""
    for show in _watchers:
        show(message)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, cache it on disk, and release the GIL while it runs."""
    from numba import njit  # takes a third of a second, which the command line's --help does without

    _listener()
    return njit(function, cache=True, nogil=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of each kernel that calls it, where that is faster than compiling it separately."""
    from numba import njit

    _listener()
    return njit(function, cache=True, nogil=True, inline="always")


def seconds_of_compilation() -> float:
    """Return the processor time that this process has spent on compilation."""
    return float(_listener().seconds)


@cache
def _listener() -> Any:
    """Listen to numba's compilations; code that is read from disk causes no event."""
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.seconds = 0.0
            self._begun: list[float] = []  # of unfinished compilations: one may start others
            self._has_told = False

        def on_start(self, event: Any) -> None:
            self._begun.append(time.process_time())
            if not self._has_told and event.data["dispatcher"].py_func.__module__.startswith("skecoc."):
                self._has_told = True
                give_notice("compiling, once: about 5 to 10 s")

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            begin = self._begun.pop()
            if not self._begun:
                self.seconds += time.process_time() - begin

    listener = Listener()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    return listener
