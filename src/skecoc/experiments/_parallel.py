"""Tasks through joblib, with one Ctrl-C for all of them."""

import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import Parallel

from skecoc.experiments._interrupts import interrupts_ignored


@contextmanager
def results_of(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Generator[Any]]:
    """Run tasks; workers ignore Ctrl-C, and stop when the block is left.

    Parameters
    ----------
    tasks : iterable of calls delayed by `joblib.delayed`
        Taken one by one as workers become free, in threads of joblib's.
    n_jobs : int or None
        Number of tasks at the same time, as joblib understands it.

    Yields
    ------
    generator
        The results, in the order in which tasks end.

    Examples
    --------
    >>> from joblib import delayed
    >>> with results_of([delayed(abs)(-1), delayed(abs)(-2)], n_jobs=1) as results:
    ...     sorted(results)
    [1, 2]
    """
    with interrupts_ignored():  # this is where joblib starts its workers
        results = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(tasks)
    try:
        yield results
    finally:
        with warnings.catch_warnings():  # joblib would advise to start fewer tasks
            warnings.simplefilter("ignore", UserWarning)
            results.close()
