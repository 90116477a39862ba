"""Results arrange runs, say what is missing, come back from their files, and compare what is comparable."""

import gzip
import hashlib
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from study.tests.runs.synthetic import FEW, WOLC, make_many, make_results, make_rounds, make_run

from skecoc.cli.plugins import InputError
from skecoc.compare.statistics import average_ranks, corrected_t_test, paired_t_test
from skecoc_study.paper.published import DATA_SETS, METHODS
from skecoc_study.runs.protocol import Protocol
from skecoc_study.runs.results import META_FILE, ROUNDS_FILE, RUNS_FILE, Results, summarize_setting

ONE, REST = "one-vs-one/hamming", "one-vs-rest/hamming"


def test_settings_data_sets_and_methods_are_those_with_runs_sorted_by_name():
    runs = [
        make_run("zoo", "lc-ecoc/hamming", 0, 0, 5),
        make_run("iris", WOLC, 0, 0, 5),
        make_run("dermatology", "one-vs-one/loss-weighted", 0, 0, 5),
        make_run("iris", "one-vs-one/hamming", 0, 0, 5, setting=("svm", "margins")),
    ]
    results = Results(runs, [], {})
    assert results.settings() == [("stumps", "labels"), ("svm", "margins")]
    assert results.data_sets("stumps", "labels") == ["dermatology", "iris", "zoo"]
    assert results.methods("stumps", "labels") == ["lc-ecoc/hamming", "one-vs-one/loss-weighted", WOLC]
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


def summarize(correct, methods=None, **changes):
    return summarize_setting(make_results(correct, **changes), "stumps", "labels", methods, control=WOLC)


def test_means_and_deviations_are_over_repeats():
    summary = summarize({"iris": {ONE: [[9, 7], [8, 10], [6, 4]], WOLC: [[9, 9], [9, 9], [9, 9]]}})
    assert summary.methods == [ONE, WOLC]
    np.testing.assert_allclose(summary.accuracy, [[(0.8 + 0.9 + 0.5) / 3, 0.9]])
    np.testing.assert_allclose(summary.accuracy_std, [[np.std([0.8, 0.9, 0.5], ddof=1), 0.0]], atol=1e-12)
    assert summary.n_repeats.tolist() == summary.planned_repeats.tolist() == [3]
    assert summary.n_folds == 2
    assert (summary.columns == 4).all()
    assert (summary.trained == 5).all()
    assert (summary.fit_seconds == 0.25).all()


def test_methods_without_runs_and_other_methods_are_listed():
    summary = summarize({"iris": {WOLC: [[5]], "lc-ecoc/hamming": [[5]]}})
    assert summary.methods == ["lc-ecoc/hamming", WOLC]
    assert summary.missing_methods == summary.other_methods == []
    chosen = summarize({"iris": {WOLC: [[5]], "lc-ecoc/hamming": [[5]]}}, ["lc-ecoc/hamming", "wolc-paper/x"])
    assert chosen.methods == ["lc-ecoc/hamming"]
    assert chosen.missing_methods == ["wolc-paper/x"]
    assert chosen.other_methods == [WOLC]


def test_only_repeats_that_all_methods_have_finished_count():
    summary = summarize({"iris": {ONE: [[9, 9], [1, 1], [5, 5]], WOLC: [[8, 8], [8, None], [6, 6]]}})
    np.testing.assert_allclose(summary.accuracy, [[0.7, 0.7]])
    assert summary.n_repeats.tolist() == [2]
    assert summary.planned_repeats.tolist() == [3]
    assert summary.n_runs.tolist() == [[6, 5]]


def test_a_data_set_without_a_common_repeat_is_shown_but_not_compared():
    correct = {
        "iris": {ONE: [[9, 9], [9, 9]], WOLC: [[5, 6], [5, 6]]},
        "wine": {ONE: [[9, None], [None, 6]], WOLC: [[5, 5], [5, 5]]},
    }
    summary = summarize(correct)
    assert summary.comparable.tolist() == [True, False]
    assert summary.ranked_data_sets == ["iris"]
    np.testing.assert_allclose(summary.accuracy[1], [0.75, 0.5])
    assert np.isnan(summary.accuracy_std[1]).all()
    assert summary.n_runs[1].tolist() == [2, 4]
    assert not summary.best[1].any()
    assert not summary.against_control[1].any()
    assert summary.ranks() == {ONE: 1.0, WOLC: 2.0}
    assert summary.scores().shape == (1, 2)


def test_a_method_that_has_not_reached_a_data_set_makes_it_not_comparable():
    summary = summarize({"iris": {ONE: [[9, 8]], WOLC: [[5, 6]]}, "wine": {ONE: [[9, 8]]}})
    assert summary.comparable.tolist() == [True, False]
    assert np.isnan(summary.accuracy[1, 1])


def test_planned_repeats_that_have_not_begun_are_missing():
    protocol = Protocol("mine", ("iris",), (("stumps", "labels"),), (ONE, WOLC), 10, 2)
    summary = summarize({"iris": {ONE: [[9, 8]], WOLC: [[5, 6]]}}, meta={"protocols": [protocol.to_dict()]})
    assert (summary.n_repeats[0], summary.planned_repeats[0]) == (1, 10)


def test_marks_are_those_of_the_t_tests():
    results = make_many()
    summary = summarize_setting(results, "stumps", "labels", control=WOLC)
    wolc = summary.methods.index(WOLC)
    for row, data_set in enumerate(summary.data_sets):
        runs = results.values("accuracy", "stumps", "labels", data_set)
        means = runs.mean(axis=2)
        best = means.mean(axis=1).argmax()
        for column in range(len(summary.methods)):
            assert summary.best[row, column] == (paired_t_test(means[column], means[best]).verdict >= 0)
            test = paired_t_test(means[column], means[wolc])
            assert summary.against_control[row, column] == test.verdict
            np.testing.assert_allclose(-summary.control_ahead[row, column], [test.difference, test.high, test.low])
            corrected = corrected_t_test(runs[column].ravel(), runs[wolc].ravel(), 1.0)
            assert summary.against_control_corrected[row, column] == corrected.verdict
    assert {*summary.against_control.ravel()} == {-1, 0}
    assert summary.best.any(axis=1).all()
    assert not summary.best.all()
    np.testing.assert_allclose(list(summary.ranks().values()), average_ranks(summary.accuracy))


def test_one_repeat_is_tested_over_its_folds():
    # Differences of the folds 0.4, 0.5, 0.4, 0.5: clear. Their one mean could not be tested.
    summary = summarize({"iris": {ONE: [[9, 9, 9, 9]], WOLC: [[5, 4, 5, 4]]}})
    assert summary.against_control.tolist() == [[1, 0]]
    assert summary.best.tolist() == [[True, False]]
    assert np.isnan(summary.accuracy_std).all()


def test_a_single_run_is_not_tested():
    summary = summarize({"iris": {ONE: [[9]], WOLC: [[5]]}})
    assert not summary.against_control.any()
    assert not summary.best.any()
    assert summary.ranks() == {ONE: 1.0, WOLC: 2.0}


def test_without_the_control_nothing_is_marked_against_it():
    summary = summarize({"iris": {ONE: [[9, 9], [8, 9]], REST: [[5, 5], [5, 5]]}})
    assert not summary.against_control.any()
    assert np.isnan(summary.control_ahead).all()
    assert summary.position(WOLC) is None


def test_data_sets_of_other_methods_only_are_left_out():
    correct = {"iris": {WOLC: [[5, 6]]}, "vehicle": {"wolc-paper/optimized-weight": [[5, 6]]}}
    assert summarize(correct, [WOLC]).data_sets == ["iris"]


def test_data_sets_have_the_order_asked_for():
    results = make_many()
    wanted = ["vehicle", "zoo", "dermatology"]
    summary = summarize_setting(results, "stumps", "labels", [WOLC], data_sets=wanted)
    assert summary.data_sets == ["vehicle", "dermatology"]
    with pytest.raises(ValueError, match="no runs of these methods"):
        summarize_setting(results, "stumps", "labels", [WOLC], data_sets=["zoo"])


def test_columns_are_averaged_over_the_same_repeats():
    runs = [
        make_run("iris", method, repeat, 0, 5, n_columns=3 + repeat)
        for method in FEW
        for repeat in range(3)
        if (method, repeat) != (WOLC, 2)
    ]
    summary = summarize_setting(Results(runs, [], {}), "stumps", "labels")
    np.testing.assert_allclose(summary.columns, [[3.5, 3.5, 3.5]])
    np.testing.assert_allclose(summary.columns_std, [[0.5**0.5] * 3])


def test_nothing_to_summarise_is_an_error():
    with pytest.raises(ValueError, match="no runs of these methods with learner 'svm' and response 'margins'"):
        summarize_setting(make_results({"iris": {WOLC: [[5]]}}), "svm", "margins")


def _replace_with_checksum(folder, name, content):
    """Change a file and its checksum, as somebody might who edits it by hand."""
    (folder / name).write_bytes(gzip.compress(content))
    meta = json.loads((folder / META_FILE).read_text())
    meta["checksums"][name] = hashlib.sha256(content).hexdigest()
    (folder / META_FILE).write_text(json.dumps(meta))
