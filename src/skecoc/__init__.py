"""Error-correcting output codes for multiclass problems, at home in scikit-learn."""

from skecoc.classifiers import ECOCClassifier
from skecoc.growth import ECOCOneClassifier, LCECOCClassifier, SubclassECOCClassifier, WOLCClassifier

__version__ = "0.1.0.dev0"
__all__ = [
    "ECOCClassifier",
    "ECOCOneClassifier",
    "LCECOCClassifier",
    "SubclassECOCClassifier",
    "WOLCClassifier",
    "__version__",
]
