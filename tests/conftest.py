"""Fixtures that several rooms' tests share."""

import signal

import pytest


@pytest.fixture
def interrupts_heard():
    """Undo that SIGINT is ignored, as it is in a shell's background jobs, which the tests may be one of."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
