import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skecoc.decoding import (
    HammingDecoder,
    LossBasedDecoder,
    LossWeightedDecoder,
    OptimizedWeightDecoder,
    break_ties,
)
from skecoc.decoding.scoring import ROUNDING_TOLERANCE, best_of_classes, decode
from tests.reference import decoding as reference

# Levels, and values a rounding residue away from them.
NEAR = st.builds(
    lambda level, residue: level + residue,
    st.sampled_from([-2.0, -0.5, 0.0, 1.0, 30.0]),
    st.sampled_from([-1e-15, 0.0, 1e-15, 3e-11, 2e-9]),
)


@st.composite
def keyed_rows(draw):
    n_rows = draw(st.integers(1, 6))
    row = st.lists(st.one_of(NEAR, st.floats(-1e6, 1e6)), min_size=n_rows, max_size=n_rows)
    n_samples = draw(st.integers(1, 4))
    scores = np.array(draw(st.lists(row, min_size=n_samples, max_size=n_samples)))
    second = np.array(draw(st.lists(row, min_size=n_samples, max_size=n_samples)))
    prior = np.array(draw(st.lists(st.sampled_from([0.1, 0.2, 0.2 + 1e-15, 0.3]), min_size=n_rows, max_size=n_rows)))
    return scores, second, prior


def order(scores):
    return np.argsort(-scores, axis=1)


@settings(max_examples=120, deadline=None)
@given(keys=keyed_rows())
def test_equals_the_order_found_one_key_at_a_time(keys):
    scores, second, prior = keys
    expected = [reference.order_of_classes(s, t, prior) for s, t in zip(scores, second, strict=True)]
    np.testing.assert_array_equal(order(break_ties(scores, second, prior)), expected)


@settings(max_examples=120, deadline=None)
@given(keys=keyed_rows())
def test_rows_are_strictly_ordered_and_stay_close(keys):
    scores, second, prior = keys
    separated = break_ties(scores, second, prior)
    assert (np.diff(np.sort(separated, axis=1), axis=1) > 0).all()
    room = ROUNDING_TOLERANCE * np.maximum(1.0, np.abs(scores)) * scores.shape[1]
    assert (np.abs(separated - scores) <= room).all()


@settings(max_examples=120, deadline=None)
@given(keys=keyed_rows())
def test_untied_entries_keep_every_bit(keys):
    scores, second, prior = keys
    separated = break_ties(scores, second, prior)
    for before, after in zip(scores, separated, strict=True):
        for group in reference.split_by_key(range(len(before)), before):
            if len(group) == 1:
                assert after[group[0]] == before[group[0]]


@settings(max_examples=100, deadline=None)
@given(keys=keyed_rows())
def test_breaking_again_changes_nothing(keys):
    scores, second, prior = keys
    once = break_ties(scores, second, prior)
    np.testing.assert_array_equal(break_ties(once, second, prior), once)


@settings(max_examples=100, deadline=None)
@given(keys=keyed_rows(), data=st.data())
def test_renaming_classes_renames_the_result_when_the_priors_differ(keys, data):
    scores, second, _ = keys
    prior = np.arange(1.0, scores.shape[1] + 1)
    renamed = np.array(data.draw(st.permutations(range(scores.shape[1]))))
    np.testing.assert_array_equal(
        break_ties(scores[:, renamed], second[:, renamed], prior[renamed]),
        break_ties(scores, second, prior)[:, renamed],
    )


def test_the_second_key_decides_first_then_the_prior_then_the_index():
    zeros = np.zeros((1, 4))
    np.testing.assert_array_equal(order(break_ties(zeros, [[0.1, 0.3, 0.2, 0.0]], [4, 3, 2, 1])), [[1, 2, 0, 3]])
    np.testing.assert_array_equal(order(break_ties(zeros, [[0.1, 0.3, 0.1, 0.3]], [1, 2, 3, 4])), [[3, 1, 2, 0]])
    np.testing.assert_array_equal(order(break_ties(zeros, zeros, [0.1, 0.4, 0.1, 0.4])), [[1, 3, 0, 2]])
    np.testing.assert_array_equal(order(break_ties(zeros, zeros, [0.25] * 4)), [[0, 1, 2, 3]])


def test_steps_by_hand():
    # Three tied scores of four: the best keeps 2, the others go down by 1e-10 / 8 * 2 each.
    separated = break_ties([[2.0, 2.0, -1.0, 2.0]], [[0.0, 2.0, 5.0, 1.0]], [1, 1, 1, 1])
    step = 2.5e-11
    np.testing.assert_allclose(2.0 - separated[0, [1, 3, 0]], [0.0, step, 2 * step], rtol=1e-4)
    assert separated[0, 1] == 2.0
    assert separated[0, 2] == -1.0


def test_codewords_of_zeros_go_to_the_most_frequent_class():
    found = break_ties(np.zeros((2, 3)), np.zeros((2, 3)), [0.2, 0.5, 0.3], np.zeros(2))
    assert order(found).tolist() == [[1, 2, 0], [1, 2, 0]]


def test_rounding_residues_decide_nothing():
    scores = [[0.1 + 0.2, 0.3, 0.3 - 1e-16]]
    np.testing.assert_array_equal(order(break_ties(scores, [[0.0, 1.0, 2.0]], [1, 1, 1])), [[2, 1, 0]])
    second = [[1.0, 1.0 + 1e-15, 0.0]]
    np.testing.assert_array_equal(order(break_ties(np.zeros((1, 3)), second, [2, 1, 3])), [[0, 1, 2]])


def test_differences_above_the_tolerance_decide():
    np.testing.assert_array_equal(order(break_ties([[0.0, 2e-10]], [[1.0, 0.0]], [1, 0])), [[1, 0]])
    np.testing.assert_array_equal(order(break_ties([[0.0, 1e-10]], [[1.0, 0.0]], [1, 0])), [[0, 1]])
    # Relative for scores above 1.
    np.testing.assert_array_equal(order(break_ties([[1e6, 1e6 + 1e-5]], [[1.0, 0.0]], [1, 0])), [[0, 1]])
    np.testing.assert_array_equal(order(break_ties([[1e6, 1e6 + 1e-3]], [[1.0, 0.0]], [1, 0])), [[1, 0]])


def test_a_score_far_below_does_not_widen_the_tolerance_of_the_others():
    np.testing.assert_array_equal(order(break_ties([[1.0, 1.1, -1e250]], [[1.0, 0.0, 2.0]], [1, 1, 1])), [[1, 0, 2]])


def test_ties_chain():
    scores = [[0.0, 0.8e-10, 1.6e-10, 5.0]]
    np.testing.assert_array_equal(order(break_ties(scores, [[3.0, 2.0, 1.0, 0.0]], [1] * 4)), [[3, 0, 1, 2]])


@pytest.mark.parametrize("n_rows", [2, 100, 3000])
@pytest.mark.parametrize("level", [0.0, 1.0, -7.0, 1e-3, 1e12, -1e299])
def test_many_tied_scores_stay_above_the_next_lower_and_below_the_next_higher_score(n_rows, level):
    just_over = 1.01 * ROUNDING_TOLERANCE * max(1.0, abs(level))
    scores = np.full((1, n_rows), level)
    scores = np.concatenate([scores, [[level - just_over, level + just_over]]], axis=1)
    second = np.zeros_like(scores)
    separated = break_ties(scores, second, np.ones(n_rows + 2))
    np.testing.assert_array_equal(order(separated), [[n_rows + 1, *range(n_rows), n_rows]])
    assert (np.diff(np.sort(separated)) > 0).all()
    np.testing.assert_array_equal(separated[0, -2:], scores[0, -2:])


def test_separated_scores_stay_apart_in_a_softmax():
    separated = break_ties(np.full((1, 26), -3.5), np.arange(26.0)[np.newaxis], np.ones(26))
    powers = np.exp(separated - separated.max())
    assert (np.diff(powers / powers.sum()) > 0).all()


def test_infinite_scores_count_as_very_large_ones():
    separated = break_ties([[-np.inf, 0.0, -np.inf, np.inf]], [[1.0, 0.0, 2.0, 0.0]], [1, 1, 1, 1])
    assert np.isfinite(separated).all()
    np.testing.assert_array_equal(order(separated), [[3, 1, 2, 0]])
    np.testing.assert_array_equal(order(break_ties([[1.0, 1.0]], [[-np.inf, 0.0]], [2, 1])), [[1, 0]])


def test_inputs_are_left_alone_and_lists_accepted():
    scores, second = np.zeros((2, 3)), np.ones((2, 3))
    result = break_ties(scores, second, [1, 2, 3])
    assert result is not scores
    assert (scores == 0).all()
    assert (second == 1).all()
    np.testing.assert_array_equal(break_ties(scores.tolist(), second.tolist(), (1, 2, 3)), result)


def test_empty_and_single():
    assert break_ties(np.zeros((0, 3)), np.zeros((0, 3)), np.ones(3)).shape == (0, 3)
    np.testing.assert_array_equal(break_ties([[0.25]], [[1.0]], [1.0]), [[0.25]])


@pytest.mark.parametrize(
    ("scores", "second", "prior", "message"),
    [
        ([0.0, 1.0], [0.0, 1.0], [1, 1], "scores must be two-dimensional"),
        ([[0.0, 1.0]], [[0.0]], [1, 1], "second_key must have the shape"),
        ([[0.0, 1.0]], [[0.0, 1.0]], [1, 1, 1], "prior must have shape"),
        ([[0.0, np.nan]], [[0.0, 1.0]], [1, 1], "scores must not hold NaN"),
        ([[0.0, 1.0]], [[0.0, np.nan]], [1, 1], "second_key must not hold NaN"),
        ([[0.0, 1.0]], [[0.0, 1.0]], [1, np.nan], "prior must not hold NaN"),
    ],
)
def test_bad_input(scores, second, prior, message):
    with pytest.raises(ValueError, match=message):
        break_ties(scores, second, prior)


def test_votes_that_go_round_are_settled_by_the_linear_score():
    matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    codewords = [[0.9, -0.1, 0.3]]
    votes = HammingDecoder().fit(codewords, [0], matrix).scores(codewords)
    linear = LossBasedDecoder().fit(codewords, [0], matrix).scores(codewords)
    np.testing.assert_allclose(linear, [[0.8, -0.6, -0.2]], atol=1e-15)
    np.testing.assert_array_equal(order(break_ties(votes, linear, [1, 1, 1])), [[0, 2, 1]])


# Codewords to scores of classes


MATRIX = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], dtype=np.int8)
DECODERS = [HammingDecoder(), LossBasedDecoder("hinge"), LossWeightedDecoder(), OptimizedWeightDecoder()]


def random_codewords(seed, n_samples=60, n_columns=3):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n_samples, n_columns)) < 0.5, rng.choice([-1.0, 1.0], (n_samples, n_columns)), 0.25)


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_decoding_breaks_ties_by_linear_scores_and_the_size_of_codewords(decoder):
    codewords, y = random_codewords(0), np.arange(60) % 3
    decoder = clone(decoder).fit(codewords, y, MATRIX)
    prior = [0.2, 0.5, 0.3]
    found = decode(decoder, codewords, MATRIX, prior)
    for i, codeword in enumerate(codewords):
        linear = codeword @ MATRIX.T
        expected = break_ties(decoder.scores(codewords)[[i]], linear[np.newaxis], prior, np.abs(codeword).max())
        np.testing.assert_allclose(found[[i]], expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(order(found[[i]]), order(expected))


def test_small_codewords_tie_by_their_own_size():
    # By a scale of 1 these scores would all tie.
    decoder = LossBasedDecoder().fit([[1.0, 1.0, 1.0]], [0], MATRIX)
    found = decode(decoder, np.array([[-2e-12, 1e-12, 3e-12]]), MATRIX, [1, 1, 1])
    np.testing.assert_array_equal(order(found), [[1, 0, 2]])


def test_a_class_has_the_score_of_its_best_row():
    matrix = np.array([[1, 1, 0], [1, -1, 0], [-1, 0, 1], [-1, 0, -1], [-1, 1, -1]])
    row_classes = np.array([0, 0, 1, 2, 2])
    codewords, prior = random_codewords(1), [0.2, 0.5, 0.3]
    decoder = HammingDecoder().fit(codewords[:1], [0], matrix)
    scores, linear = decoder.scores(codewords), codewords @ matrix.T
    best, best_linear = (
        np.column_stack([each[:, row_classes == p].max(axis=1) for p in range(3)]) for each in (scores, linear)
    )
    np.testing.assert_array_equal(best_of_classes(scores, row_classes), best)
    expected = break_ties(best, best_linear, prior, np.abs(codewords).max(axis=1))
    np.testing.assert_array_equal(decode(decoder, codewords, matrix, prior, row_classes), expected)


def test_one_row_per_class_needs_no_classes_of_rows():
    codewords = random_codewords(2)
    decoder = HammingDecoder().fit(codewords[:1], [0], MATRIX)
    np.testing.assert_array_equal(
        decode(decoder, codewords, MATRIX, [1, 1, 1], np.arange(3)), decode(decoder, codewords, MATRIX, [1, 1, 1])
    )
    assert decode(decoder, codewords[:0], MATRIX, [1, 1, 1]).shape == (0, 3)
