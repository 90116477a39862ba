"""Binary learners: what is trained for each column of a code."""

from skecoc.learners.mixed import mixed_learners
from skecoc.learners.multiclass import MulticlassLearner
from skecoc.learners.regions import RegionClassifier
from skecoc.learners.stumps import StumpAdaBoostClassifier
from skecoc.learners.svm import TunedSVMClassifier

__all__ = [
    "MulticlassLearner",
    "RegionClassifier",
    "StumpAdaBoostClassifier",
    "TunedSVMClassifier",
    "mixed_learners",
]
