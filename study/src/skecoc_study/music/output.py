"""Tables and figures of a comparison, files of features, and predicted genres."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.cli.plugins import InputError
from skecoc.compare.experiments import RoundRecord
from skecoc.compare.statistics import corrected_t_test, paired_values
from skecoc.reports import Cell, Picture, Row, Table, to_csv
from skecoc_study.music.experiment import MusicComparison
from skecoc_study.music.frontends import Floats
from skecoc_study.music.methods import ALL, MIXED_FEATURES, WOLC
from skecoc_study.runs.convergence import convergence_picture
from skecoc_study.runs.results import Results

# Genres that a line shows, the most probable first.
_SHOWN_GENRES = 3
#: The feature whose rounds of growth are shown, if it was compared; else the first one.
GROWTH_FEATURE = "mnase"

_ACCURACY_NOTE = (
    "Mean and standard deviation (over the folds, or over the repeats if there are several). Bold (* in plain text): "
    "the best of the row."
)
_MARKS_NOTE = (
    "+ and -: significantly better and worse than WOLC-ECOC (Nadeau and Bengio's corrected t test, two-tailed at 95 %, "
    "over all folds)."
)
_LENGTH_NOTE = "Mean number of columns evaluated at prediction."


def music_accuracy_table(comparison: MusicComparison) -> Table:
    """Make a table of accuracies in percent by feature and method; its records also hold lengths and seconds."""
    accuracy = 100 * comparison.values("accuracy")
    means, deviations = _mean_and_deviation(accuracy)
    shown = np.round(means, 2)
    best = shown == np.nanmax(shown, axis=1, keepdims=True)
    marks = _marks(comparison.methods, accuracy)
    cells = [
        [
            Cell()
            if np.isnan(mean)
            else Cell(f"{mean:.2f}", deviation=f"{deviation:.2f}", bold=bool(is_best), mark=mark, value=float(mean))
            for mean, deviation, is_best, mark in zip(*row, strict=True)
        ]
        for row in zip(means, deviations, best, marks, strict=True)
    ]
    has_marks = any(any(row) for row in marks)
    notes = [_ACCURACY_NOTE, *([_MARKS_NOTE] if has_marks else []), *_mixture_notes(comparison), *comparison.notes]
    return _music_table("accuracy", "Accuracy in %", comparison, cells, notes)


def music_length_table(comparison: MusicComparison) -> Table:
    """Make a table of code lengths by feature and method."""
    lengths = comparison.values("n_columns").mean(axis=(2, 3))
    cells = [
        [Cell() if np.isnan(length) else Cell(text=f"{length:.2f}", value=float(length)) for length in row]
        for row in lengths
    ]
    return _music_table("code-length", "Code length", comparison, cells, [_LENGTH_NOTE])


def growth_picture(comparison: MusicComparison) -> Picture:
    """Draw risk and accuracies of the first WOLC code by round, means over all runs on one feature."""
    rounds = _growth_rounds(comparison)
    first = rounds[0]
    setting = first.data_set, first.learner, first.response, first.coding
    return convergence_picture(Results([], rounds, {}), *setting, name=f"music-{first.data_set}")


def growth_csv(comparison: MusicComparison) -> str:
    """Write the numbers of `growth_picture` as CSV, one line per run and round."""
    records = [asdict(record) for record in _growth_rounds(comparison)]
    return to_csv(Table("growth", "", "", [], [], [], records=records))


def _growth_rounds(comparison: MusicComparison) -> list[RoundRecord]:
    """Choose the rounds to show: of the first WOLC code, on one feature."""
    rounds = comparison.results.rounds
    if not rounds:
        raise InputError("convergence: expected a method that grows a WOLC code, such as wolc/optimized-weight")
    feature = GROWTH_FEATURE if GROWTH_FEATURE in comparison.features else comparison.features[0]
    return [record for record in rounds if (record.data_set, record.coding) == (feature, rounds[0].coding)]


def _music_table(name: str, what: str, comparison: MusicComparison, cells: list[list[Cell]], notes: list[str]) -> Table:
    """Make a table with a row per feature and a column per method."""
    settings = comparison.settings
    repeats = f"{settings['repeats']} x " if settings["repeats"] > 1 else ""
    kept = "" if settings["groups"] is None else f", {settings['groups']} groups kept whole"
    title = (
        f"{what}: {settings['clips']} clips of {settings['genres']} genres, {repeats}{settings['folds']} folds{kept}, "
        f"learner {settings['learner']}"
    )
    columns: list[tuple[str, ...]] = [tuple(method.split("/")) for method in comparison.methods]
    rows = [Row(feature.upper(), row) for feature, row in zip(comparison.features, cells, strict=True)]
    records = _records(comparison)
    return Table(name, title, "feature", columns, list(comparison.methods), rows, notes=notes, records=records)


def _records(comparison: MusicComparison) -> list[dict[str, Any]]:
    """Return all averages in long form."""
    means, deviations = _mean_and_deviation(100 * comparison.values("accuracy"))
    measures = {
        "accuracy": means,
        "std": deviations,
        "columns": comparison.values("n_columns").mean(axis=(2, 3)),
        "fit_seconds": comparison.values("fit_seconds").mean(axis=(2, 3)),
    }
    return [
        {"feature": feature, "method": method, **{name: float(values[i, j]) for name, values in measures.items()}}
        for i, feature in enumerate(comparison.features)
        for j, method in enumerate(comparison.methods)
        if not np.isnan(means[i, j])
    ]


def _mean_and_deviation(accuracy: Floats) -> tuple[Floats, Floats]:
    """Average over all runs; deviations are over the repeats if there are several, else over the folds."""
    return accuracy.mean(axis=(2, 3)), np.std(paired_values(accuracy), axis=-1, ddof=1)


def _marks(methods: Sequence[str], accuracy: Floats) -> list[list[str]]:
    """Mark what differs significantly from WOLC-ECOC, if that was run on the same features."""
    if WOLC not in methods:
        return [[""] * len(methods) for _ in accuracy]
    wolc = list(methods).index(WOLC)
    signs = {1: "+", 0: "", -1: "-"}
    return [[signs[_verdict(values, row[wolc])] for values in row] for row in accuracy]


def _verdict(first: Floats, second: Floats) -> int:
    """Tell whether values by repeat and fold are significantly higher (1) or lower (-1) than others, if both exist."""
    if np.isnan(first).any() or np.isnan(second).any():
        return 0
    return corrected_t_test(first.ravel(), second.ravel(), test_share=1 / (first.shape[-1] - 1)).verdict


def _mixture_notes(comparison: MusicComparison) -> list[str]:
    """Compare the mixture of all features with the best of the others, if there are both."""
    if MIXED_FEATURES not in comparison.methods or len(comparison.methods) == 1:
        return []
    accuracy = 100 * comparison.values("accuracy")
    column = comparison.methods.index(MIXED_FEATURES)
    mixed = accuracy[comparison.features.index(ALL), column]
    means = accuracy.mean(axis=(2, 3))
    means[:, column] = -np.inf
    place = np.unravel_index(np.nanargmax(means), means.shape)
    word = {1: "significantly more than", -1: "significantly less than", 0: "not significantly different from"}
    rival = f"{comparison.methods[place[1]]} on {comparison.features[place[0]].upper()} with {means[place]:.2f}"
    verdict = word[_verdict(mixed, accuracy[place])]
    return [f"All feature sets mixed: {mixed.mean():.2f}, {verdict} the best of the others, {rival}."]


def features_csv(paths: Sequence[str], genres: Sequence[str], names: Sequence[str], values: Floats) -> str:
    """Write a line per clip: its path, its genre, and named values."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["path", "genre", *names])
    lines.writerows([path, genre, *row] for path, genre, row in zip(paths, genres, values.tolist(), strict=True))
    return text.getvalue()


def features_parquet(paths: Sequence[str], genres: Sequence[str], names: Sequence[str], values: Floats) -> bytes:
    """Write the same in the format of Parquet; needs pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError('writing Parquet needs pyarrow: pip install "scikit-ecoc[table]"') from error
    table = pa.table({"path": list(paths), "genre": list(genres), **dict(zip(names, values.T, strict=True))})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def format_predictions(paths: Sequence[str], classes: NDArray[Any], probabilities: Floats, form: str) -> str:
    """Write the genre of each file and the probabilities of all, as "table", "csv" or "json"."""
    genres = [str(genre) for genre in classes]
    best = [genres[index] for index in np.argmax(probabilities, axis=1)]
    if form == "csv":
        return features_csv(paths, best, genres, probabilities)
    if form == "json":
        content = [
            {"path": path, "genre": genre, "probabilities": dict(zip(genres, row, strict=True))}
            for path, genre, row in zip(paths, best, probabilities.tolist(), strict=True)
        ]
        return json.dumps(content, indent=1) + "\n"
    width = max(map(len, paths))
    lines = []
    for path, row in zip(paths, probabilities, strict=True):
        order = np.argsort(-row, kind="stable")[:_SHOWN_GENRES]
        likely = ", ".join(f"{genres[index]} {100 * row[index]:.0f} %" for index in order)
        lines.append(f"{path:<{width}}  {likely}\n")
    return "".join(lines)
