"""Exported to ONNX: the same predictions as ours, and how fast onnxruntime makes them.

Printed per data set, for WOLC-ECOC (or one-vs-one) behind a scaler, trained on half of the rows: size of the exported
file; rows of the other half, and those that get another label; the largest difference of a score; and how many times as
long our `decision_function` takes as onnxruntime, which gives labels too, both on one core, for one row (what a service
predicts) and for all test rows.

    python benchmarks/onnx_export.py [--code wolc|one-vs-one] [--learner stumps|svm|logistic] [data set ...]
"""

import argparse
import warnings
from typing import NamedTuple

import numpy as np
import onnxruntime
from _timing import best_times
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier, WOLCClassifier
from skecoc.datasets import list_uci, load_uci
from skecoc.learners import StumpAdaBoostClassifier, TunedSVMClassifier
from skecoc.onnx import to_onnx

LEARNERS: dict[str, BaseEstimator] = {
    "stumps": StumpAdaBoostClassifier(),
    "svm": TunedSVMClassifier(search_rows=300, tune="ensemble", random_state=0),
    "logistic": LogisticRegression(max_iter=1000),
}


CODES: dict[str, type[BaseEstimator]] = {"wolc": WOLCClassifier, "one-vs-one": ECOCClassifier}


class Comparison(NamedTuple):
    """Our model beside its export, on the test rows of a data set."""

    n_bytes: int
    n_rows: int
    n_other_labels: int
    largest_difference: float
    ratio_for_one_row: float
    ratio_for_all_rows: float


def one_core_session(exported: bytes) -> onnxruntime.InferenceSession:
    """Load an exported model to run on one core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])


def compare(name: str, classifier: BaseEstimator) -> Comparison:
    """Train a classifier on half of a data set, export it, and compare and time both on the other half."""
    data = load_uci(name)
    X, y = SimpleImputer().fit_transform(data.data), data.target
    train, test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    model = make_pipeline(MinMaxScaler(), classifier).fit(train, y_train)
    file = to_onnx(model, test, scores=True).SerializeToString()
    session = one_core_session(file)
    label, scores = session.run(None, {"X": test})
    ratios = []
    for rows, repeats in ((test[:1], 50), (test, 5)):
        ours, theirs = best_times(
            lambda rows=rows: model.decision_function(rows),
            lambda rows=rows: session.run(None, {"X": rows}),
            repeats,
        )
        ratios.append(ours / theirs)
    n_other = int((label != model.predict(test)).sum())
    return Comparison(len(file), len(test), n_other, np.abs(scores - model.decision_function(test)).max(), *ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", choices=CODES, default="wolc")
    parser.add_argument("--learner", choices=LEARNERS, default="stumps")
    parser.add_argument("names", nargs="*", metavar="data set")
    arguments = parser.parse_args()
    print(f"{'data':<14} {'kB':>6} {'rows':>6} {'other':>6} {'largest':>9} {'one row':>8} {'all rows':>9}")
    table = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of single columns
        for name in arguments.names or list_uci():
            found = compare(name, CODES[arguments.code](LEARNERS[arguments.learner], random_state=0))
            table.append(found)
            print(
                f"{name:<14} {found.n_bytes / 1000:6.0f} {found.n_rows:6d} {found.n_other_labels:6d} "
                f"{found.largest_difference:9.1e} {found.ratio_for_one_row:7.1f}x {found.ratio_for_all_rows:8.2f}x",
                flush=True,
            )
    total = Comparison(*np.transpose(table))
    print(
        f"{total.n_other_labels.sum():.0f} of {total.n_rows.sum():.0f} labels differ, largest difference "
        f"{total.largest_difference.max():.1e}; median ratio {np.median(total.ratio_for_one_row):.1f}x for one row, "
        f"{np.median(total.ratio_for_all_rows):.2f}x for all"
    )


if __name__ == "__main__":
    main()
