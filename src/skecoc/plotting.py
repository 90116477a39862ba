"""Pictures of codes and weights. Needs matplotlib: ``pip install "scikit-ecoc[plot]"``."""

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


def plot_code_matrix(
    matrix: Any, *, class_names: Sequence[str] | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a code matrix: a row per class, a column per binary question.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns) or fitted classifier
        The code matrix, or a classifier with a `code_matrix_`, whose classes then name the rows.
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
    >>> ax = plot_code_matrix(one_vs_one(4), title="one-vs-one")
    >>> ax.get_xlabel()
    'column'
    """
    check_matplotlib_support("plot_code_matrix")
    from matplotlib.colors import ListedColormap

    M, names = _matrix_and_names(matrix, class_names)
    axes = _new_axes(M.shape) if ax is None else ax
    axes.imshow(M, cmap=ListedColormap([_NEGATIVE, _ZERO, _POSITIVE]), vmin=-1, vmax=1, aspect="auto")
    _draw_grid(axes, M.shape)
    _label_axes(axes, names, M.shape[1])
    if title is not None:
        axes.set_title(title)
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
    >>> import numpy as np
    >>> from skecoc.coding import one_vs_rest
    >>> from skecoc.plotting import plot_weights
    >>> left, right = plot_weights(np.full((3, 3), 1 / 3), one_vs_rest(3))
    >>> right.get_title()
    'weights'
    """
    check_matplotlib_support("plot_weights")
    import matplotlib.pyplot as plt

    W = np.asarray(getattr(weights, "weights_", weights), dtype=np.float64)
    M, names = _matrix_and_names(weights if matrix is None else matrix, class_names)
    if W.shape != M.shape:
        raise ValueError(f"weights and matrix must have the same shape, got {W.shape} and {M.shape}")
    figure = plt.figure(figsize=(8.0, 3.2), layout="constrained") if figure is None else figure
    left, right = figure.subplots(1, 2)
    plot_code_matrix(M, class_names=names, title="code matrix", ax=left)
    image = right.imshow(np.ma.masked_where(M == 0, W), cmap="viridis", vmin=0.0, aspect="auto")
    right.set_facecolor(_ZERO)  # positions where the matrix is zero carry no weight
    _draw_grid(right, M.shape)
    _label_axes(right, names, M.shape[1])
    right.set_title("weights")
    figure.colorbar(image, ax=right, label="weight")
    return np.array([left, right])


def _matrix_and_names(matrix: Any, class_names: Sequence[str] | None) -> tuple[NDArray[np.int8], list[str]]:
    """Take the matrix and the row names from an array or a fitted classifier."""
    M = check_code_matrix(getattr(matrix, "code_matrix_", matrix), argument="matrix")
    default = getattr(matrix, "classes_", range(len(M)))
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
    rows = np.arange(0, len(names), max(1, len(names) // 25))
    axes.set_yticks(rows, [names[row] for row in rows])
    axes.set_xticks(np.arange(0, n_columns, max(1, n_columns // 10)))
    axes.set_xlabel("column")
