"""Reports: a summary as plain data, and a template that turns it into one self-contained HTML file."""

from skecoc.reports.comparison import summarize
from skecoc.reports.templating import check_template_engine, render

__all__ = ["check_template_engine", "render", "summarize"]
