"""The page of music results: its files are complete, and what its text says of the tables is true."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from study.scripts.game_music import PACKAGES

from skecoc.compare.statistics import corrected_t_test
from skecoc_study.music.methods import MIXED_FEATURES, MUSIC_METHODS, WOLC

ROOT = Path(__file__).resolve().parents[3]
FEATURES = ("mmfcc", "mosc", "mnase")
ONE_VS_ONE, ONE_VS_REST, DECOC, ECOC_ONE, _ = MUSIC_METHODS


@pytest.fixture
def music(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "study" / "scripts"))
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("_music")


def significant(music, name, feature, method=WOLC):
    """Methods that differ significantly from another one, and the sign of the difference."""
    rivals = [rival for rival in music.methods_of(name, feature) if rival != method]
    verdicts = {rival: music.contest(name, feature, method, rival).verdict for rival in rivals}
    return {rival: verdict for rival, verdict in verdicts.items() if verdict}


@pytest.mark.parametrize("name", ["by_track", "boosted_stumps_by_track", "split_freely"])
def test_every_run_has_all_clips_in_ten_folds(music, name):
    runs = [(feature, method) for feature in FEATURES for method in MUSIC_METHODS]
    for feature, method in [*runs, ("all", MIXED_FEATURES)]:
        clips = music.values_of(name, feature, method, "clips")
        assert (len(clips), clips.sum()) == (10, 2044)


def test_the_dortmund_set_has_all_clips(music):
    (feature,) = {row["feature"] for row in music.rows_of("dortmund_features")}
    for method in MUSIC_METHODS:
        clips = music.values_of("dortmund_features", feature, method, "clips")
        assert (len(clips), clips.sum()) == (10, 1856)


def test_soundtracks_are_those_of_the_script(music):
    rows = music.rows_of("soundtracks")
    assert {row["soundtrack"]: row["package"] for row in rows} == PACKAGES
    assert sum(int(row["clips"]) for row in rows) == 2044


def test_text_on_soundtracks(music):
    found = {feature: significant(music, "by_track", feature) for feature in FEATURES}
    assert found == {"mmfcc": {DECOC: 1}, "mosc": {DECOC: 1}, "mnase": {ONE_VS_REST: 1}}
    assert set(music.means("by_track").argmax(axis=0)) == {FEATURES.index("mosc")}


def test_text_on_boosted_stumps(music):
    name = "boosted_stumps_by_track"
    for feature in FEATURES:
        assert significant(music, name, feature) == dict.fromkeys((ONE_VS_REST, DECOC, ECOC_ONE), 1)
    assert set(music.means(name).argmax(axis=1)) == {MUSIC_METHODS.index(WOLC)}
    assert np.all(music.means(name, "columns")[:, -1] > 3 * 36)  # "several times the length of one-vs-one"
    assert np.all(music.means(name) < music.means("by_track"))


def test_text_on_clips_split_freely(music):
    found = {feature: significant(music, "split_freely", feature) for feature in FEATURES}
    assert [feature for feature in FEATURES if ONE_VS_ONE in found[feature]] == ["mmfcc", "mnase"]
    assert set(music.means("split_freely").argmax(axis=1)) == {MUSIC_METHODS.index(WOLC)}


def test_text_on_the_dortmund_set(music):
    name = "dortmund_features"
    (feature,) = {row["feature"] for row in music.rows_of(name)}
    assert significant(music, name, feature) == dict.fromkeys((ONE_VS_REST, DECOC, ECOC_ONE), 1)
    accuracies = {method: music.values_of(name, feature, method).mean() for method in music.methods_of(name, feature)}
    assert max(accuracies, key=accuracies.get) == WOLC
    assert np.all(music.values_of(name, feature, WOLC, "columns") == 45)


def test_text_on_all_features(music):
    assert significant(music, "all_features_by_track", "all", MIXED_FEATURES) == {}
    assert significant(music, "all_features_by_track", "all", WOLC) == {}
    for method in (WOLC, MIXED_FEATURES):
        together = music.values_of("all_features_by_track", "all", method)
        single = [music.values_of("by_track", feature, rival) for feature in FEATURES for rival in MUSIC_METHODS]
        assert all(corrected_t_test(together, values, test_share=1 / 9).verdict == 1 for values in single)


def test_text_on_growth(music):
    folds = music.growth_folds()
    assert [sum(row["kept"] == "True" for row in rows) for rows in folds] == [1] * 10
    assert {int(rows[0]["columns"]) for rows in folds} == {45}
    paper = music.values_of("paper_settings_by_track", "mnase", "wolc-paper/optimized-weight", "columns")
    assert np.all(paper == 9)
