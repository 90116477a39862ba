"""Rows and slow, obvious versions of what blocks compute."""

from itertools import pairwise

import numpy as np


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
