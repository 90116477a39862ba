"""Log-loss of probabilities as classifiers fit them, and of `CalibratedClassifierCV` around the same classifiers.

Every classifier is fitted to two thirds of a set, at most 1,200 rows of it, and judged on the others; both ways are
given the same rows. A set counts as worse if the mean difference of its test rows is above two standard errors.

    python benchmarks/probabilities.py                     # about half an hour
    python benchmarks/probabilities.py --quick             # four small sets
    python benchmarks/probabilities.py --output probabilities.json
    python benchmarks/probabilities.py --table probabilities.json
"""

import argparse
import json
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.datasets import list_uci, load_uci

QUICK = ("glass", "iris", "vehicle", "wine")
# `CalibratedClassifierCV` wants five training rows of each class.
FEWEST_OF_CLASS = 8
MOST_ROWS = 1_200


def classifiers() -> dict[str, Any]:
    """Return the classifiers by the names that the table has."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-3))
    machine = make_pipeline(StandardScaler(), SVC())
    linear = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
    forest = RandomForestClassifier(20, random_state=0)
    return {
        "one-vs-one, stumps": ECOCClassifier(coding="one-vs-one", random_state=0),
        "one-vs-rest, stumps": ECOCClassifier(coding="one-vs-rest", random_state=0),
        "sparse-random, stumps": ECOCClassifier(coding="sparse-random", random_state=0),
        "dense-random, stumps, Hamming": ECOCClassifier(
            None, coding="dense-random", decoding="hamming", random_state=0
        ),
        "one-vs-one, stumps, logistic weights": ECOCClassifier(
            None, coding="one-vs-one", decoding="logistic-weight", random_state=0
        ),
        "one-vs-one, naive Bayes": ECOCClassifier(GaussianNB(), coding="one-vs-one", random_state=0),
        "one-vs-rest, logistic regression": ECOCClassifier(logistic, coding="one-vs-rest", random_state=0),
        "one-vs-one, SVC margins": ECOCClassifier(machine, coding="one-vs-one", random_state=0),
        "one-vs-one, LinearSVC margins": ECOCClassifier(linear, coding="one-vs-one", random_state=0),
        "one-vs-rest, SVC margins": ECOCClassifier(machine, coding="one-vs-rest", random_state=0),
        "one-vs-one, forests": ECOCClassifier(forest, coding="one-vs-one", random_state=0),
        "LCECOCClassifier": LCECOCClassifier(random_state=0),
        "ECOCOneClassifier": ECOCOneClassifier(random_state=0),
        "SubclassECOCClassifier": SubclassECOCClassifier(random_state=0),
        "WOLCClassifier": WOLCClassifier(random_state=0),
    }


def load(name: str) -> tuple[Any, Any]:
    """Load a set: missing values imputed, without its smallest classes, thinned out if it is large."""
    X, y = load_uci(name, return_X_y=True)
    X, y = SimpleImputer().fit_transform(np.asarray(X, dtype=float)), np.unique(y, return_inverse=True)[1]
    rows = np.flatnonzero((np.bincount(y) >= FEWEST_OF_CLASS)[y])
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    return (
        train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)[::2] if len(y) > MOST_ROWS else (X, y)
    )


def log_losses(model: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[Any, float]:
    """Return the log-loss of each test row, and the seconds that the fit took."""
    started = process_time()
    fitted = clone(model).fit(X[train], y[train])
    seconds = process_time() - started
    return -np.log(np.maximum(fitted.predict_proba(X[test])[np.arange(len(test)), y[test]], 1e-15)), seconds


def measure(model: Any, X: Any, y: Any, n_folds: int) -> dict[str, float]:
    """Compare a classifier's own probabilities with calibrated ones on one set."""
    ours: list[Any] = []
    theirs: list[Any] = []
    seconds = np.zeros(2)
    # Its own probabilities do not count where it is calibrated, and scores but for logistic weights need no folds.
    needs_folds = not isinstance(model, ECOCClassifier) or model.decoding == "logistic-weight"
    plain = model if needs_folds else clone(model).set_params(n_folds=None)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))[:n_folds]
    for train, test in splits:
        for number, (losses, each) in enumerate(((ours, model), (theirs, CalibratedClassifierCV(plain, cv=5)))):
            found, taken = log_losses(each, X, y, train, test)
            losses.append(found)
            seconds[number] += taken
    difference = np.concatenate(ours) - np.concatenate(theirs)
    return {
        "ours": float(np.concatenate(ours).mean()),
        "calibrated": float(np.concatenate(theirs).mean()),
        "difference": float(difference.mean()),
        "standard_error": float(difference.std(ddof=1) / np.sqrt(len(difference))),
        "seconds": float(seconds[0]),
        "seconds_calibrated": float(seconds[1]),
    }


def print_table(results: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print a row per classifier: means over sets, and how many are worse or better by more than noise."""
    print("| classifier | sets | its own | calibrated | difference | worse | better | seconds | calibrated |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, by_set in results.items():
        rows = list(by_set.values())
        scores = np.array([row["difference"] / max(row["standard_error"], 1e-12) for row in rows])
        means = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
        print(
            f"| {name} | {len(rows)} | {means['ours']:.3f} | {means['calibrated']:.3f} | {means['difference']:+.3f} "
            f"| {(scores > 2).sum()} | {(scores < -2).sum()} | {means['seconds']:.2f} "
            f"| {means['seconds_calibrated']:.2f} |"
        )
    worst = [(row["difference"], name, of) for name, by_set in results.items() for of, row in by_set.items()]
    for difference, name, of in sorted(worst, reverse=True)[:5]:
        error = results[name][of]["standard_error"]
        print(f"highest difference: {name} on {of}, {difference:+.3f} (standard error {error:.3f})")


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="four small sets")
    parser.add_argument("--folds", type=int, default=2, help="how many of three folds; large sets have one")
    parser.add_argument("--only", nargs="*", help="names of classifiers")
    parser.add_argument("--output", type=Path, help="JSON file of results; what it holds is not measured again")
    parser.add_argument("--table", type=Path, help="print the table of stored results and stop")
    options = parser.parse_args()
    if options.table:
        print_table(json.loads(options.table.read_text()))
        return
    warnings.simplefilter("ignore")
    is_begun = options.output is not None and options.output.exists()
    results: dict[str, dict[str, dict[str, float]]] = json.loads(options.output.read_text()) if is_begun else {}
    sets = {name: load(name) for name in (QUICK if options.quick else list_uci())}
    for name, model in classifiers().items():
        if options.only and name not in options.only:
            continue
        for set_name, (X, y) in sets.items():
            if set_name in results.get(name, {}):
                continue
            found = measure(model, X, y, options.folds if len(y) < MOST_ROWS else 1)
            results.setdefault(name, {})[set_name] = found
            print(f"{set_name:14} {name:37} {found['ours']:.3f} {found['calibrated']:.3f}", flush=True)
            if options.output:
                options.output.write_text(json.dumps(results, indent=1) + "\n")
    print_table(results)


if __name__ == "__main__":
    main()
