import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import t as student
from scipy.stats import ttest_rel

from skecoc.benchmarking.statistics import (
    average_ranks,
    best_per_row,
    corrected_t_test,
    paired_t_test,
    paired_values,
    ranks,
    repeat_summary,
)
from tests.reference import compare as reference

tables = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
)


def test_worked_example_with_ties():
    scores = [[0.9, 0.8, 0.8, 0.1], [0.5, 0.5, 0.5, 0.5], [0.1, 0.2, 0.3, 0.4]]
    assert ranks(scores).tolist() == [[1, 2.5, 2.5, 4], [2.5] * 4, [4, 3, 2, 1]]
    assert average_ranks(scores).tolist() == [2.5, 8 / 3, 7 / 3, 2.5]


@given(tables)
def test_average_ranks_equal_the_plain_definition(scores):
    np.testing.assert_allclose(average_ranks(scores), reference.average_ranks(scores.tolist()))


@given(tables, st.randoms())
def test_ranks_follow_their_methods(scores, random):
    order = random.sample(range(scores.shape[1]), scores.shape[1])
    np.testing.assert_array_equal(ranks(scores[:, order]), ranks(scores)[:, order])


@given(tables)
def test_average_ranks_sum_is_fixed(scores):
    n_methods = scores.shape[1]
    assert average_ranks(scores).sum() == pytest.approx(n_methods * (n_methods + 1) / 2)


def test_a_different_order_of_summation_is_a_tie():
    first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert first != second
    assert ranks([[first, second]]).tolist() == [[1.5, 1.5]]
    assert best_per_row([[first, second]]).tolist() == [[True, True]]


def test_best_is_judged_at_the_decimals_given():
    scores = [[91.24, 91.18, 91.26]]
    assert best_per_row(scores, decimals=2).tolist() == [[False, False, True]]
    assert best_per_row(scores, decimals=1).tolist() == [[False, False, True]]
    assert best_per_row(scores, decimals=0).tolist() == [[True, True, True]]


@given(tables)
def test_every_row_has_a_best_with_the_top_rank(scores):
    best = best_per_row(scores)
    assert best.any(axis=1).all()
    assert (best == (ranks(scores) == ranks(scores).min(axis=1, keepdims=True))).all()


@pytest.mark.parametrize("function", [ranks, average_ranks, best_per_row])
@pytest.mark.parametrize("scores", [[0.1, 0.2], np.empty((0, 3)), np.empty((3, 0)), np.zeros((1, 1, 1))])
def test_wrong_shape(function, scores):
    with pytest.raises(ValueError, match="scores must have shape"):
        function(scores)


@pytest.mark.parametrize("function", [ranks, average_ranks, best_per_row])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(function, value):
    with pytest.raises(ValueError, match="scores must be finite"):
        function([[0.5, value]])


def test_repeats_are_averaged_over_their_folds_first():
    values = [[[0.9, 0.7], [0.8, 1.0], [0.6, 0.4]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    mean, std = repeat_summary(values)
    np.testing.assert_allclose(mean, [(0.8 + 0.9 + 0.5) / 3, 1.0])
    np.testing.assert_allclose(std, [np.std([0.8, 0.9, 0.5], ddof=1), 0.0])


def test_one_repeat_has_no_deviation_and_pairs_its_folds():
    mean, std = repeat_summary([[0.5, 1.0]])
    assert mean == 0.75
    assert np.isnan(std)
    assert paired_values([[[0.5, 1.0]], [[0.0, 0.25]]]).tolist() == [[0.5, 1.0], [0.0, 0.25]]
    assert paired_values([[[0.5, 1.0], [0.0, 0.25]]]).tolist() == [[0.75, 0.125]]


def test_a_missing_run_is_not_averaged_over():
    mean, std = repeat_summary([[0.5, np.nan], [1.0, 1.0]])
    assert np.isnan(mean)
    assert np.isnan(std)


values = arrays(np.float64, 6, elements=st.floats(0.0, 1.0).map(lambda x: round(x, 3)))


@given(values, values, st.sampled_from([0.9, 0.95, 0.99]))
def test_paired_t_test_equals_scipy(first, second, confidence):
    found = paired_t_test(first, second, confidence)
    if np.ptp(np.round(first - second, 10)) == 0:
        assert found.p_value == (0.0 if np.round(first - second, 10).any() else 1.0)
        return
    expected = ttest_rel(first, second)
    interval = expected.confidence_interval(confidence)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-6, rel=1e-6)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-6)
    if abs(expected.pvalue - (1 - confidence)) > 1e-6:
        assert (found.verdict != 0) == (expected.pvalue < 1 - confidence)
    assert found.verdict in (0, np.sign(found.difference))


def test_t_test_by_hand():
    # Differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t = 2 sqrt(3), quantile of t with 2 degrees 4.302653.
    found = paired_t_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert found.statistic == pytest.approx(2 * 3**0.5)
    assert (found.low, found.high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert found.verdict == 0
    assert paired_t_test([1.0, 1.1, 0.9], [0.0, 0.0, 0.0]).verdict == 1
    assert paired_t_test([0.0, 0.0, 0.0], [1.0, 1.1, 0.9]).verdict == -1


def test_corrected_t_test_by_hand():
    # Variance of the differences 1, and (1/3 + 1/9) of it for their mean: t = 2 / sqrt(4/9) = 3.
    found = corrected_t_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], test_share=1 / 9)
    assert found.statistic == pytest.approx(3.0)
    assert found.p_value == pytest.approx(2 * student.sf(3.0, 2))
    assert found.high - found.low == pytest.approx(2 * 4.302653 * 2 / 3)


@given(values, values, st.floats(0.01, 1.0))
def test_the_correction_is_never_bolder(first, second, test_share):
    plain, corrected = paired_t_test(first, second), corrected_t_test(first, second, test_share)
    assert corrected.difference == plain.difference
    assert corrected.p_value >= plain.p_value - 1e-12
    assert abs(corrected.verdict) <= abs(plain.verdict)


@given(values, values)
def test_exchanging_methods_changes_the_sign(first, second):
    one, other = paired_t_test(first, second), paired_t_test(second, first)
    assert (one.verdict, one.difference) == (-other.verdict, -other.difference)
    assert one.p_value == other.p_value


def test_equal_and_constant_differences():
    assert paired_t_test([0.5, 0.6], [0.5, 0.6]).p_value == 1.0
    found = paired_t_test([0.3, 0.8], [0.1, 0.6])  # 0.2 and 0.2 but for the last bit
    assert (found.p_value, found.verdict, found.statistic) == (0.0, 1, np.inf)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([0.5], [0.5]), "first must hold at least 2"),
        (lambda: paired_t_test([0.5, 0.5], [0.5, np.nan]), "second must hold at least 2 finite"),
        (lambda: paired_t_test([0.5, 0.5], [0.5, 0.5, 0.5]), "same length, got 2 and 3"),
        (lambda: paired_t_test([0.5, 0.5], [0.5, 0.5], confidence=95), "confidence must be between"),
        (lambda: corrected_t_test([0.5, 0.5], [0.5, 0.5], test_share=0), "test_share must be positive"),
        (lambda: repeat_summary([0.5, 0.5]), "values must have shape"),
        (lambda: paired_values(np.empty((0, 3))), "values must have shape"),
    ],
)
def test_bad_arguments_of_t_tests_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
