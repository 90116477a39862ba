"""The paper's experiment with music on a folder of one's own: Tables V and VI and Figure 8."""

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from skecoc.cli.plugins import InputError, deliver, make_folder, say, write_text
from skecoc.reports import WRITERS, Row, Table, drawing_style, to_text
from skecoc_study.music.experiment import MusicComparison
from skecoc_study.music.methods import MUSIC_METHODS
from skecoc_study.music.modulation import FEATURES
from skecoc_study.music.output import (
    GROWTH_FEATURE,
    growth_csv,
    growth_picture,
    music_accuracy_table,
    music_length_table,
)
from skecoc_study.music.parts import compare_folder
from skecoc_study.paper.published import METHODS, published_music
from skecoc_study.paper.summaries import method_columns
from skecoc_study.runs.protocol import Protocol

# Options of `music compare` that are not those of `reproduce`, as they are by default.
_USUAL = {"on_error": "skip", "rate": None, "cache": None, "no_cache": False, "learner": None, "group_by": "none"}
_PUBLISHED_NOTE = "Below each number is the paper's, on the Dortmund set; other music cannot be compared with it."
_LENGTH_NOTE = "The paper prints 45 columns for 1vs1, but nine genres make 36 pairs."


def reproduce_music(options: argparse.Namespace, *, protocol: Protocol, growth_method: str) -> None:
    """Run the command `reproduce` for Table V or VI or Figure 8, with the repeats, folds and seed of a protocol.

    The figure shows the growth of `growth_method`.
    """
    _check_options(options)
    is_figure = options.target == "fig8"
    folder: Path = options.output / ("figures" if is_figure else "tables")
    make_folder("--output", folder)
    if is_figure:
        _check_drawing()
    chosen = argparse.Namespace(
        **_USUAL,
        folder=options.clips,
        dortmund=options.dortmund,
        features=[GROWTH_FEATURE] if is_figure else list(FEATURES),
        folds=protocol.n_folds,
        repeats=protocol.n_repeats,
        seed=protocol.seed,
        jobs=options.jobs,
    )
    comparison = compare_folder(chosen, [growth_method] if is_figure else list(MUSIC_METHODS))
    if is_figure:
        for note in comparison.notes:
            say(f"note: {note}")
        write_text("--output", folder / "fig8.csv", growth_csv(comparison))
        write_text("--output", folder / "fig8.svg", growth_picture(comparison).svg())
        say(f"fig8.svg and its numbers, fig8.csv, written to {folder}")
        return
    tables = paper_music_tables(comparison)
    for name, table in tables.items():
        for ending, write in WRITERS.items():
            write_text("--output", folder / f"{name}.{ending}", write(table))
    say(f"{' and '.join(tables)} written to {folder}")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    deliver(to_text(tables[options.target], width))


def paper_music_tables(comparison: MusicComparison) -> dict[str, Table]:
    """Make the paper's Tables V (accuracy) and VI (code length), each number beside the published one."""
    accuracy, length = music_accuracy_table(comparison), music_length_table(comparison)
    length = replace(length, name="table6", notes=[*length.notes, _LENGTH_NOTE, *comparison.notes])
    return {
        "table5": _beside_published(replace(accuracy, name="table5"), "accuracy"),
        "table6": _beside_published(length, "code_length"),
    }


def _beside_published(table: Table, measure: str) -> Table:
    """Add the paper's numbers and headings to a table by feature and method."""
    published = published_music(measure)

    def number(feature: str, method: str) -> float:
        return published[feature.upper(), METHODS[method].split("/")[0]]

    rows = [
        Row(
            row.name,
            [
                replace(cell, published=f"{number(row.name, method):.2f}")
                for cell, method in zip(row.cells, table.keys, strict=True)
            ],
        )
        for row in table.rows
    ]
    records = [
        {**record, f"published_{measure}": number(record["feature"], record["method"])} for record in table.records
    ]
    columns, notes = method_columns(table.keys), [_PUBLISHED_NOTE, *table.notes]
    return replace(table, columns=columns, rows=rows, notes=notes, records=records)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse, before any work, what these targets lack or do not have."""
    if options.status or options.allow_mixed:
        raise InputError(f"{options.target}: its runs are not stored, so there is no --status and no --allow-mixed")
    if options.backend == "dask" or options.scheduler is not None:
        raise InputError(f"{options.target}: runs on music are local; expected neither --backend dask nor --scheduler")
    if options.clips is None:
        raise InputError(
            f"{options.target}: the paper's recordings (the Dortmund set) cannot be passed on; give a folder with one "
            "folder of audio per genre: --clips FOLDER"
        )
    if not options.clips.is_dir():
        raise InputError(f"--clips: '{options.clips}' is not a folder")


def _check_drawing() -> None:
    """Refuse to start a long run whose figure could not be drawn."""
    try:
        with drawing_style():
            pass
    except ImportError as error:
        raise InputError(str(error)) from error
