"""WOLC-ECOC as the paper prints it, `WOLCClassifier.paper()`, and what may explain the lengths of the paper's codes.

The 14 UCI sets in the ten folds of `skecoc reproduce`, of sets with more than 5,000 samples the first five; boosted
stumps (40) with labels as outputs, unless a variant says otherwise. Every variant is kept with its accuracy, its number
of columns and rounds, and why it stopped. Each set is stored as soon as it is done, so that a run can be stopped and
taken up again. Ten minutes on one core.

    OMP_NUM_THREADS=1 python study/benchmarks/as_printed.py --out study/results/as_printed.json
    OMP_NUM_THREADS=1 python study/benchmarks/as_printed.py --sets iris vowel --variants printed zero-one --folds 3
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import piqp
from sklearn.base import BaseEstimator, ClassifierMixin

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from _folds import Fold, splits

from skecoc import WOLCClassifier
from skecoc.classifiers.growth import Evaluation, GrowingCode, Proposal, StopRules, Strategy
from skecoc.classifiers.layered import layered_proposal
from skecoc.datasets import load_uci
from skecoc.decoding import OptimizedWeightDecoder
from skecoc.decoding.scoring import decode, worst_rivals
from skecoc.learners import StumpAdaBoostClassifier
from skecoc.learners.columns import evaluate_columns
from skecoc_study.paper.published import DATA_SETS

N_FOLDS = 10
LARGE, FOLDS_OF_LARGE = 5_000, 5
MOST_CUTS = 200
SOLVER_ACCURACY = 1e-8
PAIRS, REGIONS = 3, 2
# Loss that rounding leaves of a zero; the library's own.
ZERO_LOSS = 1e-7


class LibraryAdaBoost(ClassifierMixin, BaseEstimator):
    """Discrete AdaBoost over stumps with two habits of the ECOC library that the paper took its baselines from.

    Boosting ends as soon as no training sample is wrong. And the threshold of a stump is looked for between all
    neighbours of a sorted feature, equal ones too, of which the positive come first: among equal values the error that
    it counts is not the one that it makes.
    """

    def __init__(self, n_estimators: int = 40) -> None:
        self.n_estimators = n_estimators

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Boost stumps; labels are 0 and 1."""
        self.classes_, positive = np.array([0, 1]), np.asarray(y) == 1
        order = np.argsort(~positive, kind="stable")
        X, positive = X[order], positive[order]
        by_value = np.argsort(X, axis=0, kind="stable")
        values, is_positive = np.take_along_axis(X, by_value, axis=0), positive[by_value]
        features, weight, votes = np.arange(X.shape[1]), np.full(len(X), 1 / len(X)), np.zeros(len(X))
        self.stumps_: list[tuple[int, float, int, float]] = []
        for _ in range(self.n_estimators):
            share = np.cumsum(np.where(is_positive, weight[by_value], 0.0), axis=0)
            other = np.cumsum(np.where(is_positive, 0.0, weight[by_value]), axis=0)
            lead = share - other  # errors are a constant less, or plus, this
            below, above = lead.argmax(axis=0), lead.argmin(axis=0)
            is_below = share[-1] - lead[below, features] <= other[-1] + lead[above, features]
            place = np.minimum(np.where(is_below, below, above), len(X) - 2)
            thresholds = (values[place, features] + values[place + 1, features]) / 2
            sides = np.where(lead[place, features] > 0, 1, -1)
            predicted = X * sides < thresholds * sides
            errors = weight @ (predicted != positive[:, None])
            best = int(errors.argmin())
            odds = errors[best] / (1 - errors[best])
            alpha = -np.log(odds + np.finfo(float).eps)
            self.stumps_.append((best, float(thresholds[best]), int(sides[best]), float(alpha)))
            votes += np.where(predicted[:, best], alpha, -alpha)
            weight = weight * np.where(predicted[:, best] == positive, odds, 1.0)
            if errors[best] >= 0.5 or ((votes >= 0) == positive).all() or weight.sum() == 0:
                break
            weight /= weight.sum()
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict labels 0 and 1."""
        votes = sum(alpha * np.where(X[:, j] * side < at * side, 1, -1) for j, at, side, alpha in self.stumps_)
        return (votes >= 0).astype(int)


class UntiedDecoder(OptimizedWeightDecoder):
    """Optimised weights that tell scores as they are."""

    def untied_scores(self, codewords: np.ndarray) -> np.ndarray:
        """Return scores as they are, with ties."""
        return codewords @ (self.weights_ * self.matrix_).T


class ZeroOneDecoder(UntiedDecoder):
    """Optimised weights of outputs that are 0 and 1 in place of -1 and 1."""

    def fit(self, codewords: Any, *arguments: Any, **more: Any) -> Self:
        """Find the weights."""
        return super().fit((codewords + 1) / 2, *arguments, **more)

    def _scores(self, codewords: np.ndarray) -> np.ndarray:
        return super()._scores((codewords + 1) / 2)

    def untied_scores(self, codewords: np.ndarray) -> np.ndarray:
        """Return scores as they are, with ties."""
        return super().untied_scores((codewords + 1) / 2)


class CuttingPlaneDecoder(UntiedDecoder):
    """Weights by Algorithm 2 as printed: one constraint per round, and an interior-point method for each program."""

    def fit(self, codewords: Any, y: np.ndarray, matrix: Any, *_: Any, **__: Any) -> Self:
        """Find the weights, starting from equal ones."""
        rows, counts = np.unique(np.column_stack([codewords, y]), axis=0, return_counts=True)
        x, classes, M = rows[:, :-1], rows[:, -1].astype(int), np.asarray(matrix, dtype=float)
        free, every = np.nonzero(M.ravel())[0], np.arange(len(rows))
        sums = np.zeros((len(M), len(free)))  # of the weights of each class
        sums[free // M.shape[1], np.arange(len(free))] = 1.0
        vector = sums.T @ (1.0 / sums.sum(axis=1))
        cuts: list[np.ndarray] = []
        seen: set[bytes] = set()
        while True:
            weights = np.zeros(M.size)
            weights[free] = vector
            weights = weights.reshape(M.shape)
            scores = x @ (weights * M).T
            rivals = scores.argmax(axis=1)
            rivals = np.where(scores[every, rivals] > scores[every, classes], rivals, classes)
            if rivals.tobytes() in seen or len(cuts) == MOST_CUTS or (rivals == classes).all():
                break
            seen.add(rivals.tobytes())
            cut = np.zeros(M.shape)
            np.add.at(cut, rivals, counts[:, None] * x)
            np.add.at(cut, classes, -counts[:, None] * x)
            cuts.append((cut * M).ravel()[free] / len(codewords))
            vector = _solve_reduced(np.array(cuts), sums)
        self.matrix_, self.weights_ = M, weights
        return self

    def _scores(self, codewords: np.ndarray) -> np.ndarray:
        return self.untied_scores(codewords)


def _solve_reduced(cuts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Minimise the largest of some linear functions, or zero, over weights; do not round to a vertex."""
    n_cuts, n_weights = cuts.shape
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = SOLVER_ACCURACY
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = SOLVER_ACCURACY
    costs = np.append(np.zeros(n_weights), 1.0)
    solver.setup(
        np.zeros((n_weights + 1, n_weights + 1)),
        costs,
        np.column_stack([sums, np.zeros(len(sums))]),
        np.ones(len(sums)),
        np.column_stack([cuts, -np.ones(n_cuts)]),
        np.full(n_cuts, -np.inf),
        np.zeros(n_cuts),
        np.zeros(n_weights + 1),
        np.full(n_weights + 1, np.inf),
    )
    solver.solve()
    found = np.maximum(np.array(solver.result.x)[:-1], 0.0)
    return found / (sums.T @ (sums @ found))


class PrintedStrategy(Strategy):
    """Algorithm 3 with weights of another decoder; a loss up to `zero` is none."""

    def __init__(self, make: Callable[[], Any], zero: float) -> None:
        self.make, self.zero = make, zero

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Find the weights anew."""
        samples, matrix = code.coded, code.matrix
        decoder = self.make().fit(samples.codewords, samples.y, matrix)
        rivals, leads = worst_rivals(decoder.untied_scores(samples.codewords), samples.y)
        losses = np.maximum(leads, 0.0)
        pairs = np.bincount(samples.y * len(matrix) + rivals, losses, minlength=len(matrix) ** 2)
        predicted = decode(decoder, samples.codewords, matrix, code.samples.prior).argmax(axis=1)
        loss, accuracy = float(losses.mean()), float(np.mean(predicted == samples.y))
        loss = loss if loss > self.zero else 0.0
        return Evaluation(decoder, loss, pairs.reshape(matrix.shape[0], -1), accuracy, accuracy, risk=loss)

    def propose(self, code: GrowingCode, evaluation: Evaluation) -> Proposal:
        """Separate the pairs of highest risk."""
        return layered_proposal(code, evaluation, PAIRS, (REGIONS,))


class ZeroOneWOLC(WOLCClassifier):
    """WOLC-ECOC with outputs 0 and 1."""

    def _strategy(self, *given: Any) -> tuple[Strategy, StopRules]:
        return PrintedStrategy(partial(ZeroOneDecoder, 0.0, l2=0.0), ZERO_LOSS), super()._strategy(*given)[1]


class TiesCountedWOLC(WOLCClassifier):
    """WOLC-ECOC whose risk of pairs counts a sample with tied rivals for the first of them, unlike eq. 14."""

    def _strategy(self, *given: Any) -> tuple[Strategy, StopRules]:
        return PrintedStrategy(partial(UntiedDecoder, 0.0, l2=0.0), ZERO_LOSS), super()._strategy(*given)[1]


class CuttingPlaneWOLC(WOLCClassifier):
    """WOLC-ECOC with Algorithm 2, which stops at a loss of exactly zero."""

    def _strategy(self, *given: Any) -> tuple[Strategy, StopRules]:
        return PrintedStrategy(CuttingPlaneDecoder, 0.0), super()._strategy(*given)[1]


VARIANTS: dict[str, Callable[..., WOLCClassifier]] = {
    "printed": WOLCClassifier.paper,
    "zero-one": ZeroOneWOLC.paper,
    "library-zero-one": partial(ZeroOneWOLC.paper, estimator=LibraryAdaBoost()),
    "five-stumps": partial(WOLCClassifier.paper, estimator=StumpAdaBoostClassifier(5)),
    "cutting-planes": CuttingPlaneWOLC.paper,
    "library-cutting-planes": partial(CuttingPlaneWOLC.paper, estimator=LibraryAdaBoost()),
    "ties-counted": TiesCountedWOLC.paper,
    "margin": partial(WOLCClassifier.paper, decoding=OptimizedWeightDecoder(0.1, l2=1e-3, tol=1e-3)),
    "probabilities": partial(WOLCClassifier.paper, response_method="predict_proba"),
}


def measured(make: Callable[..., WOLCClassifier], fold: Fold) -> dict[str, Any]:
    """Fit a variant; say how accurate and long it is, and why it stopped."""
    X, y, X_test, y_test = fold
    n_classes = len(np.unique(y))
    model = make(random_state=0).fit(X, y)
    kept, history = model.best_round_, model.history_
    outputs = evaluate_columns(model.estimators_[:n_classes], X, "predict")
    is_right = outputs == model.code_matrix_[np.searchsorted(model.classes_, y), :n_classes]
    return {
        "classes": n_classes,
        "accuracy": 100 * model.score(X_test, y_test),
        "columns": history[kept].n_columns,
        "rounds": len(history),
        "loss": history[0].loss,
        "perfect": is_right.all(axis=0).sum(),
        "all_perfect": is_right.all(),
        "reason": model.stop_reason_.partition(";")[0],
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Average over folds; count the reasons to stop."""
    found: dict[str, Any] = {
        name: round(float(np.mean([row[name] for row in rows])), 4)
        for name in ("accuracy", "columns", "rounds", "perfect", "all_perfect")
    }
    found["columns_std"] = round(float(np.std([row["columns"] for row in rows])), 4)
    found["loss"] = float(f"{np.mean([row['loss'] for row in rows]):.2e}")
    found["returned_at_once"] = sum(row["rounds"] == 1 for row in rows)
    found["reasons"] = dict(Counter(row["reason"] for row in rows))
    return {"classes": rows[0]["classes"], "folds": len(rows)} | found


def folds_of(name: str, n_folds: int) -> list[Fold]:
    """Return the first folds of a set, fewer of a large one."""
    n_samples = len(load_uci(name, return_X_y=True)[1])
    wanted = min(n_folds, FOLDS_OF_LARGE) if n_samples > LARGE else n_folds
    return list(islice(splits(name, 0, N_FOLDS), wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--folds", type=int, default=N_FOLDS, help=f"how many of {N_FOLDS}")
    parser.add_argument("--out", type=Path, default=Path("as_printed.json"), help="results are written here")
    options = parser.parse_args()
    kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    found: dict[str, dict[str, Any]] = kept.get("found", {})
    for variant in options.variants:
        of_variant = found.setdefault(variant, {})
        for name in options.sets:
            if name in of_variant:
                continue
            rows = [measured(VARIANTS[variant], fold) for fold in folds_of(name, options.folds)]
            of_variant[name] = row = summary(rows)
            reasons = ", ".join(f"{reason} ({count})" for reason, count in row["reasons"].items())
            line = f"{row['accuracy']:7.2f} %{row['columns']:7.1f} columns{row['rounds']:6.1f} rounds"
            print(f"{variant:<24}{name:<14}{line}  {reasons}", flush=True)
            options.out.write_text(json.dumps({"found": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
