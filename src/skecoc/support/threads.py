"""How many threads compiled libraries take: where several things run at once, or samples are few, one each."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


def thread_pools() -> ThreadpoolController:
    """Find the libraries of this process that have threads; they are looked for again when modules were imported."""
    return _thread_pools(len(sys.modules))


class _Limit:
    """One thread for linear algebra from the first that wants it until the last: its limit is that of the process."""

    def __init__(self) -> None:
        self._lock, self._n_users = Lock(), 0
        self._limited: Any = None

    def enter(self) -> None:
        """Set the limit, unless someone else has."""
        with self._lock:
            self._n_users += 1
            if self._n_users == 1:
                self._limited = thread_pools().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        """Lift the limit, unless someone else still wants it."""
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limited.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let compiled libraries use one thread; safe where several threads want that at the same time."""
    _LIMIT.enter()
    try:
        with thread_pools().limit(limits=1, user_api="openmp"):  # OpenMP has a limit for each thread that calls it
            yield
    finally:
        _LIMIT.leave()


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """Find the libraries that so many modules have loaded."""
    del n_modules
    return ThreadpoolController()
