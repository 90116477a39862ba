"""`decoding="auto"` beside scikit-learn's OneVsOneClassifier and OneVsRestClassifier, learner by learner.

For every learner, accuracy in percent of both and of `ECOCClassifier(learner, coding)` with four codings, on the 14
shipped sets: standardised features, at most `--rows` rows, classes of at least 15 rows (as many as nearest neighbours
need), `--folds` folds. For every coding, the table says the mean and the number of sets where it is worse by more than
noise: by more than two standard errors of the paired difference over all test rows, and one point. One-vs-one is
measured against one-vs-one, one-vs-rest against one-vs-rest, others against the better of both. Results are kept after
every learner. Some minutes on one core.

    python benchmarks/learners_and_codings.py --output docs/results/learners_and_codings.json
    python benchmarks/learners_and_codings.py --quick
"""

import argparse
import json
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skecoc import ECOCClassifier
from skecoc.coding import dense_random, one_vs_one, one_vs_rest, sparse_random
from skecoc.datasets import list_uci, load_uci
from skecoc.learners import StumpAdaBoostClassifier

LEARNERS: dict[str, BaseEstimator] = {
    "LinearSVC": LinearSVC(random_state=0),
    "RidgeClassifier": RidgeClassifier(),
    "boosted stumps": StumpAdaBoostClassifier(n_estimators=40),
    "GaussianNB": GaussianNB(),
    "LogisticRegression": LogisticRegression(),
    "DecisionTreeClassifier": DecisionTreeClassifier(random_state=0),
    "SVC": SVC(),
    "KNeighborsClassifier": KNeighborsClassifier(),
    "RandomForestClassifier": RandomForestClassifier(10, random_state=0),
    "MLPClassifier": MLPClassifier((16,), max_iter=50, random_state=0),
}
CODINGS = ("one-vs-one", "one-vs-rest", "dense-random", "sparse-random")
PEERS = {"sklearn one-vs-one": OneVsOneClassifier, "sklearn one-vs-rest": OneVsRestClassifier}
QUICK_SETS, QUICK_LEARNERS = ("iris", "vowel"), ("LinearSVC", "GaussianNB")
FEWEST_OF_CLASS = 15
LEAST_POINTS = 1.0

Correct = dict[str, list[bool]]


def folds_of(name: str, n_rows: int, n_folds: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield training rows and labels, test rows and labels, of each fold."""
    X, y = load_uci(name, return_X_y=True)
    used = np.sort(np.random.RandomState(0).permutation(len(y))[:n_rows])
    classes, counts = np.unique(y[used], return_counts=True)
    used = used[np.isin(y[used], classes[counts >= FEWEST_OF_CLASS])]
    X, y = X[used], y[used]
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        prepare = make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit(X[train])
        yield prepare.transform(X[train]), y[train], prepare.transform(X[test]), y[test]


@cache
def matrix_of(coding: str, n_classes: int) -> np.ndarray:
    """Make the matrix of a coding; random ones are the same for all learners."""
    makers = {"one-vs-one": one_vs_one, "one-vs-rest": one_vs_rest}
    if coding in makers:
        return makers[coding](n_classes)
    return {"dense-random": dense_random, "sparse-random": sparse_random}[coding](n_classes, random_state=0)


def correct_of(learner: BaseEstimator, name: str, n_rows: int, n_folds: int) -> Correct:
    """Tell of every test row, by method, whether it is classified correctly."""
    found: Correct = {}
    for X, y, X_test, y_test in folds_of(name, n_rows, n_folds):
        models = {method: kind(learner) for method, kind in PEERS.items()}
        # Folds serve probabilities: without them predictions are the same.
        models |= {
            coding: ECOCClassifier(learner, coding=matrix_of(coding, len(np.unique(y))), random_state=0, n_folds=None)
            for coding in CODINGS
        }
        for method, model in models.items():
            found.setdefault(method, []).extend((model.fit(X, y).predict(X_test) == y_test).tolist())
    return found


def compare(correct: Correct) -> dict[str, dict[str, float]]:
    """Return accuracies in percent, and by how many points codings trail scikit-learn, with two standard errors."""
    accuracy = {method: 100.0 * float(np.mean(values)) for method, values in correct.items()}
    best = max(PEERS, key=lambda method: accuracy[method])
    trails = {}
    for coding in CODINGS:
        peer = f"sklearn {coding}" if f"sklearn {coding}" in PEERS else best
        difference = 100.0 * (np.array(correct[peer], dtype=float) - np.array(correct[coding], dtype=float))
        error = 2.0 * float(difference.std()) / np.sqrt(len(difference))
        trails[coding] = bool(difference.mean() > max(error, LEAST_POINTS))
    return {"accuracy": {name: round(value, 3) for name, value in accuracy.items()}, "is_worse": trails}


def table(found: dict[str, dict[str, dict]]) -> str:
    """Write a line per learner: mean accuracies; behind a coding's, on how many sets it is worse by more than noise."""
    lines = [f"| learner | {' | '.join((*PEERS, *CODINGS))} |", "|---" * (1 + len(PEERS) + len(CODINGS)) + "|"]
    for learner, by_set in found.items():
        cells = [f"{np.mean([row['accuracy'][peer] for row in by_set.values()]):.1f}" for peer in PEERS]
        for coding in CODINGS:
            mean = np.mean([row["accuracy"][coding] for row in by_set.values()])
            cells.append(f"{mean:.1f} ({sum(row['is_worse'][coding] for row in by_set.values())})")
        lines.append(f"| {learner} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two learners and two sets")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS)
    parser.add_argument("--sets", nargs="+", choices=list_uci())
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="results are written here; learners that are there stay")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # of convergence, by the thousand
    sets = options.sets or (QUICK_SETS if options.quick else list_uci())
    learners = options.learners or (QUICK_LEARNERS if options.quick else LEARNERS)
    found: dict[str, dict[str, dict]] = {}
    if options.output and options.output.exists():
        found = json.loads(options.output.read_text())["found"]
    for learner in learners:
        if learner not in found:
            rows = {name: compare(correct_of(LEARNERS[learner], name, options.rows, options.folds)) for name in sets}
            found[learner] = rows
        if options.output:
            settings = {"rows": options.rows, "folds": options.folds}
            options.output.write_text(json.dumps({**settings, "found": found}, indent=1) + "\n")
        print(table({learner: found[learner]}).splitlines()[-1], flush=True)
    print("\n" + table(found))


if __name__ == "__main__":
    main()
