"""A real cluster of processes, started once for this folder and closed after it."""

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


@pytest.fixture(scope="package")
def cluster(no_threads_of_dask):
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as connected:
        yield connected
