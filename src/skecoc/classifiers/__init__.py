"""The scikit-learn estimators: they combine a coding, learners and a decoding."""

from skecoc.classifiers.costs import CostSensitiveClassifier
from skecoc.classifiers.ecoc import ECOCClassifier

__all__ = ["CostSensitiveClassifier", "ECOCClassifier"]
