"""Slow, obvious versions of the decoders and of breaking ties: one number at a time, from the definitions."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

LOSSES = {
    "linear": lambda t: -t,
    "exponential": lambda t: math.exp(-t),
    "hinge": lambda t: max(0.0, 1.0 - t),
    "logistic": lambda t: math.log(1.0 + math.exp(-t)),
    "squared": lambda t: (1.0 - t) ** 2,
    "binomial-deviance": lambda t: math.log(1.0 + math.exp(-2.0 * t)),
}


def sign(value):
    return int(value > 0) - int(value < 0)


def score_each(score, codewords, matrix):
    """Apply ``score(codeword, row)`` to every codeword and every row of the matrix."""
    return np.array([[score(x, y) for y in np.asarray(matrix)] for x in np.asarray(codewords)], dtype=float)


def hamming_distance(x, y):
    return sum((1 - sign(xq * yq)) / 2 for xq, yq in zip(x, y, strict=True))


def hamming(codewords, matrix):
    return score_each(lambda x, y: -hamming_distance(np.sign(x), y), codewords, matrix)


def inverse_hamming(codewords, matrix):
    """Solve for each codeword by least squares, of which numpy gives the solution of least norm."""
    delta = np.array([[hamming_distance(a, b) for b in matrix] for a in matrix])
    distances = [[hamming_distance(np.sign(x), y) for y in matrix] for x in codewords]
    return np.array([np.linalg.lstsq(delta, np.array(d), rcond=1e-10)[0] for d in distances])


def euclidean(codewords, matrix):
    return score_each(
        lambda x, y: -math.sqrt(sum((xq - yq) ** 2 for xq, yq in zip(x, y, strict=True))), codewords, matrix
    )


def attenuated_euclidean(codewords, matrix):
    def score(x, y):
        return -math.sqrt(sum(abs(yq) * (xq - yq) ** 2 for xq, yq in zip(x, y, strict=True)))

    return score_each(score, codewords, matrix)


def loss_based(codewords, matrix, loss="linear"):
    def score(x, y):
        return -sum(LOSSES[loss](xq * yq) for xq, yq in zip(x, y, strict=True))

    return score_each(score, codewords, matrix)


def loss_averaged(codewords, matrix, loss="linear"):
    def score(x, y):
        losses = [LOSSES[loss](xq * yq) for xq, yq in zip(x, y, strict=True) if yq != 0]
        return -sum(losses) / len(losses)

    return score_each(score, codewords, matrix)


def count(x, y):
    """Return the numbers of agreements and of disagreements, an output of zero being half of each."""
    agree = disagree = 0.0
    for xq, yq in zip(x, y, strict=True):
        if yq == 0:
            continue
        if xq == 0:
            agree, disagree = agree + 0.5, disagree + 0.5
        elif sign(xq) == yq:
            agree += 1
        else:
            disagree += 1
    return agree, disagree


def laplacian(codewords, matrix):
    def score(x, y):
        agree, disagree = count(x, y)
        return (agree + 1) / (agree + disagree + 2)

    return score_each(score, codewords, matrix)


def pessimistic_share(agree, disagree):
    """Integrate the density numerically and search for the point with a third of the mass below the mode."""

    def density(v):
        return v**agree * (1 - v) ** disagree

    mode = agree / (agree + disagree)
    total = quad(density, 0, mode)[0] + quad(density, mode, 1)[0]

    def excess(point):
        return quad(density, point, mode)[0] / total - 1 / 3

    # The quadrature is good to about eight digits.
    return brentq(excess, 0.0, mode, xtol=1e-12) if excess(0.0) > 1e-8 else 0.0


def beta_density(codewords, matrix):
    known = {}

    def score(x, y):
        pair = count(x, y)
        if pair not in known:
            known[pair] = pessimistic_share(*pair)
        return known[pair]

    return score_each(score, codewords, matrix)


def probabilistic(codewords, matrix, slopes, intercepts, invalid_mass=0.0):
    def score(x, y):
        log_product = 0.0
        for xq, yq, v, w in zip(x, y, slopes, intercepts, strict=True):
            if yq != 0:
                log_odds = yq * (v * xq + w)
                # 1 / (1 + exp(t)) is exp(-t) to all digits where exp(t) is beyond the range of floats.
                log_product += math.log(1 / (1 + math.exp(log_odds))) if log_odds < 500 else -log_odds
        return math.log(math.exp(log_product) + invalid_mass) if invalid_mass else log_product

    return score_each(score, codewords, matrix)


def platt_gradient(outputs, sides, weights, slope, intercept):
    """Return the derivatives of Platt's cross-entropy, divided by the total weight, over the rows of one column."""
    n_positive = sum(w for w, side in zip(weights, sides, strict=True) if side > 0)
    n_negative = sum(w for w, side in zip(weights, sides, strict=True) if side < 0)
    by_slope = by_intercept = total = 0.0
    for f, side, w in zip(outputs, sides, weights, strict=True):
        if side == 0:
            continue
        target = (n_positive + 1) / (n_positive + 2) if side > 0 else 1 / (n_negative + 2)
        probability = 1 / (1 + math.exp(slope * f + intercept))
        by_slope += w * (target - probability) * f
        by_intercept += w * (target - probability)
        total += w
    return by_slope / total, by_intercept / total


def agreement_weights(codewords, y, matrix, sample_weight):
    matrix = np.asarray(matrix)
    weights = np.zeros(matrix.shape)
    for p, row in enumerate(matrix):
        members = [i for i, label in enumerate(y) if label == p]
        mass = sum(sample_weight[i] for i in members)
        for q, entry in enumerate(row):
            if entry != 0 and mass > 0:
                weights[p, q] = sum(sample_weight[i] for i in members if sign(codewords[i][q]) == entry) / mass
        if weights[p].sum() == 0:
            weights[p] = np.abs(row)
        weights[p] /= weights[p].sum()
    return weights


def loss_weighted(codewords, matrix, weights, loss="linear"):
    rows = [tuple(zip(y, w, strict=True)) for y, w in zip(matrix, weights, strict=True)]
    return np.array(
        [
            [-sum(w * LOSSES[loss](xq * yq) for xq, (yq, w) in zip(x, row, strict=True)) for row in rows]
            for x in codewords
        ]
    )


def is_tied(a, b):
    return abs(a - b) <= 1e-10 * max(1.0, abs(a), abs(b))


def split_by_key(indices, key):
    """Sort indices by a key, best first, and cut the list wherever neighbours do not tie."""
    groups = []
    for index in sorted(indices, key=lambda i: -key[i]):
        if groups and is_tied(key[groups[-1][-1]], key[index]):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def order_of_classes(scores, second_key, prior):
    """Return one row's indices from best to worst."""
    order = []
    for by_score in split_by_key(range(len(scores)), scores):
        for by_second in split_by_key(by_score, second_key):
            for by_prior in split_by_key(by_second, prior):
                order.extend(sorted(by_prior))
    return order


OUTPUTS = st.one_of(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.floats(-2.0, 2.0))


@st.composite
def decoding_problems(draw, min_samples=1, max_samples=8):
    """Draw a ternary matrix with non-zero rows, training codewords with labels, and test codewords."""
    n_rows, n_columns = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_columns, max_size=n_columns).filter(any)
    matrix = np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))
    codeword = st.lists(OUTPUTS, min_size=n_columns, max_size=n_columns)
    training = np.array(draw(st.lists(codeword, min_size=min_samples, max_size=max_samples)))
    y = np.array(draw(st.lists(st.integers(0, n_rows - 1), min_size=len(training), max_size=len(training))))
    codewords = np.array(draw(st.lists(codeword, min_size=1, max_size=4)))
    return matrix, training, y, codewords
