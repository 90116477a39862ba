"""RBF support vector machine that searches penalty and kernel width as in the WOLC-ECOC paper.

Both are chosen by cross-validation over the distinct rows of a fit. A kernel object gives the margins of held-out rows
along a path of penalties, and the machine trained on all rows: `DenseRBF` holds its matrix and solves the dual itself;
`LibsvmRBF` leaves both to libsvm, whose cache bounds memory.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skecoc.data.codes import Floats, Integers, Names
from skecoc.learners.binary import MarginClassifier, check_labels, check_rows, set_features
from skecoc.learners.svm_dual import margins_on, solve_path, submatrix
from skecoc.support.weights import usable_weights

#: The paper's values of C, for SVM-perf.
PAPER_CS: Floats = np.exp2(np.arange(12.0, 19.0))

#: The paper's kernel widths, in multiples of the mean distance between training rows.
PAPER_WIDTHS: Floats = np.exp2(np.arange(-2.0, 3.0))

#: Rows whose distances to all others are held at once while these are summed or turned into margins.
BLOCK_ROWS = 512
#: Memory of a search in kernel matrices: the kernel, its part for one fold, and a quarter of that part to work on.
MATRICES_PER_SEARCH = 2.25
#: SVM-perf counts errors in percent, so its C is shared out as 100 C / n per row (n: number of rows).
PERCENT = 100.0
#: Accuracies that differ by no more than this are equally good: rounding of a mean over folds is far below.
TIE_TOLERANCE = 1e-9
#: Least slope of the sigmoid, relative to the margins' root mean square: probabilities keep the margins' order.
SMALLEST_SLOPE = 1e-3

Folds = list[tuple[Integers, Integers]]


@dataclass(frozen=True)
class SharedRows:
    """Checked rows that any number of fits share."""

    X: Floats
    identities: Integers  # equal for equal rows, and ascending in their lexicographic order
    squared_distances: Floats | None  # between all rows; None if they exceed the memory that was granted


@dataclass(frozen=True)
class _Prepared:
    """Rows that several fits share, and the C and kernel width chosen for all of them, if any."""

    shared: SharedRows
    feature_names: Names | None
    choice: tuple[float, float] | None

    def __sizeof__(self) -> int:
        distances = self.shared.squared_distances  # clusters send what is large only once
        return self.shared.X.nbytes + (0 if distances is None else distances.nbytes)


class TunedSVMClassifier(MarginClassifier):
    """Binary support vector machine with a Gaussian kernel, tuned by cross-validation.

    The kernel is ``exp(-||x - z||^2 / (2 width^2))``. By default C and the width are searched as in the WOLC-ECOC
    paper: C over ``2^12, 2^13, ..., 2^18`` in SVM-perf's units, the width over 1/4, 1/2, 1, 2 and 4 times the mean
    Euclidean distance between training samples. The values with the highest cross-validated accuracy are used; ties are
    broken by the smallest C, then by the largest width.

    Parameters
    ----------
    C : float or array-like of float, default=None
        Penalty, or penalties to search, in SVM-perf's units: with n training samples, it corresponds to ``SVC(C=100 * C
        / n)``. None means the values of the paper.
    width : float or array-like of float, default=None
        Kernel width, or widths to search, in multiples of the mean distance between training samples. None means the
        values of the paper. With a single C and width, cross-validation is only used for calibration.
    n_folds : int, default=3
        Number of stratified folds; at most the number of (distinct) samples of a class.
    search_rows : int, default=None
        Maximum number of (distinct) samples for search and calibration, at least 10, drawn stratified by class; the
        final model is trained on all samples. With a few hundred, a large fit is much faster. None uses all samples.
    tune : {"column", "ensemble"}, default="column"
        How C and width are searched if this is the learner of an output-code classifier; it has no effect otherwise.

        - "column": separately for each column.
        - "ensemble": once for all columns, by the cross-validated accuracy of one-vs-one votes over all classes,
          without sample weights. This is several times as fast for dense random codes, but not for one-vs-one,
          whose columns have few samples.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, as in :class:`sklearn.svm.SVC`.
    cache_size : float, default=2500
        Memory in MB; see Notes.
    random_state : int, RandomState instance or None, default=None
        Seeds the shuffling of samples before they are split into folds. Pass an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted. Positive values of `decision_function` mean ``classes_[1]``.
    n_classes_ : int
        Number of classes: 2.
    C_ : float
        The chosen C.
    width_ : float
        The chosen kernel width.
    gamma_ : float
        The kernel's `gamma` as in :class:`sklearn.svm.SVC`: ``1 / (2 * width_**2)``.
    mean_distance_ : float
        Mean distance between training samples.
    C_grid_ : ndarray of shape (n_Cs,)
        Values of C that were compared, ascending.
    width_grid_ : ndarray of shape (n_widths,)
        Kernel widths that were compared, descending.
    cv_scores_ : ndarray of shape (n_Cs, n_widths) or None
        Mean accuracy over the folds; None if a class has only one sample.
    support_vectors_ : ndarray of shape (n_support_vectors, n_features_in_)
        Training samples with a non-zero coefficient.
    dual_coef_ : ndarray of shape (1, n_support_vectors)
        Their coefficients, signed.
    intercept_ : ndarray of shape (1,)
        Constant term of the margin.
    slope_ : float
        Slope of the sigmoid that turns margins into probabilities.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the features; only if all feature names of `X` are strings.

    Notes
    -----
    **C.** SVM-perf [1]_, which the paper used, minimises ``||w||^2 / 2 + C * xi`` where `xi` bounds the training error
    *in percent*. This is the usual SVM with a penalty of ``100 * C / n``, where n is the number of samples of the whole
    fit, also in the folds. Unlike SVM-perf with a kernel, the machine has an intercept and the kernel is not
    approximated.

    **Duplicates and weights.** Equal samples of the same class are merged into one with their total weight, and only
    ratios of weights matter (mean distance and accuracy are weighted too). So repeating samples is equivalent to
    weighting them, duplicates are always in the same fold, and the order of samples does not matter.

    **Few samples.** If a class has only one distinct sample, the middle of the grid is used (C = 2^15, width = mean
    distance), and the sigmoid is fitted to training margins. If all samples are equal, the mean distance is set to 1.

    **Probabilities** are ``1 / (1 + exp(-slope_ * margin))``, with the slope fitted to the out-of-fold margins of the
    search with Platt's targets [2]_. There is no offset, so the predicted class is always the more probable one.

    **Time and memory.** The dual is solved by sequential minimal optimisation, as in libsvm, with Newton steps on the
    coefficients between their bounds. For each width, C increases and every solution starts from the previous one. A
    fit needs at most 2.25 kernel matrices of 8 bytes per pair of samples; the distances that the columns of a code
    share need one more matrix over all samples. If the kernel matrices exceed `cache_size`, libsvm solves the dual
    instead, without a matrix but much slower. If the distances exceed it, every fit computes its own. The default is
    sufficient for 11,785 samples.

    References
    ----------
    .. [1] T. Joachims, T. Finley and C.-N. J. Yu, "Cutting-plane training of structural SVMs", Machine Learning 77(1),
           2009, pp. 27-59.
    .. [2] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
           methods", Advances in Large Margin Classifiers, MIT Press, 1999, pp. 61-74.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skecoc.learners import TunedSVMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = TunedSVMClassifier(random_state=0).fit(X[:100], y[:100])
    >>> model.C_, round(model.width_ / model.mean_distance_, 2)
    (4096.0, 0.25)
    >>> model.score(X[100:], y[100:])
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [None, Interval(Real, 0, None, closed="neither"), "array-like"],
        "width": [None, Interval(Real, 0, None, closed="neither"), "array-like"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "search_rows": [None, Interval(Integral, 10, None, closed="left")],
        "tune": [StrOptions({"column", "ensemble"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float | ArrayLike | None = None,
        *,
        width: float | ArrayLike | None = None,
        n_folds: int = 3,
        search_rows: int | None = None,
        tune: str = "column",
        tol: float = 1e-3,
        cache_size: float = 2500,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.width = width
        self.n_folds = n_folds
        self.search_rows = search_rows
        self.tune = tune
        self.tol = tol
        self.cache_size = cache_size
        self.random_state = random_state

    def _prepare_rows(self, X: ArrayLike, y: ArrayLike | None = None) -> _Prepared:
        """Compute the distances between rows, for any number of calls to `_fit_rows`.

        With ``tune="ensemble"`` the class indices `y` of an ensemble's whole problem decide C and width for all fits.
        """
        self._validate_params()
        checked, names = self._prepare_features(X)
        shared = share_rows(checked, self.cache_size)
        if self.tune == "column" or y is None:
            return _Prepared(shared, names, None)
        labels = np.unique(np.asarray(y), return_inverse=True)[1]
        if labels.shape != (len(shared.X),):
            raise ValueError(f"y must have one class index per row of X, {len(shared.X)}, got shape {np.shape(y)}")
        rows = distinct_rows(shared, None, labels, None)
        grid = self._grid(rows.mean_distance(), None)
        random = check_random_state(self.random_state)
        drawn = draw_rows(rows, self.search_rows, self.n_folds, random)
        choice = choose_for_classes(drawn, grid, self.n_folds, random)
        return _Prepared(shared, names, choice)

    def _fit_rows(
        self, prepared: _Prepared, rows: ArrayLike | None, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on some prepared rows, as ``fit(X[rows], y, sample_weight)`` would if nothing was chosen before."""
        self._validate_params()
        taken = None if rows is None else check_rows(rows, len(prepared.shared.X))
        n_rows = len(prepared.shared.X) if taken is None else len(taken)
        self.classes_, labels = check_labels(y, n_rows, self)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, labels, dtype=np.float64, ensure_non_negative=True)
            weight = usable_weights(weight) if weight.any() else weight
        distinct = distinct_rows(prepared.shared, taken, labels, weight)
        if np.ptp(distinct.labels) == 0:
            raise ValueError("y must hold 2 classes with non-zero sample_weight, got 1 class")
        set_features(self, prepared.shared.X.shape[1], prepared.feature_names)
        self._search_and_train(distinct, prepared.choice)
        return self

    def _without_search(self) -> Self:
        """Return an unfitted clone with the C and the width that were chosen, for training on other rows."""
        check_is_fitted(self)
        found: Self = clone(self)
        return found.set_params(C=self.C_, width=self.width_ / self.mean_distance_)

    def _search_and_train(self, rows: "DistinctRows", choice: tuple[float, float] | None) -> None:
        """Set the fitted attributes from the distinct rows of both classes."""
        self.mean_distance_ = rows.mean_distance()
        grid = self._grid(self.mean_distance_, choice)
        self.C_grid_, self.width_grid_ = grid.Cs, grid.widths
        random = check_random_state(self.random_state)
        drawn = draw_rows(rows, self.search_rows, self.n_folds, random)
        folds = stratified_folds(drawn.labels, self.n_folds, random)
        index, self.cv_scores_, margins = grid.middle(), None, None
        if folds:
            tried = evaluate_grid(fold_margins, drawn, grid, folds)
            self.cv_scores_ = fold_accuracy((tried > 0.0).astype(np.intp), drawn, folds)
            index = best_index(self.cv_scores_)
            margins = tried.reshape(-1, len(drawn.labels))[index]
        self.C_, self.width_ = grid.point(index)
        self.gamma_ = 1.0 / (2.0 * self.width_**2)
        kernel = rows.kernel(self.width_, self.tol, self.cache_size)
        signs = np.where(rows.labels == 1, 1.0, -1.0)
        coefficients, intercept = kernel.solve(signs, rows.weight, PERCENT * self.C_)
        support = np.flatnonzero(coefficients)
        self.support_vectors_ = rows.shared.X[rows.rows[support]]
        self.dual_coef_ = coefficients[support].reshape(1, -1)
        self.intercept_ = np.array([intercept])
        if margins is None:
            margins, drawn = self._margins_of(rows.shared.X[rows.rows]), rows
        self.slope_ = sigmoid_slope(margins, drawn.labels == 1, drawn.weight)

    def _grid(self, mean_distance: float, choice: tuple[float, float] | None) -> "Grid":
        """Make the grid: the parameters', or the one point that was chosen for all fits of an ensemble."""
        if choice is not None:
            return Grid(np.array([choice[0]]), np.array([choice[1]]), self.tol, self.cache_size)
        Cs = _grid_values("C", self.C, PAPER_CS)
        widths = _grid_values("width", self.width, PAPER_WIDTHS)[::-1] * mean_distance
        return Grid(Cs, widths, self.tol, self.cache_size)

    def _margins(self, X: ArrayLike) -> Floats:
        return self._margins_of(self._check_features(X))

    def _margins_of(self, X: Floats) -> Floats:
        margins = np.empty(len(X))
        for start in range(0, len(X), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            distances = cdist(X[block], self.support_vectors_, "sqeuclidean")
            margins[block] = _product(_gaussian(distances, self.gamma_), self.dual_coef_[0])
        return margins + self.intercept_[0]

    def _slope(self) -> float:
        check_is_fitted(self)
        return self.slope_


def _grid_values(name: str, values: float | ArrayLike | None, default: Floats) -> Floats:
    if values is None:
        return default
    checked = np.unique(np.asarray(values, dtype=np.float64))
    if checked.size == 0 or not (np.isfinite(checked) & (checked > 0.0)).all():
        raise ValueError(f"{name} must be a positive number or hold positive numbers only, got {values!r}")
    return checked


def share_rows(X: Floats, cache_size: float) -> SharedRows:
    """Give numbers to the distinct rows, and compute all distances if a matrix of them fits in `cache_size` MB."""
    identities = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    fits = 8.0 * len(X) ** 2 <= cache_size * 1e6
    return SharedRows(X, identities, cdist(X, X, "sqeuclidean") if fits else None)


@dataclass(frozen=True)
class DistinctRows:
    """The distinct labelled rows of one fit, in lexicographic order, with their total weights."""

    shared: SharedRows
    rows: Integers  # their indices
    labels: Integers
    weight: Floats  # positive, with sum 1

    def mean_distance(self) -> float:
        """Average the distance over all weighted pairs of rows, a row and itself included; 1 if all are equal."""
        total = 0.0
        for start in range(0, len(self.rows), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            distances = np.sqrt(self._squared_distances(self.rows[block]))
            total += float(np.sum(self.weight[block] * _product(distances, self.weight)))
        return total if total > 0.0 else 1.0

    def kernel(self, width: float, tol: float, cache_size: float) -> "RBF":
        """Make the Gaussian kernel of a width, as a matrix if that and its parts fit in `cache_size` MB."""
        gamma = 1.0 / (2.0 * width**2)
        if MATRICES_PER_SEARCH * 8.0 * len(self.rows) ** 2 <= cache_size * 1e6:
            return DenseRBF(_gaussian(self._squared_distances(self.rows), gamma), tol)
        return LibsvmRBF(self.shared.X[self.rows], gamma, tol, cache_size)

    def _squared_distances(self, rows: Integers) -> Floats:
        """Copy or compute the squared distances from some rows to all rows of the fit."""
        if self.shared.squared_distances is None:
            return cdist(self.shared.X[rows], self.shared.X[self.rows], "sqeuclidean")
        return submatrix(self.shared.squared_distances, rows, self.rows)


def distinct_rows(shared: SharedRows, rows: Integers | None, labels: Integers, weight: Floats | None) -> DistinctRows:
    """Collapse equal rows of equal label into one of their total weight, and drop those of weight zero."""
    taken = np.arange(len(shared.X)) if rows is None else rows
    n_labels = int(labels.max()) + 1
    keys, first, inverse = np.unique(
        shared.identities[taken] * n_labels + labels, return_index=True, return_inverse=True
    )
    total = np.bincount(inverse, weight, minlength=len(keys)).astype(np.float64)
    kept = total > 0.0
    total = total[kept]
    return DistinctRows(shared, taken[first[kept]], keys[kept] % n_labels, total / total.sum())


@dataclass(frozen=True)
class DenseRBF:
    """A Gaussian kernel held as a matrix."""

    matrix: Floats
    tol: float

    def held_out_margins(
        self, train: Integers, test: Integers, signs: Floats, weight: Floats, penalties: Floats
    ) -> Floats:
        """Train on some rows for every ascending penalty, and give the margins of others, (n_penalties, n_test)."""
        inner = submatrix(self.matrix, train, train)
        coefficients, intercepts, converged = solve_path(inner, signs, weight, penalties, self.tol)
        _warn_if_not_solved(converged)
        support = np.flatnonzero(coefficients.any(axis=0))
        return margins_on(submatrix(self.matrix, train[support], test), coefficients[:, support], intercepts)

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        coefficients, intercepts, converged = solve_path(self.matrix, signs, weight, np.array([penalty]), self.tol)
        _warn_if_not_solved(converged)
        return coefficients[0], float(intercepts[0])


@dataclass(frozen=True)
class LibsvmRBF:
    """A Gaussian kernel that libsvm computes and caches."""

    X: Floats
    gamma: float
    tol: float
    cache_size: float

    def held_out_margins(
        self, train: Integers, test: Integers, signs: Floats, weight: Floats, penalties: Floats
    ) -> Floats:
        """Train on some rows for every ascending penalty, and give the margins of others, (n_penalties, n_test)."""
        margins = np.empty((len(penalties), len(test)))
        for k, penalty in enumerate(penalties):
            machine = self._fit(self.X[train], signs, penalty * weight)
            margins[k:] = machine.decision_function(self.X[test])
            # A solution that no cap holds back is the solution for every larger penalty too.
            if (np.abs(machine.dual_coef_[0]) < penalty * weight[machine.support_]).all():
                break
        return margins

    def solve(self, signs: Floats, weight: Floats, penalty: float) -> tuple[Floats, float]:
        """Train on all rows; return their signed dual coefficients and the intercept."""
        machine = self._fit(self.X, signs, penalty * weight)
        coefficients = np.zeros(len(self.X))
        coefficients[machine.support_] = machine.dual_coef_[0]
        return coefficients, float(machine.intercept_[0])

    def _fit(self, X: Floats, signs: Floats, caps: Floats) -> SVC:
        """Train libsvm's machine; a cap is its C times the row's weight."""
        return SVC(C=1.0, gamma=self.gamma, tol=self.tol, cache_size=self.cache_size).fit(X, signs, caps)


RBF = DenseRBF | LibsvmRBF


def _product(matrix: Floats, vector: Floats) -> Floats:
    """Multiply a matrix and a vector without BLAS, whose threads would compete with those of an ensemble."""
    return np.einsum("ij,j->i", matrix, vector)


def _gaussian(squared_distances: Floats, gamma: float) -> Floats:
    squared_distances *= -gamma
    return np.exp(squared_distances, out=squared_distances)


def _warn_if_not_solved(converged: bool) -> None:
    if not converged:
        warnings.warn("the SVM's dual did not reach the tolerance; raise tol", ConvergenceWarning, stacklevel=4)


@dataclass(frozen=True)
class Grid:
    """What to search and how."""

    Cs: Floats  # in SVM-perf's units, ascending
    widths: Floats  # descending
    tol: float
    cache_size: float  # in MB, for the kernel matrices

    def point(self, flat_index: int) -> tuple[float, float]:
        """Give C and width at a position of the flattened (n_Cs, n_widths) grid."""
        c, w = divmod(flat_index, len(self.widths))
        return float(self.Cs[c]), float(self.widths[w])

    def middle(self) -> int:
        """Give the flat index that is taken when nothing can be cross-validated: the upper middle of both lists."""
        return len(self.Cs) // 2 * len(self.widths) + (len(self.widths) - 1) // 2


def stratified_folds(labels: Integers, n_folds: int, random: np.random.RandomState) -> Folds:
    """Split rows into at most `n_folds` folds that all hold each class; none if a class has one row only."""
    possible = min(n_folds, int(np.bincount(labels).min()))
    if possible < 2:
        return []
    splitter = StratifiedKFold(possible, shuffle=True, random_state=random)
    return list(splitter.split(np.zeros(len(labels)), labels))


def draw_rows(rows: DistinctRows, n_rows: int | None, n_folds: int, random: np.random.RandomState) -> DistinctRows:
    """Draw about `n_rows` rows, each class by its share but with a row for every fold if possible; None takes all."""
    if n_rows is None or len(rows.labels) <= n_rows:
        return rows
    taken = []
    for members in (np.flatnonzero(rows.labels == label) for label in np.unique(rows.labels)):
        share = round(n_rows * len(members) / len(rows.labels))
        taken.append(random.permutation(members)[: max(share, n_folds)])
    kept = np.sort(np.concatenate(taken))
    return replace(rows, rows=rows.rows[kept], labels=rows.labels[kept], weight=rows.weight[kept])


def evaluate_grid(evaluate: Callable[..., NDArray[Any]], rows: DistinctRows, grid: Grid, folds: Folds) -> NDArray[Any]:
    """Evaluate every point of the grid on held-out rows, (n_Cs, n_widths, n_rows)."""
    penalties = PERCENT * grid.Cs
    # No kernel is bound to a name: each may be very large, and is freed before the next is made.
    by_width = [
        evaluate(rows.kernel(width, grid.tol, grid.cache_size), rows, penalties, folds)
        for width in grid.widths.tolist()
    ]
    return np.stack(by_width, axis=1)


def fold_margins(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> Floats:
    """Give every row's margin from the machine of the fold that leaves it out, (n_penalties, n_rows)."""
    margins = np.empty((len(penalties), len(rows.labels)))
    signs = np.where(rows.labels == 1, 1.0, -1.0)
    for train, test in folds:
        margins[:, test] = kernel.held_out_margins(train, test, signs[train], rows.weight[train], penalties)
    return margins


def _fold_winners(kernel: RBF, rows: DistinctRows, penalties: Floats, folds: Folds) -> Integers:
    """Give the class that wins most pairs, for every held-out row, (n_penalties, n_rows); ties to the first."""
    class_weight = np.bincount(rows.labels, rows.weight)
    winners = np.empty((len(penalties), len(rows.labels)), dtype=np.intp)
    for train, test in folds:
        votes = np.zeros((len(penalties), len(test), len(class_weight)))
        for first, second in combinations(range(len(class_weight)), 2):
            taken = train[np.isin(rows.labels[train], (first, second))]
            signs = np.where(rows.labels[taken] == first, 1.0, -1.0)
            # A pair's penalty per row is that of a fit to this pair alone.
            weight = rows.weight[taken] / (class_weight[first] + class_weight[second])
            margins = kernel.held_out_margins(taken, test, signs, weight, penalties)
            votes[:, :, first] += margins > 0.0
            votes[:, :, second] += margins <= 0.0
        winners[:, test] = votes.argmax(axis=2)
    return winners


def fold_accuracy(predicted: Integers, rows: DistinctRows, folds: Folds) -> Floats:
    """Average the weighted accuracy over folds, for predictions of shape (..., n_rows)."""
    correct = predicted == rows.labels
    return np.mean([correct[..., test] @ rows.weight[test] / rows.weight[test].sum() for _, test in folds], axis=0)


def best_index(scores: Floats) -> int:
    """Give the flat index of the best score; among equally good ones the smallest C, then the largest width."""
    return int(np.argmax(scores >= scores.max() - TIE_TOLERANCE))


def choose_for_classes(
    rows: DistinctRows, grid: Grid, n_folds: int, random: np.random.RandomState
) -> tuple[float, float]:
    """Choose C and width by the accuracy of one-vs-one votes over all classes with enough rows for the folds."""
    counts = np.bincount(rows.labels)
    possible = min(n_folds, int(np.sort(counts)[-2])) if len(counts) > 1 else 1
    if possible < 2 or len(grid.Cs) * len(grid.widths) == 1:
        return grid.point(grid.middle())
    kept = counts[rows.labels] >= possible
    labels = np.unique(rows.labels[kept], return_inverse=True)[1]
    part = replace(rows, rows=rows.rows[kept], labels=labels, weight=rows.weight[kept])
    folds = stratified_folds(labels, possible, random)
    return grid.point(best_index(fold_accuracy(evaluate_grid(_fold_winners, part, grid, folds), part, folds)))


def sigmoid_slope(margins: Floats, positive: NDArray[np.bool_], weight: Floats) -> float:
    """Fit the slope of ``p = 1 / (1 + exp(-slope * margin))`` by maximum likelihood, with Platt's targets."""
    scale = float(np.sqrt(np.mean(margins**2)))
    if scale == 0.0:
        return 1.0
    n_positive = int(positive.sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (len(margins) - n_positive + 2))
    unit = margins / scale

    def derivative(slope: float) -> float:
        return float(weight * unit @ (expit(slope * unit) - target))

    if derivative(SMALLEST_SLOPE) >= 0.0:
        return SMALLEST_SLOPE / scale
    upper = 1.0
    while derivative(upper) < 0.0:
        upper *= 2.0
    return float(brentq(derivative, SMALLEST_SLOPE, upper)) / scale
