"""Optimised-weight decoding: weights of minimal training risk, and the solver with a certificate of optimality.

`decoder` is the estimator; `hinge` states what is minimised and bounds it by one pass over the samples; `training_rows`
says where samples are; `newton` minimises with a penalty, with many weights by `ascent`; `face` minimises without one.
"""

from skecoc.decoding.optimized.decoder import Certificate, OptimizedWeightDecoder

__all__ = ["Certificate", "OptimizedWeightDecoder"]
