"""The command line: parse, call one function, print."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import skecoc
from skecoc.cli.console import discard_output, say
from skecoc.support.errors import InputError

# The module of each command, which is imported when the command is given, and what --help says about it.
_COMMANDS = {
    "compare": ("compare", "compare methods on data sets by cross-validation"),
    "fit": ("fit", "fit a model to a table of your own"),
    "predict": ("predict", "predict the rows of a table with a model of skecoc fit"),
    "inspect": ("inspect", "show what a model has learnt, and how accurate it is"),
    "reproduce": ("reproduce", "run the paper's experiment: its tables and figures beside the published numbers"),
    "report": ("reproduce", "write tables, figures and report of stored results again"),
    "music": ("music", "music genres: extract features, compare codes, train, predict"),
}
_EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process, and return the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(words).parse_args(words)
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
    """A parser whose errors are one line, and which takes no abbreviations."""

    def __init__(self, **options: Any) -> None:
        plain = argparse.RawDescriptionHelpFormatter
        super().__init__(**{"formatter_class": plain, "allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with the exit code of bad input."""
        self.exit(_EXIT_BAD_INPUT, f"skecoc: error: {message} (see {self.prog} --help)\n")


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Describe the command that the first word names, or all commands by one line each."""
    parser = _Parser(prog="skecoc", description=skecoc.__doc__)
    parser.add_argument("--version", action="version", version=f"skecoc {skecoc.__version__}")
    parser.set_defaults(run=lambda _: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    if words and words[0] in _COMMANDS:
        module, _ = _COMMANDS[words[0]]
        import_module(f"skecoc.cli.{module}").add_command(commands.add_parser)
        return parser
    for name, (_, summary) in _COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser
