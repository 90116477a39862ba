"""The outcome of an experiment, whole or in part, and the compact files that keep it.

A folder of results holds ``runs.csv.gz`` (one line per run), ``rounds.csv.gz`` (one line per round of a grown code) and
``meta.json`` (versions, machine, settings, checksums). The same results give the same bytes. Any tool that reads CSV
reads the first two, ``pandas.read_csv("runs.csv.gz")`` for one.
"""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.protocol import Protocol
from skecoc.benchmarking.records import RoundRecord, RunRecord
from skecoc.paper.published import DATA_SETS, METHODS
from skecoc.support.errors import InputError
from skecoc.support.files import write_bytes, write_text

Floats = NDArray[np.float64]
Entry = TypeVar("Entry", RunRecord, RoundRecord)

#: Files of a folder of results.
RUNS_FILE, ROUNDS_FILE, META_FILE = "runs.csv.gz", "rounds.csv.gz", "meta.json"

_FORMAT = "skecoc results 1"
_CHECKSUMS = "checksums"
#: Significant digits that the files keep of what is not a count. Clocks are not more exact than that.
_DIGITS = {"fit_seconds": 3, "predict_seconds": 3}
_ROUND_DIGITS = 5


@dataclass(frozen=True)
class Results:
    """Runs of methods on data sets.

    Parameters
    ----------
    runs : list of RunRecord
        The runs that have been done, each once, in any order.
    rounds : list of RoundRecord
        Rounds of those that grew a WOLC code.
    meta : dict
        What a reader should know, as plain values: versions, machines, notes. Where ``meta["protocols"]`` lists the
        plans of the experiment (`Protocol.to_dict`), runs that are planned but not done count as missing.

    Raises
    ------
    InputError
        If a run is given twice.

    Examples
    --------
    >>> run = RunRecord("iris", 0, 0, "stumps", "labels", "one-vs-one", "hamming", 135, 15, 12, 3, 3, 0.1, 0.01)
    >>> results = Results([run], [], {})
    >>> results.values("accuracy", "stumps", "labels", "iris")
    array([[[0.8]]])
    """

    runs: list[RunRecord]
    rounds: list[RoundRecord]
    meta: dict[str, Any]

    def __post_init__(self) -> None:
        seen = set()
        for run in self.runs:
            if run.key in seen:
                raise InputError(f"the run {'/'.join(map(str, run.key))} is given twice")
            seen.add(run.key)

    def settings(self) -> list[tuple[str, str]]:
        """List the pairs of learner and response that have runs.

        Returns
        -------
        list of (str, str)
            Sorted by name.
        """
        return sorted({(learner, response) for learner, response, _ in self._groups})

    def data_sets(self, learner: str, response: str) -> list[str]:
        """List the data sets that have runs in a setting.

        Parameters
        ----------
        learner, response : str
            The setting.

        Returns
        -------
        list of str
            The paper's in its order, then others by name.
        """
        found = {name for *setting, name in self._groups if setting == [learner, response]}
        return in_order(found, DATA_SETS)

    def methods(self, learner: str, response: str) -> list[str]:
        """List the methods that have runs in a setting.

        Parameters
        ----------
        learner, response : str
            The setting.

        Returns
        -------
        list of str
            Names ``coding/decoding``: the paper's in its order, then others by name.
        """
        groups = [runs for (*setting, _), runs in self._groups.items() if setting == [learner, response]]
        return in_order({run.method for runs in groups for run in runs}, METHODS)

    def values(
        self, measure: str, learner: str, response: str, data_set: str, methods: Sequence[str] | None = None
    ) -> Floats:
        """Arrange one measure of the runs on a data set by method, repeat and fold.

        Parameters
        ----------
        measure : str
            A numeric attribute of `RunRecord`, such as ``"accuracy"``.
        learner, response, data_set : str
            The setting and the data set.
        methods : sequence of str, default=None
            The methods wanted, also such as have no runs; None takes `methods(learner, response)`.

        Returns
        -------
        ndarray of shape (n_methods, n_repeats, n_folds)
            The values; NaN where a run is missing.
        """
        names = self.methods(learner, response) if methods is None else methods
        position = {name: row for row, name in enumerate(names)}
        runs = self._groups.get((learner, response, data_set), [])
        values = np.full((len(names), *self._shape(learner, data_set, runs)), np.nan)
        for run in runs:
            if run.method in position:
                values[position[run.method], run.repeat, run.fold] = getattr(run, measure)
        return values

    def write(self, folder: str | Path) -> None:
        """Write the results into a folder.

        Parameters
        ----------
        folder : str or pathlib.Path
            Made if it does not exist. Files of earlier results in it are replaced. Seconds keep 3 significant digits,
            losses and accuracies of rounds 5.

        Raises
        ------
        InputError
            If the system refuses.
        """
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder '{target}': {error.strerror}") from error
        checksums = {}
        for name, kind, records in ((RUNS_FILE, RunRecord, self.runs), (ROUNDS_FILE, RoundRecord, self.rounds)):
            content = _to_csv(kind, sorted(records, key=_sort_key)).encode()
            checksums[name] = hashlib.sha256(content).hexdigest()
            write_bytes("results", target / name, gzip.compress(content, mtime=0))
        meta = {**self.meta, "format": _FORMAT, _CHECKSUMS: checksums}
        write_text("results", target / META_FILE, json.dumps(meta, indent=1, sort_keys=True) + "\n")

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read what `write` has written.

        Parameters
        ----------
        folder : str or pathlib.Path
            The folder.

        Returns
        -------
        Results
            The runs and rounds in the order of the files.

        Raises
        ------
        InputError
            If a file is missing, damaged, not of this format or not of the same results as the others; the message
            names it.
        """
        source = Path(folder)
        meta = _read_meta(source / META_FILE)
        checksums = meta.pop(_CHECKSUMS)
        del meta["format"]
        runs = _read_records(source / RUNS_FILE, RunRecord, checksums)
        rounds = _read_records(source / ROUNDS_FILE, RoundRecord, checksums)
        try:
            results = cls(runs, rounds, meta)
            results._protocols  # noqa: B018 - a plan that makes no sense is found now
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"'{source}': {error}") from error
        return results

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str], list[RunRecord]]:
        """Runs by learner, response and data set."""
        groups: dict[tuple[str, str, str], list[RunRecord]] = {}
        for run in self.runs:
            groups.setdefault((run.learner, run.response, run.data_set), []).append(run)
        return groups

    @cached_property
    def _protocols(self) -> list[Protocol]:
        """The plans, where they are known."""
        return [Protocol.from_dict(values) for values in self.meta.get("protocols", [])]

    @cached_property
    def _n_folds(self) -> int:
        """Folds of every cross-validation: those planned, or the highest number found."""
        found = [1 + run.fold for run in self.runs]
        return max(found + [protocol.n_folds for protocol in self._protocols], default=0)

    def _shape(self, learner: str, data_set: str, runs: Iterable[RunRecord]) -> tuple[int, int]:
        """Repeats and folds that are planned for a data set, or the highest numbers found."""
        found = [1 + run.repeat for run in runs]
        planned = [
            protocol.repeats_of(learner, data_set)
            for protocol in self._protocols
            if data_set in protocol.data_sets and learner in dict(protocol.settings)
        ]
        return max(found + planned, default=0), self._n_folds


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Sort names: those of a known order first, then others by name.

    Parameters
    ----------
    names : iterable of str
        The names.
    known : iterable of str
        The order.

    Returns
    -------
    list of str
        Each name once.

    Examples
    --------
    >>> in_order(["b", "x", "a"], ["x", "y"])
    ['x', 'a', 'b']
    """
    position = {name: rank for rank, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (position.get(name, len(position)), name))


def _sort_key(record: RunRecord | RoundRecord) -> tuple[Any, ...]:
    """Order of the lines of a file: neighbours have much in common, which compresses well."""
    method = (record.coding, record.decoding) if isinstance(record, RunRecord) else (record.coding, "")
    last = record.round if isinstance(record, RoundRecord) else 0
    return record.learner, record.response, record.data_set, *method, record.repeat, record.fold, last


def _to_csv(kind: type[RunRecord] | type[RoundRecord], records: Sequence[RunRecord | RoundRecord]) -> str:
    """Write records as CSV, numbers that are not counts rounded."""
    formats = [(name, _writer(name, type_)) for name, type_ in get_type_hints(kind).items()]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([name for name, _ in formats])
    lines.writerows([write(getattr(record, name)) for name, write in formats] for record in records)
    return text.getvalue()


def _writer(name: str, kind: Any) -> Callable[[Any], str]:
    """Choose how values of a field are written."""
    if kind is bool:
        return lambda value: str(int(value))
    digits = _DIGITS.get(name, _ROUND_DIGITS)
    return (lambda value: f"{value:.{digits}g}") if kind is float else str


def _read_meta(path: Path) -> dict[str, Any]:
    """Read the file that describes the others."""
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read results from '{path}': {error.strerror}") from error
    except ValueError as error:  # also of a text that is not UTF-8
        raise InputError(f"'{path}' is damaged: {error}") from error
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT or not isinstance(meta.get(_CHECKSUMS), dict):
        raise InputError(f"'{path}' does not describe results of skecoc (expected the format {_FORMAT!r})")
    return meta


def _read_records(path: Path, kind: type[Entry], checksums: dict[str, str]) -> list[Entry]:
    """Read one of the files of records."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"'{path}' is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read results from '{path}': {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != checksums.get(path.name):
        raise InputError(f"'{path}' is damaged, or not of the same results as '{path.with_name(META_FILE)}'")
    header, *lines = csv.reader(io.StringIO(content.decode()))
    types = get_type_hints(kind)
    if header != list(types):
        raise InputError(f"'{path}' has columns that this version does not know: {', '.join(header)}")
    readers = [_reader(type_) for type_ in types.values()]
    return [kind(*(read(value) for read, value in zip(readers, line, strict=True))) for line in lines]


def _reader(kind: Any) -> Callable[[str], Any]:
    """Choose how values of a field are read."""
    return (lambda value: value == "1") if kind is bool else kind
