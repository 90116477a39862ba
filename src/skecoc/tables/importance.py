"""Which columns of a table a model needs to separate two classes: shuffle one, and see what it confuses."""

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
    """How often rows of one class score higher for it than for another, with all columns and with one shuffled."""

    n_rows: Floats  # rows of each class, of shape (n_classes,)
    right: Floats  # entry (i, j): rows of class i that score higher for i than for j
    shuffled: Floats  # the same with one column shuffled, of shape (n_columns, n_classes, n_classes)

    def __add__(self, other: "PairCounts") -> "PairCounts":  # type: ignore[override]
        """Add up the counts of two folds."""
        return PairCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def can_count(n_columns: int, n_classes: int) -> bool:
    """Tell whether a table is small enough for counts of all columns and pairs of classes."""
    return n_columns * n_classes**2 <= _MOST_COUNTS


def count_pairs(
    score: Any, X: Floats, y: Integers, sources: Integers, n_columns: int, random_state: np.random.RandomState
) -> PairCounts:
    """Count which pairs of classes a model separates, with all columns and with each one shuffled.

    `score` turns encoded rows into scores of the classes; `sources` has the column that each feature comes from.
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
    """Rank the columns for each pair of classes, the hardest pairs first.

    ``told_apart`` is the share of rows that score higher for their own class than for the other; ``columns`` are
    those whose shuffling lowers it most, by ``drops``.
    """
    first, second = np.triu_indices(len(counts.n_rows), k=1)
    total = counts.n_rows[first] + counts.n_rows[second]
    has_rows = total > 0
    first, second, total = first[has_rows], second[has_rows], total[has_rows]
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
