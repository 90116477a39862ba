"""WOLC-ECOC beside ordinary classifiers: accuracy, log-loss and the time of `fit` and `predict`.

All sets of `_folds.py`, small ones first, in three folds, `--repeats` times, with at most 2,500 training rows; the same
folds and features for all methods. Times are those of the processor on one core. Every result is stored as soon as
it is there, so that a run can be stopped and taken up again; `--merge` joins files of several runs.

    OMP_NUM_THREADS=1 python benchmarks/arena.py --sets iris wine --out arena.json
    OMP_NUM_THREADS=1 python benchmarks/arena.py --methods mixed Stacking Voting --out mixed.json
    python benchmarks/arena.py --merge arena.json mixed.json --out docs/results/arena.json
"""

import argparse
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Self

import numpy as np
from _folds import MAX_ROWS, SYNTHETIC, Fold, all_splits, real_sets
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.compare.statistics import average_ranks, nemenyi_critical_difference
from skecoc.learners import TunedSVMClassifier

Key = tuple[str, int, int, str]  # set, repeat, fold, method

FOLDS = 3
INNER_FOLDS = 5  # of stacking and calibration; as many as those of "mixed"
MEASURES = ("accuracy", "log_loss", "fit", "predict")
EXPECTED_WARNINGS = (
    "The least populated class",
    "Number of classes in training fold",
    "X does not have valid feature names",
)


class InnerFolds:
    """The folds of `StratifiedKFold`, for `CalibratedClassifierCV`, which refuses those if a class has fewer samples.

    Samples of one class lie in different folds while there are enough folds, so two of them suffice for a class to be
    in every training part.
    """

    def split(
        self, X: np.ndarray, y: np.ndarray, groups: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield training and test rows."""
        yield from StratifiedKFold(INNER_FOLDS).split(X, y, groups)

    def get_n_splits(self, *_: object) -> int:
        """Return the number of folds."""
        return INNER_FOLDS


class Calibrated(ClassifierMixin, BaseEstimator):
    """A classifier without probabilities gets them from `CalibratedClassifierCV(ensemble=False)`; it predicts as ever.

    Calibration has the sample of a class twice where there is only one, so that no training part lacks the class. The
    classifier that predicts has not.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit the classifier and its calibration."""
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        alone = np.flatnonzero(counts[codes] == 1)
        rows = np.append(np.arange(len(y)), alone)
        calibrated = CalibratedClassifierCV(self.estimator, cv=InnerFolds(), ensemble=False)
        self.calibrated_ = calibrated.fit(X[rows], y[rows])
        fitted = self.calibrated_.calibrated_classifiers_[0].estimator  # to all rows
        self.estimator_ = clone(self.estimator).fit(X, y) if len(alone) else fitted
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict as the classifier does."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return calibrated probabilities."""
        return self.calibrated_.predict_proba(X)


def scaled(estimator: BaseEstimator) -> BaseEstimator:
    """Scale features to unit variance first."""
    return make_pipeline(StandardScaler(), estimator)


def wolc_svm() -> BaseEstimator:
    """Make WOLC-ECOC of support vector machines that do not search: about `SVC(C=100)` for columns of 1,000 samples."""
    learner = TunedSVMClassifier(C=1_000.0, width=0.5, random_state=0)
    return scaled(WOLCClassifier(learner, random_state=0))


def light_gbm() -> BaseEstimator:
    """Make LightGBM's classifier, which is imported only if it is wanted."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, verbose=-1, n_jobs=1)


def members() -> list[tuple[str, BaseEstimator]]:
    """Return the learners of "mixed" as ordinary classifiers of all classes, with probabilities."""
    from skecoc.learners import mixed_learners

    return [(name, ordinary(learner)) for name, learner in mixed_learners()]


def ordinary(learner: BaseEstimator) -> BaseEstimator:
    """Take a classifier out of its `MulticlassLearner`, or let a binary learner solve all pairs of classes."""
    if type(learner).__name__ == "MulticlassLearner":
        found = clone(learner.estimator)
    elif get_tags(learner).classifier_tags.multi_class:
        found = clone(learner)
    else:
        found = ECOCClassifier(clone(learner), coding="one-vs-one")
    names = [name for name in found.get_params() if name.split("__")[-1] == "random_state"]
    found.set_params(**dict.fromkeys(names, 0))
    return found if hasattr(found, "predict_proba") else Calibrated(found)


def stacking() -> BaseEstimator:
    """Stack the members of "mixed"; a class of one sample has probability 0 in the fold that it is left out of."""
    return StackingClassifier(
        members(),
        LogisticRegression(max_iter=1_000, random_state=0),
        cv=INNER_FOLDS,
        stack_method="predict_proba",
    )


METHODS: dict[str, Callable[[], BaseEstimator]] = {
    "mixed": lambda: WOLCClassifier("mixed", random_state=0),
    "WOLC stumps": lambda: WOLCClassifier(random_state=0),
    "WOLC SVM": wolc_svm,
    "RandomForest": lambda: RandomForestClassifier(300, random_state=0),
    "ExtraTrees": lambda: ExtraTreesClassifier(300, random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": light_gbm,
    "SVC": lambda: Calibrated(scaled(SVC(C=100.0, random_state=0))),
    "LogisticRegression": lambda: scaled(LogisticRegression(max_iter=1_000, random_state=0)),
    "Stacking": stacking,
    "Voting": lambda: VotingClassifier(members(), voting="soft"),
}


def measured(method: str, fold: Fold) -> dict[str, float]:
    """Train and test a method on one fold.

    A class that the training part lacks has probability 0; `log_loss` clips that.
    """
    X, y, X_test, y_test = fold
    start = process_time()
    model = METHODS[method]().fit(X, y)
    trained = process_time()
    found = model.predict(X_test)
    done = process_time()
    classes = np.union1d(y, y_test)
    probabilities = np.zeros((len(y_test), len(classes)))
    probabilities[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X_test)
    values = (
        100 * float(np.mean(found == y_test)),
        float(log_loss(y_test, probabilities, labels=classes)),
        trained - start,
        done - trained,
    )
    return {name: round(value, 6) for name, value in zip(MEASURES, values, strict=True)}


class Store:
    """Results by set, repeat, fold and method, and the JSON file that holds them."""

    def __init__(self, path: Path, splits: Callable[[str, int, int], Iterator[Fold]] = all_splits) -> None:
        self.path = path
        self.splits = splits  # folds of a set, given its name, their number and a seed
        self.settings = {"folds": FOLDS, "max_rows": MAX_ROWS, "inner_folds": INNER_FOLDS}
        self.versions: dict[str, str] = {}
        self.sets: dict[str, dict[str, int]] = {}
        self.runs: dict[Key, dict[str, float]] = {}

    def read(self, path: Path) -> None:
        """Take over the results of a file; they replace those that are there."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["settings"] != self.settings:
            raise ValueError(f"{path} was made with {kept['settings']}, not {self.settings}")
        self.versions.update(kept["versions"])
        self.sets.update(kept["sets"])
        for run in kept["runs"]:
            key = run["set"], run["repeat"], run["fold"], run["method"]
            self.runs[key] = {name: run[name] for name in MEASURES}

    def write(self) -> None:
        """Write all results, a line for each; the file is replaced in one step."""
        known = (*real_sets(), *SYNTHETIC)
        others = [name for name in self.sets if name not in known]
        order = {name: place for place, name in enumerate((*known, *others, *METHODS))}
        keys = sorted(self.runs, key=lambda key: (order[key[0]], *key[1:3], order[key[3]]))
        names = ("set", "repeat", "fold", "method")
        lines = [json.dumps(dict(zip(names, key, strict=True)) | self.runs[key]) for key in keys]
        head = {
            "settings": self.settings,
            "versions": self.versions,
            "sets": {name: self.sets[name] for name in sorted(self.sets, key=order.__getitem__)},
        }
        text = json.dumps(head)[:-1] + ', "runs": [\n' + ",\n".join(lines) + "\n]}\n"
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.path)

    def run(self, name: str, n_repeats: int, methods: list[str]) -> None:
        """Measure on a set what is not there yet."""
        for repeat in range(n_repeats):
            keys = [[(name, repeat, fold, method) for method in methods] for fold in range(FOLDS)]
            if all(key in self.runs for row in keys for key in row):
                continue
            for row, fold in zip(keys, self.splits(name, FOLDS, repeat), strict=True):
                for key in row:
                    if key not in self.runs:
                        self.runs[key] = measured(key[3], fold)
                        self.write()

    def means(self, name: str, method: str) -> dict[str, float]:
        """Average the results of a method on a set; empty if there are none."""
        rows = [run for key, run in self.runs.items() if (key[0], key[3]) == (name, method)]
        return {measure: float(np.mean([row[measure] for row in rows])) for measure in MEASURES} if rows else {}


def print_summary(store: Store) -> None:
    """Print means and average ranks over the sets that all methods have been measured on."""
    methods = [method for method in METHODS if any(key[3] == method for key in store.runs)]
    table = {name: [store.means(name, method) for method in methods] for name in store.sets}
    counts = Counter((key[0], key[3]) for key in store.runs)
    most = max(counts.values(), default=0)
    rows = [row for name, row in table.items() if all(counts[name, method] == most for method in methods)]
    if not rows:
        return
    values = np.array([[[cell[measure] for measure in MEASURES] for cell in row] for row in rows])
    ranks = [average_ranks(values[..., 0]), average_ranks(-values[..., 1])]
    print(f"\nmeans and average ranks over {len(rows)} of {len(table)} sets")
    print(f"{'':<22}{'accuracy':>10}{'rank':>8}{'log-loss':>10}{'rank':>8}{'fit s':>10}{'predict s':>11}")
    for k, method in enumerate(methods):
        accuracy, loss, fit, predict = values[:, k].mean(axis=0)
        print(f"{method:<22}{accuracy:10.2f}{ranks[0][k]:8.2f}{loss:10.3f}{ranks[1][k]:8.2f}{fit:10.3f}{predict:11.4f}")
    if len(methods) > 1:
        distance = nemenyi_critical_difference(len(methods), len(rows))
        print(f"critical difference of average ranks (Nemenyi, 5 %): {distance:.2f}")


def measure(store: Store, sets: list[str], n_repeats: int, methods: list[str]) -> None:
    """Measure what is not there yet, small sets first, and print the accuracies of each set."""
    packages = ["numpy", "scikit-learn", *(["lightgbm"] if "LightGBM" in methods else [])]
    store.versions.update({name: version(name) for name in packages})
    for name in sets:
        X, y, *_ = next(store.splits(name, FOLDS, 0))
        store.sets[name] = {"rows": X.shape[0], "features": X.shape[1], "classes": len(np.unique(y))}
    with threadpool_limits(1):
        for method in methods:  # compile and import what is compiled and imported on first use
            measured(method, next(all_splits("glass", FOLDS)))
        width = max(16, *(len(name) + 2 for name in sets))
        print(f"{'':<{width}}" + "".join(f"{method[:12]:>14}" for method in methods))
        for name in sorted(sets, key=lambda name: np.prod(list(store.sets[name].values()))):
            store.run(name, n_repeats, methods)
            cells = (store.means(name, method)["accuracy"] for method in methods)
            print(f"{name:<{width}}" + "".join(f"{value:14.2f}" for value in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    every_set = [*real_sets(), *SYNTHETIC]
    parser.add_argument("--sets", nargs="+", default=every_set, choices=every_set, metavar="SET")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("arena.json"), help="results are read from and written to it")
    parser.add_argument("--merge", nargs="+", type=Path, metavar="FILE", help="join stored files in --out; run nothing")
    options = parser.parse_args()
    for message in EXPECTED_WARNINGS:
        warnings.filterwarnings("ignore", message)
    store = Store(options.out)
    if options.out.exists():
        store.read(options.out)
    if options.merge:
        for path in options.merge:
            store.read(path)
        store.write()
        print_summary(store)
        return
    measure(store, options.sets, options.repeats, options.methods)
    store.write()
    print_summary(store)


if __name__ == "__main__":
    main()
