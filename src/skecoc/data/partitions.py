"""Partitions of a Dask cluster: functions applied to them, and predictions for Dask collections."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple, Self, cast
from weakref import WeakSet

import distributed
import numpy as np
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed.comm import CommClosedError
from numpy.typing import NDArray

import dask
from skecoc.data.blocks import RawBlock
from skecoc.data.executor import FAN_IN, Executor, Merge, States, add, merge_in_turn
from skecoc.data.worker_memory import largest_summand
from skecoc.support.errors import name_place, naming, spell_out

# A message of at most this many bytes is sent with every task; a longer one is a task of its own.
_SMALL = 10_000
# The error of a partition may arrive this much later than that of the sum that it belongs to.
_NEWS_SECONDS = 0.5
# Workers are checked this often while a fit waits for a result, and may all be paused or lost for this long. As checks
# are ten seconds apart, a fit that waits in vain ends within a minute.
_LOOK_SECONDS, _PATIENCE_SECONDS = 10.0, 45.0
# What a client raises if its scheduler is lost.
_LOST = (CommClosedError, distributed.CancelledError, TimeoutError, OSError)


class DaskStates(States):
    """States on a cluster: futures, or Delayed for what has not been computed yet, and the workers they live at."""

    handles: list[Any]

    def __init__(self, handles: list[Any], homes: list[str | None]) -> None:
        super().__init__(handles)
        self.homes = homes


class DaskExecutor(Executor):
    """Applies functions to blocks where they live: on the workers of a Dask cluster.

    Dask remembers how each state was computed, so that it can do so again if a worker is lost. Left to itself it would
    rather move a large state to a worker that is idle for a moment; so every task is sent to the worker of its block,
    and to another one only if that worker is lost.

    It is a context: if a fit ends by an error or an interrupt, what was still to be computed is given up.
    """

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        workers = self.workers()
        self.largest_summand = largest_summand(workers)
        self._had_workers = bool(workers)
        self._homes: set[str] = set()
        self._started: WeakSet[distributed.Future] = WeakSet()
        self._task = ExitStack()
        self._is_told = False

    def __enter__(self) -> Self:
        with suppress(ValueError):  # there is no worker: this is not a task
            distributed.get_worker()
            # In a task, leave its thread to the tasks that this one waits for.
            self._task.enter_context(distributed.worker_client())
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for future in list(self._started):  # the traceback may still refer to them
                with suppress(RuntimeError):  # the client is closed
                    future.release()
        self._task.close()

    def workers(self) -> dict[str, Any]:
        """Return what the scheduler knows of each worker now."""
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])

    def map(self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = ()) -> States:
        """Compute new states; see `Executor.map`."""
        with self._scheduler_needed():
            return self._applied(_call, function, states, message)

    def sum(
        self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> Any:
        """Merge one summand per block; see `Executor.sum`."""
        with self._scheduler_needed():
            if _is_computed(states):
                summands = self._applied(_call, function, states, message).handles
                return self._merged(merge, summands, [summand.key for summand in summands])
            # In one graph, so that partitions are forgotten before more are read. What is kept of each is a task that
            # shows whether it could be computed.
            calls = _graph(_call, function, states, message)
            forget = dask.delayed(_forget, pure=False, traverse=False)
            total, *fates = self._noted(self._client.compute([merged(merge, calls), *map(forget, calls)]))
            return self._fetched(total, [fate.key for fate in fates])

    def step(
        self, function: Callable[..., Any], *states: States, message: tuple[Any, ...] = (), merge: Merge = add
    ) -> tuple[States, Any]:
        """Compute new states and merge one summand per block; see `Executor.step`."""
        with self._scheduler_needed():
            steps = self._applied(_call_step, function, states, message)
            # Only summands are sent to other workers, not the states.
            summands = self._applied(_take_summand, _itself, [steps], ()).handles
            return steps, self._merged(merge, summands, [step.key for step in steps.handles])

    def _applied(
        self,
        task: Callable[..., Any],
        function: Callable[..., Any],
        states: Sequence[States],
        message: tuple[Any, ...],
    ) -> DaskStates:
        """Compute a task for each block."""
        if not _is_computed(states):
            futures = self._noted(self._client.compute(_graph(task, function, states, message)))
            for future in futures:
                if self._awaited(future) is not None:
                    self._fetched(future, [other.key for other in futures])
            where = self._client.who_has(futures)
            homes = [next(iter(where.get(future.key, ())), None) for future in futures]
            self._homes.update(home for home in homes if home is not None)
            return DaskStates(futures, homes)
        first = cast("DaskStates", states[0])
        shared: Any = message
        if sizeof(message) > _SMALL:
            (shared,) = self._noted([self._client.submit(_itself, message, pure=False)])
        handles: list[Any] = [None] * len(first.handles)
        for home in dict.fromkeys(first.homes):
            blocks = [number for number, place in enumerate(first.homes) if place == home]
            arguments = [[cast("DaskStates", state).handles[number] for number in blocks] for state in states]
            place = {} if home is None else {"workers": [home], "allow_other_workers": True}
            common = [[part] * len(blocks) for part in (task, function, shared)]
            futures = self._noted(self._client.map(_call_named, blocks, *common, *arguments, pure=False, **place))
            for number, future in zip(blocks, futures, strict=True):
                handles[number] = future
        return DaskStates(handles, first.homes)

    def _merged(self, merge: Merge, summands: list[Any], keys: list[Any]) -> Any:
        """Merge summands in a tree, on the cluster, and fetch the result; the list of summands is emptied.

        So that a worker does not hold all of them, they are merged as soon as they can be, and then forgotten. The keys
        are those of the blocks' tasks.
        """
        level = summands
        while True:
            groups = [(merge, level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
            merging = self._client.map(_merge_group, *zip(*groups, strict=True), pure=False, priority=1)
            groups.clear()
            level.clear()
            level = self._noted(merging)
            if len(level) == 1:
                return self._fetched(level[0], keys)

    def _noted(self, futures: list[Any]) -> list[Any]:
        self._started.update(futures)
        return futures

    def _fetched(self, future: Any, keys: Sequence[Any]) -> Any:
        """Fetch a result; if that fails, name the partitions whose tasks, by their keys, failed in the same way."""
        seconds = _LOOK_SECONDS
        try:
            while self._awaited(future) is None:
                with suppress(TimeoutError):  # the result is large, or was lost with its worker on the way
                    return future.result(timeout=seconds)
                seconds *= 2
            return future.result()
        except _LOST[:2]:
            raise
        except Exception as error:
            failed = [number for number, key in enumerate(keys) if key == getattr(error, "task", None)]
            failed = failed or _failed_like(error, [distributed.Future(key, self._client) for key in keys])
            is_killed = isinstance(error, distributed.KilledWorker)
            known = _told_of_deaths(error) if is_killed else error
            if failed:
                place = f"partition{'s' if len(failed) > 1 else ''} {spell_out(failed)}"
                # Dask blames all that a worker had still to compute when it died.
                name_place(known, f"{place} or one computed at the same time" if is_killed else place)
            if known is error:
                raise
            raise known from error

    def _awaited(self, future: Any) -> BaseException | None:
        """Wait until a task has ended and return its error, if any; raise an error if it would be waited for in vain.

        A future that is lost with its worker is computed again by Dask, or cancelled if that is impossible. But a
        cluster may give up workers for good, without a word: `distributed.deploy.lost-worker-timeout` after their end.
        And if no worker is running at the moment when a task could start, such as because the others are paused, Dask
        keeps it for the worker that it was sent to: one that is lost is waited for, whoever else comes back.
        If there have not been any workers yet, they may still be to come, such as from a queue: that is a warning.
        """
        last_useful = time.monotonic()
        while True:
            try:
                error: BaseException | None = future.exception(timeout=_LOOK_SECONDS)
            except TimeoutError:
                now, workers = time.monotonic(), self.workers()
                running = {name for name, worker in workers.items() if worker["status"] != "paused"}
                address = self._client.scheduler.address
                self._had_workers = self._had_workers or bool(workers)
                if not self._had_workers and not self._is_told:
                    self._is_told = True
                    warnings.warn(
                        f"the Dask cluster at {address} has no workers: fit waits until there are some",
                        UserWarning,
                        stacklevel=2,
                    )
                missing = self._homes - running
                is_working = bool(running) and (not missing or any(self._client.processing().values()))
                if is_working or not self._had_workers:
                    last_useful = now
                useless = now - last_useful
                if useless <= _PATIENCE_SECONDS:
                    continue
                if running:
                    raise ConnectionError(
                        f"the Dask cluster at {address} has computed nothing for {useless:.0f} s: its tasks were "
                        f"sent to workers that are lost or paused, {spell_out(sorted(missing))}; fit again"
                    ) from None
                if workers:
                    raise MemoryError(
                        f"all workers ({len(workers)}) have been paused for {useless:.0f} s: their memory is "
                        "full of what cannot be moved to disk; give them more memory, or make partitions smaller"
                    ) from None
                raise ConnectionError(
                    f"lost all workers of the Dask cluster at {address} during fit, and none has come back; start "
                    "workers, and fit again"
                ) from None
            else:
                return error

    @contextmanager
    def _scheduler_needed(self) -> Iterator[None]:
        """Turn the various errors of a lost scheduler into a ConnectionError."""
        try:
            yield
        except _LOST as error:
            is_cancelled = isinstance(error, distributed.CancelledError)
            if not is_cancelled and self._client.status == "running":
                raise
            address = getattr(self._client.scheduler, "address", "an unknown address")
            reason = getattr(error, "reason", "no reason given")
            if is_cancelled and self._client.status == "running" and reason != "scheduler-connection-lost":
                raise ConnectionError(
                    f"the tasks of fit were cancelled on the Dask scheduler at {address}: {reason}"
                ) from error
            raise ConnectionError(
                f"lost the Dask scheduler at {address} during fit; start a cluster, connect a new client to it, "
                "and fit again"
            ) from error


class _Step(NamedTuple):
    state: Any
    summand: Any


def _told_of_deaths(error: Any) -> MemoryError:
    """Say what may have killed the workers that tried a task."""
    n_deaths = error.allowed_failures + 1
    how = f"{n_deaths} workers died one after the other" if n_deaths > 1 else "a worker died"
    return MemoryError(
        f"{how} with {error.task} to compute, most likely of too little memory: give workers more memory or fewer "
        "threads, or make partitions smaller; if memory was not short, something that the partition runs ends its "
        "process, which the worker's log may show"
    )


def _failed_like(error: Exception, of_blocks: Sequence[Any]) -> list[int]:
    """List the blocks whose futures have the same error; none if it is not an error of a block."""
    end = time.monotonic() + _NEWS_SECONDS
    while True:
        failed = {number: future.exception() for number, future in enumerate(of_blocks) if future.status == "error"}
        if failed or time.monotonic() > end:
            is_killed = isinstance(error, distributed.KilledWorker)  # its text differs from task to task
            return [
                number
                for number, found in failed.items()
                if type(found) is type(error) and (is_killed or str(found) == str(error))
            ]
        time.sleep(0.01)


def _is_computed(states: Sequence[States]) -> bool:
    return not any(isinstance(handle, Delayed) for blocks in states for handle in islice(blocks.handles, 1))


def _graph(
    task: Callable[..., Any], function: Callable[..., Any], states: Sequence[States], message: tuple[Any, ...]
) -> list[Delayed]:
    """Return the calls of a task for each block, not computed yet; the message is sent once to each worker."""
    call = dask.delayed(task, pure=False, traverse=False)
    shared = dask.delayed(message, traverse=False)
    blocks = zip(*(blocks.handles for blocks in states), strict=True)
    return [call(function, shared, *handles) for handles in blocks]


def _itself(value: Any) -> Any:
    """Return a value; as a task, a message can be computed again if its worker is lost."""
    return value


def _forget(value: Any) -> None:
    """Return nothing: whether this task ends without an error shows whether the value could be computed."""


def _call_named(
    number: int, task: Callable[..., Any], function: Callable[..., Any], message: tuple[Any, ...], *states: Any
) -> Any:
    """Do a task for a block, and name the block in its errors."""
    with naming(f"partition {number}"):
        return task(function, message, *states)


def _call(function: Callable[..., Any], message: tuple[Any, ...], *states: Any) -> Any:
    return function(*(state.state if isinstance(state, _Step) else state for state in states), *message)


def _call_step(function: Callable[..., Any], message: tuple[Any, ...], *states: Any) -> _Step:
    return _Step(*_call(function, message, *states))


def _take_summand(function: Callable[..., Any], message: tuple[Any, ...], step: _Step) -> Any:
    return function(step.summand, *message)


def merged(merge: Merge, summands: Sequence[Delayed]) -> Delayed:
    """Merge at least one summand on the cluster, lazily, in pairs so that few summands wait for others."""
    level = list(summands)
    call = dask.delayed(_merge_group, pure=False)
    while True:
        level = [call(merge, level[first : first + 2]) for first in range(0, len(level), 2)]
        if len(level) == 1:
            return level[0]


def _merge_group(merge: Merge, summands: Sequence[Any]) -> Any:
    """Merge copies of some summands: merging may change the first, which belongs to another task."""
    return merge_in_turn(merge, map(_copied, summands))


def _copied(value: Any) -> Any:
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def source_of(X: Any, y: Any, weight: Any = None) -> DaskStates:
    """Make blocks of Dask collections; labels and weights are divided by samples as X is, if they are not yet."""
    from dask import array as da  # not loaded by workers, which do not need it

    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, got shape {X.shape}")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    elif not hasattr(X, "to_delayed"):
        raise ValueError(
            f"X must be a Dask array or DataFrame if y or sample_weight is a Dask collection, got {type(X).__name__}"
        )
    collections = [X]
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is not None:
            collections.append(_divided_like(name, values, X))
    make = dask.delayed(_raw_block, pure=False, traverse=False)
    blocks = [make(parts, f"partition {number}") for number, parts in enumerate(_partitions(collections))]
    return DaskStates(blocks, [None] * len(blocks))


def _partitions(collections: list[Any]) -> list[Delayed]:
    """List the partitions that collections have in common, each as a tuple; those of one collection as they are.

    Dask puts partitions of a frame together where few of its columns are needed. So frames are optimised together, and
    only in ways that leave their partitions as they are, such as reading no other columns.
    """
    are_frames = [hasattr(collection, "simplify") and not hasattr(collection, "chunks") for collection in collections]
    if all(are_frames):
        X, *others = collections
        settings = {"meta": X._meta, "enforce_metadata": False, "align_dataframes": False}
        return list(X.map_partitions(_together, *others, **settings).simplify().to_delayed(optimize_graph=False))
    listed = [
        _partitions([collection]) if is_frame else np.ravel(collection.to_delayed()).tolist()
        for collection, is_frame in zip(collections, are_frames, strict=True)
    ]
    put_together = dask.delayed(_together, pure=False, traverse=False)
    return [put_together(*parts) for parts in zip(*listed, strict=True)]


def _together(*parts: Any) -> Any:
    """Return the same partition of several collections; that of one as it is."""
    return parts if len(parts) > 1 else parts[0]


def _raw_block(parts: tuple[Any, ...], place: str) -> RawBlock:
    return RawBlock(*parts)._replace(place=place)


def _divided_like(name: str, values: Any, X: Any) -> Any:
    """Divide values, one per row, as X is divided; refuse those that cannot be divided so."""
    from dask import array as da

    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} must be one-dimensional, got {values.ndim} dimensions")
    is_series = hasattr(values, "npartitions") and not isinstance(values, da.Array)
    if isinstance(X, da.Array) and not is_series and not np.isnan(X.chunks[0]).any():
        sizes = X.chunks[0]
        if not isinstance(values, da.Array):
            values = da.from_array(np.asarray(values), chunks=-1)
        if not np.isnan(values.shape).any():
            if values.shape != (sum(sizes),):
                raise ValueError(f"{name} must have shape ({sum(sizes)},), got {values.shape}")
            values = values.rechunk((sizes,))
    if not hasattr(values, "to_delayed"):
        raise ValueError(f"{name} must be a Dask collection, got {type(values).__name__}")
    if values.npartitions != X.npartitions:
        raise ValueError(
            f"{name} must have as many partitions as X: got {values.npartitions} and {X.npartitions}. The columns of "
            "a frame do, unless they are persisted or converted to arrays separately: persist the whole frame"
        )
    return values


def connected(client: distributed.Client | None) -> distributed.Client:
    """Return the client that is given, or else the most recent one."""
    if client is not None:
        if client.status == "closed":
            raise ValueError("client must be connected to a cluster, got one that is closed")
    else:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "samples in Dask collections are fitted on a cluster, and there is no Dask client: create one by "
                "distributed.Client(), pass skecoc.data.Partitions(X, y, client=...), or call compute() of the "
                "collections to fit in memory"
            ) from error
    if client.status == "connecting":
        raise ConnectionError(f"no connection to the Dask scheduler at {client.scheduler.address}: has it ended?")
    return client


def mapped(model: Any, method: str, X: Any, nothing: NDArray[Any], **options: Any) -> Any:
    """Call a method of a fitted classifier for each partition of a Dask collection, lazily.

    `nothing` is what the method returns for no samples: an empty array of the right type and width.
    """
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got {X.ndim} dimension(s)")
    n_features = getattr(model, "n_features_in_", X.shape[1])
    if not np.isnan(X.shape[1]) and X.shape[1] != n_features:
        raise ValueError(f"X must have {n_features} features, as in fit; got {X.shape[1]}")
    task = (dask.delayed(model, traverse=False), method, nothing, options)
    if not hasattr(X, "chunks"):
        meta = _labelled(nothing, X._meta.index[:0], model)
        return X.map_partitions(_evaluated_frame, *task, meta=meta)
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if nothing.ndim == 1:
        return rows.map_blocks(_evaluated_part, *task, drop_axis=1, dtype=nothing.dtype, meta=nothing)
    chunks = (rows.chunks[0], (nothing.shape[1],))
    return rows.map_blocks(_evaluated_part, *task, chunks=chunks, dtype=nothing.dtype, meta=nothing)


def _evaluated_part(X: Any, model: Any, method: str, nothing: NDArray[Any], options: Mapping[str, Any]) -> NDArray[Any]:
    """Call a method of a fitted classifier for the rows of a partition, which may be empty."""
    outputs: NDArray[Any] = getattr(model, method)(X, **options) if X.shape[0] else nothing
    return outputs


def _evaluated_frame(X: Any, model: Any, method: str, nothing: NDArray[Any], options: Mapping[str, Any]) -> Any:
    """Call a method of a fitted classifier for the rows of a frame, and keep their index."""
    return _labelled(_evaluated_part(X, model, method, nothing, options), X.index, model)


def _labelled(outputs: NDArray[Any], index: Any, model: Any) -> Any:
    """Make a Series of one value per row, or a DataFrame with a column per class.

    Labels that are strings have the type of strings, also if there are no rows.
    """
    import pandas as pd

    if outputs.ndim > 1:
        return pd.DataFrame(outputs, index=index, columns=model.classes_)
    labels = [*model.classes_, *outputs[:1000]]  # the label of undecided samples may have another type
    is_text = outputs.dtype.kind in "OU" and all(isinstance(label, str) for label in labels)
    return pd.Series(outputs, index=index, dtype=pd.StringDtype() if is_text else outputs.dtype)


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Compute the accuracy of a fitted classifier on Dask collections."""
    if sample_weight is not None:
        raise ValueError("sample_weight must be None for Dask collections")
    count = dask.delayed(_count_correct, pure=False, traverse=False)
    shared = dask.delayed(model, traverse=False)
    right, total = merged(add, [count(block, shared) for block in source_of(X, y).handles]).compute()
    if total == 0:
        raise ValueError("X must have at least one row, got none")
    return float(right / total)


def _count_correct(block: RawBlock, model: Any) -> tuple[int, int]:
    """Count the rows of a partition that are classified correctly, and all of them."""
    with naming(block.place):
        y = np.asarray(block.y)
        return int((_evaluated_part(block.X, model, "predict", model.classes_[:0], {}) == y).sum()), len(y)
