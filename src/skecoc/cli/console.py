"""What all commands share: messages, results on standard output, arguments."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from joblib import cpu_count

from skecoc.support.errors import InputError
from skecoc.support.files import write_text

_MOST_DEFAULT_JOBS = 8  # every worker loads all libraries anew, which short runs do not pay back


def add_jobs(group: argparse._ActionsContainer) -> None:
    """Add the option ``--jobs``.

    Parameters
    ----------
    group : argument parser or group
        Where to add it.
    """
    group.add_argument(
        "--jobs",
        type=at_least(1),
        default=min(cpu_count(), _MOST_DEFAULT_JOBS),
        metavar="N",
        help=f"runs at the same time (default: as many as cores, at most {_MOST_DEFAULT_JOBS}); changes no result",
    )


def deliver(text: str, output: Path | None = None) -> None:
    """Print a result, or write it to a file.

    Parameters
    ----------
    text : str
        The result.
    output : pathlib.Path, default=None
        The file of the option ``--output``; None prints.

    Raises
    ------
    InputError
        If it cannot be written.
    BrokenPipeError
        If the reader of standard output went away.
    """
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
        discard_output()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def discard_output() -> None:
    """Send what is left of standard output nowhere: Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Print one line on standard error.

    Parameters
    ----------
    message : str
        What to say; line breaks become spaces.
    """
    one_line = " ".join(message.split())
    print(f"skecoc: {one_line}", file=sys.stderr)


def at_least(smallest: int) -> Callable[[str], int]:
    """Make a converter of arguments that are whole numbers and not too small.

    Parameters
    ----------
    smallest : int
        The smallest number that is accepted.

    Returns
    -------
    callable
        Turns the text of an argument into a number, or raises what argparse reports.

    Examples
    --------
    >>> at_least(2)("5")
    5
    """

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = smallest - 1
        if number < smallest:
            raise argparse.ArgumentTypeError(f"expected a whole number, at least {smallest}, got {text!r}")
        return number

    return convert
