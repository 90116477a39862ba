"""Features of many clips: several at a time, from the cache where they are known, with all that went wrong."""

import hashlib
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from skecoc.cli.plugins import InputError, write_bytes
from skecoc_study.music.clips import AudioError, Clip, listing
from skecoc_study.music.frontends import Floats
from skecoc_study.music.modulation import FEATURE_VERSION, feature_slices, is_short, modulation_features
from skecoc_study.music.stderr import messages_stream


@dataclass(frozen=True)
class ClipFeatures:
    """Features of a clip, whether it is shorter than a texture window, and the share of it that is missing."""

    values: Floats
    is_short: bool
    missing: float = 0.0


class FeatureCache:
    """A folder of features, found by content: moving or renaming audio loses nothing, changing it is noticed."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def load(self, digest: bytes, rate: int) -> ClipFeatures | None:
        """Look up all features of a clip; None if they are not there, or the file is damaged."""
        try:
            with np.load(BytesIO(self._path(digest, rate).read_bytes()), allow_pickle=False) as file:
                values, missing = file["values"].astype(np.float64, copy=False), float(file.get("missing", 0.0))
                features = ClipFeatures(values, bool(file["is_short"]), missing)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        is_whole = features.values.shape == (feature_slices(rate)["all"].stop,) and np.isfinite(features.values).all()
        return features if is_whole else None

    def save(self, digest: bytes, rate: int, features: ClipFeatures) -> None:
        """Keep all features of a clip; a process that reads at the same time sees all of them or none."""
        path = self._path(digest, rate)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()
        np.savez(
            content,
            values=features.values,
            is_short=np.array(features.is_short),
            missing=np.array(features.missing),
        )
        write_bytes("cache", path, content.getvalue())

    def _path(self, digest: bytes, rate: int) -> Path:
        """Name the file of a clip by its content, the settings, and the version of the features."""
        key = hashlib.sha256(f"{FEATURE_VERSION} {rate} ".encode() + digest).hexdigest()
        return self.folder / key[:2] / f"{key[2:]}.npz"


def default_cache_folder() -> Path:
    """Return the folder that the command line keeps features in: ``skecoc/audio`` in the user's folder for caches."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "skecoc" / "audio"


@dataclass(frozen=True)
class Extraction:
    """Features of many clips, a row each; NaN where a clip could not be read."""

    values: Floats
    errors: dict[int, str]  # why a clip could not be read, by its position
    short: list[int]  # positions of clips shorter than one texture window
    n_cached: int
    unsaved: str | None  # why features could not be kept in the cache
    cut: dict[int, float] = field(default_factory=dict)  # share of a clip that is missing, by its position

    def remarks(self, clips: Sequence[Clip]) -> Iterator[str]:
        """Say what a user should know about clips that could be read."""
        if self.short:
            names = listing([clips[position].name for position in self.short], ", ")
            yield f"shorter than one texture window of 5.9 s, and therefore repeated to fill it: {names}"
        if self.cut:
            names = listing([f"{clips[place].name} ({100 * share:.0f} % missing)" for place, share in self.cut.items()])
            yield f"shorter than their headers tell, perhaps cut off or damaged: {names}"
        if self.unsaved is not None:
            yield f"features could not be kept in the cache: {self.unsaved}"


@dataclass(frozen=True)
class _Outcome:
    """What came of one clip."""

    features: ClipFeatures | None = None
    error: str | None = None
    was_cached: bool = False
    unsaved: str | None = None


def read_rates(clips: Sequence[Clip]) -> tuple[list[int], dict[int, str]]:
    """Read the headers of clips: sample rates, and by position why a clip cannot be read."""
    rates, errors = [], {}
    for position, clip in enumerate(clips):
        try:
            rates.append(clip.rate())
        except AudioError as error:
            errors[position] = str(error)
    return rates, errors


def extract(
    clips: Sequence[Clip],
    feature: str,
    rate: int,
    *,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Extraction:
    """Compute a feature of clips in threads, or find it in the cache, which holds all features of each clip."""
    where = feature_slices(rate)[feature]
    tasks = (delayed(_outcome)(clip, feature, rate, cache) for clip in clips)
    with redirect_stderr(messages_stream()):
        bar = tqdm(total=len(clips), unit="clip", disable=not show_progress)
    values = np.full((len(clips), where.stop - where.start), np.nan)
    errors: dict[int, str] = {}
    cut: dict[int, float] = {}
    short, n_cached, unsaved = [], 0, None
    with bar:
        outcomes = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks)
        for position, outcome in enumerate(outcomes):
            bar.update()
            n_cached += outcome.was_cached
            unsaved = unsaved or outcome.unsaved
            if outcome.error is not None:
                errors[position] = outcome.error
                continue
            values[position] = outcome.features.values if cache is None else outcome.features.values[where]
            if outcome.features.is_short:
                short.append(position)
            if outcome.features.missing:
                cut[position] = outcome.features.missing
    return Extraction(values, errors, short, n_cached, unsaved, cut)


def _outcome(clip: Clip, feature: str, rate: int, cache: FeatureCache | None) -> _Outcome:
    """Compute a feature of one clip; with a cache, look all its features up, or compute and keep them."""
    try:
        if cache is None:
            return _Outcome(_analyse(clip, feature, rate))
        digest = clip.digest()
        known = cache.load(digest, rate)
        if known is not None:
            return _Outcome(known, was_cached=True)
        features = _analyse(clip, "all", rate)
    except AudioError as error:
        return _Outcome(error=str(error))
    try:
        cache.save(digest, rate, features)
    except (OSError, InputError) as error:  # such as a full disk: hours of work are not thrown away for that
        return _Outcome(features, unsaved=str(error))
    return _Outcome(features)


def _analyse(clip: Clip, feature: str, rate: int) -> ClipFeatures:
    signal = clip.signal(rate)
    return ClipFeatures(modulation_features(signal, rate, feature), is_short(len(signal), rate), clip.missing)
