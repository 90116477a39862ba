"""Nearest neighbours in files: their search trees are left out, and built anew when a file is loaded."""

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor
from sklearn.neighbors._base import NeighborsBase

from skecoc.persistence.trees import require

# Distances that depend on nothing but two samples and a power.
_METRICS = {"minkowski", "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev"}
_METRICS |= {"cosine", "canberra", "braycurtis", "hamming", "nan_euclidean"}
_WEIGHTS = ("uniform", "distance", None)


def leave_out_search_trees() -> None:
    """Tell skops to leave out search trees, which are compiled; to be called before it describes a model."""
    dispatch = import_module("skops.io._utils")._get_state
    if NeighborsBase not in dispatch.registry:
        dispatch.register(NeighborsBase)(_neighbours_state)


def _neighbours_state(estimator: NeighborsBase, context: Any) -> dict[str, Any]:
    """Describe an estimator by all its attributes but the search tree."""
    kept = {name: value for name, value in estimator.__getstate__().items() if name != "_tree"}
    kind = type(estimator)
    content = import_module("skops.io._utils").get_state(kept, context)
    return {
        "__class__": kind.__name__,
        "__module__": kind.__module__,
        "__loader__": "ObjectNode",
        "content": content,
    }


def check_neighbours(estimator: NeighborsBase) -> None:
    """Check what neighbours are searched in, and by which distance; an estimator that was not fitted has neither."""
    parts = vars(estimator)
    metric, weights = parts.get("metric"), parts.get("weights", "uniform")
    known = isinstance(metric, str) and metric in _METRICS and parts.get("metric_params") is None
    require(known, f"neighbours are searched by a distance other than {', '.join(sorted(_METRICS))}")
    require(weights is None or (isinstance(weights, str) and weights in _WEIGHTS), "neighbours have unknown weights")
    if "_fit_X" not in parts:
        return
    samples = parts["_fit_X"]
    is_plain = isinstance(samples, np.ndarray) and samples.ndim == 2 and samples.dtype.kind in "biuf"
    require(is_plain or (issparse(samples) and samples.dtype.kind in "biuf"), "samples of neighbours are no numbers")
    if is_classifier(estimator) or is_regressor(estimator):
        outcome: Any = parts.get("_y")
        kinds = "iu" if is_classifier(estimator) else "iuf"
        fits = isinstance(outcome, np.ndarray) and outcome.dtype.kind in kinds and len(outcome) == samples.shape[0]
        require(fits, "neighbours have other outcomes than samples")
    if is_classifier(estimator):
        classes: Any = parts.get("classes_")
        is_label = isinstance(classes, np.ndarray) and classes.ndim == 1 and outcome.ndim == 1
        require(is_label and len(classes), "neighbours have no classes, or several for a sample")
        inside = (outcome >= 0) & (outcome < len(classes))
        require(bool(inside.all()), "a neighbour has a class that is not there")


def rebuild_neighbours(parts: Iterable[Any]) -> None:
    """Fit estimators of neighbours among checked parts of a model again: nothing fitted comes from a file."""
    for part in parts:
        if isinstance(part, NeighborsBase) and "_fit_X" in vars(part):
            _rebuild(part)


def _rebuild(estimator: NeighborsBase) -> None:
    """Fit an estimator again to the samples that it holds."""
    parts = dict(vars(estimator))
    fresh = type(estimator)(**estimator.get_params(deep=False))
    outcome = parts["classes_"][parts["_y"]] if is_classifier(estimator) else parts.get("_y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when it was fitted first
        fresh.fit(parts["_fit_X"], outcome)
    if is_classifier(estimator):
        same = fresh.classes_.dtype == parts["classes_"].dtype and np.array_equal(fresh.classes_, parts["classes_"])
        require(same, "neighbours have other classes than samples of them")
    require(fresh.n_features_in_ == parts.get("n_features_in_"), "neighbours have other features than samples")
    names = {name: parts[name] for name in ("feature_names_in_",) if name in parts}
    vars(estimator).clear()
    vars(estimator).update(vars(fresh), **names)
