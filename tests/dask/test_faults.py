"""Whatever fails during a fit: the same result in spite of it, or a clear error and nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import pandas as pd
import pytest

import dask
from dask import dataframe as dd
from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.data import Blocks, Partitions, partitions
from skecoc.data.blocks import IterableBlocks
from skecoc.data.executor import LocalExecutor, States
from skecoc.data.partitions import DaskExecutor, source_of
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier
from tests.grids import few
from tests.reference.blocks import (
    blobs,
    divided,
    ecoc_in_blocks,
    ecoc_in_partitions,
    wolc_in_blocks,
    wolc_in_partitions,
)

X, Y = blobs(300, n_classes=3)
N_PARTS = 3
CODE = (
    ecoc_in_partitions,
    ecoc_in_blocks,
    {"random_state": 0, "estimator": StumpAdaBoostClassifier(4), "max_bins": 256},
)
GROWN = (
    wolc_in_partitions,
    wolc_in_blocks,
    {
        "random_state": 0,
        "estimator": StumpAdaBoostClassifier(3),
        "max_bins": 256,  # trained from sums, although there are few rows
        "init": "one-vs-rest",
        "max_iter": 2,
        "n_pairs": 1,
        "n_regions": 2,
    },
)
N_MOMENTS = 10
CLEANUP_SECONDS = 30


def arrays(n_parts=N_PARTS):
    return da.from_array(X, chunks=(len(X) // n_parts, 5)), da.from_array(Y, chunks=len(X) // n_parts)


def read_by(function, *arguments, n_parts=8):
    """The rows, each partition read by a function of its number and its rows; and their labels."""
    size = len(X) // n_parts
    read = dask.delayed(function, pure=False)
    parts = [read(number, X[number * size :][:size], *arguments) for number in range(n_parts)]
    rows = da.concatenate([da.from_delayed(part, (size, 5), float) for part in parts])
    return rows, da.from_array(Y[: size * n_parts], chunks=size)


def code():
    return CODE[0](**CODE[2])


def wait_until(condition):
    end = time.monotonic() + CLEANUP_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


class _Counting(LocalExecutor):
    """An executor on one machine that counts its steps: there are as many on a cluster."""

    n_steps = 0

    def step(self, *args, **kwargs):
        self.n_steps += 1
        return super().step(*args, **kwargs)


class _Sabotaged(DaskExecutor):
    """An executor that does something when the tasks of a certain step have just been submitted."""

    def __init__(self, client, act, when):
        super().__init__(client)
        self._act, self._left = act, when

    def map(self, *args, **kwargs):
        self._left -= 1
        return super().map(*args, **kwargs)

    def sum(self, *args, **kwargs):
        self._left -= 1
        return super().sum(*args, **kwargs)

    def step(self, *args, **kwargs):
        self._left -= 1
        return super().step(*args, **kwargs)

    def _noted(self, futures):
        noted = super()._noted(futures)
        if self._left == 0 and not self.has_acted:
            act, self._act = self._act, None
            act()
        return noted

    @property
    def has_acted(self):
        return self._act is None


class _Watched:
    """Data that are opened by an executor of the test's own."""

    def _opened(self, n_jobs, *, is_light=False):
        @contextmanager
        def opened():
            with self.executor:
                yield self.executor, self.source

        return opened()


class _WatchedBlocks(_Watched, Blocks):
    pass


class _WatchedPartitions(_Watched, Partitions):
    pass


def fit_watched(model, data, executor, source):
    """Fit a classifier to watched data, with the settings of the data that it would describe."""
    data.max_bins, data.executor, data.source = model.settings["max_bins"], executor, source
    return model.model.fit(data)


def sabotaged_fit(model, client, act, when, collections=None):
    collections = arrays() if collections is None else collections
    executor = _Sabotaged(client, act, when)
    fitted = fit_watched(model, _WatchedPartitions(*collections), executor, source_of(*collections))
    assert executor.has_acted
    return fitted


@pytest.fixture(scope="module")
def undisturbed():
    """For each kind of classifier its values on one machine, and the number of steps of its fit."""
    found = {}
    for _, kind, parameters in (CODE, GROWN):
        executor, blocks = _Counting(), divided(X, Y, [100, 200])
        model = fit_watched(kind(**parameters), _WatchedBlocks(blocks), executor, States(IterableBlocks(blocks)))
        assert executor.n_steps > 6  # reading, coding, counting, boosting
        found[type(model)] = model, executor.n_steps
    grown = found[WOLCClassifier][0]
    assert any(isinstance(learner, RegionClassifier) for learner in grown.estimators_)
    return found


def assert_same(model, undisturbed):
    expected, _ = undisturbed[type(model)]
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert np.array_equal(model.decision_function(X), expected.decision_function(X))


def moments(name, kind, fast):
    """Parameters of a test: the moments of a fit, nightly but for some."""
    marks = [() if moment in fast else pytest.mark.nightly for moment in range(N_MOMENTS)]
    return [pytest.param(kind, moment, marks=mark, id=f"{name}-{moment}") for moment, mark in enumerate(marks)]


@pytest.mark.parametrize(("kind", "moment"), [*moments("code", CODE, (1, 5)), *moments("grown", GROWN, (7,))])
def test_a_worker_killed_at_any_moment_changes_nothing(cluster, client, undisturbed, kind, moment):
    rng = np.random.default_rng(moment)
    # The first two steps read and code the rows; the others are a random one of each eighth of the rest.
    n_steps = undisturbed[kind[0].args[-1]][1]
    when = moment + 1 if moment < 2 else 3 + int((n_steps - 2) * (moment - 2 + rng.random()) / (N_MOMENTS - 2))
    processes = sorted(client.run(os.getpid).items())
    address, victim = processes[rng.integers(len(processes))]
    model = sabotaged_fit(kind[0](**kind[2]), client, lambda: os.kill(victim, signal.SIGKILL), when)
    assert_same(model, undisturbed)
    wait_until(lambda: address not in cluster.scheduler.workers)  # before the next test counts them


def test_workers_that_join_and_leave_change_nothing(cluster, client, undisturbed):
    def joins():
        cluster.scale(3)
        client.wait_for_workers(3, timeout=120)

    def leaves():
        client.retire_workers([next(iter(client.scheduler_info()["workers"]))])

    try:
        assert_same(sabotaged_fit(code(), client, joins, 3), undisturbed)
        assert_same(sabotaged_fit(code(), client, leaves, 5), undisturbed)
    finally:
        cluster.scale(0)
        wait_until(lambda: not cluster.scheduler.workers)
        cluster.scale(2)


@pytest.mark.parametrize(
    "chunks",
    few([((0, 0, 300, 0),), ((150, 0, 0, 150),), ((0, 100, 200),), ((100, 200, 0),)]),
    ids=["all but one", "between", "first", "last"],
)
def test_empty_partitions_change_nothing(client, undisturbed, chunks):
    rows, labels = da.from_array(X, chunks=(chunks, 5)), da.from_array(Y, chunks=(chunks,))
    assert_same(code().fit(rows, labels), undisturbed)


@pytest.mark.nightly
def test_growth_goes_on_beside_empty_partitions(client, undisturbed):
    chunks = ((0, 100, 100, 0, 100, 0),)
    model = GROWN[0](**GROWN[2]).fit(da.from_array(X, chunks=(*chunks, 5)), da.from_array(Y, chunks=chunks))
    expected, _ = undisturbed[WOLCClassifier]
    assert np.array_equal(model.code_matrix_, expected.code_matrix_)
    assert np.array_equal(model.predict(X), expected.predict(X))


def test_partitions_that_are_all_empty_are_refused(client):
    rows, labels = da.from_array(X[:0], chunks=((0, 0), 5)), da.from_array(Y[:0], chunks=((0, 0),))
    with pytest.raises(ValueError, match="X must have at least one row"):
        code().fit(rows, labels)


@pytest.mark.parametrize(("kind", "local_kind", "parameters"), few([GROWN, CODE]), ids=["grown", "code"])
def test_a_class_may_live_in_one_partition_only(client, kind, local_kind, parameters):
    order = np.argsort(Y == 2, kind="stable")  # all of one class are in the last partition, beside others
    rows, labels = X[order], Y[order]
    edges = [60, int((labels != 2).sum()) - 5]
    assert set(labels[: edges[1]]) == {0, 1}
    chunks = tuple(np.diff([0, *edges, len(Y)]).tolist())
    model = kind(**parameters).fit(da.from_array(rows, chunks=(chunks, 5)), da.from_array(labels, chunks=(chunks,)))
    expected = local_kind(**parameters).fit_blocks(divided(rows, labels, edges))
    assert np.array_equal(model.decision_function(X), expected.decision_function(X))


def raises(number, rows, error):
    if number == 3:
        raise error
    return rows


@pytest.mark.parametrize(
    "error",
    few(
        [
            FileNotFoundError(2, "No such file", "part-3.parquet"),
            KeyError("label"),
            RuntimeError("the disk is on fire"),
            AssertionError(),
        ],
        2,
    ),
    ids=lambda error: type(error).__name__,
)
def test_the_error_of_a_partition_keeps_its_type_and_gets_its_number(client, error):
    with pytest.raises(type(error)) as caught:
        code().fit(*read_by(raises, error))
    assert caught.type is type(error)
    told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert sum("partition 3" in text for text in told) == 1
    assert str(error) in told[0]


def raises_when_read_again(number, rows, folder):
    seen = Path(folder, str(number))
    if number == 5 and seen.exists():
        raise RuntimeError("the file is gone")
    seen.touch()
    return rows


def test_the_error_of_a_partition_that_is_read_again_gets_its_number(client, tmp_path):
    with pytest.raises(RuntimeError, match=r"^partition 5: the file is gone"):
        code().fit(*read_by(raises_when_read_again, str(tmp_path)))


def size_of(block):
    return len(block.y)


def fails_at(size, error):
    if size == 70:
        raise error
    return size


def fails_in_step(size, error):
    return size, fails_at(size, error)


def dies_at(size):
    if size == 70:
        os._exit(1)
    return size


def dies_in_step(size):
    return size, dies_at(size)


@pytest.fixture
def computed(client):
    """An executor, and states of three blocks: their sizes; the last is 70."""
    rows, labels = da.from_array(X, chunks=((100, 130, 70), 5)), da.from_array(Y, chunks=((100, 130, 70),))
    with DaskExecutor(client) as executor:
        yield executor, executor.map(size_of, source_of(rows, labels))


@pytest.mark.parametrize("error", [RuntimeError("no luck"), FileNotFoundError(2, "No such file", "a")])
def test_the_error_of_any_later_step_names_the_partition_once(computed, error):
    executor, sizes = computed
    for start in (executor.sum, executor.step):
        function = fails_at if start == executor.sum else fails_in_step
        with pytest.raises(type(error)) as caught:
            start(function, sizes, message=(error,))
        told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
        assert sum("partition 2" in text for text in told) == 1


def test_a_partition_that_kills_its_workers_in_a_later_step_is_named(cluster, computed, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    executor, sizes = computed
    # Which of the partitions that the worker still had to compute is blamed is a matter of time.
    said = r"^partitions? [\d, and]+ or one computed at the same time: a worker died"
    with pytest.raises(MemoryError, match=said):
        executor.sum(dies_at, sizes)
    with pytest.raises(MemoryError, match=said):
        executor.step(dies_in_step, sizes)


def with_bad_values(number, rows, kind):
    if kind == "NaN" and number == 7:
        rows = rows.copy()
        rows[3, 2] = np.nan
    return rows[:, :4] if kind == "narrow" and number == 6 else rows


@pytest.mark.parametrize(
    ("kind", "message"),
    few(
        [
            ("NaN", "^partition 7: Input X contains NaN"),
            ("narrow", r"same number of features in every block; got .*\b4 in partition 6"),
        ]
    ),
)
def test_bad_values_are_named_with_their_partition(client, kind, message):
    with pytest.raises(ValueError, match=message):
        code().fit(*read_by(with_bad_values, kind))


def test_bad_labels_and_weights_are_named_with_their_partition(client):
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["label"], frame["weight"] = pd.Series(Y).astype("string"), 1.0
    frame.loc[150, "label"] = None
    frame.loc[20, "weight"] = -1.0
    parts = dd.from_pandas(frame, npartitions=5)
    with pytest.raises(ValueError, match=r"^partition 2: y must hold a label for every row"):
        code().fit(parts[list("abcde")], parts["label"])
    with pytest.raises(ValueError, match=r"^partition 0: sample_weight must hold 60 finite weights"):
        code().fit(parts[list("abcde")], parts["a"] > 0, parts["weight"])


def kills_its_worker(number, rows):
    if number == 4:
        os._exit(1)
    return rows


@pytest.mark.slow
def test_a_partition_that_kills_its_workers_is_named(cluster, client):
    said = r"^partitions? (\d, )*4(, \d)* or one computed at the same time: 4 workers died one after the other"
    with pytest.raises(MemoryError, match=said):
        code().fit(*read_by(kills_its_worker))


def test_what_killed_a_worker_is_told_with_care(client):
    told = str(partitions._told_of_deaths(distributed.KilledWorker("read-7", None, 0)))
    assert told.startswith("a worker died with read-7 to compute, most likely of too little memory")
    assert "ends its process" in told


class _Waiting:
    """A task that ends after some looks at the workers."""

    def __init__(self, n_looks):
        self._left = n_looks

    def exception(self, timeout):
        self._left -= 1
        if self._left >= 0:
            raise TimeoutError


def test_a_fit_that_waits_for_workers_says_so_once(client, monkeypatch):
    monkeypatch.setattr(partitions, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(DaskExecutor, "workers", lambda self: {})
    executor = DaskExecutor(client)
    with pytest.warns(UserWarning, match=f"{client.scheduler.address} has no workers: fit waits") as told:
        executor._awaited(_Waiting(3))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert executor._awaited(_Waiting(1)) is None


def test_a_fit_does_not_wait_for_workers_that_are_all_paused(client, monkeypatch):
    monkeypatch.setattr(partitions, "_PATIENCE_SECONDS", 0.0)
    executor = DaskExecutor(client)
    monkeypatch.setattr(executor, "workers", lambda: {"one": {"status": "paused"}, "two": {"status": "running"}})
    assert executor._awaited(_Waiting(3)) is None
    monkeypatch.setattr(executor, "workers", lambda: {"one": {"status": "paused"}})
    with pytest.raises(MemoryError, match=r"all workers \(1\) have been paused"):
        executor._awaited(_Waiting(3))


def test_a_fit_does_not_wait_for_workers_that_are_all_lost(client, monkeypatch):
    monkeypatch.setattr(partitions, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(DaskExecutor, "workers", lambda self: {"one": {"status": "running"}})
    executor = DaskExecutor(client)
    assert executor._awaited(_Waiting(3)) is None
    monkeypatch.setattr(DaskExecutor, "workers", lambda self: {})
    with pytest.raises(ConnectionError, match=f"lost all workers of the Dask cluster at {client.scheduler.address}"):
        executor._awaited(_Waiting(3))


class _Lost:
    """A result whose worker is lost after it has been computed, so that it is computed again."""

    def __init__(self, outcomes):
        self._outcomes = outcomes

    def exception(self, timeout):
        return self._outcomes[0] if isinstance(self._outcomes[0], RuntimeError) else None

    def result(self, timeout=None):
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_a_result_that_is_lost_on_the_way_is_waited_for_again(client):
    executor = DaskExecutor(client)
    assert executor._fetched(_Lost([TimeoutError(), TimeoutError(), 7]), []) == 7
    with pytest.raises(RuntimeError, match="no luck"):
        executor._fetched(_Lost([TimeoutError(), RuntimeError("no luck")]), [])


@pytest.fixture
def all_leave(cluster, monkeypatch):
    """Take all workers away, for good; afterwards there are two again."""

    def leave():
        cluster.scale(0)
        wait_until(lambda: not cluster.scheduler.workers)

    monkeypatch.setattr(partitions, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(partitions, "_PATIENCE_SECONDS", 1.0)
    yield leave
    cluster.scale(2)


def test_the_loss_of_all_workers_is_a_clear_error(cluster, client, all_leave):
    model = code()
    with pytest.raises(ConnectionError, match=r"lost all workers .* none has come back"):
        sabotaged_fit(model, client, all_leave, 4)
    assert not hasattr(model, "classes_")
    wait_until(lambda: not cluster.scheduler.tasks)


def set_paused(is_paused, dask_worker):
    dask_worker.memory_manager.memory_pause_fraction = False  # do not look at the memory: it would end the pause
    dask_worker.status = distributed.core.Status.paused if is_paused else distributed.core.Status.running


def test_a_task_that_dask_keeps_for_a_lost_worker_is_a_clear_error(cluster, computed, client, all_leave):
    executor, sizes = computed
    lost = sizes.homes[0]
    (left,) = set(client.scheduler_info()["workers"]) - {lost}
    client.retire_workers([lost])  # the other worker gets what it held
    wait_until(lambda: lost not in cluster.scheduler.workers)
    try:
        client.run(set_paused, True, workers=[left])
        wait_until(lambda: not cluster.scheduler.running)
        resume = threading.Timer(0.3, client.run, (set_paused, False), {"workers": [left]})
        resume.start()
        with pytest.raises(ConnectionError, match=f"has computed nothing for .* lost or paused, {lost}; fit again"):
            executor.sum(abs, sizes)
        resume.join()
    finally:
        all_leave()


def test_workers_that_are_replaced_in_time_change_nothing(cluster, client, all_leave, undisturbed, monkeypatch):
    def replaced():
        all_leave()
        cluster.scale(2)

    monkeypatch.setattr(partitions, "_PATIENCE_SECONDS", float(CLEANUP_SECONDS))
    assert_same(sabotaged_fit(code(), client, replaced, 5), undisturbed)


def test_tasks_that_somebody_cancels_are_a_clear_error(client):
    def cancel():
        client.cancel([distributed.Future(key, client) for key in list(client.futures)])

    with pytest.raises(ConnectionError, match=f"the Dask scheduler at {client.scheduler.address}"):
        sabotaged_fit(code(), client, cancel, 4)


def sleeps(number, rows):
    time.sleep(1.0)
    return rows


@contextmanager
def interrupted():
    """Press Ctrl+C after half a second, and again if that is swallowed where an object is deleted."""
    is_over = threading.Event()

    def press():
        pause = 0.5
        while not is_over.wait(pause):
            os.kill(os.getpid(), signal.SIGINT)
            pause = 3.0

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_an_interrupt_leaves_no_tasks_and_the_earlier_fit(cluster, client, undisturbed, interrupts_heard):
    model = code().fit(*arrays())
    before = dict(vars(model))
    wait_until(lambda: not cluster.scheduler.tasks)
    rows, labels = read_by(sleeps, n_parts=10)
    with interrupted(), pytest.raises(KeyboardInterrupt) as caught:
        model.fit(rows, 1 - labels)
    wait_until(lambda: not cluster.scheduler.tasks)
    assert caught.value is not None  # held until here: its traceback refers to all futures of the fit
    assert vars(model) == before
    assert_same(model.fit(*arrays()), undisturbed)


def test_an_interrupt_at_any_step_leaves_no_tasks(cluster, client, undisturbed):
    def interrupt():
        raise KeyboardInterrupt

    for when in (1, 4, undisturbed[ECOCClassifier][1]):
        with pytest.raises(KeyboardInterrupt) as caught:
            sabotaged_fit(code(), client, interrupt, when)
        wait_until(lambda: not cluster.scheduler.tasks)
        assert caught.value is not None


def test_two_threads_may_fit_by_one_client(client, undisturbed):
    models = [code(), GROWN[0](**GROWN[2])]
    with ThreadPoolExecutor(2) as threads:
        for model in threads.map(lambda model: model.set_params(client=client).fit(*arrays()), models):
            assert_same(model, undisturbed)


def fit_in_a_task(seed):
    return code().set_params(random_state=seed).fit(*arrays())


def test_tasks_may_fit(client, undisturbed):
    # More of them than threads: if they kept these, nobody would do their tasks.
    futures = client.map(fit_in_a_task, [0, 0, 0], pure=False)
    expected, _ = undisturbed[ECOCClassifier]
    distributed.wait(futures, timeout=120)
    for model in client.gather(futures):
        assert np.array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.fixture
def own_scheduler(tmp_path):
    """The process of a scheduler with one worker, and a client."""
    file = str(tmp_path / "scheduler.json")
    start = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*start, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], stderr=subprocess.DEVNULL
    )
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)]
    worker = subprocess.Popen([*start, "worker", *options, "--scheduler-file", file], stderr=subprocess.DEVNULL)
    try:
        with distributed.Client(scheduler_file=file, timeout=120, set_as_default=False) as client:
            yield scheduler, client
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("when", few([2, 1, 6]))
def test_the_loss_of_the_scheduler_is_a_clear_error_and_nothing_is_half_written(own_scheduler, when):
    scheduler, client = own_scheduler
    again = code().set_params(client=client)
    model = again.fit(*arrays())
    before, values = dict(vars(model)), model.decision_function(X)
    address = client.scheduler.address
    rows, labels = arrays()
    with pytest.raises(ConnectionError, match=f"lost the Dask scheduler at {address} during fit"):
        sabotaged_fit(again, client, lambda: os.kill(scheduler.pid, signal.SIGKILL), when, (rows, 2 - labels))
    assert vars(model) == before
    assert np.array_equal(model.decision_function(X), values)
    with pytest.raises(ConnectionError, match=f"no connection to the Dask scheduler at {address}"):
        model.fit(Partitions(rows, labels, client=client))
    assert vars(model) == before
