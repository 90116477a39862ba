"""Error-correcting output codes for multiclass classification with scikit-learn."""

from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.classifiers import (
        CostSensitiveClassifier,
        ECOCClassifier,
        ECOCOneClassifier,
        LCECOCClassifier,
        SubclassECOCClassifier,
        WOLCClassifier,
    )

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

# They are loaded when they are first used: with scikit-learn that takes a second or two,
# which the command line's --help and --version do without.
_CLASSIFIERS = [name for name in __all__ if name.endswith("Classifier")]
_SUBPACKAGES = ("classifiers", "coding", "data", "datasets", "decoding", "learners")

__getattr__, __dir__ = lazily(__name__, dict.fromkeys(_CLASSIFIERS, "skecoc.classifiers"), _SUBPACKAGES)
