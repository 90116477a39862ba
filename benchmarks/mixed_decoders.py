"""Decoders of several learners on the same codewords: logistic weights beside hinge weights, equal ones and stacking.

The learners of `mixed_learners`, each with the code that `WOLCClassifier` starts it from, are trained once per fold of
a set; their out-of-fold codewords (5 folds) go to every decoder. "stacking" is scikit-learn's logistic regression on
the same codewords, as `StackingClassifier` would fit it. Accuracy and log-loss of the test part, and average ranks.
Some minutes; results are kept in a JSON file.

    OMP_NUM_THREADS=1 python benchmarks/mixed_decoders.py
    OMP_NUM_THREADS=1 python benchmarks/mixed_decoders.py --sets glass vowel --folds 1
"""

import argparse
import json
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
from _folds import SYNTHETIC, Fold, all_splits, real_sets
from scipy.special import log_softmax
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from skecoc import WOLCClassifier
from skecoc.classifiers.calibration import fit_temperature
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.data.folds import assign_folds
from skecoc.decoding import LogisticWeightDecoder, LossBasedDecoder, OptimizedWeightDecoder
from skecoc.learners import mixed_learners
from skecoc.learners.columns import Column, evaluate_columns
from skecoc.learners.mixed import MixedTrainer

DECODERS = ("logistic weights", "one group", "hinge weights", "equal weights", "stacking")
N_FOLDS = 5
LEAST = 1e-15


def codewords(fold: Fold) -> tuple[np.ndarray, ...]:
    """Train all learners; return out-of-fold codewords, their classes, test codewords, the matrix and its groups."""
    X, y, X_test, _ = fold
    classes, numbers = np.unique(y, return_inverse=True)
    learners = dict(mixed_learners(len(classes), n_samples=len(y)))
    start = WOLCClassifier("mixed")._start_of_several([*learners], len(classes), len(y))
    starts = list(zip(start.learners, start.codings, strict=True))
    codes = {"one-vs-one": one_vs_one(len(classes)), "one-vs-rest": one_vs_rest(len(classes))}
    columns = [Column(pattern, learner=name) for name, code in starts for pattern in codes[code].T]
    folds = assign_folds(X, numbers, N_FOLDS, 0)
    trained, outputs = MixedTrainer(learners, X, numbers, 0, folds=folds).train_held_out(columns)
    groups = np.repeat(np.arange(len(starts)), [codes[code].shape[1] for _, code in starts])
    matrix = np.column_stack([column.pattern for column in columns])
    return outputs, numbers[folds >= 0], evaluate_columns(trained, X_test, "predict_proba"), matrix, groups


def log_probabilities(
    decoder: str, x: np.ndarray, y: np.ndarray, x_test: np.ndarray, matrix: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Fit a decoder and return the logarithm of the probability of each class for test codewords."""
    if decoder == "stacking":
        model = LogisticRegression(max_iter=2_000).fit(x, y)
        logs = np.full((len(x_test), len(matrix)), np.log(LEAST))
        logs[:, model.classes_] = np.log(np.maximum(model.predict_proba(x_test), LEAST))
        return logs
    if decoder in {"logistic weights", "one group"}:
        given = groups if decoder == "logistic weights" else None
        return LogisticWeightDecoder(tol=1e-3).fit(x, y, matrix, groups=given).scores(x_test)
    if decoder == "equal weights":
        fitted = LossBasedDecoder("linear").fit(x, y, matrix)
    else:
        missing = np.setdiff1d(np.arange(len(matrix)), y)  # classes that are never held out: as if decoded perfectly
        given = np.vstack([x, matrix[missing]]), np.append(y, missing)
        fitted = OptimizedWeightDecoder(0.3, l2=min(0.1, 100.0 / len(y)), tol=1e-3).fit(*given, matrix)
    temperature = fit_temperature(fitted.scores(x), y, np.ones(len(y)))
    return log_softmax(fitted.scores(x_test) / temperature, axis=1)


def compare(name: str, n_folds: int) -> np.ndarray:
    """Return accuracy in percent and log-loss of each decoder, means over folds: (n_decoders, 2)."""
    found = []
    for fold in islice(all_splits(name), n_folds):
        x, y, x_test, matrix, groups = codewords(fold)
        truth = np.searchsorted(np.unique(fold[1]), fold[3])
        rows = []
        for decoder in DECODERS:
            logs = log_probabilities(decoder, x, y, x_test, matrix, groups)
            own = np.maximum(logs[np.arange(len(truth)), truth], np.log(LEAST))
            rows.append((100 * np.mean(logs.argmax(axis=1) == truth), -own.mean()))
        found.append(rows)
    return np.mean(found, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=[*real_sets(), *SYNTHETIC])
    parser.add_argument("--folds", type=int, default=3, help="of three, how many are run")
    parser.add_argument("--out", type=Path, default=Path("mixed_decoders.json"), help="results are kept here")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The least populated class")
    kept = json.loads(options.out.read_text())["sets"] if options.out.exists() else {}
    print(f"{'':<16}" + "".join(f"{decoder:>24}" for decoder in DECODERS))
    for name in options.sets:
        if name not in kept:
            kept[name] = compare(name, options.folds).round(4).tolist()
            options.out.write_text(json.dumps({"decoders": DECODERS, "sets": kept}, indent=1) + "\n")
        print(f"{name:<16}" + "".join(f"{accuracy:16.2f}{loss:8.3f}" for accuracy, loss in kept[name]), flush=True)
    table = np.array([kept[name] for name in options.sets])
    means = table.mean(axis=0)
    ranks = np.column_stack(
        [rankdata(-table[:, :, 0], axis=1).mean(axis=0), rankdata(table[:, :, 1], axis=1).mean(axis=0)]
    )
    for title, rows in (("mean", means), ("average rank", ranks)):
        print(f"{title:<16}" + "".join(f"{accuracy:16.2f}{loss:8.3f}" for accuracy, loss in rows))


if __name__ == "__main__":
    main()
