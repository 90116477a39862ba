import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.cli.plugins import InputError
from skecoc.compare import load_data_sets
from skecoc.compare.experiments import make_learner, run_batch
from skecoc_study.runs import runner
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.runner import run
from skecoc_study.runs.store import Store

PROTOCOL = Protocol(
    "tiny",
    ("iris", "wine"),
    (("stumps", "labels"), ("stumps", "probabilities")),
    ("one-vs-one/hamming", "one-vs-one/loss-weighted", "random-10/hamming", "ecoc-one/loss-based", "wolc"),
    n_repeats=1,
    n_folds=3,
)
N_RUNS = 2 * 3 * 2 * 5


def contents(store):
    """All that results say, but for the time they took."""
    runs = [replace(record, fit_seconds=0.0, predict_seconds=0.0) for record in store.read_runs()]
    return runs, store.read_rounds()


def n_runs(path):
    """Number of runs in a file that another process writes."""
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0]
    return 0


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one undisturbed process gives."""
    with Store(tmp_path_factory.mktemp("whole") / "results.sqlite") as store:
        run(PROTOCOL, store)
        return contents(store)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


class SlowStore(Store):
    """A store that leaves time to disturb the process that writes to it, however busy the machine is."""

    def save(self, outcome):
        super().save(outcome)
        time.sleep(0.3)


def start(path, n_jobs, store="Store"):
    """Run the experiment in another process, which is a group of its own, as that of a terminal's command is."""
    code = f"""
from skecoc_study.runs.runner import run
from study.tests.runs.test_runner import PROTOCOL, SlowStore, Store
with {store}({str(path)!r}) as store:
    run(PROTOCOL, store, n_jobs={n_jobs})
"""
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], stderr=subprocess.PIPE, start_new_session=True
    )


def wait_for_runs(process, path, number):
    while n_runs(path) < number:
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.02)


def test_all_runs_are_there_and_rounds_of_wolc(expected):
    runs, rounds = expected
    assert len({record.key for record in runs}) == len(runs) == N_RUNS
    assert {as_key(record) for record in rounds} == {record.key[:6] for record in runs if record.coding == "wolc"}
    assert sum(record.kept for record in rounds) == 2 * 3 * 2


def as_key(record):
    return record.data_set, record.repeat, record.fold, record.learner, record.response, record.coding


def test_a_second_start_has_nothing_to_do(path, monkeypatch):
    small = replace(PROTOCOL, data_sets=("iris",), methods=("one-vs-one/hamming",))
    with Store(path) as store:
        run(small, store)
        monkeypatch.setattr(runner, "_run_shipped", None)
        run(small, store)


def test_a_larger_experiment_goes_on_with_a_smaller_ones_results(path, expected):
    with Store(path) as store:
        run(replace(PROTOCOL, settings=PROTOCOL.settings[:1], methods=("random-10/hamming",)), store)
        first = store.read_runs()
        run(PROTOCOL, store)
        assert contents(store) == expected
        assert set(first) <= set(store.read_runs())  # seconds included: they were not run again


@settings(max_examples=3, deadline=None)
@given(batches=st.permutations([b for b in PROTOCOL.batches() if b.data_set == "iris"]))
@pytest.mark.nightly
def test_the_order_of_batches_changes_nothing(expected, batches):
    (iris,) = load_data_sets(["iris"])
    found = [
        replace(record, fit_seconds=0.0, predict_seconds=0.0)
        for batch in batches
        for record in run_batch(batch, iris, make_learner("stumps"), 3, 0).runs
    ]
    assert set(found) == {record for record in expected[0] if record.data_set == "iris"}


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing(path, expected):
    with Store(path) as store:
        run(PROTOCOL, store, n_jobs=2)
        assert contents(store) == expected


@pytest.mark.slow
def test_resuming_after_a_kill_gives_the_same_results(path, expected):
    process = start(path, n_jobs=1, store="SlowStore")
    wait_for_runs(process, path, 4)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with Store(path) as store:
        n_before = len(store.read_runs())
        assert 4 <= n_before < N_RUNS
        run(PROTOCOL, store)
        assert contents(store) == expected


@pytest.mark.nightly
def test_two_processes_share_a_store_and_the_work(path, expected):
    processes = [start(path, n_jobs=1), start(path, n_jobs=1)]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    with Store(path) as store:
        assert contents(store) == expected
    with closing(sqlite3.connect(path)) as connection:
        run_names = [name for (name,) in connection.execute("SELECT batch FROM batches")]
    assert sorted(run_names) == sorted(batch.name for batch in PROTOCOL.batches())


@pytest.mark.slow
@pytest.mark.usefixtures("interrupts_heard")
def test_an_interrupt_ends_all_quietly_and_keeps_what_is_done(path, expected):
    process = start(path, n_jobs=2, store="SlowStore")
    wait_for_runs(process, path, 4)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.decode().count("Traceback") == 1  # that of the process itself, none of its workers
    assert errors.decode().strip().endswith("KeyboardInterrupt")
    with Store(path) as store:
        assert store.n_claimed() == 0
        run(PROTOCOL, store)
        assert contents(store) == expected


def run_or_die(batch, n_folds, seed, deadly, flag):
    """Run a batch; the worker that gets the deadly one dies, the first time only if there is a flag."""
    if batch.name == deadly and not (flag and flag.exists()):
        if flag:
            flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_batch(batch, load_data_sets([batch.data_set])[0], make_learner(batch.learner), n_folds, seed)


@pytest.mark.nightly
def test_runs_of_a_worker_that_dies_are_run_again(path, tmp_path, monkeypatch, expected):
    flag = tmp_path / "died"
    monkeypatch.setattr(runner, "_run_shipped", partial(run_or_die, deadly="iris/0/1/stumps/random-10", flag=flag))
    with Store(path) as store:
        run(PROTOCOL, store, n_jobs=2)
        assert flag.exists()
        assert contents(store) == expected


@pytest.mark.nightly
def test_a_batch_that_kills_its_worker_every_time_is_named(path, monkeypatch):
    deadly = "wine/0/1/stumps/one-vs-one"
    monkeypatch.setattr(runner, "_run_shipped", partial(run_or_die, deadly=deadly, flag=None))
    monkeypatch.setattr(runner, "MOST_DEATHS", 2)
    with Store(path) as store:
        with pytest.raises(InputError, match=rf"died 2 times.* while running: .*{deadly}"):
            run(PROTOCOL, store, n_jobs=2)
        assert store.n_claimed() == 0
        monkeypatch.undo()
        run(PROTOCOL, store)
        assert len(store.read_runs()) == N_RUNS


def test_what_another_process_is_at_is_waited_for(path):
    small = replace(PROTOCOL, data_sets=("iris",), methods=("one-vs-one/hamming",))
    first = next(small.batches())
    (iris,) = load_data_sets(["iris"])
    with Store(path) as store, Store(path) as other:
        other.begin(small, {})
        assert other.claim(first)
        outcome = run_batch(first, iris, make_learner("stumps"), 3, 0)
        timer = threading.Timer(1.0, other.save, [outcome])
        timer.start()
        run(small, store)
        timer.join()
        assert set(outcome.runs) <= set(store.read_runs())
        assert len(store.read_runs()) == 6


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_full_disk_ends_the_run_and_leaves_a_readable_store(path, n_jobs, expected):
    with Store(path) as store:
        connection = store._database._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match="database or disk is full"):
            run(PROTOCOL, store, n_jobs=n_jobs)
        with Store(path, create=False) as reader:
            assert 0 < len(reader.read_runs()) < N_RUNS
        connection.execute("PRAGMA max_page_count = 100000")
        run(PROTOCOL, store)
        assert contents(store) == expected


def test_an_error_of_a_dispatching_thread_is_raised(path, monkeypatch):
    def refuse(batch):
        raise InputError("no room for claims")

    with Store(path) as store:
        monkeypatch.setattr(store, "claim", refuse)
        with pytest.raises(InputError, match="no room for claims"):
            run(PROTOCOL, store)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"seed": 1}, "seed was 0 and is 1"), ({"n_folds": 4}, "n_folds was 3 and is 4")],
)
def test_another_experiment_does_not_go_into_the_same_store(path, changes, message):
    small = replace(PROTOCOL, data_sets=("iris",), methods=("one-vs-one/hamming",))
    with Store(path) as store:
        run(small, store)
        before = contents(store)
        with pytest.raises(InputError, match=message):
            run(replace(small, **changes), store)
        assert contents(store) == before
        run(replace(small, **changes, data_sets=("iris", "wine")), store, allow_mixed=True)
        assert len(store.read_runs()) > len(before[0])


def test_data_that_changed_do_not_go_into_the_same_store(path, monkeypatch):
    small = replace(PROTOCOL, data_sets=("iris",), methods=("one-vs-one/hamming",))
    with Store(path) as store:
        run(small, store)
        changed = [replace(data_set, X=data_set.X + 1.0) for data_set in load_data_sets(["iris"])]
        monkeypatch.setattr(runner, "load_data_sets", lambda names: changed)
        with pytest.raises(InputError, match=r"data set iris was .* and is"):
            run(small, store)


def test_rare_classes_are_noted(path):
    with Store(path) as store:
        run(replace(PROTOCOL, data_sets=("ecoli",), methods=("one-vs-rest/hamming",)), store)
        (note,) = store.meta()["notes"]
        assert note == "ecoli: fewer rows than the 3 folds in class imL, imS: kept, but absent from some folds"


def test_progress_is_drawn_only_if_asked_for(path, capsys):
    small = replace(PROTOCOL, data_sets=("iris",), methods=("one-vs-one/hamming",))
    with Store(path) as store:
        run(replace(small, settings=small.settings[:1]), store)
        assert capsys.readouterr().err == ""
        run(small, store, show_progress=True)
    shown = capsys.readouterr().err
    assert "3/6 runs" in shown
    assert "6/6 runs" in shown
    assert "about 00:00 left" in shown


def test_the_longest_batches_come_first(path):
    data_sets = load_data_sets(["iris", "wine"])
    with Store(path) as store:
        queue = runner._Queue(PROTOCOL, store, runner.Clock(data_sets, store))
        queue.refresh()
        seconds = [queue.clock.seconds({runner._kind_of(batch): 1}) for batch in queue.missing]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > seconds[-1]
