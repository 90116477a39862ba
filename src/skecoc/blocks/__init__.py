"""Classifiers for out-of-core data, read in blocks of rows."""

from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.blocks.classifiers import BlockECOCClassifier, BlockWOLCClassifier

__all__ = ["BlockECOCClassifier", "BlockWOLCClassifier"]

# Workers of a cluster, which need other modules alone, do without scikit-learn.
__getattr__, __dir__ = lazily(__name__, dict.fromkeys(__all__, "skecoc.blocks.classifiers"))
