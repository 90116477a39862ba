"""Tests over data sets against the worked examples of Demsar (2006) and scipy."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from skecoc.benchmarking.rank_tests import (
    cliques,
    friedman_test,
    holm,
    nemenyi_critical_difference,
    wilcoxon_holm,
    wilcoxon_p_value,
    win_tie_loss,
)
from skecoc.benchmarking.statistics import average_ranks

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
    assert [(test.first, test.second) for test in found] == [(1, 0), (1, 2), (1, 3)]
    assert [test.p_value for test in found] == [wilcoxon_p_value(DEMSAR[:, 1], DEMSAR[:, k]) for k in (0, 2, 3)]
    assert [test.adjusted for test in found] == holm([test.p_value for test in found]).tolist()
    # C4.5+m beats C4.5 on 10 data sets, ties on 2 and loses 2.
    assert (found[0].wins, found[0].ties, found[0].losses) == (10, 2, 2)


def test_wilcoxon_holm_of_all_pairs():
    found = wilcoxon_holm(DEMSAR)
    assert [(test.first, test.second) for test in found] == list(combinations(range(4), 2))
    assert max(test.adjusted for test in found) <= 1.0


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
    ranks, distance = average_ranks(DEMSAR), nemenyi_critical_difference(4, 14, alpha=0.10)
    differing = [pair for pair in combinations(range(4), 2) if abs(ranks[pair[0]] - ranks[pair[1]]) >= distance]
    assert differing == [(0, 1), (0, 3)]
    assert cliques(np.argsort(ranks).tolist(), differing) == [(3, 1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman_test([[0.5, 0.6], [0.5, 0.6]]), "at least 2 data sets and 3 methods"),
        (lambda: friedman_test([[0.5, 0.6, 0.7]]), "at least 2 data sets and 3 methods"),
        (lambda: nemenyi_critical_difference(1, 5), "n_methods"),
        (lambda: nemenyi_critical_difference(3, 0), "n_data_sets"),
        (lambda: nemenyi_critical_difference(3, 5, alpha=5), "alpha"),
        (lambda: holm([0.5, 1.5]), "p_values"),
        (lambda: wilcoxon_holm([[0.5], [0.6]]), "at least 2 methods"),
        (lambda: wilcoxon_holm([[0.5, 0.6]], control=2), "control must be the position of a method, 0 to 1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
