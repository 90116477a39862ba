"""The scikit-learn estimators: thin shells over coding, learners and decoding."""

from skecoc.classifiers.base import BaseCodeClassifier
from skecoc.classifiers.ecoc import ECOCClassifier

__all__ = ["BaseCodeClassifier", "ECOCClassifier"]
