"""Which code suits which learner with many classes: accuracy by three decodings, seconds of fit, model size.

Data are generated, three quarters of them to train on: one Gaussian cloud per class, three per class, a hierarchy
(classes in groups, one cloud each), and sparse counts of words.

    python benchmarks/many_codings.py [--classes 200] [--each 26] [--data clouds clusters hierarchy text]
        [--learner stumps logistic tree lightgbm] [--coding one-vs-one one-vs-rest dense10 dense20 sparse15]

"dense20" is a dense random code of 20 log2 P columns. Printed: accuracy by loss-weighted and by loss-based decoding
and, of codes with fewer columns than classes, by optimised weights as ``coding="auto"`` has them; processor seconds of
fit with loss-based decoding, and megabytes of the pickled model.
"""

import argparse
import pickle
import warnings
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier
from skecoc.classifiers.ecoc import compact_decoder
from skecoc.coding import dense_random, sparse_random

KINDS = ("clouds", "clusters", "hierarchy", "text")
N_FEATURES = 20


def make_data(kind: str, n_classes: int, n_each: int) -> tuple[Any, ...]:
    """Draw samples; return training samples and classes, test samples and classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), n_each)
    n = len(y)
    if kind == "clouds":
        X = rng.normal(size=(n_classes, N_FEATURES))[y] + rng.normal(scale=0.6, size=(n, N_FEATURES))
    elif kind == "clusters":
        cluster = rng.integers(0, 3, n)
        X = rng.normal(size=(n_classes, 3, N_FEATURES))[y, cluster] + rng.normal(scale=0.5, size=(n, N_FEATURES))
    elif kind == "hierarchy":
        n_groups = round(n_classes**0.5)
        groups = rng.normal(size=(n_groups + 1, N_FEATURES))[np.arange(n_classes) // n_groups]
        centres = groups + 0.5 * rng.normal(size=(n_classes, N_FEATURES))
        X = centres[y] + rng.normal(scale=0.3, size=(n, N_FEATURES))
    else:
        X = count_words(y, n_classes, rng)
    is_test = np.arange(n) % 4 == 0
    return X[~is_test], y[~is_test], X[is_test], y[is_test]


def count_words(y: np.ndarray, n_classes: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Count the words of texts: 40 of 5,000, by Zipf's law, a quarter of them the topic's own."""
    n_words, length = 5000, 40
    own = rng.integers(0, n_words, (n_classes, 30))
    frequency = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, (len(y), length), p=frequency / frequency.sum())
    is_own = rng.random(words.shape) < 0.25
    words[is_own] = own[y[:, None], rng.integers(0, 30, words.shape)][is_own]
    rows = np.repeat(np.arange(len(y)), length)
    X = sparse.csr_matrix((np.ones(words.size), (rows, words.ravel())), shape=(len(y), n_words))
    X.sum_duplicates()
    return X


def make_learner(name: str) -> BaseEstimator | None:
    """Make a learner by its name."""
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=20, num_leaves=15, n_jobs=1, verbose=-1, random_state=0)
    return {"stumps": None, "logistic": LogisticRegression(), "tree": DecisionTreeClassifier(random_state=0)}[name]


def make_coding(name: str, n_classes: int) -> Any:
    """Draw a random code, named by its kind and columns per bit; other names stay as they are."""
    for kind, draw in (("dense", dense_random), ("sparse", sparse_random)):
        if name.startswith(kind):
            n_columns = int(np.ceil(float(name.removeprefix(kind)) * np.log2(n_classes)))
            return draw(n_classes, n_columns=n_columns, n_draws=1, random_state=0)
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", nargs="+", type=int, default=[200])
    parser.add_argument("--each", type=int, default=26, help="samples of each class")
    parser.add_argument("--data", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--learner", nargs="+", default=["stumps", "logistic", "tree"])
    parser.add_argument("--coding", nargs="+", default=["one-vs-rest", "dense10", "dense20", "sparse15"])
    arguments = parser.parse_args()
    print(f"classes {'data':<10} {'learner':<9} {'coding':<12} weighted  based optimized    fit s model MB")
    for n_classes in arguments.classes:
        for kind in arguments.data:
            X, y, X_test, y_test = make_data(kind, n_classes, arguments.each)
            for learner in arguments.learner:
                for coding in arguments.coding:
                    code = make_coding(coding, n_classes)
                    start = process_time()
                    based = ECOCClassifier(make_learner(learner), coding=code, decoding="loss-based").fit(X, y)
                    seconds = process_time() - start
                    outputs = based.codewords(X)
                    models = [based._with_decoding("loss-weighted", "auto", outputs, y, margin_scale=1.0), based]
                    if based.code_matrix_.shape[1] < n_classes:
                        optimized = compact_decoder(based.code_matrix_, len(y), None)
                        models.append(based._with_decoding(optimized, "auto", outputs, y, margin_scale=1.0))
                    scores = [f"{(model.predict(X_test) == y_test).mean():.3f}" for model in models] + ["-"]
                    print(
                        f"{n_classes:7d} {kind:<10} {learner:<9} {coding:<12} {scores[0]:>8} {scores[1]:>6} "
                        f"{scores[2]:>9} {seconds:8.1f} {len(pickle.dumps(based)) / 1e6:8.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
