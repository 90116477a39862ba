"""Binary learners for the columns of a code."""

from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.learners.mixed import mixed_learners
    from skecoc.learners.multiclass import MulticlassLearner
    from skecoc.learners.regions import RegionClassifier
    from skecoc.learners.stumps import StumpAdaBoostClassifier
    from skecoc.learners.svm import TunedSVMClassifier

__all__ = [
    "MulticlassLearner",
    "RegionClassifier",
    "StumpAdaBoostClassifier",
    "TunedSVMClassifier",
    "mixed_learners",
]

# Loaded when they are first used: workers of a cluster need the compiled loops alone.
__getattr__, __dir__ = lazily(
    __name__,
    {
        "MulticlassLearner": "skecoc.learners.multiclass",
        "RegionClassifier": "skecoc.learners.regions",
        "StumpAdaBoostClassifier": "skecoc.learners.stumps",
        "TunedSVMClassifier": "skecoc.learners.svm",
        "mixed_learners": "skecoc.learners.mixed",
    },
)
