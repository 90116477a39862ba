"""Blocks of docs/user_guide/codings_and_decodings.md: learners with four codings, and log-loss beside calibration.

The scripts of benchmarks/ with the same names keep `learners_and_codings.json` and `probabilities.json`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _markdown import table

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "results"
PEERS = ("sklearn one-vs-one", "sklearn one-vs-rest")
CODINGS = ("one-vs-one", "one-vs-rest", "dense-random", "sparse-random")
#: Differences of more than this many standard errors count as better or worse.
STANDARD_ERRORS = 2.0

Row = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """Read what a benchmark keeps."""
    return json.loads(path.read_text(encoding="utf-8"))


def mean_accuracy(by_set: dict[str, Row], method: str) -> float:
    """Average the accuracy of a method over sets, in percent."""
    return float(np.mean([row["accuracy"][method] for row in by_set.values()]))


def accuracies(found: dict[str, dict[str, Row]]) -> str:
    """Lay out mean accuracies of learners and codings; in brackets, the number of sets where a coding is worse."""
    rows = []
    for learner, by_set in found.items():
        cells = [f"{mean_accuracy(by_set, peer):.1f}" for peer in PEERS]
        for coding in CODINGS:
            n_worse = sum(row["is_worse"][coding] for row in by_set.values())
            cells.append(f"{mean_accuracy(by_set, coding):.1f} ({n_worse})")
        rows.append([learner, *cells])
    return table(["learner", *(f"{name.removeprefix('sklearn ')}, scikit-learn" for name in PEERS), *CODINGS], rows)


def log_losses(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Set log-loss of classifiers beside that with `CalibratedClassifierCV`: means, sets that differ, ratio of time."""
    rows = []
    for name, by_set in found.items():
        values = {key: np.array([row[key] for row in by_set.values()]) for key in next(iter(by_set.values()))}
        scores = values["difference"] / np.maximum(values["standard_error"], 1e-12)
        rows.append(
            [
                name,
                f"{values['ours'].mean():.3f}",
                f"{values['calibrated'].mean():.3f}",
                f"{(scores < -STANDARD_ERRORS).sum()}/{(scores > STANDARD_ERRORS).sum()}",
                f"{np.median(values['seconds'] / values['seconds_calibrated']):.2f}",
            ]
        )
    return table(["classifier", "log-loss", "with `CalibratedClassifierCV`", "better/worse", "time of `fit`"], rows)


def learners_blocks(folder: Path = FOLDER) -> dict[str, Callable[[], str]]:
    """Name the blocks of the page, and say how they are made; none of files that are missing."""
    found: dict[str, Callable[[], str]] = {}
    if (path := folder / "learners_and_codings.json").exists():
        learners = read(path)["found"]
        found["learners-accuracy"] = lambda: accuracies(learners)
    if (path := folder / "probabilities.json").exists():
        probabilities = read(path)
        found["probabilities"] = lambda: log_losses(probabilities)
    return found
