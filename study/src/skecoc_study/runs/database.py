"""One SQLite file of our own: recognised before it is touched, written all or nothing, errors that name it."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from skecoc.cli.plugins import InputError

#: Written into the file's header, so that it can be told from other SQLite files: "skEC".
APPLICATION_ID = 0x736B4543
#: Version of the tables.
SCHEMA_VERSION = 1

#: How long to wait for another process that is writing.
_BUSY_SECONDS = 60.0

_MAGIC = b"SQLite format 3\x00"
_APPLICATION_ID_AT = 68  # offset in the header of an SQLite file


class Database:
    """A connection to a file that only we write, for all threads of a process, one at a time.

    The file has a rollback journal: unlike a write-ahead log it needs no memory shared between its users, so it also
    serves on network file systems and for readers without the right to write.
    """

    def __init__(self, path: Path, schema: Sequence[str], *, create: bool) -> None:
        self.path = path
        self._lock = threading.RLock()
        _check_path(path, create)
        _check_header(path)
        with self._errors_named():
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={'rwc' if create else 'rw'}",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,  # transactions are begun and ended by hand
                check_same_thread=False,
            )
        try:
            if create:
                self._create_tables(schema)
            self._check_tables()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows that a query finds."""
        with self._lock, self._errors_named():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do all that the block does, or nothing of it; no other process writes meanwhile."""
        with self._lock, self._errors_named():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # there may be nothing to undo
                    self._connection.execute("ROLLBACK")
                raise

    def _create_tables(self, schema: Sequence[str]) -> None:
        """Make the tables if the file is new; another process may be about to do the same."""
        with self.transaction() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                for statement in schema:
                    connection.execute(statement)

    def _check_tables(self) -> None:
        """Refuse tables of another version, and damaged ones."""
        found = self.read("PRAGMA user_version")[0][0]
        if found != SCHEMA_VERSION:
            raise InputError(
                f"results: '{self.path}' has version {found} of the format, expected version {SCHEMA_VERSION}"
            )
        damage = self.read("PRAGMA quick_check")[0][0]
        if damage != "ok":
            raise InputError(f"results: '{self.path}' is damaged ({damage}); it was left as it is")

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Turn what the database cannot do into an error that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"results: cannot use '{self.path}': {error}") from error


def _check_path(path: Path, create: bool) -> None:
    """Refuse a path where there is no file and where there can be none."""
    if path.is_dir():
        raise InputError(f"results: '{path}' is a folder, expected the name of a file")
    if not create and not path.exists():
        raise InputError(f"results: there is no file '{path}'")
    if not path.resolve().parent.is_dir():
        raise InputError(f"results: the folder '{path.parent}' does not exist")


def _check_header(path: Path) -> None:
    """Refuse a file that does not begin as ours do, before the database may touch it."""
    try:
        with path.open("rb") as file:
            header = file.read(_APPLICATION_ID_AT + 4)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"results: cannot read '{path}': {error.strerror}") from error
    is_ours = header.startswith(_MAGIC) and header[_APPLICATION_ID_AT:] == APPLICATION_ID.to_bytes(4, "big")
    if header and not is_ours:
        raise InputError(f"results: '{path}' is not a result file of skecoc; it was left as it is")
