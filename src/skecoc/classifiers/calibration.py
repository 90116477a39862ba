"""Probabilities from class scores: a temperature, and the samples that it is fitted on."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from skecoc.learners.columns import Floats, Integers

# Samples that the temperature of `predict_proba` is fitted on: one number needs no more.
_CALIBRATION_SAMPLES = 300
# Part of a label that is spread over all classes there: training codewords are often perfect.
_SMOOTHING = 0.01


def calibration_samples(y: Integers, weight: Floats) -> tuple[Integers, Floats]:
    """Choose samples to fit the temperature on, and their weights.

    Beyond a total weight of `_CALIBRATION_SAMPLES` these are evenly spaced quantiles of the weight, class by class.
    They do not change when a sample of weight two is given as two samples.
    """
    total = weight.sum()
    if total <= _CALIBRATION_SAMPLES:
        return np.arange(len(y)), weight
    by_class = np.argsort(y, kind="stable")
    positions = (np.arange(_CALIBRATION_SAMPLES) + 0.5) / _CALIBRATION_SAMPLES * total
    chosen = np.minimum(np.searchsorted(np.cumsum(weight[by_class]), positions), len(y) - 1)
    return by_class[chosen], np.full(_CALIBRATION_SAMPLES, total / _CALIBRATION_SAMPLES)


def fit_temperature(scores: Floats, y: NDArray[np.intp], weight: Floats) -> float:
    """Find the temperature T for which softmax(scores / T) predicts smoothed labels best.

    One part in a hundred of each label is spread evenly over the classes, so that the temperature stays positive when
    every training sample is decoded correctly.
    """
    share = weight / weight.sum()
    spread = float(share @ (scores.max(axis=1) - scores.min(axis=1)))
    if spread == 0:
        return 1.0
    scaled = scores / spread
    # Expected score under the smoothed label: the part of the log-likelihood that is linear in 1/T.
    truth = scaled[np.arange(len(y)), y]
    target = share @ ((1.0 - _SMOOTHING) * truth + _SMOOTHING * scaled.mean(axis=1))

    def loss(log_beta: float) -> float:
        beta = np.exp(log_beta)
        return float(share @ logsumexp(beta * scaled, axis=1) - beta * target)

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(1e3)), method="bounded", options={"xatol": 1e-6})
    return spread / float(np.exp(best.x))


def probabilities_of(scores: Floats, temperature: float) -> Floats:
    """Turn class scores, ties resolved, into probabilities, of which the largest is that of the highest score."""
    probabilities: Floats = softmax(scores / temperature, axis=1)
    # Softmax rounds away the small differences that resolve ties: give the winner its lead back.
    winner = scores.argmax(axis=1)
    tied = (probabilities >= probabilities[np.arange(len(winner)), winner][:, None]).sum(axis=1) > 1
    probabilities[tied] *= 1.0 - 1e-9
    probabilities[tied, winner[tied]] += 1e-9
    return probabilities
