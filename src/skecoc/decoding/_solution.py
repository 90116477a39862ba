"""The problem of optimised-weight decoding, and its solution with a certificate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skecoc.decoding._weights import WeightSpace

Floats = NDArray[np.float64]

#: Gaps are relative to the objective, or to this if the objective is smaller.
SMALLEST_OBJECTIVE = 1e-3


@dataclass(frozen=True)
class Problem:
    """Minimise the mean hinge with a margin plus ``l2 / 2`` times the sum of squared weights."""

    space: WeightSpace
    margin: float
    l2: float

    def penalty(self, weights: Floats) -> float:
        """Return the part of the objective that does not depend on rows."""
        return 0.5 * self.l2 * float((weights**2).sum())


@dataclass(frozen=True)
class Solution:
    """Weights, and what is known about them."""

    weights: Floats
    objective: float
    hinge: float
    risk: float
    lower_bound: float
    n_rounds: int
    n_cuts: int

    @property
    def gap(self) -> float:
        """By how much the objective may exceed the optimum, relative to the objective."""
        return relative_gap(self.objective, self.lower_bound)


def relative_gap(objective: float, bound: float) -> float:
    """Return the gap between an objective and a bound, relative to the objective."""
    return max(objective - bound, 0.0) / max(objective, SMALLEST_OBJECTIVE)
