"""What commands of other distributions are built with: options, messages, files and errors.

A distribution adds a command to ``skecoc`` by an entry point of the group ``skecoc.commands``. It has the name of the
command, and names a function like those of this package's own commands: it is called with the ``add_parser`` of
`argparse`, adds one parser with a ``help`` to it, and sets the default ``run`` of that parser to a function of the
parsed options. An `InputError` that this function raises is shown as one line. The module must be quick to import:
``skecoc --help`` loads it.
"""

from skecoc.cli.console import (
    add_jobs,
    add_output,
    add_seed,
    add_splits,
    at_least,
    check_different,
    check_page,
    deliver,
    say,
    terminal_width,
)
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, make_folder, write_bytes, write_text

__all__ = [
    "InputError",
    "add_jobs",
    "add_output",
    "add_seed",
    "add_splits",
    "at_least",
    "check_different",
    "check_page",
    "check_writable",
    "deliver",
    "make_folder",
    "say",
    "terminal_width",
    "write_bytes",
    "write_text",
]
