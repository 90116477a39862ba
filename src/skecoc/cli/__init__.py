"""The command line: parse, call one function, print."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import skecoc
from skecoc.cli.console import STANDARD, default_jobs, discard_output, say
from skecoc.support.compiling import notices_shown
from skecoc.support.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Commands and their summaries. The module of a command is imported when the command is used.
_COMMANDS = {
    "compare": "compare methods on data sets by cross-validation",
    "fit": "fit a model to a table of your own",
    "predict": "predict the classes of a table's rows with a model from skecoc fit",
    "inspect": "show what a model has learnt and how accurate it is",
}
# Other distributions add commands by entry points of this group: see `skecoc.cli.plugins`.
_GROUP = "skecoc.commands"
_OF_THE_STUDY = ("reproduce", "report", "music")
_EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process, and return the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    is_loaded = "sklearn" in sys.modules
    parser = _parser(words)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        parser.prog = f"skecoc {words[0]}"
        parser.error(f"unrecognized arguments: {shlex.join(unknown)}")
    options.command = shlex.join(["skecoc", *words])
    try:
        if not is_loaded:
            _announce_input(words, options)
        if getattr(options, "jobs", 1) is None:
            options.jobs = default_jobs()
        with nullcontext() if is_loaded else notices_shown(say):
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


def _announce_input(words: Sequence[str], options: argparse.Namespace) -> None:
    """Name the input at once, since loading libraries takes seconds."""
    given = (getattr(options, name, None) for name in ("data", "folder", "files"))
    first = next((value for value in given if value), None)
    if isinstance(first, list):
        first = first[0]
    if first is None:
        if words[:1] == ["compare"]:
            say("reading data sets")
        return
    source, is_there = Path(first), False
    with suppress(OSError):  # a folder on the way may be closed to this user
        is_there = source.exists()
    if source == STANDARD:
        say("reading standard input")
    elif is_there:  # if not, an error is all that follows
        say(f"reading {source}")


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
    if words[:1] == ["--version"]:
        return parser
    if words and words[0] in _COMMANDS:
        import_module(f"skecoc.cli.{words[0]}").add_command(commands.add_parser)
        return parser
    from importlib.metadata import entry_points  # which takes longer to load than all of the above

    added = {entry.name: entry for entry in entry_points(group=_GROUP)}
    if words and words[0] in added:
        try:
            added[words[0]].load()(commands.add_parser)
        except ImportError as error:
            parser.error(f"the command {words[0]!r} of {_origin(added[words[0]])} cannot be loaded: {error}")
        return parser
    if words and words[0] in _OF_THE_STUDY:
        parser.error(
            f"{words[0]!r} is a command of the study, which is not installed: pip install scikit-ecoc-study, or from a "
            "checkout pip install ./study"
        )
    if words and not words[0].startswith("-"):
        names = [*_COMMANDS, *added]
        parser.error(f"{words[0]!r} is not a command{did_you_mean(words[0], names)}; expected {', '.join(names)}")
    for name, summary in _COMMANDS.items():
        commands.add_parser(name, help=summary)
    for name, entry in added.items():
        try:
            entry.load()(commands.add_parser)
        except ImportError as error:
            commands.add_parser(name, help=f"cannot be loaded from {_origin(entry)}: {error}")
    return parser


def _origin(entry: "EntryPoint") -> str:
    """Name the distribution that has added a command."""
    return entry.dist.name if entry.dist is not None else "another distribution"
