"""WOLC-ECOC beside one-vs-one and one-vs-rest: accuracy, code length, its own estimate, time, and what a budget costs.

Boosted stumps (40), on the shipped UCI sets, those of benchmarks/suite and synthetic ones; `--folds` folds, `--repeats`
times, at most 2,500 training rows. One-vs-one and one-vs-rest have the best of three decodings by test accuracy. Time
is that of the processor in `fit`, as a ratio to one-vs-one. Some minutes on one core; results are kept in a JSON file.

    python benchmarks/growth.py --out docs/results/growth.json
    python benchmarks/growth.py --sets glass 6x2 --budgets vowel --repeats 1
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _folds import SYNTHETIC, Fold, all_splits, real_sets
from sklearn.base import BaseEstimator

from skecoc import ECOCClassifier, WOLCClassifier

CODINGS = ("one-vs-one", "one-vs-rest")
DECODINGS = ("hamming", "loss-based", "loss-weighted")
RESPONSES = {"probabilities": "auto", "labels": "predict"}
BUDGETS = ("auto", 2, 4, 8, None)  # numbers are columns per class
BUDGET_SETS = ("vowel", "pendigits", "segmentation", "glass", "car", "soybean", "6x2", "26x1")


def fitted(model: BaseEstimator, fold: Fold) -> tuple[BaseEstimator, float, float]:
    """Fit a model; return it, its accuracy on the test part in percent and the seconds of the processor."""
    X, y, X_test, y_test = fold
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    return model, 100 * model.score(X_test, y_test), seconds


def compare(name: str, folds: list[Fold]) -> dict[str, Any]:
    """Measure all methods on the folds of a set."""
    found: dict[str, Any] = {"classes": len(np.unique(folds[0][1])), "rows": len(folds[0][0])}
    for kind, response in RESPONSES.items():
        rows = []
        for fold in folds:
            model, accuracy, seconds = fitted(WOLCClassifier(response_method=response, random_state=0), fold)
            estimate = 100 * model.history_[model.best_round_].out_of_fold_accuracy
            rows.append([accuracy, estimate, len(model.used_columns_), model.best_round_, seconds])
        *means, seconds = np.mean(rows, axis=0)
        found[kind] = dict(
            zip(("WOLC-ECOC", "estimate", "columns", "rounds"), np.round(means, 4).tolist(), strict=True)
        )
        for coding in CODINGS:
            models = [
                ECOCClassifier(None, coding=coding, decoding=d, response_method=response, random_state=0)
                for d in DECODINGS
            ]
            results = np.array([[fitted(model, fold)[1:] for fold in folds] for model in models])
            means = results[..., 0].mean(axis=1).round(4).tolist()
            found[kind][coding] = dict(zip(DECODINGS, means, strict=True))
            if coding == "one-vs-one":
                found[kind]["time"] = round(float(seconds / results[-1, :, 1].mean()), 2)
    print(
        f"{name:<16}{found['probabilities']['WOLC-ECOC']:8.2f}"
        f"{max(found['probabilities']['one-vs-one'].values()):8.2f}{found['probabilities']['columns']:8.1f}",
        flush=True,
    )
    return found


def compare_budgets(name: str, folds: list[Fold]) -> list[dict[str, float | str]]:
    """Measure WOLC-ECOC with several budgets of columns."""
    n_classes, found = len(np.unique(folds[0][1])), []
    for budget in BUDGETS:
        most = budget * n_classes if isinstance(budget, int) else budget
        rows = []
        for fold in folds:
            model, accuracy, _ = fitted(WOLCClassifier(max_columns=most, random_state=0), fold)
            rows.append([accuracy, len(model.used_columns_)])
        accuracy, columns = np.mean(rows, axis=0).round(4).tolist()
        found.append({"budget": str(budget), "accuracy": accuracy, "columns": columns})
        print(f"{name:<16}{budget!s:>8}{accuracy:8.2f}{columns:8.1f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=[*real_sets(), *SYNTHETIC])
    parser.add_argument("--budgets", nargs="*", default=BUDGET_SETS, help="sets for budgets")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("growth.json"), help="results are written here")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")

    def folds(name: str) -> list[Fold]:
        return [fold for seed in range(options.repeats) for fold in all_splits(name, options.folds, seed)]

    for response in RESPONSES.values():  # compile what is compiled on first use
        fitted(WOLCClassifier(response_method=response, random_state=0), next(all_splits("iris")))
    print(f"{'':<16}{'WOLC':>8}{'1vs1':>8}{'columns':>8}")
    sets = {name: compare(name, folds(name)) for name in options.sets}
    print(f"\n{'':<16}{'budget':>8}{'WOLC':>8}{'columns':>8}")
    budgets = {name: compare_budgets(name, folds(name)) for name in options.budgets}
    kept = {"folds": options.folds, "repeats": options.repeats, "sets": sets, "budgets": budgets}
    options.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
