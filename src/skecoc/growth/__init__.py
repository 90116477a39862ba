"""Codes that grow where they are still weak: one loop in `engine`, and one file per method."""

from skecoc.growth.engine import GrowthRound

__all__ = ["GrowthRound"]
