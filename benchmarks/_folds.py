"""Folds of the shipped data sets, prepared as `skecoc reproduce` prepares them."""

from collections.abc import Iterator

import numpy as np

from skecoc.benchmarking.data import scaled_numbers
from skecoc.benchmarking.runs import split_rows
from skecoc.datasets import load_uci
from skecoc.paper.reproduction import PROTOCOLS

Fold = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def splits(name: str, repeat: int, n_folds: int = 10) -> Iterator[Fold]:
    """Yield training rows and labels, test rows and labels, of each fold."""
    X, y = load_uci(name, return_X_y=True)
    for train, test in split_rows(y, name, repeat, n_folds, PROTOCOLS["paper"].seed):
        prepare = scaled_numbers().fit(X[train])
        yield prepare.transform(X[train]), y[train], prepare.transform(X[test]), y[test]
