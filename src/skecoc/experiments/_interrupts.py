"""Ctrl-C with worker processes and compiled code: obeyed once, without noise."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore SIGINT for a moment; processes started meanwhile ignore it for good.

    A terminal sends Ctrl-C to all processes of a command. Workers would answer
    with tracebacks of their own, while the process that started them ends them
    anyway. A new process inherits that a signal is ignored. (That it is blocked
    would not do: the standard library unblocks SIGINT when it starts its
    resource tracker.)

    Yields
    ------
    None
        While interrupts are ignored. In a thread other than the main one they
        are not, since Python lets only that one set signal handlers.

    Examples
    --------
    >>> with interrupts_ignored():
    ...     signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    True
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
    """Make sure that a Ctrl-C ends the block, even if its exception gets lost.

    While the just-in-time compiler works, the exception may be raised in one of
    its callbacks, which drop it: work goes on, or fails with an unrelated error.

    Yields
    ------
    callable
        To be called between pieces of work; it raises KeyboardInterrupt if
        there was an interrupt. Any error that leaves the block after an
        interrupt is turned into KeyboardInterrupt, too.

    Examples
    --------
    >>> with interrupts_remembered() as check_interrupt:
    ...     check_interrupt()
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
