"""What the commands that make and use models of tables share."""

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

from skecoc.support.errors import InputError

#: What stands for standard input or output.
STANDARD = Path("-")


def add_trust(group: argparse._ActionsContainer) -> None:
    """Add the option ``--trust``.

    Parameters
    ----------
    group : argument parser or group
        Where to add it.
    """
    group.add_argument(
        "--trust",
        nargs="+",
        metavar="TYPE",
        default=[],
        help="further types that the model may hold, such as sklearn.tree._tree.Tree; without this, only those of "
        "scikit-ecoc and those of scikit-learn that no file can misuse are loaded",
    )


def table_source(path: Path) -> Path | BinaryIO:
    """Return where a table comes from.

    Parameters
    ----------
    path : pathlib.Path
        A file, or ``-`` for standard input.

    Returns
    -------
    pathlib.Path or binary file
        What `skecoc.tables.chunks.open_table` takes.
    """
    return sys.stdin.buffer if path == STANDARD else path


def check_different(outputs: dict[str, Path | None], inputs: dict[str, Path]) -> None:
    """Refuse to write two results to one file, or to write over what is read.

    Parameters
    ----------
    outputs : dict of str to pathlib.Path or None
        The arguments that name files to write.
    inputs : dict of str to pathlib.Path
        The arguments that name files to read.

    Raises
    ------
    InputError
        If two of them are the same file.

    Examples
    --------
    >>> check_different({"--output": Path("a.csv")}, {"data": Path("a.csv")})
    Traceback (most recent call last):
    ...
    skecoc.support.errors.InputError: --output and data are the same file
    """
    seen = {path.resolve(): argument for argument, path in inputs.items() if path != STANDARD}
    for argument, path in outputs.items():
        if path is None or path == STANDARD or (path.exists() and not path.is_file()):
            continue
        if path.resolve() in seen:
            raise InputError(f"{argument} and {seen[path.resolve()]} are the same file")
        seen[path.resolve()] = argument
