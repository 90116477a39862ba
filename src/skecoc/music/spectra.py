"""Short-time power spectra of a signal: what all three front ends begin with."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy import fft

Floats = NDArray[np.float64]
#: Samples and spectra have single precision: its rounding stays below that of 16-bit audio.
Singles = NDArray[np.float32]

#: The sample rates in Hz that are analysed; audio of any other rate is resampled first.
RATES = (22_050, 44_100)

#: Spectra are those of samples on the scale of 16 bits, where a power of 1 is below the noise of rounding.
SAMPLE_SCALE = 32_768.0

PRE_EMPHASIS = 0.95

# 1,024 samples at 44.1 kHz, in Hz of the spacing between bins; frames last as long at half the rate.
_BIN_SPACING = 44_100 / 1_024
# Frames that are transformed at once: their spectra stay in the processor's cache, which makes it 3 times as fast.
_BLOCK = 256
# Beyond this, a float signal is not one of full scale 1, and its power soon exceeds single precision.
_LARGEST_SAMPLE = 1e6


def check_rate(rate: int) -> int:
    """Check that a sample rate is one that is analysed.

    Parameters
    ----------
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    int
        The rate.

    Raises
    ------
    ValueError
        If it is another one.

    Examples
    --------
    >>> check_rate(44100)
    44100
    """
    if rate not in RATES:
        raise ValueError(f"rate must be {RATES[0]} or {RATES[1]}, got {rate!r}; resample other rates first")
    return int(rate)


def check_signal(signal: ArrayLike) -> Singles:
    """Check a mono signal.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        Finite samples, full scale 1.

    Returns
    -------
    ndarray of float32 of shape (n_samples,)
        The samples.

    Raises
    ------
    ValueError
        If there are no samples, or they are not finite or far beyond full scale.

    Examples
    --------
    >>> check_signal([0.0, 0.5])
    array([0. , 0.5], dtype=float32)
    """
    samples = np.ascontiguousarray(signal, dtype=np.float32)
    if samples.ndim != 1 or samples.size == 0:
        raise ValueError(f"signal must have shape (n_samples,) with at least one sample, got {samples.shape}")
    largest = max(float(samples.max()), -float(samples.min()))
    if not largest <= _LARGEST_SAMPLE:  # also true of NaN
        raise ValueError(f"signal must hold finite samples of full scale 1, got one of {largest:g}")
    return samples


def frame_length(rate: int) -> int:
    """Return the number of samples of a frame; the next frame begins half as many samples later.

    Parameters
    ----------
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    int
        1,024 at 44.1 kHz, 512 at 22.05 kHz.

    Examples
    --------
    >>> frame_length(44100), frame_length(22050)
    (1024, 512)
    """
    return round(check_rate(rate) / _BIN_SPACING)


def frame_rate() -> float:
    """Return the number of frames per second, which is the same at both sample rates.

    Returns
    -------
    float
        About 86.

    Examples
    --------
    >>> round(frame_rate(), 2)
    86.13
    """
    return 2 * _BIN_SPACING


def count_frames(n_samples: int, rate: int) -> int:
    """Count the frames of a signal.

    Parameters
    ----------
    n_samples : int
        Length of the signal.
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    int
        Frames that fit; a signal shorter than one frame is filled up with zeros and has one.

    Examples
    --------
    >>> count_frames(441_000, 44100), count_frames(1, 44100)
    (860, 1)
    """
    length = frame_length(rate)
    return max(0, n_samples - length) // (length // 2) + 1


def bin_frequencies(rate: int) -> Floats:
    """Return the frequencies in Hz of the bins of a power spectrum.

    Parameters
    ----------
    rate : {22050, 44100}
        Samples per second.

    Returns
    -------
    ndarray of shape (n_bins,)
        From 0 to half the rate; 513 of them at 44.1 kHz, 257 at 22.05 kHz.

    Examples
    --------
    >>> bin_frequencies(44100)[[0, 1, -1]]
    array([    0.        ,    43.06640625, 22050.        ])
    """
    return fft.rfftfreq(frame_length(rate), 1 / rate)


def pre_emphasize(signal: Singles) -> Singles:
    """Lift high frequencies: subtract 0.95 times the sample before from each sample.

    Parameters
    ----------
    signal : ndarray of shape (n_samples,)
        The samples; the first has none before it and stays.

    Returns
    -------
    ndarray of shape (n_samples,)
        The difference.

    Examples
    --------
    >>> pre_emphasize(np.array([1.0, 1.0, 0.0]))
    array([ 1.  ,  0.05, -0.95])
    """
    lifted = signal.copy()
    lifted[1:] -= PRE_EMPHASIS * signal[:-1]
    return lifted


def power_blocks(signal: Singles, rate: int) -> Iterator[Singles]:
    """Compute the power spectra of Hamming-windowed frames, a block of frames at a time.

    Parameters
    ----------
    signal : ndarray of float32 of shape (n_samples,)
        Mono samples, full scale 1.
    rate : {22050, 44100}
        Samples per second.

    Yields
    ------
    ndarray of float32 of shape (n_frames_of_block, n_bins)
        Squared magnitudes on the scale of 16-bit samples.

    Examples
    --------
    >>> spectra = np.concatenate(list(power_blocks(np.ones(2048, dtype=np.float32), 44100)))
    >>> spectra.shape, spectra.argmax(axis=1)
    ((3, 513), array([0, 0, 0]))
    """
    length = frame_length(rate)
    if len(signal) < length:
        signal = np.pad(signal, (0, length - len(signal)))
    frames = sliding_window_view(signal, length)[:: length // 2]
    window = _scaled_window(length)
    for first in range(0, len(frames), _BLOCK):
        spectra = fft.rfft(frames[first : first + _BLOCK] * window, axis=1, overwrite_x=True)
        yield np.square(spectra.real) + np.square(spectra.imag)


@cache
def _scaled_window(length: int) -> Singles:
    """Return the Hamming window, times the scale of the samples."""
    return (SAMPLE_SCALE * np.hamming(length)).astype(np.float32)
