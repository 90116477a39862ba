"""Store the decision values of a fixed set of fits, or compare this checkout with what was stored.

All five classifiers x three learners x three kinds of output x four data sets, and the classifiers of blocks. Run it
before and after a change that should change no result:

    python scripts/decision_values.py --store values.npz
    python scripts/decision_values.py --check values.npz

`tests/reference/decision_values.npz` holds those of the last release or change of defaults, in single precision; a test
compares a part of them.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier
from skecoc.blocks import BlockECOCClassifier, BlockWOLCClassifier
from skecoc.datasets import load_uci
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier

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
BLOCKS = {
    "block-ecoc/loss-weighted": BlockECOCClassifier(decoding="loss-weighted", block_size=37, random_state=0),
    "block-ecoc/optimized-weight": BlockECOCClassifier(decoding="optimized-weight", block_size=37, random_state=0),
    "block-wolc": BlockWOLCClassifier(block_size=37, max_iter=2, random_state=0),
}


def learners() -> dict[str, object]:
    """Make the three learners."""
    return {
        "stumps": StumpAdaBoostClassifier(n_estimators=20),
        "svm": TunedSVMClassifier(C=[2.0**12]),
        "logistic": LogisticRegression(C=10.0, max_iter=500),
    }


def samples(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training samples, their classes, and test samples of a set."""
    X, y = load_uci(name, return_X_y=True)
    chosen = np.random.RandomState(0).permutation(len(y))[:: SETS[name]]
    X, y = X[chosen], y[chosen]
    scaler = MinMaxScaler().fit(X[::2])
    return scaler.transform(X[::2]), y[::2], scaler.transform(X[1::2])


def unfitted() -> dict[str, BaseEstimator]:
    """Return all classifiers by name."""
    in_memory = {
        f"{method}/{learner}/{response}": classifier(estimator, response_method=response, random_state=0)
        for method, classifier in CLASSIFIERS.items()
        for learner, estimator in learners().items()
        for response in RESPONSES
    }
    return {**in_memory, **BLOCKS}


def decision_values() -> Iterator[tuple[str, np.ndarray]]:
    """Fit everything and yield names and decision values of the test samples."""
    for name in SETS:
        X, y, X_test = samples(name)
        for method, model in unfitted().items():
            yield f"{name}/{method}", model.fit(X, y).decision_function(X_test)


def difference(before: np.ndarray, now: np.ndarray) -> str:
    """Say how two arrays of decision values differ; empty if they are the same to the last bit."""
    if np.array_equal(before, now.astype(before.dtype)):
        return ""
    if before.shape != now.shape:
        return f"shape {before.shape} -> {now.shape}"
    agree = np.mean(before.argmax(axis=1) == now.argmax(axis=1))
    return f"largest difference {np.abs(before - now).max():.3g}, {agree:.1%} of predictions agree"


def main() -> int:
    """Store or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--store", metavar="FILE")
    action.add_argument("--check", metavar="FILE")
    parser.add_argument("--single", action="store_true", help="store single precision, which is smaller")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    values = dict(decision_values())
    if arguments.store:
        dtype = np.float32 if arguments.single else np.float64
        np.savez_compressed(arguments.store, **{name: value.astype(dtype) for name, value in values.items()})
        print(f"{len(values)} fits stored")
        return 0
    with np.load(arguments.check) as stored:
        changes = {name: difference(stored[name], values[name]) for name in values if name in stored}
        missing = set(stored) ^ set(values)
    for name, change in changes.items():
        if change:
            print(f"{name}: {change}")
    changed = sum(map(bool, changes.values()))
    print(f"{len(changes)} fits compared, {changed} changed, {len(missing)} in one place only")
    return int(bool(changed or missing))


if __name__ == "__main__":
    sys.exit(main())
