import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import betainc

from skecoc.decoding import (
    AttenuatedEuclideanDecoder,
    BetaDensityDecoder,
    EuclideanDecoder,
    HammingDecoder,
    InverseHammingDecoder,
    LaplacianDecoder,
)
from skecoc.decoding.distances import count_agreements, hamming_distances, pessimistic_share
from tests.reference import decoding as reference

ONE_VS_REST = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
ONE_VS_ONE = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
SQUARE = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


def scores(decoder, matrix, codewords):
    return decoder.fit(np.ones((1, matrix.shape[1])), [0], matrix).scores(codewords)


@pytest.mark.parametrize(
    ("decoder", "slow"),
    [
        (HammingDecoder(), reference.hamming),
        (InverseHammingDecoder(), reference.inverse_hamming),
        (EuclideanDecoder(), reference.euclidean),
        (AttenuatedEuclideanDecoder(), reference.attenuated_euclidean),
        (LaplacianDecoder(), reference.laplacian),
        (BetaDensityDecoder(), reference.beta_density),
    ],
)
@settings(max_examples=60, deadline=None)
@given(problem=reference.decoding_problems())
def test_equals_the_definition_number_by_number(decoder, slow, problem):
    matrix, _, _, codewords = problem
    np.testing.assert_allclose(scores(decoder, matrix, codewords), slow(codewords, matrix), rtol=1e-7, atol=1e-9)


class TestHamming:
    def test_counts_disagreements_and_half_for_each_zero_of_the_matrix(self):
        # Signs + + -: row 0 agrees twice, row 1 disagrees twice, row 2 does once; one zero each.
        np.testing.assert_array_equal(scores(HammingDecoder(), ONE_VS_ONE, [[0.9, 0.2, -0.4]]), [[-0.5, -2.5, -1.5]])

    def test_an_output_of_zero_costs_half(self):
        np.testing.assert_array_equal(scores(HammingDecoder(), ONE_VS_ONE, [[0.0, 0.2, -0.4]]), [[-1.0, -2.0, -1.5]])

    def test_votes_that_go_round_tie_exactly(self):
        np.testing.assert_array_equal(scores(HammingDecoder(), ONE_VS_ONE, [[0.9, -0.1, 0.3]]), [[-1.5, -1.5, -1.5]])

    def test_distances_between_rows_with_zeros_have_half_the_zeros_on_the_diagonal(self):
        distances = hamming_distances(ONE_VS_ONE.astype(float), ONE_VS_ONE.astype(float))
        np.testing.assert_array_equal(distances, [[0.5, 2.0, 2.0], [2.0, 0.5, 2.0], [2.0, 2.0, 0.5]])


class TestInverseHamming:
    def test_one_vs_rest_by_hand(self):
        # Delta = 2 (J - I) has the inverse J/4 - I/2; D = (1, 1, 3), so the scores are 5/4 - D/2.
        np.testing.assert_allclose(
            scores(InverseHammingDecoder(), ONE_VS_REST, [[0.9, 0.2, -0.4]]), [[0.75, 0.75, -0.25]], atol=1e-14
        )

    def test_ternary_by_hand(self):
        # Delta = 2 J - 1.5 I: its inverse is (J * 2 / 4.5 - I) / 1.5; D = (0.5, 2.5, 1.5) sums to 4.5.
        expected = (2.0 - np.array([[0.5, 2.5, 1.5]])) / 1.5
        np.testing.assert_allclose(
            scores(InverseHammingDecoder(), ONE_VS_ONE, [[0.9, 0.2, -0.4]]), expected, atol=1e-14
        )

    def test_a_row_of_the_matrix_scores_one_for_itself_and_zero_for_others(self):
        for matrix in (ONE_VS_REST, ONE_VS_ONE):
            np.testing.assert_allclose(scores(InverseHammingDecoder(), matrix, matrix), np.eye(3), atol=1e-14)

    def test_singular_distances_give_the_solution_of_least_norm(self):
        # Delta's null vector is n = (1, -1, -1, 1) / 2, and D = Delta e_0: the solution is e_0 - n n'e_0.
        assert np.linalg.matrix_rank(hamming_distances(SQUARE.astype(float), SQUARE.astype(float))) == 3
        np.testing.assert_allclose(
            scores(InverseHammingDecoder(), SQUARE, [[1.0, 1.0]]), [[0.75, 0.25, 0.25, -0.25]], atol=1e-14
        )

    def test_two_classes(self):
        matrix = np.array([[1], [-1]])
        np.testing.assert_allclose(scores(InverseHammingDecoder(), matrix, [[0.3], [-0.3]]), np.eye(2), atol=1e-14)

    def test_keeps_the_inverse(self):
        decoder = InverseHammingDecoder().fit(ONE_VS_REST, [0, 1, 2], ONE_VS_REST)
        np.testing.assert_allclose(decoder.inverse_distances_, 0.25 - 0.5 * np.eye(3), atol=1e-14)

    @pytest.mark.parametrize("n_columns", [2, 3, 4])
    def test_many_classes_and_few_columns_stay_bounded(self, n_columns):
        # Rank n_columns + 1 at most, and no rounding residue is inverted.
        matrix = 2 * (np.arange(2**n_columns)[:, np.newaxis] >> np.arange(n_columns) & 1) - 1
        result = scores(InverseHammingDecoder(), matrix, matrix)
        assert np.abs(result).max() <= 1.0 + 1e-12
        np.testing.assert_array_equal(result.argmax(axis=1), np.arange(len(matrix)))


class TestEuclidean:
    def test_by_hand(self):
        np.testing.assert_allclose(
            scores(EuclideanDecoder(), ONE_VS_ONE, [[0.5, 1.0, -1.0]]),
            -np.sqrt([[0.25 + 0 + 1, 2.25 + 1 + 4, 0.25 + 4 + 0]]),
            rtol=1e-15,
        )

    def test_attenuated_by_hand(self):
        np.testing.assert_allclose(
            scores(AttenuatedEuclideanDecoder(), ONE_VS_ONE, [[0.5, 1.0, -1.0]]),
            -np.sqrt([[0.25 + 0, 2.25 + 4, 4 + 0]]),
            rtol=1e-15,
        )

    @pytest.mark.parametrize("decoder", [EuclideanDecoder(), AttenuatedEuclideanDecoder()])
    def test_equal_distances_of_hard_codewords_tie_exactly(self, decoder):
        tied = scores(decoder, ONE_VS_ONE, [[1, -1, 1], [-1, 1, -1], [0, 0, 0]])
        np.testing.assert_array_equal(tied, np.repeat(tied[:, :1], 3, axis=1))

    def test_a_row_of_the_matrix_is_at_distance_zero(self):
        np.testing.assert_array_equal(np.diag(scores(EuclideanDecoder(), ONE_VS_ONE, ONE_VS_ONE)), 0.0)

    def test_small_distances_keep_their_digits(self):
        np.testing.assert_allclose(
            scores(EuclideanDecoder(), ONE_VS_REST, [[1.0 + 2.0**-40, -1.0, -1.0]])[0, 0], -(2.0**-40), rtol=1e-12
        )

    @pytest.mark.parametrize("decoder", [EuclideanDecoder(), AttenuatedEuclideanDecoder()])
    @pytest.mark.filterwarnings("error")
    def test_huge_outputs_do_not_overflow(self, decoder):
        assert np.isfinite(scores(decoder, ONE_VS_ONE, [[1e300, -1e300, 1e200]])).all()


class TestLaplacian:
    def test_by_hand(self):
        np.testing.assert_allclose(
            scores(LaplacianDecoder(), ONE_VS_ONE, [[0.9, 0.2, -0.4]]), [[3 / 4, 1 / 4, 2 / 4]], rtol=1e-15
        )

    def test_an_output_of_zero_is_half_of_each(self):
        np.testing.assert_allclose(
            scores(LaplacianDecoder(), ONE_VS_ONE, [[0.0, 0.2, -0.4]]), [[2.5 / 4, 1.5 / 4, 2 / 4]], rtol=1e-15
        )

    def test_more_positions_without_error_score_higher(self):
        matrix = np.array([[1, 1, 1], [1, 0, 0], [-1, -1, -1]])
        np.testing.assert_allclose(scores(LaplacianDecoder(), matrix, [[1, 1, 1]]), [[4 / 5, 2 / 3, 1 / 5]], rtol=1e-15)

    def test_counts_of_agreements(self):
        counts = count_agreements(np.array([[0.3, -0.2, 0.0]]), np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]))
        np.testing.assert_array_equal(counts, [[1.5, 2.0]])


class TestBetaDensity:
    @pytest.mark.parametrize("agreements", [0.5, 1, 2, 7, 40])
    def test_without_disagreement_the_distribution_is_a_power(self, agreements):
        # F(v) = v^(a+1) and the mode is 1, so the point solves v^(a+1) = 2/3.
        np.testing.assert_allclose(
            pessimistic_share(np.array(float(agreements)), np.array(0.0)),
            (2 / 3) ** (1 / (agreements + 1)),
            rtol=1e-13,
        )

    def test_without_agreement_the_mode_is_zero(self):
        assert pessimistic_share(np.array(0.0), np.array(3.0)) == 0.0

    def test_one_agreement_and_one_disagreement(self):
        # Density 6 v (1 - v): F(v) = 3 v^2 - 2 v^3, mode 1/2, F(1/2) - 1/3 = 1/6.
        v = float(pessimistic_share(np.array(1.0), np.array(1.0)))
        assert 3 * v**2 - 2 * v**3 == pytest.approx(1 / 6, rel=1e-12)
        assert 0 < v < 0.5

    def test_one_agreement_and_two_disagreements(self):
        # Density 12 v (1 - v)^2: F(v) = 6 v^2 - 8 v^3 + 3 v^4, F(1/3) - 1/3 = 33/81 - 27/81.
        v = float(pessimistic_share(np.array(1.0), np.array(2.0)))
        assert 6 * v**2 - 8 * v**3 + 3 * v**4 == pytest.approx(6 / 81, rel=1e-12)
        assert 0 < v < 1 / 3

    def test_zero_where_less_than_a_third_of_the_mass_is_below_the_mode(self):
        # F(1/7) = 1 - (6/7)^8 - 8/7 (6/7)^7 = 0.32 < 1/3.
        assert pessimistic_share(np.array(1.0), np.array(6.0)) == 0.0

    def test_zero_where_exactly_a_third_of_the_mass_is_below_the_mode(self):
        assert betainc(1.5, 2.5, 0.25) == pytest.approx(1 / 3, rel=1e-14)
        assert pessimistic_share(np.array(0.5), np.array(1.5)) == 0.0

    def test_scores_look_each_row_up_by_its_own_number_of_positions(self):
        matrix = np.array([[1, 1, 1], [1, 0, 0], [-1, -1, 0]])
        np.testing.assert_allclose(
            scores(BetaDensityDecoder(), matrix, [[1, 1, 1], [0, 1, 1]]),
            [
                [(2 / 3) ** (1 / 4), (2 / 3) ** (1 / 2), 0.0],
                [reference.pessimistic_share(2.5, 0.5), reference.pessimistic_share(0.5, 0.5), 0.0],
            ],
            atol=1e-9,
        )

    def test_equal_counts_tie_exactly(self):
        tied = scores(BetaDensityDecoder(), ONE_VS_ONE, [[0.9, -0.1, 0.3]])
        assert len(np.unique(tied)) == 1

    def test_long_codes(self):
        rng = np.random.default_rng(0)
        matrix = rng.choice([-1, 0, 1], size=(12, 300))
        result = scores(BetaDensityDecoder(), matrix, np.vstack([matrix, rng.normal(size=(20, 300))]))
        assert ((result >= 0) & (result <= 1)).all()
        np.testing.assert_array_equal(result[:12].argmax(axis=1), np.arange(12))
