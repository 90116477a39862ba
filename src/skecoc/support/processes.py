"""Worker processes, how Ctrl-C ends them, and threads of compiled libraries."""

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from types import FrameType
from typing import Any

from joblib import Parallel, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from skecoc.support.compiling import give_notice, seconds_of_compilation

#: Seconds that it takes to start workers on this machine: processes load all libraries first, slower than a single one.
_START_SECONDS = {"LokyBackend": 6.0, "MultiprocessingBackend": 6.0, "ThreadingBackend": 0.05}
#: Seconds between notices of how many runs are done, if no bar is drawn.
_SECONDS_BETWEEN_NOTICES = 10.0


@contextmanager
def results_of(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Generator[Any]]:
    """Run calls delayed by joblib and yield their results as they end; workers stop when the block is left."""
    starts_workers = effective_n_jobs(n_jobs) > 1
    with _interrupts_ignored() if starts_workers else nullcontext():  # this is where joblib starts its workers
        results = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(tasks)
    try:
        yield results
    finally:
        with warnings.catch_warnings():  # joblib would advise to start fewer tasks
            warnings.simplefilter("ignore", UserWarning)
            results.close()


#: A delay so that a progress bar is not drawn while it is created: a Ctrl-C at that moment would leave a part of it.
DRAWN_LATER = 1e-9


def run_all(
    tasks: Sequence[Any],
    n_jobs: int | None,
    *,
    show_progress: bool = False,
    total: int | None = None,
    runs_of: Callable[[Any], int] = lambda _: 1,
) -> list[Any]:
    """Run calls delayed by joblib, which a Ctrl-C ends; return results in the order they came.

    The first ones are run in this process, and workers are started only if the others take long enough to pay for that.
    Progress, in runs, is shown by a bar on demand; without one, notices are given now and then.
    """
    results: list[Any] = []
    with (
        interrupts_remembered() as check_interrupt,
        _progress(len(tasks) if total is None else total, is_shown=show_progress) as advance,
    ):

        def take(result: Any) -> None:
            check_interrupt()
            results.append(result)
            advance(runs_of(result))

        left = iter(tasks)
        for result in results_here(_call, left, len(tasks), n_jobs):
            take(result)
        if len(results) < len(tasks):
            with results_of(left, n_jobs) as finished:
                for result in finished:
                    take(result)
    return results


def _call(function: Callable[..., Any], arguments: Iterable[Any], options: dict[str, Any]) -> Any:
    """Make a call that was delayed by joblib."""
    return function(*arguments, **options)


def results_here(
    function: Callable[..., Any],
    tasks: Iterator[tuple[Any, ...]],
    n_tasks: int,
    n_jobs: int | None,
    prefer: str | None = None,
) -> Iterator[Any]:
    """Call a function with the arguments of tasks, one after the other, until workers would pay; others are left.

    Workers pay if they save more time than it takes to start them. The time of the tasks that are left is estimated
    from those that are done, once these have taken as long as starting workers would: the first tasks may not be
    typical. Compilation happens once, and does not count. With a single worker, or workers on other machines, all tasks
    are left.
    """
    n_workers = effective_n_jobs(n_jobs)
    cost = _START_SECONDS.get(type(get_active_backend(prefer=prefer)[0]).__name__)
    if n_workers == 1 or cost is None:
        return
    # Time of the processor: if other programs keep it busy, workers would wait longer, too.
    begin, compiled = time.process_time(), seconds_of_compilation()
    for n_done, task in enumerate(tasks, start=1):
        yield function(*task)
        seconds = time.process_time() - begin - (seconds_of_compilation() - compiled)
        n_left = n_tasks - n_done
        saved = seconds / n_done * (n_left - n_left / min(n_workers, max(n_left, 1)))
        if min(seconds, saved) > cost:
            return


@contextmanager
def _progress(total: int, *, is_shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that counts runs; a bar shows how many are done, or else a notice now and then."""
    if is_shown:
        with tqdm(total=total, unit="run", delay=DRAWN_LATER) as bar:
            bar.refresh()
            yield bar.update
        return
    n_done, next_notice = 0, time.monotonic() + _SECONDS_BETWEEN_NOTICES

    def advance(n_runs: int) -> None:
        nonlocal n_done, next_notice
        n_done += n_runs
        if time.monotonic() >= next_notice and n_done < total:
            give_notice(f"{n_done} of {total} runs done")
            next_notice = time.monotonic() + _SECONDS_BETWEEN_NOTICES

    yield advance


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore SIGINT for a moment, in the main thread; processes started meanwhile ignore it for good.

    A terminal sends Ctrl-C to all processes of a command, and workers would print tracebacks of their own. (To block
    the signal would not do: the standard library unblocks SIGINT when it starts its resource tracker.)
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def interrupts_remembered() -> Iterator[Callable[[], None]]:
    """Make sure that a Ctrl-C ends the block, even if its exception gets lost in a callback of compiled code.

    The function that is yielded, to be called between pieces of work, raises KeyboardInterrupt if there was an
    interrupt, and any error that leaves the block after one becomes one.
    """
    interrupted = threading.Event()

    def check_interrupt() -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield check_interrupt
        return

    def remember(number: int, frame: FrameType | None) -> None:
        interrupted.set()
        handler(number, frame)

    signal.signal(signal.SIGINT, remember)
    try:
        yield check_interrupt
    except Exception as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """Find the libraries that a number of modules have loaded."""
    del n_modules
    return ThreadpoolController()


def thread_pools() -> ThreadpoolController:
    """Find the libraries of this process that have threads, again if modules were imported since the last time."""
    return _thread_pools(len(sys.modules))


class _Limit:
    """One thread for linear algebra, in the whole process, from the first `enter` to the last `leave`."""

    def __init__(self) -> None:
        self._lock, self._n_users = threading.Lock(), 0
        self._limited: Any = None

    def enter(self) -> None:
        with self._lock:
            self._n_users += 1
            if self._n_users == 1:
                self._limited = thread_pools().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limited.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let compiled libraries use one thread; several threads may enter the block at the same time."""
    _LIMIT.enter()
    try:
        with thread_pools().limit(limits=1, user_api="openmp"):  # OpenMP has a limit for each thread that calls it
            yield
    finally:
        _LIMIT.leave()
