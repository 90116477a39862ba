"""Fit a table of many columns: the time of everything, as a ratio to that of training the same models by hand.

    python benchmarks/wide_tables.py [columns ...]

60 rows of three classes, most columns noise. `fit_table` cross-validates a method beside two references and the
majority class, prepares the columns of each fold, ranks those that matter, and trains on all rows.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd

from skecoc.compare import DataSet
from skecoc.compare.methods import make_classifier, make_learner
from skecoc.tables import fit_table

METHOD, FOLDS = "wolc/optimized-weight", 5


def make_table(n_columns: int) -> DataSet:
    random = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = random.normal(size=(60, n_columns))
    X[:, :5] += y[:, None]
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(n_columns)])
    return DataSet("wide", frame, np.array(["a", "b", "c"])[y])


def by_hand(data_set: DataSet) -> None:
    """Train the method once for each fold and once for all rows."""
    X = data_set.X.to_numpy()
    for fold in range(FOLDS + 1):
        rows = np.arange(len(X)) % FOLDS != fold
        make_classifier(METHOD, make_learner("stumps"), 0).fit(X[rows], data_set.y[rows])


def seconds(task, *arguments, repeats: int = 2, **options) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        task(*arguments, **options)
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    warnings.simplefilter("ignore")
    by_hand(make_table(20))  # compiles
    for n_columns in map(int, sys.argv[1:] or ["300", "3000", "10000"]):
        data_set = make_table(n_columns)
        whole, model = seconds(fit_table, data_set, method=METHOD), seconds(by_hand, data_set)
        print(f"{n_columns:6} columns: fit_table {whole / model:5.2f} times the training of its models")


if __name__ == "__main__":
    main()
