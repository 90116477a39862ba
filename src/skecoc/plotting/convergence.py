"""Plots of growth: convergence, and hard pairs of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skecoc.plotting.axes import NEGATIVE, POSITIVE, as_seen, fitted, name_rows, two_panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray


def plot_convergence(
    model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, figure: Figure | None = None
) -> NDArray[np.object_]:
    """Plot loss and accuracy of a grown code, round by round.

    Parameters
    ----------
    model : fitted classifier
        A classifier with a grown code (`history_`, `best_round_` and `staged_score`), or a pipeline that ends with one.
    X : array-like of shape (n_samples, n_features), default=None
        Test samples; if given, the accuracy on them is plotted too.
    y : array-like of shape (n_samples,), default=None
        Their class labels.
    figure : matplotlib Figure, default=None
        Figure to draw on; None creates a new figure.

    Returns
    -------
    ndarray of matplotlib Axes of shape (2,)
        The axes of losses and of accuracies, against the number of columns. A dotted line marks the round that is kept.
        Values that were not measured in all rounds are omitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skecoc import WOLCClassifier
    >>> from skecoc.plotting import plot_convergence
    >>> X, y = load_iris(return_X_y=True)
    >>> losses, accuracies = plot_convergence(WOLCClassifier(max_iter=2).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> accuracies.get_ylabel()
    'accuracy'
    """
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together")
    pipeline, model = model, fitted(model)
    if not hasattr(model, "history_"):
        raise ValueError(
            f"{type(model).__name__} does not grow its code, so there is no convergence to draw; model must be a "
            "WOLCClassifier, LCECOCClassifier or ECOCOneClassifier"
        )
    left, right = two_panels("plot_convergence", figure, 3.2)
    columns = [record.n_columns for record in model.history_]
    for axes, name, form, color, label in (
        (left, "loss", "o-", POSITIVE, "loss"),
        (left, "risk", "s--", NEGATIVE, "risk"),
        (right, "accuracy", "o-", POSITIVE, "training"),
        (right, "out_of_fold_accuracy", "^:", "0.4", "training, out of fold"),
    ):
        values = [getattr(record, name) for record in model.history_]
        if np.isfinite(values).all():
            axes.plot(columns, values, form, color=color, label=label)
    if X is not None:
        right.plot(columns, list(model.staged_score(as_seen(pipeline, X), y)), "s--", color=NEGATIVE, label="test")
    for axes, label in ((left, "loss"), (right, "accuracy")):
        if axes.lines:
            axes.legend(frameon=False)
        axes.axvline(columns[model.best_round_], color="0.6", linestyle=":", linewidth=1.0)
        axes.set_xlabel("columns")
        axes.set_ylabel(label)
    return np.array([left, right])


def plot_risk(
    risk: ArrayLike, confusion: ArrayLike, *, class_names: Sequence[str] | None = None, figure: Figure | None = None
) -> NDArray[np.object_]:
    """Plot a risk matrix next to a confusion matrix; the hardest pairs of the two may differ.

    Parameters
    ----------
    risk : array-like of shape (n_classes, n_classes)
        Losses of the samples of each class by their worst rival, from `skecoc.decoding.risk_and_confusion`.
    confusion : array-like of shape (n_classes, n_classes)
        Confusion matrix: numbers of samples by true class and predicted class.
    class_names : sequence of str of length n_classes, default=None
        Names of the classes; None uses their numbers.
    figure : matplotlib Figure, default=None
        Figure to draw on; None creates a new figure.

    Returns
    -------
    ndarray of matplotlib Axes of shape (2,)
        The axes of the confusion matrix and of the risk matrix, without diagonals. Frames mark the pair with the
        highest sum.

    Examples
    --------
    >>> from skecoc.plotting import plot_risk
    >>> left, right = plot_risk([[0, 0, 0], [0, 0, 4], [20, 6, 0]], [[90, 0, 10], [0, 90, 10], [0, 5, 95]])
    >>> right.get_title()
    'risk: 2 and 0'
    """
    tables = [np.array(table, dtype=np.float64) for table in (confusion, risk)]
    shape = tables[0].shape
    if len(shape) != 2 or shape[0] != shape[1] or tables[1].shape != shape:
        raise ValueError(f"risk and confusion must be square and of one shape, got {tables[1].shape} and {shape}")
    names = [str(name) for name in (range(shape[0]) if class_names is None else class_names)]
    if len(names) != shape[0]:
        raise ValueError(f"class_names must hold {shape[0]} names, got {len(names)}")
    panels = two_panels("plot_risk", figure, 3.6)
    for axes, table, title in zip(panels, tables, ("confusion", "risk"), strict=True):
        _draw_losses(axes, table, names, title)
    return panels


def _draw_losses(axes: Axes, table: NDArray[np.float64], names: list[str], title: str) -> None:
    """Draw a matrix of losses without its diagonal, its hardest pair framed."""
    from matplotlib.patches import Rectangle

    losses = table.copy()
    np.fill_diagonal(losses, 0.0)
    axes.imshow(np.ma.masked_where(np.eye(len(losses), dtype=bool), losses), cmap="Blues", vmin=0.0)
    first, second = np.unravel_index((losses + losses.T).argmax(), losses.shape)
    if losses[first, second] < losses[second, first]:
        first, second = second, first
    for row, column in ((first, second), (second, first)):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=NEGATIVE, linewidth=2.0))
    if len(losses) <= 12:
        for row, column in zip(*np.nonzero(losses), strict=True):
            dark = losses[row, column] > 0.6 * losses.max()
            axes.text(
                column, row, f"{losses[row, column]:.3g}", ha="center", va="center", color="white" if dark else "0.2"
            )
    shown = name_rows(axes, names)
    axes.set_xticks(shown, [names[k] for k in shown], rotation=90 if max(map(len, names)) > 3 else 0)
    axes.set_xlabel("worst rival" if title == "risk" else "taken for")
    axes.set_ylabel("class")
    axes.set_title(f"{title}: {names[first]} and {names[second]}")
