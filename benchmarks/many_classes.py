"""A thousand classes: output codes beside what a user would do instead, on the same learner where there is one.

Data are drawn by two generators: one Gaussian cloud per class, which suits linear learners, and three clusters per
class that each differ from the rest in ten of the features only, which suits trees. Every line is a process of its own
with a limit on its processor time. Measured: processor seconds of fit and predict (of 10,000 samples at full size),
peak memory above that of libraries and data, test accuracy, and bytes of the pickled model, all on one core.

    python benchmarks/many_classes.py [--size quick full] [--limit SECONDS] [--data clouds clusters] [--only NAME ...]

The sizes are 100 classes x 5,000 samples ("quick") and 1,000 classes x 50,000 samples ("full"). Lines that `--output`
has already are not measured again, so that a run may be continued; "-" stands for lines that did not finish within
their limit. scripts/make_results.py makes the tables of docs/how_to/many_classes.md from the file.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, WOLCClassifier

N_FEATURES = 50
SIZES = {"quick": (100, 5_000, 1_000), "full": (1000, 50_000, 10_000)}
GIGABYTES = 8


def boosting() -> BaseEstimator:
    """Return a LightGBM of 20 rounds."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=20, num_leaves=15, n_jobs=1, verbose=-1, random_state=0)


def histogram_boosting() -> BaseEstimator:
    """Return scikit-learn's boosting of as many rounds."""
    return HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=15, early_stopping=False, random_state=0)


def tree() -> BaseEstimator:
    """Return a tree that is grown to the end."""
    return DecisionTreeClassifier(random_state=0)


def output_code(n_classes: int) -> BaseEstimator:
    """Return scikit-learn's output code of trees, of as many columns as ours."""
    n_columns = int(np.ceil(10 * np.log2(n_classes)))
    return OutputCodeClassifier(tree(), code_size=n_columns / n_classes, random_state=0)


#: What is measured; each is made from the number of classes.
METHODS: dict[str, Callable[[int], BaseEstimator]] = {
    "stumps/auto": lambda _: ECOCClassifier(random_state=0),
    "logistic/auto": lambda _: ECOCClassifier(LogisticRegression(), random_state=0),
    "lightgbm/auto": lambda _: ECOCClassifier(boosting(), random_state=0),
    "logistic/alone": lambda _: LogisticRegression(),
    "logistic/OneVsRestClassifier": lambda _: OneVsRestClassifier(LogisticRegression()),
    "tree/alone": lambda _: tree(),
    "lightgbm/alone": lambda _: boosting(),
    "histogram boosting/alone": lambda _: histogram_boosting(),
    "lightgbm/OneVsRestClassifier": lambda _: OneVsRestClassifier(boosting()),
    "stumps/one-vs-rest": lambda _: ECOCClassifier(coding="one-vs-rest", decoding="loss-based"),
    "stumps/WOLCClassifier": lambda _: WOLCClassifier(random_state=0),
    "tree/auto": lambda _: ECOCClassifier(tree(), random_state=0),
    "forest of 100/alone": lambda _: RandomForestClassifier(100, n_jobs=1, random_state=0),
    "tree/OutputCodeClassifier": output_code,
}


def clouds(n_classes: int, n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples around one centre per class."""
    y = np.arange(n_samples) % n_classes
    centres = rng.normal(size=(n_classes, N_FEATURES))
    return centres[y] + rng.normal(scale=1.2, size=(n_samples, N_FEATURES)), y


def clusters(n_classes: int, n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples around three centres per class, each of which differs from zero in ten features."""
    y = np.arange(n_samples) % n_classes
    which = rng.permuted(np.tile(np.arange(N_FEATURES), (3 * n_classes, 1)), axis=1)[:, :10]
    centres = np.zeros((3 * n_classes, N_FEATURES))
    np.put_along_axis(centres, which, rng.choice([-3.0, 3.0], which.shape), axis=1)
    return centres[3 * y + rng.integers(0, 3, n_samples)] + rng.normal(size=(n_samples, N_FEATURES)), y


DATA = {"clouds": clouds, "clusters": clusters}


def memory(name: str) -> int:
    """Return a figure of this process's memory, in kilobytes, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def forget_peak() -> int:
    """Forget the peak of this process's memory so far; return what it has now, in kilobytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def measure(size: str, data: str, method: str) -> dict[str, Any]:
    """Fit and predict in this process."""
    n_classes, n_train, n_test = SIZES[size]
    X, y = DATA[data](n_classes, n_train + n_test, np.random.default_rng(0))
    model = METHODS[method](n_classes)
    before = forget_peak()
    start = process_time()
    model.fit(X[:n_train], y[:n_train])
    fitted = process_time()
    accuracy = float((model.predict(X[n_train:]) == y[n_train:]).mean())
    predicted = process_time()
    peak = memory("VmHWM")
    columns = len(model.estimators_) if hasattr(model, "code_matrix_") else None
    return {
        "coding": getattr(model, "coding_", None),
        "columns": columns,
        "accuracy": accuracy,
        "fit_seconds": round(fitted - start, 2),
        "predict_seconds": round(predicted - fitted, 2),
        "peak_megabytes": (peak - before) // 1024,
        "model_megabytes": round(len(pickle.dumps(model)) / 1e6, 2),
    }


def measure_apart(size: str, data: str, method: str, limit: int) -> dict[str, Any]:
    """Fit and predict in a process of its own, which ends when its processor time or its memory does."""

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))

    command = [sys.executable, __file__, "--one", size, data, method]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=set_limits)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    is_memory = "MemoryError" in done.stderr or "bad_alloc" in done.stderr
    failure = f"more than {GIGABYTES} GB" if is_memory else f"not finished within {limit} s"
    return {"failure": failure if done.returncode < 0 or is_memory else done.stderr.splitlines()[-1]}


def shown(data: str, method: str, found: dict[str, Any]) -> str:
    """Write a line of the table."""
    start = f"{data:<9} {method:<30}"
    if "failure" in found:
        return f"{start} - {found['failure']}"
    return (
        f"{start} {found['coding'] or '':<13} {found['columns'] or '':>7} {found['accuracy']:8.3f} "
        f"{found['fit_seconds']:8.1f} {found['predict_seconds']:9.2f} {found['peak_megabytes']:8d} "
        f"{found['model_megabytes']:8.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=[*SIZES])
    parser.add_argument("--limit", type=int, default=200, help="largest processor seconds of a line")
    parser.add_argument("--data", nargs="+", choices=DATA, default=[*DATA])
    parser.add_argument("--only", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--output", type=Path, help="JSON file of results, read first if it exists")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        with threadpool_limits(1):
            print(json.dumps(measure(*arguments.one)))
        return
    path: Path | None = arguments.output
    results = json.loads(path.read_text()) if path is not None and path.exists() else {}
    for size in arguments.size:
        n_classes, n_train, _ = SIZES[size]
        print(f"{n_classes:,} classes x {n_train:,} samples")
        print(
            f"{'data':<9} {'learner/method':<30} {'coding':<13} columns accuracy    fit s predict s  peak MB model MB"
        )
        for method in arguments.only:
            for data in arguments.data:
                lines = results.setdefault(size, {}).setdefault(data, {})
                if method not in lines:
                    lines[method] = measure_apart(size, data, method, arguments.limit)
                print(shown(data, method, lines[method]), flush=True)
                if path is not None:
                    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
