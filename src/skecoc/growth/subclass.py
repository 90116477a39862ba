"""Subclass-ECOC: a tree of bipartitions in which a class that is hard to separate is split into subclasses."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from skecoc.coding.discriminant import trees_from_histograms
from skecoc.coding.histograms import class_histograms
from skecoc.coding.matrix import CodeMatrix
from skecoc.growth.training import ColumnTrainer, Question
from skecoc.learners.regions import nearest_centre, weak_kmeans

Integers = NDArray[np.intp]
Floats = NDArray[np.float64]

# A part with less weight than this has no rows.
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class SplitThresholds:
    """The three thresholds of Subclass-ECOC.

    Attributes
    ----------
    max_error : float
        A bipartition whose error is at most this is good enough.
    min_rows : float
        Smallest weight of rows that a subclass may have.
    min_improvement : float
        Share of the error that a split must take away.
    """

    max_error: float
    min_rows: float
    min_improvement: float


class SubclassCode(NamedTuple):
    """The outcome: which subclass each row of X belongs to, the class of each, and the tree over them.

    Attributes
    ----------
    subclass : ndarray of int of shape (n_samples,)
        Row of the matrix that each training row belongs to.
    row_classes : ndarray of int of shape (n_rows,)
        Class of each row of the matrix.
    matrix : ndarray of int8 of shape (n_rows, n_columns)
        The code matrix.
    """

    subclass: Integers
    row_classes: Integers
    matrix: CodeMatrix


class SubclassTree:
    """Grows the tree: bipartitions by mutual information, classes split where a bipartition fails.

    Parameters
    ----------
    trainer : ColumnTrainer
        Trains and answers trial columns; its `y` holds class indices.
    numbers : ndarray of shape (n_samples, n_features)
        The rows as numbers, for the clustering.
    weight : ndarray of shape (n_samples,)
        Positive weights of the rows.
    thresholds : SplitThresholds
        When a class is split.
    random_state : RandomState instance
        Seeds the clusterings.
    """

    def __init__(
        self,
        trainer: ColumnTrainer,
        numbers: Any,
        weight: Floats,
        thresholds: SplitThresholds,
        random_state: RandomState,
    ) -> None:
        self.trainer, self.numbers, self.weight = trainer, numbers, weight
        self.thresholds, self.random_state = thresholds, random_state
        self.subclass: Integers = trainer.y.copy()
        self.row_classes: list[int] = list(range(int(trainer.y.max()) + 1))
        self._codes: list[dict[int, int]] = [{} for _ in self.row_classes]  # of each subclass: column -> side

    def grow(self) -> SubclassCode:
        """Split nodes from the root down until every leaf holds one class."""
        n_columns = 0
        open_nodes = [list(range(len(self.row_classes)))]
        while open_nodes:
            node = open_nodes.pop()
            if len({self.row_classes[row] for row in node}) == 1:
                continue
            node, sides = self._solve(node)
            for row, side in zip(node, sides.tolist(), strict=True):
                self._codes[row][n_columns] = side
            n_columns += 1
            open_nodes += [[row for row, at in zip(node, sides, strict=True) if at == side] for side in (-1, 1)]
        return self._assemble(n_columns)

    def _solve(self, node: list[int]) -> tuple[list[int], NDArray[np.int8]]:
        """Find the bipartition of a node, splitting its classes while that pays."""
        sides = self._bipartition(node, self.subclass)
        error = self._error(node, sides, self.subclass)
        while error > self.thresholds.max_error:
            trials = [trial for row in node if (trial := self._try_split(node, sides, row)) is not None]
            if not trials:
                break
            least, members, wider, trial_sides = min(trials, key=lambda trial: trial[0])
            if error - least <= self.thresholds.min_improvement * error:
                break
            parent = int(self.subclass[members[0]])
            self.subclass[members] = len(self.row_classes)
            self.row_classes.append(self.row_classes[parent])
            self._codes.append(dict(self._codes[parent]))  # columns above this node answer for both parts alike
            node, sides, error = wider, trial_sides, least
        return node, sides

    def _try_split(
        self, node: list[int], sides: NDArray[np.int8], row: int
    ) -> tuple[float, Integers, list[int], NDArray[np.int8]] | None:
        """Split one subclass in two by k-means: the error then, the rows that leave, the node and its sides.

        The sides are those of the best bipartition, or the old ones with one of the two parts on the other side,
        whichever errs least: information does not know what the learner can separate.
        """
        members = np.flatnonzero(self.subclass == row)
        centres = weak_kmeans(self.numbers[members], 2, self.random_state, weight=self.weight[members])
        leaves = members[nearest_centre(self.numbers[members], centres) == 1]
        leaving = self.weight[leaves].sum()
        if min(leaving, self.weight[members].sum() - leaving) < max(self.thresholds.min_rows, _LEAST_WEIGHT):
            return None
        trial = self.subclass.copy()
        trial[leaves] = len(self.row_classes)
        wider = [*node, len(self.row_classes)]
        own_side = sides[node.index(row)]
        first_moved, second_moved = np.append(sides, own_side), np.append(sides, -own_side)
        first_moved[node.index(row)] = -own_side
        candidates = [self._bipartition(wider, trial), first_moved, second_moved]
        tried = [(self._error(wider, option, trial), option) for option in candidates if abs(option.sum()) < len(wider)]
        error, best = min(tried, key=lambda pair: pair[0])
        return error, leaves, wider, best

    def _bipartition(self, node: list[int], subclass: Integers) -> NDArray[np.int8]:
        """Find the sides of the most informative bipartition of a node, as DECOC does."""
        rows = np.flatnonzero(np.isin(subclass, node))
        histograms = class_histograms(self.numbers[rows], subclass[rows], sample_weight=self.weight[rows])
        order = np.argsort(node)
        sides = np.empty(len(node), dtype=np.int8)
        sides[order] = trees_from_histograms(histograms, 1)[:, 0]  # its first column splits the whole node
        return sides

    def _error(self, node: list[int], sides: NDArray[np.int8], subclass: Integers) -> float:
        """Honest error of the learner of a bipartition."""
        pattern = np.zeros(int(subclass.max()) + 1, dtype=np.int8)
        pattern[node] = sides
        answers = self.trainer.relabelled(subclass).train([Question(pattern)]).honest[:, 0]
        truth = pattern[subclass]
        asked = truth != 0
        wrong = np.where(answers[asked] > 0, 1, -1) != truth[asked]
        return float(np.average(wrong, weights=self.weight[asked]))

    def _assemble(self, n_columns: int) -> SubclassCode:
        """Make the matrix; subclasses of one class that no column separates become one row."""
        matrix = np.zeros((len(self._codes), n_columns), dtype=np.int8)
        for row, code in enumerate(self._codes):
            matrix[row, list(code)] = list(code.values())
        merged, number = np.unique(np.column_stack([self.row_classes, matrix]), axis=0, return_inverse=True)
        return SubclassCode(number[self.subclass], merged[:, 0].astype(np.intp), merged[:, 1:].astype(np.int8))
