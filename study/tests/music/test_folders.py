"""Folders of music: what counts as a clip, who played it, and what is wrong with the rest."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import soundfile

from skecoc_study.music import load_audio_folder, load_dortmund
from skecoc_study.music.folders import DORTMUND_COUNTS


def make(root, *names):
    """Write tiny audio files."""
    for name in names:
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, np.zeros(10), 44100)


@pytest.fixture
def dortmund(tmp_path):
    """A folder with the published names and numbers of files; all are copies of one tiny file."""
    make(tmp_path, "tiny.wav")
    content = (tmp_path / "tiny.wav").read_bytes()
    (tmp_path / "tiny.wav").unlink()
    for genre, count in DORTMUND_COUNTS.items():
        (tmp_path / genre).mkdir()
        for number in range(count):
            (tmp_path / genre / f"Artist{number // 2}-Title {number}.wav").write_bytes(content)
    return tmp_path


def test_paths_genres_artists_and_tracks(tmp_path):
    make(
        tmp_path,
        "rock/Bob-Hey.wav",
        "rock/Ann B-Blue-Sky.wav",
        "rock/nobody.flac",
        "jazz/Cid/Album One/01 First.ogg",
        "jazz/-odd.wav",
        "jazz/song@30.flac",
        "jazz/song@60.flac",
        "jazz/mail@home.wav",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        music = load_audio_folder(tmp_path)
    rows = {
        Path(path).relative_to(tmp_path).as_posix(): (genre, artist, track)
        for path, genre, artist, track in zip(music.data, music.target, music.artists, music.tracks, strict=True)
    }
    assert rows == {
        "jazz/-odd.wav": ("jazz", "-odd", "jazz/-odd"),
        "jazz/Cid/Album One/01 First.ogg": ("jazz", "Cid", "jazz/Cid/Album One/01 First"),
        "jazz/mail@home.wav": ("jazz", "mail@home", "jazz/mail@home"),
        "jazz/song@30.flac": ("jazz", "song@30", "jazz/song"),
        "jazz/song@60.flac": ("jazz", "song@60", "jazz/song"),
        "rock/Ann B-Blue-Sky.wav": ("rock", "Ann B", "rock/Ann B-Blue-Sky"),
        "rock/Bob-Hey.wav": ("rock", "Bob", "rock/Bob-Hey"),
        "rock/nobody.flac": ("rock", "nobody", "rock/nobody"),
    }
    assert music.target_names.tolist() == ["jazz", "rock"]
    assert f"{tmp_path.name}: 8 clips of 2 genres" == music.DESCR
    assert music.filename == str(tmp_path)
    assert music.skipped == {}


@pytest.fixture
def messy(tmp_path):
    """A folder with everything that may be wrong."""
    make(tmp_path, "rock/a-b.wav", "jazz/c-d.wav", ".hidden/e-f.wav", "rock/.trash/g.wav")
    (tmp_path / "rock" / "empty.mp3").touch()
    (tmp_path / "rock" / "cover.jpg").write_bytes(b"jpeg")
    (tmp_path / "rock" / ".DS_Store").write_bytes(b"store")
    (tmp_path / "jazz" / "text.wav").write_text("no music")
    (tmp_path / "blues").mkdir()
    (tmp_path / "readme.txt").write_text("hello")
    soundfile.write(tmp_path / "jazz" / "nothing.wav", np.zeros(0), 44100)
    return tmp_path


def test_what_is_not_audio_is_left_out_by_name(messy):
    with pytest.warns(UserWarning, match="^left out: ") as caught:
        music = load_audio_folder(messy)
    assert [Path(path).name for path in music.data] == ["c-d.wav", "a-b.wav"]
    reasons = {Path(path).relative_to(messy).as_posix(): reason for path, reason in music.skipped.items()}
    assert reasons == {
        "readme.txt": "is not in a genre's folder",
        "blues": "holds no audio",
        "jazz/text.wav": "is text, not audio",
        "jazz/nothing.wav": "holds no samples",
        "rock/cover.jpg": "is not an audio file, judging by its name",
        "rock/empty.mp3": "is empty",
    }
    assert all(repr(path) in str(caught[0].message) for path in music.skipped)


def test_what_is_not_audio_is_refused_if_asked_for(messy):
    with pytest.raises(ValueError, match=r"holds what is not audio: .*text.wav' is text, not audio"):
        load_audio_folder(messy, on_error="raise")


def test_many_names_are_cut_short(tmp_path):
    make(tmp_path, "rock/a.wav", "jazz/b.wav")
    for number in range(12):
        (tmp_path / "rock" / f"{number}.txt").touch()
    with pytest.warns(UserWarning, match="; and 2 more$"):
        load_audio_folder(tmp_path)


@pytest.mark.parametrize(
    ("root", "options", "message"),
    [
        ("missing", {}, r"root='.*missing' is not a folder"),
        ("one", {}, r"at least two with audio; found 'rock'"),
        ("none", {}, r"at least two with audio; found none"),
        ("two", {"on_error": "ignore"}, "on_error='ignore' is not known; expected one of 'raise', 'skip'"),
    ],
)
def test_folders_that_are_no_collection_are_refused(root, options, message, tmp_path):
    make(tmp_path, "one/rock/a.wav", "two/rock/a.wav", "two/jazz/a.wav")
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match=message):
        load_audio_folder(tmp_path / root, **options)


def test_without_soundfile_the_extra_is_named(tmp_path, monkeypatch):
    make(tmp_path, "rock/a.wav", "jazz/b.wav")
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(ImportError, match=r"pip install \"scikit-ecoc-study\[audio\]\""):
        load_audio_folder(tmp_path)


def test_the_published_dortmund_set_is_recognised(dortmund):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        music = load_dortmund(dortmund)
    assert len(music.data) == 1886
    assert len(music.target_names) == 9
    assert len(set(music.artists)) == 252
    in_jazz = music.artists[music.target == "jazz"]
    assert in_jazz[0] == "Artist0"
    assert len(set(in_jazz)) == 160


def test_differences_from_the_published_set_are_warned_of(dortmund):
    next((dortmund / "blues").iterdir()).unlink()
    for path in (dortmund / "pop").iterdir():
        path.unlink()
    (dortmund / "pop").rmdir()
    make(dortmund, "polka/a-b.wav")
    with pytest.warns(UserWarning, match="not the published Dortmund set") as caught:
        music = load_dortmund(dortmund)
    message = str(caught[0].message)
    assert "blues has 119 clips, expected 120; there is no folder pop; left out polka" in message
    assert "jazz" not in message
    assert "polka" not in music.target_names


def test_one_genre_is_no_collection_even_of_the_dortmund_set(tmp_path):
    make(tmp_path, "jazz/a-b.wav")
    with pytest.raises(ValueError, match="at least two with audio; found 'jazz'"):
        load_dortmund(tmp_path)


def test_another_folder_is_not_the_dortmund_set(tmp_path):
    make(tmp_path, "disco/a.wav", "metal/b.wav")
    with pytest.raises(ValueError, match="has none of the folders alternative, blues"):
        load_dortmund(tmp_path)
