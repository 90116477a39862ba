"""Probabilities from class scores: how they are calibrated, and the samples that this is fitted on."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, softmax

from skecoc.learners.columns import Floats, Integers

# Number of samples that a temperature is fitted on: enough for a single parameter.
_FEW_SAMPLES = 300
# Largest number of samples that a calibration is fitted on, and of their scores.
_MANY_SAMPLES = 32_768
_MANY_SCORES = 2**20
# With more classes than this, each is calibrated by its own score only.
_MOST_CLASSES_OF_MATRIX = 64
# Label smoothing: at most 0.01, since training codewords are often perfect; for held-out samples
# 0.25 * n_classes / n_samples if that is less.
_SMOOTHING = 0.01
_HELD_OUT_SMOOTHING = 0.25
# The penalty, relative to the mean log-loss, is max(20 / (samples per class)**2, 1e-3).
_PENALTY = 20.0
_LEAST_PENALTY = 1e-3
#: Scores over the temperature that are calibrated are bounded by this.
LARGEST_LOGIT = 1e4


def calibration_samples(y: Integers, weight: Floats, n_classes: int | None = None) -> tuple[Integers, Floats]:
    """Choose samples to fit probabilities on, and their weights.

    Few are enough for a temperature; with `n_classes` they are enough for a calibration. If there are more samples, or
    their total weight is higher, these are evenly spaced quantiles of the weight, class by class. They do not change
    when a sample of weight two is given as two samples.
    """
    most = _FEW_SAMPLES
    if n_classes is not None:
        most = min(_MANY_SAMPLES, max(_FEW_SAMPLES, _MANY_SCORES // n_classes))
    total = weight.sum()
    if total <= most and len(y) <= most:
        return np.arange(len(y)), weight
    by_class = np.argsort(y, kind="stable")
    positions = (np.arange(most) + 0.5) / most * total
    chosen = np.minimum(np.searchsorted(np.cumsum(weight[by_class]), positions), len(y) - 1)
    return by_class[chosen], np.full(most, total / most)


def calibrate(scores: Floats, y: Integers, weight: Floats, *, held_out: bool) -> tuple[float, Floats | None]:
    """Return the temperature and, for samples that are held out, the calibration."""
    if not held_out:
        return fit_temperature(scores, y, weight), None
    spread = float(np.abs(scores).max()) or 1.0
    # Where weights are shares, distinct samples are counted.
    n_samples = max(float(weight.sum()), _count_distinct(scores / spread, y))
    smoothing = min(_SMOOTHING, _HELD_OUT_SMOOTHING * scores.shape[1] / n_samples)
    temperature = fit_temperature(scores, y, weight, smoothing)
    return temperature, fit_calibration(scores, y, weight, temperature, smoothing)


def fit_temperature(scores: Floats, y: NDArray[np.intp], weight: Floats, smoothing: float = _SMOOTHING) -> float:
    """Find the temperature T for which softmax(scores / T) predicts smoothed labels best.

    A small part of each label is spread evenly over the classes, so that the temperature stays positive when every
    sample is decoded correctly.
    """
    share = weight / weight.sum()
    spread = float(share @ (scores.max(axis=1) - scores.min(axis=1)))
    if spread == 0:
        return 1.0
    scaled = scores / spread
    # Expected score under the smoothed label: the part of the log-likelihood that is linear in 1/T.
    truth = scaled[np.arange(len(y)), y]
    target = share @ ((1.0 - smoothing) * truth + smoothing * scaled.mean(axis=1))

    def loss(log_beta: float) -> float:
        beta = np.exp(log_beta)
        return float(share @ logsumexp(beta * scaled, axis=1) - beta * target)

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(1e3)), method="bounded", options={"xatol": 1e-6})
    return spread / float(np.exp(best.x))


def fit_calibration(
    scores: Floats, y: NDArray[np.intp], weight: Floats, temperature: float, smoothing: float = _SMOOTHING
) -> Floats:
    """Fit coefficients and, in the last row, intercepts of class scores divided by the temperature.

    They minimise the mean log-loss of smoothed labels plus an L2 penalty on their difference from the identity and from
    zero: a convex problem with one solution. The fewer samples per class, the higher the penalty, so that little is
    calibrated besides the temperature. With many classes, each has a coefficient of its own score only, in the first
    of two rows.
    """
    n_classes = scores.shape[1]
    share = weight / weight.sum()
    logits = _centred(scores, temperature)
    is_matrix = n_classes <= _MOST_CLASSES_OF_MATRIX
    start = np.vstack([np.eye(n_classes) if is_matrix else np.ones(n_classes), np.zeros(n_classes)])
    labels = np.full(scores.shape, smoothing / n_classes)
    labels[np.arange(len(y)), y] += 1.0 - smoothing

    def sums(of_classes: Floats) -> Floats:
        products = logits.T @ of_classes if is_matrix else np.einsum("ij,ij->j", logits, of_classes)
        return np.vstack([products, of_classes.sum(axis=0)])

    # The part of the log-likelihood that is linear in the parameters.
    target = sums(labels * share[:, np.newaxis])
    penalty = max(_PENALTY * (n_classes / _count_distinct(logits, y)) ** 2, _LEAST_PENALTY)

    def loss(flat: Floats) -> tuple[float, Floats]:
        parameters = flat.reshape(start.shape)
        calibrated = _calibrated(logits, parameters)
        total = logsumexp(calibrated, axis=1)
        expected = np.exp(calibrated - total[:, np.newaxis]) * share[:, np.newaxis]
        change = parameters - start
        value = share @ total - (parameters * target).sum() + 0.5 * penalty * (change**2).sum()
        return float(value), (sums(expected) - target + penalty * change).ravel()

    options = {"maxiter": 1_000, "maxfun": 2_000, "ftol": 1e-15, "gtol": 1e-7}
    found: Floats = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options).x
    return found.reshape(start.shape)


def _centred(scores: Floats, temperature: float) -> Floats:
    """Subtract the mean from the scores of each sample, and divide them by the temperature."""
    largest = LARGEST_LOGIT * temperature
    return np.clip(scores - scores.mean(axis=1, keepdims=True), -largest, largest) / temperature


def _calibrated(logits: Floats, calibration: Floats) -> Floats:
    biases = calibration[-1]
    return logits @ calibration[:-1] + biases if len(calibration) > 2 else logits * calibration[0] + biases


def _count_distinct(logits: Floats, y: NDArray[np.intp]) -> int:
    """Count distinct samples: a repeated sample, or a higher weight, is no further evidence."""
    direction = np.cos(1.0 + np.arange(logits.shape[1]))
    return len(np.unique(np.round(logits @ direction, 7) + 4.0 * LARGEST_LOGIT * logits.shape[1] * y))


def probabilities_of(scores: Floats, temperature: float, calibration: Floats | None = None) -> Floats:
    """Turn class scores, ties resolved, into probabilities, of which the largest is that of the highest score."""
    rows, winner = np.arange(len(scores)), scores.argmax(axis=1)
    if calibration is None:
        probabilities: Floats = softmax(scores / temperature, axis=1)
    else:
        probabilities = softmax(_calibrated(_centred(scores, temperature), calibration), axis=1)
        overruled = np.flatnonzero(probabilities.max(axis=1) > probabilities[rows, winner])
        probabilities[overruled] = give_lead(probabilities[overruled], winner[overruled])
    # Softmax rounds away the small differences that resolve ties: restore the lead of the winner.
    tied = (probabilities >= probabilities[rows, winner][:, np.newaxis]).sum(axis=1) > 1
    probabilities[tied] *= 1.0 - 1e-9
    probabilities[tied, winner[tied]] += 1e-9
    return probabilities


def give_lead(probabilities: Floats, winner: NDArray[np.intp]) -> Floats:
    """Give a winner and the classes above it the mean of their probabilities: the smallest change that lets it lead.

    >>> give_lead(np.array([[0.5, 0.125, 0.375]]), np.array([1])).round(3)
    array([[0.333, 0.333, 0.333]])
    """
    rows = np.arange(len(winner))
    own = probabilities[rows, winner][:, np.newaxis]
    others = probabilities.copy()
    others[rows, winner] = 0.0
    sums = own + np.cumsum(-np.sort(-others, axis=1), axis=1)
    # The mean of the winner and of the classes above it is the highest one over any number of the next classes.
    lead = np.maximum(own, (sums / np.arange(2.0, probabilities.shape[1] + 2)).max(axis=1, keepdims=True))
    shared = np.minimum(probabilities, lead)
    shared[rows, winner] = lead[:, 0]
    return shared
