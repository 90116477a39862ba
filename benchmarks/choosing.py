"""Which classifier for how many samples and classes: accuracy, log-loss and time on synthetic data.

Three families, each with a test part of 5,000 samples: classes of one cluster and of two clusters in 20 features
(`make_classification`), and bags of words in sparse matrices of 5,000 features. A fit that would take more than a
minute, judged by the one with fewer samples, is skipped; so are cells with fewer than 10 samples per class. Times are
those of the processor on one core. Every result is stored as soon as it is there, so that a run can be stopped and
taken up again.

    OMP_NUM_THREADS=1 python benchmarks/choosing.py --out docs/results/choosing.json
    OMP_NUM_THREADS=1 python benchmarks/choosing.py --families one --samples 300 --classes 3 --out choosing.json
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.learners import MulticlassLearner

Key = tuple[str, int, int, str]  # family, samples, classes, method
Data = tuple[Any, np.ndarray]

LIMIT = 60.0
TEST_SAMPLES = 5_000
SAMPLES_PER_CLASS = 10
SAMPLES = (300, 1_000, 5_000, 20_000, 50_000)
MOST_SAMPLES = max(SAMPLES)
CLASSES = (3, 10, 30, 100)
CLUSTERS = {"one": 1, "two": 2}
TEXT = "text"
TEXT_CLASSES, TEXT_SAMPLES = (10,), (1_000, 5_000)
N_WORDS, DOCUMENT_LENGTH = 5_000, 40
MEASURES = ("accuracy", "log_loss", "fit", "predict")
# How time grows with the number of samples, as an exponent; 1 for others.
EXPONENTS = {"SVC": 2.0, "mixed": 0.5}
# With more samples "mixed" holds out one third once, and has one fit and two thirds in place of five.
FOLDED_SAMPLES, SHARE_OF_FITS = 5_000, 1 / 3


def scaled(estimator: BaseEstimator) -> BaseEstimator:
    """Scale features to unit variance first."""
    return make_pipeline(StandardScaler(), estimator)


METHODS: dict[str, Callable[[], BaseEstimator]] = {
    "mixed": lambda: WOLCClassifier("mixed", random_state=0),
    "WOLC stumps": lambda: WOLCClassifier(random_state=0),
    "one-vs-one stumps": lambda: ECOCClassifier(random_state=0),
    "RandomForest": lambda: RandomForestClassifier(300, random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "SVC": lambda: scaled(SVC(C=100.0, random_state=0)),
    "LogisticRegression": lambda: scaled(LogisticRegression(max_iter=1_000, random_state=0)),
}


def text_learners() -> list[tuple[str, BaseEstimator]]:
    """List learners that take sparse matrices."""
    return [
        ("logistic", MulticlassLearner(LogisticRegression(C=10.0, max_iter=1_000))),
        ("trees", MulticlassLearner(ExtraTreesClassifier(100))),
    ]


#: Those of METHODS that take sparse matrices, without scaling, and a code of two learners that do.
TEXT_METHODS: dict[str, Callable[[], BaseEstimator]] = {
    "a linear model and trees": lambda: WOLCClassifier(text_learners(), random_state=0),
    "RandomForest": METHODS["RandomForest"],
    "SVC": lambda: SVC(C=100.0, random_state=0),
    "LogisticRegression": lambda: LogisticRegression(C=10.0, max_iter=1_000, random_state=0),
}


def methods_of(family: str) -> dict[str, Callable[[], BaseEstimator]]:
    """Return the methods that are measured on a family."""
    return TEXT_METHODS if family == TEXT else METHODS


def make_samples(family: str, n_samples: int, n_classes: int) -> tuple[Data, Data]:
    """Draw the training and the test part; fewer samples are the first of more, and the test part is the same."""
    n_drawn = MOST_SAMPLES + TEST_SAMPLES
    if family == TEXT:
        X, y = make_text(TEST_SAMPLES + n_samples, n_classes)
    else:
        X, y = make_classification(
            n_drawn,
            n_features=20,
            n_informative=10,
            n_redundant=5,
            n_classes=n_classes,
            n_clusters_per_class=CLUSTERS[family],
            class_sep=1.5,
            random_state=0,
        )
    test, train = slice(TEST_SAMPLES), slice(TEST_SAMPLES, TEST_SAMPLES + n_samples)
    return (X[train], y[train]), (X[test], y[test])


def make_text(n_samples: int, n_classes: int) -> tuple[csr_matrix, np.ndarray]:
    """Draw documents of 40 words, each class with frequencies of its own, which vary around common ones.

    Counts are divided by the length of the document, in the sense of Euclid.
    """
    rng = np.random.default_rng(0)
    common = 1.0 / np.arange(1, N_WORDS + 1)
    frequencies = common * rng.lognormal(sigma=0.7, size=(n_classes, N_WORDS))
    frequencies /= frequencies.sum(axis=1, keepdims=True)
    y = rng.integers(n_classes, size=n_samples)
    words = np.empty((n_samples, DOCUMENT_LENGTH), dtype=np.intp)
    for row, label in enumerate(y):
        words[row] = rng.choice(N_WORDS, size=DOCUMENT_LENGTH, p=frequencies[label])
    rows = np.repeat(np.arange(n_samples), DOCUMENT_LENGTH)
    counts = csr_matrix((np.ones(words.size), (rows, words.ravel())), shape=(n_samples, N_WORDS))
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1)).A1
    return csr_matrix(counts.multiply(1.0 / lengths[:, None])), y


def measured(make: Callable[[], BaseEstimator], train: Data, test: Data) -> dict[str, float | None]:
    """Train and test a method; the log-loss is None without probabilities."""
    start = process_time()
    model = make().fit(*train)
    trained = process_time()
    found = model.predict(test[0])
    done = process_time()
    loss = None
    if hasattr(model, "predict_proba"):
        loss = round(float(log_loss(test[1], model.predict_proba(test[0]), labels=model.classes_)), 4)
    accuracy = round(100 * float(np.mean(found == test[1])), 3)
    return {
        "accuracy": accuracy,
        "log_loss": loss,
        "fit": round(trained - start, 4),
        "predict": round(done - trained, 4),
    }


class Store:
    """Results by family, samples, classes and method, and the JSON file that holds them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = {"limit": LIMIT, "test_samples": TEST_SAMPLES, "samples_per_class": SAMPLES_PER_CLASS}
        self.versions = {name: version(name) for name in ("numpy", "scikit-learn")}
        self.runs: dict[Key, dict[str, float | None]] = {}
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["settings"] != self.settings:
                raise ValueError(f"{path} was made with {kept['settings']}, not {self.settings}")
            for run in kept["runs"]:
                key = run["family"], run["samples"], run["classes"], run["method"]
                self.runs[key] = {name: run[name] for name in (*MEASURES, "skipped") if name in run}

    def write(self) -> None:
        """Write all results, a line for each; the file is replaced in one step."""
        names = ("family", "samples", "classes", "method")
        lines = [json.dumps(dict(zip(names, key, strict=True)) | run) for key, run in self.runs.items()]
        head = {"settings": self.settings, "versions": self.versions}
        text = json.dumps(head)[:-1] + ', "runs": [\n' + ",\n".join(lines) + "\n]}\n"
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.path)

    def expected_seconds(self, key: Key) -> float:
        """Judge how long a fit would take by the one with fewer samples; 0 if there is none."""
        family, n_samples, n_classes, method = key
        smaller = [other for other in self.runs if (other[0], *other[2:]) == (family, n_classes, method)]
        smaller = [other for other in smaller if other[1] < n_samples]
        if not smaller:
            return 0.0
        largest = max(smaller, key=lambda other: other[1])
        run = self.runs[largest]
        seconds = float(run["skipped"] if "skipped" in run else run["fit"] or 0.0)
        has_fewer_fits = method == "mixed" and largest[1] <= FOLDED_SAMPLES < n_samples
        return (
            seconds * (n_samples / largest[1]) ** EXPONENTS.get(method, 1.0) * (SHARE_OF_FITS if has_fewer_fits else 1)
        )

    def run(self, family: str, n_samples: int, n_classes: int) -> None:
        """Measure in a cell what is not there yet; what was skipped is judged again."""
        methods = methods_of(family)
        keys = [(family, n_samples, n_classes, method) for method in methods]
        missing = [key for key in keys if "fit" not in self.runs.get(key, {})]
        if not missing:
            return
        train, test = make_samples(family, n_samples, n_classes)
        for key in missing:
            expected = self.expected_seconds(key)
            if expected > LIMIT:
                self.runs[key] = {"skipped": round(expected, 1)}
            else:
                self.runs[key] = measured(methods[key[3]], train, test)
            print(*key, self.runs[key], flush=True)
            self.write()


def cells(families: list[str], samples: list[int], classes: list[int]) -> list[tuple[str, int, int]]:
    """List what is measured, small cells first."""
    found = []
    for family in families:
        if family == TEXT:
            found += [(family, n, c) for n in TEXT_SAMPLES for c in TEXT_CLASSES]
        else:
            found += [(family, n, c) for n in samples for c in classes if n >= SAMPLES_PER_CLASS * c]
    return sorted(found, key=lambda cell: (cell[1], cell[2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    families = [*CLUSTERS, TEXT]
    parser.add_argument("--families", nargs="+", default=families, choices=families)
    parser.add_argument("--samples", nargs="+", type=int, default=SAMPLES)
    parser.add_argument("--classes", nargs="+", type=int, default=CLASSES)
    parser.add_argument(
        "--out", type=Path, default=Path("choosing.json"), help="results are read from and written to it"
    )
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")
    store = Store(options.out)
    with threadpool_limits(1):
        warm = make_samples("one", 300, 3)
        for make in METHODS.values():  # compile and import what is compiled and imported on first use
            measured(make, *warm)
        for cell in cells(options.families, options.samples, options.classes):
            store.run(*cell)


if __name__ == "__main__":
    main()
