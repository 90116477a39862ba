"""WOLC-ECOC beside scikit-learn's one-vs-one and one-vs-rest around its AdaBoost with the same 40 stumps: accuracy.

Stratified 10-fold on the UCI sets, on the folds of `skecoc reproduce`; all answer as they do by default. Results are
kept in a JSON file, so that a run can be stopped and taken up again.

    python benchmarks/wolc_peers.py --repeats 1 --out peers.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
from _folds import Fold, splits
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from skecoc import WOLCClassifier
from skecoc.datasets import list_uci

METHODS = ("WOLCClassifier", "OneVsOneClassifier", "OneVsRestClassifier")


def make(method: str) -> BaseEstimator:
    """Make a classifier by its name."""
    if method == "WOLCClassifier":
        return WOLCClassifier(random_state=0)
    strategy = {"OneVsOneClassifier": OneVsOneClassifier, "OneVsRestClassifier": OneVsRestClassifier}[method]
    return strategy(AdaBoostClassifier(n_estimators=40, random_state=0))


def accuracy(method: str, fold: Fold) -> float:
    """Train and test a method on one fold, in percent."""
    X, y, X_test, y_test = fold
    return 100 * float(make(method).fit(X, y).score(X_test, y_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("wolc_peers.json"))
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.sets:
        for repeat in range(options.repeats):
            if f"{name}/{repeat}" not in stored:
                folds = list(splits(name, repeat))
                stored[f"{name}/{repeat}"] = [[accuracy(method, fold) for method in METHODS] for fold in folds]
                options.out.write_text(json.dumps(stored))
    means = np.array(
        [np.mean([stored[f"{name}/{k}"] for k in range(options.repeats)], axis=(0, 1)) for name in options.sets]
    )
    print(f"{'':<14}" + "".join(f"{method:>22}" for method in METHODS))
    for name, row in zip([*options.sets, "mean"], [*means, means.mean(axis=0)], strict=True):
        print(f"{name:<14}" + "".join(f"{value:22.2f}" for value in row))


if __name__ == "__main__":
    main()
