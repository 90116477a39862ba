"""WOLC-ECOC beside the fifteen coding-decoding pairs of the paper: accuracy, average rank, code length.

{one-vs-one, one-vs-rest, dense random with 10 columns, ECOC-ONE, DECOC} x {Hamming, loss-based, loss-weighted} and
WOLC-ECOC, repeated stratified 10-fold on the UCI sets, features scaled to [0, 1], missing values imputed by medians.
All methods see the same folds and answer in the same way (`--response`). Results are kept in a JSON file, so that a
run can be stopped and taken up again.

    python benchmarks/wolc_accuracy.py --response predict_proba --repeats 1 --out results.json
    python benchmarks/wolc_accuracy.py --response predict --sets iris wine --repeats 10
"""

import argparse
import json
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import AdaBoostClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from skecoc import ECOCClassifier, ECOCOneClassifier, WOLCClassifier
from skecoc.coding import dense_random, one_vs_one
from skecoc.datasets import list_uci, load_uci
from skecoc.decoding import resolve_decoder

DECODINGS = ("hamming", "loss-based", "loss-weighted")
CODINGS = ("one-vs-one", "one-vs-rest", "random-10", "decoc")
LEARNERS = {"stumps": None, "svm": SVC(C=100.0)}
Scores = dict[str, tuple[float, int]]  # method -> accuracy in percent, code length


def splits(name: str, repeat: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield training rows and labels, test rows and labels, of each of the ten folds."""
    X, y = load_uci(name, return_X_y=True)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y):
        scale = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()).fit(X[train])
        yield scale.transform(X[train]), y[train], scale.transform(X[test]), y[test]


def fixed_codes(
    X: np.ndarray, y: np.ndarray, learner: object, response: str, seed: int
) -> Iterator[tuple[str, object]]:
    """Yield the classifiers of the fixed codes, training each column once for all decodings."""
    n_classes = len(np.unique(y))
    for coding in CODINGS:
        code = dense_random(n_classes, 10, random_state=seed) if coding == "random-10" else coding
        trained = ECOCClassifier(learner, code, response_method=response, random_state=seed).fit(X, y)
        codewords, rows = trained.codewords(X), np.searchsorted(trained.classes_, y)
        for decoding in DECODINGS:
            model = copy(trained)
            model.decoder_ = resolve_decoder(decoding).fit(codewords, rows, trained.code_matrix_)
            yield f"{coding}/{decoding}", model


def methods(X: np.ndarray, y: np.ndarray, learner: object, response: str, seed: int) -> Iterator[tuple[str, object]]:
    """Yield the sixteen trained classifiers."""
    yield from fixed_codes(X, y, learner, response, seed)
    parameters = {"response_method": response, "random_state": seed}
    for decoding in DECODINGS:
        yield f"ecoc-one/{decoding}", ECOCOneClassifier(learner, decoding=decoding, **parameters).fit(X, y)
    yield "wolc", WOLCClassifier(learner, **parameters).fit(X, y)


def peers(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, object]]:
    """Yield scikit-learn's own strategies around its AdaBoost of 40 stumps."""
    for strategy in (OneVsOneClassifier, OneVsRestClassifier):
        yield f"sklearn {strategy.__name__}", strategy(AdaBoostClassifier(n_estimators=40, random_state=0)).fit(X, y)


def code_length(model: object, n_classes: int) -> int:
    """Count the columns that prediction asks."""
    if hasattr(model, "used_columns_"):
        return len(model.used_columns_)
    return model.code_matrix_.shape[1] if hasattr(model, "code_matrix_") else len(one_vs_one(n_classes).T)


def run_fold(fold: tuple, learner: object, response: str, seed: int, with_peers: bool) -> Scores:
    """Score every method on one fold."""
    X, y, X_test, y_test = fold
    trained = dict(methods(X, y, learner, response, seed))
    if with_peers:
        trained.update(peers(X, y))
    n_classes = len(np.unique(y))
    return {
        name: (100 * float(np.mean(model.predict(X_test) == y_test)), code_length(model, n_classes))
        for name, model in trained.items()
    }


def report(results: dict[str, list[Scores]]) -> None:
    """Print accuracies by data set, average ranks (ties averaged) and code lengths."""
    names = list(results)
    found = list(next(iter(results.values()))[0])
    accuracy = np.array([[np.mean([fold[m][0] for fold in results[s]]) for m in found] for s in names])
    length = np.array([[np.mean([fold[m][1] for fold in results[s]]) for m in found] for s in names])
    family = [k for k, m in enumerate(found) if not m.startswith("sklearn")]
    ranks = rankdata(-accuracy[:, family].round(6), axis=1).mean(axis=0)
    print(f"{'':<26}" + "".join(f"{s[:7]:>8}" for s in names) + f"{'mean':>8}{'rank':>7}{'length':>8}")
    for k in np.argsort(-accuracy.mean(axis=0)):
        rank = f"{ranks[family.index(k)]:7.2f}" if k in family else f"{'':>7}"
        print(
            f"{found[k]:<26}"
            + "".join(f"{value:8.2f}" for value in accuracy[:, k])
            + f"{accuracy[:, k].mean():8.2f}{rank}{length[:, k].mean():8.1f}"
        )
    wolc, pairs = length[:, found.index("wolc")], length[:, found.index("one-vs-one/hamming")]
    print(f"{'columns of wolc':<26}" + "".join(f"{value:8.1f}" for value in wolc))
    many = pairs >= 15  # six classes or more
    if many.any():
        print(f"code length over one-vs-one's, six classes or more: {np.mean(wolc[many] / pairs[many]):.2f} on average")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--response", default="predict_proba", choices=["predict_proba", "predict", "decision_function"]
    )
    parser.add_argument("--learner", default="stumps", choices=sorted(LEARNERS))
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--peers", action="store_true", help="also run scikit-learn's strategies, which take long")
    parser.add_argument("--out", type=Path, default=Path("wolc_accuracy.json"))
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.sets:
        for repeat in range(options.repeats):
            key = f"{name}/{options.learner}/{options.response}/{repeat}"
            if key not in stored:
                stored[key] = [
                    run_fold(fold, LEARNERS[options.learner], options.response, repeat, options.peers)
                    for fold in splits(name, repeat)
                ]
                options.out.write_text(json.dumps(stored))
                print(key, "done", flush=True)
    kind = f"{options.learner}/{options.response}"
    report(
        {
            name: [fold for repeat in range(options.repeats) for fold in stored[f"{name}/{kind}/{repeat}"]]
            for name in options.sets
        }
    )


if __name__ == "__main__":
    main()
