"""Shared by all commands: messages, results on standard output, options and their checks."""

import argparse
import csv
import io
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, BinaryIO, TextIO

from skecoc.support.errors import InputError, did_you_mean
from skecoc.support.files import check_writable, write_text
from skecoc.support.names import LEARNERS, METRICS
from skecoc.support.text_layout import printable

if TYPE_CHECKING:
    from skecoc.tables.readers import ReadingOptions

#: What stands for standard input or output.
STANDARD = Path("-")
#: Rows that methods are compared on, at most, unless --max-rows says otherwise.
MAX_ROWS = 10_000

# What terminals interpret: control characters except line breaks and tabs, and marks of the direction of writing.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNITS = {"s": 1, "m": 60, "h": 3600}
_MOST_DEFAULT_JOBS = 8  # every worker loads all libraries, which takes longer than short runs


def say(message: str) -> None:
    """Print one line on standard error; line breaks become spaces, and what is not printable is spelled out."""
    one_line = printable(" ".join(message.split()))
    print(f"skecoc: {one_line}", file=sys.stderr)


def shown(text: str) -> str:
    """Escape what a terminal would interpret; other characters, also rare ones, remain."""
    return _CONTROLS.sub(lambda control: printable(control[0]), text)


def deliver(text: str, output: Path | None = None) -> None:
    """Print a result, or write it to the file of the option ``--output``."""
    if output is not None:
        write_text("--output", output, text)
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show
    with standard_output() as stream:
        stream.write(shown(text))


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Write to standard output; an error of the system, such as a full disk, becomes an InputError."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def discard_output() -> None:
    """Discard the rest of standard output, which Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def add_splits(group: argparse._ActionsContainer, folds: int) -> None:
    """Add the options of a repeated cross-validation."""
    group.add_argument(
        "--folds", type=at_least(2), default=folds, metavar="N", help=f"number of folds (default: {folds})"
    )
    group.add_argument(
        "--repeats", type=at_least(1), default=1, metavar="N", help="repetitions with other splits (default: 1)"
    )
    add_seed(group)


def add_seed(group: argparse._ActionsContainer, kind: Callable[[str], int] = int) -> None:
    """Add the option ``--seed``."""
    group.add_argument("--seed", type=kind, default=0, metavar="N", help="seed of everything random (default: 0)")


def add_output(group: argparse._ActionsContainer, formats: Sequence[str]) -> None:
    """Add the options that say how, and where, results are written."""
    group.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")
    group.add_argument("--output", type=Path, metavar="FILE", help="write to this file instead of standard output")


def add_table(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the table that is read."""
    parser.add_argument(
        "data",
        nargs="?" if optional else None,
        type=Path,
        metavar="DATA",
        help="a table: .csv, .tsv, .txt, .json, .jsonl (also .gz), .xlsx, .parquet or .feather; - is standard input",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options for the format of a table, which is detected without them."""
    group = parser.add_argument_group("format of the table (detected and reported if not given)")
    group.add_argument("--sep", metavar="MARK", help="separator: comma, semicolon, tab, bar or another character")
    group.add_argument("--decimal", metavar="MARK", help="decimal mark: comma or point")
    group.add_argument("--thousands", metavar="MARK", help="thousands mark: comma, point, space or apostrophe")
    group.add_argument("--encoding", metavar="NAME", help="encoding, such as utf-8, utf-16 or latin-1")
    group.add_argument("--sheet", metavar="NAME", help="sheet of a workbook, by name or number (default: the first)")
    group.add_argument("--na", nargs="+", default=[], metavar="WORD", help="further values that mean a missing value")


def add_columns(group: argparse._ActionsContainer) -> None:
    """Add the options for columns and classes."""
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
    """Add the options for the comparison of methods."""
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
        type=at_least(10),
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


def reading_options(options: argparse.Namespace, usual_decimal: str | None = None) -> "ReadingOptions":
    """Return how the table is written; an InputError names an option with a bad value."""
    from skecoc.tables.readers import ReadingOptions  # not loaded for --help

    names = ("sep", "decimal", "thousands", "encoding", "sheet")
    try:
        given = {name: getattr(options, name) for name in names}
        return ReadingOptions(**given, na=tuple(options.na), usual_decimal=usual_decimal)
    except InputError as error:
        raise InputError(f"--{error}") from error


def say_notes(notes: Sequence[str]) -> None:
    """Print notes on standard error, one on a line."""
    for note in notes:
        say(f"note: {note}")


def add_jobs(group: argparse._ActionsContainer) -> None:
    """Add the option ``--jobs``."""
    group.add_argument(
        "--jobs",
        type=at_least(1),
        default=None,  # `default_jobs`, which the command line puts in its place
        metavar="N",
        help=f"parallel runs (default: number of cores, at most {_MOST_DEFAULT_JOBS}); does not change results",
    )


def default_jobs() -> int:
    """Return the default number of parallel runs."""
    from joblib import cpu_count  # not loaded for --help

    return min(int(cpu_count()), _MOST_DEFAULT_JOBS)


def add_trust(group: argparse._ActionsContainer) -> None:
    """Add the option ``--trust``."""
    group.add_argument(
        "--trust",
        nargs="+",
        metavar="TYPE",
        default=[],
        help="further types that the model may contain, such as those of another library's learner; by default, only "
        "types of scikit-ecoc and safe types of scikit-learn are loaded",
    )


def at_least(smallest: int) -> Callable[[str], int]:
    """Make a converter of arguments that are whole numbers and not too small."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = smallest - 1
        if number < smallest:
            raise argparse.ArgumentTypeError(f"expected a whole number, at least {smallest}, got {text!r}")
        return number

    return convert


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


def joined(names: list[str]) -> str:
    """Write names with commas between, as `--order` reads them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def table_source(path: Path) -> Path | BinaryIO:
    """Return a file, or standard input for ``-``."""
    return sys.stdin.buffer if path == STANDARD else path


def terminal_width(options: argparse.Namespace) -> int | None:
    """Return the width of the terminal that results are printed on, None if they go elsewhere."""
    return shutil.get_terminal_size().columns if options.output is None and sys.stdout.isatty() else None


def listed(lines: Sequence[str]) -> str:
    """Indent lines below a help text, and break long ones."""
    fill = TextWrapper(78, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False).fill
    return "\n".join(map(fill, lines))


def check_page(argument: str, path: Path | None) -> None:
    """Refuse a page, if one is wanted, that could not be made or written."""
    if path is not None:
        from skecoc.reports import check_template_engine  # not loaded for --help

        check_template_engine()
        check_writable(argument, path)
        if path.suffix.lower() not in (".html", ".htm") and (path.is_file() or not path.exists()):
            raise InputError(f"{argument}: '{path}' does not end in .html, as pages do")


def check_there(argument: str, path: Path | None) -> None:
    """Refuse a file that does not exist, before anything is loaded; others in its folder may be meant."""
    if path is None or path == STANDARD or path.exists():
        return
    near = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    raise InputError(f"{argument}='{path}': there is no such file{did_you_mean(path.name, near, most=1)}")


def check_different(outputs: dict[str, Path | None], inputs: dict[str, Path]) -> None:
    """Refuse to write two results to one file, or to write over what is read; arguments name the files."""
    seen = {path.resolve(): argument for argument, path in inputs.items() if path != STANDARD}
    for argument, path in outputs.items():
        if path is None or path == STANDARD or (path.exists() and not path.is_file()):
            continue
        if path.resolve() in seen:
            raise InputError(f"{argument} and {seen[path.resolve()]} are the same file")
        seen[path.resolve()] = argument
