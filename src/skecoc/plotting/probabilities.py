"""Plots of probabilities: reliability, and error as a function of the share of decided samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skecoc.classifiers.costs import class_indices, risk_coverage
from skecoc.plotting.axes import COLOURS, new_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


def plot_risk_coverage(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    cost_matrix: Any = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the error rate of the decided samples against their share (risk-coverage curve).

    Samples are decided in the order of their largest probability; the others are rejected, as by ``predict(X,
    reject=...)``. A lower curve means that the probabilities are better at finding the samples to reject.

    Parameters
    ----------
    models : fitted classifier, or dict of str to fitted classifier
        A classifier with `predict_proba`, or several classifiers by name.
    X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
        Test samples.
    y : array-like of shape (n_samples,)
        Their class labels.
    cost_matrix : array-like of shape (n_classes, n_classes), dict or frame, default=None
        Cost of each decision, as in `skecoc.CostSensitiveClassifier`. The mean cost is then plotted, and samples are
        decided in the order of their expected cost.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib Axes
        The axes, with a line per classifier. The legend shows the area under each line: the mean error or cost over all
        shares.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.plotting import plot_risk_coverage
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> plot_risk_coverage(model, X[1::2], y[1::2]).get_xlabel()
    'share of samples decided'
    """
    check_matplotlib_support("plot_risk_coverage")
    named = models if isinstance(models, dict) else {type(models).__name__: models}
    if not named:
        raise ValueError("models must hold at least one classifier, got none")
    for model in named.values():
        _check_probabilistic(model)
    axes = new_axes((14, 9)) if ax is None else ax
    for number, (name, model) in enumerate(named.items()):
        curve = risk_coverage(model.predict_proba(X), y, model.classes_, cost_matrix, sample_weight)
        colour = COLOURS[number % len(COLOURS)]
        label = f"{name} (area {curve.area:.3g})"
        axes.plot(curve.coverage, curve.risk, color=colour, drawstyle="steps-pre", label=label)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(bottom=0.0 if cost_matrix is None else None)
    axes.set_xlabel("share of samples decided")
    axes.set_ylabel("error of decided samples" if cost_matrix is None else "cost of decided samples")
    axes.legend(frameon=False)
    return axes


def plot_reliability(
    model: Any, X: Any = None, y: ArrayLike = (), *, of_class: Any = None, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Plot a reliability diagram: the observed share of a class against its predicted probability.

    Parameters
    ----------
    model : fitted classifier, array-like of shape (n_samples, n_classes) or dict of str to either
        A classifier with `predict_proba`, or probabilities of the sorted classes of `y`; or several of these by name.
    X : array-like of shape (n_samples, n_features), default=None
        Test samples; not needed if probabilities are given.
    y : array-like of shape (n_samples,)
        Class labels of the samples.
    of_class : label, default=None
        The class whose probability is plotted; None uses the predicted class of each sample.
    n_bins : int, default=10
        Number of bins of equal width for the probabilities.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib Axes
        The axes. Each dot is a bin; its size shows the number of samples. Probabilities are calibrated on the grey line
        and too high below it. The legend shows the log-loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.plotting import plot_reliability
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> plot_reliability({"stumps": model}, X[1::2], y[1::2]).get_ylabel()
    'share of samples that are of the predicted class'
    """
    check_matplotlib_support("plot_reliability")
    import matplotlib.pyplot as plt

    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    name = type(model).__name__ if hasattr(model, "predict_proba") else "probabilities"
    named = model if isinstance(model, dict) else {name: model}
    labels = column_or_1d(y, warn=True)
    drawn = {name: _probabilities(each, X, labels) for name, each in named.items()}
    axes = plt.subplots(figsize=(5.4, 5.0), layout="constrained")[1] if ax is None else ax
    for number, (name, (probabilities, truth, classes)) in enumerate(drawn.items()):
        likelihood = np.maximum(probabilities[np.arange(len(truth)), truth], np.finfo(np.float64).tiny)
        if of_class is None:
            shown = probabilities.argmax(axis=1)
        elif of_class in classes.tolist():
            shown = np.full(len(truth), classes.tolist().index(of_class))
        else:
            raise ValueError(f"of_class must be one of the classes {classes.tolist()}, got {of_class!r}")
        bins = reliability_bins(probabilities[np.arange(len(truth)), shown], shown == truth, n_bins)
        label = f"{name}: log-loss {-np.log(likelihood).mean():.3f}"
        draw_reliability(axes, *bins, colour=COLOURS[number % len(COLOURS)], label=label)
    what = "predicted class" if of_class is None else f"class {of_class}"
    axes.set(xlabel=f"probability of the {what}", ylabel=f"share of samples that are of the {what}")
    axes.legend(frameon=False)
    return axes


def reliability_bins(
    probabilities: NDArray[np.float64], is_correct: NDArray[np.bool_], n_bins: int
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers of samples, mean probabilities and shares of correct samples in bins; empty bins have zeros."""
    places = np.minimum((probabilities * n_bins).astype(np.intp), n_bins - 1)
    counts = np.bincount(places, minlength=n_bins)
    sums = np.bincount(places, probabilities, n_bins), np.bincount(places, is_correct, n_bins)
    return counts, sums[0] / np.maximum(counts, 1), sums[1] / np.maximum(counts, 1)


def draw_reliability(
    axes: Axes,
    counts: NDArray[Any],
    probabilities: NDArray[np.float64],
    shares: NDArray[np.float64],
    *,
    colour: str,
    label: str,
    ids: Sequence[str] = (),
) -> None:
    """Draw the bins of `reliability_bins` that are not empty, and the diagonal; `ids` are the ``gid`` of the dots."""
    filled = counts > 0
    x, y, sizes = probabilities[filled], shares[filled], 8.0 + 150.0 * counts[filled] / max(counts.sum(), 1)
    if not axes.lines:
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1.0, zorder=1)
    axes.plot(x, y, color=colour, linewidth=1.2, label=label)
    for place in range(len(x)):
        dot = axes.scatter(x[place], y[place], s=sizes[place], color=colour, zorder=2)
        dot.set_gid(ids[place] if ids else None)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def _check_probabilistic(model: Any) -> None:
    """Refuse a classifier that gives no probabilities, or is not fitted; arrays are left alone."""
    if not hasattr(model, "fit"):
        return
    if not hasattr(model, "predict_proba"):
        kind = type(model).__name__
        raise ValueError(
            f"model must have predict_proba, which {kind} does not have; CalibratedClassifierCV and ECOCClassifier, "
            f"with {kind} as their estimator, have it"
        )
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)


def _probabilities(model: Any, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[Any]]:
    """Return probabilities of a classifier, or those given; the place of each label among the classes; the classes."""
    if len(y) == 0:
        raise ValueError("y must hold the class labels of the samples")
    _check_probabilistic(model)
    is_model = hasattr(model, "predict_proba")
    if is_model and X is None:
        raise ValueError("X must hold the samples, if a classifier is given")
    classes = np.asarray(model.classes_) if is_model else np.unique(y)
    probabilities = np.asarray(model.predict_proba(X) if is_model else model, dtype=np.float64)
    if probabilities.shape != (len(y), len(classes)):
        expected = f"{(len(y), len(classes))}, a row for each of y and a column for each class"
        raise ValueError(f"probabilities must have shape {expected}, got {probabilities.shape}")
    return probabilities, class_indices(y, classes), classes
