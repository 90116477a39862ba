"""Rows and slow, obvious versions of what blocks compute."""

from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.base import clone

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.data import Blocks, Partitions


def blobs(n_rows, seed=0, n_classes=4, n_features=5, decimals=None):
    """Rows of classes that are several blobs each, so that growth finds something to do."""
    centres = np.random.default_rng(7).normal(size=(3 * n_classes, n_features)) * 2.0
    rng = np.random.default_rng(seed)
    blob = rng.integers(len(centres), size=n_rows)
    X = centres[blob] + rng.normal(size=(n_rows, n_features))
    return X if decimals is None else np.round(X, decimals), blob % n_classes


def divided(X, y, edges, weight=None):
    """The rows as blocks between edges."""
    edges = [0, *edges, len(y)]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return [(X[part], y[part], None if weight is None else weight[part]) for part in parts]


def signed_histogram(codes, sides, weights, starts):
    """Signed sums of rounded weights by bin, row by row."""
    histogram = np.zeros(starts[-1], dtype=np.int64)
    for i in range(codes.shape[1]):
        for f in range(codes.shape[0]):
            histogram[starts[f] + codes[f, i]] += int(sides[i]) * int(np.rint(weights[i]))
    return histogram


class Described:
    """A classifier whose `fit` describes the data that it is given; everything else is the classifier's."""

    def __init__(self, model, describe, **settings):
        self.model, self.describe, self.settings = model, describe, settings

    def fit(self, X, y, sample_weight=None):
        return self.model.fit(self.describe(X, y, sample_weight=sample_weight, **self.settings))

    def fit_blocks(self, blocks):
        settings = {name: value for name, value in self.settings.items() if name != "block_size"}
        return self.model.fit(self.describe(blocks, **settings))

    def set_params(self, **parameters):
        self.settings |= {name: parameters.pop(name) for name in _OF_DATA if name in parameters}
        self.model.set_params(**parameters)
        return self

    def __repr__(self):
        return f"{self.model!r} of {self.describe.__name__}"

    def __sklearn_clone__(self):
        return Described(clone(self.model), self.describe, **self.settings)

    def __getattr__(self, name):
        if name in ("model", "__getstate__", "__setstate__"):
            raise AttributeError(name)
        return getattr(self.model, name)


_OF_DATA = ("block_size", "directory", "sample_size", "max_bins", "client")


def _described(describe, kind, *arguments, **parameters):
    """A classifier that is fitted to described data, with parameters of both."""
    settings = {name: parameters.pop(name) for name in _OF_DATA if name in parameters}
    return Described(kind(*arguments, **parameters), describe, **settings)


ecoc_in_blocks = partial(_described, Blocks, ECOCClassifier)
wolc_in_blocks = partial(_described, Blocks, WOLCClassifier)
ecoc_in_partitions = partial(_described, Partitions, ECOCClassifier)
wolc_in_partitions = partial(_described, Partitions, WOLCClassifier)
