"""Check encoders and random numbers from files: compiled code reads and writes arrays where their indices say."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import OneHotEncoder

from skecoc.persistence.trees import is_array, require

_MOST_COLUMNS = 2**31 - 1


def check_one_hot(encoder: OneHotEncoder) -> None:
    """Check that the categories of each feature have the number of indicators that the encoder says."""
    parts = vars(encoder)
    if "categories_" not in parts:
        return
    categories, counts = parts["categories_"], parts.get("_n_features_outs")
    require(isinstance(categories, list) and isinstance(counts, list), "an encoder does not list its categories")
    n_features = len(categories)
    is_grouped = parts.get("_infrequent_enabled")
    require(isinstance(is_grouped, bool | np.bool_), "an encoder does not say whether it groups categories")
    groups = parts.get("_default_to_infrequent_mappings") if is_grouped else [None] * n_features
    dropped: Any = parts.get("_drop_idx_after_grouping")
    dropped = [None] * n_features if dropped is None else list(dropped)
    fits = isinstance(groups, list) and len(groups) == len(dropped) == len(counts) == n_features
    require(fits and parts.get("n_features_in_") == n_features, "an encoder has other categories than features")
    for values, group, drop, count in zip(categories, groups, dropped, counts, strict=True):
        require(isinstance(values, np.ndarray) and values.ndim == 1, "categories of an encoder are no array")
        _check_sorted(values)
        size = len(values)
        if group is not None:
            is_group = isinstance(group, np.ndarray) and group.dtype.kind == "i" and group.shape == (size,) and size > 0
            require(is_group and bool((group >= 0).all()), "an encoder groups categories that are not there")
            size = int(group.max()) + 1
        if drop is not None:
            inside = isinstance(drop, int | np.integer) and 0 <= drop < size
            require(inside, "an encoder drops a category that is not there")
            size -= 1
        is_count = isinstance(count, int | np.integer) and count == size
        require(is_count, "an encoder has other indicators than categories")


def _check_sorted(values: np.ndarray[Any, Any]) -> None:
    """Refuse categories that are not in order: a search for one would end beyond the last."""
    if values.dtype.kind == "U" or all(isinstance(value, str) for value in values.tolist()):
        return  # text is looked up in a dictionary
    there = [value for value in values.tolist() if value is not None and value == value]  # noqa: PLR0124 (NaN)
    try:
        in_order = all(first < second for first, second in pairwise(there))
    except TypeError:
        in_order = False
    same_place = there == values.tolist()[: len(there)] and len(values) - len(there) <= 2
    require(in_order and same_place, "categories of an encoder are not in order")


def check_vocabulary(vectorizer: CountVectorizer | DictVectorizer) -> None:
    """Check that words have columns of their own, one each."""
    vocabulary: Any = vars(vectorizer).get("vocabulary_")
    if vocabulary is None:
        return
    require(isinstance(vocabulary, dict), "a vocabulary is no dictionary")
    places = list(vocabulary.values())
    are_numbers = all(isinstance(place, int | np.integer) and not isinstance(place, bool) for place in places)
    require(are_numbers and sorted(places) == list(range(len(places))), "a word has a column that is not there")


def check_hasher(hasher: FeatureHasher | HashingVectorizer) -> None:
    """Check the number of columns that words are spread over."""
    count: Any = vars(hasher).get("n_features")
    inside = isinstance(count, int | np.integer) and 0 < count <= _MOST_COLUMNS
    require(inside, "words are spread over a number of columns that is out of range")


def check_random_state(state: np.random.RandomState) -> None:
    """Check where random numbers go on: they are read from an array, at any place that a file names."""
    found: Any = state.get_state(legacy=False)
    key, place = found["state"]["key"], found["state"]["pos"]
    require(is_array(key, "uint32", (624,)) and 0 <= place <= len(key), "random numbers go on at a place beyond them")


def check_generator(generator: np.random.Generator) -> None:
    """Check what makes random numbers: others than that of boosting by histograms may read them at any place."""
    require(isinstance(generator.bit_generator, np.random.PCG64), "random numbers are made in an unknown way")
