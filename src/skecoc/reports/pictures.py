"""Figures with a name and a text for those who cannot see them; the same data give the same SVG, byte for byte.

Needs matplotlib: ``pip install "scikit-ecoc[plot]"``.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from sklearn.utils._optional_dependencies import check_matplotlib_support

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of Okabe and Ito, which readers with any kind of colour vision tell apart.
COLORS = {
    "one-vs-one": "#0072B2",
    "one-vs-rest": "#E69F00",
    "random-10": "#777777",
    "ecoc-one": "#009E73",
    "decoc": "#CC79A7",
    "wolc": "#D55E00",
}
OTHER_COLOR = "#000000"

#: The same for text, dark enough to be read on white (a contrast of 4.5 at least).
TEXT_COLORS = {
    "one-vs-one": "#00629A",
    "one-vs-rest": "#8A5D00",
    "random-10": "#5F5F5F",
    "ecoc-one": "#00704F",
    "decoc": "#9A4A78",
    "wolc": "#B34B00",
}

#: A second sign beside colour.
MARKERS = {"hamming": "o", "loss-based": "s", "loss-weighted": "^", "optimized-weight": "D"}
OTHER_MARKER = "P"

#: Different sizes, so that one marker on top of another hides no more than its middle.
SIZES = {"hamming": 12.5, "loss-based": 9.5, "loss-weighted": 8.0, "optimized-weight": 9.0}
OTHER_SIZE = 9.0

_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be found, and read aloud
    "svg.hashsalt": "skecoc",
}
_METHOD = "method:"


@dataclass(frozen=True)
class Picture:
    """A figure, what it is called and what it shows.

    Attributes
    ----------
    name : str
        A short name, fit for a file.
    title : str
        What it shows, in a line.
    alt : str
        What there is to see, in words.
    figure : matplotlib Figure
        The drawing.
    """

    name: str
    title: str
    alt: str
    figure: "Figure"

    def __post_init__(self) -> None:
        # Laid out once and for all: every drawing would move the parts by a little.
        with drawing_style():
            self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def svg(self) -> str:
        """Write the figure as SVG.

        Returns
        -------
        str
            An ``<svg>`` element with `alt` as its label, fit for a page with other figures: its ids begin with `name`.
            What belongs to a method is a group with the class ``method`` and the method's name in ``data-method``.
        """
        file = io.StringIO()
        with drawing_style():
            self.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        text = file.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
        text = re.sub(rf'<g id="{_METHOD}([^"]*)">', r'<g class="method" data-method="\1">', text)
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.name}-", text)

    def png(self, dpi: int = 100) -> bytes:
        """Write the figure as PNG.

        Parameters
        ----------
        dpi : int, default=100
            Dots per inch.

        Returns
        -------
        bytes
            Content of a PNG file.
        """
        file = io.BytesIO()
        with drawing_style():
            self.figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
        return file.getvalue()


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in the style of these figures, whatever the user's settings are.

    Yields
    ------
    None
        While the style is in force.
    """
    check_matplotlib_support("skecoc.paper.figures")
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure that no interactive window knows of.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib Figure
        With a layout that keeps labels apart.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def color_of(method: str) -> str:
    """Return the colour of a method's coding.

    Parameters
    ----------
    method : str
        Name ``coding/decoding``.

    Returns
    -------
    str
        The colour.
    """
    return COLORS.get(method.split("/", maxsplit=1)[0], OTHER_COLOR)


def text_color_of(method: str) -> str:
    """Return the colour of a method's coding for text.

    Parameters
    ----------
    method : str
        Name ``coding/decoding``.

    Returns
    -------
    str
        The colour.
    """
    return TEXT_COLORS.get(method.split("/", maxsplit=1)[0], OTHER_COLOR)


def marker_of(method: str) -> dict[str, Any]:
    """Return how a method's points are drawn: colour by coding, shape and size by decoding.

    Parameters
    ----------
    method : str
        Name ``coding/decoding``.

    Returns
    -------
    dict
        Arguments of matplotlib's ``plot``; they make the points part of the method's group.
    """
    decoding = method.rpartition("/")[2]
    return {
        "linestyle": "",
        "marker": MARKERS.get(decoding, OTHER_MARKER),
        "markersize": SIZES.get(decoding, OTHER_SIZE),
        "color": color_of(method),
        "markeredgecolor": "white",
        "gid": group_id(method),
    }


def group_id(method: str) -> str:
    """Return the id that makes an artist part of a method's group.

    Parameters
    ----------
    method : str
        Name ``coding/decoding``.

    Returns
    -------
    str
        For an artist's ``gid``.
    """
    return f"{_METHOD}{method}"
