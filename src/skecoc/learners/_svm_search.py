"""Choosing an SVM's penalty and kernel width by cross-validation, and a sigmoid for its margins."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from skecoc.learners._rbf_rows import RBF, DistinctRows, Integers
from skecoc.learners._svm_algebra import Floats

#: SVM-perf counts errors in percent, so its C is shared out as 100 C / n per row (n: number of rows).
PERCENT = 100.0

#: Accuracies that differ by no more than this are equally good: rounding of a mean over folds is far below.
TIE_TOLERANCE = 1e-9

#: Least slope of the sigmoid, relative to the margins' root mean square: probabilities keep the margins' order.
SMALLEST_SLOPE = 1e-3

Folds = list[tuple[Integers, Integers]]


@dataclass(frozen=True)
class Grid:
    """What to search and how.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        Values of C in SVM-perf's units, ascending.
    widths : ndarray of shape (n_widths,)
        Kernel widths, descending.
    tol : float
        Tolerance of the solver.
    cache_size : float
        Memory in MB for the kernel matrices.
    """

    Cs: Floats
    widths: Floats
    tol: float
    cache_size: float

    def kernel(self, rows: DistinctRows, width: float) -> RBF:
        """Make the kernel of one width. It should be let go before the next is made: it may be very large."""
        return rows.kernel(float(width), self.tol, self.cache_size)

    def point(self, flat_index: int) -> tuple[float, float]:
        """Give C and width at a position of the flattened (n_Cs, n_widths) grid."""
        c, w = divmod(flat_index, len(self.widths))
        return float(self.Cs[c]), float(self.widths[w])

    def middle(self) -> int:
        """Give the flat index that is taken when nothing can be cross-validated: the upper middle of both lists."""
        return len(self.Cs) // 2 * len(self.widths) + (len(self.widths) - 1) // 2


def stratified_folds(labels: Integers, n_folds: int, random: np.random.RandomState) -> Folds:
    """Split rows into at most `n_folds` folds that all hold each class; none if a class has one row only."""
    possible = min(n_folds, int(np.bincount(labels).min()))
    if possible < 2:
        return []
    splitter = StratifiedKFold(possible, shuffle=True, random_state=random)
    return list(splitter.split(np.zeros(len(labels)), labels))


def draw_rows(rows: DistinctRows, n_rows: int | None, n_folds: int, random: np.random.RandomState) -> DistinctRows:
    """Draw about `n_rows` rows, each class by its share and with a row for every fold if it has them; None takes all.

    Rows keep their weights, so that a slack costs what it costs in a fit to all rows.
    """
    if n_rows is None or len(rows.labels) <= n_rows:
        return rows
    taken = []
    for members in (np.flatnonzero(rows.labels == label) for label in np.unique(rows.labels)):
        share = round(n_rows * len(members) / len(rows.labels))
        taken.append(random.permutation(members)[: max(share, n_folds)])
    kept = np.sort(np.concatenate(taken))
    return replace(rows, rows=rows.rows[kept], labels=rows.labels[kept], weight=rows.weight[kept])


def held_out_margins(rows: DistinctRows, grid: Grid, folds: Folds) -> Floats:
    """Give every row's margin from the machine of the fold that leaves it out, (n_Cs, n_widths, n_rows)."""
    return np.stack(
        [_fold_margins(grid.kernel(rows, width), rows, PERCENT * grid.Cs, folds) for width in grid.widths], axis=1
    )


def _fold_margins(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> Floats:
    """Give the held-out margins for one kernel, (n_penalties, n_rows)."""
    margins = np.empty((len(penalties), len(rows.labels)))
    signs = np.where(rows.labels == 1, 1.0, -1.0)
    for train, test in folds:
        margins[:, test] = kernel.held_out_margins(train, test, signs[train], rows.weight[train], penalties)
    return margins


def one_vs_one_winners(rows: DistinctRows, grid: Grid, folds: Folds) -> NDArray[np.intp]:
    """Give the class that wins most pairs, for every held-out row, (n_Cs, n_widths, n_rows); ties to the first."""
    return np.stack(
        [_fold_winners(grid.kernel(rows, width), rows, PERCENT * grid.Cs, folds) for width in grid.widths], axis=1
    )


def _fold_winners(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> NDArray[np.intp]:
    """Give the held-out winners for one kernel, (n_penalties, n_rows)."""
    class_weight = np.bincount(rows.labels, rows.weight)
    winners = np.empty((len(penalties), len(rows.labels)), dtype=np.intp)
    for train, test in folds:
        votes = np.zeros((len(penalties), len(test), len(class_weight)))
        for first, second in combinations(range(len(class_weight)), 2):
            taken = train[np.isin(rows.labels[train], (first, second))]
            signs = np.where(rows.labels[taken] == first, 1.0, -1.0)
            # A pair's penalty per row is that of a fit to this pair alone.
            weight = rows.weight[taken] / (class_weight[first] + class_weight[second])
            margins = kernel.held_out_margins(taken, test, signs, weight, penalties)
            votes[:, :, first] += margins > 0.0
            votes[:, :, second] += margins <= 0.0
        winners[:, test] = votes.argmax(axis=2)
    return winners


def fold_accuracy(predicted: NDArray[np.intp], rows: DistinctRows, folds: Folds) -> Floats:
    """Average the weighted accuracy over folds, for predictions of shape (..., n_rows)."""
    right = predicted == rows.labels
    return np.mean([right[..., test] @ rows.weight[test] / rows.weight[test].sum() for _, test in folds], axis=0)


def best_index(scores: Floats) -> int:
    """Give the flat index of the best score; among equally good ones the smallest C, then the largest width."""
    return int(np.argmax(scores >= scores.max() - TIE_TOLERANCE))


def choose_for_classes(
    rows: DistinctRows, grid: Grid, n_folds: int, random: np.random.RandomState
) -> tuple[float, float]:
    """Choose C and width by the cross-validated accuracy of one-vs-one votes over all classes.

    Classes with too few rows for the folds take no part. If fewer than two are left, the middle of the grid is taken.
    """
    counts = np.bincount(rows.labels)
    possible = min(n_folds, int(np.sort(counts)[-2])) if len(counts) > 1 else 1
    if possible < 2 or len(grid.Cs) * len(grid.widths) == 1:
        return grid.point(grid.middle())
    kept = counts[rows.labels] >= possible
    labels = np.unique(rows.labels[kept], return_inverse=True)[1]
    part = replace(rows, rows=rows.rows[kept], labels=labels, weight=rows.weight[kept])
    folds = stratified_folds(labels, possible, random)
    return grid.point(best_index(fold_accuracy(one_vs_one_winners(part, grid, folds), part, folds)))


def sigmoid_slope(margins: Floats, positive: NDArray[np.bool_], weight: Floats) -> float:
    """Fit the slope of ``p = 1 / (1 + exp(-slope * margin))`` by maximum likelihood.

    The targets are Platt's, (n + 1) / (n + 2) and its complement, with n the number of rows of the class: they keep
    the slope finite when the margins separate the classes.
    """
    scale = float(np.sqrt(np.mean(margins**2)))
    if scale == 0.0:
        return 1.0
    n_positive = int(positive.sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (len(margins) - n_positive + 2))
    unit = margins / scale

    def derivative(slope: float) -> float:
        return float(weight * unit @ (expit(slope * unit) - target))

    if derivative(SMALLEST_SLOPE) >= 0.0:
        return SMALLEST_SLOPE / scale
    upper = 1.0
    while derivative(upper) < 0.0:
        upper *= 2.0
    return float(brentq(derivative, SMALLEST_SLOPE, upper)) / scale
