"""Codes that grow where they are still weak: one loop, and one file per method."""

from skecoc.growth.engine import GrowthRound
from skecoc.growth.layered import LCECOCClassifier
from skecoc.growth.one import ECOCOneClassifier
from skecoc.growth.subclass import SubclassECOCClassifier
from skecoc.growth.wolc import WOLCClassifier

__all__ = ["ECOCOneClassifier", "GrowthRound", "LCECOCClassifier", "SubclassECOCClassifier", "WOLCClassifier"]
