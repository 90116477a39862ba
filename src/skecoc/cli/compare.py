"""``skecoc compare``: methods on a table, or on shipped data sets, by cross-validation."""

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skecoc.cli import console
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_text
from skecoc.support.names import (
    CLASSIFIERS,
    DATA_SETS,
    DECODINGS,
    DEFAULT_DATA_SETS,
    DEFAULT_METHODS,
    METHOD_CODINGS,
    METRICS,
    STRATEGIES,
)

if TYPE_CHECKING:
    from skecoc.compare import Comparison, DataSet

_NAMES = [
    f"codings: {', '.join(METHOD_CODINGS)}",
    f"decodings: {', '.join(DECODINGS)}",
    f"scikit-learn's strategies: {', '.join(STRATEGIES)}",
    f"scikit-learn's classifiers: {', '.join(CLASSIFIERS)}",
    "default for a table: those of skecoc fit",
    f"default for included data: {', '.join(DEFAULT_METHODS)}",
    f"included data sets: {', '.join(DATA_SETS)}",
]
_EPILOG = f"""\
A METHOD is CODING, CODING/DECODING or one of scikit-learn's own.
{console.listed(_NAMES)}

examples:
  skecoc compare
  skecoc compare flowers.csv --target species --report report.html
  skecoc compare flowers.csv --target species --methods mixed boosting logistic --metric log-loss
  skecoc compare --datasets vowel glass --methods one-vs-one/hamming forest/loss-weighted
  skecoc compare --format csv --output results.csv"""
# Options that `fit` must have, too, for the same result, with their defaults.
_COPIED: dict[str, Any] = {
    **dict.fromkeys(("sep", "decimal", "thousands", "encoding", "sheet", "learner", "class_weight", "group")),
    "na": [],
    "drop": [],
    "order": [],
    "metric": METRICS[0],
    "max_rows": console.MAX_ROWS,
    "folds": 5,
    "seed": 0,
}
_ONLY_OF_TABLES = ("target", "drop", "group", "order")


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "compare",
        description="Compare multiclass methods by stratified cross-validation, on the same folds: on a table of your\n"
        "own, or on data sets that are included in the package. Without options, codes of this package,\n"
        "classical codes and a random forest are compared on included data, in a few minutes.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    console.add_table(parser, optional=True)
    parser.add_argument("--target", metavar="COLUMN", help="the column of DATA that holds the classes")
    console.add_reading(parser)
    columns = parser.add_argument_group("columns and classes of DATA")
    console.add_columns(columns)
    what = parser.add_argument_group("methods and data")
    what.add_argument("--methods", nargs="+", metavar="METHOD", help="see below")
    what.add_argument("--datasets", nargs="+", metavar="NAME", help="included data sets, or 'all'")
    console.add_learner(what)
    how = parser.add_argument_group("evaluation")
    console.add_judgement(how)
    console.add_splits(how, folds=5)
    console.add_jobs(how)
    where = parser.add_argument_group("output")
    console.add_output(where, ["table", "json", "csv"])
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check_options(options)
    from skecoc.compare import compare, load_data_sets
    from skecoc.compare.methods import check_methods
    from skecoc.reports import render, summarize

    methods = check_methods(options.methods) if options.methods else []
    own = [] if options.data is None else [_own_table(options, methods)]
    methods = methods or _default_methods(options, own)
    names = options.datasets or ([] if own else DEFAULT_DATA_SETS)
    comparison = compare(
        own + load_data_sets(DATA_SETS if names == ["all"] else names),
        methods,
        learner=options.learner or "stumps",
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        metric=options.metric,
        class_weight=options.class_weight,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
        fit_command=_fit_command(options),
    )
    console.say_notes(comparison.notes)
    if options.report is not None:
        write_text("--report", options.report, render("comparison.html.jinja", summarize(comparison)))
        console.say(f"report written to {options.report}")
    console.deliver(_format(comparison, options), options.output)


def _default_methods(options: argparse.Namespace, own: "Sequence[DataSet]") -> list[str]:
    """Choose the methods that are compared unless they are named, without those that the options rule out."""
    from skecoc.compare.methods import MAJORITY, default_methods, make_learner, why_not
    from skecoc.compare.metrics import find_metric

    wanted = {
        "probabilities": find_metric(options.metric, 2).needs_probabilities,
        "weights": options.class_weight is not None,
    }
    learner = make_learner(options.learner or "stumps")
    methods = list(DEFAULT_METHODS)
    for data_set in own:
        n_classes, n_features = len(data_set.class_names()), data_set.X.shape[1]
        methods = [*default_methods(n_classes, n_features, has_learner=options.learner is not None), MAJORITY]
    reasons = {method: why_not(method, learner, **wanted) for method in methods}
    console.say_notes([f"left out: {method} ({reason})" for method, reason in reasons.items() if reason])
    return [method for method, reason in reasons.items() if not reason]


def _own_table(options: argparse.Namespace, methods: list[str]) -> "DataSet":
    """Read and prepare the user's table."""
    from dataclasses import replace

    from skecoc.tables.preparation import limit_rows, prepare_table
    from skecoc.tables.reading import read_data_set

    data_set = read_data_set(console.table_source(options.data), options.target, console.reading_options(options))
    table = prepare_table(
        data_set, drop=options.drop, group=options.group, order=options.order, folds=options.folds, methods=methods
    )
    limited, notes = limit_rows(table.data_set, options.max_rows, options.seed)
    return replace(limited, notes=[*limited.notes, *notes])


def _fit_command(options: argparse.Namespace) -> str:
    """Write the command that fits one of the methods to the table, with ``{method}`` in the place of its name."""
    if options.data is None or options.datasets:
        return ""
    words = []
    for name, usual in _COPIED.items():
        value = getattr(options, name)
        if value != usual:
            text = console.joined(value) if name == "order" else str(value)
            words += [f"--{name.replace('_', '-')}", *(value if name in ("drop", "na") else [text])]
    first = shlex.join(["skecoc", "fit", str(options.data), "--target", options.target])
    rest = shlex.join([*words, "-o", "model.skops"])
    return f"{_escaped(first)} --method {{method}} {_escaped(rest)}"


def _escaped(text: str) -> str:
    """Double the braces of a text, so that `str.format` leaves them."""
    return text.replace("{", "{{").replace("}", "}}")


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work is done, and options that contradict each other."""
    if options.target is None and options.data is not None:
        raise InputError("--target: expected the name of the column of DATA that holds the classes")
    console.check_there("data", options.data)
    for name in _ONLY_OF_TABLES:
        if options.data is None and getattr(options, name):
            raise InputError(f"--{name} needs a DATA file")
    console.check_page("--report", options.report)
    if options.output is not None:
        check_writable("--output", options.output)
    inputs = {} if options.data is None else {"data": options.data}
    console.check_different({"--report": options.report, "--output": options.output}, inputs)


def _format(comparison: "Comparison", options: argparse.Namespace) -> str:
    """Write the comparison in the format of the option."""
    from skecoc.reports.comparison import comparison_json, comparison_table
    from skecoc.reports.tables import to_csv, to_text

    if options.format == "json":
        return comparison_json(comparison)
    table = comparison_table(comparison)
    if options.format == "csv":
        return to_csv(table, digits=17)
    return to_text(table, console.terminal_width(options), with_deviations=False)
