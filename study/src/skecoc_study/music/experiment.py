"""Codes compared on features of music: cross-validation with artists or tracks kept whole.

Features come as arrays, so that this needs no audio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler

from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import (
    BatchOutcome,
    Fold,
    RunKey,
    run_all,
    run_classifier,
    seed_of,
    split_rows,
    warning_notes,
)
from skecoc_study.music.frontends import Floats
from skecoc_study.music.methods import (
    ALL,
    DEFAULT_LEARNER,
    MIXED_FEATURES,
    MUSIC_METHODS,
    check_music_methods,
    has_own_learners,
    make_music_classifier,
)
from skecoc_study.runs.results import Results

Rows = NDArray[np.intp]

# What decoders get from binary learners: probabilities where a learner has them.
_RESPONSE = "auto"

# Small genres reduce the number of folds, but not below this.
_ENOUGH_FOLDS = 5


@dataclass(frozen=True)
class MusicData:
    """Finite features of clips by name, their genres, and groups, if any, that are on one side of every split.

    `blocks` are the feature sets that are mixed; without it, all features but those named "all".
    """

    features: Mapping[str, Floats]
    genres: NDArray[Any]
    groups: NDArray[Any] | None = None
    blocks: Mapping[str, Floats] | None = None

    def __post_init__(self) -> None:
        if not self.features:
            raise InputError("features: expected at least one")
        for name, values in {**self.features, **self.mixed_blocks}.items():
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

    @property
    def mixed_blocks(self) -> dict[str, Floats]:
        """The feature sets that are mixed."""
        if self.blocks is not None:
            return dict(self.blocks)
        return {name: values for name, values in self.features.items() if name != ALL} or dict(self.features)


class HeldOut(NamedTuple):
    """What the clips of one test part were predicted as: their positions, genres, and probabilities of all genres."""

    rows: Rows
    predicted: NDArray[np.intp]  # places of the genres
    probabilities: Floats  # 0 for a genre without clips in the training part


@dataclass(frozen=True)
class MusicComparison:
    """The runs of `compare_music`, in which features stand where other experiments have data sets."""

    results: Results
    features: list[str]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    held_out: list[HeldOut] = field(default_factory=list)  # of all runs in their order, if they are kept

    def values(self, measure: str) -> Floats:
        """Arrange a number of all runs, such as ``"accuracy"``: (n_features, n_methods, n_repeats, n_folds).

        A mixture of features has one row only; in the others it is NaN.
        """
        ((learner, response),) = self.results.settings()
        return np.stack([self.results.values(measure, learner, response, name, self.methods) for name in self.features])

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


def compare_music(
    data: MusicData,
    methods: Sequence[str] = MUSIC_METHODS,
    *,
    learner: str | BaseEstimator | None = None,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    show_progress: bool = False,
    keep_predictions: bool = False,
) -> MusicComparison:
    """Cross-validate codes on features of music, all on the same folds, stratified by genre and scaled to [0, 1].

    Small genres reduce the number of folds, which a note says. Without `learner`, each method has its usual ones.
    """
    methods = check_music_methods(methods)
    chosen = DEFAULT_LEARNER if learner is None else str(learner)  # what tables call it
    for method in methods:
        make_music_classifier(method, learner, seed)  # an unknown learner is refused before any work
    if folds < 2 or repeats < 1:
        raise InputError(f"expected at least 2 folds and 1 repeat, got {folds} and {repeats}")
    folds, notes = choose_folds(data.genres, data.groups, folds, repeats, seed)
    own = [method.partition("/")[0] for method in methods if has_own_learners(method)]
    if own and learner is not None:
        notes.append(f"learner {chosen} is not for {', '.join(own)}, which has learners of its own")
    tasks = _plan(data, methods, chosen, folds, repeats, seed)
    sizes = {name: values.shape[1] for name, values in data.mixed_blocks.items()}
    mixed = np.hstack(list(data.mixed_blocks.values())) if MIXED_FEATURES in methods else None
    calls = [
        delayed(_run)(
            mixed if task.key.method == MIXED_FEATURES else data.features[task.key.data_set],
            data.genres,
            task,
            # Seeded by what the run is, so that others beside it change nothing.
            make_music_classifier(
                task.key.method,
                learner,
                seed_of(seed, "run", task.key.data_set, task.key.repeat, task.key.fold, task.key.coding),
                sizes,
            ),
            keep_predictions,
        )
        for task in tasks
    ]
    found = {outcome.runs[0].key: outcome for outcome in run_all(calls, n_jobs, show_progress=show_progress)}
    outcomes = [found[task.key] for task in tasks]
    notes += warning_notes(warned for outcome in outcomes for warned in outcome.warnings)
    return MusicComparison(
        results=Results(
            [run for outcome in outcomes for run in outcome.runs],
            [grown for outcome in outcomes for grown in outcome.rounds],
            {},
        ),
        features=list(dict.fromkeys(task.key.data_set for task in tasks)),
        methods=methods,
        settings={
            "clips": data.n_clips,
            "genres": len(np.unique(data.genres)),
            "groups": None if data.groups is None else len(np.unique(data.groups)),
            "learner": chosen,
            "folds": folds,
            "repeats": repeats,
            "seed": seed,
        },
        notes=notes,
        held_out=[
            HeldOut(task.test, part.predicted, part.probabilities)
            for task, outcome in zip(tasks, outcomes, strict=True)
            for part in outcome.test_parts
        ],
    )


def choose_folds(
    genres: NDArray[Any], groups: NDArray[Any] | None, folds: int, repeats: int, seed: int
) -> tuple[int, list[str]]:
    """Choose as many folds as genres allow, at most `folds`; say why there are fewer, and which genres are small.

    Every genre should be in every test part. Genres with very few clips do not reduce folds to less than five, though:
    they are absent from some test parts.
    """
    unit, of_clips = ("clip", np.arange(len(genres))) if groups is None else ("group", groups)
    counts = {genre: len(np.unique(of_clips[genres == genre])) for genre in np.unique(genres).tolist()}
    fewest, most = min(counts.values()), max(counts.values())
    n_folds = min(folds, max(fewest, min(_ENOUGH_FOLDS, most)), len(np.unique(of_clips)))
    if n_folds < 2:
        raise InputError(f"folds: expected at least two {unit}s of a genre, to learn from one and test on the other")
    while True:
        try:
            for repeat in range(repeats):
                split_clips(genres, groups, repeat, n_folds, seed)
            break
        except InputError:
            if n_folds == 2:
                raise
            n_folds -= 1
    notes = []
    if n_folds < folds:
        small = [f"{genre} ({count})" for genre, count in counts.items() if count == fewest]
        smallest = ", ".join(small[:3]) + (f" and {len(small) - 3} more" if len(small) > 3 else "")
        notes.append(f"{n_folds} folds instead of {folds}, as genres have few {unit}s: {smallest}")
    few = [f"{genre} ({count})" for genre, count in counts.items() if count < n_folds]
    if few:
        notes.append(f"fewer {unit}s than the {n_folds} folds: {', '.join(few)}; absent from some test parts")
    single = [genre for genre, count in counts.items() if count == 1]
    if single:
        notes.append(f"a single {unit}: {', '.join(single)}; while it is tested, nothing of its genre is learnt")
    return n_folds, notes


def split_clips(
    genres: NDArray[Any], groups: NDArray[Any] | None, repeat: int, folds: int, seed: int
) -> list[tuple[Rows, Rows]]:
    """Split clips into folds of training and test rows, stratified by genre, groups kept whole."""
    return split_rows(genres, "music", repeat, folds, seed, groups)


def _plan(data: MusicData, methods: Sequence[str], learner: str, folds: int, repeats: int, seed: int) -> list[_Task]:
    """List all runs, methods in the inner loop: slow ones at the end would leave cores idle."""
    splits = [split_clips(data.genres, data.groups, repeat, folds, seed) for repeat in range(repeats)]
    plain = [method for method in methods if method != MIXED_FEATURES]
    pairs = [(feature, plain) for feature in data.features if plain]
    if MIXED_FEATURES in methods:
        pairs = [(feature, found) for feature, found in pairs if feature != ALL]
        pairs.append((ALL, [*(plain if ALL in data.features else []), MIXED_FEATURES]))
    return [
        _Task(RunKey(feature, repeat, fold, learner, _RESPONSE, *method.split("/")), *splits[repeat][fold])
        for feature, found in pairs
        for repeat in range(repeats)
        for fold in range(folds)
        for method in found
    ]


def _run(X: Floats, genres: NDArray[Any], task: _Task, classifier: Any, keep_predictions: bool) -> BatchOutcome:
    scaler = MinMaxScaler().fit(X[task.train])
    fold = Fold(scaler.transform(X[task.train]), genres[task.train], scaler.transform(X[task.test]), genres[task.test])
    return run_classifier(task.key, classifier, fold, np.unique(genres) if keep_predictions else None)
