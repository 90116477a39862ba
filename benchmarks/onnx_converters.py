"""Why some learners have ONNX converters of ours: beside skl2onnx's, one by one in the same output code.

For one-vs-one codes of linear learners, Gaussian support vector machines and gradient-boosted trees, trained on half of
a data set, the classifier is exported twice: with our converters, which write the columns of one kind together, and
with skl2onnx's own converter for every column. Printed per export: size of the file; samples of the other half with
another label than `predict` gives, and the largest difference from `decision_function`; and the time of onnxruntime on
one core, for one sample and for all. The last lines have the median ratios, skl2onnx's over ours.

    python benchmarks/onnx_converters.py [data set ...]
"""

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from _timing import best_times
from onnx_export import one_core_session
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from skecoc import ECOCClassifier
from skecoc.datasets import load_uci
from skecoc.onnx import _learners, to_onnx

NAMES = ["iris", "glass", "vehicle", "vowel", "yeast", "segmentation"]

LEARNERS: dict[str, tuple[BaseEstimator, str]] = {
    "logistic": (LogisticRegression(max_iter=1000), "predict_proba"),
    "linear SVM": (LinearSVC(), "decision_function"),
    "RBF SVM": (SVC(), "decision_function"),
    "boosted trees": (HistGradientBoostingClassifier(max_iter=20), "predict_proba"),
}


class Export(NamedTuple):
    """An exported classifier beside the classifier itself, on the test samples."""

    n_bytes: int
    n_other_labels: int
    largest_difference: float
    run: Callable[[Any], Any]


def by_skl2onnx(graph: Any, rows: Any, learners: list[BaseEstimator], response: str) -> str:
    """Write the outputs of learners by skl2onnx's converters, margins as its raw scores."""
    outputs = []
    for learner in learners:
        if response == "decision_function":
            graph.scope.add_options(id(learner), {"raw_scores": True})
        _, values = _learners._convert(graph, rows, learner)
        second = graph.part(values, 1, 2)
        if response == "predict_proba":
            second = graph.node("Sub", graph.node("Mul", second, 2.0), 1.0)
        outputs.append(second)
    return graph.joined(outputs)


def export(model: ECOCClassifier, X: np.ndarray) -> Export:
    """Export a fitted classifier and compare its outputs."""
    content = to_onnx(model, X, scores=True).SerializeToString()
    session = one_core_session(content)
    labels, scores = session.run(None, {"X": X})
    return Export(
        len(content),
        int((labels != model.predict(X)).sum()),
        float(np.abs(scores - model.decision_function(X)).max()),
        lambda samples: session.run(None, {"X": samples}),
    )


def compare(
    name: str, learner: BaseEstimator, response: str
) -> tuple[Export, Export | None, list[tuple[float, float]]]:
    """Export both ways; return both exports, None if skl2onnx fails, and their times for one and for all samples."""
    data = load_uci(name)
    X = np.nan_to_num(MinMaxScaler().fit_transform(data.data))
    train, test, y, _ = train_test_split(X, data.target, test_size=0.5, random_state=0, stratify=data.target)
    model = ECOCClassifier(learner, coding="one-vs-one", response_method=response, random_state=0).fit(train, y)
    ours = export(model, test)
    try:
        with patch.object(_learners, "_choose_writer", lambda *_: by_skl2onnx):
            theirs = export(model, test)
    except Exception as error:  # noqa: BLE001  what a converter cannot do is a result too
        print(f"skl2onnx fails: {error.__context__!r}")
        theirs = None
    times = [
        best_times(lambda rows=rows: ours.run(rows), lambda rows=rows: (theirs or ours).run(rows), repeats)
        for rows, repeats in ((test[:1], 50), (test, 5))
    ]
    return ours, theirs, times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="data set")
    arguments = parser.parse_args()
    ratios: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    print(f"{'data':<13} {'learner':<14} {'by':<9} {'kB':>5} {'other':>6} {'largest':>8} {'one, us':>8} {'all, ms':>8}")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of single columns
        for name, (kind, (learner, response)) in product(arguments.names, LEARNERS.items()):
            ours, theirs, (one, every) = compare(name, learner, response)
            for by, made, microseconds, milliseconds in (
                ("ours", ours, 1e6 * one[0], 1e3 * every[0]),
                ("skl2onnx", theirs, 1e6 * one[1], 1e3 * every[1]),
            ):
                if made is not None:
                    print(
                        f"{name:<13} {kind:<14} {by:<9} {made.n_bytes / 1000:5.0f} {made.n_other_labels:6d} "
                        f"{made.largest_difference:8.1e} {microseconds:8.0f} {milliseconds:8.2f}",
                        flush=True,
                    )
            if theirs is not None:
                ratios[kind].append((theirs.n_bytes / ours.n_bytes, one[1] / one[0], every[1] / every[0]))
    for kind, table in ratios.items():
        size, one, every = np.median(table, axis=0)
        print(f"{kind}: skl2onnx's file {size:.1f}x as large, {one:.1f}x as slow for one sample, {every:.1f}x for all")


if __name__ == "__main__":
    main()
