"""Write files whole or not at all, and remove the temporary files of killed processes."""

import os
import platform
import re
import stat
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from skecoc.support.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: The suffix of model files.
MODEL_SUFFIX = ".skops"

# Files that are being written are called .skecoc-SYSTEM-RANDOM, and locked.
_PREFIX = ".skecoc-"
_TEMPORARY = re.compile(r"\.skecoc-(?:([0-9a-f]{12})-)?[a-z0-9_]{8}")
_DAY = 86_400  # seconds
# Folders where leftovers have been removed.
_cleaned: set[str] = set()


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write beside `path`, which it replaces when the block ends without an error.

    A symbolic link is followed, and the permissions of an existing file are kept. Temporary files of killed processes
    in the same folder are removed.
    """
    path = path.resolve()
    umask = os.umask(0)  # it can only be read by setting it
    os.umask(umask)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask
    remove_leftovers(path.parent)
    handle, temporary = _open_locked(path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows renames no open files; elsewhere the lock is held until the end
            temporary.chmod(mode)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _open_locked(folder: Path) -> tuple[int, Path]:
    """Create a temporary file that is locked until it is closed or the process ends."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{_PREFIX}{_system()}-")
        try:
            if _lock(handle, wait=True) is None:  # no locks here: a leftover is known by its age alone
                os.close(handle)
                Path(name).unlink()
                handle, name = tempfile.mkstemp(dir=folder, prefix=_PREFIX)
            if os.fstat(handle).st_nlink:
                return handle, Path(name)
        except BaseException:
            os.close(handle)
            Path(name).unlink(missing_ok=True)
            raise
        os.close(handle)  # removed by another process between creation and lock


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of this user whose writers have ended, once per process and folder.

    A writer of this system is gone if its file is not locked. Files of other systems that share the folder, and those
    from before a restart, are removed when they are a day old.
    """
    if str(folder) in _cleaned:
        return
    _cleaned.add(str(folder))
    with suppress(OSError), os.scandir(folder) as entries:
        found = [(Path(entry.path), named[1]) for entry in entries if (named := _TEMPORARY.fullmatch(entry.name))]
        for path, system in found:
            with suppress(OSError):  # another process may have removed it
                status = path.lstat()
                is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                is_old = time.time() - status.st_mtime > _DAY
                if not (stat.S_ISREG(status.st_mode) and is_own and (is_old or system == _system())):
                    continue
                handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    is_free = _lock(handle, wait=False)
                    if is_free or (is_free is None and is_old):
                        path.unlink()
                finally:
                    os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool | None:
    """Lock an open file; return False if another process has, and None if the file system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@cache
def _system() -> str:
    """Return a name of this system, since it was started, that differs from others which may share a folder."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").replace("-", "")
    except OSError:
        text = f"{zlib.crc32(platform.node().encode()):08x}0000"
    return text[:12]


def check_writable(argument: str, path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"{argument}: '{path}' is a folder, expected the name of a file")
    if not folder.is_dir():
        raise InputError(f"{argument}: the folder '{path.parent}' does not exist")
    target = folder if _is_replaceable(path) else path
    if not os.access(target, os.W_OK):
        raise InputError(f"{argument}: no permission to write '{path}'")


def check_model_path(argument: str, path: Path) -> None:
    """Refuse a path for a model whose suffix is another one, such as a pickle's."""
    if _is_replaceable(path) and path.suffix.lower() != MODEL_SUFFIX:
        raise InputError(f"{argument}: '{path}' does not end in {MODEL_SUFFIX}, as files of models do")


def make_folder(argument: str, folder: Path) -> None:
    """Make a folder, and those above it, unless it exists."""
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
