"""WOLC-ECOC beside scikit-learn's one-vs-one and one-vs-rest around its AdaBoost with the same 40 stumps.

The first `--folds` of ten stratified folds of the UCI sets, with the default outputs of each learner. Accuracy, and the
time of `fit` and `predict` as a ratio to scikit-learn's one-vs-one. Minutes, nearly
all of them scikit-learn's. Results are kept in a JSON file, so that a run can be stopped and taken up again.

    python benchmarks/wolc_peers.py --out docs/results/peers.json
    python benchmarks/wolc_peers.py --sets glass --folds 10
"""

import argparse
import json
from itertools import islice
from pathlib import Path
from time import process_time

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


def measured(method: str, fold: Fold) -> tuple[float, float, float]:
    """Train and test a method on one fold: accuracy in percent, seconds of the processor in fit and in predict."""
    X, y, X_test, y_test = fold
    start = process_time()
    model = make(method).fit(X, y)
    trained = process_time()
    found = model.predict(X_test)
    return 100 * float(np.mean(found == y_test)), trained - start, process_time() - trained


def compare(name: str, n_folds: int) -> dict[str, list[float]]:
    """Return the mean accuracy of each method on a set, and its times as ratios to scikit-learn's one-vs-one."""
    folds = list(islice(splits(name, 0), n_folds))
    table = np.array([[measured(method, fold) for fold in folds] for method in METHODS]).mean(axis=1)
    ratios = table[:, 1:] / table[1, 1:]
    return {
        "accuracy": table[:, 0].round(4).tolist(),
        "fit": ratios[:, 0].round(4).tolist(),
        "predict": ratios[:, 1].round(4).tolist(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("wolc_peers.json"))
    options = parser.parse_args()
    kept = json.loads(options.out.read_text()) if options.out.exists() else {}
    if kept.get("folds") != options.folds:
        kept = {"folds": options.folds, "methods": METHODS, "sets": {}}
    measured("WOLCClassifier", next(splits("iris", 0)))  # compile what is compiled on first use
    print(f"{'':<14}" + "".join(f"{method:>22}" for method in METHODS) + "    fit: ratio of WOLC")
    for name in options.sets:
        if name not in kept["sets"]:
            kept["sets"][name] = compare(name, options.folds)
            options.out.write_text(json.dumps(kept, indent=1) + "\n")
        row = kept["sets"][name]
        print(
            f"{name:<14}" + "".join(f"{value:22.2f}" for value in row["accuracy"]) + f"{row['fit'][0]:10.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
