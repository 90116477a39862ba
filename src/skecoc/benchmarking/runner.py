"""Run an experiment: batch by batch, several at a time, into a store, to be resumed at any moment."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from tqdm import tqdm

from skecoc.benchmarking.batch import BatchOutcome, run_batch
from skecoc.benchmarking.cluster import n_threads, results_on_cluster
from skecoc.benchmarking.data import DataSet, check_data_set, load_data_sets
from skecoc.benchmarking.methods import make_learner
from skecoc.benchmarking.protocol import Batch, Protocol
from skecoc.benchmarking.records import RunKey
from skecoc.benchmarking.status import Clock, kind_of
from skecoc.benchmarking.store import CLAIM_SECONDS, Store
from skecoc.support.errors import InputError
from skecoc.support.processes import interrupts_remembered, results_of

#: A batch is given up if worker processes died so often while it was in flight.
MOST_DEATHS = 3

#: How long to wait before looking again for batches that other processes have claimed.
_POLL_SECONDS = 2.0


def run(
    protocol: Protocol,
    store: Store,
    *,
    n_jobs: int | None = None,
    show_progress: bool = False,
    allow_mixed: bool = False,
    client: Any = None,
) -> None:
    """Run what a store lacks of an experiment, and put the results there.

    It may be stopped at any moment and started again, and it may be started in several processes that share the store:
    the results are the same. It returns when all of them are there, also those that other processes are at. A worker
    process that dies costs the batches in flight, which are run again.

    Parameters
    ----------
    protocol : Protocol
        The experiment.
    store : Store
        Where results are looked for and put.
    n_jobs : int, default=None
        How many batches of runs are done at the same time, as joblib understands it; any joblib backend serves.
    show_progress : bool, default=False
        Whether a progress bar with the time left is drawn on standard error.
    allow_mixed : bool, default=False
        Whether results may be added to those of other versions or settings.
    client : distributed.Client, default=None
        A cluster to do the runs, on all its threads in place of `n_jobs`. Only this process needs the store.

    Raises
    ------
    InputError
        If the store was begun with other versions or settings, if it cannot be written, if worker processes keep
        dying, or if the cluster is lost. All results up to then are in the store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> protocol = Protocol("mine", ("iris",), (("stumps", "labels"),), ("one-vs-one/hamming",), 1, 3)
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.sqlite")) as store:
    ...     run(protocol, store)
    ...     [(record.fold, record.n_test) for record in store.read_runs()]
    [(0, 50), (1, 50), (2, 50)]
    """
    data_sets = load_data_sets(protocol.data_sets)
    notes = [note for data_set in data_sets for note in check_data_set(data_set, protocol.n_folds)]
    store.begin(protocol, _settings(protocol, data_sets), notes, allow_mixed=allow_mixed)
    queue = _Queue(protocol, store, Clock(data_sets, store))
    n_workers = effective_n_jobs(n_jobs) if client is None else n_threads(client)
    start = partial(results_of, n_jobs=n_jobs) if client is None else partial(results_on_cluster, client=client)
    with _claims_kept(store), interrupts_remembered() as check_interrupt, _Bar(queue, n_workers, show_progress) as bar:
        while queue.refresh():
            bar.show()
            if not _run_claimed(queue, start, check_interrupt, bar):
                time.sleep(_POLL_SECONDS)  # all that is missing, other processes are at
                check_interrupt()


class _Queue:
    """The batches whose results are missing, and those of them that workers of this process are at."""

    def __init__(self, protocol: Protocol, store: Store, clock: Clock) -> None:
        self.protocol, self.store, self.clock = protocol, store, clock
        self.missing = list(protocol.batches())
        self.n_runs = sum(len(batch.variants) for batch in self.missing)
        self.in_flight: dict[str, Batch] = {}
        self.deaths: Counter[str] = Counter()
        self.failure: Exception | None = None

    def refresh(self) -> bool:
        """Look what is missing, and put the longest batches first, which keeps all workers busy to the end."""
        done = self.store.done()
        kept = [_without(batch, done) for batch in self.missing]
        self.in_flight = {}
        self.missing = [batch for batch in kept if batch.variants]
        kinds = set(map(kind_of, self.missing))
        seconds = {kind: self.clock.seconds(kind) for kind in kinds}
        self.missing.sort(key=lambda batch: seconds[kind_of(batch)], reverse=True)
        return bool(self.missing)

    def tasks(self) -> Iterator[Any]:
        """Claim missing batches one after the other, as workers become free.

        This is called in threads of joblib's, in which an error would be lost: it is left for the main thread.
        """
        for batch in self.missing:
            try:
                is_mine = self.store.claim(batch)
            except InputError as error:
                self.failure = error
                return
            if is_mine:
                self.in_flight[batch.name] = batch
                yield delayed(_run_shipped)(batch, self.protocol.n_folds, self.protocol.seed)

    def save(self, outcome: BatchOutcome) -> None:
        """Put the results of a batch into the store."""
        self.store.save(outcome)
        self.in_flight.pop(outcome.batch.name)
        self.clock.add(kind_of(outcome.batch), outcome.seconds)

    def count_death(self) -> None:
        """Note that a worker died; refuse to go on if that happened too often to the same batches."""
        self.deaths.update(self.in_flight.keys())
        given_up = sorted(name for name, count in self.deaths.items() if count >= MOST_DEATHS)
        if given_up:
            raise InputError(
                f"worker processes died {MOST_DEATHS} times, for want of memory perhaps, while they were at: "
                f"{', '.join(given_up)}; the results up to now are kept"
            )


def _without(batch: Batch, done: set[RunKey]) -> Batch:
    """Leave out the runs of a batch that are done."""
    left = tuple(variant for variant, key in zip(batch.variants, batch.keys, strict=True) if key not in done)
    return replace(batch, variants=left)


def _run_claimed(
    queue: _Queue,
    start: Callable[[Iterator[Any]], AbstractContextManager[Iterator[Any]]],
    check_interrupt: Callable[[], None],
    bar: "_Bar",
) -> bool:
    """Run all batches that can be claimed, until a worker dies; tell whether there was anything to do."""
    anything = False
    try:
        with start(queue.tasks()) as outcomes:
            for outcome in outcomes:
                check_interrupt()
                queue.save(outcome)
                bar.advance(outcome)
                anything = True
    except BrokenExecutor:
        queue.count_death()
        return True
    if queue.failure is not None:
        raise queue.failure
    return anything


def _run_shipped(batch: Batch, n_folds: int, seed: int) -> BatchOutcome:
    """Run a batch on a shipped data set, which every worker process loads for itself."""
    return run_batch(batch, _shipped(batch.data_set), make_learner(batch.learner), n_folds, seed)


@cache
def _shipped(name: str) -> DataSet:
    """Load a shipped data set once per process."""
    return load_data_sets([name])[0]


@contextmanager
def _claims_kept(store: Store) -> Iterator[None]:
    """Show other processes that this one is alive while the block runs, and give up its claims afterwards."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(CLAIM_SECONDS / 6):
            with suppress(InputError):  # if the store cannot be written, saving is what has to say so
                store.renew_claims()

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(InputError):  # nobody respects the claims of a process that has ended
            store.release_claims()


class _Bar:
    """A progress bar of runs. Its time left is that of the missing batches: the longest come first."""

    def __init__(self, queue: _Queue, n_workers: int, show: bool) -> None:
        self._queue = queue
        self._n_workers = n_workers
        self._kinds: Counter[tuple[str, str, str]] = Counter()
        layout = "{l_bar}{bar}| {n_fmt}/{total_fmt} runs [{elapsed}{postfix}]"
        self._bar = tqdm(total=queue.n_runs, disable=not show, bar_format=layout)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self) -> None:
        """Count anew what is done and what is missing; other processes may have done some of it."""
        self._kinds = Counter(map(kind_of, self._queue.missing))
        self._bar.n = self._queue.n_runs - sum(len(batch.variants) for batch in self._queue.missing)
        self._bar.refresh()

    def advance(self, outcome: BatchOutcome) -> None:
        """Count a batch as done."""
        self._kinds[kind_of(outcome.batch)] -= 1
        left = self._queue.clock.seconds_of_all(self._kinds) / self._n_workers
        self._bar.set_postfix_str(f"about {tqdm.format_interval(left)} left", refresh=False)
        self._bar.update(len(outcome.runs))


def _settings(protocol: Protocol, data_sets: Sequence[DataSet]) -> dict[str, str]:
    """Name what decides on a result besides what the run is, so that other results are not comparable."""
    learners = dict.fromkeys(learner for learner, _ in protocol.settings)
    return {
        "n_folds": str(protocol.n_folds),
        "seed": str(protocol.seed),
        **{f"learner {name}": " ".join(repr(make_learner(name)).split()) for name in learners},
        **{f"data set {data_set.name}": _checksum(data_set) for data_set in data_sets},
    }


def _checksum(data_set: DataSet) -> str:
    """Hash rows and labels."""
    digest = blake2b(np.ascontiguousarray(data_set.X, dtype=np.float64).tobytes(), digest_size=8)
    digest.update("\n".join(map(str, data_set.y.tolist())).encode())
    return digest.hexdigest()
