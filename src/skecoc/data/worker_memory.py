"""How much memory the workers of a cluster need, and an error before the fit if they have less.

Coded rows and codewords are left to Dask, which moves them to a worker's disk when its memory fills up. What cannot be
moved is what this module counts: a worker that lacks it would be paused for good, or killed and restarted.
"""

import warnings
from collections.abc import Mapping
from math import isnan
from typing import Any, NamedTuple

from skecoc.data.bins import SAMPLE_ROWS
from skecoc.data.executor import FAN_IN

MB = 2**20
#: Memory of a worker before it holds any rows: Python, the packages that a fit loads, and compiled loops.
BASE_BYTES = 360 * MB
#: The same where scikit-learn and pandas are not loaded.
LIGHT_BASE_BYTES = 220 * MB
#: Lower bounds of both: fits of 300 rows took 331 and 197 MB.
LEAST_BYTES, LEAST_LIGHT_BYTES = 290 * MB, 170 * MB
#: Copies of a partition that a thread holds while it reads it, and bytes per row that are needed to hash, sort and
#: summarise them: the most that were measured, and the least possible.
RAW_COPIES, LEAST_COPIES = 4, 1
BYTES_PER_ROW, LEAST_BYTES_PER_ROW = 100, 32
#: Number of samples of rows that a worker holds at a time while they are merged.
SAMPLES = 4
#: The share of its limit that a worker may fill permanently: above it, Dask gives it no further tasks.
USABLE = 0.8
#: The share of its limit at which Dask ends a worker.
_DEADLY = 0.95
#: A worker's limit divided by the size that a summand may have: it holds those of a group while the next are computed.
_SUMMANDS = 8 * FAN_IN
_SMALLEST_SUMMAND, _LARGEST_SUMMAND = 2**20, 2**25

Workers = Mapping[str, Mapping[str, Any]]


class PartitionSizes(NamedTuple):
    """Rows of partitions, the largest first, features, and bytes of a value; no rows if they are not known."""

    n_rows: tuple[int, ...]
    n_features: int
    value_bytes: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.n_features * self.value_bytes

    @property
    def largest(self) -> int:
        """Rows of the largest partition."""
        return max(self.n_rows, default=0)


def partitions_of(X: Any) -> PartitionSizes:
    """Measure the partitions of a Dask array once they are read; numbers that are not floats become float64."""
    chunks = getattr(X, "chunks", None)
    if chunks is None or any(isnan(size) for sizes in chunks for size in sizes):
        return PartitionSizes((), 0, 0)
    value_bytes = X.dtype.itemsize if _is_float(X) else max(X.dtype.itemsize, 8)
    return PartitionSizes(tuple(sorted(chunks[0], reverse=True)), sum(chunks[1]), value_bytes)


def _is_float(X: Any) -> bool:
    """Tell whether blocks of an array are not converted."""
    return str(X.dtype) in {"float64", "float32"}


def needed_bytes(partitions: PartitionSizes, n_threads: int, sample_rows: int, *, is_light: bool) -> int:
    """Return the memory that is enough for a worker of which each thread reads a large partition.

    >>> needed_bytes(PartitionSizes((50_000,) * 80, 20, 8), 1, 32_768, is_light=True) // MB
    275
    """
    n_rows = sum(partitions.n_rows[:n_threads])
    base = LIGHT_BASE_BYTES if is_light else BASE_BYTES
    raw = n_rows * (RAW_COPIES * partitions.row_bytes + BYTES_PER_ROW)
    return base + raw + SAMPLES * 8 * partitions.n_features * min(sample_rows, sum(partitions.n_rows))


def least_bytes(partitions: PartitionSizes, *, is_light: bool) -> int:
    """Return the memory that a worker needs at least for the largest partition, even if nothing is copied.

    >>> least_bytes(PartitionSizes((600_000,), 20, 8), is_light=True) // MB
    279
    """
    base = LEAST_LIGHT_BYTES if is_light else LEAST_BYTES
    return base + partitions.largest * (LEAST_COPIES * partitions.row_bytes + LEAST_BYTES_PER_ROW)


def check_workers(workers: Workers, X: Any, sample_size: int, *, is_light: bool) -> None:
    """Check that workers with a memory limit can hold what cannot be moved to their disks.

    It is an error if one cannot hold the largest partition, and a warning if it may not hold as many as it has threads.
    `is_light` says whether blocks of floating-point arrays do without scikit-learn; others never do.
    """
    partitions = partitions_of(X)
    is_light = is_light and hasattr(X, "chunks") and _is_float(X)
    least = least_bytes(partitions, is_light=is_light)
    largest = f"partitions of up to {partitions.row_bytes * partitions.largest / MB:.0f} MB"
    for address, worker in workers.items():
        limit, n_threads = worker.get("memory_limit") or 0, worker["nthreads"]
        if not limit:
            continue
        needed = needed_bytes(partitions, n_threads, max(sample_size, SAMPLE_ROWS), is_light=is_light)
        told = f"worker {worker.get('name', address)} is limited to {limit / MB:.0f} MB of memory"
        advice = f"{needed / USABLE / MB:.0f} MB are enough; smaller partitions (X.rechunk) or fewer threads need less"
        if _DEADLY * limit < least:
            raise MemoryError(f"{told}; this fit needs more than {least / MB:.0f} MB there, with {largest}. {advice}")
        if USABLE * limit < needed:
            threads = f"{n_threads} thread{'s' if n_threads > 1 else ''}"
            text = f"{told}, which may be too little for this fit, with {largest} and {threads}. {advice}"
            warnings.warn(text, UserWarning, stacklevel=3)
            return


def largest_summand(workers: Workers) -> int:
    """Return how many bytes the summand of a partition may have, so that those of a group fit into every worker."""
    limits = [worker["memory_limit"] for worker in workers.values() if worker.get("memory_limit")]
    share = min(limits, default=_SUMMANDS * _LARGEST_SUMMAND) // _SUMMANDS
    return int(min(max(share, _SMALLEST_SUMMAND), _LARGEST_SUMMAND))
