"""Binary learners: who answers one question of a code."""

from skecoc.learners.regions import RegionClassifier
from skecoc.learners.stumps import StumpAdaBoostClassifier

__all__ = ["RegionClassifier", "StumpAdaBoostClassifier"]
