"""Rows in blocks: classifiers for data that do not fit into memory, and the parts that a cluster shares with them."""

from skecoc.blocks.classifiers import BlockECOCClassifier, BlockWOLCClassifier

__all__ = ["BlockECOCClassifier", "BlockWOLCClassifier"]
