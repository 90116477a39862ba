# ruff: noqa: D205, D400
"""
Rows and columns on a Dask cluster
==================================

Two ways to use several machines: train the columns of a code on many workers, or leave the rows there and send only
sums over them. Both give the results of one machine. This script starts a cluster of two processes::

    python dask_cluster.py

or uses a running one as soon as it has the given number of workers (``cluster_from_the_shell.sh`` starts one)::

    python dask_cluster.py tcp://127.0.0.1:8786 2
"""

import sys

import dask.array as da
import joblib
import numpy as np
from distributed import Client

import dask
from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.data import Blocks

N_ROWS, N_FEATURES, N_CLASSES = 8_000, 10, 5


def make_part(number, n_rows):
    """Make the rows of one partition: classes that are several blobs each."""
    centres = 2.0 * np.random.default_rng(0).normal(size=(3 * N_CLASSES, N_FEATURES))
    rng = np.random.default_rng([1, number])
    blob = rng.integers(len(centres), size=n_rows)
    return centres[blob] + rng.normal(size=(n_rows, N_FEATURES)), blob % N_CLASSES


def read_parts(n_parts, n_rows):
    """Describe rows and labels that workers make, or read, partition by partition."""
    parts = [dask.delayed(make_part, nout=2)(number, n_rows) for number in range(n_parts)]
    rows = [da.from_delayed(X, (n_rows, N_FEATURES), float) for X, _ in parts]
    labels = [da.from_delayed(y, (n_rows,), int) for _, y in parts]
    return da.concatenate(rows), da.concatenate(labels)


def connect(address=None, n_workers="2"):
    """Connect to a running cluster and wait for its workers, or start one."""
    if address is None:
        return Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = Client(address, timeout=120)
    client.wait_for_workers(int(n_workers), timeout=120)
    return client


def main():
    """Fit by columns, then by rows, and compare with one machine."""
    parts = [make_part(number, N_ROWS // 4) for number in range(4)]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    X_test, y_test = make_part(4, 5_000)
    with connect(*sys.argv[1:]) as client:
        print(f"{len(client.nthreads())} workers at {client.scheduler.address}", flush=True)

        # By columns: all rows go to every worker, once.
        alone = ECOCClassifier(random_state=0).fit(X, y)
        with joblib.parallel_config(backend="dask", client=client):
            together = ECOCClassifier(random_state=0).fit(X, y)
        same = np.array_equal(alone.decision_function(X_test), together.decision_function(X_test))
        print(f"by columns: accuracy {together.score(X_test, y_test):.3f}, as on one machine: {same}")

        # By rows: workers read their partitions, and keep them.
        rows, labels = read_parts(4, N_ROWS // 4)
        model = WOLCClassifier(random_state=0, max_iter=2).fit(rows, labels)
        local = WOLCClassifier(random_state=0, max_iter=2).fit(Blocks(parts))
        same = np.array_equal(model.decision_function(X_test), local.decision_function(X_test))
        print(f"by rows: {model.code_matrix_.shape[1]} columns, accuracy {model.score(X_test, y_test):.3f}, ", end="")
        print(f"as on one machine: {same}")

        # Predictions of partitions are lazy; the model itself needs no cluster.
        print(model.predict(rows))
        print(model)


if __name__ == "__main__":
    main()
