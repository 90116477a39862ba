"""Boosted stumps against scikit-learn's AdaBoostClassifier, one thread each, on one-vs-rest columns of six sets.

The column asks for the second class (classes sorted). Both learners run in turn in the same process, best of several
runs; ours includes checking and coding the features. Compilation happens before the clock starts and is shown apart,
with the start of a second process, which loads the compiled code from its cache. Exits with 1 if a target is missed.

Run with ``python benchmarks/stumps.py``.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from _timing import best_times
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier

SETS = ("vehicle", "vowel", "satimage", "optdigits", "pendigits", "yeast")
N_STUMPS = 40
SMALLEST_FIT_RATIO, MEDIAN_FIT_RATIO, SMALLEST_PREDICT_RATIO = 15.0, 60.0, 10.0


def second_class_column(name):
    data = load_uci(name)
    return data.data, (data.target == np.unique(data.target)[1]).astype(int)


def first_fit_seconds():
    """Time the first fit and prediction of this process, of few and of many values, whole and by rows."""
    start = time.perf_counter()
    for X in (np.arange(600.0)[:, None] % 200, np.arange(600.0)[:, None]):
        y = (X[:, 0] > 77).astype(int)
        model = StumpAdaBoostClassifier().fit(X, y)
        model._fit_rows(model._prepare_rows(X), np.arange(300), y[:300])
        model.predict(X)
    return time.perf_counter() - start


def first_fits_of_two_processes():
    """Time the first fit in a process with an empty cache, and in the next one."""
    with tempfile.TemporaryDirectory() as cache:
        runs = [
            subprocess.run(
                [sys.executable, __file__, "--first-fit"],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
            )
            for _ in range(2)
        ]
    return [float(run.stdout) for run in runs]


def compare(name):
    """Print one set's times; return the ratios of fit and predict."""
    X, y = second_class_column(name)
    ours = StumpAdaBoostClassifier(N_STUMPS)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=N_STUMPS)
    our_fit, their_fit = best_times(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeats=7)
    our_predict, their_predict = best_times(lambda: ours.predict(X), lambda: theirs.predict(X), repeats=11)
    prepared = ours._prepare_rows(X)
    our_rows, _ = best_times(lambda: ours._fit_rows(prepared, None, y), lambda: None, repeats=11)
    fit_ratio, predict_ratio = their_fit / our_fit, their_predict / our_predict
    shape = f"{X.shape[0]} x {X.shape[1]}"
    print(
        f"{name:>10}{shape:>12}{1e3 * their_fit:11.1f}{1e3 * our_fit:9.2f}{1e3 * our_rows:11.2f}{fit_ratio:8.0f}"
        f"{1e3 * their_predict:12.2f}{1e3 * our_predict:9.3f}{predict_ratio:8.0f}"
        f"{theirs.score(X, y):10.4f}{ours.score(X, y):9.4f}",
        flush=True,
    )
    return fit_ratio, predict_ratio


def main():
    cold, warm = first_fits_of_two_processes()
    print(f"first fits of a process, all kernels: {cold:.1f} s compiling, {warm:.2f} s from the cache\n")
    print(f"{'':22}{'---- fit (ms) ----':>31}{'':8}{'-- predict (ms) --':>21}{'':8}{'train accuracy':>19}")
    print(
        f"{'set':>10}{'rows':>12}{'sklearn':>11}{'ours':>9}{'if coded':>11}{'ratio':>8}"
        f"{'sklearn':>12}{'ours':>9}{'ratio':>8}{'sklearn':>10}{'ours':>9}"
    )
    with threadpool_limits(1):
        ratios = [compare(name) for name in SETS]
    fit_ratios, predict_ratios = zip(*ratios, strict=True)
    checks = [
        ("smallest fit ratio", min(fit_ratios), SMALLEST_FIT_RATIO),
        ("median fit ratio", statistics.median(fit_ratios), MEDIAN_FIT_RATIO),
        ("smallest predict ratio", min(predict_ratios), SMALLEST_PREDICT_RATIO),
    ]
    print()
    for label, value, target in checks:
        print(f"{label}: {value:.0f}x (at least {target:.0f}x): {'ok' if value >= target else 'MISSED'}")
    return 0 if all(value >= target for _, value, target in checks) else 1


if __name__ == "__main__":
    if "--first-fit" in sys.argv:
        print(first_fit_seconds())
    else:
        sys.exit(main())
