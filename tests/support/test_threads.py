"""Limits of threads, also where several threads set them."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np

from skecoc.support.processes import one_thread, thread_pools


def n_threads():
    """Return the numbers of threads of all libraries, as this thread sees them."""
    return [library["num_threads"] for library in thread_pools().info()]


def test_limits_end_with_the_last_that_wants_them():
    np.ones((4, 4)) @ np.ones((4, 4))
    before = n_threads()
    inside = []

    def limited(seconds):
        with one_thread():
            sleep(seconds)
            inside.append(n_threads())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(limited, [0.05, 0.01, 0.03, 0.02]))
    assert all(set(numbers) <= {1} for numbers in inside)
    assert n_threads() == before
