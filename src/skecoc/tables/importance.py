"""Permutation importance of a table's columns for each pair of classes."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif

from skecoc.classifiers.pairs import count_correct, shuffled_scores
from skecoc.compare.trials import KeptTrial
from skecoc.support.processes import thread_pools
from skecoc.tables.preprocessing import encoded_sources

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Rows of a fold that are shuffled at most; more would only reduce the noise.
MAX_ROWS = 400
#: Columns that are kept for a pair of classes, the most important ones.
MAX_COLUMNS = 10
#: Pairs of classes that are kept, the ones hardest to separate.
MAX_PAIRS = 1_000
#: Columns that are shuffled at most: those that differ most between the classes of the training part.
MAX_SHUFFLED = 60
# Shuffled rows of all columns together are about this many: fewer shuffles of each column where there are many.
_N_SHUFFLED_ROWS = 40_000
_MOST_SHUFFLES = 5
# With more columns times pairs of classes than this, counts would take too much memory.
_MOST_COUNTS = 5_000_000


class PairCounts(NamedTuple):
    """How often rows of one class score higher for it than for another, with all columns and with one shuffled."""

    n_rows: Floats  # rows of each class, of shape (n_classes,)
    correct: Floats  # entry (i, j): rows of class i that score higher for i than for j
    shuffled: Floats  # the same with one column shuffled, of shape (n_columns, n_classes, n_classes)


def columns_that_matter(trials: Sequence[KeptTrial], n_columns: int, n_classes: int) -> dict[str, Any]:
    """Rank the columns by their importance to the classifiers of some folds, as `important_columns` does.

    Nothing is found if there are too many pairs.
    """
    if not trials or min(n_columns, MAX_SHUFFLED) * n_classes**2 > _MOST_COUNTS:
        return {}
    columns = _promising_columns(trials[0], n_columns)
    counts = [_count_fold(trial, columns, n_classes) for trial in trials]
    return important_columns(PairCounts(*(np.sum(parts, axis=0) for parts in zip(*counts, strict=True))), columns)


def _promising_columns(trial: KeptTrial, n_columns: int) -> Integers:
    """Choose the columns whose features differ most between classes, by the F statistic; all if they are few."""
    if n_columns <= MAX_SHUFFLED:
        return np.arange(n_columns)
    X = np.nan_to_num(trial.fold.X_train)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant features
        strength = np.nan_to_num(f_classif(X, trial.fold.y_train)[0], nan=0.0)
    best = np.zeros(n_columns)
    np.maximum.at(best, encoded_sources(trial.preprocessor), strength)
    return np.sort(np.argsort(-best, kind="stable")[:MAX_SHUFFLED])


def _count_fold(trial: KeptTrial, columns: Integers, n_classes: int) -> PairCounts:
    """Count correctly ordered pairs of classes on the test part of a fold; class labels are indices."""
    classifier, fold = trial.classifier, trial.fold
    present = np.asarray(classifier.classes_, dtype=np.intp)

    def score(X: Floats) -> Floats:
        scores = np.full((len(X), n_classes), -np.inf)
        if hasattr(classifier, "decision_function"):
            found = np.asarray(classifier.decision_function(X))
        else:
            found = np.asarray(classifier.predict_proba(X))
        scores[:, present] = found if found.ndim == 2 else np.column_stack([-found, found])
        return scores

    random = np.random.RandomState(trial.seed)
    with thread_pools().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return count_pairs(score, fold.X_test, fold.y_test, encoded_sources(trial.preprocessor), columns, random)


def count_pairs(
    score: Any, X: Floats, y: Integers, sources: Integers, columns: Integers, random_state: np.random.RandomState
) -> PairCounts:
    """Count which pairs of classes a model separates, with all columns and with each of some shuffled.

    `score` turns encoded rows into scores of the classes; `sources` has the column that each feature comes from.
    """
    drawn = np.sort(random_state.permutation(len(X))[:MAX_ROWS])
    X, y = X[drawn], y[drawn]
    n_shuffles = max(1, min(_MOST_SHUFFLES, _N_SHUFFLED_ROWS // (len(columns) * len(X))))
    scores = score(X)
    shuffled = np.zeros((len(columns), scores.shape[1], scores.shape[1]))
    groups = [np.flatnonzero(sources == column) for column in columns]
    for number, found in enumerate(shuffled_scores(score, X, groups, n_shuffles, random_state)):
        shuffled[number // n_shuffles] += count_correct(found, y) / n_shuffles
    n_rows = np.bincount(y, minlength=scores.shape[1]).astype(np.float64)
    return PairCounts(n_rows, count_correct(scores, y), shuffled)


def important_columns(counts: PairCounts, columns: Integers) -> dict[str, Any]:
    """Rank the columns that were shuffled for each pair of classes, the hardest pairs first.

    ``separated`` is the share of rows that score higher for their own class than for the other; ``columns`` are
    those whose shuffling lowers it most, by ``drops``.
    """
    first, second = np.triu_indices(len(counts.n_rows), k=1)
    total = counts.n_rows[first] + counts.n_rows[second]
    has_rows = total > 0
    first, second, total = first[has_rows], second[has_rows], total[has_rows]
    separated = (counts.correct[first, second] + counts.correct[second, first]) / total
    hardest = np.argsort(separated, kind="stable")[:MAX_PAIRS]
    first, second, total, separated = first[hardest], second[hardest], total[hardest], separated[hardest]
    kept = (counts.shuffled[:, first, second] + counts.shuffled[:, second, first]) / total
    drops = (separated - kept).T
    best = np.argsort(-drops, axis=1, kind="stable")[:, :MAX_COLUMNS]
    return {
        "pairs": np.column_stack([first, second]),
        "separated": separated,
        "columns": columns[best],
        "drops": np.take_along_axis(drops, best, axis=1),
    }
