"""Optimised-weight decoding: weights of minimal training risk, and the solver with a certificate of optimality.

`decoder` is the estimator; `problem` states what is minimised, and over which rows; `newton` minimises with a penalty,
with many weights by `ascent`; `face` minimises without one.
"""

from skecoc.decoding.optimized.decoder import Certificate, OptimizedWeightDecoder

__all__ = ["Certificate", "OptimizedWeightDecoder"]
