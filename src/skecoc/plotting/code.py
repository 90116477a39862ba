"""Plots of code matrices, of decoding weights, and of the shares of learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._optional_dependencies import check_matplotlib_support

from skecoc.classifiers.pairs import row_names
from skecoc.coding.matrix import check_code_matrix
from skecoc.plotting.axes import COLOURS, NEGATIVE, POSITIVE, ZERO, fitted, last_step, name_rows, new_axes, two_panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

_HATCHES = ("", "///", "...", "xxx")
# Columns are named if they are no more, and their names no longer.
_MOST_NAMED, _LONGEST_NAME = 20, 30


def plot_code_matrix(
    matrix: Any, *, class_names: Sequence[str] | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot a code matrix, with a row per class and a column per binary problem.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns) or fitted classifier
        The code matrix, a classifier with `code_matrix_`, or a pipeline that ends with one. Columns added by growth are
        marked above the matrix: simple columns by a triangle, clustering-based columns by a ring.
    class_names : sequence of str of length n_classes, default=None
        Names of the rows; None uses the classes of the classifier, or row numbers.
    title : str, default=None
        Title above the matrix.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib Axes
        The axes. +1 is blue, -1 is orange and 0 is grey. If there are few columns, those of a classifier are labelled
        below.

    Examples
    --------
    >>> from skecoc.coding import one_vs_one
    >>> from skecoc.plotting import plot_code_matrix
    >>> plot_code_matrix(one_vs_one(4), title="one-vs-one").get_xlabel()
    'column'
    """
    check_matplotlib_support("plot_code_matrix")
    from matplotlib.colors import ListedColormap

    matrix = fitted(matrix)
    M, names = _matrix_and_names(matrix, class_names)
    axes = new_axes(M.shape) if ax is None else ax
    axes.imshow(M, cmap=ListedColormap([NEGATIVE, ZERO, POSITIVE]), vmin=-1, vmax=1, aspect="auto")
    _draw_grid(axes, M.shape)
    _label_axes(axes, names, M.shape[1])
    if hasattr(matrix, "column_names_") and class_names is None and M.shape[1] <= _MOST_NAMED:
        column_names = matrix.column_names_
        if max(map(len, column_names)) <= _LONGEST_NAME:
            axes.set_xticks(np.arange(len(column_names)), column_names, rotation=90)
    for kind, marker, colour in (("simple", "v", "0.3"), ("clustered", "o", "none")):  # columns that growth has added
        columns = np.flatnonzero(getattr(matrix, "column_kinds_", np.array([])) == kind)
        if len(columns):
            axes.plot(
                columns,
                np.full(len(columns), 1.0 + 0.03),
                marker,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                markersize=4,
                markerfacecolor=colour,
                markeredgecolor="0.3",
                label=kind,
            )
    if title is not None:
        axes.set_title(title, pad=14.0 if hasattr(matrix, "column_kinds_") else None)
    return axes


def plot_weights(
    weights: Any,
    matrix: ArrayLike | None = None,
    *,
    class_names: Sequence[str] | None = None,
    figure: Figure | None = None,
) -> NDArray[np.object_]:
    """Plot decoding weights as a heat map, next to their code matrix.

    Parameters
    ----------
    weights : array-like of shape (n_classes, n_columns) or fitted classifier
        The weights, a classifier with `weights_` and `code_matrix_`, or a pipeline that ends with one.
    matrix : array-like of shape (n_classes, n_columns), default=None
        The code matrix; None uses that of the classifier.
    class_names : sequence of str of length n_classes, default=None
        Names of the rows; None uses the classes of the classifier, or row numbers.
    figure : matplotlib Figure, default=None
        Figure to draw on; None creates a new figure.

    Returns
    -------
    ndarray of matplotlib Axes of shape (2,)
        The axes of the matrix and of the weights.

    Examples
    --------
    >>> from skecoc.coding import one_vs_rest
    >>> from skecoc.plotting import plot_weights
    >>> left, right = plot_weights(abs(one_vs_rest(3)) / 3, one_vs_rest(3))
    >>> right.get_title()
    'weights'
    """
    weights = fitted(weights)
    if isinstance(weights, BaseEstimator) and not hasattr(weights, "weights_"):
        decoder = type(getattr(weights, "decoder_", None)).__name__
        raise ValueError(f"{type(weights).__name__} has no weights to draw: its decoder_ is a {decoder}")
    W = np.asarray(getattr(weights, "weights_", weights), dtype=np.float64)
    M, names = _matrix_and_names(weights if matrix is None else matrix, class_names)
    if W.shape != M.shape:
        raise ValueError(f"weights and matrix must have the same shape, got {W.shape} and {M.shape}")
    left, right = two_panels("plot_weights", figure, 3.2)
    plot_code_matrix(weights if matrix is None else matrix, class_names=names, title="code matrix", ax=left)
    image = right.imshow(np.ma.masked_where(M == 0, W), cmap="viridis", vmin=0.0, aspect="auto")
    right.set_facecolor(ZERO)  # positions where the matrix is zero carry no weight
    _draw_grid(right, M.shape)
    _label_axes(right, names, M.shape[1])
    right.set_title("weights")
    right.figure.colorbar(image, ax=right, label="weight")
    return np.array([left, right])


def plot_learner_shares(model: Any, *, ax: Axes | None = None, class_names: Sequence[str] | None = None) -> Axes:
    """Plot the share of each learner in the decoding of each class: a bar per class, a colour per learner.

    Parameters
    ----------
    model : fitted classifier
        An output-code classifier, with `learner_shares`, or a pipeline that ends with one. With a single learner, bars
        have one colour.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a new figure.
    class_names : sequence of str of length n_classes, default=None
        Names of the bars; None uses the classes of the classifier.

    Returns
    -------
    matplotlib Axes
        The axes. The parts of a bar sum to 1; the legend shows the mean share of each learner.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skecoc import ECOCClassifier
    >>> from skecoc.learners import StumpAdaBoostClassifier
    >>> from skecoc.plotting import plot_learner_shares
    >>> learners = [("stumps", StumpAdaBoostClassifier()), ("logistic", LogisticRegression())]
    >>> model = ECOCClassifier(learners, decoding="loss-based").fit(*load_iris(return_X_y=True))
    >>> [text.get_text() for text in plot_learner_shares(model).get_legend().get_texts()]
    ['stumps 50 %', 'logistic 50 %']
    """
    check_matplotlib_support("plot_learner_shares")
    import matplotlib.pyplot as plt

    last = last_step(model)
    if not hasattr(last, "learner_shares"):
        raise ValueError(f"model must be a fitted output-code classifier, got {type(last).__name__}")
    model = fitted(model)
    shares = model.learner_shares()
    names = [str(name) for name in (model.classes_ if class_names is None else class_names)]
    if len(names) != len(model.classes_):
        raise ValueError(f"class_names must hold {len(model.classes_)} names, one per class, got {len(names)}")
    if ax is None:
        ax = plt.subplots(figsize=(7.0, min(10.0, 1.2 + 0.24 * len(names))), layout="constrained")[1]
    rows, left = np.arange(len(names)), np.zeros(len(names))
    for number, (name, share) in enumerate(shares.items()):
        ax.barh(
            rows,
            share,
            left=left,
            height=0.85,
            color=COLOURS[number % len(COLOURS)],
            hatch=_HATCHES[number // len(COLOURS) % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            label=f"{name} {100 * share.mean():.0f} %",
        )
        left += share
    name_rows(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)  # the first class on top, as in a matrix
    ax.set_xlim(0.0, 1.0)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel("share of the weights")
    ax.set_ylabel("class")
    ax.legend(title="learner, on average", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _matrix_and_names(matrix: Any, class_names: Sequence[str] | None) -> tuple[NDArray[np.int8], list[str]]:
    """Take the matrix and the row names from an array or a fitted classifier."""
    M = check_code_matrix(getattr(matrix, "code_matrix_", matrix), argument="matrix")
    default = row_names(matrix) if hasattr(matrix, "classes_") else range(len(M))
    names = [str(name) for name in (default if class_names is None else class_names)]
    if len(names) != len(M):
        raise ValueError(f"class_names must hold {len(M)} names, one per row of the matrix, got {len(names)}")
    return M, names


def _draw_grid(axes: Axes, shape: tuple[int, int]) -> None:
    """Draw thin white lines between cells, unless there are too many to tell apart."""
    if max(shape) <= 64:
        axes.set_xticks(np.arange(shape[1] + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(shape[0] + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def _label_axes(axes: Axes, names: list[str], n_columns: int) -> None:
    """Name the rows and number the columns, as many as there is room for."""
    name_rows(axes, names)
    axes.set_xticks(np.arange(0, n_columns, max(1, n_columns // 10)))
    axes.set_xlabel("column")
