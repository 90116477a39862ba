"""A hundred and a thousand classes: compact codes against one-vs-rest, by the same learner.

Every line is a process of its own. Printed: number of binary learners, test accuracy, processor seconds of fit (drawing
the code included) and of predict, peak memory of the process above that of the imported libraries and the data, and the
fit's seconds as a share of those of scikit-learn's `OneVsRestClassifier`.

    python benchmarks/many_classes.py [--classes 100 1000] [--learner tree logistic boosting]
"""

import argparse
import json
import resource
import subprocess
import sys
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier
from skecoc.coding import dense_random, sparse_random

LEARNERS: dict[str, BaseEstimator] = {
    "tree": DecisionTreeClassifier(random_state=0),
    "logistic": LogisticRegression(C=10.0),
    "boosting": HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, min_samples_leaf=5, random_state=0),
}
CODINGS = ("one-vs-rest", "dense", "sparse", "multiclass")
ROWS_PER_CLASS = 12


def clouds(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows around one centre per class, in ten dimensions."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), ROWS_PER_CLASS)
    return rng.normal(size=(n_classes, 10))[y] + rng.normal(scale=0.2, size=(len(y), 10)), y


def texts(n_classes: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Count the words of texts: 30 of 20,000, by Zipf's law, four in ten of them the topic's own."""
    rng = np.random.default_rng(0)
    n_words, length = 20_000, 30
    frequency = 1.0 / np.arange(1, n_words + 1)
    own = rng.integers(0, n_words, (n_classes, 25))
    y = np.repeat(np.arange(n_classes), ROWS_PER_CLASS)
    words = rng.choice(n_words, (len(y), length), p=frequency / frequency.sum())
    is_own = rng.random(words.shape) < 0.4
    words[is_own] = own[y[:, np.newaxis], rng.integers(0, 25, words.shape)][is_own]
    rows = np.repeat(np.arange(len(y)), length)
    X = sparse.csr_matrix((np.ones(words.size), (rows, words.ravel())), shape=(len(y), n_words))
    X.sum_duplicates()
    return X, y


def make_model(learner: BaseEstimator, coding: str, n_classes: int) -> BaseEstimator:
    """Return the classifier; random codes have their default lengths."""
    if coding == "multiclass":
        return learner
    if coding == "one-vs-rest":
        return OneVsRestClassifier(learner)
    draw = dense_random if coding == "dense" else sparse_random
    return ECOCClassifier(learner, draw(n_classes, n_draws=1, random_state=0), "loss-averaged")


def measure(learner_name: str, coding: str, n_classes: int) -> dict[str, float]:
    """Fit and predict in this process."""
    X, y = (texts if learner_name == "logistic" else clouds)(n_classes)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    model = make_model(LEARNERS[learner_name], coding, n_classes).fit(X_train, y_train)
    fitted = process_time()
    accuracy = float((model.predict(X_test) == y_test).mean())
    predicted = process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "learners": 1 if coding == "multiclass" else len(model.estimators_),
        "accuracy": accuracy,
        "fit": fitted - start,
        "predict": predicted - fitted,
        "megabytes": (peak - before) / 1024,
    }


def measure_apart(learner: str, coding: str, n_classes: int) -> dict[str, float]:
    """Fit and predict in a process of its own."""
    command = [sys.executable, __file__, "--one", learner, coding, str(n_classes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=["tree", "logistic"])
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        learner, coding, n_classes = arguments.one
        with threadpool_limits(1):
            print(json.dumps(measure(learner, coding, int(n_classes))))
        return
    print(
        f"{'classes':>7} {'learner':<9} {'coding':<12} {'learners':>8} {'accuracy':>8} {'fit s':>7} {'predict s':>9} "
        f"{'MB':>5} {'share':>6}"
    )
    for n_classes in arguments.classes:
        for learner in arguments.learner:
            results = {coding: measure_apart(learner, coding, n_classes) for coding in CODINGS}
            for coding, found in results.items():
                print(
                    f"{n_classes:7d} {learner:<9} {coding:<12} {found['learners']:8d} {found['accuracy']:8.3f} "
                    f"{found['fit']:7.1f} {found['predict']:9.2f} {found['megabytes']:5.0f} "
                    f"{found['fit'] / results['one-vs-rest']['fit']:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
