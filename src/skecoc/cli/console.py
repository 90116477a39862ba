"""What commands share: messages, results on standard output, arguments, files that must not be the same."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import TextWrapper
from typing import BinaryIO, TextIO

from joblib import cpu_count

from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, write_text

#: What stands for standard input or output.
STANDARD = Path("-")

_MOST_DEFAULT_JOBS = 8  # every worker loads all libraries anew, which short runs do not pay back


def say(message: str) -> None:
    """Print one line on standard error; line breaks become spaces."""
    one_line = " ".join(message.split())
    print(f"skecoc: {one_line}", file=sys.stderr)


def deliver(text: str, output: Path | None = None) -> None:
    """Print a result, or write it to the file of the option ``--output``."""
    if output is not None:
        write_text("--output", output, text)
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show
    with standard_output() as stream:
        stream.write(text)


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
    """Send what is left of standard output nowhere: Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def add_learner(group: argparse._ActionsContainer, default: str | None = "stumps", remark: str = "") -> None:
    """Add the option ``--learner``; a remark follows what it takes."""
    is_default = ", the default" if default == "stumps" else ""
    group.add_argument(
        "--learner",
        default=default,
        help=f"the binary learner: stumps (boosted{is_default}), svm (RBF, tuned) or an import path such as "
        f"sklearn.linear_model.LogisticRegression{remark}",
    )


def add_splits(group: argparse._ActionsContainer, folds: int) -> None:
    """Add the options of a repeated cross-validation."""
    group.add_argument("--folds", type=at_least(2), default=folds, metavar="N", help=f"folds (default: {folds})")
    group.add_argument("--repeats", type=at_least(1), default=1, metavar="N", help="new splits (default: 1)")
    add_seed(group)


def add_seed(group: argparse._ActionsContainer, kind: Callable[[str], int] = int) -> None:
    """Add the option ``--seed``."""
    group.add_argument("--seed", type=kind, default=0, metavar="N", help="seed of everything random (default: 0)")


def add_output(group: argparse._ActionsContainer, formats: Sequence[str]) -> None:
    """Add the options that say how, and where, results are written."""
    group.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")
    group.add_argument("--output", type=Path, metavar="FILE", help="write there instead of to standard output")


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the table that is read."""
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a .csv, .csv.gz, .tsv or .parquet file; - reads it from standard input"
    )


def add_jobs(group: argparse._ActionsContainer) -> None:
    """Add the option ``--jobs``."""
    group.add_argument(
        "--jobs",
        type=at_least(1),
        default=min(cpu_count(), _MOST_DEFAULT_JOBS),
        metavar="N",
        help=f"runs at the same time (default: as many as cores, at most {_MOST_DEFAULT_JOBS}); changes no result",
    )


def add_trust(group: argparse._ActionsContainer) -> None:
    """Add the option ``--trust``."""
    group.add_argument(
        "--trust",
        nargs="+",
        metavar="TYPE",
        default=[],
        help="further types that the model may hold, such as those of another library's learner; without this, only "
        "those of scikit-ecoc and those of scikit-learn that no file can misuse are loaded",
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
    from skecoc.reports import check_template_engine  # not loaded for --help

    if path is not None:
        check_template_engine()
        check_writable(argument, path)


def check_different(outputs: dict[str, Path | None], inputs: dict[str, Path]) -> None:
    """Refuse to write two results to one file, or to write over what is read; arguments name the files."""
    seen = {path.resolve(): argument for argument, path in inputs.items() if path != STANDARD}
    for argument, path in outputs.items():
        if path is None or path == STANDARD or (path.exists() and not path.is_file()):
            continue
        if path.resolve() in seen:
            raise InputError(f"{argument} and {seen[path.resolve()]} are the same file")
        seen[path.resolve()] = argument
