"""Logistic weights: the optimum, its certificate, shrinkage, groups, and what must not change a result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from skecoc import ECOCClassifier
from skecoc.coding import one_vs_one, one_vs_rest
from skecoc.datasets import load_uci
from skecoc.decoding import LogisticWeightDecoder
from skecoc.decoding.logistic import _Problem


def noisy_codewords(matrix, n_samples, noise, seed=0):
    """Return codewords around the rows of a matrix, and the rows."""
    rng = np.random.RandomState(seed)
    y = np.arange(n_samples) % len(matrix)
    return np.tanh(matrix[y] + noise * rng.normal(size=(n_samples, matrix.shape[1]))), y


def joined(n_classes):
    """Return one-vs-rest and one-vs-one beside each other, and the group of each column."""
    parts = [one_vs_rest(n_classes), one_vs_one(n_classes)]
    return np.hstack(parts), np.repeat([0, 1], [part.shape[1] for part in parts])


def test_the_weights_minimise_the_objective_as_written_in_the_docs():
    matrix, groups = joined(3)
    x, y = noisy_codewords(matrix, 40, 1.5)
    weight = np.random.RandomState(1).uniform(0.5, 2.0, size=40)
    decoder = LogisticWeightDecoder(0.7, tol=1e-10).fit(x, y, matrix, weight, groups=groups)
    found = decoder.steepness_[:, None] * decoder.weights_
    # The prior: a class's columns of a group share a steepness; a tiny spread leaves just that.
    prior_decoder = LogisticWeightDecoder(1e-6, tol=1e-6).fit(x, y, matrix, weight, groups=groups)
    prior = prior_decoder.steepness_[:, None] * prior_decoder.weights_
    for group in (0, 1):
        shares = prior[:, groups == group]
        used = matrix[:, groups == group] != 0
        sums = shares.sum(axis=1)
        np.testing.assert_allclose(sums, sums[0], rtol=1e-4)
        np.testing.assert_allclose(shares, np.where(used, sums[0] / used.sum(axis=1, keepdims=True), 0.0), rtol=1e-4)
    entries = np.nonzero(matrix)

    def objective(point):
        factors, bias = point[: len(entries[0])], point[len(entries[0]) :]
        code = np.zeros(matrix.shape)
        code[entries] = prior[entries] * factors * matrix[entries]
        scores = np.array([[bias[p] + sum(code[p] * row) for p in range(3)] for row in x])
        spread = 0.5 / (0.5 + weight.sum())
        own = [(1.0 - spread) * s[k] + spread * s.mean() for s, k in zip(scores, y, strict=True)]
        loss = sum(w * (logsumexp(s) - o) for w, s, o in zip(weight, scores, own, strict=True))
        mean = np.average(x, axis=0, weights=weight)
        shift = bias + (code - prior * matrix) @ mean  # of the scores of the mean codeword
        return loss + ((factors - 1.0) ** 2).sum() / (2 * 0.7**2) + (shift**2).sum() / 2

    own = np.append(found[entries] / prior[entries], decoder.bias_)
    assert decoder.certificate_.objective == pytest.approx(objective(own), rel=1e-6)
    start = np.append(np.ones(len(entries[0])), np.zeros(3))
    bounds = [(0, None)] * len(entries[0]) + [(None, None)] * 3
    best = minimize(objective, start, method="L-BFGS-B", bounds=bounds, options={"maxfun": 100_000}).fun
    assert decoder.certificate_.objective <= best + 1e-4
    assert decoder.certificate_.lower_bound <= best + 1e-4
    np.testing.assert_allclose(decoder.group_shares_.sum(axis=1), 1.0)


def test_the_lower_bound_is_below_the_objective_everywhere():
    matrix, _ = joined(4)
    x, y = noisy_codewords(matrix, 60, 2.0)
    used = matrix != 0
    prior = used / used.sum(axis=1, keepdims=True)
    problem = _Problem(x, y, np.ones(60), matrix.astype(float), prior, 1.0)
    least, _ = problem.minimize(1e-10, 1000)
    optimum = problem.bounds(least)[0]
    rng = np.random.RandomState(0)
    for size in (0.1, 1.0, 5.0):
        point = np.append(rng.uniform(0, size, size=used.sum()), rng.normal(size=4))
        objective, bound = problem.bounds(point)
        assert bound <= optimum + 1e-7 <= objective + 1e-6


def test_scores_are_logarithms_of_probabilities():
    matrix = one_vs_one(4)
    x, y = noisy_codewords(matrix, 80, 1.0)
    decoder = LogisticWeightDecoder().fit(x, y, matrix)
    np.testing.assert_allclose(np.exp(decoder.scores(x)).sum(axis=1), 1.0)
    model = ECOCClassifier(decoding="logistic-weight", random_state=0).fit(*load_uci("iris", return_X_y=True))
    assert model.temperature_ == 1.0
    X = load_uci("iris", return_X_y=True)[0]
    np.testing.assert_allclose(model.predict_proba(X), np.exp(model.decision_function(X)), atol=1e-9)


def test_probabilities_match_frequencies_where_outputs_are_only_noise():
    matrix = one_vs_rest(3)
    rng = np.random.RandomState(0)
    x, y = rng.uniform(-1, 1, size=(3000, 3)), rng.choice(3, size=3000, p=[0.6, 0.3, 0.1])
    decoder = LogisticWeightDecoder().fit(x, y, matrix)
    np.testing.assert_allclose(np.exp(decoder.scores(x)).mean(axis=0), [0.6, 0.3, 0.1], atol=0.02)


def test_a_group_of_noise_counts_for_little_and_a_useless_column_for_less_than_its_group():
    rng = np.random.RandomState(0)
    matrix = np.hstack([one_vs_rest(3), one_vs_rest(3)])
    x, y = noisy_codewords(matrix, 600, 1.0)
    x[:, 3:] = rng.uniform(-1, 1, size=(600, 3))
    x[:, 0] = rng.uniform(-1, 1, size=600)
    decoder = LogisticWeightDecoder().fit(x, y, matrix, groups=[0, 0, 0, 1, 1, 1])
    assert (decoder.group_shares_[:, 1] < 0.15).all()
    assert (decoder.weights_[:, 0] < decoder.weights_[:, 1:3].max(axis=1)).all()


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000))
def test_renaming_classes_permuting_columns_and_repeating_samples_changes_nothing(seed):
    rng = np.random.RandomState(seed)
    matrix, groups = joined(4)
    x, y = noisy_codewords(matrix, 60, 1.5, seed)
    new = rng.uniform(-1, 1, size=(10, matrix.shape[1]))
    scores = LogisticWeightDecoder(tol=1e-9).fit(x, y, matrix, groups=groups).scores(new)
    classes, columns = rng.permutation(4), rng.permutation(matrix.shape[1])
    renamed = LogisticWeightDecoder(tol=1e-9).fit(x, np.argsort(classes)[y], matrix[classes], groups=groups)
    np.testing.assert_allclose(renamed.scores(new), scores[:, classes], atol=1e-3)
    permuted = LogisticWeightDecoder(tol=1e-9).fit(x[:, columns], y, matrix[:, columns], groups=groups[columns])
    np.testing.assert_allclose(permuted.scores(new[:, columns]), scores, atol=1e-3)
    counts = rng.randint(0, 3, size=60)
    counts[:4] = 1
    weighted = LogisticWeightDecoder(tol=1e-9).fit(x, y, matrix, counts, groups=groups)
    twice = np.repeat(x, counts, axis=0), np.repeat(y, counts)
    repeated = LogisticWeightDecoder(tol=1e-9).fit(*twice, matrix, groups=groups)
    np.testing.assert_allclose(weighted.scores(new), repeated.scores(new), atol=1e-3)


def test_an_unfinished_solution_is_said_to_be_one():
    matrix, groups = joined(5)
    x, y = noisy_codewords(matrix, 200, 1.5)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* above tol=1e-08; raise max_iter or tol"):
        decoder = LogisticWeightDecoder(tol=1e-8, max_iter=1).fit(x, y, matrix, groups=groups)
    assert decoder.certificate_.gap > 1e-8


def test_perfect_codewords_and_missing_classes_are_no_problem():
    matrix = one_vs_rest(4)
    decoder = LogisticWeightDecoder().fit(matrix[[0, 1, 2] * 50].astype(float), [0, 1, 2] * 50, matrix)
    assert np.isfinite(decoder.scores(matrix)).all()
    np.testing.assert_array_equal(decoder.scores(matrix).argmax(axis=1), [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"spread": 0}, "spread must be a positive, finite number, got 0"),
        ({"spread": np.inf}, "spread must be a positive"),
        ({"tol": -1.0}, "tol must be a positive, finite number"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LogisticWeightDecoder(**parameters).fit(np.eye(2), [0, 1], [[1, -1], [-1, 1]])


@pytest.mark.parametrize("groups", [[0], [0, -1], [0.0, 1.0], [[0, 1]]])
def test_bad_groups(groups):
    with pytest.raises(ValueError, match="groups must hold 2 integers that are not negative, one per column"):
        LogisticWeightDecoder().fit(np.eye(2), [0, 1], [[1, -1], [-1, 1]], groups=groups)


def test_a_group_whose_scores_differ_by_rounding_alone_does_not_count():
    """A learner that knows nothing gives all classes the same score, but for the last bits."""
    random = np.random.default_rng(0)
    matrix = np.hstack([one_vs_rest(3), one_vs_rest(3)]).astype(float)
    y = np.arange(60) % 3
    good = 0.8 * matrix[y, :3] + 0.1 * random.normal(size=(60, 3))
    noise = -1 / 3 + 1e-16 * random.integers(-1, 2, size=(60, 3))
    decoder = LogisticWeightDecoder().fit(np.hstack([good, noise]), y, matrix, groups=[0, 0, 0, 1, 1, 1])
    assert decoder.certificate_.gap <= 1e-3
    assert decoder.steepness_.max() < 1e3
    assert (decoder.scores(np.hstack([good, noise])).argmax(axis=1) == y).all()
