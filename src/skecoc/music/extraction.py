"""Features of many clips: several at a time, from the cache where they are known, with all that went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from skecoc.music.cache import ClipFeatures, FeatureCache
from skecoc.music.clips import AudioError, Clip
from skecoc.music.modulation import feature_slices, is_short, modulation_features
from skecoc.music.spectra import Floats


@dataclass(frozen=True)
class Extraction:
    """Features of many clips.

    Attributes
    ----------
    values : ndarray of shape (n_clips, n_features)
        A row per clip; NaN where it could not be read.
    errors : dict of int to str
        Why a clip could not be read, by its position.
    short : list of int
        Positions of clips shorter than one texture window.
    n_cached : int
        How many clips were found in the cache.
    unsaved : str or None
        Why features could not be kept in the cache, if that happened.
    """

    values: Floats
    errors: dict[int, str]
    short: list[int]
    n_cached: int
    unsaved: str | None


@dataclass(frozen=True)
class _Outcome:
    """What came of one clip."""

    features: ClipFeatures | None = None
    error: str | None = None
    was_cached: bool = False
    unsaved: str | None = None


def read_rates(clips: Sequence[Clip]) -> tuple[list[int], dict[int, str]]:
    """Read the headers of clips, which finds most of those that are not audio in no time.

    Parameters
    ----------
    clips : sequence of Clip
        The clips.

    Returns
    -------
    rates : list of int
        Sample rates of those that can be read.
    errors : dict of int to str
        Why a clip cannot be read, by its position.

    Examples
    --------
    >>> from skecoc.music.clips import as_clips
    >>> read_rates(as_clips([([0.0], 8000), "missing.wav"]))
    ([8000], {1: "'missing.wav': there is no such file"})
    """
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
    """Compute the features of clips.

    Parameters
    ----------
    clips : sequence of Clip
        The clips.
    feature : {"mmfcc", "mosc", "mnase", "all"}
        The front end.
    rate : {22050, 44100}
        The sample rate to analyse them at.
    cache : FeatureCache, default=None
        Where features are looked up and kept. It holds all three kinds of each clip, so that asking for another kind
        later costs nothing.
    n_jobs : int, default=None
        Clips that are read at the same time, in threads, as joblib understands it. It does not change the result.
    show_progress : bool, default=False
        Whether a progress bar is drawn on standard error.

    Returns
    -------
    Extraction
        The features, and what went wrong.

    Examples
    --------
    >>> from skecoc.music.clips import as_clips
    >>> extract(as_clips([(np.zeros(441000), 44100), "missing.wav"]), "mosc", 44100).errors
    {1: "'missing.wav': there is no such file"}
    """
    where = feature_slices(rate)[feature]
    tasks = (delayed(_outcome)(clip, feature, rate, cache) for clip in clips)
    outcomes = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks)
    values = np.full((len(clips), where.stop - where.start), np.nan)
    errors: dict[int, str] = {}
    short, n_cached, unsaved = [], 0, None
    for position, outcome in enumerate(tqdm(outcomes, total=len(clips), unit="clip", disable=not show_progress)):
        n_cached += outcome.was_cached
        unsaved = unsaved or outcome.unsaved
        if outcome.error is not None:
            errors[position] = outcome.error
            continue
        values[position] = outcome.features.values if cache is None else outcome.features.values[where]
        if outcome.features.is_short:
            short.append(position)
    return Extraction(values, errors, short, n_cached, unsaved)


def _outcome(clip: Clip, feature: str, rate: int, cache: FeatureCache | None) -> _Outcome:
    """Find or compute the features of one clip."""
    try:
        return _Outcome(_analyse(clip, feature, rate)) if cache is None else _cached_outcome(clip, rate, cache)
    except AudioError as error:
        return _Outcome(error=str(error))


def _cached_outcome(clip: Clip, rate: int, cache: FeatureCache) -> _Outcome:
    """Look a clip up, or compute all its features and keep them."""
    digest = clip.digest()
    known = cache.load(digest, rate)
    if known is not None:
        return _Outcome(known, was_cached=True)
    features = _analyse(clip, "all", rate)
    try:
        cache.save(digest, rate, features)
    except OSError as error:  # such as a full disk: hours of work are not thrown away for that
        return _Outcome(features, unsaved=str(error))
    return _Outcome(features)


def _analyse(clip: Clip, feature: str, rate: int) -> ClipFeatures:
    """Read a clip and compute its features."""
    signal = clip.signal(rate)
    return ClipFeatures(modulation_features(signal, rate, feature), is_short(len(signal), rate))
