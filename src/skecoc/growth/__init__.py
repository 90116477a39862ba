"""Growth of codes: `GrowthRound`, one entry of `history_`. The classifiers that grow a code are in `skecoc`."""

from skecoc.growth.engine import GrowthRound

__all__ = ["GrowthRound"]
