"""Figures with a name and a text for those who cannot see them; the same data give the same SVG, byte for byte.

They need matplotlib, which is imported when something is drawn: ``pip install "scikit-ecoc[report]"``.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from skecoc.support.errors import import_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of Okabe and Ito, which readers with any kind of colour vision tell apart; then the same for text, dark
#: enough to be read on white (a contrast of 4.5 at least).
CODING_COLORS = {
    "one-vs-one": ("#0072B2", "#00629A"),
    "one-vs-rest": ("#E69F00", "#8A5D00"),
    "random-10": ("#777777", "#5F5F5F"),
    "ecoc-one": ("#009E73", "#00704F"),
    "decoc": ("#CC79A7", "#9A4A78"),
    "wolc": ("#D55E00", "#B34B00"),
}

#: A second sign beside colour; sizes differ, so that one marker on top of another hides no more than its middle.
_MARKERS = {
    "hamming": ("o", 12.5),
    "loss-based": ("s", 9.5),
    "loss-weighted": ("^", 8.0),
    "optimized-weight": ("D", 9.0),
}

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
_GROUP = re.compile(r'<g id="group:([^"|]*)\|([^"]*)">')


@dataclass(frozen=True)
class Picture:
    """A figure, a name that is fit for a file, what it shows in a line, and what there is to see in words."""

    name: str
    title: str
    alt: str
    figure: "Figure"

    def __post_init__(self) -> None:
        # Laid out once and for all: every drawing would move the parts by a little.
        with drawing_style():
            self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def svg(self, *, transparent: bool = False) -> str:
        """Write the figure as an ``<svg>`` element that can stand in a page beside others: its ids begin with `name`.

        What belongs to a method is a group with the class ``method`` and the method's name in ``data-method``.
        """
        file = io.StringIO()
        metadata = {"Date": None, "Creator": None}
        with drawing_style():
            self.figure.savefig(file, format="svg", metadata=metadata, transparent=transparent)
        text = file.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
        text = _GROUP.sub(_group_element, text)
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.name}-", text)

    def for_page(self) -> dict[str, str]:
        """Return what a template needs to show the figure; without a ground, so that a dark page may invert it."""
        return {"title": self.title, "svg": self.svg(transparent=True)}

    def png(self, dpi: int = 100) -> bytes:
        """Write the figure as PNG."""
        file = io.BytesIO()
        with drawing_style():
            self.figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
        return file.getvalue()


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in the style of these figures, whatever the user's settings are."""
    import_extra("matplotlib", "report", "a figure")
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure of a size in inches that no interactive window knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def color_of(method: str, *, text: bool = False) -> str:
    """Return the colour of a method's coding, for shapes or for text."""
    return CODING_COLORS.get(method.split("/", maxsplit=1)[0], ("#000000", "#000000"))[text]


def marker_of(method: str) -> dict[str, Any]:
    """Return arguments of matplotlib's ``plot`` for a method's points: colour by coding, shape and size by decoding."""
    marker, size = _MARKERS.get(method.rpartition("/")[2], ("P", 9.0))
    return {
        "linestyle": "",
        "marker": marker,
        "markersize": size,
        "color": color_of(method),
        "markeredgecolor": "white",
        "gid": group_id(method),
    }


def group_id(method: str = "", text: str = "") -> str:
    """Return the ``gid`` that makes an artist part of a method's group, with a text that is shown above it."""
    return f"group:{method}|{text}"


def _group_element(match: re.Match[str]) -> str:
    """Write what `group_id` says as attributes and a title."""
    method, text = match.groups()
    attributes = f' class="method" data-method="{method}"' if method else ""
    return f"<g{attributes}>" + (f"<title>{text}</title>" if text else "")
