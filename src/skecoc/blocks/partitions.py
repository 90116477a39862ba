"""Blocks of rows on a Dask cluster: what `skecoc.blocks` needs to know of Dask, and all of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, cast

import dask.array as da
import distributed
import numpy as np
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed.comm import CommClosedError

import dask
from skecoc.blocks.rows import RawBlock
from skecoc.support.executor import FAN_IN, Blocks, Executor, Merge, add, merge_in_turn

# A message of up to so many bytes goes with every task; a longer one is a task of its own.
_SMALL = 10_000
# What a client raises when its scheduler has gone.
_LOST = (CommClosedError, distributed.CancelledError, TimeoutError, OSError)


class DaskBlocks(Blocks):
    """States on a cluster: futures, or Delayed for what has not been computed yet, and the workers they live at."""

    handles: list[Any]

    def __init__(self, handles: list[Any], homes: list[str | None]) -> None:
        super().__init__(handles)
        self.homes = homes


class DaskExecutor(Executor):
    """Applies functions to blocks where they live: on the workers of a Dask cluster.

    Dask remembers how each state was computed, so that it can do so again if a worker is lost. Left to itself it would
    rather move a large state to a worker that is idle for a moment; so every task is sent to the worker of its block,
    and goes elsewhere only if that is gone.
    """

    def __init__(self, client: distributed.Client) -> None:
        self._client = client

    def map(self, function: Callable[..., Any], *states: Blocks, message: tuple[Any, ...] = ()) -> Blocks:
        """Compute new states; see `Executor.map`."""
        with self._scheduler_needed():
            return self._applied(_call, function, states, message)

    def sum(
        self, function: Callable[..., Any], *states: Blocks, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> Any:
        """Merge one summand per block; see `Executor.sum`."""
        with self._scheduler_needed():
            if _is_computed(states):
                return self._merged(merge, self._applied(_call, function, states, message).handles)
            # In one graph, so that what is read is forgotten before more is read.
            return self._client.compute(merged(merge, _graph(_call, function, states, message))).result()

    def step(
        self, function: Callable[..., Any], *states: Blocks, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> tuple[Blocks, Any]:
        """Compute new states and merge one summand per block; see `Executor.step`."""
        with self._scheduler_needed():
            steps = self._applied(_call_step, function, states, message)
            # Only summands must travel, and only they are what is merged.
            return steps, self._merged(merge, self._applied(_take_summand, _itself, [steps], ()).handles)

    def _applied(
        self,
        task: Callable[..., Any],
        function: Callable[..., Any],
        states: Sequence[Blocks],
        message: tuple[Any, ...],
    ) -> DaskBlocks:
        """Compute a task for each block."""
        if not _is_computed(states):
            futures = self._client.compute(_graph(task, function, states, message))
            for future in futures:
                future.exception()  # waits until it is computed
            where = self._client.who_has(futures)
            return DaskBlocks(futures, [next(iter(where.get(future.key, ())), None) for future in futures])
        first = cast("DaskBlocks", states[0])
        shared = message if sizeof(message) <= _SMALL else self._client.submit(_itself, message, pure=False)
        handles: list[Any] = [None] * len(first.handles)
        for home in dict.fromkeys(first.homes):
            blocks = [number for number, place in enumerate(first.homes) if place == home]
            arguments = [[cast("DaskBlocks", state).handles[number] for number in blocks] for state in states]
            place = {} if home is None else {"workers": [home], "allow_other_workers": True}
            common = [[function] * len(blocks), [shared] * len(blocks)]
            futures = self._client.map(task, *common, *arguments, pure=False, **place)
            for number, future in zip(blocks, futures, strict=True):
                handles[number] = future
        return DaskBlocks(handles, first.homes)

    def _merged(self, merge: Merge, summands: Sequence[Any]) -> Any:
        """Merge summands in a tree, on the cluster, and fetch the result."""
        level = list(summands)
        while True:
            groups = [(merge, level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
            level = self._client.map(_merge_group, *zip(*groups, strict=True), pure=False)
            if len(level) == 1:
                return level[0].result()

    @contextmanager
    def _scheduler_needed(self) -> Iterator[None]:
        """Turn the many errors that a lost scheduler causes into one that says so."""
        try:
            yield
        except _LOST as error:
            if isinstance(error, distributed.CancelledError) or self._client.status != "running":
                address = getattr(self._client.scheduler, "address", "an unknown address")
                raise ConnectionError(
                    f"lost the Dask scheduler at {address} during fit; start a cluster, connect a new client to it, "
                    "and fit again"
                ) from error
            raise


class _Step(NamedTuple):
    """What a step makes of a block."""

    state: Any
    summand: Any


def _is_computed(states: Sequence[Blocks]) -> bool:
    """Tell whether states are on the cluster already."""
    return not any(isinstance(handle, Delayed) for blocks in states for handle in islice(blocks.handles, 1))


def _graph(
    task: Callable[..., Any], function: Callable[..., Any], states: Sequence[Blocks], message: tuple[Any, ...]
) -> list[Delayed]:
    """Return the calls of a task for each block, not computed yet; the message travels once to each worker."""
    call = dask.delayed(task, pure=False, traverse=False)
    shared = dask.delayed(message, traverse=False)
    blocks = zip(*(blocks.handles for blocks in states), strict=True)
    return [call(function, shared, *handles) for handles in blocks]


def _itself(value: Any) -> Any:
    """Return a value: the task that a message is, so that it can be computed again if its worker is lost."""
    return value


def _call(function: Callable[..., Any], message: tuple[Any, ...], *states: Any) -> Any:
    """Call a function of blocks."""
    return function(*(state.state if isinstance(state, _Step) else state for state in states), *message)


def _call_step(function: Callable[..., Any], message: tuple[Any, ...], *states: Any) -> _Step:
    """Call a function of blocks that returns a state and a summand."""
    return _Step(*_call(function, message, *states))


def _take_summand(function: Callable[..., Any], message: tuple[Any, ...], step: _Step) -> Any:
    """Call a function of a step's summand."""
    return function(step.summand, *message)


def merged(merge: Merge, summands: Sequence[Delayed]) -> Delayed:
    """Merge at least one summand, in the order of the blocks, in a tree on the cluster; not computed yet."""
    level = list(summands)
    call = dask.delayed(_merge_group, pure=False)
    while True:
        level = [call(merge, level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
        if len(level) == 1:
            return level[0]


def _merge_group(merge: Merge, summands: Sequence[Any]) -> Any:
    """Merge some summands. The first may be changed by that, which belongs to another task: take a copy."""
    return merge_in_turn(merge, map(_copied, summands))


def _copied(value: Any) -> Any:
    """Copy arrays, also in tuples."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def source_of(X: Any, y: Any, weight: Any = None) -> DaskBlocks:
    """Make blocks of Dask collections; labels and weights are divided as X is, or can be divided so."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, got shape {X.shape}")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    elif not hasattr(X, "to_delayed"):
        raise ValueError(f"X must be a Dask array or DataFrame, got {type(X).__name__}")
    sizes = X.chunks[0] if isinstance(X, da.Array) else None
    parts = [_partitions("X", X)]
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is not None:
            parts.append(_partitions(name, _divided_like(name, values, sizes)))
            if len(parts[-1]) != len(parts[0]):
                raise ValueError(f"{name} must have as many partitions as X: got {len(parts[-1])} and {len(parts[0])}")
    make = dask.delayed(RawBlock, pure=False, traverse=False)
    return DaskBlocks([make(*block) for block in zip(*parts, strict=True)], [None] * len(parts[0]))


def _divided_like(name: str, values: Any, sizes: tuple[float, ...] | None) -> Any:
    """Divide an array of one value per row as the rows are divided, if their numbers are known."""
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} must be one-dimensional, got {values.ndim} dimensions")
    if sizes is None or np.isnan(sizes).any() or (hasattr(values, "npartitions") and not isinstance(values, da.Array)):
        return values
    if not isinstance(values, da.Array):
        values = da.from_array(np.asarray(values), chunks=-1)
    if np.isnan(values.shape).any():
        return values
    if values.shape != (sum(sizes),):
        raise ValueError(f"{name} must have shape ({sum(sizes)},), got {values.shape}")
    return values.rechunk((sizes,))


def _partitions(name: str, collection: Any) -> list[Delayed]:
    """List the partitions of a collection."""
    if not hasattr(collection, "to_delayed"):
        raise ValueError(f"{name} must be a Dask collection, got {type(collection).__name__}")
    return list(np.ravel(collection.to_delayed()))


def is_dask(X: Any) -> bool:
    """Tell whether something is a Dask collection."""
    return bool(dask.is_dask_collection(X))
