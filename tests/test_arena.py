"""The comparison with ordinary classifiers: what benchmarks/arena.py stores and scripts/_arena.py makes of it."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from skecoc.learners import StumpAdaBoostClassifier

ROOT = Path(__file__).resolve().parent.parent
SETS = ("iris", "wine", "zoo", "3x3")
# Accuracy by set; log-loss and times follow from it.
ACCURACY = {
    "mixed": (90.0, 80.0, 70.0, 60.0),
    "RandomForest": (95.0, 80.0, 60.0, 50.0),
    "SVC": (80.0, 70.0, 50.0, 40.0),
    "Stacking": (90.5, 79.5, 60.5, 50.5),
}


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("arena")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("_arena")


def stored(path, methods, *, missing=()):
    """Write a file as the benchmark does; `missing` are pairs of set and method."""
    runs = [
        {"set": name, "repeat": 0, "fold": fold, "method": method, "accuracy": ACCURACY[method][k] + fold - 1}
        | {"log_loss": 2 - ACCURACY[method][k] / 100, "fit": 2.0 if method == "mixed" else 1.0, "predict": 0.5}
        for k, name in enumerate(SETS)
        for fold in range(3)
        for method in methods
        if (name, method) not in missing
    ]
    kept = {
        "settings": {"folds": 3, "max_rows": 2500, "inner_folds": 5},
        "versions": {"scikit-learn": "1.9.1"},
        "sets": {name: {"rows": 100, "features": 4, "classes": 3} for name in SETS},
        "runs": runs,
    }
    path.write_text(json.dumps(kept), encoding="utf-8")
    return path


def test_page_of_a_small_file(script, tmp_path):
    arena = script.read_arena(stored(tmp_path / "arena.json", ACCURACY))
    text = script.page(arena)
    assert "| iris | 100 | 3 | 90.0 | **95.0** | 80.0 | 90.5 |" in text
    assert "| wine | 100 | 3 | **80.0** | **80.0** | 70.0 | 79.5 |" in text
    assert "| mean, 4 sets |  |  | 75.0 | 71.2 | 60.0 | 70.2 |" in text
    # Ranks of mixed: 3, 1.5, 1 and 1.
    assert "mixed has the best average rank, 1.62 among 4 methods on 4 sets" in text
    assert "behind the best other method of the set by more than one point of accuracy on 1 of 4 sets" in text
    assert "iris (-5.0, RandomForest)" in text
    assert "ahead of all others by more than one point on 2." in text
    assert "- RandomForest: 1 (iris -5.0)." in text
    assert "- SVC: 0." in text
    assert "| RandomForest | +3.75 | 2/1/1 | 2/1 |" in text
    assert "2.00 times as long in `fit` and 1.00 times as long in `predict` as RandomForest" in text
    assert "**Left out**" not in text


def test_differences_are_called_significant_only_if_they_are(script, tmp_path):
    arena = script.read_arena(stored(tmp_path / "arena.json", ACCURACY))
    few = script.verdicts(arena, "accuracy")
    assert "significantly more accurate than: none; significantly less accurate than: none" in few
    # RandomForest: signed ranks of 60 against 18, p = 0.09. SVC: all differences have one sign.
    values = np.repeat(arena.values[:, :3], 3, axis=0)
    many = script.Arena(arena.methods[:3], {str(k): {} for k in range(12)}, values, [], 1, {}, {})
    for measure, words in {"accuracy": "more accurate", "log_loss": "lower in log-loss"}.items():
        text = script.verdicts(many, measure)
        assert f"mixed is significantly {words} than: SVC; " in text
        assert "not significantly different from: RandomForest (" in text
    turned = script.Arena(["mixed", "SVC"], many.sets, values[:, [2, 0]], [], 1, {}, {})
    assert "significantly less accurate than: SVC; " in script.verdicts(turned, "accuracy")
    assert "significantly higher in log-loss than: SVC; " in script.verdicts(turned, "log_loss")


def test_page_without_mixed_and_with_a_set_that_is_not_done(script, tmp_path):
    path = stored(tmp_path / "arena.json", ["RandomForest", "SVC"], missing={("zoo", "SVC")})
    text = script.page(script.read_arena(path))
    assert "**Left out**, since not all methods have been measured there: zoo." in text
    assert "| zoo |" not in text
    assert "RandomForest against each other method over the sets" in text


def test_page_of_unknown_methods_or_without_a_whole_set_is_an_error(script, tmp_path):
    path = stored(tmp_path / "arena.json", ["SVC"])
    path.write_text(path.read_text().replace('"SVC"', '"Other"'))
    with pytest.raises(ValueError, match="does not know: Other"):
        script.read_arena(path)
    missing = {(name, "SVC") for name in SETS[:2]} | {(name, "mixed") for name in SETS[2:]}
    with pytest.raises(ValueError, match="no set"):
        script.read_arena(stored(path, ["SVC", "mixed"], missing=missing))


def test_figures_are_the_same_every_time(script, tmp_path):
    path = stored(tmp_path / "arena.json", ACCURACY)
    first, second = (dict(script.arena_files(path, with_drawings=True)) for _ in range(2))
    assert first == second
    names = [made.as_posix() for made in first]
    assert names == ["arena.md", "figures/arena-accuracy.svg", "figures/arena-log-loss.svg"]
    assert list(dict(script.arena_files(path, with_drawings=False))) == [Path("arena.md")]
    assert list(script.arena_files(tmp_path / "missing.json", with_drawings=True)) == []


def test_page_knows_the_methods_and_measures_of_the_benchmark(script, benchmark):
    assert list(script.METHODS) == list(benchmark.METHODS)
    assert script.MEASURES == benchmark.MEASURES
    assert script.SYNTHETIC == benchmark.SYNTHETIC


def test_a_run_is_taken_up_again_and_files_are_joined(benchmark, tmp_path, monkeypatch):
    calls = []

    def measured(method, fold):
        calls.append(method)
        return dict.fromkeys(benchmark.MEASURES, float(len(calls)))

    monkeypatch.setattr(benchmark, "measured", measured)
    about = {"rows": 100, "features": 4, "classes": 3}
    first = benchmark.Store(tmp_path / "first.json")
    first.sets["iris"] = about
    first.run("iris", 1, ["SVC"])
    assert calls == ["SVC"] * 3
    again = benchmark.Store(first.path)
    again.read(first.path)
    again.run("iris", 2, ["SVC", "RandomForest"])
    assert sorted(calls[3:]) == ["RandomForest"] * 6 + ["SVC"] * 3
    other = benchmark.Store(tmp_path / "other.json")
    other.sets["wine"] = about
    other.run("wine", 1, ["SVC"])
    joined = benchmark.Store(tmp_path / "joined.json")
    for path in (first.path, other.path):
        joined.read(path)
    joined.write()
    kept = json.loads(joined.path.read_text())
    assert len(kept["runs"]) == 15
    assert set(kept["sets"]) == {"iris", "wine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.json", "joined.json", "other.json"]


def test_files_of_other_settings_are_not_joined(benchmark, tmp_path):
    path = stored(tmp_path / "arena.json", ["SVC"])
    path.write_text(path.read_text().replace('"folds": 3', '"folds": 10'))
    with pytest.raises(ValueError, match="was made with"):
        benchmark.Store(path).read(path)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("n_rare", [0, 1, 2])
def test_calibration_keeps_predictions_and_copes_with_rare_classes(benchmark, n_rare):
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:100, 100 : 100 + n_rare]
    model = benchmark.Calibrated(SVC(C=100)).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.predict(X), SVC(C=100).fit(X[rows], y[rows]).predict(X))
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (150, 2 + (n_rare > 0))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert log_loss(y[:100], probabilities[:100], labels=model.classes_) < 0.5


def test_a_class_that_training_lacks_counts_as_clipped(benchmark, monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setitem(benchmark.METHODS, "SVC", lambda: LogisticRegression(max_iter=1000))
    found = benchmark.measured("SVC", (X[:100], y[:100], X[90:110], y[90:110]))
    assert found["accuracy"] == 50.0
    assert found["log_loss"] == pytest.approx(18, abs=0.2)


def test_members_of_mixed_become_ordinary_classifiers(benchmark):
    class MulticlassLearner:
        estimator = SVC()

    X, y = load_iris(return_X_y=True)
    assert isinstance(benchmark.ordinary(LogisticRegression()), LogisticRegression)
    assert isinstance(benchmark.ordinary(MulticlassLearner()), benchmark.Calibrated)
    for learner in (StumpAdaBoostClassifier(), MulticlassLearner(), LogisticRegression(max_iter=1000)):
        assert benchmark.ordinary(learner).fit(X, y).predict_proba(X).shape == (150, 3)
