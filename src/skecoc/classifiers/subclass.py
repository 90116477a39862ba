"""Subclass-ECOC: a tree of bipartitions that splits classes into subclasses where they are hard to separate."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.classifiers.base import BaseCodeClassifier, Start, TrainingData
from skecoc.classifiers.growth import (
    Calibration,
    Evaluation,
    GrowingCode,
    Growth,
    StopRules,
    Strategy,
    fit_decoder,
)
from skecoc.coding.discriminant import best_bipartition, class_histograms, most_separating
from skecoc.coding.matrix import CodeMatrix
from skecoc.data.codes import rounded
from skecoc.data.samples import ArraySamples
from skecoc.learners.binary import imputed, number_columns, numbers_of
from skecoc.learners.columns import HELD_OUT, SEEN, Column, ColumnSeeds, ColumnTrainer, Floats, Integers
from skecoc.learners.mixed import MixedTrainer, is_several
from skecoc.learners.regions import nearest_centre, weak_kmeans
from skecoc.support.weights import ClassWeight

# Weights up to this count as zero.
_LEAST_WEIGHT = 1e-12
# K-means with two centres: number of starts, the best of which is kept, and of steps.
_N_STARTS = 8
_N_STEPS = 50
# Folds and clusterings depend on the samples alone, so that random_state does not decide which classes are split.
_SEED = 0
# Largest number of features that bipartitions are searched with.
_MOST_FEATURES = 1000


@dataclass(frozen=True)
class SplitThresholds:
    """The three thresholds of Subclass-ECOC."""

    max_error: float  # a bipartition whose error is at most this is good enough
    min_weight: float  # smallest weight of samples that a subclass may have
    min_improvement: float  # share of the error that a split must take away


class SubclassCode(NamedTuple):
    """The outcome: subclasses and the tree over them."""

    subclass: Integers  # row of the matrix that each training sample belongs to
    row_classes: Integers  # class of each row of the matrix
    matrix: CodeMatrix


class _Bipartition(NamedTuple):
    """A node's two sides, and the errors of its learner."""

    node: list[int]
    sides: NDArray[np.int8]
    subclass: Integers  # of every sample
    costs: Floats  # of every sample: its contribution to the error

    @property
    def error(self) -> float:
        """The mean of the error rates of the two sides."""
        return float(self.costs.sum())


class SubclassTree:
    """Grows the tree: bipartitions by mutual information, classes split where a bipartition fails."""

    def __init__(
        self,
        trainer: ColumnTrainer | MixedTrainer,
        numbers: Floats | None,  # features that classes are split by; None: they are not split
        weight: Floats,
        thresholds: SplitThresholds,
        learner: str = "",
    ) -> None:
        """`learner` is the name of the one that errors are measured with, if there are several."""
        self.learner = learner
        self.trainer, self.weight = trainer, weight
        self.thresholds = thresholds
        self.subclass: Integers = trainer.y.copy()
        self.row_classes: list[int] = list(range(int(trainer.y.max()) + 1))
        self._codes: list[dict[int, int]] = [{} for _ in self.row_classes]  # of each subclass: column -> side
        self._scaled = None if numbers is None else _standardise(numbers, weight)
        self._for_bipartitions = trainer.X
        if numbers is not None and self._scaled is not None and numbers.shape[1] > _MOST_FEATURES:
            self._for_bipartitions = numbers[:, most_separating(self._scaled, trainer.y, weight, _MOST_FEATURES)]
        self._cuts: dict[int, Integers | None] = {}  # of each subclass: the samples that a split takes out

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
        """Find the bipartition of a node, and split its classes while that lowers the error enough."""
        now = self._try(node, self._best_sides(node, self.subclass), self.subclass)
        while now.error > self.thresholds.max_error:
            trials = [trial for row in now.node if (trial := self._try_split(now, row)) is not None]
            if not trials:
                break
            best = min(trials, key=lambda trial: trial.error)
            # The improvement must also exceed its standard error: of many splits, some look good by chance.
            standard_error = float(np.sqrt(((now.costs - best.costs) ** 2 / self.weight).sum()))
            if now.error - best.error <= max(self.thresholds.min_improvement * now.error, standard_error):
                break
            members = np.flatnonzero(best.subclass != self.subclass)
            parent = int(self.subclass[members[0]])
            self.row_classes.append(self.row_classes[parent])
            self._codes.append(dict(self._codes[parent]))  # columns above this node are the same for both parts
            del self._cuts[parent]
            self.subclass, now = best.subclass, best
        return now.node, now.sides

    def _try_split(self, now: _Bipartition, row: int) -> _Bipartition | None:
        """Split one subclass in two by k-means, if it can be split.

        Three bipartitions are compared by their errors: the most informative one, and the old one with either part on
        the other side. The most informative one need not be the one that the learner separates best.
        """
        if row not in self._cuts:
            self._cuts[row] = self._cut(np.flatnonzero(self.subclass == row))
        leaves = self._cuts[row]
        if leaves is None:
            return None
        trial = self.subclass.copy()
        trial[leaves] = len(self.row_classes)
        wider = [*now.node, len(self.row_classes)]
        place = now.node.index(row)
        first_moved, second_moved = np.append(now.sides, now.sides[place]), np.append(now.sides, -now.sides[place])
        first_moved[place] *= -1
        options = [self._best_sides(wider, trial), first_moved, second_moved]
        tried = [self._try(wider, sides, trial) for sides in options if abs(sides.sum()) < len(wider)]
        return min(tried, key=lambda option: option.error)

    def _cut(self, members: Integers) -> Integers | None:
        """Cut samples in two by k-means, and return those of one part; None if a part would be too small.

        Each part must have samples in at least two folds: otherwise a learner is evaluated on a part of which it has
        seen no sample.
        """
        if self._scaled is None:
            return None
        numbers, weight = self._scaled[members], self.weight[members]
        least, in_second = np.inf, np.zeros(len(members), dtype=np.bool_)
        starts = np.random.RandomState(_SEED)
        for _ in range(_N_STARTS):
            centres = weak_kmeans(numbers, 2, starts, weight=weight, max_iter=_N_STEPS)
            nearest = nearest_centre(numbers, centres)
            spread = float(((numbers - centres[nearest]) ** 2).sum(axis=1) @ weight)
            if spread < least * (1.0 - 1e-9):
                least, in_second = spread, nearest == 1
        for part in (members[in_second], members[~in_second]):
            if self.weight[part].sum() < max(self.thresholds.min_weight, _LEAST_WEIGHT):
                return None
            if self.trainer.folds is not None and len(np.unique(self.trainer.folds[part])) < 2:
                return None
        return members[in_second]

    def _best_sides(self, node: list[int], subclass: Integers) -> NDArray[np.int8]:
        """Find the sides of the most informative bipartition of a node, as DECOC does."""
        rows = np.flatnonzero(np.isin(subclass, node))
        X = _safe_indexing(self._for_bipartitions, rows)
        histograms = class_histograms(X, subclass[rows], sample_weight=self.weight[rows])
        sides = np.empty(len(node), dtype=np.int8)
        sides[np.argsort(node)] = best_bipartition(histograms)
        return sides

    def _try(self, node: list[int], sides: NDArray[np.int8], subclass: Integers) -> _Bipartition:
        """Train the learner of a bipartition, and measure its error out of fold.

        Both sides have the same weight: otherwise, the larger one side is, the lower would be the error of a learner
        that always predicts it.
        """
        pattern = np.zeros(int(subclass.max()) + 1, dtype=np.int8)
        pattern[node] = sides
        trainer = self.trainer.relabelled(subclass)
        columns = ColumnSeeds(trainer.root).seeded([Column(pattern, learner=self.learner)])
        outputs = trainer.outputs(columns, SEEN)[:, 0].copy()
        if trainer.folds is not None:
            outputs[trainer.folds >= 0] = trainer.outputs(columns, HELD_OUT)[:, 0]
        truth = pattern[subclass]
        mass = np.bincount(truth + 1, weights=self.weight, minlength=3)
        wrong = (np.where(outputs > 0, 1, -1) != truth) & (truth != 0)
        return _Bipartition(node, sides, subclass, np.where(wrong, self.weight / (2.0 * mass[truth + 1]), 0.0))

    def _assemble(self, n_columns: int) -> SubclassCode:
        """Make the matrix; subclasses of one class that no column separates become one row."""
        matrix = np.zeros((len(self._codes), n_columns), dtype=np.int8)
        for row, code in enumerate(self._codes):
            matrix[row, list(code)] = list(code.values())
        merged, number = np.unique(np.column_stack([self.row_classes, matrix]), axis=0, return_inverse=True)
        subclass = number.reshape(-1)[self.subclass]  # NumPy 2.0 returns a column
        return SubclassCode(subclass, merged[:, 0].astype(np.intp), merged[:, 1:].astype(np.int8))


@dataclass
class SubclassStrategy(Strategy):
    """Fit a decoder to the rows of the finished tree."""

    decoder: Any
    data: TrainingData

    def evaluate(self, code: GrowingCode) -> Evaluation:
        """Fit the decoder; nothing else is measured."""
        nothing = np.zeros((code.samples.n_classes,) * 2)
        return Evaluation(fit_decoder(self.decoder, code), np.nan, nothing, np.nan, np.nan)

    def calibration(self, code: GrowingCode, growth: Growth) -> Calibration:
        """Return codewords of held-out samples, and of those of classes that have none, with their classes."""
        del growth
        y, weight, folds = self.data.y, self.data.weight, code.samples.folds
        used = np.ones(len(y), dtype=np.bool_) if folds is None else (folds >= 0) | ~np.isin(y, y[folds >= 0])
        return Calibration(code.coded.out_of_fold[used], y[used], weight[used], folds is not None)


def _standardise(X: Floats, weight: Floats) -> Floats:
    """Divide every feature by its standard deviation, so that distances do not depend on units."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    return np.asarray(X / rounded(np.where(variance > 0, np.sqrt(variance), 1.0)))


class SubclassECOCClassifier(BaseCodeClassifier):
    """Subclass-ECOC: a tree of bipartitions that splits classes into subclasses where they are hard to separate.

    Each node of the tree separates its classes by the bipartition with the highest mutual information. If the error of
    the node's learner is too high, one of its classes is split in two by k-means (the class whose split lowers the
    error most), and a new bipartition of the node is found. A class can therefore have several rows in the code
    matrix; its score is the highest score of its rows.

    The error of a bipartition is the mean of the out-of-fold error rates on its two sides. A split is kept if it lowers
    the error by more than `min_improvement` and by more than the standard error of the difference, and if both parts
    have samples in at least two folds. Folds and clusterings do not depend on `random_state`.

    Missing values, sparse matrices and frames are passed to the learner unchanged. Classes are split by their numeric
    features, with missing values replaced by the mean of the feature. For sparse matrices, and frames without numeric
    features, classes are not split.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner; None means ``StumpAdaBoostClassifier(n_estimators=40)``. In a list of named learners, each
        learner is trained on all columns (a `MulticlassLearner` needs a single fit for this), and "drop" instead of a
        classifier omits a learner. "mixed" means the learners of `skecoc.learners.mixed_learners`. The first learner is
        used to grow the tree.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or a decoder from `skecoc.decoding`.
        "auto" is ``"logistic-weight"``.
    max_error : float, default=0.02
        Performance threshold: the classes of a bipartition are split only if its error is above this.
    min_size : float, default=0.05
        Size threshold: minimum share of all samples that a subclass must have.
    min_improvement : float, default=0.05
        Improvement threshold: fraction by which splitting a class must reduce the error.
    n_folds : int, default=3
        Number of folds of the out-of-fold outputs that errors are measured on. None measures the errors on the training
        samples of the learners.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Output of the learners that is used. "auto" is the first of these methods that the learner has.
    n_jobs : int, default=None
        Number of columns trained in parallel with joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes as ``{label: weight}``, multiplied with `sample_weight`. "balanced" gives all classes the
        same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    code_matrix_ : ndarray of int8 of shape (n_rows, n_columns)
        The code matrix, with one row per subclass.
    row_classes_ : ndarray of int of shape (n_rows,)
        Index of the class of each row of the matrix, in ascending order.
    estimators_ : list of length n_columns
        The trained learners.
    column_learners_ : ndarray of str of shape (n_columns,)
        Name of each column's learner.
    column_names_ : ndarray of str of shape (n_columns,)
        What each column separates, such as "A, B vs C".
    decoder_ : decoder
        The fitted decoder, which scores the rows of the matrix.
    decoding_ : str
        Its name, such as "logistic-weight"; "custom" for a decoder without a name.
    weights_ : ndarray of shape (n_rows, n_columns)
        The decoding weights; only for decodings with weights.
    temperature_ : float
        The temperature by which `predict_proba` divides scores.
    calibration_ : ndarray of shape (n_classes + 1, n_classes) or (2, n_classes), or None
        Coefficients and, in the last row, intercepts of the calibration.
    training_samples_ : dict of str to int
        Number of samples that each learner was trained on: all of them, or a sample of large described data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    See Also
    --------
    skecoc.coding.decoc : The tree without subclasses.

    Notes
    -----
    The paper measures errors on the training samples of a bipartition, regardless of the size of its sides, and uses
    ``"loss-weighted"`` decoding. Both favour splits that leave few samples on one side: a learner that always predicts
    the other side has a low error, and if a column fails to separate a row from a similar one, most of the row's
    weight is on columns that do not separate them either.

    For k-means, features are divided by their standard deviations. With more than 1,000 features, bipartitions are
    searched with the 1,000 features whose class means differ most relative to the variation within classes; the
    learners use all features.

    References
    ----------
    S. Escalera, D. M. J. Tax, O. Pujol, P. Radeva, R. P. W. Duin. Subclass problem-dependent design for
    error-correcting output codes. IEEE Transactions on Pattern Analysis and Machine Intelligence 30(6), 1041-1054,
    2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skecoc import SubclassECOCClassifier
    >>> X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.linspace(0, 1, 60)[:, None]
    >>> y = np.repeat(["outer", "inner", "outer"], 20)
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> model = SubclassECOCClassifier(stump, random_state=0).fit(X, y)
    >>> model.classes_[model.row_classes_]
    array(['inner', 'outer', 'outer'], dtype='<U5')
    >>> model.score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseCodeClassifier._parameter_constraints,
        "decoding": [str, HasMethods(["fit", "scores"])],
        "max_error": [Interval(Real, 0, 1, closed="left")],
        "min_size": [Interval(Real, 0, 1, closed="left")],
        "min_improvement": [Interval(Real, 0, 1, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        decoding: Any = "auto",
        max_error: float = 0.02,
        min_size: float = 0.05,
        min_improvement: float = 0.05,
        n_folds: int | None = 3,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.estimator = estimator
        self.decoding = decoding
        self.max_error = max_error
        self.min_size = min_size
        self.min_improvement = min_improvement
        self.n_folds = n_folds
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight

    _boosts_sums: ClassVar[bool] = False
    _default_decoding: ClassVar[str] = "logistic-weight"

    def _start(self, names: list[str], n_classes: int, n_samples: int, random_state: np.random.RandomState) -> Start:
        del names, n_classes, n_samples, random_state
        return Start([], [])  # the code follows from learners that are trained on the way

    def _folds(self, data: TrainingData, n_columns: int, X: Any, seed: int) -> tuple[Integers | None, bool]:
        del seed
        return super()._folds(data, n_columns, X, _SEED)

    def _strategy(self, data: TrainingData, start: Start) -> tuple[Strategy, StopRules]:
        del start
        return SubclassStrategy(self._decoder(), data), StopRules(0)

    def _first_code(
        self, samples: Any, trainer: Any, matrices: list[CodeMatrix], names: list[str], strategy: Strategy
    ) -> GrowingCode:
        """Grow the tree, and train its columns by all learners."""
        del matrices, strategy
        X, weight = trainer.X, samples.sample_weight
        names = [*trainer.trainers] if is_several(self.estimator) else [""]
        thresholds = SplitThresholds(self.max_error, self.min_size * weight.sum(), self.min_improvement)
        has_numbers = len(number_columns(X)) > 0
        numbers = imputed(numbers_of(X, ensure_all_finite=False), weight) if has_numbers else None
        grown = SubclassTree(trainer, numbers, weight, thresholds, learner=names[0]).grow()
        self.row_classes_ = grown.row_classes
        of_rows = ArraySamples(grown.subclass, weight, len(grown.matrix), samples.folds)
        code = GrowingCode(of_rows, trainer.relabelled(grown.subclass))
        code.start([grown.matrix] * len(names), names)
        return code
