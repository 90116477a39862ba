"""Fixtures that several folders' tests share, and checks that no test leaves anything behind in its process."""

import csv
import locale
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import settings
from threadpoolctl import threadpool_limits

# No example has a time limit: a machine may be busy. In CI every run tries the same examples, so that a change is never
# blamed for another day's luck.
settings.register_profile("any machine", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any machine")

# Figures are drawn without a window, in this process and in those that tests start.
os.environ["MPLBACKEND"] = "Agg"

# What outlives a test on purpose: joblib keeps its workers, and the thread that feeds them, for the next call.
LASTING_PROCESSES = ("loky", "resource_tracker", "forkserver")
LASTING_THREADS = ("ExecutorManagerThread", "QueueFeederThread")
GRACE_SECONDS = 10


def pytest_itemcollected(item):
    """Leave pages in a real browser to the nightly tests."""
    if "browser" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.nightly)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Keep the tests that share a cluster together, in whatever order tests are: it is started once."""
    shared = [item for item in items if "cluster" in getattr(item, "fixturenames", ())]
    if not shared:
        return
    place, gathered = items.index(shared[0]), set(shared)
    others = [item for item in items if item not in gathered]
    items[:] = [*others[:place], *shared, *others[place:]]


@pytest.fixture
def interrupts_heard():
    """Undo that SIGINT is ignored, as it is in a shell's background jobs, which the tests may be one of."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def process_state():
    """Return settings that belong to the whole process, by name."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {
        "environment": environment,
        "working folder": str(Path.cwd()),
        "SIGINT handler": signal.getsignal(signal.SIGINT),
        "SIGTERM handler": signal.getsignal(signal.SIGTERM),
        "csv field size limit": csv.field_size_limit(),
        "locale": locale.setlocale(locale.LC_ALL),
        "module path": list(sys.path),
        "recursion limit": sys.getrecursionlimit(),
        "numpy errors": np.geterr(),
        "numpy print options": np.get_printoptions(),
        "scikit-learn configuration": sklearn.get_config(),
    }


@pytest.fixture(autouse=True)
def process_state_is_kept(monkeypatch):
    """Fail a test that leaves settings of the process changed; monkeypatch, asked for here, is undone later."""
    before = process_state()
    yield
    monkeypatch.undo()
    after = process_state()
    # Packages that a test is the first to import may add variables and folders for themselves.
    for name, kept in (("environment", before["environment"].items()), ("module path", before["module path"])):
        after[name] = type(before[name])(entry for entry in _entries(after[name]) if entry in kept)
    assert {name for name in before if before[name] != after[name]} == set()


def _entries(state):
    """Return the entries of a mapping or a list."""
    return state.items() if isinstance(state, dict) else state


def running_threads():
    """Return the threads that would keep this process from ending."""
    return {thread for thread in threading.enumerate() if not thread.daemon and thread.name not in LASTING_THREADS}


def child_processes():
    """Return the command of each running child process by its number; none where there is no /proc."""
    children = {}
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for number in listed.read_text().split():
                state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
                command = Path(f"/proc/{number}/cmdline").read_text().replace("\0", " ")
                if state != "Z" and not any(name in command for name in LASTING_PROCESSES):
                    children[number] = command
    return children


def check_nothing_is_left():
    """Yield to tests; fail if threads or processes that they started are still there after a while."""
    threads, processes = running_threads(), child_processes()
    yield
    end = time.monotonic() + GRACE_SECONDS
    while True:
        left = [repr(thread) for thread in running_threads() - threads]
        left += [command for number, command in child_processes().items() if number not in processes]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.05)
    assert left == []


# Of a whole module, since fixtures of modules may own processes.
nothing_is_left = pytest.fixture(autouse=True, scope="module")(check_nothing_is_left)


@pytest.fixture(scope="module")
def one_thread():
    """Boosting of a few samples takes seconds where its threads wait for each other."""
    with threadpool_limits(1):
        yield
