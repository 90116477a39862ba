"""Make the figure and the table of the documentation page about optimised weights.

Run ``python scripts/figures_optimized_weights.py`` to write ``docs/figures/optimized_weights.png`` and to print the
table of accuracies at a vertex, at the centre and with a margin (10-fold, hard codewords of one-vs-rest stumps).
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.model_selection import StratifiedKFold

from skecoc.coding import one_vs_rest
from skecoc.datasets import load_uci
from skecoc.decoding import LossWeightedDecoder
from skecoc.decoding.optimized import OptimizedWeightDecoder
from skecoc.learners import StumpAdaBoostClassifier

mpl.use("Agg")
import matplotlib.pyplot as plt

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "optimized_weights.png"
TIED = 1e-4
LARGEST_SHOWN = 0.3


def hard_codewords(name, n_folds=10):
    """Yield matrix, codewords and classes of training rows, codewords and classes of test rows, fold by fold."""
    data = load_uci(name)
    y = np.unique(data.target, return_inverse=True)[1]
    matrix = one_vs_rest(y.max() + 1).astype(float)
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(data.data, y):
        learners = [StumpAdaBoostClassifier().fit(data.data[train], y[train] == p) for p in range(len(matrix))]
        margins = np.column_stack([learner.decision_function(data.data) for learner in learners])
        codewords = np.where(margins > 0, 1.0, -1.0)
        yield matrix, codewords[train], y[train], codewords[test], y[test]


def vertex_weights(codewords, y, matrix):
    """Solve the paper's linear program (eq. 8) by the simplex method, identical rows put together."""
    patterns, counts = np.unique(np.column_stack([codewords, y]), axis=0, return_counts=True)
    x, own = patterns[:, :-1], patterns[:, -1].astype(int)
    rows, rivals = np.nonzero(np.arange(len(matrix)) != own[:, np.newaxis])
    n_classes, n_columns = matrix.shape
    slopes = np.zeros((len(rows), n_classes, n_columns))
    every = np.arange(len(rows))
    slopes[every, rivals] += x[rows] * matrix[rivals]
    slopes[every, own[rows]] -= x[rows] * matrix[own[rows]]
    slacks = sparse.csr_array((-np.ones(len(rows)), (every, rows)))
    left = sparse.hstack([sparse.csr_array(slopes.reshape(len(rows), -1)), slacks])
    sums = sparse.hstack(
        [sparse.kron(sparse.eye_array(n_classes), np.ones((1, n_columns))), sparse.csr_array((n_classes, len(x)))]
    )
    costs = np.concatenate([np.zeros(matrix.size), counts / counts.sum()])
    found = linprog(costs, left, np.zeros(len(rows)), sums, np.ones(n_classes), (0, None), method="highs-ds")
    return found.x[: matrix.size].reshape(matrix.shape)


def leads(weights, matrix, codewords):
    """Return by how much each row's best score exceeds the second best."""
    best = np.sort(codewords @ (weights * matrix).T, axis=1)[:, -2:]
    return best[:, 1] - best[:, 0]


def percent_right(scores, y):
    return 100 * np.mean(scores.argmax(axis=1) == y)


def solutions(matrix, codewords, y):
    """Return weights at a vertex and at the centre of the paper's problem, and with a margin."""
    centre = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
    margin = OptimizedWeightDecoder().fit(codewords, y, matrix)
    return {
        "a vertex of the optimal face": vertex_weights(codewords, y, matrix),
        "its point of maximum entropy": centre.weights_,
        f"with margin {margin.margin} and l2 {margin.l2}": margin.weights_,
    }


def degeneracy_figure(path, name="vowel"):
    """Draw the weights of three solutions above how clearly they decide test rows."""
    matrix, codewords, y, test_codewords, test_y = next(hard_codewords(name))
    fig, axes = plt.subplots(2, 3, figsize=(11, 6.4), height_ratios=(2, 1), layout="constrained")
    for column, (title, weights) in enumerate(solutions(matrix, codewords, y).items()):
        picture = axes[0, column].imshow(weights, cmap="viridis", vmin=0, vmax=LARGEST_SHOWN)
        right = percent_right(test_codewords @ (weights * matrix).T, test_y)
        axes[0, column].set(title=f"{title}\n{right:.0f} % of test rows right", xlabel="column")
        lead = leads(weights, matrix, test_codewords)
        axes[1, column].hist(lead, bins=np.linspace(0, 0.6, 31), color="0.4")
        tied = 100 * np.mean(lead <= TIED)
        axes[1, column].set(title=f"{tied:.0f} % tied", xlabel="lead of the best score", ylim=(0, len(test_y)))
    axes[0, 0].set_ylabel("class")
    axes[1, 0].set_ylabel("test rows")
    fig.colorbar(picture, ax=axes[0], label="weight", shrink=0.8, extend="max")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110)
    plt.close(fig)


def print_table(names):
    """Print accuracies over ten folds; ties go to the first class unless the title says otherwise."""
    titles = ("equal", "loss-weighted", "vertex", "centre", "centre, ties in order", "margin", "margin, ties in order")
    print(
        "| | " + " | ".join(titles) + " | tied at the centre | tied with margin |\n" + "|---" * (len(titles) + 3) + "|"
    )
    for name in names:
        rows = []
        for matrix, codewords, y, test, test_y in hard_codewords(name):
            centre = OptimizedWeightDecoder(margin=0, l2=0).fit(codewords, y, matrix)
            margin = OptimizedWeightDecoder().fit(codewords, y, matrix)
            plain = [
                test @ (weights * matrix).T
                for weights in (vertex_weights(codewords, y, matrix), centre.weights_, margin.weights_)
            ]
            loss_weighted = LossWeightedDecoder().fit(codewords, y, matrix)
            scores = [
                test @ matrix.T,
                loss_weighted.scores(test),
                *plain[:2],
                centre.scores(test),
                plain[2],
                margin.scores(test),
            ]
            tied = [100 * np.mean(leads(decoder.weights_, matrix, test) <= TIED) for decoder in (centre, margin)]
            rows.append([percent_right(each, test_y) for each in scores] + tied)
        print(f"| {name} | " + " | ".join(f"{value:.0f} %" for value in np.mean(rows, axis=0)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=FIGURE)
    parser.add_argument("--sets", nargs="*", default=["vowel", "vehicle", "segmentation", "yeast", "satimage"])
    arguments = parser.parse_args()
    degeneracy_figure(arguments.figure)
    print_table(arguments.sets)


if __name__ == "__main__":
    main()
