"""Reports: a summary as plain data, and a template that turns it into one self-contained HTML file.

Tables (`Table`) and figures (`Picture`) are the same for all reports.
"""

from skecoc.reports.comparison import summarize
from skecoc.reports.model_report import model_page
from skecoc.reports.pictures import (
    Picture,
    color_of,
    drawing_style,
    marker_of,
    new_figure,
    rank_picture,
    values_by_method_picture,
)
from skecoc.reports.tables import WRITERS, Cell, Row, Table, to_csv, to_html, to_markdown, to_text
from skecoc.reports.templating import check_template_engine, render

__all__ = [
    "WRITERS",
    "Cell",
    "Picture",
    "Row",
    "Table",
    "check_template_engine",
    "color_of",
    "drawing_style",
    "marker_of",
    "model_page",
    "new_figure",
    "rank_picture",
    "render",
    "summarize",
    "to_csv",
    "to_html",
    "to_markdown",
    "to_text",
    "values_by_method_picture",
]
