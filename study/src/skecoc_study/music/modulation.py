"""Modulation spectra of the coefficients over windows of six seconds, and their statistics."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from skecoc_study.music.frontends import FRAME_RATE, FRONT_ENDS, Floats, coefficients, count_frames

#: Frames of a texture window: 5.9 seconds. The next window begins half as many frames later.
TEXTURE_FRAMES = 512

#: What the modulation spectrum of each front end is called.
FEATURES = MappingProxyType({"mmfcc": "mfcc", "mosc": "osc", "mnase": "nase"})

#: Every value that `feature` takes.
FEATURE_CHOICES = (*FEATURES, "all")

#: Raised whenever the same audio would give other numbers: cached features of another version are not used.
FEATURE_VERSION = 1

# First bins of the eight modulation subbands, [0, 2), [2, 4), [4, 8) ... [128, 256).
_SUBBAND_STARTS = np.array([0, 2, 4, 8, 16, 32, 64, 128])
_SUBBAND_END = TEXTURE_FRAMES // 2
_STATISTICS = ("contrast_mean", "contrast_std", "valley_mean", "valley_std")


def modulation_features(signal: ArrayLike, rate: int, feature: str = "all") -> Floats:
    """Compute features of a clip by modulation spectral analysis of its MFCC, OSC or NASE.

    A clip shorter than one texture window of 5.9 s is repeated frame by frame until it fills one.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.
    feature : {"mmfcc", "mosc", "mnase", "all"}, default="all"
        The front end; "all" concatenates the features of all three.

    Returns
    -------
    ndarray of shape (n_features,)
        112, 112, 108 or 332 values at 44.1 kHz; 112, 104, 100 or 316 at 22.05 kHz. `feature_names` returns their names.

    See Also
    --------
    ModulationFeatures : Transformer for many clips, with the reference.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc_study.music import modulation_features
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=10 * 44100)
    >>> modulation_features(noise, 44100, "mosc").shape
    (112,)
    """
    parts = coefficients(signal, rate, [FEATURES[name] for name in _features(feature)]).values()
    return np.concatenate([modulation_statistics(modulation_spectrum(part)) for part in parts])


def feature_names(feature: str, rate: int) -> list[str]:
    """Return the names of the values of `modulation_features`.

    Parameters
    ----------
    feature : {"mmfcc", "mosc", "mnase", "all"}
        The front end.
    rate : {22050, 44100}
        Samples per second; the bands depend on it.

    Returns
    -------
    list of str
        Names: front end, coefficient (or modulation subband in Hz) and statistic.

    Examples
    --------
    >>> from skecoc_study.music import feature_names
    >>> names = feature_names("mosc", 44100)
    >>> names[0], names[-1]
    ('mosc_valley_0hz_contrast_mean', 'mosc_modulation_21.5-43.1hz_valley_std')
    """
    names = []
    subbands = [f"modulation_{low:.1f}-{high:.1f}hz" for low, high in subband_edges()]
    for name in _features(feature):
        rows = FRONT_ENDS[FEATURES[name]].names(rate)
        for lines in (rows, subbands):
            names += [f"{name}_{line}_{statistic}" for statistic in _STATISTICS for line in lines]
    return names


@cache
def feature_slices(rate: int) -> Mapping[str, slice]:
    """Locate each feature in the vector of all."""
    ends = np.cumsum([0, *(len(feature_names(name, rate)) for name in FEATURES)]).tolist()
    parts = {name: slice(*ends[number : number + 2]) for number, name in enumerate(FEATURES)}
    return MappingProxyType({**parts, "all": slice(0, ends[-1])})


def is_short(n_samples: int, rate: int) -> bool:
    """Tell whether a clip is shorter than one texture window."""
    return count_frames(n_samples, rate) < TEXTURE_FRAMES


def subband_edges() -> list[tuple[float, float]]:
    """Return the modulation frequencies in Hz between which each subband lies; the upper one is not included."""
    edges = np.append(_SUBBAND_STARTS, _SUBBAND_END) * FRAME_RATE / TEXTURE_FRAMES
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def modulation_spectrum(coefficients: NDArray[np.floating]) -> Floats:
    """Average the magnitude spectra of each coefficient over all texture windows, (257, n_coefficients).

    Fewer frames than a window has are repeated from the first until they fill it.
    """
    track = np.asarray(coefficients, dtype=np.float64).T
    if track.shape[1] < TEXTURE_FRAMES:
        track = np.pad(track, ((0, 0), (0, TEXTURE_FRAMES - track.shape[1])), mode="wrap")
    windows = sliding_window_view(track, TEXTURE_FRAMES, axis=1)[:, :: TEXTURE_FRAMES // 2]
    return np.abs(fft.rfft(windows, axis=2)).mean(axis=1).T


def modulation_statistics(spectrum: Floats) -> Floats:
    """Summarise a modulation spectrum by means and deviations of the contrasts and valleys of its subbands.

    First over the subbands of each coefficient, then over the coefficients of each subband; the valley of a subband
    is its smallest magnitude, the contrast its largest minus its smallest.
    """
    inside = spectrum[:_SUBBAND_END]
    valley = np.minimum.reduceat(inside, _SUBBAND_STARTS, axis=0)
    contrast = np.maximum.reduceat(inside, _SUBBAND_STARTS, axis=0) - valley
    measures = [(values.mean(axis), values.std(axis)) for axis in (0, 1) for values in (contrast, valley)]
    return np.concatenate([part for pair in measures for part in pair])


def _features(feature: str) -> list[str]:
    """List the single features that a choice stands for."""
    if feature not in FEATURE_CHOICES:
        raise ValueError(f"feature={feature!r} is not known; expected one of {', '.join(map(repr, FEATURE_CHOICES))}")
    return list(FEATURES) if feature == "all" else [feature]
