"""The scikit-learn estimators of grown codes: thin shells over the growth room."""

from skecoc.grown.layered import LCECOCClassifier
from skecoc.grown.one import ECOCOneClassifier
from skecoc.grown.subclass import SubclassECOCClassifier
from skecoc.grown.wolc import WOLCClassifier

__all__ = ["ECOCOneClassifier", "LCECOCClassifier", "SubclassECOCClassifier", "WOLCClassifier"]
