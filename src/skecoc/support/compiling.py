"""Compiled loops: one decorator for all of them, and a notice when one is really compiled.

Compiled code is kept on disk, so that a kernel is compiled once for each kind of array it is called with. Seconds that
this takes are typing and optimisation, and most are spent on what numba compiles of itself: array expressions, methods
such as ``max`` and slices cost many times what a loop costs, and every version of a function that others contain is
optimised again with each of them. So kernels are plain loops, and arrays of one role always have one type.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from skecoc.support.notices import give_notice


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, keep what is compiled on disk, and release the GIL while it runs."""
    from numba import njit  # takes a third of a second, which the command line's --help does without

    _listener()
    return njit(function, cache=True, nogil=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of the kernel that calls it, where that is faster than to compile it alone first."""
    from numba import njit

    _listener()
    return njit(function, cache=True, nogil=True, inline="always")


def seconds_of_compilation() -> float:
    """Return how long this process has compiled so far, in seconds of the processor."""
    return float(_listener().seconds)


@cache
def _listener() -> Any:
    """Have numba report compilations; what it reads from disk it does not report."""
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.seconds = 0.0
            self._begun: list[float] = []  # when those that are going on began: one may call for others
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
