import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skecoc.experiments.statistics import average_ranks, best_per_row, ranks
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
