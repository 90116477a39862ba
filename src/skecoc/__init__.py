"""Error-correcting output codes for multiclass problems, at home in scikit-learn."""

from skecoc.classifiers import ECOCClassifier
from skecoc.growth.layered import LCECOCClassifier
from skecoc.growth.one import ECOCOneClassifier
from skecoc.growth.subclass import SubclassECOCClassifier
from skecoc.growth.wolc import WOLCClassifier

__version__ = "0.1.0.dev0"
__all__ = [
    "ECOCClassifier",
    "ECOCOneClassifier",
    "LCECOCClassifier",
    "SubclassECOCClassifier",
    "WOLCClassifier",
    "__version__",
]
