"""``skecoc fit``: from a table to a model in a file, with its held-out accuracy."""

import argparse
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from skecoc.benchmarking.methods import describe_parts
from skecoc.cli import console
from skecoc.reports.model import model_page, summarize_model
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_bytes, write_text
from skecoc.tables import describe_model, fit_table
from skecoc.tables.describe import comparison_text
from skecoc.tables.fitting import check_storable
from skecoc.tables.model import check_table_model
from skecoc.tables.preprocessing import read_data_set

_EPILOG = f"""\
A METHOD is CODING/DECODING; mixed, wolc and its kin have their own decoding.
{console.listed(describe_parts().split("; "))}

examples:
  skecoc fit flowers.csv --target species -o flowers.skops
  skecoc fit flowers.parquet --target species --method one-vs-one/loss-weighted \\
      --learner sklearn.linear_model.LogisticRegression --report flowers.html -o flowers.skops
  skecoc fit flowers.csv --target species --method wolc --learner svm -o flowers.skops
  skecoc fit flowers.csv --target species --learner sklearn.ensemble.RandomForestClassifier -o flowers.skops
  zcat flowers.csv.gz | skecoc fit - --target species --drop id comment -o flowers.skops"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "fit",
        description="Fit a model to a CSV or Parquet table: text becomes indicators, gaps are filled, constant\n"
        "columns and row numbers are left out. Prints the accuracy on held-out folds beside\n"
        "well-known methods, and writes the model to a file.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    console.add_table(parser)
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column that holds the classes")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="MODEL.skops", help="where to write the model"
    )
    what = parser.add_argument_group("what is fitted")
    what.add_argument(
        "--method",
        help="mixed (several learners for one code, the default), wolc (one learner, the default if --learner is "
        "given) or CODING/DECODING; see below",
    )
    console.add_learner(what, None, "; for all methods but mixed, which has its own learners (default: stumps)")
    what.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns to leave out")
    console.add_trust(what)
    how = parser.add_argument_group("how")
    how.add_argument("--folds", type=console.at_least(2), default=5, metavar="N", help="held-out folds (default: 5)")
    console.add_seed(how, console.at_least(0))
    console.add_jobs(how)
    where = parser.add_argument_group("what else comes out")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check_options(options)
    data_set = read_data_set(console.table_source(options.data), options.target)
    with redirect_stdout(sys.stderr):  # learners of other libraries may print
        model = fit_table(
            data_set,
            target=options.target,
            method=options.method,
            learner=options.learner,
            drop=options.drop,
            folds=options.folds,
            seed=options.seed,
            n_jobs=options.jobs,
            trusted=options.trust,
            show_progress=sys.stderr.isatty(),
        )
        try:
            check_table_model(model, options.output)
        except InputError as error:
            raise InputError(f"nothing is written, as skecoc predict would refuse it: {error}") from error
    for note in model.card_["notes"]:
        console.say(f"note: {note}")
    content = check_storable(model, options.trust)
    page = "" if options.report is None else model_page(summarize_model(describe_model(model)))
    write_bytes("--output", options.output, content)
    console.say(f"model written to {options.output}")
    if options.report is not None:
        write_text("--report", options.report, page)
        console.say(f"report written to {options.report}")
    console.deliver(comparison_text(model.card_["comparison"], options.folds))


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work is done."""
    if options.output == console.STANDARD:
        raise InputError("--output: a model is not written to standard output, expected the name of a file")
    check_writable("--output", options.output)
    console.check_page("--report", options.report)
    console.check_different({"--output": options.output, "--report": options.report}, {"data": options.data})
