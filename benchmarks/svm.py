"""The tuned SVM beside scikit-learn's SVC: same grid, same folds.

1. Search: `TunedSVMClassifier` against `GridSearchCV(SVC)` on two-class columns of the UCI sets (wanted: ratio > 1,
   the same choice), and the accuracy of both on held-out rows.
2. Machine: one-vs-one ensembles of our machine and of SVC with the same C and width, 10-fold accuracy (wanted: equal
   within 0.1 points).
3. Sharing: one-vs-one and dense random codes with distances shared by all columns, with none shared, and with C and
   width chosen once for all columns.

    python benchmarks/svm.py [--quick]
"""

import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from skecoc import ECOCClassifier
from skecoc.datasets import load_uci
from skecoc.learners import TunedSVMClassifier

#: Data set, class on the positive side, class on the other (None: all others).
COLUMNS = [
    ("iris", 1, None),
    ("wine", 1, None),
    ("glass", 1, None),
    ("balance", 1, None),
    ("dermatology", 1, None),
    ("vowel", 1, None),
    ("vowel", 1, 2),
    ("vehicle", 1, None),
    ("vehicle", 1, 2),
    ("segmentation", 1, None),
    ("optdigits", 1, 7),
    ("satimage", 2, 3),
    ("yeast", 0, 6),
]


class PaperSVC(SVC):
    """SVC with C in SVM-perf's units and the mean distance between training rows as width."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> SVC:
        """Train with SVC's own C and gamma, and restore C."""
        C, self.gamma = self.C, 1.0 / (2.0 * pairwise_distances(X).mean() ** 2)
        self.C = 100.0 * C / len(X)
        super().fit(X, y, sample_weight)
        self.C = C
        return self


class Unshared(ClassifierMixin, BaseEstimator):
    """A learner without the methods by which columns share work."""

    def __init__(self, learner: BaseEstimator) -> None:
        self.learner = learner

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Unshared":
        """Train the learner."""
        self.learner_ = clone(self.learner).fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Ask the learner."""
        return self.learner_.predict_proba(X)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Give a set's features, complete and scaled to [0, 1], and class indices."""
    data = load_uci(name)
    X = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()).fit_transform(data.data)
    return X, np.unique(data.target, return_inverse=True)[1]


def column(name: str, positive: int, negative: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Give the distinct rows of a two-class column, in the order in which our folds are made."""
    X, y = load(name)
    kept = np.ones(len(y), dtype=bool) if negative is None else np.isin(y, (positive, negative))
    table = np.unique(np.column_stack([X[kept], y[kept] == positive]), axis=0)
    return table[:, :-1], table[:, -1].astype(int)


def seconds(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def compare_searches(columns: list[tuple[str, int, int | None]]) -> None:
    print("search: seconds of GridSearchCV(SVC) and ours, same grid and folds; accuracy on every third row, left out")
    print(
        f"{'column':<22} {'rows':>5} {'SVC s':>8} {'ours s':>8} {'ratio':>7} {'choice':>7} {'SVC %':>7} {'ours %':>7}"
    )
    ratios, agreed = [], 0
    for name, positive, negative in columns:
        X, y = column(name, positive, negative)
        test = np.arange(len(X)) % 3 == 0
        X, y, X_test, y_test = X[~test], y[~test], X[test], y[test]
        ours = TunedSVMClassifier(random_state=0)
        our_time = np.mean([seconds(lambda: ours.fit(X, y)) for _ in range(3)])  # noqa: B023
        grid = {"C": 100 * ours.C_grid_ / len(X), "gamma": 1 / (2 * ours.width_grid_**2)}
        folds = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0))
        theirs = GridSearchCV(SVC(), grid, cv=folds)
        their_time = seconds(lambda: theirs.fit(X, y))  # noqa: B023
        same = np.allclose(
            [theirs.best_params_["C"], theirs.best_params_["gamma"]], [100 * ours.C_ / len(X), ours.gamma_]
        )
        ratios.append(their_time / our_time)
        agreed += same
        label = f"{name} {positive} vs {'rest' if negative is None else negative}"
        print(
            f"{label:<22} {len(X):>5} {their_time:>8.2f} {our_time:>8.3f} {ratios[-1]:>7.1f} "
            f"{'same' if same else 'other':>7} {100 * theirs.score(X_test, y_test):>7.2f} "
            f"{100 * ours.score(X_test, y_test):>7.2f}",
            flush=True,
        )
    print(f"ratio: least {min(ratios):.1f}, median {np.median(ratios):.1f}; same choice {agreed} of {len(ratios)}\n")


def compare_machines(names: list[str]) -> None:
    print("machine: one-vs-one with C = 2^15 and width = mean distance, 10-fold accuracy (%)")
    print(f"{'data':<14} {'SVC':>8} {'ours':>8} {'difference':>11}")
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for name in names:
        X, y = load(name)
        ours = ECOCClassifier(
            TunedSVMClassifier(C=2.0**15, width=1.0),
            coding="one-vs-one",
            decoding="hamming",
            response_method="decision_function",
        )
        theirs = OneVsOneClassifier(PaperSVC(C=2.0**15))
        first, second = (100 * cross_val_score(model, X, y, cv=folds).mean() for model in (theirs, ours))
        print(f"{name:<14} {first:>8.2f} {second:>8.2f} {second - first:>11.2f}", flush=True)
    print()


def compare_sharing(names: list[str]) -> None:
    print("ensembles: seconds of fit without sharing, with shared distances, and with one choice of C and width")
    print(f"{'data':<14} {'coding':<13} {'none':>7} {'shared':>7} {'ratio':>6} {'one choice':>11} {'ratio':>6}")
    for name in names:
        X, y = load(name)
        for coding in ("one-vs-one", "dense-random"):
            times = [
                min(seconds(lambda: ECOCClassifier(learner, coding=coding, random_state=0).fit(X, y)) for _ in range(2))  # noqa: B023
                for learner in (
                    Unshared(TunedSVMClassifier(random_state=0)),
                    TunedSVMClassifier(),
                    TunedSVMClassifier(tune="ensemble"),
                )
            ]
            print(
                f"{name:<14} {coding:<13} {times[0]:>7.2f} {times[1]:>7.2f} {times[0] / times[1]:>6.2f} "
                f"{times[2]:>11.2f} {times[0] / times[2]:>6.2f}",
                flush=True,
            )


def main() -> None:
    quick = "--quick" in sys.argv
    start = perf_counter()
    TunedSVMClassifier().fit(*column("iris", 1, None))
    print(f"first fit, with compilation or loading from the cache: {perf_counter() - start:.2f} s\n")
    compare_searches(COLUMNS[:8] if quick else COLUMNS)
    compare_machines(["iris", "wine"] if quick else ["iris", "wine", "thyroid", "vehicle", "vowel", "segmentation"])
    compare_sharing(["iris", "glass"] if quick else ["glass", "vehicle", "vowel"])


if __name__ == "__main__":
    main()
