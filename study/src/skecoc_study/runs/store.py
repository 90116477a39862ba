"""Results on disk: one SQLite file that is safe to kill, to resume and to share between processes."""

import json
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np

import skecoc
from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import Batch, BatchOutcome, RoundRecord, RunKey, RunRecord
from skecoc_study.runs.protocol import Protocol

#: Written into the file's header, so that it can be told from other SQLite files: "skEC".
APPLICATION_ID = 0x736B4543
#: Version of the tables.
SCHEMA_VERSION = 2

#: How long to wait for another process that is writing.
_BUSY_SECONDS = 60.0

_MAGIC = b"SQLite format 3\x00"
_APPLICATION_ID_AT = 68  # offset in the header of an SQLite file


#: The claims of a process that has given no sign of life for so long are free.
CLAIM_SECONDS = 180.0

#: Packages whose versions may change a result.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "piqp")

_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER"}
_NULLABLE = ("objective", "risk", "loss", "train_accuracy", "gap")  # a grown code may lack them: they are NaN


def _columns(kind: type) -> str:
    return ", ".join(
        f"{name} {_TYPES[type_]}{'' if name in _NULLABLE else ' NOT NULL'}"
        for name, type_ in get_type_hints(kind).items()
    )


_SCHEMA = f"""
CREATE TABLE sessions (id INTEGER PRIMARY KEY, started TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    heartbeat REAL NOT NULL, versions TEXT NOT NULL, machine TEXT NOT NULL, protocol TEXT NOT NULL);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (note TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE claims (batch TEXT PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions) WITHOUT ROWID;
CREATE TABLE batches (batch TEXT NOT NULL, data_set TEXT NOT NULL, learner TEXT NOT NULL, coding TEXT NOT NULL,
    n_runs INTEGER NOT NULL, seconds REAL NOT NULL, finished TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions);
CREATE TABLE runs ({_columns(RunRecord)}, session INTEGER NOT NULL REFERENCES sessions,
    PRIMARY KEY (data_set, learner, response, coding, decoding, repeat, fold)) WITHOUT ROWID;
CREATE TABLE rounds ({_columns(RoundRecord)},
    PRIMARY KEY (data_set, learner, response, coding, repeat, fold, round)) WITHOUT ROWID;
CREATE TABLE warnings ({_columns(RunKey)}, message TEXT NOT NULL,
    PRIMARY KEY (data_set, learner, response, coding, decoding, repeat, fold, message)) WITHOUT ROWID;
"""


class Database:
    """A connection to a file that only we write, for all threads of a process, one at a time.

    The file has a rollback journal: unlike a write-ahead log it needs no memory shared between its users, so it also
    serves on network file systems and for readers without the right to write.
    """

    def __init__(self, path: Path, schema: Sequence[str], *, create: bool) -> None:
        self.path = path
        self._lock = threading.RLock()
        _check_file(path, create)
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


def _check_file(path: Path, create: bool) -> None:
    """Refuse a path without a file or where there can be none, and a file that does not begin as ours do."""
    if path.is_dir():
        raise InputError(f"results: '{path}' is a folder, expected the name of a file")
    if not create and not path.exists():
        raise InputError(f"results: there is no file '{path}'")
    if not path.resolve().parent.is_dir():
        raise InputError(f"results: the folder '{path.parent}' does not exist")
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


class Store:
    """Results of an experiment in one file, made if there is none and `create` is True.

    Each batch of runs is written in a transaction of its own: a process that is killed loses the batches that it was
    working on, nothing else. Several processes may use a file at the same time. Each batch is claimed before it is
    run; the claims of a process that has died are free for others. An `InputError` refuses a file that is damaged, or
    not a result file, and leaves it as it is.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self._session: int | None = None
        self._database = Database(Path(path), _SCHEMA.split(";\n"), create=create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def begin(
        self, protocol: Protocol, settings: Mapping[str, str], notes: Iterable[str] = (), *, allow_mixed: bool = False
    ) -> None:
        """Start adding results, if they are going to agree with those that are there.

        Settings are whatever decides on a result besides the identity of the run. An `InputError` refuses settings and
        versions that differ from those of the results that are there, unless `allow_mixed`.
        """
        session = {
            "started": _now(),
            "host": platform.node(),
            "pid": os.getpid(),
            "heartbeat": time.time(),
            "versions": json.dumps(versions()),
            "machine": json.dumps(machine()),
            "protocol": json.dumps(protocol.to_dict()),
        }
        with self._database.transaction() as connection:
            if not allow_mixed:
                self._check_same(settings)
            _insert(connection, "settings", list(settings.items()))
            _insert(connection, "notes", [(note,) for note in notes])
            self._session = connection.execute(
                f"INSERT INTO sessions ({', '.join(session)}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                tuple(session.values()),
            ).lastrowid

    def done(self) -> set[RunKey]:
        """Return the runs whose results are there."""
        return {RunKey(*row) for row in self._database.read(f"SELECT {', '.join(RunKey._fields)} FROM runs")}  # noqa: S608

    def claim(self, batch: Batch) -> bool:
        """Claim a batch for this process; return False if its results are there, or another process works on it."""
        with self._database.transaction() as connection:
            owner = connection.execute(
                "SELECT id, host, pid, heartbeat FROM claims JOIN sessions ON session = id WHERE batch = ?",
                (batch.name,),
            ).fetchone()
            if owner is not None and owner[0] != self._session and _is_alive(*owner[1:]):
                return False
            condition = " AND ".join(f"{name} = ?" for name in RunKey._fields)
            found = f"SELECT 1 FROM runs WHERE {condition}"  # noqa: S608
            if all(connection.execute(found, key).fetchone() for key in batch.keys):
                return False
            connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (batch.name, self._session))
            return True

    def renew_claims(self) -> None:
        """Show other processes that this one is alive."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE sessions SET heartbeat = ? WHERE id = ?", (time.time(), self._session))

    def release_claims(self) -> None:
        """Give up all claims of this process."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM claims WHERE session = ?", (self._session,))

    def save(self, outcome: BatchOutcome) -> None:
        """Add the results of a batch, all or nothing; those that are there already stay."""
        batch = outcome.batch
        # SQLite has no NaN.
        rounds = [
            tuple(None if isinstance(value, float) and np.isnan(value) else value for value in astuple(record))
            for record in outcome.rounds
        ]
        measured = (batch.name, batch.data_set, batch.learner, batch.coding, len(outcome.runs), outcome.seconds)
        with self._database.transaction() as connection:
            _insert(connection, "runs", [(*astuple(run), self._session) for run in outcome.runs])
            _insert(connection, "rounds", rounds)
            _insert(connection, "warnings", [(*key, message) for key, message in outcome.warnings])
            _insert(connection, "batches", [(*measured, _now(), self._session)])
            connection.execute("DELETE FROM claims WHERE batch = ? AND session = ?", (batch.name, self._session))

    def read_runs(self) -> list[RunRecord]:
        """Return the results of all runs, in an order that depends on nothing but their identity."""
        return [RunRecord(*row) for row in self._records(RunRecord, "runs", "decoding")]

    def read_rounds(self) -> list[RoundRecord]:
        """Return the rounds of all WOLC runs, in an order that depends on nothing but their identity."""
        types = get_type_hints(RoundRecord).values()
        rounds = []
        for row in self._records(RoundRecord, "rounds", "round"):
            # NaN is NULL in SQLite, and truth a number.
            values: list[Any] = [np.nan if value is None else of(value) for of, value in zip(types, row, strict=True)]
            rounds.append(RoundRecord(*values))
        return rounds

    def meta(self) -> dict[str, Any]:
        """Return what a reader of the results should know, as plain values.

        Of versions, machines and protocols the distinct ones that results were made with; settings; notes about the
        data; warnings of learners and decodings, with the number of their runs.
        """
        read = self._database.read
        sessions = read(
            "SELECT versions, machine, protocol FROM sessions WHERE id IN (SELECT session FROM runs) ORDER BY id"
        )
        warned = read(
            "SELECT data_set, learner, response, coding || '/' || decoding, message, COUNT(*) FROM warnings "
            "GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
        )
        names = ("data_set", "learner", "response", "method", "message", "n_runs")
        return {
            "versions": _distinct(row[0] for row in sessions),
            "machines": _distinct(row[1] for row in sessions),
            "protocols": _distinct(row[2] for row in sessions),
            "settings": dict(read("SELECT name, value FROM settings ORDER BY name")),
            "notes": [note for (note,) in read("SELECT note FROM notes ORDER BY note")],
            "warnings": [dict(zip(names, row, strict=True)) for row in warned],
        }

    def seconds_of_batches(self) -> list[tuple[tuple[str, str, str], int, float]]:
        """Return the number and the mean seconds of batches, by data set, learner and coding."""
        rows = self._database.read(
            "SELECT data_set, learner, coding, COUNT(*), AVG(seconds) FROM batches GROUP BY 1, 2, 3"
        )
        return [((data_set, learner, coding), count, mean) for data_set, learner, coding, count, mean in rows]

    def n_claimed(self) -> int:
        """Return how many batches living processes work on."""
        rows = self._database.read("SELECT host, pid, heartbeat FROM claims JOIN sessions ON session = id")
        return sum(_is_alive(*row) for row in rows)

    def _records(self, kind: type, table: str, last: str) -> list[tuple[Any, ...]]:
        names = ", ".join(field.name for field in fields(kind))
        order = f"data_set, learner, response, coding, repeat, fold, {last}"
        return self._database.read(f"SELECT {names} FROM {table} ORDER BY {order}")  # noqa: S608

    def _check_same(self, settings: Mapping[str, str]) -> None:
        """Refuse other versions and settings than those of the results that are there; further settings may come."""
        used = self._database.read("SELECT DISTINCT versions FROM sessions WHERE id IN (SELECT session FROM runs)")
        for (text,) in used:
            self._check_equal("versions", json.loads(text), versions())
        there = dict(self._database.read("SELECT name, value FROM settings"))
        self._check_equal("settings", {name: there[name] for name in settings if name in there}, settings)

    def _check_equal(self, what: str, there: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Refuse values that differ from those that are there."""
        changed = [
            f"{name} was {value} and is {now.get(name)}" for name, value in there.items() if now.get(name) != value
        ]
        if changed:
            raise InputError(
                f"results: '{self.path}' was begun with other {what}, which are not mixed "
                f"unless asked for: {', '.join(changed)}"
            )


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, but for those whose keys are there already."""
    if rows:
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places}) ON CONFLICT DO NOTHING", rows)  # noqa: S608


def _is_alive(host: str, pid: int, heartbeat: float) -> bool:
    """Tell whether a process that has claims is still at work."""
    if time.time() - heartbeat > CLAIM_SECONDS:
        return False
    if host != platform.node() or os.name != "posix":  # only there can a process be looked for without harm
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True


def _distinct(texts: Iterable[str]) -> list[Any]:
    """Return the values of distinct JSON texts, in order."""
    return [json.loads(text) for text in dict.fromkeys(texts)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions of this package, of Python and of the installed packages that compute."""
    found = {"skecoc": skecoc.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def machine() -> dict[str, str | int]:
    """Describe the machine: system, architecture, processor (as well as the system tells) and number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count() or 1,
    }
