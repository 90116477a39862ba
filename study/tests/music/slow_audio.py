"""Front ends and modulation analysis loop by loop, in double precision, as one would write them down."""

import math
from itertools import pairwise

import numpy as np

LENGTH = {44100: 1024, 22050: 512}


def frames(signal, rate):
    """Hamming-windowed frames on the scale of 16-bit samples."""
    length = LENGTH[rate]
    signal = [float(sample) for sample in signal] + [0.0] * max(0, length - len(signal))
    found = []
    start = 0
    while start + length <= len(signal):
        frame = []
        for n in range(length):
            window = 0.54 - 0.46 * math.cos(2 * math.pi * n / (length - 1))
            frame.append(32768 * window * signal[start + n])
        found.append(frame)
        start += length // 2
    return found


def power_spectrum(frame):
    """Squared magnitudes of the discrete Fourier transform, bin by bin."""
    n = np.arange(len(frame))
    return [
        abs(np.sum(np.asarray(frame) * np.exp(-2j * np.pi * k * n / len(frame)))) ** 2
        for k in range(len(frame) // 2 + 1)
    ]


def frequency(k, rate):
    return k * rate / LENGTH[rate]


def pre_emphasize(signal):
    return [signal[n] - 0.95 * signal[n - 1] if n > 0 else signal[0] for n in range(len(signal))]


def mel(hertz):
    return 2595 * math.log10(1 + hertz / 700)


def hertz(mels):
    return 700 * (10 ** (mels / 2595) - 1)


def mfcc(signal, rate):
    corners = [hertz(i * mel(rate / 2) / 26) for i in range(27)]
    rows = []
    for frame in frames(pre_emphasize(signal), rate):
        spectrum = power_spectrum(frame)
        logs = []
        for b in range(25):
            low, centre, high = corners[b : b + 3]
            energy = 0.0
            for k, power in enumerate(spectrum):
                f = frequency(k, rate)
                if low < f <= centre:
                    energy += power * (f - low) / (centre - low)
                elif centre < f < high:
                    energy += power * (high - f) / (high - centre)
            logs.append(math.log10(1 + energy))
        rows.append([sum(logs[b] * math.cos(math.pi * l * (b + 0.5) / 25) for b in range(25)) for l in range(20)])  # noqa: E741
    return np.array(rows)


def osc(signal, rate):
    edges = [-1, 0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 22050]
    rows = []
    for frame in frames(signal, rate):
        power = power_spectrum(frame)
        valleys, contrasts = [], []
        for low, high in pairwise(edges):
            if low >= rate / 2:
                continue
            band = sorted(p for k, p in enumerate(power) if low < frequency(k, rate) <= high)
            share = max(1, round(0.2 * len(band)))
            valley = math.log10(max(1, sum(band[:share]) / share))
            peak = math.log10(max(1, sum(band[-share:]) / share))
            valleys.append(valley)
            contrasts.append(peak - valley)
        rows.append(valleys + contrasts)
    return np.array(rows)


def nase(signal, rate):
    edges = [0.0] + [62.5 * 2 ** (i / 2) for i in range(17)] + [math.inf]
    width = rate / LENGTH[rate]
    rows = []
    for frame in frames(pre_emphasize(signal), rate):
        power = power_spectrum(frame)
        decibels = []
        for low, high in pairwise(edges):
            if low >= rate / 2:
                continue
            energy = 0.0
            for k, p in enumerate(power):
                # A bin covers half the way to each neighbour; the outermost ones cover one half only.
                left = max(0.0, frequency(k, rate) - width / 2)
                right = min(rate / 2, frequency(k, rate) + width / 2)
                inside = min(right, high) - max(left, low)
                energy += p * max(0.0, inside) / (right - left)
            decibels.append(10 * math.log10(max(1, energy)))
        root = math.sqrt(sum(d * d for d in decibels))
        rows.append([root] + [d / root if root else 0.0 for d in decibels])
    return np.array(rows)


def modulation(coefficients):
    """The 4 D + 32 statistics of a matrix of frames by coefficients."""
    rows = [list(row) for row in coefficients]
    n = len(rows)
    while len(rows) < 512:
        rows.append(rows[len(rows) - n])
    n_coefficients = len(rows[0])
    starts = list(range(0, len(rows) - 512 + 1, 256))
    valley = np.empty((n_coefficients, 8))
    contrast = np.empty((n_coefficients, 8))
    for d in range(n_coefficients):
        spectrum = np.zeros(257)
        for start in starts:
            spectrum += np.abs(np.fft.rfft([rows[start + t][d] for t in range(512)])) / len(starts)
        for j, (low, high) in enumerate([(0, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64), (64, 128), (128, 256)]):
            valley[d, j] = min(spectrum[low:high])
            contrast[d, j] = max(spectrum[low:high]) - valley[d, j]
    values = []
    for matrix in (contrast, valley):
        values += [np.mean(matrix[d]) for d in range(n_coefficients)]
        values += [np.std(matrix[d]) for d in range(n_coefficients)]
    for matrix in (contrast, valley):
        values += [np.mean(matrix[:, j]) for j in range(8)]
        values += [np.std(matrix[:, j]) for j in range(8)]
    return np.array(values)
