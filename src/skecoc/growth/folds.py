"""Folds for cross-fitted ("honest") codewords: every row is answered by learners that have not seen it."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse

#: Fold of a row that is never held out.
NEVER_HELD_OUT = -1


def assign_folds(X: Any, y: NDArray[np.intp], n_folds: int, random_state: RandomState) -> NDArray[np.intp]:
    """Assign rows to folds, class by class, so that equal rows of a class share a fold.

    The rows of a class are put in the order of a random projection and dealt out in turn. So the folds do not depend
    on the order of the rows, and a row that is given twice is held out as one: a learner that has seen its twin has
    seen it.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Rows. If they are not numbers, rows are dealt out in the order in which they come.
    y : ndarray of int of shape (n_samples,)
        Class indices.
    n_folds : int
        Number of folds, at least 2.
    random_state : RandomState instance
        Draws the direction of the projection.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The fold of each row, from 0 on, or -1 for the rows of a class that has only one distinct row: were it held
        out, no learner would know the class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0], [9.0]])
    >>> folds = assign_folds(X, np.array([0, 0, 0, 0, 1]), 3, np.random.RandomState(0))
    >>> bool(folds[1] == folds[2]), len(set(folds[[0, 1, 3]])), int(folds[4])
    (True, 3, -1)
    """
    position = _projection(X, random_state)
    fold = np.full(len(y), NEVER_HELD_OUT, dtype=np.intp)
    for number, members in enumerate(_members_of_classes(y)):
        _, place = np.unique(position[members], return_inverse=True)
        if place.max(initial=0) > 0:
            # Classes start at different folds, so that folds of many small classes have about the same size.
            fold[members] = (place + number) % n_folds
    return fold


def _members_of_classes(y: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """List the rows of each class."""
    order = np.argsort(y, kind="stable")
    return np.split(order, np.cumsum(np.bincount(y))[:-1])


def _projection(X: Any, random_state: RandomState) -> NDArray[np.float64]:
    """Project rows on a random direction; rows that are not numbers keep their order."""
    direction = random_state.standard_normal(X.shape[1])
    if issparse(X):
        return np.asarray(X @ direction)
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return np.arange(X.shape[0], dtype=np.float64)
    # Row by row sums, in the same order for every row: equal rows have exactly equal projections.
    return np.einsum("ij,j->i", np.nan_to_num(values), direction)
