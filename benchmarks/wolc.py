"""Time of a whole WOLC-ECOC fit beside scikit-learn's one-vs-one around AdaBoost with the same 40 stumps.

On the UCI sets: seconds of both, their ratio, and the share of the whole fit that goes into weights. Then fit time
against the number of rows, on synthetic data, with the exponent of a power law through it; and for many classes, as a
ratio to our own one-vs-one.

    OPENBLAS_NUM_THREADS=1 python benchmarks/wolc.py
    OPENBLAS_NUM_THREADS=1 python benchmarks/wolc.py --rows 10000 100000 1000000 --sets --classes
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from _timing import best_times
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.impute import SimpleImputer
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.classifiers.weighting import WeightStrategy
from skecoc.datasets import list_uci, load_uci


def weights_share(model: WOLCClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Fit and return the share of the time that goes into weights: of groups in every round, and optimised ones."""
    spent = []

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = process_time()
            result = method(*arguments)
            spent.append(process_time() - start)
            return result

        return run

    strategy = WeightStrategy
    with (
        patch.object(strategy, "evaluate", timed(strategy.evaluate)),
        patch.object(strategy, "refine", timed(strategy.refine)),
    ):
        start = process_time()
        model.fit(X, y)
        return sum(spent) / (process_time() - start)


def compare(name: str, repeats: int) -> tuple[float, float]:
    """Print both times on a data set and return the ratio and the share of the weights."""
    X, y = load_uci(name, return_X_y=True)
    X = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()).fit_transform(X)
    model = WOLCClassifier(random_state=0)
    theirs = OneVsOneClassifier(AdaBoostClassifier(n_estimators=40, random_state=0))
    ours_time, their_time = best_times(lambda: model.fit(X, y), lambda: theirs.fit(X, y), repeats)
    share = float(np.median([weights_share(model, X, y) for _ in range(repeats)]))
    print(
        f"{name:<14}{ours_time:9.3f} s {their_time:9.3f} s {their_time / ours_time:8.1f} x   weights {share:4.0%}"
        f"   {len(model.history_):3d} rounds, {model.code_matrix_.shape[1]:3d} columns",
        flush=True,
    )
    return their_time / ours_time, share


def scaling(sizes: list[int]) -> None:
    """Print the fit time against the number of rows, and its exponent."""
    times = []
    for n_rows in sizes:
        X, y = make_classification(n_rows, 20, n_informative=10, n_classes=8, random_state=0)
        started = process_time()
        model = WOLCClassifier(random_state=0, max_iter=3, patience=3, tol=0.0).fit(X, y)
        times.append(process_time() - started)
        print(f"{n_rows:>9} rows {times[-1]:9.2f} s   {model.history_[-1].n_columns} columns trained", flush=True)
    print(f"exponent {np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}")


def many_classes(sizes: list[str]) -> None:
    """Print the fit time for many classes, as a ratio to that of our own one-vs-one, and both accuracies."""
    for size in sizes:
        n_classes, n_rows = (int(number) for number in size.split("x"))
        X, y = make_classification(
            2 * n_rows,
            16,
            n_informative=12,
            n_redundant=0,
            n_classes=n_classes,
            n_clusters_per_class=1,
            class_sep=2.0,
            random_state=0,
        )
        X, X_test, y, y_test = X[:n_rows], X[n_rows:], y[:n_rows], y[n_rows:]
        model, pairs = WOLCClassifier(random_state=0), ECOCClassifier(random_state=0)
        time, pairs_time = best_times(lambda: model.fit(X, y), lambda: pairs.fit(X, y), 2)  # noqa: B023
        print(
            f"{n_classes:>4} classes x {n_rows} rows: {time / pairs_time:.2f} x one-vs-one's time, accuracy "
            f"{model.score(X_test, y_test):.3f} against {pairs.score(X_test, y_test):.3f}, "
            f"{len(model.history_)} rounds, {len(model.used_columns_)} columns",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="*", default=list_uci())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", nargs="*", type=int, default=[10_000, 30_000, 100_000])
    parser.add_argument("--classes", nargs="*", default=["26x20000", "50x5000", "200x6000"])
    options = parser.parse_args()
    X, y = load_uci("vehicle", return_X_y=True)
    WOLCClassifier().fit(X, y)  # compiles what is compiled
    if options.sets:
        print(f"{'':<14}{'WOLC':>11} {'scikit-learn':>11} {'ratio':>10}")
        found = np.array([compare(name, options.repeats) for name in options.sets])
        ratios = found[:, 0]
        share = np.median(found[:, 1])
        print(f"median {np.median(ratios):.1f} x, least {ratios.min():.1f} x; weights {share:.0%} in the median")
    if options.rows:
        scaling(options.rows)
    if options.classes:
        many_classes(options.classes)


if __name__ == "__main__":
    main()
