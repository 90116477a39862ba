"""Worker processes, and a Ctrl-C that ends all of them once and without noise."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

from joblib import Parallel, effective_n_jobs
from joblib.parallel import get_active_backend
from tqdm import tqdm

from skecoc.support.compiling import seconds_of_compilation
from skecoc.support.notices import give_notice

#: What it costs to start workers of this machine, in seconds: processes load all libraries first, and more slowly than
#: one process does.
_START_SECONDS = {"LokyBackend": 6.0, "MultiprocessingBackend": 6.0, "ThreadingBackend": 0.05}
#: Notices of how many runs are done, where no bar is drawn, are so many seconds apart.
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


#: A delay that keeps a progress bar from being drawn while it is made: a Ctrl-C then would leave half a bar behind.
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

    They do if what they save exceeds what starting them takes. How long the others take is estimated from those that
    are done, once these have taken as long as that: the first ones are not like all others. Compilation happens once,
    and does not count. With a single worker, or workers elsewhere, all tasks are left.
    """
    n_workers = effective_n_jobs(n_jobs)
    cost = _START_SECONDS.get(type(get_active_backend(prefer=prefer)[0]).__name__)
    if n_workers == 1 or cost is None:
        return
    # Time of the processor: where others keep it busy, workers would only wait longer.
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
    """Yield a function that counts runs; show how many are done by a bar, or else give notice of it."""
    if not is_shown:
        yield _Notices(total).advance
        return
    with tqdm(total=total, unit="run", delay=DRAWN_LATER) as bar:
        bar.refresh()
        yield bar.update


class _Notices:
    """Gives notice of how many runs are done, now and then; not of a short run."""

    def __init__(self, total: int) -> None:
        self._total, self._n_done = total, 0
        self._next = time.monotonic() + _SECONDS_BETWEEN_NOTICES

    def advance(self, n_runs: int) -> None:
        """Count runs that are done."""
        self._n_done += n_runs
        if time.monotonic() >= self._next and self._n_done < self._total:
            give_notice(f"{self._n_done} of {self._total} runs done")
            self._next = time.monotonic() + _SECONDS_BETWEEN_NOTICES


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
