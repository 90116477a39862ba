"""Write a file whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write beside the target, which it replaces when it is complete.

    Parameters
    ----------
    path : pathlib.Path
        The file to write or replace. A symbolic link is followed, and the permissions of a file that is there are kept.

    Yields
    ------
    binary file
        What is written there is at `path` when the block ends, unless by an error: then nothing has changed.

    Raises
    ------
    OSError
        If the system refuses.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacement(Path(folder, "a.bin")) as file:
    ...         _ = file.write(bytes(3))
    ...         print(Path(folder, "a.bin").exists())
    ...     Path(folder, "a.bin").stat().st_size
    False
    3
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


def _umask() -> int:
    """Read the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
