import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skecoc.decoding import LossAveragedDecoder, LossBasedDecoder, LossWeightedDecoder
from skecoc.decoding.losses import LOSSES, sum_losses
from tests.reference import decoding as reference

MATRIX = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
NAMES = sorted(reference.LOSSES)


def scores(decoder, matrix, codewords):
    return decoder.fit(np.ones((1, matrix.shape[1])), [0], matrix).scores(codewords)


def test_the_losses_are_those_that_are_documented():
    assert sorted(LOSSES) == NAMES


@pytest.mark.parametrize(
    ("name", "at_minus_one", "at_zero", "at_half", "at_two"),
    [
        ("linear", 1.0, 0.0, -0.5, -2.0),
        ("exponential", np.e, 1.0, np.exp(-0.5), np.exp(-2.0)),
        ("hinge", 2.0, 1.0, 0.5, 0.0),
        ("logistic", np.log(1 + np.e), np.log(2.0), np.log(1 + np.exp(-0.5)), np.log(1 + np.exp(-2.0))),
        ("squared", 4.0, 1.0, 0.25, 1.0),
        ("binomial-deviance", np.log(1 + np.e**2), np.log(2.0), np.log(1 + np.exp(-1.0)), np.log(1 + np.exp(-4.0))),
    ],
)
def test_values_by_hand(name, at_minus_one, at_zero, at_half, at_two):
    margins = np.array([-1.0, 0.0, 0.5, 2.0])
    np.testing.assert_allclose(LOSSES[name](margins), [at_minus_one, at_zero, at_half, at_two], rtol=1e-14)
    np.testing.assert_array_equal(margins, [-1.0, 0.0, 0.5, 2.0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_huge_margins_neither_overflow_nor_change_the_order(name):
    losses = LOSSES[name](np.array([-1e300, -1e4, -700.0, -1.0, 1.0]))
    assert np.isfinite(losses).all()
    assert (np.diff(losses) <= 0).all()
    assert np.isfinite(LOSSES[name](np.array([1e4, 1e300]))).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("decoder_class", [LossBasedDecoder, LossAveragedDecoder])
@pytest.mark.filterwarnings("error")
def test_scores_of_huge_outputs_are_finite(decoder_class, name):
    assert np.isfinite(scores(decoder_class(name), MATRIX, [[1e300, -1e300, 1e4], [-800.0, -800.0, 800.0]])).all()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(problem=reference.decoding_problems())
def test_loss_based_equals_the_definition(name, problem):
    matrix, _, _, codewords = problem
    expected = reference.loss_based(codewords, matrix, name)
    np.testing.assert_allclose(scores(LossBasedDecoder(name), matrix, codewords), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(problem=reference.decoding_problems())
def test_loss_averaged_equals_the_definition(name, problem):
    matrix, _, _, codewords = problem
    expected = reference.loss_averaged(codewords, matrix, name)
    np.testing.assert_allclose(scores(LossAveragedDecoder(name), matrix, codewords), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(problem=reference.decoding_problems(), factor=st.floats(0.1, 10.0))
def test_sums_are_linear_in_the_weights(name, problem, factor):
    matrix, _, _, codewords = problem
    weights = matrix.astype(float)
    np.testing.assert_allclose(
        sum_losses(LOSSES[name], codewords, factor * weights),
        factor * sum_losses(LOSSES[name], codewords, weights),
        rtol=1e-12,
        atol=1e-12,
    )


def test_loss_based_by_hand_with_zeros():
    # x = (1, 0.5, -0.5), hinge: row 0 pays 0 + 0.5 + L(0), row 1 pays 2 + L(0) + 1.5, row 2 L(0) + 1.5 + 0.5.
    np.testing.assert_array_equal(scores(LossBasedDecoder("hinge"), MATRIX, [[1.0, 0.5, -0.5]]), [[-1.5, -4.5, -3.0]])


def test_loss_averaged_by_hand_leaves_zeros_out():
    np.testing.assert_array_equal(
        scores(LossAveragedDecoder("hinge"), MATRIX, [[1.0, 0.5, -0.5]]), [[-0.25, -1.75, -1.0]]
    )


def test_zeros_cost_rows_under_the_sum_but_not_under_the_average():
    matrix = np.array([[1, 1, 1], [1, 0, 0], [-1, -1, -1]])
    np.testing.assert_array_equal(scores(LossBasedDecoder("squared"), matrix, [[1, 1, 1]]), [[0.0, -2.0, -12.0]])
    np.testing.assert_array_equal(scores(LossAveragedDecoder("squared"), matrix, [[1, 1, 1]]), [[0.0, 0.0, -4.0]])


def test_linear_scores_are_inner_products():
    np.testing.assert_allclose(scores(LossBasedDecoder(), MATRIX, [[0.3, -0.6, 0.1]]), [[-0.3, -0.2, 0.5]], atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_hard_codewords_that_go_round_tie_exactly(name):
    for decoder in (LossBasedDecoder(name), LossAveragedDecoder(name)):
        tied = scores(decoder, MATRIX, [[1, -1, 1], [0, 0, 0]])
        np.testing.assert_array_equal(tied, np.repeat(tied[:, :1], 3, axis=1))


@pytest.mark.parametrize(
    ("name", "matlab"),
    [
        ("linear", lambda t: (1 - t) / 2),
        ("exponential", lambda t: np.exp(-t) / 2),
        ("hinge", lambda t: np.maximum(0, 1 - t) / 2),
        ("logistic", lambda t: np.log(1 + np.exp(-t)) / (2 * np.log(2))),
        ("squared", lambda t: (1 - t) ** 2 / 2),
        ("binomial-deviance", lambda t: np.log(1 + np.exp(-2 * t)) / (2 * np.log(2))),
    ],
)
def test_averages_have_the_order_of_matlab_losses_that_are_a_half_at_zero(name, matlab):
    codewords = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    assert matlab(0.0) == pytest.approx(0.5)
    theirs = np.stack([matlab(codewords * row)[:, row != 0].mean(axis=1) for row in MATRIX], axis=1)
    ours = scores(LossAveragedDecoder(name), MATRIX, codewords)
    np.testing.assert_array_equal(np.argsort(ours, axis=1), np.argsort(-theirs, axis=1))


@pytest.mark.parametrize("decoder_class", [LossBasedDecoder, LossAveragedDecoder, LossWeightedDecoder])
@pytest.mark.parametrize("loss", ["quadratic", None])
def test_unknown_losses_are_refused_when_fitting_with_the_valid_names(decoder_class, loss):
    decoder = decoder_class(loss)
    with pytest.raises(ValueError, match=r"loss=.*binomial-deviance.*exponential.*hinge.*linear.*logistic.*squared"):
        decoder.fit([[1, 1, 1]], [0], MATRIX)


def test_the_name_of_a_loss_is_resolved():
    assert LossBasedDecoder("hinge").fit([[1, 1, 1]], [0], MATRIX).loss_function_ is LOSSES["hinge"]


def test_a_fitted_decoder_keeps_its_loss_until_it_is_fitted_again():
    decoder = LossBasedDecoder("hinge").fit([[1, 1, 1]], [0], MATRIX)
    before = decoder.scores([[1.0, 0.5, -0.5]])
    decoder.set_params(loss="squared")
    np.testing.assert_array_equal(decoder.scores([[1.0, 0.5, -0.5]]), before)
    assert (decoder.fit([[1, 1, 1]], [0], MATRIX).scores([[1.0, 0.5, -0.5]]) != before).any()
