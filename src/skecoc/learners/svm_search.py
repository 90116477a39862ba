"""Choose an SVM's penalty and kernel width by cross-validation over the distinct rows of a fit.

A kernel object gives the margins of held-out rows along a path of penalties, and the machine trained on all rows:
`DenseRBF` holds its matrix and solves the dual itself; `LibsvmRBF` leaves both to libsvm, whose cache bounds memory.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from skecoc.data.codes import Floats, Integers
from skecoc.learners.svm_dual import margins_on, solve_path, submatrix

#: Rows whose distances to all others are held at once while these are summed or turned into margins.
BLOCK_ROWS = 512
#: Memory of a search in kernel matrices: the kernel, its part for one fold, and a quarter of that part to work on.
MATRICES_PER_SEARCH = 2.25
#: SVM-perf counts errors in percent, so its C is shared out as 100 C / n per row (n: number of rows).
PERCENT = 100.0
#: Accuracies that differ by no more than this are equally good: rounding of a mean over folds is far below.
TIE_TOLERANCE = 1e-9
#: Least slope of the sigmoid, relative to the margins' root mean square: probabilities keep the margins' order.
SMALLEST_SLOPE = 1e-3

Folds = list[tuple[Integers, Integers]]


@dataclass(frozen=True)
class SharedRows:
    """Checked rows that any number of fits share."""

    X: Floats
    identities: Integers  # equal for equal rows, and ascending in their lexicographic order
    squared_distances: Floats | None  # between all rows; None if they exceed the memory that was granted


def share_rows(X: Floats, cache_size: float) -> SharedRows:
    """Give numbers to the distinct rows, and compute all distances if a matrix of them fits in `cache_size` MB."""
    identities = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    fits = 8.0 * len(X) ** 2 <= cache_size * 1e6
    return SharedRows(X, identities, cdist(X, X, "sqeuclidean") if fits else None)


@dataclass(frozen=True)
class DistinctRows:
    """The distinct labelled rows of one fit, in lexicographic order, with their total weights."""

    shared: SharedRows
    rows: Integers  # their indices
    labels: Integers
    weight: Floats  # positive, with sum 1

    def mean_distance(self) -> float:
        """Average the distance over all weighted pairs of rows, a row and itself included; 1 if all are equal."""
        total = 0.0
        for start in range(0, len(self.rows), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            distances = np.sqrt(self._squared_distances(self.rows[block]))
            total += float(np.sum(self.weight[block] * _product(distances, self.weight)))
        return total if total > 0.0 else 1.0

    def kernel(self, width: float, tol: float, cache_size: float) -> "RBF":
        """Make the Gaussian kernel of a width, as a matrix if that and its parts fit in `cache_size` MB."""
        gamma = 1.0 / (2.0 * width**2)
        if MATRICES_PER_SEARCH * 8.0 * len(self.rows) ** 2 <= cache_size * 1e6:
            return DenseRBF(_gaussian(self._squared_distances(self.rows), gamma), tol)
        return LibsvmRBF(self.shared.X[self.rows], gamma, tol, cache_size)

    def _squared_distances(self, rows: Integers) -> Floats:
        """Copy or compute the squared distances from some rows to all rows of the fit."""
        if self.shared.squared_distances is None:
            return cdist(self.shared.X[rows], self.shared.X[self.rows], "sqeuclidean")
        return submatrix(self.shared.squared_distances, rows, self.rows)


def distinct_rows(shared: SharedRows, rows: Integers | None, labels: Integers, weight: Floats | None) -> DistinctRows:
    """Collapse equal rows of equal label into one of their total weight, and drop those of weight zero."""
    taken = np.arange(len(shared.X)) if rows is None else rows
    n_labels = int(labels.max()) + 1
    keys, first, inverse = np.unique(
        shared.identities[taken] * n_labels + labels, return_index=True, return_inverse=True
    )
    total = np.bincount(inverse, weight, minlength=len(keys)).astype(np.float64)
    kept = total > 0.0
    total = total[kept]
    return DistinctRows(shared, taken[first[kept]], keys[kept] % n_labels, total / total.sum())


@dataclass(frozen=True)
class DenseRBF:
    """A Gaussian kernel held as a matrix."""

    matrix: Floats
    tol: float

    def held_out_margins(
        self, train: Integers, test: Integers, signs: Floats, weight: Floats, penalties: Floats
    ) -> Floats:
        """Train on some rows for every ascending penalty, and give the margins of others, (n_penalties, n_test)."""
        inner = submatrix(self.matrix, train, train)
        coefficients, intercepts, converged = solve_path(inner, signs, weight, penalties, self.tol)
        _warn_if_not_solved(converged)
        support = np.flatnonzero(coefficients.any(axis=0))
        return margins_on(submatrix(self.matrix, train[support], test), coefficients[:, support], intercepts)

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        coefficients, intercepts, converged = solve_path(self.matrix, signs, weight, np.array([penalty]), self.tol)
        _warn_if_not_solved(converged)
        return coefficients[0], float(intercepts[0])


@dataclass(frozen=True)
class LibsvmRBF:
    """A Gaussian kernel that libsvm computes and caches."""

    X: Floats
    gamma: float
    tol: float
    cache_size: float

    def held_out_margins(
        self, train: Integers, test: Integers, signs: Floats, weight: Floats, penalties: Floats
    ) -> Floats:
        """Train on some rows for every ascending penalty, and give the margins of others, (n_penalties, n_test)."""
        margins = np.empty((len(penalties), len(test)))
        for k, penalty in enumerate(penalties):
            machine = self._fit(self.X[train], signs, penalty * weight)
            margins[k:] = machine.decision_function(self.X[test])
            # A solution that no cap holds back is the solution for every larger penalty too.
            if (np.abs(machine.dual_coef_[0]) < penalty * weight[machine.support_]).all():
                break
        return margins

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        machine = self._fit(self.X, signs, penalty * weight)
        coefficients = np.zeros(len(self.X))
        coefficients[machine.support_] = machine.dual_coef_[0]
        return coefficients, float(machine.intercept_[0])

    def _fit(self, X: Floats, signs: Floats, caps: Floats) -> SVC:
        """Train libsvm's machine; a cap is its C times the row's weight."""
        return SVC(C=1.0, gamma=self.gamma, tol=self.tol, cache_size=self.cache_size).fit(X, signs, caps)


RBF = DenseRBF | LibsvmRBF


def rbf_margins(X: Floats, support_vectors: Floats, coefficients: Floats, intercept: float, gamma: float) -> Floats:
    """Compute the margins of new rows, some rows at a time."""
    margins = np.empty(len(X))
    for start in range(0, len(X), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        margins[block] = _product(_gaussian(cdist(X[block], support_vectors, "sqeuclidean"), gamma), coefficients)
    return margins + intercept


def _product(matrix: Floats, vector: Floats) -> Floats:
    """Multiply a matrix and a vector without BLAS, whose threads would compete with those of an ensemble."""
    return np.einsum("ij,j->i", matrix, vector)


def _gaussian(squared_distances: Floats, gamma: float) -> Floats:
    squared_distances *= -gamma
    return np.exp(squared_distances, out=squared_distances)


def _warn_if_not_solved(converged: bool) -> None:
    if not converged:
        warnings.warn("the SVM's dual did not reach the tolerance; raise tol", ConvergenceWarning, stacklevel=4)


@dataclass(frozen=True)
class Grid:
    """What to search and how."""

    Cs: Floats  # in SVM-perf's units, ascending
    widths: Floats  # descending
    tol: float
    cache_size: float  # in MB, for the kernel matrices

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
    """Draw about `n_rows` rows, each class by its share but with a row for every fold if possible; None takes all."""
    if n_rows is None or len(rows.labels) <= n_rows:
        return rows
    taken = []
    for members in (np.flatnonzero(rows.labels == label) for label in np.unique(rows.labels)):
        share = round(n_rows * len(members) / len(rows.labels))
        taken.append(random.permutation(members)[: max(share, n_folds)])
    kept = np.sort(np.concatenate(taken))
    return replace(rows, rows=rows.rows[kept], labels=rows.labels[kept], weight=rows.weight[kept])


def evaluate_grid(evaluate: Callable[..., NDArray[Any]], rows: DistinctRows, grid: Grid, folds: Folds) -> NDArray[Any]:
    """Evaluate every point of the grid on held-out rows, (n_Cs, n_widths, n_rows)."""
    penalties = PERCENT * grid.Cs
    # No kernel is bound to a name: each may be very large, and is freed before the next is made.
    by_width = [
        evaluate(rows.kernel(width, grid.tol, grid.cache_size), rows, penalties, folds)
        for width in grid.widths.tolist()
    ]
    return np.stack(by_width, axis=1)


def fold_margins(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> Floats:
    """Give every row's margin from the machine of the fold that leaves it out, (n_penalties, n_rows)."""
    margins = np.empty((len(penalties), len(rows.labels)))
    signs = np.where(rows.labels == 1, 1.0, -1.0)
    for train, test in folds:
        margins[:, test] = kernel.held_out_margins(train, test, signs[train], rows.weight[train], penalties)
    return margins


def _fold_winners(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> Integers:
    """Give the class that wins most pairs, for every held-out row, (n_penalties, n_rows); ties to the first."""
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


def fold_accuracy(predicted: Integers, rows: DistinctRows, folds: Folds) -> Floats:
    """Average the weighted accuracy over folds, for predictions of shape (..., n_rows)."""
    correct = predicted == rows.labels
    return np.mean([correct[..., test] @ rows.weight[test] / rows.weight[test].sum() for _, test in folds], axis=0)


def best_index(scores: Floats) -> int:
    """Give the flat index of the best score; among equally good ones the smallest C, then the largest width."""
    return int(np.argmax(scores >= scores.max() - TIE_TOLERANCE))


def choose_for_classes(
    rows: DistinctRows, grid: Grid, n_folds: int, random: np.random.RandomState
) -> tuple[float, float]:
    """Choose C and width by the accuracy of one-vs-one votes over all classes with enough rows for the folds."""
    counts = np.bincount(rows.labels)
    possible = min(n_folds, int(np.sort(counts)[-2])) if len(counts) > 1 else 1
    if possible < 2 or len(grid.Cs) * len(grid.widths) == 1:
        return grid.point(grid.middle())
    kept = counts[rows.labels] >= possible
    labels = np.unique(rows.labels[kept], return_inverse=True)[1]
    part = replace(rows, rows=rows.rows[kept], labels=labels, weight=rows.weight[kept])
    folds = stratified_folds(labels, possible, random)
    return grid.point(best_index(fold_accuracy(evaluate_grid(_fold_winners, part, grid, folds), part, folds)))


def sigmoid_slope(margins: Floats, positive: NDArray[np.bool_], weight: Floats) -> float:
    """Fit the slope of ``p = 1 / (1 + exp(-slope * margin))`` by maximum likelihood, with Platt's targets."""
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
