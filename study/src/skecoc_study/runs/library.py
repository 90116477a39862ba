"""Three codes as the paper's reference library makes them, where they differ from the published methods.

They follow version 1.0 of the ECOC library, with its default parameters, from a public copy of its source. Its errors
are followed as well, because the paper's Table II may depend on them. Only codes are made here: the decoders, the order
of ties and the learners are those of scikit-ecoc.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from skecoc import ECOCClassifier
from skecoc.classifiers import GrowthRound
from skecoc.coding import CodeMatrix, one_vs_rest
from skecoc.learners import StumpAdaBoostClassifier

__all__ = ["LibraryECOCOne", "histogram_distance", "library_decoc", "library_random", "select_draw"]

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# The library's defaults.
_N_BINS = 11
_N_MOVES = 5  # `iterations_sffs` and `steps_sffs`
_N_COLUMNS, _N_DRAWS, _ZERO_SHARE = 10, 3000, 0.5  # `columns`, `iterations`, `zero_prob`
_MOST_ADDED = 5  # `iterations_one`
_HELD_OUT = 0.15  # `validation`
_HELD_OUT_WEIGHT = 0.5  # `w_validation`
_LEAST_SCORE = 0.05  # `epsilon`

# A search that leaves a column with one side is repeated this often.
_N_SEARCHES = 20
_NEAR = 1e-9


def histogram_distance(first: Floats, second: Floats) -> float:
    """Sum the Euclidean distances of the histograms of two groups of samples over the features.

    This is what the library minimises in place of maximising mutual information. Features are scaled to [0, 1] on both
    groups and counted around 0, 0.1, ..., 1; a value between two bins is in the lower one, and NaN in none. A feature
    that is constant on both groups makes the distance NaN, as in the library: NaN is never smaller, so nothing moves.

    >>> round(histogram_distance(np.array([[0.0], [1.0]]), np.array([[0.0], [0.52]])), 3)
    0.707
    """
    both = np.concatenate([first, second])
    low, high = np.fmin.reduce(both), np.fmax.reduce(both)
    if not (high > low).all():
        return np.nan
    n_features = both.shape[1]
    bins = np.ceil((both - low) / (high - low) * (_N_BINS - 1) - 0.5 - _NEAR) + _N_BINS * np.arange(n_features)
    shares = []
    for part in (bins[: len(first)], bins[len(first) :]):
        known = part[~np.isnan(part)].astype(np.intp)
        counts = np.bincount(known, minlength=_N_BINS * n_features).reshape(n_features, _N_BINS)
        if not counts.any(axis=1).all():
            return np.nan
        shares.append(counts / counts.sum(axis=1, keepdims=True))
    return float(np.linalg.norm(shares[0] - shares[1], axis=1).sum())


def _distance(rows: Sequence[Floats], first: Sequence[int], second: Sequence[int]) -> float:
    """Histogram distance of two lists of classes; a class that is listed twice counts twice."""
    return histogram_distance(*(np.concatenate([rows[label] for label in side]) for side in (first, second)))


def library_decoc(X: Any, y: Integers, seed: int) -> CodeMatrix:
    """Make the library's DECOC: a tree of bipartitions.

    A node starts from its first and its second half of the classes, in their order. Five times, in turn from the first
    and the second side, a random class changes sides if that makes the histogram distance smaller than it was *at the
    start*. DECOC as published searches the bipartition with the largest mutual information between classes and data.
    """
    X, n_classes = np.asarray(X, dtype=np.float64), int(y.max()) + 1
    rows = [X[y == label] for label in range(n_classes)]
    return np.column_stack([*_tree_columns(rows, [*range(n_classes)], check_random_state(seed))])


def _tree_columns(rows: Sequence[Floats], node: list[int], rng: np.random.RandomState) -> Iterator[CodeMatrix]:
    half = (len(node) + 1) // 2
    sides = [node[:half], node[half:]]
    distance = _distance(rows, *sides) if len(node) > 2 else np.nan
    for move in range(_N_MOVES if len(node) > 2 else 0):
        source, target = sides[move % 2], sides[1 - move % 2]
        if len(source) > 1:
            k = rng.randint(len(source))
            if _distance(rows, source[:k] + source[k + 1 :], [*target, source[k]]) < distance:
                target.append(source.pop(k))
    yield _column(len(rows), sides)
    for side in sides:
        if len(side) > 1:
            yield from _tree_columns(rows, side, rng)


def _column(n_classes: int, sides: Sequence[Sequence[int]]) -> CodeMatrix:
    """Give the first side +1 and then the second one -1, which prevails."""
    column = np.zeros(n_classes, dtype=np.int8)
    column[list(sides[0])] = 1
    column[list(sides[1])] = -1
    return column


def library_random(X: Any, y: Integers, seed: int) -> CodeMatrix:  # noqa: ARG001
    """Make the library's sparse random code: 10 columns, chosen out of 3000 draws as `select_draw` does.

    An entry is to be zero with probability 0.5, but then it keeps its value *of the draw before*, so that after a few
    draws hardly any zero is left. Draws with a column that lacks a side do not count, but pass on their entries. As
    published, every draw is independent, and the one with the most distant rows is selected.
    """
    n_classes = int(y.max()) + 1
    return select_draw(_draws(n_classes, check_random_state(seed)), n_classes)


def _draws(n_classes: int, rng: np.random.RandomState) -> Iterator[CodeMatrix]:
    matrix = np.zeros((n_classes, _N_COLUMNS), dtype=np.int8)
    n_draws = 0
    while n_draws < _N_DRAWS:
        drawn = rng.random_sample(matrix.shape)
        signs = np.where(drawn > _ZERO_SHARE + (1.0 - _ZERO_SHARE) / 2, 1, -1)
        matrix = np.where(drawn > _ZERO_SHARE, signs, matrix).astype(np.int8)
        if (matrix.max(axis=0) == 1).all() and (matrix.min(axis=0) == -1).all():
            n_draws += 1
            yield matrix


def select_draw(draws: Iterable[CodeMatrix], n_classes: int) -> CodeMatrix:
    """Select a draw as the library does: the last one whose closest rows are farther apart than a threshold.

    Rows are as far apart as the number of columns that have them on different sides. The threshold is 0 at first. Then,
    by mistake, it is the distance between the *last two* rows of the draw selected before, not between its closest
    rows: mostly so large that no later draw is selected. Selected codes are always valid.
    """
    selected, threshold = None, 0
    first, second = np.triu_indices(n_classes, 1)
    for matrix in draws:
        signs = matrix.astype(np.int64)
        distances = ((np.abs(signs) @ np.abs(signs).T - signs @ signs.T) // 2)[first, second]
        if distances.min() > threshold:
            selected, threshold = matrix, distances[-1]
        # No code has closest rows that are farther apart than the rows of balanced columns are on average.
        if threshold >= matrix.shape[1] * (n_classes // 2) * ((n_classes + 1) // 2) // len(first):
            break
    if selected is None:
        raise ValueError(f"no draw of the library's random code has {n_classes} rows that differ")
    return selected


class LibraryECOCOne(ECOCClassifier):
    """The library's ECOC-ONE: one-vs-rest and up to five columns, each for the most confused pair of classes.

    The last 15 % of each class are held out. The pair is the one that is confused most often, in sums of counts of
    training and held-out samples; it may be the same again. Further classes join by a random search for a small
    histogram distance (`_searched_column`), while the published search minimises the error. Growth goes on while the
    mean accuracy, times a half, *does not rise*: what the library calls the error is the accuracy. There are no weights
    of columns. The search uses labels and decodes as the library does: one loss weight per column, ties to the last
    class. The final learners are trained on all samples, and decoded by scikit-ecoc with `response_method`.

    It follows the library except where that fails: one sample of each class at least is for training; if classes are no
    longer confused, it searches a column for the first class alone, and repeats this if one side remains empty.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        decoding: Any = "hamming",
        response_method: str = "predict",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            coding="one-vs-rest",
            decoding=decoding,
            response_method=response_method,
            random_state=random_state,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LibraryECOCOne":
        """Grow the code and train its learners; weights of samples are for these alone."""
        if self.decoding not in {"hamming", "loss-based", "loss-weighted"}:
            raise ValueError(f"decoding must be 'hamming', 'loss-based' or 'loss-weighted', got {self.decoding!r}")
        self.coding = self._grown
        super().fit(X, y, sample_weight=sample_weight)
        self.used_columns_ = np.arange(self.code_matrix_.shape[1])
        return self

    def _grown(self, X: Any, y: Integers) -> CodeMatrix:
        """Grow the code; `y` are class indices."""
        rng = check_random_state(self.random_state)
        X, n_classes = np.asarray(X, dtype=np.float64), int(y.max()) + 1
        train, held_out = library_split(y)
        rows = [X[train[y[train] == label]] for label in range(n_classes)]
        matrix = one_vs_rest(n_classes)
        outputs = [self._labels(X, y, train, column, rng) for column in matrix.T]
        self.history_: list[GrowthRound] = []
        previous = 1.0
        while True:
            decoded = self._decoded(matrix, np.column_stack(outputs), y, train)
            confusions = [confusion_counts(y[part], decoded[part], n_classes) for part in (held_out, train)]
            accuracies = [np.trace(counts) / counts.sum() if counts.any() else np.nan for counts in confusions]
            # The bracket is the library's: the second accuracy has no weight of its own.
            score = (accuracies[0] * _HELD_OUT_WEIGHT + accuracies[1]) * (1.0 - _HELD_OUT_WEIGHT)
            column, pair = None, (0, 0)
            if _LEAST_SCORE < score <= previous and len(self.history_) < _MOST_ADDED:
                pair = most_confused(confusions[0] * _HELD_OUT_WEIGHT + confusions[1] * (1.0 - _HELD_OUT_WEIGHT))
                tries = (_searched_column(rows, pair, matrix, rng) for _ in range(_N_SEARCHES))
                column = next((tried for tried in tries if tried.max() == 1 and tried.min() == -1), None)
            pairs = [] if column is None else [pair]
            self.history_.append(_record(matrix.shape[1], accuracies, pairs))
            if column is None:
                return matrix
            previous = score
            matrix = np.column_stack([matrix, column])
            outputs.append(self._labels(X, y, train, column, rng))

    def _labels(
        self, X: Floats, y: Integers, train: Integers, column: CodeMatrix, rng: np.random.RandomState
    ) -> Floats:
        """Train a column on its training samples and return its labels of all samples."""
        learner: Any = StumpAdaBoostClassifier(n_estimators=40) if self.estimator is None else clone(self.estimator)
        seeds = [name for name in learner.get_params() if name.rpartition("__")[2] == "random_state"]
        learner.set_params(**{name: rng.randint(2**31 - 1) for name in sorted(seeds)})
        taken = train[column[y[train]] != 0]
        labels: Floats = learner.fit(X[taken], column[y[taken]]).predict(X).astype(np.float64)
        return labels

    def _decoded(self, matrix: CodeMatrix, outputs: Floats, y: Integers, train: Integers) -> Integers:
        """Decode labels as the library does; of equal distances, the last class is taken."""
        if self.decoding == "hamming":
            distances = np.abs(outputs[:, np.newaxis] - matrix).sum(axis=2) / 2.0
        else:
            weights = np.abs(matrix).astype(np.float64)
            if self.decoding == "loss-weighted":
                sides = matrix[y[train]]
                weights *= ((outputs[train] == sides) & (sides != 0)).sum(axis=0) / (sides != 0).sum(axis=0)
                weights /= weights.sum(axis=1, keepdims=True)
            distances = -outputs @ (weights * matrix).T
        decoded: Integers = len(matrix) - 1 - np.round(distances[:, ::-1], 9).argmin(axis=1)
        return decoded


def library_split(y: Integers) -> tuple[Integers, Integers]:
    """Split samples into the first 85 % of each class and the rest, as the library does.

    Where the rest of a class is longer than the training part of the next one, it is partly overwritten.
    """
    train: list[int] = []
    held_out = np.full(2 * len(y), -1, dtype=np.intp)
    for label in range(int(y.max()) + 1):
        members = np.flatnonzero(y == label)
        amount = max(1, int(np.floor(len(members) * (1.0 - _HELD_OUT))))
        train += members[:amount].tolist()
        held_out[len(train) : len(train) + len(members) - amount] = members[amount:]
    return np.array(train, dtype=np.intp), held_out[held_out >= 0]


def confusion_counts(y: Integers, decoded: Integers, n_classes: int) -> Floats:
    """Count samples by their class and the one they are decoded as."""
    counts = np.bincount(y * n_classes + decoded, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes).astype(np.float64)


def most_confused(confusion: Floats) -> tuple[int, int]:
    """Return the pair of classes confused most often, of equal ones the first; (0, 0) if none is, as in the library."""
    both = np.triu(confusion + confusion.T, 1)
    first, second = np.unravel_index(both.argmax(), both.shape)
    return int(first), int(second)


def _searched_column(
    rows: Sequence[Floats], pair: tuple[int, int], matrix: CodeMatrix, rng: np.random.RandomState
) -> CodeMatrix:
    """Separate a pair of classes, which random other classes join while the histogram distance does not grow.

    Five rounds of five moves include and exclude classes in turn, in both for the first and the second side in turn.
    Errors of the library: a class of the second side may join again; if one joins the second side, the samples of that
    side become those of the *first* one; whether a column is new is asked without the pair, so that nearly all are.
    """
    n_classes = len(matrix)
    sides: list[list[int]] = [[], []]
    samples = [[pair[0]], [pair[1]]]  # classes whose samples are compared
    least = np.inf
    for number in range(_N_MOVES):
        including = number % 2 == 0
        free = [label for label in range(n_classes) if label not in pair and label not in sides[0]]
        for move in range(_N_MOVES):
            side = move % 2
            source = free if including else sides[side]
            if not source:
                continue
            k = rng.randint(len(source))
            changed, compared = [list(part) for part in sides], [list(part) for part in samples]
            if including:
                changed[side].append(source[k])
                compared[side].append(source[k])
            else:
                changed[side].pop(k)
                compared[side] = [label for label in compared[side] if label != source[k]]
            distance = _distance(rows, *compared)
            if not (distance < least or (distance == least and (including or side == 1))):
                continue
            is_new = not (matrix == _column(n_classes, changed)[:, np.newaxis]).all(axis=0).any()
            if including or is_new:
                least = distance
            if is_new:
                sides = changed
                if including:
                    samples[0] = compared[side]
                    free.pop(k)
                else:
                    samples = compared
    column = _column(n_classes, sides)
    column[pair[0]] = 1
    column[pair[1]] = -1
    return column


def _record(n_columns: int, accuracies: Sequence[float], pairs: list[tuple[int, int]]) -> GrowthRound:
    held_out, train = accuracies
    return GrowthRound(
        n_columns=n_columns,
        loss=1.0 - (held_out + train) / 2.0,
        **dict.fromkeys(("objective", "hinge", "risk", "gap"), np.nan),
        accuracy=train,
        out_of_fold_accuracy=held_out,
        pairs=pairs,
        pair_losses=[],
        n_clustered=0,
        seconds={},
    )
