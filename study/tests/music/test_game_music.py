"""The script that cuts soundtracks into clips, without the network: packages are folders made here."""

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from study.scripts import game_music

from skecoc_study.music import load_audio_folder


def write(path, seconds, rate=8000):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.random.default_rng(0).normal(size=int(seconds * rate)), rate)


@pytest.fixture
def unpacked(tmp_path):
    """Two packages, with music, jingles, and sounds that are no music."""
    wesnoth = tmp_path / "unpacked" / "wesnoth-1.16-music" / "usr" / "share" / "wesnoth" / "music"
    write(wesnoth / "battle.ogg", 45)
    write(wesnoth / "towns" / "battle.ogg", 31)
    write(wesnoth / "victory.ogg", 5)
    write(wesnoth.parent / "sounds" / "wind.wav", 60)
    (wesnoth / "readme.txt").write_text("hello")
    (wesnoth / "link.ogg").symlink_to(wesnoth / "battle.ogg")
    write(tmp_path / "unpacked" / "hedgewars-data" / "Data" / "Music" / "hogs@home.flac", 200)
    return tmp_path


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["game_music.py", *map(str, arguments)])
    return game_music.main()


def test_tracks_become_clips_that_know_their_track(unpacked, monkeypatch, capsys):
    packages = ["--packages", "wesnoth-1.16-music", "hedgewars-data"]
    assert run(monkeypatch, unpacked, *packages) == 0
    assert capsys.readouterr().out == "hedgewars: 1 tracks, 10 clips\nwesnoth: 2 tracks, 7 clips\n"
    music = load_audio_folder(unpacked / "clips")
    assert sorted(set(music.tracks)) == ["hedgewars/hogs_home", "wesnoth/battle", "wesnoth/towns_battle"]
    assert music.target.tolist() == ["hedgewars"] * 10 + ["wesnoth"] * 7
    assert {soundfile.info(path).frames for path in music.data} == {80000}
    battle = sorted(int(Path(path).stem.split("@")[1]) for path in music.data[music.tracks == "wesnoth/battle"])
    assert battle == [0, 11, 23, 35]


def test_a_second_run_changes_nothing(unpacked, monkeypatch):
    arguments = [unpacked, "--packages", "wesnoth-1.16-music", "--clips", "2"]
    assert run(monkeypatch, *arguments) == 0
    before = {path: path.stat().st_mtime_ns for path in (unpacked / "clips").rglob("*.flac")}
    assert len(before) == 4
    assert run(monkeypatch, *arguments) == 0
    assert {path: path.stat().st_mtime_ns for path in (unpacked / "clips").rglob("*") if path.is_file()} == before


def test_unknown_packages_are_refused(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, tmp_path, "--packages", "nothing")
    assert caught.value.code == 2
    assert "unknown packages: nothing; expected some of colobot-common-sounds" in capsys.readouterr().err


def test_a_download_that_fails_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(monkeypatch, tmp_path, "--packages", "singularity-music") == 1
    assert "singularity-music: " in capsys.readouterr().err
