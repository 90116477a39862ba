"""Geometry of the report's figure; the template draws it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 560
MARGIN = 16
TOP = 8
ROW_HEIGHT = 46
AXIS_HEIGHT = 40


def dot_plot(methods: Sequence[str], data_sets: Sequence[str], accuracy: NDArray[np.float64]) -> dict[str, Any]:
    """Place a dot per data set and a mark for the mean on one line per method.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods, from top to bottom.
    data_sets : sequence of str
        Names of the data sets.
    accuracy : ndarray of shape (n_data_sets, n_methods)
        Accuracies in percent.

    Returns
    -------
    dict
        ``width`` and ``height`` of the drawing, ``left`` and ``right`` ends of
        the lines, ``ticks`` (value and x) of the axis, ``lines`` (a method's
        name, y, mean and dots) and ``description``, the figure in words.

    Examples
    --------
    >>> plot = dot_plot(["a/b"], ["iris", "wine"], np.array([[90.0], [80.0]]))
    >>> plot["lines"][0]["mean"], [tick["value"] for tick in plot["ticks"]]
    (85.0, [80, 85, 90, 95, 100])
    """
    ticks = _ticks(float(accuracy.min()))
    return {
        "width": WIDTH,
        "height": TOP + ROW_HEIGHT * len(methods) + AXIS_HEIGHT,
        "left": MARGIN,
        "right": WIDTH - MARGIN,
        "bottom": TOP + ROW_HEIGHT * len(methods),
        "ticks": [{"value": tick, "x": _x(tick, ticks[0])} for tick in ticks],
        "lines": [
            {
                "method": method,
                "y": TOP + ROW_HEIGHT * j + 32,
                "mean": float(accuracy[:, j].mean()),
                "mean_x": _x(float(accuracy[:, j].mean()), ticks[0]),
                "dots": [
                    {"data_set": name, "value": float(value), "x": _x(float(value), ticks[0])}
                    for name, value in zip(data_sets, accuracy[:, j], strict=True)
                ],
            }
            for j, method in enumerate(methods)
        ],
        "description": _description(methods, accuracy),
    }


def _ticks(smallest: float) -> list[int]:
    """Choose round axis values from at most the smallest accuracy to 100."""
    step = 5 if smallest >= 75 else 10 if smallest >= 40 else 20
    return list(range(int(smallest // step) * step if smallest < 100 else 95, 101, step))


def _x(value: float, low: float) -> float:
    """Place an accuracy on the axis from `low` to 100."""
    return round(MARGIN + (WIDTH - 2 * MARGIN) * (value - low) / (100 - low), 2)


def _description(methods: Sequence[str], accuracy: NDArray[np.float64]) -> str:
    """Say in words what the figure shows."""
    parts = [
        f"{method}: mean {column.mean():.1f} %, from {column.min():.1f} to {column.max():.1f} %"
        for method, column in zip(methods, accuracy.T, strict=True)
    ]
    return "; ".join(parts) + "."
