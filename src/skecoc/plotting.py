"""Pictures of codes, weights and growth. Needs matplotlib: ``pip install "scikit-ecoc[plot]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

from skecoc.coding.matrix import check_code_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

# Blue and orange of equal lightness on a pale ground: told apart by colour-blind readers and in print.
_NEGATIVE, _ZERO, _POSITIVE = "#d8822b", "#f2f2f0", "#2b6cb0"
# Okabe and Ito's colours, neighbours of different lightness; beyond them they come again, hatched.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666")
_HATCHES = ("", "///", "...", "xxx")


def plot_code_matrix(
    matrix: Any, *, class_names: Sequence[str] | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a code matrix: a row per class, a column per binary problem.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns) or fitted classifier
        The code matrix, or a classifier with a `code_matrix_`. Columns that a grown code has added are marked above: a
        triangle for a simple one, a ring for a clustering-based one.
    class_names : sequence of str of length n_classes, default=None
        Names of the rows; None takes the classifier's classes, or numbers them.
    title : str, default=None
        Title above the matrix.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes drawn on. Blue is +1, orange -1, grey 0.

    Examples
    --------
    >>> from skecoc.coding import one_vs_one
    >>> from skecoc.plotting import plot_code_matrix
    >>> plot_code_matrix(one_vs_one(4), title="one-vs-one").get_xlabel()
    'column'
    """
    check_matplotlib_support("plot_code_matrix")
    from matplotlib.colors import ListedColormap

    M, names = _matrix_and_names(matrix, class_names)
    axes = _new_axes(M.shape) if ax is None else ax
    axes.imshow(M, cmap=ListedColormap([_NEGATIVE, _ZERO, _POSITIVE]), vmin=-1, vmax=1, aspect="auto")
    _draw_grid(axes, M.shape)
    _label_axes(axes, names, M.shape[1])
    _mark_grown_columns(axes, getattr(matrix, "column_kinds_", np.array([])))
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
    """Draw decoding weights as a heat map, beside their code matrix.

    Parameters
    ----------
    weights : array-like of shape (n_classes, n_columns) or fitted classifier
        The weights, or a classifier with `weights_` and `code_matrix_`.
    matrix : array-like of shape (n_classes, n_columns), default=None
        The code matrix; None takes the classifier's.
    class_names : sequence of str of length n_classes, default=None
        Names of the rows; None takes the classifier's classes, or numbers them.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new figure.

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
    W = np.asarray(getattr(weights, "weights_", weights), dtype=np.float64)
    M, names = _matrix_and_names(weights if matrix is None else matrix, class_names)
    if W.shape != M.shape:
        raise ValueError(f"weights and matrix must have the same shape, got {W.shape} and {M.shape}")
    left, right = _two_panels("plot_weights", figure, 3.2)
    plot_code_matrix(weights if matrix is None else matrix, class_names=names, title="code matrix", ax=left)
    image = right.imshow(np.ma.masked_where(M == 0, W), cmap="viridis", vmin=0.0, aspect="auto")
    right.set_facecolor(_ZERO)  # positions where the matrix is zero carry no weight
    _draw_grid(right, M.shape)
    _label_axes(right, names, M.shape[1])
    right.set_title("weights")
    right.figure.colorbar(image, ax=right, label="weight")
    return np.array([left, right])


def plot_learner_shares(model: Any, ax: Axes | None = None, *, class_names: Sequence[str] | None = None) -> Axes:
    """Draw how much each learner counts for each class: a bar per class, a colour per learner.

    Parameters
    ----------
    model : fitted classifier
        An output-code classifier, with `learner_shares`. That of a single learner has bars of one colour.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    class_names : sequence of str of length n_classes, default=None
        Names of the bars; None takes the classifier's classes.

    Returns
    -------
    matplotlib Axes
        The axes drawn on. The parts of a bar sum to 1; the legend says how much each learner counts on average.

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

    if not hasattr(model, "learner_shares"):
        raise ValueError(f"model must be a fitted output-code classifier, got {type(model).__name__}")
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
            color=_COLOURS[number % len(_COLOURS)],
            hatch=_HATCHES[number // len(_COLOURS) % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            label=f"{name} {100 * share.mean():.0f} %",
        )
        left += share
    _name_rows(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)  # the first class on top, as in a matrix
    ax.set_xlim(0.0, 1.0)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel("share of the weights")
    ax.set_ylabel("class")
    ax.legend(title="learner, on average", frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def plot_convergence(
    model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, figure: Figure | None = None
) -> NDArray[np.object_]:
    """Draw loss and accuracy of a grown code, round by round.

    Parameters
    ----------
    model : fitted classifier
        A grown code, with `history_`, `best_round_` and `staged_score`.
    X : array-like of shape (n_samples, n_features), default=None
        Test samples; with them the accuracy on them is drawn too.
    y : array-like of shape (n_samples,), default=None
        Their class labels.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes of shape (2,)
        The axes of losses and of accuracies, over the number of columns; a dotted line marks the round that is kept.
        What was not measured in all rounds is left out.

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
    if not hasattr(model, "history_"):
        raise ValueError(f"model must be a fitted classifier that grows its code, got {type(model).__name__}")
    left, right = _two_panels("plot_convergence", figure, 3.2)
    columns = [record.n_columns for record in model.history_]
    for axes, name, form, color, label in (
        (left, "loss", "o-", _POSITIVE, "loss"),
        (left, "risk", "s--", _NEGATIVE, "risk"),
        (right, "accuracy", "o-", _POSITIVE, "training"),
        (right, "out_of_fold_accuracy", "^:", "0.4", "training, out of fold"),
    ):
        values = [getattr(record, name) for record in model.history_]
        if np.isfinite(values).all():
            axes.plot(columns, values, form, color=color, label=label)
    if X is not None:
        right.plot(columns, list(model.staged_score(X, y)), "s--", color=_NEGATIVE, label="test")
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
    """Draw a risk matrix beside a confusion matrix: the pair of highest loss need not be the most confused one.

    Parameters
    ----------
    risk : array-like of shape (n_classes, n_classes)
        Losses of the samples of each class by their worst rival, as `skecoc.decoding.risk_and_confusion` gives them.
    confusion : array-like of shape (n_classes, n_classes)
        Numbers of samples of each class by the class they are taken for.
    class_names : sequence of str of length n_classes, default=None
        Names of the classes; None numbers them.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes of shape (2,)
        The axes of the confusion and of the risk, without diagonals; frames mark the pair with the highest sum.

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
    panels = _two_panels("plot_risk", figure, 3.6)
    for axes, table, title in zip(panels, tables, ("confusion", "risk"), strict=True):
        _draw_losses(axes, table, names, title)
    return panels


def _two_panels(caller: str, figure: Figure | None, height: float) -> NDArray[np.object_]:
    """Make two axes side by side, in a new figure unless one is given."""
    check_matplotlib_support(caller)
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8.0, height), layout="constrained") if figure is None else figure
    return figure.subplots(1, 2)


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
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=_NEGATIVE, linewidth=2.0))
    if len(losses) <= 12:
        for row, column in zip(*np.nonzero(losses), strict=True):
            dark = losses[row, column] > 0.6 * losses.max()
            axes.text(
                column, row, f"{losses[row, column]:.3g}", ha="center", va="center", color="white" if dark else "0.2"
            )
    shown = _name_rows(axes, names)
    axes.set_xticks(shown, [names[k] for k in shown], rotation=90 if max(map(len, names)) > 3 else 0)
    axes.set_xlabel("worst rival" if title == "risk" else "taken for")
    axes.set_ylabel("class")
    axes.set_title(f"{title}: {names[first]} and {names[second]}")


def _mark_grown_columns(axes: Axes, kinds: NDArray[np.str_]) -> None:
    """Mark the columns that growth has added, above the matrix."""
    for kind, marker in (("simple", "v"), ("clustered", "o")):
        columns = np.flatnonzero(kinds == kind)
        if len(columns):
            axes.plot(
                columns,
                np.full(len(columns), 1.0 + 0.03),
                marker,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                markersize=4,
                markerfacecolor="none" if kind == "clustered" else "0.3",
                markeredgecolor="0.3",
                label=kind,
            )


def _matrix_and_names(matrix: Any, class_names: Sequence[str] | None) -> tuple[NDArray[np.int8], list[str]]:
    """Take the matrix and the row names from an array or a fitted classifier."""
    M = check_code_matrix(getattr(matrix, "code_matrix_", matrix), argument="matrix")
    default = getattr(matrix, "classes_", range(len(M)))
    if hasattr(matrix, "row_classes_"):  # a class may have several rows
        default = default[matrix.row_classes_]
    names = [str(name) for name in (default if class_names is None else class_names)]
    if len(names) != len(M):
        raise ValueError(f"class_names must hold {len(M)} names, one per row of the matrix, got {len(names)}")
    return M, names


def _new_axes(shape: tuple[int, int]) -> Axes:
    """Make a figure whose cells come out about square."""
    import matplotlib.pyplot as plt

    size = (min(12.0, 1.5 + 0.3 * shape[1]), min(9.0, 1.0 + 0.3 * shape[0]))
    return plt.subplots(figsize=size, layout="constrained")[1]


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
    _name_rows(axes, names)
    axes.set_xticks(np.arange(0, n_columns, max(1, n_columns // 10)))
    axes.set_xlabel("column")


def _name_rows(axes: Axes, names: list[str]) -> NDArray[np.intp]:
    """Name the rows, as many as there is room for; return which."""
    shown = np.arange(0, len(names), max(1, len(names) // 25))
    axes.set_yticks(shown, [names[row] for row in shown])
    return shown
