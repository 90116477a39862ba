"""Codings of the experiment's own, beside those of `skecoc.compare`; importing this module makes them known."""

from functools import partial

from skecoc import ECOCOneClassifier, WOLCClassifier
from skecoc.compare.experiments import add_codings
from skecoc.decoding import OptimizedWeightDecoder
from skecoc_study.runs.library import LibraryECOCOne, library_decoc, library_random

#: Relative gap of the certificate of weights, as of `WOLCClassifier.paper`.
_TOL = 1e-3
_MARGIN = 0.1

add_codings(
    {"library-decoc": library_decoc, "library-random": library_random},
    {
        "library-ecoc-one": LibraryECOCOne,
        "ecoc-one-extended": partial(ECOCOneClassifier, extend=True, column_weights=True),
        "wolc-margin": partial(WOLCClassifier.paper, decoding=OptimizedWeightDecoder(_MARGIN, l2=0.0, tol=_TOL)),
        "wolc-paper-one-vs-one": partial(WOLCClassifier.paper, init="one-vs-one"),
        "wolc-printed": partial(
            WOLCClassifier.paper, decoding=OptimizedWeightDecoder(0.0, l2=0.0, tol=_TOL, solver="cutting-plane")
        ),
    },
)
