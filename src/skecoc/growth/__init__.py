"""Which question next: codes that grow where the code so far is weak."""

from skecoc.growth.engine import GrowingCode, Growth, GrowthRound, StopRules, Strategy, grow
from skecoc.growth.layered import LayeredStrategy
from skecoc.growth.one import OneStrategy
from skecoc.growth.starts import Start, automatic_start_names, grow_from
from skecoc.growth.wolc import OptimizedWeightStrategy

__all__ = [
    "GrowingCode",
    "Growth",
    "GrowthRound",
    "LayeredStrategy",
    "OneStrategy",
    "OptimizedWeightStrategy",
    "Start",
    "StopRules",
    "Strategy",
    "automatic_start_names",
    "grow",
    "grow_from",
]
