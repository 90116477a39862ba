"""Binary learners: what is trained for each column of a code."""

from skecoc.learners.regions import RegionClassifier
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.learners.svm import TunedSVMClassifier

__all__ = ["RegionClassifier", "StumpAdaBoostClassifier", "TunedSVMClassifier"]
