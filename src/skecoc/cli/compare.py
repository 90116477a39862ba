"""``skecoc compare``: methods on data sets, by cross-validation."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from skecoc.benchmarking import DEFAULT_DATA_SETS, DEFAULT_METHODS, Comparison, compare, load_data_sets
from skecoc.benchmarking.methods import CLASSIFIERS, STRATEGIES, describe_parts
from skecoc.cli import console
from skecoc.datasets import list_uci
from skecoc.reports import render, summarize
from skecoc.reports.comparison import comparison_json, comparison_table
from skecoc.reports.tables import to_csv, to_text
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_text
from skecoc.tables.preprocessing import as_data_set, read_data_set

_NAMES = [
    *describe_parts().split("; "),
    f"scikit-learn's strategies: {', '.join(STRATEGIES)}",
    f"scikit-learn's classifiers: {', '.join(CLASSIFIERS)}",
    f"data sets: {', '.join(list_uci())}",
]
_EPILOG = f"""\
A METHOD is CODING/DECODING or one of scikit-learn's own; mixed, wolc and its kin
have their own decoding.
{console.listed(_NAMES)}

examples:
  skecoc compare
  skecoc compare --datasets vowel glass --methods one-vs-one/hamming forest/loss-weighted
  skecoc compare --data my.csv --target label --report report.html
  skecoc compare --data my.csv --target label --methods mixed sklearn/boosting sklearn/svm
  skecoc compare --format csv --output results.csv"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "compare",
        description="Compare multiclass methods on data sets by stratified cross-validation,\n"
        "all on the same folds. Without options: our codes, the classical ones and a forest\n"
        "on shipped data, in about two minutes on two cores.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    what = parser.add_argument_group("what is compared")
    what.add_argument("--methods", nargs="+", metavar="METHOD", default=list(DEFAULT_METHODS), help="see below")
    what.add_argument("--datasets", nargs="+", metavar="NAME", help="shipped data sets, or 'all'")
    what.add_argument(
        "--data",
        metavar="FILE",
        type=Path,
        help="a CSV or Parquet file of your own, instead of shipped data or beside --datasets",
    )
    what.add_argument("--target", metavar="COLUMN", help="the column of --data that holds the classes")
    console.add_learner(what, remark="; mixed has its own learners, and scikit-learn's classifiers take none")
    how = parser.add_argument_group("how")
    console.add_splits(how, folds=5)
    console.add_jobs(how)
    where = parser.add_argument_group("what comes out")
    console.add_output(where, ["table", "json", "csv"])
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check_options(options)
    data_sets = []
    if options.data is not None:
        own = read_data_set(options.data, options.target)
        data_sets.append(as_data_set(own.name, own.X, own.y))
    names = options.datasets or ([] if data_sets else DEFAULT_DATA_SETS)
    comparison = compare(
        data_sets + load_data_sets(list_uci() if names == ["all"] else names),
        options.methods,
        learner=options.learner,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
    )
    for note in comparison.notes:
        console.say(f"note: {note}")
    if options.report is not None:
        write_text("--report", options.report, render("comparison.html.jinja", summarize(comparison)))
        console.say(f"report written to {options.report}")
    console.deliver(_format(comparison, options), options.output)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work is done, and options that contradict each other."""
    if options.target is None and options.data is not None:
        raise InputError("--data needs --target, the name of the column that holds the classes")
    if options.data is None and options.target is not None:
        raise InputError("--target needs --data, the file that has this column")
    console.check_page("--report", options.report)
    if options.output is not None:
        check_writable("--output", options.output)
    console.check_different({"--report": options.report, "--output": options.output}, {})


def _format(comparison: Comparison, options: argparse.Namespace) -> str:
    """Write the comparison in the format of the option."""
    if options.format == "json":
        return comparison_json(comparison)
    table = comparison_table(comparison)
    if options.format == "csv":
        return to_csv(table, digits=17)
    return to_text(table, console.terminal_width(options), with_deviations=False)
