"""Whether fits from blocks are those of the same rows in memory: codes, kept rounds and predictions.

For each set one 70/30 split, several random states, divisions into blocks and responses. `WOLCClassifier` and
`ECOCClassifier` are fitted to arrays and to blocks; `WOLCClassifier` of some sets on two worker processes, too. A line
says whether the code and the kept round are the same, on which share of the test rows predictions are, and how
accurate both are. Exits with 1 if a code or a round differs, or fewer than 99.5 % of predictions agree.

    python benchmarks/agreement.py                  # the paper's 14 sets: some minutes on one core
    python benchmarks/agreement.py --quick          # three of them
    python benchmarks/agreement.py --rows 1000000   # generated rows instead: 10 classes, 20 features
    python benchmarks/agreement.py --sets vowel glass --dask
    python benchmarks/agreement.py --summed         # few rows treated as many: binned, and summed over blocks
    python benchmarks/agreement.py --weighted       # rows of random weights
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.classifiers import base
from skecoc.data import Blocks, Partitions
from skecoc.datasets import list_uci, load_uci
from skecoc.learners import columns

SMALLEST_AGREEMENT = 0.995
QUICK = ("glass", "vehicle", "vowel")
RESPONSES = ("predict_proba", "predict", "decision_function")
KINDS = ("continuous", "few values", "skewed")

Data = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def uci_sets(names: list[str]) -> Iterator[Data]:
    """Yield sets of the paper, parted 70 to 30."""
    for name in names:
        X, y = load_uci(name, return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(
            np.nan_to_num(X), y, test_size=0.3, stratify=y, random_state=0
        )
        yield name, X_train, y_train, X_test, y_test


def generated(kind: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make rows of ten classes of three blobs each: continuous, rounded to a few values, or with long tails."""
    centres = np.random.default_rng(7).normal(size=(30, 20)) * 1.2
    rng = np.random.default_rng(seed)
    blob = rng.integers(len(centres), size=n_rows)
    X = centres[blob] + rng.normal(size=(n_rows, 20))
    return {"continuous": X, "few values": np.round(X), "skewed": np.exp(X)}[kind], blob % 10


def generated_sets(n_rows: int, kinds: list[str]) -> Iterator[Data]:
    """Yield generated rows, and 100,000 more to predict."""
    for kind in kinds:
        yield (kind, *generated(kind, n_rows, 0), *generated(kind, 100_000, 1))


def pairs(seed: int, responses: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield names, and equal classifiers for rows in memory and in blocks."""
    for response in responses:
        given = {"response_method": response, "random_state": seed}
        yield f"WOLC {response}", WOLCClassifier(**given), WOLCClassifier(**given)
        yield f"ECOC {response}", ECOCClassifier(**given), ECOCClassifier(**given)


def timed_fit(model: Any, *rows: Any) -> float:
    """Fit a classifier; return the seconds of the processor."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*rows)
    return time.process_time() - started


def compare(name: str, what: str, local: Any, other: Any, seconds: tuple[float, float], data: Data) -> bool:
    """Print how far two fitted classifiers agree; return whether they do."""
    X_test, y_test = data[3:]
    same_code = np.array_equal(local.code_matrix_, other.code_matrix_)
    rounds = getattr(local, "best_round_", 0), getattr(other, "best_round_", 0)
    predicted, others = local.predict(X_test), other.predict(X_test)
    agreement = float((predicted == others).mean())
    scores, other_scores = local.decision_function(X_test), other.decision_function(X_test)
    difference = np.abs(scores - other_scores).max() if scores.shape == other_scores.shape else np.nan
    agrees = same_code and rounds[0] == rounds[1] and agreement >= SMALLEST_AGREEMENT
    print(
        f"{name:13}{what:30}{'same' if same_code else 'OTHER':>7}{rounds[0]:4d}{rounds[1]:4d}{100 * agreement:9.2f}"
        f"{100 * (predicted == y_test).mean():9.2f}{100 * (others == y_test).mean():9.2f}{difference:10.1e}"
        f"{seconds[0]:9.2f}{seconds[1]:9.2f}{'' if agrees else '   <- differs'}",
        flush=True,
    )
    return agrees


def compare_set(data: Data, arguments: argparse.Namespace, client: Any) -> list[bool]:
    """Compare all classifiers on one set."""
    agreed = []
    name, X, y = data[:3]
    weight = [np.random.default_rng(0).uniform(0.1, 3.0, len(y))] if arguments.weighted else []
    for seed in arguments.seeds:
        for k, parts in enumerate(arguments.parts):
            block_size = -(-len(y) // parts)
            described = Blocks(X, y, sample_weight=weight[0] if weight else None, block_size=block_size)
            for what, local, blocks in pairs(seed, arguments.responses):
                seconds = timed_fit(local, X, y, *weight), timed_fit(blocks, described)
                agreed.append(compare(name, f"{what}, {seed}, {parts}", local, blocks, seconds, data))
                if client is not None and k == 0 and isinstance(local, WOLCClassifier):
                    agreed.append(compare_dask(data, blocks, block_size, client))
    return agreed


def compare_dask(data: Data, blocks: Any, block_size: int, client: Any) -> bool:
    """Fit the same on a cluster: the result is that of blocks, bit for bit."""
    import dask.array as da

    X, y = (da.from_array(array, chunks=(block_size, *array.shape[1:])) for array in data[1:3])
    model = clone(blocks)
    seconds = timed_fit(model, Partitions(X, y, client=client))
    agrees = compare(data[0], "  Dask and blocks", blocks, model, (0.0, seconds), data)
    return agrees and np.array_equal(blocks.decision_function(data[3]), model.decision_function(data[3]))


def main() -> None:
    """Compare, print and exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list_uci())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--parts", nargs="+", type=int, default=[3, 7])
    parser.add_argument("--responses", nargs="+", default=list(RESPONSES), choices=RESPONSES)
    for flag in ("--dask", "--summed", "--weighted"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    if arguments.summed:
        columns.MANY_TO_BIN = base.MANY_TO_BIN = 0
    names = list(QUICK) if arguments.quick else arguments.sets
    sets = uci_sets(names) if arguments.rows is None else generated_sets(arguments.rows, arguments.kinds)
    print(
        f"{'set':13}{'classifier, seed, blocks':30}{'code':>7}{'rounds':>8}{'equal %':>9}{'memory':>9}{'blocks':>9}"
        f"{'scores':>10}{'seconds of both':>18}"
    )
    client = None
    if arguments.dask:
        from distributed import Client

        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
    try:
        agreed = [agrees for data in sets for agrees in compare_set(data, arguments, client)]
    finally:
        if client is not None:
            client.shutdown()
    print(f"{sum(agreed)} of {len(agreed)} agree")
    sys.exit(not all(agreed))


if __name__ == "__main__":
    main()
