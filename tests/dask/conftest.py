"""A real cluster of processes, started once for this folder and closed after it."""

from contextlib import suppress
from importlib.util import find_spec

import pytest

from tests.conftest import check_nothing_is_left

# Dask is an extra.
collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]

# Of the whole folder: the cluster replaces workers that tests kill.
nothing_is_left = pytest.fixture(autouse=True, scope="package")(check_nothing_is_left)


@pytest.fixture(autouse=True)
def process_state_is_kept():
    """Compare nothing here: threads of the cluster change settings for a moment whenever they start a worker."""


@pytest.fixture(autouse=True, scope="package")
def no_threads_of_dask(nothing_is_left):
    """End the threads that Dask keeps for what is computed without a cluster."""
    yield
    from dask import threaded

    if threaded.default_pool is not None:
        threaded.default_pool.shutdown()
        threaded.default_pool = None


@pytest.fixture(autouse=True, scope="package")
def few_rows_stay_on_the_workers():
    """Do not put few rows together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skecoc.classifiers.base.MANY_TO_BIN", 0)
        patch.setattr("skecoc.classifiers.ecoc.MANY_TO_BIN", 0)
        yield


@pytest.fixture(scope="package")
def cluster(no_threads_of_dask):
    import distributed
    from distributed.utils import get_mp_context

    import dask

    # Workers are forked from a process that has imported what they need: those that are killed are soon replaced. By
    # default a cluster gives up for good what is not back after 15 seconds, which a busy machine may need.
    settings = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with dask.config.set(settings):
        get_mp_context().set_forkserver_preload(["skecoc.data.partitions"])
        running = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
        try:
            yield running
        finally:
            with suppress(KeyError):  # Dask's own, at the very end, if it does not know a worker that was killed early
                running.close()


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as connected:
        try:
            connected.wait_for_workers(2, timeout=60)  # if a test before has killed one
        except TimeoutError:
            cluster.scale(0)
            cluster.scale(2)
            connected.wait_for_workers(2, timeout=120)
        yield connected
