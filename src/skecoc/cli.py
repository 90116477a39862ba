"""The command line: parse, call one function, print."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import TextWrapper
from typing import NoReturn

from joblib import cpu_count

import skecoc
from skecoc.datasets import list_uci
from skecoc.experiments import (
    DEFAULT_DATA_SETS,
    DEFAULT_METHODS,
    Comparison,
    compare,
    load_data_sets,
)
from skecoc.experiments._errors import InputError
from skecoc.experiments.files import check_writable, write_text
from skecoc.experiments.methods import PEERS, describe_parts
from skecoc.experiments.report import check_template_engine, render, summarize
from skecoc.experiments.tables import accuracy_table, to_csv, to_json, to_text

_EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE

_MOST_DEFAULT_JOBS = 8  # every worker loads all libraries anew, which short runs do not pay back


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words after the command's name; None takes them from the process.

    Returns
    -------
    int
        The exit code: 0 for success, 2 for bad input, 130 if interrupted, 141
        if the reader of the output went away.

    Examples
    --------
    >>> main(["compare", "--datasets", "no-such-set"])
    2
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except InputError as error:
        _say(f"error: {error}")
        return _EXIT_BAD_INPUT
    except KeyboardInterrupt:
        _say("interrupted")
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return _EXIT_BROKEN_PIPE
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with the exit code of bad input."""
        self.exit(_EXIT_BAD_INPUT, f"skecoc: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = _Parser(prog="skecoc", description=skecoc.__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"skecoc {skecoc.__version__}")
    parser.set_defaults(run=lambda _: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_compare(commands.add_parser)
    return parser


def _add_compare(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command `compare`."""
    parser = add_parser(
        "compare",
        help="compare methods on data sets by cross-validation",
        description="Compare multiclass methods on data sets by stratified cross-validation,\n"
        "all on the same folds. Without options: the classical codes on shipped data,\n"
        "in less than a minute.",
        epilog=_compare_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_compare)
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
    how.add_argument("--folds", type=_at_least(2), default=5, metavar="N", help="folds (default: 5)")
    how.add_argument("--repeats", type=_at_least(1), default=1, metavar="N", help="new splits (default: 1)")
    how.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random (default: 0)")
    how.add_argument(
        "--jobs",
        type=_at_least(1),
        default=min(cpu_count(), _MOST_DEFAULT_JOBS),
        metavar="N",
        help=f"runs at the same time (default: as many as cores, at most {_MOST_DEFAULT_JOBS}); changes no result",
    )
    where = parser.add_argument_group("what comes out")
    where.add_argument("--format", choices=["table", "json", "csv"], default="table", help="default: table")
    where.add_argument("--output", type=Path, metavar="FILE", help="write there instead of to standard output")
    where.add_argument("--report", type=Path, metavar="FILE.html", help="also write a report to open in a browser")


def _compare_epilog() -> str:
    """List the names and a few examples below the help."""
    names = [
        *describe_parts().split("; "),
        f"scikit-learn: {', '.join(PEERS)}",
        f"data sets: {', '.join(list_uci())}",
    ]
    fill = TextWrapper(78, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False).fill
    return "\n".join(
        [
            "A METHOD is CODING/DECODING or one of scikit-learn's own.",
            *(fill(line) for line in names),
            "",
            "examples:",
            "  skecoc compare",
            "  skecoc compare --datasets vowel glass --methods one-vs-one/hamming forest/loss-weighted",
            "  skecoc compare --data my.csv --target label --report report.html",
            "  skecoc compare --format csv --output results.csv",
        ]
    )


def _compare(options: argparse.Namespace) -> None:
    """Run the command `compare`."""
    _check_options(options)
    comparison = compare(
        load_data_sets(_data_set_names(options), options.data, options.target),
        options.methods,
        learner=options.learner,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        n_jobs=options.jobs,
        show_progress=sys.stderr.isatty(),
    )
    for note in comparison.notes:
        _say(f"note: {note}")
    if options.report is not None:
        write_text("--report", options.report, render("comparison.html.jinja", summarize(comparison)))
        _say(f"report written to {options.report}")
    _deliver(_format(comparison, options), options.output)


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


def _data_set_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the shipped data sets asked for; a user's file alone needs none."""
    if options.datasets is None:
        return [] if options.data is not None else list(DEFAULT_DATA_SETS)
    return list_uci() if options.datasets == ["all"] else list(options.datasets)


def _format(comparison: Comparison, options: argparse.Namespace) -> str:
    """Write the comparison in the format asked for."""
    if options.format == "json":
        return to_json(comparison)
    table = accuracy_table(comparison)
    if options.format == "csv":
        return to_csv(table)
    to_terminal = options.output is None and sys.stdout.isatty()
    return to_text(table, shutil.get_terminal_size().columns if to_terminal else None)


def _deliver(text: str, output: Path | None) -> None:
    """Print a result, or write it to a file."""
    if output is not None:
        write_text("--output", output, text)
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard_output()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def _discard_output() -> None:
    """Send what is left of standard output nowhere: Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    """Print one line on standard error."""
    one_line = " ".join(message.split())
    print(f"skecoc: {one_line}", file=sys.stderr)


def _at_least(smallest: int) -> Callable[[str], int]:
    """Make a converter of whole numbers that are not too small."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = smallest - 1
        if number < smallest:
            raise argparse.ArgumentTypeError(f"expected a whole number, at least {smallest}, got {text!r}")
        return number

    return convert
