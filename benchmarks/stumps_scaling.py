"""Time and memory of StumpAdaBoostClassifier from ten thousand to a million rows of continuous features.

Every size runs in a process of its own, so that peak memory is that size's alone. Times are the processor's, best of
several fits in one thread: a long fit is interrupted by other work on the machine more often than a short one, which
would count against the exponent. Prints one line per size and the exponent of time in the number of rows; exits with
1 if it exceeds the limit.

Run with ``python benchmarks/stumps_scaling.py``.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from skecoc.learners import StumpAdaBoostClassifier

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
N_FEATURES = 20
LARGEST_EXPONENT = 1.1


def make_rows(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_FEATURES))
    noise = rng.normal(size=n_rows)
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 - X[:, 2] * X[:, 3] + noise > 0.5
    return X, y.astype(int)


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def best_time(action, repeats):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def measure(n_rows):
    """Time one size in this process; the compiled code is loaded from its cache before the clock starts."""
    small_X, small_y = make_rows(1_000)
    StumpAdaBoostClassifier().fit(small_X, small_y)
    X, y = make_rows(n_rows)
    model = StumpAdaBoostClassifier()
    before = peak_megabytes()
    seconds = best_time(lambda: model.fit(X, y), 3 if n_rows > 100_000 else 7)
    added = peak_megabytes() - before
    coded = model._prepare_rows(X)
    coding_seconds = best_time(lambda: model._prepare_rows(X), 2)
    return {
        "rows": n_rows,
        "fit": seconds,
        "coding": coding_seconds,
        "data_mb": X.nbytes / 2**20,
        "codes_mb": coded.codes.nbytes / 2**20,
        "added_mb": added,
        "peak_mb": peak_megabytes(),
        "exact": bool(coded.exact),
    }


def measure_in_own_process(n_rows):
    run = subprocess.run([sys.executable, __file__, str(n_rows)], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def main():
    header = ("rows", "fit s", "coding s", "us/row", "data MB", "codes MB", "fit adds MB", "peak MB", "exact")
    print(("{:>12}" * len(header)).format(*header))
    results = []
    for size in SIZES:
        r = measure_in_own_process(size)
        results.append(r)
        print(
            f"{r['rows']:12,}{r['fit']:12.3f}{r['coding']:12.3f}{1e6 * r['fit'] / r['rows']:12.2f}"
            f"{r['data_mb']:12.1f}{r['codes_mb']:12.1f}{r['added_mb']:12.1f}{r['peak_mb']:12.1f}{r['exact']!s:>12}",
            flush=True,
        )
    exponent = np.polyfit(np.log([r["rows"] for r in results]), np.log([r["fit"] for r in results]), 1)[0]
    holds = exponent <= LARGEST_EXPONENT
    print(f"fit time grows as rows^{exponent:.2f} (at most {LARGEST_EXPONENT}): {'ok' if holds else 'MISSED'}")
    return 0 if holds else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        sys.exit(main())
