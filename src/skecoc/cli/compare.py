"""``skecoc compare``: methods on data sets, by cross-validation."""

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from skecoc.benchmarking import (
    DEFAULT_DATA_SETS,
    DEFAULT_METHODS,
    Comparison,
    DataSet,
    compare,
    load_data_sets,
)
from skecoc.benchmarking.methods import PEERS, describe_parts
from skecoc.cli.console import add_jobs, at_least, deliver, names_and_examples, say
from skecoc.datasets import list_uci
from skecoc.reports import check_template_engine, render, summarize
from skecoc.reports.comparison import comparison_json, comparison_table
from skecoc.reports.tables import to_csv, to_text
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_text
from skecoc.tables.preprocessing import as_data_set, read_data_set


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "compare",
        description="Compare multiclass methods on data sets by stratified cross-validation,\n"
        "all on the same folds. Without options: the classical codes on shipped data,\n"
        "in less than a minute.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
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
    what.add_argument(
        "--learner",
        default="stumps",
        help="the binary learner of all methods: stumps (boosted, the default), svm (RBF, tuned) or an "
        "import path such as sklearn.linear_model.LogisticRegression",
    )
    how = parser.add_argument_group("how")
    how.add_argument("--folds", type=at_least(2), default=5, metavar="N", help="folds (default: 5)")
    how.add_argument("--repeats", type=at_least(1), default=1, metavar="N", help="new splits (default: 1)")
    how.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random (default: 0)")
    add_jobs(how)
    where = parser.add_argument_group("what comes out")
    where.add_argument("--format", choices=["table", "json", "csv"], default="table", help="default: table")
    where.add_argument("--output", type=Path, metavar="FILE", help="write there instead of to standard output")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _epilog() -> str:
    """List the names and a few examples below the help."""
    peers, data_sets = f"scikit-learn: {', '.join(PEERS)}", f"data sets: {', '.join(list_uci())}"
    return names_and_examples(
        "A METHOD is CODING/DECODING or one of scikit-learn's own.",
        [*describe_parts().split("; "), peers, data_sets],
        [
            "skecoc compare",
            "skecoc compare --datasets vowel glass --methods one-vs-one/hamming forest/loss-weighted",
            "skecoc compare --data my.csv --target label --report report.html",
            "skecoc compare --format csv --output results.csv",
        ],
    )


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check_options(options)
    comparison = compare(
        [*_own_table(options), *load_data_sets(_data_set_names(options))],
        options.methods,
        learner=options.learner,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
    )
    for note in comparison.notes:
        say(f"note: {note}")
    if options.report is not None:
        write_text("--report", options.report, render("comparison.html.jinja", summarize(comparison)))
        say(f"report written to {options.report}")
    deliver(_format(comparison, options), options.output)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work is done, and options that contradict each other."""
    if options.data is not None and options.target is None:
        raise InputError("--data needs --target, the name of the column that holds the classes")
    if options.target is not None and options.data is None:
        raise InputError("--target needs --data, the file that has this column")
    if options.report is not None:
        check_template_engine()
        check_writable("--report", options.report)
    if options.output is not None:
        check_writable("--output", options.output)
        if options.report is not None and options.report.resolve() == options.output.resolve():
            raise InputError("--output and --report are the same file")


def _own_table(options: argparse.Namespace) -> list[DataSet]:
    """Read the user's file, if there is one; its name in tables is the file's, never that of a shipped set."""
    if options.data is None:
        return []
    own = read_data_set(options.data, options.target)
    return [as_data_set(own.name, own.X, own.y)]


def _data_set_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the shipped data sets to compare on; a user's file alone needs none."""
    if options.datasets is None:
        return [] if options.data is not None else list(DEFAULT_DATA_SETS)
    return list_uci() if options.datasets == ["all"] else list(options.datasets)


def _format(comparison: Comparison, options: argparse.Namespace) -> str:
    """Write the comparison in the format of the option."""
    if options.format == "json":
        return comparison_json(comparison)
    table = comparison_table(comparison)
    if options.format == "csv":
        return to_csv(table, digits=17)
    to_terminal = options.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if to_terminal else None
    return to_text(table, width, with_deviations=False)
