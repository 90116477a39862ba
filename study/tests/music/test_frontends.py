"""Front ends: against loops, and on signals whose coefficients are known."""

import numpy as np
import pytest
from study.tests.music import slow_audio as slow

from skecoc_study.music import mfcc, nase, osc
from skecoc_study.music.frontends import FRONT_ENDS, _envelope_shares, _mel_filters, coefficients, power_blocks

RATES = (44100, 22050)
FRONT_END_FUNCTIONS = {"mfcc": mfcc, "osc": osc, "nase": nase}


def tone(hertz, rate, seconds=0.5, amplitude=0.5):
    return amplitude * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)


def noise(n_samples, seed=0, scale=0.1):
    return np.random.default_rng(seed).normal(scale=scale, size=n_samples)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", FRONT_END_FUNCTIONS)
@pytest.mark.parametrize("scale", [0.3, 1e-4])
def test_equal_to_loops_over_frames_bands_and_bins(name, rate, scale):
    signal = np.cumsum(noise(slow.LENGTH[rate] * 2 + 100, seed=rate, scale=scale))  # strong lows, weak highs
    fast = FRONT_END_FUNCTIONS[name](signal, rate)
    expected = getattr(slow, name)(signal, rate)
    assert fast.shape == expected.shape
    np.testing.assert_allclose(fast, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("rate", RATES)
def test_computed_together_or_alone_is_the_same(rate):
    signal = noise(rate)
    together = coefficients(signal, rate, ["nase", "mfcc", "osc"])
    assert list(together) == ["nase", "mfcc", "osc"]
    for name, function in FRONT_END_FUNCTIONS.items():
        np.testing.assert_array_equal(together[name], function(signal, rate))


@pytest.mark.parametrize("rate", RATES)
def test_a_block_of_frames_is_described_as_its_frames_are(rate):
    signal = noise(7 * rate).astype(np.float32)  # 602 frames: more than two blocks
    spectra = np.concatenate(list(power_blocks(signal, rate)))
    length = slow.LENGTH[rate]
    assert len(spectra) == (len(signal) - length) // (length // 2) + 1
    for frame in (0, 255, 256, 511, 512, len(spectra) - 1):
        alone = next(power_blocks(signal[frame * length // 2 :][:length], rate))
        np.testing.assert_allclose(spectra[frame], alone[0], rtol=1e-4)


@pytest.mark.parametrize(("rate", "expected"), [(44100, (20, 20, 19)), (22050, (20, 18, 17))])
def test_numbers_of_coefficients_and_their_names(rate, expected):
    found = coefficients(noise(4096), rate, FRONT_ENDS)
    assert tuple(values.shape[1] for values in found.values()) == expected
    for name, values in found.items():
        names = FRONT_ENDS[name].names(rate)
        assert len(set(names)) == len(names) == values.shape[1]


def test_names_say_which_bands_are_there():
    assert FRONT_ENDS["osc"].names(44100)[9] == "valley_12800-22050hz"
    assert FRONT_ENDS["osc"].names(22050)[8:10] == ["valley_6400-12800hz", "contrast_0hz"]
    assert FRONT_ENDS["nase"].names(44100)[-2:] == ["envelope_11314-16000hz", "envelope_above_16000hz"]
    assert FRONT_ENDS["nase"].names(22050)[-1] == "envelope_8000-11314hz"
    assert FRONT_ENDS["nase"].names(44100)[:3] == ["norm", "envelope_below_62.5hz", "envelope_62.5-88.4hz"]


def test_a_tone_lands_in_its_mel_filter():
    # 1 kHz is 1000 mel; half of 44.1 kHz is 3923 mel, so the 25 centres are 150.9 mel apart. 1000 / 150.9 = 6.63: the
    # seventh centre is nearest, and the sixth gets the rest.
    power = np.concatenate(list(power_blocks(tone(1000, 44100).astype(np.float32), 44100)))
    energy = power @ _mel_filters(44100)
    order = np.argsort(energy, axis=1)[:, ::-1]
    assert (order[:, 0] == 6).all()
    assert (order[:, 1] == 5).all()


@pytest.mark.parametrize(("hertz", "band"), [(60, 1), (150, 2), (300, 3), (1000, 5), (5000, 7), (15000, 9)])
def test_a_tone_lands_in_its_octave_band(hertz, band):
    valleys, contrasts = np.hsplit(osc(tone(hertz, 44100), 44100), 2)
    assert ((valleys + contrasts).argmax(axis=1) == band).all()
    if band > 2:  # the first two bands are narrower than the spectrum of a windowed tone
        assert (contrasts.argmax(axis=1) == band).all()


@pytest.mark.parametrize(
    ("hertz", "band"), [(30, 0), (75, 1), (100, 2), (1200, 9), (1600, 10), (12500, 16), (19000, 17)]
)
def test_a_tone_lands_in_its_half_octave_band(hertz, band):
    envelope = nase(tone(hertz, 44100), 44100)[:, 1:]
    assert (envelope[1:-1].argmax(axis=1) == band).all()


@pytest.mark.parametrize("rate", RATES)
def test_half_octave_bands_divide_the_power_among_them(rate):
    shares = _envelope_shares(rate)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-6)
    assert (shares.sum(axis=0) > 0).all()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    "signal",
    [
        np.zeros(30000),
        np.zeros(1),
        np.ones(1),
        np.ones(30000),
        np.sign(noise(30000)),
        np.full(30000, 1e-30),
        1e6 * np.sign(noise(30000)),
    ],
    ids=["silence", "one zero", "one sample", "DC", "clipping", "nearly silence", "very loud"],
)
@pytest.mark.parametrize("name", FRONT_END_FUNCTIONS)
def test_finite_whatever_the_signal(name, signal, rate):
    assert np.isfinite(FRONT_END_FUNCTIONS[name](signal, rate)).all()


@pytest.mark.parametrize("name", FRONT_END_FUNCTIONS)
def test_silence_is_zero(name):
    assert not FRONT_END_FUNCTIONS[name](np.zeros(5000), 44100).any()


def test_gain_moves_valleys_only():
    signal = noise(20000)
    before, after = osc(signal, 44100), osc(4.0 * signal, 44100)
    np.testing.assert_allclose(after[:, :10] - before[:, :10], np.log10(16.0), rtol=1e-5)
    np.testing.assert_allclose(after[:, 10:], before[:, 10:], atol=1e-5)


def test_gain_moves_the_first_cepstral_coefficient_only():
    # With loud noise the 1 in log10(1 + E) is nothing beside E.
    signal = noise(20000)
    before, after = mfcc(signal, 44100), mfcc(4.0 * signal, 44100)
    np.testing.assert_allclose(after[:, 0] - before[:, 0], 25 * np.log10(16.0), rtol=1e-5)
    np.testing.assert_allclose(after[:, 1:], before[:, 1:], atol=1e-4)


def test_gain_adds_the_same_decibels_to_all_bands_before_they_are_normalised():
    signal = noise(20000)
    before, after = nase(signal, 44100), nase(4.0 * signal, 44100)
    np.testing.assert_allclose(np.linalg.norm(before[:, 1:], axis=1), 1.0, rtol=1e-12)
    difference = after[:, :1] * after[:, 1:] - before[:, :1] * before[:, 1:]
    np.testing.assert_allclose(difference, 10 * np.log10(16.0), rtol=1e-5)


@pytest.mark.parametrize(
    ("signal", "rate", "message"),
    [
        (np.zeros(100), 48000, "rate must be 22050 or 44100, got 48000"),
        (np.zeros((100, 2)), 44100, r"shape \(n_samples,\)"),
        (np.zeros(0), 44100, "at least one sample"),
        (np.array([0.0, np.nan]), 44100, "finite samples of full scale 1"),
        (np.array([0.0, -np.inf]), 44100, "finite samples of full scale 1"),
        (np.array([0.0, 1e7]), 44100, "got one of 1e\\+07"),
    ],
)
@pytest.mark.parametrize("name", FRONT_END_FUNCTIONS)
def test_bad_signals_are_refused(name, signal, rate, message):
    with pytest.raises(ValueError, match=message):
        FRONT_END_FUNCTIONS[name](signal, rate)
