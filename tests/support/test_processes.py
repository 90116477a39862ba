"""Runs in this process or in workers: where each is, what is shown, and that compilation does not count."""

import os
import threading

import pytest
from joblib import delayed, parallel_config

from skecoc.support import processes
from skecoc.support.compiling import notices_shown
from skecoc.support.processes import run_all


def process_and_thread():
    return os.getpid(), threading.get_ident()


HERE = process_and_thread()
TASKS = [delayed(process_and_thread)() for _ in range(6)]


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_short_tasks_stay_in_this_process(n_jobs):
    assert run_all(TASKS, n_jobs) == [HERE] * 6


def test_workers_take_what_is_left_when_they_pay(monkeypatch):
    monkeypatch.setattr(processes, "_START_SECONDS", {"LokyBackend": -1.0})
    first, *others = run_all([delayed(os.getpid)() for _ in range(6)], 2)
    assert first == os.getpid()
    assert os.getpid() not in others
    assert len(others) == 5


def test_workers_do_not_pay_for_a_single_task_that_is_left(monkeypatch):
    monkeypatch.setattr(processes, "_START_SECONDS", {"LokyBackend": 0.0})
    assert run_all(TASKS[:2], 2) == [HERE] * 2


def test_compilation_does_not_count(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(processes.time, "process_time", lambda: 10.0 * next(clock))
    monkeypatch.setattr(processes, "seconds_of_compilation", lambda: 10.0 * (next(clock) + 1))
    assert run_all(TASKS, 2) == [HERE] * 6


def test_workers_of_a_kind_that_is_not_known_get_all_tasks(monkeypatch):
    monkeypatch.delitem(processes._START_SECONDS, "ThreadingBackend")
    with parallel_config(backend="threading"):
        found = run_all(TASKS, 2)
    assert {process for process, _ in found} == {os.getpid()}
    assert HERE not in found


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_all([delayed(divmod)(1, 0)], 2)


def test_notices_say_how_far_a_long_run_is(monkeypatch, capsys):
    given = []
    with notices_shown(given.append):
        run_all(TASKS, 2)
        assert given == []
        monkeypatch.setattr(processes, "_SECONDS_BETWEEN_NOTICES", 0.0)
        run_all(TASKS[:3], 1, total=9, runs_of=lambda _: 3)
        assert given == ["3 of 9 runs done", "6 of 9 runs done"]
        assert capsys.readouterr().err == ""
        run_all(TASKS, 1, show_progress=True)
    run_all(TASKS, 1)
    assert len(given) == 2
    assert "6/6" in capsys.readouterr().err
