"""Where the weights of a code matrix live: one simplex per class, without the entries that must be zero."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class WeightSpace:
    """The feasible weights of a code matrix, as matrices and as vectors that go class after class.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_columns)
        The code matrix, with a non-zero entry in every row.

    Attributes
    ----------
    bounds : ndarray of shape (n_classes + 1,)
        Where each class's weights begin in a vector.
    classes, columns, signs : ndarrays of shape (n_weights,)
        The class, the column and the code of each weight.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.n_classes = len(matrix)
        self.classes, self.columns = np.nonzero(matrix)
        self.signs = matrix[self.classes, self.columns]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(self.classes))])
        self.n_weights = len(self.classes)

    @cached_property
    def memberships(self) -> Floats:
        """Which weights belong to each class, as rows of ones, (n_classes, n_weights), in Fortran order."""
        return np.asfortranarray(self.classes == np.arange(self.n_classes)[:, np.newaxis], dtype=np.float64)

    def flatten(self, matrix: Floats) -> Floats:
        """Return a matrix's entries where weights may differ from zero."""
        return matrix[self.classes, self.columns]

    def equal(self) -> Floats:
        """Return equal weights over every class's non-zero codes."""
        used = np.abs(self.matrix)
        return used / used.sum(axis=1, keepdims=True)

    def repair(self, vector: Floats) -> Floats:
        """Return the matrix of an all but feasible vector, clipped at zero and with rows that sum to 1."""
        weights = np.zeros_like(self.matrix)
        weights[self.classes, self.columns] = np.maximum(vector, 0.0)
        return weights / weights.sum(axis=1, keepdims=True)

    def project(self, matrix: Floats) -> Floats:
        """Return the feasible weights nearest to any matrix: its rows projected onto their simplices."""
        values = np.where(self.matrix != 0, matrix, -np.inf)
        ordered = -np.sort(-values, axis=1)
        excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, matrix.shape[1] + 1)
        last = (ordered > excess).sum(axis=1) - 1
        return np.maximum(values - excess[np.arange(self.n_classes), last, np.newaxis], 0.0)
