"""The command line: parse, call one function, print."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

import skecoc
from skecoc.cli import compare, fit, inspect, music, predict, reproduce
from skecoc.cli.console import discard_output, say
from skecoc.support.errors import InputError

_EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE


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
        say(f"error: {error}")
        return _EXIT_BAD_INPUT
    except KeyboardInterrupt:
        say("interrupted")
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        discard_output()
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
    for command in (compare, fit, predict, inspect, reproduce, music):
        command.add_command(commands.add_parser)
    return parser
