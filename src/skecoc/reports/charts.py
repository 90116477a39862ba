"""Geometry of small charts; the template draws them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 44
SMALLEST_DOT, LARGEST_DOT = 3.0, 11.0


def line_chart(
    key: str, title: str, x: Sequence[float], series: Mapping[str, Sequence[float]], marked: float
) -> dict[str, Any]:
    """Place lines over the number of columns.

    Parameters
    ----------
    key : str
        What tells the chart from others of the page.
    title : str
        What the vertical axis shows.
    x : sequence of float of length n_points
        Numbers of columns, ascending.
    series : mapping of str to sequence of float of length n_points
        Values of each line.
    marked : float
        The number of columns to mark: that of the code that is kept.

    Returns
    -------
    dict
        ``width``, ``height``, ``frame`` (left, right, top, bottom), ``x_ticks`` and ``y_ticks`` (text and place),
        ``lines`` (name, points, dots), ``mark`` (x) and ``description``, the chart in words.

    Examples
    --------
    >>> chart = line_chart("loss", "Loss", [3, 6], {"loss": [0.5, 0.25]}, marked=6)
    >>> chart["lines"][0]["points"]
    '56.0,12.0 408.0,216.0'
    """
    values = [value for line in series.values() for value in line]
    x_scale, y_scale = (
        _scale(min(x), max(x), LEFT, WIDTH - RIGHT),
        _scale(min(values), max(values), HEIGHT - BOTTOM, TOP),
    )
    lines = []
    for name, line in series.items():
        places = [(x_scale(count), y_scale(value)) for count, value in zip(x, line, strict=True)]
        lines.append({"name": name, "points": " ".join(f"{a},{b}" for a, b in places), "dots": places})
    described = "; ".join(f"{name} from {line[0]:.3g} to {line[-1]:.3g}" for name, line in series.items())
    return {
        "key": key,
        "title": title,
        **_frame(),
        "x_ticks": [{"text": f"{tick:g}", "place": x_scale(tick)} for tick in _ticks(min(x), max(x), whole=True)],
        "y_ticks": [{"text": f"{tick:.4g}", "place": y_scale(tick)} for tick in _ticks(min(values), max(values))],
        "lines": lines,
        "mark": x_scale(marked),
        "description": f"{title} for {min(x)} to {max(x)} columns: {described}. The code that is kept has {marked}.",
    }


def calibration_chart(bins: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Place a dot for each bin of probabilities: how sure the model is, how often it is right, how many rows.

    Parameters
    ----------
    bins : sequence of dict
        ``rows``, ``confidence`` and ``accuracy`` of each bin that is not empty.

    Returns
    -------
    dict
        ``width``, ``height``, ``frame``, ``x_ticks`` and ``y_ticks`` as of `line_chart`, ``dots`` (x, y, radius, text)
        and ``description``.

    Examples
    --------
    >>> calibration_chart([{"rows": 10, "confidence": 1.0, "accuracy": 0.5}])["dots"][0]["y"]
    114.0
    """
    x_scale, y_scale = _scale(0.0, 1.0, LEFT, WIDTH - RIGHT), _scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    largest = max((row["rows"] for row in bins), default=1)
    dots = [
        {
            "x": x_scale(row["confidence"]),
            "y": y_scale(row["accuracy"]),
            "radius": round(SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * (row["rows"] / largest) ** 0.5, 1),
            "text": f"{row['rows']} rows: {100 * row['confidence']:.0f} % sure, {100 * row['accuracy']:.0f} % right",
        }
        for row in bins
    ]
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    return {
        **_frame(),
        "x_ticks": [{"text": f"{100 * tick:g}", "place": x_scale(tick)} for tick in ticks],
        "y_ticks": [{"text": f"{100 * tick:g}", "place": y_scale(tick)} for tick in ticks],
        "dots": dots,
        "description": "; ".join(dot["text"] for dot in dots) + ".",
    }


def _frame() -> dict[str, Any]:
    """Return the size of a chart and of the frame in it."""
    frame = {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM}
    return {"width": WIDTH, "height": HEIGHT, "frame": frame}


def _scale(low: float, high: float, start: float, end: float) -> Any:
    """Return what places values between two ends; a single value is placed at the start."""
    span = high - low

    def place(value: float) -> float:
        return round(start + (end - start) * ((value - low) / span if span else 0.0), 1)

    return place


def _ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """Choose about five round values between two ends."""
    if high <= low:
        return [low]
    rough = (high - low) / 6
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough))
    step = max(round(step), 1) if whole else step
    first = int(np.ceil(low / step - 1e-9))
    return [number * step for number in range(first, int(np.floor(high / step + 1e-9)) + 1)]
