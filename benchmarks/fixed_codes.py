"""Optimised weights on fixed codes, beside the classical decodings: accuracy.

For every coding, the same columns of 40 stumps (outputs are probabilities) are decoded by loss-based and loss-weighted
decoding, by equal weights, and by `WOLCClassifier(init=coding, max_iter=0)`, which draws weights to equal ones, as much
as is best out of fold. On the shipped UCI sets and those of benchmarks/suite, `--folds` folds, `--repeats` times,
at most 2,500 training rows. A few minutes on one core. Results are kept in a JSON file.

    python benchmarks/fixed_codes.py --out docs/results/fixed_codes.json
    python benchmarks/fixed_codes.py --sets glass zoo --codings one-vs-one forest --repeats 1
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _folds import Fold, all_splits, real_sets

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.coding import resolve_coding
from skecoc.decoding import OptimizedWeightDecoder

CODINGS = (
    "one-vs-rest",
    "one-vs-one",
    "dense-random",
    "sparse-random",
    "hadamard",
    "decoc",
    "forest",
    "exhaustive",
    "ternary-complete",
)
LONG = ("exhaustive", "ternary-complete")  # for few classes only
MOST_CLASSES = 6
DECODINGS = ("loss-based", "loss-weighted", "equal", "optimized")
EQUAL = OptimizedWeightDecoder("auto", l2=1e6, tol=1e-3)  # such a penalty leaves weights equal


def accuracies(coding: str, fold: Fold) -> list[float] | None:
    """Train one code on a fold; return the accuracy of each decoding in percent, and 1 if weights were optimised."""
    X, y, X_test, y_test = fold
    classes, rows = np.unique(y, return_inverse=True)
    if coding in LONG and len(classes) > MOST_CLASSES:
        return None
    matrix = resolve_coding(coding, X, rows, len(classes), 0)
    found = [
        ECOCClassifier(None, coding=matrix, decoding=decoding, random_state=0).fit(X, y) for decoding in DECODINGS[:2]
    ]
    optimized = WOLCClassifier(init=matrix, max_iter=0, random_state=0)
    equal = WOLCClassifier(init=matrix, decoding=EQUAL, max_iter=0, random_state=0)
    found += [equal.fit(X, y), optimized.fit(X, y)]
    return [*(100 * model.score(X_test, y_test) for model in found), float(optimized.weights_optimized_)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=real_sets())
    parser.add_argument("--codings", nargs="+", default=CODINGS, choices=CODINGS)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("fixed_codes.json"), help="results are written here")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")
    found: dict[str, dict[str, dict[str, float]]] = {coding: {} for coding in options.codings}
    for name in options.sets:
        folds = [fold for seed in range(options.repeats) for fold in all_splits(name, options.folds, seed)]
        for coding in options.codings:
            values = [row for fold in folds if (row := accuracies(coding, fold))]
            if values:
                means = np.mean(values, axis=0).round(4).tolist()
                found[coding][name] = dict(zip((*DECODINGS, "taken"), means, strict=True))
        print(f"{name} done", flush=True)
    options.out.write_text(
        json.dumps({"folds": options.folds, "repeats": options.repeats, "found": found}, indent=1) + "\n"
    )
    report(found)


def report(found: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print a line per coding: mean accuracies, and the gain of optimised weights over the better fixed decoding."""
    print(
        f"\n{'':<18}" + "".join(f"{decoding:>15}" for decoding in DECODINGS) + "   gain  worst  better/worse by 1 point"
    )
    for coding, by_set in found.items():
        table = np.array([[row[decoding] for decoding in DECODINGS] for row in by_set.values()])
        gain = table[:, 3] - table[:, :2].max(axis=1)
        means = "".join(f"{value:15.2f}" for value in table.mean(axis=0))
        print(f"{coding:<18}{means}{gain.mean():7.2f}{gain.min():7.2f}  {(gain > 1).sum()}/{(gain < -1).sum()}")


if __name__ == "__main__":
    main()
