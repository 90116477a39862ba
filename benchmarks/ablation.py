"""What each choice in WOLC-ECOC is worth: each one switched on and off, the same folds for all.

Stratified 10-fold (or its first `--folds` folds) on the UCI sets with 40 stumps. One line per variant: accuracy on
each set, its mean, the average rank among the variants, and the mean code length. `--columns` prints how often the
columns of one-vs-one err and how often pairs of them err together, by learner: what the paper's argument about
diversity rests on.

    python benchmarks/ablation.py --sets glass vehicle vowel --folds 5
    python benchmarks/ablation.py --columns
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from _folds import splits
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import confusion_matrix
from sklearn.svm import SVC

from skecoc import ECOCClassifier, ECOCOneClassifier, LCECOCClassifier, WOLCClassifier
from skecoc.coding import dense_random, one_vs_one
from skecoc.datasets import list_uci
from skecoc.decoding import LossWeightedDecoder
from skecoc.decoding.ties import decode
from skecoc.growth.engine import Evaluation, Proposal
from skecoc.growth.samples import GrowingCode
from skecoc.growth.wolc import OptimizedWeightStrategy
from skecoc.learners import RegionClassifier, StumpAdaBoostClassifier

WOLC = partial(WOLCClassifier, random_state=0)


class ByConfusion(WOLCClassifier):
    """WOLC-ECOC whose hard pairs are those with most errors, not those of highest risk."""

    def _strategy(self, start: int, total_weight: float) -> OptimizedWeightStrategy:
        strategy = super()._strategy(start, total_weight)
        evaluate = strategy.evaluate

        def evaluate_by_errors(code: GrowingCode) -> Evaluation:
            evaluation, samples = evaluate(code), code.arrays
            found = decode(evaluation.decoder, samples.out_of_fold, code.matrix, code.samples.prior).argmax(axis=1)
            labels = np.arange(len(code.matrix))
            errors = confusion_matrix(samples.y, found, labels=labels, sample_weight=samples.weight)
            return replace(evaluation, pair_losses=errors * (1.0 - np.eye(len(errors))))

        strategy.evaluate = evaluate_by_errors
        return strategy


class WithoutLayers(WOLCClassifier):
    """WOLC-ECOC that stops where ECOC-ONE does: when only pairs are hard that are columns already."""

    def _strategy(self, start: int, total_weight: float) -> OptimizedWeightStrategy:
        strategy = super()._strategy(start, total_weight)
        propose = strategy.propose

        def propose_new(code: GrowingCode, evaluation: Evaluation) -> Proposal:
            columns, pairs = propose(code, evaluation)
            simple = [k for k, column in enumerate(columns) if not column.clustered]
            return Proposal([columns[k] for k in simple], [pairs[k] for k in simple])

        strategy.propose = propose_new
        return strategy


class StrongClusters(WOLCClassifier):
    """WOLC-ECOC whose regions are the best of ten k-means runs."""

    def _clustered_learner(self) -> RegionClassifier:
        clusterer = KMeans(self.n_regions, n_init=10)
        return RegionClassifier(self._learner(), self.n_regions, clusterer=clusterer)


class LossWeights(WOLCClassifier):
    """WOLC-ECOC's code, decoded by loss weights in the end."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "LossWeights":
        super().fit(X, y)
        used = self.used_columns_
        rows = np.searchsorted(self.classes_, y)
        self._loss_weights = LossWeightedDecoder().fit(self.codewords(X)[:, used], rows, self.code_matrix_[:, used])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self._loss_weights.scores(self.codewords(X)[:, self.used_columns_])
        return self.classes_[scores.argmax(axis=1)]


def random_code(X: np.ndarray, y: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """Return ten columns drawn at random."""
    return dense_random(int(y.max()) + 1, 10, random_state=0)


def compact_code(X: np.ndarray, y: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """Return the binary numbers of the classes as a code: the fewest columns there can be."""
    n_classes = int(y.max()) + 1
    bits = (np.arange(n_classes)[:, None] >> np.arange(int(np.ceil(np.log2(n_classes))))) & 1
    return (2 * bits - 1).astype(np.int8)


VARIANTS: dict[str, Callable[[], BaseEstimator]] = {
    "default": WOLC,
    "init one-vs-rest only": partial(WOLC, init="one-vs-rest"),
    "init one-vs-one": partial(WOLC, init="one-vs-one"),
    "init random, 10 columns": partial(WOLC, init=random_code),
    "init DECOC": partial(WOLC, init="decoc"),
    "init compact": partial(WOLC, init=compact_code),
    "no growth": partial(WOLC, max_iter=0),
    "training codewords only": partial(WOLC, n_folds=None),
    "5 folds": partial(WOLC, n_folds=5),
    "no proof of a round": partial(WOLC, standard_errors=0.0),
    "no price of a round": partial(WOLC, tol=0.0),
    "patience 1": partial(WOLC, patience=1),
    "patience 4": partial(WOLC, patience=4),
    "l2 0.001": partial(WOLC, l2=0.001),
    "l2 0.01": partial(WOLC, l2=0.01),
    "l2 1": partial(WOLC, l2=1.0),
    "margin 0.1": partial(WOLC, margin=0.1),
    "margin 1": partial(WOLC, margin=1.0),
    "1 pair a round": partial(WOLC, n_pairs=1),
    "2 regions": partial(WOLC, n_regions=2),
    "5 regions": partial(WOLC, n_regions=5),
    "pairs by confusion": partial(ByConfusion, random_state=0),
    "no second layer": partial(WithoutLayers, random_state=0),
    "strong clustering": partial(StrongClusters, random_state=0),
    "loss weights in the end": partial(LossWeights, random_state=0),
    "hard labels": partial(WOLC, response_method="predict"),
    "margins": partial(WOLC, response_method="decision_function"),
    "the paper's settings": partial(WOLCClassifier.paper, random_state=0),
    "LC-ECOC, loss-weighted": partial(LCECOCClassifier, random_state=0),
    "ECOC-ONE, loss-weighted": partial(ECOCOneClassifier, random_state=0),
    "ECOC-ONE, extended pairs": partial(ECOCOneClassifier, extend=True, random_state=0),
    "one-vs-one, loss-weighted": partial(ECOCClassifier, random_state=0),
}


def accuracy_and_length(make: Callable[[], BaseEstimator], name: str, n_folds: int) -> tuple[float, float]:
    """Give the mean accuracy in percent and the mean number of columns that are asked."""
    found = []
    for fold, (X, y, X_test, y_test) in enumerate(splits(name, 0)):
        if fold == n_folds:
            break
        model = make().fit(X, y)
        found.append((100 * model.score(X_test, y_test), len(getattr(model, "used_columns_", model.estimators_))))
    accuracy, length = np.mean(found, axis=0)
    return float(accuracy), float(length)


def column_errors(names: list[str]) -> None:
    """Print the error of pair columns on test rows, and the share of a layer's errors that another layer makes too."""
    learners = {
        "stumps": StumpAdaBoostClassifier(),
        "stumps in 3 weak regions": RegionClassifier(n_regions=3),
        "stumps in 3 strong regions": RegionClassifier(clusterer=KMeans(3, n_init=10)),
        "RBF SVM": SVC(C=100.0),
        "RBF SVM in 3 weak regions": RegionClassifier(SVC(C=100.0), n_regions=3),
    }
    print(f"{'':<28}{'error':>8}{'shared':>8}")
    for label, learner in learners.items():
        error, shared = np.mean([_layers(learner, name) for name in names], axis=0)
        print(f"{label:<28}{error:8.3f}{shared:8.3f}")


def _layers(learner: BaseEstimator, name: str, n_layers: int = 4) -> tuple[float, float]:
    """Train layers of columns on every pair of classes: their error, and how often a second layer shares an error."""
    X, y, X_test, y_test = next(splits(name, 0))
    code = np.repeat(one_vs_one(len(np.unique(y))), n_layers, axis=1)
    model = ECOCClassifier(learner, code, response_method="predict", random_state=0).fit(X, y)
    truth = code[np.searchsorted(model.classes_, y_test)]
    wrong = (model.codewords(X_test) != truth) & (truth != 0)
    layers = wrong.reshape(len(wrong), -1, n_layers)
    together = np.mean([(layers[..., i] & layers[..., j]).sum() for i, j in combinations(range(n_layers), 2)])
    return wrong.sum() / (truth != 0).sum(), together / max(layers.sum() / n_layers, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--columns", action="store_true", help="print errors and diversity of columns instead")
    parser.add_argument("--out", type=Path, default=Path("ablation.json"), help="results are kept here")
    options = parser.parse_args()
    if options.columns:
        column_errors(options.sets)
        return
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    for variant in options.variants:
        for name in options.sets:
            key = f"{variant}/{name}/{options.folds}"
            if key not in stored:
                stored[key] = accuracy_and_length(VARIANTS[variant], name, options.folds)
                options.out.write_text(json.dumps(stored))
    table = np.array([[stored[f"{v}/{s}/{options.folds}"] for s in options.sets] for v in options.variants])
    ranks = rankdata(-table[:, :, 0].round(6), axis=0).mean(axis=1)
    print(f"{'':<28}" + "".join(f"{s[:7]:>8}" for s in options.sets) + f"{'mean':>8}{'rank':>7}{'length':>8}")
    for variant, row, rank in zip(options.variants, table, ranks, strict=True):
        values = "".join(f"{value:8.2f}" for value in row[:, 0])
        print(f"{variant:<28}{values}{row[:, 0].mean():8.2f}{rank:7.2f}{row[:, 1].mean():8.1f}")


if __name__ == "__main__":
    main()
