"""The numbers printed in the paper; study/docs/paper.md says what is known to be wrong with them.

The tables are data of the package (``published_tables/``, in the paper's own spelling); everything here speaks of data
sets and methods by the names of this library.

The paper prints in bold the best accuracy of each row and those that differ from it by less than a t test at 5 % tells
apart. It does not say so, but the two-sample test on the printed means and deviations of ten repeats agrees with its
bold type in 440 of 448 cells.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.statistics import average_ranks

Floats = NDArray[np.float64]


def _rows(file: str) -> list[dict[str, str]]:
    """Read one of the package's files."""
    text = files("skecoc_study.paper").joinpath("published_tables", f"{file}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


_MISPRINTS = {"Dermathology": "dermatology", "OptDigts": "optdigits"}

#: Data sets in the order of the paper's Table I: the name here, the paper's spelling.
DATA_SETS: dict[str, str] = {
    _MISPRINTS.get(printed, printed.lower()): printed for printed in (row["dataset"] for row in _rows("datasets"))
}

#: Names of the codings and decodings here and in the paper.
CODINGS: dict[str, str] = {
    "one-vs-one": "1vs1",
    "one-vs-rest": "1vsALL",
    "random-10": "Random",
    "ecoc-one": "ECOC-ONE",
    "decoc": "DECOC",
    "wolc": "WOLC-ECOC",
}
DECODINGS: dict[str, str] = {
    "hamming": "HD",
    "loss-based": "LB",
    "loss-weighted": "LW",
    "optimized-weight": "OW",
}

#: The method that the paper proposes.
WOLC = "wolc/optimized-weight"

#: The sixteen methods in the paper's order: the name here, the paper's.
METHODS: dict[str, str] = {
    **{
        f"{coding}/{decoding}": f"{CODINGS[coding]}/{DECODINGS[decoding]}"
        for coding in list(CODINGS)[:-1]
        for decoding in list(DECODINGS)[:-1]
    },
    WOLC: "WOLC-ECOC/OW",
}

#: The same algorithm with all settings of the paper.
WOLC_PAPER = "wolc-paper/optimized-weight"

#: Variants that are compared where outputs are labels, as those of the paper's AdaBoost are: names and short titles.
FURTHER_METHODS: dict[str, str] = {
    "wolc-paper-one-vs-one/optimized-weight": "wolc-paper from 1vs1",
    "wolc-printed/optimized-weight": "wolc-printed (Algorithm 2)",
    "wolc-margin/optimized-weight": "wolc-paper, margin 0.1",
    **{
        f"{coding}/{decoding}": f"{title}/{short}"
        for coding, title in (
            ("ecoc-one-extended", "ECOC-ONE extended"),
            ("library-ecoc-one", "library/ecoc-one"),
            ("library-decoc", "library/decoc"),
            ("library-random", "library/random"),
        )
        for decoding, short in list(DECODINGS.items())[:-1]
    },
}

#: The names of all methods in tables: the paper's where it has them.
TITLES: dict[str, str] = {**METHODS, WOLC_PAPER: "wolc-paper/OW", **FURTHER_METHODS}

#: Base learners of Tables II and III: their files, and their names in the headings of Table IV.
_ACCURACY_FILES = {"stumps": "accuracy_adaboost", "svm": "accuracy_svm"}
LEARNERS: dict[str, str] = {"stumps": "Ada", "svm": "SVM"}

#: The outputs of those learners that are set beside the paper's tables first. AdaBoost's were labels (HD and LB of 1vs1
#: are equal throughout Table II); what the SVM's were, the paper does not say.
PAPER_RESPONSES: dict[str, str] = {"stumps": "labels", "svm": "probabilities"}


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper: what its cells print, accuracies in percent or code lengths, and whether in bold."""

    data_sets: list[str]  # as this library spells them
    columns: list[str]  # methods as this library spells them (Tables II and III), or the paper's headings (Table IV)
    mean: Floats
    std: Floats
    bold: NDArray[np.bool_]

    def cell(self, data_set: str, column: str) -> tuple[float, float, bool] | None:
        """Look up mean, standard deviation, and whether the mean is printed in bold; None if there is no such cell."""
        if data_set not in self.data_sets or column not in self.columns:
            return None
        at = self.data_sets.index(data_set), self.columns.index(column)
        return float(self.mean[at]), float(self.std[at]), bool(self.bold[at])


@cache
def published_accuracy(learner: str) -> PublishedTable:
    """Return the paper's Table II (AdaBoost of 40 stumps) or III (SVM): 14 data sets by 16 methods, in percent."""
    if learner not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {learner!r}")
    file = _ACCURACY_FILES[learner]
    bold = {(row["dataset"], row["method"]) for row in _rows("bold") if row["table"] == file}
    return _published_table(file, METHODS, bold)


@cache
def published_code_length() -> PublishedTable:
    """Return the paper's Table IV: 14 data sets by 12 columns, such as ``"1vs1"`` and ``"ECOC-ONE/HD/Ada"``."""
    headings = dict.fromkeys(row["method"] for row in _rows("code_length"))
    return _published_table("code_length", {heading: heading for heading in headings}, set())


def length_column(method: str, learner: str) -> str:
    """Name the column of Table IV that holds a method's code length; fixed codes have one for all learners.

    >>> length_column("one-vs-one/hamming", "svm"), length_column("ecoc-one/hamming", "svm")
    ('1vs1', 'ECOC-ONE/HD/SVM')
    """
    coding, decoding = METHODS[method].split("/")
    if coding == CODINGS["ecoc-one"]:
        return f"{coding}/{decoding}/{LEARNERS[learner]}"
    return f"{coding}/{LEARNERS[learner]}" if method == WOLC else coding


def published_music(measure: str) -> dict[tuple[str, str], float]:
    """Return the ``"accuracy"`` in percent (Table V) or ``"code_length"`` (Table VI) on music by feature and coding."""
    if measure not in ("accuracy", "code_length"):
        raise ValueError(f"measure must be 'accuracy' or 'code_length', got {measure!r}")
    return {(row["feature"], row["coding"]): float(row["value"]) for row in _rows(f"music_{measure}")}


def printed_ranks(learner: str) -> dict[str, float]:
    """Return the row "Rank" as the paper prints it, which is not the average rank of the table above it.

    >>> printed_ranks("stumps")["wolc/optimized-weight"]
    2.14
    """
    rows = {row["method"]: row for row in _rows(_ACCURACY_FILES[learner]) if row["dataset"] == "_average_rank"}
    return {method: float(rows[printed]["mean"]) for method, printed in METHODS.items()}


def recomputed_ranks(
    learner: str, data_sets: Iterable[str] | None = None, methods: Sequence[str] | None = None
) -> dict[str, float]:
    """Average the ranks of the printed accuracies over some data sets and methods, ties sharing their mean rank.

    Data sets that the paper lacks are passed over; None takes all. Empty if there is nothing to rank.
    """
    table = published_accuracy(learner)
    names = list(table.columns if methods is None else methods)
    wanted = set(table.data_sets if data_sets is None else data_sets)
    rows = [position for position, name in enumerate(table.data_sets) if name in wanted]
    columns = [table.columns.index(name) for name in names]
    if not rows or not columns:
        return {}
    return dict(zip(names, average_ranks(table.mean[np.ix_(rows, columns)]).tolist(), strict=True))


def _published_table(file: str, columns: dict[str, str], bold: set[tuple[str, str]]) -> PublishedTable:
    """Arrange the rows of a file by data set and column; `columns` gives the printed name of each."""
    cells = {(row["dataset"], row["method"]): row for row in _rows(file)}
    keys = [[(row, column) for column in columns.values()] for row in DATA_SETS.values()]
    return PublishedTable(
        data_sets=list(DATA_SETS),
        columns=list(columns),
        mean=np.array([[float(cells[key]["mean"]) for key in row] for row in keys]),
        std=np.array([[float(cells[key]["std"]) for key in row] for row in keys]),
        bold=np.array([[key in bold for key in row] for row in keys]),
    )
