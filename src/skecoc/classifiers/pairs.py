"""Which pairs of classes a classifier confuses, and which columns and features separate them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse, vstack
from sklearn.metrics import confusion_matrix
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_y, _num_samples, check_is_fitted

from skecoc.classifiers.costs import class_indices
from skecoc.coding.matrix import check_count, column_names
from skecoc.data.described import refuse_data
from skecoc.support.errors import did_you_mean, import_extra

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# Largest number of samples of a pair that contributions of columns are averaged over.
_MOST_SAMPLES = 200
# Rows that are scored at once.
_ROWS_AT_ONCE = 5_000
# Number of features that are printed for a pair; and the smallest share of a column that is.
_PRINTED, _LEAST_SHARE = 5, 0.005


class DecidingColumn(NamedTuple):
    """Contribution of a column of the code to the decision between two classes."""

    column: int
    """Its number."""
    name: str
    """Its entry of `column_names_`."""
    share: float
    """Mean contribution to the score difference (true class minus other), as a share of the sum of absolute
    contributions; negative if the column misleads."""
    correct: float
    """Share of the pair's samples for which the column favours the true class."""


class ConfusedPair(NamedTuple):
    """How often two classes are confused, and which columns separate them."""

    first: Any
    second: Any
    n_samples: int
    """Number of samples of the two classes."""
    first_as_second: int
    """Number of samples of the first class that are predicted as the second."""
    second_as_first: int
    columns: tuple[DecidingColumn, ...]
    """The columns that decide between them, the most important first."""

    @property
    def n_confused(self) -> int:
        """Number of samples of either class that are predicted as the other."""
        return self.first_as_second + self.second_as_first

    @property
    def share(self) -> float:
        """Share of their samples that are confused."""
        return self.n_confused / self.n_samples if self.n_samples else 0.0


class PairReport(list[ConfusedPair]):
    """List of `ConfusedPair`, the most confused pair first; prints as text."""

    def __repr__(self) -> str:
        if not self:
            return "No two classes are confused."
        lines = []
        for pair in self:
            lines.append(
                f"{pair.first} and {pair.second}: {pair.n_confused} of {pair.n_samples} samples confused "
                f"({pair.share:.1%}), {pair.first_as_second} {pair.first} as {pair.second} and {pair.second_as_first} "
                f"{pair.second} as {pair.first}"
            )
            lines += [
                f"  {column.name}: {column.share:.0%} of the decision, correct for {column.correct:.0%}"
                for column in pair.columns
                if abs(column.share) >= _LEAST_SHARE
            ]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each pair and column."""
        pd = import_extra("pandas", "table", "a frame")
        return pd.DataFrame(
            [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "n_samples": pair.n_samples,
                    "n_confused": pair.n_confused,
                    "share_confused": pair.share,
                    **column._asdict(),
                }
                for pair in self
                for column in pair.columns
            ]
        )


class PairImportance(NamedTuple):
    """Importance of each feature for separating two classes."""

    first: Any
    second: Any
    separated: float
    """Share of the two classes' samples that score higher for their own class than for the other."""
    importances_mean: Floats
    """Mean decrease of `separated` when a feature is shuffled, of shape (n_features,)."""
    importances_std: Floats
    """Standard deviation over shuffles."""


class PairImportances(list[PairImportance]):
    """List of `PairImportance`, the pair that is hardest to separate first; prints as text."""

    def __init__(self, pairs: Sequence[PairImportance], feature_names: Sequence[str]) -> None:
        super().__init__(pairs)
        self.feature_names = list(feature_names)

    def __repr__(self) -> str:
        lines = []
        for pair in self:
            lines.append(f"{pair.first} and {pair.second}: {pair.separated:.1%} separated")
            best = np.argsort(-pair.importances_mean, kind="stable")[:_PRINTED]
            lines += [
                f"  {pair.importances_mean[k]:6.3f} ± {pair.importances_std[k]:.3f}  {self.feature_names[k]}"
                for k in best
                if pair.importances_mean[k] > 0
            ]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each pair and feature."""
        pd = import_extra("pandas", "table", "a frame")
        return pd.DataFrame(
            [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "separated": pair.separated,
                    "feature": name,
                    "importance": float(pair.importances_mean[k]),
                    "std": float(pair.importances_std[k]),
                }
                for pair in self
                for k, name in enumerate(self.feature_names)
            ]
        )


class PairInsight:
    """Methods of fitted classifiers that explain their columns and pairs of classes."""

    # What it needs of a classifier.
    classes_: NDArray[Any]
    code_matrix_: NDArray[np.int8]
    column_learners_: NDArray[np.str_]
    codewords: Callable[[Any], Floats]
    _decode: Callable[[Floats], Floats]
    _check_rows: Callable[..., Any]
    _from_scores: Callable[[Any, Callable[[Floats], NDArray[Any]]], NDArray[Any]]

    @property
    def column_names_(self) -> NDArray[np.str_]:
        """What each column separates, such as "A, B vs C", of shape (n_columns,)."""
        check_is_fitted(self)
        kinds = getattr(self, "column_kinds_", np.full(len(self.column_learners_), ""))
        learners = self.column_learners_ if len(set(self.column_learners_)) > 1 else np.full(len(kinds), "")
        plain = column_names(self.code_matrix_, row_names(self))
        return np.array(
            [
                f"{learner}{': ' if learner else ''}{name}{' / regions' if kind == 'clustered' else ''}"
                for learner, name, kind in zip(learners, plain, kinds, strict=True)
            ]
        )

    def pair_report(
        self, X: Any, y: ArrayLike, *, pairs: int | Sequence[tuple[Any, Any]] = 10, n_columns: int = 5
    ) -> PairReport:
        """Report which pairs of classes are confused and which columns of the code separate them.

        The contribution of a column for a sample is the difference between the scores of the true class and the other
        class, minus the same difference with the column's output set to zero. Contributions are averaged over the
        samples of each class, then over the two classes, so a column that always favours the same class contributes
        nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples, preferably not the training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        pairs : int or list of (label, label), default=10
            Number of pairs to report, those with the most confused samples first (pairs that are not confused are
            omitted), or a list of pairs.
        n_columns : int, default=5
            Number of columns to list for each pair, those with the largest contributions.

        Returns
        -------
        PairReport
            A list of pairs, the most confused first, or in the given order. Each has the labels `first` and `second`,
            `n_samples`, `n_confused`, `share` (of the samples that are confused) and `columns`. A column has a `name`,
            its `share` of the sum of absolute contributions (negative if it misleads) and `correct`, the share of
            samples for which it favours the true class. It prints as text; `to_frame` returns a pandas DataFrame.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skecoc import ECOCClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ECOCClassifier(LogisticRegression()).fit(X[::2], y[::2])
        >>> report = model.pair_report(X[1::2], y[1::2])
        >>> (report[0].first, report[0].second), report[0].columns[0].name
        ((1, 2), '1 vs 2')
        """
        check_is_fitted(self)
        check_count(n_columns, "n_columns", 1)
        codewords, truth = self.codewords(X), self._class_indices(X, y)
        predicted = self._decode(codewords).argmax(axis=1)
        confusion = confusion_matrix(truth, predicted, labels=np.arange(len(self.classes_)))
        both = np.triu(confusion + confusion.T, k=1)
        chosen = self._chosen_pairs(pairs, -both.astype(np.float64), both > 0)
        names, labels = self.column_names_, self.classes_.tolist()
        report = []
        for i, j in chosen:
            rows = np.flatnonzero((truth == i) | (truth == j))
            columns = self._deciding_columns(codewords, truth, (i, j), rows, names, n_columns) if len(rows) else ()
            report.append(
                ConfusedPair(labels[i], labels[j], len(rows), int(confusion[i, j]), int(confusion[j, i]), columns)
            )
        return PairReport(report)

    def _deciding_columns(
        self,
        codewords: Floats,
        truth: Integers,
        pair: tuple[int, int],
        rows: Integers,
        names: NDArray[np.str_],
        n_columns: int,
    ) -> tuple[DecidingColumn, ...]:
        """Measure the contributions of columns to the lead of the true class of a pair over the other."""
        rows = rows[:: -(-len(rows) // _MOST_SAMPLES)]
        outputs, own, other = codewords[rows], truth[rows], np.where(truth[rows] == pair[0], pair[1], pair[0])
        place = np.arange(len(rows))

        def lead(changed: Floats) -> Floats:
            scores = self._decode(changed)
            return scores[place, own] - scores[place, other]

        full = lead(outputs)
        contributions = np.zeros_like(outputs)
        in_pair = np.isin(getattr(self, "row_classes_", np.arange(len(self.code_matrix_))), pair)
        for column in np.flatnonzero(self.code_matrix_[in_pair].any(axis=0)):
            changed = outputs.copy()
            changed[:, column] = 0.0
            contributions[:, column] = full - lead(changed)
        # The mean over both classes: a column that always favours the same class contributes nothing.
        mean = np.mean([contributions[own == c].mean(axis=0) for c in np.unique(own)], axis=0)
        mean[np.abs(mean) < 1e-9 * np.abs(mean).max()] = 0.0  # from breaking ties
        share = mean / (np.abs(mean).sum() or 1.0)
        best = [int(column) for column in np.argsort(-np.abs(share), kind="stable")[:n_columns] if share[column] != 0]
        correct = (contributions > 0).mean(axis=0)
        return tuple(DecidingColumn(q, str(names[q]), float(share[q]), float(correct[q])) for q in best)

    def pair_importances(
        self,
        X: Any,
        y: ArrayLike,
        *,
        pairs: int | Sequence[tuple[Any, Any]] = 10,
        n_repeats: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> PairImportances:
        """Measure by permutation which features separate pairs of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples, preferably not the training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        pairs : int or list of (label, label), default=10
            Number of pairs to report, those that are hardest to separate first, or a list of pairs.
        n_repeats : int, default=5
            Number of times each feature is shuffled.
        random_state : int, RandomState instance or None, default=None
            Seeds the shuffles.

        Returns
        -------
        PairImportances
            A list of pairs, the hardest first, or in the given order. Each has the labels `first` and `second`;
            `separated`, the share of their samples that score higher for their own class; and `importances_mean` and
            `importances_std` of shape (n_features,), the mean and standard deviation of the decrease of `separated`
            when a feature is shuffled. It prints as text; `to_frame` returns a pandas DataFrame.

        See Also
        --------
        sklearn.inspection.permutation_importance : Permutation importance for a score over all classes.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skecoc import ECOCClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = ECOCClassifier().fit(X[::2], y[::2])
        >>> found = model.pair_importances(X[1::2], y[1::2], pairs=[(1, 2)], random_state=0)
        >>> found.feature_names[found[0].importances_mean.argmax()]
        'petal width (cm)'
        """
        check_is_fitted(self)
        check_count(n_repeats, "n_repeats", 1)
        truth = self._class_indices(X, y)
        checked = self._check_rows(X, reset=False)

        def score(samples: Any) -> Floats:
            return self._from_scores(samples, lambda scores: scores)

        correct = count_correct(score(checked), truth)
        n_rows = np.bincount(truth, minlength=len(self.classes_))
        total = n_rows[:, None] + n_rows
        separated = (correct + correct.T) / np.maximum(total, 1)
        chosen = self._chosen_pairs(pairs, separated, (total > 0) & np.triu(np.ones(total.shape, dtype=bool), k=1))
        first, second = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
        kept = np.empty((checked.shape[1], n_repeats, len(chosen)))
        groups = [np.array([feature]) for feature in range(checked.shape[1])]
        random = check_random_state(random_state)
        for number, scores in enumerate(shuffled_scores(score, checked, groups, n_repeats, random)):
            counts = count_correct(scores, truth)
            kept[divmod(number, n_repeats)] = counts[first, second] + counts[second, first]
        drops = separated[first, second] - kept / np.maximum(total[first, second], 1)
        names = getattr(self, "feature_names_in_", [f"x{feature}" for feature in range(checked.shape[1])])
        labels = self.classes_.tolist()
        found = [
            PairImportance(labels[i], labels[j], float(separated[i, j]), *summary)
            for i, j, summary in zip(first, second, zip(drops.mean(1).T, drops.std(1).T, strict=True), strict=True)
        ]
        return PairImportances(found, [str(name) for name in names])

    def _class_indices(self, X: Any, y: Any) -> Integers:
        """Return the class indices of labels, of which there is one per sample."""
        refuse_data(self, y=y)
        labels = _check_y(y, estimator=self)
        if len(labels) != _num_samples(X):
            raise ValueError(f"X and y must have the same number of samples; got {_num_samples(X)} and {len(labels)}")
        return class_indices(labels, self.classes_)

    def _chosen_pairs(self, pairs: Any, cost: Floats, is_shown: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Return pairs of class indices: those that are given, or the ones of lowest cost among those to show."""
        if isinstance(pairs, str) or not np.iterable(pairs):
            first, second = np.nonzero(is_shown)
            order = np.argsort(cost[first, second], kind="stable")
            cheapest = islice(order, check_count(pairs, "pairs", 1))
            return [(int(first[k]), int(second[k])) for k in cheapest]
        index = {label: number for number, label in enumerate(self.classes_.tolist())}
        chosen = []
        for pair in pairs:
            labels = list(pair) if np.iterable(pair) and not isinstance(pair, str) else [pair]
            if len(labels) != 2 or labels[0] == labels[1]:
                raise ValueError(f"pairs must be a number or a list of pairs of two different labels, got {pair!r}")
            for label in labels:
                if label not in index:
                    hint = did_you_mean(label, map(str, index)) if isinstance(label, str) else ""
                    raise ValueError(f"pairs: {label!r} is not a class{hint}")
            chosen.append((index[labels[0]], index[labels[1]]))
        return chosen


def row_names(model: Any) -> list[str]:
    """Name the rows of a fitted classifier's matrix by classes, with a number where a class has several rows."""
    classes = [str(label) for label in model.classes_.tolist()]
    rows = getattr(model, "row_classes_", None)
    if rows is None:
        return classes
    n_rows, first = np.bincount(rows), np.searchsorted(rows, np.arange(len(classes)))
    return [
        classes[c] if n_rows[c] == 1 else f"{classes[c]} ({row - first[c] + 1})" for row, c in enumerate(rows.tolist())
    ]


def count_correct(scores: Floats, y: Integers) -> Floats:
    """Count the samples of each class that score higher for it than for each other class: of shape (P, P)."""
    members = np.eye(scores.shape[1])[y]
    own = scores[np.arange(len(y)), y]
    return members.T @ (own[:, None] > scores)


def shuffled_scores(
    score: Callable[[Any], Floats],
    X: Any,
    groups: Sequence[NDArray[Any]],
    n_repeats: int,
    random_state: np.random.RandomState,
) -> Iterator[Floats]:
    """Yield the scores of samples with the features of one group after another shuffled, each group several times."""
    samples = X.tocsc() if issparse(X) else X  # once for all
    changed = (shuffled(samples, group, random_state) for group in groups for _ in range(n_repeats))
    at_once = max(1, _ROWS_AT_ONCE // _num_samples(X)) if isinstance(X, np.ndarray) or issparse(X) else 1
    while batch := list(islice(changed, at_once)):
        together = batch[0]
        if len(batch) > 1:
            together = vstack(batch, format="csr") if issparse(X) else np.concatenate(batch)
        yield from np.split(score(together), len(batch))


def shuffled(X: Any, features: NDArray[Any], random_state: np.random.RandomState) -> Any:
    """Return samples with some features, given by their numbers, shuffled together."""
    order = random_state.permutation(_num_samples(X))
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, features] = X[np.ix_(order, features)]
        return changed
    if issparse(X):
        changed, place = X.tocsc(copy=True), np.argsort(order)
        for feature in features:
            own = changed.indices[changed.indptr[feature] : changed.indptr[feature + 1]]
            own[:] = place[own]
        changed.has_sorted_indices = False
        return changed.tocsr()
    moved = _safe_indexing(X, order)
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns([moved[:, int(feature)] for feature in features])
    changed = X.copy()
    for feature in features:
        changed.isetitem(int(feature), moved.iloc[:, int(feature)].set_axis(X.index))
    return changed
