"""Optimised-weight decoding: weights of minimal training risk, and the solver with a certificate of optimality.

`decoder` is the estimator; `problem` states what is minimised and bounds it by one pass over the samples; `rows` says
where samples are; `solver` minimises with a penalty and `face` without one; `kernels` are the compiled loops.
"""

from skecoc.decoding.optimized.decoder import Certificate, OptimizedWeightDecoder

__all__ = ["Certificate", "OptimizedWeightDecoder"]
