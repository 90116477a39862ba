import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.decoding import LossAveragedDecoder, LossWeightedDecoder
from skecoc.decoding.losses import LOSSES
from tests.reference import decoding as reference

MATRIX = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])


def test_weights_and_scores_by_hand():
    codewords = [[0.5, 0.9, 0.1], [0.2, -0.4, -0.3], [-0.3, 0.7, -0.8], [0.6, -0.8, -0.1]]
    decoder = LossWeightedDecoder().fit(codewords, [0, 0, 1, 2], MATRIX)
    # Class 0 is right in 2 of 2 and 1 of 2 rows; class 1 in column 0 only; class 2 in both columns.
    np.testing.assert_allclose(decoder.weights_, [[2 / 3, 1 / 3, 0], [1, 0, 0], [0, 1 / 2, 1 / 2]], rtol=1e-15)
    np.testing.assert_allclose(
        decoder.scores([[0.3, -0.6, 0.9]]),
        [[2 / 3 * 0.3 - 1 / 3 * 0.6, -0.3, 0.5 * 0.6 - 0.5 * 0.9]],
        atol=1e-15,
    )


def test_an_output_of_zero_is_never_right():
    decoder = LossWeightedDecoder().fit([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [0, 0], MATRIX)
    np.testing.assert_allclose(decoder.weights_[0], [1 / 3, 2 / 3, 0], rtol=1e-15)


def test_a_class_that_is_never_right_or_has_no_rows_gets_equal_weights():
    decoder = LossWeightedDecoder().fit([[-1.0, -1.0, 1.0]], [0], MATRIX)
    np.testing.assert_array_equal(decoder.weights_, np.abs(MATRIX) / 2)


def test_a_class_whose_rows_weigh_nothing_gets_equal_weights():
    decoder = LossWeightedDecoder().fit([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]], [0, 1], MATRIX, sample_weight=[0.0, 2.0])
    np.testing.assert_array_equal(decoder.weights_[0], [1 / 2, 1 / 2, 0])


def test_sample_weights_by_hand():
    codewords = [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]
    decoder = LossWeightedDecoder().fit(codewords, [0, 0], MATRIX, sample_weight=[1.0, 3.0])
    np.testing.assert_allclose(decoder.weights_[0], [4 / 5, 1 / 5, 0], rtol=1e-15)


@pytest.mark.parametrize("name", sorted(LOSSES))
@settings(max_examples=30, deadline=None)
@given(problem=reference.decoding_problems(), data=st.data())
def test_equals_the_definition(name, problem, data):
    matrix, training, y, codewords = problem
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))), dtype=float)
    decoder = LossWeightedDecoder(name).fit(training, y, matrix, sample_weight=weight)
    expected = reference.agreement_weights(training, y, matrix, weight)
    np.testing.assert_allclose(decoder.weights_, expected, rtol=1e-12)
    np.testing.assert_allclose(
        decoder.scores(codewords), reference.loss_weighted(codewords, matrix, expected, name), rtol=1e-10, atol=1e-12
    )


@settings(max_examples=50, deadline=None)
@given(problem=reference.decoding_problems())
def test_weights_are_in_the_simplex_of_the_non_zero_positions(problem):
    matrix, training, y, _ = problem
    weights = LossWeightedDecoder().fit(training, y, matrix).weights_
    assert (weights >= 0).all()
    assert (weights[matrix == 0] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_perfect_training_codewords_make_it_the_average(name):
    codewords = np.where(MATRIX == 0, 1, MATRIX)
    x = np.random.default_rng(0).uniform(-1, 1, size=(20, 3))
    weighted = LossWeightedDecoder(name).fit(codewords, [0, 1, 2], MATRIX).scores(x)
    averaged = LossAveragedDecoder(name).fit(codewords, [0, 1, 2], MATRIX).scores(x)
    np.testing.assert_allclose(weighted, averaged, rtol=1e-12, atol=1e-14)
