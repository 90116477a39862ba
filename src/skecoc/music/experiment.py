"""The paper's music experiment: five codes on features of music, cross-validated, with artists or tracks kept whole.

Features come as arrays, so that this needs no audio: see `skecoc.music` for where they come from.
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
from tqdm import tqdm

from skecoc.benchmarking.methods import PEERS, check_methods, coding_of, make_learner
from skecoc.benchmarking.results import Results
from skecoc.benchmarking.runs import RoundRecord, RunKey, RunRecord, seed_of
from skecoc.benchmarking.trials import (
    Fold,
    distinct_messages,
    named_errors,
    recorded_warnings,
    round_records,
    run_record,
    thread_pools,
    try_alone,
)
from skecoc.support.errors import InputError
from skecoc.support.processes import interrupts_remembered, results_of

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: The methods of the paper's Tables V and VI: the name here, the paper's name of the code.
MUSIC_METHODS: dict[str, str] = {
    "one-vs-one/loss-weighted": "1vs1",
    "one-vs-rest/loss-weighted": "1vsALL",
    "decoc/loss-weighted": "DECOC",
    "ecoc-one/loss-weighted": "ECOC-ONE",
    "wolc/optimized-weight": "WOLC-ECOC",
}

# How binary learners answer; tuned support vector machines and boosted stumps both have probabilities.
_RESPONSE = "probabilities"


@dataclass(frozen=True)
class MusicData:
    """Features of music, and what is known of each clip.

    Parameters
    ----------
    features : dict of str to ndarray of shape (n_clips, n_features)
        Finite features by name, such as ``{"mosc": ...}``; one row per clip in each.
    genres : ndarray of str of shape (n_clips,)
        The genre of each clip.
    groups : ndarray of str of shape (n_clips,), default=None
        Clips of the same group, such as those of an artist, are never on both sides of a split. None splits freely.

    Raises
    ------
    InputError
        If there are no features, or their numbers of rows differ, or values are not finite.

    Examples
    --------
    >>> MusicData({"mosc": np.zeros((2, 112))}, np.array(["jazz", "rock"])).n_clips
    2
    """

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
    """The outcome of `compare_music`.

    Attributes
    ----------
    results : Results
        Runs, and the rounds of WOLC codes; features stand where other experiments have data sets.
    features, methods : list of str
        Names, in the order asked for.
    settings : dict
        Clips, genres, groups, learner, folds, repeats and seed.
    notes : list of str
        What a reader should know.
    """

    results: Results
    features: list[str]
    methods: list[str]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def values(self, measure: str) -> Floats:
        """Arrange one measure of all runs.

        Parameters
        ----------
        measure : str
            A number of `RunRecord`, such as ``"accuracy"`` or ``"n_columns"``.

        Returns
        -------
        ndarray of shape (n_features, n_methods, n_repeats, n_folds)
            The values.
        """
        shape = (len(self.features), len(self.methods), self.settings["repeats"], self.settings["folds"])
        table = np.full(shape, np.nan)
        for run in self.results.runs:
            place = self.features.index(run.data_set), self.methods.index(run.method), run.repeat, run.fold
            table[place] = getattr(run, measure)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values.

        Returns
        -------
        dict
            With the keys ``settings``, ``runs``, ``rounds`` and ``notes``.
        """
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
    methods: Sequence[str] = tuple(MUSIC_METHODS),
    *,
    learner: str | BaseEstimator = "svm",
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> MusicComparison:
    """Cross-validate codes on features of music.

    All methods and features see the same folds, stratified by genre. Features are scaled to [0, 1] on the training
    part. Binary learners answer by probabilities.

    Parameters
    ----------
    data : MusicData
        The clips.
    methods : sequence of str, default=tuple(MUSIC_METHODS)
        Names ``coding/decoding``.
    learner : str or classifier, default="svm"
        The binary learner; "svm" searches the paper's grid for every column.
    folds : int, default=10
        Number of folds, at least 2.
    repeats : int, default=1
        How often the clips are split anew. The paper has 10.
    seed : int, default=0
        Every split and every run derives its own seed from this one and from what it is.
    n_jobs : int, default=None
        How many runs are done at the same time, as joblib understands it.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    MusicComparison
        The runs.

    Raises
    ------
    InputError
        A `ValueError`: an argument is not usable, or the clips cannot be split like that.

    Examples
    --------
    >>> genres = np.repeat(["jazz", "rock", "pop"], 10)
    >>> features = np.repeat(np.eye(3), 10, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(30, 3))
    >>> result = compare_music(MusicData({"mosc": features}, genres), ["decoc/loss-weighted"], folds=2)
    >>> result.values("accuracy").shape
    (1, 1, 1, 2)
    """
    methods = check_music_methods(methods)
    estimator = make_learner(learner)
    if folds < 2 or repeats < 1:
        raise InputError(f"expected at least 2 folds and 1 repeat, got {folds} and {repeats}")
    tasks = _plan(data, methods, str(learner), folds, repeats, seed)
    outcomes = _run_all(data, tasks, estimator, seed, n_jobs, show_progress)
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
        notes=[*_notes_on_small_genres(data, folds), *_notes_on_warnings(outcomes)],
    )


def split_clips(
    genres: NDArray[Any], groups: NDArray[Any] | None, repeat: int, folds: int, seed: int
) -> list[tuple[Rows, Rows]]:
    """Split clips into folds, stratified by genre, groups kept whole.

    Parameters
    ----------
    genres : ndarray of shape (n_clips,)
        The genre of each clip.
    groups : ndarray of shape (n_clips,) or None
        The group of each clip; None splits freely.
    repeat : int
        Number of the repeat.
    folds : int
        Number of folds.
    seed : int
        Seed of the experiment.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        Training and test rows of each fold.

    Raises
    ------
    InputError
        If there are too few clips or groups.

    Examples
    --------
    >>> genres, tracks = np.repeat(["jazz", "rock"], 6), np.repeat(np.arange(6), 2)
    >>> [np.unique(tracks[test]).size for _, test in split_clips(genres, tracks, 0, folds=3, seed=0)]
    [2, 2, 2]
    """
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
    """Check the names of methods: codes only, since not all of scikit-learn's own strategies have probabilities.

    Parameters
    ----------
    methods : sequence of str
        Names ``coding/decoding``; ``wolc`` and its kin need no decoding.

    Returns
    -------
    list of str
        The full names, repeated ones once, in the order given.

    Raises
    ------
    InputError
        If there is none, or one is not known or not for music.

    Examples
    --------
    >>> check_music_methods(["wolc"])
    ['wolc/optimized-weight']
    """
    checked = check_methods(methods)
    peers = [method for method in checked if method in PEERS]
    if peers:
        raise InputError(f"methods: {peers[0]!r} is not for music; expected coding/decoding")
    return checked


def _plan(data: MusicData, methods: Sequence[str], learner: str, folds: int, repeats: int, seed: int) -> list[_Task]:
    """List all runs: those that take long last would leave cores idle, so methods are the inner loop."""
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
    outcomes = {}
    with (
        interrupts_remembered() as check_interrupt,
        results_of(calls, n_jobs) as finished,
        tqdm(total=len(calls), disable=not show_progress, unit="run") as bar,
    ):
        for outcome in finished:
            check_interrupt()
            outcomes[outcome.run.key] = outcome
            bar.update()
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


def _notes_on_warnings(outcomes: Sequence[_Outcome]) -> list[str]:
    """Say every distinct warning of a method on a feature once, with the number of its runs."""
    counts: dict[tuple[str, str, str], int] = {}
    for outcome in outcomes:
        for message in outcome.warned:
            place = outcome.run.data_set, outcome.run.method, message
            counts[place] = counts.get(place, 0) + 1
    return [
        f"{feature}: {method} warned in {count} run{'s' if count > 1 else ''}: {message}"
        for (feature, method, message), count in counts.items()
    ]
