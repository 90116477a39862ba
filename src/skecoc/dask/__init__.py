"""Classifiers for Dask arrays and frames: rows stay on the workers, and only small sums are sent.

They need ``dask[array,dataframe]`` and ``distributed``.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.dask.classifiers import DaskECOCClassifier, DaskWOLCClassifier

__all__ = ["DaskECOCClassifier", "DaskWOLCClassifier"]

if find_spec("distributed") is None:  # now, not when a classifier is first used
    raise ImportError('skecoc.dask needs dask and distributed: pip install "scikit-ecoc[dask]"')

__getattr__, __dir__ = lazily(__name__, dict.fromkeys(__all__, "skecoc.dask.classifiers"))
