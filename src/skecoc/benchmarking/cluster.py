"""Tasks on a Dask cluster, as many at a time as it has threads."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from skecoc.support.errors import InputError

_CONNECT_SECONDS = 20


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler of a cluster.

    Parameters
    ----------
    address : str
        Where the scheduler listens, such as ``"tcp://10.0.0.1:8786"``.

    Yields
    ------
    distributed.Client
        A client, closed when the block is left.

    Raises
    ------
    InputError
        If Dask is not installed, or there is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--backend dask needs Dask: pip install 'scikit-ecoc[dask]'") from error
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"--scheduler: no Dask scheduler answers at '{address}'") from error
    with client:
        yield client


@contextmanager
def results_on_cluster(tasks: Iterable[Any], client: Any) -> Iterator[Generator[Any]]:
    """Run tasks on a cluster; those that are not done are cancelled when the block is left.

    Parameters
    ----------
    tasks : iterable of calls delayed by `joblib.delayed`
        Taken one by one as threads of the cluster become free.
    client : distributed.Client
        A client of the cluster.

    Yields
    ------
    generator
        The results, in the order in which tasks end.
    """
    results = _results(iter(tasks), client)
    try:
        yield results
    finally:
        results.close()


def _results(tasks: Iterator[Any], client: Any) -> Generator[Any]:
    """Keep every thread of the cluster busy, and give results as they come."""
    from distributed import CancelledError, as_completed
    from distributed.comm import CommClosedError

    def submit(task: Any) -> Any:
        function, arguments, keywords = task
        return client.submit(function, *arguments, **keywords, pure=False)

    address = client.scheduler.address
    running: Any = as_completed([submit(task) for task in islice(tasks, n_threads(client))], loop=client.loop)
    try:
        for future in running:
            yield future.result()
            running.update([submit(task) for task in islice(tasks, 1)])
    except (CancelledError, CommClosedError) as error:
        raise InputError(f"lost the Dask scheduler at '{address}'; the results up to now are kept") from error
    finally:
        running.clear()


def n_threads(client: Any) -> int:
    """Return how many tasks a cluster runs at the same time, at least 1: workers may still be coming."""
    return max(1, sum(client.nthreads().values()))
