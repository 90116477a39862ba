"""Power spectra of a signal's frames, and the three front ends that describe them.

Frames last 23 ms and overlap by half; samples are on the scale of 16 bits. A power below 1 is beneath the noise that
rounding to 16 bits makes; where a logarithm is taken it counts as 1, so that silence has finite coefficients and what
an encoder has cut away does not depend on the decoder.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy import fft

Floats = NDArray[np.float64]
#: Samples and spectra have single precision: its rounding stays below that of 16-bit audio.
Singles = NDArray[np.float32]

#: The sample rates in Hz that are analysed; audio of any other rate is resampled first.
RATES = (22_050, 44_100)

# 1,024 samples at 44.1 kHz, in Hz of the spacing between bins; frames last as long at half the rate.
_BIN_SPACING = 44_100 / 1_024
#: Frames per second, the same at both sample rates: a frame begins half a frame after the one before.
FRAME_RATE = 2 * _BIN_SPACING

# Spectra are those of samples on the scale of 16 bits, where a power of 1 is below the noise of rounding.
_SAMPLE_SCALE = 32_768.0
_PRE_EMPHASIS = 0.95
# Frames that are transformed at once: their spectra stay in the processor's cache, which makes it 3 times as fast.
_BLOCK = 256
# Beyond this, a float signal is not one of full scale 1, and its power soon exceeds single precision.
_LARGEST_SAMPLE = 1e6

_N_MEL_FILTERS = 25
_N_MFCC = 20

# Upper edges in Hz of the octave bands; the first band is the bin at 0 Hz alone.
_OCTAVE_EDGES = (0.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 22_050.0)
# Part of a band's bins that make its peak, and its valley.
_OCTAVE_SHARE = 0.2

# Edges in Hz of the half-octave bands between 62.5 Hz and 16 kHz; one more band lies below and one above.
_ENVELOPE_EDGES = tuple((62.5 * 2.0 ** (np.arange(17) / 2)).tolist())

_DECIBEL = 10.0


@dataclass(frozen=True)
class FrontEnd:
    """How power spectra (n_frames, n_bins) become coefficients (n_frames, n_coefficients), and their names."""

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

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc_study.music import mfcc
    >>> mfcc(np.zeros(44100), 44100).shape
    (85, 20)
    """
    return _one_front_end("mfcc", signal, rate)


def osc(signal: ArrayLike, rate: int) -> Floats:
    """Compute the octave-based spectral contrast.

    In each octave band, the valley and the peak are the base-10 logarithms of the mean power of the weakest and of the
    strongest fifth of its bins (at least one bin). The contrast is the peak minus the valley.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_frames, 20) at 44.1 kHz, (n_frames, 18) at 22.05 kHz
        The valleys of all bands, then the contrasts. At 22.05 kHz there is no tenth band, above 12.8 kHz.

    References
    ----------
    D.-N. Jiang, L. Lu, H.-J. Zhang, J.-H. Tao and L.-H. Cai. Music type classification by spectral contrast feature.
    IEEE International Conference on Multimedia and Expo, 113-116, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc_study.music import osc
    >>> osc(np.zeros(44100), 44100).shape, osc(np.zeros(22050), 22050).shape
    ((85, 20), (85, 18))
    """
    return _one_front_end("osc", signal, rate)


def nase(signal: ArrayLike, rate: int) -> Floats:
    """Compute the normalised audio spectral envelope of MPEG-7.

    The pre-emphasised signal's power spectrum is summed in half-octave bands from 62.5 Hz to 16 kHz, and in one band
    below and one above. The power of a bin that overlaps two bands is divided between them in proportion. The sums in
    dB are divided by their Euclidean norm.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_frames, 19) at 44.1 kHz, (n_frames, 17) at 22.05 kHz
        The norm, then the envelope; all zero for silence. At 22.05 kHz there are no bands above 11.3 kHz.

    References
    ----------
    H.-G. Kim, N. Moreau and T. Sikora. MPEG-7 Audio and Beyond. Wiley, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from skecoc_study.music import nase
    >>> nase(np.zeros(44100), 44100).shape, nase(np.zeros(22050), 22050).shape
    ((85, 19), (85, 17))
    """
    return _one_front_end("nase", signal, rate)


def coefficients(signal: ArrayLike, rate: int, front_ends: Iterable[str]) -> dict[str, Floats]:
    """Compute the coefficients of several front ends by name, sharing the spectra that they have in common."""
    samples, rate = check_signal(signal), check_rate(rate)
    found: dict[str, Floats] = {}
    names = list(front_ends)
    for emphasised in (False, True):
        wanted = [name for name in names if FRONT_ENDS[name].pre_emphasis is emphasised]
        if wanted:
            heard = samples
            if emphasised:  # high frequencies are lifted
                heard = samples.copy()
                heard[1:] -= _PRE_EMPHASIS * samples[:-1]
            parts: dict[str, list[Floats]] = {name: [] for name in wanted}
            for power in power_blocks(heard, rate):
                for name in wanted:
                    parts[name].append(FRONT_ENDS[name].describe(power, rate))
            found |= {name: np.concatenate(blocks) for name, blocks in parts.items()}
    return {name: found[name] for name in names}


def check_rate(rate: int) -> int:
    """Refuse a sample rate that is not analysed."""
    if rate not in RATES:
        raise ValueError(f"rate must be {RATES[0]} or {RATES[1]}, got {rate!r}; resample other rates first")
    return int(rate)


def check_signal(signal: ArrayLike) -> Singles:
    """Refuse a mono signal that is empty, not finite or far beyond full scale; return it in single precision."""
    samples = np.ascontiguousarray(signal, dtype=np.float32)
    if samples.ndim != 1 or samples.size == 0:
        raise ValueError(f"signal must have shape (n_samples,) with at least one sample, got {samples.shape}")
    largest = max(float(samples.max()), -float(samples.min()))
    if not largest <= _LARGEST_SAMPLE:  # also true of NaN
        raise ValueError(f"signal must hold finite samples of full scale 1, got one of {largest:g}")
    return samples


def count_frames(n_samples: int, rate: int) -> int:
    """Count the frames that fit a signal; one shorter than a frame is filled up with zeros and has one."""
    length = _frame_length(rate)
    return max(0, n_samples - length) // (length // 2) + 1


def power_blocks(signal: Singles, rate: int) -> Iterator[Singles]:
    """Yield the power spectra (n_frames_of_block, n_bins) of Hamming-windowed frames, a block of frames at a time."""
    length = _frame_length(rate)
    if len(signal) < length:
        signal = np.pad(signal, (0, length - len(signal)))
    frames = sliding_window_view(signal, length)[:: length // 2]
    window = _scaled_window(length)
    for first in range(0, len(frames), _BLOCK):
        spectra = fft.rfft(frames[first : first + _BLOCK] * window, axis=1, overwrite_x=True)
        yield np.square(spectra.real) + np.square(spectra.imag)


def _frame_length(rate: int) -> int:
    """Return the number of samples of a frame: 1,024 at 44.1 kHz, 512 at 22.05 kHz."""
    return round(check_rate(rate) / _BIN_SPACING)


def _bin_frequencies(rate: int) -> Floats:
    """Return the frequencies in Hz of the bins of a power spectrum, from 0 to half the rate."""
    return fft.rfftfreq(_frame_length(rate), 1 / rate)


@cache
def _scaled_window(length: int) -> Singles:
    """Return the Hamming window, times the scale of the samples."""
    return (_SAMPLE_SCALE * np.hamming(length)).astype(np.float32)


def _one_front_end(name: str, signal: ArrayLike, rate: int) -> Floats:
    return coefficients(signal, rate, [name])[name]


def _mfcc(power: Singles, rate: int) -> Floats:
    energy = (power @ _mel_filters(rate)).astype(np.float64)
    # scipy's transform has twice the sum of cosines.
    return fft.dct(np.log10(1.0 + energy), type=2, axis=1)[:, :_N_MFCC] / 2.0


def _osc(power: Singles, rate: int) -> Floats:
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
    energy = (power @ _envelope_shares(rate)).astype(np.float64)
    decibels = _DECIBEL * np.log10(np.maximum(energy, 1.0))
    norm = np.linalg.norm(decibels, axis=1, keepdims=True)
    return np.hstack([norm, decibels / np.where(norm > 0.0, norm, 1.0)])


@cache
def _mel_filters(rate: int) -> Singles:
    """Weigh the bins in triangles of height 1 with corners equally spaced in mel, (n_bins, 25)."""
    mels = np.linspace(0.0, 2595.0 * np.log10(1.0 + rate / 2 / 700.0), _N_MEL_FILTERS + 2)
    corners = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    low, centre, high = corners[:-2], corners[1:-1], corners[2:]
    frequency = _bin_frequencies(rate)[:, None]
    rising, falling = (frequency - low) / (centre - low), (high - frequency) / (high - centre)
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


@cache
def _octave_bands(rate: int) -> list[slice]:
    """List the bins of each octave band that begins below half the sample rate; upper edges are included."""
    ends = np.searchsorted(_bin_frequencies(rate), _OCTAVE_EDGES, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    return [slice(int(start), int(end)) for start, end in zip(starts, ends, strict=True) if end > start]


@cache
def _envelope_shares(rate: int) -> Singles:
    """Divide each bin among the half-octave bands by how much of it lies in each, (n_bins, n_bands)."""
    nyquist = rate / 2
    edges = np.array([0.0, *(edge for edge in _ENVELOPE_EDGES if edge < nyquist), nyquist])
    centres = _bin_frequencies(rate)
    between = (centres[:-1] + centres[1:]) / 2
    low, high = np.array([0.0, *between])[:, None], np.array([*between, nyquist])[:, None]
    overlap = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    return (np.maximum(overlap, 0.0) / (high - low)).astype(np.float32)


def _mfcc_names(rate: int) -> list[str]:
    check_rate(rate)
    return [f"cepstrum_{number}" for number in range(_N_MFCC)]


def _osc_names(rate: int) -> list[str]:
    edges = [f"{edge:g}" for edge in _OCTAVE_EDGES][: len(_octave_bands(rate))]
    bands = ["0hz", *(f"{low}-{high}hz" for low, high in pairwise(edges))]
    return [f"{kind}_{band}" for kind in ("valley", "contrast") for band in bands]


def _nase_names(rate: int) -> list[str]:
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
