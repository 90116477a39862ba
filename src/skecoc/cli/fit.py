"""``skecoc fit``: from a table to a model in a file, with its held-out results."""

import argparse
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from skecoc.cli import console
from skecoc.support.errors import InputError
from skecoc.support.files import check_model_path, check_writable, write_bytes, write_text
from skecoc.support.names import CLASSIFIERS, DECODINGS, METHOD_CODINGS

_EPILOG = f"""\
Without --method, these are tried, and the best by --metric is saved: mixed (several learners
for one code), codes of boosted stumps, a random forest, gradient boosting and logistic regression;
with --learner, codes of that learner. The majority class is shown for comparison.

A METHOD is auto, CODING, CODING/DECODING, or one of scikit-learn's classifiers.
{
    console.listed(
        [
            f"codings: {', '.join(METHOD_CODINGS)}",
            f"decodings: {', '.join(DECODINGS)}",
            f"classifiers: {', '.join(name.partition('/')[2] for name in CLASSIFIERS[:-1])}",
        ]
    )
}

examples:
  skecoc fit flowers.csv --target species -o flowers.skops
  skecoc fit flowers.xlsx --target species --metric macro-f1 --report flowers.html -o flowers.skops
  skecoc fit visits.csv --target outcome --group patient --class-weight balanced --time-budget 5m -o visits.skops
  skecoc fit grades.csv --target grade --order bad,fair,good --method ordinal -o grades.skops
  skecoc fit flowers.csv --target species --learner "random-forest n_estimators=500" -o flowers.skops
  zcat flowers.csv.gz | skecoc fit - --target species --drop id comment -o flowers.skops"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "fit",
        description="Fit a model to a table: methods are compared on held-out folds, the best is trained on all rows\n"
        "and written to a file that skecoc predict and skecoc inspect read.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    console.add_table(parser)
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column that holds the classes")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="MODEL.skops", help="where to write the model"
    )
    console.add_reading(parser)
    columns = parser.add_argument_group("columns and classes")
    console.add_columns(columns)
    what = parser.add_argument_group("model")
    what.add_argument("--method", default="auto", help="auto (the default) is the best of several; others: see below")
    console.add_learner(what)
    console.add_trust(what)
    how = parser.add_argument_group("comparison of methods")
    console.add_judgement(how)
    how.add_argument(
        "--time-budget",
        type=console.seconds,
        metavar="TIME",
        help="time limit: a number of seconds, or a time such as 5m or 1h; methods that would take longer are skipped",
    )
    how.add_argument("--test", type=Path, metavar="FILE", help="a further table to test the final model on")
    how.add_argument("--folds", type=console.at_least(2), default=5, metavar="N", help="number of folds (default: 5)")
    console.add_seed(how, console.at_least(0))
    console.add_jobs(how)
    where = parser.add_argument_group("further output")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check_options(options)
    from skecoc.reports.model_report import model_page, scores_text
    from skecoc.tables import describe_model, fit_table
    from skecoc.tables.fitting import check_storable
    from skecoc.tables.model import check_table_model
    from skecoc.tables.reading import read_data_set

    reading = console.reading_options(options)
    data_set = read_data_set(console.table_source(options.data), options.target, reading)
    test = None if options.test is None else read_data_set(options.test, options.target, reading)
    with redirect_stdout(sys.stderr):  # learners of other libraries may print
        model = fit_table(
            data_set,
            target=options.target,
            method=options.method,
            learner=options.learner,
            metric=options.metric,
            class_weight=options.class_weight,
            drop=options.drop,
            group=options.group,
            order=options.order,
            test=test,
            time_budget=options.time_budget,
            max_rows=options.max_rows,
            folds=options.folds,
            seed=options.seed,
            n_jobs=options.jobs,
            trusted=options.trust,
            command=options.command,
            show_progress=sys.stderr.isatty(),
        )
        try:
            check_table_model(model, options.output)
        except InputError as error:
            raise InputError(f"nothing is written, as skecoc predict would refuse it: {error}") from error
    console.say_notes(model.card_["notes"])
    content = check_storable(model, options.trust)
    description = describe_model(model)
    page = "" if options.report is None else model_page(description)
    write_bytes("--output", options.output, content)
    console.say(f"model written to {options.output}")
    if options.report is not None:
        write_text("--report", options.report, page)
        console.say(f"report written to {options.report}")
    console.deliver(scores_text(description))


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work is done."""
    if options.output == console.STANDARD:
        raise InputError("--output: a model cannot be written to standard output, expected a file name")
    console.check_there("data", options.data)
    console.check_there("--test", options.test)
    check_model_path("--output", options.output)
    check_writable("--output", options.output)
    console.check_page("--report", options.report)
    inputs = {"data": options.data, **({} if options.test is None else {"--test": options.test})}
    console.check_different({"--output": options.output, "--report": options.report}, inputs)
