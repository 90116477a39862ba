"""A real cluster of processes, started once."""

from importlib.util import find_spec

import pytest

# Dask is an extra.
collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]


@pytest.fixture(scope="session")
def cluster():
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
