"""Colours, axes and checks of classifiers that all plots share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Blue and orange of equal lightness on a pale ground: told apart by colour-blind readers and in print.
NEGATIVE, ZERO, POSITIVE = "#d8822b", "#f2f2f0", "#2b6cb0"
# Okabe and Ito's colours, neighbours of different lightness; beyond them they come again, hatched.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666")


def two_panels(caller: str, figure: Figure | None, height: float) -> NDArray[np.object_]:
    """Make two axes side by side, in a new figure unless one is given."""
    check_matplotlib_support(caller)
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(8.0, height), layout="constrained")
    return figure.subplots(1, 2)


def new_axes(shape: tuple[int, int]) -> Axes:
    """Make a figure whose cells come out about square."""
    import matplotlib.pyplot as plt

    size = (min(12.0, 1.5 + 0.3 * shape[1]), min(9.0, 1.0 + 0.3 * shape[0]))
    return plt.subplots(figsize=size, layout="constrained")[1]


def name_rows(axes: Axes, names: list[str]) -> NDArray[np.intp]:
    """Name the rows, as many as there is room for; return which."""
    shown = np.arange(0, len(names), max(1, len(names) // 25))
    axes.set_yticks(shown, [names[row] for row in shown])
    return shown


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline, and others as they are."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def as_seen(model: Any, X: Any) -> Any:
    """Return samples as the last step of a pipeline sees them."""
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model) > 1 else X
        model = model.steps[-1][1]
    return X


def fitted(model: Any) -> Any:
    """Return a classifier that is fitted, of a pipeline its last step.

    Arrays are returned as they are.
    """
    if not isinstance(model, BaseEstimator):
        return model
    check_is_fitted(model)
    return last_step(model)
