"""Write files whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from skecoc.support.errors import InputError


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write beside `path`, which it replaces when the block ends without an error.

    A symbolic link is followed, and the permissions of an existing file are kept.
    """
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".skecoc-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(argument: str, path: Path) -> None:
    """Refuse a path that could not be written, before any work is done for it."""
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"{argument}: '{path}' is a folder, expected the name of a file")
    if not folder.is_dir():
        raise InputError(f"{argument}: the folder '{path.parent}' does not exist")
    target = folder if _is_replaceable(path) else path
    if not os.access(target, os.W_OK):
        raise InputError(f"{argument}: no permission to write '{path}'")


def make_folder(argument: str, folder: Path) -> None:
    """Make a folder if it does not exist, and those above it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{argument}: cannot make the folder '{folder}': {error.strerror}") from error


def write_text(argument: str, path: Path, text: str) -> None:
    """Write a text file (UTF-8) at once: a reader sees the old file or the new one, never a part."""
    write_bytes(argument, path, text.encode("utf-8", "backslashreplace"))


def write_bytes(argument: str, path: Path, content: bytes) -> None:
    """Write a file at once: a reader sees the old file or the new one, never a part."""
    with open_whole(argument, path) as file:
        file.write(content)


@contextmanager
def open_whole(argument: str, path: Path) -> Iterator[BinaryIO]:
    """Open a file to write piece by piece; a reader sees the old file or the new one, never a part.

    A device or a pipe is written to directly. If the system refuses, an InputError names the argument.
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


def _umask() -> int:
    """Read the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
