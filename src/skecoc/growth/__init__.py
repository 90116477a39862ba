"""Classifiers that add columns to a code where it still makes errors."""

from skecoc.growth.engine import GrowthRound

__all__ = ["GrowthRound"]
