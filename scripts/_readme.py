"""The table of README.md that compares with scikit-learn, from what the benchmarks printed."""

import re
from collections.abc import Callable
from pathlib import Path

from _markdown import table

PRINTED = Path(__file__).resolve().parent.parent / "docs" / "results" / "benchmarks"


def found(name: str, pattern: str) -> tuple[str, ...]:
    """Return the groups of a pattern where it first occurs in what a benchmark printed."""
    match = re.search(pattern, (PRINTED / f"{name}.txt").read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{name}.txt has nothing like {pattern!r}")
    return match.groups()


def beside_scikit_learn() -> str:
    """Say in a row each how codes, stumps and ensembles compare."""
    ours, theirs = map(float, found("output_code_accuracy", r"average +([\d.]+) +([\d.]+)"))
    (fit,), (predict,) = (found("stumps", rf"smallest {kind} ratio: (\d+)x") for kind in ("fit", "predict"))
    medians = found("ensembles", r"median: fit (\d+)x, predict (\d+)x; mean accuracy ([\d.]+) against ([\d.]+)")
    lines = (PRINTED / "meta_estimators.txt").read_text(encoding="utf-8").splitlines()
    linear = [line for line in lines if re.search(r"(logistic|linear SVM) +OneVsOneClassifier", line)]
    speeds = [float(line.split()[-1]) for line in linear]
    rows = [
        [
            "dense random code, as many columns, logistic regression (`output_code_accuracy.py`)",
            "`OutputCodeClassifier(code_size=1.5)`",
            f"{ours:.1f} % against {theirs:.1f} %, mean of 14 UCI sets",
        ],
        [
            "40 boosted stumps, one column (`stumps.py`)",
            "`AdaBoostClassifier`",
            f"fits at least {fit} times as fast, predicts at least {predict} times",
        ],
        [
            "one-vs-one of stumps, 14 UCI sets (`ensembles.py`)",
            "`OneVsOneClassifier(AdaBoostClassifier)`",
            "median: fits {} times as fast, predicts {} times; {} % against {} %".format(*medians),
        ],
        [
            "linear learners, one-vs-one, 10 or 11 classes (`meta_estimators.py`)",
            "`OneVsOneClassifier`",
            f"predicts {min(speeds)} to {max(speeds)} times as fast",
        ],
    ]
    return table(["what", "against", "result"], rows)


def readme_blocks() -> dict[str, Callable[[], str]]:
    """Name the block and say how it is made."""
    return {"beside-scikit-learn": beside_scikit_learn}
