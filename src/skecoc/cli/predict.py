"""``skecoc predict``: classes and probabilities of the rows of a table, chunk by chunk."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

from skecoc.cli import console
from skecoc.support.errors import InputError, spell_out

if TYPE_CHECKING:  # what takes long to load is loaded when the command runs
    from skecoc.tables.readers import ReadingOptions, TableReader

_CHUNK_ROWS = 10_000
_EPILOG = """\
The output has one line per row, in the same order: the class (label) and the probability of each
class (probability_NAME). If a kept column already has such a name, the prediction is named
predicted_label, and so on. The columns of the table can be in any order, and further columns are
allowed; if the table contains the classes, the accuracy is reported. Invalid values, such as words
in a numeric column, are treated as missing and counted. The output file is only written if all
rows have been predicted.

examples:
  skecoc predict flowers.skops new.csv -o predicted.csv
  skecoc predict flowers.skops new.parquet --keep id --no-probabilities -o predicted.parquet
  skecoc predict flowers.skops new.csv --keep-all --escape-formulas -o for_a_spreadsheet.csv
  zcat new.csv.gz | skecoc predict flowers.skops - | cut -d, -f1 | sort | uniq -c"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = add_parser(
        "predict",
        description="Predict the classes of the rows of a table. The table may be larger than memory.",
        epilog=_EPILOG,
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL.skops", help="a model written by skecoc fit")
    console.add_table(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=console.STANDARD,
        metavar="FILE",
        help="where to write: .csv, .csv.gz, .tsv, .tsv.gz or .parquet (default: CSV on standard output)",
    )
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="columns to copy to the output")
    kept.add_argument("--keep-all", action="store_true", help="copy all columns to the output")
    parser.add_argument("--no-probabilities", action="store_true", help="write the classes only")
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="put an apostrophe before text that a spreadsheet would run as a formula, such as =1+1",
    )
    parser.add_argument(
        "--chunk-rows",
        type=console.at_least(1),
        default=_CHUNK_ROWS,
        metavar="N",
        help=f"number of rows in memory at a time (default: {_CHUNK_ROWS}); does not change results",
    )
    console.add_trust(parser)
    console.add_reading(parser)


def _run(options: argparse.Namespace) -> None:
    """Run the command."""
    console.check_there("data", options.data)
    from tqdm import tqdm

    from skecoc.support.files import check_writable, open_whole
    from skecoc.support.processes import interrupts_remembered
    from skecoc.tables.model import read_table_model
    from skecoc.tables.predicting import TablePredictions
    from skecoc.tables.writing import make_writer, output_suffix

    path = None if options.output == console.STANDARD else options.output
    is_text = path is None or output_suffix(path) != ".parquet"
    if path is not None:
        check_writable("--output", path)
    console.check_different({"--output": path}, {"data": options.data, "model": options.model})
    with redirect_stdout(sys.stderr):  # learners of other libraries may print when a model is tried
        model = read_table_model(options.model, options.trust, lambda note: console.say(f"note: {note}"))
    reading = console.reading_options(options, model.card_.get("decimal"))
    with _open(options.data, reading) as table, interrupts_remembered() as check_interrupt:
        console.say_notes(table.notes)
        n_said = len(table.notes)
        keep = table.columns if options.keep_all else options.keep
        predictions = TablePredictions(model, table, probabilities=not options.no_probabilities, keep=keep)
        escape = options.escape_formulas
        with (
            open_whole("--output", path) if path is not None else _standard_output() as file,
            make_writer(
                file,
                path,
                predictions.columns,
                predictions.types,
                escape_formulas=escape,
                probabilities=predictions.probability_columns,
            ) as write,
            tqdm(disable=path is None or not sys.stderr.isatty(), unit="row", unit_scale=True) as bar,
            redirect_stdout(sys.stderr),
        ):
            for chunk in predictions.chunks(options.chunk_rows):
                check_interrupt()
                write(chunk)
                bar.update(len(chunk))
    notes = [*table.notes[n_said:], *predictions.notes()]
    if is_text and not escape and (found := predictions.formulas()):
        names = spell_out([repr(name) for name in found])
        notes.append(f"a spreadsheet would run {names} as a formula; --escape-formulas prevents that")
    console.say_notes(notes)
    if path is not None:
        console.say(f"{predictions.n_rows} rows predicted, written to {path}")


def _open(path: Path, reading: "ReadingOptions") -> "TableReader":
    """Open the table to predict."""
    from skecoc.tables.reading import open_table

    try:
        return open_table(console.table_source(path), reading)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error).replace("path=", "data=", 1)) from error


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Write bytes to standard output; on a terminal, what it would interpret is escaped."""
    with console.standard_output() as stream:
        yield cast("BinaryIO", _Terminal(stream)) if stream.isatty() else stream.buffer


class _Terminal(RawIOBase):
    """A terminal that is written to piece by piece, each of whole lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        """Write bytes of a text; what the terminal cannot show is escaped."""
        encoding = self._stream.encoding
        text = console.shown(bytes(data).decode("utf-8", "surrogatepass"))
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(data)
