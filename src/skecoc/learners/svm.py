"""RBF support vector machine that searches penalty and kernel width as in the WOLC-ECOC paper."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skecoc.data.codes import Floats, Names
from skecoc.learners.binary import MarginClassifier, check_labels, check_rows, set_features
from skecoc.learners.svm_search import (
    PERCENT,
    DistinctRows,
    Grid,
    SharedRows,
    best_index,
    choose_for_classes,
    distinct_rows,
    draw_rows,
    evaluate_grid,
    fold_accuracy,
    fold_margins,
    rbf_margins,
    share_rows,
    sigmoid_slope,
    stratified_folds,
)
from skecoc.support.weights import usable_weights

#: The paper's values of C, for SVM-perf.
PAPER_CS: Floats = np.exp2(np.arange(12.0, 19.0))

#: The paper's kernel widths, in multiples of the mean distance between training rows.
PAPER_WIDTHS: Floats = np.exp2(np.arange(-2.0, 3.0))


@dataclass(frozen=True)
class _Prepared:
    """Rows that several fits share, and what was chosen for all of them: C and the kernel's width, if anything."""

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

    def prepare_rows(self, X: ArrayLike, y: ArrayLike | None = None) -> _Prepared:
        """Compute the distances between rows, for any number of calls to `fit_rows`.

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

    def fit_rows(
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

    def without_search(self) -> Self:
        """Return an unfitted clone with the C and the width that were chosen, for training on other rows."""
        check_is_fitted(self)
        found: Self = clone(self)
        return found.set_params(C=self.C_, width=self.width_ / self.mean_distance_)

    def _search_and_train(self, rows: DistinctRows, choice: tuple[float, float] | None) -> None:
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

    def _grid(self, mean_distance: float, choice: tuple[float, float] | None) -> Grid:
        """Make the grid: the parameters', or the one point that was chosen for all fits of an ensemble."""
        if choice is not None:
            return Grid(np.array([choice[0]]), np.array([choice[1]]), self.tol, self.cache_size)
        Cs = _grid_values("C", self.C, PAPER_CS)
        widths = _grid_values("width", self.width, PAPER_WIDTHS)[::-1] * mean_distance
        return Grid(Cs, widths, self.tol, self.cache_size)

    def _margins(self, X: ArrayLike) -> Floats:
        return self._margins_of(self.check_features(X))

    def _margins_of(self, X: Floats) -> Floats:
        return rbf_margins(X, self.support_vectors_, self.dual_coef_[0], self.intercept_[0], self.gamma_)

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
