"""Predict the rows of a table chunk by chunk; the table may be larger than memory."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skecoc.support.errors import InputError, did_you_mean, spell_out
from skecoc.tables.kinds import Strays, describe_strays, names_of_classes, typed
from skecoc.tables.model import TableClassifier
from skecoc.tables.readers import TableReader
from skecoc.tables.reading import separator_hint
from skecoc.tables.writing import DECIMALS, runs_in_spreadsheets

with suppress(ImportError):  # `open_table` says how to install it
    import pandas as pd

#: Name of the predicted class in the output, and the prefix of columns of probabilities.
LABEL, PROBABILITY = "label", "probability_"

_MAX_NAMES = 5


class _Unseen:
    """A count of values that training did not see, and the first few of them."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []

    def add(self, values: "pd.Series[Any]") -> None:
        """Count further values, and keep the first few."""
        self.count += len(values)
        if len(values) and len(self.names) < _MAX_NAMES:
            self.names = list(dict.fromkeys([*self.names, *values.unique()[:_MAX_NAMES]]))[:_MAX_NAMES]

    def listing(self) -> str:
        """Name the first few."""
        return ", ".join(map(repr, self.names))


class TablePredictions:
    """Predictions for an open table, with the columns that are kept beside them, and notes on the table."""

    def __init__(
        self, model: TableClassifier, table: TableReader, *, probabilities: bool = True, keep: Sequence[str] = ()
    ) -> None:
        self.model, self.table, self.keep = model, table, list(dict.fromkeys(keep))
        self.has_probabilities = probabilities and hasattr(model.classifier_, "predict_proba")
        self.n_rows = self.n_labelled = self.n_correct = 0
        self._new_classes = _Unseen()
        self._missing: dict[str, int] = {}
        self._new_values: dict[str, _Unseen] = {}
        self._strays: dict[str, Strays] = {}
        _check_columns("column", model.kinds_, table)
        _check_columns("--keep: column", self.keep, table)
        target = model.card_.get("target")
        self._target = target if target in table.columns else None
        text = [name for name, kind in model.kinds_.items() if kind == "text"]
        encoder = model.preprocessor_.named_transformers_["text"][-1] if text else None
        self._known = {} if encoder is None else dict(zip(text, encoder.categories_, strict=True))
        names = [f"{PROBABILITY}{label}" for label in model.classes_] if self.has_probabilities else []
        self._own = _free_names([LABEL, *names], self.keep)
        self.columns = [*self.keep, *self._own.values()]
        self.probability_columns = list(self._own.values())[1:]
        # Types of Parquet that columns of `keep` are known to have.
        self.types = {name: kind for name, kind in table.types.items() if name in self.keep}
        self._lacks_probabilities = probabilities and not self.has_probabilities

    def chunks(self, n_rows: int) -> "Iterator[pd.DataFrame]":
        """Predict the rows, once, at most so many at a time."""
        copied = [*self.keep, *([self._target] if self._target else [])]
        numbers = [name for name, kind in self.model.kinds_.items() if kind == "number"]
        self._copied_numbers = [name for name in numbers if name in copied]
        numbers = [name for name in numbers if name not in copied]
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
        """Predict a chunk, and count missing cells, values that training did not see, and correct predictions."""
        copied = {name: self.table.as_numbers(chunk[name]) for name in self._copied_numbers}
        values = typed(chunk.assign(**copied), self.model.kinds_, self._strays)
        labels, probabilities = self._outputs(values)
        self.n_rows += len(chunk)
        counts = values.isna().sum()
        for name, count in counts[counts > 0].items():
            self._missing[str(name)] = self._missing.get(str(name), 0) + int(count)
        for name, known in self._known.items():
            column = values[name]
            new = column[~column.isin(known) & column.notna()]
            if len(new):
                self._new_values.setdefault(name, _Unseen()).add(new)
        if self._target:
            self._count_correct(chunk[self._target], labels)
        output: dict[str, Any] = {name: chunk[name] for name in self.keep}
        label, *rest = self._own.values()
        output[label] = pd.Series(labels, chunk.index)
        for place, name in enumerate(rest):
            output[name] = pd.Series(probabilities[:, place].round(DECIMALS), chunk.index)
        return pd.DataFrame(output, columns=self.columns)

    def _outputs(self, values: "pd.DataFrame") -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return labels and probabilities of typed rows."""
        model = self.model
        try:
            encoded = model.preprocessor_.transform(values)
            if not self.has_probabilities:
                return model.classes_[model.classifier_.predict(encoded)], np.empty((len(values), 0))
            probabilities = model.classifier_.predict_proba(encoded)
            return model.classes_[probabilities.argmax(axis=1)], probabilities
        except Exception as error:  # a learner of another library may fail in any way
            first, last = int(values.index[0]) + 1, int(values.index[-1]) + 1
            reason = " ".join(str(error).split())
            raise InputError(f"the model fails on rows {first} to {last}: {reason}") from error

    def _count_correct(self, truth: "pd.Series[Any]", labels: NDArray[Any]) -> None:
        """Count the rows whose class the table has, and those that are predicted correctly."""
        is_there = truth.notna().to_numpy()
        expected = names_of_classes(truth[is_there], self.model.classes_)
        self.n_labelled += len(expected)
        self.n_correct += int((expected.to_numpy(dtype=object) == labels[is_there].astype(str).astype(object)).sum())
        self._new_classes.add(expected[~expected.isin([str(label) for label in self.model.classes_])])

    def notes(self) -> list[str]:
        """List what training did not see, and the accuracy if the table has the classes."""
        known = {*self.model.kinds_, *self.model.left_out_, *self.keep, self.model.card_.get("target")}
        extra = [repr(name) for name in self.table.columns if name not in known]
        notes = [f"columns that the model does not use: {spell_out(extra)}"] if extra else []
        notes += self._notes_on_output()
        in_order = [name for name in self.model.kinds_ if name in self._strays]  # whatever the chunks
        notes += [
            f"column {name!r}: {describe_strays(self._strays[name], self.model.kinds_[name])}" for name in in_order
        ]
        if self._missing:
            names = [f"{name!r} ({self._missing[name]})" for name in self.model.kinds_ if name in self._missing]
            notes.append(f"cells without a value, by column: {spell_out(names)}")
        for name, new in ((name, self._new_values[name]) for name in self._known if name in self._new_values):
            notes.append(f"column {name!r}: {new.count} cells hold what training did not see, such as {new.listing()}")
        if self.n_labelled:
            notes.append(
                f"accuracy {100 * self.n_correct / self.n_labelled:.2f} % on the {self.n_labelled} rows with a class "
                f"in column {self._target!r}"
            )
        if (new := self._new_classes).count:
            notes.append(f"{new.count} rows have a class that training did not see, such as {new.listing()}")
        return notes

    def _notes_on_output(self) -> list[str]:
        """List what differs from the usual columns of the output."""
        notes = []
        if self._lacks_probabilities:
            notes.append(f"a {type(self.model.classifier_).__name__} gives no probabilities: only classes are written")
        renamed = [f"{name!r} as {own!r}" for name, own in self._own.items() if name != own]
        if renamed:
            notes.append(f"columns of the table are kept by these names, so predictions are: {spell_out(renamed)}")
        return notes

    def formulas(self) -> list[str]:
        """List names of classes and columns that a spreadsheet would run as formulas."""
        texts = dict.fromkeys([*self.columns, *map(str, self.model.classes_)])
        return [text for text in texts if runs_in_spreadsheets(text)]


def _free_names(names: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """Choose names for columns of the output, as they are if possible; no two columns have the same.

    >>> _free_names(["label", "probability_a"], ["id", "label"])
    {'label': 'predicted_label', 'probability_a': 'probability_a'}
    >>> _free_names(["label"], ["label", "predicted_label"])
    {'label': 'predicted_label.2'}
    """
    used, chosen = {*taken, *names}, {}
    for name in names:
        chosen[name] = name
        number = 1
        while name in taken and chosen[name] in used:
            chosen[name] = f"predicted_{name}" if number == 1 else f"predicted_{name}.{number}"
            number += 1
        used.add(chosen[name])
    return chosen


def _check_columns(what: str, needed: Sequence[str] | dict[str, str], table: TableReader) -> None:
    """Refuse a table that lacks columns, naming them and what may be meant."""
    missing = [name for name in needed if name not in table.columns]
    if missing:
        hint = did_you_mean(missing[0], table.columns, most=1) or separator_hint(table.columns)
        where = table.name.removeprefix("path=")
        number = "s" if len(missing) > 1 else ""
        names, verb = spell_out([repr(name) for name in missing]), "are" if number else "is"
        raise InputError(f"{what}{number} {names} {verb} missing in {where}{hint}")
