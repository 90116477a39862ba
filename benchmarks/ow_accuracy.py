"""Accuracy of optimised weights beside loss weights and equal weights, one-vs-rest stump codewords, 10-fold.

Run ``python benchmarks/ow_accuracy.py [--sets vowel yeast] [--folds 10] [--seed 0] [--paper]``. It prints one line per
data set for each kind of output, the means over the sets, and the share of test rows whose best scores are tied.
``--paper`` adds the problem without margin and penalty, which takes minutes. The defaults of the decoder were chosen on
the folds of seed 0; other seeds are a fairer look.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold

from skecoc.coding import one_vs_rest
from skecoc.datasets import list_uci, load_uci
from skecoc.decoding import LossBasedDecoder, LossWeightedDecoder, break_ties
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.decoding.scoring import SOLVED_TIE_TOLERANCE
from skecoc.learners import StumpAdaBoostClassifier

OUTPUTS = {"label": lambda F: np.where(F > 0, 1, -1).astype(np.int8), "probability": np.tanh}


def decoders(with_paper):
    found = {
        "equal": LossBasedDecoder("linear"),
        "loss-weighted": LossWeightedDecoder(),
        "optimised": OptimizedWeightDecoder(),
    }
    if with_paper:
        found["margin=0, l2=0"] = OptimizedWeightDecoder(margin=0, l2=0)
    return found


def margins_of_folds(name, n_folds, seed=0):
    """Yield margins F of the one-vs-rest learners and class indices, of training and test rows, fold by fold."""
    data = load_uci(name)
    y = np.unique(data.target, return_inverse=True)[1]
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for train, test in folds.split(data.data, y):
        imputer = SimpleImputer(strategy="median").fit(data.data[train])
        rows = [imputer.transform(data.data[part]) for part in (train, test)]
        learners = [StumpAdaBoostClassifier().fit(rows[0], y[train] == p) for p in range(y.max() + 1)]
        F = [np.column_stack([learner.decision_function(part) for learner in learners]) for part in rows]
        yield F[0], y[train], F[1], y[test]


def accuracy(decoder, matrix, codewords, y, test_codewords, test_y):
    """Percentage of test rows decoded rightly, ties resolved as the classifiers do."""
    scores = decoder.fit(codewords, y, matrix).scores(test_codewords)
    prior = np.bincount(y, minlength=len(matrix)) / len(y)
    predicted = break_ties(scores, test_codewords @ matrix.T, prior).argmax(axis=1)
    return 100 * np.mean(predicted == test_y)


def share_tied(decoder, codewords):
    """Percentage of rows whose two best scores differ by no more than the tie tolerance."""
    best = np.sort(codewords @ (decoder.weights_ * decoder.matrix_).T, axis=1)[:, -2:]
    return 100 * np.mean(np.diff(best) <= SOLVED_TIE_TOLERANCE)


def compare(name, n_folds, seed, with_paper):
    """Return mean accuracies and shares of tied rows of one data set, by output and decoder."""
    results = {}
    for F, y, test_F, test_y in margins_of_folds(name, n_folds, seed):
        matrix = one_vs_rest(F.shape[1]).astype(float)
        for output, transform in OUTPUTS.items():
            for title, decoder in decoders(with_paper).items():
                figures = [accuracy(decoder, matrix, transform(F), y, transform(test_F), test_y)]
                if isinstance(decoder, OptimizedWeightDecoder):
                    figures.append(share_tied(decoder, transform(test_F)))
                results.setdefault((output, title), []).append(figures)
    return {key: np.mean(values, axis=0) for key, values in results.items()}


def report(names, n_folds, seed, with_paper):
    rows = {name: compare(name, n_folds, seed, with_paper) for name in names}
    for output in OUTPUTS:
        print(f"\n{output} outputs: accuracy in % (share of tied test rows in %)")
        titles = list(decoders(with_paper))
        print(f"{'':14s}" + "".join(f"{title:>18s}" for title in titles))
        for name, found in rows.items():
            cells = [
                " ".join([f"{found[output, t][0]:.1f}", *(f"({v:.1f})" for v in found[output, t][1:])]) for t in titles
            ]
            print(f"{name:14s}" + "".join(f"{cell:>18s}" for cell in cells), flush=True)
        means = [np.mean([found[output, title][0] for found in rows.values()]) for title in titles]
        print(f"{'mean':14s}" + "".join(f"{mean:18.2f}" for mean in means))
        if with_paper:
            below = [min(f[output, t][0] for t in titles[:2]) - f[output, titles[-1]][0] for f in rows.values()]
            print(f"margin=0, l2=0 is at most {max(below):.1f} points below the worse of equal and loss weights")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the folds; 0 is what the defaults were chosen on")
    parser.add_argument("--paper", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    report(arguments.sets, arguments.folds, arguments.seed, arguments.paper)


if __name__ == "__main__":
    main()
