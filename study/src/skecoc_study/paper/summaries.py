"""What the paper's tables and figures have in common: its settings, headings, and notes on what is not complete."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from skecoc.compare.statistics import friedman_test, nemenyi_critical_difference
from skecoc_study.paper.published import (
    CODINGS,
    DATA_SETS,
    DECODINGS,
    LEARNERS,
    METHODS,
    PAPER_RESPONSES,
    TITLES,
    WOLC,
    WOLC_PAPER,
)
from skecoc_study.runs.results import Results, SettingSummary, summarize_setting

_LEARNER_NAMES = {"stumps": "AdaBoost of 40 stumps", "svm": "SVM with an RBF kernel"}
_PAPER_REPEATS = _PAPER_FOLDS = 10


def summarize_paper(results: Results) -> list[SettingSummary]:
    """Summarise every setting of the paper's learners that has runs of its methods, the paper's responses first."""
    settings = [
        (learner, response)
        for learner, response in results.settings()
        if learner in LEARNERS and set(results.methods(learner, response)) & set(METHODS)
    ]
    settings.sort(key=lambda setting: (setting[0], setting[1] != PAPER_RESPONSES[setting[0]], setting[1]))
    return [paper_summary(results, *setting) for setting in settings]


def paper_summary(
    results: Results, learner: str, response: str, methods: Sequence[str] = tuple(METHODS)
) -> SettingSummary:
    """Compare the paper's methods (or others) in one setting with WOLC-ECOC, data sets in the paper's order."""
    found = results.data_sets(learner, response)
    data_sets = [*(name for name in DATA_SETS if name in found), *(name for name in found if name not in DATA_SETS)]
    return summarize_setting(results, learner, response, methods, data_sets=data_sets, control=WOLC)


def as_printed_summary(results: Results, learner: str, response: str) -> SettingSummary | None:
    """Summarise the paper's algorithm with all of its settings, which may have fewer repeats; None without runs."""
    if WOLC_PAPER not in results.methods(learner, response):
        return None
    return paper_summary(results, learner, response, [WOLC_PAPER])


def setting_title(summary: SettingSummary) -> str:
    """Name a setting, such as ``"AdaBoost of 40 stumps, outputs as labels"``."""
    return f"{_LEARNER_NAMES.get(summary.learner, summary.learner)}, outputs as {summary.response}"


def printed(method: str) -> str:
    """Return the paper's name of a method, where it has one."""
    return TITLES.get(method, method)


def shown_methods(summary: SettingSummary) -> list[str]:
    """List the methods that have a column: the paper's sixteen, with runs or without, and others that were compared."""
    return [*METHODS, *(method for method in summary.methods if method not in METHODS)]


def method_columns(methods: Sequence[str]) -> list[tuple[str, ...]]:
    """Return coding and decoding of methods as headings, in the paper's words where it has them.

    >>> method_columns(["wolc/optimized-weight", "lc-ecoc/hamming"])
    [('WOLC-ECOC', 'OW'), ('lc-ecoc', 'HD')]
    """
    pairs = [method.split("/") for method in methods]
    return [(CODINGS.get(coding, coding), DECODINGS.get(decoding, decoding)) for coding, decoding in pairs]


def row_name(summary: SettingSummary, row: int) -> str:
    """Name a row: the data set, and how many of its repeats count where it is not all of them: ``"iris (3/10)"``."""
    counted, planned = int(summary.n_repeats[row]), int(summary.planned_repeats[row])
    return summary.data_sets[row] + ("" if counted == planned else f" ({counted}/{planned})")


def geometric_means(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average the seconds of each method over data sets; a clock may not have moved during a very short run."""
    return np.asarray(np.exp(np.log(np.maximum(seconds, 1e-6)).mean(axis=0)))


def notes_on_gaps(summary: SettingSummary) -> list[str]:
    """Say what is missing from a setting, or other than in the paper."""
    notes = _notes_on_protocol(summary)
    partial = _names(summary, lambda counted, planned: 0 < counted < planned)
    if partial:
        notes.append(
            f"Not complete: {partial}. The repeats that every method has finished count, the others are left out."
        )
    unusable = _names(summary, lambda counted, _: counted == 0)
    if unusable:
        notes.append(
            f"Not comparable: {unusable}. No repeat is finished by every method; the numbers are means of the runs "
            "done (their number in parentheses), neither marked nor ranked."
        )
    missing = [name for name in DATA_SETS if name not in summary.data_sets]
    if missing:
        notes.append(f"{len(missing)} of the paper's {len(DATA_SETS)} data sets have no runs: {', '.join(missing)}.")
    if summary.missing_methods:
        notes.append(f"Methods without runs: {', '.join(summary.missing_methods)}.")
    if summary.other_methods:
        notes.append(f"Methods with runs that are not compared here: {', '.join(summary.other_methods)}.")
    return notes


def weights_in_short(summary: SettingSummary) -> str:
    """Say in which share of WOLC-ECOC's runs the weights are optimised: ``" in 69 % of runs"``; nothing if in all."""
    column = summary.position(WOLC)
    known = np.isfinite(summary.optimized)
    if column is None or not (summary.optimized[known] < 1.0).any():
        return ""
    share = np.average(summary.optimized[known], weights=summary.n_runs[known, column])
    return f" in {100 * share:.0f} % of runs"


def notes_on_weights(summary: SettingSummary) -> list[str]:
    """Say on which data sets WOLC-ECOC's weights are not optimised in all runs, but equal in each group of columns."""
    rows = [row for row, share in enumerate(summary.optimized) if share < 1.0]
    if not rows:
        return []
    shares = ", ".join(f"{summary.data_sets[row]} {summary.optimized[row]:.0%}" for row in rows)
    note = (
        "All weights of WOLC-ECOC have a certificate. Where the penalty that was chosen is the strongest one, they are "
        "equal in each group of columns, and are not called optimised. Share of the runs whose weights are optimised: "
        f"{shares}; all runs of the other data sets."
    )
    return [note]


def notes_on_tests(scores: NDArray[np.float64]) -> list[str]:
    """Report the tests of all methods at once, from accuracies of shape (n_data_sets, n_methods)."""
    n_data_sets, n_methods = scores.shape
    distance = nemenyi_critical_difference(n_methods, n_data_sets)
    notes = [f"Average ranks differ significantly (Nemenyi, 5 %) when they are {distance:.2f} apart."]
    if n_methods > 2:
        test = friedman_test(scores)
        notes.insert(
            0,
            f"All methods equal? Friedman's chi-squared {test.statistic:.2f}, p = {test.p_value:.2g}; "
            f"Iman and Davenport's F {test.f_statistic:.2f}, p = {test.f_p_value:.2g}.",
        )
    return notes


def _notes_on_protocol(summary: SettingSummary) -> list[str]:
    """Say where repeats and folds are not the paper's ten times ten."""
    groups: dict[int, list[str]] = {}
    for data_set, planned in zip(summary.data_sets, summary.planned_repeats.tolist(), strict=True):
        if planned != _PAPER_REPEATS or summary.n_folds != _PAPER_FOLDS:
            groups.setdefault(planned, []).append(data_set)
    paper = f"{_PAPER_REPEATS} x {_PAPER_FOLDS}"
    return [
        f"{planned} x {summary.n_folds} folds instead of the paper's {paper}: "
        f"{'all data sets' if names == summary.data_sets else ', '.join(names)}."
        for planned, names in sorted(groups.items())
    ]


def _names(summary: SettingSummary, wanted: Callable[[int, int], bool]) -> str:
    """List the rows whose counted and planned repeats are of some kind."""
    pairs = zip(summary.n_repeats.tolist(), summary.planned_repeats.tolist(), strict=True)
    return ", ".join(row_name(summary, row) for row, pair in enumerate(pairs) if wanted(*pair))
