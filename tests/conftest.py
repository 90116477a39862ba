"""Fixtures that several rooms' tests share."""

import os
import signal

import pytest
from hypothesis import settings

# In CI every run tries the same examples, so that a change is never blamed for another day's luck.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def interrupts_heard():
    """Undo that SIGINT is ignored, as it is in a shell's background jobs, which the tests may be one of."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
