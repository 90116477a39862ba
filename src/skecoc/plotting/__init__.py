"""Plots of codes, weights, growth and probabilities. Needs matplotlib: ``pip install "scikit-ecoc[plot]"``."""

from skecoc.plotting.code import plot_code_matrix, plot_learner_shares, plot_weights
from skecoc.plotting.convergence import plot_convergence, plot_risk
from skecoc.plotting.probabilities import plot_reliability, plot_risk_coverage

__all__ = [
    "plot_code_matrix",
    "plot_convergence",
    "plot_learner_shares",
    "plot_reliability",
    "plot_risk",
    "plot_risk_coverage",
    "plot_weights",
]
