"""Rows of one SVM fit: which are distinct, how far apart they are, and Gaussian kernels on them.

A kernel object answers two questions, whatever it is made of: the margins of held-out rows along a path of penalties,
and the machine trained on all rows. `DenseRBF` holds its matrix and solves the dual itself; `LibsvmRBF` leaves both to
libsvm, whose cache bounds the memory.
"""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from skecoc.learners._svm_algebra import Floats, margins_on, submatrix
from skecoc.learners._svm_dual import solve_path

Integers = NDArray[np.intp]

#: Rows whose distances to all others are held at once while these are summed or turned into margins.
BLOCK_ROWS = 512

#: Memory of a search in kernel matrices: the kernel, its part for one fold, and a quarter of that part to work on.
MATRICES_PER_SEARCH = 2.25


@dataclass(frozen=True)
class SharedRows:
    """Checked rows that any number of fits share.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    identities : ndarray of int of shape (n_samples,)
        Equal for equal rows, and ascending in their lexicographic order.
    squared_distances : ndarray of shape (n_samples, n_samples) or None
        Squared distances between all rows; None if they exceed the memory that was granted.
    """

    X: Floats
    identities: Integers
    squared_distances: Floats | None


def share_rows(X: Floats, cache_size: float) -> SharedRows:
    """Give numbers to the distinct rows, and compute all distances if a matrix of them fits in `cache_size` MB."""
    identities = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    fits = 8.0 * len(X) ** 2 <= cache_size * 1e6
    return SharedRows(X, identities, cdist(X, X, "sqeuclidean") if fits else None)


@dataclass(frozen=True)
class DistinctRows:
    """The distinct labelled rows of one fit, in lexicographic order, with their total weights.

    Training on them is the same as training on all rows, and nothing about them depends on whether a row was repeated
    or weighted, or on the order of the rows.

    Attributes
    ----------
    shared : SharedRows
        Where the rows come from.
    rows : ndarray of int of shape (n_rows,)
        Their indices.
    labels : ndarray of int of shape (n_rows,)
        Their class indices.
    weight : ndarray of shape (n_rows,)
        Their positive weights, which sum to one.
    """

    shared: SharedRows
    rows: Integers
    labels: Integers
    weight: Floats

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


class RBF(Protocol):
    """A Gaussian kernel on the rows of one fit."""

    def held_out_margins(
        self, train: Integers, test: Integers, signs: Floats, weight: Floats, penalties: Floats
    ) -> Floats:
        """Train on some rows for every ascending penalty, and give the margins of others, (n_penalties, n_test)."""
        ...

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        ...


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
        _warn_unless(converged)
        support = np.flatnonzero(coefficients.any(axis=0))
        return margins_on(submatrix(self.matrix, train[support], test), coefficients[:, support], intercepts)

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        coefficients, intercepts, converged = solve_path(self.matrix, signs, weight, np.array([penalty]), self.tol)
        _warn_unless(converged)
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
    """Turn squared distances into kernel values, in place."""
    squared_distances *= -gamma
    return np.exp(squared_distances, out=squared_distances)


def _warn_unless(converged: bool) -> None:
    """Warn if the dual was not solved to the tolerance."""
    if not converged:
        warnings.warn("the SVM's dual did not reach the tolerance; raise tol", ConvergenceWarning, stacklevel=4)
