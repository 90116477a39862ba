"""From a summary to one self-contained HTML file."""

from importlib.util import find_spec
from typing import Any

from skecoc.support.errors import InputError
from skecoc.support.text_layout import printable


def check_template_engine() -> None:
    """Raise an InputError, a ValueError, if jinja2 or matplotlib, which reports need, is not installed."""
    for module in ("jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise InputError(f"a report needs {module}: pip install 'scikit-ecoc[report]'")


def render(template: str, summary: dict[str, Any], package: str = "skecoc.reports") -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Name of the file, such as ``"comparison.html.jinja"``.
    summary : dict
        Data of the template. All text is escaped, since names in a user's file may contain HTML or control characters.
    package : str, default="skecoc.reports"
        The package whose folder ``templates`` contains the template; it may extend the templates of this package.

    Returns
    -------
    str
        A self-contained HTML document.

    Examples
    --------
    >>> from skecoc.compare import compare, load_data_sets
    >>> from skecoc.reports import render, summarize
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> render("comparison.html.jinja", summarize(result)).splitlines()[0]
    '<!doctype html>'
    """
    check_template_engine()
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    def shown(value: Any) -> Any:  # control characters are spelt out in text that is not yet HTML
        return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("skecoc.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(summary) + "\n"
