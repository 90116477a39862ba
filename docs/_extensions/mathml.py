"""Formulas as MathML, which browsers draw by themselves: pages need no script from the network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def to_mathml(node: nodes.math | nodes.math_block) -> str:
    """Convert a formula; a warning, hence an error of the build, names one that cannot be."""
    # What LaTeX allows and docutils does not: \dots, and fractions of two digits without braces.
    formula = re.sub(r"\\dots\b", r"\\ldots", node.astext())
    formula = re.sub(r"\\([dt]?frac)(\d)(\d)", r"\\\1{\2}{\3}", formula)
    try:
        return str(tex2mathml(formula, as_block=isinstance(node, nodes.math_block)))
    except ValueError as error:
        LOGGER.warning("formula %r: %s", formula, error, location=node)
        return ""


def visit_formula(translator: HTML5Translator, node: Any) -> None:
    """Write a formula, in a line or on its own."""
    translator.body.append(to_mathml(node))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
