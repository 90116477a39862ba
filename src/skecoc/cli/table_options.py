"""Options that ``fit`` and ``compare`` share: what a table's columns mean, and how methods are judged."""

import argparse
import csv
import math

from skecoc.cli import console
from skecoc.support.names import LEARNERS, METRICS

#: Rows that methods are compared on, at most, unless --max-rows says otherwise.
MAX_ROWS = 10_000

_UNITS = {"s": 1, "m": 60, "h": 3600}


def add_columns(group: argparse._ActionsContainer) -> None:
    """Add what is said about columns."""
    group.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns to ignore")
    group.add_argument(
        "--group",
        metavar="COLUMN",
        help="a column of groups, such as patients: rows of a group are never split between training and test (the "
        "column is not a feature)",
    )
    group.add_argument(
        "--order",
        type=_names,
        default=[],
        metavar="A,B,C",
        help="the classes from the lowest to the highest, for the ordinal code",
    )


def add_judgement(group: argparse._ActionsContainer) -> None:
    """Add how methods are judged."""
    group.add_argument(
        "--metric",
        default=METRICS[0],
        help=f"the metric: {', '.join(METRICS)}, or the name of a scikit-learn scorer (default: {METRICS[0]})",
    )
    group.add_argument(
        "--class-weight", choices=["balanced"], help="give all classes the same total weight in training"
    )
    group.add_argument(
        "--max-rows",
        type=console.at_least(10),
        default=MAX_ROWS,
        metavar="N",
        help=f"maximum number of rows to compare methods on (default: {MAX_ROWS})",
    )


def add_learner(group: argparse._ActionsContainer) -> None:
    """Add the option ``--learner``."""
    group.add_argument(
        "--learner",
        metavar="NAME",
        help=f"the binary learner of codes: {', '.join(LEARNERS)}, or an import path; parameters may follow, as in "
        '"random-forest n_estimators=500" (default: stumps; mixed and scikit-learn\'s classifiers have their own)',
    )


def seconds(text: str) -> float:
    """Read a time such as 90, 90s, 5m or 1.5h."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        found = float(number) * _UNITS[unit]
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"expected a time such as 90, 5m or 1h, got {text!r}")
    return found


def _names(text: str) -> list[str]:
    """Split names at commas; one that holds a comma stands in double quotes."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    if len(names) < 2 or not all(name.strip() for name in names):
        raise argparse.ArgumentTypeError(f"expected the names of all classes with commas between, got {text!r}")
    return [name.strip() for name in names]
