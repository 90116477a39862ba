"""The scikit-learn estimators: they combine a coding, learners and a decoding, and grow codes."""

from skecoc.classifiers.costs import CostSensitiveClassifier
from skecoc.classifiers.ecoc import ECOCClassifier
from skecoc.classifiers.growth import GrowthRound
from skecoc.classifiers.layered import LCECOCClassifier
from skecoc.classifiers.one import ECOCOneClassifier
from skecoc.classifiers.subclass import SubclassECOCClassifier
from skecoc.classifiers.wolc import WOLCClassifier

__all__ = [
    "CostSensitiveClassifier",
    "ECOCClassifier",
    "ECOCOneClassifier",
    "GrowthRound",
    "LCECOCClassifier",
    "SubclassECOCClassifier",
    "WOLCClassifier",
]
