"""Decoders that turn codewords and a code matrix into one score per class."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sklearn.base import clone

from skecoc.decoding.distances import (
    AttenuatedEuclideanDecoder,
    BetaDensityDecoder,
    EuclideanDecoder,
    HammingDecoder,
    InverseHammingDecoder,
    LaplacianDecoder,
)
from skecoc.decoding.logistic import LogisticCertificate, LogisticWeightDecoder
from skecoc.decoding.losses import LossAveragedDecoder, LossBasedDecoder, LossWeightedDecoder
from skecoc.decoding.optimized import Certificate, OptimizedWeightDecoder
from skecoc.decoding.probabilistic import ProbabilisticDecoder, VotingDecoder
from skecoc.decoding.scoring import BaseDecoder, RiskAndConfusion, break_ties, risk_and_confusion
from skecoc.support.errors import resolve_name

__all__ = [
    "DECODERS",
    "AttenuatedEuclideanDecoder",
    "BaseDecoder",
    "BetaDensityDecoder",
    "Certificate",
    "EuclideanDecoder",
    "HammingDecoder",
    "InverseHammingDecoder",
    "LaplacianDecoder",
    "LogisticCertificate",
    "LogisticWeightDecoder",
    "LossAveragedDecoder",
    "LossBasedDecoder",
    "LossWeightedDecoder",
    "OptimizedWeightDecoder",
    "ProbabilisticDecoder",
    "RiskAndConfusion",
    "VotingDecoder",
    "break_ties",
    "decoding_name",
    "resolve_decoder",
    "risk_and_confusion",
]

#: The decoders by the name that `decoding` takes.
DECODERS: Mapping[str, type[BaseDecoder]] = MappingProxyType(
    {
        "hamming": HammingDecoder,
        "inverse-hamming": InverseHammingDecoder,
        "euclidean": EuclideanDecoder,
        "attenuated-euclidean": AttenuatedEuclideanDecoder,
        "loss-based": LossBasedDecoder,
        "loss-averaged": LossAveragedDecoder,
        "laplacian": LaplacianDecoder,
        "beta-density": BetaDensityDecoder,
        "probabilistic": ProbabilisticDecoder,
        "voting": VotingDecoder,
        "loss-weighted": LossWeightedDecoder,
        "optimized-weight": OptimizedWeightDecoder,
        "logistic-weight": LogisticWeightDecoder,
    }
)
_NAMES: Mapping[type, str] = MappingProxyType(dict(zip(DECODERS.values(), DECODERS, strict=True)))


def decoding_name(decoder: Any) -> str:
    """Return the name of a decoder, "custom" if it has none.

    Parameters
    ----------
    decoder : decoder
        Any object.

    Returns
    -------
    str
        A key of `DECODERS`, or "custom".

    Examples
    --------
    >>> from skecoc.decoding import LossWeightedDecoder, decoding_name
    >>> decoding_name(LossWeightedDecoder())
    'loss-weighted'
    """
    return _NAMES.get(type(decoder), "custom")


def resolve_decoder(decoding: str | BaseDecoder, *, also: Sequence[str] = ()) -> BaseDecoder:
    """Return a new decoder for a name of `DECODERS`, or an unfitted clone of an object with `fit` and `scores`.

    Parameters
    ----------
    decoding : str or decoder
        A name, in any case and with hyphens, underscores or spaces, or an object with the methods `fit` and `scores`.
    also : sequence of str, default=()
        Further names to list in the error for an unknown name.

    Returns
    -------
    decoder
        The decoder, not fitted.

    Examples
    --------
    >>> from skecoc.decoding import LossBasedDecoder, resolve_decoder
    >>> resolve_decoder("Loss_Based")
    LossBasedDecoder()
    >>> resolve_decoder(LossBasedDecoder("hinge"))
    LossBasedDecoder(loss='hinge')
    """
    if isinstance(decoding, str):
        return resolve_name("decoding", decoding, DECODERS, also=also)()
    has_methods = all(callable(getattr(decoding, method, None)) for method in ("fit", "scores"))
    if isinstance(decoding, type) or not has_methods:
        raise ValueError(f"decoding must be a name or a decoder with the methods fit and scores, got {decoding!r}")
    return clone(decoding, safe=False)
