"""How a function is applied to all blocks of samples: to those in files, or on a cluster.

A pure function gets the state of one block and a small message, and returns a new state, a small summand, or both;
summands are merged in a tree whose shape depends on the number of blocks alone.
"""

import pickle
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Self
from weakref import finalize

from joblib import Parallel, delayed, effective_n_jobs

#: Number of summands that are merged at once.
FAN_IN = 8

Merge = Callable[[Any, Any], Any]


def add(first: Any, second: Any) -> Any:
    """Add two summands: numbers, arrays, or tuples of them.

    >>> add((1, 2.5), (10, 0.5))
    (11, 3.0)
    """
    if isinstance(first, tuple):
        return tuple(add(a, b) for a, b in zip(first, second, strict=True))
    return first + second


def merge_in_turn(merge: Merge, summands: Iterable[Any]) -> Any:
    """Merge summands from the first to the last; None stands for nothing."""
    merged = None
    for summand in summands:
        if merged is None:
            merged = summand
        elif summand is not None:
            merged = merge(merged, summand)
    return merged


def merge_tree(merge: Merge, summands: Iterable[Any]) -> Any:
    """Merge summands in groups of `FAN_IN`, the results again, and so on, holding no more than one per level.

    >>> merge_tree(lambda a, b: f"({a}{b})", "abcdefghij")
    '((((((((ab)c)d)e)f)g)h)(ij))'
    """
    merged: list[Any] = [None]  # so far, level by level
    counts = [0]
    for summand in summands:
        merged[0], counts[0] = merge_in_turn(merge, [merged[0], summand]), counts[0] + 1
        for level in range(len(counts)):
            if counts[level] < FAN_IN:
                break
            if level + 1 == len(counts):
                merged.append(None)
                counts.append(0)
            merged[level + 1] = merge_in_turn(merge, [merged[level + 1], merged[level]])
            counts[level + 1] += 1
            merged[level], counts[level] = None, 0
    total = None
    for level in merged:
        total = merge_in_turn(merge, [level, total])
    return total


class States:
    """The states of all blocks at one moment of a fit; what the handles are is known to the executor alone."""

    def __init__(self, handles: Iterable[Any]) -> None:
        self.handles = handles


class Executor(ABC):
    """Applies functions to the states of all blocks."""

    #: Bytes that a summand should not exceed: several are held until they are merged.
    largest_summand = 2**25

    def map(self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = ()) -> States:
        """Return the new states ``function(*states_of_a_block, *message)``."""
        return self.step(lambda *arguments: (function(*arguments), None), *states, message=message)[0]

    def sum(
        self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> Any:
        """Merge ``function(*states_of_a_block, *message)`` over all blocks; None stands for nothing."""
        return self.step(lambda *arguments: (None, function(*arguments)), *states, message=message, merge=merge)[1]

    @abstractmethod
    def step(
        self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> tuple[States, Any]:
        """Compute new states and merge summands, from a function that returns both for a block."""


class LocalExecutor(Executor):
    """Keeps the states of blocks in files of a temporary folder and works on a few blocks at a time, in threads."""

    def __init__(self, directory: Any = None, n_jobs: int | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="skecoc-", dir=directory, ignore_cleanup_errors=True)
        self._numbers = count()
        self.n_jobs = n_jobs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def step(
        self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> tuple[States, Any]:
        """Compute new states and merge one summand per block; see `Executor.step`."""
        blocks = zip(*(part.handles for part in states), strict=True)
        if effective_n_jobs(self.n_jobs) == 1:
            results = (self._step_block(function, handles, message) for handles in blocks)
        else:
            # Each thread takes one block at a time, so that no more than twice as many are held as there are threads.
            threads = Parallel(
                n_jobs=self.n_jobs, require="sharedmem", return_as="generator", batch_size=1, pre_dispatch="n_jobs"
            )
            results = threads(delayed(self._step_block)(function, handles, message) for handles in blocks)
        new_handles: list[Any] = []

        def summands() -> Iterator[Any]:
            for handle, summand in results:
                new_handles.append(handle)
                yield summand

        total = merge_tree(merge, summands())
        return States(new_handles), total

    def _step_block(
        self, function: Callable[..., Any], handles: tuple[Any, ...], message: tuple[Any, ...]
    ) -> tuple[Any, Any]:
        """Compute and store a new state, if there is one, and compute a summand."""
        # Blocks of the user are not stored.
        states = [handle.load() if isinstance(handle, _Stored) else handle for handle in handles]
        state, summand = function(*states, *message)
        if state is not None:
            state = _Stored(Path(self._folder.name, f"{next(self._numbers)}.state"), state)
        return state, summand


class _Stored:
    """A state in a file that is removed when nothing refers to the state any more."""

    def __init__(self, path: Path, state: Any) -> None:
        self._path = path
        with path.open("wb") as file:
            pickle.dump(state, file, protocol=pickle.HIGHEST_PROTOCOL)
        finalize(self, path.unlink, missing_ok=True)

    def load(self) -> Any:
        with self._path.open("rb") as file:
            return pickle.load(file)  # noqa: S301 (this process has written it)
