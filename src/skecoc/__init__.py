"""Error-correcting output codes for multiclass problems, at home in scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where the classifiers are. They are loaded when they are first used: with scikit-learn that takes a second or two,
# which the command line's --help and --version do without.
_MODULES = {
    "ECOCClassifier": "skecoc.classifiers",
    "LCECOCClassifier": "skecoc.growth.layered",
    "ECOCOneClassifier": "skecoc.growth.one",
    "SubclassECOCClassifier": "skecoc.growth.subclass",
    "WOLCClassifier": "skecoc.growth.wolc",
}
_SUBPACKAGES = ("classifiers", "coding", "datasets", "decoding", "growth", "learners")


def __getattr__(name: str) -> Any:
    """Load a classifier, or a subpackage that ``import skecoc`` alone offers, when it is first used."""
    if name in _SUBPACKAGES:
        return import_module(f"skecoc.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what there is, loaded or not."""
    return sorted({*globals(), *__all__, *_SUBPACKAGES})
