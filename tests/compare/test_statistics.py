"""Ranks and tests against plain definitions, scipy and the worked examples of Demsar (2006)."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare, rankdata, ttest_rel, wilcoxon
from scipy.stats import t as student

from skecoc.compare.statistics import (
    average_ranks,
    best_per_row,
    cliques,
    corrected_t_test,
    friedman_test,
    holm,
    nemenyi_critical_difference,
    paired_t_test,
    paired_values,
    ranks,
    repeat_summary,
    wilcoxon_holm,
    wilcoxon_p_value,
    win_tie_loss,
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


# Demsar's Table 6: areas under the curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],  # both printed as 0.975, but ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)

scores = st.tuples(st.integers(2, 6), st.integers(3, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
)


def test_average_ranks_of_demsar():
    assert average_ranks(DEMSAR).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]


def test_friedman_of_demsar():
    # He leaves ties uncorrected: 9.28. Tied groups of 2, 2, 2 and 4 make the correction 1 - (3 * 6 + 60) / 840.
    found = friedman_test(DEMSAR)
    uncorrected = found.statistic * (1 - 78 / 840)
    assert round(uncorrected, 2) == 9.28
    assert round(13 * uncorrected / (14 * 3 - uncorrected), 2) == 3.69  # his F
    assert found.f_statistic == pytest.approx(13 * found.statistic / (14 * 3 - found.statistic))
    assert 0.01 < found.f_p_value < 0.05


@given(scores)
def test_friedman_equals_scipy(table):
    found = friedman_test(table)
    if (table == table[:, :1]).all():
        assert (found.statistic, found.p_value) == (0.0, 1.0)
        return
    expected = friedmanchisquare(*table.T)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.f_statistic >= 0


def test_all_data_sets_agree():
    found = friedman_test([[0.9, 0.8, 0.7]] * 5)
    assert (found.f_statistic, found.f_p_value) == (np.inf, 0.0)
    assert found.statistic == pytest.approx(10.0)  # N (k - 1)


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (8, 3.031), (10, 3.164)])
def test_critical_values_of_demsar(n_methods, q):
    # His Table 5 (a), which gives q without the factor of ranks.
    factor = (n_methods * (n_methods + 1) / (6 * 14)) ** 0.5
    assert nemenyi_critical_difference(n_methods, 14) / factor == pytest.approx(q, abs=0.0011)


def test_critical_difference_of_demsar():
    assert round(nemenyi_critical_difference(4, 14), 2) == 1.25
    assert round(nemenyi_critical_difference(4, 14, alpha=0.10), 2) == 1.12


def test_wilcoxon_of_demsar():
    # C4.5 against C4.5+m: ranks of the differences sum to 93 and 12 with ties split, which is significant at 5 %.
    differences = DEMSAR[:, 1] - DEMSAR[:, 0]
    ranked = rankdata(np.abs(differences.round(10)))
    zeros = ranked[differences == 0].sum() / 2
    sums = ranked[differences > 0].sum() + zeros, ranked[differences < 0].sum() + zeros
    assert sums == (93, 12)
    p_value = wilcoxon_p_value(DEMSAR[:, 0], DEMSAR[:, 1])
    assert p_value < 0.05
    assert p_value == wilcoxon_p_value(DEMSAR[:, 1], DEMSAR[:, 0])


@given(st.lists(st.integers(-1000, 1000).filter(bool), min_size=3, max_size=12, unique_by=abs))
def test_wilcoxon_equals_scipy_without_ties(differences):
    first = np.array(differences) / 1000
    assert wilcoxon_p_value(first, np.zeros(len(first))) == pytest.approx(wilcoxon(first).pvalue)


def test_wilcoxon_of_equals():
    assert wilcoxon_p_value([0.5, 0.6], [0.5, 0.6]) == 1.0


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, never falling.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_as_the_step_down_procedure_does(p_values, alpha):
    rejected = set()
    for step, position in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[position] * (len(p_values) - step) > alpha:
            break
        rejected.add(int(position))
    assert set(np.flatnonzero(holm(p_values) <= alpha).tolist()) == rejected


def test_wilcoxon_holm_of_each_against_a_control():
    found = wilcoxon_holm(DEMSAR, control=1)
    assert [test.other for test in found] == [0, 2, 3]
    assert [test.p_value for test in found] == [wilcoxon_p_value(DEMSAR[:, 1], DEMSAR[:, k]) for k in (0, 2, 3)]
    assert [test.adjusted for test in found] == holm([test.p_value for test in found]).tolist()
    # C4.5+m beats C4.5 on 10 data sets, ties on 2 and loses 2.
    assert (found[0].wins, found[0].ties, found[0].losses) == (10, 2, 2)


def test_win_tie_loss():
    assert win_tie_loss([0.5, -2, 0, 0, 3]) == (2, 2, 1)
    assert win_tie_loss([]) == (0, 0, 0)


def brute_force_cliques(order, differing):
    """All runs of neighbours without a differing pair, that no longer one contains."""
    apart = {frozenset(pair) for pair in differing}
    runs = [
        tuple(order[start:end])
        for start in range(len(order))
        for end in range(start + 2, len(order) + 1)
        if not any(frozenset(pair) in apart for pair in combinations(order[start:end], 2))
    ]
    return [run for run in runs if not any(set(run) < set(other) for other in runs)]


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(st.permutations(range(n)), st.sets(st.sampled_from(list(combinations(range(n + 1), 2)))))
    )
)
def test_cliques_equal_the_plain_definition(case):
    order, differing = case
    assert cliques(order, sorted(differing)) == brute_force_cliques(order, differing)


def test_cliques_of_demsar():
    # By Nemenyi's test at 10 % C4.5 differs from the two best only (his Figure 1 (a)): 3.143 - 1.964 > 1.12.
    averages, distance = average_ranks(DEMSAR), nemenyi_critical_difference(4, 14, alpha=0.10)
    differing = [pair for pair in combinations(range(4), 2) if abs(averages[pair[0]] - averages[pair[1]]) >= distance]
    assert differing == [(0, 1), (0, 3)]
    assert cliques(np.argsort(averages).tolist(), differing) == [(3, 1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman_test([[0.5, 0.6], [0.5, 0.6]]), "at least 2 data sets and 3 methods"),
        (lambda: friedman_test([[0.5, 0.6, 0.7]]), "at least 2 data sets and 3 methods"),
        (lambda: nemenyi_critical_difference(1, 5), "n_methods"),
        (lambda: nemenyi_critical_difference(3, 0), "n_data_sets"),
        (lambda: nemenyi_critical_difference(3, 5, alpha=5), "alpha"),
        (lambda: holm([0.5, 1.5]), "p_values"),
        (lambda: wilcoxon_holm([[0.5], [0.6]], control=0), "at least 2 methods"),
        (lambda: wilcoxon_holm([[0.5, 0.6]], control=2), "control must be the position of a method, 0 to 1"),
    ],
)
def test_bad_arguments_of_rank_tests_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
