"""Results of an experiment, whole or in part: the compact files that keep them, and summaries that compare methods.

A folder of results holds ``runs.csv.gz`` (one line per run), ``rounds.csv.gz`` (one line per round of a grown code) and
``meta.json`` (versions, machine, settings, checksums). The same results give the same bytes. Any tool that reads CSV
reads the first two, ``pandas.read_csv("runs.csv.gz")`` for one.

Methods are compared on what all of them have done. On each data set those repeats count that are complete for every
method, which see the same folds; the others are left out and counted. A data set without such a repeat is shown, but
neither marked nor ranked.
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

from skecoc.cli.plugins import InputError, make_folder, write_bytes, write_text
from skecoc.compare.experiments import RoundRecord, RunRecord
from skecoc.compare.statistics import (
    TIE_DECIMALS,
    average_ranks,
    corrected_t_test,
    paired_t_test,
    paired_values,
    repeat_summary,
)
from skecoc_study.runs.protocol import Protocol

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
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
    """Runs of methods on data sets, each once and in any order, and the rounds of those that grew a WOLC code.

    `meta` holds what a reader should know as plain values: versions, machines, notes. Where ``meta["protocols"]`` lists
    the plans of the experiment (`Protocol.to_dict`), runs that are planned but not done count as missing.
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
        """List the pairs of learner and response that have runs, sorted by name."""
        return sorted({(learner, response) for learner, response, _ in self._groups})

    def data_sets(self, learner: str, response: str) -> list[str]:
        """List the data sets that have runs in a setting, sorted by name."""
        return sorted({name for *setting, name in self._groups if setting == [learner, response]})

    def methods(self, learner: str, response: str) -> list[str]:
        """List the methods ``coding/decoding`` that have runs in a setting, sorted by name."""
        groups = [runs for (*setting, _), runs in self._groups.items() if setting == [learner, response]]
        return sorted({run.method for runs in groups for run in runs})

    def values(
        self, measure: str, learner: str, response: str, data_set: str, methods: Sequence[str] | None = None
    ) -> Floats:
        """Arrange an attribute of the runs on a data set in shape (n_methods, n_repeats, n_folds), NaN if missing.

        Methods without runs may be wanted, too; None takes `methods(learner, response)`.
        """
        names = self.methods(learner, response) if methods is None else methods
        position = {name: row for row, name in enumerate(names)}
        runs = self._groups.get((learner, response, data_set), [])
        values = np.full((len(names), *self._shape(learner, data_set, runs)), np.nan)
        for run in runs:
            if run.method in position:
                values[position[run.method], run.repeat, run.fold] = getattr(run, measure)
        return values

    def rounds_of(self, learner: str, response: str, data_set: str, method: str) -> list[RoundRecord]:
        """Return the rounds of all runs of a method on a data set, as far as growth was recorded."""
        return self._grown.get((learner, response, data_set, method.partition("/")[0]), [])

    def kept_rounds(self, learner: str, response: str, data_set: str, method: str) -> list[RoundRecord]:
        """Return the kept round of each run of a method on a data set, as far as growth was recorded."""
        return [record for record in self.rounds_of(learner, response, data_set, method) if record.kept]

    def optimized_share(self, learner: str, response: str, data_set: str, method: str) -> float:
        """Return the share of a method's runs on a data set whose weights are optimised; NaN if it is not known."""
        rounds = self.kept_rounds(learner, response, data_set, method)
        return float(np.mean([record.optimized for record in rounds])) if rounds else np.nan

    def write(self, folder: str | Path) -> None:
        """Write the results into a folder, made if it does not exist, and replace earlier ones there.

        Seconds keep 3 significant digits, losses and accuracies of rounds 5.
        """
        target = Path(folder)
        make_folder("results", target)
        checksums = {}
        for name, kind, records in ((RUNS_FILE, RunRecord, self.runs), (ROUNDS_FILE, RoundRecord, self.rounds)):
            content = _to_csv(kind, sorted(records, key=_sort_key)).encode()
            checksums[name] = hashlib.sha256(content).hexdigest()
            write_bytes("results", target / name, gzip.compress(content, mtime=0))
        meta = {**self.meta, "format": _FORMAT, _CHECKSUMS: checksums}
        write_text("results", target / META_FILE, json.dumps(meta, indent=1, sort_keys=True) + "\n")

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read what `write` has written; an `InputError` names a file that is missing, damaged or of other results."""
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
        groups: dict[tuple[str, str, str], list[RunRecord]] = {}
        for run in self.runs:
            groups.setdefault((run.learner, run.response, run.data_set), []).append(run)
        return groups

    @cached_property
    def _grown(self) -> dict[tuple[str, str, str, str], list[RoundRecord]]:
        grown: dict[tuple[str, str, str, str], list[RoundRecord]] = {}
        for record in self.rounds:
            grown.setdefault((record.learner, record.response, record.data_set, record.coding), []).append(record)
        return grown

    def missing(self) -> list[str]:
        """Name the runs that a plan of the experiment asks for and that are not there, or without their growth."""
        keys = {run.key for run in self.runs}
        grown = {(*of_runs, record.repeat, record.fold) for of_runs, found in self._grown.items() for record in found}
        wanted = {key for protocol in self._protocols for batch in protocol.batches() for key in batch.keys}
        return sorted(
            "/".join(map(str, key))
            for key in wanted
            if key not in keys
            or (
                key.coding.startswith("wolc")
                and (key.learner, key.response, key.data_set, key.coding, key.repeat, key.fold) not in grown
            )
        )

    @cached_property
    def _protocols(self) -> list[Protocol]:
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
    if kind is bool:
        return lambda value: str(int(value))
    digits = _DIGITS.get(name, _ROUND_DIGITS)
    return (lambda value: f"{value:.{digits}g}") if kind is float else str


def _read_meta(path: Path) -> dict[str, Any]:
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
    readers = [(lambda value: value == "1") if type_ is bool else type_ for type_ in types.values()]
    return [kind(*(read(value) for read, value in zip(readers, line, strict=True))) for line in lines]


@dataclass(frozen=True)
class SettingSummary:
    """All methods on all data sets with one learner and one response; arrays have shape (n_data_sets, n_methods)."""

    learner: str
    response: str
    data_sets: list[str]
    methods: list[str]
    missing_methods: list[str]  # wanted, but without any run in this setting
    other_methods: list[str]  # with runs, but not compared here
    # Mean and standard deviation over repeats; the deviation is NaN where one repeat counts. On data sets that are not
    # comparable, the mean of whatever runs there are; NaN without any.
    accuracy: Floats
    accuracy_std: Floats
    columns: Floats  # those that `predict` evaluates
    columns_std: Floats
    trained: Floats  # mean number of columns trained
    fit_seconds: Floats
    n_runs: Integers
    n_repeats: Integers  # that count, of shape (n_data_sets,)
    planned_repeats: Integers  # of shape (n_data_sets,)
    n_folds: int
    # The most accurate method of each row and those not significantly worse (paired t test, 95 %).
    best: NDArray[np.bool_]
    # 1 where a method is significantly more accurate than the control, -1 where it is less, by the paired t test and by
    # the corrected one; 0 otherwise, and without a control.
    against_control: Integers
    against_control_corrected: Integers
    # How much more accurate the control is than each method, of shape (n_data_sets, n_methods, 3): mean difference and
    # the ends of its 95 % interval by the paired t test; NaN where there is nothing to test.
    control_ahead: Floats
    # Share of the control's runs whose weights are optimised, of shape (n_data_sets,); NaN if it is not known.
    optimized: Floats

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Which data sets have a repeat that is complete for every method, of shape (n_data_sets,)."""
        return self.n_repeats > 0

    @property
    def ranked_data_sets(self) -> list[str]:
        """Names of the data sets that are comparable."""
        return [name for name, comparable in zip(self.data_sets, self.comparable, strict=True) if comparable]

    @property
    def n_ranked(self) -> str:
        """How many data sets are comparable, in words: ``"1 data set"``, ``"14 data sets"``."""
        count = int(self.comparable.sum())
        return f"{count} data set{'' if count == 1 else 's'}"

    def scores(self) -> Floats:
        """Return the accuracies on comparable data sets, of shape (n_comparable, n_methods)."""
        return self.accuracy[self.comparable]

    def ranks(self) -> dict[str, float]:
        """Return the average rank of each method over comparable data sets; empty without any."""
        if not self.comparable.any():
            return {}
        return dict(zip(self.methods, average_ranks(self.scores()).tolist(), strict=True))

    def position(self, method: str) -> int | None:
        """Return the column of a method, None if it has no runs."""
        return self.methods.index(method) if method in self.methods else None


def summarize_setting(
    results: Results,
    learner: str,
    response: str,
    methods: Sequence[str] | None = None,
    *,
    data_sets: Sequence[str] | None = None,
    control: str | None = None,
) -> SettingSummary:
    """Average the methods of one setting, and compare them with each other and with a control.

    Methods and data sets without runs are left out; None takes all that have runs.
    """
    found = results.methods(learner, response)
    wanted = found if methods is None else list(methods)
    present = [method for method in wanted if method in found]
    shown = [
        data_set
        for data_set in (results.data_sets(learner, response) if data_sets is None else data_sets)
        if not np.isnan(results.values("accuracy", learner, response, data_set, present)).all()
    ]
    if not shown:
        raise ValueError(f"no runs of these methods with learner {learner!r} and response {response!r}")
    rows = [_summarize_row(results, learner, response, data_set, present, control) for data_set in shown]
    return SettingSummary(
        learner=learner,
        response=response,
        data_sets=shown,
        methods=present,
        missing_methods=[method for method in wanted if method not in found],
        other_methods=[method for method in found if method not in wanted],
        n_folds=int(results.values("accuracy", learner, response, shown[0], present).shape[2]),
        **{name: np.array([row[name] for row in rows]) for name in rows[0]},
    )


def _summarize_row(
    results: Results, learner: str, response: str, data_set: str, methods: list[str], control: str | None
) -> dict[str, NDArray[np.generic] | int]:
    """Summarise one data set: everything that `SettingSummary` has a row of."""

    def values(measure: str) -> Floats:
        return results.values(measure, learner, response, data_set, methods)

    accuracy = values("accuracy")
    done = ~np.isnan(accuracy)
    counted = np.asarray(done.all(axis=(0, 2)))
    mean, std = _average(accuracy, counted)
    columns, columns_std = _average(values("n_columns"), counted)
    test_share = float(np.nanmean(values("n_test") / values("n_train")))
    return {
        "accuracy": mean,
        "accuracy_std": std,
        "columns": columns,
        "columns_std": columns_std,
        "trained": _average(values("n_trained"), counted)[0],
        "fit_seconds": _average(values("fit_seconds"), counted)[0],
        "n_runs": done.sum(axis=(1, 2)),
        "n_repeats": int(counted.sum()),
        "planned_repeats": len(counted),
        "optimized": results.optimized_share(learner, response, data_set, "" if control is None else control),
        **_verdicts(accuracy[:, counted], methods, control, test_share),
    }


def _average(values: Floats, counted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Average the repeats that count; without any, whatever runs there are."""
    if counted.any():
        return repeat_summary(values[:, counted])
    done = ~np.isnan(values)
    total, count = np.where(done, values, 0.0).sum(axis=(1, 2)), done.sum(axis=(1, 2))
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return mean, np.full(len(values), np.nan)


def _verdicts(
    accuracy: Floats, methods: list[str], control: str | None, test_share: float
) -> dict[str, NDArray[np.generic]]:
    """Mark the best methods of a data set, and those that differ from the control."""
    n_methods, n_repeats, n_folds = accuracy.shape
    best = np.zeros(n_methods, dtype=bool)
    against, corrected = np.zeros((2, n_methods), dtype=np.int64)
    ahead = np.full((n_methods, 3), np.nan)
    if n_repeats and n_repeats * n_folds > 1:
        paired, runs = paired_values(accuracy), accuracy.reshape(n_methods, -1)
        top = paired[np.round(paired.mean(axis=1), TIE_DECIMALS).argmax()]
        best = np.array([paired_t_test(values, top).verdict >= 0 for values in paired])
        if control in methods:
            row = methods.index(control)
            tests = [paired_t_test(paired[row], values) for values in paired]
            against = np.array([-test.verdict for test in tests])
            ahead = np.array([(test.difference, test.low, test.high) for test in tests])
            corrected = np.array([corrected_t_test(values, runs[row], test_share).verdict for values in runs])
    return {"best": best, "against_control": against, "against_control_corrected": corrected, "control_ahead": ahead}
