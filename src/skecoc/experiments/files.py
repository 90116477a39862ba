"""Write result files whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from skecoc._files import replacement
from skecoc.experiments._errors import InputError


def check_writable(argument: str, path: Path) -> None:
    """Refuse a path that could not be written, before any work is done for it.

    Parameters
    ----------
    argument : str
        The argument that holds the path, for the error message.
    path : pathlib.Path
        Where a file is going to be written.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written to, or the path is a
        folder.

    Examples
    --------
    >>> check_writable("--report", Path("no-such-folder/report.html"))
    Traceback (most recent call last):
    ...
    skecoc.experiments._errors.InputError: --report: the folder 'no-such-folder' does not exist
    """
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"{argument}: '{path}' is a folder, expected the name of a file")
    if not folder.is_dir():
        raise InputError(f"{argument}: the folder '{path.parent}' does not exist")
    target = folder if _is_replaceable(path) else path
    if not os.access(target, os.W_OK):
        raise InputError(f"{argument}: no permission to write '{path}'")


def write_text(argument: str, path: Path, text: str) -> None:
    """Write a text file at once: a reader sees the old file or the new one, never a part.

    Parameters
    ----------
    argument : str
        The argument that holds the path, for the error message.
    path : pathlib.Path
        The file to write or replace. A symbolic link is followed; a device or
        a pipe is written to directly.
    text : str
        The content, written as UTF-8.

    Raises
    ------
    InputError
        If the system refuses; what was at `path` is still there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text("--output", Path(folder, "a.txt"), "done")
    ...     Path(folder, "a.txt").read_text(encoding="utf-8")
    'done'
    """
    write_bytes(argument, path, text.encode("utf-8", "backslashreplace"))


def write_bytes(argument: str, path: Path, content: bytes) -> None:
    """Write a file at once: a reader sees the old file or the new one, never a part.

    Parameters
    ----------
    argument : str
        The argument that holds the path, for the error message.
    path : pathlib.Path
        The file to write or replace, as for `write_text`.
    content : bytes
        The content.

    Raises
    ------
    InputError
        If the system refuses; what was at `path` is still there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bytes("--output", Path(folder, "a.bin"), bytes(3))
    ...     Path(folder, "a.bin").stat().st_size
    3
    """
    with open_whole(argument, path) as file:
        file.write(content)


@contextmanager
def open_whole(argument: str, path: Path) -> Iterator[BinaryIO]:
    """Open a file to write piece by piece; a reader sees the old file or the new one, never a part.

    Parameters
    ----------
    argument : str
        The argument that holds the path, for the error message.
    path : pathlib.Path
        The file to write or replace, as for `write_text`.

    Yields
    ------
    binary file
        What is written there replaces the file when the block ends, unless by an error.

    Raises
    ------
    InputError
        If the system refuses; what was at `path` is still there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_whole("--output", Path(folder, "a.bin")) as file:
    ...         _ = file.write(bytes(3))
    ...         print([path.name for path in Path(folder).glob("*.bin")])
    ...     Path(folder, "a.bin").stat().st_size
    []
    3
    """
    try:
        with replacement(path) if _is_replaceable(path) else path.open("wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{argument}: cannot write '{path}': {error.strerror}") from error


def _is_replaceable(path: Path) -> bool:
    """Tell a regular or a new file from a device or a pipe, which must not be replaced."""
    return path.is_file() or not path.exists()
