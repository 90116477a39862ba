"""Codes compared on features of music: cross-validation with artists or tracks kept whole, tables, growth.

Features come as arrays, so that this needs no audio.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from skecoc.benchmarking.methods import PEERS, check_methods, coding_of, make_learner
from skecoc.benchmarking.results import Results
from skecoc.benchmarking.runs import RoundRecord, RunKey, RunRecord, seed_of
from skecoc.benchmarking.statistics import best_per_row, corrected_t_test, paired_values
from skecoc.benchmarking.trials import (
    Fold,
    distinct_messages,
    named_errors,
    recorded_warnings,
    round_records,
    run_record,
    try_alone,
    warning_notes,
)
from skecoc.music.frontends import Floats
from skecoc.reports.charts import convergence_picture
from skecoc.reports.pictures import Picture
from skecoc.reports.tables import Cell, Row, Table, to_csv
from skecoc.support.errors import InputError
from skecoc.support.processes import run_all
from skecoc.support.threads import thread_pools

Rows = NDArray[np.intp]

_WOLC = "wolc/optimized-weight"

#: The methods that are compared unless others are named.
MUSIC_METHODS = (
    "one-vs-one/loss-weighted",
    "one-vs-rest/loss-weighted",
    "decoc/loss-weighted",
    "ecoc-one/loss-weighted",
    _WOLC,
)

# What decoders get from binary learners; tuned support vector machines and boosted stumps both have probabilities.
_RESPONSE = "probabilities"

# The feature whose rounds of growth are shown, if it was compared; else the first one.
_GROWTH_FEATURE = "mnase"

_ACCURACY_NOTE = (
    "Mean and standard deviation (over the folds, or over the repeats if there are several). Bold (* in plain text): "
    "the best of the row."
)
_MARKS_NOTE = (
    "+ and -: significantly better and worse than WOLC-ECOC (Nadeau and Bengio's corrected t test, two-tailed at 95 %, "
    "over all folds)."
)
_LENGTH_NOTE = "Mean number of columns evaluated at prediction."


@dataclass(frozen=True)
class MusicData:
    """Finite features of clips by name, their genres, and groups, if any, that are on one side of every split."""

    features: Mapping[str, Floats]
    genres: NDArray[Any]
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if not self.features:
            raise InputError("features: expected at least one")
        for name, values in self.features.items():
            if values.ndim != 2 or len(values) != self.n_clips:
                raise InputError(f"features: {name!r} must have {self.n_clips} rows, got shape {values.shape}")
            if not np.isfinite(values).all():
                raise InputError(f"features: {name!r} has values that are not finite")
        if self.groups is not None and len(self.groups) != self.n_clips:
            raise InputError(f"groups: expected one per clip, {self.n_clips}, got {len(self.groups)}")

    @property
    def n_clips(self) -> int:
        """Number of clips."""
        return len(self.genres)


@dataclass(frozen=True)
class MusicComparison:
    """The runs of `compare_music`, in which features stand where other experiments have data sets."""

    results: Results
    features: list[str]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def values(self, measure: str) -> Floats:
        """Arrange a number of all runs, such as ``"accuracy"``: (n_features, n_methods, n_repeats, n_folds)."""
        shape = (len(self.features), len(self.methods), self.settings["repeats"], self.settings["folds"])
        table = np.full(shape, np.nan)
        for run in self.results.runs:
            place = self.features.index(run.data_set), self.methods.index(run.method), run.repeat, run.fold
            table[place] = getattr(run, measure)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "settings": self.settings,
            "runs": [asdict(run) for run in self.results.runs],
            "rounds": [asdict(record) for record in self.results.rounds],
            "notes": self.notes,
        }


class _Task(NamedTuple):
    """One method on one fold."""

    key: RunKey
    train: Rows
    test: Rows


class _Outcome(NamedTuple):
    """What came of a task."""

    run: RunRecord
    rounds: list[RoundRecord]
    warned: list[str]


def compare_music(
    data: MusicData,
    methods: Sequence[str] = MUSIC_METHODS,
    *,
    learner: str | BaseEstimator = "svm",
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> MusicComparison:
    """Cross-validate codes on features of music, all on the same folds, stratified by genre and scaled to [0, 1]."""
    methods = check_music_methods(methods)
    estimator = make_learner(learner)
    if folds < 2 or repeats < 1:
        raise InputError(f"expected at least 2 folds and 1 repeat, got {folds} and {repeats}")
    tasks = _plan(data, methods, str(learner), folds, repeats, seed)
    outcomes = _run_all(data, tasks, estimator, seed, n_jobs, show_progress)
    warned = [(outcome.run.key, message) for outcome in outcomes for message in outcome.warned]
    return MusicComparison(
        results=Results([o.run for o in outcomes], [r for o in outcomes for r in o.rounds], {}),
        features=list(data.features),
        methods=methods,
        settings={
            "clips": data.n_clips,
            "genres": len(np.unique(data.genres)),
            "groups": None if data.groups is None else len(np.unique(data.groups)),
            "learner": str(learner),
            "folds": folds,
            "repeats": repeats,
            "seed": seed,
        },
        notes=[*_notes_on_small_genres(data, folds), *warning_notes(warned)],
    )


def split_clips(
    genres: NDArray[Any], groups: NDArray[Any] | None, repeat: int, folds: int, seed: int
) -> list[tuple[Rows, Rows]]:
    """Split clips into folds of training and test rows, stratified by genre, groups kept whole."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(folds, shuffle=True, random_state=seed_of(seed, "folds", "music", repeat))
    if groups is not None and len(np.unique(groups)) < folds:
        raise InputError(f"folds: {folds} is more than the {len(np.unique(groups))} groups")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # noted already
            parts = list(splitter.split(np.zeros(len(genres)), genres, groups))
    except ValueError as error:
        raise InputError(f"folds: {error}") from error
    if any(len(test) == 0 or len(np.unique(genres[train])) < 2 for train, test in parts):
        raise InputError(f"folds: too few groups for {folds} folds with two genres in every training part")
    return parts


def check_music_methods(methods: Sequence[str]) -> list[str]:
    """Complete the names of methods: codes only, since not all of scikit-learn's own strategies have probabilities."""
    checked = check_methods(methods)
    peers = [method for method in checked if method in PEERS]
    if peers:
        raise InputError(f"methods: {peers[0]!r} is not for music; expected coding/decoding")
    return checked


def music_accuracy_table(comparison: MusicComparison) -> Table:
    """Make a table of accuracies in percent by feature and method; its records also hold lengths and seconds."""
    accuracy = 100 * comparison.values("accuracy")
    means, deviations = _mean_and_deviation(accuracy)
    best = best_per_row(means, decimals=2)
    marks = _marks(comparison.methods, accuracy)
    cells = [
        [
            Cell(f"{mean:.2f}", deviation=f"{deviation:.2f}", bold=bool(is_best), mark=mark, value=float(mean))
            for mean, deviation, is_best, mark in zip(*row, strict=True)
        ]
        for row in zip(means, deviations, best, marks, strict=True)
    ]
    has_marks = any(any(row) for row in marks)
    notes = [_ACCURACY_NOTE, *([_MARKS_NOTE] if has_marks else []), *comparison.notes]
    return _table("accuracy", "Accuracy in %", comparison, cells, notes)


def music_length_table(comparison: MusicComparison) -> Table:
    """Make a table of code lengths by feature and method."""
    lengths = comparison.values("n_columns").mean(axis=(2, 3))
    cells = [[Cell(text=f"{length:.2f}", value=float(length)) for length in row] for row in lengths]
    return _table("code-length", "Code length", comparison, cells, [_LENGTH_NOTE])


def growth_picture(comparison: MusicComparison) -> Picture:
    """Draw risk and accuracies of the first WOLC code by round, means over all runs on one feature."""
    rounds = _growth_rounds(comparison)
    first = rounds[0]
    setting = first.data_set, first.learner, first.response, first.coding
    return convergence_picture(Results([], rounds, {}), *setting, name=f"music-{first.data_set}")


def growth_csv(comparison: MusicComparison) -> str:
    """Write the numbers of `growth_picture` as CSV, one line per run and round."""
    records = [asdict(record) for record in _growth_rounds(comparison)]
    return to_csv(Table("growth", "", "", [], [], [], records=records))


def _plan(data: MusicData, methods: Sequence[str], learner: str, folds: int, repeats: int, seed: int) -> list[_Task]:
    """List all runs, methods in the inner loop: slow ones at the end would leave cores idle."""
    splits = [split_clips(data.genres, data.groups, repeat, folds, seed) for repeat in range(repeats)]
    return [
        _Task(RunKey(feature, repeat, fold, learner, _RESPONSE, *method.split("/")), *splits[repeat][fold])
        for feature, repeat, fold, method in product(data.features, range(repeats), range(folds), methods)
    ]


def _run_all(
    data: MusicData, tasks: Sequence[_Task], learner: BaseEstimator, seed: int, n_jobs: int | None, show_progress: bool
) -> list[_Outcome]:
    """Run all tasks, several at a time; return what came of them in their order."""
    calls = [delayed(_run)(data.features[task.key.data_set], data.genres, task, learner, seed) for task in tasks]
    outcomes = {outcome.run.key: outcome for outcome in run_all(calls, n_jobs, show_progress=show_progress)}
    return [outcomes[task.key] for task in tasks]


def _run(X: Floats, genres: NDArray[Any], task: _Task, learner: BaseEstimator, seed: int) -> _Outcome:
    """Train and test one method on one fold."""
    key = task.key
    run_seed = seed_of(seed, "run", key.data_set, key.repeat, key.fold, coding_of(key.method))
    scaler = MinMaxScaler().fit(X[task.train])
    fold = Fold(scaler.transform(X[task.train]), genres[task.train], scaler.transform(X[task.test]), genres[task.test])
    with thread_pools().limit(limits=1), recorded_warnings() as caught, named_errors(key):
        trial = try_alone(key, learner, run_seed, fold)
        rounds = list(round_records(key, trial.classifier, fold))
    return _Outcome(run_record(key, trial, fold), rounds, distinct_messages(caught))


def _notes_on_small_genres(data: MusicData, folds: int) -> list[str]:
    """Say which genres have too few clips, or groups of clips, to be in all parts of all splits."""
    unit, groups = ("clips", np.arange(data.n_clips)) if data.groups is None else ("groups", data.groups)
    counts = {genre: len(np.unique(groups[data.genres == genre])) for genre in np.unique(data.genres).tolist()}
    few = [f"{genre} ({count})" for genre, count in counts.items() if count < folds]
    return [f"fewer {unit} than the {folds} folds: {', '.join(few)}; absent from some test parts"] if few else []


def _growth_rounds(comparison: MusicComparison) -> list[RoundRecord]:
    """Choose the rounds to show: of the first WOLC code, on one feature."""
    rounds = comparison.results.rounds
    if not rounds:
        raise InputError("convergence: expected a method that grows a WOLC code, such as wolc/optimized-weight")
    feature = _GROWTH_FEATURE if _GROWTH_FEATURE in comparison.features else comparison.features[0]
    return [record for record in rounds if (record.data_set, record.coding) == (feature, rounds[0].coding)]


def _table(name: str, what: str, comparison: MusicComparison, cells: list[list[Cell]], notes: list[str]) -> Table:
    """Make a table with a row per feature and a column per method."""
    settings = comparison.settings
    repeats = f"{settings['repeats']} x " if settings["repeats"] > 1 else ""
    kept = "" if settings["groups"] is None else f", {settings['groups']} groups kept whole"
    title = (
        f"{what}: {settings['clips']} clips of {settings['genres']} genres, {repeats}{settings['folds']} folds{kept}, "
        f"learner {settings['learner']}"
    )
    columns: list[tuple[str, ...]] = [tuple(method.split("/")) for method in comparison.methods]
    rows = [Row(feature.upper(), row) for feature, row in zip(comparison.features, cells, strict=True)]
    records = _records(comparison)
    return Table(name, title, "feature", columns, list(comparison.methods), rows, notes=notes, records=records)


def _records(comparison: MusicComparison) -> list[dict[str, Any]]:
    """Return all averages in long form."""
    means, deviations = _mean_and_deviation(100 * comparison.values("accuracy"))
    measures = {
        "accuracy": means,
        "std": deviations,
        "columns": comparison.values("n_columns").mean(axis=(2, 3)),
        "fit_seconds": comparison.values("fit_seconds").mean(axis=(2, 3)),
    }
    return [
        {"feature": feature, "method": method, **{name: float(values[i, j]) for name, values in measures.items()}}
        for i, feature in enumerate(comparison.features)
        for j, method in enumerate(comparison.methods)
    ]


def _mean_and_deviation(accuracy: Floats) -> tuple[Floats, Floats]:
    """Average over all runs; deviations are over the repeats if there are several, else over the folds."""
    return accuracy.mean(axis=(2, 3)), np.std(paired_values(accuracy), axis=-1, ddof=1)


def _marks(methods: Sequence[str], accuracy: Floats) -> list[list[str]]:
    """Mark what differs significantly from WOLC-ECOC, if that was run."""
    if _WOLC not in methods:
        return [[""] * len(methods) for _ in accuracy]
    wolc, n_folds = list(methods).index(_WOLC), accuracy.shape[-1]
    runs = accuracy.reshape(*accuracy.shape[:2], -1)
    signs = {1: "+", 0: "", -1: "-"}
    return [
        [signs[corrected_t_test(values, row[wolc], test_share=1 / (n_folds - 1)).verdict] for values in row]
        for row in runs
    ]
