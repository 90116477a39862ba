"""Memory and time of fitting more rows than a process may hold, beside the same rows in memory.

Rows (20 features, 10 classes) are generated in partitions by whatever reads them, and never exist together. For each
way of fitting this prints the peak memory of every process, above what it has after a small fit, against the size of
the data as float64; the processor's time per row against `ECOCClassifier` on rows in memory (as many as are reasonable
there); and the exponent of the time in the number of rows. Exits with 1 if a limit is exceeded: memory above a quarter
of the data, a ratio above 2, an exponent above 1.1.

Run with ``python benchmarks/scale.py``; ``--rows 500000`` takes a tenth of the time, ``--workers 1 2 4`` measures the
passes of the cost model on clusters of so many processes instead.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from threading import Event, Thread

import numpy as np

N_FEATURES, N_CLASSES = 20, 10
PART_ROWS = 50_000
MEMORY_ROWS = 500_000
LARGEST_SHARE, LARGEST_RATIO, LARGEST_EXPONENT = 0.25, 2.0, 1.1


def make_part(number, n_rows=PART_ROWS):
    """Make the rows of one partition."""
    centres = np.random.default_rng(7).normal(size=(4 * N_CLASSES, N_FEATURES))
    rng = np.random.default_rng([1, number])
    blob = rng.integers(len(centres), size=n_rows)
    return centres[blob] + rng.normal(size=(n_rows, N_FEATURES)), (blob % N_CLASSES).astype(np.int8)


class Generated:
    """Partitions that are made whenever they are read."""

    def __init__(self, n_rows, part_rows=PART_ROWS):
        self.sizes = [min(part_rows, n_rows - first) for first in range(0, n_rows, part_rows)]

    def __iter__(self):
        return (make_part(number, size) for number, size in enumerate(self.sizes))


def dask_arrays(n_rows, part_rows=PART_ROWS):
    """Return the same partitions as Dask arrays, made by the workers."""
    import dask.array as da

    import dask

    features, labels = [], []
    for number, size in enumerate(Generated(n_rows, part_rows).sizes):
        part = dask.delayed(make_part, nout=2, pure=True)(number, size)
        features.append(da.from_delayed(part[0], (size, N_FEATURES), np.float64))
        labels.append(da.from_delayed(part[1], (size,), np.int8))
    return da.concatenate(features), da.concatenate(labels)


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit(how, n_rows):
    """Fit a code by one of the ways, on this machine."""
    from skecoc import ECOCClassifier, WOLCClassifier
    from skecoc.data import Blocks

    if how == "memory":
        X, y = (np.concatenate(arrays) for arrays in zip(*Generated(n_rows), strict=True))
        start = time.process_time()
        ECOCClassifier(coding="one-vs-rest", random_state=0).fit(X, y)
        return time.process_time() - start
    generate = time.process_time()
    for _ in Generated(n_rows):
        pass
    generate = time.process_time() - generate
    start = time.process_time()
    if how == "blocks":
        ECOCClassifier(coding="one-vs-rest", random_state=0).fit(Blocks(Generated(n_rows)))
    else:
        WOLCClassifier(random_state=0, max_iter=2).fit(Blocks(Generated(n_rows)))
    # Rows are made twice, which is not the fit's fault.
    return time.process_time() - start - 2.0 * generate


def measure(how, n_rows):
    """Measure one way in this process, after a small fit that loads the compiled code."""
    fit(how, 2_000)
    before = peak_megabytes()
    return {"seconds": fit(how, n_rows), "added_mb": peak_megabytes() - before, "peak_mb": peak_megabytes()}


def in_process(*arguments):
    """Measure in a process of its own, so that peak memory is that measurement's alone."""
    command = [sys.executable, __file__, "--measure", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


class _Watch:
    """Watches the peak memory of a cluster's workers, and sums their processor time."""

    def __init__(self, client):
        import psutil

        self.processes = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        self.peak = [0.0] * len(self.processes)
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.1):
            memory = [process.memory_info().rss / 2**20 for process in self.processes]
            self.peak = list(map(max, self.peak, memory))

    def seconds(self):
        return sum(sum(process.cpu_times()[:2]) for process in self.processes)

    def stop(self):
        self._ended.set()
        self._thread.join()


def measure_cluster(n_workers, n_rows):
    """Fit on a cluster of so many processes, and fit as many partitions of next to no rows."""
    from distributed import Client, LocalCluster

    from skecoc import ECOCClassifier

    model = ECOCClassifier(coding="one-vs-rest", random_state=0)
    n_parts = len(Generated(n_rows).sizes)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        model.fit(*dask_arrays(100 * n_parts, 100))  # loads the compiled code
        start = time.perf_counter()
        model.fit(*dask_arrays(100 * n_parts, 100))
        overhead = time.perf_counter() - start
        watch = _Watch(client)
        base = max(process.memory_info().rss / 2**20 for process in watch.processes)
        before, sent, start = watch.seconds(), sent_megabytes(client), time.perf_counter()
        model.fit(*dask_arrays(n_rows))
        wall, busy = time.perf_counter() - start, watch.seconds() - before
        sent = sent_megabytes(client) - sent
        watch.stop()
    return {
        "wall": wall,
        "busy": busy,
        "sent": sent,
        "overhead": overhead,
        "peak": max(watch.peak),
        "added": max(watch.peak) - base,
    }


def sent_megabytes(client):
    """Sum up what all workers have sent to other workers and to the client."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values()) / 2**20


def predicted_megabytes(n_workers, n_rows):
    """Predict what boosting sends: a histogram per partition and round that is merged elsewhere, and one for all."""
    n_parts, rounds, bins = len(Generated(n_rows).sizes), 40, 256
    histograms = N_CLASSES * N_FEATURES * bins * 8 / 2**20
    elsewhere = (1.0 - 1.0 / n_workers) * n_parts * 8 / 7
    return (rounds + 2) * histograms * (elsewhere + 1)  # the first round counts rows, too


def compare_clusters(sizes, n_rows):
    """Print what clusters of several sizes take for the same rows, beside what the smallest one's time predicts."""
    work = None
    for n_workers in sizes:
        found = measure_cluster(n_workers, n_rows)
        work = found["busy"] if work is None else work
        predicted = found["overhead"] + work / min(n_workers, os.cpu_count())
        print(
            f"{n_workers} workers, {n_rows:,} rows: {found['wall']:.1f} s (predicted {predicted:.1f} s), workers busy "
            f"{found['busy']:.1f} s, {found['overhead']:.1f} s with empty partitions; sent {found['sent']:.0f} MB "
            f"(predicted {predicted_megabytes(n_workers, n_rows):.0f} MB); peak {found['peak']:.0f} MB a worker, "
            f"{found['added']:.0f} MB added",
            flush=True,
        )


def compare(n_rows):
    """Print memory, time per row and exponent; tell whether all limits are kept."""
    data_mb = n_rows * N_FEATURES * 8 / 2**20
    memory_rows = min(MEMORY_ROWS, n_rows)
    memory = in_process("memory", memory_rows)
    per_row = memory["seconds"] / memory_rows
    print(f"in memory, {memory_rows:,} rows: {1e6 * per_row:.1f} us a row, {memory['added_mb']:.0f} MB added")
    kept = True
    for how in ("blocks", "wolc"):
        sizes = [n_rows // 10, n_rows]
        found = [in_process(how, size) for size in sizes]
        ratio = found[1]["seconds"] / n_rows / per_row
        exponent = float(np.log10(found[1]["seconds"] / found[0]["seconds"]))
        share = found[1]["added_mb"] / data_mb
        print(
            f"{how}, {n_rows:,} rows: {1e6 * found[1]['seconds'] / n_rows:.1f} us a row, ratio {ratio:.2f}; "
            f"exponent {exponent:.2f}; {found[1]['added_mb']:.0f} MB added, peak {found[1]['peak_mb']:.0f} MB, "
            f"data {data_mb:.0f} MB (share {share:.2f})"
        )
        kept &= exponent <= LARGEST_EXPONENT and share <= LARGEST_SHARE
        kept &= how != "blocks" or ratio <= LARGEST_RATIO
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, nargs="+", help="measure clusters of so many processes")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], int(options.measure[1]))))
    elif options.workers:
        compare_clusters(options.workers, options.rows)
    elif not compare(options.rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
