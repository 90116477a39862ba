"""Folds of data sets for benchmarks: the shipped ones, the tables of benchmarks/suite and synthetic ones.

`splits` are ten stratified folds of a shipped set. `all_splits` are folds of any set, by its name: one of
`skecoc.datasets.list_uci`, of `SUITE` or of `SYNTHETIC`. These have at most 2,500 training rows, so that scripts stay
short. Whatever is fitted to prepare features (medians, categories, ranges) is fitted to the training part.
"""

import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from skecoc.compare.data_sets import scaled_numbers
from skecoc.compare.trials import split_rows
from skecoc.datasets import list_uci, load_uci

Fold = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

FOLDER = Path(__file__).resolve().parent / "suite"
SUITE = tuple(sorted(path.name.removesuffix(".csv.gz") for path in FOLDER.glob("*.csv.gz")))
SYNTHETIC = ("3x3", "4x4", "6x2", "26x1", "checkerboard", "rings", "boxes")
MAX_ROWS = 2_500


def splits(name: str, repeat: int, n_folds: int = 10) -> Iterator[Fold]:
    """Yield training rows and labels, test rows and labels, of each fold."""
    X, y = load_uci(name, return_X_y=True)
    for train, test in split_rows(y, name, repeat, n_folds, seed=0):
        prepare = scaled_numbers().fit(X[train])
        yield prepare.transform(X[train]), y[train], prepare.transform(X[test]), y[test]


def all_splits(name: str, n_folds: int = 3, seed: int = 0, *, max_rows: int = MAX_ROWS) -> Iterator[Fold]:
    """Yield the folds of a set of any kind, by its name; `seed` splits rows, and draws some if there are too many."""
    if name in SUITE:
        yield from suite_splits(name, n_folds, seed, max_rows=max_rows)
    else:
        X, y = synthetic(name) if name in SYNTHETIC else load_uci(name, return_X_y=True)
        yield from _prepared(scaled_numbers(), X, y, n_folds, seed, max_rows)


def suite_splits(name: str, n_folds: int = 3, seed: int = 0, *, max_rows: int = MAX_ROWS) -> Iterator[Fold]:
    """Yield the folds of a table of benchmarks/suite; a column is a number if all its cells are."""
    X, y = suite(name)
    yield from table_splits(X, y, [_is_numeric(column) for column in X.T], n_folds, seed, max_rows=max_rows)


def table_splits(
    X: np.ndarray,
    y: np.ndarray,
    is_number: Sequence[bool],
    n_folds: int = 3,
    seed: int = 0,
    *,
    max_rows: int = MAX_ROWS,
) -> Iterator[Fold]:
    """Yield the folds of a table of numbers and categories; an empty text is a missing cell.

    Missing numbers become the median, or 0 if all are missing; missing categories are a category; categories become one
    feature each.
    """
    numbers = np.flatnonzero(is_number)
    X[:, numbers] = np.where(X[:, numbers] == "", np.nan, X[:, numbers]).astype(float)
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), MinMaxScaler()), numbers),
        (one_hot, np.flatnonzero(~np.array(is_number))),
    )
    yield from _prepared(prepare, X, y, n_folds, seed, max_rows)


def suite(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a table of benchmarks/suite: cells as they are, labels as text."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    cells = np.array(rows, dtype=object)
    return cells[:, :-1], cells[:, -1].astype(str)


def synthetic(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Make a set: "6x2" has six classes of two clusters each; the other names say what classes look like."""
    if name[0].isdigit():
        n_classes, n_clusters = map(int, name.split("x"))
        return make_classification(
            2_400,
            n_features=20,
            n_informative=10,
            n_redundant=4,
            n_classes=n_classes,
            n_clusters_per_class=n_clusters,
            class_sep=1.5,
            flip_y=0.02,
            random_state=0,
        )
    X = np.random.RandomState(0).uniform(-1.0, 1.0, size=(1_500, 2))
    if name == "checkerboard":  # sixteen squares in four classes
        row, column = np.floor(2.0 * (X + 1.0)).astype(int).T
        return X, (row + 2 * column) % 4
    distance = np.hypot(*X.T) if name == "rings" else np.abs(X).max(axis=1)
    return X, np.minimum(np.floor(5.0 * distance), 4).astype(int)


def _prepared(
    prepare: TransformerMixin, X: np.ndarray, y: np.ndarray, n_folds: int, seed: int, max_rows: int
) -> Iterator[Fold]:
    """Split rows, draw training rows if there are too many, and prepare the features."""
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        used = np.sort(np.random.RandomState(seed).permutation(train)[:max_rows])
        prepare.fit(X[used])
        yield prepare.transform(X[used]), y[used], prepare.transform(X[test]), y[test]


def _is_numeric(column: np.ndarray) -> bool:
    """Tell whether all cells that are not empty are numbers."""
    try:
        column[column != ""].astype(float)
    except ValueError:
        return False
    return True


def real_sets() -> list[str]:
    """List the sets of real data: those that are shipped and those of benchmarks/suite."""
    return [*list_uci(), *SUITE]
