import contextlib
import signal
import subprocess
import sys
import threading

import pytest

from skecoc.support.processes import _interrupts_ignored, interrupts_remembered

SAY_HANDLER = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


pytestmark = pytest.mark.usefixtures("interrupts_heard")


def child_ignores_interrupts():
    return subprocess.run([sys.executable, "-c", SAY_HANDLER], capture_output=True, text=True, check=True).stdout


def test_processes_started_inside_ignore_interrupts_and_later_ones_do_not():
    before = signal.getsignal(signal.SIGINT)
    with _interrupts_ignored():
        assert child_ignores_interrupts() == "True\n"
    assert signal.getsignal(signal.SIGINT) is before
    assert child_ignores_interrupts() == "False\n"


@pytest.mark.parametrize("context", [_interrupts_ignored, interrupts_remembered])
def test_the_handler_comes_back_after_an_error(context):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="own"), context():
        raise RuntimeError("own")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("context", [_interrupts_ignored, interrupts_remembered])
def test_another_thread_changes_nothing(context):
    seen = []

    def work():
        with context():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def interrupt():
    signal.raise_signal(signal.SIGINT)


def swallow_an_interrupt():
    with contextlib.suppress(KeyboardInterrupt):
        interrupt()


def test_an_interrupt_raises_at_once():
    with pytest.raises(KeyboardInterrupt), interrupts_remembered():
        interrupt()


def test_a_swallowed_interrupt_is_raised_by_the_next_check():
    with interrupts_remembered() as check_interrupt:
        check_interrupt()
        swallow_an_interrupt()
        with pytest.raises(KeyboardInterrupt):
            check_interrupt()


def test_an_error_after_a_swallowed_interrupt_is_an_interrupt():
    def work():
        swallow_an_interrupt()
        raise RuntimeError("no compiled object")

    with pytest.raises(KeyboardInterrupt) as caught, interrupts_remembered():
        work()
    assert str(caught.value.__cause__) == "no compiled object"
