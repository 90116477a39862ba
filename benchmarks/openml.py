"""The comparison of arena.py on data that had no say in the defaults: sets that OpenML has.

Nobody who worked on this library has run it on these sets. They were chosen by what OpenML says about them (numbers of
rows, features and classes, categories, missing values), and none of them is among the data that defaults were chosen
on: the sets of `skecoc.datasets.list_uci`, those of benchmarks/suite, and the synthetic ones of `_folds.py`.

All sets are downloaded first, by `fetch_openml`, which keeps them in `--data-home`; a set is refused if OpenML has
something else under its number. Folds, features and methods are those of arena.py. Tables with more than 30,000 rows
are reduced to that number at random. Every result is stored as soon as it is there, so that a run can be stopped and
taken up again.

    python benchmarks/openml.py --list
    OMP_NUM_THREADS=1 python benchmarks/openml.py --out openml.json             # all sets and methods: hours
    OMP_NUM_THREADS=1 python benchmarks/openml.py --sets eucalyptus texture --methods mixed RandomForest
    python benchmarks/openml.py --sets 41169 --fetch-only                       # any other set, by its number
    python scripts/_arena.py openml.json some/folder                            # page and figures
"""

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError, URLError

import numpy as np
from _folds import Fold, table_splits
from arena import EXPECTED_WARNINGS, METHODS, Store, measure, print_summary
from sklearn.datasets import fetch_openml

if TYPE_CHECKING:
    import pandas as pd


class Listed(NamedTuple):
    """A set of the list: its number at OpenML, and what OpenML says about it."""

    data_id: int
    rows: int
    features: int  # without the label and columns that are to be ignored
    classes: int
    about: str = ""


SETS = {
    "anneal": Listed(2, 898, 38, 5, "categories, missing values"),
    "arrhythmia": Listed(5, 452, 279, 13, "categories, missing values, rare classes"),
    "letter": Listed(6, 20_000, 16, 26),
    "audiology": Listed(7, 226, 69, 24, "categories, missing values, rare classes"),
    "mfeat-factors": Listed(12, 2_000, 216, 10),
    "kropt": Listed(184, 28_056, 6, 18, "categories"),
    "eucalyptus": Listed(188, 736, 19, 5, "categories, missing values"),
    "isolet": Listed(300, 7_797, 617, 26),
    "artificial-characters": Listed(1459, 10_218, 7, 10),
    "first-order-theorem-proving": Listed(1475, 6_118, 51, 6),
    "gas-drift": Listed(1476, 13_910, 128, 6),
    "one-hundred-plants-margin": Listed(1491, 1_600, 64, 100, "16 rows of each class"),
    "walking-activity": Listed(1509, 149_332, 4, 22),
    "covertype": Listed(1596, 581_012, 54, 7, "categories"),
    "GesturePhaseSegmentationProcessed": Listed(4538, 9_873, 32, 5),
    "texture": Listed(40499, 5_500, 40, 11),
    "connect-4": Listed(40668, 67_557, 42, 3, "categories"),
    "shuttle": Listed(40685, 58_000, 9, 7, "rare classes"),
    "MiceProtein": Listed(40966, 1_080, 77, 8, "missing values"),
    "jungle_chess_2pcs_raw_endgame_complete": Listed(41027, 44_819, 6, 3),
}
MAX_TABLE_ROWS = 30_000  # a third of them to test with
EXPECTED = (*EXPECTED_WARNINGS, "A network error occurred")


class UnavailableError(Exception):
    """A set cannot be had, or is not the one that is meant; the message says what to do."""


class Table(NamedTuple):
    """A set with at most `MAX_TABLE_ROWS` rows and no class of a single one."""

    X: "pd.DataFrame"
    y: np.ndarray  # labels as text
    n_rows: int  # before rows were drawn
    n_classes: int


def named(number: int) -> str:
    """Name a set that is given by its number."""
    return f"openml-{number}"


def number_of(name: str) -> int:
    """Return the number of a set at OpenML."""
    return SETS[name].data_id if name in SETS else int(name.removeprefix("openml-"))


@cache
def loaded(name: str, data_home: Path | None) -> Table:
    """Download a set, or take it from the cache, check that it is the one of the list, and draw rows of large ones."""
    number = number_of(name)
    title = f"{name} (OpenML {number})"
    try:  # this parser, the slower one, makes the same categories with every version of pandas
        found = fetch_openml(data_id=number, data_home=data_home, as_frame=True, parser="liac-arff")
    except HTTPError as error:
        raise UnavailableError(
            f"{title}: OpenML answered {error.code} {error.reason} for {error.url}. Try again later."
        ) from error
    except (URLError, TimeoutError, ConnectionError) as error:
        wanted = name if name in SETS else number
        raise UnavailableError(
            f"{title}: cannot reach openml.org ({getattr(error, 'reason', error)}), and the set is not in the cache. "
            f"Check the network, or run `python benchmarks/openml.py --sets {wanted} --fetch-only --data-home FOLDER` "
            "on a machine that has one, copy FOLDER here and give it as --data-home."
        ) from error
    except Exception as error:  # an unknown number, a damaged file, whatever the parser stumbles over
        raise UnavailableError(f"{title}: OpenML's data cannot be used: {type(error).__name__}: {error}") from error
    if found.target is None or found.target.ndim != 1:
        raise UnavailableError(f"{title}: OpenML names no single column as its target.")
    check(title, name, found.details["name"], found.data, found.target)
    return drawn(found.data, found.target)


def check(title: str, name: str, its_name: str, X: "pd.DataFrame", y: "pd.Series") -> None:
    """Compare what has been downloaded with the list; of sets that are given by a number, only count the classes."""
    n_classes = y.nunique()
    if n_classes < 3:
        raise UnavailableError(f"{title}: it has {n_classes} classes; the comparison is about three or more.")
    if name not in SETS:
        return
    meant = SETS[name]
    pairs = {
        "name": (its_name.lower(), name.lower()),
        "rows": (len(X), meant.rows),
        "features": (X.shape[1], meant.features),
        "classes": (n_classes, meant.classes),
    }
    wrong = [f"{what} {found}, expected {expected}" for what, (found, expected) in pairs.items() if found != expected]
    if wrong:
        raise UnavailableError(
            f"{title}: OpenML has something else under this number ({'; '.join(wrong)}). It is left out; "
            f"`--sets {meant.data_id}` runs it as it is, under the name {named(meant.data_id)}."
        )


def drawn(X: "pd.DataFrame", y: "pd.Series") -> Table:
    """Draw rows if there are too many, and leave out classes of a single row, as in benchmarks/suite."""
    labels = y.astype(object).to_numpy().astype(str)
    rows = np.sort(np.random.RandomState(0).permutation(len(labels))[:MAX_TABLE_ROWS])
    _, codes, counts = np.unique(labels[rows], return_inverse=True, return_counts=True)
    rows = rows[counts[codes] > 1]
    return Table(X.iloc[rows], labels[rows], len(labels), y.nunique())


def cells(X: "pd.DataFrame") -> tuple[np.ndarray, list[bool]]:
    """Return the cells of a table, those of missing categories empty, and which columns are numbers.

    Columns are what OpenML declares them to be: codes that it calls nominal are categories.
    """
    found = np.empty(X.shape, dtype=object)
    is_number = [dtype.kind in "biuf" for dtype in X.dtypes]
    for k, (_, column) in enumerate(X.items()):
        if is_number[k]:
            found[:, k] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            found[:, k] = np.where(column.isna(), "", column.astype(object).astype(str))
    return found, is_number


def splits(data_home: Path | None, name: str, n_folds: int, seed: int) -> Iterator[Fold]:
    """Yield the folds of a set, prepared as those of benchmarks/suite."""
    table = loaded(name, data_home)
    X, is_number = cells(table.X)
    yield from table_splits(X, table.y, is_number, n_folds, seed)


def available(names: list[str], data_home: Path | None) -> list[str]:
    """Download and check all sets; say which ones cannot be had, and return the others."""
    found = []
    for name in names:
        try:
            table = loaded(name, data_home)
        except UnavailableError as error:
            print(error, file=sys.stderr, flush=True)
            continue
        print(f"{name}: {table.n_rows:,} rows, {table.X.shape[1]} features, {table.n_classes} classes", flush=True)
        found.append(name)
    return found


def print_list() -> None:
    """Print the list of sets."""
    width = max(map(len, SETS)) + 2
    print(f"{'':<{width}}{'OpenML':>8}{'rows':>9}{'features':>10}{'classes':>9}")
    for name, (data_id, rows, features, classes, about) in SETS.items():
        print(f"{name:<{width}}{data_id:>8}{rows:>9,}{features:>10}{classes:>9}  {about}".rstrip())


def print_losses(store: Store, methods: list[str]) -> None:
    """Print log-loss by set; accuracies have been printed as they came."""
    width = max(16, *(len(name) + 2 for name in store.sets))
    print(f"\n{'log-loss':<{width}}" + "".join(f"{method[:12]:>14}" for method in methods))
    for name in store.sets:
        losses = (store.means(name, method).get("log_loss", np.nan) for method in methods)
        print(f"{name:<{width}}" + "".join(f"{loss:14.3f}" for loss in losses))


def one_set(text: str) -> str:
    """Read a name or a number of the command line."""
    if text in SETS:
        return text
    if text.removeprefix("openml-").isdigit():
        return named(number_of(text))
    raise argparse.ArgumentTypeError(f"{text!r} is neither in the list (see --list) nor a number of OpenML")


def usable_methods(wanted: list[str] | None) -> list[str]:
    """Return the methods that are wanted, by default all; LightGBM need not be installed."""
    if wanted is not None:
        return wanted
    if importlib.util.find_spec("lightgbm") is None:
        print("LightGBM is not installed (pip install lightgbm) and is left out.", file=sys.stderr)
        return [method for method in METHODS if method != "LightGBM"]
    return list(METHODS)


def main() -> int:
    """Run the comparison; return 1 if a set could not be had."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true", help="print the list of sets; run nothing")
    parser.add_argument("--sets", nargs="+", type=one_set, default=list(SETS), metavar="SET", help="names or numbers")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--data-home", type=Path, help="folder of downloads; by default that of scikit-learn")
    parser.add_argument("--fetch-only", action="store_true", help="download and check; run nothing")
    parser.add_argument("--out", type=Path, default=Path("openml.json"), help="results are read from and written to it")
    options = parser.parse_args()
    if options.list:
        print_list()
        return 0
    for message in EXPECTED:
        warnings.filterwarnings("ignore", message)
    store = Store(options.out, partial(splits, options.data_home))
    store.settings["max_table_rows"] = MAX_TABLE_ROWS
    if options.out.exists():
        store.read(options.out)
    names = list(dict.fromkeys(options.sets))
    found = available(names, options.data_home)
    missing = [name for name in names if name not in found]
    if found and not options.fetch_only:
        methods = usable_methods(options.methods)
        print()
        measure(store, found, options.repeats, methods)
        store.write()
        print_losses(store, methods)
        print_summary(store)
    if missing:
        print(f"\nnot measured, see above: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
