"""A summary compares what is comparable, and says what is not."""

import numpy as np
import pytest

from skecoc.benchmarking.protocol import Protocol
from skecoc.benchmarking.results import Results
from skecoc.benchmarking.statistics import average_ranks, corrected_t_test, paired_t_test
from skecoc.benchmarking.summary import summarize_setting
from skecoc.paper.published import METHODS
from tests.benchmarking.synthetic import FEW, WOLC, make_many, make_results, make_run

ONE, REST = "one-vs-one/hamming", "one-vs-rest/hamming"


def summarize(correct, methods=None, **changes):
    return summarize_setting(make_results(correct, **changes), "stumps", "labels", methods)


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
    assert summary.missing_methods == [method for method in METHODS if method != WOLC]
    assert summary.other_methods == ["lc-ecoc/hamming"]
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
    assert not summary.against_wolc[1].any()
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
    summary = summarize_setting(results, "stumps", "labels")
    wolc = summary.methods.index(WOLC)
    for row, data_set in enumerate(summary.data_sets):
        runs = results.values("accuracy", "stumps", "labels", data_set)
        means = runs.mean(axis=2)
        best = means.mean(axis=1).argmax()
        for column in range(len(summary.methods)):
            assert summary.best[row, column] == (paired_t_test(means[column], means[best]).verdict >= 0)
            test = paired_t_test(means[column], means[wolc])
            assert summary.against_wolc[row, column] == test.verdict
            np.testing.assert_allclose(-summary.wolc_ahead[row, column], [test.difference, test.high, test.low])
            corrected = corrected_t_test(runs[column].ravel(), runs[wolc].ravel(), 1.0)
            assert summary.against_wolc_corrected[row, column] == corrected.verdict
    assert {*summary.against_wolc.ravel()} == {-1, 0}
    assert summary.best.any(axis=1).all()
    assert not summary.best.all()
    np.testing.assert_allclose(list(summary.ranks().values()), average_ranks(summary.accuracy))


def test_one_repeat_is_tested_over_its_folds():
    # Differences of the folds 0.4, 0.5, 0.4, 0.5: clear. Their one mean could not be tested.
    summary = summarize({"iris": {ONE: [[9, 9, 9, 9]], WOLC: [[5, 4, 5, 4]]}})
    assert summary.against_wolc.tolist() == [[1, 0]]
    assert summary.best.tolist() == [[True, False]]
    assert np.isnan(summary.accuracy_std).all()


def test_a_single_run_is_not_tested():
    summary = summarize({"iris": {ONE: [[9]], WOLC: [[5]]}})
    assert not summary.against_wolc.any()
    assert not summary.best.any()
    assert summary.ranks() == {ONE: 1.0, WOLC: 2.0}


def test_without_wolc_nothing_is_marked_against_it():
    summary = summarize({"iris": {ONE: [[9, 9], [8, 9]], REST: [[5, 5], [5, 5]]}})
    assert not summary.against_wolc.any()
    assert np.isnan(summary.wolc_ahead).all()
    assert summary.position(WOLC) is None


def test_data_sets_of_other_methods_only_are_left_out():
    summary = summarize({"iris": {WOLC: [[5, 6]]}, "vehicle": {"wolc-paper/optimized-weight": [[5, 6]]}})
    assert summary.data_sets == ["iris"]


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
