"""The transformer: scikit-learn's rules, and what it says about clips."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from study.tests.music.conftest import play

from skecoc_study.music import AudioError, ModulationFeatures, feature_names
from skecoc_study.music.extraction import Extraction


class RowsAsSignals(ModulationFeatures):
    """Says that it takes a matrix, which scikit-learn's checks make: each row is a (very short) signal."""

    def __init__(self, feature="mosc", *, array_rate=44100):
        super().__init__(feature, array_rate=array_rate)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


@pytest.mark.filterwarnings("ignore:shorter than one texture window")
@pytest.mark.filterwarnings("ignore:Can't test estimator")
@parametrize_with_checks(
    [ModulationFeatures(), RowsAsSignals()],
    expected_failed_checks=lambda _: {"check_transformer_general": "clips need not be equally long"},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def genres(music_paths):
    return np.repeat(["drums", "organ"], len(music_paths) // 2)


def test_a_pipeline_tells_genres_apart(music_paths, genres):
    model = make_pipeline(ModulationFeatures("mosc"), StandardScaler(), KNeighborsClassifier(1))
    assert cross_val_score(model, music_paths, genres, cv=3).mean() == 1.0


def test_a_search_over_features(music_paths, genres, tmp_path):
    model = make_pipeline(ModulationFeatures(cache_dir=tmp_path), StandardScaler(), KNeighborsClassifier(1))
    search = GridSearchCV(model, {"modulationfeatures__feature": ["mmfcc", "mosc", "mnase", "all"]}, cv=2)
    search.fit(music_paths, genres)
    assert search.best_score_ == 1.0
    assert search.predict(music_paths[:1]) == ["drums"]


def test_pairs_can_be_cross_validated():
    clips = [(play(genre, seed), 44100) for genre in ("drums", "organ") for seed in range(3)]
    model = make_pipeline(ModulationFeatures("mnase"), StandardScaler(), KNeighborsClassifier(1))
    assert cross_val_score(model, clips, np.repeat([0, 1], 3), cv=3).mean() == 1.0


def test_frames_in_and_out(music_paths):
    frame = pd.DataFrame({"path": music_paths[:2], "year": [1999, 2003]}, index=["a", "b"])
    columns = ColumnTransformer([("music", ModulationFeatures("mosc"), ["path"]), ("rest", "passthrough", ["year"])])
    table = columns.set_output(transform="pandas").fit_transform(frame)
    assert table.shape == (2, 113)
    assert table.columns[0] == "music__mosc_valley_0hz_contrast_mean"
    alone = ModulationFeatures("mosc").set_output(transform="pandas").fit_transform(music_paths[:2])
    assert list(alone.columns) == feature_names("mosc", 44100)


def test_the_rate_is_chosen_once_and_kept():
    low, high = (np.zeros(8 * 22050), 22050), (np.zeros(8 * 48000), 48000)
    features = ModulationFeatures("mosc").fit([high])
    assert features.rate_ == 44100
    assert features.transform([low, high]).shape == (2, 112)
    assert features.fit([low, high]).rate_ == 22050
    assert features.transform([high]).shape == (1, 104)
    assert list(features.get_feature_names_out()) == feature_names("mosc", 22050)
    fixed = ModulationFeatures("mosc", rate=44100).fit([low])
    assert fixed.transform([low]).shape == (1, 112)


def test_nothing_is_read_to_choose_a_rate_that_is_given():
    assert ModulationFeatures(rate=22050).fit(["missing.wav"]).rate_ == 22050


def test_clones_and_parameters():
    features = ModulationFeatures("mnase", rate=22050, cache_dir="here", n_jobs=2, on_error="nan", array_rate=8000)
    assert clone(features).get_params() == features.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature": "mel"}, "'feature' parameter"),
        ({"rate": 48000}, "'rate' parameter"),
        ({"array_rate": 0}, "'array_rate' parameter"),
        ({"on_error": "skip"}, "'on_error' parameter"),
        ({"cache_dir": 3}, "'cache_dir' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ModulationFeatures(**parameters).fit([(np.zeros(10), 44100)])


def test_all_that_cannot_be_read_is_named_before_any_work(music_paths, bad_files, monkeypatch):
    sources = [music_paths[0], str(bad_files / "empty.mp3"), str(bad_files / "text.wav")]
    features = ModulationFeatures("mosc")
    with pytest.raises(AudioError, match=r"2 of 3 clips cannot be read: '.*empty.mp3' is empty; '.*text.wav' is text"):
        features.fit(sources)
    monkeypatch.setattr("skecoc_study.music.transformer.extract", lambda *args, **kwargs: pytest.fail("work was done"))
    with pytest.raises(AudioError, match=r"2 of 3 clips cannot be read"):
        features.fit(music_paths[:1]).transform(sources)


def test_what_only_reading_finds_is_named_too(music_paths, bad_files):
    features = ModulationFeatures("mosc").fit(music_paths[:1])
    with pytest.raises(AudioError, match=r"1 of 2 clips cannot be read: '.*not-finite.wav'"):
        features.transform([music_paths[0], str(bad_files / "not-finite.wav")])


def test_rows_of_nan_if_asked_for(music_paths, bad_files):
    sources = [music_paths[0], str(bad_files / "empty.mp3")]
    features = ModulationFeatures("mosc", on_error="nan").fit(sources)
    with pytest.warns(UserWarning, match=r"1 of 2 clips cannot be read: '.*empty.mp3' is empty"):
        values = features.transform(sources)
    assert np.isfinite(values[0]).all()
    assert np.isnan(values[1]).all()
    with pytest.raises(ValueError, match="at least one clip that can be read"):
        features.fit(sources[1:])


def test_short_clips_are_named(music_paths, tmp_path):
    features = ModulationFeatures("mosc", rate=44100).fit([])
    with pytest.warns(UserWarning, match=r"shorter than one texture window of 5.9 s.*: clip 1$"):
        features.transform([music_paths[0], (play("drums", 0, seconds=3.0), 44100)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features.transform(music_paths[:1])


def test_many_names_are_cut_short():
    features = ModulationFeatures("mosc", rate=44100).fit([])
    with pytest.raises(AudioError, match=r"12 of 12 clips cannot be read: 'missing0.wav'.* and 2 more$"):
        features.transform([f"missing{number}.wav" for number in range(12)])


def test_a_cache_that_cannot_be_written_is_said(music_paths, tmp_path):
    (tmp_path / "file").touch()
    features = ModulationFeatures("mosc", cache_dir=tmp_path / "file").fit(music_paths[:1])
    with pytest.warns(UserWarning, match="features could not be kept in the cache"):
        assert np.isfinite(features.transform(music_paths[:1])).all()


def test_progress_is_shown_only_if_asked_for(music_paths, capsys):
    ModulationFeatures("mosc").fit_transform(music_paths[:1])
    assert capsys.readouterr().err == ""
    ModulationFeatures("mosc", verbose=1).fit_transform(music_paths[:1])
    assert "1/1" in capsys.readouterr().err


def test_jobs_reach_the_extraction(music_paths, monkeypatch):
    received = {}

    def remember(clips, feature, rate, **options):
        received.update(options)
        return Extraction(np.zeros((1, 112)), {}, [], 0, None)

    monkeypatch.setattr("skecoc_study.music.transformer.extract", remember)
    ModulationFeatures("mosc", n_jobs=2).fit_transform(music_paths[:1])
    assert received["n_jobs"] == 2


def test_iterators_are_refused():
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        ModulationFeatures().fit_transform(path for path in ["a.wav"])
