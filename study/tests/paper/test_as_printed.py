"""The algorithm as printed: variants of study/benchmarks/as_printed.py, and their blocks in study/docs/paper.md."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from skecoc.coding import one_vs_rest
from skecoc.datasets import load_uci
from skecoc_study.paper.published import DATA_SETS

STUDY = Path(__file__).resolve().parents[2]
ROOT = STUDY.parent


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(STUDY / "benchmarks"))
    return importlib.import_module("as_printed")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.syspath_prepend(str(STUDY / "scripts"))
    return importlib.import_module("_as_printed")


def risk(scores, y):
    """Eq. 7 of the paper."""
    return np.maximum(0.0, scores - np.take_along_axis(scores, y[:, None], axis=1)).max(axis=1).sum()


def outputs_with_one_perfect_column(seed=0):
    """Codewords of four classes: the first column is right, the others err for a third of the samples."""
    matrix, y = one_vs_rest(4), np.repeat(np.arange(4), 25)
    codewords = matrix[y].astype(float)
    wrong = np.random.RandomState(seed).uniform(size=codewords.shape) < 1 / 3
    wrong[:, 0] = False
    return np.where(wrong, -codewords, codewords), y, matrix


def test_boosting_ends_without_training_errors(benchmark):
    X, y = load_uci("wine", return_X_y=True)
    is_first = (y == np.unique(y)[0]).astype(int)
    model = benchmark.LibraryAdaBoost().fit(X, is_first)
    assert len(model.stumps_) < 40
    assert (model.predict(X) == is_first).all()


def test_thresholds_may_fall_among_equal_values(benchmark):
    X = np.array([[0.0], [1.0], [1.0], [1.0], [2.0]])
    y = np.array([1, 1, 1, 0, 0])
    model = benchmark.LibraryAdaBoost(1).fit(X, y)
    assert model.stumps_[0][1] == 1.0  # between the last positive and the first negative value, which are equal
    assert model.predict(X).tolist() == [1, 0, 0, 0, 0]


def test_outputs_of_zero_and_one_need_no_more_than_a_column_without_false_alarms(benchmark):
    codewords, y, matrix = outputs_with_one_perfect_column()
    codewords[:20, 0] = -1.0  # most samples of its class are missed
    decoder = benchmark.ZeroOneDecoder(0.0, l2=0.0).fit(codewords, y, matrix)
    assert risk(decoder.untied_scores(codewords), y) < 1e-6
    exact = benchmark.OptimizedWeightDecoder(0.0, l2=0.0).fit(codewords, y, matrix)
    assert exact.certificate_.risk > 1e-3


def test_cutting_planes_come_near_the_minimum(benchmark):
    codewords, y, matrix = outputs_with_one_perfect_column()
    decoder = benchmark.CuttingPlaneDecoder().fit(codewords, y, matrix)
    np.testing.assert_allclose(decoder.weights_.sum(axis=1), 1.0)
    assert (decoder.weights_ >= 0).all()
    equal = codewords @ matrix.T / 4
    assert risk(equal, y) > 1.0
    assert risk(decoder.untied_scores(codewords), y) < 1e-4


def test_samples_that_equal_weights_decode_need_no_cut(benchmark):
    matrix, y = one_vs_rest(3), np.repeat(np.arange(3), 5)
    decoder = benchmark.CuttingPlaneDecoder().fit(matrix[y].astype(float), y, matrix)
    assert (decoder.weights_ == 1 / 3).all()


def test_runs_are_taken_up_again(benchmark, tmp_path, monkeypatch, capsys):
    path = tmp_path / "kept.json"
    arguments = ["as_printed", "--sets", "iris", "--variants", "printed", "cutting-planes", "--folds", "2"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--out", str(path)])
    benchmark.main()
    assert len(capsys.readouterr().out.splitlines()) == 2
    row = json.loads(path.read_text())["found"]["printed"]["iris"]
    assert row["columns"] == row["classes"] == 3
    assert row["returned_at_once"] == row["folds"] == 2
    benchmark.main()
    assert capsys.readouterr().out == ""


def test_blocks_set_variants_beside_the_paper(script, tmp_path, monkeypatch):
    def row(columns, rounds):
        reasons = {"the loss reached its target": 7, "max_iter rounds were made": 3}
        numbers = {"accuracy": 80.0, "columns": columns, "rounds": rounds, "perfect": 1.0}
        once = 10 if rounds == 1 else 0
        return {"classes": 3, "folds": 10, "returned_at_once": once, "reasons": reasons, **numbers}

    found = {
        "printed": {name: row(3.0, 1) for name in DATA_SETS},
        "margin": {name: row(script.published(name)[1], 4) for name in DATA_SETS},
    }
    path = tmp_path / "as_printed.json"
    path.write_text(json.dumps({"found": found}))
    monkeypatch.setattr(script, "STORED", path)
    fixed = {(name, f"one-vs-{other}/loss-weighted"): 70.0 for name in DATA_SETS for other in ("one", "rest")}
    monkeypatch.setattr(script, "table2", lambda: fixed)
    script.stored.cache_clear()
    made = {name: make() for name, make in script.as_printed_blocks().items()}
    script.stored.cache_clear()
    assert "| iris | 3 | 80.0 | 70.0 | 70.0 | 96.0 | 3.0 | 7.0 | 1.0 | 10 of 10 | zero risk (7)" in made["as-printed"]
    assert "On 14 of 14 sets" in made["as-printed-summary"]
    assert "| *sets that never grow* |  | 2 | 14 | 0 |" in made["as-printed-lengths"]
    assert [line.rsplit(" | ", 2)[-2:] for line in made["as-printed-lengths"].splitlines()[-3:-1]] == [
        ["3.65", "1.00 |"],
        ["-", "1.00 |"],
    ]
    assert "| glass | 214 | 9 | 7 | 214 | 9 | 6 | differs |" in made["table1"]
