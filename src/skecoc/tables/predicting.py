"""Predict the rows of a table chunk by chunk, however large it is, and write what comes out as CSV or Parquet."""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from skecoc.support.errors import InputError, did_you_mean, import_extra, spell_out
from skecoc.tables.columns import names_of_classes, typed
from skecoc.tables.model import TableClassifier
from skecoc.tables.reading import SUFFIXES, TableReader, separator_hint, suffix_of

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Appends the rows of a data frame to a file.
Write = Callable[["pd.DataFrame"], None]

#: Name of the predicted class in the output, and what the columns of probabilities begin with.
LABEL, PROBABILITY = "label", "probability_"
#: Decimals of probabilities; more would only be noise.
DECIMALS = 6

_MAX_NAMES = 5


class _Unseen:
    """Counts values that are not known, and remembers the first few of them."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []

    def add(self, values: "pd.Series[Any]") -> None:
        """Count further values, and remember a few."""
        self.count += len(values)
        if len(values) and len(self.names) < _MAX_NAMES:
            self.names = list(dict.fromkeys([*self.names, *values.unique()[:_MAX_NAMES]]))[:_MAX_NAMES]

    def listing(self) -> str:
        """Name the first few."""
        return ", ".join(map(repr, self.names))


class TablePredictions:
    """Predictions for an open table, with columns of it that are kept, and what there is to say about it."""

    def __init__(
        self, model: TableClassifier, table: TableReader, *, probabilities: bool = True, keep: Sequence[str] = ()
    ) -> None:
        self.model, self.table, self.keep = model, table, list(dict.fromkeys(keep))
        self.has_probabilities = probabilities
        self.n_rows = self.n_labelled = self.n_correct = 0
        self._new_classes = _Unseen()
        self._new_values: dict[str, _Unseen] = {}
        _check_columns("column", model.kinds_, table)
        _check_columns("--keep: column", self.keep, table)
        target = model.card_.get("target")
        self._target = target if target in table.columns else None
        text = [name for name, kind in model.kinds_.items() if kind == "text"]
        encoder = model.preprocessor_.named_transformers_["text"][-1] if text else None
        self._known = {} if encoder is None else dict(zip(text, encoder.categories_, strict=True))
        names = [f"{PROBABILITY}{label}" for label in model.classes_] if probabilities else []
        self.columns = [*self.keep, LABEL, *names]
        # Types of Parquet that columns of `keep` are known to have.
        self.types = {name: kind for name, kind in table.arrow_types().items() if name in self.keep}
        clash = sorted(set(self.keep) & {LABEL, *names})
        if clash:
            raise InputError(f"--keep: the output has a column {clash[0]!r} of its own")

    def chunks(self, n_rows: int) -> "Iterator[pd.DataFrame]":
        """Predict the rows, once, at most so many at a time."""
        copied = [*self.keep, *([self._target] if self._target else [])]
        numbers = [name for name, kind in self.model.kinds_.items() if kind == "number" and name not in copied]
        chunks = self.table.chunks(n_rows, list(dict.fromkeys([*self.model.kinds_, *copied])), numbers)
        while True:
            try:
                chunk = next(chunks, None)
            except (ValueError, OSError) as error:
                raise InputError(str(error).removeprefix("path=")) from error
            if chunk is None:
                return
            yield self._predicted(chunk)

    def _predicted(self, chunk: "pd.DataFrame") -> "pd.DataFrame":
        """Predict a chunk, and count what is remarkable."""
        values = typed(chunk, self.model.kinds_)
        labels, probabilities = self._outputs(values)
        self.n_rows += len(chunk)
        self._count_new_values(values)
        if self._target:
            self._count_correct(chunk[self._target], labels)
        output: dict[str, Any] = {name: chunk[name] for name in self.keep}
        output[LABEL] = pd.Series(labels, chunk.index)
        for place, name in enumerate(self.columns[len(output) :]):
            output[name] = pd.Series(probabilities[:, place].round(DECIMALS), chunk.index)
        return pd.DataFrame(output, columns=self.columns)

    def _outputs(self, values: "pd.DataFrame") -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return labels and probabilities of typed rows."""
        model = self.model
        try:
            encoded = model.preprocessor_.transform(values)
            if not self.has_probabilities:
                return model.classifier_.predict(encoded), np.empty((len(values), 0))
            probabilities = model.classifier_.predict_proba(encoded)
            return model.classes_[probabilities.argmax(axis=1)], probabilities
        except Exception as error:  # a learner of another library may fail in any way
            first, last = int(values.index[0]) + 1, int(values.index[-1]) + 1
            reason = " ".join(str(error).split())
            raise InputError(f"the model fails on rows {first} to {last}: {reason}") from error

    def _count_new_values(self, values: "pd.DataFrame") -> None:
        """Count the text that the model has not seen in training."""
        for name, known in self._known.items():
            column = values[name]
            new = column[~column.isin(known) & column.notna()]
            if len(new):
                self._new_values.setdefault(name, _Unseen()).add(new)

    def _count_correct(self, truth: "pd.Series[Any]", labels: NDArray[Any]) -> None:
        """Count the rows whose class the table has, and those that are predicted correctly."""
        is_there = truth.notna().to_numpy()
        expected = names_of_classes(truth[is_there], self.model.classes_)
        self.n_labelled += len(expected)
        self.n_correct += int((expected.to_numpy(dtype=object) == labels[is_there].astype(str).astype(object)).sum())
        self._new_classes.add(expected[~expected.isin([str(label) for label in self.model.classes_])])

    def notes(self) -> list[str]:
        """Say what is remarkable about the table: what training did not see, and the accuracy if it has the classes."""
        known = {*self.model.kinds_, *self.model.left_out_, *self.keep, self.model.card_.get("target")}
        extra = [repr(name) for name in self.table.columns if name not in known]
        notes = [f"columns that the model does not use: {spell_out(extra)}"] if extra else []
        for name, new in self._new_values.items():
            notes.append(f"column {name!r}: {new.count} cells hold what training did not see, such as {new.listing()}")
        if self.n_labelled:
            notes.append(
                f"accuracy {100 * self.n_correct / self.n_labelled:.2f} % on the {self.n_labelled} rows with a class "
                f"in column {self._target!r}"
            )
        if (new := self._new_classes).count:
            notes.append(f"{new.count} rows have a class that training did not see, such as {new.listing()}")
        return notes


def _check_columns(what: str, needed: Sequence[str] | dict[str, str], table: TableReader) -> None:
    """Refuse a table that lacks columns, naming them and what may be meant."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        hint = did_you_mean(missing[0], table.columns, most=1) or separator_hint(table.columns)
        where = table.name.removeprefix("path=")
        number = "s" if len(missing) > 1 else ""
        names, verb = spell_out([repr(name) for name in missing]), "are" if number else "is"
        raise InputError(f"{what}{number} {names} {verb} missing in {where}{hint}")


def make_writer(
    file: BinaryIO, path: Path | None, columns: list[str], types: Mapping[str, Any] | None = None
) -> AbstractContextManager[Write]:
    """Choose what writes chunks of a table to a file, by the name that it is going to have; None stands for CSV.

    `types` are those that columns of a Parquet file are known to have; others follow from the first chunk.
    """
    suffix = ".csv" if path is None else output_suffix(path)
    if suffix == ".parquet":
        return _parquet_writer(file, columns, types or {})
    return _text_writer(file, columns, suffix)


@contextmanager
def _text_writer(file: BinaryIO, columns: list[str], suffix: str) -> Iterator[Write]:
    """Write lines of text, in UTF-8, the first of which names the columns."""
    separator = "\t" if suffix == ".tsv" else ","
    packed = gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) if suffix == ".csv.gz" else nullcontext(file)

    def write_rows(rows: Iterable[Sequence[Any]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
        stream.write(text.getvalue().encode("utf-8", "surrogatepass"))

    def write(chunk: "pd.DataFrame") -> None:
        cells = chunk.astype(object).where(chunk.notna(), "")
        write_rows(zip(*(cells.iloc[:, place].tolist() for place in range(cells.shape[1])), strict=True))

    with packed as stream:
        write_rows([columns])
        yield write
        stream.flush()


@contextmanager
def _parquet_writer(file: BinaryIO, columns: list[str], types: Mapping[str, Any]) -> Iterator[Write]:
    """Write a Parquet file, one row group per chunk; a column of which nothing is known is taken for text."""
    arrow = import_extra("pyarrow", "table", "writing Parquet")
    parquet = import_extra("pyarrow.parquet", "table", "writing Parquet")
    opened: list[Any] = []

    def start(found: Mapping[str, Any]) -> None:
        known = {name: kind for name, kind in {**found, **types}.items() if not arrow.types.is_null(kind)}
        schema = arrow.schema([(name, known.get(name, arrow.string())) for name in columns])
        opened.append(files.enter_context(parquet.ParquetWriter(file, schema)))

    def write(chunk: "pd.DataFrame") -> None:
        if not opened:
            start({field.name: field.type for field in arrow.Schema.from_pandas(chunk, False)})
        try:
            table = arrow.Table.from_pandas(chunk, schema=opened[0].schema, preserve_index=False)
        except arrow.ArrowException as error:
            raise InputError(f"a column does not hold the same kind of values throughout: {error}") from error
        opened[0].write_table(table)

    with ExitStack() as files:
        yield write
        if not opened:
            start({})


def output_suffix(path: Path) -> str:
    """Tell by its suffix how a table is going to be written; an InputError refuses unknown ones."""
    suffix = suffix_of(path)
    if suffix is None and (path.exists() and not path.is_file()):
        return ".csv"  # a device or a pipe
    if suffix is None:
        raise InputError(f"--output: '{path}' has an unknown suffix; expected one of {', '.join(SUFFIXES)}")
    return suffix
