"""A real cluster of processes, as in the library's tests of Dask."""

from importlib.util import find_spec

from tests.dask.conftest import cluster, no_threads_of_dask, nothing_is_left, process_state_is_kept

__all__ = ["cluster", "no_threads_of_dask", "nothing_is_left", "process_state_is_kept"]

collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]
