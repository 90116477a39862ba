"""Run an experiment: batch by batch, several at a time, into a store, to be resumed at any moment."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from tqdm import tqdm

from skecoc.cli.plugins import InputError
from skecoc.compare import DataSet, load_data_sets
from skecoc.compare.experiments import (
    Batch,
    BatchOutcome,
    check_data_set,
    interrupts_remembered,
    make_learner,
    results_of,
    run_batch,
)
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.store import CLAIM_SECONDS, Store

#: A batch is given up if worker processes died so often while it was in flight.
MOST_DEATHS = 3

#: How long to wait before looking again for batches that other processes have claimed.
_POLL_SECONDS = 2.0
#: How long to wait for the scheduler of a cluster.
_CONNECT_SECONDS = 20
#: A delay that keeps the progress bar from being drawn while it is made: a Ctrl-C then would leave half a bar behind.
_DRAWN_LATER = 1e-9
#: Seconds that every batch takes, whatever its size.
_LEAST_SECONDS = 0.04

#: Batches of one kind take about the same time: data set, learner and coding.
Kind = tuple[str, str, str]


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
    the results are the same. It returns when all of them are there, also those that other processes work on. A worker
    process that dies costs the batches in flight, which are run again. With a client of a Dask cluster, batches are run
    on all its threads in place of `n_jobs`; only this process needs the store.
    """
    data_sets = load_data_sets(protocol.data_sets)
    notes = [note for data_set in data_sets for note in check_data_set(data_set, protocol.n_folds)]
    store.begin(protocol, _settings(protocol, data_sets), notes, allow_mixed=allow_mixed)
    queue = _Queue(protocol, store, Clock(data_sets, store))
    n_workers = effective_n_jobs(n_jobs) if client is None else _n_threads(client)
    layout = "{l_bar}{bar}| {n_fmt}/{total_fmt} runs [{elapsed}{postfix}]"
    with (
        _claims_kept(store),
        interrupts_remembered() as check_interrupt,
        tqdm(total=queue.n_runs, disable=not show_progress, bar_format=layout, delay=_DRAWN_LATER) as bar,
    ):
        bar.refresh()

        def save(outcome: BatchOutcome) -> None:
            check_interrupt()
            queue.save(outcome)
            seconds_left = queue.clock.seconds(queue.kinds) / n_workers
            bar.set_postfix_str(f"about {bar.format_interval(seconds_left)} left", refresh=False)
            bar.update(len(outcome.runs))

        while queue.refresh():
            bar.n = queue.n_runs - sum(len(batch.variants) for batch in queue.missing)
            bar.refresh()
            tasks = queue.tasks()
            results = results_of(tasks, n_jobs) if client is None else closing(_results_on_cluster(tasks, client))
            if not _run_claimed(queue, results, save):
                time.sleep(_POLL_SECONDS)  # other processes work on all that is missing
                check_interrupt()


def _kind_of(batch: Batch) -> Kind:
    """Return what the time of a batch depends on most."""
    return batch.data_set, batch.learner, batch.coding


class Clock:
    """Estimates the seconds of batches: measured where possible, guessed from the data's size where not."""

    def __init__(self, data_sets: Iterable[DataSet], store: Store) -> None:
        self._sizes = {data_set.name: (len(data_set.y), len(set(data_set.y.tolist()))) for data_set in data_sets}
        self._counts: Counter[Kind] = Counter()
        self._totals: dict[Kind, float] = {}
        for kind, count, mean in store.seconds_of_batches():
            if kind[0] in self._sizes:
                self._counts[kind], self._totals[kind] = count, count * mean

    def add(self, kind: Kind, seconds: float) -> None:
        """Take the time of a batch into account."""
        self._counts[kind] += 1
        self._totals[kind] = self._totals.get(kind, 0.0) + seconds

    def seconds(self, numbers: Mapping[Kind, int]) -> float:
        """Estimate the seconds of so many batches of each kind, one after the other.

        Kinds without any batch yet are guessed from the size of the data, scaled by what batches of the same learner
        took.
        """
        means = {kind: self._totals[kind] / count for kind, count in self._counts.items()}
        ratios: dict[str, list[float]] = {}
        for kind, mean in means.items():
            ratios.setdefault(kind[1], []).append(mean / self._guess(kind))
        scales = {learner: median(values) for learner, values in ratios.items()}
        return sum(
            number * (means[kind] if kind in means else self._guess(kind) * scales.get(kind[1], 1.0))
            for kind, number in numbers.items()
        )

    def _guess(self, kind: Kind) -> float:
        """Guess the seconds of a batch: a number of columns times the cost of one that uses all rows."""
        data_set, learner, coding = kind
        n_rows, n_classes = self._sizes[data_set]
        # A column of one-vs-one has few rows; a grown code trains many columns, some with and without held-out rows.
        columns = {"one-vs-one": 2, "decoc": 2, "random-10": 10, "ecoc-one": 2 * n_classes, "wolc": 5 * n_classes}
        of_column = 5e-7 * n_rows**2 if learner == "svm" else 2e-6 * n_rows
        return _LEAST_SECONDS + columns.get(coding, n_classes) * of_column


class _Queue:
    """The batches whose results are missing, and those of them that workers of this process run."""

    def __init__(self, protocol: Protocol, store: Store, clock: Clock) -> None:
        self.protocol, self.store, self.clock = protocol, store, clock
        self.missing = list(protocol.batches())
        self.n_runs = sum(len(batch.variants) for batch in self.missing)
        self.kinds: Counter[Kind] = Counter()  # of the missing batches
        self.in_flight: set[str] = set()
        self.deaths: Counter[str] = Counter()
        self.failure: Exception | None = None

    def refresh(self) -> bool:
        """Find the missing batches; the longest come first, which keeps all workers busy to the end."""
        done = self.store.done()
        self.in_flight = set()
        left = []
        for batch in self.missing:
            pairs = zip(batch.variants, batch.keys, strict=True)
            variants = tuple(variant for variant, key in pairs if key not in done)
            left += [replace(batch, variants=variants)] if variants else []
        self.missing = left
        self.kinds = Counter(map(_kind_of, self.missing))
        seconds = {kind: self.clock.seconds({kind: 1}) for kind in self.kinds}
        self.missing.sort(key=lambda batch: seconds[_kind_of(batch)], reverse=True)
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
                self.in_flight.add(batch.name)
                yield delayed(_run_shipped)(batch, self.protocol.n_folds, self.protocol.seed)

    def save(self, outcome: BatchOutcome) -> None:
        """Put the results of a batch into the store."""
        self.store.save(outcome)
        self.in_flight.remove(outcome.batch.name)
        kind = _kind_of(outcome.batch)
        self.kinds[kind] -= 1
        self.clock.add(kind, outcome.seconds)

    def count_death(self) -> None:
        """Note that a worker died; refuse to go on if that happened too often to the same batches."""
        self.deaths.update(self.in_flight)
        given_up = sorted(name for name, count in self.deaths.items() if count >= MOST_DEATHS)
        if given_up:
            raise InputError(
                f"worker processes died {MOST_DEATHS} times, perhaps because of too little memory, while running: "
                f"{', '.join(given_up)}; the results up to now are kept"
            )


def _run_claimed(
    queue: _Queue, results: AbstractContextManager[Iterator[BatchOutcome]], save: Callable[[BatchOutcome], None]
) -> bool:
    """Run all batches that can be claimed, until a worker dies; tell whether there was anything to do."""
    anything = False
    try:
        with results as outcomes:
            for outcome in outcomes:
                save(outcome)
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


def _settings(protocol: Protocol, data_sets: Sequence[DataSet]) -> dict[str, str]:
    """Name what decides on a result besides the identity of the run, so that other results are not comparable."""
    learners = dict.fromkeys(learner for learner, _ in protocol.settings)
    return {
        "n_folds": str(protocol.n_folds),
        "seed": str(protocol.seed),
        **{f"learner {name}": " ".join(repr(make_learner(name)).split()) for name in learners},
        **{f"data set {data_set.name}": _checksum(data_set) for data_set in data_sets},
    }


def _checksum(data_set: DataSet) -> str:
    digest = blake2b(np.ascontiguousarray(data_set.X, dtype=np.float64).tobytes(), digest_size=8)
    digest.update("\n".join(map(str, data_set.y.tolist())).encode())
    return digest.hexdigest()


class Status(NamedTuple):
    """How far an experiment is: runs done and in total, by learner, response and data set."""

    counts: dict[tuple[str, str, str], tuple[int, int]]
    seconds_left: float  # of one worker


def status(protocol: Protocol, store: Store) -> Status:
    """Tell how far an experiment is."""
    done = store.done()
    clock = Clock(load_data_sets(protocol.data_sets), store)
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    missing: Counter[Kind] = Counter()
    for batch in protocol.batches():
        for key in batch.keys:
            kind = key.learner, key.response, key.data_set
            n_done, n_total = counts.get(kind, (0, 0))
            counts[kind] = n_done + (key in done), n_total + 1
        missing[_kind_of(batch)] += not done.issuperset(batch.keys)
    return Status(counts, clock.seconds(missing))


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler of a Dask cluster, at an address such as ``tcp://10.0.0.1:8786``."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--backend dask needs Dask: pip install 'scikit-ecoc[dask]'") from error
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"--scheduler: no Dask scheduler found at '{address}'") from error
    with client:
        yield client


def _results_on_cluster(tasks: Iterator[Any], client: Any) -> Generator[Any]:
    """Run calls delayed by joblib, one per thread of the cluster; those that are not done when closed are cancelled."""
    from distributed import CancelledError, as_completed
    from distributed.comm import CommClosedError

    def submit(task: Any) -> Any:
        function, arguments, keywords = task
        return client.submit(function, *arguments, **keywords, pure=False)

    address = client.scheduler.address
    running: Any = as_completed([submit(task) for task in islice(tasks, _n_threads(client))], loop=client.loop)
    try:
        for future in running:
            yield future.result()
            running.update([submit(task) for task in islice(tasks, 1)])
    except (CancelledError, CommClosedError) as error:
        raise InputError(f"lost the Dask scheduler at '{address}'; the results up to now are kept") from error
    finally:
        running.clear()


def _n_threads(client: Any) -> int:
    """Return how many tasks a cluster runs at the same time, at least 1: workers may still be coming."""
    return max(1, sum(client.nthreads().values()))
