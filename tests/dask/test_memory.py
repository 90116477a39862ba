import subprocess
import sys
import warnings
from importlib import import_module

import dask.array as da
import distributed
import numpy as np
import pandas as pd
import pytest

from dask import dataframe as dd
from skecoc.data.worker_memory import (
    MB,
    PartitionSizes,
    check_workers,
    largest_summand,
    least_bytes,
    needed_bytes,
    partitions_of,
)
from skecoc.learners import StumpAdaBoostClassifier
from tests.reference.blocks import ecoc_in_partitions, wolc_in_partitions

HEAVY = ("sklearn", "pandas", "dask.array", "dask.dataframe", "scipy.sparse", "scipy.special")


def worker(limit, threads=1):
    return {"tcp://somewhere": {"name": "first", "memory_limit": limit, "nthreads": threads}}


def rows(n_rows, n_features=20, part=50_000):
    return da.zeros((n_rows, n_features), chunks=(part, n_features))


def test_partitions_are_measured_before_they_are_computed():
    for kind, size in [(np.float32, 4), (float, 8), (np.uint8, 8), (bool, 8), (np.longdouble, 16)]:
        array = da.zeros((100, 6), chunks=((30, 70), (2, 4)), dtype=kind)
        assert partitions_of(array) == ((70, 30), 6, size)
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    assert partitions_of(frame) == partitions_of(frame.values) == ((), 0, 0)


def test_workers_are_told_that_they_may_be_too_small_by_what_they_hold():
    X = rows(4_000_000)
    needed = needed_bytes(PartitionSizes((50_000,) * 80, 20, 8), 1, 32_768, is_light=True)
    assert needed == 220 * MB + 50_000 * (4 * 160 + 100) + 4 * 32_768 * 160
    limit = needed / 0.8 + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_workers(worker(limit), X, 100, is_light=True)
        check_workers(worker(limit, 4), rows(50_000), 32_768, is_light=True)  # three threads have nothing to do
        check_workers(worker(0), rows(10**9, part=10**9), 32_768, is_light=False)  # without a limit
        check_workers({}, X, 32_768, is_light=False)  # workers are still to come
    for limit, threads, X, is_light in [
        (needed / 0.8 - 1, 1, rows(4_000_000), True),
        (needed / 0.8 + 1, 2, rows(4_000_000), True),
        (needed / 0.8 + 1, 1, rows(4_000_000, part=100_000), True),
        (needed / 0.8 + 1, 1, rows(4_000_000).astype(np.int8), True),  # scikit-learn converts it
        (needed / 0.8 + 1, 1, rows(4_000_000), False),
    ]:
        plural = "threads" if threads > 1 else "thread"
        said = rf"worker first is limited to {limit / MB:.0f} MB .* and {threads} {plural}\. \d+ MB are enough"
        with pytest.warns(UserWarning, match=said):
            check_workers(worker(limit, threads), X, 32_768, is_light=is_light)


def test_one_large_partition_needs_one_thread():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_workers(worker(1200e6, 4), rows(600_000, part=600_000), 32_768, is_light=True)
        check_workers(worker(32e9, 8), rows(6_000_000, part=6_000_000), 32_768, is_light=False)


def test_only_workers_that_cannot_hold_a_partition_are_refused():
    X = rows(4_000_000, part=1_000_000)
    least = least_bytes(partitions_of(X), is_light=True)
    assert least == 170 * MB + 1_000_000 * (160 + 32)
    with pytest.warns(UserWarning, match="may be too little"):
        check_workers(worker(least / 0.95 + 1, 16), X, 32_768, is_light=True)
    with pytest.raises(
        MemoryError, match=rf"needs more than {least / MB:.0f} MB there, with partitions of up to 153 MB"
    ):
        check_workers(worker(least / 0.95 - 1), X, 32_768, is_light=True)


def test_summands_are_small_where_workers_are():
    assert largest_summand({}) == largest_summand(worker(None)) == largest_summand(worker(2**40))
    assert 16 * largest_summand(worker(700 * MB)) < 0.3 * 700 * MB
    assert largest_summand({**worker(700 * MB), "other": {"memory_limit": 70 * MB}}) >= MB


@pytest.mark.parametrize("classifier", [ecoc_in_partitions, wolc_in_partitions])
def test_a_cluster_of_small_workers_is_refused_before_anything_is_computed(classifier, no_threads_of_dask):
    def compute(_):
        raise AssertionError("a partition was computed")

    X = rows(100_000).map_blocks(compute, dtype=float, meta=np.empty((0, 0)))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, memory_limit=150 * MB, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(MemoryError, match=r"limited to 150 MB .*needs more than \d+ MB .* partitions of up to 8 MB"),
    ):
        classifier(client=client).fit(X, da.zeros(100_000, chunks=50_000, dtype=int))


def test_importing_the_classifiers_of_a_cluster_loads_next_to_nothing():
    modules = "skecoc.data.partitions, skecoc.learners.boosting"
    code = f"import sys, {modules}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]"]


def test_without_distributed_the_fit_says_what_is_missing():
    code = """
import sys; sys.modules['distributed'] = None
from skecoc import ECOCClassifier; from skecoc.data import Partitions
ECOCClassifier().fit(Partitions([[0.0], [1.0]], [0, 1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "skecoc[dask]" in done.stderr.replace("scikit-ecoc[dask]", "skecoc[dask]")


def test_workers_of_a_fixed_code_load_no_more_than_its_loops(no_threads_of_dask):
    X = da.from_array(np.random.default_rng(0).normal(size=(300, 4)), chunks=(100, 4))
    y = da.from_array(np.arange(300) % 3, chunks=100)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.run(import_module, "scipy.linalg")  # which older versions load for numba, with sparse matrices
        (before,) = client.run(lambda: list(sys.modules)).values()
        ecoc_in_partitions(StumpAdaBoostClassifier(3), max_bins=16, client=client).fit(X, y)
        (loaded,) = client.run(lambda: list(sys.modules)).values()
    assert "skecoc.learners.boosting" in loaded
    assert [name for name in HEAVY if name in loaded and name not in before] == []
    assert "sklearn" not in before
