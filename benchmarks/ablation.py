"""What each choice in WOLC-ECOC is worth: one changed at a time, the same folds for all.

Boosted stumps (40), on the shipped UCI sets and those of benchmarks/suite, the first `--folds` folds of a 5-fold, at
most 2,500 training rows. One line per variant: mean accuracy, mean difference to the first variant, mean
number of columns, number of sets. Some minutes on one core; results are kept in a JSON file.

    python benchmarks/ablation.py --out docs/results/ablation.json
    python benchmarks/ablation.py --sets glass vehicle --variants "default" "no growth"
"""

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from _folds import Fold, all_splits, real_sets
from sklearn.base import BaseEstimator

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.decoding import OptimizedWeightDecoder

N_SPLITS = 5
WOLC = partial(WOLCClassifier, random_state=0)


def with_penalty(l2: float) -> Callable[[], BaseEstimator]:
    """Return WOLC-ECOC with a fixed penalty in place of one that is chosen out of fold."""
    return partial(WOLC, decoding=OptimizedWeightDecoder("auto", l2=l2, tol=1e-3))


VARIANTS: dict[str, Callable[[], BaseEstimator]] = {
    "default": WOLC,
    "start: one-vs-rest only": partial(WOLC, init="one-vs-rest"),
    "start: one-vs-one only": partial(WOLC, init="one-vs-one"),
    "no growth": partial(WOLC, max_iter=0),
    "3 regions": partial(WOLC, n_regions=3),
    "6 regions": partial(WOLC, n_regions=6),
    "logistic weights": partial(WOLC, decoding="logistic-weight"),
    "equal weights in groups": with_penalty(1e6),  # such a penalty leaves them as they are
    "fixed penalty of 0.01": with_penalty(0.01),
    "fixed penalty of 1": with_penalty(1.0),
    "no limit of work": partial(WOLC, max_work=None),
    "12 rounds, no patience": partial(WOLC, max_iter=12, patience=99),
    "training codewords": partial(WOLC, n_folds=None),
    "hard labels": partial(WOLC, response_method="predict"),
    "the paper's settings": partial(WOLCClassifier.paper, random_state=0),
    "LC-ECOC": partial(LCECOCClassifier, random_state=0),
    "ECOC-ONE": partial(ECOCOneClassifier, random_state=0),
    "one-vs-one, loss-weighted": partial(ECOCClassifier, random_state=0),
}


def accuracy_and_length(make: Callable[[], BaseEstimator], folds: list[Fold]) -> list[float] | None:
    """Return the mean accuracy in percent and the mean number of columns; nothing if a training part does not suit."""
    found = []
    for X, y, X_test, y_test in folds:
        try:
            model = make().fit(X, y)
        except ValueError as error:  # a class of one sample, for instance
            print(f"left out: {error}")
            return None
        found.append((100 * model.score(X_test, y_test), len(getattr(model, "used_columns_", model.estimators_))))
    return np.mean(found, axis=0).round(4).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=real_sets())
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--folds", type=int, default=2, help=f"how many of {N_SPLITS}")
    parser.add_argument("--out", type=Path, default=Path("ablation.json"), help="results are written here")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")
    found: dict[str, dict[str, list[float] | None]] = {variant: {} for variant in options.variants}
    for name in options.sets:
        folds = list(islice(all_splits(name, N_SPLITS), options.folds))
        for variant in options.variants:
            found[variant][name] = accuracy_and_length(VARIANTS[variant], folds)
        print(f"{name} done", flush=True)
    kept = {"folds": options.folds, "splits": N_SPLITS, "found": found}
    options.out.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"\n{'':<28}{'mean':>8}{'change':>8}{'columns':>9}{'sets':>6}")
    for variant, by_set in found.items():
        fitted = [name for name, values in by_set.items() if values]
        mean, length = np.mean([by_set[name] for name in fitted], axis=0)
        change = mean - np.mean([(found[options.variants[0]][name] or [np.nan])[0] for name in fitted])
        print(f"{variant:<28}{mean:8.2f}{change:8.2f}{length:9.1f}{len(fitted):6}")


if __name__ == "__main__":
    main()
