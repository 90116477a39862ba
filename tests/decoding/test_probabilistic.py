import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skecoc.coding import one_vs_one
from skecoc.decoding import HammingDecoder, ProbabilisticDecoder, VotingDecoder
from skecoc.decoding.probabilistic import fit_sigmoid
from skecoc.decoding.scoring import decode
from tests.reference import decoding as reference

MATRIX = np.array([[1, 0], [-1, 1], [0, -1]])
CODEWORDS = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
LABELS = np.array([0, 0, 1, 2])


def test_slopes_and_intercepts_by_hand():
    # Column 0: two rows at +1 with target 3/4, one at -1 with target 1/3: v + w = -log 3, -v + w = log 2.
    # Column 1 (class 0 has no part): targets 2/3 and 1/3: v + w = -log 2, -v + w = log 2.
    decoder = ProbabilisticDecoder().fit(CODEWORDS, LABELS, MATRIX)
    np.testing.assert_allclose(decoder.slopes_, [-np.log(6) / 2, -np.log(2)], rtol=1e-9)
    np.testing.assert_allclose(decoder.intercepts_, [np.log(2 / 3) / 2, 0.0], atol=1e-9)


def test_scores_by_hand():
    decoder = ProbabilisticDecoder().fit(CODEWORDS, LABELS, MATRIX)
    np.testing.assert_allclose(
        decoder.scores([[1.0, 1.0], [-1.0, -1.0]]),
        np.log([[3 / 4, 1 / 4 * 2 / 3, 1 / 3], [1 / 3, 2 / 3 * 1 / 3, 2 / 3]]),
        rtol=1e-9,
    )


def test_the_invalid_mass_is_added_to_every_product():
    plain = ProbabilisticDecoder().fit(CODEWORDS, LABELS, MATRIX).scores(CODEWORDS)
    shifted = ProbabilisticDecoder(invalid_mass=0.25).fit(CODEWORDS, LABELS, MATRIX).scores(CODEWORDS)
    np.testing.assert_allclose(shifted, np.log(np.exp(plain) + 0.25), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(np.argsort(shifted), np.argsort(plain))


@pytest.mark.parametrize("invalid_mass", [-0.1, np.inf, np.nan, "0.1", None])
def test_a_bad_invalid_mass_is_refused_when_fitting(invalid_mass):
    decoder = ProbabilisticDecoder(invalid_mass=invalid_mass)
    with pytest.raises(ValueError, match="invalid_mass must be a finite number that is not negative"):
        decoder.fit(CODEWORDS, LABELS, MATRIX)


@settings(max_examples=40, deadline=None)
@given(problem=reference.decoding_problems(), mass=st.sampled_from([0.0, 0.01, 1.0]))
def test_scores_equal_the_definition(problem, mass):
    matrix, training, y, codewords = problem
    decoder = ProbabilisticDecoder(invalid_mass=mass).fit(training, y, matrix)
    expected = reference.probabilistic(codewords, matrix, decoder.slopes_, decoder.intercepts_, mass)
    np.testing.assert_allclose(decoder.scores(codewords), expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(problem=reference.decoding_problems(min_samples=4, max_samples=30), data=st.data())
def test_every_column_is_at_the_maximum_of_the_likelihood(problem, data):
    matrix, training, y, _ = problem
    weight = np.array(data.draw(st.lists(st.floats(0.1, 5.0), min_size=len(y), max_size=len(y))))
    decoder = ProbabilisticDecoder().fit(training, y, matrix, sample_weight=weight)
    for q, (slope, intercept) in enumerate(zip(decoder.slopes_, decoder.intercepts_, strict=True)):
        sides = matrix[y, q]
        if sides.any():
            gradient = reference.platt_gradient(training[:, q], sides, weight, slope, intercept)
            np.testing.assert_allclose(gradient, 0.0, atol=1e-9)


@pytest.mark.parametrize("separation", [0.2, 1.0, 4.0])
def test_equals_logistic_regression_on_rows_split_by_their_targets(separation):
    rng = np.random.default_rng(1)
    positive = rng.random(300) < 0.3
    outputs = np.tanh(separation * (positive - 0.3) + rng.normal(size=300))
    weight = rng.uniform(0.5, 2.0, size=300)
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    regression = LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000).fit(
        np.tile(outputs, 2)[:, np.newaxis],
        np.repeat([1, 0], 300),
        sample_weight=np.concatenate([weight * target, weight * (1 - target)]),
    )
    slope, intercept = fit_sigmoid(outputs, positive, weight)
    np.testing.assert_allclose([-slope, -intercept], [regression.coef_[0, 0], regression.intercept_[0]], rtol=1e-4)


@pytest.mark.parametrize("n_rows", [10, 1000])
@pytest.mark.parametrize("gap", [1e-3, 0.5])
def test_perfectly_separated_columns_have_a_finite_slope_and_a_bounded_certainty(n_rows, gap):
    outputs = np.concatenate([np.linspace(gap, 1, n_rows), np.linspace(-1, -gap, n_rows)])
    positive = outputs > 0
    slope, intercept = fit_sigmoid(outputs, positive, np.ones(2 * n_rows))
    assert -np.inf < slope < 0
    probability = expit(-(slope * outputs + intercept))
    assert (probability[positive] > 0.5).all()
    # The first-order condition of the intercept: the mean probability is the mean target, here 1/2.
    assert probability.mean() == pytest.approx(0.5, abs=1e-10)


def test_hard_separated_outputs_reach_exactly_the_smoothed_targets():
    outputs = np.repeat([1.0, -1.0], [98, 48])
    slope, intercept = fit_sigmoid(outputs, outputs > 0, np.ones(146))
    np.testing.assert_allclose(expit(-(slope * np.array([1.0, -1.0]) + intercept)), [99 / 100, 1 / 50], rtol=1e-9)


@pytest.mark.parametrize("positive", [True, False])
def test_a_column_with_one_side_only_has_slope_zero(positive):
    slope, intercept = fit_sigmoid(np.array([0.3, -0.2, 0.9]), np.full(3, positive), np.ones(3))
    assert slope == pytest.approx(0.0, abs=1e-12)
    assert expit(-intercept) == pytest.approx(4 / 5 if positive else 1 / 5, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.7, -1.0, 1e300])
@pytest.mark.filterwarnings("error")
def test_a_constant_column_has_slope_zero_and_the_mean_target(value):
    matrix = [[1], [-1]]
    decoder = ProbabilisticDecoder().fit(np.full((3, 1), value), [0, 0, 1], matrix)
    assert decoder.slopes_[0] == 0.0
    # Targets 3/4, 3/4 and 1/3.
    assert expit(-decoder.intercepts_[0]) == pytest.approx((3 / 4 + 3 / 4 + 1 / 3) / 3, rel=1e-12)


def test_a_column_without_training_rows_says_one_half():
    decoder = ProbabilisticDecoder().fit([[0.3, 0.4], [0.1, -0.4]], [0, 0], MATRIX)
    assert decoder.slopes_[1] == decoder.intercepts_[1] == 0.0
    np.testing.assert_allclose(decoder.scores([[0.0, 1.0]])[0, 2], np.log(0.5), rtol=1e-12)


def test_rows_of_classes_that_take_no_part_in_a_column_do_not_matter_to_it():
    changed = CODEWORDS.copy()
    changed[:2, 1] = [17.0, 0.3]
    ours = ProbabilisticDecoder().fit(CODEWORDS, LABELS, MATRIX)
    theirs = ProbabilisticDecoder().fit(changed, LABELS, MATRIX)
    np.testing.assert_array_equal(ours.slopes_, theirs.slopes_)
    np.testing.assert_array_equal(ours.intercepts_, theirs.intercepts_)


@pytest.mark.filterwarnings("error")
def test_long_codes_and_huge_outputs_do_not_underflow():
    rng = np.random.default_rng(0)
    matrix = rng.choice([-1, 1], size=(5, 400))
    y = np.repeat(np.arange(5), 2)
    decoder = ProbabilisticDecoder().fit(0.9 * matrix[y], y, matrix)
    scores = decoder.scores(matrix * 1e3)
    assert np.isfinite(scores).all()
    assert scores.min() < -1e4
    np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(5))
    assert np.isfinite(decoder.scores(matrix * 1e300)).all()


def test_a_heavy_class_that_is_separated_perfectly_has_platts_targets():
    """Newton's first step goes far beyond them, where second derivatives vanish."""
    outputs = np.repeat([1.0, -1.0], 50)
    weight = np.repeat([100.0, 1.0], 50)
    slope, intercept = fit_sigmoid(outputs, outputs > 0, weight)
    # The log odds of the -1 side are those of the targets: 1 / 5002 and 51 / 52.
    np.testing.assert_allclose([slope + intercept, intercept - slope], [-np.log(5001), np.log(51)], rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(problem=reference.decoding_problems())
def test_votes_decide_and_sigmoids_score(problem):
    matrix, training, y, codewords = problem
    decoder = VotingDecoder().fit(training, y, matrix)
    found, sigmoids = decoder.scores(codewords), ProbabilisticDecoder().fit(training, y, matrix).scores(codewords)
    votes = np.sign(codewords) @ matrix.T
    total = codewords @ matrix.T
    for row, before, own, sums in zip(found, sigmoids, votes, total, strict=True):
        first = np.flatnonzero(own == own.max())
        first = first[sums[first] >= sums[first].max() - 1e-9 * (1 + abs(sums[first].max()))]
        assert row.argmax() in first
        others = np.setdiff1d(np.arange(len(matrix)), first)
        np.testing.assert_array_equal(row[others], before[others])
        highest = before[others].max(initial=-np.inf)
        assert (row[first] > highest).all()
        np.testing.assert_allclose(row[first], np.maximum(before[first], highest), rtol=1e-5, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), n_classes=st.integers(3, 6))
def test_voting_predicts_what_hamming_predicts(seed, n_classes):
    rng = np.random.default_rng(seed)
    matrix, y = one_vs_one(n_classes), rng.integers(0, n_classes, 40)
    outputs = rng.normal(size=(40, matrix.shape[1])) + 0.5 * matrix[y]
    prior = np.bincount(y, minlength=n_classes) / 40
    found = [
        decode(kind().fit(outputs, y, matrix), outputs, matrix, prior).argmax(axis=1)
        for kind in (HammingDecoder, VotingDecoder)
    ]
    np.testing.assert_array_equal(found[0], found[1])
