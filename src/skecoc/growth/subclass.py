"""Subclass-ECOC: a tree of bipartitions in which a class that is hard to separate is split into subclasses."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval

from skecoc.classifiers.base import LARGEST_SEED, BaseCodeClassifier
from skecoc.coding.discriminant import class_histograms, trees_from_histograms
from skecoc.coding.matrix import CodeMatrix
from skecoc.growth.base import check_numeric, numeric_tags
from skecoc.growth.samples import GrowingCode, SamplesInMemory, fit_decoder
from skecoc.learners.columns import Column, ColumnTrainer, Floats, Integers, find_response
from skecoc.learners.folds import assign_folds
from skecoc.learners.mixed import MixedTrainer, is_several
from skecoc.learners.regions import nearest_centre, weak_kmeans

# A part with less weight than this has no rows.
_LEAST_WEIGHT = 1e-12


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


class SubclassTree:
    """Grows the tree: bipartitions by mutual information, classes split where a bipartition fails."""

    def __init__(
        self,
        trainer: ColumnTrainer | MixedTrainer,
        numbers: Any,
        weight: Floats,
        thresholds: SplitThresholds,
        random_state: RandomState,
        learner: str = "",
    ) -> None:
        """`learner` is the one whose errors decide, if there are several."""
        self.learner = learner
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
            self._codes.append(dict(self._codes[parent]))  # columns above this node are the same for both parts
            node, sides, error = wider, trial_sides, least
        return node, sides

    def _try_split(
        self, node: list[int], sides: NDArray[np.int8], row: int
    ) -> tuple[float, Integers, list[int], NDArray[np.int8]] | None:
        """Split one subclass in two by k-means: the error then, the samples that leave, the node and its sides.

        The sides are those of the best bipartition, or the old ones with one of the two parts on the other side,
        whichever errs least: information does not know what the learner can separate.
        """
        members = np.flatnonzero(self.subclass == row)
        centres = weak_kmeans(self.numbers[members], 2, self.random_state, weight=self.weight[members])
        leaves = members[nearest_centre(self.numbers[members], centres) == 1]
        leaving = self.weight[leaves].sum()
        if min(leaving, self.weight[members].sum() - leaving) < max(self.thresholds.min_weight, _LEAST_WEIGHT):
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
        """Return the out-of-fold error of the learner of a bipartition."""
        pattern = np.zeros(int(subclass.max()) + 1, dtype=np.int8)
        pattern[node] = sides
        outputs = self.trainer.relabelled(subclass).train([Column(pattern, learner=self.learner)]).out_of_fold[:, 0]
        truth = pattern[subclass]
        used = truth != 0
        wrong = np.where(outputs[used] > 0, 1, -1) != truth[used]
        return float(np.average(wrong, weights=self.weight[used]))

    def _assemble(self, n_columns: int) -> SubclassCode:
        """Make the matrix; subclasses of one class that no column separates become one row."""
        matrix = np.zeros((len(self._codes), n_columns), dtype=np.int8)
        for row, code in enumerate(self._codes):
            matrix[row, list(code)] = list(code.values())
        merged, number = np.unique(np.column_stack([self.row_classes, matrix]), axis=0, return_inverse=True)
        subclass = number.reshape(-1)[self.subclass]  # NumPy 2.0 returns a column
        return SubclassCode(subclass, merged[:, 0].astype(np.intp), merged[:, 1:].astype(np.int8))


class SubclassECOCClassifier(BaseCodeClassifier):
    """Tree of bipartitions that splits classes into subclasses where they are hard to separate: Subclass-ECOC.

    Each node of the tree is the bipartition of its classes with the highest mutual information. If the learner of a
    node errs too often, one of its classes is split in two by k-means, the one whose split lowers the error most, and
    the node is bipartitioned anew. So the code matrix may have several rows for a class; a class's score is the
    highest of its rows'.

    Parameters
    ----------
    estimator : classifier, list of (str, classifier) or "mixed", default=None
        The binary learner. None stands for ``StumpAdaBoostClassifier(n_estimators=40)``. Of several learners, each with
        a name, every one solves all columns, a `MulticlassLearner` by a single fit; "drop" in place of a classifier
        leaves it out. "mixed" stands for the learners of `skecoc.learners.mixed_learners`. The tree is grown by the
        first of them, and samples must be numbers.
    decoding : str or decoder, default="auto"
        A name such as ``"hamming"``, ``"loss-based"`` or ``"loss-weighted"``, or an object of `skecoc.decoding`. "auto"
        is ``"loss-weighted"`` for one learner and ``"logistic-weight"`` for several.
    max_error : float, default=0.02
        The performance threshold: a bipartition with an error of at most this is left as it is.
    min_size : float, default=0.05
        The size threshold: smallest share of all samples that a subclass may have.
    min_improvement : float, default=0.05
        The improvement threshold: share of the error that splitting a class must take away.
    n_folds : int, default=3
        Number of folds: errors are counted on out-of-fold outputs. None counts the errors of the learners on their own
        training samples.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which output of the learners is used: probabilities, margins or hard labels; "auto" takes the first of these
        that the learner has.
    n_jobs : int, default=None
        Number of columns trained at once, through joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seeds folds, clusterings and every ``random_state`` of the learner that is None.
    verbose : int, default=0
        Passed to joblib, which reports progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    code_matrix_ : ndarray of int8 of shape (n_rows, n_columns)
        The code matrix, with one row per subclass.
    row_classes_ : ndarray of int of shape (n_rows,)
        Index of the class of each row of the matrix, in ascending order.
    estimators_ : list of length n_columns
        The trained learners.
    column_learners_ : ndarray of str of shape (n_columns,)
        Whose each column is: the name of its learner.
    decoder_ : decoder
        The fitted decoding; it scores rows of the matrix.
    weights_ : ndarray of shape (n_rows, n_columns)
        The decoding's weights; only with decodings that have them.
    temperature_ : float
        The divisor of scores in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.

    See Also
    --------
    skecoc.coding.decoc : The tree without subclasses.

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
        decoding: Any = "auto",
        max_error: float = 0.02,
        min_size: float = 0.05,
        min_improvement: float = 0.05,
        n_folds: int | None = 3,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
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

    def _fit_code(self, X: Any, y: Integers, weight: Floats, fit_params: dict[str, Any]) -> None:
        if len(np.unique(y)) < len(self.classes_):
            raise ValueError("sample_weight must leave every class a sample of positive weight")
        random_state = check_random_state(self.random_state)
        root = int(random_state.randint(LARGEST_SEED))
        settings: dict[str, Any] = {}
        if not is_several(self.estimator):
            settings["response"] = find_response(self._learner(), self.response_method, X, y, root)
        folds = None if self.n_folds is None else assign_folds(X, y, self.n_folds, root)
        trainer = self._trainer(X, y, root, fit_params, folds, verbose=self.verbose, **settings)
        names = [*fit_params]
        thresholds = SplitThresholds(self.max_error, self.min_size * weight.sum(), self.min_improvement)
        numbers = np.asarray(X, dtype=np.float64)
        grown = SubclassTree(trainer, numbers, weight, thresholds, np.random.RandomState(root), learner=names[0]).grow()
        self.row_classes_ = grown.row_classes
        trainer = trainer.relabelled(grown.subclass)
        if not is_several(self.estimator):
            trainer.folds = None
        code = GrowingCode(SamplesInMemory(trainer, len(grown.matrix), weight))
        code.start([grown.matrix] * len(names), names)
        decoder = fit_decoder(self._decoder(), code)
        self._keep(
            code.matrix,
            code.learners,
            decoder,
            np.bincount(y, weights=weight) / weight.sum(),
            (code.arrays.out_of_fold, y, weight),
            response=code.samples.response,
            margin_scale=code.margin_scale,
            column_learners=code.column_learners,
        )

    @property
    def _row_classes(self) -> Integers:
        return self.row_classes_

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_numeric(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        return numeric_tags(super().__sklearn_tags__())

    @property
    def weights_(self) -> Floats:
        """Weights of the decoding, of shape (n_rows, n_columns)."""
        return self.decoder_.weights_
