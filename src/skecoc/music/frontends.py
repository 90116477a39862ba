"""The three front ends: what each frame of a signal sounds like, as a few coefficients.

All work on the power spectra of frames of 23 ms, half overlapping, with samples on the scale of 16 bits. A power below
1 is beneath the noise that rounding to 16 bits makes; where a logarithm is taken it counts as 1, so that silence has
finite coefficients and what an encoder has cut away does not depend on the decoder.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft

from skecoc.music.spectra import (
    Floats,
    Singles,
    bin_frequencies,
    check_rate,
    check_signal,
    power_blocks,
    pre_emphasize,
)

N_MEL_FILTERS = 25
N_MFCC = 20

# Upper edges in Hz of the octave bands; the first band is the bin at 0 Hz alone.
_OCTAVE_EDGES = (0.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 22_050.0)
# Part of a band's bins that make its peak, and its valley.
_OCTAVE_SHARE = 0.2

# Edges in Hz of the half-octave bands between 62.5 Hz and 16 kHz; one more band lies below and one above.
_ENVELOPE_EDGES = tuple((62.5 * 2.0 ** (np.arange(17) / 2)).tolist())

_DECIBEL = 10.0


@dataclass(frozen=True)
class FrontEnd:
    """How power spectra become coefficients.

    Attributes
    ----------
    pre_emphasis : bool
        Whether the signal is pre-emphasised first.
    describe : callable
        Turns power spectra (n_frames, n_bins) and the sample rate into coefficients (n_frames, n_coefficients).
    names : callable
        Lists the names of the coefficients at a sample rate.
    """

    pre_emphasis: bool
    describe: Callable[[Singles, int], Floats]
    names: Callable[[int], list[str]]


def mfcc(signal: ArrayLike, rate: int) -> Floats:
    r"""Compute mel-frequency cepstral coefficients.

    The pre-emphasised signal's power spectrum is summed in 25 triangular filters, whose corners are equally spaced in
    mel between 0 Hz and half the sample rate. Coefficient :math:`l` of 20 is :math:`\sum_b \log_{10}(1 + E_b)
    \cos(\pi l (b + 1/2) / 25)`.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_frames, 20)
        The coefficients of each frame.

    References
    ----------
    C.-H. Lee, J.-L. Shih, K.-M. Yu and H.-S. Lin. Automatic music genre classification based on modulation spectral
    analysis of spectral and cepstral features. IEEE Transactions on Multimedia 11(4), 670-682, 2009.

    Examples
    --------
    >>> from skecoc.music import mfcc
    >>> mfcc(np.zeros(44100), 44100).shape
    (85, 20)
    """
    return _one_front_end("mfcc", signal, rate)


def osc(signal: ArrayLike, rate: int) -> Floats:
    """Compute the octave-based spectral contrast.

    In each octave band the mean power of the weakest and of the strongest fifth of its bins (at least one bin) are
    taken. Their logarithms, to base 10, are the valley and the peak; the contrast is the peak minus the valley.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_frames, 20) at 44.1 kHz, (n_frames, 18) at 22.05 kHz
        The valleys of all bands, then the contrasts. At 22.05 kHz the tenth band, above 12.8 kHz, is left out.

    References
    ----------
    D.-N. Jiang, L. Lu, H.-J. Zhang, J.-H. Tao and L.-H. Cai. Music type classification by spectral contrast feature.
    IEEE International Conference on Multimedia and Expo, 113-116, 2002.

    Examples
    --------
    >>> from skecoc.music import osc
    >>> osc(np.zeros(44100), 44100).shape, osc(np.zeros(22050), 22050).shape
    ((85, 20), (85, 18))
    """
    return _one_front_end("osc", signal, rate)


def nase(signal: ArrayLike, rate: int) -> Floats:
    """Compute the normalised audio spectral envelope of MPEG-7.

    The pre-emphasised signal's power spectrum is summed in half-octave bands from 62.5 Hz to 16 kHz, and in one band
    below and one above. A bin stands for its share of the frequency axis; where that lies in two bands its power is
    divided accordingly. The sums in dB are divided by the root of the sum of their squares.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_frames, 19) at 44.1 kHz, (n_frames, 17) at 22.05 kHz
        The root, then the envelope: all zero in silence. At 22.05 kHz the two bands above 11.3 kHz are left out.

    References
    ----------
    H.-G. Kim, N. Moreau and T. Sikora. MPEG-7 Audio and Beyond. Wiley, 2005.

    Examples
    --------
    >>> from skecoc.music import nase
    >>> nase(np.zeros(44100), 44100).shape, nase(np.zeros(22050), 22050).shape
    ((85, 19), (85, 17))
    """
    return _one_front_end("nase", signal, rate)


def coefficients(signal: ArrayLike, rate: int, front_ends: Iterable[str]) -> dict[str, Floats]:
    """Compute the coefficients of several front ends, sharing the spectra that they have in common.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.
    front_ends : iterable of {"mfcc", "osc", "nase"}
        Their names.

    Returns
    -------
    dict of str to ndarray of shape (n_frames, n_coefficients)
        Coefficients by the name of the front end.

    Examples
    --------
    >>> {name: values.shape for name, values in coefficients(np.zeros(2048), 44100, ["osc", "nase"]).items()}
    {'osc': (3, 20), 'nase': (3, 19)}
    """
    samples, rate = check_signal(signal), check_rate(rate)
    found: dict[str, Floats] = {}
    names = list(front_ends)
    for emphasised in (False, True):
        wanted = [name for name in names if FRONT_ENDS[name].pre_emphasis is emphasised]
        if wanted:
            found |= _describe(pre_emphasize(samples) if emphasised else samples, rate, wanted)
    return {name: found[name] for name in names}


def _one_front_end(name: str, signal: ArrayLike, rate: int) -> Floats:
    """Compute the coefficients of a single front end."""
    return coefficients(signal, rate, [name])[name]


def _describe(samples: Singles, rate: int, names: list[str]) -> dict[str, Floats]:
    """Let front ends describe the same spectra, block by block."""
    parts: dict[str, list[Floats]] = {name: [] for name in names}
    for power in power_blocks(samples, rate):
        for name in names:
            parts[name].append(FRONT_ENDS[name].describe(power, rate))
    return {name: np.concatenate(blocks) for name, blocks in parts.items()}


def _mfcc(power: Singles, rate: int) -> Floats:
    """Compute cepstral coefficients of power spectra."""
    energy = (power @ _mel_filters(rate)).astype(np.float64)
    # scipy's transform has twice the sum of cosines.
    return fft.dct(np.log10(1.0 + energy), type=2, axis=1)[:, :N_MFCC] / 2.0


def _osc(power: Singles, rate: int) -> Floats:
    """Compute the logarithmic valleys and contrasts of power spectra."""
    bands = _octave_bands(rate)
    valleys, peaks = np.empty((len(bands), len(power))), np.empty((len(bands), len(power)))
    for band, bins in enumerate(bands):
        ordered = np.sort(power[:, bins], axis=1)
        share = max(1, round(_OCTAVE_SHARE * ordered.shape[1]))
        mean = np.full(share, 1.0 / share, dtype=np.float32)
        valleys[band], peaks[band] = ordered[:, :share] @ mean, ordered[:, -share:] @ mean
    valleys, peaks = np.log10(np.maximum(valleys, 1.0)), np.log10(np.maximum(peaks, 1.0))
    return np.vstack([valleys, peaks - valleys]).T


def _nase(power: Singles, rate: int) -> Floats:
    """Compute the spectral envelope of power spectra: its norm, and its direction."""
    energy = (power @ _envelope_shares(rate)).astype(np.float64)
    decibels = _DECIBEL * np.log10(np.maximum(energy, 1.0))
    norm = np.linalg.norm(decibels, axis=1, keepdims=True)
    return np.hstack([norm, decibels / np.where(norm > 0.0, norm, 1.0)])


@cache
def _mel_filters(rate: int) -> Singles:
    """Weigh the bins in triangles of height 1 with corners equally spaced in mel, (n_bins, 25)."""
    mels = np.linspace(0.0, 2595.0 * np.log10(1.0 + rate / 2 / 700.0), N_MEL_FILTERS + 2)
    corners = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    low, centre, high = corners[:-2], corners[1:-1], corners[2:]
    frequency = bin_frequencies(rate)[:, None]
    rising, falling = (frequency - low) / (centre - low), (high - frequency) / (high - centre)
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


@cache
def _octave_bands(rate: int) -> list[slice]:
    """List the bins of each octave band that begins below half the sample rate; upper edges are included."""
    ends = np.searchsorted(bin_frequencies(rate), _OCTAVE_EDGES, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    return [slice(int(start), int(end)) for start, end in zip(starts, ends, strict=True) if end > start]


@cache
def _envelope_shares(rate: int) -> Singles:
    """Divide each bin among the half-octave bands by how much of it lies in each, (n_bins, n_bands)."""
    nyquist = rate / 2
    edges = np.array([0.0, *(edge for edge in _ENVELOPE_EDGES if edge < nyquist), nyquist])
    centres = bin_frequencies(rate)
    between = (centres[:-1] + centres[1:]) / 2
    low, high = np.array([0.0, *between])[:, None], np.array([*between, nyquist])[:, None]
    overlap = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    return (np.maximum(overlap, 0.0) / (high - low)).astype(np.float32)


def _mfcc_names(rate: int) -> list[str]:
    """Name the cepstral coefficients by their numbers, whatever the rate."""
    check_rate(rate)
    return [f"cepstrum_{number}" for number in range(N_MFCC)]


def _osc_names(rate: int) -> list[str]:
    """Name valleys and contrasts by their bands."""
    edges = [f"{edge:g}" for edge in _OCTAVE_EDGES][: len(_octave_bands(rate))]
    bands = ["0hz", *(f"{low}-{high}hz" for low, high in pairwise(edges))]
    return [f"{kind}_{band}" for kind in ("valley", "contrast") for band in bands]


def _nase_names(rate: int) -> list[str]:
    """Name the norm, and the envelope by its bands."""
    edges = [f"{edge:.0f}" if edge > 100 else f"{edge:.1f}" for edge in _ENVELOPE_EDGES]
    inner = [f"{low}-{high}hz" for low, high in pairwise(edges)]
    bands = [f"below_{edges[0]}hz", *inner, f"above_{edges[-1]}hz"]
    return ["norm", *(f"envelope_{band}" for band in bands[: _envelope_shares(rate).shape[1]])]


#: The front ends by name.
FRONT_ENDS = MappingProxyType(
    {
        "mfcc": FrontEnd(pre_emphasis=True, describe=_mfcc, names=_mfcc_names),
        "osc": FrontEnd(pre_emphasis=False, describe=_osc, names=_osc_names),
        "nase": FrontEnd(pre_emphasis=True, describe=_nase, names=_nase_names),
    }
)
