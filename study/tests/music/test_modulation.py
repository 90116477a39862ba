"""The modulation spectrum and its statistics, and the whole way from a signal to its features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study.tests.music import slow_audio as slow

from skecoc_study.music import feature_names, modulation_features
from skecoc_study.music.modulation import (
    feature_slices,
    is_short,
    modulation_spectrum,
    modulation_statistics,
    subband_edges,
)

FEATURES = ("mmfcc", "mosc", "mnase")


def noise(n_samples, seed=0, scale=0.1):
    return np.random.default_rng(seed).normal(scale=scale, size=n_samples)


@given(n_frames=st.integers(1, 1400), n_coefficients=st.integers(1, 9), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_equal_to_loops(n_frames, n_coefficients, seed):
    coefficients = np.random.default_rng(seed).normal(size=(n_frames, n_coefficients))
    fast = modulation_statistics(modulation_spectrum(coefficients))
    np.testing.assert_allclose(fast, slow.modulation(coefficients), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rate", [44100, 22050])
@pytest.mark.parametrize("feature", FEATURES)
def test_whole_way_equal_to_loops(feature, rate):
    signal = np.cumsum(noise(slow.LENGTH[rate] * 3, scale=0.05))
    expected = slow.modulation(getattr(slow, feature[1:])(signal, rate))
    found = modulation_features(signal, rate, feature)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("rate", "sizes"),
    [(44100, {"mmfcc": 112, "mosc": 112, "mnase": 108}), (22050, {"mmfcc": 112, "mosc": 104, "mnase": 100})],
)
def test_numbers_and_names_of_features(rate, sizes):
    signal = noise(10 * rate)
    together = modulation_features(signal, rate)
    for feature, size in sizes.items():
        alone = modulation_features(signal, rate, feature)
        assert alone.shape == (size,)
        np.testing.assert_array_equal(together[feature_slices(rate)[feature]], alone)
        assert len(feature_names(feature, rate)) == size
    names = feature_names("all", rate)
    assert len(names) == len(set(names)) == len(together) == sum(sizes.values())
    assert names == [name for feature in FEATURES for name in feature_names(feature, rate)]
    assert feature_slices(rate)["all"] == slice(0, len(together))


def test_names_belong_to_their_values():
    # A tone makes the contrast of its own octave large: on the average, and hence in the first modulation bin.
    time = np.arange(10 * 44100) / 44100
    signal = 0.3 * np.sin(2 * np.pi * 1000 * time) + noise(len(time), scale=0.01)
    values = dict(zip(feature_names("mosc", 44100), modulation_features(signal, 44100, "mosc"), strict=True))
    means = {name: value for name, value in values.items() if name.endswith("hz_contrast_mean")}
    contrasts = {name: value for name, value in means.items() if name.startswith("mosc_contrast_")}
    subbands = {name: value for name, value in means.items() if name.startswith("mosc_modulation_")}
    assert (len(contrasts), len(subbands)) == (10, 8)
    assert max(contrasts, key=contrasts.get) == "mosc_contrast_800-1600hz_contrast_mean"
    assert max(subbands, key=subbands.get) == "mosc_modulation_0.0-0.3hz_contrast_mean"


@pytest.mark.parametrize("feature", FEATURES)
def test_four_hertz_peak_in_the_subband_that_holds_four_hertz(feature):
    time = np.arange(10 * 44100) / 44100
    swelling = (0.3 + 0.2 * np.sin(2 * np.pi * 4 * time)) * np.sin(2 * np.pi * 1000 * time)
    values = modulation_features(swelling + noise(len(time), scale=0.001), 44100, feature)
    names = feature_names(feature, 44100)
    subbands = [
        values[names.index(f"{feature}_modulation_{low:.1f}-{high:.1f}hz_contrast_mean")]
        for low, high in subband_edges()
    ]
    # The first subband holds the mean of each coefficient, whatever moves.
    assert 1 + int(np.argmax(subbands[1:])) == 4
    low, high = subband_edges()[4]
    assert low < 4 < high


def test_a_constant_is_in_the_first_bin_only():
    spectrum = modulation_spectrum(np.full((700, 2), 3.0))
    np.testing.assert_allclose(spectrum[0], 3.0 * 512)
    np.testing.assert_allclose(spectrum[1:], 0.0, atol=1e-9)
    statistics = modulation_statistics(spectrum)
    # Of 8 subbands one has a contrast of 1536: mean 192, deviation 192 * sqrt(7). All valleys are zero.
    np.testing.assert_allclose(statistics[:8], [192, 192, *[192 * np.sqrt(7)] * 2, 0, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(statistics[8:16], [1536, 0, 0, 0, 0, 0, 0, 0], atol=1e-9)


def test_the_highest_bin_belongs_to_no_subband():
    alternating = np.tile([1.0, -1.0], 256)[:, np.newaxis]
    spectrum = modulation_spectrum(alternating)
    assert spectrum[:, 0].argmax() == 256
    np.testing.assert_allclose(modulation_statistics(spectrum), 0.0, atol=1e-9)


def test_windows_overlap_by_half_and_frames_that_fill_none_do_not_count():
    coefficients = np.random.default_rng(0).normal(size=(1023, 3))
    windows = [modulation_spectrum(coefficients[start : start + 512]) for start in (0, 256)]
    np.testing.assert_allclose(modulation_spectrum(coefficients[:768]), np.mean(windows, axis=0))
    np.testing.assert_allclose(modulation_spectrum(coefficients), modulation_spectrum(coefficients[:768]))


def test_short_clips_are_repeated():
    coefficients = np.random.default_rng(0).normal(size=(200, 3))
    repeated = np.concatenate([coefficients, coefficients, coefficients[:112]])
    np.testing.assert_array_equal(modulation_spectrum(coefficients), modulation_spectrum(repeated))


def test_short_is_less_than_512_frames():
    assert is_short(1024 + 510 * 512 + 511, 44100)
    assert not is_short(1024 + 511 * 512, 44100)
    assert not is_short(512 + 511 * 256, 22050)


@pytest.mark.parametrize("rate", [44100, 22050])
@pytest.mark.parametrize(
    "signal",
    [np.zeros(1), np.ones(1), np.zeros(300000), np.ones(300000), np.sign(noise(300000))],
    ids=["one zero", "one sample", "silence", "DC", "clipping"],
)
def test_finite_whatever_the_signal(signal, rate):
    assert np.isfinite(modulation_features(signal, rate)).all()


def test_gain_changes_only_the_mean_of_valleys_in_contrast_features():
    # A gain adds a constant to the valleys of all bands, which only the first modulation bin sees.
    signal = noise(10 * 44100)
    before, after = modulation_features(signal, 44100, "mosc"), modulation_features(3.0 * signal, 44100, "mosc")
    names = np.array(feature_names("mosc", 44100))
    changed = set(names[np.abs(after - before) > 1e-3 * np.abs(before) + 1e-3])
    coefficients = {f"mosc_valley_{band}" for band in ["0hz", "0-100hz", "12800-22050hz"]}
    assert {f"{name}_contrast_mean" for name in coefficients} <= changed
    assert not {name for name in changed if name.startswith("mosc_contrast_")}
    assert {name for name in changed if "modulation" in name} <= {
        f"mosc_modulation_0.0-0.3hz_{statistic}"
        for statistic in ("contrast_mean", "contrast_std", "valley_mean", "valley_std")
    }


def test_unknown_features_are_refused():
    for call in (lambda: modulation_features(np.zeros(10), 44100, "mel"), lambda: feature_names("mel", 44100)):
        with pytest.raises(
            ValueError, match="feature='mel' is not known; expected one of 'mmfcc', 'mosc', 'mnase', 'all'"
        ):
            call()
