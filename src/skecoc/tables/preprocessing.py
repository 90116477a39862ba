"""From a table as people have it to the numbers that learners take."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder

from skecoc.compare.data_sets import MedianImputer, scaled_numbers
from skecoc.tables.kinds import kinds_of
from skecoc.tables.dates import DATE_KINDS, DateEncoder
from skecoc.tables.encoders import CategoryEncoder, SentenceEncoder, indicator_sources, indicators

if TYPE_CHECKING:
    import pandas as pd


def make_preprocessor(frame: "pd.DataFrame", kinds: Mapping[str, str] | None = None) -> ColumnTransformer:
    """Choose how typed columns become floats; the transformer is not fitted, and learns from the classes if given any.

    The kinds are those of all columns, in their order; by default, they are told by the values. Parameters named
    `keep_missing` say whether missing numbers and dates stay NaN.
    """
    kinds = kinds_of(frame) if kinds is None else kinds

    def places(*wanted: str) -> NDArray[np.int64]:
        return np.array([place for place, kind in enumerate(kinds.values()) if kind in wanted], dtype=np.int64)

    numbers = make_pipeline(FunctionTransformer(_floats), scaled_numbers(add_indicators=True))
    durations = make_pipeline(FunctionTransformer(_days), scaled_numbers(add_indicators=True))
    sentences = [
        (f"sentences_{place}", make_pipeline(FunctionTransformer(_strings), SentenceEncoder()), np.array([place]))
        for place in places("sentence")
    ]
    return ColumnTransformer(
        [
            ("numbers", numbers, places("number", "boolean")),
            ("dates", make_pipeline(DateEncoder(), scaled_numbers()), places(*DATE_KINDS, "time")),
            ("durations", durations, places("duration")),
            ("text", make_pipeline(FunctionTransformer(_strings), indicators()), places("text")),
            (
                "categories",
                make_pipeline(FunctionTransformer(_strings), CategoryEncoder(), MinMaxScaler()),
                places("category"),
            ),
            *sentences,
        ],
        sparse_threshold=0.0,
        verbose_feature_names_out=False,
    )


def _floats(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Numbers and booleans, nullable or not, as floats with NaN for missing values."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _days(frame: "pd.DataFrame") -> NDArray[np.float64]:
    """Durations as days with NaN for missing values."""
    days = np.empty(frame.shape)
    for place in range(frame.shape[1]):
        days[:, place] = frame.iloc[:, place].to_numpy(dtype="m8[us]") / np.timedelta64(1, "D")
    return days


def _strings(frame: "pd.DataFrame") -> NDArray[np.object_]:
    """Text as an array of Python objects; missing ones as the empty text."""
    return frame.astype(object).where(frame.notna(), "").to_numpy(dtype=object)


def encoded_sources(preprocessor: ColumnTransformer) -> NDArray[np.intp]:
    """Tell which column each encoded feature of a fitted preprocessor comes from; rare values share a feature."""
    sources = [np.empty(0, dtype=np.intp)]
    for _, transformer, places in preprocessor.transformers_:
        if isinstance(transformer, Pipeline) and len(places):
            sources.append(_sources(transformer, np.asarray(places, dtype=np.intp)))
    return np.concatenate(sources)


def _sources(transformer: Any, sources: NDArray[np.intp]) -> NDArray[np.intp]:
    """Follow features with these sources through a fitted transformer."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            sources = _sources(step, sources)
        return sources
    if isinstance(transformer, MedianImputer):
        return np.concatenate([sources, sources[transformer.indicated_]])
    if isinstance(transformer, OneHotEncoder):
        return sources[indicator_sources(transformer)]
    if isinstance(transformer, DateEncoder | CategoryEncoder | SentenceEncoder):
        return sources[transformer.sources_]
    return sources
