"""Fixtures of the library's tests, which this distribution's tests use, too: see `tests/conftest.py`."""

from tests.conftest import (
    interrupts_heard,
    nothing_is_left,
    one_thread,
    process_state_is_kept,
    pytest_itemcollected,
)

__all__ = ["interrupts_heard", "nothing_is_left", "one_thread", "process_state_is_kept", "pytest_itemcollected"]
