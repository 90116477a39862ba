"""Blocks of docs/how_to/many_classes.md, from results of benchmarks/many_classes.py and benchmarks/many_codings.py."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _markdown import table

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
#: Results of benchmarks/many_classes.py: by size, data set and method.
MANY_CLASSES = RESULTS / "many_classes.json"
#: Printed lines of benchmarks/many_codings.py.
MANY_CODINGS = RESULTS / "benchmarks" / "many_codings.txt"

SIZES = ("full", "quick")
DATA = ("clouds", "clusters")
#: Names of the methods, in the order of the page.
METHODS = {
    "stumps/auto": "boosted stumps, `ECOCClassifier`",
    "stumps/one-vs-rest": 'boosted stumps, `ECOCClassifier`, `"one-vs-rest"`',
    "stumps/WOLCClassifier": "boosted stumps, `WOLCClassifier`",
    "logistic/auto": "logistic regression, `ECOCClassifier`",
    "logistic/OneVsRestClassifier": "logistic regression, `OneVsRestClassifier`",
    "logistic/alone": "logistic regression alone",
    "lightgbm/auto": "LightGBM, `ECOCClassifier`",
    "lightgbm/OneVsRestClassifier": "LightGBM, `OneVsRestClassifier`",
    "lightgbm/alone": "LightGBM alone",
    "histogram boosting/alone": "histogram boosting alone",
    "tree/auto": "tree, `ECOCClassifier`",
    "tree/OutputCodeClassifier": "tree, `OutputCodeClassifier`",
    "tree/alone": "tree alone",
    "forest of 100/alone": "forest of 100 trees alone",
}
LEARNERS = {"stumps": "boosted stumps", "logistic": "logistic regression", "tree": "tree", "lightgbm": "LightGBM"}
CODINGS = {
    "one-vs-one": "one-vs-one",
    "one-vs-rest": "one-vs-rest",
    "dense10": r"dense random, $10 \log_2 P$",
    "dense20": r"dense random, $20 \log_2 P$",
    "sparse15": r"sparse random, $15 \log_2 P$",
}
MISSING = "-"
NOT_MEASURED = "Not measured."

Found = dict[str, Any]


def number(value: float) -> str:
    """Write a number of seconds or megabytes, without decimals from ten on.

    >>> number(1234.5), number(2.345)
    ('1,234', '2.3')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def row(method: str, found: list[Found | None]) -> list[str]:
    """Lay out a method: accuracy of each data set, then columns, time and memory of both together."""
    done = [one for one in found if one is not None and "failure" not in one]
    accuracies = [
        MISSING if one is None else one["failure"] if "failure" in one else f"{one['accuracy']:.3f}" for one in found
    ]
    columns = sorted({one["columns"] for one in done if one["columns"]})
    costs = [MISSING] * 3
    if done:
        seconds = sum(one["fit_seconds"] for one in done) / len(done)
        largest = (max(one[name] for one in done) for name in ("peak_megabytes", "model_megabytes"))
        costs = [number(seconds), *map(number, largest)]
    return [METHODS[method], "/".join(f"{n:,}" for n in columns) or MISSING, *accuracies, *costs]


def by_method(kept: dict[str, dict[str, Found]]) -> str:
    """Lay out the results of one size, a row for each method that was tried."""
    rows = []
    for method in METHODS:
        found = [kept.get(data, {}).get(method) for data in DATA]
        if any(found):
            rows.append(row(method, found))
    header = ["learner, classifier", "columns", "accuracy, clouds", "clusters", "`fit`, s", "peak, MB", "model, MB"]
    return table(header, rows) if rows else NOT_MEASURED


def by_coding(printed: str) -> str:
    r"""Lay out the accuracies of codings, a row for each learner and data set.

    >>> line = "    200 clouds     tree      dense10         0.750  0.749     0.751      3.0     10.0"
    >>> print(by_coding(f"classes ...\n{line}").splitlines()[2])
    | tree, clouds | 0.749, 0.751 |
    """
    scores: dict[tuple[str, str], dict[str, str]] = {}
    for line in printed.splitlines():
        if line.startswith("classes"):  # the header of every run
            continue
        _, data, learner, coding, _, equal, optimized, *_ = line.split()
        shown = equal if optimized == MISSING else f"{equal}, {optimized}"
        scores.setdefault((learner, data), {})[coding] = shown
    codings = [coding for coding in CODINGS if any(coding in found for found in scores.values())]
    ordered = sorted(scores, key=lambda pair: [*LEARNERS].index(pair[0]))
    rows = [
        [f"{LEARNERS[learner]}, {data}", *(scores[learner, data].get(coding, MISSING) for coding in codings)]
        for learner, data in ordered
    ]
    return table(["learner, data", *(CODINGS[coding] for coding in codings)], rows) if rows else NOT_MEASURED


def many_classes_blocks(classes: Path = MANY_CLASSES, codings: Path = MANY_CODINGS) -> dict[str, Callable[[], str]]:
    """Name the blocks of the page, and say how they are made."""
    kept = json.loads(classes.read_text(encoding="utf-8")) if classes.exists() else {}
    printed = codings.read_text(encoding="utf-8") if codings.exists() else ""
    blocks: dict[str, Callable[[], str]] = {
        f"many-classes-{size}": lambda size=size: by_method(kept.get(size, {})) for size in SIZES
    }
    blocks["many-codings"] = lambda: by_coding(printed)
    return blocks
