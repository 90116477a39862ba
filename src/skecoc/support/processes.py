"""Worker processes, and a Ctrl-C that ends all of them once and without noise."""

import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from joblib import Parallel
from tqdm import tqdm


@contextmanager
def results_of(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Generator[Any]]:
    """Run calls delayed by joblib and yield their results as they end; workers stop when the block is left."""
    with _interrupts_ignored():  # this is where joblib starts its workers
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
    """Run calls delayed by joblib under a bar of runs, which a Ctrl-C ends; return results in the order they came."""
    results = []
    with (
        interrupts_remembered() as check_interrupt,
        results_of(tasks, n_jobs) as finished,
        tqdm(
            total=len(tasks) if total is None else total, disable=not show_progress, unit="run", delay=DRAWN_LATER
        ) as bar,
    ):
        bar.refresh()
        for result in finished:
            check_interrupt()
            results.append(result)
            bar.update(runs_of(result))
    return results


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
