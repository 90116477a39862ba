"""From what people have to a mono signal: every kind of source, every kind of mistake."""

from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from study.tests.music.conftest import play

from skecoc_study.music import AudioError, modulation_features
from skecoc_study.music.clips import ArrayClip, FileClip, OpenFileClip, as_clips, choose_rate
from skecoc_study.music.modulation import feature_slices


def encoded(samples, rate, kind, **options):
    file = BytesIO()
    soundfile.write(file, samples, rate, format=kind, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize(("kind", "tolerance"), [("WAV", 1e-4), ("FLAC", 1e-4), ("OGG", 0.05), ("MP3", 0.05)])
def test_files_of_all_kinds_are_read(kind, tolerance, tmp_path):
    samples = play("organ", 0, seconds=1.0)
    path = tmp_path / f"clip.{kind.lower()}"
    path.write_bytes(encoded(samples, 44100, kind).read())
    signal = FileClip(path).signal(44100)
    assert signal.dtype == np.float32
    assert signal.shape == (44100,)
    np.testing.assert_allclose(signal, samples.mean(axis=1), atol=tolerance)
    assert FileClip(path).rate() == 44100


def test_a_path_an_open_file_and_an_array_are_the_same_clip(tmp_path):
    samples = play("drums", 0, seconds=1.0)
    path = tmp_path / "clip.wav"
    soundfile.write(path, samples, 44100, subtype="FLOAT")
    with path.open("rb") as file:
        sources = [str(path), path, file, BytesIO(path.read_bytes()), (samples, 44100), samples]
        signals = [clip.signal(44100) for clip in as_clips(sources, array_rate=44100)]
    for signal in signals[1:]:
        np.testing.assert_array_equal(signal, signals[0])


def test_an_open_file_is_left_where_it_was():
    file = BytesIO(b"junk" + encoded(np.zeros(100), 8000, "WAV").read())
    file.seek(4)
    clip = OpenFileClip(file, "clip 0")
    assert file.tell() == 4
    assert len(clip.samples()[0]) == len(clip.samples()[0]) == 100
    assert (clip.rate(), file.tell()) == (8000, 4)


@pytest.mark.parametrize("rate", [8000, 22050, 48000, 96000])
def test_resampling_keeps_a_tone(rate):
    time = np.arange(2 * rate) / rate
    signal = ArrayClip(np.sin(2 * np.pi * 1000 * time), rate, "tone").signal(44100)
    assert abs(len(signal) - 2 * 44100) <= 2
    middle = signal[10000:-10000]
    expected = np.sin(2 * np.pi * 1000 * np.arange(len(signal)) / 44100)[10000:-10000]
    np.testing.assert_allclose(middle, expected, atol=1e-3)


def test_features_do_not_depend_on_the_rate_that_audio_comes_in():
    high = play("organ", 3, seconds=8.0, rate=48000)
    values = [modulation_features(ArrayClip(high, 48000, "a").signal(44100), 44100, "mosc")]
    at_once = play("organ", 3, seconds=8.0, rate=44100)
    values.append(modulation_features(ArrayClip(at_once, 44100, "b").signal(44100), 44100, "mosc"))
    assert np.corrcoef(values)[0, 1] > 0.999


def test_a_single_sample_survives_resampling():
    for rate in (8000, 48000, 192000):
        signal = ArrayClip(np.ones(1), rate, "clip").signal(44100)
        assert len(signal) >= 1
        assert np.isfinite(modulation_features(signal, 44100)).all()


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (np.array([0, 16384, -32768], dtype=np.int16), [0, 0.5, -1]),
        (np.array([0, 2**30, -(2**31)], dtype=np.int32), [0, 0.5, -1]),
        (np.array([128, 192, 0], dtype=np.uint8), [0, 0.5, -1]),
        (np.array([0, 0.5, -1.0]), [0, 0.5, -1]),
        (np.array([[0, 0], [1.0, 0.0], [-1.0, -1.0]]), [0, 0.5, -1]),
    ],
)
def test_arrays_of_all_types_have_full_scale_1(samples, expected):
    np.testing.assert_array_equal(ArrayClip(samples, 44100, "clip").signal(44100), expected)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("empty.mp3", "empty.mp3' is empty"),
        ("text.wav", "text.wav' is text, not audio$"),
        ("page.mp3", "page.mp3' is text, not audio$"),
        ("zeros.mp3", "zeros.mp3' holds zeros, not audio$"),
        ("picture.mp3", "picture.mp3' is a JPEG picture, not audio$"),
        ("bytes.mp3", "bytes.mp3' cannot be read as audio: it begins like no format that is known$"),
        ("bytes.wav", "bytes.wav' cannot be read as audio: Format not recognised.$"),
        ("header.mp3", "header.mp3' is damaged or cut off$"),
        ("header.flac", "header.flac' is damaged, cut off or in a format that is not supported$"),
        ("header.wav", "header.wav' is damaged or cut off: Error in WAV file. No 'data' chunk marker"),
        ("half.flac", "half.flac' is damaged or cut off: "),
        ("no-samples.wav", "no-samples.wav' holds no samples"),
        ("not-finite.wav", "not-finite.wav': signal must hold finite samples"),
        ("headerless.raw", "headerless.raw' cannot be read as audio: "),
        ("missing.wav", "missing.wav': there is no such file"),
        (".", "bad' is a folder, expected a file"),
        ("x" * 300, "x' cannot be read: File name too long"),
    ],
)
def test_files_that_are_not_audio_are_named(file, message, bad_files):
    with pytest.raises(AudioError, match=message):
        FileClip(bad_files / file).signal(44100)
    if file in ("empty.mp3", "missing.wav"):
        with pytest.raises(AudioError, match=message):
            FileClip(bad_files / file).digest()


def test_a_file_that_does_not_tell_its_length_is_named(tmp_path):
    content = bytearray(encoded(np.zeros(1000), 44100, "FLAC").read())
    content[21] &= 0xF0  # the last 36 bits of what precedes byte 26 count the samples; zero if that is not known
    content[22:26] = bytes(4)
    path = tmp_path / "streamed.flac"
    path.write_bytes(content)
    with pytest.raises(AudioError, match=r"streamed.flac' is too long to be read, or does not tell its length"):
        FileClip(path).signal(44100)


def test_a_header_with_an_absurd_rate_is_refused(tmp_path):
    content = bytearray(encoded(np.zeros(1000), 44100, "WAV").read())
    content[24:28] = (1).to_bytes(4, "little")
    path = tmp_path / "slow.wav"
    path.write_bytes(content)
    for read in (FileClip(path).rate, FileClip(path).samples):
        with pytest.raises(AudioError, match=r"slow.wav': expected a whole number .* at least 1000, got rate 1$"):
            read()


def test_a_damaged_file_is_named_or_read_as_far_as_it_goes(tmp_path):
    for kind in ("FLAC", "OGG", "MP3", "WAV"):
        whole = encoded(play("drums", 0, seconds=2.0), 44100, kind).read()
        path = tmp_path / f"cut.{kind.lower()}"
        path.write_bytes(whole[: len(whole) // 2] + bytes(100))
        try:
            assert 0 < len(FileClip(path).signal(44100)) <= 2 * 44100
        except AudioError as error:
            assert path.name in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ((np.zeros((2, 1000)), 44100), r"clip 0: expected shape \(n_samples,\) or \(n_samples, n_channels\)"),
        ((np.zeros((2, 2, 2)), 44100), "clip 0: expected shape"),
        ((np.array(["a"]), 44100), "clip 0: expected an array of numbers, got dtype <U1"),
        ((np.zeros(10), 999), "clip 0: expected a whole number of samples per second, at least 1000, got rate 999"),
        ((np.zeros(10), 44.1), "got rate 44.1"),
        (np.zeros(10), "clip 0 is an array without a sample rate"),
        (3.0, "clip 0: expected a path, an open file"),
        (StringIO("text"), "clip 0: expected a file opened in binary mode"),
    ],
)
def test_sources_that_are_no_clips_are_refused(source, message):
    with pytest.raises(ValueError, match=message):
        as_clips([source])


@pytest.mark.parametrize("sources", ["a.wav", Path("a.wav"), BytesIO(b""), b"a.wav"])
def test_a_single_clip_is_not_a_list_of_clips(sources):
    with pytest.raises(ValueError, match="X must be a list of clips, got a single one"):
        as_clips(sources)


def test_what_is_no_list_is_refused():
    with pytest.raises(ValueError, match="X must be a list of clips, got int"):
        as_clips(3)
    with pytest.raises(ValueError, match="one column of paths if it is a frame, got 2"):
        as_clips(pd.DataFrame({"a": ["x.wav"], "b": ["y.wav"]}))


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda paths: np.array(paths, dtype=object),
        lambda paths: np.array(paths)[:, np.newaxis],
        pd.Series,
        lambda paths: pd.DataFrame({"path": paths}),
        iter,
    ],
)
def test_paths_in_any_container(container):
    assert [clip.name for clip in as_clips(container(["a.wav", "b.wav"]))] == ["'a.wav'", "'b.wav'"]


def test_rows_of_a_matrix_are_signals():
    clips = as_clips(np.arange(6.0).reshape(2, 3) / 6, array_rate=8000)
    assert [clip.rate() for clip in clips] == [8000, 8000]
    np.testing.assert_allclose(clips[1].samples()[0][:, 0], [0.5, 4 / 6, 5 / 6], rtol=1e-6)


def test_equal_content_has_equal_digests_and_other_content_has_others(tmp_path):
    first, second = tmp_path / "a.wav", tmp_path / "b.wav"
    soundfile.write(first, np.zeros(100), 44100)
    second.write_bytes(first.read_bytes())
    assert (
        FileClip(first).digest() == FileClip(second).digest() == OpenFileClip(BytesIO(first.read_bytes()), "").digest()
    )
    ones, zeros = np.ones(4), np.zeros(4)
    digests = {ArrayClip(array, rate, "").digest() for array in (ones, zeros, ones[:3]) for rate in (8000, 44100)}
    assert len(digests) == 6


def test_the_rate_that_no_clip_has_to_be_stretched_for():
    assert choose_rate([44100]) == choose_rate([96000, 44100, 48000]) == 44100
    assert choose_rate([44100, 32000]) == choose_rate([22050]) == choose_rate([8000]) == 22050
    with pytest.raises(ValueError, match="at least one clip"):
        choose_rate([])


def test_mp3_keeps_the_features_of_music():
    # The measure is the spread between clips: the encoder moves half of the features by less than a tenth of it. Where
    # it cuts away what is above 16 kHz, only features at 44.1 kHz can know, and those of the mel filters do.
    clips = [play(genre, seed) for genre in ("drums", "organ") for seed in range(4)]
    files = [OpenFileClip(encoded(clip, 44100, "MP3"), "") for clip in clips]
    for rate, features in ((22050, ("mmfcc", "mosc", "mnase")), (44100, ("mosc", "mnase"))):
        before = np.array([modulation_features(ArrayClip(clip, 44100, "").signal(rate), rate) for clip in clips])
        after = np.array([modulation_features(file.signal(rate), rate) for file in files])
        spread = before.std(axis=0)
        moved = np.abs(after - before) / np.where(spread > 0, spread, 1.0)
        for feature in features:
            assert np.median(moved[:, feature_slices(rate)[feature]]) < 0.1


def test_integers_of_64_bits_give_a_warning():
    with pytest.warns(UserWarning, match="int64 is taken relative to its full scale"):
        ArrayClip(np.zeros(10, dtype=np.int64), 44100, "clip 0")
