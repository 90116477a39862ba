"""Results arrange runs, say what is missing, and come back from their files."""

import gzip
import hashlib
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from skecoc.benchmarking.protocol import Protocol
from skecoc.benchmarking.results import META_FILE, ROUNDS_FILE, RUNS_FILE, Results, in_order
from skecoc.paper.published import DATA_SETS, METHODS
from skecoc.support.errors import InputError
from tests.benchmarking.synthetic import WOLC, make_many, make_results, make_rounds, make_run


def test_settings_data_sets_and_methods_are_those_with_runs_in_the_papers_order():
    runs = [
        make_run("zoo", "lc-ecoc/hamming", 0, 0, 5),
        make_run("iris", WOLC, 0, 0, 5),
        make_run("dermatology", "one-vs-one/loss-weighted", 0, 0, 5),
        make_run("iris", "one-vs-one/hamming", 0, 0, 5, setting=("svm", "margins")),
    ]
    results = Results(runs, [], {})
    assert results.settings() == [("stumps", "labels"), ("svm", "margins")]
    assert results.data_sets("stumps", "labels") == ["dermatology", "iris", "zoo"]
    assert results.methods("stumps", "labels") == ["one-vs-one/loss-weighted", WOLC, "lc-ecoc/hamming"]
    assert results.methods("svm", "margins") == ["one-vs-one/hamming"]
    assert results.methods("svm", "labels") == results.data_sets("svm", "labels") == []


def test_values_have_a_place_for_every_run():
    results = make_results({"iris": {"one-vs-one/hamming": [[9, 8], [7, None]], WOLC: [[None, 5]]}})
    expected = [[[0.9, 0.8], [0.7, np.nan]], [[np.nan, 0.5], [np.nan, np.nan]]]
    np.testing.assert_array_equal(results.values("accuracy", "stumps", "labels", "iris"), expected)
    np.testing.assert_array_equal(results.values("accuracy", "stumps", "labels", "iris", [WOLC]), expected[1:])
    found = results.values("n_columns", "stumps", "labels", "iris", ["decoc/hamming", WOLC])
    assert np.isnan(found[0]).all()
    assert found[1, 0, 1] == 4


def test_the_number_of_folds_is_one_for_all_data_sets():
    results = make_results({"iris": {WOLC: [[5, 5, 5]]}, "wine": {WOLC: [[5]]}})
    assert results.values("accuracy", "stumps", "labels", "wine").shape == (1, 1, 3)


def test_planned_runs_are_missing_runs():
    protocol = Protocol(
        "mine", ("iris", "wine"), (("stumps", "labels"),), (WOLC,), 3, 2, fewer_repeats={("stumps", "wine"): 1}
    )
    meta = json.loads(json.dumps({"protocols": [protocol.to_dict()]}))
    results = make_results({"iris": {WOLC: [[5]]}, "wine": {WOLC: [[5]]}}, meta=meta)
    assert results.values("accuracy", "stumps", "labels", "iris").shape == (1, 3, 2)
    assert results.values("accuracy", "stumps", "labels", "wine").shape == (1, 1, 2)
    assert results.values("accuracy", "svm", "margins", "wine").shape == (0, 0, 2)


def test_a_run_given_twice_is_refused():
    run = make_run("iris", WOLC, 0, 0, 5)
    with pytest.raises(InputError, match="iris/0/0/stumps/labels/wolc/optimized-weight is given twice"):
        Results([run, replace(run, n_correct=6)], [], {})


def test_in_order():
    assert in_order(["x", "iris", "a", "dermatology", "x"], DATA_SETS) == ["dermatology", "iris", "a", "x"]


def test_files_bring_everything_back(tmp_path):
    results = make_many()
    rounded = replace(results.runs[0], fit_seconds=0.123456, predict_seconds=1e-7)
    results = Results([rounded, *results.runs[1:]], results.rounds, {"notes": ["Grüße"], "versions": [{"numpy": "2"}]})
    results.write(tmp_path / "deep" / "folder")
    again = Results.read(tmp_path / "deep" / "folder")
    kept = [replace(rounded, fit_seconds=0.123, predict_seconds=1e-7), *results.runs[1:]]
    assert sorted(again.runs, key=str) == sorted(kept, key=str)
    assert sorted(again.rounds, key=str) == sorted(results.rounds, key=str)
    assert again.meta == results.meta
    assert {type(value) for record in again.rounds for value in (record.kept,)} == {bool}


def test_the_same_results_give_the_same_bytes(tmp_path):
    results = make_many()
    results.write(tmp_path / "a")
    Results(results.runs[::-1], results.rounds[::-1], results.meta).write(tmp_path / "b")
    Results.read(tmp_path / "a").write(tmp_path / "c")
    for name in (RUNS_FILE, ROUNDS_FILE, META_FILE):
        contents = {(tmp_path / folder / name).read_bytes() for folder in "abc"}
        assert len(contents) == 1


def test_missing_losses_come_back_as_missing(tmp_path):
    rounds = [replace(make_rounds("iris")[0], objective=np.nan, risk=np.nan)]
    Results([], rounds, {}).write(tmp_path)
    (found,) = Results.read(tmp_path).rounds
    assert np.isnan([found.objective, found.risk]).all()
    assert found.loss == 0.25


def test_a_full_setting_is_small(tmp_path):
    """22,400 runs, a third of the paper's experiment: what they have in common costs next to nothing."""
    rng = np.random.default_rng(0)
    runs = []
    for data_set, method in product(DATA_SETS, METHODS):
        correct = rng.binomial(100, 0.8, size=(10, 10)).tolist()
        seconds = rng.gamma(5.0, 0.01, size=(10, 10)).tolist()
        runs += [
            make_run(data_set, method, repeat, fold, correct[repeat][fold], fit_seconds=seconds[repeat][fold])
            for repeat, fold in product(range(10), range(10))
        ]
    Results(runs, [], {}).write(tmp_path)
    assert len(runs) == 22_400
    assert (tmp_path / RUNS_FILE).stat().st_size < 200_000
    assert len(Results.read(tmp_path).runs) == len(runs)


@pytest.fixture
def folder(tmp_path):
    make_many().write(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [RUNS_FILE, ROUNDS_FILE, META_FILE])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"cannot read .*{name}': No such file"):
        Results.read(folder)


@pytest.mark.parametrize("name", [RUNS_FILE, ROUNDS_FILE])
@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b"PK" + b[2:], lambda b: b[:40] + b"xxxx" + b[44:], lambda b: b""]
)
def test_a_damaged_file_is_named(folder, name, damage):
    path = folder / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=f"{name}' is damaged"):
        Results.read(folder)


def test_a_file_of_other_results_is_named(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    make_results({"iris": {WOLC: [[5]]}}).write(other)
    (folder / RUNS_FILE).write_bytes((other / RUNS_FILE).read_bytes())
    with pytest.raises(InputError, match=f"{RUNS_FILE}' is damaged, or not of the same results"):
        Results.read(folder)


@pytest.mark.parametrize(
    "text", ["{", '"text"', "{}", '{"format": "skecoc results 99", "checksums": {}}', '{"format": "skecoc results 1"}']
)
def test_a_foreign_description_is_named(folder, text):
    (folder / META_FILE).write_text(text)
    with pytest.raises(InputError, match=f"{META_FILE}'"):
        Results.read(folder)


def test_unknown_columns_are_named(folder):
    content = gzip.decompress((folder / RUNS_FILE).read_bytes()).replace(b"n_columns", b"n_questions", 1)
    _replace_with_checksum(folder, RUNS_FILE, content)
    with pytest.raises(InputError, match=r"does not know: .*n_questions"):
        Results.read(folder)


def test_repeated_lines_are_refused(folder):
    content = gzip.decompress((folder / RUNS_FILE).read_bytes())
    _replace_with_checksum(folder, RUNS_FILE, content + content.splitlines(keepends=True)[-1])
    with pytest.raises(InputError, match="given twice"):
        Results.read(folder)


def test_a_plan_without_sense_is_refused(folder):
    meta = json.loads((folder / META_FILE).read_text())
    (folder / META_FILE).write_text(json.dumps({**meta, "protocols": [{"name": "mine"}]}))
    with pytest.raises(InputError, match=str(folder)):
        Results.read(folder)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot make the folder"):
        make_many().write(tmp_path / "file" / "folder")


def _replace_with_checksum(folder, name, content):
    """Change a file and its checksum, as somebody might who edits it by hand."""
    (folder / name).write_bytes(gzip.compress(content))
    meta = json.loads((folder / META_FILE).read_text())
    meta["checksums"][name] = hashlib.sha256(content).hexdigest()
    (folder / META_FILE).write_text(json.dumps(meta))
