"""Which classifier to use: what benchmarks/choosing.py stores and scripts/_choosing.py makes of it."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("choosing")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("_choosing")


def run(family, samples, classes, method, accuracy, fit, log_loss=0.5):
    """Make a result as the benchmark stores it."""
    head = {"family": family, "samples": samples, "classes": classes, "method": method}
    return head | {"accuracy": accuracy, "log_loss": log_loss, "fit": fit, "predict": fit / 10}


@pytest.fixture
def stored(tmp_path):
    """Write a file of two cells and a bit of text; mixed is ahead in the first and was skipped in the second."""
    runs = [
        run("one", 300, 3, "mixed", 90.0, 4.0, 0.25),
        run("one", 300, 3, "RandomForest", 88.0, 0.5),
        run("one", 300, 3, "WOLC stumps", 85.0, 0.25),
        run("one", 300, 3, "one-vs-one stumps", 80.0, 0.01),
        run("one", 300, 3, "HistGradientBoosting", 86.0, 1.0),
        run("one", 300, 3, "LogisticRegression", 70.0, 0.01),
        run("one", 300, 3, "SVC", 89.0, 0.01, None),
        {"family": "one", "samples": 1000, "classes": 3, "method": "mixed", "skipped": 70.5},
        run("one", 1000, 3, "RandomForest", 88.2, 1.0),
        run("one", 1000, 3, "SVC", 88.5, 0.04, None),
        run("text", 1000, 10, "RandomForest", 60.0, 2.0),
        run("text", 1000, 10, "LogisticRegression", 80.0, 0.2),
    ]
    settings = {"limit": 60.0, "test_samples": 5000, "samples_per_class": 10}
    path = tmp_path / "choosing.json"
    path.write_text(json.dumps({"settings": settings, "versions": {"numpy": "2.0"}, "runs": runs}), encoding="utf-8")
    return path


def test_blocks_of_a_small_file(script, stored):
    made = {name: make() for name, make in script.choosing_blocks(stored).items() if not name.endswith("-two")}
    assert "| 300 | 3 | **90.0** | 85.0 | 80.0 | 88.0 | 86.0 | 89.0 | 70.0 |" in made["choosing-accuracy-one"]
    assert "| 300 | 3 | **0.25** | 0.50 | 0.50 | 0.50 | 0.50 | - | 0.50 |" in made["choosing-log_loss-one"]
    assert "| 300 | 3 | 8.00 | 0.50 | 0.02 | 1.00 | 2.00 | 0.02 | 0.02 | 0.50 |" in made["choosing-fit-one"]
    assert "| 1,000 | 3 | - | - | - | 1.00 | - | 0.04 | - | 1.00 |" in made["choosing-fit-one"]
    assert "| 300 | mixed |" in made["choosing-best"]
    assert "| 1,000 | SVC, RandomForest (mixed skipped) |" in made["choosing-best"]
    assert "measured in 1 cells" in made["choosing-leaders"]
    assert "by more than half a point of accuracy in 1, level in 0 and behind in 0." in made["choosing-leaders"]
    assert "it gains +2.0 points over RandomForest, +4.0 points over HistGradientBoosting" in made["choosing-leaders"]
    assert "- WOLC stumps: -3.0 points of accuracy against RandomForest" in made["choosing-within"]
    assert "- mixed: 1,000 samples of 3 classes (one cluster per class)." in made["choosing-skipped"]
    assert "| LogisticRegression | 1,000 | 80.0 | 0.50 | 0.10 | 0.10 |" in made["choosing-text"]
    assert script.choosing_blocks(stored.with_name("missing.json")) == {}


def test_fewer_samples_are_the_first_of_more_and_the_test_part_is_the_same(benchmark):
    (few, y_few), (test, _) = benchmark.make_samples("two", 300, 3)
    (more, y_more), (other, _) = benchmark.make_samples("two", 1_000, 3)
    np.testing.assert_array_equal(few, more[:300])
    np.testing.assert_array_equal(y_few, y_more[:300])
    np.testing.assert_array_equal(test, other)
    assert not {tuple(row) for row in more} & {tuple(row) for row in test}


def test_text_is_sparse_and_its_rows_have_length_one(benchmark):
    X, y = benchmark.make_text(30, 3)
    assert issparse(X)
    assert set(y) <= {0, 1, 2}
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)


def test_a_fit_that_would_take_too_long_is_skipped_and_what_is_stored_is_not_measured_again(
    benchmark, tmp_path, monkeypatch
):
    methods = {"RandomForest": DummyClassifier, "SVC": LinearSVC, "mixed": LogisticRegression}
    monkeypatch.setattr(benchmark, "METHODS", methods)
    store = benchmark.Store(tmp_path / "choosing.json")
    store.run("one", 300, 3)
    assert store.runs["one", 300, 3, "SVC"]["log_loss"] is None
    assert store.runs["one", 300, 3, "mixed"]["log_loss"] > 0
    store.runs["one", 300, 3, "mixed"]["fit"] = 30.0
    assert store.expected_seconds(("one", 1_200, 3, "mixed")) == pytest.approx(60.0)
    assert store.expected_seconds(("one", 30_000, 3, "mixed")) == pytest.approx(100.0)  # with fewer folds
    store.runs["one", 300, 3, "SVC"]["fit"] = 5.0
    assert store.expected_seconds(("one", 900, 3, "SVC")) == pytest.approx(45.0)
    store.runs["one", 300, 3, "SVC"]["fit"] = 0.1
    store.run("one", 1_500, 3)
    assert store.runs["one", 1_500, 3, "mixed"] == {"skipped": 67.1}
    again = benchmark.Store(tmp_path / "choosing.json")
    assert again.runs == store.runs
    monkeypatch.setattr(benchmark, "measured", None)
    again.run("one", 1_500, 3)
    assert again.runs == store.runs


def test_cells_have_enough_samples_per_class(benchmark):
    found = benchmark.cells(["one", "text"], [300, 1_000], [3, 100])
    assert found == [("one", 300, 3), ("one", 1_000, 3), ("text", 1_000, 10), ("one", 1_000, 100), ("text", 5_000, 10)]
