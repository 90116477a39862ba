"""``skecoc inspect``: what a model has learnt, as text or as a page."""

import argparse
from collections.abc import Callable
from pathlib import Path

from skecoc.cli import console
from skecoc.support.files import write_text

_EPILOG = """\
The page begins with the score on held-out rows, its confidence interval, and the score of always
predicting the most frequent class. It shows the compared methods and why this one was chosen,
results of each class (precision, recall, confusion, calibration) and of the test file, the most
important columns for pairs of classes, and the command that repeats the fit. For output codes,
it also shows the code matrix, the weights, the shares of learners, the hard pairs of classes and
the columns that were added for them. The page needs no connection to the internet.

examples:
  skecoc inspect flowers.skops
  skecoc inspect flowers.skops --html flowers.html"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "inspect",
        description="Show what a model has learnt, as text or, with --html, as an HTML page.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL.skops", help="a model written by skecoc")
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write an HTML page instead of text")
    console.add_trust(parser)


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    from skecoc.reports.model_report import model_page, model_text
    from skecoc.tables import describe_model
    from skecoc.tables.model import read_model

    console.check_page("--html", options.html)
    console.check_different({"--html": options.html}, {"model": options.model})
    description = describe_model(read_model(options.model, options.trust, lambda note: console.say(f"note: {note}")))
    if options.html is None:
        console.deliver(model_text(description))
        return
    write_text("--html", options.html, model_page(description))
    console.say(f"report written to {options.html}")
