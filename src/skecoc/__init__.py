"""Error-correcting output codes for multiclass classification with scikit-learn."""

from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.classifiers import CostSensitiveClassifier, ECOCClassifier
    from skecoc.growth.layered import LCECOCClassifier
    from skecoc.growth.one import ECOCOneClassifier
    from skecoc.growth.subclass import SubclassECOCClassifier
    from skecoc.growth.wolc import WOLCClassifier

__version__ = "0.1.0"
__all__ = [
    "CostSensitiveClassifier",
    "ECOCClassifier",
    "ECOCOneClassifier",
    "LCECOCClassifier",
    "SubclassECOCClassifier",
    "WOLCClassifier",
    "__version__",
]

# Where the classifiers are. They are loaded when they are first used: with scikit-learn that takes a second or two,
# which the command line's --help and --version do without.
_MODULES = {
    "CostSensitiveClassifier": "skecoc.classifiers",
    "ECOCClassifier": "skecoc.classifiers",
    "LCECOCClassifier": "skecoc.growth.layered",
    "ECOCOneClassifier": "skecoc.growth.one",
    "SubclassECOCClassifier": "skecoc.growth.subclass",
    "WOLCClassifier": "skecoc.growth.wolc",
}
_SUBPACKAGES = ("classifiers", "coding", "datasets", "decoding", "growth", "learners")

__getattr__, __dir__ = lazily(__name__, _MODULES, _SUBPACKAGES)
