"""Models of audio as files; without this distribution, loading one says what it needs."""

import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc import ECOCClassifier
from skecoc.cli import main
from skecoc.persistence import load_model, save_model
from skecoc_study.music import ModulationFeatures


@pytest.fixture
def clips():
    return [(np.random.default_rng(seed).normal(scale=0.1, size=300_000), 44100) for seed in range(6)]


@pytest.fixture
def saved(clips, tmp_path):
    model = make_pipeline(ModulationFeatures("mosc"), MinMaxScaler(), ECOCClassifier()).fit(clips, [*"abcabc"])
    save_model(model, tmp_path / "model.skops")
    return model, tmp_path / "model.skops"


def test_a_pipeline_from_audio_survives(clips, saved):
    model, path = saved
    np.testing.assert_array_equal(load_model(path).predict(clips), model.predict(clips))


def test_without_the_study_its_models_say_what_they_need(saved, tmp_path, monkeypatch, capsys):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "skecoc_study", None)
    monkeypatch.setattr("skecoc.persistence.registered_types", frozenset)
    assert main(["predict", str(saved[1]), str(tmp_path / "table.csv")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "pip install scikit-ecoc-study" in error
