"""``skecoc predict``: classes and probabilities of the rows of a table, chunk by chunk."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import BinaryIO

from tqdm import tqdm

from skecoc.cli import console
from skecoc.support.errors import InputError
from skecoc.support.files import check_writable, open_whole
from skecoc.support.processes import interrupts_remembered
from skecoc.tables.model import read_table_model
from skecoc.tables.predicting import TablePredictions, make_writer, output_suffix
from skecoc.tables.reading import TableReader, open_table

_CHUNK_ROWS = 10_000
_EPILOG = """\
The output has a line for each row, in the same order: the class (label) and the probability of
each class (probability_NAME). The table may have its columns in any order, and others beside
them; if it has the classes, the accuracy is said. A file is written whole or not at all.

examples:
  skecoc predict flowers.skops new.csv -o predicted.csv
  skecoc predict flowers.skops new.parquet --keep id --no-probabilities -o predicted.parquet
  zcat new.csv.gz | skecoc predict flowers.skops - | cut -d, -f1 | sort | uniq -c"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "predict",
        description="Predict the rows of a CSV or Parquet table, which may be larger than memory.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL.skops", help="a model that skecoc fit has written")
    console.add_table(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=console.STANDARD,
        metavar="FILE",
        help="where to write, in the format of its ending (default: CSV on standard output)",
    )
    parser.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="columns to copy to the output")
    parser.add_argument("--no-probabilities", action="store_true", help="write the classes only")
    parser.add_argument(
        "--chunk-rows",
        type=console.at_least(1),
        default=_CHUNK_ROWS,
        metavar="N",
        help=f"rows in memory at a time (default: {_CHUNK_ROWS}); changes no result",
    )
    console.add_trust(parser)


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    to_file = options.output != console.STANDARD
    if to_file:
        output_suffix(options.output)
        check_writable("--output", options.output)
    console.check_different({"--output": options.output}, {"data": options.data, "model": options.model})
    with redirect_stdout(sys.stderr):  # learners of other libraries may print when a model is tried
        model = read_table_model(options.model, options.trust, lambda note: console.say(f"note: {note}"))
    with _open(options.data) as table, interrupts_remembered() as check_interrupt:
        predictions = TablePredictions(model, table, probabilities=not options.no_probabilities, keep=options.keep)
        with (
            open_whole("--output", options.output) if to_file else _standard_output() as file,
            make_writer(file, options.output if to_file else None, predictions.columns, predictions.types) as write,
            tqdm(disable=not (to_file and sys.stderr.isatty()), unit="row", unit_scale=True) as bar,
            redirect_stdout(sys.stderr),
        ):
            for chunk in predictions.chunks(options.chunk_rows):
                check_interrupt()
                write(chunk)
                bar.update(len(chunk))
    for note in predictions.notes():
        console.say(f"note: {note}")
    if to_file:
        console.say(f"{predictions.n_rows} rows predicted, written to {options.output}")


def _open(path: Path) -> TableReader:
    """Open the table to predict."""
    try:
        return open_table(console.table_source(path))
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error).replace("path=", "data=", 1)) from error


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Write bytes to standard output."""
    with console.standard_output() as stream:
        yield stream.buffer
