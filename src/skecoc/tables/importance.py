"""Which columns of a table a model needs to tell two classes apart: shuffle one, and see what it confuses."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Rows of a fold that are shuffled at most; more would only make the numbers smoother.
MAX_ROWS = 400
#: Columns that are kept for a pair of classes, the most important ones.
MAX_COLUMNS = 10
#: Pairs of classes that are kept, the ones hardest to tell apart.
MAX_PAIRS = 1_000
# Shuffles of all columns together are about this many: fewer of each column where there are many columns.
_N_SHUFFLES = 300
_MOST_SHUFFLES = 5
# With more columns times pairs of classes than this, counts would take too much memory.
_MOST_COUNTS = 5_000_000


class PairCounts(NamedTuple):
    """How often rows of one class score higher for it than for another, with all columns and with one shuffled.

    Attributes
    ----------
    n_rows : ndarray of shape (n_classes,)
        Rows of each class that were asked about.
    right : ndarray of shape (n_classes, n_classes)
        Entry (i, j): rows of class i that score higher for i than for j.
    shuffled : ndarray of shape (n_columns, n_classes, n_classes)
        The same with one column shuffled, on average over shuffles.
    """

    n_rows: Floats
    right: Floats
    shuffled: Floats

    def __add__(self, other: "PairCounts") -> "PairCounts":  # type: ignore[override]
        """Add up the counts of two folds."""
        return PairCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def can_count(n_columns: int, n_classes: int) -> bool:
    """Tell whether a table is small enough for counts of all columns and pairs of classes."""
    return n_columns * n_classes**2 <= _MOST_COUNTS


def count_pairs(
    score: Any, X: Floats, y: Integers, sources: Integers, n_columns: int, random_state: np.random.RandomState
) -> PairCounts:
    """Count which pairs of classes a model tells apart, with all columns and with each one shuffled.

    Parameters
    ----------
    score : callable
        Scores encoded rows: from shape (n_rows, n_features) to (n_rows, n_classes).
    X : ndarray of shape (n_rows, n_features)
        Encoded rows that the model has not seen; at most `MAX_ROWS` of them are used.
    y : ndarray of int of shape (n_rows,)
        Class indices.
    sources : ndarray of int of shape (n_features,)
        The column that each encoded feature comes from.
    n_columns : int
        Number of columns.
    random_state : RandomState
        Draws rows and shuffles.

    Returns
    -------
    PairCounts
        The counts.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.3], [0.1, 0.5], [1.0, 0.4], [0.9, 0.6]]), np.array([0, 0, 1, 1])
    >>> counts = count_pairs(lambda X: np.c_[1 - X[:, 0], X[:, 0]], X, y, np.arange(2), 2, np.random.RandomState(0))
    >>> counts.right
    array([[0., 2.],
           [2., 0.]])
    >>> bool((counts.shuffled[1] == counts.right).all())  # the second column does not matter
    True
    """
    drawn = np.sort(random_state.permutation(len(X))[:MAX_ROWS])
    X, y = X[drawn], y[drawn]
    n_shuffles = max(1, min(_MOST_SHUFFLES, _N_SHUFFLES // n_columns))
    scores = score(X)
    n_classes = scores.shape[1]
    shuffled = np.zeros((n_columns, n_classes, n_classes))
    for column in range(n_columns):
        features = np.flatnonzero(sources == column)
        for _ in range(n_shuffles):
            changed = X.copy()
            changed[:, features] = X[random_state.permutation(len(X))][:, features]
            shuffled[column] += _count_right(score(changed), y) / n_shuffles
    return PairCounts(np.bincount(y, minlength=n_classes).astype(np.float64), _count_right(scores, y), shuffled)


def _count_right(scores: Floats, y: Integers) -> Floats:
    """Count the rows of each class that score higher for it than for each other class."""
    members = np.eye(scores.shape[1])[y]
    own = scores[np.arange(len(y)), y]
    return members.T @ (own[:, None] > scores)


def important_columns(counts: PairCounts) -> dict[str, Any]:
    """Rank the columns by what shuffling them costs, for each pair of classes.

    Parameters
    ----------
    counts : PairCounts
        Counts over all folds.

    Returns
    -------
    dict
        ``pairs``, an array of shape (n_pairs, 2) with the class indices of at most `MAX_PAIRS` pairs, those hardest to
        tell apart first; ``told_apart``, of shape (n_pairs,), the share of their rows that score higher for their own
        class than for the other; ``columns`` and ``drops``, of shape (n_pairs, at most `MAX_COLUMNS`), the columns
        whose shuffling lowers that share most, and by how much.

    Examples
    --------
    >>> right = np.array([[0.0, 8.0], [9.0, 0.0]])
    >>> found = important_columns(PairCounts(np.full(2, 10.0), right, np.stack([right, 0.5 * right])))
    >>> found["told_apart"], found["columns"], found["drops"]
    (array([0.85]), array([[1, 0]]), array([[0.425, 0.   ]]))
    """
    first, second = np.triu_indices(len(counts.n_rows), k=1)
    total = counts.n_rows[first] + counts.n_rows[second]
    asked = total > 0
    first, second, total = first[asked], second[asked], total[asked]
    told_apart = (counts.right[first, second] + counts.right[second, first]) / total
    hardest = np.argsort(told_apart, kind="stable")[:MAX_PAIRS]
    first, second, total, told_apart = first[hardest], second[hardest], total[hardest], told_apart[hardest]
    kept = (counts.shuffled[:, first, second] + counts.shuffled[:, second, first]) / total
    drops = (told_apart - kept).T
    best = np.argsort(-drops, axis=1, kind="stable")[:, :MAX_COLUMNS]
    return {
        "pairs": np.column_stack([first, second]),
        "told_apart": told_apart,
        "columns": best,
        "drops": np.take_along_axis(drops, best, axis=1),
    }
