"""Store the decision values of a fixed set of fits, or compare this checkout with what was stored.

All five classifiers x three learners x three kinds of output x four data sets, and for every kind of data, parameter
and method that takes a way of its own a few small fits. Run it before and after a change that should change no result:

    python scripts/decision_values.py --store values.npz
    python scripts/decision_values.py --check values.npz
    python scripts/decision_values.py --check values.npz --only "dask/*"

`tests/reference/decision_values.npz` holds those of the last release or change of defaults, in single precision; a test
compares a part of them.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skecoc import (
    CostSensitiveClassifier,
    ECOCClassifier,
    ECOCOneClassifier,
    LCECOCClassifier,
    SubclassECOCClassifier,
    WOLCClassifier,
)
from skecoc.classifiers import wolc
from skecoc.coding import CODINGS, one_vs_rest
from skecoc.data import Blocks, Partitions
from skecoc.datasets import load_uci
from skecoc.decoding import DECODERS, LossBasedDecoder, OptimizedWeightDecoder
from skecoc.learners import MulticlassLearner, RegionClassifier, StumpAdaBoostClassifier, TunedSVMClassifier

# Every n-th sample of a set is taken, half of them for training.
SETS = {"iris": 1, "glass": 1, "vehicle": 4, "vowel": 3}
CLASSIFIERS = {
    "ecoc": partial(ECOCClassifier, decoding="loss-weighted"),
    "one": partial(ECOCOneClassifier, decoding="loss-weighted"),
    "layered": partial(LCECOCClassifier, decoding="loss-weighted"),
    "subclass": SubclassECOCClassifier,
    "wolc": WOLCClassifier,
}
RESPONSES = ("predict_proba", "decision_function", "predict")
# The classifiers with their own defaults, and a learner that is quickly trained.
DEFAULTS = {
    "ecoc": ECOCClassifier,
    "one": ECOCOneClassifier,
    "layered": LCECOCClassifier,
    "subclass": SubclassECOCClassifier,
    "wolc": WOLCClassifier,
}
GROWING = ("one", "layered", "wolc")
STUMPS = StumpAdaBoostClassifier(n_estimators=8)
LOGISTIC = LogisticRegression(C=10.0, max_iter=500)
TREE = DecisionTreeClassifier(max_depth=4)
# Growth that is soon over.
SHORT = {"max_iter": 2, "random_state": 0}
# Learners of every kind, with missing values and without.
SEVERAL = [
    ("stumps", STUMPS),
    ("logistic", MulticlassLearner(LOGISTIC)),
    ("svm", MulticlassLearner(SVC())),
    ("trees", MulticlassLearner(ExtraTreesClassifier(10))),
    ("bayes", GaussianNB()),
]
TAKING_MISSING = [("stumps", STUMPS), ("boosting", MulticlassLearner(HistGradientBoostingClassifier(max_iter=5)))]
# Rows that stumps are boosted on by sums over blocks, not where they are put together.
N_MANY = 12_000

Fit = Callable[[], np.ndarray]
Samples = tuple[np.ndarray, np.ndarray, np.ndarray]


def learners() -> dict[str, object]:
    """Make the three learners."""
    return {
        "stumps": StumpAdaBoostClassifier(n_estimators=20),
        "svm": TunedSVMClassifier(C=[2.0**12]),
        "logistic": LogisticRegression(C=10.0, max_iter=500),
    }


@cache
def samples(name: str) -> Samples:
    """Return training samples, their classes, and test samples of a set."""
    X, y = load_uci(name, return_X_y=True)
    chosen = np.random.RandomState(0).permutation(len(y))[:: SETS[name]]
    X, y = X[chosen], y[chosen]
    scaler = MinMaxScaler().fit(X[::2])
    return scaler.transform(X[::2]), y[::2], scaler.transform(X[1::2])


def numbered(name: str) -> Samples:
    """Return the samples of a set with integers as classes, and fewer test samples."""
    X, y, X_test = samples(name)
    return X, np.unique(y, return_inverse=True)[1], X_test[:60]


@cache
def clouds(n_classes: int, n_rows: int, n_features: int = 4) -> Samples:
    """Return rows around two centres per class, their classes, and 60 others."""
    random_state = np.random.RandomState(0)
    centres = random_state.normal(size=(2 * n_classes, n_features))
    place = np.arange(n_rows + 60) % (2 * n_classes)
    X = centres[place] + 0.7 * random_state.normal(size=(n_rows + 60, n_features))
    order = random_state.permutation(n_rows)
    return X[:n_rows][order], (place % n_classes)[:n_rows][order], X[n_rows:]


def with_missing(X: np.ndarray) -> np.ndarray:
    """Return samples of which every eighth value is missing."""
    return np.where(np.random.RandomState(1).uniform(size=X.shape) < 0.125, np.nan, X)


def as_sparse(X: np.ndarray) -> sparse.csr_matrix:
    """Return samples whose small values are zeros that are not stored."""
    return sparse.csr_matrix(np.where(X < 0.3, 0.0, X))


def weights(y: np.ndarray) -> np.ndarray:
    """Return sample weights, some of them zero."""
    return np.random.RandomState(2).randint(0, 4, len(y)) / 2.0


def values(model: BaseEstimator, X: object, method: str = "decision_function", **options: object) -> np.ndarray:
    """Return what a method of a fitted classifier returns, as numbers."""
    return np.asarray(getattr(model, method)(X, **options), dtype=np.float64)


# --- Rows that are not one array in memory. What fits them is written here alone.


# Parameters of the data, not of the classifier.
OF_DATA = ("max_bins", "sample_size", "directory", "block_size", "client", "sample_weight")


def fit_described(method: str, describe: Callable[..., object], *data: object, **parameters: object) -> BaseEstimator:
    """Fit ECOC or WOLC to described data."""
    settings = {name: parameters.pop(name) for name in OF_DATA if name in parameters}
    return DEFAULTS[method](**{"random_state": 0, **parameters}).fit(describe(*data, **settings))


def fit_blocks(method: str, X: object, y: object, weight: object = None, **parameters: object) -> BaseEstimator:
    """Fit ECOC or WOLC to rows that are read block by block."""
    return fit_described(method, Blocks, X, y, **{"block_size": 37, "sample_weight": weight, **parameters})


def fit_iterated(method: str, blocks: object, **parameters: object) -> BaseEstimator:
    """Fit ECOC or WOLC to an iterable of blocks."""
    return fit_described(method, Blocks, blocks, **parameters)


def fit_dask(method: str, X: object, y: object, weight: object = None, **parameters: object) -> BaseEstimator:
    """Fit ECOC or WOLC to Dask collections."""
    return fit_described(method, Partitions, X, y, sample_weight=weight, **parameters)


@contextmanager
def few_codewords() -> Iterator[None]:
    """Let WOLC take one-vs-one for too long to grow; it is from 774,000 samples of 30 classes on."""
    with patch.object(wolc, "_MOST_CODEWORDS", 1e3):
        yield


@contextmanager
def cluster() -> Iterator[None]:
    """Start a small Dask cluster in this process."""
    from distributed import Client

    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
        yield


def block_values(
    method: str, data: Samples, weight: object = None, *, response: str = "decision_function", **parameters: object
) -> np.ndarray:
    """Fit to arrays by blocks."""
    return values(fit_blocks(method, *data[:2], weight, **parameters), data[2], response)


def iterated_values(method: str, data: Samples, **parameters: object) -> np.ndarray:
    """Fit to three uneven blocks, one of them empty."""
    X, y, X_test = data
    ends = [0, 10, 10, len(y)]
    blocks = [(X[start:end], y[start:end]) for start, end in pairwise(ends)]
    return values(fit_iterated(method, blocks, **parameters), X_test)


def mapped_values(method: str, data: Samples, **parameters: object) -> np.ndarray:
    """Fit to memory-mapped arrays by blocks."""
    with tempfile.TemporaryDirectory() as folder:
        mapped = []
        for name, array in zip("Xy", data[:2], strict=True):
            np.save(Path(folder) / f"{name}.npy", array)
            mapped.append(np.load(Path(folder) / f"{name}.npy", mmap_mode="r"))
        return values(fit_blocks(method, *mapped, **parameters), data[2])


def dask_values(
    method: str,
    data: Samples,
    weight: np.ndarray | None = None,
    *,
    frames: bool = False,
    response: str = "decision_function",
    options: dict[str, object] | None = None,
    **parameters: object,
) -> np.ndarray:
    """Fit to Dask arrays or frames of three partitions, and predict a collection of two."""
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    X, y, X_test = data
    if frames:
        names = [f"f{number}" for number in range(X.shape[1])]
        table = pd.DataFrame(X, columns=names).assign(label=y, weight=1.0 if weight is None else weight)
        parts = dd.from_pandas(table, npartitions=3)
        rows: tuple = (parts[names], parts["label"], None if weight is None else parts["weight"])
        new = dd.from_pandas(pd.DataFrame(X_test, columns=names), npartitions=2)
    else:
        chunk = -(-len(y) // 3)
        rows = (da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk))
        rows += (None if weight is None else da.from_array(weight, chunks=chunk),)
        new = da.from_array(X_test, chunks=(-(-len(X_test) // 2), -1))
    with cluster():
        model = fit_dask(method, *rows, **parameters)
        return np.asarray(getattr(model, response)(new, **(options or {})).compute(), dtype=np.float64)


# --- Ways to fit and to decide


def memory_values(
    model: BaseEstimator,
    data: Samples,
    *,
    response: str = "decision_function",
    options: dict[str, object] | None = None,
    **fit_params: object,
) -> np.ndarray:
    """Fit to arrays in memory."""
    return values(model.fit(*data[:2], **fit_params), data[2], response, **(options or {}))


def missing_values(model: BaseEstimator, **options: object) -> np.ndarray:
    """Fit to samples that lack values, and decide about such ones."""
    X, y, X_test = numbered("glass")
    return memory_values(model, (with_missing(X), y, with_missing(X_test)), **options)


def sparse_values(model: BaseEstimator, **options: object) -> np.ndarray:
    """Fit to sparse samples, and decide about such ones."""
    X, y, X_test = numbered("vehicle")
    return memory_values(model, (as_sparse(X), y, as_sparse(X_test)), **options)


def weighted_values(model: BaseEstimator) -> np.ndarray:
    """Fit with sample weights."""
    data = numbered("vehicle")
    return memory_values(model, data, sample_weight=weights(data[1]))


def file_values(model: BaseEstimator, name: str, **fit_params: object) -> np.ndarray:
    """Fit, save, load, and return decision values and probabilities side by side."""
    from skecoc.persistence import load_model, save_model

    X, y, X_test = numbered(name)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model.fit(X, y, **fit_params), Path(folder) / "model.skops")
        loaded = load_model(Path(folder) / "model.skops")
    return np.hstack([values(loaded, X_test), values(loaded, X_test, "predict_proba")])


def onnx_values(model: BaseEstimator, name: str = "vehicle", *, scores: bool = False) -> np.ndarray:
    """Fit, export, and return what the runtime computes: labels first, then probabilities or scores."""
    import onnxruntime

    from skecoc.onnx import to_onnx

    X, y, X_test = numbered(name)
    exported = to_onnx(model.fit(X, y), X[:1], scores=scores)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    labels, outputs = session.run(None, {session.get_inputs()[0].name: X_test})
    return np.column_stack([labels, outputs]).astype(np.float64)


def warm_values(model: BaseEstimator, **more: object) -> np.ndarray:
    """Fit, and fit again with larger limits."""
    X, y, X_test = numbered("vehicle")
    model.set_params(warm_start=True).fit(X, y)
    return values(model.set_params(**more).fit(X, y), X_test)


def staged_values(model: BaseEstimator) -> np.ndarray:
    """Fit, and return the labels of every stage, one column for each."""
    X, y, X_test = numbered("vehicle")
    return np.column_stack([*model.fit(X, y).staged_predict(X_test)]).astype(np.float64)


def batch_values(model: BaseEstimator) -> np.ndarray:
    """Fit to three batches."""
    X, y, X_test = numbered("vehicle")
    for batch in np.array_split(np.arange(len(y)), 3):
        model.partial_fit(X[batch], y[batch], classes=np.unique(y))
    return np.hstack([values(model, X_test), values(model, X_test, "predict_proba")])


def ordinal_values(fit: Callable[..., BaseEstimator], **parameters: object) -> np.ndarray:
    """Fit an ordinal code of classes whose sorted order is not their own."""
    X, y, X_test = numbered("vehicle")
    names = np.array(["poor", "fair", "good", "best"])
    return values(fit(X, names[y], class_order=names, **parameters), X_test)


def pair_values(model: BaseEstimator) -> np.ndarray:
    """Fit, and return the numbers of the report on pairs of classes; their last digits differ from run to run."""
    X, y, _ = numbered("vehicle")
    frame = model.fit(X, y).pair_report(X, y).to_frame()
    return np.round(frame.select_dtypes("number").to_numpy(dtype=np.float64), 12)


def two_classes() -> Samples:
    """Return samples of the first two classes of a set."""
    X, y, X_test = numbered("vehicle")
    return X[y < 2], y[y < 2], X_test


def without_growth(fit: Fit) -> np.ndarray:
    """Fit where one-vs-one is too long to grow."""
    with few_codewords():
        return fit()


def forgotten(model: BaseEstimator, X: object) -> np.ndarray:
    """Return decision values and probabilities of a fit to blocks."""
    return np.hstack([values(model, X), values(model, X, "predict_proba")])


# --- The table


def basic() -> dict[str, Fit]:
    """Return all classifiers x learners x outputs x sets, and the classifiers of blocks."""
    table: dict[str, Fit] = {}
    for name in SETS:
        for method, classifier in CLASSIFIERS.items():
            for learner, estimator in learners().items():
                for response in RESPONSES:
                    model = classifier(estimator, response_method=response, random_state=0)
                    table[f"{name}/{method}/{learner}/{response}"] = partial(_of_set, model, name)
        for decoding in ("loss-weighted", "optimized-weight"):
            table[f"{name}/block-ecoc/{decoding}"] = partial(_of_blocks, "ecoc", name, decoding=decoding)
        table[f"{name}/block-wolc"] = partial(_of_blocks, "wolc", name, max_iter=2)
    return table


def _of_set(model: BaseEstimator, name: str) -> np.ndarray:
    return memory_values(model, samples(name))


def _of_blocks(method: str, name: str, **parameters: object) -> np.ndarray:
    return block_values(method, samples(name), **parameters)


def of_codes() -> dict[str, Fit]:
    """Return fits of every coding and every decoding."""
    vehicle = numbered("vehicle")
    table: dict[str, Fit] = {}

    def add(name: str, model: BaseEstimator, data: Samples = vehicle, **how: object) -> None:
        table[name] = partial(memory_values, model, data, **how)

    for name in CODINGS:
        add(f"coding/{name}/ecoc-stumps", ECOCClassifier(STUMPS, coding=name, random_state=0))
    for name in ("forest", "sparse-random", "exhaustive"):
        add(f"coding/{name}/wolc-stumps", WOLCClassifier(STUMPS, init=name, **SHORT))
    add("coding/matrix/ecoc-logistic", ECOCClassifier(LOGISTIC, coding=one_vs_rest(4)))
    add("coding/function/layered-stumps", LCECOCClassifier(STUMPS, init=_made_by_function, **SHORT))
    for name in DECODERS:
        for learner, estimator in (("stumps", STUMPS), ("svm", SVC())):
            add(f"decoding/{name}/ecoc-{learner}", ECOCClassifier(estimator, decoding=name, random_state=0))
    for name in ("hamming", "probabilistic", "logistic-weight", "optimized-weight"):
        for method in ("one", "layered", "subclass"):
            add(f"decoding/{name}/{method}-stumps", DEFAULTS[method](STUMPS, decoding=name, random_state=0))
    add("decoding/hinge/ecoc-svm", ECOCClassifier(SVC(), decoding=LossBasedDecoder("hinge")))
    no_margin = OptimizedWeightDecoder(margin=0.0, l2=0.0)
    add("decoding/no-margin/ecoc-stumps", ECOCClassifier(STUMPS, decoding=no_margin))
    return table


def _made_by_function(_X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return one_vs_rest(len(np.unique(y)))


def of_parameters() -> dict[str, Fit]:
    """Return fits of all classifiers to arrays in memory of one kind or another, and of folds and orders of classes."""
    vehicle, iris = numbered("vehicle"), numbered("iris")
    table: dict[str, Fit] = {}

    def add(name: str, model: BaseEstimator, data: Samples = vehicle, **how: object) -> None:
        table[name] = partial(memory_values, model, data, **how)

    for method, classifier in DEFAULTS.items():
        add(f"defaults/{method}-stumps", classifier(random_state=0), iris)
        add(f"proba/{method}-stumps", classifier(STUMPS, random_state=0), response="predict_proba")
        add(f"proba/{method}-svm", classifier(SVC(), random_state=0), iris, response="predict_proba")
        add(f"codewords/{method}-tree", classifier(TREE, random_state=0), iris, response="codewords")
        add(f"two-classes/{method}-stumps", classifier(STUMPS, random_state=0), two_classes())
        add(f"class-weights/balanced/{method}-stumps", classifier(STUMPS, random_state=0, class_weight="balanced"))
        table[f"nan/{method}-stumps"] = partial(missing_values, classifier(STUMPS, random_state=0))
        table[f"sparse/{method}-stumps"] = partial(sparse_values, classifier(STUMPS, random_state=0))
        table[f"sparse/{method}-logistic"] = partial(sparse_values, classifier(LOGISTIC, random_state=0))
        table[f"weights/{method}-stumps"] = partial(weighted_values, classifier(STUMPS, random_state=0))
        table[f"weights/{method}-logistic"] = partial(weighted_values, classifier(LOGISTIC, random_state=0))
        table[f"file/{method}-stumps"] = partial(file_values, classifier(STUMPS, random_state=0), "vehicle")
        table[f"onnx/{method}-stumps"] = partial(onnx_values, classifier(STUMPS, random_state=0))
    for method in ("ecoc", "wolc"):
        classifier = DEFAULTS[method]
        weighted = {0: 3.0, 1: 0.0, 2: 0.5}  # the class of weight zero is left out
        add(f"class-weights/given/{method}-logistic", classifier(LOGISTIC, random_state=0, class_weight=weighted))
        both = classifier(STUMPS, random_state=0, class_weight="balanced")
        table[f"class-weights/and-weights/{method}-stumps"] = partial(weighted_values, both)
        folds = (("none", None), ("two", 2), ("four", 4))
        for name, n_folds in folds:
            add(f"folds/{name}/{method}-stumps", classifier(STUMPS, random_state=0, n_folds=n_folds))
            add(f"folds/{name}/proba/{method}-logistic", classifier(LOGISTIC, n_folds=n_folds, random_state=0), iris)
    add("folds/none/layered-stumps", LCECOCClassifier(STUMPS, n_folds=None, random_state=0))

    ordinal = lambda model: lambda X, y, class_order: model.set_params(class_order=class_order).fit(X, y)  # noqa: E731
    table["ordinal/ecoc-stumps"] = partial(ordinal_values, ordinal(ECOCClassifier(STUMPS, coding="ordinal")))
    table["ordinal/wolc-stumps"] = partial(ordinal_values, ordinal(WOLCClassifier(STUMPS, init="ordinal", **SHORT)))
    table["ordinal/one-logistic"] = partial(
        ordinal_values, ordinal(ECOCOneClassifier(LOGISTIC, init="ordinal", **SHORT))
    )
    return table


def of_growth() -> dict[str, Fit]:
    """Return fits of codes that grow: the paper's settings, limits, regions, stages, a fit that goes on."""
    vehicle, vowel = numbered("vehicle"), numbered("vowel")
    table: dict[str, Fit] = {}
    settings = {
        "paper": WOLCClassifier.paper(estimator=STUMPS, max_iter=4, random_state=0),
        "weights-every-round": WOLCClassifier(STUMPS, n_folds=None, max_iter=4, random_state=0),
        "weights-every-round-margins": WOLCClassifier(SVC(), n_folds=None, **SHORT),
        "logistic-weights": WOLCClassifier(STUMPS, decoding="logistic-weight", random_state=0),
        "margin-and-l2": WOLCClassifier(STUMPS, decoding=OptimizedWeightDecoder(0.2, l2=0.05), random_state=0),
        "auto-columns": WOLCClassifier(STUMPS, max_columns="auto", random_state=0),
        "fewer-columns-than-pairs": WOLCClassifier(STUMPS, max_columns=5, random_state=0),
        "fewer-columns-than-classes": WOLCClassifier(STUMPS, max_columns=3, random_state=0),
        "five-regions": WOLCClassifier(STUMPS, n_regions=5, n_pairs=2, patience=2, random_state=0),
        "regions-of-svm": WOLCClassifier(SVC(), n_regions=[2, 4], **SHORT),
        "regions-of-trees": WOLCClassifier(TREE, init="one-vs-rest", random_state=0),
        "tolerant": WOLCClassifier(STUMPS, tol=0.05, random_state=0),
    }
    for name, model in settings.items():
        table[f"growth/{name}/wolc"] = partial(memory_values, model, vehicle)
    table["paper/vowel-stumps"] = partial(memory_values, WOLCClassifier.paper(estimator=STUMPS, **SHORT), vowel)
    for method in GROWING:
        short = DEFAULTS[method](STUMPS, max_iter=1, random_state=0)
        table[f"warm/{method}-stumps"] = partial(warm_values, short, max_iter=3)
        table[f"staged/{method}-stumps"] = partial(staged_values, DEFAULTS[method](STUMPS, max_iter=3, random_state=0))
    table["warm/wolc-several"] = partial(
        warm_values, WOLCClassifier(SEVERAL[:2], max_iter=1, random_state=0), max_iter=3
    )
    table["warm/wolc-columns"] = partial(
        warm_values, WOLCClassifier(TREE, max_columns=12, random_state=0), max_columns=20
    )
    table["staged/wolc-several"] = partial(staged_values, WOLCClassifier(SEVERAL, **SHORT))
    table["pairs/wolc-stumps"] = partial(pair_values, WOLCClassifier(STUMPS, **SHORT))
    table["pairs/ecoc-stumps"] = partial(pair_values, ECOCClassifier(STUMPS))
    return table


def of_learners() -> dict[str, Fit]:
    """Return fits of several learners, of "mixed" and of learners alone."""
    vehicle, iris = numbered("vehicle"), numbered("iris")
    table: dict[str, Fit] = {}

    def add(name: str, model: BaseEstimator, data: Samples = vehicle, **how: object) -> None:
        table[name] = partial(memory_values, model, data, **how)

    for method in ("ecoc", "wolc"):
        classifier, limit = DEFAULTS[method], SHORT if method == "wolc" else {"random_state": 0}
        add(f"mixed/{method}", classifier("mixed", random_state=0), iris)
        add(f"several/{method}", classifier(SEVERAL, random_state=0))
        add(f"several/proba/{method}", classifier(SEVERAL, random_state=0), response="predict_proba")
        add(f"several/labels/{method}", classifier(SEVERAL, response_method="predict", random_state=0))
        add(f"several/dropped/{method}", classifier([*SEVERAL[:2], ("svm", "drop")], random_state=0))
        add(f"several/columns/{method}", classifier(SEVERAL, max_columns=20, random_state=0))
        add(f"several/no-folds/{method}", classifier(SEVERAL, n_folds=None, random_state=0))
        table[f"several/nan/{method}"] = partial(missing_values, classifier(TAKING_MISSING, random_state=0))
        table[f"several/sparse/{method}"] = partial(sparse_values, classifier(SEVERAL[:4], random_state=0))
        table[f"several/weights/{method}"] = partial(
            weighted_values, classifier([SEVERAL[0], *SEVERAL[2:]], random_state=0)
        )
        table[f"several/file/{method}"] = partial(file_values, classifier(SEVERAL, random_state=0), "vehicle")
        table[f"several/onnx/{method}"] = partial(onnx_values, classifier(SEVERAL, random_state=0))
        for name, learner in (("logistic", LOGISTIC), ("svm", SVC(C=10.0)), ("tree", TREE), ("bayes", GaussianNB())):
            add(f"learner/{name}/{method}", classifier(learner, **limit))
        only = [("svm", MulticlassLearner(SVC()))]
        add(f"several/only-multiclass/{method}", classifier(only, random_state=0))
    add("several/one-vs-rest/wolc", WOLCClassifier(SEVERAL, init="one-vs-rest", **SHORT))
    add(
        "several/loss-weighted/ecoc",
        ECOCClassifier(SEVERAL, coding="dense-random", decoding="loss-weighted", random_state=0),
    )
    add("learner/alone/stumps", StumpAdaBoostClassifier(10), two_classes())
    add("learner/alone/tuned-svm", TunedSVMClassifier(C=[1.0, 100.0], width=[0.5, 2.0], random_state=0), two_classes())
    for name, learner in (("stumps", STUMPS), ("logistic", LOGISTIC), ("svm", SVC())):
        add(f"learner/alone/regions-of-{name}", RegionClassifier(learner, n_regions=3, random_state=0), two_classes())
    add("learner/alone/multiclass", MulticlassLearner(LOGISTIC), vehicle, response="predict_proba")
    return table


def of_decisions() -> dict[str, Fit]:
    """Return decisions with costs, of model files, of the ONNX runtime and of batches."""
    vehicle = numbered("vehicle")
    costs = {0: {1: 5.0, 2: 0.2}, 3: {0: 9.0}}
    matrix = np.random.RandomState(3).uniform(0.5, 3.0, (4, 4)) * (1 - np.eye(4))
    table: dict[str, Fit] = {}
    for method in ("ecoc", "wolc"):
        model = DEFAULTS[method](STUMPS, random_state=0)
        decide = partial(memory_values, model, vehicle, response="predict")
        table[f"costs/by-label/{method}"] = partial(decide, options={"cost_matrix": costs})
        table[f"costs/matrix-and-reject/{method}"] = partial(decide, options={"cost_matrix": matrix, "reject": 0.5})
        table[f"costs/reject/{method}"] = partial(decide, options={"reject": 0.7})
        for response in ("predict", "decision_function", "predict_proba"):
            wrapped = CostSensitiveClassifier(model, cost_matrix=matrix)
            table[f"costs/wrapped/{response}/{method}"] = partial(memory_values, wrapped, vehicle, response=response)
        table[f"costs/wrapped/reject/{method}"] = partial(
            memory_values, CostSensitiveClassifier(model, cost_matrix=costs, reject=0.4), vehicle, response="predict"
        )
        for name, learner in (("svm", TunedSVMClassifier(C=1.0, width=1.0)), ("tree", TREE), ("logistic", LOGISTIC)):
            table[f"file/{method}-{name}"] = partial(file_values, DEFAULTS[method](learner, random_state=0), "iris")
            table[f"onnx/{method}-{name}"] = partial(onnx_values, DEFAULTS[method](learner, random_state=0), "iris")
        table[f"onnx/scores/{method}-stumps"] = partial(onnx_values, model, scores=True)
    table["file/costs-ecoc"] = partial(
        _labels_of_file, CostSensitiveClassifier(ECOCClassifier(STUMPS), cost_matrix=costs)
    )
    for name in ("auto", "one-vs-rest", "dense-random"):
        model = ECOCClassifier(SGDClassifier(loss="log_loss", random_state=0), coding=name, random_state=0)
        table[f"batches/{name}/ecoc-sgd"] = partial(batch_values, model)
    table["batches/ecoc-bayes"] = partial(batch_values, ECOCClassifier(GaussianNB()))
    return table


def _labels_of_file(model: BaseEstimator) -> np.ndarray:
    """Fit, save, load, and return labels."""
    from skecoc.persistence import load_model, save_model

    X, y, X_test = numbered("vehicle")
    with tempfile.TemporaryDirectory() as folder:
        save_model(model.fit(X, y), Path(folder) / "model.skops")
        return values(load_model(Path(folder) / "model.skops"), X_test, "predict")


def of_many_classes() -> dict[str, Fit]:
    """Return fits of many classes: compact codes, and codes that do not grow."""
    table: dict[str, Fit] = {}
    c32, c101, c210 = clouds(32, 320), clouds(101, 808), clouds(210, 840, 2)
    vowel = numbered("vowel")  # eleven classes
    few = StumpAdaBoostClassifier(n_estimators=2)
    for name, learner in (("compact-tree", TREE), ("pairs-bayes", GaussianNB())):
        model = ECOCClassifier(learner, n_folds=None, random_state=0)
        table[f"many/32/{name}/ecoc"] = partial(memory_values, model, c32)
    table["many/32/several/ecoc"] = partial(memory_values, ECOCClassifier(SEVERAL[:2], random_state=0), c32)
    table["many/32/several/wolc"] = partial(memory_values, WOLCClassifier(SEVERAL[:2], **SHORT), c32)
    table["many/32/compact-tree-grows/wolc"] = partial(memory_values, WOLCClassifier(TREE, **SHORT), c32)
    table["many/32/compact-tree/ecoc-weights"] = partial(
        memory_values, ECOCClassifier(TREE, n_folds=None, random_state=0, class_weight="balanced"), c32
    )
    table["many/101/compact-tree/ecoc"] = partial(memory_values, ECOCClassifier(TREE, random_state=0), c101)
    table["many/101/compact-tree-fixed/wolc"] = partial(memory_values, WOLCClassifier(TREE, random_state=0), c101)
    table["many/101/compact-bayes-fixed/wolc"] = partial(
        memory_values, WOLCClassifier(GaussianNB(), random_state=0), c101
    )
    table["many/101/rest-logistic-fixed/wolc"] = partial(
        memory_values, WOLCClassifier(LogisticRegression(max_iter=20), random_state=0), c101
    )
    table["many/210/compact-stumps/ecoc"] = partial(memory_values, ECOCClassifier(few, random_state=0), c210)
    table["many/210/compact-stumps-fixed/wolc"] = partial(memory_values, WOLCClassifier(few, random_state=0), c210)
    for response in ("decision_function", "predict_proba"):
        for name, learner in (("stumps", STUMPS), ("svm", SVC())):
            fit = partial(memory_values, WOLCClassifier(learner, random_state=0), vowel, response=response)
            table[f"many/one-vs-one-fixed/{response}/wolc-{name}"] = partial(without_growth, fit)
    # From sums over blocks: `max_bins` is a number, so that few rows are not put together.
    fit = partial(block_values, "wolc", vowel, estimator=STUMPS, max_bins=32)
    table["many/one-vs-one-fixed/wolc-blocks"] = partial(without_growth, fit)
    table["many/210/compact-stumps-fixed/wolc-blocks"] = partial(
        block_values, "wolc", c210, estimator=few, max_bins=32, block_size=300
    )
    table["many/210/compact-stumps/ecoc-blocks"] = partial(
        block_values, "ecoc", c210, estimator=few, max_bins=32, block_size=300
    )
    return table


def of_blocks() -> dict[str, Fit]:
    """Return fits to more rows than are put together, in memory and in blocks, and to few rows with own bins."""
    many, vehicle, weight = clouds(4, N_MANY), numbered("vehicle"), weights(np.arange(N_MANY))
    table: dict[str, Fit] = {}
    for method in ("ecoc", *GROWING):
        limit = {"max_iter": 1} if method in GROWING else {}
        model = DEFAULTS[method](STUMPS, random_state=0, **limit)
        table[f"large/{method}-stumps"] = partial(memory_values, model, many)
    table["large/ecoc-probabilistic"] = partial(
        memory_values, ECOCClassifier(STUMPS, decoding="probabilistic", random_state=0), many
    )
    for method in ("ecoc", "wolc"):
        limit = {"max_iter": 2} if method == "wolc" else {}
        stumps = {"estimator": STUMPS, **limit}
        blocks = partial(block_values, method)
        for size in (1_000, 5_000):
            for bins in ("auto", 16, 1_000):
                settings = {**stumps, "block_size": size, "max_bins": bins}
                table[f"blocks/many/size-{size}-bins-{bins}/{method}"] = partial(blocks, many, **settings)
        stumps["block_size"] = 5_000
        table[f"blocks/many/mapped/{method}"] = partial(mapped_values, method, many, **stumps)
        table[f"blocks/many/weights/{method}"] = partial(blocks, many, weight, **stumps)
        table[f"blocks/many/balanced/{method}"] = partial(blocks, many, weight, class_weight="balanced", **stumps)
        table[f"blocks/many/proba/{method}"] = partial(blocks, many, response="predict_proba", **stumps)
        table[f"blocks/many/labels/{method}"] = partial(blocks, many, response_method="predict", **stumps)
        table[f"blocks/many/margins/{method}"] = partial(blocks, many, response_method="decision_function", **stumps)
        sampled = {**stumps, "sample_size": 500}
        table[f"blocks/many/sampled-logistic/{method}"] = partial(blocks, many, **{**sampled, "estimator": LOGISTIC})
        pair = [SEVERAL[0], ("logistic", LOGISTIC)]
        table[f"blocks/many/sampled-several/{method}"] = partial(blocks, many, **{**sampled, "estimator": pair})
        # Few rows: put together as in memory, or with bins of their own.
        few = {"estimator": STUMPS, **limit}
        table[f"blocks/few/weights/{method}"] = partial(blocks, vehicle, weights(vehicle[1]), **few)
        table[f"blocks/few/iterated/{method}"] = partial(iterated_values, method, vehicle, **few)
        table[f"blocks/few/own-bins/{method}"] = partial(blocks, vehicle, max_bins=8, **few)
        table[f"blocks/few/own-bins-weights/{method}"] = partial(
            blocks, vehicle, weights(vehicle[1]), max_bins=8, class_weight="balanced", **few
        )
        several = {**limit, "estimator": SEVERAL, "max_bins": 16}
        table[f"blocks/few/several-own-bins/{method}"] = partial(blocks, vehicle, **several)
        table[f"blocks/few/logistic/{method}"] = partial(blocks, vehicle, **{**few, "estimator": LOGISTIC})
        table[f"blocks/few/two-classes/{method}"] = partial(blocks, two_classes(), max_bins=8, **few)
        table[f"blocks/few/ordinal/{method}"] = partial(_ordinal_blocks, method, **few)
        table[f"blocks/few/in-memory/{method}"] = partial(_in_memory_blocks, method, **few)
    for decoding in ("optimized-weight", "probabilistic", "logistic-weight", "loss-based"):
        settings = {"decoding": decoding, "estimator": STUMPS}
        table[f"blocks/many/{decoding}/ecoc"] = partial(block_values, "ecoc", many, block_size=5_000, **settings)
        table[f"blocks/few/own-bins-{decoding}/ecoc"] = partial(block_values, "ecoc", vehicle, max_bins=8, **settings)
    for coding in ("decoc", "dense-random", "exhaustive"):
        settings = {"coding": coding, "estimator": STUMPS, "max_bins": 8}
        table[f"blocks/few/own-bins-{coding}/ecoc"] = partial(block_values, "ecoc", vehicle, **settings)
    return table


def of_dask() -> dict[str, Fit]:
    """Return fits to Dask arrays and frames, of many rows and of few."""
    many, vehicle = clouds(4, N_MANY), numbered("vehicle")
    weight, table = weights(vehicle[1]), dict[str, Fit]()
    for method in ("ecoc", "wolc"):
        limit = {"max_iter": 2} if method == "wolc" else {}
        dask, few = partial(dask_values, method), {"estimator": STUMPS, **limit}
        several = {**limit, "estimator": SEVERAL, "max_bins": 16}
        short = {"estimator": StumpAdaBoostClassifier(n_estimators=3), **({"max_iter": 1} if method == "wolc" else {})}
        table[f"dask/many/arrays/{method}"] = partial(dask, many, **short)
        sampled = {**limit, "estimator": LOGISTIC, "sample_size": 50}
        table[f"dask/few/sampled-logistic/{method}"] = partial(dask, vehicle, **sampled)
        table[f"dask/few/frames-own-bins-weights/{method}"] = partial(
            dask, vehicle, weight, frames=True, max_bins=8, **few
        )
        table[f"dask/few/arrays/{method}"] = partial(dask, vehicle, **few)
        table[f"dask/few/arrays-proba/{method}"] = partial(dask, vehicle, response="predict_proba", **few)
        table[f"dask/few/frames/{method}"] = partial(dask, vehicle, frames=True, **few)
        table[f"dask/few/own-bins/{method}"] = partial(dask, vehicle, max_bins=8, **few)
        table[f"dask/few/own-bins-weights/{method}"] = partial(
            dask, vehicle, weight, max_bins=8, class_weight="balanced", **few
        )
        table[f"dask/few/several/{method}"] = partial(dask, vehicle, **{**few, "estimator": SEVERAL})
        table[f"dask/few/several-own-bins/{method}"] = partial(dask, vehicle, **several)
        decide = {"cost_matrix": {0: {1: 9.0}}, "reject": 0.6}
        table[f"dask/few/costs/{method}"] = partial(dask, vehicle, response="predict", options=decide, **few)
    for decoding in ("optimized-weight", "probabilistic"):
        settings = {"decoding": decoding, "estimator": STUMPS, "max_bins": 8}
        table[f"dask/few/own-bins-{decoding}/ecoc"] = partial(dask_values, "ecoc", vehicle, **settings)
    return table


def _ordinal_blocks(method: str, **parameters: object) -> np.ndarray:
    """Fit an ordinal code by blocks."""
    code = {"ecoc": {"coding": "ordinal"}, "wolc": {"init": "ordinal"}}[method]
    return ordinal_values(partial(fit_blocks, method), max_bins=8, **code, **parameters)


def _in_memory_blocks(method: str, **parameters: object) -> np.ndarray:
    """Fit by blocks, and decide by the classifier for samples in memory."""
    X, y, X_test = numbered("vehicle")
    return forgotten(fit_blocks(method, X, y, max_bins=8, **parameters), X_test)


def fits() -> dict[str, Fit]:
    """Return all fits by name; each makes an array of numbers with a row per test sample."""
    parts = (basic, of_codes, of_parameters, of_growth, of_learners, of_decisions, of_many_classes, of_blocks, of_dask)
    return {name: fit for part in parts for name, fit in part().items()}


def difference(before: np.ndarray, now: np.ndarray) -> str:
    """Say how two arrays of decision values differ; empty if they are the same to the last bit."""
    if before.shape != now.shape:
        return f"shape {before.shape} -> {now.shape}"
    now = now.astype(before.dtype)
    if np.array_equal(before, now, equal_nan=True):
        return ""
    if before.ndim == 1:
        return f"largest difference {np.abs(before - now).max():.3g}, {np.mean(before == now):.1%} are the same"
    agree = np.mean(before.argmax(axis=1) == now.argmax(axis=1))
    return f"largest difference {np.abs(before - now).max():.3g}, {agree:.1%} of predictions agree"


def main() -> int:
    """Store or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--store", metavar="FILE")
    action.add_argument("--check", metavar="FILE")
    action.add_argument("--list", action="store_true", help="print the names of all fits")
    parser.add_argument("--single", action="store_true", help="store single precision, which is smaller")
    parser.add_argument("--only", metavar="PATTERN", default="*", help='fits whose name matches, such as "dask/*"')
    parser.add_argument("--seconds", action="store_true", help="print the seconds of each fit")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    table = {name: fit for name, fit in fits().items() if fnmatchcase(name, arguments.only)}
    if arguments.list:
        print("\n".join(table))
        return 0
    found, failed = {}, 0
    with threadpool_limits(1):
        for name, fit in table.items():
            start = time.perf_counter()
            try:
                found[name] = fit()
            except Exception as error:  # noqa: BLE001 - the other fits are of interest too
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}", flush=True)
            if arguments.seconds:
                print(f"{time.perf_counter() - start:7.2f} s  {name}", flush=True)
    if arguments.store:
        dtype = np.float32 if arguments.single else np.float64
        np.savez_compressed(arguments.store, **{name: value.astype(dtype) for name, value in found.items()})
        print(f"{len(found)} fits stored, {failed} failed")
        return int(failed > 0)
    with np.load(arguments.check) as stored:
        changes = {name: difference(stored[name], found[name]) for name in found if name in stored}
        missing = {name for name in stored if fnmatchcase(name, arguments.only)} ^ set(table)
    for name, change in changes.items():
        if change:
            print(f"{name}: {change}")
    changed = sum(map(bool, changes.values()))
    print(f"{len(changes)} fits compared, {changed} changed, {failed} failed, {len(missing)} in one place only")
    return int(bool(changed or failed or missing))


if __name__ == "__main__":
    sys.exit(main())
