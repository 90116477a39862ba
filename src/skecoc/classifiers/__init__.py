"""The scikit-learn estimators: thin shells over coding, learners and decoding."""

from skecoc.classifiers.costs import CostSensitiveClassifier
from skecoc.classifiers.ecoc import ECOCClassifier

__all__ = ["CostSensitiveClassifier", "ECOCClassifier"]
