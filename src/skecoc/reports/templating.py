"""From a summary to one self-contained HTML file."""

from importlib.util import find_spec
from typing import Any

from skecoc.support.errors import InputError


def check_template_engine() -> None:
    """Refuse to start work towards a report that could not be written.

    Raises
    ------
    InputError
        If jinja2, an optional dependency, is not installed.

    Examples
    --------
    >>> check_template_engine()
    """
    if find_spec("jinja2") is None:
        raise InputError("a report needs jinja2: pip install 'scikit-ecoc[report]'")


def render(template: str, summary: dict[str, Any]) -> str:
    """Fill a template of this package.

    Parameters
    ----------
    template : str
        Name of a file in ``templates/``, such as ``"comparison.html.jinja"``.
    summary : dict
        What the template shows. All text in it is escaped: names in a user's
        file may hold HTML.

    Returns
    -------
    str
        A complete HTML document that loads nothing from anywhere.

    Raises
    ------
    InputError
        If jinja2 is not installed.

    Examples
    --------
    >>> from skecoc.benchmarking import compare, load_data_sets
    >>> from skecoc.reports import summarize
    >>> result = compare(load_data_sets(["iris"]), ["one-vs-one/hamming"], folds=2)
    >>> render("comparison.html.jinja", summarize(result)).splitlines()[0]
    '<!doctype html>'
    """
    check_template_engine()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("skecoc.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(summary) + "\n"
