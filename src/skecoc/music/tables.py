"""The paper's Tables V and VI and its Figure 8, from a comparison on music, beside the published numbers."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.benchmarking.results import Results
from skecoc.benchmarking.runs import RoundRecord
from skecoc.benchmarking.statistics import best_per_row, corrected_t_test, paired_values
from skecoc.music.experiment import MUSIC_METHODS, MusicComparison
from skecoc.paper.published import published_music
from skecoc.reports.charts import convergence_picture
from skecoc.reports.pictures import Picture
from skecoc.reports.tables import Cell, Row, Table, to_csv
from skecoc.support.errors import InputError

Floats = NDArray[np.float64]

#: The feature of Figure 8.
_FIGURE_FEATURE = "mnase"
_ACCURACY_NOTE = (
    "Mean and standard deviation (over the folds, or over the repeats if there are several), then the number that the "
    "paper has on the Dortmund set, which other music cannot be compared with. Bold (* in plain text): the best of the "
    "row."
)
_MARKS_NOTE = (
    "+ and -: significantly better and worse than WOLC-ECOC (Nadeau and Bengio's corrected t test, two-tailed at 95 %, "
    "over all folds)."
)
_LENGTH_NOTE = "Mean number of columns that prediction asks. The paper's 45 for 1vs1 should be 36: nine genres."


def music_accuracy_table(comparison: MusicComparison) -> Table:
    """Make Table V: accuracies in percent by feature and code.

    Parameters
    ----------
    comparison : MusicComparison
        The runs.

    Returns
    -------
    Table
        Its records hold accuracies, code lengths and seconds of training.

    Examples
    --------
    >>> from skecoc.music.experiment import MusicData, compare_music
    >>> genres = np.repeat(["jazz", "rock", "pop"], 6)
    >>> data = MusicData({"mosc": np.eye(3)[np.repeat([0, 1, 2], 6)]}, genres)
    >>> table = music_accuracy_table(compare_music(data, ["one-vs-rest/loss-weighted"], folds=2))
    >>> table.rows[0].name, table.rows[0].cells[0].text, table.rows[0].cells[0].published
    ('MOSC', '100.00', '47.89')
    """
    accuracy = 100 * comparison.values("accuracy")
    means = accuracy.mean(axis=(2, 3))
    best = best_per_row(means, decimals=2)
    marks = _marks(comparison, accuracy)
    deviations = np.std(paired_values(accuracy), axis=-1, ddof=1)
    published = _published(comparison, "accuracy")
    rows = [
        Row(
            feature.upper(),
            [
                Cell(
                    text=f"{means[i, j]:.2f}",
                    deviation=f"{deviations[i, j]:.2f}",
                    published=_number(published[i][j]),
                    bold=bool(best[i, j]),
                    mark=marks[i][j],
                    value=float(means[i, j]),
                )
                for j in range(len(comparison.methods))
            ],
        )
        for i, feature in enumerate(comparison.features)
    ]
    has_marks = any(mark for row in marks for mark in row)
    notes = [_ACCURACY_NOTE, *([_MARKS_NOTE] if has_marks else []), *comparison.notes]
    return _table("table5", f"Accuracy in %: {_setting(comparison)}", comparison, rows, notes, _records(comparison))


def music_length_table(comparison: MusicComparison) -> Table:
    """Make Table VI: code lengths by feature and code.

    Parameters
    ----------
    comparison : MusicComparison
        The runs.

    Returns
    -------
    Table
        Mean numbers of columns.

    Examples
    --------
    >>> from skecoc.music.experiment import MusicData, compare_music
    >>> genres = np.repeat(["jazz", "rock", "pop"], 6)
    >>> data = MusicData({"mosc": np.eye(3)[np.repeat([0, 1, 2], 6)]}, genres)
    >>> table = music_length_table(compare_music(data, ["one-vs-rest/loss-weighted"], folds=2))
    >>> table.rows[0].cells[0].text, table.rows[0].cells[0].published
    ('3.00', '9.00')
    """
    lengths = comparison.values("n_columns").mean(axis=(2, 3))
    published = _published(comparison, "code_length")
    rows = [
        Row(
            feature.upper(),
            [
                Cell(text=f"{lengths[i, j]:.2f}", published=_number(published[i][j]), value=float(lengths[i, j]))
                for j in range(len(comparison.methods))
            ],
        )
        for i, feature in enumerate(comparison.features)
    ]
    title = f"Code length: {_setting(comparison)}"
    return _table("table6", title, comparison, rows, [_LENGTH_NOTE], _records(comparison))


def music_convergence(comparison: MusicComparison) -> Picture:
    """Draw Figure 8: risk and accuracies of WOLC-ECOC by round, means over all runs.

    Parameters
    ----------
    comparison : MusicComparison
        Runs that include WOLC-ECOC.

    Returns
    -------
    Picture
        On MNASE as in the paper if that is among the features, else on the first.

    Raises
    ------
    InputError
        If there are no runs of WOLC-ECOC.
    """
    rounds = _figure_rounds(comparison)
    first = rounds[0]
    results = Results([], rounds, {})
    return convergence_picture(
        results, first.data_set, first.learner, first.response, first.coding, name=f"music-{first.data_set}"
    )


def music_rounds_csv(comparison: MusicComparison) -> str:
    """Write the numbers of Figure 8 as CSV, one line per run and round.

    Parameters
    ----------
    comparison : MusicComparison
        Runs that include WOLC-ECOC.

    Returns
    -------
    str
        A header and the lines.

    Raises
    ------
    InputError
        If there are no runs of WOLC-ECOC.
    """
    records = [asdict(record) for record in _figure_rounds(comparison)]
    return to_csv(Table("figure8", "", "", [], [], [], records=records))


def _figure_rounds(comparison: MusicComparison) -> list[RoundRecord]:
    """Choose the rounds that Figure 8 shows: of the first WOLC code, on its feature."""
    rounds = comparison.results.rounds
    if not rounds:
        raise InputError("convergence: expected a method that grows a WOLC code, such as wolc/optimized-weight")
    feature = _FIGURE_FEATURE if _FIGURE_FEATURE in comparison.features else comparison.features[0]
    return [record for record in rounds if (record.data_set, record.coding) == (feature, rounds[0].coding)]


def _table(
    name: str, title: str, comparison: MusicComparison, rows: list[Row], notes: list[str], records: list[dict[str, Any]]
) -> Table:
    """Make a table with a column per method."""
    columns: list[tuple[str, ...]] = [
        (MUSIC_METHODS.get(method, method.split("/")[0]), method.split("/")[1]) for method in comparison.methods
    ]
    return Table(name, title, "feature", columns, list(comparison.methods), rows, notes=notes, records=records)


def _setting(comparison: MusicComparison) -> str:
    """Describe how a comparison was made, in a line."""
    settings = comparison.settings
    repeats = f"{settings['repeats']} x " if settings["repeats"] > 1 else ""
    kept = "" if settings["groups"] is None else f", {settings['groups']} groups kept whole"
    return (
        f"{settings['clips']} clips of {settings['genres']} genres, {repeats}{settings['folds']} folds{kept}, "
        f"learner {settings['learner']}"
    )


def _records(comparison: MusicComparison) -> list[dict[str, Any]]:
    """Return all averages in long form."""
    accuracy = 100 * comparison.values("accuracy")
    means, deviations = accuracy.mean(axis=(2, 3)), np.std(paired_values(accuracy), axis=-1, ddof=1)
    lengths = comparison.values("n_columns").mean(axis=(2, 3))
    seconds = comparison.values("fit_seconds").mean(axis=(2, 3))
    printed, printed_lengths = _published(comparison, "accuracy"), _published(comparison, "code_length")
    return [
        {
            "feature": feature,
            "method": method,
            "accuracy": float(means[i, j]),
            "std": float(deviations[i, j]),
            "columns": float(lengths[i, j]),
            "fit_seconds": float(seconds[i, j]),
            "paper_accuracy": printed[i][j],
            "paper_columns": printed_lengths[i][j],
        }
        for i, feature in enumerate(comparison.features)
        for j, method in enumerate(comparison.methods)
    ]


def _published(comparison: MusicComparison, measure: str) -> list[list[float | None]]:
    """Look up the paper's numbers by feature and method; None where it has none."""
    numbers = published_music(measure)
    return [
        [numbers.get((feature.upper(), MUSIC_METHODS.get(method, ""))) for method in comparison.methods]
        for feature in comparison.features
    ]


def _number(value: float | None) -> str:
    """Write a published number as the paper does."""
    return "" if value is None else f"{value:.2f}"


def _marks(comparison: MusicComparison, accuracy: Floats) -> list[list[str]]:
    """Mark what differs significantly from WOLC-ECOC, if that was run."""
    wolc = [j for j, method in enumerate(comparison.methods) if MUSIC_METHODS.get(method) == "WOLC-ECOC"]
    if not wolc:
        return [[""] * len(comparison.methods) for _ in comparison.features]
    n_folds = accuracy.shape[-1]
    runs = accuracy.reshape(*accuracy.shape[:2], -1)
    signs = {1: "+", 0: "", -1: "-"}
    return [
        [signs[corrected_t_test(values, row[wolc[0]], test_share=1 / (n_folds - 1)).verdict] for values in row]
        for row in runs
    ]
