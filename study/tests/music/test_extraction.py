"""Many clips: the cache, what it must notice, and what survives an interruption."""

import numpy as np
import pytest
import soundfile
from study.tests.music.conftest import play

from skecoc_study.music import extraction, modulation_features
from skecoc_study.music.clips import FileClip, as_clips
from skecoc_study.music.extraction import FeatureCache, default_cache_folder, extract
from skecoc_study.music.modulation import feature_slices


@pytest.fixture
def no_analysis(monkeypatch):
    """Make any further analysis an error."""
    monkeypatch.setattr(extraction, "modulation_features", lambda *args: pytest.fail("a clip was analysed"))


def files_of(cache):
    return sorted(path for path in cache.folder.rglob("*") if path.is_file())


def test_features_are_those_of_the_signals(music_paths):
    found = extract(as_clips(music_paths), "mosc", 44100)
    expected = [modulation_features(FileClip(path).signal(44100), 44100, "mosc") for path in music_paths]
    np.testing.assert_array_equal(found.values, expected)
    assert (found.errors, found.short, found.n_cached, found.unsaved) == ({}, [], 0, None)


@pytest.mark.parametrize("feature", ["mmfcc", "mosc", "mnase", "all"])
def test_neither_the_cache_nor_the_jobs_change_anything(feature, music_paths, tmp_path):
    clips, cache = as_clips(music_paths[::4]), FeatureCache(tmp_path / "cache")
    plain = extract(clips, feature, 22050)
    for found in (
        extract(clips, feature, 22050, cache=cache),
        extract(clips, feature, 22050, cache=cache),
        extract(clips, feature, 22050, n_jobs=2),
    ):
        np.testing.assert_array_equal(found.values, plain.values)
    assert len(files_of(cache)) == len(clips)


def test_a_second_run_analyses_nothing_whatever_the_feature(music_paths, tmp_path, request):
    cache = FeatureCache(tmp_path)
    first = extract(as_clips(music_paths), "mmfcc", 44100, cache=cache)
    assert first.n_cached == 0
    request.getfixturevalue("no_analysis")
    for feature, where in feature_slices(44100).items():
        found = extract(as_clips(music_paths), feature, 44100, cache=cache)
        assert found.n_cached == len(music_paths)
        assert found.values.shape == (len(music_paths), where.stop - where.start)


def test_an_interrupted_run_continues(music_paths, tmp_path, monkeypatch):
    cache = FeatureCache(tmp_path)
    calls = []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return modulation_features(*args)

    monkeypatch.setattr(extraction, "modulation_features", interrupted)
    with pytest.raises(KeyboardInterrupt):
        extract(as_clips(music_paths), "mosc", 44100, cache=cache)
    monkeypatch.undo()
    assert len(files_of(cache)) == 3
    assert extract(as_clips(music_paths), "mosc", 44100, cache=cache).n_cached == 3


def test_content_counts_not_names(tmp_path):
    cache, path = FeatureCache(tmp_path / "cache"), tmp_path / "a.wav"
    soundfile.write(path, play("drums", 0), 44100)
    extract(as_clips([path]), "mosc", 44100, cache=cache)
    renamed = path.rename(tmp_path / "b.wav")
    assert extract(as_clips([renamed]), "mosc", 44100, cache=cache).n_cached == 1
    assert extract(as_clips([renamed]), "mosc", 22050, cache=cache).n_cached == 0
    soundfile.write(renamed, play("drums", 1), 44100)
    assert extract(as_clips([renamed]), "mosc", 44100, cache=cache).n_cached == 0


def test_another_version_of_the_features_is_computed_anew(music_paths, tmp_path, monkeypatch):
    cache = FeatureCache(tmp_path)
    extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache)
    monkeypatch.setattr(extraction, "FEATURE_VERSION", 2)
    assert extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache).n_cached == 0


@pytest.mark.parametrize("content", [b"", b"junk", None], ids=["empty", "junk", "cut short"])
def test_damaged_entries_are_computed_anew(content, music_paths, tmp_path):
    cache = FeatureCache(tmp_path)
    first = extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache)
    (entry,) = files_of(cache)
    entry.write_bytes(entry.read_bytes()[:-30] if content is None else content)
    second = extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache)
    assert second.n_cached == 0
    np.testing.assert_array_equal(first.values, second.values)
    assert extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache).n_cached == 1


@pytest.mark.parametrize("values", [np.zeros(3), np.array(1.0), np.zeros((332, 2)), np.full(332, np.nan)])
def test_an_entry_of_other_values_is_computed_anew(values, music_paths, tmp_path):
    cache = FeatureCache(tmp_path)
    extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache)
    (entry,) = files_of(cache)
    with entry.open("wb") as file:
        np.savez(file, values=values, is_short=np.array(False))
    assert extract(as_clips(music_paths[:1]), "mosc", 44100, cache=cache).n_cached == 0


def test_a_cache_that_cannot_be_written_loses_no_features(music_paths, tmp_path):
    (tmp_path / "file").touch()
    found = extract(as_clips(music_paths[:2]), "mosc", 44100, cache=FeatureCache(tmp_path / "file"))
    assert np.isfinite(found.values).all()
    assert "file" in found.unsaved


def test_a_failed_write_leaves_nothing_behind(music_paths, tmp_path, monkeypatch):
    def full_disk(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(extraction.Path, "replace", full_disk)
    found = extract(as_clips(music_paths[:1]), "mosc", 44100, cache=FeatureCache(tmp_path))
    assert "No space left on device" in found.unsaved
    assert files_of(FeatureCache(tmp_path)) == []


@pytest.mark.parametrize("cached", [False, True])
def test_what_cannot_be_read_is_reported_and_the_rest_is_there(cached, music_paths, bad_files, tmp_path):
    bad = sorted(str(path) for path in bad_files.iterdir())
    sources = [music_paths[0], *bad, music_paths[1]]
    cache = FeatureCache(tmp_path / "cache") if cached else None
    for _ in range(2):
        found = extract(as_clips(sources), "mosc", 44100, cache=cache)
        assert sorted(found.errors) == list(range(1, len(bad) + 1))
        assert all(name in found.errors[number] for number, name in enumerate(bad, start=1))
        assert np.isnan(found.values[1:-1]).all()
        assert np.isfinite(found.values[[0, -1]]).all()


@pytest.mark.parametrize("cached", [False, True])
def test_short_clips_are_reported_every_time(cached, tmp_path):
    clips = as_clips([(play("drums", 0, seconds=2.0), 44100), (play("drums", 1), 44100)])
    cache = FeatureCache(tmp_path) if cached else None
    for _ in range(2):
        assert extract(clips, "mosc", 44100, cache=cache).short == [0]


def test_the_default_folder_follows_the_users_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "skecoc" / "audio"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_folder().parts[-3:] == (".cache", "skecoc", "audio")
